/* shard_rules.c - one row a kind of operation, and the few functions that the rows share. */
#include "program/shard_rules.h"

#include "base/mem.h"
#include "program/rewrite.h"

/* Failures -------------------------------------------------------------------------------------------------------- */

static const char *name_of(const mx_program *p, const mx_op *op)
{
    const mx_value v = op->out[0] != MX_NO_VALUE ? op->out[0] : op->in[0];
    return v >= 0 && p->values[v].name ? p->values[v].name : "?";
}

mx_status mx_shard_fail(const mx_sharding *s, const mx_op *op, mx_status st)
{
    return mx_error_prefix(s->err, st, "operation %d, %s of \"%s\"", s->i_op, mx_op_infos[op->kind].name,
                           name_of(s->in, op));
}

mx_status mx_shard_check_known(const mx_program *p, int32_t i_op, mx_error *err)
{
    const mx_op *op = &p->ops[i_op];
    return mx_shard_rules[op->kind].divide
               ? MX_OK
               : mx_fail(err, MX_UNSUPPORTED, "operation %d, %s of \"%s\": cannot be divided among ranks or stages",
                         i_op, mx_op_infos[op->kind].name, name_of(p, op));
}

/* Layouts --------------------------------------------------------------------------------------------------------- */

static const mx_layout *layout_of(const mx_sharding *s, mx_value v)
{
    return &s->layouts[v];
}

static int64_t n_cols_of(const mx_sharding *s, mx_value v)
{
    return s->in->values[v].n_cols;
}

static void set_layout(mx_sharding *s, mx_value v, mx_layout_kind kind, int64_t from, int64_t n)
{
    if (v != MX_NO_VALUE) {
        s->layouts[v] = (mx_layout){kind, from, n};
        s->out->values[v].n_cols = n;
    }
}

static void set_all_columns(mx_sharding *s, const mx_op *op, mx_layout_kind kind)
{
    for (int32_t i = 0; i < MX_OP_MAX_OUT; i++) {
        if (op->out[i] != MX_NO_VALUE) {
            set_layout(s, op->out[i], kind, 0, n_cols_of(s, op->out[i]));
        }
    }
}

/* Appends an operation of one input and one new value to the divided program. */
static mx_status add_op(mx_sharding *s, mx_op op, mx_value v, const char *suffix, mx_value *out)
{
    mx_program *p = s->out;
    const char *name = mx_arena_printf(&p->arena, "%s.%s", p->values[v].name, suffix);
    if (!name) {
        return mx_fail_no_memory(s->err, p->arena.n_bytes, "a divided program");
    }
    op.in[0] = v;
    op.out[0] = p->n_values;
    p->values[p->n_values] = p->values[v];
    p->values[p->n_values++].name = name;
    p->ops[p->n_ops++] = op;
    *out = op.out[0];
    return MX_OK;
}

/* Whether x is what ALLGATHER takes from this rank. */
static bool is_even_part(const mx_sharding *s, const mx_layout *x, int64_t n_cols)
{
    int64_t from = 0;
    int64_t to = 0;
    mx_shard_part(n_cols, s->shard.i_rank, s->shard.n_ranks, &from, &to);
    return x->kind == MX_LAYOUT_SPLIT && x->from == from && x->n == to - from;
}

/* All of v: summed or gathered by the first reader who needs it. */
static mx_status whole_of(mx_sharding *s, const mx_op *reader, mx_value v, mx_value *out)
{
    const mx_layout *x = layout_of(s, v);
    if (s->wholes[v] == MX_NO_VALUE) {
        const bool is_sum = x->kind == MX_LAYOUT_PART_OF_SUM;
        const mx_op op = mx_op_of(is_sum ? MX_OP_ALLREDUCE : MX_OP_ALLGATHER, reader->i_layer);
        MX_TRY(add_op(s, op, v, is_sum ? "sum" : "all", &s->wholes[v]));
        s->out->values[s->wholes[v]].n_cols = n_cols_of(s, v);
    }
    *out = s->wholes[v];
    return MX_OK;
}

/* Makes input i_in of `made` whole. */
static mx_status need_whole(mx_sharding *s, const mx_op *op, mx_op *made, int32_t i_in)
{
    const mx_value v = op->in[i_in];
    if (v == MX_NO_VALUE || layout_of(s, v)->kind == MX_LAYOUT_WHOLE) {
        return MX_OK;
    }
    if (layout_of(s, v)->kind == MX_LAYOUT_PART_OF_SUM || is_even_part(s, layout_of(s, v), n_cols_of(s, v))) {
        return whole_of(s, op, v, &made->in[i_in]);
    }
    return mx_shard_fail(
        s, op,
        mx_fail(s->err, MX_UNSUPPORTED, "needs all %lld columns of \"%s\", of which rank %d of %d has %lld to %lld",
                (long long)n_cols_of(s, v), s->in->values[v].name, s->shard.i_rank, s->shard.n_ranks,
                (long long)layout_of(s, v)->from, (long long)(layout_of(s, v)->from + layout_of(s, v)->n)));
}

mx_status mx_shard_gather(mx_sharding *s, mx_value v, mx_value *out)
{
    *out = v;
    if (layout_of(s, v)->kind == MX_LAYOUT_WHOLE) {
        return MX_OK;
    }
    const mx_op reader = mx_op_of(MX_OP_ALLGATHER, -1);
    return whole_of(s, &reader, v, out);
}

static bool inputs_are(const mx_sharding *s, const mx_op *op, mx_layout_kind kind)
{
    const mx_layout *first = layout_of(s, op->in[0]);
    for (int32_t i = 0; i < MX_OP_MAX_IN; i++) {
        if (op->in[i] != MX_NO_VALUE) {
            const mx_layout *other = layout_of(s, op->in[i]);
            if (other->kind != kind || other->from != first->from || other->n != first->n) {
                return false;
            }
        }
    }
    return true;
}

/* Heads [from, from + n) of n_heads that this rank has; of fewer heads than ranks, one. */
static mx_status part_of_heads(const mx_sharding *s, const mx_op *op, int64_t n_heads, bool is_repeated, int64_t *from,
                               int64_t *n)
{
    const int32_t n_ranks = s->shard.n_ranks;
    if (n_heads % n_ranks == 0) {
        *n = n_heads / n_ranks;
        *from = s->shard.i_rank * *n;
        return MX_OK;
    }
    if (is_repeated && n_ranks % n_heads == 0) {
        *n = 1;
        *from = s->shard.i_rank / (n_ranks / n_heads);
        return MX_OK;
    }
    return mx_shard_fail(s, op,
                         mx_fail(s->err, MX_INVALID, "%lld %s cannot be divided among %d ranks", (long long)n_heads,
                                 is_repeated ? "key heads" : "heads", n_ranks));
}

/* Wishes ---------------------------------------------------------------------------------------------------------- */

static void wish_for(mx_sharding *s, mx_value v, mx_split_wish wish)
{
    if (v != MX_NO_VALUE && s->wishes[v].n_units == 0) {
        s->wishes[v] = wish;
    }
}

static void wish_alike(mx_sharding *s, const mx_op *op)
{
    for (int32_t i = 0; i < MX_OP_MAX_IN; i++) {
        wish_for(s, op->in[i], s->wishes[op->out[0]]);
    }
}

/* A norm on heads is divided as they are. One over all of a row gathers it, which parts that overlap do not allow. */
static void wish_for_norm(mx_sharding *s, const mx_op *op)
{
    const mx_split_wish *wish = &s->wishes[op->out[0]];
    const bool overlaps = wish->is_repeated && wish->n_units < s->shard.n_ranks;
    if (!overlaps || wish->unit_cols % op->u.norm.n_group_cols == 0) {
        wish_alike(s, op);
    }
}

static void wish_heads_of_queries(mx_sharding *s, const mx_op *op)
{
    const mx_attention_params *a = &op->u.attention;
    wish_for(s, op->in[0], (mx_split_wish){a->n_heads, s->in->caches[a->i_cache].k_dim, false});
}

static void wish_heads_of_keys(mx_sharding *s, const mx_op *op)
{
    const mx_cache_spec *cache = &s->in->caches[op->u.kv_append.i_cache];
    wish_for(s, op->in[0], (mx_split_wish){cache->n_kv_heads, cache->k_dim, true});
    wish_for(s, op->in[1], (mx_split_wish){cache->n_kv_heads, cache->v_dim, true});
}

/* The only reader of v if it is a product of it, else NULL. */
static const mx_op *find_product_of(const mx_program *p, mx_value v)
{
    const mx_op *found = NULL;
    for (int32_t i = 0; i < p->n_ops; i++) {
        const mx_op *op = &p->ops[i];
        const bool is_product = op->kind == MX_OP_LINEAR || op->kind == MX_OP_EXPERT_LINEAR;
        found = is_product && op->in[0] == v ? op : found;
    }
    return mx_rewrite_count_reads(p, v) == 1 ? found : NULL;
}

/* The operation that makes v, looking past those that only scale it. */
static const mx_op *find_origin(const mx_program *p, mx_value v)
{
    for (;;) {
        const int32_t maker = mx_rewrite_find_maker(p, v);
        if (maker == MX_NO_OP || (p->ops[maker].kind != MX_OP_SCALE && p->ops[maker].kind != MX_OP_SOFTCAP)) {
            return maker == MX_NO_OP ? NULL : &p->ops[maker];
        }
        v = p->ops[maker].in[0];
    }
}

/* Between products: whole groups of columns of the product behind; where attention comes in (a gate on its output), its
 * heads. Between anything else: nothing, and it stays whole. */
static void wish_between_products(mx_sharding *s, const mx_op *op)
{
    const mx_program *p = s->in;
    const mx_op *behind = find_product_of(p, op->out[0]);
    mx_split_wish wish = s->wishes[op->out[0]];
    if (wish.n_units == 0 && behind) {
        const int64_t group = MX_MAX(p->weights[behind->u.linear.weights[0]].quant.group_size, 1);
        wish = (mx_split_wish){n_cols_of(s, op->out[0]) / group, group, false};
    }
    for (int32_t i = 0; i < MX_OP_MAX_IN; i++) {
        const mx_op *origin = op->in[i] == MX_NO_VALUE ? NULL : find_origin(p, op->in[i]);
        if (origin && origin->kind == MX_OP_ATTENTION) {
            wish = (mx_split_wish){origin->u.attention.n_heads, p->caches[origin->u.attention.i_cache].v_dim, false};
        } else if (op->in[i] != MX_NO_VALUE && !(origin && mx_rewrite_is_plain_linear(origin))) {
            return;
        }
    }
    for (int32_t i = 0; i < MX_OP_MAX_IN; i++) {
        wish_for(s, op->in[i], wish);
    }
}

/* Divisions ------------------------------------------------------------------------------------------------------- */

static mx_status divide_whole(mx_sharding *s, const mx_op *op, mx_op *made)
{
    for (int32_t i = 0; i < MX_OP_MAX_IN; i++) {
        MX_TRY(need_whole(s, op, made, i));
    }
    set_all_columns(s, op, MX_LAYOUT_WHOLE);
    return MX_OK;
}

/* What works on each column alone. */
static mx_status divide_columns(mx_sharding *s, const mx_op *op, mx_op *made)
{
    if (inputs_are(s, op, MX_LAYOUT_SPLIT)) {
        const mx_layout x = *layout_of(s, op->in[0]);
        set_layout(s, op->out[0], MX_LAYOUT_SPLIT, x.from, x.n);
        return MX_OK;
    }
    return divide_whole(s, op, made);
}

/* What may also be done to the parts of a sum. */
static mx_status divide_sums(mx_sharding *s, const mx_op *op, mx_op *made)
{
    if (inputs_are(s, op, MX_LAYOUT_PART_OF_SUM)) {
        set_all_columns(s, op, MX_LAYOUT_PART_OF_SUM);
        return MX_OK;
    }
    return divide_columns(s, op, made);
}

/* A factor for each column goes with the columns. */
static mx_status divide_multiply(mx_sharding *s, const mx_op *op, mx_op *made)
{
    const mx_layout *x = layout_of(s, op->in[0]);
    const int32_t weight = op->u.vector.weight;
    if (x->kind == MX_LAYOUT_SPLIT && s->in->weights[weight].n_cols > 1) {
        MX_TRY(mx_shard_part_of_weight(s, op, (mx_weight_part){weight, MX_PART_COLS, x->from, x->n},
                                       &made->u.vector.weight));
    }
    return divide_sums(s, op, made);
}

/* A norm on heads, of some of them; others need the whole row. */
static mx_status divide_norm(mx_sharding *s, const mx_op *op, mx_op *made)
{
    const mx_layout *x = layout_of(s, op->in[0]);
    const int64_t n_group_cols = op->u.norm.n_group_cols;
    if (x->kind != MX_LAYOUT_SPLIT || x->from % n_group_cols != 0 || x->n % n_group_cols != 0) {
        return divide_whole(s, op, made);
    }
    mx_weight_part part = {op->u.norm.weight, MX_PART_COLS, x->from, x->n};
    if (op->u.norm.is_wide) {
        MX_TRY(mx_shard_part_of_weight(s, op, part, &made->u.norm.weight));
    } else if (mx_norm_has_group_weights(s->in, &op->u.norm, n_cols_of(s, op->in[0]) / n_group_cols)) {
        part.kind = s->in->weights[part.weight].n_experts > 1 ? MX_PART_EXPERTS : MX_PART_ROWS;
        part.from = x->from / n_group_cols;
        part.n = x->n / n_group_cols;
        MX_TRY(mx_shard_part_of_weight(s, op, part, &made->u.norm.weight));
    }
    return divide_columns(s, op, made);
}

/* This rank's rows of the weight: its columns of the output. */
static mx_status divide_by_rows(mx_sharding *s, const mx_op *op, mx_op *made)
{
    const mx_split_wish *wish = &s->wishes[op->out[0]];
    int64_t from = 0;
    int64_t to = 0;
    if (wish->is_repeated) {
        MX_TRY(part_of_heads(s, op, wish->n_units, true, &from, &to));
        to += from;
    } else if (wish->n_units < s->shard.n_ranks) {
        return mx_shard_fail(s, op,
                             mx_fail(s->err, MX_INVALID, "%lld groups of %lld columns cannot be divided among %d ranks",
                                     (long long)wish->n_units, (long long)wish->unit_cols, s->shard.n_ranks));
    } else {
        mx_shard_part(wish->n_units, s->shard.i_rank, s->shard.n_ranks, &from, &to);
    }
    from *= wish->unit_cols;
    to *= wish->unit_cols;
    const mx_linear_params *lin = &op->u.linear;
    MX_TRY(mx_shard_part_of_weight(s, op, (mx_weight_part){lin->weights[0], MX_PART_ROWS, from, to - from},
                                   &made->u.linear.weights[0]));
    MX_TRY(mx_shard_part_of_weight(s, op, (mx_weight_part){lin->biases[0], MX_PART_COLS, from, to - from},
                                   &made->u.linear.biases[0]));
    set_layout(s, op->out[0], MX_LAYOUT_SPLIT, from, to - from);
    return MX_OK;
}

/* This rank's columns of the weight: a part of the sum. The bias is the first rank's. */
static mx_status divide_by_columns(mx_sharding *s, const mx_op *op, mx_op *made)
{
    const mx_layout *x = layout_of(s, op->in[0]);
    MX_TRY(mx_shard_part_of_weight(s, op, (mx_weight_part){op->u.linear.weights[0], MX_PART_COLS, x->from, x->n},
                                   &made->u.linear.weights[0]));
    if (s->shard.i_rank > 0) {
        made->u.linear.biases[0] = MX_NO_WEIGHT;
    }
    set_all_columns(s, op, MX_LAYOUT_PART_OF_SUM);
    return MX_OK;
}

static mx_status divide_product(mx_sharding *s, const mx_op *op, mx_op *made)
{
    if (!mx_rewrite_is_plain_linear(op)) {
        return mx_shard_fail(s, op,
                             mx_fail(s->err, MX_INVALID, "other passes have been here: programs are divided first"));
    }
    if (op->kind == MX_OP_EXPERT_LINEAR) {
        MX_TRY(need_whole(s, op, made, 1));
    }
    if (layout_of(s, op->in[0])->kind == MX_LAYOUT_SPLIT) {
        return divide_by_columns(s, op, made);
    }
    MX_TRY(need_whole(s, op, made, 0));
    if (s->wishes[op->out[0]].n_units > 0) {
        return divide_by_rows(s, op, made);
    }
    set_all_columns(s, op, MX_LAYOUT_WHOLE);
    return MX_OK;
}

static mx_status divide_rope(mx_sharding *s, const mx_op *op, mx_op *made)
{
    const mx_layout *x = layout_of(s, op->in[0]);
    if (x->kind == MX_LAYOUT_SPLIT) {
        const int64_t head_dim = op->u.rope.head_dim;
        if (x->from % head_dim != 0 || x->n % head_dim != 0) {
            return mx_shard_fail(s, op,
                                 mx_fail(s->err, MX_UNSUPPORTED, "rank %d of %d has %lld columns of heads of %lld",
                                         s->shard.i_rank, s->shard.n_ranks, (long long)x->n, (long long)head_dim));
        }
        made->u.rope.n_heads = (int32_t)(x->n / head_dim);
    }
    return divide_columns(s, op, made);
}

/* Makes input i_in of `made` the heads [from, from + n) of dim columns. */
static mx_status need_heads(mx_sharding *s, const mx_op *op, mx_op *made, int32_t i_in, int64_t from, int64_t n,
                            int64_t dim)
{
    const mx_value v = op->in[i_in];
    const mx_layout *x = layout_of(s, v);
    if (x->kind == MX_LAYOUT_SPLIT && x->from == from * dim && x->n == n * dim) {
        return MX_OK;
    }
    if (x->kind == MX_LAYOUT_SPLIT) {
        return mx_shard_fail(s, op,
                             mx_fail(s->err, MX_UNSUPPORTED,
                                     "needs columns %lld to %lld of \"%s\", of which rank %d of %d has %lld to %lld",
                                     (long long)(from * dim), (long long)((from + n) * dim), s->in->values[v].name,
                                     s->shard.i_rank, s->shard.n_ranks, (long long)x->from,
                                     (long long)(x->from + x->n)));
    }
    MX_TRY(need_whole(s, op, made, i_in));
    mx_op slice = mx_op_of(MX_OP_SLICE, op->i_layer);
    slice.u.slice.x = (mx_columns){.first = from * dim, .n_group = n * dim, .stride = n * dim};
    MX_TRY(add_op(s, slice, made->in[i_in], "part", &made->in[i_in]));
    s->out->values[made->in[i_in]].n_cols = n * dim;
    return MX_OK;
}

static mx_status divide_cache(mx_sharding *s, const mx_op *op, int32_t i_cache, int64_t *from, int64_t *n)
{
    MX_TRY(part_of_heads(s, op, s->in->caches[i_cache].n_kv_heads, true, from, n));
    s->out->caches[i_cache].n_kv_heads = (int32_t)*n;
    return MX_OK;
}

static mx_status divide_append(mx_sharding *s, const mx_op *op, mx_op *made)
{
    const mx_cache_spec *cache = &s->in->caches[op->u.kv_append.i_cache];
    int64_t from = 0;
    int64_t n = 0;
    MX_TRY(divide_cache(s, op, op->u.kv_append.i_cache, &from, &n));
    MX_TRY(need_heads(s, op, made, 0, from, n, cache->k_dim));
    return cache->is_latent ? MX_OK : need_heads(s, op, made, 1, from, n, cache->v_dim);
}

static mx_status divide_attention(mx_sharding *s, const mx_op *op, mx_op *made)
{
    const mx_attention_params *a = &op->u.attention;
    const mx_cache_spec *cache = &s->in->caches[a->i_cache];
    int64_t from = 0;
    int64_t n = 0;
    if (a->has_append) {
        return mx_shard_fail(s, op,
                             mx_fail(s->err, MX_INVALID, "other passes have been here: programs are divided first"));
    }
    MX_TRY(divide_cache(s, op, a->i_cache, &from, &n));
    MX_TRY(part_of_heads(s, op, a->n_heads, false, &from, &n));
    MX_TRY(need_heads(s, op, made, 0, from, n, cache->k_dim));
    MX_TRY(mx_shard_part_of_weight(s, op, (mx_weight_part){a->sinks, MX_PART_COLS, from, n}, &made->u.attention.sinks));
    made->u.attention.n_heads = (int32_t)n;
    set_layout(s, op->out[0], MX_LAYOUT_SPLIT, from * cache->v_dim, n * cache->v_dim);
    return MX_OK;
}

/* A sum of rows by weights, which every rank has. */
static mx_status divide_combine(mx_sharding *s, const mx_op *op, mx_op *made)
{
    const mx_layout x = *layout_of(s, op->in[0]);
    MX_TRY(need_whole(s, op, made, 1));
    set_layout(s, op->out[0], x.kind, x.from, x.n);
    return MX_OK;
}

/* Caches and states
 * ---------------------------------------------------------------------------------------------------------- */

static int32_t *cache_of_append(mx_op *op)
{
    return &op->u.kv_append.i_cache;
}

static int32_t *cache_of_attention(mx_op *op)
{
    return &op->u.attention.i_cache;
}

static int32_t *state_of_conv(mx_op *op)
{
    return &op->u.conv.i_state;
}

static int32_t *state_of_ssm(mx_op *op)
{
    return &op->u.ssm.i_state;
}

static int32_t *state_of_delta(mx_op *op)
{
    return &op->u.delta.i_state;
}

static int32_t *state_of_lru(mx_op *op)
{
    return &op->u.lru.i_state;
}

/* Tables of embeddings are read a row at a time and scores of experts are few: all ranks have them whole. Experts are
 * divided inside, so that all ranks have the same work whichever are chosen. Recurrent layers are not divided: each
 * rank computes all of them, and has all of their states. Of attention over latents only the heads are divided: every
 * rank has the whole cache, which is small, and computes all products around it. */
const mx_shard_rule mx_shard_rules[MX_OP_COUNT] = {
    [MX_OP_EMBED] = {.divide = divide_whole},
    [MX_OP_ADD_POSITIONS] = {.divide = divide_whole},
    [MX_OP_GATHER_ROWS] = {.wish = wish_alike, .divide = divide_sums},
    [MX_OP_RMSNORM] = {.wish = wish_for_norm, .divide = divide_norm},
    [MX_OP_LAYERNORM] = {.wish = wish_for_norm, .divide = divide_norm},
    [MX_OP_ADD] = {.wish = wish_alike, .divide = divide_sums},
    [MX_OP_SCALE] = {.wish = wish_alike, .divide = divide_sums},
    [MX_OP_SOFTCAP] = {.wish = wish_alike, .divide = divide_columns},
    [MX_OP_CLIP] = {.wish = wish_alike, .divide = divide_columns},
    [MX_OP_MULTIPLY] = {.wish = wish_alike, .divide = divide_multiply},
    [MX_OP_CUTOFF] = {.divide = divide_whole},
    [MX_OP_CONCAT] = {.divide = divide_whole},
    [MX_OP_MATCH_RMS] = {.divide = divide_whole},
    [MX_OP_MIX_STREAMS] = {.divide = divide_whole},
    [MX_OP_ADD_STREAMS] = {.divide = divide_whole},
    [MX_OP_XIELU] = {.wish = wish_between_products, .divide = divide_columns},
    [MX_OP_ACTIVATION] = {.wish = wish_between_products, .divide = divide_columns},
    [MX_OP_GLU] = {.wish = wish_between_products, .divide = divide_columns},
    [MX_OP_LINEAR] = {.divide = divide_product},
    [MX_OP_ROPE] = {.wish = wish_alike, .divide = divide_rope},
    [MX_OP_KV_APPEND] = {.wish = wish_heads_of_keys, .divide = divide_append, .cache = cache_of_append},
    [MX_OP_ATTENTION] = {.wish = wish_heads_of_queries, .divide = divide_attention, .cache = cache_of_attention},
    [MX_OP_ROUTE] = {.divide = divide_whole},
    [MX_OP_SCALE_CHOSEN] = {.divide = divide_whole},
    [MX_OP_EXPERT_LINEAR] = {.divide = divide_product},
    [MX_OP_EXPERT_COMBINE] = {.divide = divide_combine},
    [MX_OP_HEAD_LINEAR] = {.divide = divide_whole},
    [MX_OP_HEAD_COLUMNS] = {.divide = divide_whole},
    [MX_OP_SLICE] = {.divide = divide_whole},
    [MX_OP_CAUSAL_CONV] = {.divide = divide_whole, .state = state_of_conv},
    [MX_OP_SSM_SCAN] = {.divide = divide_whole, .state = state_of_ssm},
    [MX_OP_DELTA_RULE] = {.divide = divide_whole, .state = state_of_delta},
    [MX_OP_RG_LRU] = {.divide = divide_whole, .state = state_of_lru},
    [MX_OP_ALLREDUCE] = {.divide = divide_whole}, /* both for a pipeline of ranks: no program is divided twice */
    [MX_OP_ALLGATHER] = {.divide = divide_whole},
};
