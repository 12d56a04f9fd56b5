// Products of matrices of 16-bit floats, summed in float32: what gemm.h is for float and double.
//
// A factor is never converted as a whole. Blocks of it are packed when their turn comes, in one of two forms:
//
// - pairs: the products of two neighbours along k are one instruction (AVX512-BF16's vdpbf16ps), and a panel holds bfloat16 by twos.
//   Numbers below the normal ones count as zero there.
// - wide: a panel holds floats, and the tile is that of float32. For float16, and wherever that instruction is missing or is no faster.
//
// Sums stay floats from the first step to the last and are rounded once. As with gemm.h, they depend on neither the cut into
// tiles nor the number of threads. Not done: sums in float16 (AVX512-FP16), tiles (AMX).
#ifndef WHERRY_OPS_CPU_HALF_H
#define WHERRY_OPS_CPU_HALF_H

#include "gemm.h"

namespace WRY_NAMESPACE {

#if defined(WRY_AVX512) && defined(__AVX512BF16__)
template <typename T>
inline constexpr bool in_pairs = std::is_same<T, bfloat16>::value;
#else
template <typename T>
inline constexpr bool in_pairs = false;
#endif

// What panels hold, and how many steps of k one pass takes: as many bytes as of floats.
template <typename T>
using Packed = std::conditional_t<in_pairs<T>, T, float>;
template <typename T>
inline constexpr int64_t half_depth = in_pairs<T> ? 2 * gemm_depth : gemm_depth;

#if defined(WRY_AVX512) && defined(__AVX512BF16__)
// A panel of `count` columns, which lie from.row apart, by k steps as pairs: out[(p / 2 * gemm_columns + column) * 2 + p % 2]. Missing
// columns are 0, and after an odd k stands a step of zeros.
void pack_columns_of_pairs(bfloat16 *out, int64_t count, int64_t k, Matrix<bfloat16> from);
// The same for gemm_rows rows.
void pack_rows_of_pairs(bfloat16 *out, int64_t count, int64_t k, Matrix<bfloat16> from);
#endif

// Scratch memory of products of up to this size, for each thread by itself.
template <typename T>
struct HalfScratch {
  char *memory = nullptr;
  int64_t rows = 0, sums = 0;  // bytes
  WRY_INLINE Packed<T> *packed_rows(int thread) const { return reinterpret_cast<Packed<T> *>(memory + thread * (rows + sums)); }
  WRY_INLINE float *sums_of(int thread) const { return reinterpret_cast<float *>(memory + thread * (rows + sums) + rows); }
};
template <typename T>
bool gemm_scratch(const wry_call *call, int64_t m, int64_t n, int64_t k, HalfScratch<T> *scratch);

// C[m, n] = A[m, k] B[k, n] + start on one thread, which `thread` of the scratch memory belongs to. start.accumulate is false.
template <typename T>
void gemm_serial(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc, const Start<float> &start,
                 const HalfScratch<T> &scratch, int thread);

// The same on the call's threads.
template <typename T>
void gemm(const wry_call *call, int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc,
          const Start<float> &start, const HalfScratch<T> &scratch);

}  // namespace WRY_NAMESPACE

// An instruction set that extends another by products of pairs has rows of its own for bfloat16 alone.
#if WRY_ONLY_BFLOAT16
#undef WRY_REAL_ROWS
#undef WRY_FLOAT_ROWS
#undef WRY_COMPLEX_ROWS
#define WRY_REAL_ROWS(op, flags, kernel, ...) WRY_ROW(op, bfloat16, flags, kernel)
#define WRY_FLOAT_ROWS WRY_REAL_ROWS
#define WRY_COMPLEX_ROWS WRY_REAL_ROWS
#endif

#endif
