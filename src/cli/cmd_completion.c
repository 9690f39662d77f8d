/* cmd_completion.c - mlxcel completion: commands, options and model names for bash, zsh and fish, made of the tables.
 */
#include "cli/text_io.h"

/* "generate run ..." */
static mx_status append_commands(mx_buf *out, mx_error *err)
{
    for (int32_t i = 0; i < mx_cli_n_commands(); i++) {
        MX_TRY(mx_buf_printf(out, err, "%s%s", i ? " " : "", mx_cli_command_at(i)->name));
    }
    return MX_OK;
}

/* "    generate) echo --model -m ... ;;" for each command. */
static mx_status append_cases(mx_buf *out, mx_error *err)
{
    for (int32_t i = 0; i < mx_cli_n_commands(); i++) {
        const mx_cli_command *c = mx_cli_command_at(i);
        mx_cli_option_info o;
        MX_TRY(mx_buf_printf(out, err, "        %s) options='", c->name));
        for (int32_t k = 0; mx_cli_option_at(c, k, &o); k++) {
            MX_TRY(mx_buf_printf(out, err, "%s--%s", k ? " " : "", o.name));
        }
        MX_TRY(mx_buf_append(out, MX_STR("' ;;\n"), err));
    }
    return MX_OK;
}

static mx_status append_bash(mx_buf *out, mx_error *err)
{
    MX_TRY(
        mx_buf_append(out,
                      MX_STR("_mlxcel() {\n    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}"
                             " options=\n    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W '"),
                      err));
    MX_TRY(append_commands(out, err));
    MX_TRY(mx_buf_append(out, MX_STR("' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n"), err));
    MX_TRY(append_cases(out, err));
    return mx_buf_append(
        out,
        MX_STR(
            "    esac\n    case $before:${COMP_WORDS[1]} in\n        -m:*|--model:*|run:*|bench:*|inspect:*|rm:*)\n"
            "            case $word in -*) ;; *)\n                COMPREPLY=($(compgen -d -W \"$(mlxcel list -q "
            "2>/dev/null)\" -- \"$word\"))\n                return ;;\n            esac ;;\n    esac\n    case $word "
            "in\n"
            "        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n        *) COMPREPLY=($(compgen -f -- "
            "\"$word\")) ;;\n    esac\n}\ncomplete -F _mlxcel mlxcel\n"),
        err);
}

/* Text within single quotes, without those of the description syntax of zsh. */
static mx_status append_plain(mx_buf *out, const char *text, mx_error *err)
{
    for (; *text; text++) {
        MX_TRY(mx_buf_append_char(out, strchr("'[]:\\\"`$", *text) ? ' ' : *text, err));
    }
    return MX_OK;
}

static mx_status append_zsh(mx_buf *out, mx_error *err)
{
    MX_TRY(mx_buf_append(out, MX_STR("#compdef mlxcel\n_mlxcel() {\n    local -a commands=(\n"), err));
    for (int32_t i = 0; i < mx_cli_n_commands(); i++) {
        MX_TRY(mx_buf_printf(out, err, "        '%s:", mx_cli_command_at(i)->name));
        MX_TRY(append_plain(out, mx_cli_command_at(i)->summary, err));
        MX_TRY(mx_buf_append(out, MX_STR("'\n"), err));
    }
    MX_TRY(mx_buf_append(out,
                         MX_STR("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        "
                                "return\n    fi\n    case $words[2] in\n"),
                         err));
    for (int32_t i = 0; i < mx_cli_n_commands(); i++) {
        const mx_cli_command *c = mx_cli_command_at(i);
        mx_cli_option_info o;
        MX_TRY(mx_buf_printf(out, err, "        %s) _arguments", c->name));
        for (int32_t k = 0; mx_cli_option_at(c, k, &o); k++) {
            const bool is_model = strcmp(o.name, "model") == 0;
            MX_TRY(mx_buf_printf(out, err, " '--%s%s[", o.name, o.arg ? "=" : ""));
            MX_TRY(append_plain(out, o.help, err));
            MX_TRY(mx_buf_printf(out, err, "]%s%s'", o.arg ? ":value:" : "",
                                 is_model ? "($(mlxcel list -q 2>/dev/null))"
                                 : o.arg  ? "_files"
                                          : ""));
        }
        MX_TRY(mx_buf_append(out, MX_STR(" '*:file:_files' ;;\n"), err));
    }
    return mx_buf_append(out, MX_STR("    esac\n}\n_mlxcel \"$@\"\n"), err);
}

static mx_status append_fish(mx_buf *out, mx_error *err)
{
    for (int32_t i = 0; i < mx_cli_n_commands(); i++) {
        const mx_cli_command *c = mx_cli_command_at(i);
        mx_cli_option_info o;
        MX_TRY(mx_buf_printf(out, err, "complete -c mlxcel -n __fish_use_subcommand -f -a %s -d '", c->name));
        MX_TRY(append_plain(out, c->summary, err));
        MX_TRY(mx_buf_append(out, MX_STR("'\n"), err));
        for (int32_t k = 0; mx_cli_option_at(c, k, &o); k++) {
            MX_TRY(mx_buf_printf(out, err, "complete -c mlxcel -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                                 o.name));
            MX_TRY(o.letter ? mx_buf_printf(out, err, " -s %c", o.letter) : MX_OK);
            MX_TRY(o.arg ? mx_buf_append(out, MX_STR(" -r"), err) : MX_OK);
            MX_TRY(strcmp(o.name, "model") == 0 ? mx_buf_append(out, MX_STR(" -a '(mlxcel list -q)'"), err) : MX_OK);
            MX_TRY(mx_buf_append(out, MX_STR(" -d '"), err));
            MX_TRY(append_plain(out, o.help, err));
            MX_TRY(mx_buf_append(out, MX_STR("'\n"), err));
        }
    }
    return MX_OK;
}

static const struct {
    const char *name;
    mx_status (*append)(mx_buf *out, mx_error *err);
} shells[] = {{"bash", append_bash}, {"zsh", append_zsh}, {"fish", append_fish}};

int mx_cmd_completion(const mx_cli_options *options)
{
    mx_error err;
    mx_buf out = {.max = (size_t)1 << 24};
    const char *wanted = options->n_operands == 1 ? options->operands[0] : "";
    mx_status st = mx_fail(&err, MX_INVALID, "completion takes one of bash, zsh and fish");
    for (size_t i = 0; i < MX_COUNTOF(shells); i++) {
        st = strcmp(shells[i].name, wanted) == 0 ? shells[i].append(&out, &err) : st;
    }
    const int code = st == MX_OK ? mx_cli_print(mx_buf_view(&out)) : mx_cli_fail(&err);
    mx_buf_deinit(&out);
    return code;
}
