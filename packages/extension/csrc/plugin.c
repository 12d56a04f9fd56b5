/* Devices that come as libraries with Paddle's C interface: loads them, checks what they say, and makes each a wry_device.
 *
 * The plug-in's functions know neither strides nor 64-byte alignment nor an order between streams and the host; what the core
 * expects beyond them is done here. Where a plug-in has no asynchronous form of a copy, its stream is waited for first.
 */
#include "plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <elf.h>
#include <link.h>
#endif

#include "paddle/phi/backends/device_ext.h"

enum { ALIGNMENT = 64,
       MOST_DEVICES = 128, /* the number of a phi::Place is an int8_t */
       BUCKETS = 1024,
       STAGED = 1 << 20, /* copies to the device up to here do not wait: their source is copied first */
       MOST_STAGED = 16, /* that wait for their event at once */
       MOST_RUNS = 64 }; /* a strided copy of more contiguous runs goes through the host */

/* A part of the pool's memory; parts of one chunk are linked in their order. */
typedef struct part {
  char *at;
  size_t bytes;
  int used;
  struct part *before, *after;
  struct part *next; /* in its bucket, while it is used */
  char *aligned;     /* what was given out */
  void *chunk;       /* the plug-in's pointer */
  size_t chunk_bytes;
  int pooled;
} part;

typedef struct staged {
  void *memory;
  size_t bytes;
  C_Event event;
  struct staged *next;
} staged;

typedef struct unit {
  struct C_Device_st id;
  C_Stream stream;
  pthread_mutex_t lock;
  part *used[BUCKETS];
  size_t min_chunk, padding, max_chunk, max_alloc, init_size, grow_size;
  int pooling, misaligned;
  part **chunks;
  size_t n_chunks;
  staged *staging;
} unit;

struct wplug {
  char *path, *type, *sub_type;
  void *library;
  C_DeviceInterface api;
  wry_device device;
  unit *units;
  int32_t count;
  int open;
  wplug *next;
};

typedef struct stream_handle {
  C_Stream stream;
} stream_handle;
typedef struct event_handle {
  C_Event event;
} event_handle;

static wplug *all_plugins;

static int said(char *error, int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (error) vsnprintf(error, WRY_ERROR_SIZE, format, args);
  va_end(args);
  return status;
}

static const char *name_of(C_Status status) {
  static const char *const names[] = {"C_SUCCESS", "C_WARNING", "C_FAILED", "C_ERROR", "C_INTERNAL_ERROR"};
  return status >= 0 && status <= C_INTERNAL_ERROR ? names[status] : "an unknown status";
}

static int works(C_Status status) { return status == C_SUCCESS || status == C_WARNING; }

static int failed(const wplug *p, int32_t number, const char *what, C_Status status, char *error) {
  return said(error, WRY_INTERNAL, "(External) %s of %s:%d failed. Got %s, expected C_SUCCESS. The plug-in is %s", what, p->type,
              (int)number, name_of(status), p->path);
}

/* Calls a function of the plug-in and returns from the caller when it fails. */
#define TRY(p, number, error, what, call)                                 \
  do {                                                                    \
    const C_Status status_ = (p)->api.what call;                          \
    if (!works(status_)) return failed(p, number, #what, status_, error); \
  } while (0)

static int enter(wplug *p, int32_t number, char *error) {
  if (!p->open) return said(error, WRY_INTERNAL, "(External) %s:%d has ended: the process is exiting.", p->type, (int)number);
  TRY(p, number, error, set_device, (&p->units[number].id));
  return WRY_OK;
}

static C_Stream stream_of(wplug *p, int32_t number, void *stream) {
  return stream ? ((stream_handle *)stream)->stream : p->units[number].stream;
}

/* Memory. */

static size_t bucket_of(const void *at) { return ((size_t)at / ALIGNMENT) % BUCKETS; }
static char *align(char *at) { return (char *)(((size_t)at + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)); }

static size_t asked_for(const unit *u, size_t bytes) {
  const size_t wanted = (bytes ? bytes : 1) + u->padding, chunk = u->min_chunk;
  return (wanted + chunk - 1) / chunk * chunk;
}

static int from_device(wplug *p, int32_t number, size_t bytes, void **out, char *error) {
  unit *u = &p->units[number];
  *out = NULL;
  const C_Status status = u->max_alloc && bytes > u->max_alloc ? C_FAILED : p->api.device_memory_allocate(&u->id, out, bytes);
  if (works(status) && *out) return WRY_OK;
  size_t total = 0, available = 0;
  if (status == C_FAILED || works(status)) {
    p->api.device_memory_stats(&u->id, &total, &available);
    return said(error, WRY_OUT_OF_MEMORY, "%s:%d has no memory for %zu bytes; %zu of %zu are free. device_memory_allocate of %s gave %s.",
                p->type, (int)number, bytes, available, total, p->path, works(status) ? "no pointer" : name_of(status));
  }
  return failed(p, number, "device_memory_allocate", status, error);
}

/* A part with room for `bytes` at an aligned address: of the pool. */
static part *from_pool(unit *u, size_t bytes) {
  for (size_t i = 0; i < u->n_chunks; ++i)
    for (part *at = u->chunks[i]; at; at = at->after) {
      if (at->used || (size_t)(align(at->at) - at->at) + bytes > at->bytes) continue;
      const size_t taken = asked_for(u, (size_t)(align(at->at) - at->at) + bytes - u->padding);
      if (taken < at->bytes) {
        part *rest = calloc(1, sizeof *rest);
        if (!rest) return NULL;
        rest->at = at->at + taken;
        rest->bytes = at->bytes - taken;
        rest->before = at;
        rest->after = at->after;
        if (rest->after) rest->after->before = rest;
        rest->chunk = at->chunk;
        rest->chunk_bytes = at->chunk_bytes;
        rest->pooled = 1;
        at->after = rest;
        at->bytes = taken;
      }
      return at;
    }
  return NULL;
}

static part *new_part(void *memory, size_t bytes, int pooled) {
  part *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->at = made->chunk = memory;
  made->bytes = made->chunk_bytes = bytes;
  made->pooled = pooled;
  return made;
}

static int grow(wplug *p, int32_t number, size_t bytes, char *error) {
  unit *u = &p->units[number];
  size_t wanted = u->n_chunks ? u->grow_size : u->init_size;
  void *memory;
  if (wanted < bytes + ALIGNMENT) wanted = bytes + ALIGNMENT;
  wanted = asked_for(u, wanted - (wanted > u->padding ? u->padding : 0));
  const int status = from_device(p, number, wanted, &memory, error);
  if (status != WRY_OK) return status;
  part **chunks = realloc(u->chunks, (u->n_chunks + 1) * sizeof *chunks);
  part *whole = new_part(memory, wanted, 1);
  if (chunks) u->chunks = chunks;
  if (!chunks || !whole) {
    free(whole);
    p->api.device_memory_deallocate(&u->id, memory, wanted);
    return said(error, WRY_OUT_OF_MEMORY, "the host has no memory left");
  }
  u->chunks[u->n_chunks++] = whole;
  return WRY_OK;
}

static int allocate_locked(wplug *p, int32_t number, size_t bytes, void **out, char *error) {
  unit *u = &p->units[number];
  part *found = NULL;
  int status;
  if (u->pooling && asked_for(u, bytes) <= u->max_chunk) {
    const size_t wanted = asked_for(u, bytes);
    found = from_pool(u, wanted);
    if (!found) {
      if ((status = grow(p, number, wanted, error)) != WRY_OK) return status;
      found = from_pool(u, wanted);
    }
  } else {
    void *memory;
    for (int again = 0; again < 2; ++again) {
      const size_t wanted = asked_for(u, bytes + (u->misaligned ? ALIGNMENT : 0));
      if ((status = from_device(p, number, wanted, &memory, error)) != WRY_OK) return status;
      if (u->misaligned || align(memory) == memory) {
        if (!(found = new_part(memory, wanted, 0))) p->api.device_memory_deallocate(&u->id, memory, wanted);
        break;
      }
      p->api.device_memory_deallocate(&u->id, memory, wanted);
      u->misaligned = 1; /* from now on there is room to align in */
    }
  }
  if (!found) return said(error, WRY_OUT_OF_MEMORY, "the host has no memory left");
  found->used = 1;
  found->aligned = align(found->at);
  found->next = u->used[bucket_of(found->aligned)];
  u->used[bucket_of(found->aligned)] = found;
  *out = found->aligned;
  return WRY_OK;
}

static int plugin_allocate(void *self, int32_t number, size_t bytes, void *stream, void **out, char *error) {
  wplug *p = self;
  (void)stream;
  int status = enter(p, number, error);
  if (status != WRY_OK) return status;
  pthread_mutex_lock(&p->units[number].lock);
  status = allocate_locked(p, number, bytes, out, error);
  pthread_mutex_unlock(&p->units[number].lock);
  return status;
}

static void join(part *left) { /* with what comes after it, if both are free */
  part *right = left->after;
  if (left->used || !right || right->used) return;
  left->bytes += right->bytes;
  left->after = right->after;
  if (left->after) left->after->before = left;
  free(right);
}

static void plugin_free(void *self, int32_t number, void *data, size_t bytes, void *stream) {
  wplug *p = self;
  unit *u = &p->units[number];
  (void)bytes;
  if (!p->open) return; /* all memory was given back */
  if (enter(p, number, NULL) == WRY_OK) p->api.synchronize_stream(&u->id, stream_of(p, number, stream));
  pthread_mutex_lock(&u->lock);
  part **at = &u->used[bucket_of(data)];
  while (*at && (*at)->aligned != data) at = &(*at)->next;
  part *found = *at;
  if (found) {
    *at = found->next;
    found->used = 0;
    if (!found->pooled) {
      p->api.device_memory_deallocate(&u->id, found->chunk, found->chunk_bytes);
      free(found);
    } else {
      join(found);
      if (found->before) join(found->before);
    }
  }
  pthread_mutex_unlock(&u->lock);
}

static int plugin_memory(void *self, int32_t number, int64_t *total, int64_t *available) {
  wplug *p = self;
  size_t all = 0, left = 0;
  if (enter(p, number, NULL) != WRY_OK || !works(p->api.device_memory_stats(&p->units[number].id, &all, &left))) return WRY_INTERNAL;
  *total = (int64_t)all;
  *available = (int64_t)left;
  return WRY_OK;
}

/* Copies. */

static int wait_for(wplug *p, int32_t number, C_Stream stream, char *error) {
  TRY(p, number, error, synchronize_stream, (&p->units[number].id, stream));
  return WRY_OK;
}

static void host_free(wplug *p, unit *u, void *memory, size_t bytes) {
  if (p->api.host_memory_allocate && p->api.host_memory_deallocate)
    p->api.host_memory_deallocate(&u->id, memory, bytes);
  else
    free(memory);
}

/* Lets go of sources that have been copied. `all`: waits for those that have not. */
static void unstage(wplug *p, unit *u, int all) {
  staged **at = &u->staging;
  int kept = 0;
  while (*at) {
    staged *one = *at;
    C_Status status = C_FAILED;
    if (p->api.query_event && !all && kept < MOST_STAGED) status = p->api.query_event(&u->id, one->event);
    if (!works(status) && (all || kept >= MOST_STAGED || (!p->api.query_event && kept >= MOST_STAGED / 2)))
      status = p->api.synchronize_event(&u->id, one->event);
    if (!works(status) && !all) {
      ++kept;
      at = &one->next;
      continue;
    }
    *at = one->next;
    p->api.destroy_event(&u->id, one->event);
    host_free(p, u, one->memory, one->bytes);
    free(one);
  }
}

/* A copy whose source may change as soon as this returns; 0: this is not how to copy it. */
static int staged_copy(wplug *p, int32_t number, void *to, const void *from, size_t bytes, C_Stream stream) {
  unit *u = &p->units[number];
  int done = 0;
  staged *one = calloc(1, sizeof *one);
  if (!one) return 0;
  one->bytes = bytes;
  if (p->api.host_memory_allocate && p->api.host_memory_deallocate) {
    if (!works(p->api.host_memory_allocate(&u->id, &one->memory, bytes))) one->memory = NULL;
  } else {
    one->memory = malloc(bytes);
  }
  if (one->memory && works(p->api.create_event(&u->id, &one->event))) {
    memcpy(one->memory, from, bytes);
    if (works(p->api.async_memory_copy_h2d(&u->id, stream, to, one->memory, bytes)) &&
        works(p->api.record_event(&u->id, stream, one->event))) {
      one->next = u->staging;
      u->staging = one;
      done = 1;
    } else {
      p->api.synchronize_stream(&u->id, stream); /* before its source goes */
      p->api.destroy_event(&u->id, one->event);
    }
  }
  if (!done) {
    if (one->memory) host_free(p, u, one->memory, bytes);
    free(one);
  }
  return done;
}

static int copy_bytes(wplug *p, int32_t number, int32_t kind, void *to, const void *from, size_t bytes, C_Stream stream, char *error) {
  unit *u = &p->units[number];
  int status;
  if (!bytes) return kind == WRY_DEVICE_TO_HOST ? wait_for(p, number, stream, error) : WRY_OK;
  if (kind == WRY_HOST_TO_DEVICE && p->api.async_memory_copy_h2d) {
    if (bytes <= STAGED) {
      pthread_mutex_lock(&u->lock);
      unstage(p, u, 0);
      const int done = staged_copy(p, number, to, from, bytes, stream);
      pthread_mutex_unlock(&u->lock);
      if (done) return WRY_OK;
    }
    TRY(p, number, error, async_memory_copy_h2d, (&u->id, stream, to, from, bytes));
    return wait_for(p, number, stream, error);
  }
  if (kind == WRY_DEVICE_TO_HOST && p->api.async_memory_copy_d2h) {
    TRY(p, number, error, async_memory_copy_d2h, (&u->id, stream, to, from, bytes));
    return wait_for(p, number, stream, error);
  }
  if (kind == WRY_DEVICE_TO_DEVICE && p->api.async_memory_copy_d2d) {
    TRY(p, number, error, async_memory_copy_d2d, (&u->id, stream, to, from, bytes));
    return WRY_OK;
  }
  if ((status = wait_for(p, number, stream, error)) != WRY_OK) return status;
  if (kind == WRY_HOST_TO_DEVICE)
    TRY(p, number, error, memory_copy_h2d, (&u->id, to, from, bytes));
  else if (kind == WRY_DEVICE_TO_HOST)
    TRY(p, number, error, memory_copy_d2h, (&u->id, to, from, bytes));
  else
    TRY(p, number, error, memory_copy_d2d, (&u->id, to, from, bytes));
  return WRY_OK;
}

static int plugin_copy(void *self, int32_t number, int32_t kind, void *to, const void *from, size_t bytes, void *stream, char *error) {
  const int status = enter(self, number, error);
  return status != WRY_OK ? status : copy_bytes(self, number, kind, to, from, bytes, stream_of(self, number, stream), error);
}

static int plugin_copy_between(void *self, int32_t to_number, void *to, void *to_stream, int32_t from_number, const void *from,
                               void *from_stream, size_t bytes, char *error) {
  wplug *p = self;
  const C_Device there = &p->units[to_number].id, here = &p->units[from_number].id;
  const C_Stream at = stream_of(p, to_number, to_stream);
  int status = enter(p, from_number, error);
  if (status == WRY_OK) status = wait_for(p, from_number, stream_of(p, from_number, from_stream), error);
  if (status == WRY_OK) status = enter(p, to_number, error);
  if (status != WRY_OK) return status;
  if (p->api.async_memory_copy_p2p) {
    TRY(p, to_number, error, async_memory_copy_p2p, (there, here, at, to, from, bytes));
    return wait_for(p, to_number, at, error);
  }
  if ((status = wait_for(p, to_number, at, error)) != WRY_OK) return status;
  TRY(p, to_number, error, memory_copy_p2p, (there, here, to, from, bytes));
  return WRY_OK;
}

static int plugin_fill(void *self, int32_t number, void *to, size_t count, const void *item, size_t item_bytes, void *stream, char *error) {
  wplug *p = self;
  const unsigned char *bytes = item;
  const size_t total = count * item_bytes;
  const C_Stream at = stream_of(p, number, stream);
  int same = 1, status = enter(p, number, error);
  if (status != WRY_OK || !total) return status;
  for (size_t i = 1; i < item_bytes; ++i) same = same && bytes[i] == bytes[0];
  if (same && p->api.device_memory_set) {
    if ((status = wait_for(p, number, at, error)) != WRY_OK) return status;
    TRY(p, number, error, device_memory_set, (&p->units[number].id, to, bytes[0], total));
    return WRY_OK;
  }
  /* The beginning from the host, the rest by doubling it. */
  char buffer[4096];
  size_t done = total < sizeof buffer ? total : sizeof buffer / item_bytes * item_bytes;
  for (size_t i = 0; i < done; ++i) buffer[i] = (char)bytes[i % item_bytes];
  status = copy_bytes(p, number, WRY_HOST_TO_DEVICE, to, buffer, done, at, error);
  while (status == WRY_OK && done < total) {
    const size_t more = done < total - done ? done : total - done;
    status = copy_bytes(p, number, WRY_DEVICE_TO_DEVICE, (char *)to + done, to, more, at, error);
    done += more;
  }
  return status;
}

static const int64_t item_bytes_of[WRY_NUM_DTYPES] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

static int64_t elements(const int64_t *shape, int32_t rank) {
  int64_t n = 1;
  for (int32_t i = 0; i < rank; ++i) n *= shape[i];
  return n;
}

static int contiguous(const int64_t *shape, const int64_t *steps, int32_t rank) {
  int64_t step = 1;
  for (int32_t i = rank - 1; i >= 0; --i) {
    if (shape[i] != 1 && steps[i] != step) return 0;
    step *= shape[i];
  }
  return 1;
}

/* In host memory: `to` and `from` point to the elements with index 0. */
static void host_strided(char *to, const int64_t *to_steps, const char *from, const int64_t *from_steps, const int64_t *shape, int32_t rank,
                         int64_t item) {
  if (rank == 0) {
    memcpy(to, from, (size_t)item);
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i)
    host_strided(to + i * to_steps[0] * item, to_steps + 1, from + i * from_steps[0] * item, from_steps + 1, shape + 1, rank - 1, item);
}

/* The elements that strides reach: from `low` on (at most 0) so many. */
static int64_t extent(const int64_t *shape, const int64_t *steps, int32_t rank, int64_t *low) {
  int64_t high = 0;
  *low = 0;
  for (int32_t i = 0; i < rank; ++i) *(steps[i] < 0 ? low : &high) += (shape[i] - 1) * steps[i];
  return high - *low + 1;
}

static int through_host(wplug *p, int32_t number, char *to, const int64_t *to_steps, const char *from, const int64_t *from_steps,
                        const int64_t *shape, int32_t rank, int64_t item, C_Stream stream, char *error) {
  int64_t from_low, to_low;
  const size_t from_bytes = (size_t)(extent(shape, from_steps, rank, &from_low) * item);
  const size_t to_bytes = (size_t)(extent(shape, to_steps, rank, &to_low) * item);
  char *source = malloc(from_bytes), *result = malloc(to_bytes);
  int status = source && result ? WRY_OK : said(error, WRY_OUT_OF_MEMORY, "the host has no memory for a strided copy of %zu bytes", from_bytes);
  if (status == WRY_OK) status = copy_bytes(p, number, WRY_DEVICE_TO_HOST, source, from + from_low * item, from_bytes, stream, error);
  if (status == WRY_OK && !contiguous(shape, to_steps, rank)) /* what lies between has to stay */
    status = copy_bytes(p, number, WRY_DEVICE_TO_HOST, result, to + to_low * item, to_bytes, stream, error);
  if (status == WRY_OK) {
    host_strided(result - to_low * item, to_steps, source - from_low * item, from_steps, shape, rank, item);
    status = copy_bytes(p, number, WRY_HOST_TO_DEVICE, to + to_low * item, result, to_bytes, stream, error);
  }
  free(source);
  free(result);
  return status;
}

static int strided(wplug *p, int32_t number, char *to, const int64_t *to_steps, const char *from, const int64_t *from_steps,
                   const int64_t *shape, int32_t rank, int64_t item, C_Stream stream, char *error) {
  const int64_t n = elements(shape, rank);
  int status;
  if (n == 0) return WRY_OK;
  while (rank && shape[0] == 1) ++shape, ++to_steps, ++from_steps, --rank;
  const int dense = contiguous(shape, to_steps, rank);
  if (dense && contiguous(shape, from_steps, rank))
    return copy_bytes(p, number, WRY_DEVICE_TO_DEVICE, to, from, (size_t)(n * item), stream, error);
  if (dense && from_steps[0] == 0) { /* the same block again and again: once, then by doubling */
    int64_t done = n / shape[0];
    status = strided(p, number, to, to_steps + 1, from, from_steps + 1, shape + 1, rank - 1, item, stream, error);
    while (status == WRY_OK && done < n) {
      const int64_t more = done < n - done ? done : n - done;
      status = copy_bytes(p, number, WRY_DEVICE_TO_DEVICE, to + done * item, to, (size_t)(more * item), stream, error);
      done += more;
    }
    return status;
  }
  /* Runs that are contiguous on both sides, if they are few. */
  int32_t inner = rank;
  while (inner > 0 && contiguous(shape + inner - 1, to_steps + inner - 1, rank - inner + 1) &&
         contiguous(shape + inner - 1, from_steps + inner - 1, rank - inner + 1))
    --inner;
  const int64_t runs = elements(shape, inner), run = n / runs;
  if (runs > MOST_RUNS) return through_host(p, number, to, to_steps, from, from_steps, shape, rank, item, stream, error);
  for (int64_t i = 0; i < runs; ++i) {
    int64_t rest = i, to_at = 0, from_at = 0;
    for (int32_t axis = inner - 1; axis >= 0; --axis) {
      to_at += rest % shape[axis] * to_steps[axis];
      from_at += rest % shape[axis] * from_steps[axis];
      rest /= shape[axis];
    }
    status = copy_bytes(p, number, WRY_DEVICE_TO_DEVICE, to + to_at * item, from + from_at * item, (size_t)(run * item), stream, error);
    if (status != WRY_OK) return status;
  }
  return WRY_OK;
}

static int plugin_strided_copy(void *self, int32_t number, const wry_tensor *to, const wry_tensor *from, void *stream, char *error) {
  const int status = enter(self, number, error);
  return status != WRY_OK ? status
                          : strided(self, number, to->data, to->strides, from->data, from->strides, to->shape, to->rank,
                                    item_bytes_of[to->dtype], stream_of(self, number, stream), error);
}

static int plugin_synchronize(void *self, int32_t number, void *stream, char *error) {
  const int status = enter(self, number, error);
  return status != WRY_OK ? status : wait_for(self, number, stream_of(self, number, stream), error);
}

/* Streams and events. Handles of the plug-in may be NULL, ours are not. */

static int plugin_stream_create(void *self, int32_t number, void **out, char *error) {
  wplug *p = self;
  const int status = enter(p, number, error);
  if (status != WRY_OK) return status;
  stream_handle *made = calloc(1, sizeof *made);
  if (!made) return said(error, WRY_OUT_OF_MEMORY, "the host has no memory left");
  const C_Status found = p->api.create_stream(&p->units[number].id, &made->stream);
  if (!works(found)) {
    free(made);
    return failed(p, number, "create_stream", found, error);
  }
  *out = made;
  return WRY_OK;
}

static void plugin_stream_destroy(void *self, int32_t number, void *stream) {
  wplug *p = self;
  if (enter(p, number, NULL) == WRY_OK) p->api.destroy_stream(&p->units[number].id, ((stream_handle *)stream)->stream);
  free(stream);
}

static int plugin_event_create(void *self, int32_t number, void **out, char *error) {
  wplug *p = self;
  const int status = enter(p, number, error);
  if (status != WRY_OK) return status;
  event_handle *made = calloc(1, sizeof *made);
  if (!made) return said(error, WRY_OUT_OF_MEMORY, "the host has no memory left");
  const C_Status found = p->api.create_event(&p->units[number].id, &made->event);
  if (!works(found)) {
    free(made);
    return failed(p, number, "create_event", found, error);
  }
  *out = made;
  return WRY_OK;
}

static void plugin_event_destroy(void *self, int32_t number, void *event) {
  wplug *p = self;
  if (enter(p, number, NULL) == WRY_OK) p->api.destroy_event(&p->units[number].id, ((event_handle *)event)->event);
  free(event);
}

static int plugin_event_record(void *self, int32_t number, void *event, void *stream, char *error) {
  wplug *p = self;
  const int status = enter(p, number, error);
  if (status != WRY_OK) return status;
  TRY(p, number, error, record_event, (&p->units[number].id, stream_of(p, number, stream), ((event_handle *)event)->event));
  return WRY_OK;
}

static int plugin_event_synchronize(void *self, int32_t number, void *event, char *error) {
  wplug *p = self;
  const int status = enter(p, number, error);
  if (status != WRY_OK) return status;
  TRY(p, number, error, synchronize_event, (&p->units[number].id, ((event_handle *)event)->event));
  return WRY_OK;
}

static int plugin_event_query(void *self, int32_t number, void *event) {
  wplug *p = self;
  if (enter(p, number, NULL) != WRY_OK) return 1;
  if (!p->api.query_event) return plugin_event_synchronize(self, number, event, NULL) == WRY_OK;
  return works(p->api.query_event(&p->units[number].id, ((event_handle *)event)->event));
}

static int plugin_stream_wait(void *self, int32_t number, void *stream, void *event, char *error) {
  wplug *p = self;
  const int status = enter(p, number, error);
  if (status != WRY_OK) return status;
  TRY(p, number, error, stream_wait_event, (&p->units[number].id, stream_of(p, number, stream), ((event_handle *)event)->event));
  return WRY_OK;
}

static double plugin_event_elapsed(void *self, int32_t number, void *from, void *to) {
  (void)self, (void)number, (void)from, (void)to;
  return -1; /* the interface does not tell */
}

/* Loading. */

#define REQUIRED(NAME) {#NAME, offsetof(C_DeviceInterface, NAME)}
static const struct {
  const char *name;
  size_t at;
} required[] = {
    REQUIRED(set_device), REQUIRED(get_device), REQUIRED(synchronize_device), REQUIRED(get_device_count), REQUIRED(get_device_list),
    REQUIRED(device_memory_allocate), REQUIRED(device_memory_deallocate), REQUIRED(memory_copy_h2d), REQUIRED(memory_copy_d2h),
    REQUIRED(memory_copy_d2d), REQUIRED(device_memory_stats), REQUIRED(device_min_chunk_size), REQUIRED(create_stream),
    REQUIRED(destroy_stream), REQUIRED(synchronize_stream), REQUIRED(stream_wait_event), REQUIRED(create_event), REQUIRED(destroy_event),
    REQUIRED(record_event), REQUIRED(synchronize_event)};

/* What a plug-in writes to, with room after it where nobody has any business. */
enum { ROOM = 256,
       MARK = 0xa5 };
typedef struct filled_in {
  CustomRuntimeParams params;
  unsigned char behind_params[ROOM];
  C_DeviceInterface api;
  unsigned char behind_api[ROOM];
} filled_in;

static int untouched(const unsigned char *room) {
  for (int i = 0; i < ROOM; ++i)
    if (room[i] != MARK) return 0;
  return 1;
}

static int is_name(const char *text) {
  if (!(*text == '_' || (*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z'))) return 0;
  for (; *text; ++text)
    if (!(*text == '_' || (*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z') || (*text >= '0' && *text <= '9'))) return 0;
  return 1;
}

static int ask(wplug *p, void (*init)(CustomRuntimeParams *), char *error) {
  filled_in *given = malloc(sizeof *given);
  int status = -1;
  if (!given) return said(error, -1, "%s: the host has no memory left.", p->path);
  memset(given, MARK, sizeof *given);
  memset(&given->params, 0, sizeof given->params);
  memset(&given->api, 0, sizeof given->api);
  given->params.size = sizeof given->params;
  given->params.interface = &given->api;
  given->api.size = sizeof given->api;
  init(&given->params);
  if (!given->api.size) given->api.size = sizeof given->api;  // plug-ins clear the whole interface before they fill it
  const CustomRuntimeParams *params = &given->params;
  const CustomRuntimeVersion *version = &params->version;
  if (params->interface != &given->api || params->size != sizeof given->params || given->api.size != sizeof given->api) {
    said(error, -1,
         "%s: its InitPlugin changed what only the framework sets. Got params of %zu bytes with an interface of %zu, expected %zu and %zu. "
         "Compile it against the device_ext.h of this version.",
         p->path, params->size, params->interface == &given->api ? given->api.size : (size_t)0, sizeof given->params, sizeof given->api);
  } else if (!untouched(given->behind_params) || !untouched(given->behind_api)) {
    said(error, -1,
         "%s: its InitPlugin wrote beyond the structs of the framework. Expected params of %zu bytes and an interface of %zu. Compile it "
         "against the device_ext.h of this version, and let it begin with PADDLE_CUSTOM_RUNTIME_CHECK_VERSION.",
         p->path, sizeof given->params, sizeof given->api);
  } else if (version->major != PADDLE_CUSTOM_RUNTIME_MAJOR_VERSION || version->minor > PADDLE_CUSTOM_RUNTIME_MINOR_VERSION) {
    said(error, -1,
         "%s: it is for another version of the interface. Got %zu.%zu.%zu, expected %d.x up to %d.%d. Compile it against the device_ext.h "
         "of this version.",
         p->path, version->major, version->minor, version->patch, PADDLE_CUSTOM_RUNTIME_MAJOR_VERSION, PADDLE_CUSTOM_RUNTIME_MAJOR_VERSION,
         PADDLE_CUSTOM_RUNTIME_MINOR_VERSION);
  } else if (!params->device_type || !*params->device_type) {
    said(error, -1,
         "%s: its InitPlugin named no device_type. It was compiled against a device_ext.h with larger structs than those of this "
         "version (%zu and %zu bytes), or fills in nothing. Compile it against the device_ext.h of this version.",
         p->path, sizeof given->params, sizeof given->api);
  } else if (!is_name(params->device_type)) {
    said(error, -1, "%s: its device_type is not a name. Got '%.64s', expected letters, digits and _.", p->path, params->device_type);
  } else {
    char missing[WRY_ERROR_SIZE / 2] = "";
    for (size_t i = 0; i < sizeof required / sizeof required[0]; ++i) {
      void *there;
      memcpy(&there, (const char *)&given->api + required[i].at, sizeof there);
      if (there || strlen(missing) + strlen(required[i].name) + 3 > sizeof missing) continue;
      if (*missing) strcat(missing, ", ");
      strcat(missing, required[i].name);
    }
    if (*missing) {
      said(error, -1, "%s: '%s' lacks functions. Got NULL for %s, expected all that device_ext.h does not call optional.", p->path,
           params->device_type, missing);
    } else {
      p->api = given->api;
      p->type = strdup(params->device_type);
      p->sub_type = strdup(params->sub_device_type ? params->sub_device_type : "");
      status = p->type && p->sub_type ? 0 : said(error, -1, "%s: the host has no memory left.", p->path);
    }
  }
  free(given);
  return status;
}

/* Is the file shorter than its own table says? Loading such a one would end the process with a bus error. */
static int is_cut_off(const char *path) {
  int cut = 0;
#if defined(__linux__)
  ElfW(Ehdr) head;
  ElfW(Phdr) segment;
  FILE *file = fopen(path, "rb");
  if (!file) return 0; /* the loader says why */
  fseek(file, 0, SEEK_END);
  const uint64_t size = (uint64_t)ftell(file);
  rewind(file);
  if (fread(&head, sizeof head, 1, file) == 1 && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
      head.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) && head.e_phentsize == sizeof segment)
    for (int i = 0; i < head.e_phnum && !cut; ++i) {
      cut = fseek(file, (long)(head.e_phoff + (uint64_t)i * sizeof segment), SEEK_SET) != 0 || fread(&segment, sizeof segment, 1, file) != 1;
      cut = cut || (segment.p_type == PT_LOAD && (segment.p_offset > size || segment.p_filesz > size - segment.p_offset));
    }
  fclose(file);
#else
  (void)path;
#endif
  return cut;
}

int wplug_open(const char *path, wplug **out, char *error) {
  wplug *p = calloc(1, sizeof *p);
  if (!p || !(p->path = strdup(path))) {
    free(p);
    return said(error, -1, "%s: the host has no memory left.", path);
  }
  if (is_cut_off(path)) {
    said(error, -1, "%s: it cannot be loaded as a library: the file is cut off.", path);
    free(p->path);
    free(p);
    return -1;
  }
  p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!p->library) {
    const char *why = dlerror();
    if (why && strncmp(why, path, strlen(path)) == 0 && why[strlen(path)] == ':') why += strlen(path) + 1;
    said(error, -1, "%s: it cannot be loaded as a library: %s", path, why ? why + (*why == ' ') : "no reason was given");
    free(p->path);
    free(p);
    return -1;
  }
  void (*init)(CustomRuntimeParams *) = NULL;
  void *symbol = dlsym(p->library, "InitPlugin");
  memcpy(&init, &symbol, sizeof init);
  if (!init && !dlsym(p->library, "wherry_plugin_kernels")) {
    said(error, -1,
         "%s: it is not a plug-in. Got a library without the symbol InitPlugin, expected one that defines it, as "
         "paddle/phi/backends/device_ext.h declares it.",
         path);
    dlclose(p->library);
    free(p->path);
    free(p);
    return -1;
  }
  if (init && ask(p, init, error) != 0) return -1; /* kept: it has run */
  *out = p;
  return 0;
}

const char *wplug_device_type(const wplug *p) { return p->type; }
const char *wplug_sub_device_type(const wplug *p) { return p->sub_type; }

const wext_kernels *wplug_kernels(const wplug *p) {
  const wext_kernels *(*describe)(void) = NULL;
  void *symbol = dlsym(p->library, "wherry_plugin_kernels");
  memcpy(&describe, &symbol, sizeof describe);
  return describe ? describe() : NULL;
}

static size_t size_from(C_Status (*function)(C_Device, size_t *), C_Device device, size_t otherwise) {
  size_t found = otherwise;
  return function && works(function(device, &found)) ? found : otherwise;
}

static int start(wplug *p, char *error) {
  size_t count = 0, ids[MOST_DEVICES + ROOM];
  if (p->api.initialize) TRY(p, 0, error, initialize, ());
  TRY(p, 0, error, get_device_count, (&count));
  if (count < 1 || count > MOST_DEVICES)
    return said(error, -1, "%s: '%s' has no devices that can be used. get_device_count gave %zu, expected 1 to %d.", p->path, p->type, count, MOST_DEVICES);
  memset(ids, 0, sizeof ids);
  TRY(p, 0, error, get_device_list, (ids));
  p->units = calloc(count, sizeof *p->units);
  if (!p->units) return said(error, -1, "%s: the host has no memory left.", p->path);
  for (size_t i = 0; i < count; ++i) {
    unit *u = &p->units[i];
    const int32_t number = (int32_t)i;
    u->id.id = (int)ids[i];
    pthread_mutex_init(&u->lock, NULL);
    if (p->api.init_device) TRY(p, number, error, init_device, (&u->id));
    TRY(p, number, error, set_device, (&u->id));
    TRY(p, number, error, create_stream, (&u->id, &u->stream));
    TRY(p, number, error, device_min_chunk_size, (&u->id, &u->min_chunk));
    if (!u->min_chunk) u->min_chunk = 1;
    u->padding = size_from(p->api.device_extra_padding_size, &u->id, 0);
    u->max_alloc = size_from(p->api.device_max_alloc_size, &u->id, 0);
    u->init_size = size_from(p->api.device_init_alloc_size, &u->id, 0);
    u->grow_size = size_from(p->api.device_realloc_size, &u->id, u->init_size);
    if (!u->init_size) u->init_size = u->grow_size;
    u->pooling = u->init_size != 0;
    u->max_chunk = size_from(p->api.device_max_chunk_size, &u->id, u->max_alloc ? u->max_alloc : (size_t)-1);
    p->count = number + 1;
  }
  return 0;
}

int wplug_start(wplug *p, char *error) {
  if (start(p, error) != 0) return -1;
  const wry_device made = {.size = sizeof(wry_device), .name = p->type, .count = p->count, .flags = WRY_LAUNCH_MAY_BLOCK, .self = p, .allocate = plugin_allocate, .free = plugin_free, .copy = plugin_copy, .fill = plugin_fill, .strided_copy = plugin_strided_copy, .synchronize = plugin_synchronize, .stream_create = plugin_stream_create, .stream_destroy = plugin_stream_destroy, .event_create = plugin_event_create, .event_destroy = plugin_event_destroy, .event_record = plugin_event_record, .event_query = plugin_event_query, .event_synchronize = plugin_event_synchronize, .stream_wait = plugin_stream_wait, .event_elapsed = plugin_event_elapsed, .memory = plugin_memory, .copy_between = p->api.memory_copy_p2p || p->api.async_memory_copy_p2p ? plugin_copy_between : NULL};
  p->device = made;
  p->open = 1;
  p->next = all_plugins;
  all_plugins = p;
  return 0;
}

const wry_device *wplug_device(wplug *p) { return &p->device; }

void wplug_versions(wplug *p, uint64_t *versions) {
  C_Status (*const ask_for[])(size_t *) = {p->api.get_compute_capability, p->api.get_runtime_version, p->api.get_driver_version};
  for (int i = 0; i < 3; ++i) {
    size_t found = 0;
    versions[i] = ask_for[i] && works(ask_for[i](&found)) ? found : 0;
  }
}

static void give_back(wplug *p, unit *u) {
  unstage(p, u, 1);
  for (int i = 0; i < BUCKETS; ++i)
    while (u->used[i]) {
      part *one = u->used[i];
      u->used[i] = one->next;
      if (one->pooled) continue;
      p->api.device_memory_deallocate(&u->id, one->chunk, one->chunk_bytes);
      free(one);
    }
  for (size_t i = 0; i < u->n_chunks; ++i) {
    p->api.device_memory_deallocate(&u->id, u->chunks[i]->chunk, u->chunks[i]->chunk_bytes);
    for (part *one = u->chunks[i], *after; one; one = after) {
      after = one->after;
      free(one);
    }
  }
  free(u->chunks);
  u->chunks = NULL;
  u->n_chunks = 0;
}

void wplug_finish(void) {
  for (wplug *p = all_plugins; p; p = p->next) {
    if (!p->open) continue;
    p->open = 0;
    for (int32_t i = 0; i < p->count; ++i) {
      unit *u = &p->units[i];
      p->api.set_device(&u->id);
      p->api.synchronize_device(&u->id);
      pthread_mutex_lock(&u->lock);
      give_back(p, u);
      pthread_mutex_unlock(&u->lock);
      p->api.destroy_stream(&u->id, u->stream);
      if (p->api.deinit_device) p->api.deinit_device(&u->id);
    }
    if (p->api.finalize) p->api.finalize();
  }
}

/* Kernels. */

enum { MOST_TEMPORARIES = 24,
       FEW = 24 };

typedef struct running {
  wplug *plugin;
  const wry_call *call;
  void *extra[64]; /* memory that the context had no room for */
  size_t extra_bytes[64];
  int n_extra;
} running;

static void *launch_allocate(wext_launch *launch, size_t bytes) {
  running *now = launch->caller;
  wry_context *context = now->call->context;
  void *found = context->workspace(context, bytes ? bytes : 1);
  if (found || now->n_extra == 64) return found;
  const int32_t number = WRY_DEVICE_NUMBER(context->device);
  if (plugin_allocate(now->plugin, number, bytes ? bytes : 1, context->stream, &found, launch->error) != WRY_OK) return NULL;
  now->extra_bytes[now->n_extra] = bytes;
  now->extra[now->n_extra++] = found;
  return found;
}

static int launch_wait(wext_launch *launch) {
  running *now = launch->caller;
  return plugin_synchronize(now->plugin, WRY_DEVICE_NUMBER(launch->device), now->call->context->stream, launch->error);
}

static int launch_copy(wext_launch *launch, int32_t kind, void *to, const void *from, size_t bytes) {
  running *now = launch->caller;
  return plugin_copy(now->plugin, WRY_DEVICE_NUMBER(launch->device), kind, to, from, bytes, now->call->context->stream, launch->error);
}

static void *memory_of(const wry_call *call, void *const *temporaries, int32_t from, int32_t index) {
  switch (from) {
    case WPLUG_INPUT: return call->inputs[index]->data;
    case WPLUG_OUTPUT: return call->outputs[index]->data;
    case WPLUG_TEMPORARY: return temporaries[index];
    default: return NULL;
  }
}

/* One number in another dtype; it may come from the host. */
static int convert(running *now, const wplug_step *step, const wext_tensor *tensors) {
  const wry_call *call = now->call;
  wry_context *context = call->context;
  const int32_t number = WRY_DEVICE_NUMBER(context->device);
  const int on_host = step->from[0] == WPLUG_INPUT && call->inputs[step->index[0]]->device == WRY_CPU;
  double f64 = 0;
  float f32 = 0;
  void *const read = tensors[0].dtype == WRY_FLOAT64 ? (void *)&f64 : (void *)&f32;
  const size_t bytes = (size_t)item_bytes_of[tensors[0].dtype];
  if (on_host)
    memcpy(read, tensors[0].data, bytes);
  else {
    const int status = plugin_copy(now->plugin, number, WRY_DEVICE_TO_HOST, read, tensors[0].data, bytes, context->stream, context->error);
    if (status != WRY_OK) return status;
  }
  if (tensors[0].dtype == WRY_FLOAT64)
    f32 = (float)f64;
  else
    f64 = f32;
  const void *const written = tensors[1].dtype == WRY_FLOAT64 ? (const void *)&f64 : (const void *)&f32;
  return plugin_copy(now->plugin, number, WRY_HOST_TO_DEVICE, tensors[1].data, written, (size_t)item_bytes_of[tensors[1].dtype], context->stream,
                     context->error);
}

static int run_step(running *now, const wplug_program *program, const wplug_step *step, void *const *temporaries, wext_launch *launch) {
  const wry_call *call = now->call;
  wext_tensor few_tensors[FEW], *tensors = few_tensors;
  wext_value few_values[FEW], *values = few_values;
  int status = WRY_OK;
  if (step->n_tensors > FEW) tensors = malloc((size_t)step->n_tensors * sizeof *tensors);
  if (step->n_values > FEW) values = malloc((size_t)step->n_values * sizeof *values);
  if (!tensors || !values) status = said(call->context->error, WRY_OUT_OF_MEMORY, "%s: the host has no memory left.", program->op);
  if (status == WRY_OK) {
    memcpy(tensors, step->tensors, (size_t)step->n_tensors * sizeof *tensors);
    for (int32_t i = 0; i < step->n_tensors; ++i) {
      tensors[i].data = memory_of(call, temporaries, step->from[i], step->index[i]);
      tensors[i].device = call->context->device;
    }
  }
  if (status == WRY_OK && !step->kernel && step->n_tensors == 1) {
    const char zero = 0;
    status = plugin_fill(now->plugin, WRY_DEVICE_NUMBER(call->context->device), tensors[0].data,
                         (size_t)(elements(tensors[0].shape, tensors[0].rank) * item_bytes_of[tensors[0].dtype]), &zero, 1, call->context->stream,
                         call->context->error);
  } else if (status == WRY_OK && !step->kernel && !step->strides) {
    status = convert(now, step, tensors);
  } else if (status == WRY_OK && !step->kernel) {
    int64_t dense[WRY_MAX_RANK], next = 1;
    for (int32_t i = tensors[1].rank - 1; i >= 0; --i) {
      dense[i] = next;
      next *= tensors[1].shape[i];
    }
    status = strided(now->plugin, WRY_DEVICE_NUMBER(call->context->device), tensors[1].data, dense, tensors[0].data, step->strides, tensors[1].shape,
                     tensors[1].rank, item_bytes_of[tensors[1].dtype], launch->stream, call->context->error);
  } else if (status == WRY_OK) {
    int32_t at = 0;
    memcpy(values, step->values, (size_t)step->n_values * sizeof *values);
    for (int32_t i = 0; i < step->n_values; ++i) {
      values[i].tensors = tensors + at;
      if (values[i].kind <= WEXT_P_OUTPUTS) at += values[i].count;
    }
    launch->values = values;
    launch->count = step->n_values;
    launch->error[0] = 0;
    launch->kernel = step->kernel;
    status = step->kernel->run(launch);
    if (status != WRY_OK)
      said(call->context->error, status, "%s%s: the kernel '%s' of %s failed. %.380s", status == WRY_INTERNAL ? "(External) " : "", program->op,
           step->kernel->name, now->plugin->type, launch->error[0] ? launch->error : "It gave no reason.");
  }
  if (tensors != few_tensors) free(tensors);
  if (values != few_values) free(values);
  return status;
}

int wplug_run(const wry_call *call) {
  const wplug_program *program = call->data;
  wry_context *context = call->context;
  const int32_t number = WRY_DEVICE_NUMBER(context->device);
  running now = {.plugin = program->plugin, .call = call};
  wext_launch launch = {.size = sizeof launch, .device = context->device, .device_type = program->plugin->type, .stream = stream_of(program->plugin, number, context->stream), .seed = context->rng_seed, .offset = context->rng_offset, .allocate = launch_allocate, .wait = launch_wait, .copy = launch_copy, .caller = &now};
  void *temporaries[MOST_TEMPORARIES] = {NULL};
  int status = program->n_temporaries > MOST_TEMPORARIES ? WRY_INTERNAL : enter(program->plugin, number, context->error);
  for (int32_t i = 0; i < program->n_temporaries && status == WRY_OK; ++i) {
    temporaries[i] = launch_allocate(&launch, (size_t)program->temporaries[i]);
    if (!temporaries[i])
      status = said(context->error, WRY_OUT_OF_MEMORY, "%s: %s has no memory for %lld bytes that its kernels need.", program->op,
                    program->plugin->type, (long long)program->temporaries[i]);
  }
  for (int32_t i = 0; i < program->n_steps && status == WRY_OK; ++i) status = run_step(&now, program, &program->steps[i], temporaries, &launch);
  for (int i = 0; i < now.n_extra; ++i) plugin_free(now.plugin, number, now.extra[i], now.extra_bytes[i], context->stream);
  return status;
}

/* Kernels that need nothing of the plug-in but its memory; call->data is the plug-in. */

int wplug_copy(const wry_call *call) {
  return plugin_strided_copy((void *)call->data, WRY_DEVICE_NUMBER(call->context->device), call->outputs[0], call->inputs[0], call->context->stream,
                             call->context->error);
}

static uint16_t half_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
  if (magnitude < 0x38800000u) { /* a subnormal: adding 0.5 puts its last bit last */
    float small;
    memcpy(&small, &magnitude, sizeof small);
    small += 0.5f;
    memcpy(&bits, &small, sizeof bits);
    return (uint16_t)(sign | (bits - 0x3f000000u));
  }
  return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13));
}

static uint16_t brain_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* full(shape, value, dtype) and full_like(like, value, dtype). */
int wplug_full(const wry_call *call) {
  const wry_attr *value = &call->attrs[call->n_attrs - 2];
  const wry_tensor *out = call->outputs[0];
  const int whole = value->kind == WRY_ATTR_INT;
  const double real = whole ? (double)value->value.i : value->kind == WRY_ATTR_FLOATS ? value->value.floats[0]
                                                                                      : value->value.f;
  const double imaginary = value->kind == WRY_ATTR_FLOATS ? value->value.floats[1] : 0;
  const int64_t number = whole ? value->value.i : (int64_t)real;
  union {
    uint8_t u8;
    int8_t i8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    int64_t i64;
    float f32[2];
    double f64[2];
  } item;
  memset(&item, 0, sizeof item);
  switch (out->dtype) {
    case WRY_BOOL: item.u8 = whole ? number != 0 : real != 0; break;
    case WRY_UINT8: item.u8 = (uint8_t)number; break;
    case WRY_INT8: item.i8 = (int8_t)number; break;
    case WRY_INT16: item.i16 = (int16_t)number; break;
    case WRY_INT32: item.i32 = (int32_t)number; break;
    case WRY_INT64: item.i64 = number; break;
    case WRY_FLOAT16: item.u16 = half_of((float)real); break;
    case WRY_BFLOAT16: item.u16 = brain_of((float)real); break;
    case WRY_FLOAT64:
    case WRY_COMPLEX128: item.f64[0] = real, item.f64[1] = imaginary; break;
    default: item.f32[0] = (float)real, item.f32[1] = (float)imaginary;
  }
  return plugin_fill((void *)call->data, WRY_DEVICE_NUMBER(call->context->device), out->data, (size_t)out->size, &item,
                     (size_t)item_bytes_of[out->dtype], call->context->stream, call->context->error);
}
