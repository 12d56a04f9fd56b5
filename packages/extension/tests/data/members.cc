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

// What a tensor's phi::DenseTensor is: 1 for each that holds.
static Tensor kept;
static std::shared_ptr<phi::TensorBase> kept_dense;
static int deleted = 0;
static std::vector<Tensor> Impl(const Tensor &x, const Tensor &) {
  std::vector<bool> said;
  auto dense = std::dynamic_pointer_cast<phi::DenseTensor>(x.impl());
  said.push_back(dense && dense == x.impl() && dense.get() == Tensor(x).impl().get());
  said.push_back(dense->dims() == x.dims() && dense->dtype() == x.dtype() && dense->numel() == x.numel() && dense->meta().dims == x.dims());
  said.push_back(dense->data() == x.data() && dense->data<double>()[1] == x.data<double>()[1] && dense->place() == x.place());
  // A DenseTensor that a context gives memory becomes a tensor.
  auto made = std::make_shared<phi::DenseTensor>();
  made->Resize(phi::make_ddim({3, 2}));
  double *to = paddle::experimental::DeviceContextPool::Instance().GetMutable(paddle::CPUPlace())->Alloc<double>(made.get());
  for (int i = 0; i < 6; ++i) to[i] = i;
  Tensor of(made, "made");
  said.push_back(of.name() == "made" && of.shape() == std::vector<int64_t>({3, 2}) && of.data<double>()[5] == 5 && of.impl() == made);
  // What is done to one is done to the other.
  made->Resize({2, 3});
  said.push_back(of.shape() == std::vector<int64_t>({2, 3}));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  of.reshape({6});
#pragma GCC diagnostic pop
  said.push_back(made->dims() == phi::make_ddim({6}) && made->data<double>()[5] == 5);
  made->ShareDataWith(*dense);
  said.push_back(of.data() == x.data() && of.shape() == x.shape() && (of + x).data<double>()[1] == 2 * x.data<double>()[1]);
  Tensor row = x.slice(1, 2);
  auto second = std::dynamic_pointer_cast<phi::DenseTensor>(row.impl());
  said.push_back(second->data<double>()[0] == x.data<double>()[3] && second->dims()[0] == 1 && second->Holder() == dense->Holder());
  Tensor set;
  said.push_back(!set.impl());
  set.set_impl(x.impl());
  said.push_back(set.data() == x.data());
  set.set_impl(nullptr);
  said.push_back(!set.defined());
  // Memory of somebody else.
  static double numbers[] = {1, 2, 3, 4};
  {
    Tensor blob = paddle::from_blob(numbers, {2, 2}, DataType::FLOAT64, phi::DataLayout::NCHW, paddle::CPUPlace(), [](void *) { ++deleted; });
    const Tensor again = blob;
    said.push_back(again.data<double>()[3] == 4 && blob.sum().data<double>()[0] == 10 && deleted == 0);
  }
  said.push_back(deleted == 1);
  deleted = 0;
  // Differentiation and versions.
  said.push_back(!x.get_autograd_meta() && of.current_inplace_version() == 0 && (of.bump_inplace_version(), of.current_inplace_version() == 1));
  // Scalars and whole numbers.
  const paddle::Scalar complex(paddle::complex64(1.5f, -2.0f));
  said.push_back(complex.to<paddle::complex128>().imag == -2.0 && complex.to<float>() == 1.5f && complex.ToRawString() == "1.5-2j");
  said.push_back(paddle::Scalar(3).ToString() == "Scalar(int32(3))" && paddle::Scalar(2) == paddle::Scalar(2) && paddle::Scalar(2) != paddle::Scalar(2.0));
  said.push_back(paddle::IntArray(x.dims()).GetData() == x.shape() && paddle::experimental::ExtractPlainVector<int>({1, 2.5})[1] == 2);
  PD_VISIT_ALL_TYPES(x.dtype(), "visit", ([&] { said.push_back(std::is_same<data_t, double>::value); }));
  PD_DISPATCH_FLOATING_AND_COMPLEX_AND_1_TYPE(DataType::INT32, DataType::INT32, "one", ([&] { said.push_back(std::is_same<data_t, int>::value); }));
  // Kept beyond the call: the memory is the tensor's own from then on.
  kept = x;
  kept_dense = second;
  Tensor out = paddle::empty({static_cast<int64_t>(said.size())}, DataType::BOOL);
  for (size_t i = 0; i < said.size(); ++i) out.data<bool>()[i] = said[i];
  return {out.cast(x.dtype())};
}
PD_BUILD_OP(tensor_impl).Inputs({"X", "Unused"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(Impl));

static std::vector<Tensor> Kept(const Tensor &x, const Tensor &) {
  const auto &dense = static_cast<const phi::DenseTensor &>(*kept_dense);
  PD_CHECK(dense.data<double>() == kept.data<double>() + 3 && dense.data() != x.data());
  return {Tensor(kept_dense) + kept.slice(1, 2)};
}
PD_BUILD_OP(tensor_kept).Inputs({"X", "Unused"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(Kept));
