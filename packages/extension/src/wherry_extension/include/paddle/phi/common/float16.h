// phi::dtype::float16, and bfloat16, which is computed with in the same way.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
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

// Of bits.
inline float16 raw_uint16_to_float16(uint16_t a) {
  float16 made;
  made.x = a;
  return made;
}
inline bfloat16 raw_uint16_to_bfloat16(uint16_t a) {
  bfloat16 made;
  made.x = a;
  return made;
}

}  // namespace dtype
}  // namespace phi

namespace std {

// Those of what the sixteen bits can say: `p` bits of precision, from 2^(emin - 1) up.
template <typename Format>
struct numeric_limits<phi::dtype::half_base<Format>> {
 private:
  using T = phi::dtype::half_base<Format>;
  static constexpr bool binary16 = is_same<Format, phi::dtype::detail::binary16>::value;
  static T of(uint16_t bits) {
    T made;
    made.x = bits;
    return made;
  }

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true, has_denorm_loss = false;
  static constexpr bool is_iec559 = false, is_bounded = false, is_modulo = false, traps = true, tinyness_before = false;
  static constexpr float_denorm_style has_denorm = denorm_present;
  static constexpr float_round_style round_style = round_to_nearest;
  static constexpr int digits = binary16 ? 11 : 8, digits10 = binary16 ? 3 : 2, max_digits10 = binary16 ? 5 : 9, radix = 2;
  static constexpr int min_exponent = binary16 ? -13 : -125, min_exponent10 = binary16 ? -4 : -37;
  static constexpr int max_exponent = binary16 ? 16 : 128, max_exponent10 = binary16 ? 4 : 38;
  static T min() { return of(binary16 ? 0x0400 : 0x0080); }
  static T lowest() { return of(binary16 ? 0xfbff : 0xff7f); }
  static T max() { return of(binary16 ? 0x7bff : 0x7f7f); }
  static T epsilon() { return of(binary16 ? 0x1400 : 0x3c00); }
  static T round_error() { return T(0.5f); }
  static T infinity() { return of(binary16 ? 0x7c00 : 0x7f80); }
  static T quiet_NaN() { return of(binary16 ? 0x7e00 : 0x7fc0); }
  static T signaling_NaN() { return quiet_NaN(); }
  static T denorm_min() { return of(1); }
};

}  // namespace std
