"""Capturing a function: runs its converted form on symbolic tensors and records what it depends on besides its arguments."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from wherry_autograd import no_grad
from wherry_graph.jit.convert.choices import unbound_reason
from wherry_graph.jit.convert.function import converted
from wherry_graph.jit.convert.symbolic import captured
from wherry_nn import Layer
from wherry_nn.layer import run_forward_of
from wherry_program.program.capture import Capture, capture
from wherry_program.program.ir import Program
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, inner_layers
from wherry_tensor.sizes import is_unknown

__all__ = ["Trace", "inside_trace"]

_lock = threading.Lock()
_traces: set[int] = set()  # ids of those that are on, in all threads
_thread = threading.local()


def inside_trace() -> bool:
    """Whether this thread is capturing a function."""
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
        recording: the capture that writes it, while the trace is entered.
    """

    def __init__(self) -> None:
        self.program = Program()
        self.modes: list[tuple[Layer, bool]] = []
        self.recording = capture(self.program)
        self.recording.no_grad_cuts = True
        self._before: tuple[Trace | None, set[int]] | None = None  # what was on around it
        self._left: list[str] = []  # lines of backward() whose gradients outlive the capture
        self._seen: dict[int, tuple[Layer, dict[str, Tensor | None]]] = {}  # id -> a layer, its buffers at first

    def saw(self, layer: Layer) -> None:
        """Record a layer and its current buffers."""
        if id(layer) not in self._seen:
            self._seen[id(layer)] = layer, dict(layer._buffers)
            self.modes.append((layer, layer.training))
            captured.lasting.update(id(x) for x in layer._buffers.values() if x is not None)

    def __enter__(self) -> Capture:
        self._before = getattr(_thread, "trace", None), captured.lasting
        with _lock:
            _traces.add(id(self))
            run_forward_of(_forward_of)
        _thread.trace = self
        captured.lasting = {id(x) for layer, _ in self.modes for x in layer._buffers.values() if x is not None}
        self.recording.__enter__()
        return self.recording

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        try:
            if error is None:
                self._write_buffers(self.recording)
                self._mark_buffers()
            elif isinstance(error, NameError):
                _explain(error)
        finally:
            self.end()
        if error is None and self._left:
            raise RuntimeError(
                f"backward: the gradients of {len(self._left)} tensors are values of a program that is being captured, and are left when it ends. "
                f"Got backward() at {self._left[0]}, expected gradients that the captured function uses up: optimizer.step(), then clear_grad(). "
                f"Call backward() on what the function returns, or take gradients inside of it with paddle.grad."
            )

    def end(self) -> None:
        """Capture no longer: buffers of layers are tensors with data again, which the program writes to.

        Each step may be taken twice: whoever enters a trace ends it once more where an exception passes, since Ctrl-C may come before
        `__exit__` has begun, or in the middle of it.
        """
        self._restore_buffers()
        if any(layer is self.recording for layer in inner_layers()):
            self.recording.__exit__(None, None, None)
        if self._before is not None:
            _thread.trace, captured.lasting = self._before
        with _lock:
            _traces.discard(id(self))
            if not _traces:
                run_forward_of(None)
        self._take_gradients()

    def _take_gradients(self) -> None:
        """Take gradients of the program from tensors with data: none of them has a value here."""
        written = {id(x.bound) for node in self.program.walk() for x in node.writes() if x.bound is not None} if self.recording.gradients else set()
        for leaf, line in self.recording.gradients:
            gradient = leaf.grad
            if gradient is None:
                continue
            if _core.is_symbolic(gradient):
                leaf.grad = None
                self._left.append(line)
            elif id(gradient) in written:  # was there before, and each run would add to it
                self._left.append(line)

    def _changed(self) -> Iterator[tuple[Layer, str, Tensor | None, Tensor]]:
        for layer, before in self._seen.values():
            for name, value in list(layer._buffers.items()):
                if isinstance(value, Tensor) and _core.is_symbolic(value):
                    yield layer, name, before.get(name), value

    def _write_buffers(self, recording: Capture) -> None:
        read = {id(x.bound) for x in self.program.bound_variables()}
        for layer, name, before, value in self._changed():
            if before is None:
                continue
            if before.dtype is not value.dtype or any(map(is_unknown, value.shape)) or list(before.shape) != list(value.shape):
                if id(before) not in read and name in layer._non_persistable_buffer_names_set:
                    continue  # a note of the last call (self.features = x), which has no place of one size: it keeps what it was
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
