// What every family of kernels starts from: types, attributes, views, errors, rows of tables.
//
// The same files are compiled by nvcc for a GPU and by g++ for the emulator (cuda_emulator/kernel.h). `shape`, `strides`
// and attributes of a call are the host's memory: what a kernel needs of them is copied into structs that it takes by value.
#ifndef WHERRY_CUDA_COMMON_H
#define WHERRY_CUDA_COMMON_H

#include <string.h>
#include <wherry/abi.h>

#include <algorithm>

#include "values.h"

#include <wherry/kernels/call.h>

namespace wherry {
namespace cuda {

inline cudaStream_t stream(const wry_call *call) { return static_cast<cudaStream_t>(call->context->stream); }

// ---- errors ---------------------------------------------------------------------------------------

// Of a launch or a function of the runtime; names the op and its shapes (runtime.cc).
int check(const wry_call *call, cudaError_t error);
#define WRY_TRY(expression)                                         \
  do {                                                              \
    const int wry_status = ::wherry::cuda::check(call, expression); \
    if (wry_status != WRY_OK) return wry_status;                    \
  } while (false)

// The device's record, for a kernel that may write there; `op` is the number to write. (runtime.cc)
Report *arm(const wry_call *call, const char *op_name, int32_t *op);

// ---- launches -------------------------------------------------------------------------------------

// Where kernels say __launch_bounds__(block_size, 1), ptxas would spill a register or two to fit one block more into a multiprocessor of some architecture.
constexpr int block_size = 256;
// Blocks of a kernel that goes on with the next ones itself. Tests let a grid have two, so that kernels have to.
inline unsigned some_blocks(int64_t blocks, int64_t most = 65535) { return unsigned(std::min(blocks, wry_most_blocks(most))); }
// Blocks for n threads; kernels go on with i += gridDim.x * blockDim.x.
inline dim3 blocks_for(int64_t n, int threads = block_size) {
  const int64_t blocks = (n + threads - 1) / threads;
  return dim3(some_blocks(blocks));
}
// As many threads as there is work, in whole warps: 256 for 7 elements would waste a GPU.
inline int threads_for(int64_t n, int most = block_size) {
  int threads = 32;
  while (threads < n && threads < most) threads *= 2;
  return threads;
}
#define WRY_EACH(i, n) (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < (n); i += int64_t(gridDim.x) * blockDim.x)

// Calls f(T()) with a type of this size.
template <typename F>
int dispatch_size(int64_t bytes, F &&f) {
  switch (bytes) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    case 8: return f(uint64_t());
    default: return f(word16());
  }
}
template <typename... Types, typename F>
int dispatch(int32_t dtype, F &&f) {
  int status = WRY_INTERNAL;
  (void)((dtype == code_of<Types>::value ? (status = f(Types()), true) : false) || ...);
  return status;
}

// ---- rows of tables, as in ops-cpu ----------------------------------------------------------------

// After its function an element-wise row may name the functor that a chain calls for it (chains.py): text of C++, in which $first and $last
// are the first and last attribute as numbers and $to is the type of the result. Dtypes without it take part in no chain.
#define WRY_FIRST_OF(kernel, ...) kernel
#define WRY_SECOND_OF(kernel, functor, ...) functor
#define WRY_PLAIN_ROW(op, dtype, flags, ...) {op, dtype, flags, WRY_FIRST_OF(__VA_ARGS__, 0), WRY_SECOND_OF(__VA_ARGS__, nullptr, 0)}
#define WRY_ROW(op, T, flags, ...) {op, code_of<T>::value, flags, WRY_FIRST_OF(__VA_ARGS__, 0) < T >, WRY_SECOND_OF(__VA_ARGS__, nullptr, 0)}
#define WRY_ANY_ROW(op, flags, ...) WRY_PLAIN_ROW(op, -1, flags, __VA_ARGS__)
// WRY_FEW_DTYPES leaves out types that are computed as another one is: tests that run often then compile in half of the time.
#ifdef WRY_FEW_DTYPES
#define WRY_FLOAT_ROWS(op, flags, ...) WRY_ROW(op, half, flags, __VA_ARGS__), WRY_ROW(op, float, flags, __VA_ARGS__), WRY_ROW(op, double, flags, __VA_ARGS__)
#define WRY_INT_ROWS(op, flags, ...) WRY_ROW(op, uint8_t, flags, __VA_ARGS__), WRY_ROW(op, int64_t, flags, __VA_ARGS__)
#else
#define WRY_FLOAT_ROWS(op, flags, ...)                                              \
  WRY_ROW(op, half, flags, __VA_ARGS__), WRY_ROW(op, bfloat16, flags, __VA_ARGS__), \
      WRY_ROW(op, float, flags, __VA_ARGS__), WRY_ROW(op, double, flags, __VA_ARGS__)
#define WRY_INT_ROWS(op, flags, ...)                                                                                           \
  WRY_ROW(op, uint8_t, flags, __VA_ARGS__), WRY_ROW(op, int8_t, flags, __VA_ARGS__), WRY_ROW(op, int16_t, flags, __VA_ARGS__), \
      WRY_ROW(op, int32_t, flags, __VA_ARGS__), WRY_ROW(op, int64_t, flags, __VA_ARGS__)
#endif
#define WRY_COMPLEX_ROWS(op, flags, ...) WRY_ROW(op, complex64, flags, __VA_ARGS__), WRY_ROW(op, complex128, flags, __VA_ARGS__)
#define WRY_BOOL_ROW(op, flags, ...) WRY_ROW(op, bool, flags, __VA_ARGS__)
#define WRY_REAL_ROWS(op, flags, ...) WRY_INT_ROWS(op, flags, __VA_ARGS__), WRY_FLOAT_ROWS(op, flags, __VA_ARGS__)
#define WRY_NUMBER_ROWS(op, flags, ...) WRY_REAL_ROWS(op, flags, __VA_ARGS__), WRY_COMPLEX_ROWS(op, flags, __VA_ARGS__)
#define WRY_INEXACT_ROWS(op, flags, ...) WRY_FLOAT_ROWS(op, flags, __VA_ARGS__), WRY_COMPLEX_ROWS(op, flags, __VA_ARGS__)
#define WRY_ALL_ROWS(op, flags, ...) WRY_BOOL_ROW(op, flags, __VA_ARGS__), WRY_NUMBER_ROWS(op, flags, __VA_ARGS__)
#define WRY_TABLE(family, rows)                                         \
  extern "C" const wry_kernel_entry *wry_cuda_##family(size_t *count) { \
    *count = sizeof rows / sizeof rows[0];                              \
    return rows;                                                        \
  }

constexpr uint32_t in_place = WRY_MAY_ALIAS | WRY_STRIDED_OUTPUT;

// Any strided block into another of the same shape and item size, on a stream (movement.cu).
int strided_copy(const wry_call *call, const wry_tensor *to, const wry_tensor *from);

}  // namespace cuda
}  // namespace wherry

#endif
