// Numbers and sizes of dense matrices, as linalg.cu and eigen.cu see them.
#ifndef WHERRY_CUDA_MATRICES_H
#define WHERRY_CUDA_MATRICES_H

#include "common.h"

namespace wherry {
namespace cuda {

template <typename T>
using real_of = typename is_complex<T>::real;
template <typename T>
WRY_GPU T conjugate(T x) {
  if constexpr (is_complex<T>::value) return T(x.re, -x.im);
  else return x;
}
template <typename T>
WRY_GPU real_of<T> real_part(T x) {
  if constexpr (is_complex<T>::value) return x.re;
  else return x;
}
template <typename T>
WRY_GPU real_of<T> magnitude(T x) {
  if constexpr (is_complex<T>::value) return fabs(x.re) + fabs(x.im);
  else return fabs(x);
}
template <typename T>
WRY_GPU T inverse_of(T x) {
  if constexpr (is_complex<T>::value) {  // Smith's division: no square that could overflow
    using R = real_of<T>;
    if (fabs(x.re) >= fabs(x.im)) {
      const R ratio = x.im / x.re, whole = x.re + x.im * ratio;
      return T(R(1) / whole, -ratio / whole);
    }
    const R ratio = x.re / x.im, whole = x.re * ratio + x.im;
    return T(ratio / whole, R(-1) / whole);
  } else {
    return T(1) / x;
  }
}

inline int64_t rows_of(const wry_tensor *t) { return t->shape[t->rank - 2]; }
inline int64_t columns_of(const wry_tensor *t) { return t->shape[t->rank - 1]; }
inline dim3 blocks_of(int64_t count) { return dim3(unsigned(count < 65535 ? count : 65535)); }

}  // namespace cuda
}  // namespace wherry

#endif
