/* What the loader of plug-ins offers to its Python side, which calls it with ctypes. */
#ifndef WHERRY_EXTENSION_PLUGIN_H
#define WHERRY_EXTENSION_PLUGIN_H

#include <stdint.h>

#include "paddle/phi/api/ext/kernels.h"
#include "wherry/device.h"

#if defined(_WIN32)
#define WPLUG_API __declspec(dllexport)
#else
#define WPLUG_API __attribute__((visibility("default")))
#endif

typedef struct wplug wplug; /* a library */

/* Loads a library. Gives 0, or -1 with a text in error[WRY_ERROR_SIZE]. A library that cannot be used stays loaded: its code may
 * already run in threads of its own. */
WPLUG_API int wplug_open(const char *path, wplug **out, char *error);
/* What the library calls its devices; NULL where it has kernels alone. Then start gets the devices ready. */
WPLUG_API const char *wplug_device_type(const wplug *plugin);
WPLUG_API const char *wplug_sub_device_type(const wplug *plugin);
WPLUG_API int wplug_start(wplug *plugin, char *error);
WPLUG_API const wry_device *wplug_device(wplug *plugin);
WPLUG_API const wext_kernels *wplug_kernels(const wplug *plugin); /* NULL: none */
/* Of its kernels and devices, for people: compute capability, run time, driver; 0: it does not tell. */
WPLUG_API void wplug_versions(wplug *plugin, uint64_t *versions);
/* At exit: waits, gives memory back, and lets the plug-ins go. Afterwards their devices refuse everything. */
WPLUG_API void wplug_finish(void);

/* A call of the vocabulary as calls of the plug-in's kernels, made for one plan. Tensors of the kernels are inputs of the call, its
 * outputs, or memory for the time of the call. */
enum { WPLUG_INPUT = 0,
       WPLUG_OUTPUT = 1,
       WPLUG_TEMPORARY = 2,
       WPLUG_ABSENT = 3 };

typedef struct wplug_step {
  /* NULL: fills tensor 0 with zeros if there is no other; copies tensor 0, which has `strides`, into tensor 1 of the same shape;
   * without strides gives one number, float32 or float64, which may be the host's, another dtype. */
  const wext_kernel *kernel;
  const wext_value *values; /* their tensors lie in `tensors` one after the other */
  const wext_tensor *tensors;
  const int32_t *from;  /* of each tensor: where its memory is, */
  const int32_t *index; /* and which of these */
  const int64_t *strides;
  int32_t n_values, n_tensors;
} wplug_step;

typedef struct wplug_program {
  wplug *plugin;
  const char *op;
  const wplug_step *steps;
  const int64_t *temporaries; /* bytes of each */
  int32_t n_steps, n_temporaries;
} wplug_program;

/* wry_kernels. */
WPLUG_API int wplug_run(const wry_call *call);  /* call->data is a wplug_program */
WPLUG_API int wplug_copy(const wry_call *call); /* the ops copy, full and full_like; call->data is a wplug */
WPLUG_API int wplug_full(const wry_call *call);

#endif
