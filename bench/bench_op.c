/* bench_op.c - the inner loops alone, on one thread, on one tile that stays in the caches: what the arithmetic allows.
 *
 *     bench_op [isa]
 *
 * For each storage format: one row of activations, in GB/s of packed weights (to be held against the machine's reads a
 * core); and a block of rows from a panel, in multiply-adds a nanosecond. The best of many short runs, so that other
 * programs on the machine matter little.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "base/mem.h"
#include "platform/clock.h"
#include "platform/memory.h"

#define N_COLS     2048
#define PANEL_COLS 512 /* of packed_product.c */
#define N_TILES    4
#define N_RUNS     400

typedef struct op_format {
    const char *name;
    mx_quant quant;
    mx_dtype dtype;
} op_format;

static const op_format formats[] = {
    {"2 bits, group 64", {MX_QUANT_AFFINE, 2, 64}, MX_DTYPE_BF16},
    {"3 bits, group 64", {MX_QUANT_AFFINE, 3, 64}, MX_DTYPE_BF16},
    {"4 bits, group 64", {MX_QUANT_AFFINE, 4, 64}, MX_DTYPE_BF16},
    {"4 bits, group 32", {MX_QUANT_AFFINE, 4, 32}, MX_DTYPE_F16},
    {"5 bits, group 64", {MX_QUANT_AFFINE, 5, 64}, MX_DTYPE_BF16},
    {"6 bits, group 64", {MX_QUANT_AFFINE, 6, 64}, MX_DTYPE_BF16},
    {"8 bits, group 64", {MX_QUANT_AFFINE, 8, 64}, MX_DTYPE_BF16},
    {"mxfp4", {MX_QUANT_MXFP4, 4, 32}, MX_DTYPE_U8},
    {"nvfp4", {MX_QUANT_NVFP4, 4, 16}, MX_DTYPE_U8},
    {"mxfp8", {MX_QUANT_MXFP8, 8, 32}, MX_DTYPE_U8},
    {"bf16", {MX_QUANT_NONE, 0, 0}, MX_DTYPE_BF16},
    {"f16", {MX_QUANT_NONE, 0, 0}, MX_DTYPE_F16},
    {"f32", {MX_QUANT_NONE, 0, 0}, MX_DTYPE_F32},
};

typedef struct op_bench {
    const mx_cpu_kernels *kernels;
    mx_packed w;
    uint8_t *panel;
    mx_acts one;
    mx_acts many;
    float y[MX_MAX_BLOCK_TOKENS * MX_TILE_ROWS];
} op_bench;

static void run_one(op_bench *b, int64_t i_tile)
{
    const uint8_t *tile = mx_packed_tile(&b->w, 0, i_tile);
    (b->w.code < MX_CODE_FIRST_DENSE ? b->kernels->dot : b->kernels->dense)[b->w.code](&b->w, tile, &b->one, b->y);
}

static void run_expand(op_bench *b, int64_t i_tile)
{
    b->kernels->expand[b->w.code](&b->w, mx_packed_tile(&b->w, 0, i_tile), PANEL_COLS / b->w.group, b->panel);
}

static void run_many(op_bench *b, int64_t i_tile)
{
    if (b->w.code < MX_CODE_FIRST_DENSE) {
        b->kernels->panel(&b->w, b->panel, 0, PANEL_COLS / b->w.group, &b->many, b->y);
        (void)i_tile;
    } else {
        b->kernels->dense[b->w.code](&b->w, mx_packed_tile(&b->w, 0, i_tile), &b->many, b->y);
    }
}

/* Nanoseconds of a call, at best. */
static double time_calls(op_bench *b, void (*run)(op_bench *b, int64_t i_tile))
{
    double best = 1e30;
    for (int32_t i = 0; i < N_RUNS; i++) {
        const int64_t start_ns = mx_clock_ns();
        for (int64_t t = 0; t < N_TILES; t++) {
            run(b, t);
        }
        const double ns = (double)(mx_clock_ns() - start_ns) / N_TILES;
        best = ns < best ? ns : best;
    }
    return best;
}

static mx_acts make_acts(const op_bench *b, int32_t n_tokens, bool is_one, uint8_t *at, const float *x)
{
    const int32_t group = b->w.group ? b->w.group : 64;
    mx_acts acts = {.form = b->kernels->choose_form(b->w.code, false, is_one),
                    .n_tokens = n_tokens,
                    .x_group = group,
                    .w_group = group,
                    .n_cols = N_COLS,
                    .codes = at,
                    .scales = (float *)(void *)(at + N_COLS * 4 * n_tokens)};
    acts.sums = acts.scales + N_COLS / 16 * n_tokens;
    acts.code_sums = (int32_t *)(void *)(acts.sums + N_COLS / 16 * n_tokens);
    for (int32_t t = 0; t < n_tokens; t++) {
        b->kernels->quantize_row(&acts, t, x, false);
    }
    return acts;
}

static mx_status bench_format(op_bench *b, const op_format *f, mx_error *err)
{
    mx_block block = {0};
    const size_t n_source = (size_t)N_COLS * MX_TILE_ROWS * N_TILES * 4;
    MX_TRY(mx_block_alloc((size_t)16 << 20, &block, err));
    uint8_t *source = (uint8_t *)block.ptr; /* zeros: the speed does not depend on values */
    float *x = (float *)(void *)(source + 2 * n_source);
    for (int32_t i = 0; i < N_COLS; i++) {
        x[i] = (float)(i % 37) - 18.0f;
    }
    const mx_weight w = {.quant = f->quant,
                         .dtype = f->dtype,
                         .n_experts = 1,
                         .n_rows = MX_TILE_ROWS * N_TILES,
                         .n_cols = N_COLS,
                         .data = source,
                         .scales = source,
                         .biases = source,
                         .global_scale = 1.0f};
    b->w = mx_pack_plan(&w);
    b->w.data = source + n_source;
    b->panel = source + 3 * n_source;
    b->one = make_acts(b, 1, true, source + 4 * n_source, x);
    b->many = make_acts(b, b->kernels->max_block_tokens, false, source + 4 * n_source + 65536, x);
    const double one_ns = time_calls(b, run_one);
    const double many_ns = time_calls(b, run_many);
    printf("%-8s %-17s one row %6.1f GB/s", b->kernels->name, f->name, (double)b->w.tile_bytes / one_ns);
    printf(" | %d rows %6.1f multiply-adds/ns", b->many.n_tokens,
           (double)(b->w.code < MX_CODE_FIRST_DENSE ? PANEL_COLS : N_COLS) * MX_TILE_ROWS * b->many.n_tokens / many_ns);
    if (b->w.code < MX_CODE_FIRST_DENSE) {
        printf(" | expanding costs %.2f of that", time_calls(b, run_expand) / many_ns);
    }
    printf("\n");
    mx_block_free(&block);
    return MX_OK;
}

int main(int argc, char **argv)
{
    mx_error err = {0};
    const char *names[8];
    const int32_t n = MX_MIN(mx_cpu_kernels_list(names, 8), 8);
    for (int32_t i = 0; i < n; i++) {
        if (argc > 1 && strcmp(argv[1], names[i]) != 0) {
            continue;
        }
        op_bench b = {.kernels = mx_cpu_kernels_find(names[i])};
        for (size_t j = 0; j < MX_COUNTOF(formats); j++) {
            if (bench_format(&b, &formats[j], &err) != MX_OK) {
                fprintf(stderr, "bench_op: %s\n", err.message);
                return 1;
            }
        }
    }
    return 0;
}
