/* cuda_weights.c - weights on their way to the device: how each is kept, where, and the copy.
 *
 * A matrix of a LINEAR becomes tiles (tiles.params.h): its bytes are copied as they are to a staging buffer and packed
 * there by a kernel. The table of an EMBED stays as the checkpoint has it, rows being read one at a time. Vectors
 * (norms, biases, sinks) become f32.
 */
#include <string.h>

#include "backend/cpu/cpu_check.h"
#include "backend/cuda/cuda_backend.h"
#include "base/mem.h"

typedef struct tile_format {
    int32_t kind;
    int32_t group;
} tile_format;

static tile_format format_of(const mx_quant *q)
{
    switch (q->mode) {
    case MX_QUANT_AFFINE: return (tile_format){q->bits <= 4 ? TILE_Q4 : TILE_Q8, q->group_size};
    case MX_QUANT_MXFP4: return (tile_format){TILE_Q8, q->group_size};
    case MX_QUANT_NONE:
    case MX_QUANT_NVFP4:
    case MX_QUANT_MXFP8: break;
    }
    return (tile_format){TILE_F16, SPAN_COLS};
}

static int64_t chunk_bytes(int32_t kind)
{
    return kind == TILE_Q4 ? 512 : kind == TILE_Q8 ? 1024 : 2048;
}

static int32_t count_tiles(const mx_weight *w)
{
    return (int32_t)((w->n_rows + TILE_ROWS - 1) / TILE_ROWS);
}

static int64_t values_bytes(const mx_weight *w)
{
    return w->quant.mode == MX_QUANT_NONE ? w->n_rows * w->n_cols * (int64_t)mx_dtype_size(w->dtype)
                                          : w->n_rows * w->n_cols * w->quant.bits / 8;
}

static int64_t scales_bytes(const mx_weight *w)
{
    return w->quant.mode == MX_QUANT_NONE
               ? 0
               : w->n_rows * (w->n_cols / w->quant.group_size) * (int64_t)mx_dtype_size(w->dtype);
}

static size_t align_16(int64_t n)
{
    return ((size_t)n + 15) / 16 * 16;
}

static size_t raw_bytes(const mx_weight *w)
{
    return align_16(values_bytes(w)) + 2 * align_16(scales_bytes(w));
}

/* The matrix as raw_matrix, for bytes that lie from `at` on as raw_bytes counts them. */
static raw_matrix raw_of(const mx_weight *w, mx_cu_ptr at)
{
    const mx_cu_ptr scales = at + align_16(values_bytes(w));
    return (raw_matrix){
        .data = at,
        .scales = scales,
        .biases = scales + align_16(scales_bytes(w)),
        .mode = (int32_t)w->quant.mode,
        .dtype = w->dtype == MX_DTYPE_F32   ? RAW_F32
                 : w->dtype == MX_DTYPE_F16 ? RAW_F16
                                            : RAW_BF16,
        .bits = w->quant.bits,
        .group = w->quant.mode == MX_QUANT_NONE ? 1 : w->quant.group_size,
        .n_rows = (int32_t)w->n_rows,
        .n_cols = (int32_t)w->n_cols,
        .global_scale = w->global_scale,
    };
}

/* Places ------------------------------------------------------------------------------------------------------------
 */

/* Takes the place of a packed matrix whose segments are known. */
static void place_packed(mx_cuda *cuda, const mx_op *op, mx_cuda_packed *packed)
{
    const mx_weight *first = &cuda->program->weights[op->u.linear.weights[packed->outputs[0]]];
    packed->n_chunks = (int32_t)((first->n_cols + SPAN_COLS - 1) / SPAN_COLS * (SPAN_COLS / CHUNK_COLS));
    packed->n_tiles = 0;
    packed->n_experts = (int32_t)first->n_experts;
    for (int32_t i = 0; i < packed->n_segments; i++) {
        packed->first_tile[i] = packed->takes_turns ? i : packed->n_tiles;
        packed->n_tiles += count_tiles(&cuda->program->weights[op->u.linear.weights[packed->outputs[i]]]);
    }
    packed->expert_tile_bytes = (int64_t)packed->n_tiles * packed->n_chunks * chunk_bytes(packed->kind);
    packed->expert_scale_words =
        packed->kind == TILE_F16 ? 0 : (int64_t)packed->n_tiles * (packed->n_chunks * CHUNK_COLS / packed->group) * 16;
    packed->tiles = mx_cuda_take(cuda, (size_t)(first->n_experts * packed->expert_tile_bytes));
    packed->scales = mx_cuda_take(cuda, (size_t)(first->n_experts * packed->expert_scale_words) * 4);
    packed->factors = mx_cuda_take(cuda, (size_t)(first->n_experts * packed->n_segments) * sizeof(float));
}

/* Neighbours of one format become one packed matrix. With a GLU there are two of one shape; where their formats differ
 * both become f16, since their tiles must take turns. */
static void place_linear(mx_cuda *cuda, const mx_op *op, mx_cuda_op_data *data)
{
    const mx_linear_params *p = &op->u.linear;
    data->n_packed = 0;
    for (int32_t i = 0; i < p->n_weights; i++) {
        tile_format format = format_of(&cuda->program->weights[p->weights[i]].quant);
        if (p->has_glu) {
            const tile_format other = format_of(&cuda->program->weights[p->weights[1 - i]].quant);
            if (other.kind != format.kind || other.group != format.group) {
                format = (tile_format){TILE_F16, SPAN_COLS};
            }
        }
        mx_cuda_packed *last = data->n_packed ? &data->packed[data->n_packed - 1] : NULL;
        if (!last || last->kind != format.kind || last->group != format.group) {
            last = &data->packed[data->n_packed++];
            *last = (mx_cuda_packed){.kind = format.kind, .group = format.group, .takes_turns = p->has_glu};
        }
        last->outputs[last->n_segments++] = i;
    }
    for (int32_t i = 0; i < data->n_packed; i++) {
        place_packed(cuda, op, &data->packed[i]);
    }
}

static void place_vector(void *arg, int32_t weight)
{
    mx_cuda *cuda = (mx_cuda *)arg;
    const mx_weight *w = &cuda->program->weights[weight];
    if (!cuda->vectors[weight]) {
        cuda->vectors[weight] = mx_cuda_take(cuda, (size_t)(w->n_experts * w->n_rows * w->n_cols) * sizeof(float));
    }
}

/* What EMBED and ADD_POSITIONS read rows of. */
static const mx_weight *table_of(const mx_program *program, const mx_op *op)
{
    return &program->weights[op->kind == MX_OP_EMBED ? op->u.embed.weight : op->u.position.weight];
}

static void widen_staging(size_t *n_bytes, const mx_weight *w)
{
    const mx_weight one = mx_weight_expert(w, 0);
    *n_bytes = MX_MAX(*n_bytes, raw_bytes(&one));
}

mx_status mx_cuda_place_weights(mx_cuda *cuda, mx_error *err)
{
    const mx_program *program = cuda->program;
    size_t n_staging = 16;
    memset(cuda->vectors, 0, (size_t)program->n_weights * sizeof *cuda->vectors);
    for (int32_t i = 0; i < program->n_ops; i++) {
        const mx_op *op = &program->ops[i];
        if (op->kind == MX_OP_LINEAR || op->kind == MX_OP_EXPERT_LINEAR) {
            place_linear(cuda, op, &cuda->ops[i]);
            for (int32_t j = 0; j < op->u.linear.n_weights; j++) {
                widen_staging(&n_staging, &program->weights[op->u.linear.weights[j]]);
            }
        } else if (op->kind == MX_OP_EMBED || op->kind == MX_OP_ADD_POSITIONS) {
            const mx_weight *w = table_of(program, op);
            cuda->ops[i].table = raw_of(w, mx_cuda_take(cuda, raw_bytes(w)));
        }
        mx_cpu_visit_vectors(op, place_vector, cuda);
    }
    cuda->staging = mx_cuda_take(cuda, n_staging);
    cuda->largest = mx_cuda_take(cuda, sizeof(uint32_t));
    for (int32_t i = 0; i < program->n_weights; i++) {
        const mx_weight *w = &program->weights[i];
        if (cuda->vectors[i] && (w->quant.mode != MX_QUANT_NONE || !mx_dtype_is_weight_float(w->dtype))) {
            return mx_fail(err, MX_UNSUPPORTED,
                           "\"%.*s\" is used as a vector but stored as %s, quantised or not a float",
                           MX_STR_ARG(w->name), mx_dtype_name(w->dtype));
        }
    }
    return MX_OK;
}

/* The way to the device ---------------------------------------------------------------------------------------------
 */

static mx_status copy_bytes(mx_cuda *cuda, mx_cu_ptr to, const void *from, int64_t n_bytes, const mx_weight *w,
                            mx_error *err)
{
    if (n_bytes == 0) {
        return MX_OK;
    }
    const mx_status st =
        mx_cuda_check(&cuda->driver, cuda->driver.api.cuMemcpyHtoDAsync_v2(to, from, (size_t)n_bytes, cuda->stream),
                      "copying weights to the GPU", err);
    return st == MX_OK ? MX_OK : mx_error_prefix(err, st, "\"%.*s\"", MX_STR_ARG(w->name));
}

static mx_status copy_pieces(mx_cuda *cuda, const raw_matrix *to, const mx_weight *w, mx_error *err)
{
    MX_TRY(copy_bytes(cuda, to->data, w->data, values_bytes(w), w, err));
    if (w->quant.mode != MX_QUANT_NONE) {
        MX_TRY(copy_bytes(cuda, to->scales, w->scales, scales_bytes(w), w, err));
    }
    return w->biases ? copy_bytes(cuda, to->biases, w->biases, scales_bytes(w), w, err) : MX_OK;
}

/* A matrix whose rows or columns are not neighbours in the file is brought into one piece first. */
static mx_status copy_raw(mx_cuda *cuda, const raw_matrix *to, const mx_weight *w, mx_error *err)
{
    if (!mx_weight_is_scattered(w)) {
        return copy_pieces(cuda, to, w, err);
    }
    uint8_t *bytes = (uint8_t *)mx_malloc(raw_bytes(w));
    if (!bytes) {
        return mx_fail_no_memory(err, raw_bytes(w), "a matrix on its way to the GPU");
    }
    mx_weight whole = *w;
    whole.run_rows = whole.first_row = whole.col_step = whole.n_pitch_cols = 0;
    whole.data = bytes;
    if (w->scales) {
        whole.scales = bytes + align_16(values_bytes(w));
    }
    if (w->biases) {
        whole.biases = bytes + align_16(values_bytes(w)) + align_16(scales_bytes(w));
    }
    mx_weight_gather(w, bytes, bytes + align_16(values_bytes(w)),
                     bytes + align_16(values_bytes(w)) + align_16(scales_bytes(w)));
    const mx_status st = copy_pieces(cuda, to, &whole, err);
    mx_free(bytes); /* the copy from memory that is not pinned has been staged when the call returns */
    return st;
}

/* One plain matrix into its tiles. */
static mx_status pack_matrix(mx_cuda *cuda, const mx_cuda_packed *packed, int32_t i_segment, int64_t expert,
                             const mx_weight *w, mx_error *err)
{
    const raw_matrix raw = raw_of(w, cuda->staging);
    MX_TRY(copy_raw(cuda, &raw, w, err));
    MX_TRY(mx_cuda_check(&cuda->driver,
                         cuda->driver.api.cuMemsetD8Async(cuda->largest, 0, sizeof(uint32_t), cuda->stream),
                         "packing weights", err));
    tile_range_params range = {.raw = raw, .largest = cuda->largest};
    MX_TRY(mx_cuda_launch(cuda, MX_CUDA_tile_range, (mx_cuda_grid){{256, 1, 1}, 256, 0}, &range, err));
    tile_pack_params pack = {
        .raw = raw,
        .largest = cuda->largest,
        .tiles = packed->tiles + (mx_cu_ptr)(expert * packed->expert_tile_bytes),
        .scales = packed->scales + (mx_cu_ptr)(expert * packed->expert_scale_words) * 4,
        .factor = mx_cuda_factor_of(packed, i_segment, expert),
        .kind = packed->kind,
        .first_tile = packed->first_tile[i_segment],
        .tile_step = packed->takes_turns ? 2 : 1,
        .n_tiles = count_tiles(w),
        .n_chunks = packed->n_chunks,
        .group = packed->group,
    };
    return mx_cuda_launch(cuda, MX_CUDA_tile_pack,
                          (mx_cuda_grid){{(uint32_t)packed->n_chunks, (uint32_t)count_tiles(w), 1}, 32, 0}, &pack, err);
}

static mx_status upload_linear(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    for (int32_t i = 0; i < data->n_packed; i++) {
        const mx_cuda_packed *packed = &data->packed[i];
        for (int32_t j = 0; j < packed->n_segments; j++) {
            const mx_weight *w = &cuda->program->weights[op->u.linear.weights[packed->outputs[j]]];
            for (int64_t e = 0; e < w->n_experts; e++) {
                const mx_weight one = mx_weight_expert(w, e);
                MX_TRY(pack_matrix(cuda, packed, j, e, &one, err));
            }
        }
    }
    return MX_OK;
}

static mx_status upload_vector(mx_cuda *cuda, int32_t weight, mx_error *err)
{
    const mx_weight *w = &cuda->program->weights[weight];
    const int64_t n = w->n_rows * w->n_cols;
    float *values = (float *)mx_malloc((size_t)n * sizeof(float));
    if (!values) {
        return mx_fail_no_memory(err, (size_t)n * sizeof(float), "a vector of the model");
    }
    mx_status st = MX_OK;
    for (int64_t e = 0; e < w->n_experts && st == MX_OK; e++) {
        const mx_weight one = mx_weight_expert(w, e);
        mx_dtype_to_f32(values, one.data, one.dtype, n);
        st = copy_bytes(cuda, cuda->vectors[weight] + (mx_cu_ptr)(e * n) * sizeof(float), values,
                        n * (int64_t)sizeof(float), w, err);
    }
    mx_free(values); /* the copy from memory that is not pinned has been staged when the call returns */
    return st;
}

mx_status mx_cuda_upload_weights(mx_cuda *cuda, mx_error *err)
{
    const mx_program *program = cuda->program;
    for (int32_t i = 0; i < program->n_weights; i++) {
        if (cuda->vectors[i]) {
            MX_TRY(upload_vector(cuda, i, err));
        }
    }
    for (int32_t i = 0; i < program->n_ops; i++) {
        const mx_op *op = &program->ops[i];
        if (op->kind == MX_OP_LINEAR || op->kind == MX_OP_EXPERT_LINEAR) {
            MX_TRY(upload_linear(cuda, op, &cuda->ops[i], err));
        } else if (op->kind == MX_OP_EMBED || op->kind == MX_OP_ADD_POSITIONS) {
            MX_TRY(copy_raw(cuda, &cuda->ops[i].table, table_of(program, op), err));
        }
    }
    for (int32_t i = 0; i < program->n_ropes; i++) {
        const mx_rope_spec *rope = &program->ropes[i];
        MX_TRY(mx_cuda_check(&cuda->driver,
                             cuda->driver.api.cuMemcpyHtoDAsync_v2(cuda->ropes[i].inv_freq, rope->inv_freq,
                                                                   (size_t)rope->rot_dim / 2 * sizeof(float),
                                                                   cuda->stream),
                             "copying rotary frequencies to the GPU", err));
    }
    return mx_cuda_check(&cuda->driver, cuda->driver.api.cuStreamSynchronize(cuda->stream), "packing weights", err);
}
