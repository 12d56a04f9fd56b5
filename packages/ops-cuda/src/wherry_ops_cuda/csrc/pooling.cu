// Pooling: the maximum or the average of windows, and the way back.
//
// One thread computes one element of what is written. On the way back it adds up the windows that have its place, so nothing is
// added by two threads and the order is that of the windows. 16-bit floats are computed in float32.
#include "images.h"
#include <float.h>

namespace wherry {
namespace cuda {
namespace {

// Where the windows lie along one axis of n places: fixed ones (kernel > 0) or adaptive ones.
struct Windows {
  int64_t count, n, kernel, step, padding;
  bool exclusive;
  WRY_GPU int64_t first(int64_t i) const {
    if (!kernel) return i * n / count;
    const int64_t at = i * step - padding;
    return at < 0 ? 0 : at > n ? n : at;
  }
  WRY_GPU int64_t last(int64_t i) const {
    if (!kernel) return ((i + 1) * n + count - 1) / count;
    const int64_t end = i * step - padding + kernel;
    const int64_t inside = end < n ? end : n, from = first(i);
    return inside > from ? inside : from;
  }
  // How many places an average counts. All but what is beyond the padding, where the padding after the input is taken to be that
  // before it: as Paddle has it.
  WRY_GPU int64_t extent(int64_t i) const {
    if (!kernel || exclusive) return last(i) - first(i);
    const int64_t begin = i * step - padding, end = begin + kernel;
    return (end < n + padding ? end : n + padding) - begin;
  }
  // The windows that may have place `at` lie within [low, high).
  WRY_GPU int64_t low(int64_t at) const {
    if (!kernel) return at * count / n;
    const int64_t i = at + padding - kernel + step;  // the first with i * step > at + padding - kernel
    return i <= 0 ? 0 : i / step;
  }
  WRY_GPU int64_t high(int64_t at) const {
    const int64_t i = kernel ? (at + padding) / step + 1 : ((at + 1) * count + n - 1) / n;
    return i < count ? i : count;
  }
};
Windows fixed(int64_t count, int64_t n, int64_t kernel, int64_t step, int64_t padding, bool exclusive) { return {count, n, kernel, step, padding, exclusive}; }
Windows adaptive(int64_t count, int64_t n) { return {count, n, 0, 0, 0, true}; }

// ---- maximum --------------------------------------------------------------------------------------

// The first maximum in row-major order wins. NaN is never greater, so it loses against any number; a window without any gives
// the lowest float and position -1. Both are Paddle's ways.
template <typename T>
__global__ void __launch_bounds__(block_size) max_pool(int64_t size, Image in, Image to, Windows ys, Windows xs, const T *x, T *out, int32_t *mask) {
  using A = arithmetic_t<T>;
  for WRY_EACH (i, size) {
    const Place p = place_of(to, i);
    A most = A(-FLT_MAX);
    int64_t where = -1;
    for (int64_t y = ys.first(p.y); y < ys.last(p.y); ++y)
      for (int64_t j = xs.first(p.x); j < xs.last(p.x); ++j) {
        const A value = load(x + offset_of(in, p.n, p.channel, y, j));
        if (value > most || (where < 0 && value == value)) most = value, where = y * in.w + j;
      }
    out[i] = narrow<T>(most), mask[i] = int32_t(where);
  }
}
template <typename T>
int max_of_windows(const wry_call *call, bool last, const Windows &ys, const Windows &xs) {
  const wry_tensor *out = output(call, 0);
  const int threads = threads_for(out->size);
  return check(call, wry_launch(max_pool<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, image_of(input(call, 0), last),
                                image_of(out, last), ys, xs, data<T>(input(call, 0)), data<T>(out), data<int32_t>(output(call, 1))));
}
template <typename T>
int max_pool2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 4, "NHWC");
  const Ints kernel = attr_ints(call, 0), strides = attr_ints(call, 1), paddings = attr_ints(call, 2);
  const Image in = image_of(x, last), to = image_of(out, last);
  return max_of_windows<T>(call, last, fixed(to.h, in.h, kernel[0], strides[0], paddings[0], true), fixed(to.w, in.w, kernel[1], strides[1], paddings[2], true));
}
template <typename T>
int adaptive_max_pool2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 1, "NHWC");
  const Image in = image_of(x, last), to = image_of(out, last);
  return max_of_windows<T>(call, last, adaptive(to.h, in.h), adaptive(to.w, in.w));
}

// ---- average --------------------------------------------------------------------------------------

WRY_GPU double elements_of(const Windows &ys, const Windows &xs, int64_t y, int64_t x, double divisor) {
  const int64_t n = ys.extent(y) * xs.extent(x);
  return divisor != 0 ? divisor : n > 0 ? double(n) : 1.0;  // a window that holds nothing gives 0
}
template <typename T>
__global__ void __launch_bounds__(block_size) average(int64_t size, Image in, Image to, Windows ys, Windows xs, double divisor, const T *x, T *out) {
  using A = arithmetic_t<T>;
  for WRY_EACH (i, size) {
    const Place p = place_of(to, i);
    A sum = 0;
    for (int64_t y = ys.first(p.y); y < ys.last(p.y); ++y)
      for (int64_t j = xs.first(p.x); j < xs.last(p.x); ++j) sum += load(x + offset_of(in, p.n, p.channel, y, j));
    out[i] = narrow<T>(sum / A(elements_of(ys, xs, p.y, p.x, divisor)));
  }
}
template <typename T>
__global__ void __launch_bounds__(block_size) average_vjp(int64_t size, Image in, Image to, Windows ys, Windows xs, double divisor, const T *ct, T *out) {
  using A = arithmetic_t<T>;
  for WRY_EACH (i, size) {
    const Place p = place_of(in, i);
    A sum = 0;
    for (int64_t y = ys.low(p.y); y < ys.high(p.y); ++y) {
      if (p.y < ys.first(y) || p.y >= ys.last(y)) continue;
      for (int64_t x = xs.low(p.x); x < xs.high(p.x); ++x)
        if (p.x >= xs.first(x) && p.x < xs.last(x)) sum += load(ct + offset_of(to, p.n, p.channel, y, x)) / A(elements_of(ys, xs, y, x, divisor));
    }
    out[i] = narrow<T>(sum);
  }
}
// Forward from input to output, or back: `pooled` is the smaller of the two.
template <typename T>
int averages(const wry_call *call, bool back, bool last, bool is_adaptive) {
  const wry_tensor *out = output(call, 0), *from = input(call, 0);
  if (out->size == 0) return WRY_OK;
  const Image in = image_of(back ? out : from, last), to = image_of(back ? from : out, last);
  Windows ys = adaptive(to.h, in.h), xs = adaptive(to.w, in.w);
  double divisor = 0;
  if (!is_adaptive) {
    const Ints kernel = attr_ints(call, 0), strides = attr_ints(call, 1), paddings = attr_ints(call, 2);
    ys = fixed(to.h, in.h, kernel[0], strides[0], paddings[0], attr_bool(call, 4));
    xs = fixed(to.w, in.w, kernel[1], strides[1], paddings[2], attr_bool(call, 4));
    if (!attr_is_none(call, 5)) divisor = attr_float(call, 5);
  }
  const int threads = threads_for(out->size);
  return check(call, wry_launch(back ? average_vjp<T> : average<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, in, to, ys, xs,
                                divisor, data<T>(from), data<T>(out)));
}
template <typename T>
int avg_pool2d(const wry_call *call) { return averages<T>(call, false, attr_equals(call, 6, "NHWC"), false); }
template <typename T>
int avg_pool2d_vjp(const wry_call *call) { return averages<T>(call, true, attr_equals(call, 6, "NHWC"), false); }
template <typename T>
int adaptive_avg_pool2d(const wry_call *call) { return averages<T>(call, false, attr_equals(call, 1, "NHWC"), true); }
template <typename T>
int adaptive_avg_pool2d_vjp(const wry_call *call) { return averages<T>(call, true, attr_equals(call, 0, "NHWC"), true); }

// ---- places that a mask names ---------------------------------------------------------------------

WRY_GPU int64_t position_of(const void *mask, int32_t dtype, int64_t i) {
  return dtype == WRY_INT64 ? static_cast<const int64_t *>(mask)[i] : static_cast<const int32_t *>(mask)[i];
}

// Adds each value at its place. A thread has one plane (n, channel) and goes through it in order: several windows may name
// one place, and nobody else adds there.
template <typename T>
__global__ void __launch_bounds__(block_size) add_at_places(Image from, Image to, int32_t mask_dtype, const T *ct, const void *mask, float *wide, T *out,
                                                            Report *report, int32_t op) {
  using A = arithmetic_t<T>;
  const int64_t planes = to.n * to.channels, size = to.h * to.w;
  for WRY_EACH (plane, planes) {
    const int64_t n = plane / to.channels, channel = plane % to.channels;
    // Totals of 16-bit floats are floats of a scratch tensor; others are added where they stay.
    A *total = is_half<T> ? reinterpret_cast<A *>(wide) : reinterpret_cast<A *>(out);
    for (int64_t i = 0; i < size; ++i) total[offset_of(to, n, channel, i / to.w, i % to.w)] = A(0);
    for (int64_t i = 0; i < from.h * from.w; ++i) {
      const int64_t at = offset_of(from, n, channel, i / from.w, i % from.w), place = position_of(mask, mask_dtype, at);
      if (place == -1) continue;
      if (place < 0 || place >= size) {
        raise(report, POSITION_OUTSIDE_OF_PLANE, op, place, size, at, -1);
        continue;
      }
      total[offset_of(to, n, channel, place / to.w, place % to.w)] += load(ct + at);
    }
    if (is_half<T>)
      for (int64_t i = 0; i < size; ++i) {
        const int64_t at = offset_of(to, n, channel, i / to.w, i % to.w);
        out[at] = narrow<T>(total[at]);
      }
  }
}
template <typename T>
int max_pool2d_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *mask = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 0, "NHWC");
  float *wide = nullptr;
  if (is_half<T> && !(wide = workspace<float>(call, out->size))) return fail_memory(call, "max_pool2d_vjp", out->size * 4);
  const Image to = image_of(out, last);
  const int threads = threads_for(to.n * to.channels, 64);
  int32_t op;
  Report *report = arm(call, "max_pool2d_vjp", &op);
  return check(call, wry_launch(add_at_places<T>, blocks_for(to.n * to.channels, threads), dim3(threads), 0, stream(call), image_of(ct, last), to, mask->dtype,
                                data<T>(ct), mask->data, wide, data<T>(out), report, op));
}

// x, mask: the value at each position of the plane, 0 where there is none.
template <typename T>
__global__ void __launch_bounds__(block_size) take(int64_t size, Image in, Image to, int32_t mask_dtype, const T *x, const void *mask, T *out, Report *report,
                                                   int32_t op) {
  for WRY_EACH (i, size) {
    const Place p = place_of(to, i);
    const int64_t place = position_of(mask, mask_dtype, i);
    const bool inside = place >= 0 && place < in.h * in.w;
    if (!inside && place != -1) raise(report, POSITION_OUTSIDE_OF_PLANE, op, place, in.h * in.w, i, -1);
    out[i] = inside ? x[offset_of(in, p.n, p.channel, place / in.w, place % in.w)] : narrow<T>(0.0f);
  }
}
template <typename T>
int max_pool2d_take(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *mask = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 0, "NHWC");
  const int threads = threads_for(out->size);
  int32_t op;
  Report *report = arm(call, "max_pool2d_take", &op);
  return check(call, wry_launch(take<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, image_of(x, last), image_of(out, last),
                                mask->dtype, data<T>(x), mask->data, data<T>(out), report, op));
}

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("max_pool2d", WRY_WANTS_CONTIGUOUS, max_pool2d),
    WRY_FLOAT_ROWS("max_pool2d_vjp", WRY_WANTS_CONTIGUOUS, max_pool2d_vjp),
    WRY_FLOAT_ROWS("max_pool2d_take", WRY_WANTS_CONTIGUOUS, max_pool2d_take),
    WRY_FLOAT_ROWS("adaptive_max_pool2d", WRY_WANTS_CONTIGUOUS, adaptive_max_pool2d),
    WRY_FLOAT_ROWS("avg_pool2d", WRY_WANTS_CONTIGUOUS, avg_pool2d),
    WRY_FLOAT_ROWS("avg_pool2d_vjp", WRY_WANTS_CONTIGUOUS, avg_pool2d_vjp),
    WRY_FLOAT_ROWS("adaptive_avg_pool2d", WRY_WANTS_CONTIGUOUS, adaptive_avg_pool2d),
    WRY_FLOAT_ROWS("adaptive_avg_pool2d_vjp", WRY_WANTS_CONTIGUOUS, adaptive_avg_pool2d_vjp),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(pooling, wherry::cuda::table)
