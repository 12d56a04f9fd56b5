// Pooling: the maximum or the average of windows, and the way back.
//
// One thread computes one element of what is written. Where rows lie after one another in memory (NCHW) a block reads those that its windows
// cover into shared memory, as they lie; where channels do, neighbouring threads have neighbouring channels. On the way back of an average a
// thread adds up the windows that have its place, so nothing is added by two threads and the order is that of the windows.
// 16-bit floats are computed in float32.
#include "images.h"
#include "packs.h"
#include "reduce.h"
#include <float.h>

namespace wherry {
namespace cuda {
namespace {

// Where the windows lie along one axis of n places: fixed ones (kernel > 0) or adaptive ones.
struct Windows {
  int64_t count, n, kernel, step, padding;
  bool exclusive;
  WRY_GPU int64_t first(int64_t i) const {
    if (!kernel) return i * n / count;
    const int64_t at = i * step - padding;
    return at < 0 ? 0 : at > n ? n
                               : at;
  }
  WRY_GPU int64_t last(int64_t i) const {
    if (!kernel) return ((i + 1) * n + count - 1) / count;
    const int64_t end = i * step - padding + kernel;
    const int64_t inside = end < n ? end : n, from = first(i);
    return inside > from ? inside : from;
  }
  // How many places an average counts. All but what is beyond the padding, where the padding after the input is taken to be that
  // before it: as Paddle has it.
  WRY_GPU int64_t extent(int64_t i) const {
    if (!kernel || exclusive) return last(i) - first(i);
    const int64_t begin = i * step - padding, end = begin + kernel;
    return (end < n + padding ? end : n + padding) - begin;
  }
  // The windows that may have place `at` lie within [low, high).
  WRY_GPU int64_t low(int64_t at) const {
    if (!kernel) return at * count / n;
    const int64_t i = at + padding - kernel + step;  // the first with i * step > at + padding - kernel
    return i <= 0 ? 0 : i / step;
  }
  WRY_GPU int64_t high(int64_t at) const {
    const int64_t i = kernel ? (at + padding) / step + 1 : ((at + 1) * count + n - 1) / n;
    return i < count ? i : count;
  }
};
Windows fixed(int64_t count, int64_t n, int64_t kernel, int64_t step, int64_t padding, bool exclusive) { return {count, n, kernel, step, padding, exclusive}; }
Windows adaptive(int64_t count, int64_t n) { return {count, n, 0, 0, 0, true}; }

// ---- forward --------------------------------------------------------------------------------------

// A way of pooling P has  void write(i, ys, xs, y, x, w, at)  for window (y, x) of an input w wide, whose value at (y, x) is at(y, x).

// The first maximum in row-major order wins. NaN is never greater, so it loses against any number; a window without any gives
// the lowest float and position -1. Both are Paddle's ways.
template <typename T>
struct Maximum {
  T *out;
  int32_t *mask;
  template <typename F>
  WRY_GPU void write(int64_t i, const Windows &ys, const Windows &xs, int64_t y, int64_t x, int64_t w, F at) const {
    using A = arithmetic_t<T>;
    A most = A(-FLT_MAX);
    int64_t where = -1;
    const int64_t y_end = ys.last(y), x_begin = xs.first(x), x_end = xs.last(x);
    for (int64_t row = ys.first(y); row < y_end; ++row)
      for (int64_t j = x_begin; j < x_end; ++j) {
        const A value = at(row, j);
        if (value > most || (where < 0 && value == value)) most = value, where = row * w + j;
      }
    out[i] = narrow<T>(most), mask[i] = int32_t(where);
  }
};
WRY_GPU double elements_of(const Windows &ys, const Windows &xs, int64_t y, int64_t x, double divisor) {
  const int64_t n = ys.extent(y) * xs.extent(x);
  return divisor != 0 ? divisor : n > 0 ? double(n)
                                        : 1.0;  // a window that holds nothing gives 0
}
template <typename T>
struct Average {
  T *out;
  double divisor;
  template <typename F>
  WRY_GPU void write(int64_t i, const Windows &ys, const Windows &xs, int64_t y, int64_t x, int64_t, F at) const {
    using A = arithmetic_t<T>;
    A sum = 0;
    const int64_t y_end = ys.last(y), x_begin = xs.first(x), x_end = xs.last(x);
    for (int64_t row = ys.first(y); row < y_end; ++row)
      for (int64_t j = x_begin; j < x_end; ++j) sum += at(row, j);
    out[i] = narrow<T>(sum / A(elements_of(ys, xs, y, x, divisor)));
  }
};

template <typename T, typename P>
__global__ void __launch_bounds__(block_size) pool_elements(int64_t size, Image in, Image to, Windows ys, Windows xs, const T *x, P pool) {
  for
    WRY_EACH(i, size) {
      const Place p = place_of(to, i);
      pool.write(i, ys, xs, p.y, p.x, in.w, [&](int64_t row, int64_t j) { return load(x + offset_of(in, p.n, p.channel, row, j)); });
    }
}

// Whole planes, `planes` of them, or `rows` rows of windows of one: what a block takes at once. They read memory from one place to another.
struct Bands {
  int64_t planes_all;
  int32_t planes, rows, across;  // bands that a plane has
  size_t bytes;                  // of what a band reads, at most
};
template <typename T, typename P>
__global__ void __launch_bounds__(block_size, 1) pool_bands(Bands b, Image in, Image to, Windows ys, Windows xs, bool packed, const T *x, P pool) {
  constexpr int V = pack_size<T>();
  WRY_DYNAMIC_SHARED(uint4, memory);
  T *held = reinterpret_cast<T *>(memory);
  const int64_t groups = (b.planes_all + b.planes - 1) / b.planes, plane = in.h * in.w;
  const int w = int(to.w);
  for (int64_t at = blockIdx.x; at < groups * b.across; at += gridDim.x) {
    const int64_t first = at / b.across * b.planes, row = at % b.across * b.rows;
    const int planes = int(b.planes_all - first < b.planes ? b.planes_all - first : b.planes), rows = int(to.h - row < b.rows ? to.h - row : b.rows);
    // Several planes are read as a whole, their borders that no window has too.
    const int64_t y0 = b.planes > 1 ? 0 : ys.first(row), y1 = b.planes > 1 ? in.h : ys.last(row + rows - 1);
    const int64_t begin = first * plane + y0 * in.w, end = (first + planes - 1) * plane + y1 * in.w;
    const int64_t shifted = packed ? begin / V * V : begin;  // packs begin at multiples of their size
    const int n = int(end - shifted), packs = packed ? n / V : 0;
    __syncthreads();  // the band before may still be read
    for (int i = threadIdx.x; i < packs; i += blockDim.x) {
      T values[V];
      read_words<V>(x + shifted + i * V, values);
      write_words<V>(held + i * V, values);
    }
    for (int i = packs * V + threadIdx.x; i < n; i += blockDim.x) held[i] = x[shifted + i];
    __syncthreads();
    const int64_t out = (first * to.h + row) * to.w;
    const T *origin = held + (begin - shifted) - y0 * in.w;
    for (int i = threadIdx.x; i < planes * rows * w; i += blockDim.x) {
      const int column = i % w, y = i / w % rows;
      const T *from = origin + i / w / rows * plane;
      pool.write(out + i, ys, xs, row + y, column, in.w, [&](int64_t r, int64_t j) { return load(from + r * in.w + j); });
    }
  }
}
// How rows of windows are cut into bands; false where not even one row fits.
bool bands_of(const Image &in, const Image &to, const Windows &ys, int64_t item, Bands *b) {
  constexpr int64_t room = 16 << 10, most = 47 << 10;  // some beside each other, or one if there is no other way
  const int64_t plane = in.h * in.w * item, line = in.w * item, all = in.n * in.channels;
  if (plane <= room) {
    const int64_t fit = plane ? room / plane : 1, spread = all / 512, few = 1024 / (to.h * to.w) + 1;
    const int64_t planes = fit < spread ? fit : spread, taken = planes < few ? planes : few;
    *b = {all, int32_t(taken < 1 ? 1 : taken), int32_t(to.h), 1, size_t((taken < 1 ? 1 : taken) * plane + 16)};
    return true;
  }
  const auto span = [&](int64_t rows) { return (ys.kernel ? (rows - 1) * ys.step + ys.kernel : rows * ys.n / ys.count + 2) * line; };
  int64_t rows = 1;
  while (rows < to.h && (span(rows + 1) <= room || (rows < 4 && span(rows + 1) <= most))) ++rows;
  if (span(rows) > most) return false;
  *b = {all, 1, int32_t(rows), int32_t((to.h + rows - 1) / rows), size_t(span(rows) + 16)};
  return true;
}
template <typename T, typename P>
int pool(const wry_call *call, bool last, const Windows &ys, const Windows &xs, const P &way) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const Image in = image_of(x, last), to = image_of(out, last);
  Bands b;
  if (last || !bands_of(in, to, ys, sizeof(T), &b)) {
    const int threads = threads_for(out->size);
    return check(call, wry_launch(pool_elements<T, P>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, in, to, ys, xs, data<T>(x), way));
  }
  const int64_t blocks = (b.planes_all + b.planes - 1) / b.planes * b.across;
  const dim3 grid(some_blocks(blocks)), block(threads_for(b.planes * b.rows * to.w > int64_t(b.bytes) / 64 ? b.planes * b.rows * to.w : int64_t(b.bytes) / 64));
  return check(call, wry_launch(pool_bands<T, P>, grid, block, b.bytes, stream(call), b, in, to, ys, xs, is_aligned(x->data), data<T>(x), way));
}

template <typename T>
Maximum<T> maximum(const wry_call *call) { return {data<T>(output(call, 0)), data<int32_t>(output(call, 1))}; }
template <typename T>
int max_pool2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 4, "NHWC");
  const Ints kernel = attr_ints(call, 0), strides = attr_ints(call, 1), paddings = attr_ints(call, 2);
  const Image in = image_of(x, last), to = image_of(out, last);
  return pool<T>(call, last, fixed(to.h, in.h, kernel[0], strides[0], paddings[0], true), fixed(to.w, in.w, kernel[1], strides[1], paddings[2], true),
                 maximum<T>(call));
}
template <typename T>
int adaptive_max_pool2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 1, "NHWC");
  const Image in = image_of(x, last), to = image_of(out, last);
  return pool<T>(call, last, adaptive(to.h, in.h), adaptive(to.w, in.w), maximum<T>(call));
}

// ---- averages, and back ---------------------------------------------------------------------------

// One window for each plane: a warp reads it, neighbours side by side.
template <typename T>
__global__ void __launch_bounds__(block_size) average_planes(int64_t planes, int64_t size, const T *x, T *out) {
  using A = arithmetic_t<T>;
  const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
  for (int64_t plane = blockIdx.x * int64_t(warps) + (threadIdx.x >> 5); plane < planes; plane += int64_t(gridDim.x) * warps) {
    A sum = 0;
    for (int64_t i = lane; i < size; i += 32) sum += load(x + plane * size + i);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) out[plane] = narrow<T>(sum / A(size > 0 ? size : 1));
  }
}
template <typename T>
__global__ void __launch_bounds__(block_size, 1) average_vjp(int64_t size, Image in, Image to, Windows ys, Windows xs, double divisor, const T *ct, T *out) {
  using A = arithmetic_t<T>;
  for
    WRY_EACH(i, size) {
      const Place p = place_of(in, i);
      A sum = 0;
      for (int64_t y = ys.low(p.y); y < ys.high(p.y); ++y) {
        if (p.y < ys.first(y) || p.y >= ys.last(y)) continue;
        for (int64_t x = xs.low(p.x); x < xs.high(p.x); ++x)
          if (p.x >= xs.first(x) && p.x < xs.last(x)) sum += load(ct + offset_of(to, p.n, p.channel, y, x)) / A(elements_of(ys, xs, y, x, divisor));
      }
      out[i] = narrow<T>(sum);
    }
}
// Forward from input to output, or back: `to` is the smaller of the two.
template <typename T>
int averages(const wry_call *call, bool back, bool last, bool is_adaptive) {
  const wry_tensor *out = output(call, 0), *from = input(call, 0);
  if (out->size == 0) return WRY_OK;
  const Image in = image_of(back ? out : from, last), to = image_of(back ? from : out, last);
  Windows ys = adaptive(to.h, in.h), xs = adaptive(to.w, in.w);
  double divisor = 0;
  if (!is_adaptive) {
    const Ints kernel = attr_ints(call, 0), strides = attr_ints(call, 1), paddings = attr_ints(call, 2);
    ys = fixed(to.h, in.h, kernel[0], strides[0], paddings[0], attr_bool(call, 4));
    xs = fixed(to.w, in.w, kernel[1], strides[1], paddings[2], attr_bool(call, 4));
    if (!attr_is_none(call, 5)) divisor = attr_float(call, 5);
  }
  const int threads = threads_for(out->size);
  if (back)
    return check(call, wry_launch(average_vjp<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, in, to, ys, xs, divisor,
                                  data<T>(from), data<T>(out)));
  if (is_adaptive && !last && to.h * to.w == 1)
    return check(call, wry_launch(average_planes<T>, blocks_for(out->size, block_size / 32), dim3(block_size), 0, stream(call), out->size, in.h * in.w,
                                  data<T>(from), data<T>(out)));
  return pool<T>(call, last, ys, xs, Average<T>{data<T>(out), divisor});
}
template <typename T>
int avg_pool2d(const wry_call *call) { return averages<T>(call, false, attr_equals(call, 6, "NHWC"), false); }
template <typename T>
int avg_pool2d_vjp(const wry_call *call) { return averages<T>(call, true, attr_equals(call, 6, "NHWC"), false); }
template <typename T>
int adaptive_avg_pool2d(const wry_call *call) { return averages<T>(call, false, attr_equals(call, 1, "NHWC"), true); }
template <typename T>
int adaptive_avg_pool2d_vjp(const wry_call *call) { return averages<T>(call, true, attr_equals(call, 0, "NHWC"), true); }

// ---- places that a mask names ---------------------------------------------------------------------

WRY_GPU int64_t position_of(const void *mask, int32_t dtype, int64_t i) {
  return dtype == WRY_INT64 ? static_cast<const int64_t *>(mask)[i] : static_cast<const int32_t *>(mask)[i];
}

// Values that are added at the places that a mask names. A unit is a plane, or an image whose channels are last: [outputs, lanes] to [places, lanes].
// Several values may have one place; they are added in the order of the outputs. Places are cut into bands, which are
// written by nobody else; outputs into pieces, whose `reach` (the least and the largest place) says which bands they concern.
struct Spots {
  int64_t units, outputs, places, lanes;
  int64_t piece, pieces, band, bands;
  int32_t bits, tiles;  // a block has 1 << bits lanes, of which there are so many tiles
};
constexpr int32_t nowhere = 0x7fffffff;

// The place of an output within its unit, -1 where it has none.
WRY_GPU int64_t checked_place(const Spots &s, int32_t mask_dtype, const void *mask, int64_t at, Report *report, int32_t op) {
  const int64_t place = position_of(mask, mask_dtype, at);
  if (place >= 0 && place < s.places) return place;
  if (place != -1) raise(report, POSITION_OUTSIDE_OF_PLANE, op, place, s.places, at, -1);
  return -1;
}
// Block (piece, unit). reach [units, pieces, 2]
__global__ void __launch_bounds__(block_size) find_reach(Spots s, int32_t mask_dtype, const void *mask, int32_t *reach, Report *report, int32_t op) {
  struct Least {
    using W = int32_t;
    static WRY_GPU W combine(W a, W b) { return a < b ? a : b; }
  };
  for (int64_t at = blockIdx.x; at < s.units * s.pieces; at += gridDim.x) {
    const int64_t unit = at / s.pieces, piece = at % s.pieces, end = piece + 1 < s.pieces ? (piece + 1) * s.piece : s.outputs;
    int32_t least = nowhere, negated = nowhere;
    for (int64_t i = piece * s.piece * s.lanes + threadIdx.x; i < end * s.lanes; i += blockDim.x) {
      const int64_t place = checked_place(s, mask_dtype, mask, unit * s.outputs * s.lanes + i, report, op);
      if (place < 0) continue;
      if (place < least) least = int32_t(place);
      if (-place < negated) negated = -int32_t(place);
    }
    least = block_total<Least>(least), negated = block_total<Least>(negated);
    if (threadIdx.x == 0) reach[2 * at] = least, reach[2 * at + 1] = -negated;
  }
}
WRY_GPU bool reaches(const Spots &s, const int32_t *reach, int64_t unit, int64_t piece, int64_t begin, int64_t end) {
  if (!reach) return true;
  const int32_t *of = reach + 2 * (unit * s.pieces + piece);
  return of[0] < end && of[1] >= begin;
}
// A block takes a band of some lanes, or several whole units of one lane, whose totals are in shared memory. Its threads take outputs side by side; of
// those that want one place the first adds, then the next. Without `reach` all pieces are gone through.
constexpr int band_room = 4096, per_turn = 4;
template <typename T>
__global__ void __launch_bounds__(block_size, 1) add_in_bands(Spots s, int32_t units, int32_t mask_dtype, const T *ct, const void *mask, const int32_t *reach,
                                                              T *out, Report *report, int32_t op) {
  using A = arithmetic_t<T>;
  WRY_DYNAMIC_SHARED(uint4, memory);
  A *total = reinterpret_cast<A *>(memory);
  int32_t *owner = reinterpret_cast<int32_t *>(total + ((units * s.band) << s.bits));
  const int thread = int(threadIdx.x), threads = int(blockDim.x), bits = s.bits, lane = thread & ((1 << bits) - 1);  // there are more threads than lanes
  const int64_t blocks = (s.units + units - 1) / units * s.bands * s.tiles;
  for (int64_t at = blockIdx.x; at < blocks; at += gridDim.x) {
    const int64_t column = (at % s.tiles << bits) + lane, unit = at / s.tiles / s.bands * units, begin = at / s.tiles % s.bands * s.band;
    const int64_t count = s.units - unit < units ? s.units - unit : units, end = begin + s.band < s.places ? begin + s.band : s.places;
    const int room = int(count > 1 ? count * s.places : end - begin) << bits;
    __syncthreads();  // the band before may still be read
    for (int i = thread; i < room; i += threads) total[i] = A(0), owner[i] = nowhere;
    __syncthreads();
    for (int64_t piece = 0; piece < s.pieces; ++piece) {
      if (!reaches(s, reach, unit, piece, begin, end)) continue;
      const int64_t from = unit * s.outputs + piece * s.piece, left = s.outputs * count - piece * s.piece;
      const int outputs = int(s.pieces > 1 && left > s.piece ? s.piece : left) << bits;
      for (int first = 0; first < outputs; first += per_turn * threads) {
        int wanted[per_turn];
        A value[per_turn];
        bool waits = false;
#pragma unroll
        for (int j = 0; j < per_turn; ++j) {
          const int i = (first + j * threads + thread) >> bits;
          wanted[j] = -1;
          if (first + j * threads + thread >= outputs || column >= s.lanes) continue;
          const int64_t source = (from + i) * s.lanes + column, place = checked_place(s, mask_dtype, mask, source, report, op);
          if (place < begin || place >= end) continue;
          wanted[j] = (int(count > 1 ? i / s.outputs * s.places + place : place - begin) << bits) + lane, value[j] = load(ct + source), waits = true;
        }
        while (__syncthreads_or(waits)) {
#pragma unroll
          for (int j = 0; j < per_turn; ++j)
            if (wanted[j] >= 0) atomicMin(&owner[wanted[j]], j * threads + thread);
          __syncthreads();
          bool mine[per_turn];
#pragma unroll
          for (int j = 0; j < per_turn; ++j) mine[j] = wanted[j] >= 0 && owner[wanted[j]] == j * threads + thread;
          __syncthreads();
          waits = false;
#pragma unroll
          for (int j = 0; j < per_turn; ++j) {
            if (mine[j]) total[wanted[j]] += value[j], owner[wanted[j]] = nowhere, wanted[j] = -1;
            waits = waits || wanted[j] >= 0;
          }
        }
      }
    }
    __syncthreads();
    for (int i = thread; i < room; i += threads)
      if (column < s.lanes) out[(unit * s.places + begin + (i >> bits)) * s.lanes + column] = narrow<T>(total[i]);
  }
}
template <typename T>
int max_pool2d_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *mask = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 0, "NHWC");
  const Image from = image_of(ct, last), to = image_of(out, last);
  Spots s = {last ? to.n : to.n * to.channels, from.h * from.w, to.h * to.w, last ? to.channels : 1, 0, 1, 0, 1, 0, 1};
  while (1 << s.bits < s.lanes && s.bits < 4) ++s.bits;  // 16 of them fill a sector of 16-bit floats
  s.tiles = int32_t((s.lanes + (1 << s.bits) - 1) >> s.bits);
  s.band = band_room >> s.bits < s.places ? band_room >> s.bits : s.places;
  s.bands = (s.places + s.band - 1) / s.band;
  s.piece = s.outputs;
  if (s.bands > 1 && s.outputs) {  // rows that give each thread something to do
    s.piece = ((1023 >> s.bits) / from.w + 1) * from.w;
    s.pieces = (s.outputs + s.piece - 1) / s.piece;
  }
  int32_t op, *reach = nullptr;
  Report *report = arm(call, "max_pool2d_vjp", &op);
  if (s.pieces > 1) {
    const int64_t count = s.units * s.pieces;
    if (!(reach = workspace<int32_t>(call, 2 * count))) return fail_memory(call, "max_pool2d_vjp", 2 * count * 4);
    const dim3 grid(some_blocks(count)), block(threads_for(s.piece * s.lanes));
    WRY_TRY(wry_launch(find_reach, grid, block, 0, stream(call), s, mask->dtype, mask->data, reach, report, op));
  }
  // Small planes share a block, as long as there are blocks enough.
  int64_t units = s.bands > 1 || last ? 1 : band_room / s.places, spread = s.units / 512, few = 1024 / (s.outputs + 1) + 1;
  units = units < spread ? units : spread, units = units < few ? units : few, units = units < 1 ? 1 : units;
  const int64_t blocks = (s.units + units - 1) / units * s.bands * s.tiles, room = units * s.band << s.bits, outputs = (units > 1 ? units * s.outputs : s.piece) << s.bits;
  const dim3 grid(some_blocks(blocks)), block(threads_for(outputs > room / 4 ? outputs : room / 4));
  return check(call, wry_launch(add_in_bands<T>, grid, block, size_t(room) * (sizeof(arithmetic_t<T>) + sizeof(int32_t)), stream(call), s, int32_t(units),
                                mask->dtype, data<T>(ct), mask->data, reach, data<T>(out), report, op));
}

// x, mask: the value at each position of the plane, 0 where there is none.
template <typename T>
__global__ void __launch_bounds__(block_size) take(int64_t size, Image in, Image to, int32_t mask_dtype, const T *x, const void *mask, T *out, Report *report,
                                                   int32_t op) {
  for
    WRY_EACH(i, size) {
      const Place p = place_of(to, i);
      const int64_t place = position_of(mask, mask_dtype, i);
      const bool inside = place >= 0 && place < in.h * in.w;
      if (!inside && place != -1) raise(report, POSITION_OUTSIDE_OF_PLANE, op, place, in.h * in.w, i, -1);
      out[i] = inside ? x[offset_of(in, p.n, p.channel, place / in.w, place % in.w)] : narrow<T>(0.0f);
    }
}
template <typename T>
int max_pool2d_take(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *mask = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 0, "NHWC");
  const int threads = threads_for(out->size);
  int32_t op;
  Report *report = arm(call, "max_pool2d_take", &op);
  return check(call, wry_launch(take<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, image_of(x, last), image_of(out, last),
                                mask->dtype, data<T>(x), mask->data, data<T>(out), report, op));
}

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("max_pool2d", WRY_WANTS_CONTIGUOUS, max_pool2d),
    WRY_FLOAT_ROWS("max_pool2d_vjp", WRY_WANTS_CONTIGUOUS, max_pool2d_vjp),
    WRY_FLOAT_ROWS("max_pool2d_take", WRY_WANTS_CONTIGUOUS, max_pool2d_take),
    WRY_FLOAT_ROWS("adaptive_max_pool2d", WRY_WANTS_CONTIGUOUS, adaptive_max_pool2d),
    WRY_FLOAT_ROWS("avg_pool2d", WRY_WANTS_CONTIGUOUS, avg_pool2d),
    WRY_FLOAT_ROWS("avg_pool2d_vjp", WRY_WANTS_CONTIGUOUS, avg_pool2d_vjp),
    WRY_FLOAT_ROWS("adaptive_avg_pool2d", WRY_WANTS_CONTIGUOUS, adaptive_avg_pool2d),
    WRY_FLOAT_ROWS("adaptive_avg_pool2d_vjp", WRY_WANTS_CONTIGUOUS, adaptive_avg_pool2d_vjp),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(pooling, wherry::cuda::table)
