/* program.c - names of operations, and the end of a program. */
#include "program/program.h"

#include <math.h>

#include "base/compiler.h"

const mx_op_info mx_op_infos[MX_OP_COUNT] = {
#define MX_OP(name, n_in, n_out, params, formula) [MX_OP_##name] = {#name, n_in, n_out, formula},
#include "program/ops.def"
#undef MX_OP
};
_Static_assert(MX_COUNTOF(mx_op_infos) == MX_OP_COUNT, "one row per operation");

int64_t mx_program_state_bytes(const mx_program *program)
{
    int64_t n = 0;
    for (int32_t i = 0; i < program->n_states; i++) {
        n += (int64_t)program->states[i].n_rows * program->states[i].n_cols * (int64_t)sizeof(float);
    }
    return n;
}

float mx_attention_scale(const mx_attention_params *p, int32_t position)
{
    const mx_sharpening *s = &p->sharpening;
    if (s->beta == 0.0f) {
        return p->scale;
    }
    const float n_steps = floorf((float)(position + s->shift) / (float)s->n_positions);
    return p->scale * (1.0f + s->beta * logf(1.0f + n_steps));
}

mx_op mx_op_of(mx_op_kind kind, int32_t i_layer)
{
    mx_op op = {.kind = kind, .i_layer = i_layer};
    for (int32_t i = 0; i < MX_OP_MAX_IN; i++) {
        op.in[i] = MX_NO_VALUE;
    }
    for (int32_t i = 0; i < MX_OP_MAX_OUT; i++) {
        op.out[i] = MX_NO_VALUE;
    }
    return op;
}

bool mx_norm_has_group_weights(const mx_program *p, const mx_norm_params *norm, int64_t n_groups)
{
    if (norm->weight < 0 || norm->weight >= p->n_weights || n_groups == 1) {
        return false;
    }
    const mx_weight *w = &p->weights[norm->weight];
    return w->n_experts * w->n_rows == n_groups && w->n_cols == norm->n_group_cols;
}

void mx_program_deinit(mx_program *program)
{
    mx_arena_deinit(&program->arena);
    *program = (mx_program){0};
}
