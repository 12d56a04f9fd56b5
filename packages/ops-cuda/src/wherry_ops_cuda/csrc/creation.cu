// Tensors made from attributes. One thread writes elements i, i + grid, ...
#include "common.h"

namespace wherry {
namespace cuda {
namespace {

template <typename T>
__global__ void __launch_bounds__(block_size) fill_kernel(T *out, int64_t n, T value) {
  for
    WRY_EACH(i, n)
  out[i] = value;
}

template <typename T>
T stored(arithmetic_t<T> value) {  // on the host
  if constexpr (std::is_same<T, half>::value) return __float2half(value);
  else if constexpr (std::is_same<T, bfloat16>::value) return __float2bfloat16(value);
  else return T(value);
}

template <typename T>
int full(const wry_call *call) {
  // `full` has the attributes shape, value, dtype; `full_like` value, dtype.
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  return check(call, wry_launch(fill_kernel<T>, blocks_for(out->size), dim3(threads_for(out->size)), 0, stream(call), data<T>(out), out->size,
                                stored<T>(attr_scalar<arithmetic_t<T>>(call, call->n_attrs - 2))));
}

// The first output chooses the row where there is no input. full_like is asked for the dtype of its input, of which only the
// shape counts.
int full_like(const wry_call *call) {
  return dispatch<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, half, bfloat16, float, double, complex64, complex128>(
      output(call, 0)->dtype, [&](auto tag) { return full<decltype(tag)>(call); });
}

// start + i * step. Integers count in 64 bits without a sign, which cannot overflow; floats in double, so that a long
// float32 range does not drift.
template <typename T>
__global__ void __launch_bounds__(block_size) count_integers(T *out, int64_t n, uint64_t start, uint64_t step) {
  for
    WRY_EACH(i, n)
  out[i] = narrow<T>(arithmetic_t<T>(int64_t(start + uint64_t(i) * step)));
}
template <typename T>
__global__ void __launch_bounds__(block_size) count_floats(T *out, int64_t n, double start, double step) {
  // Not fused: the cpu rounds the product, too.
  for
    WRY_EACH(i, n)
  out[i] = narrow<T>(arithmetic_t<T>(__dadd_rn(start, __dmul_rn(double(i), step))));
}
template <typename T>
__global__ void __launch_bounds__(block_size) count_complex(T *out, int64_t n, complex128 start, complex128 step) {
  for
    WRY_EACH(i, n)
  out[i] = T(complex128(__dadd_rn(start.re, __dmul_rn(double(i), step.re)), __dadd_rn(start.im, __dmul_rn(double(i), step.im))));
}
template <typename T>
int arange(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const dim3 grid = blocks_for(out->size), block(threads_for(out->size));
  if constexpr (is_complex<T>::value)
    return check(call, wry_launch(count_complex<T>, grid, block, 0, stream(call), data<T>(out), out->size, attr_scalar<complex128>(call, 0),
                                  attr_scalar<complex128>(call, 1)));
  else {
    if (call->attrs[0].kind == WRY_ATTR_INT && call->attrs[1].kind == WRY_ATTR_INT)
      return check(call, wry_launch(count_integers<T>, grid, block, 0, stream(call), data<T>(out), out->size, uint64_t(attr_int(call, 0)), uint64_t(attr_int(call, 1))));
    return check(call, wry_launch(count_floats<T>, grid, block, 0, stream(call), data<T>(out), out->size, attr_float(call, 0), attr_float(call, 1)));
  }
}

// From both ends to the middle, so that the last value is `stop` exactly. Integers cut off what is after the point, as
// Paddle does.
WRY_GPU double spread_part(int64_t i, int64_t n, double start, double stop, double step) {
  return i < n / 2 || n == 1 ? __dadd_rn(start, __dmul_rn(step, double(i))) : __dadd_rn(stop, -__dmul_rn(step, double(n - 1 - i)));
}
template <typename T>
__global__ void __launch_bounds__(block_size) spread(T *out, int64_t n, complex128 start, complex128 stop, complex128 step) {
  for
    WRY_EACH(i, n) {
      const double value = spread_part(i, n, start.re, stop.re, step.re);
      if constexpr (is_complex<T>::value) out[i] = T(complex128(value, spread_part(i, n, start.im, stop.im, step.im)));
      else out[i] = narrow<T>(arithmetic_t<T>(value));
    }
}
template <typename T>
int linspace(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  const int64_t n = out->size;
  if (n == 0) return WRY_OK;
  const complex128 start = attr_scalar<complex128>(call, 0), stop = attr_scalar<complex128>(call, 1), way = stop - start;
  const double part = n > 1 ? 1.0 / double(n - 1) : 0;
  return check(call, wry_launch(spread<T>, blocks_for(n), dim3(threads_for(n)), 0, stream(call), data<T>(out), n, start, stop,
                                complex128(way.re * part, way.im * part)));
}

template <typename T>
__global__ void __launch_bounds__(block_size) identity_matrix(T *out, int64_t n, int64_t columns, T one, T zero) {
  for
    WRY_EACH(i, n)
  out[i] = i / columns == i % columns ? one : zero;
}
template <typename T>
int eye(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  return check(call, wry_launch(identity_matrix<T>, blocks_for(out->size), dim3(threads_for(out->size)), 0, stream(call), data<T>(out), out->size,
                                attr_int(call, 1), stored<T>(arithmetic_t<T>(1)), stored<T>(arithmetic_t<T>(0))));
}

#include <wherry/kernels/rows/creation.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(creation, wherry::cuda::table)
