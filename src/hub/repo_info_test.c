#include "hub/repo_info.h"

#include "tests/test.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define HASH   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define WITH(files) \
    "{\"id\": \"a/b\", \"sha\": \"" COMMIT "\", \"siblings\": [{\"rfilename\": \"model.safetensors\"}" files "]}"

static mx_status parse(mx_arena *arena, const char *text, mx_repo_info *info, mx_error *err)
{
    mx_arena_init(arena, 1 << 20);
    return mx_repo_info_parse(arena, mx_str_from(text), "a/b", info, err);
}

MX_TEST(reads_commit_names_sizes_and_hashes)
{
    mx_arena arena;
    mx_error err = {0};
    mx_repo_info info;
    MX_CHECK_OK(parse(&arena,
                      "{\"sha\": \"" COMMIT "\", \"siblings\": [{\"rfilename\": \"README.md\", \"size\": 3}, "
                      "{\"rfilename\": \"config.json\", \"size\": 12, \"lfs\": null}, {\"rfilename\": "
                      "\"model.safetensors\", \"size\": 9000000000, \"lfs\": {\"sha256\": \"" HASH
                      "\", \"size\": 9000000000, \"pointerSize\": 130}}]}",
                      &info, &err),
                &err);
    MX_CHECK_CSTR(info.commit, COMMIT);
    MX_CHECK_I64(info.n_files, 2);
    MX_CHECK_I64(info.n_other, 1);
    MX_CHECK_CSTR(info.files[0].name, "config.json");
    MX_CHECK_I64(info.files[0].n_bytes, 12);
    MX_CHECK(!info.files[0].has_sha256);
    MX_CHECK_I64(info.files[1].n_bytes, 9000000000);
    MX_CHECK(info.files[1].has_sha256 && info.files[1].sha256.bytes[0] == 0xba);
    mx_arena_deinit(&arena);
}

MX_TEST(sizes_may_be_missing)
{
    mx_arena arena;
    mx_error err = {0};
    mx_repo_info info;
    MX_CHECK_OK(parse(&arena, WITH(""), &info, &err), &err);
    MX_CHECK_I64(info.files[0].n_bytes, -1);
    mx_arena_deinit(&arena);
}

MX_TEST(names_that_leave_the_folder_are_refused)
{
    static const char *const answers[] = {
        WITH(", {\"rfilename\": \"../evil.json\"}"),
        WITH(", {\"rfilename\": \"1_Pooling/../evil.json\"}"),
        WITH(", {\"rfilename\": \"/etc/evil.json\"}"),
        WITH(", {\"rfilename\": \"C:evil.json\"}"),
        WITH(", {\"rfilename\": \"a\\\\evil.json\"}"),
        WITH(", {\"rfilename\": \"nul.json\"}"),
        WITH(", {\"rfilename\": \".mlxcel.json\"}"),
        WITH(", {\"rfilename\": \"a\\u0000.json\"}"),
        WITH(", {\"rfilename\": \"\\u001b[31m.json\"}"),
        WITH(", {\"rfilename\": \"MODEL.safetensors\"}"),
        WITH(", {\"rfilename\": \"config.json\", \"size\": -1}"),
        WITH(", {\"rfilename\": \"config.json\", \"lfs\": {\"sha256\": \"12\"}}"),
    };
    for (size_t i = 0; i < MX_COUNTOF(answers); i++) {
        mx_arena arena;
        mx_error err = {0};
        mx_repo_info info;
        const mx_status st = parse(&arena, answers[i], &info, &err);
        /* A folder that we want nothing of is passed over; what is wanted must be safe. */
        for (size_t k = 0; st == MX_OK && k < info.n_files; k++) {
            MX_CHECK(!strstr(info.files[k].name, "evil"));
        }
        MX_CHECK(st == MX_FORMAT || (st == MX_OK && strstr(answers[i], "evil")));
        mx_arena_deinit(&arena);
    }
}

static const char no_siblings[] = "{\"sha\": \"" COMMIT "\"}";

MX_TEST(answers_that_are_none_are_refused)
{
    static const char *const answers[] = {
        "", "<html>", "[]", "{}", "{\"sha\": 3}", "{\"sha\": \"main\", \"siblings\": []}", no_siblings};
    for (size_t i = 0; i < MX_COUNTOF(answers); i++) {
        mx_arena arena;
        mx_error err = {0};
        mx_repo_info info;
        MX_CHECK(parse(&arena, answers[i], &info, &err) == MX_FORMAT);
        mx_arena_deinit(&arena);
    }
}

MX_TEST(repositories_without_safetensors_are_told_apart)
{
    mx_arena arena;
    mx_error err = {0};
    mx_repo_info info;
    MX_CHECK_FAILS(
        parse(&arena, "{\"sha\": \"" COMMIT "\", \"siblings\": [{\"rfilename\": \"m.Q4.gguf\"}]}", &info, &err),
        MX_NOT_FOUND, &err, "GGUF");
    mx_arena_deinit(&arena);
    MX_CHECK_FAILS(
        parse(&arena, "{\"sha\": \"" COMMIT "\", \"siblings\": [{\"rfilename\": \"pytorch_model.bin\"}]}", &info, &err),
        MX_NOT_FOUND, &err, "no safetensors");
    mx_arena_deinit(&arena);
}

MX_TEST(only_what_a_model_needs_is_wanted)
{
    static const char *const yes[] = {"config.json",
                                      "tokenizer.model",
                                      "merges.txt",
                                      "vocab.txt",
                                      "chat_template.jinja",
                                      "model-00001-of-00002.safetensors",
                                      "additional_chat_templates/tool_use.jinja",
                                      "1_Pooling/config.json",
                                      "LICENSE",
                                      "LICENSE.txt"};
    static const char *const no[] = {"README.md",
                                     "pytorch_model.bin",
                                     "onnx/model.json",
                                     "original/params.json",
                                     "consolidated.safetensors",
                                     "adapter_model.safetensors",
                                     "run.py",
                                     "image.png",
                                     "notes.txt",
                                     "sub/model.safetensors",
                                     "model.gguf"};
    for (size_t i = 0; i < MX_COUNTOF(yes); i++) {
        MX_CHECK(mx_repo_file_is_wanted(mx_str_from(yes[i])));
    }
    for (size_t i = 0; i < MX_COUNTOF(no); i++) {
        MX_CHECK(!mx_repo_file_is_wanted(mx_str_from(no[i])));
    }
}

MX_TEST_MAIN(MX_CASE(reads_commit_names_sizes_and_hashes), MX_CASE(sizes_may_be_missing),
             MX_CASE(names_that_leave_the_folder_are_refused), MX_CASE(answers_that_are_none_are_refused),
             MX_CASE(repositories_without_safetensors_are_told_apart), MX_CASE(only_what_a_model_needs_is_wanted))
