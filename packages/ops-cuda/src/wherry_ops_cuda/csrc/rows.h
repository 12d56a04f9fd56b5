// Rows that are read once: each thread of a team keeps its part of the row in registers.
//
// A tensor is [outer, n, inner]. Where inner is 1 a block is a team and takes a row; its threads read packs of 16 bytes where rows begin at
// multiples of that, else single values. Else neighbouring threads have neighbouring columns, and the threads of a block
// that share a column are a team. A thread keeps up to E values; what is beyond is read again each time.
#ifndef WHERRY_CUDA_ROWS_H
#define WHERRY_CUDA_ROWS_H

#include "packs.h"
#include "reduce.h"

namespace wherry {
namespace cuda {

template <typename A>
struct Largest {  // a NaN wins
  using W = A;
  static WRY_GPU W combine(W a, W b) { return a != a ? a : (a < b || b != b ? b : a); }
};
template <typename A>
struct Total {
  using W = A;
  static WRY_GPU W combine(W a, W b) { return a + b; }
};

inline int threads_across(int64_t inner) {
  int wide = 1;
  while (wide < inner && wide < 32) wide *= 2;
  return wide;
}

struct Rows {
  int64_t outer, n, inner;
  int64_t tiles;  // of columns, as many as a block has
};
inline Rows rows_of(const wry_tensor *t, int64_t axis) {
  Rows r = {1, t->rank ? t->shape[axis] : 1, 1, 0};
  for (int i = 0; i < axis; ++i) r.outer *= t->shape[i];
  for (int i = int(axis) + 1; i < t->rank; ++i) r.inner *= t->shape[i];
  const int wide = threads_across(r.inner);
  r.tiles = (r.inner + wide - 1) / wide;
  return r;
}

// The row that a team is at.
struct Place {
  int64_t row;    // among all, as in a tensor without the axis
  int64_t first;  // the place of its first value
  int64_t n;      // 0 where there is no such column
};

// Value i of a row is `step` * i away from its first.
struct Even {
  int64_t step;
  WRY_GPU int64_t operator()(int64_t i) const { return i * step; }
};

// How the values of a row are spread over the threads that share it.
template <int V_, bool Columns_>
struct Spread {
  static constexpr int V = V_;
  static constexpr bool Columns = Columns_;
  static WRY_GPU int rank() { return Columns ? threadIdx.y : threadIdx.x; }
  static WRY_GPU int size() { return Columns ? blockDim.y : blockDim.x; }
  static WRY_GPU int64_t count(const Rows &r) { return Columns ? r.outer * r.tiles : r.outer; }
  static WRY_GPU Even steps(const Rows &r) { return {Columns ? r.inner : 1}; }
  static WRY_GPU Place place(const Rows &r, int64_t at) {
    if (!Columns) return {at, at * r.n, r.n};
    const int64_t o = at / r.tiles, column = at % r.tiles * blockDim.x + threadIdx.x;
    return {o * r.inner + column, o * r.n * r.inner + column, column < r.inner ? r.n : 0};
  }
  // Over the threads of a team, in each of them. All threads of the block take part.
  template <typename R>
  static WRY_GPU typename R::W total(typename R::W value) {
    if constexpr (Columns) return column_total<R>(value);
    else return block_total<R>(value);
  }
};
#define WRY_ROWS(S, at, r) (int64_t at = blockIdx.x; at < S::count(r); at += gridDim.x)

// Where a thread begins in a row, and how far it goes on, in values. The compiler does not see that it is the same in every pass over a row:
// it would keep the places of all values in registers from one pass to the next.
template <typename S>
struct Stride {
  int first = S::rank() * S::V, step = S::size() * S::V;
  WRY_GPU Stride() {
#ifdef __CUDA_ARCH__
    if constexpr (S::Columns) asm volatile("" : "+r"(first), "+r"(step));
#endif
  }
};

// A row as a thread has it: value i is at x[at(i)]. `read` comes first; then f(i of the first of V values, the values) is called for each
// pack of the thread.
template <typename T, typename S, int E>
struct Line {
  using A = arithmetic_t<T>;
  static constexpr int V = S::V, packs = E / V;
  A kept[E];

  template <typename P>
  WRY_GPU void read(const T *x, int64_t n, const P &at) {
    const Stride<S> s;
#pragma unroll
    for (int k = 0; k < packs; ++k) {
      const int i = s.first + k * s.step;  // what is kept is not much
      if (i >= n) break;
      read_pack<V>(x + at(i), kept + k * V);
    }
  }
  template <typename F>
  WRY_GPU void over_kept(int64_t n, F f) const {
    const Stride<S> s;
#pragma unroll
    for (int k = 0; k < packs; ++k) {
      const int i = s.first + k * s.step;  // what is kept is not much
      if (i >= n) break;
      f(i, kept + k * V);
    }
  }
  // What is not kept: from memory.
  template <typename P, typename F>
  WRY_GPU void beyond(const T *x, int64_t n, const P &at, F f) const {
    for (int64_t i = (int64_t(packs) * S::size() + S::rank()) * V; i < n; i += int64_t(S::size()) * V) {
      A values[V];
      read_pack<V>(x + at(i), values);
      f(i, values);
    }
  }
  template <typename P, typename F>
  WRY_GPU void again(const T *x, int64_t n, const P &at, F f) const {
    over_kept(n, f);
    beyond(x, n, at, f);
  }
};
// Two rows side by side: f(i, values of x, values of y).
template <typename T, typename S, int E>
struct LinePair {
  using A = arithmetic_t<T>;
  static constexpr int V = S::V;
  Line<T, S, E> x, y;

  template <typename P>
  WRY_GPU void read(const T *xs, const T *ys, int64_t n, const P &at) { x.read(xs, n, at), y.read(ys, n, at); }
  template <typename F>
  WRY_GPU void over_kept(int64_t n, F f) const {
    const Stride<S> s;
#pragma unroll
    for (int k = 0; k < E / V; ++k) {
      const int i = s.first + k * s.step;
      if (i >= n) break;
      f(i, x.kept + k * V, y.kept + k * V);
    }
  }
  template <typename P, typename F>
  WRY_GPU void again(const T *xs, const T *ys, int64_t n, const P &at, F f) const {
    over_kept(n, f);
    beyond(xs, ys, n, at, f);
  }
  template <typename P, typename F>
  WRY_GPU void beyond(const T *xs, const T *ys, int64_t n, const P &at, F f) const {
    x.beyond(xs, n, at, [&](int64_t i, const A *values) {
      A others[V];
      read_pack<V>(ys + at(i), others);
      f(i, values, others);
    });
  }
};
// How many values a thread keeps of each of `lines` rows.
template <typename T, int V>
constexpr int kept_values(int lines = 1) {
  const int values = sizeof(arithmetic_t<T>) == 8 ? 8 : V == 1 ? 16
                                                               : 32;  // functions of double take many registers
  return values / lines < V ? V : values / lines;
}

// Calls launch(Spread, grid, block) with the way that fits. `packed`: operands begin at multiples of 16 bytes.
template <int V, typename F>
int by_lines(const Rows &r, bool packed, F &&launch) {  // inner is 1
  const dim3 grid(some_blocks(r.outer));
  // Each thread has some packs under way at once.
  if (packed && r.n % V == 0) return launch(Spread<V, false>(), grid, dim3(threads_for((r.n + 4 * V - 1) / (4 * V))));
  return launch(Spread<1, false>(), grid, dim3(threads_for((r.n + 3) / 4)));
}
template <int V, typename F>
int by_rows(const Rows &r, bool packed, F &&launch) {
  if (r.inner == 1) return by_lines<V>(r, packed, launch);
  const int wide = threads_across(r.inner);
  const int64_t blocks = r.outer * r.tiles;
  return launch(Spread<1, true>(), dim3(some_blocks(blocks)), dim3(wide, threads_for((r.n + 3) / 4 * wide) / wide));
}

}  // namespace cuda
}  // namespace wherry

#endif
