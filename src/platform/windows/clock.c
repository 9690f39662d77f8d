/* clock.c - the performance counter for measuring, system time for people. */
#include "platform/clock.h"

#include <stdbool.h>
#include <windows.h>

#include "base/compiler.h"

#define TICKS_PER_S    INT64_C(10000000) /* a FILETIME counts 100 ns */
#define S_1601_TO_1970 INT64_C(11644473600)

int64_t mx_clock_ns(void)
{
    LARGE_INTEGER frequency;
    LARGE_INTEGER counter;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&counter);
    const int64_t whole = counter.QuadPart / frequency.QuadPart;
    const int64_t rest = counter.QuadPart % frequency.QuadPart;
    return whole * 1000000000 + rest * 1000000000 / frequency.QuadPart;
}

static int64_t ticks_of(const FILETIME *time)
{
    return (int64_t)((uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime);
}

int64_t mx_clock_wall_s(void)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    return ticks_of(&now) / TICKS_PER_S - S_1601_TO_1970;
}

mx_datetime mx_clock_local(int64_t unix_s)
{
    static const int16_t days_before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    const int64_t ticks = (unix_s + S_1601_TO_1970) * TICKS_PER_S;
    const FILETIME utc_time = {.dwLowDateTime = (DWORD)ticks, .dwHighDateTime = (DWORD)(ticks >> 32)};
    SYSTEMTIME utc = {0};
    SYSTEMTIME local = {0};
    FILETIME local_time = utc_time;
    FileTimeToSystemTime(&utc_time, &utc);
    if (!SystemTimeToTzSpecificLocalTime(NULL, &utc, &local)) {
        local = utc;
    }
    SystemTimeToFileTime(&local, &local_time);
    const bool is_leap = (local.wYear % 4 == 0 && local.wYear % 100 != 0) || local.wYear % 400 == 0;
    return (mx_datetime){
        .year = local.wYear,
        .month = local.wMonth,
        .day = local.wDay,
        .hour = local.wHour,
        .minute = local.wMinute,
        .second = local.wSecond,
        .weekday = local.wDayOfWeek,
        .yearday = days_before[(local.wMonth + 11) % 12] + (is_leap && local.wMonth > 2) + local.wDay - 1,
        .utc_offset_s = (int32_t)(ticks_of(&local_time) / TICKS_PER_S - S_1601_TO_1970 - unix_s),
    };
}

void mx_clock_sleep_ms(int64_t ms)
{
    Sleep((DWORD)MX_MAX(MX_MIN(ms, INT32_MAX), 0));
}
