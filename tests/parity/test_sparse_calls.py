"""Drawn calls of sparse tensors in real Paddle 2.6.2 and in wherry."""
from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, outcomes_of  # noqa: E402
from sparse_calls import CALLS, COUNT, SEED  # noqa: E402
from test_generated import difference  # noqa: E402

pytestmark = needs_paddle


def test_drawn_calls_are_answered_as_by_paddle(tmp_path):
    outcomes = outcomes_of("worker.py", tmp_path, "sparse_calls")
    found, answered = [], 0
    for number, call in enumerate(CALLS):
        ours, theirs = (outcomes[framework][number, "as given"] for framework in ("wherry", "paddle"))
        answered += "error" not in theirs
        differs = difference(call, ours, theirs)
        if differs:
            inputs = {name: (str(value.dtype), list(value.shape)) for name, value in call.inputs.items()}
            found.append(f"{number}: {call.expression} {inputs}: {differs}")
    assert answered > 0.8 * len(CALLS), "the generator makes sense"
    assert not found, f"seed {SEED}, count {COUNT}: {len(found)} differences\n" + "\n".join(found)
