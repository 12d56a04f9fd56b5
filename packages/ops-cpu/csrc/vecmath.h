// Elementary functions on SIMD vectors of float.
//
// Each is within 2 ulp of the exact value for every float32, subnormal results included, on every
// instruction set (tests/test_vecmath.py measures it). Infinities, NaN and poles give what C's
// functions give; errno and floating-point flags are not kept.
//
// Two ways of getting there. The functions that networks spend their time in (exp, log, log1p, sigmoid,
// tanh, erf, sin, cos) compute in float. The others widen to double, where a plain series with no
// care for the last bits is already exact to a float: half the lanes, a third of the code. Their
// polynomials are minimax fits for the relative error of the result; the power of two beside each
// is that error. Functions whose names begin with wide_ are those series: about 2^-36 in double,
// inside the range of float; do not use them for float64 results.
//
// Reduction of arguments follows Cody & Waite, "Software Manual for the Elementary Functions".
#ifndef WHERRY_OPS_CPU_VECMATH_H
#define WHERRY_OPS_CPU_VECMATH_H

#include "simd.h"

namespace WRY_NAMESPACE {

// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
template <typename V, typename T, int N>
WRY_INLINE V polynomial(V x, const T (&c)[N]) {
  V sum = splat<V>(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) sum = fma(sum, x, c[i]);
  return sum;
}

// ---- float --------------------------------------------------------------------------------------

// p * 2^n for p near 1 and -252 <= n <= 252, gradually to zero and to infinity.
WRY_INLINE f32 scale_by_power(f32 p, f32 n) {
#if defined(WRY_AVX512)
  return (f32)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
  // In two steps, because 2^n alone need not be a float; the first is exact.
  const i32 whole = convert<i32>(n);
  const i32 half = whole >> 1;
  const f32 first = (f32)((half + 127) << 23), second = (f32)((whole - half + 127) << 23);
  return p * first * second;
#endif
}

WRY_INLINE f32 exp(f32 x) {
  // Beyond these the result is infinity or zero. In this order of arguments NaN passes.
  x = max(splat<f32>(-105.0f), min(splat<f32>(90.0f), x));
  // The sum has 1.5 * 2^23 in front: no room for a fraction, so the adder rounds to an integer.
  const f32 shift = splat<f32>(0x1.8p23f);
  const f32 n = fma(x, 1.44269504f, shift) - shift;
  // ln 2 in two parts; n * 0.693359375 is exact.
  const f32 r = fma(n, 2.12194440e-4f, fma(n, -0.693359375f, x));
  static const float c[] = {0.4999999343f, 0.1666652046f, 0.04166839058f, 0.008368736395f, 0.001381451432f};
  const f32 p = fma(polynomial(r, c), r * r, r) + 1.0f;  // 2^-28
  return scale_by_power(p, n);
}

// The e with x = 2^e m and m in [sqrt(1/2), sqrt(2)), from the bits of x. Bits are computed with
// unsigned, because anything may come: negative x and NaN, which log_special repairs.
WRY_INLINE i32 exponent_of(u32 bits) { return (i32)(bits - 0x3f3504f3u) >> 23; }

// log(2^e (1 + f)) + small for 1 + f in [sqrt(1/2), sqrt(2)) and a `small` that is.
WRY_INLINE f32 log_of_parts(f32 e, f32 f, f32 small) {
  static const float c[] = {0.3333331252f, -0.2500000933f, 0.2000212273f, -0.1666801011f, 0.1421949419f,
                            -0.1240534523f, 0.1188831106f, -0.11676981f, 0.06747858096f};
  const f32 square = f * f;
  f32 tail = fma(polynomial(f, c), f * square, small);  // 2^-30
  tail = fma(e, -2.12194440e-4f, tail);
  tail = fma(square, -0.5f, tail);
  return fma(e, 0.693359375f, f + tail);
}

// What a logarithm gives for an argument x without one, else `value`.
WRY_INLINE f32 log_special(f32 x, f32 value) {
  const f32 infinity = splat<f32>(__builtin_inff());
  value = x < infinity ? value : x;  // infinity and NaN stay
  value = x > 0.0f ? value : (x == 0.0f ? -infinity : splat<f32>(__builtin_nanf("")));
  return x == x ? value : x;
}

WRY_INLINE f32 log(f32 x) {
  // Subnormals first become normal numbers.
  const i32 tiny = x < 0x1p-126f;
  const u32 bits = (u32)(tiny ? x * 0x1p23f : x);
  const i32 exponent = exponent_of(bits);
  const f32 f = (f32)(bits - ((u32)exponent << 23)) - 1.0f;
  const f32 e = convert<f32>(exponent) - (tiny ? splat<f32>(23.0f) : f32{});
  return log_special(x, log_of_parts(e, f, f32{}));
}

WRY_INLINE f32 log1p(f32 x) {
  const f32 u = x + 1.0f;
  const u32 bits = (u32)u;
  const i32 exponent = exponent_of(bits);
  const f32 f = (f32)(bits - ((u32)exponent << 23)) - 1.0f;
  // What rounding took from u, over u: 1 / (1 + f) is needed well near f = 0, where little else is
  // left of the result, and roughly elsewhere.
  const i32 power = 127 - exponent;
  const f32 scale = (f32)((power > 0 ? power : i32{}) << 23);
  const f32 lost = x < 0x1p25f ? x - (u - 1.0f) : f32{};
  const f32 small = lost * scale * fma(f, f, 1.0f - f);
  return copysign(log_special(u, log_of_parts(convert<f32>(exponent), f, small)), x);
}

WRY_INLINE f32 sigmoid(f32 x) {
  // exp of a negative number on both sides: it cannot overflow, and tiny results stay exact.
  const f32 e = exp(-abs(x));
  const f32 sum = e + 1.0f;
  // (An estimate of 1 / sum with a step of Newton's is slower than the division, measured on Zen 4.)
  const f32 result = (x < 0.0f ? e : splat<f32>(1.0f)) / sum;
  // What rounding took from the sum, to first order; the bracket is 1 / sum within 9 %.
  const f32 lost = e - (sum - 1.0f);
  return fma(-(result * lost), fma(sum, -0.5f, 1.457f), result);
}

WRY_INLINE f32 tanh(f32 x) {
  const f32 magnitude = abs(x);
  // Near zero 1 - 2 / (exp(2x) + 1) would cancel.
  static const float c[] = {-0.3333326948f, 0.1333109141f, -0.0537095991f, 0.02053865772f, -0.005590858774f};
  const f32 square = x * x;
  const f32 small = fma(polynomial(square, c) * square, x, x);  // 2^-27
  const f32 large = 1.0f - 2.0f / (exp(magnitude + magnitude) + 1.0f);
  return magnitude < 0.625f ? small : copysign(large, x);
}

WRY_INLINE f32 erf(f32 x) {
  const f32 magnitude = abs(x);
  static const float near_zero[] = {0.1283791668f, -0.3761263498f, 0.1128371502f, -0.02686050804f,
                                    0.005203858165f, -0.0008175628477f, 8.513059907e-5f};
  const f32 small = fma(polynomial(x * x, near_zero), x, x);  // 2^-31
  // 1 - exp(-t q(t)) on [0.85, 4]; beyond, erf is 1.
  static const float q[] = {1.128517347f, 0.6357876238f, 0.1049417733f, -0.02232994636f,
                            0.002713984994f, 2.988356906e-5f, -6.141020437e-5f, 6.25577231e-6f};
  const f32 t = min(splat<f32>(4.0f), magnitude);
  const f32 large = 1.0f - exp(-t * polynomial(t, q));  // 2^-31
  return magnitude < 0.85f ? small : copysign(large, x);
}

// The probability that a normal variable stays below x, within 2^-22 of it in absolute terms and 2^-16
// in relative ones: no cancellation for negative x, unlike (1 + erf(x / sqrt 2)) / 2. gelu spends its
// time here, so the exponential is one of its own, of 2^-23 and for an argument below 0. Not for NaN.
WRY_INLINE f32 normal_cdf(f32 x) {
  const f32 t = abs(x);
  // log(2 cdf(-t)) = -t q(t); from t = 7 on, where the cdf is below 2e-12, with q(7).
  static const float q[] = {-0.7978904478f, -0.3182548426f, -0.03650935977f, 0.005045022008f, -0.0001812767805f,
                            -0.0001097947344f, 2.95349138e-5f, -3.731707585e-6f, 2.4813806e-7f, -6.945240124e-9f};
  const f32 y = fma(polynomial(min(splat<f32>(7.0f), t), q), t, -0.693147181f);
  const f32 shift = splat<f32>(0x1.8p23f);
  const f32 shifted = fma(y, 1.44269504f, shift);
  const f32 r = fma(shifted - shift, -0.693147181f, y);
  static const float c[] = {1.0f, 0.9999997065f, 0.4999914831f, 0.1666763797f, 0.04189808784f, 0.008290251725f};
  const f32 tail = (f32)((u32)polynomial(r, c) + ((u32)shifted << 23));
  const f32 kept = y < -87.0f ? f32{} : tail;  // there the exponent has overflowed
  return x < 0.0f ? kept : 1.0f - kept;
}

// ---- float, for results that are rounded to 16 bits ---------------------------------------------

// Within 2^-16 of the value: a thirtieth of a unit of float16, a two hundredth of bfloat16. They do without divisions and the last terms.
WRY_INLINE f32 coarse_exp(f32 x) {
  x = max(splat<f32>(-105.0f), min(splat<f32>(90.0f), x));
  const f32 shift = splat<f32>(0x1.8p23f);
  const f32 n = fma(x, 1.44269504f, shift) - shift;
  static const float c[] = {1.0f, 0.999966836f, 0.500030137f, 0.167874737f, 0.0415138482f};
  return scale_by_power(polynomial(fma(n, -0.693147181f, x), c), n);
}

// 1 / (1 + e) for e in [0, 1].
WRY_INLINE f32 coarse_inverse(f32 e) {
  static const float c[] = {1.0f, -0.999383603f, 0.987399331f, -0.909818963f, 0.678929323f, -0.331528873f, 0.0744077461f};
  return polynomial(e, c);
}

WRY_INLINE f32 coarse_sigmoid(f32 x) {
  const f32 e = coarse_exp(-abs(x)), inverse = coarse_inverse(e);
  return x < 0.0f ? e * inverse : inverse;
}

WRY_INLINE f32 coarse_tanh(f32 x) {
  const f32 magnitude = abs(x), square = x * x;
  static const float c[] = {-0.333155116f, 0.130482759f, -0.0405147383f};
  const f32 small = fma(polynomial(square, c) * square, x, x);
  const f32 e = coarse_exp(magnitude * -2.0f);
  return magnitude < 0.625f ? small : copysign((1.0f - e) * coarse_inverse(e), x);
}

// As normal_cdf.
WRY_INLINE f32 coarse_normal_cdf(f32 x) {
  const f32 t = abs(x);
  static const float q[] = {-0.797876074f, -0.318078472f, -0.0371159043f, 0.00576565619f, -0.000614030212f, 3.90904335e-05f, -1.10707347e-06f};
  const f32 tail = coarse_exp(fma(polynomial(min(splat<f32>(7.0f), t), q), t, -0.693147181f));
  return x < 0.0f ? tail : 1.0f - tail;
}

// ---- float, for results that are rounded to bfloat16 ---------------------------------------------

// Within 2^-12 of the value: a twentieth of a unit. AVX-512 takes what stands after the point, multiplies by a power of two and
// estimates a quotient (2^-14) in an instruction each; a short chain matters more than few instructions, for chains of several
// vectors must find room at once. Other instruction sets compute as above.
#if defined(WRY_AVX512)

// 2^y.
WRY_INLINE f32 rough_power(f32 y) {
  const f32 r = (f32)_mm512_reduce_ps((__m512)y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);  // 0 of infinities
  static const float c[] = {0.999925196f, 0.695833504f, 0.226067171f, 0.0780245215f};
  return scale_by_power(polynomial(r, c), y);  // 2^-13.7; the scale takes y rounded down
}
WRY_INLINE f32 rough_inverse(f32 x) { return (f32)_mm512_rcp14_ps((__m512)x); }

WRY_INLINE f32 rough_exp(f32 x) { return rough_power(x * splat<f32>(1.44269504f)); }

WRY_INLINE f32 rough_sigmoid(f32 x) {
  const f32 e = rough_exp(-abs(x)), inverse = rough_inverse(e + 1.0f);
  return x < 0.0f ? e * inverse : inverse;
}

WRY_INLINE f32 rough_tanh(f32 x) {
  x = max(splat<f32>(-4.6f), min(splat<f32>(4.6f), x));
  const f32 square = x * x;
  static const float top[] = {0.999968052f, 0.103625596f, 0.000709605403f}, bottom[] = {1.0f, 0.436748266f, 0.0131972935f};
  return x * polynomial(square, top) * rough_inverse(polynomial(square, bottom));  // 2^-14.9
}

// As normal_cdf.
WRY_INLINE f32 rough_normal_cdf(f32 x) {
  const f32 t = abs(x), near = min(splat<f32>(7.0f), t), square = near * near;
  static const float low[] = {-1.14960003f, -0.463063627f}, middle[] = {-0.0496555753f, 0.00665053166f}, high[] = {-0.000524848583f, 1.79802373e-05f};
  const f32 q = fma(fma(polynomial(near, high), square, polynomial(near, middle)), square, polynomial(near, low));  // 2^-13
  const f32 tail = rough_power(fma(q, t, -1.0f));
  return x < 0.0f ? tail : 1.0f - tail;
}

#else

WRY_INLINE f32 rough_exp(f32 x) { return coarse_exp(x); }
WRY_INLINE f32 rough_sigmoid(f32 x) { return coarse_sigmoid(x); }
WRY_INLINE f32 rough_tanh(f32 x) { return coarse_tanh(x); }
WRY_INLINE f32 rough_normal_cdf(f32 x) { return coarse_normal_cdf(x); }

#endif

// ---- double, to the accuracy of float -----------------------------------------------------------

WRY_INLINE f64 wide_exp(f64 x) {
  x = max(splat<f64>(-300.0), min(splat<f64>(300.0), x));
  const f64 shift = splat<f64>(0x1.8p52);
  const f64 shifted = fma(x, 1.4426950408889634, shift);
  const f64 n = shifted - shift;
  const f64 r = fma(n, -1.9082149292705877e-10, fma(n, -6.93147180369123816490e-01, x));
  static const double c[] = {0.5000000000428158914, 0.1666666678470551005, 0.04166666439974074436,
                             0.008333281734338164196, 0.001388919764433248106, 0.000199089860873790196,
                             0.00002470818267206718368};
  const f64 p = fma(polynomial(r, c), r * r, r) + 1.0;  // 2^-39
  return (f64)((u64)p + ((u64)shifted << 52));
}

// exp(x) - 1, exact also where exp(x) is near 1.
WRY_INLINE f64 wide_expm1(f64 x) {
  x = max(splat<f64>(-300.0), min(splat<f64>(300.0), x));
  const f64 shift = splat<f64>(0x1.8p52);
  const f64 shifted = fma(x, 1.4426950408889634, shift);
  const f64 n = shifted - shift;
  const f64 r = fma(n, -1.9082149292705877e-10, fma(n, -6.93147180369123816490e-01, x));
  static const double c[] = {0.5000000000428158914, 0.1666666678470551005, 0.04166666439974074436,
                             0.008333281734338164196, 0.001388919764433248106, 0.000199089860873790196,
                             0.00002470818267206718368};
  const f64 p = fma(polynomial(r, c), r * r, r);
  const f64 power = (f64)((u64)splat<f64>(1.0) + ((u64)shifted << 52));  // NaN is in p
  return fma(power, p, power - 1.0);
}

// x is a float32 or larger than those: no subnormals.
WRY_INLINE f64 wide_log(f64 x) {
  const u64 bits = (u64)x;
  const i64 exponent = (i64)(bits - 0x3fe6a09e667f3bcdull) >> 52;
  const f64 m = (f64)(bits - ((u64)exponent << 52));
  // exponent as a double: |exponent| < 2^51, so its two's complement in the mantissa of
  // 1.5 * 2^52 is a sum that the adder undoes.
  const f64 shift = splat<f64>(0x1.8p52);
  const f64 e = (f64)((u64)exponent + (u64)shift) - shift;
  const f64 s = (m - 1.0) / (m + 1.0);
  const f64 z = s * s;
  static const double c[] = {0.3333333333790394373, 0.1999999780992706396, 0.1428605467105009239,
                             0.1108809091024796646, 0.09792120780008298303};
  const f64 s2 = s + s;
  const f64 logm = fma(polynomial(z, c) * z, s2, s2);  // 2^-45
  f64 result = fma(e, 0.6931471805599453, logm);
  const f64 infinity = splat<f64>(__builtin_inf());
  result = x < infinity ? result : x;
  result = x > 0.0 ? result : (x == 0.0 ? -infinity : splat<f64>(__builtin_nan("")));
  return x == x ? result : x;
}

WRY_INLINE f64 wide_log1p(f64 x) {
  const f64 u = x + 1.0;
  // What rounding took from u comes back as a first-order term.
  const f64 lost = (x - (u - 1.0)) / u;
  const f64 result = wide_log(u);
  return ((u > 0.0) & (u < __builtin_inf())) ? result + lost : result;
}

WRY_INLINE f64 wide_atan(f64 x) {
  const f64 magnitude = abs(x);
  // Fold [0, infinity) into [0, tan(pi/8)]: atan(a) = pi/2 - atan(1/a) = pi/4 + atan((a-1)/(a+1)).
  const i64 steep = magnitude > 2.414213562373095;
  const i64 middle = magnitude > 0.4142135623730951;
  const f64 one = splat<f64>(1.0);
  const f64 top = steep ? -one : (middle ? magnitude - 1.0 : magnitude);
  const f64 bottom = steep ? magnitude : (middle ? magnitude + 1.0 : one);
  const f64 base = steep ? splat<f64>(1.5707963267948966) : (middle ? splat<f64>(0.7853981633974483) : f64{});
  const f64 t = top / bottom;
  const f64 z = t * t;
  static const double c[] = {-0.333333332964104462, 0.1999999440395101041, -0.1428542654882166419,
                             0.111040545809000699, -0.08997284092598829508, 0.06993128775140114238,
                             -0.03795648088841086911};
  return copysign(base + fma(polynomial(z, c) * z, t, t), x);  // 2^-40
}

// x = n pi/2 + r with |r| <= pi/4. Good for |x| < 2^18: n times the first part of pi/2 (33 bits) is
// exact. `shifted` has the low bits of n in its own.
struct QuarterTurns {
  f64 r, shifted;
};
constexpr float quarter_turn_limit = 0x1p18f;

WRY_INLINE QuarterTurns wide_quarter_turns(f64 x) {
  const f64 shift = splat<f64>(0x1.8p52);
  const f64 shifted = fma(x, 0.6366197723675814, shift);
  const f64 n = shifted - shift;
  return {fma(n, -6.07710050650619224932e-11, fma(n, -1.57079632673412561417e+00, x)), shifted};
}

// f(lo half), f(hi half) in double.
template <typename F>
WRY_INLINE f32 through_double(f32 x, F &&f) {
  const f64x2 wide = to_double(x);
  return to_float({f(wide.lo), f(wide.hi)});
}

// Lanes whose bit in `mask` is set are computed by a scalar function instead.
template <typename F>
WRY_INLINE f32 repair_lanes(f32 result, f32 x, i32 mask, F &&f) {
  float in[f32_lanes], out[f32_lanes];
  store(in, x);
  store(out, result);
  for (int i = 0; i < f32_lanes; ++i)
    if (mask[i]) out[i] = f(in[i]);
  return load(out);
}

// ---- float through double -----------------------------------------------------------------------

namespace detail {
// sin for quarter = 0, cos for quarter = 1.
template <int Quarter>
WRY_INLINE f32 sine(f32 x) {
  const i32 far = ~(abs(x) < quarter_turn_limit);  // NaN too
  const f32 near = far ? x - x : x;                // infinity becomes NaN, huge values 0
  const f64x2 wide = to_double(near);
  const QuarterTurns lo = wide_quarter_turns(wide.lo), hi = wide_quarter_turns(wide.hi);
  const f64 shift = splat<f64>(0x1.8p52);
  const f32 r = to_float({lo.r, hi.r});
  const f32 turns = to_float({lo.shifted - shift, hi.shifted - shift});
  const i32 n = convert<i32>(turns == turns ? turns : f32{}) + Quarter;
  static const float s[] = {-0.1666666664f, 0.008333329383f, -0.0001983933388f, 2.718302655e-6f};
  static const float c[] = {0.04166664566f, -0.00138873151f, 2.443303109e-5f};
  const f32 z = r * r;
  const f32 sin_r = fma(polynomial(z, s) * z, r, r);                    // 2^-37
  const f32 cos_r = fma(polynomial(z, c), z * z, fma(z, -0.5f, 1.0f));  // 2^-33
  const f32 value = (n & 1) != 0 ? cos_r : sin_r;
  const f32 result = (f32)((u32)value ^ (((u32)n & 2u) << 30));
  if (WRY_UNLIKELY(any(far)))
    return repair_lanes(result, x, far, [](float v) { return float(Quarter ? ::cos(double(v)) : ::sin(double(v))); });
  return result;
}
}  // namespace detail

WRY_INLINE f32 sin(f32 x) {
  const f32 result = detail::sine<0>(x);
  return x == 0.0f ? x : result;  // keeps the sign of -0
}
WRY_INLINE f32 cos(f32 x) { return detail::sine<1>(x); }

WRY_INLINE f32 tan(f32 x) {
  const i32 far = ~(abs(x) < quarter_turn_limit);
  const f32 result = through_double(far ? f32{} : x, [](f64 v) {
    const QuarterTurns q = wide_quarter_turns(v);
    static const double s[] = {-0.1666666664159781259, 0.008333329382803233113, -0.0001983933388436993073,
                               2.718302655297302733e-6};
    static const double c[] = {0.04166666661943049958, -0.001388888349523110596, 0.00002479945894730987997,
                               -2.720565865999739164e-7};
    const f64 z = q.r * q.r;
    const f64 sine = fma(polynomial(z, s) * z, q.r, q.r);
    const f64 cosine = fma(polynomial(z, c), z * z, fma(z, -0.5, 1.0));
    const i64 odd = ((i64)q.shifted & 1) != 0;
    return (odd ? -cosine : sine) / (odd ? sine : cosine);
  });
  if (WRY_UNLIKELY(any(far))) return repair_lanes(result, x, far, [](float v) { return float(::tan(double(v))); });
  return x == 0.0f ? x : result;
}

WRY_INLINE f32 expm1(f32 x) {
  return through_double(x, [](f64 v) { return wide_expm1(v); });
}
WRY_INLINE f32 log2(f32 x) {
  return through_double(x, [](f64 v) { return wide_log(v) * 1.4426950408889634; });
}
WRY_INLINE f32 log10(f32 x) {
  return through_double(x, [](f64 v) { return wide_log(v) * 0.4342944819032518; });
}
WRY_INLINE f32 atan(f32 x) {
  return through_double(x, [](f64 v) { return wide_atan(v); });
}

WRY_INLINE f32 asin(f32 x) {
  return through_double(x, [](f64 v) { return wide_atan(v / sqrt((1.0 - v) * (1.0 + v))); });
}
WRY_INLINE f32 acos(f32 x) {
  return through_double(x, [](f64 v) { return 2.0 * wide_atan(sqrt((1.0 - v) / (1.0 + v))); });
}
WRY_INLINE f32 sinh(f32 x) {
  return through_double(x, [](f64 v) {
    const f64 e = wide_expm1(abs(v));
    return copysign(0.5 * (e + e / (e + 1.0)), v);
  });
}
WRY_INLINE f32 cosh(f32 x) {
  return through_double(x, [](f64 v) {
    const f64 e = wide_exp(abs(v));
    return 0.5 * (e + 1.0 / e);
  });
}
WRY_INLINE f32 asinh(f32 x) {
  return through_double(x, [](f64 v) {
    const f64 a = abs(v), square = a * a;
    const f64 result = wide_log1p(a + square / (1.0 + sqrt(square + 1.0)));
    return copysign(a < __builtin_inf() ? result : a, v);
  });
}
WRY_INLINE f32 acosh(f32 x) {
  return through_double(x, [](f64 v) {
    const f64 t = v - 1.0;
    const f64 result = wide_log1p(t + sqrt(t * (v + 1.0)));
    return t < 0.0 ? splat<f64>(__builtin_nan("")) : result;
  });
}
WRY_INLINE f32 atanh(f32 x) {
  return through_double(x, [](f64 v) {
    const f64 a = abs(v);
    return copysign(0.5 * wide_log1p(2.0 * a / (1.0 - a)), v);
  });
}

WRY_INLINE f32 pow(f32 x, f32 y) {
  const f64x2 wide_x = to_double(x), wide_y = to_double(y);
  auto one = [](f64 a, f64 b) { return wide_exp(b * wide_log(abs(a))); };
  f32 result = to_float({one(wide_x.lo, wide_y.lo), one(wide_x.hi, wide_y.hi)});
  const f32 infinity = splat<f32>(__builtin_inff());
  // 0 * log would be NaN where C says 1.
  const f32 magnitude = abs(x);
  result = (y == 0.0f) | (x == 1.0f) | ((magnitude == 1.0f) & (y == y)) ? splat<f32>(1.0f) : result;
  // A negative base: its sign survives an odd exponent, and there is no value for a broken one.
  const i32 negative = (i32)x < 0;
  const f32 half = y * 0.5f;
  const i32 whole = trunc(y) == y, even = trunc(half) == half;
  const i32 flips = negative & whole & ~even & (abs(y) < infinity);
  result = (f32)((i32)result ^ (flips & INT32_MIN));
  const i32 undefined = (x < 0.0f) & (magnitude < infinity) & ~whole & (y == y);
  return undefined ? splat<f32>(__builtin_nanf("")) : result;
}

// atan2(y, x), the angle of the point (x, y).
WRY_INLINE f32 atan2(f32 y, f32 x) {
  const f64x2 wide_y = to_double(y), wide_x = to_double(x);
  auto one = [](f64 b, f64 a) {
    const f64 top = abs(b), right = abs(a);
    const f64 infinity = splat<f64>(__builtin_inf());
    f64 ratio = top / right;
    ratio = top == 0.0 ? f64{} : ratio;  // 0 / 0
    ratio = ((top == infinity) & (right == infinity)) ? splat<f64>(1.0) : ratio;
    ratio = ((b != b) | (a != a)) ? a + b : ratio;
    const f64 angle = wide_atan(ratio);
    const f64 turned = (i64)a < 0 ? 3.141592653589793 - angle : angle;
    return copysign(turned, b);
  };
  const f32 result = to_float({one(wide_y.lo, wide_x.lo), one(wide_y.hi, wide_x.hi)});
  return result;
}

// ---- numbers ------------------------------------------------------------------------------------

WRY_INLINE double log_gamma(double x) {
#if !defined(_WIN32)
  int sign;  // lgamma would write it to a global, from every thread
  return ::lgamma_r(x, &sign);
#else
  return ::lgamma(x);
#endif
}

}  // namespace WRY_NAMESPACE

#endif
