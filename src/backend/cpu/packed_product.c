/* packed_product.c - who multiplies which rows with which tiles, and what happens to the results. */
#include "backend/cpu/packed_product.h"

#include <assert.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "base/compiler.h"
#include "platform/cpu.h"

/* A thread's rows of activations are taken in turns that fill half of the second-level cache (of this size where it is
 * not known), while its tiles pass by; of a tile, PANEL_COLS columns are expanded at a time, to stay in the first. */
#define L2_BYTES      (1024 * 1024)
#define PANEL_COLS    512
#define MAX_TURN_ROWS 512

#define ALIGN 64

/* A way of writing activations that one or more of the operation's weights share. */
typedef struct act_slot {
    mx_act_form form_one;  /* for a segment of one row */
    mx_act_form form_many; /* for longer ones */
    int32_t x_group;
    int32_t w_group;
    size_t row_bytes;
} act_slot;

typedef struct product {
    const mx_cpu_task *task;
    const mx_linear_params *params;
    const mx_packed *weights[MX_OP_MAX_OUT];
    int32_t slot_of[MX_OP_MAX_OUT];
    act_slot slots[MX_OP_MAX_OUT];
    int32_t n_slots;
    int64_t n_cols;  /* of x */
    int64_t n_units; /* tiles of all weights; with a GLU, tiles of one */
    uint8_t *acts;   /* the slots one after the other, each [n_act_rows, row_bytes] */
    int64_t n_act_rows;
    const int32_t *order; /* row of the output for each row of activations; NULL: the same */
    float *norm_row;      /* [n_cols] */
    float *sums;          /* products of a turn with one or two tiles: [2, n_turn_rows, 16] */
    int64_t n_turn_rows;
    uint8_t *panel; /* PANEL_COLS columns of a tile */
    size_t n_panel_bytes;
} product;

typedef struct segment {
    int64_t expert;
    int64_t first_row; /* of activations */
    int64_t n_rows;
} segment;

static size_t round_up(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* Slots ------------------------------------------------------------------------------------------------------------ */

static act_slot choose_slot(const mx_cpu *cpu, const mx_packed *w)
{
    const bool is_fast = cpu->options.cpu_mode == MX_CPU_FAST;
    act_slot slot = {
        .form_one = cpu->kernels->choose_form(w->code, is_fast, true),
        .form_many = cpu->kernels->choose_form(w->code, is_fast, false),
    };
    if (w->code >= MX_CODE_FIRST_DENSE) {
        slot.row_bytes = round_up((size_t)w->n_cols * sizeof(float));
        return slot;
    }
    slot.w_group = w->group;
    slot.x_group = is_fast ? MX_MIN(w->group, 32) : w->group;
    const size_t n_x_groups = (size_t)(w->n_cols / slot.x_group);
    const size_t n_w_groups = (size_t)(w->n_cols / slot.w_group);
    slot.row_bytes = round_up((size_t)w->n_cols * sizeof(int16_t) + n_x_groups * (sizeof(float) + sizeof(int32_t)) +
                              n_w_groups * sizeof(float));
    return slot;
}

static bool is_same_slot(const act_slot *a, const act_slot *b)
{
    return a->form_one == b->form_one && a->form_many == b->form_many && a->x_group == b->x_group &&
           a->w_group == b->w_group;
}

static size_t slots_row_bytes(const product *p)
{
    size_t n_bytes = 0;
    for (int32_t i = 0; i < p->n_slots; i++) {
        n_bytes += p->slots[i].row_bytes;
    }
    return n_bytes;
}

/* Rows whose activations fill half of the second-level cache: a multiple of the largest block. */
static int64_t count_turn_rows(size_t row_bytes)
{
    const int64_t l2_bytes = mx_cpu_get()->l2_bytes ? mx_cpu_get()->l2_bytes : L2_BYTES;
    const int64_t n = l2_bytes / 2 / (int64_t)row_bytes / MX_MAX_BLOCK_TOKENS * MX_MAX_BLOCK_TOKENS;
    return MX_MIN(MX_MAX(n, 4 * MX_MAX_BLOCK_TOKENS), MAX_TURN_ROWS);
}

static void describe_product(product *p, const mx_cpu *cpu, const mx_op *op)
{
    p->params = &op->u.linear;
    p->n_cols = cpu->program->weights[p->params->weights[0]].n_cols; /* of one head, with HEAD_LINEAR */
    for (int32_t i = 0; i < p->params->n_weights; i++) {
        p->weights[i] = &cpu->packed[p->params->weights[i]];
        p->n_units += p->params->has_glu && i > 0 ? 0 : p->weights[i]->n_tiles;
        if (p->weights[i]->code < MX_CODE_FIRST_DENSE) {
            p->n_panel_bytes =
                MX_MAX(p->n_panel_bytes, round_up(mx_panel_bytes(p->weights[i], PANEL_COLS / p->weights[i]->group)));
        }
        const act_slot slot = choose_slot(cpu, p->weights[i]);
        p->slot_of[i] = 0;
        while (p->slot_of[i] < p->n_slots && !is_same_slot(&p->slots[p->slot_of[i]], &slot)) {
            p->slot_of[i]++;
        }
        if (p->slot_of[i] == p->n_slots) {
            p->slots[p->n_slots++] = slot;
        }
    }
    assert(p->n_slots > 0); /* a linear has a weight, a plan is checked for it */
    p->n_turn_rows = count_turn_rows(slots_row_bytes(p));
}

/* The block of n_tokens rows of activations from first_row on, in a slot. */
static mx_acts acts_at(const product *p, int32_t i_slot, int64_t first_row, int32_t n_tokens, bool is_one)
{
    const act_slot *slot = &p->slots[i_slot];
    uint8_t *at = p->acts + (size_t)first_row * slot->row_bytes;
    for (int32_t i = 0; i < i_slot; i++) {
        at += (size_t)p->n_act_rows * p->slots[i].row_bytes;
    }
    mx_acts acts = {
        .form = is_one ? slot->form_one : slot->form_many,
        .n_tokens = n_tokens,
        .x_group = slot->x_group,
        .w_group = slot->w_group,
        .n_cols = p->n_cols,
        .codes = at,
    };
    if (acts.form != MX_ACT_F32) {
        assert(slot->x_group > 0); /* activations in f32 have no groups */
        acts.scales = (float *)(void *)(at + (size_t)(p->n_cols * n_tokens) * sizeof(int16_t));
        acts.code_sums = (int32_t *)(void *)(acts.scales + p->n_cols / slot->x_group * n_tokens);
        acts.sums = (float *)(void *)(acts.code_sums + p->n_cols / slot->x_group * n_tokens);
    }
    return acts;
}

/* Rows are grouped from the front into blocks of the kernels' largest size, the rest into 4, 2 and 1. */
static int32_t block_size(const mx_cpu *cpu, int64_t n_left)
{
    int32_t n = cpu->kernels->max_block_tokens;
    while (n > n_left) {
        n /= 2;
    }
    return n;
}

/* Quantising ------------------------------------------------------------------------------------------------------- */

/* Row `row` of a segment, from x, into the block that it belongs to. */
static void quantize(const product *p, const segment *seg, int64_t row, const float *x)
{
    const mx_cpu *cpu = p->task->cpu;
    const mx_norm_params *norm = &p->params->norm;
    int64_t first = 0;
    int32_t n_tokens = block_size(cpu, seg->n_rows);
    if (row >= n_tokens) {
        first = row / n_tokens * n_tokens;
        while (n_tokens = block_size(cpu, seg->n_rows - first), row >= first + n_tokens) {
            first += n_tokens;
        }
    }
    if (p->params->has_norm) {
        const float *w = mx_cpu_vector(cpu, norm->weight);
        if (norm->is_centered) {
            cpu->kernels->layernorm_row(p->norm_row, x, w, mx_cpu_vector(cpu, norm->bias), p->n_cols, norm->eps,
                                        norm->weight_offset);
        } else {
            cpu->kernels->rmsnorm_row(p->norm_row, x, w, p->n_cols, norm->eps, norm->weight_offset);
        }
        x = p->norm_row;
    }
    for (int32_t i = 0; i < p->n_slots; i++) {
        const mx_acts block = acts_at(p, i, seg->first_row + first, n_tokens, seg->n_rows == 1);
        cpu->kernels->quantize_row(&block, (int32_t)(row - first), x, cpu->options.cpu_mode == MX_CPU_FAST);
    }
}

/* Multiplying ------------------------------------------------------------------------------------------------------ */

/* What comes after a product: y [n_rows, 16] of tile i_tile of weight i, rows first_row on of the activations. */
static void finish(const product *p, const segment *seg, int32_t i, int64_t i_tile, int64_t first_row, int64_t n_rows,
                   float *y, float *up)
{
    const mx_cpu_task *task = p->task;
    const int64_t n_out = p->weights[i]->n_rows;
    const int64_t col = i_tile * MX_TILE_ROWS;
    const int64_t n = MX_MIN(MX_TILE_ROWS, n_out - col);
    const mx_value residual = p->order ? MX_NO_VALUE : task->op->in[1];
    for (int32_t j = 0; j < (p->params->has_glu ? 2 : 1); j++) {
        const float *bias = mx_cpu_vector(task->cpu, p->params->biases[i + j]);
        for (int64_t k = 0; bias && k < n_rows * n; k++) {
            (j ? up : y)[k / n * MX_TILE_ROWS + k % n] += bias[seg->expert * n_out + col + k % n];
        }
    }
    if (p->params->has_glu) {
        task->cpu->kernels->glu_row(y, y, up, n_rows * MX_TILE_ROWS, p->params->act);
    }
    if (p->params->has_act) {
        task->cpu->kernels->act_row(y, y, n_rows * MX_TILE_ROWS, p->params->act);
    }
    float *out = mx_cpu_f32(task, task->op->out[i]) + col;
    const float *add = residual == MX_NO_VALUE ? NULL : mx_cpu_f32(task, residual) + col;
    for (int64_t t = 0; t < n_rows; t++, y += MX_TILE_ROWS) {
        const int64_t at = (p->order ? p->order[first_row + t] : first_row + t) * n_out;
        for (int64_t k = 0; add && k < n; k++) {
            y[k] += add[at + k];
        }
        if (n == MX_TILE_ROWS) { /* a copy of known size is two or four moves */
            memcpy(out + at, y, MX_TILE_ROWS * sizeof(float));
        } else {
            memcpy(out + at, y, (size_t)n * sizeof(float));
        }
    }
}

/* y [to - from, 16] = rows [from, to) of a segment times a tile of weight i. Part by part of the columns, so that the
 * expanded part is read from the first-level cache by all rows. */
static void multiply_rows(const product *p, const segment *seg, int32_t i, const uint8_t *tile, int64_t from,
                          int64_t to, float *y)
{
    const mx_cpu *cpu = p->task->cpu;
    const mx_packed *w = p->weights[i];
    const bool is_dense = w->code >= MX_CODE_FIRST_DENSE;
    const int64_t n_groups = is_dense ? 1 : w->n_cols / w->group;
    const int64_t n_part = is_dense ? 1 : PANEL_COLS / w->group;
    memset(y, 0, (size_t)(to - from) * MX_TILE_ROWS * sizeof(float));
    for (int64_t g = 0; g < n_groups; g += n_part) {
        const int64_t n = MX_MIN(n_part, n_groups - g);
        if (!is_dense) {
            cpu->kernels->expand[w->code](w, tile + g * w->group_bytes, n, p->panel);
        }
        int32_t n_tokens;
        for (int64_t row = from; row < to; row += n_tokens) {
            n_tokens = block_size(cpu, seg->n_rows - row);
            const mx_acts x = acts_at(p, p->slot_of[i], seg->first_row + row, n_tokens, false);
            if (is_dense) {
                cpu->kernels->dense[w->code](w, tile, &x, y + (row - from) * MX_TILE_ROWS);
            } else {
                cpu->kernels->panel(w, p->panel, g, n, &x, y + (row - from) * MX_TILE_ROWS);
            }
        }
    }
    for (int64_t k = 0; w->factor != 1.0f && k < (to - from) * MX_TILE_ROWS; k++) {
        y[k] *= w->factor;
    }
}

/* The same for a segment of one row: y [16]. */
static void multiply_one(const product *p, const segment *seg, int32_t i, const uint8_t *tile, float *y)
{
    const mx_cpu_kernels *kernels = p->task->cpu->kernels;
    const mx_packed *w = p->weights[i];
    const mx_acts x = acts_at(p, p->slot_of[i], seg->first_row, 1, true);
    (w->code < MX_CODE_FIRST_DENSE ? kernels->dot : kernels->dense)[w->code](w, tile, &x, y);
}

/* The rows [from, to) of a segment times one unit: a tile, or with a GLU the same tile of both weights. */
static void run_unit(const product *p, const segment *seg, int64_t unit, int64_t from, int64_t to)
{
    int32_t i = 0;
    while (unit >= p->weights[i]->n_tiles) {
        unit -= p->weights[i++]->n_tiles;
        assert(i < p->params->n_weights);
    }
    float *y[2] = {p->sums, p->sums + p->n_turn_rows * MX_TILE_ROWS};
    for (int32_t j = 0; j < (p->params->has_glu ? 2 : 1); j++) {
        const uint8_t *tile = mx_packed_tile(p->weights[i + j], seg->expert, unit);
        if (seg->n_rows == 1) {
            multiply_one(p, seg, i + j, tile, y[j]);
        } else {
            multiply_rows(p, seg, i + j, tile, from, to, y[j]);
        }
    }
    finish(p, seg, i, unit, seg->first_row + from, to - from, y[0], y[1]);
}

/* In turns of equal size: a short last one would expand all tiles for few rows. */
static void run_units(const product *p, const segment *seg, int64_t from, int64_t to)
{
    const int64_t n_turns = (seg->n_rows + p->n_turn_rows - 1) / p->n_turn_rows;
    const int64_t n_blocks = (seg->n_rows + MX_MAX_BLOCK_TOKENS - 1) / MX_MAX_BLOCK_TOKENS;
    for (int64_t turn = 0; turn < n_turns; turn++) {
        const int64_t row_from = n_blocks * turn / n_turns * MX_MAX_BLOCK_TOKENS;
        const int64_t row_to = MX_MIN(n_blocks * (turn + 1) / n_turns * MX_MAX_BLOCK_TOKENS, seg->n_rows);
        for (int64_t unit = from; unit < to; unit++) {
            run_unit(p, seg, unit, row_from, row_to);
        }
    }
}

/* Operations ------------------------------------------------------------------------------------------------------- */

static size_t norm_bytes(const product *p)
{
    return round_up((size_t)p->n_cols * sizeof(float));
}

static size_t sums_bytes(const product *p)
{
    return 2 * (size_t)p->n_turn_rows * MX_TILE_ROWS * sizeof(float);
}

/* shared: activations; own: activations of one row, the row after its norm, sums of a turn, a panel, and with experts
 * or heads the order of rows [T * top_k] and the segments' ends [n_experts + 1]. */
mx_cpu_need mx_cpu_packed_product_need(const mx_cpu *cpu, const mx_op *op)
{
    product p = {0};
    describe_product(&p, cpu, op);
    const bool has_order = op->kind == MX_OP_EXPERT_LINEAR || op->kind == MX_OP_HEAD_LINEAR;
    const size_t n_experts = (size_t)cpu->program->weights[op->u.linear.weights[0]].n_experts;
    const size_t n_rows = (size_t)mx_cpu_max_rows(cpu, op->kind == MX_OP_EXPERT_LINEAR ? op->out[0] : op->in[0]) *
                          (op->kind == MX_OP_HEAD_LINEAR ? n_experts : 1);
    const size_t n_order_bytes = has_order ? (n_rows + n_experts + 1) * sizeof(int32_t) : 0;
    return (mx_cpu_need){
        .n_shared_bytes = n_rows * slots_row_bytes(&p),
        .n_thread_bytes = slots_row_bytes(&p) + norm_bytes(&p) + sums_bytes(&p) + p.n_panel_bytes + n_order_bytes,
    };
}

/* Lays the thread's work space out; returns the part behind. */
static uint8_t *begin_product(product *p, const mx_cpu_task *task)
{
    describe_product(p, task->cpu, task->op);
    p->task = task;
    uint8_t *own = task->own + slots_row_bytes(p);
    p->norm_row = (float *)(void *)own;
    p->sums = (float *)(void *)(own + norm_bytes(p));
    p->panel = own + norm_bytes(p) + sums_bytes(p);
    return p->panel + p->n_panel_bytes;
}

void mx_cpu_packed_linear(const mx_cpu_task *task)
{
    product p = {0};
    (void)begin_product(&p, task);
    const segment seg = {.n_rows = mx_cpu_n_rows(task, task->op->in[0])};
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    int64_t from = 0;
    int64_t to = seg.n_rows;
    p.n_act_rows = seg.n_rows;
    p.acts = seg.n_rows == 1 ? task->own : task->shared; /* one row is quantised by every thread: no barrier */
    if (seg.n_rows > 1) {
        mx_cpu_split(task, seg.n_rows, &from, &to);
    }
    for (int64_t row = from; row < to; row++) {
        quantize(&p, &seg, row, x + row * p.n_cols);
    }
    if (seg.n_rows > 1) {
        mx_cpu_barrier(task);
    }
    mx_cpu_split(task, p.n_units, &from, &to);
    run_units(&p, &seg, from, to);
}

/* Sorts the slots t * top_k + j by their expert; ends[e + 1] is the end of expert e's segment. */
static void sort_by_expert(const int32_t *ids, int64_t n, int64_t n_experts, int32_t *order, int32_t *ends)
{
    memset(ends, 0, (size_t)(n_experts + 1) * sizeof *ends);
    for (int64_t i = 0; i < n; i++) {
        ends[ids[i] + 1]++;
    }
    for (int64_t e = 0; e < n_experts; e++) {
        ends[e + 1] += ends[e];
    }
    for (int64_t i = 0; i < n; i++) {
        order[ends[ids[i]]++] = (int32_t)i;
    }
    memmove(ends + 1, ends, (size_t)n_experts * sizeof *ends); /* each start has become the next one */
    ends[0] = 0;
}

/* Work space of rows in the order of experts, or of heads, behind that of the product. */
static int32_t *take_order(product *p, uint8_t *rest, int64_t n_rows)
{
    p->n_act_rows = n_rows;
    p->acts = p->task->shared;
    p->order = (int32_t *)(void *)rest;
    return (int32_t *)(void *)rest;
}

static segment segment_of(const int32_t *ends, int64_t expert)
{
    return (segment){expert, ends[expert], ends[expert + 1] - ends[expert]};
}

/* Multiplies all segments. Threads share the tiles of all experts in proportion to rows, so a thread may start in the
 * middle of an expert. */
static void run_segments(const product *p, const int32_t *ends, int64_t n_experts)
{
    int64_t from;
    int64_t to;
    mx_cpu_barrier(p->task); /* the activations are written */
    mx_cpu_split(p->task, p->n_act_rows * p->n_units, &from, &to);
    for (int64_t e = 0; e < n_experts; e++) {
        const segment seg = segment_of(ends, e);
        if (seg.n_rows > 0) {
            const int64_t first = seg.first_row * p->n_units;
            const int64_t unit_from = (MX_MAX(from - first, 0) + seg.n_rows - 1) / seg.n_rows;
            const int64_t unit_to = (MX_MAX(to - first, 0) + seg.n_rows - 1) / seg.n_rows;
            run_units(p, &seg, MX_MIN(unit_from, p->n_units), MX_MIN(unit_to, p->n_units));
        }
    }
}

void mx_cpu_packed_expert_linear(const mx_cpu_task *task)
{
    product p = {0};
    uint8_t *rest = begin_product(&p, task);
    const int32_t *ids = mx_cpu_i32(task, task->op->in[1]);
    const int64_t top_k = mx_cpu_info_of(task->cpu, task->op->in[1])->n_cols;
    const int64_t n_experts = p.weights[0]->n_experts;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    const bool has_row_a_slot = mx_cpu_info_of(task->cpu, task->op->in[0])->row_factor == top_k;
    int32_t *order = take_order(&p, rest, task->batch->n_tokens * top_k);
    int32_t *ends = order + p.n_act_rows;
    int64_t from;
    int64_t to;
    sort_by_expert(ids, p.n_act_rows, n_experts, order, ends);
    mx_cpu_split(task, p.n_act_rows, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const segment seg = segment_of(ends, ids[order[i]]);
        quantize(&p, &seg, i - seg.first_row, x + (has_row_a_slot ? order[i] : order[i] / top_k) * p.n_cols);
    }
    run_segments(&p, ends, n_experts);
}

/* A head is an expert that every token has. */
void mx_cpu_packed_head_linear(const mx_cpu_task *task)
{
    product p = {0};
    uint8_t *rest = begin_product(&p, task);
    const int64_t n_tokens = task->batch->n_tokens;
    const int64_t n_heads = p.weights[0]->n_experts;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    int32_t *order = take_order(&p, rest, n_tokens * n_heads);
    int32_t *ends = order + p.n_act_rows;
    int64_t from;
    int64_t to;
    for (int64_t h = 0; h <= n_heads; h++) {
        ends[h] = (int32_t)(h * n_tokens);
    }
    for (int64_t i = 0; i < p.n_act_rows; i++) {
        order[i] = (int32_t)(i % n_tokens * n_heads + i / n_tokens);
    }
    mx_cpu_split(task, p.n_act_rows, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const segment seg = segment_of(ends, i / n_tokens);
        quantize(&p, &seg, i - seg.first_row, x + order[i] * p.n_cols);
    }
    run_segments(&p, ends, n_heads);
}
