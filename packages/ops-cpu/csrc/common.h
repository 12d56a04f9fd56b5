// What every kernel file starts from: the namespace of its instruction set, the types behind the
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

// n values between storage and float. Neither side may overlap the other.
WRY_INLINE void widen(const float16 *WRY_RESTRICT from, float *WRY_RESTRICT to, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from + i))));
#elif defined(__F16C__)
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
  for (int64_t i = 0; i < n; ++i) to[i] = float(from[i]);
}

WRY_INLINE void narrow(const float *WRY_RESTRICT from, bfloat16 *WRY_RESTRICT to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = bfloat16(from[i]);
}

// Not std::complex: its product calls a library function that repairs infinities, is not
// vectorised, and its templates could be shared between instruction sets.
template <typename R>
struct complex {
  R re, im;
  complex() = default;
  WRY_INLINE complex(R re_, R im_ = R(0)) : re(re_), im(im_) {}
  template <typename Q>
  WRY_INLINE explicit complex(const complex<Q> &other) : re(R(other.re)), im(R(other.im)) {}

  friend WRY_INLINE complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
  friend WRY_INLINE complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
  friend WRY_INLINE complex operator-(complex a) { return {-a.re, -a.im}; }
  friend WRY_INLINE complex operator*(complex a, complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend WRY_INLINE bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
  friend WRY_INLINE bool operator!=(complex a, complex b) { return !(a == b); }
  WRY_INLINE complex &operator+=(complex b) { return *this = *this + b; }
  WRY_INLINE complex &operator*=(complex b) { return *this = *this * b; }
};
using complex64 = complex<float>;
using complex128 = complex<double>;

static_assert(sizeof(bool) == 1 && sizeof(float16) == 2 && sizeof(complex64) == 8, "storage sizes");

// The dtype code of a type ...
template <typename T>
struct code_of;
template <>
struct code_of<bool> {
  static constexpr int32_t value = WRY_BOOL;
};
template <>
struct code_of<uint8_t> {
  static constexpr int32_t value = WRY_UINT8;
};
template <>
struct code_of<int8_t> {
  static constexpr int32_t value = WRY_INT8;
};
template <>
struct code_of<int16_t> {
  static constexpr int32_t value = WRY_INT16;
};
template <>
struct code_of<int32_t> {
  static constexpr int32_t value = WRY_INT32;
};
template <>
struct code_of<int64_t> {
  static constexpr int32_t value = WRY_INT64;
};
template <>
struct code_of<float16> {
  static constexpr int32_t value = WRY_FLOAT16;
};
template <>
struct code_of<bfloat16> {
  static constexpr int32_t value = WRY_BFLOAT16;
};
template <>
struct code_of<float> {
  static constexpr int32_t value = WRY_FLOAT32;
};
template <>
struct code_of<double> {
  static constexpr int32_t value = WRY_FLOAT64;
};
template <>
struct code_of<complex64> {
  static constexpr int32_t value = WRY_COMPLEX64;
};
template <>
struct code_of<complex128> {
  static constexpr int32_t value = WRY_COMPLEX128;
};

// ... the type that arithmetic on it uses, and its real part's.
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

template <typename T>
struct is_complex {
  static constexpr bool value = false;
  using real = T;
};
template <typename R>
struct is_complex<complex<R>> {
  static constexpr bool value = true;
  using real = R;
};

inline constexpr int32_t item_sizes[WRY_NUM_DTYPES] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
inline constexpr const char *dtype_names[WRY_NUM_DTYPES] = {
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};

WRY_INLINE int64_t item_size(const wry_tensor *t) { return item_sizes[t->dtype]; }

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

// Rows of a kernel table, one for each dtype: WRY_FLOAT_ROWS("exp", WRY_MAY_ALIAS, exp_kernel).
#define WRY_ROW(op, T, flags, kernel) {op, code_of<T>::value, flags, kernel<T>}
#define WRY_FLOAT_ROWS(op, flags, kernel)                                    \
  WRY_ROW(op, float16, flags, kernel), WRY_ROW(op, bfloat16, flags, kernel), \
      WRY_ROW(op, float, flags, kernel), WRY_ROW(op, double, flags, kernel)
#define WRY_COMPLEX_ROWS(op, flags, kernel) \
  WRY_ROW(op, complex64, flags, kernel), WRY_ROW(op, complex128, flags, kernel)
// What few programs compute with (8 and 16 bit integers, and complex numbers except in products) has rows in the
// baseline's tables alone, which are registered before those of another instruction set. A third of what there is to
// compile belongs to them.
#if WRY_RARE_DTYPES
#define WRY_INT_ROWS(op, flags, kernel)                                         \
  WRY_ROW(op, uint8_t, flags, kernel), WRY_ROW(op, int8_t, flags, kernel),      \
      WRY_ROW(op, int16_t, flags, kernel), WRY_ROW(op, int32_t, flags, kernel), \
      WRY_ROW(op, int64_t, flags, kernel)
#else
#define WRY_INT_ROWS(op, flags, kernel)                                     \
  WRY_ROW(op, uint8_t, flags, kernel), WRY_ROW(op, int32_t, flags, kernel), \
      WRY_ROW(op, int64_t, flags, kernel)
#endif
#define WRY_BOOL_ROW(op, flags, kernel) WRY_ROW(op, bool, flags, kernel)
#define WRY_REAL_ROWS(op, flags, kernel) \
  WRY_INT_ROWS(op, flags, kernel), WRY_FLOAT_ROWS(op, flags, kernel)
#if WRY_RARE_DTYPES
#define WRY_NUMBER_ROWS(op, flags, kernel) \
  WRY_REAL_ROWS(op, flags, kernel), WRY_COMPLEX_ROWS(op, flags, kernel)
#else
#define WRY_NUMBER_ROWS(op, flags, kernel) WRY_REAL_ROWS(op, flags, kernel)
#endif
#define WRY_ALL_ROWS(op, flags, kernel) \
  WRY_BOOL_ROW(op, flags, kernel), WRY_NUMBER_ROWS(op, flags, kernel)

// ---- a call -------------------------------------------------------------------------------------

template <typename T>
WRY_INLINE T *data(const wry_tensor *t) { return static_cast<T *>(t->data); }

WRY_INLINE const wry_tensor *input(const wry_call *call, int i) { return call->inputs[i]; }
WRY_INLINE const wry_tensor *output(const wry_call *call, int i) { return call->outputs[i]; }

// Row-major without gaps; axes of size 1 may have any stride.
WRY_INLINE bool is_contiguous(const wry_tensor *t) {
  int64_t expected = 1;
  for (int i = t->rank - 1; i >= 0; --i) {
    if (t->shape[i] != 1 && t->strides[i] != expected) return t->size == 0;
    expected *= t->shape[i];
  }
  return true;
}

WRY_INLINE bool same_shape(const wry_tensor *a, const wry_tensor *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; ++i)
    if (a->shape[i] != b->shape[i]) return false;
  return true;
}

struct Ints {
  const int64_t *data;
  int32_t length;
  WRY_INLINE int64_t operator[](int i) const { return data[i]; }
  WRY_INLINE const int64_t *begin() const { return data; }
  WRY_INLINE const int64_t *end() const { return data + length; }
};

WRY_INLINE bool attr_is_none(const wry_call *call, int i) { return call->attrs[i].kind == WRY_ATTR_NONE; }
WRY_INLINE int64_t attr_int(const wry_call *call, int i) { return call->attrs[i].value.i; }
WRY_INLINE bool attr_bool(const wry_call *call, int i) { return call->attrs[i].value.i != 0; }
WRY_INLINE double attr_float(const wry_call *call, int i) {
  const wry_attr &a = call->attrs[i];
  return a.kind == WRY_ATTR_INT ? double(a.value.i) : a.value.f;
}
WRY_INLINE Ints attr_ints(const wry_call *call, int i) {
  const wry_attr &a = call->attrs[i];
  return a.kind == WRY_ATTR_NONE ? Ints{nullptr, 0} : Ints{a.value.ints, a.length};
}
WRY_INLINE const char *attr_string(const wry_call *call, int i) { return call->attrs[i].value.s; }
WRY_INLINE bool attr_equals(const wry_call *call, int i, const char *text) {
  return strcmp(call->attrs[i].value.s, text) == 0;
}

// A Scalar attribute as a value of type T (an int keeps all its 64 bits).
template <typename T>
WRY_INLINE T attr_scalar(const wry_call *call, int i) {
  using A = arithmetic_t<T>;
  const wry_attr &a = call->attrs[i];
  if constexpr (is_complex<T>::value) {
    using R = typename is_complex<T>::real;
    if (a.kind == WRY_ATTR_FLOATS) return T(R(a.value.floats[0]), R(a.value.floats[1]));
    return T(R(a.kind == WRY_ATTR_INT ? double(a.value.i) : a.value.f));
  } else {
    if (a.kind == WRY_ATTR_INT) return T(A(a.value.i));
    return T(A(a.kind == WRY_ATTR_FLOATS ? a.value.floats[0] : a.value.f));
  }
}

// Scratch memory for n values of T, or null. Uninitialised.
template <typename T>
WRY_INLINE T *workspace(const wry_call *call, int64_t n) {
  return static_cast<T *>(call->context->workspace(call->context, size_t(n) * sizeof(T)));
}

// Writes the text that the caller will read and returns the status:
//   return fail(call, WRY_OUT_OF_RANGE, "gather: index %lld is ...", (long long)index);
__attribute__((format(printf, 3, 4), noinline, cold, unused)) static int fail(const wry_call *call, int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(call->context->error, WRY_ERROR_SIZE, format, arguments);
  va_end(arguments);
  return status;
}

__attribute__((noinline, cold, unused)) static int fail_memory(const wry_call *call, const char *op, int64_t bytes) {
  return fail(call, WRY_OUT_OF_MEMORY,
              "%s: out of memory. Needed %lld bytes of scratch memory and got none. "
              "Use smaller tensors or free some that are no longer needed.",
              op, (long long)bytes);
}

template <typename T>
WRY_INLINE T min_of(T a, T b) { return b < a ? b : a; }
template <typename T>
WRY_INLINE T max_of(T a, T b) { return a < b ? b : a; }

}  // namespace WRY_NAMESPACE

#endif
