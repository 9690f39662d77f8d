/* charsmap.c - decoding the map, and walking its trie with every step checked. */
#include "text/tokenizer/charsmap.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "base/utf8.h"

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Writes the bytes to out (room for 3/4 of the text); false for a character that is none of base64. */
static bool decode_base64(mx_str text, char *out, size_t *n_bytes)
{
    uint32_t bits = 0;
    int n_bits = 0;
    *n_bytes = 0;
    while (text.len && text.ptr[text.len - 1] == '=') {
        text.len--;
    }
    for (size_t i = 0; i < text.len; i++) {
        const int digit = digit_of(text.ptr[i]);
        if (digit < 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)digit;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            out[(*n_bytes)++] = (char)(bits >> n_bits & 0xFF);
        }
    }
    return true;
}

static mx_status parse(mx_charsmap *map, size_t n_bytes, mx_error *err)
{
    const size_t trie_bytes = n_bytes >= 4 ? mx_load_le32(map->data) : 0;
    if (n_bytes < 8 || trie_bytes % 4 != 0 || trie_bytes < 4 || trie_bytes > n_bytes - 4) {
        return mx_fail(err, MX_FORMAT, "the character map has %zu bytes, of which its trie takes %zu", n_bytes,
                       trie_bytes);
    }
    map->n_units = trie_bytes / 4;
    map->strings = (mx_str){map->data + 4 + trie_bytes, n_bytes - 4 - trie_bytes};
    if (!mx_utf8_is_valid(map->strings)) {
        return mx_fail(err, MX_FORMAT, "the strings of the character map are not UTF-8");
    }
    for (char c = 1; c > 0 && c < 127; c++) {
        mx_str replacement;
        map->maps_ascii[(size_t)c] = mx_charsmap_find(map, (mx_str){&c, 1}, &replacement);
    }
    map->maps_ascii[127] = true; /* looked up like the characters beyond */
    return MX_OK;
}

mx_status mx_charsmap_init(mx_charsmap *map, mx_str base64, mx_error *err)
{
    *map = (mx_charsmap){0};
    size_t n_bytes = 0;
    map->data = mx_malloc(base64.len);
    if (!map->data) {
        return mx_fail_no_memory(err, base64.len, "a character map");
    }
    mx_status st = decode_base64(base64, map->data, &n_bytes)
                       ? parse(map, n_bytes, err)
                       : mx_fail(err, MX_FORMAT, "the character map is not base64");
    if (st != MX_OK) {
        mx_charsmap_deinit(map);
    }
    return st;
}

void mx_charsmap_deinit(mx_charsmap *map)
{
    mx_free(map->data);
    *map = (mx_charsmap){0};
}

static uint32_t unit_at(const mx_charsmap *map, size_t i)
{
    return mx_load_le32(map->data + 4 + i * 4);
}

static size_t unit_offset(uint32_t unit)
{
    return (size_t)(unit >> 10) << ((unit & 1u << 9) >> 6);
}

static bool string_at(const mx_charsmap *map, size_t at, mx_str *out)
{
    if (at >= map->strings.len || ((uint8_t)map->strings.ptr[at] & 0xC0) == 0x80) {
        return false;
    }
    const char *start = map->strings.ptr + at;
    const char *end = memchr(start, '\0', map->strings.len - at);
    *out = (mx_str){start, end ? (size_t)(end - start) : map->strings.len - at};
    return true;
}

bool mx_charsmap_find(const mx_charsmap *map, mx_str part, mx_str *replacement)
{
    size_t node = unit_offset(unit_at(map, 0));
    for (size_t i = 0; i < part.len && part.ptr[i] != '\0'; i++) {
        const uint8_t byte = (uint8_t)part.ptr[i];
        node ^= byte;
        if (node >= map->n_units) {
            return false;
        }
        const uint32_t unit = unit_at(map, node);
        if ((unit & 0x800000FFu) != byte) {
            return false;
        }
        node ^= unit_offset(unit);
        if (unit >> 8 & 1) {
            return node < map->n_units && string_at(map, unit_at(map, node) & 0x7FFFFFFFu, replacement);
        }
    }
    return false;
}
