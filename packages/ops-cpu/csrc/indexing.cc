// Indexing: reading and writing at positions that are data.
//
// Compiled once: memory sets the pace here, and copies for each instruction set were a megabyte each.
//
// Every kernel first turns its indices into checked, non-negative positions, then moves values: no
// index is trusted after that and none is read before. Where two updates meet at one place, their
// order is that of the indices, on any number of threads.
#include "copy.h"
#include "pointwise.h"
#include "simd.h"

namespace WRY_NAMESPACE {

// ---- positions ----------------------------------------------------------------------------------

struct Text {
  char text[160];
};

static Text shape_text(const wry_tensor *t) {
  Text out;
  int used = snprintf(out.text, sizeof(out.text), "[");
  for (int i = 0; i < t->rank && used < int(sizeof(out.text)) - 24; ++i)
    used += snprintf(out.text + used, sizeof(out.text) - size_t(used), i ? ", %lld" : "%lld", (long long)t->shape[i]);
  snprintf(out.text + used, sizeof(out.text) - size_t(used), "]");
  return out;
}

__attribute__((noinline, cold)) static int fail_index(const wry_call *call, const char *op, int64_t index, int64_t at, const wry_tensor *x, int axis,
                                                      bool from_end) {
  const int64_t n = x->shape[axis];
  return fail(call, WRY_OUT_OF_RANGE,
              "%s: index %lld (element %lld of the indices) is out of range for axis %d of shape %s. "
              "Got %lld, expected each index in [%lld, %lld). "
              "%s",
              op, (long long)index, (long long)at, axis, shape_text(x).text, (long long)index,
              (long long)(from_end ? -n : 0), (long long)n,
              n == 0     ? "The axis is empty, so there is nothing to index."
              : from_end ? "Indices count from 0; negative ones count from the end."
                         : "Check the ids, or use a table with more rows.");
}

// Adds to positions[i] the i-th index times `pace`; `first` sets it instead.
template <typename I>
static int add_positions(const wry_call *call, const char *op, const wry_tensor *like, const wry_tensor *index,
                         const wry_tensor *x, int axis, int64_t pace, bool from_end, bool first, int64_t *positions) {
  const int64_t n = x->shape[axis];
  int64_t at = 0, wrong = -1, wrong_value = 0;
  const StridedLoop<1> loop = make_loop<1>(like, {index}, true);
  for_each_strided(loop, [&](char *const *from, const int64_t *step, int64_t count) {
    const I *values = (const I *)from[0];
    for (int64_t i = 0; i < count; ++i, ++at) {
      int64_t value = int64_t(values[i * step[0]]);
      if (value < 0 && from_end) value += n;
      if (WRY_UNLIKELY(uint64_t(value) >= uint64_t(n))) {
        if (wrong < 0) wrong = at, wrong_value = int64_t(values[i * step[0]]);
        value = 0;
      }
      positions[at] = value * pace + (first ? 0 : positions[at]);
    }
  });
  return wrong < 0 ? WRY_OK : fail_index(call, op, wrong_value, wrong, x, axis, from_end);
}

// Sets *positions to the indices along `axis` of x, checked, in row-major order. They stay where
// they are when nothing has to change.
static int read_positions(const wry_call *call, const char *op, const wry_tensor *index, const wry_tensor *x, int axis,
                          bool from_end, const int64_t **positions) {
  *positions = nullptr;
  if (index->size == 0) return WRY_OK;
  if (index->dtype == WRY_INT64 && is_contiguous(index)) {
    const int64_t *values = data<int64_t>(index);
    const uint64_t n = uint64_t(x->shape[axis]);
    int outside = 0;
    parallel_for(call, index->size, 1 << 16, [&](int64_t begin, int64_t end) {
      bool found = false;
      for (int64_t i = begin; i < end; ++i) found |= uint64_t(values[i]) >= n;
      if (found) __atomic_store_n(&outside, 1, __ATOMIC_RELAXED);
    });
    if (!outside) {
      *positions = values;
      return WRY_OK;
    }
  }
  int64_t *own = workspace<int64_t>(call, index->size);
  if (!own) return fail_memory(call, op, index->size * 8);
  *positions = own;
  return index->dtype == WRY_INT64 ? add_positions<int64_t>(call, op, index, index, x, axis, 1, from_end, true, own)
                                   : add_positions<int32_t>(call, op, index, index, x, axis, 1, from_end, true, own);
}

// ---- rows ---------------------------------------------------------------------------------------

// A row of whole vectors past the caches.
static void stream_row(float *to, const float *from, int64_t n) {
  for (int64_t i = 0; i < n; i += lanes<float>) stream(to + i, load(from + i));
}

// gather_rows where a row is one word: four lines of x go side by side, as far as there are four.
template <typename W>
static void gather_words(const wry_call *call, W *out, const W *x, int64_t outer, int64_t n, const int64_t *positions, int64_t count) {
  parallel_for(call, outer / 4, max_of<int64_t>(1, 4096 / max_of<int64_t>(1, count)), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin * 4; o < end * 4; o += 4) {
      const W *WRY_RESTRICT from = x + o * n;
      W *WRY_RESTRICT to = out + o * count;
      for (int64_t m = 0; m < count; ++m)
        for (int k = 0; k < 4; ++k) to[k * count + m] = from[k * n + positions[m]];
    }
  });
}

// out[o, m, :] = x[o, positions[m], :] for contiguous out [outer, count, row], x [outer, n, row].
static void gather_rows(const wry_call *call, char *out, const char *x, int64_t outer, int64_t n, int64_t row_bytes,
                        const int64_t *positions, int64_t count) {
  if (row_bytes == 0) return;
  if (outer >= 4 && (row_bytes == 4 || row_bytes == 8)) {
    if (row_bytes == 4) gather_words(call, (uint32_t *)out, (const uint32_t *)x, outer, n, positions, count);
    else gather_words(call, (uint64_t *)out, (const uint64_t *)x, outer, n, positions, count);
    const int64_t done = outer / 4 * 4;
    if (done == outer) return;
    out += done * count * row_bytes, x += done * n * row_bytes, outer -= done;
  }
  const int64_t grain = max_of<int64_t>(1, bytes_per_thread / 4 / row_bytes);
  // Of x, long rows pass that are asked for; short ones draw their neighbours in.
  const int64_t asked = outer * (row_bytes >= 1024 ? min_of(n, count) : n);
  const bool far = (outer * count + asked) * row_bytes >= wry_cpu_cached_bytes && row_bytes % WRY_VECTOR_BYTES == 0 &&
                   uintptr_t(out) % WRY_VECTOR_BYTES == 0;
  parallel_for(call, outer * count, grain, [&](int64_t begin, int64_t end) {
    int64_t o = begin / count, m = begin % count;
    for (int64_t left = end - begin; left > 0; m = 0, ++o) {
      const int64_t last = min_of(count, m + left);
      left -= last - m;
      const char *from = x + o * n * row_bytes;
      char *to = out + o * count * row_bytes;
      switch (row_bytes) {
// By memcpy, which is one move of this size: rows of small elements need not lie at multiples of it.
#define WRY_ROWS_OF(BYTES)                                                                      \
  case BYTES:                                                                                   \
    for (; m < last; ++m) __builtin_memcpy(to + m * BYTES, from + positions[m] * BYTES, BYTES); \
    break;
        WRY_ROWS_OF(1)
        WRY_ROWS_OF(2)
        WRY_ROWS_OF(4)
        WRY_ROWS_OF(8)
        WRY_ROWS_OF(16)
#undef WRY_ROWS_OF
        default:
          for (; m < last; ++m) {
            // Rows lie anywhere in x, so the processor cannot foresee the next one.
            if (m + 2 < last) {
              const char *next = from + positions[m + 2] * row_bytes;
              __builtin_prefetch(next);
              __builtin_prefetch(next + 64);
            }
            if (far) stream_row((float *)(to + m * row_bytes), (const float *)(from + positions[m] * row_bytes), row_bytes / 4);
            else copy_row(to + m * row_bytes, from + positions[m] * row_bytes, row_bytes);
          }
      }
    }
    if (far) stream_fence();
  });
}

// The same for x with any strides: one strided copy for each position.
static void gather_strided(const wry_call *call, const wry_tensor *out, const wry_tensor *x, int axis, int axes,
                           int index_rank, const int64_t *positions, int64_t count) {
  // out as [outer..., count, inner...]; positions are offsets in elements here.
  View target(out), source(x);
  int64_t pace = 1;
  for (int i = out->rank - 1; i >= axis + index_rank; --i) pace *= out->shape[i];
  for (int i = 0; i < index_rank; ++i) target.remove(axis);
  for (int i = 0; i < axes; ++i) source.remove(axis);
  parallel_for(call, count, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, target.tensor.size)), [&](int64_t begin, int64_t end) {
    for (int64_t m = begin; m < end; ++m) {
      View to(target), from(source);
      to.advance(m * pace);
      from.advance(positions[m]);
      copy_strided(call, &to.tensor, &from.tensor);
    }
  });
}

static int64_t product(const int64_t *shape, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= shape[i];
  return n;
}

static int gather(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  const int64_t *positions;
  if (const int status = read_positions(call, "gather", index, x, axis, true, &positions)) return status;
  if (out->size == 0) return WRY_OK;
  if (is_contiguous(x)) {
    gather_rows(call, data<char>(out), data<char>(x), product(x->shape, 0, axis), x->shape[axis],
                product(x->shape, axis + 1, x->rank) * item_size(x), positions, index->size);
    return WRY_OK;
  }
  int64_t *offsets = workspace<int64_t>(call, index->size);
  if (!offsets) return fail_memory(call, "gather", index->size * 8);
  for (int64_t m = 0; m < index->size; ++m) offsets[m] = positions[m] * x->strides[axis];
  gather_strided(call, out, x, axis, 1, index->rank, offsets, index->size);
  return WRY_OK;
}

// index  [..., k] names a place in the first k axes of x, as a row number.
static int read_places(const wry_call *call, const char *op, const wry_tensor *x, const wry_tensor *index,
                       const int64_t **places, int64_t *count) {
  const int last = index->rank - 1;
  const int k = int(index->shape[last]);
  View one(index);
  one.remove(last);
  *count = one.tensor.size;
  *places = nullptr;
  if (*count == 0) return WRY_OK;
  int64_t *own = workspace<int64_t>(call, *count);
  if (!own) return fail_memory(call, op, *count * 8);
  if (k == 0) memset(own, 0, size_t(*count) * 8);
  for (int axis = 0; axis < k; ++axis) {
    View column(&one.tensor);
    column.advance(axis * index->strides[last]);
    const int64_t pace = product(x->shape, axis + 1, k);
    const int status =
        index->dtype == WRY_INT64
            ? add_positions<int64_t>(call, op, &column.tensor, &column.tensor, x, axis, pace, true, axis == 0, own)
            : add_positions<int32_t>(call, op, &column.tensor, &column.tensor, x, axis, pace, true, axis == 0, own);
    if (status) return status;
  }
  *places = own;
  return WRY_OK;
}

static int gather_nd(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int k = int(index->shape[index->rank - 1]);
  const int64_t *places;
  int64_t count;
  if (const int status = read_places(call, "gather_nd", x, index, &places, &count)) return status;
  if (out->size == 0) return WRY_OK;
  gather_rows(call, data<char>(out), data<char>(x), 1, product(x->shape, 0, k), product(x->shape, k, x->rank) * item_size(x), places, count);
  return WRY_OK;
}

// ---- adding rows --------------------------------------------------------------------------------

enum class Start {
  zero,       // out begins as zeros
  x,          // out begins as x
  x_cleared,  // out begins as x with zeros in every row that is named
};

// out[o, positions[m], :] += updates[o, m, :] for contiguous out and x [outer, n, row], updates
// [outer, count, row]. x may be out itself.
//
// The updates are grouped by row first (a counting sort, so their order within a row stays), then
// every row of out is written by one thread, once. 16 bit floats add up in float: a bfloat16 total
// stops growing at 256 times the addend.
template <typename T>
static int add_rows(const wry_call *call, const char *op, T *out, const T *x, Start start, int64_t outer, int64_t n,
                    int64_t row, const int64_t *positions, int64_t count, const T *updates) {
  using A = unsigned_t<arithmetic_t<T>>;
  if (outer * n * row == 0) return WRY_OK;
  // A few updates are not worth the sort; neither does a row of its own make sense then.
  if (sizeof(T) == sizeof(A) && outer * count * row <= 1024 && outer * n * row <= 16384) {
    if (start == Start::zero) {
      memset((void *)out, 0, size_t(outer * n * row) * sizeof(T));
    } else if (x != out) {
      memcpy((void *)out, (const void *)x, size_t(outer * n * row) * sizeof(T));
    }
    for (int64_t o = 0; o < outer; ++o) {
      if (start == Start::x_cleared)
        for (int64_t m = 0; m < count; ++m)
          memset((void *)(out + (o * n + positions[m]) * row), 0, size_t(row) * sizeof(T));
      for (int64_t m = 0; m < count; ++m) {
        T *to = out + (o * n + positions[m]) * row;
        const T *from = updates + (o * count + m) * row;
        for (int64_t i = 0; i < row; ++i) to[i] = T(A(to[i]) + A(from[i]));
      }
    }
    return WRY_OK;
  }
  // Short rows are added where they are: finding a row's updates would take longer.
  if (row <= 8 && (outer > 1 || row <= 2)) {
    A *totals = sizeof(T) == sizeof(A) ? nullptr : workspace<A>(call, threads_for(call, outer) * n * row);
    if (!totals && sizeof(T) != sizeof(A)) return fail_memory(call, op, n * row * int64_t(sizeof(A)));
    parallel_for(call, outer, max_of<int64_t>(1, 16384 / ((n + count) * row)), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        T *to = out + o * n * row;
        const T *base = x + (start == Start::zero ? 0 : o * n * row), *from = updates + o * count * row;
        A *total = totals ? totals + thread_index() * n * row : (A *)to;
        if (start == Start::zero) memset((void *)total, 0, size_t(n * row) * sizeof(A));
        else if ((const void *)base != (void *)total)
          for (int64_t i = 0; i < n * row; ++i) total[i] = A(base[i]);
        if (start == Start::x_cleared)
          for (int64_t m = 0; m < count; ++m) memset((void *)(total + positions[m] * row), 0, size_t(row) * sizeof(A));
        if (row == 1) {
          for (int64_t m = 0; m < count; ++m) total[positions[m]] += A(from[m]);
        } else {
          for (int64_t m = 0; m < count; ++m)
            for (int64_t i = 0; i < row; ++i) total[positions[m] * row + i] += A(from[m * row + i]);
        }
        if (totals)
          for (int64_t i = 0; i < n * row; ++i) to[i] = T(total[i]);
      }
    });
    return WRY_OK;
  }
  int64_t *first = workspace<int64_t>(call, n + 1);
  int64_t *order = workspace<int64_t>(call, count + 1);
  if (!first || !order) return fail_memory(call, op, (n + count + 2) * 8);
  memset(first, 0, size_t(n + 1) * 8);
  for (int64_t m = 0; m < count; ++m) ++first[positions[m] + 1];
  for (int64_t r = 0; r < n; ++r) first[r + 1] += first[r];
  for (int64_t m = 0; m < count; ++m) order[first[positions[m]]++] = m;
  // Filling moved every start to the next row's.
  for (int64_t r = n; r > 0; --r) first[r] = first[r - 1];
  first[0] = 0;
  constexpr int64_t width = 512;
  parallel_for(call, outer * n, max_of<int64_t>(1, 16384 / row), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t o = at / n, r = at % n;
      T *to = out + at * row;
      const bool named = first[r] != first[r + 1];
      const bool zero = start == Start::zero || (start == Start::x_cleared && named);
      if (!named) {
        if (zero) {
          memset((void *)to, 0, size_t(row) * sizeof(T));
        } else if (x != out) {
          memcpy((void *)to, (const void *)(x + at * row), size_t(row) * sizeof(T));
        }
        continue;
      }
      const T *base = x + (zero ? 0 : at * row);
      for (int64_t c = 0; c < row; c += width) {
        const int64_t w = min_of(width, row - c);
        A total[width];
        for (int64_t i = 0; i < w; ++i) total[i] = zero ? A(0) : A(base[c + i]);
        for (int64_t p = first[r]; p < first[r + 1]; ++p) {
          const T *from = updates + (o * count + order[p]) * row + c;
          for (int64_t i = 0; i < w; ++i) total[i] += A(from[i]);
        }
        for (int64_t i = 0; i < w; ++i) to[c + i] = T(total[i]);
      }
    }
  });
  return WRY_OK;
}

template <typename T>
static int gather_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  const int64_t *positions;
  if (const int status = read_positions(call, "gather_vjp", index, out, axis, true, &positions)) return status;
  return add_rows<T>(call, "gather_vjp", data<T>(out), nullptr, Start::zero, product(out->shape, 0, axis), out->shape[axis],
                     product(out->shape, axis + 1, out->rank), positions, index->size, data<T>(ct));
}

template <typename T>
static int scatter_nd_add(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *updates = input(call, 2), *out = output(call, 0);
  const int k = int(index->shape[index->rank - 1]);
  const int64_t *places;
  int64_t count;
  if (const int status = read_places(call, "scatter_nd_add", x, index, &places, &count)) return status;
  return add_rows<T>(call, "scatter_nd_add", data<T>(out), data<T>(x), Start::x, 1, product(x->shape, 0, k),
                     product(x->shape, k, x->rank), places, count, data<T>(updates));
}

template <typename T>
static int index_add(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *value = input(call, 2), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  const int64_t *positions;
  if (const int status = read_positions(call, "index_add", index, x, axis, true, &positions)) return status;
  return add_rows<T>(call, "index_add", data<T>(out), data<T>(x), Start::x, product(x->shape, 0, axis), x->shape[axis],
                     product(x->shape, axis + 1, x->rank), positions, index->size, data<T>(value));
}

template <typename T>
static int embedding_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int64_t padding = attr_int(call, 0);
  const int64_t *positions;
  if (const int status = read_positions(call, "embedding_vjp", index, out, 0, false, &positions)) return status;
  const int64_t row = out->shape[1];
  const int status = add_rows<T>(call, "embedding_vjp", data<T>(out), nullptr, Start::zero, 1, out->shape[0], row,
                                 positions, index->size, data<T>(ct));
  if (status == WRY_OK && padding >= 0 && padding < out->shape[0])
    memset((void *)(data<T>(out) + padding * row), 0, size_t(row) * sizeof(T));
  return status;
}

// ---- writing rows -------------------------------------------------------------------------------

// out[o, positions[m], :] = values[o, m, :]; the last of several writes to one row stays.
static void write_rows(const wry_call *call, char *out, int64_t outer, int64_t n, int64_t row_bytes,
                       const int64_t *positions, int64_t count, const char *values) {
  if (row_bytes == 0 || count == 0) return;
  const auto write = [&](int64_t o, int64_t low, int64_t high) {
    char *to = out + o * n * row_bytes;
    const char *from = values + o * count * row_bytes;
    for (int64_t m = 0; m < count; ++m) {
      const int64_t r = positions[m];
      if (r < low || r >= high) continue;
      switch (row_bytes) {
        case 4: memcpy(to + r * 4, from + m * 4, 4); break;
        case 8: memcpy(to + r * 8, from + m * 8, 8); break;
        default: copy_row(to + r * row_bytes, from + m * row_bytes, row_bytes);
      }
    }
  };
  if (outer > 1) {
    parallel_for(call, outer, max_of<int64_t>(1, bytes_per_thread / (count * row_bytes)), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) write(o, 0, n);
    });
    return;
  }
  // Each thread owns a range of rows and looks at all positions: the order within a row stays.
  const bool large = count * row_bytes > 2 * bytes_per_thread && row_bytes >= 64;
  parallel_for(call, n, large ? 1 : n, [&](int64_t low, int64_t high) { write(0, low, high); });
}

// x, out  contiguous; out may be x itself
template <typename T>
static int scatter(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *updates = input(call, 2), *out = output(call, 0);
  const int64_t *positions;
  if (const int status = read_positions(call, "scatter", index, x, 0, true, &positions)) return status;
  const int64_t row = product(x->shape, 1, x->rank);
  if (attr_bool(call, 0)) {
    if (out->data != x->data) copy_bytes(call, out->data, x->data, x->size * item_size(x));
    write_rows(call, data<char>(out), 1, x->shape[0], row * item_size(x), positions, index->size, data<char>(updates));
    return WRY_OK;
  }
  return add_rows<T>(call, "scatter", data<T>(out), data<T>(x), Start::x_cleared, 1, x->shape[0], row, positions,
                     index->size, data<T>(updates));
}

// ---- advanced indexing --------------------------------------------------------------------------

// The index tensors, broadcast together, as positions in the axes of `x` that they stand for:
// row numbers, or offsets in elements for an x with any strides.
static int read_indices(const wry_call *call, const char *op, const wry_tensor *x, int first_index, bool as_offsets,
                        const wry_tensor *like, const int64_t **positions) {
  const Ints axes = attr_ints(call, 0);
  *positions = nullptr;
  if (like->size == 0) return WRY_OK;
  if (axes.length == 1 && !as_offsets && same_shape(input(call, first_index), like))
    return read_positions(call, op, input(call, first_index), x, int(axes[0]), true, positions);
  int64_t *own = workspace<int64_t>(call, like->size);
  if (!own) return fail_memory(call, op, like->size * 8);
  for (int i = 0; i < axes.length; ++i) {
    const int axis = int(axes[i]);
    const wry_tensor *index = input(call, first_index + i);
    const int64_t pace = as_offsets ? x->strides[axis] : product(x->shape, axis + 1, int(axes[axes.length - 1]) + 1);
    const int status =
        index->dtype == WRY_INT64
            ? add_positions<int64_t>(call, op, like, index, x, axis, pace, true, i == 0, own)
            : add_positions<int32_t>(call, op, like, index, x, axis, pace, true, i == 0, own);
    if (status) return status;
  }
  *positions = own;
  return WRY_OK;
}

// The shape that the index tensors broadcast to.
struct IndexShape {
  wry_tensor tensor;
  int64_t shape[WRY_MAX_RANK];

  IndexShape(const wry_call *call, int first_index) {
    tensor = wry_tensor();
    tensor.shape = shape;
    for (int k = first_index; k < call->n_inputs; ++k)
      tensor.rank = max_of(tensor.rank, input(call, k)->rank);
    for (int i = 0; i < tensor.rank; ++i) shape[i] = 1;
    for (int k = first_index; k < call->n_inputs; ++k) {
      const wry_tensor *index = input(call, k);
      for (int i = 0; i < index->rank; ++i)
        if (index->shape[i] != 1) shape[tensor.rank - index->rank + i] = index->shape[i];
    }
    tensor.size = product(shape, 0, tensor.rank);
  }
  IndexShape(const IndexShape &) = delete;
};

static int index_get(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const Ints axes = attr_ints(call, 0);
  const int first = int(axes[0]), last = int(axes[axes.length - 1]);
  const IndexShape indices(call, 1);
  const bool contiguous = is_contiguous(x);
  const int64_t *positions;
  if (const int status = read_indices(call, "index_get", x, 1, !contiguous, &indices.tensor, &positions)) return status;
  if (out->size == 0) return WRY_OK;
  if (contiguous) {
    gather_rows(call, data<char>(out), data<char>(x), product(x->shape, 0, first), product(x->shape, first, last + 1),
                product(x->shape, last + 1, x->rank) * item_size(x), positions, indices.tensor.size);
  } else {
    gather_strided(call, out, x, first, axes.length, indices.tensor.rank, positions, indices.tensor.size);
  }
  return WRY_OK;
}

// How index_put accumulates values of one dtype: add_rows after an untyped face.
using AddRows = int (*)(const wry_call *call, const wry_tensor *out, const wry_tensor *x, int64_t outer, int64_t n,
                        int64_t row, const int64_t *positions, int64_t count, const void *values);

template <typename T>
static int add_to_rows(const wry_call *call, const wry_tensor *out, const wry_tensor *x, int64_t outer, int64_t n,
                       int64_t row, const int64_t *positions, int64_t count, const void *values) {
  return add_rows<T>(call, "index_put", data<T>(out), data<T>(x), Start::x, outer, n, row, positions, count,
                     (const T *)values);
}

// x, out  contiguous; out may be x itself
// value   any strides, broadcast to [outer..., index shape..., inner...]
static int index_put_with(const wry_call *call, AddRows add) {
  const wry_tensor *x = input(call, 0), *value = input(call, 1), *out = output(call, 0);
  const Ints axes = attr_ints(call, 0);
  const int first = int(axes[0]), last = int(axes[axes.length - 1]);
  const IndexShape indices(call, 2);
  const int64_t *positions;
  if (const int status = read_indices(call, "index_put", x, 2, false, &indices.tensor, &positions)) return status;
  const int64_t outer = product(x->shape, 0, first), n = product(x->shape, first, last + 1);
  const int64_t row = product(x->shape, last + 1, x->rank), count = indices.tensor.size;
  const int64_t total = outer * count * row, item = item_size(x);
  if (total == 0) {
    if (out->data != x->data) copy_bytes(call, out->data, x->data, x->size * item);
    return WRY_OK;
  }
  // The values as [outer, count, row]: where they are, or spread out in scratch memory.
  const void *values = value->data;
  if (value->size != total || !is_contiguous(value)) {
    View full(out);
    if (first + indices.tensor.rank + (x->rank - last - 1) > WRY_MAX_RANK)
      return fail(call, WRY_UNSUPPORTED,
                  "index_put: the values have more than %d axes. Got indices of rank %d for x of "
                  "shape %s. Flatten the indices first.",
                  WRY_MAX_RANK, indices.tensor.rank, shape_text(x).text);
    int rank = 0;
    for (int i = 0; i < first; ++i) full.shape[rank++] = x->shape[i];
    for (int i = 0; i < indices.tensor.rank; ++i) full.shape[rank++] = indices.shape[i];
    for (int i = last + 1; i < x->rank; ++i) full.shape[rank++] = x->shape[i];
    full.tensor.rank = rank;
    int64_t pace = 1;
    for (int i = rank - 1; i >= 0; --i) full.strides[i] = pace, pace *= full.shape[i];
    full.measure();
    full.tensor.data = workspace<char>(call, total * item);
    if (!full.tensor.data) return fail_memory(call, "index_put", total * item);
    // Leading axes of size 1 beyond the rank of the result, as in x[i] = [[1]].
    View source(value);
    while (source.tensor.rank > rank) source.remove(0);
    copy_strided(call, &full.tensor, &source.tensor);
    values = full.tensor.data;
  }
  if (attr_bool(call, 1)) return add(call, out, x, outer, n, row, positions, count, values);
  if (out->data != x->data) copy_bytes(call, out->data, x->data, x->size * item);
  write_rows(call, data<char>(out), outer, n, row * item, positions, count, (const char *)values);
  return WRY_OK;
}

template <typename T>
static int index_put(const wry_call *call) { return index_put_with(call, add_to_rows<T>); }

static int index_put_bool(const wry_call *call) {
  return index_put_with(call, [](const wry_call *c, const wry_tensor *, const wry_tensor *, int64_t, int64_t, int64_t,
                                 const int64_t *, int64_t, const void *) {
    return fail(c, WRY_UNSUPPORTED,
                "index_put: bool values cannot be accumulated. Got accumulate=True for a bool x, "
                "expected a number. Cast x to int32 first.");
  });
}

// ---- along an axis ------------------------------------------------------------------------------

// Walks the lines along `axis` of an index block: f(line of a, line of b, positions of the line).
// Both a and b are strided operands of the index's shape, except along the axis. Where the axis is
// not the innermost one, neighbouring lines go together.
template <typename TA, typename TB, typename F>
static void along_axis(const wry_call *call, const wry_tensor *index, const int64_t *positions, const wry_tensor *a,
                       const wry_tensor *b, int axis, F f) {
  // The positions are contiguous in row-major order, whatever the strides of the index tensor.
  View places(index);
  int64_t pace = 1;
  for (int i = index->rank - 1; i >= 0; --i) places.strides[i] = pace, pace *= index->shape[i];
  places.tensor.data = const_cast<int64_t *>(positions);
  places.tensor.dtype = WRY_INT64;
  View of_a(a), of_b(b);
  const int64_t n = index->shape[axis], place_step = places.strides[axis];
  View *const views[] = {&places, &of_a, &of_b};
  for (View *view : views) view->remove(axis);
  const StridedLoop<3> loop = make_loop<3>(&places.tensor, {&places.tensor, &of_a.tensor, &of_b.tensor}, true);
  parallel_strided(call, loop, max_of<int64_t>(1, 16384 / n), [&](char *const *at, const int64_t *step, int64_t lines) {
    const int64_t *place = (const int64_t *)at[0];
    TA *x = (TA *)at[1];
    TB *y = (TB *)at[2];
    if (place_step == 1) {
      for (int64_t l = 0; l < lines; ++l)
        for (int64_t j = 0; j < n; ++j) f(x + l * step[1], y + l * step[2], j, place[l * step[0] + j]);
    } else {
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < lines; ++l) f(x + l * step[1], y + l * step[2], j, place[l * step[0] + j * place_step]);
    }
  });
}

// The indices of one line as checked positions: the indices themselves where all count from 0, else `own`
// filled with them; null where one is out of range.
static WRY_INLINE const int64_t *check_line(const int64_t *index, int64_t count, int64_t n, int64_t *own) {
  int64_t outside = 0;
  for (int64_t j = 0; j < count; ++j) outside |= index[j] | (n - 1 - index[j]);
  if (WRY_LIKELY(outside >= 0)) return index;
  for (int64_t j = 0; j < count; ++j) {
    own[j] = index[j] + (index[j] < 0 ? n : 0);
    if (uint64_t(own[j]) >= uint64_t(n)) return nullptr;
  }
  return own;
}

// f(line, where the line of x begins, positions, n of them) for each line of contiguous int64 indices along the
// last axis, checked while they are in the cache. False where that is not what the operands are, or an index is out of range: the
// caller then goes the long way, which says what is wrong.
template <typename F>
static bool along_lines(const wry_call *call, const wry_tensor *x, const wry_tensor *index, int axis, F f) {
  if (axis != x->rank - 1 || index->dtype != WRY_INT64 || !is_contiguous(index) || index->size == 0) return false;
  for (int i = 0; i < axis; ++i)
    if (index->shape[i] != x->shape[i]) return false;
  const int64_t n = x->shape[axis], count = index->shape[axis], lines = index->size / count;
  int64_t *own = workspace<int64_t>(call, threads_for(call, lines) * count);
  if (!own) return false;
  int wrong = 0;
  parallel_for(call, lines, max_of<int64_t>(1, 16384 / (count + n / 4)), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t *positions = check_line(data<int64_t>(index) + line * count, count, n, own + thread_index() * count);
      if (WRY_UNLIKELY(!positions)) return __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
      int64_t from = 0, rest = line;
      for (int i = axis - 1; i >= 0; --i) from += rest % x->shape[i] * x->strides[i], rest /= x->shape[i];
      f(line, from, positions, count);
    }
  });
  return !wrong;
}

static int take_along_axis(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  bool done = false;
  if (is_contiguous(out))
    dispatch_size(item_size(out), [&](auto word) {
      using W = decltype(word);
      const int64_t step = x->strides[axis];
      done = along_lines(call, x, index, axis, [=](int64_t line, int64_t first, const int64_t *WRY_RESTRICT place, int64_t n) {
        const W *WRY_RESTRICT from = data<W>(x) + first;
        W *WRY_RESTRICT to = data<W>(out) + line * n;
        if (step == 1) {
#pragma GCC unroll 4
          for (int64_t j = 0; j < n; ++j) to[j] = from[place[j]];
        } else {
          for (int64_t j = 0; j < n; ++j) to[j] = from[place[j] * step];
        }
      });
    });
  if (done) return WRY_OK;
  const int64_t *positions;
  if (const int status = read_positions(call, "take_along_axis", index, x, axis, true, &positions)) return status;
  if (out->size == 0) return WRY_OK;
  const int64_t out_step = out->strides[axis], x_step = x->strides[axis];
  dispatch_size(item_size(out), [&](auto tag) {
    using W = decltype(tag);
    if (out_step == 1 && x_step == 1) {
      along_axis<W, const W>(call, index, positions, out, x, axis,
                             [](W *to, const W *from, int64_t j, int64_t place) { to[j] = from[place]; });
      return;
    }
    along_axis<W, const W>(call, index, positions, out, x, axis,
                           [=](W *to, const W *from, int64_t j, int64_t place) { to[j * out_step] = from[place * x_step]; });
  });
  return WRY_OK;
}

// The values to put as an operand of the index's shape: stride 0 where they are broadcast.
static void spread_values(View &values, const wry_tensor *value) {
  values.tensor.data = value->data;
  values.tensor.dtype = value->dtype;
  for (int i = 0; i < values.tensor.rank; ++i) {
    const int at = i - (values.tensor.rank - value->rank);
    values.strides[i] = at < 0 || value->shape[at] == 1 ? 0 : value->strides[at];
  }
}

static void put_assign(const wry_call *call, const wry_tensor *index, const int64_t *positions, const wry_tensor *out,
                       const wry_tensor *values, int axis) {
  const int64_t out_step = out->strides[axis], value_step = values->strides[axis];
  dispatch_size(item_size(out), [&](auto word) {
    using W = decltype(word);
    along_axis<W, const W>(call, index, positions, out, values, axis, [=](W *to, const W *from, int64_t j, int64_t place) {
      to[place * out_step] = from[j * value_step];
    });
  });
}

// reduce  "assign", "add", "multiply"
// x       any strides
// out     may be x itself
// For each line: that of x, with values of `given` (`step` apart, which may be 0) at the positions.
static bool assign_lines(const wry_call *call, const wry_tensor *x, const wry_tensor *index, int axis, const void *given, int64_t step,
                         const wry_tensor *out) {
  const int64_t length = x->shape[axis], x_step = x->strides[axis];
  bool done = false;
  dispatch_size(item_size(out), [&](auto word) {
    using W = decltype(word);
    done = along_lines(call, x, index, axis, [=](int64_t line, int64_t first, const int64_t *WRY_RESTRICT place, int64_t n) {
      W *WRY_RESTRICT to = data<W>(out) + line * length;
      const W *WRY_RESTRICT from = (const W *)given + line * n * step;
      copy_run(to, 1, data<W>(x) + first, x_step, length);
#pragma GCC unroll 4
      for (int64_t j = 0; j < n; ++j) to[place[j]] = from[j * step];
    });
  });
  return done;
}

template <typename T>
static int put_along_axis(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  const char *reduce = attr_string(call, 1);
  const bool assign = strcmp(reduce, "assign") == 0, add = strcmp(reduce, "add") == 0;
  View values(index);
  spread_values(values, input(call, 2));
  bool repeated = true;
  for (int i = 0; i < index->rank; ++i) repeated &= values.strides[i] == 0;
  // Not in place: what is written before an index turns out to be wrong must not be seen.
  if (out->data != x->data && is_contiguous(out) && (repeated || is_contiguous(&values.tensor))) {
    const void *const given = values.tensor.data;
    const int64_t length = x->shape[axis], x_step = x->strides[axis], step = repeated ? 0 : 1;
    bool done = false;
    if (assign)
      done = assign_lines(call, x, index, axis, given, step, out);
    else
      done = along_lines(call, x, index, axis, [=](int64_t line, int64_t first, const int64_t *WRY_RESTRICT place, int64_t n) {
        T *WRY_RESTRICT to = data<T>(out) + line * length;
        const T *WRY_RESTRICT from = (const T *)given + line * n * step;
        copy_run(to, 1, data<T>(x) + first, x_step, length);
#pragma GCC unroll 4
        for (int64_t j = 0; j < n; ++j) {
          const A a = A(to[place[j]]), b = A(from[j * step]);
          to[place[j]] = add ? T(a + b) : T(a * b);
        }
      });
    if (done) return WRY_OK;
  }
  const int64_t *positions;
  if (const int status = read_positions(call, "put_along_axis", index, x, axis, true, &positions)) return status;
  if (out->data != x->data) copy_tensor(call, out, x);
  if (index->size == 0) return WRY_OK;
  if (assign) {
    put_assign(call, index, positions, out, &values.tensor, axis);
    return WRY_OK;
  }
  const int64_t out_step = out->strides[axis], value_step = values.strides[axis];
  along_axis<T, const T>(call, index, positions, out, &values.tensor, axis, [=](T *to, const T *from, int64_t j, int64_t place) {
    const A a = A(to[place * out_step]), b = A(from[j * value_step]);
    to[place * out_step] = add ? T(a + b) : T(a * b);
  });
  return WRY_OK;
}

// ---- masks --------------------------------------------------------------------------------------

constexpr int64_t mask_block = 1 << 14;

// starts[b] = how many of the first b blocks' elements are true, for b in [0, blocks].
static int64_t *count_true(const wry_call *call, const uint8_t *mask, int64_t size) {
  const int64_t blocks = (size + mask_block - 1) / mask_block;
  int64_t *starts = workspace<int64_t>(call, blocks + 1);
  if (!starts) return nullptr;
  starts[0] = 0;
  parallel_blocks(call, size, mask_block, [&](int64_t b, int64_t begin, int64_t end) {
    int64_t count = 0;
    for (int64_t i = begin; i < end; ++i) count += mask[i];
    starts[b + 1] = count;
  });
  for (int64_t b = 0; b < blocks; ++b) starts[b + 1] += starts[b];
  return starts;
}

static int masked_select(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *mask = input(call, 1);
  const uint8_t *keep = data<uint8_t>(mask);
  const int64_t size = mask->size;
  const int64_t *starts = count_true(call, keep, size);
  if (!starts) return fail_memory(call, "masked_select", size / mask_block * 8);
  const int64_t count = starts[(size + mask_block - 1) / mask_block];
  void *out = call->context->allocate_output(call->context, 0, 1, &count);
  if (!out) return fail_memory(call, "masked_select", count * item_size(x));
  dispatch_size(item_size(x), [&](auto tag) {
    using W = decltype(tag);
    parallel_blocks(call, size, mask_block, [&](int64_t b, int64_t begin, int64_t) {
      // Branch free: every value is written, and overwritten unless it was wanted. The count of
      // the block ends the loop before anything could be written after it.
      W *to = (W *)out + starts[b];
      W *const stop = (W *)out + starts[b + 1];
      const W *from = data<W>(x);
      for (int64_t i = begin; to < stop; ++i) {
        *to = from[i];
        to += keep[i];
      }
    });
  });
  return WRY_OK;
}

static int masked_select_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *mask = input(call, 1), *out = output(call, 0);
  const uint8_t *keep = data<uint8_t>(mask);
  const int64_t size = mask->size;
  const int64_t *starts = count_true(call, keep, size);
  if (!starts) return fail_memory(call, "masked_select_vjp", size / mask_block * 8);
  const int64_t count = starts[(size + mask_block - 1) / mask_block];
  if (count != ct->size)
    return fail(call, WRY_INVALID,
                "masked_select_vjp: the cotangent does not fit the mask. Got %lld values, expected %lld, "
                "the number of true elements. Do not change the mask between the forward and the backward pass.",
                (long long)ct->size, (long long)count);
  dispatch_size(item_size(out), [&](auto tag) {
    using W = decltype(tag);
    parallel_blocks(call, size, mask_block, [&](int64_t b, int64_t begin, int64_t end) {
      const W *from = data<W>(ct) + starts[b];
      W *to = data<W>(out);
      for (int64_t i = begin; i < end; ++i) {
        if (keep[i]) {
          to[i] = *from++;
        } else {
          memset((void *)(to + i), 0, sizeof(W));
        }
      }
    });
  });
  return WRY_OK;
}

template <typename T>
static int nonzero(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const int64_t size = x->size;
  const uint8_t *mask = data<uint8_t>(x);
  if constexpr (code_of<T>::value != WRY_BOOL) {
    uint8_t *own = workspace<uint8_t>(call, size + 1);
    if (!own) return fail_memory(call, "nonzero", size);
    const T *values = data<T>(x);
    parallel_for(call, size, 1 << 15, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (is_complex<T>::value) {
          own[i] = values[i] != T(0);
        } else {
          own[i] = arithmetic_t<T>(values[i]) != arithmetic_t<T>(0);
        }
      }
    });
    mask = own;
  }
  const int64_t *starts = count_true(call, mask, size);
  if (!starts) return fail_memory(call, "nonzero", size / mask_block * 8);
  const int rank = x->rank;
  const int64_t shape[2] = {starts[(size + mask_block - 1) / mask_block], rank};
  int64_t *out = (int64_t *)call->context->allocate_output(call->context, 0, 2, shape);
  if (!out) return fail_memory(call, "nonzero", shape[0] * rank * 8);
  if (rank == 0) return WRY_OK;
  parallel_blocks(call, size, mask_block, [&](int64_t b, int64_t begin, int64_t end) {
    int64_t *to = out + starts[b] * rank, *const stop = out + starts[b + 1] * rank;
    if (rank == 1) {
      for (int64_t i = begin; to < stop; ++i) {
        *to = i;
        to += mask[i];
      }
      return;
    }
    // The coordinates of all axes but the last change once a row.
    const int64_t columns = x->shape[rank - 1];
    for (int64_t i = begin; i < end;) {
      int64_t rest = i / columns, coordinates[WRY_MAX_RANK];
      const int64_t column = i % columns, n = min_of(columns - column, end - i);
      for (int a = rank - 2; a >= 0; --a) {
        coordinates[a] = rest % x->shape[a];
        rest /= x->shape[a];
      }
      // Branch free, as above: what was not wanted is overwritten.
      if (rank == 2) {
        for (int64_t k = 0; k < n && to < stop; ++k) {
          to[0] = coordinates[0], to[1] = column + k;
          to += 2 * mask[i + k];
        }
      } else {
        for (int64_t k = 0; k < n && to < stop; ++k) {
          for (int a = 0; a + 1 < rank; ++a) to[a] = coordinates[a];
          to[rank - 1] = column + k;
          to += rank * mask[i + k];
        }
      }
      i += n;
    }
  });
  return WRY_OK;
}

// ---- embedding and one_hot ----------------------------------------------------------------------

static int embedding(const wry_call *call) {
  const wry_tensor *index = input(call, 0), *weight = input(call, 1), *out = output(call, 0);
  const int64_t padding = attr_int(call, 0);
  const int64_t *positions;
  if (const int status = read_positions(call, "embedding", index, weight, 0, false, &positions)) return status;
  const int64_t row_bytes = weight->shape[1] * item_size(weight);
  gather_rows(call, data<char>(out), data<char>(weight), 1, weight->shape[0], row_bytes, positions, index->size);
  if (padding >= 0)
    for (int64_t m = 0; m < index->size; ++m)
      if (positions[m] == padding) memset(data<char>(out) + m * row_bytes, 0, size_t(row_bytes));
  return WRY_OK;
}

template <typename I>
static int one_hot(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const int64_t classes = attr_int(call, 0);
  const I *values = data<I>(x);
  for (int64_t i = 0; i < x->size; ++i)
    if (int64_t(values[i]) < 0 || int64_t(values[i]) >= classes)
      return fail(call, WRY_INVALID,
                  "one_hot: value %lld (element %lld of x) is not a class. Got %lld, expected each in [0, %lld). "
                  "Raise num_classes, or check the labels.",
                  (long long)values[i], (long long)i, (long long)values[i], (long long)classes);
  float *to = data<float>(out);
  zero_bytes(call, to, out->size * 4);
  for (int64_t i = 0; i < x->size; ++i) to[i * classes + int64_t(values[i])] = 1.0f;
  return WRY_OK;
}

static const wry_kernel_entry table[] = {
    WRY_ANY_ROW("gather", 0, gather),
    WRY_NUMBER_ROWS("gather_vjp", WRY_WANTS_CONTIGUOUS, gather_vjp),
    WRY_ANY_ROW("gather_nd", WRY_WANTS_CONTIGUOUS, gather_nd),
    WRY_NUMBER_ROWS("scatter_nd_add", WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS, scatter_nd_add),
    WRY_NUMBER_ROWS("scatter", WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS, scatter),
    WRY_NUMBER_ROWS("index_add", WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS, index_add),
    WRY_ANY_ROW("take_along_axis", 0, take_along_axis),
    WRY_ALL_ROWS("put_along_axis", WRY_MAY_ALIAS, put_along_axis),
    WRY_ANY_ROW("masked_select", WRY_WANTS_CONTIGUOUS, masked_select),
    WRY_ANY_ROW("masked_select_vjp", WRY_WANTS_CONTIGUOUS, masked_select_vjp),
    WRY_ALL_ROWS("nonzero", WRY_WANTS_CONTIGUOUS, nonzero),
    WRY_ANY_ROW("index_get", 0, index_get),
    WRY_NUMBER_ROWS("index_put", WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS, index_put),
    WRY_PLAIN_ROW("index_put", WRY_BOOL, WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS, index_put_bool),
    WRY_ANY_ROW("embedding", WRY_WANTS_CONTIGUOUS, embedding),
    WRY_NUMBER_ROWS("embedding_vjp", WRY_WANTS_CONTIGUOUS, embedding_vjp),
    WRY_INT_ROWS("one_hot", WRY_WANTS_CONTIGUOUS, one_hot),
};
WRY_TABLE(indexing, table)

}  // namespace WRY_NAMESPACE
