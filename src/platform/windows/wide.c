/* wide.c - conversions at the Windows edge. */
#include "platform/windows/wide.h"

#include <windows.h>

#include "base/mem.h"
#include "platform/os_error.h"

/* Windows counts 260 with the terminator, and a folder must leave room for an 8.3 name. */
#define LONGEST_PLAIN_PATH 240

mx_status mx_wide_from_utf8(mx_str s, wchar_t **out, mx_error *err)
{
    *out = NULL;
    int n = 0;
    if (s.len > 0) {
        n = s.len <= INT32_MAX ? MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, s.ptr, (int)s.len, NULL, 0) : 0;
        if (n == 0) {
            return mx_fail(err, MX_INVALID, "\"%.*s\" is not valid UTF-8", MX_STR_ARG(s));
        }
    }
    wchar_t *wide = mx_malloc(((size_t)n + 1) * sizeof *wide);
    if (!wide) {
        return mx_fail_no_memory(err, ((size_t)n + 1) * sizeof *wide, "a wide string");
    }
    if (n > 0) {
        MultiByteToWideChar(CP_UTF8, 0, s.ptr, (int)s.len, wide, n);
    }
    wide[n] = L'\0';
    *out = wide;
    return MX_OK;
}

/* "\\?\" and the absolute form of a path; "\\?\UNC\" where it names a share. */
static mx_status lengthen(const char *path, const wchar_t *plain, wchar_t **out, mx_error *err)
{
    const DWORD cap = GetFullPathNameW(plain, 0, NULL, NULL); /* with terminator */
    wchar_t *wide = cap > 0 ? mx_malloc(((size_t)cap + 8) * sizeof *wide) : NULL;
    if (!wide) {
        return cap > 0 ? mx_fail_no_memory(err, (size_t)cap * sizeof *wide, path) : mx_fail_os(err, "resolve", path);
    }
    wchar_t *full = wide + 8;
    const DWORD n = GetFullPathNameW(plain, cap, full, NULL);
    if (n == 0 || n >= cap) {
        mx_free(wide);
        return mx_fail_os(err, "resolve", path);
    }
    const bool is_share = full[0] == L'\\' && full[1] == L'\\';
    const wchar_t *prefix = is_share ? L"\\\\?\\UNC" : L"\\\\?\\";
    const size_t n_prefix = wcslen(prefix);
    wmemcpy(wide, prefix, n_prefix);
    wmemmove(wide + n_prefix, full + is_share, (size_t)n + 1 - is_share);
    *out = wide;
    return MX_OK;
}

/* The limit is that of the absolute path: a short one may stand in a deep folder. */
static bool is_long(const wchar_t *plain)
{
    return wcsncmp(plain, L"\\\\?\\", 4) != 0 && GetFullPathNameW(plain, 0, NULL, NULL) >= LONGEST_PLAIN_PATH;
}

mx_status mx_wide_from_path(const char *path, wchar_t **out, mx_error *err)
{
    wchar_t *plain = NULL;
    MX_TRY(mx_wide_from_utf8(mx_str_from(path), &plain, err));
    if (!is_long(plain)) {
        *out = plain;
        return MX_OK;
    }
    const mx_status st = lengthen(path, plain, out, err);
    mx_free(plain);
    return st;
}

mx_str mx_wide_copy_utf8(mx_arena *arena, const wchar_t *wide)
{
    const int n = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL); /* with terminator */
    char *utf8 = mx_arena_alloc(arena, n > 0 ? (size_t)n : 1);
    if (utf8 && n > 0) {
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, utf8, n, NULL, NULL);
    }
    return mx_str_from(utf8);
}
