"""Layer: parameters, buffers and layers inside it, under names; hooks; state in and out.

Assigning to an attribute sorts values: parameters, tensors and layers go to separate tables, which `parameters()`,
`state_dict()` and the like walk through.
"""
from __future__ import annotations

import re
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from time import perf_counter_ns
from typing import Any, ParamSpec, Protocol, Self, TypeVar, overload

from wherry_autograd import no_grad
from wherry_nn import lazy, unique_name
from wherry_nn.initializer import Constant, Initializer, XavierUniform
from wherry_nn.initializer.initializer import default_initializer as global_initializer
from wherry_nn.param_attr import ParamAttr, as_param_attr
from wherry_nn.parameter import Parameter
from wherry_nn.shared_methods import SharedMethods
from wherry_nn.torch_states import evidence_of_torch
from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor
from wherry_tensor.arguments import numpy_module, sizes_of, truth
from wherry_tensor.device import device_code
from wherry_tensor.dtype import as_dtype, get_default_dtype
from wherry_tensor.errors import AssertedArgumentError, AssertedTypeError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions.creation import to_tensor
from wherry_tensor.spellings import spelled as _spelled
from wherry_tensor.spellings import takes
from wherry_tensor.static_builder import building
from wherry_tensor.suggestions import check_keywords, did_you_mean
from wherry_tensor.tracebacks import tidy, warn

__all__ = ["HookRemoveHelper", "Layer", "create_parameter", "note_calls", "run_forward_of"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result", covariant=True)


class HasForward(Protocol[Arguments, Result]):
    """For type checkers: calling a layer has the signature of its `forward`."""

    def forward(self, *inputs: Arguments.args, **kwargs: Arguments.kwargs) -> Result: ...


class _Helper:
    """`Layer._helper`: the layer's name, default dtype, parameters and activations."""

    def __init__(self, layer: Layer) -> None:
        self.name = layer.full_name()

    def get_default_dtype(self) -> str:
        """The dtype of parameters for which none is given."""
        return get_default_dtype()

    def create_parameter(
        self, attr: Any, shape: Any, dtype: Any = None, is_bias: bool = False, default_initializer: Initializer | None = None
    ) -> Parameter | None:
        """As `Layer.create_parameter`, which takes the shape first."""
        return new_parameter(self.name, shape, attr, dtype, is_bias, default_initializer)

    def append_activation(self, input_var: Tensor, act: str | None = None, use_cudnn: Any = None) -> Tensor:
        """The result, through a function of `nn.functional`."""
        from wherry_nn import functional

        return input_var if act is None else getattr(functional, act)(input_var)


class HookRemoveHelper:
    """Handle of a registered hook; `remove()` unregisters it."""

    _next_id = 0

    def __init__(self, hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any], op_name: str, prepend: bool = False) -> None:
        if not callable(hook):
            raise InvalidTypeError(
                f"{op_name}: a hook is a function. Got {short(hook)} ({type(hook).__name__}), expected a callable. "
                f"Pass the function itself, not its result."
            )
        self._hooks_ref = weakref.ref(hooks)
        self._hook_id = HookRemoveHelper._next_id
        HookRemoveHelper._next_id += 1
        hooks[self._hook_id] = hook
        if prepend:
            hooks.move_to_end(self._hook_id, last=False)

    def remove(self) -> None:
        """Unregister the hook. Calling it twice is harmless."""
        hooks = self._hooks_ref()
        if hooks is not None:
            hooks.pop(self._hook_id, None)


class _Table(dict[str, Any]):
    """Parameters, layers or buffers of a layer by name, which are also its attributes.

    Looking into the tables only when an attribute is not found (`__getattr__`) costs seven times as
    much as finding it: Python first makes an AttributeError. So each entry is also put into the
    layer's `__dict__`, unless something else has this name there or in the class.
    """

    __slots__ = ("owner",)

    def __init__(self, owner: weakref.ref[Layer], items: Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__()
        self.owner = owner  # weak, so that a layer and its parameters are freed with the last reference, not by the collector
        self.update(items)

    def __setitem__(self, name: str, value: Any) -> None:
        owner = self.owner()
        if owner is not None:
            attributes = owner.__dict__
            if attributes.get(name, _ABSENT) is self[name] if name in self else self._free(owner, name):
                attributes[name] = value
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        value = self[name]
        owner = self.owner()
        if owner is not None and owner.__dict__.get(name, _ABSENT) is value:
            del owner.__dict__[name]
        super().__delitem__(name)

    @staticmethod
    def _free(owner: Layer, name: str) -> bool:
        return name not in owner.__dict__ and not hasattr(type(owner), name)

    def pop(self, name: str, *default: Any) -> Any:
        if name not in self and default:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        for name in tuple(self):
            del self[name]

    def update(self, *items: Any, **named: Any) -> None:
        for name, value in dict(*items, **named).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def __ior__(self, items: Any) -> _Table:  # type: ignore[override,misc]
        self.update(items)
        return self


_ABSENT = object()
_forward_of: Callable[[Layer], Callable[..., Any]] | None = None


def run_forward_of(choose: Callable[[Layer], Callable[..., Any]] | None) -> None:
    """Let layers run `choose(layer)` in place of `layer.forward`, in all threads; None ends that.

    For capturing programs: it records which layers take part, and substitutes a converted `forward`.
    """
    global _forward_of
    _forward_of = choose


_TABLES = ("_parameters", "_sub_layers", "_buffers")


class Layer(SharedMethods):
    """Base of all layers: holds parameters and other layers; `forward` computes.

    A subclass calls `super().__init__()`, assigns parameters, buffers (tensors) and layers to
    attributes, and defines `forward`. Plain lists of these are not registered: use LayerList, LayerDict or
    ParameterList.

    Args:
        name_scope: the beginning of the layer's name; None makes it from the name of the class.
        dtype: kept for subclasses; parameters have the default dtype unless one is given.

    Raises:
        TypeError: `name_scope` is not a str (also a ValueError).

    Source:
        `paddle.nn.Layer`.

    Examples:
        >>> class Scale(wherry.nn.Layer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = self.create_parameter([1], default_initializer=wherry.nn.initializer.Constant(3.0))
        ...     def forward(self, x):
        ...         return x * self.factor
        >>> scale = Scale()
        >>> print(scale(wherry.ones([2])).numpy())
        [3. 3.]
        >>> list(scale.state_dict())
        ['factor']
    """

    training: bool
    _full_name: str
    _dtype: Any
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistable_buffer_names_set: set[str]
    _sub_layers: dict[str, Layer | None]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_post_hooks: OrderedDict[int, Callable[..., Any]]
    _state_dict_hooks: OrderedDict[int, Callable[..., Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if kwargs:
            check_keywords(cls, kwargs, takes)
        return super().__new__(cls)

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32") -> None:
        if not (name_scope is None or isinstance(name_scope, str)):
            raise InvalidTypeError(
                f"Layer: name_scope is not a str. Got {short(name_scope)} ({type(name_scope).__name__}), expected a str or None. "
                f"Leave it out to name the layer after its class."
            )
        # Written to __dict__ directly: __setattr__ needs these tables, and this is faster for models of many layers.
        owner = weakref.ref(self)
        self.__dict__.update(
            training=True,
            _full_name=unique_name.generate(_name_of(type(self)) if name_scope is None else name_scope),
            _dtype=dtype,
            _parameters=_Table(owner),
            _buffers=_Table(owner),
            _non_persistable_buffer_names_set=set(),
            _sub_layers=_Table(owner),
            _forward_pre_hooks=OrderedDict(),
            _forward_post_hooks=OrderedDict(),
            _state_dict_hooks=OrderedDict(),
        )

    # Running.

    # For type checkers: the signature is that of the class's `forward`.
    @overload  # type: ignore[misc]
    def __call__(self: HasForward[Arguments, Result], *inputs: Arguments.args, **kwargs: Arguments.kwargs) -> Result: ...

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """Run `forward` between the hooks. Subclasses define `forward`, not this."""
        try:
            forward = self.forward if _forward_of is None else _forward_of(self)
            if not self._forward_pre_hooks and not self._forward_post_hooks:
                return forward(*inputs, **kwargs)
            for hook in tuple(self._forward_pre_hooks.values()):
                changed = hook(self, inputs)
                if changed is not None:
                    inputs = changed if isinstance(changed, tuple) else (changed,)
            outputs = forward(*inputs, **kwargs)
            for hook in tuple(self._forward_post_hooks.values()):
                changed = hook(self, inputs, outputs)
                if changed is not None:
                    outputs = changed
            return outputs
        except Exception as error:
            _note_layer(self, error)
            tidy(error)
            raise

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The computation of the layer; a subclass defines it.

        Raises:
            NotImplementedError: the subclass does not define it.

        Examples:
            >>> class Double(wherry.nn.Layer):
            ...     def forward(self, x):
            ...         return x * 2
            >>> Double()(wherry.ones([1])).item()
            2.0
        """
        raise NotImplementedError(
            f"{type(self).__name__}: forward is not defined. Got a class without forward(), expected one that defines it. "
            f"Write `def forward(self, x): ...`; a LayerList or LayerDict is not called, its layers are."
        )

    def backward(self, *inputs: Any) -> None:
        """Not available: gradients come from the ops that `forward` ran.

        Raises:
            ValueError: always.

        Examples:
            >>> wherry.nn.Linear(2, 2).backward()
            Traceback (most recent call last):
                ...
            ValueError: Layer: Layer shouldn't implement backward. ...
        """
        raise ValueError(
            "Layer: Layer shouldn't implement backward. Got a call of backward() on a layer, expected one on a tensor. "
            "Call loss.backward()."
        )

    def register_forward_pre_hook(self, hook: Callable[..., Any], *, prepend: bool = False) -> HookRemoveHelper:
        """Call `hook(layer, inputs)` before `forward`.

        Args:
            hook: gets the tuple of positional inputs; what it returns replaces them, unless it is None. A
                result that is not a tuple is taken as the only input.
            prepend: whether it runs before the hooks that are there.

        Returns:
            A handle; `handle.remove()` unregisters the hook.

        Raises:
            TypeError: `hook` cannot be called (also a ValueError).

        Source:
            `paddle.nn.Layer.register_forward_pre_hook`.

        Examples:
            >>> layer = wherry.nn.Identity()
            >>> handle = layer.register_forward_pre_hook(lambda layer, inputs: inputs[0] * 2)
            >>> print(layer(wherry.ones([2])).numpy())
            [2. 2.]
            >>> handle.remove()
        """
        return HookRemoveHelper(self._forward_pre_hooks, hook, "register_forward_pre_hook", prepend)

    def register_forward_post_hook(self, hook: Callable[..., Any], *, prepend: bool = False) -> HookRemoveHelper:
        """Call `hook(layer, inputs, outputs)` after `forward`.

        Args:
            hook: what it returns replaces the outputs, unless it is None.
            prepend: whether it runs before the hooks that are there.

        Returns:
            A handle; `handle.remove()` unregisters the hook.

        Raises:
            TypeError: `hook` cannot be called (also a ValueError).

        Source:
            `paddle.nn.Layer.register_forward_post_hook`.

        Examples:
            >>> layer = wherry.nn.Identity()
            >>> handle = layer.register_forward_post_hook(lambda layer, inputs, outputs: outputs * 2)
            >>> print(layer(wherry.ones([2])).numpy())
            [2. 2.]
            >>> handle.remove()
        """
        return HookRemoveHelper(self._forward_post_hooks, hook, "register_forward_post_hook", prepend)

    def train(self, mode: bool = True) -> None:
        """Set training mode for the layer and all layers inside: dropout drops, batch norm uses the statistics of the batch.

        Args:
            mode: False sets evaluation mode, as `eval`.

        Source:
            `paddle.nn.Layer.train`, which returns nothing either.

        Examples:
            >>> layer = wherry.nn.Dropout()
            >>> layer.eval()
            >>> layer.train()
            >>> layer.training
            True
        """
        if not mode:
            self.eval()
            return
        for layer in self._all_layers():
            if not layer.training:  # paddle.Model calls train() before every step
                layer.training = True

    def eval(self) -> None:
        """Set evaluation mode for the layer and all layers inside.

        Source:
            `paddle.nn.Layer.eval`, which returns nothing either.

        Examples:
            >>> model = wherry.nn.Sequential(wherry.nn.Identity())
            >>> model.eval()
            >>> model[0].training
            False
        """
        for layer in self._all_layers():
            if layer.training:
                layer.training = False

    # Attributes.

    def __getattr__(self, name: str) -> Any:
        # Called only when ordinary lookup finds nothing: see _Table.
        tables = self.__dict__
        for table in _TABLES:
            if table in tables and name in tables[table]:
                return tables[table][name]
        if "_parameters" not in tables:
            hint = " super().__init__() should be called first, in the layer's __init__."
        elif name.startswith("_"):  # looked up by tools, which do without it
            hint = ""
        else:
            hint = did_you_mean(name, dir(self))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}.{hint}")

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.__dict__
        parameters = tables.get("_parameters")
        if parameters is None:
            if isinstance(value, (Tensor, Layer)):
                raise ValueError(_not_initialized(self))
            object.__setattr__(self, name, value)
        elif isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            _forget(tables, name, "_sub_layers", "_buffers")
            parameters[name] = value
        elif name in parameters:
            if value is not None:
                raise TypeError(_wrong_kind(self, name, value, "parameter", "a Parameter", "create_parameter"))
            parameters[name] = None
        elif isinstance(value, Layer):
            _forget(tables, name, "_buffers")
            tables["_sub_layers"][name] = value
        elif name in tables["_sub_layers"]:
            if value is not None:
                raise TypeError(_wrong_kind(self, name, value, "sublayer", "a Layer", "nn.Identity()"))
            tables["_sub_layers"][name] = None
        elif isinstance(value, Tensor):
            buffers = tables["_buffers"]
            if name not in buffers:
                # A tensor that is only assigned is not saved with the layer.
                tables.pop(name, None)
                tables["_non_persistable_buffer_names_set"].add(name)
            buffers[name] = value
        elif name in tables["_buffers"]:
            if value is not None:
                raise TypeError(_wrong_kind(self, name, value, "buffer", "a Tensor", "to_tensor"))
            tables["_buffers"][name] = None
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        tables = self.__dict__
        for table in _TABLES:
            found = tables.get(table)
            if found is not None and name in found:
                del found[name]
                tables["_non_persistable_buffer_names_set"].discard(name)
                return
        object.__delattr__(self, name)

    def __getstate__(self) -> dict[str, Any]:
        # For copy and pickle: the tables as plain dicts, without the entries that __dict__ repeats.
        state = dict(self.__dict__)
        for table in _TABLES:
            for name, value in state[table].items():
                if state.get(name, _ABSENT) is value:
                    del state[name]
            state[table] = dict(state[table])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        owner = weakref.ref(self)
        for table in _TABLES:
            self.__dict__[table] = _Table(owner, state[table])

    def extra_repr(self) -> str:
        """What `repr` shows between the parentheses; a subclass defines it.

        Source:
            `paddle.nn.Layer.extra_repr`.

        Examples:
            >>> class Scale(wherry.nn.Layer):
            ...     def extra_repr(self):
            ...         return "factor=3"
            >>> Scale()
            Scale(factor=3)
        """
        return ""

    def __repr__(self) -> str:
        try:
            extra = self.extra_repr().split("\n")
        except RecursionError:  # of an argument that is nested too deep to be written
            extra = ["..."]
        inside = [f"({name}): " + repr(layer).replace("\n", "\n  ") for name, layer in self._sub_layers.items()]
        text = f"{type(self).__name__}("
        if len(extra) > 1:
            text += "\n  " + "\n  ".join(extra) + "\n"
        else:
            text += extra[0]
        if inside:
            text += "\n  " + "\n  ".join(inside) + "\n"
        return text + ")"

    def full_name(self) -> str:
        """The unique name of the layer; names of its parameters begin with it.

        Source:
            `paddle.nn.Layer.full_name`.

        Examples:
            >>> with wherry.utils.unique_name.guard():
            ...     wherry.nn.Linear(2, 2).full_name()
            'linear_0'
        """
        return self._full_name

    @property
    def _helper(self) -> _Helper:
        """The object with `create_parameter` that layers written for Paddle use."""
        return _Helper(self)

    # Making and registering members.

    def create_parameter(
        self,
        shape: Any,
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
    ) -> Parameter | None:
        """Make a parameter, named after the layer; assigning it to an attribute registers it.

        Args:
            shape: sizes > 0.
            attr: a ParamAttr, a name, an initializer, or None for the defaults. False gives no parameter.
            dtype: None is the default dtype.
            is_bias: a bias is named `b` and starts with zeros, a weight is named `w` and starts as
                XavierUniform fills it.
            default_initializer: used where neither `attr` nor `set_global_initializer` names one.

        Returns:
            The parameter, or None where `attr` is False.

        Raises:
            TypeError: `attr`, `shape` or `dtype` is of another type.
            ValueError: a size is not positive, or another parameter was given that name.

        Source:
            `paddle.nn.Layer.create_parameter`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> bias = layer.create_parameter([3], is_bias=True)
            >>> print(bias.numpy(), bias.stop_gradient)
            [0. 0. 0.] False
        """
        return new_parameter(self._full_name, shape, attr, dtype, is_bias, default_initializer)

    def create_variable(self, name: str | None = None, persistable: bool | None = None, dtype: Any = None) -> Tensor:
        """A tensor without values, for `paddle.assign(x, output=tensor)` to fill: another name of `create_tensor`.

        Args:
            name: is appended to the layer's name; None numbers it.
            persistable: is set on the tensor; None is False.
            dtype: None is the default dtype.

        Shape:
            `[0]`, until it is filled.

        Raises:
            TypeError: `dtype` is not a dtype, or `name` is not a str.

        Source:
            `paddle.nn.Layer.create_variable`.

        Examples:
            >>> x = wherry.nn.Layer().create_variable(dtype="float64")
            >>> x.shape, x.dtype
            ([0], paddle.float64)
        """
        return self.create_tensor(name, persistable, dtype)

    def create_tensor(self, name: str | None = None, persistable: bool | None = None, dtype: Any = None) -> Tensor:
        """A tensor without values, for `paddle.assign(x, output=tensor)` to fill.

        Args:
            name: is appended to the layer's name; None numbers it.
            persistable: is set on the tensor; None is False.
            dtype: None is the default dtype.

        Shape:
            `[0]`, until it is filled.

        Raises:
            TypeError: `dtype` is not a dtype, or `name` is not a str.

        Source:
            `paddle.nn.Layer.create_tensor`.

        Examples:
            >>> x = wherry.nn.Layer().create_tensor()
            >>> out = wherry.assign(wherry.ones([2]), x)
            >>> print(x.numpy())
            [1. 1.]
        """
        tensor = _core.uninitialized(
            (0,), as_dtype(get_default_dtype() if dtype is None else dtype, "create_tensor"), _core.get_current_device()
        )
        if not (name is None or isinstance(name, str)):
            raise InvalidTypeError(f"create_tensor: name is not a str. Got {short(name)} ({type(name).__name__}), expected a str or None.")
        base = self._full_name
        tensor.name = unique_name.generate(f"{base}._generated_var") if name is None else f"{base}.{name}"
        tensor.persistable = bool(persistable)
        tensor.stop_gradient = True
        return tensor

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Register `parameter` as attribute `name`.

        Args:
            name: without dots.
            parameter: None reserves the name.

        Returns:
            The parameter.

        Raises:
            TypeError: `parameter` is not a Parameter, or `name` is not a str.
            KeyError: `name` is empty, contains a dot, or is an attribute that is not a parameter.

        Source:
            `paddle.nn.Layer.add_parameter`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> _ = layer.add_parameter("scale", layer.create_parameter([1]))
            >>> layer.scale.shape
            [1]
        """
        _check_name(self, name, "parameter", "_parameters")
        if not (parameter is None or isinstance(parameter, Parameter)):
            raise TypeError(_wrong_kind(self, name, parameter, "parameter", "a Parameter", "create_parameter"))
        self._parameters[name] = parameter
        return parameter

    def add_sublayer(self, name: str, sublayer: Layer | None) -> Layer | None:
        """Register `sublayer` as attribute `name`.

        Args:
            name: may contain dots, though such an attribute is only reached by `getattr`.
            sublayer: None reserves the name.

        Returns:
            The layer.

        Raises:
            TypeError: `sublayer` is not a Layer (also a ValueError and an AssertionError).

        Source:
            `paddle.nn.Layer.add_sublayer`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> _ = layer.add_sublayer("norm", wherry.nn.Identity())
            >>> layer.norm
            Identity()
        """
        if not (sublayer is None or isinstance(sublayer, Layer)):
            raise AssertedTypeError(_wrong_kind(self, name, sublayer, "sublayer", "a Layer", "nn.Identity()") + _as_layer(sublayer))
        if "_sub_layers" not in self.__dict__:
            raise ValueError(_not_initialized(self))
        self._sub_layers[name if isinstance(name, str) else str(name)] = sublayer
        return sublayer

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Register `tensor` as attribute `name`: part of the layer's state which is not trained.

        Args:
            name: without dots.
            tensor: any dtype, `[...]`; None reserves the name.
            persistable: whether `state_dict` contains it.

        Raises:
            TypeError: `tensor` is not a Tensor, or `name` is not a str.
            KeyError: `name` is empty, contains a dot, or is an attribute that is not a buffer.

        Source:
            `paddle.nn.Layer.register_buffer`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> layer.register_buffer("mean", wherry.zeros([2]))
            >>> list(layer.state_dict())
            ['mean']
        """
        _check_name(self, name, "buffer", "_buffers")
        if not (tensor is None or isinstance(tensor, Tensor)):
            raise TypeError(_wrong_kind(self, name, tensor, "buffer", "a Tensor", "to_tensor"))
        self._buffers[name] = tensor
        names = self._non_persistable_buffer_names_set
        (names.discard if persistable else names.add)(name)

    # Members by name.

    def named_sublayers(
        self, prefix: str = "", include_self: bool = False, layers_set: set[Layer] | None = None, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Layer]]:
        """All layers inside, at any depth, with their paths; a layer that occurs twice is yielded once.

        Args:
            prefix: the beginning of every path.
            include_self: whether the layer itself comes first.
            layers_set: layers to skip; those that are yielded are added.
            remove_duplicate: False yields a layer at each of its places.

        Source:
            `paddle.nn.Layer.named_sublayers`.

        Examples:
            >>> inner = wherry.nn.Sequential(wherry.nn.Identity())
            >>> [name for name, _ in wherry.nn.Sequential(inner, inner).named_sublayers()]
            ['0', '0.0']
        """
        seen = set() if layers_set is None else layers_set
        if truth(include_self, "sublayers", "include_self") and self not in seen:
            seen.add(self)
            yield prefix, self
        # One generator with a stack instead of one generator for each level.
        paths = [prefix]
        rests = [iter(self._sub_layers.items())]
        while rests:
            for name, layer in rests[-1]:
                if layer is not None and (layer not in seen or not remove_duplicate):
                    seen.add(layer)
                    path = f"{paths[-1]}.{name}" if paths[-1] else name
                    yield path, layer
                    if layer._sub_layers:
                        paths.append(path)
                        rests.append(iter(layer._sub_layers.items()))
                        break
            else:
                paths.pop()
                rests.pop()

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """All layers inside, at any depth; a layer that occurs twice is listed once.

        Args:
            include_self: whether the layer itself comes first.

        Source:
            `paddle.nn.Layer.sublayers`.

        Examples:
            >>> wherry.nn.Sequential(wherry.nn.Sequential(wherry.nn.ReLU())).sublayers()
            [Sequential(
              (0): ReLU()
            ), ReLU()]
        """
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def _all_layers(self) -> dict[Layer, None]:
        """The layer and all inside in any order: as `sublayers`, without paths."""
        found: dict[Layer, None] = {self: None}
        waiting = [self]
        while waiting:
            for layer in waiting.pop()._sub_layers.values():
                if layer is not None and layer not in found:
                    found[layer] = None
                    waiting.append(layer)
        return found

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The layers directly inside, with their names; one that occurs twice is yielded once.

        Source:
            `paddle.nn.Layer.named_children`.

        Examples:
            >>> list(wherry.nn.Sequential(("act", wherry.nn.ReLU())).named_children())
            [('act', ReLU())]
        """
        seen = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in seen:
                seen.add(layer)
                yield name, layer

    def children(self) -> Iterator[Layer]:
        """The layers directly inside; one that occurs twice is yielded once.

        Source:
            `paddle.nn.Layer.children`.

        Examples:
            >>> list(wherry.nn.Sequential(wherry.nn.Sequential(wherry.nn.ReLU()), wherry.nn.ReLU()).children())[1]
            ReLU()
        """
        for _, layer in self.named_children():
            yield layer

    def named_parameters(self, prefix: str = "", include_sublayers: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Parameters with their paths; one that occurs twice is yielded once.

        Args:
            prefix: the beginning of every path.
            include_sublayers: whether to include those of the layers inside.

        Source:
            `paddle.nn.Layer.named_parameters`.

        Examples:
            >>> scales = wherry.nn.ParameterList([wherry.create_parameter([3], "float32") for _ in range(2)])
            >>> [name for name, _ in wherry.nn.Sequential(("scales", scales)).named_parameters()]
            ['scales.0', 'scales.1']
        """
        return self._members("_parameters", prefix, include_sublayers)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """Parameters, for an optimizer; one that occurs twice is listed once.

        Args:
            include_sublayers: whether to include those of the layers inside.

        Source:
            `paddle.nn.Layer.parameters`.

        Examples:
            >>> [parameter.shape for parameter in wherry.nn.Linear(2, 3).parameters()]
            [[2, 3], [3]]
        """
        return [parameter for _, parameter in self._members("_parameters", "", include_sublayers)]

    def named_buffers(self, prefix: str = "", include_sublayers: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their paths; one that occurs twice is yielded once.

        Args:
            prefix: the beginning of every path.
            include_sublayers: whether to include those of the layers inside.

        Source:
            `paddle.nn.Layer.named_buffers`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> layer.register_buffer("mean", wherry.zeros([2]))
            >>> [(name, buffer.shape) for name, buffer in wherry.nn.Sequential(layer).named_buffers()]
            [('0.mean', [2])]
        """
        return self._members("_buffers", prefix, include_sublayers)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """Buffers: tensors of the layer's state that are not trained.

        Args:
            include_sublayers: whether to include those of the layers inside.

        Source:
            `paddle.nn.Layer.buffers`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> layer.register_buffer("mean", wherry.zeros([2]))
            >>> [buffer.shape for buffer in layer.buffers()]
            [[2]]
        """
        return [buffer for _, buffer in self._members("_buffers", "", include_sublayers)]

    def _members(self, table: str, prefix: str, include_sublayers: bool) -> Iterator[tuple[str, Any]]:
        seen = set()
        layers: Iterable[tuple[str, Layer]] = (
            self.named_sublayers(prefix, include_self=True) if truth(include_sublayers, table[1:], "include_sublayers") else ((prefix, self),)
        )
        for path, layer in layers:
            for name, member in layer.__dict__[table].items():
                if member is not None and id(member) not in seen:
                    seen.add(id(member))
                    yield f"{path}.{name}" if path else name, member

    def apply(self, fn: Callable[[Layer], Any]) -> Layer:
        """Call `fn` with every layer inside, in the order of registration, and last with the layer itself.

        Args:
            fn: takes a layer; what it returns is not used.

        Returns:
            The layer.

        Raises:
            TypeError: `fn` is not callable.

        Source:
            `paddle.nn.Layer.apply`.

        Examples:
            >>> _ = wherry.nn.Sequential(wherry.nn.Identity()).apply(print)
            Identity()
            Sequential(
              (0): Identity()
            )
        """
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Fill the gradients of all trainable parameters with zeros.

        Args:
            set_to_zero: False forgets them instead.

        Source:
            `paddle.nn.Layer.clear_gradients`.

        Examples:
            >>> layer = wherry.nn.Linear(1, 1)
            >>> layer(wherry.ones([1, 1])).backward()
            >>> layer.clear_gradients()
            >>> print(layer.weight.grad.numpy())
            [[0.]]
        """
        for parameter in self.parameters():
            if parameter.trainable:
                parameter.clear_gradient(set_to_zero)

    # State.

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
    ) -> dict[str, Any]:
        """Parameters and persistable buffers by their paths: what is saved with a model.

        Args:
            destination: a dict to fill; None makes one.
            include_sublayers: whether to include those of the layers inside.
            structured_name_prefix: the beginning of every path.
            use_hook: whether to call the hooks of `register_state_dict_hook`.

        Returns:
            A dict of the parameters and buffers themselves, not of copies.

        Raises:
            TypeError: `destination` is not a dict (also a ValueError).

        Source:
            `paddle.nn.Layer.state_dict`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> layer.weight = layer.create_parameter([2, 3])
            >>> layer.register_buffer("mean", wherry.zeros([3]))
            >>> list(wherry.nn.Sequential(layer).state_dict())
            ['0.weight', '0.mean']
        """
        return self._collect_state(destination, include_sublayers, structured_name_prefix, False, use_hook)

    def to_static_state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
    ) -> dict[str, Any]:
        """As `state_dict`, including the buffers that are not persistable.

        Args:
            destination: a dict to fill; None makes one.
            include_sublayers: whether to include those of the layers inside.
            structured_name_prefix: the beginning of every path.
            use_hook: whether to call the hooks of `register_state_dict_hook`.

        Raises:
            TypeError: `destination` is not a dict (also a ValueError).

        Source:
            `paddle.nn.Layer.to_static_state_dict`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> layer.register_buffer("cache", wherry.zeros([2]), persistable=False)
            >>> list(layer.state_dict()), list(layer.to_static_state_dict())
            ([], ['cache'])
        """
        return self._collect_state(destination, include_sublayers, structured_name_prefix, True, use_hook)

    def _collect_state(
        self, destination: dict[str, Any] | None, include_sublayers: bool, prefix: str, all_buffers: bool, use_hook: bool
    ) -> dict[str, Any]:
        state = OrderedDict() if destination is None else destination
        if not isinstance(state, MutableMapping):
            raise InvalidTypeError(f"state_dict: 'destination' has the wrong type. Got {type(state).__name__}, expected a dict that is filled.")
        if not isinstance(prefix, str):
            raise InvalidTypeError(f"state_dict: 'structured_name_prefix' is not a str. Got {short(prefix)}, expected a str. Leave it out.")
        for name, parameter in self._parameters.items():
            if parameter is not None:
                state[prefix + name] = parameter
        skipped = () if all_buffers else self._non_persistable_buffer_names_set
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in skipped:
                state[prefix + name] = buffer
        if truth(include_sublayers, "state_dict", "include_sublayers"):
            for name, layer in self._sub_layers.items():
                if layer is not None:
                    state = layer._collect_state(state, True, f"{prefix}{name}.", all_buffers, use_hook)
        if truth(use_hook, "state_dict", "use_hook"):
            for hook in tuple(self._state_dict_hooks.values()):
                changed = hook(state)
                if changed is not None:
                    state = changed
        return state

    def register_state_dict_hook(self, hook: Callable[[dict[str, Any]], Any]) -> HookRemoveHelper:
        """Call `hook(state)` at the end of `state_dict`; what it returns replaces the dict, unless it is None.

        Args:
            hook: gets the dict.

        Returns:
            A handle; `handle.remove()` unregisters the hook.

        Raises:
            TypeError: `hook` is not callable (also a ValueError).

        Source:
            `paddle.nn.Layer.register_state_dict_hook`.

        Examples:
            >>> layer = wherry.nn.Linear(1, 1)
            >>> handle = layer.register_state_dict_hook(lambda state: {"model." + key: value for key, value in state.items()})
            >>> list(layer.state_dict())
            ['model.weight', 'model.bias']
            >>> handle.remove()
        """
        return HookRemoveHelper(self._state_dict_hooks, hook, "register_state_dict_hook")

    def set_state_dict(self, state_dict: dict[str, Any], use_structured_name: bool = True) -> tuple[list[str], list[str]]:
        """Overwrite parameters and persistable buffers with the values of `state_dict`.

        Members that are absent there, or have another shape, stay as they are, with one warning for all. On an error nothing
        is written.

        Args:
            state_dict: tensors or NumPy arrays by the paths of `state_dict()`; their dtypes must fit.
            use_structured_name: False looks for the names of the parameters (`linear_0.w_0`) instead of paths.

        Returns:
            Keys that were missing (or did not fit), and keys that were not used.

        Raises:
            TypeError: `state_dict` is not a dict, or a value is neither tensor nor array.
            ValueError: a value has another dtype (also an AssertionError); the state is one of PyTorch, whose names and layouts differ.

        Source:
            `paddle.nn.Layer.set_state_dict`. Paddle takes square weights of PyTorch as they are, untransposed.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> layer.weight = layer.create_parameter([2])
            >>> layer.set_state_dict({"weight": wherry.to_tensor([1.0, 2.0])})
            ([], [])
            >>> print(layer.weight.numpy())
            [1. 2.]
        """
        if not hasattr(state_dict, "get") or not hasattr(state_dict, "keys"):
            raise InvalidTypeError(
                f"set_state_dict: state_dict is not a dict. Got {type(state_dict).__name__}, expected a dict of tensors or arrays. "
                f"Pass what paddle.load or state_dict() returned."
            )
        missing, used, found, skipped = [], set(), [], []
        targets = self.state_dict(use_hook=False)
        linear = {
            f"{path}.weight" if path else "weight" for path, layer in self.named_sublayers(include_self=True)
            if any(kind.__name__ == "Linear" for kind in type(layer).__mro__)
        }
        evidence = evidence_of_torch(state_dict, targets, linear & targets.keys()) if use_structured_name else None
        if evidence is not None:
            raise InvalidArgumentError(
                f"set_state_dict: this is a state of PyTorch. Got {evidence}, expected the names and layouts of {type(self).__name__}.state_dict(). "
                f"Load it with paddle.nn.utils.from_torch(state, layer), which renames and transposes; skip=['fc'] leaves a head out. If it "
                f"is converted already, pass it as a new dict of arrays under the layer's own names."
            )

        def transposed(path: str, shape: list[int]) -> bool:
            return path in linear and shape == targets[path].shape[::-1]

        for path, target in targets.items():
            key = path if use_structured_name else target.name
            value = state_dict.get(key)
            if value is None:
                missing.append(key)
                skipped.append(f"Skip loading for {path}. {key} is not found in the provided dict.")
                continue
            value = _as_value(value, key)
            if value.shape != target.shape:
                missing.append(key)
                skipped.append(
                    f"Skip loading for {path}. {key} receives a shape {value.shape}, but the expected shape is {target.shape}."
                    + (" Weights of PyTorch are transposed: paddle.nn.utils.from_torch loads them." if transposed(path, value.shape) else "")
                )
                continue
            if value.dtype is not target.dtype:
                raise AssertedArgumentError(
                    f"set_state_dict: Variable dtype not match for {key}. Got {value.dtype.name}, expected "
                    f"{target.dtype.name}. Cast the value with astype('{target.dtype.name}'), or the layer with "
                    f"to(dtype='{value.dtype.name}')."
                )
            used.add(key)
            found.append((target, value))
        for target, value in found:
            target.set_value(value)
        unused = [key for key in state_dict if key not in used]
        if skipped:
            warn(_misfits(type(self).__name__, skipped, missing, unused, len(found)))
        return missing, unused

    set_dict = set_state_dict
    load_dict = set_state_dict

    # Devices and dtypes.

    def to(self, device: Any = None, dtype: Any = None, blocking: bool | None = None) -> Layer:
        """Move all parameters and buffers, in place, to a device and into a dtype.

        Args:
            device: "cpu", "gpu:0", ... or a Place; None leaves them where they are.
            dtype: into which everything is cast, integers too, as in Paddle; None leaves it.
            blocking: no effect; copies are always finished on return.

        Returns:
            The layer.

        Raises:
            TypeError: `dtype` is not a dtype; `blocking` is not a bool (also an AssertionError).
            ValueError: there is no such device.

        Source:
            `paddle.nn.Layer.to`.

        Examples:
            >>> layer = wherry.nn.Layer()
            >>> layer.weight = layer.create_parameter([2, 3])
            >>> layer.to(dtype="float64").weight.dtype
            paddle.float64
        """
        code = None if device is None else device_code(device, "to")
        if not (blocking is None or isinstance(blocking, bool)):
            raise AssertedTypeError(f"to: blocking is not a bool. Got {short(blocking)}, expected True, False or None. Leave it out.")
        if dtype is not None:
            self._cast(as_dtype(dtype, "to"), False, ())
        if code is not None:
            self._move(code)
        return self

    def astype(self, dtype: Any = None) -> Layer:
        """Cast all parameters and buffers, in place, integers too.

        Args:
            dtype: the new dtype.

        Returns:
            The layer.

        Raises:
            ValueError: `dtype` is not a dtype (also a TypeError).

        Source:
            `paddle.nn.Layer.astype`.

        Examples:
            >>> wherry.nn.Linear(2, 2).astype("float64").weight.dtype
            paddle.float64
        """
        try:
            known = as_dtype(dtype, "astype")
        except TypeError as error:
            raise InvalidTypeError(str(error)) from None
        self._cast(known, False, ())
        return self

    def float(self, excluded_layers: Any = None) -> Layer:
        """Cast all floating parameters and buffers, in place, to float32.

        Args:
            excluded_layers: a class of layers, or several, whose own parameters and buffers stay as they are.

        Returns:
            The layer.

        Raises:
            TypeError: `excluded_layers` holds something that is not a class of layers (also a ValueError).

        Source:
            `paddle.nn.Layer.float`.

        Examples:
            >>> wherry.nn.Linear(2, 2).float16().float().weight.dtype
            paddle.float32
        """
        return self._cast(_core.float32, True, _layer_classes(excluded_layers, "float"))

    def float16(self, excluded_layers: Any = None) -> Layer:
        """Cast all floating parameters and buffers, in place, to float16.

        Args:
            excluded_layers: a class of layers, or several, whose own parameters and buffers stay as they are.

        Returns:
            The layer.

        Raises:
            TypeError: `excluded_layers` holds something that is not a class of layers (also a ValueError).

        Source:
            `paddle.nn.Layer.float16`, which warns and does nothing on a CPU; here it casts.

        Examples:
            >>> net = wherry.nn.Sequential(wherry.nn.Linear(2, 2), wherry.nn.LayerNorm(2))
            >>> net = net.float16(excluded_layers=wherry.nn.LayerNorm)
            >>> net[0].weight.dtype, net[1].weight.dtype
            (paddle.float16, paddle.float32)
        """
        return self._cast(_core.float16, True, _layer_classes(excluded_layers, "float16"))

    def bfloat16(self, excluded_layers: Any = None) -> Layer:
        """Cast all floating parameters and buffers, in place, to bfloat16.

        Args:
            excluded_layers: a class of layers, or several, whose own parameters and buffers stay as they are.

        Returns:
            The layer.

        Raises:
            TypeError: `excluded_layers` holds something that is not a class of layers (also a ValueError).

        Source:
            `paddle.nn.Layer.bfloat16`.

        Examples:
            >>> wherry.nn.Linear(2, 2).bfloat16().weight.dtype
            paddle.bfloat16
        """
        return self._cast(_core.bfloat16, True, _layer_classes(excluded_layers, "bfloat16"))

    def _cast(self, dtype: DType, floating_only: bool, excluded: tuple[type, ...]) -> Layer:
        with no_grad():
            for layer in self.sublayers(include_self=True):
                if isinstance(layer, excluded):
                    continue
                layer._cast_own(dtype, floating_only)
        return self

    def _cast_own(self, dtype: DType, floating_only: bool) -> None:
        """Cast the parameters and buffers of this layer alone."""
        self.__dict__["_dtype"] = dtype.name
        for member in (*self._parameters.values(), *self._buffers.values()):
            if member is None or member.dtype is dtype or (floating_only and not member.dtype.is_floating):
                continue
            # The tensor stays the same object, so that optimizers which hold it see the change.
            member._share_data_with(ops.cast(member.detach(), dtype))
            if member.grad is not None:
                member.grad = ops.cast(member.grad.detach(), dtype)


    def _move(self, device: int) -> None:
        """Move every parameter and buffer, in place, to a device of the core."""
        with no_grad():
            for layer in self.sublayers(include_self=True):
                for member in (*layer._parameters.values(), *layer._buffers.values()):
                    if member is None or _core.device_of(member) == device:
                        continue
                    # As for a cast, the tensor stays the same object.
                    member._share_data_with(_core.to_device(member.detach(), device))
                    if member.grad is not None:
                        member.grad = _core.to_device(member.grad.detach(), device)


Layer.__new__.__wrapped__ = Layer.__init__  # type: ignore[attr-defined]  # what inspect.signature shows


def create_parameter(
    shape: Any,
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Parameter | None:
    """A parameter outside of any layer.

    Args:
        shape: sizes > 0.
        dtype: any dtype; other than floating ones need an initializer.
        name: of the parameter; None numbers it `create_parameter_0.w_0`, ...
        attr: a ParamAttr, an initializer, or None for the defaults.
        is_bias: whether it starts with zeros, rather than as XavierUniform fills it.
        default_initializer: used where neither `attr` nor `set_global_initializer` names one.

    Raises:
        TypeError: `attr`, `shape` or `dtype` is of another type.
        ValueError: a size is not positive, or another parameter was given that name.

    Source:
        `paddle.create_parameter`.

    Examples:
        >>> weight = wherry.create_parameter([2, 3], "float32")
        >>> weight.stop_gradient
        False
    """
    if attr is None and name is not None:
        attr = ParamAttr(name=name)
    base = unique_name.generate("create_parameter")
    return new_parameter(base, shape, attr, dtype, is_bias, default_initializer)


_weight_default = XavierUniform()
_bias_default = Constant(0.0)


def new_parameter(
    base: str, shape: Any, attr: Any, dtype: Any, is_bias: bool, default: Initializer | None
) -> Parameter | None:
    said = as_param_attr(attr, "create_parameter")
    if said is None:
        return None
    is_bias = truth(is_bias, "create_parameter", "is_bias")
    known = as_dtype(get_default_dtype() if dtype is None else dtype, "create_parameter")
    if not (default is None or isinstance(default, Initializer) or callable(default)):
        raise TypeError(
            f"create_parameter: default_initializer is not an initializer. Got {short(default)} ({type(default).__name__}), expected "
            f"an object of nn.initializer. Write nn.initializer.Constant(...) for a number."
        )
    initializer = said.initializer or global_initializer(is_bias) or default
    if initializer is None:
        if not known.is_floating:
            raise TypeError(
                f"create_parameter: only floating parameters have a default initializer. Got dtype={known.name}, expected "
                f"float16, bfloat16, float32 or float64. Pass default_initializer=nn.initializer.Constant(0), say."
            )
        initializer = _bias_default if is_bias else _weight_default
    options: dict[str, Any] = {
        "trainable": said.trainable,
        "optimize_attr": {"learning_rate": said.learning_rate},
        "regularizer": said.regularizer,
        "do_model_average": said.do_model_average,
        "need_clip": said.need_clip,
    }
    sizes = _sizes(shape)
    own = unique_name.generate(f"{base}.{'b' if is_bias else 'w'}") if said.name is None else said.name
    if building.builder is not None:
        return building.builder.parameter(sizes, known, own, initializer, said.name is not None, attr=said, **options)
    if said.name is not None:
        unique_name.claim(own)
    parameter = Parameter(_core.uninitialized(sizes, known, _core.get_current_device()), name=own, **options)
    if lazy.active():
        parameter.fill_later(initializer)
    else:
        initializer(parameter)
    return parameter


def _sizes(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, (list, tuple, Tensor)) and type(shape).__module__ != "numpy":
        raise InvalidTypeError(
            f"create_parameter: argument 'shape' must be a list or tuple of ints. Got {short(shape)} ({type(shape).__name__}), "
            f"expected a shape. Write [{short(shape)}] for one axis."
        )
    if isinstance(shape, (list, tuple)):
        for axis, size in enumerate(shape):
            if isinstance(size, int) and size <= 0:
                raise AssertedArgumentError(
                    f"create_parameter: Expected every dim's size to be larger than 0. Got shape {short(list(shape))}, whose axis "
                    f"{axis} has size {size}, expected sizes > 0. A parameter has a fixed number of elements."
                )
    return sizes_of(shape, "create_parameter")


def _note_layer(layer: Layer, error: Exception) -> None:
    """Add one note to an error that leaves layers: the path of the innermost layer from the outermost, and its repr."""
    inner, path, before, note = error.__dict__.get(_WHERE, (layer, "", layer, None))
    if layer is not before:
        name = next((name for name, one in layer.named_sublayers() if one is before), None)
        if name is None:  # called without being part of this one
            return
        path = f"{name}.{path}" if path else name
    try:
        kind = repr(inner)
    except Exception:  # from a user's extra_repr; the error at hand matters more
        kind = type(inner).__name__
    if "\n" in kind or len(kind) > 120:
        kind = type(inner).__name__
    said = f"in layer '{path}': {kind}" if path else f"in layer {kind}"
    notes = error.__dict__.setdefault("__notes__", [])
    if note in notes:
        notes[notes.index(note)] = said
    else:
        error.add_note(said)
    error.__dict__[_WHERE] = inner, path, layer, said


_WHERE = "_wherry_layer"  # what _note_layer has found so far
_names: dict[type, str] = {}


def _name_of(kind: type) -> str:
    """`conv2d` for Conv2D, `batch_norm1d` for BatchNorm1D: how Paddle makes names of classes."""
    name = _names.get(kind)
    if name is None:
        name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", kind.__name__)
        name = _names[kind] = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    return name


def _forget(tables: dict[str, Any], name: str, *others: str) -> None:
    """Remove an attribute from wherever it was before it becomes something else."""
    for table in others:
        if name in tables[table]:
            del tables[table][name]
            tables["_non_persistable_buffer_names_set"].discard(name)
    if name not in tables["_parameters"] and name not in tables["_sub_layers"]:
        tables.pop(name, None)


def _not_initialized(layer: Layer) -> str:
    kind = type(layer).__name__
    return (
        f"{kind}: super().__init__() should be called first. Got a tensor or layer assigned to an attribute of a layer that "
        f"was not initialised, expected the call before it. Begin {kind}.__init__ with super().__init__()."
    )


def _as_layer(value: Any) -> str:
    """" Write nn.ReLU().", for a function or a class in place of a layer."""
    name = getattr(value, "__name__", "").replace("_", "").lower()
    kinds = [Layer]
    for kind in kinds:  # and those below it, which the loop appends
        if kind.__name__.lower() == name and kind.__module__.startswith("wherry_nn.layers"):
            return f" Write nn.{kind.__name__}()."
        kinds += kind.__subclasses__()
    return ""


def _wrong_kind(layer: Layer, name: str, value: Any, what: str, expected: str, maker: str) -> str:
    return (
        f"{type(layer).__name__}: attribute {short(name)} is a {what}. Got {short(value)} ({type(value).__name__}), expected {expected} "
        f"or None. Use {maker}, delete the attribute first, or choose another name."
    )


def _check_name(layer: Layer, name: Any, what: str, table: str) -> None:
    kind = type(layer).__name__
    if table not in layer.__dict__:
        raise ValueError(_not_initialized(layer))
    if not isinstance(name, str):
        raise TypeError(
            f"{kind}: the name of a {what} is not a str. Got {short(name)} ({type(name).__name__}), expected a str. Write {short(name)!r}."
        )
    if "." in name:
        raise KeyError(
            f"{kind}: the name of a {what} can not contain '.', which separates layers in paths. Got '{name}', expected a "
            f"name without it. Use '{name.replace('.', '_')}'."
        )
    if not name:
        raise KeyError(f"{kind}: the name of a {what} can not be empty. Got '', expected an attribute's name. Choose one.")
    if name not in layer.__dict__[table] and hasattr(layer, name):
        raise KeyError(
            f"{kind}: attribute '{name}' already exists. Got a {what} of that name, expected a new name. Choose another one, "
            f"or delete the attribute first."
        )


def _as_value(value: Any, key: str) -> Tensor:
    if isinstance(value, Tensor):
        return value
    numpy = numpy_module()
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return to_tensor(value)
    origin = type(value).__module__.partition(".")[0]
    if origin == "torch":
        raise InvalidTypeError(
            f"set_state_dict: the value of '{key}' is a tensor of PyTorch, whose layers have other layouts. Got torch.{type(value).__name__}, "
            f"expected a Tensor of Wherry or a NumPy array. Write nn.utils.from_torch(state, layer), which transposes and renames."
        )
    raise InvalidTypeError(
        f"set_state_dict: the value of '{key}' is not a tensor. Got {type(value).__name__}, expected a Tensor or a NumPy array. "
        f"Convert it with to_tensor."
    )


def _misfits(kind: str, skipped: list[str], missing: list[str], unused: list[Any], taken: int) -> str:
    """One message about all that did not fit, and whether a common prefix is the reason."""
    lines = [f"{kind}.set_state_dict: {len(skipped)} of {len(skipped) + taken} entries stay as they are."]
    prefix = _prefix_between(missing, unused)
    if prefix and all(str(key).startswith(prefix) for key in unused):
        lines.append(
            f"All keys begin with {prefix!r}. Load {{key.removeprefix({prefix!r}): value for key, value in state.items()}}."
        )
    elif prefix:
        lines.append(
            f"The keys lack {prefix!r}, with which the layer's begin. Load {{{prefix!r} + key: value for key, value in state.items()}}."
        )
    elif unused:
        lines.append(f"Keys that were not used: {', '.join(map(str, unused[:6]))}{', ...' if len(unused) > 6 else ''}.")
    if len(skipped) > 12:
        skipped = [*skipped[:10], f"... and {len(skipped) - 10} more."]
    return "\n".join(lines + skipped)


def _prefix_between(missing: list[str], unused: list[Any]) -> str:
    """The prefix that most unused keys have before the missing ones, or the other way round; "" if there is none."""
    given = [key for key in unused if isinstance(key, str)]
    if not missing or not given:
        return ""
    for longer, shorter in (given, missing), (missing, given):
        known = set(shorter)
        prefix = next((one[: -len(end)] for one in longer[:1] for end in shorter if one.endswith(f".{end}")), "")
        fits = sum(one.startswith(prefix) and one[len(prefix):] in known for one in longer)
        if prefix and 2 * fits > len(longer):
            return prefix
    return ""


def _layer_classes(excluded: Any, op_name: str) -> tuple[type, ...]:
    given = () if excluded is None else tuple(excluded) if isinstance(excluded, (list, tuple)) else (excluded,)
    for one in given:
        if not (isinstance(one, type) and issubclass(one, Layer)):
            raise InvalidTypeError(
                f"{op_name}: excluded_layers holds something other than a class of layers. Got {short(one)} ({type(one).__name__}), expected a "
                f"subclass of nn.Layer, or a list of them. Pass the class, as in excluded_layers=nn.LayerNorm."
            )
    return given


Module = Layer
_call = Layer.__call__


def _noted_call(self: Layer, *inputs: Any, **kwargs: Any) -> Any:
    """`Layer.__call__` while a profiler records."""
    begin = perf_counter_ns()
    try:
        return _call(self, *inputs, **kwargs)
    finally:
        _core.trace_note(_FORWARD, type(self).__name__, begin, perf_counter_ns())


_FORWARD = 9  # the kind of event


def note_calls(on: bool) -> None:
    """Record the times of layer calls for a profiler, or stop it; when off, it costs nothing."""
    Layer.__call__ = _noted_call if on else _call  # type: ignore[method-assign,assignment]


_spelled({"__all__": ()}, methods={Layer: "buffers named_buffers named_parameters parameters register_buffer state_dict to to_static_state_dict"})
