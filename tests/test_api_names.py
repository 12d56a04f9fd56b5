"""Every name of Paddle 2.3 outside of `paddle.distributed`, members of classes included: it is here, with Paddle's parameters.

data/api-2.3.tsv has one line per name that belongs to 2.3. Signatures are those of Paddle 2.6.2, whose
behaviour decides where the two differ. Ours may take more parameters after Paddle's, with defaults.
"""
from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import wherry

TABLE = Path(__file__).parent / "data" / "api-2.3.tsv"

_OF_INSTANCES = "the layer's parameter: an attribute of instances, where tests of layers look"
_MOVED = "left this namespace: Paddle 2.6 has it in paddle.nn.utils"
_GONE = "gone in Paddle 2.6"

# Names of the table that are not asked for, and why.
EXCLUDED = {
    **{f"paddle.nn.{layer}.{name}": _OF_INSTANCES for layer in ("Linear", "Conv1D", "Conv2D", "Conv3D") for name in ("weight", "bias")},
    **{f"paddle.nn.functional.{name}": _MOVED for name in ("weight_norm", "remove_weight_norm", "spectral_norm")},
    **{f"paddle.static.Variable.{name}": "a property, as on Tensor" for name in ("place", "size")},
    **{
        f"paddle.inference.{kind}.{name}": "of each member of the enumeration, where tests of predictors look"
        for kind in ("DataType", "PlaceType", "PrecisionType") for name in ("name", "value")
    },
    **{
        f"paddle.compat.{name}": _GONE
        for name in ("floor_division", "get_exception_message", "long_type", "round", "to_bytes", "to_text")
    },
    **{
        f"paddle.utils.profiler.{name}": _GONE
        for name in ("Profiler", "ProfilerOptions", "cuda_profiler", "get_profiler", "reset_profiler", "start_profiler", "stop_profiler")
    },
    "paddle.dataset": "readers of before 2.0, under fluid; paddle.io and the data sets of vision and text replace them",
    "paddle.Tensor.get_selected_rows": "internal: None for every tensor that can be asked",
    "paddle.static.Variable": "made by static.data and create_parameter; its class takes what captures give it",
    "paddle.optimizer.RMSProp.clear_gradients": "not in Paddle 2.6; clear_grad is the documented name",
    "paddle.optimizer.lr.LRScheduler._state_keys": "not in Paddle 2.6, where it is state_keys",
    "paddle.vision.transforms.RandomRotation.RandomRotate": "an error of the manual: no such method",
}

# Names that are here with other parameters, and why.
OTHER_PARAMETERS = {
    "paddle.Tensor": "made by to_tensor and the like: calling the class is internal",
    "paddle.check_shape": "defaults are classes, of which Variable is Tensor here",
    "paddle.device.XPUPlace": "the parameter is that of the other places, device_id",
}


def rows() -> list[tuple[str, str, str]]:
    header, *lines = TABLE.read_text().splitlines()
    assert header == "name\tkind\tsignature"
    return [tuple(line.split("\t")) for line in lines]  # type: ignore[misc]


ROWS = rows()


def find(name: str) -> Any:
    """The object that `paddle.<path>` names here."""
    found: Any = wherry
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize(("name", "kind"), [pytest.param(name, kind, id=name) for name, kind, _ in ROWS if name not in EXCLUDED])
def test_name_exists(name, kind):
    found = find(name)
    if kind == "class":
        assert inspect.isclass(found), f"{name} is {found!r}, expected a class"
    elif kind in ("function", "method"):
        assert callable(found), f"{name} is {found!r}, expected a function"


def parameters_of(text: str) -> list[tuple[str, str, Any]]:
    """Name, kind and default of each parameter of a signature that is written out."""
    # A class or an object as default has no literal; its presence is all that can be compared.
    text = re.sub(r"<[^<>]*(<[^<>]*>)?[^<>]*>", "...", text)
    function = ast.parse(f"def f{text}: pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    ordinary = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(ordinary) - len(given.defaults)) + [*given.defaults]
    result = [(a.arg, "ordinary", value_of(d)) for a, d in zip(ordinary, defaults)]
    if given.vararg:
        result.append(("*", "rest", None))
    result += [(a.arg, "keyword", value_of(d)) for a, d in zip(given.kwonlyargs, given.kw_defaults)]
    if given.kwarg:
        result.append(("**", "rest", None))
    return result


def value_of(node: ast.expr | None) -> Any:
    return inspect.Parameter.empty if node is None else ast.literal_eval(node)


def own_parameters(found: Any) -> list[tuple[str, str, Any]]:
    kinds = inspect.Parameter
    names = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}
    result = []
    for p in inspect.signature(found).parameters.values():
        kind = "rest" if p.kind in names else "keyword" if p.kind is kinds.KEYWORD_ONLY else "ordinary"
        result.append((names.get(p.kind, p.name), kind, None if kind == "rest" else p.default))
    return result


def matches(mine: tuple[str, str, Any], theirs: tuple[str, str, Any]) -> bool:
    if mine[:2] != theirs[:2]:
        return False
    if theirs[2] is ...:
        return mine[2] is not inspect.Parameter.empty
    listed = tuple(theirs[2]) if isinstance(theirs[2], list) and isinstance(mine[2], tuple) else theirs[2]
    return mine[2] is listed or bool(mine[2] == listed)


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        pytest.param(name, signature, id=name)
        for name, _, signature in ROWS
        # operators are slots of the type, called by position
        if signature and not name.endswith("__") and name not in EXCLUDED and name not in OTHER_PARAMETERS
    ],
)
def test_signature_is_paddles(name, signature):
    found = find(name)
    mine, theirs = own_parameters(found), parameters_of(signature)
    if mine and theirs and theirs[0][0] in ("var", "x") and mine[0][0] == "self":
        mine, theirs = mine[1:], theirs[1:]  # the tensor whose method it is
    if mine and mine[0][0] == "self" and (not theirs or theirs[0][0] != "self"):
        mine = mine[1:]
    if theirs and theirs[0][0] == "self" and (not mine or mine[0][0] != "self"):
        theirs = theirs[1:]  # a static method here
    shown = f"{name}: got {inspect.signature(found)}, Paddle has {signature}"
    ordinary = [p for p in mine if p[1] != "rest"]
    expected = [p for p in theirs if p[1] != "rest"]
    for ours, paddles in zip(ordinary, expected):
        assert matches(ours, paddles), shown
    assert len(ordinary) >= len(expected), shown
    for extension in ordinary[len(expected):]:
        assert extension[2] is not inspect.Parameter.empty, shown
    rest = {p[0] for p in theirs if p[1] == "rest"}
    assert rest <= {p[0] for p in mine if p[1] == "rest"}, shown


def test_exclusions_are_in_the_table():
    assert {*EXCLUDED, *OTHER_PARAMETERS} <= {name for name, _, _ in ROWS}
