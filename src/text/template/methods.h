/* methods.h - the tables of methods, one for each kind of value that has some. A row whose n_required is negative is a
 * property: reading it calls it. */
#ifndef MX_TEXT_TEMPLATE_METHODS_H
#define MX_TEXT_TEMPLATE_METHODS_H

#include "text/template/filters.h"

#define MX_TPL_PROPERTY (-1)

extern const mx_tpl_table mx_tpl_str_text_methods;   /* methods_str.c: those that make text */
extern const mx_tpl_table mx_tpl_str_search_methods; /* methods_str_search.c: those that look into text */
extern const mx_tpl_table mx_tpl_int_methods;        /* methods_number.c */
extern const mx_tpl_table mx_tpl_float_methods;
extern const mx_tpl_table mx_tpl_dict_methods;     /* methods_container.c */
extern const mx_tpl_table mx_tpl_sequence_methods; /* lists, tuples and ranges */
extern const mx_tpl_table mx_tpl_range_methods;
extern const mx_tpl_table mx_tpl_view_methods;
extern const mx_tpl_table mx_tpl_bytes_methods;
extern const mx_tpl_table mx_tpl_cycler_methods; /* methods_object.c */
extern const mx_tpl_table mx_tpl_joiner_methods;
extern const mx_tpl_table mx_tpl_macro_methods;
extern const mx_tpl_table mx_tpl_block_methods;

#endif
