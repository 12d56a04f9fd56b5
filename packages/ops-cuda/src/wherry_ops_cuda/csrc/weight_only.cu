// Products of floats with weights of 8 or 4 bits, which are read as they lie, 16 bytes at a time.
//
// Few rows: 256 threads have 16 outputs of two rows (8 bits) or four (4 bits). They go through the weight once, add up in float32, and put their sums together
// in one order. A value of the weight becomes a float by its place in the mantissa of 2^23, which costs one subtraction, its zero included.
//
// Many rows of 16-bit floats go to tensor cores: values of a tile become 16-bit floats, times their scale, on their way to shared memory.
// Such a weight is rounded once more than in the definition, as the inputs have been already.
#include "tensor_cores.h"

namespace wherry {
namespace cuda {
namespace {

constexpr int block = 16, eight = 8, warps = block_size / 32;
constexpr int many = 16;    // rows from which tensor cores are quicker
constexpr int piece = 256;  // inputs of a warp before their scale is applied; of 8 bits
using Halves = Tile<64, 64, 2, 2>;

WRY_GPU void read16(const void *from, uint32_t (&words)[4]) {
  const uint4 read = *static_cast<const uint4 *>(from);
  words[0] = read.x, words[1] = read.y, words[2] = read.z, words[3] = read.w;
}

struct Numbers {  // floats of a dtype that is known at run time
  const void *at;
  int32_t dtype;

  WRY_GPU float of(int64_t i) const {
    switch (dtype) {
      case WRY_FLOAT16: return load(static_cast<const half *>(at) + i);
      case WRY_BFLOAT16: return load(static_cast<const bfloat16 *>(at) + i);
      case WRY_FLOAT64: return float(static_cast<const double *>(at)[i]);
      default: return static_cast<const float *>(at)[i];
    }
  }
};

// The weight lies [blocks, lines, 16 outputs] in bytes (8 bits; a line for an input) or in words (4 bits; a line for eight inputs).
struct Weight {
  const char *at;
  const void *zero;
  Numbers scale, bias;
  int64_t rows, inside, out, blocks, lines, group, groups;
};

// A whole number below 256 as a float, less `from`, which is 2^23 and what stands for zero.
constexpr float magic = 8388608;
WRY_GPU float number(uint32_t bits, float from) {
  bits |= 0x4b000000u;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value - from;
}
// What stands for zero: of 8 bits, whose sign is turned so that they begin at 0, and of 4.
template <bool Four>
WRY_GPU float zero_of(const Weight &w, int64_t at) {
  if (Four) return magic + (w.zero ? float(static_cast<const uint8_t *>(w.zero)[at]) : 8.0f);
  return magic + 128 + (w.zero ? float(static_cast<const int8_t *>(w.zero)[at]) : 0.0f);
}
constexpr uint32_t signs = 0x80808080u;

// Sums over the lanes of a warp that are `step`, `2 step`, ... apart, in all of them.
template <int Step>
WRY_GPU float sum_lanes(float value) {
#pragma unroll
  for (int step = 16; step >= Step; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

// total[r][i] += the products of output `first + i` over the inputs of a warp; 8 bits: each lane has all 16 outputs of its inputs.
template <int R, typename T>
WRY_GPU void add_bytes(const Weight &w, const T *x, int64_t at, int rows, float (&total)[R][16]) {
  const int lane = threadIdx.x & 31;
  const int64_t pieces = (w.group + piece - 1) / piece, count = pieces * w.groups;
#pragma unroll 1
  for (int64_t p = threadIdx.x / 32; p < count; p += warps) {
    const int64_t g = p / pieces, begin = g * w.group + p % pieces * piece;
    int64_t end = begin + piece < (g + 1) * w.group ? begin + piece : (g + 1) * w.group;
    if (end > w.inside) end = w.inside;
    float part[R][16], sum[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      sum[r] = 0;
#pragma unroll
      for (int i = 0; i < 16; ++i) part[r][i] = 0;
    }
#pragma unroll 2
    for (int64_t k = begin + lane; k < end; k += 32) {
      uint32_t words[4];
      read16(w.at + (at * w.lines + k) * block, words);
      float value[R];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        value[r] = r < rows ? load(x + r * w.inside + k) : 0;
        sum[r] += value[r];
      }
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const float q = number((words[i / 4] ^ signs) >> i % 4 * 8 & 255, magic + 128);
#pragma unroll
        for (int r = 0; r < R; ++r) part[r][i] = fmaf(q, value[r], part[r][i]);
      }
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int64_t o = at * block + i;
      if (o >= w.out) break;
      const float scale = w.scale.of(g * w.out + o), zero = w.zero ? zero_of<false>(w, g * w.out + o) - (magic + 128) : 0;
#pragma unroll
      for (int r = 0; r < R; ++r) total[r][i] = fmaf(scale, fmaf(-zero, sum[r], part[r][i]), total[r][i]);
    }
  }
}

// The same of 4 bits: four lanes share eight inputs, and each has four outputs.
template <int R, typename T>
WRY_GPU void add_nibbles(const Weight &w, const T *x, int64_t at, int rows, float (&total)[R][4]) {
  const int lane = threadIdx.x & 31, quarter = lane & 3;
  const int64_t first = at * block + 4 * quarter;
#pragma unroll 1
  for (int64_t line = threadIdx.x / 4; line < w.lines; line += block_size / 4) {
    uint32_t words[4];
    read16(w.at + ((at * w.lines + line) * block + 4 * quarter) * 4, words);
    float value[R][eight];
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
      for (int k = 0; k < eight; ++k) value[r][k] = r < rows && line * eight + k < w.inside ? load(x + r * w.inside + line * eight + k) : 0;
    const int64_t of = line * eight / w.group * w.out + first;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (first + i >= w.out) break;
      const float scale = w.scale.of(of + i), zero = zero_of<true>(w, of + i);
      float part[R];
#pragma unroll
      for (int r = 0; r < R; ++r) part[r] = 0;
#pragma unroll
      for (int k = 0; k < eight; ++k) {
        const float q = number(words[i] >> 4 * k & 15, zero);
#pragma unroll
        for (int r = 0; r < R; ++r) part[r] = fmaf(q, value[r][k], part[r]);
      }
#pragma unroll
      for (int r = 0; r < R; ++r) total[r][i] = fmaf(scale, part[r], total[r][i]);
    }
  }
}

// Blocks: (16 outputs, R rows).
template <bool Four, int R, typename T>
__global__ void __launch_bounds__(block_size, 1) multiply_few(Weight w, const T *x, T *out) {
  constexpr int own = Four ? 4 : block, step = Four ? 4 : 1;
  WRY_SHARED(float, parts, warps *R *block);
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  for (int64_t at = blockIdx.x; at < w.blocks; at += gridDim.x)
    for (int64_t row0 = blockIdx.y * int64_t(R); row0 < w.rows; row0 += gridDim.y * int64_t(R)) {
      const int rows = w.rows - row0 < R ? int(w.rows - row0) : R;
      float total[R][own];
#pragma unroll
      for (int r = 0; r < R; ++r)
#pragma unroll
        for (int i = 0; i < own; ++i) total[r][i] = 0;
      if constexpr (Four) add_nibbles<R>(w, x + row0 * w.inside, at, rows, total);
      else add_bytes<R>(w, x + row0 * w.inside, at, rows, total);
      __syncthreads();  // what is there of the rows before may still be read
#pragma unroll
      for (int r = 0; r < R; ++r)
#pragma unroll
        for (int i = 0; i < own; ++i) {
          const float sum = sum_lanes<step>(total[r][i]);
          if (Four ? lane < 4 : lane == i) parts[(warp * R + r) * block + (Four ? 4 * lane : 0) + i] = sum;
        }
      __syncthreads();
      for (int e = threadIdx.x; e < R * block; e += block_size) {
        const int64_t row = row0 + e / block, o = at * block + e % block;
        if (row >= w.rows || o >= w.out) continue;
        float sum = w.bias.at ? w.bias.of(o) : 0;
        for (int i = 0; i < warps; ++i) sum += parts[i * R * block + e];
        out[row * w.out + o] = narrow<T>(sum);
      }
    }
}

// Four inputs of four outputs of 8 bits, or eight inputs of one of 4, as floats of a tile: to shared memory, a line for each output. Zeros
// beyond the weight.
template <bool Four, typename T>
WRY_GPU void copy_weight(T *to, const Weight &w, int64_t column0, int64_t k0) {
  constexpr int chunks = Halves::Depth / 8, outputs = Four ? 1 : 4, inputs = Four ? 8 : 4;
  constexpr int across = Halves::Columns / outputs, items = across * (Halves::Depth / inputs);
#pragma unroll 1
  for (int e = threadIdx.x; e < items; e += Halves::Threads) {
    const int column = e % across * outputs, depth = e / across * inputs;
    const int64_t o = column0 + column, k = k0 + depth, at = o / block;
    uint32_t words[4] = {0, 0, 0, 0};
    if (o < w.out && k < w.inside) {
      const uint32_t *const from = reinterpret_cast<const uint32_t *>(w.at);
      if (Four) {
        words[0] = from[(at * w.lines + k / eight) * block + o % block];
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (k + i < w.inside) words[i] = from[(at * w.lines + k + i) * (block / 4) + o % block / 4] ^ signs;
      }
    }
#pragma unroll
    for (int j = 0; j < outputs; ++j) {
      const int64_t of = k / w.group * w.out + o + j;
      const bool there = o + j < w.out && k < w.inside;
      const float scale = there ? w.scale.of(of) : 0, zero = there ? zero_of<Four>(w, of) : magic;
      uint32_t *const line = reinterpret_cast<uint32_t *>(to + chunk_at<chunks>(column + j, depth / 8) + depth % 8);
#pragma unroll
      for (int i = 0; i < inputs; i += 2) {
        const uint32_t low = Four ? words[0] >> 4 * i & 15 : words[i] >> 8 * j & 255;
        const uint32_t high = Four ? words[0] >> 4 * (i + 1) & 15 : words[i + 1] >> 8 * j & 255;
        line[i / 2] = pack<T>(k + i < w.inside ? number(low, zero) * scale : 0, k + i + 1 < w.inside ? number(high, zero) * scale : 0);
      }
    }
  }
}

// Blocks: (tile of columns, tile of rows). Four to a multiprocessor: with other bounds ptxas spills registers for 10.0.
template <bool Four, typename T>
__global__ void __launch_bounds__(Halves::Threads, 4) multiply_many(Weight w, const T *x, bool aligned, T *out, bool out_aligned) {
  using Z = Halves;
  WRY_SHARED(uint4, memory, Z::Shared / 8);
  T *const shared = reinterpret_cast<T *>(memory);
  const int64_t column0 = blockIdx.x * int64_t(Z::Columns);
  for (int64_t row0 = blockIdx.y * int64_t(Z::Rows); row0 < w.rows; row0 += int64_t(gridDim.y) * Z::Rows) {
    Sums<Z> sums;
    multiply_tile<Z, true, true>(
        sums, shared, (w.inside + Z::Depth - 1) / Z::Depth,
        [&](T *to, int64_t step) {
          const int64_t k = step * Z::Depth;
          copy_lines<Z::Depth / 8>(to, Z::Rows, x + row0 * w.inside + k, w.inside, w.rows - row0, w.inside - k, aligned, Z::Threads);
        },
        [&](T *to, int64_t step) { copy_weight<Four>(to, w, column0, step * Z::Depth); });
    // Through shared memory, so that whole sectors are written.
    each_pair<Z>(sums, [&](int row, int column, float low, float high) {
      const int64_t o = column0 + column;
      if (w.bias.at && o < w.out) low += w.bias.of(o);
      if (w.bias.at && o + 1 < w.out) high += w.bias.of(o + 1);
      *reinterpret_cast<uint32_t *>(shared + row * Z::Pitch + column) = pack<T>(low, high);
    });
    __syncthreads();
    for (int e = threadIdx.x; e < Z::Rows * (Z::Columns / 8); e += Z::Threads) {
      const int row = e / (Z::Columns / 8), column = e % (Z::Columns / 8) * 8;
      if (row0 + row >= w.rows) continue;
      write_chunk(out + (row0 + row) * w.out + column0 + column, shared + row * Z::Pitch + column, valid_of(w.out - column0 - column), out_aligned);
    }
  }
}

template <bool Four, typename T>
int launch(const wry_call *call, const Weight &w) {
  const T *const x = data<T>(input(call, 0));
  T *const out = data<T>(output(call, 0));
  if constexpr (is_half<T>) {
    if (w.rows >= many && has_tensor_cores<T>()) {
      const dim3 grid(unsigned((w.out + Halves::Columns - 1) / Halves::Columns), some_blocks((w.rows + Halves::Rows - 1) / Halves::Rows));
      return check(call, wry_launch(multiply_many<Four, T>, grid, dim3(Halves::Threads), 0, stream(call), w, x, is_aligned(x) && w.inside % 8 == 0, out,
                                    is_aligned(out) && w.out % 8 == 0));
    }
  }
  if (w.rows == 1)
    return check(call, wry_launch(multiply_few<Four, 1, T>, dim3(some_blocks(w.blocks)), dim3(block_size), 0, stream(call), w, x, out));
  constexpr int rows = Four ? 4 : 2;  // as many as leave two blocks of registers to a multiprocessor
  const dim3 grid(some_blocks(w.blocks), some_blocks((w.rows + rows - 1) / rows));
  return check(call, wry_launch(multiply_few<Four, rows, T>, grid, dim3(block_size), 0, stream(call), w, x, out));
}

// x [..., in]; weight int8 [out blocks, in, 16] or uint8 [out blocks, in eights, 16, 4]; scale [groups, out]; zero_point like it or absent; bias
// [out] or absent. All contiguous.
template <typename T>
int weight_only_linear(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *scale = input(call, 2), *zero = input(call, 3), *bias = input(call, 4);
  if (output(call, 0)->size == 0) return WRY_OK;
  Weight w = {};
  w.at = static_cast<const char *>(weight->data);
  if (!is_aligned(w.at)) {  // a view that begins anywhere
    char *const copy = workspace<char>(call, weight->size);
    if (!copy) return fail_memory(call, "weight_only_linear", weight->size);
    WRY_TRY(cudaMemcpyAsync(copy, w.at, size_t(weight->size), cudaMemcpyDeviceToDevice, stream(call)));
    w.at = copy;
  }
  w.zero = zero ? zero->data : nullptr;
  w.scale = {scale->data, scale->dtype}, w.bias = {bias ? bias->data : nullptr, bias ? bias->dtype : int32_t(WRY_FLOAT32)};
  w.inside = x->shape[x->rank - 1], w.out = scale->shape[1], w.rows = output(call, 0)->size / w.out;
  w.blocks = weight->shape[0], w.lines = weight->shape[1], w.groups = scale->shape[0];
  w.group = attr_int(call, 0) ? attr_int(call, 0) : std::max<int64_t>(1, w.inside);
  return weight->dtype == WRY_UINT8 ? launch<true, T>(call, w) : launch<false, T>(call, w);
}

const wry_kernel_entry table[] = {
    WRY_ROW("weight_only_linear", float, WRY_WANTS_CONTIGUOUS, weight_only_linear),
    WRY_ROW("weight_only_linear", half, WRY_WANTS_CONTIGUOUS, weight_only_linear),
#ifndef WRY_FEW_DTYPES
    WRY_ROW("weight_only_linear", bfloat16, WRY_WANTS_CONTIGUOUS, weight_only_linear),
#endif
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(weight_only, wherry::cuda::table)
