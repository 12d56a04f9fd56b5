"""Device plug-ins: finding and loading libraries for Paddle's C interface, and registering their devices.

A library defines `InitPlugin` (`paddle/phi/backends/device_ext.h`) and registers kernels (`paddle/phi/extension.h`). `load` takes one;
`load_installed` takes those in the folders of `wherry_tensor.device.plugin_folders`, which importing `wherry` does. docs/device-plugins.md
tells how to write one.
"""
from __future__ import annotations

import atexit
import ctypes
import os
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wherry_tensor import _core, device

if TYPE_CHECKING:
    from wherry_extension.plugins.programs import KernelTable

__all__ = ["Plugin", "PluginError", "load", "load_installed", "loaded"]


class PluginError(ImportError):
    """A library that is not a plug-in of this version, or whose devices do not start; the text names the file and the reason."""


@dataclass
class Plugin:
    """A library that was loaded.

    Attributes:
        path: the file.
        device: the name of its devices; None if it has only kernels.
        sub_device: an additional name, often a version.
        kernels: names of the kernels that are used, and of those that are not.
    """

    path: str
    device: str | None
    sub_device: str = ""
    kernels: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


loaded: dict[str, Plugin] = {}  # by the real path of the file
_tables: dict[str, KernelTable] = {}  # by kind of device


def load(path: str | os.PathLike[str]) -> Plugin:
    """Load a plug-in and make its devices and kernels members of this process.

    Args:
        path: a shared library. One that is loaded already is not loaded again.

    Returns:
        What is known of it.

    Raises:
        PluginError: it cannot be used; nothing of it is then.

    Examples:
        >>> from wherry_extension import plugins
        >>> plugins.load("/nowhere/libmine.so")
        Traceback (most recent call last):
        ...
        wherry_extension.plugins.PluginError: /nowhere/libmine.so: there is no such file. ...
    """
    real = os.path.realpath(os.fspath(path))
    if real in loaded:
        return loaded[real]
    if not os.path.isfile(real):
        raise PluginError(f"{path}: there is no such file. Expected the shared library of a device plug-in.", path=os.fspath(path))
    from wherry_extension.plugins import boundary

    error = ctypes.create_string_buffer(boundary.ERROR_SIZE)
    handle = ctypes.c_void_p()
    if boundary.library.wplug_open(os.fsencode(real), ctypes.byref(handle), error) != 0:
        raise PluginError(error.value.decode(errors="replace"), path=real)
    kind = (boundary.library.wplug_device_type(handle) or b"").decode()
    rows = _rows(boundary, handle, real)
    if kind:
        taken = [known for known in _core.devices() if known.lower() == kind.lower()]
        if taken:
            raise PluginError(
                f"{real}: there is a device of this name. Got a second '{kind}', expected a new name; the first one stays.", path=real
            )
        if boundary.library.wplug_start(handle, error) != 0:
            raise PluginError(f"{real}: its devices do not start. {error.value.decode(errors='replace')}", path=real)
        if not loaded:
            atexit.register(boundary.library.wplug_finish)
        boundary.host.register_device(boundary.library.wplug_device(handle))
        _own_kernels(boundary, kind, handle)
    plugin = Plugin(real, kind or None, (boundary.library.wplug_sub_device_type(handle) or b"").decode())
    loaded[real] = plugin
    _register_kernels(plugin, rows, handle)
    return plugin


def load_installed() -> None:
    """Load every library in the folders of plug-ins. Libraries that cannot be used are skipped with a warning."""
    for folder in device.plugin_folders():
        if not os.path.isdir(folder):
            continue
        for name in sorted(os.listdir(folder)):
            if not name.endswith((".so", ".dylib", ".dll")):
                continue
            try:
                load(os.path.join(folder, name))
            except ImportError as error:  # PluginError, or the loader itself is not there
                if str(error) not in device.failures:
                    device.failures.append(str(error))
                    warnings.warn(f"a device plug-in is left out. {error}", RuntimeWarning, stacklevel=2)


def _rows(boundary: Any, handle: Any, path: str) -> list[Any]:
    """Pointers to the kernels that a library registers."""
    table = boundary.library.wplug_kernels(handle)
    if not table:
        return []
    version = table.contents.version
    if version != boundary.KERNELS_VERSION:
        raise PluginError(
            f"{path}: its kernels are for another version of the headers. Got {version}, expected {boundary.KERNELS_VERSION}. "
            f"Compile it against the headers of this version.", path=path,
        )
    return [table.contents.kernels[i] for i in range(table.contents.count)]


def _own_kernels(boundary: Any, kind: str, handle: Any) -> None:
    """The kernels that every device has with only its memory functions."""
    from wherry_extension.plugins.programs import KernelTable

    _tables[kind] = KernelTable(kind, handle.value)
    register = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)(
        boundary.host.register_kernels
    )
    for op, function, flags in ((b"copy", "wplug_copy", _STRIDED_OUTPUT), (b"full", "wplug_full", 0), (b"full_like", "wplug_full", 0)):
        row = boundary.Row(op, -1, flags, boundary.address_of(function), handle.value)
        register(kind.encode(), ctypes.addressof(row), 1, ctypes.sizeof(row))


_WANTS_CONTIGUOUS, _STRIDED_OUTPUT, _TAKES_HOST_SCALARS = 1, 4, 16  # wry_flags


def _register_kernels(plugin: Plugin, rows: list[Any], handle: Any) -> None:
    """Let the kernels of a library serve ops of its devices, or of those of a plug-in that came before."""
    if not rows:
        return
    from wherry_extension.plugins import boundary, rules  # noqa: F401  fills the column
    from wherry_extension.plugins.column import any_dtype, bind, host_numbers, kernel_names
    from wherry_tensor.dtype import as_dtype

    changed = set()
    used = {one for names in kernel_names.values() for name in names for one in name.split("|")}
    for row in rows:
        kind, name = row.contents.device.decode(), row.contents.name.decode()
        table = _tables.get(kind)
        if table is None:
            _warn_once(f"{plugin.path}: it registers kernels for '{kind}', and no plug-in brings such a device. They are not used.")
            continue
        where = plugin.kernels if table.add(row) in used else plugin.unused
        changed.add(kind)
        if name not in where:
            where.append(name)
    run = boundary.address_of("wplug_run")
    for kind in changed:
        table = _tables[kind]
        for op, names in kernel_names.items():
            found = table.dtypes(names)
            if found:
                dtypes = None if op in any_dtype else [as_dtype(name, "load") for name in found]
                flags = _WANTS_CONTIGUOUS | (_TAKES_HOST_SCALARS if op in host_numbers else 0)
                _core.register_bound_kernel(kind, op, dtypes, run, _Binder(table, op, bind), flags)


class _Binder:
    """The function that the core calls for the program of a call."""

    def __init__(self, table: KernelTable, op: Any, bind: Any) -> None:
        self._table, self._op, self._bind = table, op, bind

    def __call__(self, inputs: Any, outputs: Any, attrs: Any) -> Any:
        return self._bind(self._table, self._op, inputs, outputs, attrs)


def _warn_once(text: str) -> None:
    if text not in device.failures:
        device.failures.append(text)
        warnings.warn(text, RuntimeWarning, stacklevel=3)
