// Operators that the tests look at, each for one thing.
#include <cstdint>
#include <string>
#include <vector>

#include "paddle/extension.h"

using paddle::Tensor;

// All nine kinds of attributes.
std::vector<Tensor> AttrTestForward(const Tensor &x, bool bool_attr, int int_attr, float float_attr, int64_t int64_attr, const std::string &str_attr,
                                    const std::vector<int> &int_vec_attr, const std::vector<float> &float_vec_attr,
                                    const std::vector<int64_t> &int64_vec_attr, const std::vector<std::string> &str_vec_attr) {
  PD_CHECK(bool_attr == true, "bool_attr is ", bool_attr);
  PD_CHECK(int_attr == 10, "int_attr is ", int_attr);
  PD_CHECK(float_attr == 3.14f, "float_attr is ", float_attr);
  PD_CHECK(int64_attr == 10000000000, "int64_attr is ", int64_attr);
  PD_CHECK(str_attr == "StrAttr, \"quoted\"", "str_attr is ", str_attr);
  PD_CHECK(int_vec_attr == std::vector<int>({10, 10, -10}));
  PD_CHECK(float_vec_attr == std::vector<float>({3.14f, -1e-30f}));
  PD_CHECK(int64_vec_attr == std::vector<int64_t>({10000000000, 1}));
  PD_CHECK(str_vec_attr == std::vector<std::string>({"StrAttr", "", "3:x"}));
  return {x.copy_to(paddle::CPUPlace(), true)};
}
std::vector<Tensor> AttrTestBackward(const Tensor &grad_out, int a, const std::vector<float> &b, const std::vector<std::string> &c) {
  PD_CHECK(a == 10 && b[0] == 3.14f && c[2] == "3:x");
  return {grad_out.cast(grad_out.dtype())};
}
PD_BUILD_OP(attr_test)
    .Inputs({"X"})
    .Outputs({"Out"})
    .Attrs("bool_attr: bool", "int_attr: int", "float_attr: float", "int64_attr: int64_t", "str_attr: std::string", "int_vec_attr: std::vector<int>",
           "float_vec_attr: std::vector<float>", "int64_vec_attr: std::vector<int64_t>", "str_vec_attr: std::vector<std::string>")
    .SetKernelFn(PD_KERNEL(AttrTestForward));
PD_BUILD_GRAD_OP(attr_test)
    .Inputs({paddle::Grad("Out")})
    .Outputs({paddle::Grad("X")})
    .Attrs({"int_attr: int", "float_vec_attr: std::vector<float>", "str_vec_attr: std::vector<std::string>"})
    .SetKernelFn(PD_KERNEL(AttrTestBackward));

// A list of tensors, and a shape function that takes the attribute.
std::vector<Tensor> ConcatForwardStaticAxis(const std::vector<Tensor> &inputs, int64_t axis) {
  return {paddle::concat(inputs, axis)};
}
std::vector<Tensor> ConcatBackwardStaticAxis(const std::vector<Tensor> &inputs, const Tensor &grad_out, int64_t axis) {
  std::vector<int64_t> sizes;
  for (const auto &x : inputs) sizes.push_back(x.shape()[static_cast<size_t>(axis)]);
  return paddle::split(grad_out, sizes, axis);
}
std::vector<std::vector<int64_t>> ConcatInferShapeStaticAxis(const std::vector<std::vector<int64_t>> &input_shapes, int64_t axis) {
  auto out = input_shapes[0];
  for (size_t i = 1; i < input_shapes.size(); ++i) out[static_cast<size_t>(axis)] += input_shapes[i][static_cast<size_t>(axis)];
  return {out};
}
std::vector<paddle::DataType> ConcatInferDtypeStaticAxis(const std::vector<paddle::DataType> &input_dtypes) { return {input_dtypes[0]}; }
PD_BUILD_OP(custom_concat_with_attr)
    .Inputs({paddle::Vec("X")})
    .Outputs({"Out"})
    .Attrs({"axis: int64_t"})
    .SetKernelFn(PD_KERNEL(ConcatForwardStaticAxis))
    .SetInferShapeFn(PD_INFER_SHAPE(ConcatInferShapeStaticAxis))
    .SetInferDtypeFn(PD_INFER_DTYPE(ConcatInferDtypeStaticAxis));
PD_BUILD_GRAD_OP(custom_concat_with_attr)
    .Inputs({paddle::Vec("X"), paddle::Grad("Out")})
    .Outputs({paddle::Grad(paddle::Vec("X"))})
    .Attrs({"axis: int64_t"})
    .SetKernelFn(PD_KERNEL(ConcatBackwardStaticAxis));

// Twice differentiable: x^3.
template <typename F>
Tensor each(const std::vector<const Tensor *> &xs, F f) {
  Tensor out = paddle::empty_like(*xs[0]);
  PD_DISPATCH_FLOATING_TYPES(out.type(), "cube", ([&] {
    data_t *to = out.data<data_t>();
    for (int64_t i = 0; i < out.numel(); ++i) {
      data_t given[3] = {};
      for (size_t k = 0; k < xs.size(); ++k) given[k] = xs[k]->template data<data_t>()[i];
      to[i] = f(given);
    }
  }));
  return out;
}
std::vector<Tensor> CubeForward(const Tensor &x) {
  return {each({&x}, [](auto *v) { return v[0] * v[0] * v[0]; })};
}
std::vector<Tensor> CubeBackward(const Tensor &x, const Tensor &grad_out) {
  return {each({&x, &grad_out}, [](auto *v) { return 3 * v[0] * v[0] * v[1]; })};
}
std::vector<Tensor> CubeDoubleBackward(const Tensor &x, const Tensor &grad_out, const Tensor &grad_grad_x) {
  return {each({&x, &grad_out, &grad_grad_x}, [](auto *v) { return 6 * v[0] * v[1] * v[2]; }),
          each({&x, &grad_grad_x}, [](auto *v) { return 3 * v[0] * v[0] * v[1]; })};
}
PD_BUILD_OP(custom_cube).Inputs({"X"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(CubeForward));
PD_BUILD_GRAD_OP(custom_cube).Inputs({"X", paddle::Grad("Out")}).Outputs({paddle::Grad("X")}).SetKernelFn(PD_KERNEL(CubeBackward));
PD_BUILD_DOUBLE_GRAD_OP(custom_cube)
    .Inputs({"X", paddle::Grad("Out"), paddle::Grad(paddle::Grad("X"))})
    .Outputs({paddle::New(paddle::Grad("X")), paddle::Grad(paddle::Grad("Out"))})
    .SetKernelFn(PD_KERNEL(CubeDoubleBackward));

// Two inputs, two outputs, an attribute in the shape function's way; the gradient needs no forward tensor.
std::vector<Tensor> SumDifference(const Tensor &x, const Tensor &y, float scale) {
  return {paddle::add(x, paddle::multiply(y, paddle::full({1}, scale, y.dtype()))), paddle::subtract(x, y)};
}
std::vector<Tensor> SumDifferenceBackward(const Tensor &grad_sum, const Tensor &grad_difference, float scale) {
  return {paddle::add(grad_sum, grad_difference), paddle::subtract(paddle::multiply(grad_sum, paddle::full({1}, scale, grad_sum.dtype())), grad_difference)};
}
std::vector<std::vector<int64_t>> SumDifferenceShape(std::vector<int64_t> x, std::vector<int64_t> y) { return {x, y}; }
std::vector<paddle::DataType> SumDifferenceDtype(paddle::DataType x, paddle::DataType y) { return {x, y}; }
PD_BUILD_OP(sum_difference)
    .Inputs({"X", "Y"})
    .Outputs({"Sum", "Difference"})
    .Attrs({"scale: float"})
    .SetKernelFn(PD_KERNEL(SumDifference))
    .SetInferShapeFn(PD_INFER_SHAPE(SumDifferenceShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(SumDifferenceDtype));
PD_BUILD_GRAD_OP(sum_difference)
    .Inputs({paddle::Grad("Sum"), paddle::Grad("Difference")})
    .Outputs({paddle::Grad("X"), paddle::Grad("Y")})
    .Attrs({"scale: float"})
    .SetKernelFn(PD_KERNEL(SumDifferenceBackward));

// Without shape functions, although it has two inputs.
std::vector<Tensor> OuterProduct(const Tensor &x, const Tensor &y) {
  return {paddle::multiply(paddle::reshape(x, {x.numel(), 1}), paddle::reshape(y, {1, y.numel()}))};
}
PD_BUILD_OP(outer_product).Inputs({"X", "Y"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(OuterProduct));

// Says one shape and returns another.
std::vector<Tensor> WrongShape(const Tensor &x) { return {paddle::empty({1, 7}, x.dtype())}; }
PD_BUILD_OP(wrong_shape).Inputs({"X"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(WrongShape));

// Keeps what it was given, beyond the call.
std::vector<Tensor> KeepTensors(const Tensor &x) {
  static std::vector<Tensor> kept;
  Tensor out = paddle::empty_like(x);
  const double before = kept.empty() ? 0 : kept[0].data<double>()[0] + kept[1].data<double>()[0];
  for (int64_t i = 0; i < x.numel(); ++i) out.data<double>()[i] = x.data<double>()[i] + before;
  kept = {x, out.slice(0, 1)};
  return {out};
}
PD_BUILD_OP(keep_tensors).Inputs({"X"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(KeepTensors));

// What the members and functions of the headers say, as one number each.
std::vector<Tensor> Members(const Tensor &x) {
  std::vector<double> said;
  auto gpu = paddle::GPUPlace(1);
  said.push_back(gpu.GetType() == paddle::AllocationType::GPU && gpu.GetDeviceId() == 1 && paddle::GPUPlace().GetDeviceId() == 0);
  said.push_back(x.place() == paddle::CPUPlace() && x.is_cpu() && !x.is_gpu() && x.dtype() == x.type());
  said.push_back(static_cast<double>(x.numel()) + static_cast<double>(x.shape()[1]));
  Tensor none;
  said.push_back(!none.defined() && !none.initialized() && x.defined() && x.initialized());
  auto made = paddle::empty({3, 4});
  said.push_back(made.dtype() == paddle::DataType::FLOAT32 && made.is_cpu() && made.shape() == std::vector<int64_t>({3, 4}));
  auto ones = paddle::full({3, 4}, 1.5, paddle::DataType::FLOAT64);
  auto rows = ones.slice(1, 3);
  rows.data<double>()[0] = 7;
  said.push_back(rows.shape()[0] == 2 && ones.data<double>()[4] == 7);
  auto same = paddle::full_like(x, 2);
  said.push_back(same.dtype() == x.dtype() && same.is_cpu() && same.data<float>()[0] == 2.0f && paddle::empty_like(x).shape() == x.shape());
  said.push_back(x.cast(paddle::DataType::INT32).data<int>()[0]);
  said.push_back(x.copy_to(paddle::CPUPlace(), true).data<float>()[1]);
  said.push_back(static_cast<int>(paddle::DataType::COMPLEX128) == 13 && std::string(paddle::ToString(paddle::DataType::BFLOAT16)) == "bfloat16");
  said.push_back(float(paddle::float16(1.0f) + paddle::float16(0.5)) + float(paddle::bfloat16(2)));
  paddle::complex64 i(0, 1);
  said.push_back((i * i).real);
  auto out = paddle::empty({static_cast<int64_t>(said.size())}, paddle::DataType::FLOAT64);
  for (size_t k = 0; k < said.size(); ++k) out.data<double>()[k] = said[k];
  return {out};
}
std::vector<std::vector<int64_t>> MembersShape(std::vector<int64_t>) { return {{12}}; }
std::vector<paddle::DataType> MembersDtype(paddle::DataType) { return {paddle::DataType::FLOAT64}; }
PD_BUILD_OP(members)
    .Inputs({"X"})
    .Outputs({"Out"})
    .SetKernelFn(PD_KERNEL(Members))
    .SetInferShapeFn(PD_INFER_SHAPE(MembersShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(MembersDtype));

// Functions of the framework, by number: the tests compare each with the function of the same name.
std::vector<Tensor> Functions(const Tensor &x, int which) {
  auto as_given = [&](const Tensor &y) { return y.dtype() == x.dtype() ? y : y.cast(x.dtype()); };
  auto index = paddle::full({2}, 1, paddle::DataType::INT64);
  switch (which) {
    case 0: return {paddle::matmul(x, x, false, true)};
    case 1: return {as_given(std::get<1>(paddle::argsort(x, 1, true)))};
    case 2: return {paddle::clip(x, 0.25, 0.75)};
    case 3: return {paddle::concat({x, x}, 1)};
    case 4: return {paddle::gather(x, index, 0)};
    case 5: return {std::get<0>(paddle::flatten(x, 0, 1))};
    case 6: return {paddle::split(x, {1, 2}, 0)[1]};
    case 7: return {std::get<0>(paddle::unsqueeze(x, {0}))};
    case 8: return {paddle::tile(x, {2, 1})};
    case 9: return {paddle::where(paddle::experimental::greater_than(x, paddle::full_like(x, 0.5)), x, paddle::zeros_like(x))};
    case 10: return {as_given(paddle::isclose(x, x, 1e-5, 1e-8, false))};
    case 11: return {paddle::cholesky(paddle::add(paddle::matmul(x, x, false, true), paddle::diag(paddle::ones({3}, x.dtype()), 0, 0.0f)), false)};
    case 12: return {std::get<0>(paddle::qr(x, "reduced"))};
    case 13: return {paddle::stack({x, x}, 0)};
    case 14: return {paddle::roll(x, {1}, {0})};
    case 15: return {paddle::triangular_solve(x, x, true, false, false)};
    case 16: return {std::get<0>(paddle::nll_loss(paddle::log(paddle::experimental::softmax(x, 1)), paddle::full({3}, 1, paddle::DataType::INT64),
                                                  paddle::none, -100, "mean"))};
    case 17: return {as_given(std::get<1>(paddle::unique(paddle::round(x), false, true, false, {})))};
    case 18: return {paddle::gelu(x, true)};
    case 19: return {paddle::strided_slice(x, {0, 1}, {0, 2}, {3, 0}, {2, -1})};
    case 20: return {paddle::trace(x, 0, 0, 1)};
    case 21: return {paddle::label_smooth(x, paddle::none, 0.1f)};
    case 22: return {paddle::maximum(paddle::tanh(x), paddle::sin(x))};
    case 23: return {paddle::matrix_power(x, 2)};
    case 24: return {paddle::experimental::slice(x, {0, 1}, {1, 0}, {2, 2}, {1, 1}, {0})};
    case 25: return {paddle::hardtanh(paddle::relu6(paddle::sigmoid(paddle::tril(x, 0))), 0.25f, 0.75f)};
    case 26: return {paddle::swish(paddle::hardswish(x))};
    case 27: return {paddle::fmax(paddle::fmin(x, paddle::full_like(x, 0.5)), paddle::remainder(x, paddle::full_like(x, 0.3)))};
    case 28: return {paddle::addmm(x, x, x, 2.0f, 0.5f)};
    case 29: return {paddle::meshgrid({paddle::ones({2}, x.dtype()), paddle::full({3}, 2, x.dtype())})[1]};
    case 30: return {paddle::put_along_axis(x, paddle::full({1, 1}, 1, paddle::DataType::INT64), paddle::full({1, 1}, 5, x.dtype()), 0)};
    default: PD_THROW("there is no case ", which);
  }
}
std::vector<Tensor> AnyFunction(const Tensor &x, const Tensor &, int which) { return Functions(x, which); }
PD_BUILD_OP(any_function).Inputs({"X", "Unused"}).Outputs({"Out"}).Attrs({"which: int"}).SetKernelFn(PD_KERNEL(AnyFunction));

// A tensor that may be left out: x * y, or x * 3. Its gradient is left out with it.
std::vector<Tensor> Scaled(const Tensor &x, const paddle::optional<Tensor> &y) {
  return {y ? paddle::multiply(x, y.get()) : paddle::multiply(x, paddle::full_like(x, 3.0))};
}
std::vector<std::vector<int64_t>> ScaledShape(const std::vector<int64_t> &x, const paddle::optional<std::vector<int64_t>> &) { return {x}; }
std::vector<paddle::DataType> ScaledDtype(const paddle::DataType &x, const paddle::optional<paddle::DataType> &) { return {x}; }
std::vector<Tensor> ScaledGrad(const Tensor &x, const paddle::optional<Tensor> &y, const Tensor &grad) {
  if (!y) return {paddle::multiply(grad, paddle::full_like(x, 3.0)), Tensor()};
  return {paddle::multiply(grad, *y), paddle::multiply(grad, x)};
}
PD_BUILD_OP(scaled)
    .Inputs({"X", paddle::Optional("Y")})
    .Outputs({"Out"})
    .SetKernelFn(PD_KERNEL(Scaled))
    .SetInferShapeFn(PD_INFER_SHAPE(ScaledShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(ScaledDtype));
PD_BUILD_GRAD_OP(scaled)
    .Inputs({"X", paddle::Optional("Y"), paddle::Grad("Out")})
    .Outputs({paddle::Grad("X"), paddle::Grad(paddle::Optional("Y"))})
    .SetKernelFn(PD_KERNEL(ScaledGrad));

// In place: x += y, and b doubled beside a new tensor.
void AddInto(Tensor &x, const Tensor &y) {  // NOLINT
  for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] += y.data<float>()[i];
}
std::vector<Tensor> AddIntoGrad(const Tensor &x, const Tensor &y, const Tensor &grad) { return {grad, paddle::multiply(grad, paddle::ones_like(y))}; }
PD_BUILD_OP(add_into).Inputs({"X", "Y"}).Outputs({"Out"}).SetInplaceMap({{"X", "Out"}}).SetKernelFn(PD_KERNEL(AddInto));
PD_BUILD_GRAD_OP(add_into)
    .Inputs({"X", "Y", paddle::Grad("Out")})
    .Outputs({paddle::Grad("X"), paddle::Grad("Y")})
    .SetKernelFn(PD_KERNEL(AddIntoGrad));

std::vector<Tensor> SumAndDouble(const Tensor &a, Tensor &b) {  // NOLINT
  Tensor sum = paddle::add(a, b);
  for (int64_t i = 0; i < b.numel(); ++i) b.data<float>()[i] *= 2;
  return {sum};
}
std::vector<std::vector<int64_t>> BothShapes(const std::vector<int64_t> &a, const std::vector<int64_t> &b) { return {b, a}; }
std::vector<paddle::DataType> BothDtypes(const paddle::DataType &a, const paddle::DataType &b) { return {b, a}; }
PD_BUILD_OP(sum_and_double)
    .Inputs({"A", "B"})
    .Outputs({"Doubled", "Sum"})
    .SetInplaceMap({{"B", "Doubled"}})
    .SetKernelFn(PD_KERNEL(SumAndDouble))
    .SetInferShapeFn(PD_INFER_SHAPE(BothShapes))
    .SetInferDtypeFn(PD_INFER_DTYPE(BothDtypes));
