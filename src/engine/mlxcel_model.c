/* mlxcel_model.c - the public interface: versions, errors, and what a model directory holds. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/mlxcel_private.h"
#include "platform/file.h"
#include "platform/path.h"
#include "text/chat.h"

#define MAX_TEXT_FILE_BYTES ((size_t)256 << 20)
#define MAX_ARENA_BYTES     ((size_t)16 << 20)

#define X(name, http, text) _Static_assert((int)MLXCEL_##name == (int)MX_##name, "the same number for " #name);
MX_STATUS_LIST(X)
#undef X

const char *mlxcel_version(void)
{
    return MLXCEL_VERSION; /* from CMakeLists.txt */
}

int32_t mlxcel_abi_version(void)
{
    return MLXCEL_ABI_VERSION;
}

const char *mlxcel_status_name(mlxcel_status status)
{
    return mx_status_name((mx_status)status);
}

mlxcel_status mx_api_result(mx_status status, const mx_error *from, mlxcel_error *to)
{
    if (to) {
        *to = (mlxcel_error){.status = (mlxcel_status)status};
        if (status != MX_OK) {
            to->native = from->native;
            memcpy(to->message, from->message, sizeof to->message);
            _Static_assert(sizeof to->message == sizeof from->message, "messages are copied whole");
        }
    }
    return (mlxcel_status)status;
}

void mx_api_read_struct(void *to, size_t n_to, const void *from)
{
    memset(to, 0, n_to);
    if (from) {
        size_t n_from;
        memcpy(&n_from, from, sizeof n_from);
        memcpy(to, from, MX_MIN(n_from, n_to));
    }
}

void mx_api_write_struct(void *to, const void *from, size_t n_from)
{
    if (to) {
        size_t n_to;
        memcpy(&n_to, to, sizeof n_to);
        if (n_to > sizeof n_to) {
            memcpy((char *)to + sizeof n_to, (const char *)from + sizeof n_to, MX_MIN(n_to, n_from) - sizeof n_to);
        }
    }
}

/* Contents of the text files of a model directory; empty where a file is absent. */
typedef struct text_files {
    mx_buf tokenizer_json;
    mx_buf tokenizer_config_json;
    mx_buf special_tokens_map_json;
    mx_buf chat_template_jinja;
    mx_buf chat_template_json;
} text_files;

static const struct {
    const char *name;
    size_t offset;
} text_file_rows[] = {
    {"tokenizer.json", offsetof(text_files, tokenizer_json)},
    {"tokenizer_config.json", offsetof(text_files, tokenizer_config_json)},
    {"special_tokens_map.json", offsetof(text_files, special_tokens_map_json)},
    {"chat_template.jinja", offsetof(text_files, chat_template_jinja)},
    {"chat_template.json", offsetof(text_files, chat_template_json)},
};

static mx_buf *text_file(text_files *files, size_t i)
{
    return (mx_buf *)((char *)files + text_file_rows[i].offset);
}

static mx_status read_text_files(mlxcel_model *model, text_files *files, mx_error *err)
{
    for (size_t i = 0; i < MX_COUNTOF(text_file_rows); i++) {
        const char *path = mx_path_join(&model->arena, model->dir, mx_str_from(text_file_rows[i].name));
        if (!path) {
            return mx_fail(err, MX_NO_MEMORY, "no memory for the path of %s", text_file_rows[i].name);
        }
        if (mx_file_kind_at(path) != MX_FILE_MISSING) {
            MX_TRY(mx_file_read(path, MAX_TEXT_FILE_BYTES, text_file(files, i), err));
        }
    }
    return MX_OK;
}

static void free_text_files(text_files *files)
{
    for (size_t i = 0; i < MX_COUNTOF(text_file_rows); i++) {
        mx_buf_deinit(text_file(files, i));
    }
}

static mx_status open_tokenizer(mlxcel_model *model, const text_files *files, mx_error *err)
{
    if (files->tokenizer_json.len == 0) {
        return mx_fail(err, MX_NOT_FOUND, "%s has no tokenizer.json, without which text cannot be turned into tokens",
                       model->dir);
    }
    const char *path = mx_path_join(&model->arena, model->dir, MX_STR("tokenizer.json"));
    return mx_tokenizer_open(mx_buf_view(&files->tokenizer_json), path ? path : "tokenizer.json", &model->tokenizer,
                             err);
}

static mx_status open_chat(mlxcel_model *model, const text_files *files, mx_error *err)
{
    const mx_chat_files texts = {
        .tokenizer_config_json = mx_buf_view(&files->tokenizer_config_json),
        .special_tokens_map_json = mx_buf_view(&files->special_tokens_map_json),
        .chat_template_jinja = mx_buf_view(&files->chat_template_jinja),
        .chat_template_json = mx_buf_view(&files->chat_template_json),
    };
    const mx_status st = mx_chat_open(&texts, model->dir, &model->chat, err);
    return st == MX_NOT_FOUND ? MX_OK : st; /* a base model has none */
}

static float or_default(double value, float otherwise)
{
    return value >= 0.0 ? (float)value : otherwise;
}

/* What generation_config.json recommends, when it recommends anything; else llama.cpp's settings. */
static mx_sampling sampling_defaults(const mx_sampling_defaults *d)
{
    mx_sampling s = {.temperature = 0.8f, .top_k = 40, .top_p = 0.95f, .min_p = 0.05f};
    if (d && (d->do_sample || d->temperature >= 0.0 || d->top_p >= 0.0 || d->min_p >= 0.0 || d->top_k >= 0)) {
        s = (mx_sampling){
            .temperature = or_default(d->temperature, 1.0f),
            .top_k = d->top_k > 0 ? d->top_k : 0,
            .top_p = or_default(d->top_p, 1.0f),
            .min_p = or_default(d->min_p, 0.0f),
        };
    }
    s.repeat_penalty = d ? or_default(d->repetition_penalty, 1.0f) : 1.0f;
    s.repeat_last_n = 64;
    return s;
}

static mx_status open_model(mlxcel_model *model, const char *dir, const mlxcel_model_options *options, mx_error *err)
{
    text_files files = {0};
    mx_status st;

    mx_arena_init(&model->arena, MAX_ARENA_BYTES);
    model->dir = mx_arena_copy_str(&model->arena, mx_str_from(dir)).ptr;
    if (!model->dir) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for the name of the model");
    }
    if (mx_file_kind_at(dir) == MX_FILE_MISSING) {
        int64_t unused;
        st = mx_file_size(dir, &unused, err); /* which tells a folder that may not be entered from one that is absent */
        return st == MX_IO ? st : mx_fail(err, MX_NOT_FOUND, "there is no model directory \"%s\"", dir);
    }
    if (mx_file_kind_at(dir) != MX_FILE_DIR) {
        return mx_fail(err, MX_NOT_FOUND,
                       "\"%s\" is a file: a model is a directory with config.json, tokenizer.json and *.safetensors",
                       dir);
    }
    if (!options->text_only) {
        const char *config = mx_path_join(&model->arena, dir, MX_STR("config.json"));
        if (config && mx_file_kind_at(config) == MX_FILE_MISSING) {
            return mx_fail(err, MX_NOT_FOUND, "\"%s\" has no config.json: it is not a model directory", dir);
        }
        const mx_model_options open = {.adapter_dir = options->adapter_dir};
        MX_TRY(mx_model_open(dir, &open, &model->model, err));
    }
    MX_TRY_OR(done, st, read_text_files(model, &files, err));
    MX_TRY_OR(done, st, open_tokenizer(model, &files, err));
    MX_TRY_OR(done, st, open_chat(model, &files, err));
    model->sampling = sampling_defaults(model->model ? mx_model_view_sampling(model->model) : NULL);
    if (model->model) {
        st = mx_api_find_end_ids(model, mx_buf_view(&files.tokenizer_config_json), err);
    }
done:
    free_text_files(&files);
    return st;
}

mlxcel_status mlxcel_model_open(const char *dir, const mlxcel_model_options *options, mlxcel_model **out,
                                mlxcel_error *err)
{
    mx_error error;
    mlxcel_model_options given;
    mx_api_read_struct(&given, sizeof given, options);
    *out = NULL;
    mlxcel_model *model = (mlxcel_model *)mx_calloc(1, sizeof *model);
    if (!model) {
        return mx_api_result(mx_fail_no_memory(&error, sizeof *model, "a model"), &error, err);
    }
    const mx_status st = open_model(model, dir, &given, &error);
    if (st != MX_OK) {
        mlxcel_model_close(model);
    } else {
        *out = model;
    }
    return mx_api_result(st, &error, err);
}

void mlxcel_model_close(mlxcel_model *model)
{
    if (model) {
        mx_model_close(model->model);
        mx_chat_close(model->chat);
        mx_tokenizer_close(model->tokenizer);
        mx_arena_deinit(&model->arena);
        mx_free(model);
    }
}

void mlxcel_model_get_info(const mlxcel_model *model, mlxcel_model_info *info)
{
    mlxcel_model_info found = {.has_chat_template = model->chat != NULL,
                               .n_vocab = (int32_t)mx_tokenizer_n_ids(model->tokenizer)};
    if (model->model) {
        const mx_program *program = mx_model_view_program(model->model);
        found.family = mx_model_view_config(model->model)->model_type;
        found.n_layers = program->n_layers;
        found.n_ctx = program->n_ctx;
        found.n_vocab = program->n_vocab;
        for (int32_t i = 0; i < program->n_weights; i++) {
            found.n_weight_bytes += mx_weight_bytes(&program->weights[i]);
        }
        found.n_kv_bytes = mx_api_kv_bytes(program);
    }
    mx_api_write_struct(info, &found, sizeof found);
}
