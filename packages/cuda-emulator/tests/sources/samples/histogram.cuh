// Counts of bytes: in shared memory for each block, then added to those of all.
#pragma once
#include "samples.cuh"

__global__ void histogram(const unsigned char *data, unsigned *bins, int n, int plant) {
  __shared__ unsigned local[256];
  if (plant != 1) local[threadIdx.x] = 0;  // 1: counts begin with whatever is there
  if (plant != 2) __syncthreads();         // 2
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    if (plant == 3) local[data[i]]++;  // 3: no atomic
    else atomicAdd(&local[data[i]], 1u);
  }
  __syncthreads();
  if (plant == 4) bins[threadIdx.x] += local[threadIdx.x];  // 4: no atomic among blocks
  else atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

inline bool run_histogram(int plant) {
  const int n = 3000;
  std::vector<unsigned char> x(n);
  for (int i = 0; i < n; ++i) x[i] = (unsigned char)(i * 31 % 97);
  unsigned char *data = on_device(x);
  unsigned *bins;
  CHECK(cudaMalloc(&bins, 256 * sizeof(unsigned)));
  CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
  histogram<<<3, 256>>>(data, bins, n, plant);
  CHECK(cudaGetLastError());
  const std::vector<unsigned> got = to_host(bins, 256);
  std::vector<unsigned> expected(256);
  for (unsigned char c : x) ++expected[c];
  CHECK(cudaFree(data));
  CHECK(cudaFree(bins));
  return got == expected;
}
