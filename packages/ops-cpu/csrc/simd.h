// SIMD vectors of the widest register that the instruction set has, from one source: the vector
// extensions of GCC and clang give arithmetic (+ - * /), comparison, bit operations and the choice
// `mask ? a : b` on x86, NEON and WASM SIMD128 alike. This header adds what they lack. Intrinsics
// appear only where the compilers find no good code by themselves.
//
//   for (; i + lanes<T> <= n; i += lanes<T>) store(out + i, load(x + i) * 2);
//   if (i < n) store_partial(out + i, load_partial(x + i, n - i) * 2, n - i);
//
// vec<T> holds lanes<T> values. For the 16-bit floats it is a vector of float: load and store
// convert. A comparison gives a vector of ints of the same width, all ones where it holds.
//
// The last elements of an array go through the same vector code as the others (load_partial), so a
// value does not depend on where in an array, or in which thread's part, its element lies.
#ifndef WHERRY_OPS_CPU_SIMD_H
#define WHERRY_OPS_CPU_SIMD_H

#include "common.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define WRY_AVX512 1
#define WRY_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define WRY_VECTOR_BYTES 32
#else
#define WRY_VECTOR_BYTES 16
#endif

// A file whose values must be the same on every processor defines WRY_UNFUSED first.
#if (defined(__FMA__) || defined(__aarch64__)) && !defined(WRY_UNFUSED)
#define WRY_HAS_FMA 1
#endif

namespace WRY_NAMESPACE {

// ---- types --------------------------------------------------------------------------------------

template <typename T, int N>
struct vector_of {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <typename T, int N>
using vecn = typename vector_of<T, N>::type;

template <typename T>
inline constexpr int lanes = WRY_VECTOR_BYTES / int(sizeof(arithmetic_t<T>));
template <typename T>
using vec = vecn<arithmetic_t<T>, lanes<T>>;

using f32 = vec<float>;
using f64 = vec<double>;
using i32 = vec<int32_t>;
using u32 = vec<uint32_t>;
using i64 = vec<int64_t>;
using u64 = vec<uint64_t>;

inline constexpr int f32_lanes = lanes<float>;
inline constexpr int f64_lanes = lanes<double>;

// The vector of a scalar type, and what a comparison of it gives.
template <typename V>
struct vector_traits;
template <>
struct vector_traits<f32> {
  using scalar = float;
  using mask = i32;
};
template <>
struct vector_traits<f64> {
  using scalar = double;
  using mask = i64;
};
template <>
struct vector_traits<i32> {
  using scalar = int32_t;
  using mask = i32;
};
template <>
struct vector_traits<u32> {
  using scalar = uint32_t;
  using mask = i32;
};
template <>
struct vector_traits<i64> {
  using scalar = int64_t;
  using mask = i64;
};
template <>
struct vector_traits<u64> {
  using scalar = uint64_t;
  using mask = i64;
};

// ---- memory -------------------------------------------------------------------------------------

// Every lane is x. (Subtracting zero and not adding it, which would turn -0 into +0.)
template <typename V>
WRY_INLINE V splat(typename vector_traits<V>::scalar x) { return x - V{}; }

template <typename T>
WRY_INLINE vec<T> load(const T *p) {
  vec<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

template <typename T>
WRY_INLINE void store(T *p, vec<T> v) { __builtin_memcpy(p, &v, sizeof v); }

#if !defined(WRY_AVX512) && !defined(__F16C__)
// The steps of half_bits_to_float and float_to_half_bits (common.h), lane by lane.
WRY_INLINE f32 widen_half(vecn<uint16_t, f32_lanes> half) {
  const u32 bits = __builtin_convertvector(half, u32);
  const u32 magnitude = (bits & 0x7fffu) << 13;
  const u32 scaled = (u32)((f32)magnitude * 0x1p112f);
  const u32 special = magnitude | 0x7f800000u;
  return (f32)(((bits & 0x8000u) << 16) | (magnitude >= 0x0f800000u ? special : scaled));
}

WRY_INLINE vecn<uint16_t, f32_lanes> narrow_half(f32 v) {
  const u32 bits = (u32)v;
  const u32 magnitude = bits & 0x7fffffffu;
  const u32 normal = (magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
  const u32 small = (u32)((f32)magnitude + 0.5f) - 0x3f000000u;
  u32 out = magnitude < 0x38800000u ? small : normal;
  out = magnitude >= 0x477ff000u ? 0x7c00u - u32{} : out;
  out = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : out;
  return __builtin_convertvector(((bits >> 16) & 0x8000u) | out, vecn<uint16_t, f32_lanes>);
}
#endif

WRY_INLINE f32 load(const float16 *p) {
#if defined(WRY_AVX512)
  return (f32)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
#elif defined(__F16C__) && WRY_VECTOR_BYTES == 32
  return (f32)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
#elif defined(__F16C__)
  return (f32)_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)p));
#else
  vecn<uint16_t, f32_lanes> half;
  __builtin_memcpy(&half, p, sizeof half);
  return widen_half(half);
#endif
}

WRY_INLINE void store(float16 *p, f32 v) {
#if defined(WRY_AVX512)
  _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__) && WRY_VECTOR_BYTES == 32
  _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  _mm_storel_epi64((__m128i *)p, _mm_cvtps_ph((__m128)v, _MM_FROUND_TO_NEAREST_INT));
#else
  const vecn<uint16_t, f32_lanes> half = narrow_half(v);
  __builtin_memcpy(p, &half, sizeof half);
#endif
}

WRY_INLINE f32 load(const bfloat16 *p) {
#if defined(WRY_AVX512)
  return (f32)widen_bf16(_mm256_loadu_si256((const __m256i *)p));
#else
  vecn<uint16_t, f32_lanes> half;
  __builtin_memcpy(&half, p, sizeof half);
  return (f32)(__builtin_convertvector(half, u32) << 16);
#endif
}

WRY_INLINE void store(bfloat16 *p, f32 v) {
#if defined(WRY_AVX512)
  _mm256_storeu_si256((__m256i *)p, narrow_bf16((__m512)v));
#else
  const u32 bits = (u32)v;
  const u32 rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const u32 out = v == v ? rounded : (bits | 0x400000u);  // a NaN stays one when its low bits go
  const vecn<uint16_t, f32_lanes> half = __builtin_convertvector(out >> 16, vecn<uint16_t, f32_lanes>);
  __builtin_memcpy(p, &half, sizeof half);
#endif
}

// In two steps for what a function has computed from bfloat16: halves between two numbers, which the value only seems to be, go up,
// and a NaN is one of an input, whose low bits are 0.
WRY_INLINE f32 upper_half_rounded(f32 v) { return (f32)(((u32)v + 0x8000u) & 0xffff0000u); }
// The same into memory.
WRY_INLINE void store_upper_half(bfloat16 *p, f32 v) {
#if defined(WRY_AVX512)
  _mm256_storeu_si256((__m256i *)p, upper_words((__m512i)((u32)v + 0x8000u)));
#else
  const vecn<uint16_t, f32_lanes> half = __builtin_convertvector(((u32)v + 0x8000u) >> 16, vecn<uint16_t, f32_lanes>);
  __builtin_memcpy(p, &half, sizeof half);
#endif
}

// The first n < lanes<T> values; the other lanes hold `fill`.
template <typename T>
WRY_INLINE vec<T> load_partial(const T *p, int64_t n, T fill = T(0)) {
#if defined(WRY_AVX512)
  if constexpr (sizeof(T) == 4) {
    const __m512i rest = (__m512i)(fill - vec<T>{});
    return (vec<T>)_mm512_mask_loadu_epi32(rest, __mmask16((1u << n) - 1), p);
  } else if constexpr (sizeof(T) == 8) {
    const __m512i rest = (__m512i)(fill - vec<T>{});
    return (vec<T>)_mm512_mask_loadu_epi64(rest, __mmask8((1u << n) - 1), p);
  } else if constexpr (sizeof(T) == 2 && sizeof(arithmetic_t<T>) == 4) {
    int16_t bits;
    memcpy(&bits, &fill, 2);
    const __m256i raw = _mm256_mask_loadu_epi16(_mm256_set1_epi16(bits), __mmask16((1u << n) - 1), p);
    return load((const T *)&raw);
  } else
#endif
  {
    T padded[lanes<T>];
    for (int i = 0; i < lanes<T>; ++i) padded[i] = fill;
    for (int i = 0; i < n; ++i) padded[i] = p[i];
    return load(padded);
  }
}

template <typename T>
WRY_INLINE void store_partial(T *p, vec<T> v, int64_t n) {
#if defined(WRY_AVX512)
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_epi32(p, __mmask16((1u << n) - 1), (__m512i)v);
  } else if constexpr (sizeof(T) == 8) {
    _mm512_mask_storeu_epi64(p, __mmask8((1u << n) - 1), (__m512i)v);
  } else if constexpr (sizeof(T) == 2 && sizeof(arithmetic_t<T>) == 4) {
    __m256i raw;
    store((T *)&raw, v);
    _mm256_mask_storeu_epi16(p, __mmask16((1u << n) - 1), raw);
  } else
#endif
  {
    T padded[lanes<T>];
    store(padded, v);
    for (int i = 0; i < n; ++i) p[i] = padded[i];
  }
}

// Past the caches: for a large array that is written once and not read soon. p is aligned to the
// vector. stream_fence() follows the last of them in each thread.
template <typename T>
WRY_INLINE void stream(T *p, vec<T> v) {
#if WRY_VECTOR_BYTES == 64
  _mm512_stream_si512((__m512i *)p, (__m512i)v);
#elif WRY_VECTOR_BYTES == 32
  _mm256_stream_si256((__m256i *)p, (__m256i)v);
#elif defined(__SSE2__)
  _mm_stream_si128((__m128i *)p, (__m128i)v);
#else
  store(p, v);
#endif
}

WRY_INLINE void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// ---- choice, comparison -------------------------------------------------------------------------

template <typename V>
WRY_INLINE V select(typename vector_traits<V>::mask mask, V yes, V no) { return mask ? yes : no; }

// As the processors' instructions: `b` when either is NaN.
template <typename V>
WRY_INLINE V min(V a, V b) { return a < b ? a : b; }
template <typename V>
WRY_INLINE V max(V a, V b) { return a > b ? a : b; }

#if defined(__SSE2__) && !defined(__clang__)
// GCC does not see these instructions in the comparison above.
WRY_INLINE f32 min(f32 a, f32 b) {
#if WRY_VECTOR_BYTES == 64
  return (f32)_mm512_min_ps((__m512)a, (__m512)b);
#elif WRY_VECTOR_BYTES == 32
  return (f32)_mm256_min_ps((__m256)a, (__m256)b);
#else
  return (f32)_mm_min_ps((__m128)a, (__m128)b);
#endif
}
WRY_INLINE f32 max(f32 a, f32 b) {
#if WRY_VECTOR_BYTES == 64
  return (f32)_mm512_max_ps((__m512)a, (__m512)b);
#elif WRY_VECTOR_BYTES == 32
  return (f32)_mm256_max_ps((__m256)a, (__m256)b);
#else
  return (f32)_mm_max_ps((__m128)a, (__m128)b);
#endif
}
WRY_INLINE f64 min(f64 a, f64 b) {
#if WRY_VECTOR_BYTES == 64
  return (f64)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif WRY_VECTOR_BYTES == 32
  return (f64)_mm256_min_pd((__m256d)a, (__m256d)b);
#else
  return (f64)_mm_min_pd((__m128d)a, (__m128d)b);
#endif
}
WRY_INLINE f64 max(f64 a, f64 b) {
#if WRY_VECTOR_BYTES == 64
  return (f64)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif WRY_VECTOR_BYTES == 32
  return (f64)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
  return (f64)_mm_max_pd((__m128d)a, (__m128d)b);
#endif
}
#endif

// NaN where either is NaN.
template <typename V>
WRY_INLINE V maximum(V a, V b) { return a != a ? a : max(a, b); }
template <typename V>
WRY_INLINE V minimum(V a, V b) { return a != a ? a : min(a, b); }

// Whether any (every) lane of a mask is set.
template <typename M>
WRY_INLINE bool any(M mask) {
#if WRY_VECTOR_BYTES == 64
  return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif WRY_VECTOR_BYTES == 32
  return _mm256_movemask_epi8((__m256i)mask) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_epi8((__m128i)mask) != 0;
#elif defined(__aarch64__)
  return vmaxvq_u32((uint32x4_t)mask) != 0;
#elif defined(__wasm_simd128__)
  return wasm_v128_any_true((v128_t)mask);
#else
  const u64 words = (u64)mask;
  uint64_t all = 0;
  for (int i = 0; i < lanes<uint64_t>; ++i) all |= words[i];
  return all != 0;
#endif
}
template <typename M>
WRY_INLINE bool all(M mask) { return !any(~mask); }

// ---- arithmetic ---------------------------------------------------------------------------------

// a * b + c, rounded once where the processor can.
WRY_INLINE f32 fma(f32 a, f32 b, f32 c) {
#if defined(WRY_HAS_FMA) && WRY_VECTOR_BYTES == 64
  return (f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(WRY_HAS_FMA) && WRY_VECTOR_BYTES == 32
  return (f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(WRY_HAS_FMA) && defined(__aarch64__)
  return (f32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#elif defined(__wasm_relaxed_simd__)
  return (f32)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#else
  return a * b + c;
#endif
}
WRY_INLINE f64 fma(f64 a, f64 b, f64 c) {
#if defined(WRY_HAS_FMA) && WRY_VECTOR_BYTES == 64
  return (f64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(WRY_HAS_FMA) && WRY_VECTOR_BYTES == 32
  return (f64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(WRY_HAS_FMA) && defined(__aarch64__)
  return (f64)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#elif defined(__wasm_relaxed_simd__)
  return (f64)wasm_f64x2_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#else
  return a * b + c;
#endif
}
// With one factor, or the summand, the same in every lane.
WRY_INLINE f32 fma(f32 a, f32 b, float c) { return fma(a, b, splat<f32>(c)); }
WRY_INLINE f32 fma(f32 a, float b, f32 c) { return fma(a, splat<f32>(b), c); }
WRY_INLINE f32 fma(f32 a, float b, float c) { return fma(a, splat<f32>(b), splat<f32>(c)); }
WRY_INLINE f64 fma(f64 a, f64 b, double c) { return fma(a, b, splat<f64>(c)); }
WRY_INLINE f64 fma(f64 a, double b, f64 c) { return fma(a, splat<f64>(b), c); }
WRY_INLINE f64 fma(f64 a, double b, double c) { return fma(a, splat<f64>(b), splat<f64>(c)); }

WRY_INLINE f32 sqrt(f32 a) {
#if WRY_VECTOR_BYTES == 64
  return (f32)_mm512_sqrt_ps((__m512)a);
#elif WRY_VECTOR_BYTES == 32
  return (f32)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
  return (f32)_mm_sqrt_ps((__m128)a);
#elif defined(__aarch64__)
  return (f32)vsqrtq_f32((float32x4_t)a);
#elif defined(__wasm_simd128__)
  return (f32)wasm_f32x4_sqrt((v128_t)a);
#else
  for (int i = 0; i < f32_lanes; ++i) a[i] = __builtin_sqrtf(a[i]);
  return a;
#endif
}
WRY_INLINE f64 sqrt(f64 a) {
#if WRY_VECTOR_BYTES == 64
  return (f64)_mm512_sqrt_pd((__m512d)a);
#elif WRY_VECTOR_BYTES == 32
  return (f64)_mm256_sqrt_pd((__m256d)a);
#elif defined(__SSE2__)
  return (f64)_mm_sqrt_pd((__m128d)a);
#elif defined(__aarch64__)
  return (f64)vsqrtq_f64((float64x2_t)a);
#elif defined(__wasm_simd128__)
  return (f64)wasm_f64x2_sqrt((v128_t)a);
#else
  for (int i = 0; i < f64_lanes; ++i) a[i] = __builtin_sqrt(a[i]);
  return a;
#endif
}

WRY_INLINE f32 abs(f32 a) { return (f32)((i32)a & 0x7fffffff); }
WRY_INLINE f64 abs(f64 a) { return (f64)((i64)a & INT64_MAX); }
WRY_INLINE f32 copysign(f32 magnitude, f32 sign) {
  return (f32)(((i32)magnitude & 0x7fffffff) | ((i32)sign & INT32_MIN));
}
WRY_INLINE f64 copysign(f64 magnitude, f64 sign) {
  return (f64)(((i64)magnitude & INT64_MAX) | ((i64)sign & INT64_MIN));
}

// Rounding to an integral value. The four ways of x86's instruction, or through the adder: from
// 2^23 (2^52) on every value is integral, below that adding it and subtracting it again rounds.
#if WRY_VECTOR_BYTES == 64
#define WRY_ROUNDING(name, mode)                                                                        \
  WRY_INLINE f32 name(f32 a) { return (f32)_mm512_roundscale_ps((__m512)a, mode | _MM_FROUND_NO_EXC); } \
  WRY_INLINE f64 name(f64 a) { return (f64)_mm512_roundscale_pd((__m512d)a, mode | _MM_FROUND_NO_EXC); }
WRY_ROUNDING(round_even, _MM_FROUND_TO_NEAREST_INT)
WRY_ROUNDING(floor, _MM_FROUND_TO_NEG_INF)
WRY_ROUNDING(ceil, _MM_FROUND_TO_POS_INF)
WRY_ROUNDING(trunc, _MM_FROUND_TO_ZERO)
#undef WRY_ROUNDING
#elif WRY_VECTOR_BYTES == 32
#define WRY_ROUNDING(name, mode)                                                                   \
  WRY_INLINE f32 name(f32 a) { return (f32)_mm256_round_ps((__m256)a, mode | _MM_FROUND_NO_EXC); } \
  WRY_INLINE f64 name(f64 a) { return (f64)_mm256_round_pd((__m256d)a, mode | _MM_FROUND_NO_EXC); }
WRY_ROUNDING(round_even, _MM_FROUND_TO_NEAREST_INT)
WRY_ROUNDING(floor, _MM_FROUND_TO_NEG_INF)
WRY_ROUNDING(ceil, _MM_FROUND_TO_POS_INF)
WRY_ROUNDING(trunc, _MM_FROUND_TO_ZERO)
#undef WRY_ROUNDING
#elif defined(__SSE4_1__)
#define WRY_ROUNDING(name, mode)                                                                \
  WRY_INLINE f32 name(f32 a) { return (f32)_mm_round_ps((__m128)a, mode | _MM_FROUND_NO_EXC); } \
  WRY_INLINE f64 name(f64 a) { return (f64)_mm_round_pd((__m128d)a, mode | _MM_FROUND_NO_EXC); }
WRY_ROUNDING(round_even, _MM_FROUND_TO_NEAREST_INT)
WRY_ROUNDING(floor, _MM_FROUND_TO_NEG_INF)
WRY_ROUNDING(ceil, _MM_FROUND_TO_POS_INF)
WRY_ROUNDING(trunc, _MM_FROUND_TO_ZERO)
#undef WRY_ROUNDING
#elif defined(__aarch64__)
WRY_INLINE f32 round_even(f32 a) { return (f32)vrndnq_f32((float32x4_t)a); }
WRY_INLINE f64 round_even(f64 a) { return (f64)vrndnq_f64((float64x2_t)a); }
WRY_INLINE f32 floor(f32 a) { return (f32)vrndmq_f32((float32x4_t)a); }
WRY_INLINE f64 floor(f64 a) { return (f64)vrndmq_f64((float64x2_t)a); }
WRY_INLINE f32 ceil(f32 a) { return (f32)vrndpq_f32((float32x4_t)a); }
WRY_INLINE f64 ceil(f64 a) { return (f64)vrndpq_f64((float64x2_t)a); }
WRY_INLINE f32 trunc(f32 a) { return (f32)vrndq_f32((float32x4_t)a); }
WRY_INLINE f64 trunc(f64 a) { return (f64)vrndq_f64((float64x2_t)a); }
#elif defined(__wasm_simd128__)
WRY_INLINE f32 round_even(f32 a) { return (f32)wasm_f32x4_nearest((v128_t)a); }
WRY_INLINE f64 round_even(f64 a) { return (f64)wasm_f64x2_nearest((v128_t)a); }
WRY_INLINE f32 floor(f32 a) { return (f32)wasm_f32x4_floor((v128_t)a); }
WRY_INLINE f64 floor(f64 a) { return (f64)wasm_f64x2_floor((v128_t)a); }
WRY_INLINE f32 ceil(f32 a) { return (f32)wasm_f32x4_ceil((v128_t)a); }
WRY_INLINE f64 ceil(f64 a) { return (f64)wasm_f64x2_ceil((v128_t)a); }
WRY_INLINE f32 trunc(f32 a) { return (f32)wasm_f32x4_trunc((v128_t)a); }
WRY_INLINE f64 trunc(f64 a) { return (f64)wasm_f64x2_trunc((v128_t)a); }
#else
template <typename V>
WRY_INLINE V round_even(V a) {
  using T = typename vector_traits<V>::scalar;
  const T shift = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
  const V magnitude = abs(a);
  const V rounded = (magnitude + shift) - shift;
  return magnitude < shift ? copysign(rounded, a) : a;
}
template <typename V>
WRY_INLINE V floor(V a) {
  const V near = round_even(a);
  return copysign(near > a ? near - 1 : near, a);
}
template <typename V>
WRY_INLINE V ceil(V a) {
  const V near = round_even(a);
  return copysign(near < a ? near + 1 : near, a);
}
template <typename V>
WRY_INLINE V trunc(V a) {
  const V magnitude = abs(a), near = round_even(magnitude);
  return copysign(near > magnitude ? near - 1 : near, a);
}
#endif

// ---- conversion ---------------------------------------------------------------------------------

// Lane by lane, with as many lanes; from float to int the values must fit.
template <typename To, typename V>
WRY_INLINE To convert(V v) { return __builtin_convertvector(v, To); }

// A vector of floats as two of doubles: the lower and the upper half of the lanes.
struct f64x2 {
  f64 lo, hi;
};

namespace detail {
template <int... I>
struct sequence {};
template <int N, int... I>
struct make_sequence : make_sequence<N - 1, N - 1, I...> {};
template <int... I>
struct make_sequence<0, I...> {
  using type = sequence<I...>;
};

template <int Shift, typename V, int... I>
WRY_INLINE auto part(V v, sequence<I...>) { return __builtin_shufflevector(v, v, (I + Shift)...); }
template <typename V, int... I>
WRY_INLINE auto join(V a, V b, sequence<I...>) { return __builtin_shufflevector(a, b, I...); }
}  // namespace detail

// The halves of a vector of N lanes, and the vector of two halves.
template <int N, typename V>
WRY_INLINE auto lower_half(V v) { return detail::part<0>(v, typename detail::make_sequence<N / 2>::type()); }
template <int N, typename V>
WRY_INLINE auto upper_half(V v) { return detail::part<N / 2>(v, typename detail::make_sequence<N / 2>::type()); }

WRY_INLINE f64x2 to_double(f32 v) {
#if WRY_VECTOR_BYTES == 64
  return {(f64)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)v)),
          (f64)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)v, 1))};
#elif WRY_VECTOR_BYTES == 32
  return {(f64)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)v)),
          (f64)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)v, 1))};
#elif defined(__SSE2__)
  return {(f64)_mm_cvtps_pd((__m128)v), (f64)_mm_cvtps_pd(_mm_movehl_ps((__m128)v, (__m128)v))};
#else
  return {convert<f64>(lower_half<f32_lanes>(v)), convert<f64>(upper_half<f32_lanes>(v))};
#endif
}

WRY_INLINE f32 to_float(f64x2 v) {
#if WRY_VECTOR_BYTES == 64
  return (f32)_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)v.lo)),
                                 _mm512_cvtpd_ps((__m512d)v.hi), 1);
#elif WRY_VECTOR_BYTES == 32
  return (f32)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)v.lo)),
                                   _mm256_cvtpd_ps((__m256d)v.hi), 1);
#elif defined(__SSE2__)
  return (f32)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)v.lo), _mm_cvtpd_ps((__m128d)v.hi));
#else
  using half = vecn<float, f64_lanes>;
  return detail::join(convert<half>(v.lo), convert<half>(v.hi), typename detail::make_sequence<f32_lanes>::type());
#endif
}

// ---- across the lanes ---------------------------------------------------------------------------

// Combines all lanes pairwise (a fixed tree: the result does not depend on anything else).
template <int N, typename V, typename F>
WRY_INLINE auto reduce_lanes(V v, F &&combine) {
  if constexpr (N == 2) {
    return combine(v[0], v[1]);
  } else {
    const auto lo = lower_half<N>(v);
    const auto hi = upper_half<N>(v);
    return reduce_lanes<N / 2>(combine(lo, hi), combine);
  }
}

template <typename V>
WRY_INLINE auto reduce_add(V v) {
  return reduce_lanes<int(sizeof(V) / sizeof(v[0]))>(v, [](auto a, auto b) { return a + b; });
}
// Any lane may win where lanes hold NaN.
template <typename V>
WRY_INLINE auto reduce_max(V v) {
  return reduce_lanes<int(sizeof(V) / sizeof(v[0]))>(v, [](auto a, auto b) { return a > b ? a : b; });
}
template <typename V>
WRY_INLINE auto reduce_min(V v) {
  return reduce_lanes<int(sizeof(V) / sizeof(v[0]))>(v, [](auto a, auto b) { return a < b ? a : b; });
}

}  // namespace WRY_NAMESPACE

#endif
