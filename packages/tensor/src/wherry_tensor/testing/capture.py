"""A minimal captured program: the list of ops that ran on symbolic tensors.

Tests record a function with it and replay what was recorded on tensors of several sizes; so it is also the shortest
description of what an inner layer has to do. It optimizes nothing and keeps every value until the end of a replay.

    with Program() as program:
        y = f(x)                                     # x = symbolic((-1, 3), float32)
    (value,) = program.replay([(x, data)], [y])
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from wherry_tensor._core import Op, Tensor, pop_layer, push_layer, symbolic
from wherry_tensor.sizes import resolved

__all__ = ["Program", "Step"]


class Step(NamedTuple):
    """One op of a program. In-place calls write into `outs`, which exist before."""

    op: Op
    inputs: tuple[Tensor | None, ...]
    attrs: tuple[Any, ...]
    outs: tuple[Tensor, ...]
    in_place: bool


class Program:
    """Records the ops that run while it is entered, and replays them.

    Attributes:
        steps: what was recorded, in order.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._viewed: dict[int, Tensor] = {}  # id of a view -> what it is a view of

    def __enter__(self) -> Program:
        push_layer(self)
        return self

    def __exit__(self, *error: object) -> None:
        pop_layer(self)

    # What an inner layer answers.

    def __call__(self, op: Op, inputs: tuple[Tensor | None, ...], attrs: tuple[Any, ...]) -> tuple[Tensor, ...]:
        outs = tuple(symbolic(meta.shape, meta.dtype) for meta in op.infer(inputs, attrs))
        self.steps.append(Step(op, inputs, attrs, outs, False))
        if op.view and inputs[0] is not None:
            self._viewed[id(outs[0])] = inputs[0]
        return outs

    def into(
        self, op: Op, outs: tuple[Tensor, ...], inputs: tuple[Tensor | None, ...], attrs: tuple[Any, ...]
    ) -> tuple[Tensor, ...]:
        op.infer(inputs, attrs)  # what does not fit is refused now
        self.steps.append(Step(op, inputs, attrs, outs, True))
        return outs

    # What is known about it.

    def base(self, x: Tensor) -> Tensor:
        """The tensor whose memory `x` is: that of which it is a view, or `x` itself."""
        while id(x) in self._viewed:
            x = self._viewed[id(x)]
        return x

    def written(self) -> list[Tensor]:
        """The tensors that in-place steps write to, also through their views; each once, in order."""
        found: dict[int, Tensor] = {}
        for step in self.steps:
            if step.in_place:
                for out in step.outs:
                    found.setdefault(id(self.base(out)), self.base(out))
        return list(found.values())

    def replay(self, feeds: Iterable[tuple[Tensor, Tensor]], fetches: Iterable[Tensor]) -> list[Tensor]:
        """Run the program.

        Args:
            feeds: pairs of a symbolic tensor and the data that takes its place. In-place steps write to the data.
            fetches: tensors of the program whose values are wanted.

        Returns:
            The value of each fetch; a fetch that is not part of the program is returned as it is.
        """
        values = {id(name): value for name, value in feeds}

        def value_of(x: Tensor | None) -> Tensor | None:
            return x if x is None else values.get(id(x), x)

        for step in self.steps:
            inputs = tuple(value_of(x) for x in step.inputs)
            attrs = resolved(step.attrs, value_of)
            if step.in_place:
                named = dict(zip(step.op.attr_names, attrs, strict=True))
                step.op.into(tuple(value_of(x) for x in step.outs), *inputs, **named)
                continue
            results = step.op.run(inputs, attrs)
            for out, result in zip(step.outs, results if isinstance(results, tuple) else (results,), strict=True):
                values[id(out)] = result
        return [value_of(x) for x in fetches]
