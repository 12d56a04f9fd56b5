// Functions of values at the same place of one to three tensors, which are broadcast and may have any strides.
//
// Where the last axis (all axes that lie evenly in all operands are one by then) is contiguous in every operand, or one value, a thread moves packs
// of 16 bytes of it: it stays in its column and goes down the rows, and what all rows share it reads once. Else it
// computes single elements i, i + grid, ..., whose places it finds by dividing, in 32 bits where these suffice. An operand that is a turned
// matrix is turned in a copy first, tile by tile: read as it lies, each of its sectors would be fetched for one value.
#ifndef WHERRY_CUDA_POINTWISE_H
#define WHERRY_CUDA_POINTWISE_H

#include "packs.h"

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
#pragma unroll 1
    for (int axis = w.rank - 1; axis >= 0; --axis) {
      const uint32_t n = uint32_t(w.shape[axis]), index = rest % n;
      rest /= n;
#pragma unroll
      for (int k = 0; k < N; ++k) at[k] += int64_t(index) * w.strides[k][axis];
    }
  } else {
    int64_t rest = i;
#pragma unroll 1
    for (int axis = w.rank - 1; axis >= 0; --axis) {
      const int64_t index = rest % w.shape[axis];
      rest /= w.shape[axis];
#pragma unroll
      for (int k = 0; k < N; ++k) at[k] += index * w.strides[k][axis];
    }
  }
}

template <typename F, typename TO, typename T>
__global__ void __launch_bounds__(block_size, 1) pointwise_1(Walk<2> w, F f, TO *out, const T *x) {
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

// ---- packs ----------------------------------------------------------------------------------------

template <int N>
struct Packs {
  Walk<N> rows;                 // the axes before the last
  int64_t columns, first_tail;  // packs in a row; what is left of a flat call begins here, and ends at `size`
  int64_t size;
  bool steps[N], shared[N];  // moves along a row, else one value for it; is the same in all rows
};
template <int V, typename A, typename T>
WRY_GPU void read_operand(const T *x, int64_t column, bool steps, A *to) {
  if (steps) return read_pack<V>(x + column * V, to);
  const A one = load(x);
#pragma unroll
  for (int k = 0; k < V; ++k) to[k] = one;
}
template <int N>
WRY_GPU void row_places(const Packs<N> &p, int64_t row, int64_t (&at)[N]) {
  if (p.rows.rank) return places(p.rows, row, at);
#pragma unroll
  for (int k = 0; k < N; ++k) at[k] = 0;
}
#define WRY_PACKS(p, column, row)                                                                         \
  const int64_t column = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;                                  \
  const int64_t tail = p.first_tail + column, first_row = blockIdx.y * int64_t(blockDim.y) + threadIdx.y; \
  if (column < p.columns)                                                                                 \
    for (int64_t row = first_row; row < p.rows.size; row += int64_t(gridDim.y) * blockDim.y)

template <int V, typename F, typename TO, typename T>
__global__ void __launch_bounds__(block_size, 1) packs_1(Packs<2> p, F f, TO *out, const T *x) {
  arithmetic_t<T> xs[V];
  WRY_PACKS(p, column, row) {
    int64_t at[2];
    row_places(p, row, at);
    if (row == first_row || !p.shared[1]) read_operand<V>(x + at[1], column, p.steps[1], xs);
    TO raw[V];
#pragma unroll
    for (int k = 0; k < V; ++k) raw[k] = narrow<TO>(f(xs[k]));
    write_words<V>(out + at[0] + column * V, raw);
  }
  if (tail < p.size) out[tail] = narrow<TO>(f(load(x + (p.steps[1] ? tail : 0))));
}
template <int V, typename F, typename TO, typename T, typename U>
__global__ void __launch_bounds__(block_size, 1) packs_2(Packs<3> p, F f, TO *out, const T *x, const U *y) {
  arithmetic_t<T> xs[V];
  arithmetic_t<U> ys[V];
  WRY_PACKS(p, column, row) {
    int64_t at[3];
    row_places(p, row, at);
    if (row == first_row || !p.shared[1]) read_operand<V>(x + at[1], column, p.steps[1], xs);
    if (row == first_row || !p.shared[2]) read_operand<V>(y + at[2], column, p.steps[2], ys);
    TO raw[V];
#pragma unroll
    for (int k = 0; k < V; ++k) raw[k] = narrow<TO>(f(xs[k], ys[k]));
    write_words<V>(out + at[0] + column * V, raw);
  }
  if (tail < p.size) out[tail] = narrow<TO>(f(load(x + (p.steps[1] ? tail : 0)), load(y + (p.steps[2] ? tail : 0))));
}
template <int V, typename F, typename TO, typename T, typename U, typename W>
__global__ void __launch_bounds__(block_size, 1) packs_3(Packs<4> p, F f, TO *out, const T *x, const U *y, const W *z) {
  arithmetic_t<T> xs[V];
  arithmetic_t<U> ys[V];
  arithmetic_t<W> zs[V];
  WRY_PACKS(p, column, row) {
    int64_t at[4];
    row_places(p, row, at);
    if (row == first_row || !p.shared[1]) read_operand<V>(x + at[1], column, p.steps[1], xs);
    if (row == first_row || !p.shared[2]) read_operand<V>(y + at[2], column, p.steps[2], ys);
    if (row == first_row || !p.shared[3]) read_operand<V>(z + at[3], column, p.steps[3], zs);
    TO raw[V];
#pragma unroll
    for (int k = 0; k < V; ++k) raw[k] = narrow<TO>(f(xs[k], ys[k], zs[k]));
    write_words<V>(out + at[0] + column * V, raw);
  }
  if (tail < p.size)
    out[tail] = narrow<TO>(f(load(x + (p.steps[1] ? tail : 0)), load(y + (p.steps[2] ? tail : 0)), load(z + (p.steps[3] ? tail : 0))));
}

// The rows of `w` in packs of V, if it has such.
template <int V, int N>
bool packs_of(const Walk<N> &w, const wry_tensor *const (&operands)[N], Packs<N> *p) {
  const int last = w.rank - 1;
  if (last < 0 || w.shape[last] < V || w.strides[0][last] != 1 || (last > 0 && w.shape[last] % V != 0)) return false;
  p->rows = w, p->rows.rank = last, p->rows.flat = last <= 1, p->rows.size = w.size / w.shape[last];
  p->columns = w.shape[last] / V, p->first_tail = p->columns * V, p->size = last > 0 ? 0 : w.size;
  for (int k = 0; k < N; ++k) {
    p->steps[k] = w.strides[k][last] == 1, p->shared[k] = true;
    if (!p->steps[k] && w.strides[k][last] != 0) return false;
    if (p->steps[k] && reinterpret_cast<uintptr_t>(operands[k]->data) % (V * item_size(operands[k]) < 16 ? V * item_size(operands[k]) : 16)) return false;
    for (int axis = 0; axis < last; ++axis) {
      if (w.strides[k][axis] != 0) p->shared[k] = false;
      if (p->steps[k] && w.strides[k][axis] % V != 0) return false;
    }
  }
  return true;
}
// As many values as 16 bytes of the widest type hold; one where a function is computed in double for narrower ones, which takes longer than
// the memory does.
template <typename Result, typename... T>
constexpr int pack_for() {
  if (std::is_same<Result, double>::value && !(std::is_same<T, double>::value || ...)) return 1;
  return pack_size<T...>() < 8 ? pack_size<T...>() : 8;  // 16 computations at once take too many registers
}
struct Geometry {
  dim3 grid, block;
};
template <int N>
Geometry geometry_of(const Packs<N> &p) {
  constexpr int64_t room = 1 << 18;     // threads that a GPU has at once: with more rows than these have, each takes several
  int wide = p.rows.size > 1 ? 1 : 32;  // of a flat call no fewer than may be left at its end
  while (wide < p.columns && wide < block_size) wide *= 2;
  int high = threads_for(p.rows.size * wide) / wide;
  if (wide * high < 32) high = 32 / wide;
  const int64_t across = (p.columns + wide - 1) / wide, most = (p.rows.size + high - 1) / high, some = room / (across * wide * high);
  const int64_t down = some < 1 ? 1 : some < most ? some
                                                  : most;
  return {dim3(unsigned(across), some_blocks(down)), dim3(wide, high)};
}

// A copy of an operand that neighbours in `w` do not read as neighbours, though some other axis of it is contiguous; the operand itself
// where there is no need.
template <int N>
const wry_tensor *turned(const wry_call *call, const Walk<N> &w, int k, const wry_tensor *x, View *copy) {
  const int last = w.rank - 1;
  if (last < 1 || w.size < 1 << 12 || w.strides[0][last] != 1 || w.strides[k][last] <= 1 || w.shape[last] < 32) return x;
  int64_t size = 1;
  bool contiguous = false;
  for (int axis = 0; axis < x->rank; ++axis) contiguous = contiguous || (x->strides[axis] == 1 && x->shape[axis] >= 32);
  if (!contiguous || x->size != w.size) return x;
  copy->tensor.data = workspace<char>(call, x->size * item_size(x));
  if (!copy->tensor.data) return x;  // slower, but right
  for (int axis = x->rank - 1; axis >= 0; --axis) copy->strides[axis] = size, size *= x->shape[axis];
  return strided_copy(call, &copy->tensor, x) == WRY_OK ? &copy->tensor : x;
}

template <typename TO, typename T, typename F>
cudaError_t launch_pointwise(cudaStream_t stream, const wry_tensor *const (&operands)[2], const Walk<2> &w, const F &f) {
  constexpr int V = pack_for<decltype(f(arithmetic_t<T>())), TO, T>();
  if constexpr (V > 1) {
    Packs<2> p;
    if (packs_of<V>(w, operands, &p)) {
      const Geometry g = geometry_of(p);
      return wry_launch(packs_1<V, F, TO, T>, g.grid, g.block, 0, stream, p, f, data<TO>(operands[0]), data<T>(operands[1]));
    }
  }
  const int threads = threads_for(w.size);
  return wry_launch(pointwise_1<F, TO, T>, blocks_for(w.size, threads), dim3(threads), 0, stream, w, f, data<TO>(operands[0]), data<T>(operands[1]));
}
template <typename TO, typename T, typename F>
int pointwise1(const wry_call *call, const wry_tensor *out, const wry_tensor *x, const F &f) {
  if (out->size == 0) return WRY_OK;
  return check(call, launch_pointwise<TO, T>(stream(call), {out, x}, walk_of<2>({out, x}), f));
}
template <typename TO, typename T, typename U, typename F>
int pointwise2(const wry_call *call, const wry_tensor *out, const wry_tensor *x, const wry_tensor *y, const F &f) {
  if (out->size == 0) return WRY_OK;
  View x_copy(x), y_copy(y);
  const Walk<3> plain = walk_of<3>({out, x, y});
  const wry_tensor *const operands[] = {out, turned(call, plain, 1, x, &x_copy), turned(call, plain, 2, y, &y_copy)};
  const Walk<3> w = walk_of<3>(operands);
  constexpr int V = pack_for<decltype(f(arithmetic_t<T>(), arithmetic_t<U>())), TO, T, U>();
  if constexpr (V > 1) {
    Packs<3> p;
    if (packs_of<V>(w, operands, &p)) {
      const Geometry g = geometry_of(p);
      return check(call, wry_launch(packs_2<V, F, TO, T, U>, g.grid, g.block, 0, stream(call), p, f, data<TO>(out), data<T>(operands[1]), data<U>(operands[2])));
    }
  }
  const int threads = threads_for(out->size);
  return check(call, wry_launch(pointwise_2<F, TO, T, U>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), w, f, data<TO>(out),
                                data<T>(operands[1]), data<U>(operands[2])));
}
template <typename TO, typename T, typename U, typename W, typename F>
int pointwise3(const wry_call *call, const wry_tensor *out, const wry_tensor *x, const wry_tensor *y, const wry_tensor *z, const F &f) {
  if (out->size == 0) return WRY_OK;
  const wry_tensor *const operands[] = {out, x, y, z};
  const Walk<4> w = walk_of<4>(operands);
  constexpr int V = pack_for<decltype(f(arithmetic_t<T>(), arithmetic_t<U>(), arithmetic_t<W>())), TO, T, U, W>();
  if constexpr (V > 1) {
    Packs<4> p;
    if (packs_of<V>(w, operands, &p)) {
      const Geometry g = geometry_of(p);
      return check(call, wry_launch(packs_3<V, F, TO, T, U, W>, g.grid, g.block, 0, stream(call), p, f, data<TO>(out), data<T>(x), data<U>(y), data<W>(z)));
    }
  }
  const int threads = threads_for(out->size);
  return check(call, wry_launch(pointwise_3<F, TO, T, U, W>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), w, f, data<TO>(out), data<T>(x),
                                data<U>(y), data<W>(z)));
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

}  // namespace cuda
}  // namespace wherry

#endif
