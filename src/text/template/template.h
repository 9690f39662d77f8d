/* template.h - chat templates: Jinja with Python's semantics.
 *
 * A template is parsed once and rendered many times. What it accepts and prints is what Python's jinja2 3.1.6 does in
 * the environment that the transformers library sets up: the immutable sandbox, trim_blocks and lstrip_blocks, loop
 * controls, tojson without HTML escaping, raise_exception, strftime_now and {% generation %} blocks. Templates come
 * with models and are not trusted: steps, nesting, memory, output and (through a callback) time are limited, and
 * nothing reaches files or the network.
 *
 * An open template does not change, so any number of threads may render it at once. Rendering takes its memory from an
 * arena of its own and gives everything back before it returns. It recurses on the caller's stack: at most about
 * 0.5 MiB with the default max_depth.
 */
#ifndef MX_TEXT_TEMPLATE_TEMPLATE_H
#define MX_TEXT_TEMPLATE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

typedef struct mx_template mx_template;

/* What went wrong, for callers that answer differently. */
typedef enum mx_template_fault {
    MX_TEMPLATE_NO_FAULT,
    MX_TEMPLATE_SYNTAX,    /* the template does not parse: MX_FORMAT, from mx_template_open */
    MX_TEMPLATE_RAISED,    /* it called raise_exception(message): MX_INVALID; the message is meant for the user */
    MX_TEMPLATE_UNDEFINED, /* it used a value that is not defined: MX_INVALID */
    MX_TEMPLATE_RUNTIME,   /* wrong types, a forbidden attribute, a bad argument, ...: MX_INVALID */
    MX_TEMPLATE_LIMIT,     /* a limit below was reached: MX_INVALID */
    MX_TEMPLATE_STOPPED,   /* should_stop said so: MX_CANCELLED */
    MX_TEMPLATE_NO_MEMORY, /* the heap is exhausted: MX_NO_MEMORY */
} mx_template_fault;

/* Parses a template.
 *
 * source   borrowed for the call; UTF-8
 * name     names it in errors, as in "chat template: line 3: ..."; copied
 * out      owned by the caller
 * MX_FORMAT (syntax, unknown filter, tag or test; the sentence has the line and the construct), MX_NO_MEMORY.
 */
mx_status mx_template_open(mx_str source, const char *name, mx_template **out, mx_error *err) MX_NODISCARD;

/* NULL is fine. No render may be under way. */
void mx_template_close(mx_template *tpl);

/* Broken-down local time, what strftime_now(format) prints. */
typedef struct mx_template_clock {
    int32_t year;   /* 2024 */
    int32_t month;  /* 1 to 12 */
    int32_t day;    /* 1 to 31 */
    int32_t hour;   /* 0 to 23 */
    int32_t minute; /* 0 to 59 */
    int32_t second; /* 0 to 60 */
} mx_template_clock;

/* How to render; zero fields take the defaults given. */
typedef struct mx_template_options {
    const mx_template_clock *now;   /* NULL: the system's local time */
    size_t max_output_bytes;        /* 16 MiB */
    size_t max_memory_bytes;        /* 256 MiB, everything that the render holds at once */
    int64_t max_steps;              /* 20 million: one for each node evaluated and each item gone through */
    int32_t max_depth;              /* 1,600 nested evaluations, macro calls counting with all that they contain */
    bool (*should_stop)(void *arg); /* asked every thousand steps or so; true ends the render; may be NULL */
    void *stop_arg;
} mx_template_options;

/* What a failed render tells beside the mx_error. */
typedef struct mx_template_report {
    mx_template_fault fault;
    int32_t line; /* line of the template, from 1; 0 where there is none */
    mx_buf
        message; /* owned; for MX_TEMPLATE_RAISED the exact text given to raise_exception, of any length; else empty */
} mx_template_report;

/* Frees the message. A zeroed report is fine. */
void mx_template_report_deinit(mx_template_report *report);

/* Renders into *out (appending; its max is a limit too).
 *
 * context   a JSON object: the variables that the template sees, borrowed for the call. null is none, an absent member
 *           is undefined; integers and floats are told apart as they were in the JSON text and objects keep their
 * order. NULL counts as an empty object. Integers beyond 64 bits need a document read with YYJSON_READ_BIGNUM_AS_RAW.
 * options   NULL: all defaults
 * report    may be NULL; initialised here, and to be freed with mx_template_report_deinit when the render failed
 * On failure *out keeps its length. The statuses are those of mx_template_fault.
 */
mx_status mx_template_render(const mx_template *tpl, yyjson_val *context, const mx_template_options *options,
                             mx_buf *out, mx_template_report *report, mx_error *err) MX_NODISCARD;

#endif
