/* main.c - finds the command and runs it. */
#include <string.h>

#include "backend/executor.h"
#include "cli/model_arg.h"
#include "cli/options.h"
#include "cli/text_io.h"
#include "platform/args.h"
#include "platform/map.h"

#define MAX_ARGUMENT_BYTES ((size_t)64 << 20)

static int print_help(const mx_cli_command *command)
{
    mx_error err;
    mx_buf text = {.max = (size_t)1 << 20};
    const int code =
        mx_cli_print_help(command, &text, &err) == MX_OK ? mx_cli_print(mx_buf_view(&text)) : mx_cli_fail(&err);
    mx_buf_deinit(&text);
    return code;
}

/* `mlxcel help [COMMAND]`, --help and --version, which stand where a command would. -1: none of these. */
static int run_word(int argc, char *const *argv)
{
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        return mx_cmd_version(NULL);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        const mx_cli_command *command = argc > 2 ? mx_cli_find_command(argv[2]) : NULL;
        if (argc > 2 && !command) {
            mx_error err;
            return mx_cli_unknown_command(argv[2], &err) == MX_OK ? MX_EXIT_OK : mx_cli_fail(&err);
        }
        return print_help(command);
    }
    return -1;
}

static int run_command(int argc, char *const *argv, mx_arena *arena)
{
    mx_error err;
    if (argc < 2) {
        mx_cli_note("mlxcel: no command is given; `mlxcel --help` lists them\n");
        return MX_EXIT_USAGE;
    }
    const int code = run_word(argc, argv);
    if (code >= 0) {
        return code;
    }
    const mx_cli_command *command = mx_cli_find_command(argv[1]);
    if (!command) {
        return mx_cli_unknown_command(argv[1], &err) == MX_OK ? MX_EXIT_OK : mx_cli_fail(&err);
    }
    mx_cli_options options;
    if (mx_cli_parse(command, argc - 2, argv + 2, arena, &options, &err) != MX_OK) {
        return mx_cli_fail(&err);
    }
    if (options.help) {
        return print_help(command);
    }
    if (options.device && strcmp(options.device, "auto") != 0 &&
        mx_executor_check_device(options.device, &err) != MX_OK) {
        return mx_cli_fail(&err);
    }
    if (mx_cli_takes_model(command) && mx_cli_find_model(arena, &options, &err) != MX_OK) {
        return mx_cli_fail(&err);
    }
    return command->run(&options);
}

int main(int argc, char **argv)
{
    mx_error err;
    mx_arena arena;
    mx_arena_init(&arena, MAX_ARGUMENT_BYTES);
    mx_map_report_faults("mlxcel: ", MX_EXIT_FAILED);
    const int code =
        mx_args_get(&arena, &argc, &argv, &err) == MX_OK ? run_command(argc, argv, &arena) : mx_cli_fail(&err);
    mx_arena_deinit(&arena);
    return code;
}
