"""Random small functions of Python, as text: assignments, `if`, loops, `break`, `continue`, `return`, tests."""
from __future__ import annotations

import linecache
from itertools import count
from typing import Any

from hypothesis import strategies as st

_number = count()
NAMES = "abcd"


def function_of(text: str, names: dict[str, Any] | None = None, name: str = "f") -> Any:
    """The function `name` that the text defines; its source can be read, as that of a function in a file."""
    filename = f"<program {next(_number)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names = {"__name__": "program", **(names or {})}
    exec(compile(text, filename, "exec"), names)
    return names[name]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def expressions(draw: Any, depth: int = 2) -> str:
    kind = draw(st.integers(0, 9 if depth else 2))
    if kind <= 1:
        return draw(st.sampled_from(NAMES))
    if kind == 2:
        return str(draw(st.integers(-3, 5)))
    a, b = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    if kind <= 7:
        return f"({a} {draw(st.sampled_from('+-*'))} {b})"
    return f"({a} if {draw(tests(depth - 1))} else {b})"


@st.composite
def tests(draw: Any, depth: int = 2) -> str:
    kind = draw(st.integers(0, 7 if depth else 3))
    a, b = draw(expressions(0)), draw(expressions(0))
    if kind <= 3:
        return f"{a} {draw(st.sampled_from(['<', '<=', '>', '>=', '==', '!=']))} {b}"
    if kind == 4:
        return f"({a} <= {b} < {draw(expressions(0))})"
    if kind == 5:
        return f"(not {draw(tests(depth - 1))})"
    return f"({draw(tests(depth - 1))} {draw(st.sampled_from(['and', 'or']))} {draw(tests(depth - 1))})"


@st.composite
def blocks(draw: Any, depth: int, loop: bool, lists: bool = False) -> list[str]:
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 9))
        if kind <= 3 or depth == 0:
            name = draw(st.sampled_from(NAMES))
            lines.append(f"{name} {draw(st.sampled_from(['=', '+=', '-=']))} {draw(expressions(1))}")
        elif kind <= 5:
            lines.append(f"if {draw(tests())}:")
            lines += _indented(draw(blocks(depth - 1, loop, lists)))
            if draw(st.booleans()):
                lines.append("else:")
                lines += _indented(draw(blocks(depth - 1, loop, lists)))
        elif kind == 6:
            lines.append(f"for {draw(st.sampled_from(NAMES))} in range({draw(st.integers(0, 4))}):")
            lines += _indented(draw(blocks(depth - 1, True, lists)))
            if draw(st.integers(0, 3)) == 0:
                lines += ["else:", *_indented(draw(blocks(depth - 1, loop, lists)))]
        elif kind == 7:
            name = f"t{draw(st.integers(0, 10 ** 6))}"
            lines += [f"{name} = 0", f"while {name} < {draw(st.integers(0, 4))} and {draw(tests(1))}:", f"    {name} += 1"]
            lines += _indented(draw(blocks(depth - 1, True, lists)))
        elif kind == 8 and loop:
            lines += [f"if {draw(tests(1))}:", f"    {draw(st.sampled_from(['break', 'continue']))}"]
        elif kind == 9:
            lines += [f"if {draw(tests(1))}:", f"    return {draw(expressions(1))}"]
        if lists and draw(st.integers(0, 3)) == 0:
            lines.append(f"out.append({draw(expressions(1))})")
    return lines or ["pass"]


@st.composite
def functions(draw: Any, depth: int = 3, lists: bool = True) -> str:
    """Text of `def f(a, b, c, d)`, which returns a number or a tuple."""
    lines = ["out = []"] if lists else []
    lines += draw(blocks(depth, False, lists))
    lines.append(f"return ({', '.join([*NAMES, *(['out'] if lists else [])])},)" if lists else f"return {draw(expressions(1))}")
    return "\n".join(["def f(a, b, c, d):", *_indented(lines)]) + "\n"
