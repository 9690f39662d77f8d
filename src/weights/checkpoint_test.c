#include "weights/checkpoint.h"

#include "base/mem.h"
#include "tests/test.h"
#include "tests/tmpdir.h"
#include "tests/write_safetensors.h"

static mx_tmpdir dir;
static mx_checkpoint *checkpoint;
static mx_error err;

static void add_file(const char *file, const char *tensor)
{
    mx_st_writer writer;
    mx_st_writer_init(&writer);
    mx_st_writer_add(&writer, tensor, "U8", "[2]", tensor, 2);
    mx_tmpdir_write(&dir, file, mx_st_writer_finish(&writer));
    mx_st_writer_deinit(&writer);
}

static void add_index(const char *weight_map)
{
    const char *json = mx_arena_printf(&dir.arena, "{\"metadata\":{\"total_size\":1},\"weight_map\":%s}", weight_map);
    mx_tmpdir_write(&dir, "model.safetensors.index.json", mx_str_from(json));
}

/* Opens the folder and expects exactly these tensors: one letter each, "ab" for two. */
static void check_tensors(const char *letters)
{
    MX_CHECK_OK(mx_checkpoint_open(dir.path, &checkpoint, &err), &err);
    if (checkpoint) {
        MX_CHECK_I64(mx_checkpoint_n_tensors(checkpoint), strlen(letters));
        for (const char *c = letters; *c; c++) {
            const char name[] = {*c, *c, '\0'};
            const mx_tensor *t = mx_checkpoint_find(checkpoint, mx_str_from(name));
            MX_CHECK(t && t->data[0] == (uint8_t)*c && t->data[1] == (uint8_t)*c);
        }
        MX_CHECK(!mx_checkpoint_find(checkpoint, MX_STR("no")));
    }
    mx_checkpoint_close(checkpoint);
}

static void check_fails(mx_status status, const char *piece)
{
    MX_CHECK_FAILS(mx_checkpoint_open(dir.path, &checkpoint, &err), status, &err, piece);
    MX_CHECK(checkpoint == NULL);
}

MX_TEST(opens_a_single_file)
{
    mx_tmpdir_open(&dir);
    add_file("model.safetensors", "aa");
    add_file("adapters.safetensors", "zz");
    check_tensors("a");
    mx_tmpdir_close(&dir);
}

MX_TEST(opens_the_files_that_an_index_names)
{
    mx_tmpdir_open(&dir);
    add_file("model-00001-of-00002.safetensors", "aa");
    add_file("model-00002-of-00002.safetensors", "bb");
    add_file("model-extra.safetensors", "zz");
    add_index("{\"aa\":\"model-00001-of-00002.safetensors\",\"bb\":\"model-00002-of-00002.safetensors\","
              "\"cc\":\"model-00002-of-00002.safetensors\"}");
    check_tensors("ab");
    mx_tmpdir_close(&dir);
}

MX_TEST(opens_a_whole_set_without_an_index)
{
    mx_tmpdir_open(&dir);
    add_file("model-00001-of-00003.safetensors", "aa");
    add_file("model-00002-of-00003.safetensors", "bb");
    check_fails(MX_NOT_FOUND, "model-00003-of-00003.safetensors is missing (2 of 3 parts are there)");
    add_file("model-00003-of-00003.safetensors", "cc");
    check_tensors("abc");
    mx_tmpdir_close(&dir);
}

MX_TEST(an_index_of_files_that_were_packed_into_one_is_not_used)
{
    mx_tmpdir_open(&dir);
    add_index("{\"aa\":\"model-00001-of-00002.safetensors\",\"bb\":\"model-00002-of-00002.safetensors\"}");
    add_file("model.safetensors", "dd");
    check_tensors("d");
    add_file("model-00001-of-00002.safetensors", "aa"); /* a leftover of the old set */
    check_tensors("d");
    mx_tmpdir_close(&dir);
}

MX_TEST(an_index_of_another_number_of_parts_is_not_used)
{
    mx_tmpdir_open(&dir);
    add_index("{\"aa\":\"model-00001-of-00002.safetensors\",\"bb\":\"model-00002-of-00002.safetensors\"}");
    add_file("model-00001-of-00001.safetensors", "ee");
    check_tensors("e");
    mx_tmpdir_close(&dir);
}

MX_TEST(a_missing_part_is_named)
{
    mx_tmpdir_open(&dir);
    add_index("{\"aa\":\"model-00001-of-00002.safetensors\",\"bb\":\"model-00002-of-00002.safetensors\"}");
    check_fails(MX_NOT_FOUND, "model-00001-of-00002.safetensors is missing (0 of 2");
    add_file("model-00001-of-00002.safetensors", "aa");
    check_fails(MX_NOT_FOUND, "model-00002-of-00002.safetensors is missing (1 of 2 files");
    mx_tmpdir_close(&dir);
}

MX_TEST(an_index_may_not_point_outside_the_folder)
{
    static const char *const places[] = {"../model.safetensors",
                                         "/etc/model.safetensors",
                                         "a\\\\b.safetensors",
                                         "c:model.safetensors",
                                         "model.safetensors\\u0000.safetensors",
                                         "config.json",
                                         ""};
    mx_tmpdir_open(&dir);
    add_file("model.safetensors", "aa");
    for (size_t i = 0; i < MX_COUNTOF(places); i++) {
        add_index(mx_arena_printf(&dir.arena, "{\"aa\":\"%s\"}", places[i]));
        check_fails(MX_FORMAT, "\"aa\" does not lie in a safetensors file of this folder");
    }
    add_index("{\"aa\":5}");
    check_fails(MX_FORMAT, "\"aa\" does not lie in a safetensors file");
    add_index("7");
    check_fails(MX_FORMAT, "has no object \"weight_map\"");
    mx_tmpdir_close(&dir);
}

MX_TEST(a_tensor_in_two_files_is_refused)
{
    mx_tmpdir_open(&dir);
    add_file("model-00001-of-00002.safetensors", "aa");
    add_file("model-00002-of-00002.safetensors", "aa");
    check_fails(MX_FORMAT, "tensor \"aa\" is in ");
    mx_tmpdir_close(&dir);
}

MX_TEST(old_names_of_mlx_are_found)
{
    mx_tmpdir_open(&dir);
    add_file("weights.00.safetensors", "aa");
    add_file("weights.01.safetensors", "bb");
    check_tensors("ab");
    mx_tmpdir_close(&dir);
}

MX_TEST(a_folder_without_weights_says_what_it_has)
{
    mx_tmpdir_open(&dir);
    check_fails(MX_NOT_FOUND, "has no model.safetensors; is it a model's folder");
    mx_tmpdir_write(&dir, "model.Q4_K_M.gguf", MX_STR("GGUF"));
    check_fails(MX_NOT_FOUND, "model.Q4_K_M.gguf is of another format");
    mx_tmpdir_close(&dir);
    MX_CHECK_FAILS(mx_checkpoint_open("no/such/model", &checkpoint, &err), MX_NOT_FOUND, &err, "no/such/model");
}

MX_TEST(a_cut_off_part_is_named)
{
    mx_tmpdir_open(&dir);
    add_file("model-00001-of-00002.safetensors", "aa");
    mx_tmpdir_write(&dir, "model-00002-of-00002.safetensors", MX_STR("\x40\0\0\0\0\0\0\0{\"bb\":"));
    check_fails(MX_FORMAT, "model-00002-of-00002.safetensors: header says 64 bytes");
    mx_tmpdir_close(&dir);
}

MX_TEST(each_failing_allocation_is_reported_and_nothing_leaks)
{
    mx_tmpdir_open(&dir);
    add_file("model-00001-of-00002.safetensors", "aa");
    add_file("model-00002-of-00002.safetensors", "bb");
    add_index("{\"aa\":\"model-00001-of-00002.safetensors\",\"bb\":\"model-00002-of-00002.safetensors\"}");
    mx_status st = MX_NO_MEMORY;
    for (int64_t n = 1; st != MX_OK && n < 200; n++) {
        mx_mem_fail_at(n);
        st = mx_checkpoint_open(dir.path, &checkpoint, &err);
        mx_mem_fail_at(0);
        MX_CHECK(st == MX_OK || st == MX_NO_MEMORY);
        mx_checkpoint_close(checkpoint);
    }
    MX_CHECK_I64(st, MX_OK);
    mx_tmpdir_close(&dir);
}

MX_TEST_MAIN(MX_CASE(opens_a_single_file), MX_CASE(opens_the_files_that_an_index_names),
             MX_CASE(opens_a_whole_set_without_an_index),
             MX_CASE(an_index_of_files_that_were_packed_into_one_is_not_used),
             MX_CASE(an_index_of_another_number_of_parts_is_not_used), MX_CASE(a_missing_part_is_named),
             MX_CASE(an_index_may_not_point_outside_the_folder), MX_CASE(a_tensor_in_two_files_is_refused),
             MX_CASE(old_names_of_mlx_are_found), MX_CASE(a_folder_without_weights_says_what_it_has),
             MX_CASE(a_cut_off_part_is_named), MX_CASE(each_failing_allocation_is_reported_and_nothing_leaks))
