// Distances of each row of x to each row of y, from the differences themselves: the squares' expansion into a product would lose
// every digit of points that lie close together, and costs as much, since a difference and a multiply-add are what it takes.
#ifndef WHERRY_OPS_CPU_DISTANCE_H
#define WHERRY_OPS_CPU_DISTANCE_H

#include "gemm.h"
#include "rows.h"

namespace WRY_NAMESPACE {

// What differences add up to. `slope`: their part of the cotangent of a row, of `w` and of the distance `far`.
struct Euclidean {
  static constexpr bool weighted = true;  // w is the cotangent by the distance
  template <typename V>
  static WRY_INLINE V add(V sum, V d) { return fma(d, d, sum); }
  template <typename V>
  static WRY_INLINE V join(V a, V b) { return a + b; }
  template <typename V>
  static WRY_INLINE V finish(V sum) { return sqrt(sum); }
  template <typename V>
  static WRY_INLINE V slope(V sum, V w, V, V d) { return fma(w, d, sum); }
};

template <typename V>
WRY_INLINE V with_sign_of(V d, V w) {
  using M = typename vector_traits<V>::mask;
  return select<V>(d > V{}, w, select<V>(M(d < V{}), -w, d * w));  // 0, or NaN
}

struct Manhattan {
  static constexpr bool weighted = false;
  template <typename V>
  static WRY_INLINE V add(V sum, V d) { return sum + abs(d); }
  template <typename V>
  static WRY_INLINE V join(V a, V b) { return a + b; }
  template <typename V>
  static WRY_INLINE V finish(V sum) { return sum; }
  template <typename V>
  static WRY_INLINE V slope(V sum, V w, V, V d) { return sum + with_sign_of(d, w); }
};

struct Chebyshev {
  static constexpr bool weighted = false;
  template <typename V>
  static WRY_INLINE V add(V sum, V d) { return maximum(sum, abs(d)); }
  template <typename V>
  static WRY_INLINE V join(V a, V b) { return maximum(a, b); }
  template <typename V>
  static WRY_INLINE V finish(V sum) { return sum; }
  template <typename V>
  static WRY_INLINE V slope(V sum, V w, V far, V d) { return sum + select<V>(abs(d) == far, with_sign_of(d, w), V{}); }
};

// f(kind) for the order of a norm.
template <typename F>
WRY_INLINE void dispatch_distance(double p, F &&f) {
  if (p == 1) f(Manhattan());
  else if (p == 2) f(Euclidean());
  else f(Chebyshev());
}

inline constexpr int distance_rows = WRY_VECTOR_BYTES >= 64 ? 8 : 4, slope_rows = distance_rows / 2;

// `rows` rows of x, `depth` values each, to the `columns` rows of y that a panel holds.
template <typename P, typename T, typename A>
void distance_tile(int64_t rows, int64_t columns, int64_t depth, const A *x, const A *panel, T *out, int64_t ld) {
  using V = vec<A>;
  constexpr int R = distance_rows, N = lanes<A>;
  const A *from[R];
  for (int r = 0; r < R; ++r) from[r] = x + min_of<int64_t>(r, rows - 1) * depth;
  V total[R][2] = {};
  for (int64_t first = 0; first < depth; first += 32) {  // chains of few additions: rounding errors grow with their length
    V sum[R][2] = {};
    for (int64_t k = first; k < min_of(depth, first + 32); ++k) {
      const V a = load(panel + k * 2 * N), b = load(panel + k * 2 * N + N);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const V v = splat<V>(from[r][k]);
        sum[r][0] = P::add(sum[r][0], v - a), sum[r][1] = P::add(sum[r][1], v - b);
      }
    }
    for (int r = 0; r < R; ++r) total[r][0] = P::join(total[r][0], sum[r][0]), total[r][1] = P::join(total[r][1], sum[r][1]);
  }
  for (int r = 0; r < min_of<int64_t>(R, rows); ++r)
    for (int c = 0; c < 2; ++c) {
      const int64_t rest = columns - c * N;
      T *const to = out + r * ld + c * N;
      if (rest >= N) store(to, P::finish(total[r][c]));
      else if (rest > 0) store_partial(to, P::finish(total[r][c]), rest);
    }
}

// As arithmetic takes them: widened where they have 16 bits. Null without memory.
template <typename T>
const arithmetic_t<T> *widened_copy(const wry_call *call, const wry_tensor *t) {
  using A = arithmetic_t<T>;
  if constexpr (sizeof(T) == sizeof(A)) {
    return data<A>(t);
  } else {
    A *const copied = workspace<A>(call, t->size + 1);
    if (copied) widen(data<T>(t), copied, t->size);
    return copied;
  }
}

// x [..., m, d], y [..., n, d] with equal leading axes, all contiguous; out [..., m, n].
template <typename T>
int cdist(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *tx = input(call, 0), *ty = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t m = out->shape[out->rank - 2], n = out->shape[out->rank - 1], depth = tx->shape[tx->rank - 1], batch = out->size / (m * n);
  constexpr int64_t wide = gemm_columns<A>, tall = 8 * distance_rows;
  const int64_t across = (n + wide - 1) / wide, down = (m + tall - 1) / tall, panel = wide * depth;
  const A *const x = widened_copy<T>(call, tx), *const y = widened_copy<T>(call, ty);
  A *const panels = workspace<A>(call, batch * across * panel + 1);
  if (!x || !y || !panels) return fail_memory(call, "cdist", batch * across * panel * int64_t(sizeof(A)));
  parallel_for(call, batch * across, max_of<int64_t>(1, 8192 / max_of<int64_t>(panel, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t j = at % across * wide;
      gemm_pack_columns(panels + at * panel, min_of(n - j, wide), depth, Matrix<A>{y + (at / across * n + j) * depth, 1, depth});
    }
  });
  dispatch_distance(attr_float(call, 0), [&](auto kind) {
    parallel_for(call, batch * down * across, max_of<int64_t>(1, 131072 / (tall * max_of<int64_t>(panel, 1))), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t column = at % across, image = at / across / down, i = at / across % down * tall;
        for (int64_t r = i; r < min_of(m, i + tall); r += distance_rows)
          distance_tile<decltype(kind)>(m - r, min_of(n - column * wide, wide), depth, x + (image * m + r) * depth,
                                        panels + (image * across + column) * panel, data<T>(out) + (image * m + r) * n + column * wide, n);
      }
    });
  });
  return WRY_OK;
}

// Sums over the n rows of y of slopes, for C vectors (the last as `part` says) of `rows` rows of x.
template <typename P, int C, typename T, typename A, typename Last>
void slope_tile(int64_t rows, int64_t n, int64_t depth, const A *x, const A *y, const A *w, const A *far, T *out, Last part) {
  using V = vec<A>;
  constexpr int R = slope_rows, N = lanes<A>;
  V own[R][C], sum[R][C] = {};
  int64_t at[R];
  for (int r = 0; r < R; ++r) {
    at[r] = min_of<int64_t>(r, rows - 1);
    for (int c = 0; c < C; ++c) own[r][c] = get(x + at[r] * depth + c * N, part);
  }
  for (int64_t j = 0; j < n; ++j) {
    V other[C];
    for (int c = 0; c < C; ++c) other[c] = get(y + j * depth + c * N, part);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const V weight = splat<V>(w[at[r] * n + j]), distance = P::weighted ? V{} : splat<V>(far[at[r] * n + j]);
      for (int c = 0; c < C; ++c) sum[r][c] = P::slope(sum[r][c], weight, distance, own[r][c] - other[c]);
    }
  }
  for (int r = 0; r < min_of<int64_t>(R, rows); ++r)
    for (int c = 0; c < C; ++c) put(out + r * depth + c * N, sum[r][c], part);
}

// The cotangent of x, of that of the distances and of these; 0 from rows that are equal.
template <typename T>
int cdist_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *tct = input(call, 0), *tx = input(call, 2), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t m = tct->shape[tct->rank - 2], n = tct->shape[tct->rank - 1], depth = out->shape[out->rank - 1], batch = out->size / (m * depth);
  const A *const ct = widened_copy<T>(call, tct), *const far = widened_copy<T>(call, input(call, 1));
  const A *const x = widened_copy<T>(call, tx), *const y = widened_copy<T>(call, input(call, 3));
  A *const weights = workspace<A>(call, tct->size + 1);
  if (!ct || !far || !x || !y || !weights) return fail_memory(call, "cdist_vjp", tct->size * int64_t(sizeof(A)));
  dispatch_distance(attr_float(call, 0), [&](auto kind) {
    using P = decltype(kind);
    const int64_t tiles = (m + slope_rows - 1) / slope_rows;
    parallel_for(call, batch * tiles, max_of<int64_t>(1, 131072 / max_of<int64_t>(1, slope_rows * n * depth)), [&](int64_t begin, int64_t end) {
      constexpr int N = lanes<A>;
      for (int64_t tile = begin; tile < end; ++tile) {
        const int64_t image = tile / tiles, i = tile % tiles * slope_rows, row = image * m + i, rows = min_of<int64_t>(m - i, slope_rows);
        const A *w = ct + row * n;
        if constexpr (P::weighted) {
          A *const own = weights + row * n;
          for (int64_t j = 0; j < rows * n; ++j) own[j] = far[row * n + j] == 0 ? A(0) : w[j] / far[row * n + j];
          w = own;
        }
        const A *const from = x + row * depth, *const others = y + image * n * depth;
        T *const to = data<T>(out) + row * depth;
        int64_t k = 0;
        for (; k + 2 * N <= depth; k += 2 * N) slope_tile<P, 2>(rows, n, depth, from + k, others + k, w, far + row * n, to + k, Whole());
        for (; k + N <= depth; k += N) slope_tile<P, 1>(rows, n, depth, from + k, others + k, w, far + row * n, to + k, Whole());
        if (k < depth) slope_tile<P, 1>(rows, n, depth, from + k, others + k, w, far + row * n, to + k, Part{depth - k});
      }
    });
  });
  return WRY_OK;
}

}  // namespace WRY_NAMESPACE

#endif
