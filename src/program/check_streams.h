/* check_streams.h - checks of the operations on several values side by side; for check.c. */
#ifndef MX_PROGRAM_CHECK_STREAMS_H
#define MX_PROGRAM_CHECK_STREAMS_H

#include "program/program.h"

/* The first thing that does not fit, or NULL. */
const char *mx_check_concat(const mx_program *p, const mx_op *op);
const char *mx_check_mix_streams(const mx_program *p, const mx_op *op);
const char *mx_check_add_streams(const mx_program *p, const mx_op *op);

#endif
