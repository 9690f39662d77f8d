/* cuda_executor.c - opens an executor on a GPU, and runs steps. */
#include "backend/cuda/cuda_backend.h"

#include <string.h>

#include "backend/cpu/cpu_check.h"
#include "backend/cuda/cuda_image.h"
#include "base/mem.h"

#define TAKE_ALIGN     256
#define MAX_HEAD_DIM   256
#define PAD_BYTES      4096 /* behind the last thing taken: kernels may read a piece past an end */
#define SHARED_STATIC  1024 /* at least what linear kernels have of shared memory beside what a launch asks for */
#define SPLIT_SHARED   (4 * 16 * (MAX_HEAD_DIM + 2) * 4) /* beside 20 KB that are static */
#define TILES_SHARED   (3 * 2 * MX_PAGE_TOKENS * MAX_HEAD_DIM * 2)
#define MAX_ROW_TILE   128 /* rows of x that a block takes: in x16 rows are padded to it */
#define PARTIAL_BLOCKS 2   /* a launch is split into at most this many blocks a multiprocessor */

static const char *const kernel_names[] = {
#define X(name) #name,
    MX_CUDA_KERNEL_LIST(X)
#undef X
};

mx_cu_ptr mx_cuda_take(mx_cuda *cuda, size_t n_bytes)
{
    const mx_cu_ptr ptr = cuda->memory + cuda->n_taken;
    cuda->n_taken += (n_bytes + TAKE_ALIGN - 1) / TAKE_ALIGN * TAKE_ALIGN;
    return ptr;
}

mx_status mx_cuda_launch(mx_cuda *cuda, mx_cuda_kernel kernel, mx_cuda_grid grid, void *params, mx_error *err)
{
    mx_cu_launch_attribute overlap = {.id = MX_CU_LAUNCH_PROGRAMMATIC, .value.flag = 1};
    const mx_cu_launch_config config = {
        .grid = {grid.blocks[0], grid.blocks[1], grid.blocks[2]},
        .block = {grid.n_threads, 1, 1},
        .n_shared_bytes = grid.n_shared_bytes,
        .stream = cuda->stream,
        .attributes = &overlap,
        .n_attributes = cuda->has_programmatic_launch && !cuda->is_first_launch,
    };
    void *list[] = {params};
    cuda->is_first_launch = false;
    const mx_cu_result result = cuda->driver.api.cuLaunchKernelEx(&config, cuda->kernels[kernel], list, NULL);
    return mx_cuda_check(&cuda->driver, result, kernel_names[kernel], err);
}

int32_t mx_cuda_wanted_blocks(const mx_cuda *cuda)
{
    return PARTIAL_BLOCKS * cuda->device->n_sms;
}

/* Values ------------------------------------------------------------------------------------------------------------
 */

static int64_t rows_of(const mx_value_info *info, int64_t n_tokens, int64_t n_samples)
{
    return (info->rows == MX_ROWS_TOKENS ? n_tokens : n_samples) * info->row_factor;
}

int64_t mx_cuda_n_rows(const mx_cuda *cuda, mx_value value)
{
    return rows_of(&cuda->program->values[value], cuda->step.n_tokens, cuda->step.n_samples);
}

int64_t mx_cuda_max_rows(const mx_cuda *cuda, mx_value value)
{
    return rows_of(&cuda->program->values[value], cuda->plan->max_tokens, cuda->plan->max_samples);
}

int64_t mx_cuda_n_cols(const mx_cuda *cuda, mx_value value)
{
    return cuda->program->values[value].n_cols;
}

mx_cu_ptr mx_cuda_value(const mx_cuda *cuda, mx_value value)
{
    if (value == cuda->program->tokens) {
        return mx_cuda_batch_at(cuda, cuda->batch_layout.tokens);
    }
    return cuda->scratch + (mx_cu_ptr)cuda->plan->offsets[value];
}

mx_cu_ptr mx_cuda_vector(const mx_cuda *cuda, int32_t weight)
{
    return weight == MX_NO_WEIGHT ? 0 : cuda->vectors[weight];
}

/* Opening ------------------------------------------------------------------------------------------------------------
 */

static mx_status check_heads(const mx_program *program, mx_error *err)
{
    for (int32_t i = 0; i < program->n_caches; i++) {
        if (program->caches[i].is_latent) {
            return mx_fail(err, MX_UNSUPPORTED,
                           "attention over compressed keys and values (MLA) is not supported on the GPU");
        }
        if (program->caches[i].k_dim > MAX_HEAD_DIM || program->caches[i].v_dim > MAX_HEAD_DIM) {
            return mx_fail(err, MX_UNSUPPORTED,
                           "attention heads of %d and %d columns: on the GPU up to %d are supported",
                           program->caches[i].k_dim, program->caches[i].v_dim, MAX_HEAD_DIM);
        }
    }
    return MX_OK;
}

/* Operations without a row in mx_cuda_ops, by name. */
static mx_status check_ops(const mx_program *program, mx_error *err)
{
    for (int32_t i = 0; i < program->n_ops; i++) {
        if (program->ops[i].kind == MX_OP_ATTENTION && program->ops[i].u.attention.chunk > 0) {
            return mx_fail(err, MX_UNSUPPORTED, "ATTENTION in chunks is not supported on the GPU");
        }
        if (!mx_cuda_ops[program->ops[i].kind]) {
            return mx_fail(err, MX_UNSUPPORTED, "the GPU back end cannot run operation %d, %s: use --device cpu", i,
                           mx_op_infos[program->ops[i].kind].name);
        }
    }
    return MX_OK;
}

static mx_status choose_device(mx_cuda *cuda, mx_error *err)
{
    MX_TRY(mx_cuda_driver_open(NULL, &cuda->driver, err));
    int32_t ordinal = cuda->options.i_device;
    if (ordinal < 0) { /* the first that can be used */
        ordinal = 0;
        while (cuda->driver.devices[ordinal].problem != MX_CUDA_NONE) {
            ordinal++;
        }
    }
    if (ordinal >= cuda->driver.n_devices) {
        return mx_fail(err, MX_INVALID, "there is no GPU %d; the NVIDIA driver has %d, counted from 0", ordinal,
                       cuda->driver.n_devices);
    }
    cuda->device = &cuda->driver.devices[ordinal];
    if (cuda->device->problem != MX_CUDA_NONE) {
        return mx_fail(err, MX_DEVICE, "the GPU \"%s\" has compute capability %d.%d; %s", cuda->device->name,
                       cuda->device->cc_major, cuda->device->cc_minor, mx_cuda_problem_advice(cuda->device->problem));
    }
    return mx_cuda_check(&cuda->driver, cuda->driver.api.cuDeviceGet(&cuda->handle, ordinal), "asking for a GPU", err);
}

/* Kernels that take more than 48 KiB of shared memory must say so beforehand. */
static mx_status allow_shared(mx_cuda *cuda, int32_t kernel, int32_t n_bytes, mx_error *err)
{
    return mx_cuda_check(
        &cuda->driver,
        cuda->driver.api.cuFuncSetAttribute(cuda->kernels[kernel], MX_CU_FUNC_MAX_DYNAMIC_SHARED, n_bytes),
        kernel_names[kernel], err);
}

static mx_status load_kernels(mx_cuda *cuda, mx_error *err)
{
    const mx_cuda_api *api = &cuda->driver.api;
    const mx_status st = mx_cuda_check(&cuda->driver, api->cuModuleLoadData(&cuda->module, mx_cuda_image_get()->bytes),
                                       "loading the GPU kernels", err);
    if (st != MX_OK) {
        return mx_error_prefix(err, st, "%s (compute capability %d.%d), kernels for %s", cuda->device->name,
                               cuda->device->cc_major, cuda->device->cc_minor, mx_cuda_image_get()->archs);
    }
    MX_TRY(mx_cuda_check(&cuda->driver,
                         api->cuDeviceGetAttribute(&cuda->max_shared_bytes, MX_CU_ATTRIBUTE_SHARED_BYTES, cuda->handle),
                         "asking for the GPU's shared memory", err));
    for (int32_t i = 0; i < MX_CUDA_KERNEL_COUNT; i++) {
        MX_TRY(mx_cuda_check(&cuda->driver, api->cuModuleGetFunction(&cuda->kernels[i], cuda->module, kernel_names[i]),
                             kernel_names[i], err));
    }
    for (int32_t i = MX_CUDA_linear_few_q4_32; i <= MX_CUDA_linear_wide_f16_128x2; i++) {
        MX_TRY(allow_shared(cuda, i, cuda->max_shared_bytes - SHARED_STATIC, err));
    }
    for (int32_t i = MX_CUDA_attention_split_64; i <= MX_CUDA_attention_split_256; i++) {
        MX_TRY(allow_shared(cuda, i, SPLIT_SHARED, err));
    }
    for (int32_t i = MX_CUDA_attention_tiles_64; i <= MX_CUDA_attention_tiles_256; i++) {
        MX_TRY(allow_shared(cuda, i, TILES_SHARED, err));
    }
    return MX_OK;
}

static int32_t padded_dim(const mx_cache_spec *spec)
{
    const int32_t dim = MX_MAX(spec->k_dim, spec->v_dim);
    return dim <= 64 ? 64 : dim <= 128 ? 128 : 256;
}

static void place_caches(mx_cuda *cuda)
{
    const size_t from = cuda->n_taken;
    cuda->cache_memory = cuda->memory + from;
    for (int32_t i = 0; i < cuda->program->n_caches; i++) {
        const mx_cache_spec *spec = &cuda->program->caches[i];
        const int32_t dim = padded_dim(spec);
        const size_t n_bytes =
            (size_t)cuda->options.n_pages * (size_t)spec->n_kv_heads * MX_PAGE_TOKENS * (size_t)dim * sizeof(uint16_t);
        cuda->caches[i] = (mx_cuda_cache){.keys = mx_cuda_take(cuda, n_bytes), .dim = dim};
        cuda->caches[i].values = mx_cuda_take(cuda, n_bytes);
    }
    cuda->n_cache_bytes = cuda->n_taken - from;
}

/* What operations need beside their values, for the largest step. */
static void place_work(mx_cuda *cuda)
{
    int64_t n_x16 = 0;
    int64_t n_x_rows = 0;
    int64_t n_staged = 0;
    int64_t n_q16 = 0;
    for (int32_t i = 0; i < cuda->program->n_ops; i++) {
        const mx_op *op = &cuda->program->ops[i];
        if (op->kind == MX_OP_LINEAR) {
            const int64_t n_rows = (mx_cuda_max_rows(cuda, op->in[0]) + MAX_ROW_TILE - 1) / MAX_ROW_TILE * MAX_ROW_TILE;
            n_x16 = MX_MAX(n_x16, n_rows * (mx_cuda_n_cols(cuda, op->in[0]) + SPAN_COLS));
            n_x_rows = MX_MAX(n_x_rows, n_rows);
            for (int32_t j = 0; j < cuda->ops[i].n_packed; j++) {
                n_staged = MX_MAX(n_staged, mx_cuda_staged_bytes(&cuda->ops[i].packed[j], FEW_ROWS));
            }
        } else if (op->kind == MX_OP_ATTENTION) {
            const int64_t dim = padded_dim(&cuda->program->caches[op->u.attention.i_cache]);
            n_q16 = MX_MAX(n_q16, cuda->plan->max_tokens * op->u.attention.n_heads * dim);
        }
    }
    const size_t n_blocks = (size_t)mx_cuda_wanted_blocks(cuda);
    const size_t linear_partial = 256 * 64 * sizeof(float);                   /* linear_many with 128 rows */
    const size_t attention_partial = 16 * (MAX_HEAD_DIM + 2) * sizeof(float); /* one split's 16 queries */
    cuda->x16 = mx_cuda_take(cuda, (size_t)n_x16 * sizeof(uint16_t));
    cuda->x_factors = mx_cuda_take(cuda, (size_t)n_x_rows * sizeof(float));
    cuda->staged = mx_cuda_take(cuda, (size_t)n_staged);
    cuda->q16 = mx_cuda_take(cuda, (size_t)n_q16 * sizeof(uint16_t));
    cuda->partials = mx_cuda_take(cuda, n_blocks * MX_MAX(linear_partial, attention_partial));
    cuda->counters = mx_cuda_take(cuda, n_blocks * sizeof(uint32_t));
    cuda->scratch = mx_cuda_take(cuda, (size_t)cuda->plan->n_scratch_bytes);
}

/* Takes everything's place; with the reservation at 0 this is how much there is to reserve. */
static mx_status place_everything(mx_cuda *cuda, mx_error *err)
{
    cuda->n_taken = TAKE_ALIGN; /* no place is at 0 */
    MX_TRY(mx_cuda_place_weights(cuda, err));
    for (int32_t i = 0; i < cuda->program->n_ropes; i++) {
        cuda->ropes[i].inv_freq = mx_cuda_take(cuda, (size_t)cuda->program->ropes[i].rot_dim / 2 * sizeof(float));
    }
    place_work(cuda);
    mx_cuda_place_batch(cuda);
    place_caches(cuda);
    (void)mx_cuda_take(cuda, PAD_BYTES);
    return MX_OK;
}

static mx_status reserve(mx_cuda *cuda, mx_error *err)
{
    const mx_cuda_api *api = &cuda->driver.api;
    MX_TRY(place_everything(cuda, err));
    cuda->n_reserved = cuda->n_taken;
    size_t n_free = 0;
    size_t n_total = 0;
    MX_TRY(mx_cuda_check(&cuda->driver, api->cuMemGetInfo_v2(&n_free, &n_total), "asking for free GPU memory", err));
    const mx_cu_result result = api->cuMemAlloc_v2(&cuda->memory, cuda->n_reserved);
    if (result == MX_CU_OUT_OF_MEMORY || cuda->n_reserved > n_total) {
        cuda->memory = result == MX_CU_SUCCESS ? cuda->memory : 0;
        return mx_fail_native(
            err, MX_NO_MEMORY, result,
            "the model needs %.1f GB of GPU memory (%.1f GB of it for the KV cache), and %.1f of %.1f "
            "GB are free: use a shorter context, fewer sequences or --device cpu",
            (double)cuda->n_reserved / 1e9, (double)cuda->n_cache_bytes / 1e9, (double)n_free / 1e9,
            (double)n_total / 1e9);
    }
    MX_TRY(mx_cuda_check(&cuda->driver, result, "reserving GPU memory", err));
    /* Caches must be finite where nothing was written yet, counters start at 0. */
    MX_TRY(place_everything(cuda, err));
    MX_TRY(mx_cuda_check(&cuda->driver, api->cuMemsetD8Async(cuda->memory, 0, cuda->n_reserved, cuda->stream),
                         "clearing GPU memory", err));
    MX_TRY(mx_cuda_check(&cuda->driver, api->cuMemHostAlloc((void **)&cuda->batch_host, cuda->batch_layout.n_bytes, 0),
                         "taking pinned memory", err));
    const mx_value logits = cuda->program->logits;
    const size_t n_logits = (size_t)(mx_cuda_max_rows(cuda, logits) * mx_cuda_n_cols(cuda, logits));
    return mx_cuda_check(&cuda->driver, api->cuMemHostAlloc((void **)&cuda->logits_host, n_logits * sizeof(float), 0),
                         "taking pinned memory", err);
}

static mx_status open_context(mx_cuda *cuda, mx_error *err)
{
    const mx_cuda_api *api = &cuda->driver.api;
    mx_cu_context context = NULL;
    MX_TRY(mx_cuda_check(&cuda->driver, api->cuDevicePrimaryCtxRetain(&context, cuda->handle), "opening the GPU", err));
    cuda->has_context = true;
    MX_TRY(mx_cuda_check(&cuda->driver, api->cuCtxSetCurrent(context), "opening the GPU", err));
    cuda->has_programmatic_launch = cuda->device->cc_major >= 9;
    cuda->has_wide =
        cuda->device->cc_major == 9 && cuda->device->cc_minor == 0 && strstr(mx_cuda_image_get()->archs, "90a") != NULL;
    return mx_cuda_check(&cuda->driver, api->cuStreamCreate(&cuda->stream, MX_CU_STREAM_NON_BLOCKING),
                         "opening the GPU", err);
}

static mx_status take_lists(mx_cuda *cuda, mx_error *err)
{
    const mx_program *program = cuda->program;
    cuda->ops = (mx_cuda_op_data *)mx_calloc((size_t)program->n_ops, sizeof *cuda->ops);
    cuda->vectors = (mx_cu_ptr *)mx_calloc((size_t)program->n_weights, sizeof *cuda->vectors);
    cuda->caches = (mx_cuda_cache *)mx_calloc((size_t)program->n_caches, sizeof *cuda->caches);
    cuda->ropes = (mx_cuda_rope *)mx_calloc((size_t)program->n_ropes, sizeof *cuda->ropes);
    if (!cuda->ops || !cuda->vectors || !cuda->caches || !cuda->ropes) {
        return mx_fail_no_memory(err, (size_t)program->n_ops * sizeof *cuda->ops, "the lists of an executor");
    }
    return MX_OK;
}

static void cuda_close(mx_executor *executor)
{
    mx_cuda *cuda = (mx_cuda *)executor;
    const mx_cuda_api *api = &cuda->driver.api;
    if (cuda->stream) {
        (void)api->cuStreamSynchronize(cuda->stream);
    }
    for (int32_t i = 0; i < cuda->n_graphs; i++) {
        (void)api->cuGraphExecDestroy(cuda->graphs[i].exec);
    }
    if (cuda->logits_host) {
        (void)api->cuMemFreeHost(cuda->logits_host);
    }
    if (cuda->batch_host) {
        (void)api->cuMemFreeHost(cuda->batch_host);
    }
    if (cuda->memory) {
        (void)api->cuMemFree_v2(cuda->memory);
    }
    if (cuda->module) {
        (void)api->cuModuleUnload(cuda->module);
    }
    if (cuda->stream) {
        (void)api->cuStreamDestroy_v2(cuda->stream);
    }
    if (cuda->has_context) {
        (void)api->cuDevicePrimaryCtxRelease_v2(cuda->handle);
    }
    mx_cuda_driver_close(&cuda->driver);
    mx_free(cuda->ops);
    mx_free(cuda->vectors);
    mx_free(cuda->caches);
    mx_free(cuda->ropes);
    mx_free(cuda);
}

/* Steps ---------------------------------------------------------------------------------------------------------------
 */

static mx_status launch_program(mx_cuda *cuda, mx_error *err)
{
    cuda->is_first_launch = true;
    for (int32_t i = 0; i < cuda->program->n_ops; i++) {
        const mx_op *op = &cuda->program->ops[i];
        MX_TRY(mx_cuda_ops[op->kind](cuda, op, &cuda->ops[i], err));
    }
    return MX_OK;
}

static bool is_same_step(const mx_cuda_step *a, const mx_cuda_step *b)
{
    return a->n_tokens == b->n_tokens && a->n_seqs == b->n_seqs && a->n_samples == b->n_samples &&
           a->max_seq_tokens == b->max_seq_tokens && a->n_pages == b->n_pages;
}

/* A place for one more graph: a free one, or that of the graph that was not used for longest. */
static mx_cuda_graph *place_of_graph(mx_cuda *cuda)
{
    if (cuda->n_graphs < MX_CUDA_MAX_GRAPHS) {
        return &cuda->graphs[cuda->n_graphs++];
    }
    mx_cuda_graph *oldest = &cuda->graphs[0];
    for (int32_t i = 1; i < cuda->n_graphs; i++) {
        oldest = cuda->graphs[i].last_use < oldest->last_use ? &cuda->graphs[i] : oldest;
    }
    (void)cuda->driver.api.cuGraphExecDestroy(oldest->exec);
    return oldest;
}

/* Records the program's launches for the present step. */
static mx_status capture(mx_cuda *cuda, mx_cu_graph_exec *exec, mx_error *err)
{
    const mx_cuda_api *api = &cuda->driver.api;
    mx_cu_graph graph = NULL;
    MX_TRY(mx_cuda_check(&cuda->driver, api->cuStreamBeginCapture_v2(cuda->stream, MX_CU_CAPTURE_THREAD_LOCAL),
                         "recording a step", err));
    mx_status st = launch_program(cuda, err);
    const mx_cu_result result = api->cuStreamEndCapture(cuda->stream, &graph);
    if (st == MX_OK) {
        st = mx_cuda_check(&cuda->driver, result, "recording a step", err);
    }
    if (st == MX_OK) {
        st = mx_cuda_check(&cuda->driver, api->cuGraphInstantiateWithFlags(exec, graph, 0), "recording a step", err);
    }
    if (graph) {
        (void)api->cuGraphDestroy(graph);
    }
    return st;
}

static mx_status replay(mx_cuda *cuda, mx_error *err)
{
    mx_cuda_graph *graph = NULL;
    for (int32_t i = 0; i < cuda->n_graphs && !graph; i++) {
        graph = is_same_step(&cuda->graphs[i].key, &cuda->step) ? &cuda->graphs[i] : NULL;
    }
    if (!graph) {
        mx_cu_graph_exec exec = NULL;
        MX_TRY(capture(cuda, &exec, err));
        graph = place_of_graph(cuda);
        *graph = (mx_cuda_graph){.key = cuda->step, .exec = exec};
    }
    graph->last_use = cuda->n_steps;
    return mx_cuda_check(&cuda->driver, cuda->driver.api.cuGraphLaunch(graph->exec, cuda->stream), "running a step",
                         err);
}

static mx_status cuda_run(mx_executor *executor, const mx_batch *batch, mx_error *err)
{
    mx_cuda *cuda = (mx_cuda *)executor;
    const mx_cuda_api *api = &cuda->driver.api;
    for (int32_t t = 0; t < batch->n_tokens; t++) {
        if (batch->tokens[t] < 0 || batch->tokens[t] >= cuda->program->n_vocab) {
            return mx_fail(err, MX_INVALID, "token id %d: the model's vocabulary has %d entries", batch->tokens[t],
                           cuda->program->n_vocab);
        }
    }
    MX_TRY(mx_cuda_send_batch(cuda, batch, err));
    cuda->n_steps++;
    MX_TRY(cuda->step.max_seq_tokens == 1 ? replay(cuda, err) : launch_program(cuda, err));
    const mx_value logits = cuda->program->logits;
    const size_t n_logits = (size_t)(mx_cuda_n_rows(cuda, logits) * mx_cuda_n_cols(cuda, logits));
    if (n_logits > 0) {
        MX_TRY(mx_cuda_check(&cuda->driver,
                             api->cuMemcpyDtoHAsync_v2(cuda->logits_host, mx_cuda_value(cuda, logits),
                                                       n_logits * sizeof(float), cuda->stream),
                             "copying logits from the GPU", err));
    }
    return mx_cuda_check(&cuda->driver, api->cuStreamSynchronize(cuda->stream), "running a step", err);
}

static const float *cuda_view_logits(const mx_executor *executor)
{
    return ((const mx_cuda *)executor)->logits_host;
}

static mx_status cuda_open(const mx_plan *plan, const mx_executor_options *options, mx_executor **out, mx_error *err)
{
    mx_status st;
    if (!mx_cuda_image_get()) {
        return mx_fail(err, MX_DEVICE, "this build has no GPU kernels; %s", mx_cuda_problem_advice(MX_CUDA_NOT_BUILT));
    }
    if (options->n_pages <= 0) {
        return mx_fail(err, MX_INVALID, "a KV cache of %d pages: at least one is needed", options->n_pages);
    }
    if (options->kv_type != MX_KV_F16) {
        return mx_fail(err, MX_UNSUPPORTED, "the KV cache in f32: on the GPU it is kept in f16");
    }
    mx_cuda *cuda = (mx_cuda *)mx_calloc(1, sizeof *cuda);
    if (!cuda) {
        return mx_fail_no_memory(err, sizeof *cuda, "the executor");
    }
    *cuda = (mx_cuda){
        .base = {.backend = &mx_backend_cuda, .run = cuda_run, .view_logits = cuda_view_logits, .close = cuda_close},
        .plan = plan,
        .program = plan->program,
        .options = *options,
    };
    MX_TRY_OR(done, st, mx_cpu_check_program(plan->program, mx_cpu_reference_ops, err));
    MX_TRY_OR(done, st, check_ops(plan->program, err));
    MX_TRY_OR(done, st, check_heads(plan->program, err));
    MX_TRY_OR(done, st, choose_device(cuda, err));
    MX_TRY_OR(done, st, open_context(cuda, err));
    MX_TRY_OR(done, st, load_kernels(cuda, err));
    MX_TRY_OR(done, st, take_lists(cuda, err));
    MX_TRY_OR(done, st, reserve(cuda, err));
    MX_TRY_OR(done, st, mx_cuda_upload_weights(cuda, err));
    *out = &cuda->base;
    return MX_OK;
done:
    cuda_close(&cuda->base);
    return st;
}

const mx_backend mx_backend_cuda = {.name = "cuda", .open = cuda_open};
