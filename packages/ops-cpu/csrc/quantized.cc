// Products and convolutions of quantized tensors (wherry_tensor/ops/quantized.py says what they compute).
//
// Sums are exact, and what stands behind them is computed in float32, each step rounded by itself: this file is compiled without fused
// multiply-add, so that every processor gives the same bytes. (But for activations that are more than comparisons: these differ in their last bits, as those of
// floats do.)
#include "behind.h"
#include "dense8.h"

namespace WRY_NAMESPACE {
namespace {

constexpr int out_parts = out_block / f32_lanes;

// ---- what stands behind ---------------------------------------------------------------------------

// From v on: the activation, and the result as floats or bytes.
struct End {
  Activation activation;
  int32_t dtype, zero;
  float inverse, low, high;  // limits less zero
  bool scaled;

  // Limits are whole, so that it makes no difference whether they come before or behind the rounding. NaN becomes the lower one.
  WRY_INLINE i32 bytes_of(f32 v) const { return nearest_ints(min(max(v, splat<f32>(low)), splat<f32>(high))) + zero; }
};

// The attributes from `activation` on: it, out_scale, out_zero_point, low, high.
int end_of(const wry_call *call, const char *op, int at, End *end) {
  if (!activation_of(call, at, &end->activation)) return unknown_activation(call, op, at);
  end->dtype = output(call, 0)->dtype;
  end->scaled = !attr_is_none(call, at + 1);
  end->inverse = end->scaled ? 1.0f / float(attr_float(call, at + 1)) : 1.0f;
  const bool is_signed = end->dtype == WRY_INT8;
  end->zero = int32_t(attr_int(call, at + 2));
  end->low = float((attr_is_none(call, at + 3) ? is_signed ? -128 : 0 : attr_int(call, at + 3)) - end->zero);
  end->high = float((attr_is_none(call, at + 4) ? is_signed ? 127 : 255 : attr_int(call, at + 4)) - end->zero);
  const bool bytes = is_signed || end->dtype == WRY_UINT8;
  if (bytes && (end->activation == Activation::relu || end->activation == Activation::relu6)) {
    // Of bytes they are limits: rounding changes no order.
    const float six = end->activation == Activation::relu6 ? rintf(6.0f * end->inverse) : end->high;
    end->high = max_of(end->low, min_of(end->high, six)), end->low = max_of(end->low, min_of(0.0f, end->high));
    end->activation = Activation::none;
  }
  return WRY_OK;
}

struct Sixteen {
  f32 v[out_parts];
};

WRY_INLINE Sixteen sixteen_at(const float *at) {
  Sixteen x;
#pragma GCC unroll 4
  for (int i = 0; i < out_parts; ++i) x.v[i] = load(at + i * f32_lanes);
  return x;
}

template <typename T>
WRY_INLINE void store_floats(void *out, int64_t at, const Sixteen &x) {
#pragma GCC unroll 4
  for (int i = 0; i < out_parts; ++i) store(static_cast<T *>(out) + at + i * f32_lanes, x.v[i]);
}

WRY_INLINE void store_whole_sixteen(const End &end, const Sixteen &x, void *out, int64_t at) {
  if (end.dtype == WRY_FLOAT32) return store_floats<float>(out, at, x);
  if (end.dtype == WRY_FLOAT16) return store_floats<float16>(out, at, x);
  if (end.dtype == WRY_BFLOAT16) return store_floats<bfloat16>(out, at, x);
#pragma GCC unroll 4
  for (int i = 0; i < out_parts; ++i) {
    const f32 v = end.scaled ? x.v[i] * end.inverse : x.v[i];
    store_ints(static_cast<uint8_t *>(out) + at + i * f32_lanes, end.bytes_of(v));
  }
}

// The first `count` of 16 values, to element `at` of the result.
WRY_INLINE void put(const End &end, Sixteen x, void *out, int64_t at, int64_t count) {
  if (end.activation == Activation::relu) {
#pragma GCC unroll 4
    for (int i = 0; i < out_parts; ++i) x.v[i] = relu(x.v[i]);
  } else if (end.activation == Activation::relu6) {
#pragma GCC unroll 4
    for (int i = 0; i < out_parts; ++i) x.v[i] = relu6(x.v[i]);
  } else if (end.activation != Activation::none) {
    alignas(64) float values[out_block];
    store_floats<float>(values, 0, x);
    activate(end.activation, values, out_block);
    x = sixteen_at(values);
  }
  if (WRY_LIKELY(count == out_block)) return store_whole_sixteen(end, x, out, at);
  alignas(64) char values[out_block * sizeof(float)];
  store_whole_sixteen(end, x, values, 0);
  const int64_t size = item_sizes[end.dtype];
  memcpy(static_cast<char *>(out) + at * size, values, size_t(count * size));
}

// `count` of 16 values of a tensor as floats: of bytes, what they stand for.
struct Addend {
  const void *data;  // or null
  int32_t dtype, zero;
  float scale;
};

WRY_INLINE Addend addend_of(const wry_tensor *t, double scale, int64_t zero) {
  return {t ? t->data : nullptr, t ? t->dtype : 0, int32_t(zero), float(scale)};
}

template <typename T>
WRY_INLINE Sixteen whole_addend(const Addend &a, const T *at) {
  Sixteen x;
#pragma GCC unroll 4
  for (int i = 0; i < out_parts; ++i) {
    if constexpr (sizeof(T) == 1) {
      x.v[i] = convert<f32>(load_ints(at + i * f32_lanes) - a.zero) * a.scale;
    } else {
      x.v[i] = load(at + i * f32_lanes);
    }
  }
  return x;
}

template <typename T>
WRY_INLINE Sixteen typed_addend(const Addend &a, int64_t at, int64_t count) {
  const T *from = static_cast<const T *>(a.data) + at;
  if (WRY_LIKELY(count == out_block)) return whole_addend(a, from);
  T values[out_block] = {};
  memcpy(values, from, size_t(count) * sizeof(T));
  return whole_addend(a, values);
}

WRY_INLINE Sixteen addend_at(const Addend &a, int64_t at, int64_t count) {
  switch (a.dtype) {
    case WRY_UINT8: return typed_addend<uint8_t>(a, at, count);
    case WRY_INT8: return typed_addend<int8_t>(a, at, count);
    case WRY_FLOAT16: return typed_addend<float16>(a, at, count);
    case WRY_BFLOAT16: return typed_addend<bfloat16>(a, at, count);
    default: return typed_addend<float>(a, at, count);
  }
}

struct Behind {
  const int32_t *start;       // added to sums, or null
  const float *scale, *bias;  // bias may be null; all three are filled up to whole blocks
  const float *steps;         // of rows, or null
  Addend residual;
  End end;
  void *out;
  int64_t channels, places;  // of the result: outputs, and places of an image

  // Sums of 16 outputs from `channel` on at place `row` of all places.
  WRY_INLINE void finish(const int32_t *sums, const int32_t *less, int64_t channel, int64_t row) const {
    const int64_t count = min_of<int64_t>(out_block, channels - channel), at = row * channels + channel;
    Sixteen x;
#pragma GCC unroll 4
    for (int i = 0; i < out_parts; ++i) {
      i32 sum = load(sums + i * f32_lanes);
      if (less) sum -= load(less + i * f32_lanes);
      if (start) sum += load(start + channel + i * f32_lanes);
      f32 v = convert<f32>(sum);
      if (steps) v = v * steps[row];
      v = v * load(scale + channel + i * f32_lanes);
      if (bias) v = v + load(bias + channel + i * f32_lanes);
      x.v[i] = v;
    }
    if (residual.data) {
      const Sixteen r = addend_at(residual, at, count);
#pragma GCC unroll 4
      for (int i = 0; i < out_parts; ++i) x.v[i] = x.v[i] + r.v[i];
    }
    put(end, x, out, at, count);
  }

  // The same of `rows` places one after another, their sums `apart` from each other.
  WRY_INLINE void finish_rows(const int32_t *sums, int64_t apart, const int32_t *less, int64_t channel, int64_t row, int64_t rows) const {
    const bool bytes = end.dtype == WRY_UINT8 || end.dtype == WRY_INT8;
    if (!bytes || bias || steps || residual.data || end.activation != Activation::none || channel + out_block > channels) {
      for (int64_t i = 0; i < rows; ++i) finish(sums + i * apart, less, channel, row + i);
      return;
    }
    i32 first[out_parts];
    f32 factor[out_parts];
#pragma GCC unroll 4
    for (int v = 0; v < out_parts; ++v) {
      first[v] = start ? load(start + channel + v * f32_lanes) : i32{};
      if (less) first[v] -= load(less + v * f32_lanes);
      factor[v] = load(scale + channel + v * f32_lanes);
    }
    const f32 inverse = splat<f32>(end.inverse);  // 1 where there is none: nothing changes
    uint8_t *to = static_cast<uint8_t *>(out) + row * channels + channel;
    for (int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < out_parts; ++v) {
        const f32 x = convert<f32>(load(sums + i * apart + v * f32_lanes) + first[v]) * factor[v];
        store_ints(to + i * channels + v * f32_lanes, end.bytes_of(x * inverse));
      }
  }

  WRY_INLINE void operator()(const int32_t *sums, int64_t apart, const int32_t *less, int blocks, int64_t block, int64_t image, int64_t place,
                             int64_t rows) const {
    for (int b = 0; b < blocks; ++b)
      finish_rows(sums + b * out_block, apart, less ? less + b * out_block : nullptr, (block + b) * out_block, image * places + place, rows);
  }
};

// Inputs scale, bias, residual from the third on; attributes from residual_scale on.
int behind_of(const wry_call *call, const char *op, int at, Behind *behind) {
  const wry_tensor *scale = input(call, 2), *bias = input(call, 3), *out = output(call, 0);
  const int64_t n = scale->shape[0], full = ceil_div(n, out_block) * out_block;
  float *room = workspace<float>(call, 2 * full);
  if (!room) return fail_memory(call, op, 8 * full);
  memset(room, 0, size_t(2 * full) * sizeof(float));
  memcpy(room, scale->data, size_t(n) * sizeof(float));
  if (bias) memcpy(room + full, bias->data, size_t(n) * sizeof(float));  // ints are as wide
  const bool whole = bias && bias->dtype == WRY_INT32;
  behind->scale = room;
  behind->start = whole ? reinterpret_cast<const int32_t *>(room + full) : nullptr;
  behind->bias = bias && !whole ? room + full : nullptr;
  behind->steps = nullptr;
  behind->residual = addend_of(input(call, 4), attr_float(call, at), attr_int(call, at + 1));
  behind->out = out->data;
  behind->channels = n, behind->places = out->rank == 4 ? out->shape[1] * out->shape[2] : 0;
  return end_of(call, op, at + 2, &behind->end);
}

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
  Behind behind;
  const int status = behind_of(call, "quantized_linear", 1, &behind);
  if (status != WRY_OK) return status;
  const int64_t k = x->shape[x->rank - 1], full = weight->shape[1] * 4, rows = out->size / behind.channels;
  Dense d;
  if constexpr (sizeof(T) == 1) {
    const Shift shift = shift_of<T>(int32_t(attr_int(call, 0)));
    d.in = whole_rows(call, data<T>(x), rows, k, full, shift.add), d.zero = shift.zero;
  } else {
    float *steps = workspace<float>(call, rows);
    const Shift shift = shift_of<int8_t>(0);
    d.in = steps ? rounded_rows(call, data<T>(x), rows, k, full, shift.add, steps) : nullptr, d.zero = shift.zero;
    behind.steps = steps;
  }
  if (!d.in) return fail_memory(call, "quantized_linear", rows * full);
  const int64_t offset = 0;
  d.image = d.line = 0, d.apart = full, d.images = d.lines = 1, d.width = rows;
  d.runs = {&offset, 1, full};
  d.weight = data<int8_t>(weight), d.blocks = weight->shape[0];
  multiply_dense(call, d, behind);
  return WRY_OK;
}

// ---- convolution ----------------------------------------------------------------------------------

struct Window {
  int64_t kh, kw;
  Ints strides, paddings, dilations;
  WRY_INLINE bool framed() const { return (paddings[0] | paddings[1] | paddings[2] | paddings[3]) != 0; }
};

// Images of bytes, and where their values lie.
struct Bytes {
  int64_t n, h, w, channels;
  int64_t image, line, place, channel;
};

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

WRY_INLINE Window window_of(const wry_call *call, int64_t kh, int64_t kw) { return {kh, kw, attr_ints(call, 0), attr_ints(call, 1), attr_ints(call, 2)}; }

WRY_INLINE Bytes bytes_of(const wry_tensor *x) {
  const int64_t *s = x->shape;
  return {s[0], s[1], s[2], s[3], s[1] * s[2] * s[3], s[2] * s[3], s[3], 1};
}

// x [n, h, w, c], weight [out blocks, kh, kw, in fours, 16, 4], and as of quantized_linear.
template <typename T>
int quantized_conv2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  Behind behind;
  const int status = behind_of(call, "quantized_conv2d", 4, &behind);
  if (status != WRY_OK) return status;
  const Window window = window_of(call, weight->shape[1], weight->shape[2]);
  int64_t *offsets = workspace<int64_t>(call, window.kh * window.kw);
  Dense d;
  if (!offsets || !dense_convolution(call, data<T>(x), bytes_of(x), window, shift_of<T>(int32_t(attr_int(call, 3))), offsets, &d))
    return fail_memory(call, "quantized_conv2d", x->size);
  d.weight = data<int8_t>(weight), d.blocks = weight->shape[0];
  set_places(&d, out->shape[0], out->shape[1], out->shape[2], window);
  if (d.images == 1 && d.lines == 1) behind.places = 0;
  multiply_dense(call, d, behind);
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
  parallel_for(call, blocks, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, block)), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      const int64_t count = min_of<int64_t>(out_block, w.outs - b * out_block);
      for (int64_t t = 0; t < w.taps; ++t)
        for (int64_t f = 0; f < fours; ++f) {
          const auto *from = static_cast<const uint8_t *>(w.data) + b * out_block * w.out + t * w.tap + 4 * f * w.in;
          auto *at = reinterpret_cast<uint8_t *>(to) + b * block + (t * fours + f) * step_bytes;
          const int64_t n = min_of<int64_t>(4, w.inside - 4 * f);
          if (w.out == 1 && count == out_block && n == 4) lay_by_fours(from, from + w.in, from + 2 * w.in, from + 3 * w.in, at);
          else {
            memset(at, flip, step_bytes);
            for (int64_t o = 0; o < count; ++o)
              for (int64_t k = 0; k < n; ++k) at[4 * o + k] = from[o * w.out + k * w.in];
          }
          if (flip)
            for (int64_t i = 0; i < step_bytes; ++i) at[i] ^= 128;
        }
      weight_sums(to + b * block, w.taps * fours, sums + b * out_block);
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

// x [..., m, k], y [..., k, n], zero points [], [m] and [n] or absent.
template <typename T>
int matmul_int8(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *y = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool turn_x = attr_bool(call, 0), turn_y = attr_bool(call, 1), y_signed = y->dtype == WRY_INT8;
  const int rank = out->rank, xm = x->rank - (turn_x ? 1 : 2), xk = x->rank - (turn_x ? 2 : 1);
  const int yk = y->rank - (turn_y ? 1 : 2), yn = y->rank - (turn_y ? 2 : 1);
  const int64_t m = out->shape[rank - 2], n = out->shape[rank - 1], k = x->shape[xk], full = ceil_div(k, 4) * 4, count = out->size / (m * n);
  if (k == 0) {
    memset(out->data, 0, size_t(out->size) * sizeof(int32_t));
    return WRY_OK;
  }
  const Shift shift = shift_of<T>(0);  // zero points of rows are taken away behind
  bool failed = false;
  Exact exact;
  exact.x_zero = zeros_of(call, input(call, 2), m, shift.zero, &failed);
  exact.row_step = input(call, 2) && input(call, 2)->size > 1;
  const int32_t *y_zero = zeros_of(call, input(call, 3), n, flip_of(y_signed), &failed);
  int32_t *y_sums = workspace<int32_t>(call, n + out_block);
  Whole *rows = workspace<Whole>(call, m * full + 4);
  if (failed || !y_sums || !rows) return fail_memory(call, "matmul_int8", m * full + n);
  exact.y_zero = any_of(y_zero, n) ? y_zero : nullptr, exact.y_sums = y_sums, exact.depth = int32_t(k);
  exact.row = n, exact.column = 1, exact.image = 0, exact.channels = n, exact.places = m;
  const int64_t offset = 0;
  Dense d;
  d.image = d.line = 0, d.apart = full, d.images = d.lines = 1, d.width = m, d.runs = {&offset, 1, full}, d.zero = 0, d.in = rows;
  d.blocks = ceil_div(n, out_block), d.weight = nullptr;
  const uint8_t *last = nullptr;
  for (int64_t at = 0; at < count; ++at) {
    int64_t x_at = 0, y_at = 0, rest = at;
    for (int axis = rank - 3; axis >= 0; --axis) {
      const int64_t place = rest % out->shape[axis];
      rest /= out->shape[axis];
      const int i = axis - (rank - x->rank), j = axis - (rank - y->rank);
      if (i >= 0 && x->shape[i] > 1) x_at += place * x->strides[i];
      if (j >= 0 && y->shape[j] > 1) y_at += place * y->strides[j];
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

// x [n, h, w, c] or [n, c, h, w], weight [out, c / groups, kh, kw], zero points [] and [out] or absent.
template <typename T>
int conv2d_int8(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 4, "NHWC"), w_signed = weight->dtype == WRY_INT8;
  const int64_t groups = attr_int(call, 3), outs = weight->shape[0] / groups, inside = weight->shape[1];
  const Window window = window_of(call, weight->shape[2], weight->shape[3]);
  const int64_t taps = window.kh * window.kw, *to = out->shape, *from = x->shape;
  const int64_t out_h = to[last ? 1 : 2], out_w = to[last ? 2 : 3], h = from[last ? 1 : 2], w = from[last ? 2 : 3];
  const int64_t channels = inside * groups, all = outs * groups;
  bool failed = false;
  const Shift shift = shift_of<T>(0);
  const int32_t *x_zero = zeros_of(call, input(call, 2), 1, 0, &failed);
  const int32_t *w_zero = zeros_of(call, input(call, 3), all, flip_of(w_signed), &failed);
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
    d.weight = packed_weights(call, {weights, w_signed, outs, taps, inside, inside * taps, 1, taps}, sums);
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

// ---- channels by themselves -------------------------------------------------------------------------

// Each channel has its own window. The rows that lines of outputs meet are laid by fours of rows first: [fours, columns, channels, 4]. Then what a step
// adds up are four rows of a channel, and the columns of the window are steps. Four rows serve two lines of 3x3 windows, with the window's rows moved.
struct Channels {
  int64_t count, full;  // and filled up to whole blocks
  int64_t fours, kw;
  int64_t lines;   // of outputs that one laying serves
  int8_t *weight;  // [lines, fours, kw, full, 4]
  int32_t *less;   // what zero adds, [full]
  WRY_INLINE int64_t line_weights() const { return fours * kw * full * 4; }
};

bool channels_of(const wry_call *call, const wry_tensor *weight, const Window &window, int32_t zero, Channels *c) {
  const int64_t kh = window.kh;
  c->kw = window.kw, c->count = weight->shape[2], c->full = ceil_div(c->count, out_block) * out_block, c->fours = ceil_div(kh, 4);
  c->lines = window.dilations[0] == 1 ? (4 * c->fours - kh) / window.strides[0] + 1 : 1;
  int8_t *none = workspace<int8_t>(call, c->full);
  c->weight = workspace<int8_t>(call, c->lines * c->line_weights()), c->less = workspace<int32_t>(call, c->full);
  if (!none || !c->weight || !c->less) return false;
  memset(none, 0, size_t(c->full)), memset(c->less, 0, size_t(c->full) * sizeof(int32_t));
  const int8_t *from = data<int8_t>(weight);
  for (int64_t l = 0; l < c->lines; ++l)
    for (int64_t g = 0; g < c->fours; ++g)
      for (int64_t j = 0; j < c->kw; ++j) {
        const int8_t *rows[4];
        for (int64_t i = 0; i < 4; ++i) {
          const int64_t row = 4 * g + i - l * window.strides[0];
          rows[i] = row >= 0 && row < kh ? from + (row * c->kw + j) * c->count : none;
        }
        int8_t *to = c->weight + l * c->line_weights() + (g * c->kw + j) * c->full * 4;
        int64_t k = 0;
        for (; k + out_block <= c->count; k += out_block) lay_by_fours(rows[0] + k, rows[1] + k, rows[2] + k, rows[3] + k, to + 4 * k);
        for (; k < c->full; ++k)
          for (int64_t i = 0; i < 4; ++i) to[4 * k + i] = k < c->count ? rows[i][k] : int8_t(0);
      }
  if (zero)
    for (int64_t tap = 0; tap < kh * c->kw; ++tap)
      for (int64_t k = 0; k < c->count; ++k) c->less[k] += from[tap * c->count + k] * zero;
  return true;
}

template <typename T>
WRY_INLINE void lay_fours(const T *const *rows, Whole *WRY_RESTRICT to, int64_t n, int add) {
  const T *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  int64_t i = 0;
  for (; i + out_block <= n; i += out_block) {
    T fours[4 * out_block];
    lay_by_fours(a + i, b + i, c + i, d + i, fours);
    widen_bytes(fours, to + 4 * i, 4 * out_block, add);
  }
  for (; i < n; ++i)
    to[4 * i] = Whole(a[i] + add), to[4 * i + 1] = Whole(b[i] + add), to[4 * i + 2] = Whole(c[i] + add), to[4 * i + 3] = Whole(d[i] + add);
}

// Sums of `Pixels` outputs of a line, `apart` values from one to the next, for 16 channels.
template <int Pixels>
WRY_INLINE void channel_tile(const Channels &c, const Whole *in, int64_t apart, int64_t column, int64_t four, const int8_t *weight, int32_t *to) {
  for (int pass = 0; pass < passes; ++pass) {
    Sums sum[Pixels][parts];
    for (int p = 0; p < Pixels; ++p)
      for (int v = 0; v < parts; ++v) sum[p][v] = no_sums();
    for (int64_t g = 0; g < c.fours; ++g)
      for (int64_t j = 0; j < c.kw; ++j) {
        const Whole *at = in + g * four + j * column;
        const int8_t *w = weight + (g * c.kw + j) * c.full * 4;
#pragma GCC unroll 4
        for (int v = 0; v < parts; ++v) {
          const int place = (pass * parts + v) * vector_bytes;
          const Weights factor = weights_at(w + place);
#pragma GCC unroll 4
          for (int p = 0; p < Pixels; ++p) sum[p][v] = add_products(factor, fours_at(at + p * apart + place), sum[p][v]);
        }
      }
    for (int p = 0; p < Pixels; ++p) store_sums(to + p * out_block + pass * (out_block / passes), sum[p]);
  }
}

// x [n, h, w, c], weight [kh, kw, c], and as of quantized_linear.
template <typename T>
int quantized_depthwise_conv2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  Behind behind;
  const int status = behind_of(call, "quantized_depthwise_conv2d", 4, &behind);
  if (status != WRY_OK) return status;
  const Window window = window_of(call, weight->shape[0], weight->shape[1]);
  const int64_t zero_point = attr_int(call, 3);
  const Shift shift = shift_of<T>(int32_t(zero_point));
  const Bytes image = bytes_of(x);
  Channels c;
  const int64_t columns = image.w + window.paddings[2] + window.paddings[3], out_h = out->shape[1], out_w = out->shape[2];
  T *border = workspace<T>(call, image.line);
  if (!border || !channels_of(call, weight, window, shift.zero, &c)) return fail_memory(call, "quantized_depthwise_conv2d", image.line);
  const int64_t column = c.full * 4, four = columns * column, room = c.fours * four;
  Whole *strips = workspace<Whole>(call, room * threads_for(call, INT32_MAX));
  if (!strips) return fail_memory(call, "quantized_depthwise_conv2d", room);
  memset(border, int(zero_point), size_t(image.line));
  const int64_t turns = ceil_div(out_h, c.lines);
  parallel_for(call, out->shape[0] * turns, max_of<int64_t>(1, 8192 / max_of<int64_t>(1, image.line)), [&](int64_t first, int64_t last) {
    Whole *strip = strips + room * thread_index();
    for (int64_t turn = first; turn < last; ++turn) {
      const T *from = data<T>(x) + turn / turns * image.image;
      const int64_t line = turn % turns * c.lines, lines = min_of(c.lines, out_h - line), top = line * window.strides[0] - window.paddings[0];
      const int64_t row = (turn / turns * out_h + line) * out_w, used = window.kh + (lines - 1) * window.strides[0];
      for (int64_t g = 0; g < c.fours; ++g) {
        const T *rows[4];
        for (int64_t i = 0; i < 4; ++i) {
          const int64_t y = top + (4 * g + i) * window.dilations[0];
          rows[i] = 4 * g + i < used && y >= 0 && y < image.h ? from + y * image.line : border;
        }
        Whole *to = strip + g * four;
        const auto fill = [&](int64_t begin, int64_t end) {
          for (int64_t i = begin * column; i < end * column; ++i) to[i] = Whole(shift.zero);
        };
        fill(0, window.paddings[2]), fill(window.paddings[2] + image.w, columns);
        to += window.paddings[2] * column;
        if (c.full == c.count) {
          lay_fours<T>(rows, to, image.line, shift.add);
          continue;
        }
        for (int64_t i = 0; i < image.w; ++i) {
          lay_fours<T>(rows, to + i * column, c.count, shift.add);
          for (auto &row : rows) row += c.count;
        }
      }
      const int64_t apart = window.strides[1] * column, step = window.dilations[1] * column;
      alignas(64) int32_t sums[4 * out_block];
      for (int64_t l = 0; l < lines; ++l)
        for (int64_t k = 0; k < c.full; k += out_block) {
          const auto some = [&](auto pixels, int64_t at) {
            constexpr int n = decltype(pixels)::value;
            channel_tile<n>(c, strip + at * apart + k * 4, apart, step, four, c.weight + l * c.line_weights() + k * 4, sums);
            behind.finish_rows(sums, out_block, shift.zero ? c.less + k : nullptr, k, row + l * out_w + at, n);
          };
          int64_t at = 0;
          for (; at + 4 <= out_w; at += 4) some(std::integral_constant<int, 4>(), at);
          for (; at < out_w; ++at) some(std::integral_constant<int, 1>(), at);
        }
    }
  });
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

const wry_kernel_entry table[] = {
    {"matmul_int8", WRY_UINT8, 0, matmul_int8<uint8_t>, nullptr},
    {"matmul_int8", WRY_INT8, 0, matmul_int8<int8_t>, nullptr},
    {"conv2d_int8", WRY_UINT8, WRY_WANTS_CONTIGUOUS, conv2d_int8<uint8_t>, nullptr},
    {"conv2d_int8", WRY_INT8, WRY_WANTS_CONTIGUOUS, conv2d_int8<int8_t>, nullptr},
    {"quantized_linear", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_linear<uint8_t>, nullptr},
    {"quantized_linear", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_linear<int8_t>, nullptr},
    {"quantized_linear", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, quantized_linear<float>, nullptr},
    {"quantized_linear", WRY_FLOAT16, WRY_WANTS_CONTIGUOUS, quantized_linear<float16>, nullptr},
    {"quantized_linear", WRY_BFLOAT16, WRY_WANTS_CONTIGUOUS, quantized_linear<bfloat16>, nullptr},
    {"quantized_conv2d", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_conv2d<uint8_t>, nullptr},
    {"quantized_conv2d", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_conv2d<int8_t>, nullptr},
    {"quantized_depthwise_conv2d", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_depthwise_conv2d<uint8_t>, nullptr},
    {"quantized_depthwise_conv2d", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_depthwise_conv2d<int8_t>, nullptr},
    {"quantized_add", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_add<uint8_t>, nullptr},
    {"quantized_add", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_add<int8_t>, nullptr},
    {"quantized_max_pool2d", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_max_pool2d<uint8_t>, nullptr},
    {"quantized_max_pool2d", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_max_pool2d<int8_t>, nullptr},
};

}  // namespace
WRY_TABLE(quantized, table)

}  // namespace WRY_NAMESPACE
