#include "model/model.h"

#include "base/mem.h"
#include "tests/test.h"
#include "tests/tmpdir.h"
#include "tests/write_safetensors.h"

/* A model of one layer: d_model 8, two heads of 4, d_ff 12, vocabulary of 10. */
static const char config[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 8, \"intermediate_size\": 12, \"num_hidden_layers\": 1,"
    "\"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"vocab_size\": 10, \"max_position_embeddings\": 64%s}";

typedef struct tensor {
    const char *name;
    int32_t n_rows; /* 0: a vector */
    int32_t n_cols;
} tensor;

static const tensor tensors[] = {
    {"model.embed_tokens.weight", 10, 8},
    {"model.layers.0.input_layernorm.weight", 0, 8},
    {"model.layers.0.self_attn.q_proj.weight", 8, 8},
    {"model.layers.0.self_attn.k_proj.weight", 4, 8},
    {"model.layers.0.self_attn.v_proj.weight", 4, 8},
    {"model.layers.0.self_attn.o_proj.weight", 8, 8},
    {"model.layers.0.post_attention_layernorm.weight", 0, 8},
    {"model.layers.0.mlp.gate_proj.weight", 12, 8},
    {"model.layers.0.mlp.up_proj.weight", 12, 8},
    {"model.layers.0.mlp.down_proj.weight", 8, 12},
    {"model.norm.weight", 0, 8},
    {"lm_head.weight", 10, 8},
};

typedef struct fixture {
    mx_tmpdir dir;
    mx_model *model;
    mx_error err;
} fixture;

static void add(mx_st_writer *w, const char *name, int32_t n_rows, int32_t n_cols)
{
    static const float zeros[256] = {0};
    char shape[32];
    if (n_rows) {
        snprintf(shape, sizeof shape, "[%d,%d]", (int)n_rows, (int)n_cols);
    } else {
        snprintf(shape, sizeof shape, "[%d]", (int)n_cols);
    }
    mx_st_writer_add(w, name, "F32", shape, zeros, (size_t)(n_rows ? n_rows : 1) * (size_t)n_cols * sizeof(float));
}

/* Writes the model without the tensor `missing` and with the further tensor `extra`, where they are not NULL. `prefix`
 * stands before every name. */
static void write_model(fixture *f, const char *more_config, const char *prefix, const char *missing,
                        const tensor *extra)
{
    char text[1024];
    char name[128];
    mx_st_writer w;
    *f = (fixture){0};
    mx_tmpdir_open(&f->dir);
    const int n = snprintf(text, sizeof text, config, more_config);
    mx_tmpdir_write(&f->dir, "config.json", (mx_str){text, (size_t)n});
    mx_st_writer_init(&w);
    for (size_t i = 0; i < MX_COUNTOF(tensors); i++) {
        if (!missing || strcmp(tensors[i].name, missing) != 0) {
            snprintf(name, sizeof name, "%s%s", prefix, tensors[i].name);
            add(&w, name, tensors[i].n_rows, tensors[i].n_cols);
        }
    }
    if (extra) {
        add(&w, extra->name, extra->n_rows, extra->n_cols);
    }
    mx_tmpdir_write(&f->dir, "model.safetensors", mx_st_writer_finish(&w));
    mx_st_writer_deinit(&w);
}

static mx_status open_model(fixture *f, int32_t n_ctx)
{
    return mx_model_open(f->dir.path, &(mx_model_options){.n_ctx = n_ctx}, &f->model, &f->err);
}

static void end(fixture *f)
{
    mx_model_close(f->model);
    mx_tmpdir_close(&f->dir);
}

MX_TEST(opens_a_model_directory)
{
    fixture f;
    int32_t n_ids = 0;
    write_model(&f, "", "", NULL, NULL);
    mx_tmpdir_write(&f.dir, "generation_config.json", MX_STR("{\"eos_token_id\": 5, \"temperature\": 0.7}"));
    MX_CHECK_OK(open_model(&f, 0), &f.err);
    MX_CHECK_I64(mx_model_view_program(f.model)->n_ctx, 64);
    MX_CHECK_I64(mx_model_view_program(f.model)->n_vocab, 10);
    MX_CHECK_I64(mx_model_view_config(f.model)->head_dim, 4);
    MX_CHECK_I64(mx_model_view_eos_ids(f.model, &n_ids)[0], 5);
    MX_CHECK_I64(n_ids, 1);
    MX_CHECK_NEAR(mx_model_view_sampling(f.model)->temperature, 0.7, 0);
    end(&f);
}

MX_TEST(finds_tensors_under_the_names_of_a_vision_model)
{
    fixture f;
    const tensor vision = {"vision_tower.blocks.0.weight", 2, 2};
    write_model(&f, "", "language_model.", NULL, &vision);
    MX_CHECK_OK(open_model(&f, 0), &f.err);
    end(&f);
}

MX_TEST(uses_the_embedding_where_there_is_no_lm_head)
{
    fixture f;
    write_model(&f, "", "", "lm_head.weight", NULL);
    MX_CHECK_OK(open_model(&f, 0), &f.err);
    const mx_program *p = mx_model_view_program(f.model);
    MX_CHECK_I64(p->ops[p->n_ops - 1].u.linear.weights[0], p->ops[0].u.embed.weight);
    end(&f);
}

MX_TEST(a_tied_model_may_carry_an_lm_head)
{
    fixture f;
    write_model(&f, ", \"tie_word_embeddings\": true", "", NULL, NULL);
    MX_CHECK_OK(open_model(&f, 0), &f.err);
    const mx_program *p = mx_model_view_program(f.model);
    MX_CHECK_I64(p->ops[p->n_ops - 1].u.linear.weights[0], p->ops[0].u.embed.weight);
    end(&f);
}

MX_TEST(every_missing_tensor_is_told_by_name)
{
    for (size_t i = 0; i + 1 < MX_COUNTOF(tensors); i++) {
        fixture f;
        char path[128];
        snprintf(path, sizeof path, "%.*s", (int)(strlen(tensors[i].name) - strlen(".weight")), tensors[i].name);
        write_model(&f, "", "", tensors[i].name, NULL);
        MX_CHECK_FAILS(open_model(&f, 0), MX_NOT_FOUND, &f.err, path);
        end(&f);
    }
}

MX_TEST(a_tensor_of_the_wrong_shape_is_told_by_name)
{
    fixture f;
    const tensor wrong = {"model.layers.0.mlp.up_proj.weight", 11, 8};
    write_model(&f, "", "", wrong.name, &wrong);
    MX_CHECK_FAILS(open_model(&f, 0), MX_FORMAT, &f.err, "layers.0.mlp.up_proj\": expected 1 x 12 x 8");
    end(&f);
}

MX_TEST(a_tensor_that_nothing_asks_for_is_told_by_name)
{
    fixture f;
    const tensor bias = {"model.layers.0.self_attn.q_proj.bias", 0, 8};
    write_model(&f, "", "", NULL, &bias);
    MX_CHECK_FAILS(open_model(&f, 0), MX_FORMAT, &f.err, "q_proj.bias\" is not part of the model");
    end(&f);
    const tensor layer = {"model.layers.1.mlp.up_proj.weight", 12, 8};
    write_model(&f, "", "", NULL, &layer);
    MX_CHECK_FAILS(open_model(&f, 0), MX_FORMAT, &f.err, "layers.1.mlp.up_proj");
    end(&f);
}

MX_TEST(tables_that_old_checkpoints_carry_are_passed_over)
{
    fixture f;
    const tensor table = {"model.layers.0.self_attn.rotary_emb.inv_freq", 0, 2};
    write_model(&f, "", "", NULL, &table);
    MX_CHECK_OK(open_model(&f, 0), &f.err);
    end(&f);
}

MX_TEST(a_context_past_what_the_model_takes_is_refused)
{
    fixture f;
    write_model(&f, "", "", NULL, NULL);
    MX_CHECK_FAILS(open_model(&f, 65), MX_INVALID, &f.err, "takes from 1 to 64");
    MX_CHECK_FAILS(open_model(&f, -1), MX_INVALID, &f.err, "takes from 1 to 64");
    MX_CHECK_OK(open_model(&f, 17), &f.err);
    MX_CHECK_I64(mx_model_view_program(f.model)->n_ctx, 17);
    end(&f);
}

MX_TEST(a_missing_or_broken_file_is_told_by_name)
{
    fixture f;
    mx_model *model = NULL;
    write_model(&f, "", "", NULL, NULL);
    MX_CHECK_FAILS(mx_model_open("no/such/folder", NULL, &model, &f.err), MX_NOT_FOUND, &f.err, "no/such/folder");
    mx_tmpdir_write(&f.dir, "generation_config.json", MX_STR("{\"top_k\": \"all\"}"));
    MX_CHECK_FAILS(open_model(&f, 0), MX_FORMAT, &f.err, "generation_config.json: \"top_k\"");
    mx_tmpdir_write(&f.dir, "config.json", MX_STR("{\"model_type\": "));
    MX_CHECK_FAILS(open_model(&f, 0), MX_FORMAT, &f.err, "config.json: not valid JSON");
    end(&f);
}

MX_TEST(every_failing_allocation_is_reported)
{
    fixture f;
    write_model(&f, "", "", NULL, NULL);
    for (int64_t n = 1; n < 100000; n++) {
        mx_mem_fail_at(n);
        const mx_status st = open_model(&f, 0);
        const int64_t n_made = mx_mem_count();
        mx_mem_fail_at(0);
        MX_CHECK(st == (n_made >= n ? MX_NO_MEMORY : MX_OK));
        if (st != MX_NO_MEMORY) {
            break;
        }
    }
    end(&f);
}

MX_TEST_MAIN(MX_CASE(opens_a_model_directory), MX_CASE(finds_tensors_under_the_names_of_a_vision_model),
             MX_CASE(uses_the_embedding_where_there_is_no_lm_head), MX_CASE(a_tied_model_may_carry_an_lm_head),
             MX_CASE(every_missing_tensor_is_told_by_name), MX_CASE(a_tensor_of_the_wrong_shape_is_told_by_name),
             MX_CASE(a_tensor_that_nothing_asks_for_is_told_by_name),
             MX_CASE(tables_that_old_checkpoints_carry_are_passed_over),
             MX_CASE(a_context_past_what_the_model_takes_is_refused), MX_CASE(a_missing_or_broken_file_is_told_by_name),
             MX_CASE(every_failing_allocation_is_reported))
