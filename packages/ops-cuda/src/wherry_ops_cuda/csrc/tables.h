// The families, and what the runtime calls of them.
#ifndef WHERRY_CUDA_TABLES_H
#define WHERRY_CUDA_TABLES_H

#include <cuda_runtime_api.h>
#include <wherry/abi.h>

using Family = const wry_kernel_entry *(*)(size_t *);

#define WRY_FAMILIES(each)                                                                                                         \
  each(elementwise) each(arithmetic) each(comparison) each(cast) each(activation) each(creation) each(movement) each(contraction)  \
      each(reduction) each(extreme) each(softmax) each(optimizer) each(convolution) each(pooling) each(random) each(normalization) \
          each(indexing) each(scan) each(ordering) each(loss) each(attention) each(recurrent) each(resampling) each(linalg)        \
              each(sequence) each(spectral) each(detection) each(complex) each(sparse) each(eigen)                                 \
                  each(quantized) each(weight_only)
#define WRY_DECLARE(name) extern "C" const wry_kernel_entry *wry_cuda_##name(size_t *count);
WRY_FAMILIES(WRY_DECLARE)
#undef WRY_DECLARE

namespace wherry {
namespace cuda {

#define WRY_NAME(name) wry_cuda_##name,
static const Family families[] = {WRY_FAMILIES(WRY_NAME)};
#undef WRY_NAME

// What `data` of a call begins with, and the kernel that runs it: errors name the op, and waits after it where that is wanted. (runtime.cc)
struct Row {
  wry_kernel kernel;
  const char *op;
};
int dispatch(const wry_call *call);

// movement.cu
cudaError_t fill_device(void *to, size_t count, const void *item, size_t item_bytes, cudaStream_t stream);
cudaError_t copy_device(const wry_tensor *to, const wry_tensor *from, cudaStream_t stream);
// An empty kernel: does the GPU take this build?
cudaError_t probe();

}  // namespace cuda
}  // namespace wherry

#endif
