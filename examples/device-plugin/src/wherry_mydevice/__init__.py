"""The device mydevice for Wherry: importing this package registers it.

Tensors have a method `mydevice()` from then on, and `set_device("mydevice")` makes it the current device; the latter finds this
package by its entry point and imports it by itself.
"""
from __future__ import annotations

from importlib.metadata import version

__all__ = ["__version__", "register"]

__version__ = version("wherry-mydevice")

# A release belongs to one release of the host: 0.9.0 and 0.9.0.post1 to 0.9.0.
_HOST = ".".join(__version__.split(".")[:3]).partition("rc")[0]
_registered = False


def _check_pairing() -> None:
    found = version("wherry-tensor")
    if found != _HOST:
        raise ImportError(
            f"wherry_mydevice {__version__} belongs to wherry-tensor {_HOST}. Got wherry-tensor {found}, expected {_HOST}. "
            f"Install the pair: pip install 'wherry-mydevice=={found}.*', or pip install 'wherry-tensor=={_HOST}'; "
            f"COMPATIBILITY.md lists which releases there are."
        )


def register() -> None:
    """Register the device; once is enough, and the import has done it. The entry point calls this.

    Raises:
        ImportError: this release belongs to another release of wherry-tensor.
    """
    global _registered
    if _registered:
        return
    _check_pairing()
    from wherry_mydevice import _library
    from wherry_tensor import _core

    _library.register(_core.host)
    _registered = True


register()
