/* model.h - a model directory opened: configuration, weights and program.
 *
 * model/ turns a checkpoint directory into a program. config.h reads config.json, rope_scaling.h makes frequency
 * tables, tensors.h finds tensors under the names that checkpoints give them, families/ holds one short file a family
 * and registry.c the table of them. A model is immutable once open and may be shared by threads.
 */
#ifndef MX_MODEL_MODEL_H
#define MX_MODEL_MODEL_H

#include "base/error.h"
#include "model/config.h"
#include "program/program.h"

typedef struct mx_model mx_model;

typedef struct mx_model_options {
    int32_t n_ctx;           /* positions that a sequence may have; 0: as many as the model was made for */
    bool without_passes;     /* keep the plain program, as the family built it: for tests and `inspect` */
    const char *adapter_dir; /* NULL, or a LoRA or DoRA adapter to apply (adapter.h) */
} mx_model_options;

/* Opens the model in directory `dir`: reads config.json and generation_config.json, maps the weights, builds the
 * program and runs the passes. Reads no weight bytes. options NULL: all defaults.
 *
 * MX_NOT_FOUND   no such directory, no config.json, no weights, or a tensor that the model needs is missing, named
 * MX_FORMAT      a file that is not what it claims, a tensor of the wrong shape, or one that the model does not use
 * MX_UNSUPPORTED an unknown family (with the nearest known) or a feature that we do not have
 * MX_INVALID     n_ctx is more than the model can take
 * MX_IO, MX_NO_MEMORY
 */
mx_status mx_model_open(const char *dir, const mx_model_options *options, mx_model **out, mx_error *err) MX_NODISCARD;

/* Frees everything and closes the files. NULL is fine. */
void mx_model_close(mx_model *model);

/* Borrowed until the model is closed. The program's n_ctx and n_vocab are those to keep to. */
const mx_program *mx_model_view_program(const mx_model *model);
const mx_model_config *mx_model_view_config(const mx_model *model);

/* Token ids that end a text, from generation_config.json, else config.json; *n_ids of them, 0 where neither says. */
const int32_t *mx_model_view_eos_ids(const mx_model *model, int32_t *n_ids);

/* What generation_config.json recommends; see mx_sampling_defaults. */
const mx_sampling_defaults *mx_model_view_sampling(const mx_model *model);

#endif
