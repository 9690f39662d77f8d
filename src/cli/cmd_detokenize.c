/* cmd_detokenize.c - mlxcel detokenize: the text of token ids. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/prompt.h"
#include "cli/text_io.h"
#include "platform/console.h"

#define MAX_INPUT_BYTES ((size_t)64 << 20)
#define MAX_IDS         ((size_t)16 << 20)
#define SEPARATORS      " \t\r\n,;[]"

typedef struct id_list {
    int32_t *ids; /* owned */
    size_t n_ids;
    size_t cap;
} id_list;

/* Adds the numbers in text, which separators divide. */
static mx_status add_ids(id_list *list, const char *text, mx_error *err)
{
    for (text += strspn(text, SEPARATORS); *text; text += strspn(text, SEPARATORS)) {
        const size_t len = strcspn(text, SEPARATORS);
        char *end = NULL;
        const long long id = strtoll(text, &end, 10);
        if ((size_t)(end - text) != len || id < 0 || id > INT32_MAX) {
            return mx_fail(err, MX_INVALID, "\"%.*s\" is not a token id", (int)MX_MIN(len, 40), text);
        }
        int32_t *grown = (int32_t *)mx_array_grow(list->ids, &list->cap, list->n_ids + 1, sizeof(int32_t), MAX_IDS);
        if (!grown) {
            return mx_fail(err, MX_NO_MEMORY, "no memory for more than %zu token ids", list->n_ids);
        }
        list->ids = grown;
        list->ids[list->n_ids++] = (int32_t)id;
        text += len;
    }
    return MX_OK;
}

static mx_status read_ids(const mx_cli_options *options, id_list *list, mx_error *err)
{
    for (int32_t i = 0; i < options->n_operands; i++) {
        MX_TRY(add_ids(list, options->operands[i], err));
    }
    if (options->n_operands > 0) {
        return MX_OK;
    }
    if (mx_console_is_terminal(MX_STDIN)) {
        return mx_fail(err, MX_INVALID, "there are no token ids: give some, or pipe them in");
    }
    mx_buf text = {0};
    mx_status st = mx_console_read_all(MAX_INPUT_BYTES, &text, err);
    const char *ids = st == MX_OK ? mx_buf_view_cstr(&text) : NULL;
    if (ids) {
        st = add_ids(list, ids, err);
    } else if (st == MX_OK) {
        st = mx_fail_no_memory(err, text.len, "the token ids");
    }
    mx_buf_deinit(&text);
    return st;
}

int mx_cmd_detokenize(const mx_cli_options *options)
{
    mx_error err;
    mlxcel_error api;
    id_list list = {0};
    mlxcel_text text = {0};
    mlxcel_model *model = NULL;
    int code;

    if (mx_cli_need_model(options, &err) != MX_OK || read_ids(options, &list, &err) != MX_OK) {
        code = mx_cli_fail(&err);
    } else if (mx_cli_open_text(options, &model, &api) != MLXCEL_OK ||
               mlxcel_detokenize(model, list.ids, (int32_t)list.n_ids,
                                 options->no_special ? MLXCEL_TEXT_SKIP_SPECIAL : 0, &text, &api) != MLXCEL_OK) {
        code = mx_cli_fail_api(&api);
    } else {
        code = mx_cli_print((mx_str){text.bytes, text.n_bytes});
        if (code == MX_EXIT_OK) {
            code = mx_cli_print(MX_STR("\n"));
        }
    }
    mlxcel_text_free(&text);
    mlxcel_model_close(model);
    mx_free(list.ids);
    return code;
}
