// Pictures of bytes, resized and recoloured with the bytes that Pillow gives (wherry_tensor/ops/pictures.py says how). Compiled without fused
// multiply-add: a byte is the same on every processor.
#include "ints.h"
#include "parallel.h"

#include <math.h>

namespace WRY_NAMESPACE {
namespace {

using words = vecn<uint32_t, 4>;

constexpr double pi = 3.14159265358979323846;

// ---- resizing -----------------------------------------------------------------------------------

constexpr int fraction = 22;              // bits of a weight behind the point
constexpr int64_t chunk = 4 * f32_lanes;  // bytes that are summed at once

double triangle(double x) { return fabs(x) < 1 ? 1 - fabs(x) : 0; }
double box(double x) { return x > -0.5 && x <= 0.5; }
double sinc(double x) { return x == 0 ? 1 : sin(x * pi) / (x * pi); }
double hamming(double x) {  // the two floats are more than 1 together
  return x == 0 ? 1 : fabs(x) >= 1 ? 0
                                   : sinc(x) * (double(0.54f) + double(0.46f) * cos(pi * x));
}
double lanczos(double x) { return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0; }
double cubic(double x) {
  x = fabs(x);
  return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5
                                                     : 0;
}

struct Filter {
  const char *name;
  double reach;
  double (*at)(double);
};
constexpr Filter filters[] = {{"box", 0.5, box}, {"bilinear", 1, triangle}, {"hamming", 1, hamming}, {"bicubic", 2, cubic}, {"lanczos", 3, lanczos}};

// Result i is the sum of places [first[i], first[i] + count[i]) by weight[i * taps ...].
struct Weights {
  int64_t *first, *count, taps;
  int32_t *weight;
};

bool weigh(const wry_call *call, const Filter &filter, int64_t places, int64_t size, Weights *w) {
  const double scale = double(places) / double(size), wide = scale > 1 ? scale : 1, reach = filter.reach * wide;
  w->taps = 2 * int64_t(reach) + 3;
  w->first = workspace<int64_t>(call, 2 * size);
  w->weight = workspace<int32_t>(call, size * w->taps);
  double *share = workspace<double>(call, w->taps);
  if (!w->first || !w->weight || !share) return false;
  w->count = w->first + size;
  for (int64_t i = 0; i < size; ++i) {
    const double center = (double(i) + 0.5) * scale;
    const int64_t first = max_of<int64_t>(int64_t(center - reach + 0.5), 0), last = min_of<int64_t>(int64_t(center + reach + 0.5), places);
    double total = 0;
    for (int64_t k = 0; k < last - first; ++k) total += share[k] = filter.at((double(k + first) - center + 0.5) * (1 / wide));
    for (int64_t k = 0; k < last - first; ++k) {
      const double fixed = (total != 0 ? share[k] / total : share[k]) * (1 << fraction);
      w->weight[i * w->taps + k] = int32_t(fixed < 0 ? fixed - 0.5 : fixed + 0.5);
    }
    w->first[i] = first, w->count[i] = last - first;
  }
  return true;
}

// One chunk of result i; `from` is that of place 0, and `step` bytes lie between places.
WRY_INLINE void sum_chunk(const Weights &w, int64_t i, const uint8_t *from, int64_t step, uint8_t *to) {
  i32 total[4];
  for (i32 &part : total) part = splat<i32>(1 << (fraction - 1));
  from += w.first[i] * step;
  for (int64_t k = 0; k < w.count[i]; ++k, from += step) {
    const int32_t weight = w.weight[i * w.taps + k];
    for (int part = 0; part < 4; ++part) total[part] += load_ints(from + part * f32_lanes) * weight;
  }
  for (int part = 0; part < 4; ++part) store_ints(to + part * f32_lanes, min(max(total[part] >> fraction, i32{}), splat<i32>(255)));
}

// to[j][i] = from[i][j]: items of `item` bytes; rows begin `across` (in `to`: `down`) bytes apart.
void turn(const uint8_t *from, int64_t across, int64_t rows, int64_t columns, int64_t item, uint8_t *to, int64_t down) {
  int64_t i = 0;
  for (; item == 4 && i + 4 <= rows; i += 4) {
    int64_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      words a[4], mixed[4];
      for (int k = 0; k < 4; ++k) memcpy(a + k, from + (i + k) * across + j * 4, 16);
      for (int k = 0; k < 2; ++k) {
        mixed[2 * k] = __builtin_shufflevector(a[k], a[k + 2], 0, 4, 1, 5);
        mixed[2 * k + 1] = __builtin_shufflevector(a[k], a[k + 2], 2, 6, 3, 7);
      }
      for (int k = 0; k < 2; ++k) {
        const words low = __builtin_shufflevector(mixed[k], mixed[k + 2], 0, 4, 1, 5), high = __builtin_shufflevector(mixed[k], mixed[k + 2], 2, 6, 3, 7);
        memcpy(to + (j + 2 * k) * down + i * 4, &low, 16);
        memcpy(to + (j + 2 * k + 1) * down + i * 4, &high, 16);
      }
    }
    for (; j < columns; ++j)
      for (int k = 0; k < 4; ++k) memcpy(to + j * down + (i + k) * 4, from + (i + k) * across + j * 4, 4);
  }
  for (; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t b = 0; b < item; ++b) to[j * down + i * item + b] = from[i * across + j * item + b];
}

int resample_bytes(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  const int64_t size = attr_int(call, 1), places = x->shape[axis];
  if (out->size == 0) return WRY_OK;
  int64_t outer = 1, row = 1;
  for (int i = 0; i < axis; ++i) outer *= x->shape[i];
  for (int i = axis + 1; i < x->rank; ++i) row *= x->shape[i];
  const Filter *filter = filters;
  while (!attr_equals(call, 2, filter->name)) ++filter;
  Weights w;
  if (!weigh(call, *filter, places, size, &w)) return fail_memory(call, "resample_bytes", size * (16 + 4 * w.taps));
  const uint8_t *from = data<uint8_t>(x);
  uint8_t *to = data<uint8_t>(out);
  if (row >= chunk) {
    parallel_for(call, outer * size, max_of<int64_t>(1, 65536 / (row * w.taps)), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        for (int64_t c = 0; c < row; c += chunk) {
          const int64_t place = min_of(c, row - chunk);  // the last chunk may have bytes of the one before
          sum_chunk(w, at % size, from + at / size * places * row + place, row, to + at * row + place);
        }
    });
    return WRY_OK;
  }
  // Lines side by side, as many as a chunk holds: what belongs to a place is then a row that is long enough.
  const int64_t lines = chunk / row, blocks = (outer + lines - 1) / lines;
  const int64_t held = (places + 4) * chunk;
  const int threads = threads_for(call, blocks);
  uint8_t *scratch = workspace<uint8_t>(call, threads * held);
  if (!scratch) return fail_memory(call, "resample_bytes", threads * held);
  memset(scratch, 0, size_t(threads * held));
  parallel_for(call, blocks, max_of<int64_t>(1, 65536 / (size * w.taps * chunk)), [&](int64_t begin, int64_t end) {
    uint8_t *turned = scratch + thread_index() * held, *four = turned + places * chunk;
    for (int64_t block = begin; block < end; ++block) {
      const int64_t line = block * lines, n = min_of(lines, outer - line);
      turn(from + line * places * row, places * row, n, places, row, turned, chunk);
      for (int64_t i = 0; i < size; i += 4) {
        const int64_t results = min_of<int64_t>(4, size - i);
        for (int64_t r = 0; r < results; ++r) sum_chunk(w, i + r, turned, chunk, four + r * chunk);
        turn(four, chunk, results, n, row, to + (line * size + i) * row, size * row);
      }
    }
  });
  return WRY_OK;
}

// ---- colours ------------------------------------------------------------------------------------

struct Color {
  i32 red, green, blue;
};

WRY_INLINE f32 floats(i32 x) { return __builtin_convertvector(x, f32); }
WRY_INLINE i32 whole(f32 x) { return __builtin_convertvector(x, i32); }

WRY_INLINE i32 gray(const Color &c) { return (c.red * 19595 + c.green * 38470 + c.blue * 7471 + 0x8000) >> 16; }

// base + factor * (x - base), cut to a byte.
WRY_INLINE i32 blended(i32 x, f32 base, f32 factor) {
  return whole(min(max(base + factor * (floats(x) - base), f32{}), splat<f32>(255)));
}
WRY_INLINE Color blended(const Color &c, f32 base, f32 factor) {
  return {blended(c.red, base, factor), blended(c.green, base, factor), blended(c.blue, base, factor)};
}

// A share of a byte, rounded with halves up.
WRY_INLINE i32 rounded(f32 x) {
  const i32 down = whole(x);
  return down - (x - floats(down) >= 0.5f);
}

// The hue, as a byte, goes on by `step` of 256.
WRY_INLINE Color turned(const Color &c, i32 step) {
  const i32 most = max(max(c.red, c.green), c.blue), least = min(min(c.red, c.green), c.blue), spread = most - least;
  const f32 divisor = floats(max(spread, splat<i32>(1)));
  // How far the middle channel is from the largest: sixths of a turn before or behind the corner of the largest.
  const f32 q = floats(most - (c.red + c.green + c.blue - most - least)) / divisor;
  const i32 is_red = c.red == most, is_green = c.green == most, no_red = c.red == least, no_blue = c.blue == least;
  f32 sixths = is_red ? (no_blue ? 1 - q : q - 1) : is_green ? (no_blue ? 1 + q : 3 - q)
                                                             : (no_red ? 3 + q : 5 - q);
  sixths /= 6.0f;
  sixths = sixths < 0 ? sixths + 1 : sixths;
  const i32 hue = ((spread ? whole(sixths * 255.0f) : i32{}) + step) & 255;
  const f32 share = floats(whole(floats(spread) / floats(max(most, splat<i32>(1))) * 255.0f)) / 255.0f;
  const f32 value = floats(most), at = floats(hue) * 6.0f / 255.0f;
  const i32 part = whole(at);
  const f32 rest = at - floats(part);
  const i32 low = rounded(value * (1 - share)), falling = rounded(value * (1 - share * rest)), rising = rounded(value * (1 - share * (1 - rest)));
  const i32 is_1 = part == 1, is_2 = part == 2, is_3 = part == 3, is_4 = part == 4, is_5 = part == 5;
  return {is_1 ? falling : is_2 | is_3 ? low
                       : is_4          ? rising
                                       : most,
          is_1 | is_2 ? most : is_3      ? falling
                           : is_4 | is_5 ? low
                                         : rising,
          is_2 ? rising : is_3 | is_4 ? most
                      : is_5          ? falling
                                      : low};
}

WRY_INLINE Color unpacked(i32 pixel) { return {pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255}; }

template <typename F>
void each_pixel(const wry_call *call, int64_t n, F &&f) {
  const int32_t *from = data<int32_t>(input(call, 0));
  int32_t *to = data<int32_t>(output(call, 0));
  const auto changed = [&](i32 pixel) {
    const Color c = f(unpacked(pixel));
    return c.red | (c.green << 8) | (c.blue << 16) | (pixel & int32_t(0xff000000));
  };
  parallel_for(call, n, 8192, [&](int64_t begin, int64_t end) {
    int64_t i = begin;
    for (; i + f32_lanes <= end; i += f32_lanes) store(to + i, changed(load(from + i)));
    if (i < end) store_partial(to + i, changed(load_partial(from + i, end - i)), end - i);
  });
}

int recolor(const wry_call *call) {
  const int64_t n = output(call, 0)->size / 4;
  const f32 factor = splat<f32>(*data<float>(input(call, 1)));
  if (attr_equals(call, 0, "brightness")) {
    each_pixel(call, n, [&](const Color &c) { return blended(c, f32{}, factor); });
  } else if (attr_equals(call, 0, "saturation")) {
    each_pixel(call, n, [&](const Color &c) { return blended(c, floats(gray(c)), factor); });
  } else if (attr_equals(call, 0, "hue")) {
    const i32 step = whole(factor);
    each_pixel(call, n, [&](const Color &c) { return turned(c, step); });
  } else {
    const int32_t *from = data<int32_t>(input(call, 0));
    int64_t total = 0;
    for (int64_t i = 0; i < n;) {
      i32 sum = {};  // of as many as an int holds
      for (const int64_t end = min_of(n, i + (f32_lanes << 20)); i < end; i += f32_lanes)
        sum += gray(unpacked(i + f32_lanes <= n ? load(from + i) : load_partial(from + i, n - i)));
      for (int lane = 0; lane < f32_lanes; ++lane) total += sum[lane];
    }
    const f32 mean = splat<f32>(float(int64_t(double(total) / double(max_of<int64_t>(n, 1)) + 0.5)));
    each_pixel(call, n, [&](const Color &c) { return blended(c, mean, factor); });
  }
  return WRY_OK;
}

const wry_kernel_entry table[] = {
    {"resample_bytes", WRY_UINT8, WRY_WANTS_CONTIGUOUS, resample_bytes, nullptr},
    {"recolor", WRY_UINT8, WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS, recolor, nullptr},
};

}  // namespace
WRY_TABLE(pictures, table)

}  // namespace WRY_NAMESPACE
