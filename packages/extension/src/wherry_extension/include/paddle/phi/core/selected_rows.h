// SelectedRows: rows of a larger tensor, and which they are. The framework hands none to a kernel so far; kernels that take one compile and are not called.
#pragma once

#include <vector>

#include "paddle/phi/core/dense_tensor.h"

namespace phi {

class SelectedRows : public TensorBase {
 public:
  static const char *name() { return "SelectedRows"; }
  int64_t numel() const override { return value_.numel(); }
  const DDim &dims() const override { return value_.dims(); }
  DataType dtype() const override { return value_.dtype(); }
  DataLayout layout() const override { return value_.layout(); }
  const Place &place() const override { return value_.place(); }
  bool valid() const override { return value_.valid(); }
  bool initialized() const override { return value_.initialized(); }
  void *AllocateFrom(Allocator *allocator, DataType dtype, size_t requested_size = 0) override {
    return value_.AllocateFrom(allocator, dtype, requested_size);
  }
  const std::vector<int64_t> &rows() const { return rows_; }
  void set_rows(const std::vector<int64_t> &rows) { rows_ = rows; }
  int64_t height() const { return height_; }
  void set_height(int64_t height) { height_ = height; }
  const DenseTensor &value() const { return value_; }
  DenseTensor *mutable_value() { return &value_; }

 private:
  std::vector<int64_t> rows_;
  int64_t height_ = 0;
  DenseTensor value_;
};

}  // namespace phi
