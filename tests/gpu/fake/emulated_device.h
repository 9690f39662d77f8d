/* emulated_device.h - what CUDA C and kernels/device.cuh offer, on the processor: one thread of execution a GPU thread.
 *
 * A block's threads are coroutines that take turns at barriers, shuffles and products; blocks run one after the other.
 * Arithmetic is that of the device short of the order inside one product and the last bits of functions.
 */
#ifndef MX_EMULATED_DEVICE_H
#define MX_EMULATED_DEVICE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __shared__      static /* blocks run one after the other */
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

struct uint2 {
    uint32_t x, y;
};
struct uint4 {
    uint32_t x, y, z, w;
};
struct float2 {
    float x, y;
};
struct float4 {
    float x, y, z, w;
};
struct emu_index {
    uint32_t x, y, z;
};

inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return uint4{x, y, z, w};
}

emu_index emu_thread_index();
extern emu_index emu_block_index, emu_block_dim, emu_grid_dim;
extern void *emu_dynamic_shared;
#define threadIdx                     emu_thread_index()
#define blockIdx                      emu_block_index
#define blockDim                      emu_block_dim
#define gridDim                       emu_grid_dim
#define MX_DYNAMIC_SHARED(type, name) type *name = (type *)emu_dynamic_shared

void __syncthreads();
void __syncwarp();

/* Gives every lane of the warp what every other one brought; n_bytes at most 64. `all` points to 32 slots of 64 bytes,
 * valid until emu_warp_done. */
const unsigned char *emu_warp_exchange(const void *mine, unsigned n_bytes);
void emu_warp_done();

template <typename T> inline T __shfl_xor_sync(uint32_t, T v, int mask)
{
    const unsigned char *all = emu_warp_exchange(&v, sizeof v);
    T other;
    memcpy(&other, all + 64 * ((threadIdx.x % 32) ^ mask), sizeof other);
    emu_warp_done();
    return other;
}

template <typename T> inline T __ldg(const T *p)
{
    return *p;
}
template <typename T> inline T __ldcg(const T *p)
{
    return *p;
}
inline uint32_t atomicAdd(uint32_t *p, uint32_t v)
{
    const uint32_t before = *p;
    *p += v;
    return before;
}
inline void atomicMax(uint32_t *p, uint32_t v)
{
    *p = v > *p ? v : *p;
}
inline void __threadfence()
{
}

inline int32_t min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}
inline int32_t max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}
inline float rsqrtf(float v)
{
    return 1.0f / sqrtf(v);
}
inline float __fadd_rn(float a, float b)
{
    return a + b;
}
inline float __fmul_rn(float a, float b)
{
    return a * b;
}
inline float __uint_as_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, 4);
    return v;
}
inline uint32_t __float_as_uint(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

/* The value of each of the 65536 f16. */
extern float emu_halves[1 << 16];
inline float h_to_f32(uint16_t h)
{
    return emu_halves[h];
}
/* Rounded once, to nearest, ties to even. */
inline uint16_t emu_h(double v)
{
    const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
    v = fabs(v);
    if (std::isnan(v)) {
        return 0x7fff;
    }
    int exponent;
    frexp(v, &exponent); /* v = m * 2^exponent, m in [0.5, 1) */
    const int unit = (exponent < -13 ? -13 : exponent) - 11;
    const double steps = v > 70000.0 ? 1e9 : nearbyint(ldexp(v, -unit)); /* ties to even */
    const double rounded = ldexp(steps, unit);
    if (rounded > 65504.0) {
        return sign | 0x7c00;
    }
    if (rounded < ldexp(1, -14)) {
        return sign | (uint16_t)ldexp(rounded, 24);
    }
    frexp(rounded, &exponent);
    return sign | (uint16_t)((exponent + 14) << 10) | (uint16_t)(ldexp(rounded, 11 - exponent) - 1024);
}
inline double emu_low(uint32_t h2)
{
    return h_to_f32((uint16_t)h2);
}
inline double emu_high(uint32_t h2)
{
    return h_to_f32((uint16_t)(h2 >> 16));
}
inline uint32_t emu_h2(double low, double high)
{
    return emu_h(low) | (uint32_t)emu_h(high) << 16;
}
inline uint32_t h2_sub(uint32_t a, uint32_t b)
{
    return emu_h2(emu_low(a) - emu_low(b), emu_high(a) - emu_high(b));
}
inline uint32_t h2_fma(uint32_t a, uint32_t b, uint32_t c)
{
    return emu_h2(emu_low(a) * emu_low(b) + emu_low(c), emu_high(a) * emu_high(b) + emu_high(c));
}
inline uint32_t h2_from_f32(float low, float high)
{
    return emu_h2(low, high);
}
inline uint32_t bytes_of(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t all = a | (uint64_t)b << 32;
    uint32_t y = 0;
    for (int i = 0; i < 4; i++) {
        y |= (uint32_t)(all >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    }
    return y;
}

struct emu_product_side {
    uint32_t a[4];
    uint32_t b[2];
};

inline void mma_f16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    emu_product_side mine = {{a[0], a[1], a[2], a[3]}, {b0, b1}};
    const unsigned char *all = emu_warp_exchange(&mine, sizeof mine);
    const uint32_t lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        const uint32_t row = lane / 4 + 8 * (i / 2);
        const uint32_t col = lane % 4 * 2 + i % 2;
        double sum = c[i];
        for (uint32_t j = 0; j < 4; j++) {
            const emu_product_side *left = (const emu_product_side *)(all + 64 * (row % 8 * 4 + j));
            const emu_product_side *right = (const emu_product_side *)(all + 64 * (col * 4 + j));
            for (uint32_t half = 0; half < 2; half++) {
                const uint32_t x = left->a[row / 8 + 2 * half];
                const uint32_t y = right->b[half];
                sum += emu_low(x) * emu_low(y) + emu_high(x) * emu_high(y);
            }
        }
        c[i] = (float)sum;
    }
    emu_warp_done();
}

inline void mma_f16_first(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    c[0] = c[1] = c[2] = c[3] = 0.0f;
    mma_f16(c, a, b0, b1);
}
inline uint32_t warp_max_bits(uint32_t v)
{
    for (int i = 16; i > 0; i /= 2) {
        const uint32_t other = __shfl_xor_sync(0xffffffffu, v, i);
        v = other > v ? other : v;
    }
    return v;
}
inline uint4 load_once(const void *ptr)
{
    return *(const uint4 *)ptr;
}
inline void copy_async(void *shared, const void *global, bool is_there)
{
    if (is_there) {
        memcpy(shared, global, 16);
    } else {
        memset(shared, 0, 16);
    }
}
inline void copy_async_8(void *shared, const void *global)
{
    memcpy(shared, global, 8);
}
inline void expect_line(const void *)
{
}
inline void copy_commit()
{
}
template <int N> inline void copy_wait()
{
}
inline void let_next_start()
{
}
inline void wait_for_previous()
{
}
inline uint32_t arrive(uint32_t *counter)
{
    return atomicAdd(counter, 1u);
}

#endif
