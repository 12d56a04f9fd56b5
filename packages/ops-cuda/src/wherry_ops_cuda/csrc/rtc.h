// What values.h needs of the standard library and of CUDA's headers, for NVRTC, which comes without both.
//
// 16-bit floats are words here. The conversions give the bits of __half2float, __float2half, __bfloat162float and
// __float2bfloat16: to the nearest, ties to even, any NaN the canonical one.
#ifndef WHERRY_CUDA_RTC_H
#define WHERRY_CUDA_RTC_H

using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long long;
using uint64_t = unsigned long long;
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807ll - 1)
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)

namespace std {
template <bool B>
struct truth {
  static constexpr bool value = B;
};
using true_type = truth<true>;
using false_type = truth<false>;
template <typename A, typename B>
struct is_same : false_type {};
template <typename A>
struct is_same<A, A> : true_type {};
template <bool B, typename T, typename U>
struct conditional {
  using type = T;
};
template <typename T, typename U>
struct conditional<false, T, U> {
  using type = U;
};
template <bool B, typename T, typename U>
using conditional_t = typename conditional<B, T, U>::type;
template <typename T>
struct is_floating_point : truth<is_same<T, float>::value || is_same<T, double>::value> {};
template <typename T>
struct make_unsigned {};
template <typename T>
struct is_integral : is_same<T, bool> {};
#define WRY_WHOLE(T, U)                 \
  template <>                           \
  struct is_integral<T> : true_type {}; \
  template <>                           \
  struct is_integral<U> : true_type {}; \
  template <>                           \
  struct make_unsigned<T> {             \
    using type = U;                     \
  };                                    \
  template <>                           \
  struct make_unsigned<U> {             \
    using type = U;                     \
  };
WRY_WHOLE(int8_t, uint8_t)
WRY_WHOLE(int16_t, uint16_t)
WRY_WHOLE(int32_t, uint32_t)
WRY_WHOLE(int64_t, uint64_t)
#undef WRY_WHOLE
template <typename T>
using make_unsigned_t = typename make_unsigned<T>::type;
}  // namespace std

struct __half {
  unsigned short bits;
};
struct __nv_bfloat16 {
  unsigned short bits;
};
__device__ inline float __half2float(__half x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
}
__device__ inline __half __float2half(float x) {
  __half value;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
  return value;
}
__device__ inline float __bfloat162float(__nv_bfloat16 x) { return __int_as_float(int(unsigned(x.bits) << 16)); }
__device__ inline __nv_bfloat16 __float2bfloat16(float x) {
  const unsigned bits = unsigned(__float_as_int(x));
  __nv_bfloat16 value;
  value.bits = (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fff : (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  return value;
}

#endif
