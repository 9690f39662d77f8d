/* msvc_gate.h - force-included by tools/lint before each file, to ask: would cl.exe take this?
 *
 * clang-cl alone accepts nearly every GNU word in silence. So the system's headers, which may use them, come first; then
 * the macros that tell clang and gcc apart are dropped, so that the branches written for MSVC are the ones compiled;
 * and then the words that cl.exe does not know are poisoned: any later use is an error.
 */
#ifdef MX_GATE_WINDOWS /* for src/platform/windows alone: other files may name a function send, as they may in cl.exe */
#include <winsock2.h>

#include <ws2tcpip.h>

#include <windows.h>

#include <bcrypt.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <shellapi.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <winhttp.h>
#include <winioctl.h>

/* Missing in Wine 8's headers. */
WORD WINAPI GetActiveProcessorGroupCount(void);
#endif

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <immintrin.h>
#include <intrin.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include <yyjson.h>

#include <pcre2.h>
#include <utf8proc.h>

/* Missing in Wine 8's headers. */
float fmaf(float x, float y, float z);
long double powl(long double x, long double y);
double erfc(double x);

#pragma clang diagnostic ignored "-Wbuiltin-macro-redefined"
#undef __clang__
#undef __clang_major__
#undef __clang_minor__
#undef __GNUC__
#undef __GNUC_MINOR__

/* Compiler words, then functions that only POSIX has. */
#pragma clang poison __attribute__ __attribute __asm__ asm typeof __typeof__ __auto_type __int128 __extension__
#pragma clang poison __builtin_expect __builtin_unreachable __builtin_trap __builtin_popcount __builtin_popcountll
#pragma clang poison __builtin_clz __builtin_clzll __builtin_ctz __builtin_ctzll __builtin_bswap16 __builtin_bswap32
#pragma clang poison __builtin_bswap64 __builtin_prefetch __builtin_memcpy __builtin_cpu_supports __builtin_cpu_init
#pragma clang poison __builtin_add_overflow __builtin_sub_overflow __builtin_mul_overflow __builtin_alloca
#pragma clang poison __builtin_assume_aligned __builtin_constant_p __builtin_types_compatible_p __builtin_choose_expr
#pragma clang poison __sync_synchronize __sync_fetch_and_add __atomic_load_n __atomic_store_n __atomic_fetch_add
#pragma clang poison ssize_t fseeko ftello strcasecmp strncasecmp strndup usleep gettimeofday clock_gettime
#pragma clang poison pthread_create getopt_long
