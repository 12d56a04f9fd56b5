// Parameter updates, one pass over memory each (lamb: two). And what clipping and loss scaling ask of the gradients of a whole model.
//
// Inputs are contiguous and may be the memory of the outputs that replace them: a thread reads an element before it writes
// it, and no element uses another's. Arithmetic is in float for parameters of 16 bits. The learning rate, the scale of the
// gradients and the powers of beta are tensors of one element of any float dtype on the device; kernels read them there, the
// host never waits for them.
#include "reduce.h"

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

// adadelta(param, avg_squared_grad, avg_squared_update, grad, lr, scale?) -> param_out, avg_squared_grad_out, avg_squared_update_out
template <typename T>
__global__ void __launch_bounds__(block_size) adadelta_kernel(int64_t n, const T *param, const T *grads, const T *updates, const T *grad, Number lr_,
                                                              Number scale_, double rho_, double epsilon_, double decay_, T *out, T *grads_out, T *updates_out) {
  using A = arithmetic_t<T>;
  const A lr = A(value_of(lr_)), scale = A(value_of(scale_)), rho = A(rho_), rest = A(1 - rho_), epsilon = A(epsilon_), decay = A(decay_);
  for WRY_EACH (i, n) {
    const A p = load(param + i), g = load(grad + i) * scale + p * decay, u = load(updates + i), s = load(grads + i) * rho + g * g * rest;
    const A step = sqrt((u + epsilon) / (s + epsilon)) * g;
    out[i] = narrow<T>(p - step * lr);
    grads_out[i] = narrow<T>(s);
    updates_out[i] = narrow<T>(u * rho + step * step * rest);
  }
}
template <typename T>
int adadelta(const wry_call *call) {
  const int64_t n = input(call, 0)->size;
  if (n == 0) return WRY_OK;
  const int threads = threads_for(n);
  return check(call, wry_launch(adadelta_kernel<T>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, data<T>(input(call, 0)),
                                data<T>(input(call, 1)), data<T>(input(call, 2)), data<T>(input(call, 3)), number_of(call, 4), number_of(call, 5),
                                attr_float(call, 0), attr_float(call, 1), attr_float(call, 2), data<T>(output(call, 0)), data<T>(output(call, 1)),
                                data<T>(output(call, 2))));
}

// adamax(param, moment, inf_norm, beta1_power, grad, lr, scale?) -> param_out, moment_out, inf_norm_out, beta1_power_out
template <typename T>
__global__ void __launch_bounds__(block_size) adamax_kernel(int64_t n, Adam a, const T *param, const T *moment, const T *norm, const T *grad, T *out,
                                                            T *moment_out, T *norm_out) {
  using A = arithmetic_t<T>;
  const A rate = A(value_of(a.lr) / (1 - value_of(a.power1))), b1 = A(a.beta1), c1 = A(1) - b1, b2 = A(a.beta2);
  const A epsilon = A(a.epsilon), decay = A(a.decay), scale = A(value_of(a.scale));
  for WRY_EACH (i, n) {
    const A p = load(param + i), g = load(grad + i) * scale + p * decay, m = load(moment + i) * b1 + g * c1;
    const A size = g < A(0) ? -g : g, least = load(norm + i) * b2 + epsilon, largest = least > size ? least : size;
    out[i] = narrow<T>(p - m * rate / (size == size ? largest : size));  // a NaN stays
    moment_out[i] = narrow<T>(m);
    norm_out[i] = narrow<T>(size == size ? largest : size);
  }
}
template <typename T>
int adamax(const wry_call *call) {
  using A = arithmetic_t<T>;
  const int64_t n = input(call, 0)->size;
  const Adam a = {number_of(call, 3), {nullptr, 0}, number_of(call, 5), number_of(call, 6),
                  attr_float(call, 0), attr_float(call, 1), attr_float(call, 2), attr_float(call, 3)};
  const int threads = threads_for(n);
  if (n)
    WRY_TRY(wry_launch(adamax_kernel<T>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, a, data<T>(input(call, 0)), data<T>(input(call, 1)),
                       data<T>(input(call, 2)), data<T>(input(call, 4)), data<T>(output(call, 0)), data<T>(output(call, 1)), data<T>(output(call, 2))));
  return check(call, wry_launch(next_power, dim3(1), dim3(32), 0, stream(call), a.power1, double(A(a.beta1)), output_number(call, 3)));
}

// rmsprop(param, momentum, mean_square, mean_grad, grad, lr, scale?) -> param_out, momentum_out, mean_square_out, mean_grad_out
struct RmsProp {
  Number lr, scale;
  double rho, epsilon, mu, decay;
};
template <typename T, bool Centered>
__global__ void __launch_bounds__(block_size) rmsprop_kernel(int64_t n, RmsProp r, const T *param, const T *velocity, const T *square, const T *mean,
                                                             const T *grad, T *out, T *velocity_out, T *square_out, T *mean_out) {
  using A = arithmetic_t<T>;
  const A lr = A(value_of(r.lr)), scale = A(value_of(r.scale)), rho = A(r.rho), rest = A(1 - r.rho);
  const A epsilon = A(r.epsilon), mu = A(r.mu), decay = A(r.decay);
  for WRY_EACH (i, n) {
    const A p = load(param + i), g = load(grad + i) * scale + p * decay, s = load(square + i) * rho + g * g * rest;
    A spread = s + epsilon, m = load(mean + i);
    if (Centered) {
      m = m * rho + g * rest;
      spread = spread - m * m;
    }
    const A v = load(velocity + i) * mu + g * lr / sqrt(spread);
    out[i] = narrow<T>(p - v);
    velocity_out[i] = narrow<T>(v);
    square_out[i] = narrow<T>(s);
    mean_out[i] = narrow<T>(m);
  }
}
template <typename T>
int rmsprop(const wry_call *call) {
  const int64_t n = input(call, 0)->size;
  if (n == 0) return WRY_OK;
  const RmsProp r = {number_of(call, 5), number_of(call, 6), attr_float(call, 0), attr_float(call, 1), attr_float(call, 2), attr_float(call, 4)};
  const int threads = threads_for(n);
  const auto run = [&](auto kernel) {
    return check(call, wry_launch(kernel, blocks_for(n, threads), dim3(threads), 0, stream(call), n, r, data<T>(input(call, 0)), data<T>(input(call, 1)),
                                  data<T>(input(call, 2)), data<T>(input(call, 3)), data<T>(input(call, 4)), data<T>(output(call, 0)),
                                  data<T>(output(call, 1)), data<T>(output(call, 2)), data<T>(output(call, 3))));
  };
  return attr_bool(call, 3) ? run(rmsprop_kernel<T, true>) : run(rmsprop_kernel<T, false>);
}

// ---- what is asked of whole tensors ---------------------------------------------------------------

template <typename W_>
struct Plus {
  using W = W_;
  static WRY_GPU W combine(W a, W b) { return a + b; }
};
constexpr int64_t piece = 16384;  // of a sum: one block
inline int64_t pieces_of(int64_t n) { return (n + piece - 1) / piece; }

// lamb(param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale?) -> param_out, moment1_out, moment2_out, beta1_power_out,
//     beta2_power_out
//
// The step's length is known only when every element has been seen: a first pass renews the moments and sums squares piece by
// piece, one thread adds up the pieces, and a last pass computes the step again from the moments.
template <typename A>
WRY_GPU A lamb_step(A p, A m, A v, A correct1, A correct2, A epsilon, A decay) { return m * correct1 / (sqrt(v * correct2) + epsilon) + p * decay; }
template <typename T>
__global__ void __launch_bounds__(block_size) lamb_moments(int64_t n, Adam a, const T *param, const T *first, const T *second, const T *grad, T *first_out,
                                                           T *second_out, double *parts) {
  using A = arithmetic_t<T>;
  const A b1 = A(a.beta1), b2 = A(a.beta2), c1 = A(1) - b1, c2 = A(1) - b2, scale = A(value_of(a.scale));
  const A correct1 = A(1 / (1 - value_of(a.power1))), correct2 = A(1 / (1 - value_of(a.power2)));
  for (int64_t b = blockIdx.x; b * piece < n; b += gridDim.x) {
    double length = 0, of_step = 0;
    for (int64_t i = b * piece + threadIdx.x; i < (b + 1) * piece && i < n; i += blockDim.x) {
      const A p = load(param + i), g = load(grad + i) * scale, m = load(first + i) * b1 + g * c1, v = load(second + i) * b2 + g * g * c2;
      first_out[i] = narrow<T>(m);
      second_out[i] = narrow<T>(v);
      const A r = lamb_step(p, m, v, correct1, correct2, A(a.epsilon), A(a.decay));
      length += double(p * p);
      of_step += double(r * r);
    }
    length = block_total<Plus<double>>(length), of_step = block_total<Plus<double>>(of_step);
    if (threadIdx.x == 0) parts[2 * b] = length, parts[2 * b + 1] = of_step;
  }
}
__global__ void lamb_rate(int64_t pieces, bool adapts, Number lr_, const double *parts, double *rate) {
  if (threadIdx.x) return;
  const double lr = value_of(lr_);
  double length = 0, of_step = 0;
  for (int64_t b = 0; b < pieces; ++b) length += parts[2 * b], of_step += parts[2 * b + 1];
  *rate = adapts && length > 0 && of_step > 0 ? lr * sqrt(length) / sqrt(of_step) : lr;
}
template <typename T>
__global__ void __launch_bounds__(block_size) lamb_update(int64_t n, Adam a, const double *rate_, const T *param, const T *first, const T *second, T *out) {
  using A = arithmetic_t<T>;
  const A correct1 = A(1 / (1 - value_of(a.power1))), correct2 = A(1 / (1 - value_of(a.power2))), rate = A(*rate_);
  for WRY_EACH (i, n) {
    const A p = load(param + i);
    out[i] = narrow<T>(p - lamb_step(p, load(first + i), load(second + i), correct1, correct2, A(a.epsilon), A(a.decay)) * rate);
  }
}
template <typename T>
int lamb(const wry_call *call) {
  using A = arithmetic_t<T>;
  const int64_t n = input(call, 0)->size, pieces = pieces_of(n);
  const Adam a = {number_of(call, 3), number_of(call, 4), number_of(call, 6), number_of(call, 7),
                  attr_float(call, 0), attr_float(call, 1), attr_float(call, 2), attr_float(call, 3)};
  if (n) {
    double *parts = workspace<double>(call, 2 * pieces + 1), *rate = parts + 2 * pieces;
    if (!parts) return fail_memory(call, "lamb", (2 * pieces + 1) * 8);
    const T *param = data<T>(input(call, 0));
    T *first = data<T>(output(call, 1)), *second = data<T>(output(call, 2));
    const int threads = threads_for(n);
    WRY_TRY(wry_launch(lamb_moments<T>, dim3(unsigned(pieces < 65536 ? pieces : 65536)), dim3(threads), 0, stream(call), n, a, param,
                       data<T>(input(call, 1)), data<T>(input(call, 2)), data<T>(input(call, 5)), first, second, parts));
    WRY_TRY(wry_launch(lamb_rate, dim3(1), dim3(32), 0, stream(call), pieces, attr_bool(call, 4), a.lr, parts, rate));
    WRY_TRY(wry_launch(lamb_update<T>, blocks_for(n, threads), dim3(threads), 0, stream(call), n, a, rate, param, first, second, data<T>(output(call, 0))));
  }
  WRY_TRY(wry_launch(next_power, dim3(1), dim3(32), 0, stream(call), a.power1, double(A(a.beta1)), output_number(call, 3)));
  return check(call, wry_launch(next_power, dim3(1), dim3(32), 0, stream(call), a.power2, double(A(a.beta2)), output_number(call, 4)));
}

// The gradients of a whole model, `group_size` tensors to a launch: block b finds its tensor among their first pieces.
constexpr int group_size = 96;  // what a launch takes of parameters is 4 KiB
struct Group {
  int32_t count;
  const void *data[group_size];
  int64_t size[group_size];
  int32_t dtype[group_size], first[group_size + 1];
};
// Of each piece: the sum of squares, or of 0 * x, which is 0 as long as all are finite.
template <typename T, bool Squares>
WRY_GPU double sum_of_piece(const T *x, int64_t begin, int64_t end) {
  using A = arithmetic_t<T>;
  double sum = 0;
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const A value = load(x + i);
    sum += double(value * (Squares ? value : A(0)));
  }
  return sum;
}
template <bool Squares>
__global__ void __launch_bounds__(block_size) sum_pieces(Group g, double *parts) {
  int low = 0, high = g.count - 1;
  while (low < high) {  // the last tensor whose first piece is not after this one
    const int middle = (low + high + 1) / 2;
    if (g.first[middle] <= int(blockIdx.x)) low = middle;
    else high = middle - 1;
  }
  const int64_t begin = (int(blockIdx.x) - g.first[low]) * piece, end = begin + piece < g.size[low] ? begin + piece : g.size[low];
  double sum;
  switch (g.dtype[low]) {
    case WRY_FLOAT16: sum = sum_of_piece<half, Squares>(static_cast<const half *>(g.data[low]), begin, end); break;
    case WRY_BFLOAT16: sum = sum_of_piece<bfloat16, Squares>(static_cast<const bfloat16 *>(g.data[low]), begin, end); break;
    case WRY_FLOAT32: sum = sum_of_piece<float, Squares>(static_cast<const float *>(g.data[low]), begin, end); break;
    default: sum = sum_of_piece<double, Squares>(static_cast<const double *>(g.data[low]), begin, end);
  }
  sum = block_total<Plus<double>>(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
template <bool Squares>
__global__ void __launch_bounds__(block_size) sum_of_pieces(int64_t n, const double *parts, Number out, bool *finite) {
  double sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += parts[i];
  sum = block_total<Plus<double>>(sum);
  if (threadIdx.x) return;
  if (Squares) set_number(out, sum);
  else *finite = sum == 0;
}
template <bool Squares>
int sum_of_all(const wry_call *call, const char *op) {
  int64_t pieces = 0, done = 0;
  for (int k = 0; k < call->n_inputs; ++k) pieces += pieces_of(input(call, k)->size);
  double *parts = workspace<double>(call, pieces + 1);
  if (!parts) return fail_memory(call, op, pieces * 8);
  for (int k = 0; k < call->n_inputs;) {
    Group g = {};
    for (; k < call->n_inputs && g.count < group_size; ++k) {
      const wry_tensor *x = input(call, k);
      if (x->size == 0) continue;
      g.data[g.count] = x->data, g.size[g.count] = x->size, g.dtype[g.count] = x->dtype;
      g.first[g.count + 1] = g.first[g.count] + int32_t(pieces_of(x->size));
      ++g.count;
    }
    if (g.count == 0) continue;
    WRY_TRY(wry_launch(sum_pieces<Squares>, dim3(unsigned(g.first[g.count])), dim3(threads_for(g.count == 1 ? g.size[0] : piece)), 0, stream(call), g,
                       parts + done));
    done += g.first[g.count];
  }
  bool *finite = Squares ? nullptr : data<bool>(output(call, 0));
  return check(call, wry_launch(sum_of_pieces<Squares>, dim3(1), dim3(threads_for(pieces)), 0, stream(call), pieces, parts, output_number(call, 0), finite));
}
int sum_of_squares(const wry_call *call) { return sum_of_all<true>(call, "sum_of_squares"); }
int all_finite(const wry_call *call) { return sum_of_all<false>(call, "all_finite"); }

constexpr uint32_t flags = WRY_WANTS_CONTIGUOUS | WRY_MAY_ALIAS;

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("sgd", flags, sgd),
    WRY_FLOAT_ROWS("momentum", flags, momentum),
    WRY_FLOAT_ROWS("adam", flags, adam),
    WRY_FLOAT_ROWS("adamw", flags, adamw),
    WRY_FLOAT_ROWS("adagrad", flags, adagrad),
    WRY_FLOAT_ROWS("adadelta", flags, adadelta),
    WRY_FLOAT_ROWS("adamax", flags, adamax),
    WRY_FLOAT_ROWS("rmsprop", flags, rmsprop),
    WRY_FLOAT_ROWS("lamb", flags, lamb),
    WRY_ANY_ROW("sum_of_squares", WRY_WANTS_CONTIGUOUS, sum_of_squares),
    WRY_ANY_ROW("all_finite", WRY_WANTS_CONTIGUOUS, all_finite),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(optimizer, wherry::cuda::table)
