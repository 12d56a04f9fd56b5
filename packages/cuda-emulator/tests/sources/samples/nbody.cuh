// Forces among bodies: tiles of positions pass through shared memory; two streams, one for the forces and one that reads them back.
#pragma once
#include "samples.cuh"

constexpr int bodies_block = 64;

__device__ float3 interaction(float4 a, float4 b, float3 f) {
  const float3 r = make_float3(b.x - a.x, b.y - a.y, b.z - a.z);
  const float d = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f;
  const float s = b.w * rsqrtf(d * d * d);
  return make_float3(f.x + r.x * s, f.y + r.y * s, f.z + r.z * s);
}
__global__ void forces(const float4 *positions, float4 *out, int n, int plant) {
  extern __shared__ float4 shared[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = positions[i];
  float3 f = make_float3(0, 0, 0);
  for (int tile = 0; tile < n / bodies_block; ++tile) {
    shared[threadIdx.x] = positions[tile * blockDim.x + threadIdx.x];
    if (plant != 1) __syncthreads();  // 1
    for (int k = 0; k < bodies_block; ++k) f = interaction(me, shared[k], f);
    __syncthreads();
  }
  out[i] = make_float4(f.x, f.y, f.z, 0);
}

inline bool run_nbody(int plant) {
  const int n = 128;
  const std::vector<float> raw = numbers(4 * n);
  std::vector<float4> p(n);
  for (int i = 0; i < n; ++i) p[i] = make_float4(raw[4 * i], raw[4 * i + 1], raw[4 * i + 2], 1);
  float4 *positions = on_device(p), *out, *pinned;
  cudaStream_t work, back;
  cudaEvent_t done;
  CHECK(cudaMalloc(&out, n * sizeof(float4)));
  CHECK(cudaMallocHost(&pinned, n * sizeof(float4)));
  std::memset(pinned, 0, n * sizeof(float4));
  CHECK(cudaStreamCreate(&work));
  CHECK(cudaStreamCreate(&back));
  CHECK(cudaEventCreate(&done));
  // 5: shared memory of the wrong size
  forces<<<n / bodies_block, bodies_block, plant == 5 ? bodies_block * sizeof(float) : bodies_block * sizeof(float4), work>>>(positions, out, n, plant);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(done, work));
  if (plant != 2) CHECK(cudaStreamWaitEvent(back, done, 0));  // 2: the copy does not wait for the kernel
  CHECK(cudaMemcpyAsync(pinned, out, n * sizeof(float4), cudaMemcpyDeviceToHost, back));
  if (plant == 4) CHECK(cudaFree(out));                     // 4: freed, and read below
  if (plant != 3) CHECK(cudaStreamSynchronize(back));       // 3: read before it is there
  bool good = true;
  for (int i = 0; i < n; ++i) {
    double f = 0;
    for (int k = 0; k < n; ++k) {
      const double x = double(p[k].x) - p[i].x, y = double(p[k].y) - p[i].y, z = double(p[k].z) - p[i].z, d = x * x + y * y + z * z + 0.01;
      f += x / std::sqrt(d * d * d);
    }
    good &= close(pinned[i].x, float(f), 1e-3f);
  }
  if (plant == 4) good &= to_host(out, 1)[0].w == 0;
  CHECK(cudaDeviceSynchronize());
  if (plant != 4) CHECK(cudaFree(out));
  CHECK(cudaFree(positions));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaEventDestroy(done));
  CHECK(cudaStreamDestroy(work));
  CHECK(cudaStreamDestroy(back));
  return good;
}
