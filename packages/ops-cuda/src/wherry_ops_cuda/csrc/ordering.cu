// Ordering: sorts and what is built on them.
//
// Values are compared as unsigned keys whose order is that of the values, so that two sorts, of 32 and 64 bit keys, serve every
// dtype (sorting.cu). NaN is the largest value, and -0 equals 0. Equal values come in the order of their positions.
#include "reduce.h"
#include "sorting.h"

namespace wherry {
namespace cuda {
namespace {

// ---- keys -----------------------------------------------------------------------------------------

template <typename T>
using key_t = std::conditional_t<std::is_same<T, int64_t>::value || std::is_same<T, double>::value, uint64_t, uint32_t>;
// What of a key differs at all, for the sort: small types have few bits.
template <typename T>
constexpr int key_bits = is_float<T> || sizeof(T) >= 4 ? 8 * int(sizeof(key_t<T>)) : std::is_signed<T>::value ? 32 : 8 * int(sizeof(T));

template <typename T>
WRY_GPU key_t<T> key_of(const T *at) {
  using A = arithmetic_t<T>;
  using K = key_t<T>;
  const A value = load(at);
  constexpr K top = K(1) << (sizeof(K) * 8 - 1);
  if constexpr (is_float<T>) {
    if (value != value) return ~K(0);
    const A plain = value + A(0);  // -0 becomes 0
    K bits;
    memcpy(&bits, &plain, sizeof bits);
    return bits & top ? ~bits : bits | top;
  } else if constexpr (std::is_signed<T>::value) {
    return K(value) ^ top;
  } else {
    return K(value);
  }
}

// The lines of a tensor along an axis.
struct Lines {
  int64_t n, step, count;  // elements of a line, from one to the next, and how many lines
  int32_t rank;
  int64_t shape[WRY_MAX_RANK], strides[WRY_MAX_RANK];
  WRY_GPU int64_t first(int64_t line) const { return offset_of(line, rank, shape, strides); }
};
Lines lines_of(const wry_tensor *x, int axis) {
  Lines l = {x->rank ? x->shape[axis] : 1, x->rank ? x->strides[axis] : 1, 1, 0, {}, {}};
  for (int i = 0; i < x->rank; ++i)
    if (i != axis) l.count *= x->shape[i], l.shape[l.rank] = x->shape[i], l.strides[l.rank++] = x->strides[i];
  return l;
}

int check_length(const wry_call *call, const char *op, int64_t n, size_t key_bytes) {
  if (key_bytes == 8 || n <= int64_t(UINT32_MAX)) return WRY_OK;
  return fail(call, WRY_UNSUPPORTED, "%s: the axis is too long. Got %lld elements, expected less than 2^32. Cast to float64 or int64 for longer ones.", op,
              (long long)n);
}

// ---- sort and topk --------------------------------------------------------------------------------

template <typename T>
__global__ void __launch_bounds__(block_size) keys_of_lines(Lines l, key_t<T> flip, const T *x, Item<key_t<T>> *items) {
  using K = key_t<T>;
  for WRY_EACH (i, l.count * l.n) items[i] = {K(key_of(x + l.first(i / l.n) + i % l.n * l.step) ^ flip), K(i % l.n)};
}
// The first `to.n` of each line's `held` items.
template <typename T>
__global__ void __launch_bounds__(block_size) write_sorted(Lines from, Lines to, int64_t held, const Item<key_t<T>> *items, const T *x, T *values,
                                                           int64_t *indices) {
  for WRY_EACH (i, to.count * to.n) {
    const int64_t line = i / to.n, k = i % to.n, at = int64_t(items[line * held + k].at), place = to.first(line) + k * to.step;
    values[place] = x[from.first(line) + at * from.step];
    indices[place] = at;
  }
}

// Lines of at most short_run elements: a block reads a line, sorts its items in shared memory (`room` of them, a power of two; what is missing
// sorts to the end) and writes the first `to.n`.
template <typename T>
__global__ void __launch_bounds__(block_size) sort_lines(Lines from, Lines to, key_t<T> flip, int room, const T *x, T *values, int64_t *indices) {
  using K = key_t<T>;
  WRY_DYNAMIC_SHARED(uint4, memory);
  Item<K> *items = reinterpret_cast<Item<K> *>(memory);
  T *held = reinterpret_cast<T *>(items + room);
  const int n = int(from.n), thread = int(threadIdx.x), threads = int(blockDim.x);
  for (int64_t line = blockIdx.x; line < from.count; line += gridDim.x) {
    const int64_t source = from.first(line), target = to.first(line);
    __syncthreads();  // the line before may still be read
    for (int i = thread; i < room; i += threads) {
      if (i < n) held[i] = x[source + i * from.step];
      items[i] = i < n ? Item<K>{K(key_of(held + i) ^ flip), K(i)} : Item<K>{K(~K(0)), K(~K(0))};
    }
    sort_held(items, room);
    for (int i = thread; i < int(to.n); i += threads) {
      const int64_t at = int64_t(items[i].at);
      values[target + i * to.step] = held[at], indices[target + i * to.step] = at;
    }
  }
}

// A line's best `k` keys, in no order but that of their positions: block by block of the keys' digits the k-th key is found, and what
// is below it and as many as are needed of its equals are written. One block for each line.
template <typename T>
__global__ void __launch_bounds__(block_size) select_best(Lines l, key_t<T> flip, int64_t k, const T *x, Item<key_t<T>> *items) {
  using K = key_t<T>;
  WRY_SHARED(int64_t, seen, 256);
  WRY_SHARED(unsigned, of_warp, 2 * warps_of_block);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int64_t line = blockIdx.x; line < l.count; line += gridDim.x) {
    const T *from = x + l.first(line);
    K bound = 0, known = 0;  // the k-th key as far as it is known, and which of its bits are
    int64_t wanted = k;      // of those that share them
    for (int shift = 8 * int(sizeof(K)) - 8; shift >= 0; shift -= 8) {
      __syncthreads();
      seen[threadIdx.x] = 0;
      __syncthreads();
      for (int64_t i = threadIdx.x; i < l.n; i += block_size) {
        const K key = key_of(from + i * l.step) ^ flip;
        if ((key & known) == bound) atomicAdd(reinterpret_cast<unsigned long long *>(&seen[key >> shift & 255]), 1ull);
      }
      __syncthreads();
      int digit = 0;
      int64_t before = 0;
      while (before + seen[digit] < wanted) before += seen[digit++];
      wanted -= before;
      bound |= K(digit) << shift, known |= K(255) << shift;
    }
    // Of the keys below the bound all, of its equals the first `wanted`.
    int64_t below = 0, equal = 0;
    Item<K> *out = items + line * k;
    for (int64_t tile = 0; tile < l.n; tile += block_size) {
      const int64_t i = tile + threadIdx.x;
      const K key = i < l.n ? K(key_of(from + i * l.step) ^ flip) : K(0);
      const bool is_below = i < l.n && key < bound, is_equal = i < l.n && key == bound;
      const unsigned lanes_below = __ballot_sync(0xffffffffu, is_below), lanes_equal = __ballot_sync(0xffffffffu, is_equal);
      __syncthreads();
      if (lane == 0) of_warp[warp] = __popc(lanes_below), of_warp[warps_of_block + warp] = __popc(lanes_equal);
      __syncthreads();
      int64_t mine_below = below + __popc(lanes_below & ((1u << lane) - 1)), mine_equal = equal + __popc(lanes_equal & ((1u << lane) - 1));
      for (int w = 0; w < warps_of_block; ++w) {
        if (w < warp) mine_below += of_warp[w], mine_equal += of_warp[warps_of_block + w];
        below += of_warp[w], equal += of_warp[warps_of_block + w];
      }
      // The places count what comes before of either kind, so that positions rise.
      const int64_t equals_before = mine_equal < wanted ? mine_equal : wanted;
      if (is_below || (is_equal && mine_equal < wanted)) out[mine_below + equals_before] = {key, K(i)};
    }
  }
}

template <typename T>
int sorted_lines(const wry_call *call, const char *op, int64_t k, int axis, bool flipped) {
  using K = key_t<T>;
  const wry_tensor *x = input(call, 0), *values = output(call, 0), *indices = output(call, 1);
  const Lines from = lines_of(x, axis), to = lines_of(values, axis);
  if (values->size == 0) return WRY_OK;
  if (const int status = check_length(call, op, from.n, sizeof(K))) return status;
  const K flip = flipped ? K(~K(0)) : K(0);
  if (from.n <= short_run) {
    int room = 2;
    while (room < from.n) room *= 2;
    return check(call, wry_launch(sort_lines<T>, dim3(some_blocks(from.count)), dim3(threads_for(room / 2)),
                                  room * (sizeof(Item<K>) + sizeof(T)), stream(call), from, to, flip, room, data<T>(x), data<T>(values),
                                  data<int64_t>(indices)));
  }
  const bool selects = k * 4 <= from.n;
  const int64_t held = selects ? k : from.n;
  Item<K> *items = workspace<Item<K>>(call, from.count * held);
  if (!items) return fail_memory(call, op, from.count * held * int64_t(sizeof(Item<K>)));
  if (selects) {
    WRY_TRY(wry_launch(select_best<T>, dim3(some_blocks(from.count)), dim3(block_size), 0, stream(call), from, flip, k, data<T>(x),
                       items));
  } else {
    const int threads = threads_for(from.count * held);
    WRY_TRY(wry_launch(keys_of_lines<T>, blocks_for(from.count * held, threads), dim3(threads), 0, stream(call), from, flip, data<T>(x), items));
  }
  if (const int status = sort_items(call, op, &items, from.count, held, key_bits<T>)) return status;
  const int threads = threads_for(values->size);
  return check(call, wry_launch(write_sorted<T>, blocks_for(values->size, threads), dim3(threads), 0, stream(call), from, to, held, items, data<T>(x),
                                data<T>(values), data<int64_t>(indices)));
}
template <typename T>
int sort(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const int axis = int(attr_int(call, 0));
  return sorted_lines<T>(call, "sort", x->rank ? x->shape[axis] : 1, axis, attr_bool(call, 1));
}
// The result is always sorted: `sorted=False` allows any order.
template <typename T>
int topk(const wry_call *call) {
  return sorted_lines<T>(call, "topk", attr_int(call, 0), int(attr_int(call, 1)), attr_bool(call, 2));
}

// ---- unique ---------------------------------------------------------------------------------------

// Rows of x along an axis, wherever they lie: row r, column c is x[r * step + first(c)].
struct Table {
  int64_t n, row;
  Lines columns;  // n, step: of the rows; its lines are the columns
  template <typename T>
  WRY_GPU const T *at(const T *x, int64_t r, int64_t c) const { return x + columns.first(c) + r * columns.step; }
};
Table table_of(const wry_tensor *x, int axis) {
  if (axis < 0) return {x->size, 1, {x->size, 1, 1, 0, {}, {}}};
  const Lines columns = lines_of(x, axis);
  return {columns.n, columns.count, columns};
}

// Item i gets the key of column c of row order[i].
template <typename T>
__global__ void __launch_bounds__(block_size) keys_of_column(Table t, int64_t c, const int64_t *order, const T *x, Item<key_t<T>> *items) {
  using K = key_t<T>;
  for WRY_EACH (i, t.n) items[i] = {key_of(t.at(x, order ? order[i] : i, c)), K(i)};
}
// Items that name places of an order name its rows instead, and their order is the next one.
template <typename K>
__global__ void __launch_bounds__(block_size) name_rows(int64_t n, const int64_t *order, Item<K> *items, int64_t *next) {
  for WRY_EACH (i, n) {
    const int64_t row = order ? order[items[i].at] : int64_t(items[i].at);
    items[i].at = K(row);
    next[i] = row;
  }
}

// Does a run of equal rows begin at place i of the order? NaN differs from itself.
template <typename T>
struct Begins {
  Table t;
  const T *x;
  const Item<key_t<T>> *items;  // null: the order is that of the rows
  WRY_GPU bool operator()(int64_t i) const {
    if (i == 0) return true;
    const int64_t r = items ? int64_t(items[i].at) : i, before = items ? int64_t(items[i - 1].at) : i - 1;
    for (int64_t c = 0; c < t.row; ++c)
      if (!(load(t.at(x, r, c)) == load(t.at(x, before, c)))) return true;
    return false;
  }
};
template <typename K>
struct NumberRuns {
  const Item<K> *items;
  int64_t *inverse, *starts;  // of each row: its run; of each run: its first place in the order
  WRY_GPU void operator()(int64_t i, int64_t rank, bool begins) const {
    inverse[items ? int64_t(items[i].at) : i] = begins ? rank : rank - 1;
    if (begins) starts[rank] = i;
  }
};
template <typename K>
__global__ void __launch_bounds__(block_size) describe_runs(int64_t count, int64_t n, const int64_t *starts, const Item<K> *items, int64_t *index,
                                                            int64_t *counts) {
  for WRY_EACH (i, count) {
    if (index) index[i] = int64_t(items[starts[i]].at);
    counts[i] = (i + 1 < count ? starts[i + 1] : n) - starts[i];
  }
}
// out [outer, count, inner] of the rows with which the runs begin
template <typename K, typename W>
__global__ void __launch_bounds__(block_size) write_runs(Table t, int64_t count, int64_t inner, const int64_t *starts, const Item<K> *items, const W *x, W *out) {
  for WRY_EACH (i, count * t.row) {
    const int64_t r = i / inner % count, c = i / inner / count * inner + i % inner, place = starts[r];
    out[i] = *t.at(x, items ? int64_t(items[place].at) : place, c);
  }
}

int64_t *allocate_line(const wry_call *call, int32_t output, int64_t n) {
  return static_cast<int64_t *>(call->context->allocate_output(call->context, output, 1, &n));
}

// unique(x) -> out, index, inverse, counts; unique_consecutive(x) -> out, inverse, counts
template <typename T, bool Consecutive>
int unique_rows(const wry_call *call, const char *op) {
  using K = key_t<T>;
  const wry_tensor *x = input(call, 0);
  const int axis = attr_is_none(call, 0) ? -1 : int(attr_int(call, 0));
  const Table t = table_of(x, axis);
  if (const int status = check_length(call, op, t.n, sizeof(K))) return status;
  Item<K> *items = nullptr;
  if (!Consecutive && t.n) {
    if (!(items = workspace<Item<K>>(call, t.n))) return fail_memory(call, op, t.n * int64_t(sizeof(Item<K>)));
    SortScratch scratch;
    int64_t *order = nullptr, *next = t.row > 1 ? workspace<int64_t>(call, t.n) : nullptr, *spare = t.row > 1 ? workspace<int64_t>(call, t.n) : nullptr;
    if (t.row > 1 && (!next || !spare)) return fail_memory(call, op, t.n * 16);
    const int threads = threads_for(t.n);
    // By columns from the last to the first, each keeping the order of the one before.
    for (int64_t c = t.row - 1; c >= 0; --c) {
      WRY_TRY(wry_launch(keys_of_column<T>, blocks_for(t.n, threads), dim3(threads), 0, stream(call), t, c, order, data<T>(x), items));
      if (const int status = sort_items(call, op, &items, 1, t.n, key_bits<T>, &scratch)) return status;
      if (t.row == 1) break;
      WRY_TRY(wry_launch(name_rows<K>, blocks_for(t.n, threads), dim3(threads), 0, stream(call), t.n, order, items, next));
      order = next, next = spare, spare = order;
    }
    if (t.row == 0) WRY_TRY(cudaMemsetAsync(items, 0, size_t(t.n) * sizeof(Item<K>), stream(call)));
  }
  int64_t *inverse = allocate_line(call, Consecutive ? 1 : 2, t.n), *starts = workspace<int64_t>(call, t.n + 1), *before, count = 0;
  if (!inverse || !starts) return fail_memory(call, op, t.n * 16);
  const Begins<T> begins = {t, data<T>(x), items};
  if (const int status = count_runs(call, op, t.n, begins, &before)) return status;
  if (const int status = use_runs(call, t.n, begins, before, NumberRuns<K>{items, inverse, starts})) return status;
  if (const int status = fetch(call, before + runs_of(t.n), &count)) return status;
  int64_t *index = Consecutive ? nullptr : allocate_line(call, 1, count), *counts = allocate_line(call, Consecutive ? 2 : 3, count);
  int64_t shape[WRY_MAX_RANK], inner = 1;
  const int rank = axis < 0 ? 1 : x->rank;
  for (int i = 0; i < rank; ++i) shape[i] = axis < 0 || i == axis ? count : x->shape[i];
  for (int i = axis + 1; axis >= 0 && i < x->rank; ++i) inner *= x->shape[i];
  void *out = call->context->allocate_output(call->context, 0, rank, shape);
  if (!counts || !out || (!Consecutive && !index)) return fail_memory(call, op, count * (16 + t.row * int64_t(sizeof(T))));
  if (count == 0) return WRY_OK;
  const int threads = threads_for(count);
  WRY_TRY(wry_launch(describe_runs<K>, blocks_for(count, threads), dim3(threads), 0, stream(call), count, t.n, starts, items, index, counts));
  if (t.row == 0) return WRY_OK;
  return dispatch_size(sizeof(T), [&](auto tag) {
    using W = decltype(tag);
    const int each = threads_for(count * t.row);
    return check(call, wry_launch(write_runs<K, W>, blocks_for(count * t.row, each), dim3(each), 0, stream(call), t, count, inner, starts, items, data<W>(x),
                                  static_cast<W *>(out)));
  });
}
template <typename T>
int unique(const wry_call *call) { return unique_rows<T, false>(call, "unique"); }
template <typename T>
int unique_consecutive(const wry_call *call) { return unique_rows<T, true>(call, "unique_consecutive"); }

// ---- searches and counts --------------------------------------------------------------------------

// A 1-D sequence serves every value; otherwise row r of the values looks into row r. One thread for each value.
template <typename T>
__global__ void __launch_bounds__(block_size) search(int64_t size, int64_t n, int64_t columns, bool shared, bool right, const T *sequence, const T *values,
                                                     int64_t *out) {
  for WRY_EACH (i, size) {
    const T *row = sequence + (shared ? 0 : i / columns * n);
    const key_t<T> value = key_of(values + i);
    int64_t low = 0, left = n;
    while (left > 0) {
      const int64_t middle = left / 2;
      const key_t<T> key = key_of(row + low + middle);
      const bool before = right ? key <= value : key < value;
      low = before ? low + middle + 1 : low;
      left = before ? left - middle - 1 : middle;
    }
    out[i] = low;
  }
}
template <typename T>
int searchsorted(const wry_call *call) {
  const wry_tensor *sequence = input(call, 0), *values = input(call, 1);
  if (values->size == 0) return WRY_OK;
  const bool shared = sequence->rank == 1 || values->rank == 0;
  const int threads = threads_for(values->size);
  return check(call, wry_launch(search<T>, blocks_for(values->size, threads), dim3(threads), 0, stream(call), values->size, sequence->shape[sequence->rank - 1],
                                shared ? values->size : values->shape[values->rank - 1], shared, attr_bool(call, 0), data<T>(sequence), data<T>(values),
                                data<int64_t>(output(call, 0))));
}

// Counts are integers, which atomics add up in any order to the same.
template <typename T>
__global__ void __launch_bounds__(block_size) count_in_bins(int64_t n, int64_t bins, double low, double high, const T *x, unsigned long long *counts) {
  for WRY_EACH (i, n) {
    const double value = double(load(x + i));
    if (!(value >= low && value <= high)) continue;  // NaN, too, is in no bin
    const int64_t bin = int64_t((value - low) * double(bins) / (high - low));
    atomicAdd(counts + (bin < bins - 1 ? bin : bins - 1), 1ull);  // the last bin holds its right edge
  }
}
template <typename T_>
struct Range {  // NaN does not count
  using T = T_;
  struct W {
    double low, high;
  };
  static WRY_GPU W combine(W a, W b) { return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high}; }
};
template <typename T>
__global__ void __launch_bounds__(block_size) range_of(int64_t n, const T *x, double *range) {
  typename Range<T>::W own = {double(INFINITY), -double(INFINITY)};
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const double value = double(load(x + i));
    if (value == value) own = Range<T>::combine(own, {value, value});
  }
  own = block_total<Range<T>>(own);
  if (threadIdx.x == 0) range[0] = own.low, range[1] = own.high;
}
template <typename T>
int histogram(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const int64_t bins = attr_int(call, 0);
  double low = attr_float(call, 1), high = attr_float(call, 2);
  if (bins == 0) return WRY_OK;
  WRY_TRY(cudaMemsetAsync(out->data, 0, size_t(bins) * 8, stream(call)));
  if (x->size == 0) return WRY_OK;
  if (low == high) {  // the range of the data, which the host has to know to refuse one that is not finite
    double range[2], *found = workspace<double>(call, 2);
    if (!found) return fail_memory(call, "histogram", 16);
    WRY_TRY(wry_launch(range_of<T>, dim3(1), dim3(block_size), 0, stream(call), x->size, data<T>(x), found));
    WRY_TRY(cudaMemcpyAsync(range, found, sizeof range, cudaMemcpyDeviceToHost, stream(call)));
    WRY_TRY(cudaStreamSynchronize(stream(call)));
    if (range[0] <= range[1]) low = range[0], high = range[1];
  }
  if (!(high - low <= 1.7976931348623157e308))
    return fail(call, WRY_INVALID,
                "histogram: the range of the bins is not finite. Got min=%g and max=%g, expected finite numbers. Give min and max, or remove infinite values first.",
                low, high);
  if (low == high) low -= 1, high += 1;
  const int threads = threads_for(x->size);
  return check(call, wry_launch(count_in_bins<T>, blocks_for(x->size, threads), dim3(threads), 0, stream(call), x->size, bins, low, high, data<T>(x),
                                data<unsigned long long>(out)));
}

// found[0], found[1]: the smallest and the largest value.
template <typename I>
struct Span {
  using T = I;
  struct W {
    int64_t low, high;
  };
  static WRY_GPU W combine(W a, W b) { return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high}; }
};
template <typename I>
__global__ void __launch_bounds__(block_size) span_of(int64_t n, const I *x, int64_t *found) {
  typename Span<I>::W own = {0, -1};
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) own = Span<I>::combine(own, {int64_t(x[i]), int64_t(x[i])});
  own = block_total<Span<I>>(own);
  if (threadIdx.x == 0) found[0] = own.low, found[1] = own.high;
}
template <typename I>
__global__ void __launch_bounds__(block_size) count_values(int64_t n, const I *x, unsigned long long *counts) {
  for WRY_EACH (i, n) atomicAdd(counts + int64_t(x[i]), 1ull);
}
template <typename I>
__global__ void __launch_bounds__(block_size) value_items(int64_t n, const I *x, Item<uint64_t> *items) {
  for WRY_EACH (i, n) items[i] = {uint64_t(x[i]), uint64_t(i)};
}
// Weights of equal values, added up in their order by the thread where their run begins.
template <typename Out, typename V>
__global__ void __launch_bounds__(block_size) add_weights(int64_t n, const Item<uint64_t> *items, const V *weights, Out *out) {
  for WRY_EACH (i, n) {
    const uint64_t bin = items[i].key;
    if (i && items[i - 1].key == bin) continue;
    Out total = 0;
    for (int64_t q = i; q < n && items[q].key == bin; ++q) total += Out(weights[items[q].at]);
    out[bin] = total;
  }
}
template <typename I>
int bincount(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weights = input(call, 1);
  const int64_t n = x->size;
  int64_t bins = n == 0 ? 0 : attr_int(call, 0), span[2] = {0, -1};  // of nothing, Paddle counts nothing
  const int threads = threads_for(n);
  if (n) {
    int64_t *found = workspace<int64_t>(call, 2);
    if (!found) return fail_memory(call, "bincount", 16);
    WRY_TRY(wry_launch(span_of<I>, dim3(1), dim3(block_size), 0, stream(call), n, data<I>(x), found));
    WRY_TRY(cudaMemcpyAsync(span, found, sizeof span, cudaMemcpyDeviceToHost, stream(call)));
    WRY_TRY(cudaStreamSynchronize(stream(call)));
  }
  if (span[0] < 0)
    return fail(call, WRY_INVALID,
                "bincount: value %lld is negative. Got %lld as the smallest value of x, expected values of 0 or more. Subtract the minimum first.",
                (long long)span[0], (long long)span[0]);
  bins = span[1] == INT64_MAX ? -1 : bins > span[1] + 1 ? bins : span[1] + 1;
  void *out = bins < 0 || bins > (int64_t(1) << 56) ? nullptr : call->context->allocate_output(call->context, 0, 1, &bins);
  if (!out)
    return fail(call, WRY_OUT_OF_MEMORY,
                "bincount: out of memory. Got %lld as the largest value, which needs that many bins. Use unique with return_counts for sparse values.",
                (long long)(bins - 1));
  const bool narrow_sums = weights && weights->dtype == WRY_FLOAT32;
  if (bins) WRY_TRY(cudaMemsetAsync(out, 0, size_t(bins) * (narrow_sums ? 4 : 8), stream(call)));
  if (n == 0) return WRY_OK;
  if (!weights)
    return check(call, wry_launch(count_values<I>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, data<I>(x), static_cast<unsigned long long *>(out)));
  Item<uint64_t> *items = workspace<Item<uint64_t>>(call, n);
  if (!items) return fail_memory(call, "bincount", n * 16);
  WRY_TRY(wry_launch(value_items<I>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, data<I>(x), items));
  int bits = 1;
  while (bits < 63 && bins >> bits) ++bits;
  if (const int status = sort_items(call, "bincount", &items, 1, n, bits)) return status;
  if (narrow_sums)
    return check(call, wry_launch(add_weights<float, float>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, items, data<float>(weights),
                                  static_cast<float *>(out)));
  return dispatch<double, int32_t, int64_t>(weights->dtype, [&](auto tag) {
    using V = decltype(tag);
    return check(call, wry_launch(add_weights<double, V>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, items, data<V>(weights),
                                  static_cast<double *>(out)));
  });
}

template <typename I>
__global__ void __launch_bounds__(block_size) shard(int64_t n, int64_t total, int64_t size, int64_t own, int64_t ignored, Report *report, int32_t op, const I *x,
                                                    I *out) {
  for WRY_EACH (i, n) {
    const int64_t value = int64_t(x[i]);
    if (value < 0 || value >= total) raise(report, VALUE_OUTSIDE_OF_TABLE, op, value, total, i);
    out[i] = I(value / size == own ? value % size : ignored);
  }
}
template <typename I>
int shard_index(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const int64_t total = attr_int(call, 0), shards = attr_int(call, 1);
  if (x->size == 0) return WRY_OK;
  int32_t op;
  Report *report = arm(call, "shard_index", &op);
  const int threads = threads_for(x->size);
  return check(call, wry_launch(shard<I>, blocks_for(x->size, threads), dim3(threads), 0, stream(call), x->size, total, (total + shards - 1) / shards,
                                attr_int(call, 2), attr_int(call, 3), report, op, data<I>(x), data<I>(output(call, 0))));
}

#include <wherry/kernels/rows/ordering.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(ordering, wherry::cuda::table)
