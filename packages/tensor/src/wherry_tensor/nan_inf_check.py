"""FLAGS_check_nan_inf: a layer of the dispatcher that looks at the result of each op."""
from __future__ import annotations

import os
import sys
import threading
from typing import Any

from wherry_tensor import _core, flags, ops
from wherry_tensor.errors import PreconditionNotMetError
from wherry_tensor.sizes import user_line
from wherry_tensor.tracebacks import warn

__all__: list[str] = []

_checking = threading.local()  # `on`: this thread has the layer; a later thread starts without it


def _check_nan_inf(wanted: flags.Value) -> None:
    on = getattr(_checking, "on", False)
    if wanted and not on:
        _core.push_layer(_raise_for_nan_inf, "outer")
    elif not wanted and on:
        _core.pop_layer(_raise_for_nan_inf, "outer")
    _checking.on = bool(wanted)


def _raise_for_nan_inf(op: Any, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    result = op.apply(inputs, attrs)
    for i, out in enumerate(result if isinstance(result, tuple) else (result,)):
        if (out.dtype.is_floating or out.dtype.is_complex) and not _core.is_symbolic(out):
            finite = ops.isfinite(out)
            if not ops.reduce_all(finite, axes=tuple(range(out.ndim)), keepdim=False).item() and not _is_skipped(op.name, out.name):
                _tell_of_nan_inf(op.name, i, out)
    return result


def _tell_of_nan_inf(op_name: str, i: int, out: Any) -> None:
    axes = tuple(range(out.ndim))

    def count(found: Any) -> int:
        return int(ops.reduce_sum(ops.cast(found, dtype=_core.int64), axes=axes, keepdim=False).item())

    nans, infinities = count(ops.isnan(out)), count(ops.isinf(out))
    bad = nans + infinities
    line = user_line()
    text = (
        f"{op_name}: the result holds NaN or infinity. Got {bad} such value{'s' if bad != 1 else ''} ({nans} NaN, {infinities} infinite, "
        f"{out.size - bad} numbers) in output {i} of shape {out.shape} and dtype {out.dtype.name} on {out.place}{f', at {line}' if line else ''}, "
        f"expected finite numbers while FLAGS_check_nan_inf is set. [op={op_name}] [tensor={out.name}] find nan or inf. "
        f"Look at the inputs of this call."
    )
    if int(flags.get_flags("FLAGS_check_nan_inf_level")["FLAGS_check_nan_inf_level"]) > 0:
        warn(text, RuntimeWarning)
        return
    raise PreconditionNotMetError(text)


def _is_skipped(op_name: str, tensor_name: str) -> bool:
    """Whether the variables PADDLE_INF_NAN_SKIP_OP, _ROLE and _VAR exclude this result."""
    if op_name in _listed("PADDLE_INF_NAN_SKIP_OP"):
        return True
    for entry in _listed("PADDLE_INF_NAN_SKIP_VAR"):
        op, _, part = entry.partition(":")
        if op == op_name and part in tensor_name:
            return True
    roles = _listed("PADDLE_INF_NAN_SKIP_ROLE")
    return bool(roles) and _role() in roles


def _listed(variable: str) -> list[str]:
    return [entry.strip() for entry in os.environ.get(variable, "").split(",") if entry.strip()]


def _role() -> str:
    """The phase in which an op runs, "forward", "backward" or "optimize", found from its callers."""
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("wherry_train.optimizer"):
            return "optimize"
        if module.startswith("wherry_autograd."):
            return "backward"
        frame = frame.f_back  # type: ignore[assignment]
    return "forward"


flags.when_set("FLAGS_check_nan_inf", _check_nan_inf)
