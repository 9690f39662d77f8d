/* end_ids.c - the tokens that end a text.
 *
 * config.json, generation_config.json and tokenizer_config.json each name end tokens, and in published checkpoints they
 * disagree; a text that misses its end runs on to the limit. All that they name count, and the chat template is asked
 * too: the special token that it writes behind an answer is the one that the model was taught to end with.
 */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "engine/mlxcel_private.h"

static void add_id(mlxcel_model *model, int32_t id)
{
    for (int32_t i = 0; i < model->n_end_ids; i++) {
        if (model->end_ids[i] == id) {
            return;
        }
    }
    if (model->n_end_ids < MX_MAX_END_IDS) {
        model->end_ids[model->n_end_ids++] = id;
    }
}

static void add_token(mlxcel_model *model, mx_str token)
{
    int32_t id;
    if (token.ptr && mx_tokenizer_find(model->tokenizer, token, &id)) {
        add_id(model, id);
    }
}

/* tokenizer_config.json's eos_token, a string or an object with `content`. */
static void add_tokenizer_config(mlxcel_model *model, mx_str text)
{
    mx_json json = {0};
    if (text.len > 0 && mx_json_parse(text, "tokenizer_config.json", &json, NULL) == MX_OK) {
        yyjson_val *eos = yyjson_obj_get(json.root, "eos_token");
        add_token(model, mx_json_view_str(yyjson_is_obj(eos) ? yyjson_obj_get(eos, "content") : eos));
    }
    mx_json_close(&json);
}

/* The special token at the beginning of text, white space left aside. */
static void add_token_at(mlxcel_model *model, mx_str text)
{
    assert(text.ptr);
    while (text.len > 0 && strchr(" \t\r\n", text.ptr[0])) {
        text = mx_str_slice(text, 1, text.len);
    }
    size_t n_added;
    const mx_added_token *added = mx_tokenizer_view_added(model->tokenizer, &n_added);
    const mx_added_token *longest = NULL;
    for (size_t i = 0; i < n_added; i++) {
        if (added[i].is_special && mx_str_starts_with(text, added[i].content) &&
            (!longest || added[i].content.len > longest->content.len)) {
            longest = &added[i];
        }
    }
    if (longest) {
        add_id(model, longest->id);
    }
}

static mx_status add_template_end(mlxcel_model *model, mx_error *err)
{
    static const mx_chat_message messages[] = {
        {MX_STR_INIT("user"), MX_STR_INIT("hello")},
        {MX_STR_INIT("assistant"), MX_STR_INIT("mlxcel-answer")},
    };
    mx_buf text = {.max = (size_t)16 << 20};
    const mx_status st = mx_api_render(model, messages, MX_COUNTOF(messages), false, &text, err);
    if (st == MX_OK) {
        const size_t at = mx_str_find(mx_buf_view(&text), messages[1].content, 0);
        if (at != MX_STR_NPOS) {
            add_token_at(model, mx_str_slice(mx_buf_view(&text), at + messages[1].content.len, text.len));
        }
    }
    mx_buf_deinit(&text);
    return st == MX_NO_MEMORY ? st : MX_OK; /* a template that refuses this conversation says nothing about ends */
}

mx_status mx_api_find_end_ids(mlxcel_model *model, mx_str tokenizer_config_json, mx_error *err)
{
    int32_t n_ids;
    const int32_t *ids = mx_model_view_eos_ids(model->model, &n_ids);
    for (int32_t i = 0; i < n_ids; i++) {
        add_id(model, ids[i]);
    }
    add_tokenizer_config(model, tokenizer_config_json);
    return model->chat ? add_template_end(model, err) : MX_OK;
}
