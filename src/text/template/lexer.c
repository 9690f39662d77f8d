/* lexer.c - a template's text as tokens, with white space around tags handled as trim_blocks and lstrip_blocks ask.
 *
 * The rules are those of jinja2's regular expressions, written out by hand. Comments and raw blocks end here: the
 * parser sees only text, tags and what is inside tags.
 */
#include "text/template/lexer.h"

#include "base/utf8.h"
#include "text/template/chars.h"
#include "text/template/string_literal.h"

enum { IN_TEXT, IN_BLOCK, IN_VARIABLE };

static const char *const token_texts[] = {
#define X(name, text) [MX_TPL_TOKEN_##name] = (text),
    MX_TPL_TOKEN_LIST(X)
#undef X
};

/* Longer ones first, so that the first that fits is the right one. */
static const struct {
    mx_str text;
    mx_tpl_token_kind kind;
} operators[] = {
    {MX_STR_INIT("//"), MX_TPL_TOKEN_FLOORDIV}, {MX_STR_INIT("**"), MX_TPL_TOKEN_POW},
    {MX_STR_INIT("=="), MX_TPL_TOKEN_EQ},       {MX_STR_INIT("!="), MX_TPL_TOKEN_NE},
    {MX_STR_INIT(">="), MX_TPL_TOKEN_GTEQ},     {MX_STR_INIT("<="), MX_TPL_TOKEN_LTEQ},
    {MX_STR_INIT("+"), MX_TPL_TOKEN_ADD},       {MX_STR_INIT("-"), MX_TPL_TOKEN_SUB},
    {MX_STR_INIT("/"), MX_TPL_TOKEN_DIV},       {MX_STR_INIT("*"), MX_TPL_TOKEN_MUL},
    {MX_STR_INIT("%"), MX_TPL_TOKEN_MOD},       {MX_STR_INIT("~"), MX_TPL_TOKEN_TILDE},
    {MX_STR_INIT("["), MX_TPL_TOKEN_LBRACKET},  {MX_STR_INIT("]"), MX_TPL_TOKEN_RBRACKET},
    {MX_STR_INIT("("), MX_TPL_TOKEN_LPAREN},    {MX_STR_INIT(")"), MX_TPL_TOKEN_RPAREN},
    {MX_STR_INIT("{"), MX_TPL_TOKEN_LBRACE},    {MX_STR_INIT("}"), MX_TPL_TOKEN_RBRACE},
    {MX_STR_INIT(">"), MX_TPL_TOKEN_GT},        {MX_STR_INIT("<"), MX_TPL_TOKEN_LT},
    {MX_STR_INIT("="), MX_TPL_TOKEN_ASSIGN},    {MX_STR_INIT("."), MX_TPL_TOKEN_DOT},
    {MX_STR_INIT(":"), MX_TPL_TOKEN_COLON},     {MX_STR_INIT("|"), MX_TPL_TOKEN_PIPE},
    {MX_STR_INIT(","), MX_TPL_TOKEN_COMMA},     {MX_STR_INIT(";"), MX_TPL_TOKEN_SEMICOLON},
};

const char *mx_tpl_token_text(mx_tpl_token_kind kind)
{
    return token_texts[kind];
}

mx_status mx_tpl_lexer_init(mx_tpl_lexer *lexer, mx_arena *arena, mx_str source, const char *name, mx_error *err)
{
    *lexer = (mx_tpl_lexer){.arena = arena, .name = name, .line = 1, .line_starting = true, .err = err};
    if (!mx_utf8_is_valid(source)) {
        return mx_fail(err, MX_FORMAT, "%s: the template is not valid UTF-8", name);
    }
    char *text = mx_arena_alloc(arena, source.len + 1);
    if (!text) {
        return mx_fail(err, MX_NO_MEMORY, "%s: out of memory for a template of %zu bytes", name, source.len);
    }
    size_t n = 0;
    for (size_t i = 0; i < source.len; i++) {
        if (source.ptr[i] == '\r') {
            text[n++] = '\n';
            i += i + 1 < source.len && source.ptr[i + 1] == '\n';
        } else {
            text[n++] = source.ptr[i];
        }
    }
    n -= n > 0 && text[n - 1] == '\n';
    lexer->source = (mx_str){text, n};
    return MX_OK;
}

static mx_status fail_at(mx_tpl_lexer *lexer, const char *what, mx_str detail)
{
    return mx_fail(lexer->err, MX_FORMAT, "%s: line %d: %s%.*s", lexer->name, (int)lexer->line, what,
                   MX_STR_ARG(detail));
}

static bool looking_at(const mx_tpl_lexer *lexer, size_t pos, const char *text)
{
    return mx_str_starts_with(mx_str_slice(lexer->source, pos, lexer->source.len), mx_str_from(text));
}

static size_t skip_space(const mx_tpl_lexer *lexer, size_t pos)
{
    while (pos < lexer->source.len) {
        size_t next = pos;
        if (!mx_tpl_is_space(mx_tpl_char_at(lexer->source, &next))) {
            break;
        }
        pos = next;
    }
    return pos;
}

static void move_to(mx_tpl_lexer *lexer, size_t pos)
{
    for (size_t i = lexer->pos; i < pos; i++) {
        lexer->line += lexer->source.ptr[i] == '\n';
    }
    lexer->line_starting = pos > 0 && lexer->source.ptr[pos - 1] == '\n';
    lexer->pos = pos;
}

/* End of "+%}", "-%}" with the white space behind it, or "%}" with one newline; MX_STR_NPOS where none is at pos. */
static size_t match_end(const mx_tpl_lexer *lexer, size_t pos, const char *close, bool may_plus, bool trims)
{
    const char c = pos < lexer->source.len ? lexer->source.ptr[pos] : '\0';
    if (c == '-' && looking_at(lexer, pos + 1, close)) {
        return skip_space(lexer, pos + 3);
    }
    if (c == '+' && may_plus && looking_at(lexer, pos + 1, close)) {
        return pos + 3;
    }
    if (!looking_at(lexer, pos, close)) {
        return MX_STR_NPOS;
    }
    pos += 2;
    return pos + (trims && pos < lexer->source.len && lexer->source.ptr[pos] == '\n');
}

/* End of "{% <word> %}" at pos, or MX_STR_NPOS. */
static size_t match_word_tag(const mx_tpl_lexer *lexer, size_t pos, const char *word, bool may_plus, bool trims)
{
    if (!looking_at(lexer, pos, "{%")) {
        return MX_STR_NPOS;
    }
    pos += 2;
    pos += pos < lexer->source.len && (lexer->source.ptr[pos] == '-' || lexer->source.ptr[pos] == '+');
    pos = skip_space(lexer, pos);
    if (!looking_at(lexer, pos, word)) {
        return MX_STR_NPOS;
    }
    return match_end(lexer, skip_space(lexer, pos + strlen(word)), "%}", may_plus, trims);
}

/* The text from pos to a tag at `tag`, without the white space that the tag takes away. */
static mx_str strip_before_tag(const mx_tpl_lexer *lexer, size_t tag, bool is_variable)
{
    mx_str text = mx_str_slice(lexer->source, lexer->pos, tag);
    const char sign = tag + 2 < lexer->source.len ? lexer->source.ptr[tag + 2] : '\0';
    if (sign == '-') {
        return mx_tpl_trim(text, false, true);
    }
    if (sign == '+' || is_variable) {
        return text;
    }
    size_t line_at = text.len;
    while (line_at > 0 && text.ptr[line_at - 1] != '\n') {
        line_at--;
    }
    if ((line_at > 0 || lexer->line_starting) &&
        mx_tpl_trim(mx_str_slice(text, line_at, text.len), true, true).len == 0) {
        text.len = line_at;
    }
    return text;
}

static void give_data(const mx_tpl_lexer *lexer, mx_str text, mx_tpl_token *token)
{
    *token = (mx_tpl_token){.kind = MX_TPL_TOKEN_DATA, .line = lexer->line, .text = text};
}

/* Skips a comment that begins at pos. */
static mx_status skip_comment(mx_tpl_lexer *lexer)
{
    size_t pos = lexer->pos + 2;
    pos += pos < lexer->source.len && (lexer->source.ptr[pos] == '-' || lexer->source.ptr[pos] == '+');
    if (pos >= lexer->source.len) {
        move_to(lexer, pos);
        return MX_OK;
    }
    for (; pos < lexer->source.len; pos++) {
        const size_t end = match_end(lexer, pos, "#}", true, true);
        if (end != MX_STR_NPOS) {
            move_to(lexer, end);
            return MX_OK;
        }
    }
    return fail_at(lexer, "missing end of comment tag", MX_STR(""));
}

/* Gives the text of a raw block whose first tag ends at pos. */
static mx_status lex_raw(mx_tpl_lexer *lexer, size_t body, mx_tpl_token *token)
{
    move_to(lexer, body);
    if (body >= lexer->source.len) {
        give_data(lexer, MX_STR(""), token);
        return MX_OK;
    }
    for (size_t pos = body; pos < lexer->source.len; pos++) {
        const size_t end =
            lexer->source.ptr[pos] == '{' ? match_word_tag(lexer, pos, "endraw", true, true) : MX_STR_NPOS;
        if (end != MX_STR_NPOS) {
            give_data(lexer, strip_before_tag(lexer, pos, false), token);
            move_to(lexer, end);
            return MX_OK;
        }
    }
    return fail_at(lexer, "missing end of raw directive", MX_STR(""));
}

static size_t find_tag(const mx_tpl_lexer *lexer, size_t pos)
{
    for (; pos + 1 < lexer->source.len; pos++) {
        const char *at = lexer->source.ptr + pos;
        if (at[0] == '{' && (at[1] == '%' || at[1] == '{' || at[1] == '#')) {
            return pos;
        }
    }
    return lexer->source.len;
}

/* Begins the tag at pos: *follows is set to the token that comes after the text, if any. */
static mx_status lex_tag(mx_tpl_lexer *lexer, mx_tpl_token *follows, bool *has_follows)
{
    *has_follows = true;
    const size_t tag = lexer->pos;
    const char c = lexer->source.ptr[tag + 1];
    if (c == '#') {
        *has_follows = false;
        return skip_comment(lexer);
    }
    const size_t raw = c == '%' ? match_word_tag(lexer, tag, "raw", false, false) : MX_STR_NPOS;
    if (raw != MX_STR_NPOS) {
        return lex_raw(lexer, raw, follows);
    }
    *follows =
        (mx_tpl_token){.kind = c == '%' ? MX_TPL_TOKEN_BLOCK_BEGIN : MX_TPL_TOKEN_VARIABLE_BEGIN, .line = lexer->line};
    const char sign = tag + 2 < lexer->source.len ? lexer->source.ptr[tag + 2] : '\0';
    move_to(lexer, tag + 2 + (sign == '-' || sign == '+'));
    lexer->state = c == '%' ? IN_BLOCK : IN_VARIABLE;
    lexer->n_closers = 0;
    return MX_OK;
}

static mx_status lex_text(mx_tpl_lexer *lexer, mx_tpl_token *token)
{
    while (lexer->pos < lexer->source.len) {
        const size_t tag = find_tag(lexer, lexer->pos);
        if (tag == lexer->source.len) {
            give_data(lexer, mx_str_slice(lexer->source, lexer->pos, tag), token);
            move_to(lexer, tag);
            return MX_OK;
        }
        give_data(lexer, strip_before_tag(lexer, tag, lexer->source.ptr[tag + 1] == '{'), token);
        const bool was_starting = lexer->line_starting;
        move_to(lexer, tag);
        lexer->line_starting = was_starting;
        MX_TRY(lex_tag(lexer, &lexer->pending, &lexer->has_pending));
        if (token->text.len) {
            return MX_OK;
        }
        if (lexer->has_pending) {
            *token = lexer->pending;
            lexer->has_pending = false;
            if (token->kind != MX_TPL_TOKEN_DATA || token->text.len) {
                return MX_OK;
            }
        }
    }
    *token = (mx_tpl_token){.kind = MX_TPL_TOKEN_EOF, .line = lexer->line};
    return MX_OK;
}

static bool is_ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with single underscores between them; pos itself where there are none. */
static size_t scan_digits(mx_str s, size_t pos)
{
    size_t end = pos;
    while (end < s.len && is_ascii_digit(s.ptr[end])) {
        end++;
        if (end + 1 < s.len && s.ptr[end] == '_' && is_ascii_digit(s.ptr[end + 1])) {
            end++;
        }
    }
    return end;
}

static size_t scan_float(mx_str s, size_t pos)
{
    size_t end = scan_digits(s, pos);
    const size_t whole = end;
    if (end == pos || (pos > 0 && s.ptr[pos - 1] == '.')) {
        return pos;
    }
    if (end + 1 < s.len && s.ptr[end] == '.' && is_ascii_digit(s.ptr[end + 1])) {
        end = scan_digits(s, end + 1);
    }
    if (end < s.len && (s.ptr[end] == 'e' || s.ptr[end] == 'E')) {
        size_t exponent = end + 1;
        exponent += exponent < s.len && (s.ptr[exponent] == '+' || s.ptr[exponent] == '-');
        const size_t after = scan_digits(s, exponent);
        end = after > exponent ? after : end;
    }
    return end > whole ? end : pos;
}

static bool is_digit_of(char c, int base)
{
    const char lower = (char)(c | 0x20);
    const int value = is_ascii_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
    return value < base;
}

static size_t scan_integer(mx_str s, size_t pos)
{
    if (pos >= s.len || !is_ascii_digit(s.ptr[pos])) {
        return pos;
    }
    if (s.ptr[pos] != '0') {
        return scan_digits(s, pos);
    }
    const char letter = pos + 1 < s.len ? (char)(s.ptr[pos + 1] | 0x20) : '\0';
    const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 1;
    size_t end = base > 1 ? pos + 2 : pos + 1;
    for (;;) {
        const size_t digit = end + (end < s.len && s.ptr[end] == '_');
        if (digit >= s.len || !is_digit_of(s.ptr[digit], base)) {
            break;
        }
        end = digit + 1;
    }
    return base > 1 && end == pos + 2 ? pos + 1 : end;
}

static size_t scan_name(mx_str s, size_t pos)
{
    while (pos < s.len) {
        size_t next = pos;
        const int32_t c = mx_tpl_char_at(s, &next);
        if (c != '_' && !mx_tpl_is_alnum(c)) {
            break;
        }
        pos = next;
    }
    return pos;
}

static bool is_identifier(mx_str name)
{
    for (size_t at = 0; at < name.len;) {
        const bool is_first = at == 0;
        const int32_t c = mx_tpl_char_at(name, &at);
        if (is_first ? !mx_tpl_is_identifier_start(c) : !mx_tpl_is_identifier_part(c)) {
            return false;
        }
    }
    return name.len > 0;
}

/* End of the quoted string at pos, or pos. */
static size_t scan_string(mx_str s, size_t pos)
{
    for (size_t i = pos + 1; i < s.len; i++) {
        if (s.ptr[i] == s.ptr[pos]) {
            return i + 1;
        }
        i += s.ptr[i] == '\\';
    }
    return pos;
}

static mx_status balance(mx_tpl_lexer *lexer, mx_tpl_token_kind kind)
{
    static const mx_tpl_token_kind pairs[3][2] = {{MX_TPL_TOKEN_LPAREN, MX_TPL_TOKEN_RPAREN},
                                                  {MX_TPL_TOKEN_LBRACKET, MX_TPL_TOKEN_RBRACKET},
                                                  {MX_TPL_TOKEN_LBRACE, MX_TPL_TOKEN_RBRACE}};
    for (size_t i = 0; i < MX_COUNTOF(pairs); i++) {
        if (kind == pairs[i][0]) {
            if (lexer->n_closers == MX_TPL_LEXER_NESTING) {
                return fail_at(lexer, "too many brackets in brackets", MX_STR(""));
            }
            lexer->closers[lexer->n_closers++] = (char)pairs[i][1];
        } else if (kind == pairs[i][1]) {
            if (lexer->n_closers == 0) {
                return fail_at(lexer, "unexpected ", mx_str_from(token_texts[kind]));
            }
            const mx_tpl_token_kind wanted = (mx_tpl_token_kind)lexer->closers[--lexer->n_closers];
            if (wanted != kind) {
                return mx_fail(lexer->err, MX_FORMAT, "%s: line %d: unexpected '%s', expected '%s'", lexer->name,
                               (int)lexer->line, token_texts[kind], token_texts[wanted]);
            }
        }
    }
    return MX_OK;
}

static mx_status lex_operator(mx_tpl_lexer *lexer, mx_tpl_token *token)
{
    const mx_str rest = mx_str_slice(lexer->source, lexer->pos, lexer->source.len);
    for (size_t i = 0; i < MX_COUNTOF(operators); i++) {
        if (mx_str_starts_with(rest, operators[i].text)) {
            token->kind = operators[i].kind;
            MX_TRY(balance(lexer, token->kind));
            move_to(lexer, lexer->pos + operators[i].text.len);
            return MX_OK;
        }
    }
    size_t next = lexer->pos;
    (void)mx_tpl_char_at(lexer->source, &next);
    return fail_at(lexer, "unexpected character: ", mx_str_slice(lexer->source, lexer->pos, next));
}

static mx_status lex_number(mx_tpl_lexer *lexer, size_t end, bool is_float, mx_tpl_token *token)
{
    char *digits = mx_arena_alloc(lexer->arena, end - lexer->pos + 1);
    if (!digits) {
        return mx_fail(lexer->err, MX_NO_MEMORY, "%s: out of memory", lexer->name);
    }
    size_t n = 0;
    for (size_t i = lexer->pos; i < end; i++) {
        if (lexer->source.ptr[i] != '_') {
            digits[n++] = lexer->source.ptr[i];
        }
    }
    token->text = (mx_str){digits, n};
    token->kind = is_float ? MX_TPL_TOKEN_FLOAT : MX_TPL_TOKEN_INTEGER;
    move_to(lexer, end);
    return MX_OK;
}

static mx_status lex_inside(mx_tpl_lexer *lexer, mx_tpl_token *token)
{
    const bool is_block = lexer->state == IN_BLOCK;
    if (lexer->n_closers == 0) {
        const size_t end = match_end(lexer, lexer->pos, is_block ? "%}" : "}}", is_block, is_block);
        if (end != MX_STR_NPOS) {
            token->kind = is_block ? MX_TPL_TOKEN_BLOCK_END : MX_TPL_TOKEN_VARIABLE_END;
            move_to(lexer, end);
            lexer->state = IN_TEXT;
            return MX_OK;
        }
    }
    const mx_str s = lexer->source;
    const size_t pos = lexer->pos;
    size_t end = scan_float(s, pos);
    if (end > pos) {
        return lex_number(lexer, end, true, token);
    }
    end = scan_integer(s, pos);
    if (end > pos) {
        return lex_number(lexer, end, false, token);
    }
    end = scan_name(s, pos);
    if (end > pos) {
        *token = (mx_tpl_token){.kind = MX_TPL_TOKEN_NAME, .line = lexer->line, .text = mx_str_slice(s, pos, end)};
        if (!is_identifier(token->text)) {
            return fail_at(lexer, "invalid character in identifier ", token->text);
        }
        move_to(lexer, end);
        return MX_OK;
    }
    end = s.ptr[pos] == '\'' || s.ptr[pos] == '"' ? scan_string(s, pos) : pos;
    if (end > pos) {
        token->kind = MX_TPL_TOKEN_STRING;
        const char *why = NULL;
        if (!mx_tpl_decode_string(lexer->arena, mx_str_slice(s, pos + 1, end - 1), &token->value, &why)) {
            return fail_at(lexer, "in a string: ", mx_str_from(why));
        }
        move_to(lexer, end);
        return MX_OK;
    }
    return lex_operator(lexer, token);
}

mx_status mx_tpl_lexer_next(mx_tpl_lexer *lexer, mx_tpl_token *token)
{
    if (lexer->has_pending) {
        *token = lexer->pending;
        lexer->has_pending = false;
        if (token->kind != MX_TPL_TOKEN_DATA || token->text.len) {
            return MX_OK;
        }
    }
    if (lexer->state == IN_TEXT) {
        return lex_text(lexer, token);
    }
    move_to(lexer, skip_space(lexer, lexer->pos));
    *token = (mx_tpl_token){.kind = MX_TPL_TOKEN_EOF, .line = lexer->line};
    return lexer->pos < lexer->source.len ? lex_inside(lexer, token) : MX_OK;
}
