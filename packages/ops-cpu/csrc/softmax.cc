// Softmax along one axis, alone, as logarithm, and with cross entropy; their gradients.
//
// All inputs are contiguous, seen as [outer, n, inner] around the axis; outputs overlap no input.
// Every form subtracts the maximum first: exp of what remains is at most 1. Rows (inner == 1) stay
// in the first-level cache between their passes; otherwise strips of columns do.
#include "labels.h"
#include "lanemath.h"
#include "parallel.h"
#include "rows.h"

namespace WRY_NAMESPACE {
namespace {

// Rows up to this length keep their exponentials on the stack where the output cannot hold them;
// longer ones compute them twice.
constexpr int64_t scratch_row = 2048;

template <typename A>
struct Shift {
  A max, log_sum;
};  // log(sum(exp(x))) is their sum

template <typename T, bool Log, typename Where>
WRY_INLINE Shift<arithmetic_t<T>> softmax_row(const T *x, T *out, int64_t n) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const A top = row_reduce<T>(n, -A(INFINITY), [&](int64_t i, auto part) { return keep<V>(get(x + i, part), splat<V>(-A(INFINITY)), part); }, Larger());
  const V m = splat<V>(top);
  if constexpr (Log) {
    const A sum = row_reduce<T>(n, A(0), [&](int64_t i, auto part) { return lane_exp(get(x + i, part) - m); }, Plus());
    const A log_sum = scalar_log(sum);
    // Not x - (max + log_sum): beside a large maximum the logarithm would lose its digits.
    over<T>(n, [&](int64_t i, auto part) { put_to<Where>(out + i, (get(x + i, part) - m) - log_sum, part); });
    return {top, log_sum};
  } else {
    // The exponentials wait in the output, unless that is narrower or never in a cache.
    constexpr bool in_place = sizeof(T) == sizeof(A) && !Where::value;
    A kept[in_place ? 1 : scratch_row];
    A *e = nullptr;
    if constexpr (in_place) e = out;
    else if (n <= scratch_row) e = kept;
    A sum;
    if (e) {
      sum = row_reduce<T>(n, A(0), [&](int64_t i, auto part) {
        const V v = lane_exp(get(x + i, part) - m);
        put(e + i, v, part);
        return v; }, Plus());
      const A inverse = A(1) / sum;
      over<T>(n, [&](int64_t i, auto part) { put_to<Where>(out + i, get((const A *)e + i, part) * inverse, part); });
    } else {
      sum = row_reduce<T>(n, A(0), [&](int64_t i, auto part) { return lane_exp(get(x + i, part) - m); }, Plus());
      const A inverse = A(1) / sum;
      over<T>(n, [&](int64_t i, auto part) { put_to<Where>(out + i, lane_exp(get(x + i, part) - m) * inverse, part); });
    }
    return {top, scalar_log(sum)};
  }
}

// `width` columns of n rows that are `step` apart; max and log_sum get the shifts.
template <typename T, bool Log>
WRY_INLINE void softmax_strip(const T *x, T *out, int64_t n, int64_t step, int64_t width, arithmetic_t<T> *top,
                              arithmetic_t<T> *log_sum) {
  using A = arithmetic_t<T>;
  A sum[strip_width];
  for (int64_t j = 0; j < width; ++j) top[j] = -A(INFINITY), sum[j] = 0;
  for (int64_t k = 0; k < n; ++k)
    over<T>(width, [&](int64_t j, auto part) { put(top + j, max(get(x + k * step + j, part), get((const A *)top + j, part)), part); });
  for (int64_t k = 0; k < n; ++k)
    over<T>(width, [&](int64_t j, auto part) {
      const vec<T> e = lane_exp(get(x + k * step + j, part) - get((const A *)top + j, part));
      if constexpr (!Log && sizeof(T) == sizeof(A)) put(out + k * step + j, e, part);
      put(sum + j, get((const A *)sum + j, part) + e, part);
    });
  for (int64_t j = 0; j < width; ++j) log_sum[j] = scalar_log(sum[j]), sum[j] = A(1) / sum[j];
  for (int64_t k = 0; k < n; ++k)
    over<T>(width, [&](int64_t j, auto part) {
      const int64_t at = k * step + j;
      if constexpr (Log) {
        put(out + at, (get(x + at, part) - get((const A *)top + j, part)) - get((const A *)log_sum + j, part), part);
      } else {
        vec<T> e;
        if constexpr (sizeof(T) == sizeof(A)) e = get((const T *)out + at, part);
        else e = lane_exp(get(x + at, part) - get((const A *)top + j, part));
        put(out + at, e * get((const A *)sum + j, part), part);
      }
    });
}

template <typename T, bool Log>
int softmax_along(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *x = data<T>(input(call, 0));
  T *out = data<T>(output(call, 0));
  if (input(call, 0)->size == 0) return WRY_OK;
  const AxisView v = around(input(call, 0), attr_int(call, 0));
  if (v.inner == 1)
    each_row_to(call, out, v.outer, v.n, [&](int64_t o, auto where) {
      softmax_row<T, Log, decltype(where)>(x + o * v.n, out + o * v.n, v.n);
    });
  else
    each_strip(call, v, [&](int64_t o, int64_t first, int64_t width) {
      A top[strip_width], log_sum[strip_width];
      const int64_t at = o * v.n * v.inner + first;
      softmax_strip<T, Log>(x + at, out + at, v.n, v.inner, width, top, log_sum);
    });
  return WRY_OK;
}

template <typename T>
int softmax(const wry_call *call) { return softmax_along<T, false>(call); }
template <typename T>
int log_softmax(const wry_call *call) { return softmax_along<T, true>(call); }

// x_ct = (ct - sum(ct * out)) * out, or for the logarithm ct - exp(out) * sum(ct).
template <typename T, bool Log>
int softmax_vjp_along(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *ct = data<T>(input(call, 0)), *y = data<T>(input(call, 1));
  T *out = data<T>(output(call, 0));
  if (input(call, 0)->size == 0) return WRY_OK;
  const AxisView v = around(input(call, 0), attr_int(call, 0));
  const auto summand = [](vec<T> c, vec<T> p) { return Log ? c : c * p; };
  const auto result = [](vec<T> c, vec<T> p, vec<T> s) {
    if constexpr (Log) return c - lane_exp(p) * s;
    else return (c - s) * p;
  };
  if (v.inner == 1) {
    each_row_to(call, out, v.outer, v.n, [&](int64_t o, auto where) {
      const T *c = ct + o * v.n, *p = y + o * v.n;
      T *to = out + o * v.n;
      const A s = row_reduce<T>(v.n, A(0), [&](int64_t i, auto part) { return summand(get(c + i, part), get(p + i, part)); }, Plus());
      over<T>(v.n, [&](int64_t i, auto part) { put_to<decltype(where)>(to + i, result(get(c + i, part), get(p + i, part), splat<vec<T>>(s)), part); });
    });
    return WRY_OK;
  }
  each_strip(call, v, [&](int64_t o, int64_t first, int64_t width) {
    A sum[strip_width] = {};
    const int64_t at = o * v.n * v.inner + first;
    for (int64_t k = 0; k < v.n; ++k)
      over<T>(width, [&](int64_t j, auto part) {
        const int64_t i = at + k * v.inner + j;
        put(sum + j, get((const A *)sum + j, part) + summand(get(ct + i, part), get(y + i, part)), part);
      });
    for (int64_t k = 0; k < v.n; ++k)
      over<T>(width, [&](int64_t j, auto part) {
        const int64_t i = at + k * v.inner + j;
        put(out + i, result(get(ct + i, part), get(y + i, part), get((const A *)sum + j, part)), part);
      });
  });
  return WRY_OK;
}

template <typename T>
int softmax_vjp(const wry_call *call) { return softmax_vjp_along<T, false>(call); }
template <typename T>
int log_softmax_vjp(const wry_call *call) { return softmax_vjp_along<T, true>(call); }

// ---- cross entropy ------------------------------------------------------------------------------

template <typename T>
int cross_entropy(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *logits = input(call, 0);
  const T *x = data<T>(logits);
  const T *weight = input(call, 2) ? data<T>(input(call, 2)) : nullptr;
  T *loss = data<T>(output(call, 0)), *out = data<T>(output(call, 1));
  const bool soft = attr_bool(call, 0);
  const int64_t ignored = attr_int(call, 1);
  const AxisView v = around(logits, attr_int(call, 2));
  const Labels label = labels_of(input(call, 1));
  const T *target = soft ? data<T>(input(call, 1)) : nullptr;
  if (!soft) {
    const int status = check_labels(call, "cross_entropy", label, v.outer * v.inner, v.n, ignored);
    if (status != WRY_OK) return status;
  }
  // Of column j of a strip whose shift is known. Where the label has no mass nothing is added, not
  // even 0 * -inf.
  const auto loss_of = [&](int64_t at, int64_t example, A top, A log_sum) {
    if (soft) {
      A sum = 0, mean_weight = 0;
      for (int64_t k = 0; k < v.n; ++k) {
        const A p = A(target[at + k * v.inner]);
        if (p != 0) sum += p * (log_sum - (A(x[at + k * v.inner]) - top));
        if (weight) mean_weight += p * A(weight[k]);
      }
      return T(weight ? sum * mean_weight : sum);
    }
    const int64_t c = label[example];
    if (c == ignored) return T(A(0));
    const A nll = log_sum - (A(x[at + c * v.inner]) - top);
    return T(weight ? nll * A(weight[c]) : nll);
  };
  if (v.inner == 1)
    each_row_to(call, out, v.outer, v.n, [&](int64_t o, auto where) {
      const auto s = softmax_row<T, false, decltype(where)>(x + o * v.n, out + o * v.n, v.n);
      loss[o] = loss_of(o * v.n, o, s.max, s.log_sum);
    });
  else
    each_strip(call, v, [&](int64_t o, int64_t first, int64_t width) {
      A top[strip_width], log_sum[strip_width];
      const int64_t at = o * v.n * v.inner + first, example = o * v.inner + first;
      softmax_strip<T, false>(x + at, out + at, v.n, v.inner, width, top, log_sum);
      for (int64_t j = 0; j < width; ++j) loss[example + j] = loss_of(at + j, example + j, top[j], log_sum[j]);
    });
  return WRY_OK;
}

// x_ct = (softmax * sum(target) - target) * ct * weight of the label.
template <typename T>
int cross_entropy_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *ct = data<T>(input(call, 0)), *p = data<T>(input(call, 1));
  const T *weight = input(call, 3) ? data<T>(input(call, 3)) : nullptr;
  T *out = data<T>(output(call, 0));
  const bool soft = attr_bool(call, 0);
  const int64_t ignored = attr_int(call, 1);
  const AxisView v = around(input(call, 1), attr_int(call, 2));
  const Labels label = labels_of(input(call, 2));
  const T *target = soft ? data<T>(input(call, 2)) : nullptr;
  if (!soft) {
    const int status = check_labels(call, "cross_entropy_vjp", label, v.outer * v.inner, v.n, ignored);
    if (status != WRY_OK) return status;
  }
  each_strip(call, v, [&](int64_t o, int64_t first, int64_t width) {
    A factor[strip_width], total[strip_width];
    const int64_t at = o * v.n * v.inner + first, example = o * v.inner + first;
    for (int64_t j = 0; j < width; ++j) {
      A w = 1;
      total[j] = 1;
      if (soft) {
        total[j] = 0;
        A mean_weight = 0;
        for (int64_t k = 0; k < v.n; ++k) {
          const A q = A(target[at + k * v.inner + j]);
          total[j] += q;
          if (weight) mean_weight += q * A(weight[k]);
        }
        if (weight) w = mean_weight;
      } else {
        const int64_t c = label[example + j];
        w = c == ignored ? A(0) : weight ? A(weight[c])
                                         : A(1);
      }
      factor[j] = w == 0 ? A(0) : A(ct[example + j]) * w;
    }
    if (soft) {
      if (v.inner == 1) {
        const vec<T> f = splat<vec<T>>(factor[0]), t = splat<vec<T>>(total[0]);
        over<T>(v.n, [&](int64_t i, auto part) {
          put(out + at + i, (get(p + at + i, part) * t - get(target + at + i, part)) * f, part);
        });
        return;
      }
      for (int64_t k = 0; k < v.n; ++k)
        over<T>(width, [&](int64_t j, auto part) {
          const int64_t i = at + k * v.inner + j;
          put(out + i, (get(p + i, part) * get((const A *)total + j, part) - get(target + i, part)) * get((const A *)factor + j, part), part);
        });
      return;
    }
    if (v.inner == 1) {
      const vec<T> f = splat<vec<T>>(factor[0]);
      over<T>(v.n, [&](int64_t i, auto part) { put(out + at + i, get(p + at + i, part) * f, part); });
    } else {
      for (int64_t k = 0; k < v.n; ++k)
        over<T>(width, [&](int64_t j, auto part) {
          const int64_t i = at + k * v.inner + j;
          put(out + i, get(p + i, part) * get((const A *)factor + j, part), part);
        });
    }
    for (int64_t j = 0; j < width; ++j) {
      const int64_t c = label[example + j];
      if (c == ignored) continue;
      const int64_t i = at + c * v.inner + j;
      out[i] = T((A(p[i]) - A(1)) * factor[j]);
    }
  });
  return WRY_OK;
}

#include <wherry/kernels/rows/softmax.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(softmax, WRY_NAMESPACE::table)
