/* golden_templates.c - real chat templates against what Python's jinja2 makes of them.
 *
 *     golden-templates DIR [--templates DIR2] [piece of a name ...]
 *
 * DIR holds one folder a template with template.jinja (else looked up in DIR2) and cases.jsonl; a line of the latter is
 *
 *     {"name":...,"context":{...},"expected":...}
 *     {"name":...,"context":{...},"error":...,"error_kind":...}     rendering fails; "raise_exception": with that text
 *
 * and may have a "template" of its own. The clock stands at 2024-07-26 12:34:56.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/golden/golden_folders.h"
#include "text/template/template.h"

#define MAX_FILE  ((size_t)1 << 30)
#define MAX_SHOWN 4 /* failures told of each folder */

typedef struct suite {
    const char *name;
    mx_template *tpl; /* of the folder; NULL where each line has its own */
    mx_buf out;
    int n_passed, n_failed;
} suite;

static void report_failure(suite *s, mx_str name, const char *what)
{
    if (++s->n_failed <= MAX_SHOWN) {
        printf("%s, %.*s: %s\n", s->name, MX_STR_ARG(name), what);
    }
}

/* The texts around the first byte that differs. */
static void show_difference(const suite *s, mx_str found, mx_str wanted)
{
    size_t at = 0;
    while (at < found.len && at < wanted.len && found.ptr[at] == wanted.ptr[at]) {
        at++;
    }
    const size_t from = at > 40 ? at - 40 : 0;
    const mx_str f = mx_str_slice(found, from, at + 80);
    const mx_str w = mx_str_slice(wanted, from, at + 80);
    if (s->n_failed <= MAX_SHOWN) {
        printf("    from byte %zu\n    found  \"%.*s\"\n    wanted \"%.*s\"\n", from, MX_STR_ARG(f), MX_STR_ARG(w));
    }
}

static void judge(suite *s, yyjson_val *line, mx_status st, const mx_template_report *report, const mx_error *err)
{
    const mx_str name = mx_json_view_str(yyjson_obj_get(line, "name"));
    const mx_str kind = mx_json_view_str(yyjson_obj_get(line, "error_kind"));
    yyjson_val *expected = yyjson_obj_get(line, "expected");
    const mx_str wanted = mx_json_view_str(expected ? expected : yyjson_obj_get(line, "error"));
    const bool is_raised = report->fault == MX_TEMPLATE_RAISED;
    const bool fails_as_wanted = st != MX_OK && !expected && is_raised == mx_str_eq_cstr(kind, "raise_exception");
    if (st != MX_OK && !fails_as_wanted) {
        report_failure(s, name, err->message);
    } else if (expected && !mx_str_eq(mx_buf_view(&s->out), wanted)) {
        report_failure(s, name, "the text differs");
        show_difference(s, mx_buf_view(&s->out), wanted);
    } else if (!expected && st == MX_OK) {
        report_failure(s, name, "rendering should have failed");
        show_difference(s, mx_buf_view(&s->out), wanted);
    } else if (!expected && report->fault == MX_TEMPLATE_RAISED && !mx_str_eq(mx_buf_view(&report->message), wanted)) {
        report_failure(s, name, "the message of raise_exception differs");
        show_difference(s, mx_buf_view(&report->message), wanted);
    } else {
        s->n_passed++;
    }
}

static void check_case(suite *s, yyjson_val *line)
{
    static const mx_template_clock clock = {2024, 7, 26, 12, 34, 56};
    const mx_template_options options = {.now = &clock};
    mx_error err = {0};
    mx_template *own = NULL;
    mx_template_report report = {0};
    mx_status st = MX_OK;
    yyjson_val *source = yyjson_obj_get(line, "template");
    s->out.len = 0;
    if (source) {
        st = mx_template_open(mx_json_view_str(source), "template", &own, &err);
    }
    if (st == MX_OK) {
        st = mx_template_render(own ? own : s->tpl, yyjson_obj_get(line, "context"), &options, &s->out, &report, &err);
    }
    judge(s, line, st, &report, &err);
    mx_template_report_deinit(&report);
    mx_template_close(own);
}

static void check_lines(suite *s, mx_str lines)
{
    for (size_t at = 0; at < lines.len;) {
        mx_error err;
        mx_json json = {0};
        size_t end = mx_str_find(lines, MX_STR("\n"), at);
        end = end == MX_STR_NPOS ? lines.len : end;
        if (end > at && mx_json_parse_exact(mx_str_slice(lines, at, end), "cases.jsonl", &json, &err) != MX_OK) {
            report_failure(s, MX_STR("a line"), err.message);
        } else if (end > at) {
            check_case(s, json.root);
        }
        mx_json_close(&json);
        at = end + 1;
    }
}

/* Opens the folder's template; none is fine, as lines may have their own. */
static mx_status open_template(suite *s, mx_arena *arena, const char *folder, const char *other_folder, mx_error *err)
{
    mx_buf source = {0};
    const char *path = mx_path_join(arena, folder, MX_STR("template.jinja"));
    if (path && other_folder && mx_file_kind_at(path) != MX_FILE_REGULAR) {
        path = mx_path_join(arena, other_folder, MX_STR("template.jinja"));
    }
    mx_status st = path ? MX_OK : mx_fail_no_memory(err, 256, "a path");
    if (st == MX_OK && mx_file_kind_at(path) == MX_FILE_REGULAR) {
        st = mx_file_read(path, MAX_FILE, &source, err);
        st = st == MX_OK ? mx_template_open(mx_buf_view(&source), "template", &s->tpl, err) : st;
    }
    mx_buf_deinit(&source);
    return st;
}

/* Runs the cases of one folder; `templates` is DIR2 or NULL. */
static void run_folder(void *templates, const char *folder, mx_str name, golden_tally *tally)
{
    mx_error err;
    mx_arena arena;
    mx_buf cases = {0};
    mx_arena_init(&arena, (size_t)1 << 20);
    const char *other = templates ? mx_path_join(&arena, templates, name) : NULL;
    const char *path = mx_path_join(&arena, folder, MX_STR("cases.jsonl"));
    suite s = {.name = folder, .out = {.max = MAX_FILE}};
    if (!path || mx_file_read(path, MAX_FILE, &cases, &err) != MX_OK) {
        report_failure(&s, name, path ? err.message : "out of memory");
    } else if (open_template(&s, &arena, folder, other, &err) != MX_OK) {
        report_failure(&s, name, err.message);
    } else {
        check_lines(&s, mx_buf_view(&cases));
    }
    if (s.n_failed) {
        printf("%.*s: %d passed, %d failed\n", MX_STR_ARG(name), s.n_passed, s.n_failed);
    }
    tally->n_passed += s.n_passed;
    tally->n_failed += s.n_failed;
    mx_arena_deinit(&arena);
    mx_template_close(s.tpl);
    mx_buf_deinit(&s.out);
    mx_buf_deinit(&cases);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: golden-templates DIR [--templates DIR2] [piece of a name ...]\n");
        return 2;
    }
    const bool has_templates = argc > 3 && strcmp(argv[2], "--templates") == 0;
    const int first = has_templates ? 4 : 2;
    return golden_run(argv[1], argv + first, argc - first, run_folder, has_templates ? argv[3] : NULL);
}
