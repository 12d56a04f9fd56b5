// Eigenvalues and eigenvectors of real symmetric matrices, and singular values of float matrices.
//
// A symmetric matrix becomes one of three diagonals by reflections, gathered so that half of the arithmetic is products
// (Dongarra, Hammarling & Sorensen, "Block reduction of matrices to condensed forms", 1989). Blocks of at most 32 rows
// are turned diagonal by implicit QL steps (Dubrulle, Martin & Wilkinson, 1968) and put together two by two: Cuppen, "A
// divide and conquer method for the symmetric tridiagonal eigenproblem" (1981), with roots by Li, "Solving secular
// equations stably and efficiently" (1994), and vectors by Gu & Eisenstat, "A divide-and-conquer algorithm for the
// symmetric tridiagonal eigenproblem" (1995). Numbers of the three diagonals are float64 in any case.
//
// Singular values of a float matrix come from the product of its adjoint with itself in float64, which has 29 bits more
// than the matrix. What squaring loses (singular values below 1e-8 of the largest) is less than a float's rounding; where
// it would cost orthogonal vectors, they come from reflections. For float64 there is no such wide product, so those
// singular values stay LAPACK's.
//
// Matrices are scaled by a power of two, so that their largest value lies in [0.5, 1). Eigenvalues are exact up to
// rounding errors of the largest one, not each of its own size.
#include "linalg.h"

namespace WRY_NAMESPACE {
namespace {

inline constexpr int64_t leaf = 32;         // rows of a block that QL steps turn diagonal
inline constexpr int most_steps = 60;       // QL steps for one eigenvalue; two are usual
inline constexpr int most_roundings = 100;  // steps for a root of the secular equation; four are usual

template <typename T>
inline constexpr double rounding = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;

// f(piece) for each piece, on all threads where this is the only matrix.
template <typename T, typename F>
WRY_INLINE void each(const Work<T> &w, int64_t pieces, F &&f) {
  if (w.threaded) parallel_tasks(w.call, pieces, f);
  else
    for (int64_t piece = 0; piece < pieces; ++piece) f(piece);
}

template <typename T>
WRY_INLINE void multiply(Work<T> &w, int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc, bool accumulate) {
  if (k > 0 || !accumulate) multiply_into(w, m, n, k, a, false, false, b, c, ldc, accumulate);
}

// ---- vectors ------------------------------------------------------------------------------------

// sums[i] = row i of x times y, for Rows rows that lie x_row apart. The order of additions is the same for any Rows.
template <typename T, int Rows>
WRY_INLINE void products_of(int64_t n, const T *x, int64_t x_row, const T *y, T *sums) {
  constexpr int64_t width = lanes<T>;
  vec<T> sum[Rows][2];
  for (int i = 0; i < Rows; ++i) sum[i][0] = sum[i][1] = vec<T>{};
  int64_t c = 0;
  for (; c + 2 * width <= n; c += 2 * width) {
    const vec<T> first = load(y + c), second = load(y + c + width);
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      sum[i][0] = fma(load(x + i * x_row + c), first, sum[i][0]);
      sum[i][1] = fma(load(x + i * x_row + c + width), second, sum[i][1]);
    }
  }
  for (; c < n; c += width) {
    const int64_t left = min_of(n - c, width);
    const vec<T> first = load_partial(y + c, left);
    for (int i = 0; i < Rows; ++i) sum[i][0] = fma(load_partial(x + i * x_row + c, left), first, sum[i][0]);
  }
  for (int i = 0; i < Rows; ++i) sums[i] = reduce_add(sum[i][0] + sum[i][1]);
}

template <typename T>
void rows_times(int64_t rows, int64_t n, const T *x, int64_t x_row, const T *y, T *sums) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) products_of<T, 4>(n, x + i * x_row, x_row, y, sums + i);
  for (; i < rows; ++i) products_of<T, 1>(n, x + i * x_row, x_row, y, sums + i);
}

// In many short sums: of equal values errors would add up.
template <typename T>
double sum_of_squares(int64_t n, const T *x) {
  constexpr int64_t width = lanes<T>, vectors = sizeof(T) == 4 ? 2 : 4;
  f64 sum[4] = {};
  for (int64_t at = 0; at < n; at += vectors * width)
    for (int64_t part = 0; part < vectors; ++part) {
      const int64_t c = at + part * width;
      if (c >= n) break;
      const vec<T> value = load_partial(x + c, min_of(n - c, width));
      if constexpr (sizeof(T) == 4) {
        const f64x2 wide = to_double(value);
        sum[2 * part] = fma(wide.lo, wide.lo, sum[2 * part]), sum[2 * part + 1] = fma(wide.hi, wide.hi, sum[2 * part + 1]);
      } else {
        sum[part] = fma(value, value, sum[part]);
      }
    }
  return reduce_add((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

WRY_INLINE double absolute(double x) { return x < 0 ? -x : x; }
WRY_INLINE double root_of(double x) { return ::sqrt(x); }

// to[columns, rows]: row order[i] of from[rows, columns] becomes column i. In strips, so that what is written stays in
// the nearest cache.
template <typename From, typename To>
void turn_rows(int64_t rows, int64_t columns, const From *from, const int64_t *order, To *to, int64_t ldt) {
  for (int64_t at = 0; at < rows; at += 16)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = at; i < min_of<int64_t>(rows, at + 16); ++i) to[j * ldt + i] = To(from[order[i] * columns + j]);
}

// ---- the problem --------------------------------------------------------------------------------

// Memory for a matrix of n rows: `values` of T and `doubles`.
template <typename T>
struct Problem {
  int64_t n;
  T *a;                           // [n, n] the matrix, then coefficients of vectors
  T *reflectors;                  // [n, n] one in each row
  T *rows;                        // [n, n] eigenvectors as rows
  T *packed;                      // [n, n] rows that are put together, then eigenvectors as columns
  T *sides;                       // [4 * panel, n] what a panel is updated with
  T *scales;                      // [n] of the reflections
  T *turned;                      // [2 * panel, n]
  double *d, *e;                  // [n] the three diagonals
  double *couplings;              // [n] of blocks: what stood in e at their ends
  double *z, *weights, *squares;  // [n]
  double *distances;              // [n, n] from roots to poles
  int64_t *order, *spare_order;   // [n]

  static int64_t values(int64_t n) { return 4 * n * n + 7 * panel * n; }
  static int64_t doubles(int64_t n) { return 8 * n + n * n; }
  Problem(int64_t n, T *memory, double *wide) : n(n) {
    a = memory, reflectors = a + n * n, rows = reflectors + n * n, packed = rows + n * n;
    sides = packed + n * n, turned = sides + 4 * panel * n, scales = turned + 2 * panel * n;
    d = wide, e = d + n, couplings = e + n, z = couplings + n, weights = z + n, squares = weights + n;
    order = reinterpret_cast<int64_t *>(squares + n), spare_order = order + n;
    distances = squares + 3 * n;
  }
};

// ---- three diagonals ----------------------------------------------------------------------------

// Turns a into three diagonals d and e. Reflection j, I - scales[j] v v^T, has v in row j of `reflectors`: zeros up to
// column j, then a one.
template <typename T>
void reduce_to_three(Work<T> &w, Problem<T> &p, bool keep) {
  const int64_t n = p.n, widest = n <= 64 ? 8 : panel;
  T *const a = p.a;
  T first[2 * panel], second[2 * panel];
  for (int64_t at = 0; at < n; at += widest) {
    const int64_t width = min_of(widest, n - at);
    T *const left = p.sides, *const right = p.sides + 2 * panel * n;  // rows: v, then w; and -w, then -v
    T *const ws = left + width * n;
    for (int64_t q = 0; q < width; ++q) {
      const int64_t j = at + q;
      T *WRY_RESTRICT row = a + j * n;
      for (int64_t o = 0; o < q; ++o) {
        const T *WRY_RESTRICT v = left + o * n, *WRY_RESTRICT u = ws + o * n;
        const T of_v = v[j], of_u = u[j];
        for (int64_t c = j; c < n; ++c) row[c] -= of_v * u[c] + of_u * v[c];
      }
      p.d[j] = double(row[j]);
      if (j + 1 == n) {
        p.e[j] = 0;
        break;
      }
      const int64_t start = j + 1, count = n - start;
      T *WRY_RESTRICT v = left + q * n, *WRY_RESTRICT u = ws + q * n;
      const double alpha = double(row[start]), tail = sum_of_squares(count - 1, row + start + 1);
      for (int64_t c = 0; c < start; ++c) v[c] = T(0);
      T scale = T(0);
      if (tail > (sizeof(T) == 4 ? 1e-60 : 1e-200)) {  // smaller ones are nothing beside values near 1, but have no inverse
        const double length = root_of(alpha * alpha + tail), beta = alpha < 0 ? length : -length;
        const T factor = T(1.0 / (alpha - beta));
        v[start] = T(1);
        for (int64_t c = start + 1; c < n; ++c) v[c] = row[c] * factor;
        // What makes a reflection of v as it was rounded, or errors of equal values would add up.
        scale = T(2.0 / (1.0 + sum_of_squares(count - 1, v + start + 1)));
        p.e[j] = beta;
      } else {
        for (int64_t c = start; c < n; ++c) v[c] = T(0);
        p.e[j] = alpha;
      }
      p.scales[j] = scale;
      if (keep) memcpy(p.reflectors + j * n, v, size_t(n) * sizeof(T));
      if (scale == T(0)) {
        for (int64_t c = start; c < n; ++c) u[c] = T(0);
        continue;
      }
      // u = A v, where A still lacks what this panel has done.
      constexpr int64_t block = 64;
      if (w.threaded && count >= 2 * block)
        parallel_tasks(w.call, (count + block - 1) / block, [&](int64_t piece) {
          const int64_t i = piece * block;
          rows_times(min_of(block, count - i), count, a + (start + i) * n + start, n, v + start, u + start + i);
        });
      else rows_times(count, count, a + start * n + start, n, v + start, u + start);
      if (q > 0) {
        rows_times(q, count, ws + start, n, v + start, first);
        rows_times(q, count, left + start, n, v + start, second);
        for (int64_t o = 0; o < q; ++o) {
          const T *WRY_RESTRICT v_o = left + o * n, *WRY_RESTRICT u_o = ws + o * n;
          const T of_v = first[o], of_u = second[o];
          for (int64_t c = start; c < n; ++c) u[c] -= of_v * v_o[c] + of_u * u_o[c];
        }
      }
      T along;
      products_of<T, 1>(count, u + start, n, v + start, &along);
      const T shift = T(0.5) * scale * scale * along;
      for (int64_t c = start; c < n; ++c) u[c] = scale * u[c] - shift * v[c];
    }
    const int64_t start = at + width, count = n - start;
    if (count <= 0) break;
    for (int64_t q = 0; q < width; ++q)
      for (int64_t c = start; c < n; ++c)
        right[q * n + c] = -ws[q * n + c], right[(width + q) * n + c] = -left[q * n + c];
    multiply(w, count, count, 2 * width, Matrix<T>{left + start, 1, n}, Matrix<T>{right + start, n, 1}, a + start * n + start, n, true);
  }
}

// rows = the transpose of the product of all reflections.
template <typename T>
void gather_rows(Problem<T> &p) {
  const int64_t n = p.n;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) p.rows[i * n + j] = T(i == j ? 1 : 0);
  for (int64_t j = n - 2; j >= 0; --j) {
    const T scale = p.scales[j];
    if (scale == T(0)) continue;
    const int64_t start = j + 1, count = n - start;
    const T *WRY_RESTRICT v = p.reflectors + j * n + start;
    T sums[leaf];
    rows_times(count, count, p.rows + start * n + start, n, v, sums);
    for (int64_t i = 0; i < count; ++i) {
      T *WRY_RESTRICT to = p.rows + (start + i) * n + start;
      const T factor = scale * sums[i];
      for (int64_t c = 0; c < count; ++c) to[c] -= factor * v[c];
    }
  }
}

// x [n, n] becomes the product of all reflections with x.
template <typename T>
void reflect_columns(Work<T> &w, Problem<T> &p, T *x) {
  const int64_t n = p.n;
  T t[panel * panel], along[panel];
  for (int64_t at = (n - 1) / panel * panel; at >= 0; at -= panel) {
    const int64_t width = min_of(panel, n - 1 - at), start = at + 1, count = n - start;
    if (width <= 0) continue;
    const Matrix<T> v = {p.reflectors + at * n + start, n, 1};
    for (int64_t j = 0; j < width; ++j) {
      const T scale = p.scales[at + j];
      t[j * panel + j] = scale;
      rows_times(j, count, v.data, n, v.data + j * n, along);  // in many short sums: errors of these add up
      for (int64_t i = 0; i < j; ++i) {
        T total = T(0);
        for (int64_t o = i; o < j; ++o) total += t[i * panel + o] * along[o];
        t[i * panel + j] = -(total * scale);
      }
    }
    T *const products = p.turned, *const turned = products + panel * n;
    multiply(w, width, n, count, v, Matrix<T>{x + start * n, n, 1}, products, n, false);
    for (int64_t i = 0; i < width; ++i) {
      T *WRY_RESTRICT to = turned + i * n;
      for (int64_t c = 0; c < n; ++c) to[c] = T(0);
      for (int64_t o = i; o < width; ++o) {
        const T factor = t[i * panel + o];
        const T *WRY_RESTRICT from = products + o * n;
        for (int64_t c = 0; c < n; ++c) to[c] -= factor * from[c];
      }
    }
    multiply(w, count, n, width, v.transposed(), Matrix<T>{turned, n, 1}, x + start * n, n, true);
  }
}

// ---- QL steps -----------------------------------------------------------------------------------

template <typename T>
void reverse(int64_t n, T *rows, int64_t length, int64_t ld) {
  for (int64_t i = 0, j = n - 1; i < j; ++i, --j)
    for (int64_t k = 0; k < length; ++k) {
      const T kept = rows[i * ld + k];
      rows[i * ld + k] = rows[j * ld + k], rows[j * ld + k] = kept;
    }
}

double largest_of(int64_t n, const double *d, const double *e) {
  double most = 0;
  for (int64_t i = 0; i < n; ++i) most = max_of(most, max_of(absolute(d[i]), absolute(e[i])));
  return most;
}

// An off-diagonal value is nothing when it is less than a rounding of its neighbours; of the largest value, where steps
// do not get there. (The square of the first bound is still a number.)
WRY_INLINE double nothing_beside(double most, int step) { return most * (step < 10 ? 1e-100 : 0x1p-54); }

// The eigenvalues of n rows of three diagonals, d and e, into d; the rotations go to `rows`, which are `length` long and
// ld apart. False when that many steps were not enough.
template <typename T>
bool turn_diagonal(int64_t n, double *d, double *e, T *rows, int64_t length, int64_t ld) {
  e[n - 1] = 0;
  if (absolute(d[0]) > absolute(d[n - 1])) {  // steps lose least where values grow downwards
    reverse(n, d, int64_t(1), int64_t(1));
    reverse(n - 1, e, int64_t(1), int64_t(1));
    reverse(n, rows, length, ld);
  }
  const double most = largest_of(n, d, e);
  for (int64_t l = 0; l < n; ++l)
    for (int step = 0;; ++step) {
      const double floor = nothing_beside(most, step);
      int64_t m = l;
      while (m + 1 < n && absolute(e[m]) > floor + 0x1p-53 * (absolute(d[m]) + absolute(d[m + 1]))) ++m;
      if (m < n - 1) e[m] = 0;
      if (m == l) break;
      if (step == most_steps) return false;
      double g = (d[l + 1] - d[l]) / (2 * e[l]);
      double r = absolute(g) > 1e150 ? absolute(g) : root_of(g * g + 1);
      g = d[m] - d[l] + e[l] / (g + (g < 0 ? -r : r));
      double s = 1, c = 1, shifted = 0;
      int64_t i = m - 1;
      for (; i >= l; --i) {
        const double f = s * e[i], b = c * e[i];
        const double square = f * f + g * g;
        if (square < 1e-290) {  // nothing is left to turn, and so the blocks part here
          d[i + 1] -= shifted;
          e[i + 1] = e[m] = 0;
          break;
        }
        r = root_of(square);
        const double inverse = 1 / r;
        e[i + 1] = r;
        s = f * inverse, c = g * inverse;
        g = d[i + 1] - shifted;
        const double turn = (d[i] - g) * s + 2 * c * b;
        shifted = s * turn;
        d[i + 1] = g + shifted;
        g = c * turn - b;
        T *WRY_RESTRICT x = rows + i * ld, *WRY_RESTRICT y = x + ld;
        const T sine = T(s), cosine = T(c);
        for (int64_t k = 0; k < length; ++k) {
          const T kept = y[k];
          y[k] = sine * x[k] + cosine * kept;
          x[k] = cosine * x[k] - sine * kept;
        }
      }
      if (i >= l) continue;
      d[l] -= shifted;
      e[l] = g;
      e[m] = 0;
    }
  return true;
}

// The eigenvalues alone, by steps without square roots on the squares of e: Reinsch, "A stable, rational QR algorithm for
// the computation of the eigenvalues of an Hermitian, tridiagonal matrix" (1971), in the form of Pal, Walker and Kahan.
bool turn_values(int64_t n, double *d, double *e) {
  e[n - 1] = 0;
  if (absolute(d[0]) > absolute(d[n - 1])) reverse(n, d, int64_t(1), int64_t(1)), reverse(n - 1, e, int64_t(1), int64_t(1));
  const double most = largest_of(n, d, e);
  for (int64_t i = 0; i < n; ++i) e[i] *= e[i];
  for (int64_t l = 0; l < n; ++l)
    for (int step = 0;; ++step) {
      const double floor = nothing_beside(most, step);
      int64_t m = l;
      for (; m + 1 < n; ++m) {
        const double bound = floor + 0x1p-53 * (absolute(d[m]) + absolute(d[m + 1]));
        if (e[m] <= bound * bound) break;
      }
      e[m] = 0;
      if (m == l) break;
      if (step == most_steps) return false;
      const double side = root_of(e[l]), half = (d[l + 1] - d[l]) / (2 * side);
      const double length = absolute(half) > 1e150 ? absolute(half) : root_of(half * half + 1);
      const double shift = d[l] - side / (half + (half < 0 ? -length : length));
      double c = 1, s = 0, gamma = d[m] - shift, p = gamma * gamma;
      for (int64_t i = m - 1; i >= l; --i) {
        const double b = e[i], r = p + b, before = c, old = gamma;
        if (i != m - 1) e[i + 1] = s * r;
        c = p / r, s = b / r;
        gamma = c * (d[i] - shift) - s * old;
        d[i + 1] = old + (d[i] - gamma);
        p = c > 1e-100 ? gamma * gamma * (r / p) : c != 0 ? gamma * gamma / c
                                                          : before * b;
      }
      e[l] = s * p;
      d[l] = shift + gamma;
    }
  return true;
}

// ---- putting two together -----------------------------------------------------------------------

// order[0..n) by ascending d; `spare` is as long. Equal ones stay as they are.
void sort_by(const double *d, int64_t n, int64_t *order, int64_t *spare) {
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t run = 1; run < n; run *= 2) {
    for (int64_t at = 0; at < n; at += 2 * run) {
      const int64_t middle = min_of(at + run, n), end = min_of(at + 2 * run, n);
      int64_t i = at, j = middle;
      for (int64_t to = at; to < end; ++to) spare[to] = j >= end || (i < middle && d[order[i]] <= d[order[j]]) ? order[i++] : order[j++];
    }
    memcpy(order, spare, size_t(n) * sizeof(int64_t));
  }
}

struct Sum {
  double value, slope, size;
};

// The sum of weights / (poles - x), of its derivative, and of magnitudes.
WRY_INLINE Sum sum_over(const double *poles, const double *weights, int64_t begin, int64_t end, double x) {
  f64 value = {}, slope = {};
  const f64 at = splat<f64>(x);
  for (int64_t k = begin; k < end; k += f64_lanes) {
    const int64_t left = min_of<int64_t>(end - k, f64_lanes);
    const f64 distance = load_partial(poles + k, left, x + 1) - at;
    const f64 inverse = 1.0 / distance;
    const f64 term = load_partial(weights + k, left) * inverse;
    value += term;
    slope = fma(term, inverse, slope);
  }
  // On either side of x all terms have the same sign.
  const double total = reduce_add(value);
  return {total, reduce_add(slope), absolute(total)};
}

// The roots of c x^2 - a x + b, that with the smaller magnitude first.
WRY_INLINE void roots_of(double c, double a, double b, double *smaller, double *larger) {
  const double inside = a * a - 4 * b * c, root = inside > 0 ? root_of(inside) : 0;
  const double q = 0.5 * (a < 0 ? a - root : a + root);
  *smaller = q != 0 ? b / q : 0;
  *larger = c != 0 ? q / c : *smaller;
}

// Root i of 1 + sum weights / (d - x), which lies above d[i] (ascending, `count` of them, weights above 0). Writes
// distances[k] = d[k] - root, each with small relative error, and returns the root.
double find_root(int64_t count, int64_t i, const double *d, const double *weights, double *distances) {
  const bool last = i == count - 1;
  const int64_t p = last ? max_of<int64_t>(count - 2, 0) : i;  // a function of two poles stands for the sum: p and p + 1
  double low = 0, high, x, base = d[i];
  if (last) {
    high = 0;
    for (int64_t k = 0; k < count; ++k) high += weights[k];
    for (int64_t k = 0; k < count; ++k) distances[k] = d[k] - base;
    if (count == 1) {
      distances[0] = -high;
      return base + high;
    }
    x = 0.5 * high;
  } else {
    const double gap = d[i + 1] - d[i];
    for (int64_t k = 0; k < count; ++k) distances[k] = d[k] - base;
    x = high = 0.5 * gap;
    const double middle = 1 + sum_over(distances, weights, 0, i + 1, x).value + sum_over(distances, weights, i + 1, count, x).value;
    if (middle < 0) {  // nearer to the upper pole: distances are taken from there
      base = d[i + 1];
      for (int64_t k = 0; k < count; ++k) distances[k] = d[k] - base;
      x = low = -0.5 * gap, high = 0;
    }
    // Two poles and what the others sum up to halfway.
    const double lower = distances[i], upper = distances[i + 1];
    const double rest = middle - weights[i] / (-0.5 * gap) - weights[i + 1] / (0.5 * gap);
    double one, other;
    roots_of(rest, rest * (lower + upper) + weights[i] + weights[i + 1],
             rest * lower * upper + weights[i] * upper + weights[i + 1] * lower, &one, &other);
    if (one > low && one < high) x = one;
    else if (other > low && other < high) x = other;
  }
  for (int step = 0; step < most_roundings; ++step) {
    const Sum under = sum_over(distances, weights, 0, p + 1, x), over = sum_over(distances, weights, p + 1, count, x);
    const double value = 1 + under.value + over.value, slope = under.slope + over.slope;
    const double error = 8 * (1 + under.size + over.size) + absolute(x) * slope;
    if (!(absolute(value) > 0x1p-53 * error)) break;
    if (value < 0) low = x;
    else high = x;
    const double to_lower = distances[p] - x, to_upper = distances[p + 1] - x;
    const double c = value - to_lower * under.slope - to_upper * over.slope;
    double one, other;
    roots_of(c, (to_lower + to_upper) * value - to_lower * to_upper * slope, to_lower * to_upper * value, &one, &other);
    double next = x + one;
    if (!(next > low && next < high)) next = x + other;
    if (!(next > low && next < high) || (step > 10 && step % 2)) {
      // Near a pole the root's magnitude is not known either, so halves go by magnitudes there.
      if (low > 0) next = root_of(low) * root_of(high);
      else if (high < 0) next = -root_of(-low) * root_of(-high);
      else next = low == 0 ? high * 0x1p-6 : low * 0x1p-6;
      if (step > 40) next = 0.5 * (low + high);
    }
    if (next == x || !(next > low && next < high)) break;
    x = next;
  }
  for (int64_t k = 0; k < count; ++k) distances[k] -= x;
  return base + x;
}

// Blocks [begin, middle) and [middle, end) have eigenvalues in d and vectors in rows; what couples them is
// `coupling` (u + sign v)(u + sign v)^T, u the last and v the first unit vector of the two. Then [begin, end) has. In one piece: each step of the merge uses the order of the one before.
template <typename T>
void put_together(Work<T> &w, Problem<T> &p, int64_t begin, int64_t middle, int64_t end, double coupling) {
  const int64_t n = p.n, size = end - begin, size1 = middle - begin, size2 = end - middle;
  T *const rows = p.rows + begin * n;
  double *const d = p.d + begin, *const z = p.z + begin;
  int64_t *const order = p.order + begin, *const spare = p.spare_order + begin;
  const double rho = absolute(coupling);
  double most = 0, most_z = 0;
  for (int64_t i = 0; i < size; ++i) {
    z[i] = i < size1 ? double(rows[i * n + middle - 1]) : double(rows[i * n + middle]) * (coupling < 0 ? -1 : 1);
    most = max_of(most, absolute(d[i])), most_z = max_of(most_z, absolute(z[i]));
  }
  const double tolerance = 8 * rounding<T> * max_of(most, rho * most_z);
  sort_by(d, size, order, spare);

  // Which values stay as they are: those that are hardly coupled, and one of two that are equal, after a rotation.
  enum : uint8_t { upper = 1,
                   lower = 2 };  // where a row has values
  const auto where = [&](int64_t i) -> uint8_t { return i < size1 ? upper : lower; };
  int64_t *const taken = spare;                                            // ascending
  uint8_t *const places = reinterpret_cast<uint8_t *>(p.squares + begin);  // until squares are needed
  for (int64_t i = 0; i < size; ++i) places[i] = where(i);
  int64_t count = 0, candidate = -1;
  for (int64_t at = 0; at < size; ++at) {
    const int64_t next = order[at];
    if (rho * absolute(z[next]) <= tolerance) continue;
    if (candidate >= 0) {
      const double length = root_of(z[candidate] * z[candidate] + z[next] * z[next]);
      const double c = z[next] / length, s = -z[candidate] / length, gap = d[next] - d[candidate];
      if (absolute(gap * c * s) <= tolerance) {
        z[next] = length;
        T *WRY_RESTRICT x = rows + candidate * n + begin, *WRY_RESTRICT y = rows + next * n + begin;
        const T cosine = T(c), sine = T(s);
        for (int64_t k = 0; k < size; ++k) {
          const T kept = x[k];
          x[k] = cosine * kept + sine * y[k];
          y[k] = cosine * y[k] - sine * kept;
        }
        places[next] |= places[candidate];
        const double one = d[candidate], other = d[next];
        d[candidate] = one * c * c + other * s * s, d[next] = one * s * s + other * c * c;
      } else {
        taken[count++] = candidate;
      }
    }
    candidate = next;
  }
  if (candidate >= 0) taken[count++] = candidate;
  if (count == 0) return;

  // Rows that have values above only, both, below only: products leave out what is zero.
  int64_t *const position = order;
  int64_t groups[3] = {0, 0, 0}, next[3];
  const auto group_of = [&](int64_t i) { return places[i] == upper ? 0 : places[i] == lower ? 2
                                                                                            : 1; };
  for (int64_t k = 0; k < count; ++k) ++groups[group_of(taken[k])];
  next[0] = 0, next[1] = groups[0], next[2] = groups[0] + groups[1];
  const int64_t from2 = groups[0], above = groups[0] + groups[1], below = count - from2;
  T *const packed1 = p.packed + begin * n, *const packed2 = packed1 + above * size1;
  double *const poles = p.e + begin, *const weights = p.weights + begin;  // e is done with
  for (int64_t k = 0; k < count; ++k) {
    const int64_t i = taken[k], to = next[group_of(i)]++;
    position[k] = to;
    if (to < above) memcpy(packed1 + to * size1, rows + i * n + begin, size_t(size1) * sizeof(T));
    if (to >= from2) memcpy(packed2 + (to - from2) * size2, rows + i * n + middle, size_t(size2) * sizeof(T));
  }
  for (int64_t k = 0; k < count; ++k) weights[k] = z[taken[k]], poles[k] = d[taken[k]];
  double *const roots = z;
  // The others go to the end, from the last on, where rows are free.
  for (int64_t i = 0; i < size; ++i) places[i] = 0;
  for (int64_t k = 0; k < count; ++k) places[taken[k]] = 1;
  for (int64_t i = size - 1, to = size - 1; i >= 0; --i)
    if (!places[i]) {
      if (to != i) memcpy(rows + to * n + begin, rows + i * n + begin, size_t(size) * sizeof(T)), d[to] = d[i];
      --to;
    }
  double *const distances = p.distances + begin * n;  // [count, count]
  double *const squares = p.squares + begin;
  for (int64_t k = 0; k < count; ++k) squares[k] = rho * weights[k] * weights[k];
  constexpr int64_t block = 8;
  each(w, (count + block - 1) / block, [&](int64_t piece) {
    for (int64_t j = piece * block; j < min_of(count, (piece + 1) * block); ++j)
      roots[j] = find_root(count, j, poles, squares, distances + j * count);
  });
  // The z for which the roots are exact. Its vectors are orthogonal, whatever errors the roots have.
  constexpr int64_t stretch = 64;
  each(w, (count + stretch - 1) / stretch, [&](int64_t piece) {
    const int64_t first = piece * stretch, after = min_of(count, first + stretch);
    double products[stretch];
    for (int64_t k = first; k < after; ++k) products[k - first] = 1;
    for (int64_t j = 0; j < count; ++j) {
      const double *WRY_RESTRICT from = distances + j * count;
      const double pole = poles[j];
      const int64_t split = min_of(max_of(j, first), after), rest = min_of(max_of(j + 1, first), after);
      for (int64_t k = first; k < split; ++k) products[k - first] *= from[k] / (poles[k] - pole);
      if (j >= first && j < after) products[j - first] *= from[j];
      for (int64_t k = rest; k < after; ++k) products[k - first] *= from[k] / (poles[k] - pole);
    }
    for (int64_t k = first; k < after; ++k) {
      const double length = root_of(absolute(products[k - first]));
      weights[k] = weights[k] < 0 ? -length : length;
    }
  });
  T *const coefficients = p.a + begin * n;  // [count, count]
  each(w, (count + block - 1) / block, [&](int64_t piece) {
    for (int64_t j = piece * block; j < min_of(count, (piece + 1) * block); ++j) {
      double *WRY_RESTRICT row = distances + j * count;
      for (int64_t k = 0; k < count; ++k) row[k] = weights[k] / row[k];
      const double factor = 1 / root_of(sum_of_squares(count, row));
      T *const to = coefficients + j * count;
      for (int64_t k = 0; k < count; ++k) to[position[k]] = T(row[k] * factor);
    }
  });
  for (int64_t j = 0; j < count; ++j) d[j] = roots[j];
  multiply(w, count, size1, above, Matrix<T>{coefficients, count, 1}, Matrix<T>{packed1, size1, 1}, rows + begin, n, false);
  multiply(w, count, size2, below, Matrix<T>{coefficients + from2, count, 1}, Matrix<T>{packed2, size2, 1}, rows + middle, n, false);
}

// All eigenvalues of the three diagonals into d, in no order, their vectors as rows.
template <typename T>
bool divide(Work<T> &w, Problem<T> &p) {
  const int64_t n = p.n;
  int64_t parts = 1;
  while ((n + parts - 1) / parts > leaf) parts *= 2;
  const auto boundary = [&](int64_t i) { return n * i / parts; };
  memset((void *)p.rows, 0, size_t(n * n) * sizeof(T));
  for (int64_t i = 1; i < parts; ++i) {
    const int64_t m = boundary(i);
    p.couplings[m] = p.e[m - 1];
    p.d[m - 1] -= absolute(p.e[m - 1]), p.d[m] -= absolute(p.e[m - 1]);
  }
  int failed = 0;
  each(w, parts, [&](int64_t i) {
    const int64_t begin = boundary(i), size = boundary(i + 1) - begin;
    for (int64_t r = begin; r < begin + size; ++r) p.rows[r * n + r] = T(1);
    if (!turn_diagonal(size, p.d + begin, p.e + begin, p.rows + begin * n + begin, size, n)) __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
  });
  if (failed) return false;
  for (int64_t step = 1; step < parts; step *= 2) {
    const int64_t pairs = parts / (2 * step);
    const bool apart = pairs >= 4;
    Work<T> own = w;
    if (apart) own.threaded = false;
    const auto pair = [&](int64_t i) {
      const int64_t middle = boundary((2 * i + 1) * step);
      put_together(own, p, boundary(2 * i * step), middle, boundary((2 * i + 2) * step), p.couplings[middle]);
    };
    if (apart) each(w, pairs, pair);
    else
      for (int64_t i = 0; i < pairs; ++i) pair(i);
  }
  return true;
}

// The eigenvalues of p.a, both halves of which are given, into p.d, ascending or descending, and eigenvectors into the
// columns of p.packed.
template <typename T>
bool solve_symmetric(Work<T> &w, Problem<T> &p, bool vectors, bool descending) {
  const int64_t n = p.n;
  reduce_to_three(w, p, vectors);
  const bool small = n <= leaf;
  if (small && vectors) gather_rows(p);
  if (!vectors ? !turn_values(n, p.d, p.e) : small ? !turn_diagonal(n, p.d, p.e, p.rows, n, n)
                                                   : !divide(w, p)) return false;
  if (descending)
    for (int64_t i = 0; i < n; ++i) p.d[i] = -p.d[i];
  sort_by(p.d, n, p.order, p.spare_order);
  for (int64_t i = 0; i < n; ++i) p.z[i] = descending ? -p.d[p.order[i]] : p.d[p.order[i]];
  memcpy(p.d, p.z, size_t(n) * sizeof(double));
  if (!vectors) return true;
  turn_rows(n, n, p.rows, p.order, p.packed, n);
  if (!small) reflect_columns(w, p, p.packed);
  return true;
}

// ---- kernels ------------------------------------------------------------------------------------

enum Outcome : int8_t { fine,
                        not_finite,
                        not_converged };

// The power of two that the largest magnitude of x is below, or no number of that kind.
template <typename T>
bool exponent_of(int64_t count, const T *x, int *exponent) {
  T most = 0, any = 0;
  for (int64_t i = 0; i < count; ++i) {
    most = max_of(most, x[i] < 0 ? -x[i] : x[i]);
    any += x[i] - x[i];  // NaN where a value is not finite
  }
  if (any != 0 || any != any) return false;
  *exponent = 0;
  if (most > 0) __builtin_frexp(double(most), exponent);
  *exponent = max_of(-1000, min_of(1000, *exponent));
  return true;
}

int report(const wry_call *call, const char *op, const int8_t *outcomes, int64_t count, int64_t rows, int64_t columns) {
  for (int64_t at = 0; at < count; ++at)
    if (outcomes[at] != fine) {
      const bool finite = outcomes[at] == not_converged;
      return fail(call, WRY_INVALID,
                  "%s: the iteration did not converge. Got a matrix of shape [%lld, %lld] %s, expected finite values of moderate "
                  "size. %s.",
                  op, (long long)rows, (long long)columns, finite ? "whose values are all finite" : "with values that are not finite",
                  finite ? "Scale it, or use float64" : "Look for NaN and infinity before the call");
    }
  return WRY_OK;
}

// Eigenvalues into `values` and, unless it is null, vectors. T is what is computed with.
template <typename T, typename Data>
int symmetric(const wry_call *call, const char *op, const wry_tensor *values, const wry_tensor *vectors) {
  const wry_tensor *x = input(call, 0);
  if (x->size == 0) return WRY_OK;
  const int64_t n = columns_of(x), count = x->size / (n * n);
  const bool upper = attr_bool(call, 0);
  int8_t *const outcomes = workspace<int8_t>(call, count);
  if (!outcomes) return fail_memory(call, op, count);
  constexpr int64_t ratio = sizeof(double) / sizeof(T);
  const int64_t wide = Problem<T>::doubles(n) * ratio;
  const int status = for_each_matrix<T>(call, op, count, 4 * n * n * n, wide + Problem<T>::values(n) / ratio * ratio + 2 * ratio, n, n, n, [&](Work<T> &w, int64_t at) {
    const Data *from = data<Data>(x) + at * n * n;
    Problem<T> p(n, w.spare + wide, reinterpret_cast<double *>(w.spare));
    int exponent;
    if (!exponent_of(n * n, from, &exponent)) {
      outcomes[at] = not_finite;
      return;
    }
    const double scale = __builtin_ldexp(1.0, -exponent);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        const T value = T(double(upper ? from[j * n + i] : from[i * n + j]) * scale);
        p.a[i * n + j] = p.a[j * n + i] = value;
      }
    outcomes[at] = solve_symmetric(w, p, vectors != nullptr, false) ? fine : not_converged;
    if (outcomes[at] != fine) return;
    for (int64_t i = 0; i < n; ++i) data<Data>(values)[at * n + i] = Data(__builtin_ldexp(p.d[i], exponent));
    if (vectors)
      for (int64_t i = 0; i < n * n; ++i) data<Data>(vectors)[at * n * n + i] = Data(p.packed[i]);
  });
  return status == WRY_OK ? report(call, op, outcomes, count, n, n) : status;
}

// Small matrices of floats cost hardly more in float64.
template <typename T>
int eigh(const wry_call *call) {
  if (columns_of(input(call, 0)) <= leaf) return symmetric<double, T>(call, "eigh", output(call, 0), output(call, 1));
  return symmetric<T, T>(call, "eigh", output(call, 0), output(call, 1));
}

template <typename T>
int eigvalsh(const wry_call *call) {
  if (columns_of(input(call, 0)) <= leaf) return symmetric<double, T>(call, "eigvalsh", output(call, 0), nullptr);
  return symmetric<T, T>(call, "eigvalsh", output(call, 0), nullptr);
}

// Singular values below this part of the largest have vectors from reflections: dividing by them would leave errors of
// float64 divided by its square.
inline constexpr double least_quotient = 1e-3;

// What svd computes of b [m, n], m >= n, in float64: singular values, and columns of both bases, of which `columns`
// are wanted on the side of m.
struct Singular {
  int64_t m, n, columns;
  double *b, *products, *basis, *blocks, *v, *turned, *values;
  int64_t *order;
  double *memory;

  static int64_t doubles(int64_t m, int64_t n, int64_t columns) {
    const int64_t blocks = (n + panel - 1) / panel * panel * panel, widest = max_of(max_of(n, columns), panel);
    return 2 * m * n + m * columns + blocks + m * panel + 2 * panel * widest + 2 * n + Problem<double>::values(n) + Problem<double>::doubles(n);
  }
  Singular(int64_t m, int64_t n, int64_t columns, double *at) : m(m), n(n), columns(columns) {
    const int64_t widest = max_of(max_of(n, columns), panel);
    b = at, products = b + m * n, basis = products + m * n, blocks = basis + m * columns;
    v = blocks + (n + panel - 1) / panel * panel * panel, turned = v + m * panel, values = turned + 2 * panel * widest;
    order = reinterpret_cast<int64_t *>(values + n), memory = values + 2 * n;
  }
};

// Afterwards s.basis [m, columns] and p.packed [n, n] hold the bases, s.values singular values, s.order how they descend.
bool solve_singular(Work<double> &w, Singular &s, Problem<double> &p) {
  const int64_t m = s.m, n = s.n, columns = s.columns;
  constexpr int64_t strip = 128;  // what is below the diagonal is not computed
  for (int64_t i = 0; i < n; i += strip)
    multiply(w, min_of(strip, n - i), n - i, m, Matrix<double>{s.b + i, 1, n}, Matrix<double>{s.b + i, n, 1}, p.a + i * n + i, n, false);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) p.a[i * n + j] = p.a[j * n + i];
  if (!solve_symmetric(w, p, true, true)) return false;
  multiply(w, m, n, n, Matrix<double>{s.b, n, 1}, Matrix<double>{p.packed, n, 1}, s.products, n, false);
  for (int64_t j = 0; j < n; ++j) s.values[j] = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) s.values[j] += s.products[i * n + j] * s.products[i * n + j];
  double most = 0, least = s.values[0];
  for (int64_t j = 0; j < n; ++j) most = max_of(most, s.values[j]), least = min_of(least, s.values[j]);
  if (columns == n && least > least_quotient * least_quotient * most) {
    for (int64_t j = 0; j < n; ++j) s.values[j] = root_of(s.values[j]), p.z[j] = 1 / s.values[j];
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) s.basis[i * columns + j] = s.products[i * n + j] * p.z[j];
  } else {
    factor_qr(w, Reflections<double>{s.v, s.turned, s.turned + panel * max_of(max_of(n, columns), panel)}, m, n, s.products, s.basis,
              columns, s.blocks);
    for (int64_t j = 0; j < n; ++j) s.values[j] = absolute(s.products[j * n + j]), p.z[j] = s.products[j * n + j] < 0 ? -1 : 1;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) s.basis[i * columns + j] *= p.z[j];
  }
  for (int64_t j = 0; j < n; ++j) p.z[j] = -s.values[j];
  sort_by(p.z, n, s.order, p.spare_order);
  return true;
}

int svd(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *u = output(call, 0), *values = output(call, 1), *vh = output(call, 2);
  const int64_t rows = rows_of(x), width = columns_of(x);
  if (rows == 0 || width == 0) {  // the bases are those of the whole space
    const wry_tensor *const bases[] = {u, vh};
    for (const wry_tensor *out : bases) {
      const int64_t ld = out->size ? columns_of(out) : 1, size = out->size ? rows_of(out) * ld : 1;
      for (int64_t i = 0; i < out->size; ++i) data<float>(out)[i] = float(i % size / ld == i % ld);
    }
    return WRY_OK;
  }
  if (x->size == 0) return WRY_OK;
  const bool tall = rows >= width;
  const int64_t m = max_of(rows, width), n = min_of(rows, width), count = x->size / (m * n);
  const wry_tensor *long_side = tall ? u : vh;
  const int64_t columns = long_side->size / (count * m);
  int8_t *const outcomes = workspace<int8_t>(call, count);
  if (!outcomes) return fail_memory(call, "svd", count);
  const int64_t spare = Singular::doubles(m, n, columns), widest = max_of(m, columns);
  const int status = for_each_matrix<double>(call, "svd", count, 4 * m * n * widest, spare, m, widest, m, [&](Work<double> &w, int64_t at) {
    const float *from = data<float>(x) + at * m * n;
    Singular s(m, n, columns, w.spare);
    Problem<double> p(n, s.memory, s.memory + Problem<double>::values(n));
    int exponent;
    if (!exponent_of(m * n, from, &exponent)) {
      outcomes[at] = not_finite;
      return;
    }
    const double scale = __builtin_ldexp(1.0, -exponent);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) s.b[i * n + j] = double(tall ? from[i * n + j] : from[j * m + i]) * scale;
    outcomes[at] = solve_singular(w, s, p) ? fine : not_converged;
    if (outcomes[at] != fine) return;
    for (int64_t j = 0; j < n; ++j) data<float>(values)[at * n + j] = float(__builtin_ldexp(s.values[s.order[j]], exponent));
    float *const to_u = data<float>(u) + at * (tall ? m * columns : n * n), *const to_vh = data<float>(vh) + at * (tall ? n * n : m * columns);
    const auto put = [&](const double *basis, int64_t length, int64_t ld, bool turned, float *to) {
      for (int64_t i0 = 0; i0 < length; i0 += 16)
        for (int64_t j = 0; j < ld; ++j) {
          const int64_t source = j < n ? s.order[j] : j;
          for (int64_t i = i0; i < min_of<int64_t>(length, i0 + 16); ++i)
            to[turned ? j * length + i : i * ld + j] = float(basis[i * ld + source]);
        }
    };
    put(tall ? s.basis : p.packed, tall ? m : n, tall ? columns : n, false, to_u);
    put(tall ? p.packed : s.basis, tall ? n : m, tall ? n : columns, true, to_vh);
  });
  return status == WRY_OK ? report(call, "svd", outcomes, count, rows, width) : status;
}

const wry_kernel_entry table[] = {
    WRY_ROW("eigh", float, WRY_WANTS_CONTIGUOUS, eigh),
    WRY_ROW("eigh", double, WRY_WANTS_CONTIGUOUS, eigh),
    WRY_ROW("eigvalsh", float, WRY_WANTS_CONTIGUOUS, eigvalsh),
    WRY_ROW("eigvalsh", double, WRY_WANTS_CONTIGUOUS, eigvalsh),
    WRY_PLAIN_ROW("svd", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, svd),
};

}  // namespace
WRY_TABLE(eigen, table)

}  // namespace WRY_NAMESPACE
