"""Writes the table of PyTorch's names and Wherry's: packages/migrate/src/wherry_migrate/torch.tsv.

    TORCH_PYTHON=/path/to/python python tools/torch_names.py            # --check: whether the file is what it should be

Names and arguments come from both packages: a name is in the table where both have it (under the same word, or one of `RENAMED`) and every
argument that PyTorch requires has a counterpart. What has the same word and another meaning stands in `DIFFERENT`, with what to do.
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
    "input": "x", "dim": "axis", "dims": "axis", "other": "y", "eps": "epsilon", "lr": "learning_rate", "params": "parameters", "size": "shape", "target": "label",
    "bias": "bias_attr", "padding_mode": "padding_mode", "tensors": "x", "self": "x", "indices": "index", "dim0": "axis0", "dim1": "axis1", "exponent": "y",
    "vec2": "y", "mat2": "y", "vec": "vec", "A": "x", "num_samples": "num_samples", "descending": "descending", "n": "n", "norm": "norm", "output_size": "output_size",
    "normalized_shape": "normalized_shape", "embed_dim": "embed_dim", "in_features": "in_features", "tensor": "x", "a": "x", "b": "y", "beta": "beta", "lambd": "threshold",
    "num_channels": "num_channels", "optimizer": None, "p": "p", "split_size_or_sections": "num_or_sections", "chunks": "chunks", "repeats": "repeats", "end": "end",
}
DROPPED = {"out": "None", "device": "None", "layout": "torch.strided", "requires_grad": "False", "pin_memory": "False", "memory_format": "", "size_average": "None", "reduce": "None",
           "inplace": "False True", "foreach": "None", "fused": "None", "capturable": "False", "differentiable": "False", "maximize": "False", "dtype": "", "generator": "None",
           "verbose": "False", "_stacklevel": "3"}
RENAMED = {
    "torch.tensor": "paddle.to_tensor", "torch.as_tensor": "paddle.to_tensor", "torch.from_numpy": "paddle.to_tensor", "torch.manual_seed": "paddle.seed",
    "torch.cat": "paddle.concat", "torch.clamp": "paddle.clip", "torch.sub": "paddle.subtract", "torch.mul": "paddle.multiply", "torch.div": "paddle.divide",
    "torch.eq": "paddle.equal", "torch.ne": "paddle.not_equal", "torch.lt": "paddle.less_than", "torch.le": "paddle.less_equal", "torch.gt": "paddle.greater_than",
    "torch.ge": "paddle.greater_equal", "torch.permute": "paddle.transpose", "torch.movedim": "paddle.moveaxis", "torch.arccos": "paddle.acos", "torch.arcsin": "paddle.asin",
    "torch.arctan": "paddle.atan", "torch.arctan2": "paddle.atan2", "torch.arcsinh": "paddle.asinh", "torch.arccosh": "paddle.acosh", "torch.arctanh": "paddle.atanh",
    "torch.absolute": "paddle.abs", "torch.negative": "paddle.neg", "torch.rand": "paddle.rand", "torch.true_divide": "paddle.divide",
    "torch.inverse": "paddle.linalg.inv", "torch.det": "paddle.linalg.det", "torch.slogdet": "paddle.linalg.slogdet", "torch.cholesky": "paddle.linalg.cholesky",
    "torch.nn.Module": "paddle.nn.Layer", "torch.nn.ModuleList": "paddle.nn.LayerList", "torch.nn.ModuleDict": "paddle.nn.LayerDict",
    "torch.nn.MultiheadAttention": "paddle.nn.MultiHeadAttention", "torch.nn.KLDivLoss": "paddle.nn.KLDivLoss", "torch.nn.Parameter": "paddle.create_parameter",
    "torch.nn.AdaptiveAvgPool1d": "paddle.nn.AdaptiveAvgPool1D", "torch.nn.Hardtanh": "paddle.nn.Hardtanh", "torch.nn.Upsample": "paddle.nn.Upsample",
    "torch.nn.functional.logsigmoid": "paddle.nn.functional.log_sigmoid", "torch.nn.functional.conv_transpose1d": "paddle.nn.functional.conv1d_transpose",
    "torch.nn.functional.conv_transpose2d": "paddle.nn.functional.conv2d_transpose", "torch.nn.functional.conv_transpose3d": "paddle.nn.functional.conv3d_transpose",
    "torch.nn.ConvTranspose1d": "paddle.nn.Conv1DTranspose", "torch.nn.ConvTranspose2d": "paddle.nn.Conv2DTranspose", "torch.nn.ConvTranspose3d": "paddle.nn.Conv3DTranspose",
    "torch.nn.ZeroPad2d": "paddle.nn.ZeroPad2D", "torch.nn.Softmax2d": "paddle.nn.Softmax2D", "torch.nn.Dropout1d": "paddle.nn.Dropout", "torch.utils.data.DataLoader": "paddle.io.DataLoader",
    "torch.optim.Optimizer": "paddle.optimizer.Optimizer", "torch.is_tensor": "paddle.is_tensor", "torch.get_default_dtype": "paddle.get_default_dtype",
    "torch.set_default_dtype": "paddle.set_default_dtype", "torch.set_grad_enabled": "paddle.set_grad_enabled", "torch.nn.utils.clip_grad_norm_": "paddle.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad_value_": "paddle.nn.utils.clip_grad_value_", "torch.autograd.grad": "paddle.grad", "torch.autograd.Function": "paddle.autograd.PyLayer",
    "torch.cuda.is_available": "paddle.is_compiled_with_cuda", "torch.inference_mode": "paddle.no_grad",
}
# torch name -> (paddle name, arguments, what is different). Without a new name the converter leaves it and says so.
DIFFERENT: dict[str, tuple[str, str, str]] = {
    "torch.max": ("paddle.max", "input > x, dim > axis, keepdim", "with dim it gave values and positions: paddle.max gives values, paddle.argmax positions"),
    "torch.min": ("paddle.min", "input > x, dim > axis, keepdim", "with dim it gave values and positions: paddle.min gives values, paddle.argmin positions"),
    "torch.sort": ("paddle.sort", "input > x, dim > axis, descending", "gave values and positions: paddle.sort gives values, paddle.argsort positions"),
    "torch.median": ("paddle.median", "input > x, dim > axis, keepdim", "of an even count PyTorch takes the lower one, Paddle the mean of both; with dim it gave positions too"),
    "torch.equal": ("paddle.equal_all", "input > x, other > y", "gives a 0-d tensor, which counts as a bool"),
    "torch.linalg.norm": ("paddle.linalg.norm", "A > x, ord > p, dim > axis, keepdim", ""),
    "torch.dot": ("paddle.dot", "input > x, tensor > y, out > = None", ""),
    "torch.diag": ("paddle.diag", "input > x, diagonal > offset, out > = None", ""),
    "torch.diagonal": ("paddle.diagonal", "input > x, offset, dim1 > axis1, dim2 > axis2", ""),
    "torch.flatten": ("paddle.flatten", "input > x, start_dim > start_axis, end_dim > stop_axis", ""),
    "torch.nn.Flatten": ("paddle.nn.Flatten", "start_dim > start_axis, end_dim > stop_axis", ""),
    "torch.rot90": ("paddle.rot90", "input > x, k, dims > axes", ""),
    "torch.tensordot": ("paddle.tensordot", "a > x, b > y, dims > axes, out > = None", ""),
    "torch.unique": ("paddle.unique", "input > x, sorted > = True, return_inverse, return_counts, dim > axis", ""),
    "torch.meshgrid": ("paddle.meshgrid", "", "the first axis is that of the first vector, as with indexing='ij'"),
    "torch.nn.ModuleList": ("paddle.nn.LayerList", "modules > sublayers", ""),
    "torch.nn.ModuleDict": ("paddle.nn.LayerDict", "modules > sublayers", ""),
    "torch.nn.ParameterList": ("paddle.nn.ParameterList", "values > parameters", ""),
    "torch.nn.Hardtanh": ("paddle.nn.Hardtanh", "min_val > min, max_val > max, inplace > = False True", ""),
    "torch.nn.SmoothL1Loss": ("paddle.nn.SmoothL1Loss", "size_average > = None, reduce > = None, reduction, beta > delta", "equal where beta is 1; otherwise delta scales the loss too"),
    "torch.nn.GELU": ("paddle.nn.GELU", "approximate", ""),
    "torch.nn.functional.gelu": ("paddle.nn.functional.gelu", "input > x, approximate", ""),
    "torch.nn.RNN": ("paddle.nn.SimpleRNN", "input_size, hidden_size, num_layers, nonlinearity > activation, bias > = True, batch_first > time_major, dropout, bidirectional > direction", ""),
    "torch.optim.Adamax": ("paddle.optimizer.Adamax", "params > parameters, lr > learning_rate, betas >, eps > epsilon, weight_decay", ""),
    "torch.transpose": ("", "", "paddle.transpose takes the order of all axes: of three, transpose(x, 1, 2) is paddle.transpose(x, [0, 2, 1])"),
    "torch.permute": ("paddle.transpose", "input > x, dims > perm", ""),
    "torch.gather": ("paddle.take_along_axis", "input > arr, dim > axis, index > indices", ""),
    "torch.index_select": ("paddle.index_select", "input > x, dim > axis, index", ""),
    "torch.scatter": ("paddle.put_along_axis", "input > arr, dim > axis, index > indices, src > values", ""),
    "torch.split": ("", "", "the second argument is the size of a part in PyTorch and the number of parts in paddle.split"),
    "torch.std": ("paddle.std", "input > x, dim > axis, unbiased, keepdim", ""),
    "torch.var": ("paddle.var", "input > x, dim > axis, unbiased, keepdim", ""),
    "torch.full": ("paddle.full", "size > shape, fill_value, dtype", ""),
    "torch.repeat_interleave": ("paddle.repeat_interleave", "input > x, repeats, dim > axis", ""),
    "torch.load": ("paddle.load", "f > path", "paddle.load reads PyTorch's files too; paddle.nn.utils.from_torch fits the weights into a network"),
    "torch.save": ("paddle.save", "obj, f > path", ""),
    "torch.device": ("", "", "a device is text here: paddle.set_device('cpu') once, then tensors are made on it"),
    "torch.compile": ("", "", "paddle.jit.to_static(network) is the nearest thing"),
    "torch.norm": ("paddle.norm", "input > x, p, dim > axis, keepdim", ""),
    "torch.where": ("paddle.where", "condition, input > x, other > y", ""),
    "torch.addmm": ("paddle.addmm", "input, mat1 > x, mat2 > y", ""),
    "torch.nn.Linear": ("paddle.nn.Linear", "in_features, out_features, bias > bias_attr, device > = None, dtype > = None", ""),
    "torch.nn.Embedding": ("paddle.nn.Embedding", "num_embeddings, embedding_dim, padding_idx, max_norm > = None, norm_type > = 2.0, scale_grad_by_freq > = False, sparse", ""),
    "torch.nn.LayerNorm": ("paddle.nn.LayerNorm", "normalized_shape, eps > epsilon, elementwise_affine > = True, bias > bias_attr", ""),
    "torch.nn.GroupNorm": ("paddle.nn.GroupNorm", "num_groups, num_channels, eps > epsilon, affine > = True", ""),
    "torch.nn.MultiheadAttention": ("paddle.nn.MultiHeadAttention", "embed_dim, num_heads, dropout, bias > bias_attr, batch_first > = True",
                                    "takes the batch first, and gives weights only with need_weights=True"),
    "torch.nn.Parameter": ("", "", "write self.create_parameter(shape, default_initializer=paddle.nn.initializer.Assign(value)) in a layer"),
    "torch.nn.CrossEntropyLoss": ("paddle.nn.CrossEntropyLoss", "weight, size_average > = None, ignore_index, reduce > = None, reduction, label_smoothing", ""),
    "torch.nn.functional.cross_entropy": ("paddle.nn.functional.cross_entropy", "input, target > label, weight, size_average > = None, ignore_index, reduce > = None, reduction, label_smoothing", ""),
    "torch.nn.functional.one_hot": ("paddle.nn.functional.one_hot", "tensor > x, num_classes", "gives float32, PyTorch int64; num_classes cannot be left out"),
    "torch.nn.functional.pad": ("paddle.nn.functional.pad", "input > x, pad, mode, value", "fewer numbers than two for each axis pad the axes behind N and C, as in PyTorch for pictures"),
    "torch.nn.functional.layer_norm": ("paddle.nn.functional.layer_norm", "input > x, normalized_shape, weight, bias, eps > epsilon", ""),
    "torch.nn.functional.batch_norm": ("paddle.nn.functional.batch_norm", "input > x, running_mean, running_var, weight, bias, training, momentum, eps > epsilon",
                                       "momentum is that of the old value here: 1 - momentum"),
    "torch.optim.SGD": ("paddle.optimizer.SGD", "params > parameters, lr > learning_rate, momentum > = 0, dampening > = 0, weight_decay, nesterov > = False",
                        "with momentum it is paddle.optimizer.Momentum"),
    "torch.optim.Adam": ("paddle.optimizer.Adam", "params > parameters, lr > learning_rate, betas >, eps > epsilon, weight_decay, amsgrad > = False", ""),
    "torch.optim.AdamW": ("paddle.optimizer.AdamW", "params > parameters, lr > learning_rate, betas >, eps > epsilon, weight_decay, amsgrad > = False", ""),
    "torch.utils.data.random_split": ("paddle.io.random_split", "dataset, lengths, generator > = None", "draws other parts than PyTorch from the same seed"),
    "torch.utils.data.DataLoader": ("paddle.io.DataLoader", "dataset, batch_size, shuffle, sampler > = None, batch_sampler, num_workers, collate_fn, pin_memory > = False True, drop_last, timeout", ""),
    "torch.autograd.Function": ("paddle.autograd.PyLayer", "", "ctx.saved_tensors is ctx.saved_tensor() here"),
    "torch.cuda.is_available": ("paddle.is_compiled_with_cuda", "", ""),
    "torch.tensor": ("paddle.to_tensor", "data, dtype, device > place, requires_grad > = False", ""),
    "torch.manual_seed": ("paddle.seed", "seed", "the numbers that follow are others than PyTorch's"),
    "torch.clamp": ("paddle.clip", "input > x, min, max, out > = None", ""),
    "torch.cat": ("paddle.concat", "tensors > x, dim > axis, out > = None", ""),
    "torch.einsum": ("paddle.einsum", "", ""),
    "torch.arange": ("paddle.arange", "", ""),
    "torch.flip": ("paddle.flip", "input > x, dims > axis", ""),
    "torch.roll": ("paddle.roll", "input > x, shifts, dims > axis", ""),
    "torch.tile": ("paddle.tile", "input > x, dims > repeat_times", ""),
    "torch.autograd.grad": ("paddle.grad", "outputs, inputs, grad_outputs, retain_graph, create_graph", ""),
}
for _name in ("sum", "mean", "prod", "nansum", "all", "any"):
    DIFFERENT[f"torch.{_name}"] = (f"paddle.{_name}", "input > x, dim > axis, keepdim, dtype" if _name in ("sum", "prod", "nansum") else "input > x, dim > axis, keepdim, dtype >", "")
for _name in ("argmax", "argmin", "nanmedian"):
    DIFFERENT[f"torch.{_name}"] = (f"paddle.{_name}", "input > x, dim > axis, keepdim", "")
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"):
    DIFFERENT[f"torch.{_name}"] = (f"paddle.{_name}", "input > x, other > y, out > = None", "")
for _name in ("atleast_1d", "atleast_2d", "atleast_3d", "enable_grad", "no_grad", "nn.Module", "nn.Sequential", "nn.Identity"):
    DIFFERENT[f"torch.{_name}"] = (f"paddle.{_name.replace('nn.Module', 'nn.Layer')}", "", "")
for _dims in "123":
    DIFFERENT[f"torch.nn.MaxPool{_dims}d"] = (f"paddle.nn.MaxPool{_dims}D", "kernel_size, stride, padding, dilation > = 1, return_indices > return_mask, ceil_mode", "")
    DIFFERENT[f"torch.nn.functional.max_pool{_dims}d"] = (f"paddle.nn.functional.max_pool{_dims}d", "input > x, kernel_size, stride, padding, dilation > = 1, ceil_mode, return_indices > return_mask", "")
    _rest = "ceil_mode, count_include_pad > exclusive" + ("" if _dims == "1" else ", divisor_override")
    DIFFERENT[f"torch.nn.AvgPool{_dims}d"] = (f"paddle.nn.AvgPool{_dims}D", f"kernel_size, stride, padding, {_rest}", "")
    DIFFERENT[f"torch.nn.functional.avg_pool{_dims}d"] = (f"paddle.nn.functional.avg_pool{_dims}d", f"input > x, kernel_size, stride, padding, {_rest}", "")
    DIFFERENT[f"torch.nn.BatchNorm{_dims}d"] = (f"paddle.nn.BatchNorm{_dims}D", "num_features, eps > epsilon, momentum, affine > = True, track_running_stats > = True",
                                                "momentum is that of the old value here: what was 0.1 is 0.9 (the defaults agree)")
    DIFFERENT[f"torch.nn.InstanceNorm{_dims}d"] = (f"paddle.nn.InstanceNorm{_dims}D", "num_features, eps > epsilon, momentum, affine > = True, track_running_stats > = False",
                                                   "has weights unless weight_attr=False and bias_attr=False; PyTorch's has none unless affine=True")
for _cell in ("LSTM", "GRU"):
    DIFFERENT[f"torch.nn.{_cell}"] = (f"paddle.nn.{_cell}", "input_size, hidden_size, num_layers, bias > = True, batch_first > time_major, dropout, bidirectional > direction", "")
for _step in ("StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "ReduceLROnPlateau", "LambdaLR", "OneCycleLR", "CyclicLR", "LinearLR", "PolynomialLR"):
    DIFFERENT[f"torch.optim.lr_scheduler.{_step}"] = ("", "", "a schedule is made first, with the learning rate, and given to the optimizer: "
                                                      "scheduler = paddle.optimizer.lr.StepDecay(0.1, 10); Adam(learning_rate=scheduler, ...)")
SHAPES = ("zeros", "ones", "rand", "randn", "empty")  # their sizes may come one by one
for _name in SHAPES:
    DIFFERENT[f"torch.{_name}"] = (f"paddle.{_name}", "", "")
# Same word, nothing in common, or of no use to a program.
LEFT_OUT = {"torch.hub", "torch.ops", "torch.library", "torch.DataParallel", "torch.Generator", "torch.Tensor.data", "torch.Size", "torch.set_flags", "torch.range", "torch.clone",
            "torch.typename", "torch.seed", "torch.normal", "torch.nn.SyncBatchNorm", "torch.from_dlpack", "torch.save", "torch.histogram", "torch.unique_consecutive"} - {"torch.clone", "torch.save"}

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
        words.append(leaf[:-1] + "D")
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
        sys.exit(f"torch_names: {'; '.join(faults)}. Mend DIFFERENT.")
    return found


def main() -> int:
    text = "# Names of PyTorch, Wherry's, arguments (old > new, old > dropped = where that changes nothing, ! the first one is not first), what is different. By tools/torch_names.py.\n"
    text += "".join("\t".join(row) + "\n" for row in rows())
    if "--check" in sys.argv:
        return 0 if TARGET.read_text() == text else 1
    TARGET.write_text(text)
    print(f"{TARGET}: {text.count(chr(10)) - 1} names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
