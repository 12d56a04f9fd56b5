// Walking several strided or broadcast operands in step.
//
//   StridedLoop<3> loop = make_loop<3>(out, {out, x, y});
//   parallel_strided(call, loop, 16384, [](char *const *at, const int64_t *step, int64_t n) {
//     T *o = (T *)at[0]; const T *a = (const T *)at[1]; ...
//     for (int64_t i = 0; i < n; ++i) o[i * step[0]] = ...   // steps count elements
//   });
//
// Axes that lie after one another in every operand are merged first, so contiguous operands are
// one inner run of all their elements. An inner run whose steps are all 0 or 1 deserves a loop of
// its own (`unit_steps`), which the compiler turns into SIMD. Nothing here allocates.
#ifndef WHERRY_OPS_CPU_STRIDED_H
#define WHERRY_OPS_CPU_STRIDED_H

#include "common.h"
#include "parallel.h"

namespace WRY_NAMESPACE {

template <int N>
struct StridedLoop {
  int rank;      // at least 1; the last axis is the inner run
  int64_t size;  // of all axes
  char *base[N];
  int64_t item[N];  // bytes of an element
  int64_t shape[WRY_MAX_RANK];
  int64_t strides[WRY_MAX_RANK][N];  // in elements
};

// Axes are dropped, merged and (unless `keep_order`) sorted so that operand 0 is walked in the
// order of its memory. Operands align to the right of `like`; a missing axis, or one of size 1
// where `like` has more, is repeated.
template <int N>
WRY_INLINE StridedLoop<N> make_loop(const wry_tensor *like, const wry_tensor *const (&operands)[N],
                                    bool keep_order = false) {
  StridedLoop<N> loop;
  loop.size = like->size;
  for (int k = 0; k < N; ++k) {
    loop.base[k] = data<char>(operands[k]);
    loop.item[k] = item_size(operands[k]);
  }
  // The axes of more than one element, outermost first.
  int rank = 0;
  for (int axis = 0; axis < like->rank; ++axis) {
    const int64_t n = like->shape[axis];
    if (n == 1) continue;
    loop.shape[rank] = n;
    for (int k = 0; k < N; ++k) {
      const wry_tensor *t = operands[k];
      const int at = axis - (like->rank - t->rank);
      loop.strides[rank][k] = at < 0 || t->shape[at] == 1 ? 0 : t->strides[at];
    }
    ++rank;
  }
  // Insertion sort by the stride of operand 0; it rarely moves anything.
  if (!keep_order)
    for (int i = 1; i < rank; ++i)
      for (int j = i; j > 0; --j) {
        const int64_t a = loop.strides[j - 1][0], b = loop.strides[j][0];
        if ((a < 0 ? -a : a) >= (b < 0 ? -b : b) || a == 0 || b == 0) break;
        const int64_t n = loop.shape[j];
        loop.shape[j] = loop.shape[j - 1], loop.shape[j - 1] = n;
        for (int k = 0; k < N; ++k) {
          const int64_t s = loop.strides[j][k];
          loop.strides[j][k] = loop.strides[j - 1][k], loop.strides[j - 1][k] = s;
        }
      }
  // Merge an axis into the one before it where every operand steps over both alike.
  int last = 0;
  for (int i = 1; i < rank; ++i) {
    bool merges = true;
    for (int k = 0; k < N; ++k) merges &= loop.strides[last][k] == loop.strides[i][k] * loop.shape[i];
    if (merges) {
      loop.shape[last] *= loop.shape[i];
    } else {
      ++last;
      loop.shape[last] = loop.shape[i];
    }
    for (int k = 0; k < N; ++k) loop.strides[last][k] = loop.strides[i][k];
  }
  if (rank == 0) {
    loop.shape[0] = 1;
    for (int k = 0; k < N; ++k) loop.strides[0][k] = 1;
  }
  loop.rank = last + 1;
  return loop;
}

// f(at, step, n) for each inner run, or part of one, of elements [begin, end) in the loop's order.
template <int N, typename F>
WRY_INLINE void strided_range(const StridedLoop<N> &loop, int64_t begin, int64_t end, F &&f) {
  if (begin >= end) return;
  const int inner = loop.rank - 1;
  const int64_t run = loop.shape[inner];
  const int64_t *step = loop.strides[inner];
  char *at[N];
  if (inner == 0) {
    for (int k = 0; k < N; ++k) at[k] = loop.base[k] + begin * step[k] * loop.item[k];
    f((char *const *)at, step, end - begin);
    return;
  }
  int64_t index[WRY_MAX_RANK];
  int64_t rest = begin;
  for (int k = 0; k < N; ++k) at[k] = loop.base[k];
  for (int axis = inner; axis >= 0; --axis) {
    index[axis] = rest % loop.shape[axis];
    rest /= loop.shape[axis];
    for (int k = 0; k < N; ++k) at[k] += index[axis] * loop.strides[axis][k] * loop.item[k];
  }
  int64_t next[N];
  for (int k = 0; k < N; ++k) next[k] = loop.strides[inner - 1][k] * loop.item[k];
  int64_t left = end - begin;
  int64_t offset = index[inner];
  for (;;) {
    const int64_t n = min_of(run - offset, left);
    f((char *const *)at, step, n);
    left -= n;
    if (left == 0) return;
    // To the start of the next run: back along the inner axis, then one step on the outer ones.
    if (offset != 0)
      for (int k = 0; k < N; ++k) at[k] -= offset * step[k] * loop.item[k];
    offset = 0;
    for (int k = 0; k < N; ++k) at[k] += next[k];
    for (int axis = inner - 1; ++index[axis] == loop.shape[axis]; --axis) {
      index[axis] = 0;
      for (int k = 0; k < N; ++k) at[k] += (loop.strides[axis - 1][k] - loop.shape[axis] * loop.strides[axis][k]) * loop.item[k];
    }
  }
}

template <int N, typename F>
WRY_INLINE void for_each_strided(const StridedLoop<N> &loop, F &&f) {
  strided_range(loop, 0, loop.size, f);
}

// The same on several threads; `grain` as for parallel_for, in elements.
template <int N, typename F>
WRY_INLINE void parallel_strided(const wry_call *call, const StridedLoop<N> &loop, int64_t grain, F &&f) {
  parallel_for(call, loop.size, grain, [&](int64_t begin, int64_t end) { strided_range(loop, begin, end, f); });
}

// True when the inner run of every operand is contiguous (step 1).
template <int N>
WRY_INLINE bool unit_steps(const int64_t *step) {
  bool all = true;
  for (int k = 0; k < N; ++k) all &= step[k] == 1;
  return all;
}

}  // namespace WRY_NAMESPACE

#endif
