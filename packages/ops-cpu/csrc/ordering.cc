// Ordering: sorts and what is built on them.
//
// Compiled once, for no special instruction set: time goes into branches and cache misses here.
// Values are compared as unsigned keys whose order is that of the values (`key_of`), so that two
// sorts, of 32 and 64 bit keys, serve every dtype. NaN is the largest value, and -0 equals 0.
#include <algorithm>

#include "copy.h"

namespace WRY_NAMESPACE {

// ---- keys ---------------------------------------------------------------------------------------

template <typename T>
struct key_type {
  using type = uint32_t;
};
template <>
struct key_type<int64_t> {
  using type = uint64_t;
};
template <>
struct key_type<double> {
  using type = uint64_t;
};
template <typename T>
using key_t = typename key_type<T>::type;

template <typename T>
WRY_INLINE key_t<T> key_of(T value) {
  using A = arithmetic_t<T>;
  const A a = A(value);
  if constexpr (code_of<A>::value == WRY_FLOAT32 || code_of<A>::value == WRY_FLOAT64) {
    using K = key_t<A>;
    constexpr K top = K(1) << (sizeof(K) * 8 - 1);
    if (a != a) return ~K(0);
    const A plain = a + A(0);  // -0 becomes 0
    K bits;
    memcpy(&bits, &plain, sizeof(K));
    return bits & top ? ~bits : bits | top;
  } else if constexpr (code_of<T>::value == WRY_BOOL || code_of<T>::value == WRY_UINT8) {
    return key_t<T>(value);
  } else {
    using K = key_t<T>;
    return K(value) ^ (K(1) << (sizeof(K) * 8 - 1));
  }
}

// A key with the position of its value. Comparing both makes every order total, so any sort is stable.
template <typename K>
struct Item {
  K at, key;
  Item() = default;
  WRY_INLINE Item(K key_, K at_) : at(at_), key(key_) {}
  friend WRY_INLINE bool operator<(const Item &a, const Item &b) {
    if constexpr (sizeof(K) == 4) return (uint64_t(a.key) << 32 | a.at) < (uint64_t(b.key) << 32 | b.at);
    return a.key != b.key ? a.key < b.key : a.at < b.at;
  }
};

// Sorts by key, keeping the order of equal ones. `spare` has room for n items.
//
// Least significant digit radix sort (Knuth, vol. 3, 5.2.5) with 8 bit digits; digits that are the
// same in every key cost no pass. Short lines, where its histograms would dominate, are merge
// sorted by the standard library.
template <typename K>
static void sort_items(Item<K> *items, Item<K> *spare, int64_t n) {
  if (n <= 16) {
    for (int64_t i = 1; i < n; ++i) {
      const Item<K> item = items[i];
      int64_t j = i;
      for (; j > 0 && item.key < items[j - 1].key; --j) items[j] = items[j - 1];
      items[j] = item;
    }
    return;
  }
  if (n <= 512) {
    std::sort(items, items + n);
    return;
  }
  constexpr int digits = sizeof(K);
  int64_t counts[digits][256];
  memset(counts, 0, sizeof(counts));
  for (int64_t i = 0; i < n; ++i)
    for (int d = 0; d < digits; ++d) ++counts[d][(items[i].key >> (8 * d)) & 255];
  Item<K> *from = items, *to = spare;
  for (int d = 0; d < digits; ++d) {
    if (counts[d][(from[0].key >> (8 * d)) & 255] == n) continue;
    int64_t starts[256], at = 0;
    for (int v = 0; v < 256; ++v) starts[v] = at, at += counts[d][v];
    for (int64_t i = 0; i < n; ++i) to[starts[(from[i].key >> (8 * d)) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) memcpy(items, from, size_t(n) * sizeof(Item<K>));
}

// The lines of a tensor along an axis.
struct Lines {
  int64_t n, step, count;  // elements of a line, from one to the next, and how many lines
  View view;               // the other axes

  Lines(const wry_tensor *x, int axis) : view(x) {
    n = x->rank == 0 ? 1 : x->shape[axis];
    step = x->rank == 0 ? 1 : x->strides[axis];
    if (x->rank != 0) view.remove(axis);
    count = view.tensor.size;
  }
  WRY_INLINE int64_t offset(int64_t line) const {
    int64_t at = 0;
    for (int a = view.tensor.rank - 1; a >= 0; --a) {
      at += line % view.shape[a] * view.strides[a];
      line /= view.shape[a];
    }
    return at;
  }
};

// Runs f(line, buffer, spare) for every line, with scratch items of its own for each thread's piece.
template <typename K, typename F>
static int for_each_line(const wry_call *call, const char *op, const Lines &lines, F f) {
  if (lines.count == 0) return WRY_OK;
  const int64_t n = lines.n;
  if (sizeof(K) == 4 && n > int64_t(UINT32_MAX))
    return fail(call, WRY_UNSUPPORTED,
                "%s: the axis is too long. Got %lld elements, expected less than 2^32. "
                "Cast to float64 or int64 for longer ones.",
                op, (long long)n);
  // Pieces of consecutive lines; few enough that their buffers stay small.
  const int64_t pieces = min_of<int64_t>(lines.count, min_of<int64_t>(threads_for(call, lines.count), 1 + lines.count * n / 2048));
  Item<K> *buffers = workspace<Item<K>>(call, pieces * 2 * max_of<int64_t>(n, 1));
  if (!buffers) return fail_memory(call, op, pieces * 2 * n * int64_t(sizeof(Item<K>)));
  parallel_for(call, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      for (int64_t line = lines.count * p / pieces; line < lines.count * (p + 1) / pieces; ++line)
        f(line, buffers + p * 2 * n, buffers + (p * 2 + 1) * n);
  });
  return WRY_OK;
}

// ---- sort and topk ------------------------------------------------------------------------------

template <typename T>
static int sort(const wry_call *call) {
  using K = key_t<T>;
  const wry_tensor *x = input(call, 0), *values = output(call, 0), *indices = output(call, 1);
  const int axis = int(attr_int(call, 0));
  const K flip = attr_bool(call, 1) ? ~K(0) : K(0);
  const Lines from(x, axis), to(values, axis);
  return for_each_line<K>(call, "sort", from, [&](int64_t line, Item<K> *items, Item<K> *spare) {
    const T *source = data<T>(x) + from.offset(line);
    const int64_t start = to.offset(line);
    for (int64_t i = 0; i < from.n; ++i) items[i] = {K(key_of(source[i * from.step]) ^ flip), K(i)};
    sort_items(items, spare, from.n);
    for (int64_t i = 0; i < from.n; ++i) {
      data<T>(values)[start + i * to.step] = source[int64_t(items[i].at) * from.step];
      data<int64_t>(indices)[start + i * to.step] = int64_t(items[i].at);
    }
  });
}

// Equal values come in the order of their positions. The result is always sorted: `sorted=False`
// allows any order.
template <typename T>
static int topk(const wry_call *call) {
  using K = key_t<T>;
  const wry_tensor *x = input(call, 0), *values = output(call, 0), *indices = output(call, 1);
  const int64_t k = attr_int(call, 0);
  const int axis = int(attr_int(call, 1));
  const K flip = attr_bool(call, 2) ? ~K(0) : K(0);
  const Lines from(x, axis), to(values, axis);
  if (k == 0) return WRY_OK;
  return for_each_line<K>(call, "topk", from, [&](int64_t line, Item<K> *items, Item<K> *spare) {
    const T *source = data<T>(x) + from.offset(line);
    const int64_t start = to.offset(line), n = from.n;
    int64_t held = 0;
    if (k * 8 < n) {
      K *keys = (K *)spare, *least = keys + n;
      for (int64_t i = 0; i < n; ++i) keys[i] = K(key_of(source[i * from.step]) ^ flip);
      // The k-th smallest of what is least in each of some columns bounds the k-th smallest of all, closely.
      const int64_t columns = min_of(n, (4 * k + 15) / 16 * 16);
      memcpy(least, keys, size_t(columns) * sizeof(K));
      for (int64_t r = columns; r + columns <= n; r += columns)
        for (int64_t j = 0; j < columns; ++j) least[j] = min_of(least[j], keys[r + j]);
      std::nth_element(least, least + k - 1, least + columns);
      const K bound = least[k - 1];
      int64_t equal = 0;  // later positions lose ties, so k of those that equal the bound are enough
      for (int64_t block = 0; block < n; block += 16) {
        const int64_t end = min_of(n, block + 16);
        if (end == block + 16) {  // usually nothing of 16 values enters
          K enters = 0;
          for (int64_t i = 0; i < 16; ++i) enters |= K(keys[block + i] <= bound);
          if (!enters) continue;
        }
        for (int64_t i = block; i < end; ++i) {
          if (keys[i] > bound || (keys[i] == bound && equal == k)) continue;
          equal += keys[i] == bound;
          items[held++] = {keys[i], K(i)};
        }
      }
    } else {
      for (; held < n; ++held) items[held] = {K(key_of(source[held * from.step]) ^ flip), K(held)};
    }
    if (k < held) std::nth_element(items, items + k - 1, items + held);
    if (k <= 512) {
      std::sort(items, items + k);
    } else {
      std::sort(items, items + k, [](const Item<K> &a, const Item<K> &b) { return a.at < b.at; });
      sort_items(items, spare, k);
    }
    for (int64_t i = 0; i < k; ++i) {
      data<T>(values)[start + i * to.step] = source[int64_t(items[i].at) * from.step];
      data<int64_t>(indices)[start + i * to.step] = int64_t(items[i].at);
    }
  });
}

// ---- unique -------------------------------------------------------------------------------------

template <typename T>
static bool differ(const T *a, const T *b, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (!(arithmetic_t<T>(a[i]) == arithmetic_t<T>(b[i]))) return true;  // NaN differs from itself
  return false;
}

// x as contiguous rows [n, row] in scratch memory, the axis first; x itself where it is that.
template <typename T>
static const T *rows_of(const wry_call *call, const char *op, const wry_tensor *x, int axis) {
  (void)op;
  if (axis <= 0) return data<T>(x);
  T *own = workspace<T>(call, x->size);
  if (!own) return nullptr;
  View source(x), target(x);
  const int64_t n = x->shape[axis], step = x->strides[axis];
  for (int i = axis; i > 0; --i) source.shape[i] = x->shape[i - 1], source.strides[i] = x->strides[i - 1];
  source.shape[0] = n, source.strides[0] = step;
  int64_t pace = 1;
  for (int i = x->rank - 1; i >= 0; --i) target.shape[i] = source.shape[i], target.strides[i] = pace, pace *= source.shape[i];
  target.tensor.data = own;
  copy_strided(call, &target.tensor, &source.tensor);
  return own;
}

// Writes rows `chosen` of [n, row] as the first output: along `axis` (or flat when axis is -1).
template <typename T>
static int write_unique(const wry_call *call, const char *op, const wry_tensor *x, int axis, const T *rows, int64_t row,
                        const int64_t *chosen, int64_t count) {
  int64_t shape[WRY_MAX_RANK];
  const int rank = axis < 0 ? 1 : x->rank;
  for (int i = 0; i < rank; ++i) shape[i] = axis < 0 || i == axis ? count : x->shape[i];
  T *out = (T *)call->context->allocate_output(call->context, 0, rank, shape);
  if (!out) return fail_memory(call, op, count * row * int64_t(sizeof(T)));
  // Row r of [n, outer, inner] goes to [outer, r, inner].
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= x->shape[i];
  const int64_t inner = row / max_of<int64_t>(outer, 1);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t o = 0; o < outer; ++o)
      memcpy((void *)(out + (o * count + r) * inner), (const void *)(rows + chosen[r] * row + o * inner), size_t(inner) * sizeof(T));
  return WRY_OK;
}

static int64_t *allocate_line(const wry_call *call, int32_t index, int64_t n) {
  return (int64_t *)call->context->allocate_output(call->context, index, 1, &n);
}

// unique where the keys of single values lie in [low, low + range): they are counted, not sorted.
template <typename T, typename K>
static int unique_of_few(const wry_call *call, const wry_tensor *x, int axis, const T *rows, const K *keys, int64_t n, K low,
                         int64_t range, int64_t *chosen) {
  int64_t *inverse = allocate_line(call, 2, n), *table = workspace<int64_t>(call, 2 * range);
  if (!inverse || !table) return fail_memory(call, "unique", n * 8 + range * 16);
  int64_t *times = table + range, count = 0;
  memset(times, 0, size_t(range) * 8);
  for (int64_t i = n - 1; i >= 0; --i) table[keys[i] - low] = i, ++times[keys[i] - low];
  for (int64_t v = 0; v < range; ++v)
    if (times[v] != 0) chosen[count] = table[v], times[count] = times[v], table[v] = count++;
  int64_t *index = allocate_line(call, 1, count), *counts = allocate_line(call, 3, count);
  if (!index || !counts) return fail_memory(call, "unique", count * 16);
  memcpy(index, chosen, size_t(count) * 8);
  memcpy(counts, times, size_t(count) * 8);
  parallel_for(call, n, 32768, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) inverse[i] = table[keys[i] - low];
  });
  return write_unique(call, "unique", x, axis, rows, 1, chosen, count);
}

template <typename T>
static int unique(const wry_call *call) {
  using K = key_t<T>;
  const wry_tensor *x = input(call, 0);
  const int axis = attr_is_none(call, 0) ? -1 : int(attr_int(call, 0));
  const int64_t n = axis < 0 ? x->size : x->shape[axis];
  const int64_t row = axis < 0 ? 1 : (n == 0 ? 0 : x->size / n);
  const T *rows = rows_of<T>(call, "unique", x, axis);
  Item<K> *items = workspace<Item<K>>(call, 2 * n + 1);
  int64_t *chosen = workspace<int64_t>(call, n + 1);
  if (!rows || !items || !chosen) return fail_memory(call, "unique", x->size * int64_t(sizeof(T)) + n * 40);
  if (row == 1) {
    K *keys = (K *)(items + n);
    K low = ~K(0), high = 0;
    for (int64_t i = 0; i < n; ++i) {
      keys[i] = key_of(rows[i]);
      low = min_of(low, keys[i]), high = max_of(high, keys[i]);
    }
    const bool nan = std::is_floating_point_v<arithmetic_t<T>> && high == ~K(0);  // each NaN is a value of its own
    if (n > 0 && !nan && high - low < K(n)) return unique_of_few<T>(call, x, axis, rows, keys, n, low, int64_t(high - low) + 1, chosen);
    for (int64_t i = n - 1; i >= 0; --i) items[i] = {keys[i], K(i)};
    sort_items(items, items + n, n);
  } else {
    for (int64_t i = 0; i < n; ++i) items[i] = {K(0), K(i)};
    std::sort(items, items + n, [=](const Item<K> &a, const Item<K> &b) {
      const T *left = rows + int64_t(a.at) * row, *right = rows + int64_t(b.at) * row;
      for (int64_t i = 0; i < row; ++i) {
        const K l = key_of(left[i]), r = key_of(right[i]);
        if (l != r) return l < r;
      }
      return a.at < b.at;
    });
  }
  int64_t *inverse = allocate_line(call, 2, n);
  int64_t *starts = workspace<int64_t>(call, n + 1);
  if (!inverse || !starts) return fail_memory(call, "unique", n * 16);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || differ(rows + int64_t(items[i].at) * row, rows + int64_t(items[i - 1].at) * row, row)) {
      chosen[count] = int64_t(items[i].at);
      starts[count++] = i;
    }
    inverse[items[i].at] = count - 1;
  }
  starts[count] = n;
  int64_t *index = allocate_line(call, 1, count), *counts = allocate_line(call, 3, count);
  if (!index || !counts) return fail_memory(call, "unique", count * 16);
  for (int64_t i = 0; i < count; ++i) index[i] = chosen[i], counts[i] = starts[i + 1] - starts[i];
  return write_unique(call, "unique", x, axis, rows, row, chosen, count);
}

template <typename T>
static int unique_consecutive(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const int axis = attr_is_none(call, 0) ? -1 : int(attr_int(call, 0));
  const int64_t n = axis < 0 ? x->size : x->shape[axis];
  const int64_t row = axis < 0 ? 1 : (n == 0 ? 0 : x->size / n);
  const T *rows = rows_of<T>(call, "unique_consecutive", x, axis);
  int64_t *chosen = workspace<int64_t>(call, n + 1);
  int64_t *inverse = allocate_line(call, 1, n);
  if (!rows || !chosen || !inverse)
    return fail_memory(call, "unique_consecutive", x->size * int64_t(sizeof(T)) + n * 16);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || differ(rows + i * row, rows + (i - 1) * row, row)) chosen[count++] = i;
    inverse[i] = count - 1;
  }
  chosen[count] = n;
  int64_t *counts = allocate_line(call, 2, count);
  if (!counts) return fail_memory(call, "unique_consecutive", count * 8);
  for (int64_t i = 0; i < count; ++i) counts[i] = chosen[i + 1] - chosen[i];
  return write_unique(call, "unique_consecutive", x, axis, rows, row, chosen, count);
}

// ---- searches and counts ------------------------------------------------------------------------

// Eight searches go side by side, a step of all of them at a time: none waits for the memory of another, and
// there is nothing to foresee.
template <bool right, typename T>
static void search(const T *row, int64_t n, const T *values, int64_t count, int64_t *out) {
  using A = arithmetic_t<T>;
  constexpr int side = 8;
  const auto before = [](T a, A b) { return int64_t(right ? A(a) <= b : A(a) < b); };
  for (int64_t i = 0; i < count; i += side) {
    const int here = int(min_of<int64_t>(side, count - i));
    A value[side];
    int64_t low[side] = {};
    for (int k = 0; k < side; ++k) value[k] = A(values[i + min_of(k, here - 1)]);
    int64_t left = n;
    for (; left > 1; left -= left / 2) {
      const int64_t half = left / 2;
#pragma GCC unroll 8
      for (int k = 0; k < side; ++k) {
        const int64_t next = low[k] + half;
        low[k] = __builtin_expect_with_probability(before(row[next - 1], value[k]), 1, 0.5) ? next : low[k];
      }
    }
    for (int k = 0; k < here; ++k) {
      int64_t at = left == 0 ? 0 : low[k] + before(row[low[k]], value[k]);
      if (WRY_UNLIKELY(value[k] != value[k]))  // NaN, which is the largest value, compares with none
        for (at = n; !right && at > 0 && A(row[at - 1]) != A(row[at - 1]);) --at;
      out[i + k] = at;
    }
  }
}

template <typename T>
static int searchsorted(const wry_call *call) {
  const wry_tensor *sequence = input(call, 0), *values = input(call, 1), *out = output(call, 0);
  const auto run = attr_bool(call, 0) ? search<true, T> : search<false, T>;
  const int64_t n = sequence->shape[sequence->rank - 1];
  // A 1-D sequence serves every value; otherwise row r of the values looks into row r.
  const int64_t columns = sequence->rank == 1 || values->rank == 0 ? values->size : values->shape[values->rank - 1];
  parallel_for(call, values->size, 2048, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin, stop; i < end; i = stop) {
      stop = min_of(end, (i / columns + 1) * columns);
      run(data<T>(sequence) + (sequence->rank == 1 ? 0 : i / columns * n), n, data<T>(values) + i, stop - i, data<int64_t>(out) + i);
    }
  });
  return WRY_OK;
}

// counts[v] = how many of the n values are v. A few bins are counted fourfold by every thread: the next of
// equal values need not wait for the last one's count.
template <typename I>
static void count_values(const wry_call *call, const I *values, int64_t n, int64_t bins, int64_t *counts) {
  const int64_t pieces = bins <= 4096 ? max_of(1, threads_for(call, n / 32768)) : 1;
  const int64_t room = bins * 4;
  int64_t *own = bins <= 4096 && n >= 4 * bins ? workspace<int64_t>(call, pieces * room) : nullptr;
  memset(counts, 0, size_t(bins) * 8);
  if (!own) {
    for (int64_t i = 0; i < n; ++i) ++counts[values[i]];
    return;
  }
  parallel_tasks(call, pieces, [&](int64_t p) {
    int64_t *mine = own + p * room;
    memset(mine, 0, size_t(room) * 8);
    int64_t i = n * p / pieces;
    const int64_t end = n * (p + 1) / pieces;
    for (; i + 4 <= end; i += 4)
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) ++mine[k * bins + values[i + k]];
    for (; i < end; ++i) ++mine[values[i]];
  });
  for (int64_t p = 0; p < 4 * pieces; ++p)
    for (int64_t b = 0; b < bins; ++b) counts[b] += own[p * bins + b];
}

template <typename I>
static int bincount(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weights = input(call, 1);
  const I *values = data<I>(x);
  int64_t bins = x->size == 0 ? 0 : attr_int(call, 0);  // of nothing, Paddle counts nothing
  constexpr int64_t block = 1 << 15;
  const int64_t blocks = (x->size + block - 1) / block;
  I *bounds = workspace<I>(call, 2 * blocks + 1);
  if (!bounds) return fail_memory(call, "bincount", blocks * 16);
  parallel_blocks(call, x->size, block, [&](int64_t b, int64_t begin, int64_t end) {
    I bits = 0, high = -1;
    for (int64_t i = begin; i < end; ++i) bits |= values[i], high = max_of(high, values[i]);
    bounds[2 * b] = bits, bounds[2 * b + 1] = high;
  });
  I lowest = 0, highest = -1;
  for (int64_t b = 0; b < blocks; ++b) {
    if (bounds[2 * b] < 0)
      for (int64_t i = b * block; i < min_of(x->size, (b + 1) * block); ++i) lowest = min_of(lowest, values[i]);
    highest = max_of(highest, bounds[2 * b + 1]);
  }
  if (lowest < 0)
    return fail(call, WRY_INVALID,
                "bincount: value %lld is negative. Got %lld as the smallest value of x, expected values of 0 or more. "
                "Subtract the minimum first.",
                (long long)lowest, (long long)lowest);
  bins = highest == INT64_MAX ? -1 : max_of(bins, int64_t(highest) + 1);
  void *out = bins < 0 || bins > (int64_t(1) << 56) ? nullptr : call->context->allocate_output(call->context, 0, 1, &bins);
  if (!out)
    return fail(call, WRY_OUT_OF_MEMORY,
                "bincount: out of memory. Got %lld as the largest value, which needs that many bins. "
                "Use unique with return_counts for sparse values.",
                (long long)(bins - 1));
  if (!weights) {
    count_values(call, values, x->size, bins, (int64_t *)out);
    return WRY_OK;
  }
  if (weights->dtype == WRY_FLOAT32) {
    memset(out, 0, size_t(bins) * 4);
    for (int64_t i = 0; i < x->size; ++i) ((float *)out)[values[i]] += data<float>(weights)[i];
    return WRY_OK;
  }
  memset(out, 0, size_t(bins) * 8);
  double *sums = (double *)out;
  dispatch<double, int32_t, int64_t>(weights->dtype, [&](auto tag) {
    using W = decltype(tag);
    for (int64_t i = 0; i < x->size; ++i) sums[values[i]] += double(data<W>(weights)[i]);
  });
  return WRY_OK;
}

template <typename T>
static int histogram(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const int64_t bins = attr_int(call, 0);
  double low = attr_float(call, 1), high = attr_float(call, 2);
  const T *values = data<T>(x);
  int64_t *counts = data<int64_t>(out);
  memset(counts, 0, size_t(bins) * 8);
  if (x->size == 0) return WRY_OK;
  if (low == high) {
    bool any = false;
    for (int64_t i = 0; i < x->size; ++i) {
      const double value = double(A(values[i]));
      if (value != value) continue;
      low = any ? min_of(low, value) : value;
      high = any ? max_of(high, value) : value;
      any = true;
    }
  }
  if (!(high - low <= 1.7976931348623157e308))
    return fail(call, WRY_INVALID,
                "histogram: the range of the bins is not finite. Got min=%g and max=%g, expected finite numbers. "
                "Give min and max, or remove infinite values first.",
                low, high);
  if (low == high) low -= 1, high += 1;
  for (int64_t i = 0; i < x->size; ++i) {
    const double value = double(A(values[i]));
    if (!(value >= low && value <= high)) continue;  // NaN, too, is in no bin
    const int64_t bin = int64_t((value - low) * double(bins) / (high - low));
    ++counts[min_of(bin, bins - 1)];  // the last bin holds its right edge
  }
  return WRY_OK;
}

template <typename I>
static int shard_index(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const int64_t total = attr_int(call, 0), shards = attr_int(call, 1), shard = attr_int(call, 2), ignored = attr_int(call, 3);
  const int64_t size = (total + shards - 1) / shards;
  const I *values = data<I>(x);
  for (int64_t i = 0; i < x->size; ++i) {
    const int64_t value = int64_t(values[i]);
    if (value < 0 || value >= total)
      return fail(call, WRY_INVALID,
                  "shard_index: value %lld (element %lld of x) is out of range. Got %lld, expected each in [0, %lld). "
                  "index_num must be the size of the whole table.",
                  (long long)value, (long long)i, (long long)value, (long long)total);
    data<I>(out)[i] = I(value / size == shard ? value % size : ignored);
  }
  return WRY_OK;
}

#include <wherry/kernels/rows/ordering.h>
WRY_TABLE(ordering, table)

}  // namespace WRY_NAMESPACE
