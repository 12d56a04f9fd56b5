// Convolutions of a few small images with many channels, where the weight is most of what is read: the windows of all
// images are the rows of one product, so that the weight passes once, as it lies, and not once for each image.
//
// Forward a row is what an output meets, for the transpose what an input adds to the outputs around it, for the gradient of the
// weight both. It does not do groups or channels that come last.
#ifndef WHERRY_OPS_CPU_JOINED_H
#define WHERRY_OPS_CPU_JOINED_H

#include "correlation.h"

namespace WRY_NAMESPACE {
namespace joined {

// Whether so many rows of windows of `taps` from `cin` to `cout` channels are few beside the weight. Minimal filtering takes over earlier.
WRY_INLINE bool applies(int64_t rows, bool filtered, int64_t cin, int64_t cout, int64_t taps) {
  return rows > 0 && rows <= (filtered ? 100 : 400) && min_of(cin, cout) >= 64 && cin * cout * taps >= 1 << 17;
}

template <typename T>
bool applies(const Correlation<T> &op) {
  if (op.channels_last || op.groups != 1 || op.taps < 1 || (op.taps == 1 && op.step_y == 1 && op.step_x == 1)) return false;
  return applies(op.images * op.oh * op.ow, op.taps == 9 && op.step_y == 1 && op.step_x == 1, op.cin, op.cout, op.taps);
}

// What output p meets through tap t of channel c, for all of them: row p of `to`, or, `turned`, column p. False when there is no memory.
template <typename T>
bool windows(const wry_call *call, const Correlation<T> &op, bool turned, T *to) {
  const int64_t pixels = op.oh * op.ow, plane = op.ih * op.iw, rows = op.images * pixels, taps = op.taps, k = op.cin * taps;
  int64_t *at = workspace<int64_t>(call, taps * rows);
  if (!at) return false;
  const int64_t row_step = turned ? 1 : taps, tap_step = turned ? rows : 1;
  for (int64_t p = 0; p < rows; ++p)
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t y = p % pixels / op.ow * op.step_y + op.dy[t], x = p % op.ow * op.step_x + op.dx[t];
      const bool inside = y >= 0 && y < op.ih && x >= 0 && x < op.iw;
      at[p * row_step + t * tap_step] = inside ? p / pixels * op.cin * plane + y * op.iw + x : -1;
    }
  const auto copy = [&](const T *from, const int64_t *first, int64_t n, T *line) {
    for (int64_t i = 0; i < n; ++i) line[i] = first[i] < 0 ? T(0) : from[first[i]];
  };
  parallel_for(call, op.cin, 8, [&](int64_t begin, int64_t end) {
    if (turned) {
      for (int64_t c = begin; c < end; ++c) copy(op.in + c * plane, at, taps * rows, to + c * taps * rows);
      return;
    }
    for (int64_t p = 0; p < rows; ++p)
      for (int64_t c = begin; c < end; ++c) copy(op.in + c * plane, at + p * taps, taps, to + p * k + c * taps);
  });
  return true;
}

// to[p, c] = from[image, c, pixel] for the pixels p of all images; `back`, from[p, c] to to[image, c, pixel].
template <typename T>
void pixels_of(const wry_call *call, const T *from, int64_t images, int64_t channels, int64_t pixels, T *to, bool back = false) {
  constexpr int64_t some = 16;  // channels: a line of the cache
  const int64_t blocks = ceil_div(channels, some);
  parallel_for(call, images * blocks, max_of<int64_t>(1, 16384 / (some * pixels)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t image = at / blocks, c = at % blocks * some, count = min_of(some, channels - c);
      const int64_t planes = (image * channels + c) * pixels, rows = image * pixels * channels + c;
      if (back) transpose_block(from + rows, channels, to + planes, pixels, pixels, count);
      else transpose_block(from + planes, pixels, to + rows, channels, count, pixels);
    }
  });
}

// The smaller factor is the right one, packed, up to 64 windows; with more of them packing the weight repays. False when there is no memory.
template <typename T>
bool run(const wry_call *call, const Correlation<T> &op) {
  const int64_t pixels = op.oh * op.ow, rows = op.images * pixels, k = op.cin * op.taps;
  const bool turned = rows <= 64;
  T *met = workspace<T>(call, rows * k), *sums = workspace<T>(call, rows * op.cout);
  GemmScratch<T> scratch;
  if (!met || !sums || !gemm_scratch(call, max_of(rows, op.cout), max_of(rows, op.cout), k, &scratch)) return false;
  if (!windows(call, op, turned, met)) return false;
  if (turned)
    gemm<T>(call, op.cout, rows, k, {op.weight, k, 1}, {met, rows, 1}, sums, rows, {false, op.bias, nullptr}, scratch);
  else
    gemm<T>(call, rows, op.cout, k, {met, k, 1}, {op.weight, 1, k}, sums, op.cout, {false, nullptr, op.bias}, scratch);
  if (!turned) {
    pixels_of(call, sums, op.images, op.cout, pixels, op.out, true);
    return true;
  }
  T *to = op.out;
  for (int64_t image = 0; image < op.images; ++image)
    for (int64_t m = 0; m < op.cout; ++m, to += pixels) copy_run(to, sums + m * rows + image * pixels, pixels, 1);
  return true;
}

// op.out is the cotangent of the output.
template <typename T>
bool run_weight(const wry_call *call, const Correlation<T> &op, T *weight_ct) {
  const int64_t pixels = op.oh * op.ow, rows = op.images * pixels, k = op.cin * op.taps;
  T *right = workspace<T>(call, rows * k), *left = workspace<T>(call, rows * op.cout);
  GemmScratch<T> scratch;
  if (!right || !left || !gemm_scratch(call, op.cout, k, rows, &scratch)) return false;
  if (!windows(call, op, false, right)) return false;
  pixels_of(call, op.out, op.images, op.cout, pixels, left);
  gemm<T>(call, op.cout, k, rows, {left, 1, op.cout}, {right, k, 1}, weight_ct, k, {}, scratch);
  return true;
}

// Input `x` [images, cin, ih, iw], of which pixel (y, x) adds to output (y * sy - py + i * dy, x * sx - px + j * dx) through tap (i, j).
struct Back {
  int64_t images, cin, ih, iw, cout, oh, ow, kh, kw, sy, sx, py, px, dy, dx;
};

// weight [cin, cout, kh, kw]; bias [cout] or null. Each output sums its taps in their order.
template <typename T>
bool run_back(const wry_call *call, const Back &s, const T *x, const T *weight, const T *bias, T *out) {
  const int64_t pixels = s.ih * s.iw, rows = s.images * pixels, taps = s.kh * s.kw, n = s.cout * taps;
  T *left = workspace<T>(call, rows * s.cin), *parts = workspace<T>(call, rows * n);
  GemmScratch<T> scratch;
  if (!left || !parts || !gemm_scratch(call, rows, n, s.cin, &scratch)) return false;
  pixels_of(call, x, s.images, s.cin, pixels, left);
  gemm<T>(call, rows, n, s.cin, {left, s.cin, 1}, {weight, n, 1}, parts, n, {}, scratch);
  if (!bias && taps == 1 && s.oh == s.ih && s.ow == s.iw && s.py == 0 && s.px == 0 && s.sy == 1 && s.sx == 1) {
    pixels_of(call, parts, s.images, s.cout, pixels, out, true);
    return true;
  }
  parallel_for(call, s.images * s.cout, max_of<int64_t>(1, 4096 / (s.oh * s.ow)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t image = at / s.cout, c = at % s.cout;
      T *to = out + at * s.oh * s.ow;
      for (int64_t i = 0; i < s.oh * s.ow; ++i) to[i] = bias ? bias[c] : T(0);
      for (int64_t i = 0; i < s.kh; ++i)
        for (int64_t y = 0; y < s.ih; ++y) {
          const int64_t v = y * s.sy - s.py + i * s.dy;
          if (v < 0 || v >= s.oh) continue;
          const T *from = parts + (image * pixels + y * s.iw) * n + c * taps + i * s.kw;
          for (int64_t j = 0; j < s.kw; ++j)
            for (int64_t u = 0; u < s.iw; ++u) {
              const int64_t w = u * s.sx - s.px + j * s.dx;
              if (w >= 0 && w < s.ow) to[v * s.ow + w] += from[u * n + j];
            }
        }
    }
  });
  return true;
}

}  // namespace joined
}  // namespace WRY_NAMESPACE

#endif
