/* gguf_text.c - byte-level BPE out of GGUF's lists. GGUF names how text is split before BPE by a word; the table has
 * what each stands for in tokenizer.json.
 *
 * Source: llama.cpp, convert_hf_to_gguf_update.py (which models have which word); the tokenizer.json of those models.
 */
#include "hub/gguf_text.h"

#include "base/json.h"
#include "platform/file.h"
#include "platform/path.h"

#define MAX_TEXT_BYTES ((size_t)1 << 30)

enum { TOKEN_CONTROL = 3, TOKEN_USER = 4 };

#define BYTE_LEVEL(regex) \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":" regex "}"
#define SPLIT(pattern)                                      \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" pattern \
    "\"},\"behavior\":\"Isolated\",\"invert\":false}," BYTE_LEVEL("false")
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|"
#define REST         "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

static const struct {
    const char *word;
    const char *normalizer;     /* JSON */
    const char *pre_tokenizers; /* JSON, of a sequence */
    const char *ignore_merges;
    bool adds_bos; /* where the file does not say it */
} kinds[] = {
    {"default", "null", BYTE_LEVEL("true"), "false", false},
    {"gpt-2", "null", BYTE_LEVEL("true"), "false", false},
    {"smollm", "null", "{\"type\":\"Digits\",\"individual_digits\":true}," BYTE_LEVEL("true"), "false", false},
    {"llama-bpe", "null", SPLIT(CONTRACTIONS "\\\\p{N}{1,3}" REST), "true", true},
    {"qwen2", "{\"type\":\"NFC\"}", SPLIT(CONTRACTIONS "\\\\p{N}" REST), "false", false},
};

/* The row of the file's word; -1 for another kind of tokenizer, whose name goes to *kind. */
static int find_kind(const mx_gguf *g, const char **kind)
{
    const mx_str model = mx_gguf_view_str(mx_gguf_find(g, "tokenizer.ggml.model"));
    const mx_str pre = mx_gguf_view_str(mx_gguf_find(g, "tokenizer.ggml.pre"));
    *kind = "";
    if (!mx_str_eq_cstr(model, "gpt2")) {
        *kind = mx_str_eq_cstr(model, "llama") ? "sentencepiece" : "of an unknown kind";
        return -1;
    }
    for (size_t i = 0; i < MX_COUNTOF(kinds); i++) {
        if (mx_str_eq_cstr(pre, kinds[i].word) || (i == 0 && !pre.ptr)) {
            return (int)i;
        }
    }
    *kind = "byte-level BPE with a splitting rule of its own";
    return -1;
}

static const mx_gguf_value *find_strings(const mx_gguf *g, const char *key)
{
    const mx_gguf_value *v = mx_gguf_find(g, key);
    return v && v->is_array && v->type == MX_GGUF_STR ? v : NULL;
}

static mx_status append_added_tokens(const mx_gguf_value *tokens, const mx_gguf_value *types, mx_buf *out,
                                     mx_error *err)
{
    const char *between = "";
    for (uint64_t i = 0; types && i < tokens->n; i++) {
        const double type = mx_gguf_number(types, i); /* compared as it is: it may be no whole number */
        if (type != TOKEN_CONTROL && type != TOKEN_USER) {
            continue;
        }
        MX_TRY(mx_buf_printf(out, err, "%s{\"id\":%u,\"content\":", between, (unsigned)i));
        MX_TRY(mx_json_append_str(out, tokens->strings[i], err));
        MX_TRY(mx_buf_printf(out, err,
                             ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,"
                             "\"special\":%s}",
                             type == TOKEN_CONTROL ? "true" : "false"));
        between = ",\n";
    }
    return MX_OK;
}

/* Whether `key` names one of the tokens: *id is then its place in the list. */
static bool find_token(const mx_gguf *g, const char *key, const mx_gguf_value *tokens, uint64_t *id)
{
    const mx_gguf_value *v = mx_gguf_find(g, key);
    const double number = v && !v->is_array && v->type != MX_GGUF_STR ? mx_gguf_number(v, 0) : -1.0;
    if (!tokens || !(number >= 0.0 && number < (double)tokens->n)) { /* NaN is neither */
        return false;
    }
    *id = (uint64_t)number;
    return (double)*id == number;
}

/* The tokens that go around a text: a bos where the file asks for one. */
static mx_status append_post_processor(const mx_gguf *g, int kind, const mx_gguf_value *tokens, mx_buf *out,
                                       mx_error *err)
{
    uint64_t id;
    int64_t number = -1; /* there is none */
    double adds_bos = kinds[kind].adds_bos;
    MX_TRY(mx_gguf_get_f64(g, "tokenizer.ggml.add_bos_token", 0, 1, &adds_bos, err));
    MX_TRY(mx_gguf_get_i64(g, "tokenizer.ggml.bos_token_id", -1, UINT32_MAX, &number, err));
    if (adds_bos == 0.0 || number == -1 || number == UINT32_MAX) {
        return mx_buf_append(out, MX_STR(BYTE_LEVEL("false")), err);
    }
    if (!find_token(g, "tokenizer.ggml.bos_token_id", tokens, &id)) {
        return mx_fail(err, MX_FORMAT, "the GGUF file's tokenizer.ggml.bos_token_id is %lld, and it has %llu tokens",
                       (long long)number, (unsigned long long)tokens->n);
    }
    mx_buf token = {.max = 1 << 20};
    mx_status st = mx_json_append_str(&token, tokens->strings[id], err);
    const mx_str t = mx_buf_view(&token);
    st = st == MX_OK
             ? mx_buf_printf(
                   out, err,
                   "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":%.*s,\"type_id\":0}},"
                   "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[{\"Sequence\":{\"id\":\"A\","
                   "\"type_id\":0}},{\"Sequence\":{\"id\":\"B\",\"type_id\":1}}],\"special_tokens\":{%.*s:"
                   "{\"id\":%.*s,\"ids\":[%u],\"tokens\":[%.*s]}}}",
                   MX_STR_ARG(t), MX_STR_ARG(t), MX_STR_ARG(t), (unsigned)id, MX_STR_ARG(t))
             : st;
    mx_buf_deinit(&token);
    return st;
}

static mx_status append_tokenizer(const mx_gguf *g, int kind, mx_buf *out, mx_error *err)
{
    const mx_gguf_value *tokens = find_strings(g, "tokenizer.ggml.tokens");
    const mx_gguf_value *merges = find_strings(g, "tokenizer.ggml.merges");
    if (!tokens || !merges) {
        return mx_fail(err, MX_FORMAT, "the GGUF file has no lists of tokens and merges");
    }
    MX_TRY(mx_buf_printf(out, err, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":["));
    MX_TRY(append_added_tokens(tokens, mx_gguf_find(g, "tokenizer.ggml.token_type"), out, err));
    MX_TRY(mx_buf_printf(out, err,
                         "],\"normalizer\":%s,\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[%s]},",
                         kinds[kind].normalizer, kinds[kind].pre_tokenizers));
    MX_TRY(mx_buf_printf(out, err, "\"post_processor\":"));
    MX_TRY(append_post_processor(g, kind, tokens, out, err));
    MX_TRY(
        mx_buf_printf(out, err,
                      ",\"decoder\":" BYTE_LEVEL(
                          "true") ",\"model\":{\"type\":\"BPE\",\"dropout\":null,"
                                  "\"unk_token\":null,\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,"
                                  "\"fuse_unk\":false,\"byte_fallback\":false,\"ignore_merges\":%s,\"vocab\":{",
                      kinds[kind].ignore_merges));
    for (uint64_t i = 0; i < tokens->n; i++) {
        MX_TRY(mx_buf_printf(out, err, "%s", i ? ",\n" : ""));
        MX_TRY(mx_json_append_str(out, tokens->strings[i], err));
        MX_TRY(mx_buf_printf(out, err, ":%u", (unsigned)i));
    }
    MX_TRY(mx_buf_printf(out, err, "},\"merges\":["));
    for (uint64_t i = 0; i < merges->n; i++) {
        MX_TRY(mx_buf_printf(out, err, "%s", i ? ",\n" : ""));
        MX_TRY(mx_json_append_str(out, merges->strings[i], err));
    }
    return mx_buf_append(out, MX_STR("]}}\n"), err);
}

/* bos_token and eos_token by their numbers, and the template. */
static mx_status append_config(const mx_gguf *g, mx_buf *out, mx_error *err)
{
    static const char *const names[][2] = {{"bos_token", "tokenizer.ggml.bos_token_id"},
                                           {"eos_token", "tokenizer.ggml.eos_token_id"},
                                           {"pad_token", "tokenizer.ggml.padding_token_id"}};
    const mx_gguf_value *tokens = find_strings(g, "tokenizer.ggml.tokens");
    const mx_str template = mx_gguf_view_str(mx_gguf_find(g, "tokenizer.chat_template"));
    MX_TRY(mx_buf_printf(out, err, "{\n  \"clean_up_tokenization_spaces\": false"));
    for (size_t i = 0; i < MX_COUNTOF(names); i++) {
        uint64_t id;
        if (find_token(g, names[i][1], tokens, &id)) {
            MX_TRY(mx_buf_printf(out, err, ",\n  \"%s\": ", names[i][0]));
            MX_TRY(mx_json_append_str(out, tokens->strings[id], err));
        }
    }
    if (template.ptr) {
        MX_TRY(mx_buf_printf(out, err, ",\n  \"chat_template\": "));
        MX_TRY(mx_json_append_str(out, template, err));
    }
    return mx_buf_append(out, MX_STR("\n}\n"), err);
}

static mx_status write_text(const char *dir, const char *name, const mx_buf *text, mx_error *err)
{
    mx_arena arena;
    mx_arena_init(&arena, 1 << 20);
    const char *path = mx_path_join(&arena, dir, mx_str_from(name));
    const mx_status st =
        path ? mx_file_write(path, mx_buf_view(text), err) : mx_fail(err, MX_NO_MEMORY, "no memory for a path");
    mx_arena_deinit(&arena);
    return st;
}

mx_status mx_gguf_text_write(const mx_gguf *g, const char *dir, const char **kind, mx_error *err)
{
    mx_buf text = {.max = MAX_TEXT_BYTES};
    mx_status st = MX_OK;
    const int row = find_kind(g, kind);
    if (row >= 0) {
        MX_TRY_OR(done, st, append_tokenizer(g, row, &text, err));
        MX_TRY_OR(done, st, write_text(dir, "tokenizer.json", &text, err));
    }
    text.len = 0;
    MX_TRY_OR(done, st, append_config(g, &text, err));
    st = write_text(dir, "tokenizer_config.json", &text, err);
done:
    mx_buf_deinit(&text);
    return st;
}
