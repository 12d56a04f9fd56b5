"""How programs run: op by op. And what is Paddle's but not here yet, said clearly."""
from __future__ import annotations

from typing import Any

from wherry.version import full_version
from wherry_tensor.device import set_device
from wherry_tensor.errors import UnimplementedError

__all__ = ["disable_signal_handler", "disable_static", "enable_static"]

# Names at Paddle's top that no package has yet, and what to do meanwhile.
NOT_YET = {
    "DataParallel": "One process trains here: use the layer itself.",
    "audio": "",
    "batch": "Use wherry.io.DataLoader.",
    "check_shape": "",
    "dataset": "Use wherry.io.Dataset and DataLoader.",
    "distributed": "One process trains here.",
    "distribution": "",
    "fft": "wherry.utils.dlpack and numpy() lend tensors to libraries that have it.",
    "geometric": "",
    "hub": "",
    "inference": "Load the weights with wherry.load and call the layer under no_grad().",
    "jit": "Leave to_static out: the same code runs op by op. wherry.save keeps the weights.",
    "onnx": "",
    "profiler": "",
    "quantization": "",
    "reader": "Use wherry.io.DataLoader.",
    "signal": "wherry.utils.dlpack and numpy() lend tensors to libraries that have it.",
    "sparse": "Gradients and tensors are dense.",
    "static": "Programs run op by op: call layers and functions with tensors.",
    "sysconfig": "wherry_tensor.get_include() is the folder of the C headers.",
    "text": "",
}


def absent(name: str) -> AttributeError:
    """The error for a name that the facade does not have; of Paddle's own it says that they are not here yet."""
    if name not in NOT_YET:
        return AttributeError(f"module 'wherry' has no attribute {name!r}", name=name)
    text = f"wherry.{name}: Paddle has it, but no package of Wherry {full_version} yet. Got {name!r}, expected a name of dir(wherry)."
    return AttributeError(f"{text} {NOT_YET[name]}".rstrip(), name=name)


def disable_static(place: Any = None) -> None:
    """Run op by op, which is how Wherry runs.

    Args:
        place: where to run from now on, as `set_device` takes it; None changes nothing.

    Source:
        `paddle.disable_static`.

    Examples:
        >>> wherry.disable_static()
        >>> wherry.in_dynamic_mode()
        True
    """
    if place is not None:
        set_device(place)


def enable_static() -> None:
    """Record programs instead of running op by op: not available yet.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.enable_static`.

    Examples:
        >>> wherry.enable_static()
        Traceback (most recent call last):
        wherry_tensor.errors.UnimplementedError: enable_static: programs are not recorded yet. ...
    """
    raise UnimplementedError(
        "enable_static: programs are not recorded yet. Got a call, expected none: Wherry runs op by op. "
        "Leave it out, and call layers and functions with tensors."
    )


def disable_signal_handler() -> None:
    """Give back signal handlers: Wherry takes none, so there is nothing to do.

    Source:
        `paddle.disable_signal_handler`.
    """
