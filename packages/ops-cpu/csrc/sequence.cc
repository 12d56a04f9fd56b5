// Connectionist temporal classification: Graves et al., "Connectionist temporal classification"
// (ICML 2006), sections 3 and 4.
//
// A label of L symbols becomes S = 2 L + 1 states, blanks around and between its symbols. alpha[t, s]
// is the logarithm of the probability of all paths that are at state s at step t, beta that of all
// ways on from there. Everything stays in logarithms: probabilities would be several times faster,
// but lose the right path where the network is sure of another one at first. Each step is taken
// relative to its largest value, because a float near -4000 has only three digits after the point;
// of alpha these values are summed up in double. A step is one pass over the states, which are
// neighbours in memory; examples are shared out among threads.
//
// log_probs [T, B, C]; labels [B, L]; both lengths [B]; alpha [B, T, 2 L + 1], -inf past the end of an
// example. All inputs are contiguous.
#include "labels.h"
#include "lanemath.h"
#include "parallel.h"
#include "rows.h"

namespace WRY_NAMESPACE {
namespace {

// No real logarithm of a probability is as small: exp(x - least) of such x is 0 or finite, also for -inf.
constexpr double least = -1e30;

struct Sizes {
  int64_t steps, batch, classes, symbols, states;
};

Sizes sizes_of(const wry_call *call, int first) {
  const wry_tensor *x = input(call, first), *labels = input(call, first + 1);
  return {x->shape[0], x->shape[1], x->shape[2], labels->shape[1], 2 * labels->shape[1] + 1};
}

int check(const wry_call *call, const Sizes &z, int first, int64_t blank) {
  const Labels labels = labels_of(input(call, first + 1)), times = labels_of(input(call, first + 2)),
               lengths = labels_of(input(call, first + 3));
  for (int64_t b = 0; b < z.batch; ++b) {
    if (times[b] < 0 || times[b] > z.steps)
      return fail(call, WRY_INVALID,
                  "ctc_loss: input_lengths[%lld] is not a number of steps. Got %lld, expected one in [0, %lld], the size of "
                  "axis 0 of log_probs. Each says how many steps of its example are used.",
                  (long long)b, (long long)times[b], (long long)z.steps);
    if (lengths[b] < 0 || lengths[b] > z.symbols)
      return fail(call, WRY_INVALID,
                  "ctc_loss: label_lengths[%lld] is not a number of symbols. Got %lld, expected one in [0, %lld], the size of "
                  "axis 1 of labels. Each says how many symbols of its example are used.",
                  (long long)b, (long long)lengths[b], (long long)z.symbols);
    for (int64_t i = 0; i < lengths[b]; ++i) {
      const int64_t c = labels[b * z.symbols + i];
      if (c < 0 || c >= z.classes || c == blank)
        return fail(call, WRY_INVALID,
                    "ctc_loss: labels[%lld, %lld] is not a symbol. Got %lld, expected one in [0, %lld) other than blank=%lld. "
                    "What lies beyond label_lengths is not looked at.",
                    (long long)b, (long long)i, (long long)c, (long long)z.classes, (long long)blank);
    }
  }
  return WRY_OK;
}

// What a thread needs for one example. The rows have two places more than states: -inf lies there.
template <typename A>
struct Example {
  int64_t steps, states;
  int64_t *symbol;  // of each state
  A *skip;          // added on the way from state s - 2 to s: 0 or -inf
  A *emit, *row, *next, *sums;

  static int64_t words(const Sizes &z) { return 5 * (z.states + 4) + z.classes; }

  Example(int64_t *scratch, const wry_call *call, const Sizes &z, int first, int64_t blank, int64_t b) {
    const Labels labels = labels_of(input(call, first + 1));
    steps = labels_of(input(call, first + 2))[b];
    states = 2 * labels_of(input(call, first + 3))[b] + 1;
    const int64_t width = z.states + 4;
    scratch += b * words(z);
    symbol = scratch;
    skip = (A *)(scratch + width);
    emit = (A *)(scratch + 2 * width);
    row = (A *)(scratch + 3 * width);
    next = (A *)(scratch + 4 * width);
    sums = (A *)(scratch + 5 * width);
    for (int64_t s = 0; s < states; ++s) {
      symbol[s] = s % 2 ? labels[b * z.symbols + s / 2] : blank;
      skip[s] = s % 2 && s > 1 && symbol[s] != symbol[s - 2] ? A(0) : -A(INFINITY);
    }
    for (int64_t s = states; s < width; ++s) skip[s] = -A(INFINITY);
  }

  template <typename T>
  WRY_INLINE void read(const T *log_probs, const Sizes &z, int64_t t, int64_t b) {
    const T *from = log_probs + (t * z.batch + b) * z.classes;
    for (int64_t s = 0; s < states; ++s) emit[s] = A(from[symbol[s]]);
  }
};

template <typename V>
WRY_INLINE V log_sum(V a, V b, V c) {
  using A = typename vector_traits<V>::scalar;
  const V top = max(max(max(a, b), c), splat<V>(A(least)));
  return top + lane_log(lane_exp(a - top) + lane_exp(b - top) + lane_exp(c - top));
}

template <typename A>
WRY_INLINE A log_sum_of_two(A a, A b) {
  const A top = max_of(max_of(a, b), A(least));
  return top + scalar_log(scalar_exp(a - top) + scalar_exp(b - top));
}

// Makes the largest value 0, and returns what it was; a row without a path stays as it is.
template <typename A>
WRY_INLINE A lower(A *row, int64_t states) {
  const A top = row_reduce<A>(states, -A(INFINITY), [&](int64_t s, auto part) { return keep<vec<A>>(get((const A *)row + s, part), splat<vec<A>>(-A(INFINITY)), part); }, Larger());
  if (top == -A(INFINITY)) return 0;
  over<A>(states, [&](int64_t s, auto part) { put(row + s, get((const A *)row + s, part) - top, part); });
  return top;
}

// The logarithm of the label's probability, less what the rows were lowered by: all paths end in the
// last two states.
template <typename A>
WRY_INLINE A end_of(const A *alpha, int64_t states) {
  return states > 1 ? log_sum_of_two(alpha[states - 1], alpha[states - 2]) : alpha[0];
}

template <typename T>
int ctc_loss(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *log_probs = data<T>(input(call, 0));
  T *loss = data<T>(output(call, 0));
  A *alpha = data<A>(output(call, 1));
  const int64_t blank = attr_int(call, 0);
  const Sizes z = sizes_of(call, 0);
  const int status = check(call, z, 0, blank);
  if (status != WRY_OK) return status;
  const int64_t words = z.batch * Example<A>::words(z);
  int64_t *scratch = workspace<int64_t>(call, words);
  if (!scratch) return fail_memory(call, "ctc_loss", words * 8);
  parallel_tasks(call, z.batch, [&](int64_t b) {
    Example<A> e(scratch, call, z, 0, blank, b);
    A *out = alpha + b * z.steps * z.states;
    for (int64_t i = 0; i < z.steps * z.states; ++i) out[i] = -A(INFINITY);
    // Rows begin after two -inf. At first nothing has happened, which is like being before state 0.
    A *before = e.row + 2, *now = e.next + 2;
    double lowered = 0;
    for (int64_t s = -2; s < e.states; ++s) before[s] = now[s] = -A(INFINITY);
    for (int64_t t = 0; t < e.steps; ++t) {
      e.read(log_probs, z, t, b);
      if (t == 0) {
        for (int64_t s = 0; s < min_of<int64_t>(2, e.states); ++s) now[s] = e.emit[s];
      } else {
        over<A>(e.states, [&](int64_t s, auto part) {
          const vec<A> far = get((const A *)before + s - 2, part) + get((const A *)e.skip + s, part);
          put(now + s, log_sum(get((const A *)before + s, part), get((const A *)before + s - 1, part), far) + get((const A *)e.emit + s, part), part);
        });
      }
      lowered += double(lower(now, e.states));
      memcpy(out + t * z.states, now, size_t(e.states) * sizeof(A));
      A *swapped = before;
      before = now;
      now = swapped;
    }
    // Without a step only the empty label is certain.
    const A end = e.steps ? end_of(before, e.states) : e.states == 1 ? A(0)
                                                                     : -A(INFINITY);
    loss[b] = T(end <= A(least) ? A(0) : A(-(lowered + double(end))));
  });
  return WRY_OK;
}

// log_probs_ct[t, b, c] = -ct[b] * the probability of being at symbol c at step t, given the label.
template <typename T>
int ctc_loss_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *ct = data<T>(input(call, 0)), *log_probs = data<T>(input(call, 1));
  const A *alpha = data<A>(input(call, 5));
  T *out = data<T>(output(call, 0));
  const int64_t blank = attr_int(call, 0);
  const bool by_times = attr_bool(call, 1);
  const Sizes z = sizes_of(call, 1);
  const int status = check(call, z, 1, blank);
  if (status != WRY_OK) return status;
  const int64_t words = z.batch * Example<A>::words(z);
  int64_t *scratch = workspace<int64_t>(call, words);
  if (!scratch) return fail_memory(call, "ctc_loss_vjp", words * 8);
  parallel_tasks(call, z.batch, [&](int64_t b) {
    Example<A> e(scratch, call, z, 1, blank, b);
    const A *a = alpha + b * z.steps * z.states;
    const A end = e.steps ? end_of(a + (e.steps - 1) * z.states, e.states) : -A(INFINITY);
    const int64_t used = end <= A(least) ? 0 : e.steps;  // a label that no path gives has no gradient
    for (int64_t t = used; t < z.steps; ++t)
      memset(static_cast<void *>(out + (t * z.batch + b) * z.classes), 0, size_t(z.classes) * sizeof(T));
    const A factor = used ? A(ct[b]) / (by_times ? A(used) : A(1)) : A(0);
    A *beta = e.row, *on = e.next;
    for (int64_t s = 0; s < e.states; ++s) beta[s] = s + 2 >= e.states ? A(0) : -A(INFINITY);
    for (int64_t s = 0; s < e.states + 2; ++s) on[s] = -A(INFINITY);
    for (int64_t t = used - 1; t >= 0; --t) {
      e.read(log_probs, z, t, b);
      if (t < used - 1)
        over<A>(e.states, [&](int64_t s, auto part) {
          const vec<A> far = get((const A *)on + s + 2, part) + get((const A *)e.skip + s + 2, part);
          put(beta + s, log_sum(get((const A *)on + s, part), get((const A *)on + s + 1, part), far), part);
        });
      lower(beta, e.states);
      over<A>(e.states, [&](int64_t s, auto part) { put(on + s, get((const A *)beta + s, part) + get((const A *)e.emit + s, part), part); });
      // emit has served; it now takes the probability of each state, which add up to 1 when divided by total.
      A *p = e.emit;
      over<A>(e.states, [&](int64_t s, auto part) { put(p + s, get(a + t * z.states + s, part) + get((const A *)beta + s, part), part); });
      lower(p, e.states);
      const A total = row_reduce<A>(e.states, A(0), [&](int64_t s, auto part) {
        const vec<A> v = lane_exp(get((const A *)p + s, part));
        put(p + s, v, part);
        return v; }, Plus());
      for (int64_t c = 0; c < z.classes; ++c) e.sums[c] = 0;
      for (int64_t s = 0; s < e.states; ++s) e.sums[e.symbol[s]] += p[s];
      T *to = out + (t * z.batch + b) * z.classes;
      const A each = total == 0 ? A(0) : factor / total;
      for (int64_t c = 0; c < z.classes; ++c) to[c] = T(-e.sums[c] * each);
    }
  });
  return WRY_OK;
}

// out[t, b, c] = -ct[b] * the covariance of being at symbol c at step t and the sum of `vector` along the path, given the
// label: what the gradient's derivative is. The mean of that sum over all paths through a state has a part up to it
// and one from there on, both of which go from step to step as alpha and beta do. Means are in double: their
// difference from the mean of all paths may be far smaller than they are.
template <typename T>
int ctc_loss_curvature(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *vector = data<T>(input(call, 0)), *ct = data<T>(input(call, 1)), *log_probs = data<T>(input(call, 2));
  const A *alpha = data<A>(input(call, 6));
  T *out = data<T>(output(call, 0));
  const int64_t blank = attr_int(call, 0);
  const bool by_times = attr_bool(call, 1);
  const Sizes z = sizes_of(call, 2);
  const int status = check(call, z, 2, blank);
  if (status != WRY_OK) return status;
  const int64_t words = z.batch * Example<A>::words(z), means = z.states * (z.steps + 3) + z.classes;
  int64_t *scratch = workspace<int64_t>(call, words);
  double *all_means = workspace<double>(call, z.batch * means);
  if (!scratch || !all_means) return fail_memory(call, "ctc_loss_curvature", (words + z.batch * means) * 8);
  parallel_tasks(call, z.batch, [&](int64_t b) {
    Example<A> e(scratch, call, z, 2, blank, b);
    const A *a = alpha + b * z.steps * z.states;
    const A end = e.steps ? end_of(a + (e.steps - 1) * z.states, e.states) : -A(INFINITY);
    const int64_t used = end <= A(least) ? 0 : e.steps, S = e.states;
    for (int64_t t = used; t < z.steps; ++t)
      memset(static_cast<void *>(out + (t * z.batch + b) * z.classes), 0, size_t(z.classes) * sizeof(T));
    if (!used) return;
    const auto at = [&](const T *from, int64_t t, int64_t s) { return double(arithmetic_t<T>(from[(t * z.batch + b) * z.classes + e.symbol[s]])); };
    // The mean of `values` over `count` neighbours of s in the direction `step`, of which `log` has the weights.
    const auto mean = [&](const A *log, const double *values, int64_t s, int64_t step, int64_t count) {
      A top = -A(INFINITY);
      for (int64_t i = 0; i < count; ++i) top = max_of(top, log[s + i * step]);
      if (!(top > A(least))) return 0.0;
      double weight = 0, sum = 0;
      for (int64_t i = 0; i < count; ++i) {
        const double share = double(scalar_exp(A(log[s + i * step] - top)));
        weight += share, sum += share * values[s + i * step];
      }
      return sum / weight;
    };
    double *const before = all_means + b * means, *const sums = before + z.states * z.steps;  // [used, S] and [classes]
    double *after = sums + z.classes, *here = after + z.states, *const onwards = here + z.states;
    for (int64_t t = 0; t < used; ++t)
      for (int64_t s = 0; s < S; ++s) {
        const int64_t ways = min_of<int64_t>(s + 1, e.skip[s] == 0 ? 3 : 2);
        before[t * S + s] = at(vector, t, s) + (t ? mean(a + (t - 1) * z.states, before + (t - 1) * S, s, -1, ways) : 0.0);
      }
    const int64_t last = used - 1;
    const double whole = mean(a + last * z.states, before + last * S, S - 1, -1, min_of<int64_t>(S, 2));
    const double factor = double(A(ct[b])) / (by_times ? double(used) : 1.0);
    A *beta = e.row, *on = e.next;
    for (int64_t s = 0; s < S; ++s) beta[s] = s + 2 >= S ? A(0) : -A(INFINITY), after[s] = 0;
    for (int64_t t = last; t >= 0; --t) {
      if (t < last) {
        for (int64_t s = 0; s < S; ++s) {
          const int64_t ways = min_of<int64_t>(S - s, e.skip[s + 2] == 0 ? 3 : 2);
          here[s] = mean(on, onwards, s, 1, ways);
          A top = A(least);
          for (int64_t i = 0; i < ways; ++i) top = max_of(top, on[s + i]);
          A sum = 0;
          for (int64_t i = 0; i < ways; ++i) sum += scalar_exp(A(on[s + i] - top));
          beta[s] = top + scalar_log(sum);
        }
        double *const kept = after;
        after = here, here = kept;
      }
      lower(beta, S);
      double total = 0;
      A top = -A(INFINITY);
      for (int64_t s = 0; s < S; ++s) top = max_of(top, A(a[t * z.states + s] + beta[s]));
      for (int64_t c = 0; c < z.classes; ++c) sums[c] = 0;
      for (int64_t s = 0; s < S; ++s) {
        const double p = top > A(least) ? double(scalar_exp(A(a[t * z.states + s] + beta[s] - top))) : 0.0;
        total += p;
        sums[e.symbol[s]] += p * (before[t * S + s] + after[s] - whole);
        on[s] = beta[s] + A(at(log_probs, t, s));
        onwards[s] = at(vector, t, s) + after[s];
      }
      T *to = out + (t * z.batch + b) * z.classes;
      const double each = total == 0 ? 0 : factor / total;
      for (int64_t c = 0; c < z.classes; ++c) to[c] = T(A(-sums[c] * each));
    }
  });
  return WRY_OK;
}

#include <wherry/kernels/rows/sequence.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(sequence, WRY_NAMESPACE::table)
