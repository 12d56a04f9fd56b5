// Arithmetic of two values.
//
// Integers wrap around where a result does not fit. Where NumPy and Paddle differ, Paddle decides;
// comments say so.
#include "pointwise.h"
#include "vecmath.h"

namespace WRY_NAMESPACE {
namespace {

#define WRY_ARITHMETIC(Name, operation)                                                   \
  struct Name {                                                                           \
    static constexpr Lanes lanes = Lanes::all;                                            \
    template <typename V>                                                                 \
    WRY_INLINE V operator()(V x, V y) const {                                             \
      if constexpr (is_integer<V>) return V(unsigned_t<V>(x) operation unsigned_t<V>(y)); \
      else return x operation y;                                                          \
    }                                                                                     \
  };
WRY_ARITHMETIC(Add, +)
WRY_ARITHMETIC(Subtract, -)
WRY_ARITHMETIC(Multiply, *)

template <typename R>
WRY_INLINE complex<R> divide_complex(complex<R> a, complex<R> b) {
  // Smith's method: the squares of the parts of b need not fit into R.
  if ((b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im)) {
    if (b.re == 0) return {a.re / b.re, a.im / b.re};
    const R ratio = b.im / b.re, scale = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
  }
  const R ratio = b.re / b.im, scale = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
}

struct Divide {
  static constexpr Lanes lanes = Lanes::all;
  template <typename V>
  WRY_INLINE V operator()(V x, V y) const { return x / y; }
  template <typename R>
  WRY_INLINE complex<R> operator()(complex<R> x, complex<R> y) const { return divide_complex(x, y); }
};

// x / y towards zero, and what it leaves of x, both exact where the quotient is not `large`.
struct Division {
  f64 whole, rest;
  i64 large;
};

// Floats: both come from such. Then a quotient below 2^29 rounds to no integer that it does not reach, and its product with y is exact.
template <bool Floats>
WRY_INLINE Division division_of(f64 x, f64 y) {
  const f64 one = splat<f64>(1.0);
  f64 whole = trunc(x / y), rest = fma(-whole, y, x);
  if constexpr (!Floats) {
    const i64 above = (abs(rest) > 0.0) & (((i64)rest ^ (i64)x) < 0);
    whole = above ? whole - copysign(one, whole) : whole;
    rest = above ? rest + copysign(y, x) : rest;
  }
  const i64 large = (abs(whole) >= (Floats ? 0x1p29 : 0x1p51)) & (abs(x) < __builtin_inf()) & (y != 0.0);
  return {whole, whole == 0.0 ? x : copysign(rest, x), large};
}

// f of each lane, whose `value` knows the quotient; of large ones as of two numbers.
template <bool Floats, typename F>
WRY_INLINE f64 by_division(const F &f, f64 x, f64 y) {
  const Division d = division_of<Floats>(x, y);
  f64 value = f.value(x, y, d);
  if (WRY_UNLIKELY(any(d.large)))
    for (int i = 0; i < f64_lanes; ++i)
      if (d.large[i]) value[i] = f(double(x[i]), double(y[i]));
  return value;
}
template <typename F>
WRY_INLINE f32 by_division(const F &f, f32 x, f32 y) {
  const f64x2 a = to_double(x), b = to_double(y);
  return to_float({by_division<true>(f, a.lo, b.lo), by_division<true>(f, a.hi, b.hi)});
}
#ifdef WRY_HAS_FMA
constexpr Lanes division_lanes = Lanes::all;
#else
constexpr Lanes division_lanes = Lanes::floats;  // products of doubles are not exact
#endif

// Where the rest has not the sign of the divisor, which it gets.
WRY_INLINE i64 turns(f64 rest, f64 y) { return (rest != 0.0) & (((i64)rest ^ (i64)y) < 0); }

// Integer division tells by `by_zero` that it met a zero; threads may all set it.
struct FloorDivide {
  static constexpr Lanes lanes = division_lanes;
  int *by_zero;
  WRY_INLINE f32 operator()(f32 x, f32 y) const { return by_division(*this, x, y); }
  WRY_INLINE f64 operator()(f64 x, f64 y) const { return by_division<false>(*this, x, y); }
  WRY_INLINE f64 value(f64 x, f64 y, const Division &d) const {
    const f64 floor = turns(d.rest, y) ? d.whole - 1.0 : d.whole;
    return y == 0.0 ? x / y : (d.rest == d.rest ? floor : d.rest);
  }
  static WRY_INLINE f64 of_integers(f64 x, f64 y) { return floor(x / y); }
  static WRY_INLINE float of_integers(float x, float y) { return __builtin_floorf(x / y); }
  WRY_INLINE double operator()(double x, double y) const {
    // The quotient of what is left when the remainder is gone, so that x = y * quotient + remainder
    // holds where the quotient x / y rounds up to the next integer (0.3 / 0.1 in float32).
    if (y == 0) return x / y;
    const double rest = ::fmod(x, y);
    double quotient = (x - rest) / y;
    if (rest != 0 && (y < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return ::copysign(0.0, x / y);
    const double whole = ::floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
  }
  template <typename T>
  WRY_INLINE T operator()(T x, T y) const {
    if (y == 0) {
      __atomic_store_n(by_zero, 1, __ATOMIC_RELAXED);
      return 0;
    }
    if constexpr (T(-1) < T(0)) {
      if (y == T(-1)) return T(unsigned_t<T>(0) - unsigned_t<T>(x));  // the smallest value has no negative
    }
    const T quotient = T(x / y);
    return T(quotient - ((x % y != 0) & ((x < 0) != (y < 0))));
  }
};

// The sign of the divisor, for floats as for integers.
struct Remainder {
  static constexpr Lanes lanes = division_lanes;
  int *by_zero;
  WRY_INLINE f32 operator()(f32 x, f32 y) const { return by_division(*this, x, y); }
  WRY_INLINE f64 operator()(f64 x, f64 y) const { return by_division<false>(*this, x, y); }
  WRY_INLINE f64 value(f64, f64 y, const Division &d) const { return turns(d.rest, y) ? d.rest + y : d.rest; }
  static WRY_INLINE f64 of_integers(f64 x, f64 y) { return fma(-floor(x / y), y, x); }
  static WRY_INLINE float of_integers(float x, float y) { return x - __builtin_floorf(x / y) * y; }
  WRY_INLINE double operator()(double x, double y) const {
    const double rest = ::fmod(x, y);
    return rest != 0 && (y < 0) != (rest < 0) ? rest + y : rest;
  }
  template <typename T>
  WRY_INLINE T operator()(T x, T y) const {
    if (y == 0) {
      __atomic_store_n(by_zero, 1, __ATOMIC_RELAXED);
      return 0;
    }
    if constexpr (T(-1) < T(0)) {
      if (y == T(-1)) return 0;
    }
    const T rest = T(x % y);
    return rest != 0 && ((y < 0) != (rest < 0)) ? T(rest + y) : rest;
  }
};

// A row of integers by lanes of doubles, which divide in a tenth of the time. Below 2^50 the quotient rounds to no integer that it does
// not reach. Vectors with others, or with a zero to tell of, go one by one.
template <typename F, typename T>
void integer_row(const void *functor, char *const *at, const int64_t *step, int64_t n, bool) {
  const F &f = *static_cast<const F *>(functor);
  T *out = (T *)at[0];
  const auto lanes_of = [&](int k, int64_t i) {
    const T *from = (const T *)at[k];
    vecn<T, f64_lanes> some;
    if (step[k] == 0) some = *from - vecn<T, f64_lanes>{};
    else __builtin_memcpy(&some, from + i, sizeof some);
    return convert<i64>(some);
  };
  const f64 shift = splat<f64>(0x1.8p52);  // see wide_log
  const auto single = [&](int64_t i) { out[i] = f(((const T *)at[1])[i * step[1]], ((const T *)at[2])[i * step[2]]); };
  int64_t i = 0;
  for (; i + f64_lanes <= n; i += f64_lanes) {
    const i64 x = lanes_of(1, i), y = lanes_of(2, i);
    i64 special = y == 0;
    if constexpr (sizeof(T) == 8) special |= ((((u64)x + (1ull << 50)) | ((u64)y + (1ull << 50))) >> 51) != 0;
    if (WRY_UNLIKELY(any(special))) {
      for (int64_t j = i; j < i + f64_lanes; ++j) single(j);
      continue;
    }
    const f64 value = F::of_integers((f64)(x + (i64)shift) - shift, (f64)(y + (i64)shift) - shift);
    const auto whole = convert<vecn<T, f64_lanes>>((i64)(value + shift) - (i64)shift);
    __builtin_memcpy(out + i, &whole, sizeof whole);
  }
  for (; i < n; ++i) single(i);
}

// Of 8 and 16 bits as floats, a stretch at a time.
template <typename F, typename T>
void small_integer_row(const void *functor, char *const *at, const int64_t *, int64_t n, bool) {
  constexpr int64_t most = 256;
  for (int64_t i = 0; i < n; i += most) {
    T *out = (T *)at[0] + i;
    const T *x = (const T *)at[1] + i, *y = (const T *)at[2] + i;
    const int64_t m = min_of(n - i, most);
    uint8_t zero = 0;  // no bool: GCC makes no vectors of its sum
    for (int64_t j = 0; j < m; ++j) zero |= uint8_t(y[j] == 0);
    if (WRY_UNLIKELY(zero)) {
      for (int64_t j = 0; j < m; ++j) out[j] = (*static_cast<const F *>(functor))(x[j], y[j]);
    } else {
      WRY_INDEPENDENT
      for (int64_t j = 0; j < m; ++j) out[j] = T(int32_t(F::of_integers(float(x[j]), float(y[j]))));
    }
  }
}

struct Power {
  static constexpr Lanes lanes = Lanes::floats;
  WRY_INLINE f32 operator()(f32 x, f32 y) const { return pow(x, y); }
  WRY_INLINE double operator()(double x, double y) const { return ::pow(x, y); }
  template <typename R>
  WRY_INLINE complex<R> operator()(complex<R> x, complex<R> y) const {
    if (y == complex<R>(0)) return complex<R>(1);
    if (x == complex<R>(0) && y.re > 0) return complex<R>(0);
    _Complex double base, exponent;
    __real__ base = x.re, __imag__ base = x.im;
    __real__ exponent = y.re, __imag__ exponent = y.im;
    const _Complex double z = __builtin_cpow(base, exponent);
    return {R(__real__ z), R(__imag__ z)};
  }
  // Exact where the result fits. Where int32 and int64 overflow, and for 0 to a negative power,
  // Paddle converts an infinite or huge double: the smallest integer.
  template <typename T>
  WRY_INLINE T operator()(T x, T y) const {
    if (y < 0) {
      if (x == 1) return 1;
      if (x == T(-1)) return (y & 1) != 0 ? x : T(1);
      return x == 0 ? smallest<T>() : T(0);
    }
    using Wide = int64_t;
    Wide result = 1, base = x;
    bool overflow = false;
    for (uint64_t n = uint64_t(y);;) {
      if ((n & 1) != 0) overflow |= __builtin_mul_overflow(result, base, &result);
      n >>= 1;
      if (n == 0) break;
      overflow |= __builtin_mul_overflow(base, base, &base);
      if (overflow && sizeof(T) >= 4) break;
    }
    if (sizeof(T) >= 4 && (overflow || result != Wide(T(result)))) return smallest<T>();
    return T(result);
  }
  template <typename T>
  static WRY_INLINE T smallest() { return T(uint64_t(1) << (8 * sizeof(T) - 1)); }
};

#define WRY_CHOICE(Name, vector_value, scalar_value)                       \
  struct Name {                                                            \
    static constexpr Lanes lanes = Lanes::all;                             \
    WRY_INLINE f32 operator()(f32 x, f32 y) const { return vector_value; } \
    WRY_INLINE f64 operator()(f64 x, f64 y) const { return vector_value; } \
    template <typename T>                                                  \
    WRY_INLINE T operator()(T x, T y) const { return scalar_value; }       \
  };
WRY_CHOICE(Maximum, maximum(x, y), x < y ? y : x)
WRY_CHOICE(Minimum, minimum(x, y), y < x ? y : x)
// NaN loses: max and min give their second argument where either is NaN.
WRY_CHOICE(Fmax, (y != y ? x : max(x, y)), x < y ? y : x)
WRY_CHOICE(Fmin, (y != y ? x : min(x, y)), y < x ? y : x)
// NaN counts as negative, as in Paddle (NumPy gives NaN).
WRY_CHOICE(Heaviside, (x == 0 ? y : (x > 0 ? decltype(x){} + 1 : decltype(x){})), x == 0 ? y : T(x > 0))

struct Atan2 {
  static constexpr Lanes lanes = Lanes::floats;
  WRY_INLINE f32 operator()(f32 y, f32 x) const { return atan2(y, x); }
  WRY_INLINE double operator()(double y, double x) const { return ::atan2(y, x); }
};

template <typename T>
struct NextAfter {
  static constexpr Lanes lanes = Lanes::none;
  WRY_INLINE double operator()(double x, double y) const {
    return same_type<T, float> ? ::nextafterf(float(x), float(y)) : ::nextafter(x, y);
  }
};
template <typename T>
int nextafter_kernel(const wry_call *call) { return pointwise2<T, T, T>(call, NextAfter<T>(), moderate); }

struct Gcd {
  static constexpr Lanes lanes = Lanes::none;
  template <typename T>
  WRY_INLINE T operator()(T x, T y) const { return gcd_of(x, y); }
};
struct Lcm {
  static constexpr Lanes lanes = Lanes::none;
  template <typename T>
  WRY_INLINE T operator()(T x, T y) const { return lcm_of(x, y); }
};

struct Complex {
  static constexpr Lanes lanes = Lanes::none;
  template <typename T>
  WRY_INLINE complex<T> operator()(T re, T im) const { return {re, im}; }
};

struct Or {
  static constexpr Lanes lanes = Lanes::none;
  WRY_INLINE bool operator()(bool x, bool y) const { return x | y; }
};
struct And {
  static constexpr Lanes lanes = Lanes::none;
  WRY_INLINE bool operator()(bool x, bool y) const { return x & y; }
};

// ---- table --------------------------------------------------------------------------------------

template <typename F, int64_t Grain = cheap>
struct Kernel {
  template <typename T>
  static int same(const wry_call *call) { return pointwise2<T, T, T>(call, F(), Grain); }

  template <typename T>
  static int division(const wry_call *call) {
    int by_zero = 0;
    const F f{&by_zero};
    Row row = row_for<F, T, T, T>;
    if constexpr (is_integer<T>) {
      if constexpr (sizeof(T) >= 4) row = {integer_row<F, T>, Steps::repeating};
      else row = {small_integer_row<F, T>, Steps::unit};
    }
    constexpr int64_t grain = by_lanes<F, T> || is_integer<T> ? moderate / 2 : slow;
    const int status = walk<3>(call, {output(call, 0), input(call, 0), input(call, 1)}, row, &f, grain);
    if (WRY_UNLIKELY(by_zero))
      return fail(call, WRY_INVALID,
                  "%s: integer division by zero. Got a divisor `y` that holds a 0, expected none. "
                  "Mask the zeros first (for example with where), or divide floats.",
                  same_type<F, Remainder> ? "remainder" : "floor_divide");
    return status;
  }
};

struct Square {
  static constexpr Lanes lanes = Lanes::all;
  template <typename V>
  WRY_INLINE V operator()(V x) const { return x * x; }
};

struct Itself {
  static constexpr Lanes lanes = Lanes::all;
  template <typename V>
  WRY_INLINE V operator()(V x) const { return x; }
};

template <typename T>
int power(const wry_call *call) {
  if constexpr (is_real_float<T>) {
    const wry_tensor *y = input(call, 1);
    if (y->size == 1 && same_shape(output(call, 0), input(call, 0))) {
      const double exponent = double(arithmetic_t<T>(data<T>(y)[0]));
      if (exponent == 2) return pointwise1<T, T>(call, Square());
      if (exponent == 1) return pointwise1<T, T>(call, Itself());  // of the gradient of a square
    }
  }
  return pointwise2<T, T, T>(call, Power(), by_lanes<Power, T> ? moderate / 2 : slow);
}

using Atan2Kernel = Kernel<Atan2, moderate>;
using GcdKernel = Kernel<Gcd, slow>;
using LcmKernel = Kernel<Lcm, slow>;

// As complex(re, im) of float32 or float64.
template <typename T>
int make_complex(const wry_call *call) { return pointwise2<complex<T>, T, T>(call, Complex()); }

#define NUMBERS(op, F) WRY_NUMBER_ROWS(op, in_place, Kernel<F>::same)
#define REALS(op, F) WRY_REAL_ROWS(op, in_place, Kernel<F>::same)
#define DIVISION(op, F) WRY_REAL_ROWS(op, in_place, Kernel<F>::division)

const wry_kernel_entry table[] = {
    NUMBERS("add", Add),
    WRY_BOOL_ROW("add", in_place, Kernel<Or>::same),
    NUMBERS("subtract", Subtract),
    NUMBERS("multiply", Multiply),
    WRY_BOOL_ROW("multiply", in_place, Kernel<And>::same),
    WRY_FLOAT_ROWS("divide", in_place, Kernel<Divide>::same),
#if WRY_RARE_DTYPES
    WRY_COMPLEX_ROWS("divide", in_place, Kernel<Divide>::same),
#endif
    DIVISION("floor_divide", FloorDivide),
    DIVISION("remainder", Remainder),
    WRY_NUMBER_ROWS("power", in_place, power),
    REALS("maximum", Maximum),
    WRY_BOOL_ROW("maximum", in_place, Kernel<Or>::same),
    REALS("minimum", Minimum),
    WRY_BOOL_ROW("minimum", in_place, Kernel<And>::same),
    REALS("fmax", Fmax),
    WRY_BOOL_ROW("fmax", in_place, Kernel<Or>::same),
    REALS("fmin", Fmin),
    WRY_BOOL_ROW("fmin", in_place, Kernel<And>::same),
    REALS("heaviside", Heaviside),
    WRY_FLOAT_ROWS("atan2", in_place, Atan2Kernel::same),
    WRY_ROW("nextafter", float, in_place, nextafter_kernel),
    WRY_ROW("nextafter", double, in_place, nextafter_kernel),
    WRY_INT_ROWS("gcd", in_place, GcdKernel::same),
    WRY_INT_ROWS("lcm", in_place, LcmKernel::same),
    WRY_ROW("complex", float, WRY_STRIDED_OUTPUT, make_complex),
    WRY_ROW("complex", double, WRY_STRIDED_OUTPUT, make_complex),
};

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(arithmetic, WRY_NAMESPACE::table)
