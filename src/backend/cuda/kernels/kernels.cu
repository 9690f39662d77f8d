/* kernels.cu - every kernel, compiled as one: the compiler starts once a GPU generation, and there is one module to
 * load. */
#include "backend/cuda/kernels/attention.cu"
#include "backend/cuda/kernels/attention_prepare.cu"
#include "backend/cuda/kernels/linear_few.cu"
#include "backend/cuda/kernels/linear_input.cu"
#include "backend/cuda/kernels/linear_many.cu"
#include "backend/cuda/kernels/linear_wide.cu"
#include "backend/cuda/kernels/streams.cu"
#include "backend/cuda/kernels/tiles.cu"
#include "backend/cuda/kernels/values.cu"
