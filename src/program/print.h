/* print.h - a program as a table for people. */
#ifndef MX_PROGRAM_PRINT_H
#define MX_PROGRAM_PRINT_H

#include "base/buf.h"
#include "program/cost.h"

/* The machine that the roofline is for. */
typedef struct mx_print_settings {
    mx_cost_step step;
    double bytes_per_second; /* of memory */
    double flops_per_second;
} mx_print_settings;

/* Appends one line an operation: its place, kind and parameters, its values with their shapes, the bytes it must move,
 * its flops, and the shortest time that the machine allows: the larger of bytes / bytes_per_second and
 * flops / flops_per_second. A line of totals ends the table. The statuses of mx_buf_append. */
mx_status mx_program_print(const mx_program *program, const mx_print_settings *settings, mx_buf *out,
                           mx_error *err) MX_NODISCARD;

#endif
