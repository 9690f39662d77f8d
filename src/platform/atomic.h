/* atomic.h - the few atomic operations that the code needs, on 32 and 64 bits and on pointers.
 *
 * Loads acquire, stores release, and the operations that read and write are sequentially consistent. C11 atomics where
 * the compiler has them by default; cl.exe hides them behind a switch, so it gets its intrinsics.
 */
#ifndef MX_PLATFORM_ATOMIC_H
#define MX_PLATFORM_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>

#include "base/compiler.h"

#if !MX_ARCH_X86_64
#error "with cl.exe only x86-64 is written: its plain loads acquire and its plain stores release"
#endif

/* name, type of the value, suffix of the intrinsic and the type that it takes */
#define MX_ATOMIC_DEFINE(name, type, suffix, raw)                                                                    \
    typedef struct mx_atomic_##name {                                                                                \
        volatile type value;                                                                                         \
    } mx_atomic_##name;                                                                                              \
    static inline type mx_atomic_load_##name(const mx_atomic_##name *a)                                              \
    {                                                                                                                \
        const type value = a->value;                                                                                 \
        _ReadWriteBarrier();                                                                                         \
        return value;                                                                                                \
    }                                                                                                                \
    static inline void mx_atomic_store_##name(mx_atomic_##name *a, type value)                                       \
    {                                                                                                                \
        _ReadWriteBarrier();                                                                                         \
        a->value = value;                                                                                            \
    }                                                                                                                \
    static inline type mx_atomic_exchange_##name(mx_atomic_##name *a, type value)                                    \
    {                                                                                                                \
        return (type)_InterlockedExchange##suffix((raw volatile *)&a->value, (raw)value);                            \
    }                                                                                                                \
    static inline bool mx_atomic_compare_exchange_##name(mx_atomic_##name *a, type *expected, type desired)          \
    {                                                                                                                \
        const type wanted = *expected;                                                                               \
        *expected = (type)_InterlockedCompareExchange##suffix((raw volatile *)&a->value, (raw)desired, (raw)wanted); \
        return *expected == wanted;                                                                                  \
    }
#define MX_ATOMIC_DEFINE_ADD(name, type, suffix, raw)                                    \
    static inline type mx_atomic_add_##name(mx_atomic_##name *a, type n)                 \
    {                                                                                    \
        return (type)_InterlockedExchangeAdd##suffix((raw volatile *)&a->value, (raw)n); \
    }

typedef void *mx_atomic_pointer_;
MX_ATOMIC_DEFINE(u32, uint32_t, , long)
MX_ATOMIC_DEFINE_ADD(u32, uint32_t, , long)
MX_ATOMIC_DEFINE(i64, int64_t, 64, __int64)
MX_ATOMIC_DEFINE_ADD(i64, int64_t, 64, __int64)
MX_ATOMIC_DEFINE(ptr, mx_atomic_pointer_, Pointer, mx_atomic_pointer_)
#undef MX_ATOMIC_DEFINE
#undef MX_ATOMIC_DEFINE_ADD

#else
#include <stdatomic.h>

#define MX_ATOMIC_DEFINE(name, type)                                                                        \
    typedef struct mx_atomic_##name {                                                                       \
        _Atomic(type) value;                                                                                \
    } mx_atomic_##name;                                                                                     \
    static inline type mx_atomic_load_##name(const mx_atomic_##name *a)                                     \
    {                                                                                                       \
        return atomic_load_explicit(&a->value, memory_order_acquire);                                       \
    }                                                                                                       \
    static inline void mx_atomic_store_##name(mx_atomic_##name *a, type value)                              \
    {                                                                                                       \
        atomic_store_explicit(&a->value, value, memory_order_release);                                      \
    }                                                                                                       \
    static inline type mx_atomic_exchange_##name(mx_atomic_##name *a, type value)                           \
    {                                                                                                       \
        return atomic_exchange(&a->value, value);                                                           \
    }                                                                                                       \
    /* True when *a was *expected and is now `desired`; else *expected becomes what was found. */           \
    static inline bool mx_atomic_compare_exchange_##name(mx_atomic_##name *a, type *expected, type desired) \
    {                                                                                                       \
        return atomic_compare_exchange_strong(&a->value, expected, desired);                                \
    }
#define MX_ATOMIC_DEFINE_ADD(name, type)                                 \
    /* Adds n and returns what was there before. */                      \
    static inline type mx_atomic_add_##name(mx_atomic_##name *a, type n) \
    {                                                                    \
        return atomic_fetch_add(&a->value, n);                           \
    }

typedef void *mx_atomic_pointer_;
MX_ATOMIC_DEFINE(u32, uint32_t)
MX_ATOMIC_DEFINE_ADD(u32, uint32_t)
MX_ATOMIC_DEFINE(i64, int64_t)
MX_ATOMIC_DEFINE_ADD(i64, int64_t)
MX_ATOMIC_DEFINE(ptr, mx_atomic_pointer_)
#undef MX_ATOMIC_DEFINE
#undef MX_ATOMIC_DEFINE_ADD
#endif

#endif
