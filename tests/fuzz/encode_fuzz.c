/* encode_fuzz.c - any bytes as a text, and as ids, for some tiny tokenizers.
 *
 * What must hold for every text: with the byte-level tokenizer decoding gives the text back, with U+FFFD for its
 * ill-formed parts; encoding twice (the words are then cached) gives the same; a stream joins to the whole.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "text/tokenizer/tokenizer.h"

#define MAX_OUT ((size_t)1 << 26)

#define LLAMA_3                                                                            \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}| " \
    "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|"                                             \
    "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

/* The model of the first is made at start: all bytes and some merges. */
static const char *const files[] = {
    "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" LLAMA_3
    "\"},"
    "\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":"
    "false}]},"
    "\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{%s},\"merges\":[\"a a\",\"aa aa\",\"a "
    "b\",\"\u0120 a\"]}}",
    "{\"added_tokens\":[{\"content\":\"<s>\",\"special\":true,\"lstrip\":true,\"normalized\":false},{\"content\":"
    "\"ab\",\"special\":false,"
    "\"single_word\":true,\"rstrip\":true,\"normalized\":true}],\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":["
    "{\"type\":\"NFKC\"},"
    "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"\\\\s+\"},\"content\":\"_\"}]},\"decoder\":{\"type\":\"Sequence\","
    "\"decoders\":["
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\"_\"},\"content\":\" "
    "\"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},"
    "{\"type\":\"Strip\",\"content\":\" "
    "\",\"start\":1,\"stop\":1}]},\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,"
    "\"vocab\":[[\"<unk>\",0],[\"_\",-1],[\"a\",-2],[\"aa\",-3],[\"_a\",-2.5],[\"<0xC3>\",-9],[\"<0xA9>\",-9],[\"<0x41>"
    "\",-9]]}}",
    "{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,\"strip_accents\":"
    "null,\"lowercase\":true},"
    "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\","
    "\"cleanup\":true},"
    "\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"[UNK]\":0,\"a\":1,\"##a\":2,\"##b\":3,\".\":4,\"\u4e2d\":5}}}",
    "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Metaspace\",\"replacement\":\"_\","
    "\"prepend_scheme\":\"first\"},"
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\b\"},\"behavior\":\"MergedWithNext\",\"invert\":false}]},"
    "\"decoder\":{\"type\":\"CTC\",\"pad_token\":\"a\",\"word_delimiter_token\":\"_\",\"cleanup\":true},"
    "\"model\":{\"type\":\"BPE\",\"unk_token\":\"?\",\"fuse_unk\":true,\"end_of_word_suffix\":\"#\",\"vocab\":{\"?\":0,"
    "\"a\":1,\"a#\":2,\"aa#\":3,"
    "\"_\":4},\"merges\":[\"a a#\"]}}",
};

#define N_FILES (sizeof files / sizeof files[0])

static mx_tokenizer *toks[N_FILES];

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* "token":id for the 256 characters that stand for bytes (see bytechars.h), and four merged tokens. */
static void byte_vocab(mx_buf *out)
{
    mx_error err;
    int32_t other = 0x100;
    for (int32_t b = 0; b < 256; b++) {
        const bool is_printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b != 0xAD);
        char utf8[4];
        const size_t n = mx_utf8_encode(is_printable ? b : other++, utf8);
        require(mx_buf_printf(out, &err, "\"%s%.*s\":%d,", b == '"' || b == '\\' ? "\\" : "", (int)n, utf8, (int)b) ==
                MX_OK);
    }
    require(mx_buf_append(out,
                          MX_STR("\"aa\":256,\"aaaa\":257,\"ab\":258,\"\u0120"
                                 "a\":259"),
                          &err) == MX_OK);
}

static void open_all(void)
{
    mx_error err;
    mx_buf vocab = {.max = MAX_OUT};
    mx_buf json = {.max = MAX_OUT};
    byte_vocab(&vocab);
    for (size_t i = 0; i < N_FILES; i++) {
        json.len = 0;
        const char *hole = strstr(files[i], "%s");
        const mx_str before = {files[i], hole ? (size_t)(hole - files[i]) : strlen(files[i])};
        require(mx_buf_append(&json, before, &err) == MX_OK);
        if (hole) {
            require(mx_buf_append(&json, mx_buf_view(&vocab), &err) == MX_OK);
            require(mx_buf_append(&json, mx_str_from(hole + 2), &err) == MX_OK);
        }
        require(mx_tokenizer_open(mx_buf_view(&json), "built in", &toks[i], &err) == MX_OK);
    }
    mx_buf_deinit(&vocab);
    mx_buf_deinit(&json);
}

static void decode_both_ways(const mx_tokenizer *tok, const mx_ids *ids, mx_buf *whole)
{
    mx_error err;
    mx_buf streamed = {.max = MAX_OUT};
    mx_detokenizer *detok = NULL;
    whole->len = 0;
    require(mx_decode(tok, ids->data, ids->len, false, whole, &err) == MX_OK);
    require(mx_detokenizer_new(tok, false, &detok, &err) == MX_OK);
    for (size_t i = 0; i < ids->len; i++) {
        const size_t before = streamed.len;
        require(mx_detokenizer_push(detok, ids->data[i], &streamed, &err) == MX_OK);
        require(mx_utf8_is_valid(mx_str_slice(mx_buf_view(&streamed), before, streamed.len)));
    }
    require(mx_detokenizer_finish(detok, &streamed, &err) == MX_OK);
    require(mx_str_eq(mx_buf_view(whole), mx_buf_view(&streamed)));
    mx_detokenizer_free(detok);
    mx_buf_deinit(&streamed);
}

static void check_text(size_t i_tok, mx_str text)
{
    mx_error err;
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = MAX_OUT};
    mx_ids again = {.max = MAX_OUT};
    mx_buf decoded = {.max = MAX_OUT};
    mx_buf repaired = {.max = MAX_OUT};
    require(mx_encoder_new(toks[i_tok], &enc, &err) == MX_OK);
    const mx_status st = mx_encode(enc, text, MX_ENCODE_SPECIAL, &ids, &err);
    require(mx_encode(enc, text, MX_ENCODE_SPECIAL, &again, &err) == st);
    require(ids.len == again.len && (ids.len == 0 || memcmp(ids.data, again.data, ids.len * sizeof *ids.data) == 0));
    decode_both_ways(toks[i_tok], &ids, &decoded);
    if (i_tok == 0) {
        require(st == MX_OK && mx_utf8_append_lossy(&repaired, text, &err) == MX_OK);
        require(mx_str_eq(mx_buf_view(&decoded), mx_buf_view(&repaired)));
    }
    mx_encoder_free(enc);
    mx_ids_deinit(&ids);
    mx_ids_deinit(&again);
    mx_buf_deinit(&decoded);
    mx_buf_deinit(&repaired);
}

static void check_ids(size_t i_tok, const uint8_t *data, size_t n_bytes)
{
    mx_error err;
    mx_ids ids = {.max = MAX_OUT};
    mx_buf decoded = {.max = MAX_OUT};
    for (size_t i = 0; i + 1 < n_bytes; i += 2) {
        const int32_t id = data[i] | (data[i + 1] & 1) << 8;
        require(mx_ids_append(&ids, &id, 1, &err) == MX_OK);
    }
    decode_both_ways(toks[i_tok], &ids, &decoded);
    mx_ids_deinit(&ids);
    mx_buf_deinit(&decoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    if (!toks[0]) {
        open_all(); /* kept for all inputs */
    }
    for (size_t i = 0; i < N_FILES; i++) {
        check_text(i, (mx_str){(const char *)data, n_bytes});
        check_ids(i, data, n_bytes);
    }
    return 0;
}
