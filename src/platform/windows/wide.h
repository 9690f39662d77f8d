/* wide.h - between our UTF-8 and the wide strings of Windows. Private to platform/windows. */
#ifndef MX_PLATFORM_WINDOWS_WIDE_H
#define MX_PLATFORM_WINDOWS_WIDE_H

#include <wchar.h>

#include "base/arena.h"
#include "base/error.h"

/* UTF-16 of s on the heap, terminated; the caller frees it with mx_free. MX_INVALID when s is not UTF-8. */
mx_status mx_wide_from_utf8(mx_str s, wchar_t **out, mx_error *err) MX_NODISCARD;

/* The same for a path: where it is long it becomes absolute with the prefix that lifts the limit of 260 characters. */
mx_status mx_wide_from_path(const char *path, wchar_t **out, mx_error *err) MX_NODISCARD;

/* UTF-8 in the arena; unpaired surrogates become U+FFFD. ptr NULL when out of memory. */
mx_str mx_wide_copy_utf8(mx_arena *arena, const wchar_t *wide);

#endif
