// Parameter updates, one pass over memory each.
//
// Inputs are contiguous and may be the memory of the outputs that replace them: a thread reads an element before it writes
// it, and no element uses another's. Arithmetic is in float for parameters of 16 bits. The learning rate, the scale of the
// gradients and the powers of beta are tensors of one element of any float dtype on the device; kernels read them there, the
// host never waits for them.
#include "common.h"

namespace wherry {
namespace cuda {
namespace {

struct Number {  // a tensor of one element, or the number 1
  const void *data;
  int32_t dtype;
};
Number number_of(const wry_call *call, int i) {
  const wry_tensor *t = i < call->n_inputs ? input(call, i) : nullptr;
  return t ? Number{t->data, t->dtype} : Number{nullptr, 0};
}
WRY_GPU double value_of(const Number &n) {
  if (!n.data) return 1;
  switch (n.dtype) {
    case WRY_FLOAT16: return load(static_cast<const half *>(n.data));
    case WRY_BFLOAT16: return load(static_cast<const bfloat16 *>(n.data));
    case WRY_FLOAT32: return *static_cast<const float *>(n.data);
    default: return *static_cast<const double *>(n.data);
  }
}
WRY_GPU void set_number(const Number &n, double value) {
  void *to = const_cast<void *>(n.data);
  switch (n.dtype) {
    case WRY_FLOAT16: *static_cast<half *>(to) = __float2half(float(value)); break;
    case WRY_BFLOAT16: *static_cast<bfloat16 *>(to) = __float2bfloat16(float(value)); break;
    case WRY_FLOAT32: *static_cast<float *>(to) = float(value); break;
    default: *static_cast<double *>(to) = value;
  }
}

template <typename T>
__global__ void __launch_bounds__(block_size) sgd_kernel(int64_t n, const T *param, const T *grad, Number lr_, Number scale_, double decay_, T *out) {
  using A = arithmetic_t<T>;
  const A lr = A(value_of(lr_)), scale = A(value_of(scale_)), decay = A(decay_);
  for WRY_EACH (i, n) {
    const A p = load(param + i);
    out[i] = narrow<T>(p - (load(grad + i) * scale + p * decay) * lr);
  }
}
template <typename T>
int sgd(const wry_call *call) {
  const int64_t n = input(call, 0)->size;
  if (n == 0) return WRY_OK;
  const int threads = threads_for(n);
  return check(call, wry_launch(sgd_kernel<T>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, data<T>(input(call, 0)), data<T>(input(call, 1)),
                                number_of(call, 2), number_of(call, 3), attr_float(call, 0), data<T>(output(call, 0))));
}

// momentum(param, velocity, grad, lr, scale?) -> param_out, velocity_out
template <typename T>
__global__ void __launch_bounds__(block_size) momentum_kernel(int64_t n, const T *param, const T *velocity, const T *grad, Number lr_, Number scale_,
                                                              double mu_, double decay_, bool nesterov, T *out, T *velocity_out) {
  using A = arithmetic_t<T>;
  const A lr = A(value_of(lr_)), scale = A(value_of(scale_)), mu = A(mu_), decay = A(decay_);
  for WRY_EACH (i, n) {
    const A p = load(param + i), g = load(grad + i) * scale + p * decay, v = load(velocity + i) * mu + g;
    out[i] = narrow<T>(p - (nesterov ? g + v * mu : v) * lr);
    velocity_out[i] = narrow<T>(v);
  }
}
template <typename T>
int momentum(const wry_call *call) {
  const int64_t n = input(call, 0)->size;
  if (n == 0) return WRY_OK;
  const int threads = threads_for(n);
  return check(call, wry_launch(momentum_kernel<T>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, data<T>(input(call, 0)),
                                data<T>(input(call, 1)), data<T>(input(call, 2)), number_of(call, 3), number_of(call, 4), attr_float(call, 0),
                                attr_float(call, 2), attr_bool(call, 1), data<T>(output(call, 0)), data<T>(output(call, 1))));
}

struct Adam {
  Number power1, power2, lr, scale;
  double beta1, beta2, epsilon, decay;
};
template <typename T, bool Decoupled>
__global__ void __launch_bounds__(block_size) adam_kernel(int64_t n, Adam a, const T *param, const T *first, const T *second, const T *grad, T *out,
                                                          T *first_out, T *second_out) {
  using A = arithmetic_t<T>;
  const double lr = value_of(a.lr), root = sqrt(1 - value_of(a.power2));
  // epsilon joins the corrected root: both corrections become factors of whole tensors' scalars.
  const A rate = A(lr * root / (1 - value_of(a.power1))), epsilon = A(a.epsilon * root), shrink = A(1 - lr * a.decay), l2 = A(a.decay);
  // 1 - beta from the rounded beta, as the powers are made of it: in the first steps the errors cancel.
  const A b1 = A(a.beta1), b2 = A(a.beta2), c1 = A(1) - b1, c2 = A(1) - b2, scale = A(value_of(a.scale));
  for WRY_EACH (i, n) {
    A p = load(param + i), g = load(grad + i) * scale;
    if (Decoupled) p = p * shrink;
    else g = g + p * l2;
    const A m = load(first + i) * b1 + g * c1, v = load(second + i) * b2 + g * g * c2;
    out[i] = narrow<T>(p - m * rate / (sqrt(v) + epsilon));
    first_out[i] = narrow<T>(m);
    second_out[i] = narrow<T>(v);
  }
}
// After the pass that reads the powers: their outputs may be their own memory.
__global__ void next_power(Number power, double factor, Number out) {
  if (threadIdx.x == 0) set_number(out, value_of(power) * factor);
}
Number output_number(const wry_call *call, int i) { return {output(call, i)->data, output(call, i)->dtype}; }

template <typename T, bool Decoupled>
int adam_step(const wry_call *call) {
  using A = arithmetic_t<T>;
  const int64_t n = input(call, 0)->size;
  const Adam a = {number_of(call, 3), number_of(call, 4), number_of(call, 6), number_of(call, 7),
                  attr_float(call, 0), attr_float(call, 1), attr_float(call, 2), attr_float(call, 3)};
  const int threads = threads_for(n);
  if (n)
    WRY_TRY(wry_launch(adam_kernel<T, Decoupled>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, a, data<T>(input(call, 0)),
                       data<T>(input(call, 1)), data<T>(input(call, 2)), data<T>(input(call, 5)), data<T>(output(call, 0)), data<T>(output(call, 1)),
                       data<T>(output(call, 2))));
  WRY_TRY(wry_launch(next_power, dim3(1), dim3(32), 0, stream(call), a.power1, double(A(a.beta1)), output_number(call, 3)));
  return check(call, wry_launch(next_power, dim3(1), dim3(32), 0, stream(call), a.power2, double(A(a.beta2)), output_number(call, 4)));
}
template <typename T>
int adam(const wry_call *call) { return adam_step<T, false>(call); }
template <typename T>
int adamw(const wry_call *call) { return adam_step<T, true>(call); }

// adagrad(param, moment, grad, lr, scale?) -> param_out, moment_out
template <typename T>
__global__ void __launch_bounds__(block_size) adagrad_kernel(int64_t n, const T *param, const T *moment, const T *grad, Number lr_, Number scale_,
                                                             double epsilon_, double decay_, T *out, T *moment_out) {
  using A = arithmetic_t<T>;
  const A lr = A(value_of(lr_)), scale = A(value_of(scale_)), epsilon = A(epsilon_), decay = A(decay_);
  for WRY_EACH (i, n) {
    const A p = load(param + i), g = load(grad + i) * scale + p * decay, total = load(moment + i) + g * g;
    out[i] = narrow<T>(p - g * lr / (sqrt(total) + epsilon));
    moment_out[i] = narrow<T>(total);
  }
}
template <typename T>
int adagrad(const wry_call *call) {
  const int64_t n = input(call, 0)->size;
  if (n == 0) return WRY_OK;
  const int threads = threads_for(n);
  return check(call, wry_launch(adagrad_kernel<T>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, data<T>(input(call, 0)),
                                data<T>(input(call, 1)), data<T>(input(call, 2)), number_of(call, 3), number_of(call, 4), attr_float(call, 0),
                                attr_float(call, 1), data<T>(output(call, 0)), data<T>(output(call, 1))));
}

constexpr uint32_t flags = WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS;

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("sgd", flags, sgd),
    WRY_FLOAT_ROWS("momentum", flags, momentum),
    WRY_FLOAT_ROWS("adam", flags, adam),
    WRY_FLOAT_ROWS("adamw", flags, adamw),
    WRY_FLOAT_ROWS("adagrad", flags, adagrad),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(optimizer, wherry::cuda::table)
