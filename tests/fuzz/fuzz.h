/* fuzz.h - what a fuzz target defines: one function, called with each input.
 *
 * A bug shows as a crash, a sanitizer's report or abort(); the return value is always 0. The function frees all that it
 * allocates, and does the same for the same input.
 */
#ifndef MX_TESTS_FUZZ_H
#define MX_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
