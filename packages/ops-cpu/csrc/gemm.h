// Matrix products of blocks: the micro-kernel and packing that contraction, convolution and
// attention build on, and whole products on several threads.
//
// The scheme is that of Goto & van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
// (2008), with the vectors along the rows of C as in BLIS (Van Zee & van de Geijn, 2015): a tile of
// C stays in registers while one column of A and one row of B at a time pass by. It does not do
// complex numbers, triangular operands or Strassen's recursion.
//
// Every element of C is a chain of multiply-adds over k in ascending order, cut after each
// `gemm_depth` steps, wherever the element lies in its tile. So the result depends on neither the
// cut into tiles nor the number of threads.
#ifndef WHERRY_OPS_CPU_GEMM_H
#define WHERRY_OPS_CPU_GEMM_H

#include <type_traits>

#include "parallel.h"
#include "simd.h"

namespace WRY_NAMESPACE {

// ---- tile sizes ---------------------------------------------------------------------------------

#if WRY_VECTOR_BYTES == 64
inline constexpr int gemm_rows = 8;  // 16 of 32 registers hold C: enough to hide the latency
#elif WRY_VECTOR_BYTES == 32
inline constexpr int gemm_rows = 6;  // 12 of 16 registers
#elif defined(__aarch64__)
inline constexpr int gemm_rows = 8;  // 16 of 32
#else
inline constexpr int gemm_rows = 4;  // 8 of 16; the products need registers too without fused ones
#endif
template <typename T>
inline constexpr int gemm_columns = 2 * lanes<T>;

// How many steps of k one pass takes: with 256 a panel of B takes 32 KiB at most, and stays in the first-level cache
// while those of A pass. On Emerald Rapids (48 KiB there) 384 took 5 % longer at 1024 and 2048.
inline constexpr int64_t gemm_depth = 256;

// A matrix as it lies in memory: element (i, j) is data[i * row + j * column].
template <typename T>
struct Matrix {
  const T *data;
  int64_t row, column;
  WRY_INLINE Matrix from(int64_t i, int64_t j) const { return {data + i * row + j * column, row, column}; }
  WRY_INLINE Matrix transposed() const { return {data, column, row}; }
};

// What the product is added to: what C holds (`accumulate`), else a value per row or column, else 0.
template <typename T>
struct Start {
  bool accumulate = false;
  const T *per_row = nullptr;
  const T *per_column = nullptr;
  WRY_INLINE Start at(int64_t i, int64_t j) const {
    return {accumulate, per_row ? per_row + i : nullptr, per_column ? per_column + j : nullptr};
  }
};

// ---- the micro-kernel ---------------------------------------------------------------------------

// C[rows, columns] from k steps, rows <= gemm_rows and columns <= vectors * lanes<T>.
//
// a   element (i, p) at a[i * a_row + p * a_step]; packed panels have a_row 1, a_step gemm_rows
// b   row p at b + p * b_step, of which `vectors` (1 or 2) whole vectors are read at any alignment
// c   row i at c + i * ldc; only `columns` of each are written; must not overlap a or b
template <typename T, int vectors>
void gemm_tile(int64_t rows, int64_t columns, int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b,
               int64_t b_step, T *c, int64_t ldc, const Start<T> &start);

// What stands at the end of a tile: C = sums, plus what `start` says.
template <typename T, int Rows, int V>
WRY_INLINE void finish_tile(const vec<T> (&sum)[Rows][V], int64_t columns, T *WRY_RESTRICT c, int64_t ldc, const Start<T> &start) {
  constexpr int width = lanes<T>;
  if (WRY_LIKELY(columns >= V * width)) {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        T *to = c + i * ldc + v * width;
        vec<T> value = sum[i][v];
        if (start.accumulate) value += load(to);
        else if (start.per_row) value += start.per_row[i];
        else if (start.per_column) value += load(start.per_column + v * width);
        store(to, value);
      }
    return;
  }
  T line[V * width];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(line + v * width, sum[i][v]);
    T *to = c + i * ldc;
    for (int64_t j = 0; j < columns; ++j) {
      T value = line[j];
      if (start.accumulate) value += to[j];
      else if (start.per_row) value += start.per_row[i];
      else if (start.per_column) value += start.per_column[j];
      to[j] = value;
    }
  }
}

// f(rows, i) for the tiles that make up `rows` rows from row i on, `rows` being an integral_constant.
template <typename F>
WRY_INLINE void each_height(int64_t rows, F &&f) {
  if (WRY_LIKELY(rows == gemm_rows)) return f(std::integral_constant<int, gemm_rows>(), int64_t(0));
  int64_t i = 0;
  if (gemm_rows > 4 && rows >= 4) f(std::integral_constant<int, 4>(), i), i += 4;
  if (rows - i >= 2) f(std::integral_constant<int, 2>(), i), i += 2;
  if (rows - i >= 1) f(std::integral_constant<int, 1>(), i);
}

// The sums of x[p] * y[p] of `Rows` rows of x, in several vectors that add up in a fixed order.
template <typename T, int Rows>
WRY_INLINE void dot_rows(int64_t k, const T *x, int64_t x_row, const T *y, arithmetic_t<T> *sums) {
  using vector = vec<T>;
  constexpr int width = lanes<T>;
  constexpr int chains = Rows == 1 ? 4 : 2;
  vector sum[Rows][chains];
  for (int i = 0; i < Rows; ++i)
    for (int u = 0; u < chains; ++u) sum[i][u] = vector{};
  int64_t p = 0;
  for (; p + chains * width <= k; p += chains * width)
#pragma GCC unroll 4
    for (int u = 0; u < chains; ++u) {
      const vector other = load(y + p + u * width);
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) sum[i][u] += load(x + i * x_row + p + u * width) * other;
    }
  for (; p + width <= k; p += width) {
    const vector other = load(y + p);
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) sum[i][0] += load(x + i * x_row + p) * other;
  }
  for (int i = 0; i < Rows; ++i) {
    vector all = sum[i][0];
    for (int u = 1; u < chains; ++u) all += sum[i][u];
    arithmetic_t<T> total = reduce_add(all);
    for (int64_t q = p; q < k; ++q) total += arithmetic_t<T>(x[i * x_row + q]) * arithmetic_t<T>(y[q]);
    sums[i] = total;
  }
}

// ---- packing ------------------------------------------------------------------------------------

// Values of 4 or 8 bytes by fours, as they lie at any address.
template <typename T>
struct quad_of {
  typedef T type __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <typename T>
using quad = typename quad_of<T>::type;

// to[j, i] = rows[i, j] for 4 x 4 values, in registers. The rows of the result lie to_row apart.
template <typename T>
WRY_INLINE void transpose_quads(quad<T> r0, quad<T> r1, quad<T> r2, quad<T> r3, T *to, int64_t to_row) {
#if defined(__clang__)
#define WRY_PICK(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
  typedef std::conditional_t<sizeof(T) == 4, int32_t, int64_t> index;
  typedef index mask __attribute__((vector_size(4 * sizeof(T))));
#define WRY_PICK(a, b, i, j, k, l) __builtin_shuffle(a, b, mask{i, j, k, l})
#endif
  const quad<T> low01 = WRY_PICK(r0, r1, 0, 4, 1, 5), high01 = WRY_PICK(r0, r1, 2, 6, 3, 7);
  const quad<T> low23 = WRY_PICK(r2, r3, 0, 4, 1, 5), high23 = WRY_PICK(r2, r3, 2, 6, 3, 7);
  *(quad<T> *)to = WRY_PICK(low01, low23, 0, 1, 4, 5);
  *(quad<T> *)(to + to_row) = WRY_PICK(low01, low23, 2, 3, 6, 7);
  *(quad<T> *)(to + 2 * to_row) = WRY_PICK(high01, high23, 0, 1, 4, 5);
  *(quad<T> *)(to + 3 * to_row) = WRY_PICK(high01, high23, 2, 3, 6, 7);
#undef WRY_PICK
}

// to[j, i] = from[i, j] for 4 x 4 values. The rows lie from_row and to_row apart.
template <typename T>
WRY_INLINE void transpose4(const T *from, int64_t from_row, T *to, int64_t to_row) {
  const auto row = [&](int i) { return *(const quad<T> *)(from + i * from_row); };
  transpose_quads<T>(row(0), row(1), row(2), row(3), to, to_row);
}

#if defined(WRY_AVX512)
// to[j, i] = from[i, j] for 16 x 16 values in registers.
WRY_INLINE void transpose16(__m512 *r) {
  __m512 t[16];
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {  // 4 x 4 values in each quarter: t[i + c] has columns c, 4 + c, 8 + c and 12 + c
    const __m512d low01 = (__m512d)_mm512_unpacklo_ps(r[i], r[i + 1]), high01 = (__m512d)_mm512_unpackhi_ps(r[i], r[i + 1]);
    const __m512d low23 = (__m512d)_mm512_unpacklo_ps(r[i + 2], r[i + 3]), high23 = (__m512d)_mm512_unpackhi_ps(r[i + 2], r[i + 3]);
    t[i] = (__m512)_mm512_unpacklo_pd(low01, low23), t[i + 1] = (__m512)_mm512_unpackhi_pd(low01, low23);
    t[i + 2] = (__m512)_mm512_unpacklo_pd(high01, high23), t[i + 3] = (__m512)_mm512_unpackhi_pd(high01, high23);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512 low = _mm512_shuffle_f32x4(t[c], t[4 + c], 0x44), high = _mm512_shuffle_f32x4(t[c], t[4 + c], 0xee);
    const __m512 low2 = _mm512_shuffle_f32x4(t[8 + c], t[12 + c], 0x44), high2 = _mm512_shuffle_f32x4(t[8 + c], t[12 + c], 0xee);
    r[c] = _mm512_shuffle_f32x4(low, low2, 0x88);
    r[4 + c] = _mm512_shuffle_f32x4(low, low2, 0xdd);
    r[8 + c] = _mm512_shuffle_f32x4(high, high2, 0x88);
    r[12 + c] = _mm512_shuffle_f32x4(high, high2, 0xdd);
  }
}

// The same from memory to memory; 16-bit floats become floats, or the other way round.
template <typename From, typename To>
WRY_INLINE void transpose16(const From *from, int64_t from_row, To *to, int64_t to_row) {
  __m512 r[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = (__m512)load(from + i * from_row);
  transpose16(r);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) store(to + i * to_row, (f32)r[i]);
}

// The same of at most 16 rows and columns.
template <typename From, typename To>
__attribute__((noinline)) void transpose_part(const From *from, int64_t from_row, To *to, int64_t to_row, int64_t rows, int64_t columns) {
  __m512 r[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = i < rows ? (__m512)load_partial(from + i * from_row, columns) : _mm512_setzero_ps();
  transpose16(r);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    if (i < columns) store_partial(to + i * to_row, (f32)r[i], rows);
}
#endif

// Copies `count` rows of A (at most gemm_rows) by k steps to out[p * gemm_rows + i]; missing rows
// become 0. The same for columns of B: out[p * gemm_columns + j].
template <typename T>
void gemm_pack_rows(T *out, int64_t count, int64_t k, Matrix<T> a);
template <typename T>
void gemm_pack_columns(T *out, int64_t count, int64_t k, Matrix<T> b);

// C[m, n] from a packed A (panels of gemm_rows rows, k steps) and a packed B (panels of
// gemm_columns columns, k steps). On one thread; k <= gemm_depth keeps the promise about cuts.
template <typename T>
void gemm_packed(int64_t m, int64_t n, int64_t k, const T *a, const T *b, T *c, int64_t ldc, Start<T> start);

// A task computes at most this many rows and columns of C: its block of A (256 x gemm_depth floats are 256 KiB) stays
// in the second-level cache while panels of B pass.
inline constexpr int64_t task_rows = 32 * gemm_rows, task_columns = 512;

// How C[m, n] is cut into tasks: down * across of `tall` by `wide` at most, by whole tiles. No value of C depends on it.
struct Pieces {
  int64_t down, across, tall, wide;
};
Pieces gemm_pieces(const wry_call *call, int64_t m, int64_t n, int64_t columns, int64_t widest = task_columns);
// Up to here, waking threads costs more than they save.
inline constexpr int64_t small_product = 64 * 64 * 64;

// How many columns of one row times a matrix are a piece of work: fixed by the size, since a last piece may be summed in
// another way. Wide ones pass through memory in long runs, but each thread should have some.
WRY_INLINE int64_t row_block(int64_t n) { return min_of<int64_t>(1024, max_of<int64_t>(256, n / 1024 * 256)); }

WRY_INLINE int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// ---- whole products -----------------------------------------------------------------------------

// C[m, n] = A[m, k] B[k, n] on one thread, without allocating: for the small blocks of other
// kernels and inside their parallel loops. C is row-major with row stride ldc.
template <typename T>
void gemm_serial(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc, Start<T> start = {});

// Scratch memory of a product of up to this size, to be taken once for many products.
template <typename T>
struct GemmScratch {
  T *rows = nullptr;  // of A, `size` values for each thread
  int64_t size = 0;
};
template <typename T>
bool gemm_scratch(const wry_call *call, int64_t m, int64_t n, int64_t k, GemmScratch<T> *scratch);

// The same as gemm_serial on the call's threads.
template <typename T>
void gemm(const wry_call *call, int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc,
          Start<T> start, GemmScratch<T> scratch);

}  // namespace WRY_NAMESPACE

#endif
