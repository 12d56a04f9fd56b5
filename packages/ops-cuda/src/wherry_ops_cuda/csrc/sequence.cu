// Connectionist temporal classification: Graves et al., "Connectionist temporal classification" (ICML 2006), sections 3 and 4.
//
// A label of L symbols becomes S = 2 L + 1 states, blanks around and between its symbols. alpha[t, s] is the logarithm of the
// probability of all paths that are at state s at step t, beta that of all ways on from there; each step is taken relative to its
// largest value. One block for each example, whose threads share the states of a step; a step waits for the one before. Probabilities
// of states with the same symbol are added by one thread, in the order of the states.
//
// log_probs [T, B, C]; labels [B, L]; both lengths [B]; alpha [B, T, 2 L + 1], -inf past the end of an example.
#include "totals.h"

#include <wherry/kernels/labels.h>

namespace wherry {
namespace cuda {
namespace {

// No real logarithm of a probability is as small: exp(x - least) of such x is 0 or finite, also for -inf.
constexpr double least = -1e30;

struct Task {
  int64_t steps, batch, classes, symbols, states, blank;
  Labels labels, times, lengths;
  Report *report;
  int32_t op;
  bool by_times;
};
Task task_of(const wry_call *call, int first) {
  const wry_tensor *x = input(call, first), *labels = input(call, first + 1), *times = input(call, first + 2), *lengths = input(call, first + 3);
  Task z = {x->shape[0], x->shape[1], x->shape[2], labels->shape[1], 2 * labels->shape[1] + 1, attr_int(call, 0), {labels->data, labels->dtype}, {times->data, times->dtype}, {lengths->data, lengths->dtype}, nullptr, 0, attr_bool(call, 1)};
  z.report = arm(call, "ctc_loss", &z.op);
  return z;
}

struct Example {
  int64_t b, steps, states;
};
// Example b, in every thread; without steps and symbols when its lengths or labels are wrong, which is reported.
WRY_GPU Example example_of(const Task &z, int64_t b) {
  const int64_t steps = z.times[b], length = z.lengths[b];
  bool wrong = steps < 0 || steps > z.steps || length < 0 || length > z.symbols;
  if (wrong) {
    if (threadIdx.x == 0) {
      if (steps < 0 || steps > z.steps) raise(z.report, STEPS_OUT_OF_RANGE, z.op, steps, z.steps, b);
      else raise(z.report, SYMBOLS_OUT_OF_RANGE, z.op, length, z.symbols, b);
    }
  } else {
    for (int64_t i = threadIdx.x; i < length; i += blockDim.x) {
      const int64_t c = z.labels[b * z.symbols + i];
      if (c >= 0 && c < z.classes && c != z.blank) continue;
      wrong = true;
      if (atomicCAS(reinterpret_cast<int *>(&z.report->fault), int(NO_FAULT), int(NOT_A_SYMBOL)) != int(NO_FAULT)) continue;
      z.report->op = z.op, z.report->value = c, z.report->size = z.classes, z.report->at = b, z.report->axis = int32_t(i), z.report->least = z.blank;
    }
  }
  wrong = __syncthreads_or(wrong) != 0;
  return wrong ? Example{b, 0, 1} : Example{b, steps, 2 * length + 1};
}
WRY_GPU int64_t symbol_of(const Task &z, int64_t b, int64_t s) { return s % 2 ? z.labels[b * z.symbols + s / 2] : z.blank; }
// Is there a way from state s - 2 to s, past the blank between?
WRY_GPU bool skips_to(const Task &z, int64_t b, int64_t s) { return s % 2 && s > 1 && symbol_of(z, b, s) != symbol_of(z, b, s - 2); }

template <typename A>
WRY_GPU A larger(A a, A b) { return a < b ? b : a; }
template <typename A>
WRY_GPU A log_sum(A a, A b, A c) {
  const A top = larger(larger(larger(a, b), c), A(least));
  return top + log(exp(a - top) + exp(b - top) + exp(c - top));
}

// What a row is lowered by, so that its largest value becomes 0; a row without a path stays as it is.
template <typename A>
WRY_GPU A top_of(A mine) {
  const A top = block_largest(mine);
  return top == -A(INFINITY) ? A(0) : top;
}

// The logarithm of the label's probability, less what the rows were lowered by: all paths end in the last two states.
template <typename A>
WRY_GPU A end_of(const A *alpha, int64_t states) {
  return states > 1 ? log_sum(alpha[states - 1], alpha[states - 2], -A(INFINITY)) : alpha[0];
}

template <typename T, typename A>
__global__ void __launch_bounds__(block_size, 1) forward(Task z, const T *log_probs, T *loss, A *alpha) {
  for (int64_t b = blockIdx.x; b < z.batch; b += gridDim.x) {
    const Example e = example_of(z, b);
    A *const rows = alpha + b * z.steps * z.states;
    double lowered = 0;
    for (int64_t t = 0; t < z.steps; ++t) {
      A *const now = rows + t * z.states;
      const A *const before = now - z.states;
      A most = -A(INFINITY);
      for (int64_t s = threadIdx.x; s < z.states; s += blockDim.x) {
        A value = -A(INFINITY);
        if (t < e.steps && s < e.states) {
          const A emit = A(load(log_probs + (t * z.batch + b) * z.classes + symbol_of(z, b, s)));
          // At first nothing has happened, which is like being before state 0.
          if (t == 0) value = s < 2 ? emit : value;
          else value = log_sum(before[s], s ? before[s - 1] : -A(INFINITY), skips_to(z, b, s) ? before[s - 2] : -A(INFINITY)) + emit;
          most = larger(most, value);
        }
        now[s] = value;
      }
      if (t < e.steps) {
        const A top = top_of(most);
        for (int64_t s = threadIdx.x; s < e.states; s += blockDim.x) now[s] -= top;
        lowered += double(top);
        __syncthreads();
      }
    }
    if (threadIdx.x == 0) {
      // Without a step only the empty label is certain.
      const A end = e.steps ? end_of(rows + (e.steps - 1) * z.states, e.states) : e.states == 1 ? A(0)
                                                                                                : -A(INFINITY);
      loss[b] = narrow<T>(end <= A(least) ? A(0) : A(-(lowered + double(end))));
    }
    __syncthreads();
  }
}
template <typename T>
int ctc_loss(const wry_call *call) {
  using A = arithmetic_t<T>;
  const Task z = task_of(call, 0);
  if (z.batch == 0) return WRY_OK;
  return check(call, wry_launch(forward<T, A>, dim3(some_blocks(z.batch)), dim3(threads_for(z.states)), 0, stream(call), z,
                                data<T>(input(call, 0)), data<T>(output(call, 0)), data<A>(output(call, 1))));
}

// Scratch memory of one example.
template <typename A>
struct Rows {
  A *beta, *on, *share;
  int64_t *same;                    // the next place of a label with the same symbol, or -1; -3 - next at the first of them
  double *before, *here, *onwards;  // of the curvature: means along paths, [T, S], [2, S], [S]
};

// Threads find for each place of the label the next one with its symbol.
WRY_GPU void link_symbols(const Task &z, const Example &e, int64_t *same) {
  const int64_t length = e.states / 2;
  for (int64_t i = threadIdx.x; i < length; i += blockDim.x) {
    const int64_t c = z.labels[e.b * z.symbols + i];
    int64_t next = i + 1, first = 0;
    while (next < length && z.labels[e.b * z.symbols + next] != c) ++next;
    while (first < i && z.labels[e.b * z.symbols + first] != c) ++first;
    const int64_t link = next < length ? next : -1;
    same[i] = first == i ? -3 - link : link;
  }
  __syncthreads();
}
// use(class, sum of value(s) over its states) for each class of the label; `blanks` is the sum of this thread's blanks.
template <typename A, typename Value, typename Use>
WRY_GPU void each_class(const Task &z, const Example &e, const int64_t *same, A blanks, const Value &value, const Use &use) {
  blanks = block_sum(blanks);
  if (threadIdx.x == 0) use(z.blank, blanks);
  for (int64_t i = threadIdx.x; i < e.states / 2; i += blockDim.x) {
    if (same[i] >= -1) continue;
    A sum = value(2 * i + 1);
    for (int64_t next = -3 - same[i]; next >= 0; next = same[next]) sum += value(2 * next + 1);
    use(z.labels[e.b * z.symbols + i], sum);
  }
}

// log_probs_ct[t, b, c] = -ct[b] * the probability of being at symbol c at step t, given the label.
template <typename T, typename A>
__global__ void __launch_bounds__(block_size, 1) backward(Task z, const T *ct, const T *log_probs, const A *alpha, Rows<A> scratch, T *out) {
  for (int64_t b = blockIdx.x; b < z.batch; b += gridDim.x) {
    const Example e = example_of(z, b);
    const int64_t S = e.states;
    const A *const a = alpha + b * z.steps * z.states;
    const A end = e.steps ? end_of(a + (e.steps - 1) * z.states, S) : -A(INFINITY);
    const int64_t used = end <= A(least) ? 0 : e.steps;  // a label that no path gives has no gradient
    const A factor = used ? A(load(ct + b)) / (z.by_times ? A(used) : A(1)) : A(0);
    A *const beta = scratch.beta + b * z.states, *const on = scratch.on + b * z.states, *const share = scratch.share + b * z.states;
    int64_t *const same = scratch.same + b * z.symbols;
    link_symbols(z, e, same);
    for (int64_t t = used - 1; t >= 0; --t) {
      A most = -A(INFINITY);
      for (int64_t s = threadIdx.x; s < S; s += blockDim.x) {
        A value = s + 2 >= S ? A(0) : -A(INFINITY);
        if (t < used - 1) value = log_sum(on[s], s + 1 < S ? on[s + 1] : -A(INFINITY), s + 2 < S && skips_to(z, b, s + 2) ? on[s + 2] : -A(INFINITY));
        beta[s] = value;
        most = larger(most, value);
      }
      const A top = top_of(most);  // waits: everybody has read `on`
      A highest = -A(INFINITY);
      for (int64_t s = threadIdx.x; s < S; s += blockDim.x) {
        const A value = beta[s] - top;
        on[s] = value + A(load(log_probs + (t * z.batch + b) * z.classes + symbol_of(z, b, s)));
        share[s] = a[t * z.states + s] + value;
        highest = larger(highest, share[s]);
      }
      highest = top_of(highest);
      A total = 0, blanks = 0;
      for (int64_t s = threadIdx.x; s < S; s += blockDim.x) {
        const A p = exp(share[s] - highest);
        share[s] = p;
        total += p;
        if (s % 2 == 0) blanks += p;
      }
      total = block_sum(total);
      const A each = total == 0 ? A(0) : factor / total;
      T *const to = out + (t * z.batch + b) * z.classes;
      each_class(z, e, same, blanks, [&](int64_t s) { return share[s]; }, [&](int64_t c, A sum) { to[c] = narrow<T>(-sum * each); });
    }
    __syncthreads();
  }
}
template <typename T>
int ctc_loss_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const Task z = task_of(call, 1);
  const wry_tensor *out = output(call, 0);
  if (z.batch == 0) return WRY_OK;
  A *rows = workspace<A>(call, 3 * z.batch * z.states);
  int64_t *same = workspace<int64_t>(call, z.batch * z.symbols + 1);
  if (!rows || !same) return fail_memory(call, "ctc_loss_vjp", z.batch * (3 * z.states * int64_t(sizeof(A)) + z.symbols * 8));
  if (out->size) WRY_TRY(cudaMemsetAsync(out->data, 0, size_t(out->size) * sizeof(T), stream(call)));
  const Rows<A> scratch = {rows, rows + z.batch * z.states, rows + 2 * z.batch * z.states, same, nullptr, nullptr, nullptr};
  return check(call, wry_launch(backward<T, A>, dim3(some_blocks(z.batch)), dim3(threads_for(z.states)), 0, stream(call), z,
                                data<T>(input(call, 0)), data<T>(input(call, 1)), data<A>(input(call, 5)), scratch, data<T>(out)));
}

// The mean of `values` over `count` neighbours of s in the direction `step`, of which `log` has the weights.
template <typename A>
WRY_GPU double mean_of(const A *log, const double *values, int64_t s, int64_t step, int64_t count) {
  A top = -A(INFINITY);
  for (int64_t i = 0; i < count; ++i) top = larger(top, log[s + i * step]);
  if (!(top > A(least))) return 0.0;
  double weight = 0, sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double share = double(exp(A(log[s + i * step] - top)));
    weight += share, sum += share * values[s + i * step];
  }
  return sum / weight;
}
// out[t, b, c] = -ct[b] * the covariance of being at symbol c at step t and the sum of `vector` along the path, given the label: what the
// gradient's derivative is. The mean of that sum over all paths through a state has a part up to it and one from there on, which go
// from step to step as alpha and beta do. Means are in double: their difference from the mean of all paths may be far
// smaller than they are.
template <typename T, typename A>
__global__ void __launch_bounds__(block_size, 1) curvature(Task z, const T *vector, const T *ct, const T *log_probs, const A *alpha, Rows<A> scratch, T *out) {
  for (int64_t b = blockIdx.x; b < z.batch; b += gridDim.x) {
    const Example e = example_of(z, b);
    const int64_t S = e.states;
    const A *const a = alpha + b * z.steps * z.states;
    const A end = e.steps ? end_of(a + (e.steps - 1) * z.states, S) : -A(INFINITY);
    const int64_t used = end <= A(least) ? 0 : e.steps, last = used - 1;
    A *const beta = scratch.beta + b * z.states, *const on = scratch.on + b * z.states;
    double *const before = scratch.before + b * z.steps * z.states, *const shares = scratch.here + 2 * b * z.states, *const here = shares + z.states;
    double *const onwards = scratch.onwards + b * z.states;
    int64_t *const same = scratch.same + b * z.symbols;
    link_symbols(z, e, same);
    for (int64_t t = 0; t < used; ++t) {
      for (int64_t s = threadIdx.x; s < S; s += blockDim.x) {
        const int64_t ways = skips_to(z, b, s) ? 3 : s ? 2
                                                       : 1;
        const double mean = t ? mean_of(a + (t - 1) * z.states, before + (t - 1) * z.states, s, -1, ways) : 0.0;
        before[t * z.states + s] = double(load(vector + (t * z.batch + b) * z.classes + symbol_of(z, b, s))) + mean;
      }
      __syncthreads();
    }
    if (!used) continue;  // all threads alike
    const double whole = mean_of(a + last * z.states, before + last * z.states, S - 1, -1, S < 2 ? S : 2);
    const double factor = double(load(ct + b)) / (z.by_times ? double(used) : 1.0);
    for (int64_t t = last; t >= 0; --t) {
      A most = -A(INFINITY);
      for (int64_t s = threadIdx.x; s < S; s += blockDim.x) {
        A value = s + 2 >= S ? A(0) : -A(INFINITY);
        double after = 0;
        if (t < last) {
          const bool far = s + 2 < S && skips_to(z, b, s + 2);
          after = mean_of(on, onwards, s, 1, far ? 3 : s + 1 < S ? 2
                                                                 : 1);
          value = log_sum(on[s], s + 1 < S ? on[s + 1] : -A(INFINITY), far ? on[s + 2] : -A(INFINITY));
        }
        beta[s] = value, here[s] = after;
        most = larger(most, value);
      }
      const A top = top_of(most);  // waits: everybody has read `on` and `onwards`
      A highest = -A(INFINITY);
      for (int64_t s = threadIdx.x; s < S; s += blockDim.x) {
        const int64_t at = (t * z.batch + b) * z.classes + symbol_of(z, b, s);
        beta[s] -= top;
        on[s] = beta[s] + A(load(log_probs + at));
        onwards[s] = double(load(vector + at)) + here[s];
        highest = larger(highest, A(a[t * z.states + s] + beta[s]));
      }
      highest = block_largest(highest);
      double total = 0, blanks = 0;
      for (int64_t s = threadIdx.x; s < S; s += blockDim.x) {
        const double p = highest > A(least) ? double(exp(A(a[t * z.states + s] + beta[s] - highest))) : 0.0;
        total += p;
        shares[s] = p * (before[t * z.states + s] + here[s] - whole);
        if (s % 2 == 0) blanks += shares[s];
      }
      total = block_sum(total);
      const double each = total == 0 ? 0 : factor / total;
      T *const to = out + (t * z.batch + b) * z.classes;
      each_class(z, e, same, blanks, [&](int64_t s) { return shares[s]; }, [&](int64_t c, double sum) { to[c] = narrow<T>(A(-sum * each)); });
    }
    __syncthreads();
  }
}
template <typename T>
int ctc_loss_curvature(const wry_call *call) {
  using A = arithmetic_t<T>;
  const Task z = task_of(call, 2);
  const wry_tensor *out = output(call, 0);
  if (z.batch == 0) return WRY_OK;
  A *rows = workspace<A>(call, 2 * z.batch * z.states);
  double *means = workspace<double>(call, z.batch * z.states * (z.steps + 3));
  int64_t *same = workspace<int64_t>(call, z.batch * z.symbols + 1);
  if (!rows || !means || !same) return fail_memory(call, "ctc_loss_curvature", z.batch * (z.states * (2 * int64_t(sizeof(A)) + (z.steps + 3) * 8) + z.symbols * 8));
  if (out->size) WRY_TRY(cudaMemsetAsync(out->data, 0, size_t(out->size) * sizeof(T), stream(call)));
  double *const here = means + z.batch * z.states * z.steps;
  const Rows<A> scratch = {rows, rows + z.batch * z.states, nullptr, same, means, here, here + 2 * z.batch * z.states};
  return check(call, wry_launch(curvature<T, A>, dim3(some_blocks(z.batch)), dim3(threads_for(z.states)), 0, stream(call), z,
                                data<T>(input(call, 0)), data<T>(input(call, 1)), data<T>(input(call, 2)), data<A>(input(call, 6)), scratch, data<T>(out)));
}

#include <wherry/kernels/rows/sequence.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(sequence, wherry::cuda::table)
