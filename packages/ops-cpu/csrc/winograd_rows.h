// Convolution of planes of a few channels by a window 7 columns wide that moves by 2, as images enter many networks, in half of the
// multiplications: minimal filtering along rows (winograd.h), the rows of the window are summed directly. float32 only.
//
// An output meets four neighbours of every other column and three of the columns between them. Both are filters of four taps (one of which is 0),
// F(4, 4) at the same seven points, so both sum into the same seven products for four outputs. The points are +-1/2, +-1, +-2 and infinity: errors
// are 2.1 times those of summing directly (3 channels of normal values), with 0 in place of infinity 2.5 times.
//
// Tiles are four outputs of a row, and lie side by side in vectors. A task transforms the rows that its outputs meet once; then each row of outputs is
// seven products of tiles by output channels over (row of the window, even or odd, channel).
#ifndef WHERRY_OPS_CPU_WINOGRAD_ROWS_H
#define WHERRY_OPS_CPU_WINOGRAD_ROWS_H

#include "correlation.h"

namespace WRY_NAMESPACE {
namespace winograd {

struct Rows {
  static constexpr int points = 7, columns = 7;
  static constexpr int64_t panel = gemm_columns<float>, L = f32_lanes;
  const Correlation<float> &op;
  int64_t height, k;     // rows of the window; products that are summed
  int64_t tiles, pitch;  // of a row, and padded to whole vectors
  int64_t rows;          // of outputs in one task
  int64_t plane, out_plane, padded;
  float *weight = nullptr;  // [cout / panel, points, k, panel]
  float *bias = nullptr;    // [padded]

  Rows(const wry_call *call, const Correlation<float> &op_) : op(op_) {
    height = op.taps / columns, k = height * 2 * op.cin;
    tiles = ceil_div(op.ow, 4), pitch = rounded_up(tiles, max_of<int64_t>(L, gemm_rows)), padded = rounded_up(op.cout, panel);
    // Transformed rows should stay in the second-level cache, and there should be several tasks for each thread.
    const int64_t row = points * 2 * op.cin * pitch, threads = threads_for(call, INT32_MAX);
    const int64_t most = max_of<int64_t>(1, ((1 << 16) / row - height) / op.step_y);
    rows = max_of<int64_t>(min_of<int64_t>(2, op.oh), min_of(most, threads > 1 ? op.images * op.oh / (6 * threads) : op.oh));
    rows = ceil_div(op.oh, ceil_div(op.oh, rows));
    plane = input_rows() * 2 * op.cin * pitch + 16, out_plane = pitch * panel + 16;
  }
  int64_t input_rows() const { return (rows - 1) * op.step_y + height; }

  static bool applies(const Correlation<float> &op) {
    if (op.taps % columns || op.taps == 0 || op.step_x != 2 || op.groups != 1 || op.channels_last || op.cin > 4 || op.cout < 16) return false;
    for (int64_t t = 0; t < op.taps; ++t)
      if (op.dy[t] != op.dy[0] + t / columns || op.dx[t] != op.dx[0] + t % columns) return false;
    return op.taps > columns && op.ow >= 24 && op.images * op.oh >= 8;
  }

  // ---- the weight ---------------------------------------------------------------------------------

  void transform_weights() const {
    constexpr struct {
      float at, scale;
    } pairs[3] = {{0.5f, 1 / 2.8125f}, {1.0f, -1 / 4.5f}, {2.0f, 1 / 45.0f}};  // divided by the product of distances from the others
    fill_zero(weight, padded * points * k);
    for (int64_t m = 0; m < op.cout; ++m)
      for (int64_t c = 0; c < op.cin; ++c)
        for (int64_t y = 0; y < height; ++y)
          for (int odd = 0; odd < 2; ++odd) {
            const float *w = op.weight + (m * op.cin + c) * op.taps + y * columns + odd;
            const float g0 = w[0], g1 = w[2], g2 = w[4], g3 = odd ? 0.0f : w[6];
            float *to = weight + m / panel * points * k * panel + ((y * 2 + odd) * op.cin + c) * panel + m % panel;
            for (int i = 0; i < 3; ++i) {
              const float a = pairs[i].at, even = g0 + a * a * g2, rest = a * g1 + a * a * a * g3;
              to[2 * i * k * panel] = pairs[i].scale * (even + rest);
              to[(2 * i + 1) * k * panel] = -pairs[i].scale * (even - rest);
            }
            to[6 * k * panel] = g3;
          }
  }

  // ---- inputs -------------------------------------------------------------------------------------

  // Values of a row with its border, and the same with columns sorted by their remainder by 8.
  int64_t line_values() const { return 8 * (pitch + 1); }
  int64_t sorted_values() const { return 8 * (pitch + L); }

  // to[points, ..., 2, cin, pitch]: row y of the inputs of channel c.
  WRY_INLINE void transform_row(int64_t image, int64_t c, int64_t y, float *line, float *sorted, float *to) const {
    const int64_t along = pitch + L, all = line_values();
    int64_t first = 0, last = 0;
    if (y >= 0 && y < op.ih) valid_range(all, 1, op.dx[0], op.iw, &first, &last);
    if (first == last) {
      for (int i = 0; i < points; ++i) fill_zero(to + i * plane, pitch), fill_zero(to + i * plane + op.cin * pitch, pitch);
      return;
    }
    copy_bordered(line, all, first, last, op.in + ((image * op.cin + c) * op.ih + y) * op.iw + first + op.dx[0], 1);
    transpose_block(line, 8, sorted, along, pitch + 1, 8);
    for (int odd = 0; odd < 2; ++odd, to += op.cin * pitch)
      for (int64_t x = 0; x < pitch; x += L) {
        const auto at = [&](int i) { return load(sorted + (2 * i + odd) % 8 * along + (2 * i + odd) / 8 + x); };
        const f32 d0 = at(0), d1 = at(1), d2 = at(2), d3 = at(3), d4 = at(4), d5 = at(5), d6 = at(6);
        const auto put = [&](int i, f32 value) { store(to + i * plane + x, value); };
        const auto pair = [&](int i, float a, float sum, float product) {
          const f32 one = d5 - sum * d3 + product * d1, other = a * (d4 - sum * d2 + product * d0);
          put(i, one + other), put(i + 1, one - other);
        };
        pair(0, 0.5f, 5.0f, 4.0f), pair(2, 1.0f, 4.25f, 1.0f), pair(4, 2.0f, 1.25f, 0.25f);
        put(6, d6 - d0 + 5.25f * (d2 - d4));
      }
  }

  // ---- outputs ------------------------------------------------------------------------------------

  // Row y of the outputs, from the transformed rows that it meets.
  WRY_INLINE void convolve_row(int64_t image, int64_t y, const float *in, float *out, float *lines) const {
    constexpr int64_t some = (panel + points - 1) / points;
    for (int64_t j = 0; j < padded; j += panel) {
      for (int i = 0; i < points; ++i) {
        // What is written afterwards is asked for: a few lines from each of many planes are nothing that hardware foresees.
        for (int64_t m = j + i * some; m < min_of(op.cout, min_of(j + panel, j + (i + 1) * some)); ++m)
          for (int64_t x = 0; x < op.ow; x += 16) __builtin_prefetch(op.out + ((image * op.cout + m) * op.oh + y) * op.ow + x, 1, 2);
        for (int64_t tile = 0; tile < tiles; tile += gemm_rows)
          gemm_tile<float, 2>(min_of<int64_t>(tiles - tile, gemm_rows), panel, k, in + i * plane + tile, 1, pitch,
                              weight + (j / panel * points + i) * k * panel, panel, out + i * out_plane + tile * panel, panel, {});
      }
      for (int64_t m = j; m < min_of(op.cout, j + panel); m += L) {
        const f32 summand = load(bias + m);
        for (int64_t tile = 0; tile < tiles; ++tile) {
          f32 p[points];
#pragma GCC unroll 7
          for (int i = 0; i < points; ++i) p[i] = load(out + i * out_plane + tile * panel + m - j);
          const f32 sum0 = p[0] + p[1], sum1 = p[2] + p[3], sum2 = p[4] + p[5];
          const f32 rest0 = p[0] - p[1], rest1 = p[2] - p[3], rest2 = p[4] - p[5];
          float *to = lines + 4 * tile * L;
          store(to, sum0 + sum1 + sum2 + summand);
          store(to + L, 0.5f * rest0 + rest1 + 2.0f * rest2 + summand);
          store(to + 2 * L, 0.25f * sum0 + sum1 + 4.0f * sum2 + summand);
          store(to + 3 * L, 0.125f * rest0 + rest1 + 8.0f * rest2 + p[6] + summand);
        }
        transpose_block(lines, L, op.out + ((image * op.cout + m) * op.oh + y) * op.ow, op.oh * op.ow, op.ow, min_of(op.cout - m, L));
      }
    }
  }

  // False when there is no memory.
  bool run(const wry_call *call) {
    const int64_t cuts = ceil_div(op.oh, rows), tasks = op.images * cuts, scratch = rounded_up(line_values() + sorted_values(), 16);
    weight = workspace<float>(call, padded * points * k), bias = workspace<float>(call, padded);
    Slices<float> slices(call, points * (plane + out_plane) + 4 * pitch * L + scratch, tasks);
    if (!weight || !bias || !slices.memory) return false;
    for (int64_t m = 0; m < padded; ++m) bias[m] = op.bias && m < op.cout ? op.bias[m] : 0.0f;
    transform_weights();
    parallel_tasks(call, tasks, [&](int64_t task) {
      const int64_t image = task / cuts, first = task % cuts * rows, last = min_of(op.oh, first + rows);
      float *in = slices.mine(), *out = in + points * plane, *lines = out + points * out_plane, *line = lines + 4 * pitch * L;
      const int64_t step = 2 * op.cin * pitch;
      for (int64_t r = 0; r < (last - first - 1) * op.step_y + height; ++r)
        for (int64_t c = 0; c < op.cin; ++c)
          transform_row(image, c, first * op.step_y + op.dy[0] + r, line, line + line_values(), in + r * step + c * pitch);
      for (int64_t y = first; y < last; ++y) convolve_row(image, y, in + (y - first) * op.step_y * step, out, lines);
    });
    return true;
  }
};

}  // namespace winograd
}  // namespace WRY_NAMESPACE

#endif
