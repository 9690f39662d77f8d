/* rope_scaling.h - rotary embeddings: what a configuration says of them, and the table of frequencies that comes of it.
 */
#ifndef MX_MODEL_ROPE_SCALING_H
#define MX_MODEL_ROPE_SCALING_H

#include "model/config.h"

/* Reads "rope_theta", "rope_scaling" and "rope_parameters" (the newer form, plain or by type of layer) over the
 * defaults in config->ropes. Needs head_dim and n_ctx. Arrays go to the arena.
 * MX_FORMAT, MX_UNSUPPORTED (an unknown kind, named), MX_NO_MEMORY. */
mx_status mx_rope_config_read(yyjson_val *obj, mx_arena *arena, mx_model_config *config, mx_error *err) MX_NODISCARD;

/* Columns of a head that rotate: even. */
int32_t mx_rope_rot_dim(const mx_rope_config *rope);

/* The most positions that the embedding is made for: n_ctx (max_position_embeddings), or more where it is scaled. */
int32_t mx_rope_max_ctx(const mx_rope_config *rope, int32_t n_ctx);

/* Fills the table for a model that is opened with n_ctx positions.
 *
 * Two kinds depend on a length, and transformers takes the length of the sequence so far: past the original context
 * the frequencies change, and with them the meaning of keys that are in the cache already. Here n_ctx decides, once:
 *   dynamic   the base is that of a sequence of n_ctx positions
 *   longrope  long factors if n_ctx is above the original context, else short factors
 * so a prompt read at once, in pieces or token by token gives one result, and a model opened with n_ctx equal to the
 * length of a sequence agrees with transformers on it.
 *
 * max_n_ctx  max_position_embeddings
 * inv_freq   [rot_dim / 2] radians a position, computed in f64
 * factor     on cos and sin
 * Cannot fail: the configuration was checked when it was read.
 * Source: transformers, modeling_rope_utils.py; Peng et al., arXiv 2309.00071 (yarn); Ding et al., arXiv 2402.13753
 * (longrope).
 */
void mx_rope_table(const mx_rope_config *rope, int32_t n_ctx, int32_t max_n_ctx, float *inv_freq, float *factor);

#endif
