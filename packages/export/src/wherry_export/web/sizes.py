"""Open sizes: from what a program is for several of them, to what it is for all.

A program is planned for some choices of its open sizes. Where a number differs between them, it is a polynomial of the sizes (a shape, a
stride, an offset), which is found from the first choices and checked with the others.
"""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

__all__ = ["NotAlike", "choices", "merged"]

# Three of each open size, all different (where two sizes are equal by accident, values may share what they do not share otherwise) and
# more than the planner computes ahead of shapes.
BASE = ((17, 19, 23), (29, 31, 37), (41, 43, 47), (53, 59, 61))
CHECKS = ((13, 83, 89, 97), (67, 71, 73, 79))


class NotAlike(Exception):
    """The program is not the same for all sizes. `path`: where; `values`: what stands there."""

    def __init__(self, path: tuple[Any, ...], values: Sequence[Any]) -> None:
        super().__init__(path, values)
        self.path, self.values = path, values


def choices(n: int) -> list[tuple[int, ...]]:
    """The choices of `n` open sizes to plan for: those that polynomials are made from, then those that check them."""
    if n == 0:
        return [()]
    if n > len(BASE):
        raise NotImplementedError(f"web: too many sizes are open. Got {n}, expected at most {len(BASE)}. Give input_spec with more fixed sizes.")
    return [*itertools.product(*BASE[:n]), *(row[:n] for row in CHECKS)]


def merged(found: Sequence[Any], sizes: Sequence[tuple[int, ...]], path: tuple[Any, ...] = ()) -> Any:
    """One description for all sizes. Numbers that differ become {"poly": [[factor, [power of each size]], ...]}.

    Args:
        found: nested lists and dicts of numbers and texts, one for each of the choices.
        sizes: the choices.
        path: where in the description it stands.

    Raises:
        NotAlike: something else than a number differs, or a number is no polynomial of degree 2 in each size.
    """
    first = found[0]
    if all(type(x) is type(first) for x in found):
        if isinstance(first, dict) and all(x.keys() == first.keys() for x in found):
            return {key: merged([x[key] for x in found], sizes, (*path, key)) for key in first}
        if isinstance(first, (list, tuple)) and all(len(x) == len(first) for x in found):
            return [merged(parts, sizes, (*path, i)) for i, parts in enumerate(zip(*found, strict=True))]
        if all(x == first for x in found):
            return first
        if isinstance(first, int):
            poly = _polynomial(found, sizes)
            if poly is not None:
                return {"poly": poly}
    raise NotAlike(path, found)


def _polynomial(values: Sequence[int], sizes: Sequence[tuple[int, ...]]) -> list[list[Any]] | None:
    """Factors and powers; None where it is none, or one with fractions."""
    n = len(sizes[0])
    cube = {choice: Fraction(value) for choice, value in zip(sizes[: 3**n], values)}
    for axis in range(n):  # along each axis: values at three points become three factors
        lines: dict[tuple[int, ...], list[Fraction]] = {}
        for at in sorted(cube):
            lines.setdefault((*at[:axis], *at[axis + 1 :]), []).append(cube[at])
        cube = {}
        for rest, line in lines.items():
            for power, factor in enumerate(_through(BASE[axis], line)):
                cube[*rest[:axis], power, *rest[axis:]] = factor
    terms = [(factor, powers) for powers, factor in sorted(cube.items()) if factor]
    if any(factor.denominator != 1 for factor, _ in terms):
        return None
    for choice, value in zip(sizes, values, strict=True):
        total = Fraction(0)
        for factor, powers in terms:
            for size, power in zip(choice, powers):
                factor *= size**power
            total += factor
        if total != value:
            return None
    return [[int(factor), list(powers)] for factor, powers in terms]


def _through(points: tuple[int, int, int], line: Sequence[Fraction]) -> list[Fraction]:
    """The factors of 1, n and n^2 of the parabola through three values."""
    (a, b, c), (x, y, z) = points, line
    slope = (y - x) / (b - a)
    bend = ((z - y) / (c - b) - slope) / (c - a)
    return [x - slope * a + bend * a * b, slope - bend * (a + b), bend]
