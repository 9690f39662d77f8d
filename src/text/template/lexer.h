/* lexer.h - a template's text as tokens. */
#ifndef MX_TEXT_TEMPLATE_LEXER_H
#define MX_TEXT_TEMPLATE_LEXER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "text/template/value.h"

/* kind, how it looks in messages */
#define MX_TPL_TOKEN_LIST(X)                      \
    X(EOF, "end of template")                     \
    X(DATA, "template data / text")               \
    X(VARIABLE_BEGIN, "begin of print statement") \
    X(VARIABLE_END, "end of print statement")     \
    X(BLOCK_BEGIN, "begin of statement block")    \
    X(BLOCK_END, "end of statement block")        \
    X(NAME, "name")                               \
    X(STRING, "string")                           \
    X(INTEGER, "integer")                         \
    X(FLOAT, "float")                             \
    X(ADD, "+")                                   \
    X(SUB, "-")                                   \
    X(DIV, "/")                                   \
    X(FLOORDIV, "//")                             \
    X(MUL, "*")                                   \
    X(MOD, "%")                                   \
    X(POW, "**")                                  \
    X(TILDE, "~")                                 \
    X(LBRACKET, "[")                              \
    X(RBRACKET, "]")                              \
    X(LPAREN, "(")                                \
    X(RPAREN, ")")                                \
    X(LBRACE, "{")                                \
    X(RBRACE, "}")                                \
    X(EQ, "==")                                   \
    X(NE, "!=")                                   \
    X(GT, ">")                                    \
    X(GTEQ, ">=")                                 \
    X(LT, "<")                                    \
    X(LTEQ, "<=")                                 \
    X(ASSIGN, "=")                                \
    X(DOT, ".")                                   \
    X(COLON, ":")                                 \
    X(PIPE, "|")                                  \
    X(COMMA, ",")                                 \
    X(SEMICOLON, ";")

/* Open brackets within one tag. */
#define MX_TPL_LEXER_NESTING 256

typedef enum mx_tpl_token_kind {
#define X(name, text) MX_TPL_TOKEN_##name,
    MX_TPL_TOKEN_LIST(X)
#undef X
        MX_TPL_TOKEN_COUNT
} mx_tpl_token_kind;

typedef struct mx_tpl_token {
    mx_tpl_token_kind kind;
    int32_t line;
    mx_str text;        /* DATA, NAME: the text; INTEGER: the digits as written, without "_" */
    mx_tpl_value value; /* STRING, FLOAT, and INTEGER within 64 bits (else MISSING) */
} mx_tpl_token;

typedef struct mx_tpl_lexer {
    mx_arena *arena;
    const char *name;
    mx_str source; /* newlines made \n, the last one dropped; in the arena */
    size_t pos;
    int32_t line;
    int state;          /* lexer.c */
    bool line_starting; /* what came before pos ends a line */
    bool has_pending;   /* a token that follows the one given last */
    mx_tpl_token pending;
    char closers[MX_TPL_LEXER_NESTING];
    int n_closers;
    mx_error *err;
} mx_tpl_lexer;

mx_status mx_tpl_lexer_init(mx_tpl_lexer *lexer, mx_arena *arena, mx_str source, const char *name,
                            mx_error *err) MX_NODISCARD;

/* MX_FORMAT for what is no token; EOF again and again at the end. */
mx_status mx_tpl_lexer_next(mx_tpl_lexer *lexer, mx_tpl_token *token) MX_NODISCARD;

const char *mx_tpl_token_text(mx_tpl_token_kind kind);

#endif
