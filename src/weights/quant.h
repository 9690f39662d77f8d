/* quant.h - what config.json says about the storage of weights.
 *
 *     "quantization": {"group_size": 64, "bits": 4, "mode": "affine",
 *         "model.layers.0.mlp.gate": {"group_size": 64, "bits": 8},
 *         "lm_head": false}
 *
 * Source: mlx-lm, mlx_lm/utils.py load_model; mlx, python/mlx/nn/layers/quantized.py.
 */
#ifndef MX_WEIGHTS_QUANT_H
#define MX_WEIGHTS_QUANT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/strmap.h"
#include "weights/weight.h"

/* Tools other than MLX whose weights are turned into MLX's formats when a model is opened (mx_checkpoint_import). */
typedef enum mx_foreign {
    MX_FOREIGN_NONE,
    MX_FOREIGN_AWQ,
    MX_FOREIGN_GPTQ,       /* zero points are stored less one */
    MX_FOREIGN_GPTQ_V2,    /* zero points are stored as they are */
    MX_FOREIGN_COMPRESSED, /* compressed-tensors */
    MX_FOREIGN_BITNET,     /* -1, 0 and 1 times one factor */
    MX_FOREIGN_BITNET_DIV, /* the same, divided by it */
} mx_foreign;

struct mx_quant_config {
    bool is_present;    /* false: config.json says nothing, and tensors speak for themselves */
    mx_foreign foreign; /* who wrote the weights, where it was not MLX */
    mx_quant global;    /* what layers without an entry of their own have, where they have scales */
    mx_arena arena;     /* owned; names and the next live in it */
    mx_quant *layers;   /* [n_layers] MX_QUANT_NONE: this layer is not quantised */
    size_t n_layers;
    mx_strmap by_path; /* owned; module path, without ".weight" -> place in layers */
};

/* Reads "quantization", or else "quantization_config", of config.json's root or of its "text_config". `name` names the
 * document in errors. An override that lacks a field takes it from its mode's defaults, not from the global values.
 *
 * MX_FORMAT       a value of the wrong type, or bits and group that the mode does not have
 * MX_UNSUPPORTED  a mode, or another tool's quant_method or variant, that we do not read, named
 * MX_NO_MEMORY
 * *out is to be closed also after a failure.
 */
mx_status mx_quant_config_parse(yyjson_val *root, const char *name, mx_quant_config *out, mx_error *err) MX_NODISCARD;

/* A zeroed object is fine. */
void mx_quant_config_close(mx_quant_config *config);

/* What the configuration says about the layer at `path`: its own entry or the global one. MX_QUANT_NONE where it says
 * nothing, or that the layer is not quantised; config NULL says nothing. */
mx_quant mx_quant_config_find(const mx_quant_config *config, mx_str path);

/* "affine", "mxfp4", ...; "none". Static. */
const char *mx_quant_mode_name(mx_quant_mode mode);

/* Whether the mode has this width and group. */
bool mx_quant_is_valid(mx_quant quant);

#endif
