// layer_norm, batch_norm and dropout, and their gradients.
//
// All inputs are contiguous; outputs overlap no input. Statistics are computed in two passes (mean,
// then squared distances from it), in float for everything but float64.
#include "lanemath.h"
#include "parallel.h"
#include "philox.h"
#include "reduce.h"
#include "rows.h"

namespace WRY_NAMESPACE {
namespace {

// ---- parameters ---------------------------------------------------------------------------------

// The n values of `t` in the type of the arithmetic: where they lie, or converted into scratch
// memory. Null without t; `failed` is set without memory.
template <typename A>
const A *values_of(const wry_call *call, const wry_tensor *t, bool *failed) {
  if (!t) return nullptr;
  if (t->dtype == code_of<A>::value) return data<const A>(t);
  A *wide = workspace<A>(call, t->size);
  if (!wide) {
    *failed = true;
    return nullptr;
  }
  dispatch<float16, bfloat16, float, double>(t->dtype, [&](auto tag) {
    const auto *from = data<decltype(tag)>(t);
    for (int64_t i = 0; i < t->size; ++i) wide[i] = A(arithmetic_t<decltype(tag)>(from[i]));
  });
  return wide;
}

template <typename A>
void write_values(const A *from, const wry_tensor *t) {
  dispatch<float16, bfloat16, float, double>(t->dtype, [&](auto tag) {
    using T = decltype(tag);
    for (int64_t i = 0; i < t->size; ++i) data<T>(t)[i] = T(arithmetic_t<T>(from[i]));
  });
}

// ---- layer_norm ---------------------------------------------------------------------------------

WRY_INLINE int64_t size_from(const wry_tensor *t, int64_t axis) {
  int64_t n = 1;
  for (int i = int(axis); i < t->rank; ++i) n *= t->shape[i];
  return n;
}

template <typename T>
int layer_norm(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const wry_tensor *in = input(call, 0);
  bool failed = false;
  const A *scale = values_of<A>(call, input(call, 1), &failed), *bias = values_of<A>(call, input(call, 2), &failed);
  if (failed) return fail_memory(call, "layer_norm", 2 * in->size);
  const A epsilon = A(attr_float(call, 0));
  const int64_t n = size_from(in, attr_int(call, 1)), rows = output(call, 1)->size;
  const T *x0 = data<T>(in);
  T *out0 = data<T>(output(call, 0));
  A *means = data<A>(output(call, 1)), *rstds = data<A>(output(call, 2));
  each_row_to(call, out0, rows, n, [&](int64_t r, auto where) {
    using Where = decltype(where);
    const T *x = x0 + r * n;
    T *out = out0 + r * n;
    const A mean = row_reduce<T>(n, A(0), [&](int64_t i, auto part) { return get(x + i, part); }, Plus()) / A(n);
    const V m = splat<V>(mean);
    const A squares = row_reduce<T>(n, A(0), [&](int64_t i, auto part) {
      const V d = keep<V>(get(x + i, part) - m, V{}, part);
      return d * d; }, Plus());
    const A rstd = A(1) / scalar_sqrt(squares / A(n) + epsilon);
    means[r] = mean;
    rstds[r] = rstd;
    if (scale && bias)
      over<T>(n, [&](int64_t i, auto part) { put_to<Where>(out + i, fma((get(x + i, part) - m) * rstd, get(scale + i, part), get(bias + i, part)), part); });
    else if (scale)
      over<T>(n, [&](int64_t i, auto part) { put_to<Where>(out + i, (get(x + i, part) - m) * rstd * get(scale + i, part), part); });
    else if (bias)
      over<T>(n, [&](int64_t i, auto part) { put_to<Where>(out + i, fma(get(x + i, part) - m, rstd, get(bias + i, part)), part); });
    else
      over<T>(n, [&](int64_t i, auto part) { put_to<Where>(out + i, (get(x + i, part) - m) * rstd, part); });
  });
  return WRY_OK;
}

// Rows are summed for the parameters in blocks that do not depend on the threads, and the blocks in
// order.
WRY_INLINE int64_t row_blocks(int64_t rows) { return max_of<int64_t>(1, min_of<int64_t>(32, rows / 32)); }

// partial[blocks][2 * n] of A, summed in double into the two parameters' cotangents.
template <typename A>
int sum_blocks(const wry_call *call, const A *partial, int64_t blocks, int64_t n, const wry_tensor *first,
               const wry_tensor *second) {
  A *total = workspace<A>(call, 2 * n);
  if (!total) return fail_memory(call, "the gradient of a normalization", 2 * n * int64_t(sizeof(A)));
  for (int64_t j = 0; j < 2 * n; ++j) {
    double sum = 0;
    for (int64_t b = 0; b < blocks; ++b) sum += double(partial[b * 2 * n + j]);
    total[j] = A(sum);
  }
  write_values(total, first);
  write_values(total + n, second);
  return WRY_OK;
}

// What the gradients of layer_norm and group_norm begin with: (ct, x, scale?, mean, rstd) -> x_ct, scale_ct, bias_ct.
template <typename T>
struct Gradient {
  using A = arithmetic_t<T>;
  const wry_tensor *in;
  const T *ct, *x;
  bool failed = false;  // no memory for `scale`
  const A *scale, *means, *rstds;
  T *out;
  int64_t rows;  // with a mean each

  explicit Gradient(const wry_call *call)
      : in(input(call, 1)), ct(data<T>(input(call, 0))), x(data<T>(in)), scale(values_of<A>(call, input(call, 2), &failed)), means(data<A>(input(call, 3))), rstds(data<A>(input(call, 4))), out(data<T>(output(call, 0))), rows(input(call, 3)->size) {}
};

// layer_norm_vjp(ct, x, scale?, mean, rstd) -> x_ct, scale_ct, bias_ct
template <typename T>
int layer_norm_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const Gradient<T> given(call);
  const int64_t n = size_from(given.in, attr_int(call, 0));
  const int64_t blocks = row_blocks(given.rows);
  A *partial = workspace<A>(call, blocks * 2 * n);
  if (given.failed || !partial) return fail_memory(call, "layer_norm_vjp", blocks * 2 * n * int64_t(sizeof(A)));
  parallel_for(call, blocks, max_of<int64_t>(1, 16384 * blocks / max_of<int64_t>(1, given.rows * n)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   A *scale_ct = partial + b * 2 * n, *bias_ct = scale_ct + n;
                   for (int64_t j = 0; j < 2 * n; ++j) scale_ct[j] = 0;
                   for (int64_t r = given.rows * b / blocks; r < given.rows * (b + 1) / blocks; ++r) {
                     const T *ct = given.ct + r * n, *x = given.x + r * n;
                     T *out = given.out + r * n;
                     const V m = splat<V>(given.means[r]), s = splat<V>(given.rstds[r]);
                     V sum{}, along{};
                     over<T>(n, [&](int64_t i, auto part) {
                       V c = get(ct + i, part);
                       if (given.scale) c = c * get(given.scale + i, part);
                       sum = sum + c;
                       along = fma(c, (get(x + i, part) - m) * s, along);
                     });
                     const A mean_ct = reduce_add(sum) / A(n), mean_along = reduce_add(along) / A(n);
                     over<T>(n, [&](int64_t i, auto part) {
                       const V own = get(ct + i, part), normal = (get(x + i, part) - m) * s;
                       const V c = given.scale ? own * get(given.scale + i, part) : own;
                       put(out + i, (c - mean_ct - normal * mean_along) * s, part);
                       put(scale_ct + i, fma(own, normal, get((const A *)scale_ct + i, part)), part);
                       put(bias_ct + i, get((const A *)bias_ct + i, part) + own, part);
                     });
                   }
                 }
               });
  return sum_blocks(call, partial, blocks, n, output(call, 1), output(call, 2));
}

// ---- group_norm ---------------------------------------------------------------------------------

// x [N, channels, run]: the channels of a group lie after one another, as one row. f(row, where) as in each_row_to, which
// trusts rows to be whole vectors; here every channel has to be.
template <typename T, typename F>
void each_group(const wry_call *call, const T *out, int64_t rows, int64_t n, int64_t run, F &&f) {
  if (run % lanes<T> == 0) each_row_to(call, out, rows, n, f);
  else each_row(call, rows, n, [&](int64_t r) { f(r, Near()); });
}

template <typename T>
int group_norm(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const wry_tensor *in = input(call, 0);
  bool failed = false;
  const A *scale = values_of<A>(call, input(call, 1), &failed), *bias = values_of<A>(call, input(call, 2), &failed);
  if (failed) return fail_memory(call, "group_norm", 2 * in->shape[1] * int64_t(sizeof(A)));
  const A epsilon = A(attr_float(call, 0));
  const int64_t groups = attr_int(call, 1), channels = in->shape[1] / groups, run = size_from(in, 2), n = channels * run;
  const T *x0 = data<T>(in);
  T *out0 = data<T>(output(call, 0));
  A *means = data<A>(output(call, 1)), *rstds = data<A>(output(call, 2));
  each_group(call, out0, output(call, 1)->size, n, run, [&](int64_t r, auto where) {
    const T *x = x0 + r * n;
    const A mean = row_reduce<T>(n, A(0), [&](int64_t i, auto part) { return get(x + i, part); }, Plus()) / A(n);
    const V m = splat<V>(mean);
    const A squares = row_reduce<T>(n, A(0), [&](int64_t i, auto part) {
      const V d = keep<V>(get(x + i, part) - m, V{}, part);
      return d * d; }, Plus());
    const A rstd = A(1) / scalar_sqrt(squares / A(n) + epsilon);
    means[r] = mean;
    rstds[r] = rstd;
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t channel = r % groups * channels + c;
      const V f = splat<V>(scale ? rstd * scale[channel] : rstd), b = splat<V>(bias ? bias[channel] : A(0));
      T *out = out0 + r * n + c * run;
      over<T>(run, [&](int64_t i, auto part) { put_to<decltype(where)>(out + i, fma(get(x + c * run + i, part) - m, f, b), part); });
    }
  });
  return WRY_OK;
}

template <typename T>
int group_norm_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const Gradient<T> given(call);
  const int64_t groups = attr_int(call, 0), all = given.in->shape[1], channels = all / groups, run = size_from(given.in, 2), n = channels * run;
  // Of each channel of each image, the sums of ct times what was normalized, and of ct.
  double *sums = workspace<double>(call, 2 * given.rows * channels + 1);
  A *totals = workspace<A>(call, 2 * all);
  if (given.failed || !sums || !totals) return fail_memory(call, "group_norm_vjp", 2 * (given.rows * channels + all) * int64_t(sizeof(double)));
  each_group(call, given.out, given.rows, n, run, [&](int64_t r, auto where) {
    const T *ct = given.ct + r * n, *x = given.x + r * n;
    const A *factors = given.scale ? given.scale + r % groups * channels : nullptr;
    const V m = splat<V>(given.means[r]);
    double along = 0, plain = 0;  // of the group, with its factors
    for (int64_t c = 0; c < channels; ++c) {
      double *of = sums + 2 * (r * channels + c);
      of[0] = of[1] = 0;
      for (int64_t i0 = 0; i0 < run; i0 += reduce_block) {
        V s{}, t{};
        over<T>(min_of(reduce_block, run - i0), [&](int64_t i, auto part) {
          const V g = get(ct + c * run + i0 + i, part);
          s = s + g;
          t = fma(g, get(x + c * run + i0 + i, part) - m, t);
        });
        of[0] += double(reduce_add(t)) * double(given.rstds[r]);
        of[1] += double(reduce_add(s));
      }
      along += of[0] * double(factors ? factors[c] : A(1));
      plain += of[1] * double(factors ? factors[c] : A(1));
    }
    // x_ct = (ct * factor - mean(ct * factor) - normal * mean(ct * factor * normal)) * rstd.
    const V slope = splat<V>(A(along / double(n)) * given.rstds[r]), mean_ct = splat<V>(A(plain / double(n))), s = splat<V>(given.rstds[r]);
    for (int64_t c = 0; c < channels; ++c) {
      const V f = splat<V>(factors ? factors[c] : A(1));
      T *out = given.out + r * n + c * run;
      over<T>(run, [&](int64_t i, auto part) {
        const V d = get(x + c * run + i, part) - m;
        put_to<decltype(where)>(out + i, (get(ct + c * run + i, part) * f - mean_ct - d * slope) * s, part);
      });
    }
  });
  for (int64_t k = 0; k < all; ++k) {
    double along = 0, plain = 0;
    for (int64_t at = k; at < given.rows * channels; at += all) along += sums[2 * at], plain += sums[2 * at + 1];
    totals[k] = A(along), totals[all + k] = A(plain);
  }
  write_values(totals, output(call, 1));
  write_values(totals + all, output(call, 2));
  return WRY_OK;
}

// ---- batch_norm ---------------------------------------------------------------------------------

// The tensor as [batch, channels, run] of contiguous runs, or [batch, channels] where channels lie last.
struct Channels {
  int64_t batch, channels, run;
};

Channels channels_of(const wry_tensor *x, bool last) {
  Channels c;
  if (last) {
    c.channels = x->shape[x->rank - 1];
    c.batch = c.channels ? x->size / c.channels : 0;
    c.run = 1;
  } else {
    c.batch = x->shape[0], c.channels = x->shape[1];
    c.run = size_from(x, 2);
  }
  return c;
}

// max(v, 0) where a relu follows: of NaN 0, as the op has it.
template <bool Relu, typename V>
WRY_INLINE V rectified(V v) {
  if constexpr (Relu) return v > V{} ? v : V{};
  else return v;
}

// to = (from - mean) * factor + bias, for a run of one channel.
template <typename T, bool Relu, typename Where>
WRY_INLINE void normalize_run(const T *from, T *to, int64_t n, vec<T> mean, vec<T> factor, vec<T> bias) {
  over<T>(n, [&](int64_t i, auto part) { put_to<Where>(to + i, rectified<Relu>(fma(get(from + i, part) - mean, factor, bias)), part); });
}

// out = (x - mean) * factor + bias, for each channel.
template <typename T, bool Relu = false>
void normalize(const wry_call *call, Channels c, const T *x, T *out, const arithmetic_t<T> *mean,
               const arithmetic_t<T> *factor, const arithmetic_t<T> *bias) {
  using V = vec<T>;
  if (c.run == 1) {
    each_row(call, c.batch, c.channels, [&](int64_t r) {
      const T *from = x + r * c.channels;
      T *to = out + r * c.channels;
      over<T>(c.channels, [&](int64_t i, auto part) {
        const V v = (get(from + i, part) - get(mean + i, part)) * get(factor + i, part);
        put(to + i, rectified<Relu>(bias ? v + get(bias + i, part) : v), part);
      });
    });
    return;
  }
  each_row_to(call, out, c.batch * c.channels, c.run, [&](int64_t r, auto where) {
    const int64_t k = r % c.channels;
    normalize_run<T, Relu, decltype(where)>(x + r * c.run, out + r * c.run, c.run, splat<V>(mean[k]), splat<V>(factor[k]), splat<V>(bias ? bias[k] : 0));
  });
}

template <typename A>
A *factors(const wry_call *call, const A *variance, const A *scale, A epsilon, int64_t n) {
  A *factor = workspace<A>(call, n);
  if (!factor) return nullptr;
  for (int64_t i = 0; i < n; ++i) factor[i] = (scale ? scale[i] : A(1)) / scalar_sqrt(variance[i] + epsilon);
  return factor;
}

// From so many channels on, each is one piece of work: the passes over a channel find it in the cache of the core.
inline constexpr int64_t apart = 32;

// Statistics and result of each channel in turn. A channel is summed in the order of `reduce`, which takes whole outputs
// of that many to a thread as well.
template <typename T, bool Relu, typename Where>
void batch_norm_apart(const wry_call *call, Channels c, const arithmetic_t<T> *scale, const arithmetic_t<T> *bias, Where) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const T *x = data<T>(input(call, 0));
  T *out = data<T>(output(call, 0));
  A *means = data<A>(output(call, 1)), *variances = data<A>(output(call, 2));
  const A epsilon = A(attr_float(call, 0));
  const double n = double(c.batch) * double(c.run);
  parallel_for(call, c.channels, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, c.batch * c.run)), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      double sum = 0, squares = 0;
      for (int64_t b = 0; b < c.batch; ++b) sum = VectorReducer<SumOf<T>>::contiguous(x + (b * c.channels + k) * c.run, c.run, V{}, sum);
      const A mean = A(sum / n);
      const V m = splat<V>(mean);
      for (int64_t b = 0; b < c.batch; ++b) squares = VectorReducer<SquaredDeviations<T>>::contiguous(x + (b * c.channels + k) * c.run, c.run, m, squares);
      const A variance = A(squares / n);
      means[k] = mean, variances[k] = variance;
      const V f = splat<V>((scale ? scale[k] : A(1)) / scalar_sqrt(variance + epsilon)), shift = splat<V>(bias ? bias[k] : A(0));
      for (int64_t b = 0; b < c.batch; ++b)
        normalize_run<T, Relu, Where>(x + (b * c.channels + k) * c.run, out + (b * c.channels + k) * c.run, c.run, m, f, shift);
    }
    if constexpr (Where::value) stream_fence();
  });
}

template <typename T, bool Relu>
int batch_norm_of(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const bool last = attr_equals(call, 1, "NHWC");
  const Channels c = channels_of(x, last);
  bool failed = false;
  const A *scale = values_of<A>(call, input(call, 1), &failed), *bias = values_of<A>(call, input(call, 2), &failed);
  if (failed) return fail_memory(call, "batch_norm", c.channels * int64_t(sizeof(A)));
  if (c.run > 1 && c.channels >= apart && c.batch > 0) {
    to_memory(data<T>(output(call, 0)), x->size, c.run, [&](auto where) { batch_norm_apart<T, Relu>(call, c, scale, bias, where); });
    return WRY_OK;
  }
  A *mean = data<A>(output(call, 1)), *variance = data<A>(output(call, 2));
  int64_t axes[WRY_MAX_RANK];
  int n_axes = 0;
  for (int i = 0; i < x->rank; ++i)
    if (i != (last ? x->rank - 1 : 1)) axes[n_axes++] = i;
  const double n = double(c.batch) * double(c.run);
  int status = reduce(call, "batch_norm", x, axes, n_axes, VectorReducer<SumOf<T>>::template reducer<A>(), nullptr, mean, n);
  if (status == WRY_OK)
    status = reduce(call, "batch_norm", x, axes, n_axes, VectorReducer<SquaredDeviations<T>>::template reducer<A>(true),
                    mean, variance, n);
  if (status != WRY_OK) return status;
  const A *factor = factors(call, variance, scale, A(attr_float(call, 0)), c.channels);
  if (!factor) return fail_memory(call, "batch_norm", c.channels * int64_t(sizeof(A)));
  normalize<T, Relu>(call, c, data<T>(x), data<T>(output(call, 0)), mean, factor, bias);
  return WRY_OK;
}

template <typename T>
int batch_norm(const wry_call *call) { return batch_norm_of<T, false>(call); }

// batch_norm_infer(x, mean, variance, scale?, bias?) -> out
template <typename T>
int batch_norm_infer(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const Channels c = channels_of(x, attr_equals(call, 1, "NHWC"));
  bool failed = false;
  const A *scale = values_of<A>(call, input(call, 3), &failed), *bias = values_of<A>(call, input(call, 4), &failed);
  const A *factor = factors(call, data<const A>(input(call, 2)), scale, A(attr_float(call, 0)), c.channels);
  if (failed || !factor) return fail_memory(call, "batch_norm_infer", c.channels * int64_t(sizeof(A)));
  normalize<T>(call, c, data<T>(x), data<T>(output(call, 0)), data<const A>(input(call, 1)), factor, bias);
  return WRY_OK;
}

// What the gradient of batch_norm reads and writes: numbers for each channel, and how x becomes x_ct:
// x_ct = (ct - mean(ct) - (x - mean) * slope) * factor.
template <typename T>
struct ChannelGradient {
  using A = arithmetic_t<T>;
  const wry_call *call;
  Channels c;
  const T *ct, *x;
  const A *scale, *mean, *variance;
  double epsilon;
  T *out;
  A *factor, *mean_ct, *slope, *scale_ct, *bias_ct;

  // Of a channel, with the sums of ct * (x - mean) and ct over everything else.
  WRY_INLINE void numbers(int64_t k, double along, double plain) const {
    const double n = double(c.batch) * double(c.run), rstd = 1 / ::sqrt(double(variance[k]) + epsilon);
    factor[k] = A(rstd) * (scale ? scale[k] : A(1));
    mean_ct[k] = A(plain / n);
    slope[k] = A(along / n * rstd * rstd);
    scale_ct[k] = A(along * rstd);
    bias_ct[k] = A(plain);
  }
};

// Channels in runs. `own(k)` gives what a cotangent becomes before everything else: f(ct, x - mean).
template <typename T, typename Own>
void batch_norm_vjp_runs(const ChannelGradient<T> &g, Own &&own) {
  using V = vec<T>;
  const Channels c = g.c;
  const auto sum = [&](int64_t k) {
    double along = 0, plain = 0;
    const V m = splat<V>(g.mean[k]);
    const auto masked = own(k);
    for (int64_t b = 0; b < c.batch; ++b) {
      const T *ct = g.ct + (b * c.channels + k) * c.run, *x = g.x + (b * c.channels + k) * c.run;
      for (int64_t i0 = 0; i0 < c.run; i0 += reduce_block) {
        V s{}, t{};
        over<T>(min_of(reduce_block, c.run - i0), [&](int64_t i, auto part) {
          const V d = get(x + i0 + i, part) - m, v = masked(get(ct + i0 + i, part), d);
          s = s + v;
          t = fma(v, d, t);
        });
        plain += double(reduce_add(s));
        along += double(reduce_add(t));
      }
    }
    g.numbers(k, along, plain);
  };
  const auto apply = [&](int64_t b, int64_t k) {
    const T *ct = g.ct + (b * c.channels + k) * c.run, *x = g.x + (b * c.channels + k) * c.run;
    T *out = g.out + (b * c.channels + k) * c.run;
    const V m = splat<V>(g.mean[k]), f = splat<V>(g.factor[k]), g0 = splat<V>(g.mean_ct[k]), s = splat<V>(g.slope[k]);
    const auto masked = own(k);
    over<T>(c.run, [&](int64_t i, auto part) {
      const V d = get(x + i, part) - m;
      put(out + i, (masked(get(ct + i, part), d) - g0 - d * s) * f, part);
    });
  };
  const bool each = c.channels >= apart && c.run > 64;  // shorter runs are read in the order in which they lie
  parallel_for(g.call, c.channels, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, c.batch * c.run)), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      sum(k);
      if (each)
        for (int64_t b = 0; b < c.batch; ++b) apply(b, k);
    }
  });
  if (!each) each_row(g.call, c.batch * c.channels, c.run, [&](int64_t r) { apply(r / c.channels, r % c.channels); });
}

// Channels that lie last.
template <typename T>
int batch_norm_vjp_last(const ChannelGradient<T> &g) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const T *ct = g.ct, *x = g.x;
  const int64_t C = g.c.channels, rows = g.c.batch, blocks = row_blocks(rows);
  A *partial = workspace<A>(g.call, blocks * 2 * C);
  if (!partial) return fail_memory(g.call, "batch_norm_vjp", blocks * 2 * C * int64_t(sizeof(A)));
  parallel_for(g.call, blocks, max_of<int64_t>(1, 16384 * blocks / max_of<int64_t>(1, rows * C)), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      A *along = partial + b * 2 * C, *plain = along + C;
      for (int64_t j = 0; j < 2 * C; ++j) along[j] = 0;
      for (int64_t r = rows * b / blocks; r < rows * (b + 1) / blocks; ++r)
        over<T>(C, [&](int64_t i, auto part) {
          const V v = get(ct + r * C + i, part), d = get(x + r * C + i, part) - get(g.mean + i, part);
          put(along + i, fma(v, d, get((const A *)along + i, part)), part);
          put(plain + i, get((const A *)plain + i, part) + v, part);
        });
    }
  });
  for (int64_t k = 0; k < C; ++k) {
    double along = 0, plain = 0;
    for (int64_t b = 0; b < blocks; ++b) along += double(partial[b * 2 * C + k]), plain += double(partial[b * 2 * C + C + k]);
    g.numbers(k, along, plain);
  }
  each_row(g.call, rows, C, [&](int64_t r) {
    over<T>(C, [&](int64_t i, auto part) {
      const V d = get(x + r * C + i, part) - get(g.mean + i, part);
      const V v = get(ct + r * C + i, part) - get((const A *)g.mean_ct + i, part);
      put(g.out + r * C + i, (v - d * get((const A *)g.slope + i, part)) * get((const A *)g.factor + i, part), part);
    });
  });
  return WRY_OK;
}

// batch_norm_vjp(ct, x, scale?, mean, variance) -> x_ct, scale_ct, bias_ct
// batch_norm_relu_vjp(ct, x, scale?, bias?, mean, variance) -> the same, perhaps over ct; what relu gave is computed again,
// which costs less than reading it.
template <typename T, bool Relu>
int batch_norm_vjp_of(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  constexpr int statistics = Relu ? 4 : 3;
  const Channels c = channels_of(input(call, 1), attr_equals(call, 1, "NHWC"));
  const int64_t C = c.channels;
  bool failed = false;
  const A *scale = values_of<A>(call, input(call, 2), &failed), *bias = Relu ? values_of<A>(call, input(call, 3), &failed) : nullptr;
  A *numbers = workspace<A>(call, 5 * C);
  if (failed || !numbers) return fail_memory(call, "batch_norm_vjp", 8 * C * int64_t(sizeof(A)));
  ChannelGradient<T> g = {call, c, data<T>(input(call, 0)), data<T>(input(call, 1)), scale, data<A>(input(call, statistics)), data<A>(input(call, statistics + 1)), double(A(attr_float(call, 0))), data<T>(output(call, 0)), numbers, numbers + C, numbers + 2 * C, numbers + 3 * C, numbers + 4 * C};
  int status = WRY_OK;
  if constexpr (Relu) {
    const A *steep = factors(call, g.variance, scale, A(attr_float(call, 0)), C);  // of the result, by x - mean
    if (!steep) return fail_memory(call, "batch_norm_relu_vjp", C * int64_t(sizeof(A)));
    if (c.run > 1) {
      batch_norm_vjp_runs(g, [=](int64_t k) {
        const V f = splat<V>(steep[k]), shift = splat<V>(bias ? bias[k] : A(0));
        return [=](V ct, V d) { return select<V>(fma(d, f, shift) > V{}, ct, V{}); };
      });
    } else {
      // The cotangent below relu, where x_ct will lie.
      each_row(call, c.batch, C, [&](int64_t r) {
        over<T>(C, [&](int64_t i, auto part) {
          const V v = (get(g.x + r * C + i, part) - get(g.mean + i, part)) * get(steep + i, part);
          put(g.out + r * C + i, select<V>((bias ? v + get(bias + i, part) : v) > V{}, get(g.ct + r * C + i, part), V{}), part);
        });
      });
      g.ct = g.out;
      status = batch_norm_vjp_last(g);
    }
  } else if (c.run > 1) {
    batch_norm_vjp_runs(g, [](int64_t) { return [](V ct, V) { return ct; }; });
  } else {
    status = batch_norm_vjp_last(g);
  }
  if (status != WRY_OK) return status;
  write_values(g.scale_ct, output(call, 1));
  write_values(g.bias_ct, output(call, 2));
  return WRY_OK;
}

template <typename T>
int batch_norm_vjp(const wry_call *call) { return batch_norm_vjp_of<T, false>(call); }

// ---- dropout ------------------------------------------------------------------------------------

template <typename T>
int dropout_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *ct = data<T>(input(call, 0));
  const uint8_t *mask = data<uint8_t>(input(call, 1));
  T *out = data<T>(output(call, 0));
  const A scale = A(attr_float(call, 0));
  constexpr int64_t block = 1024;
  const int64_t size = input(call, 0)->size;
  parallel_for(call, (size + block - 1) / block, 32, [&](int64_t begin, int64_t end) {
    // Through local arrays: a load of bytes may alias anything, which would keep the compiler from making
    // vectors, and of its own vectors of bytes it makes single ones.
    uint8_t bytes[block];
    A keeps[block];
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b * block, n = min_of(block, size - first);
      memcpy(bytes, mask + first, size_t(n));
      for (int64_t i = 0; i < n; ++i) keeps[i] = A(bytes[i]);
      over<T>(n, [&](int64_t i, auto part) {
        const vec<T> kept = get(ct + first + i, part) * scale;
        put(out + first + i, select<vec<T>>(get((const A *)keeps + i, part) != vec<T>{}, kept, vec<T>{}), part);
      });
    }
  });
  return WRY_OK;
}

// An element is kept where its uniform number is below 1 - p. Numbers are drawn a block at a time: the
// processor spends nearly all of the time on them.
//
// y, where there is one, is added in a second pass over the block, which the cache holds: a product and a
// sum in one loop could be rounded once, and dropout_add has the bits of dropout and add.
template <typename T>
int dropped(const wry_call *call, const T *y) {
  using A = arithmetic_t<T>;
  const T *x = data<T>(input(call, 0));
  T *out = data<T>(output(call, 0));
  uint8_t *mask = data<uint8_t>(output(call, 1));
  const double p = attr_float(call, 0);
  const A scale = A(attr_bool(call, 1) && p < 1 ? 1 / (1 - p) : 1);
  // unit_float(word) < float(1 - p), in integers: both are multiples of 2^-24.
  const double bound = ::ceil(double(float(1 - p)) * 0x1p24);
  const uint32_t limit = uint32_t(bound);
  const uint64_t seed = call->context->rng_seed, offset = call->context->rng_offset;
  constexpr int64_t block = 1024;
  const int64_t size = input(call, 0)->size;
  parallel_for(call, (size + block - 1) / block, 8, [&](int64_t begin, int64_t end) {
    uint32_t words[block];
    uint8_t bytes[block];
    A keeps[block];
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b * block, n = min_of(block, size - first);
      random_words(seed, offset, first, n, words);
      const T *from = x + first;
      T *to = out + first;
      // Into local arrays first: a store of bytes may alias anything, which would keep the compiler
      // from making vectors.
      for (int64_t i = 0; i < n; ++i) bytes[i] = (words[i] >> 8) < limit;
      for (int64_t i = 0; i < n; ++i) keeps[i] = (words[i] >> 8) < limit ? A(1) : A(0);
      memcpy(mask + first, bytes, size_t(n));
      over<T>(n, [&](int64_t i, auto part) {
        const vec<T> v = get(from + i, part) * scale;
        put(to + i, select<vec<T>>(get((const A *)keeps + i, part) != vec<T>{}, v, vec<T>{}), part);
      });
      if (y) over<T>(n, [&](int64_t i, auto part) { put(to + i, get((const T *)to + i, part) + get(y + first + i, part), part); });
    }
  });
  return WRY_OK;
}

template <typename T>
int dropout(const wry_call *call) {
  return dropped<T>(call, nullptr);
}

template <typename T>
int dropout_add(const wry_call *call) {
  return dropped<T>(call, data<T>(input(call, 1)));
}

#define BATCH_NORM_RELU_ROWS                                                                   \
  {"batch_norm_relu", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, batch_norm_of<float, true>, nullptr}, \
      {"batch_norm_relu_vjp", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS, batch_norm_vjp_of<float, true>, nullptr},
#include <wherry/kernels/rows/normalization.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(normalization, WRY_NAMESPACE::table)
