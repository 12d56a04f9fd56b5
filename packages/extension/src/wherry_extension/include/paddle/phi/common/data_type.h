// Types of elements: the enumeration, and the C++ types that are not in the language.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <type_traits>

namespace phi {
namespace dtype {

// Sixteen bits that are computed with as float: they convert to it, and are rounded to nearest even on the way back.
template <typename Format>
struct half_base {
  uint16_t x = 0;

  half_base() = default;
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  explicit half_base(T value) : x(Format::round(static_cast<float>(value))) {}
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  half_base &operator=(T value) {
    x = Format::round(static_cast<float>(value));
    return *this;
  }
  operator float() const { return Format::widen(x); }

  friend half_base operator+(half_base a, half_base b) { return half_base(float(a) + float(b)); }
  friend half_base operator-(half_base a, half_base b) { return half_base(float(a) - float(b)); }
  friend half_base operator*(half_base a, half_base b) { return half_base(float(a) * float(b)); }
  friend half_base operator/(half_base a, half_base b) { return half_base(float(a) / float(b)); }
  half_base operator-() const { return half_base(-float(*this)); }
  half_base &operator+=(float other) { return *this = float(*this) + other; }
  half_base &operator-=(float other) { return *this = float(*this) - other; }
  half_base &operator*=(float other) { return *this = float(*this) * other; }
  half_base &operator/=(float other) { return *this = float(*this) / other; }
};

namespace detail {

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// IEEE 754 binary16: 5 bits of exponent, 10 of fraction.
struct binary16 {
  static uint16_t round(float value) {
    const uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // NaN
    if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and above round to infinity
    if (magnitude < 0x38800000u)                                                 // below 2^-14: adding 0.5 puts the fraction's last bit where that of a subnormal is
      return static_cast<uint16_t>(sign | (bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u));
    return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13));
  }
  static float widen(uint16_t x) {
    const uint32_t sign = static_cast<uint32_t>(x & 0x8000u) << 16, magnitude = x & 0x7fffu;
    if (magnitude >= 0x7c00u) return float_of(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude >= 0x400u) return float_of(sign | ((magnitude << 13) + 0x38000000u));
    const float small = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // 2^-24
    return sign ? -small : small;
  }
};

// The upper half of a float.
struct brain16 {
  static uint16_t round(float value) {
    const uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
    return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  static float widen(uint16_t x) { return float_of(static_cast<uint32_t>(x) << 16); }
};

}  // namespace detail

using float16 = half_base<detail::binary16>;
using bfloat16 = half_base<detail::brain16>;

template <typename T>
struct complex {
  T real = 0, imag = 0;

  complex() = default;
  complex(T r, T i) : real(r), imag(i) {}
  template <typename U, typename = typename std::enable_if<std::is_arithmetic<U>::value>::type>
  complex(U r) : real(static_cast<T>(r)) {}  // NOLINT: a number is a complex number
  template <typename U>
  explicit complex(const complex<U> &other) : real(static_cast<T>(other.real)), imag(static_cast<T>(other.imag)) {}
  complex(const std::complex<T> &other) : real(other.real()), imag(other.imag()) {}  // NOLINT: the same number
  explicit operator std::complex<T>() const { return {real, imag}; }

  friend complex operator+(const complex &a, const complex &b) { return {a.real + b.real, a.imag + b.imag}; }
  friend complex operator-(const complex &a, const complex &b) { return {a.real - b.real, a.imag - b.imag}; }
  friend complex operator*(const complex &a, const complex &b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
  friend complex operator/(const complex &a, const complex &b) {
    const T norm = b.real * b.real + b.imag * b.imag;
    return {(a.real * b.real + a.imag * b.imag) / norm, (a.imag * b.real - a.real * b.imag) / norm};
  }
  complex operator-() const { return {-real, -imag}; }
  complex &operator+=(const complex &b) { return *this = *this + b; }
  complex &operator-=(const complex &b) { return *this = *this - b; }
  complex &operator*=(const complex &b) { return *this = *this * b; }
  complex &operator/=(const complex &b) { return *this = *this / b; }
  friend bool operator==(const complex &a, const complex &b) { return a.real == b.real && a.imag == b.imag; }
  friend bool operator!=(const complex &a, const complex &b) { return !(a == b); }
};

template <typename T>
complex<T> conj(const complex<T> &a) {
  return {a.real, -a.imag};
}

// The functions of <complex>, found without `std::` like those of numbers.
#define WHERRY_COMPLEX_FUNCTION(name)     \
  template <typename T>                   \
  complex<T> name(const complex<T> &a) {  \
    return std::name(std::complex<T>(a)); \
  }
WHERRY_COMPLEX_FUNCTION(acos)
WHERRY_COMPLEX_FUNCTION(acosh)
WHERRY_COMPLEX_FUNCTION(asin)
WHERRY_COMPLEX_FUNCTION(asinh)
WHERRY_COMPLEX_FUNCTION(atan)
WHERRY_COMPLEX_FUNCTION(atanh)
WHERRY_COMPLEX_FUNCTION(cos)
WHERRY_COMPLEX_FUNCTION(cosh)
WHERRY_COMPLEX_FUNCTION(exp)
WHERRY_COMPLEX_FUNCTION(log)
WHERRY_COMPLEX_FUNCTION(sin)
WHERRY_COMPLEX_FUNCTION(sinh)
WHERRY_COMPLEX_FUNCTION(sqrt)
WHERRY_COMPLEX_FUNCTION(tan)
WHERRY_COMPLEX_FUNCTION(tanh)
#undef WHERRY_COMPLEX_FUNCTION
template <typename T>
complex<T> pow(const complex<T> &a, const complex<T> &b) {
  return std::pow(std::complex<T>(a), std::complex<T>(b));
}
template <typename T>
T abs(const complex<T> &a) {
  return std::abs(std::complex<T>(a));
}
template <typename T>
T arg(const complex<T> &a) {
  return std::arg(std::complex<T>(a));
}
template <typename T>
bool isnan(const complex<T> &a) {
  return std::isnan(a.real) || std::isnan(a.imag);
}
template <typename T>
bool isinf(const complex<T> &a) {
  return std::isinf(a.real) || std::isinf(a.imag);
}
template <typename T>
bool isfinite(const complex<T> &a) {
  return std::isfinite(a.real) && std::isfinite(a.imag);
}
template <typename T>
std::ostream &operator<<(std::ostream &out, const complex<T> &a) {
  return out << std::complex<T>(a);
}

}  // namespace dtype

enum class DataType {
  UNDEFINED = 0,
  BOOL,
  INT8,
  UINT8,
  INT16,
  INT32,
  UINT32,
  INT64,
  UINT64,
  BFLOAT16,
  FLOAT16,
  UINT16,
  FLOAT32,
  FLOAT64,
  COMPLEX64,
  COMPLEX128,
  STRING,
  PSTRING,
  NUM_DATA_TYPES,
  ALL_DTYPE = UNDEFINED,
};

inline size_t SizeOf(DataType type) {
  static const unsigned char sizes[] = {0, 1, 1, 1, 2, 4, 4, 8, 8, 2, 2, 2, 4, 8, 8, 16};
  return static_cast<int>(type) < static_cast<int>(DataType::STRING) ? sizes[static_cast<int>(type)] : 0;
}

// The name of the enumerator, in the spelling that errors use.
inline const char *DataTypeToString(DataType type) {
  static const char *const names[] = {"Undefined", "bool", "int8", "uint8", "int16", "int32", "uint32", "int64",
                                      "uint64", "bfloat16", "float16", "uint16", "float32", "float64", "complex64", "complex128"};
  return static_cast<int>(type) < static_cast<int>(DataType::STRING) ? names[static_cast<int>(type)] : "unknown";
}

template <typename T>
struct CppTypeToDataType;

#define WHERRY_EACH_DTYPE(_)               \
  _(bool, BOOL)                            \
  _(int8_t, INT8)                          \
  _(uint8_t, UINT8)                        \
  _(int16_t, INT16)                        \
  _(int32_t, INT32)                        \
  _(uint32_t, UINT32)                      \
  _(int64_t, INT64)                        \
  _(uint64_t, UINT64)                      \
  _(phi::dtype::bfloat16, BFLOAT16)        \
  _(phi::dtype::float16, FLOAT16)          \
  _(uint16_t, UINT16)                      \
  _(float, FLOAT32)                        \
  _(double, FLOAT64)                       \
  _(phi::dtype::complex<float>, COMPLEX64) \
  _(phi::dtype::complex<double>, COMPLEX128)

#define WHERRY_DTYPE_OF(cpp, name)                              \
  template <>                                                   \
  struct CppTypeToDataType<cpp> {                               \
    static constexpr DataType Type() { return DataType::name; } \
  };
WHERRY_EACH_DTYPE(WHERRY_DTYPE_OF)
#undef WHERRY_DTYPE_OF

enum class DataLayout {
  ANY = 0,
  NHWC,
  NCHW,
  NCDHW,
  NDHWC,
  ONEDNN,
  SPARSE_COO,
  SPARSE_CSR,
  PSTRING_UNION,
  NUM_DATA_LAYOUTS,
  UNDEFINED = ANY,
  ALL_LAYOUT = ANY,
  MKLDNN = ONEDNN,
  kNHWC = NHWC,
  kNCHW = NCHW,
  kAnyLayout = ANY,
  kMKLDNN = ONEDNN,
};

}  // namespace phi

namespace paddle {

using phi::DataLayout;
using phi::DataType;
using float16 = phi::dtype::float16;
using bfloat16 = phi::dtype::bfloat16;
using complex64 = phi::dtype::complex<float>;
using complex128 = phi::dtype::complex<double>;

inline const char *ToString(DataType type) { return phi::DataTypeToString(type); }

}  // namespace paddle
