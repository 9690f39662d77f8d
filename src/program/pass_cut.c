/* pass_cut.c - the program of one stage of a pipeline: some of the layers, and messages at both ends. */
#include "base/mem.h"
#include "program/check.h"
#include "program/passes.h"
#include "program/rewrite.h"
#include "program/shard_rules.h"

typedef struct cutting {
    const mx_program *in;
    mx_program *out;
    int32_t i_stage;
    int32_t n_stages;
    int32_t *op_stages;    /* [n_ops of in] */
    int32_t *made_in;      /* [n_values of in]; n_stages: nobody makes it */
    int32_t *read_until;   /* [n_values of in] the last stage that reads it; -1: nobody */
    int32_t *new_caches;   /* [n_caches of in] the place in this stage's list, or -1 */
    int32_t *new_states;   /* [n_states of in] the same */
    int32_t *place_stages; /* [n_caches or n_states of in] whose stage each is, or -1 */
    mx_error *err;
} cutting;

/* The stage of a layer: as mx_shard_part divides them. Layers past the model's (a head of its own) are the last's. */
static int32_t stage_of_layer(const cutting *c, int32_t i_layer)
{
    int32_t i_stage = 0;
    int64_t from = 0;
    int64_t to = 0;
    for (; i_stage < c->n_stages - 1; i_stage++) {
        mx_shard_part(c->in->n_layers, i_stage, c->n_stages, &from, &to);
        if (i_layer < to) {
            break;
        }
    }
    return i_stage;
}

/* What stands before the first layer belongs to the first stage, what stands behind any to the last. */
static mx_status find_stages(cutting *c)
{
    const mx_program *p = c->in;
    int32_t last = 0;
    bool has_layers = false;
    for (int32_t i = 0; i < p->n_ops; i++) {
        const mx_op *op = &p->ops[i];
        MX_TRY(mx_shard_check_known(p, i, c->err));
        const int32_t outside = has_layers ? c->n_stages - 1 : 0;
        c->op_stages[i] = op->i_layer < 0 ? outside : stage_of_layer(c, op->i_layer);
        has_layers = has_layers || op->i_layer >= 0;
        if (c->op_stages[i] < last) {
            return mx_fail(c->err, MX_INVALID,
                           "operation %d, %s of layer %d, stands behind one of stage %d of %d: layers out of order "
                           "cannot be cut",
                           i, mx_op_infos[op->kind].name, op->i_layer, last, c->n_stages);
        }
        last = c->op_stages[i];
    }
    return MX_OK;
}

static void find_lives(cutting *c)
{
    const mx_program *p = c->in;
    for (int32_t v = 0; v < p->n_values; v++) {
        c->made_in[v] = c->n_stages;
        c->read_until[v] = -1;
    }
    for (int32_t i = 0; i < p->n_ops; i++) {
        for (int32_t j = 0; j < MX_OP_MAX_IN; j++) {
            if (p->ops[i].in[j] != MX_NO_VALUE) {
                c->read_until[p->ops[i].in[j]] = c->op_stages[i];
            }
        }
        for (int32_t j = 0; j < MX_OP_MAX_OUT; j++) {
            if (p->ops[i].out[j] != MX_NO_VALUE) {
                c->made_in[p->ops[i].out[j]] = c->op_stages[i];
            }
        }
    }
    c->read_until[p->logits] = c->n_stages - 1;
}

/* Where the operation's cache or state is named, or NULL. */
static int32_t *place_in_op(mx_op *op, bool is_state)
{
    const mx_shard_rule *rule = &mx_shard_rules[op->kind];
    int32_t *(*find)(mx_op * op) = is_state ? rule->state : rule->cache;
    return find ? find(op) : NULL;
}

/* Gives those of the n caches or states that this stage has their new places, -1 to the others, and counts them. */
static mx_status find_places(cutting *c, bool is_state, int32_t n, int32_t *places, int32_t *stages, int32_t *n_kept)
{
    for (int32_t i = 0; i < n; i++) {
        places[i] = -1;
        stages[i] = -1;
    }
    *n_kept = 0;
    for (int32_t i = 0; i < c->in->n_ops; i++) {
        mx_op op = c->in->ops[i];
        const int32_t *place = place_in_op(&op, is_state);
        if (!place) {
            continue;
        }
        if (stages[*place] >= 0 && stages[*place] != c->op_stages[i]) {
            return mx_fail(c->err, MX_INVALID,
                           "operation %d, %s of layer %d, reads the cache of a layer in stage %d and is in stage %d "
                           "itself: a cache cannot be shared by stages",
                           i, mx_op_infos[op.kind].name, op.i_layer, stages[*place], c->op_stages[i]);
        }
        stages[*place] = c->op_stages[i];
        if (c->op_stages[i] == c->i_stage && places[*place] < 0) {
            places[*place] = (*n_kept)++;
        }
    }
    return MX_OK;
}

static mx_status find_caches_and_states(cutting *c)
{
    mx_program *out = c->out;
    MX_TRY(find_places(c, false, c->in->n_caches, c->new_caches, c->place_stages, &out->n_caches));
    MX_TRY(find_places(c, true, c->in->n_states, c->new_states, c->place_stages, &out->n_states));
    for (int32_t i = 0; i < c->in->n_caches; i++) {
        if (c->new_caches[i] >= 0) {
            out->caches[c->new_caches[i]] = c->in->caches[i];
        }
    }
    for (int32_t i = 0; i < c->in->n_states; i++) {
        if (c->new_states[i] >= 0) {
            out->states[c->new_states[i]] = c->in->states[i];
        }
    }
    return MX_OK;
}

/* SEND or RECV of all that passes from stage i_stage to the next. */
static void add_messages(cutting *c, mx_op_kind kind, int32_t i_stage)
{
    for (mx_value v = 0; v < c->in->n_values; v++) {
        if (c->made_in[v] <= i_stage && c->read_until[v] > i_stage) {
            mx_op op = mx_op_of(kind, -1);
            op.u.peer.i_stage = kind == MX_OP_SEND ? i_stage + 1 : i_stage;
            op.in[0] = kind == MX_OP_SEND ? v : MX_NO_VALUE;
            op.out[0] = kind == MX_OP_SEND ? MX_NO_VALUE : v;
            c->out->ops[c->out->n_ops++] = op;
        }
    }
}

static void add_operations(cutting *c)
{
    c->out->n_ops = 0;
    if (c->i_stage > 0) {
        add_messages(c, MX_OP_RECV, c->i_stage - 1);
    }
    for (int32_t i = 0; i < c->in->n_ops; i++) {
        if (c->op_stages[i] == c->i_stage) {
            mx_op *op = &c->out->ops[c->out->n_ops++];
            *op = c->in->ops[i];
            int32_t *i_cache = place_in_op(op, false);
            int32_t *i_state = place_in_op(op, true);
            if (i_cache) {
                *i_cache = c->new_caches[*i_cache];
            }
            if (i_state) {
                *i_state = c->new_states[*i_state];
            }
        }
    }
    if (c->i_stage < c->n_stages - 1) {
        add_messages(c, MX_OP_SEND, c->i_stage);
        c->out->logits = MX_NO_VALUE;
    }
    c->out->shard.i_stage = c->i_stage;
    c->out->shard.n_stages = c->n_stages;
}

static mx_status cut(cutting *c, mx_arena *arena)
{
    const mx_program *p = c->in;
    c->op_stages = mx_arena_array(arena, int32_t, p->n_ops + 1);
    c->made_in = mx_arena_array(arena, int32_t, p->n_values);
    c->read_until = mx_arena_array(arena, int32_t, p->n_values);
    c->new_caches = mx_arena_array(arena, int32_t, p->n_caches + 1);
    c->new_states = mx_arena_array(arena, int32_t, p->n_states + 1);
    c->place_stages = mx_arena_array(arena, int32_t, MX_MAX(p->n_caches, p->n_states) + 1);
    if (!c->op_stages || !c->made_in || !c->read_until || !c->new_caches || !c->new_states || !c->place_stages) {
        return mx_fail_no_memory(c->err, arena->n_bytes, "cutting a program");
    }
    MX_TRY(mx_rewrite_copy(p, (mx_rewrite_room){.n_ops = 2 * p->n_values}, c->out, c->err));
    MX_TRY(find_stages(c));
    find_lives(c);
    MX_TRY(find_caches_and_states(c));
    add_operations(c);
    return mx_program_check(c->out, c->err);
}

mx_status mx_pass_cut(const mx_program *program, int32_t i_stage, int32_t n_stages, mx_program *out, mx_error *err)
{
    if (i_stage < 0 || i_stage >= n_stages || n_stages > MX_MAX(program->n_layers, 1) || program->shard.n_stages > 1) {
        return mx_fail(err, MX_INVALID, "stage %d of %d of a program of %d layers that is of stage %d of %d", i_stage,
                       n_stages, program->n_layers, program->shard.i_stage, MX_MAX(program->shard.n_stages, 1));
    }
    if (n_stages == 1) {
        return mx_rewrite_copy(program, (mx_rewrite_room){0}, out, err);
    }
    mx_program made = {0};
    mx_arena arena;
    mx_arena_init(&arena, (size_t)1 << 30);
    cutting c = {.in = program, .out = &made, .i_stage = i_stage, .n_stages = n_stages, .err = err};
    const mx_status st = cut(&c, &arena);
    mx_arena_deinit(&arena);
    if (st == MX_OK) {
        *out = made;
    } else {
        mx_program_deinit(&made);
    }
    return st;
}
