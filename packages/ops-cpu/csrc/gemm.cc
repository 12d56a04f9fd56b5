// Packing and blocking around the micro-kernel of gemm.h, and the choice among the ways to multiply.
#include "gemm.h"

namespace WRY_NAMESPACE {

// ---- the micro-kernel ---------------------------------------------------------------------------

// gemm_tile for a number of rows that is known at compile time. Not inlined: there is one copy of
// each, and a call is small beside the loop over k.
template <typename T, int Rows, int V, bool Packed>
__attribute__((noinline)) static void tile_of_rows(int64_t columns, int64_t k, const T *WRY_RESTRICT a,
                                                   int64_t a_row, int64_t a_step, const T *WRY_RESTRICT b,
                                                   int64_t b_step, T *WRY_RESTRICT c, int64_t ldc,
                                                   const Start<T> &start) {
  using vector = vec<T>;
  constexpr int width = lanes<T>;
  if (Packed) a_row = 1, a_step = gemm_rows, b_step = V * width;
  vector sum[Rows][V];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    __builtin_prefetch(c + i * ldc, 1);
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[i][v] = vector{};
  }
  for (int64_t p = 0; p < k; ++p) {
    vector row[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) row[v] = load(b + v * width);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const T x = a[i * a_row];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = fma(row[v], x, sum[i][v]);
    }
    a += a_step;
    b += b_step;
  }
  finish_tile<T>(sum, columns, c, ldc, start);
}

template <typename T, int vectors>
void gemm_tile(int64_t rows, int64_t columns, int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b,
               int64_t b_step, T *c, int64_t ldc, const Start<T> &start) {
  if (rows == gemm_rows && a_row == 1 && a_step == gemm_rows && b_step == vectors * lanes<T>)
    return tile_of_rows<T, gemm_rows, vectors, true>(columns, k, a, a_row, a_step, b, b_step, c, ldc, start);
  each_height(rows, [&](auto height, int64_t i) {
    tile_of_rows<T, decltype(height)::value, vectors, false>(columns, k, a + i * a_row, a_row, a_step, b, b_step, c + i * ldc, ldc, start.at(i, 0));
  });
}

// ---- packing ------------------------------------------------------------------------------------

#if defined(WRY_AVX512)
// out[j, i] = from[i, j] for 8 rows of 16 floats.
static WRY_INLINE void transpose_8x16(const float *from, int64_t from_row, float *out) {
  __m512 r[8], t[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) r[i] = _mm512_loadu_ps(from + i * from_row);
  // Fours of rows in each quarter: column c of the quarter's four columns, rows 0 to 3 (t[c]) and 4 to 7 (t[4 + c]).
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    const __m512d low01 = (__m512d)_mm512_unpacklo_ps(r[i], r[i + 1]), high01 = (__m512d)_mm512_unpackhi_ps(r[i], r[i + 1]);
    const __m512d low23 = (__m512d)_mm512_unpacklo_ps(r[i + 2], r[i + 3]), high23 = (__m512d)_mm512_unpackhi_ps(r[i + 2], r[i + 3]);
    t[i] = (__m512)_mm512_unpacklo_pd(low01, low23), t[i + 1] = (__m512)_mm512_unpackhi_pd(low01, low23);
    t[i + 2] = (__m512)_mm512_unpacklo_pd(high01, high23), t[i + 3] = (__m512)_mm512_unpackhi_pd(high01, high23);
  }
#pragma GCC unroll 2
  for (int c = 0; c < 4; c += 2) {  // quarters of t[c], t[4 + c], t[c + 1], t[5 + c] side by side
    const __m512 a = _mm512_shuffle_f32x4(t[c], t[4 + c], 0x44), b = _mm512_shuffle_f32x4(t[c], t[4 + c], 0xee);
    const __m512 d = _mm512_shuffle_f32x4(t[c + 1], t[5 + c], 0x44), e = _mm512_shuffle_f32x4(t[c + 1], t[5 + c], 0xee);
    _mm512_storeu_ps(out + c * 8, _mm512_shuffle_f32x4(a, d, 0x88));
    _mm512_storeu_ps(out + (4 + c) * 8, _mm512_shuffle_f32x4(a, d, 0xdd));
    _mm512_storeu_ps(out + (8 + c) * 8, _mm512_shuffle_f32x4(b, e, 0x88));
    _mm512_storeu_ps(out + (12 + c) * 8, _mm512_shuffle_f32x4(b, e, 0xdd));
  }
}
#endif

// Copies a panel of `width` lanes by k steps to out[p * width + lane]; lanes from `count` on are 0.
// `from` is element (lane, step).
template <typename T, int width>
static void pack_panel(T *out, int64_t count, int64_t k, Matrix<T> from) {
  if (from.row == 1 && count == width) {
    for (int64_t p = 0; p < k; ++p)
      for (int i = 0; i < width; ++i) out[p * width + i] = from.data[p * from.column + i];
    return;
  }
#if defined(WRY_AVX512)
  if constexpr (std::is_same<T, float>::value && width == 8) {
    if (from.column == 1 && count == width) {
      for (; k >= 16; k -= 16, from.data += 16, out += 16 * width) transpose_8x16(from.data, from.row, out);
      if (k == 0) return;
    }
  }
#endif
  int64_t done = 0;  // lanes
#if defined(WRY_AVX512)
  if constexpr (std::is_same<T, float>::value && width % 16 == 0) {
    if (from.column == 1 && from.row != 1)
      for (; done + 16 <= count; done += 16) {
        const float *at = from.data + done * from.row;
        int64_t p = 0;
        for (; p + 16 <= k; p += 16) transpose16(at + p, from.row, out + p * width + done, width);
        for (; p + 4 <= k; p += 4)
          for (int i = 0; i < 16; i += 4) transpose4(at + i * from.row + p, from.row, out + p * width + done + i, width);
        for (; p < k; ++p)
          for (int i = 0; i < 16; ++i) out[p * width + done + i] = at[i * from.row + p];
      }
  }
#endif
  if (from.column == 1 && from.row != 1)
    for (; done + 4 <= count; done += 4) {
      const T *at = from.data + done * from.row;
      int64_t p = 0;
      for (; p + 4 <= k; p += 4) transpose4(at + p, from.row, out + p * width + done, width);
      for (; p < k; ++p)
        for (int i = 0; i < 4; ++i) out[p * width + done + i] = at[i * from.row + p];
    }
  if (done == width) return;
  for (int64_t p = 0; p < k; ++p) {
    const T *at = from.data + p * from.column;
    for (int64_t i = done; i < count; ++i) out[p * width + i] = at[i * from.row];
    for (int64_t i = count; i < width; ++i) out[p * width + i] = T(0);
  }
}

template <typename T>
void gemm_pack_rows(T *out, int64_t count, int64_t k, Matrix<T> a) {
  pack_panel<T, gemm_rows>(out, count, k, a);
}

template <typename T>
void gemm_pack_columns(T *out, int64_t count, int64_t k, Matrix<T> b) {
  pack_panel<T, gemm_columns<T>>(out, count, k, b.transposed());
}

template <typename T>
void gemm_packed(int64_t m, int64_t n, int64_t k, const T *a, const T *b, T *c, int64_t ldc, Start<T> start) {
  constexpr int rows = gemm_rows, columns = gemm_columns<T>;
  // The panel of B stays in the first-level cache while those of A pass from the second.
  for (int64_t j = 0; j < n; j += columns)
    for (int64_t i = 0; i < m; i += rows)
      gemm_tile<T, 2>(min_of(m - i, int64_t(rows)), n - j, k, a + i * k, 1, rows, b + j * k, columns,
                      c + i * ldc + j, ldc, start.at(i, j));
}

// ---- products without packing -------------------------------------------------------------------

// Rows of B are read where they lie; the columns that do not fill a vector are packed on the stack.
// For B with unit column stride: good as long as what passes by fits a near cache.
template <typename T>
static void multiply_direct(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc,
                            Start<T> start) {
  constexpr int width = lanes<T>;
  alignas(64) T edge[gemm_depth * lanes<T>];
  for (int64_t at = 0; at < k; at += gemm_depth) {
    const int64_t depth = min_of(k - at, gemm_depth);
    Start<T> here = start;
    if (at > 0) here = {true, nullptr, nullptr};
    const Matrix<T> left = a.from(0, at), right = b.from(at, 0);
    const auto rows_of = [&](auto vectors, const T *panel, int64_t step, int64_t j) {
      for (int64_t i = 0; i < m; i += gemm_rows)
        gemm_tile<T, decltype(vectors)::value>(min_of(m - i, int64_t(gemm_rows)), n - j, depth,
                                               left.data + i * left.row, left.row, left.column, panel, step,
                                               c + i * ldc + j, ldc, here.at(i, j));
    };
    int64_t j = 0;
    for (; j + 2 * width <= n; j += 2 * width)
      rows_of(std::integral_constant<int, 2>(), right.data + j, right.row, j);
    for (; j + width <= n; j += width) rows_of(std::integral_constant<int, 1>(), right.data + j, right.row, j);
    if (j < n) {
      pack_panel<T, width>(edge, n - j, depth, right.from(0, j).transposed());
      rows_of(std::integral_constant<int, 1>(), edge, width, j);
    }
  }
}

template <typename T>
static WRY_INLINE T first_value(const Start<T> &start, const T *c, int64_t i, int64_t j) {
  return start.accumulate ? *c : start.per_row  ? start.per_row[i]
                             : start.per_column ? start.per_column[j]
                                                : T(0);
}

// For a few values: no vector is filled anyway. K: k where it is known, else 0.
template <typename T, int K>
static void multiply_tiny(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *WRY_RESTRICT c, int64_t ldc, const Start<T> &start) {
  const bool plain = !start.accumulate && !start.per_row && !start.per_column;
  for (int64_t i = 0; i < m; ++i) {
    const T *x = a.data + i * a.row;
    T left[K ? K : 1];
    for (int p = 0; p < K; ++p) left[p] = x[p * a.column];
    for (int64_t j = 0; j < n; ++j) {
      const T *y = b.data + j * b.column;
      T sum = 0;
      if constexpr (K > 0)
        for (int p = 0; p < K; ++p) sum += left[p] * y[p * b.row];
      else
        for (int64_t p = 0; p < k; ++p) sum += x[p * a.column] * y[p * b.row];
      c[i * ldc + j] = plain ? sum : sum + first_value(start, c + i * ldc + j, i, j);
    }
  }
}

// dot_rows of four rows of x with each of two of y, with the sums of each element in the same order. `later`: a row that is read afterwards.
constexpr bool pairs_of_dots = WRY_VECTOR_BYTES == 64;  // 16 registers hold sums

template <typename T>
static void dots_of_two(int64_t k, const T *x, int64_t x_row, const T *y, int64_t y_row, const T *later, T *sums) {
  using vector = vec<T>;
  constexpr int width = lanes<T>;
  vector sum[2][4][2];
  for (int r = 0; r < 2; ++r)
    for (int i = 0; i < 4; ++i) sum[r][i][0] = sum[r][i][1] = vector{};
  int64_t p = 0;
  for (; p + 2 * width <= k; p += 2 * width)
#pragma GCC unroll 2
    for (int u = 0; u < 2; ++u) {
      __builtin_prefetch(later + p + u * width, 0, 2);
      const vector first = load(y + p + u * width), second = load(y + y_row + p + u * width);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const vector row = load(x + i * x_row + p + u * width);
        sum[0][i][u] += row * first, sum[1][i][u] += row * second;
      }
    }
  for (; p + width <= k; p += width)
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const vector row = load(x + i * x_row + p);
      sum[0][i][0] += row * load(y + p), sum[1][i][0] += row * load(y + y_row + p);
    }
#pragma GCC unroll 2
  for (int r = 0; r < 2; ++r)
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      T total = reduce_add(vector(sum[r][i][0] + sum[r][i][1]));
      for (int64_t q = p; q < k; ++q) total += x[i * x_row + q] * y[r * y_row + q];
      sums[r * 4 + i] = total;
    }
}

// Rows of A times columns of B, both lying along k: for products with few rows or few columns.
// Each element sums in the same order whichever group of rows computes it.
template <typename T>
static void multiply_dots(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc,
                          const Start<T> &start) {
  const auto put = [&](int64_t i, int64_t j, T value) {
    T *to = c + i * ldc + j;
    *to = value + first_value(start, to, i, j);
  };
  T sums[4];
  if (n >= m) {  // four columns of B for each row of A
    for (int64_t j = 0; j < n; j += 4) {
      int64_t i = 0;
      if constexpr (pairs_of_dots)
        if (j + 4 <= n)
          for (; i + 2 <= m; i += 2) {
            T two[8];
            dots_of_two(k, b.data + j * b.column, b.column, a.data + i * a.row, a.row, b.data + (j + 4 + i / 2 % 4) * b.column, two);
            for (int u = 0; u < 8; ++u) put(i + u / 4, j + u % 4, two[u]);
          }
      for (; i < m; ++i) {
        const T *x = a.data + i * a.row, *y = b.data + j * b.column;
        if (j + 4 <= n) {
          dot_rows<T, 4>(k, y, b.column, x, sums);
          for (int u = 0; u < 4; ++u) put(i, j + u, sums[u]);
        } else {
          for (int64_t u = j; u < n; ++u) {
            // The same two chains as in a group of four: see above.
            dot_rows<T, 2>(k, b.data + u * b.column, 0, x, sums);
            put(i, u, sums[0]);
          }
        }
      }
    }
    return;
  }
  for (int64_t i = 0; i < m; i += 4)
    for (int64_t j = 0; j < n; ++j) {
      const T *x = a.data + i * a.row, *y = b.data + j * b.column;
      if (i + 4 <= m) {
        dot_rows<T, 4>(k, x, a.row, y, sums);
        for (int u = 0; u < 4; ++u) put(i + u, j, sums[u]);
      } else {
        for (int64_t u = i; u < m; ++u) {
          dot_rows<T, 2>(k, a.data + u * a.row, 0, y, sums);
          put(u, j, sums[0]);
        }
      }
    }
}

// One row times a matrix whose rows lie along n: eight rows of B at a time stream past a stretch of
// C that stays in the first-level cache. Going down columns would touch a page for each step.
template <typename T>
static void multiply_row(int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *WRY_RESTRICT c, const Start<T> &start) {
  constexpr int width = lanes<T>;
  constexpr int64_t stretch = 2048;
  for (int64_t j0 = 0; j0 < n; j0 += stretch) {
    const int64_t end = min_of(n, j0 + stretch);
    for (int64_t j = j0; j < end; ++j) c[j] = first_value(start, c + j, 0, j);
    for (int64_t p = 0; p < k; p += 8) {
      const int64_t steps = min_of<int64_t>(k - p, 8);
      const T *from = b.data + p * b.row;
      T x[8];
      for (int u = 0; u < steps; ++u) x[u] = a.data[(p + u) * a.column];
      int64_t j = j0;
      if (steps == 8)
        for (; j + width <= end; j += width) {
          vec<T> sum = load(c + j);
#pragma GCC unroll 8
          for (int u = 0; u < 8; ++u) sum += x[u] * load(from + u * b.row + j);
          store(c + j, sum);
        }
      for (; j < end; ++j) {
        T sum = c[j];
        for (int u = 0; u < steps; ++u) sum += x[u] * from[u * b.row + j];
        c[j] = sum;
      }
    }
  }
}

// The panel of B that is packed next, asked for bit by bit while tiles are computed: runs that lie apart are nothing that hardware foresees,
// and packing would wait for every line.
template <typename T>
struct NextPanel {
  const char *from;
  int64_t runs, bytes, apart, at = 0;
  NextPanel(Matrix<T> b, int64_t k, int64_t columns) {
    const bool turned = b.row == 1;  // runs lie along k
    from = reinterpret_cast<const char *>(b.data);
    apart = (turned ? b.column : b.row) * int64_t(sizeof(T));
    runs = !turned && b.column != 1 ? 0 : turned ? columns
                                                 : k;
    bytes = (turned ? k : columns) * int64_t(sizeof(T));
  }
  WRY_INLINE int64_t lines() const { return runs * ((bytes + 63) / 64); }
  WRY_INLINE void fetch(int64_t lines) {
    for (; lines > 0 && runs > 0; --lines) {
      __builtin_prefetch(from + at, 0, 2);
      if ((at += 64) >= bytes) at = 0, from += apart, --runs;
    }
  }
};

// One panel of B at a time on the stack; A where it lies, or packed into `room` (as many rows of gemm_depth values)
// where that is given and repays.
template <typename T>
static void multiply_block(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc, Start<T> start,
                           T *room) {
  constexpr int columns = gemm_columns<T>, rows = gemm_rows;
  alignas(64) T panel[gemm_depth * columns];
  // Rows that lie a multiple of 4 KiB apart fall into few sets of the caches.
  const bool scattered = a.column != 1 || a.row * int64_t(sizeof(T)) % 4096 == 0;
  const bool pack = room && scattered && n > 2 * columns;
  const bool far = n * k * int64_t(sizeof(T)) > (1 << 20);  // B, from the second-level cache
  for (int64_t at = 0; at < k; at += gemm_depth) {
    const int64_t depth = min_of(k - at, gemm_depth);
    if (pack)
      for (int64_t i = 0; i < m; i += rows)
        gemm_pack_rows(room + i * depth, min_of<int64_t>(m - i, rows), depth, a.from(i, at));
    for (int64_t j = 0; j < n; j += columns) {
      gemm_pack_columns(panel, min_of(n - j, int64_t(columns)), depth, b.from(at, j));
      const bool last = j + columns >= n;
      NextPanel<T> next(last ? b.from(at + depth, 0) : b.from(at, j + columns), last ? min_of(k - at - depth, gemm_depth) : depth,
                        min_of<int64_t>(last ? n : n - j - columns, columns));
      const int64_t lines = far ? (next.lines() * rows + m - 1) / m : 0;
      const Start<T> here = at > 0 ? Start<T>{true, nullptr, nullptr} : start.at(0, j);
      for (int64_t i = 0; i < m; i += rows) {
        next.fetch(lines);
        gemm_tile<T, 2>(min_of<int64_t>(m - i, rows), n - j, depth, pack ? room + i * depth : a.data + i * a.row + at * a.column,
                        pack ? 1 : a.row, pack ? rows : a.column, panel, columns, c + i * ldc + j, ldc, here.at(i, 0));
      }
    }
  }
}

// Whether packing B, which lies along k, would take longer than to sum as it lies.
template <typename T>
static bool as_dots(int64_t m, int64_t k, const Matrix<T> &a, const Matrix<T> &b) {
  return a.column == 1 && b.row == 1 && b.column != 1 && (m <= 4 || (pairs_of_dots && m <= 2 * gemm_rows && k >= 32 * m));
}

template <typename T>
void gemm_serial(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc, Start<T> start) {
  if (m <= 0 || n <= 0) return;
  if (m * n * k <= 64) {
    if (k == 2) return multiply_tiny<T, 2>(m, n, k, a, b, c, ldc, start);
    if (k == 3) return multiply_tiny<T, 3>(m, n, k, a, b, c, ldc, start);
    if (k == 4) return multiply_tiny<T, 4>(m, n, k, a, b, c, ldc, start);
    return multiply_tiny<T, 0>(m, n, k, a, b, c, ldc, start);
  }
  if ((a.column == 1 && b.row == 1 && n <= 4) || as_dots(m, k, a, b)) return multiply_dots(m, n, k, a, b, c, ldc, start);
  if (m == 1 && b.column == 1 && n >= 4 * lanes<T>) return multiply_row(n, k, a, b, c, start);
  // Few rows never repay packing B. Beyond that B must stay near: rows that lie a large power of
  // two apart fall into few sets of the cache, which packing cures.
  if (b.column == 1 && (m <= 2 * gemm_rows || n <= lanes<T> || n * k <= 64 * 64))
    return multiply_direct(m, n, k, a, b, c, ldc, start);
  multiply_block(m, n, k, a, b, c, ldc, start, static_cast<T *>(nullptr));
}

// ---- large products -----------------------------------------------------------------------------

// With fewer rows, packing B for each task would take more than a twentieth of the time.
static constexpr int64_t least_rows = 16 * gemm_rows;

template <typename T>
bool gemm_scratch(const wry_call *call, int64_t m, int64_t n, int64_t k, GemmScratch<T> *scratch) {
  if (m * n * k <= small_product) return true;
  const int threads = threads_for(call, INT32_MAX);
  scratch->size = round_up(min_of(m, task_rows), gemm_rows) * min_of(k, gemm_depth);
  scratch->rows = workspace<T>(call, scratch->size * threads);
  return scratch->rows != nullptr;
}

Pieces gemm_pieces(const wry_call *call, int64_t m, int64_t n, int64_t columns, int64_t widest) {
  constexpr int64_t rows = gemm_rows;
  const int64_t a_panels = (m + rows - 1) / rows, b_panels = (n + columns - 1) / columns;
  // Equal pieces, and several for each thread.
  const int64_t threads = threads_for(call, a_panels * b_panels);
  int64_t down = (m + task_rows - 1) / task_rows, across = (n + widest - 1) / widest;
  while (threads > 1 && down * across < 4 * threads) {
    // Too few rows only where threads would have nothing else to do.
    const bool rows_left = m >= 2 * down * (down * across < threads ? 2 * rows : least_rows), columns_left = across < b_panels;
    if (columns_left && (n * down >= m * across || !rows_left)) across = min_of(2 * across, b_panels);
    else if (rows_left) down = 2 * down;
    else break;
  }
  return {down, across, round_up((m + down - 1) / down, rows), round_up((n + across - 1) / across, columns)};
}

// Threads share what they read but nothing that one of them writes and another reads: where two processors have no
// cache in common, passing a packed factor from one to the other took longer than packing it twice. So each task goes
// through the whole of k for its part of C, and there is one loop for threads to meet at.
template <typename T>
static void multiply_large(const wry_call *call, int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc,
                           Start<T> start, GemmScratch<T> scratch) {
  // Each task packs its block of A again. (Twice as wide where nothing of the width of a task is kept for its sums.)
  const Pieces cut = gemm_pieces(call, m, n, gemm_columns<T>, 2 * task_columns);
  parallel_tasks(call, cut.down * cut.across, [&](int64_t task) {
    const int64_t i = task % cut.down * cut.tall, j = task / cut.down * cut.wide;
    if (i >= m || j >= n) return;
    multiply_block(min_of(m - i, cut.tall), min_of(n - j, cut.wide), k, a.from(i, 0), b.from(0, j), c + i * ldc + j, ldc, start.at(i, j),
                   scratch.rows + scratch.size * thread_index());
  });
}

template <typename T>
void gemm(const wry_call *call, int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T *c, int64_t ldc,
          Start<T> start, GemmScratch<T> scratch) {
  if (n == 1 && ldc == 1 && m > 1) {  // a column is a row of the transposed product
    const Matrix<T> left = b.transposed();
    b = a.transposed(), a = left;
    n = m, m = 1;
    const T *per_row = start.per_row;
    start.per_row = start.per_column, start.per_column = per_row;
    ldc = n;
  }
  if (m * n * k <= small_product) return gemm_serial(m, n, k, a, b, c, ldc, start);
  // Flat ones pass through memory once, so packing would double the traffic. The blocks are fixed:
  // a last one may be so narrow that gemm_serial sums it in another way.
  if ((m == 1 && (b.row == 1 || b.column == 1)) || (m <= 2 * gemm_rows && b.column == 1) ||
      as_dots(m, k, a, b)) {
    const int64_t block = b.column != 1 ? 64 : m == 1 ? row_block(n)
                                                      : 256;
    parallel_blocks(call, n, block, [&](int64_t, int64_t first, int64_t last) {
      gemm_serial(m, last - first, k, a, b.from(0, first), c + first, ldc, start.at(0, first));
    });
    return;
  }
  if (n <= lanes<T> && b.column == 1) {
    parallel_blocks(call, m, 32 * gemm_rows, [&](int64_t, int64_t first, int64_t last) {
      gemm_serial(last - first, n, k, a.from(first, 0), b, c + first * ldc, ldc, start.at(first, 0));
    });
    return;
  }
  multiply_large(call, m, n, k, a, b, c, ldc, start, scratch);
}

#define WRY_GEMM_OF(T)                                                                                             \
  template void gemm_pack_rows<T>(T *, int64_t, int64_t, Matrix<T>);                                               \
  template void gemm_pack_columns<T>(T *, int64_t, int64_t, Matrix<T>);                                            \
  template void gemm_tile<T, 1>(int64_t, int64_t, int64_t, const T *, int64_t, int64_t, const T *, int64_t, T *,   \
                                int64_t, const Start<T> &);                                                        \
  template void gemm_tile<T, 2>(int64_t, int64_t, int64_t, const T *, int64_t, int64_t, const T *, int64_t, T *,   \
                                int64_t, const Start<T> &);                                                        \
  template void gemm_packed<T>(int64_t, int64_t, int64_t, const T *, const T *, T *, int64_t, Start<T>);           \
  template void gemm_serial<T>(int64_t, int64_t, int64_t, Matrix<T>, Matrix<T>, T *, int64_t, Start<T>);           \
  template bool gemm_scratch<T>(const wry_call *, int64_t, int64_t, int64_t, GemmScratch<T> *);                    \
  template void gemm<T>(const wry_call *, int64_t, int64_t, int64_t, Matrix<T>, Matrix<T>, T *, int64_t, Start<T>, \
                        GemmScratch<T>);
WRY_GEMM_OF(float)
WRY_GEMM_OF(double)

}  // namespace WRY_NAMESPACE
