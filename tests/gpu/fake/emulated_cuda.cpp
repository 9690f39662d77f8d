/* emulated_cuda.cpp - a libcuda.so.1 that runs our kernels on the processor: the whole back end without a GPU.
 *
 * Loader, executor, launches and kernels are the real ones; the device is emulated_device.h. It is slow (a coroutine a
 * thread) and for correctness only. Streams are in order and immediate; a graph is a list of launches.
 */
#include "tests/gpu/fake/emulated_device.h"

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/cuda_api.h"
#include "backend/cuda/kernels/kernels.cu"

/* The device ---------------------------------------------------------------------------------------------------------- */

emu_index emu_block_index, emu_block_dim, emu_grid_dim;
void *emu_dynamic_shared;
float emu_halves[1 << 16];

namespace {

void fill_halves()
{
    for (int h = 0; h < 1 << 16; h++) {
        const int exponent = h >> 10 & 31;
        const int mantissa = h & 1023;
        const double v = exponent == 31 ? (mantissa ? NAN : INFINITY)
                         : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                        : ldexp(mantissa, -24);
        emu_halves[h] = (float)(h & 0x8000 ? -v : v);
    }
}


enum { STACK_BYTES = 64 << 10, MAX_THREADS = 1024, SHARED_BYTES = 227 << 10 };

struct coroutine {
    ucontext_t context;
    std::vector<char> stack;
    emu_index index;
    bool is_done;
};

struct warp_state {
    unsigned char slots[2][32 * 64];
    int n_arrived;
    int generation;
};

std::vector<std::unique_ptr<coroutine>> threads;
warp_state warps[MAX_THREADS / 32];
coroutine *current;
ucontext_t scheduler;
int n_alive, n_at_barrier, barrier_generation;
void (*running)(void *);
void *running_params;

void yield()
{
    swapcontext(&current->context, &scheduler);
}

void body()
{
    running(running_params);
    current->is_done = true;
    n_alive--;
    if (n_at_barrier == n_alive && n_alive > 0) {
        n_at_barrier = 0;
        barrier_generation++;
    }
    yield();
}

void meet_warp()
{
    warp_state &w = warps[current->index.x / 32];
    const int generation = w.generation;
    if (++w.n_arrived == 32) {
        w.n_arrived = 0;
        w.generation++;
    } else {
        while (w.generation == generation) {
            yield();
        }
    }
}

void run_block(int n_threads)
{
    n_alive = n_threads;
    n_at_barrier = 0;
    memset(warps, 0, sizeof warps);
    memset(emu_dynamic_shared, 0xff, SHARED_BYTES);
    while ((int)threads.size() < n_threads) {
        threads.emplace_back(new coroutine());
        threads.back()->stack.resize(STACK_BYTES);
    }
    for (int i = 0; i < n_threads; i++) {
        coroutine &t = *threads[i];
        t.index = {(uint32_t)i, 0, 0};
        t.is_done = false;
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = t.stack.data();
        t.context.uc_stack.ss_size = STACK_BYTES;
        t.context.uc_link = nullptr;
        makecontext(&t.context, body, 0);
    }
    for (long n_rounds = 0; n_alive > 0; n_rounds++) {
        for (int i = 0; i < n_threads; i++) {
            if (!threads[i]->is_done) {
                current = threads[i].get();
                swapcontext(&scheduler, &current->context);
            }
        }
        if (n_rounds > 100000000) {
            fprintf(stderr, "emulated kernel hangs\n");
            abort();
        }
    }
}

struct kernel_entry {
    const char *name;
    void (*call)(void *);
    size_t n_param_bytes;
};

#define K(name, type) {#name, [](void *p) { name(*(const type *)p); }, sizeof(type)}
const kernel_entry kernels[] = {
    K(tile_range, tile_range_params), K(tile_pack, tile_pack_params), K(linear_input, linear_input_params),
#define FEW(name) K(linear_few_##name, linear_params), K(linear_stage_##name, linear_params)
    FEW(q4_32), FEW(q4_64), FEW(q4_128), FEW(q8_32), FEW(q8_64), FEW(q8_128), FEW(f16),
#define WIDE(name) K(linear_wide_##name, linear_params)
    WIDE(q4_16), WIDE(q4_64), WIDE(q4_128), WIDE(q4_128x2), WIDE(q8_16), WIDE(q8_64),
    WIDE(q8_128), WIDE(q8_128x2), WIDE(f16_16), WIDE(f16_64), WIDE(f16_128), WIDE(f16_128x2),
    K(linear_many_q4_16, linear_params), K(linear_many_q4_64, linear_params), K(linear_many_q4_128, linear_params),
    K(linear_many_q8_16, linear_params), K(linear_many_q8_64, linear_params), K(linear_many_q8_128, linear_params),
    K(linear_many_f16_16, linear_params), K(linear_many_f16_64, linear_params), K(linear_many_f16_128, linear_params),
    K(attention_prepare, attention_prepare_params), K(rope, rope_params),
    K(attention_split_64, attention_params), K(attention_split_128, attention_params),
    K(attention_split_256, attention_params), K(attention_tiles_64, attention_params),
    K(attention_tiles_128, attention_params), K(attention_tiles_256, attention_params),
    K(value_add, value_params), K(value_scale, value_params), K(value_softcap, value_params),
    K(value_clip, value_params), K(multiply, multiply_params), K(xielu, xielu_params), K(scale_chosen, scale_chosen_params),
    K(slice, slice_params), K(concat_rows, row_pair_params), K(match_rms, row_pair_params), K(cutoff, row_pair_params),
    K(mix_streams, streams_params), K(add_streams, streams_params),
    K(value_activation, value_params), K(value_glu, value_params), K(embed, embed_params), K(gather_rows, gather_rows_params),
    K(value_clip, value_params), K(multiply, multiply_params), K(xielu, xielu_params),
    K(add_positions, add_positions_params), K(rmsnorm, rmsnorm_params), K(layernorm, layernorm_params),
    K(route, route_params), K(expert_combine, expert_combine_params),
};

struct launch {
    mx_cu_launch_config config;
    const kernel_entry *kernel;
    std::vector<char> params;
};

void run(const launch &l)
{
    if (!emu_dynamic_shared) {
        emu_dynamic_shared = aligned_alloc(64, SHARED_BYTES);
        fill_halves();
    }
    std::vector<char> params = l.params;
    running = l.kernel->call;
    running_params = params.data();
    emu_block_dim = {l.config.block[0], l.config.block[1], l.config.block[2]};
    emu_grid_dim = {l.config.grid[0], l.config.grid[1], l.config.grid[2]};
    for (uint32_t z = 0; z < l.config.grid[2]; z++) {
        for (uint32_t y = 0; y < l.config.grid[1]; y++) {
            for (uint32_t x = 0; x < l.config.grid[0]; x++) {
                emu_block_index = {x, y, z};
                run_block((int)l.config.block[0]);
            }
        }
    }
}

std::vector<launch> recorded;
bool is_recording;

} // namespace

emu_index emu_thread_index()
{
    return current->index;
}

void __syncthreads()
{
    const int generation = barrier_generation;
    if (++n_at_barrier == n_alive) {
        n_at_barrier = 0;
        barrier_generation++;
    } else {
        while (barrier_generation == generation) {
            yield();
        }
    }
}

void __syncwarp()
{
    meet_warp();
}

const unsigned char *emu_warp_exchange(const void *mine, unsigned n_bytes)
{
    warp_state &w = warps[current->index.x / 32];
    memcpy(w.slots[0] + 64 * (current->index.x % 32), mine, n_bytes);
    meet_warp();
    return w.slots[0];
}

void emu_warp_done()
{
    meet_warp();
}

/* The driver ---------------------------------------------------------------------------------------------------------- */

extern "C" {

mx_cu_result cuInit(uint32_t)
{
    return 0;
}
mx_cu_result cuDriverGetVersion(int32_t *version)
{
    *version = 13000;
    return 0;
}
mx_cu_result cuGetErrorName(mx_cu_result, const char **name)
{
    *name = "CUDA_ERROR_EMULATED";
    return 0;
}
mx_cu_result cuGetErrorString(mx_cu_result, const char **text)
{
    *text = "refused by the emulated device";
    return 0;
}
mx_cu_result cuDeviceGetCount(int32_t *count)
{
    *count = 1;
    return 0;
}
mx_cu_result cuDeviceGet(mx_cu_device *device, int32_t ordinal)
{
    *device = ordinal;
    return ordinal == 0 ? 0 : 101;
}
mx_cu_result cuDeviceGetName(char *name, int32_t size, mx_cu_device)
{
    snprintf(name, (size_t)size, "Emulated GPU");
    return 0;
}
mx_cu_result cuDeviceTotalMem_v2(size_t *n_bytes, mx_cu_device)
{
    *n_bytes = (size_t)4 << 30;
    return 0;
}
mx_cu_result cuDeviceGetAttribute(int32_t *value, int32_t attribute, mx_cu_device)
{
    *value = attribute == MX_CU_ATTRIBUTE_N_SMS          ? 6
             : attribute == MX_CU_ATTRIBUTE_CC_MAJOR     ? 8
             : attribute == MX_CU_ATTRIBUTE_CC_MINOR     ? 0
             : attribute == MX_CU_ATTRIBUTE_SHARED_BYTES ? SHARED_BYTES
                                                         : -1;
    return *value >= 0 ? 0 : 1;
}
mx_cu_result cuDevicePrimaryCtxRetain(mx_cu_context *context, mx_cu_device)
{
    *context = (mx_cu_context)16;
    return 0;
}
mx_cu_result cuDevicePrimaryCtxRelease_v2(mx_cu_device)
{
    return 0;
}
mx_cu_result cuCtxSetCurrent(mx_cu_context context)
{
    return context == (mx_cu_context)16 ? 0 : 201;
}
mx_cu_result cuMemGetInfo_v2(size_t *n_free, size_t *n_total)
{
    *n_free = (size_t)3 << 30;
    *n_total = (size_t)4 << 30;
    return 0;
}
mx_cu_result cuMemAlloc_v2(mx_cu_ptr *ptr, size_t n_bytes)
{
    if (n_bytes > (size_t)3 << 30) {
        return MX_CU_OUT_OF_MEMORY;
    }
    void *p = aligned_alloc(256, (n_bytes + 255) / 256 * 256);
    memset(p, 0xff, n_bytes);
    *ptr = (mx_cu_ptr)(uintptr_t)p;
    return 0;
}
mx_cu_result cuMemFree_v2(mx_cu_ptr ptr)
{
    free((void *)(uintptr_t)ptr);
    return 0;
}
mx_cu_result cuMemHostAlloc(void **ptr, size_t n_bytes, uint32_t)
{
    *ptr = malloc(n_bytes);
    return *ptr ? 0 : 2;
}
mx_cu_result cuMemFreeHost(void *ptr)
{
    free(ptr);
    return 0;
}
mx_cu_result cuMemcpyHtoDAsync_v2(mx_cu_ptr to, const void *from, size_t n_bytes, mx_cu_stream)
{
    memcpy((void *)(uintptr_t)to, from, n_bytes);
    return is_recording ? 900 : 0;
}
mx_cu_result cuMemcpyDtoHAsync_v2(void *to, mx_cu_ptr from, size_t n_bytes, mx_cu_stream)
{
    memcpy(to, (const void *)(uintptr_t)from, n_bytes);
    return is_recording ? 900 : 0;
}
mx_cu_result cuMemsetD8Async(mx_cu_ptr to, uint8_t value, size_t n_bytes, mx_cu_stream)
{
    memset((void *)(uintptr_t)to, value, n_bytes);
    return is_recording ? 900 : 0;
}
mx_cu_result cuModuleLoadData(mx_cu_module *module, const void *image)
{
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    *module = (mx_cu_module)32;
    return magic == 0xba55ed50u ? 0 : 200; /* a fatbin */
}
mx_cu_result cuModuleUnload(mx_cu_module)
{
    return 0;
}
mx_cu_result cuModuleGetFunction(mx_cu_function *function, mx_cu_module, const char *name)
{
    for (const kernel_entry &k : kernels) {
        if (std::string(k.name) == name) {
            *function = (mx_cu_function)&k;
            return 0;
        }
    }
    return 500;
}
mx_cu_result cuFuncSetAttribute(mx_cu_function, int32_t, int32_t value)
{
    return value <= SHARED_BYTES ? 0 : 1;
}
mx_cu_result cuLaunchKernelEx(const mx_cu_launch_config *config, mx_cu_function function, void **params, void **extra)
{
    const kernel_entry *kernel = (const kernel_entry *)function;
    for (int i = 0; i < 3; i++) {
        if (config->grid[i] == 0 || (i > 0 && config->grid[i] > 65535)) {
            return 1;
        }
    }
    if (extra || config->block[0] > MAX_THREADS || config->block[0] % 32 || config->n_shared_bytes > SHARED_BYTES) {
        return 1;
    }
    launch l = {*config, kernel, std::vector<char>((char *)params[0], (char *)params[0] + kernel->n_param_bytes)};
    if (is_recording) {
        recorded.push_back(l);
    } else {
        run(l);
    }
    return 0;
}
mx_cu_result cuStreamCreate(mx_cu_stream *stream, uint32_t)
{
    *stream = (mx_cu_stream)48;
    return 0;
}
mx_cu_result cuStreamDestroy_v2(mx_cu_stream)
{
    return 0;
}
mx_cu_result cuStreamSynchronize(mx_cu_stream)
{
    return is_recording ? 900 : 0;
}
mx_cu_result cuStreamBeginCapture_v2(mx_cu_stream, int32_t)
{
    recorded.clear();
    is_recording = true;
    return 0;
}
mx_cu_result cuStreamEndCapture(mx_cu_stream, mx_cu_graph *graph)
{
    is_recording = false;
    *graph = (mx_cu_graph) new std::vector<launch>(recorded);
    return 0;
}
mx_cu_result cuGraphInstantiateWithFlags(mx_cu_graph_exec *exec, mx_cu_graph graph, uint64_t)
{
    *exec = (mx_cu_graph_exec) new std::vector<launch>(*(std::vector<launch> *)graph);
    return 0;
}
mx_cu_result cuGraphLaunch(mx_cu_graph_exec exec, mx_cu_stream)
{
    for (const launch &l : *(std::vector<launch> *)exec) {
        run(l);
    }
    return 0;
}
mx_cu_result cuGraphExecDestroy(mx_cu_graph_exec exec)
{
    delete (std::vector<launch> *)exec;
    return 0;
}
mx_cu_result cuGraphDestroy(mx_cu_graph graph)
{
    delete (std::vector<launch> *)graph;
    return 0;
}

} // extern "C"
