// Functions of one value: arithmetic, elementary functions, rounding, predicates, complex parts.
//
// float16, bfloat16 and float32 compute in float with the functions of vecmath.h; float64 uses the
// C library; complex numbers use it in double, complex64 included.
#include "pointwise.h"
#include "vecmath.h"

namespace WRY_NAMESPACE {
namespace {

// ---- arithmetic ---------------------------------------------------------------------------------

struct Negative {
  static constexpr Lanes lanes = Lanes::all;
  template <typename V>
  WRY_INLINE V operator()(V x) const {
    if constexpr (is_integer<V>) return V(unsigned_t<V>(0) - unsigned_t<V>(x));
    else return -x;
  }
};

struct Square {
  static constexpr Lanes lanes = Lanes::all;
  template <typename V>
  WRY_INLINE V operator()(V x) const {
    if constexpr (is_integer<V>) return V(unsigned_t<V>(x) * unsigned_t<V>(x));
    else return x * x;
  }
};

// sqrt(x x + y y) to one ulp, without the squares leaving the range of a double: C's hypot, of which a new
// version in glibc 2.35 would be the only thing here that older systems lack.
WRY_INLINE double length_of(double x, double y) {
  double most = ::fabs(x), least = ::fabs(y);
  if (__builtin_isinf(most) || __builtin_isinf(least)) return __builtin_inf();  // even beside NaN
  if (least > most) {
    const double other = most;
    most = least, least = other;
  }
  double scale = 1;
  if (most > 0x1p510) scale = 0x1p600;
  else if (most < 0x1p-450) scale = 0x1p-600;
  const double a = most / scale, b = least / scale;  // exact, unless the smaller one is too small to count
  return ::sqrt(a * a + b * b) * scale;
}
// Squares of floats fit into a double.
WRY_INLINE float length_of(float x, float y) {
  if (__builtin_isinf(x) || __builtin_isinf(y)) return __builtin_inff();
  return float(::sqrt(double(x) * x + double(y) * y));
}

struct Absolute {
  static constexpr Lanes lanes = Lanes::all;
  WRY_INLINE f32 operator()(f32 x) const { return abs(x); }
  WRY_INLINE f64 operator()(f64 x) const { return abs(x); }
  template <typename R>
  WRY_INLINE R operator()(complex<R> x) const { return length_of(x.re, x.im); }
  template <typename T>
  WRY_INLINE T operator()(T x) const { return x < T(0) ? Negative()(x) : x; }
};

struct Sign {
  static constexpr Lanes lanes = Lanes::all;
  template <typename V>
  WRY_INLINE V of_lanes(V x) const {
    return x != x ? x : (x > 0 ? V{} + 1 : (x < 0 ? V{} - 1 : V{}));
  }
  WRY_INLINE f32 operator()(f32 x) const { return of_lanes(x); }
  WRY_INLINE f64 operator()(f64 x) const { return of_lanes(x); }
  template <typename R>
  WRY_INLINE complex<R> operator()(complex<R> x) const {
    const double size = length_of(double(x.re), double(x.im));
    return size == 0 ? complex<R>(0) : complex<R>(R(x.re / size), R(x.im / size));
  }
  template <typename T>
  WRY_INLINE T operator()(T x) const { return T((x > T(0)) - (x < T(0))); }
};

// Half away from zero: Paddle's rounding, unlike NumPy's.
struct Round {
  static constexpr Lanes lanes = Lanes::all;
  template <typename V>
  WRY_INLINE V operator()(V x) const {
    const V whole = trunc(x);
    return abs(x - whole) >= 0.5 ? whole + copysign(V{} + 1, x) : whole;
  }
};

// ---- elementary functions -----------------------------------------------------------------------

using native_complex = _Complex double;

WRY_INLINE native_complex to_native(complex128 x) {
  native_complex z;
  __real__ z = x.re;
  __imag__ z = x.im;
  return z;
}
WRY_INLINE complex128 from_native(native_complex z) { return {__real__ z, __imag__ z}; }

WRY_INLINE complex128 divide_complex(complex128 a, complex128 b) {
  // Smith's method: the squares of the parts of b need not fit into a double.
  if (::fabs(b.re) >= ::fabs(b.im)) {
    const double ratio = b.im / b.re, scale = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
  }
  const double ratio = b.re / b.im, scale = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
}

#ifdef __EMSCRIPTEN__
// The library of WebAssembly (musl) takes a wrong turn in these: at infinity, and in which side of a cut
// a signed zero means.
WRY_INLINE bool infinite(complex128 z) { return __builtin_isinf(z.re) || __builtin_isinf(z.im); }

complex128 complex_asinh(complex128 z) {
  if (!infinite(z)) return from_native(__builtin_casinh(to_native(z)));
  // The direction of z is all that is left of it.
  const double angle = __builtin_isinf(z.re) ? (__builtin_isinf(z.im) ? 0.25 : __builtin_isnan(z.im) ? __builtin_nan("")
                                                                                                     : 0)
                                             : 0.5;
  return {::copysign(__builtin_inf(), z.re), ::copysign(angle * 3.141592653589793, z.im)};
}

complex128 complex_acosh(complex128 z) {
  if (!infinite(z)) return from_native(__builtin_cacosh(to_native(z)));
  return {__builtin_inf(), ::atan2(z.im, z.re)};
}

complex128 complex_atanh(complex128 z) {
  const double x = ::fabs(z.re), y = z.im;
  if (x > 1e100 || ::fabs(y) > 1e100) {  // the squares would not fit into a double; 1 / z is what is left
    const double size = length_of(x, y);
    const double real = infinite(z) ? 0 : x / size / size;
    return {::copysign(real, z.re), ::copysign(1.5707963267948966, y)};
  }
  const double real = 0.25 * ::log1p(4 * x / ((1 - x) * (1 - x) + y * y));
  return {::copysign(real, z.re), 0.5 * ::atan2(2 * y, (1 - x) * (1 + x) - y * y)};
}

complex128 complex_atan(complex128 z) {
  const complex128 turned = complex_atanh({-z.im, z.re});
  return {turned.im, -turned.re};
}
#else
WRY_INLINE complex128 complex_asinh(complex128 z) { return from_native(__builtin_casinh(to_native(z))); }
WRY_INLINE complex128 complex_acosh(complex128 z) { return from_native(__builtin_cacosh(to_native(z))); }
WRY_INLINE complex128 complex_atanh(complex128 z) { return from_native(__builtin_catanh(to_native(z))); }
WRY_INLINE complex128 complex_atan(complex128 z) { return from_native(__builtin_catan(to_native(z))); }
#endif

// In float by lanes, in double by the C library, complex by `complex_value` of a native_complex z.
#define WRY_FUNCTION(Name, name, complex_value)                        \
  struct Name {                                                        \
    static constexpr Lanes lanes = Lanes::floats;                      \
    WRY_INLINE f32 operator()(f32 x) const { return name(x); }         \
    WRY_INLINE double operator()(double x) const { return ::name(x); } \
    template <typename R>                                              \
    WRY_INLINE complex<R> operator()(complex<R> x) const {             \
      const native_complex z = to_native(complex128(x));               \
      return complex<R>(complex_value);                                \
    }                                                                  \
  };

// The same with a coarse way.
#define WRY_COARSE_FUNCTION(Name, name, complex_value)              \
  WRY_FUNCTION(Fine##Name, name, complex_value)                     \
  struct Name : Fine##Name {                                        \
    WRY_INLINE f32 coarse(f32 x) const { return coarse_##name(x); } \
    WRY_INLINE f32 rough(f32 x) const { return rough_##name(x); }   \
  };

WRY_COARSE_FUNCTION(Exp, exp, from_native(__builtin_cexp(z)))
WRY_FUNCTION(Log, log, from_native(__builtin_clog(z)))
WRY_FUNCTION(Log2, log2, from_native(__builtin_clog(z) * 1.4426950408889634))
WRY_FUNCTION(Log10, log10, from_native(__builtin_clog(z) * 0.4342944819032518))
WRY_FUNCTION(Sin, sin, from_native(__builtin_csin(z)))
WRY_FUNCTION(Cos, cos, from_native(__builtin_ccos(z)))
WRY_FUNCTION(Tan, tan, from_native(__builtin_ctan(z)))
WRY_FUNCTION(Asin, asin, from_native(__builtin_casin(z)))
WRY_FUNCTION(Acos, acos, from_native(__builtin_cacos(z)))
WRY_FUNCTION(Atan, atan, complex_atan(from_native(z)))
WRY_FUNCTION(Sinh, sinh, from_native(__builtin_csinh(z)))
WRY_FUNCTION(Cosh, cosh, from_native(__builtin_ccosh(z)))
WRY_COARSE_FUNCTION(Tanh, tanh, from_native(__builtin_ctanh(z)))
WRY_FUNCTION(Asinh, asinh, complex_asinh(from_native(z)))
WRY_FUNCTION(LibraryAcosh, acosh, complex_acosh(from_native(z)))
struct Acosh : LibraryAcosh {
  using LibraryAcosh::operator();
  // The library of WebAssembly (musl) finds numbers below -1.
  WRY_INLINE double operator()(double x) const { return x < 1.0 ? __builtin_nan("") : ::acosh(x); }
};
WRY_FUNCTION(Atanh, atanh, complex_atanh(from_native(z)))
WRY_FUNCTION(Erf, erf, complex128(0.0))  // never registered for complex numbers

complex128 complex_expm1(double a, double b) {
  // exp(a) cos b - 1, in terms that vanish with a and b
  const double half_sine = ::sin(0.5 * b);
  return {::expm1(a) * ::cos(b) - 2 * half_sine * half_sine, ::exp(a) * ::sin(b)};
}
complex128 complex_log1p(double a, double b) { return {0.5 * ::log1p(a * (2 + a) + b * b), ::atan2(b, 1 + a)}; }
WRY_FUNCTION(Expm1, expm1, complex_expm1(__real__ z, __imag__ z))
WRY_FUNCTION(Log1p, log1p, complex_log1p(__real__ z, __imag__ z))

// With an instruction for double as well.
#define WRY_LANE_FUNCTION(Name, lanes_value, complex_value)        \
  struct Name {                                                    \
    static constexpr Lanes lanes = Lanes::all;                     \
    WRY_INLINE f32 operator()(f32 x) const { return lanes_value; } \
    WRY_INLINE f64 operator()(f64 x) const { return lanes_value; } \
    template <typename R>                                          \
    WRY_INLINE complex<R> operator()(complex<R> x) const {         \
      const native_complex z = to_native(complex128(x));           \
      return complex<R>(complex_value);                            \
    }                                                              \
  };

WRY_LANE_FUNCTION(Sqrt, sqrt(x), from_native(__builtin_csqrt(z)))
WRY_LANE_FUNCTION(Rsqrt, 1 / sqrt(x), divide_complex(complex128(1.0), from_native(__builtin_csqrt(z))))
WRY_LANE_FUNCTION(Reciprocal, 1 / x, divide_complex(complex128(1.0), from_native(z)))
WRY_LANE_FUNCTION(Floor, floor(x), complex128(0.0))
WRY_LANE_FUNCTION(Ceil, ceil(x), complex128(0.0))
WRY_LANE_FUNCTION(Trunc, trunc(x), complex128(0.0))

// The y with erf(y) = x, as x times a polynomial of w = -log(1 - x^2), and from w = 5 on of sqrt(w): the variables of Giles, "Approximating
// the erfinv function" (2010). Fits at Chebyshev's points, to 2^-30 and, up to sqrt(w) = 4.2, to 2^-28.
constexpr double erfinv_near[] = {1.5014093517481764, 0.24664027674858424, -0.004177325080457763, -0.0012527079573557702,
                                  0.0002182641252155226, -4.996000110143956e-06, -3.426266209734268e-06, 4.786897084558858e-07,
                                  1.650364404121373e-08, -1.0861761271594343e-08, 4.340626803853993e-10, 1.2346577114502573e-10};
constexpr double erfinv_far[] = {3.05172294607274, 1.004903371309664, 0.005747119739142354, -0.004088148310383553,
                                 0.0027740503564193915, -0.0018776420320571687, 0.0010445355409382025, -0.0003644783242379436,
                                 -1.977710847566302e-05, 9.643372692893135e-05, -3.259304656987801e-05, -9.575541530241269e-07};

WRY_INLINE f32 erfinv(f32 x) {
  return through_double(x, [](f64 v) {
    const f64 rest = fma(-v, v, splat<f64>(1.0));  // at least 2^-24 for floats below 1
    const f64 w = -wide_log(rest);
    const f64 y = v * (w < 5.0 ? polynomial(w - 2.5, erfinv_near) : polynomial(sqrt(w) - 3.218, erfinv_far));
    return rest == 0.0 ? v * __builtin_inf() : y;
  });
}

// In double: one of Halley's steps, which triple the digits, and three where the polynomials end and a formula good to 0.002 (Winitzki)
// begins. Near 1 it works on erfc, where the digits are.
double inverse_erf(double x) {
  const double magnitude = ::fabs(x);
  if (!(magnitude < 1)) return magnitude == 1 ? ::copysign(__builtin_inf(), x) : __builtin_nan("");
  if (magnitude == 0) return x;
  const double complement = 1 - magnitude, w = -::log(complement * (1 + magnitude));
  const auto series = [](double z, const double(&c)[12]) {
    double sum = c[11];
    for (int i = 10; i >= 0; --i) sum = sum * z + c[i];
    return sum;
  };
  int steps = 1;
  double y;
  if (w < 5) {
    y = magnitude * series(w - 2.5, erfinv_near);
  } else if (w < 17.6) {
    y = magnitude * series(::sqrt(w) - 3.218, erfinv_far);
  } else {
    const double a = 0.147, b = 2 / (3.141592653589793 * a) - 0.5 * w;
    y = ::sqrt(w / a / (::sqrt(b * b + w / a) + b));  // sqrt(sqrt(b^2 + w/a) - b) without its cancellation
    steps = 3;
  }
  for (int i = 0; i < steps; ++i) {
    const double excess = magnitude < 0.5 ? ::erf(y) - magnitude : complement - ::erfc(y);
    const double step = excess * 0.8862269254527580 * ::exp(y * y);
    y -= step / (1 + y * step);
  }
  return ::copysign(y, x);
}

// The derivative of log_gamma: recurrence up to where the asymptotic series holds, reflection below 0.
double digamma(double x) {
  if (x <= 0) {
    if (x == ::floor(x)) return __builtin_nan("");  // a pole, or -infinity
    const double fraction = x - ::floor(x);
    return digamma(1 - x) - 3.141592653589793 / ::tan(3.141592653589793 * fraction);
  }
  double result = 0;
  for (; x < 10; x += 1) result -= 1 / x;
  const double z = 1 / (x * x);
  // Bernoulli numbers B(2k) / 2k
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + (x < __builtin_inf() ? ::log(x) - 0.5 / x - series : x);
}

// ---- gamma's, of floats by vectors of doubles ----------------------------------------------------

// The logarithm of gamma from 0 on. On [1, 3) it is (x - 1)(x - 2) times a polynomial (2^-31); below that of x + 1 less log(x), above
// Stirling's series, fitted (2^-32).
WRY_INLINE f64 wide_log_gamma(f64 x) {
  static const double near[] = {0.422784335098467139, -0.100317303653881068, 0.0329650015629158006, -0.0123841187401662933, 0.00499860622033525722,
                                -0.00210891231415463034, 0.000915748674596721684, -0.000402083984655814882, 0.000180829187398531011,
                                -0.0000915639300911546341, 0.0000421961700088446011, -7.41938472611259426e-6, 3.35335333415917927e-6,
                                -9.63513228036091333e-6, 4.55724231986089221e-6};
  static const double far[] = {0.0833333326726319101, -0.00277758622464862555, 0.000784718410582126263, -0.00045442830739899849};
  const i64 small = x < 1.0;
  const f64 t = (small ? x + 1.0 : x) - 2.0, logarithm = wide_log(x), z = 1.0 / x;
  const f64 inner = (t + 1.0) * t * polynomial(t, near) + 0.0;  // no -0 at 1
  const f64 outer = fma(x - 0.5, logarithm - 1.0, fma(polynomial(z * z, far), z, 0.41893853320467274));
  return x < 3.0 ? (small ? inner - logarithm : inner) : outer;
}

// Of the sums of 1 / (x + k) and 1 / (x + k)^2 over 8 terms: they are polynomials of u = x (x + 7) over u (u + 6)(u + 10)(u + 12), by
// which numbers below 8 get to where the asymptotic series hold.
WRY_INLINE f64 eight_factors(f64 u) { return u * (u + 6.0) * (u + 10.0) * (u + 12.0); }

// digamma from 0 on; by a polynomial near its root (2^-32), where the terms would cancel.
WRY_INLINE f64 wide_digamma(f64 x) {
  static const double top[] = {720, 504, 84, 4};
  static const double near[] = {0.967672245256956109, -0.442763167560078197, 0.258499886107752229, -0.163943152787227344, 0.107811379559525103,
                                -0.072158137952045006, 0.0492057978804600138, -0.0345759365958870318, 0.0190700487432277526};
  static const double series[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240};
  const i64 small = x < 8.0;
  const f64 u = x * (x + 7.0), lift = (x + x + 7.0) * polynomial(u, top) / eight_factors(u);
  const f64 y = small ? x + 8.0 : x, z = 1.0 / y, t = x - 1.4616321449683623;
  const f64 value = wide_log(y) - fma(polynomial(z * z, series) * z, z, 0.5 * z);
  const f64 result = abs(t) < 0.25 ? t * polynomial(t, near) : (small ? value - lift : value);
  return x == 0.0 ? splat<f64>(__builtin_nan("")) : result;
}

// Its derivative, from 0 on.
WRY_INLINE f64 wide_trigamma(f64 x) {
  static const double top[] = {25401600, 18817920, 6586272, 1334592, 163560, 11928, 476, 8};
  static const double series[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30};
  const i64 small = x < 8.0;
  const f64 u = x * (x + 7.0), bottom = eight_factors(u), z = 1.0 / (small ? x + 8.0 : x);
  const f64 value = fma(z * z, fma(polynomial(z * z, series), z, 0.5), z);
  return small ? fma(polynomial(u, top) / bottom, 1.0 / bottom, value) : value;
}

// sin(pi x) and cos(pi x) but for their signs, of which the quotient is right (2^-43).
struct HalfTurns {
  f64 sine, cosine;
  WRY_INLINE explicit HalfTurns(f64 x) {
    static const double s[] = {3.14159265358963506, -5.167712779987959, 2.55016403590674467, -0.599264433935728643,
                               0.0821447946706485304, -0.00736400547211566228, 0.00044749208490763597};
    static const double c[] = {3.99999999999996908, -3.73920880216659682, 1.27801329617616785, -0.228997868968919967,
                               0.0253307576444399203, -0.00190242652458362243, 0.0000998993397027521262};
    const f64 r = x - round_even(x), square = r * r;
    sine = polynomial(square, s) * r;
    cosine = polynomial(square, c) * (0.25 - square);
  }
};

// (-1)^(n+1) n! times the sum of (x + k)^-(n+1) over k from 0: term by term up to where Euler and
// Maclaurin's formula takes over.
double polygamma(int64_t n, double x) {
  if (n == 0) return digamma(x);
  if (x <= 0 && (x == ::floor(x) || x < -1e6)) return x != ::floor(x) ? __builtin_nan("") : n % 2 == 1 ? __builtin_inf()
                                                                                                       : -__builtin_inf();
  if (x == __builtin_inf()) return n % 2 == 1 ? 0.0 : -0.0;
  const double s = double(n) + 1;
  const double start = 12 + double(n) / 2;
  const auto inverse_power = [&](double base) { return n == 1 ? 1 / (base * base) : ::pow(base, -s); };
  double sum = 0;
  for (; x < start; x += 1) sum += inverse_power(x);
  const double power = inverse_power(x);
  sum += power * x / (s - 1) + 0.5 * power;
  // B(2k) / (2k)! s (s + 1) ... (s + 2k - 2) x^-(s + 2k - 1)
  static const double bernoulli[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160,
                                     -691.0 / 1307674368000.0, 1.0 / 74724249600.0};
  double term = s * power / x;
  for (int k = 0; k < 7; ++k) {
    sum += bernoulli[k] * term;
    term *= (s + 2 * k + 1) * (s + 2 * k + 2) / (x * x);
  }
  return (n % 2 == 1 ? 1 : -1) * ::tgamma(s) * sum;
}

// exp(-|x|) I(x), the modified Bessel function of the first kind of order 0 or 1: its power series, of which all
// terms have one sign, and from 24 on Hankel's asymptotic series, whose terms fall below 2^-53 before they grow again.
template <int Order>
double scaled_bessel(double x) {
  const double size = ::fabs(x);
  double sum, term;
  if (size <= 24) {
    const double square = 0.25 * size * size;
    sum = term = Order == 0 ? 1 : 0.5 * size;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= square / (k * (k + Order));
    sum *= ::exp(-size);
  } else {
    sum = term = 1;
    for (int k = 1; k < 48 && ::fabs(term) > 1e-17; ++k) {
      const int odd = 2 * k - 1;
      sum += term *= double(odd * odd - 4 * Order) / (8.0 * k * size);
    }
    sum /= ::sqrt(6.283185307179586 * size);
  }
  return Order == 1 && x < 0 ? -sum : sum;
}

template <int Order>
struct ScaledBessel {
  static constexpr Lanes lanes = Lanes::none;
  WRY_INLINE double operator()(double x) const { return scaled_bessel<Order>(x); }
};
template <int Order>
struct Bessel {
  static constexpr Lanes lanes = Lanes::none;
  WRY_INLINE double operator()(double x) const {
    if (::fabs(x) == __builtin_inf()) return Order == 1 ? x : ::fabs(x);
    const double half = ::exp(0.5 * ::fabs(x));  // twice, because exp(|x|) would overflow before the product does
    return scaled_bessel<Order>(x) * half * half;
  }
};

struct Polygamma {
  static constexpr Lanes lanes = Lanes::none;
  int64_t n;
  WRY_INLINE double operator()(double x) const { return polygamma(n, x); }
};
struct Erfinv {
  static constexpr Lanes lanes = Lanes::floats;
  WRY_INLINE f32 operator()(f32 x) const { return erfinv(x); }
  WRY_INLINE double operator()(double x) const { return inverse_erf(x); }
};
// Below 0, by reflection. Close to a root the terms cancel, and at poles and infinity they are none: that is left to the function of one
// number.
#define WRY_GAMMA_FUNCTION(Name, wide_function, mirrored, reflected, function)                       \
  struct Name {                                                                                      \
    static constexpr Lanes lanes = Lanes::floats;                                                    \
    WRY_INLINE double operator()(double x) const { return function; }                                \
    WRY_INLINE f32 operator()(f32 v) const {                                                         \
      const i32 below = v < 0.0f;                                                                    \
      if (WRY_LIKELY(!any(below))) return through_double(v, [](f64 x) { return wide_function(x); }); \
      const f32 result = through_double(v, [](f64 x) {                                               \
        const f64 value = wide_function(x < 0.0 ? mirrored : x);                                     \
        const HalfTurns turn(x);                                                                     \
        return x < 0.0 ? reflected : value;                                                          \
      });                                                                                            \
      const i32 others = below & ~((abs(result) >= 0x1p-10f) & (abs(result) < __builtin_inff()));    \
      if (!any(others)) return result;                                                               \
      return repair_lanes(result, v, others, [](float x) { return float(Name()(double(x))); });      \
    }                                                                                                \
  };
WRY_GAMMA_FUNCTION(Lgamma, wide_log_gamma, -x, wide_log(3.141592653589793 / abs(x * turn.sine)) - value, log_gamma(x))
WRY_GAMMA_FUNCTION(Digamma, wide_digamma, 1.0 - x, value - 3.141592653589793 * turn.cosine / turn.sine, digamma(x))
WRY_GAMMA_FUNCTION(Trigamma, wide_trigamma, 1.0 - x, 9.869604401089358 / (turn.sine * turn.sine) - value, polygamma(1, x))

struct NanToNum {
  static constexpr Lanes lanes = Lanes::all;
  double nan, positive, negative;
  template <typename V>
  WRY_INLINE V operator()(V x) const {
    const auto number = [](double value) { return splat<V>(typename vector_traits<V>::scalar(value)); };
    return x == x ? (x == __builtin_inf() ? number(positive) : (x == -__builtin_inf() ? number(negative) : x)) : number(nan);
  }
};

// ---- predicates ---------------------------------------------------------------------------------

struct IsNan {
  static constexpr Lanes lanes = Lanes::none;
  template <typename R>
  WRY_INLINE bool operator()(complex<R> x) const { return (x.re != x.re) | (x.im != x.im); }
  template <typename T>
  WRY_INLINE bool operator()(T x) const { return x != x; }
};
struct IsFinite {
  static constexpr Lanes lanes = Lanes::none;
  // infinity - infinity and NaN - NaN are NaN
  template <typename R>
  WRY_INLINE bool operator()(complex<R> x) const { return (x.re - x.re == 0) & (x.im - x.im == 0); }
  WRY_INLINE bool operator()(float x) const { return x - x == 0; }
  WRY_INLINE bool operator()(double x) const { return x - x == 0; }
  template <typename T>
  WRY_INLINE bool operator()(T) const { return true; }
};
struct IsInf {
  static constexpr Lanes lanes = Lanes::none;
  template <typename R>
  static WRY_INLINE bool real(R x) { return (x == x) & !(x - x == 0); }
  template <typename R>
  WRY_INLINE bool operator()(complex<R> x) const { return real(x.re) | real(x.im); }
  WRY_INLINE bool operator()(float x) const { return real(x); }
  WRY_INLINE bool operator()(double x) const { return real(x); }
  template <typename T>
  WRY_INLINE bool operator()(T) const { return false; }
};
struct LogicalNot {
  static constexpr Lanes lanes = Lanes::none;
  template <typename R>
  WRY_INLINE bool operator()(complex<R> x) const { return (x.re == 0) & (x.im == 0); }
  template <typename T>
  WRY_INLINE bool operator()(T x) const { return x == T(0); }
};
// Of the byte of a bool: GCC makes no vectors of !x.
struct Not {
  static constexpr Lanes lanes = Lanes::none;
  WRY_INLINE uint8_t operator()(uint8_t x) const { return x ^ 1; }
};
struct BitwiseNot {
  static constexpr Lanes lanes = Lanes::none;
  template <typename T>
  WRY_INLINE T operator()(T x) const { return T(~x); }
};

// ---- parts of complex numbers -------------------------------------------------------------------

struct Conjugate {
  static constexpr Lanes lanes = Lanes::none;
  template <typename R>
  WRY_INLINE complex<R> operator()(complex<R> x) const { return {x.re, -x.im}; }
};
struct RealPart {
  static constexpr Lanes lanes = Lanes::none;
  template <typename R>
  WRY_INLINE R operator()(complex<R> x) const { return x.re; }
};
struct ImaginaryPart {
  static constexpr Lanes lanes = Lanes::none;
  template <typename R>
  WRY_INLINE R operator()(complex<R> x) const { return x.im; }
};
struct Zero {
  static constexpr Lanes lanes = Lanes::none;
  template <typename T>
  WRY_INLINE T operator()(T) const { return T(0); }
};
// A real number's angle is pi when it is negative; NaN and -0 count as not negative in Paddle.
struct Angle {
  static constexpr Lanes lanes = Lanes::none;
  template <typename R>
  WRY_INLINE R operator()(complex<R> x) const { return R(::atan2(double(x.im), double(x.re))); }
  template <typename T>
  WRY_INLINE T operator()(T x) const { return x < T(0) ? T(3.141592653589793) : T(0); }
};
struct Identity {
  static constexpr Lanes lanes = Lanes::none;
  template <typename T>
  WRY_INLINE T operator()(T x) const { return x; }
};

// ---- table --------------------------------------------------------------------------------------

template <typename F, typename T>
constexpr int64_t grain_of = F::lanes == Lanes::all ? cheap : (by_lanes<F, T> ? moderate : slow);

template <typename F>
struct Kernel {
  template <typename T>
  static int same(const wry_call *call) { return pointwise1<T, T>(call, F(), grain_of<F, T>); }
  template <typename T>
  static int part(const wry_call *call) {
    return pointwise1<typename is_complex<T>::real, T>(call, F(), F::lanes == Lanes::none ? cheap : moderate);
  }
  template <typename T>
  static int predicate(const wry_call *call) {
    if constexpr (same_type<F, LogicalNot> && same_type<T, bool>) return pointwise1<uint8_t, uint8_t>(call, Not());
    else return pointwise1<bool, T>(call, F(), cheap);
  }
  template <typename T>
  static int plain(const wry_call *call) { return pointwise1<T, T>(call, F(), cheap); }
};

template <typename T>
int polygamma_kernel(const wry_call *call) {
  if (attr_int(call, 0) == 1) return pointwise1<T, T>(call, Trigamma(), grain_of<Trigamma, T>);
  return pointwise1<T, T>(call, Polygamma{attr_int(call, 0)}, slow);
}

template <typename T>
int nan_to_num(const wry_call *call) {
  return pointwise1<T, T>(call, NanToNum{attr_float(call, 0), attr_float(call, 1), attr_float(call, 2)});
}

// Moves bytes: the type does not matter, only its size.
int identity(const wry_call *call) {
  int status = WRY_OK;
  dispatch_size(item_size(input(call, 0)), [&](auto tag) {
    status = pointwise1<decltype(tag), decltype(tag)>(call, Identity());
  });
  return status;
}

#define FLOATS(op, F) WRY_FLOAT_ROWS(op, in_place, Kernel<F>::same)
#define FLOATS_COMPLEX(op, F) WRY_INEXACT_ROWS(op, in_place, Kernel<F>::same)
#define DOUBLES(op, F) WRY_ROW(op, float, in_place, Kernel<F>::same), WRY_ROW(op, double, in_place, Kernel<F>::same)
#define INTEGERS(op, F) WRY_INT_ROWS(op, in_place, Kernel<F>::same)
#define PREDICATE(op, F) WRY_ALL_ROWS(op, WRY_STRIDED_OUTPUT, Kernel<F>::predicate)
#define INTEGERS_UNCHANGED(op)                                                  \
  {op, WRY_UINT8, in_place, identity}, {op, WRY_INT8, in_place, identity},      \
      {op, WRY_INT16, in_place, identity}, {op, WRY_INT32, in_place, identity}, \
  { op, WRY_INT64, in_place, identity }

const wry_kernel_entry table[] = {
    FLOATS_COMPLEX("negative", Negative),
    INTEGERS("negative", Negative),
    FLOATS_COMPLEX("square", Square),
    INTEGERS("square", Square),
    FLOATS("abs", Absolute),
    INTEGERS("abs", Absolute),
    FLOATS_COMPLEX("sign", Sign),
    INTEGERS("sign", Sign),
    FLOATS_COMPLEX("sqrt", Sqrt),
    FLOATS_COMPLEX("rsqrt", Rsqrt),
    FLOATS_COMPLEX("reciprocal", Reciprocal),
    FLOATS_COMPLEX("exp", Exp),
    FLOATS_COMPLEX("expm1", Expm1),
    FLOATS_COMPLEX("log", Log),
    FLOATS_COMPLEX("log2", Log2),
    FLOATS_COMPLEX("log10", Log10),
    FLOATS_COMPLEX("log1p", Log1p),
    FLOATS_COMPLEX("sin", Sin),
    FLOATS_COMPLEX("cos", Cos),
    FLOATS_COMPLEX("tan", Tan),
    FLOATS_COMPLEX("asin", Asin),
    FLOATS_COMPLEX("acos", Acos),
    FLOATS_COMPLEX("atan", Atan),
    FLOATS_COMPLEX("sinh", Sinh),
    FLOATS_COMPLEX("cosh", Cosh),
    FLOATS_COMPLEX("tanh", Tanh),
    FLOATS_COMPLEX("asinh", Asinh),
    FLOATS_COMPLEX("acosh", Acosh),
    FLOATS_COMPLEX("atanh", Atanh),
    FLOATS("erf", Erf),
    FLOATS("erfinv", Erfinv),
    FLOATS("lgamma", Lgamma),
    FLOATS("digamma", Digamma),
    WRY_FLOAT_ROWS("polygamma", in_place, polygamma_kernel),
    WRY_FLOAT_ROWS("nan_to_num", in_place, nan_to_num),
    DOUBLES("i0", Bessel<0>),
    DOUBLES("i1", Bessel<1>),
    DOUBLES("i0e", ScaledBessel<0>),
    DOUBLES("i1e", ScaledBessel<1>),
    FLOATS("floor", Floor),
    INTEGERS_UNCHANGED("floor"),
    FLOATS("ceil", Ceil),
    INTEGERS_UNCHANGED("ceil"),
    FLOATS("trunc", Trunc),
    INTEGERS_UNCHANGED("trunc"),
    FLOATS("round", Round),
    INTEGERS_UNCHANGED("round"),
    WRY_ANY_ROW("conj", in_place, identity),
    WRY_ANY_ROW("real", in_place, identity),
    WRY_REAL_ROWS("imag", in_place, Kernel<Zero>::plain),
    WRY_REAL_ROWS("angle", in_place, Kernel<Angle>::plain),
    WRY_BOOL_ROW("bitwise_not", in_place, Kernel<LogicalNot>::predicate),
    WRY_INT_ROWS("bitwise_not", in_place, Kernel<BitwiseNot>::plain),
    PREDICATE("logical_not", LogicalNot),
    PREDICATE("isnan", IsNan),
    PREDICATE("isinf", IsInf),
    PREDICATE("isfinite", IsFinite),
#if WRY_RARE_DTYPES
    WRY_COMPLEX_ROWS("abs", WRY_STRIDED_OUTPUT, Kernel<Absolute>::part),
    WRY_COMPLEX_ROWS("conj", in_place, Kernel<Conjugate>::plain),
    WRY_COMPLEX_ROWS("real", WRY_STRIDED_OUTPUT, Kernel<RealPart>::part),
    WRY_COMPLEX_ROWS("imag", WRY_STRIDED_OUTPUT, Kernel<ImaginaryPart>::part),
    WRY_COMPLEX_ROWS("angle", WRY_STRIDED_OUTPUT, Kernel<Angle>::part),
#endif
};

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(elementwise, WRY_NAMESPACE::table)
