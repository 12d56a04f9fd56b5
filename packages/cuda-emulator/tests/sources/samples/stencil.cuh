// A stencil with a halo in shared memory, its weights in constant memory.
#pragma once
#include "samples.cuh"

constexpr int radius = 3, stencil_block = 64;
__constant__ float weights[2 * radius + 1];

__global__ void stencil(const float *in, float *out, int n, int plant) {
  __shared__ float temp[stencil_block + 2 * radius];
  const int g = threadIdx.x + blockIdx.x * blockDim.x, l = threadIdx.x + radius;
  temp[l] = g < n ? in[g] : 0;
  if (threadIdx.x < radius) {
    if (plant != 1) temp[l - radius] = g - radius >= 0 ? in[g - radius] : 0;  // 1: no left halo
    if (plant == 2) temp[l + stencil_block] = in[g + stencil_block];          // 2: the right one past the end
    else temp[l + stencil_block] = g + stencil_block < n ? in[g + stencil_block] : 0;
  }
  if (plant != 3) __syncthreads();  // 3
  float sum = 0;
  for (int o = -radius; o <= radius; ++o) sum += temp[l + o] * weights[o + radius];
  if (g < n) out[g] = sum;
}

inline bool run_stencil(int plant) {
  const int n = 250;
  const std::vector<float> x = numbers(n);
  const float w[2 * radius + 1] = {1, 2, 3, 4, 3, 2, 1};
  float *in = on_device(x), *out;
  CHECK(cudaMalloc(&out, n * sizeof(float)));
  CHECK(cudaMemcpyToSymbol(weights, w, plant == 4 ? sizeof w + 4 : sizeof w));  // 4: one more than there are
  stencil<<<(n + stencil_block - 1) / stencil_block, stencil_block>>>(in, out, n, plant);
  CHECK(cudaGetLastError());
  const std::vector<float> got = to_host(out, n);
  bool good = true;
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int o = -radius; o <= radius; ++o) sum += (i + o >= 0 && i + o < n ? x[i + o] : 0) * w[o + radius];
    good &= close(got[i], sum);
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return good;
}
