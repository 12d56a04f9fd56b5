// What calls kernels in a page: no Python, no planning. `plan.js` writes the structs of wherry/abi.h into the memory of the module,
// once for each shape of the inputs; a prediction is one call of `wherry_run`.
//
// Memory: JavaScript takes blocks with malloc and gives them back with free. What a kernel asks for while it runs comes from
// chunks that are kept for the next one. Other instances of the module (pool.cc) compute pieces of a kernel's loops and touch none of this.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <wherry/abi.h>

#include "pool.h"

#define EXPORT extern "C" __attribute__((visibility("default"), used))

// One kernel call, as plan.js writes it.
struct wherry_step {
  wry_kernel kernel;
  wry_call call;
};

namespace {

// Scratch memory of the running kernel: bytes [0, used) of the last chunk are taken. When a chunk is too small another one is added, and
// after the kernel one chunk of their sum takes their place, so that soon there is one that serves all.
struct Chunk {
  Chunk *before;
  size_t bytes, used;
};
constexpr size_t alignment = 64, header = 64;
static_assert(sizeof(Chunk) <= header, "the chunk's own words");
Chunk *chunks;

void *workspace(wry_context *, size_t bytes) {
  bytes = (bytes + alignment - 1) / alignment * alignment;
  if (!chunks || chunks->bytes - chunks->used < bytes) {
    const size_t size = bytes < 65536 ? 65536 : bytes;
    Chunk *fresh = static_cast<Chunk *>(aligned_alloc(alignment, header + size));
    if (!fresh) return nullptr;
    *fresh = {chunks, size, 0};
    chunks = fresh;
  }
  void *found = reinterpret_cast<char *>(chunks) + header + chunks->used;
  chunks->used += bytes;
  return found;
}

void let_go() {
  if (!chunks) return;
  chunks->used = 0;
  if (!chunks->before) return;
  size_t all = 0;
  while (chunks) {
    Chunk *before = chunks->before;
    all += chunks->bytes;
    free(chunks);
    chunks = before;
  }
  chunks = static_cast<Chunk *>(aligned_alloc(alignment, header + all));
  if (chunks) *chunks = {nullptr, all, 0};
}

// A plan has no step whose output's shape depends on data.
void *no_output(wry_context *, int32_t, int32_t, const int64_t *) { return nullptr; }

wry_context context;
constexpr char trapped[] = "one of its threads ended in a trap.";

}  // namespace

// The context that every call of a plan points to.
// threads: how many instances of the module run loops, this one among them. may_sleep: may this thread wait? That of a document may not.
EXPORT wry_context *wherry_context(int32_t threads, int32_t may_sleep) {
  context.abi_version = WRY_ABI_VERSION;
  context.num_threads = threads;
  wherry_may_sleep(may_sleep);
  context.workspace = workspace;
  context.allocate_output = no_output;
  return &context;
}

// Where the text of the last error begins; it ends with a zero.
EXPORT const char *wherry_error() { return context.error; }

// Runs steps [0, n); -1, or the number of the step that failed, with its text in wherry_error().
EXPORT int32_t wherry_run(wherry_step *steps, int32_t n) {
  context.error[0] = 0;
  const uint32_t traps = wherry_traps();
  for (int32_t i = 0; i < n; ++i) {
    const int status = steps[i].kernel(&steps[i].call);
    let_go();
    if (wherry_traps() != traps) memcpy(context.error, trapped, sizeof trapped);
    if (status != WRY_OK || wherry_traps() != traps) return i;
  }
  return -1;
}

// Memory for weights and plans, 64-byte aligned; null when there is none.
EXPORT void *wherry_take(size_t bytes) { return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment); }
EXPORT void wherry_give(void *block) { free(block); }

// What the C library would ask JavaScript for.
extern "C" void *sbrk(intptr_t increment) {
  static uintptr_t top;
  extern char heap_base __asm__("__heap_base");
  constexpr uintptr_t page = 65536;
  if (!top) top = (reinterpret_cast<uintptr_t>(&heap_base) + 63) / 64 * 64;
  const uintptr_t found = top, end = __builtin_wasm_memory_size(0) * page;
  if (found + increment < found && increment > 0) return reinterpret_cast<void *>(-1);
  if (found + increment > end && __builtin_wasm_memory_grow(0, (found + increment - end + page - 1) / page) == SIZE_MAX)
    return reinterpret_cast<void *>(-1);
  top = found + increment;
  return reinterpret_cast<void *>(found);
}
extern "C" void _emscripten_memcpy_js(void *to, const void *from, size_t bytes) { __builtin_memcpy(to, from, bytes); }
extern "C" void abort() { __builtin_trap(); }
