"""Unknown sizes: generalizes descriptions for several sizes to one for all.

A program is planned for some choices of its open sizes. Where a number differs between them, it is a polynomial of the sizes (a shape, a
stride, an offset), which is found from the first choices and checked with the others.

Where that is not so, as for the height of an image that goes through convolutions with strides, the program is planned for many more: rows of
neighbouring sizes show each number that is `(size + a) // s` (`Floors`), and the others are products of those, or one of them and a constant.
"""
from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["Floors", "NotAlike", "choices", "merged", "small", "value_at"]

# Three of each open size, all different (where two sizes are equal by accident, values may share what they do not share otherwise) and
# more than the planner computes ahead of shapes.
BASE = ((17, 19, 23), (29, 31, 37), (41, 43, 47), (53, 59, 61))
CHECKS = ((13, 83, 89, 97), (67, 71, 73, 79))


class NotAlike(Exception):
    """The program differs between sizes. `path`: where; `values`: the values there."""

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


def small(n: int) -> list[tuple[int, ...]]:
    """Choices that are smaller than what shapes are usually compared with: with these a polynomial is tried once more."""
    return [(size,) * n for size in (1, 2, 3, 5)] if n else []


def value_at(number: Any, sizes: Sequence[int]) -> int:
    """The value of a number of `merged` for these sizes."""
    if isinstance(number, dict):
        return sum(factor * math.prod(size**power for size, power in zip(sizes, powers)) for factor, powers in number["poly"])
    return int(number)


def merged(found: Sequence[Any], sizes: Sequence[tuple[int, ...]]) -> Any:
    """One description for all sizes. Numbers that differ become {"poly": [[factor, [power of each size]], ...]}.

    Args:
        found: nested lists and dicts of numbers and texts, one for each of the choices.
        sizes: the choices.

    Raises:
        NotAlike: something else than a number differs, or a number is not a polynomial of degree 2 in each size.
    """
    return _walked(found, (), lambda values: _polynomial(values, sizes))


def _walked(found: Sequence[Any], path: tuple[Any, ...], terms_of: Callable[[tuple[int, ...]], list[list[Any]] | None]) -> Any:
    """One description of several; `terms_of` says what the numbers are that differ, or None."""
    first = found[0]
    if all(type(x) is type(first) for x in found):
        if isinstance(first, dict) and all(x.keys() == first.keys() for x in found):
            return {key: _walked([x[key] for x in found], (*path, key), terms_of) for key in first}
        if isinstance(first, (list, tuple)) and all(len(x) == len(first) for x in found):
            return [_walked(parts, (*path, i), terms_of) for i, parts in enumerate(zip(*found, strict=True))]
        if all(x == first for x in found):
            return first
        if isinstance(first, int):
            terms = terms_of(tuple(found))
            if terms is not None:
                return {"poly": terms}
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


# Sizes after strides.

BATCH = "batch"  # the name of a first axis
MIDDLE = (19, 97, 101, 103, 107)
ROW = range(64, 145)  # of one size: a stride of up to 32 shows twice in it
FEW = range(11, 14)  # of a batch, which nothing divides
FAR = ((3, 160, 224, 192), (8, 333, 255, 270), (4, 511, 640, 300), (5, 224, 417, 431), (2, 801, 162, 209))  # no 1: many strides fit that
FACTORS = 4  # of a product


class Floors:
    """Numbers that are products of `(size + a) // s`, from the plans for many choices of the open sizes.

    Args:
        names: of the sizes that are open.

    Attributes:
        choices: what to plan for.
        terms: [which size, a, s] of each number that `merged` found; powers after those of the sizes belong to them.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.n = n = len(names)
        middle = MIDDLE[:n] if names[:1] == [BATCH] else MIDDLE[1 : n + 1]
        self.choices = [middle]
        self.rows: list[range] = []  # where the choices of each size begin and end
        for axis, name in enumerate(names):
            begin = len(self.choices)
            self.choices += [(*middle[:axis], value, *middle[axis + 1 :]) for value in (FEW if name == BATCH else ROW)]
            self.rows.append(range(begin, len(self.choices)))
        self.choices += [row[:n] if names[:1] == [BATCH] else row[-n:] for row in FAR]
        self.terms: list[list[int]] = []

    def merged(self, found: Sequence[Any]) -> Any:
        """As the function `merged`; numbers that differ become {"poly": [[factor, [power of each size, power of each term]]]}.

        Raises:
            NotAlike: a number is none of these.
        """
        sequences = list(dict.fromkeys(_differing(found)))
        for values in sequences:  # those of one size first: the others are made of them
            term = self._term(values)
            if term is not None and term not in self.terms and term[1:] != [0, 1]:
                self.terms.append(term)
        self.columns = [
            *([choice[i] for choice in self.choices] for i in range(self.n)),
            *([(choice[i] + a) // s for choice in self.choices] for i, a, s in self.terms),
        ]
        return _walked(found, (), functools.cache(self._product))

    def _term(self, values: tuple[int, ...]) -> list[int] | None:
        """[size, a, s] where the values are (size + a) // s."""
        changing = [axis for axis, row in enumerate(self.rows) if len({values[i] for i in row}) > 1]
        if len(changing) != 1:
            return None
        row = [values[i] for i in self.rows[changing[0]]]
        jumps = [i for i in range(1, len(row)) if row[i] != row[i - 1]]
        if len(jumps) < 2 or any(row[i] != row[i - 1] + 1 for i in jumps):
            return None
        s = jumps[1] - jumps[0]
        a = row[jumps[0]] * s - ROW[jumps[0]]  # where it jumps there is no remainder
        fits = all((choice[changing[0]] + a) // s == value for choice, value in zip(self.choices, values, strict=True))
        return [changing[0], a, s] if fits else None

    def _product(self, values: tuple[int, ...]) -> list[list[Any]] | None:
        """A factor and how often each column is in the product; where it is none, the same plus a constant: 2 * size - 1."""
        for constant in (False, True):
            for count in range(1, FACTORS + 1):
                for chosen in itertools.combinations_with_replacement(range(len(self.columns)), count):
                    found = self._line(values, chosen, constant)
                    if found is not None:
                        powers = [chosen.count(column) for column in range(len(self.columns))]
                        factor, rest = found
                        return [[factor, powers], *([[rest, [0] * len(powers)]] if rest else [])]
        return None

    def _line(self, values: tuple[int, ...], chosen: Sequence[int], constant: bool) -> tuple[int, int] | None:
        """(f, c) where each value is f times the product of these columns, plus c."""
        x0 = math.prod(self.columns[column][0] for column in chosen)
        f, c = Fraction(values[0], x0), Fraction(0)
        if constant:
            x1 = math.prod(self.columns[column][-1] for column in chosen)
            if x1 == x0:
                return None
            f = Fraction(values[-1] - values[0], x1 - x0)  # of a choice where every size is another
            c = values[0] - f * x0
        if f.denominator != 1 or c.denominator != 1:
            return None
        for i, value in enumerate(values):
            if f.numerator * math.prod(self.columns[column][i] for column in chosen) + c.numerator != value:
                return None
        return f.numerator, c.numerator


def _differing(found: Sequence[Any]) -> Iterator[tuple[int, ...]]:
    """The numbers of a description that are not the same for all choices."""
    first = found[0]
    if isinstance(first, dict):
        for key in first:
            yield from _differing([x.get(key) if isinstance(x, dict) else None for x in found])
    elif isinstance(first, (list, tuple)):
        if all(isinstance(x, (list, tuple)) and len(x) == len(first) for x in found):
            for parts in zip(*found, strict=True):
                yield from _differing(parts)
    elif isinstance(first, int) and all(type(x) is type(first) for x in found) and any(x != first for x in found):
        yield tuple(found)
