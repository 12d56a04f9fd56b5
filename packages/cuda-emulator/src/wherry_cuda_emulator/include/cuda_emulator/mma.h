// Tensor cores, and copies into shared memory beside the program: PTX for nvcc, the same by the PTX ISA's tables for the emulator.
//
//   wry_mma<T>(d, a, b)                d [16, 8] += a [16, 16] b [16, 8]; T is __half or __nv_bfloat16, d float (mma.sync.m16n8k16)
//   wry_ldmatrix<Count, Turned>(r, p)  Count matrices of 8 x 8 values of 16 bits; lane 8 i + j brings the address of row j of the
//                                      i-th (ldmatrix.sync.m8n8); Turned: each lane gets what it would of the transposed (.trans)
//   wry_copy_async(to, from, bytes)    16 bytes into shared memory, zeros from `bytes` on (cp.async.cg)
//   wry_commit_copies()                ends a group of copies (cp.async.commit_group)
//   wry_wait_copies<N>()               until at most N groups of this thread are under way (cp.async.wait_group)
//
// All 32 lanes of a warp take part in the first two. With g = lane / 4 and t = lane % 4, a lane holds, two values to a register:
//   a  rows g, g + 8, g, g + 8 of columns 2 t, 2 t + 1 (first two registers) and 2 t + 8, 2 t + 9 (last two)
//   b  rows 2 t, 2 t + 1 and 2 t + 8, 2 t + 9 of column g
//   d  columns 2 t, 2 t + 1 of row g, then of row g + 8
//   a matrix of ldmatrix: columns 2 t, 2 t + 1 of row g
//
// Before 8.0 there is no mma.sync for bfloat16 (a call ends the kernel), float16 takes two steps, and the copies wait.
#ifndef CUDA_EMULATOR_MMA_H
#define CUDA_EMULATOR_MMA_H

#include "cuda_emulator/kernel.h"

#include <type_traits>

#if defined(__CUDACC__)

template <typename T>
__device__ __forceinline__ void wry_mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  static_assert(std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value, "values of 16 bits");
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (std::is_same<T, __half>::value)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  if constexpr (std::is_same<T, __half>::value) {
#pragma unroll
    for (int step = 0; step < 2; ++step)
      asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[2 * step]), "r"(a[2 * step + 1]), "r"(b[step]));
  } else {
    __trap();
  }
#endif
}

// Volatile, or they could move over the barriers that order them with stores.
template <int Count, bool Turned>
__device__ __forceinline__ void wry_ldmatrix(uint32_t (&r)[Count], const void *row) {
  static_assert(Count == 2 || Count == 4, "two or four matrices");
  const unsigned at = unsigned(__cvta_generic_to_shared(row));
  if constexpr (Count == 4 && Turned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
  else if constexpr (Count == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
  else if constexpr (Turned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));
}

__device__ __forceinline__ void wry_copy_async(void *to, const void *from, int bytes = 16) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
#else
  uint16_t values[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) values[i] = 2 * i < bytes ? static_cast<const uint16_t *>(from)[i] : uint16_t(0);
  uint4 all;
  all.x = values[0] | unsigned(values[1]) << 16, all.y = values[2] | unsigned(values[3]) << 16;
  all.z = values[4] | unsigned(values[5]) << 16, all.w = values[6] | unsigned(values[7]) << 16;
  *static_cast<uint4 *>(to) = all;
#endif
}
__device__ __forceinline__ void wry_commit_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int Pending>
__device__ __forceinline__ void wry_wait_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

#else

// Each place where one stands is a place of its own.
#define CUDA_EMULATOR_INLINE inline __attribute__((always_inline))
template <typename T>
CUDA_EMULATOR_INLINE void wry_mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], CUDA_EMULATOR_AT) {
  static_assert(std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value, "values of 16 bits");
  cuda_emulator::mma(d, a, b, std::is_same<T, __half>::value, file, line);
}
template <int Count, bool Turned>
CUDA_EMULATOR_INLINE void wry_ldmatrix(uint32_t (&r)[Count], const void *row, CUDA_EMULATOR_AT) {
  static_assert(Count == 2 || Count == 4, "two or four matrices");
  cuda_emulator::ldmatrix(r, row, Count, Turned, file, line);
}
CUDA_EMULATOR_INLINE void wry_copy_async(void *to, const void *from, int bytes = 16, CUDA_EMULATOR_AT) { cuda_emulator::copy_async(to, from, bytes, file, line); }
CUDA_EMULATOR_INLINE void wry_commit_copies() { cuda_emulator::commit_copies(); }
template <int Pending>
CUDA_EMULATOR_INLINE void wry_wait_copies() {
  cuda_emulator::wait_copies(Pending);
}

#undef CUDA_EMULATOR_INLINE

#endif

#endif  // CUDA_EMULATOR_MMA_H
