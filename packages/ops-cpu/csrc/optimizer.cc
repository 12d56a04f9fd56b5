// Parameter updates: one pass over memory each.
//
// Inputs are contiguous and may be the memory of the outputs that replace them: every element is
// read before it is written, and no element uses another's. Arithmetic is in float for parameters
// of 16 bits. lr and the beta powers are tensors of one element of any float dtype.
#include "lanemath.h"
#include "parallel.h"
#include "rows.h"

namespace WRY_NAMESPACE {
namespace {

constexpr int64_t grain = 16384;

double number(const wry_tensor *t) {
  double value = 0;
  dispatch<float16, bfloat16, float, double>(t->dtype, [&](auto tag) {
    value = double(arithmetic_t<decltype(tag)>(*data<decltype(tag)>(t)));
  });
  return value;
}

void set_number(const wry_tensor *t, double value) {
  dispatch<float16, bfloat16, float, double>(t->dtype, [&](auto tag) {
    using T = decltype(tag);
    *data<T>(t) = T(arithmetic_t<T>(value));
  });
}

template <typename T, typename F>
WRY_INLINE void each_element(const wry_call *call, int64_t n, F &&f) {
  parallel_for(call, n, grain, [&](int64_t begin, int64_t end) {
    over<T>(end - begin, [&](int64_t i, auto part) { f(begin + i, part); });
  });
}

template <typename T>
int sgd(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *param = data<T>(input(call, 0)), *grad = data<T>(input(call, 1));
  T *out = data<T>(output(call, 0));
  const A lr = A(number(input(call, 2))), decay = A(attr_float(call, 0));
  each_element<T>(call, input(call, 0)->size, [&](int64_t i, auto part) {
    const vec<T> p = get(param + i, part);
    put(out + i, p - (get(grad + i, part) + p * decay) * lr, part);
  });
  return WRY_OK;
}

template <typename T>
int momentum(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *param = data<T>(input(call, 0)), *velocity = data<T>(input(call, 1)), *grad = data<T>(input(call, 2));
  T *out = data<T>(output(call, 0)), *velocity_out = data<T>(output(call, 1));
  const A lr = A(number(input(call, 3))), mu = A(attr_float(call, 0)), decay = A(attr_float(call, 2));
  const bool nesterov = attr_bool(call, 1);
  each_element<T>(call, input(call, 0)->size, [&](int64_t i, auto part) {
    const vec<T> p = get(param + i, part), g = get(grad + i, part) + p * decay;
    const vec<T> v = get(velocity + i, part) * mu + g;
    put(out + i, p - (nesterov ? g + v * mu : v) * lr, part);
    put(velocity_out + i, v, part);
  });
  return WRY_OK;
}

template <typename T, bool Decoupled>
int adam_step(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *param = data<T>(input(call, 0)), *grad = data<T>(input(call, 5));
  const T *first = data<T>(input(call, 1)), *second = data<T>(input(call, 2));
  T *out = data<T>(output(call, 0)), *first_out = data<T>(output(call, 1)), *second_out = data<T>(output(call, 2));
  const double power1 = number(input(call, 3)), power2 = number(input(call, 4)), lr = number(input(call, 6));
  const double beta1 = attr_float(call, 0), beta2 = attr_float(call, 1), decay = attr_float(call, 3);
  // epsilon joins the corrected root: both corrections become factors of whole tensors' scalars.
  const double root = ::sqrt(1 - power2);
  const A rate = A(lr * root / (1 - power1)), epsilon = A(attr_float(call, 2) * root);
  const A shrink = A(1 - lr * decay), l2 = A(decay);
  const A b1 = A(beta1), b2 = A(beta2), c1 = A(1 - beta1), c2 = A(1 - beta2);
  each_element<T>(call, input(call, 0)->size, [&](int64_t i, auto part) {
    vec<T> p = get(param + i, part), g = get(grad + i, part);
    if constexpr (Decoupled) p = p * shrink;
    else g = g + p * l2;
    const vec<T> m = get(first + i, part) * b1 + g * c1;
    const vec<T> v = get(second + i, part) * b2 + g * g * c2;
    put(out + i, p - m * rate / (sqrt(v) + epsilon), part);
    put(first_out + i, m, part);
    put(second_out + i, v, part);
  });
  set_number(output(call, 3), power1 * beta1);
  set_number(output(call, 4), power2 * beta2);
  return WRY_OK;
}

template <typename T> int adam(const wry_call *call) { return adam_step<T, false>(call); }
template <typename T> int adamw(const wry_call *call) { return adam_step<T, true>(call); }

constexpr uint32_t flags = WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS;
const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("sgd", flags, sgd),
    WRY_FLOAT_ROWS("momentum", flags, momentum),
    WRY_FLOAT_ROWS("adam", flags, adam),
    WRY_FLOAT_ROWS("adamw", flags, adamw),
};

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(optimizer, WRY_NAMESPACE::table)
