"""Drawn calls in real Paddle 2.6.2 and in wherry. Where both answer, the answers are equal; where Paddle answers, we do.

That Wherry answers where Paddle refuses is not a difference here: broadcasting, dtypes and empty tensors are wider.
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from comparing import compare  # noqa: E402
from generated_calls import CALLS, COUNT, SEED  # noqa: E402
from programs import needs_paddle, outcomes_of  # noqa: E402

pytestmark = needs_paddle


def kinds(call):
    return {value.dtype.kind for value in call.inputs.values()}


def empty(call):
    return any(value.size == 0 for value in call.inputs.values())


def scalar(call):
    return any(value.ndim == 0 for value in call.inputs.values())


def always(call):
    return True


# Functions (by the start of the expression, or "x." and the method), which calls, and why they differ. docs/compatibility.md says it to users.
ON_PURPOSE: list[tuple[str, Callable, str]] = [
    ("argsort", always, "positions have no gradient; Paddle gives zeros"),
    ("cdist dist", always, "a count has no gradient; Paddle gives zeros"),
    ("bincount", empty, "int64 as for every other input; Paddle keeps the dtype of an empty one"),
    ("broadcast_shape", lambda call: "0" in call.expression, "a size of 0 stays 0; Paddle takes it for unknown"),
    ("chunk", lambda call: "[" in call.expression, "a list of sizes is for split; Paddle takes it here too"),
    ("deg2rad rad2deg", lambda call: kinds(call) & set("ub"), "floats; Paddle rounds the result to the integers of the input"),
    ("diag diagflat diag_embed", always, "an extension: the gradient; Paddle's stops"),
    ("equal_all logical_xor multiply inner", lambda call: len({str(v.dtype) for v in call.inputs.values()}) > 1,
     "mixed dtypes are refused; Paddle compares or promotes these"),
    ("gather gather_nd index_select index_sample take_along_axis put_along_axis", always,
     "positions outside are refused; Paddle reads what lies there"),
    ("gcd lcm", lambda call: kinds(call) & set("fc"), "of integers; Paddle truncates floats"),
    ("kthvalue mode cummax cummin median", scalar, "0-d: the gradient is the cotangent once; Paddle's is another"),
    ("logspace", always, "the powers are rounded, not the exponents"),
    ("mod remainder", always, "an extension: both inputs have gradients"),
    ("neg", lambda call: "b" in kinds(call), "refused as NumPy does; Paddle gives the input back"),
    ("x /", lambda call: kinds(call) & set("biu"), "quotients of bools and small integers are floats; Paddle rounds the divisor to the dtype of x"),
    ("split", empty, "sections of an empty axis are sizes; Paddle does not look at them"),
    ("stanh", lambda call: "c" in kinds(call), "refused; Paddle drops the imaginary part"),
    ("topk", scalar, "k is at most the number of values"),
    ("trace", always, "Paddle takes the offset of axes in falling order with the wrong sign"),
    ("increment", lambda call: call.grad, "a leaf that asks for gradients cannot be written; Paddle writes it"),
    ("dot", empty, "the sum of nothing is 0; Paddle leaves memory unwritten"),
    ("concat", empty, "empty tensors fit or are refused, and have gradients; Paddle leaves some out"),
    ("hypot", lambda call: len({str(v.dtype) for v in call.inputs.values()}) > 1, "mixed dtypes are refused"),
    ("linspace", always, "the values are rounded, not the ends"),
    ("strided_slice", empty, "an axis of size 0 has no elements; Paddle gives one"),
    ("reshape", empty, "a size of -1 that could be any number is refused"),
    ("norm", lambda call: "c" in kinds(call), "norms of complex tensors are not there yet"),
    ("unfold", lambda call: call.grad, "the gradient of elements that stand in several windows is their sum; Paddle's is not"),
]


def reason(call):
    for names, applies, why in ON_PURPOSE:
        starts = [start for name in names.split() for start in (f"paddle.{name}(", f"F.{name}(", f"x.{name}(")]
        if (call.expression.startswith(tuple(starts)) or (names.startswith("x ") and names in call.expression)) and applies(call):
            return why
    return None


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    return outcomes_of("worker.py", tmp_path_factory.mktemp("generated"), "generated_calls")


def difference(call, ours, theirs):
    """What differs, as a sentence; None where nothing does, or where Paddle refuses."""
    if ours.get("error") == ["Crash"]:
        return ours["text"]
    if "error" in theirs:
        return None
    if "error" in ours:
        return f"we raise {ours['text']}, Paddle gives {theirs['result']}"
    try:
        compare(ours["result"], theirs["result"], "result")
        if call.grad:
            for i, (mine, paddles) in enumerate(zip(ours["grads"], theirs["grads"], strict=True)):
                compare(mine, paddles, f"gradient {i}")
    except AssertionError as error:
        return str(error)
    return None


def test_drawn_calls_are_answered_as_by_paddle(outcomes):
    found = []
    answered = 0
    for number, call in enumerate(CALLS):
        ours, theirs = (outcomes[framework][number, "as given"] for framework in ("wherry", "paddle"))
        answered += "error" not in theirs
        differs = difference(call, ours, theirs)
        if differs and not reason(call):
            inputs = {name: (str(value.dtype), list(value.shape)) for name, value in call.inputs.items()}
            found.append(f"{number}: {call.expression} {inputs}: {differs}")
    assert answered > 0.5 * len(CALLS), "the generator makes sense"
    assert not found, f"seed {SEED}, count {COUNT}: {len(found)} differences\n" + "\n".join(found)


def test_values_are_drawn_from_the_seed_alone():
    import generated_calls

    again = generated_calls.generated(SEED, 200)
    assert [call.expression for call in again] == [call.expression for call in CALLS[:200]]
    for one, other in zip(again, CALLS, strict=False):
        assert all(np.array_equal(value, other.inputs[name], equal_nan=value.dtype.kind in "fc") for name, value in one.inputs.items())
