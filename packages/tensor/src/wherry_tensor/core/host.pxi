# The host side of the kernel ABI: how tables of kernels come in.

cdef int register_kernels(const char *device, const wry_kernel_entry *entries, size_t count, size_t entry_size) except -1:
    global any_kernels, kernels_generation
    cdef const wry_kernel_entry *entry
    cdef size_t i
    cdef Op op
    cdef KernelRow *rows
    cdef int32_t at
    kind_name = device.decode()
    if kind_name not in kinds_by_name:
        raise ValueError(
            f"register_kernels: unknown device. Got '{kind_name}', expected one of {', '.join(kind_names)}. "
            f"Register the device first, with register_device."
        )
    cdef int kind = kinds_by_name[kind_name]
    if entry_size < sizeof(wry_kernel_entry):
        raise ValueError(f"register_kernels: got rows of {entry_size} bytes, expected at least {sizeof(wry_kernel_entry)}.")
    import wherry_tensor.ops  # declares the names  # noqa: F401
    for i in range(count):
        entry = <const wry_kernel_entry *>(<const char *>entries + i * entry_size)  # rows may be longer than ours
        name = entry.op.decode()
        if name not in registry:
            raise ImportError(
                f"register_kernels: the kernels for '{device.decode()}' are for a newer wherry-tensor. "
                f"Got one for '{name}', expected ops of the {len(registry)} that are declared here. "
                f"Bring both to the same version: pip install --upgrade wherry-tensor"
            )
        op = registry[name]
        if not -1 <= entry.dtype < WRY_NUM_DTYPES or entry.kernel == NULL:
            raise ValueError(f"register_kernels: row {i} ('{name}') has no kernel or an unknown dtype {entry.dtype}.")
        if op.kernels == NULL:
            op.kernels = calloc(MAX_KINDS, sizeof(KernelRow *))
            if op.kernels == NULL:
                raise MemoryError()
        rows = (<KernelRow **>op.kernels)[kind]
        if rows == NULL:
            rows = <KernelRow *>calloc(WRY_NUM_DTYPES + 1, sizeof(KernelRow))
            if rows == NULL:
                raise MemoryError()
            (<KernelRow **>op.kernels)[kind] = rows
        at = WRY_NUM_DTYPES if entry.dtype < 0 else entry.dtype
        rows[at].kernel = entry.kernel
        rows[at].flags = entry.flags
        rows[at].data = entry.data
        op.plans = [None] * 8  # plans hold kernels
        op.recent = None
        op.used = 0
    any_kernels = True
    kernels_generation += 1
    return 0


cdef int find_kernel(const char *device, const char *op_name, int32_t dtype, wry_kernel_entry *found, size_t size) except -1:
    cdef Op op
    cdef KernelRow *rows
    name, kind = op_name.decode(), device.decode()
    if name not in registry or kind not in kinds_by_name or size < sizeof(wry_kernel_entry):
        raise KeyError(f"find_kernel: got op '{name}' on '{kind}', expected an op of the vocabulary and a known device.")
    load_kernels(kind)
    op = registry[name]
    rows = rows_of(op, kinds_by_name[kind])
    if rows == NULL or not -1 <= dtype < WRY_NUM_DTYPES or \
            rows[dtype if dtype >= 0 else WRY_NUM_DTYPES].kernel == NULL:
        return 1
    rows += dtype if dtype >= 0 else WRY_NUM_DTYPES
    # The first waits for the interpreter, which a stream of a device must not; the other has no data without a plan.
    if rows.kernel == run_python_kernel or rows.flags & BOUND_WHEN_PLANNED:
        return 1
    found.op, found.dtype, found.flags, found.kernel, found.data = op_name, dtype, rows.flags, rows.kernel, rows.data
    return 0


cdef dict attr_types_by_name = {
    "int": int, "bool": bool, "float": float, "str": str, "tuple": tuple, "dtype": DType, "scalar": Scalar,
}


@cython.final
cdef class CompiledInfer:
    """A shape rule of a wry_op_entry, called like one written in Python."""
    cdef wry_infer rule
    cdef Op op

    def __call__(self, *metas, **attrs):
        cdef wry_meta given[MAX_RULE_INPUTS]
        cdef const wry_meta *inputs[MAX_RULE_INPUTS]
        cdef wry_meta results[MAX_OUTPUTS]
        cdef wry_attr encoded[MAX_RULE_INPUTS]
        cdef char error[512]
        cdef Plan keeper = Plan.__new__(Plan)  # what encode_attr writes to
        cdef Py_ssize_t i, j, n = len(metas)
        if n > MAX_RULE_INPUTS or self.op.n_attrs > MAX_RULE_INPUTS:
            raise ValueError(f"{self.op.name}: got {n} inputs and {self.op.n_attrs} attributes, expected at most {MAX_RULE_INPUTS}.")
        for i in range(n):
            if metas[i] is None:
                inputs[i] = NULL
                continue
            given[i].dtype = (<DType?>metas[i].dtype).code
            shape = metas[i].shape
            given[i].rank = <int32_t>len(shape)
            for j in range(len(shape)):
                given[i].shape[j] = shape[j]
            inputs[i] = &given[i]
        keeper.kept = []
        keeper.encoded = encoded
        for i in range(self.op.n_attrs):
            value = attrs[self.op.attr_names[i]]
            if self.op.attr_types[i] is float and value is not None:
                value = float(value)
            encode_attr(keeper, <int>i, value, self.op.name, self.op.attr_names[i])
        memset(results, 0, sizeof(results))
        error[0] = 0
        status = self.rule(inputs, <int32_t>n, encoded, self.op.n_attrs, results, self.op.n_outputs, error)
        if status != WRY_OK:
            raise_text(status, f"{self.op.name}: its shape rule", error)
        out = []
        for i in range(self.op.n_outputs):
            if not 0 <= results[i].rank <= WRY_MAX_RANK or not 0 <= results[i].dtype < WRY_NUM_DTYPES:
                raise ValueError(
                    f"{self.op.name}: its shape rule gave no meta. Got rank {results[i].rank} and dtype {results[i].dtype} for "
                    f"output {i}, expected a rank up to {WRY_MAX_RANK} and a dtype code."
                )
            out.append(meta_class(tuple([results[i].shape[j] for j in range(results[i].rank)]), dtype_of_code(results[i].dtype)))
        return out[0] if self.op.n_outputs == 1 else tuple(out)


cdef enum:
    MAX_RULE_INPUTS = 32


cdef int register_ops(const wry_op_entry *entries, size_t count, size_t entry_size) except -1:
    """Ops that a package brings in C."""
    cdef const wry_op_entry *entry
    cdef CompiledInfer rule
    cdef size_t i
    from wherry_tensor.ops import declare
    find_columns()
    if entry_size < sizeof(wry_op_entry):
        raise ValueError(f"register_ops: got rows of {entry_size} bytes, expected at least {sizeof(wry_op_entry)}.")
    for i in range(count):
        entry = <const wry_op_entry *>(<const char *>entries + i * entry_size)
        if entry.name == NULL or entry.inputs == NULL or entry.infer == NULL:
            raise ValueError(f"register_ops: row {i} lacks a name, the inputs or the shape rule.")
        name = entry.name.decode()
        attrs = {}
        for part in ("" if entry.attrs == NULL else entry.attrs.decode()).split(","):
            if part.strip():
                attr, _, kind = [word.strip() for word in part.partition("=")]
                if kind not in attr_types_by_name:
                    raise ValueError(
                        f"register_ops: attribute '{attr}' of '{name}' has no known type. Got '{kind}', expected one of "
                        f"{', '.join(attr_types_by_name)}."
                    )
                attrs[attr] = attr_types_by_name[kind]
        outputs = "out" if entry.outputs == NULL else entry.outputs.decode()
        made = declare.op(name, entry.inputs.decode(), outputs=outputs, **attrs)
        rule = CompiledInfer.__new__(CompiledInfer)
        rule.rule = entry.infer
        rule.op = made
        declare.infer.rules[made] = rule
    return 0


cdef wry_host host_table
host_table.abi_version = WRY_ABI_VERSION
host_table.oldest = WRY_ABI_OLDEST
host_table.size = sizeof(wry_host)
host_table.register_kernels = register_kernels
host_table.register_device = register_device
host_table.register_ops = register_ops
host_table.find_kernel = find_kernel
host = PyCapsule_New(&host_table, b"wherry.host", NULL)


cdef int finish() except -1:
    cdef Op probe = Op("probe", "x", (), (), ("out",), False)
    wry_enable_vectorcall(<PyTypeObject *>Op, <char *>&probe.vectorcall - <char *><void *>probe)
    return 0


finish()


def start():
    """Called by the package once the vocabulary is declared."""
    find_ops()
