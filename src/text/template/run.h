/* run.h - one render under way, and the operations on values that its parts share.
 *
 * Every operation returns a status; on failure the sentence is in run->err already and the caller only passes it on.
 * Texts are put together at the end of run->text: note mx_tpl_mark, put pieces, and mx_tpl_take them as a string, which
 * copies them into the arena and forgets them. The output itself is what is left at the bottom.
 */
#ifndef MX_TEXT_TEMPLATE_RUN_H
#define MX_TEXT_TEMPLATE_RUN_H

#include "base/arena.h"
#include "base/buf.h"
#include "text/template/ast.h"
#include "text/template/template.h"
#include "text/template/value.h"

#define MX_TPL_MAX_VALUE_DEPTH 200               /* lists in lists that are printed or compared */
#define MX_TPL_MAX_STR         ((size_t)1 << 30) /* bytes of one string */
#define MX_TPL_N_GROWING       4

/* Slots of a function that runs; macros keep their outer frame alive. */
typedef struct mx_tpl_frame {
    struct mx_tpl_frame *outer;
    mx_tpl_value *slots;
    const mx_tpl_func *func;
} mx_tpl_frame;

/* Memory of a string at whose end there may be room, so that adding to the string again and again is not quadratic. */
typedef struct mx_tpl_growing {
    char *data;
    size_t len;
    size_t cap;
} mx_tpl_growing;

struct mx_tpl_run {
    const mx_tpl_tree *tree;
    mx_arena arena;
    mx_buf text;
    mx_template_options options;
    mx_template_fault fault;
    mx_buf *raised; /* where raise_exception's text goes; may be NULL */
    mx_error *err;
    int32_t line; /* of the node that is evaluated */
    int64_t n_steps;
    int64_t next_check; /* n_steps at which should_stop is asked again */
    int32_t depth;
    bool autoescape;
    mx_tpl_frame *frame;
    mx_tpl_dict *context;
    mx_tpl_dict *exports; /* what the top level has set, for blocks; NULL where there are none */
    mx_tpl_growing growing[MX_TPL_N_GROWING];
    unsigned i_growing;
};

/* Positional and named arguments of a call. */
typedef struct mx_tpl_args {
    const mx_tpl_value *pos;
    size_t n_pos;
    const mx_str *names;
    const mx_tpl_value *named;
    size_t n_named;
} mx_tpl_args;

/* A filter, test, method or global function. `self` is the filtered or tested value or the method's own; MISSING for a
 * global. args holds the declared parameters in order, MISSING where not given. */
typedef mx_status (*mx_tpl_fn)(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out);

/* The same for those that take any arguments. */
typedef mx_status (*mx_tpl_fn_any)(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out);

struct mx_tpl_filter {
    const char *name;
    mx_tpl_fn fn;
    const char *params; /* names separated by blanks; "_" cannot be named; NULL: none */
    int n_required;
    mx_tpl_fn_any any; /* in place of fn and params */
};
#define MX_TPL_MAX_PARAMS 8

/* fault.c - failing, steps, memory */
mx_status mx_tpl_fail(mx_tpl_run *run, mx_template_fault fault, const char *fmt, ...) MX_PRINTF(3, 4);
mx_status mx_tpl_fail_type(mx_tpl_run *run, const char *fmt, ...) MX_PRINTF(2, 3); /* RUNTIME */
mx_status mx_tpl_fail_undefined(mx_tpl_run *run, mx_tpl_value undefined);
mx_status mx_tpl_steps(mx_tpl_run *run, int64_t n) MX_NODISCARD;
mx_status mx_tpl_bytes_walked(mx_tpl_run *run, size_t n_bytes) MX_NODISCARD; /* steps for work on a long string */
mx_status mx_tpl_alloc(mx_tpl_run *run, size_t n_items, size_t item_size, void *out_ptr) MX_NODISCARD;
mx_status mx_tpl_enter(mx_tpl_run *run) MX_NODISCARD; /* one level deeper; pair with run->depth-- */

/* text.c - putting texts together */
static inline size_t mx_tpl_mark(const mx_tpl_run *run)
{
    return run->text.len;
}
mx_status mx_tpl_put(mx_tpl_run *run, mx_str s) MX_NODISCARD;
mx_status mx_tpl_put_char(mx_tpl_run *run, char c) MX_NODISCARD;
mx_status mx_tpl_put_code(mx_tpl_run *run, int32_t code_point) MX_NODISCARD;
mx_status mx_tpl_put_fill(mx_tpl_run *run, mx_str piece, size_t n_times) MX_NODISCARD;
mx_status mx_tpl_put_escaped(mx_tpl_run *run, mx_str s) MX_NODISCARD;             /* & < > ' " as HTML entities */
mx_status mx_tpl_put_escaped_value(mx_tpl_run *run, mx_tpl_value v) MX_NODISCARD; /* markup as it is */
mx_status mx_tpl_take(mx_tpl_run *run, size_t mark, unsigned flags, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_new_str(mx_tpl_run *run, mx_str s, unsigned flags, mx_tpl_value *out) MX_NODISCARD; /* a copy */
mx_status mx_tpl_concat(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out) MX_NODISCARD;

/* repr.c - str() and repr() */
mx_status mx_tpl_put_str(mx_tpl_run *run, mx_tpl_value v) MX_NODISCARD;
mx_status mx_tpl_put_repr(mx_tpl_run *run, mx_tpl_value v) MX_NODISCARD;
mx_status mx_tpl_put_str_repr(mx_tpl_run *run, mx_str s) MX_NODISCARD;
mx_status mx_tpl_put_ascii(mx_tpl_run *run, mx_str s) MX_NODISCARD; /* characters beyond ASCII as escapes */
mx_status mx_tpl_to_str(mx_tpl_run *run, mx_tpl_value v, mx_tpl_value *out) MX_NODISCARD;      /* str(v): no markup */
mx_status mx_tpl_to_soft_str(mx_tpl_run *run, mx_tpl_value v, mx_tpl_value *out) MX_NODISCARD; /* keeps markup */

/* value.c, dict.c - making values */
mx_status mx_tpl_new_list(mx_tpl_run *run, size_t n, mx_tpl_value **items, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_new_tuple(mx_tpl_run *run, size_t n, mx_tpl_value **items, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_new_dict(mx_tpl_run *run, size_t n, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_new_undefined(mx_tpl_run *run, mx_tpl_value owner, mx_tpl_value name, bool is_forbidden,
                               mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_new_undefined_name(mx_tpl_run *run, mx_str name, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_new_undefined_hint(mx_tpl_run *run, mx_str hint, mx_tpl_value *out) MX_NODISCARD; /* hint: static */
mx_status mx_tpl_new_range(mx_tpl_run *run, int64_t start, int64_t stop, int64_t step, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_from_json(mx_tpl_run *run, yyjson_val *json, mx_tpl_value *out) MX_NODISCARD;

/* Sets, replacing; the key must be hashable, or TypeError. */
mx_status mx_tpl_dict_set(mx_tpl_run *run, mx_tpl_dict *dict, mx_tpl_value key, mx_tpl_value value) MX_NODISCARD;
mx_status mx_tpl_dict_find(mx_tpl_run *run, const mx_tpl_dict *dict, mx_tpl_value key, mx_tpl_value *out,
                           bool *found) MX_NODISCARD;
bool mx_tpl_dict_find_str(const mx_tpl_dict *dict, mx_str key, mx_tpl_value *out);

/* A growing array of values, which becomes a list. */
typedef struct mx_tpl_vec {
    mx_tpl_value *items;
    size_t n;
    size_t cap;
} mx_tpl_vec;
mx_status mx_tpl_vec_push(mx_tpl_run *run, mx_tpl_vec *vec, mx_tpl_value v) MX_NODISCARD;
mx_status mx_tpl_vec_to(mx_tpl_run *run, const mx_tpl_vec *vec, mx_tpl_kind kind, mx_tpl_value *out) MX_NODISCARD;

/* compare.c */
bool mx_tpl_truth(mx_tpl_run *run, mx_tpl_value v);
mx_status mx_tpl_equal(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, bool *out) MX_NODISCARD;
mx_status mx_tpl_compare(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b, bool *out) MX_NODISCARD;
mx_status mx_tpl_contains(mx_tpl_run *run, mx_tpl_value container, mx_tpl_value item, bool *out) MX_NODISCARD;
mx_status mx_tpl_hash(mx_tpl_run *run, mx_tpl_value v, uint64_t *out) MX_NODISCARD;
bool mx_tpl_same(mx_tpl_value a, mx_tpl_value b); /* `is` */

/* iterate.c */
typedef struct mx_tpl_cursor {
    mx_tpl_value over;
    size_t at;
} mx_tpl_cursor;
bool mx_tpl_is_iterable(mx_tpl_value v);
mx_status mx_tpl_cursor_open(mx_tpl_run *run, mx_tpl_value v, mx_tpl_cursor *out) MX_NODISCARD;
mx_status mx_tpl_cursor_next(mx_tpl_run *run, mx_tpl_cursor *cursor, mx_tpl_value *item, bool *has_item) MX_NODISCARD;
mx_status mx_tpl_length(mx_tpl_run *run, mx_tpl_value v, int64_t *out) MX_NODISCARD; /* len(v) */
bool mx_tpl_has_length(mx_tpl_value v);
mx_status mx_tpl_to_vec(mx_tpl_run *run, mx_tpl_value v,
                        mx_tpl_vec *out) MX_NODISCARD; /* list(v); may borrow v's items */
mx_status mx_tpl_new_iter(mx_tpl_run *run, const char *type, void *state,
                          mx_status (*next)(mx_tpl_run *, mx_tpl_iter *, mx_tpl_value *, bool *),
                          mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_unpack(mx_tpl_run *run, mx_tpl_value v, size_t n, mx_tpl_value *items) MX_NODISCARD;

/* operators.c, number.c */
mx_status mx_tpl_binary(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_unary(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_arithmetic(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b,
                            mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_repeat(mx_tpl_run *run, mx_tpl_value seq, mx_tpl_value times, mx_tpl_value *out) MX_NODISCARD;
int mx_tpl_number_order(mx_tpl_value a, mx_tpl_value b); /* -1, 0, 1; 2: not comparable (NaN) */
double mx_tpl_as_double(mx_tpl_value number);            /* infinity where a long int is too large */
bool mx_tpl_float_to_int(double d, mx_tpl_run *run, mx_tpl_value *out, mx_status *st);
/* An int argument ("... must be an integer"); clamped to int64. */
mx_status mx_tpl_to_index(mx_tpl_run *run, mx_tpl_value v, int64_t *out) MX_NODISCARD;
mx_status mx_tpl_put_float(mx_tpl_run *run, double d) MX_NODISCARD; /* repr */
size_t mx_tpl_print_float(double d, char out[40]);
mx_status mx_tpl_put_int(mx_tpl_run *run, mx_tpl_value v) MX_NODISCARD;
/* int(text, base) and float(text) as Python reads them. *ok false where the text is not a number. */
mx_status mx_tpl_parse_int(mx_tpl_run *run, mx_str text, int64_t base, mx_tpl_value *out, bool *ok) MX_NODISCARD;
bool mx_tpl_parse_float(mx_str text, double *out);

/* subscript.c */
mx_status mx_tpl_getattr(mx_tpl_run *run, mx_tpl_value obj, mx_str name, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_getitem(mx_tpl_run *run, mx_tpl_value obj, mx_tpl_value key, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_slice(mx_tpl_run *run, mx_tpl_value obj, const mx_tpl_value bounds[3], mx_tpl_value *out) MX_NODISCARD;
bool mx_tpl_can_slice(mx_tpl_value obj, const mx_tpl_value bounds[3]);
/* Python's own attribute, not the sandbox's view: *found false where there is none. */
mx_status mx_tpl_attribute(mx_tpl_run *run, mx_tpl_value obj, mx_str name, mx_tpl_value *out, bool *found) MX_NODISCARD;
typedef struct mx_tpl_span {
    int64_t start;
    int64_t step;
    int64_t n;
} mx_tpl_span;
mx_status mx_tpl_span_of(mx_tpl_run *run, const mx_tpl_value bounds[3], int64_t n, mx_tpl_span *out) MX_NODISCARD;

/* call.c */
mx_status mx_tpl_call(mx_tpl_run *run, mx_tpl_value callee, const mx_tpl_args *args, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_call_filter(mx_tpl_run *run, const mx_tpl_filter *what, mx_tpl_value self, const mx_tpl_args *args,
                             mx_tpl_value *out) MX_NODISCARD;
bool mx_tpl_is_callable(mx_tpl_value v);

/* eval.c, exec.c */
mx_status mx_tpl_eval(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_eval_args(mx_tpl_run *run, const mx_tpl_call_args *args, mx_tpl_args *out) MX_NODISCARD;
typedef enum mx_tpl_flow { MX_TPL_GO_ON, MX_TPL_BREAK, MX_TPL_CONTINUE } mx_tpl_flow;
mx_status mx_tpl_exec(mx_tpl_run *run, const mx_tpl_nodes *body, mx_tpl_flow *flow) MX_NODISCARD;
mx_status mx_tpl_exec_for(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow) MX_NODISCARD;
mx_status mx_tpl_assign(mx_tpl_run *run, const mx_tpl_node *target, mx_tpl_value value) MX_NODISCARD;
mx_status mx_tpl_scope_enter(mx_tpl_run *run, const mx_tpl_scope *scope) MX_NODISCARD;
void mx_tpl_scope_leave(mx_tpl_run *run, const mx_tpl_scope *scope);
mx_status mx_tpl_call_macro(mx_tpl_run *run, mx_tpl_macro *macro, const mx_tpl_args *args,
                            mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_new_macro(mx_tpl_run *run, const mx_tpl_func *func, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_call_loop(mx_tpl_run *run, mx_tpl_loop *loop, const mx_tpl_args *args, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_call_block(mx_tpl_run *run, const mx_tpl_func *func) MX_NODISCARD; /* prints it */
mx_status mx_tpl_loop_attr(mx_tpl_run *run, mx_tpl_loop *loop, mx_str name, mx_tpl_value *out,
                           bool *found) MX_NODISCARD;
mx_status mx_tpl_put_loop(mx_tpl_run *run, mx_tpl_loop *loop) MX_NODISCARD;
mx_status mx_tpl_loop_step(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *item, bool *has_item) MX_NODISCARD;
mx_str mx_tpl_macro_name(const mx_tpl_macro *macro);
const mx_tpl_func *mx_tpl_macro_func(const mx_tpl_macro *macro);

/* The tables of names. NULL where there is none. */
const mx_tpl_filter *mx_tpl_find_filter(mx_str name);
const mx_tpl_filter *mx_tpl_find_test(mx_str name);
const mx_tpl_filter *mx_tpl_find_method(mx_tpl_value v, mx_str name);
const mx_tpl_filter *mx_tpl_find_global(mx_str name);
const mx_tpl_filter *mx_tpl_find_row(const mx_tpl_filter *rows, size_t n_rows, mx_str name);

#endif
