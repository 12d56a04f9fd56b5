// Convolution with step 1 of small images to few channels, forward and for the weight.
//
// An image is copied with its zero border, so that rows have a pitch. Then the outputs of all rows are
// one long row: output p meets input p + offset through each tap, wherever p lies. What falls between
// the rows is computed too and thrown away, but nothing is gathered, which for few output channels
// costs more than the products. It does not do steps, groups or channels that come last.
#ifndef WHERRY_OPS_CPU_FLAT_H
#define WHERRY_OPS_CPU_FLAT_H

#include "few.h"

namespace WRY_NAMESPACE {
namespace flat {

// How copied images lie.
struct Layout {
  Strips reach;
  int64_t height, pitch;  // of a copied plane
  int64_t positions;      // of outputs, between rows too
  int64_t image;          // values of a copied image, with what vectors read past its end
};

template <typename T>
Layout layout_of(const Correlation<T> &op) {
  Layout l;
  l.reach = strips_of(op, 1);
  l.height = op.oh + l.reach.span_y, l.pitch = op.ow + l.reach.span_x;
  l.positions = op.oh * l.pitch;
  l.image = rounded_up(op.cin * l.height * l.pitch + l.reach.span_x + 2 * lanes<T>, 64);
  return l;
}

// Enough images to share the work, or little of it, and rows so long that little is thrown away.
template <typename T>
bool applies(const Correlation<T> &op, int64_t most_channels) {
  if (op.channels_last || op.groups != 1 || op.step_y != 1 || op.step_x != 1) return false;
  if (op.cout > most_channels || op.taps == 0 || op.cin == 0) return false;
  const Layout l = layout_of(op);
  if (op.images < 8 && op.cout * op.cin * op.taps * l.positions > (1 << 20)) return false;
  return 2 * l.pitch <= 3 * op.ow && l.image <= (1 << 16);
}

template <typename T>
void copy_image(const Correlation<T> &op, const Layout &l, const T *from, T *to) {
  int64_t x0, x1;
  valid_range(l.pitch, 1, l.reach.first_dx, op.iw, &x0, &x1);
  for (int64_t c = 0; c < op.cin; ++c)
    for (int64_t row = 0; row < l.height; ++row, to += l.pitch) {
      const int64_t y = row + l.reach.first_dy;
      if (y < 0 || y >= op.ih) {
        fill_zero(to, l.pitch);
        continue;
      }
      fill_zero(to, x0);
      copy_run(to + x0, from + (c * op.ih + y) * op.iw + x0 + l.reach.first_dx, x1 - x0, 1);
      fill_zero(to + x1, l.pitch - x1);
    }
  fill_zero(to, l.image - op.cin * l.height * l.pitch);
}

// offsets[c * taps + t], from the place of output 0.
template <typename T>
void offsets_of(const Correlation<T> &op, const Layout &l, int64_t *offsets) {
  for (int64_t c = 0; c < op.cin; ++c)
    for (int64_t t = 0; t < op.taps; ++t)
      offsets[c * op.taps + t] =
          (c * l.height + op.dy[t] - l.reach.first_dy) * l.pitch + op.dx[t] - l.reach.first_dx;
}

// ---- forward ------------------------------------------------------------------------------------

// out[i, 0 .. 2 vectors) for `rows` output channels from k inputs. weight [k, rows]; bias [rows].
template <typename T, int rows>
__attribute__((noinline)) void tile(int64_t k, const T *at, const int64_t *offsets, const T *weight, const T *bias, T *out,
                                    int64_t out_row) {
  constexpr int width = lanes<T>;
  vec<T> sum[rows][2];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) sum[i][0] = sum[i][1] = splat<vec<T>>(bias[i]);
  for (int64_t r = 0; r < k; ++r, weight += rows) {
    const vec<T> a = load(at + offsets[r]), b = load(at + offsets[r] + width);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      sum[i][0] = fma(a, weight[i], sum[i][0]);
      sum[i][1] = fma(b, weight[i], sum[i][1]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) store(out + i * out_row, sum[i][0]), store(out + i * out_row + width, sum[i][1]);
}

template <typename T>
WRY_INLINE void tile_of(int64_t rows, int64_t k, const T *at, const int64_t *offsets, const T *weight, const T *bias, T *out,
                        int64_t out_row) {
  switch (rows) {
    case 2: return tile<T, 2>(k, at, offsets, weight, bias, out, out_row);
    case 4: return tile<T, 4>(k, at, offsets, weight, bias, out, out_row);
#if WRY_VECTOR_BYTES >= 32 || defined(__aarch64__)
    case 6: return tile<T, 6>(k, at, offsets, weight, bias, out, out_row);
#endif
#if WRY_VECTOR_BYTES == 64 || defined(__aarch64__)
    case 8: return tile<T, 8>(k, at, offsets, weight, bias, out, out_row);
#endif
  }
}

// False when there is no memory.
template <typename T>
bool run(const wry_call *call, const Correlation<T> &op) {
  constexpr int64_t step = 2 * lanes<T>;
  const Layout l = layout_of(op);
  const int64_t k = op.cin * op.taps, m = rounded_up(op.cout, 2), row = rounded_up(l.positions, step);
  int64_t *offsets = workspace<int64_t>(call, k);
  T *weight = workspace<T>(call, m * (k + 1));  // [blocks, k, rows of the block], then the bias
  if (!offsets || !weight) return false;
  offsets_of(op, l, offsets);
  T *bias = weight + m * k;
  for (int64_t i = 0; i < m; ++i) {
    const int64_t first = i / gemm_rows * gemm_rows, rows = min_of<int64_t>(gemm_rows, m - first);
    bias[i] = op.bias && i < op.cout ? op.bias[i] : T(0);
    for (int64_t r = 0; r < k; ++r) weight[first * k + r * rows + i - first] = i < op.cout ? op.weight[i * k + r] : T(0);
  }
  Slices<T> slices(call, l.image + m * row, op.images);
  if (!slices.memory) return false;
  parallel_for(call, op.images, 1, [&](int64_t begin, int64_t end) {
    T *image = slices.mine(), *wide = image + l.image;
    for (int64_t n = begin; n < end; ++n) {
      copy_image(op, l, op.in + n * op.cin * op.ih * op.iw, image);
      // All tiles of a stretch of positions read the same inputs.
      for (int64_t p = 0; p < row; p += step)
        for (int64_t i = 0; i < m; i += gemm_rows)
          tile_of(min_of<int64_t>(gemm_rows, m - i), k, image + p, offsets, weight + i * k, bias + i, wide + i * row + p, row);
      T *out = op.out + n * op.cout * op.oh * op.ow;
      for (int64_t i = 0; i < op.cout; ++i)
        for (int64_t y = 0; y < op.oh; ++y) copy_run(out + (i * op.oh + y) * op.ow, wide + i * row + y * l.pitch, op.ow, 1);
    }
  });
  return true;
}

// ---- for the weight -----------------------------------------------------------------------------

#if WRY_VECTOR_BYTES == 64 || defined(__aarch64__)
inline constexpr int weight_columns = 4;
#else
inline constexpr int weight_columns = 2;
#endif
inline constexpr int weight_rows = 4;

// Sums over all images of inputs (rows) times cotangents (columns), which are zero between rows.
template <typename T>
void weight_tile(int64_t images, int64_t n, const T *const *inputs, int64_t input_image, const T *const *cotangents,
                 int64_t cotangent_image, T (*out)[weight_columns]) {
  constexpr int width = lanes<T>;
  vec<T> sum[weight_rows][weight_columns] = {};
  for (int64_t image = 0; image < images; ++image)
    for (int64_t p = 0; p < n; p += width) {
      vec<T> ct[weight_columns];
#pragma GCC unroll 4
      for (int j = 0; j < weight_columns; ++j) ct[j] = load(cotangents[j] + image * cotangent_image + p);
#pragma GCC unroll 4
      for (int i = 0; i < weight_rows; ++i) {
        const vec<T> input = load(inputs[i] + image * input_image + p);
#pragma GCC unroll 4
        for (int j = 0; j < weight_columns; ++j) sum[i][j] = fma(input, ct[j], sum[i][j]);
      }
    }
  for (int i = 0; i < weight_rows; ++i)
    for (int j = 0; j < weight_columns; ++j) out[i][j] = reduce_add(sum[i][j]);
}

// Whether all copies fit where they are read over and over.
template <typename T>
bool applies_to_weight(const Correlation<T> &op) {
  if (!applies(op, gemm_columns<T> / 2)) return false;
  const Layout l = layout_of(op);
  return op.images * (l.image + op.cout * (l.positions + lanes<T>)) <= (1 << 20);
}

// weight_ct [cout, cin, taps]. op.out is the cotangent of the output; op.weight is unused.
template <typename T>
bool run_weight(const wry_call *call, const Correlation<T> &op, T *weight_ct) {
  const Layout l = layout_of(op);
  const int64_t k = op.cin * op.taps, m = op.cout, row = rounded_up(l.positions, lanes<T>);
  int64_t *offsets = workspace<int64_t>(call, k);
  T *inputs = workspace<T>(call, op.images * l.image), *cotangents = workspace<T>(call, op.images * m * row);
  if (!offsets || !inputs || !cotangents) return false;
  offsets_of(op, l, offsets);
  parallel_for(call, op.images, max_of<int64_t>(1, 16384 / (l.image + m * row)), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      copy_image(op, l, op.in + n * op.cin * op.ih * op.iw, inputs + n * l.image);
      T *to = cotangents + n * m * row;
      const T *from = op.out + n * m * op.oh * op.ow;
      for (int64_t j = 0; j < m; ++j, to += row) {
        for (int64_t y = 0; y < op.oh; ++y, from += op.ow) {
          copy_run(to + y * l.pitch, from, op.ow, 1);
          fill_zero(to + y * l.pitch + op.ow, l.pitch - op.ow);
        }
        fill_zero(to + l.positions, row - l.positions);
      }
    }
  });
  const int64_t across = ceil_div(m, weight_columns);
  parallel_for(call, ceil_div(k, weight_rows) * across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t i0 = task / across * weight_rows, j0 = task % across * weight_columns;
      const T *rows[weight_rows], *columns[weight_columns];
      T sums[weight_rows][weight_columns];
      for (int i = 0; i < weight_rows; ++i) rows[i] = inputs + offsets[min_of(i0 + i, k - 1)];  // the last repeats
      for (int j = 0; j < weight_columns; ++j) columns[j] = cotangents + min_of(j0 + j, m - 1) * row;
      weight_tile(op.images, row, rows, l.image, columns, m * row, sums);
      for (int64_t i = i0; i < min_of(k, i0 + weight_rows); ++i)
        for (int64_t j = j0; j < min_of(m, j0 + weight_columns); ++j) weight_ct[j * k + i] = sums[i - i0][j - j0];
    }
  });
  return true;
}

}  // namespace flat
}  // namespace WRY_NAMESPACE

#endif
