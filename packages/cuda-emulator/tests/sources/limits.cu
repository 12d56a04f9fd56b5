// Bugs that only show with more data than a grid covers, beyond 2^31 elements, or between two GPUs, beside the program without them: see
// test_limits.py for what lets small tests reach them.
#include <cuda_emulator/kernel.h>

#include <string.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

static dim3 grid_for(int n) { return dim3(unsigned(wry_most_blocks((n + 255) / 256))); }

template <bool Planted>
__global__ void doubled(int n, const float *x, float *out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = 2 * x[i];
    if (Planted) break;
  }
}
__global__ void add_into(int n, const float *x, float *out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] += x[i];
}

// Each block reverses pieces of 256.
template <bool Planted>
__global__ void reversed(int n, const float *x, float *out) {
  WRY_SHARED(float, s, 256);
  for (int piece = blockIdx.x; piece < n / 256; piece += gridDim.x) {
    if (!Planted) __syncthreads();  // the piece before may still be read
    s[threadIdx.x] = x[256 * piece + threadIdx.x];
    __syncthreads();
    out[256 * piece + threadIdx.x] = s[255 - threadIdx.x];
  }
}

// Rows that begin `stride` bytes after each other.
template <typename Offset>
__global__ void copy_rows(int64_t stride, const unsigned char *x, unsigned char *out) {
  out[blockIdx.x * 32 + threadIdx.x] = x[Offset(blockIdx.x * stride) + int(threadIdx.x)];
}

static float *device(int n, bool filled = true) {
  void *p = nullptr;
  cudaMalloc(&p, n * sizeof(float));
  if (filled) cudaMemset(p, 0, n * sizeof(float));
  return static_cast<float *>(p);
}

static cudaError_t start(const char *what, bool planted) {
  constexpr int n = 2048;
  if (!strcmp(what, "one_round")) {
    const float *x = device(n);
    float *out = device(n, false);
    wry_launch(planted ? doubled<true> : doubled<false>, grid_for(n), dim3(256), 0, nullptr, n, x, out);
    return wry_launch(add_into, grid_for(n), dim3(256), 0, nullptr, n, x, out);
  }
  if (!strcmp(what, "rounds_without_barrier"))
    return wry_launch(planted ? reversed<true> : reversed<false>, grid_for(n), dim3(256), 0, nullptr, n, device(n), device(n, false));
  if (!strcmp(what, "narrow_offset")) {
    constexpr int64_t stride = (int64_t(1) << 31) + 64;
    void *x, *out;
    if (const cudaError_t e = cudaMalloc(&x, 2 * stride)) return e;
    cudaMalloc(&out, 64);
    for (int row = 0; row < 2; ++row) cudaMemset(static_cast<char *>(x) + row * stride, row, 32);
    const cudaError_t e = wry_launch(planted ? copy_rows<int32_t> : copy_rows<int64_t>, dim3(2), dim3(32), 0, nullptr, stride, (unsigned char *)x, (unsigned char *)out);
    cudaDeviceSynchronize();
    cudaFree(x);
    return e;
  }
  if (!strcmp(what, "no_event_between_devices")) {  // each on its default stream
    float *from = device(256, false);
    cudaSetDevice(1);
    float *to = device(256, false);
    cudaEvent_t filled;
    cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
    cudaSetDevice(0);
    cudaMemsetAsync(from, 0, 1024, nullptr);
    cudaEventRecord(filled, nullptr);
    cudaSetDevice(1);
    if (!planted) cudaStreamWaitEvent(nullptr, filled, 0);
    return cudaMemcpyPeerAsync(to, 1, from, 0, 1024, nullptr);
  }
  if (!strcmp(what, "memory_of_another_stream")) {
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    const float *x = device(256);
    cudaDeviceSynchronize();
    void *p;
    cudaEvent_t there;
    cudaEventCreateWithFlags(&there, cudaEventDisableTiming);
    cudaMallocAsync(&p, 1024, a);
    cudaEventRecord(there, a);
    if (!planted) cudaStreamWaitEvent(b, there, 0);
    return wry_launch(doubled<false>, dim3(1), dim3(256), 0, b, 256, x, static_cast<float *>(p));
  }
  return cudaErrorInvalidValue;
}

EXPORT int run(const char *what, int planted) {
  const cudaError_t at_once = start(what, planted != 0);
  return at_once != cudaSuccess ? at_once : cudaDeviceSynchronize();
}
