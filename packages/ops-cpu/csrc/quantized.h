// What the ops of quantized tensors have in common: what stands after their sums, and how their images lie.
//
// What stands after is computed in float32, each step rounded by itself: whoever includes this is compiled without fused multiply-add.
#ifndef WHERRY_OPS_CPU_QUANTIZED_H
#define WHERRY_OPS_CPU_QUANTIZED_H

#include "epilogue.h"
#include "int8.h"

namespace WRY_NAMESPACE {

constexpr int out_parts = out_block / f32_lanes;

// ---- what stands after ---------------------------------------------------------------------------

// From v on: the activation, and the result as floats or bytes.
struct End {
  Activation activation;
  int32_t dtype, zero;
  float inverse, low, high;  // limits less zero
  int32_t least, most;       // the limits as they are
  bool scaled;

  // Limits are whole, so that it makes no difference whether they come before or after the rounding. NaN becomes the lower one.
  WRY_INLINE i32 bytes_of(f32 v) const { return nearest_small_ints(min(max(v, splat<f32>(low)), splat<f32>(high))) + zero; }
};

// The attributes from `activation` on: it, out_scale, out_zero_point, low, high.
inline int end_of(const wry_call *call, const char *op, int at, End *end) {
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
  end->least = int32_t(end->low) + end->zero, end->most = int32_t(end->high) + end->zero;
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

#if WRY_VECTOR_BYTES == 64
// What 64 values become bytes by.
template <typename T>
struct Narrowing {
  __m512i zero, least, most, order;

  WRY_INLINE explicit Narrowing(const End &end)
      : zero(_mm512_set1_epi16(short(end.zero))), least(_mm512_set1_epi8(char(end.least))), most(_mm512_set1_epi8(char(end.most))), order(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)) {}

  // Four times 16, one after the other. Narrowing limits as well.
  WRY_INLINE __m512i bytes_of(const __m512i *q) const {
    const __m512i a = _mm512_adds_epi16(_mm512_packs_epi32(q[0], q[1]), zero), b = _mm512_adds_epi16(_mm512_packs_epi32(q[2], q[3]), zero);
    const __m512i bytes = T(-1) < T(0) ? _mm512_min_epi8(most, _mm512_max_epi8(_mm512_packs_epi16(a, b), least))
                                       : _mm512_min_epu8(most, _mm512_max_epu8(_mm512_packus_epi16(a, b), least));
    return _mm512_permutexvar_epi32(order, bytes);  // each 16 bytes held four of each
  }
};

// 16 bytes of each of four rows.
WRY_INLINE void store_four_rows(__m512i rows, uint8_t *to, int64_t apart) {
  _mm_storeu_si128((__m128i *)to, _mm512_castsi512_si128(rows));
  _mm_storeu_si128((__m128i *)(to + apart), _mm512_extracti32x4_epi32(rows, 1));
  _mm_storeu_si128((__m128i *)(to + 2 * apart), _mm512_extracti32x4_epi32(rows, 2));
  _mm_storeu_si128((__m128i *)(to + 3 * apart), _mm512_extracti32x4_epi32(rows, 3));
}
#endif

struct Epilogue {
  const int32_t *start;       // added to sums, or null
  const float *scale, *bias;  // bias may be null; all three are filled up to whole blocks
  const float *steps;         // of rows, or null
  Addend residual;
  End end;
  void *out;
  int64_t channels, places;  // of the result: outputs, and places of an image
  bool tame;                 // bytes, of sums times scale that are never larger than ints; nothing else stands between, and every row has the same scale

  WRY_INLINE bool bytes() const { return end.dtype == WRY_UINT8 || end.dtype == WRY_INT8; }

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

  // What sums of 16 outputs begin with, and are multiplied by, and what is added.
  struct Outputs {
    i32 first[out_parts];
    f32 factor[out_parts], summand[out_parts];

    WRY_INLINE f32 of(const int32_t *sums, int v) const { return convert<f32>(load(sums + v * f32_lanes) + first[v]) * factor[v] + summand[v]; }
    // Of a row with a step of its own.
    WRY_INLINE f32 of(const int32_t *sums, int v, float step) const {
      return convert<f32>(load(sums + v * f32_lanes) + first[v]) * step * factor[v] + summand[v];
    }
  };

  WRY_INLINE Outputs outputs(const int32_t *less, int64_t channel) const {
    Outputs o;
#pragma GCC unroll 4
    for (int v = 0; v < out_parts; ++v) {
      o.first[v] = start ? load(start + channel + v * f32_lanes) : i32{};
      if (less) o.first[v] -= load(less + v * f32_lanes);
      o.factor[v] = load(scale + channel + v * f32_lanes);
      o.summand[v] = bias ? load(bias + channel + v * f32_lanes) : splat<f32>(-0.0f);  // adding that changes nothing
    }
    return o;
  }

  // The same of `rows` places one after another, their sums `apart` from each other.
  WRY_INLINE void finish_rows(const int32_t *sums, int64_t apart, const int32_t *less, int64_t channel, int64_t row, int64_t rows) const {
    const int64_t count = min_of<int64_t>(out_block, channels - channel);
    if (end.activation == Activation::none) {
      if (bytes() && !steps) return rows_of_bytes(sums, apart, outputs(less, channel), channel, row, rows, count);
      if (end.dtype == WRY_FLOAT32 && (!residual.data || residual.dtype == WRY_FLOAT32))
        return rows_of_floats(sums, apart, outputs(less, channel), row * channels + channel, rows, count, steps ? steps + row : nullptr);
    }
    for (int64_t i = 0; i < rows; ++i) finish(sums + i * apart, less, channel, row + i);
  }

  WRY_INLINE void rows_of_floats(const int32_t *sums, int64_t apart, const Outputs &outputs, int64_t at, int64_t rows, int64_t count,
                                 const float *each_step) const {
    const Outputs o = outputs;  // a copy, which stores cannot change
    const int64_t pitch = channels;
    float *const to = static_cast<float *>(out) + at;
    const float *const other = static_cast<const float *>(residual.data) + (residual.data ? at : 0);
    const auto each = [&](auto adds, auto whole, auto stepped) {
      for (int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < out_parts; ++v) {
          const int64_t n = decltype(whole)::value ? f32_lanes : min_of<int64_t>(f32_lanes, count - v * f32_lanes), place = i * pitch + v * f32_lanes;
          if (!decltype(whole)::value && n <= 0) break;
          f32 x;
          if constexpr (decltype(stepped)::value) x = o.of(sums + i * apart, v, each_step[i]);
          else x = o.of(sums + i * apart, v);
          if constexpr (decltype(adds)::value) x = x + (decltype(whole)::value ? load(other + place) : load_partial(other + place, n));
          if constexpr (decltype(whole)::value) store(to + place, x);
          else store_partial(to + place, x, n);
        }
    };
    const auto by = [&](auto adds, auto whole) {
      return each_step ? each(adds, whole, std::true_type()) : each(adds, whole, std::false_type());
    };
    const auto of = [&](auto whole) { return residual.data ? by(std::true_type(), whole) : by(std::false_type(), whole); };
    return count == out_block ? of(std::true_type()) : of(std::false_type());
  }

#if WRY_VECTOR_BYTES == 64
  // Tame sums of whole blocks, 64 at a time: two blocks of two rows, or one of four. The last rows may be some of those before as well.
  template <typename T, int Blocks>
  WRY_INLINE void tame_rows(const int32_t *sums, int64_t apart, const int32_t *less, int64_t channel, int64_t row, int64_t rows) const {
    constexpr int n = 4 / Blocks;
    Outputs o[Blocks];
#pragma GCC unroll 2
    for (int b = 0; b < Blocks; ++b) o[b] = outputs(less ? less + b * out_block : nullptr, channel + b * out_block);
    const Narrowing<T> narrowing(end);
    const int64_t pitch = channels;
    uint8_t *const whole = static_cast<uint8_t *>(out) + row * pitch + channel;
    for (int64_t i = 0; i < rows; i += n) {
      const int64_t first = min_of(i, rows - n);
      const int32_t *from = sums + first * apart;
      __m512i q[4];
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) q[j] = _mm512_cvtps_epi32((__m512)o[j % Blocks].of(from + j / Blocks * apart + j % Blocks * out_block, 0));
      const __m512i bytes = narrowing.bytes_of(q);
      uint8_t *to = whole + first * pitch;
      if constexpr (Blocks == 1) store_four_rows(bytes, to, pitch);
      else {
        _mm256_storeu_si256((__m256i *)to, _mm512_castsi512_si256(bytes));
        _mm256_storeu_si256((__m256i *)(to + pitch), _mm512_extracti64x4_epi64(bytes, 1));
      }
    }
  }
#endif

  WRY_INLINE void rows_of_bytes(const int32_t *sums, int64_t apart, const Outputs &outputs, int64_t channel, int64_t row, int64_t rows,
                                int64_t count) const {
    const Outputs o = outputs;  // copies, which stores of bytes cannot change
    const End to = end;
    const Addend other = residual;
    const auto row_of = [&](int64_t i) {
      Sixteen x;
#pragma GCC unroll 4
      for (int v = 0; v < out_parts; ++v) x.v[v] = o.of(sums + i * apart, v);
      if (other.data) {
        const Sixteen r = addend_at(other, (row + i) * channels + channel, count);
#pragma GCC unroll 4
        for (int v = 0; v < out_parts; ++v) x.v[v] = x.v[v] + r.v[v];
      }
#pragma GCC unroll 4
      for (int v = 0; v < out_parts; ++v) x.v[v] = x.v[v] * to.inverse;  // by 1 where there is none: nothing changes
      return x;
    };
    uint8_t *const whole = static_cast<uint8_t *>(out) + row * channels + channel;
    const int64_t pitch = channels;
#if WRY_VECTOR_BYTES == 64
    if (count == out_block && rows >= 4) {
      const auto fours = [&](auto narrowing) {
        const __m512 most = _mm512_set1_ps(to.high);
        for (int64_t i = 0; i < rows; i += 4) {
          const int64_t at = min_of(i, rows - 4);  // the last four may be some of those before as well
          const f32 x[4] = {row_of(at).v[0], row_of(at + 1).v[0], row_of(at + 2).v[0], row_of(at + 3).v[0]};
          __m512i q[4];
#pragma GCC unroll 4
          for (int j = 0; j < 4; ++j) q[j] = _mm512_cvtps_epi32(_mm512_min_ps(most, (__m512)x[j]));  // NaN becomes the least int
          store_four_rows(narrowing.bytes_of(q), whole + at * pitch, pitch);
        }
      };
      return to.dtype == WRY_INT8 ? fours(Narrowing<int8_t>(to)) : fours(Narrowing<uint8_t>(to));
    }
#endif
    for (int64_t i = 0; i < rows; ++i) {
      const Sixteen x = row_of(i);
      uint8_t values[out_block], *at = count == out_block ? whole + i * pitch : values;
#if defined(__wasm_simd128__)
      // They fit, so that narrowing changes none.
      const v128_t low = wasm_i16x8_narrow_i32x4((v128_t)to.bytes_of(x.v[0]), (v128_t)to.bytes_of(x.v[1]));
      const v128_t high = wasm_i16x8_narrow_i32x4((v128_t)to.bytes_of(x.v[2]), (v128_t)to.bytes_of(x.v[3]));
      wasm_v128_store(at, to.dtype == WRY_INT8 ? wasm_i8x16_narrow_i16x8(low, high) : wasm_u8x16_narrow_i16x8(low, high));
#else
#pragma GCC unroll 4
      for (int v = 0; v < out_parts; ++v) store_ints(at + v * f32_lanes, to.bytes_of(x.v[v]));
#endif
      if (WRY_UNLIKELY(count < out_block)) memcpy(whole + i * pitch, values, size_t(count));
    }
  }

  WRY_INLINE void operator()(const int32_t *sums, int64_t apart, const int32_t *less, int blocks, int64_t block, int64_t image, int64_t place,
                             int64_t rows) const {
#if WRY_VECTOR_BYTES == 64
    if (tame && rows * blocks >= 4 && (block + blocks) * out_block <= channels) {
      const auto of = [&](auto type, auto n) __attribute__((always_inline)) {
        tame_rows<decltype(type), decltype(n)::value>(sums, apart, less, block * out_block, image * places + place, rows);
      };
      const auto by = [&](auto n) __attribute__((always_inline)) { return end.dtype == WRY_INT8 ? of(int8_t(), n) : of(uint8_t(), n); };
      return blocks == 2 ? by(std::integral_constant<int, 2>()) : by(std::integral_constant<int, 1>());
    }
#endif
    for (int b = 0; b < blocks; ++b)
      finish_rows(sums + b * out_block, apart, less ? less + b * out_block : nullptr, (block + b) * out_block, image * places + place, rows);
  }
};

// Inputs scale, bias, residual from the third on; attributes from residual_scale on.
inline int epilogue_of(const wry_call *call, const char *op, int at, Epilogue *epilogue) {
  const wry_tensor *scale = input(call, 2), *bias = input(call, 3), *out = output(call, 0);
  const int64_t n = scale->shape[0], full = ceil_div(n, out_block) * out_block;
  float *room = workspace<float>(call, 2 * full);
  if (!room) return fail_memory(call, op, 8 * full);
  memset(room, 0, size_t(2 * full) * sizeof(float));
  memcpy(room, scale->data, size_t(n) * sizeof(float));
  if (bias) memcpy(room + full, bias->data, size_t(n) * sizeof(float));  // ints are as wide
  const bool whole = bias && bias->dtype == WRY_INT32;
  epilogue->scale = room;
  epilogue->start = whole ? reinterpret_cast<const int32_t *>(room + full) : nullptr;
  epilogue->bias = bias && !whole ? room + full : nullptr;
  epilogue->steps = nullptr;
  epilogue->residual = addend_of(input(call, 4), attr_float(call, at), attr_int(call, at + 1));
  epilogue->out = out->data;
  epilogue->channels = n, epilogue->places = out->rank == 4 ? out->shape[1] * out->shape[2] : 0;
  const int failed = end_of(call, op, at + 2, &epilogue->end);
  if (failed != WRY_OK) return failed;
  // Sums are at most 2^31. What is not a number is not tame.
  bool numbers = true;
  for (int64_t i = 0; i < n; ++i) {
    const float s = fabsf(room[i]), b = epilogue->bias ? fabsf(epilogue->bias[i]) : 0;
    numbers &= s <= 0.25f && b <= 0x1p29f;
  }
  const End &end = epilogue->end;
  epilogue->tame = numbers && epilogue->bytes() && !epilogue->residual.data && end.inverse == 1.0f && end.activation == Activation::none;
  return WRY_OK;
}

// ---- images ----------------------------------------------------------------------------------------

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

WRY_INLINE Window window_of(const wry_call *call, int64_t kh, int64_t kw) { return {kh, kw, attr_ints(call, 0), attr_ints(call, 1), attr_ints(call, 2)}; }

WRY_INLINE Bytes bytes_of(const wry_tensor *x) {
  const int64_t *s = x->shape;
  return {s[0], s[1], s[2], s[3], s[1] * s[2] * s[3], s[2] * s[3], s[3], 1};
}

}  // namespace WRY_NAMESPACE

#endif
