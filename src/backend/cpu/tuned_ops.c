/* tuned_ops.c - what the exact and the fast mode do in another way than the plain operations. */
#include "backend/cpu/attention_paged.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/packed_product.h"
#include "backend/cpu/recurrent_chunks.h"

const mx_cpu_op mx_cpu_tuned_ops[MX_OP_COUNT] = {
    [MX_OP_LINEAR] = {mx_cpu_packed_linear, mx_cpu_packed_product_need},
    [MX_OP_ATTENTION] = {mx_cpu_paged_attention, mx_cpu_paged_attention_need},
    [MX_OP_EXPERT_LINEAR] = {mx_cpu_packed_expert_linear, mx_cpu_packed_product_need},
    [MX_OP_HEAD_LINEAR] = {mx_cpu_packed_head_linear, mx_cpu_packed_product_need},
    [MX_OP_CAUSAL_CONV] = {mx_cpu_chunked_conv, NULL},
    [MX_OP_SSM_SCAN] = {mx_cpu_chunked_ssm, mx_cpu_chunked_ssm_need},
    [MX_OP_DELTA_RULE] = {mx_cpu_chunked_delta, mx_cpu_chunked_delta_need},
    [MX_OP_RG_LRU] = {mx_cpu_chunked_lru, mx_cpu_chunked_lru_need},
};
