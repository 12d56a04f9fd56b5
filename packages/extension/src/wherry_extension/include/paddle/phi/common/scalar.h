// One number of any type.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "paddle/phi/common/data_type.h"

namespace paddle {
class Tensor;
}

namespace phi {

class Scalar {
 public:
  Scalar() : Scalar(0) {}
  Scalar(double value) : float_(value), dtype_(DataType::FLOAT64) {}            // NOLINT
  Scalar(float value) : float_(value), dtype_(DataType::FLOAT32) {}             // NOLINT
  Scalar(dtype::float16 value) : float_(value), dtype_(DataType::FLOAT16) {}    // NOLINT
  Scalar(dtype::bfloat16 value) : float_(value), dtype_(DataType::BFLOAT16) {}  // NOLINT
  template <typename T, typename = typename std::enable_if<std::is_integral<T>::value>::type>
  Scalar(T value) : int_(static_cast<int64_t>(value)), dtype_(CppTypeToDataType<T>::Type()), whole_(true) {}  // NOLINT
  Scalar(const std::string &text);                                                                            // NOLINT
  explicit Scalar(const paddle::Tensor &tensor);

  template <typename T>
  T to() const {
    return whole_ ? static_cast<T>(int_) : static_cast<T>(float_);
  }
  DataType dtype() const { return dtype_; }
  bool is_whole() const { return whole_; }

 private:
  int64_t int_ = 0;
  double float_ = 0;
  DataType dtype_ = DataType::INT64;
  bool whole_ = false;
};

inline Scalar::Scalar(const std::string &text) : float_(std::stod(text)), dtype_(DataType::FLOAT64) {}

}  // namespace phi

namespace paddle {
using phi::Scalar;
namespace experimental {
using phi::Scalar;
}
}  // namespace paddle
