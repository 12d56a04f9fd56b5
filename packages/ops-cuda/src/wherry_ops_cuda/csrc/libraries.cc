// Opening NVIDIA's libraries, and what Python asks of them.
#include "libraries.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace wherry {
namespace cuda {

std::atomic<bool> rounds_operands;
static void (*notice)(const char *);

void notify(const std::string &text) {
  if (notice) notice(text.c_str());
  else fprintf(stderr, "%s\n", text.c_str());
}

static std::string version_text(int version) { return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100); }

static std::vector<std::string> lines_of(const char *text) {
  std::vector<std::string> lines;
  for (const char *at = text; *at;) {
    const char *end = strchrnul(at, '\n');
    lines.emplace_back(at, end);
    at = *end ? end + 1 : end;
  }
  return lines;
}

void Library::set_places(const char *places, const char *companions, bool asked) {
  std::lock_guard<std::mutex> lock(mutex_);
  places_ = lines_of(places), companions_ = lines_of(companions), asked_ = asked;
  if (state_ == NONE) state_ = UNOPENED, path_.clear(), why_.clear();
}

void Library::open() {
  std::string told;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_ != UNOPENED) return;
    void *handle = nullptr;
    for (const std::string &companion : companions_) dlopen(companion.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open
    for (size_t i = 0; i < places_.size() && !handle; ++i) {
      handle = dlopen(places_[i].c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle) path_ = places_[i];
      else if (asked_) why_ = dlerror();
    }
    for (size_t i = 0; handle && i < entries_.size() && why_.empty(); ++i) {
      *entries_[i].function = dlsym(handle, entries_[i].name);
      Dl_info at = {};
      if (!*entries_[i].function) why_ = path_ + " has no " + entries_[i].name;
      else if (dladdr(*entries_[i].function, &at) && at.dli_fname) path_ = at.dli_fname;
    }
    // The file that was found is the one that is meant: another one is not looked for.
    if (handle && why_.empty() && version_of_() < oldest_)
      why_ = path_ + " is version " + version_text(version_of_()) + ", and " + version_text(oldest_) + " or later is needed";
    state_ = handle && why_.empty() ? OPEN : NONE;
    if (!why_.empty()) told = std::string(name_) + " cannot be used: " + why_ + ". Wherry's own kernels compute instead.";
  }
  if (!told.empty()) notify(told);  // which may wait for Python's lock
}

void Library::fail(const char *function, const char *status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_ != OPEN) return;
    state_ = NONE;
    why_ = std::string(function) + " says " + status;
  }
  notify(std::string(name_) + " " + version_text(version_of_()) + " (" + path_ + ") has failed: " + why_ +
         ". Wherry's own kernels compute instead from here on.");
}

bool Library::describe(std::string *text) {
  const std::string name = name_;
  const bool open = ready();
  std::lock_guard<std::mutex> lock(mutex_);
  if (open) *text = name + " " + version_text(version_of_()) + ": " + path_;
  else *text = name + ": " + (!wanted_ ? "turned off" : why_.empty() ? "not found"
                                                                     : "not used, " + why_);
  return open;
}

bool is_captured(const wry_call *call) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t code = cudaStreamIsCapturing(static_cast<cudaStream_t>(call->context->stream), &status);
  return code != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

char *library_workspace(const wry_call *call, const char *op, const char *library, size_t bytes) {
  char *found = static_cast<char *>(call->context->workspace(call->context, bytes + 256));
  if (found) return found + (256 - reinterpret_cast<uintptr_t>(found) % 256) % 256;
  snprintf(call->context->error, WRY_ERROR_SIZE,
           "%s: out of memory. Needed %zu bytes of scratch memory for %s and got none. Use smaller tensors or free some that are no longer needed.",
           op, bytes, library);
  return nullptr;
}

}  // namespace cuda
}  // namespace wherry

using namespace wherry::cuda;

static Library *library_of(const char *name) { return strcmp(name, "cublaslt") == 0 ? &cublaslt_library() : &cudnn_library(); }

// Where Python's warnings come in; without it texts go to stderr.
EXPORT void wry_cuda_set_notice(void (*function)(const char *)) { notice = function; }
EXPORT void wry_cuda_library_places(const char *name, const char *places, const char *companions, int asked) {
  library_of(name)->set_places(places, companions, asked != 0);
}
EXPORT void wry_cuda_library_use(const char *name, int on) { library_of(name)->use(on != 0); }
// Which file is used, or why none is; 1 when one is.
EXPORT int wry_cuda_library_describe(const char *name, char *text, size_t size) {
  std::string said;
  const bool open = library_of(name)->describe(&said);
  snprintf(text, size, "%s", said.c_str());
  return open;
}
EXPORT void wry_cuda_set_tf32(int on) { rounds_operands = on != 0; }
