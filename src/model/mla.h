/* mla.h - multi-head latent attention as configurations describe it (DeepSeek V2 and V3, MiniCPM 3). */
#ifndef MX_MODEL_MLA_H
#define MX_MODEL_MLA_H

#include "model/family.h"

/* Rows of a family's table of fields. */
#define MX_MLA_FIELDS                                                              \
    MX_FIELD(mx_model_config, I32, mla.q_rank, "q_lora_rank", 1, 1 << 20),         \
        MX_FIELD(mx_model_config, I32, mla.kv_rank, "kv_lora_rank", 1, 4096),      \
        MX_FIELD(mx_model_config, I32, mla.nope_dim, "qk_nope_head_dim", 1, 4096), \
        MX_FIELD(mx_model_config, I32, mla.rope_dim, "qk_rope_head_dim", 2, 4096), \
        MX_FIELD(mx_model_config, I32, mla.v_dim, "v_head_dim", 1, 4096),          \
        MX_FIELD(mx_model_config, BOOL, is_rope_interleaved, "rope_interleave", 0, 0)

/* To be called by a family's `read`: a "q_lora_rank" of null is none, heads are those of the cache. MX_FORMAT. */
mx_status mx_mla_read(yyjson_val *obj, mx_model_config *c, mx_error *err);

/* The whole of "self_attn", o_proj included. */
mx_value mx_mla_self_attention(mx_builder *b, const mx_model_config *c, mx_value h);

/* The parts of "self_attn.kv_b_proj", as most checkpoints have them: rows of a family's fusions. */
#define MX_MLA_FUSIONS                                                        \
    {"self_attn.embed_q", "self_attn.kv_b_proj", MX_PART_LATENT_KEYS},        \
    {                                                                         \
        "self_attn.unembed_out", "self_attn.kv_b_proj", MX_PART_LATENT_VALUES \
    }

#endif
