// What crosses between a library of custom operators and the framework: C structs and functions, nothing of C++.
//
// A library exports `wherry_extension`, which the framework calls once with the functions it offers, and gets the table of
// operators. The kernels are those of wherry/abi.h: they find their operator in call->data.
#pragma once

#include "wherry/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEXT_VERSION 2

// A contiguous tensor, or none where dtype is -1. `owner` keeps the memory alive until wext_host.release; NULL: it belongs to somebody else.
typedef struct wext_tensor {
  void *data;
  void *owner;
  int64_t shape[WRY_MAX_RANK];
  int32_t rank;
  int32_t dtype;   // wry_dtype
  int32_t device;  // as in wry_tensor
  int32_t reserved;
} wext_tensor;

typedef enum wext_kind {
  WEXT_NONE = 0,
  WEXT_INT = 1,
  WEXT_FLOAT = 2,
  WEXT_BOOL = 3,
  WEXT_STRING = 4,
  WEXT_INTS = 5,
  WEXT_TENSOR = 6,
  WEXT_TENSORS = 7,
  WEXT_DTYPE = 8,    // a wry_dtype in `i`
  WEXT_FLOATS = 9,   // doubles, whose bits are in `ints`
  WEXT_STRINGS = 10  // in `s`, each on a line of its own
} wext_kind;

typedef struct wext_arg {
  int32_t kind;
  int32_t count;
  int64_t i;
  double f;
  const char *s;
  const int64_t *ints;
  const wext_tensor *tensors;
} wext_arg;

typedef struct wext_host {
  size_t size;
  // Applies a function of the framework, by its name. Gives the number of results, or -1 with a text in error[WRY_ERROR_SIZE].
  int (*call)(const char *function, const wext_arg *args, int32_t n_args, wext_tensor *results, int32_t room, char *error);
  void (*release)(void *owner);
  // Copies memory from one device to another (codes as in wry_tensor) and waits for it.
  int (*copy)(void *to, int32_t to_device, const void *from, int32_t from_device, size_t bytes, char *error);
  // "gpu" for its code; NULL for a code that stands for nothing.
  const char *(*device_name)(int32_t device);
  int32_t (*device_code)(const char *name, int32_t number);  // -1: there is none
} wext_host;

typedef struct wext_op {
  size_t size;
  const char *name;
  int32_t order;  // 0: forward, 1: gradient, 2: gradient of the gradient
  int32_t n_inputs, n_outputs, n_attrs;
  const char *const *inputs;  // as the builder was told; lists end in "@VECTOR", what may be left out in "@OPTIONAL" (and "@GRAD")
  const char *const *outputs;
  const char *const *attrs;  // "axis: int64_t"
  wry_kernel kernel;         // NULL: SetKernelFn was not called
  const void *data;          // belongs into the kernel's row
  int32_t has_shape, has_dtype;
  int32_t n_params, n_attr_params;  // tensors and attributes that the kernel function takes
  const char *file;                 // where it is built
  int32_t line;
  int32_t takes_attrs;  // the shape or the dtype function does: the first ones
  // Shapes and dtypes of all outputs. Inputs that belong to lists stand one after the other; `lengths` has one number for each
  // declared input. Gives the number of results, or -1 with a text in error[WRY_ERROR_SIZE].
  int (*infer)(const void *data, const wry_meta *inputs, const int64_t *lengths, const wry_attr *attrs, wry_meta *results,
               int32_t room, char *error);
  const int32_t *in_place;    // for each output, which input becomes it, or -1; NULL: none does
  int32_t n_in_place_params;  // inputs that the kernel function writes
  int32_t n_output_params;    // outputs that it takes as pointers
  const char *problem;        // what the builder was told and cannot be; NULL: nothing
} wext_op;

typedef struct wext_library {
  int32_t version;  // WEXT_VERSION
  int32_t abi;      // WRY_ABI_VERSION
  int32_t count;
  int32_t reserved;
  const wext_op *const *ops;
} wext_library;

#ifdef __cplusplus
}
#endif
