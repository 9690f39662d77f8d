/* loop.c - {% for %}: the loop, the special variable `loop`, and loops that call themselves. */
#include <inttypes.h>
#include <stdio.h>

#include "text/template/run.h"

/* The object behind `loop`. It goes one item ahead only when a template asks for what comes next. */
struct mx_tpl_loop {
    mx_tpl_value over; /* what is gone through */
    mx_tpl_cursor cursor;
    const mx_tpl_for *node; /* of the test and of a recursive loop's body */
    mx_tpl_frame *frame;    /* in which the test runs; of a recursive loop, the frame around it */
    mx_tpl_value before;
    mx_tpl_value current;
    mx_tpl_value after; /* MISSING: not yet asked for, or none */
    mx_tpl_value last_changed;
    int64_t index0; /* -1 before the first item */
    int64_t length; /* -1: not yet asked for */
    int64_t depth0;
    bool is_recursive;
    bool is_filtered;
};

/* The next item of what is gone through that passes the loop's test. */
static mx_status next_item(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *item, bool *has_item)
{
    for (;;) {
        MX_TRY(mx_tpl_cursor_next(run, &loop->cursor, item, has_item));
        if (!*has_item || !loop->is_filtered) {
            return MX_OK;
        }
        mx_tpl_value passes;
        mx_tpl_frame *frame = run->frame;
        run->frame = loop->frame;
        MX_TRY(mx_tpl_assign(run, loop->node->test_target, *item));
        MX_TRY(mx_tpl_eval(run, loop->node->test, &passes));
        run->frame = frame;
        if (mx_tpl_truth(run, passes)) {
            return MX_OK;
        }
    }
}

static mx_status peek(mx_tpl_run *run, mx_tpl_loop *loop, bool *has_item)
{
    *has_item = true;
    if (loop->after.kind != MX_TPL_MISSING) {
        return MX_OK;
    }
    mx_tpl_value item;
    MX_TRY(next_item(run, loop, &item, has_item));
    if (*has_item) {
        loop->after = item;
    }
    return MX_OK;
}

mx_status mx_tpl_loop_step(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *item, bool *has_item)
{
    *has_item = true;
    if (loop->after.kind != MX_TPL_MISSING) {
        *item = loop->after;
        loop->after = (mx_tpl_value){.kind = MX_TPL_MISSING};
    } else {
        MX_TRY(next_item(run, loop, item, has_item));
    }
    if (*has_item) {
        loop->index0++;
        loop->before = loop->current;
        loop->current = *item;
    }
    return MX_OK;
}

/* The length of what cannot tell it is found by going through the rest, which is kept. */
static mx_status find_length(mx_tpl_run *run, mx_tpl_loop *loop)
{
    if (loop->length >= 0) {
        return MX_OK;
    }
    if (!loop->is_filtered && mx_tpl_has_length(loop->over)) {
        return mx_tpl_length(run, loop->over, &loop->length);
    }
    mx_tpl_vec rest = {0};
    for (bool has_item = true;;) {
        mx_tpl_value item;
        MX_TRY(next_item(run, loop, &item, &has_item));
        if (!has_item) {
            break;
        }
        MX_TRY(mx_tpl_vec_push(run, &rest, item));
    }
    mx_tpl_value list;
    MX_TRY(mx_tpl_vec_to(run, &rest, MX_TPL_LIST, &list));
    loop->cursor = (mx_tpl_cursor){.over = list};
    loop->is_filtered = false;
    loop->over = (mx_tpl_value){.kind = MX_TPL_ITER}; /* has no length, but that is known now */
    loop->length = (int64_t)rest.n + loop->index0 + 1 + (loop->after.kind != MX_TPL_MISSING);
    return MX_OK;
}

static mx_status attr_index(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    (void)run;
    *out = mx_tpl_int(loop->index0 + 1);
    return MX_OK;
}

static mx_status attr_index0(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    (void)run;
    *out = mx_tpl_int(loop->index0);
    return MX_OK;
}

static mx_status attr_length(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    MX_TRY(find_length(run, loop));
    *out = mx_tpl_int(loop->length);
    return MX_OK;
}

static mx_status attr_revindex(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    MX_TRY(find_length(run, loop));
    *out = mx_tpl_int(loop->length - loop->index0);
    return MX_OK;
}

static mx_status attr_revindex0(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    MX_TRY(find_length(run, loop));
    *out = mx_tpl_int(loop->length - loop->index0 - 1);
    return MX_OK;
}

static mx_status attr_first(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    (void)run;
    *out = mx_tpl_bool(loop->index0 == 0);
    return MX_OK;
}

static mx_status attr_last(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    bool has_next = false;
    MX_TRY(peek(run, loop, &has_next));
    *out = mx_tpl_bool(!has_next);
    return MX_OK;
}

static mx_status attr_depth(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    (void)run;
    *out = mx_tpl_int(loop->depth0 + 1);
    return MX_OK;
}

static mx_status attr_depth0(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    (void)run;
    *out = mx_tpl_int(loop->depth0);
    return MX_OK;
}

static mx_status attr_previtem(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    *out = loop->before;
    return loop->index0 == 0 ? mx_tpl_new_undefined_hint(run, MX_STR("there is no previous item"), out) : MX_OK;
}

static mx_status attr_nextitem(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out)
{
    bool has_next = false;
    MX_TRY(peek(run, loop, &has_next));
    *out = loop->after;
    return has_next ? MX_OK : mx_tpl_new_undefined_hint(run, MX_STR("there is no next item"), out);
}

static mx_status loop_cycle(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    if (args->n_pos == 0 || args->n_named) {
        return mx_tpl_fail_type(run, "no items for cycling given");
    }
    const int64_t n = (int64_t)args->n_pos;
    *out = args->pos[((self.as.loop->index0 % n) + n) % n];
    return MX_OK;
}

static mx_status loop_changed(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    mx_tpl_value *items = NULL;
    mx_tpl_value given;
    bool equal = false;
    if (args->n_named) {
        return mx_tpl_fail_type(run, "changed() got an unexpected keyword argument");
    }
    MX_TRY(mx_tpl_new_tuple(run, args->n_pos, &items, &given));
    for (size_t i = 0; i < args->n_pos; i++) {
        items[i] = args->pos[i];
    }
    MX_TRY(mx_tpl_equal(run, self.as.loop->last_changed, given, &equal));
    self.as.loop->last_changed = given;
    *out = mx_tpl_bool(!equal);
    return MX_OK;
}

static const struct {
    const char *name;
    mx_status (*get)(mx_tpl_run *run, mx_tpl_loop *loop, mx_tpl_value *out);
} attributes[] = {
    {"index", attr_index},   {"index0", attr_index0},     {"revindex", attr_revindex}, {"revindex0", attr_revindex0},
    {"first", attr_first},   {"last", attr_last},         {"length", attr_length},     {"depth", attr_depth},
    {"depth0", attr_depth0}, {"previtem", attr_previtem}, {"nextitem", attr_nextitem},
};

static const mx_tpl_filter methods[] = {{.name = "cycle", .any = loop_cycle}, {.name = "changed", .any = loop_changed}};

mx_status mx_tpl_loop_attr(mx_tpl_run *run, mx_tpl_loop *loop, mx_str name, mx_tpl_value *out, bool *found)
{
    for (size_t i = 0; i < MX_COUNTOF(attributes); i++) {
        if (mx_str_eq_cstr(name, attributes[i].name)) {
            *found = true;
            return attributes[i].get(run, loop, out);
        }
    }
    const mx_tpl_filter *method = mx_tpl_find_row(methods, MX_COUNTOF(methods), name);
    *found = method != NULL;
    if (!method) {
        return MX_OK;
    }
    mx_tpl_bound *bound = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *bound, &bound));
    *bound = (mx_tpl_bound){method, {.kind = MX_TPL_LOOP, .as.loop = loop}};
    *out = (mx_tpl_value){.kind = MX_TPL_METHOD, .as.bound = bound};
    return MX_OK;
}

mx_status mx_tpl_put_loop(mx_tpl_run *run, mx_tpl_loop *loop)
{
    char text[64];
    MX_TRY(find_length(run, loop));
    const int n = snprintf(text, sizeof text, "<LoopContext %" PRId64 "/%" PRId64 ">", loop->index0 + 1, loop->length);
    return mx_tpl_put(run, (mx_str){text, (size_t)n});
}

static mx_status new_loop(mx_tpl_run *run, const mx_tpl_for *node, mx_tpl_value over, mx_tpl_loop **out)
{
    MX_TRY(mx_tpl_alloc(run, 1, sizeof **out, out));
    **out = (mx_tpl_loop){
        .over = over, .node = node, .frame = run->frame, .index0 = -1, .length = -1, .is_filtered = node->test != NULL};
    return mx_tpl_cursor_open(run, over, &(*out)->cursor);
}

/* Goes through `loop` in the present frame. */
static mx_status run_loop(mx_tpl_run *run, const mx_tpl_for *node, mx_tpl_loop *loop, mx_tpl_flow *flow)
{
    const int32_t line = run->line;
    bool is_empty = true;
    if (node->test) {
        MX_TRY(mx_tpl_scope_enter(run, &node->test_scope));
    }
    for (mx_tpl_flow turn = MX_TPL_GO_ON; turn != MX_TPL_BREAK;) {
        mx_tpl_value item;
        bool has_item = false;
        run->line = line;
        MX_TRY(mx_tpl_loop_step(run, loop, &item, &has_item));
        if (!has_item) {
            break;
        }
        if (node->loop_slot >= 0) {
            run->frame->slots[node->loop_slot] = (mx_tpl_value){.kind = MX_TPL_LOOP, .as.loop = loop};
        }
        MX_TRY(mx_tpl_assign(run, node->target, item));
        MX_TRY(mx_tpl_scope_enter(run, &node->scope));
        turn = MX_TPL_GO_ON;
        MX_TRY(mx_tpl_exec(run, &node->body, &turn));
        is_empty =
            is_empty && turn != MX_TPL_GO_ON; /* jinja2 notes that the loop was not empty at the end of its body */
    }
    mx_tpl_scope_leave(run, &node->scope);
    if (is_empty && node->otherwise.n) {
        MX_TRY(mx_tpl_scope_enter(run, &node->else_scope));
        MX_TRY(mx_tpl_exec(run, &node->otherwise, flow));
        mx_tpl_scope_leave(run, &node->else_scope);
    }
    return MX_OK;
}

/* One round of a recursive loop, in a frame of its own. */
static mx_status run_recursive(mx_tpl_run *run, const mx_tpl_for *node, mx_tpl_frame *outer, mx_tpl_value over,
                               int64_t depth0)
{
    mx_tpl_frame *frame = NULL;
    mx_tpl_frame *caller = run->frame;
    mx_tpl_loop *loop = NULL;
    mx_tpl_flow flow = MX_TPL_GO_ON;
    MX_TRY(mx_tpl_enter(run));
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *frame, &frame));
    *frame = (mx_tpl_frame){.outer = outer, .func = node->func};
    MX_TRY(mx_tpl_alloc(run, (size_t)node->func->n_slots, sizeof *frame->slots, &frame->slots));
    run->frame = frame;
    MX_TRY(new_loop(run, node, over, &loop));
    loop->is_recursive = true;
    loop->depth0 = depth0;
    MX_TRY(run_loop(run, node, loop, &flow));
    run->frame = caller;
    run->depth--;
    return MX_OK;
}

mx_status mx_tpl_exec_for(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    const mx_tpl_for *loop = node->as.loop;
    mx_tpl_value over;
    MX_TRY(mx_tpl_eval(run, loop->iter, &over));
    run->line = node->line;
    if (node->flag) {
        return run_recursive(run, loop, run->frame, over, 0);
    }
    mx_tpl_loop *state = NULL;
    MX_TRY(new_loop(run, loop, over, &state));
    return run_loop(run, loop, state, flow);
}

/* loop(items): the body of the recursive loop for other items, as text. */
mx_status mx_tpl_call_loop(mx_tpl_run *run, mx_tpl_loop *loop, const mx_tpl_args *args, mx_tpl_value *out)
{
    if (!loop->is_recursive) {
        return mx_tpl_fail_type(run, "the loop must have the 'recursive' marker to be called recursively");
    }
    if (args->n_pos != 1 || args->n_named) {
        return mx_tpl_fail_type(run, "loop() takes one argument");
    }
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(run_recursive(run, loop->node, loop->frame->outer, args->pos[0], loop->depth0 + 1));
    return mx_tpl_take(run, mark, run->autoescape ? MX_TPL_MARKUP : 0, out);
}
