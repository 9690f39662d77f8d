#include "hub/model_name.h"

#include "tests/test.h"
#include "tests/tmpdir.h"

static void check_repo(const char *text, const char *owner, const char *name, const char *revision)
{
    mx_arena arena;
    mx_error err = {0};
    mx_model_name found;
    mx_arena_init(&arena, 1 << 16);
    MX_CHECK_OK(mx_model_name_parse(&arena, text, &found, &err), &err);
    MX_CHECK(!found.path);
    MX_CHECK_CSTR(found.owner, owner);
    MX_CHECK_CSTR(found.name, name);
    MX_CHECK_CSTR(found.revision, revision);
    MX_CHECK(found.has_revision == (strchr(text, '@') != NULL));
    mx_arena_deinit(&arena);
}

MX_TEST(repositories_have_three_forms)
{
    check_repo("Qwen/Qwen3-0.6B", "Qwen", "Qwen3-0.6B", "main");
    check_repo("Qwen3-0.6B-4bit", "mlx-community", "Qwen3-0.6B-4bit", "main");
    check_repo("a/b@v1.0", "a", "b", "v1.0");
    check_repo("b@refs/pr/7", "mlx-community", "b", "refs/pr/7");
    check_repo("a/b@0123456789abcdef0123456789ABCDEF01234567", "a", "b", "0123456789abcdef0123456789ABCDEF01234567");
}

MX_TEST(what_exists_or_is_written_as_a_path_is_one)
{
    static const char *const paths[] = {"./x", "../x", "/no/such", "~/x", "C:\\x", "C:x", "a\\b", "a/b/c", "a/b/"};
    mx_tmpdir dir;
    mx_error err = {0};
    mx_model_name found;
    mx_tmpdir_open(&dir);
    for (size_t i = 0; i < MX_COUNTOF(paths); i++) {
        MX_CHECK_OK(mx_model_name_parse(&dir.arena, paths[i], &found, &err), &err);
        MX_CHECK(found.path != NULL);
    }
    MX_CHECK_OK(mx_model_name_parse(&dir.arena, dir.path, &found, &err), &err);
    MX_CHECK_CSTR(found.path, dir.path);
    mx_tmpdir_close(&dir);
}

MX_TEST(anything_else_is_refused_with_the_three_forms)
{
    static const char *const names[] = {
        "",        "a b",        "-x",   ".x@y z",  "a/-b",  "a/b@",  "a/b@..",   "a/b@x..y", "a/b@/x",
        "a--b",    "a..b/c",     "a/b.", "a/b-",    "con/x", "x/nul", "aux.txt",  "x/COM1",   "a%2fb",
        "a/b@x y", "a/\xc3\xbc", "http", "a/b?c=d", "a/b#c", "a\nb",  "a/b@x\ty", "lpt9.x",
    };
    mx_arena arena;
    mx_arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < MX_COUNTOF(names); i++) {
        mx_error err = {0};
        mx_model_name found;
        if (strcmp(names[i], "http") == 0 || strcmp(names[i], ".x@y z") == 0) {
            continue; /* a name, and a path */
        }
        MX_CHECK_FAILS(mx_model_name_parse(&arena, names[i], &found, &err), MX_INVALID, &err, "owner/name@revision");
    }
    mx_arena_deinit(&arena);
}

MX_TEST(gguf_files_are_told_what_to_do)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_model_name found;
    mx_tmpdir_open(&dir);
    const char *path = mx_tmpdir_write(&dir, "model.Q4_0.GGUF", MX_STR("GGUF"));
    MX_CHECK_FAILS(mx_model_name_parse(&dir.arena, path, &found, &err), MX_INVALID, &err, "mlxcel convert");
    MX_CHECK_FAILS(mx_model_name_parse(&dir.arena, "absent.gguf", &found, &err), MX_INVALID, &err, "no such file");
    mx_tmpdir_close(&dir);
}

MX_TEST(file_names_from_outside_are_checked)
{
    static const char *const safe[] = {"config.json", "model-00001-of-00002.safetensors",
                                       "a",           "console",
                                       "com",         "Größe",
                                       "nulls.txt",   "com10",
                                       ".hidden",     "a b"};
    static const char *const unsafe[] = {"",      ".",       "..",        "a/b",        "a\\b",  "c:x",   "a*",
                                         "a?",    "a\"b",    "a<b",       "a|b",        "a.",    "a ",    "con",
                                         "NUL",   "nul.txt", "Com1.json", "lpt9",       "a\x01", "a\x7f", "a\xc2\x85",
                                         "a\xff", "aux ",    "prn .x",    "com\xc2\xb9"};
    for (size_t i = 0; i < MX_COUNTOF(safe); i++) {
        MX_CHECK(mx_file_name_is_safe(mx_str_from(safe[i])));
    }
    for (size_t i = 0; i < MX_COUNTOF(unsafe); i++) {
        if (mx_file_name_is_safe(mx_str_from(unsafe[i]))) {
            MX_TEST_FAIL("\"%s\" counts as safe", unsafe[i]);
        }
    }
    MX_CHECK(!mx_file_name_is_safe((mx_str){"a\0b", 3}));
}

MX_TEST_MAIN(MX_CASE(repositories_have_three_forms), MX_CASE(what_exists_or_is_written_as_a_path_is_one),
             MX_CASE(anything_else_is_refused_with_the_three_forms), MX_CASE(gguf_files_are_told_what_to_do),
             MX_CASE(file_names_from_outside_are_checked))
