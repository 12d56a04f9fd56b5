// Prefix sums of a block, by Hillis and Steele with two buffers, and by Blelloch up and down one tree.
#pragma once
#include "samples.cuh"

__global__ void scan_steps(const int *in, int *out, int n, int plant) {
  extern __shared__ int temp[];  // two buffers of n
  const int t = threadIdx.x;
  int to = 0, from = 1;
  temp[t] = in[t];
  if (plant != 1) __syncthreads();  // 1
  for (int offset = 1; offset < n; offset *= 2) {
    to = 1 - to, from = 1 - to;
    if (t >= offset) temp[to * n + t] = temp[from * n + t] + temp[from * n + t - offset];
    else if (plant != 2) temp[to * n + t] = temp[from * n + t];  // 2: values that stay are not carried over
    __syncthreads();
  }
  out[t] = temp[to * n + t];
}

__global__ void scan_tree(const int *in, int *out, int n, int plant) {
  extern __shared__ int temp[];
  const int t = threadIdx.x;
  int offset = 1;
  temp[2 * t] = in[2 * t], temp[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    if (plant != 3) __syncthreads();  // 3
    if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - (plant == 4 ? 0 : 1);  // 4: one past the tree
      const int left = temp[a];
      temp[a] = temp[b];
      temp[b] += left;
    }
  }
  __syncthreads();
  out[2 * t] = temp[2 * t], out[2 * t + 1] = temp[2 * t + 1];
}

inline bool run_scan(int plant) {
  const int n = 256;
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) x[i] = i % 7;
  int *in = on_device(x), *out;
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  bool good = true;
  for (int tree = 0; tree < 2; ++tree) {
    if (tree) scan_tree<<<1, n / 2, n * sizeof(int)>>>(in, out, n, plant);
    else scan_steps<<<1, n, 2 * n * sizeof(int)>>>(in, out, n, plant);
    CHECK(cudaGetLastError());
    const std::vector<int> got = to_host(out, n);
    for (int i = 0, sum = 0; i < n; ++i) {
      if (!tree) sum += x[i];
      good &= got[i] == sum;
      if (tree) sum += x[i];
    }
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return good;
}
