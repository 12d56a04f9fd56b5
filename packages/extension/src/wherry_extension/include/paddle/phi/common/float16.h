// phi::dtype::float16, and bfloat16, which is computed with in the same way.
#pragma once

#include <cstdint>
#include <cstring>
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

}  // namespace dtype
}  // namespace phi
