// Bugs that people make, each beside the program without it. `run(name, planted)` runs one of the two and returns what the
// device says at the end; test_plants.py says what must be found.
#include <cuda_emulator/kernel.h>
#include <cuda_emulator/mma.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

// ---- within a block -------------------------------------------------------------------------------

// Each thread passes a value to its neighbour through shared memory.
template <bool Planted>
__global__ void read_after_write(const float *x, float *out) {
  WRY_SHARED(float, s, 256);
  s[threadIdx.x] = x[threadIdx.x];
  if (!Planted) __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}

// Uses the same shared memory twice.
template <bool Planted>
__global__ void write_after_read(const float *x, float *out) {
  WRY_SHARED(float, s, 256);
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const float first = s[255 - threadIdx.x];
  if (!Planted) __syncthreads();
  s[threadIdx.x] = first * 2;
  __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}

// The same among the lanes of a warp.
template <bool Planted>
__global__ void missing_syncwarp(const float *x, float *out) {
  WRY_SHARED(float, s, 32);
  s[threadIdx.x] = x[threadIdx.x];
  if (!Planted) __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}

template <bool Planted>
__global__ void shared_out_of_bounds(const float *x, float *out) {
  WRY_SHARED(float, s, 256);
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = Planted ? s[threadIdx.x + 1] : s[(threadIdx.x + 1) % 256];
}

template <bool Planted>
__global__ void shared_uninitialised(const float *x, float *out) {
  WRY_SHARED(float, s, 256);
  if (!Planted || threadIdx.x < 200) s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}

// Only some threads meet the barrier.
template <bool Planted>
__global__ void divergent_barrier(const float *x, float *out) {
  WRY_SHARED(float, s, 256);
  s[threadIdx.x] = x[threadIdx.x];
  if (!Planted || threadIdx.x < 128) __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

// Threads meet at two barriers, each half at one of its own.
template <bool Planted>
__global__ void two_barriers(const float *x, float *out) {
  if (Planted) {
    if (threadIdx.x < 128) __syncthreads();
    else
      __syncthreads();
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = x[threadIdx.x];
}

// A shuffle that some lanes of its mask skip.
template <bool Planted>
__global__ void divergent_shuffle(const float *x, float *out) {
  float v = x[threadIdx.x];
  if (!Planted || threadIdx.x < 16) v += __shfl_xor_sync(0xffffffffu, v, 1);
  out[threadIdx.x] = v;
  if (Planted) __syncthreads();
}

// ... and one whose mask leaves out the lane that is read.
template <bool Planted>
__global__ void shuffle_outside_of_mask(const float *x, float *out) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 16) v += __shfl_xor_sync(0xffffu, v, Planted ? 16 : 1);
  out[threadIdx.x] = v;
}

// ---- tensor cores, copies beside the program ------------------------------------------------------

// 256 values come in by copies of 16 bytes; each thread reads one that another has asked for.
template <bool Waits, bool Meets>
__device__ void copy_and_read(const float *x, float *out) {
  WRY_SHARED(float4, s, 64);
  if (threadIdx.x < 64) wry_copy_async(s + threadIdx.x, x + 4 * threadIdx.x);
  wry_commit_copies();
  if (Waits) wry_wait_copies<0>();
  if (Meets) __syncthreads();
  out[threadIdx.x] = reinterpret_cast<const float *>(s)[255 - threadIdx.x];
}
template <bool Planted>
__global__ void copy_not_waited_for(const float *x, float *out) {
  copy_and_read<!Planted, true>(x, out);
}
template <bool Planted>
__global__ void copy_waited_for_without_barrier(const float *x, float *out) {
  copy_and_read<true, !Planted>(x, out);
}

// Waits for the first of two groups and reads the second.
template <bool Planted>
__global__ void copy_of_another_group(const float *x, float *out) {
  WRY_SHARED(float4, s, 64);
  for (int half = 0; half < 2; ++half) {
    if (threadIdx.x < 32) wry_copy_async(s + 32 * half + threadIdx.x, x + 128 * half + 4 * threadIdx.x);
    wry_commit_copies();
  }
  wry_wait_copies<1>();
  __syncthreads();
  const float first = reinterpret_cast<const float *>(s)[threadIdx.x % 128];
  if (!Planted) wry_wait_copies<0>();
  __syncthreads();
  out[threadIdx.x] = first + reinterpret_cast<const float *>(s)[128 + threadIdx.x % 128];
}

// The next tile is asked for while others still read this one.
template <bool Planted>
__global__ void copy_over_what_is_read(const float *x, float *out) {
  WRY_SHARED(float4, s, 64);
  float sum = 0;
  for (int tile = 0; tile < 2; ++tile) {
    if (threadIdx.x < 64) wry_copy_async(s + threadIdx.x, x + 4 * threadIdx.x);
    wry_commit_copies();
    wry_wait_copies<0>();
    __syncthreads();
    sum += reinterpret_cast<const float *>(s)[255 - threadIdx.x];
    if (!Planted) __syncthreads();
  }
  out[threadIdx.x] = sum;
}
template <bool Planted>
__global__ void misaligned_copy(const float *x, float *out) {
  WRY_SHARED(float4, s, 64);
  if (threadIdx.x < 63) wry_copy_async(s + threadIdx.x, x + 4 * threadIdx.x + Planted);
  wry_commit_copies();
  wry_wait_copies<0>();
  out[threadIdx.x] = 1;
}

// Rows of four matrices, each written by the neighbour of the lane that names it ...
template <bool Planted>
__global__ void matrices_read_too_early(const float *x, float *out) {
  WRY_SHARED(uint4, rows, 32);
  const unsigned v = unsigned(x[threadIdx.x]);
  rows[threadIdx.x ^ 1] = {v, v, v, v};
  if (!Planted) __syncwarp();
  uint32_t r[4];
  wry_ldmatrix<4, false>(r, rows + threadIdx.x);
  out[threadIdx.x] = float(r[0] + r[1] + r[2] + r[3]);
}
// ... and read one row too far.
template <bool Planted>
__global__ void matrices_out_of_bounds(const float *x, float *out) {
  WRY_SHARED(uint4, rows, 32);
  const unsigned v = unsigned(x[threadIdx.x]);
  rows[threadIdx.x] = {v, v, v, v};
  __syncwarp();
  uint32_t r[4];
  wry_ldmatrix<4, false>(r, rows + threadIdx.x + Planted);
  out[threadIdx.x] = float(r[0] + r[1] + r[2] + r[3]);
}

// Half of the warp multiplies. The other half has returned, or goes its own way.
template <bool Planted, bool Returns>
__device__ void multiply_by_half(const float *x, float *out) {
  float d[4] = {x[threadIdx.x], 0, 0, 0};
  const uint32_t a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
  if (Planted && Returns && threadIdx.x >= 16) return;
  if (!Planted || threadIdx.x < 16) wry_mma<__half>(d, a, b);
  else
    wry_mma<__half>(d, a, b);
  out[threadIdx.x] = d[0];
}
template <bool Planted>
__global__ void product_by_half_a_warp(const float *x, float *out) {
  multiply_by_half<Planted, true>(x, out);
}
template <bool Planted>
__global__ void product_at_two_places(const float *x, float *out) {
  multiply_by_half<Planted, false>(x, out);
}

// 64 KiB of shared memory have to be asked for.
__global__ void much_shared(const float *x, float *out) {
  WRY_DYNAMIC_SHARED(float, s);
  s[16000 + threadIdx.x] = x[threadIdx.x];
  out[threadIdx.x] = s[16000 + threadIdx.x];
}

// ---- device memory --------------------------------------------------------------------------------

template <bool Planted>
__global__ void one_past_the_end(const float *x, float *out, int n) {
  for (int i = threadIdx.x; Planted ? i <= n : i < n; i += blockDim.x) out[i] = x[i];
}

__global__ void add_into(const float *x, float *out) { out[threadIdx.x] += x[threadIdx.x]; }

// 64 blocks add to one place.
template <bool Planted>
__global__ void plus_for_atomic(float *out) {
  if (threadIdx.x) return;
  if (Planted) *out += 1;
  else
    atomicAdd(out, 1.0f);
}

// The last block to finish adds what the others have left.
template <bool Planted>
__global__ void missing_fence(const float *x, float *parts, unsigned *done, float *out) {
  WRY_SHARED(bool, is_last, 1);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = x[blockIdx.x];
    if (!Planted) __threadfence();
    is_last[0] = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last[0] || threadIdx.x) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b];
  *out = sum;
}

struct Shape { const int *sizes; };
__global__ void read_shape(Shape shape, float *out) { out[threadIdx.x] = float(shape.sizes[0]); }

__global__ void read_four(const float *x, float *out) {
  const float4 v = *reinterpret_cast<const float4 *>(x);
  if (threadIdx.x == 0) *out = v.x + v.y + v.z + v.w;
}

// ---- programs ---------------------------------------------------------------------------------------

static float *device(int n, bool filled = true) {
  void *p = nullptr;
  cudaMalloc(&p, n * sizeof(float));
  float host[1024];
  for (int i = 0; i < n; ++i) host[i] = float(i % 7);
  if (filled) cudaMemcpy(p, host, n * sizeof(float), cudaMemcpyHostToDevice);
  return static_cast<float *>(p);
}

// A program with a launch of `kernel<planted>` on (x, out), one block.
#define ONE_BLOCK(name, n)                                                                                        \
  if (!strcmp(what, #name)) {                                                                                     \
    const float *x = device(n);                                                                                   \
    float *out = device(n, false);                                                                                \
    return planted ? wry_launch(name<true>, dim3(1), dim3(n), 0, nullptr, x, out) : wry_launch(name<false>, dim3(1), dim3(n), 0, nullptr, x, out); \
  }

static cudaError_t start(const char *what, bool planted) {
  ONE_BLOCK(read_after_write, 256)
  ONE_BLOCK(write_after_read, 256)
  ONE_BLOCK(missing_syncwarp, 32)
  ONE_BLOCK(shared_out_of_bounds, 256)
  ONE_BLOCK(shared_uninitialised, 256)
  ONE_BLOCK(divergent_barrier, 256)
  ONE_BLOCK(two_barriers, 256)
  ONE_BLOCK(divergent_shuffle, 32)
  ONE_BLOCK(shuffle_outside_of_mask, 32)
  ONE_BLOCK(copy_not_waited_for, 256)
  ONE_BLOCK(copy_waited_for_without_barrier, 256)
  ONE_BLOCK(copy_of_another_group, 256)
  ONE_BLOCK(copy_over_what_is_read, 256)
  ONE_BLOCK(misaligned_copy, 256)
  ONE_BLOCK(matrices_read_too_early, 32)
  ONE_BLOCK(matrices_out_of_bounds, 32)
  ONE_BLOCK(product_by_half_a_warp, 32)
  ONE_BLOCK(product_at_two_places, 32)
  if (!strcmp(what, "shared_memory_not_asked_for")) {
    cudaFuncSetAttribute(reinterpret_cast<const void *>(&much_shared), cudaFuncAttributeMaxDynamicSharedMemorySize, planted ? 0 : 64 << 10);
    return wry_launch(much_shared, dim3(1), dim3(32), 64 << 10, nullptr, device(32), device(32, false));
  }
  cudaStream_t a = nullptr, b = nullptr;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  if (!strcmp(what, "one_past_the_end")) {
    const float *x = device(101);
    float *out = device(100);
    return planted ? wry_launch(one_past_the_end<true>, dim3(1), dim3(32), 0, a, x, out, 100)
                   : wry_launch(one_past_the_end<false>, dim3(1), dim3(32), 0, a, x, out, 100);
  }
  if (!strcmp(what, "missing_memset")) {
    const float *x = device(64);
    float *out = device(64, false);
    if (!planted) cudaMemsetAsync(out, 0, 64 * sizeof(float), a);
    return wry_launch(add_into, dim3(1), dim3(64), 0, a, x, out);
  }
  if (!strcmp(what, "plus_for_atomic")) {
    float *out = device(1);
    return planted ? wry_launch(plus_for_atomic<true>, dim3(64), dim3(32), 0, a, out) : wry_launch(plus_for_atomic<false>, dim3(64), dim3(32), 0, a, out);
  }
  if (!strcmp(what, "missing_fence")) {
    const float *x = device(8);
    float *parts = device(8, false), *out = device(1, false);
    void *done;
    cudaMalloc(&done, 4);
    cudaMemset(done, 0, 4);
    return planted ? wry_launch(missing_fence<true>, dim3(8), dim3(32), 0, nullptr, x, parts, (unsigned *)done, out)
                   : wry_launch(missing_fence<false>, dim3(8), dim3(32), 0, nullptr, x, parts, (unsigned *)done, out);
  }
  if (!strcmp(what, "host_pointer_in_a_kernel")) {
    static int sizes[1] = {3};
    int *on_heap = new int[4]();
    void *there;
    cudaMalloc(&there, 4);
    cudaMemcpy(there, sizes, 4, cudaMemcpyHostToDevice);
    return wry_launch(read_shape, dim3(1), dim3(32), 0, nullptr, Shape{planted ? on_heap : (int *)there}, device(32));
  }
  if (!strcmp(what, "misaligned_float4")) return wry_launch(read_four, dim3(1), dim3(32), 0, nullptr, device(16) + planted, device(1));
  if (!strcmp(what, "empty_grid")) return wry_launch(add_into, dim3(planted ? 0 : 1), dim3(32), 0, nullptr, device(32), device(32));
  if (!strcmp(what, "use_after_free")) {
    float *x = device(32), *out = device(32);
    if (planted) cudaFree(x);
    const cudaError_t e = wry_launch(add_into, dim3(1), dim3(32), 0, nullptr, x, out);
    if (!planted) cudaFree(x);
    return e;
  }
  if (!strcmp(what, "freed_twice")) {
    float *x = device(32);
    cudaFree(x);
    return planted ? cudaFree(x) : cudaSuccess;
  }
  if (!strcmp(what, "copy_beyond_the_end")) {
    float host[64] = {};
    return cudaMemcpy(device(32), host, (planted ? 33 : 32) * sizeof(float), cudaMemcpyHostToDevice);
  }
  if (!strcmp(what, "freed_on_another_stream")) {
    float *x = device(32), *out = device(32);
    const cudaError_t e = wry_launch(add_into, dim3(1), dim3(32), 0, a, x, out);
    cudaFreeAsync(x, planted ? b : a);
    cudaStreamSynchronize(b);
    return e;
  }
  if (!strcmp(what, "freed_on_another_stream_that_is_slower")) {
    float *x = device(32), *out = device(32);
    const cudaError_t e = wry_launch(add_into, dim3(1), dim3(32), 0, a, x, out);
    cudaFreeAsync(x, planted ? b : a);
    cudaStreamSynchronize(a);
    return e;
  }
  return cudaErrorInvalidValue;
}

EXPORT int run(const char *what, int planted) {
  const cudaError_t at_once = start(what, planted != 0);
  return at_once != cudaSuccess ? at_once : cudaDeviceSynchronize();
}

// Reads device memory as if it were the host's.
EXPORT float host_reads_device_memory() { return device(32)[5]; }

// The host's side: what it sees in a pinned buffer that holds 7, when the device has been asked to do something. 1: as
// the program means it.
EXPORT int host_sees(const char *what, int planted) {
  cudaStream_t a, b;
  cudaEvent_t event;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreate(&event);
  void *p, *d;
  cudaMallocHost(&p, 4);
  cudaMalloc(&d, 4);
  int *host = static_cast<int *>(p), expected = 0;
  *host = 7;
  if (!strcmp(what, "result_read_before_it_is_there")) {
    cudaMemsetAsync(d, 0, 4, a);
    cudaMemcpyAsync(host, d, 4, cudaMemcpyDeviceToHost, a);
    if (!planted) cudaStreamSynchronize(a);
  } else if (!strcmp(what, "pinned_buffer_filled_again_too_early")) {
    expected = 7;
    cudaMemcpyAsync(d, host, 4, cudaMemcpyHostToDevice, a);
    if (!planted) cudaStreamSynchronize(a);
    *host = 8;
    cudaMemcpyAsync(host, d, 4, cudaMemcpyDeviceToHost, a);
    cudaStreamSynchronize(a);
  } else if (!strcmp(what, "no_event_between_streams")) {
    cudaMemsetAsync(d, 0, 4, a);
    cudaEventRecord(event, a);
    if (!planted) cudaStreamWaitEvent(b, event, 0);
    cudaMemcpyAsync(host, d, 4, cudaMemcpyDeviceToHost, b);
    cudaStreamSynchronize(b);
  }
  const int good = *host == expected;
  cudaDeviceSynchronize();
  return good;
}

// ---- the language -----------------------------------------------------------------------------------

__global__ void shuffles(const int *x, int *out) {
  const int v = x[threadIdx.x];
  out[threadIdx.x] = __shfl_sync(~0u, v, 3);
  out[32 + threadIdx.x] = __shfl_up_sync(~0u, v, 2);
  out[64 + threadIdx.x] = __shfl_down_sync(~0u, v, 2, 16);
  out[96 + threadIdx.x] = __shfl_xor_sync(~0u, v, 5);
  out[128 + threadIdx.x] = int(__ballot_sync(~0u, v % 3 == 0));
  out[160 + threadIdx.x] = __syncthreads_count(v % 3 == 0) + 100 * __syncthreads_and(v >= 0) + 1000 * __syncthreads_or(v == 31);
}

EXPORT int run_shuffles(int *out) {
  void *x, *y;
  int host[32];
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, 192 * sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  wry_launch(shuffles, dim3(1), dim3(32), 0, nullptr, (const int *)x, (int *)y);
  return cudaMemcpy(out, y, 192 * sizeof(int), cudaMemcpyDeviceToHost);
}

// Reverses n doubles through dynamic shared memory, in a block of three dimensions.
__global__ void reversed(double *x, int n) {
  WRY_DYNAMIC_SHARED(double, s);
  const int t = int(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  s[t] = x[t];
  __syncthreads();
  x[t] = s[n - 1 - t];
}

EXPORT int run_reversed(double *x) {
  void *d;
  cudaMalloc(&d, 512 * 8);
  cudaMemcpy(d, x, 512 * 8, cudaMemcpyHostToDevice);
  wry_launch(reversed, dim3(1), dim3(16, 8, 4), 512 * 8, nullptr, (double *)d, 512);
  return cudaMemcpy(x, d, 512 * 8, cudaMemcpyDeviceToHost);
}
