/* A device of the tests: two devices in the memory of the host, a log of the calls, and switches that let calls fail.
 *
 * Macros make it wrong: see what is after each #ifdef. NAME is what it is called. */
#include <stdio.h>

#include "paddle/phi/backends/device_ext.h"

#ifndef NAME
#define NAME "TestDevice"
#endif

enum { TOTAL = 64 << 20 };
static size_t in_use;
static char log_text[1 << 16], failing[64];
static int status_when_failing = C_FAILED;

static C_Status note(const char *call, const C_Device device) {
  const size_t at = strlen(log_text);
  if (at + 100 < sizeof log_text) snprintf(log_text + at, sizeof log_text - at, "%s:%d\n", call, device ? device->id : -1);
  return strcmp(failing, call) == 0 ? (C_Status)status_when_failing : C_SUCCESS;
}

/* What the tests call. */
__attribute__((visibility("default"))) const char *calls(void) { return log_text; }
__attribute__((visibility("default"))) void forget(void) { log_text[0] = 0; }
__attribute__((visibility("default"))) void fail(const char *call, int status) {
  snprintf(failing, sizeof failing, "%s", call);
  status_when_failing = status;
}
__attribute__((visibility("default"))) size_t bytes_in_use(void) { return in_use; }

static C_Status initialize(void) { return note("initialize", NULL); }
static C_Status finalize(void) {
  note("finalize", NULL);
#ifdef TELL
  printf("%s in use: %zu\n", log_text + strlen(log_text) - 40, in_use);
#endif
  return C_SUCCESS;
}
static C_Status init_device(const C_Device device) { return note("init_device", device); }
static C_Status deinit_device(const C_Device device) { return note("deinit_device", device); }
static C_Status set_device(const C_Device device) {
  (void)device;
  return strcmp(failing, "set_device") == 0 ? (C_Status)status_when_failing : C_SUCCESS;
}
static C_Status get_device(const C_Device device) {
  device->id = 7;
  return C_SUCCESS;
}
static C_Status get_device_count(size_t *count) {
#ifdef NO_DEVICES
  *count = 0;
#else
  *count = 2;
#endif
  return C_SUCCESS;
}
static C_Status get_device_list(size_t *devices) {
  devices[0] = 7;
  devices[1] = 9;
  return C_SUCCESS;
}

static C_Status allocate(const C_Device device, void **ptr, size_t size) {
  char what[64];
  snprintf(what, sizeof what, "allocate %zu", size);
  note(what, device);
  if (strcmp(failing, "allocate") == 0) return (C_Status)status_when_failing;
  if (in_use + size > TOTAL) return C_FAILED;
  in_use += size;
  *ptr = (char *)malloc(size + 16) + 8; /* aligned to 8 bytes alone */
  memset(*ptr, 0x7f, size);
  return C_SUCCESS;
}
static C_Status deallocate(const C_Device device, void *ptr, size_t size) {
  char what[64];
  snprintf(what, sizeof what, "deallocate %zu", size);
  note(what, device);
  in_use -= size;
  free((char *)ptr - 8);
  return C_SUCCESS;
}
static C_Status h2d(const C_Device device, void *dst, const void *src, size_t size) {
  const C_Status status = note("h2d", device);
  if (status == C_SUCCESS) memcpy(dst, src, size);
  return status;
}
static C_Status d2h(const C_Device device, void *dst, const void *src, size_t size) {
  const C_Status status = note("d2h", device);
  if (status == C_SUCCESS) memcpy(dst, src, size);
  return status;
}
static C_Status d2d(const C_Device device, void *dst, const void *src, size_t size) {
  const C_Status status = note("d2d", device);
  if (status == C_SUCCESS) memcpy(dst, src, size);
  return status;
}
static C_Status stats(const C_Device device, size_t *total, size_t *available) {
  (void)device;
  *total = TOTAL;
  *available = TOTAL - in_use;
  return C_SUCCESS;
}
static C_Status min_chunk(C_Device device, size_t *size) {
  (void)device;
  *size = 512;
  return C_SUCCESS;
}

static C_Status create_stream(const C_Device device, C_Stream *stream) {
  *stream = (C_Stream)malloc(1);
  return note("create_stream", device);
}
static C_Status destroy_stream(const C_Device device, C_Stream stream) {
  free(stream);
  return note("destroy_stream", device);
}
static C_Status synchronize_stream(const C_Device device, C_Stream stream) {
  (void)stream;
  return note("synchronize_stream", device);
}
static C_Status stream_wait_event(const C_Device device, C_Stream stream, C_Event event) {
  (void)stream, (void)event;
  return note("stream_wait_event", device);
}
static C_Status synchronize_device(const C_Device device) { return note("synchronize_device", device); }
static C_Status create_event(const C_Device device, C_Event *event) {
  *event = (C_Event)malloc(1);
  return note("create_event", device);
}
static C_Status destroy_event(const C_Device device, C_Event event) {
  free(event);
  return note("destroy_event", device);
}
static C_Status record_event(const C_Device device, C_Stream stream, C_Event event) {
  (void)stream, (void)event;
  return note("record_event", device);
}
static C_Status synchronize_event(const C_Device device, C_Event event) {
  (void)event;
  return note("synchronize_event", device);
}

#ifdef PEERS
static C_Status p2p(const C_Device to, const C_Device from, void *dst, const void *src, size_t size) {
  char what[64];
  snprintf(what, sizeof what, "p2p %d to %d", from->id, to->id);
  memcpy(dst, src, size);
  return note(what, to);
}
#endif

#ifdef ASYNC
static C_Status async_p2p(const C_Device to, const C_Device from, C_Stream stream, void *dst, const void *src, size_t size) {
  char what[64];
  snprintf(what, sizeof what, "async_p2p %d to %d", from->id, to->id);
  note(what, to);
  if (!stream || strcmp(failing, "async_p2p") == 0) return (C_Status)status_when_failing;
  memcpy(dst, src, size);
  return C_SUCCESS;
}
static C_Status async_h2d(const C_Device device, C_Stream stream, void *dst, const void *src, size_t size) {
  const C_Status status = stream ? note("async_h2d", device) : C_ERROR;
  if (status == C_SUCCESS) memcpy(dst, src, size);
  return status;
}
static C_Status async_d2h(const C_Device device, C_Stream stream, void *dst, const void *src, size_t size) {
  const C_Status status = stream ? note("async_d2h", device) : C_ERROR;
  if (status == C_SUCCESS) memcpy(dst, src, size);
  return status;
}
static C_Status async_d2d(const C_Device device, C_Stream stream, void *dst, const void *src, size_t size) {
  const C_Status status = stream ? note("async_d2d", device) : C_ERROR;
  if (status == C_SUCCESS) memcpy(dst, src, size);
  return status;
}
static C_Status query_event(const C_Device device, C_Event event) {
  (void)device, (void)event;
  return C_SUCCESS;
}
static C_Status memory_set(const C_Device device, void *ptr, unsigned char value, size_t size) {
  memset(ptr, value, size);
  return note("memory_set", device);
}
static C_Status padding(C_Device device, size_t *size) {
  (void)device;
  *size = 24;
  return C_SUCCESS;
}
static C_Status first_size(C_Device device, size_t *size) {
  (void)device;
  *size = 1 << 20;
  return C_SUCCESS;
}
static C_Status next_size(C_Device device, size_t *size) {
  (void)device;
  *size = 2 << 20;
  return C_SUCCESS;
}
static C_Status max_chunk(C_Device device, size_t *size) {
  (void)device;
  *size = 4 << 20;
  return C_SUCCESS;
}
static C_Status capability(size_t *found) {
  *found = 80;
  return C_SUCCESS;
}
#endif

#ifndef NO_INIT
void InitPlugin(CustomRuntimeParams *params) {
#ifdef DOES_NOTHING
  (void)params;
}
static void never(CustomRuntimeParams *params) {
#endif
#ifdef LATER_HEADER /* whose structs are larger */
  if (params->size < sizeof(CustomRuntimeParams) + 8) return;
#endif
  PADDLE_CUSTOM_RUNTIME_CHECK_VERSION(params);
  memset(params->interface, 0, sizeof *params->interface); /* as plug-ins do, the size with it */
#ifdef OTHER_MAJOR
  params->version.major += 1;
#endif
#ifdef OTHER_MINOR
  params->version.minor += 1;
#endif
#ifdef OTHER_SIZE
  params->size -= 8;
#endif
#ifdef OTHER_INTERFACE
  params->interface = (C_DeviceInterface *)calloc(1, sizeof(C_DeviceInterface));
#endif
#ifdef BEYOND
  memset(params->interface + 1, 0, 16);
#endif
  params->device_type = (char *)NAME;
  params->sub_device_type = (char *)"V2";
  C_DeviceInterface *api = params->interface;
  api->initialize = initialize;
  api->finalize = finalize;
  api->init_device = init_device;
  api->deinit_device = deinit_device;
  api->set_device = set_device;
  api->get_device = get_device;
  api->synchronize_device = synchronize_device;
  api->get_device_count = get_device_count;
  api->get_device_list = get_device_list;
  api->device_memory_deallocate = deallocate;
  api->memory_copy_h2d = h2d;
  api->memory_copy_d2d = d2d;
  api->device_memory_stats = stats;
  api->device_min_chunk_size = min_chunk;
  api->create_stream = create_stream;
  api->destroy_stream = destroy_stream;
  api->synchronize_stream = synchronize_stream;
  api->stream_wait_event = stream_wait_event;
  api->create_event = create_event;
  api->destroy_event = destroy_event;
  api->record_event = record_event;
  api->synchronize_event = synchronize_event;
#ifndef MISSING
  api->device_memory_allocate = allocate;
  api->memory_copy_d2h = d2h;
#else
  (void)allocate, (void)d2h;
#endif
#ifdef PEERS
  api->memory_copy_p2p = p2p;
#endif
#ifdef ASYNC
  api->async_memory_copy_p2p = async_p2p;
  api->async_memory_copy_h2d = async_h2d;
  api->async_memory_copy_d2h = async_d2h;
  api->async_memory_copy_d2d = async_d2d;
  api->query_event = query_event;
  api->device_memory_set = memory_set;
  api->device_extra_padding_size = padding;
  api->device_init_alloc_size = first_size;
  api->device_realloc_size = next_size;
  api->device_max_chunk_size = max_chunk;
  api->get_compute_capability = capability;
#endif
#ifdef INIT_FAILS
  fail("init_device", C_INTERNAL_ERROR);
#endif
}
#endif
#ifdef NO_INIT
void *kept[] = {(void *)initialize, (void *)finalize};
#endif
