// Every load and store of a kernel, checked.
//
// Kernels are compiled with -fsanitize=thread,alignment, whose hooks are answered here and not by a library of the
// compiler: no sanitizer runs, the program stays an ordinary one. Each access is inside an allocation, of memory that was
// written before, and not raced for. A race is two accesses by two threads, one of them a write and not both atomic,
// without a barrier (of the block, or of the warp within it) in between; across blocks, without a fence and an atomic.
//
// What is known of memory is kept for each word of four bytes, and for single bytes only where something narrower was
// accessed: the last write, and the last read or that there were several.
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

namespace cuda_emulator {

#ifdef CUDA_EMULATOR_CHECKED

constexpr uint16_t nobody = 0xFFFF, several = 0xFFFE;
struct Shadow {
  uint32_t serial;  // of the launch, or of the block for shared memory; older records say nothing
  uint32_t w_block, r_block, w_epoch, r_epoch, w_warp_epoch, r_warp_epoch;
  uint16_t w_thread, r_thread;
  uint8_t w_atomic, wide, narrow, r_several_blocks;
};
struct Shadows {
  Shadow *words, *bytes;
};
static Shadows global_shadows, shared_shadows;
static std::map<char *, std::map<uint32_t, bool>> released;  // atomics: which blocks have passed a fence before one
static std::vector<char> acquired;                           // blocks whose writes this one may read
static bool fenced;
static std::string copying;     // the copy or memset that runs, where no kernel does
static const char *named_file;  // of the call that an access belongs to, where the emulator makes it
static int named_line;

void start_checks() {
  settings.checked = true;
  const auto shadow = [](size_t n) { return reinterpret_cast<Shadow *>(reserve(n * sizeof(Shadow), PROT_READ | PROT_WRITE)); };
  global_shadows = {shadow(arena_size / 4), shadow(arena_size)};
  shared_shadows = {shadow(shared_size / 4), shadow(shared_size)};
  shared_written = reinterpret_cast<unsigned char *>(reserve(shared_size, PROT_READ | PROT_WRITE));
  written = reinterpret_cast<unsigned char *>(reserve(arena_size, PROT_READ | PROT_WRITE));
}
void forget_accesses(char *pages, size_t bytes) {
  const size_t first = size_t(pages - arena);  // pages of the memory are pages of the records, too
  madvise(global_shadows.words + first / 4, bytes / 4 * sizeof(Shadow), MADV_DONTNEED);
  madvise(global_shadows.bytes + first, bytes * sizeof(Shadow), MADV_DONTNEED);
}
void begin_block_checks() { acquired.clear(), fenced = false, named_file = nullptr; }
void begin_launch_checks() { released.clear(), near = near_end = nullptr; }

static std::string place_of(const void *pc) {
  if (!named_file) return where_is(pc);
  const char *slash = strrchr(named_file, '/');
  return std::string(slash ? slash + 1 : named_file) + ":" + std::to_string(named_line);
}

static std::string race_text(const Shadow &s, bool write, bool other_wrote, const void *pc) {
  const int thread = other_wrote ? s.w_thread : s.r_thread;
  return who(self) + ": data race at " + place_of(pc) + ": it " + (write ? "writes" : "reads") + " what " +
         (thread == several ? std::string("several threads") : "thread " + std::to_string(thread)) + " of block " +
         std::to_string(other_wrote ? s.w_block : s.r_block) + (other_wrote ? " wrote" : " read") + " without a barrier in between";
}

static inline bool ordered(uint32_t block, int thread, uint32_t epoch, uint32_t warp_epoch, bool shared) {
  const Thread *me = self;
  if (!shared && block != now->block_linear) return block < acquired.size() && acquired[block];
  if (thread == me->linear || epoch < me->epoch) return true;
  return thread != several && thread >> 5 == me->warp && warp_epoch < me->warp_epoch;
}

static bool conflict(const Shadow &s, bool write, bool atomic, bool shared, const void *pc) {
  if (s.w_thread != nobody && !(atomic && s.w_atomic) && !ordered(s.w_block, s.w_thread, s.w_epoch, s.w_warp_epoch, shared)) {
    fail(race_text(s, write, true, pc), pc);
    return true;
  }
  if (write && s.r_thread != nobody && (s.r_several_blocks || !ordered(s.r_block, s.r_thread, s.r_epoch, s.r_warp_epoch, shared))) {
    fail(race_text(s, write, false, pc), pc);
    return true;
  }
  return false;
}

static void note(Shadow &s, bool write, bool atomic) {
  if (write) {
    s.w_block = now->block_linear, s.w_thread = uint16_t(self->linear), s.w_epoch = self->epoch, s.w_warp_epoch = self->warp_epoch;
    s.w_atomic = atomic;
    if (!atomic) s.r_thread = nobody, s.r_several_blocks = 0;
    return;
  }
  const bool new_block = s.r_thread == nobody || s.r_block != now->block_linear;
  if (s.r_thread != nobody && s.r_block != now->block_linear) s.r_several_blocks = 1;
  if (new_block || s.r_epoch < self->epoch) s.r_thread = uint16_t(self->linear);
  else if (s.r_thread != self->linear) s.r_thread = several;
  s.r_block = now->block_linear, s.r_epoch = self->epoch, s.r_warp_epoch = self->warp_epoch;
}

static Shadow &fresh(Shadow &s, uint32_t serial) {
  if (s.serial != serial) {
    memset(&s, 0, sizeof s);
    s.serial = serial;
    s.w_thread = s.r_thread = nobody;
  }
  return s;
}

// Of the launch that touched this last, which is not the one that runs.
static bool races_with_a_stream(const Shadow &s, uint32_t serial, bool write, bool atomic, bool shared, const void *pc) {
  if (shared || s.serial == serial || !s.serial) return false;
  const bool wrote = s.w_thread != nobody && !(atomic && s.w_atomic), was_read = write && s.r_thread != nobody;
  if (!wrote && !was_read) return false;
  const std::string text = race_of_streams(s.serial, wrote);
  if (text.empty()) return false;
  fail((now ? who(self) + ": data race at " + place_of(pc) + ": it " : copying + ": data race: it ") + (write ? "writes " : "reads ") + text, now ? pc : nullptr);
  return true;
}

static bool race(const Shadows &in, size_t offset, size_t bytes, uint32_t serial, bool write, bool atomic, bool shared, const void *pc) {
  if (((offset | bytes) & 3) == 0) {
    for (size_t i = offset; i < offset + bytes; i += 4) {
      if (races_with_a_stream(in.words[i >> 2], serial, write, atomic, shared, pc)) return true;
      Shadow &s = fresh(in.words[i >> 2], serial);
      if (conflict(s, write, atomic, shared, pc)) return true;
      for (int k = 0; s.narrow && k < 4; ++k)
        if (conflict(fresh(in.bytes[i + k], serial), write, atomic, shared, pc)) return true;
      note(s, write, atomic);
      s.wide = 1;
    }
    return false;
  }
  for (size_t i = offset; i < offset + bytes; ++i) {
    if (races_with_a_stream(in.words[i >> 2], serial, write, atomic, shared, pc)) return true;
    if (races_with_a_stream(in.bytes[i], serial, write, atomic, shared, pc)) return true;
    Shadow &word = fresh(in.words[i >> 2], serial), &s = fresh(in.bytes[i], serial);
    if (conflict(s, write, atomic, shared, pc) || (word.wide && conflict(word, write, atomic, shared, pc))) return true;
    note(s, write, atomic);
    word.narrow = 1;
  }
  return false;
}

static std::string access(bool write, size_t bytes, const void *pc) {
  return who(self) + " at " + place_of(pc) + (write ? " writes " : " reads ") + std::to_string(bytes) + " bytes ";
}

static void check_global(char *a, size_t bytes, bool write, bool atomic, const void *pc) {
  if (!(a >= near && a + bytes <= near_end)) {
    auto it = allocations.upper_bound(a);
    if (it == allocations.begin() || !(--it)->second.live || a + bytes > it->first + it->second.bytes) {
      fail(access(write, bytes, pc) + describe(a, bytes), pc);
      abandon();
    }
    if (it->second.device != now->device) {
      fail(access(write, bytes, pc) + "of device " + std::to_string(it->second.device) + ", and runs on device " + std::to_string(now->device), pc);
      abandon();
    }
    const std::string early = not_there_yet(it->second);
    if (!early.empty()) {
      fail(access(write, bytes, pc) + early, pc);
      abandon();
    }
    note_touch(it->second);
    near = it->first, near_end = near + it->second.bytes, near_constant = it->second.constant;
  }
  if (write && near_constant) {
    fail(access(true, bytes, pc) + describe(a, bytes) + ", which kernels can only read", pc);
    abandon();
  }
  const size_t offset = size_t(a - arena);
  if (measuring) measure_access(offset, bytes, write, atomic, false, pc);
  if (write && !atomic) {
    memset(written + offset, 1, bytes);
  } else if (memchr(written + offset, 0, bytes)) {
    fail(access(false, bytes, pc) + "that nothing has written, " + describe(a, bytes), pc);
    abandon();
  }
  if (race(global_shadows, offset, bytes, launch_serial, write, atomic, false, pc)) abandon();
}

static void check_shared(char *a, size_t bytes, bool write, bool atomic, const void *pc) {
  for (const SharedObject &o : now->objects) {
    if (a < o.at || a + bytes > o.at + o.bytes) continue;
    const size_t offset = size_t(a - shared_base);
    if (measuring) measure_access(offset, bytes, write, atomic, true, pc);
    if (memchr(shared_written + offset, UNDER_WAY, bytes)) {
      fail(access(write, bytes, pc) + "of shared memory '" + o.name + "' at byte " + std::to_string(a - o.at) +
               ", where a cp.async writes that its thread has not waited for",
           pc);
      abandon();
    }
    if (write && !atomic) {
      memset(shared_written + offset, 1, bytes);
    } else if (memchr(shared_written + offset, 0, bytes)) {
      fail(access(false, bytes, pc) + "of shared memory '" + o.name + "' at byte " + std::to_string(a - o.at) +
               ", which no thread of the block has written",
           pc);
      abandon();
    }
    if (race(shared_shadows, offset, bytes, now->block_serial, write, atomic, true, pc)) abandon();
    return;
  }
  std::string beside;
  for (const SharedObject &o : now->objects)
    if (a + 32 >= o.at && a < o.at + o.bytes + 32) beside = ", beside '" + std::string(o.name) + "' of " + std::to_string(o.bytes) + " bytes";
  fail(access(write, bytes, pc) + "outside of its shared memory" + beside, pc);
  abandon();
}

static void check(char *a, size_t bytes, bool write, bool atomic, const void *pc) {
  if (self == &host_thread) {  // host code of a .cu file
    if (!device_open && a >= arena && a < arena + arena_size && !is_managed(a)) {
      fprintf(stderr, "cuda emulator: host code at %s %s device memory, %s\n", where_is(pc).c_str(), write ? "writes" : "reads",
              describe(a, bytes).c_str());
      abort();
    }
    const std::string early = touched_too_early(a, bytes, write);
    if (!early.empty()) fail("host code at " + where_is(pc) + " " + early);
    return;
  }
  ++counts.accesses;
  if (size_t(a - (stacks + size_t(running_fiber) * (stack_size + page))) < stack_size + page) return;
  if (a >= arena && a < arena + arena_size) return check_global(a, bytes, write, atomic, pc);
  if (a >= shared_base && a < shared_base + shared_size) return check_shared(a, bytes, write, atomic, pc);
  if (a == (char *)&self || (a >= (char *)threads && a < (char *)(threads + max_threads))) return;  // threadIdx and the like
  if (a >= (char *)now->closure && a < (char *)now->closure + now->closure_size) return;            // parameters
  if (!write && is_of_module(a)) return;                                                            // constants of a library of kernels
  fail(access(write, bytes, pc) + "of HOST memory" + (is_pinned(a) ? ", which is pinned: without cudaHostAllocMapped and its device pointer the GPU does not see it" : ""), pc);
  abandon();
}

void touch(char *a, size_t bytes, bool write, const std::string &what) {
  if (!is_device(a) || !bytes || !works_in_order()) return;
  copying = what;
  ++launch_serial;
  name_work(what);
  const auto of = std::prev(allocations.upper_bound(a));
  const std::string early = not_there_yet(of->second);
  if (!early.empty()) {
    fail(what + (write ? " writes " : " reads ") + std::to_string(bytes) + " bytes " + early);
    sticky = cudaErrorLaunchFailure;
    return;
  }
  note_touch(of->second);
  const auto visit = [&](Shadow &s) {
    const bool bad = races_with_a_stream(s, launch_serial, write, false, false, nullptr);
    fresh(s, launch_serial);
    (write ? s.w_thread : s.r_thread) = 0;
    return bad;
  };
  for (size_t i = size_t(a - arena) >> 2; i <= size_t(a + bytes - 1 - arena) >> 2; ++i) {
    Shadow &word = global_shadows.words[i];
    bool bad = false;
    for (int k = 0; word.narrow && k < 4; ++k) bad = bad || visit(global_shadows.bytes[4 * i + k]);
    if (bad || visit(word)) {
      sticky = cudaErrorLaunchFailure;
      return;
    }
  }
}

void atomic_begin(void *address, size_t bytes, const void *pc) {
  char *a = static_cast<char *>(address);
  check(a, bytes, true, true, pc);
  auto &here = released[a];
  if (fenced) here[now->block_linear] = true;
  for (auto &r : here) {
    if (acquired.size() <= r.first) acquired.resize(r.first + 1);
    acquired[r.first] = 1;
  }
}
void fence() { fenced = true; }

void check_access(const void *a, size_t bytes, bool write, bool measured, const void *pc, const char *file, int line) {
  const bool kept = measuring;
  named_file = file, named_line = line, measuring = kept && measured;
  check((char *)a, bytes, write, false, pc);
  named_file = nullptr, measuring = kept;
}
void set_written(char *shared, size_t bytes, Written state) { memset(shared_written + (shared - shared_base), state, bytes); }

#else

void check_access(const void *, size_t, bool, bool, const void *, const char *, int) {}
void set_written(char *, size_t, Written) {}
void touch(char *, size_t, bool, const std::string &) {}
void forget_accesses(char *, size_t) {}

void start_checks() {}
void begin_block_checks() {}
void begin_launch_checks() {}
void atomic_begin(void *, size_t, const void *) {}
void fence() {}

#endif

}  // namespace cuda_emulator

#ifdef CUDA_EMULATOR_CHECKED
// ---- the hooks of the compiler --------------------------------------------------------------------

using cuda_emulator::check;
// Seen by libraries that are compiled for the emulator of this one, and by nothing else: this one is loaded for itself alone.
#define HOOK extern "C" __attribute__((visibility("default")))
#define PC __builtin_return_address(0)
#define HOOKS(n)                                                                         \
  HOOK void __tsan_read##n(void *a) { check((char *)a, n, false, false, PC); }           \
  HOOK void __tsan_write##n(void *a) { check((char *)a, n, true, false, PC); }           \
  HOOK void __tsan_unaligned_read##n(void *a) { check((char *)a, n, false, false, PC); } \
  HOOK void __tsan_unaligned_write##n(void *a) { check((char *)a, n, true, false, PC); } \
  HOOK void __tsan_volatile_read##n(void *a) { check((char *)a, n, false, false, PC); }  \
  HOOK void __tsan_volatile_write##n(void *a) { check((char *)a, n, true, false, PC); }
// clang-format off
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)
    // clang-format on
    HOOK void __tsan_read_range(void *a, long n) { check((char *)a, n, false, false, PC); }
HOOK void __tsan_write_range(void *a, long n) { check((char *)a, n, true, false, PC); }
HOOK void __tsan_vptr_update(void **, void *) {}
HOOK void __tsan_vptr_read(void **) {}
HOOK void __tsan_func_entry(void *) {}
HOOK void __tsan_func_exit() {}
HOOK void __tsan_init() {}
HOOK void *__tsan_memcpy(void *d, const void *s, size_t n) {
  check((char *)s, n, false, false, PC);
  check((char *)d, n, true, false, PC);
  return memcpy(d, s, n);
}
HOOK void *__tsan_memmove(void *d, const void *s, size_t n) {
  check((char *)s, n, false, false, PC);
  check((char *)d, n, true, false, PC);
  return memmove(d, s, n);
}
HOOK void *__tsan_memset(void *d, int v, size_t n) {
  check((char *)d, n, true, false, PC);
  return memset(d, v, n);
}

// -fsanitize=alignment: a processor of the host reads a float4 anywhere, a GPU only where it is aligned.
namespace {
struct Mismatch {
  const char *file;
  uint32_t line, column;
  const void *type;
  unsigned char log_align, kind;
};
}  // namespace
HOOK void __ubsan_handle_type_mismatch_v1(Mismatch *m, void *a) {
  using namespace cuda_emulator;
  if (self == &host_thread) return;
  const char *slash = strrchr(m->file, '/');
  fail(who(self) + " at " + (slash ? slash + 1 : m->file) + ":" + std::to_string(m->line) + ": this address is not a multiple of " +
       std::to_string(1u << m->log_align) + ", " + describe((char *)a, 1));
  abandon();
}
#endif
