#include "engine/memory_need.h"

#include "tests/test.h"

#define GIB ((int64_t)1 << 30)

MX_TEST(what_fits_exactly_fits)
{
    mx_error err;
    const mx_memory_need need = {.n_weight_bytes = 4 * GIB, .n_kv_bytes = GIB, .n_scratch_bytes = GIB, .n_ctx = 4096};
    MX_CHECK_OK(mx_memory_check(&need, 6 * GIB, &err), &err);
    MX_CHECK_OK(mx_memory_check(&need, INT64_MAX, &err), &err);
    MX_CHECK_FAILS(mx_memory_check(&need, 6 * GIB - 1, &err), MX_NO_MEMORY, &err,
                   "needs 6.00 GiB of memory (weights 4.00, context of 4096 tokens 1.00, buffers 1.00) and 6.00");
}

MX_TEST(the_advice_fits_what_is_largest)
{
    mx_error err;
    mx_memory_need need = {.n_weight_bytes = 4 * GIB, .n_kv_bytes = GIB, .n_ctx = 4096};
    MX_CHECK_FAILS(mx_memory_check(&need, GIB, &err), MX_NO_MEMORY, &err, "take a smaller model");
    need.n_kv_bytes = 5 * GIB;
    MX_CHECK_FAILS(mx_memory_check(&need, GIB, &err), MX_NO_MEMORY, &err, "take a smaller context");
}

MX_TEST(sums_beyond_64_bits_do_not_wrap)
{
    mx_error err;
    const mx_memory_need need = {.n_weight_bytes = INT64_MAX, .n_kv_bytes = INT64_MAX, .n_scratch_bytes = 1};
    MX_CHECK_FAILS(mx_memory_check(&need, INT64_MAX - 1, &err), MX_NO_MEMORY, &err, "GiB");
}

MX_TEST_MAIN(MX_CASE(what_fits_exactly_fits), MX_CASE(the_advice_fits_what_is_largest),
             MX_CASE(sums_beyond_64_bits_do_not_wrap))
