/* number_text.c - numbers as text: printing as Python's repr, reading as Python's int() and float(). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "text/template/bigint.h"
#include "text/template/chars.h"
#include "text/template/run.h"

/* Adds one to the last digit of "d.ddde-xx"; false where that would need another digit. */
static bool next_decimal(char *text)
{
    for (char *at = strchr(text, 'e') - 1; at >= text; at--) {
        if (*at == '.') {
            continue;
        }
        if (*at != '9') {
            ++*at;
            return true;
        }
        *at = '0';
    }
    return false;
}

/* C libraries do not agree on how to round a number that lies exactly between two decimals: Python takes the even one.
 * text has `precision` digits of d; it is replaced where d is such a number and the even neighbour reads back as d. */
static void settle_tie(double d, int precision, char text[40])
{
    char exact[80];
    char even[40];
    snprintf(exact, sizeof exact, "%.60e", d);
    const size_t half = (size_t)precision + 1; /* the digit behind those shown; one place is the point's */
    const char *zeros = exact + half + 1;
    if (precision < 2 || exact[half] != '5' || strspn(zeros, "0") != (size_t)(strchr(exact, 'e') - zeros)) {
        return;
    }
    snprintf(even, sizeof even, "%.*s%s", (int)half, exact, strchr(exact, 'e'));
    const bool is_odd = (even[half - 1] - '0') % 2 != 0;
    if ((!is_odd || next_decimal(even)) && strtod(even, NULL) == d) {
        memcpy(text, even, sizeof even);
    }
}

/* Digits and decimal exponent of the shortest decimal number that reads back as d (finite, above 0), the nearest to d
 * where there are several. value = 0.digits * 10^exponent. */
static size_t shortest_digits(double d, char digits[24], int *exponent)
{
    char text[40];
    /* 15 digits always survive a round trip, so a shorter number shows as one with zeros behind, except where doubles
     * have fewer digits themselves. */
    int precision = d < 2.2250738585072014e-308 ? 1 : 15;
    for (; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, d);
        if (strtod(text, NULL) == d) {
            break;
        }
        /* At a power of two doubles are closer below than above: the next number above may be as short and read back.
         */
        int binary = 0;
        if (precision == 16 && frexp(d, &binary) == 0.5 && next_decimal(text) && strtod(text, NULL) == d) {
            break;
        }
    }
    if (precision > 15) {
        settle_tie(d, MX_MIN(precision, 17), text);
    }
    size_t n = 0;
    const char *at = text;
    for (; *at != 'e'; at++) {
        if (*at != '.') {
            digits[n++] = *at;
        }
    }
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    *exponent = atoi(at + 1) + 1;
    return n;
}

static size_t print_scientific(const char *digits, size_t n, int exponent, char *out)
{
    size_t len = 0;
    out[len++] = digits[0];
    if (n > 1) {
        out[len++] = '.';
        memcpy(out + len, digits + 1, n - 1);
        len += n - 1;
    }
    return len + (size_t)snprintf(out + len, 8, "e%+03d", exponent - 1);
}

/* repr of a float: plain from 1e-4 up to 1e16, else with an exponent. */
size_t mx_tpl_print_float(double d, char out[40])
{
    if (isnan(d)) {
        memcpy(out, "nan", 3);
        return 3;
    }
    size_t len = 0;
    if (signbit(d)) {
        out[len++] = '-';
        d = -d;
    }
    if (isinf(d)) {
        memcpy(out + len, "inf", 3);
        return len + 3;
    }
    char digits[24] = "0";
    int exponent = 1;
    const size_t n = d > 0 ? shortest_digits(d, digits, &exponent) : 1;
    if (exponent < -3 || exponent > 16) {
        return len + print_scientific(digits, n, exponent, out + len);
    }
    if (exponent <= 0) {
        memcpy(out + len, "0.", 2);
        len += 2;
        memset(out + len, '0', (size_t)-exponent);
        len += (size_t)-exponent;
        memcpy(out + len, digits, n);
        return len + n;
    }
    const size_t n_whole = (size_t)exponent;
    for (size_t i = 0; i < n_whole; i++) {
        out[len++] = i < n ? digits[i] : '0';
    }
    out[len++] = '.';
    if (n <= n_whole) {
        out[len++] = '0';
        return len;
    }
    memcpy(out + len, digits + n_whole, n - n_whole);
    return len + n - n_whole;
}

mx_status mx_tpl_put_float(mx_tpl_run *run, double d)
{
    char text[40];
    return mx_tpl_put(run, (mx_str){text, mx_tpl_print_float(d, text)});
}

mx_status mx_tpl_put_int(mx_tpl_run *run, mx_tpl_value v)
{
    if (v.kind == MX_TPL_BIG) {
        return mx_tpl_put_big(run, v.as.big);
    }
    char text[24];
    const int n = snprintf(text, sizeof text, "%" PRId64, v.kind == MX_TPL_BOOL ? (int64_t)v.as.b : v.as.i);
    return mx_tpl_put(run, (mx_str){text, (size_t)n});
}

/* Copies text to `to` (text.len + 1 bytes) with the digits of all scripts made ASCII and white space at the ends
 * dropped; false where other characters beyond ASCII remain. */
static bool plain_digits(mx_str text, char *to, size_t *n)
{
    *n = 0;
    text = mx_tpl_trim(text, true, true);
    for (size_t at = 0; at < text.len;) {
        const int32_t c = mx_tpl_char_at(text, &at);
        const int digit = mx_tpl_decimal_value(c);
        if (c >= 128 && digit < 0) {
            return false;
        }
        to[(*n)++] = digit >= 0 ? (char)('0' + digit) : (char)c;
    }
    to[*n] = '\0';
    return true;
}

static int digit_of(char c)
{
    const char lower = (char)(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

/* Drops single underscores between digits; false where one stands elsewhere. */
static bool drop_underscores(char *s, size_t *n, int base)
{
    size_t to = 0;
    for (size_t i = 0; i < *n; i++) {
        if (s[i] != '_') {
            s[to++] = s[i];
        } else if (i == 0 || i + 1 >= *n || digit_of(s[i - 1]) >= base || digit_of(s[i + 1]) >= base) {
            return false;
        }
    }
    *n = to;
    return true;
}

static mx_status digits_to_int(mx_tpl_run *run, mx_str digits, int base, bool is_negative, mx_tpl_value *out, bool *ok)
{
    mx_tpl_value sum = mx_tpl_int(0);
    for (size_t i = 0; i < digits.len; i++) {
        const int digit = digit_of(digits.ptr[i]);
        if (digit >= base) {
            return MX_OK;
        }
    }
    if (base == 10 && digits.len > 18) {
        if (digits.len > MX_TPL_BIG_MAX_DIGITS) {
            return MX_OK; /* Python: ValueError */
        }
        MX_TRY(mx_tpl_big_from_digits(run, digits, &sum));
    } else {
        for (size_t i = 0; i < digits.len; i++) {
            MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MUL, sum, mx_tpl_int(base), &sum));
            MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_ADD, sum, mx_tpl_int(digit_of(digits.ptr[i])), &sum));
        }
    }
    *ok = true;
    return is_negative ? mx_tpl_arithmetic(run, MX_TPL_OP_SUB, mx_tpl_int(0), sum, out) : (*out = sum, MX_OK);
}

/* Takes "0x", "0o" or "0b" away where the base allows it and makes base 0 definite; false for base 0 with a leading 0.
 */
static bool take_prefix(mx_str *s, int *base)
{
    const char letter = s->len > 1 && s->ptr[0] == '0' ? (char)(s->ptr[1] | 0x20) : '\0';
    const int prefix_base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (prefix_base && (*base == 0 || *base == prefix_base)) {
        *base = prefix_base;
        *s = mx_str_slice(*s, 2, s->len);
        if (s->len > 1 && s->ptr[0] == '_') {
            *s = mx_str_slice(*s, 1, s->len);
        }
        return true;
    }
    if (*base == 0) {
        *base = 10;
        for (size_t i = 0; s->len && s->ptr[0] == '0' && i < s->len; i++) {
            if (s->ptr[i] != '0' && s->ptr[i] != '_') {
                return false;
            }
        }
    }
    return true;
}

mx_status mx_tpl_parse_int(mx_tpl_run *run, mx_str text, int64_t base, mx_tpl_value *out, bool *ok)
{
    *ok = false;
    char *s = NULL;
    size_t n = 0;
    MX_TRY(mx_tpl_alloc(run, text.len + 1, 1, &s));
    if (!plain_digits(text, s, &n) || (base != 0 && (base < 2 || base > 36))) {
        return MX_OK;
    }
    int b = (int)base;
    const bool has_sign = n && (s[0] == '-' || s[0] == '+');
    const bool is_negative = n && s[0] == '-';
    mx_str digits = {s + has_sign, n - has_sign};
    if (!take_prefix(&digits, &b)) {
        return MX_OK;
    }
    char *first = s + (digits.ptr - s);
    size_t n_digits = digits.len;
    if (!drop_underscores(first, &n_digits, b) || n_digits == 0) {
        return MX_OK;
    }
    return digits_to_int(run, (mx_str){first, n_digits}, b, is_negative, out, ok);
}

static bool is_word(const char *s, size_t n, const char *word)
{
    if (strlen(word) != n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if ((char)(s[i] | 0x20) != word[i]) {
            return false;
        }
    }
    return true;
}

/* digits [. digits] [e [sign] digits], at least one digit before the exponent */
static bool is_decimal_float(const char *s, size_t n)
{
    size_t i = 0;
    size_t n_digits = 0;
    for (; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
        n_digits++;
    }
    if (i < n && s[i] == '.') {
        for (i++; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
            n_digits++;
        }
    }
    if (n_digits == 0) {
        return false;
    }
    if (i < n && (s[i] == 'e' || s[i] == 'E')) {
        i++;
        i += i < n && (s[i] == '+' || s[i] == '-');
        const size_t exponent = i;
        for (; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
        }
        return i == n && i > exponent;
    }
    return i == n;
}

bool mx_tpl_parse_float(mx_str text, double *out)
{
    char s[512];
    size_t n = 0;
    text = mx_tpl_trim(text, true, true);
    if (text.len >= sizeof s || !plain_digits(text, s, &n) || !drop_underscores(s, &n, 10)) {
        return false;
    }
    s[n] = '\0';
    const size_t sign = n && (s[0] == '-' || s[0] == '+');
    const char *digits = s + sign;
    const size_t n_digits = n - sign;
    if (is_word(digits, n_digits, "inf") || is_word(digits, n_digits, "infinity")) {
        *out = s[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    if (is_word(digits, n_digits, "nan")) {
        *out = (double)NAN;
        return true;
    }
    if (!is_decimal_float(digits, n_digits)) {
        return false;
    }
    *out = strtod(s, NULL);
    return true;
}
