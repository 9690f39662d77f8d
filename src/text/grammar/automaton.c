/* automaton.c - each node is compiled in front of the state that follows it, so no state is patched but those of loops.
 */
#include "text/grammar/automaton.h"

#include "base/mem.h"
#include "base/utf8.h"

/* What the compiler works on. Rules are compiled one by one; calls lead to a state made for each rule beforehand. */
typedef struct compiler {
    mx_automaton *a;
    const mx_grammar_builder *b;
    mx_error *err;
} compiler;

static mx_status add_state(compiler *c, mx_gstate state, int32_t *out)
{
    mx_automaton *a = c->a;
    if (a->n_states == MX_AUTOMATON_MAX_STATES) {
        return mx_fail(c->err, MX_INVALID, "the grammar is too large: it would need more than %d states",
                       MX_AUTOMATON_MAX_STATES);
    }
    mx_gstate *states = (mx_gstate *)mx_array_grow(a->states, &a->cap, (size_t)a->n_states + 1, sizeof *states,
                                                   MX_AUTOMATON_MAX_STATES);
    if (!states) {
        return mx_fail_no_memory(c->err, a->cap * sizeof *states, "a grammar");
    }
    a->states = states;
    a->states[a->n_states] = state;
    *out = a->n_states++;
    return MX_OK;
}

static mx_status add_byte(compiler *c, uint8_t lo, uint8_t hi, int32_t next, int32_t *out)
{
    return add_state(c, (mx_gstate){.kind = MX_GSTATE_BYTE, .lo = lo, .hi = hi, .next = next}, out);
}

/* *start becomes a fork to itself and `other`; -1 counts as nothing yet. */
static mx_status add_way(compiler *c, int32_t other, int32_t *start)
{
    if (*start < 0) {
        *start = other;
        return MX_OK;
    }
    return add_state(c, (mx_gstate){.kind = MX_GSTATE_FORK, .next = *start, .other = other}, start);
}

static mx_status emit_bytes(compiler *c, mx_str bytes, int32_t next, int32_t *start)
{
    *start = next;
    for (size_t i = bytes.len; i > 0; i--) {
        const uint8_t byte = (uint8_t)bytes.ptr[i - 1];
        MX_TRY(add_byte(c, byte, byte, *start, start));
    }
    return MX_OK;
}

/* Characters first to last, of one length in UTF-8 and with the same bytes but for a tail that is complete. */
static mx_status emit_block(compiler *c, int32_t first, int32_t last, int32_t next, int32_t *start)
{
    char from[4], to[4];
    const size_t n = mx_utf8_encode(first, from);
    (void)mx_utf8_encode(last, to);
    int32_t at = next;
    for (size_t i = n; i > 0; i--) {
        MX_TRY(add_byte(c, (uint8_t)from[i - 1], (uint8_t)to[i - 1], at, &at));
    }
    return add_way(c, at, start);
}

/* The end of the largest block that begins with `first` and goes no further than last: in each byte but the first that
 * differs, it spans all continuation bytes. */
static int32_t block_end(int32_t first, int32_t last)
{
    static const int32_t lengths[] = {0x7F, 0x7FF, 0xFFFF, MX_GRAMMAR_MAX_CODEPOINT};
    for (int32_t i = 0; i < 4; i++) {
        if (first <= lengths[i]) {
            last = MX_MIN(last, lengths[i]);
            break;
        }
    }
    int32_t end = first;
    for (int32_t bits = 6; bits <= 24; bits += 6) { /* one more byte may differ */
        const int32_t below = (1 << (bits - 6)) - 1;
        if ((first & below) != 0) {
            break;
        }
        const int32_t reach = first | ((1 << bits) - 1); /* as far as the bytes above stay the same */
        const int32_t most = MX_MIN(reach, last);
        const int32_t whole = ((most + 1) & ~below) - 1; /* the last that completes the tail */
        end = MX_MAX(end, whole);
        if (most < reach) {
            break;
        }
    }
    return end;
}

static mx_status emit_class(compiler *c, const mx_gnode *node, int32_t next, int32_t *start)
{
    *start = -1;
    for (int32_t i = 0; i < node->n_ranges; i++) {
        int32_t first = node->ranges[i].first;
        while (first <= node->ranges[i].last) {
            if (first >= 0xD800 && first <= 0xDFFF) { /* surrogates are no characters */
                first = 0xE000;
                continue;
            }
            const int32_t limit = first < 0xD800 ? MX_MIN(node->ranges[i].last, 0xD7FF) : node->ranges[i].last;
            const int32_t last = block_end(first, limit);
            MX_TRY(emit_block(c, first, last, next, start));
            first = last + 1;
        }
    }
    return *start >= 0 ? MX_OK : add_byte(c, 1, 0, next, start); /* an empty class reads nothing */
}

static mx_status emit(compiler *c, const mx_gnode *node, int32_t next, int32_t *start);

static mx_status emit_repeat(compiler *c, const mx_gnode *node, int32_t next, int32_t *start)
{
    const mx_gnode *item = node->items[0];
    *start = next;
    if (node->most == MX_GRAMMAR_NO_LIMIT) {
        int32_t loop, body;
        MX_TRY(add_state(c, (mx_gstate){.kind = MX_GSTATE_FORK, .next = next, .other = next}, &loop));
        MX_TRY(emit(c, item, loop, &body));
        c->a->states[loop].other = body;
        *start = loop;
    }
    for (int32_t i = node->least; i < node->most; i++) {
        int32_t body;
        MX_TRY(emit(c, item, *start, &body));
        MX_TRY(add_state(c, (mx_gstate){.kind = MX_GSTATE_FORK, .next = body, .other = next}, start));
    }
    for (int32_t i = 0; i < node->least; i++) {
        MX_TRY(emit(c, item, *start, start));
    }
    return MX_OK;
}

static mx_status emit_ref(compiler *c, int32_t i_rule, int32_t next, int32_t *start)
{
    return add_state(c, (mx_gstate){.kind = MX_GSTATE_CALL, .next = next, .other = i_rule}, start);
}

static mx_status emit(compiler *c, const mx_gnode *node, int32_t next, int32_t *start)
{
    switch (node->kind) {
    case MX_GNODE_BYTES: return emit_bytes(c, node->bytes, next, start);
    case MX_GNODE_CLASS: return emit_class(c, node, next, start);
    case MX_GNODE_REPEAT: return emit_repeat(c, node, next, start);
    case MX_GNODE_REF: return emit_ref(c, node->i_rule, next, start);
    case MX_GNODE_SEQ:
        *start = next;
        for (int32_t i = node->n_items; i > 0; i--) {
            MX_TRY(emit(c, node->items[i - 1], *start, start));
        }
        return MX_OK;
    case MX_GNODE_ALT: {
        int32_t ways = -1;
        for (int32_t i = 0; i < node->n_items; i++) {
            int32_t way;
            MX_TRY(emit(c, node->items[i], next, &way));
            MX_TRY(add_way(c, way, &ways));
        }
        *start = ways;
        return ways >= 0 ? MX_OK : add_byte(c, 1, 0, next, start); /* no alternative: nothing fits */
    }
    }
    return MX_OK;
}

/* State i of the first n_rules stands for rule i: a fork to where the rule begins. */
mx_status mx_automaton_init(mx_automaton *a, const mx_grammar_builder *b, int32_t i_root, mx_error *err)
{
    mx_status st;
    int32_t i_state;
    compiler c = {a, b, err};
    *a = (mx_automaton){.start = i_root};
    for (int32_t i = 0; i < b->n_rules; i++) {
        MX_TRY_OR(failed, st, add_state(&c, (mx_gstate){.kind = MX_GSTATE_FORK}, &i_state));
    }
    MX_TRY_OR(failed, st, add_state(&c, (mx_gstate){.kind = MX_GSTATE_RETURN}, &i_state));
    for (int32_t i = 0; i < b->n_rules; i++) {
        int32_t start;
        if (!b->rules[i].node) {
            st = mx_fail(err, MX_INVALID, "the grammar has a rule without a body");
            goto failed;
        }
        MX_TRY_OR(failed, st, emit(&c, b->rules[i].node, i_state, &start));
        a->states[i].next = a->states[i].other = start;
    }
    return MX_OK;
failed:
    mx_automaton_deinit(a);
    return st;
}

void mx_automaton_deinit(mx_automaton *a)
{
    mx_free(a->states);
    *a = (mx_automaton){0};
}
