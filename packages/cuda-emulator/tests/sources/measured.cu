// Kernels whose traffic is known by heart.
#include <cuda_emulator/kernel.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

__global__ void line(const float *x, float *out) { out[threadIdx.x] = x[threadIdx.x]; }
__global__ void stride(const float *x, float *out) { out[threadIdx.x] = x[threadIdx.x * 8]; }
namespace {
struct Unnamed {};
template <typename T>
__global__ void line_of(const float *x, float *out) {
  out[threadIdx.x] = x[threadIdx.x];
}
}  // namespace
__global__ void one(const float *x, float *out) { out[threadIdx.x] = x[0]; }
__global__ void wide(const double *x, double *out) { out[threadIdx.x] = x[threadIdx.x + 1]; }
__global__ void twice(const float *x, float *out) {
  float sum = 0;
  for (int i = 0; i < 2; ++i) sum += *const_cast<const volatile float *>(x + threadIdx.x);
  out[threadIdx.x] = sum;
}
__global__ void turned(const float *x, float *out, int step) {
  WRY_DYNAMIC_SHARED(float, s);
  s[threadIdx.x * step] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x * step];
}
__global__ void counted(int *out) { atomicAdd(out, 1); }
// The bytes between `small` and `large` are nobody's.
struct Padded {
  char small;
  double large;
};
__global__ void padded(const float *x, float *out) {
  WRY_SHARED(Padded, s, 32);
  s[threadIdx.x].small = char(threadIdx.x);
  s[threadIdx.x].large = x[threadIdx.x];
  __syncwarp();
  if (threadIdx.x < 16) s[threadIdx.x] = s[31 - threadIdx.x];  // all 16 bytes at once
  __syncwarp();
  const Padded other = s[threadIdx.x < 16 ? threadIdx.x : 31 - threadIdx.x];
  out[threadIdx.x] = float(other.large) + other.small;
}
// The same, with `large` forgotten.
__global__ void padded_unwritten(const float *x, float *out) {
  WRY_SHARED(Padded, s, 32);
  s[threadIdx.x].small = char(x[threadIdx.x]);
  __syncwarp();
  if (threadIdx.x < 16) s[threadIdx.x] = s[31 - threadIdx.x];
  __syncwarp();
  const Padded other = s[threadIdx.x < 16 ? threadIdx.x : 31 - threadIdx.x];
  out[threadIdx.x] = float(other.large) + other.small;
}

// Two devices: a kernel on the second reads the memory of the first, or its stream is one of the other.
EXPORT int run_on_two(int planted) {
  float *x, *out;
  cudaStream_t first;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices != 2) return -1;
  cudaSetDevice(0);
  cudaStreamCreate(&first);
  cudaMalloc(reinterpret_cast<void **>(&x), 256);
  cudaMemset(x, 0, 256);
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaMalloc(reinterpret_cast<void **>(&out), 256);
  if (planted == 0) {
    float *here;
    cudaMalloc(reinterpret_cast<void **>(&here), 256);
    cudaMemcpyPeerAsync(here, 1, x, 0, 256, nullptr);
    x = here;
  }
  cudaError_t error = wry_launch(line, dim3(1), dim3(64), 0, planted == 2 ? first : nullptr, x, out);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  return error;
}

EXPORT int run(int which, float *result) {
  float *x, *out;
  if (cudaMalloc(reinterpret_cast<void **>(&x), 4096) != cudaSuccess || cudaMalloc(reinterpret_cast<void **>(&out), 4096) != cudaSuccess) return 1;
  float host[1024];
  for (int i = 0; i < 1024; ++i) host[i] = float(i);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 4096);
  const double *xs = reinterpret_cast<const double *>(x);
  double *outs = reinterpret_cast<double *>(out);
  switch (which) {
    case 0: wry_launch(line, dim3(1), dim3(64), 0, nullptr, x, out); break;
    case 1: wry_launch(stride, dim3(1), dim3(64), 0, nullptr, x, out); break;
    case 2: wry_launch(one, dim3(1), dim3(64), 0, nullptr, x, out); break;
    case 3: wry_launch(wide, dim3(1), dim3(32), 0, nullptr, xs, outs); break;
    case 4: wry_launch(twice, dim3(1), dim3(32), 0, nullptr, x, out); break;
    case 5: wry_launch(turned, dim3(1), dim3(32), 4096, nullptr, x, out, 1); break;
    case 6: wry_launch(turned, dim3(1), dim3(32), 4096, nullptr, x, out, 32); break;
    case 7: wry_launch(turned, dim3(1), dim3(32), 4096, nullptr, x, out, 2); break;
    case 8: wry_launch(counted, dim3(2), dim3(32), 0, nullptr, reinterpret_cast<int *>(out)); break;
    case 11: wry_launch(line_of<Unnamed>, dim3(1), dim3(64), 0, nullptr, x, out); break;
    case 9: wry_launch(padded, dim3(1), dim3(32), 0, nullptr, x, out); break;
    default: wry_launch(padded_unwritten, dim3(1), dim3(32), 0, nullptr, x, out); break;
  }
  const cudaError_t error = cudaMemcpy(result, out, 4096, cudaMemcpyDeviceToHost);
  cudaFree(x), cudaFree(out);
  return error;
}
