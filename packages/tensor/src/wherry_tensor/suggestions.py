"""Did you mean ...: what somebody may have meant by a name that is not here.

One table knows how PyTorch and NumPy call things; spelling decides the rest. Whoever looks up a name asks
`did_you_mean`: modules and layers for attributes, classes and functions for keyword arguments,
`wherry ops` for ops. Nothing here runs before a look-up has failed.
"""
from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable
from types import FunctionType, ModuleType
from typing import Any

__all__ = ["check_keywords", "did_you_mean", "hint_for", "keywords_of"]

# Names of PyTorch and NumPy: the name here, or a sentence where one name does not say it. A name is only
# suggested where it exists (a keyword argument to a function that has it, say).
FOREIGN: dict[str, str] = {
    # Tensors and functions.
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "around": "round",
    "array": "to_tensor",
    "array_equal": "equal_all",
    "average": "mean",
    "clamp_max": "Use clip(x, max=...).",
    "clamp_min": "Use clip(x, min=...).",
    "conjugate": "conj",
    "copy": "clone",
    "expand_dims": "unsqueeze",
    "fill": "full",
    "fliplr": "Use flip(x, axis=1).",
    "flipud": "Use flip(x, axis=0).",
    "fmod": "Use x % y (the sign follows the divisor).",
    "fluid": "Paddle dropped it in 2.5. Use wherry.nn, wherry.optimizer and wherry.io.",
    "histc": "histogram",
    "identity": "eye",
    "index_copy": "scatter",
    "invert": "bitwise_not",
    "is_cuda": "Use x.place.",
    "log_softmax": "nn.functional.log_softmax",
    "movedim": "moveaxis",
    "nelement": "numel",
    "new_full": "full_like",
    "new_ones": "ones_like",
    "new_tensor": "to_tensor",
    "new_zeros": "zeros_like",
    "permute_dims": "transpose",
    "power": "pow",
    "put": "put_along_axis",
    "radians": "deg2rad",
    "relu": "nn.functional.relu",
    "reshape_as": "Use x.reshape(y.shape).",
    "retain_grad": "retain_grads",
    "rint": "round",
    "stride": "strides",
    "tensor": "to_tensor",
    "vdot": "dot",
    # Layers and their functions. Conv2d for Conv2D and the like differ in case alone, and need no entry.
    "ConvTranspose1d": "Conv1DTranspose",
    "ConvTranspose2d": "Conv2DTranspose",
    "ConvTranspose3d": "Conv3DTranspose",
    "Dropout1d": "Dropout",
    "MultiheadAttention": "MultiHeadAttention",
    "RNNBase": "SimpleRNN",
    "RNNCell": "SimpleRNNCell",
    "conv_transpose1d": "conv1d_transpose",
    "conv_transpose2d": "conv2d_transpose",
    "conv_transpose3d": "conv3d_transpose",
    "huber_loss": "smooth_l1_loss",
    "kaiming_normal_": "KaimingNormal",
    "kaiming_uniform_": "KaimingUniform",
    "upsample_bilinear": "Use upsample(x, mode='bilinear').",
    "upsample_nearest": "Use upsample(x, mode='nearest').",
    "xavier_normal_": "XavierNormal",
    "xavier_uniform_": "XavierUniform",
    "zero_grad": "clear_grad",
    "zeros_": "Constant",
    "Dense": "Linear",
    # Modules and tools.
    "compile": "jit.to_static",
    "data": "Use wherry.io: DataLoader, Dataset, TensorDataset, random_split.",
    "func": "Use wherry.autograd.jacobian and hessian, or wherry.incubate.autograd.vjp and jvp.",
    "inference_mode": "no_grad",
    "optim": "optimizer",
    "script": "to_static",
    "vmap": (
        "There is none: write the function for a whole batch, since functions take leading axes. autograd.jacobian(y, x, batch_axis=0) gives "
        "derivatives of each sample."
    ),
    # Optimizers and learning rates.
    "CosineAnnealingLR": "CosineAnnealingDecay",
    "ExponentialLR": "ExponentialDecay",
    "LambdaLR": "LambdaDecay",
    "MultiStepLR": "MultiStepDecay",
    "MultiplicativeLR": "MultiplicativeDecay",
    "PolynomialLR": "PolynomialDecay",
    "RMSprop": "RMSProp",
    "ReduceLROnPlateau": "ReduceOnPlateau",
    "StepLR": "StepDecay",
    "lr_scheduler": "lr",
    "param_groups": "Use parameters=[{'params': ..., 'learning_rate': ...}], and get_lr or set_lr.",
    # Keyword arguments.
    "affine": "Use weight_attr=False and bias_attr=False.",
    "batch_first": "Leave it out: the batch is the first axis unless time_major=True.",
    "betas": "Use beta1=..., beta2=...",
    "bias": "bias_attr",
    "decimals": "Multiply by a power of ten, round and divide again.",
    "dim": "axis",
    "dim0": "Use transpose(x, perm) with the order of all axes.",
    "dim1": "Use transpose(x, perm) with the order of all axes.",
    "dims": "axis",
    "elementwise_affine": "Use weight_attr=False and bias_attr=False.",
    "end_dim": "stop_axis",
    "eps": "epsilon",
    "gamma": "weight_attr",
    "in_dim": "in_features",
    "in_size": "in_features",
    "in_planes": "in_channels",
    "input": "x",
    "inplace": "Call the function whose name ends in an underscore.",
    "keepdims": "keepdim",
    "lr": "learning_rate",
    "momentum": "Use optimizer.Momentum(learning_rate, momentum).",
    "out_dim": "out_features",
    "out_planes": "out_channels",
    "out_size": "out_features",
    "params": "parameters",
    "pin_memory": "Leave it out: with a GPU as the device, batches go through pinned memory.",
    "sizes": "shape",
    "start_dim": "start_axis",
    "track_running_stats": "Use use_global_stats.",
}
# Where the first entry does not exist, these are tried: `size` is a shape in rand and a size in interpolate.
_OTHERS: dict[str, tuple[str, ...]] = {
    "a": ("x",),
    "b": ("y",),
    "axis": ("dim",),
    "dim": ("axis", "axes", "perm", "num_axes"),
    "end_dim": ("stop_axis",),
    "eps": ("epsilon", "delta"),
    "input": ("x", "inputs"),
    "learning_rate": ("lr",),
    "num_features": ("num_channels",),
    "other": ("y",),
    "out_channels": ("num_filters",),
    "p": ("p", "prob"),
    "size": ("shape",),
    "target": ("label",),
    "x": ("input", "x"),
    "y": ("other", "y"),
    "zero_grad": ("clear_gradients",),
}


def did_you_mean(name: str, candidates: Iterable[str], *, reaches: Callable[[str], bool] | None = None) -> str:
    """" Did you mean 'Conv2D'?", with a space before it, or "" when nothing comes near.

    Args:
        name: what was looked up.
        candidates: the names there are.
        reaches: whether a path like "nn.functional.relu" exists; None believes the table.
    """
    names = [one for one in candidates if not one.startswith("_") or name.startswith("_")]
    known = set(names)
    if name in FOREIGN:
        meant = FOREIGN[name]
        if " " in meant:
            return f" {meant}"
        if meant in known or ("." in meant and (reaches is None or reaches(meant))):
            return f" Did you mean {meant!r}?"
    for meant in _OTHERS.get(name, ()):
        if meant in known:
            return f" Did you mean {meant!r}?"
    import difflib

    plain = _plain(name)
    near = [one for one in names if _plain(one) == plain] or difflib.get_close_matches(name, names, n=2, cutoff=0.72)
    near = list({_plain(one): one for one in reversed(near)}.values())[::-1]  # softmax, and not softmax_ besides
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def keywords_of(function: Any) -> list[str]:
    """Names of the arguments that `function` takes by name."""
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # compiled
        return []
    return [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) and one.name != "self"]


def check_keywords(kind: type, given: Collection[str], takes: Callable[[Any, str], bool] = lambda function, name: False) -> None:
    """Raise TypeError, with a hint, when `kind` is called with keyword arguments that its __init__ does not have.

    Only for classes whose __init__ is ours: what other people's classes take is their business. `takes` knows other spellings of arguments.
    """
    init: Any = kind.__init__  # type: ignore[misc]
    while hasattr(init, "__wrapped__"):
        init = init.__wrapped__
    code = getattr(init, "__code__", None)
    if code is None or code.co_flags & _CO_VARKEYWORDS or not is_ours(init.__globals__.get("__name__", "")):
        return
    count = code.co_argcount + code.co_kwonlyargcount
    known = code.co_varnames[1:count]
    for name in given:
        if name not in known:
            if takes(kind.__init__, name):  # type: ignore[misc]
                continue
            raise TypeError(
                f"{kind.__name__}: there is no argument {name!r}. Got {name}=, expected one of {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )


def is_ours(module: str) -> bool:
    """Whether a module of this name belongs to Wherry."""
    return module.partition(".")[0] in _OURS


_CO_VARKEYWORDS = 0x08  # of inspect, which takes long to import

_OURS = frozenset(
    (
        "wherry", "wherry_tensor", "wherry_ops_cpu", "wherry_ops_cuda", "wherry_autograd", "wherry_nn", "wherry_train", "wherry_graph",
        "wherry_infer", "wherry_export", "wherry_vision", "wherry_web", "wherry_distribution", "wherry_sparse", "wherry_text", "wherry_audio",
        "wherry_extension", "wherry_program", "wherry_paddle_files", "wherry_onnx_files", "wherry_distributed", "wherry_cuda_emulator",
        "wherry_pytest", "wherry_quant", "wherry_migrate",
    )
)
_UNEXPECTED = re.compile(r"([\w.<>]+)\(\) got an unexpected keyword argument '(\w+)'")
_TOO_MANY = re.compile(r"([\w.<>]+)\(\) takes (?:from )?[\d to]+ positional arguments? but \d+ (?:were|was) given")
_LISTS = ("shape", "perm", "axis", "repeat_times", "sizes")  # arguments that PyTorch takes one by one


def hint_for(error: TypeError, text: str) -> str:
    """What was meant by a call of one of our functions that Python itself refused, or "".

    Python says "sum() got an unexpected keyword argument 'dim'" before the function runs; the core asks for this when
    somebody reads the error's text.
    """
    hint = ""
    if not _knows_us(error):
        return hint
    if text == "'int' object is not callable" and ".size(" in _line_of(error):
        hint = "size is the number of elements of a tensor; the size of an axis is x.shape[0]."
    elif found := _UNEXPECTED.match(text):
        function = _function_called(found[1])
        if function is not None and not re.search(r"Did you mean", text):
            names = keywords_of(function)
            near = did_you_mean(found[2], names).strip()
            hint = near or (f"It takes {', '.join(names)}." if names else "")
    elif text.startswith("Layer.train() takes"):
        hint = "train() sets training mode; write layer.eval() for the other."
    elif found := _TOO_MANY.match(text):
        function = _function_called(found[1])
        named = [name for name in keywords_of(function) if name in _LISTS] if function is not None else []
        if named:
            short = found[1].rpartition(".")[2]
            hint = f"{named[0]!r} is one list: {short}([2, 3]) and not {short}(2, 3)."
    return hint


def _knows_us(error: BaseException) -> bool:
    """Whether the calling code uses anything of Wherry's: functions of other libraries have the same names."""
    last = error.__traceback__
    if last is None:
        return False
    while last.tb_next is not None:
        last = last.tb_next
    frame = last.tb_frame
    held = [*frame.f_locals.values(), *frame.f_globals.values()]
    return any(is_ours(_module_of(value)) for value in held)


def _module_of(value: Any) -> str:
    """The module that a module is, or that a function, a class or an object comes from."""
    if isinstance(value, ModuleType):
        return value.__name__
    return str(value.__module__ if isinstance(value, (FunctionType, type)) else type(value).__module__)


def _line_of(error: BaseException) -> str:
    """The line of source that raised."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    import linecache

    return "" if last is None else linecache.getline(last.tb_frame.f_code.co_filename, last.tb_lineno)


def _function_called(qualname: str) -> Any:
    """Our function or class of this name, or None."""
    name, _, rest = qualname.partition(".")
    for module_name, module in sorted(sys.modules.items()):
        if is_ours(module_name) and module is not None:
            found = vars(module).get(name)
            if found is not None and is_ours(home := getattr(found, "__module__", None) or "") and not home.endswith(".compat"):
                for part in rest.split(".") if rest else ():
                    found = getattr(found, part, None)
                if found is not None:
                    return found
    return None
