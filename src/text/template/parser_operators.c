/* parser_operators.c - expressions from `**` up: the binary operators, comparisons, logic, the inline if and tuples. */
#include "text/template/parser_parts.h"

typedef mx_status (*parse_fn)(mx_tpl_parser *p, mx_tpl_node **out);

typedef struct binary_op {
    mx_tpl_token_kind token;
    mx_tpl_op op;
} binary_op;

/* level (op level)* with operators of one precedence, from left to right */
static mx_status parse_binary(mx_tpl_parser *p, parse_fn level, const binary_op *ops, size_t n_ops, mx_tpl_node **out)
{
    int32_t line = p->token.line;
    MX_TRY(level(p, out));
    for (;;) {
        size_t i = 0;
        while (i < n_ops && p->token.kind != ops[i].token) {
            i++;
        }
        if (i == n_ops) {
            return MX_OK;
        }
        mx_tpl_node *right = NULL;
        MX_TRY(mx_tpl_parser_next(p));
        MX_TRY(level(p, &right));
        MX_TRY(mx_tpl_parser_new_expr(p, MX_TPL_NODE_BINARY, line, *out, right, out));
        (*out)->op = (uint8_t)ops[i].op;
        line = p->token.line;
    }
}

static mx_status parse_signed(mx_tpl_parser *p, mx_tpl_node **out)
{
    return mx_tpl_parse_unary(p, true, out);
}

static mx_status parse_power(mx_tpl_parser *p, mx_tpl_node **out)
{
    static const binary_op ops[] = {{MX_TPL_TOKEN_POW, MX_TPL_OP_POW}};
    return parse_binary(p, parse_signed, ops, MX_COUNTOF(ops), out);
}

static mx_status parse_product(mx_tpl_parser *p, mx_tpl_node **out)
{
    static const binary_op ops[] = {{MX_TPL_TOKEN_MUL, MX_TPL_OP_MUL},
                                    {MX_TPL_TOKEN_DIV, MX_TPL_OP_DIV},
                                    {MX_TPL_TOKEN_FLOORDIV, MX_TPL_OP_FLOORDIV},
                                    {MX_TPL_TOKEN_MOD, MX_TPL_OP_MOD}};
    return parse_binary(p, parse_power, ops, MX_COUNTOF(ops), out);
}

static mx_status parse_concat(mx_tpl_parser *p, mx_tpl_node **out)
{
    mx_tpl_node *first = NULL;
    const int32_t line = p->token.line;
    MX_TRY(parse_product(p, &first));
    if (p->token.kind != MX_TPL_TOKEN_TILDE) {
        *out = first;
        return MX_OK;
    }
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_CONCAT, line, out));
    MX_TRY(mx_tpl_parser_push(p, *out, &(*out)->as.items, first));
    while (p->token.kind == MX_TPL_TOKEN_TILDE) {
        mx_tpl_node *next = NULL;
        MX_TRY(mx_tpl_parser_next(p));
        MX_TRY(parse_product(p, &next));
        MX_TRY(mx_tpl_parser_push(p, *out, &(*out)->as.items, next));
    }
    return MX_OK;
}

static mx_status parse_sum(mx_tpl_parser *p, mx_tpl_node **out)
{
    static const binary_op ops[] = {{MX_TPL_TOKEN_ADD, MX_TPL_OP_ADD}, {MX_TPL_TOKEN_SUB, MX_TPL_OP_SUB}};
    return parse_binary(p, parse_concat, ops, MX_COUNTOF(ops), out);
}

/* Skips a comparison operator if there is one; *op is then set. */
static mx_status take_comparison(mx_tpl_parser *p, mx_tpl_op *op, bool *taken)
{
    static const binary_op ops[] = {{MX_TPL_TOKEN_EQ, MX_TPL_OP_EQ}, {MX_TPL_TOKEN_NE, MX_TPL_OP_NE},
                                    {MX_TPL_TOKEN_LT, MX_TPL_OP_LT}, {MX_TPL_TOKEN_LTEQ, MX_TPL_OP_LE},
                                    {MX_TPL_TOKEN_GT, MX_TPL_OP_GT}, {MX_TPL_TOKEN_GTEQ, MX_TPL_OP_GE}};
    *taken = true;
    for (size_t i = 0; i < MX_COUNTOF(ops); i++) {
        if (p->token.kind == ops[i].token) {
            *op = ops[i].op;
            return mx_tpl_parser_next(p);
        }
    }
    if (mx_tpl_parser_at_name(p, "in")) {
        *op = MX_TPL_OP_IN;
        return mx_tpl_parser_next(p);
    }
    if (mx_tpl_parser_at_name(p, "not")) {
        MX_TRY(mx_tpl_parser_look(p));
        if (p->ahead.kind == MX_TPL_TOKEN_NAME && mx_str_eq_cstr(p->ahead.text, "in")) {
            *op = MX_TPL_OP_NOT_IN;
            MX_TRY(mx_tpl_parser_next(p));
            return mx_tpl_parser_next(p);
        }
    }
    *taken = false;
    return MX_OK;
}

static mx_status parse_compare(mx_tpl_parser *p, mx_tpl_node **out)
{
    mx_tpl_node *first = NULL;
    mx_tpl_node *node = NULL;
    mx_tpl_op op = MX_TPL_OP_EQ;
    const int32_t line = p->token.line;
    MX_TRY(parse_sum(p, &first));
    *out = first;
    for (;;) {
        bool taken = false;
        mx_tpl_node *next = NULL;
        MX_TRY(take_comparison(p, &op, &taken));
        if (!taken) {
            return MX_OK;
        }
        if (!node) {
            MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_COMPARE, line, &node));
            node->as.compare.first = first;
            MX_TRY(mx_tpl_parser_below(p, node, first));
            *out = node;
        }
        MX_TRY(parse_sum(p, &next));
        const int32_t cap = node->as.compare.rest.cap;
        MX_TRY(mx_tpl_parser_push(p, node, &node->as.compare.rest, next));
        const int32_t n = node->as.compare.rest.n;
        if (node->as.compare.rest.cap != cap) {
            uint8_t *ops = mx_arena_alloc(p->tree->arena, (size_t)node->as.compare.rest.cap);
            if (!ops) {
                return mx_tpl_parser_no_memory(p);
            }
            for (int32_t i = 0; i + 1 < n; i++) {
                ops[i] = node->as.compare.ops[i];
            }
            node->as.compare.ops = ops;
        }
        node->as.compare.ops[n - 1] = (uint8_t)op;
    }
}

static mx_status parse_not(mx_tpl_parser *p, mx_tpl_node **out)
{
    if (!mx_tpl_parser_at_name(p, "not")) {
        return parse_compare(p, out);
    }
    mx_tpl_node *of = NULL;
    const int32_t line = p->token.line;
    MX_TRY(mx_tpl_parser_deeper(p));
    MX_TRY(mx_tpl_parser_next(p));
    MX_TRY(parse_not(p, &of));
    p->depth--;
    return mx_tpl_parser_new_expr(p, MX_TPL_NODE_NOT, line, of, NULL, out);
}

static mx_status parse_logic(mx_tpl_parser *p, parse_fn level, const char *word, mx_tpl_node_kind kind,
                             mx_tpl_node **out)
{
    int32_t line = p->token.line;
    MX_TRY(level(p, out));
    for (bool skipped = false;;) {
        mx_tpl_node *right = NULL;
        MX_TRY(mx_tpl_parser_skip_name(p, word, &skipped));
        if (!skipped) {
            return MX_OK;
        }
        MX_TRY(level(p, &right));
        MX_TRY(mx_tpl_parser_new_expr(p, kind, line, *out, right, out));
        line = p->token.line;
    }
}

static mx_status parse_and(mx_tpl_parser *p, mx_tpl_node **out)
{
    return parse_logic(p, parse_not, "and", MX_TPL_NODE_AND, out);
}

static mx_status parse_or(mx_tpl_parser *p, mx_tpl_node **out)
{
    return parse_logic(p, parse_and, "or", MX_TPL_NODE_OR, out);
}

static mx_status parse_condition(mx_tpl_parser *p, mx_tpl_node **out)
{
    int32_t line = p->token.line;
    MX_TRY(parse_or(p, out));
    for (bool skipped = false;;) {
        mx_tpl_node *test = NULL;
        mx_tpl_node *otherwise = NULL;
        MX_TRY(mx_tpl_parser_skip_name(p, "if", &skipped));
        if (!skipped) {
            return MX_OK;
        }
        MX_TRY(parse_or(p, &test));
        MX_TRY(mx_tpl_parser_skip_name(p, "else", &skipped));
        if (skipped) {
            MX_TRY(mx_tpl_parse_expression(p, &otherwise));
        }
        MX_TRY(mx_tpl_parser_new_expr(p, MX_TPL_NODE_COND, line, test, *out, out));
        (*out)->as.expr.c = otherwise;
        MX_TRY(mx_tpl_parser_below(p, *out, otherwise));
        line = p->token.line;
    }
}

mx_status mx_tpl_parse_expression(mx_tpl_parser *p, mx_tpl_node **out)
{
    MX_TRY(mx_tpl_parser_deeper(p));
    MX_TRY(parse_condition(p, out));
    p->depth--;
    return MX_OK;
}

static bool is_tuple_end(const mx_tpl_parser *p, const mx_tpl_tuple_rules *rules)
{
    return p->token.kind == MX_TPL_TOKEN_VARIABLE_END || p->token.kind == MX_TPL_TOKEN_BLOCK_END ||
           p->token.kind == MX_TPL_TOKEN_RPAREN || (rules->end && mx_tpl_parser_at_name(p, rules->end));
}

mx_status mx_tpl_parse_tuple(mx_tpl_parser *p, const mx_tpl_tuple_rules *rules, mx_tpl_node **out)
{
    mx_tpl_node *tuple = NULL;
    bool is_tuple = false;
    MX_TRY(mx_tpl_parser_new(p, MX_TPL_NODE_TUPLE, p->token.line, &tuple));
    for (;;) {
        mx_tpl_node *item = NULL;
        if (tuple->as.items.n) {
            MX_TRY(mx_tpl_parser_expect(p, MX_TPL_TOKEN_COMMA));
        }
        if (is_tuple_end(p, rules)) {
            break;
        }
        MX_TRY(rules->is_target      ? mx_tpl_parse_primary(p, rules->may_be_namespace, &item)
               : rules->no_condition ? parse_or(p, &item)
                                     : mx_tpl_parse_expression(p, &item));
        MX_TRY(mx_tpl_parser_push(p, tuple, &tuple->as.items, item));
        if (p->token.kind != MX_TPL_TOKEN_COMMA) {
            break;
        }
        is_tuple = true;
    }
    *out = !is_tuple && tuple->as.items.n == 1 ? tuple->as.items.items[0] : tuple;
    if (!is_tuple && tuple->as.items.n == 0 && !rules->may_be_empty) {
        return mx_tpl_parser_fail_token(p, "an expression");
    }
    return MX_OK;
}
