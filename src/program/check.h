/* check.h - whether a program is well formed: every operation reads values that were made before, shapes fit, places
 * exist. A failure is a mistake of a family or a pass, so the sentence names the operation. */
#ifndef MX_PROGRAM_CHECK_H
#define MX_PROGRAM_CHECK_H

#include "program/program.h"

/* MX_FORMAT naming the operation and what does not fit; MX_NO_MEMORY. */
mx_status mx_program_check(const mx_program *program, mx_error *err) MX_NODISCARD;

#endif
