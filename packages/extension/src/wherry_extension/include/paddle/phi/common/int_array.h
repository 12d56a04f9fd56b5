// Whole numbers that say a shape, axes or sections.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "paddle/phi/core/ddim.h"

namespace paddle {
class Tensor;
}

namespace phi {

class IntArray {
 public:
  IntArray() = default;
  IntArray(const std::vector<int64_t> &values) : values_(values) {}                        // NOLINT
  IntArray(const std::vector<int32_t> &values) : values_(values.begin(), values.end()) {}  // NOLINT
  IntArray(std::initializer_list<int64_t> values) : values_(values) {}
  IntArray(int64_t value) : values_{value} {}  // NOLINT
  IntArray(const int64_t *values, int64_t n) : values_(values, values + n) {}
  IntArray(const int32_t *values, int64_t n) : values_(values, values + n) {}
  explicit IntArray(const DDim &sizes) : values_(sizes.begin(), sizes.end()) {}
  explicit IntArray(const paddle::Tensor &tensor);
  explicit IntArray(const std::vector<paddle::Tensor> &tensors);

  const std::vector<int64_t> &GetData() const { return values_; }
  size_t size() const { return values_.size(); }
  int64_t operator[](size_t i) const { return values_[i]; }
  bool FromTensor() const { return from_tensor_; }
  void SetFromTensor(bool from_tensor) { from_tensor_ = from_tensor; }

 private:
  std::vector<int64_t> values_;
  bool from_tensor_ = false;
};

using ScalarArray = IntArray;

}  // namespace phi

namespace paddle {
using phi::IntArray;
namespace experimental {
using phi::IntArray;
using phi::ScalarArray;
}  // namespace experimental
}  // namespace paddle
