// Products of whole inputs with packed weights, tile by tile: what the dense ops of quantized.cc have in common.
#ifndef WHERRY_OPS_CPU_DENSE8_H
#define WHERRY_OPS_CPU_DENSE8_H

#include "correlation.h"
#include "int8.h"
#include "parallel.h"

namespace WRY_NAMESPACE {

// The rows of a product are the places of `images` images of `lines` lines of `width`; of a matrix, those of a single line.
struct Dense {
  const Whole *in;
  int64_t image, line, apart;  // values from image to image, line to line, place to place
  int64_t images, lines, width;
  ByteRuns runs;
  const int8_t *weight;
  int64_t blocks;                                                            // of outputs
  int32_t zero;                                                              // what stands for zero in the inputs
  WRY_INLINE int64_t steps() const { return runs.count * runs.length / 4; }  // of one block
};

// Hands the sums of a tile over: finish(sums, apart, less, blocks, block, image, place, rows). Row i of a block's sums is at sums + i * apart; `less`, which
// may be null, is what zero added to each of the 16 outputs of each block.
template <int Rows, int Blocks, typename F>
WRY_INLINE void dense_lines(const Dense &d, const int32_t *less, int64_t block, int64_t image, int64_t line, int64_t count, int64_t begin,
                            int64_t width, F &&finish) {
  alignas(64) int32_t sums[2 * Rows * Blocks * out_block];
  const int64_t weight_block = d.steps() * step_bytes, in_line = (width + Rows - 1) / Rows, halves = in_line * count;
  const int8_t *weight = d.weight + block * weight_block;
  const auto column = [&](int64_t i) { return begin + min_of<int64_t>(i % in_line * Rows, width - Rows); };
  const auto start = [&](int64_t i) { return d.in + image * d.image + (line + i / in_line) * d.line + column(i) * d.apart; };
  const auto done = [&](int64_t i, const int32_t *from) {
    finish(from, int64_t(Blocks) * out_block, less, Blocks, block, image, (line + i / in_line) * d.width + column(i), int64_t(Rows));
  };
  int64_t i = 0;
  for (; i + 2 <= halves; i += 2) {
    byte_tile<Rows, 2, Blocks>(d.runs, start(i), start(i + 1), d.apart, weight, weight_block, sums);
    done(i, sums), done(i + 1, sums + Rows * Blocks * out_block);
  }
  if (i < halves) {
    byte_tile<Rows, 1, Blocks>(d.runs, start(i), start(i), d.apart, weight, weight_block, sums);
    done(i, sums);
  }
}

template <int Blocks, typename F>
WRY_INLINE void dense_block(const Dense &d, int64_t block, int64_t image, int64_t line, int64_t count, int64_t begin, int64_t width, F &&finish) {
  alignas(64) int32_t less[Blocks * out_block];
  if (d.zero)
    for (int b = 0; b < Blocks; ++b) {
      weight_sums(d.weight + (block + b) * d.steps() * step_bytes, d.steps(), less + b * out_block);
      for (int i = 0; i < out_block; ++i) less[b * out_block + i] = int32_t(uint32_t(less[b * out_block + i]) * uint32_t(d.zero));
    }
  // Halves of equal size: of 8 rows, four and four.
  const int64_t size = ceil_div(width, ceil_div(width, half));
  const auto with = [&](auto rows) {
    constexpr int n = decltype(rows)::value;
    if constexpr (n <= half)
      if (size == n) dense_lines<n, Blocks>(d, d.zero ? less : nullptr, block, image, line, count, begin, width, finish);
  };
  with(std::integral_constant<int, 1>()), with(std::integral_constant<int, 2>()), with(std::integral_constant<int, 3>());
  with(std::integral_constant<int, 4>()), with(std::integral_constant<int, 5>()), with(std::integral_constant<int, 6>());
  with(std::integral_constant<int, 7>());
}

template <typename F>
void multiply_dense(const wry_call *call, const Dense &d, F &&finish) {
  if (d.images * d.lines * d.width == 0) return;
  // A task's inputs stay in the second-level cache while the weights of some blocks pass by again and again.
  const bool one_line = d.lines == 1;
  const int64_t units = one_line ? d.width : d.lines, unit_values = max_of<int64_t>(1, one_line ? d.apart : d.line);
  const int64_t even = one_line ? 2 * half : 1;
  int64_t most = max_of<int64_t>(even, min_of(units, (int64_t(1) << 18) / int64_t(sizeof(Whole)) / unit_values));
  const int64_t threads = threads_for(call, INT32_MAX), pairs = ceil_div(d.blocks, blocks_at_once);
  // Threads share outputs rather than rows, so that each reads its part of the weights alone, unless there are few.
  int64_t groups = threads > 1 ? min_of(pairs, ceil_div(3 * threads, d.images * ceil_div(units, most))) : 1;
  if (threads > 1 && groups * d.images * ceil_div(units, most) < 2 * threads)
    most = max_of(even, min_of(most, ceil_div(units * d.images * groups, 3 * threads)));
  if (one_line && units > most) most = most / even * even;
  const int64_t cuts = ceil_div(units, most);
  parallel_tasks(call, d.images * cuts * groups, [&](int64_t task) {
    const int64_t group = task % groups, cut = task / groups % cuts, image = task / groups / cuts;
    const int64_t first = cut * most, here = min_of(most, units - first), last_block = min_of(d.blocks, pairs * (group + 1) / groups * blocks_at_once);
    const int64_t line = one_line ? 0 : first, count = one_line ? 1 : here, begin = one_line ? first : 0, width = one_line ? here : d.width;
    int64_t b = pairs * group / groups * blocks_at_once;
    for (; b + blocks_at_once <= last_block; b += blocks_at_once)
      dense_block<blocks_at_once>(d, b, image, line, count, begin, width, finish);
    if constexpr (blocks_at_once > 1)
      for (; b < last_block; ++b) dense_block<1>(d, b, image, line, count, begin, width, finish);
  });
}

}  // namespace WRY_NAMESPACE

#endif
