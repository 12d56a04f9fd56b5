// What the processor can do at most: loops that only multiply and add in registers, or only pass through memory. Kernels are
// measured against them (`wherry bench`, benchmarks/run.py).
#include "int8.h"
#include "parallel.h"
#include "simd.h"

namespace WRY_NAMESPACE {
namespace {

constexpr int chains = 12;  // of sums that do not wait for each other: enough for the latency, and they fit 16 registers

// Factors that the compiler does not know, and a place for what would otherwise not be computed.
volatile double factor = 0.5, summand = 0.25, result;

template <typename T>
int64_t multiply_adds(int64_t rounds) {
  const vec<T> x = splat<vec<T>>(T(factor)), y = splat<vec<T>>(T(summand));
  vec<T> sum[chains];
#pragma GCC unroll 12
  for (int i = 0; i < chains; ++i) sum[i] = y + T(i);
  for (int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) sum[i] = fma(sum[i], x, y);
#pragma GCC unroll 12
  for (int i = 1; i < chains; ++i) sum[0] += sum[i];
  result = double(reduce_add(sum[0]));
  return rounds * chains * lanes<T>;
}

int64_t multiply_adds_of_bytes(int64_t rounds) {
  alignas(64) int8_t bytes[step_bytes];
  alignas(64) Whole fours[4] = {1, 2, 3, 4};
  memset(bytes, int(factor * 4), sizeof bytes);
  Sums sum[chains];
#pragma GCC unroll 12
  for (int i = 0; i < chains; ++i) sum[i] = (Sums)(i32_of_sums{} + i);  // equal ones would be computed once
  for (int64_t round = 0; round < rounds; ++round) {
    __asm__ volatile("" : : "r"(bytes), "r"(fours) : "memory");  // both may have changed: products are computed again
    const Inputs x = inputs_at(fours);
    const Weights w = weights_at(bytes);
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) sum[i] = add_products(w, x, sum[i]);
  }
  i32_of_sums all{};
#pragma GCC unroll 12  // indices that are known: or sums live in memory
  for (int i = 0; i < chains; ++i) all += (i32_of_sums)sum[i];
  result = double(all[0]);
  return rounds * chains * (step_bytes / vectors);
}

// Instructions of their own that a whole set of kernels is not compiled for.
#if defined(WRY_AVX512) && !defined(__clang__) && __GNUC__ >= 12
#define WRY_PEAK_OF(name, isa, V, step, many)                                                                \
  __attribute__((target(isa), noinline)) int64_t name(int64_t rounds) {                                      \
    alignas(64) uint16_t memory[32];                                                                         \
    for (int i = 0; i < 32; ++i) memory[i] = 0x3c00;                                                         \
    V sum[chains];                                                                                           \
    _Pragma("GCC unroll 12") for (int i = 0; i < chains; ++i) sum[i] = (V)_mm512_set1_epi32(0x3f803c00 + i); \
    for (int64_t round = 0; round < rounds; ++round) {                                                       \
      __asm__ volatile("" : : "r"(memory) : "memory");                                                       \
      const __m512i x = _mm512_load_si512(memory);                                                           \
      _Pragma("GCC unroll 12") for (int i = 0; i < chains; ++i) sum[i] = step;                               \
    }                                                                                                        \
    u64 all{};                                                                                               \
    _Pragma("GCC unroll 12") for (int i = 0; i < chains; ++i) all += (u64)sum[i];                            \
    result = double(all[0]);                                                                                 \
    return rounds * chains * many;                                                                           \
  }
WRY_PEAK_OF(multiply_adds_bf16, "avx512bf16", __m512, _mm512_dpbf16_ps(sum[i], (__m512bh)x, (__m512bh)x), 32)
WRY_PEAK_OF(multiply_adds_f16, "avx512fp16", __m512h, _mm512_fmadd_ph((__m512h)x, (__m512h)x, sum[i]), 32)
#undef WRY_PEAK_OF
#endif

// The memory that a piece passes through: whole vectors.
struct Stretch {
  float *from, *to;
  int64_t count;
};

void pass(const char *what, const Stretch &s) {
  if (!strcmp(what, "read")) {
    f32 sum[8] = {};
    int64_t i = 0;
    for (; i + 8 * f32_lanes <= s.count; i += 8 * f32_lanes)
#pragma GCC unroll 8
      for (int u = 0; u < 8; ++u) sum[u] += load(s.from + i + u * f32_lanes);
    for (int u = 1; u < 8; ++u) sum[0] += sum[u];
    result = double(reduce_add(sum[0]));
    return;
  }
  const f32 value = splat<f32>(float(factor));
  const bool copies = !strcmp(what, "copy");
  for (int64_t i = 0; i < s.count; i += f32_lanes) stream(s.to + i, copies ? load(s.from + i) : value);
  stream_fence();
}

}  // namespace
}  // namespace WRY_NAMESPACE

#define WRY_LIMIT_(isa) wry_cpu_##isa##_limit
#define WRY_LIMIT(isa) WRY_LIMIT_(isa)

// Does `rounds` of `what` on each of so many threads, and says how much that was: multiply-adds of "float32", "float64", "int8", "bfloat16" or
// "float16" (sums in float16), bytes of "read", "write" or "copy" (both sides) through `memory`, 0 of "wake". -1: not on this processor.
extern "C" int64_t WRY_LIMIT(WRY_ISA)(const char *what, int64_t rounds, int threads, void *memory, int64_t bytes);
extern "C" int64_t WRY_LIMIT(WRY_ISA)(const char *what, int64_t rounds, int threads, void *memory, int64_t bytes) {
  using namespace WRY_NAMESPACE;
  int64_t (*loop)(int64_t) = nullptr;
  if (!strcmp(what, "float32")) loop = multiply_adds<float>;
  if (!strcmp(what, "float64")) loop = multiply_adds<double>;
  if (!strcmp(what, "int8")) loop = multiply_adds_of_bytes;
#if defined(WRY_AVX512) && !defined(__clang__) && __GNUC__ >= 12
  if (!strcmp(what, "bfloat16") && __builtin_cpu_supports("avx512bf16")) loop = multiply_adds_bf16;
  if (!strcmp(what, "float16") && __builtin_cpu_supports("avx512fp16")) loop = multiply_adds_f16;
#endif
  const bool moves = !strcmp(what, "read") || !strcmp(what, "write") || !strcmp(what, "copy");
  if (!loop && !moves && strcmp(what, "wake")) return -1;
  wry_context context = {};
  context.num_threads = threads;
  wry_call call = {};
  call.context = &context;
  // Halves of the memory for both sides of a copy; one side is all of it.
  const int64_t side = bytes / int64_t(sizeof(float)) / (strcmp(what, "copy") ? 1 : 2) / (16 * threads) * 16;
  float *const floats = static_cast<float *>(memory);
  parallel_tasks(&call, threads, [&](int64_t piece) {
    if (loop) loop(rounds);
    for (int64_t round = 0; moves && round < rounds; ++round)
      pass(what, {floats + piece * side, floats + piece * side + (strcmp(what, "copy") ? 0 : side * threads), side});
  });
  if (moves) return rounds * threads * side * int64_t(sizeof(float)) * (strcmp(what, "copy") ? 1 : 2);
  return loop ? threads * loop(1) * rounds : 0;
}
