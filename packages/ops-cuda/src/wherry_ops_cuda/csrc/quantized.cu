// Products of bytes, summed in int32: exact, and so the same as everywhere.
//
// They go to tensor cores as 16-bit floats, which hold every difference of a byte and its zero point (at most 255 either way). Sums in
// float32 are exact below 2^24, which 256 products of such cannot pass: after each 256 the sums are added to integers. Tensor cores have
// products of bytes as well, twice as fast; those know no zero points, and the emulator has no such instruction.
#include "operands.h"
#include "tensor_cores.h"

namespace wherry {
namespace cuda {
namespace {

constexpr int exact = 256;  // products whose sum float32 holds
using Bytes = Tile<64, 64, 2, 2>;

// What belongs to lines of an operand: one number for all (step 0), one for each, or none.
template <typename T>
struct Zeros {
  const T *at;
  int64_t step, lines;

  WRY_GPU int of(int64_t line) const { return at ? int(at[line % lines * step]) : 0; }
};
template <typename T>
Zeros<T> zeros_of(const wry_tensor *t, int64_t lines) {
  return {t ? data<T>(t) : nullptr, t && t->size > 1 ? t->strides[0] : 0, lines};
}

// `count` lines of 32 values along k, less their zero points, to shared memory; zeros beyond the matrix. `apart` is the step between lines.
template <typename T>
WRY_GPU void copy_bytes(half *to, int count, const T *from, int64_t apart, int64_t along, int64_t line0, int64_t lines, int64_t k0, int64_t length,
                        const Zeros<T> &zeros) {
  constexpr int pairs = Bytes::Depth / 2;
#pragma unroll 1
  for (int e = threadIdx.x; e < count * pairs; e += Bytes::Threads) {
    // Neighbouring threads take neighbours in memory.
    const int line = along == 1 ? e / pairs : e % count, k = 2 * (along == 1 ? e % pairs : e / count);
    float low = 0, high = 0;
    if (line0 + line < lines) {
      const T *const at = from + (line0 + line) * apart;
      const int zero = zeros.of(line0 + line);
      if (k0 + k < length) low = float(int(at[(k0 + k) * along]) - zero);
      if (k0 + k + 1 < length) high = float(int(at[(k0 + k + 1) * along]) - zero);
    }
    *reinterpret_cast<uint32_t *>(to + chunk_at<Bytes::Depth / 8>(line, k / 8) + k % 8) = pack<half>(low, high);
  }
}

// Blocks: (tile of columns, tile of rows, batch).
template <typename X, typename Y>
__global__ void __launch_bounds__(Bytes::Threads) multiply_bytes(Product p, const X *x, Zeros<X> zeros_x, const Y *y, Zeros<Y> zeros_y, int32_t *out) {
  using Z = Bytes;
  WRY_SHARED(uint4, memory, Z::Shared / 8);
  half *const shared = reinterpret_cast<half *>(memory);
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  const int row = warp / Z::Across * Z::WarpRows + (lane >> 2), column = warp % Z::Across * Z::WarpColumns + 2 * (lane & 3);
  const int64_t column0 = blockIdx.x * int64_t(Z::Columns);
  for (int64_t batch = blockIdx.z; batch < p.count; batch += gridDim.z) {
    int64_t at_x, at_y;
    find_matrices(p, batch, at_x, at_y);
    for (int64_t row0 = blockIdx.y * int64_t(Z::Rows); row0 < p.m; row0 += int64_t(gridDim.y) * Z::Rows) {
      uint32_t total[Z::RowParts][Z::ColumnParts][4];  // sums past 31 bits wrap
#pragma unroll
      for (int i = 0; i < Z::RowParts; ++i)
#pragma unroll
        for (int j = 0; j < Z::ColumnParts; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) total[i][j][e] = 0;
#pragma unroll 1
      for (int64_t k0 = 0; k0 < p.k; k0 += exact) {
        const int64_t left = p.k - k0 < exact ? p.k - k0 : exact;
        Sums<Z> sums;
        multiply_tile<Z, true, true>(
            sums, shared, (left + Z::Depth - 1) / Z::Depth,
            [&](half *to, int64_t step) { copy_bytes(to, Z::Rows, x + at_x, p.x.row, p.x.column, row0, p.m, k0 + step * Z::Depth, p.k, zeros_x); },
            [&](half *to, int64_t step) {
              copy_bytes(to, Z::Columns, y + at_y, p.y.column, p.y.row, column0, p.n, k0 + step * Z::Depth, p.k, zeros_y);
            });
#pragma unroll
        for (int i = 0; i < Z::RowParts; ++i)
#pragma unroll
          for (int j = 0; j < Z::ColumnParts; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) total[i][j][e] += uint32_t(int32_t(sums[i][j][e]));
      }
#pragma unroll
      for (int i = 0; i < Z::RowParts; ++i)
#pragma unroll
        for (int j = 0; j < Z::ColumnParts; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int64_t r = row0 + row + 16 * i + 8 * (e >> 1), c = column0 + column + 8 * j + (e & 1);
            if (r < p.m && c < p.n) out[(batch * p.m + r) * p.n + c] = int32_t(total[i][j][e]);
          }
    }
  }
}

template <typename X, typename Y>
int launch_bytes(const wry_call *call, const Product &p, int64_t rows) {
  const dim3 grid(unsigned((p.n + Bytes::Columns - 1) / Bytes::Columns), some_blocks((p.m + Bytes::Rows - 1) / Bytes::Rows), some_blocks(p.count));
  return check(call, wry_launch(multiply_bytes<X, Y>, grid, dim3(Bytes::Threads), 0, stream(call), p, data<X>(input(call, 0)),
                                zeros_of<X>(input(call, 2), rows), data<Y>(input(call, 1)), zeros_of<Y>(input(call, 3), p.n),
                                data<int32_t>(output(call, 0))));
}

// x [..., m, k], y [..., k, n] of bytes, each with one zero point or one for each row of x and column of y; out is contiguous.
template <typename X>
int matmul_int8(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1);
  if (output(call, 0)->size == 0) return WRY_OK;
  const bool transpose_x = attr_bool(call, 0);
  const Product p = product_of(x, y, transpose_x, attr_bool(call, 1));
  const int64_t rows = x->shape[x->rank - (transpose_x ? 1 : 2)];  // of one matrix: those of a batch may have become one
  return y->dtype == WRY_UINT8 ? launch_bytes<X, uint8_t>(call, p, rows) : launch_bytes<X, int8_t>(call, p, rows);
}

const wry_kernel_entry table[] = {
    {"matmul_int8", WRY_UINT8, 0, matmul_int8<uint8_t>, nullptr},
    {"matmul_int8", WRY_INT8, 0, matmul_int8<int8_t>, nullptr},
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(quantized, wherry::cuda::table)
