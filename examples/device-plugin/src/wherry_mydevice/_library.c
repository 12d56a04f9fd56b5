/* The device, in plain C: memory, copies and kernels, handed to the core as wherry/device.h and wherry/abi.h say.
 *
 * "Device memory" here is memory of the host that only this file touches, and work is done when a call returns. A driver's
 * calls belong where malloc, memcpy and the loops of the kernels stand; what has no kernel decomposes into what has one, or is
 * computed on the cpu. Python appears in the last function only. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wherry/device.h"

#define DEVICES 2 /* a driver is asked how many there are */

/* Memory. */

static _Atomic int64_t in_use[DEVICES]; /* calls come from any thread */
static const int64_t capacity = (int64_t)1 << 30;

static int allocate(void *self, int32_t number, size_t bytes, void *stream, void **out, char *error) {
  (void)self, (void)stream;
  const size_t rounded = (bytes + 64) / 64 * 64;
  *out = in_use[number] + (int64_t)rounded > capacity ? NULL : aligned_alloc(64, rounded);
  if (*out == NULL) {
    snprintf(error, WRY_ERROR_SIZE, "mydevice:%d is out of memory. Got a request for %zu bytes, expected at most %lld. Free tensors.",
             (int)number, bytes, (long long)(capacity - in_use[number]));
    return WRY_OUT_OF_MEMORY;
  }
  in_use[number] += (int64_t)rounded;
  return WRY_OK;
}

static void release(void *self, int32_t number, void *data, size_t bytes, void *stream) {
  (void)self, (void)stream;
  in_use[number] -= (int64_t)((bytes + 64) / 64 * 64);
  free(data);
}

static int memory(void *self, int32_t number, int64_t *total, int64_t *available) {
  (void)self;
  *total = capacity;
  *available = capacity - in_use[number];
  return WRY_OK;
}

/* Copies. `kind` says which of the two addresses is the device's. */

static int copy(void *self, int32_t number, int32_t kind, void *to, const void *from, size_t bytes, void *stream, char *error) {
  (void)self, (void)number, (void)kind, (void)stream, (void)error;
  if (bytes) memcpy(to, from, bytes);
  return WRY_OK;
}

static int fill(void *self, int32_t number, void *to, size_t count, const void *item, size_t item_bytes, void *stream, char *error) {
  (void)self, (void)number, (void)stream, (void)error;
  for (size_t i = 0; i < count; ++i) memcpy((char *)to + i * item_bytes, item, item_bytes);
  return WRY_OK;
}

static const int64_t bytes_of[WRY_NUM_DTYPES] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

static void copy_axes(char *to, const int64_t *to_steps, const char *from, const int64_t *from_steps, const int64_t *shape,
                      int32_t rank, int64_t bytes) {
  if (rank == 0) {
    memcpy(to, from, (size_t)bytes);
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i)
    copy_axes(to + i * to_steps[0] * bytes, to_steps + 1, from + i * from_steps[0] * bytes, from_steps + 1, shape + 1, rank - 1, bytes);
}

static int strided_copy(void *self, int32_t number, const wry_tensor *to, const wry_tensor *from, void *stream, char *error) {
  (void)self, (void)number, (void)stream, (void)error;
  if (to->size) copy_axes(to->data, to->strides, from->data, from->strides, to->shape, to->rank, bytes_of[to->dtype]);
  return WRY_OK;
}

static int synchronize(void *self, int32_t number, void *stream, char *error) {
  (void)self, (void)number, (void)stream, (void)error;
  return WRY_OK;
}

/* Kernels. Inputs may have any strides, and shapes that broadcast to the output's; outputs are contiguous. */

/* Where element `index` of a shape stands in `x`, whose axes are aligned with the last ones of that shape. */
static int64_t place(const wry_tensor *x, int32_t x_rank, const int64_t *shape, int32_t rank, int64_t index) {
  int64_t at = 0;
  for (int32_t axis = rank - 1; axis >= 0; --axis) {
    const int32_t own = axis - (rank - x_rank);
    if (own >= 0 && x->shape[own] != 1) at += index % shape[axis] * x->strides[own];
    index /= shape[axis];
  }
  return at;
}

#define BINARY(NAME, T, EXPRESSION)                                                       \
  static int NAME(const wry_call *call) {                                                 \
    const wry_tensor *x = call->inputs[0], *y = call->inputs[1], *out = call->outputs[0]; \
    for (int64_t i = 0; i < out->size; ++i) {                                             \
      const T a = ((const T *)x->data)[place(x, x->rank, out->shape, out->rank, i)];      \
      const T b = ((const T *)y->data)[place(y, y->rank, out->shape, out->rank, i)];      \
      ((T *)out->data)[i] = EXPRESSION;                                                   \
    }                                                                                     \
    return WRY_OK;                                                                        \
  }

/* matmul(x, y, transpose_x, transpose_y). A vector is a row on the left and a column on the right; the other axes are a batch. */
#define MATMUL(NAME, T)                                                                                                       \
  static int NAME(const wry_call *call) {                                                                                     \
    const wry_tensor *x = call->inputs[0], *y = call->inputs[1], *out = call->outputs[0];                                     \
    const int tx = x->rank > 1 && call->attrs[0].value.i, ty = y->rank > 1 && call->attrs[1].value.i;                         \
    const int64_t *xs = x->strides + (x->rank > 1 ? x->rank - 2 : 0), *ys = y->strides + (y->rank > 1 ? y->rank - 2 : 0);     \
    const int64_t x_row = x->rank > 1 ? xs[tx] : 0, x_sum = x->rank > 1 ? xs[!tx] : xs[0];                                    \
    const int64_t y_sum = y->rank > 1 ? ys[ty] : ys[0], y_column = y->rank > 1 ? ys[!ty] : 0;                                 \
    const int64_t length = x->shape[x->rank > 1 ? x->rank - 2 + !tx : 0];                                                     \
    const int32_t batch_rank = out->rank - (x->rank > 1) - (y->rank > 1);                                                     \
    const int64_t rows = x->rank > 1 ? out->shape[batch_rank] : 1, columns = y->rank > 1 ? out->shape[out->rank - 1] : 1;     \
    T *to = out->data;                                                                                                        \
    for (int64_t batch = 0; out->size && batch < out->size / (rows * columns); ++batch) {                                     \
      const T *a = (const T *)x->data + place(x, x->rank > 1 ? x->rank - 2 : 0, out->shape, batch_rank, batch);               \
      const T *b = (const T *)y->data + place(y, y->rank > 1 ? y->rank - 2 : 0, out->shape, batch_rank, batch);               \
      for (int64_t i = 0; i < rows; ++i)                                                                                      \
        for (int64_t j = 0; j < columns; ++j) {                                                                               \
          double sum = 0;                                                                                                     \
          for (int64_t k = 0; k < length; ++k) sum += (double)a[i * x_row + k * x_sum] * (double)b[k * y_sum + j * y_column]; \
          *to++ = (T)sum;                                                                                                     \
        }                                                                                                                     \
    }                                                                                                                         \
    return WRY_OK;                                                                                                            \
  }

BINARY(add_f32, float, a + b)
BINARY(add_f64, double, a + b)
BINARY(subtract_f32, float, a - b)
BINARY(subtract_f64, double, a - b)
BINARY(multiply_f32, float, a *b)
BINARY(multiply_f64, double, a *b)
BINARY(divide_f32, float, a / b)
BINARY(divide_f64, double, a / b)
MATMUL(matmul_f32, float)
MATMUL(matmul_f64, double)

static int copy_any(const wry_call *call) {
  return strided_copy(NULL, 0, call->outputs[0], call->inputs[0], NULL, call->context->error);
}

static const wry_kernel_entry kernels[] = {
    {"add", WRY_FLOAT32, 0, add_f32, NULL},
    {"add", WRY_FLOAT64, 0, add_f64, NULL},
    {"subtract", WRY_FLOAT32, 0, subtract_f32, NULL},
    {"subtract", WRY_FLOAT64, 0, subtract_f64, NULL},
    {"multiply", WRY_FLOAT32, 0, multiply_f32, NULL},
    {"multiply", WRY_FLOAT64, 0, multiply_f64, NULL},
    {"divide", WRY_FLOAT32, 0, divide_f32, NULL},
    {"divide", WRY_FLOAT64, 0, divide_f64, NULL},
    {"matmul", WRY_FLOAT32, 0, matmul_f32, NULL},
    {"matmul", WRY_FLOAT64, 0, matmul_f64, NULL},
    {"copy", -1, WRY_STRIDED_OUTPUT, copy_any, NULL},
};

static const wry_device device = {
    .size = sizeof(wry_device), /* so that a core of a later version knows what is here */
    .name = "mydevice",
    .count = DEVICES,
    .allocate = allocate,
    .free = release,
    .copy = copy,
    .fill = fill,
    .strided_copy = strided_copy,
    .synchronize = synchronize,
    .memory = memory,
};

/* The module: register(host) with the capsule wherry_tensor._core.host. */

static PyObject *register_device(PyObject *module, PyObject *capsule) {
  (void)module;
  const wry_host *host = PyCapsule_GetPointer(capsule, "wherry.host");
  if (host == NULL) return NULL;
  if (!wry_host_serves(host))
    return PyErr_Format(PyExc_ImportError,
                        "wherry_mydevice was compiled for another kernel ABI. Got version %d, expected %d to %d. Install the "
                        "release of wherry-mydevice that belongs to this wherry-tensor.",
                        WRY_ABI_VERSION, (int)host->oldest, (int)host->abi_version);
  if (host->register_device(&device) != 0) return NULL;
  if (host->register_kernels(device.name, kernels, sizeof kernels / sizeof kernels[0], sizeof kernels[0]) != 0) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"register", register_device, METH_O, "Hand the device and its kernels to the core whose capsule `host` this is."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_library", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit__library(void) { return PyModule_Create(&definition); }
