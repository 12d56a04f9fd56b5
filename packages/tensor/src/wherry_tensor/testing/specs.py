"""Specs: what an op is tested with.

The two columns filled here are `samples` (inputs) and `reference` (the readable definition).
"""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wherry_tensor._core import VOCABULARY_VERSION, Op
from wherry_tensor.columns import Column

__all__ = ["BadCase", "Case", "Spec", "bad", "case", "dtype_names", "reference", "samples", "spec", "specs"]

samples = Column("samples", "wherry-tensor", "the build fails", serves=VOCABULARY_VERSION)
reference = Column("reference", "wherry-tensor", "derived from the decomposition", serves=VOCABULARY_VERSION)

_GROUPS = {
    "floats": ("float64", "float32", "float16", "bfloat16"),
    "ints": ("int64", "int32", "int16", "int8", "uint8"),
    "bool": ("bool",),
    "complex": ("complex128", "complex64"),
}
_GROUPS["all"] = tuple(name for group in _GROUPS.values() for name in group)


def dtype_names(dtypes: str | tuple[str, ...]) -> tuple[str, ...]:
    """Names of dtypes from words ("floats", "ints", "bool", "complex", "all", or a dtype) or a tuple of names."""
    words = dtypes.split() if isinstance(dtypes, str) else dtypes
    names: list[str] = []
    for word in words:
        if word not in _GROUPS and word not in _GROUPS["all"]:
            raise ValueError(
                f"spec: unknown dtypes word '{word}'. Got dtypes={dtypes!r}, expected words among "
                f"{', '.join(_GROUPS)} or names of dtypes. Write for example dtypes=\"floats ints\"."
            )
        names += [name for name in _GROUPS.get(word, (word,)) if name not in names]
    return tuple(names)


class Case:
    """One call: inputs (NumPy arrays, or None for an absent one) and attributes."""

    def __init__(
        self, inputs: tuple[Any, ...], attrs: dict[str, Any], differentiable: bool = True,
        dtypes: tuple[str, ...] | None = None,
    ) -> None:
        self.inputs = inputs
        self.attrs = attrs
        self.differentiable = differentiable
        self.dtypes = dtypes

    def __repr__(self) -> str:
        shown = [
            "None" if x is None else f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else repr(x)
            for x in self.inputs
        ]
        return "(" + ", ".join(shown + [f"{name}={value}" for name, value in self.attrs.items()]) + ")"


class BadCase(Case):
    """A call that must raise `error` with a text matching the regular expression `match`."""

    def __init__(self, inputs: tuple[Any, ...], attrs: dict[str, Any], error: type[Exception], match: str) -> None:
        super().__init__(inputs, attrs, differentiable=False)
        self.error = error
        self.match = match


def case(
    *inputs: Any, differentiable: bool = True, dtypes: str | tuple[str, ...] | None = None, **attrs: Any
) -> Case:
    """A valid call of the op under test.

    Args:
        inputs: arrays in float64, complex128, int64 or bool (the kit casts them), or None. NumPy's default integer means int64,
            where it has 32 bits too (WebAssembly); an input that has to be of int32 there is made as np.intc.
        differentiable: False where the derivative does not exist or has nothing to compare with.
        dtypes: run this case with these dtypes only.
        attrs: the op's attributes.
    """
    arrays = tuple(None if x is None else _array(x) for x in inputs)
    return Case(arrays, attrs, differentiable, None if dtypes is None else dtype_names(dtypes))


def bad(*inputs: Any, error: type[Exception], match: str, **attrs: Any) -> BadCase:
    """A call that must be refused. Inputs are passed as they are: arrays keep their dtype."""
    return BadCase(tuple(_array(x) if isinstance(x, np.ndarray) else x for x in inputs), attrs, error, match)


def _array(x: Any) -> np.ndarray:
    """An array of a sample: in WebAssembly NumPy's integers have 32 bits where samples mean 64, np.intc apart."""
    array = np.asarray(x)
    return array.astype(np.int64) if array.dtype.char == np.dtype(int).char else array


class Spec:
    """An op's inputs, reference and what may be expected of it. Made by the decorator `spec`."""

    def __init__(
        self,
        op: Op,
        generate: Callable[[np.random.Generator], Iterator[Case]],
        reference: Callable[..., Any] | None,
        dtypes: tuple[str, ...],
        differentiable: bool,
        second_order: bool,
        grad_of: tuple[int, ...] | None,
        grad_through: tuple[int, ...] | None,
        cast: tuple[int, ...] | None,
        tolerance: dict[str, tuple[float, float]],
        through: Callable[..., Any] | None = None,
    ) -> None:
        self.op = op
        self.observed: Callable[..., Any] = through or op
        self.generate = generate
        self.reference = reference
        self.dtypes = dtypes
        self.differentiable = differentiable
        self.second_order = second_order
        self.grad_of = grad_of
        self.grad_through = grad_through
        self.cast = cast
        self.tolerance = tolerance
        self._cases: list[Case] | None = None

    def _all(self) -> list[Case]:
        if self._cases is None:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # samples visit the edges on purpose
                self._cases = list(self.generate(np.random.default_rng(20_240_229)))
        return self._cases

    def cases(self) -> list[Case]:
        """The valid calls; the same ones in every run."""
        return [c for c in self._all() if not isinstance(c, BadCase)]

    def bad_cases(self) -> list[BadCase]:
        """The calls that must be refused."""
        return [c for c in self._all() if isinstance(c, BadCase)]


specs: dict[Op, Spec] = {}


def spec(
    op: Op,
    *,
    reference: Callable[..., Any] | None = None,
    dtypes: str | tuple[str, ...] = "floats",
    differentiable: bool = True,
    second_order: bool = True,
    grad_of: tuple[int, ...] | None = None,
    grad_through: tuple[int, ...] | None = None,
    cast: tuple[int, ...] | None = None,
    tolerance: dict[str, tuple[float, float]] | None = None,
    through: Callable[..., Any] | None = None,
) -> Callable[[Callable[[np.random.Generator], Iterator[Case]]], Callable[[np.random.Generator], Iterator[Case]]]:
    """Decorator: a generator `spec_<op>(rng)` of cases becomes the samples of `op`.

    Args:
        op: the op under test.
        reference: its definition in plain NumPy, inputs by position and attributes by keyword. It sees
            floating inputs in float64 (rounded to the tested dtype first) and others in the tested
            dtype. None: derived from the decomposition.
        dtypes: what the inputs are cast to, one after another; the first one drives the tests of layout.
        differentiable: False when no case of this op is to be differentiated.
        second_order: False when its gradient has no derivative of its own.
        grad_of: positions of the inputs to differentiate; all floating ones by default.
        grad_through: positions of the outputs that carry a gradient; all floating ones by default.
        cast: positions of the inputs that take the tested dtype. By default the floating inputs of a
            case, or its integers where it has none, or its bools where it has neither.
        tolerance: dtype name to (relative, absolute), where the usual one does not fit.
        through: a function of tensors that calls `op`, in its place wherever values and gradients are compared; the
            reference is then that of this function. For results that are not unique (the sign of an eigenvector), of
            which it makes what is, and for inputs of which the op reads a part (one half of a symmetric matrix).
    """

    def register(generate: Callable[[np.random.Generator], Iterator[Case]]):
        made = Spec(
            op, generate, reference, dtype_names(dtypes), differentiable, second_order, grad_of, grad_through,
            cast, tolerance or {}, through,
        )
        samples.rule(op)(generate)
        if reference is not None:
            _references.rule(op)(reference)
        specs[op] = made
        return generate

    return register


_references = reference  # inside `spec` the parameter hides the column
