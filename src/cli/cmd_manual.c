/* cmd_manual.c - mlxcel manual: the manual page, made of the tables of commands and options. */
#include "cli/text_io.h"
#include "mlxcel.h"

/* Appends text for roff: a backslash, and a dot or quote at the start of a line, would be commands. */
static mx_status append_text(mx_buf *out, const char *text, mx_error *err)
{
    MX_TRY(*text == '.' || *text == '\'' ? mx_buf_append(out, MX_STR("\\&"), err) : MX_OK);
    for (; *text; text++) {
        MX_TRY(*text == '\\'  ? mx_buf_append(out, MX_STR("\\e"), err)
               : *text == '-' ? mx_buf_append(out, MX_STR("\\-"), err)
                              : mx_buf_append_char(out, *text, err));
    }
    return MX_OK;
}

static mx_status append_option(mx_buf *out, const mx_cli_option_info *o, mx_error *err)
{
    MX_TRY(mx_buf_printf(out, err, ".TP\n.B "));
    MX_TRY(o->letter ? mx_buf_printf(out, err, "\\-%c, ", o->letter) : MX_OK);
    MX_TRY(mx_buf_printf(out, err, "\\-\\-"));
    MX_TRY(append_text(out, o->name, err));
    MX_TRY(o->arg ? mx_buf_printf(out, err, " %s", o->arg) : MX_OK);
    MX_TRY(mx_buf_append_char(out, '\n', err));
    MX_TRY(append_text(out, o->help, err));
    MX_TRY(o->env ? mx_buf_printf(out, err, " (environment: %s)", o->env) : MX_OK);
    return mx_buf_append_char(out, '\n', err);
}

static mx_status append_command(mx_buf *out, const mx_cli_command *c, mx_error *err)
{
    mx_cli_option_info option;
    MX_TRY(mx_buf_printf(out, err, ".SH mlxcel %s%s%s\n", c->name, c->operands ? " " : "",
                         c->operands ? c->operands : ""));
    MX_TRY(append_text(out, c->summary, err));
    MX_TRY(mx_buf_append(out, MX_STR(".\n"), err));
    if (c->details) {
        MX_TRY(mx_buf_append(out, MX_STR(".PP\n"), err));
        MX_TRY(append_text(out, c->details, err));
        MX_TRY(mx_buf_append_char(out, '\n', err));
    }
    for (int32_t i = 0; mx_cli_option_at(c, i, &option); i++) {
        MX_TRY(append_option(out, &option, err));
    }
    return MX_OK;
}

static mx_status append_page(mx_buf *out, mx_error *err)
{
    MX_TRY(mx_buf_printf(
        out, err,
        ".TH MLXCEL 1 \"\" \"mlxcel %s\" \"User Commands\"\n.SH NAME\nmlxcel \\- run language models in MLX "
        "format\n.SH SYNOPSIS\n.B mlxcel\nCOMMAND [OPTIONS]\n.SH COMMANDS\n",
        mlxcel_version()));
    for (int32_t i = 0; i < mx_cli_n_commands(); i++) {
        MX_TRY(mx_buf_printf(out, err, ".TP\n.B %s\n", mx_cli_command_at(i)->name));
        MX_TRY(append_text(out, mx_cli_command_at(i)->summary, err));
        MX_TRY(mx_buf_append_char(out, '\n', err));
    }
    for (int32_t i = 0; i < mx_cli_n_commands(); i++) {
        MX_TRY(append_command(out, mx_cli_command_at(i), err));
    }
    return mx_buf_append(
        out,
        MX_STR(".SH EXIT STATUS\n0 done; 1 failed, with a sentence on standard error; 2 the command line "
               "is wrong; 130 interrupted\n"),
        err);
}

int mx_cmd_manual(const mx_cli_options *options)
{
    mx_error err;
    mx_buf out = {.max = (size_t)1 << 24};
    (void)options;
    const int code = append_page(&out, &err) == MX_OK ? mx_cli_print(mx_buf_view(&out)) : mx_cli_fail(&err);
    mx_buf_deinit(&out);
    return code;
}
