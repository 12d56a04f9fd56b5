// kernel_primitives.cc as CUDA compiles it, for the emulator; pointers are those of device memory. And what needs many threads.
#include <cuda_emulator/kernel.h>

#include "kernel_primitives.cc"

// Each row (along_x) or column of the block summed over its threads, twice in the same shared memory.
__global__ void SumThreads(const float *x, float *out, bool along_x) {
  const int mine = threadIdx.y * blockDim.x + threadIdx.x;
  float value[2] = {x[mine], 2 * x[mine]}, total[2];
  kps::Reduce<float, 2, 1, 1, kps::AddFunctor<float>, kps::details::kGlobalMode>(total, value, kps::AddFunctor<float>(), along_x);
  out[2 * mine] = total[0], out[2 * mine + 1] = total[1];
}

extern "C" int kps_sum_threads(const float *x, float *out, int columns, int rows, int along_x) {
  try {
    kps::Launch(1, kps::Dim3(columns, rows), nullptr, SumThreads, x, out, along_x != 0);
  } catch (const std::runtime_error &) { return 1; }
  return 0;
}
