"""Errors of Python's inside of functions that check no argument themselves, in our words."""
import inspect
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor.errors import InvalidTypeError
from wherry_tensor.explained import _fits, explained
from wherry_tensor.functions.creation import to_tensor

SOURCE = '''
from __future__ import annotations
from collections.abc import Callable, Sequence
from wherry_tensor import Tensor
from wherry_tensor.explained import explained

__all__ = ["Scaled", "sum_of", "total"]


def total(x: Tensor, sizes: Sequence[int], each: Callable[[int], int] | None = None, share: float = 1.0) -> float:
    """A sum."""
    return x.sum().item() * share + sum(n if each is None else each(n) for n in sizes)


sum_of = total


class Scaled:
    def __init__(self, scale: float, name: str = "a") -> None:
        self.scale = scale * 2 - 1
        if not scale:
            raise ValueError("scale is nothing")


def other(x: int) -> int:
    return x + 1


explained(globals())
'''


@pytest.fixture
def module(monkeypatch):
    made = types.ModuleType("wherry_made_up")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    exec(compile(SOURCE, "wherry_made_up.py", "exec"), vars(made))
    return made


def test_the_argument_that_does_not_fit_is_named(module):
    for call, said in (
        (lambda: module.total(w.ones([2]), 3), r"total: argument 'sizes' is of another kind. Got 3 \(int\), expected Sequence\[int\]. help\(total\)"),
        (lambda: module.total(w.ones([2]), ["a"]), r"argument 'sizes'.*Got \['a'\]"),
        (lambda: module.total(None, [1]), r"argument 'x'.*Got None \(NoneType\), expected Tensor"),
        (lambda: module.total(w.ones([2]), [1], each=5), r"argument 'each'.*expected Callable\[\[int\], int\] \| None"),
        (lambda: module.Scaled({}), r"Scaled: argument 'scale'.*Got \{\} \(dict\), expected float"),
    ):
        with pytest.raises(InvalidTypeError, match=said):
            call()


def test_what_is_right_is_as_it_was(module):
    assert module.total(w.ones([2]), (1, 2), share=2) == 7.0
    assert module.Scaled(3).scale == 5
    assert str(inspect.signature(module.total)).startswith("(x: 'Tensor', sizes: 'Sequence[int]'")
    assert module.sum_of is module.total
    assert module.total.__doc__ == "A sum." and module.total.__globals__ is vars(module)


def test_other_errors_stay_as_they_are(module):
    with pytest.raises(ValueError, match="^scale is nothing$"):
        module.Scaled(0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'sizes'"):
        module.total(w.ones([2]))
    with pytest.raises(ZeroDivisionError):  # of the caller's function, although an argument is wrong besides
        module.total(w.ones([2]), [0], lambda n: 1 // n, share="a" and 1)
    with pytest.raises(TypeError, match="can only concatenate str"):
        module.other("a")  # not public


@pytest.mark.parametrize(("value", "kind", "fits"), [
    ("a", int, False), (3, int, True), (True, int, True), (2.5, int, False), (2.5, float, True), (1j, float, False), (np.float32(2), float, True),
    (to_tensor(2), int, True), (w.ones([2]), int, False), (np.ones(3), bool, False), (None, int | None, True), ("a", Sequence[str], False),
    (["a"], Sequence[str], True), ([1], Sequence[str], False), (3, Sequence[int], False), (np.array([1, 2]), Sequence[int], True),
    (to_tensor(2), Sequence[int], False), (3, Callable, False), (len, Callable[..., int], True), ({}, Mapping[str, int], True),
    (np.ones(3), w.Tensor, False), ((1, "a"), tuple[int, ...], False), ((1, "a"), tuple[int, str], True), (3, type[int], False),
    (np.array("x"), int, False), (np.array("x"), float, False), (float, float, False),
    ("x", Any, True), (3, Literal["a", 3], True), (4, Literal["a", 3], False),
])
def test_kinds_are_told_apart(value, kind, fits):
    assert _fits(value, kind) is fits


def test_functions_of_one_module_alone_are_changed():
    names = {"__all__": ["explained"], "__name__": "elsewhere", "explained": explained}
    explained(names)
    assert names["explained"] is explained


def test_a_module_without_a_list_of_its_names_offers_those_without_an_underscore():
    module = types.ModuleType("wherry_without_all")
    exec("def half(n: int) -> int:\n    return n / 2\n\ndef _third(n: int) -> int:\n    return n / 3\n", vars(module))
    explained(vars(module))
    with pytest.raises(InvalidTypeError, match="half: argument 'n' is of another kind. Got 'a'"):
        module.half("a")
    assert not hasattr(module._third, "is_explained")
