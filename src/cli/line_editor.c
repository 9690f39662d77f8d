/* line_editor.c - keys, history and the picture of the line. */
#include "cli/line_editor.h"

#include <utf8proc.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "platform/console.h"
#include "platform/file.h"

#define MAX_LINE_BYTES    ((size_t)4 << 20)
#define MAX_HISTORY_BYTES ((size_t)16 << 20)
#define LINE_END_MARK     "\xe2\x8f\x8e" /* U+23CE, what a line end within the line is shown as */

enum {
    CTRL_A = 1,
    CTRL_B,
    CTRL_C,
    CTRL_D,
    CTRL_E,
    CTRL_F,
    CTRL_H = 8,
    CTRL_J = 10,
    CTRL_K,
    CTRL_L,
    ENTER,
    CTRL_N,
    CTRL_P = 16,
    CTRL_U = 21,
    CTRL_W = 23,
    ESCAPE = 27,
    BACKSPACE = 127
};

void mx_line_editor_init(mx_line_editor *e)
{
    *e = (mx_line_editor){.text = {.max = MAX_LINE_BYTES}};
}

void mx_line_editor_deinit(mx_line_editor *e)
{
    for (size_t i = 0; i < e->n_history; i++) {
        mx_free(e->history[i]);
    }
    mx_free(e->history);
    mx_free(e->draft);
    mx_buf_deinit(&e->text);
}

void mx_line_editor_begin(mx_line_editor *e)
{
    e->text.len = 0;
    e->cursor = 0;
    e->n_keys = 0;
    e->is_pasting = false;
    e->i_history = e->n_history;
    mx_free(e->draft);
    e->draft = NULL;
}

/* ---- text ---- */

static size_t next_char(const mx_line_editor *e, size_t at)
{
    int32_t code;
    return at < e->text.len ? at + mx_utf8_decode(e->text.data + at, e->text.len - at, &code) : at;
}

static size_t previous_char(const mx_line_editor *e, size_t at)
{
    while (at > 0 && ((unsigned char)e->text.data[--at] & 0xc0) == 0x80) {
    }
    return at;
}

static void erase(mx_line_editor *e, size_t from, size_t to)
{
    if (to > from) {
        memmove(e->text.data + from, e->text.data + to, e->text.len - to);
        e->text.len -= to - from;
    }
    e->cursor = from;
}

static mx_status insert(mx_line_editor *e, mx_str s, mx_error *err)
{
    MX_TRY(mx_buf_reserve(&e->text, s.len, err));
    if (e->text.len > e->cursor) {
        memmove(e->text.data + e->cursor + s.len, e->text.data + e->cursor, e->text.len - e->cursor);
    }
    memcpy(e->text.data + e->cursor, s.ptr, s.len);
    e->text.len += s.len;
    e->cursor += s.len;
    return MX_OK;
}

static size_t word_start(const mx_line_editor *e)
{
    size_t at = e->cursor;
    while (at > 0 && strchr(" \n", e->text.data[at - 1])) {
        at--;
    }
    while (at > 0 && !strchr(" \n", e->text.data[at - 1])) {
        at--;
    }
    return at;
}

/* ---- history ---- */

static char *copy_line(mx_str s)
{
    char *copy = (char *)mx_malloc(s.len + 1);
    if (copy) {
        if (s.len > 0) {
            memcpy(copy, s.ptr, s.len);
        }
        copy[s.len] = '\0';
    }
    return copy;
}

mx_status mx_line_editor_remember(mx_line_editor *e, mx_str line, mx_error *err)
{
    if (line.len == 0 || memchr(line.ptr, '\0', line.len) ||
        (e->n_history > 0 && mx_str_eq_cstr(line, e->history[e->n_history - 1]))) {
        return MX_OK;
    }
    char *copy = copy_line(line);
    char **grown =
        mx_array_grow((void *)e->history, &e->cap_history, e->n_history + 1, sizeof *grown, MX_LINE_MAX_HISTORY + 1);
    e->history = grown ? grown : e->history;
    if (!copy || !grown) {
        mx_free(copy);
        return mx_fail(err, MX_NO_MEMORY, "no memory for the history");
    }
    e->history[e->n_history++] = copy;
    if (e->n_history > MX_LINE_MAX_HISTORY) {
        mx_free(e->history[0]);
        memmove((void *)e->history, (void *)(e->history + 1), --e->n_history * sizeof *e->history);
    }
    return MX_OK;
}

static mx_status show_history(mx_line_editor *e, size_t i, mx_error *err)
{
    if (i > e->n_history || i == e->i_history) {
        return MX_OK;
    }
    if (e->i_history == e->n_history) {
        mx_free(e->draft);
        e->draft = copy_line(mx_buf_view(&e->text));
    }
    const char *line = i < e->n_history ? e->history[i] : e->draft ? e->draft : "";
    e->i_history = i;
    e->text.len = 0;
    e->cursor = 0;
    return insert(e, mx_str_from(line), err);
}

/* ---- keys ---- */

/* Escape sequences of keys. */
typedef enum key {
    KEY_NONE,
    KEY_UP,
    KEY_DOWN,
    KEY_RIGHT,
    KEY_LEFT,
    KEY_HOME,
    KEY_END,
    KEY_DELETE,
    KEY_PASTE,
    KEY_PASTED,
    KEY_NEW_LINE
} key;

static const struct {
    const char *sequence; /* behind ESC */
    key key;
} sequences[] = {
    {"[A", KEY_UP},       {"[B", KEY_DOWN},    {"[C", KEY_RIGHT},    {"[D", KEY_LEFT},      {"[H", KEY_HOME},
    {"[F", KEY_END},      {"OA", KEY_UP},      {"OB", KEY_DOWN},     {"OC", KEY_RIGHT},     {"OD", KEY_LEFT},
    {"OH", KEY_HOME},     {"OF", KEY_END},     {"[1~", KEY_HOME},    {"[7~", KEY_HOME},     {"[4~", KEY_END},
    {"[8~", KEY_END},     {"[3~", KEY_DELETE}, {"[200~", KEY_PASTE}, {"[201~", KEY_PASTED}, {"\r", KEY_NEW_LINE},
    {"\n", KEY_NEW_LINE},
};

/* The key that the bytes behind ESC are; *is_open is true while more bytes may follow. Unknown keys are KEY_NONE. */
static key find_key(const char *bytes, size_t n, bool *is_open)
{
    for (size_t i = 0; i < MX_COUNTOF(sequences); i++) {
        if (mx_str_eq_cstr((mx_str){bytes, n}, sequences[i].sequence)) {
            *is_open = false;
            return sequences[i].key;
        }
    }
    const char last = n > 0 ? bytes[n - 1] : '\0';
    const bool is_long = n > 0 && (bytes[0] == '[' || bytes[0] == 'O');
    *is_open = n == 0 || (is_long && (n == 1 || !(last >= '@' && last <= '~')));
    return KEY_NONE;
}

static mx_status press_key(mx_line_editor *e, key k, mx_error *err)
{
    switch (k) {
    case KEY_NONE: break;
    case KEY_UP: return e->i_history > 0 ? show_history(e, e->i_history - 1, err) : MX_OK;
    case KEY_DOWN: return show_history(e, e->i_history + 1, err);
    case KEY_RIGHT: e->cursor = next_char(e, e->cursor); break;
    case KEY_LEFT: e->cursor = previous_char(e, e->cursor); break;
    case KEY_HOME: e->cursor = 0; break;
    case KEY_END: e->cursor = e->text.len; break;
    case KEY_DELETE: erase(e, e->cursor, next_char(e, e->cursor)); break;
    case KEY_PASTE: e->is_pasting = true; break;
    case KEY_PASTED: e->is_pasting = false; break;
    case KEY_NEW_LINE: return insert(e, MX_STR("\n"), err);
    }
    return MX_OK;
}

static mx_status press_control(mx_line_editor *e, int c, mx_line_event *event, mx_error *err)
{
    switch (c) {
    case ENTER:
    case CTRL_J: /* Enter that was typed before the terminal was told to send it as it is */
        if (e->is_pasting) {
            return insert(e, MX_STR("\n"), err);
        }
        *event = MX_LINE_IS_DONE;
        break;
    case CTRL_C: *event = MX_LINE_IS_GIVEN_UP; break;
    case CTRL_D:
        if (e->text.len == 0) {
            *event = MX_LINE_INPUT_ENDS;
        } else {
            return press_key(e, KEY_DELETE, err);
        }
        break;
    case CTRL_A: return press_key(e, KEY_HOME, err);
    case CTRL_E: return press_key(e, KEY_END, err);
    case CTRL_B: return press_key(e, KEY_LEFT, err);
    case CTRL_F: return press_key(e, KEY_RIGHT, err);
    case CTRL_P: return press_key(e, KEY_UP, err);
    case CTRL_N: return press_key(e, KEY_DOWN, err);
    case CTRL_H:
    case BACKSPACE: erase(e, previous_char(e, e->cursor), e->cursor); break;
    case CTRL_K: e->text.len = e->cursor; break;
    case CTRL_U: erase(e, 0, e->cursor); break;
    case CTRL_W: erase(e, word_start(e), e->cursor); break;
    case CTRL_L: e->wants_clear = true; break;
    case '\t': return insert(e, MX_STR("    "), err);
    default: break;
    }
    return MX_OK;
}

/* Takes one byte; bytes of characters and sequences that are not whole wait in e->keys. */
static mx_status take_byte(mx_line_editor *e, char byte, mx_line_event *event, mx_error *err)
{
    if (e->n_keys == 0 && ((unsigned char)byte < 0x20 || byte == BACKSPACE) && byte != ESCAPE) {
        return press_control(e, (unsigned char)byte, event, err);
    }
    if (e->n_keys == sizeof e->keys) {
        e->n_keys = 0; /* no sequence is that long */
    }
    e->keys[e->n_keys++] = byte;
    if (e->keys[0] == ESCAPE) {
        bool is_open;
        const key k = find_key(e->keys + 1, e->n_keys - 1, &is_open);
        if (is_open) {
            return MX_OK;
        }
        e->n_keys = 0;
        return press_key(e, k, err);
    }
    const mx_str held = {e->keys, e->n_keys};
    if (mx_utf8_incomplete_tail(held) == held.len) {
        return MX_OK;
    }
    e->n_keys = 0;
    return mx_utf8_is_valid(held) ? insert(e, held, err) : insert(e, MX_STR("\xef\xbf\xbd"), err);
}

mx_status mx_line_editor_feed(mx_line_editor *e, const char *bytes, size_t n, size_t *n_used, mx_line_event *event,
                              mx_error *err)
{
    *event = MX_LINE_GOES_ON;
    for (*n_used = 0; *n_used < n && *event == MX_LINE_GOES_ON; ++*n_used) {
        MX_TRY(take_byte(e, bytes[*n_used], event, err));
    }
    return MX_OK;
}

/* ---- picture ---- */

/* Columns of the character at s, whose bytes go to *n. */
static int32_t char_width(const char *s, size_t len, size_t *n)
{
    int32_t code;
    *n = mx_utf8_decode(s, len, &code);
    return code == '\n' || code < 0 ? 1 : (int32_t)utf8proc_charwidth(code);
}

static int32_t text_width(mx_str s)
{
    int32_t width = 0;
    for (size_t at = 0, n; at < s.len; at += n) {
        width += char_width(s.ptr + at, s.len - at, &n);
    }
    return width;
}

mx_status mx_line_editor_draw(const mx_line_editor *e, const char *prompt, int32_t width, mx_buf *out, mx_error *err)
{
    const mx_str text = mx_buf_view(&e->text);
    const int32_t n_prompt = text_width(mx_str_from(prompt));
    const int32_t room = MX_MAX((width > 0 ? width : 80) - n_prompt - 1, 8);
    size_t start = 0;
    size_t n;
    int32_t n_before = text_width(mx_str_slice(text, 0, e->cursor));
    while (n_before > room - 1) { /* what is left of the picture */
        n_before -= char_width(text.ptr + start, text.len - start, &n);
        start += n;
    }
    MX_TRY(mx_buf_printf(out, err, "\r%s", prompt));
    int32_t n_drawn = 0;
    for (size_t at = start; at < text.len; at += n) {
        const int32_t n_columns = char_width(text.ptr + at, text.len - at, &n);
        n_drawn += n_columns;
        if (n_drawn > room) {
            break;
        }
        MX_TRY(mx_buf_append(out, text.ptr[at] == '\n' ? MX_STR(LINE_END_MARK) : mx_str_slice(text, at, at + n), err));
    }
    MX_TRY(mx_buf_append(out, MX_STR("\x1b[K\r"), err));
    return n_prompt + n_before > 0 ? mx_buf_printf(out, err, "\x1b[%dC", (int)(n_prompt + n_before)) : MX_OK;
}

/* ---- files and the terminal ---- */

mx_status mx_line_editor_load(mx_line_editor *e, const char *path, mx_error *err)
{
    mx_buf text = {0};
    mx_buf line = {.max = MAX_LINE_BYTES};
    mx_status st = MX_OK;
    if (mx_file_kind_at(path) != MX_FILE_REGULAR) {
        return MX_OK;
    }
    MX_TRY_OR(done, st, mx_file_read(path, MAX_HISTORY_BYTES, &text, err));
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\n') {
            MX_TRY_OR(done, st, mx_line_editor_remember(e, mx_buf_view(&line), err));
            line.len = 0;
        } else if (text.data[i] == '\\' && i + 1 < text.len) {
            i++;
            MX_TRY_OR(done, st, mx_buf_append_char(&line, text.data[i] == 'n' ? '\n' : text.data[i], err));
        } else {
            MX_TRY_OR(done, st, mx_buf_append_char(&line, text.data[i], err));
        }
    }
done:
    mx_buf_deinit(&line);
    mx_buf_deinit(&text);
    return st;
}

mx_status mx_line_editor_save(const mx_line_editor *e, const char *path, mx_error *err)
{
    mx_buf text = {.max = MAX_HISTORY_BYTES};
    mx_status st = MX_OK;
    for (size_t i = 0; st == MX_OK && i < e->n_history; i++) {
        for (const char *c = e->history[i]; st == MX_OK && *c; c++) {
            st = *c == '\n'   ? mx_buf_append(&text, MX_STR("\\n"), err)
                 : *c == '\\' ? mx_buf_append(&text, MX_STR("\\\\"), err)
                              : mx_buf_append_char(&text, *c, err);
        }
        st = st == MX_OK ? mx_buf_append_char(&text, '\n', err) : st;
    }
    st = st == MX_OK ? mx_file_write_private(path, mx_buf_view(&text), err) : st;
    mx_buf_deinit(&text);
    return st;
}

static mx_status read_plainly(mx_line_editor *e, mx_line_event *event, mx_error *err)
{
    bool is_end;
    mx_buf_deinit(&e->text);
    MX_TRY(mx_console_read_line(MAX_LINE_BYTES, &e->text, &is_end, err));
    *event = is_end ? MX_LINE_INPUT_ENDS : MX_LINE_IS_DONE;
    return MX_OK;
}

static mx_status draw_now(mx_line_editor *e, const char *prompt, mx_error *err)
{
    mx_buf out = {.max = 1 << 20};
    mx_status st = e->wants_clear ? mx_buf_append(&out, MX_STR("\x1b[H\x1b[2J"), err) : MX_OK;
    e->wants_clear = false;
    st = st == MX_OK ? mx_line_editor_draw(e, prompt, mx_console_width(MX_STDOUT), &out, err) : st;
    st = st == MX_OK ? mx_console_write(MX_STDOUT, mx_buf_view(&out), err) : st;
    mx_buf_deinit(&out);
    return st;
}

mx_status mx_line_editor_read(mx_line_editor *e, const char *prompt, mx_line_event *event, mx_error *err)
{
    mx_status st = MX_OK;
    mx_line_editor_begin(e);
    if (!mx_console_is_terminal(MX_STDIN) || !mx_console_raw_begin()) {
        return read_plainly(e, event, err);
    }
    *event = MX_LINE_GOES_ON;
    MX_TRY_OR(done, st, mx_console_write(MX_STDOUT, MX_STR("\x1b[?2004h"), err)); /* pasted text comes with marks */
    while (*event == MX_LINE_GOES_ON) {
        char bytes[256];
        size_t n = 0;
        size_t n_used;
        MX_TRY_OR(done, st, draw_now(e, prompt, err));
        MX_TRY_OR(done, st, mx_console_read_keys(bytes, sizeof bytes, &n, err));
        if (n == 0) {
            *event = MX_LINE_INPUT_ENDS;
        }
        MX_TRY_OR(done, st, n > 0 ? mx_line_editor_feed(e, bytes, n, &n_used, event, err) : MX_OK);
    }
    e->cursor = e->text.len;
    MX_TRY_OR(done, st, draw_now(e, prompt, err));
    st = mx_console_write(MX_STDOUT, MX_STR("\x1b[?2004l\r\n"), err);
done:
    mx_console_raw_end();
    return st;
}
