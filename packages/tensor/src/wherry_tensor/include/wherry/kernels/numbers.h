// Numbers as kernels of every device compute with them: complex ones, and the integers' common divisors. Nothing of the host is here and
// nothing is included: CUDA's run-time compiler takes this file, too. (What an including file defines: wherry/kernels/call.h.)
#ifndef WHERRY_KERNELS_NUMBERS_H
#define WHERRY_KERNELS_NUMBERS_H

namespace WRY_NAMESPACE {

// Not std::complex (its product calls a library function that repairs infinities, is not vectorised, and its templates could be
// shared between instruction sets) and not cuComplex, which has no operators.
template <typename R>
struct WRY_COMPLEX_ALIGNMENT(R) complex {
  R re, im;
  complex() = default;
  WRY_FN complex(R re_, R im_ = R(0)) : re(re_), im(im_) {}
  template <typename Q>
  WRY_FN explicit complex(const complex<Q> &other) : re(R(other.re)), im(R(other.im)) {}

  friend WRY_FN complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
  friend WRY_FN complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
  friend WRY_FN complex operator-(complex a) { return {-a.re, -a.im}; }
  friend WRY_FN complex operator*(complex a, complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  friend WRY_FN bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
  friend WRY_FN bool operator!=(complex a, complex b) { return !(a == b); }
  WRY_FN complex &operator+=(complex b) { return *this = *this + b; }
  WRY_FN complex &operator*=(complex b) { return *this = *this * b; }
};
using complex64 = complex<float>;
using complex128 = complex<double>;

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
template <typename T>
using real_of = typename is_complex<T>::real;

template <typename T>
WRY_FN T conjugate(T x) {
  if constexpr (is_complex<T>::value) return T(x.re, -x.im);
  else return x;
}
template <typename T>
WRY_FN real_of<T> real_part(T x) {
  if constexpr (is_complex<T>::value) return x.re;
  else return x;
}
// What pivots are compared by. For complex numbers |re| + |im|, as LAPACK does.
template <typename T>
WRY_FN real_of<T> magnitude(T x) {
  if constexpr (is_complex<T>::value) return magnitude(x.re) + magnitude(x.im);
  else if constexpr (sizeof(T) == sizeof(float)) return fabsf(x);
  else return fabs(x);
}
template <typename T>
WRY_FN T inverse_of(T x) {
  if constexpr (is_complex<T>::value) {  // Smith's division: no square that could overflow
    using R = real_of<T>;
    if (magnitude(x.re) >= magnitude(x.im)) {
      const R ratio = x.im / x.re, whole = x.re + x.im * ratio;
      return T(R(1) / whole, -ratio / whole);
    }
    const R ratio = x.re / x.im, whole = x.re * ratio + x.im;
    return T(ratio / whole, R(-1) / whole);
  } else {
    return T(1) / x;
  }
}

// ---- integers -----------------------------------------------------------------------------------

// Without overflow: that of the most negative integer is one more than the largest.
template <typename T>
WRY_FN uint64_t absolute_value(T x) { return x < 0 ? uint64_t(0) - uint64_t(x) : uint64_t(x); }

WRY_FN uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
template <typename T>
WRY_FN T gcd_of(T x, T y) { return T(greatest_common_divisor(absolute_value(x), absolute_value(y))); }
template <typename T>
WRY_FN T lcm_of(T x, T y) {
  const uint64_t a = absolute_value(x), b = absolute_value(y), divisor = greatest_common_divisor(a, b);
  return divisor == 0 ? T(0) : T(a / divisor * b);
}

}  // namespace WRY_NAMESPACE

#endif
