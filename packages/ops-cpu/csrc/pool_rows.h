// The maximum of windows along a row of a plane, several windows at a time: what most pooling of
// images is, with steps of 1 or 2. float only.
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
template <int N, int step>
WRY_INLINE vecn<float, N> load_apart(const float *p) {
  vecn<float, N> a, b;
  __builtin_memcpy(&a, p, sizeof a);
  if (step == 1) return a;
  __builtin_memcpy(&b, p + N, sizeof b);
  return even_lanes(a, b, std::make_index_sequence<N>());
}

// N neighbouring windows of rows x columns values, the first of which begins at `at`, position `place` of
// its plane. Ties, NaN and windows of NaN alone as max_windows (pooling.cc) has them.
template <int N, int step>
WRY_INLINE void best_of(const float *at, int64_t w, int64_t rows, int64_t columns, int32_t place, float *best_to,
                        int32_t *where_to) {
  using F = vecn<float, N>;
  using I = vecn<int32_t, N>;
  I first;
  for (int i = 0; i < N; ++i) first[i] = place + step * i;
  F best = load_apart<N, step>(at);
  I where = first;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const F value = load_apart<N, step>(at + i * w + j);
      const I wins = ~(best >= value) & (value == value);  // also where `best` is NaN
      best = wins ? value : best;
      where = wins ? first + int32_t(i * w + j) : where;
    }
  const I number = best == best;
  best = number ? best : F{} - FLT_MAX;
  where = number ? where : I{} - 1;
  __builtin_memcpy(best_to, &best, sizeof best);
  __builtin_memcpy(where_to, &where, sizeof where);
}

// Windows [begin, end) of a row, all of them whole. Returns where it stopped: a few of the last may be
// left, and those of the last row of a tensor, after which nothing may be read.
template <int step>
WRY_INLINE int64_t best_along(const float *at, const float *limit, int64_t w, int64_t rows, int64_t columns, int32_t place,
                              int64_t begin, int64_t end, float *best, int32_t *where) {
  // `at` and `place` belong to window `begin`. The last read of a block begins at the window's last value.
  int64_t room = limit - at - ((rows - 1) * w + columns - 1), o = begin;
#define WRY_BLOCKS(N)                                                                                   \
  for (; o + N <= end && step * N <= room; o += N, at += step * N, place += step * N, room -= step * N) \
    best_of<N, step>(at, w, rows, columns, place, best + o, where + o);
#if WRY_VECTOR_BYTES == 64
  WRY_BLOCKS(16)
#endif
#if WRY_VECTOR_BYTES >= 32
  WRY_BLOCKS(8)
#endif
  WRY_BLOCKS(4)
#undef WRY_BLOCKS
  return o;
}

}  // namespace WRY_NAMESPACE

#endif
