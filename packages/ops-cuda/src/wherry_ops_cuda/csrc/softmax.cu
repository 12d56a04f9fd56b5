// softmax, log_softmax and cross entropy, with their gradients; one pass over memory for what reads and one for what writes.
//
// A tensor is [outer, n, inner]; a block takes one row of n values, `inner` apart. Its threads keep nothing between the
// passes but the largest value and the sum, so rows may have any length.
#include "labels.h"
#include "reduce.h"

namespace wherry {
namespace cuda {
namespace {

template <typename A>
struct Largest {  // a NaN wins
  using W = A;
  static WRY_GPU W combine(W a, W b) { return a != a ? a : (a < b || b != b ? b : a); }
};
template <typename A>
struct Total {
  using W = A;
  static WRY_GPU W combine(W a, W b) { return a + b; }
};

struct Rows {
  int64_t outer, n, inner;
};
Rows rows_of(const wry_tensor *t, int64_t axis) {
  Rows r = {1, t->rank ? t->shape[axis] : 1, 1};
  for (int i = 0; i < axis; ++i) r.outer *= t->shape[i];
  for (int i = int(axis) + 1; i < t->rank; ++i) r.inner *= t->shape[i];
  return r;
}
dim3 grid_of(const Rows &r) { return dim3(unsigned(r.outer * r.inner < 65536 ? r.outer * r.inner : 65536)); }
dim3 block_of(const Rows &r) { return dim3(threads_for((r.n + 1) / 2)); }
// The first place of row `row`.
WRY_GPU int64_t first_of(const Rows &r, int64_t row) { return row / r.inner * r.n * r.inner + row % r.inner; }
#define WRY_ROWS(row, r) (int64_t row = blockIdx.x; row < (r).outer * (r).inner; row += gridDim.x)

// The largest of a row and the logarithm of the sum of exponentials of what is below it, in every thread.
template <typename T, typename A>
WRY_GPU void log_sum_of(const Rows &r, const T *x, A *top, A *log_sum) {
  A most = -A(INFINITY);
  for (int64_t i = threadIdx.x; i < r.n; i += blockDim.x) most = Largest<A>::combine(most, load(x + i * r.inner));
  most = block_total<Largest<A>>(most);
  A sum = 0;
  for (int64_t i = threadIdx.x; i < r.n; i += blockDim.x) sum += exp(load(x + i * r.inner) - most);
  *top = most, *log_sum = log(block_total<Total<A>>(sum));
}

template <typename T, bool Log>
__global__ void __launch_bounds__(block_size) softmax_kernel(Rows r, const T *x, T *out) {
  using A = arithmetic_t<T>;
  for WRY_ROWS (row, r) {
    const int64_t first = first_of(r, row);
    A top, log_sum;
    log_sum_of(r, x + first, &top, &log_sum);
    for (int64_t i = threadIdx.x; i < r.n; i += blockDim.x) {
      const A below = load(x + first + i * r.inner) - top - log_sum;
      out[first + i * r.inner] = narrow<T>(Log ? below : exp(below));
    }
  }
}
template <typename T, bool Log>
int softmax_of(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  if (x->size == 0) return WRY_OK;
  const Rows r = rows_of(x, attr_int(call, 0));
  return check(call, wry_launch(softmax_kernel<T, Log>, grid_of(r), block_of(r), 0, stream(call), r, data<T>(x), data<T>(output(call, 0))));
}
template <typename T>
int softmax(const wry_call *call) { return softmax_of<T, false>(call); }
template <typename T>
int log_softmax(const wry_call *call) { return softmax_of<T, true>(call); }

// Of softmax y: y (ct - sum(ct y)); of log_softmax y: ct - exp(y) sum(ct).
template <typename T, bool Log>
__global__ void __launch_bounds__(block_size) softmax_vjp_kernel(Rows r, const T *ct, const T *y, T *out) {
  using A = arithmetic_t<T>;
  for WRY_ROWS (row, r) {
    const int64_t first = first_of(r, row);
    A sum = 0;
    for (int64_t i = threadIdx.x; i < r.n; i += blockDim.x) {
      const int64_t at = first + i * r.inner;
      sum += Log ? load(ct + at) : load(ct + at) * load(y + at);
    }
    sum = block_total<Total<A>>(sum);
    for (int64_t i = threadIdx.x; i < r.n; i += blockDim.x) {
      const int64_t at = first + i * r.inner;
      const A c = load(ct + at), value = load(y + at);
      out[at] = narrow<T>(Log ? c - exp(value) * sum : value * (c - sum));
    }
  }
}
template <typename T, bool Log>
int softmax_vjp_of(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *y = input(call, 1);
  if (ct->size == 0) return WRY_OK;
  const Rows r = rows_of(y, attr_int(call, 0));
  return check(call, wry_launch(softmax_vjp_kernel<T, Log>, grid_of(r), block_of(r), 0, stream(call), r, data<T>(ct), data<T>(y), data<T>(output(call, 0))));
}
template <typename T>
int softmax_vjp(const wry_call *call) { return softmax_vjp_of<T, false>(call); }
template <typename T>
int log_softmax_vjp(const wry_call *call) { return softmax_vjp_of<T, true>(call); }

// ---- cross entropy --------------------------------------------------------------------------------

struct Problem {
  Rows r;
  Labels label;
  bool soft;
  int64_t ignored;
  Report *report;
  int32_t op;
};
Problem problem_of(const wry_call *call, const char *op, const wry_tensor *logits, const wry_tensor *label) {
  Problem p = {rows_of(logits, attr_int(call, 2)), {label->data, label->dtype}, attr_bool(call, 0), attr_int(call, 1), nullptr, 0};
  if (!p.soft) p.report = arm(call, op, &p.op);
  return p;
}
// The label of a row, or -1 for one that counts nothing; a wrong one is reported, and counts nothing.
WRY_GPU int64_t label_of(const Problem &p, int64_t row) {
  const int64_t c = p.label[row];
  if (c == p.ignored) return -1;
  if (c >= 0 && c < p.r.n) return c;
  if (threadIdx.x == 0) raise(p.report, LABEL_OUT_OF_RANGE, p.op, c, p.r.n, row, p.ignored);
  return -1;
}

// loss  of each row; out  softmax. Where a soft label has no mass nothing is added, not even 0 * -inf.
template <typename T>
__global__ void __launch_bounds__(block_size) cross_entropy_kernel(Problem p, const T *x, const T *weight, T *loss, T *out) {
  using A = arithmetic_t<T>;
  const Rows &r = p.r;
  for WRY_ROWS (row, r) {
    const int64_t first = first_of(r, row);
    A top, log_sum;
    log_sum_of(r, x + first, &top, &log_sum);
    for (int64_t i = threadIdx.x; i < r.n; i += blockDim.x) out[first + i * r.inner] = narrow<T>(exp(load(x + first + i * r.inner) - top - log_sum));
    if (!p.soft) {
      const int64_t c = label_of(p, row);
      if (threadIdx.x == 0) {
        const A nll = c < 0 ? A(0) : log_sum - (load(x + first + c * r.inner) - top);
        loss[row] = narrow<T>(weight && c >= 0 ? nll * load(weight + c) : nll);
      }
      continue;
    }
    const T *target = static_cast<const T *>(p.label.data) + first;
    A sum = 0, mean_weight = 0;
    for (int64_t i = threadIdx.x; i < r.n; i += blockDim.x) {
      const A q = load(target + i * r.inner);
      if (q != A(0)) sum += q * (log_sum - (load(x + first + i * r.inner) - top));
      if (weight) mean_weight += q * load(weight + i);
    }
    sum = block_total<Total<A>>(sum);
    if (weight) sum *= block_total<Total<A>>(mean_weight);
    if (threadIdx.x == 0) loss[row] = narrow<T>(sum);
  }
}
template <typename T>
int cross_entropy(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 2);
  if (output(call, 0)->size == 0) return WRY_OK;
  const Problem p = problem_of(call, "cross_entropy", x, input(call, 1));
  return check(call, wry_launch(cross_entropy_kernel<T>, grid_of(p.r), block_of(p.r), 0, stream(call), p, data<T>(x),
                                weight ? data<T>(weight) : nullptr, data<T>(output(call, 0)), data<T>(output(call, 1))));
}

// (softmax * sum(target) - target) * ct * weight of the label.
template <typename T>
__global__ void __launch_bounds__(block_size) cross_entropy_vjp_kernel(Problem p, const T *ct, const T *softmax, const T *weight, T *out) {
  using A = arithmetic_t<T>;
  const Rows &r = p.r;
  for WRY_ROWS (row, r) {
    const int64_t first = first_of(r, row);
    const T *target = static_cast<const T *>(p.label.data) + first;
    A total = 1, w = 1;
    int64_t c = -1;
    if (p.soft) {
      A sum = 0, mean_weight = 0;
      for (int64_t i = threadIdx.x; i < r.n; i += blockDim.x) {
        const A q = load(target + i * r.inner);
        sum += q;
        if (weight) mean_weight += q * load(weight + i);
      }
      total = block_total<Total<A>>(sum);
      if (weight) w = block_total<Total<A>>(mean_weight);
    } else {
      c = label_of(p, row);
      w = c < 0 ? A(0) : weight ? load(weight + c) : A(1);
    }
    const A factor = w == A(0) ? A(0) : load(ct + row) * w;
    for (int64_t i = threadIdx.x; i < r.n; i += blockDim.x) {
      const int64_t at = first + i * r.inner;
      const A q = p.soft ? load(target + i * r.inner) : A(i == c);
      out[at] = narrow<T>((load(softmax + at) * total - q) * factor);
    }
  }
}
template <typename T>
int cross_entropy_vjp(const wry_call *call) {
  const wry_tensor *softmax = input(call, 1), *weight = input(call, 3);
  if (softmax->size == 0) return WRY_OK;
  const Problem p = problem_of(call, "cross_entropy_vjp", softmax, input(call, 2));
  return check(call, wry_launch(cross_entropy_vjp_kernel<T>, grid_of(p.r), block_of(p.r), 0, stream(call), p, data<T>(input(call, 0)),
                                data<T>(softmax), weight ? data<T>(weight) : nullptr, data<T>(output(call, 0))));
}

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("softmax", WRY_WANTS_CONTIGUOUS, softmax),
    WRY_FLOAT_ROWS("log_softmax", WRY_WANTS_CONTIGUOUS, log_softmax),
    WRY_FLOAT_ROWS("softmax_vjp", WRY_WANTS_CONTIGUOUS, softmax_vjp),
    WRY_FLOAT_ROWS("log_softmax_vjp", WRY_WANTS_CONTIGUOUS, log_softmax_vjp),
    WRY_FLOAT_ROWS("cross_entropy", WRY_WANTS_CONTIGUOUS, cross_entropy),
    WRY_FLOAT_ROWS("cross_entropy_vjp", WRY_WANTS_CONTIGUOUS, cross_entropy_vjp),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(softmax, wherry::cuda::table)
