// Indexing: reading and writing at positions that are data.
//
// No index is trusted: a kernel that reads one holds it against its axis, reports what is wrong and goes on with place 0. Where
// two updates meet at one place, they are grouped by place first (a stable sort) and one thread adds them up in the order of
// their indices: no atomics of floats, the same bits each time.
#include "bounds.h"
#include "pointwise.h"
#include "sorting.h"

namespace wherry {
namespace cuda {
namespace {

// ---- positions ------------------------------------------------------------------------------------

// Of an empty axis every index is wrong, and place 0 is not there either: that fails before anything runs.
int refuse_empty(const wry_call *call, const char *op, const wry_tensor *x, int axis) {
  if (x->shape[axis]) return WRY_OK;
  return fail(call, WRY_OUT_OF_RANGE, "%s: an index is out of range for axis %d, which is empty, so there is nothing to index. Got indices, expected none.", op, axis);
}

// Row-major positions: indices that a kernel checks as it reads them, or places that an earlier kernel has made of several.
struct Positions {
  const void *data;
  bool ready, wide;
  Bounds bounds;
  WRY_GPU int64_t operator[](int64_t i) const {
    if (ready) return static_cast<const int64_t *>(data)[i];
    return held(bounds, wide ? static_cast<const int64_t *>(data)[i] : static_cast<const int32_t *>(data)[i], i);
  }
};

// places[i] (+)= pace * the i-th index, broadcast to `like`.
template <typename I>
__global__ void __launch_bounds__(block_size, 1) add_places(Walk<2> w, Bounds bounds, const I *index, int64_t pace, bool first, int64_t *places) {
  for WRY_EACH (i, w.size) {
    int64_t at[2];
    cuda::places(w, i, at);
    const int64_t place = held(bounds, index[at[1]], i) * pace;
    places[i] = first ? place : places[i] + place;
  }
}
int make_places(const wry_call *call, const char *op, const wry_tensor *like, const wry_tensor *index, const wry_tensor *x, int axis, int64_t pace,
                bool from_end, bool first, int64_t *places) {
  if (like->size == 0) return WRY_OK;
  if (const int status = refuse_empty(call, op, x, axis)) return status;
  const Bounds bounds = bounds_of(call, op, x, axis, from_end);
  const int threads = threads_for(like->size);
  const auto run = [&](auto tag) {
    using I = decltype(tag);
    return check(call, wry_launch(add_places<I>, blocks_for(like->size, threads), dim3(threads), 0, stream(call), walk_of<2>({like, index}), bounds,
                                  data<I>(index), pace, first, places));
  };
  return index->dtype == WRY_INT64 ? run(int64_t()) : run(int32_t());
}

// The indices along `axis` of x.
int positions_of(const wry_call *call, const char *op, const wry_tensor *index, const wry_tensor *x, int axis, bool from_end, Positions *p) {
  *p = Positions{index->data, false, index->dtype == WRY_INT64, {}};
  if (index->size == 0) return WRY_OK;
  if (const int status = refuse_empty(call, op, x, axis)) return status;
  if (is_contiguous(index) && output(call, 0)->size) {
    p->bounds = bounds_of(call, op, x, axis, from_end);
    return WRY_OK;
  }
  int64_t *own = workspace<int64_t>(call, index->size);
  if (!own) return fail_memory(call, op, index->size * 8);
  p->data = own, p->ready = true;
  return make_places(call, op, index, index, x, axis, 1, from_end, true, own);
}

int64_t product(const int64_t *shape, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= shape[i];
  return n;
}

// index  [..., k] names a place in the first k axes of x, as a row number
int nd_positions(const wry_call *call, const char *op, const wry_tensor *x, const wry_tensor *index, Positions *p, int64_t *count) {
  const int last = index->rank - 1, k = int(index->shape[last]);
  View one(index);
  one.remove(last);
  *count = one.tensor.size;
  *p = Positions{nullptr, true, true, {}};
  if (*count == 0) return WRY_OK;
  int64_t *own = workspace<int64_t>(call, *count);
  if (!own) return fail_memory(call, op, *count * 8);
  p->data = own;
  if (k == 0) WRY_TRY(cudaMemsetAsync(own, 0, size_t(*count) * 8, stream(call)));
  for (int axis = 0; axis < k; ++axis) {
    View column(&one.tensor);
    column.advance(axis * index->strides[last]);
    const int status = make_places(call, op, &column.tensor, &column.tensor, x, axis, product(x->shape, axis + 1, k), true, axis == 0, own);
    if (status) return status;
  }
  return WRY_OK;
}

// The shape that the index tensors from `first` on broadcast to.
struct IndexShape {
  wry_tensor tensor = {};
  int64_t shape[WRY_MAX_RANK], strides[WRY_MAX_RANK];

  IndexShape(const wry_call *call, int first) {
    tensor.shape = shape, tensor.strides = strides;
    for (int k = first; k < call->n_inputs; ++k) tensor.rank = input(call, k)->rank > tensor.rank ? input(call, k)->rank : tensor.rank;
    for (int i = 0; i < tensor.rank; ++i) shape[i] = 1;
    for (int k = first; k < call->n_inputs; ++k) {
      const wry_tensor *index = input(call, k);
      for (int i = 0; i < index->rank; ++i)
        if (index->shape[i] != 1) shape[tensor.rank - index->rank + i] = index->shape[i];
    }
    int64_t pace = 1;
    for (int i = tensor.rank - 1; i >= 0; --i) strides[i] = pace, pace *= shape[i];
    tensor.size = pace;
  }
  IndexShape(const IndexShape &) = delete;
};

// The index tensors as row numbers of the axes that they stand for, or as offsets in elements of an x with any strides.
int index_positions(const wry_call *call, const char *op, const wry_tensor *x, int first_index, bool as_offsets, const wry_tensor *like, Positions *p) {
  const Ints axes = attr_ints(call, 0);
  if (axes.length == 1 && !as_offsets && input(call, first_index)->size == like->size)
    return positions_of(call, op, input(call, first_index), x, int(axes[0]), true, p);
  *p = Positions{nullptr, true, true, {}};
  if (like->size == 0) return WRY_OK;
  int64_t *own = workspace<int64_t>(call, like->size);
  if (!own) return fail_memory(call, op, like->size * 8);
  p->data = own;
  for (int i = 0; i < axes.length; ++i) {
    const int axis = int(axes[i]);
    const int64_t pace = as_offsets ? x->strides[axis] : product(x->shape, axis + 1, int(axes[axes.length - 1]) + 1);
    if (const int status = make_places(call, op, like, input(call, first_index + i), x, axis, pace, true, i == 0, own)) return status;
  }
  return WRY_OK;
}

// ---- reading rows ---------------------------------------------------------------------------------

// out[o, m, i] = x[o, positions[m], i], where o and i may be several axes of x with any strides. A thread takes elements of out,
// so that neighbours write neighbours, and within a row read neighbours.
struct Rows {
  int64_t outer, count, row, pace;  // sizes; from one position to the next, in elements of x
  int32_t outer_rank, row_rank;
  int64_t outer_shape[WRY_MAX_RANK], outer_strides[WRY_MAX_RANK], row_shape[WRY_MAX_RANK], row_strides[WRY_MAX_RANK];
};
WRY_GPU int64_t along(int64_t i, int rank, const int64_t *shape, const int64_t *strides) {
  if (rank == 1) return i * strides[0];
  int64_t at = 0;
  for (int axis = rank - 1; axis >= 0; --axis) {
    at += i % shape[axis] * strides[axis];
    i /= shape[axis];
  }
  return at;
}
void join_axes(const wry_tensor *x, int begin, int end, int64_t *size, int32_t *rank, int64_t *shape, int64_t *strides) {
  *size = product(x->shape, begin, end);
  *rank = 0;
  for (int axis = begin; axis < end; ++axis) {
    if (x->shape[axis] == 1) continue;
    if (*rank && strides[*rank - 1] == x->strides[axis] * x->shape[axis]) {
      shape[*rank - 1] *= x->shape[axis], strides[*rank - 1] = x->strides[axis];
    } else {
      shape[*rank] = x->shape[axis], strides[(*rank)++] = x->strides[axis];
    }
  }
}
Rows rows_of(const wry_tensor *x, int first, int last, int64_t count, int64_t pace) {
  Rows r = {};
  r.count = count, r.pace = pace;
  join_axes(x, 0, first, &r.outer, &r.outer_rank, r.outer_shape, r.outer_strides);
  join_axes(x, last + 1, x->rank, &r.row, &r.row_rank, r.row_shape, r.row_strides);
  return r;
}

// padding: a position whose row is zeros; -1: none
template <typename W>
__global__ void __launch_bounds__(block_size) gather_rows(Rows r, Positions positions, int64_t padding, const W *x, W *out) {
  for WRY_EACH (i, r.outer * r.count * r.row) {
    const int64_t inner = i % r.row, m = i / r.row % r.count, o = i / r.row / r.count, place = positions[m];
    const W zero = {};
    out[i] = padding >= 0 && place == padding
                 ? zero
                 : x[along(o, r.outer_rank, r.outer_shape, r.outer_strides) + place * r.pace + along(inner, r.row_rank, r.row_shape, r.row_strides)];
  }
}
int read_rows(const wry_call *call, Rows r, const Positions &positions, const wry_tensor *x, int64_t padding = -1) {
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  // Whole rows of 16 bytes at a time where they lie so.
  int64_t bytes = item_size(x);
  const int64_t width = 16 / bytes;
  bool whole = width > 1 && r.row % width == 0 && r.row_rank == 1 && r.row_strides[0] == 1 && r.pace % width == 0 &&
               (reinterpret_cast<uintptr_t>(x->data) | reinterpret_cast<uintptr_t>(out->data)) % 16 == 0 && !(positions.ready && r.pace == 1);
  for (int i = 0; i < r.outer_rank; ++i) whole = whole && r.outer_strides[i] % width == 0;
  if (whole) {
    bytes = 16, r.row /= width, r.pace /= width, r.row_shape[0] /= width;
    for (int i = 0; i < r.outer_rank; ++i) r.outer_strides[i] /= width;
  }
  const int64_t n = r.outer * r.count * r.row;
  const int threads = threads_for(n);
  return dispatch_size(bytes, [&](auto tag) {
    using W = decltype(tag);
    return check(call, wry_launch(gather_rows<W>, blocks_for(n, threads), dim3(threads), 0, stream(call), r, positions, padding, data<W>(x), data<W>(out)));
  });
}

int gather(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1);
  const int axis = int(attr_int(call, 0));
  Positions p;
  if (const int status = positions_of(call, "gather", index, x, axis, true, &p)) return status;
  return read_rows(call, rows_of(x, axis, axis, index->size, x->strides[axis]), p, x);
}

int gather_nd(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1);
  const int k = int(index->shape[index->rank - 1]);
  Positions p;
  int64_t count;
  if (const int status = nd_positions(call, "gather_nd", x, index, &p, &count)) return status;
  return read_rows(call, rows_of(x, 0, k - 1, count, product(x->shape, k, x->rank)), p, x);
}

int index_get(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const Ints axes = attr_ints(call, 0);
  const int first = int(axes[0]), last = int(axes[axes.length - 1]);
  const IndexShape indices(call, 1);
  const bool contiguous = is_contiguous(x);
  Positions p;
  if (const int status = index_positions(call, "index_get", x, 1, !contiguous, &indices.tensor, &p)) return status;
  return read_rows(call, rows_of(x, first, last, indices.tensor.size, contiguous ? product(x->shape, last + 1, x->rank) : 1), p, x);
}

int embedding(const wry_call *call) {
  const wry_tensor *index = input(call, 0), *weight = input(call, 1);
  Positions p;
  if (const int status = positions_of(call, "embedding", index, weight, 0, false, &p)) return status;
  return read_rows(call, rows_of(weight, 0, 0, index->size, weight->shape[1]), p, weight, attr_int(call, 0));
}

// ---- writing rows ---------------------------------------------------------------------------------

enum class Join { add,        // to what is there
                  fresh_add,  // to zero
                  last,       // the last update of a place stays
                  multiply };

// out[o, place, c] from the updates [o, m, c] that name the place. Each run of equal places has one thread for each of its columns, which
// goes through the run; neighbouring threads take neighbouring columns. 16-bit floats add up in float.
template <typename K, typename T, Join J>
__global__ void __launch_bounds__(block_size) join_rows(int64_t outer, int64_t n, int64_t row, int64_t count, const Item<K> *items, const T *updates, T *out) {
  using A = arithmetic_t<T>;
  for WRY_EACH (i, outer * count * row) {
    const int64_t c = i % row, p = i / row % count, o = i / row / count;
    const K place = items[p].key;
    if (p && items[p - 1].key == place) continue;
    T *to = out + (o * n + int64_t(place)) * row + c;
    const T *from = updates + o * count * row + c;
    if constexpr (J == Join::last) {
      int64_t q = p;
      while (q + 1 < count && items[q + 1].key == place) ++q;
      *to = from[int64_t(items[q].at) * row];
    } else {
      A total = J == Join::fresh_add ? A(0) : load(to);
      for (int64_t q = p; q < count && items[q].key == place; ++q) {
        const A update = load(from + int64_t(items[q].at) * row);
        if constexpr (std::is_same<A, bool>::value) total = J == Join::multiply ? total && update : total || update;
        else if constexpr (std::is_integral<A>::value) {
          using U = unsigned_t<A>;
          total = A(J == Join::multiply ? U(uint64_t(U(total)) * uint64_t(U(update))) : U(U(total) + U(update)));
        } else total = J == Join::multiply ? total * update : total + update;
      }
      *to = narrow<T>(total);
    }
  }
}

// `out` holds what updates are joined to.
template <typename T, Join J, typename P>
int join(const wry_call *call, const char *op, T *out, int64_t outer, int64_t n, int64_t row, const P &positions, int64_t count, const T *updates) {
  const int64_t all = outer * count * row;
  if (all == 0) return WRY_OK;
  const auto run = [&](auto tag) {
    using K = decltype(tag);
    Item<K> *items;
    if (const int status = grouped<K>(call, op, positions, count, n, &items)) return status;
    const int threads = threads_for(all);
    return check(call, wry_launch(join_rows<K, T, J>, blocks_for(all, threads), dim3(threads), 0, stream(call), outer, n, row, count, items, updates, out));
  };
  return is_small(count, n) ? run(uint32_t()) : run(uint64_t());
}
// The same for values that are only moved.
template <typename P>
int write_rows(const wry_call *call, const char *op, const wry_tensor *out, int64_t outer, int64_t n, int64_t row, const P &positions, int64_t count,
               const void *values) {
  return dispatch_size(item_size(out), [&](auto tag) {
    using W = decltype(tag);
    return join<W, Join::last>(call, op, data<W>(out), outer, n, row, positions, count, static_cast<const W *>(values));
  });
}

int copy_whole(const wry_call *call, const wry_tensor *out, const wry_tensor *x) {
  if (out->data == x->data || out->size == 0) return WRY_OK;
  return check(call, cudaMemcpyAsync(out->data, x->data, size_t(x->size * item_size(x)), cudaMemcpyDeviceToDevice, stream(call)));
}
int zero_whole(const wry_call *call, const wry_tensor *out) {
  if (out->size == 0) return WRY_OK;
  return check(call, cudaMemsetAsync(out->data, 0, size_t(out->size * item_size(out)), stream(call)));
}

template <typename T>
int gather_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  Positions p;
  if (const int status = positions_of(call, "gather_vjp", index, out, axis, true, &p)) return status;
  if (const int status = zero_whole(call, out)) return status;
  return join<T, Join::fresh_add>(call, "gather_vjp", data<T>(out), product(out->shape, 0, axis), out->shape[axis], product(out->shape, axis + 1, out->rank), p,
                                  index->size, data<T>(ct));
}

template <typename T>
int scatter_nd_add(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int k = int(index->shape[index->rank - 1]);
  Positions p;
  int64_t count;
  if (const int status = nd_positions(call, "scatter_nd_add", x, index, &p, &count)) return status;
  if (const int status = copy_whole(call, out, x)) return status;
  return join<T, Join::add>(call, "scatter_nd_add", data<T>(out), 1, product(x->shape, 0, k), product(x->shape, k, x->rank), p, count, data<T>(input(call, 2)));
}

template <typename T>
int index_add(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  Positions p;
  if (const int status = positions_of(call, "index_add", index, x, axis, true, &p)) return status;
  if (const int status = copy_whole(call, out, x)) return status;
  return join<T, Join::add>(call, "index_add", data<T>(out), product(x->shape, 0, axis), x->shape[axis], product(x->shape, axis + 1, x->rank), p, index->size,
                            data<T>(input(call, 2)));
}

template <typename T>
int embedding_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int64_t padding = attr_int(call, 0), row = out->shape[1];
  Positions p;
  if (const int status = positions_of(call, "embedding_vjp", index, out, 0, false, &p)) return status;
  if (const int status = zero_whole(call, out)) return status;
  const int status = join<T, Join::fresh_add>(call, "embedding_vjp", data<T>(out), 1, out->shape[0], row, p, index->size, data<T>(ct));
  if (status != WRY_OK || padding < 0 || padding >= out->shape[0] || row == 0) return status;
  return check(call, cudaMemsetAsync(data<T>(out) + padding * row, 0, size_t(row) * sizeof(T), stream(call)));
}

// x, out  contiguous; out may be x itself
template <typename T>
int scatter(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *updates = input(call, 2), *out = output(call, 0);
  Positions p;
  if (const int status = positions_of(call, "scatter", index, x, 0, true, &p)) return status;
  if (const int status = copy_whole(call, out, x)) return status;
  const int64_t row = product(x->shape, 1, x->rank);
  if (attr_bool(call, 0)) return write_rows(call, "scatter", out, 1, x->shape[0], row, p, index->size, updates->data);
  return join<T, Join::fresh_add>(call, "scatter", data<T>(out), 1, x->shape[0], row, p, index->size, data<T>(updates));
}

// x, out  contiguous; out may be x itself
// value   any strides, broadcast to [outer..., index shape..., inner...]
template <typename T>
int index_put(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *value = input(call, 1), *out = output(call, 0);
  const Ints axes = attr_ints(call, 0);
  const int first = int(axes[0]), last = int(axes[axes.length - 1]);
  const bool accumulate = attr_bool(call, 1);
  if (std::is_same<T, bool>::value && accumulate)
    return fail(call, WRY_UNSUPPORTED,
                "index_put: bool values cannot be accumulated. Got accumulate=True for a bool x, expected a number. Cast x to int32 first.");
  const IndexShape indices(call, 2);
  Positions p;
  if (const int status = index_positions(call, "index_put", x, 2, false, &indices.tensor, &p)) return status;
  if (const int status = copy_whole(call, out, x)) return status;
  const int64_t outer = product(x->shape, 0, first), n = product(x->shape, first, last + 1), row = product(x->shape, last + 1, x->rank);
  const int64_t count = indices.tensor.size, total = outer * count * row;
  if (total == 0) return WRY_OK;
  const void *values = value->data;
  if (value->size != total || !is_contiguous(value)) {  // spread out in scratch memory
    const int rank = first + indices.tensor.rank + (x->rank - last - 1);
    if (rank > WRY_MAX_RANK)
      return fail(call, WRY_UNSUPPORTED, "index_put: the values have more than %d axes. Got indices of rank %d. Flatten the indices first.", WRY_MAX_RANK,
                  indices.tensor.rank);
    View full(out), source(value);
    int at = 0;
    for (int i = 0; i < first; ++i) full.shape[at++] = x->shape[i];
    for (int i = 0; i < indices.tensor.rank; ++i) full.shape[at++] = indices.shape[i];
    for (int i = last + 1; i < x->rank; ++i) full.shape[at++] = x->shape[i];
    full.tensor.rank = rank;
    int64_t pace = 1;
    for (int i = rank - 1; i >= 0; --i) full.strides[i] = pace, pace *= full.shape[i];
    full.measure();
    full.tensor.data = workspace<T>(call, total);
    if (!full.tensor.data) return fail_memory(call, "index_put", total * int64_t(sizeof(T)));
    while (source.tensor.rank > rank) source.remove(0);  // leading axes of size 1, as in x[i] = [[1]]
    const int threads = threads_for(total);
    WRY_TRY(wry_launch(pointwise_1<Identity, T, T>, blocks_for(total, threads), dim3(threads), 0, stream(call), walk_of<2>({&full.tensor, &source.tensor}),
                       Identity(), data<T>(&full.tensor), data<T>(&source.tensor)));
    values = full.tensor.data;
  }
  if constexpr (!std::is_same<T, bool>::value)
    if (accumulate) return join<T, Join::add>(call, "index_put", data<T>(out), outer, n, row, p, count, static_cast<const T *>(values));
  return write_rows(call, "index_put", out, outer, n, row, p, count, values);
}

// ---- along an axis --------------------------------------------------------------------------------

// out[..., j, ...] = x[..., index[..., j, ...], ...]: operands out, index, x (of which the axis has stride 0).
template <typename W, typename I>
__global__ void __launch_bounds__(block_size, 1) take_along(Walk<3> w, Bounds bounds, int64_t pace, const I *index, const W *x, W *out) {
  for WRY_EACH (i, w.size) {
    int64_t at[3];
    places(w, i, at);
    out[at[0]] = x[at[2] + held(bounds, index[at[1]], i) * pace];
  }
}
int take_along_axis(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  if (index->size == 0) return WRY_OK;
  if (const int status = refuse_empty(call, "take_along_axis", x, axis)) return status;
  const Bounds bounds = bounds_of(call, "take_along_axis", x, axis, true);
  // Of x only the lines that the index names count: its other axes may be longer.
  View source(x);
  for (int i = 0; i < x->rank; ++i) source.shape[i] = out->shape[i];
  source.strides[axis] = 0;
  source.measure();
  const int threads = threads_for(out->size);
  return dispatch_size(item_size(out), [&](auto tag) {
    using W = decltype(tag);
    const auto run = [&](auto index_tag) {
      using I = decltype(index_tag);
      return check(call, wry_launch(take_along<W, I>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), walk_of<3>({out, index, &source.tensor}),
                                    bounds, x->strides[axis], data<I>(index), data<W>(x), data<W>(out)));
    };
    return index->dtype == WRY_INT64 ? run(int64_t()) : run(int32_t());
  });
}

// Where each element of the index writes, as an offset in out: operands index and out (of which the axis has stride 0).
template <typename I>
__global__ void __launch_bounds__(block_size, 1) find_targets(Walk<2> w, Bounds bounds, int64_t pace, const I *index, int64_t *targets) {
  for WRY_EACH (i, w.size) {
    int64_t at[2];
    places(w, i, at);
    targets[i] = at[1] + held(bounds, index[at[0]], i) * pace;
  }
}

// reduce  "assign", "add", "multiply"
// x, out  contiguous; out may be x itself
template <typename T>
int put_along_axis(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *index = input(call, 1), *value = input(call, 2), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  const int64_t count = index->size;
  if (count)
    if (const int status = refuse_empty(call, "put_along_axis", x, axis)) return status;
  if (const int status = copy_whole(call, out, x)) return status;
  if (count == 0) return WRY_OK;
  const Bounds bounds = bounds_of(call, "put_along_axis", x, axis, true);
  int64_t *targets = workspace<int64_t>(call, count);
  T *values = data<T>(value);
  if (!targets) return fail_memory(call, "put_along_axis", count * 8);
  View target(out), full(index);
  for (int i = 0; i < out->rank; ++i) target.shape[i] = index->shape[i];
  target.strides[axis] = 0;
  target.measure();
  const int threads = threads_for(count);
  const auto find = [&](auto tag) {
    using I = decltype(tag);
    return check(call, wry_launch(find_targets<I>, blocks_for(count, threads), dim3(threads), 0, stream(call), walk_of<2>({index, &target.tensor}), bounds,
                                  out->strides[axis], data<I>(index), targets));
  };
  if (const int status = index->dtype == WRY_INT64 ? find(int64_t()) : find(int32_t())) return status;
  if (value->size != count) {  // spread out in scratch memory
    int64_t pace = 1;
    for (int i = full.tensor.rank - 1; i >= 0; --i) full.strides[i] = pace, pace *= full.shape[i];
    if (!(values = workspace<T>(call, count))) return fail_memory(call, "put_along_axis", count * int64_t(sizeof(T)));
    WRY_TRY(wry_launch(pointwise_1<Identity, T, T>, blocks_for(count, threads), dim3(threads), 0, stream(call), walk_of<2>({&full.tensor, value}), Identity(),
                       values, data<T>(value)));
  }
  const int64_t *const places = targets;
  if (attr_equals(call, 1, "assign")) return write_rows(call, "put_along_axis", out, 1, out->size, 1, places, count, values);
  if (attr_equals(call, 1, "add")) return join<T, Join::add>(call, "put_along_axis", data<T>(out), 1, out->size, 1, places, count, values);
  return join<T, Join::multiply>(call, "put_along_axis", data<T>(out), 1, out->size, 1, places, count, values);
}

// ---- masks ----------------------------------------------------------------------------------------

struct Marked {
  const uint8_t *mask;
  WRY_GPU bool operator()(int64_t i) const { return mask[i] != 0; }
};
template <typename W>
struct Select {
  const W *x;
  W *out;
  WRY_GPU void operator()(int64_t i, int64_t rank, bool chosen) const {
    if (chosen) out[rank] = x[i];
  }
};
int masked_select(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *mask = input(call, 1);
  const Marked marked = {data<uint8_t>(mask)};
  int64_t *starts, count;
  if (const int status = count_runs(call, "masked_select", mask->size, marked, &starts)) return status;
  if (const int status = fetch(call, starts + runs_of(mask->size), &count)) return status;
  void *out = call->context->allocate_output(call->context, 0, 1, &count);
  if (!out) return fail_memory(call, "masked_select", count * item_size(x));
  return dispatch_size(item_size(x), [&](auto tag) {
    using W = decltype(tag);
    return use_runs(call, mask->size, marked, starts, Select<W>{data<W>(x), static_cast<W *>(out)});
  });
}

template <typename W>
struct Unselect {
  const W *ct;
  W *out;
  const int64_t *total;
  int64_t size;
  Report *report;
  int32_t op;
  WRY_GPU void operator()(int64_t i, int64_t rank, bool chosen) const {
    const W zero = {};
    if (i == 0 && *total != size) raise(report, COUNT_DIFFERS, op, size, *total);
    out[i] = chosen && rank < size ? ct[rank] : zero;
  }
};
int masked_select_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *mask = input(call, 1), *out = output(call, 0);
  const Marked marked = {data<uint8_t>(mask)};
  int64_t *starts;
  if (const int status = count_runs(call, "masked_select_vjp", mask->size, marked, &starts)) return status;
  int32_t op;
  Report *report = arm(call, "masked_select_vjp", &op);
  return dispatch_size(item_size(out), [&](auto tag) {
    using W = decltype(tag);
    return use_runs(call, mask->size, marked, starts, Unselect<W>{data<W>(ct), data<W>(out), starts + runs_of(mask->size), ct->size, report, op});
  });
}

template <typename T>
struct NotZero {
  const T *x;
  WRY_GPU bool operator()(int64_t i) const { return load(x + i) != arithmetic_t<T>(0); }
};
struct Coordinates {
  int64_t *out;
  int32_t rank;
  int64_t shape[WRY_MAX_RANK];
  WRY_GPU void operator()(int64_t i, int64_t number, bool chosen) const {
    if (!chosen) return;
    for (int axis = rank - 1; axis >= 0; --axis) {
      out[number * rank + axis] = i % shape[axis];
      i /= shape[axis];
    }
  }
};
template <typename T>
int nonzero(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const NotZero<T> not_zero = {data<T>(x)};
  int64_t *starts, shape[2] = {0, x->rank};
  if (const int status = count_runs(call, "nonzero", x->size, not_zero, &starts)) return status;
  if (const int status = fetch(call, starts + runs_of(x->size), &shape[0])) return status;
  Coordinates c = {static_cast<int64_t *>(call->context->allocate_output(call->context, 0, 2, shape)), x->rank, {}};
  if (!c.out) return fail_memory(call, "nonzero", shape[0] * x->rank * 8);
  for (int i = 0; i < x->rank; ++i) c.shape[i] = x->shape[i];
  return x->rank == 0 ? WRY_OK : use_runs(call, x->size, not_zero, starts, c);
}

// ---- one_hot --------------------------------------------------------------------------------------

template <typename I>
__global__ void __launch_bounds__(block_size) one_hot_kernel(int64_t n, int64_t classes, Report *report, int32_t op, const I *x, float *out) {
  for WRY_EACH (i, n * classes) {
    const int64_t at = i / classes, c = i % classes, value = int64_t(x[at]);
    if (c == 0 && uint64_t(value) >= uint64_t(classes)) raise(report, VALUE_NOT_A_CLASS, op, value, classes, at);
    out[i] = value == c ? 1.0f : 0.0f;
  }
}
template <typename I>
int one_hot(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  int32_t op;
  Report *report = arm(call, "one_hot", &op);
  const int threads = threads_for(out->size);
  return check(call, wry_launch(one_hot_kernel<I>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), x->size, attr_int(call, 0), report, op,
                                data<I>(x), data<float>(out)));
}

constexpr uint32_t replaces = WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS;

const wry_kernel_entry table[] = {
    WRY_ANY_ROW("gather", 0, gather),
    WRY_NUMBER_ROWS("gather_vjp", WRY_WANTS_CONTIGUOUS, gather_vjp),
    WRY_ANY_ROW("gather_nd", WRY_WANTS_CONTIGUOUS, gather_nd),
    WRY_NUMBER_ROWS("scatter_nd_add", replaces, scatter_nd_add),
    WRY_NUMBER_ROWS("scatter", replaces, scatter),
    WRY_NUMBER_ROWS("index_add", replaces, index_add),
    WRY_ANY_ROW("take_along_axis", 0, take_along_axis),
    WRY_ALL_ROWS("put_along_axis", replaces, put_along_axis),
    WRY_ANY_ROW("masked_select", WRY_WANTS_CONTIGUOUS, masked_select),
    WRY_ANY_ROW("masked_select_vjp", WRY_WANTS_CONTIGUOUS, masked_select_vjp),
    WRY_ALL_ROWS("nonzero", WRY_WANTS_CONTIGUOUS, nonzero),
    WRY_ANY_ROW("index_get", 0, index_get),
    WRY_ALL_ROWS("index_put", replaces, index_put),
    WRY_ANY_ROW("embedding", WRY_WANTS_CONTIGUOUS, embedding),
    WRY_NUMBER_ROWS("embedding_vjp", WRY_WANTS_CONTIGUOUS, embedding_vjp),
    WRY_INT_ROWS("one_hot", WRY_WANTS_CONTIGUOUS, one_hot),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(indexing, wherry::cuda::table)
