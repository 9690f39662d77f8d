/* hub_env.c - variables and the token file. */
#include "hub/hub_env.h"

#include <stdlib.h>

#include "base/buf.h"
#include "platform/env.h"
#include "platform/file.h"
#include "platform/path.h"

#define DEFAULT_ENDPOINT "https://huggingface.co"
#define MAX_TOKEN_BYTES  4096

static const char *get_variable(mx_arena *arena, const char *name)
{
    const char *value = mx_env_get(arena, name);
    return value && value[0] ? value : NULL;
}

static const char *find_token_file(mx_arena *arena)
{
    static const struct {
        const char *variable;
        const char *below;
    } places[] = {
        {"HF_TOKEN_PATH", NULL},
        {"HF_HOME", "token"},
        {"XDG_CACHE_HOME", "huggingface/token"},
        {"HOME", ".cache/huggingface/token"},
        {"USERPROFILE", ".cache/huggingface/token"},
    };
    for (size_t i = 0; i < MX_COUNTOF(places); i++) {
        const char *value = get_variable(arena, places[i].variable);
        if (value) {
            return places[i].below ? mx_path_join(arena, value, mx_str_from(places[i].below)) : value;
        }
    }
    return NULL;
}

/* Printable letters alone: a line end would add a header of its own to the request. */
static mx_status check_token(const char *token, const char *from, mx_error *err)
{
    for (const char *c = token; *c; c++) {
        if (*c <= ' ' || *c > '~') {
            return mx_fail(err, MX_INVALID, "the token of %s has characters that no token has", from);
        }
    }
    return MX_OK;
}

static mx_status read_token(mx_arena *arena, const char **out, mx_error *err)
{
    const char *path = NULL;
    const char *from = "HF_TOKEN";
    mx_str token = mx_str_from(get_variable(arena, from));
    mx_buf text = {0};
    if (!token.ptr) {
        path = find_token_file(arena);
        from = path;
        if (!path || mx_file_kind_at(path) != MX_FILE_REGULAR) {
            return MX_OK;
        }
        const mx_status st = mx_file_read(path, MAX_TOKEN_BYTES, &text, err);
        token = mx_arena_copy_str(arena, mx_buf_view(&text));
        mx_buf_deinit(&text);
        MX_TRY(st);
    }
    while (token.len > 0 && strchr(" \t\r\n", token.ptr[token.len - 1])) {
        token.len--;
    }
    if (token.len == 0) {
        return MX_OK;
    }
    *out = mx_arena_copy_str(arena, token).ptr;
    return *out ? check_token(*out, from, err) : mx_fail(err, MX_NO_MEMORY, "no memory for a token");
}

mx_status mx_hub_env_read(mx_arena *arena, mx_hub_env *out, mx_error *err)
{
    *out = (mx_hub_env){.endpoint = DEFAULT_ENDPOINT, .timeout_s = 30};
    const char *endpoint = get_variable(arena, "HF_ENDPOINT");
    if (endpoint) {
        mx_str s = mx_str_from(endpoint);
        while (s.len > 0 && s.ptr[s.len - 1] == '/') {
            s.len--;
        }
        if ((!mx_str_starts_with(s, MX_STR("https://")) && !mx_str_starts_with(s, MX_STR("http://"))) ||
            memchr(s.ptr, ' ', s.len) || memchr(s.ptr, '\n', s.len)) {
            return mx_fail(err, MX_INVALID, "HF_ENDPOINT: \"%s\" is no address such as " DEFAULT_ENDPOINT, endpoint);
        }
        out->endpoint = mx_arena_copy_str(arena, s).ptr;
        if (!out->endpoint) {
            return mx_fail(err, MX_NO_MEMORY, "no memory for an address");
        }
    }
    const char *offline = get_variable(arena, "HF_HUB_OFFLINE");
    out->is_offline = offline && strcmp(offline, "0") != 0 && strcmp(offline, "false") != 0;
    const char *timeout = get_variable(arena, "HF_HUB_DOWNLOAD_TIMEOUT");
    const double seconds = timeout ? strtod(timeout, NULL) : 0.0;
    if (seconds >= 1.0 && seconds <= 86400.0) {
        out->timeout_s = (int32_t)seconds;
    }
    return read_token(arena, &out->token, err);
}
