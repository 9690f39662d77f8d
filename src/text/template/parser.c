/* parser.c - expressions up to signs and filters, by recursive descent in the order of Jinja's precedences. */
#include "text/template/parser_parts.h"

#include <stdarg.h>
#include <stdio.h>

#include "text/template/bigint.h"

#define MAX_DEPTH 200 /* of the parser's own recursion */

mx_status mx_tpl_parser_fail(mx_tpl_parser *p, int32_t line, const char *fmt, ...)
{
    char sentence[360];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    return mx_fail(p->err, MX_FORMAT, "%s: line %d: %s", p->tree->name, (int)line, sentence);
}

mx_status mx_tpl_parser_no_memory(mx_tpl_parser *p)
{
    return mx_fail(p->err, MX_NO_MEMORY, "%s: out of memory while parsing, or the template is too long", p->tree->name);
}

static mx_str token_text(const mx_tpl_token *token)
{
    return token->kind == MX_TPL_TOKEN_NAME ? token->text : mx_str_from(mx_tpl_token_text(token->kind));
}

mx_status mx_tpl_parser_fail_token(mx_tpl_parser *p, const char *wanted)
{
    return mx_tpl_parser_fail(p, p->token.line, "expected %s, found '%.*s'", wanted, MX_STR_ARG(token_text(&p->token)));
}

mx_status mx_tpl_parser_next(mx_tpl_parser *p)
{
    if (p->has_ahead) {
        p->token = p->ahead;
        p->has_ahead = false;
        return MX_OK;
    }
    return mx_tpl_lexer_next(&p->lexer, &p->token);
}

mx_status mx_tpl_parser_look(mx_tpl_parser *p)
{
    if (p->has_ahead) {
        return MX_OK;
    }
    p->has_ahead = true;
    return mx_tpl_lexer_next(&p->lexer, &p->ahead);
}

mx_status mx_tpl_parser_expect(mx_tpl_parser *p, mx_tpl_token_kind kind)
{
    if (p->token.kind != kind) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "'%s'", mx_tpl_token_text(kind));
        return mx_tpl_parser_fail_token(p, wanted);
    }
    return mx_tpl_parser_next(p);
}

mx_status mx_tpl_parser_expect_name(mx_tpl_parser *p, mx_str *name)
{
    *name = p->token.text;
    return mx_tpl_parser_expect(p, MX_TPL_TOKEN_NAME);
}

bool mx_tpl_parser_at_name(const mx_tpl_parser *p, const char *name)
{
    return p->token.kind == MX_TPL_TOKEN_NAME && mx_str_eq_cstr(p->token.text, name);
}

mx_status mx_tpl_parser_skip_name(mx_tpl_parser *p, const char *name, bool *skipped)
{
    *skipped = mx_tpl_parser_at_name(p, name);
    return *skipped ? mx_tpl_parser_next(p) : MX_OK;
}

mx_status mx_tpl_parser_deeper(mx_tpl_parser *p)
{
    return ++p->depth > MAX_DEPTH ? mx_tpl_parser_fail(p, p->token.line, "nested more than %d deep", MAX_DEPTH) : MX_OK;
}

mx_status mx_tpl_parser_new(mx_tpl_parser *p, mx_tpl_node_kind kind, int32_t line, mx_tpl_node **out)
{
    *out = mx_arena_new(p->tree->arena, mx_tpl_node);
    if (!*out) {
        return mx_tpl_parser_no_memory(p);
    }
    (*out)->kind = (uint8_t)kind;
    (*out)->line = line;
    (*out)->height = 1;
    return MX_OK;
}

mx_status mx_tpl_parser_below(mx_tpl_parser *p, mx_tpl_node *node, const mx_tpl_node *child)
{
    if (child && child->height >= node->height) {
        node->height = child->height + 1;
    }
    return node->height > MX_TPL_MAX_NESTING
               ? mx_tpl_parser_fail(p, node->line, "more than %d expressions or tags in one another",
                                    MX_TPL_MAX_NESTING)
               : MX_OK;
}

mx_status mx_tpl_parser_push(mx_tpl_parser *p, mx_tpl_node *node, mx_tpl_nodes *list, mx_tpl_node *child)
{
    if (list->n == list->cap) {
        const int32_t cap = list->cap ? list->cap * 2 : 4;
        mx_tpl_node **items = mx_arena_array(p->tree->arena, mx_tpl_node *, cap);
        if (!items) {
            return mx_tpl_parser_no_memory(p);
        }
        if (list->n) {
            memcpy(items, list->items, (size_t)list->n * sizeof *items);
        }
        list->items = items;
        list->cap = cap;
    }
    list->items[list->n++] = child;
    return node ? mx_tpl_parser_below(p, node, child) : MX_OK;
}

static mx_status new_const(mx_tpl_parser *p, mx_tpl_value value, int32_t line, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_CONST, line, out));
    (*out)->as.value = value;
    return MX_OK;
}

mx_status mx_tpl_parser_new_expr(mx_tpl_parser *p, mx_tpl_node_kind kind, int32_t line, mx_tpl_node *a, mx_tpl_node *b,
                                 mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, kind, line, out));
    (*out)->as.expr.a = a;
    (*out)->as.expr.b = b;
    MX_TRY(mx_tpl_parser_below(p, *out, a));
    return mx_tpl_parser_below(p, *out, b);
}

/* The value of an integer as it is written, of any length. */
static mx_status integer_value(mx_tpl_parser *p, mx_tpl_value *out)
{
    /* Reading needs a render's memory; a small one on the template's arena does. */
    mx_tpl_run reader = {.tree = p->tree, .arena = *p->tree->arena, .err = p->err, .line = p->token.line};
    reader.options.max_steps = INT64_MAX;
    reader.next_check = INT64_MAX;
    bool ok = false;
    const mx_status st = mx_tpl_parse_int(&reader, p->token.text, 0, out, &ok);
    *p->tree->arena = reader.arena;
    MX_TRY(st);
    return ok ? MX_OK : mx_tpl_parser_fail(p, p->token.line, "the integer %.*s is too long", MX_STR_ARG(p->token.text));
}

static mx_status parse_number(mx_tpl_parser *p, mx_tpl_node **out)
{
    mx_tpl_value value = {0};
    if (p->token.kind == MX_TPL_TOKEN_INTEGER) {
        MX_TRY(integer_value(p, &value));
    } else {
        double d = 0;
        if (!mx_tpl_parse_float(p->token.text, &d)) {
            return mx_tpl_parser_fail(p, p->token.line, "the number %.*s is too long", MX_STR_ARG(p->token.text));
        }
        value = mx_tpl_float(d);
    }
    MX_TRY(new_const(p, value, p->token.line, out));
    return mx_tpl_parser_next(p);
}

/* Strings that follow one another are one string. */
static mx_status parse_strings(mx_tpl_parser *p, mx_tpl_node **out)
{
    mx_tpl_value value = p->token.value;
    const int32_t line = p->token.line;
    MX_TRY(mx_tpl_parser_next(p));
    while (p->token.kind == MX_TPL_TOKEN_STRING) {
        const mx_str a = mx_tpl_view(value);
        const mx_str b = mx_tpl_view(p->token.value);
        char *both = mx_arena_alloc(p->tree->arena, a.len + b.len + 1);
        if (!both) {
            return mx_tpl_parser_no_memory(p);
        }
        memcpy(both, a.ptr, a.len);
        memcpy(both + a.len, b.ptr, b.len);
        value = mx_tpl_str((mx_str){both, a.len + b.len});
        MX_TRY(mx_tpl_parser_next(p));
    }
    return new_const(p, value, line, out);
}

static bool is_literal_name(mx_str name, mx_tpl_value *value)
{
    if (mx_str_eq_cstr(name, "true") || mx_str_eq_cstr(name, "True")) {
        *value = mx_tpl_bool(true);
    } else if (mx_str_eq_cstr(name, "false") || mx_str_eq_cstr(name, "False")) {
        *value = mx_tpl_bool(false);
    } else if (mx_str_eq_cstr(name, "none") || mx_str_eq_cstr(name, "None")) {
        *value = mx_tpl_none();
    } else {
        return false;
    }
    return true;
}

static mx_status parse_name(mx_tpl_parser *p, bool may_be_namespace, mx_tpl_node **out)
{
    const mx_str name = p->token.text;
    const int32_t line = p->token.line;
    mx_tpl_value value;
    MX_TRY(mx_tpl_parser_next(p));
    if (is_literal_name(name, &value)) {
        return new_const(p, value, line, out);
    }
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_NAME, line, out));
    (*out)->as.name.name = name;
    if (may_be_namespace && p->token.kind == MX_TPL_TOKEN_DOT) {
        (*out)->kind = MX_TPL_NODE_NSREF;
        MX_TRY(mx_tpl_parser_next(p));
        return mx_tpl_parser_expect_name(p, &(*out)->as.name.attr);
    }
    return MX_OK;
}

static mx_status parse_list(mx_tpl_parser *p, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_LIST, p->token.line, out));
    MX_TRY(mx_tpl_parser_next(p));
    while (p->token.kind != MX_TPL_TOKEN_RBRACKET) {
        if ((*out)->as.items.n) {
            MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_COMMA));
            if (p->token.kind == MX_TPL_TOKEN_RBRACKET) {
                break;
            }
        }
        mx_tpl_node *item = NULL;
        MX_TRY(mx_tpl_parse_expression(p, &item));
        MX_TRY(mx_tpl_parser_push(p, *out, &(*out)->as.items, item));
    }
    return mx_tpl_parser_next(p);
}

static mx_status parse_dict(mx_tpl_parser *p, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_DICT, p->token.line, out));
    MX_TRY(mx_tpl_parser_next(p));
    while (p->token.kind != MX_TPL_TOKEN_RBRACE) {
        if ((*out)->as.items.n) {
            MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_COMMA));
            if (p->token.kind == MX_TPL_TOKEN_RBRACE) {
                break;
            }
        }
        mx_tpl_node *key = NULL;
        mx_tpl_node *value = NULL;
        MX_TRY(mx_tpl_parse_expression(p, &key));
        MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_COLON));
        MX_TRY(mx_tpl_parse_expression(p, &value));
        MX_TRY(mx_tpl_parser_push(p, *out, &(*out)->as.items, key));
        MX_TRY(mx_tpl_parser_push(p, *out, &(*out)->as.items, value));
    }
    return mx_tpl_parser_next(p);
}

mx_status mx_tpl_parse_primary(mx_tpl_parser *p, bool may_be_namespace, mx_tpl_node **out)
{
    static const mx_tpl_tuple_rules in_brackets = {.may_be_empty = true};
    switch (p->token.kind) {
    case MX_TPL_TOKEN_NAME: return parse_name(p, may_be_namespace, out);
    case MX_TPL_TOKEN_STRING: return parse_strings(p, out);
    case MX_TPL_TOKEN_INTEGER:
    case MX_TPL_TOKEN_FLOAT: return parse_number(p, out);
    case MX_TPL_TOKEN_LPAREN:
        MX_TRY(mx_tpl_parser_next(p));
        MX_TRY(mx_tpl_parse_tuple(p, &in_brackets, out));
        return mx_tpl_parser_expect(p, MX_TPL_TOKEN_RPAREN);
    case MX_TPL_TOKEN_LBRACKET: return parse_list(p, out);
    case MX_TPL_TOKEN_LBRACE: return parse_dict(p, out);
    default: return mx_tpl_parser_fail(p, p->token.line, "unexpected '%.*s'", MX_STR_ARG(token_text(&p->token)));
    }
}

static bool is_slice_end(const mx_tpl_parser *p)
{
    return p->token.kind == MX_TPL_TOKEN_RBRACKET || p->token.kind == MX_TPL_TOKEN_COMMA;
}

/* One subscript: an expression, or a slice with any of its three parts. */
static mx_status parse_subscribed(mx_tpl_parser *p, mx_tpl_node **out)
{
    mx_tpl_node *parts[3] = {NULL, NULL, NULL};
    const int32_t line = p->token.line;
    if (p->token.kind != MX_TPL_TOKEN_COLON) {
        MX_TRY(mx_tpl_parse_expression(p, &parts[0]));
        if (p->token.kind != MX_TPL_TOKEN_COLON) {
            *out = parts[0];
            return MX_OK;
        }
    }
    MX_TRY(mx_tpl_parser_next(p));
    if (p->token.kind != MX_TPL_TOKEN_COLON && !is_slice_end(p)) {
        MX_TRY(mx_tpl_parse_expression(p, &parts[1]));
    }
    if (p->token.kind == MX_TPL_TOKEN_COLON) {
        MX_TRY(mx_tpl_parser_next(p));
        if (!is_slice_end(p)) {
            MX_TRY(mx_tpl_parse_expression(p, &parts[2]));
        }
    }
    MX_TRY(mx_tpl_parser_new_expr(p, MX_TPL_NODE_SLICE, line, parts[0], parts[1], out));
    (*out)->as.expr.c = parts[2];
    return mx_tpl_parser_below(p, *out, parts[2]);
}

static mx_status parse_subscript(mx_tpl_parser *p, mx_tpl_node *of, mx_tpl_node **out)
{
    mx_tpl_node *key = NULL;
    const int32_t line = p->token.line;
    const bool is_dot = p->token.kind == MX_TPL_TOKEN_DOT;
    MX_TRY(mx_tpl_parser_next(p));
    if (is_dot && p->token.kind == MX_TPL_TOKEN_NAME) {
        MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_GETATTR, line, out));
        (*out)->as.use.of = of;
        (*out)->as.use.name = p->token.text;
        MX_TRY(mx_tpl_parser_below(p, *out, of));
        return mx_tpl_parser_next(p);
    }
    if (is_dot) {
        if (p->token.kind != MX_TPL_TOKEN_INTEGER) {
            return mx_tpl_parser_fail_token(p, "name or number");
        }
        MX_TRY(parse_number(p, &key));
        return mx_tpl_parser_new_expr(p, MX_TPL_NODE_GETITEM, line, of, key, out);
    }
    mx_tpl_node *keys = NULL;
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_TUPLE, line, &keys));
    while (p->token.kind != MX_TPL_TOKEN_RBRACKET) {
        if (keys->as.items.n) {
            MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_COMMA));
        }
        MX_TRY(parse_subscribed(p, &key));
        MX_TRY(mx_tpl_parser_push(p, keys, &keys->as.items, key));
    }
    MX_TRY(mx_tpl_parser_next(p));
    return mx_tpl_parser_new_expr(p, MX_TPL_NODE_GETITEM, line, of,
                                  keys->as.items.n == 1 ? keys->as.items.items[0] : keys, out);
}

mx_status mx_tpl_parser_limit(mx_tpl_parser *p, int32_t n, const char *what)
{
    return n < MX_TPL_MAX_NAMES ? MX_OK
                                : mx_tpl_parser_fail(p, p->token.line, "more than %d %s", MX_TPL_MAX_NAMES, what);
}

static mx_status fail_args(mx_tpl_parser *p, int32_t line)
{
    return mx_tpl_parser_fail(p, line, "invalid syntax for function call expression");
}

static mx_status push_named(mx_tpl_parser *p, mx_tpl_node *owner, mx_tpl_call_args *args, mx_str name)
{
    mx_tpl_node *value = NULL;
    MX_TRY(mx_tpl_parser_limit(p, args->named.n, "named arguments of a call"));
    for (int32_t i = 0; i < args->named.n; i++) {
        if (mx_str_eq(args->names[i], name)) {
            return mx_tpl_parser_fail(p, p->token.line, "keyword argument repeated: %.*s", MX_STR_ARG(name));
        }
    }
    const int32_t cap = args->named.cap;
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(mx_tpl_parse_expression(p, &value));
    MX_TRY(mx_tpl_parser_push(p, owner, &args->named, value));
    if (args->named.cap != cap) {
        mx_str *names = mx_arena_array(p->tree->arena, mx_str, args->named.cap);
        if (!names) {
            return mx_tpl_parser_no_memory(p);
        }
        for (int32_t i = 0; i + 1 < args->named.n; i++) {
            names[i] = args->names[i];
        }
        args->names = names;
    }
    args->names[args->named.n - 1] = name;
    return MX_OK;
}

/* One argument of a call: positional, named, *list or **mapping, in that order. */
static mx_status parse_arg(mx_tpl_parser *p, mx_tpl_node *owner, mx_tpl_call_args *args, int32_t line)
{
    mx_tpl_node *value = NULL;
    if (p->token.kind == MX_TPL_TOKEN_MUL || p->token.kind == MX_TPL_TOKEN_POW) {
        const bool is_star = p->token.kind == MX_TPL_TOKEN_MUL;
        if (args->star_star || (is_star && args->star)) {
            return fail_args(p, line);
        }
        MX_TRY(mx_tpl_parser_next(p));
        MX_TRY(mx_tpl_parse_expression(p, &value));
        *(is_star ? &args->star : &args->star_star) = value;
        return mx_tpl_parser_below(p, owner, value);
    }
    if (p->token.kind == MX_TPL_TOKEN_NAME) {
        MX_TRY(mx_tpl_parser_look(p));
        if (p->ahead.kind == MX_TPL_TOKEN_ASSIGN) {
            return args->star_star ? fail_args(p, line) : push_named(p, owner, args, p->token.text);
        }
    }
    if (args->star || args->star_star || args->named.n) {
        return fail_args(p, line);
    }
    MX_TRY(mx_tpl_parse_expression(p, &value));
    return mx_tpl_parser_push(p, owner, &args->pos, value);
}

static mx_status parse_call_args(mx_tpl_parser *p, mx_tpl_node *owner)
{
    const int32_t line = p->token.line;
    mx_tpl_call_args *args = mx_arena_new(p->tree->arena, mx_tpl_call_args);
    if (!args) {
        return mx_tpl_parser_no_memory(p);
    }
    owner->as.use.args = args;
    MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_LPAREN));
    for (bool needs_comma = false; p->token.kind != MX_TPL_TOKEN_RPAREN; needs_comma = true) {
        if (needs_comma) {
            MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_COMMA));
            if (p->token.kind == MX_TPL_TOKEN_RPAREN) {
                break;
            }
        }
        MX_TRY(parse_arg(p, owner, args, line));
    }
    return mx_tpl_parser_next(p);
}

static mx_status parse_call(mx_tpl_parser *p, mx_tpl_node *of, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_CALL, p->token.line, out));
    (*out)->as.use.of = of;
    MX_TRY(mx_tpl_parser_below(p, *out, of));
    return parse_call_args(p, *out);
}

static mx_status parse_postfix(mx_tpl_parser *p, mx_tpl_node **node)
{
    for (;;) {
        if (p->token.kind == MX_TPL_TOKEN_DOT || p->token.kind == MX_TPL_TOKEN_LBRACKET) {
            MX_TRY(parse_subscript(p, *node, node));
        } else if (p->token.kind == MX_TPL_TOKEN_LPAREN) {
            MX_TRY(parse_call(p, *node, node));
        } else {
            return MX_OK;
        }
    }
}

/* Names of filters and tests may have dots. */
static mx_status parse_dotted(mx_tpl_parser *p, mx_str *name)
{
    MX_TRY(mx_tpl_parser_expect_name(p, name));
    while (p->token.kind == MX_TPL_TOKEN_DOT) {
        mx_str part;
        MX_TRY(mx_tpl_parser_next(p));
        MX_TRY(mx_tpl_parser_expect_name(p, &part));
        const char *both = mx_arena_printf(p->tree->arena, "%.*s.%.*s", MX_STR_ARG(*name), MX_STR_ARG(part));
        if (!both) {
            return mx_tpl_parser_no_memory(p);
        }
        *name = mx_str_from(both);
    }
    return MX_OK;
}

mx_status mx_tpl_parse_filters(mx_tpl_parser *p, bool begins_inline, mx_tpl_node **node)
{
    while (p->token.kind == MX_TPL_TOKEN_PIPE || begins_inline) {
        if (!begins_inline) {
            MX_TRY(mx_tpl_parser_next(p));
        }
        begins_inline = false;
        mx_tpl_node *of = *node;
        MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_FILTER, p->token.line, node));
        (*node)->as.use.of = of;
        MX_TRY(mx_tpl_parser_below(p, *node, of));
        MX_TRY(parse_dotted(p, &(*node)->as.use.name));
        if (p->token.kind == MX_TPL_TOKEN_LPAREN) {
            MX_TRY(parse_call_args(p, *node));
        }
    }
    return MX_OK;
}

/* Whether the token begins an argument of a test that is written without brackets: `is divisibleby 3`. */
static bool begins_test_arg(const mx_tpl_parser *p)
{
    switch (p->token.kind) {
    case MX_TPL_TOKEN_NAME:
        return !mx_tpl_parser_at_name(p, "else") && !mx_tpl_parser_at_name(p, "or") && !mx_tpl_parser_at_name(p, "and");
    case MX_TPL_TOKEN_STRING:
    case MX_TPL_TOKEN_INTEGER:
    case MX_TPL_TOKEN_FLOAT:
    case MX_TPL_TOKEN_LBRACKET:
    case MX_TPL_TOKEN_LBRACE: return true;
    default: return false;
    }
}

static mx_status parse_test(mx_tpl_parser *p, mx_tpl_node **node)
{
    mx_tpl_node *of = *node;
    const int32_t line = p->token.line;
    bool is_negated = false;
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(mx_tpl_parser_skip_name(p, "not", &is_negated));
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_TEST, line, node));
    (*node)->as.use.of = of;
    MX_TRY(mx_tpl_parser_below(p, *node, of));
    MX_TRY(parse_dotted(p, &(*node)->as.use.name));
    if (p->token.kind == MX_TPL_TOKEN_LPAREN) {
        MX_TRY(parse_call_args(p, *node));
    } else if (begins_test_arg(p)) {
        if (mx_tpl_parser_at_name(p, "is")) {
            return mx_tpl_parser_fail(p, p->token.line, "you cannot chain multiple tests with is");
        }
        mx_tpl_node *arg = NULL;
        MX_TRY(mx_tpl_parse_primary(p, false, &arg));
        MX_TRY(parse_postfix(p, &arg));
        mx_tpl_call_args *args = mx_arena_new(p->tree->arena, mx_tpl_call_args);
        if (!args) {
            return mx_tpl_parser_no_memory(p);
        }
        (*node)->as.use.args = args;
        MX_TRY(mx_tpl_parser_push(p, *node, &args->pos, arg));
    }
    return is_negated ? mx_tpl_parser_new_expr(p, MX_TPL_NODE_NOT, line, *node, NULL, node) : MX_OK;
}

static mx_status parse_filter_expr(mx_tpl_parser *p, mx_tpl_node **node)
{
    for (;;) {
        if (p->token.kind == MX_TPL_TOKEN_PIPE) {
            MX_TRY(mx_tpl_parse_filters(p, false, node));
        } else if (mx_tpl_parser_at_name(p, "is")) {
            MX_TRY(parse_test(p, node));
        } else if (p->token.kind == MX_TPL_TOKEN_LPAREN) {
            MX_TRY(parse_call(p, *node, node));
        } else {
            return MX_OK;
        }
    }
}

mx_status mx_tpl_parse_unary(mx_tpl_parser *p, bool with_filter, mx_tpl_node **out)
{
    const int32_t line = p->token.line;
    MX_TRY(mx_tpl_parser_deeper(p));
    if (p->token.kind == MX_TPL_TOKEN_SUB || p->token.kind == MX_TPL_TOKEN_ADD) {
        const mx_tpl_op op = p->token.kind == MX_TPL_TOKEN_SUB ? MX_TPL_OP_SUB : MX_TPL_OP_ADD;
        mx_tpl_node *of = NULL;
        MX_TRY(mx_tpl_parser_next(p));
        MX_TRY(mx_tpl_parse_unary(p, false, &of));
        MX_TRY(mx_tpl_parser_new_expr(p, MX_TPL_NODE_UNARY, line, of, NULL, out));
        (*out)->op = (uint8_t)op;
    } else {
        MX_TRY(mx_tpl_parse_primary(p, false, out));
    }
    p->depth--;
    MX_TRY(parse_postfix(p, out));
    return with_filter ? parse_filter_expr(p, out) : MX_OK;
}
