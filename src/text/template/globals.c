/* globals.c - functions that every template has. */
#include "base/mem.h"
#include "platform/clock.h"
#include "text/template/filters.h"
#include "text/template/strftime.h"

#define MAX_RANGE 100000 /* the sandbox's */

/* range(stop) or range(start, stop, step) */
static mx_status global_range(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)self;
    int64_t bounds[3] = {0, 0, 1};
    MX_TRY(mx_tpl_to_index(run, args[0], &bounds[1]));
    if (mx_tpl_is_given(args[1])) {
        bounds[0] = bounds[1];
        MX_TRY(mx_tpl_to_index(run, args[1], &bounds[1]));
    }
    if (mx_tpl_is_given(args[2])) {
        MX_TRY(mx_tpl_to_index(run, args[2], &bounds[2]));
    }
    if (bounds[2] == 0) {
        return mx_tpl_fail_type(run, "range() arg 3 must not be zero");
    }
    MX_TRY(mx_tpl_new_range(run, bounds[0], bounds[1], bounds[2], out));
    return out->as.range->n > MAX_RANGE
               ? mx_tpl_fail_type(run, "range too big: the sandbox blocks ranges larger than %d", MAX_RANGE)
               : MX_OK;
}

static mx_status set_pairs(mx_tpl_run *run, mx_tpl_dict *dict, mx_tpl_value from)
{
    mx_tpl_cursor cursor;
    if (from.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, from);
    }
    if (from.kind == MX_TPL_DICT) {
        from.kind = MX_TPL_ITEMS;
    }
    MX_TRY(mx_tpl_cursor_open(run, from, &cursor));
    for (bool has_item = true;;) {
        mx_tpl_value item;
        mx_tpl_value pair[2];
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (!has_item) {
            return MX_OK;
        }
        MX_TRY(mx_tpl_unpack(run, item, 2, pair));
        MX_TRY(mx_tpl_dict_set(run, dict, pair[0], pair[1]));
    }
}

/* dict(mapping or pairs, name=value ...) */
static mx_status global_dict(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    (void)self;
    if (args->n_pos > 1) {
        return mx_tpl_fail_type(run, "dict expected at most 1 argument, got %zu", args->n_pos);
    }
    MX_TRY(mx_tpl_new_dict(run, args->n_named, out));
    if (args->n_pos) {
        MX_TRY(set_pairs(run, out->as.dict, args->pos[0]));
    }
    for (size_t i = 0; i < args->n_named; i++) {
        MX_TRY(mx_tpl_dict_set(run, out->as.dict, mx_tpl_str(args->names[i]), args->named[i]));
    }
    return MX_OK;
}

static mx_status global_namespace(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    MX_TRY(global_dict(run, self, args, out));
    out->kind = MX_TPL_NAMESPACE;
    return MX_OK;
}

static mx_status new_cycler(mx_tpl_run *run, mx_tpl_kind kind, const mx_tpl_value *items, size_t n, mx_tpl_value *out)
{
    mx_tpl_cycler *cycler = NULL;
    mx_tpl_value list;
    mx_tpl_value *copies = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *cycler, &cycler));
    MX_TRY(mx_tpl_new_tuple(run, n, &copies, &list));
    for (size_t i = 0; i < n; i++) {
        copies[i] = items[i];
    }
    cycler->items = list.as.list;
    *out = (mx_tpl_value){.kind = (uint8_t)kind, .as.cycler = cycler};
    return MX_OK;
}

static mx_status global_cycler(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    (void)self;
    if (args->n_named || args->n_pos == 0) {
        return mx_tpl_fail_type(run, "at least one item has to be provided");
    }
    return new_cycler(run, MX_TPL_CYCLER, args->pos, args->n_pos, out);
}

static mx_status global_joiner(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)self;
    const mx_tpl_value sep = mx_tpl_is_given(args[0]) ? args[0] : MX_TPL_LITERAL(", ");
    return new_cycler(run, MX_TPL_JOINER, &sep, 1, out);
}

/* Here for templates that ask whether it is defined; filler text has no place in a prompt. */
static mx_status global_lipsum(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    (void)self;
    (void)args;
    (void)out;
    return mx_tpl_fail_type(run, "lipsum() is not supported");
}

/* The template itself refuses: its message is kept whole, as whoever asked for the render shows it. */
static mx_status global_raise(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)self;
    (void)out;
    mx_tpl_value message;
    MX_TRY(mx_tpl_to_str(run, args[0], &message));
    const mx_str text = args[0].kind == MX_TPL_NONE ? MX_STR("None") : mx_tpl_view(message);
    if (run->raised && mx_buf_append(run->raised, text, NULL) == MX_NO_MEMORY) {
        run->fault = MX_TEMPLATE_NO_MEMORY;
        return mx_fail_no_memory(run->err, text.len, "the message of a chat template");
    }
    return mx_tpl_fail(run, MX_TEMPLATE_RAISED, "%.*s", MX_STR_ARG(text));
}

static mx_template_clock system_clock(void)
{
    const mx_datetime now = mx_clock_local(mx_clock_wall_s());
    return (mx_template_clock){now.year, now.month, now.day, now.hour, now.minute, now.second};
}

static mx_status global_strftime_now(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)self;
    if (!mx_tpl_is_str(args[0])) {
        return mx_tpl_fail_type(run, "strftime_now expects a format string, not '%s'", mx_tpl_type_name(args[0]));
    }
    const mx_template_clock now = run->options.now ? *run->options.now : system_clock();
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_time(run, &now, mx_tpl_view(args[0])));
    return mx_tpl_take(run, mark, 0, out);
}

static const mx_tpl_filter rows[] = {
    {"range", global_range, "_ _ _", 1, NULL},
    {"dict", NULL, NULL, 0, global_dict},
    {"namespace", NULL, NULL, 0, global_namespace},
    {"cycler", NULL, NULL, 0, global_cycler},
    {"joiner", global_joiner, "sep", 0, NULL},
    {"lipsum", NULL, NULL, 0, global_lipsum},
    {"raise_exception", global_raise, "message", 1, NULL},
    {"strftime_now", global_strftime_now, "format", 1, NULL},
};

const mx_tpl_filter *mx_tpl_find_global(mx_str name)
{
    return mx_tpl_find_row(rows, MX_COUNTOF(rows), name);
}
