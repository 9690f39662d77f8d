/* token_table.c - bytes from the tokenizer, sorted once. */
#include "text/grammar/token_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

typedef struct sort_row {
    mx_str bytes;
    int32_t id;
} sort_row;

static int compare(const void *a, const void *b)
{
    const sort_row *x = (const sort_row *)a;
    const sort_row *y = (const sort_row *)b;
    const size_t n = MX_MIN(x->bytes.len, y->bytes.len);
    const int order = memcmp(x->bytes.ptr, y->bytes.ptr, n);
    return order ? order : (x->bytes.len > y->bytes.len) - (x->bytes.len < y->bytes.len);
}

static mx_status collect(mx_token_table *t, const mx_tokenizer *tokenizer, mx_buf *bytes, mx_error *err)
{
    for (int32_t id = 0; id < t->n_vocab; id++) {
        t->offsets[id] = (uint32_t)bytes->len;
        if ((size_t)id < mx_tokenizer_n_ids(tokenizer) && !mx_tokenizer_is_special(tokenizer, id)) {
            MX_TRY(mx_tokenizer_append_bytes(tokenizer, id, bytes, err));
        }
        t->n_tokens += bytes->len > t->offsets[id];
    }
    t->offsets[t->n_vocab] = (uint32_t)bytes->len;
    return MX_OK;
}

static int32_t count_shared(mx_str a, mx_str b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n]) {
        n++;
    }
    return (int32_t)n;
}

static mx_status sort(mx_token_table *t, mx_error *err)
{
    sort_row *rows = (sort_row *)mx_calloc((size_t)t->n_tokens, sizeof *rows);
    t->ids = (int32_t *)mx_calloc((size_t)t->n_tokens, sizeof(int32_t));
    t->n_shared = (int32_t *)mx_calloc((size_t)t->n_tokens, sizeof(int32_t));
    if (!rows || !t->ids || !t->n_shared) {
        mx_free(rows);
        return mx_fail_no_memory(err, (size_t)t->n_tokens * sizeof *rows, "the table of tokens");
    }
    int32_t n = 0;
    for (int32_t id = 0; id < t->n_vocab; id++) {
        const mx_str bytes = mx_token_table_view(t, id);
        if (bytes.len > 0) {
            rows[n++] = (sort_row){bytes, id};
            t->n_longest = MX_MAX(t->n_longest, (int32_t)bytes.len);
        }
    }
    qsort(rows, (size_t)n, sizeof *rows, compare);
    for (int32_t i = 0; i < n; i++) {
        t->ids[i] = rows[i].id;
        t->n_shared[i] = i > 0 ? count_shared(rows[i - 1].bytes, rows[i].bytes) : 0;
    }
    mx_free(rows);
    return MX_OK;
}

mx_status mx_token_table_init(mx_token_table *t, const mx_tokenizer *tokenizer, int32_t n_vocab, mx_error *err)
{
    mx_buf bytes = {.max = (size_t)1 << 30};
    mx_status st;
    *t = (mx_token_table){.n_vocab = n_vocab, .strips_first = mx_tokenizer_strips_first(tokenizer)};
    t->offsets = (uint32_t *)mx_calloc((size_t)n_vocab + 1, sizeof(uint32_t));
    if (!t->offsets) {
        st = mx_fail_no_memory(err, (size_t)n_vocab * sizeof(uint32_t), "the table of tokens");
        goto done;
    }
    MX_TRY_OR(done, st, collect(t, tokenizer, &bytes, err));
    t->bytes = bytes.data; /* ownership moved into the table */
    bytes = (mx_buf){0};
    st = sort(t, err);
done:
    mx_buf_deinit(&bytes);
    if (st != MX_OK) {
        mx_token_table_deinit(t);
    }
    return st;
}

void mx_token_table_deinit(mx_token_table *t)
{
    mx_free(t->ids);
    mx_free(t->n_shared);
    mx_free(t->offsets);
    mx_free(t->bytes);
    *t = (mx_token_table){0};
}
