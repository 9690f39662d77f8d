/* Wanted values are those of transformers 5.24.0, modeling_rope_utils.py, which computes them in float32: 1e-6 of each.
 */
#include "model/rope_scaling.h"

#include "tests/test.h"

#define N_MAX 8 /* head_dim 16 */

static void check_table(const mx_rope_config *rope, int32_t n_ctx, int32_t max_n_ctx, const float *wanted, int32_t n,
                        float wanted_factor)
{
    float inv_freq[N_MAX] = {0};
    float factor = 0;
    MX_CHECK_I64(mx_rope_rot_dim(rope), 2 * n);
    mx_rope_table(rope, n_ctx, max_n_ctx, inv_freq, &factor);
    for (int32_t i = 0; i < n; i++) {
        MX_CHECK_NEAR(inv_freq[i], wanted[i], 1e-6 * (double)wanted[i]);
    }
    MX_CHECK_NEAR(factor, wanted_factor, 1e-6);
}

MX_TEST(linear_scaling_slows_every_column)
{
    static const float wanted[] = {0.25f,          0.079056941f,    0.0250000004f,   0.00790569466f,
                                   0.00249999994f, 0.000790569466f, 0.000250000012f, 7.90569466e-05f};
    const mx_rope_config rope = {
        .kind = MX_ROPE_LINEAR, .theta = 1e4, .head_dim = 16, .partial_factor = 1, .factor = 4};
    check_table(&rope, 4096, 4096, wanted, 8, 1.0f);
    MX_CHECK_I64(mx_rope_max_ctx(&rope, 4096), 16384);
}

MX_TEST(dynamic_scaling_goes_by_the_context_that_the_model_is_opened_with)
{
    static const float plain[] = {1.0f,           0.316227764f,   0.100000001f,   0.0316227786f,
                                  0.00999999978f, 0.00316227786f, 0.00100000005f, 0.000316227786f};
    static const float scaled[] = {1.0f,           0.240649298f,    0.0579120778f,   0.013936501f,
                                   0.00335380924f, 0.000807091768f, 0.000194226057f, 4.67403661e-05f};
    const mx_rope_config rope = {
        .kind = MX_ROPE_DYNAMIC, .theta = 1e4, .head_dim = 16, .partial_factor = 1, .factor = 4};
    check_table(&rope, 100, 4096, plain, 8, 1.0f);
    check_table(&rope, 4096, 4096, plain, 8, 1.0f);
    check_table(&rope, 10000, 4096, scaled, 8, 1.0f);
}

MX_TEST(yarn_leaves_fast_columns_and_slows_slow_ones)
{
    static const float wanted[] = {
        1.0f,           0.133370951f, 0.0158113893f, 0.00140585331f, 0.000250000012f, 4.44569851e-05f, 7.90569356e-06f,
        1.40585337e-06f};
    const mx_rope_config rope = {.kind = MX_ROPE_YARN,
                                 .theta = 1e6,
                                 .head_dim = 16,
                                 .partial_factor = 1,
                                 .factor = 4,
                                 .original_n_ctx = 1024,
                                 .beta_fast = 32,
                                 .beta_slow = 1,
                                 .truncate = true};
    check_table(&rope, 4096, 4096, wanted, 8, 1.13862944f);
    MX_CHECK_I64(mx_rope_max_ctx(&rope, 1024), 4096);
}

MX_TEST(yarn_takes_scales_and_a_ramp_between_columns)
{
    static const float wanted[] = {1.0f,           0.316227764f,    0.100000001f,    0.0316227786f,
                                   0.00579010462f, 0.000123952457f, 2.49999994e-05f, 7.90569447e-06f};
    const mx_rope_config rope = {.kind = MX_ROPE_YARN,
                                 .theta = 1e4,
                                 .head_dim = 16,
                                 .partial_factor = 1,
                                 .factor = 40,
                                 .original_n_ctx = 4096,
                                 .beta_fast = 16,
                                 .beta_slow = 2,
                                 .mscale = 0.707,
                                 .mscale_all_dim = 1};
    check_table(&rope, 4096, 4096, wanted, 8, 0.921042355f);
}

MX_TEST(llama3_scaling_is_by_wavelength)
{
    static const float wanted[] = {
        1.0f,           0.193922758f, 0.0376060307f, 0.00729266508f, 0.000429556705f, 8.57025589e-06f, 1.66196742e-06f,
        3.22293289e-07f};
    const mx_rope_config rope = {.kind = MX_ROPE_LLAMA3,
                                 .theta = 5e5,
                                 .head_dim = 16,
                                 .partial_factor = 1,
                                 .factor = 32,
                                 .original_n_ctx = 8192,
                                 .low_freq_factor = 1,
                                 .high_freq_factor = 4};
    check_table(&rope, 4096, 131072, wanted, 8, 1.0f);
    MX_CHECK_I64(mx_rope_max_ctx(&rope, 131072), 131072);
}

MX_TEST(longrope_picks_its_factors_by_the_context_that_the_model_is_opened_with)
{
    static const double short_factors[] = {1.0, 1.02, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5};
    static const double long_factors[] = {1.1, 1.5, 2.0, 4.0, 8.0, 16.0, 30.0, 60.0};
    static const float by_short[] = {1.0f,           0.310027212f,   0.095238097f,    0.0287479796f,
                                     0.00833333284f, 0.00243252143f, 0.000714285707f, 0.000210818514f};
    static const float by_long[] = {0.909090877f,   0.210818499f,    0.0500000007f,   0.00790569466f,
                                    0.00124999997f, 0.000197642366f, 3.33333337e-05f, 5.27046268e-06f};
    const mx_rope_config rope = {.kind = MX_ROPE_LONGROPE,
                                 .theta = 1e4,
                                 .head_dim = 16,
                                 .partial_factor = 1,
                                 .factor = 32,
                                 .original_n_ctx = 4096,
                                 .short_factors = short_factors,
                                 .long_factors = long_factors};
    check_table(&rope, 4096, 131072, by_short, 8, 1.19023807f);
    check_table(&rope, 4097, 131072, by_long, 8, 1.19023807f);
}

MX_TEST(a_share_of_the_columns_may_rotate)
{
    static const float wanted[] = {1.0f, 0.100000001f, 0.00999999978f, 0.00100000005f};
    const mx_rope_config rope = {.kind = MX_ROPE_DEFAULT, .theta = 1e4, .head_dim = 16, .partial_factor = 0.5};
    check_table(&rope, 4096, 4096, wanted, 4, 1.0f);
}

MX_TEST_MAIN(MX_CASE(linear_scaling_slows_every_column),
             MX_CASE(dynamic_scaling_goes_by_the_context_that_the_model_is_opened_with),
             MX_CASE(yarn_leaves_fast_columns_and_slows_slow_ones),
             MX_CASE(yarn_takes_scales_and_a_ramp_between_columns), MX_CASE(llama3_scaling_is_by_wavelength),
             MX_CASE(longrope_picks_its_factors_by_the_context_that_the_model_is_opened_with),
             MX_CASE(a_share_of_the_columns_may_rotate))
