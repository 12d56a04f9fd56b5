"""Descriptions of operators: which are to be looked at. What is read from texts, paddle-files tests beside `json`."""
from dataclasses import dataclass, field
from typing import Any

import pytest

from wherry_tensor._operations import Descriptions, Operations


@dataclass(slots=True)
class Tensor:
    dtype: int | None = None
    sizes: list = field(default_factory=list)


@dataclass(slots=True)
class Lod:
    tensor: Tensor | None = None
    levels: int | None = None


@dataclass(slots=True)
class Type:
    kind: int | None = None
    rows: Any = None
    lod: Lod | None = None


@dataclass(slots=True)
class Variable:
    name: str | None = None
    type: Type | None = None


@dataclass(slots=True)
class Slot:
    name: str | None = None
    arguments: list = field(default_factory=list)


@dataclass(slots=True)
class Attr:
    name: str
    type: int
    value: Any = None


@dataclass(slots=True)
class Operator:
    type: str | None = None
    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    attrs: list = field(default_factory=list)


CLASSES = (Variable, Type, Lod, Tensor, Operator, Slot, Attr)
DESCRIPTIONS = Descriptions(CLASSES, 7, (5, 6), (0, 2))


def _variable(dtype=5, sizes=(2, -1), kind=7):
    return Variable("x", Type(kind, None, Lod(Tensor(dtype, list(sizes)), 0)))


@pytest.mark.parametrize("odd", [
    _variable(4), _variable(None), _variable("f"), _variable(sizes=(-2,)), _variable(sizes=(1 << 70,)),
    _variable(sizes=(True,)), _variable(sizes=(1.0,)), _variable(kind=8), Variable("x"), Variable("x", Type(7)), Variable("x", Type(7, None, Lod())),
    Variable("x", "a type"), None,
])  # fmt: skip
def test_variables_that_are_no_plain_tensors_are_to_be_looked_at(odd):
    plain = _variable()
    assert DESCRIPTIONS.odd_variables([plain, odd, plain]) == [odd]


@pytest.mark.parametrize("odd", [
    Operator("f", [Slot("X", ["c"])]), Operator("f", [], [Slot("X", ["a", "c"])]), Operator("f", [Slot("X"), Slot("X")]), Operator("f", ["X"]),
    Operator("f", [Slot("X", None)]), Operator("f", None), Operator("f", [], [], [Attr("a", 1)]), Operator("f", [], [], [Attr("a", 0), Attr("a", 0)]),
    Operator("f", [], [], [Attr("a", None)]), Operator("f", [], [], [Attr("a", 63)]), Operator("f", [], [], [Attr("a", -1)]),
    Operator("f", [], [], [Attr("a", 1 << 70)]), "f",
])  # fmt: skip
def test_operators_that_do_not_plainly_hold_together_are_to_be_looked_at(odd):
    plain = Operator("f", [Slot("X", ["a", "b"]), Slot("Y")], [Slot("X", ["a"])], [Attr("a", 0, 1), Attr("b", 2)])
    assert DESCRIPTIONS.odd_operators([plain, odd, plain], {"a", "b"}) == [odd]


def test_classes_have_slots():
    @dataclass
    class Loose:
        name: str | None = None

    with pytest.raises(TypeError, match="no slot"):
        Descriptions((Loose, *CLASSES[1:]), 7, (), ())
    with pytest.raises(TypeError):
        Operations(None, str, dtypes={}, elements={}, types=range(7), neutral={}, whole=(), empty="")
