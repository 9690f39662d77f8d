/* clock.c - POSIX clocks. */
#include "platform/clock.h"

#include <time.h>

#include "base/compiler.h"

int64_t mx_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t mx_clock_wall_s(void)
{
    return (int64_t)time(NULL);
}

mx_datetime mx_clock_local(int64_t unix_s)
{
    const time_t moment = (time_t)unix_s;
    struct tm tm = {0};
    localtime_r(&moment, &tm);
    return (mx_datetime){
        .year = tm.tm_year + 1900,
        .month = tm.tm_mon + 1,
        .day = tm.tm_mday,
        .hour = tm.tm_hour,
        .minute = tm.tm_min,
        .second = tm.tm_sec,
        .weekday = tm.tm_wday,
        .yearday = tm.tm_yday,
        .utc_offset_s = (int32_t)tm.tm_gmtoff,
    };
}

void mx_clock_sleep_ms(int64_t ms)
{
    ms = MX_MAX(ms, 0);
    const struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (int32_t)(ms % 1000) * 1000000};
    const int unused = nanosleep(&time, NULL);
    (void)unused;
}
