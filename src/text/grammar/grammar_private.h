/* grammar_private.h - what a compiled grammar is. */
#ifndef MX_TEXT_GRAMMAR_GRAMMAR_PRIVATE_H
#define MX_TEXT_GRAMMAR_GRAMMAR_PRIVATE_H

#include "text/grammar/automaton.h"
#include "text/grammar/grammar.h"

struct mx_grammar {
    mx_automaton automaton;
};

#endif
