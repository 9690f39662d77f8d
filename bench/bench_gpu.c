/* bench_gpu.c - decode and prefill of whole models with random weights on a GPU.
 *
 *     bench_gpu [shape ...]
 *
 * One step is one call of the executor with everything in it: the batch's way to the GPU, the launches, the logits' way
 * back. Each figure is the median of the steps after some that warm up. "share" is the weights' and the cache's bytes
 * over time and the read bandwidth that performance.md has for an H200, 4.53 TB/s.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/executor.h"
#include "bench/synthetic.h"
#include "platform/clock.h"

#define READ_BYTES_A_SECOND 4.53e12
#define N_CTX               8192
#define N_PROMPT            2048
#define MAX_SEQS            64
#define N_WARM              5
#define N_STEPS             41
#define PAGE_COLS           (N_CTX / MX_PAGE_TOKENS)

typedef struct session {
    synthetic_model model;
    mx_executor *executor;
    int32_t tokens[N_PROMPT];
    int32_t positions[N_PROMPT];
    int32_t row_start[MAX_SEQS + 1];
    int32_t kv_len[MAX_SEQS];
    int32_t pages[MAX_SEQS * PAGE_COLS];
    int32_t sample_rows[MAX_SEQS];
    mx_batch batch;
} session;

/* n_seqs sequences of n_new tokens each, at the end of n_context positions; a sequence has n_pages pages of its own. */
static void fill_batch(session *s, int32_t n_seqs, int32_t n_new, int32_t n_context)
{
    const int32_t n_pages = n_context / MX_PAGE_TOKENS + 1;
    s->batch = (mx_batch){.n_tokens = n_seqs * n_new,
                          .n_seqs = n_seqs,
                          .n_samples = n_seqs,
                          .n_page_cols = PAGE_COLS,
                          .tokens = s->tokens,
                          .positions = s->positions,
                          .row_start = s->row_start,
                          .kv_len = s->kv_len,
                          .page_table = s->pages,
                          .sample_rows = s->sample_rows};
    for (int32_t i = 0; i < n_seqs; i++) {
        s->row_start[i] = i * n_new;
        s->row_start[i + 1] = (i + 1) * n_new;
        s->kv_len[i] = n_context;
        s->sample_rows[i] = (i + 1) * n_new - 1;
        for (int32_t t = 0; t < n_new; t++) {
            s->tokens[i * n_new + t] = (int32_t)((uint32_t)(i * 977 + t) * 2654435761u % 40000u);
            s->positions[i * n_new + t] = n_context - n_new + t;
        }
        for (int32_t p = 0; p < PAGE_COLS; p++) {
            s->pages[i * PAGE_COLS + p] = i * n_pages + p % n_pages;
        }
    }
}

static int compare_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static mx_status time_steps(session *s, int32_t n_steps, double *seconds, mx_error *err)
{
    int64_t times[N_STEPS];
    for (int32_t i = -N_WARM; i < n_steps; i++) {
        const int64_t start = mx_clock_ns();
        MX_TRY(mx_executor_run(s->executor, &s->batch, err));
        times[MX_MAX(i, 0)] = mx_clock_ns() - start;
    }
    qsort(times, (size_t)n_steps, sizeof times[0], compare_i64);
    const int64_t median = times[n_steps / 2];
    *seconds = (double)median * 1e-9;
    return MX_OK;
}

static mx_status measure(session *s, const synthetic_shape *shape, mx_error *err)
{
    static const struct {
        int32_t n_seqs, n_new, n_context, n_steps;
    } runs[] = {{1, 1, 128, N_STEPS},
                {1, 1, 4096, N_STEPS},
                {8, 1, 128, N_STEPS},
                {64, 1, 128, N_STEPS},
                {1, N_PROMPT, N_PROMPT, 9}};
    printf("%-14s", shape->name);
    for (size_t i = 0; i < MX_COUNTOF(runs); i++) {
        double seconds = 0.0;
        fill_batch(s, runs[i].n_seqs, runs[i].n_new, runs[i].n_context);
        MX_TRY(time_steps(s, runs[i].n_steps, &seconds, err));
        const double kv = 4.0 * shape->n_layers * shape->n_kv_heads * shape->head_dim;
        const double n_bytes = (double)s->model.n_weight_bytes + kv * runs[i].n_context * runs[i].n_seqs;
        printf(" | %8.0f", runs[i].n_seqs * runs[i].n_new / seconds);
        if (runs[i].n_new == 1) {
            printf(" (%6.0f us, %2.0f %%)", seconds * 1e6, 100.0 * n_bytes / seconds / READ_BYTES_A_SECOND);
        }
        fflush(stdout);
    }
    printf("\n");
    return MX_OK;
}

static mx_status run_shape(const synthetic_shape *shape, mx_error *err)
{
    static session s;
    const mx_executor_options options = {
        .n_pages = MAX_SEQS * 8 + PAGE_COLS, .max_seqs = MAX_SEQS, .kv_type = MX_KV_F16};
    mx_status st;
    MX_TRY_OR(
        done, st,
        synthetic_model_open(&s.model, shape, (mx_quant){MX_QUANT_AFFINE, 4, 64}, MX_DTYPE_BF16, N_CTX, N_PROMPT, err));
    mx_plan_deinit(&s.model.plan);
    MX_TRY_OR(done, st, mx_plan_init(&s.model.plan, &s.model.program, N_PROMPT, MAX_SEQS, err));
    const int64_t start = mx_clock_ns();
    MX_TRY_OR(done, st, mx_executor_open("cuda", &s.model.plan, &options, &s.executor, err));
    const double seconds = (double)(mx_clock_ns() - start) * 1e-9;
    MX_TRY_OR(done, st, measure(&s, shape, err));
    printf("%-14s   opened in %.2f s\n", "", seconds);
done:
    mx_executor_close(s.executor);
    synthetic_model_close(&s.model);
    s = (session){0};
    return st;
}

int main(int argc, char **argv)
{
    mx_error err = {0};
    printf("tokens a second: 1 stream at 128 | at 4096 | 8 streams at 128 | 64 streams at 128 | prefill %d\n",
           N_PROMPT);
    for (const synthetic_shape *shape = synthetic_shapes; shape->name; shape++) {
        bool is_chosen = argc < 2;
        for (int i = 1; i < argc; i++) {
            is_chosen = is_chosen || strcmp(argv[i], shape->name) == 0;
        }
        if (is_chosen && run_shape(shape, &err) != MX_OK) {
            printf("\n%s: %s\n", shape->name, err.message);
            return 1;
        }
    }
    return 0;
}
