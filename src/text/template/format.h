/* format.h - Python's three ways of putting values into text: %, str.format and format specifications. */
#ifndef MX_TEXT_TEMPLATE_FORMAT_H
#define MX_TEXT_TEMPLATE_FORMAT_H

#include "text/template/run.h"

/* template % values: values is a tuple, a mapping or a single value. */
mx_status mx_tpl_format_percent(mx_tpl_run *run, mx_tpl_value format, mx_tpl_value values,
                                mx_tpl_value *out) MX_NODISCARD;

/* template.format(*args, **kwargs). `mapping` (MISSING: none) is what format_map was given. */
mx_status mx_tpl_format_braces(mx_tpl_run *run, mx_tpl_value format, const mx_tpl_args *args, mx_tpl_value mapping,
                               mx_tpl_value *out) MX_NODISCARD;

/* Puts format(value, spec). */
mx_status mx_tpl_put_formatted(mx_tpl_run *run, mx_tpl_value value, mx_str spec) MX_NODISCARD;

/* Puts |d|, finite or not, in the manner of printf's e, f, g, E, F, G. `alternate` keeps the point and, for g,
 * zeros. */
mx_status mx_tpl_put_float_as(mx_tpl_run *run, double d, char type, int precision, bool alternate) MX_NODISCARD;

/* |d| * 10^scale of a finite d, rounded to an integer; ties go to the even one. */
mx_status mx_tpl_scale_float(mx_tpl_run *run, double d, int64_t scale, mx_tpl_value *out) MX_NODISCARD;

/* Puts |v| of an integer in base 2, 8, 10 or 16, without sign or prefix. */
mx_status mx_tpl_put_int_base(mx_tpl_run *run, mx_tpl_value v, int base, bool upper) MX_NODISCARD;

#endif
