// Random numbers: those that the cpu draws from the same seed. One thread draws one element (normal: two).
//
// Products and sums of uniform floats are not fused, so they are the same bits on every device; normal ones differ in the last
// bits of log and cos.
#include "philox.h"

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

constexpr uint32_t draws = WRY_USES_RANDOM;

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("uniform", draws, uniform),
    WRY_FLOAT_ROWS("normal", draws, normal),
    WRY_INT_ROWS("randint", draws, randint),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(random, wherry::cuda::table)
