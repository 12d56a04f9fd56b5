// Keys in order, and the places of what is chosen: what indexing and ordering are built on.
//
// Every result is the same each time: ranks come from counting, atomics add integers only.
#ifndef WHERRY_CUDA_SORTING_H
#define WHERRY_CUDA_SORTING_H

#include "common.h"

// A parameter of a kernel that is read at places which data decides: without this nvcc keeps a copy in each thread's local memory.
#ifdef __CUDACC__
#define WRY_CONSTANT const __grid_constant__
#else
#define WRY_CONSTANT const
#endif

namespace wherry {
namespace cuda {

// A key with the position of its value. Comparing both makes every order total.
template <typename K>
struct alignas(2 * sizeof(K)) Item {
  K key, at;
};
template <typename K>
WRY_GPU bool before(const Item<K> &a, const Item<K> &b) { return a.key != b.key ? a.key < b.key : a.at < b.at; }

// Sorts items that lie in shared memory, a power of two of them; all threads of the block take part.
template <typename K>
WRY_GPU void sort_held(Item<K> *items, int count) {
  for (int width = 2; width <= count; width *= 2)
    for (int step = width / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int pair = threadIdx.x; pair < count / 2; pair += blockDim.x) {
        const int rest = pair & (step - 1), low = 2 * (pair - rest) + rest, high = low + step;
        const Item<K> a = items[low], b = items[high];
        if (before(b, a) == ((low & width) == 0)) items[low] = b, items[high] = a;
      }
    }
  __syncthreads();
}

// What sorts of one size share; the first takes it.
struct SortScratch {
  void *spare = nullptr;
  int64_t *counts = nullptr;
};
// Sorts `rows` runs of n items each by the lowest `bits` bits of the key; equal keys keep their order, which has to be that of
// `at`. *items is where the result is: the same memory, or scratch memory. (sorting.cu)
constexpr int64_t short_run = 1024;
int sort_items(const wry_call *call, const char *op, Item<uint32_t> **items, int64_t rows, int64_t n, int bits, SortScratch *scratch = nullptr);
int sort_items(const wry_call *call, const char *op, Item<uint64_t> **items, int64_t rows, int64_t n, int bits, SortScratch *scratch = nullptr);

// counts[i] becomes the sum of those before it. `scratch` has room for sum_scratch(n) numbers. (sorting.cu)
int sum_before(const wry_call *call, int64_t *counts, int64_t n, int64_t *scratch);
inline int64_t sum_scratch(int64_t n) { return n / 1024 + 2; }

// Waits for a number that the stream computes: sizes that depend on data.
inline int fetch(const wry_call *call, const int64_t *from, int64_t *to) {
  WRY_TRY(cudaMemcpyAsync(to, from, sizeof *to, cudaMemcpyDeviceToHost, stream(call)));
  WRY_TRY(cudaStreamSynchronize(stream(call)));
  return WRY_OK;
}

// ---- choosing -------------------------------------------------------------------------------------

// A warp goes through a run of this many elements; lane by lane, so that neighbours read neighbours.
constexpr int64_t run_length = 1024;
inline int64_t runs_of(int64_t n) { return (n + run_length - 1) / run_length; }
constexpr int warps_of_block = block_size / 32;
inline dim3 run_blocks(int64_t n) {
  const int64_t blocks = (runs_of(n) + warps_of_block - 1) / warps_of_block;
  return dim3(some_blocks(blocks));
}
#define WRY_RUNS(run, n) \
  (int64_t run = blockIdx.x * int64_t(warps_of_block) + threadIdx.x / 32; run * run_length < (n); run += int64_t(gridDim.x) * warps_of_block)

template <typename P>
__global__ void __launch_bounds__(block_size) count_chosen(int64_t n, P chosen, int64_t *counts) {
  const int lane = threadIdx.x & 31;
  for
    WRY_RUNS(run, n) {
      int64_t count = 0;
      for (int64_t i = run * run_length; i < (run + 1) * run_length && i < n; i += 32)
        count += __popc(__ballot_sync(0xffffffffu, i + lane < n && chosen(i + lane)));
      if (lane == 0) counts[run] = count;
    }
}
// use(i, rank, chosen) for every element; rank says how many before it are chosen.
template <typename P, typename F>
__global__ void __launch_bounds__(block_size, 1) use_chosen(int64_t n, P chosen, const int64_t *before, WRY_CONSTANT F use) {
  const int lane = threadIdx.x & 31;
  for
    WRY_RUNS(run, n) {
      int64_t rank = before[run];
      for (int64_t i = run * run_length; i < (run + 1) * run_length && i < n; i += 32) {
        const bool is = i + lane < n && chosen(i + lane);
        const unsigned all = __ballot_sync(0xffffffffu, is);
        if (i + lane < n) use(i + lane, rank + __popc(all & ((1u << lane) - 1)), is);
        rank += __popc(all);
      }
    }
}
// Sets *starts to device memory that says for each run how many elements before it are chosen; the last number, starts[runs_of(n)], is
// how many are chosen at all.
template <typename P>
int count_runs(const wry_call *call, const char *op, int64_t n, const P &chosen, int64_t **starts) {
  const int64_t runs = runs_of(n);
  *starts = workspace<int64_t>(call, runs + 1 + sum_scratch(runs + 1));
  if (!*starts) return fail_memory(call, op, (runs + 1) * 8);
  WRY_TRY(cudaMemsetAsync(*starts + runs, 0, 8, stream(call)));
  if (n) WRY_TRY(wry_launch(count_chosen<P>, run_blocks(n), dim3(block_size), 0, stream(call), n, chosen, *starts));
  return sum_before(call, *starts, runs + 1, *starts + runs + 1);
}
template <typename P, typename F>
int use_runs(const wry_call *call, int64_t n, const P &chosen, const int64_t *starts, const F &use) {
  if (n == 0) return WRY_OK;
  return check(call, wry_launch(use_chosen<P, F>, run_blocks(n), dim3(block_size), 0, stream(call), n, chosen, starts, use));
}

// ---- grouping -------------------------------------------------------------------------------------

template <typename K, typename P>
__global__ void __launch_bounds__(block_size, 1) fill_items(int64_t n, P positions, Item<K> *items) {
  for
    WRY_EACH(i, n)
  items[i] = {K(positions[i]), K(i)};
}

// The updates of a call in the order of their places: items[p] = (place, which update).
template <typename K, typename P>
int grouped(const wry_call *call, const char *op, const P &positions, int64_t count, int64_t n, Item<K> **items) {
  *items = workspace<Item<K>>(call, count);
  if (!*items) return fail_memory(call, op, count * int64_t(sizeof(Item<K>)));
  const int threads = threads_for(count);
  WRY_TRY(wry_launch(fill_items<K, P>, blocks_for(count, threads), dim3(threads), 0, stream(call), count, positions, *items));
  int bits = 1;
  while (bits < 63 && n >> bits) ++bits;
  return sort_items(call, op, items, 1, count, bits);
}
// Do 32 bits hold places and positions?
inline bool is_small(int64_t count, int64_t n) { return count < INT32_MAX && n < INT32_MAX; }

}  // namespace cuda
}  // namespace wherry

#endif
