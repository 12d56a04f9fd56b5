// layer_norm, group_norm, batch_norm and dropout, with their gradients.
//
// All inputs are contiguous; outputs overlap no input. Statistics are computed in two passes (mean, then squared distances from it).
// A block takes a row (layer_norm) or a channel (batch_norm); sums for the parameters go through each in a fixed order.
#include "philox.h"
#include "reduce.h"

namespace wherry {
namespace cuda {
namespace {

template <typename A>
struct Plus {
  using W = A;
  static WRY_GPU W combine(W a, W b) { return a + b; }
};
template <typename A>
WRY_GPU A total_of_block(A value) { return block_total<Plus<A>>(value); }

// A parameter, whose dtype need not be that of the values; absent: `otherwise`.
struct Parameter {
  const void *data;
  int32_t dtype;
  template <typename A>
  WRY_GPU A at(int64_t i, A otherwise) const {
    if (!data) return otherwise;
    switch (dtype) {
      case WRY_FLOAT16: return A(load(static_cast<const half *>(data) + i));
      case WRY_BFLOAT16: return A(load(static_cast<const bfloat16 *>(data) + i));
      case WRY_FLOAT32: return A(static_cast<const float *>(data)[i]);
      default: return A(static_cast<const double *>(data)[i]);
    }
  }
  WRY_GPU void set(int64_t i, double value) const {
    void *to = const_cast<void *>(data);
    switch (dtype) {
      case WRY_FLOAT16: static_cast<half *>(to)[i] = __float2half(float(value)); break;
      case WRY_BFLOAT16: static_cast<bfloat16 *>(to)[i] = __float2bfloat16(float(value)); break;
      case WRY_FLOAT32: static_cast<float *>(to)[i] = float(value); break;
      default: static_cast<double *>(to)[i] = value;
    }
  }
};
Parameter parameter_of(const wry_tensor *t) { return t ? Parameter{t->data, t->dtype} : Parameter{nullptr, 0}; }

// ---- layer_norm -----------------------------------------------------------------------------------

template <typename T, typename A>
__global__ void __launch_bounds__(block_size) layer_norm_kernel(int64_t rows, int64_t n, const T *x, Parameter scale, Parameter bias, A epsilon, T *out,
                                                                A *means, A *rstds) {
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const T *from = x + r * n;
    A sum = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += load(from + i);
    const A mean = total_of_block(sum) / A(n);
    A squares = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const A d = load(from + i) - mean;
      squares += d * d;
    }
    const A rstd = A(1) / sqrt(total_of_block(squares) / A(n) + epsilon);
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
      out[r * n + i] = narrow<T>((load(from + i) - mean) * rstd * scale.at<A>(i, A(1)) + bias.at<A>(i, A(0)));
    if (threadIdx.x == 0) means[r] = mean, rstds[r] = rstd;
  }
}
int64_t size_from(const wry_tensor *t, int64_t axis) {
  int64_t n = 1;
  for (int i = int(axis); i < t->rank; ++i) n *= t->shape[i];
  return n;
}
dim3 rows_grid(int64_t rows) { return dim3(unsigned(rows < 65536 ? rows : 65536)); }

template <typename T>
int layer_norm(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const int64_t n = size_from(x, attr_int(call, 1)), rows = output(call, 1)->size;
  if (rows == 0) return WRY_OK;
  return check(call, wry_launch(layer_norm_kernel<T, A>, rows_grid(rows), dim3(threads_for((n + 1) / 2)), 0, stream(call), rows, n, data<T>(x),
                                parameter_of(input(call, 1)), parameter_of(input(call, 2)), A(attr_float(call, 0)), data<T>(output(call, 0)),
                                data<A>(output(call, 1)), data<A>(output(call, 2))));
}

template <typename T, typename A>
__global__ void __launch_bounds__(block_size) layer_norm_vjp_kernel(int64_t rows, int64_t n, const T *ct, const T *x, Parameter scale, const A *means,
                                                                    const A *rstds, T *out) {
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const A mean = means[r], rstd = rstds[r];
    A sum = 0, along = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const A c = load(ct + r * n + i) * scale.at<A>(i, A(1));
      sum += c;
      along += c * ((load(x + r * n + i) - mean) * rstd);
    }
    sum = total_of_block(sum) / A(n), along = total_of_block(along) / A(n);
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const A c = load(ct + r * n + i) * scale.at<A>(i, A(1));
      out[r * n + i] = narrow<T>((c - sum - (load(x + r * n + i) - mean) * rstd * along) * rstd);
    }
  }
}
// Thread j adds up column j; neighbouring threads read neighbouring columns.
template <typename T, typename A>
__global__ void __launch_bounds__(block_size) layer_norm_parameters(int64_t rows, int64_t n, const T *ct, const T *x, const A *means, const A *rstds,
                                                                    Parameter scale_ct, Parameter bias_ct) {
  for WRY_EACH (j, n) {
    double along = 0, sum = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const A c = load(ct + r * n + j);
      sum += double(c);
      along += double(c * ((load(x + r * n + j) - means[r]) * rstds[r]));
    }
    scale_ct.set(j, along);
    bias_ct.set(j, sum);
  }
}
template <typename T>
int layer_norm_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 1);
  const int64_t n = size_from(x, attr_int(call, 0)), rows = input(call, 3)->size;
  const T *ct = data<T>(input(call, 0));
  const A *means = data<A>(input(call, 3)), *rstds = data<A>(input(call, 4));
  if (rows && n)
    WRY_TRY(wry_launch(layer_norm_vjp_kernel<T, A>, rows_grid(rows), dim3(threads_for((n + 1) / 2)), 0, stream(call), rows, n, ct, data<T>(x),
                       parameter_of(input(call, 2)), means, rstds, data<T>(output(call, 0))));
  if (n == 0) return WRY_OK;
  return check(call, wry_launch(layer_norm_parameters<T, A>, blocks_for(n, 64), dim3(64), 0, stream(call), rows, n, ct, data<T>(x), means, rstds,
                                parameter_of(output(call, 1)), parameter_of(output(call, 2))));
}

// ---- group_norm -----------------------------------------------------------------------------------

// x [N, channels, run]: the channels of a group lie behind one another, as one row, which a block takes.
template <typename T, typename A>
__global__ void __launch_bounds__(block_size) group_norm_kernel(int64_t rows, int64_t groups, int64_t channels, int64_t run, const T *x, Parameter scale,
                                                                Parameter bias, A epsilon, T *out, A *means, A *rstds) {
  const int64_t n = channels * run;
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const T *from = x + r * n;
    A sum = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += load(from + i);
    const A mean = total_of_block(sum) / A(n);
    A squares = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const A d = load(from + i) - mean;
      squares += d * d;
    }
    const A rstd = A(1) / sqrt(total_of_block(squares) / A(n) + epsilon);
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const int64_t channel = r % groups * channels + i / run;
      out[r * n + i] = narrow<T>((load(from + i) - mean) * (rstd * scale.at<A>(channel, A(1))) + bias.at<A>(channel, A(0)));
    }
    if (threadIdx.x == 0) means[r] = mean, rstds[r] = rstd;
  }
}
template <typename T>
int group_norm(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const int64_t groups = attr_int(call, 1), channels = x->shape[1] / groups, run = size_from(x, 2), rows = output(call, 1)->size;
  if (rows == 0) return WRY_OK;
  return check(call, wry_launch(group_norm_kernel<T, A>, rows_grid(rows), dim3(threads_for((channels * run + 1) / 2)), 0, stream(call), rows, groups, channels,
                                run, data<T>(x), parameter_of(input(call, 1)), parameter_of(input(call, 2)), A(attr_float(call, 0)), data<T>(output(call, 0)),
                                data<A>(output(call, 1)), data<A>(output(call, 2))));
}

// Of each channel of each image the sums of ct times what was normalized, and of ct: one block each.
template <typename T, typename A>
__global__ void __launch_bounds__(block_size) channel_sums(int64_t count, int64_t channels, int64_t run, const T *ct, const T *x, const A *means, const A *rstds,
                                                           double *sums) {
  for (int64_t k = blockIdx.x; k < count; k += gridDim.x) {
    const A mean = means[k / channels];
    double along = 0, plain = 0;
    for (int64_t i = threadIdx.x; i < run; i += blockDim.x) {
      const A g = load(ct + k * run + i);
      plain += double(g);
      along += double(g * (load(x + k * run + i) - mean));
    }
    plain = total_of_block(plain), along = total_of_block(along);
    if (threadIdx.x == 0) sums[2 * k] = along * double(rstds[k / channels]), sums[2 * k + 1] = plain;
  }
}
// x_ct = (ct * factor - mean(ct * factor) - normal * mean(ct * factor * normal)) * rstd.
template <typename T, typename A>
__global__ void __launch_bounds__(block_size) group_norm_vjp_kernel(int64_t rows, int64_t groups, int64_t channels, int64_t run, const T *ct, const T *x,
                                                                    Parameter scale, const A *means, const A *rstds, const double *sums, T *out) {
  const int64_t n = channels * run;
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const int64_t first = r % groups * channels;
    double along = 0, plain = 0;
    for (int64_t c = threadIdx.x; c < channels; c += blockDim.x) {
      const double factor = double(scale.at<A>(first + c, A(1)));
      along += sums[2 * (r * channels + c)] * factor;
      plain += sums[2 * (r * channels + c) + 1] * factor;
    }
    along = total_of_block(along), plain = total_of_block(plain);
    const A mean = means[r], rstd = rstds[r], slope = A(along / double(n)) * rstd, mean_ct = A(plain / double(n));
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
      out[r * n + i] = narrow<T>((load(ct + r * n + i) * scale.at<A>(first + i / run, A(1)) - mean_ct - (load(x + r * n + i) - mean) * slope) * rstd);
  }
}
__global__ void __launch_bounds__(block_size) sum_over_images(int64_t images, int64_t channels, const double *sums, Parameter scale_ct, Parameter bias_ct) {
  for WRY_EACH (k, channels) {
    double along = 0, plain = 0;
    for (int64_t at = k; at < images * channels; at += channels) along += sums[2 * at], plain += sums[2 * at + 1];
    scale_ct.set(k, along);
    bias_ct.set(k, plain);
  }
}
// group_norm_vjp(ct, x, scale?, mean, rstd) -> x_ct, scale_ct, bias_ct
template <typename T>
int group_norm_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 1);
  const int64_t groups = attr_int(call, 0), all = x->shape[1], channels = all / groups, run = size_from(x, 2), rows = input(call, 3)->size;
  const int64_t count = rows * channels;
  double *sums = workspace<double>(call, 2 * count + 1);
  if (!sums) return fail_memory(call, "group_norm_vjp", 2 * count * 8);
  const T *ct = data<T>(input(call, 0)), *from = data<T>(x);
  const A *means = data<A>(input(call, 3)), *rstds = data<A>(input(call, 4));
  if (count) {
    WRY_TRY(wry_launch(channel_sums<T, A>, rows_grid(count), dim3(threads_for((run + 3) / 4)), 0, stream(call), count, channels, run, ct, from, means, rstds, sums));
    WRY_TRY(wry_launch(group_norm_vjp_kernel<T, A>, rows_grid(rows), dim3(threads_for((channels * run + 1) / 2)), 0, stream(call), rows, groups, channels, run, ct,
                       from, parameter_of(input(call, 2)), means, rstds, sums, data<T>(output(call, 0))));
  }
  if (all == 0) return WRY_OK;
  const int threads = threads_for(all);
  return check(call, wry_launch(sum_over_images, blocks_for(all, threads), dim3(threads), 0, stream(call), x->shape[0], all, sums,
                                parameter_of(output(call, 1)), parameter_of(output(call, 2))));
}

// ---- batch_norm -----------------------------------------------------------------------------------

struct Channels {  // [batch, channels, run]; channels last: run is 1
  int64_t batch, channels, run;
  WRY_GPU int64_t place(int64_t channel, int64_t i) const { return (i / run * channels + channel) * run + i % run; }
};
Channels channels_of(const wry_tensor *x, bool last) {
  Channels c = {1, x->shape[last ? x->rank - 1 : 1], 1};
  if (last) {
    c.batch = x->size / (c.channels ? c.channels : 1);
  } else {
    c.batch = x->shape[0];
    for (int i = 2; i < x->rank; ++i) c.run *= x->shape[i];
  }
  return c;
}

template <typename T, typename A>
__global__ void __launch_bounds__(block_size) channel_statistics(Channels c, const T *x, A *means, A *variances) {
  const int64_t n = c.batch * c.run;
  for (int64_t k = blockIdx.x; k < c.channels; k += gridDim.x) {
    double sum = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += double(load(x + c.place(k, i)));
    const A mean = A(total_of_block(sum) / double(n));
    double squares = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const double d = double(load(x + c.place(k, i))) - double(mean);
      squares += d * d;
    }
    squares = total_of_block(squares);
    if (threadIdx.x == 0) means[k] = mean, variances[k] = A(squares / double(n));
  }
}
template <typename T, typename A>
__global__ void __launch_bounds__(block_size) normalize(int64_t size, Channels c, const T *x, const A *means, const A *variances, Parameter scale,
                                                        Parameter bias, A epsilon, T *out) {
  for WRY_EACH (i, size) {
    const int64_t k = i / c.run % c.channels;
    const A factor = scale.at<A>(k, A(1)) / sqrt(variances[k] + epsilon);
    out[i] = narrow<T>((load(x + i) - means[k]) * factor + bias.at<A>(k, A(0)));
  }
}
template <typename T>
int normalized(const wry_call *call, const Channels &c, const arithmetic_t<T> *mean, const arithmetic_t<T> *variance, const wry_tensor *scale,
               const wry_tensor *bias) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  if (x->size == 0) return WRY_OK;
  const int threads = threads_for(x->size);
  return check(call, wry_launch(normalize<T, A>, blocks_for(x->size, threads), dim3(threads), 0, stream(call), x->size, c, data<T>(x), mean, variance,
                                parameter_of(scale), parameter_of(bias), A(attr_float(call, 0)), data<T>(output(call, 0))));
}
template <typename T>
int batch_norm(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const Channels c = channels_of(x, attr_equals(call, 1, "NHWC"));
  A *mean = data<A>(output(call, 1)), *variance = data<A>(output(call, 2));
  if (c.channels == 0) return WRY_OK;
  WRY_TRY(wry_launch(channel_statistics<T, A>, rows_grid(c.channels), dim3(threads_for((c.batch * c.run + 3) / 4)), 0, stream(call), c, data<T>(x), mean, variance));
  return normalized<T>(call, c, mean, variance, input(call, 1), input(call, 2));
}
// batch_norm_infer(x, mean, variance, scale?, bias?) -> out
template <typename T>
int batch_norm_infer(const wry_call *call) {
  using A = arithmetic_t<T>;
  return normalized<T>(call, channels_of(input(call, 0), attr_equals(call, 1, "NHWC")), data<A>(input(call, 1)), data<A>(input(call, 2)), input(call, 3),
                       input(call, 4));
}

// batch_norm_vjp(ct, x, scale?, mean, variance) -> x_ct, scale_ct, bias_ct
template <typename T, typename A>
__global__ void __launch_bounds__(block_size) batch_norm_vjp_kernel(Channels c, const T *ct, const T *x, Parameter scale, const A *means, const A *variances,
                                                                    double epsilon, T *out, Parameter scale_ct, Parameter bias_ct) {
  const int64_t n = c.batch * c.run;
  for (int64_t k = blockIdx.x; k < c.channels; k += gridDim.x) {
    const A mean = means[k];
    double along = 0, plain = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const int64_t at = c.place(k, i);
      const A g = load(ct + at);
      plain += double(g);
      along += double(g * (load(x + at) - mean));
    }
    plain = total_of_block(plain), along = total_of_block(along);
    const double rstd = 1 / sqrt(double(variances[k]) + epsilon);
    // (ct - mean(ct) - (x - mean) * slope) * factor
    const A factor = A(rstd) * scale.at<A>(k, A(1)), mean_ct = A(plain / double(n)), slope = A(along / double(n) * rstd * rstd);
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const int64_t at = c.place(k, i);
      out[at] = narrow<T>((load(ct + at) - mean_ct - (load(x + at) - mean) * slope) * factor);
    }
    if (threadIdx.x == 0) {
      scale_ct.set(k, along * rstd);
      bias_ct.set(k, plain);
    }
  }
}
template <typename T>
int batch_norm_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 1);
  const Channels c = channels_of(x, attr_equals(call, 1, "NHWC"));
  if (c.channels == 0) return WRY_OK;
  return check(call, wry_launch(batch_norm_vjp_kernel<T, A>, rows_grid(c.channels), dim3(threads_for((c.batch * c.run + 3) / 4)), 0, stream(call), c,
                                data<T>(input(call, 0)), data<T>(x), parameter_of(input(call, 2)), data<A>(input(call, 3)), data<A>(input(call, 4)),
                                attr_float(call, 0), data<T>(output(call, 0)), parameter_of(output(call, 1)), parameter_of(output(call, 2))));
}

// ---- dropout --------------------------------------------------------------------------------------

// An element is kept where its uniform number is below 1 - p, in integers: both are multiples of 2^-24.
template <typename T>
__global__ void __launch_bounds__(block_size) dropout_kernel(int64_t n, Draw draw, uint32_t limit, double scale, const T *x, T *out, uint8_t *mask) {
  using A = arithmetic_t<T>;
  for WRY_EACH (i, n) {
    const bool kept = word_of(draw, i) >> 8 < limit;
    out[i] = narrow<T>(kept ? load(x + i) * A(scale) : A(0));
    mask[i] = kept;
  }
}
template <typename T>
int dropout(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  if (x->size == 0) return WRY_OK;
  const double p = attr_float(call, 0), scale = attr_bool(call, 1) && p < 1 ? 1 / (1 - p) : 1;
  const uint32_t limit = uint32_t(ceil(double(float(1 - p)) * 0x1p24));
  const int threads = threads_for(x->size);
  return check(call, wry_launch(dropout_kernel<T>, blocks_for(x->size, threads), dim3(threads), 0, stream(call), x->size, draw_of(call), limit, scale,
                                data<T>(x), data<T>(output(call, 0)), data<uint8_t>(output(call, 1))));
}
template <typename T>
__global__ void __launch_bounds__(block_size) dropout_vjp_kernel(int64_t n, double scale, const T *ct, const uint8_t *mask, T *out) {
  using A = arithmetic_t<T>;
  for WRY_EACH (i, n) out[i] = narrow<T>(mask[i] ? load(ct + i) * A(scale) : A(0));
}
template <typename T>
int dropout_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0);
  if (ct->size == 0) return WRY_OK;
  const int threads = threads_for(ct->size);
  return check(call, wry_launch(dropout_vjp_kernel<T>, blocks_for(ct->size, threads), dim3(threads), 0, stream(call), ct->size, attr_float(call, 0),
                                data<T>(ct), data<uint8_t>(input(call, 1)), data<T>(output(call, 0))));
}

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("layer_norm", WRY_WANTS_CONTIGUOUS, layer_norm),
    WRY_FLOAT_ROWS("layer_norm_vjp", WRY_WANTS_CONTIGUOUS, layer_norm_vjp),
    WRY_FLOAT_ROWS("group_norm", WRY_WANTS_CONTIGUOUS, group_norm),
    WRY_FLOAT_ROWS("group_norm_vjp", WRY_WANTS_CONTIGUOUS, group_norm_vjp),
    WRY_FLOAT_ROWS("batch_norm", WRY_WANTS_CONTIGUOUS, batch_norm),
    WRY_FLOAT_ROWS("batch_norm_infer", WRY_WANTS_CONTIGUOUS, batch_norm_infer),
    WRY_FLOAT_ROWS("batch_norm_vjp", WRY_WANTS_CONTIGUOUS, batch_norm_vjp),
    WRY_FLOAT_ROWS("dropout", WRY_WANTS_CONTIGUOUS | WRY_USES_RANDOM, dropout),
    WRY_FLOAT_ROWS("dropout_vjp", WRY_WANTS_CONTIGUOUS, dropout_vjp),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(normalization, wherry::cuda::table)
