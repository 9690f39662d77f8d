/* rewrite.h - what passes ask of a program and do to it. Questions are answered by looking through the list: a program
 * has some thousand operations and passes run once, at load. */
#ifndef MX_PROGRAM_REWRITE_H
#define MX_PROGRAM_REWRITE_H

#include "program/program.h"

#define MX_NO_OP (-1)

/* The operation that makes v, or MX_NO_OP (the program's input). */
int32_t mx_rewrite_find_maker(const mx_program *p, mx_value v);

/* How often v is read; being the program's output counts as once. */
int32_t mx_rewrite_count_reads(const mx_program *p, mx_value v);

/* The maker of v if it is of this kind and v is read once, else MX_NO_OP. */
int32_t mx_rewrite_find_sole(const mx_program *p, mx_value v, mx_op_kind kind);

/* Takes operation i_op out of the list; those behind it move up. */
void mx_rewrite_remove(mx_program *p, int32_t i_op);

/* Whether op is LINEAR or EXPERT_LINEAR as the builder makes them: one weight, no residual, nothing folded in. */
bool mx_rewrite_is_plain_linear(const mx_op *op);

#endif
