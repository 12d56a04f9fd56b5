# DLPack: tensors handed to and taken from other libraries without a copy.
#
# The structs of https://dmlc.github.io/dlpack, version 1.0, and the one that came before versions.

cdef extern from *:
    """
    typedef struct { int32_t device_type; int32_t device_id; } DLDevice;
    typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
    typedef struct {
      void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape; int64_t *strides; uint64_t byte_offset;
    } DLTensor;
    typedef struct DLManagedTensor {
      DLTensor dl_tensor; void *manager_ctx; void (*deleter)(struct DLManagedTensor *);
    } DLManagedTensor;
    typedef struct DLManagedTensorVersioned {
      uint32_t major; uint32_t minor; void *manager_ctx; void (*deleter)(struct DLManagedTensorVersioned *);
      uint64_t flags; DLTensor dl_tensor;
    } DLManagedTensorVersioned;
    """
    ctypedef struct DLDevice:
        int32_t device_type
        int32_t device_id
    ctypedef struct DLDataType:
        uint8_t code
        uint8_t bits
        uint16_t lanes
    ctypedef struct DLTensor:
        void *data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t *shape
        int64_t *strides
        uint64_t byte_offset
    ctypedef struct DLManagedTensor:
        DLTensor dl_tensor
        void *manager_ctx
        void (*deleter)(DLManagedTensor *) noexcept
    ctypedef struct DLManagedTensorVersioned:
        uint32_t major
        uint32_t minor
        void *manager_ctx
        void (*deleter)(DLManagedTensorVersioned *) noexcept
        uint64_t flags
        DLTensor dl_tensor

cdef extern from "Python.h":
    ctypedef void (*PyCapsule_Destructor)(PyObject *)
    object PyCapsule_New_with "PyCapsule_New"(void *, const char *, PyCapsule_Destructor)
    void *PyCapsule_GetPointer(object, const char *) except NULL
    bint PyCapsule_IsValid(object, const char *)
    bint dying_capsule_is "PyCapsule_IsValid"(PyObject *, const char *) noexcept
    void *dying_capsule_pointer "PyCapsule_GetPointer"(PyObject *, const char *) noexcept
    int PyCapsule_SetName(object, const char *) except -1

cdef enum:
    DL_CPU = 1
    DL_INT = 0
    DL_UINT = 1
    DL_FLOAT = 2
    DL_BFLOAT = 4
    DL_COMPLEX = 5
    DL_BOOL = 6
    DL_READ_ONLY = 1
    DL_COPIED = 2

# The code of each of our dtypes, in the order of wry_dtype.
cdef int[WRY_NUM_DTYPES] dl_codes
dl_codes[:] = [
    DL_BOOL, DL_UINT, DL_INT, DL_INT, DL_INT, DL_INT, DL_FLOAT, DL_BFLOAT, DL_FLOAT, DL_FLOAT, DL_COMPLEX, DL_COMPLEX,
]


cdef void fill_dl_tensor(DLTensor *d, Tensor x) noexcept:
    d.data = x.t.data
    d.device.device_type = DL_CPU if x.t.device == 0 else wry_device_of(x.t.device).dlpack_type
    d.device.device_id = WRY_DEVICE_NUMBER(x.t.device)
    d.ndim = x.t.rank
    d.dtype.code = <uint8_t>dl_codes[x.t.dtype]
    d.dtype.bits = <uint8_t>(8 * itemsizes[x.t.dtype])
    d.dtype.lanes = 1
    d.shape = x.dims      # x is kept alive by the capsule, and nobody else changes this alias
    d.strides = x.steps
    d.byte_offset = 0


cdef void drop_export(DLManagedTensor *m) noexcept with gil:
    Py_DECREF(<object>m.manager_ctx)
    free(m)


cdef void drop_export_versioned(DLManagedTensorVersioned *m) noexcept with gil:
    Py_DECREF(<object>m.manager_ctx)
    free(m)


cdef void drop_capsule(PyObject *capsule) noexcept:
    """A capsule that nobody took: it still has its first name. It is being freed, so no reference may be made to it."""
    cdef DLManagedTensor *m
    cdef DLManagedTensorVersioned *v
    if dying_capsule_is(capsule, b"dltensor"):
        m = <DLManagedTensor *>dying_capsule_pointer(capsule, b"dltensor")
        m.deleter(m)
    elif dying_capsule_is(capsule, b"dltensor_versioned"):
        v = <DLManagedTensorVersioned *>dying_capsule_pointer(capsule, b"dltensor_versioned")
        v.deleter(v)


def to_dlpack(Tensor x not None, bint versioned=False, bint copied=False):
    """A capsule with the memory of `x`, which lives until the taker lets go of it."""
    cdef Tensor kept
    cdef DLManagedTensor *m
    cdef DLManagedTensorVersioned *v
    kept = alias_with_data(x, "__dlpack__")
    kept.storage.foreign = 1
    if versioned:
        v = <DLManagedTensorVersioned *>malloc(sizeof(DLManagedTensorVersioned))
        if v == NULL:
            raise MemoryError()
        v.major = 1
        v.minor = 0
        v.flags = DL_COPIED if copied else 0
        v.manager_ctx = <void *>kept
        v.deleter = drop_export_versioned
        fill_dl_tensor(&v.dl_tensor, kept)
        Py_INCREF(kept)
        return PyCapsule_New_with(v, b"dltensor_versioned", drop_capsule)
    m = <DLManagedTensor *>malloc(sizeof(DLManagedTensor))
    if m == NULL:
        raise MemoryError()
    m.manager_ctx = <void *>kept
    m.deleter = drop_export
    fill_dl_tensor(&m.dl_tensor, kept)
    Py_INCREF(kept)
    return PyCapsule_New_with(m, b"dltensor", drop_capsule)


cdef void release_import(void *owner) noexcept with gil:
    cdef DLManagedTensor *m = <DLManagedTensor *>owner
    if m.deleter != NULL:
        m.deleter(m)


cdef void release_import_versioned(void *owner) noexcept with gil:
    cdef DLManagedTensorVersioned *v = <DLManagedTensorVersioned *>owner
    if v.deleter != NULL:
        v.deleter(v)


cdef int32_t device_of_dlpack(int32_t kind, int32_t number) noexcept:
    """The device with this number of DLPack's; -1: there is none."""
    cdef int row
    if kind == DL_CPU:
        return 0
    for row in range(1, wry_device_kinds()):
        if wry_device_of(row).dlpack_type == kind and 0 <= number < wry_device_of(row).count:
            return WRY_DEVICE(row, number)
    return -1


def ready_for(int32_t device, stream):
    """Lets whoever takes memory of the device on `stream` (a handle; None: any) find it complete; -1: nobody waits."""
    cdef char error[512]
    cdef const wry_device *d = wry_device_of(device)
    cdef DeviceEvent event
    if d == NULL or stream == -1:
        return
    if stream is None or d.event_create == NULL or stream in (0, 1, 2):
        get_stream(device).synchronize()
        return
    event = DeviceEvent(device)
    event.record(get_stream(device))
    error[0] = 0
    status = d.stream_wait(d.self, WRY_DEVICE_NUMBER(device), <void *><size_t>stream, event.event, error)
    if status != WRY_OK:
        raise_text(status, "__dlpack__", error)


cdef DLTensor *opened(capsule, DLManagedTensor **m, DLManagedTensorVersioned **v) except NULL:
    """What a capsule holds, and through `m` or `v` the struct that its owner wants back."""
    if PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        v[0] = <DLManagedTensorVersioned *>PyCapsule_GetPointer(capsule, b"dltensor_versioned")
        if v[0].major != 1:
            raise ValueError(
                f"from_dlpack: unknown version of DLPack. Got {v[0].major}.{v[0].minor}, expected 1.x. "
                f"Pass the array itself, so that a version can be agreed on."
            )
        return &v[0].dl_tensor
    if PyCapsule_IsValid(capsule, b"dltensor"):
        m[0] = <DLManagedTensor *>PyCapsule_GetPointer(capsule, b"dltensor")
        return &m[0].dl_tensor
    if PyCapsule_IsValid(capsule, b"used_dltensor") or PyCapsule_IsValid(capsule, b"used_dltensor_versioned"):
        raise ValueError("from_dlpack: the capsule was used before. Got a second use, expected one. Make a new capsule.")
    raise TypeError(
        f"from_dlpack: this is not a DLPack capsule. Got {type(capsule).__name__}, expected a capsule named dltensor, or an "
        f"object with __dlpack__. Make one with to_dlpack."
    )


def take_dlpack(capsule):
    """A tensor on the memory of a DLPack capsule; the capsule is used up."""
    cdef DLManagedTensor *m = NULL
    cdef DLManagedTensorVersioned *v = NULL
    cdef DLTensor *d = opened(capsule, &m, &v)
    cdef Tensor out, copied
    cdef int code = -1, i
    cdef int32_t device
    cdef int64_t size = 1, low, high, item
    cdef char *start
    device = device_of_dlpack(d.device.device_type, d.device.device_id)
    if device < 0:
        raise ValueError(
            f"from_dlpack: no device here has this memory. Got device type {d.device.device_type}, expected 1 (cpu) or that of "
            f"a registered device. Copy the array to the cpu first."
        )
    for i in range(WRY_NUM_DTYPES):
        if d.dtype.lanes == 1 and dl_codes[i] == d.dtype.code and 8 * itemsizes[i] == d.dtype.bits:
            code = i
    if code < 0 or d.ndim > WRY_MAX_RANK or d.ndim < 0:
        raise TypeError(
            f"from_dlpack: no tensor holds such an array. Got type code {d.dtype.code} of {d.dtype.bits} bits and {d.ndim} "
            f"axes, expected a dtype that tensors have and at most {WRY_MAX_RANK} axes. Convert it in its own library."
        )
    item = itemsizes[code]
    out = blank()
    out.t.rank = d.ndim
    out.t.dtype = code
    out.t.device = device
    for i in range(d.ndim - 1, -1, -1):
        out.dims[i] = d.shape[i]
        out.steps[i] = size if d.strides == NULL else d.strides[i]
        size = <int64_t>(<uint64_t>size * <uint64_t>d.shape[i])  # beyond 64 bits `reach` says so
    if not reach(d.ndim, out.dims, out.steps, &low, &high):
        raise ValueError(
            f"from_dlpack: no memory has this shape and these strides. Got shape {out.shape} and strides {out.strides}, "
            f"expected sizes >= 0 that fit into memory. The capsule was not made as DLPack says."
        )
    start = <char *>d.data + d.byte_offset
    size = 0 if product(d.ndim, out.dims) == 0 else 1  # what follows only asks whether there are elements
    if size and d.data == NULL:
        raise ValueError(f"from_dlpack: the array has no memory. Got a null pointer for shape {out.shape}, expected its data.")
    if v != NULL and v.flags & DL_READ_ONLY or <size_t>start % <size_t>(item if code < WRY_COMPLEX64 else item // 2):
        # A tensor can be written to, so memory that may not be is copied; and so is what kernels could not read, items
        # that do not lie at a multiple of their size.
        copied = new_tensor_on(device, code, out.t.rank, out.dims)
        out.t.data = start
        settle(out)
        copy_strided(copied, out)
        if device:
            get_stream(device).synchronize()  # the owner gets its memory back below
        PyCapsule_SetName(capsule, b"used_dltensor_versioned" if v != NULL else b"used_dltensor")
        if v != NULL:
            release_import_versioned(v)
        else:
            release_import(m)
        return truths(copied) if code == WRY_BOOL else copied
    out.storage = wry_storage_borrow(
        start + low * item, <size_t>((high - low + 1) * item) if size else 0, <void *>v if v != NULL else <void *>m,
        release_import_versioned if v != NULL else release_import)
    if out.storage == NULL:
        raise MemoryError()
    out.storage.device = device
    PyCapsule_SetName(capsule, b"used_dltensor_versioned" if v != NULL else b"used_dltensor")
    # Zero-size arrays may come without memory; a tensor without data would count as uninitialized.
    out.t.data = start if start != NULL else <void *>&dl_codes
    out.flags = STOP_GRADIENT
    settle(out)
    return out
