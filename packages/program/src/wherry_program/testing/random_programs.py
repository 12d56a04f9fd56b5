"""Programs of random ops, whose results must be those of the interpreter, bit for bit.

    python -m wherry_program.testing.random_programs --count 10000 --seed 1     # and --only 17 for one of them, shown

A program is drawn from its number alone. Its inputs have an unknown batch; it is run with several.
"""
from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import wherry_tensor as wt
from wherry_autograd import no_grad
from wherry_program import passes
from wherry_program.program.capture import capture
from wherry_program.program.control import cond, while_loop
from wherry_program.program.ir import Program
from wherry_program.run.executor import compiled
from wherry_program.run.interpreter import Interpreter
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, float64

__all__ = ["Drawn", "check"]

UNARY = ("exp", "tanh", "sigmoid", "relu", "abs", "negative", "square", "sin", "erf", "floor", "sign")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "divide")
WIDTHS = (3, 4, 8)
LENGTH = 30
BATCHES = (2, 5, 1, 2)


class Drawn:
    """The program with a number.

    Attributes:
        program: it, with feeds and fetches.
        state: a tensor that it writes to.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.rng = rng = random.Random(number)
        self.width = width = rng.choice(WIDTHS)
        self.program = Program()
        self.pool: list[Any] = [
            self.program.feed([-1, width], float32, "x0"), self.program.feed([-1, width], float32, "x1"), self.program.feed([width], float32, "x2")
        ]
        numbers = np.random.default_rng(number)
        self.weights = [wt.to_tensor(numbers.standard_normal((width, width)).astype("float32")) for _ in range(2)]
        self.state = wt.zeros([width])
        self.state.persistable = True
        with capture(self.program):
            for _ in range(LENGTH):
                mark = len(self.program.nodes)
                try:
                    made = self.step(rng.choice(self.pool[-8:]))
                except (ValueError, TypeError, IndexError):  # the op does not take it
                    self.program.blocks[0].forget(mark)
                    continue
                if made is not None:
                    self.pool.append(made)
            made = self.pool[3:]
            self.program.fetches = [*rng.sample(made, min(3, len(made))), self.pool[-1]]

    # In one piece: a list of seventeen kinds of ops, one of which is drawn.
    def step(self, x: Any) -> Any:
        """One more op on `x`; None where there is no new value."""
        rng, kind = self.rng, self.rng.randrange(17)
        floating = x.dtype is float32
        if kind <= 2 and floating:
            return getattr(ops, rng.choice(UNARY))(x)
        if kind <= 4 and floating:
            return getattr(ops, rng.choice(BINARY))(x, rng.choice([y for y in self.pool if y.dtype is float32]))
        if kind == 5 and floating:
            return getattr(ops, rng.choice(("reduce_sum", "reduce_max")))(x, axes=(rng.randrange(x.ndim),), keepdim=rng.random() < 0.5)
        if kind == 6 and floating:
            return ops.matmul(x, rng.choice(self.weights), transpose_x=False, transpose_y=rng.random() < 0.5)
        if kind == 7:
            return ops.transpose(x, perm=tuple(rng.sample(range(x.ndim), x.ndim)))
        if kind == 8 and x.ndim < 4:
            return ops.unsqueeze(x, axes=(rng.randrange(x.ndim + 1),))
        if kind == 9:
            return ops.reshape(x, shape=(-1,)) if rng.random() < 0.3 else x.reshape([*x.shape[:-1], 1, x.shape[-1]])
        if kind == 10:
            start = rng.choice((0, 1))
            step = 1 if start else rng.choice((1, 1, 2, -1))
            return ops.slice(x, axes=(rng.randrange(x.ndim),), starts=(start,), ends=(rng.choice((-1, 2, 1 << 30)),), steps=(step,))
        if kind == 11 and floating:
            return ops.softmax(x, axis=x.ndim - 1) if rng.random() < 0.5 else ops.cast(x, dtype=float64)
        if kind == 12:
            return ops.concat(x, x, axis=rng.randrange(x.ndim))
        if kind == 13:
            return self.write(x)
        if kind == 14 and floating:
            which = rng.randrange(4)
            if which == 0:
                return ops.where(x > 0, x, ops.exp(x))
            if which == 1:
                return ops.dropout_add(x, ops.exp(x), p=0.5, upscale=True)[0]
            dropped = ops.dropout(x, p=0.5, upscale=True)[0]
            return dropped if which == 2 else ops.tanh(x) + dropped
        if kind == 14:
            return ops.cast(x, dtype=float32)
        if kind == 15 and floating:
            return cond(x.sum() > 0, lambda: ops.exp(ops.negative(ops.abs(x))), lambda: x * 2.0)
        if kind == 16 and floating:
            return while_loop(lambda i, _y: i < 3, lambda i, y: [i + 1, ops.tanh(y * 1.5)], [wt.to_tensor(0), x])[1]
        return None

    def write(self, x: Any) -> Any:
        """Overwrite a value of the program, or the state."""
        made = [y for y in self.pool if y.made_by is not None and y.dtype is float32]
        if made and self.rng.random() < 0.7:
            y = self.rng.choice(made)
            ops.tanh.into((y,), y)
            return None
        ops.add.into((self.state,), self.state, x)
        return ops.multiply(self.state, x)

    def values(self, batch: int) -> list[Tensor]:
        """What it is fed with."""
        numbers = np.random.default_rng((self.number, batch))
        return [wt.to_tensor(numbers.standard_normal([batch if n < 0 else n for n in x.sizes]).astype("float32")) for x in self.program.feeds]

    def outcome(self, run: Callable[..., list[Any]], batch: int) -> Any:
        """Results and the state afterwards, as bytes; or the kind of error."""
        self.state.set_value(np.zeros(self.width, "float32"))
        wt.seed(3)
        with no_grad():
            try:
                results = run(*self.values(batch))
            except Exception as error:  # which one it is, is part of what is compared
                return type(error).__name__
        return [(tuple(x.shape), x.dtype.name, x.numpy().tobytes()) for x in (*results, self.state)]


def check(number: int, change: Callable[[Program], Program] | None = None) -> None:
    """Compare the program with this number, planned, with what the interpreter makes of it.

    Args:
        number: of the program.
        change: a pass that keeps every bit; the planned program is what it returns.

    Raises:
        AssertionError: they differ.
    """
    drawn = Drawn(number)
    plain = Interpreter(drawn.program)
    run = compiled(drawn.program if change is None else change(drawn.program))
    for batch in BATCHES:
        expected, got = drawn.outcome(plain, batch), drawn.outcome(run, batch)
        if change is not None and isinstance(expected, str):
            continue  # what fails may be what a pass leaves out
        assert got == expected, f"program {number}, batch {batch}\n{drawn.program}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--passes", action="store_true", help="with each pass that keeps every bit, and with all of them")
    parser.add_argument("--only", type=int, help="the program with this number, shown")
    options = parser.parse_args()
    first = options.seed * 1_000_000
    wrong = 0
    for number in range(first, first + options.count) if options.only is None else [options.only]:
        try:
            for change in (*passes.KEEP_BITS, passes.default) if options.passes else (None,):
                check(number, change)
        except AssertionError as error:
            wrong += 1
            print(f"differs: {number}" if options.only is None else error, flush=True)
    print(f"{wrong} differ")


if __name__ == "__main__":
    main()
