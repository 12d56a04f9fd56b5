// Convolution and pooling of images in blocks of channels, as programs for inference use them.
//
// An image is [n, blocks, h, w, 16]: 16 channels lie side by side, so that vectors run along them and nothing has to be turned
// round on the way from one convolution to the next. Weights were put in order before the program ran
// (wherry_tensor/ops/blocked.py says how). float32 only; everything else is computed by the ops' decompositions.
//
// A dense convolution keeps a tile of some pixels by one or two blocks in registers while the values of the inputs that they meet
// are broadcast one by one, after Georganas et al., "Anatomy of High-Performance Deep Learning Convolutions on SIMD
// Architectures" (2018). Where a window is larger than a point, tasks copy the lines that they read with their zero border first, and
// for steps beyond 1 with the columns sorted by their remainder: then no tap checks bounds, and neighbouring outputs always meet
// neighbouring inputs. Windows of 3x3 may be computed by Winograd's minimal filtering (winograd.h), whose 36 products are of the
// same kind.
//
// What comes after a convolution (bias, residual, activation) is computed on the tile before it is written.
#include "epilogue.h"
#include "winograd.h"

namespace WRY_NAMESPACE {
namespace {

constexpr int64_t block = 16;                  // channels side by side
constexpr int parts = int(block) / f32_lanes;  // vectors of a block

// The tile: two halves of so many pixels, by so many blocks of outputs.
#if WRY_VECTOR_BYTES == 64
constexpr int half = 7, blocks_at_once = 2;  // 28 of 32 registers
#elif WRY_VECTOR_BYTES == 32
constexpr int half = 3, blocks_at_once = 1;  // 12 of 16
#elif defined(__aarch64__)
constexpr int half = 3, blocks_at_once = 1;  // 24 of 32
#else
constexpr int half = 1, blocks_at_once = 1;  // 8 of 16
#endif

// ---- what comes after a convolution --------------------------------------------------------------

struct Epilogue {
  const float *bias;      // [blocks * 16] or null
  const float *residual;  // as the output, or null
  Activation activation;
  WRY_INLINE bool late() const { return activation > Activation::relu6; }
};

// How many steps before it is used a weight is asked for: it comes from far where a program has many.
constexpr int64_t ahead = 64;

// ---- the tile -------------------------------------------------------------------------------------

// What a tile sums over: `count` runs of `length` values, run i from in + offsets[i] on, with the weights of all of them one after
// the other.
struct Runs {
  const int64_t *offsets;
  int64_t count, length;
  int64_t step;  // from value to value, where pixels lie side by side; in blocks it is 1
};

struct Tile {
  const float *in[2];    // where the first pixel of each half begins
  const float *weight;   // of the first block
  int64_t weight_block;  // from block to block
  float *out[2];
  int64_t out_block;
  const float *bias;         // of the first block, or null
  const float *residual[2];  // or null
  Activation activation;     // none, relu, relu6: the others come later
};

// `Pixels` of each of `Halves` halves by `Blocks` blocks. `Apart`: values from pixel to pixel, 16 in blocks, 1 in planes.
template <int Pixels, int Halves, int Blocks, int Apart>
__attribute__((noinline)) void tile_of(const Runs &runs, const Tile &t) {
  constexpr int rows = Pixels * Halves, columns = Blocks * parts;
  f32 sum[rows][columns];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < columns; ++v) sum[i][v] = f32{};
  const float *WRY_RESTRICT w = t.weight;
  const int64_t weight_block = t.weight_block, length = runs.length, step = Apart == 1 ? runs.step : 1;
  for (int64_t r = 0; r < runs.count; ++r) {
    const float *WRY_RESTRICT a = t.in[0] + runs.offsets[r], *WRY_RESTRICT b = t.in[1] + runs.offsets[r];
    for (int64_t c = 0; c < length; ++c, a += step, b += step, w += block) {
      f32 factor[columns];
#pragma GCC unroll 2
      for (int v = 0; v < Blocks; ++v) __builtin_prefetch(w + v * weight_block + ahead * block);
#pragma GCC unroll 8
      for (int v = 0; v < columns; ++v) factor[v] = load(w + v / parts * weight_block + v % parts * f32_lanes);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const float x = i < Pixels ? a[i * Apart] : b[(i - Pixels) * Apart];
#pragma GCC unroll 8
        for (int v = 0; v < columns; ++v) sum[i][v] = fma(factor[v], x, sum[i][v]);
      }
    }
  }
  if (t.bias) {
    f32 bias[columns];
#pragma GCC unroll 8
    for (int v = 0; v < columns; ++v) bias[v] = load(t.bias + v * f32_lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < columns; ++v) sum[i][v] += bias[v];
  }
  const auto place = [](int i, int v) { return (i < Pixels ? i : i - Pixels) * block + v % parts * f32_lanes; };
  if (t.residual[0]) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < columns; ++v) sum[i][v] += load(t.residual[i >= Pixels] + v / parts * t.out_block + place(i, v));
  }
  if (t.activation == Activation::relu) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < columns; ++v) sum[i][v] = relu(sum[i][v]);
  } else if (t.activation == Activation::relu6) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < columns; ++v) sum[i][v] = relu6(sum[i][v]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < columns; ++v) store(t.out[i >= Pixels] + v / parts * t.out_block + place(i, v), sum[i][v]);
}

// Lines of pixels by blocks [first, last) of outputs, tile by tile. Pixel (y, x) meets in + y * in_line + x * apart and is
// written to out + y * out_line + x * 16.
struct Lines {
  const float *in;
  int64_t in_line, count, width;
  const float *weight;
  int64_t weight_block;
  float *out;
  int64_t out_line, out_block;
};

// f of a length of `Most` pixels or fewer, as a constant.
template <int Most, typename F>
WRY_INLINE void of_length(int64_t length, const F &f) {
  if constexpr (Most > 0) {
    if (length == Most) f(std::integral_constant<int, Most>());
    else of_length<Most - 1>(length, f);
  }
}

template <int Apart, int Blocks>
WRY_INLINE void lines_by_blocks(const Runs &runs, const Lines &l, const Epilogue &epilogue, int64_t at) {
  Tile t;
  t.weight = l.weight + at * l.weight_block, t.weight_block = l.weight_block, t.out_block = l.out_block;
  t.bias = epilogue.bias ? epilogue.bias + at * block : nullptr;
  t.activation = epilogue.late() ? Activation::none : epilogue.activation;
  float *const out = l.out + at * l.out_block;
  const int64_t away = epilogue.residual ? epilogue.residual - l.out : 0;
  const auto half_at = [&](int h, int64_t y, int64_t x) {
    t.in[h] = l.in + y * l.in_line + x * Apart;
    t.out[h] = out + y * l.out_line + x * block;
    t.residual[h] = epilogue.residual ? t.out[h] + away : nullptr;
  };
  const auto done = [&](int halves, int64_t pixels) {
    if (!epilogue.late()) return;
    for (int h = 0; h < halves; ++h)
      for (int b = 0; b < Blocks; ++b) activate(epilogue.activation, t.out[h] + b * l.out_block, pixels * block);
  };
  // Pieces of lines, as long as each other or by one pixel longer: tiles of a few pixels would wait for their sums. The halves of a tile may
  // belong to two lines.
  const int64_t pieces = ceil_div(l.width, half), least = l.width / pieces, longer = l.width % pieces;
  const auto run = [&](auto pixels, int64_t from, int64_t number) {
    constexpr int n = decltype(pixels)::value;
    const int64_t halves = number * l.count;
    int64_t y = 0, x = 0;
    const auto next_at = [&](int h) {
      half_at(h, y, from + x * n);
      if (++x == number) x = 0, ++y;
    };
    for (int64_t i = 0; i + 2 <= halves; i += 2) {
      next_at(0), next_at(1);
      tile_of<n, 2, Blocks, Apart>(runs, t);
      done(2, n);
    }
    if (halves % 2) {
      next_at(0), t.in[1] = t.in[0];
      tile_of<n, 1, Blocks, Apart>(runs, t);
      done(1, n);
    }
  };
  if (longer) of_length<half>(least + 1, [&](auto pixels) { run(pixels, 0, longer); });
  of_length<half>(least, [&](auto pixels) { run(pixels, longer * (least + 1), pieces - longer); });
}

template <int Apart>
void lines(const Runs &runs, const Lines &l, const Epilogue &epilogue, int64_t first, int64_t last) {
  int64_t at = first;
  for (; at + blocks_at_once <= last; at += blocks_at_once) lines_by_blocks<Apart, blocks_at_once>(runs, l, epilogue, at);
  if constexpr (blocks_at_once > 1)
    if (at < last) lines_by_blocks<Apart, 1>(runs, l, epilogue, at);
}

// ---- shapes ---------------------------------------------------------------------------------------

struct Image {
  int64_t n, blocks, h, w;
  WRY_INLINE int64_t plane() const { return h * w * block; }
  WRY_INLINE int64_t size() const { return blocks * plane(); }
};

WRY_INLINE Image image_of(const wry_tensor *t) { return {t->shape[0], t->shape[1], t->shape[2], t->shape[3]}; }

WRY_INLINE Epilogue epilogue_of(const wry_call *call) {
  const wry_tensor *bias = input(call, 2), *residual = input(call, 3);
  return {bias ? data<float>(bias) : nullptr, residual ? data<float>(residual) : nullptr, Activation::none};
}

WRY_INLINE void copy_values(float *to, const float *from, int64_t n) { __builtin_memcpy(to, from, size_t(n) * sizeof(float)); }

// Tasks of lines, and how many of them share the blocks of outputs.
struct Shares {
  int64_t lines, parts;
};

// `line`: values that one line of outputs reads. A task's lines should stay in the second-level cache.
Shares shares_of(const wry_call *call, int64_t images, int64_t lines, int64_t line, int64_t out_blocks, int64_t unit) {
  const int64_t threads = threads_for(call, INT32_MAX);
  int64_t most = max_of<int64_t>(1, min_of(lines, 49152 / max_of<int64_t>(1, line)));
  if (threads > 1) most = min_of(most, max_of(unit, ceil_div(images * lines, 4 * threads)));
  if (most > unit) most = most / unit * unit;
  const int64_t tasks = images * ceil_div(lines, most);
  const int64_t shared = threads > 1 && tasks < 3 * threads
                             ? max_of<int64_t>(1, min_of(ceil_div(3 * threads, tasks), out_blocks / (2 * blocks_at_once)))
                             : 1;
  return {most, shared};
}

// ---- dense convolution ----------------------------------------------------------------------------

// A 1x1 window with step 1: pixels of all lines are one line.
int convolve_points(const wry_call *call, const Image &in, const Image &to, const Epilogue &epilogue) {
  const float *x = data<float>(input(call, 0)), *weight = data<float>(input(call, 1));
  float *out = data<float>(output(call, 0));
  const int64_t pixels = in.h * in.w;
  int64_t *offsets = workspace<int64_t>(call, in.blocks + 1);
  if (!offsets) return fail_memory(call, "conv2d_blocked", in.blocks * 8);
  for (int64_t b = 0; b < in.blocks; ++b) offsets[b] = b * in.plane();
  const Runs runs = {offsets, in.blocks, input(call, 1)->shape[4], 1};
  const Shares s = shares_of(call, in.n, pixels, in.blocks * block, to.blocks, 2 * half);
  const int64_t cuts = ceil_div(pixels, s.lines);
  parallel_tasks(call, in.n * cuts * s.parts, [&](int64_t task) {
    const int64_t part = task % s.parts, cut = task / s.parts % cuts, n = task / s.parts / cuts, first = cut * s.lines;
    const int64_t at = n * to.size() + first * block;
    const Lines l = {x + n * in.size() + first * block, 0, 1, min_of(s.lines, pixels - first), weight, in.blocks * runs.length * block,
                     out + at, 0, to.plane()};
    Epilogue mine = epilogue;
    if (mine.residual) mine.residual += at;
    lines<int(block)>(runs, l, mine, to.blocks * part / s.parts, to.blocks * (part + 1) / s.parts);
  });
  return WRY_OK;
}

// x [n, blocks, h, w, 16] or planes [n, channels, h, w]; weight [out blocks, blocks, kh, kw, 16 (of one block, also fewer), 16] or
// [out blocks, kh, kw, channels, 16]; bias [out blocks * 16] or absent; residual as the output or absent.
int conv2d_blocked(const wry_call *call) {
  const wry_tensor *weight = input(call, 1);
  if (output(call, 0)->size == 0) return WRY_OK;
  const Image in = image_of(input(call, 0)), to = image_of(output(call, 0));  // of planes: blocks are channels
  const bool planes = input(call, 0)->rank == 4;
  const Ints strides = attr_ints(call, 0), paddings = attr_ints(call, 1), dilations = attr_ints(call, 2);
  Epilogue epilogue = epilogue_of(call);
  if (!activation_of(call, 3, &epilogue.activation)) return unknown_activation(call, "conv2d_blocked", 3);
  const int64_t kh = weight->shape[planes ? 1 : 2], kw = weight->shape[planes ? 2 : 3], sy = strides[0], sx = strides[1];
  if (!planes && kh * kw == 1 && sy == 1 && sx == 1 && !(paddings[0] | paddings[1] | paddings[2] | paddings[3]))
    return convolve_points(call, in, to, epilogue);
  const int64_t unit = planes ? 1 : block, taps = kh * kw;
  const int64_t span_y = (kh - 1) * dilations[0], span_x = (kw - 1) * dilations[1];
  const int64_t columns = to.w + span_x / sx, classes = min_of(sx, span_x + 1);
  const int64_t pitch = columns * classes * unit;  // values of a line of a strip
  const Shares s = shares_of(call, in.n, to.h, in.blocks * pitch * min_of(sy, kh), to.blocks, to.w % (2 * half) ? 2 : 1);
  const int64_t rows = (s.lines - 1) * sy + span_y + 1, plane = rows * pitch;
  const int64_t cuts = ceil_div(to.h, s.lines), tasks = in.n * cuts * s.parts;
  const int64_t count = planes ? taps : in.blocks * taps;
  int64_t *offsets = workspace<int64_t>(call, count + 1);
  Slices<float> slices(call, in.blocks * plane, tasks);
  if (!offsets || !slices.memory) return fail_memory(call, "conv2d_blocked", in.blocks * plane * 4);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t t = i % taps, dx = t % kw * dilations[1];
    offsets[i] = i / taps * plane + t / kw * dilations[0] * pitch + (dx % sx * columns + dx / sx) * unit;
  }
  const Runs runs = {offsets, count, planes ? in.blocks : weight->shape[4], plane};
  const int64_t weight_block = count * runs.length * block, in_plane = in.h * in.w * unit;
  parallel_tasks(call, tasks, [&](int64_t task) {
    const int64_t part = task % s.parts, cut = task / s.parts % cuts, n = task / s.parts / cuts, first = cut * s.lines;
    const int64_t count_here = min_of(s.lines, to.h - first), rows_here = (count_here - 1) * sy + span_y + 1;
    float *strip = slices.mine();
    const float *image = data<float>(input(call, 0)) + n * in.blocks * in_plane;
    for (int64_t r = 0; r < rows_here; ++r) {
      if (kh == 1 && r % sy) continue;
      const int64_t y = first * sy - paddings[0] + r;
      for (int64_t b = 0; b < in.blocks; ++b) {
        float *line = strip + b * plane + r * pitch;
        if (y < 0 || y >= in.h) {
          fill_zero(line, pitch);
          continue;
        }
        for (int64_t c = 0; c < classes; ++c, line += columns * unit) {
          int64_t from, end;
          valid_range(columns, sx, c - paddings[2], in.w, &from, &end);
          const float *at = image + b * in_plane + (y * in.w + from * sx + c - paddings[2]) * unit;
          if (planes) {
            copy_bordered(line, columns, from, end, at, sx);
            continue;
          }
          fill_zero(line, from * block);
          if (sx == 1) copy_values(line + from * block, at, (end - from) * block);
          else
            for (int64_t i = from; i < end; ++i, at += sx * block) copy_values(line + i * block, at, block);
          fill_zero(line + end * block, (columns - end) * block);
        }
      }
    }
    const int64_t at = n * to.size() + first * to.w * block;
    const Lines l = {strip, sy * pitch, count_here, to.w, data<float>(weight), weight_block, data<float>(output(call, 0)) + at,
                     to.w * block, to.plane()};
    Epilogue mine = epilogue;
    if (mine.residual) mine.residual += at;
    const int64_t begin = to.blocks * part / s.parts, end = to.blocks * (part + 1) / s.parts;
    if (planes) lines<1>(runs, l, mine, begin, end);
    else lines<int(block)>(runs, l, mine, begin, end);
  });
  return WRY_OK;
}

// ---- Winograd -------------------------------------------------------------------------------------

// x [n, blocks, h, w, 16]; weight [36, out blocks, blocks, 16, 16], transformed; bias, residual.
//
// A group of tiles is transformed to 36 planes [blocks, tiles, 16] which are multiplied by those of the weight.
struct Grid {
  Image in, to;
  int64_t tiles_y, tiles_x, top, left;  // paddings in front

  WRY_INLINE void place(int64_t tile, int64_t *n, int64_t *y, int64_t *x) const {
    *x = tile % tiles_x * 4, *y = tile / tiles_x % tiles_y * 4, *n = tile / tiles_x / tiles_y;
  }
};

WRY_INLINE void tiles_in(const Grid &g, const float *x, int64_t first, int64_t count, int64_t b, float *to, int64_t plane) {
  for (int64_t i = 0; i < count; ++i, to += block) {
    int64_t n, y, z;
    g.place(first + i, &n, &y, &z);
    y -= g.top, z -= g.left;
    const float *at = x + (n * g.in.blocks + b) * g.in.plane() + (y * g.in.w + z) * block;
    const bool inside = y >= 0 && z >= 0 && y + 6 <= g.in.h && z + 6 <= g.in.w;
    alignas(64) float copy[36 * block];
    int64_t line = g.in.w * block;
    if (!inside) {
      for (int v = 0; v < 6; ++v)
        for (int u = 0; u < 6; ++u) {
          const bool here = y + v >= 0 && y + v < g.in.h && z + u >= 0 && z + u < g.in.w;
          for (int64_t c = 0; c < block; c += f32_lanes)
            store(copy + (v * 6 + u) * block + c, here ? load(at + v * line + u * block + c) : f32{});
        }
      at = copy, line = 6 * block;
    }
    for (int64_t c = 0; c < block; c += f32_lanes) {
      f32 d[36], between[36];
#pragma GCC unroll 6
      for (int v = 0; v < 6; ++v)
#pragma GCC unroll 6
        for (int u = 0; u < 6; ++u) d[6 * v + u] = load(at + v * line + u * block + c);
#pragma GCC unroll 6
      for (int u = 0; u < 6; ++u) winograd::transform_input(d + u, 6, between + u, 6);
#pragma GCC unroll 6
      for (int v = 0; v < 6; ++v) winograd::transform_input(between + 6 * v, 1, d + 6 * v, 1);
      float *into = to + c;
#pragma GCC unroll 36
      for (int p = 0; p < 36; ++p, into += plane) store(into, d[p]);
    }
  }
}

WRY_INLINE void tiles_out(const Grid &g, float *out, const Epilogue &epilogue, int64_t first, int64_t count, int64_t b, const float *from,
                          int64_t plane) {
  const float *bias = epilogue.bias ? epilogue.bias + b * block : nullptr;
  for (int64_t i = 0; i < count; ++i, from += block) {
    int64_t n, y, z;
    g.place(first + i, &n, &y, &z);
    const int64_t start = (n * g.to.blocks + b) * g.to.plane() + (y * g.to.w + z) * block;
    const int64_t bottom = min_of<int64_t>(4, g.to.h - y), right = min_of<int64_t>(4, g.to.w - z);
    for (int64_t c = 0; c < block; c += f32_lanes) {
      f32 m[36], between[24], o[16];
      const float *at = from + c;
#pragma GCC unroll 36
      for (int p = 0; p < 36; ++p, at += plane) m[p] = load(at);
#pragma GCC unroll 6
      for (int u = 0; u < 6; ++u) winograd::transform_output(m + u, 6, between + u, 6);
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) winograd::transform_output(between + 6 * v, 1, o + 4 * v, 1);
      const f32 summand = bias ? load(bias + c) : f32{};
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
#pragma GCC unroll 4
        for (int u = 0; u < 4; ++u) {
          if (v >= bottom || u >= right) continue;
          const int64_t there = start + (v * g.to.w + u) * block + c;
          f32 value = o[4 * v + u] + summand;
          if (epilogue.residual) value += load(epilogue.residual + there);
          if (epilogue.activation == Activation::relu) value = relu(value);
          else if (epilogue.activation == Activation::relu6) value = relu6(value);
          store(out + there, value);
        }
    }
    if (epilogue.late())
      for (int64_t v = 0; v < bottom; ++v) activate(epilogue.activation, out + start + v * g.to.w * block, right * block);
  }
}

int winograd_conv2d_blocked(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const Ints paddings = attr_ints(call, 0);
  Grid g = {image_of(input(call, 0)), image_of(output(call, 0)), 0, 0, paddings[0], paddings[2]};
  g.tiles_y = ceil_div(g.to.h, 4), g.tiles_x = ceil_div(g.to.w, 4);
  Epilogue epilogue = epilogue_of(call);
  if (!activation_of(call, 1, &epilogue.activation)) return unknown_activation(call, "winograd_conv2d_blocked", 1);
  const int64_t tiles = g.in.n * g.tiles_y * g.tiles_x, cin = g.in.blocks, cout = g.to.blocks;
  const float *x = data<float>(input(call, 0)), *weight = data<float>(input(call, 1));
  float *out = data<float>(output(call, 0));
  // The 36 planes before and after the products, and a plane of the weight, share the second-level cache.
  const int64_t threads = threads_for(call, INT32_MAX), unit = 2 * half;
  const int64_t group = min_of(tiles, max_of(unit, (160 * 1024 / (36 * (cin + cout) * block) + unit / 2) / unit * unit));
  const int64_t groups = ceil_div(tiles, group);
  const bool alone = groups >= 2 * threads;  // a thread takes groups from beginning to end
  // Planes an odd number of lines apart: at a power of two they would compete for few sets of the cache.
  const int64_t in_plane = winograd::odd_lines(cin * group * block), out_plane = winograd::odd_lines(cout * group * block);
  const int64_t size = 36 * (in_plane + out_plane);
  int64_t *offsets = workspace<int64_t>(call, cin + 1);
  Slices<float> slices(call, size, alone ? groups : 1);
  if (!offsets || !slices.memory) return fail_memory(call, "winograd_conv2d_blocked", size * 4);
  for (int64_t b = 0; b < cin; ++b) offsets[b] = b * group * block;
  const Runs runs = {offsets, cin, block, 1};
  const auto multiply = [&](float *in, float *to, int64_t p, int64_t count, int64_t begin, int64_t end) {
    const Lines l = {in + p * in_plane, 0, 1, count, weight + p * cout * cin * block * block, cin * block * block, to + p * out_plane, 0,
                     group * block};
    lines<int(block)>(runs, l, {nullptr, nullptr, Activation::none}, begin, end);
  };
  if (alone) {
    parallel_tasks(call, groups, [&](int64_t task) {
      float *in = slices.mine(), *to = in + 36 * in_plane;
      const int64_t first = task * group, count = min_of(group, tiles - first);
      for (int64_t b = 0; b < cin; ++b) tiles_in(g, x, first, count, b, in + offsets[b], in_plane);
      for (int64_t p = 0; p < 36; ++p) multiply(in, to, p, count, 0, cout);
      for (int64_t b = 0; b < cout; ++b) tiles_out(g, out, epilogue, first, count, b, to + b * group * block, out_plane);
    });
    return WRY_OK;
  }
  float *in = slices.memory, *to = in + 36 * in_plane;
  for (int64_t first = 0; first < tiles; first += group) {
    const int64_t count = min_of(group, tiles - first), pairs = ceil_div(cout, 2 * blocks_at_once);
    parallel_tasks(call, cin, [&](int64_t b) { tiles_in(g, x, first, count, b, in + offsets[b], in_plane); });
    parallel_tasks(call, 36 * pairs, [&](int64_t task) {
      multiply(in, to, task / pairs, count, cout * (task % pairs) / pairs, cout * (task % pairs + 1) / pairs);
    });
    parallel_tasks(call, cout, [&](int64_t b) { tiles_out(g, out, epilogue, first, count, b, to + b * group * block, out_plane); });
  }
  return WRY_OK;
}

// ---- depthwise ------------------------------------------------------------------------------------

// One pixel, with taps that may lie outside.
WRY_INLINE void depthwise_pixel(const float *image, const Image &in, const float *weight, const float *bias, int64_t kh, int64_t kw,
                                int64_t y, int64_t x, Ints dilations, float *out) {
  for (int64_t c = 0; c < block; c += f32_lanes) {
    f32 sum = bias ? load(bias + c) : f32{};
    for (int64_t i = 0; i < kh; ++i) {
      const int64_t row = y + i * dilations[0];
      if (row < 0 || row >= in.h) continue;
      for (int64_t j = 0; j < kw; ++j) {
        const int64_t column = x + j * dilations[1];
        if (column < 0 || column >= in.w) continue;
        sum = fma(load(image + (row * in.w + column) * block + c), load(weight + (i * kw + j) * block + c), sum);
      }
    }
    store(out + c, sum);
  }
}

// `n` pixels of a line, all of whose columns lie inside. rows: those that the window meets, or zeros.
WRY_INLINE void depthwise_line(const float *const *rows, const float *weight, const float *bias, int64_t kh, int64_t kw, int64_t step,
                               int64_t dilation, float *out, int64_t n) {
  constexpr int wide = WRY_VECTOR_BYTES == 64 ? 8 : 4;
  const auto some = [&](auto pixels, int64_t x, int64_t c) {
    constexpr int many = decltype(pixels)::value;
    f32 sum[many];
#pragma GCC unroll 8
    for (int i = 0; i < many; ++i) sum[i] = bias ? load(bias + c) : f32{};
    for (int64_t i = 0; i < kh; ++i)
      for (int64_t j = 0; j < kw; ++j) {
        const float *at = rows[i] + (x * step + j * dilation) * block + c;
        const f32 w = load(weight + (i * kw + j) * block + c);
#pragma GCC unroll 8
        for (int p = 0; p < many; ++p) sum[p] = fma(load(at + p * step * block), w, sum[p]);
      }
#pragma GCC unroll 8
    for (int i = 0; i < many; ++i) store(out + (x + i) * block + c, sum[i]);
  };
  for (int64_t c = 0; c < block; c += f32_lanes) {
    int64_t x = 0;
    for (; x + wide <= n; x += wide) some(std::integral_constant<int, wide>(), x, c);
    for (; x < n; ++x) some(std::integral_constant<int, 1>(), x, c);
  }
}

// The same for 3x3 neighbours with step `Step`: each input is read once for all outputs of a stretch.
template <int Step>
WRY_INLINE void depthwise_line3(const float *const *rows, const float *weight, const float *bias, float *out, int64_t n) {
  constexpr int wide = WRY_VECTOR_BYTES == 64 ? 14 : 4;
  for (int64_t c = 0; c < block; c += f32_lanes) {
    f32 w[9];
#pragma GCC unroll 9
    for (int t = 0; t < 9; ++t) w[t] = load(weight + t * block + c);
    const f32 start = bias ? load(bias + c) : f32{};
    const auto some = [&](auto pixels, int64_t x) {
      constexpr int many = decltype(pixels)::value;
      f32 sum[many];
#pragma GCC unroll 16
      for (int i = 0; i < many; ++i) sum[i] = start;
#pragma GCC unroll 3
      for (int i = 0; i < 3; ++i) {
        const float *at = rows[i] + x * Step * block + c;
#pragma GCC unroll 32
        for (int j = 0; j < (many - 1) * Step + 3; ++j) {
          const f32 value = load(at + j * block);
#pragma GCC unroll 3
          for (int t = 0; t < 3; ++t)
            if (j >= t && (j - t) % Step == 0 && (j - t) / Step < many) sum[(j - t) / Step] = fma(value, w[3 * i + t], sum[(j - t) / Step]);
        }
      }
#pragma GCC unroll 16
      for (int i = 0; i < many; ++i) store(out + (x + i) * block + c, sum[i]);
    };
    int64_t x = 0;
    for (; x + wide <= n; x += wide) some(std::integral_constant<int, wide>(), x);
    for (; x + 4 <= n; x += 4) some(std::integral_constant<int, 4>(), x);
    for (; x < n; ++x) some(std::integral_constant<int, 1>(), x);
  }
}

// x [n, blocks, h, w, 16]; weight [blocks, kh, kw, 16]; bias, residual as above.
int depthwise_conv2d_blocked(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const Image in = image_of(input(call, 0)), to = image_of(output(call, 0));
  const wry_tensor *weight = input(call, 1);
  const Ints strides = attr_ints(call, 0), paddings = attr_ints(call, 1), dilations = attr_ints(call, 2);
  Epilogue epilogue = epilogue_of(call);
  if (!activation_of(call, 3, &epilogue.activation)) return unknown_activation(call, "depthwise_conv2d_blocked", 3);
  const int64_t kh = weight->shape[1], kw = weight->shape[2];
  const bool neighbours3 = kh == 3 && kw == 3 && dilations[1] == 1 && strides[1] <= 2;
  float *zeros = workspace<float>(call, in.w * block);
  Slices<const float *> slices(call, kh + 1, to.n * to.blocks * to.h);
  if (!zeros || !slices.memory) return fail_memory(call, "depthwise_conv2d_blocked", in.w * block * 4);
  fill_zero(zeros, in.w * block);
  // Outputs whose columns all lie inside.
  int64_t begin, end, last_begin;
  valid_range(to.w, strides[1], -paddings[2], in.w, &begin, &end);
  valid_range(to.w, strides[1], (kw - 1) * dilations[1] - paddings[2], in.w, &last_begin, &end);
  end = max_of(begin, end);
  const int64_t cost = to.w * block * kh * kw / f32_lanes;
  parallel_for(call, to.n * to.blocks * to.h, max_of<int64_t>(1, 32768 / max_of<int64_t>(1, cost)), [&](int64_t first, int64_t last) {
    const float **rows = slices.mine();
    for (int64_t line = first; line < last; ++line) {
      const int64_t y = line % to.h, image = line / to.h, b = image % to.blocks, top = y * strides[0] - paddings[0];
      const float *x = data<float>(input(call, 0)) + image * in.plane(), *w = data<float>(weight) + b * kh * kw * block;
      const float *bias = epilogue.bias ? epilogue.bias + b * block : nullptr;
      float *out = data<float>(output(call, 0)) + line * to.w * block;
      const int64_t shift = begin * strides[1] - paddings[2];
      for (int64_t i = 0; i < kh; ++i) {
        const int64_t row = top + i * dilations[0];
        rows[i] = row >= 0 && row < in.h ? x + (row * in.w + shift) * block : zeros;
      }
      for (int64_t i = 0; i < begin; ++i) depthwise_pixel(x, in, w, bias, kh, kw, top, i * strides[1] - paddings[2], dilations, out + i * block);
      float *inner = out + begin * block;
      if (neighbours3 && strides[1] == 1) depthwise_line3<1>(rows, w, bias, inner, end - begin);
      else if (neighbours3) depthwise_line3<2>(rows, w, bias, inner, end - begin);
      else depthwise_line(rows, w, bias, kh, kw, strides[1], dilations[1], inner, end - begin);
      for (int64_t i = end; i < to.w; ++i) depthwise_pixel(x, in, w, bias, kh, kw, top, i * strides[1] - paddings[2], dilations, out + i * block);
      if (epilogue.residual) {
        const float *more = epilogue.residual + line * to.w * block;
        for (int64_t i = 0; i < to.w * block; i += f32_lanes) store(out + i, load(out + i) + load(more + i));
      }
      if (epilogue.activation == Activation::relu) {
        for (int64_t i = 0; i < to.w * block; i += f32_lanes) store(out + i, relu(load(out + i)));
      } else if (epilogue.activation == Activation::relu6) {
        for (int64_t i = 0; i < to.w * block; i += f32_lanes) store(out + i, relu6(load(out + i)));
      } else {
        activate(epilogue.activation, out, to.w * block);
      }
    }
  });
  return WRY_OK;
}

// ---- pooling --------------------------------------------------------------------------------------

// The largest value of each window; NaN loses, and a window without any number gives the lowest float, as max_pool2d has it.
int max_pool2d_blocked(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const Image in = image_of(input(call, 0)), to = image_of(output(call, 0));
  const Ints kernel = attr_ints(call, 0), strides = attr_ints(call, 1), paddings = attr_ints(call, 2);
  const int64_t cost = to.w * kernel[0] * kernel[1] * block / f32_lanes;
  parallel_for(call, to.n * to.blocks * to.h, max_of<int64_t>(1, 32768 / max_of<int64_t>(1, cost)), [&](int64_t first, int64_t last) {
    for (int64_t line = first; line < last; ++line) {
      const float *x = data<float>(input(call, 0)) + line / to.h * in.plane();
      float *out = data<float>(output(call, 0)) + line * to.w * block;
      const int64_t top = line % to.h * strides[0] - paddings[0];
      const int64_t y0 = max_of<int64_t>(0, top), y1 = min_of(in.h, top + kernel[0]);
      for (int64_t i = 0; i < to.w; ++i, out += block) {
        const int64_t left = i * strides[1] - paddings[2], x0 = max_of<int64_t>(0, left), x1 = min_of(in.w, left + kernel[1]);
        for (int64_t c = 0; c < block; c += f32_lanes) {
          f32 most = splat<f32>(__builtin_nanf(""));
          for (int64_t y = y0; y < y1; ++y)
            for (int64_t z = x0; z < x1; ++z) {
              const f32 value = load(x + (y * in.w + z) * block + c);
              most = ~(most >= value) & (value == value) ? value : most;  // also where it is NaN so far
            }
          store(out + c, most == most ? most : splat<f32>(-3.402823466e38f));
        }
      }
    }
  });
  return WRY_OK;
}

const wry_kernel_entry table[] = {
    WRY_PLAIN_ROW("conv2d_blocked", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, conv2d_blocked),
    WRY_PLAIN_ROW("winograd_conv2d_blocked", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, winograd_conv2d_blocked),
    WRY_PLAIN_ROW("depthwise_conv2d_blocked", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, depthwise_conv2d_blocked),
    WRY_PLAIN_ROW("max_pool2d_blocked", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, max_pool2d_blocked),
};

}  // namespace
WRY_TABLE(blocked, table)

}  // namespace WRY_NAMESPACE
