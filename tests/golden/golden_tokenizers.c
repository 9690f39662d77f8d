/* golden_tokenizers.c - real tokenizers against the values of the library that defines tokenizer.json.
 *
 *     golden-tokenizers DIR [piece of a name ...]
 *
 * DIR holds one folder a tokenizer with tokenizer.json and golden.jsonl; the lines of the latter are one case each:
 *
 *     {"kind":"encode","text":...,"add_special_tokens":true,"ids":[...]}      special tokens in the text count
 *     {"kind":"encode_plain", the same}                                       they are plain text
 *     {"kind":"decode","ids":[...],"skip_special_tokens":true,"text":...}
 *
 * A decode case is also fed to the streaming detokenizer: the pieces must be whole characters and join to the same
 * text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tests/golden/golden_folders.h"
#include "text/tokenizer/tokenizer.h"

#define MAX_FILE  ((size_t)1 << 30)
#define MAX_SHOWN 4 /* failures told of each tokenizer */
#define MAX_IDS   ((size_t)1 << 26)

typedef struct suite {
    const char *name;
    mx_tokenizer *tok;
    mx_encoder *enc;
    mx_ids ids;
    mx_ids wanted;
    mx_buf text;
    mx_buf streamed;
    int n_passed, n_failed;
} suite;

static void show_ids(const char *label, const mx_ids *ids, size_t from)
{
    printf("    %s", label);
    for (size_t i = from > 3 ? from - 3 : 0; i < ids->len && i < from + 8; i++) {
        printf(" %" PRId32, ids->data[i]);
    }
    printf("\n");
}

static void report(suite *s, size_t line, const char *what)
{
    if (++s->n_failed <= MAX_SHOWN) {
        printf("%s, line %zu: %s\n", s->name, line, what);
    }
}

static mx_status read_ids(yyjson_val *list, mx_ids *ids, mx_error *err)
{
    ids->len = 0;
    yyjson_arr_iter items = yyjson_arr_iter_with(list);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&items));) {
        const int64_t id = yyjson_get_sint(item);
        const int32_t clamped = id > INT32_MAX ? INT32_MAX : (int32_t)id;
        MX_TRY(mx_ids_append(ids, &clamped, 1, err));
    }
    return MX_OK;
}

static void check_encode(suite *s, size_t line, yyjson_val *obj, bool is_plain)
{
    mx_error err;
    const bool add = yyjson_get_bool(yyjson_obj_get(obj, "add_special_tokens"));
    const unsigned flags = (is_plain ? 0 : MX_ENCODE_SPECIAL) | (add ? MX_ENCODE_TEMPLATE : 0);
    s->ids.len = 0;
    mx_status st = read_ids(yyjson_obj_get(obj, "ids"), &s->wanted, &err);
    st = st == MX_OK ? mx_encode(s->enc, mx_json_view_str(yyjson_obj_get(obj, "text")), flags, &s->ids, &err) : st;
    if (st != MX_OK) {
        report(s, line, err.message);
        return;
    }
    size_t at = 0;
    while (at < s->ids.len && at < s->wanted.len && s->ids.data[at] == s->wanted.data[at]) {
        at++;
    }
    if (at == s->ids.len && at == s->wanted.len) {
        s->n_passed++;
        return;
    }
    report(s, line, is_plain ? "encode_plain differs" : "encode differs");
    if (s->n_failed <= MAX_SHOWN) {
        show_ids("found ", &s->ids, at);
        show_ids("wanted", &s->wanted, at);
    }
}

static mx_status stream(suite *s, bool skip_special, mx_error *err)
{
    mx_detokenizer *detok = NULL;
    s->streamed.len = 0;
    mx_status st = mx_detokenizer_new(s->tok, skip_special, &detok, err);
    for (size_t i = 0; st == MX_OK && i < s->wanted.len; i++) {
        const size_t before = s->streamed.len;
        st = mx_detokenizer_push(detok, s->wanted.data[i], &s->streamed, err);
        if (st == MX_OK && !mx_utf8_is_valid(mx_str_slice(mx_buf_view(&s->streamed), before, s->streamed.len))) {
            st = mx_fail(err, MX_FORMAT, "the stream gives half a character");
        }
    }
    st = st == MX_OK ? mx_detokenizer_finish(detok, &s->streamed, err) : st;
    mx_detokenizer_free(detok);
    return st;
}

static void check_decode(suite *s, size_t line, yyjson_val *obj)
{
    mx_error err;
    const bool skip_special = yyjson_get_bool(yyjson_obj_get(obj, "skip_special_tokens"));
    const mx_str wanted = mx_json_view_str(yyjson_obj_get(obj, "text"));
    s->text.len = 0;
    mx_status st = read_ids(yyjson_obj_get(obj, "ids"), &s->wanted, &err);
    st = st == MX_OK ? mx_decode(s->tok, s->wanted.data, s->wanted.len, skip_special, &s->text, &err) : st;
    st = st == MX_OK ? stream(s, skip_special, &err) : st;
    if (st != MX_OK) {
        report(s, line, err.message);
    } else if (!mx_str_eq(mx_buf_view(&s->text), wanted)) {
        report(s, line, "decode differs");
        if (s->n_failed <= MAX_SHOWN) {
            printf("    found  \"%.*s\"\n    wanted \"%.*s\"\n", (int)MX_MIN(s->text.len, (size_t)200), s->text.data,
                   (int)MX_MIN(wanted.len, (size_t)200), wanted.ptr);
        }
    } else if (!mx_str_eq(mx_buf_view(&s->streamed), wanted)) {
        report(s, line, "the streamed pieces do not join to the text");
    } else {
        s->n_passed++;
    }
}

static void check_line(suite *s, size_t line, mx_str text)
{
    mx_error err;
    mx_json json = {0};
    if (mx_json_parse(text, "golden.jsonl", &json, &err) != MX_OK) {
        report(s, line, err.message);
        return;
    }
    const mx_str kind = mx_json_view_str(yyjson_obj_get(json.root, "kind"));
    if (mx_str_eq_cstr(kind, "decode")) {
        check_decode(s, line, json.root);
    } else if (mx_str_eq_cstr(kind, "encode") || mx_str_eq_cstr(kind, "encode_plain")) {
        check_encode(s, line, json.root, mx_str_eq_cstr(kind, "encode_plain"));
    } else {
        report(s, line, "a case of unknown kind");
    }
    mx_json_close(&json);
}

static void check_lines(suite *s, mx_str lines)
{
    size_t line = 1;
    for (size_t at = 0; at < lines.len; line++) {
        size_t end = mx_str_find(lines, MX_STR("\n"), at);
        end = end == MX_STR_NPOS ? lines.len : end;
        if (end > at) {
            check_line(s, line, mx_str_slice(lines, at, end));
        }
        at = end + 1;
    }
}

static mx_status open_suite(suite *s, mx_arena *arena, const char *folder, mx_buf *cases, mx_error *err)
{
    mx_buf json = {0};
    const char *path = mx_path_join(arena, folder, MX_STR("tokenizer.json"));
    const char *cases_path = mx_path_join(arena, folder, MX_STR("golden.jsonl"));
    mx_status st = path && cases_path ? MX_OK : mx_fail_no_memory(err, 256, "a path");
    MX_TRY_OR(done, st, st);
    MX_TRY_OR(done, st, mx_file_read(path, MAX_FILE, &json, err));
    MX_TRY_OR(done, st, mx_file_read(cases_path, MAX_FILE, cases, err));
    MX_TRY_OR(done, st, mx_tokenizer_open(mx_buf_view(&json), path, &s->tok, err));
    MX_TRY_OR(done, st, mx_encoder_new(s->tok, &s->enc, err));
done:
    mx_buf_deinit(&json);
    return st;
}

static void run_folder(void *ctx, const char *folder, mx_str name, golden_tally *tally)
{
    mx_error err;
    mx_arena arena;
    mx_buf cases = {0};
    (void)ctx;
    mx_arena_init(&arena, (size_t)1 << 20);
    suite s = {.name = folder,
               .ids = {.max = MAX_IDS},
               .wanted = {.max = MAX_IDS},
               .text = {.max = MAX_FILE},
               .streamed = {.max = MAX_FILE}};
    if (open_suite(&s, &arena, folder, &cases, &err) != MX_OK) {
        report(&s, 0, err.message);
    } else {
        check_lines(&s, mx_buf_view(&cases));
        printf("%.*s: %d passed, %d failed\n", MX_STR_ARG(name), s.n_passed, s.n_failed);
    }
    tally->n_passed += s.n_passed;
    tally->n_failed += s.n_failed;
    mx_arena_deinit(&arena);
    mx_encoder_free(s.enc);
    mx_tokenizer_close(s.tok);
    mx_ids_deinit(&s.ids);
    mx_ids_deinit(&s.wanted);
    mx_buf_deinit(&s.text);
    mx_buf_deinit(&s.streamed);
    mx_buf_deinit(&cases);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: golden-tokenizers DIR [piece of a name ...]\n");
        return 2;
    }
    return golden_run(argv[1], argv + 2, argc - 2, run_folder, NULL);
}
