/* chat.c - finds a model's chat template and special tokens, and makes the variables that templates expect. */
#include "text/chat.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/mem.h"

#define MAX_TOKENS      64
#define MAX_ARENA_BYTES ((size_t)16 << 20)

/* Special tokens as templates see them: bos_token, eos_token, ... */
typedef struct special_token {
    mx_str name;
    mx_str text;
} special_token;

struct mx_chat {
    mx_arena arena;
    mx_template *main;     /* owned */
    mx_template *tool_use; /* owned; NULL where there is none of its own */
    special_token tokens[MAX_TOKENS];
    size_t n_tokens;
};

mx_str mx_chat_view_token(const mx_chat *chat, const char *name)
{
    for (size_t i = 0; i < chat->n_tokens; i++) {
        if (mx_str_eq_cstr(chat->tokens[i].name, name)) {
            return chat->tokens[i].text;
        }
    }
    return (mx_str){NULL, 0};
}

/* A token is written as a string or as an object with its content. */
static mx_str token_text(yyjson_val *val)
{
    return mx_json_view_str(yyjson_is_obj(val) ? yyjson_obj_get(val, "content") : val);
}

/* Takes the members whose names end in _token; those that are known already stay. */
static mx_status take_tokens(mx_chat *chat, yyjson_val *config, mx_error *err)
{
    yyjson_obj_iter iter = yyjson_obj_iter_with(config);
    for (yyjson_val *key = yyjson_obj_iter_next(&iter); key; key = yyjson_obj_iter_next(&iter)) {
        const mx_str name = mx_json_view_str(key);
        const mx_str text = token_text(yyjson_obj_iter_get_val(key));
        if (!text.ptr || !mx_str_ends_with(name, MX_STR("_token")) || chat->n_tokens == MAX_TOKENS) {
            continue;
        }
        special_token token = {mx_arena_copy_str(&chat->arena, name), mx_arena_copy_str(&chat->arena, text)};
        if (!token.name.ptr || !token.text.ptr) {
            return mx_fail_no_memory(err, name.len + text.len, "a special token");
        }
        if (!mx_chat_view_token(chat, token.name.ptr).ptr) {
            chat->tokens[chat->n_tokens++] = token;
        }
    }
    return MX_OK;
}

static mx_status open_template(mx_template **to, mx_str source, const char *name, mx_error *err)
{
    if (*to) {
        return MX_OK; /* the first of a name counts */
    }
    return mx_template_open(source, name, to, err);
}

/* Opens what a file has under chat_template: a string, or a list of named ones. */
static mx_status take_template(mx_chat *chat, yyjson_val *val, const char *name, mx_error *err)
{
    if (yyjson_is_str(val)) {
        return open_template(&chat->main, mx_json_view_str(val), name, err);
    }
    yyjson_arr_iter iter = yyjson_arr_iter_with(val);
    for (yyjson_val *item = yyjson_arr_iter_next(&iter); item; item = yyjson_arr_iter_next(&iter)) {
        const mx_str label = mx_json_view_str(yyjson_obj_get(item, "name"));
        const mx_str source = mx_json_view_str(yyjson_obj_get(item, "template"));
        if (source.ptr && mx_str_eq_cstr(label, "default")) {
            MX_TRY(open_template(&chat->main, source, name, err));
        } else if (source.ptr && mx_str_eq_cstr(label, "tool_use")) {
            MX_TRY(open_template(&chat->tool_use, source, name, err));
        }
    }
    return MX_OK;
}

/* Parses one of the JSON files, if it is there. */
static mx_status parse_file(mx_str text, const char *model, const char *file, mx_json *out, mx_error *err)
{
    if (text.len == 0) {
        return MX_OK;
    }
    char name[256];
    snprintf(name, sizeof name, "%s: %s", model, file);
    return mx_json_parse_exact(text, name, out, err);
}

static mx_status open_templates(mx_chat *chat, const mx_chat_files *files, yyjson_val *config, yyjson_val *own_file,
                                const char *name, mx_error *err)
{
    if (files->chat_template_jinja.len) {
        return open_template(&chat->main, files->chat_template_jinja, name, err);
    }
    MX_TRY(take_template(chat, yyjson_obj_get(own_file, "chat_template"), name, err));
    if (!chat->main) {
        MX_TRY(take_template(chat, yyjson_obj_get(config, "chat_template"), name, err));
    }
    return MX_OK;
}

mx_status mx_chat_open(const mx_chat_files *files, const char *name, mx_chat **out, mx_error *err)
{
    mx_json config = {0};
    mx_json map = {0};
    mx_json own_file = {0};
    char title[256];
    mx_status st = MX_OK;
    *out = NULL;
    mx_chat *chat = mx_calloc(1, sizeof *chat);
    if (!chat) {
        return mx_fail_no_memory(err, sizeof *chat, "a chat template");
    }
    mx_arena_init(&chat->arena, MAX_ARENA_BYTES);
    snprintf(title, sizeof title, "%s: chat template", name);
    MX_TRY_OR(done, st, parse_file(files->tokenizer_config_json, name, "tokenizer_config.json", &config, err));
    MX_TRY_OR(done, st, parse_file(files->special_tokens_map_json, name, "special_tokens_map.json", &map, err));
    MX_TRY_OR(done, st, parse_file(files->chat_template_json, name, "chat_template.json", &own_file, err));
    MX_TRY_OR(done, st, take_tokens(chat, config.root, err));
    MX_TRY_OR(done, st, take_tokens(chat, map.root, err));
    MX_TRY_OR(done, st, open_templates(chat, files, config.root, own_file.root, title, err));
    if (!chat->main && !chat->tool_use) {
        st = mx_fail(err, MX_NOT_FOUND, "%s: no file of the model has a chat template", name);
        goto done;
    }
    *out = chat;
    chat = NULL;
done:
    mx_json_close(&config);
    mx_json_close(&map);
    mx_json_close(&own_file);
    mx_chat_close(chat);
    return st;
}

void mx_chat_close(mx_chat *chat)
{
    if (chat) {
        mx_template_close(chat->main);
        mx_template_close(chat->tool_use);
        mx_arena_deinit(&chat->arena);
        mx_free(chat);
    }
}

static mx_status no_memory(mx_error *err)
{
    return mx_fail_no_memory(err, 4096, "the variables of a chat template");
}

/* Puts the variables into root: those that every template gets, the tokens, and the further ones over them. */
static bool add_variables(const mx_chat *chat, yyjson_mut_doc *doc, yyjson_mut_val *root, yyjson_mut_val *messages,
                          yyjson_mut_val *tools, bool add_generation_prompt, yyjson_val *extra)
{
    bool ok = yyjson_mut_obj_add_val(doc, root, "messages", messages) &&
              yyjson_mut_obj_add_val(doc, root, "tools", tools) && yyjson_mut_obj_add_null(doc, root, "documents") &&
              yyjson_mut_obj_add_bool(doc, root, "add_generation_prompt", add_generation_prompt);
    for (size_t i = 0; ok && i < chat->n_tokens; i++) {
        const special_token *token = &chat->tokens[i];
        ok = yyjson_mut_obj_add(root, yyjson_mut_strn(doc, token->name.ptr, token->name.len),
                                yyjson_mut_strn(doc, token->text.ptr, token->text.len));
    }
    yyjson_obj_iter iter = yyjson_obj_iter_with(extra);
    for (yyjson_val *key = yyjson_obj_iter_next(&iter); ok && key; key = yyjson_obj_iter_next(&iter)) {
        ok = yyjson_mut_obj_put(root, yyjson_val_mut_copy(doc, key),
                                yyjson_val_mut_copy(doc, yyjson_obj_iter_get_val(key)));
    }
    return ok;
}

/* messages and tools live in doc; NULL where memory was short. */
static mx_status render(const mx_chat *chat, yyjson_mut_doc *doc, yyjson_mut_val *messages, yyjson_mut_val *tools,
                        bool add_generation_prompt, yyjson_val *extra, const mx_template_options *options, mx_buf *out,
                        mx_template_report *report, mx_error *err)
{
    const bool has_tools = yyjson_mut_arr_size(tools) > 0;
    const mx_template *tpl = (has_tools && chat->tool_use) || !chat->main ? chat->tool_use : chat->main;
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_doc *context = NULL;
    if (messages && tools && root && add_variables(chat, doc, root, messages, tools, add_generation_prompt, extra)) {
        yyjson_mut_doc_set_root(doc, root);
        context = yyjson_mut_doc_imut_copy(doc, &mx_json_heap);
    }
    const mx_status st =
        context ? mx_template_render(tpl, yyjson_doc_get_root(context), options, out, report, err) : no_memory(err);
    yyjson_doc_free(context);
    return st;
}

static yyjson_mut_val *make_messages(yyjson_mut_doc *doc, const mx_chat_message *messages, size_t n_messages)
{
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; list && i < n_messages; i++) {
        const mx_chat_message *m = &messages[i];
        yyjson_mut_val *message = yyjson_mut_arr_add_obj(doc, list);
        const mx_str content = m->content.ptr ? m->content : MX_STR("");
        if (!message || !yyjson_mut_obj_add_strn(doc, message, "role", m->role.ptr, m->role.len) ||
            !yyjson_mut_obj_add_strn(doc, message, "content", content.ptr, content.len)) {
            return NULL;
        }
    }
    return list;
}

mx_status mx_chat_render(const mx_chat *chat, const mx_chat_message *messages, size_t n_messages,
                         bool add_generation_prompt, mx_str extra_json, const mx_template_options *options, mx_buf *out,
                         mx_template_report *report, mx_error *err)
{
    mx_json extra = {0};
    yyjson_mut_doc *doc = NULL;
    mx_status st = MX_OK;
    if (report) {
        *report = (mx_template_report){0};
    }
    if (extra_json.ptr) {
        MX_TRY_OR(done, st, mx_json_parse_exact(extra_json, "template variables", &extra, err));
        if (!yyjson_is_obj(extra.root)) {
            st = mx_fail(err, MX_INVALID, "template variables must be a JSON object");
            goto done;
        }
    }
    doc = yyjson_mut_doc_new(&mx_json_heap);
    if (!doc) {
        st = no_memory(err);
        goto done;
    }
    st = render(chat, doc, make_messages(doc, messages, n_messages), yyjson_mut_null(doc), add_generation_prompt,
                extra.root, options, out, report, err);
done:
    yyjson_mut_doc_free(doc);
    mx_json_close(&extra);
    return st;
}

mx_status mx_chat_render_json(const mx_chat *chat, yyjson_val *messages, yyjson_val *tools, bool add_generation_prompt,
                              yyjson_val *extra, const mx_template_options *options, mx_buf *out,
                              mx_template_report *report, mx_error *err)
{
    if (report) {
        *report = (mx_template_report){0};
    }
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&mx_json_heap);
    if (!doc) {
        return no_memory(err);
    }
    yyjson_mut_val *tool_list = tools ? yyjson_val_mut_copy(doc, tools) : yyjson_mut_null(doc);
    const mx_status st = render(chat, doc, yyjson_val_mut_copy(doc, messages), tool_list, add_generation_prompt, extra,
                                options, out, report, err);
    yyjson_mut_doc_free(doc);
    return st;
}
