/* compiler.h - the one file that knows compilers.
 *
 * Everything that gcc, clang and MSVC spell differently has one name here; the rest of the code is plain C17.
 */
#ifndef MX_BASE_COMPILER_H
#define MX_BASE_COMPILER_H

#if defined(_MSC_VER) && !defined(__clang__)
#define MX_NODISCARD
#define MX_PRINTF(fmt_index, args_index)
#define MX_RESTRICT       __restrict
#define MX_THREAD_LOCAL   __declspec(thread)
#define MX_ALIGNED(n)     __declspec(align(n))
#define MX_NOINLINE       __declspec(noinline)
#define MX_FORCE_INLINE   __forceinline
#define MX_LIKELY(cond)   (cond)
#define MX_UNLIKELY(cond) (cond)
#define MX_PREFETCH(ptr)  ((void)(ptr))
#else
#define MX_NODISCARD __attribute__((warn_unused_result))
#if defined(__MINGW32__) && !defined(__clang__)
#define MX_PRINTF(fmt_index, args_index) __attribute__((format(gnu_printf, fmt_index, args_index)))
#else
#define MX_PRINTF(fmt_index, args_index) __attribute__((format(printf, fmt_index, args_index)))
#endif
#define MX_RESTRICT       __restrict__
#define MX_THREAD_LOCAL   _Thread_local
#define MX_ALIGNED(n)     __attribute__((aligned(n)))
#define MX_NOINLINE       __attribute__((noinline))
#define MX_FORCE_INLINE   inline __attribute__((always_inline))
#define MX_LIKELY(cond)   __builtin_expect(!!(cond), 1)
#define MX_UNLIKELY(cond) __builtin_expect(!!(cond), 0)
#define MX_PREFETCH(ptr)  __builtin_prefetch(ptr)
#endif

/* Number of elements of an array (not of a pointer). */
#define MX_COUNTOF(array) (sizeof(array) / sizeof((array)[0]))

#define MX_MIN(a, b) ((a) < (b) ? (a) : (b))
#define MX_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Architectures, for the few files that choose an instruction set. */
#if defined(__x86_64__) || defined(_M_X64)
#define MX_ARCH_X86_64 1
#else
#define MX_ARCH_X86_64 0
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define MX_ARCH_AARCH64 1
#else
#define MX_ARCH_AARCH64 0
#endif

#endif
