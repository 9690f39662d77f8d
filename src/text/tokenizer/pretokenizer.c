/* pretokenizer.c - reading the pre-tokenizer of a file into stages. pretokenize.c runs them. */
#include "text/tokenizer/pretokenizer.h"

#include "base/compiler.h"
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

static const struct {
    const char *name;
    mx_split_behavior behavior;
} behaviors[] = {
    {"Removed", MX_SPLIT_REMOVED},
    {"Isolated", MX_SPLIT_ISOLATED},
    {"MergedWithPrevious", MX_SPLIT_MERGED_WITH_PREVIOUS},
    {"MergedWithNext", MX_SPLIT_MERGED_WITH_NEXT},
    {"Contiguous", MX_SPLIT_CONTIGUOUS},
};

static mx_status get_behavior(yyjson_val *val, mx_split_behavior *behavior, mx_error *err)
{
    mx_str name = {0};
    MX_TRY(mx_json_get_str(val, "behavior", &name, err));
    if (!name.ptr) {
        return MX_OK;
    }
    for (size_t i = 0; i < MX_COUNTOF(behaviors); i++) {
        if (mx_str_eq_cstr(name, behaviors[i].name)) {
            *behavior = behaviors[i].behavior;
            return MX_OK;
        }
    }
    return mx_fail(err, MX_FORMAT, "\"behavior\" is \"%.*s\", which is no way to split", MX_STR_ARG(name));
}

static mx_status add_stage(mx_pretokenizer *pre, mx_stage **stage, mx_stage_kind kind, mx_error *err)
{
    if (pre->n_stages == MX_PRETOKENIZER_MAX_STAGES) {
        return mx_fail(err, MX_FORMAT, "more than %d steps", MX_PRETOKENIZER_MAX_STAGES);
    }
    *stage = &pre->stages[pre->n_stages++];
    **stage = (mx_stage){.kind = kind};
    return MX_OK;
}

static mx_status add_class(mx_pretokenizer *pre, unsigned classes, mx_split_behavior behavior, mx_error *err)
{
    mx_stage *stage = NULL;
    MX_TRY(add_stage(pre, &stage, MX_STAGE_CLASS, err));
    stage->classes = classes;
    stage->behavior = behavior;
    return MX_OK;
}

/* A member that is one character. */
static mx_status get_char(yyjson_val *val, const char *key, mx_stage *stage, mx_error *err)
{
    mx_str s = {0};
    int32_t code_point = -1;
    MX_TRY(mx_json_get_str(val, key, &s, err));
    if (s.len == 0 || mx_utf8_decode(s.ptr, s.len, &code_point) != s.len) {
        return mx_fail(err, MX_FORMAT, "\"%s\" must be one character", key);
    }
    memcpy(stage->chr, s.ptr, s.len);
    stage->length = s.len;
    return MX_OK;
}

static mx_status read_bert(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    (void)val;
    MX_TRY(add_class(pre, MX_UC_SPACE, MX_SPLIT_REMOVED, err));
    return add_class(pre, MX_UC_PUNCTUATION, MX_SPLIT_ISOLATED, err);
}

static mx_status read_byte_level(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    bool use_regex = true;
    bool add_prefix_space = true;
    mx_stage *stage = NULL;
    MX_TRY(mx_json_get_bool(val, "use_regex", &use_regex, err));
    MX_TRY(mx_json_get_bool(val, "add_prefix_space", &add_prefix_space, err));
    if (add_prefix_space) {
        MX_TRY(add_stage(pre, &stage, MX_STAGE_PREFIX_SPACE, err));
    }
    if (use_regex) {
        MX_TRY(add_stage(pre, &stage, MX_STAGE_PATTERN, err));
        stage->behavior = MX_SPLIT_ISOLATED;
        MX_TRY(mx_pattern_init_regex(&stage->pattern, mx_scan_gpt2_pattern, err));
    }
    return add_stage(pre, &stage, MX_STAGE_BYTES, err);
}

static mx_status read_delimiter(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    mx_stage *stage = NULL;
    MX_TRY(add_stage(pre, &stage, MX_STAGE_CHAR, err));
    stage->behavior = MX_SPLIT_REMOVED;
    return get_char(val, "delimiter", stage, err);
}

static mx_status read_metaspace(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    static const char *const schemes[] = {"always", "first", "never"};
    bool add_prefix_space = true;
    bool splits = true;
    mx_str scheme = MX_STR("always");
    mx_stage *stage = NULL;
    MX_TRY(add_stage(pre, &stage, MX_STAGE_METASPACE, err));
    MX_TRY(get_char(val, "replacement", stage, err));
    MX_TRY(mx_json_get_bool(val, "add_prefix_space", &add_prefix_space, err));
    MX_TRY(mx_json_get_bool(val, "split", &splits, err));
    MX_TRY(mx_json_get_str(val, "prepend_scheme", &scheme, err));
    size_t i = 0;
    while (i < MX_COUNTOF(schemes) && !mx_str_eq_cstr(scheme, schemes[i])) {
        i++;
    }
    if (i == MX_COUNTOF(schemes)) {
        return mx_fail(err, MX_FORMAT, "\"prepend_scheme\" is \"%.*s\", must be always, first or never",
                       MX_STR_ARG(scheme));
    }
    stage->prepend = add_prefix_space ? (mx_prepend_scheme)i : MX_PREPEND_NEVER;
    if (splits) {
        const mx_stage replaced = *stage;
        MX_TRY(add_stage(pre, &stage, MX_STAGE_CHAR, err));
        memcpy(stage->chr, replaced.chr, sizeof stage->chr);
        stage->length = replaced.length;
        stage->behavior = MX_SPLIT_MERGED_WITH_NEXT;
    }
    return MX_OK;
}

static mx_status read_whitespace(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    (void)val;
    mx_stage *stage = NULL;
    return add_stage(pre, &stage, MX_STAGE_WORDS, err);
}

static mx_status read_whitespace_split(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    (void)val;
    return add_class(pre, MX_UC_SPACE, MX_SPLIT_REMOVED, err);
}

static mx_status read_split(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    mx_stage *stage = NULL;
    MX_TRY(add_stage(pre, &stage, MX_STAGE_PATTERN, err));
    if (!yyjson_obj_get(val, "behavior")) {
        return mx_fail(err, MX_FORMAT, "a Split without \"behavior\"");
    }
    MX_TRY(get_behavior(val, &stage->behavior, err));
    MX_TRY(mx_json_get_bool(val, "invert", &stage->is_inverted, err));
    return mx_pattern_init(&stage->pattern, val, err);
}

static mx_status read_punctuation(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    mx_split_behavior behavior = MX_SPLIT_ISOLATED;
    MX_TRY(get_behavior(val, &behavior, err));
    return add_class(pre, MX_UC_PUNCTUATION, behavior, err);
}

static mx_status read_digits(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    bool individual = false;
    MX_TRY(mx_json_get_bool(val, "individual_digits", &individual, err));
    return add_class(pre, MX_UC_NUMERIC, individual ? MX_SPLIT_ISOLATED : MX_SPLIT_CONTIGUOUS, err);
}

static mx_status read_fixed_length(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    int64_t length = 5;
    mx_stage *stage = NULL;
    MX_TRY(mx_json_get_i64(val, "length", 1, INT32_MAX, &length, err));
    MX_TRY(add_stage(pre, &stage, MX_STAGE_FIXED_LENGTH, err));
    stage->length = (size_t)length;
    return MX_OK;
}

static const struct {
    const char *type;
    mx_status (*read)(mx_pretokenizer *pre, yyjson_val *val, mx_error *err);
} readers[] = {
    {"BertPreTokenizer", read_bert},
    {"ByteLevel", read_byte_level},
    {"Delimiter", read_delimiter},
    {"CharDelimiterSplit", read_delimiter},
    {"Metaspace", read_metaspace},
    {"Whitespace", read_whitespace},
    {"WhitespaceSplit", read_whitespace_split},
    {"Split", read_split},
    {"Punctuation", read_punctuation},
    {"Digits", read_digits},
    {"FixedLength", read_fixed_length},
};

static mx_status read_part(void *ctx, mx_str type, yyjson_val *val, mx_error *err)
{
    mx_pretokenizer *pre = ctx;
    for (size_t i = 0; i < MX_COUNTOF(readers); i++) {
        if (mx_str_eq_cstr(type, readers[i].type)) {
            return readers[i].read(pre, val, err);
        }
    }
    return mx_parts_fail_unknown(type, err);
}

mx_status mx_pretokenizer_init(mx_pretokenizer *pre, yyjson_val *val, mx_error *err)
{
    pre->n_stages = 0;
    if (!val || yyjson_is_null(val)) {
        return MX_OK;
    }
    const mx_status st = mx_parts_read(val, "pretokenizers", read_part, pre, err);
    if (st != MX_OK) {
        mx_pretokenizer_deinit(pre);
    }
    return st;
}

void mx_pretokenizer_deinit(mx_pretokenizer *pre)
{
    for (size_t i = 0; i < pre->n_stages; i++) {
        mx_pattern_deinit(&pre->stages[i].pattern);
    }
    pre->n_stages = 0;
}

bool mx_pretokenizer_take_bytes(mx_pretokenizer *pre)
{
    if (pre->n_stages == 0 || pre->stages[pre->n_stages - 1].kind != MX_STAGE_BYTES) {
        return false;
    }
    pre->n_stages--;
    return true;
}
