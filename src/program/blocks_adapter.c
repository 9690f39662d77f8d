/* blocks_adapter.c - a product whose weight has an adapter: two thin products beside the wide one. Nothing is merged,
 * so quantised weights stay as they are. */
#include <stdio.h>

#include "program/builder_core.h"

#define ADAPTER_MAX_NAME 128

static mx_value emit(mx_builder *b, mx_op op, mx_value x, int64_t n_cols, const char *path, const char *suffix)
{
    char name[ADAPTER_MAX_NAME];
    mx_value_info info = *mx_builder_view_value(b, x);
    info.n_cols = n_cols;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    op.in[0] = x;
    op.out[0] = mx_builder_add_value(b, &info, name);
    mx_builder_add_op(b, &op);
    return op.out[0];
}

static mx_value product(mx_builder *b, mx_value x, const mx_weight *w, int32_t bias, const char *path,
                        const char *suffix)
{
    mx_op op = mx_builder_op(b, MX_OP_LINEAR);
    op.u.linear.n_weights = 1;
    op.u.linear.weights[0] = mx_builder_add_weight(b, w);
    op.u.linear.biases[0] = bias;
    return emit(b, op, x, w->n_rows, path, suffix);
}

mx_value mx_builder_adapt(mx_builder *b, mx_value x, mx_value y, const mx_adaptation *a, int32_t bias, const char *path,
                          const char *name)
{
    mx_op scale = mx_builder_op(b, MX_OP_SCALE);
    scale.u.scale.factor = a->scale;
    const mx_value thin = product(b, x, &a->a, MX_NO_WEIGHT, path, ".lora_a");
    const mx_value scaled = emit(b, scale, thin, a->a.n_rows, path, ".lora_scale");
    if (a->factors.n_cols > 0) {
        mx_op multiply = mx_builder_op(b, MX_OP_MULTIPLY);
        multiply.u.vector.weight = mx_builder_add_weight(b, &a->factors);
        y = emit(b, multiply, y, a->b.n_rows, path, ".m");
    }
    mx_op add = mx_builder_op(b, MX_OP_ADD);
    add.in[1] = product(b, scaled, &a->b, bias, path, ".lora_b");
    return emit(b, add, y, a->b.n_rows, name, "");
}
