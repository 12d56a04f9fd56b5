"""The transformation of functions: `if`, loops, tests and calls become calls of the run time.

    if x.sum() > 0:                      def if_1():
        y = x                                nonlocal y
    else:                                    y = x
        y = -x                           def else_1():
                                             nonlocal y
                                             y = -x
                                         _graph.if_(_graph.compare(_graph.call(x.sum)(), ">", 0), if_1, else_1, ("y",), ())

Nothing is decided here: at run time a predicate that is not symbolic runs as Python always does (`runtime`). The names in the
calls are those that the construct binds and that are needed after it, and those of lists, dicts and tensors that it changes in
place. Code keeps its lines and columns.
"""
from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from wherry_graph.jit.convert.jumps import lower_jumps
from wherry_graph.jit.convert.names import (
    Liveness,
    assigned,
    attribute_paths,
    bound_by_inner,
    captured,
    is_plain,
    same_scope,
    touched,
)

__all__ = ["RUNTIME", "Refused", "transformed"]

RUNTIME = "_graph"  # the name of the run time in converted code
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_SEES_LOCALS = {"locals", "eval", "exec", "vars", "dir"}  # look at the frame that calls them


class Refused(Exception):
    """A function cannot be converted; the text says why."""


def transformed(node: Any, class_name: str | None, free: Iterable[str]) -> tuple[Any, str]:
    """Convert a function or lambda in place.

    Args:
        node: an ast.FunctionDef, AsyncFunctionDef or Lambda.
        class_name: of the class around it.
        free: names that it takes from functions around it.

    Returns:
        The node, and the name under which its code finds the run time.

    Raises:
        Refused: it looks at its own frame.
    """
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)} | set(free)
    runtime = RUNTIME
    while runtime in names:
        runtime += "_"
    return _Function(node, class_name, set(free), names, runtime, None).node, runtime


class _Function(ast.NodeTransformer):
    """Converts one function; those inside it get converters of their own."""

    def __init__(
        self, node: Any, class_name: str | None, free: set[str], names: set[str], runtime: str, outer: _Function | None
    ) -> None:
        self.class_name = class_name
        self.names = names
        self.runtime = runtime
        self.outer = outer
        self.count = 0
        for one in same_scope(node.body):
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in _SEES_LOCALS and not (
                one.args and one.func.id in ("vars", "dir")
            ):
                raise Refused(f"it calls {one.func.id}() at line {one.lineno}, which looks at the variables of the function itself")
        first = [*node.args.posonlyargs, *node.args.args]
        self.first = first[0].arg if first else None
        self.node = node
        if isinstance(node, ast.Lambda):
            self.free, self.globals, self.plain, self.own, self.flags = free, set(), set(), set(), set()
            self.inner = set()
            node.body = self.visit(node.body)
            return
        self.globals = {n for one in same_scope(node.body) if isinstance(one, ast.Global) for n in one.names}
        declared = {n for one in same_scope(node.body) if isinstance(one, ast.Nonlocal) for n in one.names}
        native = is_plain(ast.Module(node.body, [])) and any(  # type: ignore[arg-type]
            isinstance(one, (ast.Yield, ast.YieldFrom, ast.Await)) for one in same_scope(node.body)
        ) or isinstance(node, ast.AsyncFunctionDef)
        done = lower_jumps(node, self.fresh, runtime, native)
        self.plain, self.flags = done.plain, done.flags
        params = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        self.own = (assigned(node.body) | params) - self.globals - declared  # names that live in this function
        self.free = free | declared
        self.inner = bound_by_inner(node) & (self.own | self.free)
        self.live = Liveness(node, captured(node) | declared | self.globals | self.inner | (free - self.own))
        self.moved: set[str] = set()  # names that functions made here bind: they need a binding in this one
        node.body = self.stmts(node.body)
        unbound = sorted((self.moved & self.own) - params - assigned(node.body))
        declarations: list[ast.stmt] = [kind(sorted(names)) for kind, names in ((ast.Global, self.globals), (ast.Nonlocal, declared)) if names]
        self.put_first(declarations)
        if unbound:
            # Never runs: it makes the names belong to this function.
            binding = ast.Assign(targets=[ast.Name(n, ast.Store()) for n in unbound], value=ast.Constant(None))
            self.put_first([ast.If(ast.Constant(False), [binding], [])])

    def put_first(self, stmts: list[ast.stmt]) -> None:
        """Put statements in front, but after the docstring."""
        body = self.node.body
        docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str)
        body[int(docstring):int(docstring)] = [_at(s, body[0]) for s in stmts]

    # Names.

    def fresh(self, wanted: str) -> str:
        top = self
        while top.outer is not None:
            top = top.outer
        while True:
            top.count += 1
            name = f"{wanted}_{top.count}"
            if name not in self.names:
                self.names.add(name)
                return name

    def mangled(self, path: str) -> str:
        """The name as the compiler writes it: __x of a class C is _C__x."""
        if self.class_name is None or "__" not in path:
            return path
        kind = self.class_name.lstrip("_")
        return ".".join(f"_{kind}{p}" if kind and p.startswith("__") and not p.endswith("__") else p for p in path.split("."))

    # Functions that are made.

    def function(self, name: str, args: list[str], body: list[ast.stmt], where: ast.AST) -> ast.stmt:
        """A local function with the statements, which binds names where they were bound."""
        bound = assigned(body) - set(args)
        if any(isinstance(n, ast.Call) for n in same_scope(body)):
            bound |= self.inner  # the cells have to be found, though no line here binds them
        outer = sorted(n for n in bound if n in self.own or n in self.free)
        declared: list[ast.stmt] = []
        if outer:
            self.moved.update(outer)
            declared.append(ast.Nonlocal(outer))
        if bound & self.globals:
            declared.append(ast.Global(sorted(bound & self.globals)))
        made = ast.FunctionDef(name=name, args=_arguments(args), body=[*declared, *(body or [ast.Pass()])], decorator_list=[])
        made.made = True  # type: ignore[attr-defined]
        return _at(made, where)

    def state(self, stmts: list[ast.AST], live: set[str], read: Iterable[str] = ()) -> list[ast.expr]:
        """Two tuples of text: names that the statements bind; names whose values they change in place.

        `live` are the names that are needed after the statements; `read` those that are surely read next.
        """
        names = {n for n in assigned(stmts) if n in self.own or n in self.free or n in self.globals}
        bound = {n for n in names if n in live}
        if self.inner and any(isinstance(n, ast.Call) for n in same_scope(stmts)):
            bound |= self.inner
        bound |= attribute_paths(stmts)
        changed = touched(stmts)
        # "?": where one branch gives it no value, nobody reads it. "-": after the statements nobody needs it.
        texts = [f"{self.mangled(n)}{'' if n in read else '?'}" for n in sorted(bound)]
        texts += [f"{self.mangled(n)}-" for n in sorted(names - bound)]
        return [_texts(texts), _texts(sorted(map(self.mangled, changed)))]

    def run(self, name: str, args: list[ast.expr], where: ast.AST) -> Any:
        call = ast.Call(func=ast.Attribute(ast.Name(self.runtime, ast.Load()), name, ast.Load()), args=args, keywords=[])
        return _at(call, where)

    def thunk(self, value: ast.expr) -> ast.expr:
        return _at(ast.Lambda(_arguments([]), value), value)

    # Statements.

    def stmts(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in stmts:
            new = self.visit(s)
            out += new if isinstance(new, list) else [new]
        return out

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> Any:
        return []  # declared at the top

    visit_Nonlocal = visit_Global

    def visit_If(self, node: ast.If) -> Any:
        if id(node) in self.plain:
            node.test = self.truth(node.test)
            node.body, node.orelse = self.stmts(node.body), self.stmts(node.orelse)
            return node
        state = self.state([*node.body, *node.orelse], self.live.after(node), self.live.read_next(node))
        yes, no = self.fresh("if"), self.fresh("else")
        bodies = [self.function(yes, [], self.stmts(node.body), node), self.function(no, [], self.stmts(node.orelse), node)]
        return [*bodies, _statement(self.run("if_", [self.visit(node.test), _load(yes), _load(no), *state], node))]

    def visit_While(self, node: ast.While) -> Any:
        if id(node) in self.plain:
            node.test = self.truth(node.test)
            node.body, node.orelse = self.stmts(node.body), self.stmts(node.orelse)
            return node
        state = self.state([node.test, *node.body], self.live.after(node))
        test, body = self.fresh("test"), self.fresh("while")
        stops = self.stops(node)
        parts = [
            self.function(test, [], [_at(ast.Return(self.visit(node.test)), node.test)], node.test),
            self.function(body, [], self.stmts(node.body), node),
        ]
        return [*parts, _statement(self.run("while_", [_load(test), _load(body), *state, *stops], node))]

    def visit_For(self, node: ast.For) -> Any:
        if id(node) in self.plain:
            node.iter = self.run("iterated", [self.visit(node.iter)], node.iter)
            node.body, node.orelse = self.stmts(node.body), self.stmts(node.orelse)
            return node
        targets: list[ast.AST] = [node.target]
        state = self.state([*targets, *node.body], self.live.after(node))
        body, item = self.fresh("for"), self.fresh("item")
        stops = self.stops(node)
        first = _at(ast.Assign(targets=[self.visit(node.target)], value=_load(item)), node.target)
        made = self.function(body, [item], [first, *self.stmts(node.body)], node)
        return [made, _statement(self.run("for_", [self.visit(node.iter), _load(body), *state, *stops], node))]

    def stops(self, node: Any) -> list[ast.expr]:
        flags = node.stops
        return [self.thunk(_at(ast.Tuple([_load(f) for f in flags], ast.Load()), node))] if flags else []

    def truth(self, test: ast.expr) -> ast.expr:
        """A test that stays in a plain `if` or `while`: what is symbolic is refused with a reason."""
        return self.run("truth", [self.visit(test)], test)

    def visit_Assert(self, node: ast.Assert) -> Any:
        args = [self.visit(node.test)]
        if node.msg is not None:
            node.msg = self.visit(node.msg)
            if not _binds(node.msg):
                args.append(self.thunk(node.msg))
        node.test = self.run("assertion", args, node)
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [None if d is None else self.visit(d) for d in node.args.kw_defaults]
        return _Function(node, self.class_name, self.own | self.free, self.names, self.runtime, self).node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [None if d is None else self.visit(d) for d in node.args.kw_defaults]
        return _Function(node, self.class_name, self.own | self.free, self.names, self.runtime, self).node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node  # its methods are converted when they are called

    # Expressions.

    def visit_Call(self, node: ast.Call) -> Any:
        if getattr(node, "ours", False):
            return node
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            if not node.args and not node.keywords and self.first is not None:
                node.args = [_load("__class__", node), _load(self.first, node)]
            return self.generic_visit(node)
        self.generic_visit(node)
        node.func = self.run("call", [node.func], node.func)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        if any(_binds(v) for v in node.values[1:]):
            node.values = [self.truth_value(v) for v in node.values]
            return node
        self.generic_visit(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return self.run(name, [node.values[0], *map(self.thunk, node.values[1:])], node)

    def truth_value(self, value: ast.expr) -> ast.expr:
        return self.run("decided", [self.visit(value)], value)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return self.run("not_", [node.operand], node) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        if _binds(node.body) or _binds(node.orelse):
            node.test, node.body, node.orelse = self.truth(node.test), self.visit(node.body), self.visit(node.orelse)
            return node
        self.generic_visit(node)
        return self.run("choose", [node.test, self.thunk(node.body), self.thunk(node.orelse)], node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        ops = [_COMPARED.get(type(op)) for op in node.ops]
        values = [node.left, *node.comparators]
        if len(ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)) and isinstance(values[1], ast.Constant) and values[1].value is None:
            self.generic_visit(node)
            test = self.run("is_none", [node.left], node)
            return test if isinstance(node.ops[0], ast.Is) else self.run("not_", [test], node)
        if None in ops:
            return self.generic_visit(node)
        if len(ops) == 1:
            if any(isinstance(v, (ast.Constant, ast.JoinedStr)) and not isinstance(getattr(v, "value", None), (int, float)) for v in values):
                return self.generic_visit(node)  # with text or None
        elif any(_binds(v) for v in values[2:]):
            return self.generic_visit(node)
        self.generic_visit(node)
        args = [node.left, _at(ast.Constant(ops[0]), node), node.comparators[0]]
        for op, value in zip(ops[1:], node.comparators[1:], strict=True):
            args += [_at(ast.Constant(op), node), self.thunk(value)]
        return self.run("compare", args, node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return node  # what is formatted is shown, not computed; its columns are not columns of the file before 3.12


def _binds(value: ast.expr) -> bool:
    """Whether it binds names, or yields, so that it cannot move into a lambda."""
    return any(isinstance(n, (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)) for n in same_scope(value))


def _arguments(names: list[str]) -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[ast.arg(n) for n in names], kwonlyargs=[], kw_defaults=[], defaults=[])


def _texts(names: list[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(n) for n in names], ast.Load())


def _load(name: str, where: ast.AST | None = None) -> Any:
    node = ast.Name(name, ast.Load())
    return node if where is None else _at(node, where)


def _statement(call: ast.expr) -> ast.stmt:
    return _at(ast.Expr(call), call)


def _at(node: Any, where: ast.AST) -> Any:
    return ast.fix_missing_locations(ast.copy_location(node, where))
