// Conversion between any two dtypes.
//
// A float that does not fit an integer, or NaN, has no defined value in C; here it has the one that
// x86 gives, which is what users of Paddle and NumPy see: the smallest int32 or int64, and for
// narrower integers the low bits of the conversion to int32. Complex numbers lose their imaginary
// part. Anything but zero is true, NaN too.
#include "pointwise.h"

namespace WRY_NAMESPACE {
namespace {

// Converting only what fits keeps the conversion defined, and both branches cheap enough for SIMD.
template <typename R>
WRY_INLINE int32_t to_int32(R x) {
  const bool fits = (x > R(-2147483904.0)) & (x < R(2147483648.0)) & (double(x) > -2147483649.0);
  return fits ? int32_t(fits ? x : R(0)) : INT32_MIN;
}
template <typename R>
WRY_INLINE int64_t to_int64(R x) {
  const bool fits = (x >= R(-9223372036854775808.0)) & (x < R(9223372036854775808.0));
  return fits ? int64_t(fits ? x : R(0)) : INT64_MIN;
}

template <typename TO>
struct Cast {
  static constexpr Lanes lanes = Lanes::none;
  template <typename T>
  WRY_INLINE TO operator()(T x) const {
    if constexpr (is_complex<T>::value) {
      if constexpr (is_complex<TO>::value) return TO(x);
      else if constexpr (same_type<TO, bool>) return (x.re != 0) | (x.im != 0);
      else return Cast()(x.re);
    } else if constexpr (is_complex<TO>::value) {
      return TO(typename is_complex<TO>::real(x));
    } else if constexpr (same_type<TO, bool>) {
      return x != T(0);
    } else if constexpr (is_integer<TO> && (same_type<T, float> || same_type<T, double>)) {
      if constexpr (sizeof(TO) == 8) return to_int64(x);
      else return TO(to_int32(x));
    } else {
      return TO(x);
    }
  }
};

// As `row` of pointwise.h, but floats stay floats: through double they would not lose anything, only
// time.
template <typename TO, typename T>
void cast_row(const void *, char *const *at, const int64_t *step, int64_t n, bool) {
  TO *out = (TO *)at[0];
  const T *x = (const T *)at[1];
  const Cast<arithmetic_t<TO>> cast;
  // A half is a float on both of its ways.
  if (step[0] == 1 && step[1] == 1) {
    if constexpr (is_half<T> && same_type<TO, float>) {
      widen(x, out, n);
    } else if constexpr (is_half<TO> && same_type<T, float>) {
      narrow(x, out, n);
    } else {
      WRY_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) out[i] = TO(cast(plain_value(x[i])));
    }
    return;
  }
  if (step[0] == 1 && step[1] == 0) {  // a cotangent of a sum
    const TO value = TO(cast(plain_value(*x)));
    for (int64_t i = 0; i < n; ++i) out[i] = value;
    return;
  }
  for (int64_t i = 0; i < n; ++i) out[i * step[0]] = TO(cast(plain_value(x[i * step[1]])));
}

struct Identity {
  static constexpr Lanes lanes = Lanes::none;
  template <typename T>
  WRY_INLINE T operator()(T x) const { return x; }
};

template <typename T>
int cast(const wry_call *call) {
  const int32_t to = output(call, 0)->dtype;
  if (to == code_of<T>::value) {
    int status = WRY_OK;
    dispatch_size(sizeof(T), [&](auto tag) {
      status = pointwise1<decltype(tag), decltype(tag)>(call, Identity());
    });
    return status;
  }
  RowFunction f = nullptr;
  dispatch<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16, float, double, complex64, complex128>(
      to, [&](auto tag) { f = cast_row<decltype(tag), T>; });
  return walk<2>(call, {output(call, 0), input(call, 0)}, {f, Steps::any}, nullptr, cheap);
}

#include <wherry/kernels/rows/cast.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(cast, WRY_NAMESPACE::table)
