// Factorizations of dense matrices by rotations and reflections: QR, eigenvalues of Hermitian matrices and of any, singular values;
// and the exponential of a matrix.
//
// One block for each matrix, as in linalg.cu: many small ones are quick, a large one uses one multiprocessor. QR by Householder's
// reflections, with LAPACK's signs. Eigenvalues and singular values by Jacobi's rotations: half as many pairs as there are
// columns are disjoint, and turned at once (Brent & Luk, "The solution of singular-value and symmetric eigenvalue problems on multiprocessor
// arrays", 1985); singular values from one side (Hestenes, 1958), which also keeps small ones exact. A matrix with NaN, or that
// many sweeps do not solve, is reported by the next call that waits: the first of the batch.
#include "matrices.h"
#include "totals.h"

namespace wherry {
namespace cuda {
namespace {

template <typename R>
constexpr R rounding = sizeof(R) == 4 ? R(0x1p-24) : R(0x1p-53);
constexpr int most_sweeps = 40;  // ten are usual
constexpr int64_t most_blocks = 1024;

template <typename T>
WRY_GPU real_of<T> square_of(T x) {
  if constexpr (is_complex<T>::value) return x.re * x.re + x.im * x.im;
  else return x * x;
}
template <typename T>
WRY_GPU real_of<T> imaginary_part(T x) {
  if constexpr (is_complex<T>::value) return x.im;
  else return 0;
}
template <typename T>
WRY_GPU T times(T x, real_of<T> by) {
  if constexpr (is_complex<T>::value) return T(x.re * by, x.im * by);
  else return x * by;
}
template <typename T>
WRY_GPU bool is_finite(T x) { return real_part(x) - real_part(x) == 0 && imaginary_part(x) - imaginary_part(x) == 0; }
// The power of two that makes the largest of n numbers lie in [1, 2), or 1; false, in every thread, when one is not finite.
template <typename T>
WRY_GPU bool scale_of(const T *x, int64_t n, real_of<T> *scale) {
  using R = real_of<T>;
  R most = 0;
  bool wrong = false;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const R here = fmax(fabs(real_part(x[i])), fabs(imaginary_part(x[i])));
    most = here > most ? here : most;
    wrong = wrong || !is_finite(x[i]);
  }
  if (__syncthreads_or(wrong)) return false;
  most = block_largest(most);
  const int limit = sizeof(R) == 4 ? 120 : 1000, exponent = most > 0 ? ilogb(most) : 0;
  *scale = R(scalbn(1.0, exponent > limit ? -limit : exponent < -limit ? limit
                                                                       : -exponent));
  return true;
}

// What each matrix could not do: 0, or a fault. The first is reported.
__global__ void __launch_bounds__(block_size) report_outcomes(int64_t count, const int32_t *outcomes, Report *report, int32_t op) {
  WRY_SHARED(unsigned long long, first, 1);
  if (threadIdx.x == 0) first[0] = (unsigned long long)count;
  __syncthreads();
  for (int64_t at = threadIdx.x; at < count; at += blockDim.x)
    if (outcomes[at]) atomicMin(first, (unsigned long long)at);
  __syncthreads();
  if (threadIdx.x == 0 && int64_t(first[0]) < count) raise(report, Fault(outcomes[first[0]]), op, 0, 0, int64_t(first[0]));
}
int report_all(const wry_call *call, const char *op, int64_t count, const int32_t *outcomes) {
  int32_t number;
  Report *report = arm(call, op, &number);
  return check(call, wry_launch(report_outcomes, dim3(1), dim3(threads_for(count)), 0, stream(call), count, outcomes, report, number));
}

// ---- reflections ----------------------------------------------------------------------------------

// x -= v (v^H x) factor for columns [begin, end) of x [m, ld], of which rows from j on count; v is column j of a [m, width], 1 at j.
template <typename T>
WRY_GPU void reflect(int64_t m, int64_t j, const T *a, int64_t width, T factor, T *x, int64_t ld, int64_t begin, int64_t end) {
  WRY_SHARED(T, part, block_size);
  int columns = 1;
  while (columns < 32 && columns < end - begin) columns *= 2;
  const int rows = blockDim.x / columns, column = threadIdx.x % columns, row = threadIdx.x / columns;
  for (int64_t first = begin; first < end; first += columns) {
    const int64_t c = first + column;
    T sum = T(0);
    if (c < end)
      for (int64_t i = j + row; i < m; i += rows) sum = sum + (i == j ? x[i * ld + c] : conjugate(a[i * width + j]) * x[i * ld + c]);
    __syncthreads();
    part[threadIdx.x] = sum;
    __syncthreads();
    T total = T(0);
    for (int r = 0; r < rows; ++r) total = total + part[r * columns + column];
    total = total * factor;
    if (c < end)
      for (int64_t i = j + row; i < m; i += rows) x[i * ld + c] = x[i * ld + c] - (i == j ? total : a[i * width + j] * total);
  }
  __syncthreads();
}
// Of column j of a [m, n] from row j on: beta in row j, and below it v of I - scale v v^H, which has 1 in row j. Every thread gets the scale.
template <typename T>
WRY_GPU T begin_reflection(int64_t m, int64_t j, T *a, int64_t n) {
  using R = real_of<T>;
  __syncthreads();
  R most = 0;
  for (int64_t i = j + threadIdx.x; i < m; i += blockDim.x) most = fmax(most, fmax(fabs(real_part(a[i * n + j])), fabs(imaginary_part(a[i * n + j]))));
  most = block_largest(most);
  const T alpha = a[j * n + j];
  const R inverse = most > 0 ? R(1) / most : R(0);
  R tail = 0;
  if (inverse - inverse == 0)
    for (int64_t i = j + 1 + threadIdx.x; i < m; i += blockDim.x) tail += square_of(times(a[i * n + j], inverse));
  tail = block_sum(tail);  // waits: everybody has read alpha
  if (tail == 0 && imaginary_part(alpha) == 0) return T(0);
  const R length = most * sqrt(square_of(times(alpha, inverse)) + tail), beta = real_part(alpha) < 0 ? length : -length;
  const T factor = inverse_of(alpha - T(beta));
  for (int64_t i = j + 1 + threadIdx.x; i < m; i += blockDim.x) a[i * n + j] = a[i * n + j] * factor;
  if (threadIdx.x == 0) a[j * n + j] = T(beta);
  return times(T(beta) - alpha, R(1) / beta);
}
// a [m, n] becomes R, and below it reflections I - scales[j] v v^H whose product is Q.
template <typename T>
WRY_GPU void factor_qr(int64_t m, int64_t n, T *a, T *scales) {
  for (int64_t j = 0; j < m && j < n; ++j) {
    const T scale = begin_reflection(m, j, a, n);
    if (threadIdx.x == 0) scales[j] = scale;
    __syncthreads();
    if (scale != T(0)) reflect(m, j, a, n, conjugate(scale), a, n, j + 1, n);
  }
  __syncthreads();
}
// The first `columns` columns of Q.
template <typename T>
WRY_GPU void form_q(int64_t m, int64_t n, int64_t columns, const T *a, const T *scales, T *q) {
  for (int64_t e = threadIdx.x; e < m * columns; e += blockDim.x) q[e] = T(e / columns == e % columns ? 1 : 0);
  __syncthreads();
  for (int64_t j = (m < n ? m : n) - 1; j >= 0; --j)
    if (scales[j] != T(0)) reflect(m, j, a, n, scales[j], q, columns, j, columns);
}

template <typename T>
__global__ void __launch_bounds__(block_size, 1) factor_all(int64_t count, int64_t m, int64_t n, int64_t middle, const T *x, T *q, T *r, T *scratch) {
  const int64_t steps = m < n ? m : n;
  T *const a = scratch + blockIdx.x * (m * n + steps), *const scales = a + m * n;
  for (int64_t at = blockIdx.x; at < count; at += gridDim.x) {
    for (int64_t e = threadIdx.x; e < m * n; e += blockDim.x) a[e] = x[at * m * n + e];
    factor_qr(m, n, a, scales);
    for (int64_t e = threadIdx.x; e < middle * n; e += blockDim.x) r[at * middle * n + e] = e / n <= e % n ? a[e] : T(0);
    form_q(m, n, middle, a, scales, q + at * m * middle);
    __syncthreads();
  }
}
template <typename T>
__global__ void __launch_bounds__(block_size) fill_bases(int64_t size, int64_t rows, int64_t columns, T *out) {
  for
    WRY_EACH(i, size)
  out[i] = T(i / columns % rows == i % columns ? 1 : 0);
}
template <typename T>
int fill_basis(const wry_call *call, const wry_tensor *out) {
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  return check(call, wry_launch(fill_bases<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, rows_of(out), columns_of(out),
                                data<T>(out)));
}
template <typename T>
int qr(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *q = output(call, 0), *r = output(call, 1);
  const int64_t m = rows_of(x), n = columns_of(x), middle = columns_of(q), steps = m < n ? m : n;
  if (x->size == 0) return fill_basis<T>(call, q);
  const int64_t count = x->size / (m * n), blocks = some_blocks(count, most_blocks);
  T *scratch = workspace<T>(call, blocks * (m * n + steps));
  if (!scratch) return fail_memory(call, "qr", blocks * (m * n + steps) * int64_t(sizeof(T)));
  return check(call, wry_launch(factor_all<T>, dim3(unsigned(blocks)), dim3(threads_for(m * n / 2 + 1)), 0, stream(call), count, m, n, middle, data<T>(x),
                                data<T>(q), data<T>(r), scratch));
}

// ---- rotations ------------------------------------------------------------------------------------

// Pair k of round r of a tournament of `players`, an even number.
WRY_GPU void pair_of_round(int64_t players, int64_t r, int64_t k, int64_t *p, int64_t *q) {
  const int64_t others = players - 1, a = k == 0 ? others : (r + k) % others, b = (r - k + others) % others;
  *p = a < b ? a : b, *q = a < b ? b : a;
}

// Of a rotation: q is turned first, so that its product with p is real.
template <typename T>
struct Turn {
  real_of<T> c, sine;
  T turn;
};
template <typename T>
WRY_GPU void rotate(const Turn<T> &t, T *p, T *q) {
  const T turned = *q * t.turn, kept = *p;
  *p = times(kept, t.c) - times(turned, t.sine);
  *q = times(kept, t.sine) + times(turned, t.c);
}
template <typename T>
WRY_GPU Turn<T> turn_of(real_of<T> a, real_of<T> b, T product, real_of<T> size) {
  using R = real_of<T>;
  const R half = (b - a) / (2 * size), root = fabs(half) > R(1e15) ? fabs(half) : sqrt(1 + half * half);
  const R tangent = (half < 0 ? R(-1) : R(1)) / (fabs(half) + root), c = R(1) / sqrt(1 + tangent * tangent);
  return {c, tangent * c, times(conjugate(product), R(1) / size)};
}

// Where value i of n comes in ascending order; equal ones keep theirs.
template <typename R>
WRY_GPU int64_t rank_of(const R *values, int64_t n, int64_t i) {
  int64_t rank = 0;
  const R mine = values[i];
  for (int64_t j = 0; j < n; ++j) rank += values[j] < mine || (values[j] == mine && j < i);
  return rank;
}

// a [n, n] and the vectors z [n, n] of a block, its pairs' turns. In one piece: all phases share the block's memory and barriers.
template <typename T>
__global__ void __launch_bounds__(block_size, 1) solve_hermitian(int64_t count, int64_t n, bool upper, const T *x, real_of<T> *w, T *v, T *scratch,
                                                                 Turn<T> *turns, int32_t *outcomes) {
  using R = real_of<T>;
  const int64_t players = n + n % 2, half = players / 2;
  T *const a = scratch + blockIdx.x * 2 * n * n, *const z = a + n * n;
  Turn<T> *const turn = turns + blockIdx.x * half;
  for (int64_t at = blockIdx.x; at < count; at += gridDim.x) {
    const T *const from = x + at * n * n;
    R scale = 1;
    const bool fine = scale_of(from, n * n, &scale);
    R squares = 0;
    for (int64_t e = threadIdx.x; e < n * n; e += blockDim.x) {
      const int64_t i = e / n, j = e % n;
      T value = T(0);
      if (fine) {
        const bool given = upper ? i <= j : i >= j;
        value = times(given ? from[e] : conjugate(from[j * n + i]), scale);
        if (i == j) value = T(real_part(value));
      }
      a[e] = value;
      z[e] = T(i == j ? 1 : 0);
      squares += square_of(value);
    }
    const R nothing = 2 * rounding<R> * sqrt(block_sum(squares));
    bool turned = true, far = false;
    for (int sweep = 0; sweep < most_sweeps && turned; ++sweep) {
      turned = far = false;
      for (int64_t round = 0; round + 1 < players; ++round) {
        for (int64_t k = threadIdx.x; k < half; k += blockDim.x) {
          int64_t p, q;
          pair_of_round(players, round, k, &p, &q);
          turn[k] = {R(1), R(0), T(1)};
          if (q >= n) continue;
          const T product = a[p * n + q];
          const R size = sqrt(square_of(product));
          if (!(size > nothing)) continue;
          turn[k] = turn_of(real_part(a[p * n + p]), real_part(a[q * n + q]), product, size);
          turned = true;
          far = far || size > 1000 * nothing;
        }
        __syncthreads();
        for (int64_t e = threadIdx.x; e < half * n; e += blockDim.x) {
          const int64_t i = e / half, k = e % half;
          int64_t p, q;
          pair_of_round(players, round, k, &p, &q);
          const Turn<T> t = turn[k];
          if (q >= n || t.sine == 0) continue;
          rotate(t, a + i * n + p, a + i * n + q);
          rotate(t, z + i * n + p, z + i * n + q);
        }
        __syncthreads();
        for (int64_t e = threadIdx.x; e < half * n; e += blockDim.x) {
          const int64_t k = e / n, j = e % n;
          int64_t p, q;
          pair_of_round(players, round, k, &p, &q);
          Turn<T> t = turn[k];
          if (q >= n || t.sine == 0) continue;
          t.turn = conjugate(t.turn);
          T top = a[p * n + j], low = a[q * n + j];
          rotate(t, &top, &low);
          a[p * n + j] = j == q ? T(0) : j == p ? T(real_part(top))
                                                : top;
          a[q * n + j] = j == p ? T(0) : j == q ? T(real_part(low))
                                                : low;
        }
        __syncthreads();
      }
      turned = __syncthreads_or(turned) != 0;
    }
    far = __syncthreads_or(far) != 0;
    if (threadIdx.x == 0) outcomes[at] = !fine ? HOLDS_NO_NUMBER : turned && far ? DOES_NOT_CONVERGE
                                                                                 : NO_FAULT;
    R *const values = reinterpret_cast<R *>(turn);  // as many as there are, at least
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) values[i] = real_part(a[i * n + i]);
    __syncthreads();
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const int64_t rank = rank_of(values, n, i);
      w[at * n + rank] = values[i] / scale;
      if (v)
        for (int64_t j = 0; j < n; ++j) v[at * n * n + j * n + rank] = z[j * n + i];
    }
    __syncthreads();
  }
}
template <typename T>
int hermitian(const wry_call *call, const char *op, real_of<T> *w, T *v) {
  const wry_tensor *x = input(call, 0);
  if (x->size == 0) return WRY_OK;
  const int64_t n = columns_of(x), count = x->size / (n * n), blocks = some_blocks(count, most_blocks), half = (n + 1) / 2;
  T *scratch = workspace<T>(call, blocks * 2 * n * n);
  Turn<T> *turns = workspace<Turn<T>>(call, blocks * half);
  int32_t *outcomes = workspace<int32_t>(call, count);
  if (!scratch || !turns || !outcomes) return fail_memory(call, op, blocks * (2 * n * n * int64_t(sizeof(T)) + half * int64_t(sizeof(Turn<T>))));
  WRY_TRY(wry_launch(solve_hermitian<T>, dim3(unsigned(blocks)), dim3(threads_for(n * half)), 0, stream(call), count, n, attr_bool(call, 0), data<T>(x), w, v,
                     scratch, turns, outcomes));
  return report_all(call, op, count, outcomes);
}
template <typename T>
int eigh(const wry_call *call) { return hermitian<T>(call, "eigh", data<real_of<T>>(output(call, 0)), data<T>(output(call, 1))); }
template <typename T>
int eigvalsh(const wry_call *call) { return hermitian<T>(call, "eigvalsh", data<real_of<T>>(output(call, 0)), nullptr); }

// ---- singular values ------------------------------------------------------------------------------

template <typename R>
WRY_GPU R warp_sum(R value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}
template <typename T>
WRY_GPU T warp_total(T value) {
  if constexpr (is_complex<T>::value) return T(warp_sum(value.re), warp_sum(value.im));
  else return warp_sum(value);
}

// Of x [rows, columns] or its adjoint, whichever is tall: [m, n]. `wide` is how many columns of the basis on the side of m are wanted.
struct Sizes {
  int64_t m, n, wide;
  bool tall;
};
template <typename T>
struct Scratch {  // of a block; columns of b and z are contiguous
  T *b, *z, *basis, *reflected, *scales;
  real_of<T> *values;
  static int64_t numbers(const Sizes &s) { return 2 * s.m * s.n + s.n * s.n + s.m * s.wide + 2 * s.n; }
  WRY_GPU Scratch(const Sizes &s, T *memory) {
    b = memory, reflected = b + s.m * s.n, z = reflected + s.m * s.n, basis = z + s.n * s.n, scales = basis + s.m * s.wide;
    values = reinterpret_cast<real_of<T> *>(scales + s.n);
  }
};
// In one piece: its phases share the scratch memory, the rows of each warp and the barriers between them.
template <typename T>
__global__ void __launch_bounds__(block_size, 1) solve_singular(int64_t count, Sizes s, const T *x, T *u, real_of<T> *values, T *vh, T *memory, int64_t numbers,
                                                                int32_t *outcomes) {
  using R = real_of<T>;
  const int64_t m = s.m, n = s.n, players = n + n % 2;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  const Scratch<T> own(s, memory + blockIdx.x * numbers);
  for (int64_t at = blockIdx.x; at < count; at += gridDim.x) {
    const T *const from = x + at * m * n;
    R scale = 1;
    const bool fine = scale_of(from, m * n, &scale);
    R squares = 0;
    for (int64_t e = threadIdx.x; e < m * n; e += blockDim.x) {
      const int64_t j = s.tall ? e % n : e / m, i = s.tall ? e / n : e % m;
      const T value = fine ? times(s.tall ? from[e] : conjugate(from[e]), scale) : T(0);
      own.b[j * m + i] = value;
      squares += square_of(value);
    }
    for (int64_t e = threadIdx.x; e < n * n; e += blockDim.x) own.z[e] = T(e / n == e % n ? 1 : 0);
    const R nothing = rounding<R> * sqrt(block_sum(squares)), alike = rounding<R> * (m > 4 ? sqrt(R(m)) : R(2));
    bool turned = true;
    for (int sweep = 0; sweep < most_sweeps && turned; ++sweep) {
      turned = false;
      for (int64_t round = 0; round + 1 < players; ++round) {
        __syncthreads();
        for (int64_t k = warp; k < players / 2; k += warps) {  // a warp for each pair
          int64_t p, q;
          pair_of_round(players, round, k, &p, &q);
          if (q >= n) continue;
          T *const left = own.b + p * m, *const right = own.b + q * m;
          R a = 0, b = 0;
          T product = T(0);
          for (int64_t i = lane; i < m; i += 32) {
            a += square_of(left[i]), b += square_of(right[i]);
            product = product + conjugate(left[i]) * right[i];
          }
          a = warp_sum(a), b = warp_sum(b), product = warp_total(product);
          const R size = sqrt(square_of(product)), least = sqrt(a < b ? a : b);
          // What is a rounding of the matrix has no direction.
          if (!(least > nothing) || !(size > alike * sqrt(a) * sqrt(b))) continue;
          turned = true;
          const Turn<T> t = turn_of(a, b, product, size);
          for (int64_t i = lane; i < m; i += 32) rotate(t, left + i, right + i);
          for (int64_t i = lane; i < n; i += 32) rotate(t, own.z + p * n + i, own.z + q * n + i);
        }
      }
      turned = __syncthreads_or(turned) != 0;
    }
    if (threadIdx.x == 0) outcomes[at] = !fine ? HOLDS_NO_NUMBER : turned ? DOES_NOT_CONVERGE
                                                                          : NO_FAULT;
    for (int64_t j = warp; j < n; j += warps) {
      R square = 0;
      for (int64_t i = lane; i < m; i += 32) square += square_of(own.b[j * m + i]);
      square = warp_sum(square);
      if (lane == 0) own.values[j] = -sqrt(square);  // they descend
    }
    __syncthreads();
    // Columns of length 1 in the order of their values; reflections make them orthogonal where they are short, and find those that are not there.
    for (int64_t j = warp; j < n; j += warps) {
      const int64_t rank = rank_of(own.values, n, j);
      const R length = -own.values[j], inverse = length > nothing ? R(1) / length : R(0);
      for (int64_t i = lane; i < m; i += 32) own.reflected[i * n + rank] = times(own.b[j * m + i], inverse);
      if (lane == 0) values[at * n + rank] = length / scale;
      for (int64_t i = lane; i < n; i += 32) {
        const T v = own.z[j * n + i];
        if (s.tall) vh[(at * n + rank) * n + i] = conjugate(v);
        else u[(at * n + i) * n + rank] = v;
      }
    }
    factor_qr(m, n, own.reflected, own.scales);
    form_q(m, n, s.wide, own.reflected, own.scales, own.basis);
    __syncthreads();
    for (int64_t e = threadIdx.x; e < m * s.wide; e += blockDim.x) {
      const int64_t i = s.tall ? e / s.wide : e % m, c = s.tall ? e % s.wide : e / m;
      const T value = own.basis[i * s.wide + c];
      const T signed_ = c < n && real_part(own.reflected[c * n + c]) < 0 ? T(0) - value : value;
      if (s.tall) u[at * m * s.wide + e] = signed_;
      else vh[at * m * s.wide + e] = conjugate(signed_);
    }
    __syncthreads();
  }
}
template <typename T>
int svd(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *u = output(call, 0), *values = output(call, 1), *vh = output(call, 2);
  const int64_t rows = rows_of(x), columns = columns_of(x);
  if (rows == 0 || columns == 0) {  // the bases are those of the whole space
    if (const int status = fill_basis<T>(call, u)) return status;
    return fill_basis<T>(call, vh);
  }
  if (x->size == 0) return WRY_OK;
  const bool tall = rows >= columns;
  const int64_t count = x->size / (rows * columns), blocks = some_blocks(count, most_blocks);
  const Sizes s = {tall ? rows : columns, tall ? columns : rows, tall ? columns_of(u) : rows_of(vh), tall};
  const int64_t numbers = Scratch<T>::numbers(s);
  T *memory = workspace<T>(call, blocks * numbers);
  int32_t *outcomes = workspace<int32_t>(call, count);
  if (!memory || !outcomes) return fail_memory(call, "svd", blocks * numbers * int64_t(sizeof(T)));
  WRY_TRY(wry_launch(solve_singular<T>, dim3(unsigned(blocks)), dim3(threads_for(16 * s.n)), 0, stream(call), count, s, data<T>(x), data<T>(u),
                     data<real_of<T>>(values), data<T>(vh), memory, numbers, outcomes));
  return report_all(call, "svd", count, outcomes);
}

// ---- eigenvalues of any matrix --------------------------------------------------------------------

// What a block has for one matrix: T and Q of Schur's x = Q T Q^H, vectors of T, the rotations of a sweep, the values, and which of them is the
// conjugate of which.
struct Schur {
  int64_t n;
  complex128 *t, *q, *y, *turns, *values;
  double *cosines;
  int64_t *partners;
  static WRY_BOTH int64_t numbers(int64_t n) { return 3 * n * n + 3 * n; }
  WRY_GPU Schur(int64_t n_, complex128 *memory) : n(n_) {
    t = memory, q = t + n * n, y = q + n * n, turns = y + n * n, values = turns + n;
    cosines = reinterpret_cast<double *>(values + n), partners = reinterpret_cast<int64_t *>(cosines + n);
  }
};
WRY_GPU double length_of(complex128 x) { return hypot(x.re, x.im); }
WRY_GPU complex128 root_of(complex128 x) {
  const double length = length_of(x), part = sqrt((length + fabs(x.re)) / 2);
  if (part == 0) return complex128(0);
  const double other = fabs(x.im) / (2 * part);
  return x.re < 0 ? complex128(other, x.im < 0 ? -part : part) : complex128(part, x.im < 0 ? -other : other);
}
// T becomes zero below the diagonal under the main one; Q says how.
WRY_GPU void make_hessenberg(const Schur &s) {
  const int64_t n = s.n;
  complex128 *const below = s.t + n;  // the rows from 1 on
  for (int64_t k = 0; k + 2 < n; ++k) {
    const complex128 scale = begin_reflection(n - 1, k, below, n);
    __syncthreads();
    if (scale != complex128(0)) {
      reflect(n - 1, k, below, n, conjugate(scale), below, n, k + 1, n);
      for (int64_t row = threadIdx.x; row < 2 * n; row += blockDim.x) {  // from the right: rows of T, then of Q
        complex128 *const x = (row < n ? s.t + row * n : s.q + (row - n) * n) + 1;
        complex128 sum = x[k];
        for (int64_t i = k + 1; i < n - 1; ++i) sum = sum + x[i] * below[i * n + k];
        sum = sum * scale;
        x[k] = x[k] - sum;
        for (int64_t i = k + 1; i < n - 1; ++i) x[i] = x[i] - sum * conjugate(below[i * n + k]);
      }
    }
    __syncthreads();
    for (int64_t i = k + 1 + threadIdx.x; i < n - 1; i += blockDim.x) below[i * n + k] = complex128(0);
  }
  __syncthreads();
}
// The eigenvalue of the last two rows and columns up to `high` that is nearer to the last number (Wilkinson's).
WRY_GPU complex128 shift_of(const Schur &s, int64_t high) {
  const complex128 *const last = s.t + high * s.n + high;
  const complex128 d = last[0], bc = last[-s.n] * last[-1], half = times(last[-s.n - 1] - d, 0.5), root = root_of(half * half + bc);
  const complex128 plus = half + root, minus = half - root, larger = length_of(plus) > length_of(minus) ? plus : minus;
  return larger == complex128(0) ? d : d - bc * inverse_of(larger);
}
// The part [low, high] of T that has no zero beside its diagonal yet, or high = 0 when there is none. One thread looks.
WRY_GPU void find_part(const Schur &s, double norm, int64_t *low, int64_t *high) {
  for (; *high > 0; --*high) {
    int64_t l = *high;
    for (; l > 0; --l) {
      const complex128 *const here = s.t + l * s.n + l;
      double size = length_of(here[-s.n - 1]) + length_of(here[0]);
      if (size == 0) size = norm;
      if (length_of(here[-1]) > 2 * rounding<double> * size) continue;
      s.t[l * s.n + l - 1] = complex128(0);
      break;
    }
    *low = l;
    if (l < *high) return;
  }
}
// T becomes a triangle by sweeps of rotations (Francis, 1961), each with a shift; false, in every thread, when they do not end.
WRY_GPU bool make_triangle(const Schur &s, double norm) {
  WRY_SHARED(int64_t, part, 3);  // low, high, sweeps since a value was found
  WRY_SHARED(complex128, shift, 1);
  const int64_t n = s.n;
  if (threadIdx.x == 0) part[0] = -1, part[1] = n - 1, part[2] = 0;
  for (int64_t sweep = 0; sweep <= 30 * n; ++sweep) {
    if (threadIdx.x == 0) {
      const int64_t before = part[1];
      find_part(s, norm, part, part + 1);
      part[2] = part[1] == before ? part[2] + 1 : 0;
      if (part[1] > 0)  // now and then another one, against circles
        shift[0] = part[2] % 10 == 9 ? s.t[part[1] * n + part[1]] + complex128(0.75 * length_of(s.t[part[1] * n + part[1] - 1])) : shift_of(s, part[1]);
    }
    __syncthreads();
    const int64_t low = part[0], high = part[1];
    if (high == 0) return true;
    const complex128 by = shift[0];
    __syncthreads();
    for (int64_t i = low + threadIdx.x; i <= high; i += blockDim.x) s.t[i * n + i] = s.t[i * n + i] - by;
    __syncthreads();
    for (int64_t k = low; k < high; ++k) {  // from the left, R = G ... G (T - shift)
      complex128 *const top = s.t + k * n, *const under = top + n;
      if (threadIdx.x == 0) {
        const complex128 f = top[k], g = under[k];
        const double a = length_of(f), b = length_of(g), r = hypot(a, b);
        s.cosines[k] = r == 0 ? 1 : a / r;
        s.turns[k] = r == 0 ? complex128(0) : a == 0 ? times(conjugate(g), 1 / b)
                                                     : times(times(f, 1 / a) * conjugate(g), 1 / r);
      }
      __syncthreads();
      const double c = s.cosines[k];
      const complex128 turn = s.turns[k];
      for (int64_t j = k + threadIdx.x; j < n; j += blockDim.x) {
        const complex128 x = top[j], y = under[j];
        top[j] = times(x, c) + turn * y, under[j] = times(y, c) - conjugate(turn) * x;
      }
      __syncthreads();
    }
    for (int64_t row = threadIdx.x; row <= high + n; row += blockDim.x) {  // from the right: rows of T, then of Q
      const bool of_q = row > high;
      complex128 *const x = of_q ? s.q + (row - high - 1) * n : s.t + row * n;
      for (int64_t k = of_q || row <= low ? low : row - 1; k < high; ++k) {
        const complex128 left = x[k], right = x[k + 1];
        x[k] = times(left, s.cosines[k]) + right * conjugate(s.turns[k]), x[k + 1] = times(right, s.cosines[k]) - left * s.turns[k];
      }
    }
    __syncthreads();
    for (int64_t i = low + threadIdx.x; i <= high; i += blockDim.x) s.t[i * n + i] = s.t[i * n + i] + by;
    __syncthreads();
  }
  return false;
}
// Column k of Y is a vector of T with value k, a thread for each; then T holds the vectors of x, of length 1, their largest part real.
WRY_GPU void find_vectors(const Schur &s, double norm) {
  const int64_t n = s.n;
  for (int64_t k = threadIdx.x; k < n; k += blockDim.x) {
    const complex128 value = s.t[k * n + k];
    const double least = norm > 0 ? rounding<double> * norm : 1;
    for (int64_t i = k + 1; i < n; ++i) s.y[i * n + k] = complex128(0);
    s.y[k * n + k] = complex128(1);
    s.values[k] = value;
    for (int64_t i = k - 1; i >= 0; --i) {
      complex128 sum = complex128(0), apart = s.t[i * n + i] - value;
      for (int64_t j = i + 1; j <= k; ++j) sum = sum + s.t[i * n + j] * s.y[j * n + k];
      if (length_of(apart) < least) apart = complex128(least);  // equal values: as if they were that far apart
      const complex128 found = -sum * inverse_of(apart);
      s.y[i * n + k] = found;
      if (length_of(found) > 0x1p300)
        for (int64_t j = i; j <= k; ++j) s.y[j * n + k] = times(s.y[j * n + k], 0x1p-300);
    }
    double most = 0;
    for (int64_t i = 0; i <= k; ++i) most = fmax(most, length_of(s.y[i * n + k]));
    for (int64_t i = 0; i <= k; ++i) s.y[i * n + k] = times(s.y[i * n + k], 1 / most);
  }
  __syncthreads();
  for (int64_t e = threadIdx.x; e < n * n; e += blockDim.x) {
    const int64_t i = e / n, k = e % n;
    complex128 sum = complex128(0);
    for (int64_t j = 0; j <= k; ++j) sum = sum + s.q[i * n + j] * s.y[j * n + k];
    s.t[e] = sum;
  }
  __syncthreads();
}
// Of a real matrix, whose values are real or come in pairs: where no other value is nearer to the conjugate of one than it is itself, it is
// real but for rounding; else that other one is the conjugate.
WRY_GPU void pair_conjugates(const Schur &s) {
  for (int64_t k = 0; k < s.n; ++k) s.partners[k] = -1;
  for (int64_t k = 0; k < s.n; ++k) {
    if (s.partners[k] >= 0) continue;
    int64_t nearest = k;
    double distance = 2 * fabs(s.values[k].im);
    for (int64_t j = k + 1; j < s.n; ++j) {
      const double here = length_of(s.values[j] - conjugate(s.values[k]));
      if (s.partners[j] < 0 && here < distance) nearest = j, distance = here;
    }
    s.partners[k] = s.partners[nearest] = k;
    if (nearest == k) s.values[k].im = 0;
  }
}

// In float64 whatever the matrix has: rounding to float32 comes last.
template <typename T, typename Z>
__global__ void __launch_bounds__(block_size, 1) solve_any(int64_t count, int64_t n, const T *x, Z *w, Z *v, complex128 *memory, int32_t *outcomes) {
  using R = real_of<T>;
  const Schur s(n, memory + blockIdx.x * Schur::numbers(n));
  for (int64_t at = blockIdx.x; at < count; at += gridDim.x) {
    const T *const from = x + at * n * n;
    R scale = 1;
    const bool fine = scale_of(from, n * n, &scale);
    double squares = 0;
    for (int64_t e = threadIdx.x; e < n * n; e += blockDim.x) {
      s.t[e] = fine ? complex128(times(from[e], scale)) : complex128(0);
      s.q[e] = complex128(e / n == e % n ? 1 : 0);
      squares += square_of(s.t[e]);
    }
    const double norm = sqrt(block_sum(squares));
    make_hessenberg(s);
    const bool ended = make_triangle(s, norm);
    if (threadIdx.x == 0) outcomes[at] = !fine ? HOLDS_NO_NUMBER : ended ? NO_FAULT
                                                                         : DOES_NOT_CONVERGE;
    find_vectors(s, norm);
    if (threadIdx.x == 0) {
      if constexpr (is_complex<T>::value)
        for (int64_t k = 0; k < n; ++k) s.partners[k] = k;
      else pair_conjugates(s);
    }
    __syncthreads();
    for (int64_t k = threadIdx.x; k < n; k += blockDim.x) {
      const int64_t partner = s.partners[k];
      complex128 value = s.values[partner];
      double square = 0, most = 0;
      complex128 largest = complex128(1);
      for (int64_t i = 0; i < n; ++i) {
        const complex128 here = s.t[i * n + partner];
        if (length_of(here) > most) most = length_of(here), largest = here;
      }
      const bool real = !is_complex<T>::value && value.im == 0;
      const complex128 turn = times(conjugate(largest), 1 / length_of(largest));
      for (int64_t i = 0; i < n; ++i) {
        const complex128 here = s.t[i * n + partner] * turn;
        square += real ? here.re * here.re : square_of(here);
      }
      const double inverse = 1 / sqrt(square);
      for (int64_t i = 0; i < n; ++i) {
        complex128 here = times(s.t[i * n + partner] * turn, inverse);
        if (real) here.im = 0;
        v[(at * n + i) * n + k] = Z(partner == k ? here : conjugate(here));
      }
      value = times(partner == k ? value : conjugate(value), 1 / double(scale));
      w[at * n + k] = Z(value);
    }
    __syncthreads();
  }
}
template <typename T>
int eig(const wry_call *call) {
  using Z = complex<real_of<T>>;
  const wry_tensor *x = input(call, 0);
  if (x->size == 0) return WRY_OK;
  const int64_t n = columns_of(x), count = x->size / (n * n), blocks = some_blocks(count, most_blocks), numbers = Schur::numbers(n);
  complex128 *memory = workspace<complex128>(call, blocks * numbers);
  int32_t *outcomes = workspace<int32_t>(call, count);
  if (!memory || !outcomes) return fail_memory(call, "eig", blocks * numbers * int64_t(sizeof(complex128)));
  WRY_TRY(wry_launch(solve_any<T, Z>, dim3(unsigned(blocks)), dim3(threads_for(n)), 0, stream(call), count, n, data<T>(x), data<Z>(output(call, 0)),
                     data<Z>(output(call, 1)), memory, outcomes));
  return report_all(call, "eig", count, outcomes);
}

// ---- the exponential of a matrix ------------------------------------------------------------------

template <typename W>
WRY_GPU void multiply(int64_t n, const W *x, const W *y, W *out) {
  __syncthreads();
  for (int64_t e = threadIdx.x; e < n * n; e += blockDim.x) {
    const int64_t i = e / n, j = e % n;
    W sum = W(0);
    for (int64_t k = 0; k < n; ++k) sum = sum + x[i * n + k] * y[k * n + j];
    out[e] = sum;
  }
  __syncthreads();
}
// Halved until Taylor's series of 16 terms is exact, which six products add up (Paterson & Stockmeyer, 1973), then squared as often.
// Float32 is computed in float64.
template <typename T, typename W>
__global__ void __launch_bounds__(block_size, 1) exponential(int64_t count, int64_t n, const T *x, T *out, W *scratch) {
  W *const a = scratch + blockIdx.x * 6 * n * n, *const square = a + n * n, *const cube = square + n * n, *const fourth = cube + n * n;
  for (int64_t at = blockIdx.x; at < count; at += gridDim.x) {
    W *sum = fourth + n * n, *spare = sum + n * n;
    double norm = 0;
    bool wrong = false;
    for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
      double column = 0;
      for (int64_t i = 0; i < n; ++i) column += sqrt(double(square_of(W(x[(at * n + i) * n + j]))));
      norm = column > norm ? column : norm;
      wrong = wrong || !(column - column == 0);
    }
    wrong = __syncthreads_or(wrong) != 0;
    norm = block_largest(norm);
    int halvings = 0;
    for (double size = norm; size > 0.7 && !wrong; size *= 0.5) ++halvings;
    const double factor = scalbn(1.0, -halvings);
    for (int64_t e = threadIdx.x; e < n * n; e += blockDim.x) a[e] = wrong ? W(double(NAN)) : times(W(x[at * n * n + e]), factor);
    multiply(n, a, a, square);
    multiply(n, square, a, cube);
    multiply(n, square, square, fourth);
    // ((c16 A^4 + B3) A^4 + B2) A^4 + ..., where Bi holds the powers up to the third with terms 4 i to 4 i + 3.
    double term = 1.0 / 20922789888000.0;  // 1 / 16!
    for (int64_t e = threadIdx.x; e < n * n; e += blockDim.x) sum[e] = times(fourth[e], term);
    for (int part = 3; part >= 0; --part) {
      if (part < 3) {
        multiply(n, fourth, sum, spare);
        W *const kept = sum;
        sum = spare, spare = kept;
      }
      const double third = term * (4 * part + 4), second = third * (4 * part + 3), first = second * (4 * part + 2);
      term = first * (4 * part + 1);
      for (int64_t e = threadIdx.x; e < n * n; e += blockDim.x)
        sum[e] = sum[e] + times(cube[e], third) + times(square[e], second) + times(a[e], first) + W(e / n == e % n ? term : 0.0);
    }
    for (int i = 0; i < halvings; ++i) {
      multiply(n, sum, sum, spare);
      W *const kept = sum;
      sum = spare, spare = kept;
    }
    for (int64_t e = threadIdx.x; e < n * n; e += blockDim.x) out[at * n * n + e] = T(sum[e]);
    __syncthreads();
  }
}
template <typename T>
int matrix_exp(const wry_call *call) {
  using W = std::conditional_t<is_complex<T>::value, complex128, double>;
  const wry_tensor *x = input(call, 0);
  if (x->size == 0) return WRY_OK;
  const int64_t n = columns_of(x), count = x->size / (n * n), blocks = some_blocks(count, most_blocks);
  W *scratch = workspace<W>(call, blocks * 6 * n * n);
  if (!scratch) return fail_memory(call, "matrix_exp", blocks * 6 * n * n * int64_t(sizeof(W)));
  return check(call, wry_launch(exponential<T, W>, dim3(unsigned(blocks)), dim3(threads_for(n * n)), 0, stream(call), count, n, data<T>(x),
                                data<T>(output(call, 0)), scratch));
}

#define WRY_MATRIX_ROWS(op, kernel)                                                                    \
  WRY_ROW(op, float, WRY_WANTS_CONTIGUOUS, kernel), WRY_ROW(op, double, WRY_WANTS_CONTIGUOUS, kernel), \
      WRY_COMPLEX_ROWS(op, WRY_WANTS_CONTIGUOUS, kernel)

const wry_kernel_entry table[] = {
    WRY_MATRIX_ROWS("qr", qr),
    WRY_MATRIX_ROWS("eigh", eigh),
    WRY_MATRIX_ROWS("eigvalsh", eigvalsh),
    WRY_MATRIX_ROWS("svd", svd),
    WRY_MATRIX_ROWS("eig", eig),
    WRY_MATRIX_ROWS("matrix_exp", matrix_exp),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(eigen, wherry::cuda::table)
