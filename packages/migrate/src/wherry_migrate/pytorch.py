"""PyTorch sources for Wherry, by a table of names that tools/torch_names.py compares with both packages.

Modules, functions, layers and optimizers are looked up by their imports. Methods are known by their names alone, so the few whose name says enough
are rewritten and the others stay. What has to be looked at is marked by a warning.
"""

from __future__ import annotations

import functools
from importlib.resources import files

import libcst as cst
from libcst import matchers as m
from libcst.metadata import MetadataWrapper, QualifiedNameProvider

from wherry_migrate import rewriting
from wherry_migrate.rewriting import Imports, Result, Rewriter, Rule, module_name, named, parsed

ROOTS = ("torch", "torchvision")
MODULES = {
    "torch": "paddle",
    "torch.nn": "paddle.nn",
    "torch.nn.functional": "paddle.nn.functional",
    "torch.optim": "paddle.optimizer",
    "torch.optim.lr_scheduler": "paddle.optimizer.lr",
    "torch.utils.data": "paddle.io",
    "torch.linalg": "paddle.linalg",
    "torch.fft": "paddle.fft",
    "torch.distributions": "paddle.distribution",
    "torchvision.transforms": "paddle.vision.transforms",
    "torchvision.datasets": "paddle.vision.datasets",
    "torchvision.models": "paddle.vision.models",
}
DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64", "complex128")
SHORT_DTYPES = {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "short": "int16"}
SIZES_ONE_BY_ONE = ("zeros", "ones", "rand", "randn", "empty")  # torch.zeros(2, 3)
# Methods whose names say what they belong to: old -> new; arguments stay.
METHODS = {
    "zero_grad": "clear_grad",
    "load_state_dict": "set_state_dict",
    "named_modules": "named_sublayers",
    "modules": "sublayers",
    "repeat": "tile",
    "mul": "multiply",
    "sub": "subtract",
    "div": "divide",
    "clamp": "clip",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less_than",
    "le": "less_equal",
    "gt": "greater_than",
    "ge": "greater_equal",
    "register_forward_hook": "register_forward_post_hook",
    "sub_": "subtract_",
    "clamp_": "clip_",
    "add_module": "add_sublayer",
}
CASTS = {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "bfloat16": "bfloat16"}
IN_A_LIST = {"view": "reshape", "reshape": "reshape", "permute": "transpose", "expand": "expand", "repeat": "tile"}
REDUCTIONS = (
    "sum",
    "mean",
    "prod",
    "argmax",
    "argmin",
    "cumsum",
    "softmax",
    "log_softmax",
    "std",
    "var",
    "all",
    "any",
    "unsqueeze",
    "squeeze",
    "logsumexp",
    "amax",
    "amin",
    "unbind",
    "norm",
)
LOOK_AT = {
    "size": "size() is .shape",
    "item_": "",
    "cuda": "paddle.set_device('gpu') once is enough; this call was left",
    "to": "moves and casts: .astype(dtype), or .to(device) of Wherry",
    "max": "with an axis, PyTorch gives values and positions",
    "min": "with an axis, PyTorch gives values and positions",
    "sort": "gives values alone; argsort gives positions",
    "transpose": "takes the order of all axes: x.transpose([0, 2, 1])",
    "split": "the second argument is the number of parts",
    "register_buffer": "",
    "requires_grad_": "x.stop_gradient = False",
    "retain_grad": "retain_grads()",
    "data_ptr": "",
    "masked_fill_": "",
    "scatter_": "put_along_axis_",
    "gather": "take_along_axis",
}


@functools.cache
def table() -> dict[str, tuple[str, str, str]]:
    """Name of PyTorch -> (name of Wherry or "", arguments, what is different)."""
    found = {}
    for row in files("wherry_migrate").joinpath("torch.tsv").read_text().splitlines():
        if not row.startswith("#"):
            old, new, spec, note = row.split("\t")
            found[old] = new, spec, note
    return found


@functools.cache
def rule_of(name: str) -> Rule | None:
    """The rule of a full name of PyTorch."""
    leaf = name.rpartition(".")[2]
    if name.startswith("torch.") and name.count(".") == 1 and leaf in DTYPES + tuple(SHORT_DTYPES):
        return Rule(f"paddle.{SHORT_DTYPES.get(leaf, leaf)}")
    if name == "torch.Tensor":
        return Rule("paddle.Tensor")
    if name.startswith("torchvision."):
        space, _, leaf = name.rpartition(".")
        return (
            Rule(f"{MODULES[space]}.{leaf}", note="transforms, data sets and networks have the same names; their arguments were not compared")
            if space in MODULES
            else None
        )
    if name not in table():
        return None
    new, spec, note = table()[name]
    if not new:
        return Rule(None, note=note, unsure=True)
    by_keyword, spec = spec.startswith("!"), spec.removeprefix("!")
    positional, rename, silent = parsed(spec) if spec else ((), {}, {})
    add: dict[str, str] = {}
    if leaf.lower().startswith(("avgpool", "avg_pool")):
        add["exclusive"] = "False"
    if leaf in ("LSTM", "GRU", "RNN"):
        add["time_major"] = "True"
    values = {
        "bias": weights,
        "momentum": rest_of_one if "Norm" in leaf else same,
        "batch_first": opposite,
        "count_include_pad": opposite,
        "bidirectional": direction,
        "approximate": is_tanh,
    }
    used = {argument: value for argument, value in values.items() if argument in positional and value is not same}
    if "bias" in used and rename.get("bias") != "bias_attr":
        del used["bias"]
    return Rule(new, positional, rename, silent, add, note, used, first_moves=by_keyword)


def same(value: cst.BaseExpression) -> cst.BaseExpression:
    return value


def weights(value: cst.BaseExpression) -> cst.BaseExpression:
    """`bias=True` is `bias_attr=None`; False stays, and a condition chooses."""
    if m.matches(value, m.Name("True")):
        return cst.Name("None")
    return (
        value
        if m.matches(value, m.Name("False"))
        else cst.IfExp(value, cst.Name("None"), cst.Name("False"), lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    )


def rest_of_one(value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, cst.Float):
        return cst.Float(repr(round(1 - float(value.value), 12)))
    return cst.BinaryOperation(cst.Integer("1"), cst.Subtract(), value)


def opposite(value: cst.BaseExpression) -> cst.BaseExpression:
    if m.matches(value, m.Name("True") | m.Name("False")):
        return cst.Name("False" if cst.ensure_type(value, cst.Name).value == "True" else "True")
    return cst.UnaryOperation(cst.Not(), value)


def direction(value: cst.BaseExpression) -> cst.BaseExpression:
    two, one = cst.SimpleString('"bidirect"'), cst.SimpleString('"forward"')
    if m.matches(value, m.Name("True") | m.Name("False")):
        return two if cst.ensure_type(value, cst.Name).value == "True" else one
    return cst.IfExp(value, two, one, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def is_tanh(value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, cst.SimpleString):
        return cst.Name("True" if value.evaluated_value == "tanh" else "False")
    return cst.Comparison(value, [cst.ComparisonTarget(cst.Equal(), cst.SimpleString('"tanh"'))])


class FromTorch(Rewriter):
    """Names by the table, and methods by their names."""

    def __init__(self, aliases: dict[str, str]) -> None:
        super().__init__(ROOTS, rule_of)
        self.aliases = aliases  # new module -> what the program calls it

    def shown(self, new: str) -> str:
        space, _, leaf = new.rpartition(".")
        return f"{self.aliases[space]}.{leaf}" if space in self.aliases else self.aliases.get(new, new)

    def is_led(self, name: str) -> bool:
        return MODULES.get(name) in self.aliases

    def finish_call(self, original: cst.Call, updated: cst.Call, rule: Rule, name: str) -> cst.BaseExpression:
        leaf = name.rpartition(".")[2]
        if name.startswith("torch.optim."):
            updated = self._betas(original, updated)
            if leaf == "SGD" and any(argument.keyword and argument.keyword.value == "momentum" for argument in original.args):
                updated = updated.with_changes(func=rewriting.dotted(self.shown("paddle.optimizer.Momentum")))
                momentum = next(argument for argument in original.args if argument.keyword and argument.keyword.value == "momentum")
                updated = updated.with_changes(args=joined([*updated.args, named("momentum", momentum.value)]))
                self.warnings = [one for one in self.warnings if not (one.line == self.line(original) and "momentum" in one.text)]
            elif leaf == "SGD":
                self.warnings = [one for one in self.warnings if not (one.line == self.line(original) and "with momentum it is" in one.text)]
        if name == "torch.tensor":
            grad = next((argument.value for argument in original.args if argument.keyword and argument.keyword.value == "requires_grad"), None)
            if grad is not None:
                updated = updated.with_changes(args=joined([*updated.args, named("stop_gradient", opposite(grad))]))
                self.warnings = [one for one in self.warnings if not (one.line == self.line(original) and "requires_grad" in one.text)]
        if leaf in SIZES_ONE_BY_ONE and name == f"torch.{leaf}":
            return self._sizes(updated)
        if name == "torch.utils.data.TensorDataset" and not any(argument.star or argument.keyword for argument in updated.args):
            return updated.with_changes(args=[cst.Arg(cst.List([cst.Element(argument.value) for argument in updated.args]))])
        return updated

    def _betas(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """`betas=(a, b)` are two arguments here."""
        betas = next((argument.value for argument in original.args if argument.keyword and argument.keyword.value == "betas"), None)
        if not isinstance(betas, (cst.Tuple, cst.List)) or len(betas.elements) != 2:
            return updated
        self.warnings = [one for one in self.warnings if not (one.line == self.line(original) and "betas" in one.text)]
        first, second = (element.value for element in betas.elements)
        return updated.with_changes(args=joined([*updated.args, named("beta1", first), named("beta2", second)]))

    @staticmethod
    def _sizes(call: cst.Call) -> cst.Call:
        """`zeros(2, 3)` is `zeros([2, 3])`; what a device or a gradient would say has other ways here."""
        sizes = [argument for argument in call.args if argument.keyword is None and not argument.star]
        rest = [
            argument
            for argument in call.args
            if argument.keyword is not None and argument.keyword.value not in ("device", "requires_grad", "generator", "out", "layout")
        ]
        is_shape = len(sizes) == 1 and not isinstance(sizes[0].value, cst.Integer)
        if is_shape or any(argument.star for argument in call.args):
            return call
        shape = cst.Arg(cst.List([cst.Element(argument.value) for argument in sizes]))
        return call.with_changes(args=joined([shape, *rest]))

    # Methods

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if self.full_name(original_node.func) is not None or not isinstance(original_node.func, cst.Attribute):
            return super().leave_Call(original_node, updated_node)
        name = original_node.func.attr.value
        value = cst.ensure_type(updated_node.func, cst.Attribute).value
        arguments = list(updated_node.args)
        if self.is_module(original_node.func.value):
            return updated_node
        if name == "size" and len(arguments) < 2:
            sizes = cst.Attribute(value, cst.Name("shape"))
            return sizes if not arguments else cst.Subscript(sizes, [cst.SubscriptElement(cst.Index(arguments[0].value))])
        if name in CASTS and not arguments:
            return cst.Call(cst.Attribute(value, cst.Name("astype")), [cst.Arg(cst.SimpleString(f'"{CASTS[name]}"'))])
        if name in IN_A_LIST and arguments and not any(argument.keyword or argument.star for argument in arguments):
            if len(arguments) > 1 or isinstance(arguments[0].value, (cst.Integer, cst.UnaryOperation)):
                shape = cst.List([cst.Element(argument.value) for argument in arguments])
                return self._method(original_node, cst.Call(cst.Attribute(value, cst.Name(IN_A_LIST[name])), [cst.Arg(shape)]), name, IN_A_LIST[name])
            return self._method(original_node, updated_node.with_changes(func=cst.Attribute(value, cst.Name(IN_A_LIST[name]))), name, IN_A_LIST[name])
        if name in REDUCTIONS:
            changed = [
                argument.with_changes(keyword=cst.Name("axis")) if argument.keyword and argument.keyword.value == "dim" else argument
                for argument in arguments
            ]
            return updated_node.with_changes(args=changed)
        if name in METHODS:
            return self._method(original_node, updated_node.with_changes(func=cst.Attribute(value, cst.Name(METHODS[name]))), name, METHODS[name])
        positional = any(not argument.keyword for argument in arguments) or any(
            argument.keyword and argument.keyword.value == "dim" for argument in arguments
        )
        if LOOK_AT.get(name) and (positional or name in ("cuda", "requires_grad_", "retain_grad")):
            self.warn(original_node, f".{name}(...): {LOOK_AT[name]}")
        return updated_node

    def _method(self, original: cst.Call, updated: cst.Call, old: str, new: str) -> cst.Call:
        if old != new:
            self.matched.append((self.line(original), f".{old}", f".{new}"))
        return updated

    def is_module(self, node: cst.BaseExpression) -> bool:
        """Whether a name was imported: the `repeat` of `np.repeat(x)` is not a method of a tensor."""
        return rewriting.is_dotted(node) and any(found.source.name == "IMPORT" for found in self.get_metadata(QualifiedNameProvider, node, ()))  # type: ignore[call-overload]

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        if original_node.attr.value == "requires_grad" and self.full_name(original_node) is None:
            self.warn(original_node, ".requires_grad: here it is .stop_gradient, with the opposite value")
        return super().leave_Attribute(original_node, updated_node)


def joined(arguments: list[cst.Arg]) -> list[cst.Arg]:
    """Arguments with a comma and a space between them."""
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return [argument.with_changes(comma=comma if at < len(arguments) - 1 else cst.MaybeSentinel.DEFAULT) for at, argument in enumerate(arguments)]


def aliases_of(module: cst.Module) -> dict[str, str]:
    """New module -> what the program calls the old one: `F` for `import torch.nn.functional as F`."""
    found: dict[str, str] = {}

    class Visitor(cst.CSTVisitor):
        def visit_Import(self, node: cst.Import) -> None:
            for alias in node.names:
                name = module_name(alias.name)
                if name in MODULES and alias.asname and isinstance(alias.asname.name, cst.Name):
                    found[MODULES[name]] = alias.asname.name.value

        def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
            if not isinstance(node.names, cst.ImportStar):
                for alias in node.names:
                    full = f"{module_name(node.module)}.{module_name(alias.name)}"
                    if full in MODULES:
                        found[MODULES[full]] = (
                            alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else module_name(alias.name)
                        )

    module.visit(Visitor())
    return found


def from_torch(source: str) -> Result:
    """A PyTorch program, rewritten for Wherry; it is read, not run.

    What the table does not know stays. It is named in the warnings and by a comment above its line, as is what has the same name and another meaning.

    Args:
        source: the program.

    Raises:
        SyntaxError: it is not Python 3.

    Examples:
        >>> from wherry_migrate import from_torch
        >>> print(from_torch("import torch\\ny = torch.cat([x, x], dim=1).sum(dim=0)\\n").after)
        import paddle
        y = paddle.concat([x, x], axis=1).sum(axis=0)
        <BLANKLINE>
    """
    module = rewriting.tree_of(source, "from_torch")
    rewriter = FromTorch(aliases_of(module))
    MetadataWrapper(module).visit(rewriter)
    warnings = tuple(sorted(set(rewriter.warnings)))
    # The comments first: they go by the lines of the program as it was.
    marked = MetadataWrapper(module).visit(rewriting.Marker(warnings, "from-torch"))
    tree = MetadataWrapper(marked).visit(FromTorch(rewriter.aliases))
    tree = tree.visit(Imports(ROOTS, rewriter.left, MODULES))
    if "paddle." in tree.code and rewriter.matched:
        tree = rewriting.ensure_import(tree, "import paddle")
    return Result(source, tree.code, warnings, tuple(rewriter.matched))
