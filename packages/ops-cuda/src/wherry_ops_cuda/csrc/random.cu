// Random numbers: those that the cpu draws from the same seed. One thread draws one element (normal: two).
//
// Products and sums of uniform floats are not fused, so they are the same bits on every device; normal ones differ in the last
// bits of log and cos.
#include "philox.h"
#include "reduce.h"
#include "sorting.h"

namespace wherry {
namespace cuda {
namespace {

// How many random bits a value below 1 has room for.
template <typename T>
constexpr int mantissa = std::is_same<T, half>::value ? 11 : std::is_same<T, bfloat16>::value ? 8 : 24;

// [min, max): a value that rounding lifts to max becomes min.
template <typename T>
__global__ void __launch_bounds__(block_size) uniform_kernel(int64_t n, Draw draw, double min, double max, T *out) {
  for WRY_EACH (i, n) {
    if constexpr (sizeof(T) == 8) {
      const double value = __dadd_rn(min, __dmul_rn(unit_double(pair_of(draw, 2 * i)), max - min));
      out[i] = value < max ? value : min;
    } else {
      const float low = float(min), width = float(max - min);
      const T limit = narrow<T>(float(max));
      const float unit = float(int32_t(word_of(draw, i) >> (32 - mantissa<T>))) * (1.0f / float(1 << mantissa<T>));
      const T value = narrow<T>(__fadd_rn(low, __fmul_rn(unit, width)));
      out[i] = load(&value) < load(&limit) ? value : narrow<T>(low);
    }
  }
}
template <typename T>
int uniform(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  return check(call, wry_launch(uniform_kernel<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, draw_of(call),
                                attr_float(call, 1), attr_float(call, 2), data<T>(out)));
}

// Box & Muller: elements 2k and 2k + 1 are the coordinates of one point.
template <typename T>
__global__ void __launch_bounds__(block_size) normal_kernel(int64_t n, Draw draw, double mean, double deviation, T *out) {
  for WRY_EACH (k, (n + 1) / 2) {
    if constexpr (sizeof(T) == 8) {
      const double radius = sqrt(-2 * log(unit_double(pair_of(draw, 4 * k)) + 0x1p-53));
      const double angle = 6.283185307179586 * unit_double(pair_of(draw, 4 * k + 2));
      out[2 * k] = mean + deviation * (radius * cos(angle));
      if (2 * k + 1 < n) out[2 * k + 1] = mean + deviation * (radius * sin(angle));
    } else {
      const Pair words = pair_of(draw, 2 * k);
      // In (0, 1] with 31 bits, so that the tails reach beyond 6 deviations.
      const float unit = __fadd_rn(__fmul_rn(float(int32_t(words.lower >> 1)), 0x1p-31f), 0x1p-33f);
      const float square = logf(unit) * -2.0f, radius = sqrtf(square > 0 ? square : 0.0f), angle = unit_float(words.upper) * 6.2831853f;
      const float shift = float(mean), scale = float(deviation);
      out[2 * k] = narrow<T>(__fadd_rn(shift, __fmul_rn(scale, __fmul_rn(radius, cosf(angle)))));
      if (2 * k + 1 < n) out[2 * k + 1] = narrow<T>(__fadd_rn(shift, __fmul_rn(scale, __fmul_rn(radius, sinf(angle)))));
    }
  }
}
template <typename T>
int normal(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for((out->size + 1) / 2);
  return check(call, wry_launch(normal_kernel<T>, blocks_for((out->size + 1) / 2, threads), dim3(threads), 0, stream(call), out->size, draw_of(call),
                                attr_float(call, 1), attr_float(call, 2), data<T>(out)));
}

// The upper half of the product: [0, range) from all 64 bits.
WRY_GPU uint64_t scale_bits(uint64_t bits, uint64_t range) {
  const uint64_t low = bits & 0xffffffffu, high = bits >> 32, small = range & 0xffffffffu, large = range >> 32;
  const uint64_t middle = high * small + (low * small >> 32), other = low * large + (middle & 0xffffffffu);
  return high * large + (middle >> 32) + (other >> 32);
}
// [low, high). No rejection: some values are likelier than others by range / 2^32 (2^64 for int64).
template <typename T>
__global__ void __launch_bounds__(block_size) randint_kernel(int64_t n, Draw draw, int64_t low, uint64_t range, T *out) {
  for WRY_EACH (i, n) {
    if constexpr (sizeof(T) == 8) {
      const Pair p = pair_of(draw, 2 * i);
      out[i] = T(uint64_t(low) + scale_bits(uint64_t(p.upper) << 32 | p.lower, range));
    } else {
      out[i] = T(uint64_t(low) + (word_of(draw, i) * range >> 32));
    }
  }
}
template <typename T>
int randint(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  const uint64_t range = uint64_t(attr_int(call, 2)) - uint64_t(attr_int(call, 1));
  return check(call, wry_launch(randint_kernel<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), out->size, draw_of(call), attr_int(call, 1),
                                range, data<T>(out)));
}

// ---- draws by probability -------------------------------------------------------------------------

WRY_GPU void raise_number(Report *report, Fault fault, int32_t op, double number, int64_t at, int64_t row = 0) {
  if (atomicCAS(reinterpret_cast<int *>(&report->fault), int(NO_FAULT), int(fault)) != int(NO_FAULT)) return;
  report->op = op, report->number = number, report->at = at, report->value = row;
}

// 1 with probability x.
template <typename T>
__global__ void __launch_bounds__(block_size) bernoulli_kernel(int64_t n, Draw draw, const T *x, T *out, Report *report, int32_t op) {
  using A = arithmetic_t<T>;
  for WRY_EACH (i, n) {
    const A p = load(x + i);
    if (!(p >= A(0) && p <= A(1))) raise_number(report, PROBABILITY_OUT_OF_RANGE, op, double(p), i);
    const double unit = sizeof(T) == 8 ? unit_double(pair_of(draw, 2 * i)) : double(unit_float(word_of(draw, i)));
    out[i] = narrow<T>(A(unit < double(p) ? 1 : 0));
  }
}
template <typename T>
int bernoulli(const wry_call *call) {
  const int64_t n = output(call, 0)->size;
  if (n == 0) return WRY_OK;
  int32_t op;
  Report *report = arm(call, "bernoulli", &op);
  const int threads = threads_for(n);
  return check(call, wry_launch(bernoulli_kernel<T>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, draw_of(call), data<T>(input(call, 0)),
                                data<T>(output(call, 0)), report, op));
}

// Knuth's product of uniforms below 10, Hoermann's transformed rejection (PTRS, 1993) from there on.
WRY_GPU double draw_poisson(uint64_t seed, uint64_t counter, double rate) {
  if (rate == 0) return 0;
  uint64_t attempt = 0;
  if (rate < 10) {
    const double limit = exp(-rate);
    double product = 1;
    for (double k = 0;; k += 2, ++attempt) {
      const PhiloxBlock words = philox(seed, counter, attempt);
      product *= unit_double({words.a, words.b});
      if (product <= limit) return k;
      product *= unit_double({words.c, words.d});
      if (product <= limit) return k + 1;
    }
  }
  const double root = sqrt(rate), log_rate = log(rate), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;; ++attempt) {
    const PhiloxBlock words = philox(seed, counter, attempt);
    const double u = unit_double({words.a, words.b}) - 0.5, v = unit_double({words.c, words.d});
    const double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= k * log_rate - rate - lgamma(k + 1)) return k;
  }
}
// The logarithm of a draw of Gamma(shape, 1): Marsaglia & Tsang (2000). Two blocks an attempt: a normal number, and what decides about it.
// A shape below 1 takes a draw of shape + 1 and adds log(u) / shape.
WRY_GPU double draw_log_gamma(uint64_t seed, uint64_t counter, double shape) {
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (uint64_t attempt = 0;; attempt += 2) {
    const PhiloxBlock pair = philox(seed, counter, attempt), others = philox(seed, counter, attempt + 1);
    const double radius = sqrt(-2 * log(unit_double({pair.a, pair.b}) + 0x1p-53));
    const double normal = radius * cos(6.283185307179586 * unit_double({pair.c, pair.d}));
    const double root = 1 + c * normal, v = root * root * root;
    if (!(v > 0)) continue;
    const double u = unit_double({others.a, others.b}) + 0x1p-53;
    if (!(log(u) < 0.5 * normal * normal + d - d * v + d * log(v))) continue;
    const double boost = shape < 1 ? log(unit_double({others.c, others.d}) + 0x1p-53) / shape : 0;
    return log(d) + log(v) + boost;
  }
}
// A draw takes as many blocks of numbers as it needs, so neighbouring threads end at different times.
template <typename T, bool Gamma>
__global__ void __launch_bounds__(block_size) draw_kernel(int64_t n, Draw draw, const T *x, T *out, Report *report, int32_t op) {
  for WRY_EACH (i, n) {
    const double value = double(load(x + i));
    const bool fits = (Gamma ? value > 0 : value >= 0) && value < double(INFINITY);
    if (!fits) raise_number(report, Gamma ? SHAPE_OUT_OF_RANGE : RATE_OUT_OF_RANGE, op, value, i);
    const uint64_t counter = draw.offset + uint64_t(i);
    const double drawn = !fits ? double(NAN) : Gamma ? draw_log_gamma(draw.seed, counter, value) : draw_poisson(draw.seed, counter, value);
    out[i] = narrow<T>(arithmetic_t<T>(drawn));
  }
}
template <typename T, bool Gamma>
int draw_each(const wry_call *call, const char *name) {
  const int64_t n = output(call, 0)->size;
  if (n == 0) return WRY_OK;
  int32_t op;
  Report *report = arm(call, name, &op);
  const int threads = threads_for(n, 128);
  return check(call, wry_launch(draw_kernel<T, Gamma>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, draw_of(call), data<T>(input(call, 0)),
                                data<T>(output(call, 0)), report, op));
}
template <typename T>
int poisson(const wry_call *call) { return draw_each<T, false>(call, "poisson"); }
template <typename T>
int log_standard_gamma(const wry_call *call) { return draw_each<T, true>(call, "log_standard_gamma"); }

// ---- multinomial ----------------------------------------------------------------------------------

struct Weights {
  using W = Weights;
  double sum;
  int64_t positive, last;  // how many are above 0, and the last of them
  static WRY_GPU W combine(W a, W b) { return {a.sum + b.sum, a.positive + b.positive, a.last > b.last ? a.last : b.last}; }
};
// One block for a row [n] of weights: what is wrong with it is reported, and it becomes running sums, or keys of which the smallest are drawn:
// with replacement a sample searches the sums; without, each category gets an exponential variable with its weight as rate, and the first to
// ring are taken in order, which is how drawing one after another would choose (Efraimidis & Spirakis).
template <typename T>
__global__ void __launch_bounds__(block_size, 1) weigh(int64_t rows, int64_t n, int64_t samples, bool replacement, Draw draw, const T *x, double *sums, int64_t *lasts,
                                                    Item<uint64_t> *items, Report *report, int32_t op) {
  WRY_SHARED(double, part, 2 * block_size);
  const int thread = threadIdx.x;
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const T *weight = x + r * n;
    Weights all = {0, 0, 0};
    for (int64_t j = thread; j < n; j += blockDim.x) {
      const double w = double(load(weight + j));
      if (!(w >= 0 && w < double(INFINITY))) raise_number(report, WEIGHT_OUT_OF_RANGE, op, w, j, r);
      all = Weights::combine(all, {w, w > 0, w > 0 ? j : 0});
    }
    all = block_total<Weights>(all);
    if (thread == 0 && (all.positive == 0 || (!replacement && all.positive < samples)))
      raise(report, TOO_FEW_WEIGHTS, op, all.positive, samples, r, replacement ? 1 : samples);
    if (!replacement) {
      for (int64_t j = thread; j < n; j += blockDim.x) {
        const double w = double(load(weight + j)), unit = unit_double(pair_of(draw, 2 * (r * n + j))) + 0x1p-53;
        const double key = w > 0 ? fmax(-log(unit) / w, 0.0) : double(INFINITY);
        uint64_t bits;
        memcpy(&bits, &key, sizeof bits);  // of numbers from 0 on the bits have the same order
        items[r * n + j] = {bits, uint64_t(j)};
      }
      continue;
    }
    if (thread == 0) lasts[r] = all.last;
    double carry = 0;
    for (int64_t tile = 0; tile < n; tile += blockDim.x) {
      const int64_t j = tile + thread;
      int at = 0;
      __syncthreads();
      part[thread] = j < n ? double(load(weight + j)) : 0.0;
      for (int step = 1; step < int(blockDim.x); step *= 2) {
        __syncthreads();
        double sum = part[at + thread];
        if (thread >= step) sum += part[at + thread - step];
        at = block_size - at;
        part[at + thread] = sum;
      }
      __syncthreads();
      if (j < n) sums[r * n + j] = carry + part[at + thread];
      carry += part[at + blockDim.x - 1];
    }
  }
}
__global__ void __launch_bounds__(block_size) search_sums(int64_t rows, int64_t n, int64_t samples, Draw draw, const double *sums, const int64_t *lasts,
                                                          int64_t *out) {
  for WRY_EACH (s, rows * samples) {
    const double *own = sums + s / samples * n;
    int64_t low = 0, high = lasts[s / samples];  // the first running sum above `at`
    const double at = unit_double(pair_of(draw, 2 * s)) * own[n - 1];
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (own[middle] > at) high = middle;
      else low = middle + 1;
    }
    out[s] = low;
  }
}
__global__ void __launch_bounds__(block_size) take_first(int64_t rows, int64_t n, int64_t samples, const Item<uint64_t> *items, int64_t *out) {
  for WRY_EACH (s, rows * samples) out[s] = int64_t(items[s / samples * n + s % samples].at);
}
template <typename T>
int multinomial(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const int64_t samples = attr_int(call, 0), n = x->shape[x->rank - 1], rows = x->rank == 2 ? x->shape[0] : 1;
  const bool replacement = attr_bool(call, 1);
  if (rows == 0 || samples == 0) return WRY_OK;
  if (n == 0 || (!replacement && n < samples))
    return fail(call, WRY_INVALID,
                "multinomial: not enough categories to draw from. Got rows of %lld weights for %lld samples, expected at least %lld. Draw fewer samples, or with "
                "replacement.",
                (long long)n, (long long)samples, (long long)(replacement ? 1 : samples));
  int32_t op;
  Report *report = arm(call, "multinomial", &op);
  double *sums = replacement ? workspace<double>(call, rows * n) : nullptr;
  int64_t *lasts = replacement ? workspace<int64_t>(call, rows) : nullptr, *out = data<int64_t>(output(call, 0));
  Item<uint64_t> *items = replacement ? nullptr : workspace<Item<uint64_t>>(call, rows * n);
  if (replacement ? !sums || !lasts : !items) return fail_memory(call, "multinomial", rows * n * 16);
  const int threads = threads_for(rows * samples);
  WRY_TRY(wry_launch(weigh<T>, dim3(some_blocks(rows)), dim3(threads_for(n)), 0, stream(call), rows, n, samples, replacement, draw_of(call),
                     data<T>(x), sums, lasts, items, report, op));
  if (replacement)
    return check(call, wry_launch(search_sums, blocks_for(rows * samples, threads), dim3(threads), 0, stream(call), rows, n, samples, draw_of(call), sums, lasts,
                                  out));
  if (const int status = sort_items(call, "multinomial", &items, rows, n, 64)) return status;
  return check(call, wry_launch(take_first, blocks_for(rows * samples, threads), dim3(threads), 0, stream(call), rows, n, samples, items, out));
}

// ---- permutations ---------------------------------------------------------------------------------
//
// Fisher & Yates from the inside out, as on the cpu: step i draws a place j <= i, gives i what stands there, and puts i there. What stands
// at a place after `time` steps is the last step before that went there; or, where none did, what stood at the place that its own step
// drew, at that time. With the steps in the order of their places each such question is a search, and chains of them are short.

struct Places {
  Draw draw;
  WRY_GPU int64_t operator[](int64_t i) const {
    const Pair p = pair_of(draw, 2 * i);
    return int64_t(scale_bits(uint64_t(p.upper) << 32 | p.lower, uint64_t(i) + 1));
  }
};
template <typename K, typename T>
__global__ void __launch_bounds__(block_size) follow_places(int64_t n, Places places, const Item<K> *items, T *out) {
  for WRY_EACH (i, n) {
    int64_t place = i, time = n;
    for (;;) {
      // How many items come before (place, time).
      int64_t low = 0, high = n;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (before(items[middle], Item<K>{K(place), K(time)})) low = middle + 1;
        else high = middle;
      }
      if (low > 0 && int64_t(items[low - 1].key) == place) {
        out[i] = T(int64_t(items[low - 1].at));
        break;
      }
      time = place;
      place = places[place];
    }
  }
}
template <typename T>
int randperm(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  const int64_t n = out->size;
  if (n == 0) return WRY_OK;
  const Places places = {draw_of(call)};
  const auto run = [&](auto key) {
    using K = decltype(key);
    Item<K> *items;
    if (const int status = grouped<K>(call, "randperm", places, n, n, &items)) return status;
    const int threads = threads_for(n);
    return check(call, wry_launch(follow_places<K, T>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, places, items, data<T>(out)));
  };
  return is_small(n, n) ? run(uint32_t()) : run(uint64_t());
}

#include <wherry/kernels/rows/random.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(random, wherry::cuda::table)
