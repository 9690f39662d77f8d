#include "engine/rng.h"

#include "tests/test.h"

/* Known answers published with the authors' own implementation (Random123, kat_vectors). */
MX_TEST(philox_gives_the_published_answers)
{
    static const struct {
        uint32_t counter[4], key[2], wanted[4];
    } rows[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < MX_COUNTOF(rows); i++) {
        uint32_t out[4];
        mx_rng_philox4x32(rows[i].counter, rows[i].key, out);
        for (int j = 0; j < 4; j++) {
            MX_CHECK_I64(out[j], rows[i].wanted[j]);
        }
    }
}

MX_TEST(uniform_numbers_fill_the_interval_evenly)
{
    enum { N = 20000 };
    int bins[10] = {0};
    double sum = 0.0;
    for (uint64_t i = 0; i < N; i++) {
        const double u = mx_rng_uniform(7, i);
        MX_CHECK(u >= 0.0 && u < 1.0);
        sum += u;
        bins[(int)(u * 10.0)]++;
    }
    MX_CHECK_NEAR(sum / N, 0.5, 0.01); /* five standard deviations */
    for (int i = 0; i < 10; i++) {
        MX_CHECK_NEAR(bins[i], N / 10.0, 5.0 * sqrt(N * 0.09));
    }
}

MX_TEST(seeds_and_places_give_different_numbers)
{
    MX_CHECK(mx_rng_uniform(1, 0) != mx_rng_uniform(2, 0));
    MX_CHECK(mx_rng_uniform(1, 0) != mx_rng_uniform(1, 1));
    MX_CHECK(mx_rng_uniform(1, 0) != mx_rng_uniform(1ull << 32, 0));
    MX_CHECK(mx_rng_uniform(1, 0) != mx_rng_uniform(1, 1ull << 32));
    MX_CHECK(mx_rng_uniform(9, 5) == mx_rng_uniform(9, 5));
}

MX_TEST_MAIN(MX_CASE(philox_gives_the_published_answers), MX_CASE(uniform_numbers_fill_the_interval_evenly),
             MX_CASE(seeds_and_places_give_different_numbers))
