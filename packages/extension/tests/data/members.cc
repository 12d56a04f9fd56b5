// Each member and operator of paddle::Tensor that is a function of the framework, by number: the tests compare with numpy.
#include <vector>

#include "paddle/extension.h"

using paddle::DataType;
using paddle::Tensor;

// a, b: floats of shape [2, 3]; n: integers of that shape.
static std::vector<Tensor> Member(const Tensor &a, const Tensor &b, const Tensor &n, int which) {
  const Tensor row = paddle::full({1}, 1, DataType::INT64), square = paddle::full({3, 3}, 2, a.dtype());
  switch (which) {
    case 0: return {a + b};
    case 1: return {a - b};
    case 2: return {a * b};
    case 3: return {a / b};
    case 4: return {a + 2};
    case 5: return {a - 2.5};
    case 6: return {a * 3};
    case 7: return {a / 4.0f};
    case 8: return {1 + a};
    case 9: return {1.5 - a};
    case 10: return {int64_t{2} * a};
    case 11: return {3.0f / a};
    case 12: return {a == b};
    case 13: return {a != b};
    case 14: return {a < b};
    case 15: return {a <= b};
    case 16: return {a > b};
    case 17: return {a >= b};
    case 18: return {n & (n + 1)};
    case 19: return {n | (n + 1)};
    case 20: return {n ^ (n + 1)};
    case 21: return {~n};
    case 22: return {-a};
    case 23: return {(-a).abs()};
    case 24: return {a.assign()};
    case 25: return {a.exp()};
    case 26: return {a.log()};
    case 27: return {a.floor()};
    case 28: return {a.maximum(b)};
    case 29: return {a.minimum(b)};
    case 30: return {a.pow(2)};
    case 31: return {a.pow(b)};
    case 32: return {a.elementwise_pow(b)};
    case 33: return {a.matmul(b, false, true)};
    case 34: return {a.matmul(square)};
    case 35: return {a.sum()};
    case 36: return {a.sum({1}, DataType::FLOAT64, true)};
    case 37: return {a.max({0})};
    case 38: return {a.scale(2.0, 1.0f, false)};
    case 39: return {a.tile({2, 1})};
    case 40: return {a.slice(0, 1).expand({4, 3})};
    case 41: return {a.roll({1}, {1})};
    case 42: return {a.gather_nd(row)};
    case 43: return {a.scatter(row, b.slice(0, 1))};
    case 44: return {a.scatter_nd_add(paddle::reshape(row, {1, 1}), b.slice(0, 1))};
    case 45: return {n * 2};
    case 46: return {10 - n};
    case 47: {
      Tensor into = paddle::zeros({3, 2}, a.dtype()), fresh;
      into.copy_(a, a.place(), true);
      fresh.copy_(into, paddle::CPUPlace(), true);
      return {fresh};
    }
    case 48: {
      Tensor small = paddle::zeros({5}, a.dtype());
      small.copy_(a, a.place(), true);
      return {small};
    }
    default: PD_THROW("there is no case ", which);
  }
}

// The results in one dtype, that of `a`, once they had the one that they should.
static std::vector<Tensor> AsFloats(const Tensor &a, const Tensor &b, const Tensor &n, int which) {
  const Tensor found = Member(a, b, n, which)[0];
  const bool compares = which >= 12 && which <= 17, whole = (which >= 18 && which <= 21) || which == 45 || which == 46;
  PD_CHECK(found.dtype() == (compares ? DataType::BOOL : whole ? DataType::INT64 : a.dtype()), "case ", which, " gives ", paddle::ToString(found.dtype()));
  return {found.cast(a.dtype())};
}
PD_BUILD_OP(tensor_member).Inputs({"A", "B", "N"}).Outputs({"Out"}).Attrs({"which: int"}).SetKernelFn(PD_KERNEL(AsFloats));

// What a tensor says of itself: 1 for each that holds.
static std::vector<Tensor> Says(const Tensor &x, const Tensor &) {
  std::vector<bool> said;
  said.push_back(x.dims() == phi::make_ddim({2, 3}) && x.dims()[1] == 3 && x.dims().size() == 2);
  said.push_back(x.strides()[0] == 3 && x.strides()[1] == 1);
  said.push_back(x.place() == paddle::PlaceType::kCPU && paddle::PlaceType::kCPU == x.place() && !(x.place() == paddle::PlaceType::kGPU));
  said.push_back(x.place() != paddle::PlaceType::kGPU && paddle::GPUPlace(3) == paddle::PlaceType::kGPU);
  Tensor named = x;
  named.set_name("weight");
  const Tensor copy = named;
  said.push_back(x.name().empty() && named.name() == "weight" && copy.name() == "weight");
  said.push_back(Tensor("later").name() == "later" && !Tensor("later").defined());
  said.push_back(x.is_dense_tensor() && !x.is_selected_rows() && !x.is_sparse_coo_tensor() && !x.is_sparse_csr_tensor());
  said.push_back(!x.is_string_tensor() && !x.is_dist_tensor() && !x.is_xpu() && !x.is_custom_device() && !x.is_gpu_pinned());
  Tensor out = paddle::empty({static_cast<int64_t>(said.size())}, DataType::BOOL);
  for (size_t i = 0; i < said.size(); ++i) out.data<bool>()[i] = said[i];
  return {out.cast(x.dtype())};
}
PD_BUILD_OP(tensor_says).Inputs({"X", "Unused"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(Says));
