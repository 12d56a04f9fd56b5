/* Reference-counted storage from a caching allocator, and the per-thread state of the dispatcher.
 *
 * A private header between the compiled parts of wherry-tensor and wherry-autograd; kernels see
 * only abi.h. Not part of the ABI version.
 */
#ifndef WHERRY_MEMORY_H
#define WHERRY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "device.h"

/* One block of memory. `data` is 64-byte aligned. Reference counts change under the GIL only. */
typedef struct wry_storage {
  void *data;
  size_t nbytes;
  int64_t refs;
  int64_t version;         /* bumped by every in-place write; autograd compares it */
  int32_t device;          /* WRY_DEVICE(kind, number); 0 is cpu */
  int16_t size_class;      /* -1: memory of `owner` */
  int16_t foreign;         /* others may write here, so a bool may be any byte */
  void *owner;             /* what keeps borrowed memory alive */
  void (*release)(void *); /* how to let go of the owner */
} wry_storage;

typedef struct wry_memory_stats {
  int64_t allocated, peak_allocated; /* bytes that tensors hold */
  int64_t reserved, peak_reserved;   /* allocated plus what the cache keeps for reuse */
} wry_memory_stats;

wry_storage *wry_storage_new(size_t nbytes); /* NULL when there is no memory */
wry_storage *wry_storage_borrow(void *data, size_t nbytes, void *owner, void (*release)(void *));
void wry_storage_free(wry_storage *storage); /* when refs reached 0 */

/* The same for any device; WRY_CPU too. */
void wry_memory_get_stats(int32_t device, wry_memory_stats *stats);
void wry_memory_reset_peak(int32_t device);
void wry_memory_release_cache(int32_t device);
void wry_memory_set_cache_limit(int32_t device, size_t bytes);
void wry_memory_set_fill(int on); /* of the cpu: fresh memory holds bytes that are not zero, to find who counts on zeros */

/* The table of devices. A kind is a row; row 0 is the cpu's and has no wry_device. */
#define WRY_MAX_KINDS 32
int wry_device_add(const wry_device *device);    /* its kind, or -1: no room, no memory */
int wry_device_kinds(void);                      /* rows in use */
const wry_device *wry_device_of(int32_t device); /* NULL for the cpu */
/* Memory of a device, first used on `stream`. NULL: none left, with the device's text in `error`. */
wry_storage *wry_device_storage_new(int32_t device, size_t nbytes, void *stream, char *error);
/* The storage is used on `stream`: where that is not the one it was made on, its end waits for it. */
void wry_device_used_on(wry_storage *storage, void *stream);
int wry_device_stream_create(int32_t device, int32_t priority, void **out, char *error); /* priority: 1 first, 2 as others */
/* While `stream` is captured: memory that is made on it belongs to a pool, is given out again within it alone, and goes back
 * to the device when the pool is released. One capture of a device at a time: NULL while there is one. */
void *wry_device_pool_begin(int32_t device, void *stream);
void wry_device_pool_end(int32_t device);
void wry_device_pool_release(int32_t device, void *pool);
int wry_device_capturing(int32_t device);
void wry_device_stream_release(int32_t device, void *stream);
int wry_device_synchronize(int32_t device, char *error); /* all streams of the device */

/* Scratch of a running kernel, one stack of buffers for each thread. A call marks where it begins
 * and resets to there, so that a call within a call leaves the outer one's buffers alone. */
int wry_workspace_mark(void);
void *wry_workspace_take(size_t bytes);
void wry_workspace_reset(int mark);

#endif
