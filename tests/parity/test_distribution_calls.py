"""Drawn calls of distributions and transforms in real Paddle 2.6.2 and in wherry."""
from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from distribution_calls import CALLS, COUNT, SEED  # noqa: E402
from programs import needs_paddle, outcomes_of  # noqa: E402
from test_generated import difference  # noqa: E402

pytestmark = needs_paddle


def reason(call):
    """Why the answers of a call differ, where they do on purpose."""
    if ".Beta(" in call.expression and ".sample" in call.expression and call.inputs["p"].shape == (1,):
        return "the axis of a batch of one stays; Paddle drops it"
    if "Geometric(p).variance" in call.expression and call.grad:
        return "an extension: the variance has a gradient"
    if "Bernoulli(p).entropy" in call.expression and call.grad:
        return "log(1 / p - 1); Paddle's is 0"
    return None


def test_drawn_calls_are_answered_as_by_paddle(tmp_path):
    outcomes = outcomes_of("worker.py", tmp_path, "distribution_calls")
    found, answered = [], 0
    for number, call in enumerate(CALLS):
        ours, theirs = (outcomes[framework][number, "as given"] for framework in ("wherry", "paddle"))
        answered += "error" not in theirs
        differs = difference(call, ours, theirs)
        if differs and not reason(call):
            inputs = {name: (str(value.dtype), list(value.shape)) for name, value in call.inputs.items()}
            found.append(f"{number}: {call.expression} {inputs}: {differs}")
    assert answered > 0.9 * len(CALLS), "the generator makes sense"
    assert not found, f"seed {SEED}, count {COUNT}: {len(found)} differences\n" + "\n".join(found)
