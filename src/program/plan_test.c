#include "program/plan.h"

#include "base/mem.h"
#include "program/passes.h"
#include "tests/test.h"
#include "tests/tiny_decoder.h"

/* First and last operation that touches a value, found anew here: the input lives from the start, the output to the
 * end. */
static void find_life(const mx_program *p, mx_value v, int32_t *first, int32_t *last)
{
    *first = v == p->tokens ? -1 : INT32_MAX;
    *last = v == p->logits ? p->n_ops : -1;
    for (int32_t i = 0; i < p->n_ops; i++) {
        for (int32_t j = 0; j < MX_OP_MAX_IN + MX_OP_MAX_OUT; j++) {
            const mx_value u = j < MX_OP_MAX_IN ? p->ops[i].in[j] : p->ops[i].out[j - MX_OP_MAX_IN];
            if (u == v) {
                *first = MX_MIN(*first, i);
                *last = MX_MAX(*last, i);
            }
        }
    }
}

static int64_t bytes_of(const mx_plan *plan, mx_value v)
{
    const mx_value_info *info = &plan->program->values[v];
    const int64_t n_rows = info->rows == MX_ROWS_TOKENS ? plan->max_tokens : plan->max_samples;
    return n_rows * info->row_factor * info->n_cols * 4;
}

static void check_no_overlap(const mx_plan *plan)
{
    const mx_program *p = plan->program;
    for (mx_value a = 0; a < p->n_values; a++) {
        int32_t a_first, a_last;
        find_life(p, a, &a_first, &a_last);
        if (a_first == INT32_MAX) {
            MX_CHECK_I64(plan->offsets[a], -1);
            continue;
        }
        MX_CHECK(plan->offsets[a] >= 0 && plan->offsets[a] % MX_PLAN_ALIGN == 0);
        MX_CHECK(plan->offsets[a] + bytes_of(plan, a) <= plan->n_scratch_bytes);
        for (mx_value b = a + 1; b < p->n_values; b++) {
            int32_t b_first, b_last;
            find_life(p, b, &b_first, &b_last);
            const bool both_live = b_first != INT32_MAX && a_first <= b_last && b_first <= a_last;
            const bool share = plan->offsets[a] < plan->offsets[b] + bytes_of(plan, b) &&
                               plan->offsets[b] < plan->offsets[a] + bytes_of(plan, a);
            if (both_live && share) {
                MX_TEST_FAIL("\"%s\" and \"%s\" live at once and share bytes", p->values[a].name, p->values[b].name);
            }
        }
    }
}

/* The largest sum of values alive at one operation: no plan can do better. */
static int64_t lower_bound(const mx_plan *plan)
{
    int64_t most = 0;
    for (int32_t i = 0; i < plan->program->n_ops; i++) {
        int64_t sum = 0;
        for (mx_value v = 0; v < plan->program->n_values; v++) {
            int32_t first, last;
            find_life(plan->program, v, &first, &last);
            sum += first != INT32_MAX && first <= i && i <= last ? bytes_of(plan, v) : 0;
        }
        most = MX_MAX(most, sum);
    }
    return most;
}

static void plan_all(bool with_passes)
{
    static const tiny_settings mixes[] = {
        {0}, {.has_head_norms = true, .has_experts = true}, {.has_post_norms = true, .has_caps = true, .window = 5}};
    static const int32_t steps[][2] = {{1, 1}, {7, 2}, {512, 16}};
    for (size_t i = 0; i < MX_COUNTOF(mixes); i++) {
        for (size_t j = 0; j < MX_COUNTOF(steps); j++) {
            mx_error err;
            tiny_decoder tiny;
            mx_plan plan = {0};
            MX_CHECK_OK(tiny_decoder_build(&tiny, &mixes[i], &err), &err);
            if (with_passes) {
                MX_CHECK_OK(mx_passes_run(&tiny.program, &err), &err);
            }
            MX_CHECK_OK(mx_plan_init(&plan, &tiny.program, steps[j][0], steps[j][1], &err), &err);
            check_no_overlap(&plan);
            MX_CHECK(plan.n_scratch_bytes <= lower_bound(&plan) * 5 / 4 + 20 * MX_PLAN_ALIGN);
            mx_plan_deinit(&plan);
            tiny_decoder_deinit(&tiny);
        }
    }
}

MX_TEST(values_that_live_at_once_never_share_bytes)
{
    plan_all(false);
}

MX_TEST(nor_do_they_in_a_program_after_its_passes)
{
    plan_all(true);
}

MX_TEST(refuses_a_step_that_no_memory_could_hold)
{
    mx_error err;
    tiny_decoder tiny;
    mx_plan plan = {0};
    MX_CHECK_OK(tiny_decoder_build(&tiny, &(tiny_settings){0}, &err), &err);
    tiny.program.values[tiny.program.logits].n_cols = INT64_C(1) << 50;
    MX_CHECK_FAILS(mx_plan_init(&plan, &tiny.program, 4, 1 << 20, &err), MX_NO_MEMORY, &err, "too large");
    tiny_decoder_deinit(&tiny);
}

MX_TEST(every_failing_allocation_is_reported)
{
    mx_error err;
    tiny_decoder tiny;
    MX_CHECK_OK(tiny_decoder_build(&tiny, &(tiny_settings){0}, &err), &err);
    for (int64_t n = 1; n <= 3; n++) {
        mx_plan plan = {0};
        mx_mem_fail_at(n);
        MX_CHECK_FAILS(mx_plan_init(&plan, &tiny.program, 4, 1, &err), MX_NO_MEMORY, &err, "plan");
        mx_mem_fail_at(0);
    }
    tiny_decoder_deinit(&tiny);
}

MX_TEST_MAIN(MX_CASE(values_that_live_at_once_never_share_bytes), MX_CASE(nor_do_they_in_a_program_after_its_passes),
             MX_CASE(refuses_a_step_that_no_memory_could_hold), MX_CASE(every_failing_allocation_is_reported))
