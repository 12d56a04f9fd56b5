// What recurrent layers have in common whatever their weights are: sequences, and the steps after the products.
#ifndef WHERRY_OPS_CPU_RECURRENT_H
#define WHERRY_OPS_CPU_RECURRENT_H

#include "gemm.h"
#include "lanemath.h"
#include "rows.h"

namespace WRY_NAMESPACE {

// Within 2^-22 of the value, for numbers that are no smaller than normal: without the last steps of `sigmoid`.
WRY_INLINE f32 logistic(f32 x) { return 1.0f / (1.0f + exp(-x)); }
WRY_INLINE f64 logistic(f64 x) { return 1.0 / (1.0 + lane_exp(-x)); }
// Within 2^-21.5: a quotient of polynomials has a shorter chain than an exponential and takes half the operations. From 8.2 on nothing changes.
WRY_INLINE f32 hyperbolic_tangent(f32 x) {
  x = max(splat<f32>(-8.2f), min(splat<f32>(8.2f), x));  // in this order of arguments NaN passes
  const f32 square = x * x;
  static const float top[] = {0.9999999917f, 0.1343212472f, 0.003556688416f, 2.163730829e-05f, 1.484060168e-08f};
  static const float bottom[] = {1.0f, 0.4676545046f, 0.02610830655f, 0.0003386444492f, 8.370622522e-07f};
  return x * polynomial(square, top) / polynomial(square, bottom);  // 2^-26.8
}
WRY_INLINE f64 hyperbolic_tangent(f64 x) {
  for (int i = 0; i < f64_lanes; ++i) x[i] = ::tanh(x[i]);
  return x;
}

struct Sequence {
  int64_t time, batch, width, hidden;
  const int64_t *length;  // of each sequence, or null
  bool reverse;
  // Which time the n-th step has.
  WRY_INLINE int64_t at(int64_t step) const { return reverse ? time - 1 - step : step; }
  WRY_INLINE bool counts(int64_t t, int64_t b) const { return !length || t < length[b]; }
  // A row of [T, B, H] that holds the state with which step t of sequence b begins.
  template <typename T>
  WRY_INLINE const T *before(const T *states, const T *first, int64_t t, int64_t b) const {
    const bool begins = reverse ? t + 1 == (length ? length[b] : time) : t == 0;
    return begins ? first + b * hidden : states + ((reverse ? t + 1 : t - 1) * batch + b) * hidden;
  }
};

// Reads the lengths; every one must lie in [0, T].
inline int sequence_of(const wry_call *call, const char *op, const wry_tensor *x, const wry_tensor *h, const wry_tensor *length,
                       bool reverse, Sequence *s) {
  *s = {x->shape[0], x->shape[1], x->shape[2], h->shape[1], nullptr, reverse};
  if (!length) return WRY_OK;
  int64_t *lengths = workspace<int64_t>(call, max_of<int64_t>(s->batch, 1));
  if (!lengths) return fail_memory(call, op, s->batch * 8);
  dispatch<int32_t, int64_t>(length->dtype, [&](auto tag) {
    for (int64_t b = 0; b < s->batch; ++b) lengths[b] = int64_t(data<decltype(tag)>(length)[b]);
  });
  for (int64_t b = 0; b < s->batch; ++b)
    if (lengths[b] < 0 || lengths[b] > s->time)
      return fail(call, WRY_INVALID,
                  "%s: length %lld (of sequence %lld) is not possible. Got a length of %lld for sequences of %lld steps, "
                  "expected each in [0, %lld]. Check sequence_length, or the axis that is the time.",
                  op, (long long)lengths[b], (long long)b, (long long)lengths[b], (long long)s->time, (long long)s->time);
  s->length = lengths;
  return WRY_OK;
}

// f(first, rows, states + first * H) for groups of sequences; `states` is [B, H]. `work` is how many
// multiplications a sequence takes.
template <typename T, typename F>
void each_group(const wry_call *call, const Sequence &s, int64_t work, T *states, F &&f) {
  // Whole fours, which are multiplied together wherever a group begins; of small batches four are shared too.
  const int64_t unit = s.batch <= 8 * (threads_for(call, INT32_MAX) - 1) ? 4 : 8;
  const int64_t tiles = (s.batch + unit - 1) / unit;
  const int64_t grain = max_of<int64_t>(1, 200000 / max_of<int64_t>(work * unit, 1));
  parallel_for(call, tiles, grain, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * unit, rows = min_of(s.batch, end * unit) - first;
    f(first, rows, states + first * s.hidden);
  });
}

template <typename T>
WRY_INLINE void copy_row(T *to, const T *from, int64_t n) { memcpy(to, from, size_t(n) * sizeof(T)); }
template <typename T>
WRY_INLINE void zero_row(T *to, int64_t n) { memset(to, 0, size_t(n) * sizeof(T)); }

inline int no_memory(const wry_call *call, const char *op, const Sequence &s) {
  return fail_memory(call, op, (s.hidden * s.hidden * 4 + s.batch * s.hidden * 2) * 8);
}

// All steps. `gates` holds the part of the inputs and becomes the gates; product(h, rows, at) adds that of the states to its rows from `at` on.
template <typename T, typename Product>
void lstm_steps(const wry_call *call, const Sequence &s, const T *h0, const T *c0, T *h_last, T *c_last, T *out, T *gates, T *cells, Product &&product) {
  const int64_t H = s.hidden;
  // The states that go from step to step are the rows of h_last and c_last.
  each_group<T>(call, s, s.time * 4 * H * H, h_last, [&](int64_t first, int64_t rows, T *h) {
    T *c = c_last + first * H;
    copy_row(h, h0 + first * H, rows * H);
    copy_row(c, c0 + first * H, rows * H);
    for (int64_t step = 0; step < s.time; ++step) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      product((const T *)h, rows, at);
      for (int64_t r = 0; r < rows; ++r) {
        T *g = gates + (at + r) * 4 * H, *o = out + (at + r) * H, *cell = cells + (at + r) * H;
        T *h_row = h + r * H, *c_row = c + r * H;
        if (!s.counts(t, first + r)) {
          zero_row(g, 4 * H), zero_row(o, H), zero_row(cell, H);
          continue;
        }
        over<T>(H, [&](int64_t j, auto part) {
          const vec<T> in = logistic(get((const T *)g + j, part));
          const vec<T> forget = logistic(get((const T *)g + H + j, part));
          const vec<T> update = hyperbolic_tangent(get((const T *)g + 2 * H + j, part));
          const vec<T> show = logistic(get((const T *)g + 3 * H + j, part));
          const vec<T> value = forget * get((const T *)c_row + j, part) + in * update;
          const vec<T> state = show * hyperbolic_tangent(value);
          put(g + j, in, part), put(g + H + j, forget, part), put(g + 2 * H + j, update, part);
          put(g + 3 * H + j, show, part);
          put(c_row + j, value, part), put(cell + j, value, part);
          put(h_row + j, state, part), put(o + j, state, part);
        });
      }
    }
  });
}

// All steps. `gates` [T, B, 4 H] holds the parts of the inputs; product(h, rows, at) adds those of the states of r and z, and puts that of n after.
template <typename T, typename Product>
void gru_steps(const wry_call *call, const Sequence &s, const T *h0, T *h_last, T *out, T *gates, Product &&product) {
  const int64_t H = s.hidden;
  each_group<T>(call, s, s.time * 3 * H * H, h_last, [&](int64_t first, int64_t rows, T *h) {
    copy_row(h, h0 + first * H, rows * H);
    for (int64_t step = 0; step < s.time; ++step) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      product((const T *)h, rows, at);
      for (int64_t r = 0; r < rows; ++r) {
        T *g = gates + (at + r) * 4 * H, *o = out + (at + r) * H, *h_row = h + r * H;
        if (!s.counts(t, first + r)) {
          zero_row(g, 4 * H), zero_row(o, H);
          continue;
        }
        over<T>(H, [&](int64_t j, auto part) {
          const vec<T> reset = logistic(get((const T *)g + j, part));
          const vec<T> keep_old = logistic(get((const T *)g + H + j, part));
          const vec<T> hidden = get((const T *)g + 3 * H + j, part);
          const vec<T> update = hyperbolic_tangent(get((const T *)g + 2 * H + j, part) + reset * hidden);
          const vec<T> state = (get((const T *)h_row + j, part) - update) * keep_old + update;
          put(g + j, reset, part), put(g + H + j, keep_old, part), put(g + 2 * H + j, update, part);
          put(h_row + j, state, part), put(o + j, state, part);
        });
      }
    }
  });
}

}  // namespace WRY_NAMESPACE

#endif
