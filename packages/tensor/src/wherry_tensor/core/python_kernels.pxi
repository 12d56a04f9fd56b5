# Kernels written in Python: a function of NumPy arrays behind the C signature of every other kernel.

cdef list python_kernels = []  # rows of kernel tables point to these, and are never taken back


@cython.final
cdef class PythonKernel:
    """What `run_python_kernel` finds in `call.data`."""
    cdef object function
    cdef Op op


def register_python_kernel(str device not None, Op op not None, dtypes, function):
    """Make a Python function the kernel of an op. It computes with NumPy, which has to be there when it first runs.

    Args:
        device: a kind of device whose memory is the host's, such as "cpu".
        op: the op; each of its outputs has a shape that the shape rule knows.
        dtypes: those (of the first input) that it serves; NumPy has to have them.
        function: called as `function(outputs, *inputs, **attrs)` with a tuple of arrays to fill and one array for each
            input (None for an absent one). Inputs are contiguous and not to be written. What it raises is the op's error:
            ValueError, IndexError, MemoryError and NotImplementedError stay what they are, others become RuntimeError.

    Raises:
        ValueError: the device is unknown.
    """
    cdef PythonKernel kernel = PythonKernel.__new__(PythonKernel)
    cdef wry_kernel_entry entry
    kernel.function, kernel.op = function, op
    python_kernels.append(kernel)
    op_name, device_name = op.name.encode(), device.encode()
    for dtype in dtypes:
        entry.op = op_name
        entry.dtype = (<DType?>dtype).code
        entry.flags = WRY_WANTS_CONTIGUOUS
        entry.kernel = run_python_kernel
        entry.data = <const void *>kernel
        register_kernels(device_name, &entry, 1, sizeof(entry))


cdef int run_python_kernel(const wry_call *call) noexcept with gil:
    cdef PythonKernel kernel = <PythonKernel>call.data
    try:
        call_python_kernel(kernel, call)
        return WRY_OK
    except Exception as error:
        status = WRY_INTERNAL
        for kind, code in (
            (NotImplementedError, WRY_UNSUPPORTED), (MemoryError, WRY_OUT_OF_MEMORY), (IndexError, WRY_OUT_OF_RANGE),
            (ValueError, WRY_INVALID),
        ):
            if isinstance(error, kind):
                status = code
        text = str(error) if status != WRY_INTERNAL else f"{kernel.op.name}: its kernel raised {type(error).__name__}: {error}"
        encoded = text.encode()[:WRY_ERROR_SIZE - 1]
        memcpy(call.context.error, <const char *>encoded, len(encoded))
        call.context.error[len(encoded)] = 0
        return status


cdef object call_python_kernel(PythonKernel kernel, const wry_call *call):
    cdef int i
    try:
        import numpy
    except ImportError:
        raise NotImplementedError(
            f"{kernel.op.name}: its kernel computes with NumPy. Got a Python without numpy, expected one that has it. "
            f"pip install numpy; in a page of the browser, load the package numpy."
        ) from None
    inputs = [None if call.inputs[i] == NULL else array_over(numpy, call.inputs[i], True) for i in range(call.n_inputs)]
    outputs = tuple([array_over(numpy, call.outputs[i], False) for i in range(call.n_outputs)])
    attrs = {}
    for i in range(call.n_attrs):
        attrs[kernel.op.attr_names[i]] = value_of_attr(&call.attrs[i], kernel.op.attr_types[i])
    kernel.function(outputs, *inputs, **attrs)


cdef object array_over(object numpy, const wry_tensor *t, bint readonly):
    """An array on the memory of a contiguous tensor."""
    shape = tuple([t.shape[i] for i in range(t.rank)])
    dtype = dtype_of_code(t.dtype).name
    if t.size == 0:
        return numpy.empty(shape, dtype)
    memory = PyMemoryView_FromMemory(<char *>t.data, t.size * itemsizes[t.dtype], 0x100 if readonly else 0x200)
    return numpy.frombuffer(memory, dtype).reshape(shape)


cdef object value_of_attr(const wry_attr *a, object kind):
    cdef int i
    if a.kind == WRY_ATTR_NONE:
        return None
    if a.kind == WRY_ATTR_STRING:
        return a.value.s.decode()
    if a.kind == WRY_ATTR_FLOAT:
        return a.value.f
    if a.kind == WRY_ATTR_INTS:
        return tuple([a.value.ints[i] for i in range(a.length)])
    if a.kind == WRY_ATTR_FLOATS:
        floats = tuple([a.value.floats[i] for i in range(a.length)])
        return complex(*floats) if kind is Scalar else floats
    if kind is DType:
        return dtype_of_code(<int32_t>a.value.i)
    return bool(a.value.i) if kind is bool else a.value.i
