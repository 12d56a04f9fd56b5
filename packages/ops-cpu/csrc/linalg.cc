// Factorizations of dense matrices and what they solve: Cholesky, LU with row exchanges, triangular systems, QR.
//
// Tensors are row-major, so every inner loop runs along a row. LU and triangular systems halve themselves until few
// columns are left (Toledo, "Locality of Reference in LU Decomposition with Partial Pivoting", 1997), which turns
// nearly all arithmetic into the products of gemm.h; QR gathers reflections into blocks (Schreiber & Van Loan, "A
// storage-efficient WY representation", 1989). Many small matrices go to the threads one by one; of a large one the
// products run on all threads. There is no scaling of rows and no refinement of solutions.
//
// Complex matrices take the same way with plain loops for products.
#include "linalg.h"

namespace WRY_NAMESPACE {
namespace {

inline constexpr int64_t few = 16;  // columns that are eliminated one by one

WRY_INLINE int64_t half_of(int64_t n) { return n / 2 >= 8 ? n / 2 / 8 * 8 : n / 2; }

// ---- triangular systems -------------------------------------------------------------------------

// b = A^-1 b for a triangle A [n, n] and b [n, k] with rows ldb apart. The other half of A is not read.
template <typename T>
void solve_triangle(Work<T> &w, bool lower, bool unit, bool conjugated, int64_t n, int64_t k, Matrix<T> a, T *b, int64_t ldb) {
  if (n <= few) {
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = lower ? step : n - 1 - step;
      T *WRY_RESTRICT to = b + i * ldb;
      for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) {
        T factor = a.data[i * a.row + j * a.column];
        if (conjugated) factor = conjugate(factor);
        const T *WRY_RESTRICT from = b + j * ldb;
        for (int64_t c = 0; c < k; ++c) to[c] = to[c] - factor * from[c];
      }
      if (unit) continue;
      T pivot = a.data[i * a.row + i * a.column];
      if (conjugated) pivot = conjugate(pivot);
      const T factor = inverse_of(pivot);
      for (int64_t c = 0; c < k; ++c) to[c] = to[c] * factor;
    }
    return;
  }
  const int64_t n1 = half_of(n), n2 = n - n1;
  T *const second = b + n1 * ldb;
  if (lower) {
    solve_triangle(w, lower, unit, conjugated, n1, k, a, b, ldb);
    multiply_into(w, n2, k, n1, a.from(n1, 0), conjugated, true, Matrix<T>{b, ldb, 1}, second, ldb, true);
    solve_triangle(w, lower, unit, conjugated, n2, k, a.from(n1, n1), second, ldb);
  } else {
    solve_triangle(w, lower, unit, conjugated, n2, k, a.from(n1, n1), second, ldb);
    multiply_into(w, n1, k, n2, a.from(0, n1), conjugated, true, Matrix<T>{second, ldb, 1}, b, ldb, true);
    solve_triangle(w, lower, unit, conjugated, n1, k, a, b, ldb);
  }
}

// ---- LU -----------------------------------------------------------------------------------------

template <typename T>
WRY_INLINE void exchange_rows(T *a, T *b, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const T kept = a[j];
    a[j] = b[j], b[j] = kept;
  }
}

// Overwrites a [m, n] with both factors; pivots[i], from 1 on, is the row that was exchanged with row i. Returns the
// first pivot that is 0, counted from 1, or 0.
template <typename T>
int64_t factor_lu(Work<T> &w, int64_t m, int64_t n, T *a, int64_t lda, int32_t *pivots) {
  const int64_t steps = min_of(m, n);
  if (steps <= few) {
    int64_t singular = 0;
    for (int64_t i = 0; i < steps; ++i) {
      int64_t best = i;
      real_of<T> most = magnitude(a[i * lda + i]);
      for (int64_t r = i + 1; r < m; ++r) {
        const real_of<T> here = magnitude(a[r * lda + i]);
        if (here > most) most = here, best = r;
      }
      pivots[i] = int32_t(best + 1);
      if (best != i) exchange_rows(a + i * lda, a + best * lda, n);
      if (most == 0) {
        if (!singular) singular = i + 1;
        continue;
      }
      const T factor = inverse_of(a[i * lda + i]);
      const T *WRY_RESTRICT row = a + i * lda;
      for (int64_t r = i + 1; r < m; ++r) {
        T *WRY_RESTRICT to = a + r * lda;
        const T times = to[i] * factor;
        to[i] = times;
        for (int64_t j = i + 1; j < n; ++j) to[j] = to[j] - times * row[j];
      }
    }
    return singular;
  }
  const int64_t n1 = half_of(steps), rest = n - n1;
  const int64_t left = factor_lu(w, m, n1, a, lda, pivots);
  for (int64_t i = 0; i < n1; ++i)
    if (pivots[i] != i + 1) exchange_rows(a + i * lda + n1, a + (pivots[i] - 1) * lda + n1, rest);
  solve_triangle(w, true, true, false, n1, rest, Matrix<T>{a, lda, 1}, a + n1, lda);
  T *const corner = a + n1 * lda + n1;
  multiply_into(w, m - n1, rest, n1, Matrix<T>{a + n1 * lda, lda, 1}, false, true, Matrix<T>{a + n1, lda, 1}, corner, lda, true);
  const int64_t right = factor_lu(w, m - n1, rest, corner, lda, pivots + n1);
  for (int64_t i = n1; i < steps; ++i) {
    pivots[i] += int32_t(n1);
    if (pivots[i] != i + 1) exchange_rows(a + i * lda, a + (pivots[i] - 1) * lda, n1);
  }
  return left ? left : right ? right + n1
                             : 0;
}

// ---- Cholesky -----------------------------------------------------------------------------------

// Overwrites the upper half of a Hermitian matrix with U, A = U^H U. Returns the first minor, counted from 1, that is
// not positive, or 0.
template <typename T>
int64_t factor_cholesky(Work<T> &w, int64_t n, T *u, int64_t ldu) {
  if (n <= few) {
    for (int64_t k = 0; k < n; ++k) {
      T *WRY_RESTRICT row = u + k * ldu;
      const real_of<T> square = real_part(row[k]);
      if (!(square > 0) || square - square != 0) return k + 1;  // infinity and NaN too
      const real_of<T> root = sizeof(square) == 4 ? real_of<T>(sqrtf(float(square))) : real_of<T>(::sqrt(double(square)));
      row[k] = T(root);
      const T factor = T(real_of<T>(1) / root);
      for (int64_t j = k + 1; j < n; ++j) row[j] = row[j] * factor;
      for (int64_t i = k + 1; i < n; ++i) {
        const T times = conjugate(row[i]);
        T *WRY_RESTRICT to = u + i * ldu;
        for (int64_t j = i; j < n; ++j) to[j] = to[j] - times * row[j];
      }
    }
    return 0;
  }
  const int64_t n1 = half_of(n), n2 = n - n1;
  if (const int64_t first = factor_cholesky(w, n1, u, ldu)) return first;
  T *const side = u + n1, *const corner = u + n1 * ldu + n1;
  solve_triangle(w, true, false, true, n1, n2, Matrix<T>{u, 1, ldu}, side, ldu);
  for (int64_t i = 0; i < n2; i += 64)  // in strips: what is below the diagonal is not needed
    multiply_into(w, min_of<int64_t>(64, n2 - i), n2 - i, n1, Matrix<T>{side + i, 1, ldu}, true, true, Matrix<T>{side + i, ldu, 1},
                  corner + i * ldu + i, ldu, true);
  const int64_t second = factor_cholesky(w, n2, corner, ldu);
  return second ? second + n1 : 0;
}

// ---- kernels ------------------------------------------------------------------------------------

template <typename T>
int cholesky(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t n = columns_of(x), count = x->size / (n * n);
  const bool upper = attr_bool(call, 0);
  int64_t failed = -1, minor = 0;
  int64_t *const minors = workspace<int64_t>(call, count);
  if (!minors) return fail_memory(call, "cholesky", count * 8);
  const int status = for_each_matrix<T>(call, "cholesky", count, n * n * n / 3, 2 * n * n, n, n, n, [&](Work<T> &w, int64_t at) {
    const T *from = data<T>(x) + at * n * n;
    T *to = data<T>(out) + at * n * n;
    T *const u = upper ? to : w.spare + n * n;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i; j < n; ++j) u[i * n + j] = upper ? from[i * n + j] : conjugate(from[j * n + i]);
    minors[at] = factor_cholesky(w, n, u, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j)
        if (upper) to[i * n + j] = T(0);
        else to[i * n + j] = conjugate(u[j * n + i]), to[j * n + i] = T(0);
    if (!upper)
      for (int64_t i = 0; i < n; ++i) to[i * n + i] = u[i * n + i];
  });
  for (int64_t at = count - 1; at >= 0 && status == WRY_OK; --at)
    if (minors[at]) failed = at, minor = minors[at];
  if (failed >= 0)
    return fail(call, WRY_INVALID,
                "cholesky: a matrix is not positive definite. Got matrix %lld of the batch with a leading minor of order %lld "
                "that is not positive, expected a Hermitian matrix whose eigenvalues are all above 0. Add a small multiple of "
                "the identity, or use eigh.",
                (long long)failed, (long long)minor);
  return status;
}

template <typename T>
int lu(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0), *pivots = output(call, 1), *info = output(call, 2);
  const int64_t m = rows_of(x), n = columns_of(x), steps = min_of(m, n);
  if (out->size == 0) {
    for (int64_t i = 0; i < info->size; ++i) data<int32_t>(info)[i] = 0;
    return WRY_OK;
  }
  const int64_t count = x->size / (m * n);
  return for_each_matrix<T>(call, "lu", count, m * n * steps, m * n, m, n, steps, [&](Work<T> &w, int64_t at) {
    T *to = data<T>(out) + at * m * n;
    memcpy((void *)to, data<T>(x) + at * m * n, size_t(m * n) * sizeof(T));
    data<int32_t>(info)[at] = int32_t(factor_lu(w, m, n, to, n, data<int32_t>(pivots) + at * steps));
  });
}

int permutation(const wry_call *call) {
  const wry_tensor *pivots = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t rows = columns_of(out), steps = columns_of(pivots), count = out->size / rows;
  for (int64_t at = 0; at < count; ++at) {
    int32_t *to = data<int32_t>(out) + at * rows;
    for (int64_t i = 0; i < rows; ++i) to[i] = int32_t(i);
    for (int64_t i = 0; i < steps; ++i) {
      const int32_t other = data<int32_t>(pivots)[at * steps + i] - 1;
      if (other < 0 || other >= rows || i >= rows)
        return fail(call, WRY_INVALID,
                    "pivots_to_permutation: a pivot is not a row. Got %d at position %lld of %lld, expected one in [1, %lld]. "
                    "Pass the pivots that lu gave.",
                    other + 1, (long long)i, (long long)steps, (long long)rows);
      const int32_t kept = to[i];
      to[i] = to[other], to[other] = kept;
    }
  }
  return WRY_OK;
}

// b [n, k] = A^-1 b: all threads at blocks of columns where there is one matrix and many columns.
template <typename T>
void solve_columns(Work<T> &w, bool lower, bool unit, int64_t n, int64_t k, Matrix<T> a, T *b, int64_t ldb, T *spares) {
  if (!w.threaded || n * k <= 64 * 64) {
    solve_triangle(w, lower, unit, false, n, k, a, b, ldb);
    return;
  }
  const int64_t block = 64, blocks = (k + block - 1) / block;
  parallel_tasks(w.call, blocks, [&](int64_t piece) {
    Work<T> own;
    own.call = w.call;
    own.spare = spares + thread_index() * n * n / 2;
    solve_triangle(own, lower, unit, false, n, min_of(block, k - piece * block), a, b + piece * block, ldb);
  });
}

// The system of one matrix: `a` is overwritten with its factors. Returns the first pivot that is 0, from 1, or 0.
template <typename T>
int64_t solve_one(Work<T> &w, int64_t n, int64_t k, T *a, T *b, int32_t *pivots, T *spares) {
  if (const int64_t singular = factor_lu(w, n, n, a, n, pivots)) return singular;
  for (int64_t i = 0; i < n; ++i)
    if (pivots[i] != i + 1) exchange_rows(b + i * k, b + (pivots[i] - 1) * k, k);
  solve_columns(w, true, true, n, k, Matrix<T>{a, n, 1}, b, k, spares);
  solve_columns(w, false, false, n, k, Matrix<T>{a, n, 1}, b, k, spares);
  return 0;
}

// out = x^-1 y, or x^-1 where there is no y.
template <typename T>
int solve_all(const wry_call *call, const char *op, const wry_tensor *x, const wry_tensor *y, const wry_tensor *out) {
  if (out->size == 0) return WRY_OK;
  const int64_t n = columns_of(x), k = columns_of(out), count = out->size / (n * k);
  const int threads = threads_for(call, INT32_MAX);
  const int64_t for_pivots = (n * 4 + int64_t(sizeof(T)) - 1) / int64_t(sizeof(T));
  int64_t *const singular = workspace<int64_t>(call, count);
  T *const spares = workspace<T>(call, max_of<int64_t>(1, threads * n * n / 2));
  if (!singular || !spares) return fail_memory(call, op, n * n * int64_t(sizeof(T)));
  const int64_t spare = n * n;  // the operand of a product, then the factors and the pivots
  const int status = for_each_matrix<T>(
      call, op, count, n * n * (n + k), spare + n * n + for_pivots, n, max_of(n, k), n, [&](Work<T> &w, int64_t at) {
        T *const a = w.spare + spare;
        int32_t *const pivots = reinterpret_cast<int32_t *>(a + n * n);
        T *to = data<T>(out) + at * n * k;
        memcpy((void *)a, data<T>(x) + at * n * n, size_t(n * n) * sizeof(T));
        if (y) {
          memcpy((void *)to, data<T>(y) + at * n * k, size_t(n * k) * sizeof(T));
        } else {
          for (int64_t i = 0; i < n * n; ++i) to[i] = T(0);
          for (int64_t i = 0; i < n; ++i) to[i * n + i] = T(1);
        }
        singular[at] = solve_one(w, n, k, a, to, pivots, spares);
      });
  if (status != WRY_OK) return status;
  for (int64_t at = 0; at < count; ++at)
    if (singular[at])
      return fail(call, WRY_INVALID,
                  "%s: a matrix is singular. Got matrix %lld of the batch, whose pivot %lld is 0, expected one that has an "
                  "inverse. Use pinv or lstsq for such a matrix.",
                  op, (long long)at, (long long)singular[at]);
  return WRY_OK;
}

template <typename T>
int solve(const wry_call *call) { return solve_all<T>(call, "solve", input(call, 0), input(call, 1), output(call, 0)); }

template <typename T>
int inverse(const wry_call *call) { return solve_all<T>(call, "inverse", input(call, 0), nullptr, output(call, 0)); }

template <typename T>
int triangular_solve(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t n = columns_of(x), k = columns_of(y), count = out->size / (n * k);
  const bool upper = attr_bool(call, 0), transpose = attr_bool(call, 1), unit = attr_bool(call, 2);
  T *const spares = workspace<T>(call, max_of<int64_t>(1, threads_for(call, INT32_MAX) * n * n / 2));
  if (!spares) return fail_memory(call, "triangular_solve", n * n * int64_t(sizeof(T)));
  return for_each_matrix<T>(call, "triangular_solve", count, n * n * k, n * n, n, k, n, [&](Work<T> &w, int64_t at) {
    T *to = data<T>(out) + at * n * k;
    memcpy((void *)to, data<T>(y) + at * n * k, size_t(n * k) * sizeof(T));
    const Matrix<T> a = {data<T>(x) + at * n * n, n, 1};
    solve_columns(w, upper == transpose, unit, n, k, transpose ? a.transposed() : a, to, k, spares);
  });
}

template <typename T>
int qr(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *q = output(call, 0), *r = output(call, 1);
  const int64_t m = rows_of(x), n = columns_of(x), columns = columns_of(q), rows = rows_of(r), steps = min_of(m, n);
  if (m == 0 || (q->size == 0 && r->size == 0)) return WRY_OK;
  const int64_t count = q->size / (m * max_of<int64_t>(columns, 1));
  const int64_t widest = max_of(n, columns), blocks = (steps + panel - 1) / panel * panel * panel;
  const int64_t spare = m * n + blocks + m * panel + 2 * panel * max_of(widest, panel);
  return for_each_matrix<T>(call, "qr", count, m * widest * steps, spare, m, widest, m, [&](Work<T> &w, int64_t at) {
    T *const a = w.spare, *const t = a + m * n;
    Reflections<T> space;
    space.v = t + blocks, space.products = space.v + m * panel;
    space.turned = space.products + panel * max_of(widest, panel);
    memcpy((void *)a, data<T>(x) + at * m * n, size_t(m * n) * sizeof(T));
    factor_qr(w, space, m, n, a, data<T>(q) + at * m * columns, columns, t);
    T *to = data<T>(r) + at * rows * n;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < n; ++j) to[i * n + j] = j < i ? T(0) : a[i * n + j];
  });
}

#if WRY_RARE_DTYPES
#define WRY_MATRIX_ROWS(op, kernel)                                                                    \
  WRY_ROW(op, float, WRY_WANTS_CONTIGUOUS, kernel), WRY_ROW(op, double, WRY_WANTS_CONTIGUOUS, kernel), \
      WRY_COMPLEX_ROWS(op, WRY_WANTS_CONTIGUOUS, kernel)
#else
#define WRY_MATRIX_ROWS(op, kernel) \
  WRY_ROW(op, float, WRY_WANTS_CONTIGUOUS, kernel), WRY_ROW(op, double, WRY_WANTS_CONTIGUOUS, kernel)
#endif

const wry_kernel_entry table[] = {
    WRY_MATRIX_ROWS("cholesky", cholesky),
    WRY_MATRIX_ROWS("lu", lu),
    WRY_MATRIX_ROWS("solve", solve),
    WRY_MATRIX_ROWS("inverse", inverse),
    WRY_MATRIX_ROWS("triangular_solve", triangular_solve),
    WRY_MATRIX_ROWS("qr", qr),
    WRY_PLAIN_ROW("pivots_to_permutation", WRY_INT32, WRY_WANTS_CONTIGUOUS, permutation),
};

}  // namespace
WRY_TABLE(linalg, table)

}  // namespace WRY_NAMESPACE
