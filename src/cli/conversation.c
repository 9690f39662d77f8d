/* conversation.c - messages that grow, and their file. */
#include "cli/conversation.h"

#include "base/json.h"
#include "base/mem.h"
#include "platform/file.h"

#define MAX_MESSAGES   100000
#define MAX_FILE_BYTES ((size_t)256 << 20)

static void free_message(mlxcel_message *m)
{
    mx_free((void *)m->role);
    mx_free((void *)m->content);
}

void mx_conversation_clear(mx_conversation *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        free_message(&c->messages[i]);
    }
    mx_free(c->messages);
    *c = (mx_conversation){0};
}

static char *copy_text(mx_str s)
{
    char *copy = (char *)mx_malloc(s.len + 1);
    if (copy && s.len > 0) {
        memcpy(copy, s.ptr, s.len);
    }
    if (copy) {
        copy[s.len] = '\0';
    }
    return copy;
}

mx_status mx_conversation_add(mx_conversation *c, const char *role, mx_str content, mx_error *err)
{
    mlxcel_message *grown = mx_array_grow(c->messages, &c->cap, (size_t)c->n + 1, sizeof *grown, MAX_MESSAGES);
    c->messages = grown ? grown : c->messages;
    mlxcel_message m = {
        .role = copy_text(mx_str_from(role)), .content = copy_text(content), .n_content_bytes = content.len};
    if (!grown || !m.role || !m.content) {
        free_message(&m);
        return mx_fail(err, MX_NO_MEMORY, "no memory for a message of %zu bytes", content.len);
    }
    c->messages[c->n++] = m;
    return MX_OK;
}

mx_status mx_conversation_set_system(mx_conversation *c, mx_str content, mx_error *err)
{
    if (content.len > 0) {
        MX_TRY(mx_conversation_add(c, "system", content, err));
        const mlxcel_message added = c->messages[c->n - 1];
        memmove(c->messages + 1, c->messages, (size_t)(c->n - 1) * sizeof *c->messages);
        c->messages[0] = added;
    }
    const int32_t i_old = content.len > 0 ? 1 : 0;
    if (c->n > i_old && strcmp(c->messages[i_old].role, "system") == 0) {
        free_message(&c->messages[i_old]);
        memmove(c->messages + i_old, c->messages + i_old + 1, (size_t)(c->n - i_old - 1) * sizeof *c->messages);
        c->n--;
    }
    return MX_OK;
}

void mx_conversation_pop(mx_conversation *c)
{
    if (c->n > 0) {
        free_message(&c->messages[--c->n]);
    }
}

mx_status mx_conversation_save(const mx_conversation *c, const char *path, mx_error *err)
{
    mx_buf text = {.max = MAX_FILE_BYTES};
    mx_status st;
    MX_TRY_OR(done, st, mx_buf_append_char(&text, '[', err));
    for (int32_t i = 0; i < c->n; i++) {
        const mlxcel_message *m = &c->messages[i];
        MX_TRY_OR(done, st, mx_buf_printf(&text, err, "%s\n  {\"role\": ", i ? "," : ""));
        MX_TRY_OR(done, st, mx_json_append_str(&text, mx_str_from(m->role), err));
        MX_TRY_OR(done, st, mx_buf_printf(&text, err, ", \"content\": "));
        MX_TRY_OR(done, st, mx_json_append_str(&text, (mx_str){m->content, m->n_content_bytes}, err));
        MX_TRY_OR(done, st, mx_buf_append_char(&text, '}', err));
    }
    MX_TRY_OR(done, st, mx_buf_append(&text, MX_STR("\n]\n"), err));
    st = mx_file_write(path, mx_buf_view(&text), err);
done:
    mx_buf_deinit(&text);
    return st;
}

static mx_status read_messages(yyjson_val *root, const char *path, mx_conversation *out, mx_error *err)
{
    size_t i;
    size_t n;
    yyjson_val *val;
    if (!yyjson_is_arr(root)) {
        return mx_fail(err, MX_FORMAT, "%s: is no list of messages", path);
    }
    yyjson_arr_foreach(root, i, n, val)
    {
        mx_str role = {0};
        mx_str content = {0};
        MX_TRY(mx_json_get_str(val, "role", &role, err));
        MX_TRY(mx_json_get_str(val, "content", &content, err));
        if (!role.ptr || !content.ptr || strlen(role.ptr) != role.len) {
            return mx_fail(err, MX_FORMAT, "%s: message %zu has no role or no content", path, i + 1);
        }
        MX_TRY(mx_conversation_add(out, role.ptr, content, err));
    }
    return MX_OK;
}

mx_status mx_conversation_load(mx_conversation *c, const char *path, mx_error *err)
{
    mx_buf text = {0};
    mx_json json = {0};
    mx_conversation loaded = {0};
    mx_status st;
    MX_TRY_OR(done, st, mx_file_read(path, MAX_FILE_BYTES, &text, err));
    MX_TRY_OR(done, st, mx_json_parse(mx_buf_view(&text), path, &json, err));
    MX_TRY_OR(done, st, read_messages(json.root, path, &loaded, err));
    mx_conversation_clear(c);
    *c = loaded;
    loaded = (mx_conversation){0};
done:
    mx_conversation_clear(&loaded);
    mx_json_close(&json);
    mx_buf_deinit(&text);
    return st;
}
