#include "platform/write_file.h"

#include "platform/file.h"
#include "tests/test.h"
#include "tests/tmpdir.h"

MX_TEST(appends_behind_what_is_there_and_cuts)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_write_file file;
    mx_buf text;
    mx_tmpdir_open(&dir);
    const char *path = mx_tmpdir_write(&dir, "a", MX_STR("abc"));
    MX_CHECK_OK(mx_write_file_open(path, &file, &err), &err);
    MX_CHECK_I64(file.n_bytes, 3);
    MX_CHECK_OK(mx_write_file_append(&file, MX_STR("defg"), &err), &err);
    MX_CHECK_I64(file.n_bytes, 7);
    MX_CHECK_OK(mx_write_file_truncate(&file, 5, &err), &err);
    MX_CHECK_OK(mx_write_file_append(&file, MX_STR("X"), &err), &err);
    MX_CHECK_OK(mx_write_file_sync(&file, &err), &err);
    mx_write_file_close(&file);
    MX_CHECK_OK(mx_file_read(path, 100, &text, &err), &err);
    MX_CHECK_STR(mx_buf_view(&text), MX_STR("abcdeX"));
    mx_buf_deinit(&text);
    MX_CHECK_FAILS(mx_write_file_open(mx_tmpdir_path(&dir, "no/where"), &file, &err), MX_NOT_FOUND, &err, "where");
    mx_tmpdir_close(&dir);
}

MX_TEST(a_lock_is_had_by_one_at_a_time)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_file_lock first;
    mx_file_lock second;
    mx_tmpdir_open(&dir);
    const char *path = mx_tmpdir_path(&dir, "lock");
    MX_CHECK_OK(mx_file_lock_take(path, &first, &err), &err);
    MX_CHECK_FAILS(mx_file_lock_take(path, &second, &err), MX_BUSY, &err, "has the lock");
    mx_file_lock_release(&second);
    mx_file_lock_release(&first);
    MX_CHECK_OK(mx_file_lock_take(path, &second, &err), &err);
    mx_file_lock_release(&second);
    mx_tmpdir_close(&dir);
}

MX_TEST(makes_and_removes_trees_and_leaves_what_links_point_to)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_tmpdir_open(&dir);
    const char *deep = mx_tmpdir_path(&dir, "a/b/c");
    MX_CHECK_OK(mx_dir_create_all(deep, &err), &err);
    MX_CHECK_OK(mx_dir_create_all(deep, &err), &err);
    MX_CHECK(mx_file_kind_at(deep) == MX_FILE_DIR);
    (void)mx_tmpdir_write(&dir, "a/b/c/file", MX_STR("x"));
    MX_CHECK_OK(mx_file_remove_tree(mx_tmpdir_path(&dir, "a"), &err), &err);
    MX_CHECK(mx_file_kind_at(mx_tmpdir_path(&dir, "a")) == MX_FILE_MISSING);
    MX_CHECK_OK(mx_file_remove_tree(mx_tmpdir_path(&dir, "a"), &err), &err);
    const char *file = mx_tmpdir_write(&dir, "plain", MX_STR("x"));
    MX_CHECK(mx_dir_create_all(mx_tmpdir_path(&dir, "plain/below"), &err) != MX_OK);
    MX_CHECK(!mx_file_is_link(file));
    MX_CHECK(mx_file_modified_s(file) > 1600000000);
    MX_CHECK(mx_disk_free(dir.path) > 0);
    mx_tmpdir_close(&dir);
}

MX_TEST(renaming_a_file_replaces_another)
{
    mx_tmpdir dir;
    mx_error err = {0};
    mx_buf text;
    mx_tmpdir_open(&dir);
    const char *from = mx_tmpdir_write(&dir, "from", MX_STR("new"));
    const char *to = mx_tmpdir_write(&dir, "to", MX_STR("old"));
    MX_CHECK_OK(mx_file_rename(from, to, &err), &err);
    MX_CHECK_OK(mx_file_read(to, 100, &text, &err), &err);
    MX_CHECK_STR(mx_buf_view(&text), MX_STR("new"));
    mx_buf_deinit(&text);
    MX_CHECK_FAILS(mx_file_rename(from, to, &err), MX_NOT_FOUND, &err, "to");
    mx_tmpdir_close(&dir);
}

MX_TEST_MAIN(MX_CASE(appends_behind_what_is_there_and_cuts), MX_CASE(a_lock_is_had_by_one_at_a_time),
             MX_CASE(makes_and_removes_trees_and_leaves_what_links_point_to), MX_CASE(renaming_a_file_replaces_another))
