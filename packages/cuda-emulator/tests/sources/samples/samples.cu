// One program of all samples, in CUDA's own spelling:  samples NAME PLANT
#include "attention.cuh"
#include "gemm.cuh"
#include "histogram.cuh"
#include "nbody.cuh"
#include "pipeline.cuh"
#include "reduction.cuh"
#include "scan.cuh"
#include "softmax.cuh"
#include "sort.cuh"
#include "stencil.cuh"
#include "transpose.cuh"

int main(int argc, char **argv) {
  const struct {
    const char *name;
    bool (*run)(int);
  } samples[] = {{"attention", run_attention}, {"gemm", run_gemm}, {"histogram", run_histogram}, {"nbody", run_nbody}, {"pipeline", run_pipeline}, {"pool", run_pool},
                 {"reduction", run_reduction}, {"scan", run_scan}, {"softmax", run_softmax}, {"sort", run_sort}, {"stencil", run_stencil}, {"transpose", run_transpose}};
  for (const auto &sample : samples)
    if (argc == 3 && !std::strcmp(argv[1], sample.name)) {
      const bool good = sample.run(std::atoi(argv[2]));
      std::printf("%s\n", good ? "right" : "wrong");
      return good ? 0 : 3;
    }
  std::fprintf(stderr, "usage: samples NAME PLANT\n");
  return 2;
}
