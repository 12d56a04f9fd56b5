/* Between memory.c and device.c: size classes, and what memory.c hands on for memory of a device. */
#ifndef WHERRY_CSRC_DEVICE_H
#define WHERRY_CSRC_DEVICE_H

#include "wherry/memory.h"

#define WRY_SMALL_CLASSES 17
#define WRY_CLASSES (WRY_SMALL_CLASSES + 8 * 40)

int wry_class_of(size_t bytes);
size_t wry_bytes_of(int size_class);

void wry_device_storage_free(wry_storage *storage);
void wry_device_get_stats(int32_t device, wry_memory_stats *out);
void wry_device_reset_peak(int32_t device);
void wry_device_release_cache(int32_t device);
void wry_device_set_cache_limit(int32_t device, size_t bytes);

#endif
