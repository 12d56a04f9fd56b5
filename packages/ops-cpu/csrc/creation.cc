// Tensors made from attributes.
#include "parallel.h"
#include "simd.h"

namespace WRY_NAMESPACE {
namespace {

// 128 KiB of stores are worth a thread.
constexpr int64_t bytes_per_piece = 131072;

template <typename T>
int full(const wry_call *call) {
  // `full` has the attributes shape, value, dtype; `full_like` value, dtype.
  const T value = attr_scalar<T>(call, call->n_attrs - 2);
  using Word = std::conditional_t<sizeof(T) == 2, uint16_t, T>;  // compilers store 16 bit floats one by one
  Word word;
  memcpy(&word, &value, sizeof word);
  Word *out = data<Word>(output(call, 0));
  parallel_for(call, output(call, 0)->size, bytes_per_piece / int64_t(sizeof(T)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = word;
  });
  return WRY_OK;
}

// start + i * step. Integers count in 64 bits without a sign, which cannot overflow; floats in
// double, so that a long float32 range does not drift.
template <typename T>
int arange(const wry_call *call) {
  T *out = data<T>(output(call, 0));
  const int64_t n = output(call, 0)->size;
  if constexpr (is_complex<T>::value) {
    const complex128 start = attr_scalar<complex128>(call, 0), step = attr_scalar<complex128>(call, 1);
    for (int64_t i = 0; i < n; ++i) out[i] = T(start + complex128(double(i)) * step);
  } else if (call->attrs[0].kind == WRY_ATTR_INT && call->attrs[1].kind == WRY_ATTR_INT) {
    const uint64_t start = uint64_t(attr_int(call, 0)), step = uint64_t(attr_int(call, 1));
    parallel_for(call, n, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = T(arithmetic_t<T>(int64_t(start + uint64_t(i) * step)));
    });
  } else {
    const double start = attr_float(call, 0), step = attr_float(call, 1);
    parallel_for(call, n, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = T(arithmetic_t<T>(start + double(i) * step));
    });
  }
  return WRY_OK;
}

template <typename T>
struct choose_wide {
  using type = double;
};
template <typename R>
struct choose_wide<complex<R>> {
  using type = complex128;
};

// Integers cut off what is after the point, as Paddle does.
template <typename T, typename W>
WRY_INLINE T to_storage(W value) {
  if constexpr (is_complex<T>::value) return T(value);
  else return T(arithmetic_t<T>(value));
}

// From both ends to the middle, so that the last value is `stop` exactly.
template <typename T>
int linspace(const wry_call *call) {
  using Wide = typename choose_wide<T>::type;
  T *out = data<T>(output(call, 0));
  const int64_t n = output(call, 0)->size;
  const Wide start = attr_scalar<Wide>(call, 0), stop = attr_scalar<Wide>(call, 1);
  const Wide step = n > 1 ? (stop - start) * Wide(1.0 / double(n - 1)) : Wide(0.0);
  for (int64_t i = 0; i < n; ++i) {
    const Wide value = i < n / 2 || n == 1 ? start + step * Wide(double(i)) : stop - step * Wide(double(n - 1 - i));
    out[i] = to_storage<T>(value);
  }
  return WRY_OK;
}

template <typename T>
int eye(const wry_call *call) {
  const int64_t rows = attr_int(call, 0), columns = attr_int(call, 1);
  T *out = data<T>(output(call, 0));
  memset(static_cast<void *>(out), 0, size_t(rows * columns) * sizeof(T));
  for (int64_t i = 0; i < min_of(rows, columns); ++i) out[i * columns + i] = T(arithmetic_t<T>(1));
  return WRY_OK;
}

// The first output chooses the row where there is no input. full_like is asked for the dtype of its
// input, of which only the shape counts.
int full_like(const wry_call *call) {
  int status = WRY_OK;
  dispatch<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16, float, double, complex64, complex128>(
      output(call, 0)->dtype, [&](auto tag) { status = full<decltype(tag)>(call); });
  return status;
}

#include <wherry/kernels/rows/creation.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(creation, WRY_NAMESPACE::table)
