// Products of floats with weights of 8 or 4 bits (wherry_tensor/ops/weight_only.py says how they lie).
//
// A few rows are bound by reading the weights, which happens once, in the order in which they lie: a vector of integers becomes floats in registers, meets
// an input of each row, and at the end of a group sums are multiplied by its scales. With AVX-512 four bits choose one of 16 floats, an instruction for 16
// weights. Zero points come in at the end of a group, too, by the sum of its inputs.
//
// Many rows are bound by arithmetic: weights become a panel of floats in the first-level cache, which the tiles of gemm.h multiply.
#ifndef WHERRY_OPS_CPU_WEIGHT_ONLY_H
#define WHERRY_OPS_CPU_WEIGHT_ONLY_H

#include "gemm.h"
#include "ints.h"

namespace WRY_NAMESPACE {
namespace weight_only {

constexpr int64_t block = 16;                  // outputs side by side
constexpr int parts = int(block) / f32_lanes;  // vectors of a block
constexpr int most_rows = 4;                   // that are few

// Bytes from a weight to those that are asked for beside it. A first-level cache keeps too few requests under way for all of the bandwidth: the second
// level asks for what is farther away.
constexpr int64_t ahead = 1024, far_ahead = 8192;

WRY_INLINE void ask_ahead(const void *at) {
  __builtin_prefetch(static_cast<const char *>(at) + ahead);
  __builtin_prefetch(static_cast<const char *>(at) + far_ahead, 0, 2);
}

// What stands for zero in the floats that weights of 4 bits become.
#if defined(WRY_AVX512)
constexpr float middle = 8;
#else
constexpr float middle = 0;
#endif

struct Job {
  const float *x;  // rows of `pitch` values, zeros after the inputs
  int64_t rows, pitch, inside, out;
  const void *weight;
  const void *scale;  // [groups, out]
  const void *zero;   // the same of bytes, or null
  const float *sums;  // of the inputs of each group, [rows, groups]; null where nothing needs them
  const float *bias;  // [out up to whole blocks] or null
  int64_t group, groups;
  float *to;      // [rows, out]
  bool is_added;  // to what is there; of few rows alone
};

// The weights of four bits at place j of the eight inputs in each word.
WRY_INLINE f32 nibbles(u32 words, int j) {
#if defined(WRY_AVX512)
  const __m512 values = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
  return (f32)_mm512_permutexvar_ps((__m512i)(words >> (4 * j)), values);  // it looks at four bits alone
#else
  return convert<f32>((i32)((words >> (4 * j)) & 15u));
#endif
}

WRY_INLINE f32 bytes_at(const int8_t *at) { return convert<f32>(load_ints(at)); }

template <bool Four>
constexpr int64_t bytes_of_input = Four ? block / 2 : block;  // of a block

template <typename S>
WRY_INLINE f32 scale_at(const Job &job, int64_t group, int64_t column) {
  const S *at = static_cast<const S *>(job.scale) + group * job.out + column;
  if (WRY_LIKELY(column + f32_lanes <= job.out)) return load(at);
  return column < job.out ? load_partial(at, job.out - column) : f32{};
}

// What has to be taken from weights as floats, for their zero points.
template <bool Four>
WRY_INLINE f32 zero_at(const Job &job, int64_t group, int64_t column) {
  if (!job.zero) return splat<f32>(Four ? 8 - middle : 0);
  int32_t values[f32_lanes] = {};
  const int64_t n = min_of<int64_t>(f32_lanes, job.out - column), at = group * job.out + column;
  for (int64_t i = 0; i < n; ++i)
    values[i] = Four ? static_cast<const uint8_t *>(job.zero)[at + i] : static_cast<const int8_t *>(job.zero)[at + i];
  return convert<f32>(load(values)) - (Four ? middle : 0);
}

// ---- few rows -------------------------------------------------------------------------------------

// What one group of inputs adds to a block of outputs: the sums of products, times the scales.
template <bool Four, typename S, int Rows>
WRY_INLINE void add_group(const Job &job, const char *weight, int64_t first, int64_t g, f32 (&total)[Rows][parts]) {
  constexpr int chains = Rows * parts >= 4 ? 1 : Rows * parts >= 2 ? 2
                                                                   : 4;  // sums that are under way at once
  const float *x = job.x;
  const int64_t begin = g * job.group, end = min_of(job.inside, begin + job.group);
  f32 sum[chains][Rows][parts];
#pragma GCC unroll 4
  for (int u = 0; u < chains; ++u)
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < parts; ++v) sum[u][r][v] = f32{};
  if constexpr (Four) {
    const char *at = weight + begin * bytes_of_input<Four>;
    for (int64_t k = begin; k < end; k += 8, at += 8 * bytes_of_input<Four>) {
      ask_ahead(at);
#pragma GCC unroll 8
      for (int v = 0; v < parts; ++v) {
        const u32 words = load(reinterpret_cast<const uint32_t *>(at) + v * f32_lanes);
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) {
          const f32 w = nibbles(words, j);
#pragma GCC unroll 4
          for (int r = 0; r < Rows; ++r) sum[j % chains][r][v] = fma(w, x[r * job.pitch + k + j], sum[j % chains][r][v]);
        }
      }
    }
  } else {
    const int8_t *at = reinterpret_cast<const int8_t *>(weight) + begin * block;
    int64_t k = begin;
    const auto step = [&](int64_t place, int u) {
#pragma GCC unroll 8
      for (int v = 0; v < parts; ++v) {
        const f32 w = bytes_at(at + u * block + v * f32_lanes);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) sum[u % chains][r][v] = fma(w, x[r * job.pitch + place], sum[u % chains][r][v]);
      }
    };
    for (; k + 4 <= end; k += 4, at += 4 * block) {
      ask_ahead(at);
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) step(k + u, u);
    }
    for (; k < end; ++k, at += block) step(k, 0);
  }
#pragma GCC unroll 8
  for (int v = 0; v < parts; ++v) {
    const int64_t column = first * block + v * f32_lanes;
    const f32 scale = scale_at<S>(job, g, column);
    f32 zero{};
    if (job.sums) zero = zero_at<Four>(job, g, column);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      f32 all = sum[0][r][v];
#pragma GCC unroll 4
      for (int u = 1; u < chains; ++u) all += sum[u][r][v];
      if (job.sums) all = all - zero * job.sums[r * job.groups + g];
      total[r][v] = fma(all, scale, total[r][v]);
    }
  }
}

// So many blocks of outputs take the inputs group by group: these stay in the first-level cache, and scales are read as many side by side.
template <bool Four, typename S, int Rows, int Blocks>
__attribute__((noinline)) void few_rows(const Job &job, int64_t first) {
  const int64_t block_bytes = (Four ? (job.inside + 7) / 8 * 8 : job.inside) * bytes_of_input<Four>;
  const char *weight = static_cast<const char *>(job.weight) + first * block_bytes;
  f32 total[Blocks][Rows][parts];
#pragma GCC unroll 4
  for (int b = 0; b < Blocks; ++b)
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < parts; ++v) total[b][r][v] = f32{};
  for (int64_t g = 0; g < job.groups; ++g) {
    // Scales of two groups lie a row apart, which nobody foresees.
    const S *scales = static_cast<const S *>(job.scale) + (g + 8) * job.out + first * block;
#pragma GCC unroll 4
    for (int b = 0; b < Blocks; ++b) {
      __builtin_prefetch(scales + b * block);
      add_group<Four, S, Rows>(job, weight + b * block_bytes, first + b, g, total[b]);
    }
  }
  for (int b = 0; b < Blocks; ++b)
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < parts; ++v) {
        const int64_t column = (first + b) * block + v * f32_lanes;
        if (column >= job.out) break;
        f32 value = total[b][r][v];
        if (job.bias) value += load(job.bias + column);
        float *to = job.to + r * job.out + column;
        const bool whole = column + f32_lanes <= job.out;
        if (job.is_added) value += whole ? load(to) : load_partial(to, job.out - column);
        if (whole) store(to, value);
        else store_partial(to, value, job.out - column);
      }
}

// At most `most_rows` rows by the blocks of outputs from `first` to `last`.
template <bool Four, typename S>
WRY_INLINE void multiply_blocks(const Job &job, int64_t first, int64_t last) {
  constexpr int together = 4;
  if (job.rows == 1)
    for (; first + together <= last; first += together) few_rows<Four, S, 1, together>(job, first);
  const auto rows = [&](auto count) {
    constexpr int n = decltype(count)::value;
    if (job.rows == n) few_rows<Four, S, n, 1>(job, first);
  };
  for (; first < last; ++first) {
    rows(std::integral_constant<int, 1>()), rows(std::integral_constant<int, 2>());
    rows(std::integral_constant<int, 3>()), rows(std::integral_constant<int, most_rows>());
  }
}

template <bool Four, typename S>
void multiply_few(const wry_call *call, const Job &job) {
  const int64_t blocks = (job.out + block - 1) / block, bytes = max_of<int64_t>(1, job.inside * bytes_of_input<Four>);
  parallel_for(call, blocks, max_of<int64_t>(1, 65536 / bytes), [&](int64_t begin, int64_t end) { multiply_blocks<Four, S>(job, begin, end); });
}

// ---- many rows ------------------------------------------------------------------------------------

template <bool Four, typename S>
bool multiply_many(const wry_call *call, const Job &job) {
  constexpr int64_t columns = gemm_columns<float>;
  const int64_t block_bytes = (Four ? (job.inside + 7) / 8 * 8 : job.inside) * bytes_of_input<Four>;
  const int64_t panels = (job.out + columns - 1) / columns;
  const int64_t threads = threads_for(call, INT32_MAX);
  // Threads share rows only where there are not enough panels: each task makes its panels anew.
  const int64_t shares = threads > 1 && panels < 2 * threads ? min_of<int64_t>(threads, (job.rows + 63) / 64) : 1;
  // Rows in the order in which tiles read them: for each cut of the inputs, panels of gemm_rows.
  const int64_t row_panels = (job.rows + gemm_rows - 1) / gemm_rows, tall = row_panels * gemm_rows;
  float *packed = workspace<float>(call, tall * job.inside);
  if (!packed) return false;
  parallel_for(call, row_panels, max_of<int64_t>(1, 16384 / (gemm_rows * job.inside)), [&](int64_t begin, int64_t end) {
    for (int64_t from = 0; from < job.inside; from += gemm_depth) {
      const int64_t depth = min_of(job.inside - from, gemm_depth);
      for (int64_t i = begin * gemm_rows; i < end * gemm_rows; i += gemm_rows)
        gemm_pack_rows<float>(packed + from * tall + i * depth, min_of<int64_t>(job.rows - i, gemm_rows), depth,
                              {job.x + i * job.pitch + from, job.pitch, 1});
    }
  });
  parallel_tasks(call, panels * shares, [&](int64_t task) {
    const int64_t column = task / shares * columns, share = task % shares;
    const int64_t top = row_panels * share / shares * gemm_rows, bottom = min_of(job.rows, row_panels * (share + 1) / shares * gemm_rows);
    alignas(64) float panel[gemm_depth * columns];
    for (int64_t from = 0; from < job.inside; from += gemm_depth) {
      const int64_t depth = min_of(job.inside - from, gemm_depth);
      for (int64_t c = 0; c < columns; c += f32_lanes) {
        const int64_t at = column + c;
        if (at >= job.out) {
          for (int64_t k = 0; k < depth; ++k) store(panel + k * columns + c, f32{});
          continue;
        }
        const char *weight = static_cast<const char *>(job.weight) + at / block * block_bytes;
        const int64_t lane = at % block;
        for (int64_t k = from, end = from + depth; k < end;) {
          const int64_t g = k / job.group, stop = min_of(end, (g + 1) * job.group);
          const f32 scale = scale_at<S>(job, g, at), less = zero_at<Four>(job, g, at) * scale;
          if constexpr (Four)
            for (; k < stop; k += 8) {
              const u32 words = load(reinterpret_cast<const uint32_t *>(weight) + k / 8 * block + lane);
              const int64_t n = min_of<int64_t>(8, stop - k);
              for (int j = 0; j < n; ++j) store(panel + (k - from + j) * columns + c, nibbles(words, j) * scale - less);
            }
          else
            for (; k < stop; ++k)
              store(panel + (k - from) * columns + c, bytes_at(reinterpret_cast<const int8_t *>(weight) + k * block + lane) * scale - less);
        }
      }
      Start<float> start;
      start.accumulate = from > 0;
      start.per_column = from > 0 || !job.bias ? nullptr : job.bias + column;
      for (int64_t i = top; i < bottom; i += gemm_rows)
        gemm_tile<float, 2>(min_of<int64_t>(bottom - i, gemm_rows), job.out - column, depth, packed + from * tall + i * depth, 1, gemm_rows, panel,
                            columns, job.to + i * job.out + column, job.out, start);
    }
  });
  return true;
}

// ---- both -----------------------------------------------------------------------------------------

template <bool Four>
bool multiply_weight(const wry_call *call, const Job &job, int32_t scale) {
  bool done = true;
  dispatch<float, float16, bfloat16>(scale, [&](auto tag) {
    using S = decltype(tag);
    if (job.rows <= most_rows) multiply_few<Four, S>(call, job);
    else done = multiply_many<Four, S>(call, job);
  });
  return done;
}

}  // namespace weight_only
}  // namespace WRY_NAMESPACE

#endif
