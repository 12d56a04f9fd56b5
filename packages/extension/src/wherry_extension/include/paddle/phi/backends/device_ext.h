/* The runtime of a device that comes as a library: the C interface between the framework and the plug-in.
 *
 * A plug-in defines InitPlugin. The framework sets both `size` fields, calls it once, and reads what it has filled in. Functions
 * marked "optional" may stay NULL; what is done without them stands beside each. All others have to be there: a plug-in that lacks one
 * is not registered.
 */
#ifndef PADDLE_PHI_BACKENDS_DEVICE_EXT_H
#define PADDLE_PHI_BACKENDS_DEVICE_EXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A plug-in of another major version, or of a later minor one, is refused. */
#define PADDLE_CUSTOM_RUNTIME_MAJOR_VERSION 0
#define PADDLE_CUSTOM_RUNTIME_MINOR_VERSION 1
#define PADDLE_CUSTOM_RUNTIME_PATCH_VERSION 1

typedef enum {
  C_SUCCESS = 0,
  C_WARNING,       /* done, though not as expected: an asynchronous function that waited, say */
  C_FAILED,        /* out of resources, or the request failed */
  C_ERROR,         /* wrong arguments, wrong use, or not initialized */
  C_INTERNAL_ERROR /* a mistake of the plug-in */
} C_Status;

typedef enum C_DataType {
  UNDEFINED = 0,
  BOOL,
  UINT8,
  UINT16,
  UINT32,
  UINT64,
  INT8,
  INT16,
  INT32,
  INT64,
  FLOAT16,
  FLOAT32,
  FLOAT64,
  BFLOAT16,
  COMPLEX64,
  COMPLEX128
} C_DataType;

typedef enum C_DataLayout {
  ANY = 0,
  NHWC,
  NCHW,
  NCDHW,
  NDHWC,
  NUM_DATA_LAYOUTS,
  ALL_LAYOUT = ANY
} C_DataLayout;

typedef struct C_Device_st {
  int id;
} *C_Device;
typedef struct C_Stream_st *C_Stream; /* a queue of work, which runs in order; NULL where everything has run when a call returns */
typedef struct C_Event_st *C_Event;   /* a mark in a stream */
typedef void (*C_Callback)(C_Device device, C_Stream stream, void *user_data, C_Status *status);

/* What collective communication and the profiler of a plug-in take. */
typedef enum C_CCLReduceOp {
  SUM = 0,
  AVG,
  MAX,
  MIN,
  PRODUCT
} C_CCLReduceOp;
typedef struct C_CCLRootId {
  size_t sz;
  void *data;
} C_CCLRootId;
typedef struct C_CCLComm_st *C_CCLComm;
typedef struct C_Profiler_st *C_Profiler;

typedef struct CustomRuntimeVersion {
  size_t major, minor, patch;
} CustomRuntimeVersion;

typedef struct C_DeviceInterface {
  size_t size; /* of this struct, as the framework knows it */

  /* Devices. */
  C_Status (*initialize)(void);                     /* optional: called first */
  C_Status (*finalize)(void);                       /* optional: called last, at exit */
  C_Status (*init_device)(const C_Device device);   /* optional: called for every device after initialize */
  C_Status (*deinit_device)(const C_Device device); /* optional: called for every device before finalize */
  C_Status (*set_device)(const C_Device device);    /* what follows in this thread is for `device` */
  C_Status (*get_device)(const C_Device device);    /* writes device->id */
  C_Status (*synchronize_device)(const C_Device device);
  C_Status (*get_device_count)(size_t *count);
  C_Status (*get_device_list)(size_t *devices); /* fills in as many ids as there are devices */
  C_Status (*get_compute_capability)(size_t *compute_capability);
  C_Status (*get_runtime_version)(size_t *version);
  C_Status (*get_driver_version)(size_t *version);
  void *reserved_device[8];

  /* Memory. Sizes are bytes. */
  C_Status (*device_memory_allocate)(const C_Device device, void **ptr, size_t size);
  C_Status (*device_memory_deallocate)(const C_Device device, void *ptr, size_t size);
  C_Status (*host_memory_allocate)(const C_Device device, void **ptr, size_t size); /* optional: page-locked; malloc without it */
  C_Status (*host_memory_deallocate)(const C_Device device, void *ptr, size_t size);
  C_Status (*unified_memory_allocate)(const C_Device device, void **ptr, size_t size); /* optional, not used so far */
  C_Status (*unified_memory_deallocate)(const C_Device device, void *ptr, size_t size);
  C_Status (*memory_copy_h2d)(const C_Device device, void *dst, const void *src, size_t size);
  C_Status (*memory_copy_d2h)(const C_Device device, void *dst, const void *src, size_t size);
  C_Status (*memory_copy_d2d)(const C_Device device, void *dst, const void *src, size_t size);
  C_Status (*memory_copy_p2p)(const C_Device dst_device, const C_Device src_device, void *dst, const void *src, size_t size); /* optional */
  /* Optional: waiting copies without them. */
  C_Status (*async_memory_copy_h2d)(const C_Device device, C_Stream stream, void *dst, const void *src, size_t size);
  C_Status (*async_memory_copy_d2h)(const C_Device device, C_Stream stream, void *dst, const void *src, size_t size);
  C_Status (*async_memory_copy_d2d)(const C_Device device, C_Stream stream, void *dst, const void *src, size_t size);
  C_Status (*async_memory_copy_p2p)(const C_Device dst_device, const C_Device src_device, C_Stream stream, void *dst, const void *src,
                                    size_t size);
  C_Status (*device_memory_set)(const C_Device device, void *ptr, unsigned char value, size_t size); /* optional: memory_copy_h2d */
  C_Status (*device_memory_stats)(const C_Device device, size_t *total_memory, size_t *free_memory);
  C_Status (*device_min_chunk_size)(C_Device device, size_t *size); /* what is allocated is a multiple of it */
  /* Optional. */
  C_Status (*device_max_chunk_size)(C_Device device, size_t *size);     /* larger requests do not go through the pool */
  C_Status (*device_max_alloc_size)(C_Device device, size_t *size);     /* larger requests are refused; else what is free */
  C_Status (*device_extra_padding_size)(C_Device device, size_t *size); /* added to each request; 0 */
  C_Status (*device_init_alloc_size)(C_Device device, size_t *size);    /* what the pool begins with */
  C_Status (*device_realloc_size)(C_Device device, size_t *size);       /* by what it grows */
  void *reserved_memory[8];

  /* Streams. */
  C_Status (*create_stream)(const C_Device device, C_Stream *stream);
  C_Status (*destroy_stream)(const C_Device device, C_Stream stream);
  C_Status (*query_stream)(const C_Device device, C_Stream stream); /* optional: synchronize_stream */
  C_Status (*synchronize_stream)(const C_Device device, C_Stream stream);
  C_Status (*stream_add_callback)(const C_Device device, C_Stream stream, C_Callback callback, void *user_data); /* optional */
  C_Status (*stream_wait_event)(const C_Device device, C_Stream stream, C_Event event);
  void *reserved_stream[8];

  /* Events. */
  C_Status (*create_event)(const C_Device device, C_Event *event);
  C_Status (*destroy_event)(const C_Device device, C_Event event);
  C_Status (*record_event)(const C_Device device, C_Stream stream, C_Event event);
  C_Status (*query_event)(const C_Device device, C_Event event); /* optional: synchronize_event */
  C_Status (*synchronize_event)(const C_Device device, C_Event event);
  void *reserved_event[8];

  /* Optional, and not used so far: collective communication, the profiler of the device, y = alpha x + beta y. */
  C_Status (*xccl_get_unique_id_size)(size_t *size);
  C_Status (*xccl_get_unique_id)(C_CCLRootId *id);
  C_Status (*xccl_comm_init_rank)(size_t n_ranks, C_CCLRootId *id, size_t rank, C_CCLComm *comm);
  C_Status (*xccl_destroy_comm)(C_CCLComm comm);
  C_Status (*xccl_all_reduce)(void *send, void *recv, size_t count, C_DataType dtype, C_CCLReduceOp op, C_CCLComm comm, C_Stream stream);
  C_Status (*xccl_broadcast)(void *buffer, size_t count, C_DataType dtype, size_t root, C_CCLComm comm, C_Stream stream);
  C_Status (*xccl_reduce)(void *send, void *recv, size_t count, C_DataType dtype, C_CCLReduceOp op, size_t root, C_CCLComm comm, C_Stream stream);
  C_Status (*xccl_all_gather)(void *send, void *recv, size_t count, C_DataType dtype, C_CCLComm comm, C_Stream stream);
  C_Status (*xccl_reduce_scatter)(void *send, void *recv, size_t count, C_DataType dtype, C_CCLReduceOp op, C_CCLComm comm, C_Stream stream);
  C_Status (*xccl_group_start)(void);
  C_Status (*xccl_group_end)(void);
  C_Status (*xccl_send)(void *send, size_t count, C_DataType dtype, size_t to, C_CCLComm comm, C_Stream stream);
  C_Status (*xccl_recv)(void *recv, size_t count, C_DataType dtype, size_t from, C_CCLComm comm, C_Stream stream);
  C_Status (*xccl_all_to_all)(const void **send, const size_t *send_count, const C_DataType *send_dtype, void **recv, const size_t *recv_count,
                              const C_DataType *recv_dtype, size_t rank, size_t n_ranks, C_CCLComm comm, C_Stream stream);
  void *reserved_ccl_api[8];
  C_Status (*profiler_initialize)(C_Profiler profiler, void **user_data);
  C_Status (*profiler_finalize)(C_Profiler profiler, void *user_data);
  C_Status (*profiler_prepare_tracing)(C_Profiler profiler, void *user_data);
  C_Status (*profiler_start_tracing)(C_Profiler profiler, void *user_data);
  C_Status (*profiler_stop_tracing)(C_Profiler profiler, void *user_data);
  C_Status (*profiler_collect_trace_data)(C_Profiler profiler, uint64_t begin_ns, void *user_data);
  void *reserved_profiler_api[8];
  C_Status (*blas_axpby)(const C_Device device, C_Stream stream, C_DataType dtype, size_t numel, float alpha, void *x, float beta, void *y);
  void *reserved_other_api[7];
} C_DeviceInterface;

/* `size` and `interface` stay the first two members in every version. */
typedef struct CustomRuntimeParams {
  size_t size; /* of this struct, as the framework knows it */
  C_DeviceInterface *interface;
  CustomRuntimeVersion version;
  char *device_type;     /* what users call the device: "CustomCPU" */
  char *sub_device_type; /* free text, such as the version of the plug-in */
  char reserved[32];
} CustomRuntimeParams;

/* Leaves InitPlugin where the framework's structs are smaller than those of this header; else says the version. */
#define PADDLE_CUSTOM_RUNTIME_CHECK_VERSION(params)                \
  do {                                                             \
    if ((params)->size < sizeof(CustomRuntimeParams) ||            \
        (params)->interface->size < sizeof(C_DeviceInterface))     \
      return;                                                      \
    (params)->version.major = PADDLE_CUSTOM_RUNTIME_MAJOR_VERSION; \
    (params)->version.minor = PADDLE_CUSTOM_RUNTIME_MINOR_VERSION; \
    (params)->version.patch = PADDLE_CUSTOM_RUNTIME_PATCH_VERSION; \
  } while (0)

/* What a plug-in defines. */
#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
void
InitPlugin(CustomRuntimeParams *params);

#ifdef __cplusplus
}
#endif
#endif /* PADDLE_PHI_BACKENDS_DEVICE_EXT_H */
