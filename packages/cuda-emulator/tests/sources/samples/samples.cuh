// What the samples share. Each sample is a kernel as it stands in books and tutorials, with bugs that `plant` switches on.
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Errors are looked at, and the program goes on: what is tested is what the emulator says.
#define CHECK(call)                                                                      \
  do {                                                                                   \
    const cudaError_t e_ = (call);                                                       \
    if (e_ != cudaSuccess) std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
  } while (0)

template <typename T>
T *on_device(const std::vector<T> &values) {
  T *p = nullptr;
  CHECK(cudaMalloc(&p, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <typename T>
std::vector<T> to_host(const T *p, size_t n) {
  std::vector<T> values(n);
  CHECK(cudaMemcpy(values.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
inline std::vector<float> numbers(size_t n) {
  std::vector<float> x(n);
  unsigned state = 12345;
  for (float &v : x) state = state * 1664525u + 1013904223u, v = float(state >> 8) / float(1 << 24) - 0.5f;
  return x;
}
inline bool close(float a, float b, float tolerance = 1e-4f) { return std::fabs(a - b) <= tolerance * (1 + std::fabs(b)); }
