"""FLAGS: switches of the whole process, from the environment or from `set_flags`.

A flag is declared here with its default. Five change what Wherry does: FLAGS_check_nan_inf, FLAGS_host_fallback,
FLAGS_paddle_num_threads, FLAGS_paddle_random and FLAGS_call_stack_level. The others exist because Paddle programs set them; they are kept and read
back, and what they would tune (Paddle's allocator, say) has no counterpart.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from wherry_tensor import _core
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.suggestions import did_you_mean

__all__ = ["get_flags", "set_flags"]

Value = bool | int | float | str

_values: dict[str, Value] = {
    "FLAGS_check_nan_inf": False,
    "FLAGS_paddle_num_threads": 1,
    "FLAGS_host_fallback": True,
    "FLAGS_paddle_random": False,
    "FLAGS_allocator_strategy": "auto_growth",
    "FLAGS_benchmark": False,
    "FLAGS_call_stack_level": 1,
    "FLAGS_check_nan_inf_level": 0,
    "FLAGS_cpu_deterministic": True,
    "FLAGS_cudnn_deterministic": False,
    "FLAGS_cudnn_exhaustive_search": False,
    "FLAGS_conv_workspace_size_limit": 512,
    "FLAGS_eager_delete_tensor_gb": 0.0,
    "FLAGS_embedding_deterministic": 0,
    "FLAGS_enable_parallel_graph": False,
    "FLAGS_fast_eager_deletion_mode": True,
    "FLAGS_fraction_of_cpu_memory_to_use": 1.0,
    "FLAGS_fraction_of_gpu_memory_to_use": 0.92,
    "FLAGS_init_allocated_mem": False,
    "FLAGS_initial_cpu_memory_in_mb": 500,
    "FLAGS_initial_gpu_memory_in_mb": 0,
    "FLAGS_inner_op_parallelism": 0,
    "FLAGS_max_inplace_grad_add": 0,
    "FLAGS_memory_fraction_of_eager_deletion": 1.0,
    "FLAGS_reallocate_gpu_memory_in_mb": 0,
    "FLAGS_selected_gpus": "",
    "FLAGS_set_to_1d": False,
    "FLAGS_sort_sum_gradient": False,
    "FLAGS_use_mkldnn": False,
    "FLAGS_use_pinned_memory": True,
    "FLAGS_use_stride_kernel": True,
    "FLAGS_use_system_allocator": False,
}


def get_flags(flags: str | Sequence[str]) -> dict[str, Value]:
    """Values of flags, by name.

    Args:
        flags: one name, as "FLAGS_check_nan_inf", or a list or tuple of names.

    Raises:
        TypeError: `flags` is something else.
        ValueError: there is no such flag.

    Source:
        `paddle.get_flags`.

    Examples:
        >>> wherry.get_flags("FLAGS_check_nan_inf")
        {'FLAGS_check_nan_inf': False}
    """
    if isinstance(flags, str):
        flags = (flags,)
    elif not isinstance(flags, (list, tuple)):
        raise TypeError(
            f"get_flags: flags are named by strings. Got {flags!r}, expected a str, or a list or tuple of them. "
            f"Write get_flags('FLAGS_check_nan_inf')."
        )
    for name in flags:
        _known(name, "get_flags")
    return {name: _read[name]() if name in _read else _values[name] for name in flags}


def set_flags(flags: dict[str, Any]) -> None:
    """Set flags for the whole process.

    `FLAGS_check_nan_inf` makes every operation of the calling thread raise RuntimeError when its
    result holds NaN or infinity. `FLAGS_paddle_num_threads` sets how many threads a kernel may use.
    `FLAGS_paddle_random`, which Paddle itself does not have, gives the random numbers that Paddle 2.6.2
    draws on a CPU, so that a script prints the same losses under both.
    `FLAGS_call_stack_level` of 2 lets tracebacks show what lies below the user's line, compiled code included.
    `FLAGS_host_fallback`, on by default and Wherry's own, lets an op for which a device has neither kernel nor decomposition
    run on the cpu, with one warning for each op; off, such an op raises NotImplementedError.
    The environment sets the same flags when Wherry is imported: `FLAGS_check_nan_inf=1 python train.py`.

    Args:
        flags: values by name.

    Raises:
        TypeError: `flags` is not a dict.
        ValueError: there is no such flag, or the value does not fit it.

    Source:
        `paddle.set_flags`.

    Examples:
        >>> wherry.set_flags({"FLAGS_check_nan_inf": True})
        >>> wherry.log(wherry.to_tensor([0.0]))
        Traceback (most recent call last):
        RuntimeError: log: the result holds NaN or infinity. Got 1 such value in output 0 of shape [1], ...
        >>> wherry.set_flags({"FLAGS_check_nan_inf": False})
    """
    if not isinstance(flags, dict):
        raise TypeError(
            f"set_flags: flags are set from a dict. Got {flags!r}, expected values by name. "
            f"Write set_flags({{'FLAGS_check_nan_inf': True}})."
        )
    wanted = {_known(name, "set_flags"): _converted(name, value, "set_flags") for name, value in flags.items()}
    for name, value in wanted.items():
        _values[name] = value
        for effect in _effects.get(name, ()):
            effect(value)


def _known(name: Any, op_name: str) -> str:
    if name in _values:
        return name
    raise InvalidArgumentError(
        f"{op_name}: there is no such flag. Got {name!r}, expected one of {len(_values)} names that begin with FLAGS_. "
        f"{did_you_mean(str(name), _values).strip() or 'Check the spelling.'}"
    )


def _converted(name: str, value: Any, op_name: str) -> Value:
    """`value` in the type of the flag; text as the environment has it is read."""
    kind = type(_values[name])
    try:
        if kind is bool and isinstance(value, str):
            return {"1": True, "true": True, "on": True, "0": False, "false": False, "off": False, "": False}[value.lower()]
        return kind(value)
    except (KeyError, TypeError, ValueError):
        raise InvalidArgumentError(
            f"{op_name}: {name} does not take this value. Got {value!r}, expected a {kind.__name__}, like "
            f"{_values[name]!r}. Pass a plain {kind.__name__}."
        ) from None


_checking = threading.local()  # `on`: this thread has the layer; a later thread starts without it


def _check_nan_inf(wanted: Value) -> None:
    on = getattr(_checking, "on", False)
    if wanted and not on:
        _core.push_layer(_raise_for_nan_inf, "outer")
    elif not wanted and on:
        _core.pop_layer(_raise_for_nan_inf, "outer")
    _checking.on = bool(wanted)


def _raise_for_nan_inf(op: Any, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    from wherry_tensor import ops

    result = op.apply(inputs, attrs)
    for i, out in enumerate(result if isinstance(result, tuple) else (result,)):
        if (out.dtype.is_floating or out.dtype.is_complex) and not _core.is_symbolic(out):
            finite = ops.isfinite(out)
            axes = tuple(range(out.ndim))
            if not ops.reduce_all(finite, axes=axes, keepdim=False).item():
                bad = out.size - ops.reduce_sum(ops.cast(finite, dtype=_core.int64), axes=axes, keepdim=False).item()
                raise RuntimeError(
                    f"{op.name}: the result holds NaN or infinity. Got {bad} such value{'s' if bad > 1 else ''} in "
                    f"output {i} of shape {out.shape}, expected finite numbers while FLAGS_check_nan_inf is set. "
                    f"Look at the inputs of this call."
                )
    return result


def _paddle_random(wanted: Value) -> None:
    from wherry_tensor import paddle_random

    paddle_random.enable(bool(wanted))


_read = {"FLAGS_paddle_num_threads": _core.get_num_threads}  # what set_num_threads changes too
_effects: dict[str, list[Callable[[Value], Any]]] = {
    "FLAGS_call_stack_level": [lambda value: _core.show_frames(int(value) > 1)],
    "FLAGS_check_nan_inf": [_check_nan_inf],
    "FLAGS_host_fallback": [lambda value: _core.set_host_fallback(bool(value))],
    "FLAGS_paddle_random": [_paddle_random],
    "FLAGS_paddle_num_threads": [lambda value: _core.set_num_threads(max(1, int(value)))],
}


def when_set(name: str, effect: Callable[[Value], Any]) -> None:
    """Call `effect` with the value that flag `name` has, and again whenever it is set: for packages above this one."""
    _effects.setdefault(_known(name, "when_set"), []).append(effect)
    effect(_values[name])


def full_tracebacks() -> bool:
    """Whether tracebacks show what lies below the user's line: FLAGS_call_stack_level is 2 or more."""
    return int(_values["FLAGS_call_stack_level"]) > 1


def read_environment() -> None:
    """Take over the FLAGS_* that the environment has and that exist; others are not ours to refuse."""
    found = {name: value for name, value in os.environ.items() if name in _values}
    if found:
        set_flags(found)
