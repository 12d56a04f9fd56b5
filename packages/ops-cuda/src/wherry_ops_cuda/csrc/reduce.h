// Reducing some axes of a tensor to one value each, in an order that is the same each time.
//
// Many outputs of few values: one thread for each output. Few outputs: one block for each. Columns, whose neighbours are neighbours in memory:
// 32 of them a block, whose threads share them row by row. And where that would leave the GPU idle, blocks for pieces of an
// output, whose totals a second launch combines. No atomics of floats: their order, and so the last bits, would change from run to run.
//
// A reducer R has
//   T, W, Out                        what is read, what is added up in, what is written
//   W start()                        the total of nothing
//   W lift(x, W shift, int64_t at)   a value as a total; shift is that output's of `shifts`, or start(); at is its place
//   W combine(W a, W b)              which may come in any order
//   Out finish(W total, double n)
#ifndef WHERRY_CUDA_REDUCE_H
#define WHERRY_CUDA_REDUCE_H

#include "common.h"

namespace wherry {
namespace cuda {

struct Axes {
  int64_t kept, reduced, chunk, chunks;  // sizes; a piece of what is reduced, and how many there are
  int32_t kept_rank, reduced_rank;
  int64_t kept_shape[WRY_MAX_RANK], kept_strides[WRY_MAX_RANK], reduced_shape[WRY_MAX_RANK], reduced_strides[WRY_MAX_RANK];
};

WRY_GPU int64_t offset_of(int64_t i, int rank, const int64_t *shape, const int64_t *strides) {
  if (rank == 1) return i * strides[0];
  int64_t at = 0;
  if (i < int64_t(1) << 31) {
    uint32_t rest = uint32_t(i);
#pragma unroll 1
    for (int axis = rank - 1; axis >= 0; --axis) {
      const uint32_t n = uint32_t(shape[axis]);
      at += int64_t(rest % n) * strides[axis];
      rest /= n;
    }
    return at;
  }
#pragma unroll 1
  for (int axis = rank - 1; axis >= 0; --axis) {
    at += i % shape[axis] * strides[axis];
    i /= shape[axis];
  }
  return at;
}

// The total of a block, in every thread. The block is a power of two of at least 32 threads.
template <typename R>
WRY_GPU typename R::W block_total(typename R::W value) {
  using W = typename R::W;
  const int thread = threadIdx.x;
  if constexpr (sizeof(W) <= 8) {
    WRY_SHARED(W, part, 32);
    const int lane = thread & 31, warp = thread >> 5, warps = blockDim.x >> 5;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const W other = __shfl_xor_sync(0xffffffffu, value, step);
      value = lane & step ? R::combine(other, value) : R::combine(value, other);
    }
    __syncthreads();  // the total before this one may still be read
    if (lane == 0) part[warp] = value;
    __syncthreads();
    value = part[0];
    for (int w = 1; w < warps; ++w) value = R::combine(value, part[w]);
  } else {
    WRY_SHARED(W, part, block_size);
    __syncthreads();
    part[thread] = value;
    for (int step = 1; step < int(blockDim.x); step *= 2) {
      __syncthreads();
      if (thread % (2 * step) == 0) part[thread] = R::combine(part[thread], part[thread + step]);
    }
    __syncthreads();
    value = part[0];
  }
  return value;
}

// The total of the threads of a block that have one threadIdx.x, in each of them.
template <typename R>
WRY_GPU typename R::W column_total(typename R::W value) {
  WRY_SHARED(typename R::W, part, block_size);
  __syncthreads();  // the total before this one may still be read
  part[threadIdx.y * blockDim.x + threadIdx.x] = value;
  __syncthreads();
  value = part[threadIdx.x];
  for (int y = 1; y < int(blockDim.y); ++y) value = R::combine(value, part[y * blockDim.x + threadIdx.x]);
  return value;
}

template <typename R>
__global__ void __launch_bounds__(block_size) reduce_by_threads(Axes a, const typename R::T *x, const typename R::W *shifts, typename R::Out *out, double n) {
  for
    WRY_EACH(o, a.kept) {
      const typename R::T *from = x + offset_of(o, a.kept_rank, a.kept_shape, a.kept_strides);
      const typename R::W shift = shifts ? shifts[o] : R::start();
      typename R::W total = R::start();
      for (int64_t i = 0; i < a.reduced; ++i)
        total = R::combine(total, R::lift(load(from + offset_of(i, a.reduced_rank, a.reduced_shape, a.reduced_strides)), shift, i));
      out[o] = narrow<typename R::Out>(R::finish(total, n));
    }
}

// Block (o, piece). Neighbouring threads take neighbouring values.
template <typename R>
__global__ void __launch_bounds__(block_size, 1) reduce_by_blocks(Axes a, const typename R::T *x, const typename R::W *shifts, typename R::W *parts, typename R::Out *out, double n) {
  for (int64_t o = blockIdx.x; o < a.kept; o += gridDim.x) {
    const typename R::T *from = x + offset_of(o, a.kept_rank, a.kept_shape, a.kept_strides);
    const typename R::W shift = shifts ? shifts[o] : R::start();
    const int64_t first = blockIdx.y * a.chunk, end = first + a.chunk < a.reduced ? first + a.chunk : a.reduced;
    typename R::W total = R::start();
    for (int64_t i = first + threadIdx.x; i < end; i += blockDim.x)
      total = R::combine(total, R::lift(load(from + offset_of(i, a.reduced_rank, a.reduced_shape, a.reduced_strides)), shift, i));
    total = block_total<R>(total);
    if (threadIdx.x == 0) {
      if (parts) parts[blockIdx.y * a.kept + o] = total;
      else out[o] = narrow<typename R::Out>(R::finish(total, n));
    }
  }
}

// Block (32 outputs that lie side by side, piece). Thread (c, y) takes values y, y + 8, ... of output c.
template <typename R>
__global__ void __launch_bounds__(block_size, 2) reduce_columns(Axes a, const typename R::T *x, const typename R::W *shifts, typename R::W *parts, typename R::Out *out, double n) {
  const int64_t tiles = (a.kept + blockDim.x - 1) / blockDim.x;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t o = tile * blockDim.x + threadIdx.x;
    typename R::W total = R::start();
    if (o < a.kept) {
      const typename R::T *from = x + offset_of(o, a.kept_rank, a.kept_shape, a.kept_strides);
      const typename R::W shift = shifts ? shifts[o] : R::start();
      const int64_t first = blockIdx.y * a.chunk, end = first + a.chunk < a.reduced ? first + a.chunk : a.reduced;
      for (int64_t i = first + threadIdx.y; i < end; i += blockDim.y)
        total = R::combine(total, R::lift(load(from + offset_of(i, a.reduced_rank, a.reduced_shape, a.reduced_strides)), shift, i));
    }
    total = column_total<R>(total);
    if (o >= a.kept || threadIdx.y) continue;
    if (parts) parts[blockIdx.y * a.kept + o] = total;
    else out[o] = narrow<typename R::Out>(R::finish(total, n));
  }
}

template <typename R>
__global__ void __launch_bounds__(block_size) combine_parts(int64_t kept, int64_t chunks, const typename R::W *parts, typename R::Out *out, double n) {
  for
    WRY_EACH(o, kept) {
      typename R::W total = R::start();
      for (int64_t i = 0; i < chunks; ++i) total = R::combine(total, parts[i * kept + o]);
      out[o] = narrow<typename R::Out>(R::finish(total, n));
    }
}

inline Axes axes_of(const wry_tensor *x, const int64_t *axes, int count) {
  Axes a = {};
  a.kept = a.reduced = 1;
  for (int axis = 0; axis < x->rank; ++axis) {
    bool reduced = false;
    for (int i = 0; i < count; ++i) reduced = reduced || axes[i] == axis;
    const int64_t n = x->shape[axis], step = x->strides[axis];
    (reduced ? a.reduced : a.kept) *= n;
    if (n == 1) continue;
    int32_t &rank = reduced ? a.reduced_rank : a.kept_rank;
    int64_t *shape = reduced ? a.reduced_shape : a.kept_shape, *strides = reduced ? a.reduced_strides : a.kept_strides;
    if (rank && strides[rank - 1] == step * n) {  // lies evenly with the axis before
      shape[rank - 1] *= n, strides[rank - 1] = step;
    } else {
      shape[rank] = n, strides[rank++] = step;
    }
  }
  return a;
}

template <typename R>
int combined(const wry_call *call, const Axes &a, const typename R::W *parts, typename R::Out *out, double n) {
  return check(call, wry_launch(combine_parts<R>, blocks_for(a.kept, 32), dim3(32), 0, stream(call), a.kept, a.chunks, parts, out, n));
}
template <typename R>
int reduce(const wry_call *call, const char *op, const wry_tensor *x, const int64_t *axes, int count, const typename R::W *shifts, void *to, double n = 1) {
  Axes a = axes_of(x, axes, count);
  using Out = typename R::Out;
  Out *out = static_cast<Out *>(to);
  const typename R::T *from = data<typename R::T>(x);
  if (a.kept == 0) return WRY_OK;
  a.chunk = a.reduced, a.chunks = 1;
  if (a.reduced <= 32 || (a.kept >= 65536 && a.reduced <= 256)) {
    const int threads = threads_for(a.kept);
    return check(call, wry_launch(reduce_by_threads<R>, blocks_for(a.kept, threads), dim3(threads), 0, stream(call), a, from, shifts, out, n));
  }
  const bool columns = a.kept_rank > 0 && a.kept_strides[a.kept_rank - 1] == 1 && a.kept_shape[a.kept_rank - 1] >= 8 &&
                       !(a.reduced_rank > 0 && a.reduced_strides[a.reduced_rank - 1] == 1);
  if (columns) {
    const int64_t tiles = (a.kept + 31) / 32, wanted = (1024 + tiles - 1) / tiles, most = (a.reduced + 63) / 64;
    a.chunks = wanted < most ? wanted : most;
    a.chunk = (a.reduced + a.chunks - 1) / a.chunks;
    a.chunks = (a.reduced + a.chunk - 1) / a.chunk;
    auto *parts = a.chunks > 1 ? workspace<typename R::W>(call, a.kept * a.chunks) : nullptr;
    if (a.chunks > 1 && !parts) return fail_memory(call, op, a.kept * a.chunks * int64_t(sizeof(typename R::W)));
    const dim3 grid(some_blocks(tiles), unsigned(a.chunks));
    WRY_TRY(wry_launch(reduce_columns<R>, grid, dim3(32, 8), 0, stream(call), a, from, shifts, parts, out, n));
    return parts ? combined<R>(call, a, parts, out, n) : int(WRY_OK);
  }
  const int threads = threads_for((a.reduced + 3) / 4);
  const unsigned rows = some_blocks(a.kept);
  if (a.reduced <= 8192 || a.kept >= 1024)
    return check(call, wry_launch(reduce_by_blocks<R>, dim3(rows), dim3(threads), 0, stream(call), a, from, shifts, nullptr, out, n));
  a.chunks = (a.reduced + 4095) / 4096 < 512 ? (a.reduced + 4095) / 4096 : 512;
  a.chunk = (a.reduced + a.chunks - 1) / a.chunks;
  a.chunks = (a.reduced + a.chunk - 1) / a.chunk;
  auto *parts = workspace<typename R::W>(call, a.kept * a.chunks);
  if (!parts) return fail_memory(call, op, a.kept * a.chunks * int64_t(sizeof(typename R::W)));
  WRY_TRY(wry_launch(reduce_by_blocks<R>, dim3(rows, unsigned(a.chunks)), dim3(threads), 0, stream(call), a, from, shifts, parts, out, n));
  return combined<R>(call, a, parts, out, n);
}

// Of a call whose first attribute names the axes.
template <typename R>
int reduce_call(const wry_call *call, const char *op, double n = 1) {
  const Ints axes = attr_ints(call, 0);
  return reduce<R>(call, op, input(call, 0), axes.data, axes.length, nullptr, output(call, 0)->data, n);
}
inline int64_t reduced_count(const wry_tensor *x, const Ints &axes) {
  int64_t n = 1;
  for (const int64_t axis : axes) n *= x->shape[axis];
  return n;
}

}  // namespace cuda
}  // namespace wherry

#endif
