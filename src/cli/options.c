/* options.c - the parser and the help text that read commands.def and options.def. */
#include "cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "platform/env.h"

/* Places in the next table. */
enum {
#define MX_COMMAND(NAME, name, operands, summary, details) NAME,
#include "cli/commands.def"
#undef MX_COMMAND
};

static const mx_cli_command commands[] = {
#define MX_COMMAND(NAME, name, operands, summary, details) [NAME] = {#name, operands, summary, details, mx_cmd_##name},
#include "cli/commands.def"
#undef MX_COMMAND
};

enum {
#define MX_COMMAND(NAME, name, operands, summary, details) ON_##NAME = 1 << (NAME),
#include "cli/commands.def"
#undef MX_COMMAND
    ON_WRITING = ON_RUN | ON_GENERATE,
    ON_RUNNING = ON_WRITING | ON_BENCH | ON_PERPLEXITY,
    ON_TEXT = ON_WRITING | ON_TOKENIZE,
    ON_MODEL = ON_RUN | ON_BENCH | ON_PERPLEXITY | ON_GENERATE | ON_TOKENIZE | ON_DETOKENIZE | ON_INSPECT | ON_FUSE,
    ON_ALL = -1,
};

typedef enum option_type { TYPE_FLAG, TYPE_TEXT, TYPE_LIST, TYPE_INT, TYPE_FLOAT } option_type;

typedef struct option {
    const char *names[3]; /* without dashes; the first is the one that help and errors use */
    char letter;          /* 0: none */
    option_type type;
    size_t offset; /* of the field in mx_cli_options */
    int commands;
    double min, max;
    const char *arg; /* what help calls the value */
    const char *env; /* variable that gives the value where the option does not; NULL: none */
    const char *help;
} option;

#define MAX_SEED 9007199254740991.0 /* 2^53 - 1: whole numbers that any program can pass on */

static const option options[] = {
#define MX_OPTION(field, letter, kind, commands, min, max, arg, env, help, ...) \
    {{__VA_ARGS__}, letter, TYPE_##kind, offsetof(mx_cli_options, field), commands, min, max, arg, env, help},
#include "cli/options.def"
#undef MX_OPTION
};

static int command_bit(const mx_cli_command *command)
{
    return 1 << (int)(command - commands);
}

const mx_cli_command *mx_cli_find_command(const char *name)
{
    for (size_t i = 0; i < MX_COUNTOF(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

bool mx_cli_takes_model(const mx_cli_command *command)
{
    return (command_bit(command) & ON_MODEL) != 0;
}

mx_status mx_cli_unknown_command(const char *name, mx_error *err)
{
    const char *nearest = NULL;
    size_t least = 4; /* more edits than this are another word */
    for (size_t i = 0; i < MX_COUNTOF(commands); i++) {
        const size_t distance = mx_str_distance(mx_str_from(name), mx_str_from(commands[i].name));
        if (distance < least) {
            least = distance;
            nearest = commands[i].name;
        }
    }
    if (nearest) {
        return mx_fail(err, MX_INVALID, "there is no command \"%s\"; did you mean \"%s\"?", name, nearest);
    }
    return mx_fail(err, MX_INVALID, "there is no command \"%s\"; `mlxcel --help` lists them", name);
}

/* ---- parsing ---- */

/* The option that `name` (of len bytes) spells for this command; NULL for none. */
static const option *find_option(const mx_cli_command *command, const char *name, size_t len)
{
    for (size_t i = 0; i < MX_COUNTOF(options); i++) {
        if (!(options[i].commands & command_bit(command))) {
            continue;
        }
        for (size_t j = 0; j < MX_COUNTOF(options[i].names) && options[i].names[j]; j++) {
            if (mx_str_eq_cstr((mx_str){name, len}, options[i].names[j])) {
                return &options[i];
            }
        }
    }
    return NULL;
}

static const option *find_letter(const mx_cli_command *command, char letter)
{
    for (size_t i = 0; i < MX_COUNTOF(options); i++) {
        if (options[i].letter == letter && options[i].commands & command_bit(command)) {
            return &options[i];
        }
    }
    return NULL;
}

static mx_status unknown_option(const mx_cli_command *command, const char *arg, size_t len, mx_error *err)
{
    const mx_str name = {arg + strspn(arg, "-"), len - strspn(arg, "-")};
    const char *nearest = NULL;
    size_t least = name.len < 4 ? 2 : 4;
    for (size_t i = 0; i < MX_COUNTOF(options); i++) {
        for (size_t j = 0; j < MX_COUNTOF(options[i].names) && options[i].names[j]; j++) {
            const size_t distance = mx_str_distance(name, mx_str_from(options[i].names[j]));
            if (distance < least && options[i].commands & command_bit(command)) {
                least = distance;
                nearest = options[i].names[j];
            }
        }
    }
    if (nearest) {
        return mx_fail(err, MX_INVALID, "%s has no option %.*s; did you mean --%s?", command->name, (int)len, arg,
                       nearest);
    }
    return mx_fail(err, MX_INVALID, "%s has no option %.*s; `mlxcel %s --help` lists what it has", command->name,
                   (int)len, arg, command->name);
}

static mx_status set_int(mx_cli_int *field, const option *o, const char *from, const char *text, mx_error *err)
{
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end || strspn(text, " \t\n\v\f\r") > 0) {
        return mx_fail(err, MX_INVALID, "%s: \"%s\" is not a whole number", from, text);
    }
    if (errno == ERANGE || (double)value < o->min || (double)value > o->max) {
        return mx_fail(err, MX_INVALID, "%s: %s is out of range, %.0f to %.0f", from, text, o->min, o->max);
    }
    *field = (mx_cli_int){.value = value, .is_set = true};
    return MX_OK;
}

static mx_status set_float(mx_cli_float *field, const option *o, const char *from, const char *text, mx_error *err)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end || isnan(value) || strspn(text, " \t\n\v\f\r") > 0) {
        return mx_fail(err, MX_INVALID, "%s: \"%s\" is not a number", from, text);
    }
    if (value < o->min || value > o->max) {
        return mx_fail(err, MX_INVALID, "%s: %s is out of range, %g to %g", from, text, o->min, o->max);
    }
    *field = (mx_cli_float){.value = value, .is_set = true};
    return MX_OK;
}

/* Stores a value in the option's field. `from` is what the user wrote: "--temp", "-n", "MLXCEL_THREADS". */
static mx_status set_value(mx_cli_options *out, const option *o, const char *from, const char *text, mx_error *err)
{
    void *field = (char *)out + o->offset;
    switch (o->type) {
    case TYPE_FLAG: *(bool *)field = true; return MX_OK;
    case TYPE_TEXT:
        if (o->min > 0 && !*text) {
            return mx_fail(err, MX_INVALID, "%s: the text is empty", from);
        }
        *(const char **)field = text;
        return MX_OK;
    case TYPE_INT: return set_int((mx_cli_int *)field, o, from, text, err);
    case TYPE_FLOAT: return set_float((mx_cli_float *)field, o, from, text, err);
    case TYPE_LIST: {
        mx_cli_list *list = (mx_cli_list *)field;
        if (list->n_items == MX_CLI_MAX_STOPS) {
            return mx_fail(err, MX_INVALID, "%s is given more than %d times", from, MX_CLI_MAX_STOPS);
        }
        if (!*text) {
            return mx_fail(err, MX_INVALID, "%s: the text is empty and would end every answer at once", from);
        }
        list->items[list->n_items++] = text;
        return MX_OK;
    }
    }
    return MX_OK;
}

static mx_status read_environment(const mx_cli_command *command, mx_arena *arena, mx_cli_options *out, mx_error *err)
{
    for (size_t i = 0; i < MX_COUNTOF(options); i++) {
        if (!options[i].env || !(options[i].commands & command_bit(command))) {
            continue;
        }
        const char *text = mx_env_get(arena, options[i].env);
        if (text && *text) {
            MX_TRY(set_value(out, &options[i], options[i].env, text, err));
        }
    }
    return MX_OK;
}

/* Reads the option at argv[*i], and its value from behind "=" or from the next argument, which *i then moves to. */
static mx_status parse_option(const mx_cli_command *command, int argc, char *const *argv, int *i, mx_cli_options *out,
                              mx_error *err)
{
    const char *arg = argv[*i];
    const bool is_long = arg[1] == '-';
    const char *equals = is_long ? strchr(arg, '=') : NULL;
    const size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
    const option *o =
        is_long ? find_option(command, arg + 2, len - 2) : (len == 2 ? find_letter(command, arg[1]) : NULL);
    if (!o) {
        return unknown_option(command, arg, len, err);
    }
    char from[40];
    (void)snprintf(from, sizeof from, "%.*s", (int)len, arg);
    if (o->type == TYPE_FLAG) {
        if (equals) {
            return mx_fail(err, MX_INVALID, "%s takes no value", from);
        }
        return set_value(out, o, from, NULL, err);
    }
    if (equals) {
        return set_value(out, o, from, equals + 1, err);
    }
    if (*i + 1 >= argc) {
        return mx_fail(err, MX_INVALID, "%s needs a value: %s %s", from, from, o->arg);
    }
    return set_value(out, o, from, argv[++*i], err);
}

/* Replaces *text, where it is not NULL, by a copy in which \\n and the like are the characters that they stand for;
 * other backslashes stay. */
static mx_status unescape(mx_arena *arena, const char **text, mx_error *err)
{
    static const char letters[] = "nrt\"\\";
    static const char meanings[] = "\n\r\t\"\\";
    if (!*text) {
        return MX_OK;
    }
    const char *from = *text;
    char *copy = (char *)mx_arena_alloc(arena, strlen(from) + 1);
    if (!copy) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a text of %zu bytes", strlen(from));
    }
    *text = copy;
    while (*from) {
        const char *letter = from[0] == '\\' && from[1] ? strchr(letters, from[1]) : NULL;
        *copy++ = letter ? meanings[letter - letters] : *from;
        from += letter ? 2 : 1;
    }
    return MX_OK; /* the arena's memory is zero behind the text */
}

static mx_status unescape_all(mx_arena *arena, mx_cli_options *out, mx_error *err)
{
    MX_TRY(unescape(arena, &out->prompt, err));
    MX_TRY(unescape(arena, &out->system, err));
    for (int32_t i = 0; i < out->stops.n_items; i++) {
        MX_TRY(unescape(arena, &out->stops.items[i], err));
    }
    return MX_OK;
}

mx_status mx_cli_parse(const mx_cli_command *command, int argc, char *const *argv, mx_arena *arena, mx_cli_options *out,
                       mx_error *err)
{
    *out = (mx_cli_options){0};
    MX_TRY(read_environment(command, arena, out, err));
    char **operands = mx_arena_array(arena, char *, argc + 1);
    if (!operands) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for %d arguments", argc);
    }
    out->operands = operands;
    bool options_ended = false;
    for (int i = 0; i < argc; i++) {
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else if (!options_ended && argv[i][0] == '-' && argv[i][1]) {
            MX_TRY(parse_option(command, argc, argv, &i, out, err));
        } else if (command->operands) {
            operands[out->n_operands++] = argv[i];
        } else {
            return mx_fail(err, MX_INVALID, "%s takes no argument \"%s\"; `mlxcel %s --help` lists its options",
                           command->name, argv[i], command->name);
        }
    }
    if (command->operands && strcmp(command->operands, "[MODEL]") == 0 && out->n_operands > 0) {
        if (out->n_operands > 1) {
            return mx_fail(err, MX_INVALID, "%s takes one model, and %d are given", command->name,
                           (int)out->n_operands);
        }
        out->model = out->operands[0];
    }
    return out->escape ? unescape_all(arena, out, err) : MX_OK;
}

/* ---- help ---- */

enum { HELP_COLUMN = 30, HELP_WIDTH = 100 };

/* The second spellings and the environment variable of an option, as help shows them behind its sentence. */
static mx_status print_extras(const option *o, mx_buf *out, mx_error *err)
{
    for (size_t i = 1; i < MX_COUNTOF(o->names) && o->names[i]; i++) {
        MX_TRY(mx_buf_printf(out, err, "%s--%s", i == 1 ? "; also " : ", ", o->names[i]));
    }
    return o->env ? mx_buf_printf(out, err, "; environment: %s", o->env) : MX_OK;
}

static mx_status print_option(const option *o, mx_buf *out, mx_error *err)
{
    const size_t from = out->len;
    if (o->letter) {
        MX_TRY(mx_buf_printf(out, err, "  -%c, --%s", o->letter, o->names[0]));
    } else {
        MX_TRY(mx_buf_printf(out, err, "      --%s", o->names[0]));
    }
    if (o->arg) {
        MX_TRY(mx_buf_printf(out, err, " %s", o->arg));
    }
    const int n_used = (int)(out->len - from);
    MX_TRY(mx_buf_printf(out, err, "%*s%s", n_used < HELP_COLUMN ? HELP_COLUMN - n_used : 1, "", o->help));
    mx_buf text = {.max = HELP_WIDTH};
    mx_status st = print_extras(o, &text, err);
    if (st == MX_OK && text.len > 0 &&
        out->len - from + text.len > HELP_WIDTH) { /* "; also" begins a line of its own */
        st = mx_buf_printf(out, err, "\n%*s%.*s", HELP_COLUMN, "", (int)text.len - 2, text.data + 2);
    } else if (st == MX_OK) {
        st = mx_buf_append(out, mx_buf_view(&text), err);
    }
    mx_buf_deinit(&text);
    MX_TRY(st);
    return mx_buf_append_char(out, '\n', err);
}

/* Appends text, with line breaks at spaces. */
static mx_status print_paragraph(const char *text, mx_buf *out, mx_error *err)
{
    while (strlen(text) > HELP_WIDTH) {
        int n = HELP_WIDTH;
        while (text[n] != ' ') {
            n--;
        }
        MX_TRY(mx_buf_printf(out, err, "%.*s\n", n, text));
        text += n + 1;
    }
    return mx_buf_printf(out, err, "%s\n", text);
}

static mx_status print_program_help(mx_buf *out, mx_error *err)
{
    MX_TRY(mx_buf_append(out,
                         MX_STR("mlxcel runs language models in MLX format on your own machine.\n\n"
                                "usage: mlxcel COMMAND [OPTIONS]\n\n"),
                         err));
    for (size_t i = 0; i < MX_COUNTOF(commands); i++) {
        MX_TRY(mx_buf_printf(out, err, "  %-12s %s\n", commands[i].name, commands[i].summary));
    }
    return mx_buf_append(out,
                         MX_STR("\n`mlxcel COMMAND --help` lists the options of a command.\n\n"
                                "  mlxcel run Qwen3-0.6B-4bit\n"
                                "  mlxcel generate -m Qwen3-0.6B-4bit -p \"Why is the sky blue?\" -n 100\n\n"
                                "exit code: 0 done; 1 failed, with a sentence on standard error; 2 the command line "
                                "is wrong;\n130 interrupted\n"),
                         err);
}

mx_status mx_cli_print_help(const mx_cli_command *command, mx_buf *out, mx_error *err)
{
    if (!command) {
        return print_program_help(out, err);
    }
    MX_TRY(mx_buf_printf(out, err, "mlxcel %s - %s\n\nusage: mlxcel %s [OPTIONS]%s%s\n\n", command->name,
                         command->summary, command->name, command->operands ? " " : "",
                         command->operands ? command->operands : ""));
    if (command->details) {
        MX_TRY(print_paragraph(command->details, out, err));
        MX_TRY(mx_buf_append_char(out, '\n', err));
    }
    for (size_t i = 0; i < MX_COUNTOF(options); i++) {
        if (options[i].commands & command_bit(command)) {
            MX_TRY(print_option(&options[i], out, err));
        }
    }
    return MX_OK;
}

/* ---- for the manual and the shells ---- */

int32_t mx_cli_n_commands(void)
{
    return (int32_t)MX_COUNTOF(commands);
}

const mx_cli_command *mx_cli_command_at(int32_t i)
{
    return &commands[i];
}

bool mx_cli_option_at(const mx_cli_command *command, int32_t i, mx_cli_option_info *out)
{
    for (size_t k = 0; k < MX_COUNTOF(options); k++) {
        if ((options[k].commands & command_bit(command)) && i-- == 0) {
            *out = (mx_cli_option_info){.name = options[k].names[0],
                                        .letter = options[k].letter,
                                        .arg = options[k].arg,
                                        .env = options[k].env,
                                        .help = options[k].help};
            return true;
        }
    }
    return false;
}
