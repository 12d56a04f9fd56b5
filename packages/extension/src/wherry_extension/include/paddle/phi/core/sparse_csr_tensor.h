// SparseCsrTensor: the values of a matrix, row by row.
#pragma once

#include "paddle/phi/core/sparse_tensor.h"

namespace phi {

class SparseCsrTensor : public detail::SparseTensor {
 public:
  static const char *name() { return "SparseCsrTensor"; }
  const DenseTensor &crows() const { return crows_; }
  const DenseTensor &cols() const { return cols_; }
  const DenseTensor &non_zero_crows() const { return crows_; }
  const DenseTensor &non_zero_cols() const { return cols_; }

 private:
  DenseTensor crows_, cols_;
};

}  // namespace phi
