"""Lowering of jumps: `break`, `continue` and early `return` become flags.

What follows a jump moves into the other branch where that says the same,

    if c:                       if c:
        return a                    result = a
    b = ...            ->       else:
    return b                        b = ...
                                    result = b
                                return result

and is guarded by flags otherwise. A flag that nothing reads is left out. Loops are told which flags end them (`node.stops`).
What has to stay as it is (`names.is_plain`) keeps its jumps.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import NamedTuple

from wherry_graph.jit.convert.names import LOOPS, SCOPES, is_plain

__all__ = ["GO_ON", "Lowered", "lower_jumps"]

GO_ON = "go_on"  # of the run time: is none of the flags set?


class Lowered(NamedTuple):
    """The result of lowering a function."""

    plain: set[int]  # ids of ifs and loops that are not changed
    flags: set[str]  # names that were added
    result: str | None  # name of the variable that holds what the function returns


class _Loop(NamedTuple):
    ended: str
    skipped: str


def lower_jumps(function: ast.FunctionDef, fresh: Callable[[str], str], runtime: str, native: bool) -> Lowered:
    """Rewrite the body of a function in place.

    Args:
        function: of it only this body, not the functions inside.
        fresh: makes a name that is not used from one that is wanted.
        runtime: the name under which the code finds `convert.runtime`.
        native: does it keep its returns (it is a generator)?
    """
    return _Lowering(function, fresh, runtime, native).done


class _Lowering:
    def __init__(self, function: ast.FunctionDef, fresh: Callable[[str], str], runtime: str, native: bool) -> None:
        self.fresh = fresh
        self.runtime = runtime
        self.plain: set[int] = set()
        self.flags: set[str] = set()
        self.needed: set[str] = set()
        self.returned = self.result = ""
        body = function.body
        if not native and any(
            "return" in self._jumps([s], None) for s in body if isinstance(s, (ast.If, ast.With, ast.Try, ast.TryStar, ast.Match, *LOOPS))
        ):
            self.returned, self.result = fresh("returned"), fresh("result")
            end = body[-1]
            if not _ends(body):
                body = [*body, _at(ast.Return(value=_at(ast.Constant(None), end)), end)]
            first = int(_is_docstring(body[0]))
            body = [*body[:first], _assign(self.returned, False, body[0]), *self._block(body[first:], None, False)]
            body.append(_at(ast.Return(value=_name(self.result, end)), end))
            self.flags.add(self.returned)
            self.flags.add(self.result)
        else:
            body = self._block(body, None, True)
        function.body = _without_idle(body, self.flags - self.needed - {self.result})
        self.done = Lowered(self.plain, self.flags, self.result or None)

    def _block(self, stmts: list[ast.stmt], loop: _Loop | None, native: bool) -> list[ast.stmt]:
        """`loop` is the one around, None if there is none or it stays plain; `native`: returns stay."""
        out: list[ast.stmt] = []
        for i, s in enumerate(stmts):
            rest = stmts[i + 1:]
            if isinstance(s, ast.Return) and not native:
                value = s.value if s.value is not None else _at(ast.Constant(None), s)
                out.append(_at(ast.Assign(targets=[_name(self.result, s, ast.Store())], value=value), s))
                return [*out, _assign(self.returned, True, s)]
            if isinstance(s, ast.Break) and loop is not None:
                return [*out, _assign(loop.ended, True, s)]
            if isinstance(s, ast.Continue) and loop is not None:
                return [*out, _assign(loop.skipped, True, s)]
            jumps = self._flags(self._jumps([s], loop), loop, native)
            if isinstance(s, ast.If):
                if self._stays(s, loop, native):
                    self.plain.add(id(s))
                    s.body, s.orelse = self._block(s.body, None, True), self._block(s.orelse, None, True)
                    out.append(s)
                    continue
                if jumps and rest:
                    body_ends, else_ends = _ends(s.body), _ends(s.orelse)
                    if body_ends and else_ends:
                        rest = []
                    elif body_ends:
                        s.orelse, rest = [*s.orelse, *rest], []
                    elif else_ends:
                        s.body, rest = [*s.body, *rest], []
                s.body, s.orelse = self._block(s.body, loop, native), self._block(s.orelse, loop, native)
                out.append(s)
            elif isinstance(s, LOOPS):
                out += self._loop(s, loop, native)
            else:
                self._inside(s, loop, native)
                out.append(s)
            if jumps:
                return [*out, self._guard(jumps, self._block(rest, loop, native), rest[0])] if rest else out
        return out

    def _loop(self, s: ast.For | ast.While, outer: _Loop | None, native: bool) -> list[ast.stmt]:
        if self._stays(s, outer, native):
            self.plain.add(id(s))
            s.body, s.orelse = self._block(s.body, None, True), self._block(s.orelse, None, True)
            return [s]
        loop = _Loop(self.fresh("ended"), self.fresh("skipped"))
        jumps = self._jumps(s.body, loop)
        stops = self._flags(jumps - {"continue"}, loop, native)
        self.flags.update(loop)
        self.needed.update(stops)
        s.body = self._block(s.body, loop, native)
        if loop.skipped in self.needed:
            s.body.insert(0, _assign(loop.skipped, False, s))
        orelse, s.orelse = self._block(s.orelse, outer, native), []
        s.stops = stops  # type: ignore[union-attr]
        out: list[ast.stmt] = [_assign(loop.ended, False, s)] if loop.ended in stops else []
        out.append(s)
        if orelse:
            out += [self._guard(stops, orelse, orelse[0])] if stops else orelse
        return out

    def _inside(self, s: ast.stmt, loop: _Loop | None, native: bool) -> None:
        """Statements that hold others and run them in place."""
        if isinstance(s, (ast.With, ast.AsyncWith)):
            s.body = self._block(s.body, loop, native)
        elif isinstance(s, (ast.Try, ast.TryStar)):
            if is_plain(s):
                loop, native = None, True
            flags = self._flags(self._jumps(s.body, loop), loop, native)
            s.body = self._block(s.body, loop, native)
            orelse = self._block(s.orelse, loop, native)
            s.orelse = [self._guard(flags, orelse, orelse[0])] if flags and orelse else orelse
            for h in s.handlers:
                h.body = self._block(h.body, loop, native)
            s.finalbody = self._block(s.finalbody, loop, native)
        elif isinstance(s, ast.Match):
            for case in s.cases:
                case.body = self._block(case.body, loop, native)
        elif isinstance(s, ast.AsyncFor):
            s.body, s.orelse = self._block(s.body, None, True), self._block(s.orelse, None, True)

    def _stays(self, s: ast.If | ast.For | ast.While, loop: _Loop | None, native: bool) -> bool:
        if is_plain(s):
            return True
        jumps = self._jumps([s], loop)
        return (native and "return" in jumps) or (loop is None and bool(jumps & {"break", "continue"}))

    def _jumps(self, stmts: Iterable[ast.stmt], loop: _Loop | None) -> set[str]:
        """The kinds of jumps by which the statements may be left."""
        found: set[str] = set()
        todo: list[tuple[ast.AST, bool]] = [(s, False) for s in stmts]
        while todo:
            node, inner = todo.pop()
            if isinstance(node, ast.Return):
                found.add("return")
            elif isinstance(node, ast.Break) and not inner:
                found.add("break")
            elif isinstance(node, ast.Continue) and not inner:
                found.add("continue")
            elif isinstance(node, (*SCOPES, ast.expr)):
                continue
            elif isinstance(node, (*LOOPS, ast.AsyncFor)):
                todo += [(c, True) for c in node.body] + [(c, inner) for c in node.orelse]
            else:
                todo += [(c, inner) for c in ast.iter_child_nodes(node)]
        return found

    def _flags(self, jumps: set[str], loop: _Loop | None, native: bool) -> list[str]:
        flags = [] if native or "return" not in jumps else [self.returned]
        if loop is not None:
            flags += [loop.ended] if "break" in jumps else []
            flags += [loop.skipped] if "continue" in jumps else []
        return flags

    def _guard(self, flags: list[str], stmts: list[ast.stmt], where: ast.stmt) -> ast.stmt:
        """`stmts`, if no flag is set."""
        self.needed.update(flags)
        test = ast.Call(
            func=ast.Attribute(value=_name(self.runtime, where), attr=GO_ON, ctx=ast.Load()), args=[_name(f, where) for f in flags], keywords=[]
        )
        test.ours = True  # type: ignore[attr-defined]
        return _at(ast.If(test=test, body=stmts or [_at(ast.Pass(), where)], orelse=[]), where)


def _is_docstring(s: ast.stmt) -> bool:
    return isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, str)


def _ends(stmts: list[ast.stmt]) -> bool:
    """Whether control never reaches the end of the list."""
    if not stmts:
        return False
    s = stmts[-1]
    if isinstance(s, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
        return True
    if isinstance(s, ast.If):
        return _ends(s.body) and _ends(s.orelse)
    return False


def _without_idle(stmts: list[ast.stmt], idle: set[str]) -> list[ast.stmt]:
    """The statements without those that set a flag which nothing reads."""

    class Sweep(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
            t = node.targets[0]
            return None if isinstance(t, ast.Name) and t.id in idle else node

        def generic_visit(self, node: ast.AST) -> ast.AST:
            if isinstance(node, (*SCOPES, ast.expr)):
                return node
            super().generic_visit(node)
            if isinstance(getattr(node, "body", None), list) and not node.body:  # type: ignore[attr-defined]
                node.body = [_at(ast.Pass(), node)]  # type: ignore[attr-defined]
            return node

    holder = ast.Module(body=stmts, type_ignores=[])
    Sweep().visit(holder)
    return holder.body


def _assign(name: str, value: bool, where: ast.AST) -> ast.stmt:
    return _at(ast.Assign(targets=[_name(name, where, ast.Store())], value=_at(ast.Constant(value), where)), where)


def _name(name: str, where: ast.AST, ctx: ast.expr_context | None = None) -> ast.expr:
    return _at(ast.Name(id=name, ctx=ctx or ast.Load()), where)


def _at(node, where):  # type: ignore[no-untyped-def]  # what it is given
    return ast.fix_missing_locations(ast.copy_location(node, where))
