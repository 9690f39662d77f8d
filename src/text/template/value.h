/* value.h - Python's values as templates meet them.
 *
 * A value is 16 bytes: small ones and the bytes of strings are held directly, the rest are objects in the arena of the
 * render (or, for constants, of the template). Lists, tuples and dicts do not change once they are made, as the sandbox
 * forbids changing them; only namespaces, loops, iterators, cyclers and joiners have state.
 */
#ifndef MX_TEXT_TEMPLATE_VALUE_H
#define MX_TEXT_TEMPLATE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/* kind, Python's name of the type */
#define MX_TPL_KIND_LIST(X)                 \
    X(MISSING, "missing")                   \
    X(UNDEFINED, "Undefined")               \
    X(NONE, "NoneType")                     \
    X(BOOL, "bool")                         \
    X(INT, "int")                           \
    X(BIG, "int")                           \
    X(FLOAT, "float")                       \
    X(STR, "str")                           \
    X(BYTES, "bytes")                       \
    X(LIST, "list")                         \
    X(TUPLE, "tuple")                       \
    X(DICT, "dict")                         \
    X(RANGE, "range")                       \
    X(KEYS, "dict_keys")                    \
    X(VALUES, "dict_values")                \
    X(ITEMS, "dict_items")                  \
    X(SLICE, "slice")                       \
    X(ITER, "generator")                    \
    X(NAMESPACE, "Namespace")               \
    X(MACRO, "Macro")                       \
    X(FUNCTION, "function")                 \
    X(METHOD, "builtin_function_or_method") \
    X(CYCLER, "Cycler")                     \
    X(JOINER, "Joiner")                     \
    X(LOOP, "LoopContext")                  \
    X(SELF, "TemplateReference")            \
    X(BLOCK, "BlockReference")

typedef enum mx_tpl_kind {
#define X(name, text) MX_TPL_##name,
    MX_TPL_KIND_LIST(X)
#undef X
        MX_TPL_KIND_COUNT
} mx_tpl_kind;

/* flags of a STR */
#define MX_TPL_ASCII  1u /* all bytes below 128, so places of characters are places of bytes */
#define MX_TPL_MARKUP 2u /* markupsafe's Markup: what is added to it is escaped */
/* flag of a TUPLE */
#define MX_TPL_GROUP 4u /* made by groupby: has .grouper and .list */

typedef struct mx_tpl_list mx_tpl_list;
typedef struct mx_tpl_dict mx_tpl_dict;
typedef struct mx_tpl_big mx_tpl_big;
typedef struct mx_tpl_range mx_tpl_range;
typedef struct mx_tpl_iter mx_tpl_iter;
typedef struct mx_tpl_undef mx_tpl_undef;
typedef struct mx_tpl_bound mx_tpl_bound;
typedef struct mx_tpl_macro mx_tpl_macro;
typedef struct mx_tpl_loop mx_tpl_loop;
typedef struct mx_tpl_cycler mx_tpl_cycler;
typedef struct mx_tpl_filter mx_tpl_filter;
typedef struct mx_tpl_func mx_tpl_func;
typedef struct mx_tpl_run mx_tpl_run;

typedef struct mx_tpl_value {
    uint8_t kind; /* mx_tpl_kind */
    uint8_t flags;
    uint16_t reserved;
    uint32_t len; /* STR, BYTES: bytes */
    union {
        bool b;
        int64_t i;
        double f;
        const char *s;           /* STR, BYTES; UTF-8, not terminated */
        const mx_tpl_list *list; /* LIST, TUPLE; SLICE: three items */
        mx_tpl_dict *dict;       /* DICT, KEYS, VALUES, ITEMS, NAMESPACE; only a namespace's is changed */
        const mx_tpl_big *big;
        const mx_tpl_range *range;
        mx_tpl_iter *iter;
        const mx_tpl_undef *undef; /* NULL: nothing is known about it */
        const mx_tpl_filter *function;
        const mx_tpl_bound *bound; /* METHOD */
        mx_tpl_macro *macro;
        mx_tpl_loop *loop;
        mx_tpl_cycler *cycler; /* CYCLER, JOINER */
        const mx_tpl_func *block;
    } as;
} mx_tpl_value;
_Static_assert(sizeof(mx_tpl_value) == 16, "values are copied everywhere");

struct mx_tpl_list {
    mx_tpl_value *items;
    size_t n;
};

typedef struct mx_tpl_entry {
    mx_tpl_value key;
    mx_tpl_value value;
    uint64_t hash;
} mx_tpl_entry;

/* Keeps the order of insertion. */
struct mx_tpl_dict {
    mx_tpl_entry *entries;
    uint32_t *index; /* hash table of entry numbers + 1; NULL while the dict is small */
    size_t n;
    size_t cap;
    size_t n_index; /* 0 or a power of two */
};

struct mx_tpl_range {
    int64_t start;
    int64_t stop;
    int64_t step;
    int64_t n;
};

/* Why a value is undefined, for the error when it is used. */
struct mx_tpl_undef {
    mx_str hint;       /* the whole sentence; ptr NULL: made from the rest */
    mx_str name;       /* what was asked for, printed */
    const char *owner; /* type that it was asked of; NULL: a variable */
    bool is_forbidden; /* by the sandbox */
};

/* A method and the value that it belongs to. */
struct mx_tpl_bound {
    const mx_tpl_filter *method;
    mx_tpl_value self;
};

/* An iterator that makes its values as they are asked for. */
struct mx_tpl_iter {
    mx_status (*next)(mx_tpl_run *run, mx_tpl_iter *iter, mx_tpl_value *item, bool *has_item);
    void *state;
    const char *type; /* Python's name of it */
    bool is_done;
};

struct mx_tpl_cycler {
    const mx_tpl_list *items; /* CYCLER; of a JOINER the separator */
    size_t at;                /* JOINER: 1 after the first call */
};

static inline mx_tpl_value mx_tpl_none(void)
{
    return (mx_tpl_value){.kind = MX_TPL_NONE};
}

static inline mx_tpl_value mx_tpl_bool(bool b)
{
    return (mx_tpl_value){.kind = MX_TPL_BOOL, .as.b = b};
}

static inline mx_tpl_value mx_tpl_int(int64_t i)
{
    return (mx_tpl_value){.kind = MX_TPL_INT, .as.i = i};
}

static inline mx_tpl_value mx_tpl_float(double f)
{
    return (mx_tpl_value){.kind = MX_TPL_FLOAT, .as.f = f};
}

static inline mx_tpl_value mx_tpl_undefined(void)
{
    return (mx_tpl_value){.kind = MX_TPL_UNDEFINED};
}

/* A string that borrows s, at most 4 GiB, not ASCII as far as is known. */
static inline mx_tpl_value mx_tpl_str_raw(mx_str s, unsigned flags)
{
    return (mx_tpl_value){.kind = MX_TPL_STR, .flags = (uint8_t)flags, .len = (uint32_t)s.len, .as.s = s.ptr};
}

/* The same, finding out whether it is ASCII. */
mx_tpl_value mx_tpl_str(mx_str s);

#define MX_TPL_LITERAL(text) mx_tpl_str_raw(MX_STR(text), MX_TPL_ASCII)

static inline mx_str mx_tpl_view(mx_tpl_value v)
{
    return (mx_str){v.as.s, v.len};
}

static inline bool mx_tpl_is_str(mx_tpl_value v)
{
    return v.kind == MX_TPL_STR;
}

static inline bool mx_tpl_is_markup(mx_tpl_value v)
{
    return v.kind == MX_TPL_STR && (v.flags & MX_TPL_MARKUP);
}

static inline bool mx_tpl_is_number(mx_tpl_value v)
{
    return v.kind == MX_TPL_BOOL || v.kind == MX_TPL_INT || v.kind == MX_TPL_BIG || v.kind == MX_TPL_FLOAT;
}

/* bool, int or a long int: what Python takes for an index or a count. */
static inline bool mx_tpl_is_integral(mx_tpl_value v)
{
    return v.kind == MX_TPL_BOOL || v.kind == MX_TPL_INT || v.kind == MX_TPL_BIG;
}

static inline bool mx_tpl_is_list(mx_tpl_value v)
{
    return v.kind == MX_TPL_LIST || v.kind == MX_TPL_TUPLE;
}

/* Python's name of the type, for messages. */
const char *mx_tpl_type_name(mx_tpl_value v);

#endif
