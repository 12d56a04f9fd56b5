// Scans: every element from those before it along one axis.
//
// A tensor is [outer, n, inner]; a line is n elements, `inner` apart. Many lines, or neighbouring ones: a block takes 32 of them through tiles in
// shared memory, which its warps read and write along memory, whichever way the lines lie. Few long rows: a block goes through a row. And
// where that leaves the GPU idle, lines are cut into pieces, whose totals are scanned in between. Running sums and products of floats
// are doubles, as on the cpu.
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

// Tiles of 32 lines by 32 elements. Of the lines 1 << bits are neighbours in memory, the others of the next `outer`.
constexpr int tile_size = 32, tile_rows = 8;
struct Tiles {
  int bits;
  int64_t across;  // tiles side by side along `inner`
};

// Block (32 lines, piece) of 32 x 8 threads. With `totals` only the total of the piece is written, there; with `before` the piece goes on from it.
// Thread (x, y) reads and writes along memory; in between it has elements 4 y, ... of line x, or thread (x, 0) all of them.
template <typename S>
__global__ void __launch_bounds__(block_size, 1) scan_by_tiles(Lines l, Tiles tiles, S s, int64_t chunk, int64_t chunks, typename S::W *totals,
                                                               const typename S::W *before) {
  using W = typename S::W;
  constexpr int pitch = tile_size + 1, each = tile_size / tile_rows;
  WRY_SHARED(W, held, tile_size * pitch);
  const int x = int(threadIdx.x), y = int(threadIdx.y), wide = 1 << tiles.bits, high = tile_size >> tiles.bits;
  const int64_t groups = (l.outer + high - 1) / high, begin = blockIdx.y * chunk, end = begin + chunk < l.n ? begin + chunk : l.n;
  for (int64_t at = blockIdx.x; at < groups * tiles.across; at += gridDim.x) {
    const int64_t outer = at / tiles.across * high, inner = at % tiles.across * wide;
    const int64_t line = (outer + (x >> tiles.bits)) * l.inner + inner + (x & (wide - 1));
    const bool there = outer + (x >> tiles.bits) < l.outer && inner + (x & (wide - 1)) < l.inner;
    // Calls f(place in the tensor, number in the line, place in the tile) for the thread's share of the tile.
    const auto over_tile = [&](int64_t first_k, auto f) {
#pragma unroll
      for (int j = 0; j < each; ++j) {
        const int t = (j * tile_rows + y) * tile_size + x, column = t & (wide - 1), k = t >> tiles.bits & (tile_size - 1), o = t >> (tiles.bits + 5);
        if (first_k + k < end && outer + o < l.outer && inner + column < l.inner)
          f(l.place((outer + o) * l.n * l.inner + inner + column, first_k + k), first_k + k, (o * wide + column) * pitch + k);
      }
    };
    W carry = before && there ? before[line * chunks + blockIdx.y] : S::start();
    for (int64_t first = begin; first < end; first += tile_size) {
      const int count = end - first < tile_size ? int(end - first) : tile_size;
      __syncthreads();  // the tile before may still be read
      over_tile(first, [&](int64_t i, int64_t k, int slot) { held[slot] = s.lift(i, k); });
      __syncthreads();
      W *own = held + x * pitch;
      if constexpr (S::parallel) {
        WRY_SHARED(W, part, tile_size * tile_rows);
        W item[each], total = S::start();
#pragma unroll
        for (int j = 0; j < each; ++j) {
          if (there && y * each + j < count) total = S::combine(total, own[y * each + j]);
          item[j] = total;
        }
        part[y * tile_size + x] = total;
        __syncthreads();
        W up_to = carry;
#pragma unroll
        for (int r = 0; r < tile_rows; ++r) {
          if (r == y) up_to = carry;
          carry = S::combine(carry, part[r * tile_size + x]);
        }
        if (totals) continue;
#pragma unroll
        for (int j = 0; j < each; ++j)
          if (there && y * each + j < count) own[y * each + j] = S::combine(up_to, item[j]);
      } else if (there && y == 0) {
#pragma unroll 1
        for (int k = 0; k < count; ++k) own[k] = carry = S::combine(carry, own[k]);
      }
      __syncthreads();
      over_tile(first, [&](int64_t i, int64_t, int slot) { s.write(i, held[slot]); });
    }
    if (totals && there && y == 0) totals[line * chunks + blockIdx.y] = carry;
  }
}

constexpr int per_thread = 4, per_tile = block_size * per_thread;

// Block (line, piece), as above. A thread has neighbouring elements; neighbouring threads read and write neighbouring ones, through shared memory.
template <typename S>
__global__ void __launch_bounds__(block_size, 1) scan_by_blocks(Lines l, S s, int64_t chunk, int64_t chunks, typename S::W *totals, const typename S::W *before) {
  using W = typename S::W;
  WRY_SHARED(W, part, 2 * block_size);
  WRY_SHARED(W, held, per_tile / per_thread * (per_thread + 1));  // a gap after each thread's, or its banks would be those of others
  const int thread = threadIdx.x;
  for (int64_t line = blockIdx.x; line < l.outer * l.inner; line += gridDim.x) {
    const int64_t first = l.first(line), begin = blockIdx.y * chunk, end = begin + chunk < l.n ? begin + chunk : l.n;
    W carry = before ? before[line * chunks + blockIdx.y] : S::start();
    for (int64_t tile = begin; tile < end; tile += per_tile) {
      const int64_t from = tile + thread * per_thread;
      W *const own_items = held + thread * (per_thread + 1);
      W item[per_thread];
      W own = S::start();
      __syncthreads();  // the tile before may still be read
#pragma unroll
      for (int j = 0; j < per_thread; ++j) {
        const int k = j * block_size + thread;
        if (tile + k < end) held[k + k / per_thread] = s.lift(l.place(first, tile + k), tile + k);
      }
      __syncthreads();
#pragma unroll
      for (int j = 0; j < per_thread; ++j) {
        if (from + j < end) own = S::combine(own, own_items[j]);
        item[j] = own;
      }
      // Sums over the threads, in two halves of the shared memory that take turns.
      int at = 0;
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
        if (from + j < end) own_items[j] = S::combine(up_to, item[j]);
      __syncthreads();
#pragma unroll
      for (int j = 0; j < per_thread; ++j) {
        const int k = j * block_size + thread;
        if (tile + k < end) s.write(l.place(first, tile + k), held[k + k / per_thread]);
      }
    }
    if (totals && thread == 0) totals[line * chunks + blockIdx.y] = carry;
  }
}
template <typename S>
__global__ void __launch_bounds__(block_size) scan_totals(int64_t lines, int64_t chunks, typename S::W *totals) {
  for
    WRY_EACH(line, lines) {
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
  W *const none = nullptr;
  const bool by_tiles = !S::parallel || l.n <= 64 || lines >= 8192 || l.inner >= 8;
  int bits = 0;
  while (by_tiles && 1 << bits < l.inner && 1 << bits < tile_size) ++bits;
  const Tiles tiles = {bits, (l.inner + (1 << bits) - 1) >> bits};
  const int64_t high = tile_size >> bits, blocks = by_tiles ? (l.outer + high - 1) / high * tiles.across : lines;
  const int64_t step = by_tiles ? tile_size : per_tile;
  int64_t chunks = S::parallel && blocks < 256 ? (l.n + 8 * step - 1) / (8 * step) : 1;
  if (chunks > 1024) chunks = 1024;
  int64_t chunk = (l.n + chunks - 1) / chunks;
  chunk = (chunk + step - 1) / step * step;
  chunks = (l.n + chunk - 1) / chunk;
  const dim3 grid{some_blocks(blocks), unsigned(chunks)};
  const auto launch = [&](W *totals, const W *before) {
    if constexpr (S::parallel)
      if (!by_tiles) return wry_launch(scan_by_blocks<S>, grid, dim3(block_size), 0, stream(call), l, s, chunk, chunks, totals, before);
    return wry_launch(scan_by_tiles<S>, grid, dim3(tile_size, tile_rows), 0, stream(call), l, tiles, s, chunk, chunks, totals, before);
  };
  if constexpr (S::parallel)
    if (chunks > 1) {
      W *totals = workspace<W>(call, lines * chunks);
      if (!totals) return fail_memory(call, op, lines * chunks * int64_t(sizeof(W)));
      WRY_TRY(launch(totals, none));
      WRY_TRY(wry_launch(scan_totals<S>, blocks_for(lines, 32), dim3(32), 0, stream(call), lines, chunks, totals));
      return check(call, launch(none, totals));
    }
  return check(call, launch(none, none));
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
    const double result = s.sum != s.sum ? double(NAN) : s.sum == 0 || s.top == double(INFINITY) ? s.top
                                                                                                 : s.top + log(s.sum);
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

// value = a * value + b. The first factor meets no earlier value; infinity there must not turn the zero into NaN. Pieces could overflow where
// the line does not.
template <typename T>
struct Linear {
  struct W {
    running_t<T> factor, value;
  };
  static constexpr bool parallel = false;
  const T *a, *b;
  T *out;
  static WRY_GPU W start() { return {running_t<T>(0), running_t<T>(0)}; }
  static WRY_GPU W combine(W before, W next) { return {next.factor, next.factor * before.value + next.value}; }
  WRY_GPU W lift(int64_t i, int64_t k) const { return {k ? widened(a + i) : running_t<T>(0), widened(b + i)}; }
  WRY_GPU void write(int64_t i, W state) const { out[i] = narrowed<T>(state.value); }
};
template <typename T>
int linear_scan(const wry_call *call) {
  const wry_tensor *a = input(call, 0);
  return scan(call, "linear_scan", lines_of(a, attr_int(call, 0), attr_bool(call, 1)),
              Linear<T>{data<T>(a), data<T>(input(call, 1)), data<T>(output(call, 0))});
}

#include <wherry/kernels/rows/scan.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(scan, wherry::cuda::table)
