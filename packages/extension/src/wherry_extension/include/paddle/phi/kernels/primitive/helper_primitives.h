// What the other headers of kernel primitives share: checks of template arguments, and how positions are mapped.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "paddle/phi/kernels/primitive/backend.h"

namespace paddle {
namespace operators {
namespace kernel_primitives {
namespace details {

// kLocalMode: within a thread. kGlobalMode: over the threads of a block.
enum ReduceMode { kGlobalMode,
                  kLocalMode };

// BlockSize is `auto` in the functions so that a bool in its place, as later releases of Paddle have IsBoundary there, is noticed.
template <int NX, int NY, auto BlockSize>
HOSTDEVICE constexpr void CheckSizes() {
  static_assert(NX > 0, "kps: NX, the columns of a thread, is at least 1");
  static_assert(NY > 0, "kps: NY, the rows of a thread, is at least 1");
  static_assert(!std::is_same_v<decltype(BlockSize), bool>, "kps: BlockSize, an int, stands before IsBoundary: write 1");
  if constexpr (!std::is_same_v<decltype(BlockSize), bool>) static_assert(BlockSize > 0, "kps: BlockSize is at least 1");
}

template <int NX, int NY, auto BlockSize>
HOSTDEVICE constexpr void CheckLine() {
  CheckSizes<NX, NY, BlockSize>();
  static_assert(NY == 1, "kps: this function takes a line: NY is 1. Give size_nx, size_ny, stride_nx, stride_ny for rows");
}

// Positions of an output to those of an input whose axes of size 1 are repeated.
//
// Dims are in the order of a shape, the last one being that of neighbours in memory; both tensors are contiguous.
template <int Rank>
struct BroadcastConfig {
  static_assert(Rank > 0 && Rank <= 9, "kps: Rank is between 1 and 9");
  uint32_t sizes[Rank];
  uint32_t steps[Rank];

  BroadcastConfig() = default;

  BroadcastConfig(const std::vector<int64_t> &out_dims, const std::vector<int64_t> &in_dims, int dim_size) {
    if (dim_size != Rank || out_dims.size() != static_cast<size_t>(Rank) || in_dims.size() != static_cast<size_t>(Rank))
      throw std::invalid_argument("kps::BroadcastConfig: the dims are not Rank many. Got " + std::to_string(out_dims.size()) +
                                  ", " + std::to_string(in_dims.size()) + " and dim_size " + std::to_string(dim_size) +
                                  ", expected " + std::to_string(Rank) + " each. Put 1 before the dims of the shorter shape.");
    int64_t step = 1, total = 1;
    for (int axis = Rank - 1; axis >= 0; --axis) {
      const int64_t out = out_dims[axis], in = in_dims[axis];
      if (out < 0 || in < 0 || (in != out && in != 1))
        throw std::invalid_argument("kps::BroadcastConfig: the input does not fit in axis " + std::to_string(axis) + ". Got " +
                                    std::to_string(in) + " for an output of " + std::to_string(out) +
                                    ", expected 1 or the output's size.");
      if (out != 0 && total > INT32_MAX / out)
        throw std::invalid_argument("kps::BroadcastConfig: the output has more than 2147483647 elements. Divide it into parts.");
      total *= out;
      sizes[axis] = static_cast<uint32_t>(out == 0 ? 1 : out);  // nobody asks for positions of an empty output
      steps[axis] = in == 1 ? 0 : static_cast<uint32_t>(step);
      step *= in;
    }
  }

  HOSTDEVICE uint32_t operator()(uint32_t index) const {
    uint32_t at = 0;
    for (int axis = Rank - 1; axis >= 0; --axis) {
      at += index % sizes[axis] * steps[axis];
      index /= sizes[axis];
    }
    return at;
  }
};

}  // namespace details
}  // namespace kernel_primitives
}  // namespace operators
}  // namespace paddle
