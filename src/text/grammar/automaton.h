/* automaton.h - a grammar compiled: states that read a byte, fork, call a rule or return. */
#ifndef MX_TEXT_GRAMMAR_AUTOMATON_H
#define MX_TEXT_GRAMMAR_AUTOMATON_H

#include "text/grammar/grammar_ast.h"

#define MX_AUTOMATON_MAX_STATES (1 << 19)

typedef enum mx_gstate_kind {
    MX_GSTATE_BYTE,   /* a byte from lo to hi leads to next */
    MX_GSTATE_FORK,   /* next and other */
    MX_GSTATE_CALL,   /* goes to other and, when that has returned, to next */
    MX_GSTATE_RETURN, /* the end of a rule */
} mx_gstate_kind;

typedef struct mx_gstate {
    uint8_t kind;
    uint8_t lo, hi;
    int32_t next;
    int32_t other;
} mx_gstate;

typedef struct mx_automaton {
    mx_gstate *states; /* owned [n_states] */
    size_t cap;
    int32_t n_states;
    int32_t start;
} mx_automaton;

/* Compiles the rules that the builder holds. MX_INVALID when there are too many states; MX_NO_MEMORY. */
mx_status mx_automaton_init(mx_automaton *a, const mx_grammar_builder *b, int32_t i_root, mx_error *err) MX_NODISCARD;

/* A zeroed automaton is fine. */
void mx_automaton_deinit(mx_automaton *a);

#endif
