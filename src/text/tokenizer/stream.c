/* stream.c - ids to text, one at a time or all at once. */
#include "base/mem.h"
#include "text/tokenizer/open.h"

struct mx_detokenizer {
    const mx_tokenizer *tok;
    mx_decode_run run;
    bool skip_special;
};

static void init(mx_detokenizer *detok, const mx_tokenizer *tok, bool skip_special)
{
    detok->tok = tok;
    detok->skip_special = skip_special;
    mx_decode_run_init(&detok->run, &tok->decoder, &tok->unicode);
}

mx_status mx_detokenizer_new(const mx_tokenizer *tok, bool skip_special, mx_detokenizer **out, mx_error *err)
{
    *out = mx_calloc(1, sizeof **out);
    if (!*out) {
        return mx_fail_no_memory(err, sizeof **out, "a detokenizer");
    }
    init(*out, tok, skip_special);
    return MX_OK;
}

mx_status mx_detokenizer_push(mx_detokenizer *detok, int32_t id, mx_buf *out, mx_error *err)
{
    const mx_str token = mx_tokenizer_view_decoded(detok->tok, id);
    if (!token.ptr || (detok->skip_special && mx_tokenizer_is_special(detok->tok, id))) {
        return MX_OK;
    }
    detok->run.out = out;
    return mx_decode_token(&detok->run, token, err);
}

mx_status mx_detokenizer_finish(mx_detokenizer *detok, mx_buf *out, mx_error *err)
{
    detok->run.out = out;
    return mx_decode_finish(&detok->run, err);
}

void mx_detokenizer_reset(mx_detokenizer *detok)
{
    mx_decode_run_reset(&detok->run);
}

void mx_detokenizer_free(mx_detokenizer *detok)
{
    if (detok) {
        mx_decode_run_deinit(&detok->run);
        mx_free(detok);
    }
}

mx_status mx_decode(const mx_tokenizer *tok, const int32_t *ids, size_t n_ids, bool skip_special, mx_buf *out,
                    mx_error *err)
{
    mx_detokenizer detok;
    mx_status st = MX_OK;
    const size_t n_before = out->len;
    init(&detok, tok, skip_special);
    for (size_t i = 0; st == MX_OK && i < n_ids; i++) {
        st = mx_detokenizer_push(&detok, ids[i], out, err);
    }
    if (st == MX_OK) {
        st = mx_detokenizer_finish(&detok, out, err);
    }
    if (st != MX_OK) {
        out->len = n_before;
    }
    mx_decode_run_deinit(&detok.run);
    return st;
}
