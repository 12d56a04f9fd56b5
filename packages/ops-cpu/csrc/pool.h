// What there is once for the process (runtime.cc): the pool of threads behind parallel.h, and what its caches hold.
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
// What a loop may read and write, in bytes, and find most of it in the last-level cache when it comes round. Beyond that, results go past the
// caches (`stream`): a plain store would first read from memory what it overwrites.
extern int64_t wry_cpu_cached_bytes;

// Which participant of a loop the calling thread is just now; -1 outside of loops.
extern __thread int wry_cpu_participant;

// run(closure, piece) for each piece of [0, pieces) on up to `threads` threads, the calling one among them.
void wry_cpu_run_pieces(int threads, int64_t pieces, void (*run)(const void *closure, int64_t piece), const void *closure);
}

#endif
