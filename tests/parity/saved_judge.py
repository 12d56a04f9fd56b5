"""Counts which files of `saved_worker.py` agree. A check is one file loaded in one way, at every size at which both frameworks give eager results.

A check in which Paddle fails with a file of its own, in the same way and at the same size, is Paddle's: counted by itself and not against anybody.
"""
from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from comparing import TOLERANCE
from saved_cases import Case

EMPTY = "no elements"
SAME, PADDLES, WRONG = "same", "fails with Paddle's own file too", "differs"


class Verdict(NamedTuple):
    kind: str  # SAME, PADDLES or WRONG
    direction: str  # "to Paddle" or "from Paddle"
    way: str
    case: Case
    text: str


def close(found: Any, expected: Any, random: bool) -> bool:
    if not isinstance(found, list) or len(found) != len(expected):
        return False
    for x, y in zip(found, expected, strict=True):
        if (x.shape, x.dtype) != (y.shape, y.dtype):
            return False
        tolerance = max(2 * TOLERANCE.get(str(x.dtype), 0), 0)
        finite = np.abs(y[np.isfinite(y)]) if y.dtype.kind in "fc" else np.zeros(0)
        if not random and not np.allclose(x, y, rtol=tolerance, atol=tolerance * (finite.max() if finite.size else 0), equal_nan=True):
            return False
    return True


def agrees(case: Case, found: Any, eager: tuple[Any, Any]) -> bool:
    """Whether each result is that of one framework's eager call: of equal values either may say the place, and the parameters are the saver's."""
    if not isinstance(found, list) or any(len(found) != len(results) for results in eager):
        return False
    pairs = zip(*(rounded(case, results) for results in (found, *eager)), strict=True)
    return all(any(close([x], [y], case.random) for y in results) for x, *results in pairs)


def rounded(case: Case, results: list[Any]) -> list[Any]:
    """Condition numbers that rounding alone decides, as infinite: a matrix at more rows than it has repeats them, and is singular."""
    if "linalg.cond(" not in case.name:
        return results
    return [np.where(x > 1 / np.finfo(x.dtype).eps, np.inf, x).astype(x.dtype) if x.dtype.kind == "f" else x for x in results]


def brief(found: Any) -> str:
    if not isinstance(found, list):
        return str(found)
    return ", ".join(f"{x.dtype}{list(x.shape)} {x.ravel()[:4].tolist()}" for x in found)


def answer(loaded: dict, number: int, way: str, what: str) -> Any:
    one = loaded.get((number, way, what == "zero"), {})
    return one.get(what, one.get("text", one.get("error", "not saved")))


def verdicts(cases: list[Case], made: dict[str, dict], loaded: dict[str, dict], ways: tuple[str, ...]) -> list[Verdict]:
    """`made` by framework; `loaded` by "to Paddle", "from Paddle" and "Paddle to Paddle"."""
    found = []
    for number, case in enumerate(cases):
        ours, theirs = ({**made[who][number, False], **made[who].get((number, True), {})} for who in ("wherry", "paddle"))
        feeds = case.feeds()
        asked = [what for what in feeds if isinstance(ours.get(what), list) and isinstance(theirs.get(what), list) and ours[what]]
        asked = [what for what in asked if len(ours[what]) == len(theirs[what])]
        empty = [what for what in asked if any(x.size == 0 for x in feeds[what].values())]
        for direction, who, own in (("to Paddle", ours, "wherry"), ("from Paddle", theirs, "paddle")):
            if direction == "from Paddle" and who.get("saved") is not True:
                continue
            for way in ways:
                for sizes, place in (([what for what in asked if what not in empty], way), (empty, f"{way}, {EMPTY}")):
                    if not sizes or (way == "predictor" and (sizes is empty or not case.parameters)):
                        continue  # Paddle's predictor dies of tensors without elements, and opens no model without parameters
                    if who.get("saved") is not True:
                        kind = WRONG if theirs.get("saved") is True else PADDLES
                        found.append(Verdict(kind, direction, place, case, f"not saved: {who.get('saved')}"))
                        continue
                    told = []
                    for what in sizes:
                        value = answer(loaded[direction], number, way, what)
                        if agrees(case, value, (ours[what], theirs[what])):
                            told.append((SAME, ""))
                            continue
                        control = answer(loaded["Paddle to Paddle"], number, way, what)
                        kind = WRONG if close(control, theirs[what], case.random) else PADDLES
                        eager = made[own][number, what == "zero"].get(what)
                        told.append((kind, f"{what}: got {brief(value)}; {own} has {brief(eager)}; control {brief(control)[:160]}"))
                    kind = next((kind for kind in (WRONG, PADDLES) if any(one[0] == kind for one in told)), SAME)
                    found.append(Verdict(kind, direction, place, case, " | ".join(text for one, text in told if one == kind)))
    return found


def table(found: list[Verdict]) -> str:
    """Checks by direction and way, and the part that agrees of those that Paddle does not fail by itself."""
    counts = Counter((one.direction, one.way, one.kind) for one in found)
    lines = []
    for direction in ("to Paddle", "from Paddle"):
        ways = sorted({one.way for one in found if one.direction == direction}, key=lambda way: (EMPTY in way, way))
        lines += [line(f"{direction}, {way}", Counter({kind: counts[direction, way, kind] for kind in (SAME, WRONG, PADDLES)})) for way in ways]
        lines.append(line(f"{direction}, all with elements", totals(found, direction)))
    return "\n".join(lines)


def totals(found: list[Verdict], direction: str) -> Counter[str]:
    """How many checks of tensors with elements came out how."""
    return Counter(one.kind for one in found if one.direction == direction and EMPTY not in one.way)


def line(name: str, one: Counter[str]) -> str:
    asked = one[SAME] + one[WRONG]
    return f"{name:<46} {one[SAME]:>7} of {asked:>7} {100 * one[SAME] / max(asked, 1):6.2f} %   {one[PADDLES]:>6} {PADDLES}"
