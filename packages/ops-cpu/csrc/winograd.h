// Convolution by a 3x3 window with step 1 in a quarter of the multiplications: Winograd's minimal
// filtering F(4x4, 3x3), after Lavin & Gray, "Fast Algorithms for Convolutional Neural Networks"
// (2016). Its factors and sums are float32; winograd_blocks.h reads and writes images of 16-bit floats, too. It does not do other windows, steps or groups. (winograd_blocks.h does step 2, and
// fewer channels in another order.)
//
// Tiles of 6x6 inputs and the windows are transformed to 36 values each; what was a convolution is
// then 36 independent matrix products over the channels; a last transform gives 4x4 outputs.
//
// The polynomials are interpolated at 0, +-sqrt(1/2), +-sqrt(2) and infinity. With the usual points
// (0, +-1, +-2) the error is four times that of summing directly; with these it is twice (measured
// with 64 and 512 channels of normal values), so no mode of less accuracy has to be offered.
#ifndef WHERRY_OPS_CPU_WINOGRAD_H
#define WHERRY_OPS_CPU_WINOGRAD_H

#include "correlation.h"

namespace WRY_NAMESPACE {
namespace winograd {

constexpr float a = 0.70710678118654752f, b = 1.41421356237309505f;  // the points; a * b = 1
constexpr float a2 = 0.5f, b2 = 2.0f, a3 = a * a2, b3 = b * b2;

// The transforms in one direction. from and to are arrays of vectors with a stride.
WRY_INLINE void transform_input(const f32 *d, int from, f32 *to, int step) {
  const f32 d0 = d[0], d1 = d[from], d2 = d[2 * from], d3 = d[3 * from], d4 = d[4 * from], d5 = d[5 * from];
  to[0] = d0 - (a2 + b2) * d2 + d4;
  const f32 even_a = d4 - b2 * d2, odd_a = a * d3 - (a * b2) * d1;
  to[step] = even_a + odd_a;
  to[2 * step] = even_a - odd_a;
  const f32 even_b = d4 - a2 * d2, odd_b = b * d3 - (b * a2) * d1;
  to[3 * step] = even_b + odd_b;
  to[4 * step] = even_b - odd_b;
  to[5 * step] = d1 - (a2 + b2) * d3 + d5;
}

WRY_INLINE void transform_weight(const f32 *g, int from, f32 *to, int step) {
  const f32 g0 = g[0], g1 = g[from], g2 = g[2 * from];
  // Each row divided by the product of its point's distances from the others.
  constexpr float at_a = 1 / (2 * a2 * (a2 - b2)), at_b = 1 / (2 * b2 * (b2 - a2));
  to[0] = g0;
  const f32 even_a = at_a * g0 + (at_a * a2) * g2, odd_a = (at_a * a) * g1;
  to[step] = even_a + odd_a;
  to[2 * step] = even_a - odd_a;
  const f32 even_b = at_b * g0 + (at_b * b2) * g2, odd_b = (at_b * b) * g1;
  to[3 * step] = even_b + odd_b;
  to[4 * step] = even_b - odd_b;
  to[5 * step] = g2;
}

WRY_INLINE void transform_output(const f32 *m, int from, f32 *to, int step) {
  const f32 sum_a = m[from] + m[2 * from], difference_a = m[from] - m[2 * from];
  const f32 sum_b = m[3 * from] + m[4 * from], difference_b = m[3 * from] - m[4 * from];
  to[0] = m[0] + sum_a + sum_b;
  to[step] = a * difference_a + b * difference_b;
  to[2 * step] = a2 * sum_a + b2 * sum_b;
  to[3 * step] = a3 * difference_a + b3 * difference_b + m[5 * from];
}

// The transposes of the last two, for the gradient of the weight.
WRY_INLINE void transform_cotangent(const f32 *y, int from, f32 *to, int step) {
  const f32 y0 = y[0], y1 = y[from], y2 = y[2 * from], y3 = y[3 * from];
  to[0] = y0;
  const f32 even_a = y0 + a2 * y2, odd_a = a * y1 + a3 * y3;
  to[step] = even_a + odd_a;
  to[2 * step] = even_a - odd_a;
  const f32 even_b = y0 + b2 * y2, odd_b = b * y1 + b3 * y3;
  to[3 * step] = even_b + odd_b;
  to[4 * step] = even_b - odd_b;
  to[5 * step] = y3;
}

WRY_INLINE void transform_weight_back(const f32 *u, int from, f32 *to, int step) {
  constexpr float at_a = 1 / (2 * a2 * (a2 - b2)), at_b = 1 / (2 * b2 * (b2 - a2));
  const f32 sum_a = at_a * (u[from] + u[2 * from]), difference_a = at_a * (u[from] - u[2 * from]);
  const f32 sum_b = at_b * (u[3 * from] + u[4 * from]), difference_b = at_b * (u[3 * from] - u[4 * from]);
  to[0] = u[0] + sum_a + sum_b;
  to[step] = a * difference_a + b * difference_b;
  to[2 * step] = a2 * sum_a + b2 * sum_b + u[5 * from];
}

// The buffers of one run, and how they are laid out. A slab is a range of images, or of rows of tiles
// of one image, with the channels last and padded to whole vectors.
struct Plan {
  const Correlation<float> *op;
  int64_t tiles_y, tiles_x;        // of an image
  int64_t cin, cout;               // padded to whole vectors, cout to whole panels
  int64_t slab_images, slab_rows;  // images and rows of tiles of one slab
  int64_t block;                   // tiles whose products one task computes
  float *weight;                   // [36, cout / panel, cin, panel]
  float *bias;                     // [cout]
  float *input;                    // [images, 4 rows + 2, 4 tiles_x + 2, cin]
  float *output;                   // [images, 4 rows, 4 tiles_x, cout]
  int64_t in_width, out_width;
  // Values from tile to tile and from plane to plane of what is transformed. Odd numbers of cache
  // lines: 36 planes a power of two apart would compete for a few sets of the cache.
  int64_t input_step, output_step, input_plane, output_plane, weight_plane;
};

WRY_INLINE int64_t odd_lines(int64_t values) { return rounded_up(values, 16) / 16 % 2 ? values : values + 16; }

// Whether the taps are those of a 3x3 window with this step, of one group and of enough channels.
template <typename E>
WRY_INLINE bool square_window(const Correlation<E, float> &op, int64_t step) {
  if (op.taps != 9 || op.step_y != step || op.step_x != step || op.groups != 1) return false;
  if (op.cin < 16 || op.cout < 16) return false;
  for (int t = 0; t < 9; ++t)
    if (op.dy[t] != op.dy[0] + t / 3 || op.dx[t] != op.dx[0] + t % 3) return false;
  return true;
}

WRY_INLINE bool applies(const Correlation<float> &op) {
  if (!square_window(op, 1)) return false;
  // 36 products for a tile of 16 outputs, some of which may lie outside, against 9 for each output;
  // and enough tiles to repay the transform of the weight, which leaves the caches (512 to 512 channels of 7 x 7, Zen 5: 4 images take 1.4 x the
  // time of a direct sum, 8 images 0.9, 16 images 0.8).
  const int64_t tiles = op.images * ceil_div(op.oh, 4) * ceil_div(op.ow, 4);
  return tiles >= 24 && 9 * op.images * op.oh * op.ow >= 2 * 36 * tiles;
}

// Windows of input channels [c0, c0 + count) with lanes of output channels [k, k + n): [count, 9] vectors.
template <typename E>
WRY_INLINE void turn_windows(const Correlation<E, float> &op, int64_t k, int64_t n, int64_t c0, int64_t count, float *turned) {
  if (n < f32_lanes) fill_zero(turned, count * 9 * f32_lanes);
  if (!op.backwards) return transpose_block(op.weight + (k * op.cin + c0) * 9, op.cin * 9, turned, f32_lanes, n, count * 9);
  for (int64_t c = 0; c < count; ++c)
    transpose_block(op.weight + ((c0 + c) * op.cout + k) * 9, 9, turned + c * 9 * f32_lanes, f32_lanes, n, 9);
}

// The taps of one of them, in their order.
WRY_INLINE void load_window(bool backwards, const float *window, f32 *g) {
  for (int t = 0; t < 9; ++t) g[t] = load(window + (backwards ? 8 - t : t) * f32_lanes);
}

// Lanes hold output channels: [36] vectors for each input channel, written as packed panels of B.
inline void weights(const wry_call *call, const Plan &p) {
  const Correlation<float> &op = *p.op;
  constexpr int width = f32_lanes;
  constexpr int64_t panel = gemm_columns<float>;
  constexpr int64_t some = 32;  // input channels whose windows are turned at a time
  parallel_for(call, p.cout / width, max_of<int64_t>(1, 256 / op.cin), [&](int64_t begin, int64_t end) {
    alignas(64) float turned[some * 9 * width];
    for (int64_t k = begin * width; k < end * width; k += width) {
      const int64_t n = max_of<int64_t>(0, min_of(op.cout - k, int64_t(width)));
      float *to = p.weight + k / panel * op.cin * panel + k % panel;
      for (int64_t c0 = 0; c0 < op.cin; c0 += some) {
        const int64_t count = min_of(op.cin - c0, some);
        turn_windows(op, k, n, c0, count, turned);
        for (int64_t c = c0; c < c0 + count; ++c) {
          f32 g[9], half[18], u[36];
          load_window(op.backwards, turned + (c - c0) * 9 * width, g);
          for (int j = 0; j < 3; ++j) transform_weight(g + j, 3, half + j, 3);
          for (int i = 0; i < 6; ++i) transform_weight(half + 3 * i, 1, u + 6 * i, 1);
          for (int i = 0; i < 36; ++i) store(to + i * p.weight_plane + c * panel, u[i]);
        }
      }
    }
  });
}

// Images as a slab is read from them: `dy`, `dx` is where the slab's row 0 and column 0 lie in an image.
struct Source {
  const float *images;
  int64_t channels, h, w, dy, dx;
  bool channels_last;
};

// `height` rows from row y0 on of `images` images into `to`, [images, height, width, padded], with zeros
// around: one row of one image for each piece of work.
inline void read_slab(const wry_call *call, const Source &source, int64_t image0, int64_t images, int64_t y0, int64_t height,
                      int64_t width, int64_t padded, float *slab) {
  const int64_t channels = source.channels;
  parallel_for(call, images * height, max_of<int64_t>(1, 16384 / (width * padded)), [&](int64_t begin, int64_t end) {
    int64_t first, last;
    valid_range(width, 1, source.dx, source.w, &first, &last);
    for (int64_t at = begin; at < end; ++at) {
      const int64_t image = image0 + at / height, y = y0 + at % height + source.dy;
      float *to = slab + at * width * padded;
      if (y < 0 || y >= source.h) {
        fill_zero(to, width * padded);
        continue;
      }
      fill_zero(to, first * padded);
      float *inside = to + first * padded;
      const int64_t n = last - first, x = first + source.dx;
      if (source.channels_last) {
        const float *from = source.images + ((image * source.h + y) * source.w + x) * channels;
        for (int64_t i = 0; i < n; ++i) copy_run(inside + i * padded, from + i * channels, channels, 1);
      } else {
        const float *from = source.images + (image * channels * source.h + y) * source.w + x;
        // The next row of each plane: a few bytes from each of many pages is nothing that hardware foresees.
        if (y + 1 < source.h)
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t i = 0; i < n; i += 16) __builtin_prefetch(from + c * source.h * source.w + source.w + i, 0, 2);
        transpose_block(from, source.h * source.w, inside, padded, channels, n);
      }
      if (channels < padded)
        for (int64_t i = 0; i < n; ++i) fill_zero(inside + i * padded + channels, padded - channels);
      fill_zero(to + last * padded, (width - last) * padded);
    }
  });
}

inline void write_slab(const wry_call *call, const Plan &p, int64_t image0, int64_t images, int64_t row0, int64_t rows) {
  const Correlation<float> &op = *p.op;
  const int64_t height = min_of(op.oh - 4 * row0, 4 * rows);
  parallel_for(call, images * height, max_of<int64_t>(1, 16384 / (p.out_width * p.cout)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t image = at / height, y = at % height;
      const float *from = p.output + (image * 4 * rows + y) * p.out_width * p.cout;
      const int64_t row = 4 * row0 + y;
      if (op.channels_last) {
        float *to = op.out + (((image0 + image) * op.oh + row) * op.ow) * op.cout;
        for (int64_t x = 0; x < op.ow; ++x) copy_run(to + x * op.cout, from + x * p.cout, op.cout, 1);
      } else {
        float *to = op.out + ((image0 + image) * op.cout * op.oh + row) * op.ow;
        transpose_block(from, p.cout, to, op.oh * op.ow, op.ow, op.cout);
      }
    }
  });
}

// Tiles [begin, end) of a slab, in the order image, row, column: into or out of planes whose first
// tile is `base`.
WRY_INLINE void into_planes(const Plan &p, int64_t rows, int64_t begin, int64_t end, int64_t base,
                            float *planes) {
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t tx = tile % p.tiles_x, rest = tile / p.tiles_x, ty = rest % rows, image = rest / rows;
    const float *from = p.input + ((image * (4 * rows + 2) + 4 * ty) * p.in_width + 4 * tx) * p.cin;
    float *to = planes + (tile - base) * p.input_step;
    const float *row[6];
    for (int y = 0; y < 6; ++y) row[y] = from + y * p.in_width * p.cin;
    for (int64_t c = 0; c < p.cin; c += f32_lanes) {
      f32 d[36], half[36];
#pragma GCC unroll 6
      for (int y = 0; y < 6; ++y)
#pragma GCC unroll 6
        for (int x = 0; x < 6; ++x) d[6 * y + x] = load(row[y] + x * p.cin + c);
#pragma GCC unroll 6
      for (int x = 0; x < 6; ++x) transform_input(d + x, 6, half + x, 6);
#pragma GCC unroll 6
      for (int y = 0; y < 6; ++y) transform_input(half + 6 * y, 1, d + 6 * y, 1);
      float *at = to + c;
#pragma GCC unroll 36
      for (int i = 0; i < 36; ++i, at += p.input_plane) store(at, d[i]);
    }
  }
}

WRY_INLINE void out_of_planes(const Plan &p, int64_t rows, int64_t begin, int64_t end, int64_t base,
                              const float *planes) {
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t tx = tile % p.tiles_x, rest = tile / p.tiles_x, ty = rest % rows, image = rest / rows;
    float *to = p.output + ((image * 4 * rows + 4 * ty) * p.out_width + 4 * tx) * p.cout;
    const float *from = planes + (tile - base) * p.output_step;
    for (int64_t k = 0; k < p.cout; k += f32_lanes) {
      f32 m[36], half[24], o[16];
      const float *at = from + k;
#pragma GCC unroll 36
      for (int i = 0; i < 36; ++i, at += p.output_plane) m[i] = load(at);
#pragma GCC unroll 6
      for (int x = 0; x < 6; ++x) transform_output(m + x, 6, half + x, 6);
#pragma GCC unroll 4
      for (int y = 0; y < 4; ++y) transform_output(half + 6 * y, 1, o + 4 * y, 1);
      const f32 bias = load(p.bias + k);
#pragma GCC unroll 4
      for (int y = 0; y < 4; ++y)
#pragma GCC unroll 4
        for (int x = 0; x < 4; ++x) store(to + (y * p.out_width + x) * p.cout + k, o[4 * y + x] + bias);
    }
  }
}

// One of the 36 products for `tiles` tiles and panel j of output channels.
WRY_INLINE void multiply(const Plan &p, int64_t plane, int64_t j, int64_t tiles, const float *in, float *out) {
  constexpr int64_t panel = gemm_columns<float>;
  const int64_t cin = p.op->cin;
  in += plane * p.input_plane, out += plane * p.output_plane + j * panel;
  const float *weight = p.weight + plane * p.weight_plane + j * cin * panel;
  for (int64_t i = 0; i < tiles; i += gemm_rows)
    gemm_tile<float, 2>(min_of<int64_t>(tiles - i, gemm_rows), panel, cin, in + i * p.input_step, p.input_step, 1, weight, panel,
                        out + i * p.output_step, p.output_step, {});
}

// The sizes of all but blocks. A slab holds no more than `most` values, but at least `tiles` where there are
// so many.
inline Plan plan_of(const Correlation<float> &op, int64_t most, int64_t tiles) {
  constexpr int64_t panel = gemm_columns<float>;
  Plan p;
  p.op = &op;
  p.tiles_y = ceil_div(op.oh, 4), p.tiles_x = ceil_div(op.ow, 4);
  p.cin = rounded_up(op.cin, f32_lanes), p.cout = rounded_up(op.cout, panel);
  p.in_width = 4 * p.tiles_x + 2, p.out_width = 4 * p.tiles_x;
  p.input_step = odd_lines(p.cin), p.output_step = odd_lines(p.cout);
  p.weight_plane = odd_lines(p.cout * op.cin);
  const int64_t row_values = (4 * p.in_width * p.cin) + (4 * p.out_width * p.cout);
  p.slab_rows = min_of(p.tiles_y, max_of(ceil_div(tiles, p.tiles_x), most / row_values));
  p.slab_images = p.slab_rows < p.tiles_y
                      ? 1
                      : min_of(op.images, max_of(ceil_div(tiles, p.tiles_y * p.tiles_x), most / (row_values * p.tiles_y)));
  return p;
}

WRY_INLINE int64_t slab_input_values(const Plan &p) {
  return rounded_up(p.slab_images * (4 * p.slab_rows + 2) * p.in_width * p.cin, 16);
}
WRY_INLINE int64_t slab_output_values(const Plan &p) {
  return rounded_up(p.slab_images * 4 * p.slab_rows * p.out_width * p.cout, 16);
}

// Of so many channels that the transformed weight is larger than the caches (for others winograd_blocks.h): each stage covers all tiles, and each
// part of the weight is read once. False when there is no memory.
inline bool run(const wry_call *call, const Correlation<float> &op) {
  constexpr int64_t panel = gemm_columns<float>;
  const int64_t most = 4 << 20;  // 16 MiB: what may stay in the last-level cache
  Plan p = plan_of(op, most, 1);
  const int64_t slab_tiles = p.slab_images * p.slab_rows * p.tiles_x, panels = p.cout / panel;
  p.block = max_of<int64_t>(32, min_of(slab_tiles, most / (36 * (p.input_step + p.output_step))));
  p.input_plane = odd_lines(p.block * p.input_step), p.output_plane = odd_lines(p.block * p.output_step);
  p.weight = workspace<float>(call, 36 * p.weight_plane), p.bias = workspace<float>(call, p.cout);
  p.input = workspace<float>(call, slab_input_values(p) + slab_output_values(p)), p.output = p.input + slab_input_values(p);
  float *in = workspace<float>(call, 36 * (p.input_plane + p.output_plane)), *out = in + 36 * p.input_plane;
  if (!p.weight || !p.bias || !p.input || !in) return false;
  for (int64_t k = 0; k < p.cout; ++k) p.bias[k] = op.bias && k < op.cout ? op.bias[k] : 0.0f;
  weights(call, p);
  const Source input = {op.in, op.cin, op.ih, op.iw, op.dy[0], op.dx[0], op.channels_last};
  for (int64_t image = 0; image < op.images; image += p.slab_images)
    for (int64_t row = 0; row < p.tiles_y; row += p.slab_rows) {
      const int64_t images = min_of(p.slab_images, op.images - image), rows = min_of(p.slab_rows, p.tiles_y - row);
      const int64_t tiles = images * rows * p.tiles_x;
      read_slab(call, input, image, images, 4 * row, 4 * rows + 2, p.in_width, p.cin, p.input);
      for (int64_t first = 0; first < tiles; first += p.block) {
        const int64_t count = min_of(p.block, tiles - first);
        parallel_for(call, count, 1, [&](int64_t begin, int64_t end) {
          into_planes(p, rows, first + begin, first + end, first, in);
        });
        parallel_tasks(call, 36 * panels, [&](int64_t at) {
          multiply(p, at / panels, at % panels, count, in, out);
        });
        parallel_for(call, count, 1, [&](int64_t begin, int64_t end) {
          out_of_planes(p, rows, first + begin, first + end, first, out);
        });
      }
      write_slab(call, p, image, images, row, rows);
    }
  return true;
}

// ---- the gradient for the weight ----------------------------------------------------------------
//
// The transpose of all that with respect to the weight: cotangents of 4x4 outputs are transformed to 36
// values, each of which, times those of the inputs and summed over the tiles, is a matrix product; the
// transposed transform of the weight ends it.

WRY_INLINE void cotangents_into_planes(const Plan &p, int64_t rows, int64_t begin, int64_t end, int64_t base, float *planes) {
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t tx = tile % p.tiles_x, rest = tile / p.tiles_x, ty = rest % rows, image = rest / rows;
    const float *from = p.output + ((image * 4 * rows + 4 * ty) * p.out_width + 4 * tx) * p.cout;
    float *to = planes + (tile - base) * p.output_step;
    for (int64_t k = 0; k < p.cout; k += f32_lanes) {
      f32 y[16], half[24], m[36];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) y[4 * i + j] = load(from + (i * p.out_width + j) * p.cout + k);
#pragma GCC unroll 4
      for (int x = 0; x < 4; ++x) transform_cotangent(y + x, 4, half + x, 4);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) transform_cotangent(half + 4 * i, 1, m + 6 * i, 1);
      float *at = to + k;
#pragma GCC unroll 36
      for (int i = 0; i < 36; ++i, at += p.output_plane) store(at, m[i]);
    }
  }
}

// From the 36 sums, [36] planes of [cin, cout], to [cout, cin, 9].
inline void weights_back(const wry_call *call, const Plan &p, const float *sums, int64_t plane, float *weight_ct) {
  const Correlation<float> &op = *p.op;
  constexpr int width = f32_lanes;
  constexpr int64_t some = 32;  // input channels whose windows are turned at a time
  const int64_t vectors = ceil_div(op.cout, width), cuts = ceil_div(op.cin, some);
  parallel_for(call, vectors * cuts, 1, [&](int64_t begin, int64_t end) {
    alignas(64) float turned[some * 9 * width];
    for (int64_t at = begin; at < end; ++at) {
      const int64_t k = at / cuts * width, c0 = at % cuts * some, count = min_of(op.cin - c0, some);
      for (int64_t c = 0; c < count; ++c) {
        f32 u[36], half[18], g[9];
        for (int i = 0; i < 36; ++i) u[i] = load(sums + i * plane + (c0 + c) * p.output_step + k);
        for (int j = 0; j < 6; ++j) transform_weight_back(u + j, 6, half + j, 6);
        for (int i = 0; i < 3; ++i) transform_weight_back(half + 6 * i, 1, g + 3 * i, 1);
        for (int t = 0; t < 9; ++t) store(turned + (c * 9 + t) * width, g[t]);
      }
      transpose_block(turned, width, weight_ct + (k * op.cin + c0) * 9, op.cin * 9, count * 9,
                      min_of<int64_t>(op.cout - k, width));
    }
  });
}

// op.out is the cotangent of the output; op.weight is unused. False when there is no memory.
inline bool run_weight(const wry_call *call, const Correlation<float> &op, float *weight_ct) {
  constexpr int64_t panel = gemm_columns<float>;
  Plan p = plan_of(op, 1 << 16, 64);
  // A slab and a block's 72 planes should stay in the second-level cache, but summing over few tiles at a
  // time would read and write the sums too often.
  const int64_t slab_tiles = p.slab_images * p.slab_rows * p.tiles_x;
  p.block = min_of(slab_tiles, max_of<int64_t>(64, (1 << 18) / (36 * (p.input_step + p.output_step))));
  p.input_plane = odd_lines(p.block * p.input_step), p.output_plane = odd_lines(p.block * p.output_step);
  const int64_t sums_plane = odd_lines(op.cin * p.output_step);
  p.input = workspace<float>(call, slab_input_values(p)), p.output = workspace<float>(call, slab_output_values(p));
  float *in = workspace<float>(call, 36 * p.input_plane), *ct = workspace<float>(call, 36 * p.output_plane);
  float *sums = workspace<float>(call, 36 * sums_plane);
  if (!p.input || !p.output || !in || !ct || !sums) return false;
  const Source input = {op.in, op.cin, op.ih, op.iw, op.dy[0], op.dx[0], op.channels_last};
  const Source cotangent = {op.out, op.cout, op.oh, op.ow, 0, 0, op.channels_last};
  const int64_t panels = p.cout / panel;
  bool started = false;
  for (int64_t image = 0; image < op.images; image += p.slab_images)
    for (int64_t row = 0; row < p.tiles_y; row += p.slab_rows) {
      const int64_t images = min_of(p.slab_images, op.images - image), rows = min_of(p.slab_rows, p.tiles_y - row);
      const int64_t tiles = images * rows * p.tiles_x;
      read_slab(call, input, image, images, 4 * row, 4 * rows + 2, p.in_width, p.cin, p.input);
      read_slab(call, cotangent, image, images, 4 * row, 4 * rows, p.out_width, p.cout, p.output);
      for (int64_t first = 0; first < tiles; first += p.block) {
        const int64_t count = min_of(p.block, tiles - first);
        parallel_for(call, count, max_of<int64_t>(1, 256 / p.input_step), [&](int64_t begin, int64_t end) {
          into_planes(p, rows, first + begin, first + end, first, in);
          cotangents_into_planes(p, rows, first + begin, first + end, first, ct);
        });
        parallel_tasks(call, 36 * panels, [&](int64_t at) {
          const int64_t plane = at / panels, j = at % panels * panel;
          for (int64_t i = 0; i < op.cin; i += gemm_rows)
            gemm_tile<float, 2>(min_of<int64_t>(op.cin - i, gemm_rows), panel, count, in + plane * p.input_plane + i, 1,
                                p.input_step, ct + plane * p.output_plane + j, p.output_step,
                                sums + plane * sums_plane + i * p.output_step + j, p.output_step, {started, nullptr, nullptr});
        });
        started = true;
      }
    }
  weights_back(call, p, sums, sums_plane, weight_ct);
  return true;
}

}  // namespace winograd
}  // namespace WRY_NAMESPACE

#endif
