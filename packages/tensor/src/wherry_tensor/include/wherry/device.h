/* A device: what a plug-in hands over so that tensors can live there.
 *
 * The core keeps tensors, plans, caches and generators; a device gives memory, copies, and a queue of
 * work. docs/devices.md writes one from start to end; testing/reference_device.c in the package is one
 * that forgives nothing, to read and to test against.
 *
 * Streams. Work that is put on one stream runs in the order it was put there, some time later. Every
 * function below that takes a stream may return before its work is done; NULL is the default stream
 * of the device. Memory is freed in stream order too: `free` comes after the last use was put on the
 * stream, and must take effect after it.
 *
 * Errors. Each function returns a wry_status, with a text in `error` (WRY_ERROR_SIZE bytes) unless it is
 * WRY_OK. What fails after a function has returned is kept by the device and returned, once, by the
 * next `synchronize` of that stream or copy to the host; it becomes the Python exception of its status there.
 */
#ifndef WHERRY_DEVICE_H
#define WHERRY_DEVICE_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wry_device_flags {
  WRY_HOST_VISIBLE = 1,     /* the host may read and write its memory once the stream is synchronized */
  WRY_LAUNCH_MAY_BLOCK = 2, /* a kernel may take long before it returns: the caller lets go of the GIL */
  WRY_OWN_CACHE = 4,        /* allocate and free are cheap: the core keeps no freed blocks */
  WRY_FORKS = 8,            /* a forked child may go on without the device; else DataLoader starts its workers anew */
  WRY_COPIES_LATER = 16     /* `copy` knows WRY_HOST_TO_DEVICE_LATER */
} wry_device_flags;

typedef enum wry_copy_kind {
  WRY_HOST_TO_DEVICE = 0, /* `from` may change as soon as the call returns */
  WRY_DEVICE_TO_HOST = 1, /* `to` is complete when the call returns: waits for the stream */
  WRY_DEVICE_TO_DEVICE = 2,
  /* `from` is memory of another kind that is WRY_HOST_VISIBLE, as page-locked memory, and may be read until the stream has
   * passed the copy. The caller does not write there meanwhile; when it is freed, it is not given out again before that. */
  WRY_HOST_TO_DEVICE_LATER = 3
} wry_copy_kind;

typedef enum wry_event_flags {
  WRY_EVENT_TIMES = 1,       /* `event_elapsed` is asked for */
  WRY_EVENT_BLOCKS = 2,      /* who waits for it sleeps, instead of looking again and again */
  WRY_EVENT_INTERPROCESS = 4 /* other processes may wait for it */
} wry_event_flags;

/* `self` and `number` (which device of this kind, from 0) come first in every call. Calls come from any
 * thread, most with the GIL held: no lock of the device may be held while it calls back. Functions
 * marked "optional" may be NULL. */
typedef struct wry_device {
  size_t size;         /* sizeof(wry_device) when the plug-in was compiled */
  const char *name;    /* "mine": what set_device, Place and register_kernels call it; found in any case */
  int32_t count;       /* how many there are */
  uint32_t flags;      /* wry_device_flags */
  int32_t dlpack_type; /* its DLDeviceType; 0: its tensors are not exported through DLPack */
  int32_t reserved;
  void *self;

  /* Memory: 64-byte aligned, *out is not NULL for 0 bytes. WRY_OUT_OF_MEMORY when there is none. The block is
   * used on `stream` first. */
  int (*allocate)(void *self, int32_t number, size_t bytes, void *stream, void **out, char *error);
  void (*free)(void *self, int32_t number, void *data, size_t bytes, void *stream);

  int (*copy)(void *self, int32_t number, int32_t kind, void *to, const void *from, size_t bytes, void *stream,
              char *error);
  /* `count` times the same item of 1, 2, 4, 8 or 16 bytes, which is host memory. */
  int (*fill)(void *self, int32_t number, void *to, size_t count, const void *item, size_t item_bytes, void *stream,
              char *error);
  /* Any strided block into another of the same shape and dtype on the same device; they do not overlap. */
  int (*strided_copy)(void *self, int32_t number, const wry_tensor *to, const wry_tensor *from, void *stream,
                      char *error);

  /* Waits until everything that was put on the stream has run. */
  int (*synchronize)(void *self, int32_t number, void *stream, char *error);

  /* Optional, all or none: more streams than the default one. An event marks a place in a stream; a
   * stream or the host can wait for it. `elapsed` is in milliseconds, negative when it is not known. */
  int (*stream_create)(void *self, int32_t number, void **out, char *error);
  void (*stream_destroy)(void *self, int32_t number, void *stream);
  int (*event_create)(void *self, int32_t number, void **out, char *error);
  void (*event_destroy)(void *self, int32_t number, void *event);
  int (*event_record)(void *self, int32_t number, void *event, void *stream, char *error);
  int (*event_query)(void *self, int32_t number, void *event); /* 1: has passed, 0: not yet */
  int (*event_synchronize)(void *self, int32_t number, void *event, char *error);
  int (*stream_wait)(void *self, int32_t number, void *stream, void *event, char *error);
  double (*event_elapsed)(void *self, int32_t number, void *from, void *to);

  /* Optional: bytes in all and bytes free. */
  int (*memory)(void *self, int32_t number, int64_t *total, int64_t *available);

  /* Optional: from the memory of one device of this kind to that of another, after what was put on either stream and
   * complete when the call returns. Without it such copies go through the host. */
  int (*copy_between)(void *self, int32_t to_number, void *to, void *to_stream, int32_t from_number, const void *from,
                      void *from_stream, size_t bytes, char *error);

  /* Optional: a stream whose work goes before that of others where both wait (`priority` 1) or does not (2), and events
   * with wry_event_flags. Where they are NULL, stream_create and event_create serve. */
  int (*stream_create_with)(void *self, int32_t number, int32_t priority, void **out, char *error);
  int (*event_create_with)(void *self, int32_t number, uint32_t flags, void **out, char *error);

  /* Optional, all or none: between capture_begin and capture_end, work that is put on the stream is written down instead of
   * run; graph_launch runs it as one. capture_end ends it in any case, with *graph NULL unless WRY_OK is returned. Memory that is
   * allocated on the stream meanwhile stays where it is until the core frees it. Functions that wait for the stream, or copy
   * from or to the host, refuse. `mode` is what others may do meanwhile: 0 nothing that waits for the device (global), 1 the
   * same for the calling thread alone, 2 anything. graph_print writes a description (DOT) to a file. */
  int (*capture_begin)(void *self, int32_t number, void *stream, int32_t mode, char *error);
  int (*capture_end)(void *self, int32_t number, void *stream, void **graph, char *error);
  int (*graph_launch)(void *self, int32_t number, void *graph, void *stream, char *error);
  void (*graph_destroy)(void *self, int32_t number, void *graph);
  int (*graph_print)(void *self, int32_t number, void *graph, const char *path, char *error);

  /* Optional: `begin` is 1 before and 0 after the calls of one op on many groups of tensors (`Op.each_into`), all made by the calling
   * thread. Between the two a device may keep calls of kernels and put several on the stream as one; everything else that the
   * thread asks of it comes after what was kept, and calls that meet in memory stay in their order. What fails is returned when it is put there,
   * at the latest by the call with 0, which is always made. */
  int (*together)(void *self, int32_t number, int32_t begin, char *error);
} wry_device;

#ifdef __cplusplus
}
#endif
#endif /* WHERRY_DEVICE_H */
