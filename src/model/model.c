/* model.c - opening a model directory: the recipe, read top to bottom. */
#include "model/model.h"

#include "base/mem.h"
#include "model/build.h"
#include "model/rope_scaling.h"
#include "model/tensor_map.h"
#include "platform/file.h"
#include "platform/path.h"
#include "program/passes.h"

#define MODEL_MAX_ARENA  ((size_t)1 << 26)
#define MODEL_MAX_CONFIG ((size_t)16 << 20) /* bytes of config.json; per-layer quantisation makes it long */

struct mx_model {
    mx_arena arena; /* of the configuration */
    mx_model_config config;
    mx_sampling_defaults sampling;
    mx_quant_config quant;
    mx_checkpoint *checkpoint;
    mx_tensor_map tensors; /* points into the checkpoint and quant */
    mx_adapter *adapter;   /* NULL, or owned */
    mx_program program;    /* points into the checkpoint, tensors and adapter */
};

/* Reads and parses dir/name. MX_NOT_FOUND when there is no such file. */
static mx_status read_json(mx_model *m, const char *dir, const char *name, const char **path, mx_json *out,
                           mx_error *err)
{
    mx_buf text = {0};
    mx_status st = MX_OK;
    *path = mx_path_join(&m->arena, dir, mx_str_from(name));
    if (!*path) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: the path of %s", name);
    }
    MX_TRY_OR(done, st, mx_file_read(*path, MODEL_MAX_CONFIG, &text, err));
    MX_TRY_OR(done, st, mx_json_parse(mx_buf_view(&text), *path, out, err));
done:
    mx_buf_deinit(&text);
    return st;
}

static mx_status read_config(mx_model *m, const char *dir, const mx_family **family, mx_error *err)
{
    mx_json json = {0};
    const char *path = NULL;
    mx_status st = MX_OK;
    MX_TRY_OR(done, st, read_json(m, dir, "config.json", &path, &json, err));
    MX_TRY_OR(done, st, mx_model_config_read(json.root, path, &m->arena, &m->config, family, err));
    MX_TRY_OR(done, st, mx_quant_config_parse(json.root, path, &m->quant, err));
done:
    mx_json_close(&json);
    return st;
}

/* generation_config.json may be absent. */
static mx_status read_generation_config(mx_model *m, const char *dir, mx_error *err)
{
    mx_json json = {0};
    const char *path = NULL;
    m->sampling = mx_sampling_defaults_none();
    mx_status st = read_json(m, dir, "generation_config.json", &path, &json, err);
    if (st == MX_NOT_FOUND) {
        st = MX_OK;
    } else if (st == MX_OK) {
        st = mx_generation_config_read(json.root, path, &m->config, &m->sampling, err);
    }
    mx_json_close(&json);
    return st;
}

/* The context to open with: what was asked for, or what the model was made for. */
static mx_status pick_n_ctx(const mx_model *m, const char *dir, int32_t asked, int32_t *n_ctx, mx_error *err)
{
    const int32_t max = mx_rope_max_ctx(&m->config.ropes[MX_LAYER_ROPE_GLOBAL], m->config.n_ctx);
    *n_ctx = asked ? asked : m->config.n_ctx;
    if (asked < 0 || asked > max) {
        return mx_fail(err, MX_INVALID, "a context of %d tokens was asked for, but the model in %s takes from 1 to %d",
                       asked, dir, max);
    }
    return MX_OK;
}

static mx_status open_all(mx_model *m, const char *dir, const mx_model_options *options, mx_error *err)
{
    const mx_family *family = NULL;
    int32_t n_ctx = 0;
    MX_TRY(read_config(m, dir, &family, err));
    MX_TRY(read_generation_config(m, dir, err));
    MX_TRY(pick_n_ctx(m, dir, options->n_ctx, &n_ctx, err));
    MX_TRY(mx_checkpoint_open(dir, &m->checkpoint, err));
    MX_TRY(mx_checkpoint_import(m->checkpoint, &m->quant, err));
    MX_TRY(mx_tensor_map_init(&m->tensors, m->checkpoint, &m->quant, family, &m->config, err));
    if (options->adapter_dir) {
        MX_TRY(mx_adapter_open(options->adapter_dir, &m->adapter, err));
        m->tensors.adapter = m->adapter;
    }
    MX_TRY(mx_model_build(&m->config, family, n_ctx, mx_tensor_map_has_lm_head(&m->tensors),
                          mx_tensor_map_source(&m->tensors), &m->program, err));
    MX_TRY(mx_tensor_map_check_unused(&m->tensors, err));
    if (m->adapter) {
        MX_TRY(mx_adapter_check_unused(m->adapter, err));
    }
    return options->without_passes ? MX_OK : mx_passes_run(&m->program, err);
}

mx_status mx_model_open(const char *dir, const mx_model_options *options, mx_model **out, mx_error *err)
{
    static const mx_model_options defaults = {0};
    mx_model *m = mx_calloc(1, sizeof *m);
    if (!m) {
        return mx_fail_no_memory(err, sizeof *m, "a model");
    }
    mx_arena_init(&m->arena, MODEL_MAX_ARENA);
    const mx_status st = open_all(m, dir, options ? options : &defaults, err);
    if (st != MX_OK) {
        mx_model_close(m);
        return st;
    }
    *out = m;
    return MX_OK;
}

void mx_model_close(mx_model *m)
{
    if (!m) {
        return;
    }
    mx_program_deinit(&m->program);
    mx_tensor_map_deinit(&m->tensors);
    mx_adapter_close(m->adapter);
    mx_checkpoint_close(m->checkpoint);
    mx_quant_config_close(&m->quant);
    mx_arena_deinit(&m->arena);
    mx_free(m);
}

const mx_program *mx_model_view_program(const mx_model *m)
{
    return &m->program;
}

const mx_model_config *mx_model_view_config(const mx_model *m)
{
    return &m->config;
}

const int32_t *mx_model_view_eos_ids(const mx_model *m, int32_t *n_ids)
{
    *n_ids = m->config.n_eos_ids;
    return m->config.eos_ids;
}

const mx_sampling_defaults *mx_model_view_sampling(const mx_model *m)
{
    return &m->sampling;
}
