// What every kernel file starts from: the namespace of its instruction set, the types after the
// dtype codes, access to attributes, and the way to report an error.
//
// A family file is compiled once per instruction set with -DWRY_ISA=<name>. All that it defines
// lives in WRY_NAMESPACE, because the linker keeps only one of several equal inline functions: an
// AVX-512 copy of a shared helper would crash an older processor. For the same reason files that
// are compiled more than once use no templates of the standard library that may stay out of line
// (std::sort, std::vector ...); such code belongs into a BASELINE_ONLY file.
#ifndef WHERRY_OPS_CPU_COMMON_H
#define WHERRY_OPS_CPU_COMMON_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <wherry/abi.h>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#ifndef WRY_ISA
#define WRY_ISA baseline
#endif

#define WRY_NAMESPACE wherry::cpu::WRY_ISA

// The function that hands out a family's table: wry_cpu_<isa>_<family>.
#define WRY_PASTE_(isa, family) wry_cpu_##isa##_##family
#define WRY_PASTE(isa, family) WRY_PASTE_(isa, family)
#define WRY_ENTRIES(family) WRY_PASTE(WRY_ISA, family)
#define WRY_TABLE(family, table)                                          \
  extern "C" const wry_kernel_entry *WRY_ENTRIES(family)(size_t *count);  \
  extern "C" const wry_kernel_entry *WRY_ENTRIES(family)(size_t *count) { \
    *count = sizeof(table) / sizeof(table[0]);                            \
    return table;                                                         \
  }

#define WRY_LIKELY(x) __builtin_expect(!!(x), 1)
#define WRY_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define WRY_INLINE inline __attribute__((always_inline))
#define WRY_RESTRICT __restrict__

namespace WRY_NAMESPACE {

// ---- types --------------------------------------------------------------------------------------

// Storage of 16 bit floats. Arithmetic happens in float: convert with float(x) and T(value).
// Whole arrays are converted faster by `widen` and `narrow` below.

WRY_INLINE float bits_to_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

WRY_INLINE uint32_t float_to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

// Branch free, so that loops over it become SIMD where the processor has no instruction for it.
WRY_INLINE float half_bits_to_float(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000u) << 16;
  const uint32_t magnitude = uint32_t(half & 0x7fffu) << 13;
  // Multiplying by 2^112 moves the exponent bias from 15 to 127 and normalises subnormals.
  const uint32_t scaled = float_to_bits(bits_to_float(magnitude) * bits_to_float(0x77800000u));
  const uint32_t special = magnitude | 0x7f800000u;  // infinity and NaN
  return bits_to_float(sign | (magnitude >= 0x0f800000u ? special : scaled));
}

WRY_INLINE uint16_t float_to_half_bits(float value) {
  const uint32_t bits = float_to_bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Normal halves: round to nearest even in the integer that holds exponent and mantissa.
  const uint32_t normal = (magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
  // Subnormal halves: adding 0.5 lets the float adder do the rounding at bit 2^-24.
  const uint32_t small = float_to_bits(bits_to_float(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  uint32_t out = magnitude < 0x38800000u ? small : normal;
  out = magnitude >= 0x477ff000u ? 0x7c00u : out;  // rounds to 65536 or more
  out = magnitude > 0x7f800000u ? nan : out;
  return uint16_t(sign | out);
}

struct float16 {
  uint16_t bits;
  float16() = default;
#if defined(__F16C__)
  WRY_INLINE explicit float16(float value) : bits(uint16_t(_cvtss_sh(value, 0))) {}
  WRY_INLINE operator float() const { return _cvtsh_ss(bits); }
#elif defined(__ARM_FP16_FORMAT_IEEE) && defined(__aarch64__)
  WRY_INLINE explicit float16(float value) {
    const __fp16 half = __fp16(value);
    memcpy(&bits, &half, 2);
  }
  WRY_INLINE operator float() const {
    __fp16 half;
    memcpy(&half, &bits, 2);
    return float(half);
  }
#else
  WRY_INLINE explicit float16(float value) : bits(float_to_half_bits(value)) {}
  WRY_INLINE operator float() const { return half_bits_to_float(bits); }
#endif
};

struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  WRY_INLINE explicit bfloat16(float value) {
    const uint32_t all = float_to_bits(value);
    const uint32_t rounded = (all + 0x7fffu + ((all >> 16) & 1u)) >> 16;
    const uint32_t nan = (all >> 16) | 0x40u;  // stays a NaN when its low bits go
    bits = uint16_t((all & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
  WRY_INLINE operator float() const { return bits_to_float(uint32_t(bits) << 16); }
};

#if defined(__AVX512BW__)
// 16 values at a time; a compiler's own way goes by halves, or through a permutation of two registers.
WRY_INLINE __m512 widen_bf16(__m256i bits) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16)); }
WRY_INLINE __m256i upper_words(__m512i bits) {
  const __m512i upper = _mm512_set_epi16(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1, 31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  return _mm512_castsi512_si256(_mm512_permutexvar_epi16(upper, bits));
}
WRY_INLINE __m256i narrow_bf16(__m512 v) {
  const __m512i bits = _mm512_castps_si512(v), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  // A NaN stays one when its low bits go.
  const __m512i out = _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), bits, _mm512_set1_epi32(0x400000));
  return upper_words(out);
}
#endif

// n values between storage and float. Neither side may overlap the other.
WRY_INLINE void widen(const float16 *WRY_RESTRICT from, float *WRY_RESTRICT to, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from + i))));
#endif
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
#endif
  for (; i < n; ++i) to[i] = float(from[i]);
}

WRY_INLINE void narrow(const float *WRY_RESTRICT from, float16 *WRY_RESTRICT to, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256((__m256i *)(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), 0));
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
#endif
  for (; i < n; ++i) to[i] = float16(from[i]);
}

WRY_INLINE void widen(const bfloat16 *WRY_RESTRICT from, float *WRY_RESTRICT to, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512BW__)
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(to + i, widen_bf16(_mm256_loadu_si256((const __m256i *)(from + i))));
#endif
  for (; i < n; ++i) to[i] = float(from[i]);
}

WRY_INLINE void narrow(const float *WRY_RESTRICT from, bfloat16 *WRY_RESTRICT to, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512BW__)
  for (; i + 16 <= n; i += 16) _mm256_storeu_si256((__m256i *)(to + i), narrow_bf16(_mm512_loadu_ps(from + i)));
#endif
  for (; i < n; ++i) to[i] = bfloat16(from[i]);
}

// The type that arithmetic on a type uses.
template <typename T>
struct arithmetic {
  using type = T;
};
template <>
struct arithmetic<float16> {
  using type = float;
};
template <>
struct arithmetic<bfloat16> {
  using type = float;
};
template <typename T>
using arithmetic_t = typename arithmetic<T>::type;

}  // namespace WRY_NAMESPACE

#define WRY_FN WRY_INLINE
#define WRY_COMPLEX_ALIGNMENT(R)
#include <wherry/kernels/call.h>

namespace WRY_NAMESPACE {

static_assert(sizeof(bool) == 1 && sizeof(float16) == 2 && sizeof(complex64) == 8, "storage sizes");

inline constexpr const char *dtype_names[WRY_NUM_DTYPES] = {
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};

// Calls f(T()) with the type of `dtype` out of the listed ones; false when it is not among them.
// Every listed type instantiates f once: list what the kernel needs and no more. A kernel that is
// registered per dtype (WRY_*_ROWS below) needs no dispatch at all.
//
//   dispatch<int32_t, int64_t>(index->dtype, [&](auto tag) { using I = decltype(tag); ... });
template <typename... Types, typename F>
WRY_INLINE bool dispatch(int32_t dtype, F &&f) {
  return ((dtype == code_of<Types>::value ? (f(Types()), true) : false) || ...);
}

// Values that are only moved: an unsigned word of their size instead of their type, 5 kinds for 12.
struct word16 {
  uint64_t lo, hi;
};

template <typename F>
WRY_INLINE void dispatch_size(int64_t bytes, F &&f) {
  switch (bytes) {
    case 1: f(uint8_t()); break;
    case 2: f(uint16_t()); break;
    case 4: f(uint32_t()); break;
    case 8: f(uint64_t()); break;
    default: f(word16()); break;
  }
}

// Rows of a kernel table, one for each dtype: WRY_FLOAT_ROWS("exp", WRY_MAY_ALIAS, exp_kernel). Tables that devices have in common lie in
// <wherry/kernels/rows/>; what they name after a kernel is for fused chains of other devices.
#define WRY_ROW(op, T, flags, kernel, ...) {op, code_of<T>::value, flags, kernel<T>, nullptr}
#define WRY_PLAIN_ROW(op, dtype, flags, kernel, ...) {op, dtype, flags, kernel, nullptr}
#define WRY_ANY_ROW(op, flags, kernel, ...) {op, -1, flags, kernel, nullptr}
#define WRY_FLOAT_ROWS(op, flags, kernel, ...)                               \
  WRY_ROW(op, float16, flags, kernel), WRY_ROW(op, bfloat16, flags, kernel), \
      WRY_ROW(op, float, flags, kernel), WRY_ROW(op, double, flags, kernel)
#define WRY_COMPLEX_ROWS(op, flags, kernel, ...) \
  WRY_ROW(op, complex64, flags, kernel), WRY_ROW(op, complex128, flags, kernel)
// What few programs compute with (8 and 16 bit integers, and complex numbers except in products) has rows in the
// baseline's tables alone, which are registered before those of another instruction set. A third of what there is to
// compile belongs to them.
#if WRY_RARE_DTYPES
#define WRY_INT_ROWS(op, flags, kernel, ...)                                    \
  WRY_ROW(op, uint8_t, flags, kernel), WRY_ROW(op, int8_t, flags, kernel),      \
      WRY_ROW(op, int16_t, flags, kernel), WRY_ROW(op, int32_t, flags, kernel), \
      WRY_ROW(op, int64_t, flags, kernel)
#else
#define WRY_INT_ROWS(op, flags, kernel, ...)                                \
  WRY_ROW(op, uint8_t, flags, kernel), WRY_ROW(op, int32_t, flags, kernel), \
      WRY_ROW(op, int64_t, flags, kernel)
#endif
#define WRY_BOOL_ROW(op, flags, kernel, ...) WRY_ROW(op, bool, flags, kernel)
#define WRY_REAL_ROWS(op, flags, kernel, ...) \
  WRY_INT_ROWS(op, flags, kernel), WRY_FLOAT_ROWS(op, flags, kernel)
#if WRY_RARE_DTYPES
#define WRY_NUMBER_ROWS(op, flags, kernel, ...) \
  WRY_REAL_ROWS(op, flags, kernel), WRY_COMPLEX_ROWS(op, flags, kernel)
#define WRY_INEXACT_ROWS(op, flags, kernel, ...) \
  WRY_FLOAT_ROWS(op, flags, kernel), WRY_COMPLEX_ROWS(op, flags, kernel)
#else
#define WRY_NUMBER_ROWS(op, flags, kernel, ...) WRY_REAL_ROWS(op, flags, kernel)
#define WRY_INEXACT_ROWS(op, flags, kernel, ...) WRY_FLOAT_ROWS(op, flags, kernel)
#endif
#define WRY_ALL_ROWS(op, flags, kernel, ...) \
  WRY_BOOL_ROW(op, flags, kernel), WRY_NUMBER_ROWS(op, flags, kernel)

WRY_INLINE bool same_shape(const wry_tensor *a, const wry_tensor *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; ++i)
    if (a->shape[i] != b->shape[i]) return false;
  return true;
}

template <typename T>
WRY_INLINE T min_of(T a, T b) { return b < a ? b : a; }
template <typename T>
WRY_INLINE T max_of(T a, T b) { return a < b ? b : a; }

}  // namespace WRY_NAMESPACE

#endif
