#include "weights/weight.h"

#include <stdlib.h>

#include "platform/map.h"
#include "tests/test.h"
#include "tests/tmpdir.h"
#include "tests/write_safetensors.h"
#include "weights/checkpoint.h"
#include "weights/quant.h"

/* A checkpoint of a few tensors and a configuration, in a temporary folder. */
typedef struct fixture {
    mx_tmpdir dir;
    mx_st_writer writer;
    mx_checkpoint *checkpoint;
    mx_json json;
    mx_quant_config quant;
} fixture;

static void fixture_open(fixture *f, const char *config)
{
    mx_error err = {0};
    MX_CHECK_OK(mx_checkpoint_open(f->dir.path, &f->checkpoint, &err), &err);
    MX_CHECK_OK(mx_json_parse(mx_str_from(config), "config.json", &f->json, &err), &err);
    MX_CHECK_OK(mx_quant_config_parse(f->json.root, "config.json", &f->quant, &err), &err);
}

static void fixture_begin(fixture *f)
{
    *f = (fixture){0};
    mx_tmpdir_open(&f->dir);
    mx_st_writer_init(&f->writer);
}

static void fixture_write(fixture *f, const char *config)
{
    mx_tmpdir_write(&f->dir, "model.safetensors", mx_st_writer_finish(&f->writer));
    fixture_open(f, config);
}

static void fixture_close(fixture *f)
{
    mx_quant_config_close(&f->quant);
    mx_json_close(&f->json);
    mx_checkpoint_close(f->checkpoint);
    mx_st_writer_deinit(&f->writer);
    mx_tmpdir_close(&f->dir);
}

static void add_zeros(fixture *f, const char *name, const char *dtype, const char *shape, size_t n_bytes)
{
    void *zeros = mx_arena_alloc(&f->dir.arena, n_bytes);
    mx_st_writer_add(&f->writer, name, dtype, shape, zeros, n_bytes);
}

/* words, then the values that they stand for: formats of MLX's CPU back end, worked out by hand */
static const uint32_t ramp_words_2[] = {0x55555555};

typedef struct worked_example {
    const char *name;
    int32_t bits, group_size;
    const char *dtype;
    uint32_t words[16];
    float scale, bias;
    int32_t n_cols;
    uint8_t q[10]; /* the first values */
} worked_example;

static const worked_example examples[] = {
    {"ramp_4", 4, 64, "F32",
     {0x22111000, 0x44333222, 0x66555444, 0x88777666, 0xaa999888, 0xccbbbaaa, 0xeedddccc, 0xfffffeee},
     0.125f, -1.0f, 64, {0, 0, 0, 1, 1, 1, 2, 2, 2, 2}},
    {"ramp_3", 3, 64, "F32",
     {0x49248000, 0xa4924922, 0x9246db6d, 0x6db6c924, 0xedb6db6b, 0xffffffff},
     0.25f, -1.0f, 64, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}},
    {"ramp_5", 5, 64, "F32",
     {0xc4210400, 0x63148420, 0x250841cc, 0x8c62d4a5, 0x83dce735, 0xe5294610, 0x6b5694a4, 0x6718c5ed, 0x9ce6f5ad,
      0xfffdef77},
     0.0625f, -1.0f, 64, {0, 0, 1, 2, 2, 2, 3, 4, 4, 4}},
};

MX_TEST(worked_examples_are_read_bit_by_bit)
{
    (void)ramp_words_2;
    fixture f;
    mx_error err = {0};
    fixture_begin(&f);
    for (size_t i = 0; i < MX_COUNTOF(examples); i++) {
        const worked_example *e = &examples[i];
        const int32_t n_words = e->n_cols * e->bits / 32;
        const char *name = e->name;
        mx_st_writer_add(&f.writer, mx_arena_printf(&f.dir.arena, "%s.weight", name), "U32",
                         mx_arena_printf(&f.dir.arena, "[1,%d]", (int)n_words), e->words, (size_t)n_words * 4);
        mx_st_writer_add(&f.writer, mx_arena_printf(&f.dir.arena, "%s.scales", name), "F32", "[1,1]", &e->scale, 4);
        mx_st_writer_add(&f.writer, mx_arena_printf(&f.dir.arena, "%s.biases", name), "F32", "[1,1]", &e->bias, 4);
    }
    fixture_write(&f, "{}");
    for (size_t i = 0; i < MX_COUNTOF(examples); i++) {
        const worked_example *e = &examples[i];
        mx_weight w;
        float row[64];
        MX_CHECK_OK(mx_weight_resolve(f.checkpoint, &f.quant, mx_str_from(e->name), &w, &err), &err);
        MX_CHECK_I64(w.quant.bits, e->bits);
        MX_CHECK_I64(w.quant.group_size, e->group_size);
        MX_CHECK_I64(w.n_cols, e->n_cols);
        mx_weight_dequantize_row(&w, 0, 0, row);
        for (size_t c = 0; c < MX_COUNTOF(e->q); c++) {
            MX_CHECK_NEAR(row[c], e->scale * (float)e->q[c] + e->bias, 0);
        }
    }
    fixture_close(&f);
}
