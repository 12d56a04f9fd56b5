// A bitonic sort in shared memory.
#pragma once
#include "samples.cuh"

__device__ void compare_and_swap(float *a, float *b, bool up) {
  if ((*a > *b) == up) {
    const float t = *a;
    *a = *b, *b = t;
  }
}
__global__ void bitonic(float *values, int n, int plant) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = values[t], s[t + n / 2] = values[t + n / 2];
  for (int size = 2; size <= n; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      if (plant != 1 || stride > 16) __syncthreads();  // 1: within a warp nothing separates the steps
      const int at = 2 * t - (t & (stride - 1));
      compare_and_swap(s + at, s + at + stride + (plant == 2 && at + stride == n - 1), (at & size) == 0);  // 2: one beyond the last
    }
  __syncthreads();
  values[t] = s[t];
  if (plant != 3) values[t + n / 2] = s[t + n / 2];
  else values[t + n / 2 + 1] = s[t + n / 2];  // 3: one past the end
}

inline bool run_sort(int plant) {
  const int n = 256;
  const std::vector<float> x = numbers(n);
  float *values = on_device(x);
  bitonic<<<1, n / 2>>>(values, n, plant);
  CHECK(cudaGetLastError());
  const std::vector<float> got = to_host(values, n);
  bool good = true;
  for (int i = 1; i < n; ++i) good &= got[i - 1] <= got[i];
  CHECK(cudaFree(values));
  return good;
}
