/* pass_shard.c - the program of one rank of several: two walks by the rules of shard_rules.h. */
#include "base/mem.h"
#include "program/check.h"
#include "program/passes.h"
#include "program/rewrite.h"
#include "program/shard_rules.h"

/* Products that make the logits are wished split by the vocabulary, if nothing but scales and caps lies between. */
static void wish_for_logits(mx_sharding *s)
{
    const mx_program *p = s->in;
    mx_value v = p->logits;
    int32_t maker = mx_rewrite_find_maker(p, v);
    while (maker != MX_NO_OP && (p->ops[maker].kind == MX_OP_SCALE || p->ops[maker].kind == MX_OP_SOFTCAP)) {
        maker = mx_rewrite_find_maker(p, p->ops[maker].in[0]);
    }
    if (maker != MX_NO_OP && p->ops[maker].kind == MX_OP_LINEAR && p->n_vocab >= s->shard.n_ranks) {
        s->wishes[v] = (mx_split_wish){p->n_vocab, 1, false};
    }
}

/* Every rank ends with all logits. */
static mx_status gather_logits(mx_sharding *s)
{
    mx_program *p = s->out;
    const mx_value v = p->logits;
    if (s->layouts[v].kind == MX_LAYOUT_WHOLE) {
        return MX_OK;
    }
    const mx_op_kind kind = s->layouts[v].kind == MX_LAYOUT_SPLIT ? MX_OP_ALLGATHER : MX_OP_ALLREDUCE;
    mx_op op = mx_op_of(kind, -1);
    op.in[0] = v;
    op.out[0] = p->n_values;
    p->values[p->n_values] = s->in->values[v];
    p->values[p->n_values].name = mx_arena_printf(&p->arena, "%s.all", s->in->values[v].name);
    if (!p->values[p->n_values].name) {
        return mx_fail_no_memory(s->err, p->arena.n_bytes, "a divided program");
    }
    p->logits = p->n_values++;
    p->ops[p->n_ops++] = op;
    return MX_OK;
}

static mx_status divide_all(mx_sharding *s)
{
    const mx_program *p = s->in;
    wish_for_logits(s);
    for (s->i_op = p->n_ops - 1; s->i_op >= 0; s->i_op--) {
        MX_TRY(mx_shard_check_known(p, s->i_op, s->err));
        const mx_op *op = &p->ops[s->i_op];
        if (mx_shard_rules[op->kind].wish) {
            mx_shard_rules[op->kind].wish(s, op);
        }
    }
    for (s->i_op = 0; s->i_op < p->n_ops; s->i_op++) {
        const mx_op *op = &p->ops[s->i_op];
        mx_op made = *op;
        MX_TRY(mx_shard_rules[op->kind].divide(s, op, &made));
        s->out->ops[s->out->n_ops++] = made;
    }
    return gather_logits(s);
}

/* The lists that last as long as the pass, in one arena. */
static mx_status begin(mx_sharding *s, mx_arena *arena)
{
    const mx_program *p = s->in;
    s->wishes = mx_arena_array(arena, mx_split_wish, p->n_values);
    s->layouts = mx_arena_array(arena, mx_layout, p->n_values);
    s->sums = mx_arena_array(arena, mx_value, p->n_values);
    s->parts = mx_arena_array(arena, mx_weight_part, 2 * p->n_ops + 1);
    if (!s->wishes || !s->layouts || !s->sums || !s->parts) {
        return mx_fail_no_memory(s->err, arena->n_bytes, "dividing a program");
    }
    for (int32_t i = 0; i < p->n_values; i++) {
        s->layouts[i] = (mx_layout){.kind = MX_LAYOUT_WHOLE, .n = p->values[i].n_cols};
        s->sums[i] = MX_NO_VALUE;
    }
    const mx_rewrite_room room = {.n_values = p->n_values + 1, .n_ops = p->n_values + 1, .n_weights = 2 * p->n_ops};
    MX_TRY(mx_rewrite_copy(p, room, s->out, s->err));
    s->out->n_ops = 0;
    s->out->shard = s->shard;
    return MX_OK;
}

mx_status mx_pass_shard(const mx_program *program, int32_t i_rank, int32_t n_ranks, mx_program *out, mx_error *err)
{
    if (n_ranks < 1 || i_rank < 0 || i_rank >= n_ranks || program->shard.n_ranks > 1 || program->shard.n_stages > 1) {
        return mx_fail(err, MX_INVALID,
                       "rank %d of %d of a program that is of rank %d of %d: a whole one is divided once", i_rank,
                       n_ranks, program->shard.i_rank, MX_MAX(program->shard.n_ranks, 1));
    }
    mx_program made = {0};
    if (n_ranks == 1) {
        return mx_rewrite_copy(program, (mx_rewrite_room){0}, out, err);
    }
    mx_arena arena;
    mx_arena_init(&arena, (size_t)1 << 30);
    mx_sharding s = {.in = program, .out = &made, .shard = {.i_rank = i_rank, .n_ranks = n_ranks}, .err = err};
    mx_status st;
    MX_TRY_OR(done, st, begin(&s, &arena));
    MX_TRY_OR(done, st, divide_all(&s));
    MX_TRY_OR(done, st, mx_program_check(&made, err));
    *out = made;
    made = (mx_program){0};
done:
    mx_arena_deinit(&arena);
    mx_program_deinit(&made);
    return st;
}
