// Conversion between any two dtypes.
//
// A float that does not fit an integer, or NaN, has no defined value in C; here it has the one that x86 gives, which is what
// users of Paddle and NumPy see: the smallest int32 or int64, and for narrower integers the low bits of the conversion to
// int32. Complex numbers lose their imaginary part. Anything but zero is true, NaN too.
#include "pointwise.h"
#ifndef WRY_FUNCTIONS_ONLY
#include "together.h"
#endif

namespace wherry {
namespace cuda {
namespace {

template <typename R>
WRY_GPU int32_t to_int32(R x) {
  return double(x) > -2147483649.0 && double(x) < 2147483648.0 ? int32_t(x) : INT32_MIN;
}
template <typename R>
WRY_GPU int64_t to_int64(R x) {
  return x >= R(-9223372036854775808.0) && x < R(9223372036854775808.0) ? int64_t(x) : INT64_MIN;
}

template <typename TO>
struct Cast {
  template <typename T>
  WRY_GPU TO operator()(T x) const {
    if constexpr (is_complex<T>::value) {
      if constexpr (is_complex<TO>::value) return TO(x);
      else if constexpr (std::is_same<TO, bool>::value) return (x.re != 0) | (x.im != 0);
      else return Cast()(x.re);
    } else if constexpr (is_complex<TO>::value) {
      return TO(typename is_complex<TO>::real(x));
    } else if constexpr (std::is_same<TO, bool>::value) {
      return x != T(0);
    } else if constexpr (is_integer<TO> && std::is_floating_point<T>::value) {
      if constexpr (sizeof(TO) == 8) return to_int64(x);
      else return TO(to_int32(x));
    } else {
      return TO(x);
    }
  }
};

#ifndef WRY_FUNCTIONS_ONLY  // a chain of several wants them without (chains.py)
template <typename T>
int cast(const wry_call *call) {
  const int32_t to = output(call, 0)->dtype;
  if (keep_scaled(call, "cast", input(call, 0), nullptr)) return WRY_OK;
  if (to == code_of<T>::value)
    return dispatch_size(sizeof(T), [&](auto tag) { return pointwise1<decltype(tag), decltype(tag)>(call, Identity()); });
  return dispatch<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, half, bfloat16, float, double, complex64, complex128>(to, [&](auto tag) {
    using TO = decltype(tag);
    return pointwise1<TO, T>(call, Cast<arithmetic_t<TO>>());
  });
}

#include <wherry/kernels/rows/cast.h>

#endif

}  // namespace
}  // namespace cuda
}  // namespace wherry

#ifndef WRY_FUNCTIONS_ONLY
WRY_TABLE(cast, wherry::cuda::table)
#endif
