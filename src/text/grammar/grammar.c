/* grammar.c - a reader for each notation, one compiler, and a first look for rules that begin with themselves. */
#include "text/grammar/grammar.h"

#include "base/mem.h"
#include "text/grammar/gbnf.h"
#include "text/grammar/grammar_private.h"
#include "text/grammar/grammar_regex.h"
#include "text/grammar/json_schema.h"

static mx_status (*const readers[])(mx_grammar_builder *b, mx_str text, int32_t *i_root, mx_error *err) = {
    [MX_GRAMMAR_GBNF] = mx_gbnf_read,
    [MX_GRAMMAR_REGEX] = mx_grammar_regex_read,
    [MX_GRAMMAR_JSON_SCHEMA] = mx_json_schema_read,
};

mx_status mx_grammar_open(mx_grammar_kind kind, mx_str text, mx_grammar **out, mx_error *err)
{
    mx_status st;
    int32_t i_root = -1;
    mx_grammar_builder b;
    *out = NULL;
    mx_grammar_builder_init(&b);
    mx_grammar *grammar = (mx_grammar *)mx_calloc(1, sizeof *grammar);
    if (!grammar) {
        st = mx_fail_no_memory(err, sizeof *grammar, "a grammar");
        goto done;
    }
    MX_TRY_OR(done, st, readers[kind](&b, text, &i_root, err));
    MX_TRY_OR(done, st, mx_grammar_builder_status(&b, err));
    MX_TRY_OR(done, st, mx_automaton_init(&grammar->automaton, &b, i_root, err));
    *out = grammar;
    grammar = NULL;
done:
    mx_grammar_close(grammar);
    mx_grammar_builder_deinit(&b);
    return st;
}

void mx_grammar_close(mx_grammar *grammar)
{
    if (grammar) {
        mx_automaton_deinit(&grammar->automaton);
        mx_free(grammar);
    }
}
