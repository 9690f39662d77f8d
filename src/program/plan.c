/* plan.c - places values by lifetime.
 *
 * Greedy by size: the largest values are placed first, each into the smallest gap between those already placed whose
 * lifetimes meet its own. For the chains that language models are, this comes within a few per cent of the lower bound
 * (the largest sum of values alive at one operation), and it is the same on every run.
 */
#include "program/plan.h"

#include <stdlib.h>

#include "base/mem.h"

#define PLAN_MAX_VALUE \
    (INT64_C(1) << 42) /* bytes of one value: the sum of as many as a program has does not overflow */

/* What the planner knows of one value that has a place. */
typedef struct item {
    mx_value value;
    int32_t first_op; /* the op that makes it; -1 for the program's input */
    int32_t last_op;  /* the last op that touches it; n_ops for the program's output */
    int64_t n_bytes;
    int64_t offset; /* -1 until placed */
} item;

static void touch(item *it, int32_t i_op)
{
    it->first_op = MX_MIN(it->first_op, i_op);
    it->last_op = MX_MAX(it->last_op, i_op);
}

static void find_lifetimes(const mx_program *program, item *items)
{
    for (int32_t i = 0; i < program->n_values; i++) {
        items[i] = (item){.value = i, .first_op = INT32_MAX, .last_op = -1, .offset = -1};
    }
    for (int32_t i = 0; i < program->n_ops; i++) {
        const mx_op *op = &program->ops[i];
        for (int32_t j = 0; j < MX_OP_MAX_IN; j++) {
            if (op->in[j] != MX_NO_VALUE) {
                touch(&items[op->in[j]], i);
            }
        }
        for (int32_t j = 0; j < MX_OP_MAX_OUT; j++) {
            if (op->out[j] != MX_NO_VALUE) {
                touch(&items[op->out[j]], i);
            }
        }
    }
    touch(&items[program->tokens], -1);
    if (program->logits != MX_NO_VALUE) {
        touch(&items[program->logits], program->n_ops);
    }
}

/* Bytes of a value in the largest step, rounded up to MX_PLAN_ALIGN; false past PLAN_MAX_VALUE. */
static bool size_of(const mx_plan *plan, const mx_value_info *info, int64_t *out)
{
    const int64_t n_rows = info->rows == MX_ROWS_TOKENS ? plan->max_tokens : plan->max_samples;
    int64_t n = 0;
    if (!mx_mul_i64(n_rows, info->row_factor, &n) || !mx_mul_i64(n, info->n_cols, &n) || n > PLAN_MAX_VALUE / 4) {
        return false;
    }
    *out = (n * 4 + MX_PLAN_ALIGN - 1) / MX_PLAN_ALIGN * MX_PLAN_ALIGN;
    return true;
}

static int compare_size(const void *a, const void *b)
{
    const item *x = a;
    const item *y = b;
    if (x->n_bytes != y->n_bytes) {
        return x->n_bytes > y->n_bytes ? -1 : 1;
    }
    return x->value < y->value ? -1 : 1;
}

static bool lifetimes_meet(const item *a, const item *b)
{
    return a->first_op <= b->last_op && b->first_op <= a->last_op;
}

/* The offset of the smallest gap that holds `it` beside the placed items it meets; `placed` lists these by offset. */
static int64_t find_gap(const item *it, const item *items, const int32_t *placed, int32_t n_placed)
{
    int64_t best = -1;
    int64_t best_slack = INT64_MAX;
    int64_t end = 0; /* of what is occupied so far */
    for (int32_t i = 0; i < n_placed; i++) {
        const item *other = &items[placed[i]];
        if (!lifetimes_meet(it, other)) {
            continue;
        }
        const int64_t slack = other->offset - end - it->n_bytes;
        if (slack >= 0 && slack < best_slack) {
            best = end;
            best_slack = slack;
        }
        end = MX_MAX(end, other->offset + other->n_bytes);
    }
    return best >= 0 ? best : end;
}

static void place_all(mx_plan *plan, item *items, int32_t n_items, int32_t *placed)
{
    for (int32_t i = 0; i < n_items; i++) {
        item *it = &items[i];
        it->offset = find_gap(it, items, placed, i);
        int32_t at = i;
        for (; at > 0 && items[placed[at - 1]].offset > it->offset; at--) {
            placed[at] = placed[at - 1];
        }
        placed[at] = i;
        plan->offsets[it->value] = it->offset;
        plan->n_scratch_bytes = MX_MAX(plan->n_scratch_bytes, it->offset + it->n_bytes);
    }
}

mx_status mx_plan_init(mx_plan *plan, const mx_program *program, int32_t max_tokens, int32_t max_samples, mx_error *err)
{
    *plan = (mx_plan){.program = program, .max_tokens = max_tokens, .max_samples = max_samples};
    mx_status st = MX_OK;
    const size_t n_values = (size_t)program->n_values;
    item *items = mx_calloc(n_values, sizeof *items);
    int32_t *placed = mx_calloc(n_values, sizeof *placed);
    plan->offsets = mx_calloc(n_values, sizeof *plan->offsets);
    if (!items || !placed || !plan->offsets) {
        st = mx_fail_no_memory(err, n_values * (sizeof *items + sizeof *placed + sizeof *plan->offsets), "a plan");
        goto done;
    }

    find_lifetimes(program, items);
    int32_t n_items = 0;
    for (int32_t i = 0; i < program->n_values; i++) {
        plan->offsets[i] = -1;
        if (items[i].first_op == INT32_MAX) {
            continue;
        }
        if (!size_of(plan, &program->values[i], &items[i].n_bytes)) {
            st = mx_fail(err, MX_NO_MEMORY, "a step of %d tokens is too large: value \"%s\" has %lld columns",
                         max_tokens, program->values[i].name, (long long)program->values[i].n_cols);
            goto done;
        }
        items[n_items++] = items[i];
    }
    qsort(items, (size_t)n_items, sizeof *items, compare_size);
    place_all(plan, items, n_items, placed);
done:
    mx_free(items);
    mx_free(placed);
    if (st != MX_OK) {
        mx_plan_deinit(plan);
    }
    return st;
}

void mx_plan_deinit(mx_plan *plan)
{
    mx_free(plan->offsets);
    *plan = (mx_plan){0};
}
