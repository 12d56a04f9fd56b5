// Scaled dot-product attention and its gradient, tile by tile, so that the [Tq, Tk] matrix of scores never exists: Dao et al.,
// "FlashAttention" (2022), with the running maximum of Milakov & Gimelshein, "Online normalizer calculation for softmax" (2018).
//
// Inputs are contiguous, [batch, heads, time, width]; the mask has any rank up to 4 and sizes 1 or full. A block has a tile of rows
// (queries; keys for the gradients of keys and values) of one head and goes through the tiles of the other side in order. Nothing is added
// by two blocks, so the same bits come each time; the price is that the gradients compute the scores twice. Weights may be dropped; what
// decided is kept, a byte for each weight. Sequences may have lengths of their own: what lies after them is not read, and tiles there are skipped.
//
// 16-bit floats of heads up to 128 wide go to tensor cores: a warp has 16 rows, whose scores stay in its registers and become the left operand of the
// next product there, rounded to 16 bits. For all else each thread holds 4 x 4 scores and a part of the rows' sums in registers, and what
// is multiplied is widened when it enters shared memory. Not done here: heads that share keys, a window.
#include "philox.h"
#include "tensor_cores.h"

#include <initializer_list>

namespace wherry {
namespace cuda {
namespace {

constexpr int depth_step = 16;  // how much of the width, or how many rows, are in shared memory at a time

// What may be looked at, with stride 0 along missing axes.
struct Mask {
  const void *data;
  int32_t dtype;
  bool causal;
  int64_t offset;  // Tk - Tq: query i sees keys up to i + offset
  int64_t strides[4];
};
Mask mask_of(const wry_tensor *t, bool causal, int64_t queries, int64_t keys) {
  Mask m = {nullptr, 0, causal, keys - queries, {}};
  if (!t) return m;
  m.data = t->data, m.dtype = t->dtype;
  for (int i = 0; i < t->rank; ++i) m.strides[4 - t->rank + i] = t->shape[i] == 1 ? 0 : t->strides[i];
  return m;
}

struct Sizes {
  int64_t batch, heads, queries, keys, width, value_width;
};
Sizes sizes_of(const wry_tensor *q, const wry_tensor *v) { return {q->shape[0], q->shape[1], q->shape[2], v->shape[2], q->shape[3], v->shape[3]}; }

// A call, as its kernels see it.
struct Problem {
  Sizes s;
  Mask mask;
  double scale, factor;                          // factor: of the weights that are kept
  const uint8_t *keep;                           // null: nothing is dropped
  const void *q_lengths, *k_lengths, *diagonal;  // [batch], or null
  bool wide;                                     // whether these are int64, not int32
};

// What of a head counts: queries and keys there are, of which query i sees keys up to i + reach.
struct Extent {
  int64_t queries, keys, reach;
};
WRY_GPU int64_t number_within(const Problem &p, const void *numbers, int64_t b, int64_t least, int64_t most) {
  const int64_t n = p.wide ? static_cast<const int64_t *>(numbers)[b] : static_cast<const int32_t *>(numbers)[b];
  return n < least ? least : n > most ? most
                                      : n;
}
WRY_GPU Extent extent_of(const Problem &p, int64_t head) {
  Extent e = {p.s.queries, p.s.keys, p.mask.causal ? p.mask.offset : p.s.keys};
  if (!p.q_lengths) return e;
  const int64_t b = head / p.s.heads;
  e.queries = number_within(p, p.q_lengths, b, 0, e.queries), e.keys = number_within(p, p.k_lengths, b, 0, e.keys);
  if (!p.diagonal) return e;
  e.reach = number_within(p, p.diagonal, b, -e.queries, e.keys);
  if (e.queries + e.reach < e.keys) e.keys = e.queries + e.reach;  // others are seen by no query
  return e;
}
// The same for queries first .. first + rows - 1 alone, which need not see all of the keys.
WRY_GPU Extent extent_of(const Problem &p, int64_t head, int64_t first, int rows) {
  Extent e = extent_of(p, head);
  const int64_t last = first + rows < e.queries ? first + rows : e.queries;
  if (first >= e.queries) e.keys = 0;
  else if (last + e.reach < e.keys) e.keys = last + e.reach;
  return e;
}
// The first query that sees key `first`, or one after it.
WRY_GPU int64_t begin_of_queries(const Extent &e, int64_t first) { return first >= e.keys ? e.queries : first > e.reach ? first - e.reach
                                                                                                                        : 0; }

// Whether any of `rows` queries from i on sees any key from j on.
WRY_GPU bool sees_any(const Extent &e, int64_t i, int rows, int64_t j) { return i < e.queries && j < e.keys && j < i + rows + e.reach; }

// Whether query i sees key j, but for a mask.
WRY_GPU bool sees(const Extent &e, int64_t i, int64_t j) { return i < e.queries && j < e.keys && j <= i + e.reach; }

// Of query i and key j of a head, which it sees: the score with scale and mask.
template <typename T>
WRY_GPU arithmetic_t<T> masked(const Problem &p, int64_t head, int64_t i, int64_t j, arithmetic_t<T> dot) {
  using A = arithmetic_t<T>;
  const A score = dot * A(p.scale);
  if (!p.mask.data) return score;
  const int64_t at = head / p.s.heads * p.mask.strides[0] + head % p.s.heads * p.mask.strides[1] + i * p.mask.strides[2] + j * p.mask.strides[3];
  if (p.mask.dtype == WRY_BOOL) return static_cast<const uint8_t *>(p.mask.data)[at] ? score : -A(INFINITY);
  return score + load(static_cast<const T *>(p.mask.data) + at);
}
template <typename A>
WRY_GPU A factor_of(const Problem &p, int64_t head, int64_t i, int64_t j) {
  return p.keep ? A(p.keep[(head * p.s.queries + i) * p.s.keys + j]) * A(p.factor) : A(1);
}

// ---- tiles ----------------------------------------------------------------------------------------

// Threads of a block are Side x Side; thread (y, x) has rows 4 y .. 4 y + 3 and columns x, x + Side, ... of a tile of 4 Side rows.
template <int Side_, int Columns_>
struct Shape {
  static constexpr int Side = Side_, Tile = 4 * Side, Columns = Columns_, Own = Columns / Side, Pitch = Tile + 1, Threads = Side * Side;
};

// dots[r][c] = <row of a, row of b> for contiguous a [a_count, width] and b [b_count, width]; rows beyond give 0.
template <typename Z, typename T, typename A>
WRY_GPU void dot_tiles(A (&dots)[4][4], const T *a, int64_t a_count, const T *b, int64_t b_count, int64_t width, A *of_a, A *of_b) {
  const int thread = threadIdx.x, x = thread % Z::Side, y = thread / Z::Side;
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int c = 0; c < 4; ++c) dots[r][c] = A(0);
  for (int64_t d0 = 0; d0 < width; d0 += depth_step) {
    __syncthreads();  // what was there may still be read
    for (int e = thread; e < Z::Tile * depth_step; e += Z::Threads) {
      const int row = e / depth_step, d = e % depth_step;
      of_a[d * Z::Pitch + row] = row < a_count && d0 + d < width ? load(a + row * width + d0 + d) : A(0);
      of_b[d * Z::Pitch + row] = row < b_count && d0 + d < width ? load(b + row * width + d0 + d) : A(0);
    }
    __syncthreads();
    for (int d = 0; d < depth_step && d0 + d < width; ++d) {
      A own[4], other[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) own[r] = of_a[d * Z::Pitch + 4 * y + r], other[r] = of_b[d * Z::Pitch + x + r * Z::Side];
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) dots[r][c] += own[r] * other[c];
    }
  }
}

// sums[r][c] += weights of this tile (in shared memory) times rows of m [count, width], of which the columns from `first` on.
template <typename Z, typename T, typename A>
WRY_GPU void add_rows(A (&sums)[4][Z::Own], const A *weights, const T *m, int64_t count, int64_t width, int64_t first, A *of_m) {
  const int thread = threadIdx.x, x = thread % Z::Side, y = thread / Z::Side;
  for (int k0 = 0; k0 < Z::Tile && k0 < count; k0 += depth_step) {
    __syncthreads();
    for (int e = thread; e < Z::Columns * depth_step; e += Z::Threads) {
      const int k = e / Z::Columns, c = e % Z::Columns;
      of_m[e] = k0 + k < count && first + c < width ? load(m + (k0 + k) * width + first + c) : A(0);
    }
    __syncthreads();
    for (int k = 0; k < depth_step && k0 + k < count; ++k) {
      A weight[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) weight[r] = weights[(4 * y + r) * Z::Pitch + k0 + k];
#pragma unroll
      for (int c = 0; c < Z::Own; ++c) {
        const A value = of_m[k * Z::Columns + x + c * Z::Side];
#pragma unroll
        for (int r = 0; r < 4; ++r) sums[r][c] += weight[r] * value;
      }
    }
  }
}
template <typename Z, typename A>
constexpr int scratch_size = Z::Columns > 2 * Z::Pitch ? Z::Columns *depth_step : 2 * Z::Pitch *depth_step;

// Across the threads that share rows, which are neighbours in a warp.
template <int Side, typename A>
WRY_GPU A largest_of_row(A value) {
#pragma unroll
  for (int step = 1; step < Side; step *= 2) {
    const A other = __shfl_xor_sync(0xffffffffu, value, step);
    value = other > value ? other : value;
  }
  return value;
}
template <int Side, typename A>
WRY_GPU A sum_of_row(A value) {
#pragma unroll
  for (int step = 1; step < Side; step *= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}
// Rows from `valid` on are zeros.
template <typename Z, typename T, typename A>
WRY_GPU void write_rows(const A (&sums)[4][Z::Own], const A (&factors)[4], int64_t count, int64_t valid, int64_t width, int64_t first, T *out) {
  const int x = threadIdx.x % Z::Side, y = threadIdx.x / Z::Side;
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int c = 0; c < Z::Own; ++c) {
      const int64_t column = first + x + c * Z::Side;
      if (4 * y + r < count && column < width) out[(4 * y + r) * width + column] = narrow<T>(4 * y + r < valid ? sums[r][c] * factors[r] : A(0));
    }
}

template <int Tile>
WRY_GPU int within_tile(int64_t n) { return n > Tile ? Tile : n < -Tile ? -Tile
                                                                        : int(n); }

// ---- forward --------------------------------------------------------------------------------------

// Blocks: (tile of queries, head, part of the columns of values).
template <typename Z, typename T>
__global__ void __launch_bounds__(Z::Threads) attend(Problem p, const T *q_, const T *k_, const T *v_, T *out_, arithmetic_t<T> *lse_) {
  using A = arithmetic_t<T>;
  WRY_SHARED(A, scratch, (scratch_size<Z, A>));
  WRY_SHARED(A, weights, Z::Tile * Z::Pitch);
  const Sizes &s = p.s;
  const int x = threadIdx.x % Z::Side, y = threadIdx.x / Z::Side;
  const int64_t first = blockIdx.x * int64_t(Z::Tile), rows = s.queries - first < Z::Tile ? s.queries - first : Z::Tile, column = blockIdx.z * int64_t(Z::Columns);
  for (int64_t head = blockIdx.y; head < s.batch * s.heads; head += gridDim.y) {
    const Extent e = extent_of(p, head, first, Z::Tile);
    const int valid = within_tile<Z::Tile>(e.queries - first);
    A sums[4][Z::Own], top[4], total[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      top[r] = -A(INFINITY), total[r] = A(0);
#pragma unroll
      for (int c = 0; c < Z::Own; ++c) sums[r][c] = A(0);
    }
    for (int64_t j0 = 0; j0 < e.keys; j0 += Z::Tile) {
      const int count = within_tile<Z::Tile>(e.keys - j0), ahead = within_tile<Z::Tile>(first + e.reach - j0);  // row r sees columns up to r + ahead
      A score[4][4];
      dot_tiles<Z>(score, q_ + (head * s.queries + first) * s.width, valid, k_ + (head * s.keys + j0) * s.width, count, s.width, scratch,
                   scratch + Z::Pitch * depth_step);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int64_t i = first + 4 * y + r;
        A best = -A(INFINITY), sum = 0;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int other = x + c * Z::Side;
          const bool seen = 4 * y + r < valid && other < count && other - 4 * y - r <= ahead;
          score[r][c] = seen ? masked<T>(p, head, i, j0 + other, score[r][c]) : -A(INFINITY);
          if (score[r][c] > best) best = score[r][c];
        }
        best = largest_of_row<Z::Side>(best);
        best = best > top[r] ? best : top[r];
        const A shift = best == -A(INFINITY) ? A(0) : best;  // nothing seen yet: exp(-inf - 0) = 0
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          A weight = exp(score[r][c] - shift);
          sum += weight;
          if (weight != A(0)) weight *= factor_of<A>(p, head, i, j0 + x + c * Z::Side);
          weights[(4 * y + r) * Z::Pitch + x + c * Z::Side] = weight;
        }
        const A shrink = top[r] == -A(INFINITY) ? A(1) : exp(top[r] - shift);
        total[r] = total[r] * shrink + sum_of_row<Z::Side>(sum);
        top[r] = best;
#pragma unroll
        for (int c = 0; c < Z::Own; ++c) sums[r][c] *= shrink;
      }
      add_rows<Z>(sums, weights, v_ + (head * s.keys + j0) * s.value_width, count, s.value_width, column, scratch);
    }
    A inverse[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      // A row that sees nothing gives zeros. NaN is not nothing: it goes through.
      inverse[r] = total[r] == A(0) ? A(0) : A(1) / total[r];
      if (x == 0 && blockIdx.z == 0 && 4 * y + r < rows)
        lse_[head * s.queries + first + 4 * y + r] = total[r] == A(0) ? -A(INFINITY) : top[r] + log(total[r]);
    }
    write_rows<Z>(sums, inverse, rows, valid, s.value_width, column, out_ + (head * s.queries + first) * s.value_width);
    __syncthreads();
  }
}

// ---- forward, on tensor cores ---------------------------------------------------------------------

// Of a warp: 16 rows by Parts times 8 columns. A thread has columns 8 j + 2 t and the next of rows g (two values) and g + 8 (two more), where g is
// lane / 4 and t is lane % 4.
template <int Parts>
using Rows16 = float[Parts][4];
template <int Parts>
WRY_GPU void clear(Rows16<Parts> &sums) {
#pragma unroll
  for (int j = 0; j < Parts; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[j][e] = 0;
}
// dots = rows row .. row + 15 times the lines of `right`, of which there are 8 Parts; `rows` as fragments, one for each 16 of the width.
template <int Width, int Parts, typename T>
WRY_GPU void dot_lines(Rows16<Parts> &dots, const uint32_t (&rows)[Width / 16][4], const T *right) {
  clear<Parts>(dots);
#pragma unroll
  for (int k = 0; k < Width / 16; ++k)
#pragma unroll
    for (int j = 0; j < Parts; j += 2) {
      uint32_t b[2][2];
      load_right<true, Width / 8>(b, right, 8 * j, 16 * k);
      wry_mma<T>(dots[j], rows[k], b[0]), wry_mma<T>(dots[j + 1], rows[k], b[1]);
    }
}
// The same, where the rows are in shared memory too.
template <int Width, int Parts, typename T>
WRY_GPU void dot_lines(Rows16<Parts> &dots, const T *left, int row, const T *right) {
  clear<Parts>(dots);
#pragma unroll
  for (int k = 0; k < Width / 16; ++k) {
    uint32_t a[4];
    load_left<true, Width / 8>(a, left, row, 16 * k);
#pragma unroll
    for (int j = 0; j < Parts; j += 2) {
      uint32_t b[2][2];
      load_right<true, Width / 8>(b, right, 8 * j, 16 * k);
      wry_mma<T>(dots[j], a, b[0]), wry_mma<T>(dots[j + 1], a, b[1]);
    }
  }
}
// sums += weights times the lines of `right`. The weights of a product are where the left operand of the next one has to be.
template <int Width, int Parts, typename T>
WRY_GPU void add_lines(Rows16<Width / 8> &sums, const Rows16<Parts> &weights, const T *right) {
#pragma unroll
  for (int k = 0; k < Parts / 2; ++k) {
    const uint32_t a[4] = {pack<T>(weights[2 * k][0], weights[2 * k][1]), pack<T>(weights[2 * k][2], weights[2 * k][3]),
                           pack<T>(weights[2 * k + 1][0], weights[2 * k + 1][1]), pack<T>(weights[2 * k + 1][2], weights[2 * k + 1][3])};
#pragma unroll
    for (int j = 0; j < Width / 8; j += 2) {
      uint32_t b[2][2];
      load_right<false, Width / 8>(b, right, 8 * j, 16 * k);
      wry_mma<T>(sums[j], a, b[0]), wry_mma<T>(sums[j + 1], a, b[1]);
    }
  }
}
template <int Width, typename T>
WRY_GPU void load_rows(uint32_t (&rows)[Width / 16][4], const T *tile, int row) {
#pragma unroll
  for (int k = 0; k < Width / 16; ++k) load_left<true, Width / 8>(rows[k], tile, row, 16 * k);
}
// A warp's sums times a factor for each of a thread's two rows, through 16 lines of shared memory that are this warp's alone. Of `count` lines those from
// `valid` on are zeros.
template <int Width, typename T>
WRY_GPU void write_lines(const Rows16<Width / 8> &sums, float upper, float lower, T *lines, T *out, int64_t count, int64_t valid, int64_t width, bool aligned) {
  constexpr int chunks = Width / 8;
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  __syncwarp();
#pragma unroll
  for (int j = 0; j < chunks; ++j) {
    *reinterpret_cast<uint32_t *>(lines + chunk_at<chunks>(g, j) + 2 * t) = g < valid ? pack<T>(sums[j][0] * upper, sums[j][1] * upper) : 0u;
    *reinterpret_cast<uint32_t *>(lines + chunk_at<chunks>(g + 8, j) + 2 * t) = g + 8 < valid ? pack<T>(sums[j][2] * lower, sums[j][3] * lower) : 0u;
  }
  __syncwarp();
  for (int e = lane; e < 16 * chunks; e += 32) {
    const int row = e / chunks, chunk = e % chunks;
    if (row < count) write_chunk(out + row * width + 8 * chunk, lines + chunk_at<chunks>(row, chunk), valid_of(width - 8 * chunk), aligned);
  }
}
// Whether each score of rows i .. i + rows - 1 and keys j .. j + keys - 1 counts, and counts as it is.
WRY_GPU bool is_plain(const Problem &p, const Extent &e, int64_t i, int rows, int64_t j, int keys) {
  return !p.mask.data && !p.keep && i + rows <= e.queries && j + keys <= e.keys && j + keys - 1 <= i + e.reach;
}

// Before 8.0 there are too few registers for heads wider than 64 (in_lines), and their kernels are empty.
template <int Width>
WRY_GPU constexpr bool is_absent() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return Width > 64;
#else
  return false;
#endif
}

constexpr int tile_keys = 64;

// Blocks: (tile of queries, head); a warp has 16 queries. While the scores of a tile are computed its values come, and while those are
// added the next keys do. In one piece: copies and products overlap, and their registers live across both.
template <int Width, typename T>
__global__ void __launch_bounds__(256) attend_lines(Problem p, const T *q_, const T *k_, const T *v_, T *out_, float *lse_, bool aligned) {
  if (is_absent<Width>()) return;
  constexpr int chunks = Width / 8, parts = tile_keys / 8;
  WRY_SHARED(uint4, memory, 2 * tile_keys * chunks);
  T *const keys = reinterpret_cast<T *>(memory), *const values = keys + tile_keys * Width;
  const Sizes &s = p.s;
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3, rows = blockDim.x / 2;
  const int64_t first = (gridDim.x - 1 - blockIdx.x) * int64_t(rows), row0 = first + 16 * warp;  // causal: the longest blocks begin
  for (int64_t head = blockIdx.y; head < s.batch * s.heads; head += gridDim.y) {
    const T *const k = k_ + head * s.keys * s.width, *const v = v_ + head * s.keys * s.value_width;
    const Extent extent = extent_of(p, head, first, rows);
    __syncthreads();
    copy_lines<chunks>(keys, rows, q_ + (head * s.queries + first) * s.width, s.width, extent.queries - first, s.width, aligned, blockDim.x);
    wry_commit_copies();
    wry_wait_copies<0>();
    __syncthreads();
    uint32_t q[Width / 16][4];
    load_rows<Width>(q, keys, 16 * warp);
    __syncthreads();
    Rows16<chunks> sums;
    clear<chunks>(sums);
    float top[2] = {-INFINITY, -INFINITY}, total[2] = {0, 0};
    if (extent.keys > 0) copy_lines<chunks>(keys, tile_keys, k, s.width, extent.keys, s.width, aligned, blockDim.x);
    wry_commit_copies();
#pragma unroll 1
    for (int64_t j0 = 0; j0 < extent.keys; j0 += tile_keys) {
      wry_wait_copies<0>();
      __syncthreads();
      copy_lines<chunks>(values, tile_keys, v + j0 * s.value_width, s.value_width, extent.keys - j0, s.value_width, aligned, blockDim.x);
      wry_commit_copies();
      const bool busy = sees_any(extent, row0, 16, j0);  // of this warp; the others may need what all of them copy
      Rows16<parts> score;
      if (busy) {
        dot_lines<Width, parts>(score, q, keys);
        const bool plain = is_plain(p, extent, row0, 16, j0, tile_keys);
        if (plain) {
          const float scale = float(p.scale);
#pragma unroll
          for (int c = 0; c < parts; ++c)
#pragma unroll
            for (int e = 0; e < 4; ++e) score[c][e] *= scale;
        } else {
#pragma unroll
          for (int c = 0; c < parts; ++c)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int64_t i = row0 + g + e / 2 * 8, j = j0 + 8 * c + 2 * t + e % 2;
              score[c][e] = sees(extent, i, j) ? masked<T>(p, head, i, j, score[c][e]) : -INFINITY;
            }
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float best = -INFINITY, sum = 0;
#pragma unroll
          for (int c = 0; c < parts; ++c) best = fmaxf(best, fmaxf(score[c][2 * r], score[c][2 * r + 1]));
          best = fmaxf(top[r], largest_of_row<4>(best));
          const float shift = best == -INFINITY ? 0 : best;  // nothing seen yet: exp(-inf - 0) = 0
          const float shrink = top[r] == -INFINITY ? 1 : __expf(top[r] - shift);
#pragma unroll
          for (int c = 0; c < parts; ++c)
#pragma unroll
            for (int e = 2 * r; e < 2 * r + 2; ++e) sum += score[c][e] = __expf(score[c][e] - shift);
          total[r] = total[r] * shrink + sum;  // of this thread's columns; the four that share a row meet at the end
          top[r] = best;
#pragma unroll
          for (int c = 0; c < chunks; ++c) sums[c][2 * r] *= shrink, sums[c][2 * r + 1] *= shrink;
        }
        if (p.keep) {
#pragma unroll
          for (int c = 0; c < parts; ++c)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int64_t i = row0 + g + e / 2 * 8, j = j0 + 8 * c + 2 * t + e % 2;
              if (i < s.queries && j < s.keys) score[c][e] *= factor_of<float>(p, head, i, j);
            }
        }
      }
      wry_wait_copies<0>();
      __syncthreads();
      const int64_t next = j0 + tile_keys;
      if (next < extent.keys) copy_lines<chunks>(keys, tile_keys, k + next * s.width, s.width, extent.keys - next, s.width, aligned, blockDim.x);
      wry_commit_copies();
      if (busy) add_lines<Width, parts>(sums, score, values);
    }
    float inverse[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float all = sum_of_row<4>(total[r]);
      // A row that sees nothing gives zeros. NaN is not nothing: it goes through.
      inverse[r] = all == 0 ? 0 : 1 / all;
      const int64_t i = row0 + g + 8 * r;
      if (t == 0 && i < s.queries) lse_[head * s.queries + i] = all == 0 ? -INFINITY : top[r] + logf(all);
    }
    __syncthreads();
    write_lines<Width>(sums, inverse[0], inverse[1], keys + 16 * warp * Width, out_ + (head * s.queries + row0) * s.value_width, s.queries - row0,
                       extent.queries - row0, s.value_width, aligned);
  }
}

// Warps of a block where each has 16 rows: fewer for few rows, and where large blocks would leave multiprocessors without work.
inline int warps_for(int64_t rows, int64_t heads, int most) {
  while (most > 1 && (rows <= 8 * most || (most > 4 && (rows + 16 * most - 1) / (16 * most) * heads < multiprocessors()))) most /= 2;
  return most;
}
// Heads that tensor cores take. f(width as a constant) for them.
template <typename T>
bool in_lines(const Sizes &s) {
  const int64_t widest = capability() >= 80 ? 128 : 64;
  return has_tensor_cores<T>() && s.width <= widest && s.value_width <= widest;
}
template <typename F>
int with_width(const Sizes &s, F &&f) {
  return s.width > 64 || s.value_width > 64 ? f(std::integral_constant<int, 128>()) : f(std::integral_constant<int, 64>());
}

// Which weights are kept, 1 or 0 in [batch, heads, queries, keys], as the op dropout decides.
__global__ void __launch_bounds__(block_size) decide(int64_t n, Draw draw, uint32_t limit, uint8_t *keep) {
  for
    WRY_EACH(i, n)
  keep[i] = word_of(draw, i) >> 8 < limit;
}

// f(Shape): few rows take small tiles, wide heads all of their columns at once. Of float64 and of 16 bits, which are seldom here, all do.
template <typename T, typename F>
int with_shape(int64_t rows, int64_t columns, F &&f) {
  if constexpr (std::is_same<T, float>::value)
    if (rows > 32) return columns > 64 ? f(Shape<16, 128>()) : f(Shape<16, 64>());
  return f(Shape<8, 64>());
}
inline dim3 tiles_of(int64_t rows, int tile, int64_t heads, int64_t columns, int width) {
  return dim3{unsigned((rows + tile - 1) / tile), some_blocks(heads), unsigned((columns + width - 1) / width)};
}
double kept_factor(double p) { return p < 1 ? 1 / (1 - p) : 1; }

inline bool all_aligned(std::initializer_list<const wry_tensor *> tensors) {
  for (const wry_tensor *t : tensors)
    if (!is_aligned(t->data)) return false;
  return true;
}

// The problem of a call whose inputs from number `first` on are q, k, v, mask?. Weights may be dropped, with probability p.
Problem problem_of(const wry_call *call, int first, bool causal, double p = 0, const uint8_t *keep = nullptr) {
  const Sizes s = sizes_of(input(call, first), input(call, first + 2));
  return {s, mask_of(input(call, first + 3), causal, s.queries, s.keys), attr_float(call, 0), kept_factor(p), keep, nullptr, nullptr, nullptr, false};
}
// And then q_lengths, k_lengths, diagonal?.
Problem problem_of_lengths(const wry_call *call, int first) {
  Problem p = problem_of(call, first, false);
  const wry_tensor *queries = input(call, first + 4), *keys = input(call, first + 5), *diagonal = input(call, first + 6);
  p.q_lengths = queries->data, p.k_lengths = keys->data, p.wide = queries->dtype == WRY_INT64;
  if (diagonal) p.diagonal = diagonal->data;
  return p;
}

template <typename T>
int attend_all(const wry_call *call, const Problem &problem) {
  const wry_tensor *q = input(call, 0), *k = input(call, 1), *v = input(call, 2);
  const Sizes &s = problem.s;
  const int64_t heads = s.batch * s.heads;
  if (heads * s.queries == 0) return WRY_OK;
  if constexpr (is_half<T>)
    if (in_lines<T>(s))
      return with_width(s, [&](auto width) {
        constexpr int Width = decltype(width)::value;
        const int warps = warps_for(s.queries, heads, 8);
        return check(call, wry_launch(attend_lines<Width, T>, tiles_of(s.queries, 16 * warps, heads, 1, 1), dim3(32 * warps), 0, stream(call), problem, data<T>(q),
                                      data<T>(k), data<T>(v), data<T>(output(call, 0)), data<float>(output(call, 1)),
                                      s.width % 8 == 0 && s.value_width % 8 == 0 && all_aligned({q, k, v, output(call, 0)})));
      });
  return with_shape<T>(s.queries, s.value_width, [&](auto shape) {
    using Z = decltype(shape);
    // Without columns there are still sums of exponentials to write.
    const dim3 grid = tiles_of(s.queries, Z::Tile, heads, s.value_width ? s.value_width : 1, Z::Columns);
    return check(call, wry_launch(attend<Z, T>, grid, dim3(Z::Threads), 0, stream(call), problem, data<T>(q), data<T>(k), data<T>(v), data<T>(output(call, 0)),
                                  data<arithmetic_t<T>>(output(call, 1))));
  });
}
template <typename T>
int attention(const wry_call *call) { return attend_all<T>(call, problem_of(call, 0, attr_bool(call, 1))); }
template <typename T>
int attention_dropout(const wry_call *call) {
  const double p = attr_float(call, 2);
  uint8_t *const keep = data<uint8_t>(output(call, 2));
  const Problem problem = problem_of(call, 0, attr_bool(call, 1), p, keep);
  if (const int64_t weights = problem.s.batch * problem.s.heads * problem.s.queries * problem.s.keys) {
    const int threads = threads_for(weights);
    WRY_TRY(wry_launch(decide, blocks_for(weights, threads), dim3(threads), 0, stream(call), weights, draw_of(call),
                       uint32_t(ceil(double(float(1 - p)) * 0x1p24)), keep));
  }
  return attend_all<T>(call, problem);
}
// attention_lengths(q, k, v, mask?, q_lengths, k_lengths, diagonal?) -> out, lse
template <typename T>
int attention_lengths(const wry_call *call) { return attend_all<T>(call, problem_of_lengths(call, 0)); }

// ---- backward -------------------------------------------------------------------------------------

// Of each query: delta = <ct, out>, and mend, by which its weights are multiplied. One warp for a query.
template <typename T>
__global__ void __launch_bounds__(block_size) describe_queries(Problem p, const T *ct, const T *out, const T *q, const T *k, const arithmetic_t<T> *lse,
                                                               arithmetic_t<T> *deltas, arithmetic_t<T> *mends) {
  using A = arithmetic_t<T>;
  const Sizes &s = p.s;
  const int lane = threadIdx.x & 31;
  const int64_t n = s.batch * s.heads * s.queries, warps = int64_t(gridDim.x) * (blockDim.x / 32);
  for (int64_t at = blockIdx.x * int64_t(blockDim.x / 32) + threadIdx.x / 32; at < n; at += warps) {
    const int64_t head = at / s.queries, i = at % s.queries;
    const Extent extent = extent_of(p, head);
    if (i >= extent.queries) continue;  // nobody asks
    A delta = 0, mend = 1;
    for (int64_t e = lane; e < s.value_width; e += 32) delta += load(ct + at * s.value_width + e) * load(out + at * s.value_width + e);
    delta = sum_of_row<32>(delta);
    // Masks of -1e9 where a query sees no key at all: lse has no digits left for the sum behind the maximum.
    const A log_sum = lse[at];
    if (fabs(log_sum) > A(sizeof(A) == 4 ? 1e3 : 1e6) && log_sum != -A(INFINITY)) {
      A sum = 0;
      for (int64_t j = lane; j < extent.keys; j += 32) {
        A dot = 0;
        for (int64_t d = 0; d < s.width; ++d) dot += load(q + at * s.width + d) * load(k + (head * s.keys + j) * s.width + d);
        if (sees(extent, i, j)) sum += exp(masked<T>(p, head, i, j, dot) - log_sum);
      }
      mend = A(1) / sum_of_row<32>(sum);
    }
    if (lane == 0) deltas[at] = delta, mends[at] = mend;
  }
}

template <typename T>
struct Backward {
  const T *ct, *q, *k, *v;
  const arithmetic_t<T> *lse, *delta, *mend;
};
// What the weight of query i and key j is, which it sees, or the cotangent of its score.
template <typename T>
WRY_GPU arithmetic_t<T> weight_of(const Problem &p, const Backward<T> &b, int64_t head, int64_t i, int64_t j, arithmetic_t<T> dot) {
  using A = arithmetic_t<T>;
  const A log_sum = b.lse[head * p.s.queries + i];
  return exp(masked<T>(p, head, i, j, dot) - (log_sum == -A(INFINITY) ? A(0) : log_sum)) * b.mend[head * p.s.queries + i];
}
template <typename T>
WRY_GPU arithmetic_t<T> score_ct(const Problem &p, const Backward<T> &b, int64_t head, int64_t i, int64_t j, arithmetic_t<T> weight, arithmetic_t<T> value_dot) {
  using A = arithmetic_t<T>;
  return weight * (value_dot * factor_of<A>(p, head, i, j) - b.delta[head * p.s.queries + i]) * A(p.scale);
}

// Blocks: (tile of queries, head, part of the columns of q).
template <typename Z, typename T>
__global__ void __launch_bounds__(Z::Threads, 1) query_ct(Problem p, Backward<T> b, T *out) {
  using A = arithmetic_t<T>;
  WRY_SHARED(A, scratch, (scratch_size<Z, A>));
  WRY_SHARED(A, weights, Z::Tile * Z::Pitch);
  const Sizes &s = p.s;
  const int x = threadIdx.x % Z::Side, y = threadIdx.x / Z::Side;
  const int64_t first = blockIdx.x * int64_t(Z::Tile), rows = s.queries - first < Z::Tile ? s.queries - first : Z::Tile, column = blockIdx.z * int64_t(Z::Columns);
  A *const right = scratch + Z::Pitch * depth_step;
  for (int64_t head = blockIdx.y; head < s.batch * s.heads; head += gridDim.y) {
    A sums[4][Z::Own];
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int c = 0; c < Z::Own; ++c) sums[r][c] = A(0);
    const Extent e = extent_of(p, head, first, Z::Tile);
    const int valid = within_tile<Z::Tile>(e.queries - first);
    for (int64_t j0 = 0; j0 < e.keys; j0 += Z::Tile) {
      const int count = within_tile<Z::Tile>(e.keys - j0), ahead = within_tile<Z::Tile>(first + e.reach - j0);  // row r sees columns up to r + ahead
      const int64_t at = head * s.queries + first, key = head * s.keys + j0;
      A score[4][4], value[4][4];
      dot_tiles<Z>(score, b.q + at * s.width, valid, b.k + key * s.width, count, s.width, scratch, right);
      dot_tiles<Z>(value, b.ct + at * s.value_width, valid, b.v + key * s.value_width, count, s.value_width, scratch, right);
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int row = 4 * y + r, other = x + c * Z::Side;
          const bool seen = row < valid && other < count && other - row <= ahead;
          const int64_t i = first + row, j = j0 + other;
          weights[row * Z::Pitch + other] = seen ? score_ct(p, b, head, i, j, weight_of(p, b, head, i, j, score[r][c]), value[r][c]) : A(0);
        }
      add_rows<Z>(sums, weights, b.k + key * s.width, count, s.width, column, scratch);
    }
    const A ones[4] = {A(1), A(1), A(1), A(1)};
    write_rows<Z>(sums, ones, rows, valid, s.width, column, out + (head * s.queries + first) * s.width);
    __syncthreads();
  }
}

// Blocks: (tile of keys, head, part of the columns of keys, or of values).
template <typename Z, typename T, bool OfKeys>
__global__ void __launch_bounds__(Z::Threads, OfKeys ? 1 : 2) key_ct(Problem p, Backward<T> b, T *out) {
  using A = arithmetic_t<T>;
  WRY_SHARED(A, scratch, (scratch_size<Z, A>));
  WRY_SHARED(A, weights, Z::Tile * Z::Pitch);
  const Sizes &s = p.s;
  const int x = threadIdx.x % Z::Side, y = threadIdx.x / Z::Side;
  const int64_t first = blockIdx.x * int64_t(Z::Tile), rows = s.keys - first < Z::Tile ? s.keys - first : Z::Tile, column = blockIdx.z * int64_t(Z::Columns);
  const int64_t width = OfKeys ? s.width : s.value_width;
  A *const right = scratch + Z::Pitch * depth_step;
  for (int64_t head = blockIdx.y; head < s.batch * s.heads; head += gridDim.y) {
    A sums[4][Z::Own];
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int c = 0; c < Z::Own; ++c) sums[r][c] = A(0);
    const Extent e = extent_of(p, head);
    const int valid = within_tile<Z::Tile>(e.keys - first);
    for (int64_t i0 = begin_of_queries(e, first) / Z::Tile * Z::Tile; i0 < e.queries; i0 += Z::Tile) {
      const int count = within_tile<Z::Tile>(e.queries - i0), ahead = within_tile<Z::Tile>(i0 + e.reach - first);  // column c sees rows up to c + ahead
      const int64_t at = head * s.queries + i0, key = head * s.keys + first;
      A score[4][4], value[4][4];
      dot_tiles<Z>(score, b.k + key * s.width, valid, b.q + at * s.width, count, s.width, scratch, right);
      if (OfKeys) dot_tiles<Z>(value, b.v + key * s.value_width, valid, b.ct + at * s.value_width, count, s.value_width, scratch, right);
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int row = 4 * y + r, other = x + c * Z::Side;
          A weight = 0;
          if (row < valid && other < count && row - other <= ahead) {
            const int64_t i = i0 + other, j = first + row;
            weight = weight_of(p, b, head, i, j, score[r][c]);
            weight = OfKeys ? score_ct(p, b, head, i, j, weight, value[r][c]) : weight * factor_of<A>(p, head, i, j);
          }
          weights[row * Z::Pitch + other] = weight;
        }
      add_rows<Z>(sums, weights, (OfKeys ? b.q : b.ct) + at * width, count, width, column, scratch);
    }
    const A ones[4] = {A(1), A(1), A(1), A(1)};
    write_rows<Z>(sums, ones, rows, valid, width, column, out + (head * s.keys + first) * width);
    __syncthreads();
  }
}

// ---- backward, on tensor cores --------------------------------------------------------------------

// Weights of 16 rows and 8 Parts columns, and the cotangents of their scores, in place of the two products; the scale is left to the end.
// element(row, column) gives the query and the key.
template <int Parts, typename T, typename F>
WRY_GPU void weigh(const Problem &p, const Extent &extent, const Backward<T> &b, int64_t head, bool plain, Rows16<Parts> &score, Rows16<Parts> &value, F &&element) {
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const float scale = float(p.scale);
#pragma unroll
  for (int c = 0; c < Parts; ++c)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      int64_t i, j;
      element(g + e / 2 * 8, 8 * c + 2 * t + e % 2, &i, &j);
      if (plain) {
        const int64_t at = head * p.s.queries + i;
        const float log_sum = b.lse[at], weight = __expf(score[c][e] * scale - (log_sum == -INFINITY ? 0 : log_sum)) * b.mend[at];
        score[c][e] = weight, value[c][e] = weight * (value[c][e] - b.delta[at]);
      } else {
        const bool seen = sees(extent, i, j);
        const float weight = seen ? weight_of(p, b, head, i, j, score[c][e]) : 0, factor = seen ? factor_of<float>(p, head, i, j) : 0;
        score[c][e] = weight * factor, value[c][e] = seen ? weight * (value[c][e] * factor - b.delta[head * p.s.queries + i]) : 0;
      }
    }
}

constexpr int half_tile = 32;  // keys, or queries, that are in shared memory twice: multiplied, and coming

// Blocks: (tile of queries, head); a warp has 16 queries, and those and their cotangents in registers.
template <int Width, typename T>
__global__ void __launch_bounds__(256) query_ct_lines(Problem p, Backward<T> b, T *out, bool aligned) {
  if (is_absent<Width>()) return;
  constexpr int chunks = Width / 8, parts = half_tile / 8, tile = half_tile * Width;
  WRY_SHARED(uint4, memory, 4 * half_tile * chunks);
  T *const shared = reinterpret_cast<T *>(memory);  // twice: keys, values
  const Sizes &s = p.s;
  const int warp = threadIdx.x / 32, rows = blockDim.x / 2;
  const int64_t first = (gridDim.x - 1 - blockIdx.x) * int64_t(rows), row0 = first + 16 * warp;
  for (int64_t head = blockIdx.y; head < s.batch * s.heads; head += gridDim.y) {
    const T *const k = b.k + head * s.keys * s.width, *const v = b.v + head * s.keys * s.value_width;
    const Extent extent = extent_of(p, head, first, rows);
    uint32_t q[Width / 16][4], ct[Width / 16][4];
    __syncthreads();
    copy_lines<chunks>(shared, rows, b.q + (head * s.queries + first) * s.width, s.width, extent.queries - first, s.width, aligned, blockDim.x);
    wry_commit_copies();
    wry_wait_copies<0>();
    __syncthreads();
    load_rows<Width>(q, shared, 16 * warp);
    __syncthreads();
    copy_lines<chunks>(shared, rows, b.ct + (head * s.queries + first) * s.value_width, s.value_width, extent.queries - first, s.value_width, aligned, blockDim.x);
    wry_commit_copies();
    wry_wait_copies<0>();
    __syncthreads();
    load_rows<Width>(ct, shared, 16 * warp);
    __syncthreads();
    const auto bring = [&](int64_t j0, int stage) {
      T *const to = shared + stage * 2 * tile;
      copy_lines<chunks>(to, half_tile, k + j0 * s.width, s.width, extent.keys - j0, s.width, aligned, blockDim.x);
      copy_lines<chunks>(to + tile, half_tile, v + j0 * s.value_width, s.value_width, extent.keys - j0, s.value_width, aligned, blockDim.x);
    };
    Rows16<chunks> sums;
    clear<chunks>(sums);
    if (extent.keys > 0) bring(0, 0);
    wry_commit_copies();
    int stage = 0;
#pragma unroll 1
    for (int64_t j0 = 0; j0 < extent.keys; j0 += half_tile, stage ^= 1) {
      wry_wait_copies<0>();
      __syncthreads();
      if (j0 + half_tile < extent.keys) bring(j0 + half_tile, stage ^ 1);
      wry_commit_copies();
      const T *const keys = shared + stage * 2 * tile;
      if (!sees_any(extent, row0, 16, j0)) continue;
      Rows16<parts> score, value;
      dot_lines<Width, parts>(score, q, keys);
      dot_lines<Width, parts>(value, ct, keys + tile);
      weigh<parts>(p, extent, b, head, is_plain(p, extent, row0, 16, j0, half_tile), score, value,
                   [&](int row, int column, int64_t *i, int64_t *j) { *i = row0 + row, *j = j0 + column; });
      add_lines<Width, parts>(sums, value, keys);
    }
    __syncthreads();
    write_lines<Width>(sums, float(p.scale), float(p.scale), shared + 16 * warp * Width, out + (head * s.queries + row0) * s.width, s.queries - row0, extent.queries - row0,
                       s.width, aligned);
  }
}

// Blocks: (tile of keys, head); a warp has 16 keys. Scores lie turned: rows are keys, columns are queries.
template <int Width, typename T>
__global__ void __launch_bounds__(128) key_ct_lines(Problem p, Backward<T> b, T *k_ct, T *v_ct, bool aligned) {
  if (is_absent<Width>()) return;
  constexpr int chunks = Width / 8, parts = half_tile / 8, tile = half_tile * Width;
  WRY_DYNAMIC_SHARED(uint4, memory);  // keys, values, twice: queries and cotangents
  const Sizes &s = p.s;
  const int warp = threadIdx.x / 32, rows = blockDim.x / 2;
  T *const keys = reinterpret_cast<T *>(memory), *const values = keys + rows * Width, *const shared = values + rows * Width;
  const int64_t first = blockIdx.x * int64_t(rows), row0 = first + 16 * warp;
  for (int64_t head = blockIdx.y; head < s.batch * s.heads; head += gridDim.y) {
    const T *const q = b.q + head * s.queries * s.width, *const ct = b.ct + head * s.queries * s.value_width;
    const Extent extent = extent_of(p, head);
    const auto bring = [&](int64_t i0, int stage) {
      T *const to = shared + stage * 2 * tile;
      copy_lines<chunks>(to, half_tile, q + i0 * s.width, s.width, extent.queries - i0, s.width, aligned, blockDim.x);
      copy_lines<chunks>(to + tile, half_tile, ct + i0 * s.value_width, s.value_width, extent.queries - i0, s.value_width, aligned, blockDim.x);
    };
    Rows16<chunks> of_keys, of_values;
    clear<chunks>(of_keys), clear<chunks>(of_values);
    const int64_t begin = begin_of_queries(extent, first) / half_tile * half_tile, valid = extent.keys - first;
    __syncthreads();
    copy_lines<chunks>(keys, rows, b.k + (head * s.keys + first) * s.width, s.width, valid, s.width, aligned, blockDim.x);
    copy_lines<chunks>(values, rows, b.v + (head * s.keys + first) * s.value_width, s.value_width, valid, s.value_width, aligned, blockDim.x);
    if (begin < extent.queries) bring(begin, 0);
    wry_commit_copies();
    int stage = 0;
#pragma unroll 1
    for (int64_t i0 = begin; i0 < extent.queries; i0 += half_tile, stage ^= 1) {
      wry_wait_copies<0>();
      __syncthreads();
      if (i0 + half_tile < extent.queries) bring(i0 + half_tile, stage ^ 1);
      wry_commit_copies();
      const T *const queries = shared + stage * 2 * tile;
      if (!sees_any(extent, i0, half_tile, row0)) continue;
      Rows16<parts> score, value;
      dot_lines<Width, parts>(score, keys, 16 * warp, queries);
      dot_lines<Width, parts>(value, values, 16 * warp, queries + tile);
      const bool plain = is_plain(p, extent, i0, half_tile, row0, 16);
      weigh<parts>(p, extent, b, head, plain, score, value, [&](int row, int column, int64_t *i, int64_t *j) { *i = i0 + column, *j = row0 + row; });
      add_lines<Width, parts>(of_values, score, queries + tile);
      add_lines<Width, parts>(of_keys, value, queries);
    }
    wry_wait_copies<0>();
    __syncthreads();
    write_lines<Width>(of_keys, float(p.scale), float(p.scale), keys + 16 * warp * Width, k_ct + (head * s.keys + row0) * s.width, s.keys - row0,
                       extent.keys - row0, s.width, aligned);
    write_lines<Width>(of_values, 1, 1, keys + 16 * warp * Width, v_ct + (head * s.keys + row0) * s.value_width, s.keys - row0, extent.keys - row0, s.value_width,
                       aligned);
  }
}

template <int Width, typename T>
int launch_ct_lines(const wry_call *call, const Problem &p, const Backward<T> &b, bool aligned) {
  const int64_t heads = p.s.batch * p.s.heads;
  if (heads * p.s.queries * p.s.width != 0) {
    const int warps = warps_for(p.s.queries, heads, 8);
    WRY_TRY(wry_launch(query_ct_lines<Width, T>, tiles_of(p.s.queries, 16 * warps, heads, 1, 1), dim3(32 * warps), 0, stream(call), p, b, data<T>(output(call, 0)),
                       aligned));
  }
  if (heads * p.s.keys == 0) return WRY_OK;
  const int warps = warps_for(p.s.keys, heads, 4), bytes = (32 * warps + 4 * half_tile) * Width * int(sizeof(T));
  const auto kernel = key_ct_lines<Width, T>;
  if (bytes > 48 << 10) WRY_TRY(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  return check(call, wry_launch(kernel, tiles_of(p.s.keys, 16 * warps, heads, 1, 1), dim3(32 * warps), bytes, stream(call), p, b, data<T>(output(call, 1)),
                                data<T>(output(call, 2)), aligned));
}

// Inputs `first` and `first` + 1 are out and lse.
template <typename T>
int attend_vjp(const wry_call *call, const Problem &problem, int first) {
  using A = arithmetic_t<T>;
  const wry_tensor *q = input(call, 1), *k = input(call, 2), *v = input(call, 3), *ct = input(call, 0);
  const Sizes &s = problem.s;
  const int64_t heads = s.batch * s.heads, n = heads * s.queries;
  A *delta = workspace<A>(call, 2 * n + 1), *mend = delta + n;
  if (!delta) return fail_memory(call, "attention_vjp", 2 * n * int64_t(sizeof(A)));
  const Backward<T> b = {data<T>(ct), data<T>(q), data<T>(k), data<T>(v), data<A>(input(call, first + 1)), delta, mend};
  if (n)
    WRY_TRY(wry_launch(describe_queries<T>, blocks_for(32 * n, 128), dim3(n < 4 ? 32 : 128), 0, stream(call), problem, b.ct, data<T>(input(call, first)), b.q, b.k,
                       b.lse, delta, mend));
  if constexpr (is_half<T>)
    if (in_lines<T>(s))
      return with_width(s, [&](auto width) {
        const bool aligned = s.width % 8 == 0 && s.value_width % 8 == 0 && all_aligned({ct, q, k, v, output(call, 0), output(call, 1), output(call, 2)});
        return launch_ct_lines<decltype(width)::value>(call, problem, b, aligned);
      });
  const int status = n * s.width == 0 ? WRY_OK : with_shape<T>(s.queries, s.width, [&](auto shape) {
    using Z = decltype(shape);
    return check(call, wry_launch(query_ct<Z, T>, tiles_of(s.queries, Z::Tile, heads, s.width, Z::Columns), dim3(Z::Threads), 0, stream(call), problem, b,
                                  data<T>(output(call, 0))));
  });
  if (status != WRY_OK || heads * s.keys == 0) return status;
  const auto keys_or_values = [&](auto of_keys, int64_t width, T *out) {
    if (width == 0) return int(WRY_OK);
    return with_shape<T>(s.keys, width, [&](auto shape) {
      using Z = decltype(shape);
      return check(call, wry_launch(key_ct<Z, T, decltype(of_keys)::value>, tiles_of(s.keys, Z::Tile, heads, width, Z::Columns), dim3(Z::Threads), 0,
                                    stream(call), problem, b, out));
    });
  };
  if (const int keys = keys_or_values(std::true_type(), s.width, data<T>(output(call, 1)))) return keys;
  return keys_or_values(std::false_type(), s.value_width, data<T>(output(call, 2)));
}
// attention_vjp(ct, q, k, v, mask?, out, lse) -> q_ct, k_ct, v_ct
template <typename T>
int attention_vjp(const wry_call *call) { return attend_vjp<T>(call, problem_of(call, 1, attr_bool(call, 1)), 5); }
// attention_dropout_vjp(ct, q, k, v, mask?, out, lse, keep) -> q_ct, k_ct, v_ct
template <typename T>
int attention_dropout_vjp(const wry_call *call) {
  return attend_vjp<T>(call, problem_of(call, 1, attr_bool(call, 1), attr_float(call, 2), data<uint8_t>(input(call, 7))), 5);
}
// attention_lengths_vjp(ct, q, k, v, mask?, q_lengths, k_lengths, diagonal?, out, lse) -> q_ct, k_ct, v_ct
template <typename T>
int attention_lengths_vjp(const wry_call *call) { return attend_vjp<T>(call, problem_of_lengths(call, 1), 8); }

#include <wherry/kernels/rows/attention.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(attention, wherry::cuda::table)
