// Convolution whose groups have few outputs, above all depthwise ones: one input channel, one output
// channel. A matrix product would spend its time on packing. Here memory bounds the speed; what
// matters is to pass through it once.
//
// Planes: a strip of rows is copied with its zero border (and, for steps beyond 1, with its columns
// sorted by their remainder), so that every tap is a run of neighbours and no tap checks bounds.
#ifndef WHERRY_OPS_CPU_FEW_H
#define WHERRY_OPS_CPU_FEW_H

#include "correlation.h"

namespace WRY_NAMESPACE {

// How strips of a plane lie in scratch memory.
struct Strips {
  int64_t first_dy, first_dx;  // the smallest taps: where row 0 and column 0 of a strip come from
  int64_t span_y, span_x;      // how far taps reach beyond them
  int64_t columns, pitch;      // of one remainder class; of a row
  int64_t rows;                // output rows of one strip
  int64_t plane;               // values of one channel
  int64_t size;                // of all channels, including what vectors read past the end

  WRY_INLINE int64_t input_rows(int64_t output_rows, int64_t step) const {
    return (output_rows - 1) * step + span_y + 1;
  }
};

// Strips of `channels` input channels side by side.
template <typename T>
Strips strips_of(const Correlation<T> &op, int64_t channels) {
  Strips s = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  if (op.taps > 0) s.first_dy = op.dy[0], s.first_dx = op.dx[0];
  int64_t last_dy = s.first_dy, last_dx = s.first_dx;
  for (int64_t t = 0; t < op.taps; ++t) {
    s.first_dy = min_of(s.first_dy, op.dy[t]), last_dy = max_of(last_dy, op.dy[t]);
    s.first_dx = min_of(s.first_dx, op.dx[t]), last_dx = max_of(last_dx, op.dx[t]);
  }
  s.span_y = last_dy - s.first_dy, s.span_x = last_dx - s.first_dx;
  s.columns = op.ow + s.span_x / op.step_x + 1;
  s.pitch = s.columns * op.step_x;
  // One channel should stay in the first-level cache, several in the second.
  const int64_t room = (channels == 1 ? 24 : 256) * 1024 / int64_t(sizeof(T)) / (s.pitch * max_of<int64_t>(channels, 1));
  s.rows = max_of<int64_t>(1, min_of(op.oh, (room - s.span_y) / op.step_y));
  s.plane = s.input_rows(s.rows, op.step_y) * s.pitch;
  s.size = s.plane * channels + 8 * lanes<T>;
  return s;
}

// Where each tap lies in a strip, from the place of output (0, 0).
template <typename T>
void tap_offsets(const Correlation<T> &op, const Strips &s, int64_t *offsets) {
  for (int64_t t = 0; t < op.taps; ++t) {
    const int64_t x = op.dx[t] - s.first_dx;
    offsets[t] = (op.dy[t] - s.first_dy) * s.pitch + x % op.step_x * s.columns + x / op.step_x;
  }
}

#if defined(WRY_AVX512)
// The rows from `top` on of copy_strip for a step of 2: even and odd columns, each half of a row, with zeros outside of the plane.
inline void split_rows(const Correlation<bfloat16> &op, const Strips &s, const bfloat16 *plane, int64_t top, int64_t rows, bfloat16 *strip) {
  const auto inside = [&](int64_t x) { return first_words(op.iw - x) & ~first_words(-x); };
  for (int64_t i = 0; i < s.columns; i += 32) {
    const int64_t x = 2 * i + s.first_dx;
    const __mmask32 low_inside = inside(x), high_inside = inside(x + 32), written = first_words(s.columns - i);
    bfloat16 *to = strip + i;
    for (int64_t r = 0; r < rows; ++r, to += s.pitch) {
      const bool row_inside = top + r >= 0 && top + r < op.ih;
      const bfloat16 *from = plane + (top + r) * op.iw + x;
      const __m512i low = _mm512_maskz_loadu_epi16(row_inside ? low_inside : 0, from), high = _mm512_maskz_loadu_epi16(row_inside ? high_inside : 0, from + 32);
      _mm512_mask_storeu_epi16(to, written, every_other(low, high, 0));
      _mm512_mask_storeu_epi16(to + s.columns, written, every_other(low, high, 1));
    }
  }
}
#endif

// The rows of `plane` that output rows [y0, y1) read.
template <typename T>
void copy_strip(const Correlation<T> &op, const Strips &s, const T *plane, int64_t y0, int64_t y1, T *strip) {
  const int64_t rows = s.input_rows(y1 - y0, op.step_y), top = y0 * op.step_y + s.first_dy;
#if defined(WRY_AVX512)
  if constexpr (std::is_same<T, bfloat16>::value) {
    if (op.step_x == 2) return split_rows(op, s, plane, top, rows, strip);
  }
#endif
  for (int64_t remainder = 0; remainder < op.step_x; ++remainder) {
    int64_t first, last;
    valid_range(s.columns, op.step_x, s.first_dx + remainder, op.iw, &first, &last);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t y = top + r;
      const bool inside = y >= 0 && y < op.ih;
      copy_bordered(strip + r * s.pitch + remainder * s.columns, s.columns, inside ? first : 0, inside ? last : 0,
                    plane + y * op.iw + first * op.step_x + s.first_dx + remainder, op.step_x);
    }
  }
}

// One row of outputs of N taps.
template <typename T, int N>
WRY_INLINE void depthwise_row(const T *base, const int64_t *offsets, const T *weight, T bias, T *out, int64_t n) {
  constexpr int width = lanes<T>;
  int64_t x = 0;
  for (; x + 2 * width <= n; x += 2 * width) {
    vec<T> a = splat<vec<T>>(bias), b = a;
#pragma GCC unroll 9
    for (int t = 0; t < N; ++t) {
      a += weight[t] * load(base + offsets[t] + x);
      b += weight[t] * load(base + offsets[t] + x + width);
    }
    store(out + x, a);
    store(out + x + width, b);
  }
  for (; x < n; x += width) {
    vec<T> a = splat<vec<T>>(bias);
#pragma GCC unroll 9
    for (int t = 0; t < N; ++t) a += weight[t] * load(base + offsets[t] + x);
    if (x + width <= n) store(out + x, a);
    else store_partial(out + x, a, n - x);
  }
}

// `Rows` rows of outputs of 3 x 3 neighbouring taps, weight[3 * i + j] for the one i rows below and j columns right of
// the first. A vector of inputs is read once for all outputs it belongs to: half as many loads as row by row.
template <typename T, int Rows>
WRY_INLINE void depthwise_rows3(const T *base, int64_t pitch, const vec<T> *weight, T bias, T *out, int64_t out_row, int64_t n) {
  constexpr int width = lanes<T>;
  constexpr int V = WRY_VECTOR_BYTES == 64 ? 2 : 1;
  vec<T> w[9];
#pragma GCC unroll 9
  for (int t = 0; t < 9; ++t) w[t] = weight[t];
  for (int64_t x = 0; x < n; x += V * width) {
    vec<T> sum[Rows][V];
#pragma GCC unroll 4
    for (int y = 0; y < Rows; ++y)
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sum[y][v] = splat<vec<T>>(bias);
#pragma GCC unroll 6
    for (int r = 0; r < Rows + 2; ++r)
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j)
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) {
          const vec<T> in = load(base + r * pitch + x + j + v * width);
#pragma GCC unroll 4
          for (int y = 0; y < Rows; ++y)
            if (r - y >= 0 && r - y < 3) sum[y][v] = fma(in, w[3 * (r - y) + j], sum[y][v]);
        }
#pragma GCC unroll 4
    for (int y = 0; y < Rows; ++y)
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
        T *to = out + y * out_row + x + v * width;
        const int64_t left = n - x - v * width;
        if (left >= width) store(to, sum[y][v]);
        else if (left > 0) store_partial(to, sum[y][v], left);
      }
  }
}

// A strip of such rows.
template <typename T>
void depthwise_strip3(const T *strip, int64_t pitch, const int64_t *offsets, const T *weight, T bias, T *out, int64_t rows,
                      int64_t n) {
  vec<T> w[9];
  for (int t = 0; t < 9; ++t) w[offsets[t] / pitch * 3 + offsets[t] % pitch] = splat<vec<T>>(weight[t]);
  int64_t y = 0;
  for (; y + 4 <= rows; y += 4) depthwise_rows3<T, 4>(strip + y * pitch, pitch, w, bias, out + y * n, n, n);
  if (rows - y >= 2) {
    depthwise_rows3<T, 2>(strip + y * pitch, pitch, w, bias, out + y * n, n, n);
    y += 2;
  }
  if (y < rows) depthwise_rows3<T, 1>(strip + y * pitch, pitch, w, bias, out + y * n, n, n);
}

#if defined(WRY_AVX512)
WRY_INLINE f32 load_masked(const float *p, __mmask16 mask) { return (f32)_mm512_maskz_loadu_ps(mask, p); }
WRY_INLINE f32 load_masked(const bfloat16 *p, __mmask16 mask) { return (f32)widen_bf16(_mm256_maskz_loadu_epi16(mask, p)); }

WRY_INLINE void store_masked(float *p, __mmask16 mask, f32 v) { _mm512_mask_storeu_ps(p, mask, (__m512)v); }
WRY_INLINE void store_masked(bfloat16 *p, __mmask16 mask, f32 v) { _mm256_mask_storeu_epi16(p, mask, narrow_bf16((__m512)v)); }

// 3 x 3 neighbours of a plane where it lies: masks keep out what is beside it, so that no strip is copied.
struct Neighbours3 {
  static constexpr int width = f32_lanes, V = 2;
  int64_t ih, iw, oh, ow, first_dy, first_dx;
  f32 weight[9];
  float bias;

  // `Rows` rows of outputs from row y on, V vectors of each. `in` and `out`: of column x of row 0, `in` by the first tap.
  template <int Rows, typename T>
  WRY_INLINE void rows(const T *in, int64_t y, const __mmask16 (&inside)[V][3], const __mmask16 (&written)[V], T *out) const {
    f32 sum[Rows][V];
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sum[i][v] = splat<f32>(bias);
#pragma GCC unroll 6
    for (int r = 0; r < Rows + 2; ++r) {
      if (WRY_UNLIKELY(uint64_t(y + r + first_dy) >= uint64_t(ih))) continue;
      const T *from = in + (y + r) * iw;
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j)
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) {
          const f32 value = load_masked(from + j + v * width, inside[v][j]);
#pragma GCC unroll 4
          for (int i = 0; i < Rows; ++i)
            if (r - i >= 0 && r - i < 3) sum[i][v] = fma(value, weight[3 * (r - i) + j], sum[i][v]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) store_masked(out + (y + i) * ow + v * width, written[v], sum[i][v]);
  }

  // Rows [y0, y1) of a plane.
  template <typename T>
  __attribute__((noinline)) void plane(const T *in, int64_t y0, int64_t y1, T *out) const {
    const Neighbours3 own = *this;  // what is written does not change it
    in += first_dy * iw + first_dx;
    for (int64_t x = 0; x < ow; x += V * width) {
      __mmask16 inside[V][3], written[V];
      for (int v = 0; v < V; ++v) {
        written[v] = __mmask16(first_words(min_of<int64_t>(ow - x - v * width, width)));
        for (int j = 0; j < 3; ++j) {
          const int64_t from = x + v * width + j + first_dx;
          inside[v][j] = __mmask16(first_words(min_of<int64_t>(iw - from, width)) & ~first_words(min_of<int64_t>(-from, width)));
        }
      }
      int64_t y = y0;
      for (; y + 4 <= y1; y += 4) own.rows<4>(in + x, y, inside, written, out + x);
      for (; y < y1; ++y) own.rows<1>(in + x, y, inside, written, out + x);
    }
  }
};

// Whether these are 3 x 3 neighbours of single channels with step 1.
template <typename T>
bool direct_applies(const Correlation<T> &op) {
  if (op.channels_last || op.cin != 1 || op.cout != 1 || op.taps != 9 || op.step_x != 1 || op.step_y != 1) return false;
  const Strips s = strips_of(op, 1);
  return s.span_x == 2 && s.span_y == 2;
}

template <typename T>
bool direct_planes(const wry_call *call, const Correlation<T> &op) {
  const Strips s = strips_of(op, 1);
  const int64_t rows = min_of(op.oh, rounded_up(ceil_div(4096, op.ow), 4)), strips = ceil_div(op.oh, rows);
  parallel_for(call, op.images * op.groups * strips, max_of<int64_t>(1, 8192 / (rows * op.ow)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t plane = at / strips, g = plane % op.groups, y1 = min_of(op.oh, (at % strips + 1) * rows);
      Neighbours3 n = {op.ih, op.iw, op.oh, op.ow, s.first_dy, s.first_dx, {}, op.bias ? float(op.bias[g]) : 0.0f};
      for (int t = 0; t < 9; ++t) n.weight[(op.dy[t] - s.first_dy) * 3 + op.dx[t] - s.first_dx] = splat<f32>(float(op.weight[g * 9 + t]));
      n.plane(op.in + plane * op.ih * op.iw, at % strips * rows, y1, op.out + plane * op.oh * op.ow);
    }
  });
  return true;
}
#endif

// One row of M output channels from cin input channels. weight [cin, taps, M]; bias [M] or null.
template <typename T, int M>
WRY_INLINE void few_row(const T *base, int64_t cin, int64_t plane, int64_t taps, const int64_t *offsets,
                        const T *weight, const T *bias, T *out, int64_t out_plane, int64_t n) {
  constexpr int width = lanes<T>;
  for (int64_t x = 0; x < n; x += 2 * width) {
    vec<T> sum[M][2];
    for (int m = 0; m < M; ++m) sum[m][0] = sum[m][1] = splat<vec<T>>(bias ? bias[m] : T(0));
    const T *w = weight;
    for (int64_t c = 0; c < cin; ++c) {
      const T *at = base + c * plane + x;
      for (int64_t t = 0; t < taps; ++t, w += M) {
        const vec<T> a = load(at + offsets[t]), b = load(at + offsets[t] + width);
#pragma GCC unroll 4
        for (int m = 0; m < M; ++m) {
          sum[m][0] = fma(a, w[m], sum[m][0]);
          sum[m][1] = fma(b, w[m], sum[m][1]);
        }
      }
    }
    for (int m = 0; m < M; ++m)
      for (int v = 0; v < 2; ++v) {
        T *to = out + m * out_plane + x + v * width;
        const int64_t left = n - x - v * width;
        if (left >= width) store(to, sum[m][v]);
        else if (left > 0) store_partial(to, sum[m][v], left);
      }
  }
}

// For cout <= 4.
template <typename T>
bool few_planes(const wry_call *call, const Correlation<T> &op) {
  const Strips s = strips_of(op, op.cin);
  const int64_t cin = op.cin, cout = op.cout, taps = op.taps;
  const int64_t strips = ceil_div(op.oh, s.rows), pieces = op.images * op.groups * strips;
  int64_t *offsets = workspace<int64_t>(call, taps + 1);
  T *weight = workspace<T>(call, op.groups * cin * taps * cout + 1);  // [groups, cin, taps, cout]
  Slices<T> slices(call, s.size, pieces);
  if (!offsets || !weight || !slices.memory) return false;
  tap_offsets(op, s, offsets);
  for (int64_t g = 0; g < op.groups; ++g)
    for (int64_t m = 0; m < cout; ++m)
      for (int64_t k = 0; k < cin * taps; ++k)
        weight[(g * cin * taps + k) * cout + m] = op.weight[(g * cout + m) * cin * taps + k];
  // Every place of a square of 3 x 3 once, in any order.
  const bool neighbours3 = cin == 1 && cout == 1 && taps == 9 && op.step_x == 1 && op.step_y == 1 && s.span_x == 2 && s.span_y == 2;
  const int64_t cost = cin * taps * cout * s.rows * op.ow;
  parallel_for(call, pieces, max_of<int64_t>(1, 65536 / max_of<int64_t>(cost, 1)), [&](int64_t begin, int64_t end) {
    T *strip = slices.mine();
    for (int64_t at = begin; at < end; ++at) {
      const int64_t y0 = at % strips * s.rows, y1 = min_of(op.oh, y0 + s.rows);
      const int64_t group = at / strips, g = group % op.groups;
      for (int64_t c = 0; c < cin; ++c)
        copy_strip(op, s, op.in + (group * cin + c) * op.ih * op.iw, y0, y1, strip + c * s.plane);
      const T *w = weight + g * cin * taps * cout, *bias = op.bias ? op.bias + g * cout : nullptr;
      if (neighbours3) {
        depthwise_strip3(strip, s.pitch, offsets, w, bias ? *bias : T(0), op.out + (group * op.oh + y0) * op.ow, y1 - y0, op.ow);
        continue;
      }
      for (int64_t y = y0; y < y1; ++y) {
        const T *base = strip + (y - y0) * op.step_y * s.pitch;
        const int64_t plane = op.oh * op.ow;
        T *out = op.out + group * cout * plane + y * op.ow;
        switch (cout) {
          case 1:
            if (cin == 1 && taps == 9) depthwise_row<T, 9>(base, offsets, w, bias ? *bias : T(0), out, op.ow);
            else few_row<T, 1>(base, cin, s.plane, taps, offsets, w, bias, out, plane, op.ow);
            break;
          case 2: few_row<T, 2>(base, cin, s.plane, taps, offsets, w, bias, out, plane, op.ow); break;
          case 3: few_row<T, 3>(base, cin, s.plane, taps, offsets, w, bias, out, plane, op.ow); break;
          default: few_row<T, 4>(base, cin, s.plane, taps, offsets, w, bias, out, plane, op.ow); break;
        }
      }
    }
  });
  return true;
}

// Channels last, cout == 1: the vectors lie along the channels.
template <typename T>
bool depthwise_channels_last(const wry_call *call, const Correlation<T> &op) {
  constexpr int width = lanes<T>;
  const int64_t channels = op.groups;
  T *weight = workspace<T>(call, op.taps * channels + 1);  // [taps, channels]
  if (!weight) return false;
  for (int64_t t = 0; t < op.taps; ++t)
    for (int64_t c = 0; c < channels; ++c) weight[t * channels + c] = op.weight[c * op.taps + t];
  const int64_t cost = op.ow * channels * op.taps;
  parallel_for(call, op.images * op.oh, max_of<int64_t>(1, 65536 / max_of<int64_t>(cost, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t at = begin; at < end; ++at) {
                   const int64_t y = at % op.oh * op.step_y;
                   const T *image = op.in + at / op.oh * op.ih * op.iw * channels;
                   for (int64_t x = 0; x < op.ow; ++x) {
                     T *out = op.out + (at * op.ow + x) * channels;
                     // `count` vectors from channel c on, the only one of n values when it is one.
                     const auto vectors = [&](auto count, int64_t c, int64_t n) {
                       constexpr int many = decltype(count)::value;
                       const auto read = [&](const T *from, int v) {
                         return many > 1 || n == width ? load(from + c + v * width) : load_partial(from + c, n);
                       };
                       vec<T> sum[many];
                       for (int v = 0; v < many; ++v) sum[v] = op.bias ? read(op.bias, v) : vec<T>{};
                       for (int64_t t = 0; t < op.taps; ++t) {
                         const int64_t iy = y + op.dy[t], ix = x * op.step_x + op.dx[t];
                         if (iy < 0 || iy >= op.ih || ix < 0 || ix >= op.iw) continue;
                         const T *from = image + (iy * op.iw + ix) * channels, *w = weight + t * channels;
                         for (int v = 0; v < many; ++v) sum[v] += read(from, v) * read(w, v);
                       }
                       for (int v = 0; v < many; ++v)
                         if (many > 1 || n == width) store(out + c + v * width, sum[v]);
                         else store_partial(out + c, sum[v], n);
                     };
                     int64_t c = 0;
                     for (; c + 4 * width <= channels; c += 4 * width)
                       vectors(std::integral_constant<int, 4>(), c, 4 * width);
                     for (; c < channels; c += width)
                       vectors(std::integral_constant<int, 1>(), c, min_of<int64_t>(width, channels - c));
                   }
                 }
               });
  return true;
}

// ---- the gradient for the weight ----------------------------------------------------------------

// sums[t] += the products of N taps with one row of ct. Values past the row's end count as zero.
template <typename T, int N>
WRY_INLINE void depthwise_products(const T *base, const int64_t *offsets, const T *ct, int64_t n, vec<T> *sums) {
  constexpr int width = lanes<T>;
  int64_t x = 0;
  for (; x + width <= n; x += width) {
    const vec<T> g = load(ct + x);
#pragma GCC unroll 9
    for (int t = 0; t < N; ++t) sums[t] += g * load(base + offsets[t] + x);
  }
  if (x < n) {
    const vec<T> g = load_partial(ct + x, n - x);
#pragma GCC unroll 9
    for (int t = 0; t < N; ++t) sums[t] += g * load_partial(base + offsets[t] + x, n - x);
  }
}

// weight_ct [groups * cout, taps]; op.out is the cotangent of the output and op.weight is unused.
template <typename T>
bool depthwise_weight_planes(const wry_call *call, const Correlation<T> &op, T *weight_ct) {
  const Strips s = strips_of(op, 1);
  const int64_t channels = op.groups * op.cout;
  int64_t *offsets = workspace<int64_t>(call, op.taps + 1);
  Slices<T> slices(call, s.size, channels);
  if (!offsets || !slices.memory) return false;
  tap_offsets(op, s, offsets);
  const int64_t cost = op.taps * op.oh * op.ow * op.images;
  parallel_for(call, channels, max_of<int64_t>(1, 65536 / max_of<int64_t>(cost, 1)), [&](int64_t begin, int64_t end) {
    T *strip = slices.mine();
    for (int64_t m = begin; m < end; ++m) {
      T *to = weight_ct + m * op.taps;
      fill_zero(to, op.taps);
      for (int64_t image = 0; image < op.images; ++image)
        for (int64_t y0 = 0; y0 < op.oh; y0 += s.rows) {
          const int64_t y1 = min_of(op.oh, y0 + s.rows);
          copy_strip(op, s, op.in + (image * op.groups + m / op.cout) * op.ih * op.iw, y0, y1, strip);
          const T *ct = op.out + (image * channels + m) * op.oh * op.ow;
          const auto taps_from = [&](int64_t t, auto count) {
            constexpr int n = decltype(count)::value;
            vec<T> sums[n];
            for (int u = 0; u < n; ++u) sums[u] = vec<T>{};
            for (int64_t y = y0; y < y1; ++y)
              depthwise_products<T, n>(strip + (y - y0) * op.step_y * s.pitch, offsets + t, ct + y * op.ow, op.ow, sums);
            for (int u = 0; u < n; ++u) {
              T total = 0;
              for (int l = 0; l < lanes<T>; ++l) total += sums[u][l];
              to[t + u] += total;
            }
          };
          int64_t t = 0;
          for (; t + 9 <= op.taps; t += 9) taps_from(t, std::integral_constant<int, 9>());
          for (; t < op.taps; ++t) taps_from(t, std::integral_constant<int, 1>());
        }
    }
  });
  return true;
}

// The same with channels last and cout == 1.
template <typename T>
bool depthwise_weight_channels_last(const wry_call *call, const Correlation<T> &op, T *weight_ct) {
  constexpr int width = lanes<T>;
  const int64_t channels = op.groups;
  T *sums = workspace<T>(call, op.taps * rounded_up(channels, width) + 1);  // [vectors of channels, taps, lanes]
  if (!sums) return false;
  parallel_for(call, ceil_div(channels, width), 1, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t c = at * width, n = min_of<int64_t>(width, channels - c);
      T *mine = sums + at * op.taps * width;
      fill_zero(mine, op.taps * width);
      for (int64_t image = 0; image < op.images; ++image)
        for (int64_t y = 0; y < op.oh; ++y)
          for (int64_t x = 0; x < op.ow; ++x) {
            const vec<T> g = load_partial(op.out + ((image * op.oh + y) * op.ow + x) * channels + c, n);
            for (int64_t t = 0; t < op.taps; ++t) {
              const int64_t iy = y * op.step_y + op.dy[t], ix = x * op.step_x + op.dx[t];
              if (iy < 0 || iy >= op.ih || ix < 0 || ix >= op.iw) continue;
              store(mine + t * width, load(mine + t * width) +
                                          g * load_partial(op.in + ((image * op.ih + iy) * op.iw + ix) * channels + c, n));
            }
          }
      for (int64_t t = 0; t < op.taps; ++t)
        for (int64_t i = 0; i < n; ++i) weight_ct[(c + i) * op.taps + t] = mine[t * width + i];
    }
  });
  return true;
}

}  // namespace WRY_NAMESPACE

#endif
