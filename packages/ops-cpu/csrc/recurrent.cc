// Recurrent layers: one direction of one layer over a whole sequence, and the way back through time.
//
// Inputs are contiguous: x [T, B, I], states [B, H], weights [gates * H, I] and [gates * H, H]. The
// product with x is one for all steps. What remains of a step is a product of the state with the
// recurrent weight, which is packed once, and a pass over the gates. Sequences of a batch do not
// depend on each other, so each thread takes some of them through all steps without waiting for the
// others; an element's sum has the same order whichever thread computes it.
//
// 16-bit floats are float32 from the first step to the last, and are rounded where they leave. Not done: a
// second thread for a single sequence.
#include "images.h"
#include "recurrent.h"

namespace WRY_NAMESPACE {
namespace {

// ---- what all of them share ---------------------------------------------------------------------

// B[k, n] as panels of gemm_columns columns.
template <typename T>
T *packed(const wry_call *call, int64_t n, int64_t k, Matrix<T> b) {
  constexpr int64_t width = gemm_columns<T>;
  const int64_t panels = (n + width - 1) / width;
  T *out = workspace<T>(call, max_of<int64_t>(panels * width * k, 1));
  if (out)
    parallel_for(call, panels, max_of<int64_t>(1, 16384 / (width * max_of<int64_t>(k, 1))), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        gemm_pack_columns(out + at * width * k, min_of(n - at * width, width), k, b.from(0, at * width));
    });
  return out;
}

// C[m, n] (+)= A B with A[m, k] row-major without gaps and B packed.
template <typename T>
void multiply(int64_t m, int64_t n, int64_t k, const T *a, const T *panels, T *c, int64_t ldc, Start<T> start) {
  constexpr int64_t width = gemm_columns<T>;
  for (int64_t j = 0; j < n; j += width)
    for (int64_t p = 0; p < k; p += gemm_depth)
      for (int64_t i = 0; i < m; i += gemm_rows)
        gemm_tile<T, 2>(min_of(m - i, int64_t(gemm_rows)), n - j, min_of(k - p, gemm_depth), a + i * k + p, k, 1,
                        panels + j * k + p * width, width, c + i * ldc + j, ldc,
                        p > 0 ? Start<T>{true, nullptr, nullptr} : start.at(i, j));
}
template <typename T>
inline constexpr Start<T> added = {true, nullptr, nullptr};

// Copies a cotangent that may be absent.
template <typename T>
WRY_INLINE void begin_row(T *to, const T *from, int64_t n) {
  if (from) copy_row(to, from, n);
  else zero_row(to, n);
}

template <typename T>
const T *optional(const wry_tensor *t) { return t ? data<T>(t) : nullptr; }

// sums[T * B, n] = x W' + bias for all steps, in rows that lie ld apart.
template <typename T>
bool project(const wry_call *call, const Sequence &s, const T *x, const T *weight, const T *bias, int64_t n, T *sums,
             int64_t ld) {
  GemmScratch<T> scratch;
  const int64_t rows = s.time * s.batch;
  if (!gemm_scratch(call, rows, n, s.width, &scratch)) return false;
  Start<T> start;
  start.per_column = bias;
  gemm<T>(call, rows, n, s.width, {x, s.width, 1}, {weight, 1, s.width}, sums, ld, start, scratch);
  return true;
}

// What the gradients begin with: (out_ct?, h_last_ct?, ..., x, h, ...) and the weight of the states, packed for their cotangents.
template <typename T>
struct Backwards {
  Sequence s;
  const T *out_ct, *h_last_ct, *panels;

  // The cotangent of row `at` of [T * B], or null.
  WRY_INLINE const T *out_row(int64_t at) const { return out_ct ? out_ct + at * s.hidden : nullptr; }
  WRY_INLINE void begin(T *dh, int64_t first, int64_t rows) const {
    begin_row(dh, h_last_ct ? h_last_ct + first * s.hidden : nullptr, rows * s.hidden);
  }
};
// `x` and `length`: numbers of these inputs. A step has so many gates.
template <typename T>
int backwards_of(const wry_call *call, const char *op, int x, int length, bool reverse, int64_t gates, Backwards<T> *b) {
  Sequence *s = &b->s;
  if (const int status = sequence_of(call, op, input(call, x), input(call, x + 1), input(call, length), reverse, s)) return status;
  b->out_ct = optional<T>(input(call, 0)), b->h_last_ct = optional<T>(input(call, 1));
  b->panels = packed<T>(call, s->hidden, gates * s->hidden, {data<T>(input(call, length - 3)), s->hidden, 1});
  return b->panels ? WRY_OK : no_memory(call, op, *s);
}

// ---- LSTM ---------------------------------------------------------------------------------------

// lstm(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length?) -> out, h_last, c_last, gates, cells
template <typename T>
int lstm(const wry_call *call) {
  Sequence s;
  const int status = sequence_of(call, "lstm", input(call, 0), input(call, 1), input(call, 7), attr_bool(call, 0), &s);
  if (status != WRY_OK) return status;
  const int64_t H = s.hidden;
  const T *h0 = data<T>(input(call, 1)), *c0 = data<T>(input(call, 2)), *weight = data<T>(input(call, 4));
  T *out = data<T>(output(call, 0)), *h_last = data<T>(output(call, 1)), *c_last = data<T>(output(call, 2));
  T *gates = data<T>(output(call, 3)), *cells = data<T>(output(call, 4));
  const T *bias = sum_of(call, data<T>(input(call, 5)), data<T>(input(call, 6)), 4 * H);
  const T *panels = packed<T>(call, 4 * H, H, {weight, 1, H});
  if (!bias || !panels ||
      !project(call, s, data<T>(input(call, 0)), data<T>(input(call, 3)), bias, 4 * H, gates, 4 * H))
    return no_memory(call, "lstm", s);
  lstm_steps<T>(call, s, h0, c0, h_last, c_last, out, gates, cells, [&](const T *h, int64_t rows, int64_t at) {
    multiply(rows, 4 * H, H, h, panels, gates + at * 4 * H, 4 * H, added<T>);
  });
  return WRY_OK;
}

// lstm_vjp(out_ct?, h_last_ct?, c_last_ct?, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length?, gates, cells) -> gates_ct,
//     h_ct, c_ct
template <typename T>
int lstm_vjp(const wry_call *call) {
  Backwards<T> b;
  if (const int status = backwards_of(call, "lstm_vjp", 3, 10, attr_bool(call, 0), 4, &b)) return status;
  const Sequence &s = b.s;
  const int64_t H = s.hidden;
  const T *c_last_ct = optional<T>(input(call, 2)), *c0 = data<T>(input(call, 5));
  const T *gates = data<T>(input(call, 11)), *cells = data<T>(input(call, 12));
  T *sum_ct = data<T>(output(call, 0)), *h_ct = data<T>(output(call, 1)), *c_ct = data<T>(output(call, 2));
  each_group<T>(call, s, s.time * 4 * H * H, h_ct, [&](int64_t first, int64_t rows, T *dh) {
    T *dc = c_ct + first * H;
    b.begin(dh, first, rows);
    begin_row(dc, c_last_ct ? c_last_ct + first * H : nullptr, rows * H);
    for (int64_t step = s.time - 1; step >= 0; --step) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      for (int64_t r = 0; r < rows; ++r) {
        T *d = sum_ct + (at + r) * 4 * H, *dh_row = dh + r * H, *dc_row = dc + r * H;
        if (!s.counts(t, first + r)) {
          zero_row(d, 4 * H);
          continue;
        }
        const T *g = gates + (at + r) * 4 * H, *cell = cells + (at + r) * H;
        const T *before = s.before(cells, c0, t, first + r);
        const T *o_ct = b.out_row(at + r);
        over<T>(H, [&](int64_t j, auto part) {
          const vec<T> in = get(g + j, part), forget = get(g + H + j, part);
          const vec<T> update = get(g + 2 * H + j, part), show = get(g + 3 * H + j, part);
          const vec<T> bent = hyperbolic_tangent(get(cell + j, part));
          vec<T> state = get((const T *)dh_row + j, part);
          if (o_ct) state += get(o_ct + j, part);
          const vec<T> value = get((const T *)dc_row + j, part) + state * show * (T(1) - bent * bent);
          put(d + j, value * update * in * (T(1) - in), part);
          put(d + H + j, value * get(before + j, part) * forget * (T(1) - forget), part);
          put(d + 2 * H + j, value * in * (T(1) - update * update), part);
          put(d + 3 * H + j, state * bent * show * (T(1) - show), part);
          put(dc_row + j, value * forget, part);
        });
        zero_row(dh_row, H);
      }
      // A row that does not count keeps its cotangent: what is added is 0.
      multiply(rows, H, 4 * H, (const T *)sum_ct + at * 4 * H, b.panels, dh, H, added<T>);
    }
  });
  return WRY_OK;
}

// ---- GRU ----------------------------------------------------------------------------------------

// gru(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?) -> out, h_last, gates
template <typename T>
int gru(const wry_call *call) {
  Sequence s;
  const int status = sequence_of(call, "gru", input(call, 0), input(call, 1), input(call, 6), attr_bool(call, 0), &s);
  if (status != WRY_OK) return status;
  const int64_t H = s.hidden;
  const T *h0 = data<T>(input(call, 1)), *weight = data<T>(input(call, 3));
  const T *bias_ih = data<T>(input(call, 4)), *bias_hh = data<T>(input(call, 5));
  T *out = data<T>(output(call, 0)), *h_last = data<T>(output(call, 1)), *gates = data<T>(output(call, 2));
  T *bias = sum_of(call, bias_ih, bias_hh, 3 * H);
  const T *panels = packed<T>(call, 2 * H, H, {weight, 1, H});
  const T *last_panels = packed<T>(call, H, H, {weight + 2 * H * H, 1, H});
  if (!bias || !panels || !last_panels) return no_memory(call, "gru", s);
  copy_row(bias + 2 * H, bias_ih + 2 * H, H);  // the other part of n meets r first
  if (!project(call, s, data<T>(input(call, 0)), data<T>(input(call, 2)), (const T *)bias, 3 * H, gates, 4 * H))
    return no_memory(call, "gru", s);
  const Start<T> last_start = {false, nullptr, bias_hh + 2 * H};
  gru_steps<T>(call, s, h0, h_last, out, gates, [&](const T *h, int64_t rows, int64_t at) {
    multiply(rows, 2 * H, H, h, panels, gates + at * 4 * H, 4 * H, added<T>);
    multiply(rows, H, H, h, last_panels, gates + at * 4 * H + 3 * H, 4 * H, last_start);
  });
  return WRY_OK;
}

// gru_vjp(out_ct?, h_last_ct?, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?, out, gates) -> input_ct, hidden_ct, h_ct
template <typename T>
int gru_vjp(const wry_call *call) {
  Backwards<T> b;
  if (const int status = backwards_of(call, "gru_vjp", 2, 8, attr_bool(call, 0), 3, &b)) return status;
  const Sequence &s = b.s;
  const int64_t H = s.hidden;
  const T *h0 = data<T>(input(call, 3)), *out = data<T>(input(call, 9)), *gates = data<T>(input(call, 10));
  T *input_ct = data<T>(output(call, 0)), *hidden_ct = data<T>(output(call, 1)), *h_ct = data<T>(output(call, 2));
  each_group<T>(call, s, s.time * 3 * H * H, h_ct, [&](int64_t first, int64_t rows, T *dh) {
    b.begin(dh, first, rows);
    for (int64_t step = s.time - 1; step >= 0; --step) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      for (int64_t r = 0; r < rows; ++r) {
        T *di = input_ct + (at + r) * 3 * H, *dp = hidden_ct + (at + r) * 3 * H, *dh_row = dh + r * H;
        if (!s.counts(t, first + r)) {
          zero_row(di, 3 * H), zero_row(dp, 3 * H);
          continue;
        }
        const T *g = gates + (at + r) * 4 * H, *before = s.before(out, h0, t, first + r);
        const T *o_ct = b.out_row(at + r);
        over<T>(H, [&](int64_t j, auto part) {
          const vec<T> reset = get(g + j, part), keep_old = get(g + H + j, part), update = get(g + 2 * H + j, part);
          const vec<T> hidden = get(g + 3 * H + j, part);
          vec<T> state = get((const T *)dh_row + j, part);
          if (o_ct) state += get(o_ct + j, part);
          const vec<T> update_ct = state * (T(1) - keep_old) * (T(1) - update * update);
          const vec<T> reset_ct = update_ct * hidden * reset * (T(1) - reset);
          const vec<T> keep_ct = state * (get(before + j, part) - update) * keep_old * (T(1) - keep_old);
          put(di + j, reset_ct, part), put(di + H + j, keep_ct, part), put(di + 2 * H + j, update_ct, part);
          put(dp + j, reset_ct, part), put(dp + H + j, keep_ct, part), put(dp + 2 * H + j, update_ct * reset, part);
          put(dh_row + j, state * keep_old, part);
        });
      }
      multiply(rows, H, 3 * H, (const T *)hidden_ct + at * 3 * H, b.panels, dh, H, added<T>);
    }
  });
  return WRY_OK;
}

// ---- simple RNN ---------------------------------------------------------------------------------

// simple_rnn(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?) -> out, h_last
template <typename T>
int simple_rnn(const wry_call *call) {
  Sequence s;
  const int status =
      sequence_of(call, "simple_rnn", input(call, 0), input(call, 1), input(call, 6), attr_bool(call, 1), &s);
  if (status != WRY_OK) return status;
  const int64_t H = s.hidden;
  const bool relu = attr_bool(call, 0);
  const T *h0 = data<T>(input(call, 1)), *weight = data<T>(input(call, 3));
  T *out = data<T>(output(call, 0)), *h_last = data<T>(output(call, 1));
  const T *bias = sum_of(call, data<T>(input(call, 4)), data<T>(input(call, 5)), H);
  const T *panels = packed<T>(call, H, H, {weight, 1, H});
  if (!bias || !panels || !project(call, s, data<T>(input(call, 0)), data<T>(input(call, 2)), bias, H, out, H))
    return no_memory(call, "simple_rnn", s);
  each_group<T>(call, s, s.time * H * H, h_last, [&](int64_t first, int64_t rows, T *h) {
    copy_row(h, h0 + first * H, rows * H);
    for (int64_t step = 0; step < s.time; ++step) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      multiply(rows, H, H, (const T *)h, panels, out + at * H, H, added<T>);
      for (int64_t r = 0; r < rows; ++r) {
        T *o = out + (at + r) * H, *h_row = h + r * H;
        if (!s.counts(t, first + r)) {
          zero_row(o, H);
          continue;
        }
        over<T>(H, [&](int64_t j, auto part) {
          const vec<T> sum = get((const T *)o + j, part);
          const vec<T> state = relu ? (sum > T(0) ? sum : vec<T>{}) : hyperbolic_tangent(sum);
          put(h_row + j, state, part), put(o + j, state, part);
        });
      }
    }
  });
  return WRY_OK;
}

// simple_rnn_vjp(out_ct?, h_last_ct?, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?, out) -> sum_ct, h_ct
template <typename T>
int simple_rnn_vjp(const wry_call *call) {
  Backwards<T> b;
  if (const int status = backwards_of(call, "simple_rnn_vjp", 2, 8, attr_bool(call, 1), 1, &b)) return status;
  const Sequence &s = b.s;
  const int64_t H = s.hidden;
  const bool relu = attr_bool(call, 0);
  const T *out = data<T>(input(call, 9));
  T *sum_ct = data<T>(output(call, 0)), *h_ct = data<T>(output(call, 1));
  each_group<T>(call, s, s.time * H * H, h_ct, [&](int64_t first, int64_t rows, T *dh) {
    b.begin(dh, first, rows);
    for (int64_t step = s.time - 1; step >= 0; --step) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      for (int64_t r = 0; r < rows; ++r) {
        T *d = sum_ct + (at + r) * H, *dh_row = dh + r * H;
        if (!s.counts(t, first + r)) {
          zero_row(d, H);
          continue;
        }
        const T *value = out + (at + r) * H;
        const T *o_ct = b.out_row(at + r);
        over<T>(H, [&](int64_t j, auto part) {
          const vec<T> v = get(value + j, part);
          vec<T> state = get((const T *)dh_row + j, part);
          if (o_ct) state += get(o_ct + j, part);
          put(d + j, relu ? (v > T(0) ? state : vec<T>{}) : state * (T(1) - v * v), part);
        });
        zero_row(dh_row, H);
      }
      multiply(rows, H, H, (const T *)sum_ct + at * H, b.panels, dh, H, added<T>);
    }
  });
  return WRY_OK;
}

// ---- 16 bits ------------------------------------------------------------------------------------

// The same call with floats in place of T.
template <typename T, int (*kernel)(const wry_call *)>
int in_float(const wry_call *call) {
  constexpr int most_inputs = 13, most_outputs = 5;
  wry_tensor wide_inputs[most_inputs], wide_outputs[most_outputs];
  const wry_tensor *inputs[most_inputs];
  wry_tensor *outputs[most_outputs];
  bool failed = false;
  int64_t values = 0;
  const auto widened = [&](const wry_tensor *t, wry_tensor *wide, const float *memory) {
    *wide = *t;
    wide->data = const_cast<float *>(memory);
    wide->dtype = WRY_FLOAT32;
    values += t->size;
  };
  for (int i = 0; i < call->n_inputs; ++i) {
    inputs[i] = input(call, i);
    if (!inputs[i] || inputs[i]->dtype != code_of<T>::value) continue;  // lengths stay what they are
    widened(inputs[i], wide_inputs + i, as_arithmetic<T>(call, inputs[i], &failed));
    inputs[i] = wide_inputs + i;
  }
  for (int i = 0; i < call->n_outputs; ++i) {
    widened(output(call, i), wide_outputs + i, workspace<float>(call, output(call, i)->size + 1));
    failed |= !wide_outputs[i].data;
    outputs[i] = wide_outputs + i;
  }
  if (failed) return fail_memory(call, "a recurrent layer of 16 bits", 4 * values);
  wry_call wide = *call;
  wide.inputs = inputs, wide.outputs = outputs;
  const int status = kernel(&wide);
  for (int i = 0; i < call->n_outputs && status == WRY_OK; ++i) deliver<T>(call, data<float>(outputs[i]), output(call, i));
  return status;
}

#define RECURRENT_ROWS(op, kernel)                                                                     \
  WRY_ROW(op, float, WRY_WANTS_CONTIGUOUS, kernel), WRY_ROW(op, double, WRY_WANTS_CONTIGUOUS, kernel), \
      {op, WRY_FLOAT16, WRY_WANTS_CONTIGUOUS, in_float<float16, kernel<float>>, nullptr},              \
  { op, WRY_BFLOAT16, WRY_WANTS_CONTIGUOUS, in_float<bfloat16, kernel<float>>, nullptr }
#include <wherry/kernels/rows/recurrent.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(recurrent, WRY_NAMESPACE::table)
