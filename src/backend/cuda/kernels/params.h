/* params.h - what the parameters of kernels are made of, for nvcc (as C++) and for the host (as C).
 *
 * A kernel takes one struct of fixed-width fields, laid out alike everywhere: pointers come first, then 32-bit fields,
 * an even number of them. The host writes a device address where the kernel sees a pointer.
 */
#ifndef MX_CUDA_PARAMS_H
#define MX_CUDA_PARAMS_H

#include <stdint.h>

#if defined(__cplusplus)
#define MX_DEVPTR(type)         type *
#define MX_PARAMS_SIZE(type, n) static_assert(sizeof(type) == (n), "host and device must agree")
#else
#define MX_DEVPTR(type)         uint64_t
#define MX_PARAMS_SIZE(type, n) _Static_assert(sizeof(type) == (n), "host and device must agree")
#endif

/* The step, in device memory: what a graph of launches must not have in it. */
typedef struct step_header {
    int32_t n_tokens;
    int32_t n_seqs;
    int32_t n_samples;
    int32_t n_page_cols;
} step_header;

/* mx_activation; ACT_NONE where there is none */
enum { ACT_SILU, ACT_GELU, ACT_GELU_TANH, ACT_GELU_QUICK, ACT_RELU, ACT_RELU2, ACT_SIGMOID, ACT_SWIGLU_OAI, ACT_NONE };
enum { SCORE_SOFTMAX, SCORE_SIGMOID, SCORE_SPARSEMIXER }; /* mx_route_score */

#define PAGE_TOKENS 32 /* MX_PAGE_TOKENS */

#endif
