// Indices that are data, held against an axis.
#ifndef WHERRY_CUDA_BOUNDS_H
#define WHERRY_CUDA_BOUNDS_H

#include "common.h"

namespace wherry {
namespace cuda {

struct Bounds {  // what an index is held against
  int64_t n;
  Report *report;
  int32_t op, axis, rank;
  bool from_end;
  int64_t shape[WRY_MAX_RANK];
};
WRY_GPU int64_t held(const Bounds &b, int64_t index, int64_t at) {
  const int64_t place = index < 0 && b.from_end ? index + b.n : index;
  if (uint64_t(place) < uint64_t(b.n)) return place;
  Report *r = b.report;
  if (atomicCAS(reinterpret_cast<int *>(&r->fault), int(NO_FAULT), int(INDEX_OUT_OF_RANGE)) == int(NO_FAULT)) {
    r->op = b.op, r->value = index, r->size = b.n, r->at = at, r->least = b.from_end ? -b.n : 0, r->axis = b.axis, r->rank = b.rank;
#pragma unroll
    for (int i = 0; i < WRY_MAX_RANK; ++i) r->shape[i] = b.shape[i];  // all: a loop to `rank` would need the struct in local memory
  }
  return 0;
}
inline Bounds bounds_of(const wry_call *call, const char *op, const wry_tensor *x, int axis, bool from_end) {
  Bounds b = {x->shape[axis], nullptr, 0, axis, x->rank, from_end, {}};
  for (int i = 0; i < x->rank; ++i) b.shape[i] = x->shape[i];
  b.report = arm(call, op, &b.op);
  return b;
}

}  // namespace cuda
}  // namespace wherry

#endif
