// Activation functions and their fused gradients, each one pass over memory.
//
// Where NaN could go either way it goes where Paddle sends it.
#include "pointwise.h"

namespace wherry {
namespace cuda {
namespace {

template <typename V>
WRY_GPU V logistic(V x) {  // whose exponential cannot overflow
  const V e = exp(-fabs(x));
  return (x < V(0) ? e : V(1)) / (V(1) + e);
}
WRY_GPU float normal_probability(float x) { return 0.5f * erfcf(-0.70710678f * x); }
WRY_GPU double normal_probability(double x) { return 0.5 * erfc(-0.7071067811865476 * x); }
// x within [low, high]; NaN passes.
template <typename V>
WRY_GPU V clamp(V x, V low, V high) {
  const V raised = x < low ? low : x;
  return raised > high ? high : raised;
}
template <typename V>
WRY_GPU V smaller(V a, V b) { return b < a ? b : a; }
template <typename V>
WRY_GPU V larger(V a, V b) { return a < b ? b : a; }

// ---- activations ----------------------------------------------------------------------------------

// A functor of x with up to two attributes, a (the first) and b (the last).
#define WRY_ACTIVATION(Name, count, ...)                    \
  struct Name {                                             \
    static constexpr int attributes = count;                \
    double first, second;                                   \
    template <typename V>                                   \
    WRY_GPU V operator()(V x) const {                       \
      [[maybe_unused]] const V a = V(first), b = V(second); \
      __VA_ARGS__                                           \
    }                                                       \
  };

WRY_ACTIVATION(Relu, 0, return x > V(0) ? x : V(0);)  // NaN becomes 0, as in Paddle; so do integers below 0
WRY_ACTIVATION(Relu6, 0, return clamp(x, V(0), V(6));)
WRY_ACTIVATION(Sigmoid, 0, return logistic(x);)
WRY_ACTIVATION(Silu, 0, return x * logistic(x);)
// log(1 / (1 + exp(-x))) whose exponential cannot overflow
WRY_ACTIVATION(LogSigmoid, 0, return (V(0) < x ? V(0) : x) - log1p(exp(-fabs(x)));)
WRY_ACTIVATION(Softsign, 0, return x / (fabs(x) + V(1));)
WRY_ACTIVATION(Hardswish, 0, return x * clamp(x + V(3), V(0), V(6)) * V(1.0 / 6);)
WRY_ACTIVATION(Tanhshrink, 0, return x - tanh(x);)
// tanh(log(1 + e)) is a quotient of polynomials in e = exp(x); past 20 it is 1
WRY_ACTIVATION(Mish, 0, const V e = exp(smaller(x, V(20))); const V n = e * (e + V(2)); return x > V(20) ? x : x * n / (n + V(2));)
WRY_ACTIVATION(Gelu, 0, return x * normal_probability(x);)
WRY_ACTIVATION(LeakyRelu, 1, return x > V(0) ? x : x * a;)
WRY_ACTIVATION(Elu, 1, return x > V(0) ? x : a * expm1(x);)
WRY_ACTIVATION(Selu, 2, return a * (x > V(0) ? x : b * expm1(x));)
WRY_ACTIVATION(Celu, 1, return x > V(0) ? x : a * expm1(x / a);)
WRY_ACTIVATION(Softplus, 2, const V scaled = x * a; const V smooth = (larger(V(0), scaled) + log1p(exp(-fabs(scaled)))) / a;
               return scaled > b ? x : scaled == scaled ? smooth : scaled;)
WRY_ACTIVATION(Hardtanh, 2, return clamp(x, a, b);)
WRY_ACTIVATION(Hardsigmoid, 2, return clamp(fma(x, a, b), V(0), V(1));)
WRY_ACTIVATION(Hardshrink, 1, return x >= -a && x <= a ? V(0) : x;)
WRY_ACTIVATION(Softshrink, 1, return x > a ? x - a : x < -a ? x + a : x == x ? V(0) : x;)
WRY_ACTIVATION(ThresholdedRelu, 1, return x <= a ? V(0) : x;)
WRY_ACTIVATION(Stanh, 2, return b * tanh(a * x);)

// (1 + tanh(u)) / 2 is the logistic function of 2u.
template <typename V>
WRY_GPU V tanh_gelu_weight(V x) {
  return logistic(x * fma(x * x, V(2 * 0.7978845608028654 * 0.044715), V(2 * 0.7978845608028654)));
}
WRY_ACTIVATION(TanhGelu, 0, return x * tanh_gelu_weight(x);)

struct Prelu {
  template <typename V>
  WRY_GPU V operator()(V x, V weight) const { return x > V(0) ? x : x * weight; }
};

// ---- gradients ------------------------------------------------------------------------------------

#define WRY_GRADIENT(Name, other, ...)                          \
  struct Name {                                                 \
    template <typename V>                                       \
    WRY_GPU V operator()(V ct, V other) const { __VA_ARGS__ } \
  };
WRY_GRADIENT(ReluVjp, out, return out > V(0) ? ct : V(0);)
WRY_GRADIENT(SigmoidVjp, out, return ct * out * (V(1) - out);)
WRY_GRADIENT(TanhVjp, out, return ct * (V(1) - out * out);)
WRY_GRADIENT(SiluVjp, x, const V s = logistic(x); return ct * s * fma(x, V(1) - s, V(1));)
WRY_GRADIENT(GeluVjp, x, const V density = exp(x * x * V(-0.5)) * V(0.3989422804014327); return ct * fma(x, density, normal_probability(x));)
WRY_GRADIENT(TanhGeluVjp, x, const V s = tanh_gelu_weight(x);
             // the derivative of twice the argument of tanh
             const V slope = fma(x * x, V(6 * 0.7978845608028654 * 0.044715), V(2 * 0.7978845608028654));
             return ct * s * fma(x * slope, V(1) - s, V(1));)

// Which gelu a chain computes: its attribute `approximate` is known there.
struct EitherGelu {
  double approximate;
  template <typename V>
  WRY_GPU V operator()(V x) const { return approximate != 0 ? TanhGelu{0, 0}(x) : Gelu{0, 0}(x); }
};
struct EitherGeluVjp {
  double approximate;
  template <typename V>
  WRY_GPU V operator()(V ct, V x) const { return approximate != 0 ? TanhGeluVjp()(ct, x) : GeluVjp()(ct, x); }
};

#ifndef WRY_FUNCTIONS_ONLY  // a chain of several wants them without (chains.py)
// ---- table ----------------------------------------------------------------------------------------

template <typename F>
struct Kernel {
  template <typename T>
  static int unary(const wry_call *call) {
    const int n = F::attributes;
    return pointwise1<T, T>(call, F{n > 0 ? attr_float(call, 0) : 0, n > 1 ? attr_float(call, n - 1) : 0});
  }
  template <typename T>
  static int binary(const wry_call *call) { return pointwise2<T, T, T>(call, F()); }
};
template <typename T>
int gelu(const wry_call *call) { return attr_bool(call, 0) ? Kernel<TanhGelu>::unary<T>(call) : Kernel<Gelu>::unary<T>(call); }
template <typename T>
int gelu_vjp(const wry_call *call) { return attr_bool(call, 0) ? Kernel<TanhGeluVjp>::binary<T>(call) : Kernel<GeluVjp>::binary<T>(call); }

#define WITH_ATTRIBUTES(F) Kernel<F>::unary, #F "{$first, $last}"
#define ACTIVATION(op, F) WRY_FLOAT_ROWS(op, in_place, WITH_ATTRIBUTES(F))
#define BINARY(op, F) WRY_FLOAT_ROWS(op, in_place, Kernel<F>::binary, #F "()")

const wry_kernel_entry table[] = {
    WRY_REAL_ROWS("relu", in_place, WITH_ATTRIBUTES(Relu)),
    ACTIVATION("relu6", Relu6), ACTIVATION("leaky_relu", LeakyRelu),
    BINARY("prelu", Prelu),
    ACTIVATION("elu", Elu), ACTIVATION("selu", Selu), ACTIVATION("celu", Celu),
    WRY_FLOAT_ROWS("gelu", in_place, gelu, "EitherGelu{$first}"),
    ACTIVATION("sigmoid", Sigmoid), ACTIVATION("log_sigmoid", LogSigmoid), ACTIVATION("silu", Silu), ACTIVATION("mish", Mish),
    ACTIVATION("softplus", Softplus), ACTIVATION("softsign", Softsign), ACTIVATION("hardtanh", Hardtanh),
    ACTIVATION("hardsigmoid", Hardsigmoid), ACTIVATION("hardswish", Hardswish), ACTIVATION("hardshrink", Hardshrink),
    ACTIVATION("softshrink", Softshrink), ACTIVATION("tanhshrink", Tanhshrink), ACTIVATION("thresholded_relu", ThresholdedRelu),
    ACTIVATION("stanh", Stanh),
    WRY_REAL_ROWS("relu_vjp", in_place, Kernel<ReluVjp>::binary, "ReluVjp()"),
    BINARY("sigmoid_vjp", SigmoidVjp),
    BINARY("tanh_vjp", TanhVjp),
    WRY_FLOAT_ROWS("gelu_vjp", in_place, gelu_vjp, "EitherGeluVjp{$first}"),
    BINARY("silu_vjp", SiluVjp),
};

#endif

}  // namespace
}  // namespace cuda
}  // namespace wherry

#ifndef WRY_FUNCTIONS_ONLY
WRY_TABLE(activation, wherry::cuda::table)
#endif
