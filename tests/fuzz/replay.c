/* replay.c - runs a fuzz target as an ordinary test: every seed, cut-off and damaged copies of it, and no input at all.
 *
 * The damage is made by a fixed generator, so two runs do the same. A target reports by crashing, as under libFuzzer:
 * the case that was running is then the last line printed.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define REPLAY_MAX_BYTES       (1u << 20)
#define REPLAY_COPIES_PER_SEED 64

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Hands the target a heap copy of exactly n_bytes, so that a sanitizer sees the first byte read past its end. */
static int run_copy(const uint8_t *data, size_t n_bytes)
{
    uint8_t *copy = calloc(n_bytes ? n_bytes : 1, 1);
    if (!copy) {
        return 1;
    }
    if (n_bytes) {
        memcpy(copy, data, n_bytes);
    }
    LLVMFuzzerTestOneInput(copy, n_bytes);
    free(copy);
    return 0;
}

static int run_seed(const char *path, uint8_t *data)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("%s: cannot be opened\n", path);
        return 1;
    }
    const size_t n_bytes = fread(data, 1, REPLAY_MAX_BYTES, file);
    fclose(file);

    int n_bad = run_copy(data, n_bytes);
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < REPLAY_COPIES_PER_SEED && n_bytes > 0; i++) {
        const size_t at = (size_t)(next_random(&random) % n_bytes);
        const uint8_t kept = data[at];
        data[at] = (uint8_t)next_random(&random);
        n_bad += run_copy(data, n_bytes);
        data[at] = kept;
        n_bad += run_copy(data, at);
    }
    return n_bad;
}

int main(int argc, char **argv)
{
    int n_passed = 0;
    int n_failed = 0;
    uint8_t *data = calloc(REPLAY_MAX_BYTES, 1);
    if (!data) {
        printf("0 passed, 1 failed\n");
        return 1;
    }
    if (run_copy(data, 0) == 0) {
        n_passed++;
    } else {
        n_failed++;
    }
    for (int i = 1; i < argc; i++) {
        printf("%s\n", argv[i]);
        fflush(stdout);
        if (run_seed(argv[i], data) == 0) {
            n_passed++;
        } else {
            n_failed++;
        }
    }
    free(data);
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed == 0 ? 0 : 1;
}
