// Batches of images as kernels see them: where batch, channels and rows lie in either layout, and
// 16 bit values as float.
#ifndef WHERRY_OPS_CPU_IMAGES_H
#define WHERRY_OPS_CPU_IMAGES_H

#include "parallel.h"

#include <type_traits>

namespace WRY_NAMESPACE {

// Of a contiguous tensor, [n, channels, h, w] or [n, h, w, channels].
struct Geometry {
  int64_t n, channels, h, w;
};

WRY_INLINE Geometry geometry_of(const wry_tensor *t, bool channels_last) {
  const int64_t *s = t->shape;
  return channels_last ? Geometry{s[0], s[3], s[1], s[2]} : Geometry{s[0], s[1], s[2], s[3]};
}

// Values in the type A that the arithmetic uses: where they are, or converted into scratch memory.
template <typename T, typename A = arithmetic_t<T>>
const A *as_arithmetic(const wry_call *call, const wry_tensor *t, bool *failed) {
  if (!t) return nullptr;
  if constexpr (std::is_same<T, A>::value) {
    return data<T>(t);
  } else {
    float *to = workspace<float>(call, t->size + 1);
    if (!to) {
      *failed = true;
      return nullptr;
    }
    const T *from = data<T>(t);
    parallel_for(call, t->size, 16384, [&](int64_t begin, int64_t end) { widen(from + begin, to + begin, end - begin); });
    return to;
  }
}

template <typename T, typename A = arithmetic_t<T>>
A *result_for(const wry_call *call, const wry_tensor *out) {
  if constexpr (std::is_same<T, A>::value) return data<T>(out);
  else return workspace<float>(call, out->size);
}

template <typename T, typename A>
void deliver(const wry_call *call, const A *from, const wry_tensor *out) {
  if constexpr (!std::is_same<T, A>::value) {
    T *to = data<T>(out);
    parallel_for(call, out->size, 16384, [&](int64_t begin, int64_t end) { narrow(from + begin, to + begin, end - begin); });
  }
}

}  // namespace WRY_NAMESPACE

#endif
