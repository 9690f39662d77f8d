/* guide.c - waits for a text, then follows the grammar. */
#include "engine/guide.h"

#include <string.h>

#define MAX_TAIL ((size_t)1 << 20)

mx_status mx_guide_init(mx_guide *guide, const mx_tokenizer *tokenizer, const mx_token_table *table,
                        const mx_grammar *grammar, mx_str after, mx_error *err)
{
    *guide = (mx_guide){.tokenizer = tokenizer, .table = table, .after = after, .is_active = after.len == 0};
    mx_buf_init(&guide->tail, MAX_TAIL);
    return mx_matcher_new(grammar, table, &guide->matcher, err);
}

void mx_guide_deinit(mx_guide *guide)
{
    mx_matcher_free(guide->matcher);
    mx_buf_deinit(&guide->tail);
    *guide = (mx_guide){0};
}

mx_status mx_guide_get_allowed(mx_guide *guide, const uint32_t **allowed, bool *can_end, mx_error *err)
{
    *allowed = NULL;
    *can_end = true;
    if (!guide->is_active) {
        return MX_OK;
    }
    *can_end = mx_matcher_can_end(guide->matcher);
    MX_TRY(mx_matcher_get_allowed(guide->matcher, allowed, err));
    bool is_any = *can_end;
    for (int32_t i = 0; !is_any && i <= guide->table->n_vocab / 32; i++) {
        is_any = (*allowed)[i] != 0;
    }
    return is_any ? MX_OK : mx_fail(err, MX_INVALID, "no token of this model goes on as the grammar wants it");
}

/* Looks for the text that the grammar begins behind; what follows it in the same token is the grammar's already. */
static mx_status wait_for_text(mx_guide *guide, int32_t token_id, mx_error *err)
{
    mx_str text = mx_token_table_view(guide->table, token_id);
    if (text.len == 0 && !mx_tokenizer_view_token(guide->tokenizer, token_id, &text)) { /* special ones count here */
        return MX_OK;
    }
    if (guide->tail.len > guide->after.len) { /* no more than could be the beginning of it */
        const size_t n_drop = guide->tail.len - guide->after.len;
        memmove(guide->tail.data, guide->tail.data + n_drop, guide->after.len);
        guide->tail.len = guide->after.len;
    }
    MX_TRY(mx_buf_append(&guide->tail, text, err));
    const size_t at = mx_str_find(mx_buf_view(&guide->tail), guide->after, 0);
    if (at == MX_STR_NPOS) {
        return MX_OK;
    }
    guide->is_active = true;
    return mx_matcher_accept_bytes(
        guide->matcher, mx_str_slice(mx_buf_view(&guide->tail), at + guide->after.len, guide->tail.len), err);
}

mx_status mx_guide_accept(mx_guide *guide, int32_t token_id, mx_error *err)
{
    return guide->is_active ? mx_matcher_accept(guide->matcher, token_id, err) : wait_for_text(guide, token_id, err);
}

bool mx_guide_must_end(const mx_guide *guide)
{
    return guide->is_active && mx_matcher_must_end(guide->matcher);
}
