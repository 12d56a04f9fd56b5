// Parameter updates: one pass over memory each (lamb: two). And what clipping and loss scaling ask of
// the gradients of a whole model: one call for all of them.
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

struct Yes {
  static constexpr bool value = true;
};
struct No {
  static constexpr bool value = false;
};

// T of `const T &`.
template <typename T>
struct plain {
  using type = T;
};
template <typename T>
struct plain<const T &> {
  using type = T;
};
template <typename T>
using plain_t = typename plain<T>::type;

double number(const wry_tensor *t) {
  double value = 0;
  dispatch<float16, bfloat16, float, double>(t->dtype, [&](auto tag) {
    value = double(arithmetic_t<decltype(tag)>(*data<decltype(tag)>(t)));
  });
  return value;
}

// By how much the gradient is multiplied: an optional input.
double scale_of(const wry_call *call, int32_t i) {
  return i < call->n_inputs && input(call, i) ? number(input(call, i)) : 1;
}

void set_number(const wry_tensor *t, double value) {
  dispatch<float16, bfloat16, float, double>(t->dtype, [&](auto tag) {
    using T = decltype(tag);
    *data<T>(t) = T(arithmetic_t<T>(value));
  });
}

// f captures by value and is copied into each range: what it captures can then stay in registers. By
// reference a store to `out` might change it, as far as the compiler knows, and every vector would read
// pointers and factors anew (adam took 38 cycles for 16 floats instead of 15).
template <typename T, typename F>
WRY_INLINE void each_element(const wry_call *call, int64_t n, const F &f) {
  parallel_for(call, n, grain, [&](int64_t begin, int64_t end) {
    const F local = f;
    over<T>(end - begin, [=](int64_t i, auto part) { local(begin + i, part); });
  });
}

// Estimates of the root and the inverse with a step of Newton's method each are no faster than this (Zen 4).
template <typename V>
WRY_INLINE V over_root(V x, V v, V epsilon) { return x / (sqrt(v) + epsilon); }

template <typename T>
int sgd(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *param = data<T>(input(call, 0)), *grad = data<T>(input(call, 1));
  T *out = data<T>(output(call, 0));
  const A lr = A(number(input(call, 2))), decay = A(attr_float(call, 0));
  const A scale = A(scale_of(call, 3));
  each_element<T>(call, input(call, 0)->size, [=](int64_t i, auto part) {
    const vec<T> p = get(param + i, part);
    put(out + i, p - (get(grad + i, part) * scale + p * decay) * lr, part);
  });
  return WRY_OK;
}

// momentum(param, velocity, grad, lr, scale?) -> param_out, velocity_out
template <typename T>
int momentum(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *param = data<T>(input(call, 0)), *velocity = data<T>(input(call, 1)), *grad = data<T>(input(call, 2));
  T *out = data<T>(output(call, 0)), *velocity_out = data<T>(output(call, 1));
  const A lr = A(number(input(call, 3))), mu = A(attr_float(call, 0)), decay = A(attr_float(call, 2));
  const bool nesterov = attr_bool(call, 1);
  const A scale = A(scale_of(call, 4));
  each_element<T>(call, input(call, 0)->size, [=](int64_t i, auto part) {
    const vec<T> p = get(param + i, part), g = get(grad + i, part) * scale + p * decay;
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
  // 1 - beta from the rounded beta, as the powers are made of it: in the first steps the errors cancel.
  const A b1 = A(beta1), b2 = A(beta2), c1 = A(1) - b1, c2 = A(1) - b2;
  const A scale = A(scale_of(call, 7));
  each_element<T>(call, input(call, 0)->size, [=](int64_t i, auto part) {
    vec<T> p = get(param + i, part), g = get(grad + i, part) * scale;
    if constexpr (Decoupled) p = p * shrink;
    else g = g + p * l2;
    const vec<T> m = get(first + i, part) * b1 + g * c1;
    const vec<T> v = get(second + i, part) * b2 + g * g * c2;
    put(out + i, p - over_root(m * rate, v, splat<vec<T>>(epsilon)), part);
    put(first_out + i, m, part);
    put(second_out + i, v, part);
  });
  set_number(output(call, 3), power1 * b1);
  set_number(output(call, 4), power2 * b2);
  return WRY_OK;
}

template <typename T>
int adam(const wry_call *call) { return adam_step<T, false>(call); }
template <typename T>
int adamw(const wry_call *call) { return adam_step<T, true>(call); }

// adagrad(param, moment, grad, lr, scale?) -> param_out, moment_out
template <typename T>
int adagrad(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *param = data<T>(input(call, 0)), *moment = data<T>(input(call, 1)), *grad = data<T>(input(call, 2));
  T *out = data<T>(output(call, 0)), *moment_out = data<T>(output(call, 1));
  const A lr = A(number(input(call, 3))), epsilon = A(attr_float(call, 0)), decay = A(attr_float(call, 1));
  const A scale = A(scale_of(call, 4));
  each_element<T>(call, input(call, 0)->size, [=](int64_t i, auto part) {
    const vec<T> p = get(param + i, part), g = get(grad + i, part) * scale + p * decay;
    const vec<T> total = get(moment + i, part) + g * g;
    put(out + i, p - over_root(g * lr, total, splat<vec<T>>(epsilon)), part);
    put(moment_out + i, total, part);
  });
  return WRY_OK;
}

// adadelta(param, avg_squared_grad, avg_squared_update, grad, lr, scale?) -> param_out, avg_squared_grad_out,
//     avg_squared_update_out
template <typename T>
int adadelta(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *param = data<T>(input(call, 0)), *grads = data<T>(input(call, 1)), *updates = data<T>(input(call, 2));
  const T *grad = data<T>(input(call, 3));
  T *out = data<T>(output(call, 0)), *grads_out = data<T>(output(call, 1)), *updates_out = data<T>(output(call, 2));
  const A lr = A(number(input(call, 4))), rho = A(attr_float(call, 0)), rest = A(1 - attr_float(call, 0));
  const A epsilon = A(attr_float(call, 1)), decay = A(attr_float(call, 2));
  const A scale = A(scale_of(call, 5));
  each_element<T>(call, input(call, 0)->size, [=](int64_t i, auto part) {
    const vec<T> p = get(param + i, part), g = get(grad + i, part) * scale + p * decay, u = get(updates + i, part);
    const vec<T> s = get(grads + i, part) * rho + g * g * rest;
    const vec<T> step = sqrt((u + epsilon) / (s + epsilon)) * g;
    put(out + i, p - step * lr, part);
    put(grads_out + i, s, part);
    put(updates_out + i, u * rho + step * step * rest, part);
  });
  return WRY_OK;
}

// adamax(param, moment, inf_norm, beta1_power, grad, lr, scale?) -> param_out, moment_out, inf_norm_out, beta1_power_out
template <typename T>
int adamax(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *param = data<T>(input(call, 0)), *moment = data<T>(input(call, 1)), *norm = data<T>(input(call, 2));
  const T *grad = data<T>(input(call, 4));
  T *out = data<T>(output(call, 0)), *moment_out = data<T>(output(call, 1)), *norm_out = data<T>(output(call, 2));
  const double power = number(input(call, 3)), lr = number(input(call, 5)), beta1 = attr_float(call, 0);
  const A rate = A(lr / (1 - power)), b1 = A(beta1), c1 = A(1) - b1, b2 = A(attr_float(call, 1));
  const A epsilon = A(attr_float(call, 2)), decay = A(attr_float(call, 3));
  const A scale = A(scale_of(call, 6));
  each_element<T>(call, input(call, 0)->size, [=](int64_t i, auto part) {
    const vec<T> p = get(param + i, part), g = get(grad + i, part) * scale + p * decay;
    const vec<T> m = get(moment + i, part) * b1 + g * c1;
    const vec<T> size = max(g, -g), least = get(norm + i, part) * b2 + epsilon;
    const vec<T> n = select<vec<T>>(size == size, max(least, size), size);  // a NaN stays
    put(out + i, p - m * rate / n, part);
    put(moment_out + i, m, part);
    put(norm_out + i, n, part);
  });
  set_number(output(call, 3), power * b1);
  return WRY_OK;
}

// rmsprop(param, momentum, mean_square, mean_grad, grad, lr, scale?) -> param_out, momentum_out, mean_square_out, mean_grad_out
template <typename T>
int rmsprop(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *param = data<T>(input(call, 0)), *velocity = data<T>(input(call, 1)), *square = data<T>(input(call, 2));
  const T *mean = data<T>(input(call, 3)), *grad = data<T>(input(call, 4));
  T *out = data<T>(output(call, 0)), *velocity_out = data<T>(output(call, 1)), *square_out = data<T>(output(call, 2));
  T *mean_out = data<T>(output(call, 3));
  const A lr = A(number(input(call, 5))), rho = A(attr_float(call, 0)), rest = A(1 - attr_float(call, 0));
  const A epsilon = A(attr_float(call, 1)), mu = A(attr_float(call, 2)), decay = A(attr_float(call, 4));
  const A scale = A(scale_of(call, 6));
  const int64_t n = input(call, 0)->size;
  const auto update = [&](auto centered) {
    each_element<T>(call, n, [=](int64_t i, auto part) {
      const vec<T> p = get(param + i, part), g = get(grad + i, part) * scale + p * decay;
      const vec<T> s = get(square + i, part) * rho + g * g * rest;
      vec<T> spread = s + epsilon;
      if constexpr (decltype(centered)::value) {
        const vec<T> m = get(mean + i, part) * rho + g * rest;
        spread = spread - m * m;
        put(mean_out + i, m, part);
      }
      const vec<T> v = get(velocity + i, part) * mu + over_root(g * lr, spread, vec<T>{});
      put(out + i, p - v, part);
      put(velocity_out + i, v, part);
      put(square_out + i, s, part);
    });
  };
  if (attr_bool(call, 3)) {
    update(Yes());
  } else {
    update(No());
    if (mean_out != mean && n > 0) memcpy(mean_out, mean, size_t(n) * sizeof(T));
  }
  return WRY_OK;
}

// The step's length is known only when every element has been seen: a first pass renews the moments
// and sums squares, block by block so that the sums do not depend on the threads; a second computes the
// step again from the moments.
// lamb(param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale?) -> param_out, moment1_out, moment2_out,
//     beta1_power_out, beta2_power_out
template <typename T>
int lamb(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  constexpr int64_t block = 8192;
  const T *param = data<T>(input(call, 0)), *grad = data<T>(input(call, 5));
  const T *first = data<T>(input(call, 1)), *second = data<T>(input(call, 2));
  T *out = data<T>(output(call, 0)), *first_out = data<T>(output(call, 1)), *second_out = data<T>(output(call, 2));
  const double power1 = number(input(call, 3)), power2 = number(input(call, 4)), lr = number(input(call, 6));
  const double beta1 = attr_float(call, 0), beta2 = attr_float(call, 1);
  const A b1 = A(beta1), b2 = A(beta2), c1 = A(1) - b1, c2 = A(1) - b2;
  const A correct1 = A(1 / (1 - power1)), correct2 = A(1 / (1 - power2));
  const V epsilon = splat<V>(A(attr_float(call, 2))), decay = splat<V>(A(attr_float(call, 3)));
  const A scale = A(scale_of(call, 7));
  const int64_t n = input(call, 0)->size;
  const auto step_of = [=](V p, V m, V v) { return over_root(m * correct1, v * correct2, epsilon) + p * decay; };

  double *parts = workspace<double>(call, 2 * (n / block + 1));
  if (!parts) return WRY_OUT_OF_MEMORY;
  parallel_for(call, (n + block - 1) / block, 2, [&](int64_t begin, int64_t end) {
    const auto step = step_of;
    for (int64_t b = begin; b < end; ++b) {
      V lengths = V{}, steps = V{};
      over<T>(min_of(block, n - b * block), [=, &lengths, &steps](int64_t k, auto part) {
        const int64_t i = b * block + k;
        const V p = get(param + i, part), g = get(grad + i, part) * scale;
        const V m = get(first + i, part) * b1 + g * c1;
        const V v = get(second + i, part) * b2 + g * g * c2;
        put(first_out + i, m, part);
        put(second_out + i, v, part);
        const V r = step(p, m, v);
        lengths = lengths + keep<V>(p * p, V{}, part);
        steps = steps + keep<V>(r * r, V{}, part);
      });
      parts[2 * b] = double(reduce_lanes<lanes<T>>(lengths, Plus()));
      parts[2 * b + 1] = double(reduce_lanes<lanes<T>>(steps, Plus()));
    }
  });
  double length = 0, of_step = 0;
  for (int64_t b = 0; b * block < n; ++b) {
    length += parts[2 * b];
    of_step += parts[2 * b + 1];
  }
  const bool adapt = attr_bool(call, 4) && length > 0 && of_step > 0;
  const A rate = A(adapt ? lr * ::sqrt(length) / ::sqrt(of_step) : lr);
  each_element<T>(call, n, [=](int64_t i, auto part) {
    const V p = get(param + i, part);
    put(out + i, p - step_of(p, get(first_out + i, part), get(second_out + i, part)) * rate, part);
  });
  set_number(output(call, 3), power1 * b1);
  set_number(output(call, 4), power2 * b2);
  return WRY_OK;
}

// What nadam and radam do with the moments: the step of an element is what `step` makes of its moments and its gradient.
template <typename T, typename F>
void step_by_moments(const wry_call *call, double beta1, double beta2, double weight_decay, const F &step) {
  using A = arithmetic_t<T>;
  const T *param = data<T>(input(call, 0)), *first = data<T>(input(call, 1)), *second = data<T>(input(call, 2)), *grad = data<T>(input(call, 6));
  T *out = data<T>(output(call, 0)), *first_out = data<T>(output(call, 1)), *second_out = data<T>(output(call, 2));
  const A b1 = A(beta1), b2 = A(beta2), c1 = A(1) - b1, c2 = A(1) - b2, decay = A(weight_decay), scale = A(scale_of(call, 8));
  each_element<T>(call, input(call, 0)->size, [=](int64_t i, auto part) {
    const vec<T> p = get(param + i, part), g = get(grad + i, part) * scale + p * decay;
    const vec<T> m = get(first + i, part) * b1 + g * c1;
    const vec<T> v = get(second + i, part) * b2 + g * g * c2;
    put(out + i, p - step(m, v, g), part);
    put(first_out + i, m, part);
    put(second_out + i, v, part);
  });
}

// nadam(param, moment1, moment2, decay_power, beta2_power, mu_product, grad, lr, scale?) -> param_out, moment1_out, moment2_out,
//     decay_power_out, beta2_power_out, mu_product_out
template <typename T>
int nadam(const wry_call *call) {
  using A = arithmetic_t<T>;
  const double beta1 = attr_float(call, 0), beta2 = attr_float(call, 1), slower = attr_float(call, 3), lr = number(input(call, 7));
  const double power = number(input(call, 3)) * 0.96, power2 = number(input(call, 4)) * A(beta2);
  const double mu = beta1 * (1 - 0.5 * ::pow(power, slower)), next = beta1 * (1 - 0.5 * ::pow(0.96 * power, slower));
  const double whole = number(input(call, 5)) * mu, root = ::sqrt(1 - power2);
  const A of_moment = A(lr * root * next / (1 - whole * next)), of_grad = A(lr * root * (1 - mu) / (1 - whole)), epsilon = A(attr_float(call, 2) * root);
  step_by_moments<T>(call, beta1, beta2, attr_float(call, 4), [=](vec<T> m, vec<T> v, vec<T> g) { return over_root(m * of_moment + g * of_grad, v, splat<vec<T>>(epsilon)); });
  set_number(output(call, 3), power);
  set_number(output(call, 4), power2);
  set_number(output(call, 5), whole);
  return WRY_OK;
}

// radam(param, moment1, moment2, beta1_power, beta2_power, rho, grad, lr, scale?) -> param_out, moment1_out, moment2_out,
//     beta1_power_out, beta2_power_out, rho_out
template <typename T>
int radam(const wry_call *call) {
  using A = arithmetic_t<T>;
  const double beta1 = attr_float(call, 0), beta2 = attr_float(call, 1), lr = number(input(call, 7));
  const double power1 = number(input(call, 3)) * A(beta1), power2 = number(input(call, 4)) * A(beta2);
  const double age = (number(input(call, 5)) * (beta2 - power2) + power2) / (1 - power2);
  const double longest = 2 / (1 - beta2) - 1, length = longest - 2 * age;
  // The variance of the second moment is known from the sixth step on, or so; before, it does not scale the step.
  const bool known = length > 5;
  double rate = lr / (1 - power1);
  if (known) rate *= ::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length) * (1 - power2));
  const A of_moment = A(rate), epsilon = A(attr_float(call, 2));
  step_by_moments<T>(call, beta1, beta2, attr_float(call, 3), [=](vec<T> m, vec<T> v, vec<T>) { return known ? over_root(m * of_moment, v, splat<vec<T>>(epsilon)) : m * of_moment; });
  set_number(output(call, 3), power1);
  set_number(output(call, 4), power2);
  set_number(output(call, 5), age);
  return WRY_OK;
}

// rprop(param, prevs, learning_rates, grad, lr, scale?) -> param_out, prevs_out, learning_rates_out
template <typename T>
int rprop(const wry_call *call) {
  using A = arithmetic_t<T>;
  using V = vec<T>;
  const T *param = data<T>(input(call, 0)), *prevs = data<T>(input(call, 1)), *rates = data<T>(input(call, 2)), *grad = data<T>(input(call, 3));
  T *out = data<T>(output(call, 0)), *prevs_out = data<T>(output(call, 1)), *rates_out = data<T>(output(call, 2));
  const V least = splat<V>(A(attr_float(call, 0))), most = splat<V>(A(attr_float(call, 1))), rate = splat<V>(A(number(input(call, 4))));
  const A shrink = A(attr_float(call, 2)), grow = A(attr_float(call, 3)), decay = A(attr_float(call, 4)), scale = A(scale_of(call, 5));
  each_element<T>(call, input(call, 0)->size, [=](int64_t i, auto part) {
    const V p = get(param + i, part), given = get(grad + i, part) * scale + p * decay, product = given * get(prevs + i, part), zero = V{};
    V r = get(rates + i, part);
    r = select<V>(r == zero, rate, r);
    r = select<V>(product > zero, r * grow, select<V>(product < zero, r * shrink, r));
    r = select<V>(r == r, min(max(r, least), most), r);
    const V g = select<V>(product < zero, zero, given);  // where the sign has changed, the step is left out
    const V step = select<V>(g > zero, r, select<V>(g < zero, -r, g * r));
    put(out + i, p - step, part);
    put(prevs_out + i, g, part);
    put(rates_out + i, r, part);
  });
  return WRY_OK;
}

// f(x, n) over cuts of all inputs; what it gives is added up in order.
template <typename F>
int sum_of_cuts(const wry_call *call, double *total, F &&f) {
  constexpr int64_t cut = 65536;
  int64_t most = 1;
  for (int32_t k = 0; k < call->n_inputs; ++k) most = max_of(most, (input(call, k)->size + cut - 1) / cut);
  double *parts = workspace<double>(call, most);
  if (!parts) return WRY_OUT_OF_MEMORY;
  *total = 0;
  for (int32_t k = 0; k < call->n_inputs; ++k) {
    const wry_tensor *x = input(call, k);
    const int64_t cuts = (x->size + cut - 1) / cut;
    dispatch<float16, bfloat16, float, double>(x->dtype, [&](auto tag) {
      using T = decltype(tag);
      parallel_blocks(call, x->size, cut, [&](int64_t b, int64_t begin, int64_t end) {
        double part = 0;
        for (int64_t i = begin; i < end; i += 4096) part += f(data<T>(x) + i, min_of<int64_t>(4096, end - i));
        parts[b] = part;
      });
    });
    for (int64_t b = 0; b < cuts; ++b) *total += parts[b];
  }
  return WRY_OK;
}

int sum_of_squares(const wry_call *call) {
  double total;
  const int status = sum_of_cuts(call, &total, [](const auto *x, int64_t n) {
    using T = plain_t<decltype(*x)>;
    return double(row_reduce<T>(n, arithmetic_t<T>(0), [&](int64_t i, auto part) {
      const vec<T> v = get(x + i, part);
      return v * v; }, Plus()));
  });
  set_number(output(call, 0), total);
  return status;
}

int all_finite(const wry_call *call) {
  double total;
  const int status = sum_of_cuts(call, &total, [](const auto *x, int64_t n) {
    using T = plain_t<decltype(*x)>;
    // Zero times a finite number is zero, times infinity or NaN it is NaN.
    return double(row_reduce<T>(n, arithmetic_t<T>(0), [&](int64_t i, auto part) { return get(x + i, part) * vec<T>{}; }, Plus()));
  });
  *data<bool>(output(call, 0)) = total == 0;
  return status;
}

#define LATER_OPTIMIZER_ROWS WRY_FLOAT_ROWS("nadam", flags, nadam), WRY_FLOAT_ROWS("radam", flags, radam), WRY_FLOAT_ROWS("rprop", flags, rprop),
#include <wherry/kernels/rows/optimizer.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(optimizer, WRY_NAMESPACE::table)
