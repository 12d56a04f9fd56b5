// Functions of values at the same place of one to three tensors, which are broadcast and may have any strides.
//
// One thread computes elements i, i + grid, ...; neighbouring threads touch neighbouring elements, so that contiguous
// operands are read in whole sectors. Where an operand is not contiguous the thread finds its place by dividing, in 32 bits
// where these suffice. Axes that lie evenly in all operands are one axis by then.
#ifndef WHERRY_CUDA_POINTWISE_H
#define WHERRY_CUDA_POINTWISE_H

#include "common.h"

namespace wherry {
namespace cuda {

// operand 0 is the output
template <int N>
struct Walk {
  int64_t size;
  int32_t rank;
  bool flat;    // every operand has one stride
  bool narrow;  // 32 bits hold every place
  int64_t shape[WRY_MAX_RANK];
  int64_t strides[N][WRY_MAX_RANK];
};

template <int N>
Walk<N> walk_of(const wry_tensor *const (&operands)[N]) {
  const wry_tensor *out = operands[0];
  Walk<N> w = {};
  w.size = out->size;
  for (int axis = 0; axis < out->rank; ++axis) {
    if (out->shape[axis] == 1) continue;
    int64_t step[N];
    bool joins = w.rank > 0;
    for (int k = 0; k < N; ++k) {
      const wry_tensor *t = operands[k];
      const int own = axis - (out->rank - t->rank);
      step[k] = own < 0 || t->shape[own] == 1 ? 0 : t->strides[own];
      joins = joins && w.strides[k][w.rank - 1] == step[k] * out->shape[axis];
    }
    if (!joins) w.shape[w.rank++] = 1;
    w.shape[w.rank - 1] *= out->shape[axis];
    for (int k = 0; k < N; ++k) w.strides[k][w.rank - 1] = step[k];
  }
  w.flat = w.rank <= 1;
  w.narrow = w.size < int64_t(1) << 31;
  return w;
}

// Where element i of each operand is.
template <int N>
WRY_GPU void places(const Walk<N> &w, int64_t i, int64_t (&at)[N]) {
  if (w.flat) {
#pragma unroll
    for (int k = 0; k < N; ++k) at[k] = i * w.strides[k][0];
    return;
  }
#pragma unroll
  for (int k = 0; k < N; ++k) at[k] = 0;
  if (w.narrow) {
    uint32_t rest = uint32_t(i);
    for (int axis = w.rank - 1; axis >= 0; --axis) {
      const uint32_t n = uint32_t(w.shape[axis]), index = rest % n;
      rest /= n;
#pragma unroll
      for (int k = 0; k < N; ++k) at[k] += int64_t(index) * w.strides[k][axis];
    }
  } else {
    int64_t rest = i;
    for (int axis = w.rank - 1; axis >= 0; --axis) {
      const int64_t index = rest % w.shape[axis];
      rest /= w.shape[axis];
#pragma unroll
      for (int k = 0; k < N; ++k) at[k] += index * w.strides[k][axis];
    }
  }
}

template <typename F, typename TO, typename T>
__global__ void __launch_bounds__(block_size) pointwise_1(Walk<2> w, F f, TO *out, const T *x) {
  for
    WRY_EACH(i, w.size) {
      int64_t at[2];
      places(w, i, at);
      out[at[0]] = narrow<TO>(f(load(x + at[1])));
    }
}
template <typename F, typename TO, typename T, typename U>
__global__ void __launch_bounds__(block_size) pointwise_2(Walk<3> w, F f, TO *out, const T *x, const U *y) {
  for
    WRY_EACH(i, w.size) {
      int64_t at[3];
      places(w, i, at);
      out[at[0]] = narrow<TO>(f(load(x + at[1]), load(y + at[2])));
    }
}
template <typename F, typename TO, typename T, typename U, typename V>
__global__ void __launch_bounds__(block_size) pointwise_3(Walk<4> w, F f, TO *out, const T *x, const U *y, const V *z) {
  for
    WRY_EACH(i, w.size) {
      int64_t at[4];
      places(w, i, at);
      out[at[0]] = narrow<TO>(f(load(x + at[1]), load(y + at[2]), load(z + at[3])));
    }
}

template <typename TO, typename T, typename F>
int pointwise1(const wry_call *call, const wry_tensor *out, const wry_tensor *x, const F &f) {
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  return check(call, wry_launch(pointwise_1<F, TO, T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call),
                                walk_of<2>({out, x}), f, data<TO>(out), data<T>(x)));
}
template <typename TO, typename T, typename U, typename F>
int pointwise2(const wry_call *call, const wry_tensor *out, const wry_tensor *x, const wry_tensor *y, const F &f) {
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  return check(call, wry_launch(pointwise_2<F, TO, T, U>, blocks_for(out->size, threads), dim3(threads), 0, stream(call),
                                walk_of<3>({out, x, y}), f, data<TO>(out), data<T>(x), data<U>(y)));
}
template <typename TO, typename T, typename U, typename V, typename F>
int pointwise3(const wry_call *call, const wry_tensor *out, const wry_tensor *x, const wry_tensor *y, const wry_tensor *z, const F &f) {
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  return check(call, wry_launch(pointwise_3<F, TO, T, U, V>, blocks_for(out->size, threads), dim3(threads), 0, stream(call),
                                walk_of<4>({out, x, y, z}), f, data<TO>(out), data<T>(x), data<U>(y), data<V>(z)));
}
// Of the call's own inputs.
template <typename TO, typename T, typename F>
int pointwise1(const wry_call *call, const F &f) {
  return pointwise1<TO, T>(call, output(call, 0), input(call, 0), f);
}
template <typename TO, typename T, typename U, typename F>
int pointwise2(const wry_call *call, const F &f) {
  return pointwise2<TO, T, U>(call, output(call, 0), input(call, 0), input(call, 1), f);
}
template <typename TO, typename T, typename U, typename V, typename F>
int pointwise3(const wry_call *call, const F &f) {
  return pointwise3<TO, T, U, V>(call, output(call, 0), input(call, 0), input(call, 1), input(call, 2), f);
}

struct Identity {
  template <typename T>
  WRY_GPU T operator()(T x) const { return x; }
};

}  // namespace cuda
}  // namespace wherry

#endif
