/* write_safetensors.h - safetensors files made by tests, tensor by tensor. */
#ifndef MX_TESTS_WRITE_SAFETENSORS_H
#define MX_TESTS_WRITE_SAFETENSORS_H

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

typedef struct mx_st_writer {
    mx_buf header;
    mx_buf payload;
    mx_buf file;
} mx_st_writer;

static inline void mx_st_writer_init(mx_st_writer *w)
{
    *w = (mx_st_writer){.header = {.max = 1 << 28}, .payload = {.max = 1 << 30}, .file = {.max = SIZE_MAX}};
}

static inline void mx_st_writer_deinit(mx_st_writer *w)
{
    mx_buf_deinit(&w->header);
    mx_buf_deinit(&w->payload);
    mx_buf_deinit(&w->file);
}

static inline void mx_st_writer_must(mx_status st)
{
    if (st != MX_OK) {
        printf("cannot make a test's safetensors file\n");
        exit(1);
    }
}

/* A tensor with its bytes; shape as JSON, "[2,3]". */
static inline void mx_st_writer_add(mx_st_writer *w, const char *name, const char *dtype, const char *shape,
                                    const void *bytes, size_t n_bytes)
{
    mx_st_writer_must(
        mx_buf_printf(&w->header, NULL, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                      w->header.len ? "," : "", name, dtype, shape, w->payload.len, w->payload.len + n_bytes));
    mx_st_writer_must(mx_buf_append(&w->payload, (mx_str){bytes, n_bytes}, NULL));
}

/* A file of this header and payload, borrowed until the writer is used again. */
static inline mx_str mx_st_writer_join(mx_st_writer *w, mx_str header, mx_str payload)
{
    char length[8];
    for (size_t i = 0; i < 8; i++) {
        length[i] = (char)((uint64_t)header.len >> (8 * i) & 255);
    }
    w->file.len = 0;
    mx_st_writer_must(mx_buf_append(&w->file, (mx_str){length, 8}, NULL));
    mx_st_writer_must(mx_buf_append(&w->file, header, NULL));
    mx_st_writer_must(mx_buf_append(&w->file, payload, NULL));
    return mx_buf_view(&w->file);
}

/* The file with all tensors added so far. */
static inline mx_str mx_st_writer_finish(mx_st_writer *w)
{
    mx_buf header = {.max = SIZE_MAX};
    mx_st_writer_must(mx_buf_printf(&header, NULL, "{\"__metadata__\":{\"format\":\"mlx\"}%s%.*s}",
                                    w->header.len ? "," : "", (int)w->header.len, w->header.data));
    const mx_str file = mx_st_writer_join(w, mx_buf_view(&header), mx_buf_view(&w->payload));
    mx_buf_deinit(&header);
    return file;
}

#endif
