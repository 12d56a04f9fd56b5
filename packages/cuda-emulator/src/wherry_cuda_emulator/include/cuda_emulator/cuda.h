// What nvcc puts before every .cu file, for sources in CUDA's own spelling: translating.py rewrites what follows this file.
#ifndef CUDA_EMULATOR_CUDA_H
#define CUDA_EMULATOR_CUDA_H

#include <cuda_runtime.h>

#include "cuda_emulator/kernel.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>

namespace cuda_emulator {

template <typename T>
T &shared_variable(const void *tag, const char *name) {
  using Item = std::remove_cv_t<std::remove_all_extents_t<T>>;
  return *static_cast<T *>(shared_object(tag, sizeof(T), alignof(T), name, padding_of<Item>(), sizeof(Item)));
}
template <typename T>
T *dynamic_variable() {
  using Item = std::remove_cv_t<T>;
  return static_cast<T *>(dynamic_shared(padding_of<Item>(), sizeof(Item)));
}
// `extern __shared__ T name[]` outside of functions.
template <typename T>
struct Dynamic {
  operator T *() const { return dynamic_variable<T>(); }
};

template <typename T>
T &device_variable(T &value, const char *name) {
  return *static_cast<T *>(device_object(name, const_cast<std::remove_cv_t<std::remove_all_extents_t<T>> *>(reinterpret_cast<const std::remove_all_extents_t<T> *>(&value)),
                                         sizeof(T)));
}

// kernel<<<grid, block, shared, stream>>>(arguments...): the arguments are copied at the launch, as CUDA does it.
template <typename F>
struct Launcher {
  const char *name, *file;
  int line;
  F kernel;
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;

  template <typename... A>
  struct Kept {
    F kernel;
    std::tuple<A...> arguments;
    static void call(void *c) { std::apply(static_cast<Kept *>(c)->kernel, static_cast<Kept *>(c)->arguments); }
    static void destroy(void *c) { delete static_cast<Kept *>(c); }
  };
  template <typename... A>
  void operator()(A... arguments) const {
    using K = Kept<A...>;
    refuse_in_a_kernel(file, line);
    auto *kept = new K{kernel, std::tuple<A...>(std::move(arguments)...)};
    enqueue_named(name, file, line, grid, block, shared, stream, kept, sizeof *kept, K::call, K::destroy);
  }
};
template <typename F>
Launcher<F> launcher(const char *name, const char *file, int line, F kernel, dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) {
  return {name, file, line, kernel, grid, block, shared, stream};
}

}  // namespace cuda_emulator

// ---- the host's side of variables and kernels, which nvcc's headers give to nvcc alone ----

template <typename T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpy((char *)&symbol + offset, from, bytes, kind);
}
template <typename T>
inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpy(to, (const char *)&symbol + offset, bytes, kind);
}
template <typename T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return cudaMemcpyAsync((char *)&symbol + offset, from, bytes, kind, stream);
}
template <typename T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return cudaMemcpyAsync(to, (const char *)&symbol + offset, bytes, kind, stream);
}
template <typename T>
inline cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
  *address = (void *)&symbol;
  return cudaSuccess;
}
template <typename T>
inline cudaError_t cudaGetSymbolSize(size_t *size, const T &) {
  *size = sizeof(T);
  return cudaSuccess;
}
template <typename... P>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <typename... P>
inline cudaError_t cudaFuncSetCacheConfig(void (*)(P...), cudaFuncCache) {
  return cudaSuccess;
}
// ---- more of the device's language than our own kernels need ----

#define CUDA_EMULATOR_TWO(T)                       \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
CUDA_EMULATOR_TWO(int)
CUDA_EMULATOR_TWO(unsigned)
CUDA_EMULATOR_TWO(long)
CUDA_EMULATOR_TWO(unsigned long)
CUDA_EMULATOR_TWO(long long)
CUDA_EMULATOR_TWO(unsigned long long)
#undef CUDA_EMULATOR_TWO
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(double(a), b); }
inline double max(float a, double b) { return fmax(double(a), b); }
inline double min(double a, float b) { return fmin(a, double(b)); }
inline double max(double a, float b) { return fmax(a, double(b)); }
inline unsigned min(int a, unsigned b) { return min(unsigned(a), b); }
inline unsigned max(int a, unsigned b) { return max(unsigned(a), b); }
inline unsigned min(unsigned a, int b) { return min(a, unsigned(b)); }
inline unsigned max(unsigned a, int b) { return max(a, unsigned(b)); }
inline unsigned long min(unsigned long a, int b) { return min(a, (unsigned long)b); }
inline unsigned long min(int a, unsigned long b) { return min((unsigned long)a, b); }

#define CUDA_EMULATOR_ATOMIC(name, T, expression)                                           \
  inline T name(T *p, T v) {                                                                \
    return cuda_emulator::atomic(p, [v]([[maybe_unused]] T o) -> T { return expression; }); \
  }
CUDA_EMULATOR_ATOMIC(atomicSub, int, int(unsigned(o) - unsigned(v)))
CUDA_EMULATOR_ATOMIC(atomicSub, unsigned, o - v)
CUDA_EMULATOR_ATOMIC(atomicDec, unsigned, o == 0 || o > v ? v : o - 1)
CUDA_EMULATOR_ATOMIC(atomicMax, long long, o < v ? v : o)
CUDA_EMULATOR_ATOMIC(atomicMin, long long, v < o ? v : o)
CUDA_EMULATOR_ATOMIC(atomicAdd, __half, __float2half(__half2float(o) + __half2float(v)))
CUDA_EMULATOR_ATOMIC(atomicAdd, __nv_bfloat16, __float2bfloat16(__bfloat162float(o) + __bfloat162float(v)))
#undef CUDA_EMULATOR_ATOMIC
#define CUDA_EMULATOR_SCOPES(name)                           \
  template <typename T, typename V>                          \
  inline T name##_block(T *p, V v) { return name(p, T(v)); } \
  template <typename T, typename V>                          \
  inline T name##_system(T *p, V v) { return name(p, T(v)); }
CUDA_EMULATOR_SCOPES(atomicAdd)
CUDA_EMULATOR_SCOPES(atomicSub)
CUDA_EMULATOR_SCOPES(atomicMax)
CUDA_EMULATOR_SCOPES(atomicMin)
CUDA_EMULATOR_SCOPES(atomicExch)
#undef CUDA_EMULATOR_SCOPES

inline unsigned __activemask() { return cuda_emulator::active_lanes(); }
template <typename T>
inline unsigned __match_any_sync(unsigned mask, T value, CUDA_EMULATOR_AT) {
  unsigned same = 0;
  for (int lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) {
      const uint64_t other = cuda_emulator::warp_function(cuda_emulator::SHFL, mask, cuda_emulator::to_bits(value), lane, 32, file, line);
      if (other == cuda_emulator::to_bits(value)) same |= 1u << lane;
    }
  return same;
}
template <typename T>
inline unsigned __match_all_sync(unsigned mask, T value, int *all, CUDA_EMULATOR_AT) {
  *all = __match_any_sync(mask, value, file, line) == mask;
  return *all ? mask : 0;
}
#define CUDA_EMULATOR_REDUCE(name, T, expression)                                                                          \
  inline T name(unsigned mask, T value, CUDA_EMULATOR_AT) {                                                                \
    bool begun = false;                                                                                                    \
    T a = 0;                                                                                                               \
    for (int lane = 0; lane < 32; ++lane)                                                                                  \
      if (mask >> lane & 1) {                                                                                              \
        const T b = cuda_emulator::from_bits<T>(                                                                           \
            cuda_emulator::warp_function(cuda_emulator::SHFL, mask, cuda_emulator::to_bits(value), lane, 32, file, line)); \
        a = begun ? T(expression) : b;                                                                                     \
        begun = true;                                                                                                      \
      }                                                                                                                    \
    return a;                                                                                                              \
  }
CUDA_EMULATOR_REDUCE(__reduce_add_sync, int, a + b)
CUDA_EMULATOR_REDUCE(__reduce_add_sync, unsigned, a + b)
CUDA_EMULATOR_REDUCE(__reduce_min_sync, int, b < a ? b : a)
CUDA_EMULATOR_REDUCE(__reduce_min_sync, unsigned, b < a ? b : a)
CUDA_EMULATOR_REDUCE(__reduce_max_sync, int, a < b ? b : a)
CUDA_EMULATOR_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
CUDA_EMULATOR_REDUCE(__reduce_and_sync, unsigned, a &b)
CUDA_EMULATOR_REDUCE(__reduce_or_sync, unsigned, a | b)
CUDA_EMULATOR_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef CUDA_EMULATOR_REDUCE

inline void __threadfence_system() { __threadfence(); }
inline void __nanosleep(unsigned) {}
inline long long clock64() { return cuda_emulator::ticks(); }
inline unsigned long long globaltimer() { return (unsigned long long)cuda_emulator::ticks(); }

template <typename T>
inline T __ldcg(const T *p) { return *p; }
template <typename T>
inline T __ldca(const T *p) { return *p; }
template <typename T>
inline T __ldcs(const T *p) { return *p; }
template <typename T>
inline void __stcs(T *p, T v) { *p = v; }
template <typename T>
inline void __stcg(T *p, T v) { *p = v; }
template <typename T>
inline void __stwt(T *p, T v) { *p = v; }

inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline void __sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
inline float __powf(float x, float y) { return exp2f(y * log2f(x)); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __exp10f(float x) { return exp2f(x * 3.3219280948873623f); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float sinpif(float x) { return sinf(x * 3.14159265358979f); }
inline float cospif(float x) { return cosf(x * 3.14159265358979f); }
inline double sinpi(double x) { return sin(x * 3.14159265358979323846); }
inline double cospi(double x) { return cos(x * 3.14159265358979323846); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
inline int __mul24(int a, int b) { return int((int64_t(a << 8) >> 8) * (int64_t(b << 8) >> 8)); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
inline int __mulhi(int a, int b) { return int(int64_t(a) * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)(a)*b >> 64); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r = r << 1 | (x >> i & 1);
  return r;
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  const uint64_t both = uint64_t(b) << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= unsigned(both >> ((s >> 4 * i & 7) * 8) & 0xFF) << 8 * i;
  return r;
}
inline unsigned __float_as_uint(float x) { return unsigned(__float_as_int(x)); }
inline float __uint_as_float(unsigned x) { return __int_as_float(int(x)); }
inline long long __double_as_longlong(double x) { return cuda_emulator::from_bits<long long>(cuda_emulator::to_bits(x)); }
inline double __longlong_as_double(long long x) { return cuda_emulator::from_bits<double>(cuda_emulator::to_bits(x)); }
inline int __float2int_rn(float x) { return int(nearbyintf(x)); }
inline int __float2int_rz(float x) { return int(x); }
inline int __float2int_rd(float x) { return int(floorf(x)); }
inline int __float2int_ru(float x) { return int(ceilf(x)); }
inline unsigned __float2uint_rn(float x) { return unsigned(nearbyintf(x)); }
inline float __int2float_rn(int x) { return float(x); }
inline float __uint2float_rn(unsigned x) { return float(x); }

// An assertion of a kernel names its thread; the host's is the C library's.
#undef assert
#define assert(expression) ((expression) ? void(0) : ::cuda_emulator::failed_assertion(#expression, __FILE__, __LINE__))

// These words stay as they are for translating.py.
#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __shared__
#undef __managed__
#undef __grid_constant__

extern int cuda_emulator_translation_begins;
#endif  // CUDA_EMULATOR_CUDA_H
