// What every family of kernels starts from: types, attributes, views, errors, rows of tables.
//
// The same files are compiled by nvcc for a GPU and by g++ for the emulator (cuda_emulator/kernel.h). `shape`, `strides`
// and attributes of a call are the host's memory: what a kernel needs of them is copied into structs that it takes by value.
#ifndef WHERRY_CUDA_COMMON_H
#define WHERRY_CUDA_COMMON_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wherry/abi.h>

#include "values.h"

namespace wherry {
namespace cuda {

template <typename T>
struct code_of;
#define WRY_CODE(T, code)                  \
  template <>                              \
  struct code_of<T> {                      \
    static constexpr int32_t value = code; \
  };
WRY_CODE(bool, WRY_BOOL)
WRY_CODE(uint8_t, WRY_UINT8)
WRY_CODE(int8_t, WRY_INT8)
WRY_CODE(int16_t, WRY_INT16)
WRY_CODE(int32_t, WRY_INT32)
WRY_CODE(int64_t, WRY_INT64)
WRY_CODE(half, WRY_FLOAT16)
WRY_CODE(bfloat16, WRY_BFLOAT16)
WRY_CODE(float, WRY_FLOAT32)
WRY_CODE(double, WRY_FLOAT64)
WRY_CODE(complex64, WRY_COMPLEX64)
WRY_CODE(complex128, WRY_COMPLEX128)
#undef WRY_CODE

// ---- a call ---------------------------------------------------------------------------------------

inline constexpr int32_t item_sizes[WRY_NUM_DTYPES] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
inline int64_t item_size(const wry_tensor *t) { return item_sizes[t->dtype]; }
template <typename T>
T *data(const wry_tensor *t) {
  return static_cast<T *>(t->data);
}
inline const wry_tensor *input(const wry_call *call, int i) { return call->inputs[i]; }
inline const wry_tensor *output(const wry_call *call, int i) { return call->outputs[i]; }
inline cudaStream_t stream(const wry_call *call) { return static_cast<cudaStream_t>(call->context->stream); }

struct Ints {
  const int64_t *data;
  int32_t length;
  int64_t operator[](int i) const { return data[i]; }
  const int64_t *begin() const { return data; }
  const int64_t *end() const { return data + length; }
};
inline bool attr_is_none(const wry_call *call, int i) { return call->attrs[i].kind == WRY_ATTR_NONE; }
inline int64_t attr_int(const wry_call *call, int i) { return call->attrs[i].value.i; }
inline bool attr_bool(const wry_call *call, int i) { return call->attrs[i].value.i != 0; }
inline double attr_float(const wry_call *call, int i) {
  const wry_attr &a = call->attrs[i];
  return a.kind == WRY_ATTR_INT ? double(a.value.i) : a.value.f;
}
inline Ints attr_ints(const wry_call *call, int i) {
  const wry_attr &a = call->attrs[i];
  return a.kind == WRY_ATTR_NONE ? Ints{nullptr, 0} : Ints{a.value.ints, a.length};
}
inline bool attr_equals(const wry_call *call, int i, const char *text) { return strcmp(call->attrs[i].value.s, text) == 0; }
// A scalar attribute as a value of the arithmetic of T; an int keeps all its 64 bits.
template <typename A>
A attr_scalar(const wry_call *call, int i) {
  const wry_attr &a = call->attrs[i];
  if constexpr (is_complex<A>::value) {
    using R = typename is_complex<A>::real;
    if (a.kind == WRY_ATTR_FLOATS) return A(R(a.value.floats[0]), R(a.value.floats[1]));
    return A(R(a.kind == WRY_ATTR_INT ? double(a.value.i) : a.value.f));
  } else {
    if (a.kind == WRY_ATTR_INT) return A(a.value.i);
    return A(a.kind == WRY_ATTR_FLOATS ? a.value.floats[0] : a.value.f);
  }
}

inline bool is_contiguous(const wry_tensor *t) {
  int64_t expected = 1;
  for (int i = t->rank - 1; i >= 0; --i) {
    if (t->shape[i] != 1 && t->strides[i] != expected) return t->size == 0;
    expected *= t->shape[i];
  }
  return true;
}

// A part of a tensor, described on the host.
struct View {
  wry_tensor tensor;
  int64_t shape[WRY_MAX_RANK + 1], strides[WRY_MAX_RANK + 1];

  explicit View(const wry_tensor *whole) : tensor(*whole) {
    for (int i = 0; i < whole->rank; ++i) shape[i] = whole->shape[i], strides[i] = whole->strides[i];
    tensor.shape = shape, tensor.strides = strides;
  }
  View(const View &other) : View(&other.tensor) {}
  View &operator=(const View &) = delete;
  void advance(int64_t elements) { tensor.data = data<char>(&tensor) + elements * item_size(&tensor); }
  // Elements begin, begin + step, ... of an axis, n of them.
  void narrow(int axis, int64_t begin, int64_t n, int64_t step = 1) {
    advance(begin * strides[axis]);
    shape[axis] = n, strides[axis] *= step;
    measure();
  }
  void remove(int axis) {
    for (int i = axis; i + 1 < tensor.rank; ++i) shape[i] = shape[i + 1], strides[i] = strides[i + 1];
    --tensor.rank;
    measure();
  }
  void drop(int axis, int64_t index) {
    advance(index * strides[axis]);
    remove(axis);
  }
  void measure() {
    tensor.size = 1;
    for (int i = 0; i < tensor.rank; ++i) tensor.size *= shape[i];
  }
};

// ---- errors ---------------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4), noinline, unused)) static int fail(const wry_call *call, int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(call->context->error, WRY_ERROR_SIZE, format, arguments);
  va_end(arguments);
  return status;
}

// Of a launch or a function of the runtime; names the op and its shapes (runtime.cc).
int check(const wry_call *call, cudaError_t error);
#define WRY_TRY(expression)                                         \
  do {                                                              \
    const int wry_status = ::wherry::cuda::check(call, expression); \
    if (wry_status != WRY_OK) return wry_status;                    \
  } while (false)

// Scratch memory of the device for n values, which the stream frees; null when there is none.
template <typename T>
T *workspace(const wry_call *call, int64_t n) {
  return static_cast<T *>(call->context->workspace(call->context, size_t(n) * sizeof(T)));
}
__attribute__((unused)) static int fail_memory(const wry_call *call, const char *op, int64_t bytes) {
  return fail(call, WRY_OUT_OF_MEMORY,
              "%s: out of memory. Needed %lld bytes of scratch memory and got none. Use smaller tensors or free some that are no longer needed.",
              op, (long long)bytes);
}

// The device's record, for a kernel that may write there; `op` is the number to write. (runtime.cc)
Report *arm(const wry_call *call, const char *op_name, int32_t *op);

// ---- launches -------------------------------------------------------------------------------------

// Where kernels say __launch_bounds__(block_size, 1), ptxas would spill a register or two to fit one block more into a multiprocessor of some architecture.
constexpr int block_size = 256;
// Blocks for n threads; kernels go on with i += gridDim.x * blockDim.x.
inline dim3 blocks_for(int64_t n, int threads = block_size) {
  const int64_t blocks = (n + threads - 1) / threads;
  return dim3(unsigned(blocks < 65536 ? blocks : 65536));
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

#define WRY_ROW(op, T, flags, kernel) {op, code_of<T>::value, flags, kernel<T>, nullptr}
#define WRY_ANY_ROW(op, flags, kernel) {op, -1, flags, kernel, nullptr}
// WRY_FEW_DTYPES leaves out types that are computed as another one is: tests that run often then compile in half of the time.
#ifdef WRY_FEW_DTYPES
#define WRY_FLOAT_ROWS(op, flags, kernel) WRY_ROW(op, half, flags, kernel), WRY_ROW(op, float, flags, kernel), WRY_ROW(op, double, flags, kernel)
#define WRY_INT_ROWS(op, flags, kernel) WRY_ROW(op, uint8_t, flags, kernel), WRY_ROW(op, int64_t, flags, kernel)
#else
#define WRY_FLOAT_ROWS(op, flags, kernel) \
  WRY_ROW(op, half, flags, kernel), WRY_ROW(op, bfloat16, flags, kernel), WRY_ROW(op, float, flags, kernel), WRY_ROW(op, double, flags, kernel)
#define WRY_INT_ROWS(op, flags, kernel)                                                                         \
  WRY_ROW(op, uint8_t, flags, kernel), WRY_ROW(op, int8_t, flags, kernel), WRY_ROW(op, int16_t, flags, kernel), \
      WRY_ROW(op, int32_t, flags, kernel), WRY_ROW(op, int64_t, flags, kernel)
#endif
#define WRY_COMPLEX_ROWS(op, flags, kernel) WRY_ROW(op, complex64, flags, kernel), WRY_ROW(op, complex128, flags, kernel)
#define WRY_BOOL_ROW(op, flags, kernel) WRY_ROW(op, bool, flags, kernel)
#define WRY_REAL_ROWS(op, flags, kernel) WRY_INT_ROWS(op, flags, kernel), WRY_FLOAT_ROWS(op, flags, kernel)
#define WRY_NUMBER_ROWS(op, flags, kernel) WRY_REAL_ROWS(op, flags, kernel), WRY_COMPLEX_ROWS(op, flags, kernel)
#define WRY_ALL_ROWS(op, flags, kernel) WRY_BOOL_ROW(op, flags, kernel), WRY_NUMBER_ROWS(op, flags, kernel)
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
