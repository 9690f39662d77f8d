/* check_recurrent.h - the checks of operations that look at views and states; for check.c alone. */
#ifndef MX_PROGRAM_CHECK_RECURRENT_H
#define MX_PROGRAM_CHECK_RECURRENT_H

#include "program/program.h"

/* The first thing that does not fit, or NULL. Values and their order have been checked. */
const char *mx_check_slice(const mx_program *p, const mx_op *op);
const char *mx_check_conv(const mx_program *p, const mx_op *op);
const char *mx_check_ssm(const mx_program *p, const mx_op *op);
const char *mx_check_delta(const mx_program *p, const mx_op *op);
const char *mx_check_lru(const mx_program *p, const mx_op *op);

#endif
