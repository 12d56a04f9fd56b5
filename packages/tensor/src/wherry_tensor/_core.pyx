# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# cython: embedsignature=True, embedsignature.format=clinic, auto_pickle=False
"""The core: tensors, and the dispatcher that carries a call of an op to its kernel.

From the Python call to the kernel nothing interpreted runs for an op that was called before with
inputs of the same shapes: the answer of the shape rule, the kernel and the encoded attributes are
kept in a `Plan`, found by (shapes, dtypes, attributes). So shape rules stay readable Python, and
the hot path is one hash look-up, one allocation and one call through the C ABI.

One extension module, cut into the files of core/, which are read in the order they are included.
"""
cimport cython
from threading import RLock

from cpython.buffer cimport (
    PyBUF_FORMAT, PyBUF_FULL_RO, PyBUF_ND, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_IsContiguous, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.object cimport PyObject_GenericSetAttr,  PyObject, PyTypeObject, destructor, reprfunc
from cpython.ref cimport Py_INCREF, Py_DECREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport int8_t, uint16_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset


cdef extern from "wherry/memory.h":
    wry_storage *wry_storage_new(size_t nbytes) nogil
    wry_storage *wry_storage_borrow(void *data, size_t nbytes, void *owner, void (*release)(void *) noexcept) nogil
    void wry_storage_free(wry_storage *storage) noexcept nogil
    void wry_memory_get_stats(int32_t device, wry_memory_stats *stats) noexcept nogil
    void wry_memory_reset_peak(int32_t device)
    void wry_memory_release_cache(int32_t device)
    void wry_memory_set_cache_limit(int32_t device, size_t bytes)
    void wry_memory_set_fill(int on)
    int wry_device_add(const wry_device *device)
    int wry_device_kinds() noexcept nogil
    const wry_device *wry_device_of(int32_t device) noexcept nogil
    wry_storage *wry_device_storage_new(int32_t device, size_t nbytes, void *stream, char *error) nogil
    void wry_device_used_on(wry_storage *storage, void *stream) noexcept nogil
    int wry_device_stream_create(int32_t device, int32_t priority, void **out, char *error)
    void *wry_device_pool_begin(int32_t device, void *stream)
    void wry_device_pool_end(int32_t device)
    void wry_device_pool_release(int32_t device, void *pool)
    int wry_device_capturing(int32_t device) noexcept nogil
    void wry_device_stream_release(int32_t device, void *stream)
    int wry_device_synchronize(int32_t device, char *error) nogil
    void *wry_workspace_take(size_t bytes) noexcept nogil
    int wry_workspace_mark() noexcept nogil
    void wry_workspace_reset(int mark) noexcept nogil

cdef extern from "wherry/frames.h":
    int wry_show_frames

cdef extern from *:
    """
    #include <math.h>
    /* What each thread has of its own. `outer` and `inner` are tuples of layers, NULL when idle; each
     * is a reference that the thread owns. What belongs to one call lies on that call's stack. */
    typedef struct wry_stream_choice { int32_t device; void *stream; } wry_stream_choice;
    typedef struct wry_thread {
      PyObject *outer;
      PyObject *inner;
      int grad_off;
      int32_t budget; /* threads a kernel may use; 0: the process's setting */
      int32_t device; /* where ops without inputs run; -1: the process's device */
      int32_t n_streams;
      wry_stream_choice streams[8]; /* those that are not the default one */
      int copies_later; /* copies out of memory of the host that a device reads by itself do not wait */
      PyObject *generator; /* what random ops draw from; NULL: the generator of their device. Borrowed. */
    } wry_thread;
    static __thread wry_thread wry_this_thread = {.device = -1};
    static inline wry_thread *wry_thread_state(void) {
      wry_thread *mine = &wry_this_thread;
    #if defined(__GNUC__)
      __asm__("" : "+r"(mine)); /* else the compiler asks for the address again at each use, which is a call */
    #endif
      return mine;
    }

    static inline uint64_t wry_mix(uint64_t h, uint64_t v) {
      h = (h ^ v) * 0x9E3779B97F4A7C15ull;
      return h ^ (h >> 29);
    }
    static inline uint64_t wry_bits(double f) { uint64_t u; memcpy(&u, &f, 8); return u; }
    static float wry_half_to_float(uint16_t h) {
      uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = (h >> 10) & 31, m = h & 1023, u;
      float f;
      if (e == 0) { f = (float)m * 5.9604644775390625e-8f; memcpy(&u, &f, 4); u |= sign; }
      else if (e == 31) u = sign | 0x7F800000u | (m << 13);
      else u = sign | ((e + 112) << 23) | (m << 13);
      memcpy(&f, &u, 4);
      return f;
    }
    static uint16_t wry_float_to_half(float f) { /* round to nearest even */
      uint32_t u; memcpy(&u, &f, 4);
      uint32_t sign = (u >> 16) & 0x8000; u &= 0x7FFFFFFFu;
      if (u >= 0x7F800000u) return (uint16_t)(sign | 0x7C00 | (u > 0x7F800000u ? 0x200 : 0));
      if (u >= 0x477FF000u) return (uint16_t)(sign | 0x7C00);
      if (u < 0x38800000u) { float a; memcpy(&a, &u, 4); a = a * 16777216.0f; /* exact scaling */
        return (uint16_t)(sign | (uint32_t)rintf(a)); }
      u += 0xFFF + ((u >> 13) & 1);
      return (uint16_t)(sign | ((u - 0x38000000u) >> 13));
    }
    static float wry_bfloat_to_float(uint16_t h) { uint32_t u = (uint32_t)h << 16; float f; memcpy(&f, &u, 4); return f; }
    static uint16_t wry_float_to_bfloat(float f) {
      uint32_t u; memcpy(&u, &f, 4);
      if ((u & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)((u >> 16) | 0x40);
      return (uint16_t)((u + 0x7FFF + ((u >> 16) & 1)) >> 16);
    }
    /* Any strided block into any other of the same shape; `item` bytes each. The general way, for
     * making inputs contiguous when no kernel is registered and for writes into strided views. */
    static void wry_strided_copy(char *to, const int64_t *to_steps, const char *from, const int64_t *from_steps,
                                 const int64_t *shape, int rank, int64_t item) {
      if (rank == 0) { memcpy(to, from, (size_t)item); return; }
      int64_t n = shape[0], ts = to_steps[0] * item, fs = from_steps[0] * item;
      if (rank == 1) {
        if (ts == item && fs == item) memcpy(to, from, (size_t)(n * item));
        else if (item == 4) for (int64_t i = 0; i < n; ++i) memcpy(to + i * ts, from + i * fs, 4);
        else if (item == 8) for (int64_t i = 0; i < n; ++i) memcpy(to + i * ts, from + i * fs, 8);
        else for (int64_t i = 0; i < n; ++i) memcpy(to + i * ts, from + i * fs, (size_t)item);
        return;
      }
      for (int64_t i = 0; i < n; ++i)
        wry_strided_copy(to + i * ts, to_steps + 1, from + i * fs, from_steps + 1, shape + 1, rank - 1, item);
    }
    """
    ctypedef struct wry_stream_choice:
        int32_t device
        void *stream
    ctypedef struct wry_thread:
        PyObject *outer
        PyObject *inner
        int grad_off
        int32_t budget
        int32_t device
        int32_t n_streams
        wry_stream_choice *streams
        int copies_later
        PyObject *generator
    wry_thread *wry_thread_state() noexcept nogil
    uint64_t wry_mix(uint64_t, uint64_t) noexcept nogil
    uint64_t wry_bits(double) noexcept nogil
    float wry_half_to_float(uint16_t) noexcept nogil
    uint16_t wry_float_to_half(float) noexcept nogil
    float wry_bfloat_to_float(uint16_t) noexcept nogil
    uint16_t wry_float_to_bfloat(float) noexcept nogil
    void wry_strided_copy(char *, const int64_t *, const char *, const int64_t *, const int64_t *, int, int64_t) noexcept nogil

cdef extern from "Python.h":
    ctypedef PyObject *(*vectorcallfunc)(PyObject *, PyObject *const *, size_t, PyObject *)
    size_t PyVectorcall_NARGS(size_t)
    object PyVectorcall_Call(object, object, object)
    void PyType_Modified(PyTypeObject *)
    int PyDict_SetItem(PyObject *, PyObject *, PyObject *) except -1
    int PyType_Check(object)
    int PyErr_CheckSignals() except -1
    bint PyLong_CheckExact(object)
    bint PyLong_Check(object)
    bint PyFloat_CheckExact(object)
    bint PyBool_Check(object)
    bint PyTuple_CheckExact(object)
    bint PyUnicode_CheckExact(object)
    long long PyLong_AsLongLongAndOverflow(object, int *) except? -1
    double PyFloat_AS_DOUBLE(object)
    double PyFloat_AsDouble(object) except? -1.0
    const char *PyUnicode_AsUTF8AndSize(object, Py_ssize_t *) except NULL
    object PyCapsule_New(void *, const char *, void *)
    void Py_XDECREF(PyObject *)
    PyObject *PyThreadState_GetDict()
    Py_ssize_t Py_REFCNT(object)
    void PyObject_GC_UnTrack(PyObject *)
    PyObject *PyList_GET_ITEM(object, Py_ssize_t)
    unsigned int Py_TPFLAGS_HAVE_VECTORCALL

cdef extern from *:
    """
    static void wry_enable_vectorcall(PyTypeObject *type, Py_ssize_t offset) {
      type->tp_vectorcall_offset = offset;
      type->tp_call = PyVectorcall_Call;
      type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
      PyType_Modified(type);
    }
    /* A static type refuses setattr; its dictionary takes methods all the same. */
    static int wry_type_set(PyTypeObject *type, PyObject *name, PyObject *value) {
      PyObject *dict = type->tp_dict;
      if (PyDict_SetItem(dict, name, value) < 0) return -1;
      PyType_Modified(type);
      return 0;
    }
    /* The type of the type Tensor, through which `Tensor.name = value` works as on a class written in Python.
     *
     * Of a static type Python sets no attributes: the flag says so. It stays set, because the attributes that `type` itself computes
     * (`__name__`, `__bases__`) would be written after the end of a static type, and is away only while `type` writes into the
     * dictionary, with the slots of `__add__` and its like. Nobody's code runs meanwhile: what was there before is kept until afterwards. */
    static int wry_tensor_type_set(PyObject *self, PyObject *name, PyObject *value) {
      PyTypeObject *type = (PyTypeObject *)self;
      PyObject *computed, *before;
      int status;
      if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) || !PyUnicode_Check(name)) return PyType_Type.tp_setattro(self, name, value);
      computed = _PyType_Lookup(Py_TYPE(self), name);
      if (computed && Py_TYPE(computed)->tp_descr_set) return PyType_Type.tp_setattro(self, name, value);  /* refuses */
      before = PyDict_GetItemWithError(type->tp_dict, name);
      if (!before && PyErr_Occurred()) return -1;
      Py_XINCREF(before);
      type->tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE;
      status = PyType_Type.tp_setattro(self, name, value);
      type->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
      Py_XDECREF(before);
      return status;
    }
    /* `isinstance(x, Tensor)` is answered by Python itself for classes of the type `type`, and asks `__instancecheck__` for all others
     * (where x is not exactly a Tensor). For Tensor the answer is a function that is there already, so that nothing is made for each call. */
    static PyObject *wry_is_tensor;  /* bound to Tensor */
    static PyObject *wry_class;      /* "__class__" */
    static PyObject *wry_instance_check(PyObject *type, PyObject *x) {
      PyObject *claimed;
      int is = PyObject_TypeCheck(x, (PyTypeObject *)type);
      if (!is) {  /* a proxy says of what class it wants to be */
        claimed = PyObject_GetAttr(x, wry_class);
        if (!claimed && !PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
        if (!claimed) PyErr_Clear();
        is = claimed && claimed != (PyObject *)Py_TYPE(x) && PyType_Check(claimed) && PyType_IsSubtype((PyTypeObject *)claimed, (PyTypeObject *)type);
        Py_XDECREF(claimed);
      }
      return PyBool_FromLong(is);
    }
    static PyMethodDef wry_instance_check_def = {"__instancecheck__", wry_instance_check, METH_O, "Whether an object is an instance."};
    static PyObject *wry_bound_check(PyObject *self, PyObject *type, PyObject *metatype) {
      if (!type) { Py_INCREF(self); return self; }
      if (type != PyCFunction_GET_SELF(wry_is_tensor)) return PyCFunction_New(&wry_instance_check_def, type);
      Py_INCREF(wry_is_tensor);
      return wry_is_tensor;
    }
    static PyTypeObject wry_check_type = {
      PyVarObject_HEAD_INIT(NULL, 0)
      .tp_name = "wherry_tensor._core.InstanceCheck",
      .tp_basicsize = sizeof(PyObject),
      .tp_flags = Py_TPFLAGS_DEFAULT,
      .tp_descr_get = wry_bound_check,
    };
    static PyTypeObject wry_tensor_type = {
      PyVarObject_HEAD_INIT(NULL, 0)
      .tp_name = "wherry_tensor._core.TensorType",
      .tp_doc = "The type of Tensor and of classes made of it: a `type` that takes attributes for Tensor too, which is compiled.",
      .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
      .tp_setattro = wry_tensor_type_set,
    };
    static int wry_take_attributes(PyTypeObject *type) {
      wry_tensor_type.tp_base = &PyType_Type;
      if (PyType_Ready(&wry_tensor_type) < 0 || PyType_Ready(&wry_check_type) < 0) return -1;
      PyObject *check = PyObject_New(PyObject, &wry_check_type);
      if (!check || !(wry_class = PyUnicode_InternFromString("__class__")) || !(wry_is_tensor = PyCFunction_New(&wry_instance_check_def, (PyObject *)type))) return -1;
      if (PyDict_SetItemString(wry_tensor_type.tp_dict, "__instancecheck__", check) < 0) return -1;
      Py_DECREF(check);
      PyType_Modified(&wry_tensor_type);
      Py_SET_TYPE(type, &wry_tensor_type);
      return 0;
    }
    static int wry_set_dir(PyObject *function) {
      if (PyDict_SetItemString(wry_tensor_type.tp_dict, "__dir__", function) < 0) return -1;
      PyType_Modified(&wry_tensor_type);
      return 0;
    }
    #define WRY_FIELD(object, offset) (*(PyObject **)((char *)(object) + (offset)))
    /* Of this type itself, without attributes of its own and without weak references. */
    static inline int wry_is_bare(PyObject *object, PyTypeObject *type) {
      return Py_TYPE(object) == type && !WRY_FIELD(object, type->tp_dictoffset) && !WRY_FIELD(object, type->tp_weaklistoffset);
    }
    static void wry_drop_dict(PyObject *object) { Py_CLEAR(WRY_FIELD(object, Py_TYPE(object)->tp_dictoffset)); }
    static inline PyObject *wry_revived(PyObject *object) {
      _Py_NewReference(object);
      PyObject_GC_Track(object);
      return object;
    }
    """
    void wry_enable_vectorcall(PyTypeObject *, Py_ssize_t)
    int wry_type_set(PyTypeObject *, object, object) except -1
    int wry_take_attributes(PyTypeObject *) except -1
    int wry_set_dir(object) except -1
    bint wry_is_bare(PyObject *, PyTypeObject *) noexcept
    void wry_drop_dict(PyObject *) noexcept
    Tensor wry_revived(PyObject *)


cdef extern from "mersenne.h":
    enum:
        WRY_MERSENNE_WORDS
    ctypedef struct wry_mersenne:
        uint64_t word[312]
        int32_t at
    void wry_mersenne_seed(wry_mersenne *, uint32_t) noexcept nogil
    void wry_mersenne_seed_directly(wry_mersenne *, uint64_t) noexcept nogil
    void wry_mersenne_uniform_float(wry_mersenne *, float *, int64_t, float, float) noexcept nogil
    void wry_mersenne_uniform_double(wry_mersenne *, double *, int64_t, double, double) noexcept nogil
    void wry_mersenne_normal_float(wry_mersenne *, float *, int64_t, float, float) noexcept nogil
    void wry_mersenne_normal_double(wry_mersenne *, double *, int64_t, double, double) noexcept nogil
    void wry_mersenne_integers(wry_mersenne *, int64_t *, int64_t, int64_t, int64_t) noexcept nogil
    void wry_mersenne_permutation(wry_mersenne *, int64_t *, int64_t) noexcept nogil


VOCABULARY_VERSION = 5
ABI_VERSION = WRY_ABI_VERSION
MAX_RANK = WRY_MAX_RANK

cdef enum:
    MAX_INPUTS = 1024
    MAX_OUTPUTS = 8
    MAX_EACH = 16
    NARROW = 16384      # elements; below it a kernel is shorter than letting go of the GIL is worth
    PLAN_LIMIT = 2048   # plans kept for each op
    MAX_SIMPLE = 8      # inputs of a simple plan


include "core/dtypes.pxi"
include "core/devices.pxi"
include "core/storage.pxi"
include "core/views.pxi"
include "core/plans.pxi"
include "core/dispatch.pxi"
include "core/trace.pxi"
include "core/op.pxi"
include "core/tensor.pxi"
include "core/basic_index.pxi"
include "core/data.pxi"
include "core/spelled.pxi"
include "core/state.pxi"
include "core/mersenne.pxi"
include "core/dlpack.pxi"
include "core/python_kernels.pxi"
include "core/host.pxi"
