#include "hub/store.h"

#include "platform/file.h"
#include "platform/write_file.h"
#include "tests/test.h"
#include "tests/tmpdir.h"
#include "tests/write_safetensors.h"

#define COMMIT  "0123456789abcdef0123456789abcdef01234567"
#define COMMIT2 "fedcba9876543210fedcba9876543210fedcba98"

static mx_tmpdir dir;
static mx_store store;
static mx_error err;

static void open_store(void)
{
    mx_tmpdir_open(&dir);
    store = (mx_store){.models = mx_tmpdir_path(&dir, "models"),
                       .locks = mx_tmpdir_path(&dir, "locks"),
                       .hf_hub = mx_tmpdir_path(&dir, "hf")};
    mx_arena_init(&store.arena, 1 << 20);
}

static void close_store(void)
{
    mx_store_close(&store);
    mx_tmpdir_close(&dir);
}

static void write_file(const char *folder, const char *name, mx_str bytes)
{
    MX_CHECK_OK(mx_dir_create_all(mx_tmpdir_path(&dir, folder), &err), &err);
    const char *path = mx_arena_printf(&dir.arena, "%s/%s", folder, name);
    mx_tmpdir_write(&dir, path, bytes);
}

static void write_weights(const char *folder, const char *name)
{
    mx_st_writer writer;
    mx_st_writer_init(&writer);
    mx_st_writer_add(&writer, name, "U8", "[2]", "ab", 2);
    write_file(folder, name, mx_st_writer_finish(&writer));
    mx_st_writer_deinit(&writer);
}

static const char *write_model(const char *folder)
{
    write_file(folder, "config.json", MX_STR("{}"));
    write_file(folder, "tokenizer.json", MX_STR("{}"));
    write_weights(folder, "model.safetensors");
    return mx_tmpdir_path(&dir, folder);
}

static mx_status find(const char *text, const char **out)
{
    mx_model_name name;
    *out = NULL;
    MX_CHECK_OK(mx_model_name_parse(&dir.arena, text, &name, &err), &err);
    return mx_store_find(&store, &dir.arena, &name, out, &err);
}

static void check_found(const char *text, const char *wanted)
{
    const char *found;
    MX_CHECK_OK(find(text, &found), &err);
    MX_CHECK_CSTR(found ? found : "", wanted);
}

MX_TEST(finds_a_model_by_revision_tag_and_commit)
{
    const char *found;
    open_store();
    const char *first = write_model("models/o/n/" COMMIT);
    const char *second = write_model("models/o/n/" COMMIT2);
    write_file("models/o/n/refs", "main", MX_STR(COMMIT "\n"));
    write_file("models/o/n/refs", "refs%2Fpr%2F1", MX_STR(COMMIT2));
    check_found("o/n", first);
    check_found("o/n@main", first);
    check_found("o/n@" COMMIT2, second);
    check_found("o/n@refs/pr/1", second);
    MX_CHECK_FAILS(find("o/n@v2", &found), MX_NOT_FOUND, &err, "o/n@v2 is not on this machine");
    MX_CHECK_FAILS(find("o/m", &found), MX_NOT_FOUND, &err, "o/m is not on this machine");
    close_store();
}

MX_TEST(uses_a_whole_snapshot_of_the_hugging_face_cache_in_place)
{
    const char *found;
    open_store();
    const char *snapshot = write_model("hf/models--o--n/snapshots/" COMMIT);
    write_file("hf/models--o--n/refs", "main", MX_STR(COMMIT));
    check_found("o/n", snapshot);
    check_found("o/n@" COMMIT, snapshot);
    /* One that lacks a shard is not whole, and the sentence says so. */
    write_file("hf/models--o--p/snapshots/" COMMIT, "model.safetensors.index.json",
               MX_STR("{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\","
                      "\"b\":\"model-00002-of-00002.safetensors\"}}"));
    write_file("hf/models--o--p/snapshots/" COMMIT, "config.json", MX_STR("{}"));
    write_file("hf/models--o--p/snapshots/" COMMIT, "tokenizer.json", MX_STR("{}"));
    write_weights("hf/models--o--p/snapshots/" COMMIT, "model-00001-of-00002.safetensors");
    write_file("hf/models--o--p/refs", "main", MX_STR(COMMIT));
    MX_CHECK_FAILS(find("o/p", &found), MX_NOT_FOUND, &err, "model-00002-of-00002.safetensors is missing");
    close_store();
}

MX_TEST(a_model_that_is_not_whole_is_not_found_and_says_why)
{
    static const struct {
        const char *name;
        const char *content;
        const char *piece;
    } cases[] = {
        {"config.json", NULL, "config.json is missing"},
        {"tokenizer.json", NULL, "tokenizer.json is missing"},
        {"model.safetensors", NULL, "model.safetensors"},
        {"model.safetensors", "short", "model.safetensors"},
        {"config.json", "{ }", "config.json: has 3 bytes, was downloaded with 2"},
    };
    for (size_t i = 0; i < MX_COUNTOF(cases); i++) {
        const char *found;
        open_store();
        const char *model = write_model("models/o/n/" COMMIT);
        write_file("models/o/n/refs", "main", MX_STR(COMMIT));
        write_file("models/o/n/" COMMIT, MX_MANIFEST_NAME,
                   MX_STR("{\"files\": [{\"name\": \"config.json\", \"bytes\": 2}]}"));
        check_found("o/n", model);
        const char *path = mx_arena_printf(&dir.arena, "%s/%s", model, cases[i].name);
        if (cases[i].content) {
            MX_CHECK_OK(mx_file_write(path, mx_str_from(cases[i].content), &err), &err);
        } else {
            MX_CHECK_OK(mx_file_remove(path, &err), &err);
        }
        MX_CHECK_FAILS(find("o/n", &found), MX_NOT_FOUND, &err, cases[i].piece);
        close_store();
    }
}

MX_TEST(a_stale_index_beside_a_single_file_is_no_damage)
{
    open_store();
    const char *model = write_model("models/o/n/" COMMIT);
    write_file("models/o/n/refs", "main", MX_STR(COMMIT));
    write_file("models/o/n/" COMMIT, "model.safetensors.index.json",
               MX_STR("{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\"}}"));
    check_found("o/n", model);
    close_store();
}

MX_TEST(lists_both_places_and_suggests_the_nearest)
{
    mx_store_list list;
    open_store();
    write_model("models/o/Qwen3-4bit/" COMMIT);
    write_file("models/o/Qwen3-4bit/refs", "main", MX_STR(COMMIT));
    write_file("models/o/half/" COMMIT ".part", "config.json", MX_STR("{}"));
    write_model("hf/models--a--b/snapshots/" COMMIT2);
    write_file("hf/models--a--image/snapshots/" COMMIT2, "model_index.json", MX_STR("{}"));
    MX_CHECK_OK(mx_store_list_models(&store, &dir.arena, &list, &err), &err);
    MX_CHECK_I64(list.n, 3);
    MX_CHECK_CSTR(list.items[0].owner, "a");
    MX_CHECK(list.items[0].is_in_hf_cache && list.items[0].is_complete);
    MX_CHECK_CSTR(list.items[1].name, "Qwen3-4bit");
    MX_CHECK_CSTR(list.items[1].revision, "main");
    MX_CHECK(list.items[1].n_bytes > 20 && list.items[1].is_complete);
    MX_CHECK(list.items[2].is_partial && !list.items[2].is_complete && list.items[2].complaint);
    MX_CHECK_CSTR(mx_store_suggest(&dir.arena, &list, "Qwen3-4bti"), "o/Qwen3-4bit");
    MX_CHECK_CSTR(mx_store_suggest(&dir.arena, &list, "p/Qwen3-4bit"), "o/Qwen3-4bit");
    MX_CHECK(!mx_store_suggest(&dir.arena, &list, "Llama-3.2-1B"));
    close_store();
}

MX_TEST(removes_what_is_ours_alone)
{
    mx_store_list list;
    mx_file_lock lock;
    open_store();
    const char *model = write_model("models/o/n/" COMMIT);
    write_file("models/o/n/refs", "main", MX_STR(COMMIT));
    write_model("hf/models--a--b/snapshots/" COMMIT);
    MX_CHECK_OK(mx_store_list_models(&store, &dir.arena, &list, &err), &err);
    MX_CHECK_FAILS(mx_store_remove(&store, &list.items[0], &err), MX_INVALID, &err, "Hugging Face cache");
    MX_CHECK_OK(mx_dir_create_all(store.locks, &err), &err);
    MX_CHECK_OK(mx_file_lock_take(mx_store_lock_path(&store, &dir.arena, "o", "n"), &lock, &err), &err);
    MX_CHECK_FAILS(mx_store_remove(&store, &list.items[1], &err), MX_BUSY, &err, "being downloaded");
    MX_CHECK(mx_file_kind_at(model) == MX_FILE_DIR);
    mx_file_lock_release(&lock);
    MX_CHECK_OK(mx_store_remove(&store, &list.items[1], &err), &err);
    MX_CHECK(mx_file_kind_at(mx_tmpdir_path(&dir, "models/o")) == MX_FILE_MISSING);
    close_store();
}

MX_TEST_MAIN(MX_CASE(finds_a_model_by_revision_tag_and_commit),
             MX_CASE(uses_a_whole_snapshot_of_the_hugging_face_cache_in_place),
             MX_CASE(a_model_that_is_not_whole_is_not_found_and_says_why),
             MX_CASE(a_stale_index_beside_a_single_file_is_no_damage),
             MX_CASE(lists_both_places_and_suggests_the_nearest), MX_CASE(removes_what_is_ours_alone))
