#include "weights/safetensors.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/test.h"
#include "tests/write_safetensors.h"

static mx_arena arena;
static mx_tensors tensors;
static mx_error err;

/* Parses a heap copy of exactly these bytes, so that a sanitizer sees the first byte read past the end. */
static mx_status parse_bytes(mx_str file)
{
    uint8_t *copy = malloc(file.len + 1);
    memcpy(copy + 1, file.ptr, file.len); /* odd, so that nothing can rely on alignment */
    mx_arena_deinit(&arena);
    mx_arena_init(&arena, 1 << 24);
    const mx_status st = mx_safetensors_parse(&arena, copy + 1, file.len, "model.safetensors", &tensors, &err);
    free(copy);
    return st;
}

static mx_status parse_parts(const char *header, size_t n_payload)
{
    static const char zeros[256];
    mx_st_writer writer;
    mx_st_writer_init(&writer);
    const mx_status st = parse_bytes(mx_st_writer_join(&writer, mx_str_from(header), (mx_str){zeros, n_payload}));
    mx_st_writer_deinit(&writer);
    return st;
}

MX_TEST(reads_names_types_shapes_and_places)
{
    mx_st_writer writer;
    mx_st_writer_init(&writer);
    mx_st_writer_add(&writer, "a", "U8", "[3]", "abc", 3);
    mx_st_writer_add(&writer, "b.\\u00e9", "BF16", "[2,1,2]", "12345678", 8);
    mx_st_writer_add(&writer, "scalar", "F32", "[]", "wxyz", 4);
    mx_st_writer_add(&writer, "empty", "F64", "[0,5]", "", 0);
    const mx_str file = mx_st_writer_finish(&writer);
    mx_arena_init(&arena, 1 << 20);
    MX_CHECK_OK(mx_safetensors_parse(&arena, (const uint8_t *)file.ptr, file.len, "f", &tensors, &err), &err);
    MX_CHECK_I64(tensors.n, 4);
    const mx_tensor *b = &tensors.items[1];
    MX_CHECK_STR(b->name, MX_STR("b.\xC3\xA9"));
    MX_CHECK_I64(b->dtype, MX_DTYPE_BF16);
    MX_CHECK_I64(b->n_dims, 3);
    MX_CHECK(b->shape[0] == 2 && b->shape[1] == 1 && b->shape[2] == 2);
    MX_CHECK_STR(((mx_str){(const char *)b->data, b->n_bytes}), MX_STR("12345678"));
    MX_CHECK_I64(tensors.items[2].n_dims, 0);
    MX_CHECK_STR(((mx_str){(const char *)tensors.items[2].data, tensors.items[2].n_bytes}), MX_STR("wxyz"));
    MX_CHECK_I64(tensors.items[3].n_bytes, 0);
    mx_st_writer_deinit(&writer);
    mx_arena_deinit(&arena);
}

MX_TEST(sorts_tensors_by_place)
{
    MX_CHECK_OK(parse_parts("{\"late\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]},"
                            "\"empty\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[2,2]},"
                            "\"early\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}   ",
                            3),
                &err);
    MX_CHECK_I64(tensors.n, 3);
    MX_CHECK_STR(tensors.items[0].name, MX_STR("early"));
    MX_CHECK_STR(tensors.items[1].name, MX_STR("empty"));
    MX_CHECK_STR(tensors.items[2].name, MX_STR("late"));
}

MX_TEST(takes_a_file_without_tensors)
{
    MX_CHECK_OK(parse_parts("{}", 0), &err);
    MX_CHECK_I64(tensors.n, 0);
}

typedef struct bad_case {
    const char *header;
    size_t n_payload;
    mx_status status;
    const char *piece; /* of the message */
} bad_case;

#define ONE(fields) "{\"t\":{" fields "}}"

static const bad_case bad_cases[] = {
    {"", 0, MX_FORMAT, "does not start with '{'"},
    {" {}", 0, MX_FORMAT, "does not start with '{'"},
    {"[1]", 0, MX_FORMAT, "does not start with '{'"},
    {"{\"a\":", 0, MX_FORMAT, "not valid JSON"},
    {"{\"t\":5}", 0, MX_FORMAT, "\"t\" must be an object, found"},
    {"{\"__metadata__\":[]}", 0, MX_FORMAT, "\"__metadata__\" must be an object"},
    {"{\"__metadata__\":{\"format\":1}}", 0, MX_FORMAT, "under \"format\", must be a string"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, MX_FORMAT, "occurs twice"},
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
     "\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
     0, MX_FORMAT, "\"t\" occurs twice"},
    {ONE("\"shape\":[1],\"data_offsets\":[0,1]"), 1, MX_FORMAT, "\"t\" has no \"dtype\""},
    {ONE("\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,1]"), 1, MX_FORMAT, "\"t\" has no \"dtype\""},
    {ONE("\"dtype\":\"F9\",\"shape\":[1],\"data_offsets\":[0,1]"), 1, MX_UNSUPPORTED, "unknown dtype \"F9\""},
    {ONE("\"dtype\":\"U8\",\"data_offsets\":[0,1]"), 1, MX_FORMAT, "\"t\" has no array \"shape\""},
    {ONE("\"dtype\":\"U8\",\"shape\":[1]"), 1, MX_FORMAT, "\"t\" has no array \"data_offsets\""},
    {ONE("\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]"), 1, MX_FORMAT, "something else than whole numbers"},
    {ONE("\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]"), 1, MX_FORMAT, "something else than whole"},
    {ONE("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,18446744073709551615]"), 1, MX_FORMAT, "whole numbers"},
    {ONE("\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]"), 1, MX_UNSUPPORTED, "9 numbers"},
    {ONE("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]"), 1, MX_UNSUPPORTED, "3 numbers"},
    {ONE("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]"), 1, MX_FORMAT, "not a begin and an end"},
    {ONE("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]"), 1, MX_FORMAT, "not a begin and an end"},
    {ONE("\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,1]"), 1, MX_FORMAT, "overflows"},
    {ONE("\"dtype\":\"F64\",\"shape\":[9223372036854775807],\"data_offsets\":[0,1]"), 1, MX_FORMAT, "overflows"},
    {ONE("\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]"), 1, MX_FORMAT,
     "ends at byte 2 of the data, the file has 1"},
    {ONE("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,3]"), 3, MX_FORMAT,
     "has 3 bytes, its dtype and shape ask for 4"},
    {ONE("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]"), 5, MX_FORMAT, "1 bytes before tensor \"t\""},
    {ONE("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]"), 3, MX_FORMAT, "2 bytes after the last tensor"},
    {"{}", 1, MX_FORMAT, "1 bytes after the last tensor"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
     4, MX_FORMAT, "\"b\" overlaps tensor \"a\""},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}",
     3, MX_FORMAT, "before tensor \"b\" belong to no tensor"},
};

MX_TEST(each_broken_rule_is_named_with_file_and_tensor)
{
    for (size_t i = 0; i < MX_COUNTOF(bad_cases); i++) {
        const bad_case *c = &bad_cases[i];
        MX_CHECK_FAILS(parse_parts(c->header, c->n_payload), c->status, &err, c->piece);
        MX_CHECK(strncmp(err.message, "model.safetensors: ", 19) == 0);
    }
}

MX_TEST(rejects_a_header_longer_than_the_file_or_the_limit)
{
    MX_CHECK_FAILS(parse_bytes(MX_STR("")), MX_FORMAT, &err, "0 bytes");
    MX_CHECK_FAILS(parse_bytes(MX_STR("\1\0\0\0\0\0\0")), MX_FORMAT, &err, "7 bytes");
    MX_CHECK_FAILS(parse_bytes(MX_STR("\3\0\0\0\0\0\0\0{}")), MX_FORMAT, &err, "header says 3 bytes, the file has 2");
    MX_CHECK_FAILS(parse_bytes(MX_STR("\0\0\0\0\0\0\0\x80{}")), MX_FORMAT, &err, "at most 100000000");
    MX_CHECK_FAILS(parse_bytes(MX_STR("version https://git-lfs.github.com/spec/v1\n")), MX_FORMAT, &err,
                   "git lfs pull");
}

MX_TEST(every_cut_off_file_is_refused)
{
    mx_st_writer writer;
    mx_st_writer_init(&writer);
    mx_st_writer_add(&writer, "a", "U8", "[3]", "abc", 3);
    mx_st_writer_add(&writer, "b", "F32", "[2]", "12345678", 8);
    const mx_str file = mx_st_writer_finish(&writer);
    for (size_t n = 0; n < file.len; n++) {
        MX_CHECK_FAILS(parse_bytes(mx_str_slice(file, 0, n)), MX_FORMAT, &err, "model.safetensors");
    }
    MX_CHECK_OK(parse_bytes(file), &err);
    mx_st_writer_deinit(&writer);
}

MX_TEST(each_failing_allocation_is_reported)
{
    const char *header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    mx_status st = MX_NO_MEMORY;
    for (int64_t n = 1; st != MX_OK && n < 100; n++) {
        mx_st_writer writer;
        mx_st_writer_init(&writer);
        const mx_str file = mx_st_writer_join(&writer, mx_str_from(header), MX_STR("x"));
        mx_arena_deinit(&arena);
        mx_arena_init(&arena, 1 << 20);
        mx_mem_fail_at(n);
        st = mx_safetensors_parse(&arena, (const uint8_t *)file.ptr, file.len, "f", &tensors, &err);
        mx_mem_fail_at(0);
        MX_CHECK(st == MX_OK || st == MX_NO_MEMORY);
        mx_st_writer_deinit(&writer);
    }
    MX_CHECK_I64(st, MX_OK);
    mx_arena_deinit(&arena);
}

MX_TEST_MAIN(MX_CASE(reads_names_types_shapes_and_places), MX_CASE(sorts_tensors_by_place),
             MX_CASE(takes_a_file_without_tensors), MX_CASE(each_broken_rule_is_named_with_file_and_tensor),
             MX_CASE(rejects_a_header_longer_than_the_file_or_the_limit), MX_CASE(every_cut_off_file_is_refused),
             MX_CASE(each_failing_allocation_is_reported))
