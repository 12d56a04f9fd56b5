// What differs between the host and CUDA: qualifiers, indices of threads, launching, and work that threads do together.
//
// A program that includes cuda_emulator/kernel.h of wherry-cuda-emulator first is compiled as for CUDA, and runs without a GPU.
//
// On the host a block has one thread. `threadIdx`, `blockIdx`, `blockDim` and `gridDim` are variables of the calling thread
// there, which `Launch` sets; a kernel that is called as a function is the only block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#if defined(__CUDACC__) || defined(CUDA_EMULATOR)
#define WHERRY_KPS_CUDA 1
#endif

#if defined(__CUDACC__)

#include <cuda_runtime.h>

#elif !defined(CUDA_EMULATOR)

#ifndef __global__
#define __global__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __host__
#define __host__
#endif
#ifndef __forceinline__
#define __forceinline__ inline
#endif

namespace paddle {
namespace operators {
namespace kernel_primitives {
namespace details {

struct HostIndex {
  unsigned int x, y, z;
};

}  // namespace details
}  // namespace kernel_primitives
}  // namespace operators
}  // namespace paddle

inline thread_local paddle::operators::kernel_primitives::details::HostIndex threadIdx{0, 0, 0}, blockIdx{0, 0, 0},
    blockDim{1, 1, 1}, gridDim{1, 1, 1};

#endif

#ifndef HOSTDEVICE
#define HOSTDEVICE __host__ __device__
#endif
#ifndef DEVICE
#define DEVICE __device__
#endif
#ifndef HOST
#define HOST __host__
#endif

#ifdef WHERRY_KPS_CUDA
#define WHERRY_KPS_FUNCTION __device__ __forceinline__
#else
#define WHERRY_KPS_FUNCTION inline
#endif

namespace paddle {
namespace operators {
namespace kernel_primitives {

#ifdef WHERRY_KPS_CUDA

using Dim3 = ::dim3;
using Stream = cudaStream_t;

// How many threads a block is to have where `wanted` would be good.
inline int ThreadsPerBlock(int wanted) { return wanted; }

// Run `kernel` in every thread of every block; `stream` nullptr is the default one. A launch that CUDA refuses throws.
template <typename... Parameters, typename... Arguments>
void Launch(Dim3 grid, Dim3 block, Stream stream, void (*kernel)(Parameters...), Arguments &&...arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
#ifdef __CUDACC__
  kernel<<<grid, block, 0, stream>>>(static_cast<Parameters>(arguments)...);
  const cudaError_t status = cudaGetLastError();
#else
  const cudaError_t status = wry_launch(kernel, grid, block, 0, stream, static_cast<Parameters>(arguments)...);
#endif
  if (status != cudaSuccess)
    throw std::runtime_error(std::string("kps::Launch: CUDA did not start the kernel: ") + cudaGetErrorString(status));
}

#else

struct Dim3 {
  unsigned int x, y, z;
  constexpr Dim3(unsigned int columns = 1, unsigned int rows = 1, unsigned int layers = 1) : x(columns), y(rows), z(layers) {}  // NOLINT: a number is a line of blocks
};
using Stream = void *;

// How many threads a block is to have where `wanted` would be good.
inline int ThreadsPerBlock(int) { return 1; }

// Run `kernel` in every block, one after the other.
template <typename... Parameters, typename... Arguments>
void Launch(Dim3 grid, Dim3 block, Stream, void (*kernel)(Parameters...), Arguments &&...arguments) {
  if (block.x != 1 || block.y != 1 || block.z != 1)
    throw std::invalid_argument("kps::Launch: on the host a block has one thread. Got " + std::to_string(block.x) + " x " +
                                std::to_string(block.y) + " x " + std::to_string(block.z) +
                                ", expected 1 x 1 x 1. Ask kps::ThreadsPerBlock for the size of a block.");
  struct Restore {  // a kernel may throw, and may be launched by another one
    details::HostIndex block = blockIdx, grid = gridDim;
    ~Restore() { blockIdx = block, gridDim = grid; }
  } restore;
  gridDim = {grid.x, grid.y, grid.z};
  for (unsigned int z = 0; z < grid.z; ++z)
    for (unsigned int y = 0; y < grid.y; ++y)
      for (unsigned int x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        kernel(static_cast<Parameters>(arguments)...);
      }
}

#endif

namespace details {

// An integer was divided by 0: on the host an exception, on a GPU the end of the kernel, which the next call into CUDA reports.
HOSTDEVICE inline void DivisionByZero() {
#if defined(__CUDA_ARCH__) || defined(CUDA_EMULATOR)
  __trap();
#else
  throw std::domain_error("kps: an integer was divided by 0. Init the registers with 1 before a block that is not full is read.");
#endif
}

// Copy N neighbouring values, as one access where the address allows it.
template <typename T, int N>
WHERRY_KPS_FUNCTION void CopyNeighbours(T *to, const T *from) {
#ifdef WHERRY_KPS_CUDA
  constexpr int kVector = N % 4 == 0 && sizeof(T) <= 4 ? 4 : N % 2 == 0 && sizeof(T) <= 8 ? 2
                                                                                          : 1;
  struct alignas(sizeof(T) * kVector) Vector {
    T value[kVector];
  };
  const bool load = reinterpret_cast<uintptr_t>(from) % alignof(Vector) == 0;
  const bool store = reinterpret_cast<uintptr_t>(to) % alignof(Vector) == 0;
  if (kVector > 1 && (load || store)) {
#pragma unroll
    for (int i = 0; i < N; i += kVector) {
      Vector part;
      if (load) {
        part = *reinterpret_cast<const Vector *>(from + i);
      } else {
        for (int k = 0; k < kVector; ++k) part.value[k] = from[i + k];
      }
      if (store) {
        *reinterpret_cast<Vector *>(to + i) = part;
      } else {
        for (int k = 0; k < kVector; ++k) to[i + k] = part.value[k];
      }
    }
    return;
  }
#endif
  for (int i = 0; i < N; ++i) to[i] = from[i];
}

// The reduction of `value` over the threads of a row (`along_x`) or of a column of the block; every thread gets it.
template <typename T, typename Reducer>
WHERRY_KPS_FUNCTION T ReduceThreads(T value, Reducer reducer, bool along_x) {
#ifdef WHERRY_KPS_CUDA
  // A block has at most 1024 threads.
#ifdef __CUDACC__
  __shared__ alignas(alignof(T)) unsigned char memory[1024 * sizeof(T)];
  T *shared = reinterpret_cast<T *>(memory);
#else
  WRY_SHARED(T, shared, 1024);
#endif
  const int mine = threadIdx.y * blockDim.x + threadIdx.x, step = along_x ? 1 : blockDim.x;
  const int place = along_x ? threadIdx.x : threadIdx.y, count = along_x ? blockDim.x : blockDim.y;
  shared[mine] = value;
  __syncthreads();
  int half = 1;
  while (half < count) half *= 2;
  for (half /= 2; half > 0; half /= 2) {
    if (place < half && place + half < count) shared[mine] = reducer(shared[mine], shared[mine + half * step]);
    __syncthreads();
  }
  const T total = shared[mine - place * step];
  __syncthreads();  // the memory may be used again at once
  return total;
#else
  static_cast<void>(reducer);
  if ((along_x ? blockDim.x : blockDim.y) != 1)
    throw std::logic_error("kps::Reduce: on the host a block has one thread. Got more in blockDim, expected 1.");
  return value;
#endif
}

}  // namespace details
}  // namespace kernel_primitives
}  // namespace operators
}  // namespace paddle
