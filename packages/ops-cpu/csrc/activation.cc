// Activation functions and their fused gradients, each one pass over memory.
//
// float64 takes the elementary functions of the C library lane by lane, the others those of
// vecmath.h. Where NaN could go either way it goes where Paddle sends it.
#include "pointwise.h"
#include "vecmath.h"

namespace WRY_NAMESPACE {
namespace {

// ---- elementary functions of both widths --------------------------------------------------------

template <typename F>
WRY_INLINE f64 each(f64 x, F &&f) {
  for (int i = 0; i < f64_lanes; ++i) x[i] = f(x[i]);
  return x;
}

WRY_INLINE f32 exponential(f32 x) { return exp(x); }
WRY_INLINE f64 exponential(f64 x) {
  return each(x, [](double v) { return ::exp(v); });
}
WRY_INLINE f32 exponential_minus_1(f32 x) { return expm1(x); }
WRY_INLINE f64 exponential_minus_1(f64 x) {
  return each(x, [](double v) { return ::expm1(v); });
}
// Of x in [0, 1] alone, where a polynomial reaches: 2^-30, and 1.3 ulp with its roundings.
WRY_INLINE f32 logarithm_of_1_plus(f32 x) {
  static const float c[] = {1.0f, -0.499999795f, 0.333324975f, -0.249864965f, 0.198858203f, -0.16087623f,
                            0.123779959f, -0.0818804092f, 0.0410065737f, -0.0131878266f, 0.0019866966f};
  return polynomial(x, c) * x;
}
WRY_INLINE f64 logarithm_of_1_plus(f64 x) {
  return each(x, [](double v) { return ::log1p(v); });
}
WRY_INLINE f32 hyperbolic_tangent(f32 x) { return tanh(x); }
WRY_INLINE f64 hyperbolic_tangent(f64 x) {
  return each(x, [](double v) { return ::tanh(v); });
}
WRY_INLINE f32 logistic(f32 x) { return sigmoid(x); }
WRY_INLINE f64 logistic(f64 x) {
  const f64 e = exponential(-abs(x));
  return (x < 0.0 ? e : splat<f64>(1.0)) / (e + 1.0);
}
WRY_INLINE f32 normal_probability(f32 x) { return normal_cdf(x); }
WRY_INLINE f64 normal_probability(f64 x) {
  return each(x, [](double v) { return 0.5 * ::erfc(-0.7071067811865476 * v); });
}

// Ways of functors below to these functions: of both widths, and for results that are rounded to 16 bits or to bfloat16.
struct Fine {
  template <typename V>
  static WRY_INLINE V logistic(V x) { return WRY_NAMESPACE::logistic(x); }
  template <typename V>
  static WRY_INLINE V normal_probability(V x) { return WRY_NAMESPACE::normal_probability(x); }
  template <typename V>
  static WRY_INLINE V exponential(V x) { return WRY_NAMESPACE::exponential(x); }
};
struct Coarse {
  static WRY_INLINE f32 logistic(f32 x) { return coarse_sigmoid(x); }
  static WRY_INLINE f32 normal_probability(f32 x) { return coarse_normal_cdf(x); }
  static WRY_INLINE f32 exponential(f32 x) { return coarse_exp(x); }
};
struct Rough {
  static WRY_INLINE f32 logistic(f32 x) { return rough_sigmoid(x); }
  static WRY_INLINE f32 normal_probability(f32 x) { return rough_normal_cdf(x); }
  static WRY_INLINE f32 exponential(f32 x) { return rough_exp(x); }
};

// A number in every lane of the vectors V.
template <typename V>
WRY_INLINE V of(double x) { return splat<V>(typename vector_traits<V>::scalar(x)); }

// x within [low, high]; NaN passes.
template <typename V>
WRY_INLINE V clamp(V x, V low, V high) { return min(high, max(low, x)); }

// ---- activations --------------------------------------------------------------------------------

// A functor without attributes: `value` of the vector x of type V.
#define WRY_ACTIVATION(Name, cost, ...)                \
  struct Name {                                        \
    static constexpr Lanes lanes = Lanes::all;         \
    static constexpr int64_t grain = cost;             \
    WRY_INLINE explicit Name(const wry_call *) {}      \
    template <typename V>                              \
    WRY_INLINE V operator()(V x) const { __VA_ARGS__ } \
  };

// The same by functions of `Way`, Fine, Coarse or Rough.
#define WRY_COARSE_ACTIVATION(Name, cost, ...)                      \
  struct Name {                                                     \
    static constexpr Lanes lanes = Lanes::all;                      \
    static constexpr int64_t grain = cost;                          \
    WRY_INLINE explicit Name(const wry_call *) {}                   \
    template <typename Way, typename V>                             \
    WRY_INLINE V value(V x) const { __VA_ARGS__ }                   \
    template <typename V>                                           \
    WRY_INLINE V operator()(V x) const { return value<Fine>(x); }   \
    WRY_INLINE f32 coarse(f32 x) const { return value<Coarse>(x); } \
    WRY_INLINE f32 rough(f32 x) const { return value<Rough>(x); }   \
  };

WRY_ACTIVATION(Relu6, cheap, return clamp(x, V{}, of<V>(6));)
WRY_COARSE_ACTIVATION(Sigmoid, moderate, return Way::logistic(x);)
WRY_COARSE_ACTIVATION(Silu, moderate, return x * Way::logistic(x);)
// log(1 / (1 + exp(-x))) whose exponential cannot overflow
WRY_ACTIVATION(LogSigmoid, moderate, return min(V{}, x) - logarithm_of_1_plus(exponential(-abs(x)));)
WRY_ACTIVATION(Softsign, cheap, return x / (abs(x) + 1);)
WRY_ACTIVATION(Hardswish, cheap, return x * clamp(x + 3, V{}, of<V>(6)) * of<V>(1.0 / 6);)
WRY_ACTIVATION(Tanhshrink, moderate, return x - hyperbolic_tangent(x);)
// tanh(log(1 + e)) is a quotient of polynomials in e = exp(x); past 20 it is 1
WRY_ACTIVATION(Mish, moderate,
               const V e = exponential(min(of<V>(20), x));
               const V n = e * (e + 2);
               return x > 20 ? x : x * n / (n + 2);)

// NaN becomes 0, as in Paddle; so do integers below 0.
struct Relu {
  static constexpr Lanes lanes = Lanes::all;
  static constexpr int64_t grain = cheap;
  WRY_INLINE explicit Relu(const wry_call *) {}
  WRY_INLINE f32 operator()(f32 x) const { return x > 0 ? x : f32{}; }
  WRY_INLINE f64 operator()(f64 x) const { return x > 0 ? x : f64{}; }
  template <typename T>
  WRY_INLINE T operator()(T x) const { return x > T(0) ? x : T(0); }
};

WRY_COARSE_ACTIVATION(Gelu, moderate, return x * Way::normal_probability(x);)
// (1 + tanh(u)) / 2 is the logistic function of 2u.
template <typename Way, typename V>
WRY_INLINE V tanh_gelu_weight(V x) {
  return Way::logistic(x * fma(x * x, of<V>(2 * 0.7978845608028654 * 0.044715), of<V>(2 * 0.7978845608028654)));
}
WRY_COARSE_ACTIVATION(TanhGelu, moderate, return x * tanh_gelu_weight<Way>(x);)

// With attributes a (the first) and b (the second).
#define WRY_ACTIVATION_OF(Name, cost, count, ...)                                              \
  struct Name {                                                                                \
    static constexpr Lanes lanes = Lanes::all;                                                 \
    static constexpr int64_t grain = cost;                                                     \
    double first, second;                                                                      \
    WRY_INLINE explicit Name(const wry_call *call)                                             \
        : first(attr_float(call, 0)), second(count > 1 ? attr_float(call, count - 1) : 0.0) {} \
    template <typename V>                                                                      \
    WRY_INLINE V operator()(V x) const {                                                       \
      const V a = of<V>(first);                                                                \
      const V b = of<V>(second);                                                               \
      (void)b;                                                                                 \
      __VA_ARGS__                                                                              \
    }                                                                                          \
  };

WRY_ACTIVATION_OF(LeakyRelu, cheap, 1, return x > 0 ? x : x * a;)
WRY_ACTIVATION_OF(Elu, moderate, 1, return x > 0 ? x : a * exponential_minus_1(x);)
WRY_ACTIVATION_OF(Selu, moderate, 2, return a * (x > 0 ? x : b * exponential_minus_1(x));)
WRY_ACTIVATION_OF(Celu, moderate, 1, return x > 0 ? x : a * exponential_minus_1(x / a);)
WRY_ACTIVATION_OF(Softplus, moderate, 2,
                  const V scaled = x * a;
                  const V smooth = (max(V{}, scaled) + logarithm_of_1_plus(exponential(-abs(scaled)))) / a;
                  return scaled > b ? x : smooth;)
WRY_ACTIVATION_OF(Hardtanh, cheap, 2, return clamp(x, a, b);)
WRY_ACTIVATION_OF(Hardsigmoid, cheap, 2, return clamp(fma(x, a, b), V{}, of<V>(1));)
WRY_ACTIVATION_OF(Hardshrink, cheap, 1, return (x >= -a) & (x <= a) ? V{} : x;)
WRY_ACTIVATION_OF(Softshrink, cheap, 1, return x > a ? x - a : (x < -a ? x + a : (x == x ? V{} : x));)
WRY_ACTIVATION_OF(ThresholdedRelu, cheap, 1, return x <= a ? V{} : x;)
WRY_ACTIVATION_OF(Stanh, moderate, 2, return b * hyperbolic_tangent(a * x);)

struct Prelu {
  static constexpr Lanes lanes = Lanes::all;
  template <typename V>
  WRY_INLINE V operator()(V x, V weight) const { return x > 0 ? x : x * weight; }
};

// ---- gradients ----------------------------------------------------------------------------------

struct ReluVjp {
  static constexpr Lanes lanes = Lanes::all;
  static constexpr int64_t grain = cheap;
  WRY_INLINE f32 operator()(f32 ct, f32 out) const { return out > 0 ? ct : f32{}; }
  WRY_INLINE f64 operator()(f64 ct, f64 out) const { return out > 0 ? ct : f64{}; }
  template <typename T>
  WRY_INLINE T operator()(T ct, T out) const { return out > T(0) ? ct : T(0); }
};
struct SigmoidVjp {
  static constexpr Lanes lanes = Lanes::all;
  static constexpr int64_t grain = cheap;
  template <typename V>
  WRY_INLINE V operator()(V ct, V out) const { return ct * out * (1 - out); }
};
struct TanhVjp {
  static constexpr Lanes lanes = Lanes::all;
  static constexpr int64_t grain = cheap;
  template <typename V>
  WRY_INLINE V operator()(V ct, V out) const { return ct * (1 - out * out); }
};
// Of a cotangent and the input.
#define WRY_COARSE_VJP(Name, ...)                                               \
  struct Name {                                                                 \
    static constexpr Lanes lanes = Lanes::all;                                  \
    static constexpr int64_t grain = moderate;                                  \
    template <typename Way, typename V>                                         \
    WRY_INLINE V value(V ct, V x) const { __VA_ARGS__ }                         \
    template <typename V>                                                       \
    WRY_INLINE V operator()(V ct, V x) const { return value<Fine>(ct, x); }     \
    WRY_INLINE f32 coarse(f32 ct, f32 x) const { return value<Coarse>(ct, x); } \
    /* their zeros come of sums that cancel: rough ones would be wrong there */ \
    WRY_INLINE f32 rough(f32 ct, f32 x) const { return value<Coarse>(ct, x); }  \
  };
WRY_COARSE_VJP(SiluVjp,
               const V s = Way::logistic(x);
               return ct * s * fma(x, 1 - s, of<V>(1));)
WRY_COARSE_VJP(GeluVjp,
               const V density = Way::exponential(x * x * of<V>(-0.5)) * of<V>(0.3989422804014327);
               return ct * fma(x, density, Way::normal_probability(x));)
WRY_COARSE_VJP(TanhGeluVjp,
               const V s = tanh_gelu_weight<Way>(x);
               // the derivative of twice the argument of tanh
               const V slope = fma(x * x, of<V>(6 * 0.7978845608028654 * 0.044715), of<V>(2 * 0.7978845608028654));
               return ct * s * fma(x * slope, 1 - s, of<V>(1));)

struct PiecewiseVjp {
  static constexpr Lanes lanes = Lanes::all;
  static constexpr int64_t grain = cheap;
  double low, high, below, tilt, inside, above;
  WRY_INLINE explicit PiecewiseVjp(const wry_call *call)
      : low(attr_float(call, 0)),
        high(attr_float(call, 1)),
        below(attr_float(call, 2)),
        tilt(attr_float(call, 3)),
        inside(attr_float(call, 4)),
        above(attr_float(call, 5)) {}
  template <typename V>
  WRY_INLINE V operator()(V ct, V x) const {
    const V slope = x < of<V>(high) ? (x > of<V>(low) ? (tilt == 0 ? of<V>(inside) : fma(x, of<V>(tilt), of<V>(inside))) : of<V>(below)) : of<V>(above);
    return slope == 0 ? V{} : ct * slope;
  }
};

// ---- table --------------------------------------------------------------------------------------

template <typename F>
struct Kernel {
  template <typename T>
  static int unary(const wry_call *call) { return pointwise1<T, T>(call, F(call), F::grain); }
  template <typename T>
  static int gradient(const wry_call *call) { return pointwise2<T, T, T>(call, F(), F::grain); }
  template <typename T>
  static int gradient_of(const wry_call *call) { return pointwise2<T, T, T>(call, F(call), F::grain); }
};

template <typename T>
int gelu(const wry_call *call) {
  return attr_bool(call, 0) ? Kernel<TanhGelu>::unary<T>(call) : Kernel<Gelu>::unary<T>(call);
}
template <typename T>
int gelu_vjp(const wry_call *call) {
  return attr_bool(call, 0) ? Kernel<TanhGeluVjp>::gradient<T>(call) : Kernel<GeluVjp>::gradient<T>(call);
}
template <typename T>
int prelu(const wry_call *call) { return pointwise2<T, T, T>(call, Prelu()); }

#define ACTIVATION(op, F) WRY_FLOAT_ROWS(op, in_place, Kernel<F>::unary)

const wry_kernel_entry table[] = {
    WRY_REAL_ROWS("relu", in_place, Kernel<Relu>::unary),
    ACTIVATION("relu6", Relu6),
    ACTIVATION("leaky_relu", LeakyRelu),
    WRY_FLOAT_ROWS("prelu", in_place, prelu),
    ACTIVATION("elu", Elu),
    ACTIVATION("selu", Selu),
    ACTIVATION("celu", Celu),
    WRY_FLOAT_ROWS("gelu", in_place, gelu),
    ACTIVATION("sigmoid", Sigmoid),
    ACTIVATION("log_sigmoid", LogSigmoid),
    ACTIVATION("silu", Silu),
    ACTIVATION("mish", Mish),
    ACTIVATION("softplus", Softplus),
    ACTIVATION("softsign", Softsign),
    ACTIVATION("hardtanh", Hardtanh),
    ACTIVATION("hardsigmoid", Hardsigmoid),
    ACTIVATION("hardswish", Hardswish),
    ACTIVATION("hardshrink", Hardshrink),
    ACTIVATION("softshrink", Softshrink),
    ACTIVATION("tanhshrink", Tanhshrink),
    ACTIVATION("thresholded_relu", ThresholdedRelu),
    ACTIVATION("stanh", Stanh),
    WRY_REAL_ROWS("relu_vjp", in_place, Kernel<ReluVjp>::gradient),
    WRY_FLOAT_ROWS("sigmoid_vjp", in_place, Kernel<SigmoidVjp>::gradient),
    WRY_FLOAT_ROWS("tanh_vjp", in_place, Kernel<TanhVjp>::gradient),
    WRY_FLOAT_ROWS("gelu_vjp", in_place, gelu_vjp),
    WRY_FLOAT_ROWS("silu_vjp", in_place, Kernel<SiluVjp>::gradient),
    WRY_FLOAT_ROWS("piecewise_vjp", in_place, Kernel<PiecewiseVjp>::gradient_of),
};

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(activation, WRY_NAMESPACE::table)
