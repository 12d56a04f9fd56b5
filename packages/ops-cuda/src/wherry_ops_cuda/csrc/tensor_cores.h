// Products of 16-bit floats on tensor cores, added up in float32: what the families that multiply share.
//
// A matrix in memory is a number of lines of values that lie one after the other. It goes through shared memory in chunks of 8 values
// (16 bytes), which change places within their line so that neither copies nor ldmatrix meet at a bank. An operand whose lines run
// along k is read as it lies; one whose lines run across k is turned by ldmatrix.trans.
#ifndef WHERRY_CUDA_TENSOR_CORES_H
#define WHERRY_CUDA_TENSOR_CORES_H

#include <cuda_emulator/mma.h>

#include "common.h"

namespace wherry {
namespace cuda {

// The compute capability of the current device, as 90 for 9.0; 0 when it does not say.
inline int capability() {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
    return 0;
  return 10 * major + minor;
}
// Whether it multiplies T in tensor cores.
template <typename T>
bool has_tensor_cores() {
  return is_half<T> && capability() >= (std::is_same<T, half>::value ? 75 : 80);
}
inline int multiprocessors() {
  int device = 0, count = 1;
  if (cudaGetDevice(&device) == cudaSuccess) cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}
inline bool is_aligned(const void *p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

// ---- shared memory --------------------------------------------------------------------------------

// Where a chunk of a line begins, in values, when lines have 4, 8 or 16 chunks. Eight lines of one chunk, and all chunks of a line, lie
// in banks of their own.
template <int Chunks>
WRY_GPU int chunk_at(int line, int chunk) {
  return (line * Chunks + (chunk ^ (Chunks >= 8 ? line & 7 : line >> 1 & 3))) * 8;
}

template <typename T>
WRY_GPU uint32_t pack(float low, float high) {
  uint32_t bits;
  if constexpr (std::is_same<T, half>::value) {
    const __half2 both = __floats2half2_rn(low, high);
    memcpy(&bits, &both, sizeof bits);
  } else {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    memcpy(&bits, &both, sizeof bits);
  }
  return bits;
}

// `valid` of the 8 values at `from`, zeros after them. Those that are not aligned wait for memory.
template <typename T>
WRY_GPU void copy_chunk(T *to, const T *from, int valid, bool aligned) {
  if (aligned) return wry_copy_async(to, from, 2 * valid);
  uint32_t word[4];
  const uint16_t *const bits = reinterpret_cast<const uint16_t *>(from);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    word[i] = 2 * i < valid ? bits[2 * i] : 0;
    if (2 * i + 1 < valid) word[i] |= uint32_t(bits[2 * i + 1]) << 16;
  }
  *reinterpret_cast<uint4 *>(to) = make_uint4(word[0], word[1], word[2], word[3]);
}
WRY_GPU int valid_of(int64_t left) { return left >= 8 ? 8 : left <= 0 ? 0
                                                                      : int(left); }

// `count` lines of a matrix, 8 Chunks values of each, to shared memory, by `threads` threads. `from` is the first value of the first; `lines` and
// `length` say how much there is from there on, `line` is the step between lines.
template <int Chunks, typename T>
WRY_GPU void copy_lines(T *to, int count, const T *from, int64_t line, int64_t lines, int64_t length, bool aligned, int threads) {
#pragma unroll
  for (int e = threadIdx.x; e < count * Chunks; e += threads) {
    const int l = e / Chunks, c = e % Chunks;
    const int valid = l < lines ? valid_of(length - 8 * c) : 0;
    copy_chunk(to + chunk_at<Chunks>(l, c), valid ? from + l * line + 8 * c : from, valid, aligned);
  }
}

// Rows row .. row + 15 and k .. k + 15 as a left operand.
template <bool AlongK, int Chunks, typename T>
WRY_GPU void load_left(uint32_t (&a)[4], const T *tile, int row, int k) {
  const int lane = threadIdx.x & 31, i = lane >> 3, j = lane & 7;
  if constexpr (AlongK) wry_ldmatrix<4, false>(a, tile + chunk_at<Chunks>(row + (i & 1) * 8 + j, (k >> 3) + (i >> 1)));
  else wry_ldmatrix<4, true>(a, tile + chunk_at<Chunks>(k + (i >> 1) * 8 + j, (row >> 3) + (i & 1)));
}
// Columns column .. column + 15 and k .. k + 15, as two right operands of 8 columns.
template <bool AlongK, int Chunks, typename T>
WRY_GPU void load_right(uint32_t (&b)[2][2], const T *tile, int column, int k) {
  const int lane = threadIdx.x & 31, i = lane >> 3, j = lane & 7;
  uint32_t r[4];
  if constexpr (AlongK) wry_ldmatrix<4, false>(r, tile + chunk_at<Chunks>(column + (i >> 1) * 8 + j, (k >> 3) + (i & 1)));
  else wry_ldmatrix<4, true>(r, tile + chunk_at<Chunks>(k + (i & 1) * 8 + j, (column >> 3) + (i >> 1)));
  b[0][0] = r[0], b[0][1] = r[1], b[1][0] = r[2], b[1][1] = r[3];
}

// ---- a tile of a product --------------------------------------------------------------------------

// Rows x Columns values of the result, of which Down x Across warps have equal parts; k goes by in steps of 32, of which up to three are in
// shared memory at once: one that is multiplied, two that come.
template <int Rows_, int Columns_, int Down_, int Across_>
struct Tile {
  static constexpr int Rows = Rows_, Columns = Columns_, Down = Down_, Across = Across_, Threads = 32 * Down * Across, Depth = 32, Stages = 3;
  static constexpr int WarpRows = Rows / Down, WarpColumns = Columns / Across, RowParts = WarpRows / 16, ColumnParts = WarpColumns / 8;
  static constexpr int Left = Rows * Depth, Stage = (Rows + Columns) * Depth, Shared = Stages * Stage;  // in values
  static constexpr int Pitch = Columns + 8, TurnedPitch = Rows + 8;
  static_assert(Rows * Pitch <= Shared && Columns * TurnedPitch <= Shared, "the result goes through the same shared memory");
};
template <typename Z>
using Sums = float[Z::RowParts][Z::ColumnParts][4];

// sums = the tile's product. copy_x(to, step) and copy_y(to, step) bring the lines of a step, of which there are `steps`.
template <typename Z, bool XAlongK, bool YAlongK, typename T, typename X, typename Y>
WRY_GPU void multiply_tile(Sums<Z> &sums, T *shared, int64_t steps, const X &copy_x, const Y &copy_y) {
  const int warp = threadIdx.x / 32, row = warp / Z::Across * Z::WarpRows, column = warp % Z::Across * Z::WarpColumns;
  constexpr int x_chunks = XAlongK ? Z::Depth / 8 : Z::Rows / 8, y_chunks = YAlongK ? Z::Depth / 8 : Z::Columns / 8;
#pragma unroll
  for (int i = 0; i < Z::RowParts; ++i)
#pragma unroll
    for (int j = 0; j < Z::ColumnParts; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][j][e] = 0;
  __syncthreads();  // what was there may still be read
#pragma unroll
  for (int step = 0; step < Z::Stages - 1; ++step) {
    if (step < steps) copy_x(shared + step * Z::Stage, step), copy_y(shared + step * Z::Stage + Z::Left, step);
    wry_commit_copies();
  }
  int at = 0, to = Z::Stages - 1;
#pragma unroll 1
  for (int64_t step = 0; step < steps; ++step) {
    wry_wait_copies<Z::Stages - 2>();
    __syncthreads();  // everybody's copies are there, and what is copied next to has been read
    const int64_t next = step + Z::Stages - 1;
    if (next < steps) copy_x(shared + to * Z::Stage, next), copy_y(shared + to * Z::Stage + Z::Left, next);
    wry_commit_copies();
    const T *const x = shared + at * Z::Stage, *const y = x + Z::Left;
#pragma unroll
    for (int k = 0; k < Z::Depth; k += 16) {
      uint32_t a[Z::RowParts][4], b[Z::ColumnParts / 2][2][2];
#pragma unroll
      for (int i = 0; i < Z::RowParts; ++i) load_left<XAlongK, x_chunks>(a[i], x, row + 16 * i, k);
#pragma unroll
      for (int j = 0; j < Z::ColumnParts / 2; ++j) load_right<YAlongK, y_chunks>(b[j], y, column + 16 * j, k);
#pragma unroll
      for (int i = 0; i < Z::RowParts; ++i)
#pragma unroll
        for (int j = 0; j < Z::ColumnParts; ++j) wry_mma<T>(sums[i][j], a[i], b[j / 2][j % 2]);
    }
    at = at + 1 == Z::Stages ? 0 : at + 1, to = to + 1 == Z::Stages ? 0 : to + 1;
  }
  __syncthreads();
}

// f(row, column, value, value of the next column) for what a thread has of the tile.
template <typename Z, typename F>
WRY_GPU void each_pair(const Sums<Z> &sums, F &&f) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  const int row = warp / Z::Across * Z::WarpRows + (lane >> 2), column = warp % Z::Across * Z::WarpColumns + 2 * (lane & 3);
#pragma unroll
  for (int i = 0; i < Z::RowParts; ++i)
#pragma unroll
    for (int j = 0; j < Z::ColumnParts; ++j) {
      f(row + 16 * i, column + 8 * j, sums[i][j][0], sums[i][j][1]);
      f(row + 16 * i + 8, column + 8 * j, sums[i][j][2], sums[i][j][3]);
    }
}

// 8 values from shared memory, of which `valid` are wanted.
template <typename T>
WRY_GPU void write_chunk(T *to, const T *from, int valid, bool aligned) {
  if (aligned && valid == 8) {
    *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(from);
    return;
  }
  for (int i = 0; i < valid; ++i) to[i] = from[i];
}

}  // namespace cuda
}  // namespace wherry

#endif
