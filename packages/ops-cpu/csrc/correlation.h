// What every way to convolve computes. A convolution slides a window over its input; which taps the
// window has and how the positions step covers the forward pass, its transpose and, with groups of
// one channel, the depthwise forms.
#ifndef WHERRY_OPS_CPU_CORRELATION_H
#define WHERRY_OPS_CPU_CORRELATION_H

#include "gemm.h"

namespace WRY_NAMESPACE {

// out[n, m, y, x] = bias[m] + sum over channels c and taps t of
//                   weight[m, c, t] * in[n, c, y * step_y + dy[t], x * step_x + dx[t]]
// with zeros outside the input; c and m run over the channels of one group at a time. Tensors are
// contiguous, [n, channels, h, w] or, with channels_last, [n, h, w, channels]. Weights are T as well, or W.
template <typename T, typename W = T>
struct Correlation {
  int64_t images, groups, cin, cout;  // channels of one group
  int64_t ih, iw, oh, ow;
  int64_t step_y, step_x;
  int64_t taps;
  const int64_t *dy, *dx;
  const T *in;
  const W *weight;  // [groups * cout, cin, taps]
  const W *bias;    // [groups * cout] or null
  T *out;
  bool channels_last;
  bool backwards = false;  // weight is [cin, cout, taps] and its last tap the first (of winograd.h alone)
};

WRY_INLINE int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
WRY_INLINE int64_t rounded_up(int64_t a, int64_t to) { return ceil_div(a, to) * to; }

// The positions p in [0, positions) for which 0 <= p * step + offset < size, as [first, last).
WRY_INLINE void valid_range(int64_t positions, int64_t step, int64_t offset, int64_t size, int64_t *first,
                            int64_t *last) {
  *first = offset >= 0 ? 0 : min_of(positions, ceil_div(-offset, step));
  *last = size <= offset ? *first : max_of(*first, min_of(positions, ceil_div(size - offset, step)));
}

template <typename T>
WRY_INLINE void fill_zero(T *to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = T(0);
}

// from[0], from[2], ... as a vector; nothing after the last of them is read.
template <typename T, int... I>
WRY_INLINE vec<T> every_other(const T *from, detail::sequence<I...>) {
  constexpr int n = lanes<T>;
  const vec<T> a = load(from), b = load(from + n - 1);
  return __builtin_shufflevector(a, b, (I < n / 2 ? 2 * I : 2 * I + 1)...);
}

// to[i] = from[i * step]; nothing outside of either is touched.
template <typename T>
WRY_INLINE void copy_run(T *WRY_RESTRICT to, const T *WRY_RESTRICT from, int64_t n, int64_t step) {
  constexpr int width = lanes<T>;
  if (step == 1) {
    int64_t i = 0;
    for (; i + width <= n; i += width) store(to + i, load(from + i));
    if (i < n) store_partial(to + i, load_partial(from + i, n - i), n - i);
  } else if (step == 2) {
    const typename detail::make_sequence<width>::type all;
    int64_t i = 0;
    for (; i + width <= n; i += width) store(to + i, every_other(from + 2 * i, all));
    if (i < n && n >= width) i = n, store(to + n - width, every_other(from + 2 * (n - width), all));  // some twice
    for (; i < n; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
  }
}

#if defined(WRY_AVX512)
WRY_INLINE __mmask32 first_words(int64_t count) { return count >= 32 ? 0xffffffffu : count <= 0 ? 0u
                                                                                                : (1u << count) - 1; }

// Every other value of two vectors, from value `first` (0 or 1) on.
WRY_INLINE __m512i every_other(__m512i low, __m512i high, int first) {
  const __m512i even = _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16,
                                        14, 12, 10, 8, 6, 4, 2, 0);
  return _mm512_permutex2var_epi16(low, _mm512_add_epi16(even, _mm512_set1_epi16(short(first))), high);
}

// copy_run of bfloat16: 32 at a time, and none becomes a float on its way.
WRY_INLINE void copy_run(bfloat16 *WRY_RESTRICT to, const bfloat16 *WRY_RESTRICT from, int64_t n, int64_t step) {
  if (step == 1) {
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
    if (i < n) _mm512_mask_storeu_epi16(to + i, first_words(n - i), _mm512_maskz_loadu_epi16(first_words(n - i), from + i));
  } else if (step == 2) {
    for (int64_t i = 0; i < n; i += 32) {
      const int64_t values = 2 * (n - i) - 1;  // up to the last that is needed
      const __m512i low = _mm512_maskz_loadu_epi16(first_words(values), from + 2 * i);
      const __m512i high = _mm512_maskz_loadu_epi16(first_words(values - 32), from + 2 * i + 32);
      _mm512_mask_storeu_epi16(to + i, first_words(n - i), every_other(low, high, 0));
    }
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
  }
}

// Words of a[i] and b[i], for lanes 0 to 15 and 16 to 31.
struct Words {
  __m512i low, high;
};
WRY_INLINE Words words_of(__m512i a, __m512i b) {
  const auto order = [](int from) {
    __m512i at = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    at = _mm512_add_epi32(at, _mm512_set1_epi32(from));
    return _mm512_or_si512(at, _mm512_slli_epi32(_mm512_add_epi32(at, _mm512_set1_epi32(32)), 16));
  };
  return {_mm512_permutex2var_epi16(a, order(0), b), _mm512_permutex2var_epi16(a, order(16), b)};
}
#endif

// Lanes of the lower and of the upper half in turn.
template <typename V, int... I>
WRY_INLINE V alternating(V v, detail::sequence<I...>) {
  return __builtin_shufflevector(v, v, (I / 2 + I % 2 * int(sizeof...(I)) / 2)...);
}

// to[0, n) = even[0], odd[0], even[1], odd[1], ...
template <typename T>
WRY_INLINE void interleave(T *WRY_RESTRICT to, const T *WRY_RESTRICT even, const T *WRY_RESTRICT odd, int64_t n) {
  constexpr int width = lanes<T>;
  int64_t i = 0;
  for (; i + width <= n / 2; i += width) {
    const vec<T> a = load(even + i), b = load(odd + i);
    const vec<T> low = detail::join(lower_half<width>(a), lower_half<width>(b), typename detail::make_sequence<width>::type());
    const vec<T> high = detail::join(upper_half<width>(a), upper_half<width>(b), typename detail::make_sequence<width>::type());
    store(to + 2 * i, alternating(low, typename detail::make_sequence<width>::type()));
    store(to + 2 * i + width, alternating(high, typename detail::make_sequence<width>::type()));
  }
  for (; i < n / 2; ++i) to[2 * i] = even[i], to[2 * i + 1] = odd[i];
  if (n % 2) to[n - 1] = even[n / 2];
}

#if defined(WRY_AVX512)
WRY_INLINE void interleave(bfloat16 *WRY_RESTRICT to, const bfloat16 *WRY_RESTRICT even, const bfloat16 *WRY_RESTRICT odd, int64_t n) {
  for (int64_t i = 0; 2 * i < n; i += 32) {
    const int64_t left = n - 2 * i;
    const Words words = words_of(_mm512_maskz_loadu_epi16(first_words((left + 1) / 2), even + i), _mm512_maskz_loadu_epi16(first_words(left / 2), odd + i));
    _mm512_mask_storeu_epi16(to + 2 * i, first_words(left), words.low);
    _mm512_mask_storeu_epi16(to + 2 * i + 32, first_words(left - 32), words.high);
  }
}
#endif

// to[first, last) = from[0], from[step], ..., and zeros in the rest of [0, n).
template <typename T>
WRY_INLINE void copy_bordered(T *to, int64_t n, int64_t first, int64_t last, const T *from, int64_t step) {
  constexpr int64_t width = lanes<T>;
  if (n >= width && first <= width && n - last <= width) {  // borders are narrow: a vector of zeros under either end
    if (first > 0) store(to, vec<T>{});
    if (last < n) store(to + n - width, vec<T>{});
  } else {
    fill_zero(to, first);
    fill_zero(to + last, n - last);
  }
  copy_run(to + first, from, last - first, step);
}

#if defined(__AVX__)
// to[j, i] = from[i, j] for 8 x 8 values.
WRY_INLINE void transpose8(const float *from, int64_t from_row, float *to, int64_t to_row) {
  __m256 r[8], pairs[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(from + i * from_row);
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * to_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}
#endif

// to[j, i] = from[i, j] for at most 8 x 8 values.
template <typename T>
WRY_INLINE void transpose_piece(const T *from, int64_t from_row, T *to, int64_t to_row, int64_t rows, int64_t columns) {
#if defined(__AVX__)
  if constexpr (std::is_same<T, float>::value) {
    if (rows == 8 && columns == 8) return transpose8(from, from_row, to, to_row);
  }
#endif
  for (int64_t i = 0; i < rows; i += 4)
    for (int64_t j = 0; j < columns; j += 4) {
      if (i + 4 <= rows && j + 4 <= columns) {
        transpose4(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
      } else {
        for (int64_t v = j; v < min_of(columns, j + 4); ++v)
          for (int64_t u = i; u < min_of(rows, i + 4); ++u) to[v * to_row + u] = from[u * from_row + v];
      }
    }
}

// to[j, i] = from[i, j] for rows x columns values, with the given distances of rows. 16-bit floats become floats, or the other way round.
//
// Where distances are multiples of 4 KiB, as the planes of images often are, all rows compete for the same few
// lines of the first-level cache. So a line of the side whose rows lie farther apart is used up, or filled,
// before the next one is touched.
template <typename From, typename To>
WRY_INLINE void transpose_block(const From *from, int64_t from_row, To *to, int64_t to_row, int64_t rows,
                                int64_t columns) {
  constexpr bool same = std::is_same<From, To>::value;
#if defined(WRY_AVX512)
  if constexpr (!same || std::is_same<From, float>::value) {
    if (rows == 16) {  // whole lines of the cache at once
      for (; columns >= 16; columns -= 16, from += 16, to += 16 * to_row) transpose16(from, from_row, to, to_row);
      if (columns > 0) transpose_part(from, from_row, to, to_row, rows, columns);
      return;
    }
    if (columns == 16) {
      for (; rows >= 16; rows -= 16, from += 16 * from_row, to += 16) transpose16(from, from_row, to, to_row);
      if (rows > 0) transpose_part(from, from_row, to, to_row, rows, columns);
      return;
    }
  }
#endif
  if constexpr (same) {
    constexpr int64_t line = 64 / int64_t(sizeof(From));
    const auto piece = [&](int64_t i, int64_t j, int64_t bottom, int64_t right) {
      transpose_piece(from + i * from_row + j, from_row, to + j * to_row + i, to_row, min_of<int64_t>(8, bottom - i),
                      min_of<int64_t>(8, right - j));
    };
    if (from_row >= to_row) {
      for (int64_t left = 0; left < columns; left += line)
        for (int64_t i = 0, right = min_of(columns, left + line); i < rows; i += 8)
          for (int64_t j = left; j < right; j += 8) piece(i, j, rows, right);
    } else {
      for (int64_t top = 0; top < rows; top += line)
        for (int64_t j = 0, bottom = min_of(rows, top + line); j < columns; j += 8)
          for (int64_t i = top; i < bottom; i += 8) piece(i, j, bottom, columns);
    }
  } else {
    constexpr int64_t side = 16;
    alignas(64) float floats[side * side];
    for (int64_t i = 0; i < rows; i += side)
      for (int64_t j = 0; j < columns; j += side) {
        const int64_t down = min_of(side, rows - i), across = min_of(side, columns - j);
        if constexpr (std::is_same<To, float>::value) {
          for (int64_t r = 0; r < down; ++r) widen(from + (i + r) * from_row + j, floats + r * side, across);
          transpose_block(floats, side, to + j * to_row + i, to_row, down, across);
        } else {
          transpose_block(from + i * from_row + j, from_row, floats, side, down, across);
          for (int64_t c = 0; c < across; ++c) narrow(floats + c * side, to + (j + c) * to_row + i, down);
        }
      }
  }
}

// to[i] = from[i] between storage of floats.
template <typename From, typename To>
WRY_INLINE void convert_run(To *WRY_RESTRICT to, const From *WRY_RESTRICT from, int64_t n) {
  if constexpr (std::is_same<From, To>::value) copy_run(to, from, n, 1);
  else if constexpr (std::is_same<To, float>::value) widen(from, to, n);
  else narrow(from, to, n);
}

// One slice of scratch memory for each thread of a loop over `pieces` pieces.
template <typename T>
struct Slices {
  T *memory;
  int64_t size;
  Slices(const wry_call *call, int64_t size_, int64_t pieces)
      : size(rounded_up(size_, 64)) {
    memory = workspace<T>(call, size * threads_for(call, pieces));
  }
  WRY_INLINE T *mine() const { return memory + size * thread_index(); }
};

}  // namespace WRY_NAMESPACE

#endif
