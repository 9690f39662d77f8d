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
    return mx_shard_gather(s, p->logits, &s->out->logits); /* every rank ends with all of them */
}

/* The lists that last as long as the pass, in one arena. */
static mx_status begin(mx_sharding *s, mx_arena *arena)
{
    const mx_program *p = s->in;
    s->wishes = mx_arena_array(arena, mx_split_wish, p->n_values);
    s->layouts = mx_arena_array(arena, mx_layout, p->n_values);
    s->wholes = mx_arena_array(arena, mx_value, p->n_values);
    s->parts = mx_arena_array(arena, mx_weight_part, 2 * p->n_ops + 1);
    if (!s->wishes || !s->layouts || !s->wholes || !s->parts) {
        return mx_fail_no_memory(s->err, arena->n_bytes, "dividing a program");
    }
    for (int32_t i = 0; i < p->n_values; i++) {
        s->layouts[i] = (mx_layout){.kind = MX_LAYOUT_WHOLE, .n = p->values[i].n_cols};
        s->wholes[i] = MX_NO_VALUE;
    }
    /* of each value the whole, and of each of an operation's first two inputs its heads */
    const int32_t n_more = p->n_values + 2 * p->n_ops;
    const mx_rewrite_room room = {.n_values = n_more, .n_ops = n_more, .n_weights = 2 * p->n_ops};
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
