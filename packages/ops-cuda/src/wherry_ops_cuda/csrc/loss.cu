// Losses of class labels, their mean, the cross entropy of yes and no, and losses of differences.
//
// All inputs are contiguous. Arithmetic on 16-bit floats is in float, sums are in double. A wrong label or probability is reported
// by the next call that waits, and counts nothing.
#include "pointwise.h"
#include "reduce.h"

#include <wherry/kernels/labels.h>

namespace wherry {
namespace cuda {
namespace {

// ---- class labels ---------------------------------------------------------------------------------

struct Problem {
  Labels label;
  int64_t n, classes, inner, ignored;
  Report *report;
  int32_t op;
};
Problem problem_of(const wry_call *call, const char *op, const wry_tensor *values, const wry_tensor *label, int64_t axis) {
  Problem p = {{label->data, label->dtype}, label->size, values->rank ? values->shape[axis] : 1, 1, attr_int(call, 0), nullptr, 0};
  for (int i = int(axis) + 1; i < values->rank; ++i) p.inner *= values->shape[i];
  p.report = arm(call, op, &p.op);
  return p;
}
// The label at place i, or -1 for one that counts nothing.
WRY_GPU int64_t label_of(const Problem &p, int64_t i) {
  const int64_t c = p.label[i];
  if (c == p.ignored) return -1;
  if (c >= 0 && c < p.classes) return c;
  raise(p.report, LABEL_OUT_OF_RANGE, p.op, c, p.classes, i, p.ignored);
  return -1;
}

template <typename T>
__global__ void __launch_bounds__(block_size) nll_kernel(Problem p, const T *x, const T *weight, T *out) {
  using A = arithmetic_t<T>;
  for WRY_EACH (i, p.n) {
    const int64_t c = label_of(p, i);
    A value = 0;
    if (c >= 0) {
      value = -load(x + (i / p.inner * p.classes + c) * p.inner + i % p.inner);
      if (weight) value *= load(weight + c);
    }
    out[i] = narrow<T>(value);
  }
}
template <typename T>
int nll_loss(const wry_call *call) {
  const wry_tensor *weight = input(call, 2), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Problem p = problem_of(call, "nll_loss", input(call, 0), input(call, 1), attr_int(call, 1));
  const int threads = threads_for(p.n);
  return check(call, wry_launch(nll_kernel<T>, blocks_for(p.n, threads), dim3(threads), 0, stream(call), p, data<T>(input(call, 0)),
                                weight ? data<T>(weight) : nullptr, data<T>(out)));
}

// One thread for each place of the output: zero but for the labels' places.
template <typename T>
__global__ void __launch_bounds__(block_size) nll_vjp_kernel(Problem p, const T *ct, const T *weight, T *out) {
  using A = arithmetic_t<T>;
  for WRY_EACH (at, p.n * p.classes) {
    const int64_t i = at / p.inner / p.classes * p.inner + at % p.inner, own = at / p.inner % p.classes, c = label_of(p, i);
    A value = 0;
    if (c == own) {
      value = -load(ct + i);
      if (weight) value *= load(weight + c);
    }
    out[at] = narrow<T>(value);
  }
}
template <typename T>
int nll_loss_vjp(const wry_call *call) {
  const wry_tensor *weight = input(call, 2), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Problem p = problem_of(call, "nll_loss_vjp", out, input(call, 1), attr_int(call, 1));
  const int threads = threads_for(out->size);
  return check(call, wry_launch(nll_vjp_kernel<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), p, data<T>(input(call, 0)),
                                weight ? data<T>(weight) : nullptr, data<T>(out)));
}

// Sums in two stages: a block each for the pieces of the labels, then one thread for their totals.
struct MeanSums {
  using W = MeanSums;
  double loss, weight;
  static WRY_GPU W combine(W a, W b) { return {a.loss + b.loss, a.weight + b.weight}; }
};
template <typename T>
__global__ void __launch_bounds__(block_size) mean_parts(Problem p, int64_t chunk, const T *loss, const T *weight, MeanSums *parts) {
  MeanSums own = {0, 0};
  const int64_t first = blockIdx.x * chunk, end = first + chunk < p.n ? first + chunk : p.n;
  for (int64_t i = first + threadIdx.x; i < end; i += blockDim.x) {
    int64_t c = p.label[i];
    if (c == p.ignored || (weight && (c = label_of(p, i)) < 0)) continue;
    own.loss += double(load(loss + i));
    own.weight += weight ? double(load(weight + c)) : 1.0;
  }
  own = block_total<MeanSums>(own);
  if (threadIdx.x == 0) parts[blockIdx.x] = own;
}
template <typename T>
__global__ void mean_of_parts(int64_t count, const MeanSums *parts, T *mean, arithmetic_t<T> *total) {
  if (threadIdx.x) return;
  MeanSums all = {0, 0};
  for (int64_t i = 0; i < count; ++i) all = MeanSums::combine(all, parts[i]);
  *mean = narrow<T>(all.weight == 0 ? all.loss : all.loss / all.weight);
  *total = arithmetic_t<T>(all.weight);
}
template <typename T>
int label_mean(const wry_call *call) {
  const wry_tensor *loss = input(call, 0), *weight = input(call, 2);
  Problem p = problem_of(call, "label_mean", loss, input(call, 1), 0);
  if (weight) p.classes = weight->size;
  int64_t count = (p.n + 4095) / 4096;
  count = count < 1 ? 1 : count > 1024 ? 1024 : count;
  const int64_t chunk = (p.n + count - 1) / count;
  MeanSums *parts = workspace<MeanSums>(call, count);
  if (!parts) return fail_memory(call, "label_mean", count * int64_t(sizeof(MeanSums)));
  WRY_TRY(wry_launch(mean_parts<T>, dim3(unsigned(count)), dim3(threads_for((chunk + 3) / 4)), 0, stream(call), p, chunk, data<T>(loss),
                     weight ? data<T>(weight) : nullptr, parts));
  return check(call, wry_launch(mean_of_parts<T>, dim3(1), dim3(32), 0, stream(call), count, parts, data<T>(output(call, 0)),
                                data<arithmetic_t<T>>(output(call, 1))));
}

template <typename T>
__global__ void __launch_bounds__(block_size) mean_vjp_kernel(int64_t n, Labels label, int64_t ignored, const T *ct, const arithmetic_t<T> *total, T *out) {
  using A = arithmetic_t<T>;
  const A each = *total == A(0) ? load(ct) : load(ct) / *total;
  for WRY_EACH (i, n) out[i] = narrow<T>(label[i] == ignored ? A(0) : each);
}
template <typename T>
int label_mean_vjp(const wry_call *call) {
  const wry_tensor *label = input(call, 2), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  return check(call, wry_launch(mean_vjp_kernel<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, Labels{label->data, label->dtype},
                                attr_int(call, 0), data<T>(input(call, 0)), data<arithmetic_t<T>>(input(call, 1)), data<T>(out)));
}

// ---- yes and no -----------------------------------------------------------------------------------

template <typename A>
__global__ void __launch_bounds__(block_size) cross_entropy_of_probabilities(int64_t n, Report *report, int32_t op, const A *p_, const A *y_, A *out) {
  using C = arithmetic_t<A>;
  for WRY_EACH (i, n) {
    const C p = load(p_ + i), y = load(y_ + i), lowest = C(-100);
    if (p < C(0) || p > C(1)) {
      if (atomicCAS(reinterpret_cast<int *>(&report->fault), int(NO_FAULT), int(NOT_A_PROBABILITY)) == int(NO_FAULT))
        report->op = op, report->at = i, report->number = double(p);
    }
    C yes = log(p), no = log1p(-p);
    yes = yes < lowest ? lowest : yes, no = no < lowest ? lowest : no;
    out[i] = narrow<A>((y - C(1)) * no - y * yes);
  }
}
template <typename T>
int binary_cross_entropy(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  int32_t op;
  Report *report = arm(call, "binary_cross_entropy", &op);
  const int threads = threads_for(out->size);
  return check(call, wry_launch(cross_entropy_of_probabilities<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, report, op,
                                data<T>(input(call, 0)), data<T>(input(call, 1)), data<T>(out)));
}

struct ProbabilityVjp {
  template <typename A>
  WRY_GPU A operator()(A ct, A p, A y) const {
    const A spread = p * (A(1) - p);
    return ct * ((p - y) / (spread < A(1e-12) ? A(1e-12) : spread));
  }
};
// max(z, 0) - z * y + log(1 + exp(-|z|)): no term is large where the result is small.
struct Logits {
  template <typename A>
  WRY_GPU A operator()(A z, A y) const { return (z < A(0) ? A(0) : z) - z * y + log1p(exp(-fabs(z))); }
};
struct LogitsVjp {
  template <typename A>
  WRY_GPU A operator()(A ct, A z, A y) const {
    const A e = exp(-fabs(z)), near = A(1) / (e + A(1));  // sigmoid(|z|)
    return ct * ((z < A(0) ? e * near : near) - y);
  }
};

// ---- differences ----------------------------------------------------------------------------------

// With near = min(d, delta) both the parabola and the line are near * (d - near / 2).
template <typename A>
struct SmoothL1 {
  A delta;
  WRY_GPU A operator()(A x, A y) const {
    const A d = fabs(x - y), near = d > delta ? delta : d;
    return near * (d - near * A(0.5));
  }
};
template <typename A>
struct SmoothL1Vjp {
  A delta;
  WRY_GPU A operator()(A ct, A x, A y) const {
    const A d = x - y;
    return ct * (d > delta ? delta : d < -delta ? -delta : d);
  }
};
// A choice where the label is not positive: 0 * -inf would be NaN.
struct Divergence {
  template <typename A>
  WRY_GPU A operator()(A x, A y) const { return y > A(0) ? y * (log(y) - x) : A(0); }
};

template <typename T>
int binary_cross_entropy_vjp(const wry_call *call) { return pointwise3<T, T, T, T>(call, ProbabilityVjp()); }
template <typename T>
int binary_cross_entropy_logits(const wry_call *call) { return pointwise2<T, T, T>(call, Logits()); }
template <typename T>
int binary_cross_entropy_logits_vjp(const wry_call *call) { return pointwise3<T, T, T, T>(call, LogitsVjp()); }
template <typename T>
int smooth_l1_loss(const wry_call *call) { return pointwise2<T, T, T>(call, SmoothL1<arithmetic_t<T>>{arithmetic_t<T>(attr_float(call, 0))}); }
template <typename T>
int smooth_l1_loss_vjp(const wry_call *call) { return pointwise3<T, T, T, T>(call, SmoothL1Vjp<arithmetic_t<T>>{arithmetic_t<T>(attr_float(call, 0))}); }
template <typename T>
int kl_div(const wry_call *call) { return pointwise2<T, T, T>(call, Divergence()); }

#include <wherry/kernels/rows/loss.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(loss, wherry::cuda::table)
