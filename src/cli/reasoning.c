/* reasoning.c - the marks of thinking, found byte by byte. */
#include "cli/reasoning.h"

#include <string.h>

#include "base/compiler.h"

static const struct {
    mx_str open, close;
} marks[] = {
    {MX_STR_INIT("<think>"), MX_STR_INIT("</think>")},
    {MX_STR_INIT("<seed:think>"), MX_STR_INIT("</seed:think>")},
    {MX_STR_INIT("[THINK]"), MX_STR_INIT("[/THINK]")},
    {MX_STR_INIT("<|START_THINKING|>"), MX_STR_INIT("<|END_THINKING|>")},
};

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

void mx_reasoning_begin(mx_reasoning *r, mx_str prompt_tail)
{
    r->state = MX_REASONING_MAY_BEGIN;
    r->n_held = 0;
    r->skip_space = false;
    while (prompt_tail.len > 0 && is_space(prompt_tail.ptr[prompt_tail.len - 1])) {
        prompt_tail.len--;
    }
    for (size_t i = 0; i < MX_COUNTOF(marks); i++) {
        if (mx_str_ends_with(prompt_tail, marks[i].open)) {
            r->state = MX_REASONING_INSIDE;
            r->i_marks = (int32_t)i;
            r->skip_space = true;
        }
    }
}

static mx_status pass(mx_reasoning *r, mx_str text, mx_error *err)
{
    while (r->skip_space && text.len > 0 && is_space(text.ptr[0])) {
        text = mx_str_slice(text, 1, text.len);
    }
    r->skip_space &= text.len == 0;
    return text.len > 0 ? r->write(r->arg, r->state == MX_REASONING_INSIDE, text, err) : MX_OK;
}

/* What is held was no mark: its first byte is passed on, the rest looked at again. */
static mx_status release(mx_reasoning *r, mx_error *err);

/* Whether what is held begins a mark that counts now; *is_whole where it is one. */
static bool may_be_mark(mx_reasoning *r, bool *is_whole)
{
    const mx_str held = {r->held, r->n_held};
    *is_whole = false;
    for (size_t i = 0; i < MX_COUNTOF(marks); i++) {
        const bool is_inside = r->state == MX_REASONING_INSIDE;
        const mx_str mark = is_inside ? marks[i].close : marks[i].open;
        if ((!is_inside || (int32_t)i == r->i_marks) && mx_str_starts_with(mark, held)) {
            *is_whole = mark.len == held.len;
            r->i_marks = *is_whole ? (int32_t)i : r->i_marks;
            return true;
        }
    }
    return false;
}

static mx_status settle(mx_reasoning *r, mx_error *err)
{
    bool is_whole;
    if (r->n_held == 0) {
        return MX_OK;
    }
    if (r->state == MX_REASONING_MAY_BEGIN && is_space(r->held[0]) && r->n_held == 1) {
        r->n_held = 0; /* an answer does not begin with white space */
        return MX_OK;
    }
    if (!may_be_mark(r, &is_whole)) {
        return release(r, err);
    }
    if (is_whole) {
        r->state = r->state == MX_REASONING_INSIDE ? MX_REASONING_AFTER : MX_REASONING_INSIDE;
        r->n_held = 0;
        r->skip_space = true;
    }
    return MX_OK;
}

static mx_status release(mx_reasoning *r, mx_error *err)
{
    if (r->state == MX_REASONING_MAY_BEGIN) {
        r->state = MX_REASONING_AFTER;
        const size_t n = r->n_held;
        r->n_held = 0;
        return pass(r, (mx_str){r->held, n}, err);
    }
    const char first = r->held[0];
    memmove(r->held, r->held + 1, --r->n_held);
    MX_TRY(pass(r, (mx_str){&first, 1}, err));
    return settle(r, err);
}

mx_status mx_reasoning_feed(mx_reasoning *r, mx_str text, mx_error *err)
{
    for (size_t i = 0; i < text.len; i++) {
        if (r->state == MX_REASONING_AFTER) {
            return pass(r, mx_str_slice(text, i, text.len), err);
        }
        if (r->n_held == 0 && r->state == MX_REASONING_INSIDE) { /* a stretch without a mark in one piece */
            const char *next = memchr(text.ptr + i, marks[r->i_marks].close.ptr[0], text.len - i);
            const size_t end = next ? (size_t)(next - text.ptr) : text.len;
            MX_TRY(pass(r, mx_str_slice(text, i, end), err));
            if (end == text.len) {
                return MX_OK;
            }
            i = end;
        }
        r->held[r->n_held++] = text.ptr[i]; /* the marks are shorter than the room */
        MX_TRY(settle(r, err));
    }
    return MX_OK;
}

mx_status mx_reasoning_end(mx_reasoning *r, mx_error *err)
{
    const size_t n = r->n_held;
    r->n_held = 0;
    return pass(r, (mx_str){r->held, n}, err);
}
