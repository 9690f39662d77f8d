/* rng.h - random numbers by counter: the n-th number of a seed, without state.
 *
 * Philox4x32-10: ten rounds of multiplication and exclusive or turn a counter into 128 random bits under a 64-bit key.
 * A draw depends only on the seed and on how many draws came before, so a request's text does not depend on what else
 * runs, and a GPU can draw the same numbers.
 * Source: Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 */
#ifndef MX_ENGINE_RNG_H
#define MX_ENGINE_RNG_H

#include <stdint.h>

/* out[4] = the 128 bits of `counter` under `key`, both as little-endian words. */
void mx_rng_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* The n-th number of `seed`, uniform in [0, 1), a multiple of 2^-53. */
double mx_rng_uniform(uint64_t seed, uint64_t n);

#endif
