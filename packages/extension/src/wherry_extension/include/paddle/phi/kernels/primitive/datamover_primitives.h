// Kernel primitives that move values between memory and the registers of a thread.
//
// A thread of a line begins at element `threadIdx.x * NX` of its block and takes neighbours. A thread of rows begins at element
// `threadIdx.x`; its value [ny, nx] is `ny * stride_ny + nx * stride_nx` elements further on. Without IsBoundary nothing is
// checked; with it, registers whose element is outside keep what they held.
#pragma once

#include "paddle/phi/kernels/primitive/helper_primitives.h"

namespace paddle {
namespace operators {
namespace kernel_primitives {

// Rows of memory to registers, cast from Tx to Ty.
//
// src      where the block begins
// size_nx  elements of a row from `src` on: those at size_nx and beyond are not read (IsBoundary)
// size_ny  rows from `src` on (IsBoundary)
template <typename Tx, typename Ty, int NX, int NY, auto BlockSize, bool IsBoundary = false>
WHERRY_KPS_FUNCTION void ReadData(Ty *dst, const Tx *src, int size_nx, int size_ny, int stride_nx, int stride_ny) {
  details::CheckSizes<NX, NY, BlockSize>();
  const int begin = threadIdx.x;
  for (int ny = 0; ny < NY; ++ny) {
    if (IsBoundary && ny >= size_ny) break;
    for (int nx = 0; nx < NX; ++nx) {
      const int column = begin + nx * stride_nx;
      if (IsBoundary && column >= size_nx) break;
      dst[ny * NX + nx] = static_cast<Ty>(src[column + static_cast<int64_t>(ny) * stride_ny]);
    }
  }
}

// NX neighbours to registers; the block reads at most `num` (IsBoundary).
template <typename T, int NX, int NY, auto BlockSize, bool IsBoundary = false>
WHERRY_KPS_FUNCTION void ReadData(T *dst, const T *src, int num) {
  details::CheckLine<NX, NY, BlockSize>();
  const int begin = threadIdx.x * NX;
  if constexpr (IsBoundary) {
    for (int nx = 0; nx < NX && begin + nx < num; ++nx) dst[nx] = src[begin + nx];
  } else {
    details::CopyNeighbours<T, NX>(dst, src + begin);
  }
}

// The same with a cast from Tx to Ty.
template <typename Tx, typename Ty, int NX, int NY, auto BlockSize, bool IsBoundary = false>
WHERRY_KPS_FUNCTION void ReadData(Ty *dst, const Tx *src, int num) {
  details::CheckLine<NX, NY, BlockSize>();
  if constexpr (std::is_same_v<Tx, Ty>) {
    ReadData<Tx, NX, NY, BlockSize, IsBoundary>(dst, src, num);
  } else {
    const int begin = threadIdx.x * NX;
    for (int nx = 0; nx < NX && (!IsBoundary || begin + nx < num); ++nx) dst[nx] = static_cast<Ty>(src[begin + nx]);
  }
}

// Rows of an output's shape, read from an input that is broadcast to it.
//
// src               the whole input
// block_offset      the block's first element in the output
// total_num_output  elements of the output: those beyond are not read (IsBoundary)
template <typename T, int NX, int NY, auto BlockSize, int Rank, bool IsBoundary = false>
WHERRY_KPS_FUNCTION void ReadDataBc(T *dst, const T *src, uint32_t block_offset, details::BroadcastConfig<Rank> config,
                                    int total_num_output, int stride_nx, int stride_ny) {
  details::CheckSizes<NX, NY, BlockSize>();
  const uint32_t begin = block_offset + threadIdx.x;
  for (int ny = 0; ny < NY; ++ny)
    for (int nx = 0; nx < NX; ++nx) {
      const uint32_t index = begin + ny * stride_ny + nx * stride_nx;
      if (IsBoundary && index >= static_cast<uint32_t>(total_num_output)) break;
      dst[ny * NX + nx] = src[config(index)];
    }
}

// NX neighbours of an output's shape, read from an input that is broadcast to it.
template <typename T, int NX, int NY, auto BlockSize, int Rank, bool IsBoundary = false>
WHERRY_KPS_FUNCTION void ReadDataBc(T *dst, const T *src, uint32_t block_offset, details::BroadcastConfig<Rank> config,
                                    int total_num_output) {
  details::CheckLine<NX, NY, BlockSize>();
  const uint32_t begin = block_offset + threadIdx.x * NX;
  for (int nx = 0; nx < NX; ++nx) {
    if (IsBoundary && begin + nx >= static_cast<uint32_t>(total_num_output)) break;
    dst[nx] = src[config(begin + nx)];
  }
}

// Values for a reduction, transformed on the way: dst = func(src[index_cal(position)]).
//
// The threads along x count reduced elements with reduce_last_dim and kept ones without, those along y the others. A position
// counts reduced elements from `block_offset` on, and `stride_nx` for each further column of kept ones; `src` is where the first
// kept element of the thread stands.
//
// size_nx  kept elements of the block (IsBoundary)
// size_ny  reduced elements of the block (IsBoundary)
template <typename Tx, typename Ty, int NX, int NY, auto BlockSize, int Rank, typename IndexCal, typename Functor,
          bool IsBoundary = false>
WHERRY_KPS_FUNCTION void ReadDataReduce(Tx *dst, const Ty *src, int block_offset, const IndexCal &index_cal, int size_nx,
                                        int size_ny, int stride_nx, int stride_ny, Functor func, bool reduce_last_dim) {
  details::CheckSizes<NX, NY, BlockSize>();
  static_assert(Rank > 0, "kps: Rank is at least 1");
  static_assert(std::is_invocable_v<const IndexCal &, int>, "kps::ReadDataReduce: IndexCal is `int operator()(int index) const`");
  static_assert(std::is_invocable_v<Functor &, Ty>, "kps::ReadDataReduce: Functor takes one value of memory");
  const int reduced = reduce_last_dim ? threadIdx.x : threadIdx.y, kept = reduce_last_dim ? threadIdx.y : threadIdx.x;
  for (int ny = 0; ny < NY; ++ny) {
    const int row = reduced + ny * stride_ny;
    if (IsBoundary && row >= size_ny) break;
    for (int nx = 0; nx < NX; ++nx) {
      if (IsBoundary && kept + nx * stride_nx >= size_nx) break;
      dst[ny * NX + nx] = static_cast<Tx>(func(src[index_cal(block_offset + row + nx * stride_nx)]));
    }
  }
}

// NX registers to neighbours in memory; the block writes at most `num` (IsBoundary).
template <typename T, int NX, int NY, auto BlockSize, bool IsBoundary = false>
WHERRY_KPS_FUNCTION void WriteData(T *dst, const T *src, int num) {
  details::CheckLine<NX, NY, BlockSize>();
  const int begin = threadIdx.x * NX;
  if constexpr (IsBoundary) {
    for (int nx = 0; nx < NX && begin + nx < num; ++nx) dst[begin + nx] = src[nx];
  } else {
    details::CopyNeighbours<T, NX>(dst + begin, src);
  }
}

// Registers to rows of memory, cast from Tx to Ty; arguments as those of ReadData.
template <typename Tx, typename Ty, int NX, int NY, auto BlockSize, bool IsBoundary = false>
WHERRY_KPS_FUNCTION void WriteData(Ty *dst, const Tx *src, int size_nx, int size_ny, int stride_nx, int stride_ny) {
  details::CheckSizes<NX, NY, BlockSize>();
  const int begin = threadIdx.x;
  for (int ny = 0; ny < NY; ++ny) {
    if (IsBoundary && ny >= size_ny) break;
    for (int nx = 0; nx < NX; ++nx) {
      const int column = begin + nx * stride_nx;
      if (IsBoundary && column >= size_nx) break;
      dst[column + static_cast<int64_t>(ny) * stride_ny] = static_cast<Ty>(src[ny * NX + nx]);
    }
  }
}

// All NX registers to `init_data`.
template <typename T, int NX>
WHERRY_KPS_FUNCTION void Init(T *dst, T init_data) {
  details::CheckSizes<NX, 1, 1>();
  for (int nx = 0; nx < NX; ++nx) dst[nx] = init_data;
}

// NX registers to those of `src`, at most `num` (IsBoundary).
template <typename T, int NX, bool IsBoundary = false>
WHERRY_KPS_FUNCTION void Init(T *dst, const T *src, int num) {
  details::CheckSizes<NX, 1, 1>();
  for (int nx = 0; nx < NX && (!IsBoundary || nx < num); ++nx) dst[nx] = src[nx];
}

}  // namespace kernel_primitives
}  // namespace operators
}  // namespace paddle
