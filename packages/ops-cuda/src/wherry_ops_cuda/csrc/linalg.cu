// Factorizations of dense matrices and what they solve: Cholesky, LU with row exchanges, systems, inverses.
//
// One block for each matrix (of triangular systems: for 32 columns of one), which eliminates column after column; contiguous and
// row-major, in the memory of the result. That keeps many small matrices, and large ones now and then, on the GPU; a large matrix uses
// one multiprocessor. A matrix that cannot be factored is reported by the next call that waits: the first of the batch.
#include "matrices.h"

namespace wherry {
namespace cuda {
namespace {

int threads_of(int64_t n) { return threads_for(n * n / 4 + 1); }

// What each matrix could not do, 0 where it could; the first is reported.
__global__ void __launch_bounds__(block_size) report_first(int64_t count, const int64_t *wrong, Fault fault, Report *report, int32_t op) {
  WRY_SHARED(unsigned long long, first, 1);
  if (threadIdx.x == 0) first[0] = (unsigned long long)count;
  __syncthreads();
  for (int64_t at = threadIdx.x; at < count; at += blockDim.x)
    if (wrong[at]) atomicMin(first, (unsigned long long)at);
  __syncthreads();
  if (threadIdx.x == 0 && int64_t(first[0]) < count) raise(report, fault, op, wrong[first[0]], 0, int64_t(first[0]));
}
int report_of(const wry_call *call, const char *op, int64_t count, const int64_t *wrong, Fault fault) {
  int32_t number;
  Report *report = arm(call, op, &number);
  return check(call, wry_launch(report_first, dim3(1), dim3(threads_for(count)), 0, stream(call), count, wrong, fault, report, number));
}

// ---- Cholesky -------------------------------------------------------------------------------------

// L[i, j] for i >= j lies at (i, j), or conjugated at (j, i) of the upper triangle.
template <typename T>
__global__ void __launch_bounds__(block_size) factor_cholesky(int64_t count, int64_t n, bool upper, const T *x, T *out, int64_t *minors) {
  using R = real_of<T>;
  for (int64_t at = blockIdx.x; at < count; at += gridDim.x) {
    const T *from = x + at * n * n;
    T *to = out + at * n * n;
    for (int64_t e = threadIdx.x; e < n * n; e += blockDim.x) {
      const int64_t i = e / n, j = e % n;
      to[e] = (upper ? i <= j : i >= j) ? from[e] : T(0);
    }
    const auto place = [&](int64_t i, int64_t j) { return upper ? j * n + i : i * n + j; };
    int64_t minor = 0;
    for (int64_t k = 0; k < n && !minor; ++k) {
      __syncthreads();
      const R square = real_part(to[k * n + k]);
      __syncthreads();
      if (!(square > 0) || square - square != 0) {  // infinity and NaN too
        minor = k + 1;
        continue;
      }
      const R root = sqrt(square);
      const T factor = T(R(1) / root);
      if (threadIdx.x == 0) to[k * n + k] = T(root);
      for (int64_t i = k + 1 + threadIdx.x; i < n; i += blockDim.x) to[place(i, k)] = to[place(i, k)] * factor;
      __syncthreads();
      const int64_t left = n - k - 1;
      for (int64_t e = threadIdx.x; e < left * left; e += blockDim.x) {
        const int64_t i = k + 1 + e / left, j = k + 1 + e % left;
        if (upper ? i > j : i < j) continue;
        // Row i of the lower triangle, or of the upper one.
        const T a = to[upper ? k * n + i : i * n + k], b = to[upper ? k * n + j : j * n + k];
        to[i * n + j] = to[i * n + j] - (upper ? conjugate(a) * b : a * conjugate(b));
      }
    }
    if (threadIdx.x == 0) minors[at] = minor;
    __syncthreads();
  }
}
template <typename T>
int cholesky(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t n = columns_of(x), count = x->size / (n * n);
  int64_t *minors = workspace<int64_t>(call, count);
  if (!minors) return fail_memory(call, "cholesky", count * 8);
  WRY_TRY(wry_launch(factor_cholesky<T>, blocks_of(count), dim3(threads_of(n)), 0, stream(call), count, n, attr_bool(call, 0), data<T>(x), data<T>(out), minors));
  return report_of(call, "cholesky", count, minors, NOT_POSITIVE_DEFINITE);
}

// ---- LU -------------------------------------------------------------------------------------------

// The row from `first` on with the largest |a[row, column]|, in every thread; of equals the first.
template <typename T>
WRY_GPU int64_t pivot_of(const T *a, int64_t m, int64_t n, int64_t first, real_of<T> *most) {
  using R = real_of<T>;
  WRY_SHARED(R, values, block_size);
  WRY_SHARED(int64_t, rows, block_size);
  const int thread = threadIdx.x;
  R best = -1;
  int64_t row = first;
  for (int64_t r = first + thread; r < m; r += blockDim.x) {
    const R here = magnitude(a[r * n + first]);
    if (here > best) best = here, row = r;
  }
  __syncthreads();
  values[thread] = best, rows[thread] = row;
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    __syncthreads();
    if (thread < step && (values[thread + step] > values[thread] || (values[thread + step] == values[thread] && rows[thread + step] < rows[thread])))
      values[thread] = values[thread + step], rows[thread] = rows[thread + step];
  }
  __syncthreads();
  *most = values[0];
  return values[0] < 0 ? first : rows[0];  // nothing but NaN: it goes through
}
// Overwrites a [m, n] with both factors; pivots[i], from 1 on, is the row that was exchanged with row i. The first pivot that is 0, from 1, or 0.
template <typename T>
WRY_GPU int64_t factor_lu(int64_t m, int64_t n, T *a, int32_t *pivots) {
  int64_t singular = 0;
  for (int64_t i = 0; i < m && i < n; ++i) {
    real_of<T> most;
    __syncthreads();
    const int64_t best = pivot_of(a, m, n, i, &most);
    if (threadIdx.x == 0) pivots[i] = int32_t(best + 1);
    if (best != i)
      for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
        const T kept = a[i * n + j];
        a[i * n + j] = a[best * n + j], a[best * n + j] = kept;
      }
    if (most == 0) {
      if (!singular) singular = i + 1;
      continue;
    }
    __syncthreads();
    const T factor = inverse_of(a[i * n + i]);
    for (int64_t r = i + 1 + threadIdx.x; r < m; r += blockDim.x) a[r * n + i] = a[r * n + i] * factor;
    __syncthreads();
    const int64_t columns = n - i - 1;
    for (int64_t e = threadIdx.x; e < (m - i - 1) * columns; e += blockDim.x) {
      const int64_t r = i + 1 + e / columns, j = i + 1 + e % columns;
      a[r * n + j] = a[r * n + j] - a[r * n + i] * a[i * n + j];
    }
  }
  __syncthreads();
  return singular;
}
template <typename T, typename I>
__global__ void __launch_bounds__(block_size) lu_kernel(int64_t count, int64_t m, int64_t n, T *out, int32_t *pivots, I *info) {
  const int64_t steps = m < n ? m : n;
  for (int64_t at = blockIdx.x; at < count; at += gridDim.x) {
    const int64_t singular = factor_lu(m, n, out + at * m * n, pivots + at * steps);
    if (threadIdx.x == 0) info[at] = I(singular);
  }
}
template <typename T>
int lu(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0), *info = output(call, 2);
  const int64_t m = rows_of(x), n = columns_of(x);
  if (out->size == 0) return info->size ? check(call, cudaMemsetAsync(info->data, 0, size_t(info->size) * 4, stream(call))) : int(WRY_OK);
  const int64_t count = x->size / (m * n);
  WRY_TRY(cudaMemcpyAsync(out->data, x->data, size_t(x->size) * sizeof(T), cudaMemcpyDeviceToDevice, stream(call)));
  return check(call, wry_launch(lu_kernel<T, int32_t>, blocks_of(count), dim3(threads_of(m < n ? m : n)), 0, stream(call), count, m, n, data<T>(out),
                                data<int32_t>(output(call, 1)), data<int32_t>(info)));
}

// One thread for each permutation.
__global__ void __launch_bounds__(block_size) permute(int64_t count, int64_t rows, int64_t steps, const int32_t *pivots, int32_t *out, Report *report,
                                                      int32_t op) {
  for WRY_EACH (at, count) {
    int32_t *to = out + at * rows;
    for (int64_t i = 0; i < rows; ++i) to[i] = int32_t(i);
    for (int64_t i = 0; i < steps; ++i) {
      const int32_t other = pivots[at * steps + i] - 1;
      if (other < 0 || other >= rows || i >= rows) {
        raise(report, PIVOT_IS_NO_ROW, op, other + 1, rows, i, steps);
        break;
      }
      const int32_t kept = to[i];
      to[i] = to[other], to[other] = kept;
    }
  }
}
int permutation(const wry_call *call) {
  const wry_tensor *pivots = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t rows = columns_of(out), count = out->size / rows;
  int32_t op;
  Report *report = arm(call, "pivots_to_permutation", &op);
  const int threads = threads_for(count);
  return check(call, wry_launch(permute, blocks_for(count, threads), dim3(threads), 0, stream(call), count, rows, columns_of(pivots), data<int32_t>(pivots),
                                data<int32_t>(out), report, op));
}

// ---- systems --------------------------------------------------------------------------------------

// Rows of a triangle, or columns of one that is read turned.
template <typename T>
struct Triangle {
  const T *data;
  int64_t row, column;
  bool lower, unit;
};
// b = A^-1 b for columns [first, last) of b [n, k]; the other half of A is not read.
template <typename T>
WRY_GPU void solve_triangle(const Triangle<T> &a, int64_t n, int64_t k, int64_t first, int64_t last, T *b) {
  const int64_t width = last - first;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = a.lower ? step : n - 1 - step;
    __syncthreads();
    if (!a.unit) {
      const T factor = inverse_of(a.data[i * a.row + i * a.column]);
      for (int64_t c = first + threadIdx.x; c < last; c += blockDim.x) b[i * k + c] = b[i * k + c] * factor;
      __syncthreads();
    }
    const int64_t begin = a.lower ? i + 1 : 0, count = a.lower ? n - i - 1 : i;
    for (int64_t e = threadIdx.x; e < count * width; e += blockDim.x) {
      const int64_t r = begin + e / width, c = first + e % width;
      b[r * k + c] = b[r * k + c] - a.data[r * a.row + i * a.column] * b[i * k + c];
    }
  }
  __syncthreads();
}

constexpr int64_t strip = 32;  // columns of a block
template <typename T>
__global__ void __launch_bounds__(block_size) solve_triangles(int64_t count, int64_t n, int64_t k, bool lower, bool turned, bool unit, const T *x, T *out) {
  const int64_t first = blockIdx.y * strip, last = first + strip < k ? first + strip : k;
  for (int64_t at = blockIdx.x; at < count; at += gridDim.x)
    solve_triangle(Triangle<T>{x + at * n * n, turned ? 1 : n, turned ? n : 1, lower, unit}, n, k, first, last, out + at * n * k);
}
template <typename T>
int solve_triangles_of(const wry_call *call, int64_t count, int64_t n, int64_t k, bool lower, bool turned, bool unit, const T *x, T *out) {
  const dim3 grid{some_blocks(count), unsigned((k + strip - 1) / strip)};
  return check(call, wry_launch(solve_triangles<T>, grid, dim3(threads_for(n * (k < strip ? k : strip))), 0, stream(call), count, n, k, lower, turned, unit, x,
                                out));
}
template <typename T>
int triangular_solve(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t n = columns_of(x), k = columns_of(y), count = out->size / (n * k);
  const bool upper = attr_bool(call, 0), transpose = attr_bool(call, 1), unit = attr_bool(call, 2);
  WRY_TRY(cudaMemcpyAsync(out->data, y->data, size_t(y->size) * sizeof(T), cudaMemcpyDeviceToDevice, stream(call)));
  return solve_triangles_of<T>(call, count, n, k, upper == transpose, transpose, unit, data<T>(x), data<T>(out));
}

// One thread for each column of the right sides, which are the identity where an inverse is wanted.
template <typename T>
__global__ void __launch_bounds__(block_size) exchange_rows(int64_t count, int64_t n, int64_t k, bool inverts, const int32_t *pivots, T *out) {
  for WRY_EACH (e, count * k) {
    const int64_t at = e / k, c = e % k;
    T *to = out + at * n * k + c;
    if (inverts)
      for (int64_t i = 0; i < n; ++i) to[i * k] = T(i == c ? 1 : 0);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t other = pivots[at * n + i] - 1;
      const T kept = to[i * k];
      to[i * k] = to[other * k], to[other * k] = kept;
    }
  }
}
// out = x^-1 y, or x^-1 where there is no y.
template <typename T>
int solve_all(const wry_call *call, const char *op, const wry_tensor *x, const wry_tensor *y, const wry_tensor *out) {
  if (out->size == 0) return WRY_OK;
  const int64_t n = columns_of(x), k = columns_of(out), count = out->size / (n * k);
  T *a = workspace<T>(call, x->size);
  int32_t *pivots = workspace<int32_t>(call, count * n);
  int64_t *singular = workspace<int64_t>(call, count);
  if (!a || !pivots || !singular) return fail_memory(call, op, x->size * int64_t(sizeof(T)));
  WRY_TRY(cudaMemcpyAsync(a, x->data, size_t(x->size) * sizeof(T), cudaMemcpyDeviceToDevice, stream(call)));
  if (y) WRY_TRY(cudaMemcpyAsync(out->data, y->data, size_t(y->size) * sizeof(T), cudaMemcpyDeviceToDevice, stream(call)));
  WRY_TRY(wry_launch(lu_kernel<T, int64_t>, blocks_of(count), dim3(threads_of(n)), 0, stream(call), count, n, n, a, pivots, singular));
  const int threads = threads_for(count * k);
  WRY_TRY(wry_launch(exchange_rows<T>, blocks_for(count * k, threads), dim3(threads), 0, stream(call), count, n, k, y == nullptr, pivots, data<T>(out)));
  if (const int status = solve_triangles_of<T>(call, count, n, k, true, false, true, a, data<T>(out))) return status;
  if (const int status = solve_triangles_of<T>(call, count, n, k, false, false, false, a, data<T>(out))) return status;
  return report_of(call, op, count, singular, MATRIX_IS_SINGULAR);
}
template <typename T>
int solve(const wry_call *call) { return solve_all<T>(call, "solve", input(call, 0), input(call, 1), output(call, 0)); }
template <typename T>
int inverse(const wry_call *call) { return solve_all<T>(call, "inverse", input(call, 0), nullptr, output(call, 0)); }

#define WRY_MATRIX_ROWS(op, kernel)                                                                    \
  WRY_ROW(op, float, WRY_WANTS_CONTIGUOUS, kernel), WRY_ROW(op, double, WRY_WANTS_CONTIGUOUS, kernel), \
      WRY_COMPLEX_ROWS(op, WRY_WANTS_CONTIGUOUS, kernel)

const wry_kernel_entry table[] = {
    WRY_MATRIX_ROWS("cholesky", cholesky),
    WRY_MATRIX_ROWS("lu", lu),
    WRY_MATRIX_ROWS("solve", solve),
    WRY_MATRIX_ROWS("inverse", inverse),
    WRY_MATRIX_ROWS("triangular_solve", triangular_solve),
    {"pivots_to_permutation", WRY_INT32, WRY_WANTS_CONTIGUOUS, permutation, nullptr},
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(linalg, wherry::cuda::table)
