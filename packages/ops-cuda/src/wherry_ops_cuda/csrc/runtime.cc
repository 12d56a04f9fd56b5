// The device "gpu": its row of the core's table, and the tables of kernels behind it.
//
// Memory comes from CUDA's stream-ordered allocator and is kept by the core, which counts it; what is said when there is
// none left is said here. Every row of every table goes through `dispatch`, which knows the op that runs: a launch that
// fails names it, and what fails later names the ops that were put on the stream last.
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wherry/device.h>

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "faults.h"
#include "pinned.h"
#include "tables.h"
#include "together.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace wherry {
namespace cuda {

constexpr int max_devices = 64, remembered = 4;

struct Unit {                                 // a GPU
  Report *report = nullptr, *seen = nullptr;  // on the device; pinned, on the host
  bool armed = false;                         // a kernel that may report has been put on a stream since somebody looked
  const char *recent[remembered] = {};        // the ops that were called last
  unsigned calls = 0;
  std::unordered_map<void *, size_t> held;  // blocks that the core has
  std::unordered_set<void *> fixed;         // those of graphs, which no stream frees
  size_t bytes = 0;
  cudaStream_t captured = nullptr;  // what is put there is written down instead of run
};
static Unit units[max_devices];
static std::mutex mutex;
static std::vector<std::string> op_names;  // of reports
static std::atomic<int64_t> memory_limit;  // bytes that this process may take from a GPU; 0: as many as there are
static bool synchronous;                   // wait after each op, so that what fails is the op that runs
static thread_local const Row *current;

static int count_of_gpus;
static std::string unavailable;  // why there is none

static volatile bool forked;  // this process is a fork of the one that uses the GPUs, where CUDA does not work

bool in_fork(char *error) {
  if (forked && error)
    snprintf(error, WRY_ERROR_SIZE,
             "(External) gpu: this process was forked from one that uses a GPU, and CUDA does not work in a fork. Start processes anew, as multiprocessing "
             "does with set_start_method('spawn'), or keep GPU tensors out of the fork.");
  return forked;
}

// A CUDA error as a status and a text.
static int tell(char *error, const char *what, cudaError_t code) {
  if (code == cudaSuccess) return WRY_OK;
  snprintf(error, WRY_ERROR_SIZE, "%s: CUDA says '%s'", what, cudaGetErrorString(code));
  return code == cudaErrorMemoryAllocation ? WRY_OUT_OF_MEMORY : WRY_INTERNAL;
}

static std::string recent_ops(int number) {
  const Unit &u = units[number];
  std::string text;
  for (unsigned i = 0; i < remembered && i < u.calls; ++i) text += (i ? ", " : "") + std::string(u.recent[(u.calls - 1 - i) % remembered]);
  return text;
}

// What fails on the device and shows only when somebody waits.
static int late(int number, char *error, cudaError_t code) {
  if (code == cudaSuccess) return WRY_OK;
  const std::string ops = recent_ops(number);
  snprintf(error, WRY_ERROR_SIZE,
           "gpu:%d: work on it has failed: CUDA says '%s'. The ops that were called last, latest first: %s. Set WHERRY_CUDA_SYNCHRONOUS=1 to see which.",
           number, cudaGetErrorString(code), ops.empty() ? "none" : ops.c_str());
  return WRY_INTERNAL;
}

// What would wait for a stream that is captured, or for the host.
static int refuse(int number, char *error, const char *what) {
  snprintf(error, WRY_ERROR_SIZE,
           "gpu:%d: %s cannot be captured into a graph. Got it between capture_begin and capture_end, where work is written down and does not run. Do it "
           "before or after the capture.",
           number, what);
  return WRY_UNSUPPORTED;
}

static int look_at_report(int number, cudaStream_t stream, char *error) {
  Unit &u = units[number];
  if (u.captured && u.captured == stream) return refuse(number, error, "waiting for the GPU, as numpy(), item() and print do,");
  if (!u.armed) return late(number, error, cudaStreamSynchronize(stream));
  u.armed = false;
  cudaError_t code = cudaMemcpyAsync(u.seen, u.report, sizeof(Report), cudaMemcpyDeviceToHost, stream);
  if (code == cudaSuccess) code = cudaStreamSynchronize(stream);
  if (code != cudaSuccess) return late(number, error, code);
  const Report &r = *u.seen;
  if (r.fault == NO_FAULT) return WRY_OK;
  cudaMemsetAsync(u.report, 0, sizeof(Report), stream);
  const char *op = size_t(r.op) < op_names.size() ? op_names[r.op].c_str() : "an op";
  return describe(r, op, error);
}

int check(const wry_call *call, cudaError_t code) {
  if (code == cudaSuccess) return WRY_OK;
  std::string shapes;
  for (int i = 0; i < call->n_inputs; ++i) {
    const wry_tensor *t = call->inputs[i];
    if (!t) continue;
    shapes += shapes.empty() ? "[" : ", [";
    for (int axis = 0; axis < t->rank; ++axis) shapes += (axis ? ", " : "") + std::to_string(t->shape[axis]);
    shapes += "]";
  }
  snprintf(call->context->error, WRY_ERROR_SIZE, "%s on gpu:%d of inputs %s: CUDA says '%s'", current ? current->op : "an op",
           WRY_DEVICE_NUMBER(call->context->device), shapes.c_str(), cudaGetErrorString(code));
  return code == cudaErrorMemoryAllocation ? WRY_OUT_OF_MEMORY : WRY_INTERNAL;
}

Report *arm(const wry_call *call, const char *op_name, int32_t *op) {
  Unit &u = units[WRY_DEVICE_NUMBER(call->context->device)];
  std::lock_guard<std::mutex> lock(mutex);
  size_t at = 0;
  while (at < op_names.size() && op_names[at] != op_name) ++at;
  if (at == op_names.size()) op_names.push_back(op_name);
  *op = int32_t(at);
  u.armed = true;
  return u.report;
}

// ---- every kernel ---------------------------------------------------------------------------------

int dispatch(const wry_call *call) {
  if (in_fork(call->context->error)) return WRY_INTERNAL;
  const Row *row = static_cast<const Row *>(call->data);
  const int number = WRY_DEVICE_NUMBER(call->context->device);
  Unit &u = units[number];
  u.recent[u.calls++ % remembered] = row->op;
  if (count_of_gpus > 1) cudaSetDevice(number);
  const Row *outer = current;
  current = row;
  int status = settle(row->op, call->context->error);
  if (status == WRY_OK) status = row->kernel(call);
  if (status == WRY_OK && synchronous) status = settle(nullptr, call->context->error);
  if (status == WRY_OK && synchronous && !u.captured) status = look_at_report(number, static_cast<cudaStream_t>(call->context->stream), call->context->error);
  current = outer;
  return status;
}

// ---- the row of the device table ------------------------------------------------------------------

static int gpu_allocate(void *, int32_t number, size_t bytes, void *stream, void **out, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  cudaSetDevice(number);
  const int64_t limit = memory_limit;
  std::unique_lock<std::mutex> counting(mutex);
  const bool allowed = limit == 0 || int64_t(units[number].bytes + bytes) <= limit;
  counting.unlock();
  cudaError_t code;
  if (!allowed) {
    code = cudaErrorMemoryAllocation;
  } else if (units[number].captured && units[number].captured == stream) {  // it has to be there when the graph runs, each time
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    code = cudaMalloc(out, bytes ? bytes : 1);
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (code == cudaSuccess) {
      std::lock_guard<std::mutex> lock(mutex);
      units[number].fixed.insert(*out);
    }
  } else {
    code = cudaMallocAsync(out, bytes ? bytes : 1, static_cast<cudaStream_t>(stream));
  }
  if (code == cudaErrorMemoryAllocation && allowed && !units[number].captured) {  // what other streams have freed comes back once they have run
    cudaGetLastError();
    cudaDeviceSynchronize();
    code = cudaMallocAsync(out, bytes ? bytes : 1, static_cast<cudaStream_t>(stream));
  }
  Unit &u = units[number];
  if (code == cudaSuccess) {
    std::lock_guard<std::mutex> lock(mutex);
    u.held[*out] = bytes, u.bytes += bytes;
    return WRY_OK;
  }
  cudaGetLastError();
  if (code != cudaErrorMemoryAllocation) return late(number, error, code);
  size_t available = 0, total = 0, largest = 0;
  cudaMemGetInfo(&available, &total);
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto &one : u.held) largest = one.second > largest ? one.second : largest;
  const double unit = 1 << 20;
  if (!allowed) {
    snprintf(error, WRY_ERROR_SIZE,
             "gpu:%d: the limit of this process's memory is reached. Asked for %.1f MiB beside %.1f MiB that it holds, the limit is %.1f MiB. Set "
             "FLAGS_gpu_memory_limit_mb to more, or to 0 for no limit.",
             number, bytes / unit, u.bytes / unit, limit / unit);
    return WRY_OUT_OF_MEMORY;
  }
  snprintf(error, WRY_ERROR_SIZE,
           "gpu:%d is out of memory. Asked for %.1f MiB; %.1f of %.1f MiB are free. This process holds %.1f MiB in %zu blocks, the largest of %.1f MiB; the "
           "others belong to other processes and to CUDA.",
           number, bytes / unit, available / unit, total / unit, u.bytes / unit, u.held.size(), largest / unit);
  return WRY_OUT_OF_MEMORY;
}

// Before anything else is asked of the device: what was kept back comes first.
#define WRY_SETTLED(error)                                                          \
  do {                                                                              \
    if (const int status = settle(nullptr, error); status != WRY_OK) return status; \
  } while (false)

static void let_go(int32_t number, void *data, void *stream) {
  cudaSetDevice(number);
  std::unique_lock<std::mutex> fixing(mutex);
  const bool fixed = units[number].fixed.erase(data) != 0;
  fixing.unlock();
  if (fixed) cudaFree(data);  // which waits for everything
  else cudaFreeAsync(data, static_cast<cudaStream_t>(stream));
  std::lock_guard<std::mutex> lock(mutex);
  auto found = units[number].held.find(data);
  if (found == units[number].held.end()) return;
  units[number].bytes -= found->second;
  units[number].held.erase(found);
}
static void gpu_free(void *, int32_t number, void *data, size_t, void *stream) {
  if (forked) return;
  settle_quietly();
  let_go(number, data, stream);
}
void *take_scratch(int number, size_t bytes, cudaStream_t stream) {
  char error[WRY_ERROR_SIZE];
  void *out = nullptr;
  return gpu_allocate(nullptr, number, bytes, stream, &out, error) == WRY_OK ? out : nullptr;
}
void give_scratch(int number, void *data, cudaStream_t stream) { let_go(number, data, stream); }

// The numbers of a program go into the graph with the kernel that writes them; what is longer would have to stay where it is.
static int capture_constant(int number, void *to, const void *from, size_t bytes, cudaStream_t stream, char *error) {
  if (bytes > 1024) return refuse(number, error, "a copy of the host's memory");
  for (size_t at = 0; at < bytes;) {
    size_t piece = 16;
    while (at + piece > bytes || at % piece) piece /= 2;
    const cudaError_t code = fill_device(static_cast<char *>(to) + at, 1, static_cast<const char *>(from) + at, piece, stream);
    if (code != cudaSuccess) return tell(error, "copy", code);
    at += piece;
  }
  return WRY_OK;
}

static int gpu_copy(void *, int32_t number, int32_t kind, void *to, const void *from, size_t bytes, void *stream, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  WRY_SETTLED(error);
  cudaSetDevice(number);
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  if (s && units[number].captured == s && kind != WRY_DEVICE_TO_DEVICE) {
    if (kind == WRY_DEVICE_TO_HOST) return refuse(number, error, "reading a value, as numpy(), item() and print do,");
    return capture_constant(number, to, from, bytes, s, error);
  }
  if (bytes) {
    const cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyHostToDevice};
    cudaError_t code = cudaMemcpyAsync(to, from, bytes, kinds[kind], s);
    // CUDA reads ordinary memory before it returns, page-locked memory when the stream comes to it.
    if (code == cudaSuccess && kind == WRY_HOST_TO_DEVICE_LATER) code = pinned_read_by(from, number, s);
    else if (code == cudaSuccess && kind == WRY_HOST_TO_DEVICE && is_pinned(from)) code = cudaStreamSynchronize(s);
    if (code != cudaSuccess) return late(number, error, code);
  }
  return kind == WRY_DEVICE_TO_HOST ? look_at_report(number, s, error) : WRY_OK;
}

static int gpu_copy_between(void *, int32_t to_number, void *to, void *to_stream, int32_t from_number, const void *from, void *from_stream, size_t bytes,
                            char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  WRY_SETTLED(error);
  const cudaStream_t target = static_cast<cudaStream_t>(to_stream), source = static_cast<cudaStream_t>(from_stream);
  cudaSetDevice(to_number);
  cudaEvent_t there = nullptr;
  cudaError_t code = cudaEventCreateWithFlags(&there, cudaEventDisableTiming);
  if (code == cudaSuccess) code = cudaEventRecord(there, target);
  cudaSetDevice(from_number);
  if (code == cudaSuccess) code = cudaStreamWaitEvent(source, there, 0);
  if (code == cudaSuccess) code = cudaMemcpyPeerAsync(to, to_number, from, from_number, bytes, source);
  const int status = code == cudaSuccess ? look_at_report(from_number, source, error) : late(from_number, error, code);
  if (there) cudaEventDestroy(there);
  return status;
}

static int gpu_fill(void *, int32_t number, void *to, size_t count, const void *item, size_t item_bytes, void *stream, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  WRY_SETTLED(error);
  cudaSetDevice(number);
  if (!count) return WRY_OK;
  const unsigned char *bytes = static_cast<const unsigned char *>(item);
  bool alike = true;
  for (size_t i = 1; i < item_bytes; ++i) alike = alike && bytes[i] == bytes[0];
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  return tell(error, "fill", alike ? cudaMemsetAsync(to, bytes[0], count * item_bytes, s) : fill_device(to, count, item, item_bytes, s));
}

static int gpu_strided_copy(void *, int32_t number, const wry_tensor *to, const wry_tensor *from, void *stream, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  WRY_SETTLED(error);
  cudaSetDevice(number);
  return tell(error, "copy", copy_device(to, from, static_cast<cudaStream_t>(stream)));
}

static int gpu_synchronize(void *, int32_t number, void *stream, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  WRY_SETTLED(error);
  cudaSetDevice(number);
  return look_at_report(number, static_cast<cudaStream_t>(stream), error);
}

static int gpu_together(void *, int32_t, int32_t begin, char *error) { return keep_together(begin != 0, error); }

static int gpu_stream_create(void *, int32_t number, void **out, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  cudaSetDevice(number);
  return tell(error, "Stream", cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t *>(out), cudaStreamNonBlocking));
}
static void gpu_stream_destroy(void *, int32_t number, void *stream) {
  if (forked) return;
  cudaSetDevice(number);
  cudaStreamDestroy(static_cast<cudaStream_t>(stream));
}
static int gpu_event_create(void *, int32_t number, void **out, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  cudaSetDevice(number);
  return tell(error, "Event", cudaEventCreate(reinterpret_cast<cudaEvent_t *>(out)));
}
static void gpu_event_destroy(void *, int32_t, void *event) {
  if (!forked) cudaEventDestroy(static_cast<cudaEvent_t>(event));
}
static int gpu_event_record(void *, int32_t number, void *event, void *stream, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  WRY_SETTLED(error);
  cudaSetDevice(number);
  return tell(error, "Event.record", cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)));
}
static int gpu_event_query(void *, int32_t, void *event) { return forked || cudaEventQuery(static_cast<cudaEvent_t>(event)) != cudaErrorNotReady; }
static int gpu_event_synchronize(void *, int32_t number, void *event, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  return late(number, error, cudaEventSynchronize(static_cast<cudaEvent_t>(event)));
}
static int gpu_stream_wait(void *, int32_t number, void *stream, void *event, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  WRY_SETTLED(error);
  cudaSetDevice(number);
  return tell(error, "Stream.wait_event", cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<cudaEvent_t>(event), 0));
}
static double gpu_event_elapsed(void *, int32_t, void *from, void *to) {
  float milliseconds = 0;
  if (cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(from), static_cast<cudaEvent_t>(to)) != cudaSuccess) return -1;
  return milliseconds;
}
static int gpu_stream_create_with(void *, int32_t number, int32_t priority, void **out, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  cudaSetDevice(number);
  int least = 0, greatest = 0;
  cudaError_t code = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  if (code == cudaSuccess)
    code = cudaStreamCreateWithPriority(reinterpret_cast<cudaStream_t *>(out), cudaStreamNonBlocking, priority == 1 ? greatest : least);
  return tell(error, "Stream", code);
}
static int gpu_event_create_with(void *, int32_t number, uint32_t flags, void **out, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  cudaSetDevice(number);
  const bool shared = flags & WRY_EVENT_INTERPROCESS;  // CUDA takes no times of events of several processes
  const unsigned chosen = (flags & WRY_EVENT_TIMES && !shared ? 0 : cudaEventDisableTiming) | (flags & WRY_EVENT_BLOCKS ? cudaEventBlockingSync : 0) |
                          (shared ? cudaEventInterprocess : 0);
  return tell(error, "Event", cudaEventCreateWithFlags(reinterpret_cast<cudaEvent_t *>(out), chosen));
}

static int gpu_capture_begin(void *, int32_t number, void *stream, int32_t mode, char *error) {
  WRY_SETTLED(error);  // what was kept back belongs before it
  if (in_fork(error)) return WRY_INTERNAL;
  cudaSetDevice(number);
  const cudaStreamCaptureMode modes[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};
  const cudaError_t code = cudaStreamBeginCapture(static_cast<cudaStream_t>(stream), modes[mode]);
  if (code == cudaSuccess) units[number].captured = static_cast<cudaStream_t>(stream);
  return tell(error, "capture_begin", code);
}
struct CapturedGraph {
  cudaGraph_t graph;
  cudaGraphExec_t runs;
};
static int gpu_capture_end(void *, int32_t number, void *stream, void **out, char *error) {
  if (in_fork(error)) return WRY_INTERNAL;
  const int settled = settle(nullptr, error);  // what was kept back belongs to it
  cudaSetDevice(number);
  units[number].captured = nullptr;
  CapturedGraph made = {};
  cudaError_t code = cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &made.graph);
  if (code == cudaSuccess && settled != WRY_OK) {
    cudaGraphDestroy(made.graph);
    return settled;
  }
  if (code == cudaSuccess) code = cudaGraphInstantiate(&made.runs, made.graph, 0);
  if (code != cudaSuccess && made.graph) cudaGraphDestroy(made.graph);
  cudaGetLastError();
  *out = code == cudaSuccess ? new CapturedGraph(made) : nullptr;
  return tell(error, "capture_end", code);
}
static int gpu_graph_launch(void *, int32_t number, void *graph, void *stream, char *error) {
  WRY_SETTLED(error);
  if (in_fork(error)) return WRY_INTERNAL;
  cudaSetDevice(number);
  Unit &u = units[number];
  u.armed = true;
  u.recent[u.calls++ % remembered] = "a captured graph";
  const cudaError_t code = cudaGraphLaunch(static_cast<CapturedGraph *>(graph)->runs, static_cast<cudaStream_t>(stream));
  return code == cudaSuccess ? WRY_OK : late(number, error, code);
}
static void gpu_graph_destroy(void *, int32_t number, void *graph) {
  if (forked) return;
  cudaSetDevice(number);
  CapturedGraph *g = static_cast<CapturedGraph *>(graph);
  cudaGraphExecDestroy(g->runs);
  cudaGraphDestroy(g->graph);
  delete g;
}
static int gpu_graph_print(void *, int32_t, void *graph, const char *path, char *error) {
  return tell(error, "print_to_dot_files", cudaGraphDebugDotPrint(static_cast<CapturedGraph *>(graph)->graph, path, cudaGraphDebugDotFlagsVerbose));
}

static int gpu_memory(void *, int32_t number, int64_t *total, int64_t *available) {
  if (forked) return WRY_INTERNAL;
  cudaSetDevice(number);
  size_t free_bytes = 0, all = 0;
  if (cudaMemGetInfo(&free_bytes, &all) != cudaSuccess) return WRY_INTERNAL;
  *total = int64_t(all), *available = int64_t(free_bytes);
  return WRY_OK;
}

// ---- is there a GPU? ------------------------------------------------------------------------------

static int version_text(char *to, size_t size, int version) { return snprintf(to, size, "%d.%d", version / 1000, version % 1000 / 10); }

static void find_gpus() {
  int driver = 0;
  char has[16], needs[16];
  cudaDriverGetVersion(&driver);
  version_text(has, sizeof has, driver);
  version_text(needs, sizeof needs, CUDART_VERSION);
  const cudaError_t code = cudaGetDeviceCount(&count_of_gpus);
  cudaGetLastError();
  if (code == cudaSuccess && count_of_gpus > 0) {
    if (count_of_gpus > max_devices) count_of_gpus = max_devices;
    if (probe() == cudaSuccess) return;
    cudaGetLastError();
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    unavailable = "This build has no kernels for '" + std::string(p.name) + "' (sm_" + std::to_string(p.major) + std::to_string(p.minor) +
                  "). Build it for that: python -m wherry_ops_cuda build --architectures " + std::to_string(p.major) + std::to_string(p.minor) + ".";
  } else if (driver == 0) {
    unavailable = "No NVIDIA driver was found. Install one that serves CUDA " + std::string(needs) + " or later; without a GPU go on with set_device('cpu').";
  } else if (code == cudaErrorInsufficientDriver) {
    unavailable = "The NVIDIA driver serves CUDA " + std::string(has) + ", and this build needs " + needs + ". Install a newer driver.";
  } else if (code == cudaErrorNoDevice || code == cudaSuccess) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    unavailable = "The NVIDIA driver sees no GPU" + std::string(visible ? " (CUDA_VISIBLE_DEVICES=" + std::string(visible) + ")" : "") +
                  ". Check nvidia-smi, and the permissions of /dev/nvidia*.";
  } else {
    unavailable = std::string("CUDA did not start: '") + cudaGetErrorString(code) + "'.";
  }
  count_of_gpus = 0;
}

}  // namespace cuda
}  // namespace wherry

using namespace wherry::cuda;

// How many GPUs can be used; `why` says what is missing when it is 0.
EXPORT int wry_cuda_count(const char **why) {
  static std::once_flag once;
  std::call_once(once, find_gpus);
  *why = unavailable.c_str();
  return count_of_gpus;
}

// Name, compute capability, memory, multiprocessors of a GPU.
EXPORT int wry_cuda_describe(int number, char *name, size_t name_size, int *major, int *minor, int64_t *memory, int *units_of_it) {
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, number) != cudaSuccess) return WRY_INTERNAL;
  snprintf(name, name_size, "%s", p.name);
  *major = p.major, *minor = p.minor, *memory = int64_t(p.totalGlobalMem), *units_of_it = p.multiProcessorCount;
  return WRY_OK;
}

EXPORT void wry_cuda_set_memory_limit(int64_t bytes) { memory_limit = bytes; }
EXPORT void wry_cuda_set_synchronous(int on) { synchronous = on != 0; }

// Registers the device and its kernels. Needs the GIL.
EXPORT int wry_cuda_register(const wry_host *host) {
  if (!wry_host_serves(host)) return -2;
  for (int i = 0; i < count_of_gpus; ++i) {
    cudaSetDevice(i);
    if (cudaMalloc(reinterpret_cast<void **>(&units[i].report), sizeof(Report)) != cudaSuccess ||
        cudaMallocHost(reinterpret_cast<void **>(&units[i].seen), sizeof(Report)) != cudaSuccess ||
        cudaMemset(units[i].report, 0, sizeof(Report)) != cudaSuccess)
      return -3;
  }
  cudaSetDevice(0);
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  wry_device gpu = {};
  gpu.size = sizeof gpu;
  gpu.name = "gpu";
  gpu.count = count_of_gpus;
#ifdef WHERRY_CUDA_EMULATED
  gpu.flags = WRY_OWN_CACHE | WRY_COPIES_LATER;  // every block has its own size and its own guards, or the checks would see large blocks only
#else
  gpu.flags = WRY_COPIES_LATER;
#endif
  gpu.dlpack_type = 2;  // kDLCUDA
  gpu.allocate = gpu_allocate, gpu.free = gpu_free, gpu.copy = gpu_copy, gpu.fill = gpu_fill, gpu.strided_copy = gpu_strided_copy;
  gpu.synchronize = gpu_synchronize, gpu.stream_create = gpu_stream_create, gpu.stream_destroy = gpu_stream_destroy;
  gpu.event_create = gpu_event_create, gpu.event_destroy = gpu_event_destroy, gpu.event_record = gpu_event_record;
  gpu.event_query = gpu_event_query, gpu.event_synchronize = gpu_event_synchronize, gpu.stream_wait = gpu_stream_wait;
  gpu.event_elapsed = gpu_event_elapsed, gpu.memory = gpu_memory;
  gpu.copy_between = gpu_copy_between;
  gpu.stream_create_with = gpu_stream_create_with, gpu.event_create_with = gpu_event_create_with;
  gpu.capture_begin = gpu_capture_begin, gpu.capture_end = gpu_capture_end, gpu.graph_launch = gpu_graph_launch;
  gpu.graph_destroy = gpu_graph_destroy, gpu.graph_print = gpu_graph_print;
  gpu.together = gpu_together;
  if (host->register_device(&gpu) != 0) return -1;
  const wry_device pinned = pinned_device();
  if (host->register_device(&pinned) != 0) return -1;
  static std::vector<Row> rows;
  std::vector<wry_kernel_entry> entries;
  for (Family family : families) {
    size_t count;
    const wry_kernel_entry *table = family(&count);
    entries.insert(entries.end(), table, table + count);
  }
  rows.resize(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    rows[i] = {entries[i].kernel, entries[i].op};
    entries[i].kernel = dispatch;
    entries[i].data = &rows[i];
  }
  return host->register_kernels("gpu", entries.data(), entries.size(), sizeof entries[0]);
}
