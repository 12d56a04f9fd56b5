"""Which mode the process is in: recording a program for `to_static`, mixed precision."""
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "AMPGlobalState", "AMP_LEVEL", "amp_global_state", "amp_state", "in_pir_mode", "in_to_static_mode", "to_static_mode_guard",
]


class _Said(threading.local):
    to_static = False


_said = _Said()


def in_to_static_mode() -> bool:
    """Is a function of `to_static` being captured?"""
    if _said.to_static:
        return True
    from wherry_graph.static.mode import in_static_mode
    from wherry_program.program.capture import current_capture

    return current_capture() is not None and not in_static_mode()


@contextmanager
def to_static_mode_guard(is_to_static: bool = True) -> Iterator[None]:
    """Let `in_to_static_mode` say so. Source: `paddle.base.dygraph.base._to_static_mode_guard_`."""
    before, _said.to_static = _said.to_static, is_to_static
    try:
        yield
    finally:
        _said.to_static = before


def in_pir_mode() -> bool:
    """Programs of Paddle 3's kind: there are none."""
    return False


class AMP_LEVEL:  # noqa: N801  Paddle's name
    """Levels of mixed precision."""

    O0, O1, O2, O3, OD = 0, 1, 2, 3, 4


class AMPGlobalState:
    """What mixed precision keeps for the process. `amp_dtype` is the dtype of `auto_cast` where it is on, else float32."""

    def __init__(self) -> None:
        self.model_parameters: list[Any] = []
        self.use_master_grad = False
        self.already_register_final_backward_hook = False

    @property
    def amp_dtype(self) -> str:
        from wherry_train.amp.casting import current_rules

        rules = current_rules()
        return "float32" if rules is None else rules[1].name


_state = AMPGlobalState()


def amp_global_state() -> AMPGlobalState:
    """The state of the process."""
    return _state


def amp_state() -> dict[str, Any] | None:
    """What `auto_cast` was given, as its arguments; None outside of it. Source: `paddle.amp.auto_cast.amp_state`."""
    from wherry_train.amp.casting import current_arguments

    return current_arguments()


def _in_amp_guard() -> bool:
    return amp_state() is not None


def _in_pure_fp16_guard() -> bool:
    state = amp_state()
    return state is not None and state["level"] == "O2" and state["dtype"] == "float16"
