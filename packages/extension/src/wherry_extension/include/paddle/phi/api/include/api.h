// Functions on tensors, named and ordered as in Python. Each is the framework's own: it is looked up by name when it is called.
#pragma once

#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

#include "paddle/phi/api/include/tensor.h"
#include "paddle/utils/optional.h"

namespace paddle {

namespace detail {

inline wext_tensor lend(const Tensor &tensor) {
  if (!tensor.initialized()) PD_THROW("the tensor is empty: it was never given a value");
  const Body &body = *tensor.body();
  wext_tensor out = wext_tensor();
  out.data = body.address();
  out.rank = body.rank;
  for (int32_t i = 0; i < body.rank; ++i) out.shape[i] = body.dims[i];
  out.dtype = wry_dtype_of(body.dtype);
  out.device = device_of(body.place);
  return out;
}

// One argument, with what it points to.
struct Arg {
  wext_arg raw = wext_arg();
  std::vector<wext_tensor> tensors;
  std::vector<int64_t> ints;
  std::string text;

  Arg(const Tensor &x) : tensors{lend(x)} { raw.kind = WEXT_TENSOR; }  // NOLINT
  Arg(const std::vector<Tensor> &xs) {                                 // NOLINT
    raw.kind = WEXT_TENSORS;
    for (const auto &x : xs) tensors.push_back(lend(x));
  }
  template <typename T>
  Arg(const optional<T> &x) {  // NOLINT
    if (x) *this = Arg(x.get());
  }
  Arg(bool value) { raw.kind = WEXT_BOOL, raw.i = value; }     // NOLINT
  Arg(int value) { raw.kind = WEXT_INT, raw.i = value; }       // NOLINT
  Arg(int64_t value) { raw.kind = WEXT_INT, raw.i = value; }   // NOLINT
  Arg(double value) { raw.kind = WEXT_FLOAT, raw.f = value; }  // NOLINT
  Arg(float value) { raw.kind = WEXT_FLOAT, raw.f = value; }   // NOLINT
  Arg(const Scalar &value) {                                   // NOLINT
    raw.kind = value.is_whole() ? WEXT_INT : WEXT_FLOAT;
    raw.i = value.to<int64_t>();
    raw.f = value.to<double>();
  }
  Arg(const IntArray &values) : ints(values.GetData()) { raw.kind = WEXT_INTS; }                      // NOLINT
  Arg(const std::vector<int> &values) : ints(values.begin(), values.end()) { raw.kind = WEXT_INTS; }  // NOLINT
  Arg(const std::vector<int64_t> &values) : ints(values) { raw.kind = WEXT_INTS; }                    // NOLINT
  Arg(const std::vector<double> &values) {                                                            // NOLINT
    raw.kind = WEXT_FLOATS;
    ints.resize(values.size());
    std::copy(values.begin(), values.end(), reinterpret_cast<double *>(ints.data()));
  }
  Arg(const std::vector<float> &values) : Arg(std::vector<double>(values.begin(), values.end())) {}  // NOLINT
  Arg(const std::vector<Scalar> &values) {                                                           // NOLINT
    std::vector<double> numbers;
    for (const Scalar &value : values) numbers.push_back(value.to<double>());
    *this = Arg(numbers);
  }
  Arg(const std::vector<std::string> &values) {  // NOLINT
    raw.kind = WEXT_STRINGS;
    for (const std::string &value : values) text += (&value == &values[0] ? "" : "\n") + value;
  }
  Arg(const std::string &value) : text(value) { raw.kind = WEXT_STRING; }  // NOLINT
  Arg(DataType dtype) {                                                    // NOLINT
    raw.kind = dtype == DataType::UNDEFINED ? WEXT_NONE : WEXT_DTYPE;
    raw.i = dtype == DataType::UNDEFINED ? 0 : wry_dtype_of(dtype);
  }
};

// `expected` results; 0: as many as come.
inline std::vector<Tensor> apply(const char *function, const std::vector<Arg> &args, int expected) {
  if (!host()) PD_THROW(function, ": the library was not loaded by the framework, which has the function");
  std::vector<wext_arg> raw;
  for (const Arg &arg : args) {
    raw.push_back(arg.raw);
    raw.back().tensors = arg.tensors.data();
    raw.back().ints = arg.ints.data();
    raw.back().s = arg.text.c_str();
    raw.back().count = static_cast<int32_t>(arg.tensors.size() + arg.ints.size() + arg.text.size());  // one of them
  }
  std::vector<wext_tensor> found(expected ? static_cast<size_t>(expected) : size_t{256});
  char error[WRY_ERROR_SIZE] = "";
  const int n = host()->call(function, raw.data(), static_cast<int32_t>(raw.size()), found.data(), static_cast<int32_t>(found.size()), error);
  if (n < 0) PD_THROW(function, ": ", error);
  std::vector<Tensor> out;
  for (int i = 0; i < n; ++i) {
    if (found[static_cast<size_t>(i)].dtype < 0) {
      out.emplace_back();
      continue;
    }
    BodyRef body = BodyRef::make();
    body->dtype = dtype_of(found[static_cast<size_t>(i)].dtype);
    body->place = place_of(found[static_cast<size_t>(i)].device);
    body->set_shape(found[static_cast<size_t>(i)].shape, found[static_cast<size_t>(i)].rank);
    body->memory = std::make_shared<Memory>();
    body->data = body->memory->data = found[static_cast<size_t>(i)].data;
    body->memory->owner = found[static_cast<size_t>(i)].owner;
    out.emplace_back(std::move(body));
  }
  if (expected && n != expected) PD_THROW(function, ": got ", n, " results, expected ", expected);
  return out;
}

}  // namespace detail

// Members. A number becomes a tensor without axes of the other's dtype.
#define WHERRY_UNARY(name) \
  inline Tensor Tensor::name() const { return detail::apply(#name, {*this}, 1)[0]; }
WHERRY_UNARY(abs)
WHERRY_UNARY(assign)
WHERRY_UNARY(bitwise_not)
WHERRY_UNARY(exp)
WHERRY_UNARY(floor)
WHERRY_UNARY(log)
#undef WHERRY_UNARY

#define WHERRY_BINARY(name) \
  inline Tensor Tensor::name(const Tensor &y) const { return detail::apply(#name, {*this, y}, 1)[0]; }
WHERRY_BINARY(add)
WHERRY_BINARY(bitwise_and)
WHERRY_BINARY(bitwise_or)
WHERRY_BINARY(bitwise_xor)
WHERRY_BINARY(divide)
WHERRY_BINARY(equal)
WHERRY_BINARY(gather_nd)
WHERRY_BINARY(greater_equal)
WHERRY_BINARY(greater_than)
WHERRY_BINARY(less_equal)
WHERRY_BINARY(less_than)
WHERRY_BINARY(maximum)
WHERRY_BINARY(minimum)
WHERRY_BINARY(multiply)
WHERRY_BINARY(not_equal)
WHERRY_BINARY(pow)
WHERRY_BINARY(subtract)
#undef WHERRY_BINARY

namespace detail {
inline Tensor number_like(const Tensor &x, const Scalar &value) { return apply("full", {IntArray(), value, x.dtype()}, 1)[0]; }
}  // namespace detail

inline Tensor Tensor::add(const Scalar &y) const { return add(detail::number_like(*this, y)); }
inline Tensor Tensor::subtract(const Scalar &y) const { return subtract(detail::number_like(*this, y)); }
inline Tensor Tensor::multiply(const Scalar &y) const { return multiply(detail::number_like(*this, y)); }
inline Tensor Tensor::divide(const Scalar &y) const { return divide(detail::number_like(*this, y)); }
inline Tensor operator+(const Scalar &x, const Tensor &y) { return detail::number_like(y, x).add(y); }
inline Tensor operator-(const Scalar &x, const Tensor &y) { return detail::number_like(y, x).subtract(y); }
inline Tensor operator*(const Scalar &x, const Tensor &y) { return detail::number_like(y, x).multiply(y); }
inline Tensor operator/(const Scalar &x, const Tensor &y) { return detail::number_like(y, x).divide(y); }
inline Tensor Tensor::cast(DataType target_type) const { return detail::apply("cast", {*this, target_type}, 1)[0]; }
inline Tensor Tensor::elementwise_pow(const Tensor &y) const { return pow(y); }
inline Tensor Tensor::expand(const IntArray &shape) const { return detail::apply("expand", {*this, shape}, 1)[0]; }
inline Tensor Tensor::matmul(const Tensor &y, bool transpose_x, bool transpose_y) const { return detail::apply("matmul", {*this, y, transpose_x, transpose_y}, 1)[0]; }
inline Tensor Tensor::max(const IntArray &axis, bool keepdim) const { return detail::apply("max", {*this, axis, keepdim}, 1)[0]; }
inline Tensor Tensor::pow(const Scalar &y) const { return detail::apply("pow", {*this, y}, 1)[0]; }
inline Tensor Tensor::roll(const IntArray &shifts, const std::vector<int64_t> &axis) const { return detail::apply("roll", {*this, shifts, axis}, 1)[0]; }
inline Tensor Tensor::scale(const Scalar &scale, float bias, bool bias_after_scale) const { return detail::apply("scale", {*this, scale, bias, bias_after_scale}, 1)[0]; }
inline Tensor Tensor::scatter(const Tensor &index, const Tensor &updates, bool overwrite) const { return detail::apply("scatter", {*this, index, updates, overwrite}, 1)[0]; }
inline Tensor Tensor::scatter_nd_add(const Tensor &index, const Tensor &updates) const { return detail::apply("scatter_nd_add", {*this, index, updates}, 1)[0]; }
inline Tensor Tensor::sum(const IntArray &axis, DataType dtype, bool keepdim) const { return detail::apply("sum", {*this, axis, dtype, keepdim}, 1)[0]; }
inline Tensor Tensor::tile(const IntArray &repeat_times) const { return detail::apply("tile", {*this, repeat_times}, 1)[0]; }

inline Tensor empty(const IntArray &shape, DataType dtype = DataType::FLOAT32, const Place &place = CPUPlace()) {
  return empty_of(shape.GetData().data(), static_cast<int32_t>(shape.size()), dtype, place);
}
inline Tensor empty_like(const Tensor &x, DataType dtype = DataType::UNDEFINED, const Place &place = {}) {
  if (!x.defined()) PD_THROW("empty_like: the tensor is empty: it was never given a value");
  const detail::Body &like = *x.body();
  return empty_of(like.dims, like.rank, dtype == DataType::UNDEFINED ? like.dtype : dtype, place.GetType() == AllocationType::UNDEFINED ? like.place : place);
}
inline Tensor full(const IntArray &shape, const Scalar &value, DataType dtype = DataType::FLOAT32, const Place &place = CPUPlace()) {
  Tensor made = detail::apply("full", {shape, value, dtype}, 1)[0];
  if (place.GetType() == AllocationType::UNDEFINED || place.GetType() == AllocationType::CPU) return made;
  return made.copy_to(place);
}
inline Tensor full_like(const Tensor &x, const Scalar &value, DataType dtype = DataType::UNDEFINED, const Place &place = {}) {
  return full(x.shape(), value, dtype == DataType::UNDEFINED ? x.dtype() : dtype, place.GetType() == AllocationType::UNDEFINED ? x.place() : place);
}
inline Tensor zeros(const IntArray &shape, DataType dtype = DataType::FLOAT32, const Place &place = CPUPlace()) { return full(shape, 0, dtype, place); }
inline Tensor ones(const IntArray &shape, DataType dtype = DataType::FLOAT32, const Place &place = CPUPlace()) { return full(shape, 1, dtype, place); }
inline Tensor zeros_like(const Tensor &x, DataType dtype = DataType::UNDEFINED, const Place &place = {}) { return full_like(x, 0, dtype, place); }
inline Tensor ones_like(const Tensor &x, DataType dtype = DataType::UNDEFINED, const Place &place = {}) { return full_like(x, 1, dtype, place); }

#define WHERRY_UNARY(name) \
  inline Tensor name(const Tensor &x) { return detail::apply(#name, {x}, 1)[0]; }
WHERRY_UNARY(abs)
WHERRY_UNARY(acos)
WHERRY_UNARY(acosh)
WHERRY_UNARY(asin)
WHERRY_UNARY(asinh)
WHERRY_UNARY(atan)
WHERRY_UNARY(atanh)
WHERRY_UNARY(bernoulli)
WHERRY_UNARY(ceil)
WHERRY_UNARY(conj)
WHERRY_UNARY(cos)
WHERRY_UNARY(cosh)
WHERRY_UNARY(det)
WHERRY_UNARY(digamma)
WHERRY_UNARY(erf)
WHERRY_UNARY(erfinv)
WHERRY_UNARY(exp)
WHERRY_UNARY(expm1)
WHERRY_UNARY(floor)
WHERRY_UNARY(hardswish)
WHERRY_UNARY(imag)
WHERRY_UNARY(is_empty)
WHERRY_UNARY(isfinite)
WHERRY_UNARY(isinf)
WHERRY_UNARY(isnan)
WHERRY_UNARY(lgamma)
WHERRY_UNARY(log)
WHERRY_UNARY(log10)
WHERRY_UNARY(log1p)
WHERRY_UNARY(log2)
WHERRY_UNARY(poisson)
WHERRY_UNARY(real)
WHERRY_UNARY(reciprocal)
WHERRY_UNARY(relu)
WHERRY_UNARY(relu6)
WHERRY_UNARY(round)
WHERRY_UNARY(rsqrt)
WHERRY_UNARY(sigmoid)
WHERRY_UNARY(sign)
WHERRY_UNARY(silu)
WHERRY_UNARY(sin)
WHERRY_UNARY(sinh)
WHERRY_UNARY(sqrt)
WHERRY_UNARY(square)
WHERRY_UNARY(swish)
WHERRY_UNARY(tanh)
#undef WHERRY_UNARY

#define WHERRY_BINARY(name) \
  inline Tensor name(const Tensor &x, const Tensor &y) { return detail::apply(#name, {x, y}, 1)[0]; }
WHERRY_BINARY(add)
WHERRY_BINARY(atan2)
WHERRY_BINARY(divide)
WHERRY_BINARY(dot)
WHERRY_BINARY(equal_all)
WHERRY_BINARY(floor_divide)
WHERRY_BINARY(fmax)
WHERRY_BINARY(fmin)
WHERRY_BINARY(gather_nd)
WHERRY_BINARY(index_sample)
WHERRY_BINARY(kron)
WHERRY_BINARY(masked_select)
WHERRY_BINARY(maximum)
WHERRY_BINARY(minimum)
WHERRY_BINARY(multiply)
WHERRY_BINARY(mv)
WHERRY_BINARY(remainder)
WHERRY_BINARY(subtract)
#undef WHERRY_BINARY

inline Tensor addmm(const Tensor &input, const Tensor &x, const Tensor &y, float beta = 1.0f, float alpha = 1.0f) { return detail::apply("addmm", {input, x, y, beta, alpha}, 1)[0]; }
inline Tensor hardtanh(const Tensor &x, float t_min = 0, float t_max = 24) { return detail::apply("hardtanh", {x, t_min, t_max}, 1)[0]; }
inline std::vector<Tensor> meshgrid(const std::vector<Tensor> &inputs) { return detail::apply("meshgrid", {inputs}, 0); }
inline Tensor put_along_axis(const Tensor &arr, const Tensor &indices, const Tensor &values, int axis, const std::string &reduce = "assign", bool include_self = true) { return detail::apply("put_along_axis", {arr, indices, values, axis, reduce, include_self}, 1)[0]; }
inline Tensor lerp(const Tensor &x, const Tensor &y, const Tensor &weight) { return detail::apply("lerp", {x, y, weight}, 1)[0]; }
inline Tensor where(const Tensor &condition, const Tensor &x, const Tensor &y) { return detail::apply("where", {condition, x, y}, 1)[0]; }
inline Tensor scatter_nd_add(const Tensor &x, const Tensor &index, const Tensor &updates) { return detail::apply("scatter_nd_add", {x, index, updates}, 1)[0]; }
inline Tensor multi_dot(const std::vector<Tensor> &x) { return detail::apply("multi_dot", {x}, 1)[0]; }
inline Tensor allclose(const Tensor &x, const Tensor &y, const Scalar &rtol, const Scalar &atol, bool equal_nan) { return detail::apply("allclose", {x, y, rtol, atol, equal_nan}, 1)[0]; }
inline std::tuple<Tensor, Tensor> argsort(const Tensor &x, int axis, bool descending) {
  auto r = detail::apply("argsort", {x, axis, descending}, 2);
  return std::tuple<Tensor, Tensor>(r[0], r[1]);
}
inline Tensor cholesky(const Tensor &x, bool upper) { return detail::apply("cholesky", {x, upper}, 1)[0]; }
inline Tensor cholesky_solve(const Tensor &x, const Tensor &y, bool upper) { return detail::apply("cholesky_solve", {x, y, upper}, 1)[0]; }
inline Tensor clip(const Tensor &x, const Scalar &min, const Scalar &max) { return detail::apply("clip", {x, min, max}, 1)[0]; }
inline Tensor concat(const std::vector<Tensor> &x, const Scalar &axis) { return detail::apply("concat", {x, axis}, 1)[0]; }
inline Tensor cross(const Tensor &x, const Tensor &y, int axis = 9) { return detail::apply("cross", {x, y, axis}, 1)[0]; }
inline Tensor diag(const Tensor &x, int offset, float padding_value) { return detail::apply("diag", {x, offset, padding_value}, 1)[0]; }
inline Tensor diagonal(const Tensor &x, int offset, int axis1, int axis2) { return detail::apply("diagonal", {x, offset, axis1, axis2}, 1)[0]; }
inline Tensor dist(const Tensor &x, const Tensor &y, float p) { return detail::apply("dist", {x, y, p}, 1)[0]; }
inline Tensor elu(const Tensor &x, float alpha) { return detail::apply("elu", {x, alpha}, 1)[0]; }
inline Tensor expand(const Tensor &x, const IntArray &shape) { return detail::apply("expand", {x, shape}, 1)[0]; }
inline std::tuple<Tensor, Tensor> flatten(const Tensor &x, int start_axis, int stop_axis) {
  auto r = detail::apply("flatten", {x, start_axis, stop_axis}, 2);
  return std::tuple<Tensor, Tensor>(r[0], r[1]);
}
inline Tensor flip(const Tensor &x, const std::vector<int> &axis) { return detail::apply("flip", {x, axis}, 1)[0]; }
inline Tensor gather(const Tensor &x, const Tensor &index, const Scalar &axis = 0) { return detail::apply("gather", {x, index, axis}, 1)[0]; }
inline Tensor gelu(const Tensor &x, bool approximate) { return detail::apply("gelu", {x, approximate}, 1)[0]; }
inline Tensor gumbel_softmax(const Tensor &x, float temperature, bool hard, int axis) { return detail::apply("gumbel_softmax", {x, temperature, hard, axis}, 1)[0]; }
inline Tensor increment(const Tensor &x, float value) { return detail::apply("increment", {x, value}, 1)[0]; }
inline Tensor isclose(const Tensor &x, const Tensor &y, const Scalar &rtol, const Scalar &atol, bool equal_nan) { return detail::apply("isclose", {x, y, rtol, atol, equal_nan}, 1)[0]; }
inline std::tuple<Tensor, Tensor> kthvalue(const Tensor &x, int k, int axis, bool keepdim) {
  auto r = detail::apply("kthvalue", {x, k, axis, keepdim}, 2);
  return std::tuple<Tensor, Tensor>(r[0], r[1]);
}
inline Tensor label_smooth(const Tensor &label, paddle::optional<const Tensor &> prior_dist, float epsilon) { return detail::apply("label_smooth", {label, prior_dist, epsilon}, 1)[0]; }
inline Tensor logit(const Tensor &x, float eps = 1e-6f) { return detail::apply("logit", {x, eps}, 1)[0]; }
inline Tensor matmul(const Tensor &x, const Tensor &y, bool transpose_x = false, bool transpose_y = false) { return detail::apply("matmul", {x, y, transpose_x, transpose_y}, 1)[0]; }
inline Tensor matrix_power(const Tensor &x, int n) { return detail::apply("matrix_power", {x, n}, 1)[0]; }
inline Tensor maxout(const Tensor &x, int groups, int axis) { return detail::apply("maxout", {x, groups, axis}, 1)[0]; }
inline std::tuple<Tensor, Tensor> mode(const Tensor &x, int axis, bool keepdim) {
  auto r = detail::apply("mode", {x, axis, keepdim}, 2);
  return std::tuple<Tensor, Tensor>(r[0], r[1]);
}
inline Tensor multinomial(const Tensor &x, int num_samples, bool replacement) { return detail::apply("multinomial", {x, num_samples, replacement}, 1)[0]; }
inline std::tuple<Tensor, Tensor> nll_loss(const Tensor &input, const Tensor &label, paddle::optional<const Tensor> weight, int64_t ignore_index, const std::string &reduction) {
  auto r = detail::apply("nll_loss", {input, label, weight, ignore_index, reduction}, 2);
  return std::tuple<Tensor, Tensor>(r[0], r[1]);
}
inline Tensor one_hot(const Tensor &x, const Scalar &num_classes) { return detail::apply("one_hot", {x, num_classes}, 1)[0]; }
inline Tensor pixel_shuffle(const Tensor &x, int upscale_factor, const std::string &data_format) { return detail::apply("pixel_shuffle", {x, upscale_factor, data_format}, 1)[0]; }
inline std::tuple<Tensor, Tensor> qr(const Tensor &x, const std::string &mode) {
  auto r = detail::apply("qr", {x, mode}, 2);
  return std::tuple<Tensor, Tensor>(r[0], r[1]);
}
inline Tensor reshape(const Tensor &x, const IntArray &shape) { return detail::apply("reshape", {x, shape}, 1)[0]; }
inline Tensor roll(const Tensor &x, const IntArray &shifts = {}, const std::vector<int64_t> &axis = {}) { return detail::apply("roll", {x, shifts, axis}, 1)[0]; }
inline Tensor scatter(const Tensor &x, const Tensor &index, const Tensor &updates, bool overwrite = true) { return detail::apply("scatter", {x, index, updates, overwrite}, 1)[0]; }
inline Tensor selu(const Tensor &x, float scale, float alpha) { return detail::apply("selu", {x, scale, alpha}, 1)[0]; }
inline std::vector<Tensor> split(const Tensor &x, const IntArray &num_or_sections, const Scalar &axis) { return detail::apply("split", {x, num_or_sections, axis}, 0); }
inline Tensor stack(const std::vector<Tensor> &x, int axis) { return detail::apply("stack", {x, axis}, 1)[0]; }
inline Tensor slice(const Tensor &input, const std::vector<int64_t> &axes, const IntArray &starts, const IntArray &ends, const std::vector<int64_t> &infer_flags, const std::vector<int64_t> &decrease_axis) {
  (void)infer_flags;  // says which starts and ends are known, as all are here
  return detail::apply("slice", {input, axes, starts, ends, decrease_axis}, 1)[0];
}
inline Tensor strided_slice(const Tensor &x, const std::vector<int> &axes, const IntArray &starts, const IntArray &ends, const IntArray &strides) { return detail::apply("strided_slice", {x, axes, starts, ends, strides}, 1)[0]; }
inline Tensor thresholded_relu(const Tensor &x, float threshold) { return detail::apply("thresholded_relu", {x, threshold}, 1)[0]; }
inline Tensor tile(const Tensor &x, const IntArray &repeat_times = {}) { return detail::apply("tile", {x, repeat_times}, 1)[0]; }
inline Tensor trace(const Tensor &x, int offset, int axis1, int axis2) { return detail::apply("trace", {x, offset, axis1, axis2}, 1)[0]; }
inline Tensor tril(const Tensor &x, int diagonal) { return detail::apply("tril", {x, diagonal}, 1)[0]; }
inline Tensor triangular_solve(const Tensor &x, const Tensor &y, bool upper, bool transpose, bool unitriangular) { return detail::apply("triangular_solve", {x, y, upper, transpose, unitriangular}, 1)[0]; }
inline std::vector<Tensor> unbind(const Tensor &input, int axis) { return detail::apply("unbind", {input, axis}, 0); }
inline std::tuple<Tensor, Tensor, Tensor> unique(const Tensor &x, bool return_index, bool return_inverse, bool return_counts, const std::vector<int> &axis, DataType dtype = DataType::INT64) {
  auto r = detail::apply("unique", {x, return_index, return_inverse, return_counts, axis, dtype}, 3);
  return std::tuple<Tensor, Tensor, Tensor>(r[0], r[1], r[2]);
}
inline std::tuple<Tensor, Tensor> unsqueeze(const Tensor &x, const IntArray &axis) {
  auto r = detail::apply("unsqueeze", {x, axis}, 2);
  return std::tuple<Tensor, Tensor>(r[0], r[1]);
}

namespace experimental {

// The same functions, and those whose parameters may still change.
using paddle::abs;
using paddle::acos;
using paddle::acosh;
using paddle::add;
using paddle::addmm;
using paddle::allclose;
using paddle::argsort;
using paddle::asin;
using paddle::asinh;
using paddle::atan;
using paddle::atan2;
using paddle::atanh;
using paddle::bernoulli;
using paddle::ceil;
using paddle::cholesky;
using paddle::cholesky_solve;
using paddle::clip;
using paddle::concat;
using paddle::conj;
using paddle::cos;
using paddle::cosh;
using paddle::cross;
using paddle::det;
using paddle::diag;
using paddle::diagonal;
using paddle::digamma;
using paddle::dist;
using paddle::divide;
using paddle::dot;
using paddle::elu;
using paddle::empty;
using paddle::empty_like;
using paddle::equal_all;
using paddle::erf;
using paddle::erfinv;
using paddle::exp;
using paddle::expand;
using paddle::expm1;
using paddle::flatten;
using paddle::flip;
using paddle::floor;
using paddle::floor_divide;
using paddle::fmax;
using paddle::fmin;
using paddle::full;
using paddle::full_like;
using paddle::gather;
using paddle::gather_nd;
using paddle::gelu;
using paddle::gumbel_softmax;
using paddle::hardswish;
using paddle::hardtanh;
using paddle::imag;
using paddle::increment;
using paddle::index_sample;
using paddle::is_empty;
using paddle::isclose;
using paddle::isfinite;
using paddle::isinf;
using paddle::isnan;
using paddle::kron;
using paddle::kthvalue;
using paddle::label_smooth;
using paddle::lerp;
using paddle::lgamma;
using paddle::log;
using paddle::log10;
using paddle::log1p;
using paddle::log2;
using paddle::logit;
using paddle::masked_select;
using paddle::matmul;
using paddle::matrix_power;
using paddle::maximum;
using paddle::maxout;
using paddle::meshgrid;
using paddle::minimum;
using paddle::mode;
using paddle::multi_dot;
using paddle::multinomial;
using paddle::multiply;
using paddle::mv;
using paddle::nll_loss;
using paddle::one_hot;
using paddle::ones;
using paddle::ones_like;
using paddle::pixel_shuffle;
using paddle::poisson;
using paddle::put_along_axis;
using paddle::qr;
using paddle::real;
using paddle::reciprocal;
using paddle::relu;
using paddle::relu6;
using paddle::remainder;
using paddle::reshape;
using paddle::roll;
using paddle::round;
using paddle::rsqrt;
using paddle::scatter;
using paddle::scatter_nd_add;
using paddle::selu;
using paddle::sigmoid;
using paddle::sign;
using paddle::silu;
using paddle::sin;
using paddle::sinh;
using paddle::slice;
using paddle::split;
using paddle::sqrt;
using paddle::square;
using paddle::stack;
using paddle::strided_slice;
using paddle::subtract;
using paddle::swish;
using paddle::tanh;
using paddle::thresholded_relu;
using paddle::tile;
using paddle::trace;
using paddle::triangular_solve;
using paddle::tril;
using paddle::unbind;
using paddle::unique;
using paddle::unsqueeze;
using paddle::where;
using paddle::zeros;
using paddle::zeros_like;
inline Tensor sum(const Tensor &x, const IntArray &axis = {}, DataType dtype = DataType::UNDEFINED, bool keepdim = false) { return detail::apply("sum", {x, axis, dtype, keepdim}, 1)[0]; }
inline Tensor mean(const Tensor &x, const IntArray &axis = {}, bool keepdim = false) { return detail::apply("mean", {x, axis, keepdim}, 1)[0]; }
inline Tensor max(const Tensor &x, const IntArray &axis = {}, bool keepdim = false) { return detail::apply("max", {x, axis, keepdim}, 1)[0]; }
inline Tensor min(const Tensor &x, const IntArray &axis = {}, bool keepdim = false) { return detail::apply("min", {x, axis, keepdim}, 1)[0]; }
inline Tensor pow(const Tensor &x, const Scalar &y = 1.0f) { return detail::apply("pow", {x, y}, 1)[0]; }
inline Tensor scale(const Tensor &x, const Scalar &scale = 1.0, float bias = 0.0f, bool bias_after_scale = true) { return detail::apply("scale", {x, scale, bias, bias_after_scale}, 1)[0]; }
inline Tensor softmax(const Tensor &x, int axis) { return detail::apply("softmax", {x, axis}, 1)[0]; }
inline Tensor log_softmax(const Tensor &x, int axis) { return detail::apply("log_softmax", {x, axis}, 1)[0]; }
inline Tensor transpose(const Tensor &x, const std::vector<int> &perm) { return detail::apply("transpose", {x, perm}, 1)[0]; }
inline Tensor cast(const Tensor &x, DataType dtype) { return detail::apply("cast", {x, dtype}, 1)[0]; }
inline Tensor triu(const Tensor &x, int diagonal) { return detail::apply("triu", {x, diagonal}, 1)[0]; }
inline Tensor equal(const Tensor &x, const Tensor &y) { return detail::apply("equal", {x, y}, 1)[0]; }
inline Tensor not_equal(const Tensor &x, const Tensor &y) { return detail::apply("not_equal", {x, y}, 1)[0]; }
inline Tensor less_than(const Tensor &x, const Tensor &y) { return detail::apply("less_than", {x, y}, 1)[0]; }
inline Tensor less_equal(const Tensor &x, const Tensor &y) { return detail::apply("less_equal", {x, y}, 1)[0]; }
inline Tensor greater_than(const Tensor &x, const Tensor &y) { return detail::apply("greater_than", {x, y}, 1)[0]; }
inline Tensor greater_equal(const Tensor &x, const Tensor &y) { return detail::apply("greater_equal", {x, y}, 1)[0]; }
inline Tensor logical_and(const Tensor &x, const Tensor &y) { return detail::apply("logical_and", {x, y}, 1)[0]; }
inline Tensor logical_or(const Tensor &x, const Tensor &y) { return detail::apply("logical_or", {x, y}, 1)[0]; }
inline Tensor logical_not(const Tensor &x) { return detail::apply("logical_not", {x}, 1)[0]; }
inline Tensor cumsum(const Tensor &x, const Scalar &axis, bool flatten, bool exclusive, bool reverse) { return detail::apply("cumsum", {x, axis, flatten, exclusive, reverse}, 1)[0]; }
inline Tensor index_select(const Tensor &x, const Tensor &index, int axis) { return detail::apply("index_select", {x, index, axis}, 1)[0]; }
inline Tensor squeeze(const Tensor &x, const IntArray &axis) { return detail::apply("squeeze", {x, axis}, 1)[0]; }

}  // namespace experimental
}  // namespace paddle

#include "paddle/phi/api/include/operators.h"
