/* cmd_tokenize.c - mlxcel tokenize: the ids of a text, or of the prompt that generate would make of it. */
#include "base/json.h"
#include "cli/prompt.h"
#include "cli/text_io.h"

/* "<id> <text of the token alone, as a JSON string>" for each token. */
static mx_status print_pieces(const mlxcel_model *model, const mlxcel_tokens *tokens, mx_buf *out, mx_error *err)
{
    for (int32_t i = 0; i < tokens->n_ids; i++) {
        mlxcel_error api;
        mlxcel_text piece;
        if (mlxcel_detokenize(model, &tokens->ids[i], 1, 0, &piece, &api) != MLXCEL_OK) {
            return mx_fail(err, (mx_status)api.status, "%s", api.message);
        }
        mx_status st = mx_buf_printf(out, err, "%d\t", (int)tokens->ids[i]);
        if (st == MX_OK) {
            st = mx_json_append_str(out, (mx_str){piece.bytes, piece.n_bytes}, err);
        }
        mlxcel_text_free(&piece);
        MX_TRY(st);
        MX_TRY(mx_buf_append_char(out, '\n', err));
    }
    return MX_OK;
}

static mx_status print_ids(const mlxcel_tokens *tokens, mx_buf *out, mx_error *err)
{
    for (int32_t i = 0; i < tokens->n_ids; i++) {
        MX_TRY(mx_buf_printf(out, err, "%s%d", i ? " " : "", (int)tokens->ids[i]));
    }
    return mx_buf_append_char(out, '\n', err);
}

static mlxcel_status tokenize(const mlxcel_model *model, const mx_cli_options *options, mx_str text,
                              mlxcel_tokens *tokens, mlxcel_error *api)
{
    if (options->use_chat) {
        return mx_cli_tokenize_chat(model, options, text, tokens, api);
    }
    const uint32_t flags = (options->no_special ? 0u : MLXCEL_TEXT_ADD_SPECIAL) |
                           (options->parse_special ? MLXCEL_TEXT_PARSE_SPECIAL : 0u);
    return mlxcel_tokenize(model, text.ptr, text.len, flags, tokens, api);
}

int mx_cmd_tokenize(const mx_cli_options *options)
{
    mx_error err;
    mlxcel_error api;
    mx_buf text = {0};
    mx_buf out = {.max = (size_t)1 << 30};
    mlxcel_tokens tokens = {0};
    mlxcel_model *model = NULL;
    int code;

    if (mx_cli_need_model(options, &err) != MX_OK || mx_cli_read_text(options, &text, &err) != MX_OK) {
        code = mx_cli_fail(&err);
    } else if (mx_cli_open_text(options, &model, &api) != MLXCEL_OK ||
               tokenize(model, options, mx_buf_view(&text), &tokens, &api) != MLXCEL_OK) {
        code = mx_cli_fail_api(&api);
    } else {
        const mx_status st =
            options->show_pieces ? print_pieces(model, &tokens, &out, &err) : print_ids(&tokens, &out, &err);
        code = st == MX_OK ? mx_cli_print(mx_buf_view(&out)) : mx_cli_fail(&err);
    }
    mlxcel_tokens_free(&tokens);
    mlxcel_model_close(model);
    mx_buf_deinit(&out);
    mx_buf_deinit(&text);
    return code;
}
