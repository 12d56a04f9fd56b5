// Streams, events and the functions of CUDA's runtime that host code calls.
//
// Launches, copies and sets wait in their stream until something waits for it (CUDA_EMULATOR_STREAMS=eager runs them at
// once): host code that reads a result too early, fills a pinned buffer again too early or forgets an event sees it.
#include "state.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>

struct CUstream_st {
  int device = 0;
  std::deque<std::function<void()>> queue;
  bool busy = false;
  uint64_t pushed = 0, done = 0;
};
struct CUevent_st {
  CUstream_st *stream = nullptr;
  uint64_t at = 0;
};

namespace cuda_emulator {

constexpr int max_devices = 8;
static CUstream_st null_streams[max_devices];
static std::vector<CUstream_st *> streams = [] {
  std::vector<CUstream_st *> all;
  for (int i = 0; i < max_devices; ++i) null_streams[i].device = i, all.push_back(&null_streams[i]);
  return all;
}();
static thread_local int device_now;                   // that cudaSetDevice has chosen
static std::map<const void *, size_t> shared_limits;  // of kernels that cudaFuncSetAttribute has given one
static std::map<char *, size_t> pinned;

static CUstream_st *stream_of(cudaStream_t s) {
  return s == nullptr || s == cudaStreamLegacy || s == cudaStreamPerThread ? &null_streams[device_now] : s;
}
static cudaError_t result(cudaError_t e) {
  if (e != cudaSuccess) last = e;
  return e;
}

static void drain(CUstream_st *s, uint64_t until = ~0ull) {
  if (s->busy) return;
  s->busy = true;
  const bool opened = !device_open && !s->queue.empty();
  if (opened) open_device(true);
  while (!s->queue.empty() && s->done < until) {
    auto next = std::move(s->queue.front());
    s->queue.pop_front();
    next();
    ++s->done;
  }
  if (opened) open_device(false);
  s->busy = false;
}
void drain_all() {
  for (size_t i = 0; i < streams.size(); ++i) drain(streams[i]);
}
// Work does not run on a device that has failed, but what frees memory does.
static cudaError_t push(cudaStream_t stream, std::function<void()> work, bool always = false) {
  CUstream_st *s = stream_of(stream);
  ++s->pushed;
  s->queue.push_back([=] { if (always || sticky == cudaSuccess) work(); });
  if (!settings.lazy) drain(s);
  return result(sticky);
}

cudaError_t enqueue(void *kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, void *closure,
                    size_t closure_size, void (*call)(void *), void (*destroy)(void *)) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  start();
  if (settings.image != cudaSuccess) {
    destroy(closure);
    return result(settings.image);
  }
  const std::shared_ptr<void> kept(closure, destroy);  // until the last copy of the work is gone
  const uint64_t size = uint64_t(block.x) * block.y * block.z;
  if (!grid.x || !grid.y || !grid.z || !size || grid.y > 65535 || grid.z > 65535 || grid.x > 0x7fffffff || block.z > 64 || size > 1024) {
    fail("launch of " + kernel_name(kernel) + ": its grid is (" + std::to_string(grid.x) + "," + std::to_string(grid.y) + "," +
         std::to_string(grid.z) + "), its block (" + std::to_string(block.x) + "," + std::to_string(block.y) + "," + std::to_string(block.z) +
         "); sizes are at least 1, a block has at most 1024 threads, a grid (2147483647,65535,65535) blocks");
    return result(cudaErrorInvalidConfiguration);
  }
  const auto asked = shared_limits.find(kernel);
  const size_t limit = asked == shared_limits.end() ? shared_unasked : asked->second;
  if (shared > limit) {
    fail("launch of " + kernel_name(kernel) + ": asks for " + std::to_string(shared) + " bytes of shared memory; there are " + std::to_string(limit) +
         (limit < shared_most ? ", more by cudaFuncSetAttribute" : ""));
    return result(cudaErrorInvalidValue);
  }
  const int device = stream_of(stream)->device;
  if (device != device_now) {
    fail("launch of " + kernel_name(kernel) + ": its stream is one of device " + std::to_string(device) + ", the current device is " + std::to_string(device_now));
    return result(cudaErrorInvalidResourceHandle);
  }
  return push(stream, [=] {
    Launch l;
    l.device = device;
    l.kernel = kernel, l.grid = grid, l.block = block, l.shared = shared;
    l.shared_limit = limit;
    l.closure = kept.get(), l.closure_size = closure_size, l.call = call;
    run(l);
  });
}

static void mark(void *p, size_t bytes) {
  if (written && is_device(p)) memset(written + ((char *)p - arena), 1, bytes);
}
static bool whole(const void *p, size_t bytes, const char *what) {
  if (!is_device(p) || !bytes || inside_one(p, bytes)) return true;
  fail(std::string(what) + " of " + std::to_string(bytes) + " bytes " + describe((char *)p, bytes));
  sticky = cudaErrorInvalidValue;
  return false;
}
static void copy(void *to, const void *from, size_t bytes) {
  if (!whole(to, bytes, "cudaMemcpy to") || !whole(from, bytes, "cudaMemcpy from")) return;
  memmove(to, from, bytes);
  if (!written || !is_device(to)) return;
  if (is_device(from)) memmove(written + ((char *)to - arena), written + ((char *)from - arena), bytes);
  else mark(to, bytes);
}
static bool is_pinned(const void *p) {
  auto it = pinned.upper_bound((char *)p);
  return it != pinned.begin() && (--it, (char *)p < it->first + it->second);
}

}  // namespace cuda_emulator

using namespace cuda_emulator;
#define LOCK                                         \
  std::lock_guard<std::recursive_mutex> lock(mutex); \
  cuda_emulator::start()

// ---- memory ---------------------------------------------------------------------------------------

CUDA_EMULATOR_API cudaError_t cudaMalloc(void **p, size_t bytes) {
  LOCK;
  return result(allocate(p, bytes, device_now));
}
CUDA_EMULATOR_API cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t s) {
  LOCK;
  return result(allocate(p, bytes, stream_of(s)->device));
}
CUDA_EMULATOR_API cudaError_t cudaFree(void *p) {
  LOCK;
  drain_all();
  return result(give_back(p));
}
CUDA_EMULATOR_API cudaError_t cudaFreeAsync(void *p, cudaStream_t s) {
  LOCK;
  return push(s, [=] { if (give_back(p) != cudaSuccess) sticky = cudaErrorInvalidValue; }, true);
}
CUDA_EMULATOR_API cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned) {
  LOCK;
  *p = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (!*p) return result(cudaErrorMemoryAllocation);
  pinned[(char *)*p] = bytes ? bytes : 1;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaMallocHost(void **p, size_t bytes) { return cudaHostAlloc(p, bytes, 0); }
CUDA_EMULATOR_API cudaError_t cudaFreeHost(void *p) {
  LOCK;
  drain_all();
  pinned.erase((char *)p);
  free(p);
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  LOCK;
  *total = device_memory, *available = device_memory - in_use;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  LOCK;
  const bool to_device = is_device(to), from_device = is_device(from);
  if (bytes && ((kind == cudaMemcpyHostToDevice && !(to_device && !from_device)) ||
                (kind == cudaMemcpyDeviceToHost && !(from_device && !to_device)) ||
                (kind == cudaMemcpyDeviceToDevice && !(from_device && to_device)))) {
    fail("cudaMemcpy: the direction does not fit the pointers");
    return result(cudaErrorInvalidValue);
  }
  if (!from_device && !is_pinned(from)) {  // pageable memory is staged before the call returns
    auto staged = std::make_shared<std::vector<char>>((const char *)from, (const char *)from + bytes);
    return push(stream, [=] { copy(to, staged->data(), bytes); });
  }
  const cudaError_t e = push(stream, [=] { copy(to, from, bytes); });
  if (from_device && !to_device && !is_pinned(to)) {  // and so is the way back: it blocks
    drain(stream_of(stream));
    return result(sticky);
  }
  return e;
}
CUDA_EMULATOR_API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  LOCK;
  const cudaError_t e = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  drain_all();
  return e != cudaSuccess ? e : result(sticky);
}
CUDA_EMULATOR_API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream) {
  LOCK;
  const auto belongs = [](const void *p, int device) {
    auto it = allocations.upper_bound((char *)p);
    return it != allocations.begin() && (--it)->second.device == device;
  };
  if (bytes && !(is_device(to) && is_device(from) && belongs(to, to_device) && belongs(from, from_device))) {
    fail("cudaMemcpyPeer: the memory is not that of the devices " + std::to_string(to_device) + " and " + std::to_string(from_device));
    return result(cudaErrorInvalidValue);
  }
  return push(stream, [=] { copy(to, from, bytes); });
}
CUDA_EMULATOR_API cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t s) {
  LOCK;
  if (bytes && !is_device(p)) {
    fail("cudaMemset of what is not device memory");
    return result(cudaErrorInvalidValue);
  }
  return push(s, [=] {
    if (!whole(p, bytes, "cudaMemset")) return;
    memset(p, value, bytes);
    mark(p, bytes);
  });
}
CUDA_EMULATOR_API cudaError_t cudaMemset(void *p, int value, size_t bytes) { return cudaMemsetAsync(p, value, bytes, nullptr); }

// ---- streams and events ---------------------------------------------------------------------------

CUDA_EMULATOR_API cudaError_t cudaStreamCreate(cudaStream_t *s) {
  LOCK;
  streams.push_back(*s = new CUstream_st);
  (*s)->device = device_now;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) { return cudaStreamCreate(s); }
CUDA_EMULATOR_API cudaError_t cudaStreamDestroy(cudaStream_t s) {
  LOCK;
  drain(s);
  streams.erase(std::find(streams.begin(), streams.end(), s));
  delete s;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  LOCK;
  drain(stream_of(s));
  return result(sticky);
}
CUDA_EMULATOR_API cudaError_t cudaStreamQuery(cudaStream_t s) {
  LOCK;
  return stream_of(s)->queue.empty() ? result(sticky) : cudaErrorNotReady;
}
CUDA_EMULATOR_API cudaError_t cudaDeviceSynchronize() {
  LOCK;
  drain_all();
  return result(sticky);
}
CUDA_EMULATOR_API cudaError_t cudaEventCreate(cudaEvent_t *e) {
  *e = new CUevent_st;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return cudaEventCreate(e); }
CUDA_EMULATOR_API cudaError_t cudaEventDestroy(cudaEvent_t e) {
  delete e;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  LOCK;
  e->stream = stream_of(s);
  e->at = e->stream->pushed;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaEventQuery(cudaEvent_t e) {
  LOCK;
  return !e->stream || e->stream->done >= e->at ? cudaSuccess : cudaErrorNotReady;
}
CUDA_EMULATOR_API cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  LOCK;
  if (e->stream) drain(e->stream, e->at);
  return result(sticky);
}
CUDA_EMULATOR_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0;  // the emulator knows no time
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  LOCK;
  CUstream_st *other = e->stream;
  const uint64_t at = e->at;
  return other ? push(s, [=] { drain(other, at); }, true) : cudaSuccess;
}

// ---- devices and errors ---------------------------------------------------------------------------

CUDA_EMULATOR_API cudaError_t cudaGetDeviceCount(int *n) {
  LOCK;
  *n = settings.found == cudaSuccess ? settings.devices : 0;
  return result(settings.found);
}
CUDA_EMULATOR_API cudaError_t cudaGetDevice(int *d) {
  *d = device_now;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaSetDevice(int d) {
  LOCK;
  if (d < 0 || d >= settings.devices) return result(cudaErrorInvalidDevice);
  device_now = d;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int d) {
  LOCK;
  if (d < 0 || d >= settings.devices) return result(cudaErrorInvalidDevice);
  memset(p, 0, sizeof *p);
  strcpy(p->name, "CUDA emulator");
  p->totalGlobalMem = device_memory;
  p->sharedMemPerBlock = shared_unasked;
  p->sharedMemPerBlockOptin = shared_most;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->multiProcessorCount = 1;
  p->major = 8;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = int(p.sharedMemPerBlock); return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = int(p.sharedMemPerBlockOptin); return cudaSuccess;
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; return cudaSuccess;
    case cudaDevAttrWarpSize: *value = p.warpSize; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; return cudaSuccess;
    default: return result(cudaErrorInvalidValue);
  }
}
CUDA_EMULATOR_API cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value) {
  LOCK;
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || value > shared_most) {
    fail("cudaFuncSetAttribute of " + kernel_name(const_cast<void *>(kernel)) + ": " + std::to_string(value) + " bytes of shared memory; a block has at most " +
         std::to_string(shared_most));
    return result(cudaErrorInvalidValue);
  }
  shared_limits[kernel] = std::max(size_t(value), size_t(shared_unasked));
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaDriverGetVersion(int *version) {
  LOCK;
  *version = settings.driver;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaGetLastError() {
  LOCK;
  const cudaError_t e = last;
  last = sticky;
  return e;
}
CUDA_EMULATOR_API cudaError_t cudaPeekAtLastError() { return last; }
CUDA_EMULATOR_API const char *cudaGetErrorName(cudaError_t e) {
  switch (e) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    default: return "unrecognized error code";
  }
}
// With the emulator's own words, where there are any.
CUDA_EMULATOR_API const char *cudaGetErrorString(cudaError_t e) {
  static std::string text;
  if (e == cudaSuccess) return "no error";
  switch (e) {
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInsufficientDriver: return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoKernelImageForDevice: return "no kernel image is available for execution on the device";
    case cudaErrorDevicesUnavailable: return "CUDA-capable device(s) is/are busy or unavailable";
    default: break;
  }
  if (!report.empty()) {
    text = report;
    return text.c_str();
  }
  return e == cudaErrorInvalidConfiguration ? "invalid configuration argument" : e == cudaErrorInvalidValue ? "invalid argument"
                                                                                                            : "unspecified launch failure";
}

// ---- beside CUDA's own: for tests -----------------------------------------------------------------

// Forgets errors and work that has not run; what frees memory runs.
CUDA_EMULATOR_API void cuda_emulator_clear() {
  LOCK;
  if (sticky == cudaSuccess) sticky = cudaErrorLaunchFailure;
  drain_all();
  sticky = last = cudaSuccess;
  report.clear();
}
CUDA_EMULATOR_API void cuda_emulator_set(int order, uint64_t seed, int lazy) {
  LOCK;
  drain_all();
  settings.order = order, settings.seed = seed, settings.lazy = lazy != 0;
}
CUDA_EMULATOR_API const char *cuda_emulator_report() { return report.c_str(); }
CUDA_EMULATOR_API void cuda_emulator_counts(uint64_t *out) {
  out[0] = counts.launches, out[1] = counts.switches, out[2] = counts.accesses, out[3] = counts.threads;
}
CUDA_EMULATOR_API int cuda_emulator_checked() {
  LOCK;
  return settings.checked;
}
