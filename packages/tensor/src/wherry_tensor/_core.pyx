# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# cython: embedsignature=True, auto_pickle=False
"""The core: tensors, and the dispatcher that carries a call of an op to its kernel.

From the Python call to the kernel nothing interpreted runs for an op that was called before with
inputs of the same shapes: the answer of the shape rule, the kernel and the encoded attributes are
kept in a `Plan`, found by (shapes, dtypes, attributes). So shape rules stay readable Python, and
the hot path is one hash look-up, one allocation and one call through the C ABI.

What stands where: dtypes and plain helpers; storage and new tensors; views; plans; the dispatcher
with its layers; `Op`; `Tensor`; the host side of the kernel ABI.
"""
cimport cython
from cpython.buffer cimport (
    PyBUF_FORMAT, PyBUF_FULL_RO, PyBUF_ND, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF, Py_DECREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport int8_t, int16_t, uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset


cdef extern from "wherry/memory.h":
    wry_storage *wry_storage_new(size_t nbytes) nogil
    wry_storage *wry_storage_borrow(void *data, size_t nbytes, void *owner, void (*release)(void *) noexcept) nogil
    void wry_storage_free(wry_storage *storage)
    void wry_memory_get_stats(wry_memory_stats *stats)
    void wry_memory_reset_peak()
    void wry_memory_release_cache()
    void wry_memory_set_cache_limit(size_t bytes)
    void *wry_workspace_take(size_t bytes) noexcept nogil
    void wry_workspace_reset() noexcept nogil

cdef extern from *:
    """
    #include <math.h>
    /* What each thread has of its own. `outer` and `inner` are lists of layers, NULL when idle. */
    typedef struct wry_thread {
      PyObject *outer;
      PyObject *inner;
      int grad_off;
      int32_t budget; /* threads a kernel may use; 0: the process's setting */
      wry_context context;
    } wry_thread;
    static __thread wry_thread wry_this_thread;
    #define wry_thread_state() (&wry_this_thread)

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
    ctypedef struct wry_thread:
        PyObject *outer
        PyObject *inner
        int grad_off
        int32_t budget
        wry_context context
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
    bint PyLong_CheckExact(object)
    bint PyLong_Check(object)
    bint PyFloat_CheckExact(object)
    bint PyBool_Check(object)
    bint PyTuple_CheckExact(object)
    bint PyUnicode_CheckExact(object)
    long long PyLong_AsLongLongAndOverflow(object, int *) except? -1
    long long PyLong_AsLongLong(object) except? -1
    double PyFloat_AS_DOUBLE(object)
    double PyFloat_AsDouble(object) except? -1.0
    const char *PyUnicode_AsUTF8AndSize(object, Py_ssize_t *) except NULL
    object PyCapsule_New(void *, const char *, void *)
    void Py_XDECREF(PyObject *)
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
    """
    void wry_enable_vectorcall(PyTypeObject *, Py_ssize_t)
    int wry_type_set(PyTypeObject *, object, object) except -1


VOCABULARY_VERSION = 1
ABI_VERSION = WRY_ABI_VERSION
MAX_RANK = WRY_MAX_RANK

cdef enum:
    MAX_INPUTS = 1024
    MAX_OUTPUTS = 8
    NARROW = 16384      # elements; below it a kernel is shorter than letting go of the GIL is worth
    PLAN_LIMIT = 2048   # plans kept for each op


# ---------------------------------------------------------------------------------------- dtypes

@cython.final
cdef class DType:
    """The type of a tensor's elements. One object for each type: compare with `is` or `==`."""

    def __init__(self, *args):
        raise TypeError("DType objects exist already. Got a call of DType, expected one of float32, int64, ...")

    def __repr__(self):
        return "paddle." + self.name

    def __str__(self):
        return "paddle." + self.name

    def __hash__(self):
        return 7919 + self.code

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __reduce__(self):
        return dtype_of_name, (self.name,)


cdef int32_t itemsizes[12]
cdef list dtypes = []
cdef dict dtype_by_name = {}


cdef void define_dtypes():
    cdef DType d
    kinds = (
        ("bool", 1, "b"), ("uint8", 1, "i"), ("int8", 1, "i"), ("int16", 2, "i"), ("int32", 4, "i"), ("int64", 8, "i"),
        ("float16", 2, "f"), ("bfloat16", 2, "f"), ("float32", 4, "f"), ("float64", 8, "f"),
        ("complex64", 8, "c"), ("complex128", 16, "c"),
    )
    for code, (name, size, kind) in enumerate(kinds):
        d = DType.__new__(DType)
        d.name, d.code, d.itemsize = name, code, size
        d.is_bool, d.is_integer, d.is_floating, d.is_complex = kind == "b", kind == "i", kind == "f", kind == "c"
        itemsizes[<int>code] = size
        dtypes.append(d)
        dtype_by_name[name] = d


define_dtypes()
(bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128) = dtypes


def dtype_of_name(str name):
    """The DType called `name`, as in "float32"."""
    try:
        return dtype_by_name[name]
    except KeyError:
        raise TypeError(
            f"unknown dtype. Got '{name}', expected one of {', '.join(dtype_by_name)}."
        ) from None


class Scalar:
    """The declared type of an attribute that is an int, float, bool or complex number."""


cdef inline DType dtype_of_code(int32_t code):
    return <DType>PyTuple_GET_ITEM(dtype_table, code)


cdef tuple dtype_table = tuple(dtypes)


# --------------------------------------------------------------------------- storage and new tensors

cdef inline void unref(wry_storage *s) noexcept:
    s.refs -= 1
    if s.refs == 0:
        wry_storage_free(s)


cdef object memory_error(double nbytes):
    return MemoryError(
        f"not enough memory for a tensor. Got a request for {nbytes:.0f} bytes, more than the machine gives. "
        f"Use a smaller shape or dtype."
    )


cdef inline Tensor blank():
    cdef Tensor out = Tensor.__new__(Tensor)
    out.t.shape = out.dims
    out.t.strides = out.steps
    return out


cdef Tensor new_tensor(int32_t dtype, int32_t rank, const int64_t *shape):
    cdef Tensor out = blank()
    cdef int64_t size = 1
    cdef double wide = itemsizes[dtype]
    cdef int i
    for i in range(rank - 1, -1, -1):
        out.dims[i] = shape[i]
        out.steps[i] = size
        wide *= shape[i]
        size = <int64_t>(<uint64_t>size * <uint64_t>shape[i])
    if wide > 1.4e14:  # 2^47: what an address space holds; also keeps `size` from having wrapped around
        raise memory_error(wide)
    out.storage = wry_storage_new(<size_t>(size * itemsizes[dtype]))
    if out.storage == NULL:
        raise memory_error(wide)
    out.t.data = out.storage.data
    out.t.size = size
    out.t.dtype = dtype
    out.t.rank = rank
    out.flags = CONTIGUOUS | STOP_GRADIENT
    return out


cdef inline Tensor new_view(Tensor x):
    """Same storage and dtype; the caller sets shape and strides and then calls `settle`."""
    cdef Tensor out = blank()
    out.storage = x.storage
    out.storage.refs += 1
    out.t.data = x.t.data
    out.t.dtype = x.t.dtype
    out.flags = STOP_GRADIENT
    return out


cdef inline void settle(Tensor out) noexcept:
    """Computes size and the CONTIGUOUS flag from shape and strides."""
    cdef int64_t size = 1
    cdef bint contiguous = True
    cdef int i
    for i in range(out.t.rank - 1, -1, -1):
        if out.dims[i] != 1 and out.steps[i] != size:
            contiguous = False
        size *= out.dims[i]
    out.t.size = size
    if contiguous or size == 0:
        out.flags |= CONTIGUOUS
    else:
        out.flags &= ~<uint32_t>CONTIGUOUS


cdef Tensor new_alias(Tensor x):
    cdef Tensor out = blank()
    cdef int i
    if x.storage != NULL:
        out.storage = x.storage
        out.storage.refs += 1
    out.t.data = x.t.data
    out.t.dtype = x.t.dtype
    out.t.rank = x.t.rank
    out.t.size = x.t.size
    for i in range(x.t.rank):
        out.dims[i] = x.dims[i]
        out.steps[i] = x.steps[i]
    out.flags = (x.flags & (CONTIGUOUS | SYMBOLIC)) | STOP_GRADIENT
    return out


cdef Tensor new_ghost(int32_t dtype, int32_t rank, const int64_t *shape):
    cdef Tensor out = blank()
    cdef int i
    cdef int64_t size = 1
    for i in range(rank):
        out.dims[i] = shape[i]
        size = -1 if size < 0 or shape[i] < 0 else size * shape[i]
    out.t.dtype = dtype
    out.t.rank = rank
    out.t.size = size
    out.flags = STOP_GRADIENT | SYMBOLIC
    return out


cdef Tensor to_contiguous(Tensor x):
    """`x` itself when its rows follow each other, else a copy whose rows do."""
    cdef Tensor out
    cdef PyObject *inputs[1]
    cdef PyObject *outs[MAX_OUTPUTS]
    if x.flags & CONTIGUOUS:
        return x
    if copy_op is not None and (<KernelRow *>copy_op.kernels) != NULL:
        inputs[0] = <PyObject *>x
        run(copy_op, inputs, 1, (), outs, NULL)
        out = <Tensor>outs[0]
        Py_DECREF(out)
        return out
    out = new_tensor(x.t.dtype, x.t.rank, x.dims)
    if x.t.size:
        wry_strided_copy(<char *>out.t.data, out.steps, <char *>x.t.data, x.steps, x.dims, x.t.rank, itemsizes[x.t.dtype])
    return out


cdef void write_scalar(void *at, int32_t dtype, double real, double imag, int64_t whole) noexcept:
    """Stores one number: `whole` for integers (where real may have lost digits), else real and imag."""
    if dtype == WRY_FLOAT32:
        (<float *>at)[0] = <float>real
    elif dtype == WRY_FLOAT64:
        (<double *>at)[0] = real
    elif dtype == WRY_INT64:
        (<int64_t *>at)[0] = whole
    elif dtype == WRY_INT32:
        (<int32_t *>at)[0] = <int32_t>whole
    elif dtype == WRY_BOOL:
        (<uint8_t *>at)[0] = real != 0 or imag != 0 or whole != 0
    elif dtype == WRY_UINT8:
        (<uint8_t *>at)[0] = <uint8_t>whole
    elif dtype == WRY_INT8:
        (<int8_t *>at)[0] = <int8_t>whole
    elif dtype == WRY_INT16:
        (<int16_t *>at)[0] = <int16_t>whole
    elif dtype == WRY_FLOAT16:
        (<uint16_t *>at)[0] = wry_float_to_half(<float>real)
    elif dtype == WRY_BFLOAT16:
        (<uint16_t *>at)[0] = wry_float_to_bfloat(<float>real)
    elif dtype == WRY_COMPLEX64:
        (<float *>at)[0] = <float>real
        (<float *>at)[1] = <float>imag
    else:
        (<double *>at)[0] = real
        (<double *>at)[1] = imag


cdef object read_scalar(const void *at, int32_t dtype):
    if dtype == WRY_FLOAT32:
        return <double>(<const float *>at)[0]
    if dtype == WRY_INT64:
        return (<const int64_t *>at)[0]
    if dtype == WRY_FLOAT64:
        return (<const double *>at)[0]
    if dtype == WRY_BOOL:
        return (<const uint8_t *>at)[0] != 0
    if dtype == WRY_INT32:
        return (<const int32_t *>at)[0]
    if dtype == WRY_UINT8:
        return (<const uint8_t *>at)[0]
    if dtype == WRY_INT8:
        return (<const int8_t *>at)[0]
    if dtype == WRY_INT16:
        return (<const int16_t *>at)[0]
    if dtype == WRY_FLOAT16:
        return <double>wry_half_to_float((<const uint16_t *>at)[0])
    if dtype == WRY_BFLOAT16:
        return <double>wry_bfloat_to_float((<const uint16_t *>at)[0])
    if dtype == WRY_COMPLEX64:
        return complex((<const float *>at)[0], (<const float *>at)[1])
    return complex((<const double *>at)[0], (<const double *>at)[1])


cdef int store_number(void *at, int32_t dtype, object value) except -1:
    """Stores a Python number as `dtype`, as a C cast would; NaN and infinity have no integer."""
    cdef double real = 0, imag = 0
    cdef int64_t whole = 0
    cdef int overflow = 0
    if PyLong_Check(value):  # bool too
        whole = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow and dtype <= WRY_INT64:
            raise OverflowError(
                f"integer too large. Got {value}, expected a value that fits {dtype_of_code(dtype).name}."
            )
        real = PyFloat_AsDouble(value) if overflow else <double>whole
    elif isinstance(value, complex):
        real, imag = value.real, value.imag
        if dtype < WRY_COMPLEX64:
            raise TypeError(
                f"a complex number does not fit. Got {value}, expected a real value for {dtype_of_code(dtype).name}. "
                f"Use complex64 or complex128."
            )
    else:
        real = PyFloat_AsDouble(value)
        if dtype <= WRY_INT64 and dtype != WRY_BOOL:
            if not (-9.3e18 < real < 9.3e18):
                raise OverflowError(
                    f"no integer for this value. Got {value}, expected a finite value that fits "
                    f"{dtype_of_code(dtype).name}."
                )
            whole = <int64_t>real
    write_scalar(at, dtype, real, imag, whole)
    return 0


cdef Tensor scalar_tensor(object value, int32_t dtype):
    cdef Tensor out = new_tensor(dtype, 0, NULL)
    store_number(out.t.data, dtype, value)
    return out


# ------------------------------------------------------------------------------------------- views

cdef enum ViewCode:
    NO_VIEW, RESHAPE, TRANSPOSE, BROADCAST_TO, SLICE, SELECT, SQUEEZE, UNSQUEEZE, DIAGONAL, AS_COMPLEX, AS_REAL
    RESHAPE_LIKE, BROADCAST_LIKE, UNREDUCE_LIKE

cdef dict view_codes = {
    "reshape": RESHAPE, "transpose": TRANSPOSE, "broadcast_to": BROADCAST_TO, "slice": SLICE, "select": SELECT,
    "squeeze": SQUEEZE, "unsqueeze": UNSQUEEZE, "diagonal": DIAGONAL, "as_complex": AS_COMPLEX, "as_real": AS_REAL,
    "reshape_like": RESHAPE_LIKE, "broadcast_like": BROADCAST_LIKE, "unreduce_like": UNREDUCE_LIKE,
}


cdef inline int64_t int_at(tuple t, Py_ssize_t i) except? -1:
    return PyLong_AsLongLong(<object>PyTuple_GET_ITEM(t, i))


cdef int reshape_steps(Tensor x, Tensor out) noexcept:
    """Strides for a view of `x` with the shape of `out`, or 0 when there are none.

    Walks both shapes together: a run of axes of `x` that lie in memory like one axis may be cut
    anew, and only such a run.
    """
    cdef int i = 0, j = 0, k, m, rank = 0
    cdef int64_t old_dims[12]
    cdef int64_t old_steps[12]
    cdef int64_t have, want
    for k in range(x.t.rank):
        if x.dims[k] != 1:
            old_dims[rank] = x.dims[k]
            old_steps[rank] = x.steps[k]
            rank += 1
    while i < rank and j < out.t.rank:
        have = old_dims[i]
        want = out.dims[j]
        k = i
        m = j
        while have != want:
            if have < want:
                k += 1
                have *= old_dims[k]
            else:
                m += 1
                want *= out.dims[m]
        while i < k:
            if old_steps[i] != old_steps[i + 1] * old_dims[i + 1]:
                return 0
            i += 1
        out.steps[m] = old_steps[k]
        while m > j:
            out.steps[m - 1] = out.steps[m] * out.dims[m]
            m -= 1
        # `m` came down to j; skip the axes that were laid out, and axes of size 1 behind them
        want = 1
        while want != have:
            want *= out.dims[j]
            j += 1
        i = k + 1
    while j < out.t.rank:
        out.steps[j] = 1
        j += 1
    return 1


cdef Tensor reshaped(Tensor x, int32_t rank, const int64_t *shape):
    """None when the sizes do not match."""
    cdef Tensor out
    cdef int64_t size = 1, known = 1
    cdef int i, unknown = -1
    for i in range(rank):
        if shape[i] == -1:
            if unknown >= 0:
                return None
            unknown = i
        elif shape[i] < 0:
            return None
        else:
            known *= shape[i]
    if unknown >= 0:
        if known == 0 or x.t.size % known:
            return None
        size = x.t.size
    else:
        size = known
    if size != x.t.size:
        return None
    out = new_view(x)
    out.t.rank = rank
    for i in range(rank):
        out.dims[i] = shape[i]
    if unknown >= 0:
        out.dims[unknown] = x.t.size // known
    if x.flags & CONTIGUOUS or size == 0:
        size = 1
        for i in range(rank - 1, -1, -1):
            out.steps[i] = size
            size *= out.dims[i]
    elif not reshape_steps(x, out):
        return reshaped(to_contiguous(x), rank, shape)
    settle(out)
    return out


cdef Tensor broadcast_view(Tensor x, int32_t rank, const int64_t *shape):
    cdef Tensor out
    cdef int i, lead = rank - x.t.rank
    if lead < 0:
        return None
    out = new_view(x)
    out.t.rank = rank
    for i in range(rank):
        out.dims[i] = shape[i]
        if i < lead:
            out.steps[i] = 0
        else:
            if shape[i] == -1:
                out.dims[i] = x.dims[i - lead]
            if x.dims[i - lead] == out.dims[i]:
                out.steps[i] = x.steps[i - lead]
            elif x.dims[i - lead] == 1:
                out.steps[i] = 0
            else:
                return None
        if out.dims[i] < 0:
            return None
    settle(out)
    return out


cdef Tensor view(Op op, PyObject **inputs, tuple attrs):
    """The answer of a view op, or None when shapes and attributes do not fit."""
    cdef Tensor x = <Tensor>inputs[0], out, like
    cdef int code = op.view_code, i, j, rank, axis, axis2
    cdef int64_t sizes[12]
    cdef int64_t start, end, step, n, offset
    cdef tuple t, starts, ends, steps
    cdef uint32_t mask = 0

    if code == RESHAPE or code == BROADCAST_TO:
        t = <tuple>PyTuple_GET_ITEM(attrs, 0)
        rank = <int>PyTuple_GET_SIZE(t)
        if rank > WRY_MAX_RANK:
            return None
        for i in range(rank):
            sizes[i] = int_at(t, i)
        return reshaped(x, rank, sizes) if code == RESHAPE else broadcast_view(x, rank, sizes)

    if code == SELECT:
        axis = <int>int_at(attrs, 0)
        start = int_at(attrs, 1)
        if axis < 0 or axis >= x.t.rank:
            return None
        n = x.dims[axis]
        if start < 0:
            start += n
        if start < 0 or start >= n:
            return None
        out = new_view(x)
        out.t.rank = x.t.rank - 1
        for i in range(out.t.rank):
            j = i if i < axis else i + 1
            out.dims[i] = x.dims[j]
            out.steps[i] = x.steps[j]
        out.t.data = <char *>x.t.data + start * x.steps[axis] * itemsizes[x.t.dtype]
        settle(out)
        return out

    if code == SLICE:
        t = <tuple>PyTuple_GET_ITEM(attrs, 0)
        starts = <tuple>PyTuple_GET_ITEM(attrs, 1)
        ends = <tuple>PyTuple_GET_ITEM(attrs, 2)
        steps = <tuple>PyTuple_GET_ITEM(attrs, 3)
        rank = <int>PyTuple_GET_SIZE(t)
        if PyTuple_GET_SIZE(starts) != rank or PyTuple_GET_SIZE(ends) != rank or PyTuple_GET_SIZE(steps) != rank:
            return None
        out = new_alias(x)
        offset = 0
        for i in range(rank):
            axis = <int>int_at(t, i)
            if axis < 0 or axis >= x.t.rank:
                return None
            n = x.dims[axis]
            start = int_at(starts, i)
            end = int_at(ends, i)
            step = int_at(steps, i)
            if step == 0:
                return None
            # Python's rules: negative counts from the end, then clamp into what the step can reach.
            if start < 0:
                start += n
            if end < 0:
                end += n
            if step > 0:
                start = 0 if start < 0 else (n if start > n else start)
                end = 0 if end < 0 else (n if end > n else end)
                n = (end - start + step - 1) // step if end > start else 0
            else:
                start = -1 if start < 0 else (n - 1 if start > n - 1 else start)
                end = -1 if end < 0 else (n - 1 if end > n - 1 else end)
                n = (start - end - step - 1) // -step if start > end else 0
            if n > 0:
                offset += start * x.steps[axis]
            out.dims[axis] = n
            out.steps[axis] = x.steps[axis] * step
        out.t.data = <char *>x.t.data + offset * itemsizes[x.t.dtype]
        settle(out)
        return out

    if code == TRANSPOSE:
        t = <tuple>PyTuple_GET_ITEM(attrs, 0)
        rank = x.t.rank
        if PyTuple_GET_SIZE(t) != rank:
            return None
        out = new_view(x)
        out.t.rank = rank
        for i in range(rank):
            axis = <int>int_at(t, i)
            if axis < 0 or axis >= rank or (mask >> axis) & 1:
                return None
            mask |= <uint32_t>1 << axis
            out.dims[i] = x.dims[axis]
            out.steps[i] = x.steps[axis]
        settle(out)
        return out

    if code == SQUEEZE:
        t = <tuple>PyTuple_GET_ITEM(attrs, 0)
        for i in range(<int>PyTuple_GET_SIZE(t)):
            axis = <int>int_at(t, i)
            if axis < 0 or axis >= x.t.rank or x.dims[axis] != 1:
                return None
            mask |= <uint32_t>1 << axis
        out = new_view(x)
        j = 0
        for i in range(x.t.rank):
            if not (mask >> i) & 1:
                out.dims[j] = x.dims[i]
                out.steps[j] = x.steps[i]
                j += 1
        out.t.rank = j
        settle(out)
        return out

    if code == UNSQUEEZE or code == UNREDUCE_LIKE:
        if code == UNREDUCE_LIKE:
            like = <Tensor>inputs[1]
            t = <tuple>PyTuple_GET_ITEM(attrs, 0)
            if PyTuple_GET_ITEM(attrs, 1) == <PyObject *>True:
                return broadcast_view(x, like.t.rank, like.dims)
            rank = like.t.rank
        else:
            t = <tuple>PyTuple_GET_ITEM(attrs, 0)
            rank = x.t.rank + <int>PyTuple_GET_SIZE(t)
        if rank > WRY_MAX_RANK:
            return None
        for i in range(<int>PyTuple_GET_SIZE(t)):
            axis = <int>int_at(t, i)
            if axis < 0 or axis >= rank or (mask >> axis) & 1:
                return None
            mask |= <uint32_t>1 << axis
        if x.t.rank + <int>PyTuple_GET_SIZE(t) != rank:
            return None
        out = new_view(x)
        out.t.rank = rank
        j = 0
        for i in range(rank):
            if (mask >> i) & 1:
                out.dims[i] = 1
                out.steps[i] = 0 if j == x.t.rank else x.dims[j] * x.steps[j]
            else:
                out.dims[i] = x.dims[j]
                out.steps[i] = x.steps[j]
                j += 1
        if code == UNREDUCE_LIKE:
            for i in range(rank):
                if (mask >> i) & 1:
                    out.dims[i] = like.dims[i]
                    out.steps[i] = 0
                elif out.dims[i] != like.dims[i]:
                    return None
        settle(out)
        return out

    if code == RESHAPE_LIKE:
        like = <Tensor>inputs[1]
        return reshaped(x, like.t.rank, like.dims)
    if code == BROADCAST_LIKE:
        like = <Tensor>inputs[1]
        return broadcast_view(x, like.t.rank, like.dims)

    if code == DIAGONAL:
        offset = int_at(attrs, 0)
        axis = <int>int_at(attrs, 1)
        axis2 = <int>int_at(attrs, 2)
        rank = x.t.rank
        if axis < 0 or axis >= rank or axis2 < 0 or axis2 >= rank or axis == axis2:
            return None
        out = new_view(x)
        j = 0
        for i in range(rank):
            if i != axis and i != axis2:
                out.dims[j] = x.dims[i]
                out.steps[j] = x.steps[i]
                j += 1
        n = min(x.dims[axis], x.dims[axis2] - offset) if offset >= 0 else min(x.dims[axis] + offset, x.dims[axis2])
        if n < 0:
            n = 0
        out.dims[j] = n
        out.steps[j] = x.steps[axis] + x.steps[axis2]
        out.t.rank = j + 1
        if n > 0:
            start = offset * x.steps[axis2] if offset >= 0 else -offset * x.steps[axis]
            out.t.data = <char *>x.t.data + start * itemsizes[x.t.dtype]
        settle(out)
        return out

    if code == AS_COMPLEX:
        rank = x.t.rank
        if rank == 0 or x.dims[rank - 1] != 2 or (x.t.dtype != WRY_FLOAT32 and x.t.dtype != WRY_FLOAT64):
            return None
        for i in range(rank - 1):
            if x.steps[i] & 1 and x.dims[i] > 1:
                mask = 1
        if mask or x.steps[rank - 1] != 1:
            x = to_contiguous(x)
        out = new_view(x)
        out.t.rank = rank - 1
        out.t.dtype = WRY_COMPLEX64 if x.t.dtype == WRY_FLOAT32 else WRY_COMPLEX128
        for i in range(rank - 1):
            out.dims[i] = x.dims[i]
            out.steps[i] = x.steps[i] // 2
        settle(out)
        return out

    if code == AS_REAL:
        rank = x.t.rank
        if rank >= WRY_MAX_RANK or x.t.dtype < WRY_COMPLEX64:
            return None
        out = new_view(x)
        out.t.rank = rank + 1
        out.t.dtype = WRY_FLOAT32 if x.t.dtype == WRY_COMPLEX64 else WRY_FLOAT64
        for i in range(rank):
            out.dims[i] = x.dims[i]
            out.steps[i] = x.steps[i] * 2
        out.dims[rank] = 2
        out.steps[rank] = 1
        settle(out)
        return out
    return None


# ------------------------------------------------------------------------------------------- plans

ctypedef struct KernelRow:
    wry_kernel kernel
    uint32_t flags


@cython.final
cdef class Plan:
    def __dealloc__(self):
        free(self.memory)


cdef uint64_t hash_attr(object a) except? 0x5EED:
    cdef int overflow = 0
    cdef long long whole
    cdef uint64_t h
    cdef Py_ssize_t i
    if a is None:
        return 11
    if PyBool_Check(a):
        return 13 if a is True else 17
    if PyLong_CheckExact(a):
        whole = PyLong_AsLongLongAndOverflow(a, &overflow)
        return <uint64_t>hash(a) if overflow else <uint64_t>whole
    if PyTuple_CheckExact(a):
        h = 31 + <uint64_t>PyTuple_GET_SIZE(a)
        for i in range(PyTuple_GET_SIZE(a)):
            h = wry_mix(h, hash_attr(<object>PyTuple_GET_ITEM(a, i)))
        return h
    if PyFloat_CheckExact(a):
        return wry_bits(PyFloat_AS_DOUBLE(a))
    return <uint64_t>hash(a)


cdef bint same_attr(object a, object b) except -1:
    """Equality that tells 0.0 from -0.0, 1 from True and 1.0, and finds NaN equal to itself."""
    cdef Py_ssize_t i
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if PyTuple_CheckExact(a):
        if PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b):
            return False
        for i in range(PyTuple_GET_SIZE(a)):
            if not same_attr(<object>PyTuple_GET_ITEM(a, i), <object>PyTuple_GET_ITEM(b, i)):
                return False
        return True
    if PyFloat_CheckExact(a):
        return wry_bits(PyFloat_AS_DOUBLE(a)) == wry_bits(PyFloat_AS_DOUBLE(b))
    if isinstance(a, complex):
        return same_attr(a.real, b.real) and same_attr(a.imag, b.imag)
    return a == b


cdef object column_infer = None
cdef object column_decompose = None
cdef object meta_class = None


cdef int find_columns() except -1:
    global column_infer, column_decompose, meta_class
    if meta_class is None:
        from wherry_tensor.ops import declare
        column_infer, column_decompose = declare.infer.rules, declare.decompose.rules
        meta_class = declare.Meta
    return 0


cdef dict attr_dict(Op op, tuple attrs):
    return dict(zip(op.attr_names, attrs))


cdef object meta_of(PyObject *x):
    if x == <PyObject *>None:
        return None
    cdef Tensor t = <Tensor>x
    return meta_class(tuple([t.dims[i] for i in range(t.t.rank)]), dtype_of_code(t.t.dtype))


cdef tuple infer_metas(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs):
    find_columns()
    rule = column_infer.get(op)
    if rule is None:
        raise NotImplementedError(
            f"no shape rule for '{op.name}'. Got a call, expected a rule in the column 'infer'. "
            f"Add infer_{op.name} to the module that declares the op."
        )
    result = rule(*[meta_of(inputs[i]) for i in range(n)], **attr_dict(op, attrs))
    if not isinstance(result, tuple):
        result = (result,)
    if len(result) != op.n_outputs:
        raise AssertionError(f"infer_{op.name} gave {len(result)} metas; the op declares {op.n_outputs} outputs")
    return result


cdef int encode_attr(Plan plan, int at, object value, str op_name, str attr_name) except -1:
    cdef wry_attr *a = &plan.encoded[at]
    cdef int64_t *ints
    cdef double *floats
    cdef Py_ssize_t length
    cdef int overflow = 0
    a.length = 0
    if value is None:
        a.kind = WRY_ATTR_NONE
    elif isinstance(value, DType):
        a.kind = WRY_ATTR_INT
        a.value.i = (<DType>value).code
    elif PyLong_Check(value):
        a.value.i = PyLong_AsLongLongAndOverflow(value, &overflow)
        a.kind = WRY_ATTR_INT
        if overflow:
            raise ValueError(
                f"{op_name}: attribute '{attr_name}' is too large. Got {value}, expected a 64-bit integer."
            )
    elif isinstance(value, float):
        a.kind = WRY_ATTR_FLOAT
        a.value.f = value
    elif isinstance(value, str):
        a.kind = WRY_ATTR_STRING
        plan.kept.append(value)
        a.value.s = PyUnicode_AsUTF8AndSize(value, &length)
        a.length = <int32_t>length
    elif isinstance(value, complex):
        buffer = bytearray(16)
        plan.kept.append(buffer)
        floats = <double *><char *>buffer
        floats[0], floats[1] = value.real, value.imag
        a.kind, a.length, a.value.floats = WRY_ATTR_FLOATS, 2, floats
    elif isinstance(value, tuple):
        length = len(value)
        buffer = bytearray(8 * length + 8)
        plan.kept.append(buffer)
        a.length = <int32_t>length
        if any(isinstance(v, float) for v in value):
            floats = <double *><char *>buffer
            for i in range(length):
                floats[i] = value[i]
            a.kind, a.value.floats = WRY_ATTR_FLOATS, floats
        else:
            ints = <int64_t *><char *>buffer
            for i in range(length):
                ints[i] = value[i]
            a.kind, a.value.ints = WRY_ATTR_INTS, ints
    else:
        raise TypeError(
            f"{op_name}: attribute '{attr_name}' has a type that no kernel can read. Got {type(value).__name__} "
            f"({value!r}), expected an int, float, bool, str, dtype, None or a tuple of numbers."
        )
    return 0


cdef str kernel_dtypes(Op op):
    cdef KernelRow *rows = <KernelRow *>op.kernels
    if rows == NULL:
        return ""
    return ", ".join([dtype_of_code(i).name for i in range(WRY_NUM_DTYPES) if rows[i].kernel != NULL])


cdef bint kernels_loaded = False


cdef int load_kernels() except -1:
    """Asks the installed packages for their kernels, once (entry points of the group wherry.kernels)."""
    global kernels_loaded
    if kernels_loaded:
        return 0
    kernels_loaded = True
    from importlib.metadata import entry_points
    for point in entry_points(group="wherry.kernels"):
        point.load()()
    return 0


cdef Plan make_plan(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, const int64_t *key, int length, uint64_t hash):
    cdef Plan plan = Plan.__new__(Plan)
    cdef tuple metas
    cdef int i, j, rank
    cdef int64_t size
    cdef int32_t dtype = -1
    cdef KernelRow *rows
    cdef size_t total
    cdef char *memory
    cdef DType d

    metas = infer_metas(op, inputs, n, attrs)
    plan.hash = hash
    plan.attrs = attrs
    plan.key_length = length
    plan.n_outputs = op.n_outputs
    plan.n_attrs = op.n_attrs
    plan.kept = []
    total = (length + op.n_outputs * (WRY_MAX_RANK + 2)) * sizeof(int64_t) + op.n_attrs * sizeof(wry_attr)
    plan.memory = malloc(total + 64)
    if plan.memory == NULL:
        raise MemoryError()
    memory = <char *>plan.memory
    plan.key = <int64_t *>memory
    memcpy(plan.key, key, length * sizeof(int64_t))
    plan.out_shape = plan.key + length
    plan.out_size = plan.out_shape + op.n_outputs * WRY_MAX_RANK
    plan.encoded = <wry_attr *>(plan.out_size + op.n_outputs)
    plan.out_dtype = <int32_t *>(plan.encoded + op.n_attrs)
    plan.out_rank = plan.out_dtype + op.n_outputs

    plan.work = 1
    for i in range(n):
        if inputs[i] != <PyObject *>None:
            if dtype < 0:
                dtype = (<Tensor>inputs[i]).t.dtype
            if (<Tensor>inputs[i]).t.size > plan.work:
                plan.work = (<Tensor>inputs[i]).t.size
    for i in range(op.n_outputs):
        meta = metas[i]
        d = meta.dtype
        shape = meta.shape
        plan.out_dtype[i] = d.code
        if dtype < 0:
            dtype = d.code
        rank = len(shape)
        if rank > WRY_MAX_RANK:
            raise ValueError(
                f"{op.name}: the result would have too many axes. Got rank {rank}, expected at most {WRY_MAX_RANK}."
            )
        plan.out_rank[i] = rank
        size = 1
        for j in range(rank):
            plan.out_shape[i * WRY_MAX_RANK + j] = shape[j]
            if shape[j] < 0:
                plan.out_rank[i] = -1
            elif plan.out_rank[i] >= 0:
                if shape[j] and size > (<int64_t>1 << 48) // shape[j]:
                    raise memory_error(<double>size * <double>shape[j] * itemsizes[d.code])
                size *= shape[j]
        plan.out_size[i] = size
        if size > plan.work:
            plan.work = size
    for i in range(op.n_attrs):
        encode_attr(plan, i, attrs[i], op.name, op.attr_names[i])

    if op.kernels == NULL:
        load_kernels()
    rows = <KernelRow *>op.kernels
    if rows != NULL:
        if rows[dtype].kernel == NULL:
            dtype = WRY_NUM_DTYPES  # the row that serves the rest
        plan.kernel = rows[dtype].kernel
        plan.flags = rows[dtype].flags
    return plan


cdef object no_kernel(Op op, PyObject **inputs, Py_ssize_t n, Plan plan):
    cdef int32_t dtype = plan.out_dtype[0]
    cdef Py_ssize_t i
    for i in range(n - 1, -1, -1):
        if inputs[i] != <PyObject *>None:
            dtype = (<Tensor>inputs[i]).t.dtype
    if op.kernels == NULL:
        if any_kernels:
            return NotImplementedError(
                f"no kernel for '{op.name}' on cpu, and no decomposition. The column 'cpu' has no rule for it: "
                f"add one with wherry_tensor's register_kernels, or a decomposition where the op is declared."
            )
        return NotImplementedError(f"no kernel for '{op.name}' on cpu: pip install wherry-ops-cpu")
    return NotImplementedError(
        f"no {dtype_of_code(dtype).name} kernel for '{op.name}' on cpu; it has {kernel_dtypes(op)}. "
        f"Cast with x.astype('float32'), or move x to a device that has one."
    )


# -------------------------------------------------------------------------------------- dispatcher

cdef record_function record = NULL
cdef int32_t process_threads = 1
cdef bint any_kernels = False
cdef Op copy_op = None


cdef void set_record_function(record_function function) noexcept:
    global record
    record = function


cdef bint grad_enabled() noexcept nogil:
    return not wry_thread_state().grad_off


cdef bint set_grad_enabled_flag(bint enabled) noexcept nogil:
    cdef wry_thread *thread = wry_thread_state()
    cdef bint before = not thread.grad_off
    thread.grad_off = not enabled
    return before


cdef void *give_workspace(wry_context *context, size_t bytes) noexcept nogil:
    return wry_workspace_take(bytes)


ctypedef struct Caller:
    PyObject **outs         # new references, NULL until allocated
    wry_tensor **outputs
    const int32_t *dtypes
    int n


cdef void *allocate_output(wry_context *context, int32_t index, int32_t rank, const int64_t *shape) noexcept with gil:
    cdef Caller *caller = <Caller *>context.caller
    cdef Tensor out
    try:
        out = new_tensor(caller.dtypes[index], rank, shape)
    except MemoryError:
        return NULL
    Py_XDECREF(caller.outs[index])
    Py_INCREF(out)
    caller.outs[index] = <PyObject *>out
    caller.outputs[index] = &out.t
    return out.t.data


cdef int raise_status(Op op, int status, wry_context *context) except -1:
    text = context.error.decode("utf-8", "replace")
    if not text:
        text = f"{op.name}: the kernel failed with status {status}"
    if status == WRY_INVALID:
        raise ValueError(text)
    if status == WRY_OUT_OF_RANGE:
        raise IndexError(text)
    if status == WRY_OUT_OF_MEMORY:
        raise MemoryError(text)
    if status == WRY_UNSUPPORTED:
        raise NotImplementedError(text)
    raise RuntimeError(text)


cdef int check_into(Op op, Plan plan, PyObject **into) except -1:
    cdef int i, j
    cdef Tensor out
    for i in range(plan.n_outputs):
        out = <Tensor>into[i]
        fits = plan.out_rank[i] == out.t.rank and plan.out_dtype[i] == out.t.dtype
        if fits:
            for j in range(out.t.rank):
                fits = fits and out.dims[j] == plan.out_shape[i * WRY_MAX_RANK + j]
        if not fits:
            expected = [plan.out_shape[i * WRY_MAX_RANK + j] for j in range(max(plan.out_rank[i], 0))]
            raise ValueError(
                f"{op.name}: the result does not fit the tensor it should be written to. "
                f"Got a tensor of shape {out.shape} and dtype {out.dtype.name}, expected shape {expected} and dtype "
                f"{dtype_of_code(plan.out_dtype[i]).name}. In-place operations keep shape and dtype; "
                f"use the form without underscore."
            )
    return 0


cdef inline bint writes_in_place(Plan plan, Tensor out, PyObject **inputs, Py_ssize_t n, int index) noexcept:
    """May the kernel write straight into `out`? Not if it would read what it has overwritten."""
    cdef Py_ssize_t i
    cdef Tensor x
    cdef int j
    if not out.flags & CONTIGUOUS and not plan.flags & WRY_STRIDED_OUTPUT:
        return False
    for i in range(out.t.rank):
        if out.steps[i] == 0 and out.dims[i] > 1:
            return False
    for i in range(n):
        if inputs[i] == <PyObject *>None:
            continue
        x = <Tensor>inputs[i]
        if x.storage != out.storage:
            continue
        if not plan.flags & WRY_MAY_ALIAS or x.t.data != out.t.data or x.t.rank != out.t.rank:
            return False
        if i != index and plan.n_outputs != 1:
            return False
        for j in range(x.t.rank):
            if x.dims[j] != out.dims[j] or (x.steps[j] != out.steps[j] and x.dims[j] != 1):
                return False
    return True


cdef int run(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs, PyObject **into) except -1:
    """Finds the plan of a call and runs it. Gives new references in `outs`, one for each output."""
    cdef int64_t small_key[64]
    cdef int64_t *key = small_key
    cdef int length = 0, i, status
    cdef Py_ssize_t k, slots, at
    cdef uint64_t h
    cdef Plan plan
    cdef Tensor t
    cdef PyObject *entry

    if n > 4:
        key = <int64_t *>malloc(n * (WRY_MAX_RANK + 1) * sizeof(int64_t) + 8)
        if key == NULL:
            raise MemoryError()
    try:
        for k in range(n):
            if inputs[k] == <PyObject *>None:
                key[length] = -1
                length += 1
                continue
            t = <Tensor>inputs[k]
            key[length] = t.t.dtype | (t.t.rank << 8)
            length += 1
            for i in range(t.t.rank):
                key[length] = t.dims[i]
                length += 1
        h = <uint64_t>length + (<uint64_t>n << 32)
        for i in range(length):
            h = wry_mix(h, <uint64_t>key[i])
        for k in range(op.n_attrs):
            h = wry_mix(h, hash_attr(<object>PyTuple_GET_ITEM(attrs, k)))

        slots = len(op.plans)
        at = <Py_ssize_t>(h & <uint64_t>(slots - 1))
        plan = None
        while True:
            found = op.plans[at]
            if found is None:
                break
            plan = <Plan>found
            if plan.hash == h and plan.key_length == length and \
                    memcmp(plan.key, key, length * sizeof(int64_t)) == 0 and same_attr(plan.attrs, attrs):
                break
            plan = None
            at = (at + 1) & (slots - 1)
        if plan is None:
            plan = make_plan(op, inputs, n, attrs, key, length, h)
            keep_plan(op, plan)
    finally:
        if key != small_key:
            free(key)
    return run_plan(op, plan, inputs, n, attrs, outs, into)


cdef int keep_plan(Op op, Plan plan) except -1:
    cdef Py_ssize_t slots = len(op.plans), at
    cdef list old
    if 2 * (op.used + 1) > slots:
        old = op.plans
        # A program with ever new shapes must not grow for ever: start over.
        if slots >= 2 * PLAN_LIMIT:
            old = []
            slots = 8
        else:
            slots *= 2
        op.plans = [None] * slots
        op.used = 0
        for p in old:
            if p is not None:
                keep_plan(op, <Plan>p)
    at = <Py_ssize_t>(plan.hash & <uint64_t>(slots - 1))
    while op.plans[at] is not None:
        at = (at + 1) & (slots - 1)
    op.plans[at] = plan
    op.used += 1
    return 0


cdef int run_decomposition(Op op, Plan plan, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs) except -1:
    cdef Py_ssize_t i
    cdef bint before
    rule = column_decompose.get(op)
    if rule is None:
        raise no_kernel(op, inputs, n, plan)
    # Whoever records this call records the op as a whole.
    before = set_grad_enabled_flag(False)
    try:
        result = rule(*[<object>inputs[i] for i in range(n)], **attr_dict(op, attrs))
    finally:
        set_grad_enabled_flag(before)
    if op.n_outputs == 1:
        result = (result,)
    for i in range(op.n_outputs):
        item = result[i]
        if not isinstance(item, Tensor):
            raise AssertionError(f"decompose_{op.name} returned {type(item).__name__}, expected Tensor")
        # An op gives a fresh tensor; a decomposition may have handed an input through.
        item = new_alias(<Tensor>item)
        Py_INCREF(item)
        outs[i] = <PyObject *>item
    return 0


cdef int run_plan(Op op, Plan plan, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs, PyObject **into) except -1:
    cdef const wry_tensor *small_in[8]
    cdef const wry_tensor **ins = small_in
    cdef wry_tensor *outputs[MAX_OUTPUTS]
    cdef wry_call call
    cdef wry_thread *thread = wry_thread_state()
    cdef wry_context *context = &thread.context
    cdef Caller caller
    cdef list temporaries = None
    cdef Tensor x, out
    cdef Py_ssize_t k
    cdef int i, status
    cdef bint done = False

    for i in range(plan.n_outputs):
        outs[i] = NULL
    if into != NULL:
        check_into(op, plan, into)
    try:
        if plan.kernel == NULL:
            run_decomposition(op, plan, inputs, n, attrs, outs)
        else:
            if n > 8:
                ins = <const wry_tensor **>malloc(n * sizeof(void *))
                if ins == NULL:
                    raise MemoryError()
            for k in range(n):
                if inputs[k] == <PyObject *>None:
                    ins[k] = NULL
                    continue
                x = <Tensor>inputs[k]
                if plan.flags & WRY_WANTS_CONTIGUOUS and not x.flags & CONTIGUOUS:
                    x = to_contiguous(x)
                    if temporaries is None:
                        temporaries = []
                    temporaries.append(x)
                ins[k] = &x.t
            for i in range(plan.n_outputs):
                if plan.out_rank[i] < 0:
                    outputs[i] = NULL
                    continue
                if into != NULL and writes_in_place(plan, <Tensor>into[i], inputs, n, i):
                    out = <Tensor>into[i]
                else:
                    out = new_tensor(plan.out_dtype[i], plan.out_rank[i], plan.out_shape + i * WRY_MAX_RANK)
                Py_INCREF(out)
                outs[i] = <PyObject *>out
                outputs[i] = &out.t
            call.inputs = ins
            call.outputs = outputs
            call.attrs = plan.encoded
            call.context = context
            call.n_inputs = <int32_t>n
            call.n_outputs = plan.n_outputs
            call.n_attrs = plan.n_attrs
            context.abi_version = WRY_ABI_VERSION
            context.num_threads = thread.budget if thread.budget else process_threads
            context.workspace = give_workspace
            context.allocate_output = allocate_output
            context.error[0] = 0
            context.caller = &caller
            caller.outs = outs
            caller.outputs = outputs
            caller.dtypes = plan.out_dtype
            caller.n = plan.n_outputs
            if plan.flags & WRY_USES_RANDOM:
                context.rng_seed = default_generator.seed_value
                context.rng_offset = default_generator.offset
                default_generator.offset += <uint64_t>plan.work
            if plan.work < NARROW:
                status = plan.kernel(&call)
            else:
                with nogil:
                    status = plan.kernel(&call)
            wry_workspace_reset()
            if status != WRY_OK:
                raise_status(op, status, context)
            for i in range(plan.n_outputs):
                if outs[i] == NULL:
                    raise RuntimeError(f"{op.name}: the kernel left output {i} unallocated")
        if into != NULL:
            for i in range(plan.n_outputs):
                out = <Tensor>into[i]
                x = <Tensor>outs[i]
                if x is not out:
                    if x.t.size:
                        wry_strided_copy(<char *>out.t.data, out.steps, <char *>x.t.data, x.steps, out.dims,
                                         out.t.rank, itemsizes[out.t.dtype])
                    Py_INCREF(out)
                    outs[i] = <PyObject *>out
                    Py_DECREF(x)
                out.storage.version += 1
        done = True
    finally:
        if ins != small_in:
            free(ins)
        if not done:
            for i in range(plan.n_outputs):
                Py_XDECREF(outs[i])
                outs[i] = NULL
    return 0


cdef object no_value(Op op, PyObject **inputs, Py_ssize_t n):
    cdef Py_ssize_t i
    for i in range(n):
        if inputs[i] != <PyObject *>None and (<Tensor>inputs[i]).t.data == NULL:
            if (<Tensor>inputs[i]).flags & SYMBOLIC:
                return RuntimeError(
                    f"{op.name}: input {i} is symbolic: it has a shape and a dtype but no values. "
                    f"Got it outside of a capture, expected a tensor with data. "
                    f"Use it inside the program that made it, or give it data."
                )
            break
    return RuntimeError(
        f"{op.name}: input {i} is a Tensor that was never given data. Got an uninitialized Tensor, expected one made "
        f"by a creation function. Make it with wherry.to_tensor, wherry.zeros, ..."
    )


cdef tuple collect(PyObject **items, Py_ssize_t n):
    cdef Py_ssize_t i
    return tuple([<object>items[i] for i in range(n)])


cdef object bad_view(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs):
    """The shape rule knows what is wrong and says it; this is for what it lets pass."""
    infer_metas(op, inputs, n, attrs)
    shapes = [list((<Tensor>inputs[i]).shape) for i in range(n)]
    return ValueError(f"{op.name}: shapes and attributes do not fit. Got shapes {shapes} and {attr_dict(op, attrs)}.")


cdef int perform(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs, PyObject **into,
                 wry_thread *thread) except -1:
    """Below all outer layers: decides how to run, runs, records."""
    cdef Py_ssize_t i
    cdef Tensor t, out
    cdef bint needs_grad = False, no_data = False
    for i in range(n):
        if inputs[i] == <PyObject *>None:
            continue
        t = <Tensor>inputs[i]
        if not t.flags & STOP_GRADIENT:
            needs_grad = True
        if t.t.data == NULL:
            no_data = True
    needs_grad = needs_grad and not thread.grad_off and record != NULL
    if needs_grad and op.differentiable == 0:
        find_columns()
        rule = column_decompose.get(op)
        if rule is not None and into == NULL:
            # No gradient rule: record the smaller ops it is made of.
            result = rule(*collect(inputs, n), **attr_dict(op, attrs))
            if op.n_outputs == 1:
                result = (result,)
            for i in range(op.n_outputs):
                item = result[i]
                Py_INCREF(item)
                outs[i] = <PyObject *>item
            return 0

    if thread.inner != NULL:
        layer = (<list>thread.inner)[len(<list>thread.inner) - 1]
        result = layer(op, collect(inputs, n), attrs) if into == NULL else \
            layer.into(op, collect(into, op.n_outputs), collect(inputs, n), attrs)
        if op.n_outputs == 1 and isinstance(result, Tensor):
            result = (result,)
        for i in range(op.n_outputs):
            item = result[i]
            Py_INCREF(item)
            outs[i] = <PyObject *>item
    elif op.view_code:
        # Of `like` only the shape is used, so it may lack data.
        t = <Tensor>inputs[0]
        if t.t.data == NULL or inputs[0] == <PyObject *>None:
            raise no_value(op, inputs, n)
        out = view(op, inputs, attrs)
        if out is None:
            raise bad_view(op, inputs, n, attrs)
        Py_INCREF(out)
        outs[0] = <PyObject *>out
        if into != NULL:
            raise TypeError(f"{op.name} makes a view; it cannot be written into a tensor. Use ops.copy.into.")
    else:
        if no_data and not only_shapes(op, inputs, n):
            raise no_value(op, inputs, n)
        run(op, inputs, n, attrs, outs, into)
    if needs_grad and op.differentiable != 2:
        try:
            record(op, inputs, n, attrs, outs, op.n_outputs, into != NULL)
        except BaseException:
            for i in range(op.n_outputs):
                Py_XDECREF(outs[i])
            raise
    return 0


cdef bint only_shapes(Op op, PyObject **inputs, Py_ssize_t n) except -1:
    """Is every input without data one whose shape alone is used (declared as `like`, or a vjp's weight)?"""
    cdef Py_ssize_t i
    for i in range(n):
        if inputs[i] != <PyObject *>None and (<Tensor>inputs[i]).t.data == NULL:
            if i >= op.n_fixed or op.inputs[i][0] not in ("like", "weight"):
                return False
            if op.inputs[i][0] == "weight" and not op.name.endswith("_vjp"):
                return False
    return True


cdef object apply(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs):
    cdef PyObject *outs[MAX_OUTPUTS]
    cdef wry_thread *thread = wry_thread_state()
    cdef Py_ssize_t i
    cdef tuple many
    if thread.outer != NULL:
        return apply_outer(op, inputs, n, attrs, thread)
    perform(op, inputs, n, attrs, outs, NULL, thread)
    if op.n_outputs == 1:
        result = <object>outs[0]
        Py_DECREF(result)
        return result
    many = PyTuple_New(op.n_outputs)
    for i in range(op.n_outputs):
        PyTuple_SET_ITEM(many, i, <object>outs[i])
    return many


cdef object apply_outer(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, wry_thread *thread):
    """Gives the call to the topmost outer layer; what that calls goes to the layers below it."""
    cdef list stack = <list>thread.outer
    layer = stack.pop()
    empty = not stack
    if empty:
        thread.outer = NULL
    try:
        return layer(op, collect(inputs, n), attrs)
    finally:
        stack.append(layer)
        if empty:
            thread.outer = <PyObject *>stack


cdef object apply1(Op op, object x, tuple attrs):
    cdef PyObject *inputs[1]
    inputs[0] = <PyObject *>x
    return apply(op, inputs, 1, attrs)


cdef object apply2(Op op, object x, object y, tuple attrs):
    cdef PyObject *inputs[2]
    inputs[0] = <PyObject *>x
    inputs[1] = <PyObject *>y
    return apply(op, inputs, 2, attrs)


cdef list outer_stack(bint inner):
    """The calling thread's list of layers, made on demand and kept alive by `stacks`."""
    import threading
    key = (threading.get_ident(), bool(inner))
    if key not in stacks:
        stacks[key] = []
    return stacks[key]


cdef dict stacks = {}


def push_layer(layer, position="inner"):
    """Install a layer for the calling thread.

    Args:
        layer: called as `layer(op, inputs, attrs)` with an Op and two tuples, for every op of this thread.
            It returns what the op returns.
        position: "outer" layers stand above autograd: they may change the inputs (autocast) and go on
            with `op.apply(inputs, attrs)`. An "inner" layer stands where the kernel would run: capture,
            profiling. Autograd records around it. `op.run(inputs, attrs)` runs the kernel.
            In-place calls come as `layer.into(op, outs, inputs, attrs)`.

    Layers of one position are a stack; only the topmost inner layer is asked.
    """
    cdef wry_thread *thread = wry_thread_state()
    if position not in ("outer", "inner"):
        raise ValueError(f"push_layer: unknown position. Got {position!r}, expected 'outer' or 'inner'.")
    inner = position == "inner"
    cdef list stack = outer_stack(inner)
    stack.append(layer)
    if inner:
        thread.inner = <PyObject *>stack
    else:
        thread.outer = <PyObject *>stack


def pop_layer(layer, position="inner"):
    """Remove the topmost layer, which must be `layer`."""
    cdef wry_thread *thread = wry_thread_state()
    import threading
    inner = position == "inner"
    cdef list stack = outer_stack(inner)
    if not stack or stack[len(stack) - 1] is not layer:
        raise ValueError("pop_layer: this layer is not the topmost one of the calling thread. Pop in reverse order.")
    stack.pop()
    if not stack:
        del stacks[(threading.get_ident(), inner)]
        if inner:
            thread.inner = NULL
        else:
            thread.outer = NULL


# ---------------------------------------------------------------------------------------------- Op

registry: dict = {}


@cython.final
cdef class Op:
    """A primitive: a name, its tensor inputs and its attributes. Calling it applies it.

    Inputs are positional (None for an absent optional one), attributes come by keyword, or
    positionally behind the inputs when their number is fixed.
    """

    def __init__(self, str name, str input_spec, tuple attr_names, tuple attr_types, tuple outputs, bint view):
        cdef list parts = []
        self.name = name
        self.input_spec = input_spec
        for part in input_spec.split(","):
            part = part.strip()
            if part:
                parts.append((part.strip("?*"), part.endswith("?"), part.startswith("*")))
        self.inputs = tuple(parts)
        self.variadic = bool(parts) and parts[len(parts) - 1][2]
        self.n_fixed = len(parts) - (1 if self.variadic else 0)
        self.attr_names = tuple([intern_name(a) for a in attr_names])
        self.attr_types = attr_types
        self.outputs = outputs
        self.n_attrs = len(attr_names)
        self.n_outputs = len(outputs)
        if self.n_outputs > MAX_OUTPUTS:
            raise ValueError(f"op '{name}': too many outputs. Got {self.n_outputs}, expected at most {MAX_OUTPUTS}.")
        self.min_inputs = self.n_fixed
        while self.min_inputs and parts[self.min_inputs - 1][1]:
            self.min_inputs -= 1
        self.view = view
        self.view_code = view_codes[name] if view else 0
        self.plans = [None] * 8
        self.vectorcall = <void *>op_vectorcall

    def __dealloc__(self):
        free(self.kernels)

    def __repr__(self):
        attrs = "".join([f", {n}={getattr(t, '__name__', t)}" for n, t in zip(self.attr_names, self.attr_types)])
        return f"op {self.name}({self.input_spec}{attrs})"

    def __hash__(self):
        return <Py_ssize_t><void *>self >> 4

    def __eq__(self, other):
        return self is other

    def __reduce__(self):
        return op_of_name, (self.name,)

    def apply(self, tuple inputs, tuple attrs):
        """Apply to a tuple of inputs and the tuple of all attributes, in the order of the declaration."""
        cdef PyObject *small[16]
        cdef PyObject **items = small
        cdef Py_ssize_t n = len(inputs), i
        check_counts(self, inputs, attrs)
        if n > 16:
            items = <PyObject **>malloc(n * sizeof(void *))
            if items == NULL:
                raise MemoryError()
        try:
            for i in range(n):
                items[i] = PyTuple_GET_ITEM(inputs, i)
            return apply(self, items, n, attrs)
        finally:
            if items != small:
                free(items)

    def run(self, tuple inputs, tuple attrs):
        """The kernel (or view, or decomposition) alone, past all layers: what an inner layer calls."""
        cdef wry_thread *thread = wry_thread_state()
        cdef PyObject *inner = thread.inner
        cdef PyObject *outer = thread.outer
        cdef int grad_off = thread.grad_off
        thread.inner = NULL
        thread.outer = NULL
        thread.grad_off = 1
        try:
            return self.apply(inputs, attrs)
        finally:
            thread.inner = inner
            thread.outer = outer
            thread.grad_off = grad_off

    def into(self, tuple outs, *inputs, **attrs):
        """Apply, and write the results into the tensors `outs`; their version goes up.

        Returns the tensor, or the tuple of them. A tensor that is also an input is safe: where a
        kernel could read what it has overwritten, the result is computed aside and copied.
        """
        cdef PyObject *items[32]
        cdef PyObject *results[MAX_OUTPUTS]
        cdef PyObject *targets[MAX_OUTPUTS]
        cdef tuple values
        cdef Py_ssize_t i, n = len(inputs)
        if n > 32:
            raise ValueError(f"{self.name}: too many inputs for an in-place call. Got {n}, expected at most 32.")
        values = gather_attrs(self, attrs)
        check_counts(self, inputs, values)
        if len(outs) != self.n_outputs:
            raise ValueError(f"{self.name}: got {len(outs)} tensors to write to, expected {self.n_outputs}.")
        for i in range(n):
            items[i] = PyTuple_GET_ITEM(inputs, i)
        for i in range(self.n_outputs):
            if not isinstance(outs[i], Tensor) or (<Tensor>outs[i]).t.data == NULL and \
                    not (<Tensor>outs[i]).flags & SYMBOLIC:
                raise TypeError(f"{self.name}: got {type(outs[i]).__name__} to write to, expected a Tensor with data.")
            targets[i] = PyTuple_GET_ITEM(outs, i)
        perform(self, items, n, values, results, targets, wry_thread_state())
        for i in range(self.n_outputs):
            Py_DECREF(<object>results[i])
        return outs[0] if self.n_outputs == 1 else outs

    def infer(self, tuple inputs, tuple attrs):
        """Metas of the outputs for tensors `inputs`: a tuple. Runs the shape rule, no kernel."""
        cdef PyObject *items[MAX_INPUTS]
        cdef Py_ssize_t i
        check_counts(self, inputs, attrs)
        if len(inputs) > MAX_INPUTS:
            raise ValueError(f"{self.name}: got {len(inputs)} inputs, expected at most {MAX_INPUTS}.")
        for i in range(len(inputs)):
            items[i] = PyTuple_GET_ITEM(inputs, i)
        return infer_metas(self, items, len(inputs), attrs)

    def kernel_dtypes(self):
        """Names of the dtypes that the cpu has a kernel for; `...` stands for all the others."""
        cdef KernelRow *rows = <KernelRow *>self.kernels
        load_kernels()
        rows = <KernelRow *>self.kernels
        if rows == NULL:
            return ()
        names = [dtype_of_code(i).name for i in range(WRY_NUM_DTYPES) if rows[i].kernel != NULL]
        return tuple(names + (["..."] if rows[WRY_NUM_DTYPES].kernel != NULL else []))


def op_of_name(str name):
    """The op called `name`."""
    import wherry_tensor.ops  # declares them  # noqa: F401
    return registry[name]


cdef str intern_name(object name):
    import sys
    return sys.intern(str(name))


cdef tuple gather_attrs(Op op, dict attrs):
    if len(attrs) != op.n_attrs:
        raise TypeError(
            f"{op.name}: wrong attributes. Got {', '.join(attrs) or 'none'}, expected {', '.join(op.attr_names) or 'none'}."
        )
    try:
        return tuple([attrs[name] for name in op.attr_names])
    except KeyError as missing:
        raise TypeError(
            f"{op.name}: attribute {missing} is missing. Got {', '.join(attrs)}, expected {', '.join(op.attr_names)}."
        ) from None


cdef int check_counts(Op op, tuple inputs, tuple attrs) except -1:
    cdef Py_ssize_t n = len(inputs), i
    if n < op.min_inputs or (n > op.n_fixed and not op.variadic) or len(attrs) != op.n_attrs:
        raise TypeError(
            f"{op.name}: got {n} inputs and {len(attrs)} attributes, expected the inputs ({op.input_spec}) "
            f"and the attributes ({', '.join(op.attr_names)})."
        )
    for i in range(n):
        check_input(op, inputs[i], i)
    return 0


cdef inline int check_input(Op op, object x, Py_ssize_t i) except -1:
    if type(x) is Tensor or isinstance(x, Tensor):
        return 0
    if x is None and i < op.n_fixed and op.inputs[i][1]:
        return 0
    name = op.inputs[min(i, len(op.inputs) - 1)][0] if op.inputs else str(i)
    raise TypeError(
        f"{op.name}: input '{name}' must be a Tensor. Got {type(x).__name__}, expected Tensor. "
        f"Convert it with wherry.to_tensor."
    )


cdef object op_vectorcall(object self, PyObject *const *args, size_t nargsf, PyObject *kwnames):
    cdef Op op = <Op>self
    cdef Py_ssize_t given = <Py_ssize_t>PyVectorcall_NARGS(nargsf), n, i, j, keywords
    cdef tuple attrs
    cdef PyObject *inputs[16]
    cdef PyObject *value
    cdef PyObject *name
    cdef object owned

    n = given if op.variadic or given < op.n_fixed else op.n_fixed
    keywords = 0 if kwnames == NULL else PyTuple_GET_SIZE(<tuple>kwnames)
    if n < op.min_inputs or given - n + keywords != op.n_attrs or n > 16:
        return call_slowly(op, args, given, kwnames)
    for i in range(n):
        inputs[i] = args[i]
        check_input(op, <object>args[i], i)
    if op.n_attrs == 0:
        return apply(op, inputs, n, empty_tuple)
    attrs = PyTuple_New(op.n_attrs)
    for i in range(given - n):
        owned = <object>args[n + i]
        Py_INCREF(owned)
        PyTuple_SET_ITEM(attrs, i, owned)
    for i in range(given - n, op.n_attrs):
        name = PyTuple_GET_ITEM(op.attr_names, i)
        value = NULL
        # Callers mostly keep the declared order; names are interned, so identity decides nearly always.
        j = i - (given - n)
        if PyTuple_GET_ITEM(<tuple>kwnames, j) == name:
            value = args[given + j]
        else:
            for j in range(keywords):
                if PyTuple_GET_ITEM(<tuple>kwnames, j) == name or \
                        <object>PyTuple_GET_ITEM(<tuple>kwnames, j) == <object>name:
                    value = args[given + j]
                    break
        if value == NULL:
            return call_slowly(op, args, given, kwnames)
        owned = <object>value
        Py_INCREF(owned)
        PyTuple_SET_ITEM(attrs, i, owned)
    return apply(op, inputs, n, attrs)


cdef tuple empty_tuple = ()


cdef object call_slowly(Op op, PyObject *const *args, Py_ssize_t given, PyObject *kwnames):
    """Many inputs, or a call that does not fit the declaration and gets its error here."""
    cdef Py_ssize_t i, n = given if op.variadic or given < op.n_fixed else op.n_fixed
    positional = tuple([<object>args[i] for i in range(given)])
    named = {}
    if kwnames != NULL:
        for i, name in enumerate(<tuple>kwnames):
            named[name] = <object>args[given + i]
    for i, value in enumerate(positional[n:]):
        if i >= op.n_attrs or op.attr_names[i] in named:
            raise TypeError(
                f"{op.name}: too many positional arguments. Got {given}, expected the inputs ({op.input_spec}) "
                f"and the attributes ({', '.join(op.attr_names)})."
            )
        named[op.attr_names[i]] = value
    if n < op.min_inputs:
        raise TypeError(f"{op.name}: got {n} inputs, expected ({op.input_spec}).")
    return op.apply(positional[:n], gather_attrs(op, named))


# ------------------------------------------------------------------------------------------ Tensor

cdef object fallback_binary = None
cdef object fallback_getitem = None
cdef object fallback_setitem = None
cdef object fallback_repr = None
cdef object fallback_to_tensor = None


def set_fallback(str name, function):
    """Tell the core which Python function answers what it does not answer itself.

    Args:
        name: "binary" (op_name, x, y, reverse), "getitem" (x, index), "setitem" (x, index, value),
            "repr" (x) or "to_tensor" (data, ...).
        function: the function.
    """
    global fallback_binary, fallback_getitem, fallback_setitem, fallback_repr, fallback_to_tensor
    if name == "binary":
        fallback_binary = function
    elif name == "getitem":
        fallback_getitem = function
    elif name == "setitem":
        fallback_setitem = function
    elif name == "repr":
        fallback_repr = function
    elif name == "to_tensor":
        fallback_to_tensor = function
    else:
        raise ValueError(f"set_fallback: unknown name. Got {name!r}, expected binary, getitem, setitem, repr or to_tensor.")


cdef class BinaryOps:
    """The ops behind Python's operators, looked up once."""
    cdef Op add, subtract, multiply, divide, floor_divide, remainder, power, matmul
    cdef Op equal, not_equal, less_than, less_equal, greater_than, greater_equal
    cdef Op negative, select, slice


cdef BinaryOps b = None


cdef int find_ops() except -1:
    global b, copy_op
    import wherry_tensor.ops  # noqa: F401
    cdef BinaryOps found = BinaryOps()
    found.add, found.subtract, found.multiply = registry["add"], registry["subtract"], registry["multiply"]
    found.divide, found.floor_divide = registry["divide"], registry["floor_divide"]
    found.remainder, found.power, found.matmul = registry["remainder"], registry["power"], registry["matmul"]
    found.equal, found.not_equal = registry["equal"], registry["not_equal"]
    found.less_than, found.less_equal = registry["less_than"], registry["less_equal"]
    found.greater_than, found.greater_equal = registry["greater_than"], registry["greater_equal"]
    found.negative, found.select, found.slice = registry["negative"], registry["select"], registry["slice"]
    copy_op = registry["copy"]
    b = found
    return 0


cdef inline object binary(Op op, object x, object y, bint ints):
    """An operator: here for equal dtypes and for a floating tensor with a Python number.

    ints: may integers take the short way too? (Not for true division and powers.)
    """
    cdef Tensor tx, ty
    if isinstance(x, Tensor):
        tx = <Tensor>x
        if isinstance(y, Tensor):
            ty = <Tensor>y
            if tx.t.dtype == ty.t.dtype and (ints or tx.t.dtype >= WRY_FLOAT16) and tx.t.dtype != WRY_BOOL:
                return apply2(op, x, y, empty_tuple)
        elif PyFloat_CheckExact(y):
            if tx.t.dtype >= WRY_FLOAT16 and tx.t.dtype <= WRY_FLOAT64:
                return apply2(op, x, scalar_tensor(y, tx.t.dtype), empty_tuple)
        elif PyLong_CheckExact(y):
            if (tx.t.dtype >= WRY_FLOAT16 and tx.t.dtype <= WRY_FLOAT64) or (ints and tx.t.dtype == WRY_INT64):
                return apply2(op, x, scalar_tensor(y, tx.t.dtype), empty_tuple)
        return fallback_binary(op.name, x, y, False)
    ty = <Tensor>y
    if (PyFloat_CheckExact(x) or PyLong_CheckExact(x)) and ty.t.dtype >= WRY_FLOAT16 and ty.t.dtype <= WRY_FLOAT64:
        return apply2(op, scalar_tensor(x, ty.t.dtype), y, empty_tuple)
    return fallback_binary(op.name, y, x, True)


cdef inline object inplace(Op op, Tensor x, object y):
    cdef PyObject *inputs[2]
    cdef PyObject *outs[MAX_OUTPUTS]
    cdef PyObject *targets[1]
    cdef wry_thread *thread = wry_thread_state()
    inputs[0] = <PyObject *>x
    inputs[1] = <PyObject *>y
    targets[0] = <PyObject *>x
    perform(op, inputs, 2, empty_tuple, outs, targets, thread)
    Py_DECREF(<object>outs[0])
    return x


cdef long next_name = 0


cdef struct BufferShape:
    Py_ssize_t shape[12]
    Py_ssize_t strides[12]


@cython.freelist(128)
cdef class Tensor:
    """An n-dimensional array of one dtype on one device, with the record that gradients need.

    Made by `to_tensor`, `zeros`, `rand`, ... and by operations on other tensors. Indexing and
    `reshape`, `transpose`, ... give views that share memory, as in Paddle 2.6.
    """

    def __init__(self, *args, **kwargs):
        cdef Tensor source
        if not args and not kwargs:
            self.flags |= STOP_GRADIENT
            return
        source = fallback_to_tensor(*args, **kwargs)
        become(self, source)
        self.flags = source.flags

    def __dealloc__(self):
        if self.storage != NULL:
            unref(self.storage)

    # What it is.

    @property
    def shape(self):
        """Sizes of the axes, a list of int; -1 where a symbolic size is unknown."""
        cdef int i
        cdef list out = []
        for i in range(self.t.rank):
            out.append(self.dims[i])
        return out

    @property
    def strides(self):
        """Elements (not bytes) from one index to the next along each axis, a list of int."""
        return [self.steps[i] for i in range(self.t.rank)]

    @property
    def ndim(self):
        """Number of axes."""
        return self.t.rank

    @property
    def size(self):
        """Number of elements, an int; -1 when it is unknown."""
        return self.t.size

    @property
    def dtype(self):
        """Type of the elements."""
        return dtype_of_code(self.t.dtype)

    @property
    def itemsize(self):
        """Bytes of one element."""
        return itemsizes[self.t.dtype]

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.t.size * itemsizes[self.t.dtype]

    @property
    def stop_gradient(self):
        """True: gradients neither stop here nor pass. True for what users make, False for parameters."""
        return (self.flags & STOP_GRADIENT) != 0

    @stop_gradient.setter
    def stop_gradient(self, bint value):
        if value:
            self.flags |= STOP_GRADIENT
        else:
            self.flags &= ~<uint32_t>STOP_GRADIENT

    @property
    def persistable(self):
        """True for parameters and buffers: what is saved with a model."""
        return (self.flags & PERSISTABLE) != 0

    @persistable.setter
    def persistable(self, bint value):
        if value:
            self.flags |= PERSISTABLE
        else:
            self.flags &= ~<uint32_t>PERSISTABLE

    @property
    def name(self):
        """A name that no other tensor of this process has, unless somebody gave it one."""
        global next_name
        if self.name_value is None:
            self.name_value = f"generated_tensor_{next_name}"
            next_name += 1
        return self.name_value

    @name.setter
    def name(self, str value):
        self.name_value = value

    @property
    def is_leaf(self):
        """True when no recorded op made it: gradients accumulate here."""
        return self.node is None

    @property
    def grad(self):
        """The gradient that backward left here, or None."""
        return self.grad_value

    @grad.setter
    def grad(self, value):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"grad: got {type(value).__name__}, expected a Tensor or None.")
        self.grad_value = value

    @property
    def inplace_version(self):
        """How many times the memory was written in place."""
        return 0 if self.storage == NULL else self.storage.version

    def _bump_inplace_version(self):
        """Say that the memory was written by other means (through `numpy` memory, say)."""
        if self.storage != NULL:
            self.storage.version += 1

    def is_contiguous(self):
        """Do the elements lie in memory in the order of their indices, without gaps?"""
        return (self.flags & CONTIGUOUS) != 0

    def contiguous(self):
        """The tensor itself when it is contiguous, else a contiguous copy (differentiable)."""
        if self.flags & CONTIGUOUS or self.t.data == NULL:
            return self
        return apply1(copy_op, self, empty_tuple)

    def data_ptr(self):
        """Address of the first element."""
        return <size_t>self.t.data

    def _is_initialized(self):
        return self.t.data != NULL

    def _shares_memory_with(self, Tensor other):
        """Do both tensors use the same storage?"""
        return self.storage != NULL and self.storage == other.storage

    # Numbers out.

    def item(self, *index):
        """One element as a Python number; without an index the tensor must have just one."""
        cdef Tensor x = self
        cdef int64_t at, offset
        cdef int i
        need_data(self, "item")
        if not index:
            if self.t.size != 1:
                raise ValueError(
                    f"item: only a tensor of one element is a number. Got shape {self.shape}, expected size 1. "
                    f"Name the element: x.item(i, j)."
                )
            return read_scalar(self.t.data, self.t.dtype)
        if len(index) == 1 and isinstance(index[0], tuple):
            index = index[0]
        if len(index) == 1 and self.t.rank != 1:
            at = index[0]
            if at < 0:
                at += self.t.size
            if at < 0 or at >= self.t.size:
                raise IndexError(f"item: got index {index[0]}, expected one in [{-self.t.size}, {self.t.size}).")
            offset = 0
            for i in range(self.t.rank - 1, -1, -1):
                offset += (at % self.dims[i]) * self.steps[i]
                at //= self.dims[i]
        else:
            if len(index) != self.t.rank:
                raise ValueError(f"item: got {len(index)} indices, expected {self.t.rank} for shape {self.shape}.")
            offset = 0
            for i in range(self.t.rank):
                at = index[i]
                if at < 0:
                    at += self.dims[i]
                if at < 0 or at >= self.dims[i]:
                    raise IndexError(
                        f"item: index {index[i]} is out of range for axis {i} of shape {self.shape}. "
                        f"Expected one in [{-self.dims[i]}, {self.dims[i]})."
                    )
                offset += at * self.steps[i]
        return read_scalar(<char *>self.t.data + offset * itemsizes[self.t.dtype], self.t.dtype)

    def tolist(self):
        """The elements as nested Python lists; a number for a 0-d tensor."""
        need_data(self, "tolist")
        return nested(self, 0, <const char *>self.t.data)

    def __bool__(self):
        if self.t.size != 1:
            raise ValueError(
                f"bool(Tensor): the truth value of a tensor needs exactly one element. Got shape {self.shape}. "
                f"Use x.any() or x.all()."
            )
        need_data(self, "bool(Tensor)")
        return bool(read_scalar(self.t.data, self.t.dtype))

    def __float__(self):
        return float(one_number(self, "float"))

    def __int__(self):
        return int(one_number(self, "int"))

    def __complex__(self):
        return complex(one_number(self, "complex"))

    def __index__(self):
        if self.t.dtype > WRY_INT64:
            raise TypeError(f"only an integer tensor is an index. Got dtype {self.dtype.name}, expected an integer dtype.")
        return int(one_number(self, "index"))

    def __len__(self):
        if self.t.rank == 0:
            raise TypeError("len() of a 0-d tensor. Got shape [], expected at least one axis. Use x.size for the count.")
        return self.dims[0]

    def __hash__(self):
        return <Py_ssize_t><void *>self >> 4

    def __repr__(self):
        if fallback_repr is None:
            return f"<Tensor shape={self.shape} dtype={self.dtype.name}>"
        return fallback_repr(self)

    # Operators. Equal dtypes and Python floats are answered here, the rest in operators.py.

    def __add__(self, other):
        return binary(b.add, self, other, True)

    def __radd__(self, other):
        return binary(b.add, other, self, True)

    def __sub__(self, other):
        return binary(b.subtract, self, other, True)

    def __rsub__(self, other):
        return binary(b.subtract, other, self, True)

    def __mul__(self, other):
        return binary(b.multiply, self, other, True)

    def __rmul__(self, other):
        return binary(b.multiply, other, self, True)

    def __truediv__(self, other):
        return binary(b.divide, self, other, False)

    def __rtruediv__(self, other):
        return binary(b.divide, other, self, False)

    def __floordiv__(self, other):
        return binary(b.floor_divide, self, other, True)

    def __rfloordiv__(self, other):
        return binary(b.floor_divide, other, self, True)

    def __mod__(self, other):
        return binary(b.remainder, self, other, True)

    def __rmod__(self, other):
        return binary(b.remainder, other, self, True)

    def __pow__(self, other, modulo):
        if modulo is not None:
            raise TypeError("pow() of a tensor takes no modulus. Got three arguments, expected two. Use (x ** y) % m.")
        return binary(b.power, self, other, False)

    def __rpow__(self, other, modulo):
        return binary(b.power, other, self, False)

    def __matmul__(self, other):
        if isinstance(self, Tensor) and isinstance(other, Tensor) and (<Tensor>self).t.dtype == (<Tensor>other).t.dtype:
            return apply2(b.matmul, self, other, no_transposes)
        return fallback_binary("matmul", self, other, False)

    def __rmatmul__(self, other):
        return fallback_binary("matmul", self, other, True)

    def __neg__(self):
        return apply1(b.negative, self, empty_tuple)

    def __pos__(self):
        return self

    def __abs__(self):
        return apply1(registry["abs"], self, empty_tuple)

    def __invert__(self):
        return fallback_binary("invert", self, None, False)

    def __and__(self, other):
        return fallback_binary("and", self, other, False)

    def __rand__(self, other):
        return fallback_binary("and", self, other, True)

    def __or__(self, other):
        return fallback_binary("or", self, other, False)

    def __ror__(self, other):
        return fallback_binary("or", self, other, True)

    def __xor__(self, other):
        return fallback_binary("xor", self, other, False)

    def __rxor__(self, other):
        return fallback_binary("xor", self, other, True)

    def __richcmp__(self, other, int how):
        cdef Op op
        if how == 0:
            op = b.less_than
        elif how == 1:
            op = b.less_equal
        elif how == 2:
            op = b.equal
        elif how == 3:
            op = b.not_equal
        elif how == 4:
            op = b.greater_than
        else:
            op = b.greater_equal
        return binary(op, self, other, True)

    def __iadd__(self, other):
        return inplace_operator(b.add, self, other)

    def __isub__(self, other):
        return inplace_operator(b.subtract, self, other)

    def __imul__(self, other):
        return inplace_operator(b.multiply, self, other)

    def __getitem__(self, index):
        if self.t.rank > 0 and self.t.data != NULL:
            if PyLong_CheckExact(index):
                return select_first(self, index)
        return fallback_getitem(self, index)

    def __setitem__(self, index, value):
        fallback_setitem(self, index, value)

    # Memory shared with others.

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        cdef BufferShape *sizes
        cdef int i
        need_data(self, "buffer")
        if not flags & PyBUF_STRIDES == PyBUF_STRIDES and not self.flags & CONTIGUOUS:
            raise BufferError("the tensor is strided. Got a request for a plain buffer, expected x.contiguous().")
        sizes = <BufferShape *>malloc(sizeof(BufferShape))
        if sizes == NULL:
            raise MemoryError()
        for i in range(self.t.rank):
            sizes.shape[i] = <Py_ssize_t>self.dims[i]
            sizes.strides[i] = <Py_ssize_t>(self.steps[i] * itemsizes[self.t.dtype])
        buffer.buf = self.t.data
        buffer.obj = self
        buffer.len = <Py_ssize_t>(self.t.size * itemsizes[self.t.dtype])
        buffer.itemsize = itemsizes[self.t.dtype]
        buffer.readonly = 0
        buffer.ndim = self.t.rank
        buffer.format = buffer_formats[self.t.dtype] if flags & PyBUF_FORMAT else NULL
        buffer.shape = sizes.shape if flags & PyBUF_ND else NULL
        buffer.strides = sizes.strides if flags & PyBUF_STRIDES == PyBUF_STRIDES else NULL
        buffer.suboffsets = NULL
        buffer.internal = sizes

    def __releasebuffer__(self, Py_buffer *buffer):
        free(buffer.internal)

    def numpy(self):
        """A NumPy array with a copy of the values; bfloat16 comes as its bits in uint16, as in Paddle."""
        import numpy
        need_data(self, "numpy")
        return numpy.array(memoryview(self), copy=True) if self.t.rank else numpy.array(self, copy=True)

    def _share_data_with(self, Tensor other):
        """Make this tensor use the memory, shape and dtype of `other`; name and gradient stay."""
        become(self, other)

    def _symbolic_like(self):
        return new_ghost(self.t.dtype, self.t.rank, self.dims)


cdef const char *buffer_formats[12]
buffer_formats[:] = [b"?", b"B", b"b", b"h", b"i", b"q", b"e", b"H", b"f", b"d", b"Zf", b"Zd"]

cdef tuple no_transposes = (False, False)


cdef object inplace_operator(Op op, object x, object y):
    cdef Tensor t = <Tensor>x
    if isinstance(y, Tensor) and (<Tensor>y).t.dtype == t.t.dtype and t.t.dtype != WRY_BOOL:
        return inplace(op, t, y)
    if (PyFloat_CheckExact(y) or PyLong_CheckExact(y)) and WRY_FLOAT16 <= t.t.dtype <= WRY_FLOAT64:
        return inplace(op, t, scalar_tensor(y, t.t.dtype))
    return binary(op, x, y, True)  # a new tensor, as where dtypes differ


cdef object select_first(Tensor x, object index):
    """x[i] with a Python int: the commonest index of all."""
    cdef Py_ssize_t i
    cdef int overflow = 0
    i = <Py_ssize_t>PyLong_AsLongLongAndOverflow(index, &overflow)
    if overflow or i >= x.dims[0] or i < -x.dims[0]:
        raise IndexError(
            f"index {index} is out of range for axis 0 of shape {x.shape}. "
            f"Expected an index in [{-x.dims[0]}, {x.dims[0]})."
        )
    return apply1(b.select, x, (0, index))


cdef int become(Tensor self, Tensor source) except -1:
    cdef int i
    cdef wry_storage *old = self.storage
    self.storage = source.storage
    if self.storage != NULL:
        self.storage.refs += 1
    if old != NULL:
        unref(old)
    self.t = source.t
    self.t.shape = self.dims
    self.t.strides = self.steps
    for i in range(source.t.rank):
        self.dims[i] = source.dims[i]
        self.steps[i] = source.steps[i]
    self.flags = (self.flags & ~<uint32_t>(CONTIGUOUS | SYMBOLIC)) | (source.flags & (CONTIGUOUS | SYMBOLIC))
    return 0


cdef int need_data(Tensor x, str what) except -1:
    if x.t.data == NULL:
        if x.flags & SYMBOLIC:
            raise RuntimeError(
                f"{what}: the tensor is symbolic. Got a value of a captured program (shape {x.shape}), "
                f"expected a tensor with data. Run the program to get values."
            )
        raise ValueError(f"{what}: the tensor is not initialized. Got a Tensor without data, expected one with data.")
    return 0


cdef object one_number(Tensor x, str what):
    if x.t.size != 1:
        raise TypeError(
            f"{what}(Tensor): only a tensor of one element converts. Got shape {x.shape}, expected size 1. "
            f"Pick one element, as in x[0]."
        )
    need_data(x, what + "(Tensor)")
    return read_scalar(x.t.data, x.t.dtype)


cdef object nested(Tensor x, int axis, const char *at):
    cdef int64_t i, step
    cdef list out
    if axis == x.t.rank:
        return read_scalar(at, x.t.dtype)
    out = []
    step = x.steps[axis] * itemsizes[x.t.dtype]
    for i in range(x.dims[axis]):
        out.append(nested(x, axis + 1, at + i * step))
    return out


# ------------------------------------------------------------------------- making tensors from data

cdef int parse_format(const char *format, Py_ssize_t itemsize) except -2:
    """The dtype code of a buffer's format, -1 when we have none."""
    cdef str f = "B" if format == NULL else format.decode("ascii", "replace")
    if f[:1] in "@=<" and len(f) > 1:
        f = f[1:]
    elif f[:1] == ">" and itemsize > 1:
        raise TypeError("the data is big-endian. Got such an array, expected native byte order. Use array.astype('<f4').")
    if f == "?":
        return WRY_BOOL
    if f in ("e", "f", "d"):
        return {2: WRY_FLOAT16, 4: WRY_FLOAT32, 8: WRY_FLOAT64}.get(itemsize, -1)
    if f in ("Zf", "Zd", "F", "D"):
        return {8: WRY_COMPLEX64, 16: WRY_COMPLEX128}.get(itemsize, -1)
    if f in ("b", "h", "i", "l", "q", "n"):
        return {1: WRY_INT8, 2: WRY_INT16, 4: WRY_INT32, 8: WRY_INT64}.get(itemsize, -1)
    if f == "B":
        return WRY_UINT8
    return -1


def from_buffer(data, dtype=None):
    """A tensor with a copy of anything that has the buffer protocol (arrays, bytes, memoryviews).

    Args:
        data: any shape and strides.
        dtype: take the items as this DType although the format says otherwise (same item size):
            bfloat16 bits arrive as uint16.

    Raises:
        TypeError: the items are of no dtype that tensors have.
    """
    cdef Py_buffer view
    cdef int code, i
    cdef int64_t shape[12]
    cdef int64_t steps[12]
    cdef Tensor out
    PyObject_GetBuffer(data, &view, PyBUF_FULL_RO)
    try:
        if view.suboffsets != NULL:
            raise TypeError("from_buffer: got an indirect buffer, expected one strided block of memory.")
        if dtype is not None and (<DType?>dtype).itemsize == view.itemsize:
            code = (<DType>dtype).code
        else:
            code = parse_format(view.format, view.itemsize)
        if code < 0:
            raise TypeError(
                f"from_buffer: no dtype for these items. Got format '{(view.format or b'B').decode()}' "
                f"({view.itemsize} bytes), expected bool, int8..int64, uint8, float16..float64 or complex."
            )
        if view.ndim > WRY_MAX_RANK:
            raise ValueError(f"from_buffer: got {view.ndim} axes, expected at most {WRY_MAX_RANK}.")
        for i in range(view.ndim):
            shape[i] = view.shape[i] if view.shape != NULL else view.len // view.itemsize
        out = new_tensor(code, view.ndim, shape)
        if out.t.size:
            if view.strides == NULL:
                memcpy(out.t.data, view.buf, view.len)
            else:
                for i in range(view.ndim):
                    steps[i] = view.strides[i]
                # In bytes: a stride need not be a multiple of the item.
                byte_copy(<char *>out.t.data, <const char *>view.buf, shape, steps, view.ndim, view.itemsize)
        return out
    finally:
        PyBuffer_Release(&view)


cdef char *byte_copy(char *to, const char *at, const int64_t *shape, const int64_t *steps, int rank, int64_t item) noexcept:
    cdef int64_t i
    if rank == 0:
        memcpy(to, at, item)
        return to + item
    if rank == 1 and steps[0] == item:
        memcpy(to, at, item * shape[0])
        return to + item * shape[0]
    for i in range(shape[0]):
        to = byte_copy(to, at + i * steps[0], shape + 1, steps + 1, rank - 1, item)
    return to


cdef void let_go(void *owner) noexcept with gil:
    cdef Py_buffer *view = <Py_buffer *>owner
    PyBuffer_Release(view)
    free(view)


def share_buffer(data):
    """A tensor on the very memory of `data`, which must be writable; it lives as long as the tensor."""
    cdef Py_buffer *view = <Py_buffer *>malloc(sizeof(Py_buffer))
    cdef Tensor out
    cdef int code, i
    cdef bint done = False
    if view == NULL:
        raise MemoryError()
    try:
        PyObject_GetBuffer(data, view, PyBUF_FULL_RO | PyBUF_WRITABLE)
    except BaseException:
        free(view)
        raise
    try:
        code = parse_format(view.format, view.itemsize)
        if code < 0 or view.ndim > WRY_MAX_RANK or view.suboffsets != NULL:
            raise TypeError("share_buffer: no tensor can have this memory. Got another item type, or too many axes.")
        out = blank()
        out.t.rank = view.ndim
        out.t.dtype = code
        for i in range(view.ndim):
            out.dims[i] = view.shape[i]
            if view.strides[i] % view.itemsize:
                raise TypeError("share_buffer: the strides are no multiples of the item size. Use a copy (to_tensor).")
            out.steps[i] = view.strides[i] // view.itemsize
        out.storage = wry_storage_borrow(view.buf, view.len, view, let_go)
        if out.storage == NULL:
            raise MemoryError()
        out.t.data = view.buf
        out.flags = STOP_GRADIENT
        settle(out)
        done = True
        return out
    finally:
        if not done:
            PyBuffer_Release(view)
            free(view)


def from_values(values, shape, DType dtype not None):
    """A tensor of `shape` from a flat sequence of Python numbers, row by row."""
    cdef int64_t sizes[12]
    cdef Py_ssize_t i, rank = len(shape)
    cdef Tensor out
    cdef char *at
    if rank > WRY_MAX_RANK:
        raise ValueError(f"from_values: got {rank} axes, expected at most {WRY_MAX_RANK}.")
    for i in range(rank):
        sizes[i] = shape[i]
        if sizes[i] < 0:
            raise ValueError(f"from_values: got the negative size {sizes[i]} in shape {list(shape)}.")
    out = new_tensor(dtype.code, <int32_t>rank, sizes)
    if len(values) != out.t.size:
        raise ValueError(f"from_values: got {len(values)} values, expected {out.t.size} for shape {list(shape)}.")
    at = <char *>out.t.data
    for value in values:
        store_number(at, dtype.code, value)
        at += itemsizes[dtype.code]
    return out


def scalar(value, DType dtype not None):
    """A 0-d tensor."""
    return scalar_tensor(value, dtype.code)


def uninitialized(shape, DType dtype not None):
    """A tensor whose values are whatever the memory held."""
    cdef int64_t sizes[12]
    cdef Py_ssize_t i, rank = len(shape)
    if rank > WRY_MAX_RANK:
        raise ValueError(f"empty: got {rank} axes, expected at most {WRY_MAX_RANK}.")
    for i in range(rank):
        sizes[i] = shape[i]
        if sizes[i] < 0:
            raise ValueError(f"empty: got the negative size {sizes[i]} in shape {list(shape)}, expected sizes >= 0.")
    return new_tensor(dtype.code, <int32_t>rank, sizes)


def symbolic(shape, DType dtype not None):
    """A tensor with a shape (-1: unknown) and a dtype but no data, for capture layers."""
    cdef int64_t sizes[12]
    cdef Py_ssize_t i, rank = len(shape)
    if rank > WRY_MAX_RANK:
        raise ValueError(f"symbolic: got {rank} axes, expected at most {WRY_MAX_RANK}.")
    for i in range(rank):
        sizes[i] = shape[i]
    return new_ghost(dtype.code, <int32_t>rank, sizes)


def is_symbolic(x):
    """Is `x` a tensor of a captured program, without data?"""
    return isinstance(x, Tensor) and (<Tensor>x).flags & SYMBOLIC != 0


def alias(Tensor x not None):
    """Another tensor on the same memory, without gradient history."""
    return new_alias(x)


def add_methods(dict methods):
    """Give Tensor more methods and properties: {name: function or property}."""
    for name, value in methods.items():
        wry_type_set(<PyTypeObject *>Tensor, name, value)


# ------------------------------------------------------------------------------ random, threads, memory

cdef class Generator:
    """The state of random numbers: a Philox key (the seed) and how many counters are spent."""
    cdef public uint64_t seed_value
    cdef public uint64_t offset

    def __init__(self, seed=0):
        self.seed_value = <uint64_t>(int(seed) & 0xFFFFFFFFFFFFFFFF)

    def manual_seed(self, seed):
        """Start over from `seed`, an int; returns the generator."""
        self.seed_value = <uint64_t>(int(seed) & 0xFFFFFFFFFFFFFFFF)
        self.offset = 0
        return self

    def initial_seed(self):
        """The seed in use."""
        return self.seed_value

    def get_state(self):
        """(seed, offset): two ints that `set_state` takes back."""
        return self.seed_value, self.offset

    def set_state(self, state):
        """Go back to a state that `get_state` gave."""
        seed, offset = state
        self.seed_value, self.offset = seed, offset


cdef Generator default_generator = Generator()


def get_default_generator():
    """The generator that random ops draw from."""
    return default_generator


def set_default_generator(Generator generator not None):
    """Make random ops draw from `generator`; returns the one before."""
    global default_generator
    before = default_generator
    default_generator = generator
    return before


def get_num_threads():
    """How many threads a kernel may use."""
    return process_threads


def set_num_threads(int count):
    """Set how many threads a kernel may use, at least 1. Results do not depend on it."""
    global process_threads
    if count < 1:
        raise ValueError(f"set_num_threads: got {count}, expected a number of threads >= 1.")
    process_threads = count


def memory_stats():
    """Bytes: allocated, peak_allocated (held by tensors), reserved, peak_reserved (with the cache)."""
    cdef wry_memory_stats stats
    wry_memory_get_stats(&stats)
    return stats


def reset_peak_memory_stats():
    """Let the peaks start again from what is in use now."""
    wry_memory_reset_peak()


def release_memory_cache():
    """Give the memory that the allocator keeps for reuse back to the system."""
    wry_memory_release_cache()


def set_memory_cache_limit(size_t nbytes):
    """How many bytes of freed memory the allocator keeps at most."""
    wry_memory_set_cache_limit(nbytes)


def is_grad_enabled():
    """Are ops of this thread recorded for gradients?"""
    return grad_enabled()


def set_grad_mode(bint enabled):
    """Switch recording for this thread; returns what it was."""
    return set_grad_enabled_flag(enabled)


# ---------------------------------------------------------------------------------- kernel ABI, host

cdef int register_kernels(const char *device, const wry_kernel_entry *entries, size_t count) except -1:
    global any_kernels
    cdef size_t i
    cdef Op op
    cdef KernelRow *rows
    cdef int32_t at
    if device != b"cpu":
        raise NotImplementedError(
            f"register_kernels: unknown device. Got '{device.decode()}', expected 'cpu': "
            f"this version of wherry-tensor has no other device."
        )
    import wherry_tensor.ops  # declares the names  # noqa: F401
    for i in range(count):
        name = entries[i].op.decode()
        if name not in registry:
            raise KeyError(f"register_kernels: no op of this name. Got '{name}', expected an op of the vocabulary.")
        op = registry[name]
        if not -1 <= entries[i].dtype < WRY_NUM_DTYPES or entries[i].kernel == NULL:
            raise ValueError(f"register_kernels: row {i} ('{name}') has no kernel or an unknown dtype {entries[i].dtype}.")
        if op.kernels == NULL:
            op.kernels = malloc((WRY_NUM_DTYPES + 1) * sizeof(KernelRow))
            if op.kernels == NULL:
                raise MemoryError()
            memset(op.kernels, 0, (WRY_NUM_DTYPES + 1) * sizeof(KernelRow))
        rows = <KernelRow *>op.kernels
        at = WRY_NUM_DTYPES if entries[i].dtype < 0 else entries[i].dtype
        rows[at].kernel = entries[i].kernel
        rows[at].flags = entries[i].flags
        op.plans = [None] * 8  # plans hold kernels
        op.used = 0
    any_kernels = True
    return 0


cdef wry_host host_table
host_table.abi_version = WRY_ABI_VERSION
host_table.register_kernels = register_kernels
host = PyCapsule_New(&host_table, b"wherry.host", NULL)


cdef int finish() except -1:
    cdef Op probe = Op("probe", "x", (), (), ("out",), False)
    wry_enable_vectorcall(<PyTypeObject *>Op, <char *>&probe.vectorcall - <char *><void *>probe)
    return 0


finish()


def start():
    """Called by the package once the vocabulary is declared."""
    find_ops()
