"""Asks real Paddle 2.6.2 how its operators are called, and prints the table `wherry_paddle_files/operators.tsv`.

    $(python tools/paddle_environment.py) tools/paddle_operators.py > packages/paddle-files/src/wherry_paddle_files/operators.tsv

`_C_ops` takes inputs and attributes in an order of its own (`get_core_ops_args_info`), under names that differ from those of the
operators in files, which the rules of wherry_paddle_files read. Both are asked; a name stands for another one where they are spelled
alike, where its place is the only one left, or where `OPERATORS` and `ATTRIBUTES` below say so.
"""
from __future__ import annotations

import sys
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from collections.abc import Iterable
from typing import Any

from paddle import _C_ops, _legacy_C_ops
from paddle.base.framework import OpProtoHolder

OPERATORS = {  # of `_C_ops`, where the operator's name is neither this, nor with a number, a version or a family beside it
    "arange": "range", "argmax": "arg_max", "argmin": "arg_min", "bilinear": "bilinear_tensor_product",
    "cross_entropy_with_softmax": "softmax_with_cross_entropy", "det": "determinant", "divide": "elementwise_div", "embedding": "lookup_table_v2",
    "flatten": "flatten_contiguous_range", "floor_divide": "elementwise_floordiv", "full": "fill_constant", "full_like": "fill_any_like",
    "gaussian": "gaussian_random", "grid_sample": "grid_sampler", "hardshrink": "hard_shrink", "hardsigmoid": "hard_sigmoid",
    "hardswish": "hard_swish", "hardtanh": "brelu", "maximum": "elementwise_max", "mean_all": "mean", "minimum": "elementwise_min",
    "multiply": "elementwise_mul", "nonzero": "where_index", "numel": "size", "remainder": "elementwise_mod", "add_n": "sum",
    "slogdet": "slogdeterminant", "subtract": "elementwise_sub", "topk": "top_k_v2", "uniform": "uniform_random", "yolo_loss": "yolov3_loss",
    "hsigmoid_loss": "hierarchical_sigmoid", "matrix_rank_tol": "matrix_rank", "reindex_graph": "graph_reindex", "send_u_recv": "graph_send_recv",
    "send_ue_recv": "graph_send_ue_recv", "send_uv": "graph_send_uv", "uniform_inplace": "uniform_random_inplace",
}
REDUCTIONS = ("all", "amax", "amin", "any", "max", "mean", "min", "prod", "sum")
ATTRIBUTES = {
    "axis": ("dim", "axes"), "dtype": ("outdtype",), "epsilon": ("eps",), "boxes": ("rois",), "boxesnum": ("roisnum",), "padvalue": ("value",),
}


def plain(name: str) -> str:
    return name.replace("_", "").lower()


def alike(name: str, among: Iterable[str]) -> str | None:
    """The name that is spelled alike, but for case and underscores."""
    wanted = (plain(name), *ATTRIBUTES.get(plain(name), ()), plain(name).replace("transpose", "trans"))
    return next((other for want in wanted for other in among if plain(other) == want), None)


def slots(proto: Any) -> tuple[list[str], list[str], list[str]]:
    """Inputs, attributes and outputs of an operator."""
    attrs = [a.name for a in proto.attrs if not a.extra and a.name not in ("op_role", "op_role_var", "op_namescope", "op_callstack", "op_device")]
    return [i.name for i in proto.inputs], attrs, [o.name for o in proto.outputs]


def operator_of(name: str, protos: dict[str, Any]) -> str | None:
    """The operator that a function of `_C_ops` calls."""
    reduction = f"reduce_{name}" if name in REDUCTIONS else None
    for other in (OPERATORS.get(name), f"{name}_v2", f"{name}2", reduction, name, f"elementwise_{name}"):
        if other in protos and (other != f"{name}2" or any(o.name == "XShape" for o in protos[other].outputs)):  # log2 is another function
            return other
    return None


def order_of(name: str, inputs: list[str], attrs: list[str]) -> list[str]:
    """Slots and attributes in the order of a function of `_C_ops`."""
    left_inputs, left_attrs, order = list(inputs), list(attrs), []
    if name == "conv3d":  # what is told is that of sparse tensors
        return ["Input", "Filter", "strides", "paddings", "padding_algorithm", "groups", "dilations", "data_format"]
    info, kinds = _C_ops.get_core_ops_args_info().get(name, []), _C_ops.get_core_ops_args_type_info().get(name, [])
    found: list[tuple[str, str | None, list[str]]] = []
    for argument, kind in zip(info, kinds):
        left = left_inputs if kind else left_attrs
        other = alike(argument, left)
        if other is not None:
            left.remove(other)
        found.append((argument, other, left))
    for argument, other, left in found:
        order.append(other or (left.pop(0) if left else f"?{argument}"))
    if not any(kind == "" for kind in kinds):  # functions that were written by hand tell of their inputs alone
        order += left_attrs
    return order


def main() -> None:
    protos = OpProtoHolder.instance().op_proto_map
    print("kind", "name", "operator", "inputs", "attributes", "outputs", "order", sep="\t")
    known = set(dir(_C_ops))  # relu_ is called like relu; adam_ is alone
    for name in sorted(n for n in known if not n.startswith("_") and (not n.endswith("_") or n[:-1] not in known)):
        operator = operator_of(name.rstrip("_"), protos)
        if operator is None:
            continue
        inputs, attrs, outputs = slots(protos[operator])
        order = order_of(name, inputs, attrs) if name in _C_ops.get_core_ops_args_info() else inputs + attrs
        if name in _C_ops.get_core_ops_returns_info() and name != "conv3d":
            returned = _C_ops.get_core_ops_returns_info()[name]
            left = [o for o in outputs if alike(o, returned) is None]
            outputs = [alike(r, outputs) or (left.pop(0) if left else f"?{r}") for r in returned] or outputs
        print("new", name, operator, " ".join(inputs), " ".join(attrs), " ".join(outputs), " ".join(order), sep="\t")
    arguments, returns = _legacy_C_ops.get_core_ops_args_info(), _legacy_C_ops.get_core_ops_returns_info()
    for name in sorted(set(dir(_legacy_C_ops)) & set(protos)):
        _, attrs, outputs = slots(protos[name])
        inputs = arguments.get(name, slots(protos[name])[0])
        print("old", name, name, " ".join(inputs), " ".join(attrs), " ".join(returns.get(name, outputs)), "", sep="\t")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
