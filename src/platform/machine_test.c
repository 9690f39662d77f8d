/* machine_test.c - clocks, processor, memory, paths, environment and libraries: what every machine must answer. */
#include "platform/args.h"
#include "platform/clock.h"
#include "platform/console.h"
#include "platform/cpu.h"
#include "platform/env.h"
#include "platform/library.h"
#include "platform/memory.h"
#include "platform/path.h"
#include "platform/signal.h"
#include "tests/test.h"

MX_TEST(the_monotonic_clock_does_not_go_back)
{
    int64_t last = mx_clock_ns();
    for (int i = 0; i < 1000; i++) {
        const int64_t now = mx_clock_ns();
        MX_CHECK(now >= last);
        last = now;
    }
}

MX_TEST(local_time_agrees_with_utc_after_its_offset)
{
    const int64_t moments[] = {0, 951782400, 1709164800, 1735689599, mx_clock_wall_s()};
    for (size_t i = 0; i < MX_COUNTOF(moments); i++) {
        const mx_datetime t = mx_clock_local(moments[i]);
        /* Days since 1970 by the civil calendar, from Howard Hinnant's "chrono-compatible low-level date algorithms".
         */
        const int64_t y = t.year - (t.month <= 2);
        const int64_t era = y / 400;
        const int64_t yoe = y - era * 400;
        const int64_t doy = (153 * (t.month + (t.month > 2 ? -3 : 9)) + 2) / 5 + t.day - 1;
        const int64_t days = era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
        const int64_t seconds = days * 86400 + t.hour * 3600 + t.minute * 60 + t.second;
        MX_CHECK_I64(seconds - t.utc_offset_s, moments[i]);
        MX_CHECK_I64(t.weekday, (days + 4) % 7);
        const mx_datetime new_year = mx_clock_local(moments[i] - (int64_t)t.yearday * 86400);
        MX_CHECK(new_year.yearday <= 1 || new_year.yearday >= 364); /* summer time may shift it by an hour */
    }
}

MX_TEST(the_processor_is_described)
{
    const mx_cpu_info *cpu = mx_cpu_get();
    MX_CHECK(cpu == mx_cpu_get());
    MX_CHECK(cpu->n_logical >= 1 && cpu->n_physical >= 1 && cpu->n_physical <= cpu->n_logical);
    MX_CHECK(cpu->n_allowed >= 1);
    MX_CHECK(cpu->n_usable >= 1 && cpu->n_usable <= cpu->n_allowed);
    MX_CHECK(cpu->quota >= 0);
    MX_CHECK(cpu->l1d_bytes >= 0 && cpu->l2_bytes >= 0 && cpu->l3_bytes >= 0);
    printf("  %s: %d threads, %d cores, %d allowed, quota %g, %d usable, caches %" PRId64 " %" PRId64 " %" PRId64 ":",
           cpu->name, (int)cpu->n_logical, (int)cpu->n_physical, (int)cpu->n_allowed, cpu->quota, (int)cpu->n_usable,
           cpu->l1d_bytes, cpu->l2_bytes, cpu->l3_bytes);
    for (int i = 0; i < MX_CPU_FEATURE_COUNT; i++) {
        if (mx_cpu_has((mx_cpu_feature)i)) {
            printf(" %s", mx_cpu_feature_name((mx_cpu_feature)i));
        }
    }
    printf("\n");
#if MX_ARCH_X86_64 && defined(__GNUC__)
    MX_CHECK_I64(mx_cpu_has(MX_CPU_AVX2), __builtin_cpu_supports("avx2") != 0);
    MX_CHECK_I64(mx_cpu_has(MX_CPU_FMA), __builtin_cpu_supports("fma") != 0);
    MX_CHECK_I64(mx_cpu_has(MX_CPU_AVX512F), __builtin_cpu_supports("avx512f") != 0);
    MX_CHECK_I64(mx_cpu_has(MX_CPU_AVX512_VNNI), __builtin_cpu_supports("avx512vnni") != 0);
#endif
    mx_cpu_pause();
}

MX_TEST(a_block_is_zeroed_aligned_and_writable)
{
    const size_t sizes[] = {1, 4097, ((size_t)2 << 20) - 1, (size_t)2 << 20, ((size_t)5 << 20) + 3};
    mx_error err = {0};
    for (size_t i = 0; i < MX_COUNTOF(sizes); i++) {
        mx_block block;
        MX_CHECK_OK(mx_block_alloc(sizes[i], &block, &err), &err);
        MX_CHECK(block.n_bytes >= sizes[i]);
        uint8_t *bytes = block.ptr;
        uint8_t any = 0;
        for (size_t at = 0; at < block.n_bytes; at++) {
            any |= bytes[at];
            bytes[at] = 1;
        }
        MX_CHECK_I64(any, 0);
        MX_CHECK((uintptr_t)block.ptr % 4096 == 0);
        mx_block_free(&block);
        mx_block_free(&block);
    }
    mx_block block;
    MX_CHECK_FAILS(mx_block_alloc(SIZE_MAX - 5, &block, &err), MX_NO_MEMORY, &err, "out of memory");
    MX_CHECK_FAILS(mx_block_alloc((size_t)1 << 62, &block, &err), MX_NO_MEMORY, &err, "out of memory");
}

MX_TEST(the_machine_has_memory)
{
    MX_CHECK(mx_memory_total() > (int64_t)64 << 20);
    MX_CHECK(mx_memory_available() > 0);
    MX_CHECK(mx_memory_available() <= mx_memory_total());
}

MX_TEST(paths_are_joined_and_taken_apart)
{
    mx_arena arena;
    mx_arena_init(&arena, 1 << 16);
    MX_CHECK_CSTR(mx_path_join(&arena, "a", MX_STR("b")), "a/b");
    MX_CHECK_CSTR(mx_path_join(&arena, "a/", MX_STR("b")), "a/b");
    MX_CHECK_CSTR(mx_path_join(&arena, "", MX_STR("b")), "b");
    MX_CHECK_STR(mx_path_base(MX_STR("a/b")), MX_STR("b"));
    MX_CHECK_STR(mx_path_base(MX_STR("a/b//")), MX_STR("b"));
    MX_CHECK_STR(mx_path_base(MX_STR("b")), MX_STR("b"));
    MX_CHECK_STR(mx_path_base(MX_STR("/")), MX_STR("/"));
    MX_CHECK_STR(mx_path_base(MX_STR("")), MX_STR(""));
    MX_CHECK(mx_path_temp_dir(&arena) != NULL);
    mx_arena_deinit(&arena);
}

MX_TEST(the_environment_is_read)
{
    mx_arena arena;
    mx_arena_init(&arena, 1 << 20);
    const char *path = mx_env_get(&arena, "PATH");
    MX_CHECK(path && path[0]);
    MX_CHECK(mx_env_get(&arena, "MLXCEL_NO_SUCH_VARIABLE") == NULL);
    mx_arena_deinit(&arena);
}

MX_TEST(the_command_line_starts_with_this_program)
{
    mx_arena arena;
    mx_error err = {0};
    char *given[] = {(char[]){"machine_test"}, NULL};
    char **argv = given;
    int argc = 1;
    mx_arena_init(&arena, 1 << 20);
    MX_CHECK_OK(mx_args_get(&arena, &argc, &argv, &err), &err);
    MX_CHECK(argc >= 1 && strstr(argv[0], "machine_test") != NULL);
    MX_CHECK(argv[argc] == NULL);
    mx_arena_deinit(&arena);
}

MX_TEST(a_missing_library_is_named)
{
    mx_library library;
    mx_error err = {0};
    MX_CHECK_FAILS(mx_library_open("no_such_library_of_mlxcel.so.1", &library, &err), MX_NOT_FOUND, &err,
                   "no_such_library_of_mlxcel.so.1");
    mx_library_close(&library);
}

MX_TEST(a_library_of_the_system_gives_its_functions)
{
#if defined(_WIN32)
    const char *name = "kernel32.dll";
    const char *function = "GetLastError";
#elif defined(__APPLE__)
    const char *name = "/usr/lib/libSystem.B.dylib";
    const char *function = "strlen";
#else
    const char *name = "libc.so.6";
    const char *function = "strlen";
#endif
    mx_library library;
    mx_error err = {0};
    MX_CHECK_OK(mx_library_open(name, &library, &err), &err);
    MX_CHECK(mx_library_symbol(&library, function) != NULL);
    MX_CHECK(mx_library_symbol(&library, "no_such_function") == NULL);
    mx_library_close(&library);
}

MX_TEST(text_goes_to_standard_output)
{
    mx_error err = {0};
    fflush(stdout);
    MX_CHECK_OK(mx_console_write(MX_STDOUT, MX_STR("  written past stdio: \xC3\xA9\xE6\xA8\xA1\n"), &err), &err);
}

MX_TEST(no_interrupt_is_seen_where_none_came)
{
    mx_signal_install();
    MX_CHECK(!mx_signal_is_interrupted());
    mx_signal_reset();
    MX_CHECK(!mx_signal_is_interrupted());
}

MX_TEST_MAIN(MX_CASE(the_monotonic_clock_does_not_go_back), MX_CASE(local_time_agrees_with_utc_after_its_offset),
             MX_CASE(the_processor_is_described), MX_CASE(a_block_is_zeroed_aligned_and_writable),
             MX_CASE(the_machine_has_memory), MX_CASE(paths_are_joined_and_taken_apart),
             MX_CASE(the_environment_is_read), MX_CASE(the_command_line_starts_with_this_program),
             MX_CASE(a_missing_library_is_named), MX_CASE(a_library_of_the_system_gives_its_functions),
             MX_CASE(text_goes_to_standard_output), MX_CASE(no_interrupt_is_seen_where_none_came))
