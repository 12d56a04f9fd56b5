// Edges of graphs, and products with matrices in CSR form.
//
// Every kernel checks its indices first. The edges are grouped by target (a counting sort, which keeps their order), then
// every row of a result is computed by one thread, in the order of its edges: the bits do not depend on the threads.
#include "copy.h"
#include "simd.h"

namespace WRY_NAMESPACE {
namespace {

// *out points at the indices as int64, each checked to be in [0, n); where they stand, if they are that already. `falls` says whether one is
// smaller than the one before it.
int read_index(const wry_call *call, const char *op, const char *what, const wry_tensor *index, int64_t n, const int64_t **out, bool *falls) {
  const int64_t count = index->size;
  *falls = false;
  *out = nullptr;
  if (count == 0) return WRY_OK;
  if (index->dtype == WRY_INT64) {
    *out = data<int64_t>(index);
  } else {
    int64_t *own = workspace<int64_t>(call, count);
    if (!own) return fail_memory(call, op, count * 8);
    const int32_t *values = data<int32_t>(index);
    for (int64_t i = 0; i < count; ++i) own[i] = values[i];
    *out = own;
  }
  const int64_t *values = *out;
  int state = 0;  // 1: out of range, 2: falls
  parallel_for(call, count, 1 << 16, [&](int64_t begin, int64_t end) {
    bool outside = false, down = false;
    int64_t before = begin ? values[begin - 1] : values[0];
    for (int64_t i = begin; i < end; ++i) {
      outside |= uint64_t(values[i]) >= uint64_t(n);
      down |= values[i] < before;
      before = values[i];
    }
    if (outside || down) __atomic_or_fetch(&state, (outside ? 1 : 0) | (down ? 2 : 0), __ATOMIC_RELAXED);
  });
  *falls = state & 2;
  if (!(state & 1)) return WRY_OK;
  for (int64_t i = 0; i < count; ++i)
    if (uint64_t(values[i]) >= uint64_t(n))
      return fail(call, WRY_OUT_OF_RANGE, "%s: %s %lld (element %lld) is out of range. Got %lld, expected each in [0, %lld). Check the indices.", op,
                  what, (long long)values[i], (long long)i, (long long)values[i], (long long)n);
  return WRY_OK;
}

// Which rows of x go to each row of the result: from[first[r]] to from[first[r + 1]], or these places themselves.
struct Groups {
  const int64_t *first = nullptr, *from = nullptr;
};

int group_edges(const wry_call *call, const char *op, bool sorted, int64_t count, Groups *groups) {
  const wry_tensor *x = input(call, 0), *source = input(call, 1), *target = input(call, 2);
  const int64_t *to = nullptr, *out_of = nullptr, edges = target->size;
  bool falls, unused;
  if (source)
    if (const int status = read_index(call, op, "source", source, x->shape[0], &out_of, &unused)) return status;
  const int status = read_index(call, op, "target", target, count, &to, &falls);
  if (sorted && falls)
    for (int64_t e = 1; e < edges; ++e)
      if (to[e] < to[e - 1])
        return fail(call, WRY_INVALID, "%s: the targets are not sorted. Got %lld after %lld at element %lld, expected none smaller than the one before.",
                    op, (long long)to[e], (long long)to[e - 1], (long long)e);
  if (status) return status;
  int64_t *first = workspace<int64_t>(call, count + 1);
  if (!first) return fail_memory(call, op, (count + 1) * 8);
  groups->first = first;
  if (!falls) {
    // Each edge that begins a row says so; rows without edges begin where the next one does.
    parallel_for(call, edges, 1 << 16, [&](int64_t begin, int64_t end) {
      int64_t before = begin ? to[begin - 1] : -1;
      for (int64_t e = begin; e < end; ++e) {
        while (before < to[e]) first[++before] = e;
      }
    });
    for (int64_t row = (edges ? to[edges - 1] : -1) + 1; row <= count; ++row) first[row] = edges;
    groups->from = out_of;
    return WRY_OK;
  }
  int64_t *order = workspace<int64_t>(call, edges);
  if (!order) return fail_memory(call, op, edges * 8);
  memset(first, 0, size_t(count + 1) * 8);
  for (int64_t e = 0; e < edges; ++e) ++first[to[e] + 1];
  for (int64_t r = 0; r < count; ++r) first[r + 1] += first[r];
  for (int64_t e = 0; e < edges; ++e) order[first[to[e]]++] = out_of ? out_of[e] : e;
  for (int64_t r = count; r > 0; --r) first[r] = first[r - 1];  // filling moved every start to the next row's
  first[0] = 0;
  groups->from = order;
  return WRY_OK;
}

enum class Meeting { sum,
                     mean,
                     largest,
                     smallest };

template <typename A>
WRY_INLINE void meet(A &total, A value, Meeting how) {
  if (how == Meeting::largest) total = value > total || value != value ? value : total;
  else if (how == Meeting::smallest) total = value < total || value != value ? value : total;
  else total += value;
}

template <typename T>
WRY_INLINE void meet_rows(const Groups &groups, const T *x, T *out, int64_t begin, int64_t end, int64_t row, Meeting how) {
  using A = arithmetic_t<T>;
  constexpr int64_t width = 256;
  if (row == 1 && !groups.from) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t low = groups.first[r], high = groups.first[r + 1];
      A total = low < high ? A(x[low]) : A(0);
      for (int64_t p = low + 1; p < high; ++p) meet(total, A(x[p]), how);
      out[r] = T(how == Meeting::mean && high > low ? total / A(high - low) : total);
    }
    return;
  }
  for (int64_t r = begin; r < end; ++r) {
    const int64_t low = groups.first[r], high = groups.first[r + 1];
    for (int64_t c = 0; c < row; c += width) {
      const int64_t w = min_of(width, row - c);
      A total[width];
      for (int64_t i = 0; i < w; ++i) total[i] = A(0);
      for (int64_t p = low; p < high; ++p) {
        const T *from = x + (groups.from ? groups.from[p] : p) * row + c;
        if (groups.from && p + 4 < high) __builtin_prefetch(x + groups.from[p + 4] * row + c);
        if (p == low) {
          for (int64_t i = 0; i < w; ++i) total[i] = A(from[i]);
        } else {
          for (int64_t i = 0; i < w; ++i) meet(total[i], A(from[i]), how);
        }
      }
      if (how == Meeting::mean && high > low + 1) {
        const A n = A(high - low);
        for (int64_t i = 0; i < w; ++i) total[i] = total[i] / n;
      }
      for (int64_t i = 0; i < w; ++i) out[r * row + c + i] = T(total[i]);
    }
  }
}

template <typename T>
int meet_edges(const wry_call *call, const char *op, Meeting how) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const int64_t count = out->shape[0], row = x->size / max_of<int64_t>(1, x->shape[0]), edges = input(call, 2)->size;
  Groups groups;
  if (const int status = group_edges(call, op, attr_bool(call, 2), count, &groups)) return status;
  if (out->size == 0) return WRY_OK;
  if (x->size == 0) {
    zero_bytes(call, out->data, out->size * int64_t(sizeof(T)));
    return WRY_OK;
  }
  const int64_t work = max_of<int64_t>(1, (edges + count) * row / count);
  parallel_for(call, count, max_of<int64_t>(1, 16384 / work), [&](int64_t begin, int64_t end) {
    // The loops are compiled for each way to meet.
    switch (how) {
      case Meeting::largest: return meet_rows<T>(groups, data<T>(x), data<T>(out), begin, end, row, Meeting::largest);
      case Meeting::smallest: return meet_rows<T>(groups, data<T>(x), data<T>(out), begin, end, row, Meeting::smallest);
      default: return meet_rows<T>(groups, data<T>(x), data<T>(out), begin, end, row, how == Meeting::mean ? Meeting::mean : Meeting::sum);
    }
  });
  return WRY_OK;
}

// Of rows this narrow the grouping would cost more than the sums.
template <typename T>
int add_narrow(const wry_call *call, int64_t row) {
  const wry_tensor *x = input(call, 0), *source = input(call, 1), *target = input(call, 2), *out = output(call, 0);
  const int64_t *to = nullptr, *from = nullptr;
  bool falls, unused;
  if (source)
    if (const int status = read_index(call, "edge_sum", "source", source, x->shape[0], &from, &unused)) return status;
  if (const int status = read_index(call, "edge_sum", "target", target, out->shape[0], &to, &falls)) return status;
  T *sums = data<T>(out);
  const T *values = data<T>(x);
  memset((void *)sums, 0, size_t(out->size) * sizeof(T));
  for (int64_t e = 0; e < target->size; ++e)
    for (int64_t i = 0; i < row; ++i) sums[to[e] * row + i] += values[(from ? from[e] : e) * row + i];
  return WRY_OK;
}

template <typename T>
int edge_sum(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const int64_t row = x->size / max_of<int64_t>(1, x->shape[0]);
  const bool mean = attr_bool(call, 1), sorted = attr_bool(call, 2);
  if (!mean && !sorted && row > 0 && row <= 2) return add_narrow<T>(call, row);
  return meet_edges<T>(call, "edge_sum", mean ? Meeting::mean : Meeting::sum);
}

template <typename T>
int edge_extreme(const wry_call *call) {
  return meet_edges<T>(call, "edge_extreme", attr_bool(call, 1) ? Meeting::largest : Meeting::smallest);
}

// ---- matrices in CSR form -----------------------------------------------------------------------

struct Csr {
  const int64_t *crows, *cols;
  int64_t rows;
};

int read_csr(const wry_call *call, const char *op, const wry_tensor *crows, const wry_tensor *cols, int64_t columns, Csr *out) {
  bool falls;
  if (const int status = read_index(call, op, "column", cols, columns, &out->cols, &falls)) return status;
  if (const int status = read_index(call, op, "crows", crows, cols->size + 1, &out->crows, &falls)) return status;
  out->rows = crows->size - 1;
  if (falls || out->crows[0] != 0 || out->crows[out->rows] != cols->size)
    return fail(call, WRY_INVALID,
                "%s: crows does not divide the elements among rows. Got %lld to %lld%s for %lld elements, expected to begin with 0, never to fall, and "
                "to end with their number.",
                op, (long long)out->crows[0], (long long)out->crows[out->rows], falls ? ", which falls between," : "", (long long)cols->size);
  return WRY_OK;
}

// V vectors of a row of the result, in registers from the first element to the last.
template <typename T, int V>
WRY_INLINE void csr_block(const Csr &m, const T *values, const T *x, int64_t n, int64_t r, T *out) {
  vec<T> total[V];
  for (int v = 0; v < V; ++v) total[v] = splat<vec<T>>(T(0));
  const int64_t high = m.crows[r + 1];
  for (int64_t p = m.crows[r]; p < high; ++p) {
    const T *from = x + m.cols[p] * n;
    const vec<T> value = splat<vec<T>>(values[p]);
    for (int v = 0; v < V; ++v) total[v] += value * load(from + v * lanes<T>);
  }
  for (int v = 0; v < V; ++v) store(out + v * lanes<T>, total[v]);
}

template <typename T>
int csr_matmul(const wry_call *call) {
  const wry_tensor *x = input(call, 3), *out = output(call, 0);
  const T *values = data<T>(input(call, 0)), *from = data<T>(x);
  Csr m;
  if (const int status = read_csr(call, "csr_matmul", input(call, 1), input(call, 2), x->shape[0], &m)) return status;
  if (out->size == 0) return WRY_OK;
  const int64_t n = x->shape[1], work = max_of<int64_t>(1, (input(call, 2)->size * n + out->size) / m.rows);
  parallel_for(call, m.rows, max_of<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T *to = data<T>(out) + r * n;
      int64_t c = 0;
      for (; c + 8 * lanes<T> <= n; c += 8 * lanes<T>) csr_block<T, 8>(m, values, from + c, n, r, to + c);
      for (; c + 4 * lanes<T> <= n; c += 4 * lanes<T>) csr_block<T, 4>(m, values, from + c, n, r, to + c);
      for (; c + lanes<T> <= n; c += lanes<T>) csr_block<T, 1>(m, values, from + c, n, r, to + c);
      for (; c < n; ++c) {
        T total = 0;
        for (int64_t p = m.crows[r]; p < m.crows[r + 1]; ++p) total += values[p] * from[m.cols[p] * n + c];
        to[c] = total;
      }
    }
  });
  return WRY_OK;
}

template <typename T>
int csr_sample(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1), *out = output(call, 0);
  Csr m;
  if (const int status = read_csr(call, "csr_sample", input(call, 2), input(call, 3), y->shape[0], &m)) return status;
  if (out->size == 0) return WRY_OK;
  const int64_t n = x->shape[1], work = max_of<int64_t>(1, out->size * (n + 1) / m.rows);
  parallel_for(call, m.rows, max_of<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T *left = data<T>(x) + r * n;
      for (int64_t p = m.crows[r]; p < m.crows[r + 1]; ++p) {
        const T *right = data<T>(y) + m.cols[p] * n;
        vec<T> sums = splat<vec<T>>(T(0));
        int64_t i = 0;
        for (; i + lanes<T> <= n; i += lanes<T>) sums += load(left + i) * load(right + i);
        T total = reduce_add(sums);
        for (; i < n; ++i) total += left[i] * right[i];
        data<T>(out)[p] = total;
      }
    }
  });
  return WRY_OK;
}

int csr_transpose(const wry_call *call) {
  const wry_tensor *cols = input(call, 1);
  const int64_t columns = attr_int(call, 0), count = cols->size;
  Csr m;
  if (const int status = read_csr(call, "csr_transpose", input(call, 0), cols, columns, &m)) return status;
  int64_t *first = data<int64_t>(output(call, 0)), *rows = data<int64_t>(output(call, 1)), *order = data<int64_t>(output(call, 2));
  memset(first, 0, size_t(columns + 1) * 8);
  for (int64_t p = 0; p < count; ++p) ++first[m.cols[p] + 1];
  for (int64_t c = 0; c < columns; ++c) first[c + 1] += first[c];
  for (int64_t r = 0; r < m.rows; ++r)
    for (int64_t p = m.crows[r]; p < m.crows[r + 1]; ++p) {
      const int64_t at = first[m.cols[p]]++;
      rows[at] = r;
      order[at] = p;
    }
  for (int64_t c = columns; c > 0; --c) first[c] = first[c - 1];
  first[0] = 0;
  return WRY_OK;
}

#include <wherry/kernels/rows/sparse.h>

}  // namespace
WRY_TABLE(sparse, table)

}  // namespace WRY_NAMESPACE
