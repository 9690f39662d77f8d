/* builder_core.h - what the blocks stand on; for files of program/ only. */
#ifndef MX_PROGRAM_BUILDER_CORE_H
#define MX_PROGRAM_BUILDER_CORE_H

#include <stdio.h>

#include "base/strmap.h"
#include "program/builder.h"

typedef struct mx_builder_list {
    void *items; /* owned */
    size_t n;
    size_t cap;
} mx_builder_list;

struct mx_builder {
    mx_builder_shape shape;
    mx_weight_source source;
    mx_status st; /* of the first failure; `err` tells it */
    mx_error err;
    mx_arena arena; /* becomes the program's */
    mx_builder_list values, ops, weights, caches, ropes, states;
    mx_strmap weight_places; /* by full path; a table used twice (tied embeddings) is one weight */
    int32_t i_layer;
    mx_value stream;
    mx_value side;
    mx_value tokens;
};

/* Keeps a block's failure; only the first counts. */
void mx_builder_fail(mx_builder *b, mx_status st, const mx_error *err);
bool mx_builder_is_ok(const mx_builder *b);

/* Appends an item and returns its place; -1 after a failure. */
int32_t mx_builder_add(mx_builder *b, mx_builder_list *list, const void *item, size_t item_size);

/* A new value named "layers.N.<name>". */
mx_value mx_builder_add_value(mx_builder *b, const mx_value_info *info, const char *name);

/* The value's description; a harmless one after a failure. */
const mx_value_info *mx_builder_view_value(const mx_builder *b, mx_value v);

/* An operation of this layer without inputs and outputs; appends one. */
mx_op mx_builder_op(const mx_builder *b, mx_op_kind kind);
void mx_builder_add_op(mx_builder *b, const mx_op *op);

/* A weight that no path leads to; returns its place. */
int32_t mx_builder_add_weight(mx_builder *b, const mx_weight *w);

/* What the source's adapter adds to the product with the weight at `path`; false where nothing (or after a failure). */
bool mx_builder_find_adaptation(mx_builder *b, const char *path, int64_t n_in, int64_t n_out, mx_adaptation *out);

/* blocks_adapter.c: y, the product of x and an adapted weight, changed; `bias` is a place or MX_NO_WEIGHT. */
mx_value mx_builder_adapt(mx_builder *b, mx_value x, mx_value y, const mx_adaptation *adaptation, int32_t bias,
                          const char *path, const char *name);

/* The weight `<layer><path><suffix>`, which must have this shape; a vector has one row. */
int32_t mx_builder_weight(mx_builder *b, const char *path, const char *suffix, int64_t n_experts, int64_t n_rows,
                          int64_t n_cols);

/* Whether the source has the weight `<layer><path>`. */
bool mx_builder_has_weight(mx_builder *b, const char *path);

/* act(gate) * up by the shape's activation. */
mx_value mx_builder_glu(mx_builder *b, mx_value gate, mx_value up, const char *name);

#define BLOCK_MAX_PATH 96

/* "<path>.<name>" in the buffer, for the parts of a block. */
static inline const char *part(char buffer[BLOCK_MAX_PATH], const char *path, const char *name)
{
    snprintf(buffer, BLOCK_MAX_PATH, "%s.%s", path, name);
    return buffer;
}

#endif
