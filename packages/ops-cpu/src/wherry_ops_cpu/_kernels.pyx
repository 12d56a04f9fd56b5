# cython: language_level=3
"""Hands the kernel tables of one instruction set to the core."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t, uintptr_t


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
        int (*gains)() noexcept
        const wry_cpu_family *families
        int64_t (*limit)(const char *, int64_t, int, void *, int64_t) noexcept nogil

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
    """Those of `compiled_isas` that this processor can run, best first; last those that gain nothing on it."""
    names, others = [], []
    cdef const wry_cpu_isa *isa = wry_cpu_isas
    while isa.name != NULL:
        if isa.supported():
            (names if isa.gains() else others).append(isa.name.decode())
        isa += 1
    return tuple(names + others)


cdef const wry_cpu_isa *running(str isa_name) except NULL:
    """The instruction set of this name, when threads are there to run it."""
    global runtime_started
    if not runtime_started:
        wry_cpu_start_runtime()
        runtime_started = True
    wanted = isa_name.encode()
    cdef const wry_cpu_isa *isa = wry_cpu_isas
    while isa.name != NULL and isa.name != <bytes>wanted:
        isa += 1
    if isa.name == NULL or not isa.supported():
        raise ValueError(
            f"wherry-ops-cpu cannot run its '{isa_name}' kernels here. "
            f"Got '{isa_name}', expected one of {', '.join(supported_isas())}. "
            f"Unset WHERRY_CPU_ISA, or set it to one of these."
        )
    return isa


def register(host, str isa_name):
    """Register every kernel of `isa_name` with the core whose capsule is `host`.

    The name must be one of `supported_isas()`. Registering another one later replaces the kernels.
    """
    cdef wry_host *core = <wry_host *>PyCapsule_GetPointer(host, "wherry.host")
    if not wry_host_serves(core):
        # The core takes what was compiled for ABIs from `oldest` to its own.
        outdated = "wherry-tensor" if core.abi_version < WRY_ABI_VERSION else "wherry-ops-cpu"
        raise ImportError(
            f"wherry-ops-cpu does not fit this wherry-tensor. "
            f"Got kernel ABI {core.oldest} to {core.abi_version}, expected {WRY_ABI_VERSION} among them. "
            f"Bring both to the same version: pip install --upgrade {outdated}"
        )
    cdef const wry_cpu_isa *isa = running(isa_name)
    cdef const wry_cpu_family *family = isa.families
    cdef const wry_kernel_entry *table
    cdef size_t count = 0
    while family[0] != NULL:
        table = family[0](&count)
        core.register_kernels(b"cpu", table, count, sizeof(wry_kernel_entry))
        family += 1


def limit(str isa_name, str what, int64_t rounds, int threads, uintptr_t memory, int64_t size):
    """Do `rounds` of `what` on each of so many threads, as csrc/limits.cc says; returns how much that was."""
    cdef const wry_cpu_isa *isa = running(isa_name)
    cdef const char *name
    cdef int64_t done
    encoded = what.encode()
    name = encoded
    with nogil:
        done = isa.limit(name, rounds, threads, <void *>memory, size)
    return done
