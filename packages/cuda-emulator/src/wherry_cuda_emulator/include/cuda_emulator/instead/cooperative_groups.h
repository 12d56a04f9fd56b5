// Cooperative groups of one block, in place of NVIDIA's header, which is for nvcc alone.
#ifndef CUDA_EMULATOR_COOPERATIVE_GROUPS_H
#define CUDA_EMULATOR_COOPERATIVE_GROUPS_H

#include "cuda_emulator/cuda.h"

namespace cooperative_groups {

class thread_block {
 public:
  void sync(CUDA_EMULATOR_AT) const { __syncthreads(file, line); }
  unsigned thread_rank() const { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned num_threads() const { return size(); }
  dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  dim3 group_dim() const { return blockDim; }
  dim3 dim_threads() const { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// All blocks together: they run one after another here, so what waits for all of them cannot be run.
class grid_group {
 public:
  void sync(CUDA_EMULATOR_AT) const { cuda_emulator::not_emulated("grid_group::sync needs all blocks at once, which run one after another here", file, line); }
  bool is_valid() const { return false; }
  unsigned long long thread_rank() const {
    const unsigned long long block = (blockIdx.z * (unsigned long long)gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    return block * this_thread_block().size() + this_thread_block().thread_rank();
  }
  unsigned long long size() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * this_thread_block().size(); }
  unsigned long long num_threads() const { return size(); }
};
inline grid_group this_grid() { return {}; }

// Some lanes of a warp, by their mask.
class lanes {
 public:
  explicit lanes(unsigned mask) : mask_(mask) {}
  void sync(CUDA_EMULATOR_AT) const { __syncwarp(mask_, file, line); }
  unsigned size() const { return unsigned(__popc(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return unsigned(__popc(mask_ & ((1u << lane()) - 1))); }
  template <typename T>
  T shfl(T value, int rank, CUDA_EMULATOR_AT) const { return __shfl_sync(mask_, value, lane_of(unsigned(rank) % size()), 32, file, line); }
  template <typename T>
  T shfl_up(T value, unsigned delta, CUDA_EMULATOR_AT) const {
    const int from = int(thread_rank()) - int(delta);
    return __shfl_sync(mask_, value, lane_of(from < 0 ? thread_rank() : unsigned(from)), 32, file, line);
  }
  template <typename T>
  T shfl_down(T value, unsigned delta, CUDA_EMULATOR_AT) const {
    const unsigned from = thread_rank() + delta;
    return __shfl_sync(mask_, value, lane_of(from < size() ? from : thread_rank()), 32, file, line);
  }
  template <typename T>
  T shfl_xor(T value, unsigned bits, CUDA_EMULATOR_AT) const {
    const unsigned from = thread_rank() ^ bits;
    return __shfl_sync(mask_, value, lane_of(from < size() ? from : thread_rank()), 32, file, line);
  }
  int any(int predicate, CUDA_EMULATOR_AT) const { return __any_sync(mask_, predicate, file, line); }
  int all(int predicate, CUDA_EMULATOR_AT) const { return __all_sync(mask_, predicate, file, line); }
  unsigned ballot(int predicate, CUDA_EMULATOR_AT) const {
    const unsigned all = __ballot_sync(mask_, predicate, file, line);
    unsigned packed = 0;
    for (unsigned rank = 0; rank < size(); ++rank) packed |= (all >> lane_of(rank) & 1) << rank;
    return packed;
  }

 protected:
  static int lane() { return cuda_emulator::self->lane; }
  int lane_of(unsigned rank) const {
    for (int lane = 0; lane < 32; ++lane)
      if (mask_ >> lane & 1 && rank-- == 0) return lane;
    return 31;
  }
  unsigned mask_;
};
class coalesced_group : public lanes {
 public:
  using lanes::lanes;
};
inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned Size, typename Parent = thread_block>
class thread_block_tile : public lanes {
  static_assert(Size && Size <= 32 && (Size & (Size - 1)) == 0, "tiles have 1, 2, 4, 8, 16 or 32 threads");

 public:
  thread_block_tile() : lanes((Size == 32 ? 0xffffffffu : (1u << Size) - 1) << (cuda_emulator::self->lane / Size * Size)) {}
  unsigned thread_rank() const { return unsigned(lane()) % Size; }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned meta_group_rank() const { return this_thread_block().thread_rank() / Size; }
  unsigned meta_group_size() const { return (this_thread_block().size() + Size - 1) / Size; }
};
template <unsigned Size, typename Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
  return {};
}
template <typename Group>
inline void sync(const Group &group, CUDA_EMULATOR_AT) {
  group.sync(file, line);
}

template <typename T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename Group, typename T, typename F>
inline T reduce(const Group &group, T value, F f, CUDA_EMULATOR_AT) {
  T sum = group.shfl(value, 0, file, line);
  for (unsigned rank = 1; rank < group.size(); ++rank) sum = f(sum, group.shfl(value, int(rank), file, line));
  return sum;
}
template <typename Group, typename T, typename F>
inline T inclusive_scan(const Group &group, T value, F f, CUDA_EMULATOR_AT) {
  for (unsigned step = 1; step < group.size(); step *= 2) {
    const T before = group.shfl_up(value, step, file, line);
    if (group.thread_rank() >= step) value = f(before, value);
  }
  return value;
}
template <typename Group, typename T>
inline T inclusive_scan(const Group &group, T value, CUDA_EMULATOR_AT) {
  return inclusive_scan(group, value, plus<T>(), file, line);
}

}  // namespace cooperative_groups

#endif  // CUDA_EMULATOR_COOPERATIVE_GROUPS_H
