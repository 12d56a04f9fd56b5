// The activations that may stand after a convolution or a product, in the same op (wherry_tensor/ops/blocked.py lists them).
#ifndef WHERRY_OPS_CPU_EPILOGUE_H
#define WHERRY_OPS_CPU_EPILOGUE_H

#include "vecmath.h"

namespace WRY_NAMESPACE {

enum class Activation { none,
                        relu,
                        relu6,
                        sigmoid,
                        silu,
                        hardswish,
                        gelu,
                        tanh };

inline bool activation_of(const wry_call *call, int attr, Activation *found) {
  constexpr struct {
    const char *name;
    Activation value;
  } names[] = {{"none", Activation::none}, {"relu", Activation::relu}, {"relu6", Activation::relu6}, {"sigmoid", Activation::sigmoid}, {"silu", Activation::silu}, {"hardswish", Activation::hardswish}, {"gelu", Activation::gelu}, {"tanh", Activation::tanh}};
  for (const auto &one : names)
    if (attr_equals(call, attr, one.name)) {
      *found = one.value;
      return true;
    }
  return false;
}

inline int unknown_activation(const wry_call *call, const char *op, int attr) {
  return fail(call, WRY_UNSUPPORTED,
              "%s: no kernel computes this activation. Got activation='%s', expected one of "
              "wherry_tensor.ops.blocked.ACTIVATIONS. Use the op of that name after the convolution.",
              op, attr_string(call, attr));
}

WRY_INLINE f32 relu(f32 x) { return max(x, f32{}); }  // NaN becomes 0, as the op has it
WRY_INLINE f32 relu6(f32 x) { return min(splat<f32>(6.0f), max(f32{}, x)); }

// The activations that take more than a moment, over what was just written.
__attribute__((noinline)) static void activate(Activation kind, float *at, int64_t n) {
  const auto each = [&](auto f) {
    for (int64_t i = 0; i < n; i += f32_lanes) store(at + i, f(load(at + i)));
  };
  switch (kind) {
    case Activation::sigmoid: return each([](f32 x) { return sigmoid(x); });
    case Activation::silu: return each([](f32 x) { return x * sigmoid(x); });
    case Activation::hardswish:
      return each([](f32 x) { return x * min(splat<f32>(6.0f), max(f32{}, x + 3.0f)) * splat<f32>(1.0f / 6); });
    case Activation::gelu: return each([](f32 x) { return x * normal_cdf(x); });
    case Activation::tanh: return each([](f32 x) { return tanh(x); });
    default: return;
  }
}

}  // namespace WRY_NAMESPACE

#endif
