/* The kernel ABI of Wherry: what a kernel receives, what it returns, how it is registered.
 *
 * Plain C11; no C++ type and no Python object crosses this boundary, so a kernel can be written in
 * any language, run without the GIL and be called by an executor that knows no Python.
 * docs/abi.md explains it with a complete example.
 *
 * Version 2. The version rises when the ABI grows; WRY_ABI_OLDEST rises when what an older binary was
 * compiled against no longer holds. Structs grow at their end only, and each that a plug-in hands over
 * comes with its size, so that a plug-in of version n loads into every core whose oldest version is at
 * most n. wry_host_serves below is the test.
 */
#ifndef WHERRY_ABI_H
#define WHERRY_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WRY_ABI_VERSION 2
#define WRY_ABI_OLDEST 2 /* of the plug-ins that this version takes; 1 knew no device */
#define WRY_MAX_RANK 12
#define WRY_ERROR_SIZE 512

typedef enum wry_dtype {
  WRY_BOOL = 0,
  WRY_UINT8 = 1,
  WRY_INT8 = 2,
  WRY_INT16 = 3,
  WRY_INT32 = 4,
  WRY_INT64 = 5,
  WRY_FLOAT16 = 6,
  WRY_BFLOAT16 = 7,
  WRY_FLOAT32 = 8,
  WRY_FLOAT64 = 9,
  WRY_COMPLEX64 = 10,
  WRY_COMPLEX128 = 11,
  WRY_NUM_DTYPES = 12
} wry_dtype;

/* A kernel returns one of these; all but WRY_OK come with a text in context->error. */
typedef enum wry_status {
  WRY_OK = 0,
  WRY_INVALID = 1,       /* ValueError: a value (not a shape or dtype) in the data is not allowed */
  WRY_OUT_OF_RANGE = 2,  /* IndexError: an index in the data is out of range */
  WRY_OUT_OF_MEMORY = 3, /* MemoryError */
  WRY_UNSUPPORTED = 4,   /* NotImplementedError */
  WRY_INTERNAL = 5       /* RuntimeError */
} wry_status;

/* A device: a kind in the low 8 bits (0 is cpu; the others are numbered as they are registered), and
 * which of that kind in the bits above. */
#define WRY_CPU 0
#define WRY_DEVICE(kind, number) ((int32_t)((kind) | (number) << 8))
#define WRY_DEVICE_KIND(device) ((device) & 0xff)
#define WRY_DEVICE_NUMBER(device) ((device) >> 8)

/* A strided block of memory of one device. Strides count elements, not bytes, and may be zero
 * (broadcast) or negative. `size` is the product of `shape`; a tensor of rank 0 has size 1. The
 * struct itself, `shape` and `strides` are host memory on every device. */
typedef struct wry_tensor {
  void *data;
  const int64_t *shape;
  const int64_t *strides;
  int64_t size;
  int32_t dtype;
  int32_t rank;
  int32_t device;
  int32_t reserved;
} wry_tensor;

/* One attribute, in the order of the op's declaration. */
typedef enum wry_attr_kind {
  WRY_ATTR_NONE = 0,   /* the attribute is None */
  WRY_ATTR_INT = 1,    /* int and bool: value.i; a dtype is its wry_dtype code */
  WRY_ATTR_FLOAT = 2,  /* value.f */
  WRY_ATTR_INTS = 3,   /* value.ints[0..length) */
  WRY_ATTR_FLOATS = 4, /* value.floats[0..length); a complex scalar is its real and imaginary part */
  WRY_ATTR_STRING = 5  /* value.s, UTF-8, zero terminated; length excludes the zero */
} wry_attr_kind;

typedef struct wry_attr {
  int32_t kind;
  int32_t length;
  union {
    int64_t i;
    double f;
    const int64_t *ints;
    const double *floats;
    const char *s;
  } value;
} wry_attr;

typedef struct wry_context wry_context;

/* What the caller offers to a running kernel. It lives until the kernel returns: a kernel that only
 * puts its work on a stream copies what that work needs (shapes, attributes, the seed) first. */
struct wry_context {
  int32_t abi_version;
  int32_t num_threads; /* how many host threads the kernel may use; the result must not depend on it */
  void *stream;        /* the stream that the work belongs on: NULL is the device's default one */
  int32_t device;      /* where all inputs and outputs are (but see WRY_TAKES_HOST_SCALARS) */
  int32_t reserved;

  /* Random numbers are counter based (Philox4x32-10): key = rng_seed, counter = rng_offset + n. Both
   * belong to this call; the caller advances its device's generator by max(1, largest output size,
   * largest input size) for a kernel that is registered with WRY_USES_RANDOM. */
  uint64_t rng_seed;
  uint64_t rng_offset;

  /* Scratch memory of `device`, 64-byte aligned: on the cpu valid until the kernel returns, elsewhere
   * until the stream has passed what the kernel put on it. NULL when there is none left. */
  void *(*workspace)(wry_context *context, size_t bytes);

  /* For an output whose shape depends on the data (its meta has an unknown size): gives it memory
   * and sets call->outputs[index]. Returns the data pointer or NULL when there is no memory. */
  void *(*allocate_output)(wry_context *context, int32_t index, int32_t rank, const int64_t *shape);

  char error[WRY_ERROR_SIZE];
  void *caller; /* belongs to the caller */
};

/* An input that the call leaves out is a NULL pointer. Outputs are allocated, contiguous and
 * uninitialised, unless the kernel has WRY_STRIDED_OUTPUT. */
typedef struct wry_call {
  const wry_tensor *const *inputs;
  wry_tensor *const *outputs;
  const wry_attr *attrs;
  wry_context *context;
  int32_t n_inputs;
  int32_t n_outputs;
  int32_t n_attrs;
  int32_t reserved;
  const void *data; /* that of the kernel's row in its table */
} wry_call;

typedef int (*wry_kernel)(const wry_call *call);

typedef enum wry_flags {
  WRY_WANTS_CONTIGUOUS = 1,   /* every input is made contiguous before the call */
  WRY_MAY_ALIAS = 2,          /* output i may be the very memory of input i (same shape, dtype, strides) */
  WRY_STRIDED_OUTPUT = 4,     /* outputs may be strided (an in-place write into a view) */
  WRY_USES_RANDOM = 8,        /* draws from rng_seed, rng_offset */
  WRY_TAKES_HOST_SCALARS = 16 /* inputs of rank 0 may be the host's (device WRY_CPU): read them in the call.
                                 Without it the caller copies them to the device first. */
} wry_flags;

/* A row of a kernel table. `dtype` is that of the first input that is present, or of the first
 * output where the op has no inputs; -1 serves every dtype that has no row of its own. */
typedef struct wry_kernel_entry {
  const char *op;
  int32_t dtype;
  uint32_t flags;
  wry_kernel kernel;
  const void *data; /* comes back as call->data: one function may serve many rows */
} wry_kernel_entry;

/* An op that a package brings: what `op(...)` and `infer` of wherry_tensor.ops.declare say in Python.
 * Once it is registered it is called, recorded and captured like one of the vocabulary. */
typedef struct wry_meta {
  int32_t dtype;
  int32_t rank;
  int64_t shape[WRY_MAX_RANK]; /* -1: unknown */
} wry_meta;

/* The shape rule: fills `outputs` from `inputs` (NULL: absent) and attributes, without data. Returns a
 * status with its text in error[WRY_ERROR_SIZE]. Needs no Python. */
typedef int (*wry_infer)(const wry_meta *const *inputs, int32_t n_inputs, const wry_attr *attrs, int32_t n_attrs,
                         wry_meta *outputs, int32_t n_outputs, char *error);

typedef struct wry_op_entry {
  const char *name;
  const char *inputs;  /* "x, weight, bias?, *rest": ? may be absent, * any number */
  const char *attrs;   /* "axis=int, keepdim=bool": int, bool, float, str, tuple, dtype or scalar; NULL: none */
  const char *outputs; /* "values, indices"; NULL: one, called out */
  wry_infer infer;
  uint32_t flags; /* 0 so far */
  uint32_t reserved;
} wry_op_entry;

struct wry_device; /* wherry/device.h */

/* Found in the capsule `wherry_tensor._core.host` under the name "wherry.host". All functions need the
 * GIL; they return 0, or -1 with a Python exception set. Struct sizes are those of the caller. */
typedef struct wry_host {
  int32_t abi_version;
  int32_t oldest; /* plug-ins compiled for abi versions from here on are served */
  size_t size;    /* sizeof(wry_host) of the core: later functions may be missing in an older one */
  int (*register_kernels)(const char *device, const wry_kernel_entry *entries, size_t count, size_t entry_size);
  int (*register_device)(const struct wry_device *device);
  int (*register_ops)(const wry_op_entry *entries, size_t count, size_t entry_size);
  /* The row that serves `op` for `dtype` (or -1) on `device`, into `found`; 1 when there is none. */
  int (*find_kernel)(const char *device, const char *op, int32_t dtype, wry_kernel_entry *found, size_t entry_size);
} wry_host;

/* Does this core serve plug-ins that were compiled with this header? */
static inline int wry_host_serves(const wry_host *host) {
  return host->oldest <= WRY_ABI_VERSION && WRY_ABI_VERSION <= host->abi_version;
}

#ifdef __cplusplus
}
#endif
#endif /* WHERRY_ABI_H */
