"""Writes the table of PyTorch's names and Wherry's: packages/migrate/src/wherry_migrate/torch.tsv.

    TORCH_PYTHON=/path/to/python python tools/torch_names.py            # --check: whether the file is what it should be

Names and arguments come from both packages: a name is in the table where both have it (under the same word, or one of `RENAMED`) and every
argument that PyTorch requires has a counterpart. What has the same word and another meaning stands in torch_different.tsv, with what to do.
"""
from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "packages" / "migrate" / "src" / "wherry_migrate" / "torch.tsv"
SPACES = {
    "torch": "paddle", "torch.nn": "paddle.nn", "torch.nn.functional": "paddle.nn.functional", "torch.optim": "paddle.optimizer",
    "torch.optim.lr_scheduler": "paddle.optimizer.lr", "torch.utils.data": "paddle.io", "torch.linalg": "paddle.linalg", "torch.fft": "paddle.fft",
    "torch.distributions": "paddle.distribution", "torch.special": "paddle", "torch.nn.utils": "paddle.nn.utils", "torch.autograd": "paddle.autograd",
}
ARGUMENTS = {
    "input": "x", "dim": "axis", "dims": "axis", "other": "y", "eps": "epsilon", "lr": "learning_rate", "params": "parameters",
    "size": "shape", "target": "label", "bias": "bias_attr", "padding_mode": "padding_mode", "tensors": "x", "self": "x",
    "indices": "index", "dim0": "axis0", "dim1": "axis1", "exponent": "y", "vec2": "y", "mat2": "y", "vec": "vec", "A": "x",
    "num_samples": "num_samples", "descending": "descending", "n": "n", "norm": "norm", "output_size": "output_size",
    "normalized_shape": "normalized_shape", "embed_dim": "embed_dim", "in_features": "in_features", "tensor": "x", "a": "x", "b": "y", "ord": "p",
    "beta": "beta", "lambd": "threshold", "num_channels": "num_channels", "optimizer": None, "p": "p",
    "split_size_or_sections": "num_or_sections", "chunks": "chunks", "repeats": "repeats", "end": "end",
}
DROPPED = {
    "out": "None", "device": "None", "layout": "torch.strided", "requires_grad": "False", "pin_memory": "False", "memory_format": "",
    "size_average": "None", "reduce": "None", "inplace": "False True", "foreach": "None", "fused": "None", "capturable": "False",
    "differentiable": "False", "maximize": "False", "dtype": "", "generator": "None", "verbose": "False", "_stacklevel": "3",
}
RENAMED = {
    "torch.as_tensor": "paddle.to_tensor", "torch.from_numpy": "paddle.to_tensor", "torch.sub": "paddle.subtract",
    "torch.mul": "paddle.multiply", "torch.div": "paddle.divide", "torch.eq": "paddle.equal", "torch.ne": "paddle.not_equal",
    "torch.lt": "paddle.less_than", "torch.le": "paddle.less_equal", "torch.gt": "paddle.greater_than", "torch.ge": "paddle.greater_equal",
    "torch.movedim": "paddle.moveaxis", "torch.arccos": "paddle.acos", "torch.arcsin": "paddle.asin", "torch.arctan": "paddle.atan",
    "torch.arctan2": "paddle.atan2", "torch.arcsinh": "paddle.asinh", "torch.arccosh": "paddle.acosh", "torch.arctanh": "paddle.atanh",
    "torch.absolute": "paddle.abs", "torch.negative": "paddle.neg", "torch.true_divide": "paddle.divide",
    "torch.inverse": "paddle.linalg.inv", "torch.det": "paddle.linalg.det", "torch.slogdet": "paddle.linalg.slogdet",
    "torch.cholesky": "paddle.linalg.cholesky", "torch.nn.KLDivLoss": "paddle.nn.KLDivLoss",
    "torch.nn.AdaptiveAvgPool1d": "paddle.nn.AdaptiveAvgPool1D", "torch.nn.Upsample": "paddle.nn.Upsample",
    "torch.nn.functional.logsigmoid": "paddle.nn.functional.log_sigmoid",
    "torch.nn.functional.conv_transpose1d": "paddle.nn.functional.conv1d_transpose",
    "torch.nn.functional.conv_transpose2d": "paddle.nn.functional.conv2d_transpose",
    "torch.nn.functional.conv_transpose3d": "paddle.nn.functional.conv3d_transpose",
    "torch.nn.ConvTranspose1d": "paddle.nn.Conv1DTranspose", "torch.nn.ConvTranspose2d": "paddle.nn.Conv2DTranspose",
    "torch.nn.ConvTranspose3d": "paddle.nn.Conv3DTranspose", "torch.nn.ZeroPad2d": "paddle.nn.ZeroPad2D",
    "torch.nn.Softmax2d": "paddle.nn.Softmax2D", "torch.nn.Dropout1d": "paddle.nn.Dropout",
    "torch.optim.Optimizer": "paddle.optimizer.Optimizer", "torch.is_tensor": "paddle.is_tensor",
    "torch.get_default_dtype": "paddle.get_default_dtype", "torch.set_default_dtype": "paddle.set_default_dtype",
    "torch.set_grad_enabled": "paddle.set_grad_enabled", "torch.nn.utils.clip_grad_norm_": "paddle.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad_value_": "paddle.nn.utils.clip_grad_value_", "torch.inference_mode": "paddle.no_grad",
}
# The same word with another meaning, and what has to be said of a name: torch_different.tsv.
DIFFERENT: dict[str, tuple[str, str, str]] = {}
for _row in (Path(__file__).parent / "torch_different.tsv").read_text().splitlines():
    if not _row.startswith("#"):
        _name, _new, _spec, _note = _row.split("\t")
        DIFFERENT[_name] = _new, _spec, _note
# Same word, nothing in common, or of no use to a program.
LEFT_OUT = {
    "torch.DataParallel", "torch.block_diag", "torch.cartesian_prod",  # these take a list here
    "torch.Generator", "torch.Size", "torch.Tensor.data", "torch.from_dlpack", "torch.histogram", "torch.hub",
    "torch.library", "torch.nn.SyncBatchNorm", "torch.nn.functional.fractional_max_pool2d", "torch.nn.functional.fractional_max_pool3d",
    "torch.nn.functional.rms_norm", "torch.normal", "torch.ops", "torch.range", "torch.seed", "torch.set_flags",
    "torch.typename", "torch.unique_consecutive",
}

DUMP = """
import inspect, json, re, sys, warnings
warnings.simplefilter("ignore")
import torch, torch.utils.data
def signature(value):
    try:
        return [[p.name, p.default is p.empty and p.kind in (0, 1)] for p in inspect.signature(value).parameters.values() if p.name != "self"]
    except (ValueError, TypeError):
        pass
    found = re.search(r"^[\\w.]+\\((.*?)\\)\\s*->", str(value.__doc__ or "").strip(), re.S)
    if not found:
        return None
    names, keyword = [], False
    for part in re.split(r",\\s*(?![^\\[(]*[\\])])", found[1].replace("\\n", " ")):
        keyword = keyword or part.strip() == "*"
        name = re.split(r"[=:]", part.strip().lstrip("*"))[0].strip().split(" ")[-1]
        if name and name != "/":
            names.append([name, "=" not in part and not keyword])
    return names
found = {}
for space in json.loads(sys.argv[1]):
    module = torch
    for part in space.split(".")[1:]:
        module = getattr(module, part)
    for name in dir(module):
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and not (isinstance(value, type) and issubclass(value, BaseException)):
            found[f"{space}.{name}"] = signature(value)
print(json.dumps(found))
"""


def of_torch() -> dict[str, list[list[Any]] | None]:
    """Name -> its arguments, each with whether it is required; from PyTorch itself."""
    python = os.environ.get("TORCH_PYTHON")
    if not python:
        sys.exit("torch_names: TORCH_PYTHON names no Python with PyTorch. Set it to one.")
    done = subprocess.run([python, "-c", DUMP, json.dumps(list(SPACES))], capture_output=True, text=True, check=True)
    found: dict[str, list[list[Any]] | None] = json.loads(done.stdout)
    return found


def ours(name: str) -> Any:
    """What Wherry has under a name of Paddle, or None."""
    import wherry

    value: Any = wherry
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def parameters_of(value: Any) -> list[str]:
    try:
        return [name for name in inspect.signature(value).parameters if name not in ("self", "name")]
    except (TypeError, ValueError):
        return []


def candidates(name: str) -> list[str]:
    """Names of ours that one of PyTorch may mean."""
    if name in RENAMED:
        return [RENAMED[name]]
    space, _, leaf = name.rpartition(".")
    if space not in SPACES:
        return []
    words = [leaf]
    if leaf[-2:] in ("1d", "2d", "3d") and leaf[0].isupper():
        words.insert(0, leaf[:-1] + "D")  # Paddle 3 has both
    return [f"{SPACES[space]}.{word}" for word in words]


def arguments(theirs: list[list[Any]], our: list[str]) -> str | None:
    """The arguments as a row says them; None where one that is required has no counterpart."""
    parts = []
    for name, required in theirs:
        new = next((one for one in (name, ARGUMENTS.get(name), {"x": "input", "y": "other"}.get(name)) if one in our), None)
        if name in ("input", "other", "dim") and ARGUMENTS[name] in our:
            new = ARGUMENTS[name]
        if new is not None:
            parts.append(name if new == name else f"{name} > {new}")
        elif name in DROPPED:
            parts.append(f"{name} > = {DROPPED[name]}" if DROPPED[name] else f"{name} >")
        elif required:
            return None
        else:
            parts.append(f"{name} >")
    return ", ".join(parts)


def first(spec: str, new: str) -> str:
    """The arguments, with a mark where the first one is not the first of ours."""
    words = spec.split(", ")[0].split(" = ")[0].split(" > ")
    our = parameters_of(ours(new)) if new else []
    return f"!{spec}" if spec and our and words[-1] != our[0] else spec


def rows() -> list[tuple[str, str, str, str]]:
    """(name of PyTorch, of Paddle, arguments, what is different)."""
    known = of_torch()
    found, faults = [], []
    for name, theirs in sorted(known.items()):
        if name in LEFT_OUT:
            continue
        if name in DIFFERENT:
            new, spec, note = DIFFERENT[name]
            if new and ours(new) is None:
                faults.append(f"{name} leads to {new}, which is not there")
            found.append((name, new, first(spec, new), note))
            continue
        for new in candidates(name):
            value = ours(new)
            if value is None or not callable(value) or theirs is None:
                continue
            spec = arguments(theirs, parameters_of(value)) if theirs else ""
            if spec is not None:
                found.append((name, new, first(spec, new), ""))
                break
    faults += sorted(f"PyTorch has no {name}" for name in DIFFERENT if name not in known and not name.startswith("torch.cuda"))
    if faults:
        sys.exit(f"torch_names: {'; '.join(faults)}. Mend torch_different.tsv.")
    return found


def main() -> int:
    text = ("# Names of PyTorch, Wherry's, arguments (old > new, old > dropped = where that changes nothing, ! the first one is not first), "
            "what is different. By tools/torch_names.py.\n")
    text += "".join("\t".join(row) + "\n" for row in rows())
    if "--check" in sys.argv:
        return 0 if TARGET.read_text() == text else 1
    TARGET.write_text(text)
    print(f"{TARGET}: {text.count(chr(10)) - 1} names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
