"""Paddle's operators called by name: `paddle._C_ops.matmul(x, y, False, False)`, `paddle._legacy_C_ops.matmul_v2(x, y, 'trans_x', True)`.

What an operator means is the rule by which a program of Paddle is read (`wherry_paddle_files.column.reads`), called at once
on tensors. What it takes, and in which order, says `wherry_paddle_files.operator_table`.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import wherry_paddle_files.ops  # noqa: F401  fills the column
from wherry_autograd import no_grad
from wherry_paddle_files.column import READS
from wherry_paddle_files.desc import dtype_code
from wherry_paddle_files.operator_table import Operator, operator_table
from wherry_paddle_files.reading import OpView
from wherry_tensor import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, IPUPlace, Tensor, XPUPlace, _core, ops
from wherry_tensor._core import DType
from wherry_tensor.arguments import require_writable, write
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.suggestions import did_you_mean

__all__ = ["call", "call_legacy", "legacy", "names", "run"]

_PLACES = (CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, IPUPlace, XPUPlace)


def legacy() -> Mapping[str, Operator]:
    """The operators of `_legacy_C_ops` that have a rule."""
    return {name: found for name, found in operator_table()[1].items() if found.type in READS}


def names(new: bool) -> list[str]:
    """The operators that can be called."""
    return sorted(name for name, found in operator_table()[0 if new else 1].items() if found.type in READS)


def _parts(inputs: Mapping[str, Sequence[Any]], attrs: Mapping[str, Any]) -> int:
    return len(attrs.get("sections") or ()) or int(attrs.get("num", 0))


def _places(inputs: Mapping[str, Sequence[Any]], attrs: Mapping[str, Any]) -> int:
    return int(inputs["X"][0].shape[attrs.get("axis", 0)])


def _each(inputs: Mapping[str, Sequence[Any]], attrs: Mapping[str, Any]) -> int:
    return len(inputs["X"])


# Operators of which one output is a list, and how long it is: a file says so itself.
_SEVERAL: dict[str, Callable[[Mapping[str, Sequence[Any]], Mapping[str, Any]], int]] = {
    "split": _parts, "unbind": _places, "unstack": _places, "meshgrid": _each, "broadcast_tensors": _each,
    "distribute_fpn_proposals": lambda inputs, attrs: attrs["max_level"] - attrs["min_level"] + 1,
}


class _Desc:
    """Slots of a call, as a rule asks the description of an operator for them."""

    inputs = ()  # no names of a file's variables: `_Call.maybe` has the tensors

    def __init__(self, inputs: Mapping[str, Sequence[Any]], outputs: Mapping[str, int]) -> None:
        self._inputs, self._outputs = inputs, outputs

    def input(self, slot: str) -> list[str]:
        return [f"{slot}:{i}" for i in range(len(self._inputs.get(slot, ())))]

    def output(self, slot: str) -> list[str]:
        return [f"{slot}:{i}" for i in range(self._outputs.get(slot, 0))]


class _Call(OpView):
    """A call, as rules see it."""

    __slots__ = ("_given", "_inputs")

    def __init__(self, type: str, inputs: Mapping[str, Sequence[Any]], attrs: Mapping[str, Any], outputs: Mapping[str, int]) -> None:
        self.type, self._inputs, self._given = type, inputs, attrs
        self.desc = _Desc(inputs, outputs)  # type: ignore[assignment]
        self.reader = _Now()  # type: ignore[assignment]
        self._attrs = {}

    def maybe(self, slot: str) -> Any:
        found = self._inputs.get(slot)
        return found[0] if found else None

    def xs(self, slot: str) -> list[Any]:
        return list(self._inputs.get(slot, ()))

    def attr(self, name: str, default: Any = None) -> Any:
        found = self._given.get(name)
        return default if found is None else dtype_code(found.name) if isinstance(found, DType) else found

    def dtype(self, name: str, default: str | None = None) -> DType:
        found = self._given.get(name)
        return super().dtype(name, default) if found is None or isinstance(found, int) else as_dtype(found, self.type)


class _Now:
    """Stands for the reader of a file: there is none."""

    training = None

    def uses(self, op: Any, *slots: str) -> bool:
        """Does anything read these outputs? They are handed out."""
        return True


def run(type: str, inputs: Mapping[str, Sequence[Any]], attrs: Mapping[str, Any]) -> dict[str, Any]:
    """What an operator gives, by slot.

    Raises:
        NotImplementedError: no rule reads it.
    """
    rule = READS.get(type)
    if rule is None:
        raise UnimplementedError(
            f"{type}: there is no rule for this operator. Got {type!r}, expected one of {len(READS)} that are read.{did_you_mean(type, READS)} "
            f"Use a public function."
        )
    known = operator_table()[1].get(type)
    outputs = dict.fromkeys(known.outputs if known else [rule.out], 1)
    if type in _SEVERAL:
        outputs["Y" if type == "unstack" else rule.out] = _SEVERAL[type](inputs, attrs)
    present = {slot: [x for x in xs if x is not None] for slot, xs in inputs.items()}
    found = rule.rule(_Call(type, present, attrs, outputs))
    return found if isinstance(found, dict) else {rule.out: found}


def call(name: str, *args: Any) -> Any:
    """`_C_ops.name(*args)`: inputs and attributes, each at its place.

    Raises:
        TypeError: there are too many, or a tensor is missing.
        NotImplementedError: there is no such operator.
    """
    op = _known(0, "_C_ops", name)
    if len(args) == len(op.order) + 1 and isinstance(args[-1], _PLACES):
        args = args[:-1]  # where the result is to lie
    if len(args) > len(op.order):
        raise InvalidTypeError(
            f"{name}: it takes {len(op.order)} arguments. Got {len(args)}, expected {', '.join(op.order)}. "
            f"Leave out the last {len(args) - len(op.order)}."
        )
    inputs: dict[str, Sequence[Any]] = {}
    attrs: dict[str, Any] = {}
    for slot, value in zip(op.order, args):
        if slot in op.inputs:
            inputs[slot] = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
            if not all(isinstance(x, Tensor) or x is None for x in inputs[slot]):
                raise InvalidTypeError(
                    f"{name}: {slot} is not a Tensor. Got {short(value)} ({type(value).__name__}), expected a Tensor. Use to_tensor."
                )
        else:
            attrs[slot] = value.item() if isinstance(value, Tensor) and value.size == 1 and slot not in ("shape", "axes") else value
    return _results(op, _written(name, op, inputs, attrs) if name.endswith("_") else run(op.type, inputs, attrs))


def _written(name: str, op: Operator, inputs: Mapping[str, Sequence[Any]], attrs: Mapping[str, Any]) -> dict[str, Any]:
    """What an operator in place gives: its inputs, changed."""
    if "LearningRate" in op.inputs and _core.is_grad_enabled():  # updates have no gradients
        with no_grad():
            return _written(name, op, inputs, attrs)
    inputs = {slot: [x for x in xs if x is not None] for slot, xs in inputs.items()}
    pairs = {slot: own for slot in op.outputs if (own := _overwritten(op, slot)) is not None}
    for own in pairs.values():
        for x in inputs.get(own, ()):
            require_writable(x, name)
    given = inputs
    if _core.is_grad_enabled() and any(not x.stop_gradient for xs in inputs.values() for x in xs):
        given = {slot: [*map(ops.copy, xs)] if slot in pairs.values() else xs for slot, xs in inputs.items()}  # the old values may be needed
    found = run(op.type, given, attrs)
    for slot, own in pairs.items():
        targets, values = inputs.get(own, ()), found.get(slot)
        if values is not None and targets:
            over = [_over(x, y, name) for x, y in zip(targets, values if isinstance(values, list) else [values])]
            found[slot] = over if isinstance(values, list) else over[0]
    return found


def _over(x: Tensor, y: Tensor, name: str) -> Tensor:
    return write(x, y, name, True) if x.shape == y.shape else _core.rebind(x, y)


# Inputs that an operator in place writes over, where their names do not say so: those of the first output.
_FIRST = {"where": "X"}


def _overwritten(op: Operator, slot: str) -> str | None:
    """The input that an output stands over: ParamOut over Param, OutGoodSteps over InGoodSteps, the first one over the first input."""
    name = _bare(slot)
    if slot == op.outputs[0] and name in ("", "put", "output"):
        return _FIRST.get(op.type, op.inputs[0] if op.inputs else None)
    return next((own for own in op.inputs if _bare(own) == name), op.inputs[0] if slot == op.outputs[0] else None)


def _bare(slot: str) -> str:
    """The name of a slot without what says which of the two it is."""
    name = slot.replace("_", "").lower()
    for word in ("out", "in", "prev"):
        name = name.removeprefix(word)
    return name.removesuffix("out")


def call_legacy(name: str, *args: Any) -> Any:
    """`_legacy_C_ops.name(*inputs, 'attribute', value, ...)`.

    Raises:
        TypeError: an attribute has no value.
        NotImplementedError: there is no such operator.
    """
    op = _known(1, "_legacy_C_ops", name)
    many = next((i for i, each in enumerate(args) if isinstance(each, str)), len(args))
    given, rest = args[:many], args[many:]
    if len(rest) % 2:
        raise InvalidTypeError(
            f"{name}: an attribute has no value. Got {short(rest)}, expected names and values in turn. Pass each as 'name', value."
        )
    inputs = {
        slot: [] if x is None else list(x) if isinstance(x, (list, tuple)) else [x] for slot, x in zip(op.inputs, given) if not isinstance(x, int)
    }
    return _results(op, run(op.type, inputs, dict(zip(rest[::2], rest[1::2]))))


def _known(which: int, module: str, name: str) -> Operator:
    op = operator_table()[which].get(name)
    base = operator_table()[which].get(name.removesuffix("_")) if op is None and name.endswith("_") else None
    if base is not None:
        return base
    if op is None or op.type not in READS:
        known = names(which == 0)
        raise UnimplementedError(
            f"paddle.{module}.{name}: there is no such operator here. Got {name!r}, expected one of the {len(known)} of dir(paddle.{module})."
            f"{did_you_mean(name, known)} Use a public function."
        )
    return op


def _results(op: Operator, found: dict[str, Any]) -> Any:
    """What the call gives: the outputs in their order, one alone by itself."""
    outs = [found.get(slot) for slot in op.outputs if slot not in _INTERMEDIATE.get(op.type, ("XShape",))]
    if len(outs) == 1:
        return outs[0]
    if not any(out is not None for out in outs):
        raise InvalidArgumentError(
            f"{op.type}: no output was computed. Got {sorted(found)}, expected {', '.join(op.outputs)}. Use a public function."
        )
    while len(outs) > 1 and outs[-1] is None and op.type not in _ALL_OUTPUTS:
        outs.pop()
    return outs[0] if len(outs) == 1 else tuple(outs)


# Outputs that Paddle keeps for gradients and does not hand out.
_INTERMEDIATE = {
    "group_norm": ("Mean", "Variance"), "instance_norm": ("SavedMean", "SavedVariance"), "layer_norm": ("Mean", "Variance"), "roi_pool": ("Argmax",),
}
_ALL_OUTPUTS = frozenset({"batch_norm", "dropout", "sync_batch_norm"})


def door(new: bool) -> Any:
    """The `__getattr__` of `_C_ops` or `_legacy_C_ops`."""
    module = "_C_ops" if new else "_legacy_C_ops"

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module 'paddle.{module}' has no attribute {name!r}")
        function = functools.partial(call if new else call_legacy, name)
        function.__doc__ = f"The operator {name!r} of Paddle."
        return function

    return __getattr__
