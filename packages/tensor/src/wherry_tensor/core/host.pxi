# The host side of the kernel ABI: how tables of kernels come in.

cdef int register_kernels(const char *device, const wry_kernel_entry *entries, size_t count) except -1:
    global any_kernels, kernels_generation
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
            raise ImportError(
                f"register_kernels: the kernels for '{device.decode()}' are for a newer wherry-tensor. "
                f"Got one for '{name}', expected ops of the {len(registry)} that are declared here. "
                f"Bring both to the same version: pip install --upgrade wherry-tensor"
            )
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
    kernels_generation += 1
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
