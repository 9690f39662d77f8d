/* cmd_run.c - mlxcel run: chat in the terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/chat_session.h"
#include "cli/line_editor.h"
#include "cli/text_io.h"
#include "platform/console.h"
#include "platform/file.h"
#include "platform/path.h"
#include "platform/signal.h"

typedef struct repl {
    mx_chat_session session;
    mx_line_editor editor;
    mx_arena arena;
    const char *history; /* file; NULL where there is no place for one */
    bool is_over;
} repl;

static void report(const mx_error *err)
{
    const int unused = mx_cli_fail(err);
    (void)unused; /* the chat goes on */
}

/* Answers the last message; where that fails, the message is taken back. */
static void answer(repl *r)
{
    mx_error err;
    mlxcel_finish finish = MLXCEL_FINISH_NONE;
    mx_signal_reset();
    if (mx_chat_session_answer(&r->session, &finish, &err) != MX_OK) {
        report(&err);
        mx_conversation_pop(&r->session.chat);
    }
    mx_signal_reset();
}

/* ---- commands ---- */

static void do_clear(repl *r, const char *arg)
{
    (void)arg;
    mx_conversation *c = &r->session.chat;
    while (c->n > 0 && !(c->n == 1 && strcmp(c->messages[0].role, "system") == 0)) {
        mx_conversation_pop(c);
    }
    mx_cli_note("the conversation is empty\n");
}

static void do_system(repl *r, const char *arg)
{
    mx_error err;
    if (mx_conversation_set_system(&r->session.chat, mx_str_from(arg), &err) != MX_OK) {
        report(&err);
    }
}

static void do_save(repl *r, const char *arg)
{
    mx_error err;
    if (!*arg) {
        mx_cli_note("/save FILE: where to?\n");
    } else if (mx_conversation_save(&r->session.chat, arg, &err) != MX_OK) {
        report(&err);
    } else {
        mx_cli_note("saved %d messages\n", (int)r->session.chat.n);
    }
}

static void do_load(repl *r, const char *arg)
{
    mx_error err;
    if (!*arg) {
        mx_cli_note("/load FILE: from where?\n");
    } else if (mx_conversation_load(&r->session.chat, arg, &err) != MX_OK) {
        report(&err);
    } else {
        mx_cli_note("loaded %d messages\n", (int)r->session.chat.n);
    }
}

static void do_regenerate(repl *r, const char *arg)
{
    (void)arg;
    mx_conversation *c = &r->session.chat;
    if (c->n > 0 && strcmp(c->messages[c->n - 1].role, "assistant") == 0) {
        mx_conversation_pop(c);
    }
    if (c->n == 0 || strcmp(c->messages[c->n - 1].role, "user") != 0) {
        mx_cli_note("there is no answer to make again\n");
        return;
    }
    answer(r);
}

/* What /set changes: a number in the sampling settings. */
static const struct {
    const char *name;
    size_t offset;
    bool is_whole;
    double min, max;
} settings[] = {
    {"temp", offsetof(mlxcel_sampling, temperature), false, 0, 100},
    {"top-k", offsetof(mlxcel_sampling, top_k), true, 0, INT32_MAX},
    {"top-p", offsetof(mlxcel_sampling, top_p), false, 0, 1},
    {"min-p", offsetof(mlxcel_sampling, min_p), false, 0, 1},
    {"repeat-penalty", offsetof(mlxcel_sampling, repeat_penalty), false, 0.01, 100},
    {"repeat-last-n", offsetof(mlxcel_sampling, repeat_last_n), true, -1, INT32_MAX},
};

static bool set_number(mlxcel_sampling *sampling, const char *name, double value)
{
    for (size_t i = 0; i < MX_COUNTOF(settings); i++) {
        char *field = (char *)sampling + settings[i].offset;
        if (strcmp(name, settings[i].name) == 0 && value >= settings[i].min && value <= settings[i].max) {
            if (settings[i].is_whole) {
                *(int32_t *)(void *)field = (int32_t)value;
            } else {
                *(float *)(void *)field = (float)value;
            }
            return true;
        }
    }
    return false;
}

static void do_set(repl *r, const char *arg)
{
    char name[32];
    char text[64];
    mx_chat_session *s = &r->session;
    if (sscanf(arg, "%31s %63s", name, text) != 2) {
        mx_cli_note("/set NAME VALUE: temp, top-k, top-p, min-p, repeat-penalty, repeat-last-n, seed, predict, or "
                    "reasoning on|off\n");
        return;
    }
    char *end = NULL;
    const double value = strtod(text, &end);
    const bool is_number = *end == '\0' && value == value;
    if (strcmp(name, "reasoning") == 0) {
        s->show_reasoning = strcmp(text, "on") == 0;
    } else if (strcmp(name, "seed") == 0 && is_number && value >= -1 && value < 9e15) {
        s->has_seed = value >= 0;
        s->sampling.settings.seed = value >= 0 ? (uint64_t)value : 0;
    } else if (strcmp(name, "predict") == 0 && is_number && value >= -1 && value <= INT32_MAX) {
        s->n_predict = value > 0 ? (int32_t)value : 0;
    } else if (!is_number || !set_number(&s->sampling.settings, name, value)) {
        mx_cli_note("/set: there is no setting %s with the value %s\n", name, text);
    }
}

static void do_show(repl *r, const char *arg)
{
    (void)arg;
    const mx_chat_session *s = &r->session;
    mx_cli_note("model %s, family %s, %d messages, context at most %d tokens\n", s->options->model, s->info.family,
                (int)s->chat.n, (int)s->info.n_ctx);
    mx_cli_note("temp %g, top-k %d, top-p %g, min-p %g, repeat-penalty %g, repeat-last-n %d, ",
                (double)s->sampling.settings.temperature, (int)s->sampling.settings.top_k,
                (double)s->sampling.settings.top_p, (double)s->sampling.settings.min_p,
                (double)s->sampling.settings.repeat_penalty, (int)s->sampling.settings.repeat_last_n);
    if (s->has_seed) {
        mx_cli_note("seed %" PRIu64 ", ", s->sampling.settings.seed);
    }
    mx_cli_note("reasoning %s\n", s->show_reasoning ? "on" : "off");
    if (s->chat.n > 0 && strcmp(s->chat.messages[0].role, "system") == 0) {
        mx_cli_note("system: %s\n", s->chat.messages[0].content);
    }
}

static void do_bye(repl *r, const char *arg)
{
    (void)arg;
    r->is_over = true;
}

static void do_help(repl *r, const char *arg);

static const struct {
    const char *name;
    const char *arg;
    const char *help;
    void (*run)(repl *r, const char *arg);
} commands[] = {
    {"/help", "", "this text", do_help},
    {"/clear", "", "begin a new conversation", do_clear},
    {"/system", " TEXT", "set the system message; without a text, take it away", do_system},
    {"/save", " FILE", "write the conversation to a file", do_save},
    {"/load", " FILE", "go on with a saved conversation", do_load},
    {"/regenerate", "", "make the last answer again", do_regenerate},
    {"/set", " NAME VALUE", "change a setting, as /set temp 0.7", do_set},
    {"/show", "", "the model and the settings", do_show},
    {"/bye", "", "end; also Ctrl-D", do_bye},
};

static void do_help(repl *r, const char *arg)
{
    (void)r, (void)arg;
    for (size_t i = 0; i < MX_COUNTOF(commands); i++) {
        mx_cli_note("%s%-*s %s\n", commands[i].name, (int)(20 - strlen(commands[i].name)), commands[i].arg,
                    commands[i].help);
    }
    mx_cli_note("Alt-Enter, a \\ at the end of a line, or \"\"\" around them make a message of several lines.\n"
                "Ctrl-C stops an answer.\n");
}

static void run_command(repl *r, char *line)
{
    const size_t n = strcspn(line, " ");
    const char *arg = line + n + strspn(line + n, " ");
    for (size_t i = 0; i < MX_COUNTOF(commands); i++) {
        if (mx_str_eq_cstr((mx_str){line, n}, commands[i].name)) {
            commands[i].run(r, arg);
            return;
        }
    }
    mx_cli_note("there is no command %.*s; /help lists them\n", (int)n, line);
}

/* ---- messages ---- */

/* Reads a message, which goes on over lines that end in a backslash and within """. */
static mx_status read_message(repl *r, mx_buf *out, mx_line_event *event, mx_error *err)
{
    const mx_str fence = MX_STR("\"\"\"");
    bool is_fenced = false;
    out->len = 0;
    for (;;) {
        MX_TRY(mx_line_editor_read(&r->editor, out->len == 0 && !is_fenced ? ">>> " : "... ", event, err));
        mx_str line = mx_buf_view(&r->editor.text);
        if (*event == MX_LINE_IS_GIVEN_UP || (*event == MX_LINE_INPUT_ENDS && out->len == 0)) {
            return MX_OK;
        }
        if (!is_fenced && out->len == 0 && mx_str_starts_with(line, fence)) {
            is_fenced = true;
            line = mx_str_slice(line, fence.len, line.len);
        }
        const bool ends = is_fenced && mx_str_ends_with(line, fence);
        const bool goes_on = is_fenced ? !ends : mx_str_ends_with(line, MX_STR("\\"));
        line.len -= ends ? fence.len : !is_fenced && goes_on ? 1 : 0;
        MX_TRY(mx_buf_append(out, line, err));
        if (!goes_on || *event == MX_LINE_INPUT_ENDS) {
            return MX_OK;
        }
        MX_TRY(mx_buf_append_char(out, '\n', err));
    }
}

static void take_message(repl *r, mx_buf *text)
{
    mx_error err;
    const mx_str message = mx_buf_view(text);
    if (mx_line_editor_remember(&r->editor, message, &err) != MX_OK) {
        report(&err);
    }
    if (message.ptr[0] == '/') {
        char *line = (char *)mx_arena_copy_str(&r->arena, message).ptr;
        if (line) {
            run_command(r, line);
        }
        mx_arena_reset(&r->arena);
    } else if (mx_conversation_add(&r->session.chat, "user", message, &err) == MX_OK) {
        answer(r);
    } else {
        report(&err);
    }
}

/* Where the history is kept; NULL where there is no place. */
static const char *find_history(mx_arena *arena)
{
    const char *cache = mx_path_cache_dir(arena);
    return cache && mx_dir_create_all(cache, NULL) == MX_OK ? mx_path_join(arena, cache, MX_STR("history")) : NULL;
}

static mx_status chat(repl *r, mx_error *err)
{
    mx_buf text = {.max = (size_t)64 << 20};
    mx_status st = MX_OK;
    mx_arena names;
    mx_arena_init(&names, 1 << 16);
    r->history = find_history(&names);
    if (r->history && mx_line_editor_load(&r->editor, r->history, err) != MX_OK) {
        report(err);
    }
    mx_cli_note("%s; /help for help\n", r->session.options->model);
    while (st == MX_OK && !r->is_over) {
        mx_line_event event;
        st = read_message(r, &text, &event, err);
        r->is_over = event == MX_LINE_INPUT_ENDS && text.len == 0;
        if (st == MX_OK && event != MX_LINE_IS_GIVEN_UP && text.len > 0) {
            take_message(r, &text);
        } else if (st == MX_OK && event == MX_LINE_IS_GIVEN_UP) {
            mx_cli_note("(/bye or Ctrl-D ends)\n");
        }
    }
    if (r->history && mx_line_editor_save(&r->editor, r->history, NULL) != MX_OK) {
        mx_cli_note("mlxcel: the history could not be saved in %s\n", r->history);
    }
    mx_arena_deinit(&names);
    mx_buf_deinit(&text);
    return st;
}

/* -p, -f or piped text: one answer. */
static mx_status answer_once(repl *r, int *code, mx_error *err)
{
    mx_buf text = {0};
    mlxcel_finish finish = MLXCEL_FINISH_NONE;
    mx_status st;
    MX_TRY_OR(done, st, mx_cli_read_text(r->session.options, &text, err));
    MX_TRY_OR(done, st, mx_conversation_add(&r->session.chat, "user", mx_buf_view(&text), err));
    MX_TRY_OR(done, st, mx_chat_session_answer(&r->session, &finish, err));
    *code = finish == MLXCEL_FINISH_CANCELLED ? MX_EXIT_INTERRUPTED : MX_EXIT_OK;
done:
    mx_buf_deinit(&text);
    return st;
}

int mx_cmd_run(const mx_cli_options *options)
{
    mx_error err;
    repl r = {0};
    int code = MX_EXIT_OK;
    mx_status st;
    const bool is_chat = !options->prompt && !options->file && mx_console_is_terminal(MX_STDIN);
    mx_line_editor_init(&r.editor);
    mx_arena_init(&r.arena, (size_t)128 << 20);
    MX_TRY_OR(done, st, mx_cli_need_model(options, &err));
    MX_TRY_OR(done, st, mx_chat_session_open(options, &r.session, &err));
    mx_signal_install();
    st = is_chat ? chat(&r, &err) : answer_once(&r, &code, &err);
done:
    if (st != MX_OK) {
        code = mx_console_is_closed(&err) ? MX_EXIT_OK : mx_cli_fail(&err);
    }
    mx_chat_session_close(&r.session);
    mx_line_editor_deinit(&r.editor);
    mx_arena_deinit(&r.arena);
    return code;
}
