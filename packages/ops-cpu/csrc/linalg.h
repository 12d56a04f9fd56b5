// What kernels of matrices share: products that may be complex, reflections, the loop over a batch.
#ifndef WHERRY_OPS_CPU_LINALG_H
#define WHERRY_OPS_CPU_LINALG_H

#include "gemm.h"

namespace WRY_NAMESPACE {

// ---- products -----------------------------------------------------------------------------------

// What one thread, or all of them at one matrix, compute with.
template <typename T>
struct Work {
  const wry_call *call = nullptr;
  bool threaded = false;  // products may use all threads
  T *spare = nullptr;     // a negated or conjugated operand; for real products also what follows
  GemmScratch<T> scratch;
};

// c[m, n] += sign * a[m, k] b[k, n], or without what c holds. `a` may be conjugated on the way; b.column is 1.
template <typename T>
void multiply_into(Work<T> &w, int64_t m, int64_t n, int64_t k, Matrix<T> a, bool conjugated, bool negated, Matrix<T> b,
                   T *c, int64_t ldc, bool accumulate) {
  if (m <= 0 || n <= 0) return;
  if constexpr (is_complex<T>::value) {
    for (int64_t i = 0; i < m; ++i) {
      T *to = c + i * ldc;
      if (!accumulate)
        for (int64_t j = 0; j < n; ++j) to[j] = T(0);
      for (int64_t p = 0; p < k; ++p) {
        T factor = a.data[i * a.row + p * a.column];
        if (conjugated) factor = conjugate(factor);
        if (negated) factor = -factor;
        const T *from = b.data + p * b.row;
        for (int64_t j = 0; j < n; ++j) to[j] += factor * from[j * b.column];
      }
    }
  } else {
    if (negated) {
      for (int64_t i = 0; i < m; ++i)
        for (int64_t p = 0; p < k; ++p) w.spare[i * k + p] = -a.data[i * a.row + p * a.column];
      a = {w.spare, k, 1};
    }
    Start<T> start;
    start.accumulate = accumulate;
    if (w.threaded) gemm(w.call, m, n, k, a, b, c, ldc, start, w.scratch);
    else gemm_serial(m, n, k, a, b, c, ldc, start);
  }
}

// ---- reflections -----------------------------------------------------------------------------------------

inline constexpr int64_t panel = 32;  // reflections that are applied together

// The reflection I - tau v v^H, v[0] = 1, whose conjugate turns x[count] into (beta, 0, ...). Overwrites x with beta
// and the rest of v, and returns tau. Values are scaled before they are squared.
template <typename T>
T reflect(int64_t count, T *x, int64_t step) {
  using R = real_of<T>;
  R most = 0;
  for (int64_t i = 1; i < count; ++i) most = max_of(most, magnitude(x[i * step]));
  const T alpha = x[0];
  R imaginary = 0;
  if constexpr (is_complex<T>::value) imaginary = alpha.im;
  if (most == 0 && imaginary == 0) return T(0);
  most = max_of(most, magnitude(alpha));
  constexpr R least = sizeof(R) == 4 ? R(0x1p-100) : R(0x1p-1000), lift = sizeof(R) == 4 ? R(0x1p60) : R(0x1p500);
  if (most > 0 && most < least) {  // or the inverse of their length would be infinite; 0 beside NaN stays that
    for (int64_t i = 0; i < count; ++i) x[i * step] = x[i * step] * T(lift);
    const T tau = reflect(count, x, step);
    x[0] = x[0] * T(R(1) / lift);
    return tau;
  }
  double total = 0;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (is_complex<T>::value) {
      const double re = double(x[i * step].re / most), im = double(x[i * step].im / most);
      total += re * re + im * im;
    } else {
      const double value = double(x[i * step] / most);
      total += value * value;
    }
  }
  const R length = R(double(most) * ::sqrt(total));
  const R beta = real_part(alpha) < 0 ? length : -length;
  const T factor = inverse_of(T(alpha - T(beta)));
  for (int64_t i = 1; i < count; ++i) x[i * step] = x[i * step] * factor;
  x[0] = T(beta);
  if constexpr (is_complex<T>::value) return T((beta - alpha.re) / beta, -alpha.im / beta);
  else return (beta - alpha) / beta;
}

template <typename T>
struct Reflections {
  T *v, *products, *turned;  // [m, panel], [panel, n], [panel, n]
};

// v [rows, width] of the block that starts at (at, at): ones on the diagonal, zeros above it.
template <typename T>
void gather_reflections(const T *a, int64_t lda, int64_t at, int64_t rows, int64_t width, T *v) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j)
      v[i * width + j] = i < j ? T(0) : i == j ? T(1)
                                               : a[(at + i) * lda + at + j];
}

// c [rows, n] -= V t V^H c, with t turned into its adjoint to take the reflections back.
template <typename T>
void apply_reflections(Work<T> &w, const Reflections<T> &r, int64_t rows, int64_t width, const T *t, bool adjoint, T *c,
                       int64_t ldc, int64_t n) {
  if (n <= 0) return;
  multiply_into(w, width, n, rows, Matrix<T>{r.v, 1, width}, true, false, Matrix<T>{c, ldc, 1}, r.products, n, false);
  for (int64_t i = 0; i < width; ++i) {
    T *WRY_RESTRICT to = r.turned + i * n;
    for (int64_t j = 0; j < n; ++j) to[j] = T(0);
    for (int64_t p = adjoint ? 0 : i; p < (adjoint ? i + 1 : width); ++p) {
      const T factor = -(adjoint ? conjugate(t[p * panel + i]) : t[i * panel + p]);
      const T *WRY_RESTRICT from = r.products + p * n;
      for (int64_t j = 0; j < n; ++j) to[j] += factor * from[j];
    }
  }
  multiply_into(w, rows, n, width, Matrix<T>{r.v, width, 1}, false, false, Matrix<T>{r.turned, n, 1}, c, ldc, true);
}

// a [m, n] becomes R above its diagonal; q [m, columns] the product of the reflections. `blocks` holds panel * panel
// values for each panel of columns.
template <typename T>
void factor_qr(Work<T> &w, Reflections<T> r, int64_t m, int64_t n, T *a, T *q, int64_t columns, T *blocks) {
  const int64_t steps = min_of(m, n);
  T row[panel];
  for (int64_t at = 0; at < steps; at += panel) {
    const int64_t width = min_of(panel, steps - at), rows = m - at;
    T *const t = blocks + at * panel;
    for (int64_t j = 0; j < width; ++j) {
      T *const corner = a + (at + j) * n + at + j;
      const T tau = reflect(m - at - j, corner, n);
      t[j * panel + j] = tau;
      const int64_t right = width - j - 1;
      if (right > 0) {
        const T back = conjugate(tau);
        for (int64_t c = 0; c < right; ++c) row[c] = corner[1 + c];
        for (int64_t i = 1; i < m - at - j; ++i) {
          const T factor = conjugate(corner[i * n]);
          for (int64_t c = 0; c < right; ++c) row[c] += factor * corner[i * n + 1 + c];
        }
        for (int64_t c = 0; c < right; ++c) row[c] = row[c] * back, corner[1 + c] = corner[1 + c] - row[c];
        for (int64_t i = 1; i < m - at - j; ++i) {
          const T factor = corner[i * n];
          for (int64_t c = 0; c < right; ++c) corner[i * n + 1 + c] = corner[i * n + 1 + c] - factor * row[c];
        }
      }
    }
    gather_reflections(a, n, at, rows, width, r.v);
    // t[:j, j] = -tau_j t[:j, :j] (V[:, :j]^H v_j), where V^H V is one product.
    multiply_into(w, width, width, rows, Matrix<T>{r.v, 1, width}, true, false, Matrix<T>{r.v, width, 1}, r.products, width, false);
    for (int64_t j = 1; j < width; ++j)
      for (int64_t i = 0; i < j; ++i) {
        T total = T(0);
        for (int64_t p = i; p < j; ++p) total += t[i * panel + p] * r.products[p * width + j];
        t[i * panel + j] = -(total * t[j * panel + j]);
      }
    apply_reflections(w, r, rows, width, t, true, a + at * n + at + width, n, n - at - width);
  }
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < columns; ++j) q[i * columns + j] = T(i == j ? 1 : 0);
  for (int64_t at = (steps - 1) / panel * panel; at >= 0 && steps > 0; at -= panel) {
    const int64_t width = min_of(panel, steps - at), rows = m - at;
    gather_reflections(a, n, at, rows, width, r.v);
    apply_reflections(w, r, rows, width, blocks + at * panel, false, q + at * columns + at, columns, columns - at);
  }
}

// ---- batches ------------------------------------------------------------------------------------

WRY_INLINE int64_t rows_of(const wry_tensor *t) { return t->shape[t->rank - 2]; }
WRY_INLINE int64_t columns_of(const wry_tensor *t) { return t->shape[t->rank - 1]; }

// f(work, index) for each of `count` matrices; `spare` values of scratch for each thread, products up to m x n x k.
template <typename T, typename F>
int for_each_matrix(const wry_call *call, const char *op, int64_t count, int64_t work_each, int64_t spare, int64_t m, int64_t n,
                    int64_t k, F &&f) {
  if (count <= 0) return WRY_OK;
  const bool apart = count >= 4 || work_each <= 48 * 48 * 48;
  const int threads = apart ? threads_for(call, count) : 1;
  T *const memory = workspace<T>(call, max_of<int64_t>(1, spare) * threads);
  if (!memory) return fail_memory(call, op, spare * threads * int64_t(sizeof(T)));
  if (apart) {
    parallel_for(call, count, max_of<int64_t>(1, 16384 / max_of<int64_t>(work_each, 1)), [&](int64_t first, int64_t last) {
      Work<T> w;
      w.call = call;
      w.spare = memory + thread_index() * spare;
      for (int64_t at = first; at < last; ++at) f(w, at);
    });
    return WRY_OK;
  }
  Work<T> w;
  w.call = call, w.spare = memory, w.threaded = true;
  if constexpr (!is_complex<T>::value)
    if (!gemm_scratch(call, m, n, k, &w.scratch)) return fail_memory(call, op, m * n * int64_t(sizeof(T)));
  for (int64_t at = 0; at < count; ++at) f(w, at);
  return WRY_OK;
}

}  // namespace WRY_NAMESPACE

#endif
