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

// Ints of 0 to 255, or -128 to 127, as bytes.
WRY_INLINE void store_bytes(uint8_t *to, const i32 *v) {
#if WRY_VECTOR_BYTES == 64
  _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8((__m512i)v[0]));
#elif WRY_VECTOR_BYTES == 32
  const __m256i low = _mm256_set1_epi32(255);
  const __m256i words = _mm256_packus_epi32(_mm256_and_si256((__m256i)v[0], low), _mm256_and_si256((__m256i)v[1], low));
  const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
  _mm_storeu_si128((__m128i *)to, _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)));
#elif defined(__SSE4_1__)
  const __m128i low = _mm_set1_epi32(255);
  const auto words = [&](int i) { return _mm_packus_epi32(_mm_and_si128((__m128i)v[i], low), _mm_and_si128((__m128i)v[i + 1], low)); };
  _mm_storeu_si128((__m128i *)to, _mm_packus_epi16(words(0), words(2)));
#else
  for (int i = 0; i < out_parts; ++i) {
    const vecn<uint8_t, f32_lanes> bytes = __builtin_convertvector(v[i], vecn<uint8_t, f32_lanes>);
    __builtin_memcpy(to + i * f32_lanes, &bytes, sizeof bytes);
  }
#endif
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
  i32 q[out_parts];
#pragma GCC unroll 4
  for (int i = 0; i < out_parts; ++i) {
    f32 v = x.v[i];
    if (end.scaled) v = v * end.inverse;
    // Limits are whole, so that it makes no difference whether they come before or behind the rounding. NaN becomes the lower one.
    q[i] = convert<i32>(round_even(min(max(v, splat<f32>(end.low)), splat<f32>(end.high)))) + end.zero;
  }
  store_bytes(static_cast<uint8_t *>(out) + at, q);
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
      vecn<T, f32_lanes> bytes;
      __builtin_memcpy(&bytes, at + i * f32_lanes, sizeof bytes);
      x.v[i] = convert<f32>(__builtin_convertvector(bytes, i32) - a.zero) * a.scale;
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

  WRY_INLINE void operator()(const int32_t *sums, int64_t apart, const int32_t *less, int blocks, int64_t block, int64_t image, int64_t place,
                             int64_t rows) const {
    for (int64_t i = 0; i < rows; ++i)
      for (int b = 0; b < blocks; ++b)
        finish(sums + i * apart + b * out_block, less ? less + b * out_block : nullptr, (block + b) * out_block, image * places + place + i);
  }
};

// Inputs scale, bias, residual from the third on; attributes from residual_scale on.
int behind_of(const wry_call *call, const char *op, int at, Behind *behind) {
  const wry_tensor *scale = input(call, 2), *bias = input(call, 3), *out = output(call, 0);
  const int64_t n = scale->shape[0], full = ceil_div8(n, out_block) * out_block;
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
        return convert<i32>(round_even(min(max(x * inverse, splat<f32>(-127.0f)), splat<f32>(127.0f)))) + add;
      };
      const auto keep = [&](int64_t at, i32 q, int64_t n) {
        const vecn<Whole, f32_lanes> narrow = __builtin_convertvector(q, vecn<Whole, f32_lanes>);
        memcpy(to + i * full + at, &narrow, size_t(n) * sizeof(Whole));
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
        for (int64_t i = begin * full; i < end * full; ++i) line[i] = border;
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
  const int64_t full = ceil_div8(x.channels, 4) * 4, width = x.w + window.paddings[2] + window.paddings[3];
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

const wry_kernel_entry table[] = {
    {"quantized_linear", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_linear<uint8_t>, nullptr},
    {"quantized_linear", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_linear<int8_t>, nullptr},
    {"quantized_linear", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, quantized_linear<float>, nullptr},
    {"quantized_linear", WRY_FLOAT16, WRY_WANTS_CONTIGUOUS, quantized_linear<float16>, nullptr},
    {"quantized_linear", WRY_BFLOAT16, WRY_WANTS_CONTIGUOUS, quantized_linear<bfloat16>, nullptr},
    {"quantized_conv2d", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_conv2d<uint8_t>, nullptr},
    {"quantized_conv2d", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_conv2d<int8_t>, nullptr},
};

}  // namespace
WRY_TABLE(quantized, table)

}  // namespace WRY_NAMESPACE
