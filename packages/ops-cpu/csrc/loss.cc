// Losses of class labels, their mean, the cross entropy of yes and no, and losses of differences.
//
// All inputs are contiguous. Arithmetic on 16-bit floats is in float, sums are in double.
#include <type_traits>

#include "labels.h"
#include "lanemath.h"
#include "parallel.h"
#include "rows.h"

namespace WRY_NAMESPACE {
namespace {

constexpr int64_t grain = 16384;

// ---- class labels -------------------------------------------------------------------------------

template <typename T>
int nll_loss(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *x = data<T>(input(call, 0));
  const T *weight = input(call, 2) ? data<T>(input(call, 2)) : nullptr;
  T *out = data<T>(output(call, 0));
  const int64_t ignored = attr_int(call, 0), n = output(call, 0)->size;
  const AxisView v = around(input(call, 0), attr_int(call, 1));
  const Labels label = labels_of(input(call, 1));
  const int status = check_labels(call, "nll_loss", label, n, v.n, ignored);
  if (status != WRY_OK) return status;
  const auto losses = [&](const auto *labels, auto inner) {
    parallel_for(call, n, grain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t c = int64_t(labels[i]);
        A value = 0;
        if (c != ignored) {
          value = -A(x[(i / inner * v.n + c) * inner + i % inner]);
          if (weight) value *= A(weight[c]);
        }
        out[i] = T(value);
      }
    });
  };
  dispatch<int64_t, int32_t, int16_t, int8_t, uint8_t>(label.dtype, [&](auto tag) {
    const auto *labels = static_cast<const decltype(tag) *>(label.data);
    if (v.inner == 1) losses(labels, std::integral_constant<int64_t, 1>());  // no division
    else losses(labels, v.inner);
  });
  return WRY_OK;
}

// Zero but for the labels' places.
template <typename T>
int nll_loss_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *ct = data<T>(input(call, 0));
  const T *weight = input(call, 2) ? data<T>(input(call, 2)) : nullptr;
  T *out = data<T>(output(call, 0));
  const int64_t ignored = attr_int(call, 0), n = input(call, 0)->size;
  const AxisView v = around(output(call, 0), attr_int(call, 1));
  const Labels label = labels_of(input(call, 1));
  const int status = check_labels(call, "nll_loss_vjp", label, n, v.n, ignored);
  if (status != WRY_OK) return status;
  parallel_for(call, output(call, 0)->size, 4 * grain, [&](int64_t begin, int64_t end) {
    memset(static_cast<void *>(out + begin), 0, size_t(end - begin) * sizeof(T));
  });
  parallel_for(call, n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = label[i];
      if (c == ignored) continue;
      A value = -A(ct[i]);
      if (weight) value *= A(weight[c]);
      out[(i / v.inner * v.n + c) * v.inner + i % v.inner] = T(value);
    }
  });
  return WRY_OK;
}

template <typename T>
int label_mean(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *loss = data<T>(input(call, 0));
  const T *weight = input(call, 2) ? data<T>(input(call, 2)) : nullptr;
  const int64_t ignored = attr_int(call, 0), n = input(call, 0)->size;
  const Labels label = labels_of(input(call, 1));
  if (weight) {
    const int status = check_labels(call, "label_mean", label, n, input(call, 2)->size, ignored);
    if (status != WRY_OK) return status;
  }
  struct Sums {
    double loss, weight;
  };
  const auto sums_of = [&](int64_t begin, int64_t end) {
    Sums s = {0, 0};
    dispatch<int64_t, int32_t, int16_t, int8_t, uint8_t>(label.dtype, [&](auto tag) {
      const auto *labels = static_cast<const decltype(tag) *>(label.data);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t c = int64_t(labels[i]);
        if (c == ignored) continue;
        s.loss += double(A(loss[i]));
        s.weight += weight ? double(A(weight[c])) : 1.0;
      }
    });
    return s;
  };
  Sums all = {0, 0};
  const int64_t blocks = (n + grain - 1) / grain;
  if (blocks <= 1) {
    all = sums_of(0, n);
  } else {
    Sums *parts = workspace<Sums>(call, blocks);
    if (!parts) return fail_memory(call, "label_mean", blocks * int64_t(sizeof(Sums)));
    parallel_blocks(call, n, grain, [&](int64_t b, int64_t begin, int64_t end) { parts[b] = sums_of(begin, end); });
    for (int64_t b = 0; b < blocks; ++b) all.loss += parts[b].loss, all.weight += parts[b].weight;
  }
  *data<T>(output(call, 0)) = T(A(all.weight == 0 ? all.loss : all.loss / all.weight));
  *data<A>(output(call, 1)) = A(all.weight);
  return WRY_OK;
}

template <typename T>
int label_mean_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const A total = *data<A>(input(call, 1));
  const T each = T(total == 0 ? A(*data<T>(input(call, 0))) : A(*data<T>(input(call, 0))) / total);
  const int64_t ignored = attr_int(call, 0);
  const Labels label = labels_of(input(call, 2));
  T *out = data<T>(output(call, 0));
  parallel_for(call, output(call, 0)->size, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = label[i] == ignored ? T(A(0)) : each;
  });
  return WRY_OK;
}

// ---- yes and no ---------------------------------------------------------------------------------

template <typename T, typename F>
WRY_INLINE void each_element(const wry_call *call, F &&f) {
  parallel_for(call, output(call, 0)->size, grain, [&](int64_t begin, int64_t end) {
    over<T>(end - begin, [&](int64_t i, auto part) { f(begin + i, part); });
  });
}

// The output from two inputs, and from three, element by element: `f` gets vectors of them.
template <typename T, typename F>
WRY_INLINE int from_two(const wry_call *call, F &&f) {
  const T *x = data<T>(input(call, 0)), *y = data<T>(input(call, 1));
  T *out = data<T>(output(call, 0));
  each_element<T>(call, [&](int64_t i, auto part) { put(out + i, f(get(x + i, part), get(y + i, part)), part); });
  return WRY_OK;
}

template <typename T, typename F>
WRY_INLINE int from_three(const wry_call *call, F &&f) {
  const T *x = data<T>(input(call, 0)), *y = data<T>(input(call, 1)), *z = data<T>(input(call, 2));
  T *out = data<T>(output(call, 0));
  each_element<T>(call, [&](int64_t i, auto part) {
    put(out + i, f(get(x + i, part), get(y + i, part), get(z + i, part)), part);
  });
  return WRY_OK;
}

// Smaller wins; NaN loses.
struct Smaller {
  template <typename X>
  WRY_INLINE X operator()(X a, X b) const { return min(a, b); }
};

template <typename T>
int check_probabilities(const wry_call *call, const T *x, int64_t n) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const A largest = row_reduce<T>(n, A(0), [&](int64_t i, auto part) { return keep<V>(get(x + i, part), splat<V>(A(0)), part); }, Larger());
  const A smallest = row_reduce<T>(n, A(0), [&](int64_t i, auto part) { return keep<V>(get(x + i, part), splat<V>(A(0)), part); }, Smaller());
  if (WRY_LIKELY(largest <= 1 && smallest >= 0)) return WRY_OK;
  int64_t i = 0;
  while (!(A(x[i]) < 0 || A(x[i]) > 1)) ++i;
  return fail(call, WRY_INVALID,
              "binary_cross_entropy: element %lld is not a probability. Got %g, expected numbers in [0, 1]. "
              "Apply sigmoid first, or pass logits to binary_cross_entropy_with_logits.",
              (long long)i, double(A(x[i])));
}

template <typename T>
int binary_cross_entropy(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const int status = check_probabilities(call, data<T>(input(call, 0)), input(call, 0)->size);
  if (status != WRY_OK) return status;
  return from_two<T>(call, [](V p, V y) __attribute__((always_inline)) {  // GCC finds it too long: a seventh slower
    const V lowest = splat<V>(A(-100));
    const V yes = maximum(lane_log(p), lowest), no = maximum(lane_log1p(-p), lowest);
    return (y - A(1)) * no - y * yes;
  });
}

template <typename T>
int binary_cross_entropy_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  return from_three<T>(call, [](V ct, V p, V y) {
    const V slope = (p - y) / maximum(p * (A(1) - p), splat<V>(A(1e-12)));
    return ct * slope;
  });
}

// max(z, 0) - z * y + log(1 + exp(-|z|)): no term is large where the result is small.
template <typename T>
int binary_cross_entropy_logits(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  return from_two<T>(call, [](V z, V y) __attribute__((always_inline)) {  // as above
    return maximum(z, splat<V>(A(0))) - z * y + lane_log1p(lane_exp(-abs(z)));
  });
}

template <typename T>
int binary_cross_entropy_logits_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  return from_three<T>(call, [](V ct, V z, V y) {
    const V e = lane_exp(-abs(z));
    const V near = A(1) / (e + A(1));  // sigmoid(|z|)
    const V sigmoid = select<V>(z < A(0), e * near, near);
    return ct * (sigmoid - y);
  });
}

// ---- differences --------------------------------------------------------------------------------

// With near = min(d, delta) both the parabola and the line are near * (d - near / 2).
template <typename T>
int smooth_l1_loss(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const V delta = splat<V>(A(attr_float(call, 0)));
  return from_two<T>(call, [delta](V x, V y) {
    const V d = abs(x - y), near = minimum(d, delta);
    return near * (d - near * A(0.5));
  });
}

template <typename T>
int smooth_l1_loss_vjp(const wry_call *call) {
  using V = vec<T>;
  const V delta = splat<V>(arithmetic_t<T>(attr_float(call, 0)));
  return from_three<T>(call, [delta](V ct, V x, V y) { return ct * maximum(minimum(x - y, delta), -delta); });
}

// A choice where the label is not positive: 0 * -inf would be NaN.
template <typename T>
int kl_div(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  return from_two<T>(call, [](V x, V y) { return select<V>(y > A(0), y * (lane_log(y) - x), splat<V>(A(0))); });
}

// ---- differences, summed --------------------------------------------------------------------------

struct Squared {
  template <typename V>
  WRY_INLINE V loss(V d) const { return d * d; }
  template <typename V>
  WRY_INLINE V slope(V d) const { return d + d; }
};
struct Absolute {
  template <typename V>
  WRY_INLINE V loss(V d) const { return abs(d); }
  template <typename V>
  WRY_INLINE V slope(V d) const {
    const V one = V{} + 1;
    return select<V>(d > V{}, one, select<V>(d < V{}, -one, d));
  }
};
struct Smooth {
  double delta;
  template <typename V>
  WRY_INLINE V loss(V d) const {
    const V far = abs(d), near = minimum(far, limit<V>());
    return near * (far - near * typename vector_traits<V>::scalar(0.5));
  }
  template <typename V>
  WRY_INLINE V slope(V d) const { return maximum(minimum(d, limit<V>()), -limit<V>()); }
  template <typename V>
  WRY_INLINE V limit() const { return splat<V>(typename vector_traits<V>::scalar(delta)); }
};

// f(kind) for the attributes kind and delta.
template <typename F>
WRY_INLINE void dispatch_difference(const wry_call *call, F &&f) {
  if (attr_equals(call, 0, "squared")) f(Squared());
  else if (attr_equals(call, 0, "absolute")) f(Absolute());
  else f(Smooth{attr_float(call, 1)});
}

// In double over blocks, as reduce.h sums, in order.
template <typename T>
int difference_loss(const wry_call *call) {
  using V = vec<T>;
  constexpr int64_t block = 8192;
  const T *x = data<T>(input(call, 0)), *y = data<T>(input(call, 1));
  const int64_t n = input(call, 0)->size, blocks = (n + block - 1) / block;
  double few[16], *sums = blocks <= 16 ? few : workspace<double>(call, blocks);
  if (!sums) return fail_memory(call, "difference_loss", blocks * 8);
  dispatch_difference(call, [&](auto kind) {
    parallel_for(call, blocks, 2, [&](int64_t first, int64_t last) {
      for (int64_t b = first; b < last; ++b) {
        const T *xs = x + b * block, *ys = y + b * block;
        sums[b] = double(row_reduce<T>(min_of(block, n - b * block), 0, [&](int64_t i, auto part) -> V { return kind.loss(get(xs + i, part) - get(ys + i, part)); }, Plus()));
      }
    });
  });
  double total = 0;
  for (int64_t b = 0; b < blocks; ++b) total += sums[b];
  *data<T>(output(call, 0)) = T(arithmetic_t<T>(attr_bool(call, 2) ? total / double(n) : total));
  return WRY_OK;
}

template <typename T>
int difference_loss_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *x = data<T>(input(call, 1)), *y = data<T>(input(call, 2));
  T *out = data<T>(output(call, 0));
  const double ct = double(A(*data<T>(input(call, 0))));
  const A each = A(attr_bool(call, 2) ? ct / double(output(call, 0)->size) : ct);
  dispatch_difference(call, [&](auto kind) {
    each_element<T>(call, [&](int64_t i, auto part) { put(out + i, kind.slope(get(x + i, part) - get(y + i, part)) * each, part); });
  });
  return WRY_OK;
}

#define LOSS_ROWS                                            \
  WRY_FLOAT_ROWS("difference_loss", flags, difference_loss), \
      WRY_FLOAT_ROWS("difference_loss_vjp", flags, difference_loss_vjp),
#include <wherry/kernels/rows/loss.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(loss, WRY_NAMESPACE::table)
