/* device.cuh - the few instructions that kernels need beyond CUDA C, each under a name.
 *
 * The tests also compile kernels for the processor, to run them where there is no GPU; there the names of this file
 * come from tests/gpu/fake/emulated_device.h.
 *
 * The product of matrices is mma.m16n8k16 on f16 with sums in f32. Lane l of a warp has g = l / 4 and c = l % 4, and holds
 *     a[0] row g, a[1] row g + 8, both k = 2c, 2c+1;  a[2] row g, a[3] row g + 8, both k = 2c+8, 2c+9
 *     b0   column g, k = 2c, 2c+1;  b1  column g, k = 2c+8, 2c+9
 *     c[0], c[1] row g, c[2], c[3] row g + 8, columns 2c and 2c+1
 * A sum over k does not mind the order of k. So a lane takes 8 neighbouring k (16 bytes of f16) as its part of two
 * products: of k-block 32b it takes 8c .. 8c+7, the first four in one product and the rest in the next.
 */
#ifndef MX_CUDA_DEVICE_CUH
#define MX_CUDA_DEVICE_CUH

#include <stdint.h>

#if defined(__CUDACC__)

#define MX_DYNAMIC_SHARED(type, name) extern __shared__ type name[]

__device__ __forceinline__ void mma_f16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* The same without a sum to start from. */
__device__ __forceinline__ void mma_f16_first(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                 : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.0f));
}

/* Pairs of f16 in 32 bits, the lower half first. */
__device__ __forceinline__ uint32_t h2_sub(uint32_t a, uint32_t b)
{
    uint32_t y;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

__device__ __forceinline__ uint32_t h2_fma(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t y;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(c));
    return y;
}

__device__ __forceinline__ uint32_t h2_from_f32(float low, float high)
{
    uint32_t y;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
    return y;
}

__device__ __forceinline__ float h_to_f32(uint16_t bits)
{
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(bits));
    return y;
}

/* Bytes of a (0..3) and b (4..7), chosen by the four nibbles of the selector. */
__device__ __forceinline__ uint32_t bytes_of(uint32_t a, uint32_t b, uint32_t selector)
{
    return __byte_perm(a, b, selector);
}

/* 16 bytes of weights: read once, so they need no place in the first cache. */
__device__ __forceinline__ uint4 load_once(const void *ptr)
{
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(ptr));
    return v;
}

/* Asks for 128 bytes to be brought to the second cache. */
__device__ __forceinline__ void expect_line(const void *ptr)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(ptr));
}

/* Copies 16 bytes to shared memory without waiting; zeros where `is_there` is false. */
__device__ __forceinline__ void copy_async(void *shared, const void *global, bool is_there)
{
    const uint32_t to = (uint32_t)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(is_there ? 16 : 0) : "memory");
}

__device__ __forceinline__ void copy_async_8(void *shared, const void *global)
{
    const uint32_t to = (uint32_t)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(global) : "memory");
}

__device__ __forceinline__ void copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until at most N of the committed groups are still under way. */
template <int N> __device__ __forceinline__ void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/* Programmatic dependent launch (from compute capability 9.0): the next kernel may start its prologue now, and this one
 * may read what earlier kernels wrote only after the wait. */
__device__ __forceinline__ void let_next_start()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ __forceinline__ void wait_for_previous()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The largest of the warp's numbers; of floats without a sign, their bits have the same order. */
__device__ __forceinline__ uint32_t warp_max_bits(uint32_t v)
{
    return __reduce_max_sync(0xffffffffu, v);
}

/* Adds 1 to a counter that blocks share, after this thread's earlier writes, and before its later reads. */
__device__ __forceinline__ uint32_t arrive(uint32_t *counter)
{
    __threadfence();
    const uint32_t before = atomicAdd(counter, 1u);
    __threadfence();
    return before;
}

#endif

#define FULL_WARP 0xffffffffu

/* Activations are read past the first cache, which may hold what was there before. */
__device__ __forceinline__ float load_f32(const float *ptr)
{
    return __ldcg(ptr);
}

__device__ __forceinline__ float warp_sum(float v)
{
    for (int i = 16; i > 0; i /= 2) {
        v += __shfl_xor_sync(FULL_WARP, v, i);
    }
    return v;
}

__device__ __forceinline__ float warp_max(float v)
{
    for (int i = 16; i > 0; i /= 2) {
        v = fmaxf(v, __shfl_xor_sync(FULL_WARP, v, i));
    }
    return v;
}

/* The sum, or the largest, over the block's warps, given to every thread. `shared` has room for 32 floats. */
__device__ __forceinline__ float block_sum(float v, float *shared)
{
    v = warp_sum(v);
    __syncthreads(); /* `shared` may still be read from an earlier call */
    if (threadIdx.x % 32 == 0) {
        shared[threadIdx.x / 32] = v;
    }
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? shared[threadIdx.x % 32] : 0.0f);
}

__device__ __forceinline__ float block_max(float v, float *shared)
{
    v = warp_max(v);
    __syncthreads(); /* as above */
    if (threadIdx.x % 32 == 0) {
        shared[threadIdx.x / 32] = v;
    }
    __syncthreads();
    return warp_max(threadIdx.x % 32 < blockDim.x / 32 ? shared[threadIdx.x % 32] : shared[0]);
}

#endif
