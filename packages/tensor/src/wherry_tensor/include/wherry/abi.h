/* The kernel ABI of Wherry: what a kernel receives, what it returns, how it is registered.
 *
 * Plain C11; no C++ type and no Python object crosses this boundary, so a kernel can be written in
 * any language, run without the GIL and be called by an executor that knows no Python.
 * docs/abi.md explains it with a complete example.
 *
 * Version 1. A change that an existing binary would notice raises WRY_ABI_VERSION.
 */
#ifndef WHERRY_ABI_H
#define WHERRY_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WRY_ABI_VERSION 1
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

/* A strided block of memory. Strides count elements, not bytes, and may be zero (broadcast) or
 * negative. `size` is the product of `shape`; a tensor of rank 0 has size 1. */
typedef struct wry_tensor {
  void *data;
  const int64_t *shape;
  const int64_t *strides;
  int64_t size;
  int32_t dtype;
  int32_t rank;
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

/* What the caller offers to a running kernel. */
struct wry_context {
  int32_t abi_version;
  int32_t num_threads; /* how many threads the kernel may use; the result must not depend on it */
  void *stream;        /* the device's queue; NULL on cpu */

  /* Random numbers are counter based (Philox4x32-10): key = rng_seed, counter = rng_offset + n.
   * The caller advances rng_offset by max(1, largest output size, largest input size) after a
   * kernel that is registered with WRY_USES_RANDOM. */
  uint64_t rng_seed;
  uint64_t rng_offset;

  /* Scratch memory, 64-byte aligned, valid until the kernel returns. NULL when there is none left. */
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
} wry_call;

typedef int (*wry_kernel)(const wry_call *call);

typedef enum wry_flags {
  WRY_WANTS_CONTIGUOUS = 1, /* every input is made contiguous before the call */
  WRY_MAY_ALIAS = 2,        /* output i may be the very memory of input i (same shape, dtype, strides) */
  WRY_STRIDED_OUTPUT = 4,   /* outputs may be strided (an in-place write into a view) */
  WRY_USES_RANDOM = 8       /* draws from rng_seed, rng_offset */
} wry_flags;

/* A row of a kernel table. `dtype` is that of the first input that is present, or of the first
 * output where the op has no inputs; -1 serves every dtype that has no row of its own. */
typedef struct wry_kernel_entry {
  const char *op;
  int32_t dtype;
  uint32_t flags;
  wry_kernel kernel;
} wry_kernel_entry;

/* Found in the capsule `wherry_tensor._core.host` under the name "wherry.host". */
typedef struct wry_host {
  int32_t abi_version;
  /* Returns 0, or -1 with a Python exception set (unknown op, other ABI version). Needs the GIL. */
  int (*register_kernels)(const char *device, const wry_kernel_entry *entries, size_t count);
} wry_host;

#ifdef __cplusplus
}
#endif
#endif /* WHERRY_ABI_H */
