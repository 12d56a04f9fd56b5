// Floats to integers of few bits and back (wherry_tensor/ops/quantization.py says how). Compiled without fused multiply-add: a value is the same on
// every processor.
#include "ints.h"
#include "parallel.h"

namespace WRY_NAMESPACE {
namespace {

// ---- scales ---------------------------------------------------------------------------------------

// Where scales lie: x as [outer, n, inner], with a scale for all of it, for each of the n, or for `group` of them and each inner place.
struct Places {
  int64_t outer, n, inner, groups, group;
  bool whole;
};

Places places_of(const wry_call *call, const wry_tensor *x, bool may_group) {
  if (attr_is_none(call, 0)) return {1, 1, x->size, 1, 0, true};
  const int64_t axis = attr_int(call, 0);
  Places p = {1, x->shape[axis], 1, 0, 0, false};
  for (int64_t i = 0; i < axis; ++i) p.outer *= x->shape[i];
  for (int64_t i = axis + 1; i < x->rank; ++i) p.inner *= x->shape[i];
  if (may_group && !attr_is_none(call, 1)) p.group = attr_int(call, 1), p.groups = (p.n + p.group - 1) / p.group;
  return p;
}

// f(begin, end, at, step): elements [begin, end) have scales from `at` on, `step` (0 or 1) apart.
template <typename F>
void each_run(const wry_call *call, const Places &p, F &&f) {
  constexpr int64_t grain = 16384;
  if (p.whole) return parallel_for(call, p.inner, grain, [&](int64_t first, int64_t last) { f(first, last, int64_t(0), 0); });
  if (p.inner == 1 && !p.group)
    return parallel_for(call, p.outer, max_of<int64_t>(1, grain / max_of<int64_t>(1, p.n)), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) f(i * p.n, (i + 1) * p.n, int64_t(0), 1);
    });
  if (p.inner == 1)
    return parallel_for(call, p.outer * p.groups, max_of<int64_t>(1, grain / p.group), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t begin = i % p.groups * p.group, line = i / p.groups * p.n;
        f(line + begin, line + min_of(begin + p.group, p.n), i, 0);
      }
    });
  parallel_for(call, p.outer * p.n, max_of<int64_t>(1, grain / max_of<int64_t>(1, p.inner)), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t place = i % p.n, at = p.group ? (i / p.n * p.groups + place / p.group) * p.inner : place;
      f(i * p.inner, (i + 1) * p.inner, at, p.group ? 1 : 0);
    }
  });
}

// Values of any dtype as numbers that are computed with; null where the tensor is absent, or memory is out (then *failed).
template <typename A>
const A *numbers_of(const wry_call *call, const wry_tensor *t, bool *failed) {
  if (!t) return nullptr;
  if (t->dtype == code_of<A>::value) return data<A>(t);
  A *to = workspace<A>(call, t->size + 1);
  if (!to) return *failed = true, nullptr;
  dispatch<uint8_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16, float, double>(t->dtype, [&](auto tag) {
    using T = decltype(tag);
    for (int64_t i = 0; i < t->size; ++i) to[i] = A(arithmetic_t<T>(data<T>(t)[i]));
  });
  return to;
}

// Vectors of float32 or float64, and ints of as many lanes.
template <typename A>
using ints_of = vecn<int32_t, lanes<A>>;

template <typename A>
WRY_INLINE vec<A> values_at(const A *at, int step) { return step ? load(at) : splat<vec<A>>(*at); }

template <typename A>
WRY_INLINE vec<A> partial_at(const A *at, int step, int64_t n) { return step ? load_partial(at, n, A(1)) : splat<vec<A>>(*at); }

// Blocks of a run: body(index, scale, zero, count), the last of which may not be full.
template <typename A, typename F>
WRY_INLINE void vectors_of(int64_t begin, int64_t end, const A *scale, const A *zero, int64_t at, int step, F &&body) {
  constexpr int width = lanes<A>;
  const vec<A> none = vec<A>{};
  int64_t i = begin;
  for (; i + width <= end; i += width) {
    const int64_t from = at + (i - begin) * step;
    body(i, values_at(scale + from, step), zero ? values_at(zero + from, step) : none, int64_t(width));
  }
  if (i < end) {
    const int64_t from = at + (i - begin) * step;
    body(i, partial_at(scale + from, step, end - i), zero ? partial_at(zero + from, step, end - i) : none, end - i);
  }
}

template <typename O, typename Q>
WRY_INLINE void put_ints(O *to, Q q, int64_t count) {
  constexpr int width = int(sizeof(Q) / 4);
  O narrow[width];
  O *const at = WRY_LIKELY(count == width) ? to : narrow;
  if constexpr (std::is_same<Q, i32>::value) {
    store_ints(at, q);
  } else {
    for (int i = 0; i < width; ++i) at[i] = O(q[i]);
  }
  if (count != width) memcpy(to, narrow, size_t(count) * sizeof(O));
}

template <typename Q, typename T>
WRY_INLINE Q take_ints(const T *from, int64_t count) {
  constexpr int width = int(sizeof(Q) / 4);
  T few[width] = {};
  if (count != width) memcpy(few, from, size_t(count) * sizeof(T));
  const T *const at = WRY_LIKELY(count == width) ? from : few;
  if constexpr (sizeof(T) == 4) {
    Q q;
    __builtin_memcpy(&q, at, sizeof q);
    return q;
  } else if constexpr (std::is_same<Q, i32>::value) {
    return load_ints(at);
  } else {
    Q q;
    for (int i = 0; i < width; ++i) q[i] = at[i];
    return q;
  }
}

template <typename T>
WRY_INLINE vec<T> read(const T *at, int64_t count) { return WRY_LIKELY(count == lanes<T>) ? load(at) : load_partial(at, count); }

template <typename T>
WRY_INLINE void write(T *to, vec<T> v, int64_t count) {
  if (WRY_LIKELY(count == lanes<T>)) store(to, v);
  else store_partial(to, v, count);
}

// round(x / scale) + zero within limits; NaN becomes the lower one.
template <typename V, typename A>
WRY_INLINE V steps_of(V x, V scale, V zero, A low, A high) { return min(max(round_even(x / scale) + zero, splat<V>(low)), splat<V>(high)); }

int out_of_memory(const wry_call *call, const char *op) { return fail_memory(call, op, input(call, 1)->size * 8); }

// ---- kernels --------------------------------------------------------------------------------------

// x of any shape, scale and zero point as places_of has it.
template <typename T>
int quantize_linear(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  bool failed = false;
  const A *scale = numbers_of<A>(call, input(call, 1), &failed), *zero = numbers_of<A>(call, input(call, 2), &failed);
  if (failed) return out_of_memory(call, "quantize_linear");
  const A low = A(attr_int(call, 2)), high = A(attr_int(call, 3));
  const Places places = places_of(call, x, true);
  dispatch<uint8_t, int8_t, int16_t>(out->dtype, [&](auto tag) {
    using O = decltype(tag);
    const T *from = data<T>(x);
    O *to = data<O>(out);
    each_run(call, places, [&](int64_t begin, int64_t end, int64_t at, int step) {
      vectors_of(begin, end, scale, zero, at, step, [&](int64_t i, vec<A> s, vec<A> z, int64_t count) {
        put_ints(to + i, convert<ints_of<A>>(steps_of(read(from + i, count), s, z, low, high)), count);
      });
    });
  });
  return WRY_OK;
}

template <typename T>
int dequantize_linear(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const Places places = places_of(call, x, true);
  bool failed = false;
  dispatch<float16, bfloat16, float, double>(out->dtype, [&](auto tag) {
    using O = decltype(tag);
    using A = arithmetic_t<O>;
    const A *scale = numbers_of<A>(call, input(call, 1), &failed);
    const int32_t *zero = numbers_of<int32_t>(call, input(call, 2), &failed);
    if (failed) return;
    const T *from = data<T>(x);
    O *to = data<O>(out);
    each_run(call, places, [&](int64_t begin, int64_t end, int64_t at, int step) {
      vectors_of<A>(begin, end, scale, nullptr, at, step, [&](int64_t i, vec<A> s, vec<A>, int64_t count) {
        auto whole = take_ints<ints_of<A>>(from + i, count);
        if (zero) {
          const int32_t *z = zero + at + (i - begin) * step;
          if (!step) whole -= *z;
          else
            for (int j = 0; j < count; ++j) whole[j] -= z[j];
        }
        write(to + i, convert<vec<A>>(whole) * s, count);
      });
    });
  });
  return failed ? out_of_memory(call, "dequantize_linear") : WRY_OK;
}

template <typename T>
int fake_quantize(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  bool failed = false;
  const A *scale = numbers_of<A>(call, input(call, 1), &failed), *zero = numbers_of<A>(call, input(call, 2), &failed);
  if (failed) return out_of_memory(call, "fake_quantize");
  const A low = A(attr_int(call, 2)), high = A(attr_int(call, 3));
  const T *from = data<T>(x);
  T *to = data<T>(out);
  each_run(call, places_of(call, x, true), [&](int64_t begin, int64_t end, int64_t at, int step) {
    vectors_of(begin, end, scale, zero, at, step, [&](int64_t i, vec<A> s, vec<A> z, int64_t count) {
      write(to + i, (steps_of(read(from + i, count), s, z, low, high) - z) * s, count);
    });
  });
  return WRY_OK;
}

// x int32, scale float32 and bias int32, [] or along an axis.
int requantize(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *bias = input(call, 2), *out = output(call, 0);
  const float *scale = data<float>(input(call, 1));
  const float zero = float(attr_int(call, 1)), low = float(attr_int(call, 2)), high = float(attr_int(call, 3));
  const Places places = places_of(call, x, false);
  dispatch<uint8_t, int8_t, int16_t>(out->dtype, [&](auto tag) {
    using O = decltype(tag);
    const int32_t *from = data<int32_t>(x);
    O *to = data<O>(out);
    each_run(call, places, [&](int64_t begin, int64_t end, int64_t at, int step) {
      vectors_of<float>(begin, end, scale, nullptr, at, step, [&](int64_t i, f32 s, f32, int64_t count) {
        u32 sum = (u32)read(from + i, count);
        if (bias) {
          const int32_t *b = data<int32_t>(bias) + at + (i - begin) * step;
          sum += (u32)(step ? read(b, count) : splat<i32>(*b));
        }
        const f32 v = round_even(convert<f32>((i32)sum) * s) + zero;
        put_ints(to + i, convert<i32>(min(max(v, splat<f32>(low)), splat<f32>(high))), count);
      });
    });
  });
  return WRY_OK;
}

// [..., n] of numbers in the lower four bits to [..., ceil(n / 2)].
template <typename T>
int pack_int4(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t n = x->shape[x->rank - 1], m = out->shape[out->rank - 1];
  parallel_for(call, out->size / m, max_of<int64_t>(1, 32768 / m), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const T *WRY_RESTRICT from = data<T>(x) + row * n;
      uint8_t *WRY_RESTRICT to = data<uint8_t>(out) + row * m;
      for (int64_t i = 0; i < n / 2; ++i) to[i] = uint8_t((uint8_t(from[2 * i]) & 15) | uint8_t(from[2 * i + 1]) << 4);
      if (n % 2) to[m - 1] = uint8_t(from[n - 1]) & 15;
    }
  });
  return WRY_OK;
}

int unpack_int4(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t n = out->shape[out->rank - 1], m = x->shape[x->rank - 1];
  const uint8_t sign = attr_bool(call, 1) ? 8 : 0;
  parallel_for(call, out->size / n, max_of<int64_t>(1, 32768 / n), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const uint8_t *WRY_RESTRICT from = data<uint8_t>(x) + row * m;
      uint8_t *WRY_RESTRICT to = data<uint8_t>(out) + row * n;
      for (int64_t i = 0; i < n / 2; ++i) {
        to[2 * i] = uint8_t(((from[i] & 15) ^ sign) - sign);
        to[2 * i + 1] = uint8_t(((from[i] >> 4) ^ sign) - sign);
      }
      if (n % 2) to[n - 1] = uint8_t(((from[m - 1] & 15) ^ sign) - sign);
    }
  });
  return WRY_OK;
}

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("quantize_linear", WRY_WANTS_CONTIGUOUS, quantize_linear),
    WRY_ROW("dequantize_linear", uint8_t, WRY_WANTS_CONTIGUOUS, dequantize_linear),
    WRY_ROW("dequantize_linear", int8_t, WRY_WANTS_CONTIGUOUS, dequantize_linear),
    WRY_ROW("dequantize_linear", int16_t, WRY_WANTS_CONTIGUOUS, dequantize_linear),
    WRY_ROW("dequantize_linear", int32_t, WRY_WANTS_CONTIGUOUS, dequantize_linear),
    WRY_FLOAT_ROWS("fake_quantize", WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS, fake_quantize),
    WRY_PLAIN_ROW("requantize", WRY_INT32, WRY_WANTS_CONTIGUOUS, requantize),
    WRY_ROW("pack_int4", uint8_t, WRY_WANTS_CONTIGUOUS, pack_int4),
    WRY_ROW("pack_int4", int8_t, WRY_WANTS_CONTIGUOUS, pack_int4),
    WRY_PLAIN_ROW("unpack_int4", WRY_UINT8, WRY_WANTS_CONTIGUOUS, unpack_int4),
};

}  // namespace
WRY_TABLE(quantization, table)

}  // namespace WRY_NAMESPACE
