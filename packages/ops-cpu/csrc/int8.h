// Sums of products of bytes, exact in int32: the step that products and convolutions of quantized tensors are built on.
//
// A step takes four bytes of an input ("a four") and adds their products with the weights of 16 outputs to 16 sums. Weights lie as steps read
// them: [16 outputs, 4], 64 bytes. Processors do that in one of two ways, which give the same int32:
//
// - dot: an instruction multiplies bytes and adds products up by fours (AVX-512 VNNI, AVX-VNNI, NEON's sdot). Inputs stay bytes; those of
//   the wrong sign are moved by 128, and so is their zero point. What a zero point adds is taken away after the sums.
// - pairs: bytes become 16 bits first, products of these are added up by twos (SSE, AVX2, AVX-512BW, NEON, WASM). Inputs lose their zero point when
//   they are widened, so that nothing has to be taken away.
//
// Instructions that saturate (pmaddubsw) or leave results open (WASM's relaxed dot) are not used for bytes of 8 bits.
#ifndef WHERRY_OPS_CPU_INT8_H
#define WHERRY_OPS_CPU_INT8_H

#include "ints.h"

namespace WRY_NAMESPACE {

constexpr int out_block = 16;              // outputs side by side
constexpr int step_bytes = 4 * out_block;  // of weights

// `Whole` is what an input is kept as, `vectors` how many of weights a step reads; `Sums` holds the sums of one of them.
// A tile keeps the sums of two halves of at most `half` rows by `blocks_at_once` blocks, in `passes` over the outputs of a block.
#if defined(WRY_AVX512) && defined(__AVX512VNNI__)
#define WRY_DOT 1
using Whole = uint8_t;
using Sums = __m512i;
using Weights = __m512i;
using Inputs = __m512i;
constexpr int vectors = 1, half = 7, blocks_at_once = 2, passes = 1;
WRY_INLINE Sums no_sums() { return _mm512_setzero_si512(); }
WRY_INLINE Inputs inputs_at(const Whole *at) {
  int32_t four;
  __builtin_memcpy(&four, at, 4);
  return _mm512_set1_epi32(four);
}
WRY_INLINE Weights weights_at(const int8_t *at) { return _mm512_loadu_si512(at); }
WRY_INLINE Sums add_products(Weights w, Inputs x, Sums sum) { return _mm512_dpbusd_epi32(sum, x, w); }
#elif defined(__AVXVNNI__) && WRY_VECTOR_BYTES == 32
#define WRY_DOT 1
using Whole = uint8_t;
using Sums = __m256i;
using Weights = __m256i;
using Inputs = __m256i;
constexpr int vectors = 2, half = 3, blocks_at_once = 1, passes = 1;
WRY_INLINE Sums no_sums() { return _mm256_setzero_si256(); }
WRY_INLINE Inputs inputs_at(const Whole *at) {
  int32_t four;
  __builtin_memcpy(&four, at, 4);
  return _mm256_set1_epi32(four);
}
WRY_INLINE Weights weights_at(const int8_t *at) { return _mm256_loadu_si256((const __m256i *)at); }
WRY_INLINE Sums add_products(Weights w, Inputs x, Sums sum) { return _mm256_dpbusd_avx_epi32(sum, x, w); }
#elif defined(__ARM_FEATURE_DOTPROD)
#define WRY_DOT 1
using Whole = int8_t;
using Sums = int32x4_t;
using Weights = int8x16_t;
using Inputs = int8x16_t;
constexpr int vectors = 4, half = 3, blocks_at_once = 1, passes = 1;
WRY_INLINE Sums no_sums() { return vdupq_n_s32(0); }
WRY_INLINE Inputs inputs_at(const Whole *at) {
  int32_t four;
  __builtin_memcpy(&four, at, 4);
  return vreinterpretq_s8_s32(vdupq_n_s32(four));
}
WRY_INLINE Weights weights_at(const int8_t *at) { return vld1q_s8(at); }
WRY_INLINE Sums add_products(Weights w, Inputs x, Sums sum) { return vdotq_s32(sum, w, x); }
#else
using Whole = int16_t;
using Sums = i32;
constexpr int vectors = 128 / WRY_VECTOR_BYTES;
WRY_INLINE Sums no_sums() { return i32{}; }
#if defined(WRY_AVX512)
constexpr int half = 3, blocks_at_once = 2, passes = 1;
using Weights = __m512i;
using Inputs = __m512i;
WRY_INLINE Inputs inputs_at(const Whole *at) {
  int64_t four;
  __builtin_memcpy(&four, at, 8);
  return _mm512_set1_epi64(four);
}
WRY_INLINE Weights weights_at(const int8_t *at) { return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)at)); }
WRY_INLINE Sums add_products(Weights w, Inputs x, Sums sum) { return sum + (i32)_mm512_madd_epi16(w, x); }
#elif WRY_VECTOR_BYTES == 32
constexpr int half = 2, blocks_at_once = 1, passes = 2;
using Weights = __m256i;
using Inputs = __m256i;
WRY_INLINE Inputs inputs_at(const Whole *at) {
  int64_t four;
  __builtin_memcpy(&four, at, 8);
  return _mm256_set1_epi64x(four);
}
WRY_INLINE Weights weights_at(const int8_t *at) { return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)at)); }
WRY_INLINE Sums add_products(Weights w, Inputs x, Sums sum) { return sum + (i32)_mm256_madd_epi16(w, x); }
#else
constexpr int half = 1, blocks_at_once = 1, passes = 2;
using Weights = vecn<int16_t, 8>;
using Inputs = vecn<int16_t, 8>;
WRY_INLINE Inputs inputs_at(const Whole *at) {
  int64_t four;
  __builtin_memcpy(&four, at, 8);
  return (Inputs)vecn<int64_t, 2>{four, four};
}
WRY_INLINE Weights weights_at(const int8_t *at) {
#if defined(__SSE4_1__)
  return (Weights)_mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)at));
#elif defined(__wasm_simd128__)
  return (Weights)wasm_i16x8_load8x8(at);
#else
  vecn<int8_t, 8> bytes;
  __builtin_memcpy(&bytes, at, 8);
  return __builtin_convertvector(bytes, Weights);
#endif
}
WRY_INLINE Sums add_products(Weights w, Inputs x, Sums sum) {
#if defined(__SSE2__)
  return sum + (i32)_mm_madd_epi16((__m128i)w, (__m128i)x);
#elif defined(__wasm_simd128__)
  return sum + (i32)wasm_i32x4_dot_i16x8((v128_t)w, (v128_t)x);
#elif defined(__aarch64__)
  return (Sums)vpadalq_s16((int32x4_t)sum, (int16x8_t)(w * x));
#else
  const i32 both = (i32)(w * x);  // 255 * 128 is what 16 bits hold
  return sum + ((both << 16) >> 16) + (both >> 16);
#endif
}
#endif
#endif

constexpr int parts = vectors / passes;  // vectors of a pass
using i32_of_sums = vecn<int32_t, int(sizeof(Sums) / 4)>;
constexpr int vector_bytes = step_bytes / vectors;

// The sums of the outputs of a pass, in order.
WRY_INLINE void store_sums(int32_t *to, const Sums *sums) {
#if defined(WRY_DOT)
#pragma GCC unroll 8
  for (int v = 0; v < parts; ++v) __builtin_memcpy(to + v * (out_block / vectors), sums + v, sizeof(Sums));
#else
#pragma GCC unroll 8
  for (int v = 0; v < parts; v += 2) {
    i32 even, odd;
#if WRY_VECTOR_BYTES == 64
    even = __builtin_shufflevector(sums[v], sums[v + 1], 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    odd = __builtin_shufflevector(sums[v], sums[v + 1], 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
#elif WRY_VECTOR_BYTES == 32
    even = __builtin_shufflevector(sums[v], sums[v + 1], 0, 2, 4, 6, 8, 10, 12, 14);
    odd = __builtin_shufflevector(sums[v], sums[v + 1], 1, 3, 5, 7, 9, 11, 13, 15);
#else
    even = __builtin_shufflevector(sums[v], sums[v + 1], 0, 2, 4, 6);
    odd = __builtin_shufflevector(sums[v], sums[v + 1], 1, 3, 5, 7);
#endif
    store(to + v / 2 * lanes<int32_t>, even + odd);
  }
#endif
}

// Fours of their own for each output, as they lie.
WRY_INLINE Inputs fours_at(const Whole *at) {
  Inputs x;
  __builtin_memcpy(&x, at, sizeof x);
  return x;
}

// ---- inputs ---------------------------------------------------------------------------------------

// How bytes become `Whole`: with the sign that the processor's instruction wants, or without their zero point.
struct Shift {
  int add;       // to a byte
  int32_t zero;  // what then stands for zero
};

template <typename T>
WRY_INLINE Shift shift_of(int32_t zero) {
#if defined(WRY_DOT)
  const int add = std::is_same<T, Whole>::value ? 0 : std::is_same<Whole, uint8_t>::value ? 128
                                                                                          : -128;
  return {add, zero + add};
#else
  return {-zero, 0};
#endif
}

// Whether inputs of this type serve where they lie.
template <typename T>
constexpr bool serves_as_it_is = std::is_same<T, Whole>::value;

template <typename T>
WRY_INLINE void widen_bytes(const T *WRY_RESTRICT from, Whole *WRY_RESTRICT to, int64_t n, int add) {
  const Whole moved = Whole(add);  // as narrow as the result, or the sum is computed in ints
  for (int64_t i = 0; i < n; ++i) to[i] = Whole(Whole(from[i]) + moved);
}

// ---- the tile -------------------------------------------------------------------------------------

// What a row meets: `count` runs of `length` values (a multiple of 4), run i from offsets[i] on; weights of all of them lie one after the other.
struct ByteRuns {
  const int64_t *offsets;
  int64_t count, length;
};

// The sums of `Rows` rows of each of `Halves` halves, `apart` values from row to row, by `Blocks` blocks of outputs: [rows, Blocks, 16].
template <int Rows, int Halves, int Blocks>
__attribute__((noinline)) void byte_tile(const ByteRuns &runs, const Whole *first, const Whole *second, int64_t apart, const int8_t *weight,
                                         int64_t weight_block, int32_t *to) {
  constexpr int rows = Rows * Halves, columns = Blocks * parts;
  // Few sums would wait for each other: then several steps are under way at once.
  constexpr int chains = rows * columns >= 8 ? 1 : rows * columns >= 4 ? 2
                                                                       : 4;
  for (int pass = 0; pass < passes; ++pass) {
    Sums sum[chains][rows][columns];
#pragma GCC unroll 4
    for (int u = 0; u < chains; ++u)
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
        for (int v = 0; v < columns; ++v) sum[u][i][v] = no_sums();
    const int8_t *w = weight + pass * parts * vector_bytes;
    for (int64_t r = 0; r < runs.count; ++r) {
      const Whole *a = first + runs.offsets[r], *b = second + runs.offsets[r];
      const auto step = [&](Sums(&s)[rows][columns], int64_t at) {
        Weights factor[columns];
#pragma GCC unroll 8
        for (int v = 0; v < columns; ++v)
          factor[v] = weights_at(w + at * out_block + v / parts * weight_block + v % parts * vector_bytes);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
          const Inputs x = inputs_at((i < Rows ? a + i * apart : b + (i - Rows) * apart) + at);
#pragma GCC unroll 8
          for (int v = 0; v < columns; ++v) s[i][v] = add_products(factor[v], x, s[i][v]);
        }
      };
      int64_t c = 0;
      if constexpr (chains > 1)
        for (; c + 4 * chains <= runs.length; c += 4 * chains)
#pragma GCC unroll 4
          for (int u = 0; u < chains; ++u) step(sum[u], c + 4 * u);
      for (; c < runs.length; c += 4) step(sum[0], c);
      w += runs.length * out_block;
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
      for (int b = 0; b < Blocks; ++b) {
        Sums all[parts];
#pragma GCC unroll 8
        for (int v = 0; v < parts; ++v) {
          all[v] = sum[0][i][b * parts + v];
#pragma GCC unroll 4
          for (int u = 1; u < chains; ++u) all[v] = (Sums)((i32_of_sums)all[v] + (i32_of_sums)sum[u][i][b * parts + v]);
        }
        store_sums(to + (i * Blocks + b) * out_block + pass * (out_block / passes), all);
      }
  }
}

// What the weights of each output add up to: their products with ones.
WRY_INLINE void weight_sums(const int8_t *weight, int64_t steps, int32_t *to) {
  alignas(64) const Whole ones[4] = {1, 1, 1, 1};
  const Inputs x = inputs_at(ones);
  constexpr int chains = parts == 1 ? 4 : 1;  // one sum would wait for itself
  for (int pass = 0; pass < passes; ++pass) {
    Sums sum[chains][parts];
    for (auto &chain : sum)
      for (auto &one : chain) one = no_sums();
    const auto add = [&](Sums(&to)[parts], int64_t step) {
#pragma GCC unroll 8
      for (int v = 0; v < parts; ++v) to[v] = add_products(weights_at(weight + step * step_bytes + (pass * parts + v) * vector_bytes), x, to[v]);
    };
    int64_t s = 0;
    for (; s + chains <= steps; s += chains)
#pragma GCC unroll 4
      for (int u = 0; u < chains; ++u) add(sum[u], s + u);
    for (; s < steps; ++s) add(sum[0], s);
#pragma GCC unroll 4
    for (int u = 1; u < chains; ++u)
      for (int v = 0; v < parts; ++v) sum[0][v] = (Sums)((i32_of_sums)sum[0][v] + (i32_of_sums)sum[u][v]);
    store_sums(to + pass * (out_block / passes), sum[0]);
  }
}

}  // namespace WRY_NAMESPACE

#endif
