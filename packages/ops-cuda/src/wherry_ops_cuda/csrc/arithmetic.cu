// Arithmetic of two values.
//
// Integers wrap around where a result does not fit. Where NumPy and Paddle differ, Paddle decides; comments say so.
#include "pointwise.h"
#ifndef WRY_FUNCTIONS_ONLY
#include "together.h"
#endif

namespace wherry {
namespace cuda {
namespace {

#define WRY_ARITHMETIC(Name, operation)                                               \
  struct Name {                                                                       \
    template <typename V>                                                             \
    WRY_GPU V operator()(V x, V y) const {                                         \
      if constexpr (is_integer<V>) return V(uint64_t(x) operation uint64_t(y));       \
      else return x operation y;                                                      \
    }                                                                                 \
  };
WRY_ARITHMETIC(Add, +)
WRY_ARITHMETIC(Subtract, -)
WRY_ARITHMETIC(Multiply, *)

struct Divide {
  template <typename R>
  WRY_GPU complex<R> operator()(complex<R> a, complex<R> b) const {
    // Smith's method: the squares of the parts of b need not fit into R.
    if ((b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im)) {
      if (b.re == 0) return {a.re / b.re, a.im / b.re};
      const R ratio = b.im / b.re, scale = b.re + b.im * ratio;
      return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
    }
    const R ratio = b.re / b.im, scale = b.re * ratio + b.im;
    return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
  }
  template <typename V>
  WRY_GPU V operator()(V x, V y) const { return x / y; }
};

// Integer division reports that it met a zero.
struct Division {
  Report *report;
  int32_t op;
};
struct FloorDivide : Division {
  WRY_GPU double operator()(double x, double y) const {
    // The quotient of what is left when the remainder is gone, so that x = y * quotient + remainder holds where the
    // quotient x / y rounds up to the next integer (0.3 / 0.1 in float32).
    if (y == 0) return x / y;
    const double rest = fmod(x, y);
    double quotient = (x - rest) / y;
    if (rest != 0 && (y < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return copysign(0.0, x / y);
    const double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
  }
  WRY_GPU float operator()(float x, float y) const { return float((*this)(double(x), double(y))); }
  template <typename T>
  WRY_GPU T operator()(T x, T y) const {
    if (y == 0) {
      raise(report, DIVISION_BY_ZERO, op);
      return 0;
    }
    if constexpr (T(-1) < T(0))
      if (y == T(-1)) return T(unsigned_t<T>(0) - unsigned_t<T>(x));  // the smallest value has no negative
    const T quotient = T(x / y);
    return T(quotient - ((x % y != 0) & ((x < 0) != (y < 0))));
  }
};
// The sign of the divisor, for floats as for integers.
struct Remainder : Division {
  WRY_GPU double operator()(double x, double y) const {
    const double rest = fmod(x, y);
    return rest != 0 && (y < 0) != (rest < 0) ? rest + y : rest;
  }
  WRY_GPU float operator()(float x, float y) const { return float((*this)(double(x), double(y))); }
  template <typename T>
  WRY_GPU T operator()(T x, T y) const {
    if (y == 0) {
      raise(report, DIVISION_BY_ZERO, op);
      return 0;
    }
    if constexpr (T(-1) < T(0))
      if (y == T(-1)) return 0;
    const T rest = T(x % y);
    return rest != 0 && ((y < 0) != (rest < 0)) ? T(rest + y) : rest;
  }
};

// a * b in 64 bits, and whether it did not fit.
WRY_GPU bool overflows(int64_t a, int64_t b, int64_t *product) {
  *product = int64_t(uint64_t(a) * uint64_t(b));
  if (a == 0 || b == 0) return false;
  if ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN)) return true;
  return *product / b != a;
}

struct Power {
  WRY_GPU float operator()(float x, float y) const { return powf(x, y); }
  WRY_GPU double operator()(double x, double y) const { return pow(x, y); }
  // Exact where the result fits. Where int32 and int64 overflow, and for 0 to a negative power, Paddle converts an
  // infinite or huge double: the smallest integer.
  template <typename T>
  WRY_GPU T operator()(T x, T y) const {
    const T smallest = T(uint64_t(1) << (8 * sizeof(T) - 1));
    if (y < 0) {
      if (x == 1) return 1;
      if (x == T(-1)) return (y & 1) != 0 ? x : T(1);
      return x == 0 ? smallest : T(0);
    }
    int64_t result = 1, base = int64_t(x);
    bool overflow = false;
    for (uint64_t n = uint64_t(y);;) {
      if ((n & 1) != 0) overflow |= overflows(result, base, &result);
      n >>= 1;
      if (n == 0) break;
      overflow |= overflows(base, base, &base);
      if (overflow && sizeof(T) >= 4) break;
    }
    if (sizeof(T) >= 4 && (overflow || result != int64_t(T(result)))) return smallest;
    return T(result);
  }
};

// A NaN wins, whichever comes first.
struct Maximum {
  template <typename V>
  WRY_GPU V operator()(V x, V y) const {
    if constexpr (std::is_floating_point<V>::value) return x != x ? x : (x < y || y != y ? y : x);
    else return x < y ? y : x;
  }
};
struct Minimum {
  template <typename V>
  WRY_GPU V operator()(V x, V y) const {
    if constexpr (std::is_floating_point<V>::value) return x != x ? x : (y < x || y != y ? y : x);
    else return y < x ? y : x;
  }
};
struct Fmax {  // NaN loses
  template <typename V>
  WRY_GPU V operator()(V x, V y) const {
    if constexpr (std::is_floating_point<V>::value) return y != y ? x : (x > y ? x : y);
    else return x < y ? y : x;
  }
};
struct Fmin {
  template <typename V>
  WRY_GPU V operator()(V x, V y) const {
    if constexpr (std::is_floating_point<V>::value) return y != y ? x : (x < y ? x : y);
    else return y < x ? y : x;
  }
};
struct Heaviside {  // NaN counts as negative, as in Paddle (NumPy gives NaN)
  template <typename V>
  WRY_GPU V operator()(V x, V y) const { return x == V(0) ? y : V(x > V(0)); }
};
struct Atan2 {
  template <typename V>
  WRY_GPU V operator()(V y, V x) const { return atan2(y, x); }
};
struct NextAfter {
  template <typename V>
  WRY_GPU V operator()(V x, V y) const { return nextafter(x, y); }
};

struct Gcd {
  template <typename T>
  WRY_GPU T operator()(T x, T y) const { return gcd_of(x, y); }
};
struct Lcm {
  template <typename T>
  WRY_GPU T operator()(T x, T y) const { return lcm_of(x, y); }
};
struct MakeComplex {
  template <typename T>
  WRY_GPU complex<T> operator()(T re, T im) const { return {re, im}; }
};
struct Or {
  WRY_GPU bool operator()(bool x, bool y) const { return x | y; }
};
struct And {
  WRY_GPU bool operator()(bool x, bool y) const { return x & y; }
};

#ifndef WRY_FUNCTIONS_ONLY  // a chain of several wants them without (chains.py)
// ---- table ----------------------------------------------------------------------------------------

template <typename F>
struct Kernel {
  template <typename T>
  static int same(const wry_call *call) { return pointwise2<T, T, T>(call, F()); }
  template <typename T>
  static int division(const wry_call *call) {
    F f;
    f.report = nullptr, f.op = 0;
    if constexpr (is_integer<T>)
      if (output(call, 0)->size) f.report = arm(call, std::is_same<F, Remainder>::value ? "remainder" : "floor_divide", &f.op);
    return pointwise2<T, T, T>(call, f);
  }
};
template <typename T>
int multiply(const wry_call *call) {
  if (keep_scaled(call, "multiply", input(call, 0), input(call, 1))) return WRY_OK;
  return Kernel<Multiply>::same<T>(call);
}
template <typename T>
int make_complex(const wry_call *call) { return pointwise2<complex<T>, T, T>(call, MakeComplex()); }

#define NUMBERS(op, F) WRY_NUMBER_ROWS(op, in_place, Kernel<F>::same, #F "()")
#define REALS(op, F) WRY_REAL_ROWS(op, in_place, Kernel<F>::same, #F "()")
#define BOOL(op, F) WRY_BOOL_ROW(op, in_place, Kernel<F>::same, #F "()")
// Of integers they report a division by zero, which a chain cannot.
#define DIVISION(op, F) WRY_INT_ROWS(op, in_place, Kernel<F>::division), WRY_FLOAT_ROWS(op, in_place, Kernel<F>::division, #F "{{nullptr, 0}}")
#define SAME(F) Kernel<F>::same, #F "()"

const wry_kernel_entry table[] = {
    NUMBERS("add", Add), BOOL("add", Or),
    NUMBERS("subtract", Subtract),
    WRY_NUMBER_ROWS("multiply", in_place, multiply, "Multiply()"), BOOL("multiply", And),
    WRY_INEXACT_ROWS("divide", in_place, SAME(Divide)),
    DIVISION("floor_divide", FloorDivide),
    DIVISION("remainder", Remainder),
    REALS("power", Power),
    REALS("maximum", Maximum), BOOL("maximum", Or),
    REALS("minimum", Minimum), BOOL("minimum", And),
    REALS("fmax", Fmax), BOOL("fmax", Or),
    REALS("fmin", Fmin), BOOL("fmin", And),
    REALS("heaviside", Heaviside),
    WRY_FLOAT_ROWS("atan2", in_place, SAME(Atan2)),
    WRY_ROW("nextafter", float, in_place, SAME(NextAfter)), WRY_ROW("nextafter", double, in_place, SAME(NextAfter)),
    WRY_INT_ROWS("gcd", in_place, SAME(Gcd)), WRY_INT_ROWS("lcm", in_place, SAME(Lcm)),
    WRY_ROW("complex", float, WRY_STRIDED_OUTPUT, make_complex, "MakeComplex()"), WRY_ROW("complex", double, WRY_STRIDED_OUTPUT, make_complex, "MakeComplex()"),
};

#endif

}  // namespace
}  // namespace cuda
}  // namespace wherry

#ifndef WRY_FUNCTIONS_ONLY
WRY_TABLE(arithmetic, wherry::cuda::table)
#endif
