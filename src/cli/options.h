/* options.h - the command line: one table of options (options.def), one of commands (commands.def).
 *
 * cli/ holds main.c, which finds the command; one file cmd_<name>.c for each of them; options.c with the table that
 * feeds parsing, environment variables and --help; and text_io.c for prompts in and streams out. It meets the engine
 * through mlxcel.h and, for `inspect`, the model layer. One thread.
 */
#ifndef MX_CLI_OPTIONS_H
#define MX_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

/* Exit codes, also told by --help. */
enum {
    MX_EXIT_OK = 0,
    MX_EXIT_FAILED = 1,        /* the work failed; standard error says why */
    MX_EXIT_USAGE = 2,         /* the command line asks for something that cannot be */
    MX_EXIT_INTERRUPTED = 130, /* Ctrl-C, as shells count it: 128 + SIGINT */
};

#define MX_CLI_MAX_STOPS 64

/* A value that was given, or not. */
typedef struct mx_cli_int {
    int64_t value;
    bool is_set;
} mx_cli_int;

typedef struct mx_cli_float {
    double value;
    bool is_set;
} mx_cli_float;

typedef struct mx_cli_list {
    const char *items[MX_CLI_MAX_STOPS];
    int32_t n_items;
} mx_cli_list;

/* What the command line and the environment said. Strings are borrowed from them; NULL where nothing was given. */
typedef struct mx_cli_options {
    const char *model; /* once a command runs: the folder that the name stands for */
    const char *prompt;
    const char *file;
    const char *system;
    mx_cli_int n_predict;
    mx_cli_float temperature;
    mx_cli_int top_k;
    mx_cli_float top_p;
    mx_cli_float min_p;
    mx_cli_float repeat_penalty;
    mx_cli_int repeat_last_n;
    mx_cli_float presence_penalty;
    mx_cli_float frequency_penalty;
    mx_cli_float typical_p;
    mx_cli_float top_n_sigma;
    mx_cli_float xtc_probability;
    mx_cli_float xtc_threshold;
    mx_cli_float dynatemp_range;
    mx_cli_float dynatemp_exponent;
    mx_cli_float dry_multiplier;
    mx_cli_float dry_base;
    mx_cli_int dry_allowed_length;
    mx_cli_int dry_last_n;
    mx_cli_int mirostat;
    mx_cli_float mirostat_tau;
    mx_cli_float mirostat_eta;
    const char *samplers;
    const char *json_schema;
    const char *grammar;
    mx_cli_int n_draft;
    mx_cli_int n_logprobs;
    mx_cli_int seed;
    mx_cli_list stops;
    mx_cli_int n_threads;
    const char *device;
    const char *adapter;
    const char *output;
    mx_cli_int n_ctx;
    mx_cli_float bandwidth;
    mx_cli_float gflops;
    mx_cli_int n_parallel;
    mx_cli_int max_retries;
    const char *progress;
    mx_cli_int q_bits;
    mx_cli_int q_group_size;
    mx_cli_int n_texts;
    mx_cli_int n_rounds;
    mx_cli_int bench_prompt;
    mx_cli_int bench_answer;
    const char *q_mode;
    const char *q_recipe;
    bool offline;
    bool escape;
    bool no_chat_template;
    bool ignore_end;
    bool show_reasoning;
    bool use_chat;
    bool parse_special;
    bool no_special;
    bool show_pieces;
    bool show_program;
    bool must_verify;
    bool yes;
    bool quiet;
    bool as_json;
    bool help;
    char *const *operands; /* what is not an option: token ids of detokenize */
    int32_t n_operands;
} mx_cli_options;

typedef struct mx_cli_command {
    const char *name;
    const char *operands; /* for the usage line: "[ID ...]"; NULL where none are taken */
    const char *summary;
    const char *details; /* a paragraph for --help; NULL for none */
    int (*run)(const mx_cli_options *options);
} mx_cli_command;

/* mx_cmd_<name> of every command, in cmd_<name>.c. Each returns the exit code. */
#define MX_COMMAND(NAME, name, operands, summary, details) int mx_cmd_##name(const mx_cli_options *options);
#include "cli/commands.def"
#undef MX_COMMAND

/* The command called `name`, or NULL. */
const mx_cli_command *mx_cli_find_command(const char *name);

/* Whether the command has -m. */
bool mx_cli_takes_model(const mx_cli_command *command);

/* Reads the environment, then the arguments, for `command`.
 * arena holds values from the environment, and those that --escape changes. MX_INVALID with one sentence: an unknown
 * option (with the nearest one), a value that is missing, not a number or out of range, an operand that the command
 * does not take. */
mx_status mx_cli_parse(const mx_cli_command *command, int argc, char *const *argv, mx_arena *arena, mx_cli_options *out,
                       mx_error *err) MX_NODISCARD;

/* The sentence for a command that there is not, with the nearest one. Returns MX_INVALID. */
mx_status mx_cli_unknown_command(const char *name, mx_error *err);

/* The help text: of one command, or of the program where command is NULL. */
mx_status mx_cli_print_help(const mx_cli_command *command, mx_buf *out, mx_error *err) MX_NODISCARD;

/* What the tables hold, for the manual page and the completions of shells. */
typedef struct mx_cli_option_info {
    const char *name; /* without dashes */
    char letter;      /* 0: none */
    const char *arg;  /* NULL: a flag */
    const char *env;  /* NULL: none */
    const char *help;
} mx_cli_option_info;

int32_t mx_cli_n_commands(void);
const mx_cli_command *mx_cli_command_at(int32_t i);

/* The i-th option of a command; false past the last. */
bool mx_cli_option_at(const mx_cli_command *command, int32_t i, mx_cli_option_info *out);

#endif
