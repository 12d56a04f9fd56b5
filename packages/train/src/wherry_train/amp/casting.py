"""Mixed precision: `auto_cast`, and `decorate` for parameters of 16 bits.

`auto_cast` installs one outer layer in the dispatcher of the calling thread: it gets every op with its
inputs, looks it up in the column of lists.py, and calls it with cast inputs. Casts are ops with
gradients, so gradients arrive in the dtype of what was cast. Backward goes past the layer: its ops
compute in the dtypes that the forward pass has chosen. Outside of `auto_cast` there is no layer, and no cost.
"""
from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from wherry_nn import Layer
from wherry_nn import layers as nn_layers
from wherry_nn.parameter import Parameter
from wherry_tensor import _core, columns, ops
from wherry_tensor._core import DType, Op, Tensor, pop_layer, push_layer
from wherry_tensor.arguments import names_of
from wherry_tensor.errors import AssertedTypeError, short
from wherry_tensor.explained import explained
from wherry_train.amp import lists
from wherry_train.optimizer import Optimizer

__all__ = [
    "amp_decorate", "amp_guard", "auto_cast", "autocast", "decorate", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
    "is_autocast_enabled", "is_bfloat16_supported", "is_float16_supported",
]

Rules: TypeAlias = "dict[Op | None, Any]"

_float32 = _core.float32
_half = {"float16": _core.float16, "bfloat16": _core.bfloat16}


class _Autocast:
    """The layer. `rules` is None where nothing is cast."""

    forward_only = True
    arguments: tuple[Any, ...]

    def __init__(self, rules: Rules | None, low: DType) -> None:
        self.rules = rules
        self.low = low
        self._kept: dict[Parameter, tuple[int, Tensor]] = {}  # parameters that were cast: their version, and the cast

    def __call__(self, op: Op, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        rules = self.rules
        if rules is None:
            return op.apply(inputs, attrs)
        rule = rules.get(op)
        if rule is None:
            rule = rules[None]
        elif rule is lists.white and (op is ops.linear or op is ops.conv2d) and inputs[2] is not None:
            return self._biased(rules, op, inputs, attrs)
        return op.apply(self._white(inputs) if rule is lists.white else rule(inputs, self.low), attrs)

    def _white(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """As `lists.white`, but casts of parameters last as long as the block. Not those that are recorded: backward uses their graph up.
        Nor where other layers want to see every op (captures)."""
        if not _core.inner_layers():
            recording = _core.is_grad_enabled()
            inputs = tuple([
                self._narrow(x) if type(x) is Parameter and x.dtype is _float32 and (x.stop_gradient or not recording) else x for x in inputs
            ])
        return lists.white(inputs, self.low)

    def _narrow(self, x: Parameter) -> Tensor:
        kept = self._kept.get(x)
        version = x.inplace_version
        if kept is None or kept[0] != version:
            self._kept[x] = kept = version, ops.cast(x, dtype=self.low)
        return kept[1]

    def _biased(self, rules: Rules, op: Op, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        """In Paddle the bias is added by a separate op, so the rule of `add` decides its dtype."""
        rule: Any = rules.get(ops.add, rules[None])
        if rule is lists.white or inputs[2].dtype is self.low:
            return op.apply(self._white(inputs), attrs)
        product = op.apply((*self._white(inputs[:2]), None), attrs)
        bias = inputs[2]
        if op is ops.conv2d and attrs[op.attr_names.index("data_format")] == "NCHW":
            bias = ops.reshape(bias, shape=(bias.size, *[1] * (product.ndim - 2)))
        return ops.add.apply(rule((product, bias), self.low), ())


class _State(threading.local):
    """The layer of the innermost block of this thread."""

    layer: _Autocast | None = None


_state = _State()
_tables: dict[Any, Rules] = {}
_told: set[tuple[str, str]] = set()  # devices and dtypes that were warned of


@contextmanager
def auto_cast(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: str = "float16",
    use_promote: bool = True,
) -> Iterator[None]:
    """Inside a `with` block, let ops run in 16 bits where that pays. Also a decorator of functions.

    In `no_grad`, what a parameter is cast to is kept until the block ends or the parameter changes. So a loop that answers belongs inside of
    the block, not the block inside of the loop. Where products of the dtype take no less time than those of float32, that is said once.

    Args:
        enable: False switches an enclosing `auto_cast` off.
        custom_white_list: names of ops that run in 16 bits in addition: Paddle's ("elementwise_add") or ours ("add").
        custom_black_list: names of ops that run in float32 in addition.
        level: "O1": products in 16 bits, what is sensitive in float32, the rest as its inputs are. "O2":
            for models that `decorate` has cast: nearly everything in 16 bits. "OD": products in 16 bits,
            all else in float32. "O0": nothing is cast.
        dtype: "float16" or "bfloat16".
        use_promote: in O2, whether an op with a float32 input runs in float32.

    Raises:
        ValueError: another level or dtype; a name stands in both lists.
        TypeError: a list is a string.

    Source:
        `paddle.amp.auto_cast`. On CPUs Paddle warns and casts nothing; here it casts, wherever it runs.
        Micikevicius et al., "Mixed precision training" (2018).

    Examples:
        >>> x, y = wherry.ones([2, 3]), wherry.ones([3, 2])
        >>> with wherry.amp.auto_cast(dtype="bfloat16"):
        ...     product = x @ y
        ...     print(product.dtype, wherry.nn.functional.softmax(product).dtype)
        paddle.bfloat16 paddle.float32
    """
    level = _checked_level(level)
    if not enable or level == "O0":
        rules, low = None, _core.float16
    else:
        if dtype not in _half:
            raise ValueError(
                f"auto_cast: If enable amp, dtype should be 'float16' or 'bfloat16'. Got {short(dtype)}, expected one of these. For "
                f"float32 leave auto_cast out."
            )
        low = _half[dtype]
        _tell_no_gain(dtype)
        rules = _table(level, bool(use_promote), custom_white_list, custom_black_list)
    below = _state.layer
    if below is None and rules is None:
        yield
        return
    # Each block has a layer of its own, and those of the blocks around it wait: a block inside of
    # backward, where they are switched off, then works as anywhere.
    layer = _Autocast(rules, low)
    layer.arguments = (enable, custom_white_list, custom_black_list, level, dtype, use_promote)
    waiting = None if below is None else below.rules
    try:
        try:
            if below is not None:
                below.rules = None
            push_layer(layer, "outer")
            _state.layer = layer
            yield
        finally:
            _leave(layer, below, waiting)
    finally:
        _leave(layer, below, waiting)  # again: Ctrl-C may have interrupted the first call


amp_guard = auto_cast


def autocast(device_type: str | None = None, dtype: str = "float16", enabled: bool = True, cache_enabled: bool = True) -> Any:
    """`auto_cast` with the arguments of PyTorch.

    Args:
        device_type: accepted for compatibility; ops of all devices are cast.
        dtype: "float16" or "bfloat16".
        enabled: whether anything is cast.
        cache_enabled: accepted for compatibility; no effect.

    Raises:
        ValueError: the dtype is another one.

    Source:
        `paddle.autocast`.

    Examples:
        >>> with wherry.autocast("cpu", "bfloat16"):
        ...     wherry.is_autocast_enabled(), wherry.get_autocast_dtype()
        (True, 'bfloat16')
    """
    return auto_cast(bool(enabled), dtype=dtype if isinstance(dtype, str) else dtype.name)


def is_autocast_enabled(device_type: Any = None) -> bool:
    """Whether ops are cast now.

    Args:
        device_type: accepted for compatibility.

    Source:
        `paddle.is_autocast_enabled`.

    Examples:
        >>> wherry.is_autocast_enabled()
        False
    """
    return current_rules() is not None


def get_autocast_dtype(device_type: Any = None) -> str:
    """The name of the narrow dtype that ops are cast to now; "float16" outside of `auto_cast`.

    Args:
        device_type: accepted for compatibility.

    Source:
        `paddle.get_autocast_dtype`.

    Examples:
        >>> wherry.get_autocast_dtype()
        'float16'
    """
    found = current_rules()
    return "float16" if found is None else found[1].name


def get_autocast_cpu_dtype(device_type: Any = None) -> str:
    """As `get_autocast_dtype`.

    Source:
        `paddle.get_autocast_cpu_dtype`.

    Examples:
        >>> wherry.get_autocast_cpu_dtype()
        'float16'
    """
    return get_autocast_dtype()


def get_autocast_gpu_dtype(device_type: Any = None) -> str:
    """As `get_autocast_dtype`.

    Source:
        `paddle.get_autocast_gpu_dtype`.

    Examples:
        >>> wherry.get_autocast_gpu_dtype()
        'float16'
    """
    return get_autocast_dtype()


def current_rules() -> tuple[Any, DType] | None:
    """What casts ops in this thread now, to be compared with: the rules (the same object for the same settings) and the narrow dtype.

    None outside of `auto_cast`.
    """
    layer = _state.layer
    return None if layer is None or layer.rules is None else (layer.rules, layer.low)


def current_arguments() -> dict[str, Any] | None:
    """What the innermost `auto_cast` of this thread was given, by name; None outside of it."""
    layer = _state.layer
    names = ("enable", "custom_white_list", "custom_black_list", "level", "dtype", "use_promote")
    return None if layer is None or layer.rules is None else dict(zip(names, layer.arguments))


def _leave(layer: _Autocast, below: _Autocast | None, waiting: Any) -> None:
    layer.rules = None
    layer._kept.clear()
    _state.layer = below
    if below is not None:
        below.rules = waiting
    try:
        pop_layer(layer, "outer")
    except ValueError:
        return  # another layer was pushed above it inside the block, and is still there: this one stays, idle


def _tell_no_gain(dtype: str) -> None:
    """Once in a process for each dtype."""
    kind = _core.name_of_device(_core.get_current_device()).partition(":")[0]
    reason = columns.no_faster.get((kind, dtype))
    if reason is None or (kind, dtype) in _told:
        return
    _told.add((kind, dtype))
    warnings.warn(
        f"auto_cast: training in {dtype} takes no less time than in float32 here: {reason}. What 16 bits save is memory, and time where "
        f"weights are read for few rows (decoding).", stacklevel=4,
    )


def _checked_level(level: Any) -> str:
    name = level.upper() if isinstance(level, str) else level
    if name not in ("O0", "OD", "O1", "O2"):
        raise ValueError(
            f"auto_cast: level should be O0, OD, O1 or O2. Got {short(level)}, expected one of these. 'O1' keeps parameters in float32."
        )
    return name


def _table(level: str, use_promote: bool, white: Any, black: Any) -> Rules:
    key = level, use_promote, names_of(white, "auto_cast", "custom_white_list"), names_of(black, "auto_cast", "custom_black_list")
    both = key[2] & key[3]
    if both:
        raise ValueError(
            f"auto_cast: Custom white list overlap custom black list. Got {', '.join(sorted(both))} in both, expected each name in "
            f"one. Take it out of one of them."
        )
    if key not in _tables:
        _tables[key] = lists.table(*key)
    return _tables[key]


def is_float16_supported(device: Any = None) -> bool:
    """Whether `auto_cast` can run ops in float16. Always True: kernels compute such ops in float32 where the processor cannot.

    Args:
        device: accepted for compatibility.

    Source:
        `paddle.amp.is_float16_supported`, which is False on CPUs.

    Examples:
        >>> wherry.amp.is_float16_supported()
        True
    """
    return True


def is_bfloat16_supported(device: Any = None) -> bool:
    """Whether `auto_cast` can run ops in bfloat16. Always True.

    Args:
        device: accepted for compatibility.

    Source:
        `paddle.amp.is_bfloat16_supported`.

    Examples:
        >>> wherry.amp.is_bfloat16_supported()
        True
    """
    return True


def decorate(
    models: Any,
    optimizers: Any = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """Prepare models and optimizers for `auto_cast`: in level O2, cast the parameters to 16 bits, in place.

    The parameters of BatchNorm and InstanceNorm layers stay float32.

    Args:
        models: a Layer, or a list of them.
        optimizers: of these models, one or a list.
        level: "O1" changes nothing; "O2" casts.
        dtype: "float16" or "bfloat16".
        master_weight: whether the optimizers keep float32 copies of the parameters, and update those;
            None means yes.
        save_dtype: into which `state_dict()` casts parameters: float16, bfloat16, float32 or float64;
            None leaves them.
        master_grad: let `GradScaler` make gradients float32 before it divides them, so that small ones survive.
        excluded_layers: layers, or classes of layers, that stay float32.

    Returns:
        What was given: the models, or, with optimizers, the pair of models and optimizers.

    Raises:
        ValueError: another level, dtype or save_dtype.
        TypeError: a model is not a Layer, an optimizer is not an Optimizer; `excluded_layers` holds something else.

    Source:
        `paddle.amp.decorate`, which does nothing on CPUs.

    Examples:
        >>> model = wherry.nn.Linear(2, 2)
        >>> model = wherry.amp.decorate(model, level="O2", dtype="bfloat16")
        >>> model.weight.dtype
        paddle.bfloat16
    """
    if level not in ("O1", "O2"):
        raise ValueError(
            f"decorate: level should be O1 or O2, O1 represent AMP train mode, O2 represent Pure fp16 train mode. Got {short(level)}, "
            f"expected one of these. 'O1' keeps parameters in float32."
        )
    if dtype not in _half:
        raise ValueError(
            f"decorate: dtype only support float16 or bfloat16. Got {short(dtype)}, expected one of these. For float32 leave decorate "
            f"out."
        )
    if save_dtype not in (None, "float16", "bfloat16", "float32", "float64"):
        raise ValueError(
            f"decorate: save_dtype can only be float16, bfloat16, float32 or float64. Got {short(save_dtype)}, expected one of these. "
            f"Leave it out to save what is there."
        )
    all_models = _several(models, Layer, "models", "layer")
    all_optimizers = [] if optimizers is None else _several(optimizers, Optimizer, "optimizers", "optimizer")
    if level == "O2":
        kinds, instances = _excluded(excluded_layers)
        for model in all_models:
            _cast_model(model, _half[dtype], kinds, instances)
        for optimizer in all_optimizers:
            if master_weight is not False:
                optimizer._multi_precision = True
            optimizer._master_grad = bool(master_grad)
            optimizer._forget_layouts()
    if save_dtype is not None:
        for model in all_models:
            model.register_state_dict_hook(_saver(save_dtype))
    return models if optimizers is None else (models, optimizers)


amp_decorate = decorate


def _several(given: Any, kind: type, name: str, one: str) -> list[Any]:
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    for item in found:
        if not isinstance(item, kind):
            raise AssertedTypeError(
                f"decorate: {name} must be one {one} or a list of them. Got {short(item)} ({type(item).__name__}), expected "
                f"{kind.__name__}. Pass the object itself."
            )
    return found


def _excluded(excluded: Any) -> tuple[tuple[type, ...], set[int]]:
    kinds = [
        kind for name, kind in vars(nn_layers).items()
        if isinstance(kind, type) and name.removesuffix("1D").removesuffix("2D").removesuffix("3D")
        in ("BatchNorm", "SyncBatchNorm", "InstanceNorm")
    ]
    instances: set[int] = set()
    given = () if excluded is None else excluded if isinstance(excluded, (list, tuple)) else (excluded,)
    for one in given:
        if isinstance(one, type) and issubclass(one, Layer):
            kinds.append(one)
        elif isinstance(one, Layer):
            instances.update(id(layer) for layer in one.sublayers(include_self=True))
        else:
            raise TypeError(
                f"decorate: excluded_layers must be layers or classes of layers. Got {short(one)} ({type(one).__name__}), expected an "
                f"nn.Layer or a subclass. Write excluded_layers=[nn.LayerNorm], say."
            )
    return tuple(kinds), instances


def _cast_model(model: Layer, dtype: DType, kinds: tuple[type, ...], instances: set[int]) -> None:
    for layer in model.sublayers(include_self=True):
        if isinstance(layer, kinds) or id(layer) in instances:
            continue
        layer._cast_own(dtype, floating_only=True)


def _saver(dtype: str) -> Callable[[dict[str, Any]], None]:
    known = getattr(_core, dtype)

    def cast(state: dict[str, Any]) -> None:
        for key, value in state.items():
            if isinstance(value, Tensor) and value.dtype.is_floating and value.dtype is not known:
                name = value.name
                state[key] = ops.cast(value.detach(), dtype=known)
                state[key].name = name

    return cast


explained(globals())
