/* config_reading.h - a config.json in a string, read, for tests of configurations. */
#ifndef MX_TESTS_CONFIG_READING_H
#define MX_TESTS_CONFIG_READING_H

#include "model/config.h"
#include "model/family.h"
#include "tests/test.h"

typedef struct reading {
    mx_arena arena; /* owned */
    mx_model_config config;
    const mx_family *family;
    mx_error err;
    mx_status st;
} reading;

static inline void read_json(reading *r, const char *text)
{
    mx_json json = {0};
    mx_arena_init(&r->arena, 1 << 22);
    r->st = mx_json_parse(mx_str_from(text), "config.json", &json, &r->err);
    if (r->st == MX_OK) {
        r->st = mx_model_config_read(json.root, "config.json", &r->arena, &r->config, &r->family, &r->err);
    }
    mx_json_close(&json); /* the configuration must not point into it */
}

static inline void check_fails(const char *text, mx_status wanted, const char *piece)
{
    reading r = {0};
    read_json(&r, text);
    MX_CHECK_FAILS(r.st, wanted, &r.err, piece);
    mx_arena_deinit(&r.arena);
}

#endif
