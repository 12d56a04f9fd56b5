// Streams, events and the functions of CUDA's runtime that host code calls.
//
// Launches, copies and sets wait in their stream until something waits for it (CUDA_EMULATOR_STREAMS=eager runs them at
// once): host code that reads a result too early, fills a pinned buffer again too early or forgets an event sees it.
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <utility>

struct CUstream_st {
  int device = 0;
  std::deque<std::function<void()>> queue;
  bool busy = false;
  uint64_t pushed = 0, done = 0;
  int priority = 0;
  int number = 0;                     // its own, never used again
  bool joins_null = true;             // no cudaStreamNonBlocking: the default stream waits for it, and it for the default stream
  cuda_emulator::Before order;        // what its next piece of work comes after
  struct Capture *capture = nullptr;  // that it is part of
  bool loose = false;                 // work of a stream that has joined, which the first one does not wait for yet
};
// Work that waits to be run; as it was written down, in an order that holds all its dependencies.
struct Captured {
  std::function<void()> work;
  std::string what;
};
struct CUgraph_st {
  std::vector<Captured> nodes;
};
struct CUgraphExec_st {
  std::vector<Captured> nodes;
};
struct Capture {
  CUstream_st *first;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  bool failed = false;
  std::vector<CUstream_st *> members;
  std::vector<Captured> nodes;
};
struct CUevent_st {
  CUstream_st *stream = nullptr;
  uint64_t at = 0;
  Capture *capture = nullptr;  // that it was recorded in
  bool times = true;
  int64_t when = -1;  // nanoseconds, when the stream has passed it
  bool recorded = false;
  cuda_emulator::Before order;  // what has happened when it is passed
};

namespace cuda_emulator {

constexpr int max_devices = 8;
static CUstream_st null_streams[max_devices];
static std::vector<CUstream_st *> streams = [] {
  std::vector<CUstream_st *> all;
  for (int i = 0; i < max_devices; ++i) null_streams[i].device = null_streams[i].number = i, all.push_back(&null_streams[i]);
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
    const uint64_t was = s->done;
    next();
    s->done = was + 1;
  }
  if (opened) open_device(false);
  s->busy = false;
}
static Before gone;  // what streams had to do that were destroyed
void drain_all() {
  for (size_t i = 0; i < streams.size(); ++i) drain(streams[i]);
  for (const CUstream_st *s : streams) host_has_waited(s->order, true);
  host_has_waited(gone, true);
}
static size_t pieces_that_wait() {
  size_t pieces = 0;
  for (const CUstream_st *s : streams) pieces += s->queue.size();
  return pieces;
}
std::string work_that_waits() {
  const size_t pieces = pieces_that_wait();
  return pieces ? std::to_string(pieces) + (pieces == 1 ? " piece of work (a kernel, a copy or a memset)" : " pieces of work (kernels, copies, memsets)") : "";
}
static std::set<Capture *> captures;
static thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// A call that CUDA forbids while a stream is captured: it fails, and so does the capture.
static cudaError_t spoil(Capture *c, const char *) {
  c->failed = true;
  return result(cudaErrorStreamCaptureUnsupported);
}
// Whether a capture forbids calls that may wait for the device, such as cudaMalloc: any that goes on, by its mode.
static Capture *forbidding() {
  for (Capture *c : captures) {
    const bool mine = c->thread == std::this_thread::get_id();
    if (c->mode == cudaStreamCaptureModeGlobal && (mine || thread_mode == cudaStreamCaptureModeGlobal) && !(mine && thread_mode == cudaStreamCaptureModeRelaxed)) return c;
    if (c->mode == cudaStreamCaptureModeThreadLocal && mine && thread_mode != cudaStreamCaptureModeRelaxed) return c;
  }
  return nullptr;
}
#define WAITS(stream, what) \
  if (Capture *c_ = stream_of(stream)->capture) return spoil(c_, what)
#define UNSAFE(what) \
  if (Capture *c_ = forbidding()) return spoil(c_, what)

static bool keeps_order() { return settings.checked && (streams.size() > max_devices || settings.devices > 1); }  // one stream needs none

// Work does not run on a device that has failed, but what frees memory does.
static cudaError_t push(cudaStream_t stream, std::function<void()> work, bool always = false, std::string what = "") {
  CUstream_st *s = stream_of(stream);
  if (s->capture) {
    if (s->capture->failed) return result(cudaErrorStreamCaptureInvalidated);
    s->capture->nodes.push_back({std::move(work), what.empty() ? "work" : std::move(what)});
    s->loose = s != s->capture->first;
    return result(sticky);
  }
  for (CUstream_st *other : streams) {  // the default stream and the others wait for each other
    const bool default_one = s == &null_streams[s->device], other_default = other == &null_streams[s->device];
    if (other == s || other->device != s->device || default_one == other_default || !(default_one ? other : s)->joins_null || other->capture) continue;
    join(s->order, other->order);
    if (other->done < other->pushed) s->queue.push_back([other, until = other->pushed] { drain(other, until); }), ++s->pushed;
  }
  ++s->pushed;
  join(s->order, order_of_host());
  s->order[s->number] = s->pushed;
  const bool several = keeps_order();
  const Work me = several ? Work{s->number, s->pushed, s->order} : Work();
  s->queue.push_back([=] {
    if (!always && sticky != cudaSuccess) return;
    if (several) begin_work(me);
    work();
    end_work(); });
  if (!settings.lazy) drain(s);
  return result(sticky);
}
// The host has waited for all that this stream had to do.
static void waited(CUstream_st *s) { host_has_waited(s->order, pieces_that_wait() == 0); }

static void mark(void *p, size_t bytes);
static cudaError_t enqueue(const std::string &name, const std::string &launched, size_t limit, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, void *closure,
                           size_t closure_size, void (*call)(void *), void (*destroy)(void *)) {
  if (settings.image != cudaSuccess) {
    destroy(closure);
    return result(settings.image);
  }
  const std::shared_ptr<void> kept(closure, destroy);  // until the last copy of the work is gone
  const uint64_t size = uint64_t(block.x) * block.y * block.z;
  if (!grid.x || !grid.y || !grid.z || !size || grid.y > 65535 || grid.z > 65535 || grid.x > 0x7fffffff || block.z > 64 || size > 1024) {
    fail("launch of " + name + ": its grid is (" + std::to_string(grid.x) + "," + std::to_string(grid.y) + "," +
         std::to_string(grid.z) + "), its block (" + std::to_string(block.x) + "," + std::to_string(block.y) + "," + std::to_string(block.z) +
         "); sizes are at least 1, a block has at most 1024 threads, a grid (2147483647,65535,65535) blocks");
    return result(cudaErrorInvalidConfiguration);
  }
  if (shared > limit) {
    fail("launch of " + name + ": asks for " + std::to_string(shared) + " bytes of shared memory; there are " + std::to_string(limit) +
         (limit < shared_most ? ", more by cudaFuncSetAttribute" : ""));
    return result(cudaErrorInvalidValue);
  }
  const int device = stream_of(stream)->device;
  if (device != device_now) {
    fail("launch of " + name + ": its stream is one of device " + std::to_string(device) + ", the current device is " + std::to_string(device_now));
    return result(cudaErrorInvalidResourceHandle);
  }
  return push(stream, [=] {
    Launch l;
    l.device = device;
    l.name = name, l.launched = launched, l.grid = grid, l.block = block, l.shared = shared;
    l.shared_limit = limit;
    l.closure = kept.get(), l.closure_size = closure_size, l.call = call;
    run(l); }, false, stream_of(stream)->capture ? "kernel " + name : "");
}

static std::string base_name(const std::string &name) {  // of `a::reduce<256, float>`: reduce
  const std::string plain = name.substr(0, name.find('<'));
  const size_t colons = plain.rfind("::");
  return colons == std::string::npos ? plain : plain.substr(colons + 2);
}
cudaError_t enqueue(void *kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, void *closure,
                    size_t closure_size, void (*call)(void *), void (*destroy)(void *)) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  start();
  const auto asked = shared_limits.find(kernel);
  return enqueue(kernel_name(kernel), "", asked == shared_limits.end() ? shared_unasked : asked->second, grid, block, shared, stream, closure, closure_size, call, destroy);
}
cudaError_t enqueue_named(const char *name, const char *file, int line, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, void *closure,
                          size_t closure_size, void (*call)(void *), void (*destroy)(void *)) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  start();
  size_t limit = shared_unasked;  // of a template, whose arguments the call deduces: what any of its kernels was given
  for (const auto &asked : shared_limits)
    if (base_name(kernel_name(const_cast<void *>(asked.first))) == base_name(name)) limit = std::max(limit, asked.second);
  const char *slash = strrchr(file, '/');
  return enqueue(name, std::string(slash ? slash + 1 : file) + ":" + std::to_string(line), limit, grid, block, shared, stream, closure, closure_size, call, destroy);
}
int64_t most_blocks(int64_t most) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  start();
  return std::min(most, settings.blocks);
}
void refuse_in_a_kernel(const char *file, int line) {
  if (self != &host_thread) not_emulated("a kernel launches a kernel (dynamic parallelism), which is not emulated", file, line);
}
void *device_object(const char *name, const void *value, size_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  start();
  void *p;
  if (allocate(&p, bytes, 0, name, !strncmp(name, "__managed__", 11)) != cudaSuccess) {
    fprintf(stderr, "cuda emulator: %s does not fit into device memory\n", name);
    abort();
  }
  const bool opened = !device_open;
  if (opened) open_device(true);
  memcpy(p, value, bytes);
  mark(p, bytes);
  if (opened) open_device(false);
  allocations[(char *)p].constant = !strncmp(name, "__constant__", 12);
  return p;
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
  touch(static_cast<char *>(const_cast<void *>(from)), bytes, false, "a cudaMemcpyAsync");
  touch(static_cast<char *>(to), bytes, true, "a cudaMemcpyAsync");
  memmove(to, from, bytes);
  if (!written || !is_device(to)) return;
  if (is_device(from)) memmove(written + ((char *)to - arena), written + ((char *)from - arena), bytes);
  else mark(to, bytes);
}
bool is_pinned(const void *p) {
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
  UNSAFE("cudaMalloc");
  return result(allocate(p, bytes, device_now));
}
// Managed: the host may touch it too while no kernel runs. What the host writes is not seen, so all of it counts as written.
CUDA_EMULATOR_API cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned) {
  LOCK;
  UNSAFE("cudaMallocManaged");
  const cudaError_t e = allocate(p, bytes, device_now, nullptr, true);
  if (e == cudaSuccess) mark(*p, bytes);
  return result(e);
}
CUDA_EMULATOR_API cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t) { return cudaSuccess; }
CUDA_EMULATOR_API cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t s) {
  LOCK;
  WAITS(s, "cudaMallocAsync (the emulator has no nodes that allocate)");
  CUstream_st *in = stream_of(s);
  const cudaError_t e = allocate(p, bytes, in->device);
  if (e != cudaSuccess || !*p || !keeps_order()) return result(e);
  push(s, [] {}, true);
  Allocation &made = allocations[static_cast<char *>(*p)];
  made.stream = in->number, made.number = in->pushed;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaFree(void *p) {
  LOCK;
  UNSAFE("cudaFree");
  drain_all();
  return result(give_back(p));
}
CUDA_EMULATOR_API cudaError_t cudaFreeAsync(void *p, cudaStream_t s) {
  LOCK;
  WAITS(s, "cudaFreeAsync of memory that the graph has not allocated");
  return push(s, [=] {
    const std::string user = still_in_use(p);
    if (!user.empty()) fail("cudaFreeAsync of " + user), sticky = cudaErrorLaunchFailure;
    if (give_back(p) != cudaSuccess) sticky = cudaErrorInvalidValue; }, true);
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
    WAITS(stream, "cudaMemcpyAsync from memory that is not pinned");
    auto staged = std::make_shared<std::vector<char>>((const char *)from, (const char *)from + bytes);
    return push(stream, [=] { copy(to, staged->data(), bytes); });
  }
  if (from_device && !to_device && !is_pinned(to)) WAITS(stream, "cudaMemcpyAsync to memory that is not pinned");
  const cudaError_t e = push(stream, [=] { copy(to, from, bytes); }, false, "copy");
  CUstream_st *in = stream_of(stream);
  if (!in->capture && bytes) {
    if (is_pinned(to)) note_pending(to, bytes, true, in->number, in->pushed);
    if (is_pinned(from)) note_pending(from, bytes, false, in->number, in->pushed);
  }
  if (from_device && !to_device && !is_pinned(to)) {  // and so is the way back: it blocks
    drain(stream_of(stream));
    waited(stream_of(stream));
    return result(sticky);
  }
  return e;
}
CUDA_EMULATOR_API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  LOCK;
  UNSAFE("cudaMemcpy");
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
    touch(static_cast<char *>(p), bytes, true, "a cudaMemsetAsync");
    memset(p, value, bytes);
    mark(p, bytes); }, false, "set");
}
// Rows of a pitch: each is a copy of its own, and checked as one.
CUDA_EMULATOR_API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                                cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return result(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t e = cudaMemcpyAsync((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind, stream);
    if (e != cudaSuccess) return e;
  }
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  const cudaError_t e = cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
  LOCK;
  drain_all();
  return e != cudaSuccess ? e : result(sticky);
}
CUDA_EMULATOR_API cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
  LOCK;
  UNSAFE("cudaMallocPitch");
  *pitch = (width + 511) / 512 * 512;
  return result(allocate(p, *pitch * height, device_now));
}
CUDA_EMULATOR_API cudaError_t cudaHostGetDevicePointer(void **, void *, unsigned) {
  fail("cudaHostGetDevicePointer: kernels do not read the host's memory here");
  return result(cudaErrorNotSupported);
}
CUDA_EMULATOR_API cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
CUDA_EMULATOR_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
CUDA_EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *, int threads, size_t shared, unsigned) {
  if (threads < 1 || threads > 1024) return result(cudaErrorInvalidValue);
  *blocks = std::max(1, std::min(2048 / threads, shared ? int(shared_most / shared) : 32));
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared, 0);
}
CUDA_EMULATOR_API cudaError_t cudaMemset(void *p, int value, size_t bytes) { return cudaMemsetAsync(p, value, bytes, nullptr); }

// ---- streams and events ---------------------------------------------------------------------------

CUDA_EMULATOR_API cudaError_t cudaStreamCreate(cudaStream_t *s) {
  LOCK;
  streams.push_back(*s = new CUstream_st);
  static int numbers = max_devices;
  (*s)->device = device_now, (*s)->number = numbers++;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) {
  const cudaError_t e = cudaStreamCreate(s);
  (*s)->joins_null = !(flags & cudaStreamNonBlocking);
  return e;
}
CUDA_EMULATOR_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0, *greatest = -5;
  return cudaSuccess;
}
// What is beyond the range counts as its end, as in CUDA.
CUDA_EMULATOR_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) {
  LOCK;
  const cudaError_t e = cudaStreamCreateWithFlags(s, flags);
  (*s)->priority = priority > 0 ? 0 : priority < -5 ? -5
                                                    : priority;
  return e;
}
CUDA_EMULATOR_API cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority) {
  *priority = stream_of(s)->priority;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaStreamDestroy(cudaStream_t s) {
  LOCK;
  WAITS(s, "cudaStreamDestroy");
  drain(s);
  join(gone, s->order);
  streams.erase(std::find(streams.begin(), streams.end(), s));
  delete s;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  LOCK;
  WAITS(s, "cudaStreamSynchronize");
  drain(stream_of(s));
  waited(stream_of(s));
  return result(sticky);
}
CUDA_EMULATOR_API cudaError_t cudaStreamQuery(cudaStream_t s) {
  LOCK;
  WAITS(s, "cudaStreamQuery");
  if (!stream_of(s)->queue.empty()) return cudaErrorNotReady;
  waited(stream_of(s));
  return result(sticky);
}
CUDA_EMULATOR_API cudaError_t cudaDeviceSynchronize() {
  LOCK;
  if (!captures.empty()) return spoil(*captures.begin(), "cudaDeviceSynchronize");
  drain_all();
  return result(sticky);
}

static int64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}
CUDA_EMULATOR_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) {
  LOCK;
  if (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming)) return result(cudaErrorInvalidValue);
  *e = new CUevent_st;
  (*e)->times = !(flags & cudaEventDisableTiming);
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaEventCreate(cudaEvent_t *e) { return cudaEventCreateWithFlags(e, 0); }
static std::map<cudaEvent_t, int> waiting;  // events that are destroyed when the streams have passed them
CUDA_EMULATOR_API cudaError_t cudaEventDestroy(cudaEvent_t e) {
  LOCK;
  auto it = waiting.find(e);
  if (it == waiting.end()) delete e;
  else it->second = -it->second;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  LOCK;
  e->stream = stream_of(s);
  e->capture = e->stream->capture;
  e->recorded = true;
  if (e->capture) return cudaSuccess;
  e->order = e->stream->order;
  if (!e->times) {
    e->at = e->stream->pushed;
    return cudaSuccess;
  }
  e->when = -1;
  ++waiting[e];
  const cudaError_t status = push(s, [e] {
    e->when = nanoseconds();
    int &left = waiting[e];
    if (left == 1) waiting.erase(e);
    else if (left == -1) waiting.erase(e), delete e;
    else left += left > 0 ? -1 : 1; }, true);
  e->at = e->stream->pushed;
  return status;
}
// Of a kernel that runs meanwhile, for another thread, it does not wait: that would be a GPU on which nothing can be asked while it works.
CUDA_EMULATOR_API cudaError_t cudaEventQuery(cudaEvent_t e) {
  std::unique_lock<std::recursive_mutex> lock(mutex, std::try_to_lock);
  if (!lock) return cudaErrorNotReady;
  cuda_emulator::start();
  if (e->capture) return spoil(e->capture, "cudaEventQuery");
  if (e->stream && e->stream->done < e->at) return cudaErrorNotReady;
  host_has_waited(e->order, pieces_that_wait() == 0);
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  LOCK;
  if (e->capture) return spoil(e->capture, "cudaEventSynchronize");
  if (e->stream) drain(e->stream, e->at);
  host_has_waited(e->order, pieces_that_wait() == 0);
  return result(sticky);
}
// How long the emulator took from one to the other.
CUDA_EMULATOR_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  LOCK;
  if (!from->times || !to->times || !from->recorded || !to->recorded) return result(cudaErrorInvalidResourceHandle);
  if (from->when < 0 || to->when < 0) return result(cudaErrorNotReady);
  *milliseconds = float(double(to->when - from->when) / 1e6);
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned) {
  LOCK;
  CUstream_st *s = stream_of(stream), *other = e->stream;
  if (e->capture) {  // who waits for captured work becomes a part of the capture
    if (!captures.count(e->capture)) return result(cudaErrorStreamCaptureIsolation);
    if (s->capture && s->capture != e->capture) return spoil(s->capture, "cudaStreamWaitEvent of another capture");
    if (!s->capture) s->capture = e->capture, e->capture->members.push_back(s), s->loose = true;
    if (s == e->capture->first) other->loose = false;
    return cudaSuccess;
  }
  if (s->capture) return spoil(s->capture, "cudaStreamWaitEvent for work that is not captured"), result(cudaErrorStreamCaptureIsolation);
  const uint64_t at = e->at;
  join(s->order, e->order);
  return other ? push(stream, [=] { drain(other, at); }, true) : cudaSuccess;
}

// ---- graphs ---------------------------------------------------------------------------------------

CUDA_EMULATOR_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  std::swap(*mode, thread_mode);
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  LOCK;
  CUstream_st *s = stream_of(stream);
  if (s == &null_streams[s->device]) {
    fail("cudaStreamBeginCapture: the default stream cannot be captured");
    return result(cudaErrorStreamCaptureUnsupported);
  }
  if (s->capture) return spoil(s->capture, "cudaStreamBeginCapture of a stream that is captured");
  s->capture = new Capture{s, mode, std::this_thread::get_id(), false, {s}, {}};
  captures.insert(s->capture);
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  LOCK;
  const Capture *c = stream_of(stream)->capture;
  *status = !c ? cudaStreamCaptureStatusNone : c->failed ? cudaStreamCaptureStatusInvalidated
                                                         : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  LOCK;
  Capture *c = stream_of(stream)->capture;
  *graph = nullptr;
  if (!c) return result(cudaErrorIllegalState);
  if (c->first != stream_of(stream)) return spoil(c, "cudaStreamEndCapture"), result(cudaErrorStreamCaptureUnmatched);
  if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != std::this_thread::get_id()) return spoil(c, "cudaStreamEndCapture"), result(cudaErrorStreamCaptureWrongThread);
  bool loose = false;
  for (CUstream_st *s : c->members) loose = loose || s->loose, s->capture = nullptr, s->loose = false;
  captures.erase(c);
  const bool failed = c->failed;
  if (loose && !failed) fail("cudaStreamEndCapture: a stream has joined the capture, and the first one does not wait for its work");
  if (!loose && !failed) *graph = new CUgraph_st{std::move(c->nodes)};
  delete c;
  return failed ? result(cudaErrorStreamCaptureInvalidated) : loose ? result(cudaErrorStreamCaptureUnjoined)
                                                                    : cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *, size_t *count) {
  *count = graph->nodes.size();
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *runs, cudaGraph_t graph, unsigned long long) {
  LOCK;
  *runs = new CUgraphExec_st{graph->nodes};
  return cudaSuccess;
}
// Memory that was freed since it was captured is found when the work runs.
CUDA_EMULATOR_API cudaError_t cudaGraphLaunch(cudaGraphExec_t runs, cudaStream_t stream) {
  LOCK;
  CUstream_st *s = stream_of(stream);
  if (s->capture) return spoil(s->capture, "cudaGraphLaunch (the emulator has no graphs in graphs)");
  cudaError_t status = cudaSuccess;
  for (const Captured &node : runs->nodes) status = push(stream, node.work);
  return status;
}
CUDA_EMULATOR_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runs) {
  LOCK;
  delete runs;  // launches that wait have copies
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  LOCK;
  delete graph;
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned) {
  LOCK;
  FILE *f = fopen(path, "w");
  if (!f) return result(cudaErrorOperatingSystem);
  fprintf(f, "digraph captured {\n");
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    fprintf(f, "  n%zu [label=\"%s\"];\n", i, graph->nodes[i].what.c_str());
    if (i) fprintf(f, "  n%zu -> n%zu;\n", i - 1, i);
  }
  fprintf(f, "}\n");
  return fclose(f) == 0 ? cudaSuccess : result(cudaErrorOperatingSystem);
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
  p->maxThreadsPerMultiProcessor = 2048;
  p->regsPerBlock = 65536;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->managedMemory = p->concurrentKernels = p->unifiedAddressing = 1;
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
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureUnjoined: return "capturing stream has unjoined work";
    case cudaErrorStreamCaptureIsolation: return "dependency created on uncaptured work in another stream";
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
  for (Capture *c : captures) {
    for (CUstream_st *s : c->members) s->capture = nullptr, s->loose = false;
    delete c;
  }
  captures.clear();
  drain_all();
  sticky = last = cudaSuccess;
  report.clear();
}
CUDA_EMULATOR_API void cuda_emulator_set(int order, uint64_t seed, int lazy) {
  LOCK;
  drain_all();
  settings.order = order, settings.seed = seed, settings.lazy = lazy != 0;
}
CUDA_EMULATOR_API int64_t cuda_emulator_limit_blocks(int64_t most) {
  LOCK;
  return std::exchange(settings.blocks, most);
}
CUDA_EMULATOR_API const char *cuda_emulator_report() { return report.c_str(); }
CUDA_EMULATOR_API void cuda_emulator_counts(uint64_t *out) {
  out[0] = counts.launches, out[1] = counts.switches, out[2] = counts.accesses, out[3] = counts.threads;
}
CUDA_EMULATOR_API int cuda_emulator_checked() {
  LOCK;
  return settings.checked;
}
