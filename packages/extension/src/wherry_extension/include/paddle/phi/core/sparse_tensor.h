// What sparse tensors have in common: values with the members of a dense tensor. The framework hands none to a kernel so far;
// kernels that take one compile and are not called.
#pragma once

#include "paddle/phi/core/dense_tensor.h"

namespace phi {
namespace detail {

class SparseTensor : public TensorBase {
 public:
  int64_t numel() const override { return values_.numel(); }
  const DDim &dims() const override { return values_.dims(); }
  DataType dtype() const override { return values_.dtype(); }
  DataLayout layout() const override { return values_.layout(); }
  const Place &place() const override { return values_.place(); }
  bool valid() const override { return values_.valid(); }
  bool initialized() const override { return values_.initialized(); }
  void *AllocateFrom(Allocator *allocator, DataType dtype, size_t requested_size = 0) override {
    return values_.AllocateFrom(allocator, dtype, requested_size);
  }
  const DenseTensor &values() const { return values_; }
  const DenseTensor &non_zero_elements() const { return values_; }
  DenseTensor *mutable_values() { return &values_; }

 private:
  DenseTensor values_;
};

}  // namespace detail
}  // namespace phi
