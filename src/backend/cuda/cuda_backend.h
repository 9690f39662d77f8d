/* cuda_backend.h - the CUDA back end from inside: one open executor, and what an operation sees of a step.
 *
 * A step is one list of launches on one stream, the program's operations in order; each file in ops/ launches one
 * operation's kernels (kernels/). Everything is reserved when the executor is opened, in one allocation:
 *
 *     [ packed weights | vectors | tables of embeddings | values | work space | batch | KV caches ]
 *
 * A step in which every sequence has one token is captured once as a graph and replayed: what differs from step to step
 * (tokens, positions, pages) lies in device memory, and what the launches depend on is the graph's key.
 * Called by one thread at a time.
 */
#ifndef MX_BACKEND_CUDA_CUDA_BACKEND_H
#define MX_BACKEND_CUDA_CUDA_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/cuda/cuda_driver.h"
#include "backend/cuda/kernels/attention.params.h"
#include "backend/cuda/kernels/linear.params.h"
#include "backend/cuda/kernels/tiles.params.h"
#include "backend/executor.h"
#include "program/batch.h"
#include "program/plan.h"

extern const mx_backend mx_backend_cuda;

/* Every kernel by its name in kernels/. */
#define MX_CUDA_KERNEL_LIST(X) \
    X(tile_range)              \
    X(tile_pack)               \
    X(linear_input)            \
    X(linear_few_q4_32)        \
    X(linear_few_q4_64)        \
    X(linear_few_q4_128)       \
    X(linear_few_q8_32)        \
    X(linear_few_q8_64)        \
    X(linear_few_q8_128)       \
    X(linear_few_f16)          \
    X(linear_many_q4_16)       \
    X(linear_many_q4_64)       \
    X(linear_many_q4_128)      \
    X(linear_many_q8_16)       \
    X(linear_many_q8_64)       \
    X(linear_many_q8_128)      \
    X(linear_many_f16_16)      \
    X(linear_many_f16_64)      \
    X(linear_many_f16_128)     \
    X(linear_wide_q4_16)       \
    X(linear_wide_q4_64)       \
    X(linear_wide_q4_128)      \
    X(linear_wide_q4_128x2)    \
    X(linear_wide_q8_16)       \
    X(linear_wide_q8_64)       \
    X(linear_wide_q8_128)      \
    X(linear_wide_q8_128x2)    \
    X(linear_wide_f16_16)      \
    X(linear_wide_f16_64)      \
    X(linear_wide_f16_128)     \
    X(linear_wide_f16_128x2)   \
    X(linear_stage_q4_32)      \
    X(linear_stage_q4_64)      \
    X(linear_stage_q4_128)     \
    X(linear_stage_q8_32)      \
    X(linear_stage_q8_64)      \
    X(linear_stage_q8_128)     \
    X(linear_stage_f16)        \
    X(attention_prepare)       \
    X(rope)                    \
    X(attention_split_64)      \
    X(attention_split_128)     \
    X(attention_split_256)     \
    X(attention_tiles_64)      \
    X(attention_tiles_128)     \
    X(attention_tiles_256)     \
    X(value_add)               \
    X(value_scale)             \
    X(value_softcap)           \
    X(value_clip)              \
    X(multiply)                \
    X(xielu)                   \
    X(scale_chosen)            \
    X(slice)                   \
    X(concat_rows)             \
    X(match_rms)               \
    X(cutoff)                  \
    X(mix_streams)             \
    X(add_streams)             \
    X(value_activation)        \
    X(value_glu)               \
    X(embed)                   \
    X(add_positions)           \
    X(gather_rows)             \
    X(rmsnorm)                 \
    X(layernorm)               \
    X(route)                   \
    X(expert_combine)

typedef enum mx_cuda_kernel {
#define X(name) MX_CUDA_##name,
    MX_CUDA_KERNEL_LIST(X)
#undef X
        MX_CUDA_KERNEL_COUNT
} mx_cuda_kernel;

/* Weights of one operation that are packed as one matrix: of one tile format, beside one another. */
typedef struct mx_cuda_packed {
    int32_t kind; /* TILE_x */
    int32_t group;
    int32_t n_segments;
    int32_t n_experts;
    int32_t outputs[LINEAR_MAX_SEGMENTS]; /* place of each segment in the operation's weights */
    int32_t first_tile[LINEAR_MAX_SEGMENTS];
    int32_t n_tiles;
    int32_t n_chunks; /* of columns, even: two are a span */
    bool takes_turns; /* GLU: tiles of the two segments alternate */
    mx_cu_ptr tiles;  /* [n_experts, expert_tile_bytes] */
    mx_cu_ptr scales;
    mx_cu_ptr factors; /* [n_segments, n_experts] f32 */
    int64_t expert_tile_bytes;
    int64_t expert_scale_words;
} mx_cuda_packed;

/* Where the factor of a segment and expert lies (tiles.params.h). */
static inline mx_cu_ptr mx_cuda_factor_of(const mx_cuda_packed *packed, int32_t i_segment, int64_t expert)
{
    return packed->factors + (mx_cu_ptr)(i_segment * (int64_t)packed->n_experts + expert) * sizeof(float);
}

/* What an operation has on the device for itself. */
typedef struct mx_cuda_op_data {
    int32_t n_packed;
    mx_cuda_packed packed[MX_OP_MAX_OUT];
    raw_matrix table; /* EMBED, ADD_POSITIONS */
} mx_cuda_op_data;

typedef struct mx_cuda_cache {
    mx_cu_ptr keys; /* attention.params.h */
    mx_cu_ptr values;
    int32_t dim;
} mx_cuda_cache;

typedef struct mx_cuda_rope {
    mx_cu_ptr inv_freq;
} mx_cuda_rope;

/* The batch of a step as it lies in device memory; the same layout in pinned host memory. Offsets in bytes. */
typedef struct mx_cuda_batch_layout {
    size_t tokens;
    size_t positions;
    size_t token_seqs;
    size_t row_start;
    size_t sample_rows;
    size_t query_tiles;
    size_t page_table; /* last: what the step does not use is not copied */
    size_t n_bytes;
    int32_t max_page_cols;
} mx_cuda_batch_layout;

/* What the launches of a step depend on. */
typedef struct mx_cuda_step {
    int32_t n_tokens;
    int32_t n_seqs;
    int32_t n_samples;
    int32_t max_seq_tokens; /* most tokens that a sequence has in this step */
    int32_t n_query_tiles;
    int32_t n_pages; /* of the longest sequence, rounded up to a power of two */
} mx_cuda_step;

#define MX_CUDA_MAX_GRAPHS 64

typedef struct mx_cuda_graph {
    mx_cuda_step key;
    mx_cu_graph_exec exec; /* owned */
    int64_t last_use;
} mx_cuda_graph;

typedef struct mx_cuda {
    mx_executor base; /* first: an mx_executor * is an mx_cuda * */
    const mx_plan *plan;
    const mx_program *program; /* the plan's */
    mx_executor_options options;
    mx_cuda_driver driver; /* owned */
    const mx_cuda_device_info *device;
    mx_cu_device handle;
    bool has_context;
    bool has_programmatic_launch;
    bool has_wide;       /* linear_wide does something on this GPU */
    mx_cu_module module; /* owned */
    mx_cu_function kernels[MX_CUDA_KERNEL_COUNT];
    int32_t max_shared_bytes;
    mx_cu_stream stream; /* owned */

    mx_cu_ptr memory; /* owned: the reservation */
    size_t n_reserved;
    size_t n_taken;
    mx_cuda_op_data *ops;  /* owned [n_ops] */
    mx_cu_ptr *vectors;    /* owned [n_weights]: f32; 0 for what is no vector */
    mx_cuda_cache *caches; /* owned [n_caches] */
    mx_cuda_rope *ropes;   /* owned [n_ropes] */
    mx_cu_ptr cache_memory;
    size_t n_cache_bytes;
    mx_cu_ptr scratch;
    mx_cu_ptr x16; /* linear_input's output, for the largest operation */
    mx_cu_ptr x_factors;
    mx_cu_ptr staged; /* linear_stage's output, likewise */
    mx_cu_ptr q16;
    mx_cu_ptr partials;
    mx_cu_ptr counters;
    mx_cu_ptr staging; /* one matrix in the checkpoint's bytes */
    mx_cu_ptr largest; /* of the staged matrix */
    mx_cu_ptr batch_memory;
    mx_cuda_batch_layout batch_layout;
    uint8_t *batch_host; /* owned, pinned [batch_layout.n_bytes] */
    float *logits_host;  /* owned, pinned */

    mx_cuda_step step;
    bool is_first_launch; /* of a step: it has nothing to overlap with */
    mx_cuda_graph graphs[MX_CUDA_MAX_GRAPHS];
    int32_t n_graphs;
    int64_t n_steps;
} mx_cuda;

/* A launch's shape. */
typedef struct mx_cuda_grid {
    uint32_t blocks[3];
    uint32_t n_threads;
    uint32_t n_shared_bytes;
} mx_cuda_grid;

/* The next n_bytes of the reservation, 256-byte aligned; while the reservation is 0 this only counts. */
mx_cu_ptr mx_cuda_take(mx_cuda *cuda, size_t n_bytes);

/* Puts a kernel on the stream. */
mx_status mx_cuda_launch(mx_cuda *cuda, mx_cuda_kernel kernel, mx_cuda_grid grid, void *params,
                         mx_error *err) MX_NODISCARD;

/* cuda_weights.c: decides how each operation's weights are packed and takes their places (twice: to count, and for
 * good); then brings them to the device. */
mx_status mx_cuda_place_weights(mx_cuda *cuda, mx_error *err) MX_NODISCARD;
mx_status mx_cuda_upload_weights(mx_cuda *cuda, mx_error *err) MX_NODISCARD;

/* cuda_batch.c: the batch's place, and its way to the device. */
void mx_cuda_place_batch(mx_cuda *cuda);
mx_status mx_cuda_send_batch(mx_cuda *cuda, const mx_batch *batch, mx_error *err) MX_NODISCARD;
attention_step mx_cuda_attention_step(const mx_cuda *cuda);
mx_cu_ptr mx_cuda_batch_at(const mx_cuda *cuda, size_t offset);

/* A value's place, its rows in this step and in the largest. */
mx_cu_ptr mx_cuda_value(const mx_cuda *cuda, mx_value value);
int64_t mx_cuda_n_rows(const mx_cuda *cuda, mx_value value);
int64_t mx_cuda_max_rows(const mx_cuda *cuda, mx_value value);
int64_t mx_cuda_n_cols(const mx_cuda *cuda, mx_value value);

/* A vector of the program, or 0 for MX_NO_WEIGHT. */
mx_cu_ptr mx_cuda_vector(const mx_cuda *cuda, int32_t weight);

/* Bytes of n_rows rows of x as linear_few wants them. */
int64_t mx_cuda_staged_bytes(const mx_cuda_packed *packed, int64_t n_rows);

/* Blocks that split a launch into about as much as the device runs at once. */
int32_t mx_cuda_wanted_blocks(const mx_cuda *cuda);

/* The operations: each launches its kernels. */
typedef mx_status mx_cuda_op_run(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err);
extern mx_cuda_op_run *const mx_cuda_ops[MX_OP_COUNT];

mx_cuda_op_run mx_cuda_linear;
mx_cuda_op_run mx_cuda_expert_linear;
mx_cuda_op_run mx_cuda_attention;
mx_cuda_op_run mx_cuda_kv_append;
mx_cuda_op_run mx_cuda_rope_op;
mx_cuda_op_run mx_cuda_embed_op;
mx_cuda_op_run mx_cuda_gather_rows_op;
mx_cuda_op_run mx_cuda_add_positions_op;
mx_cuda_op_run mx_cuda_rmsnorm_op;
mx_cuda_op_run mx_cuda_layernorm_op;
mx_cuda_op_run mx_cuda_add;
mx_cuda_op_run mx_cuda_scale;
mx_cuda_op_run mx_cuda_softcap;
mx_cuda_op_run mx_cuda_clip;
mx_cuda_op_run mx_cuda_multiply;
mx_cuda_op_run mx_cuda_xielu;
mx_cuda_op_run mx_cuda_scale_chosen;
mx_cuda_op_run mx_cuda_cutoff;
mx_cuda_op_run mx_cuda_concat;
mx_cuda_op_run mx_cuda_match_rms;
mx_cuda_op_run mx_cuda_mix_streams;
mx_cuda_op_run mx_cuda_add_streams;
mx_cuda_op_run mx_cuda_slice;
mx_cuda_op_run mx_cuda_activation;
mx_cuda_op_run mx_cuda_glu;
mx_cuda_op_run mx_cuda_route_op;
mx_cuda_op_run mx_cuda_expert_combine_op;

#endif
