// Vectors of small whole numbers in memory, which GCC converts one by one if it is not shown the instruction.
#ifndef WHERRY_OPS_CPU_INTS_H
#define WHERRY_OPS_CPU_INTS_H

#include "simd.h"

namespace WRY_NAMESPACE {

// As many whole numbers of 8 or 16 bits as i32 has lanes, and back: the low bits of each.
template <typename T>
WRY_INLINE i32 load_ints(const T *p) {
  static_assert(sizeof(T) <= 2, "small ones");
#if defined(__SSE4_1__)
  constexpr bool is_signed = T(-1) < T(0);
#if WRY_VECTOR_BYTES == 64
  if constexpr (sizeof(T) == 2) {
    const __m256i v = _mm256_loadu_si256((const __m256i *)p);
    return (i32)(is_signed ? _mm512_cvtepi16_epi32(v) : _mm512_cvtepu16_epi32(v));
  } else {
    const __m128i v = _mm_loadu_si128((const __m128i *)p);
    return (i32)(is_signed ? _mm512_cvtepi8_epi32(v) : _mm512_cvtepu8_epi32(v));
  }
#else
  __m128i v = _mm_setzero_si128();
  __builtin_memcpy(&v, p, sizeof(T) * lanes<int32_t>);
#if WRY_VECTOR_BYTES == 32
  if constexpr (sizeof(T) == 2) return (i32)(is_signed ? _mm256_cvtepi16_epi32(v) : _mm256_cvtepu16_epi32(v));
  else return (i32)(is_signed ? _mm256_cvtepi8_epi32(v) : _mm256_cvtepu8_epi32(v));
#else
  if constexpr (sizeof(T) == 2) return (i32)(is_signed ? _mm_cvtepi16_epi32(v) : _mm_cvtepu16_epi32(v));
  else return (i32)(is_signed ? _mm_cvtepi8_epi32(v) : _mm_cvtepu8_epi32(v));
#endif
#endif
#else
  vecn<T, lanes<int32_t> > v;
  __builtin_memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, i32);
#endif
}

template <typename T>
WRY_INLINE void store_ints(T *p, i32 v) {
  static_assert(sizeof(T) <= 2, "small ones");
#if WRY_VECTOR_BYTES == 64
  if constexpr (sizeof(T) == 2) _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16((__m512i)v));
  else _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8((__m512i)v));
#elif defined(__SSE4_1__)
#if WRY_VECTOR_BYTES == 32
  const __m256i low = _mm256_and_si256((__m256i)v, _mm256_set1_epi32(sizeof(T) == 2 ? 0xffff : 0xff));
  __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
#else
  const __m128i low = _mm_and_si128((__m128i)v, _mm_set1_epi32(sizeof(T) == 2 ? 0xffff : 0xff));
  __m128i words = _mm_packus_epi32(low, low);
#endif
  if constexpr (sizeof(T) == 1) words = _mm_packus_epi16(words, words);
  __builtin_memcpy(p, &words, sizeof(T) * lanes<int32_t>);
#else
  const vecn<T, lanes<int32_t> > narrow = __builtin_convertvector(v, vecn<T, lanes<int32_t> >);
  __builtin_memcpy(p, &narrow, sizeof narrow);
#endif
}

// The nearest whole numbers, of ties the even ones. They must fit.
WRY_INLINE i32 nearest_ints(f32 v) {
#if WRY_VECTOR_BYTES == 64
  return (i32)_mm512_cvtps_epi32((__m512)v);
#elif WRY_VECTOR_BYTES == 32
  return (i32)_mm256_cvtps_epi32((__m256)v);
#elif defined(__SSE2__)
  return (i32)_mm_cvtps_epi32((__m128)v);
#elif defined(__aarch64__)
  return (i32)vcvtnq_s32_f32((float32x4_t)v);
#else
  return convert<i32>(round_even(v));
#endif
}

// The same of numbers up to 2^22, without the instructions of WASM for numbers that do not fit.
WRY_INLINE i32 nearest_small_ints(f32 v) {
#if defined(__wasm_simd128__)
  // Above 2^23 floats are whole numbers, which lie after one another in memory.
  constexpr float whole = 12582912;
  return (i32)(v + whole) - 0x4b400000;
#else
  return nearest_ints(v);
#endif
}

// to[4 i + j] = from j[i]: four runs of 16 bytes laid into each other.
WRY_INLINE void lay_by_fours(const void *a, const void *b, const void *c, const void *d, void *to) {
  typedef uint8_t bytes __attribute__((vector_size(16)));
  typedef uint16_t words __attribute__((vector_size(16)));
  bytes x[4];
  __builtin_memcpy(x, a, 16), __builtin_memcpy(x + 1, b, 16), __builtin_memcpy(x + 2, c, 16), __builtin_memcpy(x + 3, d, 16);
  const auto low = [](bytes u, bytes v) { return (words)__builtin_shufflevector(u, v, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23); };
  const auto high = [](bytes u, bytes v) { return (words)__builtin_shufflevector(u, v, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31); };
  const words ab[2] = {low(x[0], x[1]), high(x[0], x[1])}, cd[2] = {low(x[2], x[3]), high(x[2], x[3])};
  words made[4];
  for (int i = 0; i < 2; ++i) {
    made[2 * i] = __builtin_shufflevector(ab[i], cd[i], 0, 8, 1, 9, 2, 10, 3, 11);
    made[2 * i + 1] = __builtin_shufflevector(ab[i], cd[i], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  __builtin_memcpy(to, made, 64);
}

}  // namespace WRY_NAMESPACE

#endif
