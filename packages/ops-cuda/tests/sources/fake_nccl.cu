// An NCCL for tests, on the emulator: several processes, each with an emulated GPU, exchange what lies there. Work waits in its stream, and a
// kernel moves it, so that the bounds of operands, unwritten memory and the order of streams are checked. It answers to wrong calls as
// NCCL 2.32 did (answers/nccl.json).
//
// FAKE_NCCL in the environment plays a library that is broken: "old", "init", "launch", "async".
#include "fake_nccl.h"

#include <cuda_emulator/kernel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

static bool plays(const char *what) {
  const char *found = getenv("FAKE_NCCL");
  return found && strcmp(found, what) == 0;
}

struct UniqueId {
  char internal[128];
};
struct Queued {
  Communicator *c;
  cudaStream_t stream;
  Call call;
};
static thread_local int depth;
static thread_local std::vector<Queued> queued;
static thread_local Result failed_in_group;
static thread_local std::string last_error;
// What was asked, for tests: launches, calls, the most calls of a launch, communicators that live, the bytes of them all.
struct Seen {
  int64_t launches, calls, most, live, bytes;
};
static Seen seen;
API void fake_nccl_seen(Seen *out) { *out = seen; }

static Result say(Result status, const std::string &text) {
  if (status != SUCCESS) last_error = text;
  if (depth && status != SUCCESS) failed_in_group = status;
  return status;
}

// One thread carries all: what is checked is where it reads and writes, not how fast.
__global__ void carry(Work *work) {
  alignas(8) char buffer[piece_bytes];
  Piece piece;
  while (next(work, &piece, buffer)) {
    if (piece.from)
      for (size_t i = 0; i < piece.bytes; ++i) buffer[i] = piece.from[i];
    else
      for (size_t i = 0; i < piece.bytes; ++i) piece.to[i] = buffer[i];
  }
  free_work(work);
}

static Result launch(Communicator *c, cudaStream_t stream, const std::vector<Call> &calls) {
  if (plays("launch")) return say(UNHANDLED_CUDA_ERROR, "Cuda failure 'unspecified launch failure'");
  ++seen.launches, seen.calls += int64_t(calls.size());
  if (int64_t(calls.size()) > seen.most) seen.most = int64_t(calls.size());
  for (const Call &call : calls) seen.bytes += int64_t(call.count * size_of[call.type]);
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(c->device);
  const cudaError_t error = wry_launch(carry, dim3(1), dim3(1), 0, stream, new_work(c, calls.data(), calls.size()));
  cudaSetDevice(before);
  if (plays("async")) c->async_error = REMOTE_ERROR;
  return error == cudaSuccess ? SUCCESS : say(UNHANDLED_CUDA_ERROR, std::string("Cuda failure '") + cudaGetErrorString(error) + "'");
}

static Result put(const char *name, Communicator *c, cudaStream_t stream, Call call) {
  const std::string who = name;
  if (!c) return say(INVALID_ARGUMENT, who + " : comm argument is NULL");
  if (c->aborted) return say(INVALID_USAGE, who + " : communicator was aborted");
  if (call.type < 0 || call.type >= TYPES) return say(INVALID_ARGUMENT, who + " : invalid type " + std::to_string(call.type));
  if (call.op < 0 || call.op >= REDUCTIONS) return say(INVALID_ARGUMENT, who + " : invalid reduction operation " + std::to_string(call.op));
  if (call.peer < 0 || call.peer >= c->size) return say(INVALID_ARGUMENT, who + " : invalid root " + std::to_string(call.peer));
  if (call.count == 0) return SUCCESS;
  if (depth) {
    queued.push_back({c, stream, call});
    return SUCCESS;
  }
  return launch(c, stream, {call});
}

API Result ncclGetVersion(int *version) {
  *version = plays("old") ? 2804 : 23203;
  return SUCCESS;
}
API const char *ncclGetErrorString(Result status) {
  switch (int(status)) {
    case SUCCESS: return "no error";
    case UNHANDLED_CUDA_ERROR: return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case SYSTEM_ERROR: return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case INTERNAL_ERROR: return "internal error - please report this issue to the NCCL developers";
    case INVALID_ARGUMENT: return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case INVALID_USAGE: return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case REMOTE_ERROR: return "remote process exited or there was a network error";
    case IN_PROGRESS: return "NCCL operation in progress";
    case 8: return "timeout";
    default: return "unknown result code";
  }
}
API const char *ncclGetLastError(Communicator *) { return last_error.c_str(); }

API Result ncclGetUniqueId(UniqueId *id) {
  memset(id, 0, sizeof *id);
  snprintf(id->internal, sizeof id->internal, "/wherry_fake_nccl_%d_%d", int(getpid()), new_number());
  return SUCCESS;
}
API Result ncclCommInitRank(Communicator **out, int size, UniqueId id, int rank) {
  if (plays("init")) return say(SYSTEM_ERROR, "socketStartConnect: Connect to 10.0.0.1 failed : Connection refused");
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return say(UNHANDLED_CUDA_ERROR, std::string("Cuda failure '") + cudaGetErrorString(error) + "'");
  Communicator *c = new Communicator();
  const char *why = "";
  const Result status = join(id.internal, size, rank, device, c, &why);
  if (status != SUCCESS) {
    delete c;
    return say(status, why);
  }
  *out = c;
  ++seen.live;
  return SUCCESS;
}
API Result ncclCommDestroy(Communicator *c) {
  if (!c) return SUCCESS;
  --seen.live;
  part(c);
  delete c;
  return SUCCESS;
}
API Result ncclCommAbort(Communicator *c) {  // a kernel may be waiting, so the memory stays
  if (!c) return SUCCESS;
  --seen.live;
  c->aborted = 1;
  return SUCCESS;
}
API Result ncclCommGetAsyncError(Communicator *c, Result *status) {
  if (!c) return say(INVALID_ARGUMENT, "ncclGetAsyncError : comm argument is NULL");
  *status = Result(c->async_error);
  return SUCCESS;
}
API Result ncclCommCount(Communicator *c, int *out) { return c ? *out = c->size, SUCCESS : say(INVALID_ARGUMENT, "CommCount : comm argument is NULL"); }
API Result ncclCommUserRank(Communicator *c, int *out) { return c ? *out = c->rank, SUCCESS : say(INVALID_ARGUMENT, "CommUserRank : comm argument is NULL"); }
API Result ncclCommCuDevice(Communicator *c, int *out) { return c ? *out = c->device, SUCCESS : say(INVALID_ARGUMENT, "CommCuDevice : comm argument is NULL"); }

API Result ncclGroupStart() {
  ++depth;
  return SUCCESS;
}
API Result ncclGroupEnd() {
  if (!depth) return say(INVALID_USAGE, "ncclGroupEnd: not in a group call.");
  if (--depth) return SUCCESS;
  std::vector<Queued> some;
  some.swap(queued);
  const Result failed = failed_in_group;
  failed_in_group = SUCCESS;
  if (failed != SUCCESS) return failed;
  while (!some.empty()) {  // a launch for each communicator and stream
    std::vector<Call> calls;
    std::vector<Queued> others;
    for (const Queued &q : some)
      if (q.c == some[0].c && q.stream == some[0].stream) calls.push_back(q.call);
      else others.push_back(q);
    const Result status = launch(some[0].c, some[0].stream, calls);
    if (status != SUCCESS) return status;
    some.swap(others);
  }
  return SUCCESS;
}

API Result ncclAllReduce(const char *from, char *to, size_t count, Type type, Reduction op, Communicator *c, cudaStream_t stream) {
  return put("AllReduce", c, stream, {ALL_REDUCE, from, to, count, type, op, 0});
}
API Result ncclReduce(const char *from, char *to, size_t count, Type type, Reduction op, int root, Communicator *c, cudaStream_t stream) {
  return put("Reduce", c, stream, {REDUCE, from, to, count, type, op, root});
}
API Result ncclBroadcast(const char *from, char *to, size_t count, Type type, int root, Communicator *c, cudaStream_t stream) {
  return put("Broadcast", c, stream, {BROADCAST, from, to, count, type, SUM, root});
}
API Result ncclAllGather(const char *from, char *to, size_t count, Type type, Communicator *c, cudaStream_t stream) {
  return put("AllGather", c, stream, {ALL_GATHER, from, to, count, type, SUM, 0});
}
API Result ncclReduceScatter(const char *from, char *to, size_t count, Type type, Reduction op, Communicator *c, cudaStream_t stream) {
  return put("ReduceScatter", c, stream, {REDUCE_SCATTER, from, to, count, type, op, 0});
}
API Result ncclSend(const char *from, size_t count, Type type, int peer, Communicator *c, cudaStream_t stream) {
  return put("Send", c, stream, {SEND, from, nullptr, count, type, SUM, peer});
}
API Result ncclRecv(char *to, size_t count, Type type, int peer, Communicator *c, cudaStream_t stream) {
  return put("Recv", c, stream, {RECV, nullptr, to, count, type, SUM, peer});
}
