"""Methods of `Layer` that Paddle 3 shares with PyTorch's `Module`: `modules`, `load_state_dict`, `zero_grad`, `get_submodule`, ..."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from wherry_tensor._core import Tensor
from wherry_tensor.arguments import flag
from wherry_tensor.errors import InvalidTypeError, UnimplementedError, short

if TYPE_CHECKING:
    from wherry_nn.layer import HookRemoveHelper, Layer
    from wherry_nn.parameter import Parameter

__all__ = ["SharedMethods"]

_Layer = TypeVar("_Layer", bound="Any")


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class IncompatibleKeys(_Keys):
    """What `load_state_dict` did not find, and did not use."""

    def __repr__(self) -> str:
        return "<All keys matched successfully>" if not self.missing_keys and not self.unexpected_keys else super().__repr__()


class SharedMethods:
    """A base of `Layer`: each method says in Paddle's own names what it means."""

    def modules(self: Any) -> Iterator[Layer]:
        """The layer and all layers below it.

        Source:
            `paddle.nn.Layer.modules`.

        Examples:
            >>> len(list(wherry.nn.Sequential(wherry.nn.ReLU()).modules()))
            2
        """
        return iter(self.sublayers(include_self=True))

    def named_modules(self: Any, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True) -> Iterator[tuple[str, Layer]]:
        """The layer and all layers below it, with their paths.

        Args:
            memo: layers that are left out; those that are given are added.
            prefix: in front of each path.
            remove_duplicate: whether a layer that stands in several places comes once; each of them is not available.

        Raises:
            NotImplementedError: `remove_duplicate` is False.

        Source:
            `paddle.nn.Layer.named_modules`.

        Examples:
            >>> [name for name, _ in wherry.nn.Sequential(wherry.nn.ReLU()).named_modules()]
            ['', '0']
        """
        if not flag(remove_duplicate, "named_modules", "remove_duplicate"):
            raise UnimplementedError(
                "named_modules: a layer comes once. Got remove_duplicate=False, expected True. Go through named_children() to see each place."
            )
        return self.named_sublayers(prefix=prefix, include_self=True, layers_set=memo)  # type: ignore[no-any-return]

    def add_module(self: Any, name: str, module: Layer | None) -> None:
        """Add a layer below this one, as `add_sublayer`.

        Source:
            `paddle.nn.Layer.add_module`, also called `register_module`.

        Examples:
            >>> net = wherry.nn.Sequential()
            >>> net.add_module("act", wherry.nn.ReLU())
            >>> net.get_submodule("act")
            ReLU()
        """
        self.add_sublayer(name, module)

    register_module = add_module

    def register_parameter(self: Any, name: str, param: Parameter | None) -> None:
        """Add a parameter, as `add_parameter`.

        Source:
            `paddle.nn.Layer.register_parameter`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> layer.register_parameter("scale", wherry.create_parameter([2], "float32"))
            >>> layer.scale.shape
            [2]
        """
        self.add_parameter(name, param)

    def get_sublayer(self: Any, target: str) -> Layer:
        """The layer at a path, as "backbone.0.conv"; "" is the layer itself.

        Raises:
            AttributeError: there is none.

        Source:
            `paddle.nn.Layer.get_sublayer`, also called `get_submodule`.

        Examples:
            >>> wherry.nn.Sequential(wherry.nn.ReLU()).get_sublayer("0")
            ReLU()
        """
        found = self
        for part in _path(target, "get_sublayer").split(".") if target else ():
            found = getattr(found, part, None)
            if not isinstance(found, SharedMethods):
                raise AttributeError(
                    f"get_sublayer: there is no layer at this path. Got {short(target)}, of which {part!r} is not a layer, expected one of "
                    "named_sublayers()."
                )
        return found  # type: ignore[no-any-return]

    get_submodule = get_sublayer

    def set_sublayer(self: Any, target: str, layer: Layer, strict: bool = False) -> None:
        """Put a layer at a path; the layers above it must be there.

        Args:
            target: as "backbone.0.conv".
            layer: the layer.
            strict: whether one must be there already.

        Raises:
            AttributeError: a layer above it is not there, or with `strict` the layer.
            TypeError: `layer` is not a layer (also a ValueError).

        Source:
            `paddle.nn.Layer.set_sublayer`, also called `set_submodule`.

        Examples:
            >>> net = wherry.nn.Sequential(wherry.nn.ReLU())
            >>> net.set_sublayer("0", wherry.nn.Tanh())
            >>> net[0]
            Tanh()
        """
        if not isinstance(layer, SharedMethods):
            raise InvalidTypeError(f"set_sublayer: this is not a layer. Got {type(layer).__name__}, expected a Layer. Make one first.")
        above, _, name = _path(target, "set_sublayer").rpartition(".")
        if not name:
            raise AttributeError(
                f"set_sublayer: the path is empty. Got {short(target)}, expected one as 'backbone.0'. A layer cannot replace itself."
            )
        owner = self.get_sublayer(above)
        if strict:
            owner.get_sublayer(name)
        owner.add_sublayer(name, layer)

    set_submodule = set_sublayer

    def get_parameter(self: Any, target: str) -> Parameter:
        """The parameter at a path, as "fc.weight".

        Raises:
            AttributeError: there is none.

        Source:
            `paddle.nn.Layer.get_parameter`.

        Examples:
            >>> wherry.nn.Linear(2, 3).get_parameter("weight").shape
            [2, 3]
        """
        return _member(self, target, "_parameters", "get_parameter", "parameter")  # type: ignore[no-any-return]

    def get_buffer(self: Any, target: str) -> Tensor:
        """The buffer at a path, as "norm.count".

        Raises:
            AttributeError: there is none.

        Source:
            `paddle.nn.Layer.get_buffer`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> layer.register_buffer("count", wherry.zeros([1]))
            >>> layer.get_buffer("count").shape
            [1]
        """
        return _member(self, target, "_buffers", "get_buffer", "buffer")  # type: ignore[no-any-return]

    def get_extra_state(self) -> Any:
        """What a layer saves besides parameters and buffers, where a class of layers has such.

        Raises:
            RuntimeError: this class has none.

        Source:
            `paddle.nn.Layer.get_extra_state`.

        Examples:
            >>> class Counting(wherry.nn.Layer):
            ...     def get_extra_state(self):
            ...         return {"calls": 3}
            >>> Counting().get_extra_state()
            {'calls': 3}
        """
        raise RuntimeError(f"get_extra_state: {type(self).__name__} has no such state. Got a call of it, expected a class that defines the method.")

    def load_state_dict(self: Any, state_dict: Any, strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Overwrite parameters and buffers, as `set_state_dict`, and refuse keys that do not fit.

        Args:
            state_dict: tensors or arrays by the paths of `state_dict()`.
            strict: whether keys that are missing, unused or of another shape are an error.
            assign: accepted for compatibility; values are copied.

        Returns:
            `(missing_keys, unexpected_keys)`.

        Raises:
            RuntimeError: keys do not fit, with `strict`; nothing is written then.
            TypeError: it is not a dict, or a value neither tensor nor array (also a ValueError).

        Source:
            `paddle.nn.Layer.load_state_dict`.

        Examples:
            >>> net = wherry.nn.Linear(2, 3)
            >>> net.load_state_dict(net.state_dict())
            <All keys matched successfully>
        """
        if flag(strict, "load_state_dict", "strict") and hasattr(state_dict, "keys"):
            targets = self.state_dict(use_hook=False)
            missing = [key for key in targets if key not in state_dict]
            unused = [key for key in state_dict if key not in targets]
            shaped = [
                f"{key}: {list(state_dict[key].shape)}, expected {one.shape}" for key, one in targets.items()
                if key in state_dict and list(getattr(state_dict[key], "shape", one.shape)) != one.shape
            ]
            if missing or unused or shaped:
                said = [f"{what}: {short(keys)}" for what, keys in (("missing", missing), ("unexpected", unused), ("other shapes", shaped)) if keys]
                raise RuntimeError(f"load_state_dict: keys do not fit {type(self).__name__}. Got {'; '.join(said)}. Use strict=False to skip them.")
        return IncompatibleKeys(*self.set_state_dict(state_dict))

    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters.

        Args:
            set_to_none: True forgets them, False sets them to zero.

        Source:
            `paddle.nn.Layer.zero_grad`.

        Examples:
            >>> net = wherry.nn.Linear(2, 3)
            >>> net(wherry.ones([1, 2])).sum().backward()
            >>> net.zero_grad()
            >>> net.weight.grad is None
            True
        """
        keep = not flag(set_to_none, "zero_grad", "set_to_none")
        for parameter in self.parameters():
            parameter.clear_gradient(keep)

    def requires_grad_(self: _Layer, requires_grad: bool = True) -> _Layer:
        """Say whether all parameters ask for gradients; the opposite of `stop_gradient`. Returns the layer.

        Source:
            `paddle.nn.Layer.requires_grad_`.

        Examples:
            >>> wherry.nn.Linear(2, 3).requires_grad_(False).weight.stop_gradient
            True
        """
        asked = flag(requires_grad, "requires_grad_", "requires_grad")
        for parameter in self.parameters():
            parameter.stop_gradient = not asked
        return self  # type: ignore[no-any-return]

    def register_forward_hook(
        self: Any, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookRemoveHelper:
        """Call a function after each `forward`, as `register_forward_post_hook`.

        Args:
            hook: takes the layer, the inputs and the result; what it returns replaces the result, unless it is None.
            prepend: whether it runs before the hooks that are there.
            with_kwargs, always_call: not available.

        Raises:
            TypeError: `hook` is not a function (also a ValueError).
            NotImplementedError: `with_kwargs` or `always_call` is True.

        Source:
            `paddle.nn.Layer.register_forward_hook`.

        Examples:
            >>> net = wherry.nn.ReLU()
            >>> handle = net.register_forward_hook(lambda layer, inputs, result: result + 1)
            >>> net(wherry.zeros([1])).item()
            1.0
        """
        if flag(with_kwargs, "register_forward_hook", "with_kwargs") or flag(always_call, "register_forward_hook", "always_call"):
            raise UnimplementedError(
                "register_forward_hook: hooks get the positional inputs, after calls that return. Got with_kwargs or always_call, expected False. "
                "Override __call__ instead."
            )
        return self.register_forward_post_hook(hook, prepend=flag(prepend, "register_forward_hook", "prepend"))  # type: ignore[no-any-return]

    def cpu(self: _Layer) -> _Layer:
        """Move parameters and buffers to the CPU. Returns the layer.

        Source:
            `paddle.nn.Layer.cpu`.

        Examples:
            >>> wherry.nn.Linear(2, 3).cpu().weight.place
            Place(cpu)
        """
        return self.to(device="cpu")  # type: ignore[no-any-return]

    def cuda(self: _Layer, device: Any = None) -> _Layer:
        """Move parameters and buffers to a GPU. Returns the layer.

        Args:
            device: its number, name or place; None: the current one, or the first.

        Raises:
            ValueError: there is no such GPU.

        Source:
            `paddle.nn.Layer.cuda`.

        Examples:
            >>> net = wherry.nn.Linear(2, 3)
            >>> if wherry.device.cuda.device_count():
            ...     net = net.cuda()
        """
        return self.to(device=_numbered("gpu", device))  # type: ignore[no-any-return]

    def xpu(self: _Layer, device: Any = None) -> _Layer:
        """Move parameters and buffers to an XPU, where a plug-in brings one. Returns the layer.

        Raises:
            ValueError: there is none.

        Source:
            `paddle.nn.Layer.xpu`.

        Examples:
            >>> net = wherry.nn.Linear(2, 3)
            >>> if "xpu" in wherry.device.get_all_device_type():
            ...     net = net.xpu()
        """
        return self.to(device=_numbered("xpu", device))  # type: ignore[no-any-return]

    def type(self: _Layer, dst_type: Any) -> _Layer:
        """Cast parameters and buffers. Returns the layer.

        Raises:
            TypeError: it is not a dtype (also a ValueError).

        Source:
            `paddle.nn.Layer.type`.

        Examples:
            >>> wherry.nn.Linear(2, 3).type("float64").weight.dtype.name
            'float64'
        """
        return self.astype(dst_type)  # type: ignore[no-any-return]

    def double(self: _Layer) -> _Layer:
        """Cast floating parameters and buffers to float64. Returns the layer.

        Source:
            `paddle.nn.Layer.double`.

        Examples:
            >>> wherry.nn.Linear(2, 3).double().weight.dtype.name
            'float64'
        """
        return self.astype("float64")  # type: ignore[no-any-return]

    def half(self: _Layer) -> _Layer:
        """Cast floating parameters and buffers to float16. Returns the layer.

        Source:
            `paddle.nn.Layer.half`.

        Examples:
            >>> wherry.nn.Linear(2, 3).half().weight.dtype.name
            'float16'
        """
        return self.float16()  # type: ignore[no-any-return]


def _path(target: Any, op_name: str) -> str:
    if not isinstance(target, str):
        raise InvalidTypeError(f"{op_name}: a path is text. Got {short(target)} ({type(target).__name__}), expected one as 'backbone.0'. Use str().")
    return target


def _member(layer: Any, target: Any, table: str, op_name: str, what: str) -> Any:
    above, _, name = _path(target, op_name).rpartition(".")
    found = vars(layer.get_sublayer(above))[table].get(name)
    if found is None:
        raise AttributeError(f"{op_name}: there is no {what} at this path. Got {short(target)}, expected one of named_{what}s().")
    return found


def _numbered(kind: str, device: Any) -> Any:
    return kind if device is None else f"{kind}:{device}" if isinstance(device, int) else device
