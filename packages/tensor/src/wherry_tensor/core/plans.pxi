# Plans. A plan caches output shapes, kernel and encoded attributes for one combination of shapes, dtypes and attributes.

ctypedef struct KernelRow:
    wry_kernel kernel
    uint32_t flags
    const void *data

cdef enum:
    MAX_KINDS = 32  # of devices, WRY_MAX_KINDS


cdef inline KernelRow *rows_of(Op op, int32_t device) noexcept:
    """The kernels of an op for a kind of device: WRY_NUM_DTYPES rows and one that serves the rest; NULL without any."""
    return NULL if op.kernels == NULL else (<KernelRow **>op.kernels)[WRY_DEVICE_KIND(device)]


cdef enum:
    BOUND_WHEN_PLANNED = 1 << 30  # of a KernelRow: its data is a Python function that gives each plan data of its own

cdef list binders = []  # rows of kernel tables point to these, and are never taken back


def register_bound_kernel(str device not None, Op op not None, dtypes, size_t kernel, bind, uint32_t flags=0):
    """Make a compiled function the kernel of an op, with data that is made for each plan.

    What a plan is made for (shapes, dtypes, attributes) is what `bind` is told, so a kernel that serves some of the calls
    only can leave the others alone, and one that has much to find out does it once.

    Args:
        device: a kind of device.
        op: the op.
        dtypes: those (of the first input) that it serves; None stands for all that have no row of their own.
        kernel: the address of a `wry_kernel`.
        bind: called as `bind(inputs, outputs, attrs)` with the Meta of each input (None for an absent one) and output, and a
            dict. It returns an object whose attribute `address` becomes `call->data` and which lives as long as the plan;
            or None where the kernel does not serve such a call, which then goes on as if there were none.
        flags: WRY_* flags of wherry/abi.h.

    Raises:
        ValueError: the device is unknown.
    """
    cdef wry_kernel_entry entry
    binders.append(bind)
    op_name, device_name = op.name.encode(), device.encode()
    for dtype in (None,) if dtypes is None else dtypes:
        entry.op = op_name
        entry.dtype = -1 if dtype is None else (<DType?>dtype).code
        entry.flags = flags | BOUND_WHEN_PLANNED
        entry.kernel = <wry_kernel><void *>kernel
        entry.data = <const void *>bind
        register_kernels(device_name, &entry, 1, sizeof(entry))


cdef int bind_kernel(Plan plan, PyObject **inputs, Py_ssize_t n, tuple metas) except -1:
    bound = (<object>plan.data)(tuple([meta_of(inputs[i]) for i in range(n)]), metas, attr_dict(plan.op, plan.attrs))
    if bound is None:
        plan.kernel = NULL
        plan.flags = 0
        plan.data = NULL
        return 0
    plan.kept.append(bound)
    plan.data = <const void *><size_t>bound.address
    plan.flags &= ~<uint32_t>BOUND_WHEN_PLANNED
    return 0


cdef int64_t kernels_generation = 0  # goes up when kernels are registered: pointers kept from before are stale


@cython.final
cdef class Plan:
    """What calls of an op with certain shapes, dtypes and attributes need to know. Made by `plan_of`; immutable.

    Attributes:
        op: the op.
        generation: of the kernels when the plan was made; compare it with `kernel_generation()`.
    """

    def __dealloc__(self):
        free(self.memory)

    @property
    def kernel_address(self):
        """Of a `wry_kernel` of wherry/abi.h; 0 where the core's views or the decomposition answer."""
        return <size_t><void *>self.kernel

    @property
    def kernel_flags(self):
        """The kernel's WRY_* flags of wherry/abi.h."""
        return self.flags

    @property
    def elements(self):
        """The largest number of elements among inputs and outputs; by so much a random op moves the generator."""
        return self.work

    @property
    def outputs(self):
        """Shape and dtype of each output; None in place of a shape that only the kernel knows."""
        return tuple([
            (None if self.out_rank[i] < 0 else
             tuple([self.out_shape[i * WRY_MAX_RANK + j] for j in range(self.out_rank[i])]), dtype_of_code(self.out_dtype[i]))
            for i in range(self.n_outputs)
        ])

    def __repr__(self):
        what = "kernel" if self.kernel != NULL else "decomposition"
        return f"<Plan of {self.op.name}: {what}, generation {self.generation}>"


def plan_of(Op op not None, metas, tuple attrs, device=None):
    """The plan of a call, for an executor that runs a program many times.

    Args:
        op: the op.
        metas: the Meta of each input, None for an absent one. Sizes are known.
        attrs: the values of all attributes, in the order of the declaration; sizes of a capture replaced by numbers.
        device: where it will run, a name as in "cpu" or "mine:0"; None is the cpu.

    Returns:
        A Plan. It holds the kernel's address, which stays good while `kernel_generation()` is the plan's `generation`.

    Raises:
        ValueError, TypeError: the op does not take such inputs, or a size is unknown.
        NotImplementedError: there is neither a kernel nor a decomposition.
    """
    cdef PyObject *inputs[MAX_INPUTS]
    cdef int64_t *key
    cdef int length = 0, j
    cdef Py_ssize_t i, n = len(metas)
    cdef Tensor ghost
    cdef list ghosts = []
    cdef Plan plan
    cdef int32_t on = 0 if device is None else code_of_device(device)
    if n > MAX_INPUTS:
        raise ValueError(f"plan_of: {op.name} got {n} inputs, expected at most {MAX_INPUTS}.")
    for i in range(n):
        meta = metas[i]
        if meta is not None:
            for size in meta.shape:
                if size < 0:
                    raise ValueError(
                        f"plan_of: input {i} of {op.name} has an unknown size. Got {meta!r}, expected known sizes. "
                        f"Make the plan when the program runs."
                    )
            ghost = symbolic(meta.shape, meta.dtype)
            ghosts.append(ghost)
            inputs[i] = <PyObject *>ghost
        else:
            ghosts.append(None)
            inputs[i] = <PyObject *>None
    check_counts(op, tuple(ghosts), attrs)
    key = <int64_t *>malloc((n * (WRY_MAX_RANK + 1) + 1) * sizeof(int64_t))
    if key == NULL:
        raise MemoryError()
    try:
        for i in range(n):
            if ghosts[i] is None:
                key[length] = -1
                length += 1
                continue
            ghost = ghosts[i]
            key[length] = ghost.t.dtype | (ghost.t.rank << 8) | (<int64_t>on << 16)
            length += 1
            for j in range(ghost.t.rank):
                key[length] = ghost.dims[j]
                length += 1
        if on:
            key[length] = on
            length += 1
        plan = make_plan(op, inputs, n, attrs, key, length, 0, on)
    finally:
        free(key)
    if plan.kernel == NULL and not op.view_code and column_decompose.get(op) is None:
        raise no_kernel(op, inputs, n, plan)
    return plan


def kernel_generation():
    """Goes up whenever kernels are registered: plans of an older generation point to kernels that were replaced."""
    return kernels_generation


cdef uint64_t hash_attr(object a, int depth=0) except? 0x5EED:
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
        if depth == 8:  # no attribute is: each level is one of the machine's stack
            raise TypeError("an attribute of an op is nested too deeply. Got tuples in tuples, expected a tuple of numbers.")
        h = 31 + <uint64_t>PyTuple_GET_SIZE(a)
        for i in range(PyTuple_GET_SIZE(a)):
            h = wry_mix(h, hash_attr(<object>PyTuple_GET_ITEM(a, i), depth + 1))
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
cdef object column_view = None
cdef object meta_class = None
cdef object layout_class = None
cdef object put_shape = None  # of a new Meta, whose __init__ takes longer
cdef object put_dtype = None


cdef int find_columns() except -1:
    global column_infer, column_decompose, column_view, meta_class, layout_class, put_shape, put_dtype
    if meta_class is None:
        from wherry_tensor.ops import declare
        column_infer, column_decompose = declare.infer.rules, declare.decompose.rules
        column_view, layout_class = declare.view.rules, declare.Layout
        meta_class = declare.Meta
        put_shape, put_dtype = meta_class.shape.__set__, meta_class.dtype.__set__
    return 0


cdef dict attr_dict(Op op, tuple attrs):
    return dict(zip(op.attr_names, attrs))


cdef object meta_of(PyObject *x):
    if x == <PyObject *>None:
        return None
    cdef Tensor t = <Tensor>x
    out = meta_class.__new__(meta_class)
    put_shape(out, sizes_of(t))
    put_dtype(out, dtype_of_code(t.t.dtype))
    return out


cdef dict attr_kinds = {  # what may stand for an attribute of the declared type, None besides
    int: (int,), bool: (int,), float: (float, int), str: (str,), tuple: (tuple,), DType: (DType,),
    Scalar: (int, float, complex),
}


cdef int check_attr_types(Op op, tuple attrs) except -1:
    for name, kind, value in zip(op.attr_names, op.attr_types, attrs):
        if holds_size(value):
            if name not in op.size_attrs:
                raise NotImplementedError(
                    f"{op.name}: attribute '{name}' has to be known while a program is captured. Got {short(value)} with a size "
                    f"that is not known yet, expected numbers. Fix that size where the program's inputs are declared."
                )
        elif value is not None and not isinstance(value, attr_kinds[kind]):
            raise TypeError(
                f"{op.name}: attribute '{name}' has the wrong type. Got {type(value).__name__} ({short(value)}), "
                f"expected {kind.__name__}. Public functions convert it; an op takes plain data."
            )
        elif PyTuple_CheckExact(value) and any([isinstance(item, (list, dict)) for item in value]):
            raise TypeError(
                f"{op.name}: attribute '{name}' holds more than numbers. Got {short(value)}, expected a tuple of them. "
                f"Public functions convert it; an op takes plain data."
            )
    return 0


cdef inline bint holds_size(object value):
    """Is an attribute, or one of its numbers, a size that is not known yet?"""
    if PyTuple_CheckExact(value):
        for item in <tuple>value:
            if type(item) is size_class:
                return True
        return False
    return type(value) is size_class


def hold_sizes(attrs):
    """Does one of these attributes, or a number in one, stand for a size that is not known yet?"""
    for value in attrs:
        if holds_size(value):
            return True
    return False


cdef bint is_asked_by_a_call = False


def asked_by_a_call():
    """Is the shape rule that runs now asked for a call on tensors with data, and not for a capture or a plan ahead?

    Warnings of a shape rule are for those who made the call.
    """
    return is_asked_by_a_call


cdef tuple infer_metas(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs):
    find_columns()
    check_attr_types(op, attrs)
    rule = column_infer.get(op)
    if rule is None:
        raise NotImplementedError(
            f"no shape rule for '{op.name}'. Got a call, expected a rule in the column 'infer'. "
            f"Add infer_{op.name} to the module that declares the op."
        )
    try:
        result = rule(*[meta_of(inputs[i]) for i in range(n)], **attr_dict(op, attrs))
    except Exception as error:
        from wherry_tensor.errors import of_builtin
        named = of_builtin(error)
        if named is error:
            raise
        raise (named.with_traceback(error.__traceback__) if wry_show_frames else named) from None
    if not isinstance(result, tuple):
        result = (result,)
    if len(result) != op.n_outputs:
        raise AssertionError(f"infer_{op.name} gave {len(result)} metas; the op declares {op.n_outputs} outputs")
    return result


cdef enum:
    MOST_INFERRED = 4096

cdef dict inferred = {}  # what the rule of an op gave for these attributes and inputs


cdef tuple inferred_metas(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs):
    """As `infer_metas`, which a program asks the same many times: of each of its layers, and again in each pass that writes nodes anew."""
    cdef list parts = [op]
    cdef Py_ssize_t i
    for value in attrs:
        if PyTuple_CheckExact(value):
            for item in <tuple>value:
                if type(item) is not int:  # a size, or what the rule may refuse
                    return infer_metas(op, inputs, n, attrs)
        elif type(value) is size_class:
            return infer_metas(op, inputs, n, attrs)
        parts.append(type(value))  # 1, 1.0 and True are one key
        parts.append(value)
    for i in range(n):
        if inputs[i] == <PyObject *>None:
            parts.append(None)
        else:
            parts.append(sizes_of(<Tensor>inputs[i]))
            parts.append((<Tensor>inputs[i]).t.dtype)
    key = tuple(parts)
    try:
        known = inferred.get(key)
    except TypeError:  # an attribute that is no plain data
        return infer_metas(op, inputs, n, attrs)
    if known is None:
        known = infer_metas(op, inputs, n, attrs)
        if len(inferred) >= MOST_INFERRED:
            inferred.clear()
        inferred[key] = known
    return known


cdef tuple infer_of_call(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs):
    global is_asked_by_a_call
    cdef Py_ssize_t i
    cdef bint before = is_asked_by_a_call, ahead = False
    for i in range(n):
        if inputs[i] != <PyObject *>None and (<Tensor>inputs[i]).t.data == NULL:
            ahead = ahead or not (i < op.n_fixed and op.shape_only >> i & 1)
    is_asked_by_a_call = not ahead
    try:
        return inferred_metas(op, inputs, n, attrs) if ahead else infer_metas(op, inputs, n, attrs)
    finally:
        is_asked_by_a_call = before


cdef int encode_attr(Plan plan, int at, object value, str op_name, str attr_name) except -1:
    cdef wry_attr *a = &plan.encoded[at]
    cdef int64_t *ints
    cdef double *floats
    cdef Py_ssize_t length
    cdef int overflow = 0
    a.length = 0
    if value is None:
        a.kind = WRY_ATTR_NONE
        a.value.i = 0  # a kernel that never expects None reads 0 or False, not what memory held
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
                if isinstance(value[i], int) and not -LARGEST_INT - 1 <= value[i] <= LARGEST_INT:
                    raise ValueError(
                        f"{op_name}: attribute '{attr_name}' is too large. Got {short(value)}, expected 64-bit integers."
                    )
                ints[i] = value[i]
            a.kind, a.value.ints = WRY_ATTR_INTS, ints
    else:
        raise TypeError(
            f"{op_name}: attribute '{attr_name}' has a type that no kernel can read. Got {type(value).__name__} "
            f"({short(value)}), expected an int, float, bool, str, dtype, None or a tuple of numbers."
        )
    return 0


cdef str kernel_dtypes(Op op, int32_t device):
    cdef KernelRow *rows = rows_of(op, device)
    if rows == NULL:
        return ""
    return ", ".join([dtype_of_code(i).name for i in range(WRY_NUM_DTYPES) if rows[i].kernel != NULL])


cdef set asked_for_kernels = set(), loaded_kernels = set()  # names of devices
cdef object loading_kernels = RLock()  # other threads wait until the kernels are there; what is loaded may itself call ops


cdef object unknown_attr(Op op, tuple attrs):
    return RuntimeError(
        f"{op.name}: an attribute is a size of a captured program, not a number. Got {attr_dict(op, attrs)} outside of a "
        f"capture, expected numbers. Use it inside the program that made it; an executor replaces sizes with "
        f"sizes.resolved(attrs, find)."
    )


cpdef int load_kernels(str device) except -1:
    """Asks the installed packages for their kernels of one device, once.

    They are the entry points of the group wherry.kernels that bear the device's name. The cpu's are
    looked for when an op has none; those of another device when it is chosen, or at the first call that runs there.
    """
    if device in loaded_kernels:
        return 0
    with loading_kernels:
        if device in asked_for_kernels:
            return 0
        asked_for_kernels.add(device)
        from importlib.metadata import entry_points
        for point in entry_points(group="wherry.kernels", name=device):
            point.load()()
        loaded_kernels.add(device)
    return 0


# In one piece: each field of a plan is decided by those before it, once for every combination of shapes.
cdef Plan make_plan(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, const int64_t *key, int length, uint64_t hash,
                    int32_t device):
    cdef Plan plan = Plan.__new__(Plan)
    cdef tuple metas
    cdef int i, j, rank
    cdef int64_t size
    cdef int32_t dtype = -1
    cdef KernelRow *rows
    cdef size_t total
    cdef char *memory
    cdef DType d

    for value in attrs:
        if holds_size(value):
            raise unknown_attr(op, attrs)
    metas = infer_of_call(op, inputs, n, attrs)
    plan.hash = hash
    plan.op = op
    plan.attrs = attrs
    plan.key_length = length
    plan.n_inputs = n
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
        if d is None:
            raise TypeError(
                f"{op.name}: nothing says of which dtype the result is. Got {attr_dict(op, attrs)}, expected a dtype. Pass one."
            )
        shape = meta.shape
        plan.out_dtype[i] = d.code
        if dtype < 0:
            dtype = d.code
        rank = len(shape)
        if rank > WRY_MAX_RANK:
            from wherry_tensor.errors import InvalidArgumentError
            raise InvalidArgumentError(
                f"{op.name}: the result would have too many axes. Got rank {rank}, expected at most {WRY_MAX_RANK}."
            )
        plan.out_rank[i] = rank
        size = 1
        for j in range(rank):
            if shape[j] >= LARGEST_SIZE:  # such a number may not even fit
                from wherry_tensor.errors import ResourceExhaustedError
                raise ResourceExhaustedError(f"{op.name}: no machine holds the result. Got shape {short(list(shape))}. Check the arguments.")
            plan.out_shape[i * WRY_MAX_RANK + j] = shape[j]
            if shape[j] < 0:
                if op.size_attrs or shape[j] < -1:
                    # Its sizes are said, not found by the kernel, which would not ask for the memory.
                    from wherry_tensor.errors import InvalidArgumentError
                    raise InvalidArgumentError(
                        f"{op.name}: a size of the result is negative. Got shape {short(list(shape))} for {attr_dict(op, attrs)}, expected "
                        f"sizes of 0 or more. Check the arguments."
                    )
                plan.out_rank[i] = -1
                plan.allocates = True
            elif plan.out_rank[i] >= 0:
                if shape[j] and size > (<int64_t>1 << 48) // shape[j]:
                    raise too_large(op, d, shape)
                size *= shape[j]
        plan.out_size[i] = size
        if size > plan.work:
            plan.work = size
    for i in range(op.n_attrs):
        value = attrs[i]
        if op.attr_types[i] is float and value is not None:
            value = float(value)  # so that a kernel finds every float in value.f
        encode_attr(plan, i, value, op.name, op.attr_names[i])

    if device or rows_of(op, device) == NULL:
        load_kernels(kind_names[WRY_DEVICE_KIND(device)])
    rows = rows_of(op, device)
    plan.generation = kernels_generation
    plan.device = device
    if rows != NULL:
        if rows[dtype].kernel == NULL:
            dtype = WRY_NUM_DTYPES  # the row that serves the rest
        plan.kernel = rows[dtype].kernel
        plan.flags = rows[dtype].flags
        plan.data = rows[dtype].data
        if plan.flags & BOUND_WHEN_PLANNED:
            bind_kernel(plan, inputs, n, metas)
    # A launch is short, whatever it launches.
    if device == 0:
        plan.release = plan.work >= NARROW
    else:
        plan.release = wry_device_of(device).flags & WRY_LAUNCH_MAY_BLOCK != 0
    plan.simple = (device == 0 and plan.kernel != NULL and not plan.release and not plan.allocates and not op.random
                   and op.n_outputs == 1 and n <= MAX_SIMPLE)
    return plan


cdef object LARGEST_SIZE = 1 << 62
cdef object LARGEST_INT = (1 << 63) - 1


cdef object short(object value):
    """A value for an error text, as `wherry_tensor.errors` shortens it."""
    from wherry_tensor.errors import short
    return short(value)


cdef object too_large(Op op, DType dtype, tuple shape):
    cdef int64_t sizes[WRY_MAX_RANK]
    cdef double nbytes = itemsizes[dtype.code]
    for i, size in enumerate(shape):
        sizes[i] = size
        nbytes *= size
    return memory_error(op, dtype.code, <int32_t>len(shape), sizes, nbytes)


cdef object no_kernel(Op op, PyObject **inputs, Py_ssize_t n, Plan plan):
    cdef int32_t dtype = plan.out_dtype[0]
    cdef Py_ssize_t i
    from wherry_tensor.errors import UnimplementedError
    for i in range(n - 1, -1, -1):
        if inputs[i] != <PyObject *>None:
            dtype = (<Tensor>inputs[i]).t.dtype
    kind = kind_names[WRY_DEVICE_KIND(plan.device)]
    if rows_of(op, plan.device) == NULL:
        if any_kernels or plan.device:
            return UnimplementedError(
                f"no kernel for '{op.name}' on {kind}, and no decomposition. The column '{kind}' has no rule for it: "
                f"add one with wherry_tensor's register_kernels, or a decomposition where the op is declared."
            )
        return UnimplementedError(f"no kernel for '{op.name}' on cpu: pip install wherry-ops-cpu")
    return UnimplementedError(
        f"no {dtype_of_code(dtype).name} kernel for '{op.name}' on {kind}; it has {kernel_dtypes(op, plan.device)}. "
        f"Cast with x.astype('float32'), or move x to a device that has one."
    )
