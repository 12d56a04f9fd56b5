"""Fuse batch normalization and the `relu` behind it, and their gradients."""
from __future__ import annotations

from wherry_program.passes.rewriting import Uses, drop, is_pure, put_instead, to_change, volatile
from wherry_program.program.ir import Node, Program
from wherry_tensor import _core, ops
from wherry_tensor._core import float32

__all__ = ["rectified"]


def rectified(program: Program) -> Program:
    """Replace `batch_norm`, and a `relu` that alone reads its result, by `batch_norm_relu`, and their two gradients by `batch_norm_relu_vjp`.

    Every bit stays. Left alone: what is not float32, and everything on a device that has no kernels for it.
    """
    out = to_change(program)
    found = [node for node in out.walk() if node.op is ops.relu]
    if not found or not _has_kernels():
        return out
    changing, uses = volatile(out), Uses(out)
    gone: list[Node] = []
    for relu in found:
        norm = _norm_before(relu, changing)
        if norm is None:
            continue
        for node in uses.of.get(id(relu.outputs[0]), []):
            if node.op is ops.relu_vjp and node.inputs[1] is relu.outputs[0] and is_pure(node, changing):
                gone += _gradient(node, norm, changing, uses)
        if uses.only(norm.outputs[0]) is relu and norm.role == relu.role:
            norm.op, norm.outputs = ops.batch_norm_relu, (relu.outputs[0], *norm.outputs[1:])
            norm.outputs[0].made_by = norm
            gone.append(relu)
    drop(gone)
    return out


def _has_kernels() -> bool:
    kind = _core.name_of_device(_core.get_current_device()).split(":")[0]
    return all("float32" in op.kernel_dtypes(kind) for op in (ops.batch_norm_relu, ops.batch_norm_relu_vjp))


def _norm_before(relu: Node, changing: set[int]) -> Node | None:
    """The `batch_norm` whose result a `relu` reads."""
    x = relu.inputs[0]
    norm = None if x is None else x.made_by
    if x is None or norm is None or norm.op is not ops.batch_norm or norm.outputs[0] is not x or x.dtype is not float32:
        return None
    return norm if is_pure(norm, changing) and is_pure(relu, changing) else None


def _gradient(node: Node, norm: Node, changing: set[int], uses: Uses) -> list[Node]:
    """Let the gradient of the norm, if it alone reads that of the `relu`, begin with it; what is not needed any more."""
    behind = uses.only(node.outputs[0])
    x, scale, bias = (*norm.inputs, None, None)[:3]
    if behind is None or behind.op is not ops.batch_norm_vjp or behind.role != node.role or not is_pure(behind, changing):
        return []
    of = zip(behind.inputs, (node.outputs[0], x, scale, *norm.outputs[1:]), strict=True)
    if behind.attrs != norm.attrs or any(given is not wanted for given, wanted in of):
        return []
    put_instead(behind, ops.batch_norm_relu_vjp, (node.inputs[0], x, scale, bias, *norm.outputs[1:]), behind.attrs)
    return [node]
