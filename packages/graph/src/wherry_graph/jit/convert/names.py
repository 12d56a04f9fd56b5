"""Name analysis: which names a piece of a function binds, changes in place, and needs later."""
from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

__all__ = ["Liveness", "assigned", "attribute_paths", "bound_by_inner", "captured", "is_plain", "same_scope", "touched"]

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.While)
MUTATORS = frozenset("append extend insert pop remove clear update setdefault popitem add discard sort reverse".split())


def same_scope(nodes: ast.AST | Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes and all below them, without the bodies of functions and classes in them."""
    todo = [nodes] if isinstance(nodes, ast.AST) else list(nodes)
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            todo += [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        elif isinstance(node, ast.Lambda):
            todo += [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        elif isinstance(node, ast.ClassDef):
            todo += [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]
        else:
            todo += ast.iter_child_nodes(node)


def assigned(nodes: ast.AST | Iterable[ast.AST]) -> set[str]:
    """The names that the nodes bind in the scope of their function."""
    names: set[str] = set()
    todo = [nodes] if isinstance(nodes, ast.AST) else list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            todo += node.decorator_list
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, COMPREHENSIONS):  # of its own names nothing is seen outside, of a walrus in it the name is
            names.update(one.target.id for one in ast.walk(node) if isinstance(one, ast.NamedExpr))
        else:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names.update((a.asname or a.name).partition(".")[0] for a in node.names)
            elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
                names.add(node.name)
            elif isinstance(node, ast.MatchMapping) and node.rest:
                names.add(node.rest)
            todo += ast.iter_child_nodes(node)
    return names


def attribute_paths(nodes: Iterable[ast.AST]) -> set[str]:
    """Attributes of names that the nodes assign to, as "self.count"."""
    found = set()
    for node in same_scope(nodes):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            path = _path(node)
            if path:
                found.add(path)
    return found


def touched(nodes: Iterable[ast.AST]) -> set[str]:
    """Names, and attributes of names, whose lists, dicts or tensors the nodes change in place: `a.append(x)`, `d[k] = x`,
    `d[k].append(x)`, `array_write(x, i, a)`."""
    found = set()
    for node in same_scope(nodes):
        target = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name in MUTATORS or (name.endswith("_") and not name.endswith("__")):
                target = node.func.value
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "array_write":
            target = next((one.value for one in node.keywords if one.arg == "array"), node.args[2] if len(node.args) > 2 else None)
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            target = node.value
        while isinstance(target, ast.Subscript):
            target = target.value
        if target is not None and (path := _path(target)):
            found.add(path)
    return found


def _path(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _path(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def captured(function: ast.AST) -> set[str]:
    """Names that functions, lambdas, generators and classes inside of the function refer to: they may be needed at any time."""
    found: set[str] = set()
    for node in ast.walk(function):
        if node is not function and isinstance(node, (*SCOPES, ast.GeneratorExp)):
            found.update(one.id for one in ast.walk(node) if isinstance(one, ast.Name))
    return found


def bound_by_inner(function: ast.AST) -> set[str]:
    """Names that functions inside of the function bind by `nonlocal`: a call may change them."""
    return {
        name
        for node in ast.walk(function) if node is not function and isinstance(node, SCOPES)
        for inner in ast.walk(node) if isinstance(inner, ast.Nonlocal)
        for name in inner.names
    }


def is_plain(node: ast.stmt | ast.expr) -> bool:
    """Whether the construct cannot be converted: code that yields, awaits or jumps out of `finally` cannot move to a function."""
    for one in same_scope(node):
        if isinstance(one, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)):
            return True
        if isinstance(one, (ast.Try, ast.TryStar)):
            if any(isinstance(inner, (ast.Return, ast.Break, ast.Continue)) for inner in same_scope(one.finalbody)):
                return True
            if isinstance(one, ast.TryStar) and any(isinstance(i, (ast.Return, ast.Break, ast.Continue)) for i in same_scope(one.body)):
                return True
        if isinstance(one, COMPREHENSIONS) and any(g.is_async for g in one.generators):
            return True
    return False


class Liveness:
    """Which names are needed after each `if` and loop of a function, and when a loop begins anew.

    Args:
        function: as it stands after jumps were lowered.
        always: names that count as needed everywhere.
    """

    def __init__(self, function: ast.FunctionDef, always: set[str]) -> None:
        self._always = always
        self._after: dict[int, set[str]] = {}
        self._read_next: dict[int, set[str]] = {}
        self._block(function.body, set(), None)

    def after(self, node: ast.stmt) -> set[str]:
        """Names needed after an `if`; of a loop, those needed after it or when it goes on."""
        return self._after.get(id(node), set()) | self._always

    def read_next(self, node: ast.stmt) -> set[str]:
        """Names that what stands after an `if` reads in any case: they need a value from both branches."""
        return self._read_next.get(id(node), set())

    def _block(self, stmts: list[ast.stmt], out: set[str], loop: tuple[set[str], set[str]] | None) -> set[str]:
        live = set(out)
        for i, stmt in enumerate(stmts):
            if isinstance(stmt, ast.If):
                self._read_next[id(stmt)] = _surely_read(stmts[i + 1:])
        for stmt in reversed(stmts):
            live = self._stmt(stmt, live, loop)
        return live

    def _note(self, node: ast.stmt, live: set[str]) -> None:
        self._after.setdefault(id(node), set()).update(live, self._always)

    def _stmt(self, s: ast.stmt, out: set[str], loop: tuple[set[str], set[str]] | None) -> set[str]:
        if isinstance(s, ast.If):
            self._note(s, out)
            return _used(s.test) | self._block(s.body, out, loop) | self._block(s.orelse, out, loop)
        if isinstance(s, (ast.While, ast.For, ast.AsyncFor)):
            return self._loop(s, out, loop)
        if isinstance(s, (ast.Try, ast.TryStar)):
            behind = self._block(s.finalbody, out, loop) if s.finalbody else out
            handled = set(behind)
            for h in s.handlers:
                handled |= (_used(h.type) if h.type else set()) | self._block(h.body, behind, loop)
            before, self._always = self._always, self._always | handled  # an error may come from anywhere in the body
            live = self._block([*s.body, *s.orelse], behind, loop)
            self._always = before
            return live | handled
        if isinstance(s, (ast.With, ast.AsyncWith)):
            live = self._block(s.body, out, loop) - assigned([i.optional_vars for i in s.items if i.optional_vars])
            return live | set().union(*(_used(i.context_expr) for i in s.items), *(_used(i.optional_vars) for i in s.items if i.optional_vars))
        if isinstance(s, ast.Match):
            live = _used(s.subject) | out
            for case in s.cases:
                live |= self._block(case.body, out, loop) | _used(case.pattern) | (_used(case.guard) if case.guard else set())
            return live
        if isinstance(s, (ast.Return, ast.Raise)):
            return set().union(*(_used(n) for n in ast.iter_child_nodes(s)))
        if isinstance(s, ast.Break):
            return set(loop[0]) if loop else out
        if isinstance(s, ast.Continue):
            return set(loop[1]) if loop else out
        if isinstance(s, (ast.Assign, ast.AnnAssign)):
            return (out - _surely(s)) | _used(s)
        return out | _used(s)

    def _loop(self, s: ast.While | ast.For | ast.AsyncFor, out: set[str], outer: tuple[set[str], set[str]] | None) -> set[str]:
        behind = self._block(s.orelse, out, outer) | out
        head = behind | (_used(s.test) if isinstance(s, ast.While) else set()) | set(getattr(s, "stops", ()))
        targets = set() if isinstance(s, ast.While) else assigned(s.target)
        while True:
            fresh = head | (self._block(s.body, head, (behind, head)) - targets)
            if not isinstance(s, ast.While):
                fresh |= _used(s.target)
            if fresh == head:
                break
            head = fresh
        self._note(s, head)
        return head if isinstance(s, ast.While) else head | _used(s.iter)


def _surely_read(stmts: list[ast.stmt]) -> set[str]:
    """Names that the statements read, one after the other, before they are bound again."""
    found: set[str] = set()
    bound: set[str] = set()
    for s in stmts:
        test = getattr(s, "test", None) or getattr(s, "iter", None) or getattr(s, "subject", None)
        parts = [test] if test is not None else [i.context_expr for i in getattr(s, "items", ())] if hasattr(s, "body") else [s]
        for part in parts:
            found |= {n.id for n in same_scope(part) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} - bound
        bound |= assigned(s)
        if isinstance(s, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            break
    return found


def _used(node: ast.AST) -> set[str]:
    """Names that are read, in functions inside too."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Load, ast.Del))}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return found


def _surely(s: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = s.targets if isinstance(s, ast.Assign) else [s.target] if s.value is not None else []
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
