// Edges of graphs, and products with matrices in CSR form.
//
// Edges are grouped by target first (a stable sort, unless they come in order), then each element of a result is computed by one
// thread, in the order of its edges: no atomics, and the same bits each time.
#include "sorting.h"

#include <wherry/kernels/labels.h>

namespace wherry {
namespace cuda {
namespace {

Labels integers_of(const wry_tensor *t) { return {t ? t->data : nullptr, t ? t->dtype : 0}; }

// Indices that are held against a size; 0 stands for those outside, which are reported.
struct Checked {
  Labels index;
  int64_t size;
  Report *report;
  int32_t op;
  Fault fault;
  WRY_GPU int64_t operator[](int64_t e) const {
    const int64_t at = index[e];
    if (uint64_t(at) < uint64_t(size)) return at;
    raise(report, fault, op, at, size, e);
    return 0;
  }
};
// The first place in [0, n) whose value is not below `value`.
template <typename F>
WRY_GPU int64_t first_from(int64_t n, int64_t value, const F &at) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (at(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

__global__ void __launch_bounds__(block_size) check_edges(int64_t edges, bool sorted, Checked source, Checked target) {
  for
    WRY_EACH(e, edges) {
      (void)target[e];
      if (source.index.data) (void)source[e];
      if (!sorted || e == 0) continue;
      const int64_t here = target.index[e], before = target.index[e - 1];
      if (here < before) raise(target.report, TARGETS_NOT_SORTED, target.op, here, 0, e, before);
    }
}

// Row r of a result takes the edges first[r] to first[r + 1] of `order`, or of the list itself.
struct Groups {
  int64_t *first, *order;
};
__global__ void __launch_bounds__(block_size) begin_rows(int64_t rows, int64_t edges, Labels target, int64_t *first) {
  for
    WRY_EACH(r, rows + 1)
  first[r] = first_from(edges, r, [&](int64_t e) { return target[e]; });
}
template <typename K>
__global__ void __launch_bounds__(block_size) begin_groups(int64_t rows, int64_t edges, const Item<K> *items, int64_t *first, int64_t *order) {
  for
    WRY_EACH(i, rows + 1 > edges ? rows + 1 : edges) {
      if (i <= rows) first[i] = first_from(edges, i, [&](int64_t e) { return int64_t(items[e].key); });
      if (i < edges) order[i] = int64_t(items[i].at);
    }
}
// Groups by `place`, which says for each of `count` where in [0, rows) it goes.
template <typename P>
int group_by(const wry_call *call, const char *op, const P &place, int64_t count, int64_t rows, const Groups &groups) {
  const auto run = [&](auto key) {
    using K = decltype(key);
    Item<K> *items = nullptr;
    if (count)
      if (const int status = grouped<K>(call, op, place, count, rows, &items)) return status;
    const int64_t most = rows + 1 > count ? rows + 1 : count;
    const int threads = threads_for(most);
    return check(call, wry_launch(begin_groups<K>, blocks_for(most, threads), dim3(threads), 0, stream(call), rows, count, items, groups.first, groups.order));
  };
  return is_small(count, rows) ? run(uint32_t()) : run(uint64_t());
}

enum class Meeting : int32_t { sum,
                               mean,
                               largest,
                               smallest };
template <typename T>
__global__ void __launch_bounds__(block_size, 1) meet(int64_t rows, int64_t row, Meeting how, Groups groups, Checked source, const T *x, T *out) {
  using A = arithmetic_t<T>;
  for
    WRY_EACH(i, rows * row) {
      const int64_t r = i / row, c = i % row, low = groups.first[r], high = groups.first[r + 1];
      A total = A(0);
      for (int64_t p = low; p < high; ++p) {
        const int64_t e = groups.order ? groups.order[p] : p;
        const A value = load(x + (source.index.data ? source[e] : e) * row + c);
        if (p == low) total = value;
        else if (how == Meeting::largest) total = value > total || value != value ? value : total;
        else if (how == Meeting::smallest) total = value < total || value != value ? value : total;
        else if constexpr (std::is_integral<A>::value) total = A(uint64_t(total) + uint64_t(value));
        else total += value;
      }
      if (how == Meeting::mean && high > low + 1) total = A(total / A(high - low));
      out[i] = narrow<T>(total);
    }
}
template <typename T>
int meet_edges(const wry_call *call, const char *op, Meeting how) {
  const wry_tensor *x = input(call, 0), *given = input(call, 1), *to = input(call, 2), *out = output(call, 0);
  const int64_t edges = to->size, rows = out->shape[0], row = out->size ? out->size / rows : 0;
  const bool sorted = attr_bool(call, 2);
  int32_t number;
  Report *report = arm(call, op, &number);
  const Checked source = {integers_of(given), x->shape[0], report, number, SOURCE_OUT_OF_RANGE}, target = {integers_of(to), rows, report, number, TARGET_OUT_OF_RANGE};
  const int threads = threads_for(edges);
  if (edges) WRY_TRY(wry_launch(check_edges, blocks_for(edges, threads), dim3(threads), 0, stream(call), edges, sorted, source, target));
  if (out->size == 0) return WRY_OK;
  if (x->size == 0) return check(call, cudaMemsetAsync(out->data, 0, size_t(out->size) * sizeof(T), stream(call)));
  Groups groups = {workspace<int64_t>(call, rows + 1 + (sorted ? 0 : edges)), nullptr};
  if (!groups.first) return fail_memory(call, op, (rows + 1 + edges) * 8);
  if (sorted) {
    const int lanes = threads_for(rows + 1);
    WRY_TRY(wry_launch(begin_rows, blocks_for(rows + 1, lanes), dim3(lanes), 0, stream(call), rows, edges, integers_of(to), groups.first));
  } else {
    groups.order = groups.first + rows + 1;
    if (const int status = group_by(call, op, target, edges, rows, groups)) return status;
  }
  const int lanes = threads_for(out->size);
  return check(call, wry_launch(meet<T>, blocks_for(out->size, lanes), dim3(lanes), 0, stream(call), rows, row, how, groups, source, data<T>(x), data<T>(out)));
}
template <typename T>
int edge_sum(const wry_call *call) { return meet_edges<T>(call, "edge_sum", attr_bool(call, 1) ? Meeting::mean : Meeting::sum); }
template <typename T>
int edge_extreme(const wry_call *call) { return meet_edges<T>(call, "edge_extreme", attr_bool(call, 1) ? Meeting::largest : Meeting::smallest); }

// ---- matrices in CSR form -------------------------------------------------------------------------

struct Csr {
  Labels crows;
  Checked cols;
  int64_t rows, count;

  // The places [*low, *high) of row r; none where crows does not divide them, which is reported.
  WRY_GPU void row(int64_t r, int64_t *low, int64_t *high) const {
    *low = crows[r], *high = crows[r + 1];
    if (*low >= 0 && *low <= *high && *high <= count && (r > 0 || *low == 0) && (r + 1 < rows || *high == count)) return;
    raise(cols.report, ROWS_DO_NOT_DIVIDE, cols.op, *low, count, r, *high);
    *low = *high = 0;
  }
  // The row in which place p is stored.
  WRY_GPU int64_t row_of(int64_t p) const {
    const int64_t r = first_from(rows + 1, p + 1, [&](int64_t i) { return crows[i]; }) - 1;
    return r < 0 ? 0 : r >= rows ? rows - 1
                                 : r;
  }
};
Csr csr_of(const wry_call *call, const char *op, const wry_tensor *crows, const wry_tensor *cols, int64_t columns) {
  Csr m = {integers_of(crows), {integers_of(cols), columns, nullptr, 0, COLUMN_OUT_OF_RANGE}, crows->size - 1, cols->size};
  m.cols.report = arm(call, op, &m.cols.op);
  return m;
}
__global__ void __launch_bounds__(block_size) check_csr(Csr m) {
  for
    WRY_EACH(i, m.rows > m.count ? m.rows : m.count) {
      int64_t low, high;
      if (i < m.rows) m.row(i, &low, &high);
      if (i < m.count) (void)m.cols[i];
    }
}
int check_of(const wry_call *call, const Csr &m) {
  const int64_t n = m.rows > m.count ? m.rows : m.count;
  const int threads = threads_for(n);
  return n ? check(call, wry_launch(check_csr, blocks_for(n, threads), dim3(threads), 0, stream(call), m)) : int(WRY_OK);
}

template <typename T>
__global__ void __launch_bounds__(block_size, 1) multiply_csr(Csr m, int64_t n, const T *values, const T *x, T *out) {
  for
    WRY_EACH(i, m.rows * n) {
      int64_t low, high;
      m.row(i / n, &low, &high);
      T total = 0;
      for (int64_t p = low; p < high; ++p) total += values[p] * x[m.cols[p] * n + i % n];
      out[i] = total;
    }
}
template <typename T>
int csr_matmul(const wry_call *call) {
  const wry_tensor *x = input(call, 3), *out = output(call, 0);
  const Csr m = csr_of(call, "csr_matmul", input(call, 1), input(call, 2), x->shape[0]);
  if (const int status = check_of(call, m)) return status;
  if (out->size == 0) return WRY_OK;
  if (x->size == 0) return check(call, cudaMemsetAsync(out->data, 0, size_t(out->size) * sizeof(T), stream(call)));
  const int threads = threads_for(out->size);
  return check(call, wry_launch(multiply_csr<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), m, x->shape[1], data<T>(input(call, 0)),
                                data<T>(x), data<T>(out)));
}

// A warp for each element that is stored.
template <typename T>
__global__ void __launch_bounds__(block_size) sample_csr(Csr m, int64_t n, const T *x, const T *y, T *out) {
  const int lane = threadIdx.x & 31;
  for (int64_t p = blockIdx.x * int64_t(warps_of_block) + threadIdx.x / 32; p < m.count; p += int64_t(gridDim.x) * warps_of_block) {
    const T *left = x + m.row_of(p) * n, *right = y + m.cols[p] * n;
    T total = 0;
    for (int64_t i = lane; i < n; i += 32) total += left[i] * right[i];
#pragma unroll
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
    if (lane == 0) out[p] = total;
  }
}
template <typename T>
int csr_sample(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1), *out = output(call, 0);
  const Csr m = csr_of(call, "csr_sample", input(call, 2), input(call, 3), y->shape[0]);
  if (const int status = check_of(call, m)) return status;
  if (out->size == 0) return WRY_OK;
  if (x->size == 0 || y->size == 0) return check(call, cudaMemsetAsync(out->data, 0, size_t(out->size) * sizeof(T), stream(call)));
  const int64_t blocks = (m.count + warps_of_block - 1) / warps_of_block;
  return check(call, wry_launch(sample_csr<T>, dim3(some_blocks(blocks)), dim3(block_size), 0, stream(call), m, x->shape[1], data<T>(x),
                                data<T>(y), data<T>(out)));
}

__global__ void __launch_bounds__(block_size) name_rows(Csr m, const int64_t *order, int64_t *rows) {
  for
    WRY_EACH(p, m.count)
  rows[p] = m.row_of(order[p]);
}
int csr_transpose(const wry_call *call) {
  const int64_t columns = attr_int(call, 0);
  const Csr m = csr_of(call, "csr_transpose", input(call, 0), input(call, 1), columns);
  if (const int status = check_of(call, m)) return status;
  const Groups groups = {data<int64_t>(output(call, 0)), data<int64_t>(output(call, 2))};
  if (const int status = group_by(call, "csr_transpose", m.cols, m.count, columns, groups)) return status;
  if (m.count == 0) return WRY_OK;
  const int threads = threads_for(m.count);
  return check(call, wry_launch(name_rows, blocks_for(m.count, threads), dim3(threads), 0, stream(call), m, groups.order, data<int64_t>(output(call, 1))));
}

#include <wherry/kernels/rows/sparse.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(sparse, wherry::cuda::table)
