// Kernel functions in each form that writes: in place, by pointers, lists and what may be left out; with gradients of each.
#include <cmath>
#include <string>
#include <vector>

#include "paddle/extension.h"
#include "paddle/phi/api/include/context_pool.h"
#include "paddle/phi/backends/all_context.h"

using paddle::DataType;
using paddle::Grad;
using paddle::Optional;
using paddle::Tensor;
using paddle::Vec;
using Shape = std::vector<int64_t>;

template <typename F>
static void Each(Tensor &x, F f) {
  PD_DISPATCH_FLOATING_AND_INTEGRAL_TYPES(x.dtype(), "each", ([&] {
    for (int64_t i = 0; i < x.numel(); ++i) x.data<data_t>()[i] = static_cast<data_t>(f(x.data<data_t>()[i], i));
  }));
}

// Outputs by pointers, which the function gives memory: the absolute value and the sign.
static void Polar(const Tensor &x, float factor, Tensor *length, Tensor *sign) {
  for (Tensor *out : {length, sign}) {
    out->reshape(x.shape());
    out->mutable_data<float>(x.place());
  }
  for (int64_t i = 0; i < x.numel(); ++i) {
    length->data<float>()[i] = factor * std::fabs(x.data<float>()[i]);
    sign->data<float>()[i] = x.data<float>()[i] < 0 ? -1.0f : 1.0f;
  }
}
static std::vector<Shape> PolarShape(const Shape &x) { return {x, x}; }
static std::vector<DataType> PolarDtype(const DataType &x) { return {x, x}; }
static void PolarGrad(const Tensor &sign, const Tensor &grad, float factor, Tensor *grad_x) { *grad_x = grad * sign * factor; }
PD_BUILD_OP(polar)
    .Inputs({"X"})
    .Outputs({"Length", "Sign"})
    .Attrs({"factor: float"})
    .SetKernelFn(PD_KERNEL(Polar))
    .SetInferShapeFn(PD_INFER_SHAPE(PolarShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(PolarDtype));
PD_BUILD_GRAD_OP(polar).Inputs({"Sign", Grad("Length")}).Outputs({Grad("X")}).Attrs({"factor: float"}).SetKernelFn(PD_KERNEL(PolarGrad));

// A list of inputs, whose gradients go into a list of pointers.
static std::vector<Tensor> Weighted(const std::vector<Tensor> &xs) {
  Tensor out = paddle::zeros_like(xs[0]);
  for (size_t k = 0; k < xs.size(); ++k) out = out + xs[k] * static_cast<int>(k + 1);
  return {out};
}
static void WeightedGrad(const Tensor &grad, std::vector<Tensor *> grads) {
  for (size_t k = 0; k < grads.size(); ++k) *grads[k] = grad * static_cast<int>(k + 1);
}
static std::vector<Shape> FirstShape(const std::vector<Shape> &xs) { return {xs[0]}; }
static std::vector<DataType> FirstDtype(const std::vector<DataType> &xs) { return {xs[0]}; }
PD_BUILD_OP(weighted)
    .Inputs({Vec("X")})
    .Outputs({"Out"})
    .SetKernelFn(PD_KERNEL(Weighted))
    .SetInferShapeFn(PD_INFER_SHAPE(FirstShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(FirstDtype));
PD_BUILD_GRAD_OP(weighted).Inputs({Grad("Out")}).Outputs({Grad(Vec("X"))}).SetKernelFn(PD_KERNEL(WeightedGrad));

// In place, and the gradient too: what arrives for the result becomes that of the input.
static void ReluInto(Tensor &x) {
  Each(x, [](auto v, int64_t) { return v > 0 ? v : 0; });
}
static void ReluIntoGrad(const Tensor &out, Tensor &grad) {
  const float *y = out.data<float>();
  Each(grad, [y](auto v, int64_t i) { return y[i] > 0 ? v : 0; });
}
PD_BUILD_OP(relu_into).Inputs({"X"}).Outputs({"Out"}).SetInplaceMap({{"X", "Out"}}).SetKernelFn(PD_KERNEL(ReluInto));
PD_BUILD_GRAD_OP(relu_into)
    .Inputs({"Out", Grad("Out")})
    .Outputs({Grad("X")})
    .SetInplaceMap({{Grad("Out"), Grad("X")}})
    .SetKernelFn(PD_KERNEL(ReluIntoGrad));

// One gradient in place, one that is new.
static void Blend(Tensor &x, const Tensor &y) { x = x * 2 + y; }
static std::vector<Tensor> BlendGrad(const Tensor &y, Tensor &grad) {
  Tensor other = grad + paddle::zeros_like(y);
  grad = grad * 2;
  return {other};
}
PD_BUILD_OP(blend).SetKernelFn(PD_KERNEL(Blend)).SetInplaceMap({{"X", "Out"}}).Inputs({"X", "Y"}).Outputs({"Out"});
PD_BUILD_GRAD_OP(blend)
    .Inputs({"Y", Grad("Out")})
    .Outputs({Grad("X"), Grad("Y")})
    .SetInplaceMap({{Grad("Out"), Grad("X")}})
    .SetKernelFn(PD_KERNEL(BlendGrad));

// A list in place.
static void RaiseAll(std::vector<Tensor> &xs, const Tensor &y) {
  for (auto &x : xs) x = x + y;
}
static std::vector<Tensor> RaiseAllGrad(const std::vector<Tensor> &xs, const Tensor &y, std::vector<Tensor> &grads) {
  Tensor sum = paddle::zeros_like(y);
  for (auto &grad : grads) sum = sum + grad;
  PD_CHECK(xs.size() == grads.size());
  return {sum};
}
PD_BUILD_OP(raise_all)
    .Inputs({Vec("X"), "Y"})
    .Outputs({Vec("Out")})
    .SetInplaceMap({{Vec("X"), Vec("Out")}})
    .SetKernelFn(PD_KERNEL(RaiseAll));
PD_BUILD_GRAD_OP(raise_all)
    .Inputs({Vec("X"), "Y", Grad(Vec("Out"))})
    .Outputs({Grad(Vec("X")), Grad("Y")})
    .SetInplaceMap({{Grad(Vec("Out")), Grad(Vec("X"))}})
    .SetKernelFn(PD_KERNEL(RaiseAllGrad));

// What may be left out, in place beside a new tensor: without functions for shapes, and with those of the new tensor only.
static std::vector<Tensor> AddMaybe(const Tensor &x, paddle::optional<Tensor> &y) {
  if (!y) return {x + x};
  Tensor out = x + y.get();
  *y = *y * 10;
  return {out};
}
static std::vector<Tensor> AddMaybeGrad(const Tensor &grad, const paddle::optional<Tensor> &y, const paddle::optional<Tensor> &grad_y) {
  if (!y) return {grad * 2};
  return {grad, grad + grad_y.get() * 10};
}
PD_BUILD_OP(add_maybe)
    .Inputs({"X", Optional("Y")})
    .Outputs({"Out", Optional("OutY")})
    .SetInplaceMap({{Optional("Y"), Optional("OutY")}})
    .SetKernelFn(PD_KERNEL(AddMaybe));
PD_BUILD_GRAD_OP(add_maybe)
    .Inputs({Grad("Out"), Optional("Y"), Grad(Optional("OutY"))})
    .Outputs({Grad("X"), Grad(Optional("Y"))})
    .SetKernelFn(PD_KERNEL(AddMaybeGrad));

static std::vector<Tensor> AddMaybeAll(const Tensor &x, paddle::optional<std::vector<Tensor>> &ys) {
  Tensor out = x * 1;
  if (ys)
    for (auto &y : *ys) {
      out = out + y;
      y = y * 10;
    }
  return {out};
}
static std::vector<Shape> SameShape(const Shape &x, const paddle::optional<std::vector<Shape>> &) { return {x}; }
static std::vector<DataType> SameDtype(const DataType &x, const paddle::optional<std::vector<DataType>> &) { return {x}; }
PD_BUILD_OP(add_maybe_all)
    .Inputs({"X", Optional(Vec("Y"))})
    .Outputs({"Out", Optional(Vec("OutY"))})
    .SetInplaceMap({{Optional(Vec("Y")), Optional(Vec("OutY"))}})
    .SetKernelFn(PD_KERNEL(AddMaybeAll))
    .SetInferShapeFn(PD_INFER_SHAPE(SameShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(SameDtype));

// Shape and dtype functions that take the first of the attributes.
static DataType Named(const std::string &name) { return name == "float64" ? DataType::FLOAT64 : name == "int32" ? DataType::INT32 : DataType::FLOAT32; }
static std::vector<Tensor> CastRows(const Tensor &x, const std::string &dtype, const std::vector<int64_t> &, int rows, float factor) {
  return {(x * factor).cast(Named(dtype)).slice(0, rows)};
}
static std::vector<Shape> CastRowsShape(const Shape &x, const std::string &, const std::vector<int64_t> &unused, int rows) {
  PD_CHECK(unused.size() == 2 && unused[1] == 7);
  return {{rows, x[1]}};
}
static std::vector<DataType> CastRowsDtype(const DataType &, const std::string &dtype) { return {Named(dtype)}; }
PD_BUILD_OP(cast_rows)
    .Inputs({"X"})
    .Outputs({"Out"})
    .Attrs({"dtype: std::string", "unused: std::vector<int64_t>", "rows: int", "factor: float"})
    .SetKernelFn(PD_KERNEL(CastRows))
    .SetInferShapeFn(PD_INFER_SHAPE(CastRowsShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(CastRowsDtype));

// Differentiable twice, with complex numbers, and with functions for the shapes and dtypes of gradients: x squared.
static Tensor Product(const Tensor &a, const Tensor &b, double factor, bool conjugate) {
  Tensor out = paddle::empty_like(b);
  PD_DISPATCH_FLOATING_AND_COMPLEX_TYPES(b.dtype(), "product", ([&] {
    const Tensor left = conjugate ? paddle::conj(a) : a;
    for (int64_t i = 0; i < b.numel(); ++i) out.data<data_t>()[i] = left.data<data_t>()[i] * b.data<data_t>()[i] * static_cast<data_t>(factor);
  }));
  return out;
}
static std::vector<Tensor> Square(const Tensor &x) { return {Product(x, x, 1, false)}; }
static std::vector<Tensor> SquareGrad(const Tensor &x, const Tensor &grad) { return {Product(x, grad, 2, true)}; }
static std::vector<Tensor> SquareGradGrad(const Tensor &x, const Tensor &grad, const Tensor &grad_grad) {
  return {Product(grad, grad_grad, 2, true), Product(x, grad_grad, 2, true)};
}
static std::vector<Shape> OneShape(const Shape &x) { return {x}; }
static std::vector<DataType> OneDtype(const DataType &x) { return {x}; }
static std::vector<Shape> GradShape(const Shape &x, const Shape &) { return {x}; }
static std::vector<DataType> GradDtype(const DataType &x, const DataType &) { return {x}; }
static std::vector<Shape> GradGradShape(const Shape &x, const Shape &grad, const Shape &) { return {x, grad}; }
static std::vector<DataType> GradGradDtype(const DataType &x, const DataType &grad, const DataType &) { return {x, grad}; }
PD_BUILD_OP(squared)
    .Inputs({"X"})
    .Outputs({"Out"})
    .SetKernelFn(PD_KERNEL(Square))
    .SetInferShapeFn(PD_INFER_SHAPE(OneShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(OneDtype));
PD_BUILD_GRAD_OP(squared)
    .Inputs({"X", Grad("Out")})
    .Outputs({Grad("X")})
    .SetKernelFn(PD_KERNEL(SquareGrad))
    .SetInferShapeFn(PD_INFER_SHAPE(GradShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(GradDtype));
PD_BUILD_DOUBLE_GRAD_OP(squared)
    .Inputs({"X", Grad("Out"), Grad(Grad("X"))})
    .Outputs({paddle::New("X"), Grad(Grad("Out"))})
    .SetKernelFn(PD_KERNEL(SquareGradGrad))
    .SetInferShapeFn(PD_INFER_SHAPE(GradGradShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(GradGradDtype));

// Two gradients of one that arrives; and a gradient in another dtype, because its function says so.
static std::vector<Tensor> Mix(const Tensor &x, const Tensor &y) { return {x + y * 3}; }
static std::vector<Tensor> MixGrad(const Tensor &grad) { return {grad, grad * 3}; }
static std::vector<Shape> MixShape(const Shape &x, const Shape &) { return {x}; }
static std::vector<DataType> MixDtype(const DataType &x, const DataType &) { return {x}; }
PD_BUILD_OP(mix)
    .Inputs({"X", "Y"})
    .Outputs({"Out"})
    .SetKernelFn(PD_KERNEL(Mix))
    .SetInferShapeFn(PD_INFER_SHAPE(MixShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(MixDtype));
PD_BUILD_GRAD_OP(mix).Inputs({Grad("Out")}).Outputs({Grad("X"), Grad("Y")}).SetKernelFn(PD_KERNEL(MixGrad));

static std::vector<Tensor> Copied(const Tensor &x) { return {x.assign()}; }
static std::vector<Tensor> WideGrad(const Tensor &grad) { return {grad.cast(DataType::FLOAT64)}; }
static std::vector<DataType> WideDtype(const DataType &) { return {DataType::FLOAT64}; }
PD_BUILD_OP(copied).Inputs({"X"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(Copied));
PD_BUILD_GRAD_OP(copied)
    .Inputs({Grad("Out")})
    .Outputs({Grad("X")})
    .SetKernelFn(PD_KERNEL(WideGrad))
    .SetInferDtypeFn(PD_INFER_DTYPE(WideDtype));

// Attributes of a gradient without lists, of an operator that has one.
static std::vector<Tensor> Shifted(const Tensor &x, const paddle::optional<Tensor> &y, int by, float factor) {
  Tensor out = x * factor + by;
  return {y ? out + *y : out};
}
static std::vector<Tensor> ShiftedGrad(const Tensor &grad, float factor) { return {grad * factor}; }
static std::vector<Shape> ShiftedShape(const Shape &x, const paddle::optional<Shape> &) { return {x}; }
static std::vector<DataType> ShiftedDtype(const DataType &x, const paddle::optional<DataType> &) { return {x}; }
PD_BUILD_OP(shifted)
    .Inputs({"X", Optional("Y")})
    .Outputs({"Out"})
    .Attrs({"by: int", "factor: float"})
    .SetKernelFn(PD_KERNEL(Shifted))
    .SetInferShapeFn(PD_INFER_SHAPE(ShiftedShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(ShiftedDtype));
PD_BUILD_GRAD_OP(shifted).Inputs({Grad("Out")}).Outputs({Grad("X")}).Attrs({"factor: float"}).SetKernelFn(PD_KERNEL(ShiftedGrad));

// The contexts of devices: memory that comes from that of the host; another device has none here.
static std::vector<Tensor> Contexts(const Tensor &x, const Tensor &, bool elsewhere) {
  auto &pool = paddle::experimental::DeviceContextPool::Instance();
  const phi::DeviceContext *found = pool.Get(elsewhere ? phi::Place(paddle::GPUPlace(0)) : x.place());
  PD_CHECK(found == phi::DeviceContextPool::Instance().Get(x.place()) && found == pool.Get<paddle::AllocationType::CPU>(x.place()));
  PD_CHECK(found->GetPlace() == paddle::CPUPlace());
  auto memory = paddle::GetAllocator(x.place())->Allocate(sizeof(float));
  *static_cast<float *>(memory->ptr()) = 3;
  pool.SyncDeviceContext(x.place());
  return {x * *static_cast<float *>(memory->ptr())};
}
PD_BUILD_OP(contexts).Inputs({"X", "Unused"}).Outputs({"Out"}).Attrs({"elsewhere: bool"}).SetKernelFn(PD_KERNEL(Contexts));

// Functions of complex numbers, each undone by another; the last one makes a real number of them.
static std::vector<Tensor> ComplexFunctions(const Tensor &x) {
  Tensor out = paddle::empty_like(x);
  PD_DISPATCH_COMPLEX_TYPES(x.dtype(), "complex_functions", ([&] {
    for (int64_t i = 0; i < x.numel(); ++i) {
      const data_t v = x.data<data_t>()[i];
      const data_t same = atanh(tanh(asinh(sinh(acosh(cosh(atan(tan(asin(sin(acos(cos(log(exp(sqrt(pow(v, data_t(2)))))))))))))))));
      PD_CHECK(isfinite(same) && !isnan(same) && !isinf(same) && v == data_t(std::complex<decltype(v.real)>(v)), "at ", i, ": ", same);
      out.data<data_t>()[i] = same + data_t(abs(v), arg(v));
    }
  }));
  return {out};
}
PD_BUILD_OP(complex_functions).Inputs({"X"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(ComplexFunctions));
