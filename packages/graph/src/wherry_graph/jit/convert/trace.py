"""Capturing a function: its converted form runs on symbolic tensors, and what it depends on besides its arguments is noted."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wherry_autograd import no_grad
from wherry_graph.capture import Capture, capture
from wherry_graph.ir import Program
from wherry_graph.jit.convert.choices import unbound_reason
from wherry_graph.jit.convert.function import converted
from wherry_graph.jit.convert.symbolic import captured
from wherry_nn import Layer
from wherry_nn.layer import run_forward_of
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor

__all__ = ["Trace", "inside_trace"]

_lock = threading.Lock()
_traces = 0  # that are on, in all threads
_thread = threading.local()


def inside_trace() -> bool:
    """Does this thread capture a function now?"""
    return getattr(_thread, "trace", None) is not None


def _forward_of(layer: Layer) -> Callable[..., Any]:
    trace: Trace | None = getattr(_thread, "trace", None)
    if trace is None:
        return layer.forward
    trace.saw(layer)
    return converted(layer.forward)  # type: ignore[no-any-return]


class Trace:
    """A function that is being captured, and the layers that it runs.

    Attributes:
        program: what is written.
        modes: layers that took part, and whether they were training.
    """

    def __init__(self) -> None:
        self.program = Program()
        self.modes: list[tuple[Layer, bool]] = []
        self._seen: dict[int, tuple[Layer, dict[str, Tensor | None]]] = {}  # id -> a layer, its buffers at first

    def saw(self, layer: Layer) -> None:
        """Note a layer, and what buffers it has now."""
        if id(layer) not in self._seen:
            self._seen[id(layer)] = layer, dict(layer._buffers)
            self.modes.append((layer, layer.training))
            captured.lasting.update(id(x) for x in layer._buffers.values() if x is not None)

    @contextmanager
    def on(self) -> Iterator[Capture]:
        """Capture meanwhile. Afterwards buffers of layers are tensors with data again, which the program writes to."""
        global _traces
        before, lasting = getattr(_thread, "trace", None), captured.lasting
        with _lock:
            _traces += 1
            run_forward_of(_forward_of)
        _thread.trace = self
        captured.lasting = {id(x) for layer, _ in self.modes for x in layer._buffers.values() if x is not None}
        try:
            with capture(self.program) as recording:
                recording.no_grad_cuts = True
                try:
                    yield recording
                    self._write_buffers(recording)
                    self._mark_buffers()
                except NameError as error:
                    _explain(error)
                    raise
                finally:
                    self._restore_buffers()
        finally:
            _thread.trace, captured.lasting = before, lasting
            with _lock:
                _traces -= 1
                if not _traces:
                    run_forward_of(None)

    def _changed(self) -> Iterator[tuple[Layer, str, Tensor | None, Tensor]]:
        for layer, before in self._seen.values():
            for name, value in list(layer._buffers.items()):
                if isinstance(value, Tensor) and _core.is_symbolic(value):
                    yield layer, name, before.get(name), value

    def _write_buffers(self, recording: Capture) -> None:
        for layer, name, before, value in self._changed():
            if before is None:
                continue
            if before.dtype is not value.dtype or list(before.shape) != list(value.shape):
                raise ValueError(
                    f"to_static: buffer '{name}' of {type(layer).__name__} becomes another kind of tensor. Got {value.shape}, {value.dtype.name}, "
                    f"expected {before.shape}, {before.dtype.name} as before. Cast or reshape it before it is assigned."
                )
            with no_grad():
                ops.copy.into((before,), value)

    def _mark_buffers(self) -> None:
        """Buffers that are saved with their layers are saved with the program."""
        kept = {
            id(x) for layer, before in self._seen.values() for name, x in before.items()
            if x is not None and name not in layer._non_persistable_buffer_names_set
        }
        for x in self.program.bound_variables():
            x.persistable = x.persistable or id(x.bound) in kept

    def _restore_buffers(self) -> None:
        for layer, name, before, _value in list(self._changed()):
            if before is None:
                delattr(layer, name)
            else:
                layer._buffers[name] = before


def _explain(error: NameError) -> None:
    name = getattr(error, "name", None) or str(error).partition("'")[2].partition("'")[0]
    reason = unbound_reason(name)
    if reason is not None and reason not in getattr(error, "__notes__", ()):
        error.add_note(reason)
