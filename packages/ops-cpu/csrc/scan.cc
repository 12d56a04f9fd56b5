// Scans: every element from those before it along one axis.
//
// Inputs are contiguous, seen as [outer, n, inner] around the axis; outputs overlap no input. One
// thread walks an axis from end to end, so a single long row uses one thread. Running sums and products of
// floats are doubles, for the reason given in reduce.h.
#include "copy.h"
#include "lanemath.h"
#include "parallel.h"
#include "rows.h"

namespace WRY_NAMESPACE {
namespace {

template <typename T>
struct running {
  using type = int64_t;
};
template <>
struct running<float16> {
  using type = double;
};
template <>
struct running<bfloat16> {
  using type = double;
};
template <>
struct running<float> {
  using type = double;
};
template <>
struct running<double> {
  using type = double;
};
template <>
struct running<complex64> {
  using type = complex128;
};
template <>
struct running<complex128> {
  using type = complex128;
};

template <typename T>
WRY_INLINE auto lift(T x) {
  if constexpr (is_float<T>) return double(arithmetic_t<T>(x));
  else return typename running<T>::type(x);
}
template <typename T, typename W>
WRY_INLINE T lower(W value) {
  if constexpr (is_float<T>) return T(arithmetic_t<T>(value));
  else return T(value);
}
// Overflow of integers wraps around.
template <typename W>
WRY_INLINE W plus(W a, W b) { return a + b; }
template <>
WRY_INLINE int64_t plus(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
template <typename W>
WRY_INLINE W times(W a, W b) { return a * b; }
template <>
WRY_INLINE int64_t times(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

// f(first element, step between elements of the scan, columns side by side) for each piece of work.
template <typename F>
WRY_INLINE void each_scan(const wry_call *call, AxisView v, F &&f) {
  each_strip(call, v, [&](int64_t o, int64_t first, int64_t width) { f(o * v.n * v.inner + first, width); });
}

// A scan whose state is one W for each column: out = step(state, element), which changes the state.
template <typename T, typename W, typename F>
int scan(const wry_call *call, int axis, bool reverse, W start, F &&step) {
  const wry_tensor *in = input(call, 0);
  if (in->size == 0) return WRY_OK;
  const AxisView v = around(in, axis);
  each_scan(call, v, [&](int64_t at, int64_t width) {
    if (width == 1) {
      W state = start;
      for (int64_t k = 0; k < v.n; ++k) step(state, at + (reverse ? v.n - 1 - k : k) * v.inner);
      return;
    }
    W state[strip_width];
    for (int64_t j = 0; j < width; ++j) state[j] = start;
    for (int64_t k = 0; k < v.n; ++k) {
      const int64_t row = at + (reverse ? v.n - 1 - k : k) * v.inner;
      for (int64_t j = 0; j < width; ++j) step(state[j], row + j);
    }
  });
  return WRY_OK;
}

// Rows of floats, whose next state is step(state, elements of the inputs, whether they are the first): a row alone would wait for its own
// arithmetic, so a few are turned, until those of a place lie side by side in vectors. False where there are none of them.
template <typename T, int Inputs, typename F>
bool scan_rows(const wry_call *call, int axis, bool reverse, double start, const F &step) {
  const AxisView v = around(input(call, 0), axis);
  if constexpr (is_float<T>) {
    using Word = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    constexpr int64_t side = 64 / sizeof(T);
    constexpr int vectors = int(side) / lanes<T>;
    if (v.inner != 1 || v.outer < 4) return false;
    each_row(call, (v.outer + side - 1) / side, v.n * side, [&](int64_t block) {
      alignas(64) T tile[Inputs][side * side] = {};
      f64x2 state[vectors];
      for (f64x2 &one : state) one = {splat<f64>(start), splat<f64>(start)};
      const int64_t at = block * side * v.n, rows = min_of(side, v.outer - block * side);
      for (int64_t done = 0; done < v.n; done += side) {
        const int64_t n = min_of(side, v.n - done), from = at + (reverse ? v.n - done - n : done);
        for (int i = 0; i < Inputs; ++i) transpose_block((Word *)tile[i], side, (const Word *)(data<T>(input(call, i)) + from), v.n, n, rows);
        for (int64_t k = 0; k < n; ++k)
          for (int part = 0; part < vectors; ++part) {
            const int64_t place = (reverse ? n - 1 - k : k) * side + part * lanes<T>;
            f64 low[Inputs], high[Inputs];
            for (int i = 0; i < Inputs; ++i) {
              if constexpr (sizeof(T) == 8) {
                low[i] = load(tile[i] + place);
              } else {
                const f64x2 wide = to_double(load(tile[i] + place));
                low[i] = wide.lo, high[i] = wide.hi;
              }
            }
            state[part].lo = step(state[part].lo, low, done + k == 0);
            if constexpr (sizeof(T) == 8) {
              store(tile[0] + place, state[part].lo);
            } else {
              state[part].hi = step(state[part].hi, high, done + k == 0);
              store(tile[0] + place, to_float(state[part]));
            }
          }
        transpose_block((Word *)(data<T>(output(call, 0)) + from), v.n, (const Word *)tile[0], side, rows, n);
      }
    });
    return true;
  }
  return false;
}

template <typename T>
int cumsum(const wry_call *call) {
  using W = typename running<T>::type;
  const int axis = int(attr_int(call, 0));
  const bool reverse = attr_bool(call, 1);
  if (scan_rows<T, 1>(call, axis, reverse, 0, [](auto state, const auto *x, bool) { return state + *x; })) return WRY_OK;
  const T *WRY_RESTRICT x = data<T>(input(call, 0));
  T *WRY_RESTRICT out = data<T>(output(call, 0));
  return scan<T>(call, axis, reverse, W(0), [=](W &state, int64_t i) {
    state = plus<W>(state, lift(x[i]));
    out[i] = lower<T>(state);
  });
}

template <typename T>
int cumprod(const wry_call *call) {
  using W = typename running<T>::type;
  const int axis = int(attr_int(call, 0));
  if (scan_rows<T, 1>(call, axis, false, 1, [](auto state, const auto *x, bool) { return state * *x; })) return WRY_OK;
  const T *WRY_RESTRICT x = data<T>(input(call, 0));
  T *WRY_RESTRICT out = data<T>(output(call, 0));
  return scan<T>(call, axis, false, W(1), [=](W &state, int64_t i) {
    state = times<W>(state, lift(x[i]));
    out[i] = lower<T>(state);
  });
}

// The sum of exponentials is kept relative to the largest value so far.
struct LogSum {
  double top, sum;
};

template <typename T>
int logcumsumexp(const wry_call *call) {
  const T *WRY_RESTRICT x = data<T>(input(call, 0));
  T *WRY_RESTRICT out = data<T>(output(call, 0));
  return scan<T>(call, int(attr_int(call, 0)), false, LogSum{-INFINITY, 0}, [=](LogSum &state, int64_t i) {
    const double value = lift(x[i]);
    if (value != value || state.sum != state.sum) {
      state.sum = NAN;
    } else if (value > state.top) {
      // From -inf on there was nothing, and +inf drowns everything: neither may be subtracted.
      state.sum = state.top == -INFINITY ? 1 : state.sum * ::exp(state.top - value) + 1;
      state.top = value;
    } else if (state.top < INFINITY && value > -INFINITY) {
      state.sum += ::exp(value - state.top);
    }
    const double result = state.sum == 0 || state.top == INFINITY ? state.top + (state.sum != state.sum ? NAN : 0)
                                                                  : state.top + ::log(state.sum);
    out[i] = lower<T>(result);
  });
}

template <typename T>
struct Record {
  T value;
  int64_t at;
};

// Among ties the last one counts, and NaN stays from where it stands on, as in Paddle.
template <typename T, bool Largest>
int record(const wry_call *call) {
  const T *WRY_RESTRICT x = data<T>(input(call, 0));
  T *WRY_RESTRICT values = data<T>(output(call, 0));
  int64_t *WRY_RESTRICT indices = data<int64_t>(output(call, 1));
  using A = arithmetic_t<T>;
  const AxisView v = around(input(call, 0), attr_int(call, 0));
  return scan<T>(call, int(attr_int(call, 0)), false, Record<A>{A(0), -1}, [=](Record<A> &state, int64_t i) {
    const A value = A(x[i]);
    const int64_t k = i / v.inner % v.n;
    if (state.at < 0 || value != value || (Largest ? value >= state.value : value <= state.value))
      state = {value, k};
    values[i] = T(state.value);
    indices[i] = state.at;
  });
}
template <typename T>
int cummax(const wry_call *call) { return record<T, true>(call); }
template <typename T>
int cummin(const wry_call *call) { return record<T, false>(call); }

template <typename T>
int linear_scan(const wry_call *call) {
  using W = typename running<T>::type;
  const int axis = int(attr_int(call, 0));
  const bool reverse = attr_bool(call, 1);
  if (scan_rows<T, 2>(call, axis, reverse, 0, [](auto state, const auto *x, bool first) { return first ? x[1] : x[0] * state + x[1]; })) return WRY_OK;
  const T *WRY_RESTRICT a = data<T>(input(call, 0));
  const T *WRY_RESTRICT b = data<T>(input(call, 1));
  T *WRY_RESTRICT out = data<T>(output(call, 0));
  // The first factor meets no earlier value; infinity there must not turn the zero into NaN.
  struct State {
    W value;
    bool begun;
  };
  return scan<T>(call, axis, reverse, State{W(0), false}, [=](State &state, int64_t i) {
    state.value = state.begun ? lift(a[i]) * state.value + lift(b[i]) : lift(b[i]);
    state.begun = true;
    out[i] = lower<T>(state.value);
  });
}

#include <wherry/kernels/rows/scan.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(scan, WRY_NAMESPACE::table)
