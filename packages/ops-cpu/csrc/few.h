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

// As much of a vector as `left` values are, which may be none.
template <typename T>
WRY_INLINE void store_some(T *p, vec<T> v, int64_t left) {
  if (left >= lanes<T>) store(p, v);
  else if (left > 0) store_partial(p, v, left);
}

// `Rows` rows of outputs of any taps, `row` apart in the strip.
template <typename T, int Rows>
WRY_INLINE void depthwise_rows(const T *base, int64_t row, int64_t taps, const int64_t *offsets, const T *weight, T bias, T *out, int64_t out_row,
                               int64_t n) {
  constexpr int width = lanes<T>, V = 2;
  for (int64_t x = 0; x < n; x += V * width) {
    vec<T> sum[Rows][V];
#pragma GCC unroll 8
    for (int i = 0; i < Rows * V; ++i) sum[i / V][i % V] = splat<vec<T>>(bias);
    for (int64_t t = 0; t < taps; ++t) {
      const T *from = base + offsets[t] + x;
      const vec<T> w = splat<vec<T>>(weight[t]);
#pragma GCC unroll 8
      for (int i = 0; i < Rows * V; ++i) sum[i / V][i % V] = fma(load(from + i / V * row + i % V * width), w, sum[i / V][i % V]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows * V; ++i) store_some(out + i / V * out_row + x + i % V * width, sum[i / V][i % V], n - x - i % V * width);
  }
}

// The same of K x K neighbouring taps, weight[K * i + j] for the one i rows below and j columns right of
// the first. A vector of inputs is read once for all outputs it belongs to.
template <typename T, int K, int Rows>
WRY_INLINE void depthwise_square(const T *base, int64_t pitch, const vec<T> *weight, T bias, T *out, int64_t out_row, int64_t n) {
  for (int64_t x = 0; x < n; x += lanes<T>) {
    vec<T> sum[Rows];
#pragma GCC unroll 4
    for (int y = 0; y < Rows; ++y) sum[y] = splat<vec<T>>(bias);
    const T *from = base + x;
#pragma GCC unroll 16
    for (int r = 0; r < Rows + K - 1; ++r, from += pitch) {
      __asm__ volatile("" : "+r"(from));  // else the places of all taps are kept, and there are not as many registers
#pragma GCC unroll 8
      for (int j = 0; j < K; ++j) {
        const vec<T> in = load(from + j);
#pragma GCC unroll 4
        for (int y = 0; y < Rows; ++y)
          if (r - y >= 0 && r - y < K) sum[y] += in * weight[K * (r - y) + j];
      }
    }
#pragma GCC unroll 4
    for (int y = 0; y < Rows; ++y) store_some(out + y * out_row + x, sum[y], n - x);
  }
}

// Calls f(y, how many as a constant) for rows [0, rows): `Rows` at a time, the last of them perhaps twice.
template <int Rows, typename F>
WRY_INLINE void row_blocks(int64_t rows, F &&f) {
  if (rows >= Rows)
    for (int64_t y = 0; y < rows; y += Rows) f(min_of(y, rows - Rows), std::integral_constant<int, Rows>());
  else
    for (int64_t y = 0; y < rows; ++y) f(y, std::integral_constant<int, 1>());
}

// K where these are K x K neighbours of single channels, of 3 or 5 with a step of 1 or 2, of 7 with 1; else 0.
template <typename T>
int64_t side_of(const Correlation<T> &op) {
  if (op.channels_last || op.cin != 1 || op.cout != 1 || op.step_x != op.step_y || op.step_x > 2) return 0;
  const Strips s = strips_of(op, 1);
  for (int64_t k = 3; k <= 7; k += 2)
    if (op.taps == k * k && s.span_x == k - 1 && s.span_y == k - 1 && (k < 7 || op.step_x == 1)) return k;
  return 0;
}

// A strip of outputs of one channel, n to a row. `side`: of a square of neighbours, with step 1; 0 for other taps.
template <typename T>
__attribute__((noinline)) void depthwise_strip(const Correlation<T> &op, const Strips &s, int64_t side, const T *strip, const int64_t *offsets,
                                               const T *weight, T bias, T *out, int64_t rows) {
  const int64_t n = op.ow, pitch = s.pitch;
  if constexpr (sizeof(T) == 4 && WRY_VECTOR_BYTES < 64) {  // others are read where they lie, or are rare
    alignas(64) vec<T> w[49];
    if (side > 0)
      for (int64_t t = 0; t < op.taps; ++t) w[offsets[t] / pitch * side + offsets[t] % pitch] = splat<vec<T>>(weight[t]);
    const auto square = [&](auto known) {
      row_blocks<4>(rows, [&](int64_t y, auto count) {
        depthwise_square<T, decltype(known)::value, decltype(count)::value>(strip + y * pitch, pitch, w, bias, out + y * n, n, n);
      });
    };
    if (side == 3) return square(std::integral_constant<int, 3>());
    if (side == 5) return square(std::integral_constant<int, 5>());
    if (side == 7) return square(std::integral_constant<int, 7>());
  }
  row_blocks<4>(rows, [&](int64_t y, auto count) {
    const int64_t row = op.step_y * pitch;
    depthwise_rows<T, decltype(count)::value>(strip + y * row, row, op.taps, offsets, weight, bias, out + y * n, n, n);
  });
}

#if defined(WRY_AVX512)
WRY_INLINE f32 load_masked(const float *p, __mmask16 mask) { return (f32)_mm512_maskz_loadu_ps(mask, p); }
WRY_INLINE f32 load_masked(const bfloat16 *p, __mmask16 mask) { return (f32)widen_bf16(_mm256_maskz_loadu_epi16(mask, p)); }

WRY_INLINE void store_masked(float *p, __mmask16 mask, f32 v) { _mm512_mask_storeu_ps(p, mask, (__m512)v); }
WRY_INLINE void store_masked(bfloat16 *p, __mmask16 mask, f32 v) { _mm256_mask_storeu_epi16(p, mask, narrow_bf16((__m512)v)); }

// Values from place J on of two vectors.
template <int J>
WRY_INLINE f32 shifted(f32 a, f32 b) {
  if constexpr (J == 0) return a;
  else return (f32)_mm512_alignr_epi32((__m512i)b, (__m512i)a, J);
}

template <int... J, typename F>
WRY_INLINE void columns(detail::sequence<J...>, F &&f) { (f(std::integral_constant<int, J>()), ...); }

// K x K neighbours of a plane where it lies, with a step of S: masks keep out what is beside it, so that no strip is copied. Columns beside a
// vector come from what was read: a load across two cache lines takes as long as some multiply-adds (Zen 5).
template <int K, int S>
struct Neighbours {
  static constexpr int width = f32_lanes;
  int64_t ih, iw, oh, ow, first_dy, first_dx;
  f32 weight[K * K];
  float bias;

  // `Rows` rows of outputs from row y on, V vectors of each. `in` and `out`: of column x of row 0, `in` by the first tap.
  template <int Rows, int V, typename T>
  WRY_INLINE void rows(const T *in, int64_t y, const __mmask16 (&inside)[S * (V + 1)], const __mmask16 (&written)[V], T *out) const {
    f32 sum[Rows][V];
#pragma GCC unroll 8
    for (int i = 0; i < Rows * V; ++i) sum[i / V][i % V] = splat<f32>(bias);
    const T *from = in + y * S * iw;
#pragma GCC unroll 16
    for (int r = 0; r < (Rows - 1) * S + K; ++r, from += iw) {
      if constexpr (K > 3) __asm__ volatile("" : "+r"(from));  // sums grow row by row, not one after the other
      const __mmask16 within = uint64_t(y * S + r + first_dy) < uint64_t(ih) ? 0xffff : 0;
      f32 read[S][V + 1];  // columns by their remainder by the step
#pragma GCC unroll 3
      for (int v = 0; v <= V; ++v) {
        const f32 a = load_masked(from + S * v * width, inside[S * v] & within);
        if constexpr (S == 1) {
          read[0][v] = a;
        } else {
          const f32 b = load_masked(from + (S * v + 1) * width, inside[S * v + 1] & within);
          read[0][v] = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
          read[1][v] = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        }
      }
      columns(typename detail::make_sequence<K>::type(), [&](auto column) {
        constexpr int j = decltype(column)::value;
        f32 in[V];
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) in[v] = shifted<j / S>(read[j % S][v], read[j % S][v + 1]);
#pragma GCC unroll 8
        for (int i = 0; i < Rows; ++i)
          if (r - S * i >= 0 && r - S * i < K)
#pragma GCC unroll 2
            for (int v = 0; v < V; ++v) sum[i][v] += in[v] * weight[K * (r - S * i) + j];
      });
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows * V; ++i) store_masked(out + (y + i / V) * ow + i % V * width, written[i % V], sum[i / V][i % V]);
  }

  // Rows [y0, y1) of a plane.
  template <int Rows, int V, typename T>
  __attribute__((noinline)) void plane(const T *in, int64_t y0, int64_t y1, T *out) const {
    const Neighbours own = *this;  // what is written does not change it
    in += first_dy * iw + first_dx;
    for (int64_t x = 0; x < ow; x += V * width) {
      __mmask16 inside[S * (V + 1)], written[V];
      for (int v = 0; v < S * (V + 1); ++v) {
        const int64_t from = S * x + v * width + first_dx;
        inside[v] = __mmask16(first_words(min_of<int64_t>(iw - from, width)) & ~first_words(min_of<int64_t>(-from, width)));
      }
      for (int v = 0; v < V; ++v) written[v] = __mmask16(first_words(min_of<int64_t>(ow - x - v * width, width)));
      row_blocks<Rows>(y1 - y0, [&](int64_t y, auto count) {
        own.template rows<decltype(count)::value, V>(in + S * x, y0 + y, inside, written, out + x);
      });
    }
  }
};

template <int K, int S, typename T>
void planes_of_neighbours(const wry_call *call, const Correlation<T> &op) {
  const Strips s = strips_of(op, 1);
  const int64_t rows = min_of(op.oh, rounded_up(ceil_div(4096, op.ow), 4)), strips = ceil_div(op.oh, rows);
  parallel_for(call, op.images * op.groups * strips, max_of<int64_t>(1, 8192 / (rows * op.ow)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t plane = at / strips, g = plane % op.groups, y0 = at % strips * rows, y1 = min_of(op.oh, y0 + rows);
      Neighbours<K, S> n = {op.ih, op.iw, op.oh, op.ow, s.first_dy, s.first_dx, {}, op.bias ? float(op.bias[g]) : 0.0f};
      for (int t = 0; t < K * K; ++t)
        n.weight[(op.dy[t] - s.first_dy) * K + op.dx[t] - s.first_dx] = splat<f32>(float(op.weight[g * K * K + t]));
      const T *from = op.in + plane * op.ih * op.iw;
      T *to = op.out + plane * op.oh * op.ow;
      if (K > 3 && op.ow <= f32_lanes) n.template plane<7, 1>(from, y0, y1, to);
      else n.template plane<4, 2>(from, y0, y1, to);
    }
  });
}

template <typename T>
bool direct_planes(const wry_call *call, const Correlation<T> &op) {
  const bool one = op.step_x == 1;
  switch (side_of(op)) {
    case 3: one ? planes_of_neighbours<3, 1>(call, op) : planes_of_neighbours<3, 2>(call, op); break;
    case 5: one ? planes_of_neighbours<5, 1>(call, op) : planes_of_neighbours<5, 2>(call, op); break;
    default: planes_of_neighbours<7, 1>(call, op);
  }
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
      for (int v = 0; v < 2; ++v) store_some(out + m * out_plane + x + v * width, sum[m][v], n - x - v * width);
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
  const int64_t side = op.step_x == 1 ? side_of(op) : 0;  // every place of a square once, in any order
  const int64_t cost = cin * taps * cout * s.rows * op.ow;
  parallel_for(call, pieces, max_of<int64_t>(1, 65536 / max_of<int64_t>(cost, 1)), [&](int64_t begin, int64_t end) {
    T *strip = slices.mine();
    for (int64_t at = begin; at < end; ++at) {
      const int64_t y0 = at % strips * s.rows, y1 = min_of(op.oh, y0 + s.rows);
      const int64_t group = at / strips, g = group % op.groups;
      for (int64_t c = 0; c < cin; ++c)
        copy_strip(op, s, op.in + (group * cin + c) * op.ih * op.iw, y0, y1, strip + c * s.plane);
      const T *w = weight + g * cin * taps * cout, *bias = op.bias ? op.bias + g * cout : nullptr;
      if (cin == 1 && cout == 1) {
        depthwise_strip(op, s, side, strip, offsets, w, bias ? *bias : T(0), op.out + (group * op.oh + y0) * op.ow, y1 - y0);
        continue;
      }
      for (int64_t y = y0; y < y1; ++y) {
        const T *base = strip + (y - y0) * op.step_y * s.pitch;
        const int64_t plane = op.oh * op.ow;
        T *out = op.out + group * cout * plane + y * op.ow;
        switch (cout) {
          case 1: few_row<T, 1>(base, cin, s.plane, taps, offsets, w, bias, out, plane, op.ow); break;
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
