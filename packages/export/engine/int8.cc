// Convolution in blocks of channels with weights of 8 bits, in whole numbers. See blocked.cc of ops-cpu for what images and windows are.
//
// Weights come as the export wrote them: whole numbers of [-127, 127] and a factor for each output. The input is made whole as it comes:
//
//   q = clip(round(x / step) + zero, 0, 127),   step = (most - least) / 127,   zero = round(-least / step)
//
// where least <= 0 <= most are those of a pixel, where windows are points, else of an image. Sums of their products are exact, so that no
// number of threads and neither of the two kinds of this file changes a bit:
//
// - relaxed: products of 8 bits are summed by fours in one instruction. One factor has 7 bits, because what browsers do with more
//   differs; 127 * 127 * 2 is what 16 bits hold, which is how processors without that instruction do it.
// - baseline: in 16 bits, by twos.
#include "correlation.h"
#include "simd.h"

namespace WRY_NAMESPACE {
namespace {

constexpr int64_t block = 16;  // channels side by side
constexpr int64_t chunk = 64;  // pixels that a task takes
constexpr int tile = 2;        // pixels whose sums stay in registers; 3 and 4 are slower by a fifth
constexpr int together = 8;    // whose ranges are found at once
constexpr int most = 127;

#if defined(__wasm_relaxed_simd__)
using whole = uint8_t;                // of an input
constexpr int passes = 1, parts = 4;  // over the outputs of a block; sums of a pass
constexpr int vector_bytes = 16;      // of weights, for one sum
WRY_INLINE v128_t inputs_at(const whole *at) { return wasm_v128_load32_splat(at); }
WRY_INLINE v128_t weights_at(const int8_t *at) { return wasm_v128_load(at); }
WRY_INLINE v128_t add_products(v128_t weights, v128_t inputs, v128_t sum) {
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(weights, inputs, sum);
}
#else
using whole = int16_t;
constexpr int passes = 2, parts = 4;  // a sum is two halves of two outputs
constexpr int vector_bytes = 8;
WRY_INLINE v128_t inputs_at(const whole *at) { return wasm_v128_load64_splat(at); }
WRY_INLINE v128_t weights_at(const int8_t *at) { return wasm_i16x8_load8x8(at); }
WRY_INLINE v128_t add_products(v128_t weights, v128_t inputs, v128_t sum) { return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(weights, inputs)); }
#endif
constexpr int fours = 4 / passes;  // of outputs in a pass

// Sums of a pass as vectors of four outputs.
WRY_INLINE v128_t four_of(const v128_t *sums, int i) {
#if defined(__wasm_relaxed_simd__)
  return sums[i];
#else
  const v128_t a = sums[2 * i], b = sums[2 * i + 1];
  return wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
#endif
}

// ---- inputs -----------------------------------------------------------------------------------------

struct Range {
  float step, inverse;
  int32_t zero;
  float offset;  // what zero stands for
};

// What counts is 0 or a number beyond it; NaN counts as 0.
struct Bounds {
  v128_t least, largest;
  WRY_INLINE void take(const float *x) {  // 16 channels
#pragma GCC unroll 4
    for (int c = 0; c < block; c += 4) {
      const v128_t v = wasm_v128_load(x + c);
      least = wasm_f32x4_pmin(least, v), largest = wasm_f32x4_pmax(largest, v);
    }
  }
};

// The ranges of four pixels at once: divisions take long.
WRY_INLINE void ranges_of(const Bounds *bounds, Range *ranges) {
  const auto turned = [&](auto part, auto least) {  // the least of each of four vectors
    const v128_t a = part(bounds[0]), b = part(bounds[1]), c = part(bounds[2]), d = part(bounds[3]);
    const v128_t ab = least(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
    const v128_t cd = least(wasm_i32x4_shuffle(c, d, 0, 4, 1, 5), wasm_i32x4_shuffle(c, d, 2, 6, 3, 7));
    return least(wasm_i32x4_shuffle(ab, cd, 0, 1, 4, 5), wasm_i32x4_shuffle(ab, cd, 2, 3, 6, 7));
  };
  const v128_t least = turned([](const Bounds &b) { return b.least; }, [](v128_t a, v128_t b) { return wasm_f32x4_pmin(a, b); });
  const v128_t largest = turned([](const Bounds &b) { return b.largest; }, [](v128_t a, v128_t b) { return wasm_f32x4_pmax(a, b); });
  const v128_t width = wasm_f32x4_sub(largest, least), all = wasm_f32x4_splat(most), step = wasm_f32x4_div(width, all);
  const v128_t inverse = wasm_v128_and(wasm_f32x4_div(all, width), wasm_f32x4_gt(width, wasm_f32x4_splat(0)));
  const v128_t zero = wasm_f32x4_nearest(wasm_f32x4_mul(wasm_f32x4_neg(least), inverse)), offset = wasm_f32x4_mul(zero, step);
  float values[4][4];
  wasm_v128_store(values[0], step), wasm_v128_store(values[1], inverse), wasm_v128_store(values[3], offset);
  wasm_v128_store(values[2], wasm_i32x4_trunc_sat_f32x4(zero));
  for (int i = 0; i < 4; ++i) {
    ranges[i] = {values[0][i], values[1][i], 0, values[3][i]};
    memcpy(&ranges[i].zero, &values[2][i], 4);
  }
}

// 16 channels. To round, a number is added beside which floats are whole.
WRY_INLINE void make_whole(const float *x, whole *to, const Range &range) {
  constexpr float large = 12582912;  // 3 * 2^22
  const v128_t inverse = wasm_f32x4_splat(range.inverse), zero = wasm_i16x8_splat(int16_t(range.zero)), top = wasm_i16x8_splat(most);
  const v128_t shift = wasm_f32x4_splat(large);
  const auto rounded = [&](const float *at) {
    return wasm_i32x4_sub(wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(at), inverse), shift), shift);
  };
  v128_t half[2];
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const v128_t both = wasm_i16x8_narrow_i32x4(rounded(x + 8 * i), rounded(x + 8 * i + 4));
    half[i] = wasm_i16x8_min(wasm_i16x8_add_sat(both, zero), top);
  }
#if defined(__wasm_relaxed_simd__)
  wasm_v128_store(to, wasm_u8x16_narrow_i16x8(half[0], half[1]));
#else
  const v128_t none = wasm_i16x8_splat(0);
  wasm_v128_store(to, wasm_i16x8_max(half[0], none)), wasm_v128_store(to + 8, wasm_i16x8_max(half[1], none));
#endif
}

// ---- the tile ---------------------------------------------------------------------------------------

struct Epilogue {
  const float *bias, *residual;  // or null
  bool relu, relu6;
};

// What outputs meet: `count` runs of `length` inputs, run i from offsets[i] on.
struct Runs {
  const int64_t *offsets;
  int64_t count, length;
};

struct Tile {
  const whole *in;
  int64_t apart;  // values from pixel to pixel
  const int8_t *weight;
  const float *factor;  // of the block's outputs
  const float *sums;    // of their weights, times the factor
  const Range *ranges;  // of the first pixel
  int64_t range_step;   // 0 where all pixels have one
  float *out;
  const float *bias, *residual;
};

template <int Pixels>
WRY_INLINE void tile_of(const Runs &runs, const Tile &t, const Epilogue &epilogue) {
  for (int pass = 0; pass < passes; ++pass) {
    v128_t sum[Pixels][parts];
#pragma GCC unroll 8
    for (int p = 0; p < Pixels; ++p)
#pragma GCC unroll 4
      for (int v = 0; v < parts; ++v) sum[p][v] = wasm_i32x4_splat(0);
    const int8_t *w = t.weight + pass * parts * vector_bytes;
    for (int64_t r = 0; r < runs.count; ++r) {
      const whole *a = t.in + runs.offsets[r];
      for (int64_t c = 0; c < runs.length; c += 4, a += 4, w += 4 * block) {
        v128_t x[Pixels];
#pragma GCC unroll 8
        for (int p = 0; p < Pixels; ++p) x[p] = inputs_at(a + p * t.apart);
#pragma GCC unroll 4
        for (int v = 0; v < parts; ++v) {
          const v128_t weights = weights_at(w + v * vector_bytes);
#pragma GCC unroll 8
          for (int p = 0; p < Pixels; ++p) sum[p][v] = add_products(weights, x[p], sum[p][v]);
        }
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < fours; ++i) {
      const int64_t at = (pass * fours + i) * 4;
      const v128_t factor = wasm_v128_load(t.factor + at), sums = wasm_v128_load(t.sums + at);
      const v128_t bias = t.bias ? wasm_v128_load(t.bias + at) : wasm_f32x4_splat(0);
#pragma GCC unroll 8
      for (int p = 0; p < Pixels; ++p) {
        const Range &range = t.ranges[p * t.range_step];
        const v128_t known = wasm_f32x4_sub(bias, wasm_f32x4_mul(wasm_f32x4_splat(range.offset), sums));
        const v128_t products = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(four_of(sum[p], i)), factor);
        v128_t value = wasm_f32x4_add(wasm_f32x4_mul(products, wasm_f32x4_splat(range.step)), known);
        if (t.residual) value = wasm_f32x4_add(value, wasm_v128_load(t.residual + p * block + at));
        if (epilogue.relu || epilogue.relu6) value = wasm_f32x4_pmax(wasm_f32x4_splat(0), value);
        if (epilogue.relu6) value = wasm_f32x4_pmin(wasm_f32x4_splat(6), value);
        wasm_v128_store(t.out + p * block + at, value);
      }
    }
  }
}

// ---- the op -----------------------------------------------------------------------------------------

// x [n, blocks, h, w, 16]; weight: whole numbers [out blocks, blocks, kh, kw, 4 of inputs, 16 outputs, 4] (inputs filled up to fours), after
// them the factors [out blocks * 16]. Its tensor has the shape that conv2d_blocked's has: [out blocks, blocks, kh, kw, inputs, 16].
// In one piece: packing and products share two dozen sizes and places, which would be the arguments of each part.
int conv2d_blocked(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *to = output(call, 0);
  if (to->size == 0) return WRY_OK;
  const int64_t n = x->shape[0], blocks = x->shape[1], h = x->shape[2], w = x->shape[3];
  const int64_t out_blocks = to->shape[1], out_h = to->shape[2], out_w = to->shape[3];
  const int64_t kh = weight->shape[2], kw = weight->shape[3], length = rounded_up(weight->shape[4], 4), taps = kh * kw;
  const Ints strides = attr_ints(call, 0), paddings = attr_ints(call, 1), dilations = attr_ints(call, 2);
  const wry_tensor *bias = input(call, 2), *residual = input(call, 3);
  const Epilogue epilogue = {bias ? data<float>(bias) : nullptr, residual ? data<float>(residual) : nullptr, attr_equals(call, 3, "relu"),
                             attr_equals(call, 3, "relu6")};
  const bool points = taps == 1 && strides[0] == 1 && strides[1] == 1 && !(paddings[0] | paddings[1] | paddings[2] | paddings[3]);
  const int64_t height = h + paddings[0] + paddings[1], width = w + paddings[2] + paddings[3], plane = height * width * block;
  const int64_t pixels = h * w, runs_count = blocks * taps, out_block = runs_count * length * block;  // bytes of weights

  whole *inputs = workspace<whole>(call, n * blocks * plane);
  Range *ranges = workspace<Range>(call, rounded_up(points ? n * pixels : n, 4));
  Bounds *bounds = workspace<Bounds>(call, rounded_up(n * blocks, 4));
  float *sums = workspace<float>(call, out_blocks * block);
  int64_t *offsets = workspace<int64_t>(call, runs_count);
  if (!inputs || !ranges || !bounds || !sums || !offsets) return fail_memory(call, "conv2d_blocked", n * blocks * plane);
  for (int64_t i = 0; i < runs_count; ++i)
    offsets[i] = i / taps * plane + (i % taps / kw * dilations[0] * width + i % kw * dilations[1]) * block;

  // The sums of the weights: what `zero` adds to a sum of products.
  const int8_t *weights = data<int8_t>(weight);
  const float *factors = reinterpret_cast<const float *>(weights + out_blocks * out_block);
  parallel_for(call, out_blocks, max_of<int64_t>(1, 65536 / out_block), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b)
      for (int64_t i = 0; i < 4; ++i) {
        v128_t sum = wasm_i32x4_splat(0);
        for (const int8_t *at = weights + b * out_block + 16 * i, *end = at + out_block; at < end; at += 4 * block)
          sum = wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_extadd_pairwise_i8x16(wasm_v128_load(at))));
        const int64_t to_at = b * block + 4 * i;
        wasm_v128_store(sums + to_at, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum), wasm_v128_load(factors + to_at)));
      }
  });

  // The input in whole numbers.
  const float *image = data<float>(x);
  const Bounds none = {wasm_f32x4_splat(0), wasm_f32x4_splat(0)};
  if (points) {
    const int64_t groups = ceil_div(pixels, together), step = pixels * block;
    parallel_for(call, n * groups, max_of<int64_t>(1, 512 / blocks), [&](int64_t first, int64_t last) {
      for (int64_t g = first; g < last; ++g) {
        const int64_t begin = g % groups * together, count = min_of<int64_t>(together, pixels - begin);
        const int64_t at = g / groups * blocks * step + begin * block;
        Bounds mine[together];
        Range found[together];
        for (int p = 0; p < together; ++p) mine[p] = none;
        for (int64_t b = 0; b < blocks; ++b)
          for (int64_t p = 0; p < count; ++p) mine[p].take(image + at + b * step + p * block);
        for (int p = 0; p < together; p += 4) ranges_of(mine + p, found + p);
        for (int64_t b = 0; b < blocks; ++b)
          for (int64_t p = 0; p < count; ++p) make_whole(image + at + b * step + p * block, inputs + at + b * step + p * block, found[p]);
        memcpy(ranges + g / groups * pixels + begin, found, size_t(count) * sizeof(Range));
      }
    });
  } else {
    parallel_for(call, n * blocks, max_of<int64_t>(1, 4096 / pixels), [&](int64_t first, int64_t last) {
      for (int64_t b = first; b < last; ++b) {
        Bounds mine = none;
        for (int64_t p = 0; p < pixels; ++p) mine.take(image + (b * pixels + p) * block);
        bounds[b] = mine;
      }
    });
    for (int64_t i = 0; i < n; ++i) {
      Bounds all[4] = {none, none, none, none};
      Range found[4];
      for (int64_t b = i * blocks; b < (i + 1) * blocks; ++b)
        all[0] = {wasm_f32x4_pmin(all[0].least, bounds[b].least), wasm_f32x4_pmax(all[0].largest, bounds[b].largest)};
      ranges_of(all, found);
      ranges[i] = found[0];
    }
    parallel_for(call, n * blocks * height, max_of<int64_t>(1, 4096 / width), [&](int64_t first, int64_t last) {
      for (int64_t line = first; line < last; ++line) {
        const Range &range = ranges[line / height / blocks];
        const int64_t y = line % height - paddings[0];
        whole *at = inputs + line * width * block;
        for (int64_t i = 0; i < width; ++i, at += block) {
          const int64_t z = i - paddings[2];
          if (y >= 0 && y < h && z >= 0 && z < w) make_whole(image + ((line / height * h + y) * w + z) * block, at, range);
          else
            for (int c = 0; c < block; ++c) at[c] = whole(range.zero);
        }
      }
    });
  }

  // Tasks take some pixels of a line, all of them one line where windows are points, by some blocks of outputs.
  const Runs runs = {offsets, runs_count, length};
  const int64_t line = points ? pixels : out_w, lines = points ? 1 : out_h, cuts = ceil_div(line, chunk);
  const int64_t tasks = n * lines * cuts, threads = threads_for(call, INT32_MAX);
  const int64_t shared = threads > 1 ? min_of(out_blocks, max_of<int64_t>(1, ceil_div(3 * threads, tasks))) : 1;
  parallel_tasks(call, tasks * shared, [&](int64_t task) {
    const int64_t part = task % shared, cut = task / shared % cuts, y = task / shared / cuts % lines, i = task / shared / cuts / lines;
    const int64_t first = cut * chunk, last = min_of(line, first + chunk);
    for (int64_t b = out_blocks * part / shared; b < out_blocks * (part + 1) / shared; ++b) {
      Tile t;
      t.apart = strides[1] * block, t.weight = weights + b * out_block, t.factor = factors + b * block, t.sums = sums + b * block;
      t.range_step = points, t.bias = epilogue.bias ? epilogue.bias + b * block : nullptr;
      const auto some = [&](auto count, int64_t at) {
        const int64_t to_at = ((i * out_blocks + b) * lines + y) * line * block + at * block;
        t.in = inputs + i * blocks * plane + y * strides[0] * width * block + at * t.apart;
        t.ranges = ranges + (points ? i * pixels + at : i);
        t.out = data<float>(to) + to_at, t.residual = epilogue.residual ? epilogue.residual + to_at : nullptr;
        tile_of<decltype(count)::value>(runs, t, epilogue);
      };
      int64_t at = first;
      for (; at + tile <= last; at += tile) some(std::integral_constant<int, tile>(), at);
      for (; at < last; ++at) some(std::integral_constant<int, 1>(), at);
    }
  });
  return WRY_OK;
}

#if defined(__wasm_relaxed_simd__)
#define KIND ":int8:relaxed"
#else
#define KIND ":int8"
#endif
const wry_kernel_entry table[] = {
    {"conv2d_blocked" KIND, WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, conv2d_blocked, nullptr},
};

}  // namespace
WRY_TABLE(int8, table)

}  // namespace WRY_NAMESPACE
