/* char_tables.h - the tables of char_tables.c, which tools/template_chars.py makes. */
#ifndef MX_TEXT_TEMPLATE_CHAR_TABLES_H
#define MX_TEXT_TEMPLATE_CHAR_TABLES_H

#include <stddef.h>
#include <stdint.h>

/* Characters first to last; ranges are in order. */
typedef struct mx_tpl_char_range {
    int32_t first;
    int32_t last;
} mx_tpl_char_range;

/* Every step-th character from first to last becomes itself + delta, or, where to[0] is not 0, the characters of to. */
typedef struct mx_tpl_case_run {
    int32_t first;
    int32_t last;
    int32_t step;
    int32_t delta;
    int32_t to[3];
} mx_tpl_case_run;

#define MX_TPL_RANGES(name)                         \
    extern const mx_tpl_char_range mx_tpl_##name[]; \
    extern const size_t mx_tpl_n_##name
MX_TPL_RANGES(other_lower);
MX_TPL_RANGES(other_upper);
MX_TPL_RANGES(other_digit);
MX_TPL_RANGES(other_numeric);
MX_TPL_RANGES(id_start);
MX_TPL_RANGES(id_part);
#undef MX_TPL_RANGES

#define MX_TPL_RUNS(name)                         \
    extern const mx_tpl_case_run mx_tpl_##name[]; \
    extern const size_t mx_tpl_n_##name
MX_TPL_RUNS(upper_runs);
MX_TPL_RUNS(lower_runs);
MX_TPL_RUNS(title_runs);
MX_TPL_RUNS(fold_runs);
#undef MX_TPL_RUNS

#endif
