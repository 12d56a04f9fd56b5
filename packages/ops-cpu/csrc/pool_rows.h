// The maximum of windows along a row of a plane, several windows at a time: what most pooling of
// images is, with steps of 1 or 2. The maxima are of float only.
//
// One comparison at a time, a window's maximum is a branch that nothing foresees: on random values the
// loop over windows of 2x2 took fourteen times as long (Zen 4, 32 x 32 planes).
#ifndef WHERRY_OPS_CPU_POOL_ROWS_H
#define WHERRY_OPS_CPU_POOL_ROWS_H

#include "simd.h"

#include <float.h>
#include <utility>

namespace WRY_NAMESPACE {

template <typename V, size_t... I>
WRY_INLINE V even_lanes(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * I)...);
}

// N values that lie `step` apart. With 2, one more is read than is used.
template <int N, int step, typename A>
WRY_INLINE vecn<A, N> load_apart(const A *p) {
  vecn<A, N> a, b;
  __builtin_memcpy(&a, p, sizeof a);
  if (step == 1) return a;
  __builtin_memcpy(&b, p + N, sizeof b);
  return even_lanes(a, b, std::make_index_sequence<N>());
}

// N neighbouring windows of rows x columns values, from window `o` of a row on, and so on for B such blocks, which fill each other's waits; none
// begins behind window `last`. Window 0 begins at `at`, position `place` of its plane. Ties, NaN and windows of NaN alone as max_windows
// (pooling.cc) has them.
template <int N, int B, int step>
WRY_INLINE void best_of(const float *at, int64_t w, int64_t rows, int64_t columns, int32_t place, int64_t o, int64_t last, float *best_to,
                        int32_t *where_to) {
  using F = vecn<float, N>;
  using I = vecn<int32_t, N>;
  I lane;
  for (int i = 0; i < N; ++i) lane[i] = step * i;
  const float *from[B];
  F best[B];
  I where[B], first[B];
  for (int b = 0; b < B; ++b) {
    const int64_t window = min_of(o + b * N, last);
    from[b] = at + step * window;
    first[b] = where[b] = lane + int32_t(place + step * window);
    best[b] = load_apart<N, step>(from[b]);
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t tap = i * w + j;
      for (int b = 0; b < B; ++b) {
        const F value = load_apart<N, step>(from[b] + tap);
        const I wins = ~(best[b] >= value) & (value == value);  // also where `best` is NaN
        best[b] = wins ? value : best[b];
        where[b] = wins ? first[b] + int32_t(tap) : where[b];
      }
    }
  for (int b = 0; b < B; ++b) {
    const int64_t window = min_of(o + b * N, last);
    const I number = best[b] == best[b];
    best[b] = number ? best[b] : F{} - FLT_MAX;
    where[b] = number ? where[b] : I{} - 1;
    __builtin_memcpy(best_to + window, best + b, sizeof(F));
    __builtin_memcpy(where_to + window, where + b, sizeof(I));
  }
}

// The first `count` windows of a row, all of them whole. Returns how many it did: a few of the last may be left in narrow rows, and in the last
// row of a tensor, after which nothing may be read.
template <int step>
WRY_INLINE int64_t best_along(const float *at, const float *limit, int64_t w, int64_t rows, int64_t columns, int32_t place, int64_t count, float *best,
                              int32_t *where) {
  // The last read of a block begins at the window's last value.
  const int64_t room = (limit - at - ((rows - 1) * w + columns - 1)) / step;
  const int64_t whole = min_of(count, room);
  int64_t o = 0;
#if WRY_VECTOR_BYTES == 64
  if (whole >= 16) {
    for (; whole - o > 32; o += 64) best_of<16, 4, step>(at, w, rows, columns, place, o, whole - 16, best, where);
    for (; o < whole; o += 16) best_of<16, 1, step>(at, w, rows, columns, place, o, whole - 16, best, where);
    return whole;
  }
#endif
#if WRY_VECTOR_BYTES >= 32
  if (whole >= 8) {
    for (; whole - o > 8; o += 16) best_of<8, 2, step>(at, w, rows, columns, place, o, whole - 8, best, where);
    if (o < whole) best_of<8, 1, step>(at, w, rows, columns, place, o, whole - 8, best, where);
    return whole;
  }
#endif
  if (whole < 4) return 0;
  for (; whole - o > 4; o += 8) best_of<4, 2, step>(at, w, rows, columns, place, o, whole - 4, best, where);
  if (o < whole) best_of<4, 1, step>(at, w, rows, columns, place, o, whole - 4, best, where);
  return whole;
}

}  // namespace WRY_NAMESPACE

#endif
