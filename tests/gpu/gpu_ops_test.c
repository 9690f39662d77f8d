/* gpu_ops_test.c - every operation on the GPU against the CPU's plain kernels, over random shapes.
 *
 * The same program and the same steps run on both; outputs are compared as the root of the mean square of the
 * difference over that of the CPU's output. Error model: activations and weights go into products as f16, each off by
 * at most 2^-12 of itself, 1.4e-4 on average: 3e-4 for a product with what sums add. Attention rounds queries,
 * probabilities and (on both sides) the cache to f16: 5e-4. A gated unit multiplies two products, and scales of a
 * format that has them in f32 are rounded too: 1e-3. Everything else is f32.
 *
 * Where there is no GPU the tests skip; ctest runs them against the emulated driver (fake/emulated_cuda.cpp).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_driver.h"
#include "tests/ops/rig.h"
#include "tests/test.h"

#define LINEAR_ERROR    5e-4
#define GLU_ERROR       1e-3
#define ATTENTION_ERROR 1e-3
#define F32_ERROR       2e-6
#define MAX_STEPS       6
#define TOP_K           3

typedef struct step_part {
    int32_t i_seq;
    int32_t n_tokens;
} step_part;

/* Parts of each step; a part of no tokens ends the step. */
typedef step_part steps[MAX_STEPS][RIG_MAX_SEQS + 1];

static const steps decode_and_prefill = {
    {{0, 5}, {2, 70}, {3, 1}}, {{0, 1}, {2, 1}, {3, 1}}, {{0, 1}}, {{1, 150}}, {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {5, 1}},
    {{1, 2}, {2, 9}},
};

static bool has_gpu(void)
{
    static mx_cuda_driver driver;
    static int known;
    if (!known) {
        mx_error err = {0};
        known = mx_cuda_driver_open(NULL, &driver, &err) == MX_OK ? 2 : 1;
        if (known == 2) {
            printf("running on \"%s\"\n", driver.devices[0].name);
        }
        mx_cuda_driver_close(&driver);
    }
    if (known != 2) {
        MX_TEST_SKIP("there is no GPU that can be used");
    }
    return known == 2;
}

/* Runs the steps on a device; *outputs gets all outputs one after the other (the caller frees them). */
static size_t run_steps(rig *r, const char *device, mx_value output, const steps parts, float **outputs)
{
    const mx_executor_options options = {.kv_type = MX_KV_F16, .n_threads = 2, .cpu_mode = MX_CPU_REFERENCE};
    mx_error err = {0};
    size_t n = 0;
    *outputs = NULL;
    r->device = device;
    r->rng.state = 77;
    MX_CHECK_OK(rig_open(r, output, &options, &err), &err);
    if (!r->executor) {
        return 0;
    }
    rig_forget(r);
    for (int32_t i = 0; i < MAX_STEPS; i++) {
        rig_begin_step(r);
        for (const step_part *part = parts[i]; part->n_tokens > 0; part++) {
            rig_add_tokens(r, part->i_seq, part->n_tokens);
        }
        if (r->batch.n_tokens == 0 || !MX_CHECK_OK(rig_run(r, &err), &err)) {
            break;
        }
        const mx_value_info *info = &r->program.values[output];
        const size_t n_new = (size_t)(r->batch.n_tokens * info->row_factor) * (size_t)info->n_cols;
        *outputs = (float *)realloc(*outputs, (n + n_new) * sizeof(float));
        memcpy(*outputs + n, mx_executor_view_logits(r->executor), n_new * sizeof(float));
        n += n_new;
    }
    rig_close(r);
    return n;
}

static void compare(rig *r, mx_value output, const steps parts, double allowed, const char *what)
{
    float *wanted;
    float *found;
    const size_t n = run_steps(r, "cpu", output, parts, &wanted);
    const size_t n_found = run_steps(r, "cuda", output, parts, &found);
    double error = 0.0;
    double power = 0.0;
    double worst = 0.0;
    size_t place = 0;
    for (size_t i = 0; i < n && n == n_found; i++) {
        const double d = fabs((double)found[i] - (double)wanted[i]);
        error += d * d;
        power += (double)wanted[i] * (double)wanted[i];
        if (!(d <= worst)) {
            worst = d;
            place = i;
        }
    }
    const double relative = sqrt(error / power);
    if (n == 0 || n != n_found || !(relative <= allowed)) {
        MX_TEST_FAIL("%s: relative error %.3g, allowed %.3g (%zu and %zu values; worst at %zu of %" PRId64
                     " columns: %g for %g)",
                     what, relative, allowed, n, n_found, place, r->program.values[output].n_cols,
                     found && n == n_found ? (double)found[place] : 0.0, wanted ? (double)wanted[place] : 0.0);
    }
    free(wanted);
    free(found);
}

typedef struct linear_shape {
    int64_t n_cols;
    int64_t n_rows[MX_OP_MAX_OUT];
    int32_t n_weights;
    int64_t n_experts; /* 0: LINEAR */
    bool has_norm, is_centered, has_glu, has_act, has_residual;
} linear_shape;

/* Adds the operation and returns the value to look at, output i_out. */
static mx_value add_linear(rig *r, const linear_shape *s, const rig_format *const chosen[], int32_t i_out)
{
    const float *ignored;
    const mx_value x = rig_input(r, s->n_cols, &ignored);
    mx_value second = MX_NO_VALUE;
    if (s->n_experts) {
        const mx_value scores = rig_input(r, s->n_experts, &ignored);
        second = rig_value(r, MX_ROWS_TOKENS, 1, TOP_K, MX_VALUE_I32);
        mx_op *route = rig_op(r, MX_OP_ROUTE, scores, MX_NO_VALUE, MX_NO_VALUE, second);
        route->out[1] = rig_value(r, MX_ROWS_TOKENS, 1, TOP_K, MX_VALUE_F32);
        route->u.route = (mx_route_params){.top_k = TOP_K, .bias = MX_NO_WEIGHT, .normalize = true, .scale = 1.0f};
    } else if (s->has_residual) {
        second = rig_input(r, s->n_rows[0], &ignored);
    }
    mx_op *op = rig_op(r, s->n_experts ? MX_OP_EXPERT_LINEAR : MX_OP_LINEAR, x, second, MX_NO_VALUE, MX_NO_VALUE);
    mx_linear_params *p = &op->u.linear;
    p->n_weights = s->n_weights;
    p->has_glu = s->has_glu;
    p->has_act = s->has_act;
    p->act = MX_ACT_GELU_TANH;
    p->has_norm = s->has_norm;
    if (s->has_norm) {
        p->norm = (mx_norm_params){.weight = rig_random_vector(r, s->n_cols, &ignored),
                                   .eps = 1e-5f,
                                   .weight_offset = 1.0f,
                                   .n_group_cols = s->n_cols,
                                   .is_centered = s->is_centered,
                                   .bias = rig_random_vector(r, s->n_cols, &ignored)};
    }
    for (int32_t i = 0; i < s->n_weights; i++) {
        const mx_weight w =
            rig_random_weight(r, chosen[i]->quant, chosen[i]->dtype, MX_MAX(s->n_experts, 1), s->n_rows[i], s->n_cols);
        p->weights[i] = rig_weight(r, &w);
        p->biases[i] = i % 2 ? MX_NO_WEIGHT : rig_random_vector(r, s->n_rows[i] * MX_MAX(s->n_experts, 1), &ignored);
        if (i == 0 || !s->has_glu) {
            op->out[i] = rig_value(r, MX_ROWS_TOKENS, s->n_experts ? TOP_K : 1, s->n_rows[i], MX_VALUE_F32);
        }
    }
    return op->out[i_out];
}

static void check_linear(uint64_t seed, const linear_shape *s, const rig_format *const chosen[], int32_t i_out,
                         const char *what)
{
    static rig r;
    char name[96];
    rig_init(&r, seed);
    snprintf(name, sizeof name, "%s, %s, output %d", what, chosen[i_out]->name, i_out);
    compare(&r, add_linear(&r, s, chosen, i_out), decode_and_prefill, s->has_glu ? GLU_ERROR : LINEAR_ERROR, name);
    rig_deinit(&r);
}

MX_TEST(linear_in_every_format)
{
    if (!has_gpu()) {
        return;
    }
    for (size_t i = 0; i < RIG_N_FORMATS; i++) {
        const rig_format *chosen[] = {&rig_formats[i]};
        const linear_shape s = {.n_cols = 384, .n_rows = {81}, .n_weights = 1, .has_residual = i % 2};
        check_linear(100 + i, &s, chosen, 0, "linear");
    }
}

MX_TEST(linear_with_a_norm_and_a_glu)
{
    if (!has_gpu()) {
        return;
    }
    for (size_t i = 0; i < RIG_N_FORMATS; i += 4) {
        const rig_format *chosen[] = {&rig_formats[i], &rig_formats[i == 8 ? 9 : i]};
        const linear_shape s = {.n_cols = 128, .n_rows = {177, 177}, .n_weights = 2, .has_norm = true, .has_glu = true};
        check_linear(200 + i, &s, chosen, 0, "norm and glu");
    }
}

/* Rows of a fused matrix, and a matrix that is stored [inputs, outputs]: neither is in one piece. */
MX_TEST(linear_of_rows_in_runs_and_of_a_transpose)
{
    if (!has_gpu()) {
        return;
    }
    for (int32_t i = 0; i < 2; i++) {
        static rig r;
        const float *ignored;
        rig_init(&r, 280 + (uint64_t)i);
        const mx_quant quant = {i == 0 ? MX_QUANT_AFFINE : MX_QUANT_NONE, i == 0 ? 4 : 0, i == 0 ? 64 : 0};
        const mx_weight stored = rig_random_weight(&r, quant, MX_DTYPE_BF16, 1, i == 0 ? 96 : 128, i == 0 ? 128 : 48);
        const mx_weight turned = i == 0 ? stored : mx_weight_transpose(&stored);
        const mx_weight w = i == 0 ? mx_weight_slice_runs(&stored, 8, 5, 4, 16) : mx_weight_slice_rows(&turned, 3, 40);
        const mx_value x = rig_input(&r, 128, &ignored);
        const mx_value y = rig_value(&r, MX_ROWS_TOKENS, 1, w.n_rows, MX_VALUE_F32);
        rig_op(&r, MX_OP_LINEAR, x, MX_NO_VALUE, MX_NO_VALUE, y)->u.linear =
            (mx_linear_params){.n_weights = 1,
                               .weights = {rig_weight(&r, &w)},
                               .biases = {MX_NO_WEIGHT},
                               .norm = {.weight = MX_NO_WEIGHT}};
        compare(&r, y, decode_and_prefill, LINEAR_ERROR, i == 0 ? "rows in runs" : "a transpose");
        rig_deinit(&r);
    }
}

MX_TEST(linear_with_a_layernorm_and_an_activation)
{
    if (!has_gpu()) {
        return;
    }
    for (size_t i = 0; i < RIG_N_FORMATS; i += 5) {
        const rig_format *chosen[] = {&rig_formats[i]};
        const linear_shape s = {.n_cols = 128,
                                .n_rows = {77},
                                .n_weights = 1,
                                .has_norm = true,
                                .is_centered = true,
                                .has_act = true,
                                .has_residual = i % 2};
        check_linear(250 + i, &s, chosen, 0, "layernorm and activation");
    }
}

MX_TEST(linears_of_mixed_formats_share_their_input)
{
    if (!has_gpu()) {
        return;
    }
    const rig_format *chosen[] = {rig_format_named("4 bits, group 64, BF16"),
                                  rig_format_named("4 bits, group 64, BF16"),
                                  rig_format_named("8 bits, group 128, F16"), rig_format_named("bf16")};
    const linear_shape s = {.n_cols = 256, .n_rows = {40, 9, 317, 16}, .n_weights = 4, .has_norm = true};
    for (int32_t i = 0; i < 4; i++) {
        check_linear(300, &s, chosen, i, "four that share");
    }
}

MX_TEST(linear_with_few_or_odd_columns_and_with_many_rows)
{
    if (!has_gpu()) {
        return;
    }
    const rig_format *dense[] = {rig_format_named("f32")};
    const rig_format *q4[] = {rig_format_named("4 bits, group 32, F16")};
    check_linear(400, &(linear_shape){.n_cols = 1, .n_rows = {3}, .n_weights = 1}, dense, 0, "one column");
    check_linear(401, &(linear_shape){.n_cols = 67, .n_rows = {1}, .n_weights = 1, .has_norm = true}, dense, 0,
                 "odd columns");
    check_linear(402, &(linear_shape){.n_cols = 32, .n_rows = {1500}, .n_weights = 1}, q4, 0, "many rows");
    check_linear(403, &(linear_shape){.n_cols = 1056, .n_rows = {48}, .n_weights = 1}, q4, 0,
                 "half a chunk at the end");
}

MX_TEST(experts_plain_and_with_a_glu)
{
    if (!has_gpu()) {
        return;
    }
    static const steps few = {{{0, 9}}, {{0, 1}}};
    static const char *const formats[] = {"4 bits, group 64, BF16", "8 bits, group 64, BF16", "mxfp4", "bf16"};
    for (size_t i = 0; i < MX_COUNTOF(formats); i++) {
        static rig r;
        const rig_format *f = rig_format_named(formats[i]);
        const rig_format *chosen[] = {f, f};
        const linear_shape s = {.n_cols = 64,
                                .n_rows = {19, 19},
                                .n_weights = i % 2 ? 2 : 1,
                                .n_experts = 7,
                                .has_norm = i == 2,
                                .has_glu = i % 2};
        rig_init(&r, 500 + i);
        compare(&r, add_linear(&r, &s, chosen, 0), few, LINEAR_ERROR, f->name);
        rig_deinit(&r);
    }
}

typedef struct attention_case {
    const char *name;
    int32_t n_heads, n_kv_heads, k_dim, v_dim, window;
    float softcap;
    bool has_sinks, is_fused, has_qk_norm, is_interleaved;
    int32_t rot_dim;
    mx_sharpening sharpening;
} attention_case;

static const attention_case attention_cases[] = {
    {"plain", 4, 2, 16, 16, 0, 0.0f, false, false, false, false, 0, {0, 0, 0}},
    {"one head, odd dimensions", 1, 1, 10, 6, 0, 0.0f, false, false, false, false, 0, {0, 0, 0}},
    {"plain with rope", 3, 3, 48, 48, 0, 0.0f, false, false, false, false, 20, {0, 0, 0}},
    {"norms and rope", 8, 2, 64, 64, 0, 0.0f, false, true, true, false, 64, {0, 0, 0}},
    {"window, soft cap, partial rope", 4, 4, 96, 72, 37, 3.0f, false, true, false, false, 24, {0, 0, 0}},
    {"sinks, interleaved rope", 8, 1, 128, 128, 64, 0.0f, true, true, false, true, 16, {0, 0, 0}},
    {"window of one", 3, 3, 80, 80, 1, 0.0f, false, true, true, false, 0, {0, 0, 0}},
    {"group of 20", 20, 1, 64, 64, 0, 0.0f, true, true, false, false, 64, {0, 0, 0}},
    {"sharpened queries", 4, 2, 64, 64, 0, 0.0f, false, true, false, false, 64, {0.5f, 7, 1}},
    {"head of 256", 4, 2, 256, 256, 0, 0.0f, false, true, true, false, 256, {0, 0, 0}},
};

static void check_attention(const attention_case *c, uint64_t seed, const steps parts)
{
    static rig r;
    const float *ignored;
    float inv_freq[128];
    rig_init(&r, seed);
    r.program.n_caches = 1;
    r.program.caches[0] = (mx_cache_spec){c->n_kv_heads, c->k_dim, c->v_dim, c->window, 0, false};
    r.program.n_ropes = 1;
    for (int32_t i = 0; i < c->rot_dim / 2; i++) {
        inv_freq[i] = powf(100.0f, -2.0f * (float)i / (float)c->rot_dim);
    }
    r.program.ropes[0] = (mx_rope_spec){c->rot_dim, c->is_interleaved, inv_freq, 1.1f};
    mx_value q = rig_input(&r, (int64_t)c->n_heads * c->k_dim, &ignored);
    mx_value k = rig_input(&r, (int64_t)c->n_kv_heads * c->k_dim, &ignored);
    mx_value v = rig_input(&r, (int64_t)c->n_kv_heads * c->v_dim, &ignored);
    const mx_value out = rig_value(&r, MX_ROWS_TOKENS, 1, (int64_t)c->n_heads * c->v_dim, MX_VALUE_F32);
    if (!c->is_fused && c->rot_dim) {
        const mx_value rotated = rig_value(&r, MX_ROWS_TOKENS, 1, (int64_t)c->n_heads * c->k_dim, MX_VALUE_F32);
        rig_op(&r, MX_OP_ROPE, q, MX_NO_VALUE, MX_NO_VALUE, rotated)->u.rope =
            (mx_rope_params){0, c->n_heads, c->k_dim};
        q = rotated;
    }
    if (!c->is_fused) {
        rig_op(&r, MX_OP_KV_APPEND, k, v, MX_NO_VALUE, MX_NO_VALUE)->u.kv_append.i_cache = 0;
        k = v = MX_NO_VALUE;
    }
    const mx_norm_params norm = {.weight = MX_NO_WEIGHT, .eps = 1e-6f, .n_group_cols = c->k_dim};
    mx_op *op = rig_op(&r, MX_OP_ATTENTION, q, k, v, out);
    op->u.attention = (mx_attention_params){
        .n_heads = c->n_heads,
        .scale = 1.0f / sqrtf((float)c->k_dim),
        .window = c->window,
        .softcap = c->softcap,
        .sharpening = c->sharpening,
        .sinks = c->has_sinks ? rig_random_vector(&r, c->n_heads, &ignored) : MX_NO_WEIGHT,
        .has_append = c->is_fused,
        .has_qk_norm = c->has_qk_norm,
        .q_norm = norm,
        .k_norm = norm,
        .rope = c->is_fused && c->rot_dim ? 0 : MX_NO_ROPE,
    };
    if (c->has_qk_norm) {
        op->u.attention.q_norm.weight = rig_random_vector(&r, c->k_dim, &ignored);
        op->u.attention.k_norm.weight = rig_random_vector(&r, c->k_dim, &ignored);
    }
    compare(&r, out, parts, ATTENTION_ERROR, c->name);
    rig_deinit(&r);
}

MX_TEST(attention_over_short_and_long_histories)
{
    if (!has_gpu()) {
        return;
    }
    static const steps long_histories = {
        {{0, 160}, {0, 0}}, {{0, 160}}, {{0, 157}, {1, 1}}, {{0, 1}, {1, 1}}, {{0, 1}}, {{0, 3}, {1, 2}},
    };
    for (size_t i = 0; i < MX_COUNTOF(attention_cases); i++) {
        check_attention(&attention_cases[i], 600 + i, i % 2 ? long_histories : decode_and_prefill);
    }
}

MX_TEST(attention_of_few_tokens)
{
    if (!has_gpu()) {
        return;
    }
    static const steps few = {{{0, 35}}, {{0, 1}, {1, 2}}, {{0, 1}, {1, 1}}};
    check_attention(&attention_cases[1], 650, few);
    check_attention(&attention_cases[3], 651, few);
    check_attention(&attention_cases[8], 652, few);
}

MX_TEST(operations_on_values)
{
    if (!has_gpu()) {
        return;
    }
    static rig r;
    const float *ignored;
    rig_init(&r, 700);
    const int64_t n = 640;
    mx_value v[17];
    const mx_value a = rig_input(&r, n, &ignored);
    const mx_value b = rig_input(&r, n, &ignored);
    for (int32_t i = 0; i < 17; i++) {
        v[i] = rig_value(&r, MX_ROWS_TOKENS, 1, n, MX_VALUE_F32);
    }
    rig_op(&r, MX_OP_ADD, a, b, MX_NO_VALUE, v[0]);
    rig_op(&r, MX_OP_SCALE, v[0], MX_NO_VALUE, MX_NO_VALUE, v[1])->u.scale.factor = 1.7f;
    rig_op(&r, MX_OP_GLU, v[1], b, MX_NO_VALUE, v[2])->u.glu.act = MX_ACT_SILU;
    rig_op(&r, MX_OP_RMSNORM, v[2], MX_NO_VALUE, MX_NO_VALUE, v[3])->u.norm =
        (mx_norm_params){.weight = rig_random_vector(&r, 20, &ignored), .eps = 1e-6f, .n_group_cols = 20};
    rig_op(&r, MX_OP_GLU, v[3], a, MX_NO_VALUE, v[4])->u.glu.act = MX_ACT_GELU;
    rig_op(&r, MX_OP_GLU, v[4], a, MX_NO_VALUE, v[11])->u.glu.act = MX_ACT_SIGMOID;
    rig_op(&r, MX_OP_GLU, v[11], v[2], MX_NO_VALUE, v[12])->u.glu.act = MX_ACT_SWIGLU_OAI;
    rig_op(&r, MX_OP_SOFTCAP, v[12], MX_NO_VALUE, MX_NO_VALUE, v[5])->u.scale.factor = 2.5f;
    rig_op(&r, MX_OP_RMSNORM, v[5], MX_NO_VALUE, MX_NO_VALUE, v[6])->u.norm =
        (mx_norm_params){.weight = MX_NO_WEIGHT, .eps = 1e-6f, .n_group_cols = n};
    const mx_weight table =
        rig_random_weight(&r, rig_format_named("4 bits, group 64, BF16")->quant,
                          rig_format_named("4 bits, group 64, BF16")->dtype, 1, RIG_MAX_HISTORY, 640);
    rig_op(&r, MX_OP_ACTIVATION, v[6], MX_NO_VALUE, MX_NO_VALUE, v[7])->u.glu.act = MX_ACT_RELU2;
    rig_op(&r, MX_OP_LAYERNORM, v[7], MX_NO_VALUE, MX_NO_VALUE, v[8])->u.norm =
        (mx_norm_params){.weight = rig_random_vector(&r, 32, &ignored),
                         .eps = 1e-5f,
                         .weight_offset = 1.0f,
                         .n_group_cols = 32,
                         .is_centered = true,
                         .bias = rig_random_vector(&r, 32, &ignored)};
    rig_op(&r, MX_OP_CLIP, v[8], MX_NO_VALUE, MX_NO_VALUE, v[13])->u.scale.factor = 0.9f;
    rig_op(&r, MX_OP_MULTIPLY, v[13], MX_NO_VALUE, MX_NO_VALUE, v[14])->u.vector.weight =
        rig_random_vector(&r, n, &ignored);
    rig_op(&r, MX_OP_MULTIPLY, v[14], MX_NO_VALUE, MX_NO_VALUE, v[15])->u.vector.weight =
        rig_random_vector(&r, 1, &ignored);
    mx_xielu_params xielu;
    xielu.alpha_p = rig_random_vector(&r, 1, &ignored);
    xielu.alpha_n = rig_random_vector(&r, 1, &ignored);
    xielu.beta = rig_random_vector(&r, 1, &ignored);
    xielu.eps = rig_random_vector(&r, 1, &ignored);
    rig_op(&r, MX_OP_XIELU, v[15], MX_NO_VALUE, MX_NO_VALUE, v[16])->u.xielu = xielu;
    rig_op(&r, MX_OP_ADD_POSITIONS, v[16], MX_NO_VALUE, MX_NO_VALUE, v[9])->u.position.weight = rig_weight(&r, &table);
    r.program.values[v[10]].rows = MX_ROWS_SAMPLES;
    rig_op(&r, MX_OP_GATHER_ROWS, v[9], MX_NO_VALUE, MX_NO_VALUE, v[10]);
    compare(&r, v[10], decode_and_prefill, F32_ERROR, "a chain of operations");
    rig_deinit(&r);
}

MX_TEST(operations_on_values_side_by_side)
{
    if (!has_gpu()) {
        return;
    }
    static rig r;
    const float *ignored;
    rig_init(&r, 710);
    const int64_t n = 300;
    const mx_value a = rig_input(&r, n, &ignored);
    const mx_value b = rig_input(&r, n, &ignored);
    const mx_value m = rig_input(&r, 4, &ignored);
    const mx_value w = rig_input(&r, 2, &ignored);
    mx_value v[6];
    for (int32_t i = 0; i < 6; i++) {
        v[i] = rig_value(&r, MX_ROWS_TOKENS, 1, i == 2 || i == 3 || i == 4 ? 2 * n : n, MX_VALUE_F32);
    }
    rig_op(&r, MX_OP_MATCH_RMS, a, b, MX_NO_VALUE, v[0])->u.scale.factor = 1e-5f;
    rig_op(&r, MX_OP_CUTOFF, b, MX_NO_VALUE, MX_NO_VALUE, v[1])->u.scale.factor = 0.4f;
    rig_op(&r, MX_OP_CONCAT, v[0], v[1], MX_NO_VALUE, v[2]);
    rig_op(&r, MX_OP_MIX_STREAMS, v[2], m, MX_NO_VALUE, v[3])->u.streams.n_streams = 2;
    rig_op(&r, MX_OP_ADD_STREAMS, v[3], a, w, v[4])->u.streams = (mx_streams_params){.n_streams = 2, .offset = 1.0f};
    rig_op(&r, MX_OP_SLICE, v[4], MX_NO_VALUE, MX_NO_VALUE, v[5])->u.slice.x =
        (mx_columns){.first = 10, .n_group = 100, .stride = 150};
    compare(&r, v[5], decode_and_prefill, F32_ERROR, "values side by side");
    rig_deinit(&r);
}

/* Weights times a number of each expert's, so that the choice is looked at too. */
static mx_value add_routing(rig *r, const mx_route_params *params, bool has_bias, mx_value *ids)
{
    const float *ignored;
    const mx_value scores = rig_input(r, 70, &ignored);
    *ids = rig_value(r, MX_ROWS_TOKENS, 1, TOP_K, MX_VALUE_I32);
    const mx_value weights = rig_value(r, MX_ROWS_TOKENS, 1, TOP_K, MX_VALUE_F32);
    const mx_value scaled = rig_value(r, MX_ROWS_TOKENS, 1, TOP_K, MX_VALUE_F32);
    mx_op *route = rig_op(r, MX_OP_ROUTE, scores, MX_NO_VALUE, MX_NO_VALUE, *ids);
    route->out[1] = weights;
    route->u.route = *params;
    route->u.route.bias = has_bias ? rig_random_vector(r, 70, &ignored) : MX_NO_WEIGHT;
    rig_op(r, MX_OP_SCALE_CHOSEN, weights, *ids, MX_NO_VALUE, scaled)->u.vector.weight =
        rig_random_vector(r, 70, &ignored);
    return scaled;
}

static void check_routing(const mx_route_params *params, bool has_bias, uint64_t seed)
{
    static rig r;
    mx_value ids;
    rig_init(&r, seed);
    const mx_value weights = add_routing(&r, params, has_bias, &ids);
    compare(&r, weights, (const steps){{{0, 9}}, {{0, 1}}}, F32_ERROR, "routing");
    rig_deinit(&r);
}

MX_TEST(every_way_of_routing)
{
    if (!has_gpu()) {
        return;
    }
    check_routing(&(mx_route_params){.top_k = TOP_K, .scale = 1.0f}, false, 800);
    check_routing(&(mx_route_params){.top_k = TOP_K, .normalize = true, .scale = 2.5f}, true, 801);
    check_routing(&(mx_route_params){.top_k = TOP_K,
                                     .score = MX_SCORE_SIGMOID,
                                     .n_groups = 7,
                                     .top_groups = 2,
                                     .ranks_by_top_two = true,
                                     .normalize = true,
                                     .min_sum = 1e-20f,
                                     .scale = 1.0f},
                  true, 802);
    check_routing(&(mx_route_params){.top_k = TOP_K, .n_groups = 10, .top_groups = 3, .scale = 16.0f}, false, 803);
    check_routing(&(mx_route_params){.top_k = TOP_K, .score = MX_SCORE_SPARSEMIXER, .scale = 1.0f, .jitter = 0.3f},
                  false, 804);
}

MX_TEST(routing_and_the_sum_of_experts)
{
    if (!has_gpu()) {
        return;
    }
    static rig r;
    mx_value ids;
    const float *ignored;
    rig_init(&r, 805);
    const mx_value weights = add_routing(&r, &(mx_route_params){.top_k = TOP_K, .scale = 1.0f}, false, &ids);
    const mx_value x = rig_input(&r, 32, &ignored);
    const mx_value slots = rig_value(&r, MX_ROWS_TOKENS, TOP_K, 24, MX_VALUE_F32);
    const mx_value y = rig_value(&r, MX_ROWS_TOKENS, 1, 24, MX_VALUE_F32);
    const mx_weight dense = rig_random_weight(&r, rig_format_named("f32")->quant, MX_DTYPE_F32, 70, 24, 32);
    mx_op *experts = rig_op(&r, MX_OP_EXPERT_LINEAR, x, ids, MX_NO_VALUE, slots);
    experts->u.linear = (mx_linear_params){.n_weights = 1,
                                           .weights = {rig_weight(&r, &dense)},
                                           .biases = {MX_NO_WEIGHT},
                                           .norm = {.weight = MX_NO_WEIGHT}};
    rig_op(&r, MX_OP_EXPERT_COMBINE, slots, weights, MX_NO_VALUE, y);
    compare(&r, y, (const steps){{{0, 9}}, {{0, 1}}}, LINEAR_ERROR, "experts");
    rig_deinit(&r);
}

MX_TEST_MAIN(MX_CASE(linear_in_every_format), MX_CASE(linear_with_a_norm_and_a_glu),
             MX_CASE(linear_with_a_layernorm_and_an_activation), MX_CASE(linear_of_rows_in_runs_and_of_a_transpose),
             MX_CASE(linears_of_mixed_formats_share_their_input),
             MX_CASE(linear_with_few_or_odd_columns_and_with_many_rows), MX_CASE(experts_plain_and_with_a_glu),
             MX_CASE(attention_over_short_and_long_histories), MX_CASE(attention_of_few_tokens),
             MX_CASE(operations_on_values), MX_CASE(operations_on_values_side_by_side), MX_CASE(every_way_of_routing),
             MX_CASE(routing_and_the_sum_of_experts))
