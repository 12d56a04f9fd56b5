"""Tells states of PyTorch from our own: the names are alike, the layouts are not, and a square matrix fits either way."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wherry_tensor._core import Tensor

__all__ = ["evidence_of_torch"]

_NAMES = ("running_mean", "running_var", "num_batches_tracked", "in_proj_weight", "in_proj_bias")  # of no layer of Paddle


def evidence_of_torch(state: Mapping[str, Any], targets: Mapping[str, Tensor], linear: set[str]) -> str | None:
    """The evidence that a state comes from PyTorch, in words; None where there is none that is certain.

    Args:
        state: what somebody wants to load.
        targets: the tensors of the layer by their paths.
        linear: the paths of weights of Linear layers, which PyTorch keeps transposed.
    """
    if getattr(state, "written_by", None) == "PyTorch" and linear:
        return "a file that torch.save wrote"
    for key in state:
        if isinstance(key, str) and key.rpartition(".")[2] in _NAMES and key not in targets:
            return f"'{key}', a name of PyTorch"
    shapes = {path: tuple(getattr(state[path], "shape", ())) for path in linear if path in state}
    telling = [path for path, shape in shapes.items() if len(shape) == 2 and shape[0] != shape[1]]
    if len(shapes) > 1 and telling and all(shapes[path] == tuple(targets[path].shape)[::-1] for path in telling):
        return f"'{telling[0]}' of shape {list(shapes[telling[0]])}, which is transposed"
    return None
