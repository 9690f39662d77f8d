/* tokenizer_json_fuzz.c - any bytes as a tokenizer.json; one that opens encodes a text and decodes the ids.
 *
 * The file may be hostile, so all that is asked is that nothing crashes, that errors say something, and that a stream
 * joins to what decoding at once gives.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "text/tokenizer/tokenizer.h"

#define MAX_OUT ((size_t)1 << 22)

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void decode_both_ways(const mx_tokenizer *tok, const mx_ids *ids)
{
    mx_error err = {0};
    mx_buf whole = {.max = MAX_OUT};
    mx_buf streamed = {.max = MAX_OUT};
    mx_detokenizer *detok = NULL;
    mx_status st = mx_detokenizer_new(tok, true, &detok, &err);
    for (size_t i = 0; st == MX_OK && i < ids->len; i++) {
        st = mx_detokenizer_push(detok, ids->data[i], &streamed, &err);
    }
    st = st == MX_OK ? mx_detokenizer_finish(detok, &streamed, &err) : st;
    const mx_status at_once = mx_decode(tok, ids->data, ids->len, true, &whole, &err);
    require(at_once == st);
    require(st != MX_OK || mx_str_eq(mx_buf_view(&whole), mx_buf_view(&streamed)));
    require(mx_utf8_is_valid(mx_buf_view(&streamed)));
    mx_detokenizer_free(detok);
    mx_buf_deinit(&whole);
    mx_buf_deinit(&streamed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static const char text[] =
        "Hello  world, it's\n\t12 <s>caf\xC3\xA9 e\xCC\x81 \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80 aaaa\xFF";
    mx_error err = {0};
    mx_tokenizer *tok = NULL;
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = 1 << 20};
    if (mx_tokenizer_open((mx_str){(const char *)data, n_bytes}, "input", &tok, &err) != MX_OK) {
        require(err.message[0] != '\0' && !tok);
        return 0;
    }
    require(mx_encoder_new(tok, &enc, &err) == MX_OK);
    for (unsigned flags = 0; flags < 4; flags++) {
        ids.len = 0;
        if (mx_encode(enc, (mx_str){text, sizeof text - 1}, flags, &ids, &err) == MX_OK) {
            decode_both_ways(tok, &ids);
        }
    }
    mx_ids_deinit(&ids);
    mx_encoder_free(enc);
    mx_tokenizer_close(tok);
    return 0;
}
