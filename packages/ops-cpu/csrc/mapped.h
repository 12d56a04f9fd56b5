// Bytes that a table of 256 says, many at once where the processor looks up 16 of them by one instruction: each part of the
// table answers for the bytes of one upper half, and gives zero for all others.
#ifndef WHERRY_OPS_CPU_MAPPED_H
#define WHERRY_OPS_CPU_MAPPED_H

#include "common.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace WRY_NAMESPACE {

// How many of `count` bytes were mapped; those after them are left to the caller.
#if defined(__AVX512BW__)
WRY_INLINE int64_t mapped_wide(const uint8_t *table, const uint8_t *from, uint8_t *to, int64_t count) {
  __m512i parts[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) parts[i] = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(table + 16 * i)));
  int64_t at = 0;
  for (; at + 64 <= count; at += 64) {
    __m512i x = _mm512_loadu_si512(from + at), made = _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      // What is not below 16 gets its sign bit, which gives zero.
      made = _mm512_or_si512(made, _mm512_shuffle_epi8(parts[i], _mm512_adds_epu8(x, _mm512_set1_epi8(0x70))));
      x = _mm512_sub_epi8(x, _mm512_set1_epi8(16));
    }
    _mm512_storeu_si512(to + at, made);
  }
  return at;
}
#elif defined(__AVX2__)
WRY_INLINE int64_t mapped_wide(const uint8_t *table, const uint8_t *from, uint8_t *to, int64_t count) {
  __m256i parts[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) parts[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * i)));
  int64_t at = 0;
  for (; at + 32 <= count; at += 32) {
    __m256i x = _mm256_loadu_si256((const __m256i *)(from + at)), made = _mm256_setzero_si256();
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      made = _mm256_or_si256(made, _mm256_shuffle_epi8(parts[i], _mm256_adds_epu8(x, _mm256_set1_epi8(0x70))));
      x = _mm256_sub_epi8(x, _mm256_set1_epi8(16));
    }
    _mm256_storeu_si256((__m256i *)(to + at), made);
  }
  return at;
}
#elif defined(__aarch64__)
WRY_INLINE int64_t mapped_wide(const uint8_t *table, const uint8_t *from, uint8_t *to, int64_t count) {
  const uint8x16x4_t parts[4] = {vld1q_u8_x4(table), vld1q_u8_x4(table + 64), vld1q_u8_x4(table + 128), vld1q_u8_x4(table + 192)};
  int64_t at = 0;
  for (; at + 16 <= count; at += 16) {
    uint8x16_t x = vld1q_u8(from + at), made = vqtbl4q_u8(parts[0], x);  // of 64 and more: zero
#pragma GCC unroll 3
    for (int i = 1; i < 4; ++i) {
      x = vsubq_u8(x, vdupq_n_u8(64));
      made = vqtbx4q_u8(made, parts[i], x);
    }
    vst1q_u8(to + at, made);
  }
  return at;
}
#else
WRY_INLINE int64_t mapped_wide(const uint8_t *, const uint8_t *, uint8_t *, int64_t) { return 0; }
#endif

// `from` and `to` may be the same.
inline void mapped(const uint8_t *table, const uint8_t *from, uint8_t *to, int64_t count) {
  int64_t at = mapped_wide(table, from, to, count);
  for (; at + 8 <= count; at += 8) {
    uint64_t eight, made = 0;
    __builtin_memcpy(&eight, from + at, 8);
#pragma GCC unroll 8
    for (int i = 0; i < 64; i += 8) made |= uint64_t(table[uint8_t(eight >> i)]) << i;
    __builtin_memcpy(to + at, &made, 8);
  }
  for (; at < count; ++at) to[at] = table[from[at]];
}

}  // namespace WRY_NAMESPACE

#endif
