// What kernels of every device read of a call: tensors, attributes, scratch memory, and how they report an error.
//
// These headers are for packages of kernels. One that includes them has defined
//   WRY_NAMESPACE  its namespace; every device, and every instruction set, has copies of its own
//   WRY_FN         how a small function is declared that a kernel calls: always inlined, and for CUDA on host and device
//   WRY_COMPLEX_ALIGNMENT(R)  `alignas(...)` of complex numbers, or nothing
// and, for this file, the types float16, bfloat16 and `arithmetic_t`.
#ifndef WHERRY_KERNELS_CALL_H
#define WHERRY_KERNELS_CALL_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wherry/abi.h>

#include <wherry/kernels/numbers.h>

#define WRY_HOST_FN inline __attribute__((always_inline))

namespace WRY_NAMESPACE {

// The dtype code of a type.
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
WRY_CODE(float16, WRY_FLOAT16)
WRY_CODE(bfloat16, WRY_BFLOAT16)
WRY_CODE(float, WRY_FLOAT32)
WRY_CODE(double, WRY_FLOAT64)
WRY_CODE(complex64, WRY_COMPLEX64)
WRY_CODE(complex128, WRY_COMPLEX128)
#undef WRY_CODE

inline constexpr int32_t item_sizes[WRY_NUM_DTYPES] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
WRY_HOST_FN int64_t item_size(const wry_tensor *t) { return item_sizes[t->dtype]; }

// ---- tensors ------------------------------------------------------------------------------------

template <typename T>
WRY_HOST_FN T *data(const wry_tensor *t) { return static_cast<T *>(t->data); }

WRY_HOST_FN const wry_tensor *input(const wry_call *call, int i) { return call->inputs[i]; }
WRY_HOST_FN const wry_tensor *output(const wry_call *call, int i) { return call->outputs[i]; }

// Row-major without gaps; axes of size 1 may have any stride.
WRY_HOST_FN bool is_contiguous(const wry_tensor *t) {
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

  WRY_HOST_FN explicit View(const wry_tensor *whole) : tensor(*whole) {
    for (int i = 0; i < whole->rank; ++i) shape[i] = whole->shape[i], strides[i] = whole->strides[i];
    tensor.shape = shape;
    tensor.strides = strides;
  }
  View(const View &other) : View(&other.tensor) {}
  View &operator=(const View &) = delete;

  WRY_HOST_FN void advance(int64_t elements) { tensor.data = data<char>(&tensor) + elements * item_size(&tensor); }

  // Elements begin, begin + step, ... of an axis, n of them.
  WRY_HOST_FN void narrow(int axis, int64_t begin, int64_t n, int64_t step = 1) {
    advance(begin * strides[axis]);
    shape[axis] = n;
    strides[axis] *= step;
    measure();
  }

  WRY_HOST_FN void drop(int axis, int64_t index) {
    advance(index * strides[axis]);
    remove(axis);
  }

  WRY_HOST_FN void remove(int axis) {
    for (int i = axis; i + 1 < tensor.rank; ++i) shape[i] = shape[i + 1], strides[i] = strides[i + 1];
    --tensor.rank;
    measure();
  }

  WRY_HOST_FN void measure() {
    tensor.size = 1;
    for (int i = 0; i < tensor.rank; ++i) tensor.size *= shape[i];
  }
};

// ---- attributes ---------------------------------------------------------------------------------

struct Ints {
  const int64_t *data;
  int32_t length;
  WRY_HOST_FN int64_t operator[](int i) const { return data[i]; }
  WRY_HOST_FN const int64_t *begin() const { return data; }
  WRY_HOST_FN const int64_t *end() const { return data + length; }
};

WRY_HOST_FN bool attr_is_none(const wry_call *call, int i) { return call->attrs[i].kind == WRY_ATTR_NONE; }
WRY_HOST_FN int64_t attr_int(const wry_call *call, int i) { return call->attrs[i].value.i; }
WRY_HOST_FN bool attr_bool(const wry_call *call, int i) { return call->attrs[i].value.i != 0; }
WRY_HOST_FN double attr_float(const wry_call *call, int i) {
  const wry_attr &a = call->attrs[i];
  return a.kind == WRY_ATTR_INT ? double(a.value.i) : a.value.f;
}
WRY_HOST_FN Ints attr_ints(const wry_call *call, int i) {
  const wry_attr &a = call->attrs[i];
  return a.kind == WRY_ATTR_NONE ? Ints{nullptr, 0} : Ints{a.value.ints, a.length};
}
WRY_HOST_FN const char *attr_string(const wry_call *call, int i) { return call->attrs[i].value.s; }
WRY_HOST_FN bool attr_equals(const wry_call *call, int i, const char *text) {
  return strcmp(call->attrs[i].value.s, text) == 0;
}

// A Scalar attribute as a value of type T (an int keeps all its 64 bits).
template <typename T>
WRY_HOST_FN T attr_scalar(const wry_call *call, int i) {
  using A = arithmetic_t<T>;
  const wry_attr &a = call->attrs[i];
  if constexpr (is_complex<T>::value) {
    using R = typename is_complex<T>::real;
    if (a.kind == WRY_ATTR_FLOATS) return T(R(a.value.floats[0]), R(a.value.floats[1]));
    return T(R(a.kind == WRY_ATTR_INT ? double(a.value.i) : a.value.f));
  } else {
    if (a.kind == WRY_ATTR_INT) return T(A(a.value.i));
    return T(A(a.kind == WRY_ATTR_FLOATS ? a.value.floats[0] : a.value.f));
  }
}

// ---- memory and errors --------------------------------------------------------------------------

// Scratch memory for n values of T, or null. Uninitialised.
template <typename T>
WRY_HOST_FN T *workspace(const wry_call *call, int64_t n) {
  return static_cast<T *>(call->context->workspace(call->context, size_t(n) * sizeof(T)));
}

// Writes the text that the caller will read and returns the status:
//   return fail(call, WRY_OUT_OF_RANGE, "gather: index %lld is ...", (long long)index);
__attribute__((format(printf, 3, 4), noinline, cold, unused)) static int fail(const wry_call *call, int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(call->context->error, WRY_ERROR_SIZE, format, arguments);
  va_end(arguments);
  return status;
}

__attribute__((noinline, cold, unused)) static int fail_memory(const wry_call *call, const char *op, int64_t bytes) {
  return fail(call, WRY_OUT_OF_MEMORY,
              "%s: out of memory. Needed %lld bytes of scratch memory and got none. "
              "Use smaller tensors or free some that are no longer needed.",
              op, (long long)bytes);
}

}  // namespace WRY_NAMESPACE

#endif
