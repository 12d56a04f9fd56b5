// Convolution of bfloat16 planes by products of pairs (AVX512-BF16's vdpbf16ps), forward and for the weight.
//
// Nothing is widened. Two neighbours along the sum, taps of the window as the weight holds them or positions of a row for its
// gradient, are one word of 32 bits: a word of the left factor goes to all lanes, and a panel of the right one holds the words of 32
// columns. Sums are floats from the first step to the last and are rounded once. Numbers below the normal ones count as zero.
//
// It does not do channels that come last, groups of few outputs (few.h) or Winograd's filtering, whose factors need more digits
// (winograd_blocks.h does it with floats, where it is less work).
#ifndef WHERRY_OPS_CPU_PAIRS_H
#define WHERRY_OPS_CPU_PAIRS_H

#include "half.h"
#include "planes.h"

namespace WRY_NAMESPACE {
namespace pairs {

#if defined(WRY_AVX512) && defined(__AVX512BF16__)

inline constexpr int64_t columns = gemm_columns<float>;

// ---- forward ------------------------------------------------------------------------------------

// out[i, 0 .. n) of `Rows` output channels, n <= 16 V. a: rows of words `a_row` values apart, from word to word `a_step`.
template <int Rows, int V>
__attribute__((noinline)) static void tile(int64_t n, int64_t count, const bfloat16 *WRY_RESTRICT a, int64_t a_row, int64_t a_step,
                                           const bfloat16 *WRY_RESTRICT b, bfloat16 *WRY_RESTRICT out, int64_t out_row,
                                           const bfloat16 *bias) {
  __m512 sum[Rows][V];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) sum[i][v] = _mm512_setzero_ps();
  for (int64_t p = 0; p < count; ++p, a += a_step, b += 2 * columns) {
    __m512bh row[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) row[v] = (__m512bh)_mm512_loadu_si512(b + v * 32);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      int32_t word;
      memcpy(&word, a + i * a_row, 4);
      const __m512bh x = (__m512bh)_mm512_set1_epi32(word);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sum[i][v] = _mm512_dpbf16_ps(sum[i][v], x, row[v]);
    }
  }
  const __mmask32 mask = first_words(n);
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    const __m512 start = _mm512_set1_ps(bias ? float(bias[i]) : 0.0f);
    const __m512 low = _mm512_add_ps(sum[i][0], start), high = _mm512_add_ps(sum[i][V - 1], start);
    _mm512_mask_storeu_epi16(out + i * out_row, mask, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
}

// Neighbours in a row of outputs: from lane `lane` of a panel on, beginning at value `at` of a strip.
struct Piece {
  int64_t lane, at;
  bool both;  // more than a vector
};

template <int Count>
__attribute__((noinline)) static void gather_pieces(int count, const Piece *pieces, const bfloat16 *strip, const int64_t *offsets, int64_t k,
                                                    bfloat16 *out) {
  Piece own[Count ? Count : 1];
  for (int i = 0; i < Count; ++i) own[i] = pieces[i];
  const auto row = [&](const bfloat16 *even, const bfloat16 *odd, bool last, const Piece &piece) {
    const __m512i a = _mm512_loadu_si512(even + piece.at), b = last ? _mm512_setzero_si512() : _mm512_loadu_si512(odd + piece.at);
    const Words words = words_of(a, b);
    _mm512_storeu_si512(out + 2 * piece.lane, words.low);
    if (piece.both) _mm512_storeu_si512(out + 2 * piece.lane + 32, words.high);
  };
  const auto rows = [&](int64_t q, bool last) {
    const bfloat16 *even = strip + offsets[q], *odd = strip + offsets[last ? q : q + 1];
    // What a piece writes beyond its end the next one overwrites, or the next row.
    if constexpr (Count > 0) {
#pragma GCC unroll 3
      for (int i = 0; i < Count; ++i) row(even, odd, last, own[i]);
    } else {
      for (int i = 0; i < count; ++i) row(even, odd, last, pieces[i]);
    }
    out += 2 * columns;
  };
  int64_t q = 0;
  for (; q + 2 <= k; q += 2) rows(q, false);
  if (q < k) rows(q, true);
}

// The inputs that outputs [p0, p0 + n) of a strip meet as words, in one row of the panel for each two of the k steps. As
// gather_panel reads them.
static void gather(int64_t ow, int64_t line, const bfloat16 *strip, const int64_t *offsets, int64_t p0, int64_t n, int64_t k,
                   bfloat16 *out) {
  Piece pieces[columns];
  int count = 0;
  for (int64_t lane = 0; lane < n; ++count) {
    const int64_t x = (p0 + lane) % ow, length = min_of(ow - x, n - lane);
    pieces[count] = {lane, (p0 + lane) / ow * line + x, length > 16};
    lane += length;
  }
  const auto f = count == 1 ? gather_pieces<1> : count == 2 ? gather_pieces<2>
                                             : count == 3   ? gather_pieces<3>
                                                            : gather_pieces<0>;
  f(count, pieces, strip, offsets, k, out);
}

// Where some values of a vector come from: the plane from `at` on.
struct Source {
  int64_t at;
  __mmask32 mask;
};

// Values of every so many rows of a panel, `jump` apart in the planes and `out_jump` here. Without `odd` the sources are words as they
// lie, 16 of them; else they are one half of each of 32 words.
template <int Count>
static void merge(int64_t count, const Source *sources, const Source *odd, const bfloat16 *from, int64_t jump, int64_t times, bfloat16 *out,
                  int64_t out_jump) {
  const auto values = [&](const Source *some) {
    __m512i all = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (int64_t i = 0; i < (Count ? Count : count); ++i) all = _mm512_mask_loadu_epi16(all, some[i].mask, from + some[i].at);
    return all;
  };
  if (odd) {
    for (; times > 0; --times, from += jump, out += out_jump) {
      const Words words = words_of(values(sources), values(odd));
      _mm512_storeu_si512(out, words.low), _mm512_storeu_si512(out + 32, words.high);
    }
  } else {
    for (; times > 0; --times, from += jump, out += out_jump) _mm512_storeu_si512(out, values(sources));
  }
}

// As `gather` for steps of 1 or 2 from one output to the next, from the planes themselves: masks keep out what is beside them. With a
// step of 2 a tap and its right neighbour are words as they lie. p0: of the image's outputs.
static void gather_planes(const Correlation<bfloat16> &op, const bfloat16 *in, int64_t p0, int64_t n, bfloat16 *out) {
  const int64_t plane = op.ih * op.iw, k = op.cin * op.taps, kinds = op.taps % 2 ? op.taps : op.taps / 2;  // of words; then they repeat
  const int64_t jump = (op.taps % 2 ? 2 : 1) * plane, out_jump = kinds * 2 * columns, shift = op.step_x - 1;
  const bool words = op.step_x == 2;
  const int64_t width = words ? 16 : 32, often = k / 2 / kinds, once = k / 2 % kinds;
  const int64_t xs[2] = {p0 % op.ow, (p0 + 16) % op.ow}, ys[2] = {p0 / op.ow, (p0 + 16) / op.ow};
  for (int64_t kind = 0; kind < min_of(kinds, ceil_div(k, 2)); ++kind)
    for (int64_t v = 0; v < columns; v += width) {
      Source sources[2][32];
      int64_t counts[2] = {0, 0};
      for (int64_t lane = v, x = xs[v > 0], y = ys[v > 0]; lane < min_of(n, v + width); ++y) {
        const int64_t length = min_of(op.ow - x, min_of(n, v + width) - lane), start = lane - v - x;
        for (int64_t q = 2 * kind, half = 0; half < 2 && q < k; ++q, ++half) {
          const int64_t c = q >= op.taps, t = q - c * op.taps, row = y * op.step_y + op.dy[t], dx = op.dx[t];
          const int64_t first = max_of(x, (shift - dx) >> shift), last = min_of(x + length, (op.iw - dx + shift) >> shift);
          if (row < 0 || row >= op.ih || first >= last) continue;
          const uint32_t inside = first_words(start + last) & ~first_words(start + first);
          const int64_t at = c * plane + row * op.iw + dx - op.step_x * start;
          if (!words) {
            sources[half][counts[half]++] = {at, inside};
            continue;
          }
          const Source source = {at - half, _pdep_u32(inside, 0x55555555) << half};
          if (half && counts[0] && sources[0][counts[0] - 1].at == source.at) sources[0][counts[0] - 1].mask |= source.mask;
          else sources[0][counts[0]++] = source;
        }
        lane += length, x = 0;
      }
      while (!words && counts[0] != counts[1]) sources[counts[0] > counts[1]][min_of(counts[0], counts[1])] = {0, 0}, ++counts[counts[0] > counts[1]];
      const Source *const odd = words ? nullptr : sources[1];
      const int64_t count = counts[0], times = often + (kind < once);
      bfloat16 *const to = out + kind * 2 * columns + 2 * v;
      const auto f = count == 1 ? merge<1> : count == 2 ? merge<2>
                                         : count == 3   ? merge<3>
                                         : count == 4   ? merge<4>
                                                        : merge<0>;
      f(count, sources[0], odd, in, jump, times, to, out_jump);
      if (k % 2 && kind == once) {  // the last word has one tap
        for (int64_t i = 0; i < count; ++i) sources[0][i].mask &= words ? 0x55555555 : ~0u, sources[1][i].mask = 0;
        merge<0>(count, sources[0], odd, in + times * jump, 0, 1, to + times * out_jump, 0);
      }
    }
}

// The same for a 1x1 window with step 1: n values of each of k planes.
static void gather_points(const bfloat16 *from, int64_t plane, int64_t n, int64_t k, bfloat16 *out) {
  const __mmask32 mask = first_words(n);
  for (int64_t q = 0; q < k; q += 2, from += 2 * plane, out += 2 * columns) {
    // The next panel's: a few bytes from each of many planes is nothing that hardware foresees.
    __builtin_prefetch(from + columns, 0, 2), __builtin_prefetch(from + plane + columns, 0, 2);
    const __m512i a = _mm512_maskz_loadu_epi16(mask, from);
    const __m512i b = q + 1 < k ? _mm512_maskz_loadu_epi16(mask, from + plane) : _mm512_setzero_si512();
    const Words words = words_of(a, b);
    _mm512_storeu_si512(out, words.low);
    _mm512_storeu_si512(out + 32, words.high);
  }
}

// The weight as the tile reads it: where it lies (rows 4 KiB apart are no slower than a copy), or by panels of gemm_rows rows.
struct Left {
  const bfloat16 *data;
  int64_t panel, row, step;  // values from panel to panel, row to row, word to word
  bool failed;
};
inline Left left_of(const wry_call *call, const Correlation<bfloat16> &op) {
  const int64_t k = op.cin * op.taps;
  if (k % 2 == 0) return {op.weight, gemm_rows * k, k, 2, false};  // an odd row ends in half a word
  const int64_t words = ceil_div(k, 2), panels = ceil_div(op.cout, gemm_rows);
  bfloat16 *packed = workspace<bfloat16>(call, op.groups * panels * gemm_rows * 2 * words + 1);
  if (!packed) return {nullptr, 0, 0, 0, true};
  parallel_for(call, op.groups * panels, max_of<int64_t>(1, 4096 / (gemm_rows * max_of<int64_t>(k, 1))), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t first = at % panels * gemm_rows, count = min_of<int64_t>(gemm_rows, op.cout - first);
      pack_rows_of_pairs(packed + at * gemm_rows * 2 * words, count, k, {op.weight + (at / panels * op.cout + first) * k, k, 1});
    }
  });
  return {packed, gemm_rows * 2 * words, 2, 2 * gemm_rows, false};
}

// False when there is no memory.
inline bool run(const wry_call *call, const Correlation<bfloat16> &given) {
  if (side_of(given)) return direct_planes(call, given);
  Correlation<bfloat16> op = given;
  // A 1x1 window keeps no neighbours apart: one long row has no ends to look after, and planes are read where they lie.
  const bool points = op.taps == 1 && op.dy[0] == 0 && op.dx[0] == 0 && op.step_y == 1 && op.step_x == 1 && op.iw == op.ow && op.ih == op.oh;
  // Panels come from the planes themselves where enough channels repay what is worked out for each panel. Planes that are multiples of
  // 4 KiB fall into few sets of the caches, which costs more than copies where each value is read more often.
  const bool direct = !points && op.cin >= 32 && (op.step_x == 2 || (op.step_x == 1 && op.ih * op.iw % 2048 != 0));
  const int64_t k = op.cin * op.taps, m = op.cout, outputs = op.oh * op.ow, words = ceil_div(k, 2), panel = words * 2 * columns;
  const int64_t room = 256 * 1024 / int64_t(sizeof(bfloat16));  // of panels, in the second-level cache
  Strips s = strips_of(op, op.cin);
  Cut cut;
  if (points) {
    op.ow = op.iw = columns, op.oh = op.ih = ceil_div(outputs, columns);  // rows of a task are panels
    const int64_t threads = threads_for(call, INT32_MAX), wanted = threads > 1 ? ceil_div(4 * threads, op.images * op.groups) : 1;
    const int64_t shares = max_of(ceil_div(op.oh, 32), min_of(wanted, op.oh));
    cut = {ceil_div(op.oh, shares), 1};
    const int64_t tasks = op.images * op.groups * ceil_div(op.oh, cut.rows);
    if (threads > 1 && tasks < 2 * threads) cut.parts = max_of<int64_t>(1, min_of(ceil_div(2 * threads, tasks), m / 64));
  } else {
    cut = cut_of(call, op, s);
  }
  const int64_t share = cut.rows * op.ow;  // outputs of one task
  s.plane = points || direct ? 0 : op.taps > 1 ? s.input_rows(cut.rows, op.step_y) * s.pitch
                                               : share;
  const int64_t line = op.taps > 1 ? s.pitch * op.step_y : op.ow;
  const int64_t gathered = max_of<int64_t>(1, min_of(ceil_div(share, columns), room / max_of<int64_t>(panel, 1)));
  const int64_t strip_size = rounded_up(s.plane * op.cin + 2 * columns, 32);
  const int64_t shares = ceil_div(op.oh, cut.rows), tall = rounded_up(ceil_div(m, cut.parts), gemm_rows);
  const int64_t tasks = op.images * op.groups * shares * cut.parts;
  const Left left = left_of(call, op);
  int64_t *offsets = workspace<int64_t>(call, k + 1);
  Slices<bfloat16> slices(call, strip_size + gathered * panel + 4 * columns, tasks);
  if (left.failed || !offsets || !slices.memory) return false;
  for (int64_t t = 0; t < op.taps && !points && !direct; ++t) {
    const int64_t x = op.dx[t] - s.first_dx, y = op.dy[t] - s.first_dy;
    for (int64_t c = 0; c < op.cin; ++c)
      offsets[c * op.taps + t] = c * s.plane + y * s.pitch + x % op.step_x * s.columns + x / op.step_x;
  }
  parallel_tasks(call, tasks, [&](int64_t task) {
    bfloat16 *const strip = slices.mine(), *const panels = strip + strip_size;
    const int64_t part = task % cut.parts, y0 = task / cut.parts % shares * cut.rows, y1 = min_of(op.oh, y0 + cut.rows);
    const int64_t image = task / cut.parts / shares, g = image % op.groups;
    const int64_t first = y0 * op.ow, count = min_of(y1 * op.ow, outputs) - first;
    const int64_t top = part * tall, bottom = min_of(m, top + tall);
    const bfloat16 *in = op.in + image * op.cin * (points ? outputs : op.ih * op.iw);
    bfloat16 *out = op.out + image * m * outputs + first;
    if (!points && !direct) {
      for (int64_t c = 0; c < op.cin; ++c) copy_lines(op, s, in + c * op.ih * op.iw, y0, y1, strip + c * s.plane);
      fill_zero(strip + op.cin * s.plane, 2 * columns);
    }
    Ahead<bfloat16> ahead = {op.in, op.ih * op.iw, 1, 0};
    if (!points && cut.parts == 1 && task + 1 < tasks) {
      const auto input_row = [&](int64_t y) { return max_of<int64_t>(0, min_of(op.ih, y)) * op.iw; };
      const int64_t next = (task + 1) % shares * cut.rows;
      const int64_t from = input_row(next * op.step_y + s.first_dy);
      const int64_t to = input_row((min_of(op.oh, next + cut.rows) - 1) * op.step_y + s.first_dy + s.span_y + 1);
      ahead.from += (task + 1) / shares * op.cin * op.ih * op.iw + from, ahead.run = max_of<int64_t>(1, ceil_div((to - from) * 2, 64));
      ahead.channels = op.cin;
    }
    const int64_t lines_ahead = ceil_div(ahead.channels * ahead.run, max_of<int64_t>(1, ceil_div(bottom - top, gemm_rows) * ceil_div(count, gathered * columns)));
    for (int64_t p0 = 0; p0 < count; p0 += gathered * columns) {
      const int64_t end = min_of(count, p0 + gathered * columns);
      for (int64_t p = p0; p < end; p += columns) {
        bfloat16 *to = panels + (p - p0) / columns * panel;
        if (points) gather_points(in + first + p, outputs, min_of(end - p, columns), k, to);
        else if (direct) gather_planes(op, in, first + p, min_of(end - p, columns), to);
        else gather(op.ow, line, strip, offsets, p, min_of(end - p, columns), k, to);
      }
      for (int64_t i = top; i < bottom; i += gemm_rows) {
        ahead.fetch(lines_ahead);
        const bfloat16 *weight = left.data + g * (left.row == k ? m * k : ceil_div(m, gemm_rows) * left.panel) + i / gemm_rows * left.panel;
        each_height(min_of<int64_t>(bottom - i, gemm_rows), [&](auto height, int64_t row) {
          constexpr int rows = decltype(height)::value;
          const bfloat16 *bias = op.bias ? op.bias + g * m + i + row : nullptr;
          for (int64_t p = p0; p < end; p += columns) {
            const auto f = end - p > 16 ? tile<rows, 2> : tile<rows, 1>;
            f(end - p, words, weight + row * left.row, left.row, left.step, panels + (p - p0) / columns * panel,
              out + (i + row) * outputs + p, outputs, bias);
          }
        });
      }
    }
  });
  return true;
}

// ---- the gradient for the weight ----------------------------------------------------------------

// sums[gemm_rows, 32] += products of `height` lines of `words` words. Row i of the left factor starts at rows[i] and moves by
// `jump` from line to line; the right one is a packed panel. The sums are added last: a chain through all positions of all
// images would lose digits.
__attribute__((noinline)) static void lines_tile(int64_t height, int64_t words, const bfloat16 *const *rows, int64_t jump,
                                                 const bfloat16 *b, float *sums, int64_t sums_row) {
  __m512 sum[gemm_rows][2];
  const bfloat16 *at[gemm_rows];
#pragma GCC unroll 16
  for (int i = 0; i < gemm_rows; ++i) at[i] = rows[i], sum[i][0] = sum[i][1] = _mm512_setzero_ps();
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < 2 * words; x += 2, b += 2 * columns) {
      const __m512bh b0 = (__m512bh)_mm512_loadu_si512(b), b1 = (__m512bh)_mm512_loadu_si512(b + 32);
#pragma GCC unroll 16
      for (int i = 0; i < gemm_rows; ++i) {
        int32_t word;
        memcpy(&word, at[i] + x, 4);
        const __m512bh value = (__m512bh)_mm512_set1_epi32(word);
        sum[i][0] = _mm512_dpbf16_ps(sum[i][0], value, b0);
        sum[i][1] = _mm512_dpbf16_ps(sum[i][1], value, b1);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < gemm_rows; ++i) at[i] += jump;
  }
#pragma GCC unroll 16
  for (int i = 0; i < gemm_rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      float *to = sums + i * sums_row + v * 16;
      _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sum[i][v]));
    }
}

// weight_ct [groups * cout, cin, taps] in floats. op.out is the cotangent of the output; op.weight is unused. As
// correlate_weight: taps (rows) times cotangents (columns), summed over the outputs by twos along a row. False when there is no memory.
inline bool run_weight(const wry_call *call, const Correlation<bfloat16> &op, float *weight_ct) {
  constexpr int64_t rows = gemm_rows;
  const int64_t k = op.cin * op.taps, m = op.cout, outputs = op.oh * op.ow, channels = op.groups * op.cin;
  Strips s = strips_of(op, 1);
  s.plane = s.input_rows(op.oh, op.step_y) * s.pitch;
  const int64_t row_blocks = ceil_div(k, rows), panels = ceil_div(m, columns), padded = panels * columns;
  const int64_t words = ceil_div(op.ow, 2), image_size = channels * s.plane, packed_size = op.groups * padded * op.oh * 2 * words;
  // Some images at a time: threads wait for each other once for all of them.
  const int64_t batch = max_of<int64_t>(1, min_of<int64_t>(op.images, (1 << 22) / (image_size + packed_size)));
  bfloat16 *copies = workspace<bfloat16>(call, batch * image_size + 2 * columns);
  bfloat16 *packed = workspace<bfloat16>(call, batch * packed_size);             // [images, groups, panels, oh, words, columns, 2]
  float *sums = workspace<float>(call, op.groups * row_blocks * rows * padded);  // [groups, k, padded]
  int64_t *offsets = workspace<int64_t>(call, row_blocks * rows);
  if (!copies || !packed || !sums || !offsets) return false;
  parallel_for(call, op.groups * row_blocks * rows * padded, 32768, [&](int64_t begin, int64_t end) { fill_zero(sums + begin, end - begin); });
  fill_zero(copies + batch * image_size, 2 * columns);
  for (int64_t i = 0; i < row_blocks * rows; ++i) {
    const int64_t row = min_of(i, k - 1), t = row % op.taps;  // the last repeats; it is not read
    const int64_t x = op.dx[t] - s.first_dx;
    offsets[i] = row / op.taps * s.plane + (op.dy[t] - s.first_dy) * s.pitch + x % op.step_x * s.columns + x / op.step_x;
  }
  const int64_t cut = max_of<int64_t>(1, half_depth<bfloat16> / op.ow);  // lines of outputs at a time: a panel of the first-level cache
  const int64_t cuts = ceil_div(op.oh, cut);
  int64_t task_blocks = min_of<int64_t>(16, row_blocks);
  while (task_blocks > 1 && op.groups * panels * ceil_div(row_blocks, task_blocks) < 16) task_blocks = (task_blocks + 1) / 2;
  const int64_t down = ceil_div(row_blocks, task_blocks);
  for (int64_t n = 0; n < op.images; n += batch) {
    const int64_t images = min_of(batch, op.images - n);
    parallel_for(call, images * channels, max_of<int64_t>(1, 32768 / s.plane), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        copy_strip(op, s, op.in + (n * channels + at) * op.ih * op.iw, 0, op.oh, copies + at * s.plane);
    });
    parallel_for(call, images * op.groups * panels * cuts, 2, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t y = at % cuts * cut, lines = min_of(cut, op.oh - y), j = at / cuts % panels * columns, image = at / cuts / panels;
        const bfloat16 *from = op.out + ((n * op.groups + image) * m + j) * outputs + y * op.ow;
        bfloat16 *to = packed + (image * padded + j) * op.oh * 2 * words + y * words * 2 * columns;
        const int64_t run = op.ow % 2 == 0 ? lines * op.ow : op.ow;  // whole words: lines need no ends
        for (int64_t i = 0; i < lines * op.ow; i += run, to += ceil_div(run, 2) * 2 * columns)
          pack_columns_of_pairs(to, min_of(m - j, columns), run, Matrix<bfloat16>{from + i, outputs, 1});
      }
    });
    parallel_tasks(call, op.groups * panels * down, [&](int64_t task) {
      const int64_t g = task / down / panels, j = task / down % panels * columns;
      const int64_t first = task % down * task_blocks, last = min_of(row_blocks, first + task_blocks);
      for (int64_t image = 0; image < images; ++image)
        for (int64_t y = 0; y < op.oh; y += cut)
          for (int64_t block = first; block < last; ++block) {
            const bfloat16 *at[rows];
            for (int i = 0; i < rows; ++i)
              at[i] = copies + (image * channels + g * op.cin) * s.plane + offsets[block * rows + i] + y * op.step_y * s.pitch;
            lines_tile(min_of(op.oh - y, cut), words, at, op.step_y * s.pitch,
                       packed + ((image * op.groups + g) * padded + j) * op.oh * 2 * words + y * words * 2 * columns,
                       sums + (g * row_blocks + block) * rows * padded + j, padded);
          }
    });
  }
  constexpr int64_t side = 64;
  const int64_t across = ceil_div(k, side), blocks = across * ceil_div(m, side);
  parallel_for(call, op.groups * blocks, 16, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t i = at % across * side, j = at % blocks / across * side, g = at / blocks;
      transpose_block(sums + (g * row_blocks * rows + i) * padded + j, padded, weight_ct + (g * m + j) * k + i, k, min_of(k - i, side), min_of(m - j, side));
    }
  });
  return true;
}

#else

template <typename T>  // nobody calls them: in_pairs is false
bool run(const wry_call *call, const Correlation<T> &op);
template <typename T>
bool run_weight(const wry_call *call, const Correlation<T> &op, float *weight_ct);

#endif

// Whether products of pairs compute this convolution or its transpose; so does few.h where squares of neighbours
// of single channels meet, with a step of at most `most_step`.
template <typename T>
WRY_INLINE bool applies(const wry_tensor *weight, int64_t cin, int64_t cout, const Ints &strides, const Ints &dilations, bool channels_last, int64_t most_step) {
  if (!in_pairs<T> || channels_last) return false;
  const int64_t side = weight->shape[2];
  const bool single = cin == 1 && cout == 1 && side == weight->shape[3] && (side == 3 || side == 5 || side == 7);
  return cout > 4 || (single && strides[0] == strides[1] && strides[0] <= (side < 7 ? most_step : 1) && dilations[0] == 1 && dilations[1] == 1);
}

// The same for the gradient of its weight.
template <typename T>
WRY_INLINE bool applies_to_weight(int64_t cin, int64_t cout, int64_t groups, bool channels_last) {
  return in_pairs<T> && !channels_last && !(cin == 1 && cout == 1 && groups > 1);
}

}  // namespace pairs
}  // namespace WRY_NAMESPACE

#endif
