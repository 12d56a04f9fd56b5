"""`paddle.utils`: what programs need beside tensors and layers."""
from importlib import import_module as _import_module
from typing import Any

from wherry import _absent
from wherry.utils import dlpack, unique_name
from wherry.utils.checks import deprecated, require_version, run_check, try_import

__all__ = ["cpp_extension", "deprecated", "dlpack", "download", "require_version", "run_check", "try_import", "unique_name"]

_no_such_name = _absent.looked_up(__name__)


def __getattr__(name: str) -> Any:
    if name in ("cpp_extension", "download"):  # load programs and layers
        return _import_module(f"{__name__}.{name}")
    return _no_such_name(name)
