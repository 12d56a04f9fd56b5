// Parameter updates, one pass over memory each (lamb: two). And what clipping and loss scaling ask of the gradients of a whole model.
//
// Inputs are contiguous and may be the memory of the outputs that replace them: a thread reads an element before it writes
// it, and no element uses another's. Arithmetic is in float for parameters of 16 bits. The learning rate, the scale of the
// gradients and the powers of beta are tensors of one element of any float dtype on the device; kernels read them there, the
// host never waits for them.
//
// The updates of many parameters are one launch for each 128 of them, lamb's three (together.h): a block takes a piece of one. What a
// piece gives does not depend on what else is in the launch. Parameters of 16 bits go alone: optimizers compute in float32 copies.
#include "libraries.h"
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

// ---- updates in one pass --------------------------------------------------------------------------

constexpr int64_t update_piece = 4096;  // what a block takes of a parameter
constexpr int max_states = 3, max_terms = 9;

struct Update {              // of one parameter
  void *in[max_states + 2];  // the parameter, what goes with it, the gradient
  void *out[max_states + 1];
  int64_t size;
  Number scale, power1, power2, power1_out, power2_out;
  int32_t first;  // of its pieces, among those of the launch
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

// A rule says what a thread computes once, and what of each element. Those with powers of beta have them renewed.
template <typename A>
struct Sgd {
  static constexpr int states = 0, powers = 0, term_count = 3;
  static WRY_GPU void terms(const Settings &s, const Update &u, A *t) { t[0] = A(value_of(s.lr)), t[1] = A(value_of(u.scale)), t[2] = A(s.a); }
  static WRY_GPU void step(const Settings &, const A *t, A &p, A g, A *) { p = p - (g * t[1] + p * t[2]) * t[0]; }
};
template <typename A>
struct Momentum {
  static constexpr int states = 1, powers = 0, term_count = 4;
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
  static constexpr int states = 2, powers = 2, term_count = 8;
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

template <typename A>
struct Adagrad {
  static constexpr int states = 1, powers = 0, term_count = 4;
  static WRY_GPU void terms(const Settings &s, const Update &u, A *t) {
    t[0] = A(value_of(s.lr)), t[1] = A(value_of(u.scale)), t[2] = A(s.a), t[3] = A(s.b);
  }
  static WRY_GPU void step(const Settings &, const A *t, A &p, A g, A *total) {
    g = g * t[1] + p * t[3];
    total[0] = total[0] + g * g;
    p = p - g * t[0] / (sqrt(total[0]) + t[2]);
  }
};
template <typename A>
struct Adadelta {
  static constexpr int states = 2, powers = 0, term_count = 6;
  static WRY_GPU void terms(const Settings &s, const Update &u, A *t) {
    t[0] = A(value_of(s.lr)), t[1] = A(value_of(u.scale)), t[2] = A(s.a), t[3] = A(1 - s.a), t[4] = A(s.b), t[5] = A(s.c);
  }
  static WRY_GPU void step(const Settings &, const A *t, A &p, A g, A *squares) {  // of gradients, of updates
    g = g * t[1] + p * t[5];
    squares[0] = squares[0] * t[2] + g * g * t[3];
    const A by = sqrt((squares[1] + t[4]) / (squares[0] + t[4])) * g;
    squares[1] = squares[1] * t[2] + by * by * t[3];
    p = p - by * t[0];
  }
};
template <typename A>
struct Adamax {
  static constexpr int states = 2, powers = 1, term_count = 7;
  static WRY_GPU void terms(const Settings &s, const Update &u, A *t) {
    t[0] = A(value_of(s.lr) / (1 - value_of(u.power1))), t[1] = A(s.a), t[2] = A(1) - t[1], t[3] = A(s.b);
    t[4] = A(s.c), t[5] = A(s.d), t[6] = A(value_of(u.scale));
  }
  static WRY_GPU void step(const Settings &, const A *t, A &p, A g, A *state) {  // the moment, the norm
    g = g * t[6] + p * t[5];
    state[0] = state[0] * t[1] + g * t[2];
    const A size = g < A(0) ? -g : g, least = state[1] * t[3] + t[4];
    state[1] = size == size && least > size ? least : size;  // a NaN stays
    p = p - state[0] * t[0] / state[1];
  }
};
template <typename A, bool Centered>
struct RmsProp {  // without a mean of the gradients, where it is not centered
  static constexpr int states = Centered ? 3 : 2, powers = 0, term_count = 7;
  static WRY_GPU void terms(const Settings &s, const Update &u, A *t) {
    t[0] = A(value_of(s.lr)), t[1] = A(value_of(u.scale)), t[2] = A(s.a), t[3] = A(1 - s.a), t[4] = A(s.b), t[5] = A(s.c), t[6] = A(s.d);
  }
  static WRY_GPU void step(const Settings &, const A *t, A &p, A g, A *state) {  // the velocity, the mean of squares, the mean
    g = g * t[1] + p * t[6];
    state[1] = state[1] * t[2] + g * g * t[3];
    A spread = state[1] + t[4];
    if constexpr (Centered) {
      state[2] = state[2] * t[2] + g * t[3];
      spread = spread - state[2] * state[2];
    }
    state[0] = state[0] * t[5] + g * t[0] / sqrt(spread);
    p = p - state[0];
  }
};

// Whose piece a block takes: the last parameter whose first piece is not after it.
template <int Most>
WRY_GPU int update_of_block(const Updates<Most> &all) {
  int low = 0, high = all.count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (all.each[middle].first <= int(blockIdx.x)) low = middle;
    else high = middle - 1;
  }
  return low;
}
// f(how many, where) for the elements of this block's piece: by packs of V as far as they go.
template <int V, typename F>
WRY_GPU void each_pack(const Update &u, F &&f) {
  const int64_t begin = (int(blockIdx.x) - u.first) * update_piece, end = begin + update_piece < u.size ? begin + update_piece : u.size;
  const int64_t packs = u.packed ? (end - begin) / V : 0;
  for (int64_t i = threadIdx.x; i < packs; i += blockDim.x) f(std::integral_constant<int, V>(), begin + i * V);
  for (int64_t i = begin + packs * V + threadIdx.x; i < end; i += blockDim.x) f(std::integral_constant<int, 1>(), i);
}

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
  WRY_SHARED(A, shared_terms, max_terms);
  const Update &u = all.each[update_of_block(all)];
  if (threadIdx.x == 0) Rule::terms(all.settings, u, shared_terms);
  __syncthreads();
  A terms[max_terms];
#pragma unroll
  for (int k = 0; k < Rule::term_count; ++k) terms[k] = shared_terms[k];
  each_pack<pack_size<T>()>(u, [&](auto width, int64_t i) { update_pack<decltype(width)::value, T, Rule>(all.settings, u, terms, i); });
}
// After the pass that reads the powers: their outputs may be their own memory.
template <int Most>
__global__ void __launch_bounds__(block_size) next_powers(Updates<Most> all, double factor1, double factor2) {
  for
    WRY_EACH(i, 2 * all.count) {
      const Update &u = all.each[i / 2];
      const Number &out = i % 2 ? u.power2_out : u.power1_out;
      if (out.data) set_number(out, value_of(i % 2 ? u.power2 : u.power1) * (i % 2 ? factor2 : factor1));
    }
}
Number output_number(const wry_call *call, int i) { return {output(call, i)->data, output(call, i)->dtype}; }

inline int64_t update_pieces(int64_t size) { return (size + update_piece - 1) / update_piece; }
template <int Most>
int64_t update_pieces(const Updates<Most> &all) {
  const Update &last = all.each[all.count - 1];
  return last.first + update_pieces(last.size);
}
template <typename T, typename Rule, int Most>
cudaError_t launch_updates(const Updates<Most> &all, int, cudaStream_t stream) {
  using A = arithmetic_t<T>;
  const int64_t pieces = update_pieces(all);
  int64_t longest = 0;
  for (int i = 0; i < all.count; ++i) longest = all.each[i].size > longest ? all.each[i].size : longest;
  cudaError_t code = cudaSuccess;
  if (pieces) {
    const int threads = threads_for(longest < update_piece ? (longest + 3) / 4 : block_size);
    code = wry_launch(update_kernel<T, Rule, Most>, dim3(unsigned(pieces)), dim3(threads), 0, stream, all);
  }
  if (code == cudaSuccess && Rule::powers)
    code = wry_launch(next_powers<Most>, dim3(unsigned((2 * all.count + block_size - 1) / block_size)), dim3(threads_for(2 * all.count)), 0, stream, all,
                      double(A(all.settings.a)), double(A(all.settings.b)));
  return code;
}

// Calls that may become one launch: how many tensors each reads and writes, of which item sizes, and what launches them.
struct Kind {
  int ins, outs;
  int64_t in_item, out_item;
  bool in_place;  // the outputs are the memory of the first inputs; a call whose are not goes alone
  cudaError_t (*launch)(const Updates<most_updates> &, int device, cudaStream_t);
};
// What is kept back, in the thread that has said that calls come together.
struct Kept {
  bool on = false;
  Updates<most_updates> all = {};
  int64_t pieces = 0;
  cudaStream_t stream = nullptr;
  int device = 0;
  const char *op = nullptr;
  Kind kind = {};
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
// Whether b reads or writes what a writes.
bool follows(const Update &a, const Update &b, const Kind &kind) {
  for (int k = 0; k < kind.outs; ++k) {
    const int64_t bytes = a.size * kind.out_item;
    if (meet(a.out[k], b.scale.data, bytes, 1)) return true;
    for (int j = 0; j < kind.ins; ++j)
      if (meet(a.out[k], b.in[j], bytes, b.size * kind.in_item)) return true;
    for (int j = 0; j < kind.outs && !kind.in_place; ++j)
      if (meet(a.out[k], b.out[j], bytes, b.size * kind.out_item)) return true;
  }
  return false;
}
bool depend(const Update &a, const Update &b, const Kind &kind) {
  return follows(a, b, kind) || follows(b, a, kind) || (a.power1.data && a.power1.data == b.power1.data) ||
         (a.power2.data && a.power2.data == b.power2.data);
}
// Of a call that is one of many: kept, or false where it has to be launched by itself, after those before it.
bool keep(const wry_call *call, const char *op, const Settings &settings, const Update &u, const Kind &kind) {
  Kept &kept = kept_back();
  if (!kept.on) return false;
  const int device = WRY_DEVICE_NUMBER(call->context->device);
  bool joins = kept.all.count < most_updates && (kept.all.count == 0 || (kept.stream == stream(call) && kept.device == device &&
                                                                         kept.all.settings == settings && kept.kind.launch == kind.launch));
  for (int i = 0; joins && i < kept.all.count; ++i) joins = !depend(kept.all.each[i], u, kind);
  bool alone = kept.pieces >= 1 << 30;
  for (int k = 0; k < kind.outs && kind.in_place; ++k) alone = alone || u.in[k] != u.out[k];
  if (!joins || alone) settle_quietly();
  if (alone) return false;
  kept.stream = stream(call), kept.device = device, kept.op = op, kept.kind = kind;
  kept.all.settings = settings;
  Update &own = kept.all.each[kept.all.count++];
  own = u, own.first = int32_t(kept.pieces);
  kept.pieces += update_pieces(u.size);
  return true;
}
bool is_packed(const Update &u, int states) {
  bool yes = is_aligned(u.in[states + 1]);
  for (int k = 0; k < states + 1; ++k) yes = yes && is_aligned(u.in[k]) && is_aligned(u.out[k]);
  return yes;
}

template <typename T, typename Rule>
int update(const wry_call *call, const char *op, const Settings &settings, Update u) {
  u.packed = is_packed(u, Rule::states);
  if constexpr (sizeof(T) == 2) settle_quietly();
  else if (keep(call, op, settings, u, {Rule::states + 2, Rule::states + 1, sizeof(T), sizeof(T), true, launch_updates<T, Rule, most_updates>})) return WRY_OK;
  Updates<1> one = {settings, 1, {u}};
  return check(call, launch_updates<T, Rule, 1>(one, 0, stream(call)));
}
// op(param, states..., powers..., grad, lr, scale?) -> all but the last three; the learning rate of `settings` is filled in.
Update update_of(const wry_call *call, Settings *settings, int states, int powers) {
  Update u = {};
  for (int k = 0; k < states + 1; ++k) u.in[k] = input(call, k)->data, u.out[k] = output(call, k)->data;
  const int grad = states + powers + 1;
  u.in[states + 1] = input(call, grad)->data;
  u.size = input(call, 0)->size, u.scale = number_of(call, grad + 2);
  if (powers > 0) u.power1 = number_of(call, states + 1), u.power1_out = output_number(call, states + 1);
  if (powers > 1) u.power2 = number_of(call, states + 2), u.power2_out = output_number(call, states + 2);
  settings->lr = number_of(call, grad + 1);
  return u;
}
template <typename T, typename Rule>
int update(const wry_call *call, const char *op, Settings settings) {
  const Update u = update_of(call, &settings, Rule::states, Rule::powers);
  return update<T, Rule>(call, op, settings, u);
}

template <typename T>
int sgd(const wry_call *call) { return update<T, Sgd<arithmetic_t<T>>>(call, "sgd", {{}, attr_float(call, 0), 0, 0, 0, false}); }
template <typename T>
int momentum(const wry_call *call) {
  return update<T, Momentum<arithmetic_t<T>>>(call, "momentum", {{}, attr_float(call, 2), attr_float(call, 0), 0, 0, attr_bool(call, 1)});
}
Settings four_attributes(const wry_call *call) { return {{}, attr_float(call, 0), attr_float(call, 1), attr_float(call, 2), attr_float(call, 3), false}; }
template <typename T>
int adam(const wry_call *call) { return update<T, AdamRule<arithmetic_t<T>, false>>(call, "adam", four_attributes(call)); }
template <typename T>
int adamw(const wry_call *call) { return update<T, AdamRule<arithmetic_t<T>, true>>(call, "adamw", four_attributes(call)); }
template <typename T>
int adagrad(const wry_call *call) {
  return update<T, Adagrad<arithmetic_t<T>>>(call, "adagrad", {{}, attr_float(call, 0), attr_float(call, 1), 0, 0, false});
}
template <typename T>
int adadelta(const wry_call *call) {
  return update<T, Adadelta<arithmetic_t<T>>>(call, "adadelta", {{}, attr_float(call, 0), attr_float(call, 1), attr_float(call, 2), 0, false});
}
template <typename T>
int adamax(const wry_call *call) { return update<T, Adamax<arithmetic_t<T>>>(call, "adamax", four_attributes(call)); }
// rmsprop(param, momentum, mean_square, mean_grad, grad, lr, scale?) -> param_out, momentum_out, mean_square_out, mean_grad_out
template <typename T>
int rmsprop(const wry_call *call) {
  using A = arithmetic_t<T>;
  Settings settings = {{}, attr_float(call, 0), attr_float(call, 1), attr_float(call, 2), attr_float(call, 4), false};
  Update u = update_of(call, &settings, 3, 0);
  if (attr_bool(call, 3)) return update<T, RmsProp<A, true>>(call, "rmsprop", settings, u);
  if (u.in[3] != u.out[3] && u.size) {  // the mean stays as it is
    settle_quietly();
    WRY_TRY(cudaMemcpyAsync(u.out[3], u.in[3], u.size * sizeof(T), cudaMemcpyDeviceToDevice, stream(call)));
  }
  u.in[3] = u.in[4];
  return update<T, RmsProp<A, false>>(call, "rmsprop", settings, u);
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
// piece, a block for each parameter adds up the pieces, and a last pass computes the step again from the moments. All blocks have
// block_size threads, so that sums are added in the same order alone and among others.
template <typename A>
WRY_GPU A lamb_step(A p, A m, A v, A correct1, A correct2, A epsilon, A decay) { return m * correct1 / (sqrt(v * correct2) + epsilon) + p * decay; }
WRY_GPU double correction(const Number &power) { return 1 / (1 - value_of(power)); }

template <int V, typename T, typename A>
WRY_GPU void lamb_moments_pack(const Update &u, const A *t, int64_t i, double *length, double *of_step) {
  A p[V], m[V], v[V], g[V];
  read_pack<V>(static_cast<const T *>(u.in[0]) + i, p);
  read_pack<V>(static_cast<const T *>(u.in[1]) + i, m);
  read_pack<V>(static_cast<const T *>(u.in[2]) + i, v);
  read_pack<V>(static_cast<const T *>(u.in[3]) + i, g);
#pragma unroll
  for (int j = 0; j < V; ++j) {
    g[j] = g[j] * t[4];
    m[j] = m[j] * t[0] + g[j] * t[2];
    v[j] = v[j] * t[1] + g[j] * g[j] * t[3];
    const A r = lamb_step(p[j], m[j], v[j], t[5], t[6], t[7], t[8]);
    *length += double(p[j] * p[j]);
    *of_step += double(r * r);
  }
  write_pack<V>(static_cast<T *>(u.out[1]) + i, m);
  write_pack<V>(static_cast<T *>(u.out[2]) + i, v);
}
// `parts`: of each piece the sum of the parameter's squares, after all of them those of the step's.
template <typename T, int Most>
__global__ void __launch_bounds__(block_size) lamb_moments(Updates<Most> all, double *parts) {
  using A = arithmetic_t<T>;
  WRY_SHARED(A, shared_terms, max_terms);
  const Settings &s = all.settings;
  const Update &u = all.each[update_of_block(all)];
  if (threadIdx.x == 0) {
    A *t = shared_terms;
    t[0] = A(s.a), t[1] = A(s.b), t[2] = A(1) - t[0], t[3] = A(1) - t[1], t[4] = A(value_of(u.scale));
    t[5] = A(correction(u.power1)), t[6] = A(correction(u.power2)), t[7] = A(s.c), t[8] = A(s.d);
  }
  __syncthreads();
  A terms[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) terms[k] = shared_terms[k];
  double length = 0, of_step = 0;
  each_pack<pack_size<T>()>(u, [&](auto width, int64_t i) { lamb_moments_pack<decltype(width)::value, T>(u, terms, i, &length, &of_step); });
  length = block_total<Plus<double>>(length), of_step = block_total<Plus<double>>(of_step);
  if (threadIdx.x == 0) parts[blockIdx.x] = length, parts[gridDim.x + blockIdx.x] = of_step;
}
// Block k: what the last pass asks of parameter k, {rate, corrections of the moments}; and its next powers of beta.
template <int Most>
__global__ void __launch_bounds__(block_size) lamb_rates(Updates<Most> all, double factor1, double factor2, int64_t all_pieces, const double *parts, double *rates) {
  const Update &u = all.each[blockIdx.x];
  const int64_t pieces = (u.size + update_piece - 1) / update_piece;
  double length = 0, of_step = 0;
  for (int64_t i = threadIdx.x; i < pieces; i += blockDim.x) length += parts[u.first + i], of_step += parts[all_pieces + u.first + i];
  length = block_total<Plus<double>>(length), of_step = block_total<Plus<double>>(of_step);
  if (threadIdx.x) return;
  const double lr = value_of(all.settings.lr);
  double *to = rates + 3 * blockIdx.x;
  to[0] = all.settings.flag && length > 0 && of_step > 0 ? lr * sqrt(length) / sqrt(of_step) : lr;
  to[1] = correction(u.power1), to[2] = correction(u.power2);
  set_number(u.power1_out, value_of(u.power1) * factor1);
  set_number(u.power2_out, value_of(u.power2) * factor2);
}
template <int V, typename T, typename A>
WRY_GPU void lamb_update_pack(const Update &u, const A *t, int64_t i) {
  A p[V], m[V], v[V];
  read_pack<V>(static_cast<const T *>(u.in[0]) + i, p);
  read_pack<V>(static_cast<const T *>(u.out[1]) + i, m);
  read_pack<V>(static_cast<const T *>(u.out[2]) + i, v);
#pragma unroll
  for (int j = 0; j < V; ++j) p[j] = p[j] - lamb_step(p[j], m[j], v[j], t[1], t[2], t[3], t[4]) * t[0];
  write_pack<V>(static_cast<T *>(u.out[0]) + i, p);
}
template <typename T, int Most>
__global__ void __launch_bounds__(block_size) lamb_update(Updates<Most> all, const double *rates) {
  using A = arithmetic_t<T>;
  const int k = update_of_block(all);
  const A terms[5] = {A(rates[3 * k]), A(rates[3 * k + 1]), A(rates[3 * k + 2]), A(all.settings.c), A(all.settings.d)};
  const Update &u = all.each[k];
  each_pack<pack_size<T>()>(u, [&](auto width, int64_t i) { lamb_update_pack<decltype(width)::value, T>(u, terms, i); });
}

constexpr int lamb_states = 2;
template <int Most>
int64_t lamb_scratch(const Updates<Most> &all) { return 2 * update_pieces(all) + 3 * all.count; }
template <typename T, int Most>
cudaError_t launch_lamb(const Updates<Most> &all, double *scratch, cudaStream_t stream) {
  using A = arithmetic_t<T>;
  const int64_t pieces = update_pieces(all);
  double *rates = scratch + 2 * pieces;
  cudaError_t code = cudaSuccess;
  if (pieces) code = wry_launch(lamb_moments<T, Most>, dim3(unsigned(pieces)), dim3(block_size), 0, stream, all, scratch);
  if (code == cudaSuccess)
    code = wry_launch(lamb_rates<Most>, dim3(unsigned(all.count)), dim3(block_size), 0, stream, all, double(A(all.settings.a)), double(A(all.settings.b)), pieces,
                      scratch, rates);
  if (code == cudaSuccess && pieces) code = wry_launch(lamb_update<T, Most>, dim3(unsigned(pieces)), dim3(block_size), 0, stream, all, rates);
  return code;
}
template <typename T>
cudaError_t launch_lambs(const Updates<most_updates> &all, int device, cudaStream_t stream) {
  double *scratch = static_cast<double *>(take_scratch(device, lamb_scratch(all) * sizeof(double), stream));
  if (!scratch) return cudaErrorMemoryAllocation;
  const cudaError_t code = launch_lamb<T>(all, scratch, stream);
  give_scratch(device, scratch, stream);
  return code;
}
template <typename T>
int lamb(const wry_call *call) {
  Settings settings = four_attributes(call);
  settings.flag = attr_bool(call, 4);
  Update u = update_of(call, &settings, lamb_states, 2);
  u.packed = is_packed(u, lamb_states);
  // What a graph is made of would need its scratch each time that it runs.
  if (sizeof(T) == 2 || is_captured(call)) settle_quietly();
  else if constexpr (sizeof(T) > 2)
    if (keep(call, "lamb", settings, u, {lamb_states + 2, lamb_states + 1, sizeof(T), sizeof(T), true, launch_lambs<T>})) return WRY_OK;
  Updates<1> one = {settings, 1, {u}};
  double *scratch = workspace<double>(call, lamb_scratch(one));
  if (!scratch) return fail_memory(call, "lamb", lamb_scratch(one) * sizeof(double));
  return check(call, launch_lamb<T>(one, scratch, stream(call)));
}

// ---- many tensors in another dtype, or times a number -----------------------------------------------

template <typename TO, typename T>
__global__ void __launch_bounds__(block_size) scale_kernel(Updates<most_updates> all) {
  using A = std::conditional_t<std::is_same<T, double>::value, double, float>;
  constexpr int V = pack_size<TO, T>();
  const Update &u = all.each[update_of_block(all)];
  const A factor = A(value_of(u.scale));
  each_pack<V>(u, [&](auto width, int64_t i) {
    constexpr int W = decltype(width)::value;
    A values[W];
    read_pack<W>(static_cast<const T *>(u.in[0]) + i, values);
#pragma unroll
    for (int j = 0; j < W; ++j) values[j] = values[j] * factor;
    write_pack<W>(static_cast<TO *>(u.out[0]) + i, values);
  });
}
template <typename TO, typename T>
cudaError_t launch_scales(const Updates<most_updates> &all, int, cudaStream_t stream) {
  const int64_t pieces = update_pieces(all);
  return pieces ? wry_launch(scale_kernel<TO, T>, dim3(unsigned(pieces)), dim3(block_size), 0, stream, all) : cudaSuccess;
}
template <typename TO, typename T>
bool keep_scales(const wry_call *call, const char *op, const Update &u, const wry_tensor *x, const wry_tensor *out) {
  if (x->dtype != code_of<T>::value || out->dtype != code_of<TO>::value) return false;
  return keep(call, op, {}, u, {1, 1, sizeof(T), sizeof(TO), false, launch_scales<TO, T>});
}

// ---- what is asked of whole models ------------------------------------------------------------------

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

#include <wherry/kernels/rows/optimizer.h>

}  // namespace

bool keep_scaled(const wry_call *call, const char *op, const wry_tensor *x, const wry_tensor *number) {
  const wry_tensor *out = output(call, 0);
  if (!kept_back().on) return false;
  Update u = {};
  u.in[0] = x->data, u.out[0] = out->data, u.size = x->size, u.packed = is_aligned(x->data) && is_aligned(out->data);
  if (number) u.scale = {number->data, number->dtype};
  if (x->size == out->size && is_contiguous(x) && is_contiguous(out) && (!number || number->size == 1)) {
    if (keep_scales<float, half>(call, op, u, x, out) || keep_scales<half, float>(call, op, u, x, out)) return true;
#ifndef WRY_FEW_DTYPES
    if (keep_scales<float, bfloat16>(call, op, u, x, out) || keep_scales<bfloat16, float>(call, op, u, x, out)) return true;
#endif
    if (keep_scales<float, float>(call, op, u, x, out) || keep_scales<double, double>(call, op, u, x, out)) return true;
  }
  settle_quietly();
  return false;
}

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
  const cudaError_t code = kept.kind.launch(kept.all, kept.device, kept.stream);
  if (kept.failed == cudaSuccess) kept.failed = code;
  kept.all.count = 0, kept.pieces = 0;
}

}  // namespace cuda
}  // namespace wherry

WRY_TABLE(optimizer, wherry::cuda::table)
