/* strftime.c - dates for strftime_now, in English whatever the user's locale: prompts must not change with it. */
#include "text/template/strftime.h"

#include <stdio.h>

static const char *const weekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};

/* Days of the Gregorian calendar before the first of January of a year. */
static int64_t days_before_year(int64_t year)
{
    const int64_t y = year - 1;
    return y * 365 + y / 4 - y / 100 + y / 400;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Day of the year, from 0. */
static int day_of_year(const mx_template_clock *t)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    return before[(uint32_t)(t->month - 1) % 12] + t->day - 1 + (t->month > 2 && is_leap(t->year));
}

/* 0 is Sunday. */
static int weekday(const mx_template_clock *t)
{
    return (int)((days_before_year(t->year) + day_of_year(t) + 1) % 7);
}

/* Year and week of ISO 8601: weeks begin on Monday, and the first has the year's first Thursday. */
static int iso_week(const mx_template_clock *t, int *year)
{
    const int monday_based = (weekday(t) + 6) % 7;
    const int week = (day_of_year(t) - monday_based + 10) / 7;
    *year = t->year;
    if (week < 1) {
        const mx_template_clock last = {t->year - 1, 12, 31, 0, 0, 0};
        return iso_week(&last, year);
    }
    const mx_template_clock next = {t->year + 1, 1, 1, 0, 0, 0};
    const bool is_next = week == 53 && (weekday(&next) + 6) % 7 <= 3;
    *year = t->year + is_next;
    return is_next ? 1 : week;
}

static mx_status put_number(mx_tpl_run *run, const char *fmt, int64_t value)
{
    char text[32];
    const int n = snprintf(text, sizeof text, fmt, (int)value);
    return mx_tpl_put(run, (mx_str){text, (size_t)n});
}

static mx_status put_text(mx_tpl_run *run, const char *text, size_t max_len)
{
    return mx_tpl_put(run, mx_str_slice(mx_str_from(text), 0, max_len));
}

/* Seconds since 1970, the clock taken for UTC. */
static int64_t epoch(const mx_template_clock *t)
{
    return ((days_before_year(t->year) + day_of_year(t) - days_before_year(1970)) * 24 + t->hour) * 3600 +
           (int64_t)t->minute * 60 + t->second;
}

/* A directive; `pad` is '-' where %-d asks for no padding. Unknown ones are printed as they are. */
static mx_status put_directive(mx_tpl_run *run, const mx_template_clock *t, char directive, char pad)
{
    const char *two = pad == '-' ? "%d" : pad == '_' ? "%2d" : "%02d";
    const char *two_blank = pad == '-' ? "%d" : pad == '0' ? "%02d" : "%2d";
    const int hour12 = t->hour % 12 == 0 ? 12 : t->hour % 12;
    int iso_year = 0;
    char text[32];
    switch (directive) {
    case 'a': return put_text(run, weekdays[weekday(t)], 3);
    case 'A': return put_text(run, weekdays[weekday(t)], SIZE_MAX);
    case 'b':
    case 'h': return put_text(run, months[(uint32_t)(t->month - 1) % 12], 3);
    case 'B': return put_text(run, months[(uint32_t)(t->month - 1) % 12], SIZE_MAX);
    case 'c': return mx_tpl_put_time(run, t, MX_STR("%a %b %e %H:%M:%S %Y"));
    case 'C': return put_number(run, two, t->year / 100);
    case 'd': return put_number(run, two, t->day);
    case 'D':
    case 'x': return mx_tpl_put_time(run, t, MX_STR("%m/%d/%y"));
    case 'e': return put_number(run, two_blank, t->day);
    case 'F': return mx_tpl_put_time(run, t, MX_STR("%Y-%m-%d"));
    case 'g': (void)iso_week(t, &iso_year); return put_number(run, two, iso_year % 100);
    case 'G': (void)iso_week(t, &iso_year); return put_number(run, "%d", iso_year);
    case 'H': return put_number(run, two, t->hour);
    case 'I': return put_number(run, two, hour12);
    case 'j': return put_number(run, pad == '-' ? "%d" : "%03d", day_of_year(t) + 1);
    case 'k': return put_number(run, two_blank, t->hour);
    case 'l': return put_number(run, two_blank, hour12);
    case 'm': return put_number(run, two, t->month);
    case 'M': return put_number(run, two, t->minute);
    case 'n': return mx_tpl_put_char(run, '\n');
    case 'p': return mx_tpl_put(run, t->hour < 12 ? MX_STR("AM") : MX_STR("PM"));
    case 'P': return mx_tpl_put(run, t->hour < 12 ? MX_STR("am") : MX_STR("pm"));
    case 'r': return mx_tpl_put_time(run, t, MX_STR("%I:%M:%S %p"));
    case 'R': return mx_tpl_put_time(run, t, MX_STR("%H:%M"));
    case 's': return mx_tpl_put(run, (mx_str){text, (size_t)snprintf(text, sizeof text, "%lld", (long long)epoch(t))});
    case 'S': return put_number(run, two, t->second);
    case 't': return mx_tpl_put_char(run, '\t');
    case 'T':
    case 'X': return mx_tpl_put_time(run, t, MX_STR("%H:%M:%S"));
    case 'u': return put_number(run, "%d", weekday(t) == 0 ? 7 : weekday(t));
    case 'U': return put_number(run, two, (day_of_year(t) + 7 - weekday(t)) / 7);
    case 'V': return put_number(run, two, iso_week(t, &iso_year));
    case 'w': return put_number(run, "%d", weekday(t));
    case 'W': return put_number(run, two, (day_of_year(t) + 7 - (weekday(t) + 6) % 7) / 7);
    case 'y': return put_number(run, two, t->year % 100);
    case 'Y': return put_number(run, "%d", t->year);
    case 'z':
    case 'Z': return MX_OK; /* a time without a zone */
    case '%': return mx_tpl_put_char(run, '%');
    default:
        MX_TRY(mx_tpl_put_char(run, '%'));
        MX_TRY(pad ? mx_tpl_put_char(run, pad) : MX_OK);
        return mx_tpl_put_char(run, directive);
    }
}

mx_status mx_tpl_put_time(mx_tpl_run *run, const mx_template_clock *time, mx_str format)
{
    for (size_t i = 0; i < format.len; i++) {
        if (format.ptr[i] != '%' || i + 1 == format.len) {
            MX_TRY(mx_tpl_put_char(run, format.ptr[i]));
            continue;
        }
        char pad = '\0';
        i++;
        if (format.ptr[i] == 'f') {
            MX_TRY(mx_tpl_put(run, MX_STR("000000"))); /* microseconds; Python's own, so without padding */
            continue;
        }
        if (i + 1 < format.len && strchr("-_0", format.ptr[i])) {
            pad = format.ptr[i++];
        }
        MX_TRY(put_directive(run, time, format.ptr[i], pad));
    }
    return MX_OK;
}
