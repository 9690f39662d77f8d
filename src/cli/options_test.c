#include "cli/options.h"

#include "tests/test.h"

/* Parses words for a command; the operands, and what is copied, live until the next call. */
static mx_status parse(const char *command, const char *const *words, mx_cli_options *out, mx_error *err)
{
    static mx_arena arena;
    char *argv[32];
    int argc = 0;
    for (; words[argc]; argc++) {
        argv[argc] = (char *)(uintptr_t)words[argc];
    }
    mx_arena_deinit(&arena);
    mx_arena_init(&arena, (size_t)1 << 20);
    return mx_cli_parse(mx_cli_find_command(command), argc, argv, &arena, out, err);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

MX_TEST(reads_values_behind_spaces_and_equals_signs)
{
    mx_error err;
    mx_cli_options o;
    MX_CHECK_OK(parse("generate",
                      WORDS("-m", "dir", "--prompt=a=b", "-n", "-1", "--temp", "0.25", "--top-k=7", "--stop", "x",
                            "--stop=y", "--seed", "9007199254740991", "--no-chat-template"),
                      &o, &err),
                &err);
    MX_CHECK_CSTR(o.model, "dir");
    MX_CHECK_CSTR(o.prompt, "a=b");
    MX_CHECK_I64(o.n_predict.value, -1);
    MX_CHECK_NEAR(o.temperature.value, 0.25, 0.0);
    MX_CHECK(o.temperature.is_set && !o.top_p.is_set);
    MX_CHECK_I64(o.top_k.value, 7);
    MX_CHECK_I64(o.stops.n_items, 2);
    MX_CHECK_CSTR(o.stops.items[1], "y");
    MX_CHECK_I64(o.seed.value, 9007199254740991);
    MX_CHECK(o.no_chat_template && !o.help);
}

MX_TEST(other_spellings_mean_the_same)
{
    mx_error err;
    mx_cli_options o;
    MX_CHECK_OK(parse("generate", WORDS("--max-tokens", "5", "--temperature", "1", "--system-prompt", "s", "-r", "t"),
                      &o, &err),
                &err);
    MX_CHECK_I64(o.n_predict.value, 5);
    MX_CHECK_NEAR(o.temperature.value, 1.0, 0.0);
    MX_CHECK_CSTR(o.system, "s");
    MX_CHECK_CSTR(o.stops.items[0], "t");
}

MX_TEST(a_value_may_look_like_an_option)
{
    mx_error err;
    mx_cli_options o;
    MX_CHECK_OK(parse("generate", WORDS("-p", "--help", "--stop", "-n"), &o, &err), &err);
    MX_CHECK_CSTR(o.prompt, "--help");
    MX_CHECK(!o.help);
}

MX_TEST(operands_are_taken_where_a_command_has_them)
{
    mx_error err;
    mx_cli_options o;
    MX_CHECK_OK(parse("detokenize", WORDS("1", "2", "--", "-3"), &o, &err), &err);
    MX_CHECK_I64(o.n_operands, 3);
    MX_CHECK_FAILS(parse("generate", WORDS("hello"), &o, &err), MX_INVALID, &err, "takes no argument \"hello\"");
}

MX_TEST(escapes_count_when_asked_for)
{
    mx_error err;
    mx_cli_options o;
    MX_CHECK_OK(parse("generate", WORDS("-e", "-p", "a\\nb\\\\n\\q\\", "--stop", "\\t\\\""), &o, &err), &err);
    MX_CHECK_CSTR(o.prompt, "a\nb\\n\\q\\");
    MX_CHECK_CSTR(o.stops.items[0], "\t\"");
    MX_CHECK(o.system == NULL);
    MX_CHECK_OK(parse("generate", WORDS("-p", "a\\nb"), &o, &err), &err);
    MX_CHECK_CSTR(o.prompt, "a\\nb");
}

MX_TEST(mistakes_are_told_with_the_way_out)
{
    static const struct {
        const char *words[4];
        const char *piece;
    } rows[] = {
        {{"--tmep", "1"}, "did you mean --temp?"},
        {{"--topk=1"}, "did you mean --top-k?"},
        {{"--frobnicate"}, "`mlxcel generate --help` lists what it has"},
        {{"-x"}, "generate has no option -x"},
        {{"-np"}, "generate has no option -np"},
        {{"--pieces"}, "generate has no option --pieces"},
        {{"-n"}, "-n needs a value: -n N"},
        {{"-n", "many"}, "-n: \"many\" is not a whole number"},
        {{"-n", ""}, "is not a whole number"},
        {{"-n", "1.5"}, "is not a whole number"},
        {{"-n", "-2"}, "-n: -2 is out of range, -1 to 2147483647"},
        {{"-n", "99999999999999999999"}, "is out of range"},
        {{"--temp", "hot"}, "--temp: \"hot\" is not a number"},
        {{"--temp", "nan"}, "is not a number"},
        {{"--temp", "-1"}, "is out of range, 0 to 100"},
        {{"--temp", "inf"}, "is out of range"},
        {{"--top-p", "1.01"}, "is out of range, 0 to 1"},
        {{"--stop", ""}, "--stop: the text is empty"},
        {{"--no-chat-template=1"}, "--no-chat-template takes no value"},
    };
    for (size_t i = 0; i < MX_COUNTOF(rows); i++) {
        mx_error err;
        mx_cli_options o;
        MX_CHECK_FAILS(parse("generate", rows[i].words, &o, &err), MX_INVALID, &err, rows[i].piece);
    }
}

MX_TEST(an_endless_name_is_an_ordinary_mistake)
{
    static char name[100000];
    memset(name, '-', sizeof name - 1);
    mx_error err;
    mx_cli_options o;
    MX_CHECK_FAILS(parse("generate", WORDS(name), &o, &err), MX_INVALID, &err, "generate has no option ---");
    memset(name + 2, 'a', sizeof name - 3);
    MX_CHECK_FAILS(parse("generate", WORDS(name), &o, &err), MX_INVALID, &err, "generate has no option --aaa");
}

MX_TEST(commands_are_found_or_guessed)
{
    mx_error err;
    MX_CHECK(mx_cli_find_command("generate") != NULL);
    MX_CHECK(mx_cli_find_command("Generate") == NULL);
    MX_CHECK_FAILS(mx_cli_unknown_command("tokenise", &err), MX_INVALID, &err, "did you mean \"tokenize\"?");
    MX_CHECK_FAILS(mx_cli_unknown_command("serve", &err), MX_INVALID, &err, "there is no command \"serve\"");
}

MX_TEST(help_names_every_option_once_and_keeps_to_the_width)
{
    static const char *const names[] = {"generate", "tokenize", "detokenize", "inspect",
                                        "version",  "download", "list",       "rm"};
    for (size_t i = 0; i < MX_COUNTOF(names); i++) {
        mx_error err;
        mx_buf text = {.max = 1 << 20};
        MX_CHECK_OK(mx_cli_print_help(mx_cli_find_command(names[i]), &text, &err), &err);
        const mx_str help = mx_buf_view(&text);
        MX_CHECK(mx_str_find(help, MX_STR("-h, --help"), 0) != MX_STR_NPOS);
        const size_t model = mx_str_find(help, MX_STR("--model MODEL"), 0);
        MX_CHECK((model != MX_STR_NPOS) == (i < 4));
        for (size_t at = 0; at < help.len;) {
            const size_t end = mx_str_find(help, MX_STR("\n"), at);
            MX_CHECK(end != MX_STR_NPOS && end - at <= 100);
            at = end == MX_STR_NPOS ? help.len : end + 1;
        }
        mx_buf_deinit(&text);
    }
}

MX_TEST_MAIN(MX_CASE(reads_values_behind_spaces_and_equals_signs), MX_CASE(other_spellings_mean_the_same),
             MX_CASE(a_value_may_look_like_an_option), MX_CASE(operands_are_taken_where_a_command_has_them),
             MX_CASE(escapes_count_when_asked_for), MX_CASE(mistakes_are_told_with_the_way_out),
             MX_CASE(an_endless_name_is_an_ordinary_mistake), MX_CASE(commands_are_found_or_guessed),
             MX_CASE(help_names_every_option_once_and_keeps_to_the_width))
