// CUDA's device language for a C++17 compiler of the host: what a kernel says, answered by the sources in csrc/.
//
// Types, error codes and prototypes of the host API come from NVIDIA's own headers (cuda_runtime_api.h, cuda_fp16.h,
// cuda_bf16.h), so that host code is checked against the real thing. Here is only what those leave to nvcc.
#ifndef CUDA_EMULATOR_DEVICE_H
#define CUDA_EMULATOR_DEVICE_H

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#define CUDA_EMULATOR 1

namespace [[gnu::visibility("default")]] cuda_emulator {

// A thread of the block that runs.
struct Thread {
  uint3 thread_idx, block_idx;
  dim3 block_dim, grid_dim;
  int linear, lane, warp;
  int state;
  bool waited;
  uint32_t epoch, warp_epoch;  // barriers passed: by the block, by the warp
  uint64_t value, result;      // of a warp function
  uint32_t mask;
  int op, arg, width;
  const char *file;
  int line;
};
// Of each thread of the operating system; kernels run on the one that waits for them.
extern __thread Thread *self __attribute__((tls_model("initial-exec")));

enum WarpFunction { SYNC,
                    SHFL,
                    SHFL_UP,
                    SHFL_DOWN,
                    SHFL_XOR,
                    BALLOT,
                    ANY,
                    ALL,
                    MATRICES,
                    PRODUCT };
enum BarrierFunction { COUNT,
                       AND,
                       OR };
int barrier(int predicate, BarrierFunction function, const char *file, int line);
uint64_t warp_function(WarpFunction op, uint32_t mask, uint64_t value, int arg, int width, const char *file, int line);
void mma(float *d, const uint32_t *a, const uint32_t *b, bool is_half, const char *file, int line);
void ldmatrix(uint32_t *r, const void *row, int count, bool turned, const char *file, int line);
void copy_async(void *to, const void *from, int bytes, const char *file, int line);
void commit_copies();
void wait_copies(int pending);
void atomic_begin(void *address, size_t bytes, const void *pc);
void fence();
[[noreturn]] void trap(const char *file, int line);
[[noreturn]] void not_emulated(const char *what, const char *file, int line);
int64_t most_blocks(int64_t most);  // of a grid whose kernel goes on by itself
uint32_t active_lanes();            // of the warp: those that have not returned and wait for nobody
long long ticks();
void *shared_object(const void *tag, size_t bytes, size_t align, const char *name, const unsigned char *padding, size_t item);
void *dynamic_shared(const unsigned char *padding, size_t item);
[[noreturn]] void failed_assertion(const char *expression, const char *file, unsigned line);
// A variable at namespace scope, in device memory from the start of the program on, as `value` says.
void *device_object(const char *name, const void *value, size_t bytes);
void refuse_in_a_kernel(const char *file, int line);
cudaError_t enqueue_named(const char *name, const char *file, int line, dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                          void *closure, size_t closure_size, void (*call)(void *), void (*destroy)(void *));
cudaError_t enqueue(void *kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, void *closure,
                    size_t closure_size, void (*call)(void *), void (*destroy)(void *));

// Values of a shuffle, as bits. Not instrumented: the bytes beside a short value are nobody's.
#define CUDA_EMULATOR_PRIVATE __attribute__((no_sanitize("thread")))
template <typename T>
CUDA_EMULATOR_PRIVATE uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "shuffles move up to 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
template <typename T>
CUDA_EMULATOR_PRIVATE T from_bits(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
// For each byte of a T, whether it stands between members; null where none does.
template <typename T>
CUDA_EMULATOR_PRIVATE const unsigned char *padding_of() {
#if __has_builtin(__builtin_clear_padding)
  if constexpr (std::is_class<T>::value && std::is_trivially_copyable<T>::value) {
    static const unsigned char *const found = []() CUDA_EMULATOR_PRIVATE -> const unsigned char * {
      alignas(T) static unsigned char bytes[sizeof(T)];
      memset(bytes, 0xFF, sizeof bytes);
      __builtin_clear_padding(reinterpret_cast<T *>(bytes));
      bool any = false;
      for (unsigned char &b : bytes) any = (b = b != 0xFF) || any;
      return any ? bytes : nullptr;
    }();
    return found;
  }
#endif
  return nullptr;
}
template <typename T, typename F>
CUDA_EMULATOR_PRIVATE __attribute__((noinline)) T atomic(T *p, F f) {
  atomic_begin(p, sizeof(T), __builtin_return_address(0));
  const T old = *p;
  *p = f(old);
  return old;
}

// A launch that waits: the kernel and a copy of its arguments.
struct Packed {
  void *closure;
  size_t size;
  void (*call)(void *), (*destroy)(void *);
};
template <typename... P>
struct Closure {
  void (*kernel)(P...);
  std::tuple<P...> arguments;
  static void call(void *c) { std::apply(static_cast<Closure *>(c)->kernel, static_cast<Closure *>(c)->arguments); }
  static void destroy(void *c) { delete static_cast<Closure *>(c); }
};
// Of arguments as cudaLaunchKernel takes them: a pointer to each.
template <typename... P, size_t... I>
Packed packed(void (*kernel)(P...), void **arguments, std::index_sequence<I...>) {
  (void)arguments;
  auto *closure = new Closure<P...>{kernel, std::tuple<P...>(*static_cast<std::remove_const_t<P> *>(arguments[I])...)};
  return {closure, sizeof *closure, Closure<P...>::call, Closure<P...>::destroy};
}
template <typename... P>
Packed packed(void (*kernel)(P...), void **arguments) {
  return packed(kernel, arguments, std::index_sequence_for<P...>());
}

}  // namespace cuda_emulator

#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __forceinline__
#define __forceinline__ inline
#undef __shared__
#define __shared__ use_WRY_SHARED_of_cuda_emulator_kernel_h
#define threadIdx (::cuda_emulator::self->thread_idx)
#define blockIdx (::cuda_emulator::self->block_idx)
#define blockDim (::cuda_emulator::self->block_dim)
#define gridDim (::cuda_emulator::self->grid_dim)
constexpr int warpSize = 32;

// The lambda has an address of its own at each place where it stands, which is what tells objects apart.
#define WRY_SHARED(type, name, count)                                                     \
  type(&name)[count] = *static_cast<type(*)[count]>(                                      \
      ::cuda_emulator::shared_object([] { static char tag; return &tag; }(), sizeof(type[count]), alignof(type), #name, \
                                     ::cuda_emulator::padding_of<type>(), sizeof(type)))
#define WRY_DYNAMIC_SHARED(type, name) \
  type *name = static_cast<type *>(::cuda_emulator::dynamic_shared(::cuda_emulator::padding_of<type>(), sizeof(type)))

// The place of a call comes along by itself: reports name it.
#define CUDA_EMULATOR_AT const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define CUDA_EMULATOR_SHUFFLE(name, function, type)                                                       \
  template <typename T>                                                                                   \
  inline T name(unsigned mask, T value, type argument, int width = 32, CUDA_EMULATOR_AT) {                \
    return cuda_emulator::from_bits<T>(cuda_emulator::warp_function(                                      \
        cuda_emulator::function, mask, cuda_emulator::to_bits(value), int(argument), width, file, line)); \
  }
CUDA_EMULATOR_SHUFFLE(__shfl_sync, SHFL, int)
CUDA_EMULATOR_SHUFFLE(__shfl_up_sync, SHFL_UP, unsigned)
CUDA_EMULATOR_SHUFFLE(__shfl_down_sync, SHFL_DOWN, unsigned)
CUDA_EMULATOR_SHUFFLE(__shfl_xor_sync, SHFL_XOR, int)
#undef CUDA_EMULATOR_SHUFFLE

inline void __syncthreads(CUDA_EMULATOR_AT) { cuda_emulator::barrier(0, cuda_emulator::COUNT, file, line); }
inline int __syncthreads_count(int p, CUDA_EMULATOR_AT) {
  return cuda_emulator::barrier(p, cuda_emulator::COUNT, file, line);
}
inline int __syncthreads_and(int p, CUDA_EMULATOR_AT) { return cuda_emulator::barrier(p, cuda_emulator::AND, file, line); }
inline int __syncthreads_or(int p, CUDA_EMULATOR_AT) { return cuda_emulator::barrier(p, cuda_emulator::OR, file, line); }
inline void __syncwarp(unsigned mask = 0xffffffffu, CUDA_EMULATOR_AT) {
  cuda_emulator::warp_function(cuda_emulator::SYNC, mask, 0, 0, 32, file, line);
}
inline unsigned __ballot_sync(unsigned mask, int p, CUDA_EMULATOR_AT) {
  return unsigned(cuda_emulator::warp_function(cuda_emulator::BALLOT, mask, p != 0, 0, 32, file, line));
}
inline int __any_sync(unsigned mask, int p, CUDA_EMULATOR_AT) {
  return int(cuda_emulator::warp_function(cuda_emulator::ANY, mask, p != 0, 0, 32, file, line));
}
inline int __all_sync(unsigned mask, int p, CUDA_EMULATOR_AT) {
  return int(cuda_emulator::warp_function(cuda_emulator::ALL, mask, p != 0, 0, 32, file, line));
}
[[noreturn]] inline void __trap(CUDA_EMULATOR_AT) { cuda_emulator::trap(file, line); }
inline void __threadfence() { cuda_emulator::fence(); }
inline void __threadfence_block() {}

// For the types that the hardware has these for, and no others: nvcc would refuse them.
#define CUDA_EMULATOR_ATOMIC(name, T, expression)                                           \
  inline T name(T *p, T v) {                                                                \
    return cuda_emulator::atomic(p, [v]([[maybe_unused]] T o) -> T { return expression; }); \
  }
#define CUDA_EMULATOR_WHOLE(T)                                                    \
  CUDA_EMULATOR_ATOMIC(atomicMax, T, o < v ? v : o)                               \
  CUDA_EMULATOR_ATOMIC(atomicMin, T, v < o ? v : o)                               \
  CUDA_EMULATOR_ATOMIC(atomicExch, T, v)                                          \
  CUDA_EMULATOR_ATOMIC(atomicAnd, T, o &v)                                        \
  CUDA_EMULATOR_ATOMIC(atomicOr, T, o | v)                                        \
  CUDA_EMULATOR_ATOMIC(atomicXor, T, o ^ v)                                       \
  inline T atomicCAS(T *p, T c, T v) {                                            \
    return cuda_emulator::atomic(p, [c, v](T o) -> T { return o == c ? v : o; }); \
  }
CUDA_EMULATOR_WHOLE(int)
CUDA_EMULATOR_WHOLE(unsigned)
CUDA_EMULATOR_WHOLE(unsigned long long)
CUDA_EMULATOR_ATOMIC(atomicAdd, int, int(unsigned(o) + unsigned(v)))
CUDA_EMULATOR_ATOMIC(atomicAdd, unsigned, o + v)
CUDA_EMULATOR_ATOMIC(atomicAdd, unsigned long long, o + v)
CUDA_EMULATOR_ATOMIC(atomicAdd, float, o + v)
CUDA_EMULATOR_ATOMIC(atomicAdd, double, o + v)
CUDA_EMULATOR_ATOMIC(atomicExch, float, v)
CUDA_EMULATOR_ATOMIC(atomicInc, unsigned, o >= v ? 0u : o + 1)
#undef CUDA_EMULATOR_WHOLE
#undef CUDA_EMULATOR_ATOMIC

template <typename T>
inline T __ldg(const T *p) {
  return *p;
}
// As the hardware does it: ex2.approx of a product rounded to float, so that its error grows with |x| as there.
inline float __expf(float x) { return exp2f(x * 1.4426950408889634f); }
inline float __logf(float x) { return log2f(x) * 0.6931471805599453f; }
inline float __fdividef(float a, float b) { return a * (1.0f / b); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
// Rounded by itself, not fused: so is everything here.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline float __int_as_float(int x) { return cuda_emulator::from_bits<float>(cuda_emulator::to_bits(x)); }
inline int __float_as_int(float x) { return cuda_emulator::from_bits<int>(cuda_emulator::to_bits(x)); }

template <typename... P, typename... A>
cudaError_t wry_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream, A... arguments) {
  using Closure = cuda_emulator::Closure<P...>;
  auto *closure = new Closure{kernel, std::tuple<P...>(static_cast<P>(arguments)...)};
  return cuda_emulator::enqueue(reinterpret_cast<void *>(kernel), grid, block, shared, stream, closure, sizeof(Closure),
                                Closure::call, Closure::destroy);
}
inline int64_t wry_most_blocks(int64_t most) { return cuda_emulator::most_blocks(most); }

#endif  // CUDA_EMULATOR_DEVICE_H
