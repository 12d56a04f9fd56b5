// Attention of one head: keys and values pass through shared memory in tiles, with a running maximum and sum for each query.
#pragma once
#include "samples.cuh"

template <int Width, int Tile>
__global__ void attention(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v, float *__restrict__ out, int keys, float scale, int plant) {
  __shared__ float ks[Tile][Width + 1], vs[Tile][Width + 1];
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  float mine[Width], sum[Width] = {}, most = -INFINITY, all = 0;
  for (int d = 0; d < Width; ++d) mine[d] = q[query * Width + d];
  for (int begin = 0; begin < keys; begin += Tile) {
    if (plant != 1) __syncthreads();  // 1: the tile is overwritten while others read it
    for (int i = threadIdx.x; i < Tile * Width; i += blockDim.x) {
      const int key = begin + i / Width;
      if (plant == 2 || key < keys) {  // 2: past the last key
        ks[i / Width][i % Width] = k[key * Width + i % Width];
        if (plant != 3 || i % Width) vs[i / Width][i % Width] = v[key * Width + i % Width];  // 3: a column of the values is not loaded
      }
    }
    __syncthreads();
    const int here = min(Tile, keys - begin);
    for (int j = 0; j < here; ++j) {
      float score = 0;
      for (int d = 0; d < Width; ++d) score += mine[d] * ks[j][d];
      score *= scale;
      const float next = fmaxf(most, score), keep = __expf(most - next), weight = __expf(score - next);
      for (int d = 0; d < Width; ++d) sum[d] = sum[d] * keep + weight * vs[j][d];
      all = all * keep + weight, most = next;
    }
  }
  for (int d = 0; d < Width; ++d) out[query * Width + d] = sum[d] / all;
}

inline bool run_attention(int plant) {
  const int queries = 64, keys = 40, width = 16;
  const std::vector<float> q = numbers(queries * width), k = numbers(keys * width), v = numbers(keys * width);
  float *dq = on_device(q), *dk = on_device(k), *dv = on_device(v), *out;
  CHECK(cudaMalloc(&out, q.size() * sizeof(float)));
  auto kernel = attention<16, 16>;
  kernel<<<plant == 4 ? 3 : 2, 32>>>(dq, dk, dv, out, keys, 0.25f, plant);  // 4: a block too many
  CHECK(cudaGetLastError());
  const std::vector<float> got = to_host(out, q.size());
  bool good = true;
  for (int i = 0; i < queries; ++i)
    for (int d = 0; d < width; ++d) {
      double sum = 0, all = 0;
      for (int j = 0; j < keys; ++j) {
        double score = 0;
        for (int e = 0; e < width; ++e) score += double(q[i * width + e]) * k[j * width + e];
        const double weight = std::exp(score * 0.25);
        sum += weight * v[j * width + d], all += weight;
      }
      good &= close(got[i * width + d], float(sum / all), 1e-3f);
    }
  for (float *p : {dq, dk, dv, out}) CHECK(cudaFree(p));
  return good;
}
