/* rewrite.h - what passes ask of a program and do to it. Questions are answered by looking through the list: a program
 * has some thousand operations and passes run once, at load. */
#ifndef MX_PROGRAM_REWRITE_H
#define MX_PROGRAM_REWRITE_H

#include "program/program.h"

#define MX_NO_OP (-1)

/* Room that a pass wants behind the lists of a copy. */
typedef struct mx_rewrite_room {
    int32_t n_values;
    int32_t n_ops;
    int32_t n_weights;
} mx_rewrite_room;

/* A program of its own like this one, for passes that leave theirs as it is; it borrows weight bytes alone.
 * MX_NO_MEMORY.
 */
mx_status mx_rewrite_copy(const mx_program *program, mx_rewrite_room room, mx_program *out, mx_error *err) MX_NODISCARD;

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
