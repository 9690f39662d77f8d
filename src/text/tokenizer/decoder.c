/* decoder.c - reading the decoder of a file into steps. decode.c runs them. */
#include "text/tokenizer/decoder.h"

#include "base/compiler.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

static mx_status copy(mx_str s, char **out, size_t *len, mx_error *err)
{
    *out = mx_malloc(s.len);
    if (!*out) {
        return mx_fail_no_memory(err, s.len, "a decoder");
    }
    if (s.len) {
        memcpy(*out, s.ptr, s.len);
    }
    *len = s.len;
    return MX_OK;
}

/* A string that must be there. */
static mx_status get_text(yyjson_val *val, const char *key, char **out, size_t *len, mx_error *err)
{
    mx_str s = {0};
    MX_TRY(mx_json_get_str(val, key, &s, err));
    return s.ptr ? copy(s, out, len, err) : mx_fail(err, MX_FORMAT, "\"%s\" is missing", key);
}

static mx_status get_char(yyjson_val *val, const char *key, mx_decoder_step *step, mx_error *err)
{
    int32_t code_point = -1;
    MX_TRY(get_text(val, key, &step->first, &step->first_len, err));
    if (step->first_len == 0 || mx_utf8_decode(step->first, step->first_len, &code_point) != step->first_len) {
        return mx_fail(err, MX_FORMAT, "\"%s\" must be one character", key);
    }
    return MX_OK;
}

static mx_status read_simple(mx_decoder_step *step, yyjson_val *val, mx_error *err)
{
    (void)step;
    (void)val;
    (void)err;
    return MX_OK;
}

static mx_status read_replace(mx_decoder_step *step, yyjson_val *val, mx_error *err)
{
    MX_TRY(mx_pattern_init(&step->pattern, val, err));
    return get_text(val, "content", &step->first, &step->first_len, err);
}

static mx_status read_strip(mx_decoder_step *step, yyjson_val *val, mx_error *err)
{
    int64_t start = 0;
    int64_t stop = 0;
    MX_TRY(mx_json_get_i64(val, "start", 0, INT32_MAX, &start, err));
    MX_TRY(mx_json_get_i64(val, "stop", 0, INT32_MAX, &stop, err));
    step->n_start = (size_t)start;
    step->n_stop = (size_t)stop;
    return get_char(val, "content", step, err);
}

static mx_status read_metaspace(mx_decoder_step *step, yyjson_val *val, mx_error *err)
{
    bool add_prefix_space = true;
    mx_str scheme = MX_STR("always");
    MX_TRY(mx_json_get_bool(val, "add_prefix_space", &add_prefix_space, err));
    MX_TRY(mx_json_get_str(val, "prepend_scheme", &scheme, err));
    step->drops_first = add_prefix_space && !mx_str_eq_cstr(scheme, "never");
    return get_char(val, "replacement", step, err);
}

static mx_status read_wordpiece(mx_decoder_step *step, yyjson_val *val, mx_error *err)
{
    MX_TRY(mx_json_get_bool(val, "cleanup", &step->cleans_up, err));
    return get_text(val, "prefix", &step->first, &step->first_len, err);
}

static mx_status read_bpe(mx_decoder_step *step, yyjson_val *val, mx_error *err)
{
    return get_text(val, "suffix", &step->first, &step->first_len, err);
}

static mx_status read_ctc(mx_decoder_step *step, yyjson_val *val, mx_error *err)
{
    MX_TRY(mx_json_get_bool(val, "cleanup", &step->cleans_up, err));
    MX_TRY(get_text(val, "pad_token", &step->first, &step->first_len, err));
    return get_text(val, "word_delimiter_token", &step->second, &step->second_len, err);
}

static const struct {
    const char *type;
    mx_step_kind kind;
    mx_status (*read)(mx_decoder_step *step, yyjson_val *val, mx_error *err);
} readers[] = {
    {"ByteLevel", MX_STEP_BYTE_LEVEL, read_simple},
    {"ByteFallback", MX_STEP_BYTE_FALLBACK, read_simple},
    {"Fuse", MX_STEP_FUSE, read_simple},
    {"Replace", MX_STEP_REPLACE, read_replace},
    {"Strip", MX_STEP_STRIP, read_strip},
    {"Metaspace", MX_STEP_METASPACE, read_metaspace},
    {"WordPiece", MX_STEP_WORDPIECE, read_wordpiece},
    {"BPEDecoder", MX_STEP_BPE, read_bpe},
    {"CTC", MX_STEP_CTC, read_ctc},
};

static mx_status add_step(mx_decoder *decoder, mx_step_kind kind, mx_decoder_step **step, mx_error *err)
{
    if (decoder->n_steps == MX_DECODER_MAX_STEPS) {
        return mx_fail(err, MX_FORMAT, "more than %d steps", MX_DECODER_MAX_STEPS);
    }
    *step = &decoder->steps[decoder->n_steps++];
    **step = (mx_decoder_step){.kind = kind};
    return MX_OK;
}

static mx_status read_part(void *ctx, mx_str type, yyjson_val *val, mx_error *err)
{
    mx_decoder *decoder = ctx;
    mx_decoder_step *step = NULL;
    for (size_t i = 0; i < MX_COUNTOF(readers); i++) {
        if (mx_str_eq_cstr(type, readers[i].type)) {
            MX_TRY(add_step(decoder, readers[i].kind, &step, err));
            return readers[i].read(step, val, err);
        }
    }
    return mx_parts_fail_unknown(type, err);
}

mx_status mx_decoder_init(mx_decoder *decoder, yyjson_val *val, mx_error *err)
{
    mx_decoder_step *step = NULL;
    decoder->n_steps = 0;
    if (!val || yyjson_is_null(val)) {
        return add_step(decoder, MX_STEP_SPACED, &step, err);
    }
    const mx_status st = mx_parts_read(val, "decoders", read_part, decoder, err);
    if (st != MX_OK) {
        mx_decoder_deinit(decoder);
    }
    return st;
}

void mx_decoder_deinit(mx_decoder *decoder)
{
    for (size_t i = 0; i < decoder->n_steps; i++) {
        mx_pattern_deinit(&decoder->steps[i].pattern);
        mx_free(decoder->steps[i].first);
        mx_free(decoder->steps[i].second);
    }
    decoder->n_steps = 0;
}
