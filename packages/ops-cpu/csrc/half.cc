// Packing and blocking of 16-bit floats (half.h), around the tile of gemm.h or one of pairs.
#include "half.h"

namespace WRY_NAMESPACE {

// ---- packing: wide ------------------------------------------------------------------------------

// A panel of `width` lanes by k steps at out[p * width + lane]; lanes from `count` on are 0. `from` is element (lane, step).
template <typename T, int width>
static void pack_wide(float *out, int64_t count, int64_t k, Matrix<T> from) {
  if (from.row == 1 && count == width) {
    for (int64_t p = 0; p < k; ++p) widen(from.data + p * from.column, out + p * width, width);
    return;
  }
  // Some steps of each lane in floats first, then turned.
  constexpr int64_t stretch = 64;
  alignas(64) float lines[width * stretch];
  for (int64_t p0 = 0; p0 < k; p0 += stretch) {
    const int64_t steps = min_of(k - p0, stretch);
    for (int64_t i = 0; i < width; ++i) {
      float *line = lines + i * stretch;
      const T *at = from.data + i * from.row + p0 * from.column;
      if (i >= count) memset(line, 0, size_t(steps) * sizeof(float));
      else if (from.column == 1) widen(at, line, steps);
      else
        for (int64_t p = 0; p < steps; ++p) line[p] = float(at[p * from.column]);
    }
    float *to = out + p0 * width;
    int64_t p = 0;
    for (; p + 4 <= steps; p += 4)
      for (int i = 0; i < width; i += 4)
        if (i + 4 <= width) transpose4(lines + i * stretch + p, stretch, to + p * width + i, width);
    constexpr int turned = width / 4 * 4;
    for (int64_t q = 0; q < steps; ++q)
      for (int i = q < p ? turned : 0; i < width; ++i) to[q * width + i] = lines[i * stretch + q];
  }
}

// ---- packing: pairs -----------------------------------------------------------------------------

#if defined(WRY_AVX512) && defined(__AVX512BF16__)

// out[2 * i] = even[i], out[2 * i + 1] = odd[i]: two steps of all lanes.
template <int width>
static WRY_INLINE void interleave_steps(const bfloat16 *even, const bfloat16 *odd, bfloat16 *out) {
  static_assert(width == 8 || width == 32, "rows or columns of a tile");
  if constexpr (width == 8) {
    const __m128i a = _mm_loadu_si128((const __m128i *)even), b = _mm_loadu_si128((const __m128i *)odd);
    _mm_storeu_si128((__m128i *)out, _mm_unpacklo_epi16(a, b));
    _mm_storeu_si128((__m128i *)(out + 8), _mm_unpackhi_epi16(a, b));
  } else {
    const auto both = [](const bfloat16 *first, const bfloat16 *second) {
      const __m512i a = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)first));
      const __m512i b = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)second));
      return _mm512_or_si512(a, _mm512_slli_epi32(b, 16));
    };
    _mm512_storeu_si512(out, both(even, odd));
    _mm512_storeu_si512(out + 32, both(even + 16, odd + 16));
  }
}

// As pack_wide, at out[(p / 2 * width + lane) * 2 + p % 2]; after an odd k stands a step of zeros.
template <int width>
static void pack_pairs(bfloat16 *out, int64_t count, int64_t k, Matrix<bfloat16> from) {
  const bfloat16 zero[width] = {};
  if (from.row == 1 && count == width) {
    for (int64_t p = 0; p < k; p += 2) {
      const bfloat16 *at = from.data + p * from.column;
      interleave_steps<width>(at, p + 1 < k ? at + from.column : zero, out + p * width);
    }
    return;
  }
  const int64_t whole = k / 2;  // pairs
  int64_t done = 0;             // lanes
  if (width % 16 == 0 && from.column == 1 && from.row % 2 == 0 && k % 2 == 0)
    for (; done + 16 <= count; done += 16) {
      const float *at = reinterpret_cast<const float *>(from.data + done * from.row);
      float *to = reinterpret_cast<float *>(out) + done;
      int64_t p = 0;
      for (; p + 16 <= whole; p += 16) transpose16(at + p, from.row / 2, to + p * width, width);
      for (; p < whole; ++p)
        for (int i = 0; i < 16; ++i) memcpy(to + p * width + i, at + i * (from.row / 2) + p, 4);
    }
  if (from.column == 1)
    for (; done + 4 <= count; done += 4) {
      const bfloat16 *at = from.data + done * from.row;
      const auto pairs_of = [&](int lane, int64_t pair) { return *(const quad<float> *)(at + lane * from.row + 2 * pair); };
      int64_t p = 0;
      for (; p + 4 <= whole; p += 4)
        transpose_quads<float>(pairs_of(0, p), pairs_of(1, p), pairs_of(2, p), pairs_of(3, p),
                               reinterpret_cast<float *>(out + (p * width + done) * 2), width);
      for (; p < whole; ++p)
        for (int i = 0; i < 4; ++i) memcpy(out + (p * width + done + i) * 2, at + i * from.row + 2 * p, 4);
      if (k % 2)
        for (int i = 0; i < 4; ++i) {
          out[(whole * width + done + i) * 2] = at[i * from.row + k - 1];
          out[(whole * width + done + i) * 2 + 1] = bfloat16(0.0f);
        }
    }
  for (int64_t p = 0; p < (k + 1) / 2 * 2; ++p) {
    const bfloat16 *at = from.data + p * from.column;
    for (int64_t i = done; i < width; ++i)
      out[(p / 2 * width + i) * 2 + p % 2] = i < count && p < k ? at[i * from.row] : bfloat16(0.0f);
  }
}

void pack_columns_of_pairs(bfloat16 *out, int64_t count, int64_t k, Matrix<bfloat16> from) {
  pack_pairs<gemm_columns<float>>(out, count, k, from);
}
void pack_rows_of_pairs(bfloat16 *out, int64_t count, int64_t k, Matrix<bfloat16> from) { pack_pairs<gemm_rows>(out, count, k, from); }

// a: rows `a_row` values apart, from pair to pair `a_step`. `out`: where the values go, rounded, after the last step of k; else null,
// and they stay in `c`.
template <int Rows>
__attribute__((noinline)) static void tile_of_pairs(int64_t columns, int64_t pairs, const bfloat16 *WRY_RESTRICT a, int64_t a_row,
                                                    int64_t a_step, const bfloat16 *WRY_RESTRICT b, float *WRY_RESTRICT c, int64_t ldc,
                                                    const Start<float> &start, bfloat16 *WRY_RESTRICT out, int64_t out_row) {
  constexpr int V = 2;
  __m512 total[Rows][V];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) total[i][v] = _mm512_setzero_ps();
  for (int64_t p = 0; p < pairs; ++p, a += a_step, b += 2 * gemm_columns<float>) {
    __m512i row[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) row[v] = _mm512_loadu_si512(b + v * 2 * f32_lanes);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      int32_t pair;
      memcpy(&pair, a + i * a_row, 4);
      const __m512i x = _mm512_set1_epi32(pair);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) total[i][v] = _mm512_dpbf16_ps(total[i][v], (__m512bh)x, (__m512bh)row[v]);
    }
  }
  f32 sum[Rows][V];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) sum[i][v] = (f32)total[i][v];
  if (!out) return finish_tile<float>(sum, columns, c, ldc, start);
  const __mmask32 mask = columns >= 32 ? 0xffffffffu : (1u << columns) - 1;
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    __m512 value[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
      __m512 from = _mm512_setzero_ps();
      if (start.accumulate) from = _mm512_loadu_ps(c + i * ldc + v * f32_lanes);
      else if (start.per_row) from = _mm512_set1_ps(start.per_row[i]);
      else if (start.per_column) from = _mm512_maskz_loadu_ps(__mmask16(mask >> (v * f32_lanes)), start.per_column + v * f32_lanes);
      value[v] = _mm512_add_ps(total[i][v], from);
    }
    _mm512_mask_storeu_epi16(out + i * out_row, mask, (__m512i)_mm512_cvtne2ps_pbh(value[1], value[0]));
  }
}

template <typename T, int width>
static void pack_half(bfloat16 *out, int64_t count, int64_t k, Matrix<T> from) { pack_pairs<width>(out, count, k, from); }
static void half_tile(int64_t rows, int64_t columns, int64_t k, Matrix<bfloat16> a, const bfloat16 *b, float *c, int64_t ldc,
                      const Start<float> &start, bfloat16 *out, int64_t out_row) {
  each_height(rows, [&](auto height, int64_t i) {
    tile_of_pairs<decltype(height)::value>(columns, k / 2, a.data + i * a.row, a.row, a.column, b, c + i * ldc, ldc, start.at(i, 0), out ? out + i * out_row : nullptr, out_row);
  });
}
#endif

// ---- blocks -------------------------------------------------------------------------------------

template <typename T, int width>
static void pack_half(float *out, int64_t count, int64_t k, Matrix<T> from) { pack_wide<T, width>(out, count, k, from); }
template <typename T>  // put_row rounds them
static void half_tile(int64_t rows, int64_t columns, int64_t k, Matrix<float> a, const float *b, float *c, int64_t ldc,
                      const Start<float> &start, T *, int64_t) {
  gemm_tile<float, 2>(rows, columns, k, a.data, a.row, a.column, b, gemm_columns<float>, c, ldc, start);
}

template <typename T>
static WRY_INLINE void put_row(T *to, const float *from, int64_t n) {
  int64_t j = 0;
  for (; j + f32_lanes <= n; j += f32_lanes) store(to + j, load(from + j));
  if (j < n) store_partial(to + j, load_partial(from + j, n - j), n - j);
}

// Asks for lines [first, last) of 64 bytes, one in each row of a panel: hardware foresees no such thing.
template <typename T>
static WRY_INLINE void fetch_lines(Matrix<T> from, int64_t first, int64_t last) {
  for (int64_t p = first; p < last; ++p) __builtin_prefetch(from.data + p * from.row, 0, 2);
}

// One panel of B at a time, packed on the stack; the rows of A packed into `left`, or pairs of them where they lie; `sums` for what is not
// complete:
// [columns of B / gemm_columns, m, gemm_columns], or one such panel where one pass is enough.
template <typename T>
static void multiply_block(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc, const Start<float> &start,
                           Packed<T> *left, float *sums) {
  constexpr int columns = gemm_columns<float>, rows = gemm_rows;
  constexpr int64_t depth = half_depth<T>;
  alignas(64) Packed<T> panel[depth * columns];
  int64_t at = 0;
  do {  // at least once: without steps C is what it starts from
    const int64_t steps = min_of(k - at, depth), whole = in_pairs<T> ? round_up(steps, 2) : steps;
    const bool last = at + depth >= k, lies = in_pairs<T> && a.column == 1 && k % 2 == 0;
    for (int64_t i = 0; i < m && !lies; i += rows) pack_half<T, rows>(left + i * whole, min_of<int64_t>(m - i, rows), steps, a.from(i, at));
    for (int64_t j = 0; j < n; j += columns) {
      const int64_t count = min_of<int64_t>(n - j, columns);
      float *to = sums + (k > depth ? j * m : 0);
      pack_half<T, columns>(panel, count, steps, b.from(at, j).transposed());
      // The next panel, some lines with each tile.
      const bool more = j + columns < n;
      const Matrix<T> next = more ? b.from(at, j + columns) : b.from(at + depth, 0);
      const int64_t lines = b.column != 1 ? 0 : more ? steps
                                                     : max_of<int64_t>(0, min_of(k - at - depth, depth));
      const int64_t each = (lines * rows + m - 1) / max_of<int64_t>(m, 1);
      for (int64_t i = 0, fetched = 0; i < m; i += rows, fetched += each) {
        fetch_lines(next, fetched, min_of(lines, fetched + each));
        Matrix<Packed<T>> from = {left + i * whole, in_pairs<T> ? 2 : 1, in_pairs<T> ? 2 * rows : rows};
        if constexpr (in_pairs<T>)
          if (lies) from = {a.data + i * a.row + at, a.row, 2};
        half_tile(min_of<int64_t>(m - i, rows), n - j, whole, from, panel, to + i * columns, columns,
                  at > 0 ? Start<float>{true, nullptr, nullptr} : start.at(i, j), last ? c + i * ldc + j : nullptr, ldc);
      }
      if (last && !in_pairs<T>)
        for (int64_t i = 0; i < m; ++i) put_row(c + i * ldc + j, to + i * columns, count);
    }
    at += depth;
  } while (at < k);
}

template <typename T>
static int64_t scratch_bytes(int64_t m, int64_t n, int64_t k, int64_t *rows, int64_t *sums) {
  const int64_t tall = round_up(m, gemm_rows), depth = min_of(k + 1, half_depth<T>);
  *rows = round_up(tall * depth * int64_t(sizeof(Packed<T>)), 64);
  *sums = round_up(tall * (k > half_depth<T> ? round_up(n, gemm_columns<float>) : gemm_columns<float>)*int64_t(sizeof(float)), 64);
  return *rows + *sums;
}

template <typename T>
bool gemm_scratch(const wry_call *call, int64_t m, int64_t n, int64_t k, HalfScratch<T> *scratch) {
  const int threads = threads_for(call, INT32_MAX);
  const int64_t each = scratch_bytes<T>(min_of(m, task_rows), min_of(n, task_columns), k, &scratch->rows, &scratch->sums);
  scratch->memory = workspace<char>(call, each * threads);
  return scratch->memory != nullptr;
}

// ---- products without packing -------------------------------------------------------------------

static WRY_INLINE float first_value(const Start<float> &start, int64_t i, int64_t j) {
  return start.per_row ? start.per_row[i] : start.per_column ? start.per_column[j]
                                                             : 0.0f;
}

// For a few values.
template <typename T>
static void multiply_tiny(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc, const Start<float> &start) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const T *x = a.data + i * a.row, *y = b.data + j * b.column;
      float sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += float(x[p * a.column]) * float(y[p * b.row]);
      c[i * ldc + j] = T(sum + first_value(start, i, j));
    }
}

// One row of A, lying along k, times columns of B that do so too.
template <typename T>
static void multiply_dots(int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, const Start<float> &start) {
  float sums[4];
  for (int64_t j = 0; j < n; j += 4) {
    if (j + 4 <= n) dot_rows<T, 4>(k, b.data + j * b.column, b.column, a.data, sums);
    else
      for (int64_t u = j; u < n; ++u) {  // two chains as in a group of four: the same order of sums
        float both[2];
        dot_rows<T, 2>(k, b.data + u * b.column, 0, a.data, both);
        sums[u - j] = both[0];
      }
    for (int64_t u = j; u < min_of(n, j + 4); ++u) c[u] = T(sums[u - j] + first_value(start, 0, u));
  }
}

// One row times a matrix whose rows lie along n, which is read once: it bounds the speed.
template <typename T>
static void multiply_row(int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, const Start<float> &start) {
  constexpr int64_t stretch = 1024;
  alignas(64) float sums[stretch];
  for (int64_t j0 = 0; j0 < n; j0 += stretch) {
    const int64_t count = min_of(n - j0, stretch);
    for (int64_t j = 0; j < count; ++j) sums[j] = first_value(start, 0, j0 + j);
    for (int64_t p = 0; p < k; p += 8) {
      const int64_t steps = min_of<int64_t>(k - p, 8);
      const T *from = b.data + p * b.row + j0;
      float x[8];
      for (int u = 0; u < steps; ++u) x[u] = float(a.data[(p + u) * a.column]);
      int64_t j = 0;
      if (steps == 8)
        for (; j + f32_lanes <= count; j += f32_lanes) {
          f32 sum = load(sums + j);
#pragma GCC unroll 8
          for (int u = 0; u < 8; ++u) sum += x[u] * load(from + u * b.row + j);
          store(sums + j, sum);
        }
      for (; j < count; ++j)
        for (int u = 0; u < steps; ++u) sums[j] += x[u] * float(from[u * b.row + j]);
    }
    put_row(c + j0, sums, count);
  }
}

// A product that needs no panels; false if this is none.
template <typename T>
static bool multiply_unpacked(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc, const Start<float> &start) {
  if (m * n * k <= 512) return multiply_tiny(m, n, k, a, b, c, ldc, start), true;
  if (m == 1 && a.column == 1 && b.row == 1) return multiply_dots(n, k, a, b, c, start), true;
  if (m == 1 && b.column == 1) return multiply_row(n, k, a, b, c, start), true;
  return false;
}

// ---- whole products -----------------------------------------------------------------------------

template <typename T>
void gemm_serial(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc, const Start<float> &start,
                 const HalfScratch<T> &scratch, int thread) {
  if (multiply_unpacked(m, n, k, a, b, c, ldc, start)) return;
  for (int64_t i = 0; i < m; i += task_rows)
    for (int64_t j = 0; j < n; j += task_columns)
      multiply_block(min_of(m - i, task_rows), min_of(n - j, task_columns), k, a.from(i, 0), b.from(0, j), c + i * ldc + j, ldc,
                     start.at(i, j), scratch.packed_rows(thread), scratch.sums_of(thread));
}

template <typename T>
void gemm(const wry_call *call, int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc,
          const Start<float> &given, const HalfScratch<T> &scratch) {
  Start<float> start = given;
  if (n == 1 && ldc == 1 && m > 1) {  // a column is a row of the transposed product
    const Matrix<T> left = b.transposed();
    b = a.transposed(), a = left;
    n = m, m = 1, ldc = n;
    start.per_row = given.per_column, start.per_column = given.per_row;
  }
  if (m * n * k <= small_product) return gemm_serial(m, n, k, a, b, c, ldc, start, scratch, thread_index());
  // Flat ones pass through memory once. The blocks are fixed: a last one may be summed in another way.
  if (m == 1 && (b.row == 1 || b.column == 1)) {
    parallel_blocks(call, n, b.column != 1 ? 64 : row_block(n), [&](int64_t, int64_t first, int64_t last) {
      gemm_serial(m, last - first, k, a, b.from(0, first), c + first, ldc, start.at(0, first), scratch, thread_index());
    });
    return;
  }
  const Pieces cut = gemm_pieces(call, m, n, gemm_columns<float>);
  parallel_tasks(call, cut.down * cut.across, [&](int64_t task) {
    const int64_t i = task % cut.down * cut.tall, j = task / cut.down * cut.wide;
    if (i >= m || j >= n) return;
    multiply_block(min_of(m - i, cut.tall), min_of(n - j, cut.wide), k, a.from(i, 0), b.from(0, j), c + i * ldc + j, ldc,
                   start.at(i, j), scratch.packed_rows(thread_index()), scratch.sums_of(thread_index()));
  });
}

#define WRY_HALF_OF(T)                                                                                              \
  template bool gemm_scratch<T>(const wry_call *, int64_t, int64_t, int64_t, HalfScratch<T> *);                     \
  template void gemm_serial<T>(int64_t, int64_t, int64_t, Matrix<T>, Matrix<T>, T *, int64_t, const Start<float> &, \
                               const HalfScratch<T> &, int);                                                        \
  template void gemm<T>(const wry_call *, int64_t, int64_t, int64_t, Matrix<T>, Matrix<T>, T *, int64_t,            \
                        const Start<float> &, const HalfScratch<T> &);
WRY_HALF_OF(float16)
WRY_HALF_OF(bfloat16)

}  // namespace WRY_NAMESPACE
