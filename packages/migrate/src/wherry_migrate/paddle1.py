"""Programs of Paddle 1.x for 2.x: what `paddle_upgrade_tool` does, by the table of names of Paddle's manual.

Three things are done: names and their arguments (paddle1.tsv), `with fluid.dygraph.guard():` goes and its body moves left,
and `act=` of a layer becomes a call of that activation where the layer is called. What the table calls not convertible stays, with a warning.
"""

from __future__ import annotations

import functools
from importlib.resources import files

import libcst as cst
from libcst.metadata import MetadataWrapper

from wherry_migrate import rewriting
from wherry_migrate.rewriting import Imports, Result, Rewriter, Rule, parsed

ROOT = "paddle.fluid"
STEPS = ("refactor_import", "norm_api_alias", "args_to_kwargs", "refactor_kwargs", "api_rename", "refactor_with", "post_refactor")
GUARDS = ("paddle.fluid.dygraph.guard", "paddle.fluid.dygraph.base.guard")
# Where the table has several new names: the one that takes what the old one took, in programs of either mode.
CHOSEN = {
    "dygraph.BatchNorm": "paddle.nn.BatchNorm",
    "layers.fc": "paddle.static.nn.fc",
    "layers.embedding": "paddle.static.nn.embedding",
    "layers.prelu": "paddle.static.nn.prelu",
}
# In the table, but in no Paddle 2.6.
GONE = ("paddle.metric.chunk_eval", "paddle.metric.mean_iou")
# Inner modules, by which some programs import.
INNER = (
    "nn",
    "base",
    "layers",
    "tensor",
    "control_flow",
    "ops",
    "loss",
    "checkpoint",
    "container",
    "parallel",
    "learning_rate_scheduler",
    "io",
    "metric_op",
)


@functools.cache
def table() -> dict[str, tuple[tuple[str, ...], bool]]:
    """Name of 1.8 -> (names of 2.x, whether it can be converted)."""
    return {old: (tuple(new.split(" / ")), convertible == "yes") for old, (new, convertible, *_) in rows().items()}


@functools.cache
def rows() -> dict[str, list[str]]:
    """Name of 1.8 -> the rest of its row in paddle1.tsv: new names, whether it can be converted, arguments, added ones, a warning."""
    found = {}
    for row in files("wherry_migrate").joinpath("paddle1.tsv").read_text().splitlines():
        if not row.startswith("#"):
            old, *rest = row.split("\t")
            found[old] = [*rest, *[""] * (5 - len(rest))]
    return found


@functools.cache
def rule_of(name: str) -> Rule | None:
    """The rule of a name of 1.8."""
    if name not in rows():
        return None
    new, convertible = table()[name]
    *_, arguments, added, note = rows()[name]
    short = name.removeprefix(f"{ROOT}.")
    if new[0] in GONE:
        return Rule(None, note=f"the table says {new[0]}, which Paddle 2.6 has no more; compute it with the functions of paddle", unsure=True)
    if not convertible:
        return Rule(None, note=f"has to be rewritten by hand, its arguments or its meaning changed: {' or '.join(new)}", unsure=True)
    positional, rename, silent = parsed(arguments) if arguments else ((), {}, {})
    add = dict(part.split("=") for part in added.split(", ")) if added else {}
    return Rule(
        CHOSEN.get(short, new[0].partition(" ")[0]),
        positional,
        rename,
        silent,
        add,
        note,
        {"model_path": with_suffix} if short == "dygraph.save_dygraph" else {},
    )


def with_suffix(path: cst.BaseExpression) -> cst.BaseExpression:
    """1.8 wrote `.pdparams` after the path by itself."""
    return cst.BinaryOperation(path, cst.Add(), cst.SimpleString('".pdparams"'))


class Upgrade(Rewriter):
    """Names, guards and activations."""

    def __init__(self, steps: frozenset[str] | None) -> None:
        super().__init__([ROOT], rule_of, steps)
        self.dynamic = False  # a guard was there
        self.activated: list[dict[str, str]] = [{}]  # per class: what a layer is called -> its activation

    def normal(self, name: str) -> str:
        if name in table() or not self.does("norm_api_alias"):
            return name
        parts = name.split(".")
        without = ".".join(part for at, part in enumerate(parts) if not (2 < at < len(parts) - 1 and part in INNER))
        in_dygraph = f"{ROOT}.dygraph.{parts[-1]}"  # `fluid.save_dygraph` is `fluid.dygraph.save_dygraph`
        return in_dygraph if without not in table() and len(parts) == 3 and in_dygraph in table() else without

    def worth_a_word(self, name: str) -> bool:
        return name not in GUARDS

    # `act`

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        found: dict[str, str] = {}
        for assignment in assignments(node):
            name, call = assignment
            act = self.activation(call)
            if act and name.startswith("self."):
                found[name] = act
        self.activated.append(found)

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:
        self.activated.pop()
        return updated_node

    def activation(self, call: cst.BaseExpression) -> str | None:
        """The activation of a layer that has none of its own in 2.x, where the program says it as text."""
        if not isinstance(call, cst.Call):
            return None
        rule = rule_of(self.full_name(call.func) or "")
        if rule is None or rule.new is None or rule.rename.get("act", "") is not None:
            return None
        for at, argument in enumerate(call.args):
            keyword = argument.keyword.value if argument.keyword else rule.positional[at] if at < len(rule.positional) else ""
            if keyword == "act" and isinstance(argument.value, cst.SimpleString):
                return str(argument.value.evaluated_value)
        return None

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        act = self.activation(original_node)
        result = super().leave_Call(original_node, updated_node)
        if not self.does("refactor_kwargs"):
            return result
        if act and rule_of(self.full_name(original_node.func) or "").new.rpartition(".")[2][0].islower():  # type: ignore[union-attr]
            return activated(act, result)  # a function: the activation is called on what it gives
        if act and id(original_node) not in self.taken:
            self.warn(
                original_node, f"act={act!r}: the layer stands in a Sequential with its activation now, so its parameters have a 0. in their names"
            )
            return cst.Call(
                rewriting.dotted("paddle.nn.Sequential"), [cst.Arg(result), cst.Arg(cst.Call(rewriting.dotted(f"paddle.nn.{layer_of(act)}")))]
            )
        name = cst.Module([]).code_for_node(original_node.func)
        return activated(self.activated[-1][name], result) if name in self.activated[-1] else result

    def finish_call(self, original: cst.Call, updated: cst.Call, rule: Rule, name: str) -> cst.BaseExpression:
        if name == "paddle.fluid.layers.data":
            return with_batch(original, updated)
        return updated

    @functools.cached_property
    def taken(self) -> set[int]:
        """Calls that make a layer which a class keeps: its activation moves to where the layer is called."""
        return set()

    def visit_Assign(self, node: cst.Assign) -> None:
        if self.activated[-1] and cst.Module([]).code_for_node(node.targets[0].target) in self.activated[-1]:
            self.taken.add(id(node.value))

    def arguments(self, call, arguments, rule, name):  # type: ignore[no-untyped-def]
        if self.activation(call):  # said elsewhere
            rule = Rule(rule.new, rule.positional, rule.rename, {**rule.silent, "act": tuple(self.texts(call))}, rule.add, "", rule.values)
        return super().arguments(call, arguments, rule, name)

    @staticmethod
    def texts(call: cst.Call) -> list[str]:
        return [cst.Module([]).code_for_node(argument.value) for argument in call.args]

    # Guards

    def leave_With(self, original_node: cst.With, updated_node: cst.With) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        def is_guard(item: cst.WithItem) -> bool:
            return isinstance(item.item, cst.Call) and self.full_name(item.item.func) in GUARDS

        guards = [is_guard(item) for item in original_node.items]
        if not any(guards) or not self.does("refactor_with"):
            return updated_node
        self.dynamic = True
        self.matched.append((self.line(original_node), GUARDS[0], "its body"))
        self.left -= set(GUARDS)
        others = [item for item, guard in zip(updated_node.items, guards) if not guard]
        if others:
            return updated_node.with_changes(items=[*others[:-1], others[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)])
        if not isinstance(updated_node.body, cst.IndentedBlock):
            return updated_node
        body = list(updated_node.body.body)
        if body:
            lines = [*updated_node.leading_lines, *getattr(body[0], "leading_lines", ())]
            body[0] = body[0].with_changes(leading_lines=lines)  # type: ignore[call-arg]
        return cst.FlattenSentinel(body)  # type: ignore[arg-type]


def assignments(node: cst.ClassDef) -> list[tuple[str, cst.BaseExpression]]:
    """(target as text, value) of the assignments in a class."""
    found: list[tuple[str, cst.BaseExpression]] = []

    class Visitor(cst.CSTVisitor):
        def visit_Assign(self, node: cst.Assign) -> None:
            found.append((cst.Module([]).code_for_node(node.targets[0].target), node.value))

    node.body.visit(Visitor())
    return found


def activated(act: str, value: cst.BaseExpression) -> cst.Call:
    return cst.Call(rewriting.dotted(f"paddle.nn.functional.{act}"), [cst.Arg(value)])


LAYERS = {
    "relu": "ReLU",
    "relu6": "ReLU6",
    "leaky_relu": "LeakyReLU",
    "elu": "ELU",
    "selu": "SELU",
    "gelu": "GELU",
    "prelu": "PReLU",
    "hardswish": "Hardswish",
}


def layer_of(act: str) -> str:
    return LAYERS.get(act) or "".join(part.capitalize() for part in act.split("_"))


def with_batch(original: cst.Call, updated: cst.Call) -> cst.Call:
    """`layers.data` put the axis of the batch before the shape, unless it was told not to."""
    said = {argument.keyword.value: cst.Module([]).code_for_node(argument.value) for argument in original.args if argument.keyword}
    positional = [cst.Module([]).code_for_node(argument.value) for argument in original.args if not argument.keyword]
    append = said.get("append_batch_size", positional[2] if len(positional) > 2 else "True")
    shape = next((argument for argument in updated.args if argument.keyword and argument.keyword.value == "shape"), None)
    if append != "True" or shape is None or not isinstance(shape.value, cst.List):
        return updated
    if any(cst.Module([]).code_for_node(element.value).startswith("-") for element in shape.value.elements):
        return updated
    longer = shape.value.with_changes(elements=[cst.Element(cst.Name("None")), *shape.value.elements])
    return updated.with_changes(args=[argument.with_changes(value=longer) if argument is shape else argument for argument in updated.args])


def upgrade(source: str, steps: frozenset[str] | None = None) -> Result:
    """A program of Paddle 1.x, rewritten for 2.x; it is read, not run.

    Args:
        source: the program.
        steps: some of `STEPS`; None: all.

    Raises:
        SyntaxError: it is not Python 3.
        ValueError: there is no such step.

    Examples:
        >>> from wherry_migrate import upgrade
        >>> print(upgrade("import paddle.fluid as fluid\\ny = fluid.layers.reduce_mean(x, dim=1)\\n").after)
        import paddle
        y = paddle.mean(x, axis=1)
        <BLANKLINE>
    """
    unknown = sorted((steps or frozenset()) - set(STEPS))
    if unknown:
        raise ValueError(f"upgrade: there is no step {', '.join(unknown)}. Got {sorted(steps or ())}, expected some of {', '.join(STEPS)}.")
    module = rewriting.tree_of(source, "upgrade")
    rewriter = Upgrade(steps)
    tree = MetadataWrapper(module).visit(rewriter)
    if rewriter.does("refactor_import"):
        tree = tree.visit(Imports([ROOT], rewriter.left, {}))
    if rewriter.does("post_refactor") and (rewriter.made or rewriter.matched):
        tree = _finished(tree, rewriter)
    return Result(source, tree.code, tuple(sorted(set(rewriter.warnings))), tuple(rewriter.matched))


def _finished(tree: cst.Module, rewriter: Upgrade) -> cst.Module:
    """What the new program needs at its beginning: the import, and static mode where the old one was in it by default."""
    described = any(name.startswith("paddle.static.") for name in rewriter.made)
    if "paddle." in tree.code:
        tree = rewriting.ensure_import(tree, "import paddle")
    if described and not rewriter.dynamic and "paddle.disable_static" not in tree.code:
        tree = rewriting.ensure_import(tree, "paddle.enable_static()", behind="imports")
    return tree
