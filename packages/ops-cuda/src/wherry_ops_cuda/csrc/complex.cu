// Elementary functions of complex numbers, computed in double, as on the cpu.
//
// Cuts and signed zeros as in C (annex G of its standard): Kahan, "Branch cuts for complex elementary functions, or much ado about
// nothing's sign bit" (1987).
#include "pointwise.h"

namespace wherry {
namespace cuda {
namespace {

using Z = complex128;
constexpr double pi = 3.14159265358979323846;

WRY_GPU bool is_infinite(double x) { return fabs(x) == double(INFINITY); }
WRY_GPU bool is_infinite(Z z) { return is_infinite(z.re) || is_infinite(z.im); }
WRY_GPU Z conjugate(Z z) { return {z.re, -z.im}; }
WRY_GPU Z times(Z z, double by) { return {z.re * by, z.im * by}; }  // not as a complex number: 0 times infinity is NaN
// i z and z / i
WRY_GPU Z turned(Z z) { return {-z.im, z.re}; }
WRY_GPU Z turned_back(Z z) { return {z.im, -z.re}; }

WRY_GPU Z inverse(Z z) {  // Smith's method: the squares of the parts need not fit into a double
  if (fabs(z.re) >= fabs(z.im)) {
    const double ratio = z.im / z.re, scale = z.re + z.im * ratio;
    return {1 / scale, -ratio / scale};
  }
  const double ratio = z.re / z.im, scale = z.re * ratio + z.im;
  return {ratio / scale, -1 / scale};
}

// size * (cosine, sine), where a zero stays one beside an infinite size.
WRY_GPU double scaled(double size, double by) { return by == 0 ? by : size * by; }
WRY_GPU Z exp_of(Z z) {
  if (z.im == 0) return {exp(z.re), z.im};
  if (z.re == -double(INFINITY) && !(z.im - z.im == 0)) return {0, 0};
  if (z.re == double(INFINITY) && !(z.im - z.im == 0)) return {z.re, double(NAN)};
  const double c = cos(z.im), s = sin(z.im);
  if (z.re < 700) return {scaled(exp(z.re), c), scaled(exp(z.re), s)};
  const double root = exp(0.5 * z.re);  // twice, because exp would overflow before the product does
  return {scaled(root, scaled(root, c)), scaled(root, scaled(root, s))};
}
WRY_GPU Z log_of(Z z) {
  const double x = fabs(z.re), y = fabs(z.im), most = x < y ? y : x, rest = x < y ? x : y, angle = atan2(z.im, z.re);
  if (is_infinite(z)) return {double(INFINITY), angle};
  // Near 1 the logarithm is small, and the square minus one is known exactly enough.
  if (most > 0.5 && most < 2) return {0.5 * log1p((most - 1) * (most + 1) + rest * rest), angle};
  if (most > 1e300) return {log(hypot(0.5 * most, 0.5 * rest)) + 0.69314718055994530942, angle};
  return {log(hypot(most, rest)), angle};
}
WRY_GPU Z sqrt_of(Z z) {
  if (is_infinite(z.im)) return {double(INFINITY), z.im};
  if (z.re == double(INFINITY)) return {z.re, z.im == z.im ? copysign(0.0, z.im) : z.im};
  if (z.re == -double(INFINITY)) return {z.im == z.im ? 0.0 : z.im, copysign(double(INFINITY), z.im)};
  if (z.re == 0 && z.im == 0) return {0, z.im};
  // Powers of four keep the sum of size and real part in range.
  const double most = fmax(fabs(z.re), fabs(z.im)), scale = most > 1e300 ? 0x1p-4 : most < 1e-290 ? 0x1p+200
                                                                                                  : 1.0;
  const double x = z.re * scale, y = z.im * scale, back = most > 1e300 ? 4.0 : most < 1e-290 ? 0x1p-100
                                                                                             : 1.0;
  const double root = sqrt(0.5 * (fabs(x) + hypot(x, y))), other = fabs(y) / (2 * root);
  return x >= 0 ? Z(root * back, copysign(other * back, z.im)) : Z(other * back, copysign(root * back, z.im));
}

// sinh(x) and cosh(x) times sine and cosine, in halves where they would overflow alone.
WRY_GPU Z sinh_of(Z z) {
  const double c = cos(z.im), s = sin(z.im);
  if (z.im == 0) return {sinh(z.re), z.im};
  if (is_infinite(z.re) && !(z.im - z.im == 0)) return {z.re, double(NAN)};
  if (fabs(z.re) < 700) return {scaled(c, sinh(z.re)), cosh(z.re) * s};
  const double root = exp(0.5 * fabs(z.re)), half = 0.5 * root;
  return {copysign(1.0, z.re) * (half * c) * root, (half * s) * root};
}
WRY_GPU Z cosh_of(Z z) {
  const double c = cos(z.im), s = sin(z.im);
  if (z.im == 0) return {cosh(z.re), z.re == z.re ? z.im * copysign(1.0, z.re) : 0.0};
  if (z.re == 0) return {c, z.im - z.im == 0 ? z.re * copysign(1.0, s) : 0.0};
  if (is_infinite(z.re) && !(z.im - z.im == 0)) return {double(INFINITY), double(NAN)};
  if (fabs(z.re) < 700) return {cosh(z.re) * c, sinh(z.re) * s};
  const double root = exp(0.5 * fabs(z.re)), half = 0.5 * root;
  return {(half * c) * root, copysign(1.0, z.re) * (half * s) * root};
}
WRY_GPU Z tanh_of(Z z) {
  if (fabs(z.re) > 22 && (is_infinite(z.re) || z.im - z.im == 0)) {
    const double turn = z.im - z.im == 0 ? sin(z.im) * cos(z.im) : 0.0;
    return {copysign(1.0, z.re), 4 * turn * exp(-2 * fabs(z.re))};
  }
  if (z.im == 0) return {tanh(z.re), z.im};
  const double t = tan(z.im), beta = 1 + t * t, s = sinh(z.re), rho = sqrt(1 + s * s), under = 1 + beta * s * s;
  return {beta * rho * s / under, t / under};
}

// asin of numbers so large that the root beside them does not count: the logarithm of twice the size.
WRY_GPU bool is_huge(Z z) { return fabs(z.re) > 1e100 || fabs(z.im) > 1e100; }
WRY_GPU double log_twice(Z z) { return log_of(z).re + 0.69314718055994530942; }
WRY_GPU Z asin_of(Z z) {
  if (is_huge(z)) return {atan2(z.re, fabs(z.im)), copysign(log_twice(z), z.im)};
  const Z less = sqrt_of({1 - z.re, -z.im}), more = sqrt_of({1 + z.re, z.im});
  return {atan2(z.re, (less * more).re), asinh((conjugate(less) * more).im)};
}
WRY_GPU Z acos_of(Z z) {
  if (is_huge(z)) return {atan2(fabs(z.im), z.re), -copysign(log_twice(z), z.im)};
  const Z less = sqrt_of({1 - z.re, -z.im}), more = sqrt_of({1 + z.re, z.im});
  return {2 * atan2(less.re, more.re), asinh((conjugate(more) * less).im)};
}
WRY_GPU Z acosh_of(Z z) {
  if (is_huge(z)) return {log_twice(z), atan2(z.im, z.re)};
  const Z less = sqrt_of({z.re - 1, z.im}), more = sqrt_of({z.re + 1, z.im});
  return {asinh((conjugate(less) * more).re), 2 * atan2(less.im, more.re)};
}
WRY_GPU Z atanh_of(Z z) {
  const double x = fabs(z.re), y = z.im;
  if (is_huge(z)) {  // the squares would not fit into a double; 1 / z is what is left
    const double size = hypot(x, y);
    return {copysign(is_infinite(z) ? 0.0 : x / size / size, z.re), y == y ? copysign(0.5 * pi, y) : y};
  }
  const double real = x == 1 && fabs(y) < 1e-100 ? 0.5 * log(hypot(2.0, y) / fabs(y)) : 0.25 * log1p(4 * x / ((1 - x) * (1 - x) + y * y));
  return {copysign(real, z.re), 0.5 * atan2(2 * y, (1 - x) * (1 + x) - y * y)};
}

#define WRY_FUNCTION(Name, value)                       \
  struct Name {                                         \
    template <typename R>                               \
    WRY_GPU complex<R> operator()(complex<R> x) const { \
      const Z z(x);                                     \
      return complex<R>(value);                         \
    }                                                   \
  };
WRY_FUNCTION(Exp, exp_of(z))
// exp(a) cos b - 1, in terms that vanish with a and b
WRY_FUNCTION(Expm1, Z(expm1(z.re) * cos(z.im) - 2 * sin(0.5 * z.im) * sin(0.5 * z.im), exp(z.re) * sin(z.im)))
WRY_FUNCTION(Log, log_of(z))
WRY_FUNCTION(Log2, times(log_of(z), 1.4426950408889634))
WRY_FUNCTION(Log10, times(log_of(z), 0.4342944819032518))
WRY_FUNCTION(Log1p, Z(0.5 * log1p(z.re * (2 + z.re) + z.im * z.im), atan2(z.im, 1 + z.re)))
WRY_FUNCTION(Sqrt, sqrt_of(z))
WRY_FUNCTION(Rsqrt, inverse(sqrt_of(z)))
WRY_FUNCTION(Sinh, sinh_of(z))
WRY_FUNCTION(Cosh, cosh_of(z))
WRY_FUNCTION(Tanh, tanh_of(z))
WRY_FUNCTION(Sin, turned_back(sinh_of(turned(z))))
WRY_FUNCTION(Cos, cosh_of(turned(z)))
WRY_FUNCTION(Tan, turned_back(tanh_of(turned(z))))
WRY_FUNCTION(Asin, asin_of(z))
WRY_FUNCTION(Acos, acos_of(z))
WRY_FUNCTION(Atan, turned_back(atanh_of(turned(z))))
WRY_FUNCTION(Asinh, turned_back(asin_of(turned(z))))
WRY_FUNCTION(Acosh, acosh_of(z))
WRY_FUNCTION(Atanh, atanh_of(z))

struct Power {
  template <typename R>
  WRY_GPU complex<R> operator()(complex<R> x, complex<R> y) const {
    if (y == complex<R>(0)) return complex<R>(1);
    if (x == complex<R>(0) && y.re > 0) return complex<R>(0);
    return complex<R>(exp_of(Z(y) * log_of(Z(x))));
  }
};

template <typename F>
struct Kernel {
  template <typename T>
  static int unary(const wry_call *call) { return pointwise1<T, T>(call, F()); }
  template <typename T>
  static int binary(const wry_call *call) { return pointwise2<T, T, T>(call, F()); }
};
#define UNARY(op, F) WRY_COMPLEX_ROWS(op, in_place, Kernel<F>::unary)

const wry_kernel_entry table[] = {
    UNARY("exp", Exp),
    UNARY("expm1", Expm1),
    UNARY("log", Log),
    UNARY("log2", Log2),
    UNARY("log10", Log10),
    UNARY("log1p", Log1p),
    UNARY("sqrt", Sqrt),
    UNARY("rsqrt", Rsqrt),
    UNARY("sin", Sin),
    UNARY("cos", Cos),
    UNARY("tan", Tan),
    UNARY("asin", Asin),
    UNARY("acos", Acos),
    UNARY("atan", Atan),
    UNARY("sinh", Sinh),
    UNARY("cosh", Cosh),
    UNARY("tanh", Tanh),
    UNARY("asinh", Asinh),
    UNARY("acosh", Acosh),
    UNARY("atanh", Atanh),
    WRY_COMPLEX_ROWS("power", in_place, Kernel<Power>::binary),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(complex, wherry::cuda::table)
