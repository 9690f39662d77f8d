/* The programs of ranks and stages. That they compute the same is tested in tests/golden. */
#include "base/mem.h"
#include "program/check.h"
#include "program/passes.h"
#include "program/print.h"
#include "program/rewrite.h"
#include "tests/test.h"
#include "tests/tiny_decoder.h"

static const tiny_settings everything = {
    .has_head_norms = true, .has_post_norms = true, .has_bias = true, .has_experts = true, .has_caps = true};

static int32_t count(const mx_program *p, mx_op_kind kind)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_ops; i++) {
        n += p->ops[i].kind == kind;
    }
    return n;
}

/* The operation that makes the value of this name. */
static const mx_op *maker_of(const mx_program *p, const char *name)
{
    for (int32_t i = 0; i < p->n_ops; i++) {
        if (p->ops[i].out[0] != MX_NO_VALUE && strcmp(p->values[p->ops[i].out[0]].name, name) == 0) {
            return &p->ops[i];
        }
    }
    static const mx_op none = {0};
    MX_TEST_FAIL("nothing makes %s", name);
    return &none;
}

static const mx_weight *weight_of(const mx_program *p, const char *name)
{
    return &p->weights[maker_of(p, name)->u.linear.weights[0]];
}

static tiny_decoder tiny;

static void build(const tiny_settings *settings)
{
    mx_error err;
    MX_CHECK_OK(tiny_decoder_build(&tiny, settings, &err), &err);
}

static mx_program shard(int32_t i_rank, int32_t n_ranks)
{
    mx_error err;
    mx_program p = {0};
    MX_CHECK_OK(mx_pass_shard(&tiny.program, i_rank, n_ranks, &p, &err), &err);
    return p;
}

MX_TEST(a_rank_has_its_heads_its_columns_and_its_words)
{
    build(&everything);
    for (int32_t rank = 0; rank < 2; rank++) {
        mx_program p = shard(rank, 2);
        const mx_op *attention = maker_of(&p, "layers.0.attention");
        MX_CHECK_I64(attention->u.attention.n_heads, TINY_HEADS / 2);
        MX_CHECK_I64(p.caches[0].n_kv_heads, TINY_KV_HEADS / 2);
        MX_CHECK_I64(p.values[attention->out[0]].n_cols, TINY_HEADS / 2 * TINY_HEAD_DIM);
        MX_CHECK_I64(maker_of(&p, "layers.0.rope.q")->u.rope.n_heads, TINY_HEADS / 2);
        MX_CHECK_I64(weight_of(&p, "layers.0.attn.q_proj")->n_rows, TINY_HEADS / 2 * TINY_HEAD_DIM);
        MX_CHECK_I64(weight_of(&p, "layers.0.attn.o_proj")->n_cols, TINY_HEADS / 2 * TINY_HEAD_DIM);
        MX_CHECK_I64(weight_of(&p, "layers.0.attn.o_proj")->n_pitch_cols, TINY_HEADS * TINY_HEAD_DIM);
        MX_CHECK_I64(weight_of(&p, "layers.0.mlp.up_proj")->n_rows, TINY_FF / 2);
        MX_CHECK_I64(weight_of(&p, "layers.1.mlp.gate")->n_rows, TINY_EXPERTS);
        MX_CHECK_I64(weight_of(&p, "layers.1.mlp.switch_mlp.gate_proj")->n_experts, TINY_EXPERTS);
        MX_CHECK_I64(weight_of(&p, "layers.1.mlp.switch_mlp.gate_proj")->n_rows, TINY_FF / 2);
        MX_CHECK_I64(weight_of(&p, "layers.1.mlp.switch_mlp.down_proj")->n_cols, TINY_FF / 2);
        MX_CHECK_I64(weight_of(&p, "logits")->n_rows, TINY_VOCAB / 2);
        MX_CHECK_I64(count(&p, MX_OP_ALLREDUCE), 2 * TINY_LAYERS);
        MX_CHECK_I64(count(&p, MX_OP_ALLGATHER), 1);
        MX_CHECK_I64(p.shard.i_rank, rank);
        mx_program_deinit(&p);
    }
    tiny_decoder_deinit(&tiny);
}

/* How often a byte of w is read by the ranks' parts of the product that makes `name`. */
static void check_read_once(const char *name, int32_t n_ranks, const mx_weight *w)
{
    static uint8_t n_reads[1 << 16];
    const int64_t n_bytes = w->n_rows * w->n_cols * 4;
    memset(n_reads, 0, (size_t)n_bytes);
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        mx_program p = shard(rank, n_ranks);
        const mx_weight *part = weight_of(&p, name);
        for (int64_t r = 0; r < part->n_rows; r++) {
            const int64_t from = mx_weight_row(part, r) - w->data;
            for (int64_t i = from; i < from + part->n_cols * 4; i++) {
                n_reads[i]++;
            }
        }
        mx_program_deinit(&p);
    }
    int64_t n_wrong = 0;
    for (int64_t i = 0; i < n_bytes; i++) {
        n_wrong += n_reads[i] != 1;
    }
    MX_CHECK_I64(n_wrong, 0);
}

MX_TEST(ranks_read_every_number_once_even_where_parts_differ_in_size)
{
    build(&(tiny_settings){0});
    static const char *const names[] = {"layers.0.attn.q_proj", "layers.0.attn.o_proj", "layers.0.mlp.gate_proj",
                                        "layers.1.mlp.down_proj", "logits"};
    for (size_t i = 0; i < MX_COUNTOF(names); i++) {
        check_read_once(names[i], 4, weight_of(&tiny.program, names[i]));
    }
    tiny_decoder_deinit(&tiny);
}

MX_TEST(ranks_beyond_the_key_heads_share_them)
{
    build(&(tiny_settings){0});
    for (int32_t rank = 0; rank < 4; rank++) {
        mx_program p = shard(rank, 4);
        const mx_weight *whole = weight_of(&tiny.program, "layers.0.attn.k_proj");
        const mx_weight *part = weight_of(&p, "layers.0.attn.k_proj");
        MX_CHECK_I64(p.caches[0].n_kv_heads, 1);
        MX_CHECK_I64(part->n_rows, TINY_HEAD_DIM);
        MX_CHECK(part->data == mx_weight_row(whole, rank / 2 * TINY_HEAD_DIM));
        mx_program_deinit(&p);
    }
    tiny_decoder_deinit(&tiny);
}

MX_TEST(a_bias_is_added_once)
{
    build(&everything);
    for (int32_t rank = 0; rank < 2; rank++) {
        mx_program p = shard(rank, 2);
        const int32_t o_bias = maker_of(&p, "layers.0.attn.o_proj")->u.linear.biases[0];
        MX_CHECK((o_bias != MX_NO_WEIGHT) == (rank == 0));
        const int32_t q_bias = maker_of(&p, "layers.0.attn.q_proj")->u.linear.biases[0];
        MX_CHECK_I64(p.weights[q_bias].n_cols, TINY_HEADS / 2 * TINY_HEAD_DIM);
        mx_program_deinit(&p);
    }
    tiny_decoder_deinit(&tiny);
}

MX_TEST(residuals_fold_into_the_sum_over_the_ranks)
{
    mx_error err;
    build(&(tiny_settings){.has_head_norms = true});
    mx_program p = shard(1, 2);
    MX_CHECK_OK(mx_passes_run(&p, &err), &err);
    MX_CHECK_I64(p.n_ops, 1 + 7 * TINY_LAYERS + 3); /* five operations and two sums a layer; the logits are gathered */
    MX_CHECK_I64(count(&p, MX_OP_ADD), 0);
    for (int32_t i = 0; i < p.n_ops; i++) {
        MX_CHECK(p.ops[i].kind != MX_OP_ALLREDUCE || p.ops[i].in[1] != MX_NO_VALUE);
        MX_CHECK(p.ops[i].kind != MX_OP_LINEAR || p.ops[i].in[1] == MX_NO_VALUE);
    }
    mx_program_deinit(&p);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(two_parts_of_a_sum_are_added_before_the_ranks_meet)
{
    mx_error err;
    build(&(tiny_settings){0});
    for (int32_t i = 0; i < tiny.program.n_ops; i++) { /* layer 0: the MLP beside attention, x + (o + m) */
        mx_op *op = &tiny.program.ops[i];
        if (op->kind == MX_OP_ADD && op->i_layer == 0) {
            op->in[0] = op->out[0] == maker_of(&tiny.program, "layers.0.add")->out[0] ? op->in[1] : op->in[0];
            break;
        }
    }
    MX_CHECK_OK(mx_program_check(&tiny.program, &err), &err);
    mx_program p = shard(0, 2);
    MX_CHECK_I64(count(&p, MX_OP_ALLREDUCE), 2 * TINY_LAYERS);
    const mx_op *add = maker_of(&p, "layers.0.add");
    MX_CHECK(add->in[0] == add->in[1] && add->in[0] == maker_of(&p, "layers.0.attn.o_proj")->out[0]);
    mx_program_deinit(&p);
    tiny_decoder_deinit(&tiny);
}

static mx_status fail_shard(int32_t n_ranks, mx_error *err)
{
    mx_program p = {0};
    const mx_status st = mx_pass_shard(&tiny.program, n_ranks - 1, n_ranks, &p, err);
    MX_CHECK(p.values == NULL);
    return st;
}

MX_TEST(what_cannot_be_divided_is_named_with_its_numbers)
{
    mx_error err;
    build(&(tiny_settings){0});
    MX_CHECK_FAILS(fail_shard(0, &err), MX_INVALID, &err, "rank -1 of 0");
    MX_CHECK_FAILS(fail_shard(3, &err), MX_INVALID, &err, "2 key heads cannot be divided among 3 ranks");
    MX_CHECK_FAILS(fail_shard(8, &err), MX_INVALID, &err, "4 groups of 8 columns cannot be divided among 8 ranks");
    mx_weight *o = &tiny.program.weights[maker_of(&tiny.program, "layers.0.attn.o_proj")->u.linear.weights[0]];
    o->quant = (mx_quant){MX_QUANT_AFFINE, 4, 32};
    MX_CHECK_FAILS(fail_shard(2, &err), MX_INVALID, &err, "columns 16 to 32, which cuts groups of 32");
    MX_CHECK_FAILS(fail_shard(2, &err), MX_INVALID, &err, "LINEAR of \"layers.0.attn.o_proj\": tensor \"tiny\"");
    o->quant = (mx_quant){0};
    o = &tiny.program.weights[maker_of(&tiny.program, "layers.1.mlp.down_proj")->u.linear.weights[0]];
    o->quant.group_size = 32;
    MX_CHECK_FAILS(fail_shard(2, &err), MX_INVALID, &err, "1 groups of 32 columns cannot be divided among 2 ranks");
    tiny_decoder_deinit(&tiny);
}

MX_TEST(a_norm_over_all_heads_has_them_gathered)
{
    build(&everything);
    mx_op *q_norm = &tiny.program.ops[maker_of(&tiny.program, "layers.0.attn.q_norm") - tiny.program.ops];
    mx_op *k_norm = &tiny.program.ops[maker_of(&tiny.program, "layers.0.attn.k_norm") - tiny.program.ops];
    q_norm->u.norm.n_group_cols = TINY_HEADS * TINY_HEAD_DIM;
    k_norm->u.norm.n_group_cols = TINY_KV_HEADS * TINY_HEAD_DIM;
    tiny.program.weights[q_norm->u.norm.weight].n_cols = TINY_HEADS * TINY_HEAD_DIM;
    tiny.program.weights[k_norm->u.norm.weight].n_cols = TINY_KV_HEADS * TINY_HEAD_DIM;
    mx_program p = shard(1, 2);
    MX_CHECK_I64(count(&p, MX_OP_ALLGATHER), 3);
    MX_CHECK_I64(maker_of(&p, "layers.0.rope.q.part")->u.slice.x.first, TINY_HEADS / 2 * TINY_HEAD_DIM);
    MX_CHECK_I64(maker_of(&p, "layers.0.rope.k.part")->u.slice.x.first, TINY_HEAD_DIM);
    mx_program_deinit(&p);
    p = shard(3, 4); /* more ranks than key heads: each computes all keys */
    MX_CHECK_I64(count(&p, MX_OP_ALLGATHER), 2);
    MX_CHECK_I64(weight_of(&p, "layers.0.attn.k_proj")->n_rows, TINY_KV_HEADS * TINY_HEAD_DIM);
    MX_CHECK_I64(maker_of(&p, "layers.0.rope.k.part")->u.slice.x.first, TINY_HEAD_DIM);
    mx_program_deinit(&p);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(programs_are_divided_once_and_before_other_passes)
{
    mx_error err;
    mx_program again = {0};
    build(&(tiny_settings){0});
    mx_program p = shard(0, 2);
    MX_CHECK_FAILS(mx_pass_shard(&p, 0, 2, &again, &err), MX_INVALID, &err, "divided once");
    mx_program_deinit(&p);
    MX_CHECK_OK(mx_passes_run(&tiny.program, &err), &err);
    MX_CHECK_FAILS(fail_shard(2, &err), MX_INVALID, &err, "other passes have been here");
    tiny_decoder_deinit(&tiny);
}

static mx_status cut(const mx_program *whole, int32_t i_stage, int32_t n_stages, mx_program *out, mx_error *err)
{
    *out = (mx_program){0};
    return mx_pass_cut(whole, i_stage, n_stages, out, err);
}

MX_TEST(stages_hand_the_residual_stream_on)
{
    mx_error err;
    mx_program first;
    mx_program second;
    build(&(tiny_settings){0});
    MX_CHECK_OK(cut(&tiny.program, 0, 2, &first, &err), &err);
    MX_CHECK_OK(cut(&tiny.program, 1, 2, &second, &err), &err);
    MX_CHECK_I64(first.n_ops + second.n_ops, tiny.program.n_ops + 2);
    const mx_op *send = &first.ops[first.n_ops - 1];
    const mx_op *recv = &second.ops[0];
    MX_CHECK(send->kind == MX_OP_SEND && send->u.peer.i_stage == 1);
    MX_CHECK(recv->kind == MX_OP_RECV && recv->u.peer.i_stage == 0);
    MX_CHECK_CSTR(first.values[send->in[0]].name, "layers.0.add");
    MX_CHECK_I64(send->in[0], recv->out[0]);
    MX_CHECK_I64(first.logits, MX_NO_VALUE);
    MX_CHECK_I64(first.n_caches, 1);
    MX_CHECK_I64(second.n_caches, 1);
    MX_CHECK_I64(maker_of(&second, "layers.1.attention")->u.attention.i_cache, 0);
    MX_CHECK_OK(mx_passes_run(&first, &err), &err);
    MX_CHECK_OK(mx_passes_run(&second, &err), &err);
    MX_CHECK(count(&first, MX_OP_SEND) == 1 && count(&second, MX_OP_RECV) == 1);
    mx_program_deinit(&first);
    mx_program_deinit(&second);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(a_value_that_a_later_stage_reads_goes_through_those_between)
{
    mx_error err;
    mx_program p;
    build(&(tiny_settings){0});
    tiny.program.n_layers = 3; /* the operations behind layer 1 become layer 2, which reads the embedding too */
    mx_op *last = &tiny.program.ops[tiny.program.n_ops - 3];
    MX_CHECK(last->kind == MX_OP_GATHER_ROWS);
    last->i_layer = 2;
    last->in[0] = maker_of(&tiny.program, "embed")->out[0];
    for (int32_t i_stage = 0; i_stage < 3; i_stage++) {
        MX_CHECK_OK(cut(&tiny.program, i_stage, 3, &p, &err), &err);
        MX_CHECK_I64(count(&p, MX_OP_SEND), i_stage == 0 ? 2 : i_stage == 1 ? 1 : 0);
        MX_CHECK_I64(count(&p, MX_OP_RECV), i_stage == 0 ? 0 : i_stage == 1 ? 2 : 1);
        mx_program_deinit(&p);
    }
    tiny_decoder_deinit(&tiny);
}

MX_TEST(what_cannot_be_cut_is_named)
{
    mx_error err;
    mx_program p;
    build(&(tiny_settings){0});
    MX_CHECK_FAILS(cut(&tiny.program, 0, 3, &p, &err), MX_INVALID, &err, "stage 0 of 3 of a program of 2 layers");
    MX_CHECK_FAILS(cut(&tiny.program, 2, 2, &p, &err), MX_INVALID, &err, "stage 2 of 2");
    mx_op *attention = &tiny.program.ops[maker_of(&tiny.program, "layers.1.attention") - tiny.program.ops];
    attention->u.attention.i_cache = 0;
    MX_CHECK_FAILS(cut(&tiny.program, 1, 2, &p, &err), MX_INVALID, &err, "cache cannot be shared by stages");
    attention->u.attention.i_cache = 1;
    tiny.program.ops[1].i_layer = 1;
    MX_CHECK_FAILS(cut(&tiny.program, 1, 2, &p, &err), MX_INVALID, &err, "layers out of order");
    tiny_decoder_deinit(&tiny);
}

MX_TEST(one_rank_or_stage_is_the_program_itself)
{
    mx_error err;
    mx_program p;
    build(&everything);
    mx_program rank = shard(0, 1);
    MX_CHECK_I64(rank.n_ops, tiny.program.n_ops);
    MX_CHECK_OK(cut(&rank, 0, 1, &p, &err), &err);
    MX_CHECK_I64(p.n_ops, tiny.program.n_ops);
    MX_CHECK_I64(p.logits, tiny.program.logits);
    mx_program_deinit(&p);
    mx_program_deinit(&rank);
    tiny_decoder_deinit(&tiny);
}

/* A rank of a stage; the whole is gone when its programs are used. */
static mx_status divide(int32_t i_rank, int32_t i_stage, mx_program *out, mx_error *err)
{
    mx_program rank = {0};
    MX_TRY(mx_pass_shard(&tiny.program, i_rank, 2, &rank, err));
    const mx_status st = cut(&rank, i_stage, 2, out, err);
    mx_program_deinit(&rank);
    return st;
}

MX_TEST(every_failing_allocation_is_told)
{
    mx_error err;
    build(&everything);
    for (int64_t n = 1; n < 1000; n++) {
        mx_program p = {0};
        mx_mem_fail_at(n);
        const mx_status st = divide(1, 1, &p, &err);
        const int64_t n_made = mx_mem_count();
        mx_mem_fail_at(0);
        mx_program_deinit(&p);
        MX_CHECK(st == (n_made >= n ? MX_NO_MEMORY : MX_OK));
        if (n_made < n) {
            MX_CHECK(n > 5);
            break;
        }
    }
    tiny_decoder_deinit(&tiny);
}

MX_TEST(the_check_finds_what_is_wrong_between_executors)
{
    mx_error err;
    mx_program p;
    build(&everything);
    MX_CHECK_OK(divide(0, 1, &p, &err), &err);
    mx_op *gather = &p.ops[p.n_ops - 1];
    MX_CHECK(gather->kind == MX_OP_ALLGATHER);
    p.values[gather->out[0]].n_cols += 2;
    MX_CHECK_FAILS(mx_program_check(&p, &err), MX_FORMAT, &err, "not this rank's part");
    p.values[gather->out[0]].n_cols -= 2;
    p.ops[0].u.peer.i_stage = 1;
    MX_CHECK_FAILS(mx_program_check(&p, &err), MX_FORMAT, &err, "no such stage");
    p.ops[0].u.peer.i_stage = 0;
    p.shard.n_ranks = 1;
    MX_CHECK_FAILS(mx_program_check(&p, &err), MX_FORMAT, &err, "no other ranks");
    p.shard.n_ranks = 2;
    p.shard.i_stage = 0;
    MX_CHECK_FAILS(mx_program_check(&p, &err), MX_FORMAT, &err, "without an input or an output");
    mx_program_deinit(&p);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(prints_who_talks_to_whom)
{
    mx_error err;
    mx_program p;
    mx_buf out = {.max = 1 << 20};
    const mx_print_settings settings = {.step = {.n_tokens = 1, .n_samples = 1, .n_seqs = 1, .n_kv = 10, .kv_bytes = 2},
                                        .bytes_per_second = 1e9,
                                        .flops_per_second = 1e12};
    build(&(tiny_settings){0});
    for (int32_t i_stage = 0; i_stage < 2; i_stage++) {
        MX_CHECK_OK(divide(0, i_stage, &p, &err), &err);
        MX_CHECK_OK(mx_passes_run(&p, &err), &err);
        MX_CHECK_OK(mx_program_print(&p, &settings, &out, &err), &err);
        mx_program_deinit(&p);
    }
    static const char *const pieces[] = {
        "ALLREDUCE of 2 ranks + residual: ", "ALLGATHER of 2 ranks: ", "SEND to stage 1: %", "RECV from stage 0: "};
    for (size_t i = 0; i < MX_COUNTOF(pieces); i++) {
        MX_CHECK(mx_str_find(mx_buf_view(&out), mx_str_from(pieces[i]), 0) != MX_STR_NPOS);
    }
    mx_buf_deinit(&out);
    tiny_decoder_deinit(&tiny);
}

MX_TEST_MAIN(MX_CASE(a_rank_has_its_heads_its_columns_and_its_words),
             MX_CASE(ranks_read_every_number_once_even_where_parts_differ_in_size),
             MX_CASE(ranks_beyond_the_key_heads_share_them), MX_CASE(a_bias_is_added_once),
             MX_CASE(residuals_fold_into_the_sum_over_the_ranks),
             MX_CASE(two_parts_of_a_sum_are_added_before_the_ranks_meet),
             MX_CASE(what_cannot_be_divided_is_named_with_its_numbers),
             MX_CASE(a_norm_over_all_heads_has_them_gathered),
             MX_CASE(programs_are_divided_once_and_before_other_passes), MX_CASE(stages_hand_the_residual_stream_on),
             MX_CASE(a_value_that_a_later_stage_reads_goes_through_those_between), MX_CASE(what_cannot_be_cut_is_named),
             MX_CASE(one_rank_or_stage_is_the_program_itself), MX_CASE(every_failing_allocation_is_told),
             MX_CASE(the_check_finds_what_is_wrong_between_executors), MX_CASE(prints_who_talks_to_whom))
