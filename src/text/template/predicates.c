/* predicates.c - Jinja's tests: `x is y`. */
#include "text/template/chars.h"
#include "text/template/filters.h"

/* A test that only looks at the kind of value. */
#define KIND_TEST(name, cond)                                                                              \
    static mx_status name(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out) \
    {                                                                                                      \
        (void)run;                                                                                         \
        (void)args;                                                                                        \
        *out = mx_tpl_bool(cond);                                                                          \
        return MX_OK;                                                                                      \
    }

KIND_TEST(test_defined, self.kind != MX_TPL_UNDEFINED)
KIND_TEST(test_undefined, self.kind == MX_TPL_UNDEFINED)
KIND_TEST(test_none, self.kind == MX_TPL_NONE)
KIND_TEST(test_boolean, self.kind == MX_TPL_BOOL)
KIND_TEST(test_true, self.kind == MX_TPL_BOOL && self.as.b)
KIND_TEST(test_false, self.kind == MX_TPL_BOOL && !self.as.b)
KIND_TEST(test_integer, self.kind == MX_TPL_INT || self.kind == MX_TPL_BIG)
KIND_TEST(test_float, self.kind == MX_TPL_FLOAT)
KIND_TEST(test_number, mx_tpl_is_number(self))
KIND_TEST(test_string, mx_tpl_is_str(self))
KIND_TEST(test_mapping, self.kind == MX_TPL_DICT)
KIND_TEST(test_iterable, mx_tpl_is_iterable(self))
KIND_TEST(test_callable, mx_tpl_is_callable(self))
KIND_TEST(test_escaped, mx_tpl_is_markup(self))
KIND_TEST(test_sequence, mx_tpl_is_str(self) || mx_tpl_is_list(self) || self.kind == MX_TPL_BYTES ||
                             self.kind == MX_TPL_DICT || self.kind == MX_TPL_RANGE || self.kind == MX_TPL_UNDEFINED)
KIND_TEST(test_sameas, mx_tpl_same(self, args[0]))

/* Whether a name is in one of the tables. Python looks it up in a dict, so it must be hashable. */
static mx_status is_name(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_filter *(*find)(mx_str), mx_tpl_value *out)
{
    uint64_t hash = 0;
    MX_TRY(mx_tpl_hash(run, self, &hash));
    *out = mx_tpl_bool(mx_tpl_is_str(self) && find(mx_tpl_view(self)));
    return MX_OK;
}

static mx_status test_filter(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    return is_name(run, self, mx_tpl_find_filter, out);
}

static mx_status test_test(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    return is_name(run, self, mx_tpl_find_test, out);
}

/* self % by, compared with `rest` */
static mx_status rest_is(mx_tpl_run *run, mx_tpl_value self, mx_tpl_value by, int64_t rest, mx_tpl_value *out)
{
    mx_tpl_value found;
    bool equal = false;
    MX_TRY(mx_tpl_binary(run, MX_TPL_OP_MOD, self, by, &found));
    MX_TRY(mx_tpl_equal(run, found, mx_tpl_int(rest), &equal));
    *out = mx_tpl_bool(equal);
    return MX_OK;
}

static mx_status test_odd(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    return rest_is(run, self, mx_tpl_int(2), 1, out);
}

static mx_status test_even(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    return rest_is(run, self, mx_tpl_int(2), 0, out);
}

static mx_status test_divisibleby(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    return rest_is(run, self, args[0], 0, out);
}

/* Whether all cased characters are of one case, and there are some. */
static mx_status case_is(mx_tpl_run *run, mx_tpl_value self, bool wants_upper, mx_tpl_value *out)
{
    bool has_cased = false;
    MX_TRY(mx_tpl_to_str(run, self, &self));
    const mx_str s = mx_tpl_view(self);
    MX_TRY(mx_tpl_bytes_walked(run, s.len));
    *out = mx_tpl_bool(false);
    for (size_t at = 0; at < s.len;) {
        const int32_t c = mx_tpl_char_at(s, &at);
        if (mx_tpl_is_title(c) || (wants_upper ? mx_tpl_is_lower(c) : mx_tpl_is_upper(c))) {
            return MX_OK;
        }
        has_cased = has_cased || (wants_upper ? mx_tpl_is_upper(c) : mx_tpl_is_lower(c));
    }
    *out = mx_tpl_bool(has_cased);
    return MX_OK;
}

static mx_status test_lower(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    return case_is(run, self, false, out);
}

static mx_status test_upper(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    return case_is(run, self, true, out);
}

#define COMPARE_TEST(name, op)                                                                             \
    static mx_status name(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out) \
    {                                                                                                      \
        bool fits = false;                                                                                 \
        MX_TRY(mx_tpl_compare(run, (op), self, args[0], &fits));                                           \
        *out = mx_tpl_bool(fits);                                                                          \
        return MX_OK;                                                                                      \
    }

COMPARE_TEST(test_eq, MX_TPL_OP_EQ)
COMPARE_TEST(test_ne, MX_TPL_OP_NE)
COMPARE_TEST(test_lt, MX_TPL_OP_LT)
COMPARE_TEST(test_le, MX_TPL_OP_LE)
COMPARE_TEST(test_gt, MX_TPL_OP_GT)
COMPARE_TEST(test_ge, MX_TPL_OP_GE)
COMPARE_TEST(test_in, MX_TPL_OP_IN)

static const mx_tpl_filter rows[] = {
    {"defined", test_defined, NULL, 0, NULL},
    {"undefined", test_undefined, NULL, 0, NULL},
    {"none", test_none, NULL, 0, NULL},
    {"boolean", test_boolean, NULL, 0, NULL},
    {"true", test_true, NULL, 0, NULL},
    {"false", test_false, NULL, 0, NULL},
    {"integer", test_integer, NULL, 0, NULL},
    {"float", test_float, NULL, 0, NULL},
    {"number", test_number, NULL, 0, NULL},
    {"string", test_string, NULL, 0, NULL},
    {"mapping", test_mapping, NULL, 0, NULL},
    {"iterable", test_iterable, NULL, 0, NULL},
    {"sequence", test_sequence, NULL, 0, NULL},
    {"callable", test_callable, NULL, 0, NULL},
    {"escaped", test_escaped, NULL, 0, NULL},
    {"sameas", test_sameas, "other", 1, NULL},
    {"filter", test_filter, NULL, 0, NULL},
    {"test", test_test, NULL, 0, NULL},
    {"odd", test_odd, NULL, 0, NULL},
    {"even", test_even, NULL, 0, NULL},
    {"divisibleby", test_divisibleby, "num", 1, NULL},
    {"lower", test_lower, NULL, 0, NULL},
    {"upper", test_upper, NULL, 0, NULL},
    {"in", test_in, "seq", 1, NULL},
    {"==", test_eq, "_", 1, NULL},
    {"eq", test_eq, "_", 1, NULL},
    {"equalto", test_eq, "_", 1, NULL},
    {"!=", test_ne, "_", 1, NULL},
    {"ne", test_ne, "_", 1, NULL},
    {"<", test_lt, "_", 1, NULL},
    {"lt", test_lt, "_", 1, NULL},
    {"lessthan", test_lt, "_", 1, NULL},
    {"<=", test_le, "_", 1, NULL},
    {"le", test_le, "_", 1, NULL},
    {">", test_gt, "_", 1, NULL},
    {"gt", test_gt, "_", 1, NULL},
    {"greaterthan", test_gt, "_", 1, NULL},
    {">=", test_ge, "_", 1, NULL},
    {"ge", test_ge, "_", 1, NULL},
};

const mx_tpl_filter *mx_tpl_find_test(mx_str name)
{
    return mx_tpl_find_row(rows, MX_COUNTOF(rows), name);
}
