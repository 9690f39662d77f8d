/* model_name.c - the grammar of names. It is that of Hugging Face's repository ids, which is also safe for folders. */
#include "hub/model_name.h"

#include "base/utf8.h"
#include "platform/file.h"
#include "platform/path.h"

#define MAX_NAME     96
#define MAX_REVISION 128

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool equals_ignoring_case(mx_str s, const char *lower)
{
    size_t i = 0;
    while (i < s.len && lower[i] && to_lower(s.ptr[i]) == lower[i]) {
        i++;
    }
    return i == s.len && !lower[i];
}

static bool is_windows_device(mx_str name)
{
    static const char *const devices[] = {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"};
    const char *dot = memchr(name.ptr, '.', name.len);
    mx_str stem = mx_str_slice(name, 0, dot ? (size_t)(dot - name.ptr) : name.len);
    while (stem.len > 0 && stem.ptr[stem.len - 1] == ' ') {
        stem.len--;
    }
    for (size_t i = 0; i < MX_COUNTOF(devices); i++) {
        if (equals_ignoring_case(stem, devices[i])) {
            return true;
        }
    }
    /* COM1 to COM9 and LPT1 to LPT9, also with superscript digits, which are two bytes beginning with C2. */
    const mx_str first = mx_str_slice(stem, 0, 3);
    const bool is_port = equals_ignoring_case(first, "com") || equals_ignoring_case(first, "lpt");
    return is_port && ((stem.len == 4 && stem.ptr[3] >= '0' && stem.ptr[3] <= '9') ||
                       (stem.len == 5 && (unsigned char)stem.ptr[3] == 0xc2));
}

bool mx_file_name_is_safe(mx_str name)
{
    if (name.len == 0 || name.len > 200 || !mx_utf8_is_valid(name)) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        const unsigned char c = (unsigned char)name.ptr[i];
        const bool is_control = c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)name.ptr[i + 1] < 0xa0);
        if (is_control || strchr("\\/:*?\"<>|", c)) {
            return false;
        }
    }
    const char last = name.ptr[name.len - 1];
    return last != '.' && last != ' ' && !is_windows_device(name);
}

bool mx_is_commit(mx_str revision)
{
    for (size_t i = 0; i < revision.len; i++) {
        const char c = to_lower(revision.ptr[i]);
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
    }
    return revision.len == 40;
}

/* An owner's or a repository's name. */
static bool is_part(mx_str s)
{
    if (s.len == 0 || s.len > MAX_NAME || !is_alnum(s.ptr[0]) || !mx_file_name_is_safe(s)) {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        const bool repeats = i > 0 && s.ptr[i] == s.ptr[i - 1] && (s.ptr[i] == '.' || s.ptr[i] == '-');
        if ((!is_alnum(s.ptr[i]) && !strchr("-_.", s.ptr[i])) || repeats) {
            return false;
        }
    }
    return s.ptr[s.len - 1] != '-';
}

static bool is_revision(mx_str s)
{
    if (s.len == 0 || s.len > MAX_REVISION || mx_str_find(s, MX_STR(".."), 0) != MX_STR_NPOS) {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (!is_alnum(s.ptr[i]) && (i == 0 || !strchr("-_./+", s.ptr[i]))) {
            return false;
        }
    }
    return s.ptr[s.len - 1] != '/' && s.ptr[s.len - 1] != '.';
}

/* What only a path begins or looks like: ./x, ../x, /x, ~/x, C:\x, a\b, a/b/c. */
static bool looks_like_path(mx_str s)
{
    size_t n_slashes = 0;
    for (size_t i = 0; i < s.len && s.ptr[i] != '@'; i++) {
        n_slashes += s.ptr[i] == '/';
        if (s.ptr[i] == '\\') {
            return true;
        }
    }
    return s.len > 0 && (s.ptr[0] == '.' || s.ptr[0] == '/' || s.ptr[0] == '~' || n_slashes > 1 ||
                         (s.len > 1 && s.ptr[1] == ':') || s.ptr[s.len - 1] == '/');
}

static mx_status copy(mx_arena *arena, mx_str s, const char **out, mx_error *err)
{
    *out = mx_arena_copy_str(arena, s).ptr;
    return *out ? MX_OK : mx_fail(err, MX_NO_MEMORY, "no memory for a model's name");
}

static mx_status refuse_gguf(const char *text, mx_error *err)
{
    return mx_fail(err, MX_INVALID,
                   "%s is a GGUF file, and models are folders in MLX format: make one of it with "
                   "`mlxcel convert %s FOLDER`",
                   text, text);
}

mx_status mx_model_name_parse(mx_arena *arena, const char *text, mx_model_name *out, mx_error *err)
{
    const mx_str whole = mx_str_from(text);
    const bool is_gguf = whole.len > 5 && equals_ignoring_case(mx_str_slice(whole, whole.len - 5, whole.len), ".gguf");
    const bool exists = mx_file_kind_at(text) != MX_FILE_MISSING;
    *out = (mx_model_name){0};
    if (is_gguf && mx_file_kind_at(text) != MX_FILE_DIR) {
        return exists ? refuse_gguf(text, err)
                      : mx_fail(err, MX_INVALID,
                                "%s: there is no such file, and GGUF files are not run but converted: "
                                "`mlxcel convert FILE.gguf FOLDER`",
                                text);
    }
    if (exists || looks_like_path(whole)) {
        return copy(arena, whole, &out->path, err);
    }
    const char *at = memchr(text, '@', whole.len);
    const mx_str id = mx_str_slice(whole, 0, at ? (size_t)(at - text) : whole.len);
    const mx_str revision = at ? mx_str_from(at + 1) : MX_STR(MX_DEFAULT_REVISION);
    const char *slash = memchr(id.ptr, '/', id.len);
    const mx_str owner = slash ? mx_str_slice(id, 0, (size_t)(slash - id.ptr)) : MX_STR(MX_DEFAULT_OWNER);
    const mx_str name = slash ? mx_str_slice(id, (size_t)(slash - id.ptr) + 1, id.len) : id;
    if (!is_part(owner) || !is_part(name) || !is_revision(revision)) {
        return mx_fail(err, MX_INVALID,
                       "\"%s\" names no model: give a folder (./my-model), a repository (owner/name or "
                       "owner/name@revision), or a name alone (NAME stands for " MX_DEFAULT_OWNER "/NAME)",
                       text);
    }
    out->has_revision = at != NULL;
    MX_TRY(copy(arena, owner, &out->owner, err));
    MX_TRY(copy(arena, name, &out->name, err));
    return copy(arena, revision, &out->revision, err);
}
