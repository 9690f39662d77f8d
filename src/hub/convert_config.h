/* convert_config.h - which tensors get which format, and the config.json that says so. Private to hub/. */
#ifndef MX_HUB_CONVERT_CONFIG_H
#define MX_HUB_CONVERT_CONFIG_H

#include "base/arena.h"
#include "base/json.h"
#include "hub/convert.h"

/* Makes the folder that a conversion works in, "<out>.part", and gives its path in the arena. MX_INVALID where `out` or
 * that folder is there already. */
mx_status mx_convert_begin(mx_arena *arena, const char *out, const char **part, mx_error *err) MX_NODISCARD;

/* Gives the folder its name where the conversion went well (st) and the model in it can be opened; else removes it.
 * Returns st, or what that fails with. */
mx_status mx_convert_end(const char *part, const char *out, mx_status st, mx_error *err) MX_NODISCARD;

typedef struct mx_convert_config {
    const mx_convert_options *options;
    mx_json source;            /* owned; config.json as it was */
    yyjson_mut_doc *made;      /* owned; as it will be */
    yyjson_mut_val *overrides; /* lives in made: "quantization" */
    mx_quant low, high;        /* what the recipe gives; equal without one */
    int64_t n_layers;
    int64_t n_quantised;  /* matrices, as is the next */
    int64_t n_left;       /* floats still, since their rows are no whole groups */
    char first_left[128]; /* the path of the first of them, as far as there is room */
    int64_t n_left_cols;  /* its columns */
    bool is_tied;         /* the embedding is the output matrix too */
} mx_convert_config;

/* Reads config.json of the folder. *out is to be closed also after a failure. MX_UNSUPPORTED where the model is
 * quantised already, MX_INVALID for a recipe that there is not, MX_FORMAT, MX_IO, MX_NO_MEMORY. */
mx_status mx_convert_config_open(const char *dir, const mx_convert_options *options, mx_convert_config *out,
                                 mx_error *err) MX_NODISCARD;

/* A zeroed object is fine. */
void mx_convert_config_close(mx_convert_config *config);

/* The format for the matrix at `path` (without ".weight"): MX_QUANT_NONE where it stays as it is. What differs from the
 * model's format is noted for config.json. MX_NO_MEMORY. */
mx_status mx_convert_choose(mx_convert_config *config, mx_str path, const int64_t *shape, int32_t n_dims, mx_quant *out,
                            mx_error *err) MX_NODISCARD;

/* Once every matrix had its choice: notes how many stayed floats. MX_INVALID where a format was asked for and no matrix
 * has it. */
mx_status mx_convert_config_check(const mx_convert_config *config, mx_error *err) MX_NODISCARD;

/* Tensors that carry nothing: tables of angles, the output matrix of a tied model. */
bool mx_convert_is_dropped(const mx_convert_config *config, mx_str name);

/* Writes config.json with "quantization" into a folder. MX_IO, MX_NO_MEMORY. */
mx_status mx_convert_config_write(mx_convert_config *config, const char *dir, mx_error *err) MX_NODISCARD;

#endif
