// Kernels in the form of PaddleCustomDevice, for a device whose memory is the host's: what a small network needs, and some that look at
// everything that a kernel is told.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "paddle/phi/capi/all.h"

namespace custom_kernel {

template <typename T>
void AddRawKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::DenseTensor &y, int axis, phi::DenseTensor *out) {
  PD_CHECK(axis == -1, "axis ", axis);
  auto x_data = x.data<T>();
  auto y_data = y.data<T>();
  auto out_data = dev_ctx.template Alloc<T>(out);
  for (auto i = 0; i < x.numel(); ++i) out_data[i] = x_data[i] + y_data[i];
}

template <typename T>
void AddKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::DenseTensor &y, phi::DenseTensor *out) {
  AddRawKernel<T>(dev_ctx, x, y, -1, out);
}

template <typename T, typename R, typename F>
void Binary(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::DenseTensor &y, phi::DenseTensor *out) {
  std::transform(x.data<T>(), x.data<T>() + x.numel(), y.data<T>(), dev_ctx.template Alloc<R>(out), F());
}
#define BINARY(NAME, RESULT, FUNCTION)                                                                                          \
  template <typename T>                                                                                                         \
  void NAME(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::DenseTensor &y, phi::DenseTensor *out) {         \
    Binary<T, RESULT, FUNCTION>(dev_ctx, x, y, out);                                                                            \
  }
BINARY(MultiplyKernel, T, std::multiplies<T>)
BINARY(DivideKernel, T, std::divides<T>)
BINARY(EqualKernel, bool, std::equal_to<T>)
BINARY(NotEqualKernel, bool, std::not_equal_to<T>)

template <typename T>
void WhereKernel(const phi::Context &dev_ctx, const phi::DenseTensor &condition, const phi::DenseTensor &x, const phi::DenseTensor &y, phi::DenseTensor *out) {
  T *to = dev_ctx.template Alloc<T>(out);
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = condition.data<bool>()[i] ? x.data<T>()[i] : y.data<T>()[i];
}

template <typename T>
void ReluKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, phi::DenseTensor *out) {
  T *to = dev_ctx.template Alloc<T>(out);
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = std::max(x.data<T>()[i], T(0));
}

template <typename T>
void ReluGradKernel(const phi::Context &dev_ctx, const phi::DenseTensor &out, const phi::DenseTensor &dout, phi::DenseTensor *dx) {
  T *to = dev_ctx.template Alloc<T>(dx);
  for (int64_t i = 0; i < out.numel(); ++i) to[i] = out.data<T>()[i] > T(0) ? dout.data<T>()[i] : T(0);
}

// With the transposed operands in memory of the device for the time of the call.
template <typename T>
void MatmulKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::DenseTensor &y, bool transpose_x, bool transpose_y, phi::DenseTensor *out) {
  std::vector<int64_t> x_dims = x.dims(), y_dims = y.dims();
  PD_CHECK(x_dims.size() == 2 && y_dims.size() == 2, "matmul of ranks ", x_dims.size(), " and ", y_dims.size());
  auto straight = [&dev_ctx](const phi::DenseTensor &given, bool transpose) {
    phi::DenseTensor made;
    if (!transpose) {
      made.ShareDataWith(given);
      return made;
    }
    const auto dims = given.dims();
    made.Resize({dims[1], dims[0]});
    T *to = dev_ctx.template Alloc<T>(&made);
    for (int64_t i = 0; i < dims[0]; ++i)
      for (int64_t j = 0; j < dims[1]; ++j) to[j * dims[0] + i] = given.data<T>()[i * dims[1] + j];
    return made;
  };
  const phi::DenseTensor a = straight(x, transpose_x), b = straight(y, transpose_y);
  const int64_t m = a.dims()[0], inner = a.dims()[1], n = b.dims()[1];
  out->Resize({m, n});
  T *to = dev_ctx.template Alloc<T>(out);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < inner; ++k) sum += static_cast<double>(a.data<T>()[i * inner + k]) * b.data<T>()[k * n + j];
      to[i * n + j] = static_cast<T>(sum);
    }
}

template <typename T>
void SoftmaxKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, int axis, phi::DenseTensor *out) {
  const int64_t rank = static_cast<int64_t>(x.dims().size()), n = x.dims().back();
  PD_CHECK(axis == -1 || axis == rank - 1, "softmax along axis ", axis);
  T *to = dev_ctx.template Alloc<T>(out);
  for (int64_t row = 0; row < x.numel() / n; ++row) {
    const T *a = x.data<T>() + row * n, largest = *std::max_element(a, a + n);
    T total = 0;
    for (int64_t i = 0; i < n; ++i) total += to[row * n + i] = std::exp(a[i] - largest);
    for (int64_t i = 0; i < n; ++i) to[row * n + i] /= total;
  }
}

template <typename T>
void CrossEntropyKernel(const phi::Context &dev_ctx, const phi::DenseTensor &logits, const phi::DenseTensor &label, bool soft_label, bool use_softmax,
                        bool numeric_stable_mode, int ignore_index, int axis, phi::DenseTensor *softmax, phi::DenseTensor *loss) {
  PD_CHECK(!soft_label && use_softmax && numeric_stable_mode && label.dtype() == phi::DataType::INT64, "soft labels");
  SoftmaxKernel<T>(dev_ctx, logits, axis, softmax);
  const int64_t n = logits.dims()[1];
  T *to = dev_ctx.template Alloc<T>(loss);
  for (int64_t i = 0; i < logits.dims()[0]; ++i) {
    const int64_t at = label.data<int64_t>()[i];
    to[i] = at == ignore_index ? T(0) : -std::log(softmax->data<T>()[i * n + at]);
  }
}

template <typename T>
void CrossEntropyGradKernel(const phi::Context &dev_ctx, const phi::DenseTensor &label, const phi::DenseTensor &softmax, const phi::DenseTensor &loss_grad,
                            bool, bool, bool, int ignore_index, int, phi::DenseTensor *logits_grad) {
  const int64_t n = softmax.dims()[1];
  T *to = dev_ctx.template Alloc<T>(logits_grad);
  for (int64_t i = 0; i < softmax.numel(); ++i) {
    const int64_t at = label.data<int64_t>()[i / n];
    to[i] = at == ignore_index ? T(0) : (softmax.data<T>()[i] - (at == i % n ? T(1) : T(0))) * loss_grad.data<T>()[i / n];
  }
}

template <typename T, typename Out>
void CastTo(const phi::Context &dev_ctx, const phi::DenseTensor &x, phi::DenseTensor *out) {
  Out *to = dev_ctx.template Alloc<Out>(out);
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = static_cast<Out>(x.data<T>()[i]);
}

template <typename T>
void CastKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, phi::DataType out_dtype, phi::DenseTensor *out) {
  switch (out_dtype) {
    case phi::DataType::FLOAT32: return CastTo<T, float>(dev_ctx, x, out);
    case phi::DataType::FLOAT64: return CastTo<T, double>(dev_ctx, x, out);
    case phi::DataType::FLOAT16: return CastTo<T, phi::dtype::float16>(dev_ctx, x, out);
    case phi::DataType::INT32: return CastTo<T, int32_t>(dev_ctx, x, out);
    case phi::DataType::INT64: return CastTo<T, int64_t>(dev_ctx, x, out);
    case phi::DataType::BOOL: return CastTo<T, bool>(dev_ctx, x, out);
    default: PD_THROW("cast to ", out_dtype);
  }
}

// Sums or means along axes, in memory of the host that is copied where it belongs.
template <typename T>
void Reduce(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::IntArray &dims, bool mean, phi::DenseTensor *out) {
  const auto sizes = x.dims(), axes = dims.GetData();
  std::vector<T> sums(static_cast<size_t>(out->numel()), T(0));
  for (int64_t i = 0; i < x.numel(); ++i) {
    int64_t rest = i, at = 0, step = 1;
    for (int64_t axis = static_cast<int64_t>(sizes.size()) - 1; axis >= 0; rest /= sizes[axis--])
      if (!axes.empty() && std::find(axes.begin(), axes.end(), axis) == axes.end()) {
        at += rest % sizes[axis] * step;
        step *= sizes[axis];
      }
    sums[at] += x.data<T>()[i];
  }
  T *to = dev_ctx.template HostAlloc<T>(out);
  for (int64_t i = 0; i < out->numel(); ++i) to[i] = mean ? sums[i] / static_cast<T>(x.numel() / out->numel()) : sums[i];
}

template <typename T>
void MeanKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::IntArray &dims, bool keep_dim, phi::DenseTensor *out) {
  (void)keep_dim;
  Reduce<T>(dev_ctx, x, dims, true, out);
}

template <typename T>
void SumKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::IntArray &dims, phi::DataType out_dtype, bool keep_dim, phi::DenseTensor *out) {
  PD_CHECK(out_dtype == phi::DataType::UNDEFINED && !(keep_dim && out->dims().size() != x.dims().size()));
  Reduce<T>(dev_ctx, x, dims, false, out);
}

template <typename T>
void ArgMaxKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::Scalar &axis, bool keepdims, bool flatten, int dtype, phi::DenseTensor *out) {
  PD_CHECK(dtype == 3 && (flatten || axis.to<int>() == static_cast<int>(x.dims().size()) - 1), "argmax along axis ", axis.to<int>(), keepdims);
  const int64_t n = flatten ? x.numel() : x.dims().back();
  int64_t *to = dev_ctx.template Alloc<int64_t>(out);
  for (int64_t row = 0; row < x.numel() / n; ++row) to[row] = std::max_element(x.data<T>() + row * n, x.data<T>() + (row + 1) * n) - (x.data<T>() + row * n);
}

template <typename T>
void ConcatKernel(const phi::Context &dev_ctx, const std::vector<const phi::DenseTensor *> &x, const phi::Scalar &axis_scalar, phi::DenseTensor *out) {
  PD_CHECK(axis_scalar.to<int>() == 0 && axis_scalar.dtype() == phi::DataType::INT64);
  T *to = dev_ctx.template Alloc<T>(out);
  for (auto one : x) to = std::copy(one->data<T>(), one->data<T>() + one->numel(), to);
}

// Its result is memory of another tensor.
template <typename T>
void SqrtKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, phi::DenseTensor *out) {
  phi::DenseTensor other;
  other.Resize(x.dims());
  dev_ctx.template Alloc<T>(&other);
  std::transform(x.data<T>(), x.data<T>() + x.numel(), other.data<T>(), [](T v) { return std::sqrt(v); });
  *out = out->ShareDataWith(other);
}

template <typename T>
void AdamKernel(const phi::Context &dev_ctx, const phi::DenseTensor &param, const phi::DenseTensor &grad, const phi::DenseTensor &learning_rate,
                const phi::DenseTensor &moment1, const phi::DenseTensor &moment2, const phi::DenseTensor &beta1_pow, const phi::DenseTensor &beta2_pow,
                const paddle::optional<phi::DenseTensor> &master_param, const paddle::optional<phi::DenseTensor> &skip_update, const phi::Scalar &beta1,
                const phi::Scalar &beta2, const phi::Scalar &epsilon, bool lazy_mode, int64_t min_row_size_to_use_multithread, bool multi_precision,
                bool use_global_beta_pow, phi::DenseTensor *param_out, phi::DenseTensor *moment1_out, phi::DenseTensor *moment2_out,
                phi::DenseTensor *beta1_pow_out, phi::DenseTensor *beta2_pow_out, phi::DenseTensor *master_param_outs) {
  PD_CHECK(!master_param && !skip_update.is_initialized() && !master_param_outs && !lazy_mode && !multi_precision && !use_global_beta_pow);
  PD_CHECK(min_row_size_to_use_multithread == 1000);
  const T b1 = beta1.to<T>(), b2 = beta2.to<T>(), p1 = beta1_pow.data<T>()[0], p2 = beta2_pow.data<T>()[0];
  const T lr = learning_rate.data<T>()[0] * std::sqrt(1 - p2) / (1 - p1), eps = epsilon.to<T>() * std::sqrt(1 - p2);
  T *p = dev_ctx.template Alloc<T>(param_out), *m1 = dev_ctx.template Alloc<T>(moment1_out), *m2 = dev_ctx.template Alloc<T>(moment2_out);
  for (int64_t i = 0; i < param.numel(); ++i) {
    const T g = grad.data<T>()[i];
    m1[i] = b1 * moment1.data<T>()[i] + (1 - b1) * g;
    m2[i] = b2 * moment2.data<T>()[i] + (1 - b2) * g * g;
    p[i] = param.data<T>()[i] - lr * m1[i] / (std::sqrt(m2[i]) + eps);
  }
  dev_ctx.template Alloc<T>(beta1_pow_out)[0] = p1 * b1;
  dev_ctx.template Alloc<T>(beta2_pow_out)[0] = p2 * b2;
}

template <typename T>
void MomentumKernel(const phi::Context &dev_ctx, const phi::DenseTensor &param, const phi::DenseTensor &grad, const phi::DenseTensor &velocity,
                    const phi::DenseTensor &learning_rate, const paddle::optional<phi::DenseTensor> &master_param, float mu, bool use_nesterov,
                    const std::string &regularization_method, float regularization_coeff, bool multi_precision, float rescale_grad,
                    phi::DenseTensor *param_out, phi::DenseTensor *velocity_out, phi::DenseTensor *master_param_out) {
  PD_CHECK(!master_param && !multi_precision && !master_param_out && rescale_grad == 1.0f);
  const float decay = regularization_method == "l2_decay" ? regularization_coeff : 0.0f;
  const T rate = learning_rate.data<T>()[0];
  T *p = dev_ctx.template Alloc<T>(param_out), *v = dev_ctx.template Alloc<T>(velocity_out);
  for (int64_t i = 0; i < param.numel(); ++i) {
    const T g = grad.data<T>()[i] + decay * param.data<T>()[i];
    v[i] = velocity.data<T>()[i] * mu + g;
    p[i] = param.data<T>()[i] - (use_nesterov ? (g + mu * v[i]) * rate : rate * v[i]);
  }
}

// Kernels whose ops need none here: they compile, and wait.
template <typename T>
void FullKernel(const phi::Context &dev_ctx, const phi::IntArray &shape, const phi::Scalar &val, phi::DataType dtype, phi::DenseTensor *out) {
  PD_CHECK(dtype == out->dtype());
  out->Resize(shape.GetData());
  T *to = dev_ctx.template Alloc<T>(out);
  std::fill(to, to + out->numel(), val.to<T>());
}
template <typename T>
void ReshapeKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::IntArray &shape, phi::DenseTensor *out) {
  dev_ctx.Alloc(out, x.dtype());
  std::memcpy(out->data<T>(), x.data<T>(), static_cast<size_t>(x.numel()) * sizeof(T));
  out->Resize(shape.GetData());
}
template <typename T>
void SplitKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, const phi::IntArray &, const phi::Scalar &, std::vector<phi::DenseTensor *> outs) {
  for (auto out : outs) dev_ctx.template Alloc<T>(out);
  (void)x;
}
template <typename T>
void EveryAttribute(const phi::Context &, const phi::DenseTensor &, const paddle::optional<std::vector<const phi::DenseTensor *>> &, bool, int, int64_t, float,
                    double, const std::string &, std::string, phi::DataType, phi::DataLayout, phi::Scalar, phi::IntArray, phi::Place,
                    const std::vector<bool> &, const std::vector<int> &, const std::vector<int64_t> &, std::vector<float>, const std::vector<double> &,
                    const std::vector<std::string> &, const std::vector<phi::Scalar> &, phi::DenseTensor *) {}

// What goes wrong.
template <typename T>
void ExpKernel(const phi::Context &, const phi::DenseTensor &x, phi::DenseTensor *) {
  PD_CHECK(x.numel() < 0, "exp has ", x.numel(), " elements");
}
template <typename T>
void CosKernel(const phi::Context &, const phi::DenseTensor &, phi::DenseTensor *) {}  // no Alloc
template <typename T>
void TanKernel(const phi::Context &dev_ctx, const phi::DenseTensor &, phi::DenseTensor *out) {
  out->Resize({100});
  dev_ctx.template Alloc<T>(out);
}
template <typename T>
void SinKernel(const phi::Context &, const phi::DenseTensor &, phi::DenseTensor *) {
  phi::DenseTensor none;
  none.data<T>();
}
template <typename T>
void AbsKernel(const phi::Context &dev_ctx, const phi::DenseTensor &, phi::DenseTensor *) {
  phi::DenseTensor large;
  large.Resize({int64_t{1} << 30});
  dev_ctx.template Alloc<T>(&large);
}

// 1 for each thing that a kernel is told and that is as it should be.
template <typename T>
void LogKernel(const phi::Context &dev_ctx, const phi::DenseTensor &x, phi::DenseTensor *out) {
  std::vector<bool> said;
  said.push_back(x.dims() == std::vector<int64_t>({2, 7}) && x.strides() == std::vector<int64_t>({7, 1}) && x.numel() == 14);
  said.push_back(x.dtype() == phi::DataType::FLOAT32 && x.dtype() == PD_DataType::FLOAT32 && x.valid() && x.initialized());
  said.push_back(x.memory_size() == 56 && x.offset() == 0 && x.Holder() && x.layout() == phi::DataLayout::NCHW);
  said.push_back(out->dims() == x.dims() && !out->initialized() && out->dtype() == x.dtype());
  phi::DenseTensor made, again(made);
  again.Resize({3});
  said.push_back(!made.valid() && made.own_data() && made.dims() == std::vector<int64_t>({3}) && !x.own_data());
  made.ResetLoD({{0, 2, 3}, {0, 1, 1, 3}});
  phi::DenseTensor other;
  other.share_lod(made);
  said.push_back(other.lod() == phi::LoD({{0, 2, 3}, {0, 1, 1, 3}}) && x.lod().empty());
  PD_List data, offset, by_hand;
  PD_Status status;
  PD_TensorGetLoD(other.raw_data(), &data, &offset, &status);
  PD_CHECK_STATUS(status);
  said.push_back(data.size == 7 && offset.size == 2 && static_cast<int64_t *>(offset.data)[1] == 4);
  PD_TensorResetLoD(made.raw_data(), data, offset, &status);
  said.push_back(made.lod() == other.lod());
  PD_DeleteInt64List(data), PD_DeleteInt64List(offset);
  made.set_offset(4), made.set_dtype(phi::DataType::INT32), made.set_layout(phi::DataLayout::NHWC), made.set_strides({2});
  said.push_back(made.offset() == 4 && made.dtype() == phi::DataType::INT32 && made.layout() == phi::DataLayout::NHWC && made.strides()[0] == 2);
  PD_TensorGetDim(made.raw_data(), 1, &status);
  said.push_back(status == C_FAILED && PD_TensorGetDim(made.raw_data(), 0, &status) == 3 && status == C_SUCCESS);
  dev_ctx.seed(7);
  said.push_back(dev_ctx.seed() == 7 && dev_ctx.random() != dev_ctx.random());
  said.push_back(phi::capi::CppTypeToPDType<int16_t>::Type() == PD_DataType::INT16 &&
                 std::is_same<phi::capi::PDTypeToCppType<PD_DataType::BFLOAT16>::type, phi::dtype::bfloat16>::value);
  std::vector<int> numbers = {1, 2, 3};
  by_hand = phi::capi::PDListFromVector(&numbers);
  said.push_back(phi::capi::PDListToVector<int>(by_hand) == numbers);
  said.push_back(x.dims().size() == 2 && made.numel() == 3);
  T *to = dev_ctx.template Alloc<T>(out);
  for (size_t i = 0; i < 14; ++i) to[i] = said.at(i);
}

}  // namespace custom_kernel

#define KERNEL(NAME, FUNCTION, ...) PD_BUILD_PHI_KERNEL(NAME, CapiDevice, ALL_LAYOUT, custom_kernel::FUNCTION, __VA_ARGS__) {}
KERNEL(add, AddKernel, float, double, int32_t, int64_t, phi::dtype::float16)
KERNEL(add_raw, AddRawKernel, float, double)
KERNEL(multiply, MultiplyKernel, float, double, int64_t)
KERNEL(divide, DivideKernel, float, int64_t)
KERNEL(equal, EqualKernel, float, int64_t)
KERNEL(not_equal, NotEqualKernel, float, int64_t)
KERNEL(where, WhereKernel, float, int64_t)
KERNEL(relu, ReluKernel, float, double)
KERNEL(relu_grad, ReluGradKernel, float, double)
KERNEL(matmul, MatmulKernel, float, double)
KERNEL(softmax, SoftmaxKernel, float, double)
KERNEL(cross_entropy_with_softmax, CrossEntropyKernel, float, double)
KERNEL(cross_entropy_with_softmax_grad, CrossEntropyGradKernel, float, double)
KERNEL(cast, CastKernel, float, double, int32_t, int64_t, bool, phi::dtype::float16)
KERNEL(mean, MeanKernel, float, double)
KERNEL(sum, SumKernel, float, double, int64_t)
KERNEL(concat, ConcatKernel, float)
KERNEL(sqrt, SqrtKernel, float)
KERNEL(adam, AdamKernel, float, double)
KERNEL(momentum, MomentumKernel, float, double)
KERNEL(full, FullKernel, float, int64_t)
KERNEL(reshape, ReshapeKernel, float)
KERNEL(split, SplitKernel, float)
KERNEL(every_attribute, EveryAttribute, float)
KERNEL(exp, ExpKernel, float)
KERNEL(cos, CosKernel, float)
KERNEL(tan, TanKernel, float)
KERNEL(sin, SinKernel, float)
KERNEL(abs, AbsKernel, float)
KERNEL(log, LogKernel, float)
PD_BUILD_PHI_KERNEL(argmax, CapiDevice, ALL_LAYOUT, custom_kernel::ArgMaxKernel, float, double) {
  PD_CHECK(kernel_key.layout() == phi::DataLayout::ALL_LAYOUT && kernel->args_def().input_defs().size() == 1);
  kernel->OutputAt(0).SetDataType(phi::DataType::INT64).SetDataLayout(kernel_key.layout());
}

// A kernel of C functions alone, registered by hand.
static void Subtract(PD_KernelContext *ctx) {
  PD_Status status = C_SUCCESS;
  PD_Tensor *x = PD_KernelContextInputAt(ctx, 0), *y = PD_KernelContextInputAt(ctx, 1), *out = PD_KernelContextOutputAt(ctx, 0);
  const PD_DeviceContext *device = PD_KernelContextGetDeviceContext(ctx);
  float *to = static_cast<float *>(PD_DeviceContextAllocateTensor(device, out, 0, PD_DataType::FLOAT32, &status));
  for (int64_t i = 0; i < PD_TensorGetElementCount(x, &status); ++i)
    to[i] = static_cast<float *>(PD_TensorGetDataPointer(x, &status))[i] - static_cast<float *>(PD_TensorGetDataPointer(y, &status))[i];
  PD_CHECK(status == C_SUCCESS);
}
static const bool subtracts = [] {
  PD_KernelArgumentType types[] = {PD_ARG_TYPE_TENSOR, PD_ARG_TYPE_TENSOR};
  PD_RegisterPhiKernel("subtract", "CapiDevice", PD_DataType::FLOAT32, PD_DataLayout::ALL_LAYOUT, 2, types, 0, nullptr, 1, types, nullptr, &Subtract, nullptr);
  return true;
}();
