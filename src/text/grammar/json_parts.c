/* json_parts.c - schemas of arrays and objects. */
#include <stdio.h>
#include <string.h>

#include "text/grammar/json_schema_private.h"

enum {
    MAX_PROPERTIES = 2048,
    MAX_NAMES = 64, /* of an object that allows others, too */
    MAX_NAME_BYTES = 48,
};

/* ---- arrays ---- */

/* [a, b, c, more...]: all of prefixItems, then items as far as they may be. */
static mx_status read_tuple(mx_schema_reader *r, yyjson_val *prefix, mx_gnode *item, int32_t least, int32_t most,
                            mx_gnode **out)
{
    const int32_t n_prefix = (int32_t)yyjson_arr_size(prefix);
    mx_gnode *space = mx_gnode_ref(r->b, r->rules.i_space);
    if (most >= 0 && most < n_prefix) {
        return mx_schema_fail(r, MX_UNSUPPORTED, "maxItems", "is not supported below the length of prefixItems");
    }
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "["));
    mx_gnode_add(r->b, *out, space);
    for (int32_t i = 0; i < n_prefix; i++) {
        mx_gnode *one = NULL;
        MX_TRY(mx_schema_read(r, yyjson_arr_get(prefix, (size_t)i), "prefixItems", &one));
        if (i > 0) {
            mx_gnode_add(r->b, *out, mx_gnode_text(r->b, ","));
            mx_gnode_add(r->b, *out, space);
        }
        mx_gnode_add(r->b, *out, one);
    }
    if (item) {
        mx_gnode *more = mx_gnode_list(r->b, MX_GNODE_SEQ);
        mx_gnode_add(r->b, more, mx_gnode_text(r->b, ","));
        mx_gnode_add(r->b, more, space);
        mx_gnode_add(r->b, more, item);
        mx_gnode_add(r->b, *out,
                     mx_gnode_repeat(r->b, more, MX_MAX(least - n_prefix, 0),
                                     most >= 0 ? most - n_prefix : MX_GRAMMAR_NO_LIMIT));
    } else if (least > n_prefix) {
        return mx_schema_fail(r, MX_INVALID, "minItems", "asks for more items than there may be");
    }
    mx_gnode_add(r->b, *out, space);
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "]"));
    return MX_OK;
}

mx_status mx_schema_read_array(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out)
{
    int32_t least = 0;
    int32_t most = MX_GRAMMAR_NO_LIMIT;
    yyjson_val *items = yyjson_obj_get(schema, "items");
    yyjson_val *prefix = yyjson_obj_get(schema, "prefixItems");
    mx_gnode *item = NULL;
    MX_TRY(mx_schema_check_keywords(r, schema, mx_schema_of_array));
    MX_TRY(mx_schema_read_count(r, schema, "minItems", &least));
    MX_TRY(mx_schema_read_count(r, schema, "maxItems", &most));
    if (most >= 0 && most < least) {
        return mx_schema_fail(r, MX_INVALID, "maxItems", "is less than minItems");
    }
    if (items && !yyjson_is_false(items)) {
        MX_TRY(mx_schema_read(r, items, "items", &item));
    } else if (!items && !prefix) {
        item = mx_gnode_ref(r->b, r->rules.i_value);
    }
    if (prefix &&
        !(yyjson_is_arr(prefix) && yyjson_arr_size(prefix) > 0 && yyjson_arr_size(prefix) < MX_SCHEMA_MAX_COUNT)) {
        return mx_schema_fail(r, MX_INVALID, "prefixItems", "must be a list of schemas");
    }
    if (prefix) {
        return read_tuple(r, prefix, item, least, most, out);
    }
    *out = mx_json_list(r->b, &r->rules, "[", item, least, item ? most : 0, "]");
    return item || least == 0 ? MX_OK : mx_schema_fail(r, MX_INVALID, "minItems", "asks for items that may not be");
}

/* ---- objects ---- */

static mx_status check_required(const mx_schema_reader *r, yyjson_val *properties, yyjson_val *required)
{
    size_t i, n;
    yyjson_val *item;
    if (required && !(yyjson_is_arr(required) && yyjson_arr_size(required) <= MAX_PROPERTIES)) {
        return mx_schema_fail(r, MX_INVALID, "required", "must be a list of at most 2048 names");
    }
    yyjson_arr_foreach(required, i, n, item)
    {
        if (!yyjson_is_str(item) || !yyjson_obj_getn(properties, yyjson_get_str(item), yyjson_get_len(item))) {
            return mx_schema_fail(r, MX_UNSUPPORTED, "required", "names a member that is not among the properties");
        }
    }
    return MX_OK;
}

/* "name": value */
static mx_status read_member(mx_schema_reader *r, yyjson_val *key, yyjson_val *schema, mx_gnode **out)
{
    mx_gnode *value = NULL;
    mx_buf name = {.max = (size_t)1 << 20};
    char step[80];
    (void)snprintf(step, sizeof step, "properties/%.60s", yyjson_get_str(key));
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    mx_status st = mx_json_append_str(&name, mx_json_view_str(key), r->err);
    if (st == MX_OK) {
        mx_gnode_add(r->b, *out, mx_gnode_bytes(r->b, mx_buf_view(&name)));
        mx_gnode_add(r->b, *out, mx_gnode_text(r->b, ":"));
        mx_gnode_add(r->b, *out, mx_gnode_ref(r->b, r->rules.i_space));
        st = mx_schema_read(r, schema, step, &value);
        mx_gnode_add(r->b, *out, value);
    }
    mx_buf_deinit(&name);
    return st;
}

/* Members that are not among the properties: NULL where there may be none. */
static mx_status read_others(mx_schema_reader *r, yyjson_val *properties, yyjson_val *additional, mx_gnode **out)
{
    mx_str names[MAX_NAMES];
    int32_t n_names = 0;
    mx_gnode *value = NULL;
    *out = NULL;
    if (!additional || yyjson_is_false(additional)) {
        return MX_OK;
    }
    size_t i, n;
    yyjson_val *key, *schema;
    yyjson_obj_foreach(properties, i, n, key, schema)
    {
        const mx_str name = mx_json_view_str(key);
        bool is_plain = n_names < MAX_NAMES && name.len <= MAX_NAME_BYTES;
        for (size_t j = 0; j < name.len; j++) {
            is_plain =
                is_plain && name.ptr[j] >= 0x20 && name.ptr[j] < 0x7F && name.ptr[j] != '"' && name.ptr[j] != '\\';
        }
        if (!is_plain) {
            return mx_schema_fail(r, MX_UNSUPPORTED, "additionalProperties",
                                  "is not supported beside so many properties, or such names");
        }
        names[n_names++] = name;
    }
    MX_TRY(mx_schema_read(r, additional, "additionalProperties", &value));
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    mx_gnode_add(r->b, *out, mx_json_other_name(r->b, names, n_names));
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, ":"));
    mx_gnode_add(r->b, *out, mx_gnode_ref(r->b, r->rules.i_space));
    mx_gnode_add(r->b, *out, value);
    return MX_OK;
}

/* The members in order, from the last to the first: `first` is what may come where no member has been written yet,
 * `rest` where one has, with the comma before each. Each becomes a rule, so that it is there once. */
static mx_status read_members(mx_schema_reader *r, yyjson_val *properties, yyjson_val *required, mx_gnode *others,
                              mx_gnode **out)
{
    mx_grammar_builder *b = r->b;
    const size_t n_members = yyjson_obj_size(properties);
    size_t i, n;
    yyjson_val *key, *schema;
    if (n_members > MAX_PROPERTIES) {
        return mx_schema_fail(r, MX_INVALID, "properties", "are too many");
    }
    mx_gnode **members = mx_arena_array(&b->arena, mx_gnode *, n_members);
    yyjson_val **keys = mx_arena_array(&b->arena, yyjson_val *, n_members);
    if (!members || !keys) {
        return mx_schema_fail(r, MX_INVALID, "properties", "are too many");
    }
    yyjson_obj_foreach(properties, i, n, key, schema)
    {
        keys[i] = key;
        MX_TRY(read_member(r, key, schema, &members[i]));
    }
    mx_gnode *comma = mx_gnode_list(b, MX_GNODE_SEQ);
    mx_gnode_add(b, comma, mx_gnode_text(b, ","));
    mx_gnode_add(b, comma, mx_gnode_ref(b, r->rules.i_space));
    mx_gnode *rest = mx_gnode_text(b, "");
    mx_gnode *first = mx_gnode_text(b, "");
    if (others) {
        mx_gnode *more = mx_gnode_list(b, MX_GNODE_SEQ);
        mx_gnode_add(b, more, comma);
        mx_gnode_add(b, more, others);
        rest = mx_gnode_repeat(b, more, 0, MX_GRAMMAR_NO_LIMIT);
        mx_gnode *some = mx_gnode_list(b, MX_GNODE_SEQ);
        mx_gnode_add(b, some, others);
        mx_gnode_add(b, some, rest);
        first = mx_gnode_repeat(b, some, 0, 1);
    }
    for (i = n_members; i-- > 0;) {
        const bool is_needed = mx_schema_has_item(required, keys[i]);
        mx_gnode *begun = mx_gnode_list(b, MX_GNODE_SEQ); /* this member as the first one */
        mx_gnode *added = mx_gnode_list(b, MX_GNODE_SEQ); /* this member behind others */
        mx_gnode *rest_rule = mx_gnode_ref(b, mx_grammar_new_rule(b, rest));
        mx_gnode_add(b, begun, members[i]);
        mx_gnode_add(b, begun, rest_rule);
        mx_gnode_add(b, added, comma);
        mx_gnode_add(b, added, members[i]);
        mx_gnode *skipped = mx_gnode_list(b, MX_GNODE_ALT);
        mx_gnode_add(b, skipped, begun);
        mx_gnode_add(b, skipped, is_needed ? NULL : mx_gnode_ref(b, mx_grammar_new_rule(b, first)));
        mx_gnode *next = mx_gnode_list(b, MX_GNODE_SEQ);
        mx_gnode_add(b, next, is_needed ? added : mx_gnode_repeat(b, added, 0, 1));
        mx_gnode_add(b, next, rest_rule);
        first = skipped;
        rest = next;
    }
    *out = first;
    return mx_grammar_builder_status(b, r->err);
}

mx_status mx_schema_read_object(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out)
{
    mx_grammar_builder *b = r->b;
    yyjson_val *properties = yyjson_obj_get(schema, "properties");
    yyjson_val *additional = yyjson_obj_get(schema, "additionalProperties");
    mx_gnode *others = NULL;
    mx_gnode *members = NULL;
    MX_TRY(mx_schema_check_keywords(r, schema, mx_schema_of_object));
    if (properties && !yyjson_is_obj(properties)) {
        return mx_schema_fail(r, MX_INVALID, "properties", "must be an object");
    }
    MX_TRY(check_required(r, properties, yyjson_obj_get(schema, "required")));
    if (!properties && (!additional || yyjson_is_true(additional))) {
        *out = mx_gnode_ref(b, r->rules.i_object);
        return MX_OK;
    }
    MX_TRY(read_others(r, properties, additional, &others));
    MX_TRY(read_members(r, properties, yyjson_obj_get(schema, "required"), others, &members));
    *out = mx_gnode_list(b, MX_GNODE_SEQ);
    mx_gnode_add(b, *out, mx_gnode_text(b, "{"));
    mx_gnode_add(b, *out, mx_gnode_ref(b, r->rules.i_space));
    mx_gnode_add(b, *out, members);
    mx_gnode_add(b, *out, mx_gnode_ref(b, r->rules.i_space));
    mx_gnode_add(b, *out, mx_gnode_text(b, "}"));
    return MX_OK;
}
