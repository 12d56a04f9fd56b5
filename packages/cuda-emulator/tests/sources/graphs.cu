// Work that is captured into graphs, rightly and wrongly: `run(name, planted)` returns what CUDA says at the end.
#include <cuda_emulator/kernel.h>
#include <string.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

__global__ void add_one(const float *x, float *out, int n) {
  if (threadIdx.x < unsigned(n)) out[threadIdx.x] = x[threadIdx.x] + 1;
}

namespace {
struct World {
  cudaStream_t first = nullptr, second = nullptr;
  float *x = nullptr, *y = nullptr, *host = nullptr;
  World() {
    cudaStreamCreate(&first), cudaStreamCreate(&second);
    cudaMalloc(reinterpret_cast<void **>(&x), 64), cudaMalloc(reinterpret_cast<void **>(&y), 64);
    cudaMallocHost(reinterpret_cast<void **>(&host), 64);
    cudaMemset(x, 0, 64);
    cudaDeviceSynchronize();
  }
  ~World() { cudaStreamDestroy(first), cudaStreamDestroy(second), cudaFree(x), cudaFree(y), cudaFreeHost(host); }
  cudaError_t launch(cudaStream_t stream, float *from, float *to) { return wry_launch(add_one, dim3(1), dim3(32), 0, stream, from, to, 16); }
};
#define TRY(e) \
  if (const cudaError_t c_ = (e)) return c_

// Captures f(world), runs the graph `times`, and gives the first of its results.
template <typename F>
cudaError_t captured(World &w, F f, int times, float *result, cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
  cudaGraph_t graph;
  cudaGraphExec_t runs;
  TRY(cudaStreamBeginCapture(w.first, mode));
  const cudaError_t within = f(w), ended = cudaStreamEndCapture(w.first, &graph);
  if (within) return within;
  TRY(ended);
  TRY(cudaGraphInstantiate(&runs, graph, 0));
  for (int i = 0; i < times; ++i) TRY(cudaGraphLaunch(runs, w.second));
  TRY(cudaMemcpyAsync(w.host, w.y, 4, cudaMemcpyDeviceToHost, w.second));
  TRY(cudaStreamSynchronize(w.second));
  *result = *w.host;
  TRY(cudaGraphExecDestroy(runs));
  return cudaGraphDestroy(graph);
}

cudaError_t replayed(World &w, bool, float *out) {
  return captured(w, [](World &v) { TRY(v.launch(v.first, v.x, v.x)); return v.launch(v.first, v.x, v.y); }, 3, out);
}
cudaError_t synchronized(World &w, bool planted, float *out) {
  return captured(w, [=](World &v) { TRY(v.launch(v.first, v.x, v.y)); return planted ? cudaStreamSynchronize(v.first) : cudaSuccess; }, 1, out);
}
cudaError_t device_synchronized(World &w, bool planted, float *out) {
  return captured(w, [=](World &v) { TRY(v.launch(v.first, v.x, v.y)); return planted ? cudaDeviceSynchronize() : cudaSuccess; }, 1, out);
}
cudaError_t allocated(World &w, bool planted, float *out) {
  return captured(w, [=](World &v) {
    void *p = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    if (!planted) cudaThreadExchangeStreamCaptureMode(&mode);
    const cudaError_t e = cudaMalloc(&p, 16);
    if (!planted) cudaThreadExchangeStreamCaptureMode(&mode);
    TRY(e);
    return v.launch(v.first, v.x, v.y); }, 1, out);
}
cudaError_t copied_from_pageable(World &w, bool planted, float *out) {
  return captured(w, [=](World &v) {
    float pageable[16] = {};
    memset(v.host, 0, 64);
    TRY(cudaMemcpyAsync(v.x, planted ? pageable : v.host, 64, cudaMemcpyHostToDevice, v.first));
    return v.launch(v.first, v.x, v.y); }, 1, out);
}
cudaError_t not_joined(World &w, bool planted, float *out) {
  return captured(w, [=](World &v) {
    cudaEvent_t fork, join;
    cudaEventCreate(&fork), cudaEventCreate(&join);
    TRY(v.launch(v.first, v.x, v.y));
    TRY(cudaEventRecord(fork, v.first));
    TRY(cudaStreamWaitEvent(v.second, fork, 0));
    TRY(v.launch(v.second, v.x, v.y));
    TRY(cudaEventRecord(join, v.second));
    return planted ? cudaSuccess : cudaStreamWaitEvent(v.first, join, 0); }, 1, out);
}
cudaError_t waits_for_others(World &w, bool planted, float *out) {
  return captured(w, [=](World &v) {
    cudaEvent_t outside;
    cudaEventCreate(&outside);
    if (planted) {
      TRY(v.launch(v.second, v.x, v.y));
      TRY(cudaEventRecord(outside, v.second));
      TRY(cudaStreamWaitEvent(v.first, outside, 0));
    }
    return v.launch(v.first, v.x, v.y); }, 1, out);
}
cudaError_t freed(World &w, bool planted, float *out) {
  float *z = nullptr;
  cudaMalloc(reinterpret_cast<void **>(&z), 64);
  cudaMemset(z, 0, 64);
  cudaDeviceSynchronize();
  cudaGraph_t graph;
  cudaGraphExec_t runs;
  TRY(cudaStreamBeginCapture(w.first, cudaStreamCaptureModeRelaxed));
  TRY(w.launch(w.first, z, w.y));
  TRY(cudaStreamEndCapture(w.first, &graph));
  TRY(cudaGraphInstantiate(&runs, graph, 0));
  if (planted) cudaFree(z);
  TRY(cudaGraphLaunch(runs, w.first));
  TRY(cudaStreamSynchronize(w.first));
  *out = 1;
  return planted ? cudaSuccess : cudaFree(z);
}
cudaError_t default_stream(World &w, bool planted, float *out) {
  *out = 1;
  const cudaError_t e = cudaStreamBeginCapture(planted ? nullptr : w.first, cudaStreamCaptureModeRelaxed);
  cudaGraph_t graph;
  return e ? e : cudaStreamEndCapture(w.first, &graph);
}

const struct {
  const char *name;
  cudaError_t (*run)(World &, bool, float *);
} programs[] = {{"replayed", replayed}, {"synchronized", synchronized}, {"device_synchronized", device_synchronized}, {"allocated", allocated}, {"copied_from_pageable", copied_from_pageable}, {"not_joined", not_joined}, {"waits_for_others", waits_for_others}, {"freed", freed}, {"default_stream", default_stream}};
}  // namespace

EXPORT int run(const char *name, int planted, float *out) {
  for (const auto &one : programs)
    if (!strcmp(one.name, name)) {
      World w;
      return one.run(w, planted != 0, out);
    }
  return -1;
}
EXPORT int priorities(int *least, int *greatest, int *given) {
  cudaStream_t s;
  cudaDeviceGetStreamPriorityRange(least, greatest);
  if (cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, *greatest - 7)) return -1;
  cudaStreamGetPriority(s, given);
  return cudaStreamDestroy(s);
}
EXPORT int elapsed(float *milliseconds, int with_times) {
  World w;
  cudaEvent_t from, to;
  cudaEventCreateWithFlags(&from, with_times ? cudaEventDefault : cudaEventDisableTiming), cudaEventCreate(&to);
  cudaEventRecord(from, w.first);
  for (int i = 0; i < 20; ++i) w.launch(w.first, w.x, w.y);
  cudaEventRecord(to, w.first);
  const cudaError_t early = cudaEventElapsedTime(milliseconds, from, to);
  cudaEventSynchronize(to);
  const cudaError_t e = cudaEventElapsedTime(milliseconds, from, to);
  cudaEventDestroy(from), cudaEventDestroy(to);
  return with_times && early != cudaErrorNotReady ? -1 : e;
}
