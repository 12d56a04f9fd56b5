# Kernels written in Python: a function of NumPy arrays after the C signature of every other kernel.

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
    cdef int i
    cdef Py_ssize_t length
    from wherry_tensor.python_kernels import run
    inputs = [None if call.inputs[i] == NULL else memory_of(call.inputs[i], True) for i in range(call.n_inputs)]
    outputs = [memory_of(call.outputs[i], False) for i in range(call.n_outputs)]
    attrs = {}
    for i in range(call.n_attrs):
        attrs[kernel.op.attr_names[i]] = value_of_attr(&call.attrs[i], kernel.op.attr_types[i])
    status, text = run(kernel.function, kernel.op.name, inputs, outputs, attrs)  # what it raises, it catches itself
    if status != WRY_OK:
        length = min(<Py_ssize_t>len(text), WRY_ERROR_SIZE - 1)
        memcpy(call.context.error, <const char *><bytes>text, length)
        call.context.error[length] = 0
    return status


cdef tuple memory_of(const wry_tensor *t, bint readonly):
    """The memory of a contiguous tensor (None when it is empty), its shape and the name of its dtype."""
    cdef int i
    memory = None
    if t.size:
        memory = PyMemoryView_FromMemory(<char *>t.data, t.size * itemsizes[t.dtype], 0x100 if readonly else 0x200)
    return memory, tuple([t.shape[i] for i in range(t.rank)]), dtype_of_code(t.dtype).name


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
