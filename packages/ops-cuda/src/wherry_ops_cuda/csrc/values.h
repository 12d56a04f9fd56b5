// Types of elements and the arithmetic on them: what device code of every family starts from, and chains that are compiled at
// run time. Nothing of the host is here; NVRTC, which has no headers, takes this file with rtc.h.
#ifndef WHERRY_CUDA_VALUES_H
#define WHERRY_CUDA_VALUES_H

#ifdef __CUDACC_RTC__
#include "rtc.h"
#else
#include <cuda_emulator/kernel.h>
#include <math.h>

#include <type_traits>
#include <utility>
#endif

#include "faults.h"

#define WRY_GPU __device__ __forceinline__
#define WRY_BOTH __host__ __device__ __forceinline__

namespace wherry {
namespace cuda {

using half = __half;
using float16 = half;  // its name in wherry/kernels
using bfloat16 = __nv_bfloat16;

}  // namespace cuda
}  // namespace wherry

#define WRY_NAMESPACE wherry::cuda
#define WRY_FN WRY_BOTH
#define WRY_COMPLEX_ALIGNMENT(R) alignas(2 * sizeof(R))
#include <wherry/kernels/numbers.h>

namespace wherry {
namespace cuda {

template <typename T>
constexpr bool is_integer = std::is_integral<T>::value && !std::is_same<T, bool>::value;
template <typename T>
constexpr bool is_half = std::is_same<T, half>::value || std::is_same<T, bfloat16>::value;
template <typename T>
constexpr bool is_float = is_half<T> || std::is_floating_point<T>::value;

// What arithmetic on a type computes in: 16-bit floats in float.
template <typename T>
using arithmetic_t = std::conditional_t<is_half<T>, float, T>;

// Integers wrap around, which only unsigned ones do in C++.
template <typename T>
using unsigned_t = std::make_unsigned_t<T>;

// Values that are only moved: a word of their size instead of their type.
struct alignas(8) word16 {
  uint64_t lo, hi;
};

// ---- memory to arithmetic and back ----------------------------------------------------------------

template <typename T>
WRY_GPU arithmetic_t<T> load(const T *p) {
  if constexpr (std::is_same<T, half>::value) return __half2float(*p);
  else if constexpr (std::is_same<T, bfloat16>::value) return __bfloat162float(*p);
  else if constexpr (std::is_same<T, bool>::value) return *reinterpret_cast<const uint8_t *>(p) != 0;  // any byte but 0 is true
  else return *p;
}
template <typename T, typename V>
WRY_GPU T narrow(V value) {
  if constexpr (std::is_same<T, half>::value) return __float2half(float(value));
  else if constexpr (std::is_same<T, bfloat16>::value) return __float2bfloat16(float(value));
  else return T(value);
}

// ---- functors of every family ---------------------------------------------------------------------

struct Identity {
  template <typename T>
  WRY_GPU T operator()(T x) const { return x; }
};
// In the place of an input that a call leaves out.
struct Absent {};

// ---- what is wrong with data ----------------------------------------------------------------------

WRY_GPU void raise(Report *report, Fault fault, int32_t op, int64_t value = 0, int64_t size = 0, int64_t at = 0, int64_t least = 0) {
  if (atomicCAS(reinterpret_cast<int *>(&report->fault), int(NO_FAULT), int(fault)) != int(NO_FAULT)) return;
  report->op = op, report->value = value, report->size = size, report->at = at, report->least = least;
}

}  // namespace cuda
}  // namespace wherry

#endif
