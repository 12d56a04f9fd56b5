# Making tensors: fresh ones, aliases, ghosts; reading and writing single numbers.

cdef int64_t MOST_ELEMENTS = <int64_t>1 << 47  # more than an address space has room for

cdef inline void unref(wry_storage *s) noexcept:
    s.refs -= 1
    if s.refs == 0:
        wry_storage_free(s)


cdef object memory_error(Op op, int32_t dtype, int32_t rank, const int64_t *shape, double nbytes):
    from wherry_tensor.errors import ResourceExhaustedError
    sizes = [shape[i] for i in range(rank)]
    unit = 0
    while nbytes >= 1024 and unit < 6:
        nbytes /= 1024
        unit += 1
    amount = f"{nbytes:.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB')[unit]}"
    return ResourceExhaustedError(
        f"{'tensor' if op is None else op.name}: not enough memory: {amount} for a {dtype_of_code(dtype).name} tensor of "
        f"shape {sizes}. Got a request for more than the machine gives, expected less. Use a smaller shape or dtype, "
        f"or work in parts."
    )


# Tensors that nobody holds any more wait here for the next one that is made. Those of Cython's free list are filled with
# zeros and get a dictionary each; these get one when somebody sets an attribute, and their other fields hold None.
cdef enum:
    SPARES = 128

cdef PyObject *spare[SPARES]
cdef int spares = 0
cdef destructor generated_dealloc


cdef inline Tensor blank():
    global spares
    cdef Tensor out
    if spares:
        spares -= 1
        out = wry_revived(spare[spares])
        memset(&out.t, 0, sizeof(wry_tensor))
        out.flags = 0
        out.output_index = 0
    else:
        out = Tensor.__new__(Tensor)
        wry_drop_dict(<PyObject *>out)
    out.t.shape = out.dims
    out.t.strides = out.steps
    return out


cdef void dealloc_tensor(PyObject *self) noexcept:
    """Keeps a tensor that nothing hangs on; `generated_dealloc` takes the others apart."""
    global spares
    cdef wry_storage *storage = (<Tensor>self).storage
    if spares == SPARES or not wry_is_bare(self, <PyTypeObject *>Tensor) or \
            <PyObject *>(<Tensor>self).grad_value != <PyObject *>None or \
            <PyObject *>(<Tensor>self).name_value != <PyObject *>None or \
            <PyObject *>(<Tensor>self).hooks != <PyObject *>None or \
            (storage != NULL and (storage.release != NULL or storage.device)):  # these may run anything when they go
        generated_dealloc(self)
        return
    PyObject_GC_UnTrack(self)
    if storage != NULL:
        (<Tensor>self).storage = NULL
        unref(storage)
    if <PyObject *>(<Tensor>self).node != <PyObject *>None:
        (<Tensor>self).node = None
        if spares == SPARES:  # what went with the node has filled it
            generated_dealloc(self)
            return
    spare[spares] = self
    spares += 1


generated_dealloc = (<PyTypeObject *>Tensor).tp_dealloc
(<PyTypeObject *>Tensor).tp_dealloc = dealloc_tensor


cdef Tensor new_tensor(int32_t dtype, int32_t rank, const int64_t *shape):
    return new_output(None, 0, dtype, rank, shape)


cdef object device_memory_error(Op op, int32_t device, int32_t dtype, int32_t rank, const int64_t *shape, str reason):
    from wherry_tensor.device import who_holds
    from wherry_tensor.errors import ExternalError, ResourceExhaustedError
    if reason.startswith("(External)"):  # it is not memory that is missing
        return ExternalError(reason)
    sizes = [shape[i] for i in range(rank)]
    return ResourceExhaustedError(
        f"{'tensor' if op is None else op.name}: not enough memory on {device_name(device)} for a {dtype_of_code(dtype).name} tensor of shape {sizes}. "
        f"Got: {reason or 'no memory from the device'} {who_holds(device)} Use smaller batches, or let go of tensors that are no longer needed."
    )


cdef Tensor new_tensor_on(int32_t device, int32_t dtype, int32_t rank, const int64_t *shape):
    return new_output(None, device, dtype, rank, shape)


cdef inline Tensor new_simple(Op op, Plan plan):
    """The output of a simple plan."""
    cdef Tensor out = blank()
    cdef int64_t size = 1
    cdef int i
    for i in range(plan.out_rank[0] - 1, -1, -1):
        out.dims[i] = plan.out_shape[i]
        out.steps[i] = size
        size *= plan.out_shape[i]
    out.storage = wry_storage_new(<size_t>(size * itemsizes[plan.out_dtype[0]]))  # few: the plan saw to it
    if out.storage == NULL:
        raise memory_error(op, plan.out_dtype[0], plan.out_rank[0], plan.out_shape, <double>size * itemsizes[plan.out_dtype[0]])
    out.t.data = out.storage.data
    out.t.size = size
    out.t.dtype = plan.out_dtype[0]
    out.t.rank = plan.out_rank[0]
    out.flags = CONTIGUOUS | STOP_GRADIENT
    return out


cdef inline Tensor new_output(Op op, int32_t device, int32_t dtype, int32_t rank, const int64_t *shape):
    """A tensor for a result of `op`, which errors name; None where no op asks."""
    cdef Tensor out = blank()
    cdef int64_t size = 1
    cdef double wide = itemsizes[dtype]
    cdef char error[512]
    cdef int i
    for i in range(rank - 1, -1, -1):
        out.dims[i] = shape[i]
        out.steps[i] = size
        wide *= shape[i]
        size = <int64_t>(<uint64_t>size * <uint64_t>shape[i])
    if wide > 1.4e14:  # 2^47: what an address space holds; also keeps `size` from having wrapped around
        raise memory_error(op, dtype, rank, shape, wide)
    if device == 0:
        out.storage = wry_storage_new(<size_t>(size * itemsizes[dtype]))
        if out.storage == NULL:
            raise memory_error(op, dtype, rank, shape, wide)
    else:
        error[0] = 0
        out.storage = wry_device_storage_new(device, <size_t>(size * itemsizes[dtype]), stream_of(wry_thread_state(), device), error)
        if out.storage == NULL:
            raise device_memory_error(op, device, dtype, rank, shape, error.decode("utf-8", "replace"))
        out.t.device = device
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
    out.t.device = x.t.device
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
        size = <int64_t>(<uint64_t>size * <uint64_t>out.dims[i])  # beside a size of 0 it may not fit
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
    out.t.device = x.t.device
    for i in range(x.t.rank):
        out.dims[i] = x.dims[i]
        out.steps[i] = x.steps[i]
    out.flags = (x.flags & (CONTIGUOUS | SYMBOLIC)) | STOP_GRADIENT
    return out


cdef Tensor new_ghost(int32_t dtype, int32_t rank, const int64_t *shape):
    cdef Tensor out = blank()
    make_ghost(out, dtype, rank, shape)
    return out


cdef void make_ghost(Tensor out, int32_t dtype, int32_t rank, const int64_t *shape) noexcept:
    """Makes of a new tensor one with a shape and a dtype but no data."""
    cdef int i
    cdef int64_t size = 1
    for i in range(rank):
        out.dims[i] = shape[i]
        size = -1 if size < 0 or shape[i] < 0 else size * shape[i]
    out.t.shape = out.dims
    out.t.strides = out.steps
    out.t.dtype = dtype
    out.t.rank = rank
    out.t.size = size
    out.flags = STOP_GRADIENT | SYMBOLIC


cdef bint reach(int32_t rank, const int64_t *shape, const int64_t *steps, int64_t *low, int64_t *high) noexcept:
    """The lowest and the highest element that a strided block reaches, counted from its first one.

    False: a size is negative, or numbers are beyond what 64 bits or any memory can hold, also where they
    belong to an axis of size 1, so that later products with them stay within 64 bits.
    """
    cdef int i
    cdef int64_t far
    low[0] = high[0] = 0
    if product(rank, shape) < 0:
        return False
    for i in range(rank):
        if shape[i] < 0 or steps[i] > MOST_ELEMENTS or steps[i] < -MOST_ELEMENTS:
            return False
    for i in range(rank):
        if shape[i] == 0:
            return True
    for i in range(rank):
        if shape[i] > 1 and steps[i] != 0:
            if shape[i] > MOST_ELEMENTS:
                return False
            if (shape[i] - 1) > MOST_ELEMENTS // (steps[i] if steps[i] > 0 else -steps[i]):
                return False
            far = (shape[i] - 1) * steps[i]
            if far < 0:
                low[0] += far
            else:
                high[0] += far
    return True


cdef Tensor truths(Tensor x):
    """A contiguous copy of a bool tensor whose bytes are 0 and 1.

    Memory that others write to may hold any bytes. Whoever reads them must see the same truth: a kernel that
    counts with one expression and writes with another would write beyond its output.
    """
    cdef int32_t device = x.t.device
    cdef Tensor out
    cdef uint8_t *at
    cdef int64_t i
    if device:
        out = new_tensor_on(device, WRY_BOOL, x.t.rank, x.dims)
        copy_strided(out, x)  # not the op, which would ask for truths again
        x = host_copy(out)
    out = new_tensor(WRY_BOOL, x.t.rank, x.dims)
    at = <uint8_t *>out.t.data
    if out.t.size:
        wry_strided_copy(<char *>at, out.steps, <char *>x.t.data, x.steps, x.dims, x.t.rank, 1)
    for i in range(out.t.size):
        at[i] = at[i] != 0
    return copied_to(out, device) if device else out


cdef Tensor to_contiguous(Tensor x):
    """`x` itself when its rows follow each other, else a copy whose rows do."""
    cdef Tensor out
    cdef PyObject *inputs[1]
    cdef PyObject *outs[MAX_OUTPUTS]
    if x.flags & CONTIGUOUS:
        return x
    if copy_op is not None and rows_of(copy_op, x.t.device) != NULL:
        inputs[0] = <PyObject *>x
        run(copy_op, inputs, 1, (), outs, NULL)
        out = <Tensor>outs[0]
        Py_DECREF(out)
        return out
    out = new_tensor_on(x.t.device, x.t.dtype, x.t.rank, x.dims)
    copy_strided(out, x)
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
    out.flags |= CONSTANT
    return out
