/* tokenizer_testing.h - for the unit tests of src/text/tokenizer: tokenizers from literals, results as text to compare.
 */
#ifndef MX_TESTS_TOKENIZER_TESTING_H
#define MX_TESTS_TOKENIZER_TESTING_H

#include "tests/test.h"
#include "text/tokenizer/tokenizer.h"

#define TESTING_MAX ((size_t)1 << 24)

/* A tokenizer.json of parts; each part is JSON text. */
#define TESTING_JSON(normalizer, pre_tokenizer, decoder, added, model)                                                 \
    "{\"version\":\"1.0\",\"added_tokens\":[" added "],\"normalizer\":" normalizer ",\"pre_tokenizer\":" pre_tokenizer \
    ",\"post_processor\":null,\"decoder\":" decoder ",\"model\":" model "}"

static inline mx_tokenizer *testing_open(const char *json)
{
    mx_error err;
    mx_tokenizer *tok = NULL;
    MX_CHECK_OK(mx_tokenizer_open(mx_str_from(json), "test.json", &tok, &err), &err);
    return tok;
}

/* The ids of text, written "1 2 3"; or the error's message. */
static inline const char *testing_encode(const mx_tokenizer *tok, mx_str text, unsigned flags)
{
    static char out[4096];
    mx_error err;
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = TESTING_MAX};
    out[0] = '\0';
    mx_status st = tok ? mx_encoder_new(tok, &enc, &err) : mx_fail(&err, MX_INVALID, "no tokenizer");
    st = st == MX_OK ? mx_encode(enc, text, flags, &ids, &err) : st;
    size_t n = 0;
    for (size_t i = 0; st == MX_OK && i < ids.len && n + 16 < sizeof out; i++) {
        n += (size_t)snprintf(out + n, sizeof out - n, i ? " %" PRId32 : "%" PRId32, ids.data[i]);
    }
    if (st != MX_OK) {
        snprintf(out, sizeof out, "%s", err.message);
    }
    mx_encoder_free(enc);
    mx_ids_deinit(&ids);
    return out;
}

/* The text of ids, decoded at once; a failure or a stream that joins to something else is a failed check. */
static inline const char *testing_decode(const mx_tokenizer *tok, const int32_t *ids, size_t n_ids, bool skip_special)
{
    static char out[4096];
    mx_error err;
    mx_buf text = {.max = TESTING_MAX};
    mx_buf streamed = {.max = TESTING_MAX};
    mx_detokenizer *detok = NULL;
    mx_status st = mx_decode(tok, ids, n_ids, skip_special, &text, &err);
    st = st == MX_OK ? mx_detokenizer_new(tok, skip_special, &detok, &err) : st;
    for (size_t i = 0; st == MX_OK && i < n_ids; i++) {
        st = mx_detokenizer_push(detok, ids[i], &streamed, &err);
    }
    st = st == MX_OK ? mx_detokenizer_finish(detok, &streamed, &err) : st;
    MX_CHECK_OK(st, &err);
    MX_CHECK_STR(mx_buf_view(&streamed), mx_buf_view(&text));
    snprintf(out, sizeof out, "%.*s", (int)text.len, text.len ? text.data : "");
    mx_detokenizer_free(detok);
    mx_buf_deinit(&text);
    mx_buf_deinit(&streamed);
    return out;
}

#define TESTING_DECODE(tok, skip_special, ...)                                                                \
    testing_decode((tok), (const int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), \
                   (skip_special))

/* Pseudo-random numbers, the same everywhere. */
static inline uint32_t testing_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

#endif
