// Loops on the workers of a page. See pool.h.
//
// One instance of the module calls kernels, the others wait for loops in `wherry_work`. All have the same memory; what an instance has for
// itself are its stack and `wherry_self`, the globals of WebAssembly.
//
// A loop is open while its caller computes pieces of it. A worker enters an open loop, takes pieces until none is left, and leaves;
// the caller closes it and waits for those that are inside, which are in their last piece. So nobody waits for a worker that got no
// processor. There is no clock here and no instruction that says "I wait": whoever waits looks a number of times, then sleeps.
#include "pool.h"

#define EXPORT extern "C" __attribute__((visibility("default"), used))

// The participant that this instance is, plus 1: a global starts at zero.
__asm__(
    ".globaltype wherry_self, i32\n"
    "wherry_self:\n"
    ".globaltype __stack_pointer, i32\n"
    ".section .text.wry_page_participant,\"\",@\n"
    ".hidden wry_page_participant\n"
    ".globl wry_page_participant\n"
    ".type wry_page_participant,@function\n"
    "wry_page_participant:\n"
    ".functype wry_page_participant () -> (i32)\n"
    "global.get wherry_self\n"
    "i32.const 1\n"
    "i32.sub\n"
    "end_function\n"
    ".section .text.wherry_set_self,\"\",@\n"
    ".hidden wherry_set_self\n"
    ".globl wherry_set_self\n"
    ".type wherry_set_self,@function\n"
    "wherry_set_self:\n"
    ".functype wherry_set_self (i32) -> ()\n"
    "local.get 0\n"
    "i32.const 1\n"
    "i32.add\n"
    "global.set wherry_self\n"
    "end_function\n"
    ".section .text.wherry_stack,\"\",@\n"
    ".globl wherry_stack\n"
    ".type wherry_stack,@function\n"
    "wherry_stack:\n"
    ".functype wherry_stack (i32) -> ()\n"
    "local.get 0\n"
    "global.set __stack_pointer\n"
    "end_function\n");
extern "C" void wherry_set_self(int participant);

namespace {

// The loop that runs now. `gate`: is it open, how many may still enter, how many are inside.
constexpr uint32_t open = 1, place = 2, places_mask = 0xfe, inside = 0x100;
struct {
  alignas(64) uint32_t gate;
  alignas(64) uint32_t next;  // piece
  uint32_t pieces;
  int threads;
  void (*run)(const void *closure, int64_t piece);
  const void *closure;
  alignas(64) uint32_t count;  // of loops so far: what idle workers look at
  uint32_t sleepers;           // of them
  bool caller_sleeps;
  bool may_sleep;  // the thread of a document may not
  uint32_t traps;
} pool;

// How often somebody looks before it sleeps: ops of a model follow each other within some microseconds.
constexpr int idle_looks = 20000, caller_looks = 10000;

uint32_t value_of(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

void work_on(int me) {
  wherry_set_self(me);
  for (uint32_t piece; (piece = __atomic_fetch_add(&pool.next, 1, __ATOMIC_SEQ_CST)) < pool.pieces;) pool.run(pool.closure, piece);
  wherry_set_self(-1);
}

void leave() {
  const uint32_t gate = __atomic_sub_fetch(&pool.gate, inside, __ATOMIC_SEQ_CST);
  if (gate < inside && !(gate & open) && __atomic_load_n(&pool.caller_sleeps, __ATOMIC_SEQ_CST)) __builtin_wasm_memory_atomic_notify((int *)&pool.gate, 1);
}

}  // namespace

// What a worker does, and never comes back from.
EXPORT void wherry_work() {
  for (uint32_t seen = value_of(&pool.count) - 1;;) {
    uint32_t now = value_of(&pool.count);
    for (int i = 0; now == seen && i < idle_looks; ++i) now = value_of(&pool.count);
    if (now == seen) {
      __atomic_fetch_add(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
      __builtin_wasm_memory_atomic_wait32((int *)&pool.count, int(seen), -1);
      __atomic_fetch_sub(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
      continue;
    }
    seen = now;
    uint32_t gate = value_of(&pool.gate);
    while (gate & open && gate & places_mask)
      if (__atomic_compare_exchange_n(&pool.gate, &gate, gate - place + inside, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        work_on(pool.threads - int(gate & places_mask) / int(place));
        leave();
        break;
      }
  }
}

// A worker's piece ended in a trap: the loop's result is worth nothing.
EXPORT void wherry_trapped() {
  if (wry_page_participant() < 0) return;
  wherry_set_self(-1);
  __atomic_fetch_add(&pool.traps, 1, __ATOMIC_SEQ_CST);
  leave();
}

// How many workers have trapped so far.
uint32_t wherry_traps() { return value_of(&pool.traps); }

void wherry_may_sleep(bool may) { pool.may_sleep = may; }

extern "C" void wry_cpu_run_pieces(int threads, int64_t pieces, void (*run)(const void *, int64_t), const void *closure) {
  if (pieces >= INT32_MAX) {
    for (int64_t piece = 0; piece < pieces; ++piece) run(closure, piece);
    return;
  }
  pool.next = 0, pool.pieces = uint32_t(pieces), pool.threads = threads, pool.run = run, pool.closure = closure;
  __atomic_store_n(&pool.gate, open + place * uint32_t(threads - 1), __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&pool.count, 1, __ATOMIC_SEQ_CST);
  if (value_of(&pool.sleepers)) __builtin_wasm_memory_atomic_notify((int *)&pool.count, uint32_t(threads - 1));
  work_on(0);
  uint32_t gate = __atomic_and_fetch(&pool.gate, ~open, __ATOMIC_SEQ_CST);
  for (int i = 0; gate >= inside && (i < caller_looks || !pool.may_sleep); ++i) gate = value_of(&pool.gate);
  if (gate < inside) return;
  __atomic_store_n(&pool.caller_sleeps, true, __ATOMIC_SEQ_CST);
  while ((gate = value_of(&pool.gate)) >= inside) __builtin_wasm_memory_atomic_wait32((int *)&pool.gate, int(gate), -1);
  __atomic_store_n(&pool.caller_sleeps, false, __ATOMIC_SEQ_CST);
}
