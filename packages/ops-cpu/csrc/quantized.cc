// Products and convolutions of quantized tensors (wherry_tensor/ops/quantized.py says what they compute).
//
// Sums are exact, and what stands after them is computed in float32, each step rounded by itself: this file is compiled without fused
// multiply-add, so that every processor gives the same bytes. (But for activations that are more than comparisons: these differ in their last bits, as those of
// floats do.)
#include "dense8.h"
#include "mapped.h"
#include "quantized.h"

namespace WRY_NAMESPACE {
namespace {

// ---- products -------------------------------------------------------------------------------------

// Rows of k bytes as rows of `full` values, or where they lie; null when memory is out.
template <typename T>
const Whole *whole_rows(const wry_call *call, const T *from, int64_t rows, int64_t k, int64_t full, int add) {
  if constexpr (serves_as_it_is<T>)
    if (k == full) return from;
  Whole *to = workspace<Whole>(call, rows * full + 4);
  if (!to) return nullptr;
  parallel_for(call, rows, max_of<int64_t>(1, 65536 / max_of<int64_t>(1, full)), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      widen_bytes(from + i * k, to + i * full, k, add);
      for (int64_t c = k; c < full; ++c) to[i * full + c] = 0;
    }
  });
  return to;
}

// Rows of floats, each with the step that makes its largest 127.
template <typename T>
const Whole *rounded_rows(const wry_call *call, const T *from, int64_t rows, int64_t k, int64_t full, int add, float *steps) {
  Whole *to = workspace<Whole>(call, rows * full + 4);
  if (!to) return nullptr;
  parallel_for(call, rows, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, full)), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const T *row = from + i * k;
      f32 most = splat<f32>(0);
      int64_t c = 0;
      for (; c + f32_lanes <= k; c += f32_lanes) most = maximum(most, abs(load(row + c)));
      if (c < k) most = maximum(most, abs(load_partial(row + c, k - c)));
      float largest = 1e-30f;  // a row of zeros: any step will do
      for (int j = 0; j < f32_lanes; ++j) largest = most[j] <= largest ? largest : most[j];
      steps[i] = largest / 127.0f;
      const float inverse = 127.0f / largest;
      const auto rounded = [&](f32 x) {
        return nearest_ints(min(max(x * inverse, splat<f32>(-127.0f)), splat<f32>(127.0f))) + add;
      };
      const auto keep = [&](int64_t at, i32 q, int64_t n) {
        if (n == f32_lanes) return store_ints(to + i * full + at, q);
        Whole narrow[f32_lanes];
        store_ints(narrow, q);
        memcpy(to + i * full + at, narrow, size_t(n) * sizeof(Whole));
      };
      for (c = 0; c + f32_lanes <= k; c += f32_lanes) keep(c, rounded(load(row + c)), f32_lanes);
      if (c < k) keep(c, rounded(load_partial(row + c, k - c)), k - c);
      for (c = k; c < full; ++c) to[i * full + c] = 0;
    }
  });
  return to;
}

// x [..., k], weight [out blocks, in fours, 16, 4], scale [out], bias [out] or absent, residual as the result or absent.
template <typename T>
int quantized_linear(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  Epilogue epilogue;
  const int status = epilogue_of(call, "quantized_linear", 1, &epilogue);
  if (status != WRY_OK) return status;
  const int64_t k = x->shape[x->rank - 1], full = weight->shape[1] * 4, rows = out->size / epilogue.channels;
  Dense d;
  if constexpr (sizeof(T) == 1) {
    const Shift shift = shift_of<T>(int32_t(attr_int(call, 0)));
    d.in = whole_rows(call, data<T>(x), rows, k, full, shift.add), d.zero = shift.zero;
  } else {
    float *steps = workspace<float>(call, rows);
    const Shift shift = shift_of<int8_t>(0);
    d.in = steps ? rounded_rows(call, data<T>(x), rows, k, full, shift.add, steps) : nullptr, d.zero = shift.zero;
    epilogue.steps = steps, epilogue.tame = false;
  }
  if (!d.in) return fail_memory(call, "quantized_linear", rows * full);
  const int64_t offset = 0;
  d.image = d.line = 0, d.apart = full, d.images = d.lines = 1, d.width = rows;
  d.runs = {&offset, 1, full};
  d.weight = data<int8_t>(weight), d.blocks = weight->shape[0];
  multiply_dense(call, d, epilogue);
  return WRY_OK;
}

// ---- convolution ----------------------------------------------------------------------------------

// Images as [n, h, w, channels up to fours] with their border, in memory of its own; null when there is none.
template <typename T>
Whole *framed_images(const wry_call *call, const T *from, const Bytes &x, const Window &window, int add, Whole border, int64_t full) {
  const int64_t height = x.h + window.paddings[0] + window.paddings[1], width = x.w + window.paddings[2] + window.paddings[3];
  Whole *to = workspace<Whole>(call, x.n * height * width * full + 4);
  if (!to) return nullptr;
  parallel_for(call, x.n * height, max_of<int64_t>(1, 32768 / max_of<int64_t>(1, width * full)), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t y = row % height - window.paddings[0], left = window.paddings[2];
      Whole *line = to + row * width * full;
      const bool inside = y >= 0 && y < x.h;
      const auto fill = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          for (int64_t c = 0; c < full; ++c) line[i * full + c] = c < x.channels ? border : Whole(0);
      };
      fill(0, inside ? left : width);
      if (!inside) continue;
      fill(left + x.w, width);
      const T *at = from + row / height * x.image + y * x.line;
      line += left * full;
      if (x.channel == 1 && x.place == x.channels && x.channels == full) {
        widen_bytes(at, line, x.w * full, add);
        continue;
      }
      const auto some = [&](auto channels) {  // few, whose number the compiler knows
        for (int64_t i = 0; i < x.w; ++i) {
          Whole four[4] = {};
          for (int c = 0; c < decltype(channels)::value; ++c) four[c] = Whole(at[i * x.place + c * x.channel] + add);
          memcpy(line + 4 * i, four, sizeof four);
        }
      };
      if (x.channels == 1) some(std::integral_constant<int, 1>());
      else if (x.channels == 3) some(std::integral_constant<int, 3>());
      else
        for (int64_t i = 0; i < x.w; ++i)
          for (int64_t c = 0; c < full; ++c) line[i * full + c] = c < x.channels ? Whole(at[i * x.place + c * x.channel] + add) : Whole(0);
    }
  });
  return to;
}

// Inputs and runs of a convolution; `offsets` has room for each tap.
template <typename T>
bool dense_convolution(const wry_call *call, const T *from, const Bytes &x, const Window &window, const Shift &shift, int64_t *offsets,
                       Dense *d) {
  const int64_t full = ceil_div(x.channels, 4) * 4, width = x.w + window.paddings[2] + window.paddings[3];
  const int64_t height = x.h + window.paddings[0] + window.paddings[1];
  bool as_it_is = serves_as_it_is<T> && x.channel == 1 && x.place == full && x.channels == full && !window.framed();
  as_it_is = as_it_is && x.line == x.w * full && x.image == x.h * x.line;
  if constexpr (serves_as_it_is<T>) d->in = as_it_is ? from : nullptr;
  if (!as_it_is) d->in = framed_images(call, from, x, window, shift.add, Whole(shift.zero), full);
  if (!d->in) return false;
  const bool together = window.dilations[1] == 1;  // taps of a line lie side by side
  int64_t count = 0;
  for (int64_t i = 0; i < window.kh; ++i)
    for (int64_t j = 0; j < (together ? 1 : window.kw); ++j)
      offsets[count++] = (i * window.dilations[0] * width + j * window.dilations[1]) * full;
  d->runs = {offsets, count, together ? window.kw * full : full};
  d->image = height * width * full, d->line = window.strides[0] * width * full, d->apart = window.strides[1] * full;
  d->zero = shift.zero;
  return true;
}

WRY_INLINE void set_places(Dense *d, int64_t images, int64_t h, int64_t w, const Window &window) {
  d->images = images, d->lines = h, d->width = w;
  // Points one after another: all of them are one line.
  if (window.kh * window.kw == 1 && window.strides[0] == 1 && window.strides[1] == 1)
    d->images = d->lines = 1, d->width = images * h * w;
}

// x [n, h, w, c], weight [out blocks, kh, kw, in fours, 16, 4], and as of quantized_linear.
template <typename T>
int quantized_conv2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  Epilogue epilogue;
  const int status = epilogue_of(call, "quantized_conv2d", 4, &epilogue);
  if (status != WRY_OK) return status;
  const Window window = window_of(call, weight->shape[1], weight->shape[2]);
  int64_t *offsets = workspace<int64_t>(call, window.kh * window.kw);
  Dense d;
  if (!offsets || !dense_convolution(call, data<T>(x), bytes_of(x), window, shift_of<T>(int32_t(attr_int(call, 3))), offsets, &d))
    return fail_memory(call, "quantized_conv2d", x->size);
  d.weight = data<int8_t>(weight), d.blocks = weight->shape[0];
  set_places(&d, out->shape[0], out->shape[1], out->shape[2], window);
  if (d.images == 1 && d.lines == 1) epilogue.places = 0;
  multiply_dense(call, d, epilogue);
  return WRY_OK;
}

// ---- sums alone -----------------------------------------------------------------------------------

// Weights of any strides as steps read them, in memory of its own: [blocks, taps, in fours, 16, 4], bytes without sign moved by 128. `sums`, what the
// weights of each output add up to, has room for whole blocks.
struct Loose {
  const void *data;
  bool is_signed;
  int64_t outs, taps, inside;
  int64_t out, tap, in;  // strides
};

int8_t *packed_weights(const wry_call *call, const Loose &w, int32_t *sums) {
  const int64_t fours = ceil_div(w.inside, 4), blocks = ceil_div(w.outs, out_block), block = w.taps * fours * step_bytes;
  int8_t *to = workspace<int8_t>(call, blocks * block + 1);
  if (!to) return nullptr;
  const int flip = w.is_signed ? 0 : 128;
  const auto lay = [&](int64_t b, int64_t t, int64_t f) {
    const int64_t count = min_of<int64_t>(out_block, w.outs - b * out_block), n = min_of<int64_t>(4, w.inside - 4 * f);
    const auto *from = static_cast<const uint8_t *>(w.data) + b * out_block * w.out + t * w.tap + 4 * f * w.in;
    auto *at = reinterpret_cast<uint8_t *>(to) + b * block + (t * fours + f) * step_bytes;
    if (count < out_block || n < 4) {
      memset(at, flip, step_bytes);
      for (int64_t o = 0; o < count; ++o)
        for (int64_t k = 0; k < n; ++k) at[4 * o + k] = from[o * w.out + k * w.in];
    } else if (w.out == 1) lay_by_fours(from, from + w.in, from + 2 * w.in, from + 3 * w.in, at);
    else if (w.in == 1)
      for (int64_t o = 0; o < out_block; ++o) __builtin_memcpy(at + 4 * o, from + o * w.out, 4);
    else
      for (int64_t o = 0; o < out_block; ++o) {
        const uint8_t *one = from + o * w.out, four[4] = {one[0], one[w.in], one[2 * w.in], one[3 * w.in]};
        __builtin_memcpy(at + 4 * o, four, 4);
      }
    if (flip)
      for (int64_t i = 0; i < step_bytes; ++i) at[i] ^= 128;
  };
  // Where outputs lie side by side, those of a line of the cache together: it would be read once for each block.
  const int64_t together = w.out == 1 ? 4 : 1, groups = ceil_div(blocks, together);
  parallel_for(call, groups, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, together * block)), [&](int64_t first, int64_t last) {
    for (int64_t g = first; g < last; ++g) {
      const int64_t begin = g * together, end = min_of(blocks, begin + together);
      for (int64_t t = 0; t < w.taps; ++t)
        for (int64_t f = 0; f < fours; ++f)
          for (int64_t b = begin; b < end; ++b) lay(b, t, f);
      for (int64_t b = begin; b < end; ++b) weight_sums(to + b * block, w.taps * fours, sums + b * out_block);
    }
  });
  return to;
}

// Zero points of the rows or columns of a product, with what was added to their bytes.
const int32_t *zeros_of(const wry_call *call, const wry_tensor *zero, int64_t count, int add, bool *failed) {
  int32_t *to = workspace<int32_t>(call, count + out_block);
  if (!to) return *failed = true, nullptr;
  for (int64_t i = 0; i < count + out_block; ++i) {
    const bool one = !zero || zero->size == 1;
    const int64_t at = one ? 0 : i * zero->strides[0];
    const int32_t value = !zero || (!one && i >= count) ? 0 : zero->dtype == WRY_INT8 ? data<int8_t>(zero)[at]
                                                                                      : data<uint8_t>(zero)[at];
    to[i] = value + add;
  }
  return to;
}

WRY_INLINE int any_of(const int32_t *values, int64_t n) {
  int32_t all = 0;
  for (int64_t i = 0; i < n; ++i) all |= values[i];
  return all;
}

// Of sums of x * y those of (x - x_zero) * (y - y_zero). Without sign, for they may wrap.
struct Exact {
  int32_t *out;
  int64_t row, column, image;  // strides of `out`
  int64_t channels, places;
  const int32_t *x_zero;  // of each row, or of all where row_step is 0
  int64_t row_step;
  const int32_t *y_sums, *y_zero;  // of each column; y_zero null where all are 0
  const int32_t *x_sums;           // of each row of all images
  int32_t depth;

  WRY_INLINE void operator()(const int32_t *sums, int64_t apart, const int32_t *, int blocks, int64_t block, int64_t at_image, int64_t place,
                             int64_t rows) const {
    for (int64_t i = 0; i < rows; ++i)
      for (int b = 0; b < blocks; ++b) {
        const int64_t first = (block + b) * out_block, count = min_of<int64_t>(out_block, channels - first);
        const uint32_t zero = uint32_t(x_zero[(place + i) * row_step]);
        const uint32_t rest = y_zero ? uint32_t(x_sums[at_image * places + place + i]) - uint32_t(depth) * zero : 0;
        uint32_t values[out_block];
        for (int j = 0; j < out_block; ++j) {
          values[j] = uint32_t(sums[i * apart + b * out_block + j]) - zero * uint32_t(y_sums[first + j]);
          if (y_zero) values[j] -= uint32_t(y_zero[first + j]) * rest;
        }
        int32_t *to = out + at_image * image + (place + i) * row + first * column;
        for (int64_t j = 0; j < count; ++j) to[j * column] = int32_t(values[j]);
      }
  }
};

// The sums of each row: its products with ones.
struct RowSums {
  int32_t *to;
  int64_t places;
  WRY_INLINE void operator()(const int32_t *sums, int64_t apart, const int32_t *, int, int64_t, int64_t image, int64_t place, int64_t rows) const {
    for (int64_t i = 0; i < rows; ++i) to[image * places + place + i] = sums[i * apart];
  }
};

int32_t *row_sums(const wry_call *call, Dense d) {
  int32_t *to = workspace<int32_t>(call, d.images * d.lines * d.width + 1);
  int8_t *ones = workspace<int8_t>(call, d.steps() * step_bytes + 1);
  if (!to || !ones) return nullptr;
  memset(ones, 1, size_t(d.steps() * step_bytes));
  d.weight = ones, d.blocks = 1;
  multiply_dense(call, d, RowSums{to, d.lines * d.width});
  return to;
}

constexpr int flip_of(bool is_signed) { return is_signed ? 0 : -128; }  // what weights become signed by

// What the weights of each output add up to, as a packed op is given it, with room for whole blocks.
void take_sums(const wry_tensor *from, int32_t *to) {
  const int64_t n = from->shape[0];
  memcpy(to, from->data, size_t(n) * sizeof *to);
  memset(to + n, 0, out_block * sizeof *to);
}

// x [..., m, k], y [..., k, n], zero points [], [m] and [n] or absent. packed_matmul_int8: y [out blocks, in fours, 16, 4] and its sums.
template <typename T, bool packed = false>
int matmul_int8(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  constexpr int zeros = packed ? 3 : 2;
  const bool turn_x = !packed && attr_bool(call, 0), turn_y = !packed && attr_bool(call, 1), y_signed = y->dtype == WRY_INT8;
  const int rank = out->rank, xm = x->rank - (turn_x ? 1 : 2), xk = x->rank - (turn_x ? 2 : 1);
  const int yk = y->rank - (turn_y ? 1 : 2), yn = y->rank - (turn_y ? 2 : 1);
  const int64_t m = out->shape[rank - 2], n = out->shape[rank - 1], k = x->shape[xk], full = ceil_div(k, 4) * 4, count = out->size / (m * n);
  if (k == 0) {
    memset(out->data, 0, size_t(out->size) * sizeof(int32_t));
    return WRY_OK;
  }
  const Shift shift = shift_of<T>(0);  // zero points of rows are taken away afterwards
  bool failed = false;
  Exact exact;
  exact.x_zero = zeros_of(call, input(call, zeros), m, shift.zero, &failed);
  exact.row_step = input(call, zeros) && input(call, zeros)->size > 1;
  const int32_t *y_zero = zeros_of(call, input(call, zeros + 1), n, flip_of(y_signed), &failed);
  int32_t *y_sums = workspace<int32_t>(call, n + out_block);
  Whole *rows = workspace<Whole>(call, m * full + 4);
  if (failed || !y_sums || !rows) return fail_memory(call, "matmul_int8", m * full + n);
  exact.y_zero = any_of(y_zero, n) ? y_zero : nullptr, exact.y_sums = y_sums, exact.depth = int32_t(k);
  exact.row = n, exact.column = 1, exact.image = 0, exact.channels = n, exact.places = m;
  const int64_t offset = 0;
  Dense d;
  d.image = d.line = 0, d.apart = full, d.images = d.lines = 1, d.width = m, d.runs = {&offset, 1, full}, d.zero = 0, d.in = rows;
  d.blocks = ceil_div(n, out_block), d.weight = packed ? data<int8_t>(y) : nullptr;
  if (packed) take_sums(input(call, 2), y_sums);
  const uint8_t *last = packed ? data<uint8_t>(y) : nullptr;
  for (int64_t at = 0; at < count; ++at) {
    int64_t x_at = 0, y_at = 0, rest = at;
    for (int axis = rank - 3; axis >= 0; --axis) {
      const int64_t place = rest % out->shape[axis];
      rest /= out->shape[axis];
      const int i = axis - (rank - x->rank), j = axis - (rank - y->rank);
      if (i >= 0 && x->shape[i] > 1) x_at += place * x->strides[i];
      if (!packed && j >= 0 && y->shape[j] > 1) y_at += place * y->strides[j];
    }
    const T *from = data<T>(x) + x_at;
    const int64_t row = x->strides[xm], step = x->strides[xk];
    parallel_for(call, m, max_of<int64_t>(1, 16384 / full), [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) {
        Whole *to = rows + i * full;
        if (step == 1) widen_bytes(from + i * row, to, k, shift.add);
        else
          for (int64_t c = 0; c < k; ++c) to[c] = Whole(from[i * row + c * step] + shift.add);
        for (int64_t c = k; c < full; ++c) to[c] = 0;
      }
    });
    const uint8_t *weight = data<uint8_t>(y) + y_at;
    if (weight != last) {  // one for all of a batch is packed once
      d.weight = packed_weights(call, {weight, y_signed, n, 1, k, y->strides[yn], 0, y->strides[yk]}, y_sums);
      last = weight;
    }
    if (!d.weight || (exact.y_zero && !(exact.x_sums = row_sums(call, d)))) return fail_memory(call, "matmul_int8", k * n);
    exact.out = data<int32_t>(out) + at * m * n;
    multiply_dense(call, d, exact);
  }
  return WRY_OK;
}

// x [n, h, w, c] or [n, c, h, w], weight [out, c / groups, kh, kw], zero points [] and [out] or absent. packed_conv2d_int8: weight [out blocks, kh,
// kw, in fours, 16, 4] and its sums.
template <typename T, bool packed = false>
int conv2d_int8(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  constexpr int zeros = packed ? 3 : 2, kernel = packed ? 1 : 2;
  const bool last = attr_equals(call, packed ? 3 : 4, "NHWC"), w_signed = weight->dtype == WRY_INT8;
  const int64_t groups = packed ? 1 : attr_int(call, 3), *to = out->shape, *from = x->shape;
  const int64_t outs = to[last ? 3 : 1] / groups, inside = from[last ? 3 : 1] / groups;
  const Window window = window_of(call, weight->shape[kernel], weight->shape[kernel + 1]);
  const int64_t taps = window.kh * window.kw;
  const int64_t out_h = to[last ? 1 : 2], out_w = to[last ? 2 : 3], h = from[last ? 1 : 2], w = from[last ? 2 : 3];
  const int64_t channels = inside * groups, all = outs * groups;
  bool failed = false;
  const Shift shift = shift_of<T>(0);
  const int32_t *x_zero = zeros_of(call, input(call, zeros), 1, 0, &failed);
  const int32_t *w_zero = zeros_of(call, input(call, zeros + 1), all, flip_of(w_signed), &failed);
  int32_t *sums = workspace<int32_t>(call, outs + out_block);
  int64_t *offsets = workspace<int64_t>(call, taps);
  if (failed || !sums || !offsets) return fail_memory(call, "conv2d_int8", x->size);
  const int32_t border = *x_zero + shift.add, zero = *x_zero + shift.zero;
  for (int64_t g = 0; g < groups; ++g) {
    Bytes image = {from[0], h, w, inside, channels * h * w, last ? w * channels : w, last ? channels : 1, last ? 1 : h * w};
    Dense d;
    const T *at = data<T>(x) + g * inside * image.channel;
    if (!dense_convolution(call, at, image, window, {shift.add, border}, offsets, &d)) return fail_memory(call, "conv2d_int8", x->size);
    d.zero = 0, d.blocks = ceil_div(outs, out_block);
    const auto *weights = data<uint8_t>(weight) + g * outs * inside * taps;
    d.weight = packed ? data<int8_t>(weight) : packed_weights(call, {weights, w_signed, outs, taps, inside, inside * taps, 1, taps}, sums);
    if (packed) take_sums(input(call, 2), sums);
    d.images = to[0], d.lines = out_h, d.width = out_w;
    Exact exact;
    exact.y_zero = any_of(w_zero + g * outs, outs) ? w_zero + g * outs : nullptr;
    if (!d.weight || (exact.y_zero && !(exact.x_sums = row_sums(call, d)))) return fail_memory(call, "conv2d_int8", weight->size);
    exact.x_zero = &zero, exact.row_step = 0, exact.y_sums = sums, exact.depth = int32_t(inside * taps);
    exact.channels = outs, exact.places = out_h * out_w, exact.image = all * out_h * out_w;
    exact.row = last ? all : 1, exact.column = last ? 1 : out_h * out_w;
    exact.out = data<int32_t>(out) + g * outs * exact.column;
    multiply_dense(call, d, exact);
  }
  return WRY_OK;
}

// ---- sums and largest values ------------------------------------------------------------------------

template <typename T>
int quantized_add(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  End end;
  const int status = end_of(call, "quantized_add", 4, &end);
  if (status != WRY_OK) return status;
  const Addend x = addend_of(input(call, 0), attr_float(call, 0), attr_int(call, 1));
  const Addend y = addend_of(input(call, 1), attr_float(call, 2), attr_int(call, 3));
  dispatch<uint8_t, int8_t>(y.dtype, [&](auto tag) {
    parallel_blocks(call, out->size, 4096, [&](int64_t, int64_t first, int64_t last) {
      for (int64_t at = first; at < last; at += out_block) {
        const int64_t count = min_of<int64_t>(out_block, last - at);
        Sixteen sum = typed_addend<T>(x, at, count);
        const Sixteen other = typed_addend<decltype(tag)>(y, at, count);
#pragma GCC unroll 4
        for (int i = 0; i < out_parts; ++i) sum.v[i] = sum.v[i] + other.v[i];
        put(end, sum, out->data, at, count);
      }
    });
  });
  return WRY_OK;
}

// x [n, h, w, c]: the largest byte of each window; what lies outside does not count.
template <typename T>
int quantized_max_pool2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Ints kernel = attr_ints(call, 0), strides = attr_ints(call, 1), paddings = attr_ints(call, 2);
  const Bytes image = bytes_of(x);
  const int64_t out_h = out->shape[1], out_w = out->shape[2], channels = image.channels;
  constexpr int width = WRY_VECTOR_BYTES;
  using bytes = vecn<T, width>;
  parallel_for(call, out->shape[0] * out_h, max_of<int64_t>(1, 8192 / max_of<int64_t>(1, image.line)), [&](int64_t first, int64_t last) {
    for (int64_t line = first; line < last; ++line) {
      const T *from = data<T>(x) + line / out_h * image.image;
      const int64_t y = line % out_h * strides[0] - paddings[0];
      const int64_t top = max_of<int64_t>(y, 0), bottom = min_of(y + kernel[0], image.h);
      for (int64_t i = 0; i < out_w; ++i) {
        const int64_t z = i * strides[1] - paddings[2], left = max_of<int64_t>(z, 0), right = min_of(z + kernel[1], image.w);
        T *to = data<T>(out) + (line * out_w + i) * channels;
        const auto each = [&](auto f) {
          for (int64_t a = top; a < bottom; ++a)
            for (int64_t b = left; b < right; ++b) f(from + a * image.line + b * channels);
        };
        int64_t c = 0;
        for (; c + width <= channels; c += width) {
          bytes most = std::is_same<T, uint8_t>::value ? bytes{} : bytes{} + T(-128);
          each([&](const T *at) {
            bytes v;
            __builtin_memcpy(&v, at + c, width);
            most = most > v ? most : v;
          });
          __builtin_memcpy(to + c, &most, width);
        }
        for (int64_t k = c; k < channels; ++k) to[k] = std::is_same<T, uint8_t>::value ? T(0) : T(-128);
        each([&](const T *at) {
          for (int64_t k = c; k < channels; ++k) to[k] = max_of(to[k], at[k]);
        });
      }
    }
  });
  return WRY_OK;
}

// ---- bytes that a table says -------------------------------------------------------------------------

// x of any bytes, table [256], its first for the least byte of x's dtype.
template <typename T>
int mapped_bytes(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const uint8_t *given = data<uint8_t>(input(call, 1));
  uint8_t said[256];  // of the bytes as they lie, and here: nothing that is written may be in the table
  for (int i = 0; i < 256; ++i) said[i] = given[std::is_same<T, uint8_t>::value ? i : i ^ 128];
  parallel_for(call, out->size, 32768, [&](int64_t first, int64_t last) {
    mapped(said, data<uint8_t>(x) + first, data<uint8_t>(out) + first, last - first);
  });
  return WRY_OK;
}

const wry_kernel_entry table[] = {
    {"matmul_int8", WRY_UINT8, 0, matmul_int8<uint8_t>, nullptr},
    {"matmul_int8", WRY_INT8, 0, matmul_int8<int8_t>, nullptr},
    {"conv2d_int8", WRY_UINT8, WRY_WANTS_CONTIGUOUS, conv2d_int8<uint8_t>, nullptr},
    {"conv2d_int8", WRY_INT8, WRY_WANTS_CONTIGUOUS, conv2d_int8<int8_t>, nullptr},
    {"packed_matmul_int8", WRY_UINT8, WRY_WANTS_CONTIGUOUS, matmul_int8<uint8_t, true>, nullptr},
    {"packed_matmul_int8", WRY_INT8, WRY_WANTS_CONTIGUOUS, matmul_int8<int8_t, true>, nullptr},
    {"packed_conv2d_int8", WRY_UINT8, WRY_WANTS_CONTIGUOUS, conv2d_int8<uint8_t, true>, nullptr},
    {"packed_conv2d_int8", WRY_INT8, WRY_WANTS_CONTIGUOUS, conv2d_int8<int8_t, true>, nullptr},
    {"quantized_linear", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_linear<uint8_t>, nullptr},
    {"quantized_linear", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_linear<int8_t>, nullptr},
    {"quantized_linear", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, quantized_linear<float>, nullptr},
    {"quantized_linear", WRY_FLOAT16, WRY_WANTS_CONTIGUOUS, quantized_linear<float16>, nullptr},
    {"quantized_linear", WRY_BFLOAT16, WRY_WANTS_CONTIGUOUS, quantized_linear<bfloat16>, nullptr},
    {"quantized_conv2d", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_conv2d<uint8_t>, nullptr},
    {"quantized_conv2d", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_conv2d<int8_t>, nullptr},
    {"quantized_add", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_add<uint8_t>, nullptr},
    {"quantized_add", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_add<int8_t>, nullptr},
    {"quantized_max_pool2d", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_max_pool2d<uint8_t>, nullptr},
    {"quantized_max_pool2d", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_max_pool2d<int8_t>, nullptr},
    {"mapped_bytes", WRY_UINT8, WRY_WANTS_CONTIGUOUS, mapped_bytes<uint8_t>, nullptr},
    {"mapped_bytes", WRY_INT8, WRY_WANTS_CONTIGUOUS, mapped_bytes<int8_t>, nullptr},
};

}  // namespace
WRY_TABLE(quantized, table)

}  // namespace WRY_NAMESPACE
