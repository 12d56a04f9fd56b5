// Philox4x32-10: random words as a function of (seed, counter), so that any thread, device or block
// of work can make its own part of a sequence.
//
// Source: Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
//
// A *block* is the four words of one counter. Word i of a draw is word i % 4 of block offset + i / 4;
// ops/random.py says which words an element of each dtype uses.
#ifndef WHERRY_OPS_CPU_PHILOX_H
#define WHERRY_OPS_CPU_PHILOX_H

#include "simd.h"

namespace WRY_NAMESPACE {

struct PhiloxBlock {
  uint32_t word[4];
};

// The block of one counter. `attempt` is the counter's upper half: further blocks for an element
// that rejects what it drew.
WRY_INLINE PhiloxBlock philox(uint64_t seed, uint64_t counter, uint64_t attempt = 0) {
  uint32_t a = uint32_t(counter), b = uint32_t(counter >> 32);
  uint32_t c = uint32_t(attempt), d = uint32_t(attempt >> 32);
  uint32_t key0 = uint32_t(seed), key1 = uint32_t(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t(0xD2511F53u) * a, q = uint64_t(0xCD9E8D57u) * c;
    a = uint32_t(q >> 32) ^ b ^ key0;
    b = uint32_t(q);
    c = uint32_t(p >> 32) ^ d ^ key1;
    d = uint32_t(p);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{a, b, c, d}};
}

namespace detail {
// The product of the lower 32 bits of each lane with `factor`.
WRY_INLINE u64 multiply_words(u64 x, uint32_t factor) {
#if WRY_VECTOR_BYTES == 64
  return (u64)_mm512_mul_epu32((__m512i)x, _mm512_set1_epi64(factor));
#elif WRY_VECTOR_BYTES == 32
  return (u64)_mm256_mul_epu32((__m256i)x, _mm256_set1_epi64x(factor));
#elif defined(__SSE2__)
  return (u64)_mm_mul_epu32((__m128i)x, _mm_set1_epi64x(factor));
#else
  return (x & 0xffffffffu) * uint64_t(factor);
#endif
}

template <int... I>
WRY_INLINE void interleave(u64 x, u64 y, u64 &first, u64 &second, sequence<I...>) {
  constexpr int n = f64_lanes;
  first = __builtin_shufflevector(x, y, (I / 2 + I % 2 * n)...);
  second = __builtin_shufflevector(x, y, (n / 2 + I / 2 + I % 2 * n)...);
}
}  // namespace detail

// The words of f64_lanes blocks, in order: 2 * f32_lanes of them.
struct PhiloxVectors {
  u32 first, second;
};

WRY_INLINE PhiloxVectors philox_vectors(uint64_t seed, uint64_t counter) {
  // One block per lane; a lane holds a word in its lower half, and junk above it.
  u64 counters;
  for (int i = 0; i < f64_lanes; ++i) counters[i] = counter + uint64_t(i);
  u64 a = counters, b = counters >> 32, c = u64{}, d = u64{};
  uint32_t key0 = uint32_t(seed), key1 = uint32_t(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const u64 p = detail::multiply_words(a, 0xD2511F53u), q = detail::multiply_words(c, 0xCD9E8D57u);
    a = (q >> 32) ^ b ^ uint64_t(key0);
    b = q;
    c = (p >> 32) ^ d ^ uint64_t(key1);
    d = p;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  const u64 ab = (a & 0xffffffffu) | (b << 32), cd = (c & 0xffffffffu) | (d << 32);
  u64 first, second;
  detail::interleave(ab, cd, first, second, typename detail::make_sequence<f64_lanes>::type());
  return {(u32)first, (u32)second};
}

// Words [begin, begin + n) of the draw that starts at block `offset`. begin is a multiple of 4.
WRY_INLINE void random_words(uint64_t seed, uint64_t offset, int64_t begin, int64_t n, uint32_t *out) {
  uint64_t counter = offset + uint64_t(begin / 4);
  int64_t i = 0;
  for (; i + 2 * f32_lanes <= n; i += 2 * f32_lanes, counter += f64_lanes) {
    const PhiloxVectors words = philox_vectors(seed, counter);
    store(out + i, words.first);
    store(out + i + f32_lanes, words.second);
  }
  for (; i < n; i += 4, ++counter) {
    const PhiloxBlock block = philox(seed, counter);
    for (int64_t k = 0; k < 4 && i + k < n; ++k) out[i + k] = block.word[k];
  }
}

// Uniform in [0, 1), every multiple of 2^-24 (float) or 2^-53 (double) alike.
WRY_INLINE float unit_float(uint32_t word) { return float(word >> 8) * 0x1p-24f; }
WRY_INLINE f32 unit_float(u32 words) { return convert<f32>((i32)(words >> 8)) * 0x1p-24f; }
WRY_INLINE double unit_double(uint32_t lower, uint32_t upper) {
  return double((uint64_t(upper) << 32 | lower) >> 11) * 0x1p-53;
}

}  // namespace WRY_NAMESPACE

#endif
