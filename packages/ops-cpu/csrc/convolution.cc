// Two-dimensional convolution, its transpose and its gradient for the weight.
//
// The forward pass and the transpose are both a Correlation (correlation.h): the transpose reads the
// taps backwards and, with strides, falls apart into one correlation for each remainder of the output
// position. A correlation is computed in the cheapest of these ways:
//
//   pairs.h       bfloat16 where its products come by twos
//   few.h         groups of few output channels, above all depthwise
//   winograd.h    3x3 windows with step 1 (16-bit floats, too) or 2 (winograd_blocks.h), 7 columns wide ones with step 2 of few channels (winograd_rows.h)
//   joined.h      a few small images with many channels
//   flat.h        small images and few output channels
//   below         everything else, as a matrix product whose left or right factor is never written
//                 out whole: a panel of it is gathered when its turn comes (an implicit im2col)
//
// Other 16 bit floats are computed in float32. Results do not depend on the number of threads.
#include "correlation.h"
#include "flat.h"
#include "images.h"
#include "joined.h"
#include "pairs.h"
#include "planes.h"
#include "winograd_blocks.h"
#include "winograd_rows.h"

namespace WRY_NAMESPACE {
namespace {

// ---- planes: [n, channels, h, w] ----------------------------------------------------------------

// A packed panel of B with room for one more vector: the inputs that outputs [p0, p0 + n) of a strip meet, in one row for
// each tap of each channel. Output (y, x), of rows of `ow`, meets value y * line + x of the strip from the row's offset on.
template <typename T>
void gather_panel(int64_t ow, int64_t line, const T *strip, const int64_t *offsets, int64_t p0, int64_t n, int64_t rows, T *out) {
  constexpr int64_t columns = gemm_columns<T>;
  struct {
    int64_t lane, at;
  } pieces[columns];
  int count = 0;
  for (int64_t lane = 0; lane < n; ++count) {
    const int64_t x = (p0 + lane) % ow;
    pieces[count] = {lane, (p0 + lane) / ow * line + x};
    lane += min_of<int64_t>(ow - x, lanes<T>);
  }
  if (n < columns) fill_zero(out, rows * columns);
  // What a piece writes beyond its end the next one overwrites, or the next row.
  for (int64_t row = 0; row < rows; ++row, out += columns)
    for (int i = 0; i < count; ++i) store(out + pieces[i].lane, load(strip + offsets[row] + pieces[i].at));
}

// A 1x1 window with step 1: the channels are the right factor as they lie.
template <typename T>
bool correlate_points(const wry_call *call, const Correlation<T> &op) {
  constexpr int64_t rows = gemm_rows, columns = gemm_columns<T>, width = lanes<T>;
  const int64_t k = op.cin, m = op.cout, outputs = op.ow, padded = rounded_up(m, rows);
  const int64_t panels = padded / rows;
  T *packed = workspace<T>(call, op.groups * padded * max_of<int64_t>(k, 1));  // [groups, cuts of k, panels]
  if (!packed) return false;
  parallel_for(call, op.groups * panels, max_of<int64_t>(1, 4096 / (rows * max_of<int64_t>(k, 1))), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t g = at / panels, i = at % panels * rows;
      for (int64_t k0 = 0; k0 < k; k0 += gemm_depth) {
        const int64_t steps = min_of(k - k0, gemm_depth);
        gemm_pack_rows(packed + (g * k + k0) * padded + i * steps, min_of(m - i, rows), steps,
                       Matrix<T>{op.weight + (g * m + i) * k + k0, k, 1});
      }
    }
  });
  // A task is some panels of one image and group: about 50 microseconds, to share the work evenly.
  const int64_t across = ceil_div(outputs, columns);
  const int64_t share = max_of<int64_t>(1, min_of(across, 3000000 / max_of<int64_t>(1, padded * k * columns)));
  const int64_t shares = ceil_div(across, share);
  parallel_tasks(call, op.images * op.groups * shares, [&](int64_t task) {
    alignas(64) T panel[gemm_depth * columns];
    const int64_t image = task / shares, g = image % op.groups, end = min_of(outputs, (task % shares + 1) * share * columns);
    T *out = op.out + image * m * outputs;
    Start<T> start;
    start.per_row = op.bias ? op.bias + g * m : nullptr;
    for (int64_t p = task % shares * share * columns; p < end; p += columns) {
      const int64_t n = min_of(outputs - p, columns);
      int64_t k0 = 0;
      do {  // at least once: without channels the output is the bias
        const int64_t steps = min_of(k - k0, gemm_depth);
        const T *at = op.in + (image * k + k0) * outputs + p;
        T *to = panel;
        for (int64_t row = 0; row < steps; ++row, at += outputs, to += columns) {
          // The next panel's: a few bytes from each of many planes is nothing that hardware foresees.
          __builtin_prefetch(at + columns, 0, 2);
          __builtin_prefetch(at + columns + width, 0, 2);
          if (n == columns) store(to, load(at)), store(to + width, load(at + width));
          else
            for (int64_t i = 0; i < columns; i += width) store(to + i, i < n ? load_partial(at + i, min_of(n - i, width)) : vec<T>{});
        }
        gemm_packed(m, n, steps, packed + (g * k + k0) * padded, panel, out + p, outputs,
                    k0 > 0 ? Start<T>{true, nullptr, nullptr} : start);
        k0 += gemm_depth;
      } while (k0 < k);
    }
  });
  return true;
}

template <typename T>
bool correlate_planes(const wry_call *call, const Correlation<T> &op) {
  constexpr int64_t rows = gemm_rows, columns = gemm_columns<T>;
  constexpr int64_t room = 192 * 1024 / int64_t(sizeof(T));  // of panels gathered at a time, in the second-level cache
  const int64_t taps = op.taps, k = op.cin * taps, m = op.cout, outputs = op.oh * op.ow;
  Strips s = strips_of(op, op.cin);
  const Cut cut = cut_of(call, op, s);
  const int64_t share = cut.rows * op.ow;  // outputs of one task
  s.plane = taps > 1 ? s.input_rows(cut.rows, op.step_y) * s.pitch : share;
  const int64_t line = taps > 1 ? s.pitch * op.step_y : op.ow;
  const int64_t panel_size = max_of<int64_t>(1, min_of(k, gemm_depth)) * columns;
  const int64_t gathered = max_of<int64_t>(1, min_of(ceil_div(share, columns), room / panel_size));
  const int64_t strip_size = rounded_up(s.plane * op.cin + 4 * lanes<T>, 16);
  const int64_t shares = ceil_div(op.oh, cut.rows), tall = rounded_up(ceil_div(m, cut.parts), rows);
  const int64_t tasks = op.images * op.groups * shares * cut.parts;
  int64_t *offsets = workspace<int64_t>(call, k + 1);
  Slices<T> slices(call, strip_size + gathered * panel_size + lanes<T>, tasks);
  if (!offsets || !slices.memory) return false;
  for (int64_t t = 0; t < taps; ++t) {
    const int64_t x = op.dx[t] - s.first_dx, y = op.dy[t] - s.first_dy;
    for (int64_t c = 0; c < op.cin; ++c)
      offsets[c * taps + t] = c * s.plane + y * s.pitch + x % op.step_x * s.columns + x / op.step_x;
  }
  // Rows of the weight that lie a multiple of 4 KiB apart fall into few sets of the caches.
  const bool scattered = k * int64_t(sizeof(T)) % 4096 == 0;
  parallel_tasks(call, tasks, [&](int64_t task) {
    T *const strip = slices.mine(), *const panels = strip + strip_size;
    alignas(64) T packed[gemm_rows * gemm_depth];
    const int64_t part = task % cut.parts, y0 = task / cut.parts % shares * cut.rows, y1 = min_of(op.oh, y0 + cut.rows);
    const int64_t image = task / cut.parts / shares, g = image % op.groups, count = (y1 - y0) * op.ow;
    const int64_t top = part * tall, bottom = min_of(m, top + tall);
    const T *in = op.in + image * op.cin * op.ih * op.iw;
    T *out = op.out + image * m * outputs + y0 * op.ow;
    for (int64_t c = 0; c < op.cin; ++c) copy_lines(op, s, in + c * op.ih * op.iw, y0, y1, strip + c * s.plane);
    fill_zero(strip + op.cin * s.plane, 4 * lanes<T>);
    Ahead<T> ahead = {in, op.ih * op.iw, 1, 0};
    if (y1 < op.oh) {
      const auto input_row = [&](int64_t y) { return max_of<int64_t>(0, min_of(op.ih, y)) * op.iw; };
      const int64_t first = input_row(y1 * op.step_y + s.first_dy);
      const int64_t last = input_row((min_of(op.oh, y1 + cut.rows) - 1) * op.step_y + s.first_dy + s.span_y + 1);
      ahead.from += first, ahead.run = ceil_div((last - first) * int64_t(sizeof(T)), 64), ahead.channels = op.cin;
    }
    const int64_t tiles = ceil_div(max_of<int64_t>(1, bottom - top), rows) * ceil_div(count, gathered * columns) * max_of<int64_t>(1, ceil_div(k, gemm_depth));
    const int64_t lines_ahead = ceil_div(ahead.channels * ahead.run, tiles);
    for (int64_t p0 = 0; p0 < count; p0 += gathered * columns) {
      const int64_t end = min_of(count, p0 + gathered * columns);
      int64_t k0 = 0;
      do {  // at least once: without taps the output is the bias
        const int64_t steps = min_of(k - k0, gemm_depth);
        for (int64_t p = p0; p < end; p += columns)
          gather_panel(op.ow, line, strip, offsets + k0, p, min_of(end - p, columns), steps, panels + (p - p0) / columns * panel_size);
        for (int64_t i = top; i < bottom; i += rows) {
          ahead.fetch(lines_ahead);
          Start<T> start = {k0 > 0, nullptr, nullptr};
          if (k0 == 0 && op.bias) start.per_row = op.bias + g * m + i;
          const int64_t height = min_of(bottom - i, rows);
          Matrix<T> weight = {op.weight + (g * m + i) * k + k0, k, 1};
          if (scattered) {
            gemm_pack_rows(packed, height, steps, weight);
            weight = {packed, 1, rows};
          }
          for (int64_t p = p0; p < end; p += columns) {
            const auto tile = end - p > lanes<T> ? gemm_tile<T, 2> : gemm_tile<T, 1>;
            tile(height, end - p, steps, weight.data, weight.row, weight.column, panels + (p - p0) / columns * panel_size,
                 columns, out + i * outputs + p, outputs, start);
          }
        }
        k0 += gemm_depth;
      } while (k0 < k);
    }
  });
  return true;
}

// ---- channels last: [n, h, w, channels] ---------------------------------------------------------

template <typename T>
bool correlate_channels_last(const wry_call *call, const Correlation<T> &op) {
  constexpr int64_t columns = gemm_columns<T>;
  constexpr int64_t tall = 4 * gemm_rows;  // outputs gathered at a time
  const int64_t k = op.taps * op.cin, m = op.cout, outputs = op.oh * op.ow, padded = rounded_up(m, columns);
  const int64_t in_channels = op.groups * op.cin, out_channels = op.groups * m, room = max_of<int64_t>(k, 1);
  T *reordered = workspace<T>(call, out_channels * room);     // [groups * m, taps, cin]
  T *packed = workspace<T>(call, op.groups * padded * room);  // [groups, cuts of k, panels]
  if (!reordered || !packed) return false;
  const int64_t panels = padded / columns;
  parallel_for(call, op.groups * panels, max_of<int64_t>(1, 4096 / (columns * room)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t g = at / panels, j = at % panels * columns, count = min_of(m - j, columns);
      for (int64_t o = g * m + j; o < g * m + j + count; ++o)
        for (int64_t t = 0; t < op.taps; ++t)
          for (int64_t c = 0; c < op.cin; ++c)
            reordered[(o * op.taps + t) * op.cin + c] = op.weight[(o * op.cin + c) * op.taps + t];
      for (int64_t k0 = 0; k0 < k; k0 += gemm_depth) {
        const int64_t steps = min_of(k - k0, gemm_depth);
        gemm_pack_columns(packed + (g * k + k0) * padded + j * steps, count, steps,
                          Matrix<T>{reordered + (g * m + j) * k + k0, 1, k});
      }
    }
  });
  const int64_t blocks = ceil_div(outputs, tall);
  parallel_tasks(call, op.images * op.groups * blocks, [&](int64_t task) {
    alignas(64) T gathered[tall * gemm_depth];
    const int64_t p0 = task % blocks * tall, count = min_of(outputs - p0, tall);
    const int64_t g = task / blocks % op.groups, n = task / blocks / op.groups;
    const T *image = op.in + n * op.ih * op.iw * in_channels + g * op.cin;
    T *out = op.out + (n * outputs + p0) * out_channels + g * m;
    Start<T> start;
    start.per_column = op.bias ? op.bias + g * m : nullptr;
    int64_t k0 = 0;
    do {
      const int64_t steps = min_of(k - k0, gemm_depth);
      for (int64_t r = 0; r < count; ++r) {
        const int64_t y = (p0 + r) / op.ow * op.step_y, x = (p0 + r) % op.ow * op.step_x;
        T *to = gathered + r * steps;
        for (int64_t at = k0; at < k0 + steps;) {
          const int64_t t = at / op.cin, c = at % op.cin, length = min_of(op.cin - c, k0 + steps - at);
          const int64_t iy = y + op.dy[t], ix = x + op.dx[t];
          if (iy < 0 || iy >= op.ih || ix < 0 || ix >= op.iw) fill_zero(to, length);
          else copy_run(to, image + (iy * op.iw + ix) * in_channels + c, length, 1);
          to += length, at += length;
        }
      }
      for (int64_t j = 0; j < m; j += columns)
        for (int64_t i = 0; i < count; i += gemm_rows)
          gemm_tile<T, 2>(min_of<int64_t>(count - i, gemm_rows), m - j, steps, gathered + i * steps, steps, 1,
                          packed + (g * k + k0) * padded + j * steps, columns, out + i * out_channels + j, out_channels,
                          k0 > 0 ? Start<T>{true, nullptr, nullptr} : start.at(i, j));
      k0 += gemm_depth;
    } while (k0 < k);
  });
  return true;
}

// Whether `correlate_floats` takes a way of winograd.h or winograd_blocks.h, which need no weight that is turned.
template <typename T>
bool by_winograd(const Correlation<T> &op) {
  if constexpr (std::is_same<T, float>::value) {
#if defined(WRY_AVX512)
    if (side_of(op)) return false;
#endif
    return winograd::blocks_apply<winograd::Step1>(op) || winograd::applies(op);
  } else {
    return false;
  }
}

// Whether every output meets the one input at its own place.
template <typename T>
bool is_pointwise(const Correlation<T> &op) {
  return op.taps == 1 && op.dy[0] == 0 && op.dx[0] == 0 && op.step_y == 1 && op.step_x == 1 && op.iw == op.ow && op.ih == op.oh;
}

template <typename T>
bool correlate_floats(const wry_call *call, const Correlation<T> &given) {
  Correlation<T> op = given;
  bool points = false;
  if (is_pointwise(op)) {
    // A 1x1 window keeps no neighbours apart: one long row has no ends to look after.
    op.iw = op.ow = op.oh * op.ow, op.ih = op.oh = 1;
    points = !op.channels_last;
  }
  if (op.channels_last && op.cin == 1 && op.cout == 1 && op.groups > 1) return depthwise_channels_last(call, op);
#if defined(WRY_AVX512) && !defined(WRY_ONLY_BFLOAT16)
  if constexpr (std::is_same<T, float>::value) {
    if (side_of(op)) return direct_planes(call, op);
  }
#endif
  if (!op.channels_last && op.cout <= 4 && (op.cin == 1 || op.ow >= lanes<T> / 2)) return few_planes(call, op);
  if (joined::applies(op)) return joined::run(call, op);
  if constexpr (std::is_same<T, float>::value) {
    if (winograd::Rows::applies(op)) return winograd::Rows(call, op).run(call);
    if (winograd::blocks_apply<winograd::Step1>(op)) return winograd::Blocks<winograd::Step1>(call, op).run(call);
    if (winograd::blocks_apply<winograd::Step2>(op)) return winograd::Blocks<winograd::Step2>(call, op).run(call);
    if (winograd::applies(op)) return winograd::run(call, op);
  }
  if (flat::applies(op, max_of<int64_t>(16, 2 * lanes<T>))) return flat::run(call, op);
  if (points) return correlate_points(call, op);
  return op.channels_last ? correlate_channels_last(call, op) : correlate_planes(call, op);
}

template <typename T>
bool correlate(const wry_call *call, const Correlation<T> &given) {
  if constexpr (in_pairs<T>) return pairs::run(call, given);
  else return correlate_floats(call, given);
}

// ---- the gradient for the weight ----------------------------------------------------------------

// C[gemm_rows, 2 vectors] += products of `height` lines of `length` positions. Row i of the left
// factor starts at rows[i] and steps on by `step`, from line to line by `jump`; the right one is a
// packed panel. C is added last: a chain through all positions of all images would lose digits.
template <typename T>
__attribute__((noinline)) void lines_tile(int64_t height, int64_t length, const T *const *rows, int64_t step,
                                          int64_t jump, const T *b, T *c, int64_t ldc) {
  constexpr int width = lanes<T>;
  vec<T> sum[gemm_rows][2] = {};
  const T *at[gemm_rows];
#pragma GCC unroll 16
  for (int i = 0; i < gemm_rows; ++i) at[i] = rows[i];
  const int64_t end = length * step;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < end; x += step, b += 2 * width) {
      const vec<T> b0 = load(b), b1 = load(b + width);
#pragma GCC unroll 16
      for (int i = 0; i < gemm_rows; ++i) {
        const T value = at[i][x];
        sum[i][0] += value * b0;
        sum[i][1] += value * b1;
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < gemm_rows; ++i) at[i] += jump;
  }
#pragma GCC unroll 16
  for (int i = 0; i < gemm_rows; ++i) {
    store(c + i * ldc, load(c + i * ldc) + sum[i][0]);
    store(c + i * ldc + width, load(c + i * ldc + width) + sum[i][1]);
  }
}

// The same for 1x1 windows that meet every input: for each image a product of cotangents and inputs, which both lie along what is summed.
// The side with fewer channels is packed, a stretch at a time for each task; the other is read where it lies. Small images share a stretch.
template <typename T>
bool points_weight(const wry_call *call, const Correlation<T> &op, T *weight_ct) {
  constexpr int64_t rows = gemm_rows, columns = gemm_columns<T>;
  const int64_t points = op.oh * op.ow, size = op.cout * op.cin;
  const bool turned = op.cout < op.cin;  // rows are inputs
  const int64_t m = turned ? op.cin : op.cout, n = turned ? op.cout : op.cin, tall = rounded_up(m, rows), padded = rounded_up(n, columns);
  const T *left = turned ? op.in : op.out, *right = turned ? op.out : op.in;
  const int64_t left_image = op.groups * m * points, right_image = op.groups * n * points;
  const bool direct = !turned && tall == m && padded == n;
  T *sums = direct ? weight_ct : workspace<T>(call, op.groups * tall * padded);
  if (!sums) return false;
  fill_zero(sums, op.groups * tall * padded);
  const int64_t together = max_of<int64_t>(1, gemm_depth / points);                                                // images
  const int64_t stretch = together > 1 ? points : rounded_up(ceil_div(points, ceil_div(points, gemm_depth)), 16);  // at most gemm_depth
  const Pieces cut = gemm_pieces(call, m, n, columns);
  parallel_tasks(call, op.groups * cut.down * cut.across, [&](int64_t task) {
    alignas(64) T panel[gemm_depth * columns];
    const int64_t g = task / (cut.down * cut.across), at = task % (cut.down * cut.across);
    const int64_t i0 = at % cut.down * cut.tall, i1 = min_of(m, i0 + cut.tall), j0 = at / cut.down * cut.wide, j1 = min_of(n, j0 + cut.wide);
    if (i0 >= i1) return;
    for (int64_t image = 0; image < op.images; image += together)
      for (int64_t p = 0; p < points; p += stretch) {
        const int64_t images = min_of(together, op.images - image), length = min_of(stretch, points - p);
        const T *a = left + image * left_image + g * m * points + p, *b = right + image * right_image + g * n * points + p;
        for (int64_t j = j0; j < j1; j += columns) {
          for (int64_t u = 0; u < images; ++u)
            gemm_pack_columns(panel + u * length * columns, min_of(n - j, columns), length, Matrix<T>{b + u * right_image + j * points, 1, points});
          for (int64_t i = i0; i < i1; i += rows) {
            const T *from[gemm_rows];
            for (int r = 0; r < gemm_rows; ++r) from[r] = a + min_of(i + r, m - 1) * points;  // the last repeats; its sums are not read
            lines_tile(images, length, from, 1, left_image, panel, sums + (g * tall + i) * padded + j, padded);
          }
        }
      }
  });
  if (direct) return true;
  for (int64_t g = 0; g < op.groups; ++g) {
    const T *from = sums + g * tall * padded;
    T *to = weight_ct + g * size;
    if (turned) transpose_block(from, padded, to, m, m, n);
    else
      for (int64_t i = 0; i < m; ++i) copy_run(to + i * n, from + i * padded, n, 1);
  }
  return true;
}

// weight_ct [groups * cout, cin, taps]. op.out is the cotangent of the output; op.weight is unused.
//
// For each image, the taps of a group (rows: which input they meet first) times the cotangents
// (columns: output channels), summed over the outputs. The left factor is read where it lies, in a
// copy of the image with its zero border; the right one is packed. In one piece: copying, packing and products share the sizes of the blocks.
template <typename T>
bool correlate_weight_floats(const wry_call *call, const Correlation<T> &op, T *weight_ct) {
  if (op.cin == 1 && op.groups > 1 && op.cout == 1)
    return op.channels_last ? depthwise_weight_channels_last(call, op, weight_ct)
                            : depthwise_weight_planes(call, op, weight_ct);
  if (joined::applies(op)) return joined::run_weight(call, op, weight_ct);
  if constexpr (std::is_same<T, float>::value) {
    if (winograd::applies(op)) return winograd::run_weight(call, op, weight_ct);
  }
  if (flat::applies_to_weight(op)) return flat::run_weight(call, op, weight_ct);
  if (is_pointwise(op) && !op.channels_last) return points_weight(call, op, weight_ct);
  constexpr int64_t rows = gemm_rows, columns = gemm_columns<T>;
  const int64_t k = op.cin * op.taps, m = op.cout, outputs = op.oh * op.ow, in_channels = op.groups * op.cin;
  const Strips reach = strips_of(op, 1);
  const int64_t height = reach.input_rows(op.oh, op.step_y), width = (op.ow - 1) * op.step_x + reach.span_x + 1;
  const int64_t row_blocks = ceil_div(k, rows), panels = ceil_div(m, columns), padded = panels * columns;
  // Some images at a time: threads wait for each other once for all of them.
  const int64_t image_size = in_channels * height * width, packed_size = op.groups * padded * outputs;
  const int64_t batch = max_of<int64_t>(1, min_of<int64_t>(op.images, (1 << 21) / (image_size + packed_size)));
  T *copies = workspace<T>(call, batch * image_size + 1);
  T *packed = workspace<T>(call, batch * packed_size);                   // [images, groups, panels, outputs, columns]
  T *sums = workspace<T>(call, op.groups * row_blocks * rows * padded);  // [groups, k, padded]
  int64_t *offsets = workspace<int64_t>(call, row_blocks * rows);
  if (!copies || !packed || !sums || !offsets) return false;
  fill_zero(sums, op.groups * row_blocks * rows * padded);

  // Positions in the copied image, whose (0, 0) is input (first_dy, first_dx).
  const int64_t along_x = op.channels_last ? in_channels : 1;
  const int64_t along_y = width * along_x, along_c = op.channels_last ? 1 : height * width;
  for (int64_t i = 0; i < row_blocks * rows; ++i) {
    const int64_t row = min_of(i, k - 1), c = row / op.taps, t = row % op.taps;  // the last repeats; it is not read
    offsets[i] = c * along_c + (op.dy[t] - reach.first_dy) * along_y + (op.dx[t] - reach.first_dx) * along_x;
  }
  int64_t x0, x1;
  valid_range(width, 1, reach.first_dx, op.iw, &x0, &x1);

  const int64_t lines = op.channels_last ? height : in_channels * height;  // of the copied image
  const int64_t line = op.channels_last ? width * in_channels : width;
  const int64_t unit = op.channels_last ? in_channels : 1;
  const int64_t stretch = 256, stretches = ceil_div(outputs, stretch);
  const int64_t cut = max_of<int64_t>(1, gemm_depth / op.ow);  // lines of outputs at a time
  // Tasks of some blocks of rows; the panel of a cut stays in the second-level cache meanwhile.
  const int64_t some = max_of<int64_t>(1, min_of<int64_t>(16, row_blocks * op.groups / 8));
  const int64_t tasks = ceil_div(row_blocks, some);
  for (int64_t n = 0; n < op.images; n += batch) {
    const int64_t images = min_of(batch, op.images - n);
    const T *from = op.in + n * in_channels * op.ih * op.iw, *ct = op.out + n * op.groups * m * outputs;
    parallel_for(call, images * lines, max_of<int64_t>(1, 16384 / line), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t c = at / height, y = at % height + reach.first_dy;  // c: of all images, with channels first
        T *to = copies + at * line;
        if (y < 0 || y >= op.ih) {
          fill_zero(to, line);
          continue;
        }
        fill_zero(to, x0 * unit);
        copy_run(to + x0 * unit, from + ((c * op.ih + y) * op.iw + x0 + reach.first_dx) * unit, (x1 - x0) * unit, 1);
        fill_zero(to + x1 * unit, (width - x1) * unit);
      }
    });
    parallel_for(call, images * op.groups * panels * stretches, 2, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t p = at % stretches * stretch, j = at / stretches % panels * columns, rest = at / stretches / panels;
        const int64_t g = rest % op.groups, image = rest / op.groups, channel = g * m + j;
        const T *cotangents = ct + image * op.groups * m * outputs;
        const Matrix<T> right = op.channels_last ? Matrix<T>{cotangents + p * op.groups * m + channel, op.groups * m, 1}
                                                 : Matrix<T>{cotangents + channel * outputs + p, 1, outputs};
        gemm_pack_columns(packed + image * packed_size + (g * padded + j) * outputs + p * columns, min_of(m - j, columns),
                          min_of(outputs - p, stretch), right);
      }
    });
    parallel_tasks(call, op.groups * tasks, [&](int64_t task) {
      const int64_t g = task / tasks, first = task % tasks * some, last = min_of(row_blocks, first + some);
      for (int64_t image = 0; image < images; ++image)
        for (int64_t y = 0; y < op.oh; y += cut)
          for (int64_t j = 0; j < padded; j += columns)
            for (int64_t block = first; block < last; ++block) {
              const T *at[gemm_rows];
              for (int i = 0; i < gemm_rows; ++i)
                at[i] = copies + image * image_size + g * op.cin * along_c + offsets[block * rows + i] + y * op.step_y * along_y;
              lines_tile(min_of(op.oh - y, cut), op.ow, at, op.step_x * along_x, op.step_y * along_y,
                         packed + image * packed_size + (g * padded + j) * outputs + y * op.ow * columns,
                         sums + (g * row_blocks + block) * rows * padded + j, padded);
            }
    });
  }
  constexpr int64_t side = 64;
  const int64_t down = ceil_div(k, side), across = ceil_div(m, side);
  parallel_for(call, op.groups * across * down, 16, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t i = at % down * side, j = at / down % across * side, g = at / down / across;
      transpose_block(sums + (g * row_blocks * rows + i) * padded + j, padded, weight_ct + (g * m + j) * k + i, k,
                      min_of(k - i, side), min_of(m - j, side));
    }
  });
  return true;
}

// ---- arguments ----------------------------------------------------------------------------------

// What convolutions of T read and write while they compute: floats, or pairs where there are products of these.
template <typename T>
using operand_t = std::conditional_t<in_pairs<T>, T, arithmetic_t<T>>;

int no_memory(const wry_call *call, const char *op) {
  const int64_t *s = output(call, 0)->shape;
  return fail(call, WRY_OUT_OF_MEMORY,
              "%s: out of scratch memory. Got none for a result of shape [%lld, %lld, %lld, %lld], expected room for the "
              "packed weight and an image. Use a smaller batch or image.",
              op, (long long)s[0], (long long)s[1], (long long)s[2], (long long)s[3]);
}

// What conv2d and the gradient of its weight begin with. x and y are images, weight [out, in / groups, kh, kw].
struct Windows {
  bool last;  // channels lie last
  Geometry in, to;
  Ints strides;
  int64_t groups, taps;
  int64_t *dy, *dx;  // of each tap; null where there is no memory

  Windows(const wry_call *call, const wry_tensor *x, const wry_tensor *y, const wry_tensor *weight)
      : last(attr_equals(call, 4, "NHWC")), in(geometry_of(x, last)), to(geometry_of(y, last)), strides(attr_ints(call, 0)), groups(attr_int(call, 3)), taps(weight->shape[2] * weight->shape[3]), dy(workspace<int64_t>(call, 2 * taps + 1)), dx(dy + taps) {
    const Ints paddings = attr_ints(call, 1), dilations = attr_ints(call, 2);
    const int64_t kw = weight->shape[3];
    for (int64_t t = 0; dy && t < taps; ++t) {
      dy[t] = t / kw * dilations[0] - paddings[0];
      dx[t] = t % kw * dilations[1] - paddings[2];
    }
  }
  template <typename A, typename W = A>
  Correlation<A, W> correlation(const A *x, const W *weight, const W *bias, A *y) const {
    // A step that leads to no second output may be of any size: 2^62 times the length of a row is no place in memory.
    const int64_t step_y = to.h > 1 ? strides[0] : min_of(strides[0], max_of<int64_t>(in.h, 8));
    const int64_t step_x = to.w > 1 ? strides[1] : min_of(strides[1], max_of<int64_t>(in.w, 8));
    // Columns are rows in memory, and rows are what loops run along.
    if (in.w == 1 && to.w == 1)
      return {in.n, groups, in.channels / groups, to.channels / groups, 1, in.h, 1, to.h,
              step_x, step_y, taps, dx, dy, x, weight, bias, y, last};
    return {in.n, groups, in.channels / groups, to.channels / groups, in.h, in.w, to.h, to.w,
            step_y, step_x, taps, dy, dx, x, weight, bias, y, last};
  }
};

// ---- kernels: contiguous inputs and output, none of which overlap -------------------------------

// x, weight [out, in / groups, kh, kw], bias [out] or absent.
template <typename T, typename A>
int conv2d_in(const wry_call *call, const Windows &windows) {
  const wry_tensor *out = output(call, 0), *weight = input(call, 1);
  bool failed = false;
  A *result = result_for<T, A>(call, out);
  const A *x = as_arithmetic<T, A>(call, input(call, 0), &failed), *w = as_arithmetic<T, A>(call, weight, &failed);
  const A *bias = as_arithmetic<T, A>(call, input(call, 2), &failed);
  if (failed || !result) return no_memory(call, "conv2d");
  if (!correlate(call, windows.correlation<A>(x, w, bias, result))) return no_memory(call, "conv2d");
  deliver<T>(call, result, out);
  return WRY_OK;
}

// Whether 16-bit images go through minimal filtering. Its factors and sums are floats, and a quarter of the products as floats is less work
// than all of them in pairs. `joined.h` comes first, as for floats.
template <typename T>
bool halves_filtered(const Correlation<T, float> &op) {
  // Not where the transformed weight passes by more slowly, or where a third of a panel is empty.
  if (in_pairs<T> && (36 * op.cin * op.cout > 1 << 20 || 3 * rounded_up(op.cout, gemm_columns<float>) > 4 * op.cout)) return false;
  if (!op.channels_last && joined::applies(op.images * op.oh * op.ow, true, op.cin, op.cout, op.taps)) return false;
  return winograd::blocks_apply<winograd::Step1>(op);
}

// The rest of a call for which that holds: the weight and the bias become floats, images tile by tile.
template <typename T>
int filter_halves(const wry_call *call, const char *name, Correlation<T, float> *op, const wry_tensor *weight, const wry_tensor *bias) {
  bool failed = false;
  op->weight = as_arithmetic<T>(call, weight, &failed), op->bias = as_arithmetic<T>(call, bias, &failed);
  return !failed && winograd::Blocks<winograd::Step1, T>(call, *op).run(call) ? WRY_OK : no_memory(call, name);
}

template <typename T>
int conv2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Windows windows(call, x, out, weight);
  if (!windows.dy) return no_memory(call, "conv2d");
  if constexpr (sizeof(T) == 2) {
    Correlation<T, float> op = windows.correlation<T, float>(data<T>(x), nullptr, nullptr, data<T>(out));
    if (halves_filtered(op)) return filter_halves(call, "conv2d", &op, weight, input(call, 2));
  }
  const int64_t cout = weight->shape[0] / attr_int(call, 3);
  if (pairs::applies<T>(weight, weight->shape[1], cout, attr_ints(call, 0), attr_ints(call, 2), attr_equals(call, 4, "NHWC"), 2))
    return conv2d_in<T, operand_t<T>>(call, windows);
  return conv2d_in<T, arithmetic_t<T>>(call, windows);
}

// The taps that reach outputs of remainder r along one axis: input = position + offset.
WRY_INLINE int64_t taps_of_remainder(int64_t size, int64_t stride, int64_t padding, int64_t dilation, int64_t r,
                                     int64_t *index, int64_t *offset) {
  int64_t count = 0;
  for (int64_t i = size - 1; i >= 0; --i) {  // backwards, so that offsets ascend
    const int64_t from = r + padding - i * dilation;
    if (from % stride != 0) continue;
    index[count] = i;
    offset[count++] = from / stride;
  }
  return count;
}

// A call whose scratch memory can be used over and over, for the parts of one kernel that run one
// after another. The first part should be the largest.
struct RepeatedCall {
  wry_context context;  // first: `take` finds the rest from it
  wry_call call;
  wry_context *given;
  void *blocks[16];
  size_t sizes[16];
  int count = 0, used = 0;

  explicit RepeatedCall(const wry_call *original) : context(*original->context), call(*original), given(original->context) {
    context.workspace = take;
    call.context = &context;
  }

  static void *take(wry_context *context, size_t bytes) {
    RepeatedCall *self = reinterpret_cast<RepeatedCall *>(context);
    const int at = self->used++;
    if (at >= 16) return nullptr;
    if (at == self->count || self->sizes[at] < bytes) {
      self->sizes[at] = bytes + bytes / 4 + 4096;  // the parts differ a little in size
      self->blocks[at] = self->given->workspace(self->given, self->sizes[at]);
      if (at == self->count) ++self->count;
    }
    return self->blocks[at];
  }
};

// The remainder that the most taps reach along one axis.
WRY_INLINE int64_t fullest_remainder(int64_t size, int64_t stride, int64_t padding, int64_t dilation, int64_t outputs,
                                     int64_t *index, int64_t *offset) {
  int64_t best = 0, most = -1;
  for (int64_t r = 0; r < min_of(stride, outputs); ++r) {
    const int64_t count = taps_of_remainder(size, stride, padding, dilation, r, index, offset);
    if (count > most) best = r, most = count;
  }
  return best;
}

// Windows [cin, cout, taps] of each group as a correlation has them: to[groups * cout, cin, n], with value `index[t]` of a window as
// its tap t. By blocks, so that what is read of a line, and what is written to one, lies side by side; what the next block reads is fetched
// meanwhile (2.4 million weights from memory: 0.54 ms of one thread, 0.79 row by row, 1.4 by blocks without it).
template <typename T>
void turn_windows(const wry_call *call, const T *from, int64_t groups, int64_t cin, int64_t cout, int64_t taps, const int64_t *index,
                  int64_t n, T *to) {
  constexpr int64_t side = 16;
  bool reversed = n == 9 && taps == 9;  // of the window that most convolutions have: a loop of known length
  for (int64_t t = 0; t < n; ++t) reversed = reversed && index[t] == taps - 1 - t;
  const int64_t down = ceil_div(cin, side), across = ceil_div(cout, side);
  parallel_for(call, groups * across * down, max_of<int64_t>(1, 4096 / (side * side * max_of<int64_t>(n, 1))), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t c0 = at % down * side, o0 = at / down % across * side, g = at / down / across;
      const int64_t line = 64 / int64_t(sizeof(T)), right = min_of(cout, o0 + side);
      for (int64_t c = c0; c < min_of(cin, c0 + side); ++c) {
        const T *const below = from + ((g * cin + min_of(cin - 1, c + side)) * cout + o0) * taps;
        for (int64_t i = 0; i < (right - o0) * taps; i += line) __builtin_prefetch(below + i);
        for (int64_t o = o0; o < right; ++o) {
          const T *WRY_RESTRICT window = from + ((g * cin + c) * cout + o) * taps;
          T *WRY_RESTRICT turned = to + ((g * cout + o) * cin + c) * n;
          if (reversed)
            for (int t = 0; t < 9; ++t) turned[t] = window[8 - t];
          else
            for (int64_t t = 0; t < n; ++t) turned[t] = window[index[t]];
        }
      }
    }
  });
}

// The transpose of a convolution: x, weight [in, out / groups, kh, kw], bias [out] or null. Output y
// meets input (y + padding - i * dilation) / stride through tap i, where that is a whole number:
// outputs of one remainder by the stride are a correlation with the taps that fit.
template <typename T, typename A>
int transpose_convolution_in(const wry_call *call, const char *name, const wry_tensor *bias_tensor, bool last) {
  const wry_tensor *out = output(call, 0), *weight = input(call, 1);
  if (out->size == 0) return WRY_OK;
  const Geometry in = geometry_of(input(call, 0), last), to = geometry_of(out, last);
  const Ints strides = attr_ints(call, 0), paddings = attr_ints(call, 1), dilations = attr_ints(call, 2);
  const int64_t groups = attr_int(call, 3), kh = weight->shape[2], kw = weight->shape[3], taps = kh * kw;
  const int64_t cin = in.channels / groups, cout = to.channels / groups, sy = strides[0], sx = strides[1];
  const bool whole = sy == 1 && sx == 1;
  if constexpr (!in_pairs<A>) {
    if (!last && groups == 1 && joined::applies(in.n * in.h * in.w, whole && taps == 9, cin, cout, taps)) {
      bool lacking = false;
      A *sums = result_for<T, A>(call, out);
      const A *from = as_arithmetic<T, A>(call, input(call, 0), &lacking), *by = as_arithmetic<T, A>(call, weight, &lacking);
      const A *plus = as_arithmetic<T, A>(call, bias_tensor, &lacking);
      const joined::Back sizes = {in.n, cin, in.h, in.w, cout, to.h, to.w, kh, kw, sy, sx, paddings[0], paddings[2], dilations[0], dilations[1]};
      if (lacking || !sums || !joined::run_back(call, sizes, from, by, plus, sums)) return no_memory(call, name);
      deliver<T>(call, sums, out);
      return WRY_OK;
    }
  }
  int64_t *dy = workspace<int64_t>(call, 3 * taps + 2 * (kh + kw) + 1), *dx = dy + taps, *index = dx + taps;
  int64_t *iy = index + taps, *oy = iy + kh, *ix = oy + kh, *ox = ix + kw;
  bool failed = !dy;
  A *result = result_for<T, A>(call, out);
  const A *x = as_arithmetic<T, A>(call, input(call, 0), &failed), *w = as_arithmetic<T, A>(call, weight, &failed);
  const A *bias = as_arithmetic<T, A>(call, bias_tensor, &failed);
  A *turned = workspace<A>(call, groups * cout * cin * taps + 1);  // [groups * cout, cin, taps]
  // The outputs of one remainder along y, those of each remainder along x by themselves.
  const int64_t part_size = in.n * to.channels * ceil_div(to.h, sy) * ceil_div(to.w, sx);
  A *parts_x = whole ? nullptr : workspace<A>(call, part_size * min_of(sx, to.w));
  // Outputs that no tap reaches are zeros: whole rows of them are written at once, and the others come from a row of zeros.
  const int64_t remainders_y = min_of(sy, to.h), remainders_x = min_of(sx, to.w), zero_count = ceil_div(to.w, sx) * (last ? to.channels : 1);
  A *zeros = whole || bias ? nullptr : workspace<A>(call, zero_count);
  bool *reached = workspace<bool>(call, remainders_x);
  if (failed || !result || !turned || !reached || (!whole && (!parts_x || (!bias && !zeros)))) return no_memory(call, name);
  if (zeros) fill_zero(zeros, zero_count);
  RepeatedCall parts(call);
  const int64_t first_y = fullest_remainder(kh, sy, paddings[0], dilations[0], to.h, iy, oy);
  const int64_t first_x = fullest_remainder(kw, sx, paddings[2], dilations[1], to.w, ix, ox);
  for (int64_t v = 0; v < remainders_y; ++v)
    for (int64_t u = 0; u < remainders_x; ++u) {
      const int64_t ry = (first_y + v) % remainders_y, rx = (first_x + u) % remainders_x;
      const int64_t ny = taps_of_remainder(kh, sy, paddings[0], dilations[0], ry, iy, oy);
      const int64_t nx = taps_of_remainder(kw, sx, paddings[2], dilations[1], rx, ix, ox);
      for (int64_t t = 0; t < ny * nx; ++t) dy[t] = oy[t / nx], dx[t] = ox[t % nx], index[t] = iy[t / nx] * kw + ix[t % nx];
      const int64_t ph = ceil_div(to.h - ry, sy), pw = ceil_div(to.w - rx, sx);
      const int64_t unit = last ? to.channels : 1, planes = last ? in.n : in.n * to.channels;
      const auto row_of = [&, ry](int64_t at) { return result + (at / ph * to.h + at % ph * sy + ry) * to.w * unit; };
      if (zeros && ny == 0) {
        if (u == 0)
          parallel_for(call, planes * ph, max_of<int64_t>(1, 16384 / (to.w * unit)), [&](int64_t begin, int64_t end) {
            for (int64_t at = begin; at < end; ++at) fill_zero(row_of(at), to.w * unit);
          });
        continue;
      }
      reached[rx] = !zeros || nx > 0;
      if (reached[rx]) {
        Correlation<A> op = {in.n, groups, cin, cout, in.h, in.w, ph, pw, 1, 1, ny * nx, dy, dx,
                             x, turned, bias, whole ? result : parts_x + rx * part_size, last};
        if (by_winograd(op)) op.weight = w, op.backwards = true;  // which puts them in an order of its own
        else turn_windows(call, w, groups, cin, cout, taps, index, ny * nx, turned);
        parts.used = 0;
        if (!correlate(&parts.call, op)) return no_memory(call, name);
      }
      if (whole || u + 1 < remainders_x) continue;
      parallel_for(call, planes * ph, max_of<int64_t>(1, 16384 / (to.w * unit)), [&](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end; ++at) {
          A *row = row_of(at);
          const auto part_of = [&](int64_t r) { return reached[r] ? parts_x + r * part_size + at * ceil_div(to.w - r, sx) * unit : zeros; };
          if (unit == 1 && sx == 2 && to.w > 1) {
            interleave(row, part_of(0), part_of(1), to.w);
            continue;
          }
          for (int64_t r = 0; r < remainders_x; ++r) {
            const int64_t n = ceil_div(to.w - r, sx);
            const A *from = part_of(r);
            if (unit == 1)
              for (int64_t i = 0; i < n; ++i) row[r + i * sx] = from[i];
            else
              for (int64_t i = 0; i < n; ++i) copy_run(row + (r + i * sx) * unit, from + i * unit, unit, 1);
          }
        }
      });
    }
  deliver<T>(call, result, out);
  return WRY_OK;
}

template <typename T>
int transpose_convolution(const wry_call *call, const char *name, const wry_tensor *bias, bool last) {
  const wry_tensor *weight = input(call, 1);
  const int64_t cin = weight->shape[0] / attr_int(call, 3);
  if constexpr (sizeof(T) == 2) {
    const Ints strides = attr_ints(call, 0), paddings = attr_ints(call, 1), dilations = attr_ints(call, 2);
    const wry_tensor *out = output(call, 0);
    if (out->size > 0 && strides[0] == 1 && strides[1] == 1 && weight->shape[2] == 3 && weight->shape[3] == 3) {
      const Geometry in = geometry_of(input(call, 0), last), to = geometry_of(out, last);
      int64_t dy[9], dx[9];
      for (int64_t t = 0; t < 9; ++t) dy[t] = paddings[0] + (t / 3 - 2) * dilations[0], dx[t] = paddings[2] + (t % 3 - 2) * dilations[1];
      Correlation<T, float> op = {in.n, attr_int(call, 3), cin, weight->shape[1], in.h, in.w, to.h, to.w, 1, 1, 9, dy, dx,
                                  data<T>(input(call, 0)), nullptr, nullptr, data<T>(out), last, true};
      if (halves_filtered(op)) return filter_halves(call, name, &op, weight, bias);
    }
  }
  if (pairs::applies<T>(weight, cin, weight->shape[1], attr_ints(call, 0), attr_ints(call, 2), last, 1))
    return transpose_convolution_in<T, operand_t<T>>(call, name, bias, last);
  return transpose_convolution_in<T, arithmetic_t<T>>(call, name, bias, last);
}

template <typename T>
int conv2d_transpose(const wry_call *call) {
  return transpose_convolution<T>(call, "conv2d_transpose", input(call, 2), attr_equals(call, 5, "NHWC"));
}

// ct (of the output), weight, like (only its shape, which is that of the result).
template <typename T>
int conv2d_input_vjp(const wry_call *call) {
  return transpose_convolution<T>(call, "conv2d_input_vjp", nullptr, attr_equals(call, 4, "NHWC"));
}

// ct (of the output), x, weight (only its shape).
template <typename T, typename A>
int conv2d_weight_vjp_in(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Windows windows(call, input(call, 1), ct, out);
  bool failed = !windows.dy;
  arithmetic_t<T> *result = result_for<T>(call, out);
  const A *g = as_arithmetic<T, A>(call, ct, &failed), *x = as_arithmetic<T, A>(call, input(call, 1), &failed);
  if (failed || !result) return no_memory(call, "conv2d_weight_vjp");
  if (ct->size == 0 || input(call, 1)->size == 0) {
    fill_zero(result, out->size);
    deliver<T>(call, result, out);
    return WRY_OK;
  }
  const auto correlate_weight = [](const auto &...given) {
    if constexpr (in_pairs<A>) return pairs::run_weight(given...);
    else return correlate_weight_floats(given...);
  };
  if (!correlate_weight(call, windows.correlation<A, A>(x, nullptr, nullptr, const_cast<A *>(g)), result)) return no_memory(call, "conv2d_weight_vjp");
  deliver<T>(call, result, out);
  return WRY_OK;
}

template <typename T>
int conv2d_weight_vjp(const wry_call *call) {
  const int64_t *shape = output(call, 0)->shape, groups = attr_int(call, 3);
  if (pairs::applies_to_weight<T>(shape[1], shape[0] / groups, groups, attr_equals(call, 4, "NHWC")))
    return conv2d_weight_vjp_in<T, operand_t<T>>(call);
  return conv2d_weight_vjp_in<T, arithmetic_t<T>>(call);
}

#include <wherry/kernels/rows/convolution.h>

}  // namespace
WRY_TABLE(convolution, table)

}  // namespace WRY_NAMESPACE
