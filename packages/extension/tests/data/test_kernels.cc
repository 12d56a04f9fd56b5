// Kernels of the tests for TestDevice, whose memory is the host's: what a small network needs, and some that go wrong.
#include "paddle/phi/extension.h"

#include <stdexcept>

namespace test_device {

using phi::DenseTensor;

#define TWO_INPUTS(NAME, EXPRESSION)                                                                      \
  template <typename T, typename Context>                                                                 \
  void NAME(const Context &dev_ctx, const DenseTensor &x, const DenseTensor &y, DenseTensor *out) {       \
    PADDLE_ENFORCE_EQ(x.dims(), y.dims(), phi::errors::InvalidArgument("shapes differ: %s", x.dims()));   \
    const T *a = x.data<T>(), *b = y.data<T>();                                                           \
    T *to = dev_ctx.template Alloc<T>(out);                                                               \
    for (int64_t i = 0; i < x.numel(); ++i) to[i] = EXPRESSION;                                           \
  }
TWO_INPUTS(AddKernel, a[i] + b[i])
TWO_INPUTS(SubtractKernel, a[i] - b[i])
TWO_INPUTS(MultiplyKernel, a[i] * b[i])
TWO_INPUTS(ReluGradKernel, a[i] > T(0) ? b[i] : T(0))

template <typename T, typename Context>
void ReluKernel(const Context &dev_ctx, const DenseTensor &x, DenseTensor *out) {
  T *to = dev_ctx.template Alloc<T>(out);
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = std::max(x.data<T>()[i], T(0));
}

// Of 2.3, which has the axis of broadcasting; for the comparison with what does not have it.
template <typename T, typename Context>
void LessThanKernel(const Context &dev_ctx, const DenseTensor &x, const DenseTensor &y, int axis, DenseTensor *out) {
  PADDLE_ENFORCE_EQ(axis, -1, phi::errors::InvalidArgument("axis %d", axis));
  bool *to = dev_ctx.template Alloc<bool>(out);
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = x.data<T>()[i] < y.data<T>()[i];
}

template <typename T, typename Context>
void MatmulKernel(const Context &dev_ctx, const DenseTensor &x, const DenseTensor &y, bool transpose_x, bool transpose_y, DenseTensor *out) {
  if (x.dims().size() != 2 || y.dims().size() != 2) PADDLE_THROW(phi::errors::Unimplemented("matmul of ranks %d and %d", x.dims().size(), y.dims().size()));
  const int64_t m = out->dims()[0], n = out->dims()[1], inner = x.dims()[transpose_x ? 0 : 1];
  DenseTensor sums;  // memory of the device for this call
  sums.Resize({n});
  double *row = dev_ctx.template Alloc<double>(&sums);
  T *to = dev_ctx.template Alloc<T>(out);
  for (int64_t i = 0; i < m; ++i) {
    std::fill(row, row + n, 0.0);
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t j = 0; j < n; ++j)
        row[j] += static_cast<double>(x.data<T>()[transpose_x ? k * m + i : i * inner + k]) * y.data<T>()[transpose_y ? j * inner + k : k * n + j];
    for (int64_t j = 0; j < n; ++j) to[i * n + j] = static_cast<T>(row[j]);
  }
}

// Calls f(index of x, index of weight, index of out) for every product of a convolution without groups.
template <typename F>
void products(const DenseTensor &x, const DenseTensor &weight, const phi::DDim &out, const std::vector<int> &strides, const std::vector<int> &paddings, F f) {
  const auto &a = x.dims(), &w = weight.dims();
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t o = 0; o < out[1]; ++o)
      for (int64_t i = 0; i < out[2]; ++i)
        for (int64_t j = 0; j < out[3]; ++j)
          for (int64_t c = 0; c < w[1]; ++c)
            for (int64_t p = 0; p < w[2]; ++p)
              for (int64_t q = 0; q < w[3]; ++q) {
                const int64_t at_i = i * strides[0] - paddings[0] + p, at_j = j * strides[1] - paddings[1] + q;
                if (at_i < 0 || at_j < 0 || at_i >= a[2] || at_j >= a[3]) continue;
                f(((n * a[1] + c) * a[2] + at_i) * a[3] + at_j, ((o * w[1] + c) * w[2] + p) * w[3] + q, ((n * out[1] + o) * out[2] + i) * out[3] + j);
              }
}

template <typename T, typename Context>
void Conv2dKernel(const Context &dev_ctx, const DenseTensor &x, const DenseTensor &weight, const std::vector<int> &strides,
                  const std::vector<int> &paddings, const std::string &algorithm, const std::vector<int> &dilations, int groups,
                  const std::string &data_format, DenseTensor *out) {
  PADDLE_ENFORCE_EQ(algorithm, "EXPLICIT", phi::errors::InvalidArgument("algorithm %s", algorithm));
  if (groups != 1 || dilations[0] != 1 || data_format != "NCHW") PADDLE_THROW(phi::errors::Unimplemented("groups %d", groups));
  T *to = dev_ctx.template Alloc<T>(out);
  std::fill(to, to + out->numel(), T(0));
  products(x, weight, out->dims(), strides, paddings, [&](int64_t a, int64_t w, int64_t o) { to[o] += x.data<T>()[a] * weight.data<T>()[w]; });
}

template <typename T, typename Context>
void Conv2dGradKernel(const Context &dev_ctx, const DenseTensor &x, const DenseTensor &weight, const DenseTensor &out_grad,
                      const std::vector<int> &strides, const std::vector<int> &paddings, const std::string &, const std::vector<int> &, int,
                      const std::string &, DenseTensor *x_grad, DenseTensor *weight_grad) {
  for (DenseTensor *grad : {x_grad, weight_grad})
    if (grad) {
      T *to = dev_ctx.template Alloc<T>(grad);
      std::fill(to, to + grad->numel(), T(0));
    }
  const T *g = out_grad.data<T>();
  products(x, weight, out_grad.dims(), strides, paddings, [&](int64_t a, int64_t w, int64_t o) {
    if (x_grad) x_grad->data<T>()[a] += g[o] * weight.data<T>()[w];
    if (weight_grad) weight_grad->data<T>()[w] += g[o] * x.data<T>()[a];
  });
}

template <typename T, typename Context>
void SoftmaxKernel(const Context &dev_ctx, const DenseTensor &x, int axis, DenseTensor *out) {
  PADDLE_ENFORCE_EQ(axis == -1 || axis == x.dims().size() - 1, true, phi::errors::Unimplemented("softmax along axis %d", axis));
  const int64_t n = x.dims()[x.dims().size() - 1];
  T *to = dev_ctx.template Alloc<T>(out);
  for (int64_t row = 0; row < x.numel() / n; ++row) {
    const T *a = x.data<T>() + row * n;
    const T largest = *std::max_element(a, a + n);
    T total = 0;
    for (int64_t i = 0; i < n; ++i) total += to[row * n + i] = std::exp(a[i] - largest);
    for (int64_t i = 0; i < n; ++i) to[row * n + i] /= total;
  }
}

template <typename T, typename Context>
void CrossEntropyKernel(const Context &dev_ctx, const DenseTensor &logits, const DenseTensor &label, bool soft_label, bool use_softmax, bool,
                        int ignore_index, int axis, DenseTensor *softmax, DenseTensor *loss) {
  PADDLE_ENFORCE_EQ(soft_label || !use_softmax, false, phi::errors::Unimplemented("soft labels"));
  PADDLE_ENFORCE_EQ(label.dims()[1], 1, phi::errors::InvalidArgument("labels %s", label.dims()));
  SoftmaxKernel<T, Context>(dev_ctx, logits, axis, softmax);
  const int64_t n = logits.dims()[1];
  T *to = dev_ctx.template Alloc<T>(loss);
  for (int64_t i = 0; i < logits.dims()[0]; ++i) {
    const int64_t at = label.data<int64_t>()[i];
    to[i] = at == ignore_index ? T(0) : -std::log(softmax->data<T>()[i * n + at]);
  }
}

template <typename T, typename Context>
void CrossEntropyGradKernel(const Context &dev_ctx, const DenseTensor &label, const DenseTensor &softmax, const DenseTensor &loss_grad, bool, bool,
                            bool, int ignore_index, int, DenseTensor *logits_grad) {
  const int64_t n = softmax.dims()[1];
  T *to = dev_ctx.template Alloc<T>(logits_grad);
  for (int64_t i = 0; i < softmax.numel(); ++i) {
    const int64_t at = label.data<int64_t>()[i / n];
    to[i] = at == ignore_index ? T(0) : (softmax.data<T>()[i] - (at == i % n ? T(1) : T(0))) * loss_grad.data<T>()[i / n];
  }
}

template <typename T, typename Context>
void SumKernel(const Context &dev_ctx, const DenseTensor &x, const phi::IntArray &axes, phi::DataType, bool, DenseTensor *out) {
  T *to = dev_ctx.template Alloc<T>(out);
  std::fill(to, to + out->numel(), T(0));
  const int rank = x.dims().size();
  for (int64_t i = 0; i < x.numel(); ++i) {
    int64_t rest = i, at = 0, step = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      bool summed = false;
      for (size_t k = 0; k < axes.size(); ++k) summed = summed || axes[k] == axis;
      if (!summed) {
        at += rest % x.dims()[axis] * step;
        step *= x.dims()[axis];
      }
      rest /= x.dims()[axis];
    }
    to[at] += x.data<T>()[i];
  }
}

template <typename T, typename Context>
void ConcatKernel(const Context &dev_ctx, const std::vector<const DenseTensor *> &xs, const phi::Scalar &axis, DenseTensor *out) {
  PADDLE_ENFORCE_EQ(axis.to<int>(), 0, phi::errors::Unimplemented("concat along axis %d", axis.to<int>()));
  T *to = dev_ctx.template Alloc<T>(out);
  for (const DenseTensor *x : xs) to = std::copy(x->data<T>(), x->data<T>() + x->numel(), to);
}

template <typename T, typename Context>
void AdamKernel(const Context &dev_ctx, const DenseTensor &param, const DenseTensor &grad, const DenseTensor &rate, const DenseTensor &moment1,
                const DenseTensor &moment2, const DenseTensor &beta1_pow, const DenseTensor &beta2_pow, const paddle::optional<DenseTensor> &master,
                const paddle::optional<DenseTensor> &skip, const phi::Scalar &beta1, const phi::Scalar &beta2, const phi::Scalar &epsilon, bool,
                int64_t, bool, bool, DenseTensor *param_out, DenseTensor *moment1_out, DenseTensor *moment2_out, DenseTensor *beta1_pow_out,
                DenseTensor *beta2_pow_out, DenseTensor *master_out) {
  PADDLE_ENFORCE_EQ(master || skip || master_out, false, phi::errors::Unimplemented("master weights"));
  const T b1 = beta1.to<T>(), b2 = beta2.to<T>(), p1 = beta1_pow.data<T>()[0], p2 = beta2_pow.data<T>()[0];
  const T lr = rate.data<T>()[0] * std::sqrt(1 - p2) / (1 - p1), eps = epsilon.to<T>() * std::sqrt(1 - p2);
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

// What goes wrong.
template <typename T, typename Context>
void ExpKernel(const Context &, const DenseTensor &x, DenseTensor *) {
  PADDLE_ENFORCE_LT(x.numel(), 0, phi::errors::OutOfRange("exp has %d elements of %s", x.numel(), x.dims()));
}
template <typename T, typename Context>
void LogKernel(const Context &, const DenseTensor &, DenseTensor *) {
  throw std::runtime_error("log has a bad day");
}
template <typename T, typename Context>
void SinKernel(const Context &, const DenseTensor &, DenseTensor *) {
  throw 5;
}
template <typename T, typename Context>
void CosKernel(const Context &, const DenseTensor &, DenseTensor *) {}  // no Alloc
template <typename T, typename Context>
void TanKernel(const Context &dev_ctx, const DenseTensor &, DenseTensor *out) {
  out->Resize({100});
  dev_ctx.template Alloc<T>(out);
}
template <typename T, typename Context>
void FloorKernel(const Context &dev_ctx, const DenseTensor &, DenseTensor *out) {
  dev_ctx.template Alloc<int64_t>(out);
}
template <typename T, typename Context>
void SqrtKernel(const Context &dev_ctx, const DenseTensor &x, DenseTensor *out) {  // in memory of its own
  DenseTensor other(x);
  other.clear();
  T *to = dev_ctx.template Alloc<T>(&other);
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = std::sqrt(x.data<T>()[i]);
  *out = other;
}
template <typename T, typename Context>
void SquareKernel(const Context &, const DenseTensor &, int, DenseTensor *) {}  // has no such parameter
template <typename T, typename Context>
void ShapeKernel(const Context &, const phi::SelectedRows &, DenseTensor *) {}
template <typename T, typename Context>
void AbsKernel(const Context &dev_ctx, const DenseTensor &x, DenseTensor *out) {  // asks for more memory than there is
  DenseTensor large;
  large.Resize({int64_t{1} << 30});
  dev_ctx.template Alloc<T>(&large);
  dev_ctx.template Alloc<T>(out);
  (void)x;
}

}  // namespace test_device

#define KERNEL(NAME, FUNCTION, ...) PD_REGISTER_PLUGIN_KERNEL(NAME, TestDevice, ALL_LAYOUT, test_device::FUNCTION, __VA_ARGS__) {}
KERNEL(add, AddKernel, float, double, int64_t)
KERNEL(subtract, SubtractKernel, float)
KERNEL(multiply, MultiplyKernel, float)
KERNEL(relu, ReluKernel, float)
KERNEL(relu_grad, ReluGradKernel, float)
KERNEL(less_than, LessThanKernel, float)
KERNEL(matmul, MatmulKernel, float)
KERNEL(conv2d, Conv2dKernel, float)
KERNEL(conv2d_grad, Conv2dGradKernel, float)
KERNEL(softmax, SoftmaxKernel, float)
KERNEL(cross_entropy_with_softmax, CrossEntropyKernel, float)
KERNEL(cross_entropy_with_softmax_grad, CrossEntropyGradKernel, float)
KERNEL(sum, SumKernel, float)
KERNEL(concat, ConcatKernel, float)
KERNEL(adam, AdamKernel, float)
KERNEL(exp, ExpKernel, float)
KERNEL(log, LogKernel, float)
KERNEL(sin, SinKernel, float)
KERNEL(cos, CosKernel, float)
KERNEL(tan, TanKernel, float)
KERNEL(floor, FloorKernel, float)
KERNEL(sqrt, SqrtKernel, float)
KERNEL(square, SquareKernel, float)
KERNEL(reciprocal, ShapeKernel, float)
KERNEL(abs, AbsKernel, float)
PD_REGISTER_PLUGIN_KERNEL(ceil, TestDevice, ALL_LAYOUT, test_device::ReluKernel, float) { kernel->InputAt(0).SetBackend(phi::Backend::CPU); }
