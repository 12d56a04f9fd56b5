# Tensor: attributes, numbers out, operators, shared memory.

cdef object fallback_binary = None
cdef object fallback_getitem = None
cdef object fallback_setitem = None
cdef object fallback_repr = None
cdef object fallback_to_tensor = None
cdef object size_class = None       # sizes.Size: a size that is not known while a program is captured
cdef object needs_value = None
cdef object shape_class = None      # shapes.Size, where x.shape is what it is in Paddle 3


def set_shape_class(kind):
    """Let `x.shape` be of a class of list; None: a list."""
    global shape_class
    shape_class = kind


def mark_rows(Tensor x not None, bint later=False):
    """Let `x` count as rows of a larger gradient: called by autograd's SelectedRows. `later`: `.grad` makes it dense."""
    x.flags |= ROWS | LATER if later else ROWS


def set_fallback(str name, function):
    """Tell the core which Python function answers what it does not answer itself.

    Args:
        name: "binary" (op_name, x, y, reverse), "getitem" (x, index), "setitem" (x, index, value),
            "repr" (x), "to_tensor" (data, ...), "size" ("axis", x, axis), the class of unknown sizes, or
            "needs_value" (what, x), which gives the error for reading a symbolic tensor.
        function: the function.
    """
    global fallback_binary, fallback_getitem, fallback_setitem, fallback_repr, fallback_to_tensor, size_class, needs_value
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
    elif name == "size":
        size_class = function
    elif name == "needs_value":
        needs_value = function
    else:
        raise ValueError(
            f"set_fallback: unknown name. Got {name!r}, expected binary, getitem, setitem, repr, to_tensor, size or needs_value."
        )


cdef class BinaryOps:
    """The ops behind Python's operators, looked up once."""
    cdef Op add, subtract, multiply, divide, floor_divide, remainder, power, matmul
    cdef Op equal, not_equal, less_than, less_equal, greater_than, greater_equal
    cdef Op negative, select, slice


cdef BinaryOps b = None


cdef int find_ops() except -1:
    global b, copy_op, transfer_op
    import wherry_tensor.ops  # noqa: F401
    cdef BinaryOps found = BinaryOps()
    found.add, found.subtract, found.multiply = registry["add"], registry["subtract"], registry["multiply"]
    found.divide, found.floor_divide = registry["divide"], registry["floor_divide"]
    found.remainder, found.power, found.matmul = registry["remainder"], registry["power"], registry["matmul"]
    found.equal, found.not_equal = registry["equal"], registry["not_equal"]
    found.less_than, found.less_equal = registry["less_than"], registry["less_equal"]
    found.greater_than, found.greater_equal = registry["greater_than"], registry["greater_equal"]
    found.negative, found.select, found.slice = registry["negative"], registry["select"], registry["slice"]
    copy_op, transfer_op = registry["copy"], registry["copy_to"]
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


cdef object inplace(Op op, Tensor x, object y):
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


cdef object cleared = object()  # as a gradient: zeros, made when somebody looks


cdef Tensor zeros_for(Tensor x):
    cdef Tensor zeros = new_tensor_on(x.t.device, x.t.dtype, x.t.rank, x.dims)
    fill_zeros(zeros)
    zeros.flags &= ~<uint32_t>STOP_GRADIENT  # like the gradient that backward leaves
    return zeros


def clear_gradients(list tensors not None, bint set_to_zero=True):
    """Let the gradients of all these tensors be zeros again, or None. Where there is none, nothing happens.

    Zeros that nobody looks at are never written: the next backward puts its gradient in their place.
    """
    cdef Tensor x, grad
    for item in tensors:
        if not isinstance(item, Tensor):
            raise TypeError(f"clear_gradients: got {type(item).__name__} in the list, expected Tensors.")
        x = <Tensor>item
        if not set_to_zero:
            x.grad_value = None
        elif isinstance(x.grad_value, Tensor):
            grad = <Tensor>x.grad_value
            if grad.flags & ROWS or (grad.flags & SYMBOLIC and not x.flags & SYMBOLIC):
                x.grad_value = cleared  # the next gradient may have other rows, or belong to no program
                continue
            # Two references: of `x`, and of this variable.
            if Py_REFCNT(grad) == 2 and grad.storage != NULL and grad.storage.refs == 1 and type(grad) is Tensor \
                    and same_shape_and_dtype(grad, x):
                x.grad_value = cleared
            else:
                clear_in_place(grad)


cdef bint same_shape_and_dtype(Tensor x, Tensor y) noexcept:
    return x.t.dtype == y.t.dtype and x.t.rank == y.t.rank and \
        memcmp(x.dims, y.dims, x.t.rank * sizeof(int64_t)) == 0


cdef int clear_in_place(Tensor grad) except -1:
    """Somebody else may hold this gradient, and has to see the zeros."""
    cdef bint before = set_grad_enabled_flag(False)
    try:
        registry["full_like"].into((grad,), grad, value=0, dtype=dtype_of_code(grad.t.dtype))
    finally:
        set_grad_enabled_flag(before)
    return 0


cdef long next_name = 0


class Memory(__import__("collections").namedtuple("Memory", "address count dtype contiguous shape strides device")):
    """Where the elements of a tensor lie.

    Attributes:
        address: of the first element.
        count: how many elements.
        dtype: their DType.
        contiguous: whether they lie in the order of their indices, without gaps.
        shape: sizes of the axes.
        strides: elements (not bytes) from one index to the next along each axis.
        device: where the address means something: "cpu", "gpu:0", ...
    """

    __slots__ = ()

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.count * self.dtype.itemsize


cdef struct BufferShape:
    Py_ssize_t shape[WRY_MAX_RANK]
    Py_ssize_t strides[WRY_MAX_RANK]


# Without binding, methods are descriptors of the type and check their `self`; Cython's own functions do not.
@cython.binding(False)
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
        """Sizes of the axes, a list of int; -1 (a `sizes.Size`) where a symbolic size is unknown."""
        cdef int i
        cdef list out = []
        for i in range(self.t.rank):
            out.append(size_class("axis", self, i) if self.dims[i] < 0 else self.dims[i])
        return out if shape_class is None else shape_class(out)

    @property
    def strides(self):
        """Elements (not bytes) from one index to the next along each axis, a list of int."""
        return [self.steps[i] for i in range(self.t.rank)]

    @property
    def ndim(self):
        """Number of axes."""
        return self.t.rank

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
        if self.grad_value is cleared:
            self.grad_value = zeros_for(self)
        elif self.grad_value is not None and (<Tensor>self.grad_value).flags & LATER:
            dense = self.grad_value.to_dense()
            (<Tensor>dense).flags &= ~<uint32_t>STOP_GRADIENT  # like the gradient that backward leaves
            self.grad_value = dense
        return self.grad_value

    @property
    def _grad_as_left(self):
        """`grad`, or the rows that backward left in its place, which no memory was taken for."""
        if self.grad_value is cleared:
            self.grad_value = zeros_for(self)
        return self.grad_value

    @grad.setter
    def grad(self, value):
        if value is not None and not isinstance(value, Tensor):
            raise ValueError(  # Paddle's class
                f"grad: a gradient must be a Tensor. Got {type(value).__name__}, expected a Tensor, or None to forget it. "
                f"Convert it with to_tensor."
            )
        self.grad_value = value

    @property
    def inplace_version(self):
        """How many times the memory was written in place."""
        return 0 if self.storage == NULL else self.storage.version

    def _bump_inplace_version(self):
        """Paddle's name of `mark_written`."""
        self.mark_written()

    def mark_written(self):
        """Say that the memory was written from outside, by a collective or through its address, say.

        What was saved of it for a gradient is stale from now on, and a backward pass that needs it says so.
        """
        if self.storage != NULL:
            self.storage.version += 1

    def memory(self):
        """Where the elements lie: a `Memory`, for code that hands the memory to another library.

        The address stays good while the tensor lives and is not given other memory. Who writes there calls
        `mark_written()` afterwards.

        Raises:
            RuntimeError: the tensor is symbolic.
            ValueError: it was never given data.
        """
        need_data(self, "memory")
        if self.storage != NULL:
            self.storage.foreign = 1  # who knows the address may write there
        return Memory(<size_t>self.t.data, self.t.size, dtype_of_code(self.t.dtype), self.flags & CONTIGUOUS != 0,
                      tuple([self.dims[i] for i in range(self.t.rank)]),
                      tuple([self.steps[i] for i in range(self.t.rank)]), device_name(self.t.device))

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
        if self.storage != NULL:
            self.storage.foreign = 1  # who knows the address may write there
        return <size_t>self.t.data

    def _is_initialized(self):
        return self.t.data != NULL

    def _shares_memory_with(self, Tensor other not None):
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
                raise refused_item(
                    f"item: only a tensor of one element is a number. Got shape {self.shape}, expected size 1. "
                    f"Name the element: x.item(i, j)."
                )
            x = host_view(self)
            return read_scalar(x.t.data, x.t.dtype)
        if len(index) == 1 and isinstance(index[0], tuple):
            index = index[0]
        if len(index) == 1 and self.t.rank != 1:
            at = index[0]
            if at < 0:
                at += self.t.size
            if at < 0 or at >= self.t.size:
                raise out_of_range(f"item: got index {index[0]}, expected one in [{-self.t.size}, {self.t.size}).")
            offset = 0
            for i in range(self.t.rank - 1, -1, -1):
                offset += (at % self.dims[i]) * self.steps[i]
                at //= self.dims[i]
        else:
            if len(index) != self.t.rank:
                raise refused_item(f"item: got {len(index)} indices, expected {self.t.rank} for shape {self.shape}.")
            offset = 0
            for i in range(self.t.rank):
                at = index[i]
                if at < 0:
                    at += self.dims[i]
                if at < 0 or at >= self.dims[i]:
                    raise out_of_range(
                        f"item: index {index[i]} is out of range for axis {i} of shape {self.shape}. "
                        f"Expected one in [{-self.dims[i]}, {self.dims[i]})."
                    )
                offset += at * self.steps[i]
        if self.t.device:
            x = new_view(self)  # one element is what has to come over
            x.t.data = <char *>self.t.data + offset * itemsizes[self.t.dtype]
            settle(x)
            x = host_view(x)
            return read_scalar(x.t.data, x.t.dtype)
        return read_scalar(<char *>self.t.data + offset * itemsizes[self.t.dtype], self.t.dtype)

    def tolist(self):
        """The elements as nested Python lists; a number for a 0-d tensor."""
        cdef double lists = 1
        cdef int i
        need_data(self, "tolist")
        if self.t.size == 0:
            for i in range(self.t.rank):
                if self.dims[i] == 0:
                    break
                lists *= self.dims[i]
            if lists > 1e9:
                raise MemoryError(
                    f"tolist: so many empty lists do not fit into memory. Got shape {self.shape}, expected fewer rows."
                )
        # Lists may start the garbage collector, and a finalizer may give this tensor other memory meanwhile.
        cdef Tensor x = host_view(self) if self.t.device else alias_with_data(self, "tolist")
        return nested(x, 0, <const char *>x.t.data)

    def __bool__(self):
        if self.t.size != 1:
            raise ValueError(
                f"bool(Tensor): the truth value of a tensor needs exactly one element. Got shape {self.shape}. "
                f"Use x.any() or x.all()."
            )
        need_data(self, "bool(Tensor)")
        return bool(read_scalar(host_view(self).t.data, self.t.dtype))

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
        if self.dims[0] < 0:
            raise needs_value("len(Tensor)", self)
        return self.dims[0]

    def __iter__(self):
        if self.t.rank and self.dims[0] < 0:
            raise needs_value("iter(Tensor)", self)
        if self.t.rank == 0:
            raise TypeError(
                f"iter: the tensor has no first axis of known size to go through. Got shape {self.shape}, expected rank 1 or "
                f"more. Use x.item() for a single number."
            )
        return map(self.__getitem__, range(self.dims[0]))

    def __contains__(self, item):
        from wherry_tensor.interop import contains
        return contains(self, item)

    def __hash__(self):
        return <Py_ssize_t><void *>self >> 4

    def __repr__(self):
        if fallback_repr is None:
            return f"<Tensor shape={self.shape} dtype={self.dtype.name}>"
        return fallback_repr(self)

    # Operators; `x += y` makes a new tensor, as in Paddle. Equal dtypes and Python floats are answered here, the rest in operators.py.

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

    def __getitem__(self, index):
        if self.t.rank > 0 and self.t.data != NULL:
            if PyLong_CheckExact(index):
                return select_first(self, index)
            found = basic_view(self, index)
            if found is not None:
                return found
        return fallback_getitem(self, index)

    def __setitem__(self, index, value):
        if not basic_assign(self, index, value):
            fallback_setitem(self, index, value)

    # Memory shared with others.

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        # What is exported is an alias, so that the memory outlives whatever happens to this tensor: `assign`, `set_value`,
        # ... may give it other memory while an array still reads the old one.
        cdef Tensor kept
        cdef BufferShape *sizes
        cdef int i
        need_data(self, "buffer")
        if not flags & PyBUF_STRIDES == PyBUF_STRIDES and not self.flags & CONTIGUOUS:
            raise BufferError("the tensor is strided. Got a request for a plain buffer, expected x.contiguous().")
        if flags & PyBUF_WRITABLE and self.t.device:
            raise BufferError(
                f"the tensor is on {device_name(self.t.device)}. Got a request for memory to write to, expected one on the cpu. "
                f"Write to a tensor of the cpu, and copy it: x.set_value(...)."
            )
        sizes = <BufferShape *>malloc(sizeof(BufferShape))
        if sizes == NULL:
            raise MemoryError()
        try:
            kept = alias_with_data(self, "buffer") if self.t.device == 0 else host_view(self)
            kept.storage.foreign = 1
        except BaseException:
            free(sizes)
            raise
        for i in range(kept.t.rank):
            sizes.shape[i] = <Py_ssize_t>kept.dims[i]
            sizes.strides[i] = <Py_ssize_t>(kept.steps[i] * itemsizes[kept.t.dtype])
        buffer.buf = kept.t.data
        buffer.obj = kept
        buffer.len = <Py_ssize_t>(kept.t.size * itemsizes[kept.t.dtype])
        buffer.itemsize = itemsizes[kept.t.dtype]
        buffer.readonly = self.t.device != 0  # a copy: what is written there would be lost
        buffer.ndim = kept.t.rank
        buffer.format = buffer_formats[kept.t.dtype] if flags & PyBUF_FORMAT else NULL
        buffer.shape = sizes.shape if flags & PyBUF_ND else NULL
        buffer.strides = sizes.strides if flags & PyBUF_STRIDES == PyBUF_STRIDES else NULL
        buffer.suboffsets = NULL
        buffer.internal = sizes

    def __releasebuffer__(self, Py_buffer *buffer):
        free(buffer.internal)

    def numpy(self, blocking=True):
        """A NumPy array with a copy of the values; bfloat16 comes as its bits in uint16, as in Paddle.

        `blocking` is accepted for compatibility: the values are there when it returns.
        """
        cdef Tensor x = self
        import numpy
        need_data(self, "numpy")
        if self.t.dtype == WRY_BOOL:
            x = truths(host_view(self))
        return numpy.array(memoryview(x), copy=True)

    def _share_data_with(self, Tensor other not None):
        """Make this tensor use the memory, shape and dtype of `other`; name and gradient stay."""
        become(self, other)

    def _symbolic_like(self):
        return new_ghost(self.t.dtype, self.t.rank, self.dims)


cdef const char *buffer_formats[WRY_NUM_DTYPES]
# NumPy calls an 8-byte C long int64 and a long long something longer.
buffer_formats[:] = [b"?", b"B", b"b", b"h", b"i", b"l" if sizeof(long) == 8 else b"q", b"e", b"H", b"f", b"d", b"Zf", b"Zd"]

cdef tuple no_transposes = (False, False)


cdef object select_first(Tensor x, object index):
    """x[i] with a Python int: the commonest index of all."""
    cdef Py_ssize_t i
    cdef int overflow = 0
    i = <Py_ssize_t>PyLong_AsLongLongAndOverflow(index, &overflow)
    if overflow or i >= x.dims[0] or i < -x.dims[0]:
        raise out_of_range(
            f"index {index} is out of range for axis 0 of shape {x.shape}. "
            f"Expected an index in [{-x.dims[0]}, {x.dims[0]})."
        )
    return apply1(b.select, x, (0, index))


cdef int become(Tensor self, Tensor source) except -1:
    global rebinds
    cdef int i
    cdef wry_storage *old = self.storage
    rebinds += 1
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


cdef Tensor alias_with_data(Tensor x, str what):
    """An alias of what `x` is after it was made: a new object may start the garbage collector, and finalizers may do anything to `x`."""
    cdef Tensor out = new_alias(x)
    need_data(out, what)
    return out


cdef int need_data(Tensor x, str what) except -1:
    if x.t.data == NULL:
        if x.flags & SYMBOLIC:
            raise needs_value(what, x)
        raise ValueError(f"{what}: the tensor is not initialized. Got a Tensor without data, expected one with data.")
    return 0


cdef object out_of_range(str text):
    from wherry_tensor.errors import OutOfRangeError
    return OutOfRangeError(text)


cdef object refused_item(str text):
    from wherry_tensor.errors import InvalidArgumentError
    return InvalidArgumentError(text)


cdef object one_number(Tensor x, str what):
    if x.t.size != 1:
        raise TypeError(
            f"{what}(Tensor): only a tensor of one element converts. Got shape {x.shape}, expected size 1. "
            f"Pick one element, as in x[0]."
        )
    need_data(x, what + "(Tensor)")
    return read_scalar(host_view(x).t.data, x.t.dtype)


cdef object nested(Tensor x, int axis, const char *at):
    cdef int64_t i, step
    cdef list out
    if axis == x.t.rank:
        return read_scalar(at, x.t.dtype)
    out = []
    step = x.steps[axis] * itemsizes[x.t.dtype]
    for i in range(x.dims[axis]):
        out.append(nested(x, axis + 1, at + i * step))
        if i & 0xFFFF == 0xFFFF:
            PyErr_CheckSignals()
    return out
