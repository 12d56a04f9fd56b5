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

template <typename T, typename Context>
void MaxPoolKernel(const Context &dev_ctx, const DenseTensor &x, const std::vector<int> &kernel, const std::vector<int> &strides,
                   const std::vector<int> &paddings, bool global, bool adaptive, DenseTensor *out, DenseTensor *mask) {
  if (global || adaptive || paddings[0] || paddings[1]) PADDLE_THROW(phi::errors::Unimplemented("pooling with padding %d", paddings[0]));
  const auto &in = x.dims(), &to = out->dims();
  T *values = dev_ctx.template Alloc<T>(out);
  int *places = dev_ctx.template Alloc<int>(mask);
  for (int64_t plane = 0; plane < in[0] * in[1]; ++plane)
    for (int64_t i = 0; i < to[2]; ++i)
      for (int64_t j = 0; j < to[3]; ++j, ++values, ++places) {
        const T *a = x.data<T>() + plane * in[2] * in[3];
        int64_t best = i * strides[0] * in[3] + j * strides[1];
        for (int64_t p = 0; p < kernel[0]; ++p)
          for (int64_t q = 0; q < kernel[1]; ++q) {
            const int64_t at = (i * strides[0] + p) * in[3] + j * strides[1] + q;
            if (a[at] > a[best]) best = at;
          }
        *values = a[best];
        *places = static_cast<int>(best);
      }
}

// The gradient of the mean of each plane, which is what adaptive pooling to one element is.
template <typename T, typename Context>
void PoolGradKernel(const Context &dev_ctx, const DenseTensor &x, const DenseTensor &, const DenseTensor &out_grad, const phi::IntArray &kernel,
                    const std::vector<int> &, const std::vector<int> &, bool, bool, const std::string &, const std::string &type, bool, bool adaptive,
                    const std::string &, DenseTensor *x_grad) {
  if (type != "avg" || !adaptive || kernel[0] != 1 || kernel[1] != 1) PADDLE_THROW(phi::errors::Unimplemented("pooling %s", type));
  const int64_t plane = x.dims()[2] * x.dims()[3];
  T *to = dev_ctx.template Alloc<T>(x_grad);
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = out_grad.data<T>()[i / plane] / static_cast<T>(plane);
}
template <typename T, typename Context>
void PoolKernel(const Context &dev_ctx, const DenseTensor &x, const phi::IntArray &kernel, const std::vector<int> &, const std::vector<int> &, bool,
                bool, const std::string &, const std::string &type, bool, bool adaptive, const std::string &, DenseTensor *out) {
  if (type != "avg" || !adaptive || kernel[0] != 1 || kernel[1] != 1) PADDLE_THROW(phi::errors::Unimplemented("pooling %s", type));
  const int64_t plane = x.dims()[2] * x.dims()[3];
  T *to = dev_ctx.template Alloc<T>(out);
  std::fill(to, to + out->numel(), T(0));
  for (int64_t i = 0; i < x.numel(); ++i) to[i / plane] += x.data<T>()[i] / static_cast<T>(plane);
}

template <typename T, typename Context>
void ScaleKernel(const Context &dev_ctx, const DenseTensor &x, const phi::Scalar &scale, float bias, bool bias_after_scale, DenseTensor *out) {
  PADDLE_ENFORCE_EQ(bias_after_scale, true, phi::errors::Unimplemented("the bias first"));
  T *to = dev_ctx.template Alloc<T>(out);
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = x.data<T>()[i] * scale.to<T>() + static_cast<T>(bias);
}
template <typename T, typename Context>
void RsqrtKernel(const Context &dev_ctx, const DenseTensor &x, DenseTensor *out) {
  T *to = dev_ctx.template Alloc<T>(out);
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = 1 / std::sqrt(x.data<T>()[i]);
}

// The gradient of (x - mean) * inverse * scale, where rows are groups of `n` elements: `group(i)`, and `channel(i)` of the scale.
template <typename T, typename G, typename C>
void normal_grad(const DenseTensor &x, const T *scale, const T *mean, const T *inverse, const T *g, int64_t groups, int64_t n, G group, C channel,
                 T *x_grad, T *scale_grad, T *bias_grad, int64_t channels) {
  std::vector<double> sums(groups), products(groups), scales(channels), biases(channels);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double normal = (x.data<T>()[i] - mean[group(i)]) * inverse[group(i)], one = g[i] * scale[channel(i)];
    sums[group(i)] += one;
    products[group(i)] += one * normal;
    scales[channel(i)] += g[i] * normal;
    biases[channel(i)] += g[i];
  }
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double normal = (x.data<T>()[i] - mean[group(i)]) * inverse[group(i)], one = g[i] * scale[channel(i)];
    x_grad[i] = static_cast<T>(inverse[group(i)] * (one - sums[group(i)] / n - normal * products[group(i)] / n));
  }
  std::copy(scales.begin(), scales.end(), scale_grad);
  std::copy(biases.begin(), biases.end(), bias_grad);
}

template <typename T, typename Context>
void BatchNormKernel(const Context &dev_ctx, const DenseTensor &x, const DenseTensor &mean, const DenseTensor &variance, const DenseTensor &scale,
                     const DenseTensor &bias, bool is_test, float momentum, float epsilon, const std::string &data_layout, bool, bool, DenseTensor *out,
                     DenseTensor *mean_out, DenseTensor *variance_out, DenseTensor *saved_mean, DenseTensor *saved_variance, DenseTensor *) {
  if (is_test || data_layout != "NCHW") PADDLE_THROW(phi::errors::Unimplemented("batch_norm of %s", data_layout));
  const int64_t channels = x.dims()[1], inner = x.numel() / x.dims()[0] / channels, n = x.numel() / channels;
  std::vector<double> sums(channels), squares(channels);
  const auto channel = [&](int64_t i) { return i / inner % channels; };
  for (int64_t i = 0; i < x.numel(); ++i) sums[channel(i)] += x.data<T>()[i];
  for (int64_t i = 0; i < x.numel(); ++i) squares[channel(i)] += std::pow(x.data<T>()[i] - sums[channel(i)] / n, 2);
  T *to = dev_ctx.template Alloc<T>(out), *m = dev_ctx.template Alloc<T>(mean_out), *v = dev_ctx.template Alloc<T>(variance_out);
  T *sm = dev_ctx.template Alloc<T>(saved_mean), *sv = dev_ctx.template Alloc<T>(saved_variance);
  for (int64_t c = 0; c < channels; ++c) {
    sm[c] = sums[c] / n;
    sv[c] = 1 / std::sqrt(squares[c] / n + epsilon);
    m[c] = mean.data<T>()[c] * momentum + sm[c] * (1 - momentum);
    v[c] = variance.data<T>()[c] * momentum + squares[c] / n * (1 - momentum);
  }
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = (x.data<T>()[i] - sm[channel(i)]) * sv[channel(i)] * scale.data<T>()[channel(i)] + bias.data<T>()[channel(i)];
}

template <typename T, typename Context>
void BatchNormGradKernel(const Context &dev_ctx, const DenseTensor &x, const paddle::optional<DenseTensor> &scale,
                         const paddle::optional<DenseTensor> &, const paddle::optional<DenseTensor> &, const paddle::optional<DenseTensor> &,
                         const DenseTensor &saved_mean, const DenseTensor &saved_variance, const paddle::optional<DenseTensor> &,
                         const DenseTensor &out_grad, float, float, const std::string &, bool, bool, bool, DenseTensor *x_grad,
                         DenseTensor *scale_grad, DenseTensor *bias_grad) {
  const int64_t channels = x.dims()[1], inner = x.numel() / x.dims()[0] / channels;
  const auto channel = [&](int64_t i) { return i / inner % channels; };
  normal_grad<T>(x, scale->data<T>(), saved_mean.data<T>(), saved_variance.data<T>(), out_grad.data<T>(), channels, x.numel() / channels, channel,
                 channel, dev_ctx.template Alloc<T>(x_grad), dev_ctx.template Alloc<T>(scale_grad), dev_ctx.template Alloc<T>(bias_grad), channels);
}

template <typename T, typename Context>
void GroupNormKernel(const Context &dev_ctx, const DenseTensor &x, const paddle::optional<DenseTensor> &scale,
                     const paddle::optional<DenseTensor> &bias, float epsilon, int groups, const std::string &, DenseTensor *out, DenseTensor *mean,
                     DenseTensor *variance) {
  const int64_t channels = x.dims()[1], inner = x.numel() / x.dims()[0] / channels, n = channels / groups * inner;
  T *to = dev_ctx.template Alloc<T>(out), *m = dev_ctx.template Alloc<T>(mean), *v = dev_ctx.template Alloc<T>(variance);
  for (int64_t row = 0; row < x.numel() / n; ++row) {
    const T *a = x.data<T>() + row * n;
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; ++i) sum += a[i];
    for (int64_t i = 0; i < n; ++i) square += std::pow(a[i] - sum / n, 2);
    m[row] = sum / n;
    v[row] = square / n;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t c = (row * n + i) / inner % channels;
      to[row * n + i] = (a[i] - m[row]) / std::sqrt(v[row] + epsilon) * (scale ? scale->data<T>()[c] : 1) + (bias ? bias->data<T>()[c] : 0);
    }
  }
}

// As Paddle's, it finds the normalized values in the result.
template <typename T, typename Context>
void GroupNormGradKernel(const Context &dev_ctx, const DenseTensor &x, const paddle::optional<DenseTensor> &scale,
                         const paddle::optional<DenseTensor> &bias, const DenseTensor &y, const DenseTensor &, const DenseTensor &variance,
                         const DenseTensor &out_grad, float epsilon, int groups, const std::string &, DenseTensor *x_grad, DenseTensor *scale_grad,
                         DenseTensor *bias_grad) {
  const int64_t channels = x.dims()[1], inner = x.numel() / x.dims()[0] / channels, n = channels / groups * inner;
  DenseTensor normal;
  normal.Resize(x.dims());
  T *a = dev_ctx.template Alloc<T>(&normal);
  const auto channel = [&](int64_t i) { return i / inner % channels; };
  for (int64_t i = 0; i < x.numel(); ++i) a[i] = (y.data<T>()[i] - bias->data<T>()[channel(i)]) / scale->data<T>()[channel(i)];
  std::vector<T> zeros(x.numel() / n), ones(x.numel() / n, T(1));
  T *to = dev_ctx.template Alloc<T>(x_grad);
  normal_grad<T>(normal, scale->data<T>(), zeros.data(), ones.data(), out_grad.data<T>(), x.numel() / n, n, [&](int64_t i) { return i / n; }, channel,
                 to, dev_ctx.template Alloc<T>(scale_grad), dev_ctx.template Alloc<T>(bias_grad), channels);
  for (int64_t i = 0; i < x.numel(); ++i) to[i] /= std::sqrt(variance.data<T>()[i / n] + epsilon);
}

template <typename T, typename Context>
void LayerNormGradKernel(const Context &dev_ctx, const DenseTensor &x, const paddle::optional<DenseTensor> &scale,
                         const paddle::optional<DenseTensor> &, const DenseTensor &mean, const DenseTensor &variance, const DenseTensor &out_grad,
                         float epsilon, int begin_norm_axis, DenseTensor *x_grad, DenseTensor *scale_grad, DenseTensor *bias_grad) {
  int64_t n = 1;
  for (int axis = begin_norm_axis; axis < x.dims().size(); ++axis) n *= x.dims()[axis];
  std::vector<T> inverse(x.numel() / n);
  for (size_t row = 0; row < inverse.size(); ++row) inverse[row] = 1 / std::sqrt(variance.data<T>()[row] + epsilon);
  normal_grad<T>(x, scale->data<T>(), mean.data<T>(), inverse.data(), out_grad.data<T>(), x.numel() / n, n, [&](int64_t i) { return i / n; },
                 [&](int64_t i) { return i % n; }, dev_ctx.template Alloc<T>(x_grad), dev_ctx.template Alloc<T>(scale_grad),
                 dev_ctx.template Alloc<T>(bias_grad), n);
}

template <typename T, typename Context>
void DropoutGradKernel(const Context &dev_ctx, const DenseTensor &mask, const DenseTensor &out_grad, const phi::Scalar &p, bool is_test,
                       const std::string &mode, DenseTensor *x_grad) {
  PADDLE_ENFORCE_EQ(is_test, false, phi::errors::Unimplemented("nothing is dropped"));
  const T factor = mode == "upscale_in_train" ? 1 / (1 - p.to<T>()) : T(1);
  T *to = dev_ctx.template Alloc<T>(x_grad);
  for (int64_t i = 0; i < mask.numel(); ++i) to[i] = mask.data<uint8_t>()[i] ? out_grad.data<T>()[i] * factor : T(0);
}

template <typename T, typename Context>
void PutAlongAxisKernel(const Context &dev_ctx, const DenseTensor &x, const DenseTensor &index, const DenseTensor &value, int axis,
                        const std::string &reduce, bool include_self, DenseTensor *out) {
  const int rank = x.dims().size();
  if (axis != rank - 1 || reduce != "add" || !include_self) PADDLE_THROW(phi::errors::Unimplemented("%s along axis %d", reduce, axis));
  const int64_t n = x.dims()[axis], k = index.dims()[axis];
  T *to = dev_ctx.template Alloc<T>(out);
  std::copy(x.data<T>(), x.data<T>() + x.numel(), to);
  for (int64_t i = 0; i < index.numel(); ++i)
    to[i / k * n + (index.dtype() == phi::DataType::INT32 ? index.data<int>()[i] : index.data<int64_t>()[i])] += value.data<T>()[i];
}

template <typename T, typename Context>
void MeanAllKernel(const Context &dev_ctx, const DenseTensor &x, DenseTensor *out) {
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += x.data<T>()[i];
  dev_ctx.template Alloc<T>(out)[0] = static_cast<T>(sum / x.numel());
}

template <typename T, typename Context>
void SquaredNormKernel(const Context &dev_ctx, const DenseTensor &x, DenseTensor *out) {
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += x.data<T>()[i] * x.data<T>()[i];
  dev_ctx.template Alloc<T>(out)[0] = static_cast<T>(sum);
}

template <typename T, typename Context>
void MomentumKernel(const Context &dev_ctx, const DenseTensor &param, const DenseTensor &grad, const DenseTensor &velocity, const DenseTensor &rate,
                    const paddle::optional<DenseTensor> &master, float mu, bool nesterov, const std::string &decay, float, bool, float,
                    DenseTensor *param_out, DenseTensor *velocity_out, DenseTensor *master_out) {
  PADDLE_ENFORCE_EQ(nesterov || !decay.empty() || master || master_out, false, phi::errors::Unimplemented("more than momentum"));
  T *p = dev_ctx.template Alloc<T>(param_out), *v = dev_ctx.template Alloc<T>(velocity_out);
  for (int64_t i = 0; i < param.numel(); ++i) {
    v[i] = velocity.data<T>()[i] * mu + grad.data<T>()[i];
    p[i] = param.data<T>()[i] - rate.data<T>()[0] * v[i];
  }
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
KERNEL(max_pool2d_with_index, MaxPoolKernel, float)
KERNEL(pool2d, PoolKernel, float)
KERNEL(pool2d_grad, PoolGradKernel, float)
KERNEL(scale, ScaleKernel, float)
KERNEL(rsqrt, RsqrtKernel, float)
KERNEL(batch_norm, BatchNormKernel, float)
KERNEL(batch_norm_grad, BatchNormGradKernel, float)
KERNEL(group_norm, GroupNormKernel, float)
KERNEL(group_norm_grad, GroupNormGradKernel, float)
KERNEL(layer_norm_grad, LayerNormGradKernel, float)
KERNEL(dropout_grad, DropoutGradKernel, float)
KERNEL(put_along_axis, PutAlongAxisKernel, float)
KERNEL(mean_all, MeanAllKernel, float)
KERNEL(squared_l2_norm, SquaredNormKernel, float)
KERNEL(momentum, MomentumKernel, float)
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
