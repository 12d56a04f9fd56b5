"""Whether what a program needs is there, and works."""
from __future__ import annotations

import functools
import importlib
import re
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

from wherry.version import PADDLE_VERSION
from wherry_tensor import device as devices
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, PreconditionNotMetError, short

__all__ = ["PADDLE_VERSION", "check_shape", "deprecated", "require_version", "run_check", "try_import"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def run_check() -> None:
    """Check the installation: a linear layer has to learn y = 3x on this device, then on each of its kind; prints what was found.

    Raises:
        RuntimeError: the loss did not fall as it must; kernels of another build may be installed.

    Source:
        `paddle.utils.run_check`.

    Examples:
        >>> wherry.utils.run_check()
        Running verify Wherry program ...
        Wherry works well on 1 CPU.
        Wherry is installed successfully! Let's start deep learning with Wherry now.
    """
    import wherry

    print("Running verify Wherry program ...")
    here = wherry.get_device()
    kind, device = here.partition(":")[0], here.partition(":")[0].upper()
    _learns()
    print(f"Wherry works well on 1 {device}.")
    others = [name for name in wherry.device.get_available_device() if name.startswith(f"{kind}:")]
    if len(others) > 1:
        try:
            for name in others:
                wherry.set_device(name)
                _learns()
        finally:
            wherry.set_device(here)
        print(f"Wherry works well on {len(others)} {device}s.")
    for line in devices.notes.get(kind, list)():
        print(line)
    print("Wherry is installed successfully! Let's start deep learning with Wherry now.")


def _learns() -> None:
    import wherry

    layer = wherry.nn.Linear(1, 1, weight_attr=wherry.nn.initializer.Constant(0.0))
    optimizer = wherry.optimizer.SGD(0.5, parameters=layer.parameters())
    x = wherry.linspace(-1, 1, 16).reshape([16, 1])
    for _ in range(40):
        loss = wherry.nn.functional.mse_loss(layer(x), 3 * x)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    answer = layer(wherry.ones([1, 1])).item()
    if not abs(answer - 3) < 1e-3:
        raise PreconditionNotMetError(
            f"run_check: a linear layer did not learn y = 3x on {wherry.get_device()}. Got {answer} for x = 1, expected 3. "
            f"Install packages of matching versions: pip install --force-reinstall wherry"
        )


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Check for a version of Paddle's API.

    Args:
        min_version: the least version, such as "2.0" or "2.6.0.1".
        max_version: the last one; None for any.

    Raises:
        TypeError: a version is not a str (also a ValueError).
        ValueError: a version is not one to four numbers with points between.
        RuntimeError: the API is of another version: Wherry's is that of Paddle 2.6.2.

    Source:
        `paddle.utils.require_version`.

    Examples:
        >>> wherry.utils.require_version("2.0")
        >>> wherry.utils.require_version("3.0")
        Traceback (most recent call last):
        wherry_tensor.errors.PreconditionNotMetError: (PreconditionNotMet) require_version: another version of Paddle's API is needed. ...
    """
    least = _numbers("min_version", min_version)
    most = None if max_version is None else _numbers("max_version", max_version)
    ours = _numbers("", PADDLE_VERSION)
    if ours < least or (most is not None and ours > most):
        wanted = f"at least {min_version}" if max_version is None else f"{min_version} to {max_version}"
        raise PreconditionNotMetError(
            f"require_version: another version of Paddle's API is needed. Got {PADDLE_VERSION}, expected {wanted}. "
            f"Wherry's version has numbers of its own, in wherry.__version__."
        )


def _numbers(name: str, version: Any) -> tuple[int, ...]:
    if not isinstance(version, str):
        raise InvalidTypeError(
            f"require_version: the type of {name} must be str. Got {short(version)} ({type(version).__name__}), expected text like '2.0'. "
            f"Put it into quotes."
        )
    if not re.fullmatch(r"\d+(\.\d+){0,3}", version):
        raise InvalidArgumentError(
            f"require_version: {name} is not a version. Got {short(version)}, expected one to four numbers with points between, like '2.6.0'. "
            f"Leave out what follows them."
        )
    numbers = tuple(map(int, version.split(".")))
    return numbers + (0,) * (4 - len(numbers))  # what a version leaves out is 0


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """Import a module that is not always there.

    Args:
        module_name: its full name.
        err_msg: what to say when it is missing; None names it and how to install it.

    Raises:
        ImportError: it is missing.

    Source:
        `paddle.utils.try_import`.

    Examples:
        >>> wherry.utils.try_import("math").sqrt(4)
        2.0
    """
    try:
        return importlib.import_module(module_name)
    except ImportError as error:
        raise ImportError(
            err_msg
            or f"try_import: {module_name} cannot be imported ({error}). Got no module of this name, expected it installed. "
            f"Try: pip install {module_name.partition('.')[0]}"
        ) from None


def deprecated(update_to: str = "", since: str = "", reason: str = "", level: int = 0) -> Callable[[Decorated], Decorated]:
    """Decorate a function that is to go.

    Args:
        update_to: what to use instead.
        since: the version from which on.
        reason: why.
        level: 0 and 1 warn with DeprecationWarning at each call; 2 raises.

    Raises:
        RuntimeError: a function of level 2 is called.

    Source:
        `paddle.utils.deprecated`.

    Examples:
        >>> @wherry.utils.deprecated(update_to="wherry.add", level=2)
        ... def plus(x, y):
        ...     return x + y
        >>> plus(1, 2)
        Traceback (most recent call last):
        RuntimeError: plus is deprecated. Use wherry.add instead.
    """
    if level not in (0, 1, 2):
        raise InvalidArgumentError(f"deprecated: there is no such level. Got level={short(level)}, expected 0, 1 or 2. 2 raises.")

    def decorate(function: Decorated) -> Decorated:
        name = getattr(function, "__qualname__", repr(function)).rpartition(".<locals>.")[2]
        text = f"{name} is deprecated{f' since {since}' if since else ''}."
        text += f" Use {update_to} instead." if update_to else ""
        text += f" Reason: {reason}" if reason else ""

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if level == 2:
                raise RuntimeError(text)
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    return decorate


def check_shape(
    shape: Any,
    op_name: str,
    expected_shape_type: tuple[type, ...] = (list, tuple, Tensor),
    expected_element_type: tuple[type, ...] = (int, Tensor),
    expected_tensor_dtype: tuple[str, ...] = ("int32", "int64"),
) -> None:
    """Check the shape that a function of a static program was given. Outside of static mode it checks nothing, as in Paddle.

    Args:
        shape: a list or tuple of ints and Tensors, or one Tensor.
        op_name: the function, for the error message.
        expected_shape_type: types of `shape`.
        expected_element_type: types of its elements.
        expected_tensor_dtype: dtypes of Tensors.

    Raises:
        TypeError: the shape, one of its elements, or the dtype of a Tensor is another (also a ValueError).

    Source:
        `paddle.check_shape`.

    Examples:
        >>> wherry.check_shape([2, -1], "full")
    """
    import wherry

    if wherry.in_dynamic_mode():
        return
    _check_size(shape, op_name, "'shape'", expected_shape_type, expected_tensor_dtype)
    for element in () if isinstance(shape, Tensor) else shape:
        _check_size(element, op_name, "an element of 'shape'", expected_element_type, expected_tensor_dtype)


def _check_size(value: Any, op_name: str, what: str, types: tuple[type, ...], dtypes: tuple[str, ...]) -> None:
    if not isinstance(value, types):
        names = ", ".join(t.__name__ for t in types)
        raise InvalidTypeError(
            f"{op_name}: {what} is of another type. Got {short(value)} ({type(value).__name__}), expected one of {names}. "
            f"Sizes are ints, in a list."
        )
    if isinstance(value, Tensor) and value.dtype.name not in dtypes:
        raise InvalidTypeError(
            f"{op_name}: the dtype of {what} is another. Got {value.dtype.name}, expected {' or '.join(dtypes)}. Cast it with astype."
        )
