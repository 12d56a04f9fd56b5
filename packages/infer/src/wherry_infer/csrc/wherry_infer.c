/* The C interface over the Python package: each call takes the interpreter, calls a method, and turns what comes back. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "wherry_infer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The structs that callers hold are the Python objects themselves. */
#define OBJECT(x) ((PyObject *)(x))

static _Thread_local char last_error[2048];

static void start(void) {
  if (Py_IsInitialized()) return;
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0; /* they stay with the program */
  /* An active virtual environment is found by its own interpreter's path, as if that had been started. */
  const char *environment = getenv("VIRTUAL_ENV");
  char interpreter[4096];
  PyStatus status = PyStatus_Ok();
  if (environment && *environment && snprintf(interpreter, sizeof interpreter, "%s/bin/python", environment) < (int)sizeof interpreter)
    status = PyConfig_SetBytesString(&config, &config.program_name, interpreter);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) Py_ExitStatusException(status); /* says on stderr what the interpreter lacks */
  PyEval_SaveThread();                                            /* so that any thread may take the interpreter */
}

/* Takes the interpreter; the first thread that comes starts it, others wait until it has. */
static PyGILState_STATE enter(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
  return PyGILState_Ensure();
}

/* Keeps the exception as text. Called with the interpreter. */
static void note_error(void) {
  PyObject *type, *value, *trace, *text;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  text = value ? PyObject_Str(value) : NULL;
  const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
  snprintf(last_error, sizeof last_error, "%s: %s", type ? ((PyTypeObject *)type)->tp_name : "error", utf8 ? utf8 : "no text");
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

static PyObject *module_member(const char *name) {
  PyObject *module = PyImport_ImportModule("wherry_infer");
  PyObject *member = module ? PyObject_GetAttrString(module, name) : NULL;
  Py_XDECREF(module);
  return member;
}

/* Is there an object? If not, an error stands. */
static bool given_object(const void *x, const char *what) {
  if (x == NULL) PyErr_Format(PyExc_ValueError, "%s is missing. Got NULL, expected what the call before gave. Look at its error.", what);
  return x != NULL;
}

/* Calls x.name(*args) and takes the reference of args (NULL: an error stands already). */
static PyObject *call(PyObject *x, const char *name, PyObject *args) {
  if (args && !given_object(x, "the object")) {
    Py_DECREF(args);
    return NULL;
  }
  PyObject *method = args ? PyObject_GetAttrString(x, name) : NULL;
  PyObject *result = method ? PyObject_CallObject(method, args) : NULL;
  Py_XDECREF(method);
  Py_XDECREF(args);
  return result;
}

/* For calls without a result. */
static bool done(PyObject *result) {
  if (result == NULL) {
    note_error();
    return false;
  }
  Py_DECREF(result);
  return true;
}

static void *given(PyObject *result) {
  if (result == NULL) note_error();
  return result;
}

static void let_go(void *x) {
  if (x == NULL) return;
  PyGILState_STATE state = enter();
  Py_DECREF(OBJECT(x));
  PyGILState_Release(state);
}

const char *PD_GetLastError(void) { return last_error; }

const char *PD_GetVersion(void) {
  static char version[64];
  PyGILState_STATE state = enter();
  PyObject *text = module_member("__version__");
  const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
  if (utf8 == NULL) note_error();
  snprintf(version, sizeof version, "%s", utf8 ? utf8 : "");
  Py_XDECREF(text);
  PyGILState_Release(state);
  return version;
}

/* Configurations. */

PD_Config *PD_ConfigCreate(void) {
  PyGILState_STATE state = enter();
  PyObject *kind = module_member("Config");
  PyObject *config = given(kind ? PyObject_CallNoArgs(kind) : NULL);
  Py_XDECREF(kind);
  PyGILState_Release(state);
  return (PD_Config *)config;
}

void PD_ConfigDestroy(PD_Config *config) { let_go(config); }

bool PD_ConfigSetModel(PD_Config *config, const char *program_file, const char *params_file) {
  PyGILState_STATE state = enter();
  bool ok = done(call(OBJECT(config), "set_model", Py_BuildValue("(ss)", program_file, params_file)));
  PyGILState_Release(state);
  return ok;
}

bool PD_ConfigSetModelDir(PD_Config *config, const char *folder) {
  PyGILState_STATE state = enter();
  bool ok = done(call(OBJECT(config), "set_model", Py_BuildValue("(s)", folder)));
  PyGILState_Release(state);
  return ok;
}

bool PD_ConfigSetModelBuffer(PD_Config *config, const char *program, size_t program_size, const char *params, size_t params_size) {
  PyGILState_STATE state = enter();
  PyObject *args = Py_BuildValue("(y#ny#n)", program, (Py_ssize_t)program_size, (Py_ssize_t)program_size, params, (Py_ssize_t)params_size,
                                 (Py_ssize_t)params_size);
  bool ok = done(call(OBJECT(config), "set_model_buffer", args));
  PyGILState_Release(state);
  return ok;
}

bool PD_ConfigSetCpuMathLibraryNumThreads(PD_Config *config, int32_t threads) {
  PyGILState_STATE state = enter();
  bool ok = done(call(OBJECT(config), "set_cpu_math_library_num_threads", Py_BuildValue("(i)", (int)threads)));
  PyGILState_Release(state);
  return ok;
}

bool PD_ConfigSwitchIrOptim(PD_Config *config, PD_Bool on) {
  PyGILState_STATE state = enter();
  bool ok = done(call(OBJECT(config), "switch_ir_optim", Py_BuildValue("(i)", (int)on)));
  PyGILState_Release(state);
  return ok;
}

bool PD_ConfigEnableUseGpu(PD_Config *config, uint64_t memory_pool_init_size_mb, int32_t device_id, PD_PrecisionType precision) {
  PyGILState_STATE state = enter();
  PyObject *args = Py_BuildValue("(Kii)", (unsigned long long)memory_pool_init_size_mb, (int)device_id, (int)precision);
  bool ok = done(call(OBJECT(config), "enable_use_gpu", args));
  PyGILState_Release(state);
  return ok;
}

bool PD_ConfigDisableGpu(PD_Config *config) {
  PyGILState_STATE state = enter();
  bool ok = done(call(OBJECT(config), "disable_gpu", PyTuple_New(0)));
  PyGILState_Release(state);
  return ok;
}

bool PD_ConfigUseGpu(PD_Config *config) {
  PyGILState_STATE state = enter();
  PyObject *answer = call(OBJECT(config), "use_gpu", PyTuple_New(0));
  bool asked = answer == Py_True;
  done(answer);
  PyGILState_Release(state);
  return asked;
}

/* Predictors. */

PD_Predictor *PD_PredictorCreate(PD_Config *config) {
  PyGILState_STATE state = enter();
  PyObject *create = module_member("create_predictor");
  PyObject *predictor = given(create && given_object(config, "the configuration") ? PyObject_CallOneArg(create, OBJECT(config)) : NULL);
  Py_XDECREF(create);
  PyGILState_Release(state);
  return (PD_Predictor *)predictor;
}

PD_Predictor *PD_PredictorClone(PD_Predictor *predictor) {
  PyGILState_STATE state = enter();
  PyObject *other = given(call(OBJECT(predictor), "clone", PyTuple_New(0)));
  PyGILState_Release(state);
  return (PD_Predictor *)other;
}

void PD_PredictorDestroy(PD_Predictor *predictor) { let_go(predictor); }

static PD_OneDimArrayCstr *names_of(PD_Predictor *predictor, const char *method) {
  PyGILState_STATE state = enter();
  PyObject *list = given(call(OBJECT(predictor), method, PyTuple_New(0)));
  PD_OneDimArrayCstr *out = list ? calloc(1, sizeof *out) : NULL;
  if (out) {
    Py_ssize_t n = PyList_GET_SIZE(list);
    out->data = calloc(n ? (size_t)n : 1, sizeof *out->data);
    for (Py_ssize_t i = 0; out->data && i < n; i++) {
      const char *name = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
      out->data[i] = name ? malloc(strlen(name) + 1) : NULL;
      if (out->data[i] == NULL) break;
      strcpy(out->data[i], name);
      out->size++;
    }
  }
  Py_XDECREF(list);
  PyErr_Clear();
  PyGILState_Release(state);
  return out;
}

PD_OneDimArrayCstr *PD_PredictorGetInputNames(PD_Predictor *predictor) { return names_of(predictor, "get_input_names"); }

PD_OneDimArrayCstr *PD_PredictorGetOutputNames(PD_Predictor *predictor) { return names_of(predictor, "get_output_names"); }

static PD_Tensor *handle_of(PD_Predictor *predictor, const char *method, const char *name) {
  PyGILState_STATE state = enter();
  PyObject *tensor = given(call(OBJECT(predictor), method, Py_BuildValue("(s)", name)));
  PyGILState_Release(state);
  return (PD_Tensor *)tensor;
}

PD_Tensor *PD_PredictorGetInputHandle(PD_Predictor *predictor, const char *name) { return handle_of(predictor, "get_input_handle", name); }

PD_Tensor *PD_PredictorGetOutputHandle(PD_Predictor *predictor, const char *name) {
  return handle_of(predictor, "get_output_handle", name);
}

bool PD_PredictorRun(PD_Predictor *predictor) {
  PyGILState_STATE state = enter();
  bool ok = done(call(OBJECT(predictor), "run", PyTuple_New(0)));
  PyGILState_Release(state);
  return ok;
}

/* Handles. */

void PD_TensorDestroy(PD_Tensor *tensor) { let_go(tensor); }

bool PD_TensorReshape(PD_Tensor *tensor, size_t rank, const int32_t *shape) {
  PyGILState_STATE state = enter();
  PyObject *sizes = rank == 0 || given_object(shape, "the shape") ? PyList_New((Py_ssize_t)rank) : NULL;
  for (size_t i = 0; sizes && i < rank; i++) PyList_SET_ITEM(sizes, (Py_ssize_t)i, PyLong_FromLong(shape[i]));
  bool ok = done(call(OBJECT(tensor), "reshape", sizes ? Py_BuildValue("(N)", sizes) : NULL));
  PyGILState_Release(state);
  return ok;
}

PD_OneDimArrayInt32 *PD_TensorGetShape(PD_Tensor *tensor) {
  PyGILState_STATE state = enter();
  PyObject *list = given(call(OBJECT(tensor), "shape", PyTuple_New(0)));
  PD_OneDimArrayInt32 *out = list ? calloc(1, sizeof *out) : NULL;
  if (out) {
    out->size = (size_t)PyList_GET_SIZE(list);
    out->data = calloc(out->size ? out->size : 1, sizeof *out->data);
    for (size_t i = 0; out->data && i < out->size; i++) out->data[i] = (int32_t)PyLong_AsLong(PyList_GET_ITEM(list, (Py_ssize_t)i));
  }
  Py_XDECREF(list);
  PyErr_Clear();
  PyGILState_Release(state);
  return out;
}

PD_DataType PD_TensorGetDataType(PD_Tensor *tensor) {
  PyGILState_STATE state = enter();
  PyObject *kind = given(call(OBJECT(tensor), "type", PyTuple_New(0)));
  long value = kind ? PyLong_AsLong(kind) : -1;
  Py_XDECREF(kind);
  PyErr_Clear();
  PyGILState_Release(state);
  return value >= PD_DATA_FLOAT32 && value <= PD_DATA_INT8 ? (PD_DataType)value : PD_DATA_UNK;
}

/* The bytes go through a memoryview: nothing is copied on the way to the package, which makes its own copy. */
static bool copy_in(PD_Tensor *tensor, const void *data, const char *dtype) {
  PyGILState_STATE state = enter();
  PyObject *filled = given_object(tensor, "the tensor") && given_object(data, "the data") ? module_member("native") : NULL;
  PyObject *count = filled ? call(filled, "bytes_of", Py_BuildValue("(Os)", OBJECT(tensor), dtype)) : NULL;
  Py_ssize_t bytes = count ? PyLong_AsSsize_t(count) : -1;
  PyObject *view = bytes >= 0 ? PyMemoryView_FromMemory((char *)data, bytes, PyBUF_READ) : NULL;
  bool ok = done(view ? call(filled, "fill", Py_BuildValue("(OsN)", OBJECT(tensor), dtype, view)) : NULL);
  Py_XDECREF(count);
  Py_XDECREF(filled);
  PyGILState_Release(state);
  return ok;
}

static bool copy_out(PD_Tensor *tensor, void *data, const char *dtype) {
  PyGILState_STATE state = enter();
  PyObject *native = given_object(tensor, "the tensor") && given_object(data, "the data") ? module_member("native") : NULL;
  PyObject *found = native ? call(native, "contents", Py_BuildValue("(Os)", OBJECT(tensor), dtype)) : NULL;
  Py_buffer buffer;
  bool ok = found != NULL && PyObject_GetBuffer(found, &buffer, PyBUF_C_CONTIGUOUS) == 0;
  if (ok) {
    memcpy(data, buffer.buf, (size_t)buffer.len);
    PyBuffer_Release(&buffer);
  } else {
    note_error();
  }
  Py_XDECREF(found);
  Py_XDECREF(native);
  PyGILState_Release(state);
  return ok;
}

bool PD_TensorCopyFromCpuFloat(PD_Tensor *tensor, const float *data) { return copy_in(tensor, data, "float32"); }
bool PD_TensorCopyFromCpuInt64(PD_Tensor *tensor, const int64_t *data) { return copy_in(tensor, data, "int64"); }
bool PD_TensorCopyFromCpuInt32(PD_Tensor *tensor, const int32_t *data) { return copy_in(tensor, data, "int32"); }
bool PD_TensorCopyFromCpuUint8(PD_Tensor *tensor, const uint8_t *data) { return copy_in(tensor, data, "uint8"); }
bool PD_TensorCopyFromCpuInt8(PD_Tensor *tensor, const int8_t *data) { return copy_in(tensor, data, "int8"); }
bool PD_TensorCopyToCpuFloat(PD_Tensor *tensor, float *data) { return copy_out(tensor, data, "float32"); }
bool PD_TensorCopyToCpuInt64(PD_Tensor *tensor, int64_t *data) { return copy_out(tensor, data, "int64"); }
bool PD_TensorCopyToCpuInt32(PD_Tensor *tensor, int32_t *data) { return copy_out(tensor, data, "int32"); }
bool PD_TensorCopyToCpuUint8(PD_Tensor *tensor, uint8_t *data) { return copy_out(tensor, data, "uint8"); }
bool PD_TensorCopyToCpuInt8(PD_Tensor *tensor, int8_t *data) { return copy_out(tensor, data, "int8"); }

/* Lists. */

void PD_OneDimArrayCstrDestroy(PD_OneDimArrayCstr *array) {
  if (array == NULL) return;
  for (size_t i = 0; i < array->size; i++) free(array->data[i]);
  free(array->data);
  free(array);
}

void PD_OneDimArrayInt32Destroy(PD_OneDimArrayInt32 *array) {
  if (array == NULL) return;
  free(array->data);
  free(array);
}
