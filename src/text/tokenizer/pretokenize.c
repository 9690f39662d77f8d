/* pretokenize.c - running the stages. */
#include "text/tokenizer/pretokenizer.h"

#include "text/tokenizer/bytechars.h"

static mx_status run_stage(const mx_pretokenizer_run *run, size_t i_stage, mx_piece piece, mx_error *err);

/* A stage at work on one piece. Matches and what lies between them arrive in order, and leave as parts of the piece. */
typedef struct splitter {
    const mx_pretokenizer_run *run;
    size_t i_stage;
    mx_split_behavior behavior;
    bool is_inverted;
    bool has_held; /* start..end waits for what follows */
    bool held_is_match;
    size_t start, end; /* of what is held */
    mx_piece piece;
} splitter;

static mx_status emit_part(const splitter *sp, size_t start, size_t end, mx_error *err)
{
    if (start >= end) {
        return MX_OK;
    }
    const size_t n_origin = sp->piece.n_origin > start ? sp->piece.n_origin - start : 0;
    const mx_piece part = {sp->piece.ptr + start, end - start, n_origin < end - start ? n_origin : end - start};
    return run_stage(sp->run, sp->i_stage + 1, part, err);
}

static mx_status emit_held(splitter *sp, mx_error *err)
{
    const bool has_held = sp->has_held;
    sp->has_held = false;
    return has_held ? emit_part(sp, sp->start, sp->end, err) : MX_OK;
}

static mx_status hold(splitter *sp, size_t start, size_t end, bool is_match, mx_error *err)
{
    MX_TRY(emit_held(sp, err));
    sp->has_held = true;
    sp->held_is_match = is_match;
    sp->start = start;
    sp->end = end;
    return MX_OK;
}

/* Takes the next item of the piece, which is a match or what lies between two. */
static mx_status take(splitter *sp, size_t start, size_t end, bool is_match, mx_error *err)
{
    is_match = is_match != sp->is_inverted;
    switch (sp->behavior) {
    case MX_SPLIT_REMOVED: return is_match ? MX_OK : emit_part(sp, start, end, err);
    case MX_SPLIT_ISOLATED: return emit_part(sp, start, end, err);
    case MX_SPLIT_CONTIGUOUS:
        if (sp->has_held && sp->held_is_match == is_match) {
            sp->end = end;
            return MX_OK;
        }
        return hold(sp, start, end, is_match, err);
    case MX_SPLIT_MERGED_WITH_PREVIOUS:
        if (sp->has_held && is_match && !sp->held_is_match) {
            sp->end = end;
            sp->held_is_match = true;
            return MX_OK;
        }
        return hold(sp, start, end, is_match, err);
    case MX_SPLIT_MERGED_WITH_NEXT:
        if (sp->has_held && sp->held_is_match && !is_match) {
            sp->end = end;
            sp->held_is_match = false;
            return MX_OK;
        }
        return hold(sp, start, end, is_match, err);
    }
    return MX_OK;
}

/* Takes a match at start..end, and before it what lies between the last match (which ended at *done) and it. */
static mx_status take_match(splitter *sp, size_t *done, size_t start, size_t end, mx_error *err)
{
    if (*done < start) {
        MX_TRY(take(sp, *done, start, false, err));
    }
    *done = end;
    return take(sp, start, end, true, err);
}

static mx_status take_rest(splitter *sp, size_t done, mx_error *err)
{
    if (done < sp->piece.len) {
        MX_TRY(take(sp, done, sp->piece.len, false, err));
    }
    return emit_held(sp, err);
}

static mx_status split_pattern(splitter *sp, const mx_stage *stage, mx_error *err)
{
    mx_pattern_walk walk = {.pattern = &stage->pattern,
                            .unicode = sp->run->unicode,
                            .scratch = sp->run->scratch,
                            .text = {sp->piece.ptr, sp->piece.len}};
    size_t done = 0;
    for (bool found;;) {
        MX_TRY(mx_pattern_next(&walk, &found, err));
        if (!found) {
            return take_rest(sp, done, err);
        }
        MX_TRY(take_match(sp, &done, walk.start, walk.end, err));
    }
}

static mx_status split_class(splitter *sp, const mx_stage *stage, mx_error *err)
{
    size_t done = 0;
    for (size_t at = 0, size; at < sp->piece.len; at += size) {
        if (mx_unicode_at(sp->run->unicode, sp->piece.ptr + at, &size) & stage->classes) {
            MX_TRY(take_match(sp, &done, at, at + size, err));
        }
    }
    return take_rest(sp, done, err);
}

static mx_status split_char(splitter *sp, const mx_stage *stage, mx_error *err)
{
    const mx_str text = {sp->piece.ptr, sp->piece.len};
    size_t done = 0;
    for (size_t at = 0;; at += stage->length) {
        at = mx_str_find(text, (mx_str){stage->chr, stage->length}, at);
        if (at == MX_STR_NPOS) {
            return take_rest(sp, done, err);
        }
        MX_TRY(take_match(sp, &done, at, at + stage->length, err));
    }
}

/* \w+|[^\w\s]+ */
static mx_status split_words(splitter *sp, const mx_stage *stage, mx_error *err)
{
    (void)stage;
    const unsigned classes = MX_UC_WORD | MX_UC_SPACE;
    for (size_t at = 0, end, size; at < sp->piece.len; at = end) {
        const unsigned kind = mx_unicode_at(sp->run->unicode, sp->piece.ptr + at, &size) & classes;
        for (end = at + size; end < sp->piece.len; end += size) {
            if ((mx_unicode_at(sp->run->unicode, sp->piece.ptr + end, &size) & classes) != kind) {
                break;
            }
        }
        if (!(kind & MX_UC_SPACE)) {
            MX_TRY(emit_part(sp, at, end, err));
        }
    }
    return MX_OK;
}

static mx_status split_fixed_length(splitter *sp, const mx_stage *stage, mx_error *err)
{
    for (size_t at = 0, end; at < sp->piece.len; at = end) {
        end = at;
        for (size_t n = 0; n < stage->length && end < sp->piece.len; n++) {
            end += mx_utf8_size(sp->piece.ptr[end]);
        }
        MX_TRY(emit_part(sp, at, end, err));
    }
    return MX_OK;
}

/* The buffer of a stage that rewrites its piece, empty. */
static mx_buf *stage_buf(const mx_pretokenizer_run *run, size_t i_stage)
{
    mx_buf *buf = &run->bufs[i_stage];
    buf->len = 0;
    return buf;
}

static mx_status emit_buf(const splitter *sp, const mx_buf *buf, size_t n_origin, mx_error *err)
{
    return run_stage(sp->run, sp->i_stage + 1, (mx_piece){buf->data, buf->len, n_origin}, err);
}

static mx_status prefix_space(splitter *sp, const mx_stage *stage, mx_error *err)
{
    (void)stage;
    if (sp->piece.ptr[0] == ' ') {
        return run_stage(sp->run, sp->i_stage + 1, sp->piece, err);
    }
    mx_buf *buf = stage_buf(sp->run, sp->i_stage);
    MX_TRY(mx_buf_append_char(buf, ' ', err));
    MX_TRY(mx_buf_append(buf, (mx_str){sp->piece.ptr, sp->piece.len}, err));
    return emit_buf(sp, buf, sp->piece.n_origin ? sp->piece.n_origin + 1 : 0, err);
}

/* Where the bytes before n_origin have gone, when `at` bytes of a piece have become n_out bytes. */
static size_t move_origin(size_t n_origin, size_t at, size_t n_out, size_t moved)
{
    return at <= n_origin ? n_out : moved;
}

static mx_status metaspace(splitter *sp, const mx_stage *stage, mx_error *err)
{
    mx_buf *buf = stage_buf(sp->run, sp->i_stage);
    const mx_str text = {sp->piece.ptr, sp->piece.len};
    const mx_str replacement = {stage->chr, stage->length};
    const bool is_there = text.ptr[0] == ' ' || mx_str_starts_with(text, replacement);
    const bool is_wanted =
        stage->prepend == MX_PREPEND_ALWAYS || (stage->prepend == MX_PREPEND_FIRST && sp->piece.n_origin > 0);
    if (is_wanted && !is_there) {
        MX_TRY(mx_buf_append(buf, replacement, err));
    }
    size_t n_origin = 0;
    for (size_t at = 0; at < text.len;) {
        const char *space = memchr(text.ptr + at, ' ', text.len - at);
        size_t end = space ? (size_t)(space - text.ptr) : text.len;
        if (sp->piece.n_origin > at && sp->piece.n_origin < end) {
            end = sp->piece.n_origin; /* so that its new place is seen */
            space = NULL;
        }
        MX_TRY(mx_buf_append(buf, mx_str_slice(text, at, end), err));
        n_origin = move_origin(sp->piece.n_origin, end, buf->len, n_origin);
        at = end;
        if (space) {
            MX_TRY(mx_buf_append(buf, replacement, err));
            at++;
            n_origin = move_origin(sp->piece.n_origin, at, buf->len, n_origin);
        }
    }
    return emit_buf(sp, buf, sp->piece.n_origin ? n_origin : 0, err);
}

static mx_status bytes(splitter *sp, const mx_stage *stage, mx_error *err)
{
    (void)stage;
    mx_buf *buf = stage_buf(sp->run, sp->i_stage);
    MX_TRY(mx_bytechars_append(buf, (mx_str){sp->piece.ptr, sp->piece.n_origin}, err));
    const size_t n_origin = buf->len;
    MX_TRY(mx_bytechars_append(
        buf, mx_str_slice((mx_str){sp->piece.ptr, sp->piece.len}, sp->piece.n_origin, sp->piece.len), err));
    return emit_buf(sp, buf, n_origin, err);
}

static mx_status (*const stage_runs[])(splitter *sp, const mx_stage *stage, mx_error *err) = {
    [MX_STAGE_PATTERN] = split_pattern,
    [MX_STAGE_CLASS] = split_class,
    [MX_STAGE_CHAR] = split_char,
    [MX_STAGE_WORDS] = split_words,
    [MX_STAGE_FIXED_LENGTH] = split_fixed_length,
    [MX_STAGE_PREFIX_SPACE] = prefix_space,
    [MX_STAGE_METASPACE] = metaspace,
    [MX_STAGE_BYTES] = bytes,
};

static mx_status run_stage(const mx_pretokenizer_run *run, size_t i_stage, mx_piece piece, mx_error *err)
{
    if (i_stage == run->pre->n_stages) {
        return run->emit(run->ctx, (mx_str){piece.ptr, piece.len}, err);
    }
    const mx_stage *stage = &run->pre->stages[i_stage];
    splitter sp = {
        .run = run, .i_stage = i_stage, .behavior = stage->behavior, .is_inverted = stage->is_inverted, .piece = piece};
    return stage_runs[stage->kind](&sp, stage, err);
}

mx_status mx_pretokenize(const mx_pretokenizer_run *run, mx_piece piece, mx_error *err)
{
    return piece.len ? run_stage(run, 0, piece, err) : MX_OK;
}
