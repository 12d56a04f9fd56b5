// Page-locked memory of the host, kept for reuse: to lock pages takes longer than to copy them.
//
// A copy that does not wait leaves an event in the block that it reads. A freed block goes to the next who asks once its
// events have passed.
#include "pinned.h"

#include <stdio.h>
#include <string.h>

#include <map>
#include <mutex>
#include <vector>

namespace wherry {
namespace cuda {

constexpr size_t least_bytes = 512, kept_at_most = size_t(512) << 20;

struct Block {
  size_t bytes;  // a power of two
  bool live;
  std::vector<cudaEvent_t> readers;
};
static std::map<char *, Block> blocks;  // by address
static std::multimap<size_t, char *> idle;
static size_t idle_bytes, live_bytes;
static std::mutex mutex;

static std::map<char *, Block>::iterator block_of(const void *data) {
  auto found = blocks.upper_bound(static_cast<char *>(const_cast<void *>(data)));
  if (found == blocks.begin()) return blocks.end();
  --found;
  return static_cast<const char *>(data) < found->first + found->second.bytes ? found : blocks.end();
}

bool is_pinned(const void *data) {
  std::lock_guard<std::mutex> lock(mutex);
  return block_of(data) != blocks.end();
}

cudaError_t pinned_read_by(const void *data, int number, cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = block_of(data);
  cudaEvent_t event = nullptr;
  if (found == blocks.end() || cudaSetDevice(number) != cudaSuccess || cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess)
    return cudaStreamSynchronize(stream);
  found->second.readers.push_back(event);
  return cudaEventRecord(event, stream);
}

// Has everything passed that reads the block?
static bool is_read(Block &block) {
  while (!block.readers.empty() && cudaEventQuery(block.readers.back()) != cudaErrorNotReady) {
    cudaEventDestroy(block.readers.back());
    block.readers.pop_back();
  }
  cudaGetLastError();  // "not ready" is an answer
  return block.readers.empty();
}

// Gives idle blocks back until at most `bytes` are kept.
static void shrink(size_t bytes) {
  for (auto at = idle.begin(); at != idle.end() && idle_bytes > bytes;) {
    const auto block = blocks.find(at->second);
    for (cudaEvent_t reader : block->second.readers) cudaEventSynchronize(reader), cudaEventDestroy(reader);
    cudaFreeHost(at->second);
    idle_bytes -= at->first;
    blocks.erase(block);
    at = idle.erase(at);
  }
}

static int pinned_allocate(void *, int32_t, size_t bytes, void *, void **out, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  size_t size = least_bytes;
  while (size < bytes) size *= 2;
  std::lock_guard<std::mutex> lock(mutex);
  for (auto at = idle.lower_bound(size); at != idle.end() && at->first == size; ++at) {
    Block &block = blocks[at->second];
    if (!is_read(block)) continue;
    *out = at->second;
    block.live = true;
    idle_bytes -= size, live_bytes += size;
    idle.erase(at);
    return WRY_OK;
  }
  cudaError_t code = cudaHostAlloc(out, size, cudaHostAllocPortable);
  if (code != cudaSuccess && idle_bytes) {
    cudaGetLastError();
    shrink(0);
    code = cudaHostAlloc(out, size, cudaHostAllocPortable);
  }
  if (code != cudaSuccess) {
    cudaGetLastError();
    const double unit = 1 << 20;
    snprintf(error, WRY_ERROR_SIZE,
             "gpu_pinned: there is no more memory of the host to lock. Asked for %.1f MiB, this process holds %.1f MiB; CUDA says '%s'. Pin less at a time, or "
             "let DataLoader go without: set_flags({'FLAGS_use_pinned_memory': False}).",
             bytes / unit, live_bytes / unit, cudaGetErrorString(code));
    return WRY_OUT_OF_MEMORY;
  }
  blocks[static_cast<char *>(*out)] = {size, true, {}};
  live_bytes += size;
  return WRY_OK;
}

static void pinned_free(void *, int32_t, void *data, size_t, void *) {
  if (in_fork(nullptr)) return;
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = blocks.find(static_cast<char *>(data));
  if (found == blocks.end() || !found->second.live) return;
  found->second.live = false;
  live_bytes -= found->second.bytes, idle_bytes += found->second.bytes;
  idle.emplace(found->second.bytes, found->first);
  if (idle_bytes > kept_at_most) shrink(kept_at_most);
}

// ---- what is left is memory of the host -----------------------------------------------------------

static int pinned_copy(void *, int32_t, int32_t, void *to, const void *from, size_t bytes, void *, char *) {
  if (bytes) memmove(to, from, bytes);
  return WRY_OK;
}
static int pinned_fill(void *, int32_t, void *to, size_t count, const void *item, size_t item_bytes, void *, char *) {
  for (size_t i = 0; i < count; ++i) memcpy(static_cast<char *>(to) + i * item_bytes, item, item_bytes);
  return WRY_OK;
}
static void copy_axes(char *to, const int64_t *to_steps, const char *from, const int64_t *from_steps, const int64_t *shape, int rank, int64_t item) {
  if (rank == 0) {
    memcpy(to, from, size_t(item));
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i)
    copy_axes(to + i * to_steps[0] * item, to_steps + 1, from + i * from_steps[0] * item, from_steps + 1, shape + 1, rank - 1, item);
}
static int pinned_strided_copy(void *, int32_t, const wry_tensor *to, const wry_tensor *from, void *, char *) {
  static constexpr int64_t sizes[WRY_NUM_DTYPES] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  if (to->size) copy_axes(static_cast<char *>(to->data), to->strides, static_cast<const char *>(from->data), from->strides, to->shape, to->rank, sizes[to->dtype]);
  return WRY_OK;
}
static int pinned_synchronize(void *, int32_t, void *, char *) { return WRY_OK; }

wry_device pinned_device() {
  wry_device row = {};
  row.size = sizeof row;
  row.name = "gpu_pinned";
  row.count = 1;
  row.flags = WRY_HOST_VISIBLE | WRY_OWN_CACHE;
  row.allocate = pinned_allocate, row.free = pinned_free, row.copy = pinned_copy, row.fill = pinned_fill;
  row.strided_copy = pinned_strided_copy, row.synchronize = pinned_synchronize;
  row.dlpack_type = 3;  // kDLCUDAHost
  return row;
}

}  // namespace cuda
}  // namespace wherry
