// The pool of threads, one for the process and for all instruction sets. See parallel.h.
//
// Why not OpenMP: its threads wait for each other at the end of every loop, and they spin meanwhile. When
// another process takes one of the cores, each loop then lasts until the scheduler comes round (some
// milliseconds), and the spinning competes with the very thread that is waited for. Here
//
// - every participant owns a share of the pieces of a loop, and who is done takes from the others' ends:
//   a thread that got no processor holds nobody back, the caller computes its share and takes the job back;
// - who waits spins for some microseconds only, lingers for some hundred while nobody else wants the processor, then
//   sleeps in the kernel;
// - an account of what threads saved and what waiting for them cost decides whether the next loop gets any.
#include "common.h"

#include "pool.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#if WRY_THREADS
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif
#endif

extern "C" void wry_cpu_start_runtime(void);

int64_t wry_cpu_cached_bytes = int64_t(24) << 20;  // where nobody says

namespace {

// Nine eighths of the last-level cache. (Measured with 32 MB of it on Zen 5: up to there plain stores take 0.6 to 1.05 of the time of those past
// the caches, from 40 MB on 1.1 to 1.3.) Of a large one that a processor's owner lends out core by core, others have their part.
void measure_caches() {
#if defined(__x86_64__) || defined(__i386__)
  int64_t last = 0;
  constexpr unsigned leaves[] = {4, 0x8000001d};  // of Intel, of AMD
  for (const unsigned leaf : leaves) {
    unsigned a, ways, sets, d;
    for (unsigned i = 0; __get_cpuid_count(leaf, i, &a, &ways, &sets, &d) && (a & 31); ++i)
      last = (int64_t(ways >> 22) + 1) * ((ways >> 12 & 1023) + 1) * ((ways & 4095) + 1) * (int64_t(sets) + 1);
  }
  if (last > 0) wry_cpu_cached_bytes = WRY_NAMESPACE::min_of(last + last / 8, int64_t(48) << 20);
#endif
}

}  // namespace

#if !WRY_THREADS

void wry_cpu_start_runtime(void) { measure_caches(); }

#else

__thread int wry_cpu_participant = -1;

namespace {

// ---- sleeping -----------------------------------------------------------------------------------

#if defined(__linux__)
// Returns when *word no longer holds `value`, or for no reason.
void sleep_on(uint32_t *word, uint32_t value) { syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0); }
void wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0); }
void reset_sleepers() {}
#else
pthread_mutex_t sleepers_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sleepers = PTHREAD_COND_INITIALIZER;
void sleep_on(uint32_t *word, uint32_t value) {
  pthread_mutex_lock(&sleepers_lock);
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) pthread_cond_wait(&sleepers, &sleepers_lock);
  pthread_mutex_unlock(&sleepers_lock);
}
void wake(uint32_t *) {
  pthread_mutex_lock(&sleepers_lock);
  pthread_cond_broadcast(&sleepers);
  pthread_mutex_unlock(&sleepers_lock);
}
void reset_sleepers() {
  sleepers_lock = PTHREAD_MUTEX_INITIALIZER;
  sleepers = PTHREAD_COND_INITIALIZER;
}
#endif

using WRY_NAMESPACE::max_of;
using WRY_NAMESPACE::min_of;

int64_t now() {  // nanoseconds
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");  // `yield` does nothing on most cores
#endif
}

// Waits until *word is no longer `value`, at most `patience` nanoseconds; what it is then.
uint32_t spin_on(uint32_t *word, uint32_t value, int64_t patience) {
  uint32_t found;
  for (int i = 0; i < 64; ++i) {
    if ((found = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != value) return found;
    relax();
  }
  for (const int64_t end = now() + patience; now() < end;)
    for (int i = 0; i < 16; ++i) {
      if ((found = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != value) return found;
      relax();
    }
  return value;
}

// The same, but whoever else wants the processor meanwhile has it.
uint32_t linger_on(uint32_t *word, uint32_t value, int64_t patience) {
  uint32_t found;
  for (const int64_t end = now() + patience; now() < end; sched_yield())
    for (int i = 0; i < 16; ++i) {
      if ((found = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != value) return found;
      relax();
    }
  return value;
}

// ---- loops --------------------------------------------------------------------------------------

constexpr int most_threads = WRY_CPU_MOST_THREADS;

// The pieces [begin, end) that a participant has left, end in the upper half. The owner takes from the
// beginning, others from the end.
struct alignas(64) Share {
  uint64_t range;
};

struct Loop {
  void (*run)(const void *closure, int64_t piece);
  const void *closure;
  Share *shares;
  int participants;
};

// The next piece for `me`, or -1.
int64_t take(const Loop &loop, int me) {
  uint64_t range = __atomic_load_n(&loop.shares[me].range, __ATOMIC_RELAXED);
  while (uint32_t(range) < uint32_t(range >> 32))
    if (__atomic_compare_exchange_n(&loop.shares[me].range, &range, range + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return uint32_t(range);
  for (int i = 1; i < loop.participants; ++i) {
    Share &other = loop.shares[(me + i) % loop.participants];
    range = __atomic_load_n(&other.range, __ATOMIC_RELAXED);
    while (uint32_t(range) < uint32_t(range >> 32))
      if (__atomic_compare_exchange_n(&other.range, &range, range - (uint64_t(1) << 32), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return uint32_t(range >> 32) - 1;
  }
  return -1;
}

// Returns how many pieces it computed.
int64_t work_on(const Loop &loop, int me) {
  const int before = wry_cpu_participant;
  wry_cpu_participant = me;
  int64_t count = 0;
  for (int64_t piece; (piece = take(loop, me)) >= 0; ++count) loop.run(loop.closure, piece);
  wry_cpu_participant = before;
  return count;
}

// ---- workers ------------------------------------------------------------------------------------

// What a worker does is in the low bits of its state; above them counts how often it was claimed, so
// that a state that was left and taken again is another one.
constexpr uint32_t idle = 0, asleep = 1, claimed = 2, given = 3, busy = 4, busy_awaited = 5, state_mask = 7, one_claim = 8;

struct alignas(64) Worker {
  uint32_t state;
  int participant;
  int cpu_of_caller;
  const Loop *loop;
};

Worker workers[most_threads];  // never moved or freed: a late wake may still look at one
int worker_count;
pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;
int callers;  // loops that run now

// How long a worker looks for more work before it sleeps: ops of a model follow each other within some
// microseconds, and waking one costs as much again.
constexpr int64_t idle_patience = 30000;
// ... and then, while nobody else wants its processor: waking a thread takes its caller 8 microseconds on a virtual
// machine, where that means a word with the host. It is longer than the time that loops run alone for such a debt (see
// the account), or short ones that follow each other would find it asleep each time.
constexpr int64_t idle_leisure = 400000;
// ... and a caller for the last piece, which rarely takes longer.
constexpr int64_t caller_patience = 20000;

// A thread that is woken while no processor is idle starts where it ran before, and that may be where its caller
// computes: it would only interrupt it. Then it moves, and starts on the other one from now on. Its affinity is
// what it was again afterwards.
#if defined(__linux__)
int current_cpu() { return sched_getcpu(); }
void leave_cpu(int cpu) {
  cpu_set_t all, others;
  if (sched_getaffinity(0, sizeof(all), &all)) return;
  others = all;
  CPU_CLR(cpu, &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0) sched_setaffinity(0, sizeof(all), &all);
}
#else
int current_cpu() { return -1; }
void leave_cpu(int) {}
#endif

void *worker_main(void *of) {
  Worker &w = *static_cast<Worker *>(of);
  for (;;) {
    uint32_t state = __atomic_load_n(&w.state, __ATOMIC_ACQUIRE);
    if ((state & state_mask) == idle) state = spin_on(&w.state, state, idle_patience);
    if ((state & state_mask) == idle) state = linger_on(&w.state, state, idle_leisure);
    switch (state & state_mask) {
      case idle:
        __atomic_compare_exchange_n(&w.state, &state, (state & ~state_mask) | asleep, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        break;
      case given: {
        const int cpu = current_cpu();
        if (cpu >= 0 && cpu == w.cpu_of_caller) leave_cpu(cpu);
        if (!__atomic_compare_exchange_n(&w.state, &state, (state & ~state_mask) | busy, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
          break;  // taken back
        work_on(*w.loop, w.participant);
        const uint32_t left = __atomic_exchange_n(&w.state, (state & ~state_mask) | idle, __ATOMIC_ACQ_REL);
        if ((left & state_mask) == busy_awaited) wake(&w.state);
        break;
      }
      case claimed:  // for some instructions, unless that thread was interrupted in them
        if (spin_on(&w.state, state, idle_patience) == state) sched_yield();
        break;
      default: sleep_on(&w.state, state); break;
    }
  }
  return nullptr;
}

// At least `wanted` workers, unless the system gives no more.
void grow(int wanted) {
  pthread_mutex_lock(&growing);
  if (worker_count < wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the program's own threads
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    while (worker_count < wanted) {
      pthread_t thread;
      if (pthread_create(&thread, &detached, worker_main, &workers[worker_count])) break;
      __atomic_store_n(&worker_count, worker_count + 1, __ATOMIC_RELEASE);
    }
    pthread_attr_destroy(&detached);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  pthread_mutex_unlock(&growing);
}

// ---- the account --------------------------------------------------------------------------------

// Nanoseconds that threads have saved, less what waking and waiting for them cost. When it is overdrawn
// (another process has the processor, or small loops come so rarely that their worker sleeps each time), loops run
// on their callers alone until they have taken `penance` times the debt: so threads never cost more than a twentieth.
// What was saved is remembered up to `most_credit`.
int64_t credit;
int64_t alone;  // how long loops still run alone
constexpr int64_t penance = 20, most_credit = 10000000, longest_penance = 500000000;

void settle(int64_t saved) {
  int64_t sum = __atomic_load_n(&credit, __ATOMIC_RELAXED) + saved;
  if (sum > most_credit) sum = most_credit;
  if (sum < 0) {
    __atomic_store_n(&alone, min_of(-sum * penance, longest_penance), __ATOMIC_RELAXED);
    sum = 0;
  }
  __atomic_store_n(&credit, sum, __ATOMIC_RELAXED);
}

// In a child there is no thread but the one that forked.
void after_fork_in_child() {
  for (int i = 0; i < worker_count; ++i) workers[i].state = idle;
  worker_count = callers = 0;
  growing = PTHREAD_MUTEX_INITIALIZER;
  reset_sleepers();
  credit = alone = 0;
}

void run_alone(int64_t pieces, void (*run)(const void *, int64_t), const void *closure) {
  for (int64_t piece = 0; piece < pieces; ++piece) run(closure, piece);
}

}  // namespace

void wry_cpu_start_runtime(void) {
  measure_caches();
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
}

extern "C" void wry_cpu_run_pieces(int threads, int64_t pieces, void (*run)(const void *, int64_t), const void *closure) {
  const int64_t start = now();
  if (pieces > UINT32_MAX || __atomic_load_n(&alone, __ATOMIC_RELAXED) > 0) {
    run_alone(pieces, run, closure);
    __atomic_fetch_sub(&alone, now() - start, __ATOMIC_RELAXED);
    return;
  }
  if (__atomic_load_n(&worker_count, __ATOMIC_ACQUIRE) < threads - 1) grow(threads - 1);
  const int known = __atomic_load_n(&worker_count, __ATOMIC_ACQUIRE);
  // Loops of several of the program's threads share the workers.
  const int others = __atomic_fetch_add(&callers, 1, __ATOMIC_RELAXED);
  const int wanted = min_of(threads - 1, max_of(1, known / (others + 1)));

  Worker *mine[most_threads];
  uint32_t marks[most_threads];
  int count = 0;
  for (int i = 0; i < known && count < wanted; ++i) {
    uint32_t state = __atomic_load_n(&workers[i].state, __ATOMIC_RELAXED);
    if ((state & state_mask) > asleep) continue;
    const uint32_t next = (state & ~state_mask) + one_claim;
    if (!__atomic_compare_exchange_n(&workers[i].state, &state, next | claimed, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    mine[count] = &workers[i];
    marks[count++] = next | (state & state_mask);  // it remembers who sleeps
  }
  if (count == 0) {
    run_alone(pieces, run, closure);
    __atomic_fetch_sub(&callers, 1, __ATOMIC_RELAXED);
    return;
  }
  Share shares[most_threads];
  const Loop loop = {run, closure, shares, count + 1};
  for (int i = 0; i <= count; ++i)
    shares[i].range = uint64_t(pieces * (i + 1) / (count + 1)) << 32 | uint64_t(pieces * i / (count + 1));
  const int cpu = current_cpu();
  for (int i = 0; i < count; ++i) {
    mine[i]->participant = i + 1;
    mine[i]->cpu_of_caller = cpu;
    mine[i]->loop = &loop;
    __atomic_store_n(&mine[i]->state, (marks[i] & ~state_mask) | given, __ATOMIC_RELEASE);
    if ((marks[i] & state_mask) == asleep) wake(&mine[i]->state);
  }
  const int64_t woken = now();
  const int64_t own = work_on(loop, 0);
  const int64_t done = now();
  for (int i = 0; i < count; ++i) {
    const uint32_t mark = marks[i] & ~state_mask;
    uint32_t state = mark | given;
    if (__atomic_compare_exchange_n(&mine[i]->state, &state, mark | idle, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) continue;
    if (state == (mark | busy)) state = spin_on(&mine[i]->state, state, caller_patience);
    while (state == (mark | busy) || state == (mark | busy_awaited)) {
      if (state == (mark | busy_awaited) ||
          __atomic_compare_exchange_n(&mine[i]->state, &state, mark | busy_awaited, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        sleep_on(&mine[i]->state, mark | busy_awaited);
      state = __atomic_load_n(&mine[i]->state, __ATOMIC_ACQUIRE);
    }
  }
  __atomic_fetch_sub(&callers, 1, __ATOMIC_RELAXED);
  const int64_t end = now();
  settle((done - woken) / max_of<int64_t>(own, 1) * (pieces - own) - (end - done) - (woken - start));
}

#endif
