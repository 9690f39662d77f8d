/* fields.h - tables of numbers and switches that are read from a JSON object into a struct.
 *
 * config.c has the table of the fields that all families share; a family adds rows for what it alone has, into the
 * shared configuration or into a struct of its own (family.h).
 */
#ifndef MX_MODEL_FIELDS_H
#define MX_MODEL_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"

typedef enum mx_field_type {
    MX_FIELD_I32, /* whole numbers, from min to max; or a list with one for each layer, all the same */
    MX_FIELD_I64,
    MX_FIELD_F64,         /* finite, from min to max */
    MX_FIELD_F64_ABOVE,   /* finite, above min and at most max */
    MX_FIELD_F64_OR_NULL, /* the same, and null is 0: absent is the default, null says that there is none */
    MX_FIELD_BOOL,
} mx_field_type;

typedef struct mx_field {
    const char *key; /* NULL ends a table */
    mx_field_type type;
    size_t offset; /* of the member in the struct */
    int64_t min;
    int64_t max;
} mx_field;

/* One row: MX_FIELD(mx_model_config, I32, n_layers, "num_hidden_layers", 1, 1024). */
#define MX_FIELD(struct_, type_, member_, key_, min_, max_)                  \
    {                                                                        \
        (key_), MX_FIELD_##type_, offsetof(struct_, member_), (min_), (max_) \
    }
#define MX_FIELD_END                 \
    {                                \
        NULL, MX_FIELD_BOOL, 0, 0, 0 \
    }

/* Reads every row that the object has; absent ones leave the member as it is, and so do those
 * that are null but of MX_FIELD_F64_OR_NULL. Of two rows for one member, the
 * later wins. MX_FORMAT naming the key. */
mx_status mx_fields_read(yyjson_val *obj, const mx_field *table, void *out, mx_error *err) MX_NODISCARD;

#endif
