// Sorts of keys with positions, and sums of counts.
//
// Runs of up to 1024 items: one block each, a bitonic network in shared memory (Batcher, 1968). Longer ones: least significant
// digit first, 8 bits at a time. A block counts the digits of its tile, the counts of all tiles become places, and each warp of
// the tile moves its items in their order, so that equal keys keep theirs.
#include "sorting.h"

namespace wherry {
namespace cuda {
namespace {

// ---- sums of counts -------------------------------------------------------------------------------

constexpr int per_thread = 8, per_block = block_size * per_thread;

// Block b makes its part of `counts` sums within the part; totals[b] is the sum of the part.
__global__ void __launch_bounds__(block_size) sum_parts(int64_t n, int64_t *counts, int64_t *totals) {
  WRY_SHARED(int64_t, of_warp, 32);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int64_t part = blockIdx.x; part * per_block < n; part += gridDim.x) {
    const int64_t first = part * per_block + threadIdx.x * int64_t(per_thread);
    int64_t own = 0;
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
      if (first + k < n) own += counts[first + k];
    int64_t sum = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int64_t other = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += other;
    }
    __syncthreads();  // those of the part before may still be read
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    int64_t before = sum - own, total = 0;
    for (int w = 0; w < warps_of_block; ++w) {
      if (w < warp) before += of_warp[w];
      total += of_warp[w];
    }
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
      if (first + k < n) {
        const int64_t count = counts[first + k];
        counts[first + k] = before;
        before += count;
      }
    if (threadIdx.x == 0 && totals) totals[part] = total;
  }
}
__global__ void __launch_bounds__(block_size) add_parts(int64_t n, int64_t *counts, const int64_t *totals) {
  for WRY_EACH (i, n) counts[i] += totals[i / per_block];
}

// ---- short runs -----------------------------------------------------------------------------------

// `room`: the next power of two of n; what is missing sorts to the end.
template <typename K>
__global__ void __launch_bounds__(block_size) sort_short(Item<K> *items, int64_t rows, int n, int room) {
  WRY_DYNAMIC_SHARED(Item<K>, held);
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    Item<K> *own = items + row * n;
    __syncthreads();
    for (int i = threadIdx.x; i < room; i += blockDim.x) held[i] = i < n ? own[i] : Item<K>{K(~K(0)), K(~K(0))};
    sort_held(held, room);
    for (int i = threadIdx.x; i < n; i += blockDim.x) own[i] = held[i];
  }
}

// ---- long runs ------------------------------------------------------------------------------------

constexpr int digits = 256;
constexpr int64_t warp_share = 512, tile_items = warps_of_block * warp_share;

// counts[row][digit][tile]
template <typename K>
__global__ void __launch_bounds__(block_size) count_digits(const Item<K> *items, int64_t rows, int64_t n, int64_t tiles, int shift, int64_t *counts) {
  WRY_SHARED(unsigned, seen, digits);
  for (int64_t at = blockIdx.x; at < rows * tiles; at += gridDim.x) {
    const int64_t row = at / tiles, tile = at % tiles, end = (tile + 1) * tile_items < n ? (tile + 1) * tile_items : n;
    __syncthreads();
    seen[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = tile * tile_items + threadIdx.x; i < end; i += block_size) atomicAdd(&seen[items[row * n + i].key >> shift & (digits - 1)], 1u);
    __syncthreads();
    counts[(row * digits + threadIdx.x) * tiles + tile] = seen[threadIdx.x];
  }
}

// The lanes whose digit is that of this one.
WRY_GPU unsigned lanes_alike(unsigned digit, bool present) {
  unsigned alike = __ballot_sync(0xffffffffu, present);
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const unsigned with = __ballot_sync(0xffffffffu, digit >> bit & 1);
    alike &= digit >> bit & 1 ? with : ~with;
  }
  return alike;
}

template <typename K>
__global__ void __launch_bounds__(block_size) move_items(const Item<K> *items, Item<K> *to, int64_t rows, int64_t n, int64_t tiles, int shift,
                                                         const int64_t *starts) {
  WRY_SHARED(unsigned, seen, warps_of_block *digits);  // of each warp: how often, and then where the next one goes
  WRY_SHARED(int64_t, start, digits);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  unsigned *own = seen + warp * digits;
  for (int64_t at = blockIdx.x; at < rows * tiles; at += gridDim.x) {
    const int64_t row = at / tiles, tile = at % tiles;
    const int64_t first = tile * tile_items + warp * warp_share, end = first + warp_share < n ? first + warp_share : n;
    __syncthreads();
    for (int w = 0; w < warps_of_block; ++w) seen[w * digits + threadIdx.x] = 0;
    start[threadIdx.x] = starts[(row * digits + threadIdx.x) * tiles + tile];
    __syncthreads();
    for (int64_t i = first; i < end; i += 32) {
      const bool present = i + lane < end;
      const unsigned digit = present ? unsigned(items[row * n + i + lane].key >> shift) & (digits - 1) : 0;
      const unsigned alike = lanes_alike(digit, present);
      if (present && lane == __ffs(int(alike)) - 1) own[digit] += __popc(alike);
      __syncwarp();
    }
    __syncthreads();
    unsigned running = 0;
    for (int w = 0; w < warps_of_block; ++w) {
      const unsigned count = seen[w * digits + threadIdx.x];
      seen[w * digits + threadIdx.x] = running;
      running += count;
    }
    __syncthreads();
    for (int64_t i = first; i < end; i += 32) {
      const bool present = i + lane < end;
      Item<K> item = {};
      if (present) item = items[row * n + i + lane];
      const unsigned digit = unsigned(item.key >> shift) & (digits - 1), alike = lanes_alike(digit, present);
      const int leader = present ? __ffs(int(alike)) - 1 : lane;
      unsigned before = 0;
      if (present && lane == leader) {
        before = own[digit];
        own[digit] = before + __popc(alike);
      }
      before = __shfl_sync(0xffffffffu, before, leader);
      __syncwarp();  // another lane may lead the next time
      // The starts count from the first item of the first row.
      if (present) to[start[digit] + before + __popc(alike & ((1u << lane) - 1))] = item;
    }
  }
}

template <typename K>
int sort(const wry_call *call, const char *op, Item<K> **items, int64_t rows, int64_t n, int bits, SortScratch *scratch) {
  if (rows == 0 || n <= 1) return WRY_OK;
  if (n <= short_run) {
    int room = 2;
    while (room < n) room *= 2;
    return check(call, wry_launch(sort_short<K>, dim3(some_blocks(rows)), dim3(threads_for(room / 2)), size_t(room) * sizeof(Item<K>),
                                  stream(call), *items, rows, int(n), room));
  }
  const int64_t tiles = (n + tile_items - 1) / tile_items, counted = rows * tiles * digits;
  SortScratch own;
  if (!scratch) scratch = &own;
  if (!scratch->spare) scratch->spare = workspace<Item<K>>(call, rows * n);
  if (!scratch->counts) scratch->counts = workspace<int64_t>(call, counted + sum_scratch(counted));
  Item<K> *spare = static_cast<Item<K> *>(scratch->spare);
  int64_t *counts = scratch->counts;
  if (!spare || !counts) return fail_memory(call, op, rows * n * int64_t(sizeof(Item<K>)) + counted * 8);
  const dim3 grid(some_blocks(rows * tiles));
  for (int shift = 0; shift < bits; shift += 8) {
    WRY_TRY(wry_launch(count_digits<K>, grid, dim3(block_size), 0, stream(call), *items, rows, n, tiles, shift, counts));
    if (const int status = sum_before(call, counts, counted, counts + counted)) return status;
    WRY_TRY(wry_launch(move_items<K>, grid, dim3(block_size), 0, stream(call), *items, spare, rows, n, tiles, shift, counts));
    std::swap(*items, spare);
  }
  scratch->spare = spare;
  return WRY_OK;
}

}  // namespace

int sum_before(const wry_call *call, int64_t *counts, int64_t n, int64_t *scratch) {
  if (n == 0) return WRY_OK;
  const int64_t parts = (n + per_block - 1) / per_block;
  int64_t *totals = parts > 1 ? scratch : nullptr;
  WRY_TRY(wry_launch(sum_parts, dim3(some_blocks(parts)), dim3(block_size), 0, stream(call), n, counts, totals));
  if (parts == 1) return WRY_OK;
  if (const int status = sum_before(call, totals, parts, totals + parts)) return status;
  return check(call, wry_launch(add_parts, blocks_for(n), dim3(block_size), 0, stream(call), n, counts, totals));
}
int sort_items(const wry_call *call, const char *op, Item<uint32_t> **items, int64_t rows, int64_t n, int bits, SortScratch *scratch) {
  return sort(call, op, items, rows, n, bits, scratch);
}
int sort_items(const wry_call *call, const char *op, Item<uint64_t> **items, int64_t rows, int64_t n, int bits, SortScratch *scratch) {
  return sort(call, op, items, rows, n, bits, scratch);
}

}  // namespace cuda
}  // namespace wherry
