// Loops on several threads. Results never depend on how many, nor on who computes what: each piece of
// work writes its own part of the result, or its own summand of a sum that is added up in order.
//
// The threads are those of runtime.cc, a plain loop takes their place where there are none (WebAssembly).
#ifndef WHERRY_OPS_CPU_PARALLEL_H
#define WHERRY_OPS_CPU_PARALLEL_H

#include <type_traits>

#include "common.h"
#include "pool.h"

namespace WRY_NAMESPACE {

// How many threads a kernel may use for `pieces` pieces of work.
WRY_INLINE int threads_for(const wry_call *call, int64_t pieces) {
#if WRY_THREADS
  const int64_t limit = min_of<int64_t>(call->context->num_threads, WRY_CPU_MOST_THREADS);
  if (limit <= 1 || pieces <= 1 || wry_cpu_participant >= 0) return 1;
  return int(min_of(pieces, limit));
#else
  (void)call, (void)pieces;
  return 1;
#endif
}

// Which of the threads_for(call, ...) threads of the loop this is: for scratch memory of its own.
WRY_INLINE int thread_index() {
#if WRY_THREADS
  return wry_cpu_participant > 0 ? wry_cpu_participant : 0;
#else
  return 0;
#endif
}

// f(piece) for each piece of work. They begin in no particular order, on any thread; neighbours mostly on
// the same one. Only for pieces that write to different places.
template <typename F>
WRY_INLINE void parallel_tasks(const wry_call *call, int64_t pieces, F &&f) {
#if WRY_THREADS
  const int threads = threads_for(call, pieces);
  if (threads > 1) {
    wry_cpu_run_pieces(
        threads, pieces,
        [](const void *closure, int64_t piece) { (*static_cast<std::remove_reference_t<F> *>(const_cast<void *>(closure)))(piece); }, &f);
    return;
  }
#endif
  for (int64_t p = 0; p < pieces; ++p) f(p);
}

// f(begin, end) over disjoint ranges that cover [0, n), for work whose items do not depend on each
// other. A range holds at least `grain` items (choose it so that one takes some 10 microseconds:
// 16384 additions, for example), so small n is one direct call. A thread gets several ranges: one that
// is slowed down by another process then has fewer of them.
template <typename F>
WRY_INLINE void parallel_for(const wry_call *call, int64_t n, int64_t grain, F &&f) {
  constexpr int64_t ranges_per_thread = 4;
  const int64_t most = n / max_of<int64_t>(grain, 1);
  const int threads = threads_for(call, most);
  if (threads <= 1) {
    if (n > 0) f(int64_t(0), n);
    return;
  }
  const int64_t ranges = min_of(most, threads * ranges_per_thread);
  parallel_tasks(call, ranges, [&](int64_t r) { f(n * r / ranges, n * (r + 1) / ranges); });
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

}  // namespace WRY_NAMESPACE

#endif
