/* strftime.h - dates for strftime_now. */
#ifndef MX_TEXT_TEMPLATE_STRFTIME_H
#define MX_TEXT_TEMPLATE_STRFTIME_H

#include "text/template/run.h"

/* Puts the time in a format as Python's datetime.strftime does in the C locale, whatever the locale is here. */
mx_status mx_tpl_put_time(mx_tpl_run *run, const mx_template_clock *time, mx_str format) MX_NODISCARD;

#endif
