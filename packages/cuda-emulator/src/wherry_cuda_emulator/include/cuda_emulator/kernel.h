// What every .cu file starts from: the same text is compiled by nvcc for a GPU, and by g++ for the emulator.
//
//   __global__, __device__, threadIdx, __syncthreads, __shfl_*_sync, atomicAdd ...   as in CUDA
//   WRY_SHARED(float, part, 32)           instead of  __shared__ float part[32]
//   WRY_DYNAMIC_SHARED(float, row)        instead of  extern __shared__ float row[]
//   wry_launch(kernel, grid, block, shared_bytes, stream, arguments...)   instead of  kernel<<<...>>>(arguments...)
//   wry_most_blocks(65535)                for the size of a grid whose kernel goes on by itself (i += gridDim.x * blockDim.x): as many blocks as
//                                         named, and in a test that asks for it (CUDA_EMULATOR_BLOCKS=2) fewer, so that it has to go on
//
// Arguments are converted to the kernel's parameter types at the launch.
#ifndef CUDA_EMULATOR_KERNEL_H
#define CUDA_EMULATOR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#if defined(__CUDACC__)

#define WRY_SHARED(type, name, count) __shared__ type name[count]
#define WRY_DYNAMIC_SHARED(type, name)                                \
  extern __shared__ __align__(16) unsigned char wry_dynamic_shared[]; \
  type *name = reinterpret_cast<type *>(wry_dynamic_shared)

template <typename... P, typename... A>
cudaError_t wry_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream, A... arguments) {
  kernel<<<grid, block, shared, stream>>>(static_cast<P>(arguments)...);
  return cudaGetLastError();
}
constexpr int64_t wry_most_blocks(int64_t most) { return most; }

#else
#include "cuda_emulator/device.h"
#endif

#endif  // CUDA_EMULATOR_KERNEL_H
