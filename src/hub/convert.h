/* convert.h - models of other kinds made into MLX models.
 *
 * A Hugging Face checkpoint of floats is quantised as mlx_lm.convert does it: every matrix and embedding whose rows are
 * whole groups, the recipe deciding which get more bits. A GGUF file is taken apart: see convert_gguf.c.
 */
#ifndef MX_HUB_CONVERT_H
#define MX_HUB_CONVERT_H

#include "base/error.h"
#include "weights/weight.h"

typedef struct mx_convert_options {
    mx_quant quant;     /* MX_QUANT_NONE: floats stay as they are */
    const char *recipe; /* "mixed_2_6", "mixed_3_4", "mixed_3_6", "mixed_4_6"; NULL: all alike. Affine, with
                           quant.group_size; quant.bits is the recipe's */
    void (*on_tensor)(void *arg, const char *name, size_t i, size_t n); /* before each tensor; may be NULL */
    void (*on_note)(void *arg, const char *sentence); /* what could not be kept exactly; may be NULL */
    bool (*should_stop)(void *arg);                   /* may be NULL */
    void *arg;
} mx_convert_options;

/* Makes the folder `out`, which must not exist, nor "<out>.part", of the model in folder `dir`. What was made is opened
 * before it gets its name; nothing is left after a failure, which then says what is wrong with it.
 * MX_INVALID (a recipe that there is not, `out` exists, not one matrix has rows of whole groups), MX_FORMAT,
 * MX_UNSUPPORTED (already quantised, fp8), MX_IO, MX_CANCELLED, MX_NO_MEMORY. */
mx_status mx_convert_checkpoint(const char *dir, const char *out, const mx_convert_options *options,
                                mx_error *err) MX_NODISCARD;

/* The same for a GGUF file of the families llama, qwen2 and qwen3. Quantised tensors keep their codes where MLX's
 * format can hold them (gguf_blocks.h); what is rounded or quantised anew is noted. options->quant and recipe do not
 * count. The tokenizer is taken over where it is byte-level BPE of a kind that is known; else a note says so.
 * MX_UNSUPPORTED names the family or format. */
mx_status mx_convert_gguf(const char *path, const char *out, const mx_convert_options *options,
                          mx_error *err) MX_NODISCARD;

#endif
