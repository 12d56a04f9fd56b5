// Weighted sums of places along one axis: resizing, and sampling of images at any place.
//
//   resample      out[o, i, :] = sum over k of weight[i, k] * x[o, index[i, k], :]
//   resample_vjp  its transpose: adds weight[i, k] * ct[o, i, :] to out[o, index[i, k], :]
//
// x [outer, places, row], index and weight [results, taps]; all contiguous. A weight of 0 leaves its place out, so that infinity and
// NaN there do not reach the result. The transpose groups its terms by place first, so that one thread adds up each sum in the order
// of the indices.
#include "bounds.h"
#include "sorting.h"

#include <wherry/kernels/indices.h>

namespace wherry {
namespace cuda {
namespace {

// Places, held against the axis: what is wrong is reported, and is place 0 then.
struct Places {
  const int64_t *index;
  Bounds bounds;
  WRY_GPU int64_t operator[](int64_t t) const { return held(bounds, index[t], t); }
};
int places_of(const wry_call *call, const char *op, const wry_tensor *x, int axis, Places *p) {
  const wry_tensor *index = input(call, 1);
  if (x->shape[axis] == 0 && index->size)
    return fail(call, WRY_OUT_OF_RANGE, "%s: an index is out of range for axis %d, which is empty. Got indices, expected none.", op, axis);
  *p = {data<int64_t>(index), bounds_of(call, op, x, axis, false)};
  return WRY_OK;
}

// One thread for an element of the result in `at_once` neighbouring outer ones, for which it reads indices and weights once; neighbours have
// neighbouring columns.
constexpr int at_once = 8;
template <typename T>
__global__ void __launch_bounds__(block_size, 1) gather_terms(ResampleSizes z, Places places, const T *weight, const T *x, T *out) {
  using A = arithmetic_t<T>;
  const int64_t each = z.results * z.row;
  for WRY_EACH (at, (z.outer + at_once - 1) / at_once * each) {
    const int64_t c = at % z.row, i = at / z.row % z.results, o = at / each * at_once;
    A total[at_once] = {};
    for (int64_t k = 0; k < z.taps; ++k) {
      const A w = load(weight + i * z.taps + k);
      const int64_t place = places[i * z.taps + k];
      if (w == A(0)) continue;
#pragma unroll
      for (int j = 0; j < at_once; ++j)
        if (o + j < z.outer) total[j] += w * load(x + ((o + j) * z.places + place) * z.row + c);
    }
#pragma unroll
    for (int j = 0; j < at_once; ++j)
      if (o + j < z.outer) out[(o + j) * each + at % each] = narrow<T>(total[j]);
  }
}
template <typename T>
int resample(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  const ResampleSizes z = resample_sizes(x, input(call, 1), axis);
  if (out->size == 0) return WRY_OK;
  Places places;
  if (const int status = places_of(call, "resample", x, axis, &places)) return status;
  const int64_t work = (z.outer + at_once - 1) / at_once * z.results * z.row;
  const int threads = threads_for(work);
  return check(call, wry_launch(gather_terms<T>, blocks_for(work, threads), dim3(threads), 0, stream(call), z, places, data<T>(input(call, 2)), data<T>(x),
                                data<T>(out)));
}

// items: (place, which term), grouped by place; the thread of a group's first term adds it up.
template <typename K, typename T>
__global__ void __launch_bounds__(block_size) add_terms(ResampleSizes z, int64_t terms, const Item<K> *items, const T *weight, const T *ct, T *out) {
  using A = arithmetic_t<T>;
  for WRY_EACH (at, z.outer * terms * z.row) {
    const int64_t c = at % z.row, p = at / z.row % terms, o = at / z.row / terms;
    const K place = items[p].key;
    if (p && items[p - 1].key == place) continue;
    A total = 0;
    for (int64_t q = p; q < terms && items[q].key == place; ++q) {
      const int64_t t = int64_t(items[q].at);
      const A w = load(weight + t);
      if (w != A(0)) total += w * load(ct + (o * z.results + t / z.taps) * z.row + c);
    }
    out[(o * z.places + int64_t(place)) * z.row + c] = narrow<T>(total);
  }
}
template <typename T>
int resample_vjp(const wry_call *call) {
  const wry_tensor *like = output(call, 0);
  const int axis = int(attr_int(call, 0));
  const ResampleSizes z = resample_sizes(like, input(call, 1), axis);
  const int64_t terms = z.results * z.taps, all = z.outer * terms * z.row;
  Places places;
  if (const int status = places_of(call, "resample_vjp", like, axis, &places)) return status;
  if (like->size == 0) return WRY_OK;
  WRY_TRY(cudaMemsetAsync(like->data, 0, size_t(like->size) * sizeof(T), stream(call)));
  if (all == 0) return WRY_OK;
  const auto run = [&](auto tag) {
    using K = decltype(tag);
    Item<K> *items;
    if (const int status = grouped<K>(call, "resample_vjp", places, terms, z.places, &items)) return status;
    const int threads = threads_for(all);
    return check(call, wry_launch(add_terms<K, T>, blocks_for(all, threads), dim3(threads), 0, stream(call), z, terms, items, data<T>(input(call, 2)),
                                  data<T>(input(call, 0)), data<T>(like)));
  };
  return is_small(terms, z.places) ? run(uint32_t()) : run(uint64_t());
}

#include <wherry/kernels/rows/resampling.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(resampling, wherry::cuda::table)
