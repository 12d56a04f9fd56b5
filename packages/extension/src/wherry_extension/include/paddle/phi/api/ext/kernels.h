// What crosses between the framework and a library with kernels for a device: C structs and functions, nothing of C++.
//
// A library exports `wherry_plugin_kernels`, which gives the table of its kernels. A kernel is called with values for its
// parameters, in their order and of the kinds that the table says.
#pragma once

#include "paddle/phi/api/ext/host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEXT_KERNELS_VERSION 1

// What a parameter of a kernel is.
typedef enum wext_param {
  WEXT_P_TENSOR = 0,      // const DenseTensor &
  WEXT_P_OPTIONAL = 1,    // const paddle::optional<DenseTensor> &
  WEXT_P_TENSORS = 2,     // const std::vector<const DenseTensor *> &
  WEXT_P_OUTPUT = 3,      // DenseTensor *
  WEXT_P_OUTPUTS = 4,     // std::vector<DenseTensor *>
  WEXT_P_BOOL = 5,        // in `i`
  WEXT_P_INT32 = 6,       // in `i`
  WEXT_P_INT64 = 7,       // in `i`
  WEXT_P_FLOAT = 8,       // in `f`
  WEXT_P_DOUBLE = 9,      // in `f`
  WEXT_P_STRING = 10,     // in `s`
  WEXT_P_SCALAR = 11,     // in `i` (count 0) or `f` (count 1)
  WEXT_P_INT_ARRAY = 12,  // in `ints`, as all lists of whole numbers
  WEXT_P_DTYPE = 13,      // a wry_dtype in `i`, -1: undefined
  WEXT_P_LAYOUT = 14,     // "NCHW" in `s`
  WEXT_P_PLACE = 15,      // that of the call
  WEXT_P_BOOLS = 16,
  WEXT_P_INTS = 17,
  WEXT_P_INT64S = 18,
  WEXT_P_FLOATS = 19,   // in `floats`
  WEXT_P_DOUBLES = 20,  // in `floats`
  WEXT_P_STRINGS = 21,  // in `strings`
  WEXT_P_SCALARS = 22,  // in `floats`
  WEXT_P_OTHER = 23     // something else: the kernel compiles and is never called
} wext_param;

// In host memory although the rest is on the device: such kernels are not called either.
#define WEXT_P_HOST 256

typedef enum wext_copy {  // as wry_copy_kind
  WEXT_TO_DEVICE = 0,
  WEXT_TO_HOST = 1,
  WEXT_WITHIN_DEVICE = 2
} wext_copy;

typedef struct wext_value {
  int32_t kind;   // wext_param
  int32_t count;  // of what a list holds; of tensors: 0, absent, or 1, but for lists
  int64_t i;
  double f;
  const char *s;
  const int64_t *ints;
  const double *floats;
  const char *const *strings;
  wext_tensor *tensors;  // contiguous memory of the device
} wext_value;

// One call. The functions are the framework's; they fail with a status and a text in `error`.
typedef struct wext_launch wext_launch;
struct wext_launch {
  size_t size;
  const wext_value *values;
  int32_t count;
  int32_t device;                                                                            // as in wry_tensor
  const char *device_type;                                                                   // "CustomCPU"
  void *stream;                                                                              // the plug-in's C_Stream
  uint64_t seed, offset;                                                                     // as in wry_context
  void *(*allocate)(wext_launch *launch, size_t bytes);                                      // memory of the device, until the stream has passed this call; NULL: none left
  int (*wait)(wext_launch *launch);                                                          // until the stream has passed all before
  int (*copy)(wext_launch *launch, int32_t kind, void *to, const void *from, size_t bytes);  // wext_copy
  void *caller;
  char error[WRY_ERROR_SIZE];
  const struct wext_kernel *kernel;  // the one that is called
};

typedef struct wext_kernel {
  size_t size;
  const char *name;    // "add"
  const char *device;  // "CustomCPU"
  int32_t dtype;       // wry_dtype, -1: one that tensors do not have
  int32_t layout;      // phi::DataLayout
  int32_t n_params;    // without the context
  int32_t line;
  const int32_t *params;
  int (*run)(wext_launch *launch);  // a wry_status
  const char *file;
} wext_kernel;

typedef struct wext_kernels {
  int32_t version;  // WEXT_KERNELS_VERSION
  int32_t count;
  const wext_kernel *const *kernels;
} wext_kernels;

#ifdef __cplusplus
}
#endif
