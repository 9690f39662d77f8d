/* tuned_ops.c - the table of operations of the exact and the fast mode. */
#include "backend/cpu/attention_paged.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/packed_product.h"
#include "backend/cpu/recurrent_chunks.h"

const mx_cpu_op mx_cpu_tuned_ops[MX_OP_COUNT] = {
    [MX_OP_EMBED] = {mx_cpu_embed, NULL},
    [MX_OP_GATHER_ROWS] = {mx_cpu_gather_rows, NULL},
    [MX_OP_ADD_POSITIONS] = {mx_cpu_add_positions, mx_cpu_add_positions_need},
    [MX_OP_RMSNORM] = {mx_cpu_norm, NULL},
    [MX_OP_LAYERNORM] = {mx_cpu_norm, NULL},
    [MX_OP_ADD] = {mx_cpu_add, NULL},
    [MX_OP_SCALE] = {mx_cpu_scale, NULL},
    [MX_OP_SOFTCAP] = {mx_cpu_softcap, NULL},
    [MX_OP_CLIP] = {mx_cpu_clip, NULL},
    [MX_OP_MULTIPLY] = {mx_cpu_multiply, NULL},
    [MX_OP_XIELU] = {mx_cpu_xielu, NULL},
    [MX_OP_CUTOFF] = {mx_cpu_cutoff, NULL},
    [MX_OP_CONCAT] = {mx_cpu_concat, NULL},
    [MX_OP_MATCH_RMS] = {mx_cpu_match_rms, NULL},
    [MX_OP_MIX_STREAMS] = {mx_cpu_mix_streams, NULL},
    [MX_OP_ADD_STREAMS] = {mx_cpu_add_streams, NULL},
    [MX_OP_ACTIVATION] = {mx_cpu_activation, NULL},
    [MX_OP_GLU] = {mx_cpu_glu, NULL},
    [MX_OP_LINEAR] = {mx_cpu_packed_linear, mx_cpu_packed_product_need},
    [MX_OP_ROPE] = {mx_cpu_rope, NULL},
    [MX_OP_KV_APPEND] = {mx_cpu_kv_append, NULL},
    [MX_OP_ATTENTION] = {mx_cpu_paged_attention, mx_cpu_paged_attention_need},
    [MX_OP_ROUTE] = {mx_cpu_route, mx_cpu_route_need},
    [MX_OP_EXPERT_LINEAR] = {mx_cpu_packed_expert_linear, mx_cpu_packed_product_need},
    [MX_OP_HEAD_LINEAR] = {mx_cpu_packed_head_linear, mx_cpu_packed_product_need},
    [MX_OP_HEAD_COLUMNS] = {mx_cpu_head_columns, NULL},
    [MX_OP_SCALE_CHOSEN] = {mx_cpu_scale_chosen, NULL},
    [MX_OP_EXPERT_COMBINE] = {mx_cpu_expert_combine, NULL},
    [MX_OP_ALLREDUCE] = {mx_cpu_allreduce, NULL},
    [MX_OP_ALLGATHER] = {mx_cpu_allgather, mx_cpu_allgather_need},
    [MX_OP_SEND] = {mx_cpu_send, NULL},
    [MX_OP_RECV] = {mx_cpu_recv, NULL},
    [MX_OP_SLICE] = {mx_cpu_slice, NULL},
    [MX_OP_CAUSAL_CONV] = {mx_cpu_chunked_conv, NULL},
    [MX_OP_SSM_SCAN] = {mx_cpu_chunked_ssm, mx_cpu_chunked_ssm_need},
    [MX_OP_DELTA_RULE] = {mx_cpu_chunked_delta, mx_cpu_chunked_delta_need},
};
