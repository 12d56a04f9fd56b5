"""Models as programs, and how long they take."""
from __future__ import annotations

import os
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from wherry_autograd import no_grad
from wherry_graph.jit.static_function import StaticFunction
from wherry_nn.layer import Layer
from wherry_paddle_files.models import load_model
from wherry_program import passes
from wherry_program.program.ir import Program
from wherry_program.run.executor import compiled
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidTypeError, short

__all__ = ["bytes_of", "for_inference", "program_of", "time_of"]


def program_of(model: Any, inputs: Sequence[Any], what: str) -> Program:
    """The program of a layer for such inputs, of a saved model, or the program itself."""
    if isinstance(model, Program):
        return model
    if isinstance(model, (str, os.PathLike)):
        return load_model(os.fspath(model))
    if not isinstance(model, Layer):
        raise InvalidTypeError(
            f"{what}: not a model. Got {short(model)} ({type(model).__name__}), expected a Layer, a program, or the path of a "
            f"saved model without its ending."
        )
    layer: Layer = model

    def run(*values: Any) -> Any:
        return layer(*values)

    with no_grad():
        concrete, _partial = StaticFunction(run).get_concrete_program(*inputs)
    return concrete.main_program


def for_inference(program: Program) -> Program:
    """The program after all passes of inference."""
    return passes.default(program, passes.INFERENCE)


def time_of(program: Program, inputs: Sequence[Tensor], runs: int = 5) -> float:
    """Seconds of a run of a program that passes have worked on: the shortest of several."""
    run = compiled(program)
    with no_grad():
        run(*inputs)
        times = []
        for _ in range(runs):
            before = perf_counter()
            run(*inputs)
            times.append(perf_counter() - before)
    return min(times)


def bytes_of(layer: Layer) -> int:
    """Bytes of parameters and buffers."""
    return sum(x.size * x.element_size() for x in layer.state_dict().values())
