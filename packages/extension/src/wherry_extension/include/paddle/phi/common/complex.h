// phi::dtype::complex, with the functions of <complex>.
#pragma once

#include <cmath>
#include <complex>
#include <ostream>
#include <type_traits>

namespace phi {
namespace dtype {

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
}  // namespace phi
