// Copying one strided block into another of the same shape, of elements of any size.
//
// Values are words of their item size here; nothing is computed. Four cases, best first: both sides
// contiguous (memcpy), rows contiguous (a memcpy each), the source contiguous along another axis
// than the destination (a transpose in tiles of one cache line by one cache line), anything else.
#ifndef WHERRY_OPS_CPU_COPY_H
#define WHERRY_OPS_CPU_COPY_H

#include "common.h"
#include "parallel.h"
#include "strided.h"

namespace WRY_NAMESPACE {

// Bytes that one thread should have to move before a second one pays (measured: a parallel region
// costs some 3 microseconds, in which one core copies about 64 KiB).
constexpr int64_t bytes_per_thread = 1 << 17;

WRY_INLINE void copy_bytes(const wry_call *call, void *to, const void *from, int64_t bytes) {
  parallel_for(call, bytes, bytes_per_thread, [&](int64_t begin, int64_t end) {
    memcpy((char *)to + begin, (const char *)from + begin, size_t(end - begin));
  });
}

WRY_INLINE void zero_bytes(const wry_call *call, void *to, int64_t bytes) {
  parallel_for(call, bytes, bytes_per_thread, [&](int64_t begin, int64_t end) {
    memset((char *)to + begin, 0, size_t(end - begin));
  });
}

typedef uint8_t bytes32 __attribute__((vector_size(32), aligned(1)));

// Rows of up to some pages. A call of memcpy takes longer than copying a hundred bytes, and where the
// two rows lie differently in their cache lines its string instruction is 4 times slower than this
// loop (glibc 2.36 on Zen 4, rows of 4 KiB).
template <typename W>
WRY_INLINE void copy_row(W *WRY_RESTRICT to, const W *WRY_RESTRICT from, int64_t n) {
  const int64_t bytes = n * int64_t(sizeof(W));
  if (bytes > 65536) {
    memcpy((void *)to, (const void *)from, size_t(bytes));
  } else if (bytes >= 32) {
    char *WRY_RESTRICT target = (char *)to;
    const char *WRY_RESTRICT source = (const char *)from;
    int64_t i = 0;
    for (; i + 128 <= bytes; i += 128) {
      const bytes32 a = *(const bytes32 *)(source + i), b = *(const bytes32 *)(source + i + 32);
      const bytes32 c = *(const bytes32 *)(source + i + 64), d = *(const bytes32 *)(source + i + 96);
      *(bytes32 *)(target + i) = a, *(bytes32 *)(target + i + 32) = b;
      *(bytes32 *)(target + i + 64) = c, *(bytes32 *)(target + i + 96) = d;
    }
    for (; i + 32 <= bytes; i += 32) *(bytes32 *)(target + i) = *(const bytes32 *)(source + i);
    // The last piece overlaps the one before it.
    *(bytes32 *)(target + bytes - 32) = *(const bytes32 *)(source + bytes - 32);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

template <typename W>
WRY_INLINE void copy_run(W *WRY_RESTRICT to, int64_t to_step, const W *WRY_RESTRICT from, int64_t from_step,
                         int64_t n) {
  if (to_step == 1 && from_step == 1) {
    copy_row(to, from, n);
  } else if (to_step == 1 && from_step == 0) {
    const W value = *from;
    for (int64_t i = 0; i < n; ++i) to[i] = value;
  } else if (to_step == 1 && from_step == -1) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[-i];
  } else if (to_step == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * from_step];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

// ---- transposes ---------------------------------------------------------------------------------

// A square tile that fits into vector registers: `side` vectors of `side` words.
//
// log2(side) rounds of interleaving row i with row i + side/2 turn rows into columns: each round
// rotates the bits of an element's (row, column) address by one place.
#if defined(__AVX512F__)
constexpr int tile_bytes = 64;
#elif defined(__AVX2__)
constexpr int tile_bytes = 32;
#else
constexpr int tile_bytes = 16;
#endif

template <typename W>
struct tile {
  // Words of 1 and 2 bytes: 16 byte registers, else a tile would need more registers than exist.
  static constexpr int side = sizeof(W) == 16 ? 1 : sizeof(W) >= 4 ? tile_bytes / int(sizeof(W))
                                                                   : 16 / int(sizeof(W));
};

template <typename W>
WRY_INLINE void transpose_tile(W *to, int64_t to_row, const W *from, int64_t from_row) {
  constexpr int side = tile<W>::side;
  typedef W V __attribute__((vector_size(sizeof(W) * side)));
  typedef W U __attribute__((vector_size(sizeof(W) * side), aligned(1)));
  V rows[side], mixed[side];
#pragma GCC unroll 16
  for (int i = 0; i < side; ++i) rows[i] = *(const U *)(from + i * from_row);
#pragma GCC unroll 4
  for (int round = side; round > 1; round /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < side / 2; ++i) {
      const V a = rows[i], b = rows[i + side / 2];
      if constexpr (side == 2) {
        mixed[2 * i] = __builtin_shufflevector(a, b, 0, 2);
        mixed[2 * i + 1] = __builtin_shufflevector(a, b, 1, 3);
      } else if constexpr (side == 4) {
        mixed[2 * i] = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        mixed[2 * i + 1] = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      } else if constexpr (side == 8) {
        mixed[2 * i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
        mixed[2 * i + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
      } else {
        mixed[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        mixed[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < side; ++i) rows[i] = mixed[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < side; ++i) *(U *)(to + i * to_row) = rows[i];
}

template <>
WRY_INLINE void transpose_tile<word16>(word16 *to, int64_t, const word16 *from, int64_t) { *to = *from; }

// to[i * to_row + j] = from[j * from_row + i] for i < rows, j < columns.
template <typename W>
WRY_INLINE void transpose_block(W *to, int64_t to_row, const W *from, int64_t from_row, int64_t rows,
                                int64_t columns) {
  constexpr int side = tile<W>::side;
  constexpr int line = 64 / int(sizeof(W));  // words of a cache line
  // Where the register tile is narrower than a cache line, a whole tile of lines is built in a
  // buffer first: power-of-two row lengths would push half-written lines out of the cache.
  alignas(64) W buffer[line * line];
  int64_t j = 0;
  for (; j + line <= columns; j += line) {
    int64_t i = 0;
    for (; i + line <= rows; i += line) {
      const W *source = from + j * from_row + i;
      W *target = to + i * to_row + j;
      if constexpr (side == line) {
        transpose_tile<W>(target, to_row, source, from_row);
      } else {
        for (int jj = 0; jj < line; jj += side)
          for (int ii = 0; ii < line; ii += side)
            transpose_tile<W>(buffer + ii * line + jj, line, source + jj * from_row + ii, from_row);
        for (int ii = 0; ii < line; ++ii) memcpy(target + ii * to_row, buffer + ii * line, 64);
      }
    }
    for (; i < rows; ++i)
      for (int jj = 0; jj < line; ++jj) to[i * to_row + j + jj] = from[(j + jj) * from_row + i];
  }
  for (; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) to[i * to_row + j] = from[j * from_row + i];
}

// The same of values of so many bytes.
inline __attribute__((noinline)) void transpose_bytes(int64_t item, void *to, int64_t to_row, const void *from, int64_t from_row, int64_t rows,
                                                      int64_t columns) {
  dispatch_size(item, [&](auto word) {
    using W = decltype(word);
    transpose_block((W *)to, to_row, (const W *)from, from_row, rows, columns);
  });
}

// As transpose_block, by tiles that are turned beside the destination and copied along its rows: rows that lie a power of two apart share few sets of the
// cache, and cannot all wait for the rest of their lines (1024 x 1024 floats, Zen 5: 0.6 of the time, 4096 x 64 0.3).
template <typename W>
void transpose_tiles(W *to, int64_t to_row, const W *from, int64_t from_row, int64_t rows, int64_t columns) {
  constexpr int64_t down = sizeof(W) == 1 ? 64 : 32, across = 16384 / (down * int64_t(sizeof(W)));
  alignas(64) W tile[down * across];
  for (int64_t j = 0; j < columns; j += across)
    for (int64_t i = 0; i < rows; i += down) {
      const int64_t height = min_of(down, rows - i), width = min_of(across, columns - j);
      transpose_block(tile, across, from + j * from_row + i, from_row, height, width);
      for (int64_t r = 0; r < height; ++r) copy_row(to + (i + r) * to_row + j, tile + r * across, width);
    }
}

// Two, three or four rows laid into each other: planes of colours to pixels. to[i * N + j] = from[j * from_row + i].
template <int N, typename W>
WRY_INLINE void interleave_rows(W *WRY_RESTRICT to, const W *WRY_RESTRICT from, int64_t from_row, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int j = 0; j < N; ++j) to[i * N + j] = from[j * from_row + i];
}

// The other way round, pixels to planes: to[i * to_row + j] = from[j * N + i].
template <int N, typename W>
WRY_INLINE void separate_rows(W *WRY_RESTRICT to, int64_t to_row, const W *WRY_RESTRICT from, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    for (int i = 0; i < N; ++i) to[i * to_row + j] = from[j * N + i];
}

// The axis along which the source is contiguous while the destination is along the last one; -1
// where a transpose in tiles would not help.
WRY_INLINE int transposed_axis(const StridedLoop<2> &loop) {
  const int inner = loop.rank - 1;
  if (loop.strides[inner][0] != 1 || loop.strides[inner][1] == 1 || loop.strides[inner][1] == 0) return -1;
  for (int axis = 0; axis < inner; ++axis)
    if (loop.strides[axis][1] == 1) return loop.shape[axis] > 1 && loop.shape[inner] >= 2 ? axis : -1;
  return -1;
}

template <typename W>
void copy_transposed(const wry_call *call, const StridedLoop<2> &loop, int axis) {
  const int inner = loop.rank - 1;
  const int64_t rows = loop.shape[axis], columns = loop.shape[inner];
  const int64_t to_row = loop.strides[axis][0], from_row = loop.strides[inner][1];
  // A strip of 4 cache lines of the source's rows: few enough rows of the destination for the
  // TLB, and the processor fetches lines in pairs.
  constexpr int64_t strip = 4 * 64 / int64_t(sizeof(W));
  const int64_t strips = (rows + strip - 1) / strip;
  // Long columns are cut as well, so that there is work for every thread in a wide flat block.
  const int64_t cut = 4096;
  const int64_t cuts = (columns + cut - 1) / cut;
  const int64_t outer = loop.size / (rows * columns);
  const bool conflicts = to_row * int64_t(sizeof(W)) % 2048 == 0 && 2 * loop.size * int64_t(sizeof(W)) < wry_cpu_cached_bytes;
  const int64_t grain = max_of<int64_t>(1, bytes_per_thread / (min_of(rows, strip) * min_of(columns, cut) * int64_t(sizeof(W))));
  parallel_for(call, outer * strips * cuts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t i = piece % strips * strip;
      int64_t rest = piece / strips;
      const int64_t j = rest % cuts * cut;
      rest /= cuts;
      W *to = (W *)loop.base[0] + i * to_row + j;
      const W *from = (const W *)loop.base[1] + j * from_row + i;
      for (int a = inner - 1; a >= 0; --a) {
        if (a == axis) continue;
        const int64_t at = rest % loop.shape[a];
        rest /= loop.shape[a];
        to += at * loop.strides[a][0], from += at * loop.strides[a][1];
      }
      const int64_t here = min_of(strip, rows - i);
      if (columns == to_row && columns == 2) interleave_rows<2>(to, from, from_row, here);
      else if (columns == to_row && columns == 3) interleave_rows<3>(to, from, from_row, here);
      else if (columns == to_row && columns == 4) interleave_rows<4>(to, from, from_row, here);
      else if (rows == from_row && rows == 2) separate_rows<2>(to, to_row, from, min_of(cut, columns - j));
      else if (rows == from_row && rows == 3) separate_rows<3>(to, to_row, from, min_of(cut, columns - j));
      else if (rows == from_row && rows == 4) separate_rows<4>(to, to_row, from, min_of(cut, columns - j));
      else if (conflicts) transpose_tiles(to, to_row, from, from_row, here, min_of(cut, columns - j));
      else transpose_block(to, to_row, from, from_row, here, min_of(cut, columns - j));
    }
  });
}

// ---- copy ---------------------------------------------------------------------------------------

template <typename W>
void copy_loop(const wry_call *call, const StridedLoop<2> &loop) {
  const int axis = transposed_axis(loop);
  if (axis >= 0) {
    copy_transposed<W>(call, loop, axis);
    return;
  }
  parallel_strided(call, loop, bytes_per_thread / int64_t(sizeof(W)), [](char *const *at, const int64_t *step, int64_t n) {
    copy_run((W *)at[0], step[0], (const W *)at[1], step[1], n);
  });
}

// A few values that lie side by side everywhere become one word: a last axis of 2, 4 or more, as of points or colours.
inline void join_values(StridedLoop<2> *loop) {
  const int inner = loop->rank - 1;
  const int64_t n = loop->shape[inner], bytes = n * loop->item[0];
  if (inner == 0 || bytes > 16 || (bytes & (bytes - 1)) || loop->strides[inner][0] != 1 || loop->strides[inner][1] != 1) return;
  for (int k = 0; k < 2; ++k) {
    if (uintptr_t(loop->base[k]) % uintptr_t(bytes)) return;
    for (int axis = 0; axis < inner; ++axis)
      if (loop->strides[axis][k] % n) return;
  }
  for (int k = 0; k < 2; ++k) {
    loop->item[k] = bytes;
    for (int axis = 0; axis < inner; ++axis) loop->strides[axis][k] /= n;
  }
  loop->size /= n;
  --loop->rank;
}

// Writes `from`, broadcast to the shape of `to`, into `to`. They must not overlap.
inline __attribute__((noinline)) void copy_strided(const wry_call *call, const wry_tensor *to,
                                                   const wry_tensor *from) {
  if (to->size == 0) return;
  StridedLoop<2> loop = make_loop<2>(to, {to, from});
  join_values(&loop);
  dispatch_size(loop.item[0], [&](auto word) { copy_loop<decltype(word)>(call, loop); });
}

WRY_INLINE void copy_tensor(const wry_call *call, const wry_tensor *to, const wry_tensor *from) {
  if (to->size == from->size && is_contiguous(to) && is_contiguous(from)) {
    copy_bytes(call, to->data, from->data, to->size * item_size(to));
  } else {
    copy_strided(call, to, from);
  }
}

// ---- parts of tensors ---------------------------------------------------------------------------

// A tensor that is a part of another one, with room for its shape.
}  // namespace WRY_NAMESPACE

#endif
