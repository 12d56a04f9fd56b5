// Threads of a block as fibers.
//
// Blocks run one after another, in an order that the settings choose (forward, reverse, or a seed of a permutation). In a
// block one warp runs as far as it can before the next one does, which is when a missing barrier shows; with a seed it is
// sometimes left halfway. A thread runs until its next barrier or warp function; one that never waits needs no switch.
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

extern "C" void cuda_emulator_switch(void **save, void *load);
#if defined(__x86_64__)
asm(R"(
.text
.globl cuda_emulator_switch
.hidden cuda_emulator_switch
.type cuda_emulator_switch,@function
cuda_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cuda_emulator_switch,.-cuda_emulator_switch
)");
#else
#error "wherry-cuda-emulator switches stacks on x86-64 only; another processor needs these lines in its assembly"
#endif

namespace cuda_emulator {

enum State { FRESH,
             READY,
             AT_BARRIER,
             AT_WARP_FUNCTION,
             DONE };

Thread host_thread;
__thread Thread *self __attribute__((tls_model("initial-exec"))) = &host_thread;
Thread *threads;
Launch *now;
uint32_t launch_serial;
int running_fiber;

static void *scheduler_sp;
static void *fiber_sp[max_threads];
static int fiber_of[max_threads];  // of a thread
static std::vector<int> free_fibers;
static uint32_t arrived[max_threads / 32];  // of each warp: lanes that wait in a warp function or have returned

static uint64_t mix(uint64_t &state) {  // splitmix64
  state += 0x9E3779B97F4A7C15ull;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}
static std::vector<int> permutation(int n, uint64_t salt) {
  std::vector<int> p(n);
  for (int i = 0; i < n; ++i) p[i] = i;
  if (settings.order == REVERSE) std::reverse(p.begin(), p.end());
  if (settings.order == SEEDED) {
    uint64_t s = settings.seed * 0x2545F4914F6CDD1Dull + salt;
    for (int i = n - 1; i > 0; --i) std::swap(p[i], p[mix(s) % (i + 1)]);
  }
  return p;
}

std::string who(const Thread *t) {
  char text[160];
  snprintf(text, sizeof text, "thread (%u,%u,%u) of block (%u,%u,%u) in ", t->thread_idx.x, t->thread_idx.y,
           t->thread_idx.z, t->block_idx.x, t->block_idx.y, t->block_idx.z);
  return text + now->name;
}
static std::string place(const Thread &t) {
  const char *slash = strrchr(t.file, '/');
  return std::string(slash ? slash + 1 : t.file) + ":" + std::to_string(t.line);
}

struct Abandoned {};
void abandon() {
  now->failed = true;
  if (self == &host_thread) throw Abandoned();  // found by the scheduler
  void *ignored;
  cuda_emulator_switch(&ignored, scheduler_sp);
  abort();
}

void trap(const char *file, int line) {
  const char *slash = strrchr(file, '/');
  fail(who(self) + ": ends the kernel with __trap at " + (slash ? slash + 1 : file) + ":" + std::to_string(line));
  abandon();
}

void not_emulated(const char *what, const char *file, int line) {
  const char *slash = strrchr(file, '/');
  fail(who(self) + " at " + (slash ? slash + 1 : file) + ":" + std::to_string(line) + ": " + what);
  abandon();
}
void failed_assertion(const char *expression, const char *file, unsigned line) {
  const char *slash = strrchr(file, '/');
  if (self == &host_thread) {
    fprintf(stderr, "%s:%u: assertion `%s` failed\n", slash ? slash + 1 : file, line, expression);
    abort();
  }
  fail(who(self) + ": assertion `" + expression + "` failed at " + (slash ? slash + 1 : file) + ":" + std::to_string(line));
  abandon();
}
uint32_t active_lanes() {
  uint32_t lanes = 0;
  const Thread *warp = threads + (self->linear & ~31);
  for (int l = 0; l < 32 && (self->linear & ~31) + l < now->n; ++l)
    if (warp + l == self || warp[l].state == FRESH || warp[l].state == READY) lanes |= 1u << l;
  return lanes;
}
long long ticks() {
  static long long now_it_is;
  return ++now_it_is;
}

// ---- fibers -------------------------------------------------------------------------------------

static void fiber_main() {
  for (;;) {
    const int f = running_fiber;
    // Threads that never wait run here one after another.
    while (now->next < now->end) {
      const int t = now->order[now->next++];
      ++now->begun;
      fiber_of[t] = f;
      self = threads + t;
      self->state = READY;
      now->call(now->closure);
      self->state = DONE;
      arrived[self->warp] |= 1u << self->lane;
      if (self->waited) break;  // others came after it: the scheduler decides who is next
    }
    free_fibers.push_back(f);
    ++counts.switches;
    cuda_emulator_switch(&fiber_sp[f], scheduler_sp);
  }
}
static void start_fiber(int f) {
  char *top = stacks + size_t(f + 1) * (stack_size + page) - f * 320 % page;  // not all in the same sets of the cache
  void **sp = reinterpret_cast<void **>(top);
  *--sp = nullptr;  // alignment: as after a call
  *--sp = reinterpret_cast<void *>(fiber_main);
  for (int i = 0; i < 6; ++i) *--sp = nullptr;
  fiber_sp[f] = sp;
}
static int take_fiber() {
  const int f = free_fibers.back();
  free_fibers.pop_back();
  start_fiber(f);
  return f;
}
static void resume(int f) {
  running_fiber = f;
  ++counts.switches;
  cuda_emulator_switch(&scheduler_sp, fiber_sp[f]);
  self = &host_thread;
}
static void wait_here(State state) {
  Thread *me = self;
  const int f = fiber_of[me->linear];
  me->state = state;
  me->waited = true;
  ++counts.switches;
  // Straight to the next lane of the warp that can run, in the order of the warp.
  for (size_t i = 0; i < now->begun; ++i) {
    Thread &t = threads[now->order[me->warp * 32 + i]];
    if (t.state != READY) continue;
    self = &t;
    running_fiber = fiber_of[t.linear];
    cuda_emulator_switch(&fiber_sp[f], fiber_sp[running_fiber]);
    self = me;
    return;
  }
  if (now->next < now->end) {
    running_fiber = take_fiber();
    cuda_emulator_switch(&fiber_sp[f], fiber_sp[running_fiber]);
  } else {
    cuda_emulator_switch(&fiber_sp[f], scheduler_sp);
  }
  self = me;
}

// ---- barriers and warp functions ----------------------------------------------------------------

int barrier(int predicate, BarrierFunction function, const char *file, int line) {
  self->file = file, self->line = line, self->op = function;
  ++now->arrivals;
  now->predicates += predicate != 0;
  wait_here(AT_BARRIER);
  return now->barrier_result;
}

static int source_lane(const Thread &t) {  // as shfl.sync of PTX defines it
  const int inside = t.width - 1, first = t.lane & ~inside, end = first + inside;
  int from = t.lane;
  switch (t.op) {
    case SHFL: return first | (t.arg & inside);
    case SHFL_UP: from = t.lane - t.arg; return from >= first ? from : t.lane;
    case SHFL_DOWN: from = t.lane + t.arg; return from <= end ? from : t.lane;
    case SHFL_XOR: from = t.lane ^ t.arg; return from <= end ? from : t.lane;
  }
  return from;
}

// Answers for all lanes of a mask, once every one of them that has not returned is there.
static bool complete(Thread *warp, uint32_t mask) {
  const int lanes = std::min(32, now->n - warp->linear);
  const uint32_t there = lanes < 32 ? (1u << lanes) - 1 : ~0u;
  if (mask & there & ~arrived[warp->warp]) return false;
  uint32_t need = 0, ballot = 0;
  int first = -1;
  for (int l = 0; l < lanes; ++l)
    if (mask >> l & 1 && warp[l].state != DONE) {
      if (warp[l].state != AT_WARP_FUNCTION) return false;
      need |= 1u << l;
      if (warp[l].value) ballot |= 1u << l;
      if (first < 0) first = l;
    }
  const bool aligned = warp[first].op >= MATRICES;
  if (aligned && need != ~0u) {
    fail(who(warp + first) + ": all 32 lanes of a warp have to take part in what tensor cores do; " + std::to_string(__builtin_popcount(need)) + " do, at " +
         place(warp[first]));
    abandon();
  }
  for (int l = 0; l < lanes; ++l)
    if (need >> l & 1) {
      Thread &t = warp[l];
      if (aligned && (t.arg != warp[first].arg || t.width != warp[first].width || t.line != warp[first].line || strcmp(t.file, warp[first].file))) {
        fail(who(&t) + ": lanes of a warp meet at different instructions of tensor cores, at " + place(t) + " and at " + place(warp[first]));
        abandon();
      }
      if (t.op != warp[first].op || t.mask != mask) {
        fail(who(&t) + ": lanes of one mask meet in different warp functions, at " + place(t) + " and at " + place(warp[first]));
        abandon();
      }
      switch (t.op) {
        case SHFL:
        case SHFL_UP:
        case SHFL_DOWN:
        case SHFL_XOR: {
          const int from = source_lane(t);
          if (!(need >> from & 1)) {
            fail(who(&t) + ": shuffles from lane " + std::to_string(from) + ", which does not take part, at " + place(t));
            abandon();
          }
          t.result = warp[from].value;
          break;
        }
        case BALLOT: t.result = ballot; break;
        case ANY: t.result = ballot != 0; break;
        case ALL: t.result = ballot == need; break;
        default: t.result = 0;
      }
      if (t.op == SYNC) ++t.warp_epoch;
    }
  if (aligned) (warp->op == PRODUCT ? multiply_fragments : load_matrices)(warp);
  for (int l = 0; l < lanes; ++l)
    if (need >> l & 1) warp[l].state = READY;
  arrived[warp->warp] &= ~need;
  return true;
}

uint64_t warp_function(WarpFunction op, uint32_t mask, uint64_t value, int arg, int width, const char *file, int line) {
  Thread *me = self;
  me->op = op, me->mask = mask, me->value = value, me->arg = arg, me->width = width, me->file = file, me->line = line;
  if (!(mask >> me->lane & 1)) {
    fail(who(me) + ": its mask does not name the calling lane, at " + place(*me));
    abandon();
  }
  me->state = AT_WARP_FUNCTION;
  arrived[me->warp] |= 1u << me->lane;
  if (complete(threads + (me->linear & ~31), mask)) me->state = READY;
  else wait_here(AT_WARP_FUNCTION);
  return me->result;
}

// ---- shared memory ------------------------------------------------------------------------------

static char *new_object(size_t bytes, size_t align, const void *tag, const char *name) {
  align = std::max(align, size_t(16));
  char *at = reinterpret_cast<char *>((uintptr_t(now->shared_end) + 31 + align) & ~(align - 1));  // at least 31 bytes apart
  if (at + bytes > shared_base + shared_size) return nullptr;
  now->objects.push_back({at, bytes, tag, name});
  now->shared_end = at + bytes;
  memset(at, 0xFF, bytes);  // NaN: nothing is initialised
  if (shared_written) memset(shared_written + (at - shared_base), 0, bytes);
  return at;
}
// Padding between the members of a struct is never written: copying it along with the whole is not a mistake.
static void write_padding(const SharedObject &object, const unsigned char *padding, size_t item) {
  if (!shared_written || !padding) return;
  for (size_t i = 0; i + item <= object.bytes; i += item)
    for (size_t k = 0; k < item; ++k)
      if (padding[k]) shared_written[object.at - shared_base + i + k] = 1;
}
void *shared_object(const void *tag, size_t bytes, size_t align, const char *name, const unsigned char *padding, size_t item) {
  size_t all = now->shared + bytes;
  for (const SharedObject &o : now->objects) {
    if (o.tag == tag) return o.at;
    if (o.tag) all += o.bytes;
  }
  char *at = all > now->shared_limit ? nullptr : new_object(bytes, align, tag, name);
  if (!at) {
    fail(who(self) + ": its block uses " + std::to_string(all) + " bytes of shared memory, and has " + std::to_string(now->shared_limit));
    abandon();
  }
  write_padding(now->objects.back(), padding, item);
  return at;
}
void *dynamic_shared(const unsigned char *padding, size_t item) {
  if (padding && now->dynamic && !now->padded) {
    now->padded = true;  // once for a block: it is the first of its objects
    write_padding(now->objects.front(), padding, item);
  }
  return now->dynamic;
}

// ---- a launch -----------------------------------------------------------------------------------

static void end_barrier(Launch &l, const Thread &one) {
  l.barrier_result = one.op == COUNT ? l.predicates : one.op == AND ? l.predicates == l.arrivals
                                                                    : l.predicates != 0;
  l.predicates = l.arrivals = 0;
  for (int t = 0; t < l.n; ++t) threads[t].state = READY, ++threads[t].epoch;
}

// False when nobody can go on. In one piece: one loop of the scheduler, whose cases all set what the next round looks at.
static bool run_block(Launch &l, uint3 block_idx, uint32_t linear) {
  l.block_linear = linear;
  ++l.block_serial;
  l.objects.clear();
  l.shared_end = shared_base;
  l.dynamic = nullptr, l.padded = false;
  if (l.shared) l.dynamic = new_object(l.shared, 16, nullptr, "dynamic shared memory");
  begin_block_checks();
  begin_block_copies();
  for (int t = 0; t < l.n; ++t) {
    Thread &th = threads[t];
    th.block_idx = block_idx;
    th.state = FRESH;
    th.epoch = th.warp_epoch = 0;
    th.waited = false;
  }
  memset(arrived, 0, sizeof arrived);
  l.predicates = l.arrivals = 0;
  free_fibers.clear();
  for (int f = l.n - 1; f >= 0; --f) free_fibers.push_back(f);
  const int warps = (l.n + 31) / 32;
  std::vector<int> begun(warps, 0);
  uint64_t dice = settings.seed + linear;
  for (;;) {
    bool progress = false;
    for (int w : l.warp_order) {
      const int lanes = std::min(32, l.n - w * 32);
      l.next = w * 32 + begun[w], l.end = w * 32 + lanes, l.begun = begun[w];
      for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < l.begun; ++i) {
          const int t = l.order[w * 32 + i];
          if (threads[t].state != READY) continue;
          self = threads + t;
          resume(fiber_of[t]);
          if (l.failed) return false;
          again = progress = true;
        }
        while (l.next < l.end) {
          resume(take_fiber());
          if (l.failed) return false;
          again = progress = true;
        }
        if (settings.order == SEEDED && mix(dice) % 4 == 0) break;
      }
      begun[w] = int(l.begun);
    }
    if (progress) continue;
    int waiting = 0, done = 0, first = -1;
    for (int t = 0; t < l.n; ++t) {
      if (threads[t].state == DONE) ++done;
      if (threads[t].state == AT_BARRIER) {
        ++waiting;
        if (first < 0) first = t;
      }
    }
    if (done == l.n) return true;
    if (waiting == l.n) {
      // One and the same barrier: threads that meet at different ones have gone different ways.
      for (int t = 1; t < l.n; ++t)
        if (threads[t].line != threads[0].line || strcmp(threads[t].file, threads[0].file)) {
          fail(who(threads + t) + ": waits at the barrier at " + place(threads[t]) + " while thread 0 waits at the one at " + place(threads[0]));
          return false;
        }
      end_barrier(l, threads[first]);
      continue;
    }
    // Lanes that returned meanwhile are waited for no longer.
    for (int w = 0; w < l.n && !progress; w += 32)
      for (int t = w; t < std::min(w + 32, l.n) && !progress; ++t)
        progress = threads[t].state == AT_WARP_FUNCTION && complete(threads + w, threads[t].mask);
    if (!progress) {
      std::string text = "deadlock in block (" + std::to_string(block_idx.x) + "," + std::to_string(block_idx.y) + "," +
                         std::to_string(block_idx.z) + ") of " + l.name + ":";
      for (int t = 0, shown = 0; t < l.n && shown < 3; ++t) {
        const Thread &th = threads[t];
        if (th.state != AT_BARRIER && th.state != AT_WARP_FUNCTION) continue;
        if (t && threads[t - 1].state == th.state && threads[t - 1].line == th.line) continue;
        text += (shown++ ? "; thread " : " thread ") + std::to_string(t) + " waits at " + place(th);
      }
      fail(text + (done ? ", " + std::to_string(done) + " threads have returned" : ""));
      return false;
    }
  }
}

void run(Launch &l) {
  ++counts.launches;
  ++launch_serial;
  begin_launch_checks();
  name_work("kernel " + l.name);
  l.n = int(l.block.x * l.block.y * l.block.z);
  for (int t = 0; t < l.n; ++t) {
    Thread &th = threads[t];
    th.thread_idx = {t % l.block.x, t / l.block.x % l.block.y, t / (l.block.x * l.block.y)};
    th.block_dim = l.block, th.grid_dim = l.grid;
    th.linear = t, th.lane = t & 31, th.warp = t >> 5;
  }
  l.warp_order = permutation((l.n + 31) / 32, 1);
  for (int w = 0; w * 32 < l.n; ++w)
    for (int lane : permutation(std::min(32, l.n - w * 32), 3 + w)) l.order.push_back(w * 32 + lane);
  l.block_serial = launch_serial << 16;
  now = &l;
  const uint64_t blocks = uint64_t(l.grid.x) * l.grid.y * l.grid.z;
  counts.threads += blocks * l.n;
  measure_launch();
  const std::vector<int> order = permutation(int(blocks), 2);
  for (uint64_t i = 0; i < blocks && !l.failed; ++i) {
    const uint32_t b = order[i];
    bool good = false;
    try {
      good = run_block(l, {b % l.grid.x, b / l.grid.x % l.grid.y, b / (l.grid.x * l.grid.y)}, b);
    } catch (Abandoned) {
    }
    if (!good) l.failed = true;
    measure_block();
  }
  self = &host_thread;
  now = nullptr;
  if (l.failed) sticky = cudaErrorLaunchFailure;
}

}  // namespace cuda_emulator
