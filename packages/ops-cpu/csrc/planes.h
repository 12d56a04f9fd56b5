// Convolution of planes, [n, channels, h, w], as a product of matrices: how the outputs are shared out, and the copies of rows with
// their borders that panels are gathered from.
#ifndef WHERRY_OPS_CPU_PLANES_H
#define WHERRY_OPS_CPU_PLANES_H

#include "few.h"

namespace WRY_NAMESPACE {

// What the next task reads, asked for bit by bit while this one computes: the same run of values of each channel.
template <typename T>
struct Ahead {
  const T *from;
  int64_t plane;     // from channel to channel
  int64_t run;       // cache lines of one channel
  int64_t channels;  // that are left
  int64_t at = 0;    // the line of the first of them
  WRY_INLINE void fetch(int64_t lines) {
    for (; lines > 0 && channels > 0; --lines) {
      __builtin_prefetch(from + at * (64 / int64_t(sizeof(T))), 0, 2);
      if (++at >= run) at = 0, from += plane, --channels;
    }
  }
};

// Copies what the taps of outputs in rows [y0, y1) meet of one plane, with its zero border: the columns sorted by their
// remainder by the step (copy_strip), or for one tap only those that it meets.
template <typename T>
void copy_lines(const Correlation<T> &op, const Strips &s, const T *plane, int64_t y0, int64_t y1, T *to) {
  if (op.taps > 1) return copy_strip(op, s, plane, y0, y1, to);
  int64_t first, last;
  valid_range(op.ow, op.step_x, op.dx[0], op.iw, &first, &last);
  for (int64_t row = y0; row < y1; ++row, to += op.ow) {
    const int64_t y = row * op.step_y + op.dy[0];
    const bool inside = y >= 0 && y < op.ih;
    copy_bordered(to, op.ow, inside ? first : 0, inside ? last : 0, plane + y * op.iw + first * op.step_x + op.dx[0], op.step_x);
  }
}

// How the outputs of one image and group are shared out: rows of one task, and tasks that share the output channels.
struct Cut {
  int64_t rows, parts;
};

// For few images several tasks for each thread, but of outputs enough to repay copying.
template <typename T>
Cut cut_of(const wry_call *call, const Correlation<T> &op, const Strips &s) {
  constexpr int64_t columns = gemm_columns<T>;
  constexpr int64_t room = 256 * 1024 / int64_t(sizeof(T));  // of a strip, in the second-level cache
  const int64_t threads = threads_for(call, INT32_MAX), images = op.images * op.groups;
  const int64_t wanted = threads > 1 ? ceil_div(4 * threads, images) : 1;
  const int64_t input_rows = room / max_of<int64_t>(s.pitch * op.cin, 1);
  int64_t most = max_of<int64_t>(1, min_of(op.oh, (input_rows - s.span_y - 1) / op.step_y + 1));
  if (ceil_div(op.oh, most) < wanted) most = max_of(min_of(most, ceil_div(2 * columns, op.ow)), ceil_div(op.oh, wanted));
  // Rows that fill whole panels, if there is such a number near. The last panel of a strip costs two thirds when one
  // vector of it is filled.
  const auto cost_of = [&](int64_t outputs) {
    const int64_t rest = outputs % columns;
    return outputs / columns * 3 + (rest > columns / 2) + 2 * (rest > 0);
  };
  const auto cost = [&](int64_t rows) { return op.oh / rows * cost_of(rows * op.ow) + cost_of(op.oh % rows * op.ow); };
  Cut cut = {most, 1};
  for (int64_t rows = most - 1; rows > most / 2; --rows)
    if (cost(rows) < cost(cut.rows)) cut.rows = rows;
  const int64_t tasks = images * ceil_div(op.oh, cut.rows);
  if (threads > 1 && tasks < 2 * threads) cut.parts = max_of<int64_t>(1, min_of(ceil_div(2 * threads, tasks), op.cout / 64));
  return cut;
}

}  // namespace WRY_NAMESPACE

#endif
