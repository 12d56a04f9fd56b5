// The sum of an array: a tree in shared memory, its last warp by shuffles.
#pragma once
#include "samples.cuh"

template <unsigned BlockSize>
__global__ void reduce(const float *in, float *out, unsigned n, int plant) {
  __shared__ float sdata[BlockSize];
  const unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * BlockSize * 2 + tid;
  float mine = 0;
  if (i < n) mine = in[i];
  if (i + BlockSize < n || plant == 2) mine += in[i + BlockSize];  // 2: reads past the end
  sdata[tid] = mine;
  if (plant != 1) __syncthreads();  // 1: the tree begins too early
  for (unsigned s = BlockSize / 2; s >= 16; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    if (plant != 3) __syncthreads();  // 3: steps are not separated
    else if (tid < s) __syncthreads();
  }
  if (tid < 16) {
    mine = sdata[tid];
    const unsigned mask = plant == 4 ? 0xffffffffu : 0xffffu;  // 4: lanes that have left are waited for and asked
    for (int offset = 8; offset > 0; offset >>= 1) mine += __shfl_down_sync(mask, mine, plant == 4 ? offset * 2 : offset, plant == 4 ? 32 : 16);
    if (tid == 0) {
      if (plant == 5) *out += mine;  // 5: no atomic
      else atomicAdd(out, mine);
    }
  }
}

inline bool run_reduction(int plant) {
  const unsigned n = 5000, block = 128, grid = (n + 2 * block - 1) / (2 * block);
  const std::vector<float> x = numbers(n);
  float *in = on_device(x), *out;
  CHECK(cudaMalloc(&out, sizeof(float)));
  if (plant != 6) CHECK(cudaMemset(out, 0, sizeof(float)));  // 6: the sum begins with whatever was there
  reduce<block><<<grid, block>>>(in, out, n, plant);
  CHECK(cudaGetLastError());
  const float got = to_host(out, 1)[0];
  double sum = 0;
  for (float v : x) sum += v;
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return close(got, float(sum), 1e-3f);
}
