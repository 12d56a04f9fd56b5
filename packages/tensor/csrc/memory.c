/* The caching allocator.
 *
 * A block is a 64-byte header (the wry_storage) followed by the data. Freed blocks go to a list of
 * their size class and come back last in, first out, so that a training loop runs in memory that
 * is mapped already and warm in cache: for large tensors the page faults of a fresh mapping cost
 * more than the arithmetic.
 *
 * Classes: multiples of 64 bytes up to 1 KiB, then eight steps for each power of two.
 *
 * Blocks of a megabyte and more (Linux) are cut out of segments in which neighbours grow together again when they are
 * free: a training step frees activations while it makes gradients of other sizes, and lists by size would hold both.
 */
#define _GNU_SOURCE
#include "wherry/memory.h"

#include "device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define HEADER 64
#define SMALL_CLASSES WRY_SMALL_CLASSES
#define CLASSES WRY_CLASSES
#define LARGE (1u << 20)
#define HUGE_PAGE ((size_t)2 << 20)

struct piece;

typedef struct block {
  wry_storage storage;
  union { /* in the header's tail: sizeof(wry_storage) + 8 <= HEADER */
    struct block *next;
    struct piece *piece; /* of a block in a segment */
  };
} block;

_Static_assert(sizeof(block) <= HEADER, "the header must fit in one cache line");

static block *free_lists[CLASSES];
static wry_memory_stats stats;
static int fill;                      /* fresh memory is filled with bytes that are not zero: FLAGS_init_allocated_mem */
#define MOST_KEPT ((size_t)512 << 20) /* or as much as tensors hold, if that is more and nobody has set a limit */
static size_t cached, cache_limit = MOST_KEPT;
static size_t returned; /* what has gone back to the system and has not come again */
static size_t swing;    /* what tensors held at most while that came again: a training step comes back to it */

/* Storage normally changes under the GIL, but a capsule's destructor or another thread's workspace
 * may come without it; the lock is never held across a call. */
static volatile char locked;
static void lock(void) {
  while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE)) {
  }
}
static void unlock(void) { __atomic_clear(&locked, __ATOMIC_RELEASE); }

int wry_class_of(size_t bytes) {
  if (bytes <= 1024) return bytes == 0 ? 1 : (int)((bytes + 63) / 64);
  int log = 8 * (int)sizeof(size_t) - 1 -
            (sizeof(size_t) == 8 ? __builtin_clzll((unsigned long long)(bytes - 1)) : __builtin_clz((unsigned)(bytes - 1)));
  size_t step = (size_t)1 << (log - 3);
  size_t steps = (bytes - ((size_t)1 << log) + step - 1) / step; /* 1..8 */
  return SMALL_CLASSES + 8 * (log - 10) + (int)steps - 1;
}

size_t wry_bytes_of(int size_class) {
  if (size_class < SMALL_CLASSES) return (size_t)size_class * 64;
  int at = size_class - SMALL_CLASSES, log = 10 + at / 8, steps = at % 8 + 1;
  return ((size_t)1 << log) + (size_t)steps * ((size_t)1 << (log - 3));
}

static void *map(size_t bytes) {
  void *p = NULL;
  /* Large blocks start on a huge page so that the first touch faults once per 2 MiB. */
  size_t align = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : 64;
  if (posix_memalign(&p, align, bytes) != 0) return NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (align == HUGE_PAGE) madvise(p, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
  return p;
}

static void release_lists(int from) { /* with the lock held */
  for (int c = from; c < CLASSES; ++c) {
    while (free_lists[c]) {
      block *b = free_lists[c];
      free_lists[c] = b->next;
      cached -= wry_bytes_of(c);
      stats.reserved -= (int64_t)wry_bytes_of(c);
      free(b);
    }
  }
}

/* Gaps between blocks in use may add up to a little, and no more. */
static size_t with_gaps(size_t bytes) { return bytes + bytes / 32 + ((size_t)16 << 20); }

static int keeps(size_t bytes) { /* with the lock held: may this much more wait for its next use? */
  size_t most = cache_limit, held = (size_t)stats.allocated;
  if (most == MOST_KEPT && held > most) most = held;
  if (cached + bytes <= most) return 1;
  if (cache_limit != MOST_KEPT || held + cached + bytes > with_gaps(swing)) return 0;
  swing -= bytes / 64; /* memory that was needed once goes back after a while */
  return 1;
}

static void count(size_t fresh, size_t bytes) { /* with the lock held: a block of so many bytes, of which `fresh` are new to us */
  stats.reserved += (int64_t)fresh;
  if (stats.reserved > stats.peak_reserved) stats.peak_reserved = stats.reserved;
  stats.allocated += (int64_t)bytes;
  if (stats.allocated > stats.peak_allocated) stats.peak_allocated = stats.allocated;
  if (!returned) return;
  if ((size_t)stats.allocated > swing) swing = (size_t)stats.allocated;
  returned -= fresh < returned ? fresh : returned;
}

/* Segments of large blocks. All functions are called with the lock held. */
#if defined(__linux__) && defined(MADV_HUGEPAGE)
#define IN_SEGMENT INT16_MAX /* as a size class */
#define PAGE ((size_t)4096)
#define SEGMENT ((size_t)256 << 20) /* of addresses: pages are the system's until they are touched */

typedef struct piece {
  char *at;
  size_t size;
  size_t touched;                /* of a free one: how much of its beginning may have pages */
  struct piece *before, *after;  /* neighbours in the segment */
  struct piece *previous, *next; /* in the list of free ones */
  int is_free;
} piece;

static piece *free_pieces;

static void link_free(piece *p) {
  p->is_free = 1;
  p->previous = NULL;
  p->next = free_pieces;
  if (free_pieces) free_pieces->previous = p;
  free_pieces = p;
}

static void unlink_free(piece *p) {
  p->is_free = 0;
  if (p->previous) p->previous->next = p->next;
  else free_pieces = p->next;
  if (p->next) p->next->previous = p->previous;
}

static piece *new_segment(size_t bytes) {
  size_t size = (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
  if (size < SEGMENT) size = SEGMENT;
  char *at = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return NULL;
  size_t skipped = (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE; /* pages of 2 MiB begin at multiples of that */
  if (skipped) munmap(at, skipped);
  munmap(at + skipped + size, HUGE_PAGE - skipped);
  piece *p = malloc(sizeof *p);
  if (!p) {
    munmap(at + skipped, size);
    return NULL;
  }
  memset(p, 0, sizeof *p);
  p->at = at + skipped;
  p->size = size;
  madvise(p->at, size, MADV_HUGEPAGE);
  link_free(p);
  return p;
}

/* What is cut off from `p` behind `bytes` is free. */
static void cut(piece *p, size_t bytes) {
  if (p->size == bytes) return;
  piece *rest = malloc(sizeof *rest);
  if (!rest) return; /* then the block is larger than it need be */
  rest->at = p->at + bytes;
  rest->size = p->size - bytes;
  rest->touched = p->touched > bytes ? p->touched - bytes : 0;
  rest->before = p;
  rest->after = p->after;
  if (rest->after) rest->after->before = rest;
  p->after = rest;
  p->size = bytes;
  if (p->touched > bytes) p->touched = bytes;
  link_free(rest);
}

/* So many pages go back to the system from the ends of free pieces, the largest first. */
static void untouch(size_t bytes) {
  while (bytes) {
    piece *most = NULL;
    for (piece *p = free_pieces; p; p = p->next)
      if (p->touched && (!most || p->touched > most->touched)) most = p;
    if (!most) return;
    char *from = most->at, *end = most->at + most->touched;
    if (most->touched > bytes) from = (char *)((uintptr_t)(end - bytes) & ~(HUGE_PAGE - 1));
    if (from < most->at) from = most->at;
    size_t gone = (size_t)(end - from);
    madvise(from, gone, MADV_DONTNEED);
    most->touched -= gone;
    cached -= gone;
    stats.reserved -= (int64_t)gone;
    bytes -= gone < bytes ? gone : bytes;
  }
}

static wry_storage *take_piece(size_t nbytes) {
  size_t bytes = (nbytes + HEADER + PAGE - 1) & ~(PAGE - 1), least = 0;
  piece *best = NULL;
  for (piece *p = free_pieces; p; p = p->next) { /* the one that needs the fewest new pages, the smallest of these */
    if (p->size < bytes) continue;
    size_t fresh = p->touched < bytes ? bytes - p->touched : 0;
    if (!best || fresh < least || (fresh == least && p->size < best->size)) best = p, least = fresh;
  }
  if (!best) best = new_segment(bytes);
  if (!best) return NULL;
  unlink_free(best);
  cut(best, bytes);
  size_t fresh = best->size - best->touched;
  cached -= best->touched;
  size_t most = with_gaps((size_t)stats.peak_allocated); /* new pages where others lie free */
  if (fresh && (size_t)stats.reserved + fresh > most) untouch((size_t)stats.reserved + fresh - most);
  count(fresh, best->size);
  block *b = (block *)best->at;
  b->piece = best;
  return &b->storage;
}

/* `p` and its neighbour behind it become one free piece; neither is in the list. */
static piece *joined(piece *p, piece *behind) {
  if (behind->touched) {
    size_t between = p->size - p->touched; /* counted as if it had pages: it seldom is more than nothing */
    cached += between;
    stats.reserved += (int64_t)between;
    p->touched = p->size + behind->touched;
  }
  p->size += behind->size;
  p->after = behind->after;
  if (p->after) p->after->before = p;
  free(behind);
  return p;
}

static void give_piece(piece *p) {
  const size_t bytes = p->size;
  stats.allocated -= (int64_t)bytes;
  const int keep = keeps(bytes);
  p->touched = bytes;
  cached += bytes;
  if (p->after && p->after->is_free) {
    unlink_free(p->after);
    p = joined(p, p->after);
  }
  if (p->before && p->before->is_free) {
    unlink_free(p->before);
    p = joined(p->before, p);
  }
  link_free(p);
  if (keep) return;
  returned += bytes;
  untouch(bytes);                                                    /* not the block itself, which is the next one that is given out */
  if (!p->before && !p->after && !p->touched && p->size > SEGMENT) { /* a segment of its own */
    unlink_free(p);
    munmap(p->at, p->size);
    free(p);
  }
}

static void release_pieces(void) {
  piece *next;
  for (piece *p = free_pieces; p; p = next) {
    next = p->next;
    cached -= p->touched;
    stats.reserved -= (int64_t)p->touched;
    if (p->before || p->after) {
      if (p->touched) madvise(p->at, p->touched, MADV_DONTNEED);
      p->touched = 0;
      continue;
    }
    unlink_free(p);
    munmap(p->at, p->size);
    free(p);
  }
}
#else
#define IN_SEGMENT INT16_MAX
static wry_storage *take_piece(size_t nbytes) { return NULL; }
static void give_piece(struct piece *p) {}
static void release_pieces(void) {}
#endif

static void release_all(int from) {
  release_lists(from);
  release_pieces();
}

wry_storage *wry_storage_new(size_t nbytes) {
  if (nbytes > (SIZE_MAX >> 2) || (sizeof(size_t) == 8 && nbytes >> 48)) return NULL;
  int c = wry_class_of(nbytes);
  size_t bytes = wry_bytes_of(c);
  block *b = NULL;
  lock();
  if (bytes >= LARGE && cache_limit) { /* without a cache each block is the system's, as checkers of memory like it */
    b = (block *)take_piece(nbytes);
    if (b) c = IN_SEGMENT;
  }
  if (!b && free_lists[c]) {
    b = free_lists[c];
    free_lists[c] = b->next;
    cached -= bytes;
    count(0, bytes);
  }
  if (!b) {
    /* Old sizes would pile up when shapes change: a large miss empties a cache that has grown. */
    if (bytes >= LARGE && cached > cache_limit / 2) release_all(SMALL_CLASSES);
    unlock();
    b = map(HEADER + bytes);
    lock();
    if (!b) { /* what the cache keeps may be just what is missing */
      release_all(0);
      unlock();
      b = map(HEADER + bytes);
      if (!b) return NULL;
      lock();
    }
    count(bytes, bytes);
  }
  unlock();
  wry_storage *s = &b->storage;
  s->data = (char *)b + HEADER;
  s->nbytes = nbytes;
  s->refs = 1;
  s->version = 0;
  s->device = 0;
  s->size_class = (int16_t)c;
  s->foreign = 0;
  s->owner = NULL;
  s->release = NULL;
  if (fill) memset(s->data, 0x7f, nbytes);
  return s;
}

void wry_memory_set_fill(int on) { fill = on; }

wry_storage *wry_storage_borrow(void *data, size_t nbytes, void *owner, void (*release)(void *)) {
  wry_storage *s = malloc(sizeof *s);
  if (!s) return NULL;
  memset(s, 0, sizeof *s);
  s->data = data;
  s->nbytes = nbytes;
  s->refs = 1;
  s->size_class = -1;
  s->foreign = 1;
  s->owner = owner;
  s->release = release;
  return s;
}

void wry_storage_free(wry_storage *s) {
  if (s->size_class < 0) {
    if (s->device) { /* its owner may free it: work that uses it must have run */
      char error[WRY_ERROR_SIZE];
      wry_device_synchronize(s->device, error);
    }
    if (s->release) s->release(s->owner);
    free(s);
    return;
  }
  if (s->device) {
    wry_device_storage_free(s);
    return;
  }
  block *b = (block *)s;
  if (s->size_class == IN_SEGMENT) {
    lock();
    give_piece(b->piece);
    unlock();
    return;
  }
  size_t bytes = wry_bytes_of(s->size_class);
  lock();
  stats.allocated -= (int64_t)bytes;
  int keep = keeps(bytes);
  if (keep) {
    b->next = free_lists[s->size_class];
    free_lists[s->size_class] = b;
    cached += bytes;
  } else {
    stats.reserved -= (int64_t)bytes;
  }
  unlock();
  if (!keep) free(b);
}

void wry_memory_get_stats(int32_t device, wry_memory_stats *out) {
  if (device) {
    wry_device_get_stats(device, out);
    return;
  }
  lock();
  *out = stats;
  unlock();
}

void wry_memory_reset_peak(int32_t device) {
  if (device) {
    wry_device_reset_peak(device);
    return;
  }
  lock();
  stats.peak_allocated = stats.allocated;
  stats.peak_reserved = stats.reserved;
  unlock();
}

void wry_memory_release_cache(int32_t device) {
  if (device) {
    wry_device_release_cache(device);
    return;
  }
  lock();
  release_all(0);
  unlock();
}

void wry_memory_set_cache_limit(int32_t device, size_t bytes) {
  if (device) {
    wry_device_set_cache_limit(device, bytes);
    return;
  }
  lock();
  cache_limit = bytes;
  if (cached > cache_limit) release_all(0);
  unlock();
}

/* Scratch stays with its thread, buffer by buffer, until the thread ends. A call takes buffers above
 * those of the calls it runs within (a finalizer may run an op while a kernel waits for its output),
 * and gives back what it took. */
static __thread struct scratch {
  void **data;
  size_t *bytes;
  int used, count;
} scratch;

static pthread_key_t scratch_key;
static pthread_once_t scratch_once = PTHREAD_ONCE_INIT;

static void free_scratch(void *ended) {
  struct scratch *s = ended;
  for (int i = 0; i < s->count; ++i) free(s->data[i]);
  free(s->data);
  free(s->bytes);
  memset(s, 0, sizeof *s);
}

static void make_scratch_key(void) { pthread_key_create(&scratch_key, free_scratch); }

static int grow_scratch(void) {
  int count = scratch.count ? 2 * scratch.count : 8;
  void **data = realloc(scratch.data, (size_t)count * sizeof *data);
  if (!data) return 0;
  scratch.data = data;
  size_t *bytes = realloc(scratch.bytes, (size_t)count * sizeof *bytes);
  if (!bytes) return 0;
  scratch.bytes = bytes;
  for (int i = scratch.count; i < count; ++i) {
    data[i] = NULL;
    bytes[i] = 0;
  }
  if (!scratch.count) {
    pthread_once(&scratch_once, make_scratch_key);
    pthread_setspecific(scratch_key, &scratch);
  }
  scratch.count = count;
  return 1;
}

int wry_workspace_mark(void) { return scratch.used; }

void *wry_workspace_take(size_t bytes) {
  int at = scratch.used;
  if (at == scratch.count && !grow_scratch()) return NULL;
  if (scratch.bytes[at] < bytes || !scratch.data[at]) {
    free(scratch.data[at]);
    scratch.data[at] = map(bytes ? bytes : 1);
    scratch.bytes[at] = scratch.data[at] ? bytes : 0;
  }
  if (scratch.data[at]) scratch.used = at + 1;
  return scratch.data[at];
}

void wry_workspace_reset(int mark) {
  /* A rare giant buffer is not worth keeping. */
  for (int i = mark; i < scratch.used; ++i)
    if (scratch.bytes[i] > ((size_t)64 << 20)) {
      free(scratch.data[i]);
      scratch.data[i] = NULL;
      scratch.bytes[i] = 0;
    }
  scratch.used = mark;
}
