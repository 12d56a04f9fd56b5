// Convolution of 16-bit floats and its gradients on tensor cores.
//
// The products are those of convolution.cu, with places as rows, channels as columns, and k in the order (tap, channel), so that a chunk of 8
// values along k, or along columns, lies in one place of an image: chunks are copied into shared memory from where the image has them,
// zeros where a tap is outside. For that images have their channels last, in groups of a multiple of 8 values, and weights are [o, tap, channel].
// Images that are otherwise are copied so once before (NCHW turned through shared memory), the weight always is; both are small beside the
// product. The sum over places that gives the gradient of a weight is cut into parts, which a second kernel adds up in their order, so
// that each call gives the same bits.
#include "convolution.h"
#include "tensor_cores.h"

#include <algorithm>

namespace wherry {
namespace cuda {
namespace {

int64_t whole_chunks(int64_t n) { return (n + 7) / 8 * 8; }

// ---- copies ---------------------------------------------------------------------------------------

// An image with its channels last, `width` values for each group; those beyond its channels are zeros.
struct Places {
  const void *data;
  int n, h, w, groups, width;
};

// Blocks: (32 places, 32 values of a place, image) of 32 x 8 threads.
__global__ void __launch_bounds__(256) turn_image(Image from, int groups, int channels, int width, const uint16_t *x, uint16_t *out) {
  WRY_SHARED(uint16_t, tile, 32 * 34);
  const int64_t places = from.h * from.w, place0 = blockIdx.x * int64_t(32);
  const int lane = threadIdx.x % 32, line = threadIdx.x / 32, value0 = blockIdx.y * 32, values = groups * width;
  for (int64_t n = blockIdx.z; n < from.n; n += gridDim.z) {
    __syncthreads();
    for (int i = line; i < 32; i += 8) {
      const int value = value0 + i, group = value / width, channel = value % width;
      const int64_t place = place0 + lane;
      const bool inside = value < values && channel < channels && place < places;
      tile[i * 34 + lane] = inside ? x[n * from.at_n + (group * channels + channel) * from.at_channel + place] : uint16_t(0);
    }
    __syncthreads();
    for (int i = line; i < 32; i += 8)
      if (place0 + i < places && value0 + lane < values) out[(n * places + place0 + i) * values + value0 + lane] = tile[lane * 34 + i];
  }
}
// The same of an image whose channels are last.
__global__ void __launch_bounds__(block_size) pad_image(int64_t n, int channels, int width, const uint16_t *x, uint16_t *out) {
  for
    WRY_EACH(i, n) {
      const int64_t group = i / width, channel = i % width;  // groups of all places
      out[i] = channel < channels ? x[group * channels + channel] : uint16_t(0);
    }
}
// parts [parts, rows, taps, width] to their sums [rows, c, taps]. A block takes some channels of a row, with all taps or some: it reads along the
// channels and writes along the taps, which are turned in shared memory.
constexpr int turned_channels = 64, turned_taps = 64;
template <typename T>
__global__ void __launch_bounds__(block_size) add_parts(int64_t n, int parts, int64_t rows, int c, int taps, int width, const float *from, T *out) {
  WRY_SHARED(float, held, turned_channels * (turned_taps + 1));
  const int across = (c + turned_channels - 1) / turned_channels, down = (taps + turned_taps - 1) / turned_taps;
  for (int64_t at = blockIdx.x; at < rows * across * down; at += gridDim.x) {
    const int tap = int(at % down) * turned_taps, channel = int(at / down % across) * turned_channels;
    const int high = taps - tap < turned_taps ? taps - tap : turned_taps, wide = c - channel < turned_channels ? c - channel : turned_channels;
    const int64_t row = at / down / across;
    const int pitch = high | 1;  // odd: no two lanes share a bank
    __syncthreads();  // the tile before may still be read
    for (int i = threadIdx.x; i < high * wide; i += blockDim.x) {
      const float *place = from + (row * taps + tap + i / wide) * width + channel + i % wide;
      float sum = 0;
      for (int p = 0; p < parts; ++p) sum += place[p * n];
      held[i % wide * pitch + i / wide] = sum;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < high * wide; i += blockDim.x)
      out[(row * c + channel + i / high) * taps + tap + i % high] = narrow<T>(held[i / high * pitch + i % high]);
  }
}

// ---- products -------------------------------------------------------------------------------------

struct Taps {
  int kh, kw, sy, sx, py, px, dy, dx;
};
// What a product is: `rows` are those of the result's image, or the channels o of the weight.
struct Lines {
  Places x, ct;  // of the input and of the output; the one that is written has no data
  Taps taps;
  const void *weight;  // [groups * o, taps, x.width]
  int o, c;
};

using Z = Tile<128, 64, 2, 2>;

// Where the rows of a tile are in an image that taps read: for the lines that this thread copies. ForInput goes from a place of the input back
// to the places of the output whose windows have it.
template <bool ForInput>
struct Readers {
  static constexpr int Count = Z::Rows * 4 / Z::Threads;
  int y[Count], x[Count];
  int64_t at[Count];  // of the image; -1 beyond the last row
  WRY_GPU Readers(const Places &to, const Places &from, const Taps &t, int64_t row0) {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const int64_t row = row0 + threadIdx.x / 4 + i * (Z::Threads / 4);
      const unsigned place = unsigned(row), line = place / unsigned(to.w), column = place % unsigned(to.w), image = line / unsigned(to.h);
      const int r = int(line % unsigned(to.h)), c = int(column);
      y[i] = ForInput ? r + t.py : r * t.sy - t.py, x[i] = ForInput ? c + t.px : c * t.sx - t.px;
      at[i] = row < int64_t(to.n) * to.h * to.w ? int64_t(image) * from.h * from.w : -1;
    }
  }
};

// Rows are places, columns channels of a group. Blocks: (tile of rows, tile of columns, group).
template <typename T, bool ForInput>
__global__ void __launch_bounds__(Z::Threads) convolve(Lines s, const T *bias, int64_t bias_step, Image image, T *out, bool aligned) {
  WRY_SHARED(uint4, memory, Z::Shared / 8);
  T *const shared = reinterpret_cast<T *>(memory);
  const Places &from = ForInput ? s.ct : s.x, &to = ForInput ? s.x : s.ct;
  const Taps &t = s.taps;
  const int64_t rows = int64_t(to.n) * to.h * to.w, row0 = blockIdx.x * int64_t(Z::Rows);
  const int column0 = blockIdx.y * Z::Columns, columns = ForInput ? s.c : s.o, group = blockIdx.z;
  const int per_tap = from.width / 8, chunks = t.kh * t.kw * per_tap, depth = t.kh * t.kw * s.x.width;  // depth: of a row of the weight
  const T *const source = static_cast<const T *>(from.data) + group * from.width, *const weight = static_cast<const T *>(s.weight) + int64_t(group) * s.o * depth;
  const Readers<ForInput> readers(to, from, t, row0);
  Sums<Z> sums;
  multiply_tile<Z, true, !ForInput>(
      sums, shared, (chunks + 3) / 4,
      [&](T *tile, int64_t step) {
        const int chunk = threadIdx.x % 4, q = int(step) * 4 + chunk, tap = q / per_tap, of_tap = q % per_tap;
        const int ty = tap / t.kw * t.dy, tx = tap % t.kw * t.dx;
#pragma unroll
        for (int i = 0; i < Readers<ForInput>::Count; ++i) {
          int y = ForInput ? readers.y[i] - ty : readers.y[i] + ty, x = ForInput ? readers.x[i] - tx : readers.x[i] + tx;
          bool inside = q < chunks && readers.at[i] >= 0 && y >= 0 && x >= 0;
          if (ForInput) {
            inside = inside && y % t.sy == 0 && x % t.sx == 0;
            y /= t.sy, x /= t.sx;
          }
          inside = inside && y < from.h && x < from.w;
          const T *const at = source + ((inside ? readers.at[i] + int64_t(y) * from.w + x : 0) * from.groups * from.width + 8 * (inside ? of_tap : 0));
          copy_chunk(tile + chunk_at<4>(threadIdx.x / 4 + i * (Z::Threads / 4), chunk), at, inside ? 8 : 0, true);
        }
      },
      [&](T *tile, int64_t step) {
        if constexpr (ForInput) {  // lines are (tap, o), along channels
          constexpr int across = Z::Columns / 8;
#pragma unroll
          for (int i = 0; i < Z::Depth * across / Z::Threads; ++i) {
            const int line = threadIdx.x / across + i * (Z::Threads / across), chunk = threadIdx.x % across, k = int(step) * Z::Depth + line;
            const int tap = k / from.width, channel = k % from.width, column = column0 + 8 * chunk;
            const bool inside = tap < t.kh * t.kw && channel < s.o && column < s.x.width;
            copy_chunk(tile + chunk_at<across>(line, chunk), inside ? weight + int64_t(channel) * depth + tap * s.x.width + column : weight, inside ? 8 : 0, true);
          }
        } else {
          copy_lines<4>(tile, Z::Columns, weight + int64_t(column0) * depth + step * Z::Depth, depth, s.o - column0, depth - step * Z::Depth, true, Z::Threads);
        }
      });
  const bool last = image.at_channel == 1;
  each_pair<Z>(sums, [&](int row, int column, float low, float high) {
    const int c = column0 + column;
    if (bias && c < columns) low += load(bias + (group * columns + c) * bias_step);
    if (bias && c + 1 < columns) high += load(bias + (group * columns + c + 1) * bias_step);
    if (last) *reinterpret_cast<uint32_t *>(shared + row * Z::Pitch + column) = pack<T>(low, high);
    else shared[column * Z::TurnedPitch + row] = narrow<T>(low), shared[(column + 1) * Z::TurnedPitch + row] = narrow<T>(high);
  });
  __syncthreads();
  const int64_t channel0 = int64_t(group) * columns + column0;
  if (last) {
    for (int e = threadIdx.x; e < Z::Rows * (Z::Columns / 8); e += Z::Threads) {
      const int row = e / (Z::Columns / 8), column = e % (Z::Columns / 8) * 8;
      if (row0 + row < rows)
        write_chunk(out + (row0 + row) * image.channels + channel0 + column, shared + row * Z::Pitch + column, valid_of(columns - column0 - column), aligned);
    }
    return;
  }
  const unsigned places = unsigned(image.h * image.w);
  if (aligned) {  // 8 places of one image
    for (int e = threadIdx.x; e < Z::Columns * (Z::Rows / 8); e += Z::Threads) {
      const int column = e / (Z::Rows / 8), row = e % (Z::Rows / 8) * 8;
      if (row0 + row >= rows || column0 + column >= columns) continue;
      const unsigned place = unsigned(row0 + row), n = place / places;
      *reinterpret_cast<uint4 *>(out + n * image.at_n + (channel0 + column) * image.at_channel + place % places) =
          *reinterpret_cast<const uint4 *>(shared + column * Z::TurnedPitch + row);
    }
    return;
  }
  const unsigned place = unsigned(row0 + threadIdx.x), n = place / places;  // a thread has a row
  static_assert(Z::Threads == Z::Rows, "a thread for each row");
  if (row0 + threadIdx.x < rows)
    for (int column = 0; column < Z::Columns && column0 + column < columns; ++column)
      out[n * image.at_n + (channel0 + column) * image.at_channel + place % places] = shared[column * Z::TurnedPitch + threadIdx.x];
}

// Rows are channels o of a group, columns (tap, channel), k goes over the places of the output. Blocks: (tile of rows, tile of columns, part and group).
template <typename T>
__global__ void __launch_bounds__(Z::Threads) convolve_for_weight(Lines s, int parts, float *out) {
  WRY_SHARED(uint4, memory, Z::Shared / 8);
  T *const shared = reinterpret_cast<T *>(memory);
  const Taps &t = s.taps;
  const int group = blockIdx.z / parts, part = blockIdx.z % parts, per_tap = s.x.width / 8, depth = t.kh * t.kw * s.x.width;
  const int row0 = blockIdx.x * Z::Rows, column0 = blockIdx.y * Z::Columns;
  const int places = s.ct.n * s.ct.h * s.ct.w, steps = (places + Z::Depth - 1) / Z::Depth, each = (steps + parts - 1) / parts;
  const int begin = part * each, end = begin + each < steps ? begin + each : steps;
  const T *const ct = static_cast<const T *>(s.ct.data) + group * s.ct.width + row0, *const x = static_cast<const T *>(s.x.data) + group * s.x.width;
  constexpr int across = Z::Columns / 8;
  const int chunk = threadIdx.x % across, q = column0 / 8 + chunk, tap = q / per_tap, of_tap = q % per_tap;
  const int ty = tap / t.kw * t.dy - t.py, tx = tap % t.kw * t.dx - t.px;
  const bool counts = tap < t.kh * t.kw;
  Sums<Z> sums;
  multiply_tile<Z, false, false>(
      sums, shared, end > begin ? end - begin : 0,
      [&](T *tile, int64_t step) {
        const int64_t place = (begin + step) * Z::Depth, line = int64_t(s.ct.groups) * s.ct.width;
        copy_lines<Z::Rows / 8>(tile, Z::Depth, ct + place * line, line, places - place, s.ct.width - row0, true, Z::Threads);
      },
      [&](T *tile, int64_t step) {
#pragma unroll
        for (int i = 0; i < Z::Depth * across / Z::Threads; ++i) {
          const int line = threadIdx.x / across + i * (Z::Threads / across);
          const unsigned place = unsigned((begin + step) * Z::Depth + line), row = place / unsigned(s.ct.w);
          const int y = int(row % unsigned(s.ct.h)) * t.sy + ty, x_ = int(place % unsigned(s.ct.w)) * t.sx + tx;
          const bool inside = counts && place < unsigned(places) && y >= 0 && x_ >= 0 && y < s.x.h && x_ < s.x.w;
          const int64_t at = inside ? ((int64_t(row / unsigned(s.ct.h)) * s.x.h + y) * s.x.w + x_) * s.x.groups * s.x.width + 8 * of_tap : 0;
          copy_chunk(tile + chunk_at<across>(line, chunk), x + at, inside ? 8 : 0, true);
        }
      });
  float *const to = out + (int64_t(part) * s.ct.groups + group) * s.o * depth;
  each_pair<Z>(sums, [&](int row, int column, float low, float high) {
    if (row0 + row < s.o && column0 + column < depth) *reinterpret_cast<float2 *>(to + int64_t(row0 + row) * depth + column0 + column) = make_float2(low, high);
  });
}

// ---- calls ----------------------------------------------------------------------------------------

// An image as products read it, [n, places, groups, width]: as it is, or copied unless something has failed. Null when there is no memory for that.
const void *arrange(const wry_call *call, const Image &image, int64_t groups, int64_t width, const void *data, int *status) {
  const int64_t channels = image.channels / groups, places = image.h * image.w, n = image.n * places * groups * width;
  const bool last = image.at_channel == 1;
  if (*status != WRY_OK || (last && width == channels && is_aligned(data))) return data;
  uint16_t *const copy = workspace<uint16_t>(call, n);
  if (!copy) return nullptr;
  const auto *const from = static_cast<const uint16_t *>(data);
  const dim3 grid(unsigned((places + 31) / 32), unsigned((groups * width + 31) / 32), some_blocks(image.n));
  *status = check(call, last ? wry_launch(pad_image, blocks_for(n), dim3(block_size), 0, stream(call), n, int(channels), int(width), from, copy)
                             : wry_launch(turn_image, grid, dim3(256), 0, stream(call), image, int(groups), int(channels), int(width), from, copy));
  return copy;
}
Places places_of(const Image &image, int64_t groups) {
  return {nullptr, int(image.n), int(image.h), int(image.w), int(groups), int(whole_chunks(image.channels / groups))};
}

}  // namespace

template <typename T>
int convolve_lines(const wry_call *call, Direction direction, const Convolution &s, const T *source, const T *weight, const wry_tensor *bias, T *result) {
  const int64_t most = int64_t(1) << 31, taps = s.window.kh * s.window.kw, width = whole_chunks(s.c), rows = s.groups * s.o;
  if (!has_tensor_cores<T>() || (s.groups > 1 && (s.c < 8 || s.o < 8)) || s.groups > 65535) return not_taken;
  for (const Image *image : {&s.in, &s.out})
    if (image->n * image->h * image->w >= most) return not_taken;
  if (taps * whole_chunks(s.c > s.o ? s.c : s.o) >= most || s.o >= 65535 * Z::Columns || taps * width >= 65535 * Z::Columns) return not_taken;
  const Window &w = s.window;
  Lines p = {places_of(s.in, s.groups), places_of(s.out, s.groups), {}, nullptr, int(s.o), int(s.c)};
  p.taps = {int(w.kh), int(w.kw), int(w.sy), int(w.sx), int(w.py), int(w.px), int(w.dy), int(w.dx)};
  int status = WRY_OK;
  if (direction == FORWARD) p.x.data = arrange(call, s.in, s.groups, p.x.width, source, &status);
  else p.ct.data = arrange(call, s.out, s.groups, p.ct.width, source, &status);
  if (direction == FOR_WEIGHT) {
    p.x.data = arrange(call, s.in, s.groups, p.x.width, weight, &status);
  } else {  // [rows, c, taps] lies as an image of rows whose places are the taps
    const Image of_weight = {rows, s.c, taps, 1, s.c * taps, taps, 1, 1};
    p.weight = arrange(call, of_weight, 1, width, weight, &status);
  }
  if (!(direction == FORWARD ? p.x.data : p.ct.data) || !(direction == FOR_WEIGHT ? p.x.data : p.weight)) return not_taken;
  if (status != WRY_OK) return status;
  const int64_t depth = taps * width, results[] = {s.o, s.c, depth}, across = results[direction];
  const unsigned columns = unsigned((across + Z::Columns - 1) / Z::Columns);
  if (direction == FOR_WEIGHT) {
    const int64_t steps = (s.out.n * s.out.h * s.out.w + Z::Depth - 1) / Z::Depth, down = (s.o + Z::Rows - 1) / Z::Rows, tiles = down * columns * s.groups;
    // Enough parts to give each multiprocessor work, none of them short.
    const int64_t wanted = (4 * multiprocessors() + tiles - 1) / tiles, longest = (steps + 15) / 16;
    const int64_t parts = std::max(std::min({wanted, longest, 65535 / s.groups}), int64_t(1));
    float *const sums = workspace<float>(call, parts * rows * depth);
    if (!sums) return not_taken;
    WRY_TRY(wry_launch(convolve_for_weight<T>, dim3(unsigned(down), columns, unsigned(parts * s.groups)), dim3(Z::Threads), 0, stream(call), p, int(parts), sums));
    const int64_t n = rows * depth;
    const int64_t turned = rows * ((s.c + turned_channels - 1) / turned_channels) * ((taps + turned_taps - 1) / turned_taps);
    return check(call, wry_launch(add_parts<T>, dim3(some_blocks(turned)), dim3(threads_for(std::min<int64_t>(taps, turned_taps) * s.c)), 0,
                                  stream(call), n, int(parts), rows, int(s.c), int(taps), int(width), sums, result));
  }
  const Image &to = direction == FORWARD ? s.out : s.in;
  const bool aligned = is_aligned(result) && (to.at_channel == 1 ? to.channels % 8 == 0 && across % 8 == 0 : to.h * to.w % 8 == 0);
  const dim3 grid(unsigned((to.n * to.h * to.w + Z::Rows - 1) / Z::Rows), columns, unsigned(s.groups));
  return check(call, wry_launch(direction == FORWARD ? convolve<T, false> : convolve<T, true>, grid, dim3(Z::Threads), 0, stream(call), p,
                                bias ? data<T>(bias) : nullptr, bias ? bias->strides[0] : 0, to, result, aligned));
}

template int convolve_lines(const wry_call *, Direction, const Convolution &, const half *, const half *, const wry_tensor *, half *);
template int convolve_lines(const wry_call *, Direction, const Convolution &, const bfloat16 *, const bfloat16 *, const wry_tensor *, bfloat16 *);

}  // namespace cuda
}  // namespace wherry
