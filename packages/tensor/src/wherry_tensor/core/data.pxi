# Tensors from buffers, numbers and nothing at all.

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
    cdef int64_t shape[WRY_MAX_RANK]
    cdef int64_t steps[WRY_MAX_RANK]
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
            if view.strides == NULL or PyBuffer_IsContiguous(&view, b"C"):
                memcpy(out.t.data, view.buf, view.len)
            else:
                for i in range(view.ndim):
                    steps[i] = view.strides[i]
                # In bytes: a stride need not be a multiple of the item.
                byte_copy(<char *>out.t.data, <const char *>view.buf, shape, steps, view.ndim, view.itemsize)
        out = truths(out) if code == WRY_BOOL else out
        out.flags |= CONSTANT
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
    cdef int64_t low, high
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
        if <size_t>view.buf % <size_t>(view.itemsize if code < WRY_COMPLEX64 else view.itemsize // 2):
            raise TypeError("share_buffer: the items do not lie at multiples of their size. Use a copy (to_tensor).")
        out = blank()
        out.t.rank = view.ndim
        out.t.dtype = code
        for i in range(view.ndim):
            out.dims[i] = view.shape[i]
            if view.strides[i] % view.itemsize:
                raise TypeError("share_buffer: the strides are not multiples of the item size. Use a copy (to_tensor).")
            out.steps[i] = view.strides[i] // view.itemsize
        if not reach(view.ndim, out.dims, out.steps, &low, &high):
            raise ValueError(f"share_buffer: no memory has this shape and these strides. Got shape {list(out.shape)}.")
        # A negative stride reaches below the first element.
        out.storage = wry_storage_borrow(<char *>view.buf + low * view.itemsize,
                                         <size_t>((high - low + 1) * view.itemsize) if view.len else 0, view, let_go)
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
    cdef int64_t sizes[WRY_MAX_RANK]
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
    out.flags |= CONSTANT
    return out


def scalar(value, DType dtype not None):
    """A 0-d tensor. Of a size that is not known yet it is a tensor of the program being captured."""
    if type(value) is size_class:
        return value.tensor(dtype)
    return scalar_tensor(value, dtype.code)


def set_number(Tensor x not None, value):
    """Write a number into a 0-d tensor, past all layers: a tensor that a program reads keeps its place and gets a new value."""
    cdef PyObject *inputs[1]
    cdef PyObject *outs[MAX_OUTPUTS]
    cdef PyObject *targets[1]
    cdef Tensor number = scalar_tensor(value, x.t.dtype)
    if x.t.rank or x.t.data == NULL:
        raise ValueError(f"set_number: this is not a number. Got a Tensor of shape {x.shape}, expected a 0-d tensor with data.")
    inputs[0] = <PyObject *>number
    targets[0] = <PyObject *>x
    run(copy_op, inputs, 1, empty_tuple, outs, targets)
    Py_DECREF(<object>outs[0])


def uninitialized(shape, DType dtype not None, int32_t device=0):
    """A tensor whose values are whatever the memory of the device held."""
    cdef Tensor out
    cdef int64_t sizes[WRY_MAX_RANK]
    cdef Py_ssize_t i, rank = len(shape)
    if rank > WRY_MAX_RANK:
        raise ValueError(f"empty: got {rank} axes, expected at most {WRY_MAX_RANK}.")
    for i in range(rank):
        sizes[i] = shape[i]
        if sizes[i] < 0:
            raise ValueError(f"empty: got the negative size {sizes[i]} in shape {list(shape)}, expected sizes >= 0.")
    out = new_tensor_on(checked_device(device), dtype.code, <int32_t>rank, sizes)
    if dtype.code == WRY_BOOL:
        fill_zeros(out)  # not any byte is a bool
    return out


def symbolic(shape, DType dtype not None, kind=Tensor):
    """A tensor with a shape (-1, a `sizes.Size` or None: unknown) and a dtype but no data, for capture layers; its place is the current device.

    Args:
        shape: sizes.
        dtype: of it.
        kind: its class, Tensor or one made of it, whose `__init__` is not called.
    """
    cdef Tensor out
    cdef int64_t sizes[WRY_MAX_RANK]
    cdef Py_ssize_t i, rank = len(shape)
    if rank > WRY_MAX_RANK:
        raise ValueError(f"symbolic: got {rank} axes, expected at most {WRY_MAX_RANK}.")
    for i in range(rank):
        size = shape[i]
        sizes[i] = -1 if type(size) is size_class or size is None else size
    out = blank() if kind is Tensor else kind.__new__(kind)
    make_ghost(out, dtype.code, <int32_t>rank, sizes)
    out.t.device = current_device(wry_thread_state())
    return out


def sizes_of(Tensor x not None):
    """The sizes of a tensor as plain numbers, -1 where one is unknown."""
    cdef int i
    return tuple([x.dims[i] for i in range(x.t.rank)])


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


wry_take_attributes(<PyTypeObject *>Tensor)


def set_dir_of_classes(function):
    """Let `dir(Tensor)`, and that of classes made of it, be `function(the class)`."""
    wry_set_dir(function)


cdef reprfunc text_before = NULL
cdef object hint_for = None


cdef object text_of_type_error(object error):
    text = text_before(error)
    if type(error) is not TypeError:  # a class of somebody's own
        return text
    try:
        hint = hint_for(error, text)
    except Exception:  # names of the caller's may answer with anything, and the text of an error is never an error itself
        return text
    return f"{text}. {hint}" if hint else text


def explain_type_errors(hint):
    """Let the text of a TypeError end with `hint(error, text)` where that is not empty.

    A wrong keyword argument is refused by Python itself, before the function runs, so nobody can raise a better error in its place.
    Its class makes the text when it is asked for: that is where the hint comes in, for this class and not for classes made of it.
    """
    global text_before, hint_for
    if not callable(hint):
        raise TypeError(f"explain_type_errors: got {type(hint).__name__}, expected a function.")
    hint_for = hint
    if text_before == NULL:
        text_before = (<PyTypeObject *>TypeError).tp_str
        (<PyTypeObject *>TypeError).tp_str = text_of_type_error


def rebind(Tensor x not None, Tensor y not None):
    """Make `x` what `y` is: memory, shape, dtype and gradient history. Its name stays; its version goes up.

    A tensor of a captured program that has a method `became` hears of it, to mean `y` from now on.
    """
    if x.flags & SYMBOLIC and type(x) is not Tensor and hasattr(x, "became"):
        x.became(y)
    become(x, y)
    x.node = y.node
    x.output_index = y.output_index
    x.flags = (x.flags & ~<uint32_t>STOP_GRADIENT) | (y.flags & STOP_GRADIENT)
    if x.storage != NULL:
        x.storage.version += 1
    return x


def detach_in_place(Tensor x not None):
    """Make `x` a leaf that stops gradients."""
    x.node = None
    x.output_index = 0
    x.flags |= STOP_GRADIENT


def strided(Tensor x not None, shape, strides, int64_t offset):
    """A view of the elements at `offset + sum(index * strides)` from the first element of `x`, without gradient history.

    Raises:
        ValueError: an element of the view would lie outside of the storage of `x`.
    """
    cdef Tensor out
    cdef int64_t low, high, first
    cdef int i
    if len(shape) != len(strides) or len(shape) > WRY_MAX_RANK:
        raise ValueError(
            f"as_strided: got {len(shape)} sizes and {len(strides)} strides, expected as many of each, at most {WRY_MAX_RANK}."
        )
    out = alias_with_data(x, "as_strided")
    out.t.rank = <int32_t>len(shape)
    for i in range(out.t.rank):
        out.dims[i] = shape[i]
        out.steps[i] = strides[i]
        if out.dims[i] < 0:
            raise ValueError(f"as_strided: got the negative size {out.dims[i]} in shape {list(shape)}, expected sizes >= 0.")
    if not reach(out.t.rank, out.dims, out.steps, &low, &high) or not -MOST_ELEMENTS <= offset <= MOST_ELEMENTS:
        raise ValueError(
            f"as_strided: the view reaches outside of any memory. Got shape {list(shape)}, strides {list(strides)} and offset "
            f"{offset}, expected at most {<int64_t>1 << 62} elements, none further away than {MOST_ELEMENTS}. "
            f"Make the view smaller."
        )
    low += offset
    high += offset
    settle(out)
    first = (<int64_t>(<char *>out.t.data - <char *>out.storage.data)) // itemsizes[out.t.dtype]
    if out.t.size and (first + low < 0 or (first + high + 1) * itemsizes[out.t.dtype] > <int64_t>out.storage.nbytes):
        raise ValueError(
            f"as_strided: the view reaches outside of the memory of x. Got shape {list(shape)}, strides {list(strides)} and "
            f"offset {offset}, elements {low} to {high}, expected them in [{-first}, "
            f"{<int64_t>out.storage.nbytes // itemsizes[out.t.dtype] - first}). Make the view smaller."
        )
    if not out.t.size:
        offset = 0  # nothing is read, and no address beyond the memory is made
    out.t.data = <char *>out.t.data + offset * itemsizes[out.t.dtype]
    return out


def reinterpreted(Tensor x not None, DType dtype not None):
    """The same bytes as elements of another dtype, without gradient history; the last axis grows or shrinks.

    Raises:
        ValueError: the bytes of the last axis do not divide into such elements.
    """
    cdef Tensor out
    cdef int64_t old, new
    cdef int i, last
    out = alias_with_data(x, "view")
    old, new = itemsizes[out.t.dtype], dtype.itemsize
    if dtype.code == WRY_BOOL and out.t.dtype != WRY_BOOL:
        out.storage.foreign = 1
    out.t.dtype = dtype.code
    if old != new:
        last = out.t.rank - 1
        fits = last >= 0 and (out.steps[last] == 1 or out.dims[last] <= 1)
        if fits and new > old:
            fits = out.dims[last] % (new // old) == 0 and <size_t>out.t.data % <size_t>new == 0
            for i in range(last):
                fits = fits and (out.steps[i] % (new // old) == 0 or out.dims[i] <= 1)
        if not fits:
            raise ValueError(
                f"view: the bytes of the last axis do not make {dtype.name} elements. Got shape {x.shape}, strides "
                f"{x.strides} and dtype {x.dtype.name}, expected a contiguous last axis whose {old}-byte elements fill "
                f"{new}-byte ones. Use a copy: x.astype('{dtype.name}') converts values."
            )
        for i in range(last):
            out.steps[i] = out.steps[i] * old // new
        out.dims[last] = out.dims[last] * old // new
        out.steps[last] = 1
    settle(out)
    return out
