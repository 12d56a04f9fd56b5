// exp and log for both widths of float, which code that is written once for float and double needs.
// Doubles go through the C library, lane by lane: float64 is for accuracy here, not for speed.
#ifndef WHERRY_OPS_CPU_LANEMATH_H
#define WHERRY_OPS_CPU_LANEMATH_H

#include "vecmath.h"

namespace WRY_NAMESPACE {

WRY_INLINE f32 lane_exp(f32 x) { return exp(x); }
WRY_INLINE f64 lane_exp(f64 x) {
  for (int i = 0; i < f64_lanes; ++i) x[i] = ::exp(x[i]);
  return x;
}

WRY_INLINE f32 lane_log(f32 x) { return log(x); }
WRY_INLINE f64 lane_log(f64 x) {
  for (int i = 0; i < f64_lanes; ++i) x[i] = ::log(x[i]);
  return x;
}
WRY_INLINE f32 lane_log1p(f32 x) { return log1p(x); }
WRY_INLINE f64 lane_log1p(f64 x) {
  for (int i = 0; i < f64_lanes; ++i) x[i] = ::log1p(x[i]);
  return x;
}

WRY_INLINE float scalar_exp(float x) { return ::expf(x); }
WRY_INLINE double scalar_exp(double x) { return ::exp(x); }
WRY_INLINE float scalar_log(float x) { return ::logf(x); }
WRY_INLINE double scalar_log(double x) { return ::log(x); }
WRY_INLINE float scalar_sqrt(float x) { return __builtin_sqrtf(x); }
WRY_INLINE double scalar_sqrt(double x) { return __builtin_sqrt(x); }

}  // namespace WRY_NAMESPACE

#endif
