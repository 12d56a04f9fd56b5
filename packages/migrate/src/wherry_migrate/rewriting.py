"""Rewrites names, arguments and imports of a program by a table: what both converters share.

The program is a LibCST tree, so comments and layout stay. A name is looked up by what it was imported as: `fluid.layers.relu`,
`layers.relu` and `relu` are one name when the imports say so.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import PositionProvider, QualifiedNameProvider, QualifiedNameSource

if importlib.util.find_spec("libcst.native") is None:  # in a browser tab there is LibCST's parser in Python, for the language up to 3.8
    os.environ.setdefault("LIBCST_PARSER_TYPE", "pure")


@dataclass(frozen=True)
class Rule:
    """What becomes of one name.

    Args:
        new: its new name in full; None: there is none, `note` says what to do.
        positional: the old names of the arguments, in their old order. Without them positional arguments stay as they are.
        rename: old name of an argument -> new one; None drops the argument. Others keep their names.
        silent: arguments that are dropped without a word when they have one of these texts, and named otherwise.
        add: arguments that the old function did not need.
        note: a warning for every use.
        values: argument -> what becomes of its expression: its new code.
        unsure: the name is not rewritten; `note` says why.
        first_moves: the first argument is not the first in the new function, so it is named.
    """

    new: str | None
    positional: tuple[str, ...] = ()
    rename: Mapping[str, str | None] = field(default_factory=dict)
    silent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    add: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    values: Mapping[str, Callable[[cst.BaseExpression], cst.BaseExpression]] = field(default_factory=dict)
    unsure: bool = False
    first_moves: bool = False


@dataclass(frozen=True, order=True)
class Warning_:
    """Something that a person has to look at: a line of the old program, and what about it."""

    line: int
    text: str


@dataclass(frozen=True)
class Result:
    """A rewritten program.

    Args:
        before, after: the sources.
        warnings: what could not be rewritten, by line of `before`.
        matched: (line, old name, new name) of all that was.
    """

    before: str
    after: str
    warnings: tuple[Warning_, ...]
    matched: tuple[tuple[int, str, str], ...] = ()

    def diff(self, name: str = "program.py") -> str:
        """As `diff -u` writes it; empty where nothing changes."""
        lines = difflib.unified_diff(self.before.splitlines(keepends=True), self.after.splitlines(keepends=True), name, f"{name} (rewritten)")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def tree_of(source: str, what: str) -> cst.Module:
    """The tree of a program.

    Raises:
        SyntaxError: it is not Python 3.
    """
    if not isinstance(source, str):
        raise TypeError(f"{what}: a program is text. Got {type(source).__name__}, expected str. Read the file first.")
    try:
        return cst.parse_module(source)
    except cst.ParserSyntaxError as error:
        raise SyntaxError(
            f"{what}: this is not Python 3: {error.message} Line {error.raw_line}. Programs of Python 2 go through 2to3 first."
        ) from None


def parsed(spec: str) -> tuple[tuple[str, ...], dict[str, str | None], dict[str, tuple[str, ...]]]:
    """(positional names, renames, texts with which a dropped argument does not matter) of a row of a table.

    `old > new` renames, `old` alone keeps its name, `old >` is dropped; after ` = ` stand the texts with which dropping it changes nothing.
    """
    positional, rename, silent = [], {}, {}
    for part in spec.split(", "):
        text, _, harmless = part.partition(" = ")
        old, arrow, new = text.partition(" >")
        positional.append(old.strip())
        if arrow:
            rename[old.strip()] = new.strip() or None
        if harmless:
            silent[old.strip()] = tuple(harmless.split())
    return tuple(positional), rename, silent


def dotted(name: str) -> cst.Attribute | cst.Name:
    """`a.b.c` as an expression."""
    return cst.ensure_type(cst.parse_expression(name), cst.Attribute) if "." in name else cst.Name(name)


class Rewriter(cst.CSTTransformer):
    """Names, arguments and imports by rules.

    Args:
        root: module whose names are looked up: "paddle.fluid", "torch".
        rule_of: the rule of a full name, or None.
    """

    METADATA_DEPENDENCIES = (PositionProvider, QualifiedNameProvider)

    def __init__(self, roots: Sequence[str], rule_of: Callable[[str], Rule | None], steps: frozenset[str] | None = None) -> None:
        super().__init__()
        self.roots = tuple(roots)
        self.rule_of = rule_of
        self.steps = steps
        self.warnings: list[Warning_] = []
        self.matched: list[tuple[int, str, str]] = []
        self.left: set[str] = set()  # full names that stay as they were: their imports stay too
        self._inner: set[int] = set()  # `torch.nn` of `torch.nn.Linear`
        self.made: set[str] = set()  # full new names

    def does(self, step: str) -> bool:
        return self.steps is None or step in self.steps

    # Names

    def full_name(self, node: cst.CSTNode) -> str | None:
        """`paddle.fluid.layers.relu` of `fluid.layers.relu`; None for what no import of the roots made."""
        if not is_dotted(node):
            return None
        for found in self.get_metadata(QualifiedNameProvider, node, ()):  # type: ignore[call-overload]
            if found.source is QualifiedNameSource.IMPORT and self.inside(found.name):
                return self.normal(found.name)
        return None

    def inside(self, name: str) -> bool:
        return any(name == root or name.startswith(f"{root}.") for root in self.roots)

    def normal(self, name: str) -> str:
        """One of several spellings of a name."""
        return name

    def line(self, node: cst.CSTNode) -> int:
        return self.get_metadata(PositionProvider, node).start.line

    def warn(self, node: cst.CSTNode, text: str) -> None:
        self.warnings.append(Warning_(self.line(node), text))

    def shown(self, new: str) -> str:
        """How a new name is written: by default in full."""
        return new

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self._inner.add(id(node.value))

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return self._renamed(original_node, updated_node)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._renamed(original_node, updated_node)

    def _renamed(self, original: cst.Attribute | cst.Name, updated: cst.BaseExpression) -> cst.BaseExpression:
        name = None if self._importing else self.full_name(original)
        if name is None:
            return updated
        rule = self.rule_of(name)
        if rule is None:
            if id(original) not in self._inner and not self.is_led(name):
                self.left.add(name)
                if self.worth_a_word(name):
                    self.warn(original, f"{name}: is not in the table of names; it has to be rewritten by hand")
            return updated
        if rule.note:
            self.warn(original, f"{name}: {rule.note}")
        if rule.new is None or rule.unsure or not self.does("api_rename"):
            self.left.add(name)
            return updated
        self.matched.append((self.line(original), name, rule.new))
        self.made.add(rule.new)
        return dotted(self.shown(rule.new))

    def is_led(self, name: str) -> bool:
        """Whether the imports make a name mean the new thing."""
        return False

    def worth_a_word(self, name: str) -> bool:
        """Whether a name without a rule is named in the warnings."""
        return True

    # Arguments

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        name = self.full_name(original_node.func)
        rule = self.rule_of(name) if name else None
        if name is None or rule is None or rule.new is None or rule.unsure:
            return updated_node
        return self.finish_call(
            original_node, updated_node.with_changes(args=self.arguments(original_node, updated_node.args, rule, name)), rule, name
        )

    def finish_call(self, original: cst.Call, updated: cst.Call, rule: Rule, name: str) -> cst.BaseExpression:
        """For what a converter does beyond names and arguments."""
        return updated

    def arguments(self, call: cst.Call, arguments: Sequence[cst.Arg], rule: Rule, name: str) -> list[cst.Arg]:
        """The arguments under their new names."""
        changed = bool(rule.rename or rule.add or rule.values)
        if not changed:
            return list(arguments)
        if any(argument.star for argument in arguments):
            self.warn(call, f"{name}: its arguments come as * or **, so their names were not changed")
            return list(arguments)
        found = []
        if (
            len(arguments) > len(rule.positional)
            and any(argument.keyword is None for argument in arguments[len(rule.positional) :])
            and rule.positional
        ):
            self.warn(call, f"{name}: more arguments than it has, {', '.join(rule.positional)}")
            return list(arguments)
        # What keeps its place and name at the front stays positional.
        for at, argument in enumerate(arguments):
            keyword = argument.keyword.value if argument.keyword else None
            if keyword is None and self.does("args_to_kwargs") and at < len(rule.positional):
                keyword = rule.positional[at]
            if keyword is None:
                found.append(argument)
                continue
            if not self.does("refactor_kwargs"):
                found.append(named(keyword, argument.value))
                continue
            new = rule.rename.get(keyword, keyword)
            if new is None:
                if cst.Module([]).code_for_node(argument.value).strip() not in rule.silent.get(keyword, ()) and keyword != "name":
                    self.warn(call, f"{name}: the argument {keyword} was dropped, its successor has none")
                continue
            value = rule.values[keyword](argument.value) if keyword in rule.values else argument.value
            found.append(
                argument.with_changes(value=value)
                if argument.keyword is None and at == 0 and not found and self.stays_first(rule, keyword)
                else named(new, value)
            )
        present = {argument.keyword.value for argument in found if argument.keyword}
        found += [named(key, cst.parse_expression(value)) for key, value in rule.add.items() if key not in present]
        return (
            [
                argument.with_changes(
                    comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")) if at < len(found) - 1 else cst.MaybeSentinel.DEFAULT
                )
                for at, argument in enumerate(found)
            ]
            if all(simple(argument) for argument in arguments)
            else with_commas(found, arguments)
        )

    @staticmethod
    def stays_first(rule: Rule, keyword: str) -> bool:
        """Whether the first argument is first in the new function too."""
        return rule.positional[:1] == (keyword,) and not rule.first_moves

    # Imports

    _importing = False

    def visit_Import(self, node: cst.Import) -> None:
        self._importing = True

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
        self._importing = True

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import:
        self._importing = False
        return updated_node

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        self._importing = False
        return updated_node


def is_dotted(node: cst.CSTNode) -> bool:
    """Whether a node is a name, or names with dots between: not an attribute of what a call gave."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


class Marker(cst.CSTTransformer):
    """Writes warnings as comments above the statements that they are about.

    Args:
        warnings: by line of the module that is visited.
        word: what each comment begins with.
    """

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, warnings: Sequence[Warning_], word: str) -> None:
        super().__init__()
        self.warnings, self.word = list(warnings), word

    def _marked(self, original: cst.CSTNode, updated, last: int | None = None):  # type: ignore[no-untyped-def]
        place = self.get_metadata(PositionProvider, original)
        mine = [one for one in self.warnings if place.start.line <= one.line <= (last or place.end.line)]
        self.warnings = [one for one in self.warnings if one not in mine]
        comments = [cst.EmptyLine(comment=cst.Comment(f"# {self.word}: {one.text}")) for one in mine]
        return updated.with_changes(leading_lines=[*updated.leading_lines, *comments]) if comments else updated

    def leave_SimpleStatementLine(self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine) -> cst.SimpleStatementLine:
        return self._marked(original_node, updated_node)  # type: ignore[no-any-return]

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.For:
        return self._marked(original_node, updated_node)  # type: ignore[no-any-return]

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.If:
        return (
            updated_node
            if isinstance(updated_node, cst.If) and not hasattr(updated_node, "leading_lines")
            else self._marked(original_node, updated_node)
        )  # type: ignore[no-any-return]

    def leave_With(self, original_node: cst.With, updated_node: cst.With) -> cst.With:
        return self._marked(original_node, updated_node)  # type: ignore[no-any-return]

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        return self._marked(original_node, updated_node)  # type: ignore[no-any-return]

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:
        return self._marked(original_node, updated_node)  # type: ignore[no-any-return]


def simple(argument: cst.Arg) -> bool:
    """Whether nothing but a space stands after its comma: no line break, no comment."""
    comma = argument.comma
    return not isinstance(comma, cst.Comma) or isinstance(comma.whitespace_after, cst.SimpleWhitespace)


def with_commas(found: list[cst.Arg], before: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Arguments on lines of their own keep their line breaks, by position."""
    commas = [argument.comma for argument in before if isinstance(argument.comma, cst.Comma)]
    usual: cst.Comma = commas[0] if commas else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return [
        argument.with_changes(
            comma=commas[at] if at < len(commas) and at < len(found) - 1 else usual if at < len(found) - 1 else cst.MaybeSentinel.DEFAULT
        )
        for at, argument in enumerate(found)
    ]


def named(keyword: str, value: cst.BaseExpression) -> cst.Arg:
    """`keyword=value`"""
    none = cst.SimpleWhitespace("")
    return cst.Arg(value, cst.Name(keyword), equal=cst.AssignEqual(none, none))


def module_name(node: cst.BaseExpression | None) -> str:
    return cst.Module([]).code_for_node(node) if node else ""


class Imports(cst.CSTTransformer):
    """Takes imports of the old modules away where nothing needs them any more, or leads them to the new ones.

    Args:
        roots: the old modules.
        left: full names that are still used.
        modules: old module -> new one, for `import torch.nn as nn`.
    """

    def __init__(self, roots: Sequence[str], left: set[str], modules: Mapping[str, str]) -> None:
        super().__init__()
        self.roots, self.left, self.modules = tuple(roots), left, modules

    def _inside(self, name: str) -> bool:
        return any(name == root or name.startswith(f"{root}.") for root in self.roots)

    def _needed(self, name: str) -> bool:
        return any(one == name or one.startswith(f"{name}.") for one in self.left)

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import | cst.RemovalSentinel:
        kept: list[cst.ImportAlias] = []
        for alias in updated_node.names:
            name = module_name(alias.name)
            if not self._inside(name) or self._needed(name) and not (alias.asname and name in self.modules):
                kept.append(alias)
            if name in self.modules:
                new = self.modules[name] if alias.asname else self.modules[name].partition(".")[0]
                kept.append(alias.with_changes(name=dotted(new)))
        return self._with(updated_node, kept)

    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.BaseSmallStatement | cst.FlattenSentinel[cst.BaseSmallStatement] | cst.RemovalSentinel:
        module = module_name(original_node.module)
        if original_node.relative or not self._inside(module) and not any(root.startswith(f"{module}.") for root in self.roots):
            return updated_node
        if isinstance(original_node.names, cst.ImportStar):
            return updated_node
        kept: list[cst.ImportAlias] = []
        new: list[cst.BaseSmallStatement] = []
        for alias in original_node.names:
            full = f"{module}.{module_name(alias.name)}"
            if full not in self.modules and (not self._inside(full) or self._needed(full)):
                kept.append(alias)
            elif full in self.modules:
                own = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else module_name(alias.name)
                new.append(
                    cst.ensure_type(
                        cst.ensure_type(cst.parse_statement(f"import {self.modules[full]} as {own}"), cst.SimpleStatementLine).body[0], cst.Import
                    )
                )
        statements = [*([self._with(updated_node, kept)] if kept else []), *new]
        return cst.FlattenSentinel(statements) if statements else cst.RemoveFromParent()  # type: ignore[arg-type]

    @staticmethod
    def _with(node, kept):  # type: ignore[no-untyped-def]
        if not kept:
            return cst.RemoveFromParent()
        unique = {module_name(alias.name) + str(alias.asname and module_name(alias.asname.name)): alias for alias in kept}  # type: ignore[arg-type]
        return node.with_changes(
            names=[
                *[alias.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))) for alias in list(unique.values())[:-1]],
                list(unique.values())[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT),
            ]
        )


def ensure_import(module: cst.Module, statement: str, behind: str = "") -> cst.Module:
    """The module with a statement among its first imports, unless it is there."""
    lines = module.code.splitlines()
    words = statement.split()
    known = rf"import (.*, )?{words[1]}\s*(,|#|$)" if words[0] == "import" else re.escape(statement)
    if any(re.match(known, line) for line in lines):
        return module
    at = 0
    for number, node in enumerate(module.body):
        first = node.body[0] if isinstance(node, cst.SimpleStatementLine) and node.body else None
        is_docstring = number == 0 and isinstance(first, cst.Expr) and isinstance(first.value, (cst.SimpleString, cst.ConcatenatedString))
        is_future = isinstance(first, cst.ImportFrom) and module_name(first.module) == "__future__"
        if is_docstring or is_future or behind and isinstance(first, (cst.Import, cst.ImportFrom)):
            at = number + 1
    new = cst.parse_statement(statement + "\n")
    body = list(module.body)
    body.insert(at, new)
    return module.with_changes(body=body)
