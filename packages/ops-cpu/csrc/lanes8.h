// Channels side by side in the order in which vectors unpack and pack bytes: for windows of channels by themselves.
//
// Fours are added up by an instruction for it, or as two pairs of 16 bits, of bytes at even and at odd places, which are the same sums.
//
// Instructions that interleave bytes work in each 16 bytes of a vector alone. Four rows of V channels become four vectors of fours: in the 16 bytes L of
// vector q are channels 16 L + 4 q to 16 L + 4 q + 3. Those that narrow do the same backwards, so that bytes come out in order. Weights and what stands
// after lie in that order too.
#ifndef WHERRY_OPS_CPU_LANES8_H
#define WHERRY_OPS_CPU_LANES8_H

#include "int8.h"

#if defined(__SSE4_1__) || defined(__wasm_simd128__)
#define WRY_LANES 1

namespace WRY_NAMESPACE {

template <int V>
struct Lanes;

// What images of bytes are moved by so that they have no sign, and what then stands for zero.
template <typename T>
WRY_INLINE Shift shift_of_lanes(int32_t zero) {
  const int add = std::is_same<T, int8_t>::value ? 128 : 0;
  return {add, zero + add};
}

#if defined(__wasm_simd128__)
constexpr bool rounds_all_ints = false;  // `nearest` is right for small ones alone
constexpr int lane_pixels = 2;
template <>
struct Lanes<16> {
  using Ints = v128_t;
  using Reals = f32;
  static WRY_INLINE Ints add_products(Ints sum, Ints x, Ints w) {
    const v128_t even = wasm_i32x4_dot_i16x8(wasm_v128_and(x, wasm_i16x8_splat(255)), wasm_i16x8_shr(wasm_i16x8_shl(w, 8), 8));
    return wasm_i32x4_add(wasm_i32x4_add(sum, even), wasm_i32x4_dot_i16x8(wasm_u16x8_shr(x, 8), wasm_i16x8_shr(w, 8)));
  }
  static WRY_INLINE Ints low_bytes(Ints a, Ints b) { return wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23); }
  static WRY_INLINE Ints high_bytes(Ints a, Ints b) { return wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31); }
  static WRY_INLINE Ints low_words(Ints a, Ints b) { return wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
  static WRY_INLINE Ints high_words(Ints a, Ints b) { return wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
  static WRY_INLINE Ints words(Ints a, Ints b) { return wasm_i16x8_narrow_i32x4(a, b); }
  static WRY_INLINE Ints add_words(Ints a, int b) { return wasm_i16x8_add_sat(a, wasm_i16x8_splat(int16_t(b))); }
  static WRY_INLINE Ints bytes(Ints a, Ints b, int8_t) { return wasm_i8x16_narrow_i16x8(a, b); }
  static WRY_INLINE Ints bytes(Ints a, Ints b, uint8_t) { return wasm_u8x16_narrow_i16x8(a, b); }
  static WRY_INLINE Ints at_least(Ints a, int8_t low) { return wasm_i8x16_max(a, wasm_i8x16_splat(low)); }
  static WRY_INLINE Ints at_least(Ints a, uint8_t low) { return wasm_u8x16_max(a, wasm_u8x16_splat(low)); }
  static WRY_INLINE Ints at_most(Ints a, int8_t high) { return wasm_i8x16_min(a, wasm_i8x16_splat(high)); }
  static WRY_INLINE Ints at_most(Ints a, uint8_t high) { return wasm_u8x16_min(a, wasm_u8x16_splat(high)); }
  static WRY_INLINE Reals reals(Ints a) { return (f32)wasm_f32x4_convert_i32x4(a); }
  // NaN, and what is far too small, become a number that narrowing makes the least one.
  static WRY_INLINE Ints nearest(Reals a) { return (v128_t)nearest_small_ints((f32)wasm_f32x4_pmax(wasm_f32x4_splat(-65536), (v128_t)a)); }
  static WRY_INLINE Reals at_most(Reals a, float high) { return (f32)wasm_f32x4_pmin((v128_t)a, wasm_f32x4_splat(high)); }  // NaN stays
  static WRY_INLINE Ints flipped(Ints a) { return wasm_v128_xor(a, wasm_i8x16_splat(-128)); }
};
#else
constexpr bool rounds_all_ints = true;
#define WRY_PAIRS(PREFIX, BITS)                                                                                       \
  PREFIX##_add_epi32(PREFIX##_add_epi32(sum, PREFIX##_madd_epi16(PREFIX##_and_si##BITS(x, PREFIX##_set1_epi16(255)),  \
                                                                 PREFIX##_srai_epi16(PREFIX##_slli_epi16(w, 8), 8))), \
                     PREFIX##_madd_epi16(PREFIX##_srli_epi16(x, 8), PREFIX##_srai_epi16(w, 8)))
#define WRY_LANES_OF(BYTES, INTS, REALS, PREFIX, BITS, DOT)                                                                     \
  template <>                                                                                                                   \
  struct Lanes<BYTES> {                                                                                                         \
    using Ints = INTS;                                                                                                          \
    using Reals = REALS;                                                                                                        \
    static WRY_INLINE Ints add_products(Ints sum, Ints x, Ints w) { return DOT; }                                               \
    static WRY_INLINE Ints low_bytes(Ints a, Ints b) { return PREFIX##_unpacklo_epi8(a, b); }                                   \
    static WRY_INLINE Ints high_bytes(Ints a, Ints b) { return PREFIX##_unpackhi_epi8(a, b); }                                  \
    static WRY_INLINE Ints low_words(Ints a, Ints b) { return PREFIX##_unpacklo_epi16(a, b); }                                  \
    static WRY_INLINE Ints high_words(Ints a, Ints b) { return PREFIX##_unpackhi_epi16(a, b); }                                 \
    static WRY_INLINE Ints words(Ints a, Ints b) { return PREFIX##_packs_epi32(a, b); }                                         \
    static WRY_INLINE Ints add_words(Ints a, int b) { return PREFIX##_adds_epi16(a, PREFIX##_set1_epi16(short(b))); }           \
    static WRY_INLINE Ints bytes(Ints a, Ints b, int8_t) { return PREFIX##_packs_epi16(a, b); }                                 \
    static WRY_INLINE Ints bytes(Ints a, Ints b, uint8_t) { return PREFIX##_packus_epi16(a, b); }                               \
    static WRY_INLINE Ints at_least(Ints a, int8_t low) { return PREFIX##_max_epi8(a, PREFIX##_set1_epi8(low)); }               \
    static WRY_INLINE Ints at_least(Ints a, uint8_t low) { return PREFIX##_max_epu8(a, PREFIX##_set1_epi8(char(low))); }        \
    static WRY_INLINE Ints at_most(Ints a, int8_t high) { return PREFIX##_min_epi8(a, PREFIX##_set1_epi8(high)); }              \
    static WRY_INLINE Ints at_most(Ints a, uint8_t high) { return PREFIX##_min_epu8(a, PREFIX##_set1_epi8(char(high))); }       \
    static WRY_INLINE Reals reals(Ints a) { return PREFIX##_cvtepi32_ps(a); }                                                   \
    static WRY_INLINE Ints nearest(Reals a) { return PREFIX##_cvtps_epi32(a); }                                                 \
    static WRY_INLINE Reals at_most(Reals a, float high) { return PREFIX##_min_ps(PREFIX##_set1_ps(high), a); } /* NaN stays */ \
    static WRY_INLINE Ints flipped(Ints a) { return PREFIX##_xor_si##BITS(a, PREFIX##_set1_epi8(char(-128))); }                 \
  }

// `lane_pixels` places at a time: as many as leave their sums in registers.
#if defined(WRY_DOT) && WRY_VECTOR_BYTES == 64
constexpr int lane_pixels = 4;
WRY_LANES_OF(64, __m512i, __m512, _mm512, 512, _mm512_dpbusd_epi32(sum, x, w));
WRY_LANES_OF(32, __m256i, __m256, _mm256, 256, _mm256_dpbusd_epi32(sum, x, w));
WRY_LANES_OF(16, __m128i, __m128, _mm, 128, _mm_dpbusd_epi32(sum, x, w));
#elif defined(WRY_DOT)
constexpr int lane_pixels = 4;
WRY_LANES_OF(32, __m256i, __m256, _mm256, 256, _mm256_dpbusd_avx_epi32(sum, x, w));
WRY_LANES_OF(16, __m128i, __m128, _mm, 128, _mm_dpbusd_avx_epi32(sum, x, w));
#else
constexpr int lane_pixels = WRY_VECTOR_BYTES == 64 ? 4 : 2;
#if WRY_VECTOR_BYTES == 64
WRY_LANES_OF(64, __m512i, __m512, _mm512, 512, WRY_PAIRS(_mm512, 512));
#endif
#if WRY_VECTOR_BYTES >= 32
WRY_LANES_OF(32, __m256i, __m256, _mm256, 256, WRY_PAIRS(_mm256, 256));
#endif
WRY_LANES_OF(16, __m128i, __m128, _mm, 128, WRY_PAIRS(_mm, 128));
#endif
#undef WRY_LANES_OF
#undef WRY_PAIRS
#endif

template <int V>
WRY_INLINE typename Lanes<V>::Ints ints_at(const void *at) {
  typename Lanes<V>::Ints x;
  __builtin_memcpy(&x, at, V);
  return x;
}

// Four rows of V bytes as fours; `Flip` moves bytes with a sign by 128.
template <int V, bool Flip>
WRY_INLINE void lay_lanes(const void *a, const void *b, const void *c, const void *d, void *to) {
  using L = Lanes<V>;
  typename L::Ints row[4] = {ints_at<V>(a), ints_at<V>(b), ints_at<V>(c), ints_at<V>(d)};
  if constexpr (Flip)
    for (auto &x : row) x = L::flipped(x);
  const auto ab = L::low_bytes(row[0], row[1]), cd = L::low_bytes(row[2], row[3]);
  const auto more_ab = L::high_bytes(row[0], row[1]), more_cd = L::high_bytes(row[2], row[3]);
  const auto keep = [&](int q, typename L::Ints x) { __builtin_memcpy(static_cast<char *>(to) + q * V, &x, V); };
  keep(0, L::low_words(ab, cd)), keep(1, L::high_words(ab, cd)), keep(2, L::low_words(more_ab, more_cd)), keep(3, L::high_words(more_ab, more_cd));
}

// Values of V channels in that order.
template <int V, typename T>
WRY_INLINE void order_lanes(const T *from, T *to) {
  for (int i = 0; i < V; ++i) to[i % 16 / 4 * (V / 4) + i / 16 * 4 + i % 4] = from[i];
}

}  // namespace WRY_NAMESPACE

#endif
#endif
