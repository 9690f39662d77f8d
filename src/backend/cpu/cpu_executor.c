/* cpu_executor.c - opens an executor on the CPU, and runs steps.
 *
 * Everything is reserved when it is opened: values, work space, KV pages, vectors as f32. A step is one run of the
 * pool.
 */
#include <inttypes.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/cpu_check.h"
#include "backend/cpu/kernels.h"
#include "base/mem.h"

#define WORK_ALIGN 64

typedef struct vector_visit {
    mx_cpu *cpu;
    mx_status status;
    mx_error *err;
} vector_visit;

/* A norm, bias or sink as f32; a stack of them (biases of experts) one after the other. */
static void copy_vector(void *arg, int32_t weight)
{
    vector_visit *visit = (vector_visit *)arg;
    mx_cpu *cpu = visit->cpu;
    if (visit->status != MX_OK || cpu->vectors[weight]) {
        return;
    }
    const mx_weight *w = &cpu->program->weights[weight];
    if (w->quant.mode != MX_QUANT_NONE || !mx_dtype_is_weight_float(w->dtype)) {
        visit->status = mx_fail(visit->err, MX_UNSUPPORTED,
                                "\"%.*s\" is used as a vector but stored as %s, quantised or not a float",
                                MX_STR_ARG(w->name), mx_dtype_name(w->dtype));
        return;
    }
    const int64_t n = w->n_rows * w->n_cols;
    const size_t n_bytes = (size_t)(w->n_experts * n) * sizeof(float);
    float *vector = (float *)mx_malloc(n_bytes);
    if (!vector) {
        visit->status = mx_fail_no_memory(visit->err, n_bytes, "a vector of the model");
        return;
    }
    cpu->vectors[weight] = vector;
    for (int64_t i = 0; i < w->n_experts; i++) {
        const mx_weight one = mx_weight_expert(w, i);
        mx_dtype_to_f32(vector + i * n, one.data, one.dtype, n);
    }
}

static mx_status copy_vectors(mx_cpu *cpu, mx_error *err)
{
    const mx_program *program = cpu->program;
    cpu->vectors = (float **)mx_calloc((size_t)program->n_weights, sizeof *cpu->vectors);
    if (!cpu->vectors) {
        return mx_fail_no_memory(err, (size_t)program->n_weights * sizeof *cpu->vectors, "the list of vectors");
    }
    vector_visit visit = {.cpu = cpu, .status = MX_OK, .err = err};
    for (int32_t i = 0; i < program->n_ops; i++) {
        mx_cpu_visit_vectors(&program->ops[i], copy_vector, &visit);
    }
    return visit.status;
}

/* Packing ---------------------------------------------------------------------------------------------------------- */

/* A fixed part of all tiles for each thread: packing costs the same for every byte. */
static void pack_part(void *arg, int32_t i_thread)
{
    mx_cpu *cpu = (mx_cpu *)arg;
    for (int32_t i = 0; i < cpu->program->n_weights; i++) {
        const mx_packed *packed = &cpu->packed[i];
        int64_t from = 0;
        int64_t to = 0;
        if (packed->data) {
            mx_pool_split(packed->n_experts * packed->n_tiles, i_thread, mx_pool_n_threads(cpu->pool), &from, &to);
        }
        for (int64_t j = from; j < to; j++) {
            mx_pack_tile(packed, &cpu->program->weights[i], j / packed->n_tiles, j % packed->n_tiles);
        }
    }
}

/* Gives each weight of a product its place in packed_block (a first pass, with base NULL, only counts); returns the
 * bytes of all. */
static int64_t place_weights(mx_cpu *cpu, uint8_t *base)
{
    int64_t n_bytes = 0;
    for (int32_t i = 0; i < cpu->program->n_ops; i++) {
        const mx_op *op = &cpu->program->ops[i];
        const int32_t n = mx_op_is_linear(op->kind) ? op->u.linear.n_weights : 0;
        for (int32_t j = 0; j < n; j++) {
            mx_packed *packed = &cpu->packed[op->u.linear.weights[j]];
            const bool is_new = base ? !packed->data : packed->tile_bytes == 0;
            if (is_new) {
                *packed = mx_pack_plan(&cpu->program->weights[op->u.linear.weights[j]]);
                packed->data = base ? base + n_bytes : NULL;
                n_bytes += mx_packed_bytes(packed);
            }
        }
    }
    return n_bytes;
}

static mx_status pack_weights(mx_cpu *cpu, mx_error *err)
{
    const size_t n_weights = (size_t)cpu->program->n_weights;
    cpu->packed = (mx_packed *)mx_calloc(n_weights, sizeof *cpu->packed);
    if (!cpu->packed) {
        return mx_fail_no_memory(err, n_weights * sizeof *cpu->packed, "the list of weights");
    }
    const int64_t n_bytes = place_weights(cpu, NULL);
    const mx_status st = mx_block_alloc((size_t)MX_MAX(n_bytes, 1), &cpu->packed_block, err);
    if (st != MX_OK) {
        return mx_error_prefix(err, st, "the packed weights");
    }
    (void)place_weights(cpu, (uint8_t *)cpu->packed_block.ptr);
    mx_pool_run(cpu->pool, pack_part, cpu);
    return MX_OK;
}

static mx_status open_caches(mx_cpu *cpu, mx_error *err)
{
    const mx_program *program = cpu->program;
    cpu->caches = (mx_kv_cache *)mx_calloc((size_t)program->n_caches, sizeof *cpu->caches);
    if (!cpu->caches) {
        return mx_fail_no_memory(err, (size_t)program->n_caches * sizeof *cpu->caches, "the list of KV caches");
    }
    for (int32_t i = 0; i < program->n_caches; i++) {
        MX_TRY(mx_kv_cache_init(&cpu->caches[i], &program->caches[i], cpu->options.kv_type, cpu->options.n_pages, err));
    }
    return MX_OK;
}

static size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static mx_status open_work(mx_cpu *cpu, mx_error *err)
{
    for (int32_t i = 0; i < cpu->program->n_ops; i++) {
        const mx_op *op = &cpu->program->ops[i];
        if (cpu->ops[op->kind].need) {
            const mx_cpu_need need = cpu->ops[op->kind].need(cpu, op);
            cpu->n_shared_bytes = MX_MAX(cpu->n_shared_bytes, round_up(need.n_shared_bytes, WORK_ALIGN));
            cpu->n_thread_bytes = MX_MAX(cpu->n_thread_bytes, round_up(need.n_thread_bytes, WORK_ALIGN));
        }
    }
    const size_t n_bytes = cpu->n_shared_bytes + (size_t)mx_pool_n_threads(cpu->pool) * cpu->n_thread_bytes;
    MX_TRY(mx_block_alloc(MX_MAX(n_bytes, WORK_ALIGN), &cpu->work, err));
    return mx_block_alloc((size_t)MX_MAX(cpu->plan->n_scratch_bytes, WORK_ALIGN), &cpu->scratch, err);
}

static void run_thread(void *arg, int32_t i_thread)
{
    mx_cpu *cpu = (mx_cpu *)arg;
    uint8_t *work = (uint8_t *)cpu->work.ptr;
    mx_cpu_task task = {
        .cpu = cpu,
        .batch = cpu->batch,
        .i_thread = i_thread,
        .n_threads = mx_pool_n_threads(cpu->pool),
        .shared = work,
        .own = work + cpu->n_shared_bytes + (size_t)i_thread * cpu->n_thread_bytes,
    };
    for (int32_t i = 0; i < cpu->program->n_ops; i++) {
        task.op = &cpu->program->ops[i];
        cpu->ops[task.op->kind].run(&task);
        mx_pool_barrier(cpu->pool);
    }
}

static mx_status cpu_run(mx_executor *executor, const mx_batch *batch, mx_error *err)
{
    mx_cpu *cpu = (mx_cpu *)executor;
    for (int32_t t = 0; t < batch->n_tokens; t++) {
        if (batch->tokens[t] < 0 || batch->tokens[t] >= cpu->program->n_vocab) {
            return mx_fail(err, MX_INVALID, "token id %d: the model's vocabulary has %d entries", batch->tokens[t],
                           cpu->program->n_vocab);
        }
    }
    const int64_t tokens_place = cpu->plan->offsets[cpu->program->tokens];
    if (tokens_place >= 0) {
        memcpy((uint8_t *)cpu->scratch.ptr + tokens_place, batch->tokens, (size_t)batch->n_tokens * sizeof(int32_t));
    }
    for (int32_t i = 0; i < batch->n_seqs; i++) {
        for (int32_t t = batch->row_start[i]; t < batch->row_start[i + 1]; t++) {
            cpu->token_seqs[t] = i;
        }
    }
    cpu->batch = batch;
    cpu->talk_status = MX_OK;
    mx_pool_run(cpu->pool, run_thread, cpu);
    cpu->batch = NULL;
    if (cpu->talk_status != MX_OK && err) {
        *err = cpu->talk_error;
    }
    return cpu->talk_status;
}

static const float *cpu_view_logits(const mx_executor *executor)
{
    const mx_cpu *cpu = (const mx_cpu *)executor;
    if (cpu->program->logits == MX_NO_VALUE) {
        return NULL;
    }
    return (const float *)((const uint8_t *)cpu->scratch.ptr + cpu->plan->offsets[cpu->program->logits]);
}

static mx_status cpu_copy_state(mx_executor *executor, int32_t from_slot, int32_t to_slot, mx_error *err)
{
    (void)err;
    mx_state_pool_copy(&((mx_cpu *)executor)->states, from_slot, to_slot);
    return MX_OK;
}

static void cpu_close(mx_executor *executor)
{
    mx_cpu *cpu = (mx_cpu *)executor;
    mx_pool_close(cpu->pool);
    for (int32_t i = 0; cpu->vectors && i < cpu->program->n_weights; i++) {
        mx_free(cpu->vectors[i]);
    }
    mx_free(cpu->vectors);
    for (int32_t i = 0; cpu->caches && i < cpu->program->n_caches; i++) {
        mx_kv_cache_deinit(&cpu->caches[i]);
    }
    mx_free(cpu->caches);
    mx_state_pool_deinit(&cpu->states);
    mx_free(cpu->token_seqs);
    mx_free(cpu->packed);
    mx_block_free(&cpu->packed_block);
    mx_block_free(&cpu->scratch);
    mx_block_free(&cpu->work);
    mx_free(cpu);
}

/* The plain operations first; a tuned mode then puts its own in their places. */
static void fill_ops(mx_cpu *cpu)
{
    for (int32_t i = 0; i < MX_OP_COUNT; i++) {
        const bool is_tuned = cpu->options.cpu_mode != MX_CPU_REFERENCE && mx_cpu_tuned_ops[i].run;
        cpu->ops[i] = is_tuned ? mx_cpu_tuned_ops[i] : mx_cpu_reference_ops[i];
    }
}

static mx_status cpu_open(const mx_plan *plan, const mx_executor_options *options, mx_executor **out, mx_error *err)
{
    mx_status st;
    mx_cpu *cpu = NULL;

    if (options->n_pages <= 0) {
        return mx_fail(err, MX_INVALID, "a KV cache of %d pages: at least one is needed", options->n_pages);
    }
    const mx_cpu_kernels *kernels = mx_cpu_kernels_find(options->cpu_isa);
    if (!kernels) {
        return mx_fail(err, MX_UNSUPPORTED, "this processor or build has no kernels for \"%s\"", options->cpu_isa);
    }
    cpu = (mx_cpu *)mx_calloc(1, sizeof *cpu);
    if (!cpu) {
        return mx_fail_no_memory(err, sizeof *cpu, "the executor");
    }
    *cpu = (mx_cpu){
        .base = {.backend = &mx_backend_cpu,
                 .run = cpu_run,
                 .view_logits = cpu_view_logits,
                 .copy_state = cpu_copy_state,
                 .close = cpu_close},
        .plan = plan,
        .program = plan->program,
        .options = *options,
        .kernels = kernels,
    };
    fill_ops(cpu);
    MX_TRY_OR(done, st, mx_cpu_check_program(plan->program, cpu->ops, err));
    MX_TRY_OR(done, st, mx_cpu_check_shard(&plan->program->shard, options, err));
    MX_TRY_OR(done, st, mx_pool_open(options->n_threads, &cpu->pool, err));
    MX_TRY_OR(done, st, copy_vectors(cpu, err));
    if (options->cpu_mode != MX_CPU_REFERENCE) {
        MX_TRY_OR(done, st, pack_weights(cpu, err));
    }
    MX_TRY_OR(done, st, open_caches(cpu, err));
    MX_TRY_OR(done, st, mx_state_pool_init(&cpu->states, cpu->program, options->n_state_slots, err));
    MX_TRY_OR(done, st, open_work(cpu, err));
    cpu->token_seqs = (int32_t *)mx_calloc((size_t)plan->max_tokens, sizeof *cpu->token_seqs);
    if (!cpu->token_seqs) {
        st = mx_fail_no_memory(err, (size_t)plan->max_tokens * sizeof *cpu->token_seqs, "the tokens of a step");
        goto done;
    }
    *out = &cpu->base;
    return MX_OK;
done:
    cpu_close(&cpu->base);
    return st;
}

const mx_backend mx_backend_cpu = {.name = "cpu", .open = cpu_open};
