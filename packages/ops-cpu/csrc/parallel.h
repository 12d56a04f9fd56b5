// Loops on several threads. Results never depend on how many: the cuts between pieces of work
// follow from the size of the work alone.
//
// OpenMP where the compiler has it, a plain loop otherwise (WebAssembly). After a fork the child
// runs single-threaded if its parent had started threads: those do not exist in the child, and
// libgomp would wait for them forever (runtime.cc keeps the flag).
#ifndef WHERRY_OPS_CPU_PARALLEL_H
#define WHERRY_OPS_CPU_PARALLEL_H

#include "common.h"

#ifdef _OPENMP
#include <omp.h>
#endif

extern "C" {
// In runtime.cc, one for all instruction sets.
extern int wry_cpu_threads_started;  // a parallel region has run in this process
extern int wry_cpu_single_threaded;  // set in a child of a process that had threads
}

namespace WRY_NAMESPACE {

// How many threads a kernel may use for `pieces` pieces of work.
WRY_INLINE int threads_for(const wry_call *call, int64_t pieces) {
#ifdef _OPENMP
  const int limit = call->context->num_threads;
  if (limit <= 1 || pieces <= 1 || wry_cpu_single_threaded || omp_in_parallel()) return 1;
  return pieces < limit ? int(pieces) : limit;
#else
  (void)call, (void)pieces;
  return 1;
#endif
}

// f(begin, end) over disjoint ranges that cover [0, n), for work whose items do not depend on each
// other. A range holds at least `grain` items (choose it so that one takes some 10 microseconds:
// 16384 additions, for example), so small n is one direct call.
template <typename F>
WRY_INLINE void parallel_for(const wry_call *call, int64_t n, int64_t grain, F &&f) {
  if (n <= grain) {
    if (n > 0) f(int64_t(0), n);
    return;
  }
#ifdef _OPENMP
  const int threads = threads_for(call, n / (grain > 0 ? grain : 1));
  if (threads > 1) {
    wry_cpu_threads_started = 1;
#pragma omp parallel num_threads(threads)
    {
      const int64_t count = omp_get_num_threads(), me = omp_get_thread_num();
      const int64_t begin = n * me / count, end = n * (me + 1) / count;
      if (begin < end) f(begin, end);
    }
    return;
  }
#else
  (void)call;
#endif
  f(int64_t(0), n);
}

// f(block, begin, end) for each block of `size` items of [0, n) (the last may be shorter). The
// blocks are the same for any number of threads: sum inside a block, then sum the blocks in order.
template <typename F>
WRY_INLINE void parallel_blocks(const wry_call *call, int64_t n, int64_t size, F &&f) {
  const int64_t blocks = (n + size - 1) / size;
  parallel_for(call, blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) f(b, b * size, min_of(n, (b + 1) * size));
  });
}

// f(piece) for each of a few unequal pieces of work, handed out as threads become free. Only for
// pieces that write to different places.
template <typename F>
WRY_INLINE void parallel_tasks(const wry_call *call, int64_t pieces, F &&f) {
#ifdef _OPENMP
  const int threads = threads_for(call, pieces);
  if (threads > 1) {
    wry_cpu_threads_started = 1;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t p = 0; p < pieces; ++p) f(p);
    return;
  }
#else
  (void)call;
#endif
  for (int64_t p = 0; p < pieces; ++p) f(p);
}

}  // namespace WRY_NAMESPACE

#endif
