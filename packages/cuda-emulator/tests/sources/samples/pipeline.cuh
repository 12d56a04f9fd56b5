// An array in chunks through two buffers: streams copy in, compute and copy out, and events say when a buffer is free.
#pragma once
#include "samples.cuh"

__global__ void warp_norms(const float *in, float *out, int n, int plant) {
  __shared__ float rows[4][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = i < n || plant == 1 ? in[i] : 0;  // 1: a chunk is not a multiple of a block
  rows[warp][lane] = v * v;
  if (plant != 2) __syncwarp();  // 2: a neighbour's square is read before it is there
  float sum = rows[warp][lane] + rows[warp][lane ^ 16];
  for (int step = 8; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (i < n) out[i] = v / sqrtf(sum);
}

inline bool run_pipeline(int plant) {
  const int n = 1100, chunk = 224;
  const std::vector<float> x = numbers(n);
  float *pinned_in, *pinned_out, *in[2], *out[2];
  cudaStream_t inwards, kernels, outwards;
  cudaEvent_t filled[2], computed[2], fetched[2];
  for (cudaStream_t *stream : {&inwards, &kernels, &outwards}) CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  CHECK(cudaMallocHost(&pinned_in, n * sizeof(float)));
  CHECK(cudaMallocHost(&pinned_out, n * sizeof(float)));
  std::memcpy(pinned_in, x.data(), n * sizeof(float));
  for (int b = 0; b < 2; ++b) {
    for (cudaEvent_t *event : {&filled[b], &computed[b], &fetched[b]}) CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    CHECK(cudaMalloc(&in[b], chunk * sizeof(float)));
    CHECK(cudaMalloc(&out[b], chunk * sizeof(float)));
  }
  for (int begin = 0, round = 0; begin < n; begin += chunk, ++round) {
    const int b = round % 2, count = n - begin < chunk ? n - begin : chunk;
    if (round > 1 && plant != 3) CHECK(cudaStreamWaitEvent(inwards, computed[b], 0));  // 3: the buffer is filled while a kernel reads it
    CHECK(cudaMemcpyAsync(in[b], pinned_in + begin, count * sizeof(float), cudaMemcpyHostToDevice, inwards));
    CHECK(cudaEventRecord(filled[b], inwards));
    if (plant != 4) CHECK(cudaStreamWaitEvent(kernels, filled[b], 0));  // 4: the kernel does not wait for the copy
    if (round > 1 && plant != 5) CHECK(cudaStreamWaitEvent(kernels, fetched[b], 0));  // 5: a result is overwritten before it is fetched
    warp_norms<<<(count + 127) / 128, 128, 0, kernels>>>(in[b], out[b], count, plant);
    CHECK(cudaEventRecord(computed[b], kernels));
    CHECK(cudaStreamWaitEvent(outwards, computed[b], 0));
    CHECK(cudaMemcpyAsync(pinned_out + begin, out[b], count * sizeof(float), cudaMemcpyDeviceToHost, outwards));
    CHECK(cudaEventRecord(fetched[b], outwards));
  }
  if (plant == 6) pinned_in[n - 1] = 0;  // 6: the next array is filled in while this one is copied
  CHECK(cudaStreamSynchronize(plant == 7 ? kernels : outwards));  // 7: of the wrong stream, so the last result is not there
  double wrong = 0;
  for (int begin = 0; begin < n; begin += 32) {
    const int end = begin + 32 < n ? begin + 32 : n;
    double sum = 0;
    for (int i = begin; i < end; ++i) sum += double(x[i]) * x[i];
    for (int i = begin; i < end; ++i) wrong += std::fabs(pinned_out[i] - x[i] / std::sqrt(sum));
  }
  CHECK(cudaDeviceSynchronize());
  for (float *memory : {in[0], in[1], out[0], out[1]}) CHECK(cudaFree(memory));
  for (cudaStream_t stream : {inwards, kernels, outwards}) CHECK(cudaStreamDestroy(stream));
  return wrong < 1e-3;
}

// What a kernel still uses goes back to the pool on the stream that asked for it.
inline bool run_pool(int plant) {
  const int n = 512;
  float *values = on_device(numbers(n)), *scratch;
  cudaStream_t pool, kernels;
  cudaEvent_t done;
  CHECK(cudaStreamCreateWithFlags(&pool, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  CHECK(cudaMallocAsync(&scratch, n * sizeof(float), pool));
  CHECK(cudaEventRecord(done, pool));
  if (plant != 1) CHECK(cudaStreamWaitEvent(kernels, done, 0));  // 1: the memory is used before it is there
  CHECK(cudaMemsetAsync(scratch, 0, n * sizeof(float), plant == 2 ? pool : kernels));  // 2: on a stream that the kernel does not wait for
  warp_norms<<<4, 128, 0, kernels>>>(values, scratch, n, 0);
  CHECK(cudaMemcpyAsync(values, scratch, n * sizeof(float), cudaMemcpyDeviceToDevice, kernels));
  CHECK(cudaEventRecord(done, kernels));
  if (plant == 3) CHECK(cudaStreamSynchronize(pool));  // 3: the wrong stream
  else CHECK(cudaStreamWaitEvent(pool, done, 0));
  CHECK(cudaFreeAsync(scratch, plant == 4 ? nullptr : pool));  // 4: on the default stream, which waits for neither
  CHECK(cudaStreamSynchronize(kernels));
  const std::vector<float> got = to_host(values, n);
  double squares = 0;
  for (float v : got) squares += double(v) * v;
  return std::fabs(squares - n / 32) < 1e-3;
}
