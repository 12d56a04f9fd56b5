// SparseCooTensor: values and the positions they stand at.
#pragma once

#include "paddle/phi/core/sparse_tensor.h"

namespace phi {

class SparseCooTensor : public detail::SparseTensor {
 public:
  static const char *name() { return "SparseCooTensor"; }
  const DenseTensor &indices() const { return indices_; }
  const DenseTensor &non_zero_indices() const { return indices_; }
  DenseTensor *mutable_indices() { return &indices_; }

 private:
  DenseTensor indices_;
};

}  // namespace phi
