/* template.c - opening, rendering and closing a template. */
#include "text/template/template.h"

#include "base/mem.h"
#include "text/template/parser.h"
#include "text/template/run.h"

#define MAX_TREE_BYTES ((size_t)256 << 20) /* of one parsed template; the largest known takes under 2 MiB */

struct mx_template {
    mx_arena arena;
    mx_tpl_tree tree;
};

mx_status mx_template_open(mx_str source, const char *name, mx_template **out, mx_error *err)
{
    *out = NULL;
    mx_template *tpl = mx_calloc(1, sizeof *tpl);
    if (!tpl) {
        return mx_fail_no_memory(err, sizeof *tpl, "a chat template");
    }
    mx_status st = MX_OK;
    mx_arena_init(&tpl->arena, MAX_TREE_BYTES);
    tpl->tree.arena = &tpl->arena;
    tpl->tree.name = mx_arena_printf(&tpl->arena, "%s", name);
    if (!tpl->tree.name) {
        st = mx_fail_no_memory(err, strlen(name), "a chat template's name");
        goto done;
    }
    MX_TRY_OR(done, st, mx_tpl_parse(&tpl->tree, source, err));
    MX_TRY_OR(done, st, mx_tpl_resolve(&tpl->tree, err));
    *out = tpl;
    tpl = NULL;
done:
    mx_template_close(tpl);
    return st;
}

void mx_template_close(mx_template *tpl)
{
    if (tpl) {
        mx_arena_deinit(&tpl->arena);
        mx_free(tpl);
    }
}

void mx_template_report_deinit(mx_template_report *report)
{
    mx_buf_deinit(&report->message);
    *report = (mx_template_report){0};
}

static mx_template_options with_defaults(const mx_template_options *given)
{
    mx_template_options o = given ? *given : (mx_template_options){0};
    o.max_output_bytes = o.max_output_bytes ? o.max_output_bytes : (size_t)16 << 20;
    o.max_memory_bytes = o.max_memory_bytes ? o.max_memory_bytes : (size_t)256 << 20;
    o.max_steps = o.max_steps ? o.max_steps : 20000000;
    o.max_depth = o.max_depth ? o.max_depth : 1600;
    return o;
}

static mx_status run_root(mx_tpl_run *run, yyjson_val *context)
{
    mx_tpl_value variables;
    mx_tpl_value exports;
    mx_tpl_frame frame = {.func = &run->tree->root};
    mx_tpl_flow flow = MX_TPL_GO_ON;
    if (context && yyjson_is_obj(context)) {
        MX_TRY(mx_tpl_from_json(run, context, &variables));
    } else {
        MX_TRY(mx_tpl_new_dict(run, 0, &variables));
    }
    run->context = variables.as.dict;
    if (run->tree->blocks.n) {
        MX_TRY(mx_tpl_new_dict(run, 0, &exports));
        run->exports = exports.as.dict;
    }
    MX_TRY(mx_tpl_alloc(run, (size_t)frame.func->n_slots, sizeof *frame.slots, &frame.slots));
    run->frame = &frame;
    if (frame.func->self_slot >= 0) {
        frame.slots[frame.func->self_slot] = (mx_tpl_value){.kind = MX_TPL_SELF};
    }
    MX_TRY(mx_tpl_scope_enter(run, &frame.func->scope));
    return mx_tpl_exec(run, &frame.func->body, &flow);
}

mx_status mx_template_render(const mx_template *tpl, yyjson_val *context, const mx_template_options *options,
                             mx_buf *out, mx_template_report *report, mx_error *err)
{
    mx_tpl_run run = {.tree = &tpl->tree, .options = with_defaults(options), .err = err};
    mx_status st = MX_OK;
    if (report) {
        *report = (mx_template_report){.message.max = run.options.max_memory_bytes};
        run.raised = &report->message;
    }
    mx_arena_init(&run.arena, run.options.max_memory_bytes);
    mx_buf_init(&run.text, run.options.max_output_bytes);
    MX_TRY_OR(done, st, run_root(&run, context));
    st = mx_buf_append(out, mx_buf_view(&run.text), err);
    if (st != MX_OK) {
        run.fault = st == MX_NO_MEMORY ? MX_TEMPLATE_NO_MEMORY : MX_TEMPLATE_LIMIT;
    }
done:
    if (report) {
        report->fault = run.fault;
        report->line = st == MX_OK ? 0 : run.line;
    }
    mx_buf_deinit(&run.text);
    mx_arena_deinit(&run.arena);
    return st;
}
