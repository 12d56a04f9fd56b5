// Products of one warp, by fragments that are filled from the tables of the PTX ISA or by ldmatrix.
#include <cuda_emulator/mma.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

template <typename T>
__device__ uint32_t pair(T low, T high) {
  uint16_t bits[2];
  memcpy(bits, &low, 2), memcpy(bits + 1, &high, 2);
  return bits[0] | uint32_t(bits[1]) << 16;
}

// A [16, 16] and B [16, 8] as floats. How: 0 by the tables; 1 by ldmatrix from [m][k] and [n][k]; 2 by ldmatrix.trans from [k][m] and [k][n].
template <typename T>
__global__ void product(const float *a, const float *b, float *d, int how) {
  WRY_SHARED(uint4, left, 32);
  WRY_SHARED(uint4, right, 16);
  T *const of_a = reinterpret_cast<T *>(left), *const of_b = reinterpret_cast<T *>(right);
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const auto at_a = [&](int m, int k) { return T(a[m * 16 + k]); };
  const auto at_b = [&](int k, int n) { return T(b[k * 8 + n]); };
  uint32_t fa[4], fb[2];
  if (how == 0) {
    for (int r = 0; r < 4; ++r) fa[r] = pair(at_a(g + r % 2 * 8, 2 * t + r / 2 * 8), at_a(g + r % 2 * 8, 2 * t + r / 2 * 8 + 1));
    for (int r = 0; r < 2; ++r) fb[r] = pair(at_b(2 * t + 8 * r, g), at_b(2 * t + 8 * r + 1, g));
  } else {
    for (int e = lane; e < 256; e += 32) of_a[e] = how == 1 ? at_a(e / 16, e % 16) : at_a(e % 16, e / 16);
    for (int e = lane; e < 128; e += 32) of_b[e] = how == 1 ? at_b(e % 16, e / 16) : at_b(e / 8, e % 8);
    __syncwarp();
    const int i = lane / 8, j = lane % 8;
    if (how == 1) {
      wry_ldmatrix<4, false>(fa, of_a + (i % 2 * 8 + j) * 16 + i / 2 * 8);
      wry_ldmatrix<2, false>(fb, of_b + j * 16 + i % 2 * 8);
    } else {
      wry_ldmatrix<4, true>(fa, of_a + (i / 2 * 8 + j) * 16 + i % 2 * 8);
      wry_ldmatrix<2, true>(fb, of_b + (i % 2 * 8 + j) * 8);
    }
  }
  float sums[4] = {1, 1, 1, 1};
  wry_mma<T>(sums, fa, fb);
  for (int i = 0; i < 4; ++i) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sums[i];
}

// out = x of `valid` values of 16 bits, zeros up to 8; nothing of x is read after them.
__global__ void copied(const uint16_t *x, uint16_t *out, int valid) {
  WRY_SHARED(uint4, s, 1);
  wry_copy_async(s, x, 2 * valid);
  wry_commit_copies();
  wry_wait_copies<0>();
  for (int i = 0; i < 8; ++i) out[i] = reinterpret_cast<const uint16_t *>(s)[i];
}

static void *device(const void *from, size_t bytes) {
  void *p;
  cudaMalloc(&p, bytes ? bytes : 1);
  if (from) cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice);
  return p;
}
EXPORT int run_product(const float *a, const float *b, float *out, int is_half, int how) {
  const auto *x = static_cast<const float *>(device(a, 1024)), *y = static_cast<const float *>(device(b, 512));
  auto *d = static_cast<float *>(device(nullptr, 512));
  if (is_half) wry_launch(product<__half>, dim3(1), dim3(32), 0, nullptr, x, y, d, how);
  else wry_launch(product<__nv_bfloat16>, dim3(1), dim3(32), 0, nullptr, x, y, d, how);
  return cudaMemcpy(out, d, 512, cudaMemcpyDeviceToHost);
}
EXPORT int run_copied(const uint16_t *x, uint16_t *out, int valid) {
  const auto *from = static_cast<const uint16_t *>(device(x, 2 * valid));
  auto *to = static_cast<uint16_t *>(device(nullptr, 16));
  wry_launch(copied, dim3(1), dim3(1), 0, nullptr, from, to, valid);
  return cudaMemcpy(out, to, 16, cudaMemcpyDeviceToHost);
}
