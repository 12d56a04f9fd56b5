// Random numbers. Which words of the sequence an element uses stands in ops/random.py; it does not
// depend on threads, instruction set or device.
//
// Products and sums are not fused here (the build also forbids it to the compiler), so float32
// results are the same bits on every processor. float64 ones depend on the C library's log and sin.
#define WRY_UNFUSED
#include "parallel.h"
#include "philox.h"
#include "vecmath.h"

namespace WRY_NAMESPACE {
namespace {

template <typename T>
constexpr bool same_width_as_double = sizeof(T) == sizeof(double);

constexpr int64_t grain = 8192;
constexpr int64_t block = 512;  // words drawn at a time; a multiple of 4 and of two vectors

// f(words, first, n): the words [first, first + n) of this call's draw, in pieces.
template <typename F>
WRY_INLINE void for_words(const wry_call *call, int64_t total, F &&f) {
  const wry_context *context = call->context;
  const uint64_t seed = context->rng_seed, offset = context->rng_offset;
  const int64_t blocks = (total + block - 1) / block;
  parallel_for(call, blocks, grain / block, [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[block];
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b * block, n = min_of(block, total - first);
      random_words(seed, offset, first, (n + 3) / 4 * 4, words);
      f(words, first, n);
    }
  });
}

// The 64 random bits of element i, for draws of one element at a time.
WRY_INLINE uint64_t bits_of_element(const wry_call *call, int64_t i) {
  const PhiloxBlock words = philox(call->context->rng_seed, call->context->rng_offset + uint64_t(i / 2));
  const int at = int(i % 2) * 2;
  return uint64_t(words.word[at + 1]) << 32 | words.word[at];
}
WRY_INLINE double unit_of_element(const wry_call *call, int64_t i) {
  return double(bits_of_element(call, i) >> 11) * 0x1p-53;
}

// The upper half of the product: [0, range) from all 64 bits.
WRY_INLINE uint64_t scale_bits(uint64_t bits, uint64_t range) {
  return uint64_t((unsigned __int128)bits * range >> 64);
}

// ---- uniform, normal ----------------------------------------------------------------------------

// How many random bits a value below 1 has room for.
template <typename T>
constexpr int mantissa = 24;
template <>
inline constexpr int mantissa<float16> = 11;
template <>
inline constexpr int mantissa<bfloat16> = 8;

// [min, max): a value that rounding lifts to max becomes min.
template <typename T>
int uniform(const wry_call *call) {
  const double min = attr_float(call, 1), max = attr_float(call, 2);
  T *out = data<T>(output(call, 0));
  const int64_t n = output(call, 0)->size;
  if constexpr (same_width_as_double<T>) {
    for_words(call, 2 * n, [&](const uint32_t *words, int64_t first, int64_t count) {
      for (int64_t k = 0; k < count; k += 2) {
        const double value = min + unit_double(words[k], words[k + 1]) * (max - min);
        out[(first + k) / 2] = value < max ? value : min;
      }
    });
  } else {
    const float low = float(min), high = float(T(float(max))), width = float(max - min);
    for_words(call, n, [&](const uint32_t *words, int64_t first, int64_t count) {
      for (int64_t k = 0; k < count; ++k) {
        const float unit = float(int32_t(words[k] >> (32 - mantissa<T>))) * (1.0f / float(1 << mantissa<T>));
        const T value = T(low + unit * width);
        out[first + k] = float(value) < high ? value : T(low);
      }
    });
  }
  return WRY_OK;
}

// Box & Muller: elements 2k and 2k + 1 are the coordinates of one point.
template <typename T>
int normal(const wry_call *call) {
  const double mean = attr_float(call, 1), deviation = attr_float(call, 2);
  T *out = data<T>(output(call, 0));
  const int64_t n = output(call, 0)->size;
  if constexpr (same_width_as_double<T>) {
    for_words(call, 2 * ((n + 1) / 2 * 2), [&](const uint32_t *words, int64_t first, int64_t count) {
      for (int64_t k = 0; k < count; k += 4) {
        const int64_t i = (first + k) / 2;
        const double radius = ::sqrt(-2 * ::log(unit_double(words[k], words[k + 1]) + 0x1p-53));
        const double angle = 6.283185307179586 * unit_double(words[k + 2], words[k + 3]);
        out[i] = mean + deviation * (radius * ::cos(angle));
        if (i + 1 < n) out[i + 1] = mean + deviation * (radius * ::sin(angle));
      }
    });
  } else {
    const f32 shift = splat<f32>(float(mean)), scale = splat<f32>(float(deviation));
    for_words(call, (n + 1) / 2 * 2, [&](const uint32_t *words, int64_t first, int64_t count) {
      uint32_t even[block / 2], odd[block / 2];
      float x[block / 2], y[block / 2];
      const int64_t pairs = count / 2;
      for (int64_t k = 0; k < pairs; ++k) even[k] = words[2 * k], odd[k] = words[2 * k + 1];
      for (int64_t k = pairs; k % f32_lanes != 0; ++k) even[k] = odd[k] = 0;
      for (int64_t k = 0; k < pairs; k += f32_lanes) {
        // In (0, 1] with 31 bits, so that the tails reach beyond 6 deviations.
        const f32 unit = convert<f32>((i32)(load(even + k) >> 1)) * 0x1p-31f + 0x1p-33f;
        const f32 radius = sqrt(max(f32{}, log(unit) * -2.0f));
        const f32 angle = unit_float(load(odd + k)) * 6.2831853f;
        store(x + k, shift + scale * (radius * cos(angle)));
        store(y + k, shift + scale * (radius * sin(angle)));
      }
      for (int64_t k = 0; k < pairs; ++k) {
        out[first + 2 * k] = T(x[k]);
        if (first + 2 * k + 1 < n) out[first + 2 * k + 1] = T(y[k]);
      }
    });
  }
  return WRY_OK;
}

// ---- integers -----------------------------------------------------------------------------------

// [low, high). No rejection: some values are likelier than others by range / 2^32 (2^64 for int64).
template <typename T>
int randint(const wry_call *call) {
  const int64_t low = attr_int(call, 1), high = attr_int(call, 2);
  const uint64_t range = uint64_t(high) - uint64_t(low);
  T *out = data<T>(output(call, 0));
  const int64_t n = output(call, 0)->size;
  if (sizeof(T) == 8) {
    for_words(call, 2 * n, [&](const uint32_t *words, int64_t first, int64_t count) {
      for (int64_t k = 0; k < count; k += 2) {
        const uint64_t bits = uint64_t(words[k + 1]) << 32 | words[k];
        out[(first + k) / 2] = T(uint64_t(low) + scale_bits(bits, range));
      }
    });
  } else {
    for_words(call, n, [&](const uint32_t *words, int64_t first, int64_t count) {
      for (int64_t k = 0; k < count; ++k) out[first + k] = T(uint64_t(low) + (words[k] * range >> 32));
    });
  }
  return WRY_OK;
}

// Fisher & Yates, from the inside out; element i draws its place among the first i + 1.
template <typename T>
int randperm(const wry_call *call) {
  T *out = data<T>(output(call, 0));
  const int64_t n = output(call, 0)->size;
  alignas(64) uint32_t words[block];
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = 2 * i % block;
    if (at == 0) random_words(call->context->rng_seed, call->context->rng_offset, 2 * i, block, words);
    const int64_t j = int64_t(scale_bits(uint64_t(words[at + 1]) << 32 | words[at], uint64_t(i) + 1));
    out[i] = out[j];
    out[j] = T(arithmetic_t<T>(i));
  }
  return WRY_OK;
}

// ---- draws by probability -----------------------------------------------------------------------

// 1 with probability x.
template <typename T>
int bernoulli(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *x = data<T>(input(call, 0));
  T *out = data<T>(output(call, 0));
  const int64_t n = output(call, 0)->size;
  for (int64_t i = 0; i < n; ++i)
    if (!(A(x[i]) >= 0 && A(x[i]) <= 1))
      return fail(call, WRY_OUT_OF_RANGE,
                  "bernoulli: a probability is out of range. Got x[%lld] = %g in memory order, expected each in "
                  "[0, 1]. Clip x, or divide it by its sum.",
                  (long long)i, double(A(x[i])));
  constexpr int words_each = sizeof(T) == 8 ? 2 : 1;
  for_words(call, words_each * n, [&](const uint32_t *words, int64_t first, int64_t count) {
    for (int64_t k = 0; k < count; k += words_each) {
      const int64_t i = (first + k) / words_each;
      const double unit = words_each == 2 ? unit_double(words[k], words[k + 1]) : double(unit_float(words[k]));
      out[i] = T(A(unit < double(A(x[i])) ? 1 : 0));
    }
  });
  return WRY_OK;
}

// Knuth's product of uniforms below 10, Hoermann's transformed rejection (PTRS, 1993) from there on.
double draw_poisson(uint64_t seed, uint64_t counter, double rate) {
  if (rate == 0) return 0;
  uint64_t attempt = 0;
  if (rate < 10) {
    const double limit = ::exp(-rate);
    double product = 1;
    for (double k = 0;; k += 2, ++attempt) {
      const PhiloxBlock words = philox(seed, counter, attempt);
      product *= unit_double(words.word[0], words.word[1]);
      if (product <= limit) return k;
      product *= unit_double(words.word[2], words.word[3]);
      if (product <= limit) return k + 1;
    }
  }
  const double root = ::sqrt(rate), log_rate = ::log(rate);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;; ++attempt) {
    const PhiloxBlock words = philox(seed, counter, attempt);
    const double u = unit_double(words.word[0], words.word[1]) - 0.5;
    const double v = unit_double(words.word[2], words.word[3]);
    const double us = 0.5 - ::fabs(u);
    const double k = ::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (::log(v) + ::log(inverse_alpha) - ::log(a / (us * us) + b) <= k * log_rate - rate - log_gamma(k + 1)) return k;
  }
}

template <typename T>
int poisson(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *x = data<T>(input(call, 0));
  T *out = data<T>(output(call, 0));
  const int64_t n = output(call, 0)->size;
  for (int64_t i = 0; i < n; ++i)
    if (!(A(x[i]) >= 0 && double(A(x[i])) < __builtin_inf()))
      return fail(call, WRY_INVALID,
                  "poisson: a rate is not a finite number from 0 on. Got x[%lld] = %g in memory order, expected each "
                  ">= 0. Clip x at 0 first.",
                  (long long)i, double(A(x[i])));
  const uint64_t seed = call->context->rng_seed, offset = call->context->rng_offset;
  parallel_for(call, n, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = T(A(draw_poisson(seed, offset + uint64_t(i), double(A(x[i])))));
  });
  return WRY_OK;
}

// The logarithm of a draw of Gamma(shape, 1): Marsaglia & Tsang (2000). Two blocks an attempt: a normal number, and what decides about it.
// A shape below 1 takes a draw of shape + 1 and adds log(u) / shape.
double draw_log_gamma(uint64_t seed, uint64_t counter, double shape) {
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / ::sqrt(9 * d);
  for (uint64_t attempt = 0;; attempt += 2) {
    const PhiloxBlock pair = philox(seed, counter, attempt), others = philox(seed, counter, attempt + 1);
    const double radius = ::sqrt(-2 * ::log(unit_double(pair.word[0], pair.word[1]) + 0x1p-53));
    const double normal = radius * ::cos(6.283185307179586 * unit_double(pair.word[2], pair.word[3]));
    const double root = 1 + c * normal, v = root * root * root;
    if (!(v > 0)) continue;
    const double u = unit_double(others.word[0], others.word[1]) + 0x1p-53;
    if (!(::log(u) < 0.5 * normal * normal + d - d * v + d * ::log(v))) continue;
    const double boost = shape < 1 ? ::log(unit_double(others.word[2], others.word[3]) + 0x1p-53) / shape : 0;
    return ::log(d) + ::log(v) + boost;
  }
}

template <typename T>
int log_standard_gamma(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *x = data<T>(input(call, 0));
  T *out = data<T>(output(call, 0));
  const int64_t n = output(call, 0)->size;
  for (int64_t i = 0; i < n; ++i)
    if (!(A(x[i]) > 0 && double(A(x[i])) < __builtin_inf()))
      return fail(call, WRY_INVALID,
                  "log_standard_gamma: a shape is not a finite number above 0. Got x[%lld] = %g in memory order. Clip x first.",
                  (long long)i, double(A(x[i])));
  const uint64_t seed = call->context->rng_seed, offset = call->context->rng_offset;
  parallel_for(call, n, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = T(A(draw_log_gamma(seed, offset + uint64_t(i), double(A(x[i])))));
  });
  return WRY_OK;
}

struct Candidate {
  double key;
  int64_t category;
  bool operator<(const Candidate &other) const {
    return key < other.key || (key == other.key && category < other.category);
  }
};

// Restores the heap (smallest first) below `at`.
void sift_down(Candidate *heap, int64_t n, int64_t at) {
  const Candidate moving = heap[at];
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= n) break;
    if (child + 1 < n && heap[child + 1] < heap[child]) ++child;
    if (!(heap[child] < moving)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moving;
}

// Rows of weights, [rows, n] or [n], to categories. With replacement each sample searches the running
// sum. Without, each category gets an exponential variable with its weight as rate, and the first to
// ring are taken in order, which is how drawing one after another would choose (Efraimidis & Spirakis).
template <typename T>
int multinomial(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const int64_t samples = attr_int(call, 0), n = x->shape[x->rank - 1];
  const bool replacement = attr_bool(call, 1);
  const int64_t rows = x->rank == 2 ? x->shape[0] : 1;
  int64_t *out = data<int64_t>(output(call, 0));
  if (rows == 0 || samples == 0) return WRY_OK;
  if (n == 0)
    return fail(call, WRY_INVALID, "multinomial: there is nothing to draw from. Got rows of 0 weights, expected at least 1.");
  auto *candidates = workspace<Candidate>(call, n);
  if (!candidates) return fail_memory(call, "multinomial", n * int64_t(sizeof(Candidate)));
  for (int64_t r = 0; r < rows; ++r, out += samples) {
    const T *weight = data<T>(x) + r * n;
    double total = 0;
    int64_t positive = 0, last = 0;
    for (int64_t j = 0; j < n; ++j) {
      const double w = double(A(weight[j]));
      if (!(w >= 0 && w < __builtin_inf()))
        return fail(call, WRY_INVALID,
                    "multinomial: a weight is not a finite number from 0 on. Got %g in row %lld at %lld, expected each "
                    ">= 0. Clip the weights, or take their exponentials.",
                    w, (long long)r, (long long)j);
      if (w > 0) ++positive, last = j;
      total += w;
      candidates[j].key = total;
    }
    if (positive == 0 || (!replacement && positive < samples))
      return fail(call, WRY_INVALID,
                  "multinomial: not enough categories to draw from. Got %lld weights above 0 in row %lld for %lld "
                  "samples, expected at least %lld. Draw fewer samples, or with replacement.",
                  (long long)positive, (long long)r, (long long)samples, (long long)(replacement ? 1 : samples));
    if (replacement) {
      for (int64_t s = 0; s < samples; ++s) {
        const double at = unit_of_element(call, r * samples + s) * total;
        int64_t low = 0, high = last;  // the first running sum above `at`
        while (low < high) {
          const int64_t middle = (low + high) / 2;
          if (candidates[middle].key > at) high = middle;
          else low = middle + 1;
        }
        out[s] = low;
      }
    } else {
      for (int64_t j = 0; j < n; ++j) {
        const double w = double(A(weight[j]));
        const double unit = unit_of_element(call, r * n + j) + 0x1p-53;
        candidates[j] = {w > 0 ? -::log(unit) / w : __builtin_inf(), j};
      }
      for (int64_t j = n / 2 - 1; j >= 0; --j) sift_down(candidates, n, j);
      int64_t left = n;
      for (int64_t s = 0; s < samples; ++s) {
        out[s] = candidates[0].category;
        candidates[0] = candidates[--left];
        if (left > 0) sift_down(candidates, left, 0);
      }
    }
  }
  return WRY_OK;
}

#include <wherry/kernels/rows/random.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(random, WRY_NAMESPACE::table)
