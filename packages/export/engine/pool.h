// The pool of threads of a page. Kernels are compiled for the engine with this file in front (-include): it takes the place of
// ops-cpu's pool.h, whose guard it defines. There threads belong to the process; here JavaScript starts them (pool.js), as workers that
// run this very module in the same memory, and one that was not started costs a comparison.
#ifndef WHERRY_OPS_CPU_POOL_H
#define WHERRY_OPS_CPU_POOL_H

#include <stdint.h>

#define WRY_THREADS 1
#define WRY_CPU_MOST_THREADS 16

constexpr int64_t wry_cpu_cached_bytes = int64_t(24) << 20;  // a page is not told

extern "C" {
// Which participant of a loop this instance of the module is just now; -1 outside of loops.
int wry_page_participant(void);

// run(closure, piece) for each piece of [0, pieces) on up to `threads` threads, the calling one among them.
void wry_cpu_run_pieces(int threads, int64_t pieces, void (*run)(const void *closure, int64_t piece), const void *closure);
}

// For engine.cc: may the thread that calls kernels sleep, and how many pieces ended in traps on other threads.
void wherry_may_sleep(bool may);
uint32_t wherry_traps();

#define wry_cpu_participant wry_page_participant()

#endif
