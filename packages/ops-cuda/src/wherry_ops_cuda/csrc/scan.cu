// Scans: every element from those before it along one axis.
//
// A tensor is [outer, n, inner]; a line is n elements, `inner` apart. Many lines: one thread each, neighbours taking neighbouring
// lines. Few: a block goes through a line tile by tile; and a long line is cut into pieces, whose totals are scanned in between. Running
// sums and products of floats are doubles, as on the cpu.
//
// A scan S has
//   W                           what is carried along
//   parallel                    may pieces be combined? Not where a piece could overflow that the line itself does not.
//   W start()                   before the first element
//   W lift(i, k)                element i, number k of its line
//   W combine(earlier, later)
//   void write(i, W)
#include "reduce.h"

namespace wherry {
namespace cuda {
namespace {

struct Lines {
  int64_t outer, n, inner;
  bool reverse;
  WRY_GPU int64_t first(int64_t line) const { return line / inner * n * inner + line % inner; }
  WRY_GPU int64_t place(int64_t first_, int64_t k) const { return first_ + (reverse ? n - 1 - k : k) * inner; }
};
Lines lines_of(const wry_tensor *t, int64_t axis, bool reverse) {
  Lines l = {1, t->rank ? t->shape[axis] : 1, 1, reverse};
  for (int i = 0; i < axis; ++i) l.outer *= t->shape[i];
  for (int i = int(axis) + 1; i < t->rank; ++i) l.inner *= t->shape[i];
  return l;
}

template <typename S>
__global__ void __launch_bounds__(block_size) scan_by_threads(Lines l, S s) {
  for WRY_EACH (line, l.outer * l.inner) {
    const int64_t first = l.first(line);
    typename S::W state = S::start();
#pragma unroll 1
    for (int64_t k = 0; k < l.n; ++k) {
      const int64_t i = l.place(first, k);
      state = S::combine(state, s.lift(i, k));
      s.write(i, state);
    }
  }
}

constexpr int per_thread = 4, per_tile = block_size * per_thread;

// Block (line, piece). With `totals` only the total of the piece is written, there; with `before` the piece goes on from it.
template <typename S>
__global__ void __launch_bounds__(block_size, 1) scan_by_blocks(Lines l, S s, int64_t chunk, int64_t chunks, typename S::W *totals, const typename S::W *before) {
  using W = typename S::W;
  WRY_SHARED(W, part, 2 * block_size);
  const int thread = threadIdx.x;
  for (int64_t line = blockIdx.x; line < l.outer * l.inner; line += gridDim.x) {
    const int64_t first = l.first(line), begin = blockIdx.y * chunk, end = begin + chunk < l.n ? begin + chunk : l.n;
    W carry = before ? before[line * chunks + blockIdx.y] : S::start();
    for (int64_t tile = begin; tile < end; tile += per_tile) {
      const int64_t from = tile + thread * per_thread;
      W item[per_thread];
      W own = S::start();
#pragma unroll
      for (int j = 0; j < per_thread; ++j) {
        if (from + j < end) own = S::combine(own, s.lift(l.place(first, from + j), from + j));
        item[j] = own;
      }
      // Sums over the threads, in two halves of the shared memory that take turns.
      int at = 0;
      __syncthreads();  // the tile before may still be read
      part[thread] = own;
      for (int step = 1; step < block_size; step *= 2) {
        __syncthreads();
        W sum = part[at + thread];
        if (thread >= step) sum = S::combine(part[at + thread - step], sum);
        at = block_size - at;
        part[at + thread] = sum;
      }
      __syncthreads();
      const W up_to = thread ? S::combine(carry, part[at + thread - 1]) : carry;
      carry = S::combine(carry, part[at + block_size - 1]);
      if (totals) continue;
#pragma unroll
      for (int j = 0; j < per_thread; ++j)
        if (from + j < end) s.write(l.place(first, from + j), S::combine(up_to, item[j]));
    }
    if (totals && thread == 0) totals[line * chunks + blockIdx.y] = carry;
  }
}
template <typename S>
__global__ void __launch_bounds__(block_size) scan_totals(int64_t lines, int64_t chunks, typename S::W *totals) {
  for WRY_EACH (line, lines) {
    typename S::W state = S::start();
    for (int64_t c = 0; c < chunks; ++c) {
      const typename S::W total = totals[line * chunks + c];
      totals[line * chunks + c] = state;
      state = S::combine(state, total);
    }
  }
}

template <typename S>
int scan(const wry_call *call, const char *op, const Lines &l, const S &s) {
  using W = typename S::W;
  const int64_t lines = l.outer * l.inner;
  if (lines * l.n == 0) return WRY_OK;
  if (!S::parallel || l.n <= 64 || lines >= 8192) {
    const int threads = threads_for(lines);
    return check(call, wry_launch(scan_by_threads<S>, blocks_for(lines, threads), dim3(threads), 0, stream(call), l, s));
  }
  int64_t chunks = lines >= 256 ? 1 : (l.n + 8 * per_tile - 1) / (8 * per_tile);
  if (chunks > 1024) chunks = 1024;
  int64_t chunk = (l.n + chunks - 1) / chunks;
  chunk = (chunk + per_tile - 1) / per_tile * per_tile;
  chunks = (l.n + chunk - 1) / chunk;
  const dim3 grid{unsigned(lines), unsigned(chunks)};
  W *const none = nullptr;
  if (chunks == 1)
    return check(call, wry_launch(scan_by_blocks<S>, grid, dim3(block_size), 0, stream(call), l, s, chunk, chunks, none, none));
  W *totals = workspace<W>(call, lines * chunks);
  if (!totals) return fail_memory(call, op, lines * chunks * int64_t(sizeof(W)));
  WRY_TRY(wry_launch(scan_by_blocks<S>, grid, dim3(block_size), 0, stream(call), l, s, chunk, chunks, totals, none));
  WRY_TRY(wry_launch(scan_totals<S>, blocks_for(lines, 32), dim3(32), 0, stream(call), lines, chunks, totals));
  return check(call, wry_launch(scan_by_blocks<S>, grid, dim3(block_size), 0, stream(call), l, s, chunk, chunks, none, totals));
}

// ---- sums and products ----------------------------------------------------------------------------

template <typename T>
using running_t = std::conditional_t<is_float<T>, double, std::conditional_t<is_complex<T>::value, complex128, int64_t>>;
template <typename T>
WRY_GPU running_t<T> widened(const T *x) { return running_t<T>(load(x)); }
template <typename T>
WRY_GPU T narrowed(running_t<T> value) {
  if constexpr (is_half<T>) return narrow<T>(float(value));
  else return T(value);
}

// Integers wrap around.
template <typename W>
WRY_GPU W plus(W a, W b) {
  if constexpr (std::is_same<W, int64_t>::value) return int64_t(uint64_t(a) + uint64_t(b));
  else return a + b;
}
template <typename W>
WRY_GPU W times(W a, W b) {
  if constexpr (std::is_same<W, int64_t>::value) return int64_t(uint64_t(a) * uint64_t(b));
  else return a * b;
}

template <typename T>
struct Sum {
  using W = running_t<T>;
  static constexpr bool parallel = true;
  const T *x;
  T *out;
  static WRY_GPU W start() { return W(0); }
  static WRY_GPU W combine(W a, W b) { return plus(a, b); }
  WRY_GPU W lift(int64_t i, int64_t) const { return widened(x + i); }
  WRY_GPU void write(int64_t i, W sum) const { out[i] = narrowed<T>(sum); }
};
template <typename T>
int cumsum(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  return scan(call, "cumsum", lines_of(x, attr_int(call, 0), attr_bool(call, 1)), Sum<T>{data<T>(x), data<T>(output(call, 0))});
}

template <typename T>
struct Product {  // 0 before a piece that overflows is 0, not NaN
  using W = running_t<T>;
  static constexpr bool parallel = false;
  const T *x;
  T *out;
  static WRY_GPU W start() { return W(1); }
  static WRY_GPU W combine(W a, W b) { return times(a, b); }
  WRY_GPU W lift(int64_t i, int64_t) const { return widened(x + i); }
  WRY_GPU void write(int64_t i, W product) const { out[i] = narrowed<T>(product); }
};
template <typename T>
int cumprod(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  return scan(call, "cumprod", lines_of(x, attr_int(call, 0), false), Product<T>{data<T>(x), data<T>(output(call, 0))});
}

// The sum of exponentials is kept relative to the largest value so far.
template <typename T>
struct LogSum {
  struct W {
    double top, sum;
  };
  static constexpr bool parallel = true;
  const T *x;
  T *out;
  static WRY_GPU W start() { return {-double(INFINITY), 0}; }
  static WRY_GPU W combine(W a, W b) {
    if (a.sum != a.sum || b.sum != b.sum) return {a.top, double(NAN)};
    if (b.top > a.top) {
      const W other = a;
      a = b, b = other;
    }
    // Of -inf there is nothing to add, and +inf drowns everything: neither may be subtracted.
    return {a.top, b.top == -double(INFINITY) || a.top == double(INFINITY) ? a.sum : a.sum + b.sum * exp(b.top - a.top)};
  }
  WRY_GPU W lift(int64_t i, int64_t) const {
    const double value = widened(x + i);
    if (value != value) return {-double(INFINITY), value};
    return {value, value == -double(INFINITY) ? 0.0 : 1.0};
  }
  WRY_GPU void write(int64_t i, W s) const {
    const double result = s.sum != s.sum ? double(NAN) : s.sum == 0 || s.top == double(INFINITY) ? s.top : s.top + log(s.sum);
    out[i] = narrowed<T>(result);
  }
};
template <typename T>
int logcumsumexp(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  return scan(call, "logcumsumexp", lines_of(x, attr_int(call, 0), false), LogSum<T>{data<T>(x), data<T>(output(call, 0))});
}

// ---- records --------------------------------------------------------------------------------------

// Among ties the last one counts, and NaN stays from where it stands on, as in Paddle.
template <typename T, bool Largest>
struct Record {
  using V = std::conditional_t<is_float<T>, double, int64_t>;
  struct W {
    V value;
    int64_t at;  // -1: nothing yet
  };
  static constexpr bool parallel = true;
  const T *x;
  T *values;
  int64_t *indices;
  static WRY_GPU W start() { return {V(0), -1}; }
  static WRY_GPU W combine(W a, W b) {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    if (b.value != b.value) return b;
    return (Largest ? b.value >= a.value : b.value <= a.value) ? b : a;
  }
  WRY_GPU W lift(int64_t i, int64_t k) const { return {V(load(x + i)), k}; }
  WRY_GPU void write(int64_t i, W record) const {
    values[i] = narrowed<T>(record.value);
    indices[i] = record.at;
  }
};
template <typename T, bool Largest>
int record(const wry_call *call, const char *op) {
  const wry_tensor *x = input(call, 0);
  return scan(call, op, lines_of(x, attr_int(call, 0), false), Record<T, Largest>{data<T>(x), data<T>(output(call, 0)), data<int64_t>(output(call, 1))});
}
template <typename T>
int cummax(const wry_call *call) { return record<T, true>(call, "cummax"); }
template <typename T>
int cummin(const wry_call *call) { return record<T, false>(call, "cummin"); }

// ---- linear recurrences ---------------------------------------------------------------------------

// value = a * value + b. The first factor meets no earlier value; infinity there must not turn the zero into NaN.
template <typename T>
__global__ void __launch_bounds__(block_size) linear_by_threads(Lines l, const T *a, const T *b, T *out) {
  using W = running_t<T>;
  for WRY_EACH (line, l.outer * l.inner) {
    const int64_t first = l.first(line);
    W value = W(0);
    for (int64_t k = 0; k < l.n; ++k) {
      const int64_t i = l.place(first, k);
      value = k ? widened(a + i) * value + widened(b + i) : widened(b + i);
      out[i] = narrowed<T>(value);
    }
  }
}
template <typename T>
int linear_scan(const wry_call *call) {
  const wry_tensor *a = input(call, 0);
  const Lines l = lines_of(a, attr_int(call, 0), attr_bool(call, 1));
  if (a->size == 0) return WRY_OK;
  const int64_t lines = l.outer * l.inner;
  const int threads = threads_for(lines);
  return check(call, wry_launch(linear_by_threads<T>, blocks_for(lines, threads), dim3(threads), 0, stream(call), l, data<T>(a), data<T>(input(call, 1)),
                                data<T>(output(call, 0))));
}

const wry_kernel_entry table[] = {
    WRY_NUMBER_ROWS("cumsum", WRY_WANTS_CONTIGUOUS, cumsum),
    WRY_NUMBER_ROWS("cumprod", WRY_WANTS_CONTIGUOUS, cumprod),
    WRY_FLOAT_ROWS("logcumsumexp", WRY_WANTS_CONTIGUOUS, logcumsumexp),
    WRY_REAL_ROWS("cummax", WRY_WANTS_CONTIGUOUS, cummax),
    WRY_REAL_ROWS("cummin", WRY_WANTS_CONTIGUOUS, cummin),
    WRY_FLOAT_ROWS("linear_scan", WRY_WANTS_CONTIGUOUS, linear_scan),
    WRY_COMPLEX_ROWS("linear_scan", WRY_WANTS_CONTIGUOUS, linear_scan),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(scan, wherry::cuda::table)
