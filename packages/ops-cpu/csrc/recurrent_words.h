// Products of recurrent layers, whatever the dtype: what they read lies in words along k.
//
// A word is a float, a double, or two bfloat16 that one instruction multiplies and adds (half.h); 16-bit floats are floats where there is no such
// instruction. Weights are packed once for a sequence. The product of a step goes by units: a panel has a vector of units with all of their gates, so
// the sums of a unit are together when its gates follow, and a piece of the panel stays in the first-level cache while the rows pass. Every sum is one
// chain in ascending k, whatever the rows of its tile.
#ifndef WHERRY_OPS_CPU_RECURRENT_WORDS_H
#define WHERRY_OPS_CPU_RECURRENT_WORDS_H

#include "half.h"
#include "images.h"
#include "recurrent.h"

namespace WRY_NAMESPACE {

template <typename T>
inline constexpr bool is_wide = std::is_same<T, arithmetic_t<T>>::value;
template <typename T>
using Word = arithmetic_t<T>;  // of pairs the bits alone
// What a word consists of, and how many words k of them take.
template <typename T>
using Held = std::conditional_t<is_wide<T>, T, Packed<T>>;
template <typename T>
WRY_INLINE int64_t words_of(int64_t k) { return in_pairs<T> ? (k + 1) / 2 : k; }

// Rows of k values as words_of(k) words each; null when memory is out.
template <typename T>
const Word<T> *as_words(const wry_call *call, const wry_tensor *t, int64_t k) {
  if constexpr (in_pairs<T>) {
    if (k % 2 == 0) return reinterpret_cast<const float *>(t->data);
    const int64_t rows = t->size / max_of<int64_t>(k, 1);
    T *to = workspace<T>(call, rows * (k + 1) + 1);
    for (int64_t i = 0; to && i < rows; ++i) {
      memcpy(to + i * (k + 1), data<T>(t) + i * k, size_t(k) * sizeof(T));
      to[i * (k + 1) + k] = T(0.0f);
    }
    return reinterpret_cast<const float *>(to);
  } else {
    bool failed = false;
    return as_arithmetic<T>(call, t, &failed);
  }
}

// ---- values on their way in and out -------------------------------------------------------------

WRY_INLINE void copy_values(float *to, const float *from, int64_t n) { copy_row(to, from, n); }
WRY_INLINE void copy_values(double *to, const double *from, int64_t n) { copy_row(to, from, n); }
template <typename T>
WRY_INLINE void copy_values(float *to, const T *from, int64_t n) { widen(from, to, n); }
template <typename T>
WRY_INLINE void copy_values(T *to, const float *from, int64_t n) { narrow(from, to, n); }
template <typename T>
WRY_INLINE void copy_values(T *to, const T *from, int64_t n) { copy_row(to, from, n); }

// As `put`; of pairs with the instruction that belongs to them, which counts numbers below the normal ones as zero as well.
template <typename T, typename Part_>
WRY_INLINE void leave(T *to, vec<T> v, Part_ part) {
#if defined(WRY_AVX512) && defined(__AVX512BF16__)
  if constexpr (in_pairs<T>) {
    const __m256i bits = (__m256i)_mm512_cvtneps_pbh((__m512)v);
    if constexpr (std::is_same<Part_, Whole>::value) _mm256_storeu_si256((__m256i *)to, bits);
    else _mm256_mask_storeu_epi16(to, __mmask16((1u << part.n) - 1), bits);
    return;
  }
#endif
  put(to, v, part);
}

// The functions of gates, as exact as what T holds. Not for a gate that a state passes in each step, whose errors would grow with their number.
template <typename T>
WRY_INLINE vec<T> gate(vec<T> x) {
  if constexpr (is_wide<T>) return logistic(x);
  else return coarse_sigmoid(x);
}
template <typename T>
WRY_INLINE vec<T> bend(vec<T> x) {
  if constexpr (is_wide<T>) return hyperbolic_tangent(x);
  else return coarse_tanh(x);
}

// ---- products -----------------------------------------------------------------------------------

// sum[i, v] += a[i] panel[v] over `words` words. Rows of a lie a_row words apart; the panel has `All` vectors for each word, of which V are read,
// each at the beginning of `width` words.
template <typename T, int All, int Rows, int V, int width = lanes<Word<T>>>
WRY_INLINE void add_products(vec<Word<T>> (&sum)[Rows][V], int64_t words, const Word<T> *WRY_RESTRICT a, int64_t a_row,
                             const Word<T> *WRY_RESTRICT panel) {
  for (int64_t p = 0; p < words; ++p, panel += All * width) {
    vec<Word<T>> row[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) row[v] = load(panel + v * width);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
#if defined(WRY_AVX512) && defined(__AVX512BF16__)
      if constexpr (in_pairs<T>) {
        int32_t pair;
        memcpy(&pair, a + i * a_row + p, 4);
        const __m512i x = _mm512_set1_epi32(pair);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) sum[i][v] = (f32)_mm512_dpbf16_ps((__m512)sum[i][v], (__m512bh)x, (__m512bh)row[v]);
        continue;
      }
#endif
      const Word<T> x = a[i * a_row + p];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = fma(row[v], x, sum[i][v]);
    }
  }
}

template <typename T, int Rows>
__attribute__((noinline)) void tile_of_words(int64_t columns, int64_t words, const Word<T> *a, int64_t a_row, const Word<T> *panel,
                                             Word<T> *c, int64_t ldc, const Start<Word<T>> &start) {
  vec<Word<T>> sum[Rows][2];
  for (int i = 0; i < Rows; ++i) sum[i][0] = sum[i][1] = vec<Word<T>>{};
  add_products<T, 2>(sum, words, a, a_row, panel);
  finish_tile<Word<T>>(sum, columns, c, ldc, start);
}

// C[m, n] (+)= A B with rows of A a_row words apart and B packed.
template <typename T>
void multiply_words(int64_t m, int64_t n, int64_t words, const Word<T> *a, int64_t a_row, const Word<T> *panels, Word<T> *c, int64_t ldc,
                    const Start<Word<T>> &start) {
  using W = Word<T>;
  constexpr int64_t width = gemm_columns<W>;
  for (int64_t j = 0; j < n; j += width)
    for (int64_t p = 0; p < max_of<int64_t>(words, 1); p += gemm_depth)
      for (int64_t i = 0; i < m; i += gemm_rows) {
        const int64_t rows = min_of(m - i, int64_t(gemm_rows)), depth = min_of(words - p, gemm_depth);
        const W *left = a + i * a_row + p, *panel = panels + j * words + p * width;
        W *to = c + i * ldc + j;
        const Start<W> here = p > 0 ? Start<W>{true, nullptr, nullptr} : start.at(i, j);
        if constexpr (in_pairs<T>)
          each_height(rows, [&](auto height, int64_t r) {
            tile_of_words<T, decltype(height)::value>(n - j, depth, left + r * a_row, a_row, panel, to + r * ldc, ldc, here.at(r, 0));
          });
        else gemm_tile<W, 2>(rows, n - j, depth, left, a_row, 1, panel, width, to, ldc, here);
      }
}
template <typename W>
inline constexpr Start<W> added = {true, nullptr, nullptr};

// f(panel, to) with room for `panels` panels of `size` words, in parallel; null when memory is out.
template <typename W, typename F>
W *each_panel(const wry_call *call, int64_t panels, int64_t size, F &&f) {
  W *out = workspace<W>(call, max_of<int64_t>(panels * size, 1));
  if (out)
    parallel_for(call, panels, max_of<int64_t>(1, 16384 / max_of<int64_t>(size, 1)), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) f(at, out + at * size);
    });
  return out;
}

// B[words, n], words side by side in memory, as panels of gemm_columns columns.
template <typename W>
W *packed_columns(const wry_call *call, int64_t n, int64_t words, const W *b) {
  constexpr int64_t width = gemm_columns<W>;
  return each_panel<W>(call, (n + width - 1) / width, width * words, [&](int64_t at, W *to) {
    gemm_pack_columns(to, min_of(n - at * width, width), words, Matrix<W>{b + at * width * words, 1, words});
  });
}

// The same of b [k, n] whose rows lie along n.
template <typename T>
Word<T> *packed_rows(const wry_call *call, int64_t n, int64_t k, const wry_tensor *b) {
  using W = Word<T>;
  constexpr int64_t width = gemm_columns<W>;
  const int64_t words = words_of<T>(k), panels = (n + width - 1) / width;
  if constexpr (in_pairs<T>) {
    return each_panel<W>(call, panels, width * words, [&](int64_t at, W *to) {
      const int64_t count = min_of(n - at * width, width);
      T *pairs = reinterpret_cast<T *>(to);
      for (int64_t p = 0; p < words; ++p, pairs += 2 * width) {
        const T *even = data<T>(b) + 2 * p * n + at * width, *odd = even + n;
        if (count == width && 2 * p + 1 < k)
          for (int64_t i = 0; i < width; ++i) pairs[2 * i] = even[i], pairs[2 * i + 1] = odd[i];
        else
          for (int64_t i = 0; i < width; ++i) {
            pairs[2 * i] = i < count ? even[i] : T(0.0f);
            pairs[2 * i + 1] = i < count && 2 * p + 1 < k ? odd[i] : T(0.0f);
          }
      }
    });
  } else {
    bool failed = false;
    const W *values = as_arithmetic<T>(call, b, &failed);
    if (failed) return nullptr;
    return each_panel<W>(call, panels, width * words, [&](int64_t at, W *to) {
      gemm_pack_columns(to, min_of(n - at * width, width), words, Matrix<W>{values + at * width, n, 1});
    });
  }
}

// ---- products by units --------------------------------------------------------------------------

// Rows of a tile, by all gates of a vector of units: 16 of 32 registers hold sums, or 8 of 16.
#if WRY_VECTOR_BYTES == 64 || defined(__aarch64__)
inline constexpr int unit_rows = 4;
#else
inline constexpr int unit_rows = 2;
#endif
// How many bytes of a panel stay in the first-level cache meanwhile.
inline constexpr int64_t unit_bytes = 32768;
// Of panels that are larger, the second-level cache holds those that passed last: every other step begins with them.
inline constexpr int64_t turned_bytes = 1 << 19;
// How many sequences a thread takes through all steps together, at most.
inline constexpr int most_share = 32;

// weight [G * H, words] as panels of a vector of units: [word, gate, unit].
template <int G, typename W>
W *packed_units(const wry_call *call, int64_t H, int64_t words, const W *weight) {
  constexpr int L = lanes<W>;
  return each_panel<W>(call, (H + L - 1) / L, words * G * L, [&](int64_t at, W *out) {
    const int64_t count = min_of<int64_t>(H - at * L, L);
    for (int g = 0; g < G; ++g)
      for (int64_t lane = 0; lane < L;) {
        const W *from = weight + (g * H + at * L + lane) * words;
        W *to = out + g * L + lane;
        int64_t p = 0;
        if (lane + 4 <= count) {
          for (; p + 4 <= words; p += 4) transpose4(from + p, words, to + p * G * L, G * L);
          for (; p < words; ++p)
            for (int i = 0; i < 4; ++i) to[p * G * L + i] = from[i * words + p];
          lane += 4;
          continue;
        }
        for (; p < words; ++p) to[p * G * L] = lane < count ? from[p] : W(0);
        ++lane;
      }
  });
}

template <typename T, int G, int B, int Rows, int V>
__attribute__((noinline)) void tile_of_units(int64_t words, const Word<T> *a, int64_t a_row, const Word<T> *panel, Word<T> *sums, bool is_first) {
  constexpr int L = lanes<Word<T>>;
  vec<Word<T>> sum[Rows][V];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[i][v] = is_first ? vec<Word<T>>{} : load(sums + (i * G + v) * L);
  add_products<T, G, Rows, V, B>(sum, words, a, a_row, panel);
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(sums + (i * G + v) * L, sum[i][v]);
}

// finish(unit, part) for vectors of units, after the product of the states [rows, words] with their panels is in `sums` [rows, G, lanes]; ask(unit)
// before, for what that will read: rows of many gates lie so far apart that no processor foresees them. Panels have blocks of B units. `zeros`: the
// states are known to be 0, and so are their products.
template <typename T, int G, int B, typename A, typename F>
WRY_INLINE void each_unit(int64_t step, bool zeros, int64_t rows, int64_t H, int64_t words, const Word<T> *states, const Word<T> *panels, Word<T> *sums, A &&ask, F &&finish) {
  using W = Word<T>;
  constexpr int L = lanes<W>;
  constexpr std::integral_constant<int, G> all = {};
  constexpr int64_t depth = unit_bytes / (G * B * int64_t(sizeof(W)));
  const int64_t blocks = (H + L - 1) / L;
  const bool turned = step % 2 && H * words * G * int64_t(sizeof(W)) > turned_bytes;
  for (int64_t n = 0; n < blocks; ++n) {
    const int64_t u = (turned ? blocks - 1 - n : n) * L;
    const W *const panel = panels + u / B * words * G * B + u % B;
    ask(u);
    if (zeros) zero_row(sums, rows * G * L);
    for (int64_t p = zeros ? words : 0; p < words; p += depth) {
      const int64_t steps = min_of(words - p, depth);
      int64_t i = 0;
      const auto tile = [&](auto height, auto vectors) {
        constexpr int Rows = decltype(height)::value, V = decltype(vectors)::value;
        for (int v = 0; v < G; v += V)
          tile_of_units<T, G, B, Rows, V>(steps, states + i * words + p, words, panel + (p * G + v) * B, sums + (i * G + v) * L, p == 0);
        i += Rows;
      };
      if constexpr (unit_rows == 4)
        while (i + 8 <= rows) tile(std::integral_constant<int, 8>(), std::integral_constant<int, G == 3 ? 3 : 2>());
      while (i + unit_rows <= rows) tile(std::integral_constant<int, unit_rows>(), all);
      if (unit_rows > 2 && i + 2 <= rows) tile(std::integral_constant<int, 2>(), all);
      if (i < rows) tile(std::integral_constant<int, 1>(), all);
    }
    if (u + L <= H) finish(u, Whole());
    else finish(u, Part{H - u});
  }
}

// f(first, rows) for groups of sequences: each thread takes some of them through all steps. `work` is how many multiplications a sequence takes.
template <typename F>
void each_share(const wry_call *call, const Sequence &s, int64_t work, F &&f) {
  const int64_t threads = threads_for(call, INT32_MAX), each = (s.batch + threads - 1) / threads;
  // Half a tile of rows still hides most of the latency of its products, so small batches are shared too.
  const int64_t unit = min_of<int64_t>(most_share, round_up(max_of<int64_t>(each, 1), each < unit_rows ? max_of(unit_rows / 2, 1) : unit_rows));
  const int64_t shares = (s.batch + unit - 1) / unit;
  parallel_for(call, shares, max_of<int64_t>(1, 200000 / max_of<int64_t>(work * unit, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) f(at * unit, min_of(s.batch - at * unit, unit));
  });
}

}  // namespace WRY_NAMESPACE

#endif
