/* cmd_convert.c - mlxcel convert: an MLX model made of a checkpoint of floats or of a GGUF file. */
#include "cli/model_arg.h"
#include "cli/text_io.h"
#include "hub/convert.h"
#include "platform/console.h"
#include "platform/file.h"
#include "platform/signal.h"
#include "weights/quant.h"

static void show_tensor(void *arg, const char *name, size_t i, size_t n)
{
    (void)arg;
    if (mx_console_takes_escapes(MX_STDERR)) {
        mx_cli_note("\r\x1b[K%3d %% %s", (int)(100 * i / n), name);
    }
}

static void show_note(void *arg, const char *sentence)
{
    (void)arg;
    mx_cli_note("mlxcel: %s\n", sentence);
}

static bool should_stop(void *arg)
{
    (void)arg;
    return mx_signal_is_interrupted();
}

/* The format that --q-mode, --q-bits and --q-group-size ask for; what is not given is the mode's own. */
static mx_status choose_quant(const mx_cli_options *options, mx_quant *out, mx_error *err)
{
    static const struct {
        const char *name;
        mx_quant quant;
    } modes[] = {
        {"affine", {MX_QUANT_AFFINE, 4, 64}},
        {"mxfp4", {MX_QUANT_MXFP4, 4, 32}},
        {"nvfp4", {MX_QUANT_NVFP4, 4, 16}},
        {"mxfp8", {MX_QUANT_MXFP8, 8, 32}},
    };
    const char *mode = options->q_mode ? options->q_mode : "affine";
    for (size_t i = 0; i < MX_COUNTOF(modes); i++) {
        if (strcmp(modes[i].name, mode) != 0) {
            continue;
        }
        *out = modes[i].quant;
        out->bits = options->q_bits.is_set ? (int32_t)options->q_bits.value : out->bits;
        out->group_size = options->q_group_size.is_set ? (int32_t)options->q_group_size.value : out->group_size;
        if (options->q_bits.is_set && options->q_bits.value == 0) {
            *out = (mx_quant){0};
            return MX_OK;
        }
        return mx_quant_is_valid(*out) ? MX_OK
                                       : mx_fail(err, MX_INVALID, "%s has no format of %d bits in groups of %d", mode,
                                                 (int)out->bits, (int)out->group_size);
    }
    return mx_fail(err, MX_INVALID, "--q-mode %s: there are affine, mxfp4, nvfp4 and mxfp8", mode);
}

/* The values of a GGUF file keep the format that they have. */
static mx_status check_gguf(const mx_cli_options *options, mx_error *err)
{
    if (options->q_bits.is_set || options->q_group_size.is_set || options->q_mode || options->q_recipe) {
        return mx_fail(err, MX_INVALID, "a GGUF file keeps its own format: leave the --q options out");
    }
    return MX_OK;
}

int mx_cmd_convert(const mx_cli_options *options)
{
    mx_error err;
    mx_arena arena;
    mx_cli_options source = *options;
    mx_convert_options convert = {
        .recipe = options->q_recipe, .on_tensor = show_tensor, .on_note = show_note, .should_stop = should_stop};
    mx_status st;
    mx_arena_init(&arena, (size_t)256 << 20);
    if (options->n_operands != 2) {
        st = mx_fail(&err, MX_INVALID, "convert takes a model and the folder to make: `mlxcel convert MODEL FOLDER`");
        goto done;
    }
    source.model = options->operands[0];
    MX_TRY_OR(done, st, choose_quant(options, &convert.quant, &err));
    if (options->q_recipe && convert.quant.mode != MX_QUANT_AFFINE) {
        st = mx_fail(&err, MX_INVALID, "--q-recipe mixes widths of the affine mode");
        goto done;
    }
    const mx_file_kind kind = mx_file_kind_at(source.model);
    const bool is_gguf = mx_str_ends_with(mx_str_from(source.model), MX_STR(".gguf")) && kind == MX_FILE_REGULAR;
    if (kind == MX_FILE_OTHER) {
        st =
            mx_fail(&err, MX_INVALID, "%s is a pipe or a device: a GGUF file must be a file on the disk", source.model);
        goto done;
    }
    MX_TRY_OR(done, st, is_gguf ? check_gguf(options, &err) : mx_cli_find_model(&arena, &source, &err));
    mx_signal_install();
    st = is_gguf ? mx_convert_gguf(source.model, options->operands[1], &convert, &err)
                 : mx_convert_checkpoint(source.model, options->operands[1], &convert, &err);
    if (mx_console_takes_escapes(MX_STDERR)) {
        mx_cli_note("\r\x1b[K");
    }
done:;
    int code = MX_EXIT_OK;
    if (st != MX_OK) {
        code = mx_cli_fail(&err);
        code = st == MX_CANCELLED ? MX_EXIT_INTERRUPTED : code;
    } else {
        mx_cli_note("made %s\n", options->operands[1]);
    }
    mx_arena_deinit(&arena);
    return code;
}
