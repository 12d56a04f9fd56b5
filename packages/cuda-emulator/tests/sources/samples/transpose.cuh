// A matrix turned through tiles of shared memory; the naive form and the tile without a column to spare are what is measured.
#pragma once
#include "samples.cuh"

constexpr int tile_dim = 32, block_rows = 8;

__global__ void transpose_naive(const float *in, float *out, int width, int height) {
  const int x = blockIdx.x * tile_dim + threadIdx.x;
  const int y = blockIdx.y * tile_dim + threadIdx.y;
  for (int j = 0; j < tile_dim; j += block_rows) out[x * height + y + j] = in[(y + j) * width + x];
}

template <int Padding>
__global__ void transpose_tiles(const float *in, float *out, int width, int height, int plant) {
  __shared__ float tile[tile_dim][tile_dim + Padding];
  int x = blockIdx.x * tile_dim + threadIdx.x;
  int y = blockIdx.y * tile_dim + threadIdx.y;
  for (int j = 0; j < tile_dim; j += block_rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  if (plant != 1) __syncthreads();  // 1
  x = (plant == 2 ? blockIdx.x : blockIdx.y) * tile_dim + threadIdx.x;  // 2: of the tile that is not turned
  y = (plant == 2 ? blockIdx.y : blockIdx.x) * tile_dim + threadIdx.y;
  for (int j = 0; j < tile_dim; j += block_rows) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

inline bool run_transpose(int plant) {
  const int width = 128, height = 64;
  const std::vector<float> x = numbers(size_t(width) * height);
  float *in = on_device(x), *out;
  CHECK(cudaMalloc(&out, x.size() * sizeof(float)));
  const dim3 grid(width / tile_dim, height / tile_dim), block(tile_dim, block_rows);
  if (plant == 3) transpose_naive<<<grid, block>>>(in, out, width, height);  // 3: stores that are not coalesced
  else if (plant == 4) transpose_tiles<0><<<grid, block>>>(in, out, width, height, plant);  // 4: 32 words of one bank
  else transpose_tiles<1><<<grid, block>>>(in, out, width, height, plant);
  CHECK(cudaGetLastError());
  const std::vector<float> got = to_host(out, x.size());
  bool good = true;
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j) good &= got[j * height + i] == x[i * width + j];
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return good;
}
