#include "platform/file.h"

#include "platform/map.h"
#include "tests/test.h"
#include "tests/tmpdir.h"

MX_TEST(reads_back_what_was_written)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_buf buf;
    mx_tmpdir_open(&dir);
    const char *path = mx_tmpdir_write(&dir, "a.bin", (mx_str){"one\0two\r\n", 9});
    MX_CHECK_OK(mx_file_read(path, 100, &buf, &err), &err);
    MX_CHECK_STR(mx_buf_view(&buf), ((mx_str){"one\0two\r\n", 9}));
    mx_buf_deinit(&buf);
    int64_t n_bytes = 0;
    MX_CHECK_OK(mx_file_size(path, &n_bytes, &err), &err);
    MX_CHECK_I64(n_bytes, 9);
    mx_tmpdir_close(&dir);
}

MX_TEST(reads_a_file_of_just_the_allowed_size_and_refuses_one_byte_more)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_buf buf;
    mx_tmpdir_open(&dir);
    const char *path = mx_tmpdir_write(&dir, "a", MX_STR("123456"));
    MX_CHECK_OK(mx_file_read(path, 6, &buf, &err), &err);
    MX_CHECK_I64(buf.len, 6);
    mx_buf_deinit(&buf);
    MX_CHECK_FAILS(mx_file_read(path, 5, &buf, &err), MX_FORMAT, &err, "larger than the 5 bytes");
    mx_buf_deinit(&buf);
    mx_tmpdir_close(&dir);
}

MX_TEST(reads_a_file_of_several_parts)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_buf buf;
    mx_tmpdir_open(&dir);
    const size_t n = 3000001;
    char *bytes = mx_arena_alloc(&dir.arena, n);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (char)(i * 7 % 251);
    }
    const char *path = mx_tmpdir_write(&dir, "large", (mx_str){bytes, n});
    MX_CHECK_OK(mx_file_read(path, 1u << 30, &buf, &err), &err);
    MX_CHECK(mx_str_eq(mx_buf_view(&buf), (mx_str){bytes, n}));
    mx_buf_deinit(&buf);
    mx_tmpdir_close(&dir);
}

MX_TEST(names_a_missing_file)
{
    mx_error err = {0};
    mx_buf buf;
    mx_map map;
    int64_t n_bytes;
    MX_CHECK_FAILS(mx_file_read("no/such/file", 100, &buf, &err), MX_NOT_FOUND, &err, "no/such/file");
    MX_CHECK_FAILS(mx_file_size("no/such/file", &n_bytes, &err), MX_NOT_FOUND, &err, "no/such/file");
    MX_CHECK_FAILS(mx_map_open("no/such/file", &map, &err), MX_NOT_FOUND, &err, "no/such/file");
    mx_map_close(&map);
    MX_CHECK_I64(mx_file_kind_at("no/such/file"), MX_FILE_MISSING);
}

MX_TEST(refuses_to_read_or_map_a_folder)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_buf buf;
    mx_map map;
    int64_t n_bytes;
    mx_tmpdir_open(&dir);
    MX_CHECK_FAILS(mx_file_read(dir.path, 100, &buf, &err), MX_IO, &err, "not a regular file but a folder");
    mx_buf_deinit(&buf);
    MX_CHECK_FAILS(mx_map_open(dir.path, &map, &err), MX_IO, &err, "not a regular file but a folder");
    MX_CHECK_FAILS(mx_file_size(dir.path, &n_bytes, &err), MX_IO, &err, "not a regular file");
    MX_CHECK_I64(mx_file_kind_at(dir.path), MX_FILE_DIR);
    mx_tmpdir_close(&dir);
}

MX_TEST(lists_a_folder_in_order_with_names_beyond_ascii)
{
    mx_tmpdir dir;
    mx_error err = {0};
    const mx_str *names;
    size_t n_names;
    mx_tmpdir_open(&dir);
    mx_tmpdir_write(&dir, "\xC3\xA9t\xC3\xA9 \xE6\xA8\xA1\xE5\x9E\x8B.txt", MX_STR("x"));
    mx_tmpdir_write(&dir, "b", MX_STR("x"));
    mx_tmpdir_write(&dir, "B", MX_STR(""));
    MX_CHECK_OK(mx_dir_create(mx_tmpdir_path(&dir, "a"), &err), &err);
    MX_CHECK_OK(mx_dir_list(&dir.arena, dir.path, &names, &n_names, &err), &err);
#ifdef _WIN32
    MX_CHECK(n_names == 3 || n_names == 4); /* file names may not tell B from b */
#else
    MX_CHECK_I64(n_names, 4);
    MX_CHECK_STR(names[0], MX_STR("B"));
#endif
    MX_CHECK_STR(names[n_names - 3], MX_STR("a"));
    MX_CHECK_STR(names[n_names - 1], MX_STR("\xC3\xA9t\xC3\xA9 \xE6\xA8\xA1\xE5\x9E\x8B.txt"));
    MX_CHECK_FAILS(mx_dir_list(&dir.arena, "no/such", &names, &n_names, &err), MX_NOT_FOUND, &err, "no/such");
    mx_tmpdir_close(&dir);
}

MX_TEST(takes_paths_of_more_than_260_characters)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_buf buf;
    mx_tmpdir_open(&dir);
    const char *path = dir.path;
    for (int i = 0; i < 8; i++) {
        path = mx_path_join(&dir.arena, path, MX_STR("a-folder-whose-name-has-fifty-characters-in-it-000"));
        MX_CHECK_OK(mx_dir_create(path, &err), &err);
    }
    path = mx_path_join(&dir.arena, path, MX_STR("file"));
    MX_CHECK_OK(mx_file_write(path, MX_STR("deep"), &err), &err);
    MX_CHECK_OK(mx_file_read(path, 10, &buf, &err), &err);
    MX_CHECK_STR(mx_buf_view(&buf), MX_STR("deep"));
    mx_buf_deinit(&buf);
    mx_tmpdir_close(&dir);
}

MX_TEST(maps_a_file_and_an_empty_file)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_map map;
    mx_tmpdir_open(&dir);
    MX_CHECK_OK(mx_map_open(mx_tmpdir_write(&dir, "some", MX_STR("mapped")), &map, &err), &err);
    MX_CHECK_STR(((mx_str){(const char *)map.data, map.n_bytes}), MX_STR("mapped"));
    mx_map_close(&map);
    mx_map_close(&map);
    MX_CHECK_OK(mx_map_open(mx_tmpdir_write(&dir, "empty", MX_STR("")), &map, &err), &err);
    MX_CHECK(map.data != NULL);
    MX_CHECK_I64(map.n_bytes, 0);
    mx_map_close(&map);
    mx_tmpdir_close(&dir);
}

MX_TEST_MAIN(MX_CASE(reads_back_what_was_written),
             MX_CASE(reads_a_file_of_just_the_allowed_size_and_refuses_one_byte_more),
             MX_CASE(reads_a_file_of_several_parts), MX_CASE(names_a_missing_file),
             MX_CASE(refuses_to_read_or_map_a_folder), MX_CASE(lists_a_folder_in_order_with_names_beyond_ascii),
             MX_CASE(takes_paths_of_more_than_260_characters), MX_CASE(maps_a_file_and_an_empty_file))
