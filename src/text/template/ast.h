/* ast.h - what a parsed template looks like.
 *
 * The lexer makes tokens, the parser makes nodes in the template's arena, and the scope pass gives every name its
 * place: (function, slot). After that the tree does not change and any number of threads may walk it.
 */
#ifndef MX_TEXT_TEMPLATE_AST_H
#define MX_TEXT_TEMPLATE_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "text/template/value.h"

typedef struct mx_tpl_node mx_tpl_node;
typedef struct mx_tpl_func mx_tpl_func;

/* kind, name in messages. The first group are expressions, the second statements. */
#define MX_TPL_NODE_LIST(X)           \
    X(CONST, "constant")              \
    X(NAME, "name")                   \
    X(NSREF, "namespace attribute")   \
    X(TUPLE, "tuple")                 \
    X(LIST, "list")                   \
    X(DICT, "dict")                   \
    X(UNARY, "sign")                  \
    X(BINARY, "operator")             \
    X(AND, "and")                     \
    X(OR, "or")                       \
    X(NOT, "not")                     \
    X(CONCAT, "~")                    \
    X(COMPARE, "comparison")          \
    X(COND, "inline if")              \
    X(GETATTR, "attribute")           \
    X(GETITEM, "subscript")           \
    X(SLICE, "slice")                 \
    X(CALL, "call")                   \
    X(FILTER, "filter")               \
    X(TEST, "test")                   \
    X(OUTPUT, "{{ }}")                \
    X(DATA, "text")                   \
    X(IF, "{% if %}")                 \
    X(FOR, "{% for %}")               \
    X(SET, "{% set %}")               \
    X(SET_BLOCK, "{% set %} block")   \
    X(MACRO, "{% macro %}")           \
    X(CALL_BLOCK, "{% call %}")       \
    X(GENERATION, "{% generation %}") \
    X(FILTER_BLOCK, "{% filter %}")   \
    X(WITH, "{% with %}")             \
    X(AUTOESCAPE, "{% autoescape %}") \
    X(BLOCK, "{% block %}")           \
    X(BREAK, "{% break %}")           \
    X(CONTINUE, "{% continue %}")     \
    X(OTHER, "tag for other templates")

typedef enum mx_tpl_node_kind {
#define X(name, text) MX_TPL_NODE_##name,
    MX_TPL_NODE_LIST(X)
#undef X
        MX_TPL_NODE_COUNT
} mx_tpl_node_kind;

typedef enum mx_tpl_op {
    MX_TPL_OP_ADD,
    MX_TPL_OP_SUB,
    MX_TPL_OP_MUL,
    MX_TPL_OP_DIV,
    MX_TPL_OP_FLOORDIV,
    MX_TPL_OP_MOD,
    MX_TPL_OP_POW,
    MX_TPL_OP_EQ,
    MX_TPL_OP_NE,
    MX_TPL_OP_LT,
    MX_TPL_OP_LE,
    MX_TPL_OP_GT,
    MX_TPL_OP_GE,
    MX_TPL_OP_IN,
    MX_TPL_OP_NOT_IN,
} mx_tpl_op;

/* A list of nodes: a body, arguments, items. */
typedef struct mx_tpl_nodes {
    mx_tpl_node **items;
    int32_t n;
    int32_t cap;
} mx_tpl_nodes;

/* Where a variable lives: `hops` functions outwards from the one that runs, then a slot. */
typedef struct mx_tpl_ref {
    int32_t hops;
    int32_t slot;
} mx_tpl_ref;

/* How a scope fills a slot when it is entered. */
typedef enum mx_tpl_load_how {
    MX_TPL_LOAD_PARAM,   /* not at all: whoever enters has set it */
    MX_TPL_LOAD_CONTEXT, /* from the render's variables by name, or missing */
    MX_TPL_LOAD_ALIAS,   /* from a slot further out */
    MX_TPL_LOAD_MISSING, /* as not yet set */
} mx_tpl_load_how;

typedef struct mx_tpl_load {
    mx_tpl_load_how how;
    int32_t slot;
    mx_tpl_ref from; /* ALIAS */
    mx_str name;
} mx_tpl_load;

typedef struct mx_tpl_scope {
    mx_tpl_load *loads;
    int32_t n_loads;
} mx_tpl_scope;

/* What has slots of its own: the template, a macro, a call block, a recursive loop, a block. */
struct mx_tpl_func {
    mx_str name; /* of a macro or block; ptr NULL for a call block */
    int32_t line;
    int32_t n_slots;
    mx_tpl_nodes args;     /* NAME nodes */
    mx_tpl_nodes defaults; /* of the last arguments */
    int32_t *arg_slots;
    int32_t caller_slot; /* -1 where the body does not use it */
    int32_t kwargs_slot;
    int32_t varargs_slot;
    int32_t self_slot;    /* the template and blocks; -1 where not used */
    bool explicit_caller; /* an argument is named caller */
    mx_tpl_scope scope;
    mx_tpl_scope shared; /* scoped block: the variables around it that it sees */
    mx_tpl_nodes body;
};

/* Arguments of a call, a filter or a test. */
typedef struct mx_tpl_call_args {
    mx_tpl_nodes pos;
    mx_tpl_nodes named;     /* values */
    mx_str *names;          /* one for each of named */
    mx_tpl_node *star;      /* *args, or NULL */
    mx_tpl_node *star_star; /* **kwargs, or NULL */
} mx_tpl_call_args;

typedef struct mx_tpl_filter mx_tpl_filter;

struct mx_tpl_node {
    uint8_t kind; /* mx_tpl_node_kind */
    uint8_t op;   /* BINARY, UNARY: mx_tpl_op */
    bool flag; /* FOR: recursive; BLOCK: scoped; SET, SET_BLOCK, MACRO: of the top level; GETITEM, CONCAT: constant.c */
    int32_t line;
    int32_t height; /* nodes on the longest way down, itself counted */
    union {
        mx_tpl_value value; /* CONST, DATA */
        struct {
            mx_str name;
            mx_tpl_ref ref;
            mx_str attr; /* NSREF */
        } name;
        mx_tpl_nodes items; /* TUPLE, LIST, DICT (key, value, key, ...), CONCAT, OUTPUT */
        struct {
            mx_tpl_node *a;
            mx_tpl_node *b;
            mx_tpl_node *c;
        } expr; /* UNARY a; BINARY a b; NOT a; COND: test a, then b, else c or NULL;
                   SLICE start stop step, each may be NULL; GETITEM a b */
        struct {
            mx_tpl_node *first;
            mx_tpl_nodes rest;
            uint8_t *ops; /* one for each of rest */
        } compare;
        struct {
            mx_tpl_node *of;
            mx_str name;               /* attribute, filter or test */
            const mx_tpl_filter *what; /* FILTER, TEST; NULL: fails when it is reached */
            mx_tpl_call_args *args;    /* CALL, FILTER, TEST; NULL: none */
        } use;                         /* GETATTR, CALL, FILTER, TEST */
        struct {
            mx_tpl_node *test;
            mx_tpl_nodes body;
            mx_tpl_nodes elifs; /* IF nodes */
            mx_tpl_nodes otherwise;
        } cond;                  /* IF */
        struct mx_tpl_for *loop; /* FOR */
        struct {
            mx_tpl_node *target;
            mx_tpl_node *value;    /* SET: an expression; SET_BLOCK: filters of the text, or NULL */
            mx_tpl_node *captured; /* SET_BLOCK: the NAME at the bottom of the filters that stands for the text */
            mx_tpl_nodes body;
            mx_tpl_scope scope; /* SET_BLOCK */
        } set;
        struct {
            mx_tpl_func *func;
            mx_tpl_node *call; /* CALL_BLOCK */
            mx_tpl_ref ref;    /* MACRO: the variable */
        } macro;               /* MACRO, CALL_BLOCK, GENERATION, BLOCK */
        struct {
            mx_tpl_nodes targets;  /* WITH */
            mx_tpl_nodes values;   /* WITH */
            mx_tpl_node *expr;     /* FILTER_BLOCK: filters of the text; AUTOESCAPE: the switch */
            mx_tpl_node *captured; /* FILTER_BLOCK: as above */
            mx_tpl_nodes body;
            mx_tpl_scope scope;
        } block; /* FILTER_BLOCK, WITH, AUTOESCAPE */
    } as;
};

typedef struct mx_tpl_for {
    mx_tpl_node *target;
    mx_tpl_node *iter;
    mx_tpl_node *test;        /* NULL: none */
    mx_tpl_node *test_target; /* the target again, with the slots of the test's own scope */
    mx_tpl_nodes body;
    mx_tpl_nodes otherwise;
    mx_tpl_scope scope;
    mx_tpl_scope test_scope;
    mx_tpl_scope else_scope;
    int32_t loop_slot; /* -1 where `loop` is not used */
    mx_tpl_func *func; /* recursive loops run as a function of their own */
} mx_tpl_for;

/* A whole template. */
typedef struct mx_tpl_tree {
    mx_arena *arena;
    const char *name;
    mx_tpl_func root;
    mx_tpl_nodes blocks; /* BLOCK nodes; filled by the parser */
} mx_tpl_tree;

const char *mx_tpl_node_text(const mx_tpl_node *node);

/* Deepest nesting of nodes that the parser makes, as everything after it recurses over them. Python's own compiler
 * gives up at 100 tags in tags, 70 brackets in brackets and 200 operators in a row. */
#define MX_TPL_MAX_NESTING 250

#endif
