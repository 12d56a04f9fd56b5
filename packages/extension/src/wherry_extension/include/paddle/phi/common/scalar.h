// One number of any type.
#pragma once

#include <complex>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

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

  Scalar(dtype::complex<float> value) : float_(value.real), imag_(value.imag), dtype_(DataType::COMPLEX64) {}    // NOLINT
  Scalar(dtype::complex<double> value) : float_(value.real), imag_(value.imag), dtype_(DataType::COMPLEX128) {}  // NOLINT
  Scalar(std::complex<float> value) : Scalar(dtype::complex<float>(value)) {}                                    // NOLINT
  Scalar(std::complex<double> value) : Scalar(dtype::complex<double>(value)) {}                                  // NOLINT

  // The real part, unless T is complex.
  template <typename T>
  T to() const {
    return as(static_cast<T *>(nullptr));
  }
  DataType dtype() const { return dtype_; }
  bool FromTensor() const { return from_tensor_; }
  void SetFromTensor(bool from_tensor) { from_tensor_ = from_tensor; }
  bool operator==(const Scalar &other) const { return dtype_ == other.dtype_ && int_ == other.int_ && float_ == other.float_ && imag_ == other.imag_; }
  bool operator!=(const Scalar &other) const { return !(*this == other); }
  std::string ToRawString() const {
    std::ostringstream text;
    if (dtype_ == DataType::COMPLEX64 || dtype_ == DataType::COMPLEX128)
      text << float_ << (imag_ < 0 ? "" : "+") << imag_ << "j";
    else if (dtype_ == DataType::BOOL)
      text << (int_ ? "true" : "false");
    else if (whole_)
      text << int_;
    else
      text << float_;
    return text.str();
  }
  std::string ToString() const { return std::string("Scalar(") + DataTypeToString(dtype_) + "(" + ToRawString() + "))"; }
  bool is_whole() const { return whole_; }

 private:
  template <typename T>
  T as(T *) const {
    return whole_ ? static_cast<T>(int_) : static_cast<T>(float_);
  }
  template <typename T>
  dtype::complex<T> as(dtype::complex<T> *) const {
    return {whole_ ? static_cast<T>(int_) : static_cast<T>(float_), static_cast<T>(imag_)};
  }
  template <typename T>
  std::complex<T> as(std::complex<T> *) const {
    return {whole_ ? static_cast<T>(int_) : static_cast<T>(float_), static_cast<T>(imag_)};
  }

  int64_t int_ = 0;
  double float_ = 0, imag_ = 0;
  DataType dtype_ = DataType::INT64;
  bool whole_ = false, from_tensor_ = false;
};

inline std::ostream &operator<<(std::ostream &out, const Scalar &value) { return out << value.ToString(); }

inline Scalar::Scalar(const std::string &text) : float_(std::stod(text)), dtype_(DataType::FLOAT64) {}

}  // namespace phi

namespace paddle {
using phi::Scalar;
namespace experimental {
using phi::Scalar;
template <typename T>
std::vector<T> ExtractPlainVector(const std::vector<Scalar> &values) {
  std::vector<T> found;
  for (const Scalar &value : values) found.push_back(value.to<T>());
  return found;
}
template <typename T>
std::vector<Scalar> WrapAsScalars(const std::vector<T> &values) {
  return std::vector<Scalar>(values.begin(), values.end());
}
}  // namespace experimental
}  // namespace paddle
