// Recurrent layers: one direction of one layer over a whole sequence, and the way back through time.
//
// Inputs are contiguous: x [T, B, I], states [B, H], weights [gates * H, I] and [gates * H, H]. The
// product with x is one for all steps. What remains of a step is a product of the state with the
// recurrent weight, which is packed once, and a pass over the gates. Sequences of a batch do not
// depend on each other, so each thread takes some of them through all steps without waiting for the
// others; an element's sum has the same order whichever thread computes it.
//
// Sums, cells and what the gates are computed with are float32 where values have 16 bits. Each is rounded where it leaves, and a state
// before its product too where that is one of pairs (recurrent_words.h). Not done: a second thread for a single sequence.
#include "recurrent_words.h"

namespace WRY_NAMESPACE {
namespace {

// ---- what all of them share ---------------------------------------------------------------------

// Whether all sequences begin with a state of zeros, as those of a layer mostly do, and go on: then the products of the first step are left out.
template <typename T>
bool begins_with_zeros(const Sequence &s, const T *h0) {
  const int64_t n = s.batch * s.hidden;
  static const T zero = T(0.0f);
  return s.time > 1 && n > 0 && memcmp(h0, &zero, sizeof(T)) == 0 && memcmp(h0, h0 + 1, size_t(n - 1) * sizeof(T)) == 0;
}

// Copies a cotangent that may be absent.
template <typename W, typename T>
WRY_INLINE void begin_row(W *to, const T *from, int64_t n) {
  if (from) copy_values(to, from, n);
  else zero_row(to, n);
}

template <typename T>
const T *optional(const wry_tensor *t) { return t ? data<T>(t) : nullptr; }

// Where a result is computed: where it is to lie, or as floats elsewhere (`n` of them).
template <typename T>
Word<T> *room_for(const wry_call *call, const wry_tensor *out, int64_t n) {
  if constexpr (is_wide<T>) return data<T>(out);
  else return workspace<float>(call, n + 1);
}

// Where sums are computed that lie, rounded, at `gates`: there, or as floats elsewhere (`n` of them).
template <typename T>
Word<T> *sums_of(const wry_call *call, T *gates, int64_t n) {
  if constexpr (is_wide<T>) return gates;
  else return workspace<float>(call, n + 1);
}

// Units in a block of panels: of those that wherry_tensor.ops.recurrent packed, on any processor, and of those that are packed here.
template <typename T, bool packed>
inline constexpr int block_of_units = packed ? 16 : lanes<Word<T>>;
template <typename T, bool packed, int G>
const Word<T> *panels_of(const wry_call *call, int64_t H, int64_t words, const wry_tensor *weight) {
  if constexpr (packed) return data<T>(weight);
  else {
    const Word<T> *rows = as_words<T>(call, weight, H);
    return rows ? packed_units<G>(call, H, words, rows) : nullptr;
  }
}

// a + b as arithmetic has them, or a where b is null; null when memory is out.
template <typename T>
Word<T> *bias_of(const wry_call *call, const wry_tensor *a, const wry_tensor *b) {
  Word<T> *sum = workspace<Word<T>>(call, max_of<int64_t>(a->size, 1));
  for (int64_t i = 0; sum && i < a->size; ++i) sum[i] = Word<T>(data<T>(a)[i]) + (b ? Word<T>(data<T>(b)[i]) : Word<T>(0));
  return sum;
}

// sums[T * B, n] = x W' + bias for all steps, in rows that lie ld apart.
template <typename T>
bool project(const wry_call *call, const Sequence &s, const wry_tensor *x, const wry_tensor *weight, const Word<T> *bias, int64_t n,
             Word<T> *sums, int64_t ld) {
  const int64_t rows = s.time * s.batch;
  Start<Word<T>> start;
  start.per_column = bias;
  if constexpr (is_wide<T>) {
    GemmScratch<T> scratch;
    if (!gemm_scratch(call, rows, n, s.width, &scratch)) return false;
    gemm<T>(call, rows, n, s.width, {data<T>(x), s.width, 1}, {data<T>(weight), 1, s.width}, sums, ld, start, scratch);
  } else {
    const int64_t words = words_of<T>(s.width);
    const float *left = as_words<T>(call, x, s.width), *right = as_words<T>(call, weight, s.width);
    const float *panels = left && right ? packed_columns(call, n, words, right) : nullptr;
    if (!panels) return false;
    constexpr int64_t stretch = 64;
    parallel_for(call, (rows + stretch - 1) / stretch, max_of<int64_t>(1, 200000 / (stretch * max_of<int64_t>(words * n, 1))),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin * stretch; i < min_of(rows, end * stretch); i += stretch)
                     multiply_words<T>(min_of(rows - i, stretch), n, words, left + i * words, words, panels, sums + i * ld, ld, start);
                 });
  }
  return true;
}

// The states of a share of the sequences as products read them, of this step and of the next.
template <typename T>
struct States {
  int64_t words;
  Word<T> *now, *next;
  WRY_INLINE Held<T> *row(int64_t r) const { return reinterpret_cast<Held<T> *>(now + r * words); }
  WRY_INLINE Held<T> *next_row(int64_t r) const { return reinterpret_cast<Held<T> *>(next + r * words); }
  WRY_INLINE void turn() {
    Word<T> *const last = now;
    now = next, next = last;
  }
};
// Of all sequences, with room for both.
template <typename T>
struct AllStates {
  int64_t words;
  Word<T> *memory;
  AllStates(const wry_call *call, const Sequence &s)
      : words(words_of<T>(s.hidden)), memory(workspace<Word<T>>(call, max_of<int64_t>(2 * s.batch * words, 1))) {
    if (memory) memset(memory, 0, size_t(2 * s.batch * words) * sizeof(Word<T>));  // what follows an odd number of values
  }
  States<T> of(const Sequence &s, const T *h0, int64_t first, int64_t rows) const {
    Word<T> *const at = memory + 2 * first * words;
    const States<T> states = {words, at, at + rows * words};
    for (int64_t r = 0; r < rows; ++r) copy_values(states.row(r), h0 + (first + r) * s.hidden, s.hidden);
    return states;
  }
};

// The cotangents of gates, as products read them: where they are to lie, or once more.
template <typename T>
struct Left {
  int64_t words;
  Word<T> *memory;
  Left(const wry_call *call, const Sequence &s, int64_t n) : words(words_of<T>(n)), memory(nullptr) {
    if constexpr (!is_wide<T>) {
      memory = workspace<Word<T>>(call, s.batch * words + 1);
      if (memory) memset(memory, 0, size_t(s.batch * words) * sizeof(Word<T>));
    }
  }
  // Of the sequence b, whose row of [T, B, n] lies at `out`.
  WRY_INLINE Held<T> *row(T *out, int64_t b) const {
    if constexpr (is_wide<T>) return out;
    else return reinterpret_cast<Held<T> *>(memory + b * words);
  }
  WRY_INLINE const Word<T> *rows(const T *out, int64_t first) const {
    if constexpr (is_wide<T>) return out;
    else return memory + first * words;
  }
};
// A value for both.
template <typename T, typename Part_>
WRY_INLINE void leave_twice(T *to, Held<T> *left, vec<T> v, Part_ part) {
  leave(to, v, part);
  if constexpr (!is_wide<T>) leave(left, v, part);
}

// What the gradients begin with: (out_ct?, h_last_ct?, ..., x, h, ...) and the weight of the states, packed for their cotangents.
template <typename T>
struct Backwards {
  Sequence s;
  const T *out_ct, *h_last_ct;
  const Word<T> *panels;
  Word<T> *h_ct;  // [B, H]

  // The cotangent of row `at` of [T * B], or null.
  WRY_INLINE const T *out_row(int64_t at) const { return out_ct ? out_ct + at * s.hidden : nullptr; }
  WRY_INLINE Word<T> *begin(int64_t first, int64_t rows) const {
    begin_row(h_ct + first * s.hidden, h_last_ct ? h_last_ct + first * s.hidden : nullptr, rows * s.hidden);
    return h_ct + first * s.hidden;
  }
  // Adds the product of cotangents of gates.
  WRY_INLINE void add(int64_t rows, const Word<T> *left, int64_t words, Word<T> *dh) const {
    multiply_words<T>(rows, s.hidden, words, left, words, panels, dh, s.hidden, added<Word<T>>);
  }
};
// `x` and `length`: numbers of these inputs; `h_ct`: of an output. A step has so many gates.
template <typename T>
int backwards_of(const wry_call *call, const char *op, int x, int length, int h_ct, bool reverse, int64_t gates, Backwards<T> *b) {
  Sequence *s = &b->s;
  if (const int status = sequence_of(call, op, input(call, x), input(call, x + 1), input(call, length), reverse, s)) return status;
  b->out_ct = optional<T>(input(call, 0)), b->h_last_ct = optional<T>(input(call, 1));
  b->panels = packed_rows<T>(call, s->hidden, gates * s->hidden, input(call, length - 3));
  b->h_ct = room_for<T>(call, output(call, h_ct), s->batch * s->hidden);
  return b->panels && b->h_ct ? WRY_OK : no_memory(call, op, *s);
}
// Rounds [B, H] that was computed elsewhere.
template <typename T>
void deliver_rows(const Sequence &s, const Word<T> *from, const wry_tensor *out, int64_t first, int64_t rows) {
  if constexpr (!is_wide<T>) copy_values(data<T>(out) + first * s.hidden, from + first * s.hidden, rows * s.hidden);
}

// ---- LSTM ---------------------------------------------------------------------------------------

// lstm(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length?) -> out, h_last, c_last, gates, cells
// packed_lstm, whose weight_hh lies as panels [unit blocks, H, gates, 16]: the same without gates and cells.
template <typename T, bool packed = false>
int lstm(const wry_call *call) {
  constexpr int B = block_of_units<T, packed>;
  const char *op = packed ? "packed_lstm" : "lstm";
  using W = Word<T>;
  constexpr int L = lanes<W>;
  Sequence s;
  const int status = sequence_of(call, op, input(call, 0), input(call, 1), input(call, 7), attr_bool(call, 0), &s);
  if (status != WRY_OK) return status;
  const int64_t H = s.hidden;
  const T *h0 = data<T>(input(call, 1)), *c0 = data<T>(input(call, 2));
  T *out = data<T>(output(call, 0)), *h_last = data<T>(output(call, 1));
  const int64_t places = s.time * s.batch * H;
  T *gates, *cells = nullptr;  // which are kept for gradients alone
  if constexpr (packed) gates = workspace<T>(call, places * 4 + 1);
  else gates = data<T>(output(call, 3)), cells = data<T>(output(call, 4));
  const W *bias = bias_of<T>(call, input(call, 5), input(call, 6));
  const AllStates<T> all(call, s);
  const W *panels = panels_of<T, packed, 4>(call, H, all.words, input(call, 4));
  W *sums = sums_of<T>(call, gates, places * 4), *c_last = room_for<T>(call, output(call, 2), s.batch * H);
  if (!bias || !panels || !all.memory || !gates || !sums || !c_last) return no_memory(call, op, s);
  if (!project<T>(call, s, input(call, 0), input(call, 3), bias, 4 * H, sums, 4 * H)) return no_memory(call, op, s);
  const bool zeros = begins_with_zeros(s, h0);
  each_share(call, s, s.time * 4 * H * H, [&](int64_t first, int64_t rows) {
    alignas(64) W products[most_share * 4 * L];
    States<T> states = all.of(s, h0, first, rows);
    W *c = c_last + first * H;
    copy_values(c, c0 + first * H, rows * H);
    for (int64_t step = 0; step < s.time; ++step, states.turn()) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      const auto ask = [&](int64_t j) {
        for (int64_t r = 0; r < rows; ++r) {
          for (int k = 0; k < 4; ++k) __builtin_prefetch(sums + ((at + r) * 4 + k) * H + j);
          __builtin_prefetch(out + (at + r) * H + j, 1);
          if (!packed) __builtin_prefetch(cells + (at + r) * H + j, 1);
        }
      };
      each_unit<T, 4, B>(step, step == 0 && zeros, rows, H, all.words, states.now, panels, products, ask, [&](int64_t j, auto part) {
        // Two passes: what the first computes for a row takes as long as what the second waits for, and neighbours overlap.
        for (int64_t r = 0; r < rows; ++r) {
          const W *x_part = sums + (at + r) * 4 * H + j;
          T *g = gates + (at + r) * 4 * H + j;
          const int64_t place = (at + r) * H + j;  // in cells, which packed_lstm has none of
          W *product = products + r * 4 * L, *c_row = c + r * H + j;
          if (!s.counts(t, first + r)) {
            for (int k = 0; k < 4 && !packed; ++k) put(g + k * H, vec<T>{}, part);
            if (!packed) put(cells + place, vec<T>{}, part);
            continue;
          }
          const auto sum = [&](int k) { return load(product + k * L) + get(x_part + k * H, part); };
          const vec<T> in = gate<T>(sum(0)), forget = logistic(sum(1)), update = bend<T>(sum(2)), show = gate<T>(sum(3));
          const vec<T> value = forget * get((const W *)c_row, part) + in * update;
          if (!packed) {
            leave(g, in, part), leave(g + H, forget, part), leave(g + 2 * H, update, part), leave(g + 3 * H, show, part);
            leave(cells + place, value, part);
          }
          put(c_row, value, part);
          store(product, value), store(product + L, show);
        }
        for (int64_t r = 0; r < rows; ++r) {
          const W *product = products + r * 4 * L;
          T *o = out + (at + r) * H + j;
          if (s.counts(t, first + r)) {
            const vec<T> state = load(product + L) * bend<T>(load(product));
            leave(o, state, part), leave(states.next_row(r) + j, state, part);
          } else {
            put(o, vec<T>{}, part), put(states.next_row(r) + j, get((const Held<T> *)states.row(r) + j, part), part);
          }
        }
      });
    }
    for (int64_t r = 0; r < rows; ++r) copy_values(h_last + (first + r) * H, (const Held<T> *)states.row(r), H);
    deliver_rows<T>(s, c_last, output(call, 2), first, rows);
  });
  return WRY_OK;
}

// lstm_vjp(out_ct?, h_last_ct?, c_last_ct?, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, length?, gates, cells) -> gates_ct,
//     h_ct, c_ct
template <typename T>
int lstm_vjp(const wry_call *call) {
  using W = Word<T>;
  Backwards<T> b;
  if (const int status = backwards_of(call, "lstm_vjp", 3, 10, 1, attr_bool(call, 0), 4, &b)) return status;
  const Sequence &s = b.s;
  const int64_t H = s.hidden;
  const T *c_last_ct = optional<T>(input(call, 2)), *c0 = data<T>(input(call, 5));
  const T *gates = data<T>(input(call, 11)), *cells = data<T>(input(call, 12));
  T *sum_ct = data<T>(output(call, 0));
  W *c_ct = room_for<T>(call, output(call, 2), s.batch * H);
  const Left<T> left(call, s, 4 * H);
  if (!c_ct || (!is_wide<T> && !left.memory)) return no_memory(call, "lstm_vjp", s);
  each_share(call, s, s.time * 4 * H * H, [&](int64_t first, int64_t rows) {
    W *dh = b.begin(first, rows), *dc = c_ct + first * H;
    begin_row(dc, c_last_ct ? c_last_ct + first * H : nullptr, rows * H);
    for (int64_t step = s.time - 1; step >= 0; --step) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      for (int64_t r = 0; r < rows; ++r) {
        T *d = sum_ct + (at + r) * 4 * H;
        Held<T> *d_left = left.row(d, first + r);
        W *dh_row = dh + r * H, *dc_row = dc + r * H;
        if (!s.counts(t, first + r)) {
          zero_row(d, 4 * H), zero_row(d_left, 4 * H);
          continue;
        }
        const T *g = gates + (at + r) * 4 * H, *cell = cells + (at + r) * H;
        const T *before = s.before(cells, c0, t, first + r);
        const T *o_ct = b.out_row(at + r);
        over<T>(H, [&](int64_t j, auto part) {
          const vec<T> in = get(g + j, part), forget = get(g + H + j, part);
          const vec<T> update = get(g + 2 * H + j, part), show = get(g + 3 * H + j, part);
          const vec<T> bent = bend<T>(get(cell + j, part));
          vec<T> state = get((const W *)dh_row + j, part);
          if (o_ct) state += get(o_ct + j, part);
          const vec<T> value = get((const W *)dc_row + j, part) + state * show * (W(1) - bent * bent);
          leave_twice(d + j, d_left + j, value * update * in * (W(1) - in), part);
          leave_twice(d + H + j, d_left + H + j, value * get(before + j, part) * forget * (W(1) - forget), part);
          leave_twice(d + 2 * H + j, d_left + 2 * H + j, value * in * (W(1) - update * update), part);
          leave_twice(d + 3 * H + j, d_left + 3 * H + j, state * bent * show * (W(1) - show), part);
          put(dc_row + j, value * forget, part);
        });
        zero_row(dh_row, H);
      }
      // A row that does not count keeps its cotangent: what is added is 0.
      b.add(rows, left.rows(sum_ct + at * 4 * H, first), left.words, dh);
    }
    deliver_rows<T>(s, b.h_ct, output(call, 1), first, rows);
    deliver_rows<T>(s, c_ct, output(call, 2), first, rows);
  });
  return WRY_OK;
}

// ---- GRU ----------------------------------------------------------------------------------------

// gru(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?) -> out, h_last, gates; packed_gru as above
template <typename T, bool packed = false>
int gru(const wry_call *call) {
  constexpr int B = block_of_units<T, packed>;
  const char *op = packed ? "packed_gru" : "gru";
  using W = Word<T>;
  constexpr int L = lanes<W>;
  Sequence s;
  const int status = sequence_of(call, op, input(call, 0), input(call, 1), input(call, 6), attr_bool(call, 0), &s);
  if (status != WRY_OK) return status;
  const int64_t H = s.hidden;
  const T *h0 = data<T>(input(call, 1));
  T *out = data<T>(output(call, 0)), *gates;
  const int64_t places = s.time * s.batch * H;
  if constexpr (packed) gates = workspace<T>(call, places * 4 + 1);
  else gates = data<T>(output(call, 2));
  W *bias = bias_of<T>(call, input(call, 4), input(call, 5));
  const W *bias_ih = bias_of<T>(call, input(call, 4), nullptr), *bias_hh = bias_of<T>(call, input(call, 5), nullptr);
  const AllStates<T> all(call, s);
  const W *panels = panels_of<T, packed, 3>(call, H, all.words, input(call, 3));
  W *sums = sums_of<T>(call, gates, places * 4), *exact = room_for<T>(call, output(call, 1), s.batch * H);
  if (!bias || !bias_ih || !bias_hh || !panels || !all.memory || !gates || !sums || !exact) return no_memory(call, op, s);
  copy_row(bias + 2 * H, bias_ih + 2 * H, H);  // the other part of n meets r first
  if (!project<T>(call, s, input(call, 0), input(call, 2), bias, 3 * H, sums, 4 * H)) return no_memory(call, op, s);
  const bool zeros = begins_with_zeros(s, h0);
  each_share(call, s, s.time * 3 * H * H, [&](int64_t first, int64_t rows) {
    alignas(64) W products[most_share * 3 * L];
    States<T> states = all.of(s, h0, first, rows);
    W *h = exact + first * H;  // the states, not rounded
    copy_values(h, h0 + first * H, rows * H);
    for (int64_t step = 0; step < s.time; ++step, states.turn()) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      const auto ask = [&](int64_t j) {
        for (int64_t r = 0; r < rows; ++r) {
          for (int k = 0; k < 3; ++k) __builtin_prefetch(sums + ((at + r) * 4 + k) * H + j);
          __builtin_prefetch(out + (at + r) * H + j, 1);
        }
      };
      each_unit<T, 3, B>(step, step == 0 && zeros, rows, H, all.words, states.now, panels, products, ask, [&](int64_t j, auto part) {
        for (int64_t r = 0; r < rows; ++r) {  // two passes, as above
          const W *x_part = sums + (at + r) * 4 * H + j;
          T *g = gates + (at + r) * 4 * H + j;
          W *product = products + r * 3 * L;
          if (!s.counts(t, first + r)) {
            for (int k = 0; k < 4 && !packed; ++k) put(g + k * H, vec<T>{}, part);
            continue;
          }
          const auto sum = [&](int k) { return load(product + k * L) + get(x_part + k * H, part); };
          const vec<T> reset = gate<T>(sum(0)), keep_old = logistic(sum(1));
          const vec<T> hidden = load(product + 2 * L) + get(bias_hh + 2 * H + j, part);
          store(product, get(x_part + 2 * H, part) + reset * hidden), store(product + L, keep_old);
          if (!packed) leave(g, reset, part), leave(g + H, keep_old, part), leave(g + 3 * H, hidden, part);
        }
        for (int64_t r = 0; r < rows; ++r) {
          const W *product = products + r * 3 * L;
          T *o = out + (at + r) * H + j;
          Held<T> *next = states.next_row(r) + j;
          W *h_row = h + r * H + j;
          if (!s.counts(t, first + r)) {
            put(o, vec<T>{}, part), put(next, get((const Held<T> *)states.row(r) + j, part), part);
            continue;
          }
          const vec<T> update = bend<T>(load(product));
          const vec<T> state = (get((const W *)h_row, part) - update) * load(product + L) + update;
          if (!packed) leave(gates + ((at + r) * 4 + 2) * H + j, update, part);
          put(h_row, state, part), leave(o, state, part), leave(next, state, part);
        }
      });
    }
    deliver_rows<T>(s, exact, output(call, 1), first, rows);
  });
  return WRY_OK;
}

// gru_vjp(out_ct?, h_last_ct?, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?, out, gates) -> input_ct, hidden_ct, h_ct
template <typename T>
int gru_vjp(const wry_call *call) {
  using W = Word<T>;
  Backwards<T> b;
  if (const int status = backwards_of(call, "gru_vjp", 2, 8, 2, attr_bool(call, 0), 3, &b)) return status;
  const Sequence &s = b.s;
  const int64_t H = s.hidden;
  const T *h0 = data<T>(input(call, 3)), *out = data<T>(input(call, 9)), *gates = data<T>(input(call, 10));
  T *input_ct = data<T>(output(call, 0)), *hidden_ct = data<T>(output(call, 1));
  const Left<T> left(call, s, 3 * H);
  if (!is_wide<T> && !left.memory) return no_memory(call, "gru_vjp", s);
  each_share(call, s, s.time * 3 * H * H, [&](int64_t first, int64_t rows) {
    W *dh = b.begin(first, rows);
    for (int64_t step = s.time - 1; step >= 0; --step) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      for (int64_t r = 0; r < rows; ++r) {
        T *di = input_ct + (at + r) * 3 * H, *dp = hidden_ct + (at + r) * 3 * H;
        Held<T> *d_left = left.row(dp, first + r);
        W *dh_row = dh + r * H;
        if (!s.counts(t, first + r)) {
          zero_row(di, 3 * H), zero_row(dp, 3 * H), zero_row(d_left, 3 * H);
          continue;
        }
        const T *g = gates + (at + r) * 4 * H, *before = s.before(out, h0, t, first + r);
        const T *o_ct = b.out_row(at + r);
        over<T>(H, [&](int64_t j, auto part) {
          const vec<T> reset = get(g + j, part), keep_old = get(g + H + j, part), update = get(g + 2 * H + j, part);
          const vec<T> hidden = get(g + 3 * H + j, part);
          vec<T> state = get((const W *)dh_row + j, part);
          if (o_ct) state += get(o_ct + j, part);
          const vec<T> update_ct = state * (W(1) - keep_old) * (W(1) - update * update);
          const vec<T> reset_ct = update_ct * hidden * reset * (W(1) - reset);
          const vec<T> keep_ct = state * (get(before + j, part) - update) * keep_old * (W(1) - keep_old);
          leave(di + j, reset_ct, part), leave(di + H + j, keep_ct, part), leave(di + 2 * H + j, update_ct, part);
          leave_twice(dp + j, d_left + j, reset_ct, part), leave_twice(dp + H + j, d_left + H + j, keep_ct, part);
          leave_twice(dp + 2 * H + j, d_left + 2 * H + j, update_ct * reset, part);
          put(dh_row + j, state * keep_old, part);
        });
      }
      b.add(rows, left.rows(hidden_ct + at * 3 * H, first), left.words, dh);
    }
    deliver_rows<T>(s, b.h_ct, output(call, 2), first, rows);
  });
  return WRY_OK;
}

// ---- simple RNN ---------------------------------------------------------------------------------

// simple_rnn(x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?) -> out, h_last
template <typename T>
int simple_rnn(const wry_call *call) {
  using W = Word<T>;
  Sequence s;
  const int status =
      sequence_of(call, "simple_rnn", input(call, 0), input(call, 1), input(call, 6), attr_bool(call, 1), &s);
  if (status != WRY_OK) return status;
  const int64_t H = s.hidden;
  const bool relu = attr_bool(call, 0);
  const T *h0 = data<T>(input(call, 1));
  T *out = data<T>(output(call, 0)), *h_last = data<T>(output(call, 1));
  const W *bias = bias_of<T>(call, input(call, 4), input(call, 5));
  const AllStates<T> all(call, s);
  const W *weight = as_words<T>(call, input(call, 3), H), *panels = weight ? packed_columns(call, H, all.words, weight) : nullptr;
  W *sums = room_for<T>(call, output(call, 0), s.time * s.batch * H);
  if (!bias || !panels || !all.memory || !sums || !project<T>(call, s, input(call, 0), input(call, 2), bias, H, sums, H))
    return no_memory(call, "simple_rnn", s);
  each_share(call, s, s.time * H * H, [&](int64_t first, int64_t rows) {
    const States<T> states = all.of(s, h0, first, rows);
    for (int64_t step = 0; step < s.time; ++step) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      multiply_words<T>(rows, H, all.words, states.now, all.words, panels, sums + at * H, H, added<W>);
      for (int64_t r = 0; r < rows; ++r) {
        T *o = out + (at + r) * H;
        Held<T> *h_row = states.row(r);
        if (!s.counts(t, first + r)) {
          zero_row(o, H);
          continue;
        }
        over<T>(H, [&](int64_t j, auto part) {
          const vec<T> sum = get((const W *)sums + (at + r) * H + j, part);
          const vec<T> state = relu ? (sum > W(0) ? sum : vec<T>{}) : bend<T>(sum);
          leave(h_row + j, state, part), leave(o + j, state, part);
        });
      }
    }
    for (int64_t r = 0; r < rows; ++r) copy_values(h_last + (first + r) * H, (const Held<T> *)states.row(r), H);
  });
  return WRY_OK;
}

// simple_rnn_vjp(out_ct?, h_last_ct?, x, h, weight_ih, weight_hh, bias_ih, bias_hh, length?, out) -> sum_ct, h_ct
template <typename T>
int simple_rnn_vjp(const wry_call *call) {
  using W = Word<T>;
  Backwards<T> b;
  if (const int status = backwards_of(call, "simple_rnn_vjp", 2, 8, 1, attr_bool(call, 1), 1, &b)) return status;
  const Sequence &s = b.s;
  const int64_t H = s.hidden;
  const bool relu = attr_bool(call, 0);
  const T *out = data<T>(input(call, 9));
  T *sum_ct = data<T>(output(call, 0));
  const Left<T> left(call, s, H);
  if (!is_wide<T> && !left.memory) return no_memory(call, "simple_rnn_vjp", s);
  each_share(call, s, s.time * H * H, [&](int64_t first, int64_t rows) {
    W *dh = b.begin(first, rows);
    for (int64_t step = s.time - 1; step >= 0; --step) {
      const int64_t t = s.at(step), at = t * s.batch + first;
      for (int64_t r = 0; r < rows; ++r) {
        T *d = sum_ct + (at + r) * H;
        Held<T> *d_left = left.row(d, first + r);
        W *dh_row = dh + r * H;
        if (!s.counts(t, first + r)) {
          zero_row(d, H), zero_row(d_left, H);
          continue;
        }
        const T *value = out + (at + r) * H, *o_ct = b.out_row(at + r);
        over<T>(H, [&](int64_t j, auto part) {
          const vec<T> v = get(value + j, part);
          vec<T> state = get((const W *)dh_row + j, part);
          if (o_ct) state += get(o_ct + j, part);
          leave_twice(d + j, d_left + j, relu ? (v > W(0) ? state : vec<T>{}) : state * (W(1) - v * v), part);
        });
        zero_row(dh_row, H);
      }
      b.add(rows, left.rows(sum_ct + at * H, first), left.words, dh);
    }
    deliver_rows<T>(s, b.h_ct, output(call, 1), first, rows);
  });
  return WRY_OK;
}

// ---- gradients of weights -----------------------------------------------------------------------

// Rows [at, at + depth) of [T * B, H] of the states with which steps begin, `count` columns from j on, as a panel: h0 where a sequence begins, else
// what `out` holds of the step before.
template <typename T>
void pack_before(T *to, int64_t count, const Sequence &s, const T *out, const T *h0, int64_t at, int64_t depth, int64_t j) {
  const int64_t begin = s.reverse ? (s.time - 1) * s.batch : 0, end = begin + s.batch;
  for (int64_t p = at, next; p < at + depth; p = next) {
    const bool first = p >= begin && p < end;
    next = min_of(at + depth, first ? end : p < begin ? begin
                                                      : INT64_MAX);
    const T *from = first ? h0 + (p - begin) * s.hidden : out + (p + (s.reverse ? s.batch : -s.batch)) * s.hidden;
    gemm_pack_columns(to + (p - at) * gemm_columns<T>, count, next - p, Matrix<T>{from + j, s.hidden, 1});
  }
}

// bias += the sum of `depth` rows of n values, task_rows at most, that lie ld apart.
template <typename T>
void add_rows(T *bias, const T *from, int64_t depth, int64_t n, int64_t ld) {
  alignas(64) T sum[task_rows] = {};
  for (int64_t p = 0; p < depth; ++p)
    for (int64_t j = 0; j < n; ++j) sum[j] += from[p * ld + j];
  for (int64_t j = 0; j < n; ++j) bias[j] += sum[j];
}

// recurrent_weights_vjp(sum_ct, x, out, h) -> weight_ih_ct, weight_hh_ct, bias_ct: the products of all steps. The cotangents, which are the largest
// of all, are read where they lie; what is added up for the biases comes near meanwhile, where the products read it again.
template <typename T>
int recurrent_weights_vjp(const wry_call *call) {
  const wry_tensor *x = input(call, 1), *h = input(call, 3);
  const Sequence s = {x->shape[0], x->shape[1], x->shape[2], h->shape[1], nullptr, attr_bool(call, 0)};
  const T *const ct = data<T>(input(call, 0)), *const out = data<T>(input(call, 2)), *const h0 = data<T>(h);
  const int64_t m = input(call, 0)->shape[2], k = s.time * s.batch;
  T *const bias_ct = data<T>(output(call, 2));
  for (int n = k > 0 ? 2 : 0; n < 3; ++n) zero_row(data<T>(output(call, n)), output(call, n)->size);
  const bool zeros = begins_with_zeros(s, h0);
  constexpr int64_t columns = gemm_columns<T>, wide = (64 + columns - 1) / columns * columns;
  const int64_t of_x = (s.width + wide - 1) / wide, across = of_x + (s.hidden + wide - 1) / wide, pieces = 2 * threads_for(call, INT32_MAX);
  int64_t tall = task_rows;
  while (tall > 16 * gemm_rows && (m + tall - 1) / tall * across < pieces) tall /= 2;
  const auto task = [&](int64_t n) {
    alignas(64) T panel[gemm_depth * columns];
    const int64_t i = n / across * tall, rows = min_of(m - i, tall), piece = n % across;
    const bool of_input = piece < of_x, cut = zeros && !of_input;
    const int64_t width = of_input ? s.width : s.hidden, first = (of_input ? piece : piece - of_x) * wide, last = min_of(width, first + wide);
    const int64_t begin = cut && !s.reverse ? s.batch : 0, end = cut && s.reverse ? k - s.batch : k;
    T *const to = data<T>(output(call, !of_input)) + i * width;
    for (int64_t block = 0; block < k; block += gemm_depth) {
      if (piece == 0) add_rows(bias_ct + i, ct + block * m + i, min_of(k - block, gemm_depth), rows, m);
      const int64_t at = max_of(block, begin), depth = min_of(end, block + gemm_depth) - at;
      for (int64_t j = first; j < last && depth > 0; j += columns) {
        if (of_input) gemm_pack_columns(panel, min_of(last - j, columns), depth, Matrix<T>{data<T>(x) + at * width + j, width, 1});
        else pack_before(panel, min_of(last - j, columns), s, out, h0, at, depth, j);
        for (int64_t r = 0; r < rows; r += gemm_rows)
          gemm_tile<T, 2>(min_of<int64_t>(rows - r, gemm_rows), last - j, depth, ct + at * m + i + r, 1, m, panel, columns, to + r * width + j, width,
                          {at > begin, nullptr, nullptr});
      }
    }
  };
  parallel_for(call, k > 0 ? (m + tall - 1) / tall * across : 0, max_of<int64_t>(1, 200000 / max_of<int64_t>(tall * wide * k, 1)),
               [&](int64_t from, int64_t until) {
                 for (int64_t n = from; n < until; ++n) task(n);
               });
  return WRY_OK;
}

#if WRY_ONLY_BFLOAT16
// Without simple_rnn: its state has no other way than through the product, where it would be rounded in each step.
const wry_kernel_entry table[] = {
    WRY_ROW("lstm", bfloat16, WRY_WANTS_CONTIGUOUS, lstm),
    WRY_ROW("lstm_vjp", bfloat16, WRY_WANTS_CONTIGUOUS, lstm_vjp),
    WRY_ROW("gru", bfloat16, WRY_WANTS_CONTIGUOUS, gru),
    WRY_ROW("gru_vjp", bfloat16, WRY_WANTS_CONTIGUOUS, gru_vjp),
};
#else
#define RECURRENT_ROWS(op, kernel) WRY_FLOAT_ROWS(op, WRY_WANTS_CONTIGUOUS, kernel)
#define PACKED_ROWS                                                                                        \
  {"packed_lstm", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, lstm<float, true>, nullptr},                          \
      {"packed_gru", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, gru<float, true>, nullptr},                        \
      {"recurrent_weights_vjp", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, recurrent_weights_vjp<float>, nullptr}, \
      {"recurrent_weights_vjp", WRY_FLOAT64, WRY_WANTS_CONTIGUOUS, recurrent_weights_vjp<double>, nullptr},
#include <wherry/kernels/rows/recurrent.h>
#endif

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(recurrent, WRY_NAMESPACE::table)
