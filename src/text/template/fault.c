/* fault.c - failing, and the limits that make a render fail: steps, memory, depth, and whoever waits for it. */
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "text/template/run.h"

#define STEPS_BETWEEN_CHECKS 1000
#define BYTES_A_STEP         128

static mx_status status_of(mx_template_fault fault)
{
    switch (fault) {
    case MX_TEMPLATE_NO_FAULT: return MX_OK;
    case MX_TEMPLATE_SYNTAX: return MX_FORMAT;
    case MX_TEMPLATE_RAISED:
    case MX_TEMPLATE_UNDEFINED:
    case MX_TEMPLATE_RUNTIME:
    case MX_TEMPLATE_LIMIT: return MX_INVALID;
    case MX_TEMPLATE_STOPPED: return MX_CANCELLED;
    case MX_TEMPLATE_NO_MEMORY: return MX_NO_MEMORY;
    }
    return MX_INVALID;
}

static mx_status fail_with(mx_tpl_run *run, mx_template_fault fault, const char *fmt, va_list args)
{
    char sentence[360];
    vsnprintf(sentence, sizeof sentence, fmt, args);
    run->fault = fault;
    return mx_fail(run->err, status_of(fault), "%s: line %d: %s", run->tree->name, (int)run->line, sentence);
}

mx_status mx_tpl_fail(mx_tpl_run *run, mx_template_fault fault, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const mx_status st = fail_with(run, fault, fmt, args);
    va_end(args);
    return st;
}

mx_status mx_tpl_fail_type(mx_tpl_run *run, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const mx_status st = fail_with(run, MX_TEMPLATE_RUNTIME, fmt, args);
    va_end(args);
    return st;
}

mx_status mx_tpl_fail_undefined(mx_tpl_run *run, mx_tpl_value undefined)
{
    const mx_tpl_undef *why = undefined.as.undef;
    if (!why) {
        return mx_tpl_fail(run, MX_TEMPLATE_UNDEFINED, "an undefined value is used");
    }
    if (why->hint.ptr) {
        return mx_tpl_fail(run, MX_TEMPLATE_UNDEFINED, "%.*s", MX_STR_ARG(why->hint));
    }
    if (why->is_forbidden) {
        return mx_tpl_fail(run, MX_TEMPLATE_RUNTIME, "access to attribute '%.*s' of '%s' object is unsafe",
                           MX_STR_ARG(why->name), why->owner);
    }
    if (why->owner) {
        return mx_tpl_fail(run, MX_TEMPLATE_UNDEFINED, "'%s object' has no attribute '%.*s'", why->owner,
                           MX_STR_ARG(why->name));
    }
    return mx_tpl_fail(run, MX_TEMPLATE_UNDEFINED, "'%.*s' is undefined", MX_STR_ARG(why->name));
}

mx_status mx_tpl_steps(mx_tpl_run *run, int64_t n)
{
    run->n_steps += n;
    if (run->n_steps < run->next_check) {
        return MX_OK;
    }
    if (run->n_steps > run->options.max_steps) {
        return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "the template takes more than %lld steps",
                           (long long)run->options.max_steps);
    }
    if (run->options.should_stop && run->options.should_stop(run->options.stop_arg)) {
        return mx_tpl_fail(run, MX_TEMPLATE_STOPPED, "rendering was stopped after %lld steps", (long long)run->n_steps);
    }
    run->next_check = MX_MIN(run->n_steps + STEPS_BETWEEN_CHECKS, run->options.max_steps + 1);
    return MX_OK;
}

mx_status mx_tpl_bytes_walked(mx_tpl_run *run, size_t n_bytes)
{
    return n_bytes < BYTES_A_STEP ? MX_OK : mx_tpl_steps(run, (int64_t)(n_bytes / BYTES_A_STEP));
}

mx_status mx_tpl_alloc(mx_tpl_run *run, size_t n_items, size_t item_size, void *out_ptr)
{
    size_t n_bytes = 0;
    void *ptr = NULL;
    if (mx_mul_size(n_items, item_size, &n_bytes)) {
        MX_TRY(mx_tpl_bytes_walked(run, n_bytes));
        ptr = mx_arena_alloc(&run->arena, n_bytes);
    }
    if (!ptr && n_bytes < run->arena.max_bytes && run->arena.n_bytes < run->arena.max_bytes - n_bytes) {
        run->fault = MX_TEMPLATE_NO_MEMORY;
        return mx_fail_no_memory(run->err, n_bytes, "rendering a chat template");
    }
    if (!ptr) {
        return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "the template takes more than %zu bytes of memory",
                           run->options.max_memory_bytes);
    }
    memcpy(out_ptr, &ptr, sizeof ptr);
    return MX_OK;
}

mx_status mx_tpl_enter(mx_tpl_run *run)
{
    if (run->depth >= run->options.max_depth) {
        return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "nested more than %d deep (endless recursion?)",
                           (int)run->options.max_depth);
    }
    run->depth++;
    return MX_OK;
}
