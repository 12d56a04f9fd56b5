// How operands of matrix products lie: batches, broadcasting, rank 1, transposed and strided.
#ifndef WHERRY_CUDA_OPERANDS_H
#define WHERRY_CUDA_OPERANDS_H

#include "common.h"

namespace wherry {
namespace cuda {
namespace {

// One operand as a batch of matrices. Batch strides of repeated axes are 0.
struct Batch {
  int64_t rows, columns, row, column;
  int rank;
  int64_t shape[WRY_MAX_RANK], strides[WRY_MAX_RANK];
};
struct Product {
  Batch x, y;
  int64_t m, n, k, count;
  int rank;
  int64_t shape[WRY_MAX_RANK];
};

Batch batch_of(const wry_tensor *t, bool transposed, bool is_left) {
  Batch b = {};
  if (t->rank == 1) {  // a row on the left, a column on the right
    b.rows = is_left ? 1 : t->shape[0], b.columns = is_left ? t->shape[0] : 1;
    b.row = is_left ? 0 : t->strides[0], b.column = is_left ? t->strides[0] : 0;
    return b;
  }
  const int i = t->rank - (transposed ? 1 : 2), j = t->rank - (transposed ? 2 : 1);
  b.rows = t->shape[i], b.columns = t->shape[j], b.row = t->strides[i], b.column = t->strides[j];
  b.rank = t->rank - 2;
  for (int axis = 0; axis < b.rank; ++axis) b.shape[axis] = t->shape[axis], b.strides[axis] = t->shape[axis] == 1 ? 0 : t->strides[axis];
  return b;
}

Product product_of(const wry_tensor *x, const wry_tensor *y, bool transpose_x, bool transpose_y) {
  Product p = {};
  p.x = batch_of(x, transpose_x, true), p.y = batch_of(y, transpose_y, false);
  p.m = p.x.rows, p.k = p.x.columns, p.n = p.y.columns;
  p.rank = p.x.rank > p.y.rank ? p.x.rank : p.y.rank;
  p.count = 1;
  int64_t strides[2][WRY_MAX_RANK];
  for (int axis = 0; axis < p.rank; ++axis) {
    const int i = axis - (p.rank - p.x.rank), j = axis - (p.rank - p.y.rank);
    const int64_t a = i < 0 ? 1 : p.x.shape[i], b = j < 0 ? 1 : p.y.shape[j];
    p.shape[axis] = a == 1 ? b : a;
    p.count *= p.shape[axis];
    strides[0][axis] = a == 1 ? 0 : p.x.strides[i], strides[1][axis] = b == 1 ? 0 : p.y.strides[j];
  }
  // From here on the strides of both count the axes of the result.
  for (int axis = 0; axis < p.rank; ++axis) p.x.strides[axis] = strides[0][axis], p.y.strides[axis] = strides[1][axis];
  // One weight for all of a batch: its rows are rows of one tall matrix if they lie evenly.
  bool even = p.rank > 0;
  int64_t rows = p.m, step = p.x.row;
  for (int axis = p.rank - 1; axis >= 0 && even; --axis) {
    if (p.shape[axis] == 1) continue;
    if (rows == 1) step = p.x.strides[axis];
    else even = p.x.strides[axis] == step * rows;
    even = even && p.y.strides[axis] == 0;
    rows *= p.shape[axis];
  }
  if (even) p.m = rows, p.x.row = step, p.rank = 0, p.count = 1;
  return p;
}

// Where the matrices of one of the batch begin.
WRY_GPU void find_matrices(const Product &p, int64_t batch, int64_t &at_x, int64_t &at_y) {
  at_x = 0, at_y = 0;
  for (int axis = p.rank - 1; axis >= 0; --axis) {
    const int64_t index = batch % p.shape[axis];
    batch /= p.shape[axis];
    at_x += index * p.x.strides[axis], at_y += index * p.y.strides[axis];
  }
}

}  // namespace
}  // namespace cuda
}  // namespace wherry

#endif
