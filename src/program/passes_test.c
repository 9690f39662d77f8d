#include "program/passes.h"

#include "program/check.h"
#include "tests/test.h"
#include "tests/tiny_decoder.h"

static int32_t count(const mx_program *p, mx_op_kind kind)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_ops; i++) {
        n += p->ops[i].kind == kind;
    }
    return n;
}

/* The i-th operation of a kind. */
static const mx_op *nth(const mx_program *p, mx_op_kind kind, int32_t n)
{
    for (int32_t i = 0; i < p->n_ops; i++) {
        if (p->ops[i].kind == kind && n-- == 0) {
            return &p->ops[i];
        }
    }
    static const mx_op none = {0};
    MX_TEST_FAIL("the program has no such %s", mx_op_infos[kind].name);
    return &none;
}

static void build(tiny_decoder *tiny, const tiny_settings *settings)
{
    mx_error err;
    MX_CHECK_OK(tiny_decoder_build(tiny, settings, &err), &err);
}

static void run(tiny_decoder *tiny, void (*pass)(mx_program *))
{
    mx_error err;
    pass(&tiny->program);
    MX_CHECK_OK(mx_program_check(&tiny->program, &err), &err);
}

MX_TEST(attention_takes_norms_rope_and_the_append)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){.has_head_norms = true});
    run(&tiny, mx_pass_fold_attention);
    const mx_op *op = nth(&tiny.program, MX_OP_ATTENTION, 0);
    MX_CHECK(op->u.attention.has_append && op->u.attention.has_qk_norm);
    MX_CHECK_I64(op->u.attention.rope, 0);
    MX_CHECK_I64(op->u.attention.k_norm.n_group_cols, TINY_HEAD_DIM);
    MX_CHECK_CSTR(tiny.program.values[op->in[0]].name, "layers.0.attn.q_proj");
    MX_CHECK_CSTR(tiny.program.values[op->in[1]].name, "layers.0.attn.k_proj");
    MX_CHECK_CSTR(tiny.program.values[op->in[2]].name, "layers.0.attn.v_proj");
    MX_CHECK_I64(count(&tiny.program, MX_OP_KV_APPEND) + count(&tiny.program, MX_OP_ROPE), 0);
    MX_CHECK_I64(count(&tiny.program, MX_OP_RMSNORM), 2 * TINY_LAYERS + 1);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(products_take_layer_norms_and_activations)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){.is_like_gpt = true});
    run(&tiny, mx_pass_fold_glu);
    MX_CHECK_I64(count(&tiny.program, MX_OP_ACTIVATION), 0);
    run(&tiny, mx_pass_fold_norm);
    MX_CHECK_I64(count(&tiny.program, MX_OP_LAYERNORM), 0);
    const mx_op *op = nth(&tiny.program, MX_OP_LINEAR, 4); /* after q, k, v and o */
    MX_CHECK(op->u.linear.has_act && op->u.linear.has_norm && op->u.linear.norm.is_centered);
    MX_CHECK_CSTR(tiny.program.values[op->out[0]].name, "layers.0.mlp.act");
    tiny_decoder_deinit(&tiny);
}

MX_TEST(attention_without_norms_takes_rope_alone)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){.window = 5});
    run(&tiny, mx_pass_fold_attention);
    const mx_op *op = nth(&tiny.program, MX_OP_ATTENTION, 0);
    MX_CHECK(op->u.attention.has_append && !op->u.attention.has_qk_norm);
    MX_CHECK_I64(op->u.attention.rope, 0);
    MX_CHECK_I64(op->u.attention.window, 5);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(attention_keeps_steps_that_queries_and_keys_do_not_share)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){0});
    for (int32_t i = 0; i < tiny.program.n_ops; i++) { /* layer 0: its keys are not rotated */
        mx_op *op = &tiny.program.ops[i];
        if (op->kind == MX_OP_KV_APPEND && op->i_layer == 0) {
            op->in[0] = tiny.program.ops[i - 1].in[0];
        }
    }
    run(&tiny, mx_pass_fold_attention);
    MX_CHECK_I64(nth(&tiny.program, MX_OP_ATTENTION, 0)->u.attention.rope, MX_NO_ROPE);
    MX_CHECK_I64(nth(&tiny.program, MX_OP_ATTENTION, 1)->u.attention.rope, 0);
    MX_CHECK_I64(count(&tiny.program, MX_OP_ROPE), 1);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(a_cache_with_two_readers_is_filled_by_the_first)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){0});
    for (int32_t i = 0; i < tiny.program.n_ops; i++) { /* layer 1 attends to the keys of layer 0 */
        mx_op *op = &tiny.program.ops[i];
        if (op->kind == MX_OP_ATTENTION && op->i_layer == 1) {
            op->u.attention.i_cache = 0;
        }
    }
    run(&tiny, mx_pass_fold_attention);
    MX_CHECK(nth(&tiny.program, MX_OP_ATTENTION, 0)->u.attention.has_append);
    MX_CHECK(!nth(&tiny.program, MX_OP_ATTENTION, 1)->u.attention.has_append);
    MX_CHECK_I64(count(&tiny.program, MX_OP_ROPE), 2); /* of layer 1 */
    tiny_decoder_deinit(&tiny);
}

MX_TEST(gate_and_up_become_one_operation)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){.has_experts = true});
    const int32_t n_before = tiny.program.n_ops;
    run(&tiny, mx_pass_fold_glu);
    MX_CHECK_I64(count(&tiny.program, MX_OP_GLU), 0);
    MX_CHECK_I64(tiny.program.n_ops, n_before - 2 * TINY_LAYERS);
    const mx_op *experts = nth(&tiny.program, MX_OP_EXPERT_LINEAR, 0);
    MX_CHECK(experts->u.linear.has_glu);
    MX_CHECK_I64(experts->u.linear.n_weights, 2);
    MX_CHECK_CSTR(tiny.program.values[experts->out[0]].name, "layers.1.mlp.switch_mlp.glu");
    tiny_decoder_deinit(&tiny);
}

MX_TEST(a_gate_that_is_read_twice_is_left_alone)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){0});
    for (int32_t i = 0; i < tiny.program.n_ops; i++) { /* of layer 0: gate * gate */
        mx_op *op = &tiny.program.ops[i];
        if (op->kind == MX_OP_GLU && op->i_layer == 0) {
            op->in[1] = op->in[0];
        }
    }
    run(&tiny, mx_pass_fold_glu);
    MX_CHECK_I64(count(&tiny.program, MX_OP_GLU), 1);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(products_of_one_input_become_one_operation)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){.has_bias = true});
    run(&tiny, mx_pass_merge_linears);
    const mx_op *qkv = nth(&tiny.program, MX_OP_LINEAR, 0);
    MX_CHECK_I64(qkv->u.linear.n_weights, 3);
    MX_CHECK_CSTR(tiny.program.values[qkv->out[0]].name, "layers.0.attn.q_proj");
    MX_CHECK_CSTR(tiny.program.values[qkv->out[2]].name, "layers.0.attn.v_proj");
    MX_CHECK(qkv->u.linear.biases[2] != MX_NO_WEIGHT);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(a_norm_with_one_reader_becomes_part_of_it)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){0});
    run(&tiny, mx_pass_fold_norm);
    MX_CHECK(nth(&tiny.program, MX_OP_LINEAR, 7 * TINY_LAYERS)->u.linear.has_norm); /* the logits */
    MX_CHECK_I64(count(&tiny.program, MX_OP_RMSNORM), 2 * TINY_LAYERS); /* q, k and v still read theirs apart */
    run(&tiny, mx_pass_merge_linears);
    run(&tiny, mx_pass_fold_norm);
    MX_CHECK_I64(count(&tiny.program, MX_OP_RMSNORM), 0); /* gate and up, too, have been merged here */
    tiny_decoder_deinit(&tiny);
}

MX_TEST(norms_on_heads_are_not_folded_into_products)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){0});
    mx_op *last = &tiny.program.ops[tiny.program.n_ops - 2];
    MX_CHECK(last->kind == MX_OP_RMSNORM);
    last->u.norm.n_group_cols = TINY_MODEL / 2;
    mx_pass_fold_norm(&tiny.program);
    MX_CHECK(tiny.program.ops[tiny.program.n_ops - 2].kind == MX_OP_RMSNORM);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(a_sum_becomes_the_residual_of_the_product_before_it)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){0});
    run(&tiny, mx_pass_fold_residual);
    MX_CHECK_I64(count(&tiny.program, MX_OP_ADD), 0);
    const mx_op *o = nth(&tiny.program, MX_OP_LINEAR, 3);
    MX_CHECK_CSTR(tiny.program.values[o->in[1]].name, "embed");
    MX_CHECK_CSTR(tiny.program.values[o->out[0]].name, "layers.0.add");
    tiny_decoder_deinit(&tiny);
}

MX_TEST(a_sum_behind_a_norm_stays)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){.has_post_norms = true});
    run(&tiny, mx_pass_fold_residual);
    MX_CHECK_I64(count(&tiny.program, MX_OP_ADD), 2 * TINY_LAYERS);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(a_sum_with_something_made_later_stays)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){0});
    for (int32_t i = 0; i < tiny.program.n_ops; i++) { /* o_proj + the norm that is made after it */
        mx_op *op = &tiny.program.ops[i];
        if (op->kind == MX_OP_RMSNORM && op->i_layer == 0 && tiny.program.ops[i - 1].kind == MX_OP_ADD) {
            mx_op *add = &tiny.program.ops[i - 1];
            const mx_op norm = *op;
            const mx_value o = add->in[1];
            *op = *add;
            *add = norm;
            add->in[0] = op->in[0];
            op->in[0] = add->out[0];
            op->in[1] = o;
            break;
        }
    }
    mx_pass_fold_residual(&tiny.program);
    MX_CHECK_I64(count(&tiny.program, MX_OP_ADD), 1);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(what_nobody_reads_is_removed_with_what_only_it_read)
{
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){0});
    const int32_t n_before = tiny.program.n_ops;
    mx_op *last = &tiny.program.ops[tiny.program.n_ops - 1];
    last->in[0] = tiny.program.ops[tiny.program.n_ops - 3].out[0]; /* past the norm */
    run(&tiny, mx_pass_remove_dead);
    MX_CHECK_I64(tiny.program.n_ops, n_before - 1);
    MX_CHECK_I64(count(&tiny.program, MX_OP_KV_APPEND), TINY_LAYERS);
    tiny_decoder_deinit(&tiny);
}

MX_TEST(all_passes_leave_five_operations_a_layer)
{
    mx_error err;
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){.has_head_norms = true, .has_bias = true, .is_tied = true});
    MX_CHECK_OK(mx_passes_run(&tiny.program, &err), &err);
    static const mx_op_kind layer[] = {MX_OP_LINEAR, MX_OP_ATTENTION, MX_OP_LINEAR, MX_OP_LINEAR, MX_OP_LINEAR};
    for (int32_t i = 0; i < TINY_LAYERS; i++) {
        for (size_t j = 0; j < MX_COUNTOF(layer); j++) {
            MX_CHECK(tiny.program.ops[1 + (size_t)i * MX_COUNTOF(layer) + j].kind == layer[j]);
        }
    }
    MX_CHECK_I64(tiny.program.n_ops, 1 + 5 * TINY_LAYERS + 2); /* embedding, layers, gathered rows, logits */
    tiny_decoder_deinit(&tiny);
}

MX_TEST(running_the_passes_again_changes_nothing)
{
    mx_error err;
    tiny_decoder tiny;
    build(&tiny, &(tiny_settings){.has_head_norms = true, .has_experts = true, .has_post_norms = true});
    MX_CHECK_OK(mx_passes_run(&tiny.program, &err), &err);
    const int32_t n_ops = tiny.program.n_ops;
    MX_CHECK_OK(mx_passes_run(&tiny.program, &err), &err);
    MX_CHECK_I64(tiny.program.n_ops, n_ops);
    tiny_decoder_deinit(&tiny);
}

MX_TEST_MAIN(MX_CASE(attention_takes_norms_rope_and_the_append), MX_CASE(products_take_layer_norms_and_activations),
             MX_CASE(attention_without_norms_takes_rope_alone),
             MX_CASE(attention_keeps_steps_that_queries_and_keys_do_not_share),
             MX_CASE(a_cache_with_two_readers_is_filled_by_the_first), MX_CASE(gate_and_up_become_one_operation),
             MX_CASE(a_gate_that_is_read_twice_is_left_alone), MX_CASE(products_of_one_input_become_one_operation),
             MX_CASE(a_norm_with_one_reader_becomes_part_of_it), MX_CASE(norms_on_heads_are_not_folded_into_products),
             MX_CASE(a_sum_becomes_the_residual_of_the_product_before_it), MX_CASE(a_sum_behind_a_norm_stays),
             MX_CASE(a_sum_with_something_made_later_stays),
             MX_CASE(what_nobody_reads_is_removed_with_what_only_it_read),
             MX_CASE(all_passes_leave_five_operations_a_layer), MX_CASE(running_the_passes_again_changes_nothing))
