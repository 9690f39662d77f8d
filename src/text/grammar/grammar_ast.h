/* grammar_ast.h - grammars before they are compiled: what the readers of GBNF, regular expressions and JSON schemas
 * build.
 *
 * A node matches texts. Nodes live in the builder's arena; a node may be used in several places. Recursion goes through
 * rules alone, which are named by number, so the nodes themselves form no cycles.
 */
#ifndef MX_TEXT_GRAMMAR_GRAMMAR_AST_H
#define MX_TEXT_GRAMMAR_GRAMMAR_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#define MX_GRAMMAR_MAX_DEPTH     64 /* of parentheses, of a schema's nesting */
#define MX_GRAMMAR_MAX_RULES     16384
#define MX_GRAMMAR_MAX_BYTES     ((size_t)16 << 20) /* of the nodes */
#define MX_GRAMMAR_NO_LIMIT      (-1)
#define MX_GRAMMAR_MAX_CODEPOINT 0x10FFFF

typedef enum mx_gnode_kind {
    MX_GNODE_BYTES,  /* exactly these; none: the empty text */
    MX_GNODE_CLASS,  /* one character out of the ranges */
    MX_GNODE_SEQ,    /* the items, one after the other */
    MX_GNODE_ALT,    /* one of the items */
    MX_GNODE_REPEAT, /* the item, from `least` to `most` times */
    MX_GNODE_REF,    /* what the rule matches */
} mx_gnode_kind;

typedef struct mx_cp_range {
    int32_t first, last; /* code points, both included */
} mx_cp_range;

typedef struct mx_gnode mx_gnode;
struct mx_gnode {
    mx_gnode_kind kind;
    mx_str bytes;
    mx_cp_range *ranges; /* [n_ranges] rising, apart */
    int32_t n_ranges;
    mx_gnode **items; /* [n_items] */
    int32_t n_items;
    int32_t cap_items;
    int32_t least, most; /* most MX_GRAMMAR_NO_LIMIT: any number */
    int32_t i_rule;
};

typedef struct mx_grule {
    mx_str name;
    mx_gnode *node; /* NULL until it is defined */
} mx_grule;

/* The first failed allocation makes every later call give NULL, and the reader ends with mx_builder_status. */
typedef struct mx_grammar_builder {
    mx_arena arena;
    mx_grule *rules; /* owned [n_rules] */
    size_t cap_rules;
    int32_t n_rules;
    bool has_failed;
} mx_grammar_builder;

void mx_grammar_builder_init(mx_grammar_builder *b);
void mx_grammar_builder_deinit(mx_grammar_builder *b);

/* MX_OK, or MX_INVALID when the grammar was too large or memory ran out. */
mx_status mx_grammar_builder_status(const mx_grammar_builder *b, mx_error *err) MX_NODISCARD;

/* Nodes. NULL items are passed over, so that a failure need not be looked at in between. */
mx_gnode *mx_gnode_bytes(mx_grammar_builder *b, mx_str bytes);
mx_gnode *mx_gnode_text(mx_grammar_builder *b, const char *text);
mx_gnode *mx_gnode_class(mx_grammar_builder *b, const mx_cp_range *ranges, int32_t n_ranges, bool is_negated);
mx_gnode *mx_gnode_list(mx_grammar_builder *b, mx_gnode_kind kind); /* SEQ or ALT, empty */
void mx_gnode_add(mx_grammar_builder *b, mx_gnode *list, mx_gnode *item);
mx_gnode *mx_gnode_repeat(mx_grammar_builder *b, mx_gnode *item, int32_t least, int32_t most);
mx_gnode *mx_gnode_ref(mx_grammar_builder *b, int32_t i_rule);

/* A rule's number, new where the name is; -1 after a failure. */
int32_t mx_grammar_rule(mx_grammar_builder *b, mx_str name);
/* A new rule without a name that could be found. */
int32_t mx_grammar_new_rule(mx_grammar_builder *b, mx_gnode *node);

#endif
