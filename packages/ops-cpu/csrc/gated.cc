// Gated linear units: one half of an axis times the sigmoid of the other, without a tensor in between.
//
// All inputs are contiguous, which makes the halves of an axis runs of `half` elements by turns.
#include "lanemath.h"
#include "rows.h"

namespace WRY_NAMESPACE {
namespace {

// f(element of a half, where it lies in the whole, part) for pieces of all runs.
template <typename T, typename F>
void each_run(const wry_call *call, const wry_tensor *whole, int64_t axis, F &&f) {
  const AxisView v = around(whole, axis);
  const int64_t half = v.n / 2 * v.inner, piece = 4096, pieces = (half + piece - 1) / piece;
  parallel_for(call, v.outer * pieces, max_of<int64_t>(1, 8192 / max_of<int64_t>(1, min_of(half, piece))), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t row = at / pieces, first = at % pieces * piece;
      over<T>(min_of(piece, half - first), [&](int64_t i, auto part) { f(row * half + first + i, 2 * row * half + first + i, half, part); });
    }
  });
}

// exp(-|x|) and 1 / (1 + exp(-|x|)): neither is lost where the sigmoid is near 0 or 1.
template <typename V>
struct Sigmoid {
  V e, near, value;
  WRY_INLINE explicit Sigmoid(V x) {
    e = lane_exp(-abs(x));
    near = typename vector_traits<V>::scalar(1) / (e + typename vector_traits<V>::scalar(1));
    value = select<V>(x < V{}, e * near, near);
  }
};

template <typename T>
int glu(const wry_call *call) {
  const T *x = data<T>(input(call, 0));
  T *out = data<T>(output(call, 0));
  each_run<T>(call, input(call, 0), attr_int(call, 0), [=](int64_t i, int64_t k, int64_t half, auto part) {
    put(out + i, get(x + k, part) * Sigmoid<vec<T>>(get(x + k + half, part)).value, part);
  });
  return WRY_OK;
}

template <typename T>
int glu_vjp(const wry_call *call) {
  const T *ct = data<T>(input(call, 0)), *x = data<T>(input(call, 1));
  T *out = data<T>(output(call, 0));
  each_run<T>(call, output(call, 0), attr_int(call, 0), [=](int64_t i, int64_t k, int64_t half, auto part) {
    const Sigmoid<vec<T>> gate(get(x + k + half, part));
    const vec<T> c = get(ct + i, part);
    put(out + k, c * gate.value, part);
    put(out + k + half, c * get(x + k, part) * (gate.e * gate.near * gate.near), part);
  });
  return WRY_OK;
}

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("glu", WRY_WANTS_CONTIGUOUS, glu),
    WRY_FLOAT_ROWS("glu_vjp", WRY_WANTS_CONTIGUOUS, glu_vjp),
};

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(gated, WRY_NAMESPACE::table)
