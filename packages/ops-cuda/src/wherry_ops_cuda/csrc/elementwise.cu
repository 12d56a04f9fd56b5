// Functions of one value: arithmetic, elementary functions, rounding, predicates, complex parts.
//
// 16-bit floats compute in float; special functions of float32 in double, as on the cpu. Elementary functions of complex
// numbers are in complex.cu.
#include "pointwise.h"

namespace wherry {
namespace cuda {
namespace {

struct Negative {
  template <typename V>
  WRY_GPU V operator()(V x) const {
    if constexpr (is_integer<V>) return V(unsigned_t<V>(0) - unsigned_t<V>(x));
    else return -x;
  }
};
struct Square {
  template <typename V>
  WRY_GPU V operator()(V x) const {
    if constexpr (is_integer<V>) return V(uint64_t(x) * uint64_t(x));
    else return x * x;
  }
};
struct Absolute {
  template <typename R>
  WRY_GPU R operator()(complex<R> x) const { return R(hypot(double(x.re), double(x.im))); }
  WRY_GPU float operator()(float x) const { return fabsf(x); }
  WRY_GPU double operator()(double x) const { return fabs(x); }
  template <typename T>
  WRY_GPU T operator()(T x) const { return x < T(0) ? Negative()(x) : x; }
};
struct Sign {
  template <typename R>
  WRY_GPU complex<R> operator()(complex<R> x) const {
    const double size = hypot(double(x.re), double(x.im));
    return size == 0 ? complex<R>(0) : complex<R>(R(x.re / size), R(x.im / size));
  }
  template <typename T>
  WRY_GPU T operator()(T x) const {
    if constexpr (std::is_floating_point<T>::value) return x != x ? x : T((x > T(0)) - (x < T(0)));
    else return T((x > T(0)) - (x < T(0)));
  }
};
// Half away from zero: Paddle's rounding, unlike NumPy's.
struct Round {
  template <typename V>
  WRY_GPU V operator()(V x) const {
    const V whole = trunc(x);
    return fabs(x - whole) >= V(0.5) ? whole + copysign(V(1), x) : whole;
  }
};

#define WRY_FUNCTION(Name, value)                   \
  struct Name {                                     \
    template <typename V>                           \
    WRY_GPU V operator()(V x) const { return value; } \
  };
WRY_FUNCTION(Sqrt, sqrt(x))
WRY_FUNCTION(Rsqrt, V(1) / sqrt(x))
WRY_FUNCTION(Exp, exp(x))
WRY_FUNCTION(Expm1, expm1(x))
WRY_FUNCTION(Log, log(x))
WRY_FUNCTION(Log2, log2(x))
WRY_FUNCTION(Log10, log10(x))
WRY_FUNCTION(Log1p, log1p(x))
WRY_FUNCTION(Sin, sin(x))
WRY_FUNCTION(Cos, cos(x))
WRY_FUNCTION(Tan, tan(x))
WRY_FUNCTION(Asin, asin(x))
WRY_FUNCTION(Acos, acos(x))
WRY_FUNCTION(Atan, atan(x))
WRY_FUNCTION(Sinh, sinh(x))
WRY_FUNCTION(Cosh, cosh(x))
WRY_FUNCTION(Tanh, tanh(x))
WRY_FUNCTION(Asinh, asinh(x))
WRY_FUNCTION(Acosh, acosh(x))
WRY_FUNCTION(Atanh, atanh(x))
WRY_FUNCTION(Erf, erf(x))
WRY_FUNCTION(Floor, floor(x))
WRY_FUNCTION(Ceil, ceil(x))
WRY_FUNCTION(Trunc, trunc(x))

struct Reciprocal {
  template <typename R>
  WRY_GPU complex<R> operator()(complex<R> x) const {
    // Smith's method: the squares of the parts need not fit into a double.
    const double a = x.re, b = x.im;
    if (fabs(a) >= fabs(b)) {
      const double ratio = b / a, scale = a + b * ratio;
      return {R(1 / scale), R(-ratio / scale)};
    }
    const double ratio = a / b, scale = a * ratio + b;
    return {R(ratio / scale), R(-1 / scale)};
  }
  template <typename V>
  WRY_GPU V operator()(V x) const { return V(1) / x; }
};

// ---- special functions ----------------------------------------------------------------------------

// The y with erf(y) = x: a formula good to 0.002 (Winitzki), then Halley's iteration, which triples the digits each time.
// Near 1 it works on erfc, where the digits are.
struct Erfinv {
  WRY_GPU double operator()(double x) const {
    const double magnitude = fabs(x);
    if (!(magnitude < 1)) return magnitude == 1 ? copysign(double(INFINITY), x) : double(NAN);
    if (magnitude == 0) return x;
    const double complement = 1 - magnitude, a = 0.147, logarithm = log1p(-magnitude * magnitude);
    const double b = 2 / (3.141592653589793 * a) + 0.5 * logarithm;
    double y = sqrt(-logarithm / a / (sqrt(b * b - logarithm / a) + b));
    for (int i = 0; i < 3; ++i) {
      const double excess = magnitude < 0.5 ? erf(y) - magnitude : complement - erfc(y);
      const double step = excess * 0.8862269254527580 * exp(y * y);
      y -= step / (1 + y * step);
    }
    return copysign(y, x);
  }
};
struct Lgamma {
  WRY_GPU double operator()(double x) const { return lgamma(x); }
};
// Recurrence up to where the asymptotic series holds, reflection below 0.
WRY_GPU double digamma_of(double x) {
  double result = 0;
  if (x <= 0) {
    if (x == floor(x)) return double(NAN);  // a pole, or -infinity
    result = -3.141592653589793 / tan(3.141592653589793 * (x - floor(x)));
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  const double z = 1 / (x * x);
  const double series =  // Bernoulli numbers B(2k) / 2k
      z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + (x < double(INFINITY) ? log(x) - 0.5 / x - series : x);
}
struct Digamma {
  WRY_GPU double operator()(double x) const { return digamma_of(x); }
};

// (-1)^(n+1) n! times the sum of (x + k)^-(n+1) over k from 0: term by term up to where Euler and Maclaurin's formula takes over.
struct Polygamma {
  int64_t n;
  WRY_GPU double operator()(double x) const {
    if (n == 0) return digamma_of(x);
    if (x <= 0 && (x == floor(x) || x < -1e6)) return x != floor(x) ? double(NAN) : n % 2 == 1 ? double(INFINITY)
                                                                                               : -double(INFINITY);
    const double s = double(n) + 1, start = 12 + double(n) / 2;
    double sum = 0;
    for (; x < start; x += 1) sum += pow(x, -s);
    const double power = pow(x, -s);
    sum += power * x / (s - 1) + 0.5 * power;
    // B(2k) / (2k)! s (s + 1) ... (s + 2k - 2) x^-(s + 2k - 1)
    constexpr double bernoulli[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0, 1.0 / 74724249600.0};
    double term = s * power / x;
#pragma unroll
    for (int k = 0; k < 7; ++k) {
      sum += bernoulli[k] * term;
      term *= (s + 2 * k + 1) * (s + 2 * k + 2) / (x * x);
    }
    return (n % 2 == 1 ? 1 : -1) * tgamma(s) * sum;
  }
};

// exp(-|x|) I(x), the modified Bessel function of the first kind: its power series, of which all terms have one sign, and
// from 24 on Hankel's asymptotic series, whose terms fall below 2^-53 before they grow again.
template <int Order>
struct ScaledBessel {
  WRY_GPU double operator()(double x) const {
    const double size = fabs(x);
    double sum, term;
    if (size <= 24) {
      const double square = 0.25 * size * size;
      sum = term = Order == 0 ? 1 : 0.5 * size;
      for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= square / (k * (k + Order));
      sum *= exp(-size);
    } else {
      sum = term = 1;
      for (int k = 1; k < 48 && fabs(term) > 1e-17; ++k) {
        const int odd = 2 * k - 1;
        sum += term *= double(odd * odd - 4 * Order) / (8.0 * k * size);
      }
      sum /= sqrt(6.283185307179586 * size);
    }
    return Order == 1 && x < 0 ? -sum : sum;
  }
};
template <int Order>
struct Bessel {
  WRY_GPU double operator()(double x) const {
    if (fabs(x) == double(INFINITY)) return Order == 1 ? x : fabs(x);
    const double root = exp(0.5 * fabs(x));  // twice, because exp(|x|) would overflow before the product does
    return ScaledBessel<Order>()(x) * root * root;
  }
};

// ---- predicates -----------------------------------------------------------------------------------

struct IsNan {
  template <typename R>
  WRY_GPU bool operator()(complex<R> x) const { return (x.re != x.re) | (x.im != x.im); }
  template <typename T>
  WRY_GPU bool operator()(T x) const { return x != x; }
};
struct IsFinite {  // infinity - infinity and NaN - NaN are NaN
  template <typename R>
  WRY_GPU bool operator()(complex<R> x) const { return (x.re - x.re == 0) & (x.im - x.im == 0); }
  template <typename T>
  WRY_GPU bool operator()(T x) const {
    if constexpr (std::is_floating_point<T>::value) return x - x == 0;
    else return true;
  }
};
struct IsInf {
  template <typename R>
  WRY_GPU bool operator()(complex<R> x) const { return (*this)(x.re) | (*this)(x.im); }
  template <typename T>
  WRY_GPU bool operator()(T x) const {
    if constexpr (std::is_floating_point<T>::value) return (x == x) & !(x - x == 0);
    else return false;
  }
};
struct LogicalNot {
  template <typename R>
  WRY_GPU bool operator()(complex<R> x) const { return (x.re == 0) & (x.im == 0); }
  template <typename T>
  WRY_GPU bool operator()(T x) const { return x == T(0); }
};
struct BitwiseNot {
  WRY_GPU bool operator()(bool x) const { return !x; }
  template <typename T>
  WRY_GPU T operator()(T x) const { return T(~x); }
};

// ---- parts of complex numbers ---------------------------------------------------------------------

struct Conjugate {
  template <typename R>
  WRY_GPU complex<R> operator()(complex<R> x) const { return {x.re, -x.im}; }
};
struct RealPart {
  template <typename R>
  WRY_GPU R operator()(complex<R> x) const { return x.re; }
};
struct ImaginaryPart {
  template <typename R>
  WRY_GPU R operator()(complex<R> x) const { return x.im; }
};
struct Zero {
  template <typename T>
  WRY_GPU T operator()(T) const { return T(0); }
};
// A real number's angle is pi when it is negative; NaN and -0 count as not negative in Paddle.
struct Angle {
  template <typename R>
  WRY_GPU R operator()(complex<R> x) const { return R(atan2(double(x.im), double(x.re))); }
  template <typename T>
  WRY_GPU T operator()(T x) const { return x < T(0) ? T(3.141592653589793) : T(0); }
};

#ifndef WRY_FUNCTIONS_ONLY  // a chain of several wants them without (chains.py)
// ---- table ----------------------------------------------------------------------------------------

template <typename F>
struct Kernel {
  template <typename T>
  static int same(const wry_call *call) { return pointwise1<T, T>(call, F()); }
  template <typename T>
  static int part(const wry_call *call) { return pointwise1<typename is_complex<T>::real, T>(call, F()); }
  template <typename T>
  static int predicate(const wry_call *call) { return pointwise1<bool, T>(call, F()); }
};

// One value at a time: with several in a pack there are not enough registers.
template <typename T>
int polygamma(const wry_call *call) {
  const wry_tensor *out = output(call, 0), *x = input(call, 0);
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  return check(call, wry_launch(pointwise_1<Polygamma, T, T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), walk_of<2>({out, x}),
                                Polygamma{attr_int(call, 0)}, data<T>(out), data<T>(x)));
}

int identity(const wry_call *call) {
  return dispatch_size(item_size(input(call, 0)), [&](auto tag) { return pointwise1<decltype(tag), decltype(tag)>(call, Identity()); });
}

#define FLOATS(op, F) WRY_FLOAT_ROWS(op, in_place, Kernel<F>::same, #F "()")
#define FLOATS_COMPLEX(op, F) WRY_INEXACT_ROWS(op, in_place, Kernel<F>::same, #F "()")
#define DOUBLES(op, F) WRY_ROW(op, float, in_place, Kernel<F>::same, #F "()"), WRY_ROW(op, double, in_place, Kernel<F>::same, #F "()")
#define INTEGERS(op, F) WRY_INT_ROWS(op, in_place, Kernel<F>::same, #F "()")
#define PREDICATE(op, F) WRY_ALL_ROWS(op, WRY_STRIDED_OUTPUT, Kernel<F>::predicate, #F "()")
#define PART(op, F) WRY_COMPLEX_ROWS(op, WRY_STRIDED_OUTPUT, Kernel<F>::part, #F "()")
#define UNCHANGED(op, dtype) WRY_PLAIN_ROW(op, dtype, in_place, identity, "Identity()")
#define INTEGERS_UNCHANGED(op) \
  UNCHANGED(op, WRY_UINT8), UNCHANGED(op, WRY_INT8), UNCHANGED(op, WRY_INT16), UNCHANGED(op, WRY_INT32), UNCHANGED(op, WRY_INT64)

const wry_kernel_entry table[] = {
    FLOATS_COMPLEX("negative", Negative), INTEGERS("negative", Negative),
    FLOATS_COMPLEX("square", Square), INTEGERS("square", Square),
    FLOATS("abs", Absolute), INTEGERS("abs", Absolute), PART("abs", Absolute),
    FLOATS_COMPLEX("sign", Sign), INTEGERS("sign", Sign),
    FLOATS_COMPLEX("reciprocal", Reciprocal),
    FLOATS("sqrt", Sqrt), FLOATS("rsqrt", Rsqrt),
    FLOATS("exp", Exp), FLOATS("expm1", Expm1),
    FLOATS("log", Log), FLOATS("log2", Log2), FLOATS("log10", Log10), FLOATS("log1p", Log1p),
    FLOATS("sin", Sin), FLOATS("cos", Cos), FLOATS("tan", Tan),
    FLOATS("asin", Asin), FLOATS("acos", Acos), FLOATS("atan", Atan),
    FLOATS("sinh", Sinh), FLOATS("cosh", Cosh), FLOATS("tanh", Tanh),
    FLOATS("asinh", Asinh), FLOATS("acosh", Acosh), FLOATS("atanh", Atanh),
    FLOATS("erf", Erf), FLOATS("erfinv", Erfinv), FLOATS("lgamma", Lgamma), FLOATS("digamma", Digamma),
    WRY_FLOAT_ROWS("polygamma", in_place, polygamma),
    DOUBLES("i0", Bessel<0>), DOUBLES("i1", Bessel<1>), DOUBLES("i0e", ScaledBessel<0>), DOUBLES("i1e", ScaledBessel<1>),
    FLOATS("floor", Floor), INTEGERS_UNCHANGED("floor"),
    FLOATS("ceil", Ceil), INTEGERS_UNCHANGED("ceil"),
    FLOATS("trunc", Trunc), INTEGERS_UNCHANGED("trunc"),
    FLOATS("round", Round), INTEGERS_UNCHANGED("round"),
    WRY_ANY_ROW("conj", in_place, identity, "Identity()"), WRY_COMPLEX_ROWS("conj", in_place, Kernel<Conjugate>::same, "Conjugate()"),
    WRY_ANY_ROW("real", in_place, identity, "Identity()"), PART("real", RealPart),
    WRY_REAL_ROWS("imag", in_place, Kernel<Zero>::same, "Zero()"), PART("imag", ImaginaryPart),
    WRY_REAL_ROWS("angle", in_place, Kernel<Angle>::same, "Angle()"), PART("angle", Angle),
    WRY_BOOL_ROW("bitwise_not", in_place, Kernel<BitwiseNot>::same, "BitwiseNot()"), INTEGERS("bitwise_not", BitwiseNot),
    PREDICATE("logical_not", LogicalNot), PREDICATE("isnan", IsNan), PREDICATE("isinf", IsInf), PREDICATE("isfinite", IsFinite),
};

#endif

}  // namespace
}  // namespace cuda
}  // namespace wherry

#ifndef WRY_FUNCTIONS_ONLY
WRY_TABLE(elementwise, wherry::cuda::table)
#endif
