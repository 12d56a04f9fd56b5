// softmax, log_softmax and cross entropy, with their gradients; what is read is read once (rows.h).
#include "rows.h"

#include <wherry/kernels/labels.h>

namespace wherry {
namespace cuda {
namespace {

// Reads a row, and finds its largest and the logarithm of the sum of exponentials of what is below it, for every thread.
//
// What is beyond the kept values is read once for both: its sum is that below its own largest so far.
template <typename S, typename T, typename L, typename A>
WRY_GPU void log_sum_of(L &line, const T *x, int64_t n, Even steps, A *top, A *log_sum) {
  const auto below = [](A value, A most) { return most == -A(INFINITY) ? A(0) : exp(value - most); };  // of nothing but -inf: none
  A most = -A(INFINITY), rest_most = -A(INFINITY), rest = 0;
  line.read(x, n, steps);
  line.over_kept(n, [&](int64_t, const A *v) {
#pragma unroll
    for (int k = 0; k < S::V; ++k) most = Largest<A>::combine(most, v[k]);
  });
  line.beyond(x, n, steps, [&](int64_t, const A *v) {
    A higher = rest_most;
#pragma unroll
    for (int k = 0; k < S::V; ++k) higher = Largest<A>::combine(higher, v[k]);
    rest *= below(rest_most, higher);
#pragma unroll
    for (int k = 0; k < S::V; ++k) rest += below(v[k], higher);
    rest_most = higher;
  });
  most = S::template total<Largest<A>>(Largest<A>::combine(most, rest_most));
  A sum = rest_most == -A(INFINITY) ? A(0) : rest * exp(rest_most - most);
  line.over_kept(n, [&](int64_t, const A *v) {
#pragma unroll
    for (int k = 0; k < S::V; ++k) sum += exp(v[k] - most);
  });
  *top = most, *log_sum = log(S::template total<Total<A>>(sum));
}

template <typename T, typename S, bool Log>
__global__ void __launch_bounds__(block_size, 2) softmax_kernel(Rows r, const T *x, T *out) {
  using A = arithmetic_t<T>;
  const Even steps = S::steps(r);
  for
    WRY_ROWS(S, at, r) {
      const Place p = S::place(r, at);
      Line<T, S, kept_values<T, S::V>()> line;
      A top, log_sum;
      log_sum_of<S>(line, x + p.first, p.n, steps, &top, &log_sum);
      line.again(x + p.first, p.n, steps, [&](int64_t i, const A *v) {
        A result[S::V];
#pragma unroll
        for (int k = 0; k < S::V; ++k) result[k] = Log ? v[k] - top - log_sum : exp(v[k] - top - log_sum);
        write_pack<S::V>(out + p.first + steps(i), result);
      });
    }
}
template <typename T, bool Log>
int softmax_of(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  if (x->size == 0) return WRY_OK;
  const Rows r = rows_of(x, attr_int(call, 0));
  return by_rows<pack_size<T>()>(r, are_aligned(call), [&](auto spread, dim3 grid, dim3 block) {
    return check(call, wry_launch(softmax_kernel<T, decltype(spread), Log>, grid, block, 0, stream(call), r, data<T>(x), data<T>(output(call, 0))));
  });
}
template <typename T>
int softmax(const wry_call *call) { return softmax_of<T, false>(call); }
template <typename T>
int log_softmax(const wry_call *call) { return softmax_of<T, true>(call); }

// Of softmax y: y (ct - sum(ct y)); of log_softmax y: ct - exp(y) sum(ct).
template <typename T, typename S, bool Log>
__global__ void __launch_bounds__(block_size, 2) softmax_vjp_kernel(Rows r, const T *ct, const T *y, T *out) {
  using A = arithmetic_t<T>;
  const Even steps = S::steps(r);
  for
    WRY_ROWS(S, at, r) {
      const Place p = S::place(r, at);
      LinePair<T, S, kept_values<T, S::V>(2)> lines;
      A sum = 0;
      lines.read(ct + p.first, y + p.first, p.n, steps);
      lines.again(ct + p.first, y + p.first, p.n, steps, [&](int64_t, const A *c, const A *value) {
#pragma unroll
        for (int k = 0; k < S::V; ++k) sum += Log ? c[k] : c[k] * value[k];
      });
      sum = S::template total<Total<A>>(sum);
      lines.again(ct + p.first, y + p.first, p.n, steps, [&](int64_t i, const A *c, const A *value) {
        A result[S::V];
#pragma unroll
        for (int k = 0; k < S::V; ++k) result[k] = Log ? c[k] - exp(value[k]) * sum : value[k] * (c[k] - sum);
        write_pack<S::V>(out + p.first + steps(i), result);
      });
    }
}
template <typename T, bool Log>
int softmax_vjp_of(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *y = input(call, 1);
  if (ct->size == 0) return WRY_OK;
  const Rows r = rows_of(y, attr_int(call, 0));
  return by_rows<pack_size<T>()>(r, are_aligned(call), [&](auto spread, dim3 grid, dim3 block) {
    return check(call, wry_launch(softmax_vjp_kernel<T, decltype(spread), Log>, grid, block, 0, stream(call), r, data<T>(ct), data<T>(y),
                                  data<T>(output(call, 0))));
  });
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
// The label of a row, or -1 for one that counts nothing; a wrong one is reported by the thread that `speaks`, and counts nothing.
WRY_GPU int64_t label_of(const Problem &p, int64_t row, bool speaks) {
  const int64_t c = p.label[row];
  if (c == p.ignored) return -1;
  if (c >= 0 && c < p.r.n) return c;
  if (speaks) raise(p.report, LABEL_OUT_OF_RANGE, p.op, c, p.r.n, row, p.ignored);
  return -1;
}

// loss  of each row; out  softmax. Where a soft label has no mass nothing is added, not even 0 * -inf.
template <typename T, typename S>
__global__ void __launch_bounds__(block_size, 2) cross_entropy_kernel(Problem p, const T *x, const T *weight, T *loss, T *out) {
  using A = arithmetic_t<T>;
  const Even steps = S::steps(p.r);
  for
    WRY_ROWS(S, at, p.r) {
      const Place here = S::place(p.r, at);
      const bool speaks = S::rank() == 0 && here.n;
      const T *from = x + here.first, *target = static_cast<const T *>(p.label.data) + here.first;
      Line<T, S, kept_values<T, S::V>()> line;
      A top, log_sum, sum = 0, mean_weight = 0;
      log_sum_of<S>(line, from, here.n, steps, &top, &log_sum);
      line.again(from, here.n, steps, [&](int64_t i, const A *v) {
        A result[S::V];
#pragma unroll
        for (int k = 0; k < S::V; ++k) result[k] = exp(v[k] - top - log_sum);
        write_pack<S::V>(out + here.first + steps(i), result);
        if (!p.soft) return;
        A q[S::V];
        read_pack<S::V>(target + steps(i), q);
#pragma unroll
        for (int k = 0; k < S::V; ++k) {
          if (q[k] != A(0)) sum += q[k] * (log_sum - (v[k] - top));
          if (weight) mean_weight += q[k] * load(weight + i + k);
        }
      });
      if (!p.soft) {
        if (!speaks) continue;
        const int64_t c = label_of(p, here.row, true);
        const A nll = c < 0 ? A(0) : log_sum - (load(from + steps(c)) - top);
        loss[here.row] = narrow<T>(weight && c >= 0 ? nll * load(weight + c) : nll);
        continue;
      }
      sum = S::template total<Total<A>>(sum);
      if (weight) sum *= S::template total<Total<A>>(mean_weight);
      if (speaks) loss[here.row] = narrow<T>(sum);
    }
}
template <typename T>
int cross_entropy(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 2);
  if (output(call, 0)->size == 0) return WRY_OK;
  const Problem p = problem_of(call, "cross_entropy", x, input(call, 1));
  return by_rows<pack_size<T>()>(p.r, are_aligned(call), [&](auto spread, dim3 grid, dim3 block) {
    return check(call, wry_launch(cross_entropy_kernel<T, decltype(spread)>, grid, block, 0, stream(call), p, data<T>(x), weight ? data<T>(weight) : nullptr,
                                  data<T>(output(call, 0)), data<T>(output(call, 1))));
  });
}

// (softmax * sum(target) - target) * ct * weight of the label.
template <typename T, typename S>
__global__ void __launch_bounds__(block_size, 2) cross_entropy_vjp_kernel(Problem p, const T *ct, const T *softmax, const T *weight, T *out) {
  using A = arithmetic_t<T>;
  const Even steps = S::steps(p.r);
  for
    WRY_ROWS(S, at, p.r) {
      const Place here = S::place(p.r, at);
      const T *target = static_cast<const T *>(p.label.data) + here.first;
      Line<T, S, kept_values<T, S::V>(2)> line;  // of soft labels
      A total = 1, w = 1;
      int64_t c = -1;
      if (p.soft) {
        A sum = 0, mean_weight = 0;
        line.read(target, here.n, steps);
        line.again(target, here.n, steps, [&](int64_t i, const A *q) {
#pragma unroll
          for (int k = 0; k < S::V; ++k) {
            sum += q[k];
            if (weight) mean_weight += q[k] * load(weight + i + k);
          }
        });
        total = S::template total<Total<A>>(sum);
        if (weight) w = S::template total<Total<A>>(mean_weight);
      } else if (here.n) {
        c = label_of(p, here.row, S::rank() == 0);
        w = c < 0 ? A(0) : weight ? load(weight + c)
                                  : A(1);
      }
      const A factor = w == A(0) || !here.n ? A(0) : load(ct + here.row) * w;
      const auto write = [&](int64_t i, const A *q) {
        A value[S::V];
        read_pack<S::V>(softmax + here.first + steps(i), value);
#pragma unroll
        for (int k = 0; k < S::V; ++k) value[k] = (value[k] * total - (q ? q[k] : A(i + k == c))) * factor;
        write_pack<S::V>(out + here.first + steps(i), value);
      };
      if (p.soft) {
        line.again(target, here.n, steps, write);
        continue;
      }
      for (int64_t i = int64_t(S::rank()) * S::V; i < here.n; i += int64_t(S::size()) * S::V) write(i, nullptr);
    }
}
template <typename T>
int cross_entropy_vjp(const wry_call *call) {
  const wry_tensor *softmax = input(call, 1), *weight = input(call, 3);
  if (softmax->size == 0) return WRY_OK;
  const Problem p = problem_of(call, "cross_entropy_vjp", softmax, input(call, 2));
  return by_rows<pack_size<T>()>(p.r, are_aligned(call), [&](auto spread, dim3 grid, dim3 block) {
    return check(call, wry_launch(cross_entropy_vjp_kernel<T, decltype(spread)>, grid, block, 0, stream(call), p, data<T>(input(call, 0)), data<T>(softmax),
                                  weight ? data<T>(weight) : nullptr, data<T>(output(call, 0))));
  });
}

#include <wherry/kernels/rows/softmax.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(softmax, wherry::cuda::table)
