# Op: the Python face of a primitive, called through vectorcall.

registry: dict = {}


@cython.final
@cython.binding(False)   # methods check their self
cdef class Op:
    """A primitive: a name, its tensor inputs and its attributes. Calling it applies it.

    Inputs are positional (None for an absent optional one), attributes come by keyword, or
    positionally after the inputs when their number is fixed.
    """

    def __init__(self, str name, str input_spec, tuple attr_names, tuple attr_types, tuple outputs, bint view,
                 tuple effects=(), tuple size_attrs=()):
        cdef list parts = []
        if self.vectorcall != NULL:
            raise TypeError(f"op '{self.name}' is declared already. Got a second __init__, expected one.")
        self.name = name
        self.input_spec = input_spec
        for part in input_spec.split(","):
            part = part.strip()
            if part:
                if "~" in part:
                    self.shape_only |= <uint64_t>1 << len(parts)
                parts.append((part.strip("?*~"), "?" in part, part.startswith("*")))
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
        self.random = "random" in effects
        self.in_place = "in-place" in effects
        self.size_attrs = size_attrs
        self.view_code = view_codes.get(name, BY_RULE) if view else 0
        self.plans = [None] * 8
        self.vectorcall = <void *>op_vectorcall

    def __dealloc__(self):
        cdef int kind
        if self.kernels != NULL:
            for kind in range(MAX_KINDS):
                free((<KernelRow **>self.kernels)[kind])
            free(self.kernels)

    def __repr__(self):
        attrs = "".join([f", {n}={getattr(t, '__name__', t)}" for n, t in zip(self.attr_names, self.attr_types)])
        return f"op {self.name}({self.input_spec}{attrs})"

    @property
    def effects(self):
        """What a call does besides computing: a tuple of "random" (it draws from the generator) and "in-place" (each
        output `<name>_out` is made to be written over the input `<name>`)."""
        return ("random",) * self.random + ("in-place",) * self.in_place

    def uses_shape_only(self, int index):
        """Of input `index`, is only the shape used (`~` in the declaration)? Then it needs no values."""
        return 0 <= index < self.n_fixed and self.shape_only >> index & 1 == 1

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

    def run_into(self, Tensor target, tuple inputs, tuple attrs):
        """`run`, with the result written into `target`, a tensor with data of its shape and dtype; for an op of one output."""
        cdef PyObject *items[MAX_INPUTS]
        cdef PyObject *results[MAX_OUTPUTS]
        cdef PyObject *targets[1]
        cdef wry_thread *thread = wry_thread_state()
        cdef tuple inner = stack_of(thread.inner)
        cdef tuple outer = stack_of(thread.outer)
        cdef int grad_off = thread.grad_off
        cdef Py_ssize_t n = len(inputs), i
        check_counts(self, inputs, attrs)
        if n > MAX_INPUTS or self.n_outputs != 1 or target.t.data == NULL:
            raise ValueError(f"{self.name}: run_into takes {MAX_INPUTS} inputs, one output and a target with data. Got {n}, {self.n_outputs}.")
        for i in range(n):
            items[i] = PyTuple_GET_ITEM(inputs, i)
        targets[0] = <PyObject *>target
        put_stack(&thread.inner, None)
        put_stack(&thread.outer, None)
        thread.grad_off = 1
        try:
            perform(self, items, n, attrs, results, targets, thread)
            Py_DECREF(<object>results[0])
        finally:
            put_stack(&thread.inner, inner)
            put_stack(&thread.outer, outer)
            thread.grad_off = grad_off
        return target

    def run(self, tuple inputs, tuple attrs):
        """The kernel (or view, or decomposition) alone, past all layers: what an inner layer calls."""
        cdef wry_thread *thread = wry_thread_state()
        cdef tuple inner = stack_of(thread.inner)
        cdef tuple outer = stack_of(thread.outer)
        cdef int grad_off = thread.grad_off
        put_stack(&thread.inner, None)
        put_stack(&thread.outer, None)
        thread.grad_off = 1
        try:
            return self.apply(inputs, attrs)
        finally:
            put_stack(&thread.inner, inner)
            put_stack(&thread.outer, outer)
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

    def each_into(self, tuple outs, tuple inputs, tuple attrs):
        """Apply to many groups of tensors, one after the other, writing the results in place.

        One call for all parameters of a model: what Python costs is paid once. Nothing is recorded for
        gradients, so parameters may be written; versions go up.

        Args:
            outs: for each output the list of tensors to write to, one for each group.
            inputs: for each input a list of the same length, or one Tensor (or None) for all groups.
            attrs: the values of all attributes, in the order of the declaration.
        """
        cdef PyObject *items[MAX_EACH]
        cdef PyObject *results[MAX_OUTPUTS]
        cdef PyObject *targets[MAX_OUTPUTS]
        cdef wry_thread *thread = wry_thread_state()
        cdef Py_ssize_t n = len(inputs), groups, k, i
        cdef int grad_off = thread.grad_off
        cdef int32_t device = -1
        cdef object column, one
        cdef list kept = []
        if n < self.min_inputs or n > self.n_fixed or n > MAX_EACH or len(attrs) != self.n_attrs or \
                len(outs) != self.n_outputs:
            raise TypeError(
                f"{self.name}: got {len(outs)} outputs, {n} inputs and {len(attrs)} attributes for each_into, expected the "
                f"outputs ({', '.join(self.outputs)}), the inputs ({self.input_spec}) and the attributes "
                f"({', '.join(self.attr_names)})."
            )
        groups = len(outs[0])
        for column in outs:
            if type(column) is not list or len(<list>column) != groups:
                raise TypeError(f"{self.name}: each_into needs lists of one length to write to, {groups} tensors each.")
            for one in <list>column:
                if not isinstance(one, Tensor) or (<Tensor>one).t.data == NULL and not (<Tensor>one).flags & SYMBOLIC \
                        and (<Tensor>one).t.size:
                    raise TypeError(f"{self.name}: got {type(one).__name__} to write to, expected a Tensor with data.")
        for i in range(n):
            column = inputs[i]
            if type(column) is list:
                if len(<list>column) != groups:
                    raise TypeError(
                        f"{self.name}: got {len(<list>column)} tensors as input '{self.inputs[i][0]}' of each_into, "
                        f"expected {groups}, as many as there are to write to."
                    )
                for one in <list>column:
                    check_input(self, one, i)
            else:
                check_input(self, column, i)
                items[i] = <PyObject *>column
        if groups > 1 and thread.inner == NULL and thread.outer == NULL and (<Tensor>(<list>outs[0])[0]).t.device != 0:
            device = begin_together((<Tensor>(<list>outs[0])[0]).t.device)
        thread.grad_off = 1
        try:
            for i in range(n if device >= 0 else 0):  # numbers of the host, which all groups share, go there once
                column = inputs[i]
                if isinstance(column, Tensor) and (<Tensor>column).t.device == 0 and (<Tensor>column).t.data != NULL \
                        and (<Tensor>column).t.rank == 0:
                    column = copied_to(<Tensor>column, device)
                    kept.append(column)
                    items[i] = <PyObject *>column
            for k in range(groups):
                for i in range(n):
                    column = inputs[i]
                    if type(column) is list:
                        items[i] = PyList_GET_ITEM(column, k)
                for i in range(self.n_outputs):
                    targets[i] = PyList_GET_ITEM(outs[i], k)
                perform(self, items, n, attrs, results, targets, thread)
                for i in range(self.n_outputs):
                    Py_DECREF(<object>results[i])
        finally:
            thread.grad_off = grad_off
            if device >= 0:
                end_together(device, self.name)

    def infer(self, tuple inputs, tuple attrs):
        """Metas of the outputs for tensors `inputs`: a tuple. Runs the shape rule, no kernel."""
        cdef PyObject *items[MAX_INPUTS]
        cdef Py_ssize_t i
        check_counts(self, inputs, attrs)
        if len(inputs) > MAX_INPUTS:
            raise ValueError(f"{self.name}: got {len(inputs)} inputs, expected at most {MAX_INPUTS}.")
        for i in range(len(inputs)):
            items[i] = PyTuple_GET_ITEM(inputs, i)
        return inferred_metas(self, items, len(inputs), attrs)

    def kernel_dtypes(self, str device="cpu"):
        """Names of the dtypes that a kind of device has a kernel for; `...` stands for all the others."""
        cdef KernelRow *rows
        load_kernels(device)
        rows = rows_of(self, kinds_by_name[device])
        if rows == NULL:
            return ()
        names = [dtype_of_code(i).name for i in range(WRY_NUM_DTYPES) if rows[i].kernel != NULL]
        return tuple(names + (["..."] if rows[WRY_NUM_DTYPES].kernel != NULL else []))


cdef int32_t begin_together(int32_t device) except -2:
    """Tells a device that many calls of one op follow; -1 where it does not care."""
    cdef char error[512]
    cdef const wry_device *d = wry_device_of(device)
    if d == NULL or d.together == NULL:
        return -1
    error[0] = 0
    cdef int status = d.together(d.self, WRY_DEVICE_NUMBER(device), 1, error)
    if status != WRY_OK:
        raise_text(status, f"work on {device_name(device)}", error)
    return device


cdef int end_together(int32_t device, str name) except -1:
    cdef char error[512]
    cdef const wry_device *d = wry_device_of(device)
    error[0] = 0
    cdef int status = d.together(d.self, WRY_DEVICE_NUMBER(device), 0, error)
    if status != WRY_OK:
        raise_text(status, name, error)
    return 0


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
