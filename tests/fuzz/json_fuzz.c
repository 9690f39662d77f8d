/* json_fuzz.c - any bytes as a JSON document; and any bytes, written as a JSON string, are read back as the same text.
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

static void check_string_survives(mx_str text)
{
    mx_error err;
    mx_json json = {0};
    mx_buf written = {0};
    mx_buf wanted = {0};
    mx_buf_init(&written, 1 << 24);
    mx_buf_init(&wanted, 1 << 24);
    if (mx_json_append_str(&written, text, &err) || mx_utf8_append_lossy(&wanted, text, &err) ||
        mx_json_parse(mx_buf_view(&written), "string", &json, &err) ||
        !mx_str_eq(mx_json_view_str(json.root), mx_buf_view(&wanted))) {
        abort();
    }
    mx_json_close(&json);
    mx_buf_deinit(&written);
    mx_buf_deinit(&wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    const mx_str text = {(const char *)data, n_bytes};
    mx_error err;
    mx_json json;
    if (mx_json_parse(text, "input", &json, &err) == MX_OK) {
        int64_t number = 0;
        mx_str string = {0};
        mx_status st = mx_json_get_i64(json.root, "number", -10, 10, &number, &err);
        if (st == MX_OK && (number < -10 || number > 10)) {
            abort();
        }
        st = mx_json_get_str(json.root, "string", &string, &err);
        if (st == MX_OK && string.len > n_bytes) {
            abort();
        }
        mx_json_close(&json);
    }
    check_string_survives(text);
    return 0;
}
