/* The table of devices, and the memory of those that are not the cpu.
 *
 * A storage of a device has its record in host memory. Freed blocks are kept by size class, as on the
 * cpu, and go to whoever asks next on the same stream: the stream's order is what keeps the old use
 * before the new one. A block that was used on other streams waits for them when it is freed.
 */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STREAMS 64

typedef struct pool pool;

typedef struct block {
  wry_storage storage;
  struct block *next;
  pool *pool;   /* of a capture that it was made for */
  void *stream; /* where it was first used */
  int foreign;  /* used on another stream too */
} block;

/* Memory of what was captured: whoever replays it writes there again, so nobody else gets it. */
struct pool {
  block *free;
  int64_t out; /* blocks that tensors hold */
  int released;
};

/* One device of a kind. */
typedef struct unit {
  block *free_lists[WRY_CLASSES];
  wry_memory_stats stats;
  size_t cached, cache_limit;
  void *streams[MAX_STREAMS]; /* those that were made; the default one is not among them */
  char idle[MAX_STREAMS];     /* nobody holds it */
  char priority[MAX_STREAMS];
  pool *capture;  /* that goes on */
  void *captured; /* its stream */
  block *later;   /* freed meanwhile */
  int n_streams;
  volatile char locked;
} unit;

static struct row {
  wry_device device;
  unit *units;
} rows[WRY_MAX_KINDS];
static int kinds = 1;

static void lock(unit *u) {
  while (__atomic_test_and_set(&u->locked, __ATOMIC_ACQUIRE)) {
  }
}
static void unlock(unit *u) { __atomic_clear(&u->locked, __ATOMIC_RELEASE); }

int wry_device_add(const wry_device *device) {
  if (kinds == WRY_MAX_KINDS) return -1;
  struct row *row = &rows[kinds];
  memset(&row->device, 0, sizeof row->device);
  memcpy(&row->device, device, device->size < sizeof row->device ? device->size : sizeof row->device);
  row->device.name = strdup(device->name);
  row->units = calloc((size_t)device->count, sizeof(unit));
  if (!row->units || !row->device.name) return -1;
  for (int i = 0; i < device->count; ++i) row->units[i].cache_limit = (size_t)512 << 20;
  return kinds++;
}

int wry_device_kinds(void) { return kinds; }

const wry_device *wry_device_of(int32_t device) {
  int kind = WRY_DEVICE_KIND(device);
  return kind > 0 && kind < kinds ? &rows[kind].device : NULL;
}

static unit *unit_of(int32_t device) { return &rows[WRY_DEVICE_KIND(device)].units[WRY_DEVICE_NUMBER(device)]; }

static void return_block(const wry_device *d, int32_t device, block *b, size_t bytes) {
  d->free(d->self, WRY_DEVICE_NUMBER(device), b->storage.data, bytes, b->stream);
  free(b);
}

static void release_lists(int32_t device, unit *u) {
  const wry_device *d = wry_device_of(device);
  block *all = NULL;
  if (u->capture) return; /* what is freed would become a part of it */
  lock(u);
  for (int c = 0; c < WRY_CLASSES; ++c)
    while (u->free_lists[c]) {
      block *b = u->free_lists[c];
      u->free_lists[c] = b->next;
      b->next = all;
      all = b;
      u->cached -= wry_bytes_of(c);
      u->stats.reserved -= (int64_t)wry_bytes_of(c);
    }
  unlock(u);
  while (all) { /* the device may take locks of its own: none of ours is held */
    block *b = all;
    all = b->next;
    return_block(d, device, b, wry_bytes_of(b->storage.size_class));
  }
}

wry_storage *wry_device_storage_new(int32_t device, size_t nbytes, void *stream, char *error) {
  const wry_device *d = wry_device_of(device);
  unit *u = unit_of(device);
  if (nbytes > (SIZE_MAX >> 2) || (sizeof(size_t) == 8 && nbytes >> 48)) return NULL;
  int c = wry_class_of(nbytes);
  int caching = !(d->flags & WRY_OWN_CACHE);
  size_t bytes = caching ? wry_bytes_of(c) : nbytes;
  block *b = NULL;
  pool *p = u->capture && u->captured == stream ? u->capture : NULL;
  if (p) {
    lock(u);
    for (block **at = &p->free; caching && *at; at = &(*at)->next)
      if ((*at)->storage.size_class == c) {
        b = *at;
        *at = b->next;
        break;
      }
    p->out += 1;
    unlock(u);
  } else if (caching) {
    lock(u);
    block **at = &u->free_lists[c];
    for (int tries = 0; *at && tries < 8; ++tries, at = &(*at)->next)
      if ((*at)->stream == stream) {
        b = *at;
        *at = b->next;
        u->cached -= bytes;
        break;
      }
    unlock(u);
  }
  if (!b) {
    b = calloc(1, sizeof *b);
    if (!b) return NULL;
    if (d->allocate(d->self, WRY_DEVICE_NUMBER(device), bytes, stream, &b->storage.data, error) != WRY_OK) {
      release_lists(device, u); /* what the cache keeps may be just what is missing */
      if (d->allocate(d->self, WRY_DEVICE_NUMBER(device), bytes, stream, &b->storage.data, error) != WRY_OK) {
        free(b);
        if (p) p->out -= 1;
        return NULL;
      }
    }
    lock(u);
    u->stats.reserved += (int64_t)bytes;
    if (u->stats.reserved > u->stats.peak_reserved) u->stats.peak_reserved = u->stats.reserved;
    unlock(u);
  }
  lock(u);
  u->stats.allocated += (int64_t)bytes;
  if (u->stats.allocated > u->stats.peak_allocated) u->stats.peak_allocated = u->stats.allocated;
  unlock(u);
  void *data = b->storage.data;
  memset(b, 0, sizeof *b);
  b->storage.data = data;
  b->storage.nbytes = nbytes;
  b->storage.refs = 1;
  b->storage.device = device;
  b->storage.size_class = c;
  b->stream = stream;
  b->pool = p;
  return &b->storage;
}

void wry_device_used_on(wry_storage *s, void *stream) {
  if (s->size_class >= 0 && ((block *)s)->stream != stream) ((block *)s)->foreign = 1;
}

/* Lets the stream of a block wait for all other streams, one of which has used it. */
static void wait_for_others(const wry_device *d, unit *u, int32_t number, block *b) {
  char error[WRY_ERROR_SIZE];
  void *event = NULL;
  if (d->event_create(d->self, number, &event, error) != WRY_OK) return;
  for (int i = -1; i < u->n_streams; ++i) {
    void *other = i < 0 ? NULL : u->streams[i];
    if (other == b->stream) continue;
    if (d->event_record(d->self, number, event, other, error) == WRY_OK)
      d->stream_wait(d->self, number, b->stream, event, error);
  }
  d->event_destroy(d->self, number, event);
}

void wry_device_storage_free(wry_storage *s) {
  block *b = (block *)s;
  int32_t device = s->device;
  const wry_device *d = wry_device_of(device);
  unit *u = unit_of(device);
  int caching = !(d->flags & WRY_OWN_CACHE);
  size_t bytes = caching ? wry_bytes_of(s->size_class) : s->nbytes;
  if (b->pool) {
    lock(u);
    pool *p = b->pool;
    int kept = !p->released, last = --p->out == 0 && p->released;
    if (kept) {
      b->next = p->free;
      p->free = b;
      u->stats.allocated -= (int64_t)bytes;
    }
    unlock(u);
    if (last) free(p);
    if (kept) return;
    b->pool = NULL;
    b->stream = NULL; /* that of the capture may be gone */
    b->foreign = 1;   /* and the graph may have been launched anywhere */
  }
  if (u->capture) { /* nothing may be said to the stream now but what belongs to the capture */
    lock(u);
    b->next = u->later;
    u->later = b;
    unlock(u);
    return;
  }
  if (b->foreign) wait_for_others(d, u, WRY_DEVICE_NUMBER(device), b);
  b->foreign = 0;
  lock(u);
  u->stats.allocated -= (int64_t)bytes;
  int keep = caching && u->cached + bytes <= u->cache_limit;
  if (keep) {
    b->next = u->free_lists[s->size_class];
    u->free_lists[s->size_class] = b;
    u->cached += bytes;
  } else {
    u->stats.reserved -= (int64_t)bytes;
  }
  unlock(u);
  if (!keep) return_block(d, device, b, bytes);
}

int wry_device_capturing(int32_t device) { return device && unit_of(device)->capture != NULL; }

void *wry_device_pool_begin(int32_t device, void *stream) {
  unit *u = unit_of(device);
  if (u->capture) return NULL;
  pool *p = calloc(1, sizeof *p);
  u->captured = stream;
  u->capture = p;
  return p;
}

void wry_device_pool_end(int32_t device) {
  unit *u = unit_of(device);
  lock(u);
  block *later = u->later;
  u->later = NULL;
  u->capture = NULL;
  unlock(u);
  while (later) {
    block *b = later;
    later = b->next;
    wry_device_storage_free(&b->storage);
  }
}

void wry_device_pool_release(int32_t device, void *which) {
  unit *u = unit_of(device);
  pool *p = which;
  int caching = !(wry_device_of(device)->flags & WRY_OWN_CACHE);
  lock(u);
  block *all = p->free;
  p->free = NULL;
  p->released = 1;
  int last = p->out == 0;
  for (block *b = all; b; b = b->next) u->stats.reserved -= (int64_t)(caching ? wry_bytes_of(b->storage.size_class) : b->storage.nbytes);
  unlock(u);
  while (all) {
    block *b = all;
    all = b->next;
    b->stream = NULL;
    return_block(wry_device_of(device), device, b, caching ? wry_bytes_of(b->storage.size_class) : b->storage.nbytes);
  }
  if (last) free(p);
}

int wry_device_stream_create(int32_t device, int32_t priority, void **out, char *error) {
  const wry_device *d = wry_device_of(device);
  unit *u = unit_of(device);
  lock(u);
  for (int i = 0; i < u->n_streams; ++i)
    if (u->idle[i] && u->priority[i] == priority) {
      u->idle[i] = 0;
      *out = u->streams[i];
      unlock(u);
      return WRY_OK;
    }
  unlock(u);
  if (u->n_streams == MAX_STREAMS) {
    snprintf(error, WRY_ERROR_SIZE, "there are %d streams on this device already, let go of some", MAX_STREAMS);
    return WRY_UNSUPPORTED;
  }
  int status = d->stream_create_with ? d->stream_create_with(d->self, WRY_DEVICE_NUMBER(device), priority, out, error)
                                     : d->stream_create(d->self, WRY_DEVICE_NUMBER(device), out, error);
  if (status == WRY_OK) {
    u->priority[u->n_streams] = (char)priority;
    u->streams[u->n_streams++] = *out;
  }
  return status;
}

void wry_device_stream_release(int32_t device, void *stream) {
  /* Kept for the next who asks: blocks that were made on it are freed in its order. */
  unit *u = unit_of(device);
  lock(u);
  for (int i = 0; i < u->n_streams; ++i)
    if (u->streams[i] == stream) u->idle[i] = 1;
  unlock(u);
}

int wry_device_synchronize(int32_t device, char *error) {
  const wry_device *d = wry_device_of(device);
  unit *u = unit_of(device);
  int status = WRY_OK;
  for (int i = -1; i < u->n_streams && status == WRY_OK; ++i)
    status = d->synchronize(d->self, WRY_DEVICE_NUMBER(device), i < 0 ? NULL : u->streams[i], error);
  return status;
}

void wry_device_get_stats(int32_t device, wry_memory_stats *out) {
  unit *u = unit_of(device);
  lock(u);
  *out = u->stats;
  unlock(u);
}

void wry_device_reset_peak(int32_t device) {
  unit *u = unit_of(device);
  lock(u);
  u->stats.peak_allocated = u->stats.allocated;
  u->stats.peak_reserved = u->stats.reserved;
  unlock(u);
}

void wry_device_release_cache(int32_t device) { release_lists(device, unit_of(device)); }

void wry_device_set_cache_limit(int32_t device, size_t bytes) {
  unit *u = unit_of(device);
  lock(u);
  u->cache_limit = bytes;
  int over = u->cached > bytes;
  unlock(u);
  if (over) release_lists(device, u);
}
