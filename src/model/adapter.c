/* adapter.c - an adapter's folder, and what its tensors mean. */
#include "model/adapter.h"

#include <math.h>

#include "base/json.h"
#include "base/mem.h"
#include "platform/file.h"
#include "platform/map.h"
#include "platform/path.h"
#include "weights/safetensors.h"

#define ADAPTER_MAX_ARENA  ((size_t)1 << 26)
#define ADAPTER_MAX_CONFIG ((size_t)1 << 20)
#define ADAPTER_MAX_NAME   512

struct mx_adapter {
    mx_arena arena; /* owned: paths and the table of tensors */
    mx_map map;     /* owned */
    mx_tensors tensors;
    bool *is_used; /* [tensors.n], in the arena */
    bool is_dora;
    double scale;
};

static mx_status read_fields(mx_adapter *a, yyjson_val *root, const char *path, mx_error *err)
{
    mx_str type = MX_STR("lora");
    yyjson_val *parameters = NULL;
    a->scale = HUGE_VAL; /* refused below where nobody sets it */
    if (yyjson_obj_get(root, "peft_type")) {
        return mx_fail(err, MX_UNSUPPORTED,
                       "%s: \"peft_type\" says that this is an adapter of peft, which is not read; adapters of mlx-lm "
                       "are",
                       path);
    }
    MX_TRY(mx_json_get_str(root, "fine_tune_type", &type, err));
    a->is_dora = mx_str_eq_cstr(type, "dora");
    if (!a->is_dora && !mx_str_eq_cstr(type, "lora")) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: \"fine_tune_type\" \"%.*s\" is not read; lora and dora are", path,
                       MX_STR_ARG(type));
    }
    MX_TRY(mx_json_get_obj(root, "lora_parameters", &parameters, err));
    MX_TRY(mx_json_get_f64(parameters, "scale", &a->scale, err));
    if (!(fabs(a->scale) <= 1e6)) {
        return mx_fail(err, MX_FORMAT, "%s: \"lora_parameters\" needs a \"scale\" of at most a million", path);
    }
    return MX_OK;
}

static mx_status read_config(mx_adapter *a, const char *dir, mx_error *err)
{
    mx_buf text = {0};
    mx_json json = {0};
    mx_status st = MX_OK;
    const char *path = mx_path_join(&a->arena, dir, MX_STR("adapter_config.json"));
    if (!path) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: an adapter");
    }
    MX_TRY_OR(done, st, mx_file_read(path, ADAPTER_MAX_CONFIG, &text, err));
    MX_TRY_OR(done, st, mx_json_parse(mx_buf_view(&text), path, &json, err));
    if (!yyjson_is_obj(json.root)) {
        st = mx_fail(err, MX_FORMAT, "%s: not a JSON object", path);
        goto done;
    }
    MX_TRY_OR(done, st, read_fields(a, json.root, path, err));
done:
    mx_json_close(&json);
    mx_buf_deinit(&text);
    return st;
}

static mx_status open_all(mx_adapter *a, const char *dir, mx_error *err)
{
    MX_TRY(read_config(a, dir, err));
    const char *path = mx_path_join(&a->arena, dir, MX_STR("adapters.safetensors"));
    if (!path) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: an adapter");
    }
    MX_TRY(mx_map_open(path, &a->map, err));
    MX_TRY(mx_safetensors_parse(&a->arena, a->map.data, a->map.n_bytes, path, &a->tensors, err));
    if (a->tensors.n == 0) {
        return mx_fail(err, MX_FORMAT, "%s: there is no tensor in it, so the adapter would change nothing", path);
    }
    a->is_used = mx_arena_array(&a->arena, bool, a->tensors.n);
    return a->is_used ? MX_OK : mx_fail(err, MX_NO_MEMORY, "out of memory: an adapter");
}

mx_status mx_adapter_open(const char *dir, mx_adapter **out, mx_error *err)
{
    if (!*dir) {
        return mx_fail(err, MX_INVALID, "the name of the adapter's folder is empty");
    }
    mx_adapter *a = mx_calloc(1, sizeof *a);
    if (!a) {
        return mx_fail_no_memory(err, sizeof *a, "an adapter");
    }
    mx_arena_init(&a->arena, ADAPTER_MAX_ARENA);
    const mx_status st = open_all(a, dir, err);
    if (st != MX_OK) {
        mx_adapter_close(a);
        return st;
    }
    *out = a;
    return MX_OK;
}

void mx_adapter_close(mx_adapter *a)
{
    if (!a) {
        return;
    }
    mx_map_close(&a->map);
    mx_arena_deinit(&a->arena);
    mx_free(a);
}

/* The tensor `<path><suffix>`, which counts as used; NULL when there is none. */
static const mx_tensor *take_tensor(mx_adapter *a, mx_str path, const char *suffix)
{
    char name[ADAPTER_MAX_NAME];
    const mx_str tail = mx_str_from(suffix);
    if (path.len > sizeof name - tail.len) {
        return NULL;
    }
    memcpy(name, path.ptr, path.len);
    memcpy(name + path.len, tail.ptr, tail.len);
    for (size_t i = 0; i < a->tensors.n; i++) {
        if (mx_str_eq(a->tensors.items[i].name, (mx_str){name, path.len + tail.len})) {
            a->is_used[i] = true;
            return &a->tensors.items[i];
        }
    }
    return NULL;
}

static mx_status read_tensor(const mx_tensor *t, int32_t n_dims, mx_weight *out, mx_error *err)
{
    if (!mx_dtype_is_weight_float(t->dtype) || t->n_dims != n_dims || t->n_bytes == 0) {
        return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" is %s with %d dimensions, wanted %d of floats", t->path,
                       MX_STR_ARG(t->name), mx_dtype_name(t->dtype), (int)t->n_dims, (int)n_dims);
    }
    *out = (mx_weight){
        .name = t->name,
        .dtype = t->dtype,
        .n_experts = 1,
        .n_rows = n_dims > 1 ? t->shape[0] : 1,
        .n_cols = t->shape[n_dims - 1],
        .data = t->data,
        .global_scale = 1.0f,
    };
    return MX_OK;
}

mx_status mx_adapter_find(mx_adapter *a, mx_str path, mx_adaptation *out, bool *found, mx_error *err)
{
    const mx_tensor *down = take_tensor(a, path, ".lora_a");
    const mx_tensor *up = take_tensor(a, path, ".lora_b");
    const mx_tensor *m = a->is_dora ? take_tensor(a, path, ".m") : NULL;
    *out = (mx_adaptation){.scale = (float)a->scale};
    *found = down || up || m;
    if (!*found) {
        return MX_OK;
    }
    if (!down || !up || (a->is_dora && !m)) {
        return mx_fail(err, MX_FORMAT, "the adapter of \"%.*s\" lacks \"%s\"", MX_STR_ARG(path),
                       !down ? "lora_a"
                       : !up ? "lora_b"
                             : "m");
    }
    MX_TRY(read_tensor(down, 2, &out->a, err));
    MX_TRY(read_tensor(up, 2, &out->b, err));
    out->a = mx_weight_transpose(&out->a);
    out->b = mx_weight_transpose(&out->b);
    return m ? read_tensor(m, 1, &out->factors, err) : MX_OK;
}

mx_status mx_adapter_check_unused(const mx_adapter *a, mx_error *err)
{
    for (size_t i = 0; i < a->tensors.n; i++) {
        if (!a->is_used[i]) {
            const mx_tensor *t = &a->tensors.items[i];
            return mx_fail(
                err, MX_UNSUPPORTED,
                "%s: tensor \"%.*s\" has no place in this model; adapters of linear layers are applied, those "
                "of embeddings and experts are not",
                t->path, MX_STR_ARG(t->name));
        }
    }
    return MX_OK;
}

/* row[n_cols] = W[n,:] + scale * (B A)[n,:]; returns its length. */
static double adapt_row(const mx_weight *w, const mx_adaptation *adaptation, int64_t n, float *row)
{
    double squares = 0.0;
    float *thin = row + w->n_cols;
    mx_weight_dequantize_row(w, 0, n, row);
    for (int64_t r = 0; r < adaptation->a.n_rows; r++) {
        float b;
        const mx_weight col = mx_weight_slice_cols(&adaptation->b, r, 1);
        mx_weight_dequantize_row(&col, 0, n, &b);
        mx_weight_dequantize_row(&adaptation->a, 0, r, thin);
        for (int64_t c = 0; c < w->n_cols; c++) {
            row[c] += adaptation->scale * b * thin[c];
        }
    }
    for (int64_t c = 0; c < w->n_cols; c++) {
        squares += (double)row[c] * (double)row[c];
    }
    return sqrt(squares);
}

void mx_adapter_compute_factors(const mx_weight *w, const mx_adaptation *adaptation, float *factors, float *scaled_b,
                                float *row)
{
    const int64_t rank = adaptation->a.n_rows;
    mx_dtype_to_f32(factors, adaptation->factors.data, adaptation->factors.dtype, w->n_rows);
    for (int64_t n = 0; n < w->n_rows; n++) {
        const double length = adapt_row(w, adaptation, n, row);
        factors[n] = length > 0.0 ? (float)((double)factors[n] / length) : 0.0f;
        mx_weight_dequantize_row(&adaptation->b, 0, n, scaled_b + n * rank);
        for (int64_t r = 0; r < rank; r++) {
            scaled_b[n * rank + r] *= factors[n];
        }
    }
}

void mx_adapter_fuse_row(const mx_weight *w, const mx_adaptation *adaptation, int64_t n, float *row)
{
    const double length = adapt_row(w, adaptation, n, row);
    if (adaptation->factors.n_cols == 0) {
        return;
    }
    float m;
    const mx_weight *factors = &adaptation->factors;
    mx_dtype_to_f32(&m, factors->data + n * (int64_t)mx_dtype_size(factors->dtype), factors->dtype, 1);
    const float factor = length > 0.0 ? (float)((double)m / length) : 0.0f;
    for (int64_t c = 0; c < w->n_cols; c++) {
        row[c] *= factor;
    }
}
