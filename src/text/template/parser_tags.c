/* parser_tags.c - text, {{ }} and the tags. */
#include <stdio.h>

#include "base/mem.h"
#include "text/template/parser_parts.h"

#define ENDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static mx_status parse_body(mx_tpl_parser *p, mx_tpl_open_tag *tag, const char *const *ends, mx_tpl_node *owner,
                            mx_tpl_nodes *body);

static bool at_one_of(const mx_tpl_parser *p, const char *const *names)
{
    for (; names && *names; names++) {
        if (mx_tpl_parser_at_name(p, *names)) {
            return true;
        }
    }
    return false;
}

/* "endif" or "endif, else, elif", for messages. */
static void list_ends(const mx_tpl_open_tag *tag, char *to, size_t n_bytes)
{
    size_t n = 0;
    for (size_t i = 0; tag->ends[i]; i++) {
        n += (size_t)snprintf(to + n, n_bytes - n, i ? " or '%s'" : "'%s'", tag->ends[i]);
    }
}

static mx_status fail_tag(mx_tpl_parser *p)
{
    char ends[96] = "";
    if (p->open) {
        list_ends(p->open, ends, sizeof ends);
        return mx_tpl_parser_fail(p, p->token.line, "unknown tag '%.*s'; the '%s' of line %d waits for %s",
                                  MX_STR_ARG(p->token.text), p->open->name, (int)p->open->line, ends);
    }
    return mx_tpl_parser_fail(p, p->token.line, "unknown tag '%.*s'", MX_STR_ARG(p->token.text));
}

static bool can_assign(const mx_tpl_node *node)
{
    if (node->kind == MX_TPL_NODE_TUPLE) {
        for (int32_t i = 0; i < node->as.items.n; i++) {
            if (!can_assign(node->as.items.items[i])) {
                return false;
            }
        }
        return true;
    }
    return node->kind == MX_TPL_NODE_NAME || node->kind == MX_TPL_NODE_NSREF;
}

static mx_status parse_target(mx_tpl_parser *p, const char *end, bool may_be_namespace, mx_tpl_node **out)
{
    const mx_tpl_tuple_rules rules = {.is_target = true, .end = end, .may_be_namespace = may_be_namespace};
    MX_TRY(mx_tpl_parse_tuple(p, &rules, out));
    return can_assign(*out) ? MX_OK
                            : mx_tpl_parser_fail(p, (*out)->line, "can't assign to a %s", mx_tpl_node_text(*out));
}

/* A name that is assigned to. */
static mx_status parse_target_name(mx_tpl_parser *p, mx_str *name)
{
    static const char *const constants[] = {"true", "false", "none", "True", "False", "None", NULL};
    if (at_one_of(p, constants)) {
        return mx_tpl_parser_fail(p, p->token.line, "can't assign to '%.*s'", MX_STR_ARG(p->token.text));
    }
    return mx_tpl_parser_expect_name(p, name);
}

static mx_status new_func(mx_tpl_parser *p, mx_tpl_node *node, mx_str name)
{
    mx_tpl_func *func = mx_arena_new(p->tree->arena, mx_tpl_func);
    if (!func) {
        return mx_tpl_parser_no_memory(p);
    }
    *func = (mx_tpl_func){.name = name, .line = node->line, .caller_slot = -1, .kwargs_slot = -1, .varargs_slot = -1};
    node->as.macro.func = func;
    return MX_OK;
}

/* (a, b=1) */
static mx_status parse_signature(mx_tpl_parser *p, mx_tpl_node *node)
{
    mx_tpl_func *func = node->as.macro.func;
    MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_LPAREN));
    while (p->token.kind != MX_TPL_TOKEN_RPAREN) {
        if (func->args.n) {
            MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_COMMA));
        }
        mx_tpl_node *arg = NULL;
        MX_TRY(mx_tpl_parser_limit(p, func->args.n, "parameters of a macro"));
        MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_NAME, p->token.line, &arg));
        MX_TRY(parse_target_name(p, &arg->as.name.name));
        for (int32_t i = 0; i < func->args.n; i++) {
            if (mx_str_eq(func->args.items[i]->as.name.name, arg->as.name.name)) {
                return mx_tpl_parser_fail(p, arg->line, "duplicate argument '%.*s'", MX_STR_ARG(arg->as.name.name));
            }
        }
        MX_TRY(mx_tpl_parser_push(p, node, &func->args, arg));
        if (p->token.kind == MX_TPL_TOKEN_ASSIGN) {
            mx_tpl_node *value = NULL;
            MX_TRY(mx_tpl_parser_next(p));
            MX_TRY(mx_tpl_parse_expression(p, &value));
            MX_TRY(mx_tpl_parser_push(p, node, &func->defaults, value));
        } else if (func->defaults.n) {
            return mx_tpl_parser_fail(p, arg->line, "non-default argument follows default argument");
        }
    }
    return mx_tpl_parser_next(p);
}

static mx_status parse_if(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    static const mx_tpl_tuple_rules rules = {.no_condition = true};
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_IF, p->token.line, out));
    mx_tpl_node *node = *out;
    for (bool is_first = true;; is_first = false) {
        MX_TRY(mx_tpl_parser_next(p));
        if (!is_first) {
            MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_IF, p->token.line, &node));
        }
        MX_TRY(mx_tpl_parse_tuple(p, &rules, &node->as.cond.test));
        MX_TRY(mx_tpl_parser_below(p, node, node->as.cond.test));
        MX_TRY(parse_body(p, tag, ENDS("elif", "else", "endif"), node, &node->as.cond.body));
        if (!is_first) {
            MX_TRY(mx_tpl_parser_push(p, *out, &(*out)->as.cond.elifs, node));
        }
        if (!mx_tpl_parser_at_name(p, "elif")) {
            break;
        }
    }
    if (mx_tpl_parser_at_name(p, "else")) {
        MX_TRY(mx_tpl_parser_next(p));
        MX_TRY(parse_body(p, tag, ENDS("endif"), *out, &(*out)->as.cond.otherwise));
    }
    return mx_tpl_parser_next(p);
}

static mx_status parse_for(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    static const mx_tpl_tuple_rules rules = {.no_condition = true, .end = "recursive"};
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_FOR, p->token.line, out));
    mx_tpl_for *loop = mx_arena_new(p->tree->arena, mx_tpl_for);
    if (!loop) {
        return mx_tpl_parser_no_memory(p);
    }
    (*out)->as.loop = loop;
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(parse_target(p, "in", false, &loop->target));
    MX_TRY(mx_tpl_parser_below(p, *out, loop->target));
    bool skipped = false;
    MX_TRY(mx_tpl_parser_skip_name(p, "in", &skipped));
    if (!skipped) {
        return mx_tpl_parser_fail_token(p, "'in'");
    }
    MX_TRY(mx_tpl_parse_tuple(p, &rules, &loop->iter));
    MX_TRY(mx_tpl_parser_below(p, *out, loop->iter));
    MX_TRY(mx_tpl_parser_skip_name(p, "if", &skipped));
    if (skipped) {
        MX_TRY(mx_tpl_parse_expression(p, &loop->test));
        MX_TRY(mx_tpl_parser_below(p, *out, loop->test));
    }
    MX_TRY(mx_tpl_parser_skip_name(p, "recursive", &(*out)->flag));
    MX_TRY(parse_body(p, tag, ENDS("endfor", "else"), *out, &loop->body));
    if (mx_tpl_parser_at_name(p, "else")) {
        MX_TRY(mx_tpl_parser_next(p));
        MX_TRY(parse_body(p, tag, ENDS("endfor"), *out, &loop->otherwise));
    }
    return mx_tpl_parser_next(p);
}

/* Filters of a text that a block has captured; *captured is the name at their bottom. */
static mx_status parse_capture_filters(mx_tpl_parser *p, bool begins_inline, mx_tpl_node **captured, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_NAME, p->token.line, captured));
    *out = *captured;
    MX_TRY(mx_tpl_parse_filters(p, begins_inline, out));
    if (*out == *captured) {
        *out = NULL;
    }
    return MX_OK;
}

static mx_status parse_set(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    static const mx_tpl_tuple_rules rules = {0};
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_SET, p->token.line, out));
    mx_tpl_node *node = *out;
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(parse_target(p, NULL, true, &node->as.set.target));
    MX_TRY(mx_tpl_parser_below(p, node, node->as.set.target));
    if (p->token.kind == MX_TPL_TOKEN_ASSIGN) {
        MX_TRY(mx_tpl_parser_next(p));
        MX_TRY(mx_tpl_parse_tuple(p, &rules, &node->as.set.value));
        return mx_tpl_parser_below(p, node, node->as.set.value);
    }
    node->kind = MX_TPL_NODE_SET_BLOCK;
    MX_TRY(parse_capture_filters(p, false, &node->as.set.captured, &node->as.set.value));
    MX_TRY(mx_tpl_parser_below(p, node, node->as.set.value));
    MX_TRY(parse_body(p, tag, ENDS("endset"), node, &node->as.set.body));
    return mx_tpl_parser_next(p);
}

static mx_status parse_macro(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    mx_str name;
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_MACRO, p->token.line, out));
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(parse_target_name(p, &name));
    MX_TRY(new_func(p, *out, name));
    MX_TRY(parse_signature(p, *out));
    MX_TRY(parse_body(p, tag, ENDS("endmacro"), *out, &(*out)->as.macro.func->body));
    return mx_tpl_parser_next(p);
}

static mx_status parse_call_block(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    mx_tpl_node *call = NULL;
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_CALL_BLOCK, p->token.line, out));
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(new_func(p, *out, (mx_str){NULL, 0}));
    if (p->token.kind == MX_TPL_TOKEN_LPAREN) {
        MX_TRY(parse_signature(p, *out));
    }
    MX_TRY(mx_tpl_parse_expression(p, &call));
    if (call->kind != MX_TPL_NODE_CALL) {
        return mx_tpl_parser_fail(p, (*out)->line, "expected a call, found a %s", mx_tpl_node_text(call));
    }
    (*out)->as.macro.call = call;
    MX_TRY(mx_tpl_parser_below(p, *out, call));
    MX_TRY(parse_body(p, tag, ENDS("endcall"), *out, &(*out)->as.macro.func->body));
    return mx_tpl_parser_next(p);
}

/* What the assistant says, marked for training; here it is printed as it is. */
static mx_status parse_generation(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_GENERATION, p->token.line, out));
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(new_func(p, *out, (mx_str){NULL, 0}));
    MX_TRY(parse_body(p, tag, ENDS("endgeneration"), *out, &(*out)->as.macro.func->body));
    return mx_tpl_parser_next(p);
}

static mx_status parse_filter_block(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_FILTER_BLOCK, p->token.line, out));
    mx_tpl_node *node = *out;
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(parse_capture_filters(p, true, &node->as.block.captured, &node->as.block.expr));
    MX_TRY(mx_tpl_parser_below(p, node, node->as.block.expr));
    MX_TRY(parse_body(p, tag, ENDS("endfilter"), node, &node->as.block.body));
    return mx_tpl_parser_next(p);
}

static mx_status parse_with(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_WITH, p->token.line, out));
    mx_tpl_node *node = *out;
    MX_TRY(mx_tpl_parser_next(p));
    while (p->token.kind != MX_TPL_TOKEN_BLOCK_END) {
        mx_tpl_node *target = NULL;
        mx_tpl_node *value = NULL;
        if (node->as.block.targets.n) {
            MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_COMMA));
        }
        MX_TRY(parse_target(p, NULL, false, &target));
        MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_ASSIGN));
        MX_TRY(mx_tpl_parse_expression(p, &value));
        MX_TRY(mx_tpl_parser_push(p, node, &node->as.block.targets, target));
        MX_TRY(mx_tpl_parser_push(p, node, &node->as.block.values, value));
    }
    MX_TRY(parse_body(p, tag, ENDS("endwith"), node, &node->as.block.body));
    return mx_tpl_parser_next(p);
}

static mx_status parse_autoescape(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_AUTOESCAPE, p->token.line, out));
    mx_tpl_node *node = *out;
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(mx_tpl_parse_expression(p, &node->as.block.expr));
    MX_TRY(mx_tpl_parser_below(p, node, node->as.block.expr));
    MX_TRY(parse_body(p, tag, ENDS("endautoescape"), node, &node->as.block.body));
    return mx_tpl_parser_next(p);
}

static bool is_blank(const mx_tpl_nodes *body)
{
    for (int32_t i = 0; i < body->n; i++) {
        const mx_tpl_node *node = body->items[i];
        for (uint32_t k = 0; node->kind == MX_TPL_NODE_DATA && k < node->as.value.len; k++) {
            if (!strchr(" \t\n\r\f\v", node->as.value.as.s[k])) {
                return false;
            }
        }
        if (node->kind != MX_TPL_NODE_DATA) {
            return false;
        }
    }
    return true;
}

static mx_status parse_block(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    mx_str name;
    bool is_required = false;
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_BLOCK, p->token.line, out));
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(mx_tpl_parser_expect_name(p, &name));
    MX_TRY(mx_tpl_parser_skip_name(p, "scoped", &(*out)->flag));
    MX_TRY(mx_tpl_parser_skip_name(p, "required", &is_required));
    MX_TRY(new_func(p, *out, name));
    MX_TRY(mx_tpl_parser_limit(p, p->tree->blocks.n, "blocks"));
    for (int32_t i = 0; i < p->tree->blocks.n; i++) {
        if (mx_str_eq(p->tree->blocks.items[i]->as.macro.func->name, name)) {
            return mx_tpl_parser_fail(p, (*out)->line, "block '%.*s' defined twice", MX_STR_ARG(name));
        }
    }
    MX_TRY(mx_tpl_parser_push(p, NULL, &p->tree->blocks, *out));
    MX_TRY(parse_body(p, tag, ENDS("endblock"), *out, &(*out)->as.macro.func->body));
    if (is_required && !is_blank(&(*out)->as.macro.func->body)) {
        return mx_tpl_parser_fail(p, (*out)->line, "required blocks can only contain comments or whitespace");
    }
    (*out)->op = is_required;
    MX_TRY(mx_tpl_parser_next(p));
    if (p->token.kind == MX_TPL_TOKEN_NAME && mx_str_eq(p->token.text, name)) {
        return mx_tpl_parser_next(p);
    }
    return MX_OK;
}

static mx_status parse_print(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    (void)tag;
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_OUTPUT, p->token.line, out));
    MX_TRY(mx_tpl_parser_next(p));
    while (p->token.kind != MX_TPL_TOKEN_BLOCK_END) {
        mx_tpl_node *item = NULL;
        if ((*out)->as.items.n) {
            MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_COMMA));
        }
        MX_TRY(mx_tpl_parse_expression(p, &item));
        MX_TRY(mx_tpl_parser_push(p, *out, &(*out)->as.items, item));
    }
    return MX_OK;
}

static mx_status parse_break(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    (void)tag;
    const mx_tpl_node_kind kind = mx_tpl_parser_at_name(p, "break") ? MX_TPL_NODE_BREAK : MX_TPL_NODE_CONTINUE;
    MX_TRY(mx_tpl_parser_new(p, kind, p->token.line, out));
    return mx_tpl_parser_next(p);
}

/* Tags that need other templates, of which a chat template has none: an error when one is reached, and not before. */
static mx_status parse_other_templates(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out)
{
    (void)tag;
    mx_tpl_node *name = NULL;
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_OTHER, p->token.line, out));
    (*out)->as.use.name = p->token.text;
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(mx_tpl_parse_expression(p, &name));
    (*out)->as.use.of = name;
    MX_TRY(mx_tpl_parser_below(p, *out, name));
    while (p->token.kind == MX_TPL_TOKEN_NAME || p->token.kind == MX_TPL_TOKEN_COMMA) {
        MX_TRY(mx_tpl_parser_next(p));
    }
    return MX_OK;
}

static const struct {
    const char *name;
    mx_status (*parse)(mx_tpl_parser *p, mx_tpl_open_tag *tag, mx_tpl_node **out);
} tags[] = {
    {"if", parse_if},
    {"for", parse_for},
    {"set", parse_set},
    {"macro", parse_macro},
    {"call", parse_call_block},
    {"filter", parse_filter_block},
    {"generation", parse_generation},
    {"with", parse_with},
    {"autoescape", parse_autoescape},
    {"block", parse_block},
    {"print", parse_print},
    {"break", parse_break},
    {"continue", parse_break},
    {"include", parse_other_templates},
    {"import", parse_other_templates},
    {"from", parse_other_templates},
    {"extends", parse_other_templates},
};

static mx_status parse_tag(mx_tpl_parser *p, mx_tpl_node **out)
{
    if (p->token.kind != MX_TPL_TOKEN_NAME) {
        return mx_tpl_parser_fail_token(p, "the name of a tag");
    }
    for (size_t i = 0; i < MX_COUNTOF(tags); i++) {
        if (mx_tpl_parser_at_name(p, tags[i].name)) {
            mx_tpl_open_tag tag = {.outer = p->open, .name = tags[i].name, .line = p->token.line};
            MX_TRY(mx_tpl_parser_deeper(p));
            MX_TRY(tags[i].parse(p, &tag, out));
            p->depth--;
            return mx_tpl_parser_expect(p, MX_TPL_TOKEN_BLOCK_END);
        }
    }
    return fail_tag(p);
}

static mx_status parse_data(mx_tpl_parser *p, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_DATA, p->token.line, out));
    (*out)->as.value = mx_tpl_str(p->token.text);
    return mx_tpl_parser_next(p);
}

static mx_status parse_output(mx_tpl_parser *p, mx_tpl_node **out)
{
    static const mx_tpl_tuple_rules rules = {0};
    mx_tpl_node *item = NULL;
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_OUTPUT, p->token.line, out));
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(mx_tpl_parse_tuple(p, &rules, &item));
    MX_TRY(mx_tpl_parser_push(p, *out, &(*out)->as.items, item));
    return mx_tpl_parser_expect(p, MX_TPL_TOKEN_VARIABLE_END);
}

/* Text and tags up to one of `ends` (NULL: to the end of the template); the token is then that name. */
static mx_status parse_until(mx_tpl_parser *p, const char *const *ends, mx_tpl_node *owner, mx_tpl_nodes *body)
{
    while (p->token.kind != MX_TPL_TOKEN_EOF) {
        mx_tpl_node *node = NULL;
        if (p->token.kind == MX_TPL_TOKEN_DATA) {
            MX_TRY(parse_data(p, &node));
        } else if (p->token.kind == MX_TPL_TOKEN_VARIABLE_BEGIN) {
            MX_TRY(parse_output(p, &node));
        } else {
            MX_TRY(mx_tpl_parser_next(p));
            if (at_one_of(p, ends)) {
                return MX_OK;
            }
            MX_TRY(parse_tag(p, &node));
        }
        MX_TRY(mx_tpl_parser_push(p, owner, body, node));
    }
    return MX_OK;
}

static mx_status parse_body(mx_tpl_parser *p, mx_tpl_open_tag *tag, const char *const *ends, mx_tpl_node *owner,
                            mx_tpl_nodes *body)
{
    if (p->token.kind == MX_TPL_TOKEN_COLON) { /* as in Python, for those who are used to it */
        MX_TRY(mx_tpl_parser_next(p));
    }
    MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_BLOCK_END));
    tag->ends = ends;
    p->open = tag;
    MX_TRY(parse_until(p, ends, owner, body));
    p->open = tag->outer;
    if (p->token.kind == MX_TPL_TOKEN_EOF) {
        char wanted[96];
        list_ends(tag, wanted, sizeof wanted);
        return mx_tpl_parser_fail(p, p->token.line, "unexpected end of template; the '%s' of line %d waits for %s",
                                  tag->name, (int)tag->line, wanted);
    }
    return MX_OK;
}

mx_status mx_tpl_parse(mx_tpl_tree *tree, mx_str source, mx_error *err)
{
    mx_tpl_parser *p = mx_calloc(1, sizeof *p);
    if (!p) {
        return mx_fail_no_memory(err, sizeof *p, "parsing a chat template");
    }
    p->tree = tree;
    p->err = err;
    mx_status st = mx_tpl_lexer_init(&p->lexer, tree->arena, source, tree->name, err);
    if (st == MX_OK) {
        st = mx_tpl_parser_next(p);
    }
    if (st == MX_OK) {
        st = parse_until(p, NULL, NULL, &tree->root.body);
    }
    mx_free(p);
    return st;
}
