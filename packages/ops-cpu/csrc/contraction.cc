// Matrix products of tensors: batches, broadcasting, rank 1 and strides around gemm.h.
//
// float32 and float64 go to our own packed product; no library is called. Measured against OpenBLAS
// (Zen 4, float32 squares, one thread, CPU time): with AVX-512 up to 8 % faster from 128^3 to 2048^3,
// 2 % slower at 64^3 and 10 % at 96^3; with AVX2 (OpenBLAS's Haswell kernel) 2 to 9 % slower from
// 128^3 to 1024^3, 13 % at 96^3. Not measured: float64, other processors.
// 16 bit floats go to half.h, which sums in float32. Complex numbers become real products of their parts.
#include <type_traits>

#include "half.h"

namespace WRY_NAMESPACE {
namespace {

// One operand as a batch of matrices. Strides count elements; batch strides of repeated axes are 0.
struct Batch {
  const void *data;
  int64_t rows, columns, row, column;
  int rank;  // of the batch axes
  int64_t shape[WRY_MAX_RANK], strides[WRY_MAX_RANK];
};

// The product as one or several matrix products of equal size, m x k times k x n each.
struct Product {
  Batch x, y;
  int64_t m, n, k;
  int rank;  // of the batch axes of the result
  int64_t shape[WRY_MAX_RANK], count;
};

WRY_INLINE Batch batch_of(const wry_tensor *t, bool transposed, bool is_left) {
  Batch b;
  b.data = t->data;
  if (t->rank == 1) {  // a row on the left, a column on the right
    b.rows = is_left ? 1 : t->shape[0];
    b.columns = is_left ? t->shape[0] : 1;
    b.row = is_left ? 0 : t->strides[0];
    b.column = is_left ? t->strides[0] : 0;
    b.rank = 0;
    return b;
  }
  const int i = t->rank - (transposed ? 1 : 2), j = t->rank - (transposed ? 2 : 1);
  b.rows = t->shape[i], b.columns = t->shape[j];
  b.row = t->strides[i], b.column = t->strides[j];
  b.rank = t->rank - 2;
  for (int axis = 0; axis < b.rank; ++axis) {
    b.shape[axis] = t->shape[axis];
    b.strides[axis] = t->shape[axis] == 1 ? 0 : t->strides[axis];
  }
  return b;
}

WRY_INLINE int64_t stride_at(const Batch &b, int axis, int rank) {
  const int at = axis - (rank - b.rank);
  return at < 0 || b.shape[at] == 1 ? 0 : b.strides[at];
}

WRY_INLINE Product product_of(const wry_tensor *x, const wry_tensor *y, bool transpose_x, bool transpose_y) {
  Product p;
  p.x = batch_of(x, transpose_x, true);
  p.y = batch_of(y, transpose_y, false);
  p.m = p.x.rows, p.k = p.x.columns, p.n = p.y.columns;
  p.rank = max_of(p.x.rank, p.y.rank);
  p.count = 1;
  for (int axis = 0; axis < p.rank; ++axis) {
    const int i = axis - (p.rank - p.x.rank), j = axis - (p.rank - p.y.rank);
    const int64_t a = i < 0 ? 1 : p.x.shape[i], b = j < 0 ? 1 : p.y.shape[j];
    p.shape[axis] = a == 1 ? b : a;
    p.count *= p.shape[axis];
  }
  // One weight for all of a batch: its rows are rows of one tall matrix if they lie evenly.
  bool shared = true;
  for (int axis = 0; axis < p.y.rank; ++axis) shared &= p.y.shape[axis] == 1 || p.y.strides[axis] == 0;
  if (shared && p.rank > 0 && p.x.rank == p.rank) {
    int64_t rows = p.m, step = p.x.row;
    bool even = true;
    for (int axis = p.rank - 1; axis >= 0 && even; --axis) {
      if (p.shape[axis] == 1) continue;
      if (rows == 1) step = p.x.strides[axis];
      else even = p.x.strides[axis] == step * rows;
      rows *= p.shape[axis];
    }
    if (even) p.m = p.x.rows = rows, p.x.row = step, p.rank = p.x.rank = p.y.rank = 0, p.count = 1;
  }
  return p;
}

// Offsets of both operands at a place of the batch.
WRY_INLINE void place_of(const Product &p, int64_t index, int64_t *x, int64_t *y) {
  *x = *y = 0;
  for (int axis = p.rank - 1; axis >= 0; --axis) {
    const int64_t whole = axis > 0 ? index / p.shape[axis] : 0, at = index - whole * p.shape[axis];
    index = whole;
    *x += at * stride_at(p.x, axis, p.rank);
    *y += at * stride_at(p.y, axis, p.rank);
  }
}

int no_memory(const wry_call *call, const Product &p) {
  return fail(call, WRY_OUT_OF_MEMORY,
              "matmul: out of memory for packing. Got %lld products of [%lld, %lld] by [%lld, %lld], expected scratch "
              "memory of a few MB. Free tensors that are no longer needed.",
              (long long)p.count, (long long)p.m, (long long)p.k, (long long)p.k, (long long)p.n);
}

// ---- floats of all sizes ------------------------------------------------------------------------

template <typename T>
inline constexpr bool is_half = sizeof(T) == 2;
template <typename T>
using ScratchOf = std::conditional_t<is_half<T>, HalfScratch<T>, GemmScratch<T>>;

template <typename T>
void multiply_alone(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, Start<arithmetic_t<T>> start,
                    const ScratchOf<T> &scratch) {
  if constexpr (is_half<T>) gemm_serial(m, n, k, a, b, c, n, start, scratch, thread_index());
  else gemm_serial(m, n, k, a, b, c, n, start);
}

template <typename T>
int multiply_real(const wry_call *call, const Product &p, T *out, const arithmetic_t<T> *bias) {
  Start<arithmetic_t<T>> start;
  start.per_column = bias;
  const Matrix<T> left = {static_cast<const T *>(p.x.data), p.x.row, p.x.column};
  const Matrix<T> right = {static_cast<const T *>(p.y.data), p.y.row, p.y.column};
  const int64_t work = p.m * p.n * p.k;
  ScratchOf<T> scratch;
  if (is_half<T> && !gemm_scratch(call, p.m, p.n, p.k, &scratch)) return no_memory(call, p);
  if (p.count == 1 && work <= 4096) {
    multiply_alone(p.m, p.n, p.k, left, right, out, start, scratch);
    return WRY_OK;
  }
  // Small products: whole ones to each thread. Large ones: all threads at each.
  if (p.count > 1 && (work <= 64 * 64 * 64 || (p.count >= 16 && work <= 256 * 256 * 256))) {
    const int64_t grain = max_of<int64_t>(1, 32768 / max_of<int64_t>(work, 1));
    parallel_for(call, p.count, grain, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; ++at) {
        int64_t x, y;
        place_of(p, at, &x, &y);
        multiply_alone(p.m, p.n, p.k, {left.data + x, left.row, left.column}, {right.data + y, right.row, right.column},
                       out + at * p.m * p.n, start, scratch);
      }
    });
    return WRY_OK;
  }
  if (!is_half<T> && !gemm_scratch(call, p.m, p.n, p.k, &scratch)) return no_memory(call, p);
  for (int64_t at = 0; at < p.count; ++at) {
    int64_t x, y;
    place_of(p, at, &x, &y);
    gemm<T>(call, p.m, p.n, p.k, {left.data + x, left.row, left.column}, {right.data + y, right.row, right.column},
            out + at * p.m * p.n, p.n, start, scratch);
  }
  return WRY_OK;
}

// ---- complex ------------------------------------------------------------------------------------

// Real and imaginary parts are real matrices with doubled strides; four products of those.
template <typename C>
int multiply_complex(const wry_call *call, const Product &p, C *out, const C *bias) {
  using R = typename is_complex<C>::real;
  const int64_t size = p.m * p.n;
  R *parts = workspace<R>(call, max_of<int64_t>(3 * size, 1));
  GemmScratch<R> scratch;
  if (!parts || !gemm_scratch(call, p.m, p.n, p.k, &scratch)) return no_memory(call, p);
  R *real = parts, *imag = parts + size, *minus = parts + 2 * size;
  for (int64_t at = 0; at < p.count; ++at) {
    int64_t x, y;
    place_of(p, at, &x, &y);
    const R *left = reinterpret_cast<const R *>(static_cast<const C *>(p.x.data) + x);
    const R *right = reinterpret_cast<const R *>(static_cast<const C *>(p.y.data) + y);
    const auto times = [&](int i, int j, R *to, bool accumulate) {
      Start<R> start;
      start.accumulate = accumulate;
      gemm<R>(call, p.m, p.n, p.k, {left + i, 2 * p.x.row, 2 * p.x.column}, {right + j, 2 * p.y.row, 2 * p.y.column}, to,
              p.n, start, scratch);
    };
    times(0, 0, real, false);
    times(1, 1, minus, false);
    times(0, 1, imag, false);
    times(1, 0, imag, true);
    C *to = out + at * size;
    parallel_for(call, size, 16384, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        to[i] = C(real[i] - minus[i], imag[i]);
        if (bias) to[i] += bias[i % p.n];
      }
    });
  }
  return WRY_OK;
}

// ---- integers -----------------------------------------------------------------------------------

// Sums wrap around as in NumPy, hence the unsigned arithmetic.
template <typename T>
int multiply_int(const wry_call *call, const Product &p, T *out, const T *bias) {
  using U = std::make_unsigned_t<T>;
  using W = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;  // no wider than it must be
  parallel_for(call, p.count * p.m, max_of<int64_t>(1, 16384 / max_of<int64_t>(p.n * p.k, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t line = first; line < last; ++line) {
                   int64_t x, y;
                   place_of(p, line / p.m, &x, &y);
                   const T *left = static_cast<const T *>(p.x.data) + x + line % p.m * p.x.row;
                   const T *right = static_cast<const T *>(p.y.data) + y;
                   U *WRY_RESTRICT to = reinterpret_cast<U *>(out + line * p.n);
                   for (int64_t j = 0; j < p.n; ++j) to[j] = bias ? U(bias[j]) : U(0);
                   int64_t q = 0;
                   for (; p.y.column == 1 && q + 4 <= p.k; q += 4) {
                     const T *from = left + q * p.x.column;
                     const W f = W(from[0]), g = W(from[p.x.column]), h = W(from[2 * p.x.column]), e = W(from[3 * p.x.column]);
                     const int64_t n = p.n, row = p.y.row;
                     const T *WRY_RESTRICT a = right + q * row, *WRY_RESTRICT b = a + row, *WRY_RESTRICT c = b + row, *WRY_RESTRICT d = c + row;
                     for (int64_t j = 0; j < n; ++j) to[j] = U(to[j] + (f * W(a[j]) + g * W(b[j])) + (h * W(c[j]) + e * W(d[j])));
                   }
                   if (p.y.row == 1 && p.y.column != 1 && p.x.column == 1) {  // columns lie in order
                     for (int64_t j = 0; j < p.n; ++j) {
                       W sum = 0;
                       for (int64_t i = 0; i < p.k; ++i) sum += W(left[i]) * W(right[j * p.y.column + i]);
                       to[j] = U(to[j] + sum);
                     }
                     q = p.k;
                   }
                   for (; q < p.k; ++q) {
                     const W value = W(left[q * p.x.column]);
                     const T *row = right + q * p.y.row;
                     for (int64_t j = 0; j < p.n; ++j) to[j] = U(to[j] + value * W(row[j * p.y.column]));
                   }
                 }
               });
  return WRY_OK;
}

// ---- kernels ------------------------------------------------------------------------------------

template <typename T>
int multiply(const wry_call *call, const Product &p, T *out, const arithmetic_t<T> *bias) {
  if constexpr (is_complex<T>::value) return multiply_complex<T>(call, p, out, bias);
  else if constexpr (std::is_integral<T>::value) return multiply_int<T>(call, p, out, bias);
  else return multiply_real<T>(call, p, out, bias);
}

// x [..., m, k], y [..., k, n], either of rank 1 too; out is contiguous and overlaps neither.
template <typename T>
int matmul(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool turn_x = attr_bool(call, 0), turn_y = attr_bool(call, 1);
  if constexpr (std::is_same<T, arithmetic_t<T>>::value && std::is_floating_point<T>::value) {
    // Two small matrices: what a Product describes is not worth describing.
    if (x->rank == 2 && y->rank == 2 && out->size * x->shape[!turn_x] <= 4096) {
      gemm_serial<T>(out->shape[0], out->shape[1], x->shape[!turn_x],
                     {data<T>(x), x->strides[turn_x], x->strides[!turn_x]},
                     {data<T>(y), y->strides[turn_y], y->strides[!turn_y]}, data<T>(out), out->shape[1]);
      return WRY_OK;
    }
  }
  return multiply<T>(call, product_of(x, y, turn_x, turn_y), data<T>(out), nullptr);
}

// x [..., k], weight [k, n], bias [n] or absent. x of rank 1 gives a row.
template <typename T>
int linear(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *bias = input(call, 2), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  using A = arithmetic_t<T>;
  const A *start = nullptr;
  if (bias) {
    const int64_t n = bias->shape[0], step = bias->strides[0];
    if (std::is_same<A, T>::value && step == 1) {
      start = data<A>(bias);
    } else {
      A *copied = workspace<A>(call, n);
      if (!copied) return fail_memory(call, "linear", n * int64_t(sizeof(A)));
      for (int64_t j = 0; j < n; ++j) copied[j] = A(data<T>(bias)[j * step]);
      start = copied;
    }
  }
  return multiply<T>(call, product_of(x, weight, false, false), data<T>(out), start);
}

// x [..., m], y [..., n], both contiguous, of equal leading axes: one product of x turned and y.
template <typename T>
int outer_sum(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  Product p;
  p.m = out->shape[0], p.n = out->shape[1], p.k = x->size / p.m;
  p.x = {x->data, p.m, p.k, 1, p.m, 0, {}, {}};
  p.y = {y->data, p.k, p.n, p.n, 1, 0, {}, {}};
  p.rank = 0, p.count = 1;
  return multiply<T>(call, p, data<T>(out), nullptr);
}

#include <wherry/kernels/rows/contraction.h>

}  // namespace
WRY_TABLE(contraction, table)

}  // namespace WRY_NAMESPACE
