// Page-locked memory of the host, as the device "gpu_pinned": tensors that a GPU copies from by itself.
#ifndef WHERRY_CUDA_PINNED_H
#define WHERRY_CUDA_PINNED_H

#include <cuda_runtime_api.h>
#include <wherry/device.h>

namespace wherry {
namespace cuda {

wry_device pinned_device();
// Is this a fork of the process that uses the GPUs? Then `error`, unless null, says that nothing works here. (runtime.cc)
bool in_fork(char *error);
bool is_pinned(const void *data);
// A copy out of a block was put on a stream: the block is given to nobody else before the stream has passed it.
cudaError_t pinned_read_by(const void *data, int number, cudaStream_t stream);

}  // namespace cuda
}  // namespace wherry

#endif
