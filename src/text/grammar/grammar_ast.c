/* grammar_ast.c - nodes in an arena. */
#include "text/grammar/grammar_ast.h"

#include <string.h>

#include "base/mem.h"

void mx_grammar_builder_init(mx_grammar_builder *b)
{
    *b = (mx_grammar_builder){0};
    mx_arena_init(&b->arena, MX_GRAMMAR_MAX_BYTES);
}

void mx_grammar_builder_deinit(mx_grammar_builder *b)
{
    mx_arena_deinit(&b->arena);
    mx_free(b->rules);
    *b = (mx_grammar_builder){0};
}

mx_status mx_grammar_builder_status(const mx_grammar_builder *b, mx_error *err)
{
    return b->has_failed ? mx_fail(err, MX_INVALID, "the grammar is too large") : MX_OK;
}

static mx_gnode *new_node(mx_grammar_builder *b, mx_gnode_kind kind)
{
    mx_gnode *node = b->has_failed ? NULL : mx_arena_new(&b->arena, mx_gnode);
    b->has_failed = b->has_failed || !node;
    if (node) {
        node->kind = kind;
    }
    return node;
}

mx_gnode *mx_gnode_bytes(mx_grammar_builder *b, mx_str bytes)
{
    mx_gnode *node = new_node(b, MX_GNODE_BYTES);
    if (node && bytes.len > 0) {
        node->bytes = mx_arena_copy_str(&b->arena, bytes);
        b->has_failed = !node->bytes.ptr;
    }
    return b->has_failed ? NULL : node;
}

mx_gnode *mx_gnode_text(mx_grammar_builder *b, const char *text)
{
    return mx_gnode_bytes(b, mx_str_from(text));
}

/* Sorts by insertion and joins what touches. */
static int32_t sort_ranges(mx_cp_range *r, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        const mx_cp_range moving = r[i];
        int32_t at = i;
        while (at > 0 && r[at - 1].first > moving.first) {
            r[at] = r[at - 1];
            at--;
        }
        r[at] = moving;
    }
    int32_t n_joined = 0;
    for (int32_t i = 0; i < n; i++) {
        if (n_joined > 0 && r[i].first <= r[n_joined - 1].last + 1) {
            r[n_joined - 1].last = MX_MAX(r[n_joined - 1].last, r[i].last);
        } else {
            r[n_joined++] = r[i];
        }
    }
    return n_joined;
}

static int32_t negate_ranges(const mx_cp_range *r, int32_t n, mx_cp_range *out)
{
    int32_t n_out = 0;
    int32_t from = 0;
    for (int32_t i = 0; i <= n; i++) {
        const int32_t to = i < n ? r[i].first - 1 : MX_GRAMMAR_MAX_CODEPOINT;
        if (from <= to) {
            out[n_out++] = (mx_cp_range){from, to};
        }
        from = i < n ? r[i].last + 1 : from;
    }
    return n_out;
}

mx_gnode *mx_gnode_class(mx_grammar_builder *b, const mx_cp_range *ranges, int32_t n_ranges, bool is_negated)
{
    mx_gnode *node = new_node(b, MX_GNODE_CLASS);
    mx_cp_range *sorted = node ? mx_arena_array(&b->arena, mx_cp_range, n_ranges + 1) : NULL;
    mx_cp_range *out = sorted ? mx_arena_array(&b->arena, mx_cp_range, n_ranges + 1) : NULL;
    if (!out) {
        b->has_failed = true;
        return NULL;
    }
    memcpy(sorted, ranges, (size_t)n_ranges * sizeof *ranges);
    const int32_t n = sort_ranges(sorted, n_ranges);
    node->ranges = is_negated ? out : sorted;
    node->n_ranges = is_negated ? negate_ranges(sorted, n, out) : n;
    return node;
}

mx_gnode *mx_gnode_list(mx_grammar_builder *b, mx_gnode_kind kind)
{
    return new_node(b, kind);
}

void mx_gnode_add(mx_grammar_builder *b, mx_gnode *list, mx_gnode *item)
{
    if (b->has_failed || !list || !item) {
        return;
    }
    if (list->n_items == list->cap_items) {
        const int32_t cap = list->cap_items > 0 ? list->cap_items * 2 : 4;
        mx_gnode **items = mx_arena_array(&b->arena, mx_gnode *, cap);
        if (!items) {
            b->has_failed = true;
            return;
        }
        if (list->n_items > 0) {
            memcpy(items, list->items, (size_t)list->n_items * sizeof *items);
        }
        list->items = items;
        list->cap_items = cap;
    }
    list->items[list->n_items++] = item;
}

mx_gnode *mx_gnode_repeat(mx_grammar_builder *b, mx_gnode *item, int32_t least, int32_t most)
{
    mx_gnode *node = new_node(b, MX_GNODE_REPEAT);
    if (node) {
        node->least = least;
        node->most = most;
        mx_gnode_add(b, node, item);
    }
    return node;
}

mx_gnode *mx_gnode_ref(mx_grammar_builder *b, int32_t i_rule)
{
    mx_gnode *node = new_node(b, MX_GNODE_REF);
    if (node) {
        node->i_rule = i_rule;
    }
    return node;
}

static int32_t add_rule(mx_grammar_builder *b, mx_str name, mx_gnode *node)
{
    mx_grule *rules = b->has_failed ? NULL
                                    : (mx_grule *)mx_array_grow(b->rules, &b->cap_rules, (size_t)b->n_rules + 1,
                                                                sizeof *rules, MX_GRAMMAR_MAX_RULES);
    if (!rules) {
        b->has_failed = true;
        return -1;
    }
    b->rules = rules;
    b->rules[b->n_rules] = (mx_grule){.name = name, .node = node};
    return b->n_rules++;
}

int32_t mx_grammar_rule(mx_grammar_builder *b, mx_str name)
{
    for (int32_t i = 0; i < b->n_rules; i++) {
        if (b->rules[i].name.ptr && mx_str_eq(b->rules[i].name, name)) {
            return i;
        }
    }
    const mx_str copy = b->has_failed ? (mx_str){0} : mx_arena_copy_str(&b->arena, name);
    b->has_failed = b->has_failed || !copy.ptr;
    return add_rule(b, copy, NULL);
}

int32_t mx_grammar_new_rule(mx_grammar_builder *b, mx_gnode *node)
{
    return add_rule(b, (mx_str){0}, node);
}
