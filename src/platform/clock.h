/* clock.h - monotonic time for measuring, wall time for people. */
#ifndef MX_PLATFORM_CLOCK_H
#define MX_PLATFORM_CLOCK_H

#include <stdint.h>

/* Nanoseconds from an arbitrary start; never goes back. */
int64_t mx_clock_ns(void);

/* Seconds since 1970-01-01 00:00 UTC. */
int64_t mx_clock_wall_s(void);

/* Sleeps for about this long; less where a signal comes. */
void mx_clock_sleep_ms(int64_t ms);

/* A moment as a calendar and a clock on the wall show it. */
typedef struct mx_datetime {
    int32_t year;         /* 2026 */
    int32_t month;        /* 1..12 */
    int32_t day;          /* 1..31 */
    int32_t hour;         /* 0..23 */
    int32_t minute;       /* 0..59 */
    int32_t second;       /* 0..60 */
    int32_t weekday;      /* 0 Sunday .. 6 Saturday */
    int32_t yearday;      /* 0..365 */
    int32_t utc_offset_s; /* east is positive */
} mx_datetime;

/* unix_s in the machine's time zone (UTC where that is unknown). unix_s must lie in the years 1 to 9999. */
mx_datetime mx_clock_local(int64_t unix_s);

#endif
