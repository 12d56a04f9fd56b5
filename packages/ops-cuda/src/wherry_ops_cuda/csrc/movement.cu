// Movement: values change their place and nothing else.
//
// Most kernels describe source and destination as parts of a tensor, on the host, and leave the moving to one strided copy.
// They serve every dtype (row -1), because only the size of an element matters to them.
#include "pointwise.h"
#include "tables.h"

#include <wherry/kernels/indices.h>

namespace wherry {
namespace cuda {

// 32 x 32 elements at a time through shared memory, where the two sides run along different axes: both are then read and
// written in whole rows. One column more than needed keeps the columns in different banks.
constexpr int tile = 32, tile_rows = 8;
template <typename T>
__global__ void __launch_bounds__(tile *tile_rows) turn(const T *x, T *out, int64_t rows, int64_t columns, int64_t x_step, int64_t out_step, int64_t x_batch, int64_t out_batch) {
  WRY_SHARED(T, part, tile * (tile + 1));
  x += blockIdx.z * x_batch, out += blockIdx.z * out_batch;
  for (int64_t first = blockIdx.y * int64_t(tile); first < rows; first += int64_t(gridDim.y) * tile) {
    const int64_t column = blockIdx.x * int64_t(tile);
    __syncthreads();  // the rows before may still be read
    for (int r = threadIdx.y; r < tile; r += tile_rows)
      if (first + r < rows && column + threadIdx.x < columns) part[r * (tile + 1) + threadIdx.x] = x[(first + r) * x_step + column + threadIdx.x];
    __syncthreads();
    for (int c = threadIdx.y; c < tile; c += tile_rows)
      if (column + c < columns && first + threadIdx.x < rows) out[(column + c) * out_step + first + threadIdx.x] = part[threadIdx.x * (tile + 1) + c];
  }
}

template <typename T>
static cudaError_t copy_words(const wry_tensor *to, const wry_tensor *from, cudaStream_t stream) {
  const Walk<2> w = walk_of<2>({to, from});
  // A matrix that is turned, or a batch of those: the last axis of the one is another one of the other.
  const int last = w.rank - 1;
  if ((w.rank == 2 || w.rank == 3) && w.strides[0][last] == 1 && w.strides[1][last - 1] == 1 && w.shape[last] >= 8 && w.shape[last - 1] >= 8 &&
      (w.rank == 2 || w.shape[0] < 65536)) {
    const int64_t rows = w.shape[last], columns = w.shape[last - 1];  // of the source
    const dim3 grid(unsigned((columns + tile - 1) / tile), some_blocks((rows + tile - 1) / tile),
                    w.rank == 3 ? unsigned(w.shape[0]) : 1u);
    return wry_launch(turn<T>, grid, dim3(tile, tile_rows), 0, stream, data<T>(from), data<T>(to), rows, columns, w.strides[1][last],
                      w.strides[0][last - 1], w.rank == 3 ? w.strides[1][0] : 0, w.rank == 3 ? w.strides[0][0] : 0);
  }
  return launch_pointwise<T, T>(stream, {to, from}, w, Identity());
}

cudaError_t copy_device(const wry_tensor *to, const wry_tensor *from, cudaStream_t stream) {
  if (to->size == 0) return cudaSuccess;
  if (is_contiguous(to) && is_contiguous(from) && to->size == from->size)
    return cudaMemcpyAsync(to->data, from->data, size_t(to->size * item_size(to)), cudaMemcpyDeviceToDevice, stream);
  cudaError_t code = cudaSuccess;
  dispatch_size(item_size(to), [&](auto tag) {
    code = copy_words<decltype(tag)>(to, from, stream);
    return 0;
  });
  return code;
}
int strided_copy(const wry_call *call, const wry_tensor *to, const wry_tensor *from) { return check(call, copy_device(to, from, stream(call))); }

template <typename T>
__global__ void __launch_bounds__(block_size) fill_strided(Walk<1> w, T *out, T value) {
  for
    WRY_EACH(i, w.size) {
      int64_t at[1];
      places(w, i, at);
      out[at[0]] = value;
    }
}
static cudaError_t fill_view(const wry_tensor *to, const void *item, cudaStream_t stream) {
  cudaError_t code = cudaSuccess;
  if (to->size == 0) return code;
  dispatch_size(item_size(to), [&](auto tag) {
    using T = decltype(tag);
    T value;
    memcpy(&value, item, sizeof value);
    const int threads = threads_for(to->size);
    code = wry_launch(fill_strided<T>, blocks_for(to->size, threads), dim3(threads), 0, stream, walk_of<1>({to}), data<T>(to), value);
    return 0;
  });
  return code;
}
cudaError_t fill_device(void *to, size_t count, const void *item, size_t item_bytes, cudaStream_t stream) {
  const int32_t code = item_bytes == 1 ? WRY_UINT8 : item_bytes == 2 ? WRY_INT16
                                                 : item_bytes == 4   ? WRY_INT32
                                                 : item_bytes == 8   ? WRY_INT64
                                                                     : WRY_COMPLEX128;
  const int64_t shape[1] = {int64_t(count)}, strides[1] = {1};
  const wry_tensor whole = {to, shape, strides, int64_t(count), code, 1, 0, 0};
  return fill_view(&whole, item, stream);
}

__global__ void nothing() {}
cudaError_t probe() {
  const cudaError_t code = wry_launch(nothing, dim3(1), dim3(1), 0, nullptr);
  return code == cudaSuccess ? cudaDeviceSynchronize() : code;
}

namespace {

int copy(const wry_call *call) {
  const wry_tensor *to = output(call, 0), *from = input(call, 0);
  if (to->size == 0) return WRY_OK;
  if (to->size == from->size) return strided_copy(call, to, from);
  return dispatch_size(item_size(to), [&](auto tag) { return pointwise1<decltype(tag), decltype(tag)>(call, Identity()); });  // broadcast
}

int concat(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  int64_t at = 0;
  for (int k = 0; k < call->n_inputs; ++k) {
    const wry_tensor *x = input(call, k);
    if (x->rank <= axis) continue;  // Paddle's concat takes empty 1-D inputs of shape [0] beside others
    const int64_t n = x->shape[axis];
    View part(out);
    part.narrow(axis, at, n);
    const int status = strided_copy(call, &part.tensor, x);
    if (status != WRY_OK) return status;
    at += n;
  }
  return WRY_OK;
}

// The constant as a value of `dtype`, in the first bytes of a word.
word16 constant(int32_t dtype, double value) {
  word16 word = {0, 0};
  dispatch<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, half, bfloat16, float, double, complex64, complex128>(dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_same<T, half>::value) tag = __float2half(float(value));
    else if constexpr (std::is_same<T, bfloat16>::value) tag = __float2bfloat16(float(value));
    else if constexpr (is_complex<T>::value) tag = T(typename is_complex<T>::real(value));
    else tag = T(value);
    memcpy(&word, &tag, sizeof tag);
    return 0;
  });
  return word;
}

// Fills `out` outside of the box that x is copied to: axis by axis the slabs before and after the box, then on with what is
// left between them, so that every element is written once.
int pad(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const Ints paddings = attr_ints(call, 0);
  const word16 value = constant(out->dtype, attr_float(call, 1));
  if (out->size == 0) return WRY_OK;
  View source(x), target(out);
  for (int axis = 0; axis < out->rank; ++axis) {
    if (paddings[2 * axis] == 0 && paddings[2 * axis + 1] == 0) continue;
    const PaddedAxis p = padded_axis(x->shape[axis], out->shape[axis], paddings[2 * axis], paddings[2 * axis + 1]);
    source.narrow(axis, p.begin, p.n);
    View slab(target);
    slab.narrow(axis, 0, p.before);
    WRY_TRY(fill_view(&slab.tensor, &value, stream(call)));
    View other(target);
    other.narrow(axis, out->shape[axis] - p.after, p.after);
    WRY_TRY(fill_view(&other.tensor, &value, stream(call)));
    target.narrow(axis, p.before, p.n);
  }
  return strided_copy(call, &target.tensor, &source.tensor);
}

int flip(const wry_call *call) {
  View source(input(call, 0));
  if (source.tensor.size == 0) return WRY_OK;
  for (const int64_t axis : attr_ints(call, 0)) source.narrow(int(axis), source.shape[axis] - 1, source.shape[axis], -1);
  return strided_copy(call, output(call, 0), &source.tensor);
}

struct Roll {
  Walk<2> walk;  // out, x; axes of one size are not joined
  int64_t shift[WRY_MAX_RANK];
};
template <typename T>
__global__ void __launch_bounds__(block_size) roll_kernel(Roll r, T *out, const T *x) {
  for
    WRY_EACH(i, r.walk.size) {
      int64_t rest = i, from = 0;
      for (int axis = r.walk.rank - 1; axis >= 0; --axis) {
        const int64_t n = r.walk.shape[axis], index = rest % n - r.shift[axis];
        rest /= n;
        from += (index < 0 ? index + n : index) * r.walk.strides[1][axis];
      }
      out[i] = x[from];
    }
}
int roll(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const Ints shifts = attr_ints(call, 0), axes = attr_ints(call, 1);
  if (x->size == 0) return WRY_OK;
  Roll r = {};
  r.walk.size = x->size, r.walk.rank = x->rank;
  for (int axis = 0; axis < x->rank; ++axis) r.walk.shape[axis] = x->shape[axis], r.walk.strides[1][axis] = x->strides[axis];
  roll_shifts(x, shifts, axes, r.shift);
  const int threads = threads_for(x->size);
  return dispatch_size(item_size(x), [&](auto tag) {
    using T = decltype(tag);
    return check(call, wry_launch(roll_kernel<T>, blocks_for(x->size, threads), dim3(threads), 0, stream(call), r, data<T>(out), data<T>(x)));
  });
}

// [..., n * repeats, ...] as [..., n, repeats, ...]: one strided copy for each repeat.
int repeat_interleave(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const int64_t repeats = attr_int(call, 0);
  const int axis = int(attr_int(call, 1));
  if (out->size == 0) return WRY_OK;
  for (int64_t k = 0; k < repeats; ++k) {
    View part(out);
    part.narrow(axis, k, x->shape[axis], repeats);
    const int status = strided_copy(call, &part.tensor, x);
    if (status != WRY_OK) return status;
  }
  return WRY_OK;
}

// Keeps columns c of row r with c - r <= diagonal (lower) or c - r >= diagonal; zero elsewhere.
template <typename T>
__global__ void __launch_bounds__(block_size) triangle(Walk<2> w, T *out, const T *x, int64_t rows, int64_t columns, int64_t diagonal, bool lower) {
  for
    WRY_EACH(i, w.size) {
      int64_t at[2];
      places(w, i, at);
      const int64_t distance = i % columns - i / columns % rows;
      const T zero = {};
      out[at[0]] = (lower ? distance <= diagonal : distance >= diagonal) ? x[at[1]] : zero;
    }
}
int keep_triangle(const wry_call *call, bool lower) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  return dispatch_size(item_size(x), [&](auto tag) {
    using T = decltype(tag);
    return check(call, wry_launch(triangle<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), walk_of<2>({out, x}), data<T>(out), data<T>(x),
                                  out->shape[out->rank - 2], out->shape[out->rank - 1], attr_int(call, 0), lower));
  });
}
int tril(const wry_call *call) { return keep_triangle(call, true); }
int triu(const wry_call *call) { return keep_triangle(call, false); }

// ---- adjoints of views ----------------------------------------------------------------------------

// The whole of out is zeroed and then partly written: a second pass over the part is cheaper than finding out what it leaves.
int write_part(const wry_call *call, const View &part) {
  const wry_tensor *out = output(call, 0);
  if (out->size && part.tensor.size != out->size) WRY_TRY(cudaMemsetAsync(out->data, 0, size_t(out->size * item_size(out)), stream(call)));
  return strided_copy(call, &part.tensor, input(call, 0));
}

// Cuts `part` down to the slice that the attributes (axes, starts, ends, steps) name.
void narrow_to_slice(const wry_call *call, View &part) {
  const Ints axes = attr_ints(call, 0), starts = attr_ints(call, 1), ends = attr_ints(call, 2), steps = attr_ints(call, 3);
  for (int i = 0; i < axes.length; ++i) {
    const int axis = int(axes[i]);
    const int64_t n = part.shape[axis], step = steps[i] < -INT64_MAX ? -INT64_MAX : steps[i];  // its negative must exist
    // Bounds mean what they mean in Python.
    const int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? n - 1 : n;
    const auto bound = [&](int64_t at) { return at < 0 ? (at + n < lowest ? lowest : at + n) : (at > highest ? highest : at); };
    const int64_t start = bound(starts[i]), end = bound(ends[i]);
    const int64_t span = step < 0 ? start - end : end - start, pace = step < 0 ? -step : step;
    const int64_t count = span <= 0 ? 0 : (span - 1) / pace + 1;
    part.narrow(axis, count == 0 ? 0 : start, count, count <= 1 ? 1 : step);
  }
}

// ct    the cotangent of the slice
// like  only its shape counts, which is that of out
int slice_vjp(const wry_call *call) {
  View part(output(call, 0));
  narrow_to_slice(call, part);
  return write_part(call, part);
}

// x      what out is outside of the slice; out may be its memory
// value  of the shape of the slice, any strides; must not overlap out
int slice_put(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0), *value = input(call, 1);
  if (x->data != out->data) {
    const int status = strided_copy(call, out, x);
    if (status != WRY_OK) return status;
  }
  View part(out);
  narrow_to_slice(call, part);
  return strided_copy(call, &part.tensor, value);
}

int select_vjp(const wry_call *call) {
  View part(output(call, 0));
  const int axis = int(attr_int(call, 0));
  const int64_t index = attr_int(call, 1);
  part.drop(axis, index < 0 ? index + part.shape[axis] : index);
  return write_part(call, part);
}

int diagonal_vjp(const wry_call *call) {
  View part(output(call, 0));
  const int64_t offset = attr_int(call, 0);
  const int axis1 = int(attr_int(call, 1)), axis2 = int(attr_int(call, 2));
  const int64_t rows = part.shape[axis1], columns = part.shape[axis2], step1 = part.strides[axis1], step2 = part.strides[axis2];
  const int64_t down = offset >= 0 ? rows : rows + offset, across = offset >= 0 ? columns - offset : columns, count = down < across ? down : across;
  if (count > 0) part.advance(offset >= 0 ? offset * step2 : -offset * step1);
  part.remove(axis1 > axis2 ? axis1 : axis2);
  part.remove(axis1 > axis2 ? axis2 : axis1);
  part.shape[part.tensor.rank] = count > 0 ? count : 0;
  part.strides[part.tensor.rank++] = step1 + step2;
  part.measure();
  return write_part(call, part);
}

// ---- shapes as data -------------------------------------------------------------------------------

struct Sizes {
  int32_t rank, at[WRY_MAX_RANK];
};
__global__ void write_sizes(Sizes sizes, int32_t *out) {
  if (int(threadIdx.x) < sizes.rank) out[threadIdx.x] = sizes.at[threadIdx.x];
}
int shape_of(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  Sizes sizes = {x->rank, {}};
  for (int axis = 0; axis < x->rank; ++axis) sizes.at[axis] = int32_t(x->shape[axis]);
  if (x->rank == 0) return WRY_OK;
  return check(call, wry_launch(write_sizes, dim3(1), dim3(32), 0, stream(call), sizes, data<int32_t>(output(call, 0))));
}

#include <wherry/kernels/rows/movement.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(movement, wherry::cuda::table)
