// Parameter updates, one pass over memory each (lamb: two). And what clipping and loss scaling ask of the gradients of a whole model.
//
// Inputs are contiguous and may be the memory of the outputs that replace them: a thread reads an element before it writes
// it, and no element uses another's. Arithmetic is in float for parameters of 16 bits. The learning rate, the scale of the
// gradients and the powers of beta are tensors of one element of any float dtype on the device; kernels read them there, the
// host never waits for them.
//
// sgd, momentum, adam and adamw of many parameters are one launch for each 128 of them (together.h): a block takes a piece of one.
#include "packs.h"
#include "reduce.h"
#include "together.h"

#include <memory>

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

// ---- sgd, momentum, adam, adamw -------------------------------------------------------------------

constexpr int64_t update_piece = 4096;  // what a block takes of a parameter
constexpr int max_states = 2, max_terms = 8;

struct Update {              // of one parameter
  void *in[max_states + 2];  // the parameter, what goes with it, the gradient
  void *out[max_states + 1];
  int64_t size;
  Number scale, power1, power2, power1_out, power2_out;
  int32_t first;  // among the pieces of the launch
  bool packed;    // all begin at multiples of 16 bytes
};
struct Settings {
  Number lr;
  double a, b, c, d;
  bool flag;
  bool operator==(const Settings &other) const {
    return lr.data == other.lr.data && lr.dtype == other.lr.dtype && a == other.a && b == other.b && c == other.c && d == other.d && flag == other.flag;
  }
};
template <int Most>
struct Updates {
  Settings settings;
  int32_t count;
  Update each[Most];
};
constexpr int most_updates = 128;

// A rule says what a thread computes once, and what of each element.
template <typename A>
struct Sgd {
  static constexpr int states = 0, term_count = 3;
  static WRY_GPU void terms(const Settings &s, const Update &u, A *t) { t[0] = A(value_of(s.lr)), t[1] = A(value_of(u.scale)), t[2] = A(s.a); }
  static WRY_GPU void step(const Settings &, const A *t, A &p, A g, A *) { p = p - (g * t[1] + p * t[2]) * t[0]; }
};
template <typename A>
struct Momentum {
  static constexpr int states = 1, term_count = 4;
  static WRY_GPU void terms(const Settings &s, const Update &u, A *t) {
    t[0] = A(value_of(s.lr)), t[1] = A(value_of(u.scale)), t[2] = A(s.a), t[3] = A(s.b);
  }
  static WRY_GPU void step(const Settings &s, const A *t, A &p, A g, A *v) {
    g = g * t[1] + p * t[2];
    v[0] = v[0] * t[3] + g;
    p = p - (s.flag ? g + v[0] * t[3] : v[0]) * t[0];
  }
};
template <typename A, bool Decoupled>
struct AdamRule {
  static constexpr int states = 2, term_count = 8;
  static WRY_GPU void terms(const Settings &s, const Update &u, A *t) {
    const double lr = value_of(s.lr), root = sqrt(1 - value_of(u.power2));
    // epsilon joins the corrected root: both corrections become factors of whole tensors' scalars.
    t[0] = A(lr * root / (1 - value_of(u.power1))), t[1] = A(s.c * root), t[2] = Decoupled ? A(1 - lr * s.d) : A(s.d);
    // 1 - beta from the rounded beta, as the powers are made of it: in the first steps the errors cancel.
    t[3] = A(s.a), t[4] = A(s.b), t[5] = A(1) - t[3], t[6] = A(1) - t[4], t[7] = A(value_of(u.scale));
  }
  static WRY_GPU void step(const Settings &, const A *t, A &p, A g, A *state) {
    g = g * t[7];
    if (Decoupled) p = p * t[2];
    else g = g + p * t[2];
    state[0] = state[0] * t[3] + g * t[5], state[1] = state[1] * t[4] + g * g * t[6];
    p = p - state[0] * t[0] / (sqrt(state[1]) + t[1]);
  }
};

template <int V, typename T, typename Rule, typename A>
WRY_GPU void update_pack(const Settings &settings, const Update &u, const A *terms, int64_t i) {
  A values[Rule::states + 2][V];
#pragma unroll
  for (int k = 0; k < Rule::states + 2; ++k) read_pack<V>(static_cast<const T *>(u.in[k]) + i, values[k]);
#pragma unroll
  for (int j = 0; j < V; ++j) {
    A state[Rule::states + 1];
#pragma unroll
    for (int k = 0; k < Rule::states; ++k) state[k] = values[k + 1][j];
    Rule::step(settings, terms, values[0][j], values[Rule::states + 1][j], state);
#pragma unroll
    for (int k = 0; k < Rule::states; ++k) values[k + 1][j] = state[k];
  }
#pragma unroll
  for (int k = 0; k < Rule::states + 1; ++k) write_pack<V>(static_cast<T *>(u.out[k]) + i, values[k]);
}
template <typename T, typename Rule, int Most>
__global__ void __launch_bounds__(block_size) update_kernel(Updates<Most> all) {
  using A = arithmetic_t<T>;
  constexpr int V = pack_size<T>();
  WRY_SHARED(A, shared_terms, max_terms);
  int low = 0, high = all.count - 1;
  while (low < high) {  // the last parameter whose first piece is not after this one
    const int middle = (low + high + 1) / 2;
    if (all.each[middle].first <= int(blockIdx.x)) low = middle;
    else high = middle - 1;
  }
  const Update &u = all.each[low];
  if (threadIdx.x == 0) Rule::terms(all.settings, u, shared_terms);
  __syncthreads();
  A terms[max_terms];
#pragma unroll
  for (int k = 0; k < Rule::term_count; ++k) terms[k] = shared_terms[k];
  const int64_t begin = (int(blockIdx.x) - u.first) * update_piece, end = begin + update_piece < u.size ? begin + update_piece : u.size;
  const int64_t packs = u.packed ? (end - begin) / V : 0;
  for (int64_t i = threadIdx.x; i < packs; i += blockDim.x) update_pack<V, T, Rule>(all.settings, u, terms, begin + i * V);
  for (int64_t i = begin + packs * V + threadIdx.x; i < end; i += blockDim.x) update_pack<1, T, Rule>(all.settings, u, terms, i);
}
// After the pass that reads the powers: their outputs may be their own memory.
__global__ void next_power(Number power, double factor, Number out) {
  if (threadIdx.x == 0) set_number(out, value_of(power) * factor);
}
template <int Most>
__global__ void __launch_bounds__(block_size) next_powers(Updates<Most> all, double factor1, double factor2) {
  for
    WRY_EACH(i, 2 * all.count) {
      const Update &u = all.each[i / 2];
      set_number(i % 2 ? u.power2_out : u.power1_out, value_of(i % 2 ? u.power2 : u.power1) * (i % 2 ? factor2 : factor1));
    }
}
Number output_number(const wry_call *call, int i) { return {output(call, i)->data, output(call, i)->dtype}; }

template <typename T, typename Rule, int Most>
cudaError_t launch_updates(const Updates<Most> &all, cudaStream_t stream) {
  using A = arithmetic_t<T>;
  int64_t pieces = 0, longest = 0;
  for (int i = 0; i < all.count; ++i) pieces += (all.each[i].size + update_piece - 1) / update_piece, longest = all.each[i].size > longest ? all.each[i].size : longest;
  cudaError_t code = cudaSuccess;
  if (pieces) {
    const int threads = threads_for(longest < update_piece ? (longest + 3) / 4 : block_size);
    code = wry_launch(update_kernel<T, Rule, Most>, dim3(unsigned(pieces)), dim3(threads), 0, stream, all);
  }
  if (code == cudaSuccess && Rule::states == 2)
    code = wry_launch(next_powers<Most>, dim3(unsigned((2 * all.count + block_size - 1) / block_size)), dim3(threads_for(2 * all.count)), 0, stream, all,
                      double(A(all.settings.a)), double(A(all.settings.b)));
  return code;
}

// What is kept back, in the thread that has said that calls come together.
struct Kept {
  bool on = false;
  Updates<most_updates> all = {};
  int64_t pieces = 0;
  cudaStream_t stream = nullptr;
  int device = 0;
  const char *op = nullptr;
  cudaError_t (*launch)(const Updates<most_updates> &, cudaStream_t) = nullptr;
  cudaError_t failed = cudaSuccess;
};
Kept &kept_back() {
  static thread_local std::unique_ptr<Kept> own;
  if (!own) own.reset(new Kept);
  return *own;
}

bool meet(const void *a, const void *b, int64_t a_bytes, int64_t b_bytes) {
  const char *x = static_cast<const char *>(a), *y = static_cast<const char *>(b);
  return x && y && x < y + b_bytes && y < x + a_bytes;
}
// Whether one of the two writes what the other reads or writes.
bool depend(const Update &a, const Update &b, int states, int64_t item) {
  for (int k = 0; k < states + 1; ++k)
    for (int j = 0; j < states + 2; ++j)
      if (meet(a.out[k], b.in[j], a.size * item, b.size * item) || meet(b.out[k], a.in[j], b.size * item, a.size * item)) return true;
  return (a.power1.data && a.power1.data == b.power1.data) || (a.power2.data && a.power2.data == b.power2.data);
}
// Of a call that is one of many: kept, or false where it has to be launched by itself. Only in place: what is kept must not outlive outputs that
// the caller copies from.
template <typename T, typename Rule>
bool keep(const wry_call *call, const char *op, const Settings &settings, const Update &u) {
  Kept &kept = kept_back();
  if (!kept.on) return false;
  const int device = WRY_DEVICE_NUMBER(call->context->device);
  bool joins = kept.all.count < most_updates && (kept.all.count == 0 || (kept.stream == stream(call) && kept.device == device && kept.all.settings == settings &&
                                                                         kept.launch == launch_updates<T, Rule, most_updates>));
  for (int i = 0; joins && i < kept.all.count; ++i) joins = !depend(kept.all.each[i], u, Rule::states, int64_t(sizeof(T)));
  bool in_place = kept.pieces < 1 << 30;
  for (int k = 0; k < Rule::states + 1; ++k) in_place = in_place && u.in[k] == u.out[k];
  if (!joins || !in_place) settle_quietly();
  if (!in_place) return false;
  kept.stream = stream(call), kept.device = device, kept.op = op, kept.launch = launch_updates<T, Rule, most_updates>;
  kept.all.settings = settings;
  Update &own = kept.all.each[kept.all.count++];
  own = u, own.first = int32_t(kept.pieces);
  kept.pieces += (u.size + update_piece - 1) / update_piece;
  return true;
}

template <typename T, typename Rule>
int update(const wry_call *call, const char *op, const Settings &settings, Update u) {
  u.packed = true;
  for (int k = 0; k < Rule::states + 2; ++k) u.packed = u.packed && is_aligned(u.in[k]);
  for (int k = 0; k < Rule::states + 1; ++k) u.packed = u.packed && is_aligned(u.out[k]);
  if (keep<T, Rule>(call, op, settings, u)) return WRY_OK;
  Updates<1> one = {settings, 1, {u}};
  return check(call, launch_updates<T, Rule, 1>(one, stream(call)));
}

template <typename T>
int sgd(const wry_call *call) {
  Update u = {};
  u.in[0] = input(call, 0)->data, u.in[1] = input(call, 1)->data, u.out[0] = output(call, 0)->data;
  u.size = input(call, 0)->size, u.scale = number_of(call, 3);
  return update<T, Sgd<arithmetic_t<T>>>(call, "sgd", {number_of(call, 2), attr_float(call, 0), 0, 0, 0, false}, u);
}
// momentum(param, velocity, grad, lr, scale?) -> param_out, velocity_out
template <typename T>
int momentum(const wry_call *call) {
  Update u = {};
  for (int k = 0; k < 3; ++k) u.in[k] = input(call, k)->data;
  for (int k = 0; k < 2; ++k) u.out[k] = output(call, k)->data;
  u.size = input(call, 0)->size, u.scale = number_of(call, 4);
  return update<T, Momentum<arithmetic_t<T>>>(call, "momentum", {number_of(call, 3), attr_float(call, 2), attr_float(call, 0), 0, 0, attr_bool(call, 1)}, u);
}
template <typename T, bool Decoupled>
int adam_step(const wry_call *call, const char *op) {
  Update u = {};
  for (int k = 0; k < 3; ++k) u.in[k] = input(call, k)->data, u.out[k] = output(call, k)->data;
  u.in[3] = input(call, 5)->data;
  u.size = input(call, 0)->size, u.scale = number_of(call, 7);
  u.power1 = number_of(call, 3), u.power2 = number_of(call, 4), u.power1_out = output_number(call, 3), u.power2_out = output_number(call, 4);
  const Settings settings = {number_of(call, 6), attr_float(call, 0), attr_float(call, 1), attr_float(call, 2), attr_float(call, 3), false};
  return update<T, AdamRule<arithmetic_t<T>, Decoupled>>(call, op, settings, u);
}
template <typename T>
int adam(const wry_call *call) { return adam_step<T, false>(call, "adam"); }
template <typename T>
int adamw(const wry_call *call) { return adam_step<T, true>(call, "adamw"); }

// ---- the others -----------------------------------------------------------------------------------

struct Adam {
  Number power1, power2, lr, scale;
  double beta1, beta2, epsilon, decay;
};

// adagrad(param, moment, grad, lr, scale?) -> param_out, moment_out
template <typename T>
__global__ void __launch_bounds__(block_size) adagrad_kernel(int64_t n, const T *param, const T *moment, const T *grad, Number lr_, Number scale_,
                                                             double epsilon_, double decay_, T *out, T *moment_out) {
  using A = arithmetic_t<T>;
  const A lr = A(value_of(lr_)), scale = A(value_of(scale_)), epsilon = A(epsilon_), decay = A(decay_);
  for
    WRY_EACH(i, n) {
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
  for
    WRY_EACH(i, n) {
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
  for
    WRY_EACH(i, n) {
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
  const Adam a = {number_of(call, 3), {nullptr, 0}, number_of(call, 5), number_of(call, 6), attr_float(call, 0), attr_float(call, 1), attr_float(call, 2), attr_float(call, 3)};
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
  for
    WRY_EACH(i, n) {
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
  for
    WRY_EACH(i, n) {
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

int keep_together(bool begin, char *error) {
  const int status = settle(nullptr, error);
  kept_back().on = begin;
  return status;
}
int settle(const char *op, char *error) {
  Kept &kept = kept_back();
  if ((kept.all.count == 0 && kept.failed == cudaSuccess) || (op && kept.op && strcmp(op, kept.op) == 0)) return WRY_OK;
  settle_quietly();
  const cudaError_t code = kept.failed;
  kept.failed = cudaSuccess;
  if (code == cudaSuccess) return WRY_OK;
  snprintf(error, WRY_ERROR_SIZE, "%s on gpu:%d of several parameters: CUDA says '%s'", kept.op, kept.device, cudaGetErrorString(code));
  return code == cudaErrorMemoryAllocation ? WRY_OUT_OF_MEMORY : WRY_INTERNAL;
}
void settle_quietly() {
  Kept &kept = kept_back();
  if (kept.all.count == 0) return;
  cudaSetDevice(kept.device);
  const cudaError_t code = kept.launch(kept.all, kept.stream);
  if (kept.failed == cudaSuccess) kept.failed = code;
  kept.all.count = 0, kept.pieces = 0;
}

}  // namespace cuda
}  // namespace wherry

WRY_TABLE(optimizer, wherry::cuda::table)
