// Recurrent layers: one direction of one layer over a whole sequence, and the way back through time.
//
// Inputs are contiguous: x [T, B, I], states [B, H], weights [gates * H, I] and [gates * H, H]. The product with x is one for all
// steps. A step is one launch: a block has 16 sequences and 16 elements of the state, computes the products of the recurrent weight
// with the state before (on the way back: with the cotangents of the step after) from strips in shared memory, and goes on
// with the gates, which need nothing else. 16-bit floats are float32 from the first step to the last, and are rounded where they
// leave.
#include "contraction.h"
#include "pointwise.h"

namespace wherry {
namespace cuda {
namespace {

template <typename T>
WRY_GPU T logistic(T x) { return T(1) / (T(1) + exp(-x)); }

struct Sequence {
  int64_t time, batch, width, hidden;
  const void *length;  // of each sequence, or null
  int32_t length_dtype;
  bool reverse;
  // Which time the n-th step has.
  int64_t at(int64_t step) const { return reverse ? time - 1 - step : step; }
  WRY_GPU int64_t length_of(int64_t b) const {
    if (!length) return time;
    const int64_t n = length_dtype == WRY_INT64 ? static_cast<const int64_t *>(length)[b] : static_cast<const int32_t *>(length)[b];
    return n < 0 ? 0 : n > time ? time : n;
  }
  // Which row of [T, B, H] holds the state with which step t of sequence b begins; -1: the first state does.
  WRY_GPU int64_t before(int64_t t, int64_t b) const {
    const bool begins = reverse ? t + 1 == length_of(b) : t == 0;
    return begins ? -1 : (reverse ? t + 1 : t - 1) * batch + b;
  }
};

template <typename I>
__global__ void __launch_bounds__(block_size) check_lengths(int64_t batch, int64_t time, const I *length, Report *report, int32_t op) {
  for WRY_EACH (b, batch)
    if (int64_t(length[b]) < 0 || int64_t(length[b]) > time) raise(report, LENGTH_OUT_OF_RANGE, op, int64_t(length[b]), time, b);
}
int sequence_of(const wry_call *call, const char *op, const wry_tensor *x, const wry_tensor *h, const wry_tensor *length, bool reverse, Sequence *s) {
  *s = {x->shape[0], x->shape[1], x->shape[2], h->shape[1], nullptr, 0, reverse};
  if (!length || s->batch == 0) return WRY_OK;
  s->length = length->data, s->length_dtype = length->dtype;
  int32_t number;
  Report *report = arm(call, op, &number);
  const int threads = threads_for(s->batch);
  if (length->dtype == WRY_INT64)
    return check(call, wry_launch(check_lengths<int64_t>, blocks_for(s->batch, threads), dim3(threads), 0, stream(call), s->batch, s->time,
                                  data<int64_t>(length), report, number));
  return check(call, wry_launch(check_lengths<int32_t>, blocks_for(s->batch, threads), dim3(threads), 0, stream(call), s->batch, s->time, data<int32_t>(length),
                                report, number));
}

template <typename T>
T *optional(const wry_tensor *t) { return t ? data<T>(t) : nullptr; }

// ---- a step ---------------------------------------------------------------------------------------

constexpr int edge = 16;
inline dim3 tiles_of(const Sequence &s) { return dim3{unsigned((s.hidden + edge - 1) / edge), unsigned((s.batch + edge - 1) / edge)}; }

// sums[g] = <row b of state, row g * H + j of weight [G * H, H]>
template <int G, typename T>
WRY_GPU void dot_gates(const Sequence &s, const T *state, const T *weight, T (&sums)[G]) {
  WRY_SHARED(T, states, edge *(edge + 1));
  WRY_SHARED(T, weights, G *edge *(edge + 1));
  const int x = threadIdx.x % edge, y = threadIdx.x / edge;
  const int64_t j = blockIdx.x * int64_t(edge), b = blockIdx.y * int64_t(edge) + y;
#pragma unroll
  for (int g = 0; g < G; ++g) sums[g] = T(0);
  for (int64_t k0 = 0; k0 < s.hidden; k0 += edge) {
    __syncthreads();
    states[y * (edge + 1) + x] = b < s.batch && k0 + x < s.hidden ? state[b * s.hidden + k0 + x] : T(0);
#pragma unroll
    for (int g = 0; g < G; ++g)
      weights[(g * edge + y) * (edge + 1) + x] = j + y < s.hidden && k0 + x < s.hidden ? weight[(g * s.hidden + j + y) * s.hidden + k0 + x] : T(0);
    __syncthreads();
    for (int k = 0; k < edge && k0 + k < s.hidden; ++k)
#pragma unroll
      for (int g = 0; g < G; ++g) sums[g] += states[y * (edge + 1) + k] * weights[(g * edge + x) * (edge + 1) + k];
  }
}
// <row b of ct [B, n], column j of weight [n, H]>
template <typename T>
WRY_GPU T dot_column(const Sequence &s, int64_t n, const T *ct, const T *weight) {
  WRY_SHARED(T, cts, edge *(edge + 1));
  WRY_SHARED(T, weights, edge *(edge + 1));
  const int x = threadIdx.x % edge, y = threadIdx.x / edge;
  const int64_t j = blockIdx.x * int64_t(edge) + x, b = blockIdx.y * int64_t(edge) + y;
  T sum = 0;
  for (int64_t k0 = 0; k0 < n; k0 += edge) {
    __syncthreads();
    cts[y * (edge + 1) + x] = b < s.batch && k0 + x < n ? ct[b * n + k0 + x] : T(0);
    weights[y * (edge + 1) + x] = j < s.hidden && k0 + y < n ? weight[(k0 + y) * s.hidden + j] : T(0);
    __syncthreads();
    for (int k = 0; k < edge && k0 + k < n; ++k) sum += cts[y * (edge + 1) + k] * weights[k * (edge + 1) + x];
  }
  return sum;
}

// A cell's forward step has `gates`, and apply(s, t, b, j, counts, sums, before) which gives the element of the next state.
template <typename C, typename T>
__global__ void __launch_bounds__(edge *edge) forward_step(Sequence s, C cell, int64_t t, const T *weight, const T *before, T *after) {
  T sums[C::gates];
  dot_gates<C::gates>(s, before, weight, sums);
  const int64_t j = blockIdx.x * int64_t(edge) + threadIdx.x % edge, b = blockIdx.y * int64_t(edge) + threadIdx.x / edge;
  if (j >= s.hidden || b >= s.batch) return;
  after[b * s.hidden + j] = cell.apply(s, t, b, j, t < s.length_of(b), sums, before[b * s.hidden + j]);
}
template <typename T, typename C>
int forward(const wry_call *call, const char *op, const Sequence &s, const C &cell, const T *weight, const T *first, T *last) {
  const int64_t size = s.batch * s.hidden;
  if (size == 0) return WRY_OK;
  if (s.time == 0) return check(call, cudaMemcpyAsync(last, first, size_t(size) * sizeof(T), cudaMemcpyDeviceToDevice, stream(call)));
  T *turns = workspace<T>(call, 2 * size);
  if (!turns) return fail_memory(call, op, 2 * size * int64_t(sizeof(T)));
  const T *before = first;
  for (int64_t step = 0; step < s.time; ++step) {
    T *after = step + 1 == s.time ? last : turns + step % 2 * size;
    WRY_TRY(wry_launch(forward_step<C, T>, tiles_of(s), dim3(edge * edge), 0, stream(call), s, cell, s.at(step), weight, before, after));
    before = after;
  }
  return WRY_OK;
}

// A cell's step back has `gates` of the recurrent weight, and apply(s, t, b, j, counts, state_ct) which writes the gates' cotangents and gives
// what of state_ct goes past the step.
template <typename C, typename T>
__global__ void __launch_bounds__(edge *edge) backward_step(Sequence s, C cell, int64_t t, const T *weight, const T *after, const T *last_ct, T *past) {
  // `after`: the cotangents of the gates of the step after this one; null at the end of the sequence.
  const T sum = after ? dot_column(s, C::gates * s.hidden, after, weight) : T(0);
  const int64_t j = blockIdx.x * int64_t(edge) + threadIdx.x % edge, b = blockIdx.y * int64_t(edge) + threadIdx.x / edge;
  if (j >= s.hidden || b >= s.batch) return;
  const int64_t at = b * s.hidden + j;
  const T state_ct = after ? past[at] + sum : last_ct ? last_ct[at] : T(0);
  past[at] = t < 0 ? state_ct : cell.apply(s, t, b, j, t < s.length_of(b), state_ct);
}
// sum_ct: [T, B, gates * H]; first_ct takes the cotangent of the first state, and on the way what goes past a step.
template <typename T, typename C>
int backward(const wry_call *call, const Sequence &s, const C &cell, const T *weight, const T *last_ct, const T *sum_ct, T *first_ct) {
  if (s.batch * s.hidden == 0) return WRY_OK;
  const T *after = nullptr;
  for (int64_t step = s.time - 1; step >= -1; --step) {
    const int64_t t = step < 0 ? -1 : s.at(step);
    WRY_TRY(wry_launch(backward_step<C, T>, tiles_of(s), dim3(edge * edge), 0, stream(call), s, cell, t, weight, after, last_ct, first_ct));
    if (t >= 0) after = sum_ct + t * s.batch * C::gates * s.hidden;
  }
  return WRY_OK;
}

// ---- LSTM -----------------------------------------------------------------------------------------

// lstm(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length?) -> out, h_last, c_last, gates, cells
template <typename T>
struct Lstm {
  static constexpr int gates = 4;
  const T *bias_ih, *bias_hh;
  T *out, *c, *values, *cells;
  WRY_GPU T apply(const Sequence &s, int64_t t, int64_t b, int64_t j, bool counts, const T (&sums)[4], T before) const {
    const int64_t H = s.hidden, at = (t * s.batch + b) * H + j;
    T *g = values + (t * s.batch + b) * 4 * H + j;
    if (!counts) {
      out[at] = cells[at] = g[0] = g[H] = g[2 * H] = g[3 * H] = T(0);
      return before;
    }
    const T in = logistic(g[0] + (bias_ih[j] + bias_hh[j]) + sums[0]), forget = logistic(g[H] + (bias_ih[H + j] + bias_hh[H + j]) + sums[1]);
    const T update = tanh(g[2 * H] + (bias_ih[2 * H + j] + bias_hh[2 * H + j]) + sums[2]);
    const T show = logistic(g[3 * H] + (bias_ih[3 * H + j] + bias_hh[3 * H + j]) + sums[3]);
    const T value = forget * c[b * H + j] + in * update, state = show * tanh(value);
    g[0] = in, g[H] = forget, g[2 * H] = update, g[3 * H] = show;
    c[b * H + j] = cells[at] = value;
    return out[at] = state;
  }
};
template <typename T>
int copy_of(const wry_call *call, T *to, const T *from, int64_t n) {
  if (n == 0) return WRY_OK;
  return check(call, from ? cudaMemcpyAsync(to, from, size_t(n) * sizeof(T), cudaMemcpyDeviceToDevice, stream(call))
                          : cudaMemsetAsync(to, 0, size_t(n) * sizeof(T), stream(call)));
}
template <typename T>
int lstm(const wry_call *call) {
  Sequence s;
  if (const int status = sequence_of(call, "lstm", input(call, 0), input(call, 1), input(call, 7), attr_bool(call, 0), &s)) return status;
  const Lstm<T> cell = {data<T>(input(call, 5)), data<T>(input(call, 6)), data<T>(output(call, 0)),
                        data<T>(output(call, 2)), data<T>(output(call, 3)), data<T>(output(call, 4))};
  if (const int status = copy_of<T>(call, cell.c, data<T>(input(call, 2)), s.batch * s.hidden)) return status;
  if (const int status = multiply_rows(call, s.time * s.batch, 4 * s.hidden, s.width, data<T>(input(call, 0)), data<T>(input(call, 3)), cell.values)) return status;
  return forward<T>(call, "lstm", s, cell, data<T>(input(call, 4)), data<T>(input(call, 1)), data<T>(output(call, 1)));
}

// lstm_vjp(out_ct?, h_last_ct?, c_last_ct?, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length?, gates, cells) -> gates_ct, h_ct, c_ct
template <typename T>
struct LstmVjp {
  static constexpr int gates = 4;
  const T *out_ct, *c0, *values, *cells;
  T *gates_ct, *c_ct;
  WRY_GPU T apply(const Sequence &s, int64_t t, int64_t b, int64_t j, bool counts, T state) const {
    const int64_t H = s.hidden, at = (t * s.batch + b) * H + j;
    T *d = gates_ct + (t * s.batch + b) * 4 * H + j;
    if (!counts) {
      d[0] = d[H] = d[2 * H] = d[3 * H] = T(0);
      return state;
    }
    const T *g = values + (t * s.batch + b) * 4 * H + j;
    const int64_t row = s.before(t, b);
    const T in = g[0], forget = g[H], update = g[2 * H], show = g[3 * H], bent = tanh(cells[at]), before = row < 0 ? c0[b * H + j] : cells[row * H + j];
    if (out_ct) state += out_ct[at];
    const T value = c_ct[b * H + j] + state * show * (T(1) - bent * bent);
    d[0] = value * update * in * (T(1) - in);
    d[H] = value * before * forget * (T(1) - forget);
    d[2 * H] = value * in * (T(1) - update * update);
    d[3 * H] = state * bent * show * (T(1) - show);
    c_ct[b * H + j] = value * forget;
    return T(0);
  }
};
template <typename T>
int lstm_vjp(const wry_call *call) {
  Sequence s;
  if (const int status = sequence_of(call, "lstm_vjp", input(call, 3), input(call, 4), input(call, 10), attr_bool(call, 0), &s)) return status;
  const LstmVjp<T> cell = {optional<T>(input(call, 0)), data<T>(input(call, 5)), data<T>(input(call, 11)), data<T>(input(call, 12)),
                           data<T>(output(call, 0)), data<T>(output(call, 2))};
  if (const int status = copy_of<T>(call, cell.c_ct, optional<T>(input(call, 2)), s.batch * s.hidden)) return status;
  return backward<T>(call, s, cell, data<T>(input(call, 7)), optional<T>(input(call, 1)), cell.gates_ct, data<T>(output(call, 1)));
}

// ---- GRU ------------------------------------------------------------------------------------------

// gru(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?) -> out, h_last, gates: reset, keep, update, and the part of update that meets reset
template <typename T>
struct Gru {
  static constexpr int gates = 3;
  const T *bias_ih, *bias_hh, *projected;
  T *out, *values;
  WRY_GPU T apply(const Sequence &s, int64_t t, int64_t b, int64_t j, bool counts, const T (&sums)[3], T before) const {
    const int64_t H = s.hidden, row = t * s.batch + b;
    T *g = values + row * 4 * H + j;
    const T *x = projected + row * 3 * H + j;
    if (!counts) {
      out[row * H + j] = g[0] = g[H] = g[2 * H] = g[3 * H] = T(0);
      return before;
    }
    const T reset = logistic(x[0] + (bias_ih[j] + bias_hh[j]) + sums[0]), keep = logistic(x[H] + (bias_ih[H + j] + bias_hh[H + j]) + sums[1]);
    const T hidden = bias_hh[2 * H + j] + sums[2], update = tanh(x[2 * H] + bias_ih[2 * H + j] + reset * hidden);
    g[0] = reset, g[H] = keep, g[2 * H] = update, g[3 * H] = hidden;
    return out[row * H + j] = (before - update) * keep + update;
  }
};
template <typename T>
int gru(const wry_call *call) {
  Sequence s;
  if (const int status = sequence_of(call, "gru", input(call, 0), input(call, 1), input(call, 6), attr_bool(call, 0), &s)) return status;
  const int64_t n = s.time * s.batch * 3 * s.hidden;
  T *projected = workspace<T>(call, n + 1);
  if (!projected) return fail_memory(call, "gru", n * int64_t(sizeof(T)));
  if (const int status = multiply_rows(call, s.time * s.batch, 3 * s.hidden, s.width, data<T>(input(call, 0)), data<T>(input(call, 2)), projected)) return status;
  const Gru<T> cell = {data<T>(input(call, 4)), data<T>(input(call, 5)), projected, data<T>(output(call, 0)), data<T>(output(call, 2))};
  return forward<T>(call, "gru", s, cell, data<T>(input(call, 3)), data<T>(input(call, 1)), data<T>(output(call, 1)));
}

// gru_vjp(out_ct?, h_last_ct?, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?, out, gates) -> input_ct, hidden_ct, h_ct
template <typename T>
struct GruVjp {
  static constexpr int gates = 3;
  const T *out_ct, *h0, *out, *values;
  T *input_ct, *hidden_ct;
  WRY_GPU T apply(const Sequence &s, int64_t t, int64_t b, int64_t j, bool counts, T state) const {
    const int64_t H = s.hidden, at = t * s.batch + b;
    T *di = input_ct + at * 3 * H + j, *dp = hidden_ct + at * 3 * H + j;
    if (!counts) {
      di[0] = di[H] = di[2 * H] = dp[0] = dp[H] = dp[2 * H] = T(0);
      return state;
    }
    const T *g = values + at * 4 * H + j;
    const int64_t row = s.before(t, b);
    const T reset = g[0], keep = g[H], update = g[2 * H], hidden = g[3 * H], before = row < 0 ? h0[b * H + j] : out[row * H + j];
    if (out_ct) state += out_ct[at * H + j];
    const T update_ct = state * (T(1) - keep) * (T(1) - update * update);
    di[0] = dp[0] = update_ct * hidden * reset * (T(1) - reset);
    di[H] = dp[H] = state * (before - update) * keep * (T(1) - keep);
    di[2 * H] = update_ct, dp[2 * H] = update_ct * reset;
    return state * keep;
  }
};
template <typename T>
int gru_vjp(const wry_call *call) {
  Sequence s;
  if (const int status = sequence_of(call, "gru_vjp", input(call, 2), input(call, 3), input(call, 8), attr_bool(call, 0), &s)) return status;
  const GruVjp<T> cell = {optional<T>(input(call, 0)), data<T>(input(call, 3)), data<T>(input(call, 9)), data<T>(input(call, 10)),
                          data<T>(output(call, 0)), data<T>(output(call, 1))};
  return backward<T>(call, s, cell, data<T>(input(call, 5)), optional<T>(input(call, 1)), cell.hidden_ct, data<T>(output(call, 2)));
}

// ---- simple RNN -----------------------------------------------------------------------------------

// simple_rnn(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?) -> out, h_last
template <typename T>
struct Simple {
  static constexpr int gates = 1;
  bool relu;
  const T *bias_ih, *bias_hh;
  T *out;
  WRY_GPU T apply(const Sequence &s, int64_t t, int64_t b, int64_t j, bool counts, const T (&sums)[1], T before) const {
    const int64_t at = (t * s.batch + b) * s.hidden + j;
    if (!counts) {
      out[at] = T(0);
      return before;
    }
    const T sum = out[at] + (bias_ih[j] + bias_hh[j]) + sums[0];
    return out[at] = relu ? (sum > T(0) ? sum : T(0)) : tanh(sum);
  }
};
template <typename T>
int simple_rnn(const wry_call *call) {
  Sequence s;
  if (const int status = sequence_of(call, "simple_rnn", input(call, 0), input(call, 1), input(call, 6), attr_bool(call, 1), &s)) return status;
  const Simple<T> cell = {attr_bool(call, 0), data<T>(input(call, 4)), data<T>(input(call, 5)), data<T>(output(call, 0))};
  if (const int status = multiply_rows(call, s.time * s.batch, s.hidden, s.width, data<T>(input(call, 0)), data<T>(input(call, 2)), cell.out)) return status;
  return forward<T>(call, "simple_rnn", s, cell, data<T>(input(call, 3)), data<T>(input(call, 1)), data<T>(output(call, 1)));
}

// simple_rnn_vjp(out_ct?, h_last_ct?, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?, out) -> sum_ct, h_ct
template <typename T>
struct SimpleVjp {
  static constexpr int gates = 1;
  bool relu;
  const T *out_ct, *out;
  T *sum_ct;
  WRY_GPU T apply(const Sequence &s, int64_t t, int64_t b, int64_t j, bool counts, T state) const {
    const int64_t at = (t * s.batch + b) * s.hidden + j;
    if (!counts) {
      sum_ct[at] = T(0);
      return state;
    }
    const T value = out[at];
    if (out_ct) state += out_ct[at];
    sum_ct[at] = relu ? (value > T(0) ? state : T(0)) : state * (T(1) - value * value);
    return T(0);
  }
};
template <typename T>
int simple_rnn_vjp(const wry_call *call) {
  Sequence s;
  if (const int status = sequence_of(call, "simple_rnn_vjp", input(call, 2), input(call, 3), input(call, 8), attr_bool(call, 1), &s)) return status;
  const SimpleVjp<T> cell = {attr_bool(call, 0), optional<T>(input(call, 0)), data<T>(input(call, 9)), data<T>(output(call, 0))};
  return backward<T>(call, s, cell, data<T>(input(call, 5)), optional<T>(input(call, 1)), cell.sum_ct, data<T>(output(call, 1)));
}

// ---- 16 bits --------------------------------------------------------------------------------------

// The same call with floats in place of T.
template <typename T, int (*kernel)(const wry_call *)>
int in_float(const wry_call *call) {
  constexpr int most_inputs = 13, most_outputs = 5;
  wry_tensor wide_inputs[most_inputs], wide_outputs[most_outputs];
  const wry_tensor *inputs[most_inputs];
  wry_tensor *outputs[most_outputs];
  const auto widened = [&](const wry_tensor *t, wry_tensor *wide) {
    *wide = *t;
    wide->data = workspace<float>(call, t->size + 1);
    wide->dtype = WRY_FLOAT32;
    return wide->data != nullptr;
  };
  for (int i = 0; i < call->n_inputs; ++i) {
    inputs[i] = input(call, i);
    if (!inputs[i] || inputs[i]->dtype != code_of<T>::value) continue;  // lengths stay what they are
    if (!widened(inputs[i], wide_inputs + i)) return fail_memory(call, "a recurrent layer of 16 bits", 4 * inputs[i]->size);
    if (const int status = pointwise1<float, T>(call, wide_inputs + i, inputs[i], Identity())) return status;
    inputs[i] = wide_inputs + i;
  }
  for (int i = 0; i < call->n_outputs; ++i) {
    if (!widened(output(call, i), wide_outputs + i)) return fail_memory(call, "a recurrent layer of 16 bits", 4 * output(call, i)->size);
    outputs[i] = wide_outputs + i;
  }
  wry_call wide = *call;
  wide.inputs = inputs, wide.outputs = outputs;
  int status = kernel(&wide);
  for (int i = 0; i < call->n_outputs && status == WRY_OK; ++i) status = pointwise1<T, float>(call, output(call, i), outputs[i], Identity());
  return status;
}

#ifdef WRY_FEW_DTYPES
#define RECURRENT_ROWS(op, kernel)                                                                     \
  WRY_ROW(op, float, WRY_WANTS_CONTIGUOUS, kernel), WRY_ROW(op, double, WRY_WANTS_CONTIGUOUS, kernel), \
  { op, WRY_FLOAT16, WRY_WANTS_CONTIGUOUS, in_float<half, kernel<float>>, nullptr }
#else
#define RECURRENT_ROWS(op, kernel)                                                                     \
  WRY_ROW(op, float, WRY_WANTS_CONTIGUOUS, kernel), WRY_ROW(op, double, WRY_WANTS_CONTIGUOUS, kernel), \
      {op, WRY_FLOAT16, WRY_WANTS_CONTIGUOUS, in_float<half, kernel<float>>, nullptr},                 \
  { op, WRY_BFLOAT16, WRY_WANTS_CONTIGUOUS, in_float<bfloat16, kernel<float>>, nullptr }
#endif
#include <wherry/kernels/rows/recurrent.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(recurrent, wherry::cuda::table)
