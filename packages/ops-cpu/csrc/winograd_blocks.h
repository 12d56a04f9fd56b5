// Convolution by a 3x3 window in fewer multiplications, block by block: with step 1 in a quarter of them (F(4x4, 3x3), winograd.h has its
// transforms), with step 2 in 9/16.
//
// With step 2 an output meets three neighbours of which the middle one belongs to the even columns and the others to the odd ones (or the other
// way round): one tap of the former, which is multiplied as it is, and a filter of two neighbouring taps of the latter, which Winograd's minimal
// filtering F(4, 2) computes for four outputs in 5 products. So 9 inputs become 9 values along each axis, and 81 products take the place of 144.
// The polynomials are interpolated at 0, +-1 and +-2: errors are 1.15 times those of summing directly (64 channels of normal values; 1.7 times with
// 256), with infinity in the place of one of them up to 3.7 times. A window becomes 6 x 6 factors: the middle tap meets four of the 9 values.
//
// A task takes some rows of tiles from the image to the result, so that all it writes in between stays in its second-level cache: a strip of one
// vector of channels is turned and transformed down its columns, then along its rows, tile by tile, into a plane for each product; panels of output
// channels are multiplied one by one and go the same way back.
#ifndef WHERRY_OPS_CPU_WINOGRAD_BLOCKS_H
#define WHERRY_OPS_CPU_WINOGRAD_BLOCKS_H

#include "winograd.h"

namespace WRY_NAMESPACE {
namespace winograd {

// The transforms in one direction, of arrays of vectors; a tile is `side` inputs wide, gives four outputs and lies `advance` from the next. A window
// becomes `factors` values, of which factor(i) meets value i of a tile.
struct Step1 {
  static constexpr int side = 6, advance = 4, factors = 6;
  static constexpr int factor(int i) { return i; }
  static WRY_INLINE void input(const f32 *d, f32 *to) { transform_input(d, 1, to, 1); }
  static WRY_INLINE void weight(const f32 *g, int from, f32 *to, int step) { transform_weight(g, from, to, step); }
  static WRY_INLINE void output(const f32 *m, f32 *to) { transform_output(m, 1, to, 1); }
};

struct Step2 {
  static constexpr int side = 9, advance = 8, factors = 6;
  static constexpr int factor(int i) { return i < 4 ? 0 : i - 3; }  // the middle tap of each of four outputs
  static WRY_INLINE void input(const f32 *d, f32 *to) {
    for (int i = 0; i < 4; ++i) to[i] = d[2 * i + 1];
    const f32 d0 = d[0], d1 = d[2], d2 = d[4], d3 = d[6], d4 = d[8];
    to[4] = d4 - 5.0f * d2 + 4.0f * d0;
    const f32 even1 = d4 - 4.0f * d2, odd1 = d3 - 4.0f * d1, even2 = d4 - d2, odd2 = 2.0f * (d3 - d1);
    to[5] = even1 + odd1, to[6] = even1 - odd1;
    to[7] = even2 + odd2, to[8] = even2 - odd2;
  }
  static WRY_INLINE void weight(const f32 *g, int from, f32 *to, int step) {
    const f32 g0 = g[0], g2 = g[2 * from];
    to[0] = g[from], to[step] = 0.25f * g0;
    // Each divided by the product of its point's distances from the others.
    to[2 * step] = (-1.0f / 6) * (g0 + g2), to[3 * step] = (-1.0f / 6) * (g0 - g2);
    to[4 * step] = (1.0f / 24) * g0 + (1.0f / 12) * g2, to[5 * step] = (1.0f / 24) * g0 - (1.0f / 12) * g2;
  }
  static WRY_INLINE void output(const f32 *m, f32 *to) {
    const f32 sum1 = m[5] + m[6], difference1 = m[5] - m[6], sum2 = m[7] + m[8], difference2 = m[7] - m[8];
    to[0] = m[0] + (m[4] + sum1 + sum2);
    to[1] = m[1] + (difference1 + 2.0f * difference2);
    to[2] = m[2] + (sum1 + 4.0f * sum2);
    to[3] = m[3] + (difference1 + 8.0f * difference2);
  }
};

template <typename Way, typename E = float>  // E: of the images
struct Blocks {
  static constexpr int side = Way::side, planes = side * side, advance = Way::advance;
  static constexpr int line = Way::factors, factors = line * line;
  static constexpr int64_t panel = gemm_columns<float>, L = f32_lanes;
  static constexpr int64_t chain = 64;  // channels that are summed in one: longer ones lose digits, which the transforms enlarge
  const Correlation<E, float> &op;
  int64_t tiles_y, tiles_x;  // of an image
  int64_t cin, cout;         // padded to whole vectors, cout to whole panels
  int64_t cuts, wide;        // a row of tiles has so many pieces, of so many tiles at most
  int64_t units, block;      // pieces of rows of all images, and of one task
  int64_t tiles;             // of one task at most
  int64_t in_plane, out_plane, weight_plane;
  float *weight = nullptr;  // [cout / panel, factors, cin, panel]
  float *bias = nullptr;    // [cout]

  // A strip of one vector of channels, in either direction, should stay in the first-level cache; the planes in the second-level one.
  explicit Blocks(const wry_call *call, const Correlation<E, float> &op_) : op(op_) {
    tiles_y = ceil_div(op.oh, 4), tiles_x = ceil_div(op.ow, 4);
    cin = rounded_up(op.cin, L), cout = rounded_up(op.cout, panel);
    const int64_t most = max_of<int64_t>(gemm_rows, min_of<int64_t>(32, 150000 / (planes * cin)));
    cuts = ceil_div(tiles_x, min_of<int64_t>(most, 64 / advance)), wide = ceil_div(tiles_x, cuts);
    units = op.images * tiles_y * cuts;
    // Large blocks, unless threads would wait for one that has one more of them.
    const int64_t threads = threads_for(call, INT32_MAX), least = ceil_div(gemm_rows, wide);
    const auto turns = [&](int64_t size) { return ceil_div(ceil_div(units, size), threads) * size; };
    block = max_of(least, most / wide);
    for (int64_t size = block - 1; size >= least; --size)
      if (20 * turns(size) < 19 * turns(block)) block = size;
    tiles = block * wide;
    in_plane = odd_lines(tiles * cin), out_plane = odd_lines(tiles * panel), weight_plane = odd_lines(op.cin * panel);
  }
  int64_t strip_values() const { return side * (advance * (wide - 1) + side) * L; }

  // A unit: tiles [x, x + count) of row y of an image.
  struct Unit {
    int64_t image, y, x, count;
  };
  WRY_INLINE Unit unit(int64_t at) const {
    const int64_t x = at % cuts * wide;
    return {at / cuts / tiles_y, at / cuts % tiles_y, x, min_of(wide, tiles_x - x)};
  }

  // ---- the weight ---------------------------------------------------------------------------------

  // Lanes hold output channels: a vector for each factor of each input channel.
  void transform_weights(const wry_call *call) const {
    constexpr int64_t some = 32;  // input channels whose windows are turned at a time
    parallel_for(call, cout / L, max_of<int64_t>(1, 256 / op.cin), [&](int64_t begin, int64_t end) {
      alignas(64) float turned[some * 9 * L];
      for (int64_t k = begin * L; k < end * L; k += L) {
        const int64_t n = max_of<int64_t>(0, min_of(op.cout - k, L));
        float *to = weight + k / panel * factors * weight_plane + k % panel;
        for (int64_t c0 = 0; c0 < op.cin; c0 += some) {
          const int64_t count = min_of(op.cin - c0, some);
          turn_windows(op, k, n, c0, count, turned);
          for (int64_t c = 0; c < count; ++c) {
            f32 g[9], half[3 * line], u[line];
            load_window(op.backwards, turned + c * 9 * L, g);
            for (int j = 0; j < 3; ++j) Way::weight(g + j, 3, half + j, 3);
            for (int i = 0; i < line; ++i) {
              Way::weight(half + 3 * i, 1, u, 1);
              for (int j = 0; j < line; ++j) store(to + (i * line + j) * weight_plane + (c0 + c) * panel, u[j]);
            }
          }
        }
      }
    });
  }

  // ---- into planes --------------------------------------------------------------------------------

  // strip[side, width, L]: what the tiles of a unit meet of channels [c, c + L).
  WRY_INLINE void read_strip(const Unit &u, int64_t width, int64_t c, float *strip) const {
    const int64_t channels = min_of(op.cin - c, L), dx = u.x * advance + op.dx[0], dy = u.y * advance + op.dy[0];
    int64_t first, last;
    valid_range(width, 1, dx, op.iw, &first, &last);
    for (int r = 0; r < side; ++r, strip += width * L) {
      const int64_t y = dy + r, n = last - first;
      if (y < 0 || y >= op.ih) {
        fill_zero(strip, width * L);
        continue;
      }
      fill_zero(strip, (channels < L ? width : first) * L);
      fill_zero(strip + last * L, (width - last) * L);
      if (op.channels_last) {
        const E *from = op.in + ((u.image * op.ih + y) * op.iw + first + dx) * op.cin + c;
        for (int64_t x = 0; x < n; ++x) convert_run(strip + (first + x) * L, from + x * op.cin, channels);
        continue;
      }
      const E *from = op.in + ((u.image * op.cin + c) * op.ih + y) * op.iw + first + dx;
      // What the next row of tiles meets here: a few bytes from each of many pages is nothing that hardware foresees.
      if (r >= side - advance && y + advance < op.ih)
        for (int64_t i = 0; i < channels; ++i)
          for (int64_t x = 0; x < n; x += 64 / int64_t(sizeof(E))) __builtin_prefetch(from + (i * op.ih + advance) * op.iw + x, 0, 2);
      transpose_block(from, op.ih * op.iw, strip + first * L, L, channels, n);
    }
  }

  // The tiles of a unit from a strip to their places of the planes.
  WRY_INLINE void into_planes(const Unit &u, int64_t width, float *strip, float *to) const {
    f32 d[side], t[side];
    for (int64_t x = 0; x < width; ++x) {
      float *at = strip + x * L;
#pragma GCC unroll 9
      for (int i = 0; i < side; ++i) d[i] = load(at + i * width * L);
      Way::input(d, t);
#pragma GCC unroll 9
      for (int i = 0; i < side; ++i) store(at + i * width * L, t[i]);
    }
    for (int64_t tile = 0; tile < u.count; ++tile, to += cin)
      for (int i = 0; i < side; ++i) {
        const float *at = strip + (i * width + tile * advance) * L;
#pragma GCC unroll 9
        for (int j = 0; j < side; ++j) d[j] = load(at + j * L);
        Way::input(d, t);
        float *plane = to + i * side * in_plane;
#pragma GCC unroll 9
        for (int j = 0; j < side; ++j) store(plane + j * in_plane, t[j]);
      }
  }

  // ---- and out of them ----------------------------------------------------------------------------

  // Row i of the planes, of the tiles of a unit, to row i of lines[side, 4 count, L] of a vector of output channels.
  WRY_INLINE void out_of_planes(const Unit &u, int i, const float *from, float *lines) const {
    f32 m[side], o[4];
    lines += i * 4 * u.count * L;
    for (int64_t tile = 0; tile < u.count; ++tile, from += panel, lines += 4 * L) {
#pragma GCC unroll 9
      for (int j = 0; j < side; ++j) m[j] = load(from + j * out_plane);
      Way::output(m, o);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) store(lines + j * L, o[j]);
    }
  }

  // Then down the columns, in place: output channels [k, k + L).
  WRY_INLINE void finish_lines(const Unit &u, int64_t k, float *lines) const {
    const int64_t width = 4 * u.count;
    const f32 summand = load(bias + k);
    f32 m[side], o[4];
    for (int64_t x = 0; x < width; ++x, lines += L) {
#pragma GCC unroll 9
      for (int i = 0; i < side; ++i) m[i] = load(lines + i * width * L);
      Way::output(m, o);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) store(lines + i * width * L, o[i] + summand);
    }
  }

  WRY_INLINE void write_lines(const Unit &u, int64_t k, const float *lines) const {
    const int64_t channels = min_of(op.cout - k, L), n = min_of(4 * u.count, op.ow - 4 * u.x), end = min_of<int64_t>(4, op.oh - 4 * u.y);
    for (int64_t i = 0; i < end; ++i, lines += 4 * u.count * L) {
      const int64_t y = 4 * u.y + i, x = 4 * u.x;
      if (op.channels_last) {
        E *to = op.out + ((u.image * op.oh + y) * op.ow + x) * op.cout + k;
        for (int64_t j = 0; j < n; ++j) convert_run(to + j * op.cout, lines + j * L, channels);
      } else {
        transpose_block(lines, L, op.out + ((u.image * op.cout + k) * op.oh + y) * op.ow + x, op.oh * op.ow, n, channels);
      }
    }
  }

  // ---- all of it ----------------------------------------------------------------------------------

  void convolve(int64_t begin, int64_t end, float *in, float *out, float *lines, float *strip) const {
    int64_t count = 0;
    for (int64_t at = begin; at < end; ++at) {
      const Unit u = unit(at);
      const int64_t width = advance * (u.count - 1) + side;
      for (int64_t c = 0; c < cin; c += L) {
        read_strip(u, width, c, strip);
        into_planes(u, width, strip, in + count * cin + c);
      }
      count += u.count;
    }
    const int64_t values = 4 * side * L;  // of the lines of a tile
    for (int64_t j = 0; j < cout; j += panel) {
      const float *all = weight + j / panel * factors * weight_plane;
      for (int i = 0; i < side; ++i) {
        for (int v = 0; v < side; ++v) {
          const float *factor = all + (Way::factor(i) * line + Way::factor(v)) * weight_plane;
          for (int64_t c = 0; c < op.cin; c += chain)
            for (int64_t tile = 0; tile < count; tile += gemm_rows)
              gemm_tile<float, 2>(min_of<int64_t>(count - tile, gemm_rows), panel, min_of(op.cin - c, chain),
                                  in + (i * side + v) * in_plane + tile * cin + c, cin, 1, factor + c * panel, panel,
                                  out + v * out_plane + tile * panel, panel, {c > 0, nullptr, nullptr});
        }
        int64_t tile = 0;
        for (int64_t at = begin; at < end; ++at) {
          const Unit u = unit(at);
          for (int64_t k = 0; k < panel; k += L)
            out_of_planes(u, i, out + tile * panel + k, lines + (tile * panel / L + u.count * k / L) * values);
          tile += u.count;
        }
      }
      int64_t tile = 0;
      for (int64_t at = begin; at < end; ++at) {
        const Unit u = unit(at);
        for (int64_t k = 0; k < min_of(op.cout - j, panel); k += L) {
          float *mine = lines + (tile * panel / L + u.count * k / L) * values;
          finish_lines(u, j + k, mine);
          write_lines(u, j + k, mine);
        }
        tile += u.count;
      }
    }
  }

  // False when there is no memory.
  bool run(const wry_call *call) {
    const int64_t tasks = ceil_div(units, block);
    weight = workspace<float>(call, cout / panel * factors * weight_plane), bias = workspace<float>(call, cout);
    const int64_t lines = tiles * panel * 4 * side;
    Slices<float> slices(call, planes * in_plane + side * out_plane + lines + strip_values(), tasks);
    if (!weight || !bias || !slices.memory) return false;
    for (int64_t k = 0; k < cout; ++k) bias[k] = op.bias && k < op.cout ? op.bias[k] : 0.0f;
    transform_weights(call);
    parallel_tasks(call, tasks, [&](int64_t task) {
      float *in = slices.mine(), *out = in + planes * in_plane;
      float *to = out + side * out_plane;
      convolve(task * block, min_of(units, (task + 1) * block), in, out, to, to + lines);
    });
    return true;
  }
};

// False where a window is another one, or where it does not repay.
template <typename Way, typename E>
WRY_INLINE bool blocks_apply(const Correlation<E, float> &op) {
  constexpr int64_t step = Way::advance / 4, planes = Way::side * Way::side, factors = Way::factors * Way::factors;
  if (!square_window(op, step) || factors * op.cin * op.cout > (3 << 20)) return false;  // 12 MiB of weights pass by for each task
  // Products for a tile of 16 outputs, some of which may lie outside, against 9 for each output; and enough tiles to repay the
  // transform of the weight.
  const int64_t tiles = op.images * ceil_div(op.oh, 4) * ceil_div(op.ow, 4);
  return tiles >= 2 * planes / 9 && 9 * op.images * op.oh * op.ow * 4 >= 5 * planes * tiles;
}

}  // namespace winograd
}  // namespace WRY_NAMESPACE

#endif
