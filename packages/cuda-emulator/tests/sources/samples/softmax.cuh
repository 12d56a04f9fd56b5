// Softmax of rows, a block for each: its maximum and its sum by warps, whose parts meet in shared memory.
#pragma once
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "samples.cuh"
namespace cg = cooperative_groups;

template <typename F>
__device__ float over_block(float value, float *parts, F f, float start, int plant) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  value = cg::reduce(warp, value, f);
  if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = value;
  if (plant != 1) cg::sync(block);  // 1
  value = start;
  for (unsigned i = 0; i < warp.meta_group_size() + (plant == 2); ++i) value = f(value, parts[i]);  // 2: one part that nobody wrote
  if (plant != 3) block.sync();  // 3: the parts of the sum overwrite those of the maximum
  return value;
}
__global__ void softmax(const float *x, float *out, int n, int plant) {
  __shared__ float parts[32];
  const float *row = x + blockIdx.x * n;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
  most = over_block(most, parts, cg::greater<float>(), -INFINITY, plant);
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - most);
  sum = over_block(sum, parts, cg::plus<float>(), 0.f, plant);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = expf(row[i] - most) / sum;
}

inline bool run_softmax(int plant) {
  const int rows = 3, n = 300;
  const std::vector<float> x = numbers(rows * n);
  float *in = on_device(x), *out;
  CHECK(cudaMalloc(&out, (plant == 4 ? rows - 1 : rows) * n * sizeof(float)));  // 4: a row too few
  softmax<<<rows, 128>>>(in, out, n, plant);
  CHECK(cudaGetLastError());
  bool good = true;
  if (plant != 4) {
    const std::vector<float> got = to_host(out, rows * n);
    for (int r = 0; r < rows; ++r) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += std::exp(double(x[r * n + i]));
      for (int i = 0; i < n; ++i) good &= close(got[r * n + i], float(std::exp(double(x[r * n + i])) / sum));
    }
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return good;
}
