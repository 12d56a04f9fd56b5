// A product of matrices by tiles in shared memory.
#pragma once
#include "samples.cuh"

#define TILE 16

__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K, int plant) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  if (plant == 4 && (row >= M || col >= N)) return;  // 4: leaves before the barriers of the others, and loads nothing for them
  float sum = 0;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    const int k = t * TILE;
    As[threadIdx.y][threadIdx.x] = row < M && (plant == 1 || k + int(threadIdx.x) < K) ? A[row * K + k + threadIdx.x] : 0;  // 1: past the last row
    Bs[threadIdx.y][threadIdx.x] = k + int(threadIdx.y) < K && col < N ? B[(k + threadIdx.y) * N + col] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) sum += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    if (plant != 2) __syncthreads();  // 2: the next tile overwrites what others still read
  }
  if (plant == 3 || (row < M && col < N)) C[row * N + col] = sum;  // 3: writes beyond the edges
}

inline bool run_gemm(int plant) {
  const int M = 40, N = 24, K = 36;
  const std::vector<float> a = numbers(M * K), b = numbers(K * N);
  float *A = on_device(a), *B = on_device(b), *C;
  CHECK(cudaMalloc(&C, M * N * sizeof(float)));
  const dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  gemm<<<grid, block>>>(A, B, C, M, N, K, plant);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const std::vector<float> got = to_host(C, M * N);
  bool good = true;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
      good &= close(got[i * N + j], sum);
    }
  for (float *p : {A, B, C}) CHECK(cudaFree(p));
  return good;
}
