#include "program/builder.h"

#include "base/mem.h"
#include "program/check.h"
#include "program/print.h"
#include "tests/test.h"
#include "tests/tiny_decoder.h"

static const tiny_settings everything = {.has_head_norms = true,
                                         .has_post_norms = true,
                                         .has_bias = true,
                                         .has_experts = true,
                                         .has_states = true,
                                         .has_latents = true,
                                         .has_caps = true,
                                         .has_rarities = true,
                                         .is_like_gpt = true,
                                         .has_adapter = true};

MX_TEST(a_program_of_all_blocks_is_well_formed)
{
    mx_error err;
    tiny_decoder tiny;
    MX_CHECK_OK(tiny_decoder_build(&tiny, &everything, &err), &err);
    MX_CHECK_OK(mx_program_check(&tiny.program, &err), &err);
    MX_CHECK_I64(tiny.program.n_caches, TINY_LAYERS);
    MX_CHECK_I64(tiny.program.n_vocab, TINY_VOCAB);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(a_table_that_is_used_twice_is_one_weight)
{
    mx_error err;
    tiny_decoder tied;
    tiny_decoder untied;
    MX_CHECK_OK(tiny_decoder_build(&tied, &(tiny_settings){.is_tied = true}, &err), &err);
    MX_CHECK_OK(tiny_decoder_build(&untied, &(tiny_settings){0}, &err), &err);
    MX_CHECK_I64(tied.program.n_weights, untied.program.n_weights - 1);
    MX_CHECK_I64(tied.program.ops[0].u.embed.weight, tied.program.ops[tied.program.n_ops - 1].u.linear.weights[0]);
    tiny_decoder_deinit(&tied);
    tiny_decoder_deinit(&untied);
}

/* Builds one product over an embedding of another builder shape; the failure is told by finish. */
static mx_status build_wrong(const char *path, int64_t n_out, mx_error *err)
{
    tiny_decoder tiny = {.random = 1};
    mx_arena_init(&tiny.arena, 1 << 20);
    tiny_add(&tiny, "embed", 1, TINY_VOCAB, TINY_MODEL);
    tiny_add(&tiny, "layers.3.proj", 1, 12, TINY_MODEL);
    const mx_builder_shape shape = {.n_layers = 1, .d_model = TINY_MODEL, .n_vocab = TINY_VOCAB, .head_dim = 8};
    mx_builder *b = NULL;
    mx_program program = {0};
    mx_status st = mx_builder_new(&shape, tiny_source(&tiny), &b, err);
    if (st == MX_OK) {
        const mx_value x = mx_embed(b, "embed", 1.0f);
        mx_builder_set_layer(b, 3);
        const mx_value y = mx_linear(b, x, path, n_out, false);
        st = mx_builder_finish(b, mx_gather_samples(b, mx_rmsnorm(b, y, "never.reached")), &program, err);
    }
    mx_builder_free(b);
    mx_program_deinit(&program);
    mx_arena_deinit(&tiny.arena);
    return st;
}

MX_TEST(the_first_failure_is_the_one_that_is_told)
{
    mx_error err;
    MX_CHECK_FAILS(build_wrong("missing", 12, &err), MX_NOT_FOUND, &err, "layers.3.missing");
    MX_CHECK_FAILS(build_wrong("proj", 13, &err), MX_FORMAT, &err, "expected 1 x 13 x 24");
    MX_CHECK_FAILS(build_wrong("proj", 13, &err), MX_FORMAT, &err, "found 1 x 12 x 24");
    MX_CHECK_FAILS(build_wrong("proj", 12, &err), MX_NOT_FOUND, &err, "never.reached");
}

MX_TEST(every_failing_allocation_is_reported)
{
    mx_error err;
    int64_t n = 1;
    for (; n < 10000; n++) {
        tiny_decoder tiny = {.random = 1};
        mx_arena_init(&tiny.arena, (size_t)1 << 24);
        tiny_add_all(&tiny);
        const mx_builder_shape shape = {.n_layers = TINY_LAYERS,
                                        .n_heads = TINY_HEADS,
                                        .n_kv_heads = TINY_KV_HEADS,
                                        .head_dim = TINY_HEAD_DIM,
                                        .d_model = TINY_MODEL,
                                        .n_vocab = TINY_VOCAB,
                                        .norm = MX_NORM_LAYER};
        mx_builder *b = NULL;
        mx_mem_fail_at(n);
        mx_status st = mx_builder_new(&shape, tiny_source(&tiny), &b, &err);
        if (st == MX_OK) {
            st = mx_builder_finish(b, tiny_build_blocks(b, &everything), &tiny.program, &err);
        }
        const int64_t n_made = mx_mem_count();
        mx_mem_fail_at(0);
        mx_builder_free(b);
        tiny_decoder_deinit(&tiny);
        MX_CHECK(st == (n_made >= n ? MX_NO_MEMORY : MX_OK));
        if (n_made < n) {
            break;
        }
    }
    MX_CHECK(n > 20 && n < 10000);
}

/* Damages one operation of a good program and checks it. */
static mx_status check_damaged(mx_op_kind kind, void (*damage)(mx_program *p, mx_op *op), mx_error *err)
{
    tiny_decoder tiny;
    mx_status st = tiny_decoder_build(&tiny, &everything, err);
    for (int32_t i = 0; i < tiny.program.n_ops && st == MX_OK; i++) {
        if (tiny.program.ops[i].kind == kind) {
            damage(&tiny.program, &tiny.program.ops[i]);
            st = mx_program_check(&tiny.program, err);
            break;
        }
    }
    tiny_decoder_deinit(&tiny);
    return st;
}

static void drop_input(mx_program *p, mx_op *op)
{
    (void)p;
    op->in[0] = MX_NO_VALUE;
}

static void read_the_future(mx_program *p, mx_op *op)
{
    op->in[0] = p->n_values - 1;
}

static void read_past_the_end(mx_program *p, mx_op *op)
{
    op->in[0] = p->n_values;
}

static void make_twice(mx_program *p, mx_op *op)
{
    (void)p;
    op->out[0] = op->in[0];
}

static void narrow_output(mx_program *p, mx_op *op)
{
    p->values[op->out[0]].n_cols--;
}

static void lose_cache(mx_program *p, mx_op *op)
{
    (void)p;
    op->u.attention.i_cache = 99;
}

static void lose_weight(mx_program *p, mx_op *op)
{
    op->u.linear.weights[0] = p->n_weights;
}

/* Blocks make neither sums over ranks nor messages between stages: pass_shard_test.c has those. */
static bool is_made_by_blocks(int32_t kind)
{
    return kind != MX_OP_ALLREDUCE && kind != MX_OP_ALLGATHER && kind != MX_OP_SEND && kind != MX_OP_RECV;
}

MX_TEST(the_check_finds_what_is_wrong_in_a_program)
{
    mx_error err;
    for (int32_t kind = 0; kind < MX_OP_COUNT; kind++) {
        if (!is_made_by_blocks(kind)) {
            continue;
        }
        MX_CHECK_FAILS(check_damaged((mx_op_kind)kind, drop_input, &err), MX_FORMAT, &err, "an input is missing");
        MX_CHECK_FAILS(check_damaged((mx_op_kind)kind, read_past_the_end, &err), MX_FORMAT, &err, "no such value");
        if (kind != MX_OP_KV_APPEND) {
            MX_CHECK_FAILS(check_damaged((mx_op_kind)kind, make_twice, &err), MX_FORMAT, &err, "made twice");
            MX_CHECK_FAILS(check_damaged((mx_op_kind)kind, narrow_output, &err), MX_FORMAT, &err, "operation");
        }
    }
    MX_CHECK_FAILS(check_damaged(MX_OP_EMBED, read_the_future, &err), MX_FORMAT, &err, "before it is made");
    MX_CHECK_FAILS(check_damaged(MX_OP_ATTENTION, lose_cache, &err), MX_FORMAT, &err, "no such cache");
    MX_CHECK_FAILS(check_damaged(MX_OP_LINEAR, lose_weight, &err), MX_FORMAT, &err, "no such weight");
}

MX_TEST(prints_every_operation_with_its_roofline)
{
    mx_error err;
    tiny_decoder tiny;
    mx_buf out = {.max = 1 << 20};
    const mx_print_settings settings = {.step = {.n_tokens = 1, .n_samples = 1, .n_seqs = 1, .n_kv = 10, .kv_bytes = 2},
                                        .bytes_per_second = 1e9,
                                        .flops_per_second = 1e12};
    MX_CHECK_OK(tiny_decoder_build(&tiny, &everything, &err), &err);
    MX_CHECK_OK(mx_program_print(&tiny.program, &settings, &out, &err), &err);
    const mx_str text = mx_buf_view(&out);
    for (int32_t i = 0; i < MX_OP_COUNT; i++) {
        MX_CHECK(!is_made_by_blocks(i) || mx_str_find(text, mx_str_from(mx_op_infos[i].name), 0) != MX_STR_NPOS);
    }
    MX_CHECK(mx_str_find(text, MX_STR("layers.1.mlp.switch_mlp.glu [2T x 40]"), 0) != MX_STR_NPOS);
    mx_buf_deinit(&out);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(counts_bytes_and_flops_of_a_product)
{
    mx_error err;
    tiny_decoder tiny;
    MX_CHECK_OK(tiny_decoder_build(&tiny, &(tiny_settings){0}, &err), &err);
    const mx_op *op = &tiny.program.ops[tiny.program.n_ops - 1];
    const mx_cost_step step = {.n_tokens = 5, .n_samples = 3, .n_seqs = 1, .n_kv = 5, .kv_bytes = 2};
    const mx_cost cost = mx_cost_of(&tiny.program, op, &step);
    MX_CHECK_I64(cost.weight_bytes, TINY_VOCAB * TINY_MODEL * 4);
    MX_CHECK_I64(cost.value_bytes, 3 * (TINY_VOCAB + TINY_MODEL) * 4);
    MX_CHECK_I64(cost.flops, 2 * 3 * TINY_VOCAB * TINY_MODEL);
    MX_CHECK_I64(cost.cache_bytes, 0);
    tiny_decoder_deinit(&tiny);
}

MX_TEST_MAIN(MX_CASE(a_program_of_all_blocks_is_well_formed), MX_CASE(a_table_that_is_used_twice_is_one_weight),
             MX_CASE(the_first_failure_is_the_one_that_is_told), MX_CASE(every_failing_allocation_is_reported),
             MX_CASE(the_check_finds_what_is_wrong_in_a_program), MX_CASE(prints_every_operation_with_its_roofline),
             MX_CASE(counts_bytes_and_flops_of_a_product))
