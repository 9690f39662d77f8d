/* cmd_list.c - mlxcel list: the models on this machine. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/progress.h"
#include "cli/text_io.h"
#include "hub/store.h"
#include "platform/clock.h"
#include "platform/file.h"
#include "platform/path.h"
#include "weights/quant.h"

#define MAX_ARENA_BYTES  ((size_t)1 << 30)
#define MAX_CONFIG_BYTES ((size_t)16 << 20)

/* "4-bit", "mxfp4", "bfloat16": how the weights are stored, as config.json says; "" where it does not. */
static void describe_format(mx_arena *arena, const char *dir, char out[32])
{
    mx_buf text = {0};
    mx_json json = {0};
    mx_quant_config quant = {0};
    const char *path = mx_path_join(arena, dir, MX_STR("config.json"));
    mx_str dtype = {0};
    out[0] = '\0';
    if (!path || mx_file_read(path, MAX_CONFIG_BYTES, &text, NULL) != MX_OK ||
        mx_json_parse(mx_buf_view(&text), path, &json, NULL) != MX_OK) {
        goto done;
    }
    if (mx_quant_config_parse(json.root, path, &quant, NULL) == MX_OK && quant.is_present &&
        quant.global.mode != MX_QUANT_NONE) {
        (void)(quant.global.mode == MX_QUANT_AFFINE ? snprintf(out, 32, "%d-bit", (int)quant.global.bits)
                                                    : snprintf(out, 32, "%s", mx_quant_mode_name(quant.global.mode)));
    } else if (mx_json_get_str(json.root, "torch_dtype", &dtype, NULL) == MX_OK &&
               (dtype.ptr || mx_json_get_str(json.root, "dtype", &dtype, NULL) == MX_OK) && dtype.ptr) {
        (void)snprintf(out, 32, "%.*s", MX_STR_ARG(dtype));
    }
done:
    mx_quant_config_close(&quant);
    mx_json_close(&json);
    mx_buf_deinit(&text);
}

static void format_day(int64_t seconds, char out[16])
{
    const mx_datetime day = mx_clock_local(seconds);
    (void)snprintf(out, 16, seconds > 0 ? "%04d-%02d-%02d" : "-", (int)day.year, (int)day.month, (int)day.day);
}

static mx_status print_table(mx_arena *arena, const mx_store_list *list, mx_buf *out, mx_error *err)
{
    size_t width = 4;
    for (size_t i = 0; i < list->n; i++) {
        width = MX_MAX(width, strlen(list->items[i].owner) + strlen(list->items[i].name) + 1);
    }
    MX_TRY(mx_buf_printf(out, err, "%-*s %9s  %-12s %-10s %-10s %s\n", (int)width, "NAME", "SIZE", "REVISION", "FORMAT",
                         "LAST USED", "PLACE"));
    for (size_t i = 0; i < list->n; i++) {
        const mx_store_entry *e = &list->items[i];
        char format[32];
        char day[16];
        char size[16];
        describe_format(arena, e->dir, format);
        format_day(e->used_s, day);
        mx_progress_format_bytes(e->n_bytes, size);
        const char *id = mx_arena_printf(arena, "%s/%s", e->owner, e->name);
        MX_TRY(mx_buf_printf(out, err, "%-*s %9s  %-12.12s %-10s %-10s %s%s\n", (int)width, id ? id : "", size,
                             e->revision ? e->revision : e->commit, format, day,
                             e->is_in_hf_cache ? "Hugging Face cache" : "store",
                             e->is_partial    ? ", half downloaded"
                             : e->is_complete ? ""
                                              : ", damaged: see mlxcel doctor"));
    }
    return MX_OK;
}

static mx_status append_member(mx_buf *out, const char *key, const char *value, mx_error *err)
{
    MX_TRY(mx_buf_printf(out, err, "\"%s\": ", key));
    MX_TRY(value ? mx_json_append_str(out, mx_str_from(value), err) : mx_buf_append(out, MX_STR("null"), err));
    return mx_buf_append(out, MX_STR(", "), err);
}

static mx_status print_json(mx_arena *arena, const mx_store_list *list, mx_buf *out, mx_error *err)
{
    MX_TRY(mx_buf_append_char(out, '[', err));
    for (size_t i = 0; i < list->n; i++) {
        const mx_store_entry *e = &list->items[i];
        char format[32];
        describe_format(arena, e->dir, format);
        MX_TRY(mx_buf_printf(out, err, "%s{\"name\": \"%s/%s\", ", i ? ",\n " : "", e->owner, e->name));
        MX_TRY(append_member(out, "revision", e->revision, err));
        MX_TRY(append_member(out, "commit", e->commit, err));
        MX_TRY(append_member(out, "dir", e->dir, err));
        MX_TRY(append_member(out, "format", format, err));
        MX_TRY(append_member(out, "place", e->is_in_hf_cache ? "huggingface" : "store", err));
        MX_TRY(append_member(out, "complaint", e->complaint, err));
        MX_TRY(mx_buf_printf(out, err, "\"bytes\": %" PRId64 ", \"last_used\": %" PRId64 ", \"complete\": %s}",
                             e->n_bytes, e->used_s, e->is_complete ? "true" : "false"));
    }
    return mx_buf_append(out, MX_STR("]\n"), err);
}

static mx_status print_names(const mx_store_list *list, mx_buf *out, mx_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].is_complete) {
            MX_TRY(mx_buf_printf(out, err, "%s/%s\n", list->items[i].owner, list->items[i].name));
        }
    }
    return MX_OK;
}

int mx_cmd_list(const mx_cli_options *options)
{
    mx_error err;
    mx_arena arena;
    mx_store store = {0};
    mx_store_list list;
    mx_buf out = {.max = (size_t)64 << 20};
    mx_status st;
    mx_arena_init(&arena, MAX_ARENA_BYTES);
    MX_TRY_OR(done, st, mx_store_open(&store, &err));
    MX_TRY_OR(done, st, mx_store_list_models(&store, &arena, &list, &err));
    if (options->as_json) {
        st = print_json(&arena, &list, &out, &err);
    } else if (options->quiet) {
        st = print_names(&list, &out, &err);
    } else if (list.n > 0) {
        st = print_table(&arena, &list, &out, &err);
    } else {
        mx_cli_note("there are no models in %s yet; `mlxcel download Qwen3-0.6B-4bit` brings one\n", store.models);
    }
done:;
    const int code = st == MX_OK ? mx_cli_print(mx_buf_view(&out)) : mx_cli_fail(&err);
    mx_buf_deinit(&out);
    mx_store_close(&store);
    mx_arena_deinit(&arena);
    return code;
}
