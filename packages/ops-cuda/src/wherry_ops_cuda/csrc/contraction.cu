// Matrix products of tensors: batches, broadcasting, rank 1, transposed and strided operands.
//
// Floats of 16 bits go to tensor cores, which add up in float32: tiles of 128 x 128, or of 64 x 64 where those would leave multiprocessors
// without work. For that rows or columns of an operand have to lie without gaps; neither sizes nor addresses need to be even.
//
// For all else a block computes a 64 x 64 tile of the result, each of its 256 threads 4 x 4 elements of that, from strips of 16 that lie
// in shared memory. The sum over k runs in one order, so that each call gives the same bits; its totals are those of the arithmetic
// type, as on the cpu. cuBLASLt is asked first, where it is found.
#include "contraction.h"

#include "libraries.h"
#include "operands.h"
#include "tensor_cores.h"

namespace wherry {
namespace cuda {
namespace {

constexpr int side = 64, strip = 16, own = 4, across = side / own;

// acc += a * b; integers wrap around
template <typename A>
WRY_GPU A multiply_add(A a, A b, A acc) {
  if constexpr (is_complex<A>::value) return acc + a * b;
  else if constexpr (is_integer<A>) return A(uint64_t(acc) + uint64_t(a) * uint64_t(b));
  else return fma(a, b, acc);
}

template <typename T>
__global__ void __launch_bounds__(across *across, 1) multiply(Product p, const T *x, const T *y, const T *bias, int64_t bias_step, T *out) {
  using A = arithmetic_t<T>;
  WRY_SHARED(A, left, strip * (side + 1));   // [k][row], padded: its columns are written
  WRY_SHARED(A, right, strip * (side + 1));  // [k][column]
  const int thread = threadIdx.x, tx = thread % across, ty = thread / across;
  const int64_t column0 = blockIdx.x * int64_t(side);
  const bool x_along_k = p.x.column == 1, y_along_k = p.y.row == 1 && p.y.column != 1;
  for (int64_t batch = blockIdx.z; batch < p.count; batch += gridDim.z) {
    int64_t at_x, at_y;
    find_matrices(p, batch, at_x, at_y);
    for (int64_t row0 = blockIdx.y * int64_t(side); row0 < p.m; row0 += int64_t(gridDim.y) * side) {
      A total[own][own];
#pragma unroll
      for (int i = 0; i < own; ++i)
#pragma unroll
        for (int j = 0; j < own; ++j) total[i][j] = A(0);
      for (int64_t k0 = 0; k0 < p.k; k0 += strip) {
        __syncthreads();  // the strip before may still be read
        // Neighbouring threads take neighbours along the axis that lies evenly in memory.
        for (int e = thread; e < side * strip; e += across * across) {
          const int r = x_along_k ? e / strip : e % side, k = x_along_k ? e % strip : e / side;
          const bool inside = row0 + r < p.m && k0 + k < p.k;
          left[k * (side + 1) + r] = inside ? load(x + at_x + (row0 + r) * p.x.row + (k0 + k) * p.x.column) : A(0);
        }
        for (int e = thread; e < side * strip; e += across * across) {
          const int c = y_along_k ? e / strip : e % side, k = y_along_k ? e % strip : e / side;
          const bool inside = column0 + c < p.n && k0 + k < p.k;
          right[k * (side + 1) + c] = inside ? load(y + at_y + (k0 + k) * p.y.row + (column0 + c) * p.y.column) : A(0);
        }
        __syncthreads();
        const int last = p.k - k0 < strip ? int(p.k - k0) : strip;  // zeros beyond would make NaN of infinities
        for (int k = 0; k < last; ++k) {
          A a[own], b[own];
#pragma unroll
          for (int i = 0; i < own; ++i) a[i] = left[k * (side + 1) + ty + i * across];
#pragma unroll
          for (int j = 0; j < own; ++j) b[j] = right[k * (side + 1) + tx + j * across];
#pragma unroll
          for (int i = 0; i < own; ++i)
#pragma unroll
            for (int j = 0; j < own; ++j) total[i][j] = multiply_add(a[i], b[j], total[i][j]);
        }
      }
#pragma unroll
      for (int i = 0; i < own; ++i)
#pragma unroll
        for (int j = 0; j < own; ++j) {
          const int64_t r = row0 + ty + i * across, c = column0 + tx + j * across;
          if (r >= p.m || c >= p.n) continue;
          A value = total[i][j];
          if (bias) value = multiply_add(A(1), load(bias + c * bias_step), value);
          out[(batch * p.m + r) * p.n + c] = narrow<T>(value);
        }
    }
  }
}

// ---- tensor cores ---------------------------------------------------------------------------------

// An operand whose lines run along k or across it; `aligned` if all of its chunks are.
struct Lines {
  int64_t step;
  bool aligned;
};

// Blocks: (tile, 1, batch). Tiles go down 8 rows of tiles before they go right, so that blocks that run at once share what they read.
template <typename Z, typename T, bool XAlongK, bool YAlongK>
__global__ void __launch_bounds__(Z::Threads) multiply_lines(Product p, const T *x, Lines of_x, const T *y, Lines of_y, const T *bias, int64_t bias_step,
                                                             T *out, bool out_aligned) {
  WRY_SHARED(uint4, memory, Z::Shared / 8);
  T *const shared = reinterpret_cast<T *>(memory);
  const int64_t down = (p.m + Z::Rows - 1) / Z::Rows, across = (p.n + Z::Columns - 1) / Z::Columns;
  const int64_t band = blockIdx.x / (8 * across) * 8, within = blockIdx.x % (8 * across), height = down - band < 8 ? down - band : 8;
  const int64_t row0 = (band + within % height) * Z::Rows, column0 = within / height * Z::Columns;
  for (int64_t batch = blockIdx.z; batch < p.count; batch += gridDim.z) {
    int64_t at_x, at_y;
    find_matrices(p, batch, at_x, at_y);
    const T *const x0 = x + at_x + (XAlongK ? row0 * of_x.step : row0), *const y0 = y + at_y + (YAlongK ? column0 * of_y.step : column0);
    Sums<Z> sums;
    multiply_tile<Z, XAlongK, YAlongK>(
        sums, shared, (p.k + Z::Depth - 1) / Z::Depth,
        [&](T *to, int64_t step) {
          const int64_t k = step * Z::Depth;
          if constexpr (XAlongK) copy_lines<Z::Depth / 8>(to, Z::Rows, x0 + k, of_x.step, p.m - row0, p.k - k, of_x.aligned, Z::Threads);
          else copy_lines<Z::Rows / 8>(to, Z::Depth, x0 + k * of_x.step, of_x.step, p.k - k, p.m - row0, of_x.aligned, Z::Threads);
        },
        [&](T *to, int64_t step) {
          const int64_t k = step * Z::Depth;
          if constexpr (YAlongK) copy_lines<Z::Depth / 8>(to, Z::Columns, y0 + k, of_y.step, p.n - column0, p.k - k, of_y.aligned, Z::Threads);
          else copy_lines<Z::Columns / 8>(to, Z::Depth, y0 + k * of_y.step, of_y.step, p.k - k, p.n - column0, of_y.aligned, Z::Threads);
        });
    // Through shared memory, so that whole sectors are written.
    each_pair<Z>(sums, [&](int row, int column, float low, float high) {
      const int64_t c = column0 + column;
      if (bias && c < p.n) low += load(bias + c * bias_step);
      if (bias && c + 1 < p.n) high += load(bias + (c + 1) * bias_step);
      *reinterpret_cast<uint32_t *>(shared + row * Z::Pitch + column) = pack<T>(low, high);
    });
    __syncthreads();
    for (int e = threadIdx.x; e < Z::Rows * (Z::Columns / 8); e += Z::Threads) {
      const int row = e / (Z::Columns / 8), column = e % (Z::Columns / 8) * 8;
      if (row0 + row >= p.m) continue;
      write_chunk(out + (batch * p.m + row0 + row) * p.n + column0 + column, shared + row * Z::Pitch + column, valid_of(p.n - column0 - column), out_aligned);
    }
  }
}

Lines lines_of(const void *data, const Batch &b, int64_t step, int64_t lines, int rank) {
  bool aligned = is_aligned(data) && (lines == 1 || step % 8 == 0);
  for (int axis = 0; axis < rank; ++axis) aligned = aligned && b.strides[axis] % 8 == 0;
  return {lines == 1 ? 0 : step, aligned};
}

// not_taken when the operands do not lie in lines.
template <typename T>
int launch_lines(const wry_call *call, const Product &p, const T *x, const T *y, const wry_tensor *bias, T *out) {
  const bool x_along = p.x.column == 1 || (p.x.row != 1 && p.m > 1 && p.k == 1), x_across = !x_along && (p.x.row == 1 || p.m == 1);
  const bool y_across = (p.y.column == 1 && p.n > 1) || (p.y.row != 1 && (p.y.column == 1 || p.n == 1)), y_along = !y_across && (p.y.row == 1 || p.k == 1);
  if (!(x_along || x_across) || !(y_along || y_across)) return not_taken;
  const Lines of_x = x_along ? lines_of(x, p.x, p.x.row, p.m, p.rank) : lines_of(x, p.x, p.x.column, p.k, p.rank);
  const Lines of_y = y_along ? lines_of(y, p.y, p.y.column, p.n, p.rank) : lines_of(y, p.y, p.y.row, p.k, p.rank);
  const auto run = [&](auto shape, auto along_x, auto along_y) {
    using Z = decltype(shape);
    const int64_t tiles = ((p.m + Z::Rows - 1) / Z::Rows) * ((p.n + Z::Columns - 1) / Z::Columns);
    return check(call, wry_launch(multiply_lines<Z, T, decltype(along_x)::value, decltype(along_y)::value>,
                                  dim3(unsigned(tiles), 1, some_blocks(p.count)), dim3(Z::Threads), 0, stream(call), p, x, of_x, y, of_y,
                                  bias ? data<T>(bias) : nullptr, bias ? bias->strides[0] : 0, out, is_aligned(out) && p.n % 8 == 0));
  };
  const auto shaped = [&](auto along_x, auto along_y) {
    const bool large = p.m > 64 && p.n > 64 && ((p.m + 127) / 128) * ((p.n + 127) / 128) * p.count >= multiprocessors();
    return large ? run(Tile<128, 128, 2, 4>(), along_x, along_y) : run(Tile<64, 64, 2, 2>(), along_x, along_y);
  };
  using yes = std::true_type;
  using no = std::false_type;
  return x_along ? (y_along ? shaped(yes(), yes()) : shaped(yes(), no())) : (y_along ? shaped(no(), yes()) : shaped(no(), no()));
}

template <typename T>
int launch_product(const wry_call *call, const Product &p, const T *x, const T *y, const wry_tensor *bias, T *out) {
  int status = library_product(call, {code_of<T>::value, x, y, bias ? bias->data : nullptr, out, p.m, p.n, p.k, p.x.row, p.x.column,
                                      p.y.row, p.y.column, bias ? bias->strides[0] : 0, p.rank, p.shape, p.x.strides, p.y.strides});
  if constexpr (is_half<T>)
    if (status == not_taken && has_tensor_cores<T>()) status = launch_lines(call, p, x, y, bias, out);
  if (status != not_taken) return status;
  const int64_t rows = (p.m + side - 1) / side;
  const dim3 grid(unsigned((p.n + side - 1) / side), some_blocks(rows), some_blocks(p.count));
  return check(call, wry_launch(multiply<T>, grid, dim3(across * across), 0, stream(call), p, x, y,
                                bias ? data<T>(bias) : nullptr, bias ? bias->strides[0] : 0, out));
}

// x [..., m, k], y [..., k, n], either of rank 1 too; out is contiguous and overlaps neither.
template <typename T>
int matmul(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1);
  if (output(call, 0)->size == 0) return WRY_OK;
  return launch_product(call, product_of(x, y, attr_bool(call, 0), attr_bool(call, 1)), data<T>(x), data<T>(y), nullptr, data<T>(output(call, 0)));
}

// x [..., k], weight [k, n], bias [n] or absent. x of rank 1 gives a row.
template <typename T>
int linear(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *bias = input(call, 2);
  if (output(call, 0)->size == 0) return WRY_OK;
  return launch_product(call, product_of(x, weight, false, false), data<T>(x), data<T>(weight), bias, data<T>(output(call, 0)));
}

// x [..., m], y [..., n], both contiguous, of equal leading axes: one product of x turned and y.
template <typename T>
int outer_sum(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  Product p = {};
  p.m = out->shape[0], p.n = out->shape[1], p.k = x->size / p.m, p.count = 1;
  p.x.row = 1, p.x.column = p.m, p.y.row = p.n, p.y.column = 1;
  return launch_product(call, p, data<T>(x), data<T>(y), nullptr, data<T>(out));
}

#include <wherry/kernels/rows/contraction.h>

template <typename T>
int product_of_rows(const wry_call *call, int64_t m, int64_t n, int64_t k, const T *x, const T *weight, T *out) {
  if (m * n == 0) return WRY_OK;
  Product p = {};
  p.m = m, p.n = n, p.k = k, p.count = 1;
  p.x.row = k, p.x.column = 1, p.y.row = 1, p.y.column = k;
  return launch_product(call, p, x, weight, nullptr, out);
}

}  // namespace

int multiply_rows(const wry_call *call, int64_t m, int64_t n, int64_t k, const float *x, const float *weight, float *out) {
  return product_of_rows(call, m, n, k, x, weight, out);
}
int multiply_rows(const wry_call *call, int64_t m, int64_t n, int64_t k, const double *x, const double *weight, double *out) {
  return product_of_rows(call, m, n, k, x, weight, out);
}

}  // namespace cuda
}  // namespace wherry

WRY_TABLE(contraction, wherry::cuda::table)
