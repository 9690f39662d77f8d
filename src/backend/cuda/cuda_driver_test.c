/* cuda_driver_test.c - everything that can be wrong with a driver, by means of a fake one (tests/gpu/fake). */
#include <stdlib.h>

#include "backend/cuda/cuda_driver.h"
#include "backend/cuda/cuda_image.h"
#include "tests/test.h"

/* Opens the fake driver in the given mode; *driver is the caller's. */
static mx_status open_fake(const char *mode, mx_cuda_driver *driver, mx_error *err)
{
    mx_library library = {0};
    MX_TRY(mx_library_open(MX_FAKE_CUDA, &library, err));
    int (*set)(const char *) = (int (*)(const char *))mx_library_symbol(&library, "fake_cuda_set");
    MX_CHECK(set && set(mode));
    const mx_status st = mx_cuda_driver_open(MX_FAKE_CUDA, driver, err);
    mx_library_close(&library);
    return st;
}

static void check_problem(const char *mode, mx_cuda_problem problem, const char *piece)
{
    mx_cuda_driver driver;
    mx_error err = {0};
    MX_CHECK_FAILS(open_fake(mode, &driver, &err), MX_DEVICE, &err, piece);
    MX_CHECK_CSTR(mx_cuda_problem_name(driver.problem), mx_cuda_problem_name(problem));
    MX_CHECK(strstr(err.message, mx_cuda_problem_advice(problem)));
    MX_CHECK(strstr(driver.sentence, piece));
    mx_cuda_driver_close(&driver);
}

static void set_visible_devices(const char *assignment)
{
#if defined(_WIN32)
    MX_CHECK(_putenv(assignment) == 0);
#else
    static char kept[64]; /* the environment keeps the string itself */
    snprintf(kept, sizeof kept, "%s", assignment);
    MX_CHECK(putenv(kept) == 0);
#endif
}

MX_TEST(a_usable_gpu_is_described)
{
    mx_cuda_driver driver;
    mx_error err = {0};
    const mx_status st = open_fake("two", &driver, &err);
    MX_CHECK(mx_cuda_image_get() ? st == MX_OK : driver.problem == MX_CUDA_NOT_BUILT);
    MX_CHECK_I64(driver.version, 13000);
    MX_CHECK_I64(driver.n_devices, 2);
    MX_CHECK_CSTR(driver.devices[0].name, "Fake H200");
    MX_CHECK_I64(driver.devices[0].cc_major, 9);
    MX_CHECK_I64(driver.devices[0].n_sms, 132);
    MX_CHECK_I64(driver.devices[0].n_bytes, (int64_t)140 << 30);
    MX_CHECK(driver.devices[0].problem == MX_CUDA_NONE);
    MX_CHECK(driver.devices[1].problem == MX_CUDA_DEVICE_TOO_OLD);
    mx_cuda_driver_close(&driver);
}

MX_TEST(a_build_without_kernels_says_so_and_still_names_the_gpu)
{
    if (mx_cuda_image_get()) {
        MX_TEST_SKIP("this build has GPU kernels");
        return;
    }
    check_problem("h200", MX_CUDA_NOT_BUILT, "\"Fake H200\" is there");
    mx_cuda_driver driver;
    mx_error err = {0};
    MX_CHECK_FAILS(mx_cuda_driver_open(NULL, &driver, &err), MX_DEVICE, &err, "GPU kernels");
    MX_CHECK(driver.problem == MX_CUDA_NOT_BUILT); /* whether the machine has a driver or not */
    mx_cuda_driver_close(&driver);
}

MX_TEST(a_machine_without_the_driver_is_told_apart)
{
    mx_cuda_driver driver;
    mx_error err = {0};
    MX_CHECK_FAILS(mx_cuda_driver_open("/nowhere/libcuda.so.1", &driver, &err), MX_DEVICE, &err,
                   "install NVIDIA's display driver");
    MX_CHECK(driver.problem == MX_CUDA_NO_LIBRARY);
    MX_CHECK(strstr(driver.sentence, "/nowhere/libcuda.so.1"));
    mx_cuda_driver_close(&driver);
}

MX_TEST(a_library_that_lacks_a_function_is_named_with_the_function)
{
    mx_cuda_driver driver;
    mx_error err = {0};
    MX_CHECK_FAILS(mx_cuda_driver_open(MX_FAKE_CUDA_OLD, &driver, &err), MX_DEVICE, &err,
                   "no function cuLaunchKernelEx");
    MX_CHECK(driver.problem == MX_CUDA_LIBRARY_TOO_OLD);
    mx_cuda_driver_close(&driver);
}

MX_TEST(an_old_driver_is_named_with_both_versions)
{
    check_problem("old_driver", MX_CUDA_DRIVER_TOO_OLD, "supports CUDA 11.8");
}

MX_TEST(a_driver_without_gpus_is_told_apart_from_one_whose_gpus_are_hidden)
{
    set_visible_devices("CUDA_VISIBLE_DEVICES=");
#if !defined(_WIN32)
    unsetenv("CUDA_VISIBLE_DEVICES");
#endif
    check_problem("none", MX_CUDA_NO_DEVICE, "finds no GPU");
    check_problem("empty", MX_CUDA_NO_DEVICE, "finds no GPU");
    set_visible_devices("CUDA_VISIBLE_DEVICES=7");
    check_problem("none", MX_CUDA_HIDDEN, "CUDA_VISIBLE_DEVICES is set to \"7\"");
}

MX_TEST(a_driver_that_does_not_start_is_named_with_its_reason)
{
    check_problem("mismatch", MX_CUDA_INIT_FAILED, "restart the machine");
    check_problem("mismatch", MX_CUDA_INIT_FAILED, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
    check_problem("unknown", MX_CUDA_INIT_FAILED, "error 999");
}

MX_TEST(a_gpu_before_ampere_is_named_with_its_capability)
{
    check_problem("v100", MX_CUDA_DEVICE_TOO_OLD, "compute capability 7.0");
}

MX_TEST(a_slice_of_a_gpu_is_recognised)
{
    mx_cuda_driver driver;
    mx_error err = {0};
    const mx_status st = open_fake("mig", &driver, &err);
    MX_CHECK(mx_cuda_image_get() ? st == MX_OK : driver.problem == MX_CUDA_NOT_BUILT);
    MX_CHECK(driver.devices[0].is_mig);
    mx_cuda_driver_close(&driver);
}

MX_TEST(a_failed_call_is_reported_with_the_drivers_words)
{
    mx_cuda_driver driver;
    mx_error err = {0};
    (void)open_fake("h200", &driver, &err);
    MX_CHECK_FAILS(mx_cuda_check(&driver, MX_CU_NO_DEVICE, "doing a thing", &err), MX_DEVICE, &err,
                   "doing a thing: CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)");
    MX_CHECK_FAILS(mx_cuda_check(&driver, MX_CU_OUT_OF_MEMORY, "taking memory", &err), MX_NO_MEMORY, &err,
                   "taking memory");
    mx_cuda_driver_close(&driver);
}

MX_TEST_MAIN(MX_CASE(a_usable_gpu_is_described), MX_CASE(a_build_without_kernels_says_so_and_still_names_the_gpu),
             MX_CASE(a_machine_without_the_driver_is_told_apart),
             MX_CASE(a_library_that_lacks_a_function_is_named_with_the_function),
             MX_CASE(an_old_driver_is_named_with_both_versions),
             MX_CASE(a_driver_without_gpus_is_told_apart_from_one_whose_gpus_are_hidden),
             MX_CASE(a_driver_that_does_not_start_is_named_with_its_reason),
             MX_CASE(a_gpu_before_ampere_is_named_with_its_capability), MX_CASE(a_slice_of_a_gpu_is_recognised),
             MX_CASE(a_failed_call_is_reported_with_the_drivers_words))
