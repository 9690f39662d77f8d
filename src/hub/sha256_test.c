#include "hub/sha256.h"

#include "platform/cpu.h"
#include "tests/test.h"

static void check_digest(const void *bytes, size_t n, const char *wanted)
{
    char hex[65];
    mx_sha256 sha;
    mx_sha256_init(&sha);
    mx_sha256_update(&sha, bytes, n);
    const mx_sha256_digest digest = mx_sha256_end(&sha);
    mx_sha256_to_hex(&digest, hex);
    MX_CHECK_CSTR(hex, wanted);
}

/* The examples of the standard. */
MX_TEST(hashes_the_standards_examples)
{
    static char million[1000000];
    memset(million, 'a', sizeof million);
    check_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_digest(million, sizeof million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

MX_TEST(pieces_give_the_digest_of_the_whole)
{
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 7 + 3);
    }
    for (size_t n = 0; n <= sizeof bytes; n += 13) {
        mx_sha256 whole;
        mx_sha256_init(&whole);
        mx_sha256_update(&whole, bytes, n);
        const mx_sha256_digest wanted = mx_sha256_end(&whole);
        for (size_t cut = 0; cut <= n; cut += 5) {
            mx_sha256 parts;
            mx_sha256_init(&parts);
            mx_sha256_update(&parts, bytes, cut);
            mx_sha256_update(&parts, bytes + cut, n - cut);
            const mx_sha256_digest found = mx_sha256_end(&parts);
            MX_CHECK(memcmp(&found, &wanted, sizeof wanted) == 0);
        }
    }
}

MX_TEST(the_processors_instructions_agree_with_plain_c)
{
    if (!mx_cpu_has(MX_CPU_SHA_NI) && !mx_cpu_has(MX_CPU_NEON_SHA2)) {
        MX_TEST_SKIP("this processor has no instructions for SHA-256");
        return;
    }
    uint8_t blocks[64 * 9];
    uint32_t a[8];
    uint32_t b[8];
    for (size_t i = 0; i < sizeof blocks; i++) {
        blocks[i] = (uint8_t)(i * i * 31 + i);
    }
    for (int i = 0; i < 8; i++) {
        a[i] = b[i] = mx_sha256_k[i + 5];
    }
    mx_sha256_blocks_c(a, blocks, 9);
    mx_sha256_blocks_isa(b, blocks, 9);
    MX_CHECK(memcmp(a, b, sizeof a) == 0);
}

MX_TEST(hexadecimal_digits_are_read_and_nothing_else)
{
    mx_sha256_digest digest;
    char hex[65];
    const char *text = "248D6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
    MX_CHECK(mx_sha256_from_hex(mx_str_from(text), &digest));
    mx_sha256_to_hex(&digest, hex);
    MX_CHECK_CSTR(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    MX_CHECK(!mx_sha256_from_hex((mx_str){text, 63}, &digest));
    MX_CHECK(!mx_sha256_from_hex(MX_STR("g48d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"), &digest));
    MX_CHECK(!mx_sha256_from_hex(MX_STR(""), &digest));
}

MX_TEST_MAIN(MX_CASE(hashes_the_standards_examples), MX_CASE(pieces_give_the_digest_of_the_whole),
             MX_CASE(the_processors_instructions_agree_with_plain_c),
             MX_CASE(hexadecimal_digits_are_read_and_nothing_else))
