// Index arithmetic that kernels of several devices do alike: what padding, rolling and resampling read and write.
#ifndef WHERRY_KERNELS_INDICES_H
#define WHERRY_KERNELS_INDICES_H

#include <wherry/kernels/call.h>

namespace WRY_NAMESPACE {

// ---- movement -----------------------------------------------------------------------------------

// One axis of `pad`: elements [begin, begin + n) of x come to [before, before + n) of the result, and `after` more follow.
struct PaddedAxis {
  int64_t begin, n, before, after;
};
// Negative paddings cut x: that makes the gradient of padding a padding.
WRY_FN PaddedAxis padded_axis(int64_t size, int64_t result, int64_t before, int64_t after) {
  const int64_t cut_before = before < 0 ? -before : 0, cut_after = after < 0 ? -after : 0;
  const int64_t left = size - cut_before - cut_after, kept = left < 0 ? 0 : left;
  PaddedAxis p;
  p.begin = cut_before < size ? cut_before : size;
  p.before = before < 0 ? 0 : before < result ? before
                                              : result;
  p.n = kept < result - p.before ? kept : result - p.before;
  p.after = result - p.before - p.n;
  return p;
}

// By how much `roll` moves each axis of x, in [0, size); an axis may be named twice.
WRY_HOST_FN void roll_shifts(const wry_tensor *x, Ints shifts, Ints axes, int64_t *shift) {
  for (int i = 0; i < axes.length; ++i) {
    const int64_t axis = axes[i], n = x->shape[axis];
    shift[axis] = (shift[axis] + shifts[i] % n + n) % n;
  }
}

// ---- resampling ---------------------------------------------------------------------------------

// x [outer, places, row], index and weight [results, taps].
struct ResampleSizes {
  int64_t outer, places, row, results, taps;
};
WRY_HOST_FN ResampleSizes resample_sizes(const wry_tensor *x, const wry_tensor *index, int axis) {
  ResampleSizes z = {1, x->shape[axis], 1, index->shape[0], index->shape[1]};
  for (int i = 0; i < axis; ++i) z.outer *= x->shape[i];
  for (int i = axis + 1; i < x->rank; ++i) z.row *= x->shape[i];
  return z;
}

}  // namespace WRY_NAMESPACE

#endif
