# cython: language_level=3
"""Hands the kernel tables of one instruction set to the core."""
from cpython.pycapsule cimport PyCapsule_GetPointer


cdef extern from "wherry/abi.h":
    enum:
        WRY_ABI_VERSION

    ctypedef struct wry_kernel_entry:
        pass

    ctypedef struct wry_host:
        int abi_version
        int oldest
        int (*register_kernels)(const char *, const wry_kernel_entry *, size_t, size_t) except -1

    bint wry_host_serves(const wry_host *host)


cdef extern from "tables.h":
    ctypedef const wry_kernel_entry *(*wry_cpu_family)(size_t *) noexcept

    ctypedef struct wry_cpu_isa:
        const char *name
        int (*supported)() noexcept
        const wry_cpu_family *families

    const wry_cpu_isa *wry_cpu_isas
    void wry_cpu_start_runtime() noexcept


cdef bint runtime_started = False


def compiled_isas():
    """Names of the instruction sets in this build, best first."""
    names = []
    cdef const wry_cpu_isa *isa = wry_cpu_isas
    while isa.name != NULL:
        names.append(isa.name.decode())
        isa += 1
    return tuple(names)


def supported_isas():
    """Those of `compiled_isas` that this processor can run, best first."""
    names = []
    cdef const wry_cpu_isa *isa = wry_cpu_isas
    while isa.name != NULL:
        if isa.supported():
            names.append(isa.name.decode())
        isa += 1
    return tuple(names)


def register(host, str isa_name):
    """Register every kernel of `isa_name` with the core whose capsule is `host`.

    The name must be one of `supported_isas()`. Registering another one later replaces the kernels.
    """
    global runtime_started
    cdef wry_host *core = <wry_host *>PyCapsule_GetPointer(host, "wherry.host")
    if not wry_host_serves(core):
        # The core takes what was compiled for ABIs from `oldest` to its own.
        outdated = "wherry-tensor" if core.abi_version < WRY_ABI_VERSION else "wherry-ops-cpu"
        raise ImportError(
            f"wherry-ops-cpu does not fit this wherry-tensor. "
            f"Got kernel ABI {core.oldest} to {core.abi_version}, expected {WRY_ABI_VERSION} among them. "
            f"Bring both to the same version: pip install --upgrade {outdated}"
        )
    if not runtime_started:
        wry_cpu_start_runtime()
        runtime_started = True
    wanted = isa_name.encode()
    cdef const wry_cpu_isa *isa = wry_cpu_isas
    cdef const wry_cpu_family *family
    cdef const wry_kernel_entry *table
    cdef size_t count = 0
    while isa.name != NULL and isa.name != <bytes>wanted:
        isa += 1
    if isa.name == NULL or not isa.supported():
        raise ValueError(
            f"wherry-ops-cpu cannot run its '{isa_name}' kernels here. "
            f"Got '{isa_name}', expected one of {', '.join(supported_isas())}. "
            f"Unset WHERRY_CPU_ISA, or set it to one of these."
        )
    family = isa.families
    while family[0] != NULL:
        table = family[0](&count)
        core.register_kernels(b"cpu", table, count, sizeof(wry_kernel_entry))
        family += 1
