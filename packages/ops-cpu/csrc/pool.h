// The pool of threads behind parallel.h, one for the process (runtime.cc).
#ifndef WHERRY_OPS_CPU_POOL_H
#define WHERRY_OPS_CPU_POOL_H

#include <stdint.h>

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
#define WRY_THREADS 1
#else
#define WRY_THREADS 0
#endif

#define WRY_CPU_MOST_THREADS 256

extern "C" {
// Which participant of a loop the calling thread is just now; -1 outside of loops.
extern __thread int wry_cpu_participant;

// run(closure, piece) for each piece of [0, pieces) on up to `threads` threads, the calling one among them.
void wry_cpu_run_pieces(int threads, int64_t pieces, void (*run)(const void *closure, int64_t piece), const void *closure);
}

#endif
