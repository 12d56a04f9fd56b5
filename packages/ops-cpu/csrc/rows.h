// Writing a loop over a row once, for its whole vectors and for the rest at its end.
//
//   over<T>(n, [&](int64_t i, auto part) { put(out + i, get(x + i, part) * 2, part); });
//   A total = row_reduce<T>(n, zero, [&](int64_t i, auto part) { return get(x + i, part); }, plus);
//
// The rest goes through the same vector code, so a value does not depend on where it lies.
#ifndef WHERRY_OPS_CPU_ROWS_H
#define WHERRY_OPS_CPU_ROWS_H

#include "common.h"
#include "parallel.h"
#include "simd.h"

namespace WRY_NAMESPACE {

template <typename T>
inline constexpr bool is_float = false;
template <>
inline constexpr bool is_float<float16> = true;
template <>
inline constexpr bool is_float<bfloat16> = true;
template <>
inline constexpr bool is_float<float> = true;
template <>
inline constexpr bool is_float<double> = true;

// A mask whose first n lanes are set.
template <typename V>
WRY_INLINE typename vector_traits<V>::mask first_lanes(int64_t n) {
  using M = typename vector_traits<V>::mask;
  constexpr int N = int(sizeof(V) / sizeof(typename vector_traits<V>::scalar));
  M lane;
  for (int i = 0; i < N; ++i) lane[i] = i;
  return lane < (M{} + decltype(lane[0] + 0)(n));
}

struct Whole {};
struct Part {
  int64_t n;
};

template <typename T>
WRY_INLINE vec<T> get(const T *p, Whole) { return load(p); }
template <typename T>
WRY_INLINE vec<T> get(const T *p, Part part) { return load_partial(p, part.n); }
template <typename T>
WRY_INLINE void put(T *p, vec<T> v, Whole) { store(p, v); }
template <typename T>
WRY_INLINE void put(T *p, vec<T> v, Part part) { store_partial(p, v, part.n); }

// v where there are elements, `other` past the end.
template <typename V>
WRY_INLINE V keep(V v, V, Whole) { return v; }
template <typename V>
WRY_INLINE V keep(V v, V other, Part part) { return select<V>(first_lanes<V>(part.n), v, other); }

template <typename T, typename F>
WRY_INLINE void over(int64_t n, F &&f) {
  constexpr int N = lanes<T>;
  int64_t i = 0;
  for (; i + N <= n; i += N) f(i, Whole());
  if (i < n) f(i, Part{n - i});
}

struct Plus {
  template <typename X>
  WRY_INLINE X operator()(X a, X b) const { return a + b; }
};
// NaN loses.
struct Larger {
  template <typename X>
  WRY_INLINE X operator()(X a, X b) const { return max(a, b); }
};

// Combines lift(i, part) over a row; four chains, because one would wait for its own results.
template <typename T, typename F, typename C>
WRY_INLINE arithmetic_t<T> row_reduce(int64_t n, arithmetic_t<T> start, F &&lift, C combine) {
  using V = vec<T>;
  constexpr int N = lanes<T>;
  const V s = splat<V>(start);
  V a = s;
  int64_t i = 0;
  if (n >= 4 * N) {
    V b = s, c = s, d = s;
    for (; i + 4 * N <= n; i += 4 * N) {
      a = combine(lift(i, Whole()), a);
      b = combine(lift(i + N, Whole()), b);
      c = combine(lift(i + 2 * N, Whole()), c);
      d = combine(lift(i + 3 * N, Whole()), d);
    }
    a = combine(combine(a, b), combine(c, d));
  }
  for (; i + N <= n; i += N) a = combine(lift(i, Whole()), a);
  if (i < n) {
    const Part part{n - i};
    a = combine(keep<V>(lift(i, part), s, part), a);
  }
  return reduce_lanes<N>(a, combine);
}

// The tensor as [outer, n, inner] around one axis.
struct AxisView {
  int64_t outer, n, inner;
};
WRY_INLINE AxisView around(const wry_tensor *t, int64_t axis) {
  AxisView v = {1, t->shape[axis], 1};
  for (int i = 0; i < axis; ++i) v.outer *= t->shape[i];
  for (int i = int(axis) + 1; i < t->rank; ++i) v.inner *= t->shape[i];
  return v;
}

// Columns that are worked on together where the axis is not the last: f(outer, first, width).
inline constexpr int64_t strip_width = 256;
template <typename F>
WRY_INLINE void each_strip(const wry_call *call, AxisView v, F &&f) {
  const int64_t strips = (v.inner + strip_width - 1) / strip_width;
  const int64_t work = v.n * min_of(strip_width, v.inner);
  parallel_for(call, v.outer * strips, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, work)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t unit = begin; unit < end; ++unit) {
                   const int64_t first = unit % strips * strip_width;
                   f(unit / strips, first, min_of(strip_width, v.inner - first));
                 }
               });
}

template <typename F>
WRY_INLINE void each_row(const wry_call *call, int64_t rows, int64_t n, F &&f) {
  parallel_for(call, rows, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, n)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) f(r);
  });
}

// ---- results that no cache holds ----------------------------------------------------------------

struct Near {
  static constexpr bool value = false;
};
struct Far {
  static constexpr bool value = true;
};

// Past the caches where `Where` is Far. (Of 16-bit floats a vector is wider than its memory.)
template <typename Where, typename T>
WRY_INLINE void put_to(T *p, vec<T> v, Whole) {
  if constexpr (Where::value && sizeof(T) == sizeof(arithmetic_t<T>)) stream(p, v);
  else store(p, v);
}
template <typename Where, typename T>
WRY_INLINE void put_to(T *p, vec<T> v, Part part) { store_partial(p, v, part.n); }

// f(Near() or Far()), for rows of n: Far where `out` is so large that its beginning has left the caches before
// its end is written. Then a store would first read what it overwrites: a third of the traffic of a
// pass that reads one tensor and writes another (25 % of the time of layer_norm on Zen 4).
template <typename T, typename F>
WRY_INLINE void to_memory(const T *out, int64_t size, int64_t n, F &&f) {
  if (sizeof(T) == sizeof(arithmetic_t<T>) && size * int64_t(sizeof(T)) >= (int64_t(8) << 20) && n % lanes<T> == 0 &&
      uintptr_t(out) % WRY_VECTOR_BYTES == 0)
    f(Far());
  else
    f(Near());
}

template <typename T, typename F>
WRY_INLINE void each_row_to(const wry_call *call, const T *out, int64_t rows, int64_t n, F &&f) {
  to_memory(out, rows * n, n, [&](auto where) {
    parallel_for(call, rows, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, n)), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) f(r, where);
      if constexpr (decltype(where)::value) stream_fence();
    });
  });
}

}  // namespace WRY_NAMESPACE

#endif
