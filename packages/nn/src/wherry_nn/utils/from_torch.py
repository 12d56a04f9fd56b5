"""Load weights of PyTorch into layers.

The same mathematics has other names and layouts there: `Linear.weight` is `[out, in]`, statistics of a batch
normalization are `running_mean` and `running_var`, attention keeps three projections in one tensor, a
recurrent layer keeps all its cells' weights beside each other.
"""
from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from wherry_nn.layer import Layer
from wherry_nn.layers.activation import PReLU
from wherry_nn.layers.common import Linear
from wherry_nn.layers.norm import BatchNorm, _BatchNormBase, _InstanceNorm
from wherry_nn.layers.rnn import RNNBase
from wherry_nn.layers.transformer import MultiHeadAttention, TransformerDecoderLayer
from wherry_tensor import ops, to_tensor
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import names_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.explained import explained

__all__ = ["from_torch"]

_CONTAINERS = ("state_dict", "model_state_dict", "model", "net", "weights")  # where trainings keep the weights
_MOST_SHOWN = 20


def from_torch(state: Mapping[str, Any], layer: Layer, strict: bool = True, skip: Sequence[str] = ()) -> list[str]:
    """Load weights of PyTorch into a layer of the same structure. Either all of them fit and are written, or nothing is.

    Renamed are the statistics of batch normalizations, scales of instance normalizations and slopes of PReLU;
    transposed are weights of Linear; split up are the projections of attention and the weights of recurrent layers. A
    prefix that all names have (`module.`, `model.`) may be there or not.

    Args:
        state: names and values, as `torch_module.state_dict()` gives them or `paddle.load("model.pth")` reads them;
            tensors of either framework, or arrays. Or a dict that has them under "state_dict" or "model".
        layer: takes the values, in its own dtypes.
        strict: False writes what fits, and a warning lists what stays as it is.
        skip: names of weights, or of layers, that are left out, here and there: `skip=["fc"]` for a head of another size.

    Returns:
        The names in `state` that were left aside: counts of batches, which have no counterpart in Paddle, what `skip` names, and without
        `strict` what does not fit.

    Raises:
        ValueError: weights are missing, left over or of another shape, and `strict` is True: the message lists all of them; or `skip` names
            nothing that is there.
        TypeError: `state` is not a dict of tensors, or `layer` is not a Layer.

    Source:
        Wherry's own. The names are those of PyTorch 2.

    Examples:
        >>> layer = wherry.nn.Linear(2, 3)
        >>> state = {"weight": np.ones([3, 2], "float32"), "bias": np.zeros([3], "float32")}
        >>> wherry.nn.utils.from_torch(state, layer)
        []
        >>> layer.weight.shape
        [2, 3]
    """
    if not isinstance(layer, Layer):
        raise InvalidTypeError(
            f"from_torch: layer is not a Layer. Got {type(layer).__name__}, expected a paddle.nn.Layer. "
            f"Write from_torch(state, layer)."
        )
    given = _weights(state)
    targets = layer.state_dict(use_hook=False)
    wanted = dict(_wanted(layer, targets))
    prefix = _prefix(given, wanted)
    renamed = {name.removeprefix(prefix): value for name, value in given.items()}
    skip = [skip] if isinstance(skip, str) else sorted(names_of(skip, "from_torch", "skip"))
    skipped = [name for name in renamed if _named(name, skip)]
    unknown = [one for one in skip if not any(_named(name, [one]) for name in (*renamed, *targets))]
    if unknown:
        raise InvalidArgumentError(
            f"from_torch: skip names nothing that is there. Got {', '.join(map(repr, unknown))}, expected names of weights or of layers, such as "
            f"{', '.join(sorted({name.partition('.')[0] for name in targets})[:5])}."
        )
    renamed = {name: value for name, value in renamed.items() if name not in skipped}
    wanted = {name: (target, part) for name, (target, part) in wanted.items() if not _named(target, skip) and not _named(name, skip)}
    found, misfits, problems = _matched(wanted, renamed, targets, prefix)
    used = {*misfits, *(source for source, _tensor, _value in found)}
    unused = [name for name in renamed if name not in used]
    counts = [name for name in unused if name.rpartition(".")[2] == "num_batches_tracked"]
    problems += [f"left over: {prefix}{name} {_shape(renamed[name])}" for name in unused if name not in counts]
    listed = "\n  ".join(problems[:_MOST_SHOWN]) + (f"\n  ... and {len(problems) - _MOST_SHOWN} more" if len(problems) > _MOST_SHOWN else "")
    if problems and strict:
        raise InvalidArgumentError(
            f"from_torch: the weights do not fit {type(layer).__name__}. Got {len(problems)} that differ, of {len(wanted)}:\n  {listed}\n"
            f"Expected the names and shapes of the same layers in PyTorch. Nothing was written. Build the layer as it is there, "
            f"rename the keys of the dict, leave parts out with skip=['fc'], or take what fits with strict=False."
        )
    if problems:
        warnings.warn(
            f"from_torch: {len(found)} of {len(targets)} entries of {type(layer).__name__} were written, the others stay as they are:\n  {listed}",
            stacklevel=2,
        )
    for _source, tensor, value in found:
        tensor.set_value(ops.cast(value, dtype=tensor.dtype) if value.dtype is not tensor.dtype else value)
    left = unused if not strict else counts
    return [prefix + name for name in (*left, *dict.fromkeys(misfits), *skipped)]


def _matched(
    wanted: Mapping[str, tuple[str, _Part]], renamed: Mapping[str, Tensor], targets: Mapping[str, Tensor], prefix: str
) -> tuple[list[tuple[str, Tensor, Tensor]], list[str], list[str]]:
    """What fits: (its name there, our tensor, its value); the names there of what has another shape; and a line for each that does not fit."""
    found, misfits, problems = [], [], []
    for name, (target, part) in wanted.items():
        source = name if name in renamed else part.alternative
        if source not in renamed:
            problems.append(f"missing: {prefix}{part.alternative or name}, for {target}")
            continue
        value = part.take(renamed[source])
        if value is not None and value.shape == targets[target].shape:
            found.append((source, targets[target], value))
            continue
        misfits.append(source)
        problems.append(
            f"another shape: {prefix}{source} {_shape(renamed[source])}, for {target} {targets[target].shape}"
            f"{' (which is transposed)' if part.transposes else ''}"
        )
    return found, misfits, problems


def _named(name: str, chosen: Sequence[str]) -> bool:
    """Whether `name` is one of `chosen`, or lies inside one."""
    return any(name == one or name.startswith(f"{one}.") for one in chosen)


class _Part:
    """How a value of PyTorch is converted: transposed, changed, or under another name."""

    __slots__ = ("alternative", "change", "transposes")

    def __init__(self, change: Callable[[Tensor], Tensor | None] | None = None, alternative: str = "", transposes: bool = False) -> None:
        self.change, self.alternative, self.transposes = change, alternative, transposes

    def take(self, value: Tensor) -> Tensor | None:
        return value if self.change is None else self.change(value)


def _wanted(layer: Layer, targets: Mapping[str, Tensor]) -> Iterator[tuple[str, tuple[str, _Part]]]:
    """Yield PyTorch's name, our name and the conversion for each weight of `layer`."""
    owners = dict(layer.named_sublayers(include_self=True))
    for path in targets:
        owner_path, _, name = path.rpartition(".")
        owner = owners.get(owner_path)
        dot = f"{owner_path}." if owner_path else ""
        source, part = path, _Part()
        attention = re.fullmatch(r"(?:(.*)\.)?([qkv])_proj", owner_path)
        decoder = isinstance(owners.get(owner_path.partition("cross_attn")[0].rstrip(".")), TransformerDecoderLayer)
        recurrent = re.fullmatch(r"(?:(.*?)\.)?(\d+)\.(?:(cell)|cell_(fw|bw))", owner_path)
        if attention and isinstance(owners.get(attention[1] or ""), MultiHeadAttention):
            source, part = _of_attention(attention[1], attention[2], name)
        elif recurrent and isinstance(owners.get(recurrent[1] or ""), RNNBase):
            base = f"{recurrent[1]}." if recurrent[1] else ""
            source = f"{base}{name}_l{recurrent[2]}{'_reverse' if recurrent[4] == 'bw' else ''}"
        elif isinstance(owner, Linear) and name == "weight":
            part = _Part(_transposed, transposes=True)
        elif isinstance(owner, (_BatchNormBase, BatchNorm)) and name in ("_mean", "_variance"):
            source = dot + {"_mean": "running_mean", "_variance": "running_var"}[name]
        elif isinstance(owner, _InstanceNorm) and name == "scale" or isinstance(owner, PReLU) and name == "_weight":
            source = dot + "weight"
        if decoder and "cross_attn" in path:
            source = source.replace("cross_attn", "multihead_attn")
            part.alternative = part.alternative.replace("cross_attn", "multihead_attn")
        # One tensor of PyTorch becomes several of ours, so keys of split tensors keep our full name to differ.
        yield (path if part.alternative else source), (path, part)


def _of_attention(owner: str | None, which: str, name: str) -> tuple[str, _Part]:
    """The projection `which`: cut out of the one tensor for all three, or a tensor of its own where their widths differ."""
    dot = f"{owner}." if owner else ""
    row = "qkv".index(which)

    def third(value: Tensor) -> Tensor | None:
        if not value.shape or value.shape[0] % 3:
            return None
        size = value.shape[0] // 3
        piece = value[row * size : (row + 1) * size]
        return _transposed(piece) if name == "weight" else piece

    return f"{dot}{which}_proj.{name}", _Part(third, f"{dot}in_proj_{name}", name == "weight")


def _transposed(value: Tensor) -> Tensor | None:
    return ops.copy(ops.transpose(value, (1, 0))) if len(value.shape) == 2 else None


def _weights(state: Any) -> dict[str, Tensor]:
    """The tensors of a state, also where a checkpoint nests it."""
    if isinstance(state, Mapping):
        for key in _CONTAINERS:
            if isinstance(state.get(key), Mapping):
                state = state[key]
                break
    if not isinstance(state, Mapping) or not all(isinstance(name, str) for name in state):
        raise InvalidTypeError(
            f"from_torch: state is not a dict of tensors. Got {type(state).__name__}, expected a dict of names and tensors. Pass "
            f"torch_module.state_dict(), or paddle.load('model.pth')."
        )
    found, others = {}, []
    for name, value in state.items():
        if isinstance(value, Tensor):
            found[name] = value.detach()
        elif hasattr(value, "shape"):
            found[name] = _as_tensor(value)
        else:
            others.append(f"{name!r} ({type(value).__name__})")
    if others:
        raise InvalidTypeError(
            f"from_torch: state holds something other than tensors. Got {', '.join(others[:5])} in it, expected tensors or arrays. Pass the part "
            f"that has the weights, such as checkpoint['model']."
        )
    return found


def _as_tensor(value: Any) -> Tensor:
    if hasattr(value, "detach"):  # of PyTorch
        value = value.detach().cpu().contiguous()
        if str(value.dtype) == "torch.bfloat16":  # which NumPy does not have, and float32 holds exactly
            value = value.float()
        value = value.numpy()
    return to_tensor(value)


def _prefix(given: Mapping[str, Any], wanted: Mapping[str, tuple[str, _Part]]) -> str:
    """The prefix of all names that DataParallel or Lightning added; empty where the names fit as they are."""
    names = list(given)
    if not names or any(name in given for name in wanted):
        return ""
    first = names[0].partition(".")[0] + "."
    return first if all(name.startswith(first) for name in names) else ""


def _shape(value: Tensor) -> str:
    return str(value.shape)


explained(globals())
