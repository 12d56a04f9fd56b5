"""Containers of layers and parameters: Sequential, lists and dicts."""
from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from wherry_nn.layer import Layer
from wherry_nn.parameter import Parameter
from wherry_tensor.errors import AssertedArgumentError, AssertedTypeError, InvalidTypeError, short
from wherry_tensor.spellings import spelled

__all__ = ["Identity", "LayerDict", "LayerList", "ParameterList", "Sequential", "ModuleDict", "ModuleList", "ParameterDict"]


class Identity(Layer):
    """Identity: returns its input. Arguments are accepted and unused, so that it can replace any layer.

    Source:
        `paddle.nn.Identity`.

    Examples:
        >>> print(wherry.nn.Identity(54, unused=0.1)(wherry.ones([2])).numpy())
        [1. 1.]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Sequential(Layer):
    """Sequential container: layers that run one after the other, each on the output of the one before.

    Args:
        layers: layers, which are named "0", "1", ...; or (name, layer) pairs.

    Raises:
        TypeError: an argument is neither (also a ValueError and an AssertionError).

    Source:
        `paddle.nn.Sequential`.

    Examples:
        >>> model = wherry.nn.Sequential(("first", wherry.nn.Identity()), ("second", wherry.nn.Identity()))
        >>> model(wherry.ones([4, 2])).shape
        [4, 2]
        >>> model["second"]
        Identity()
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if layers and isinstance(layers[0], (list, tuple)):
            for pair in layers:
                if not (isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], (str, int))):
                    raise AssertedTypeError(
                        f"Sequential: an argument is not a (name, layer) pair. Got {short(pair)}, expected pairs since the first argument "
                        f"is one. For a list of layers write Sequential(*layers)."
                    )
                self.add_sublayer(str(pair[0]), pair[1])
        else:
            for i, layer in enumerate(layers):
                self.add_sublayer(str(i), layer)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(*list(self._sub_layers.values())[index])
        if isinstance(index, str):
            return self._sub_layers[index]
        return list(self._sub_layers.values())[_position(self, index, IndexError)]

    def __setitem__(self, name: Any, layer: Layer) -> None:
        self.add_sublayer(str(name), layer)

    def __delitem__(self, name: Any) -> None:
        if str(name) not in self._sub_layers:
            raise AssertedArgumentError(_no_such_name(self, name))
        del self._sub_layers[str(name)]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._sub_layers.values()))

    def forward(self, input: Any) -> Any:
        for layer in self._sub_layers.values():
            input = layer(input)  # type: ignore[misc]
        return input


class LayerList(Layer):
    """List of layers that registers them; a plain list would not.

    Args:
        sublayers: layers; None makes an empty list.

    Raises:
        TypeError: something in it is not a layer (also a ValueError and an AssertionError).

    Source:
        `paddle.nn.LayerList`.

    Examples:
        >>> layers = wherry.nn.LayerList([wherry.nn.Identity() for _ in range(3)])
        >>> len(layers), len(wherry.nn.Sequential(layers).sublayers())
        (3, 4)
    """

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.extend(sublayers)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        if isinstance(index, str):
            return self._sub_layers[index]
        return self._sub_layers[str(_position(self, index, IndexError))]

    def __setitem__(self, index: Any, sublayer: Layer) -> None:
        self.add_sublayer(str(_position(self, index, IndexError)), sublayer)

    def __delitem__(self, index: Any) -> None:
        layers = list(self._sub_layers.values())
        del layers[index if isinstance(index, slice) else _position(self, index, IndexError)]
        self._renumber(layers)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._sub_layers.values()))

    def append(self, sublayer: Layer) -> LayerList:
        """Add a layer at the end. Source: `paddle.nn.LayerList.append`, which returns the list too."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def insert(self, index: int, sublayer: Layer) -> None:
        """Add a layer before the one at `index`, which must exist.

        Raises:
            ValueError: no layer has this index (also an AssertionError).
            TypeError: `sublayer` is not a Layer (also a ValueError and an AssertionError).

        Source:
            `paddle.nn.LayerList.insert`.
        """
        at = _position(self, index, AssertedArgumentError)
        if not isinstance(sublayer, Layer):
            self.add_sublayer(str(at), sublayer)  # which raises the error
        layers = list(self._sub_layers.values())
        layers.insert(at, sublayer)
        self._renumber(layers)

    def extend(self, sublayers: Iterable[Layer]) -> LayerList:
        """Add layers at the end. Source: `paddle.nn.LayerList.extend`, which returns the list too."""
        if not _is_series(sublayers):
            raise InvalidTypeError(
                f"LayerList: sublayers is not a list. Got {_kind(sublayers)}, expected an iterable of layers. "
                f"Write [layer] for one."
            )
        for layer in sublayers:
            self.append(layer)
        return self

    def _renumber(self, layers: list[Any]) -> None:
        self._sub_layers.clear()
        self._sub_layers.update((str(i), layer) for i, layer in enumerate(layers))


class LayerDict(Layer):
    """Dict of layers that registers them, in order.

    Args:
        sublayers: a dict, a LayerDict, or (name, layer) pairs; None makes an empty one.

    Raises:
        TypeError: it is none of these, or a value is not a layer (also a ValueError and an AssertionError).

    Source:
        `paddle.nn.LayerDict`.

    Examples:
        >>> heads = wherry.nn.LayerDict({"class": wherry.nn.Identity(), "box": wherry.nn.Identity()})
        >>> list(heads.keys())
        ['class', 'box']
    """

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key: str) -> Any:
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        del self._sub_layers[key]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        """Remove all layers. Source: `paddle.nn.LayerDict.clear`."""
        self._sub_layers.clear()

    def pop(self, key: str) -> Any:
        """Remove a layer and return it.

        Raises:
            KeyError: there is no layer of this name.

        Source:
            `paddle.nn.LayerDict.pop`.
        """
        return self._sub_layers.pop(key)

    def keys(self) -> KeysView[str]:
        """The names. Source: `paddle.nn.LayerDict.keys`."""
        return self._sub_layers.keys()

    def values(self) -> ValuesView[Any]:
        """The layers. Source: `paddle.nn.LayerDict.values`."""
        return self._sub_layers.values()

    def items(self) -> ItemsView[str, Any]:
        """The names with the layers. Source: `paddle.nn.LayerDict.items`."""
        return self._sub_layers.items()

    def update(self, sublayers: Any) -> None:
        """Add layers; they replace layers of the same name.

        Args:
            sublayers: a dict, a LayerDict, or (name, layer) pairs.

        Raises:
            TypeError: it is none of these, or a value is not a layer (also a ValueError and an AssertionError).

        Source:
            `paddle.nn.LayerDict.update`.
        """
        if isinstance(sublayers, (Mapping, LayerDict)):
            pairs = list(sublayers.items())
        elif _is_series(sublayers):
            pairs = list(sublayers)
        else:
            raise AssertedTypeError(
                f"LayerDict: sublayers is not a dict or a list of pairs. Got {_kind(sublayers)}, expected a dict, a LayerDict, or "
                f"(name, layer) pairs. Write {{'name': layer}}."
            )
        for i, pair in enumerate(pairs):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise InvalidTypeError(
                    f"LayerDict: element {i} is not a pair. Got {short(pair)}, expected (name, layer). Write ('name', layer)."
                )
            self.add_sublayer(*pair)


class ParameterList(Layer):
    """List of parameters that registers them; a plain list would not.

    Args:
        parameters: parameters; None makes an empty list.

    Raises:
        TypeError: something in it is not a parameter.

    Source:
        `paddle.nn.ParameterList`.

    Examples:
        >>> scales = wherry.nn.ParameterList([wherry.create_parameter([2], "float32") for _ in range(3)])
        >>> list(scales.state_dict())
        ['0', '1', '2']
    """

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        if parameters is None:
            return
        if not _is_series(parameters):
            raise InvalidTypeError(
                f"ParameterList: parameters is not a list. Got {_kind(parameters)}, expected an iterable of "
                f"parameters. Write [parameter] for one."
            )
        for parameter in parameters:
            self.append(parameter)

    def __getitem__(self, index: int) -> Any:
        return self._parameters[str(index)]

    def __setitem__(self, index: int, parameter: Parameter) -> None:
        if not isinstance(parameter, Parameter):
            raise AssertedTypeError(
                f"ParameterList: only parameters can be in it. Got {type(parameter).__name__}, expected a Parameter. "
                f"Make one with create_parameter."
            )
        self._parameters[str(index)] = parameter

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._parameters.values()))

    def append(self, parameter: Parameter) -> ParameterList:
        """Add a parameter at the end. Source: `paddle.nn.ParameterList.append`, which returns the list too."""
        self.add_parameter(str(len(self)), parameter)
        return self


class ParameterDict(Layer):
    """Dict of parameters that registers them, in order.

    Args:
        parameters: a dict, a ParameterDict, or (name, parameter) pairs; None makes an empty one.

    Raises:
        TypeError: it is none of these, or a value is not a parameter (also a ValueError and an AssertionError).

    Source:
        `paddle.nn.ParameterDict`.

    Examples:
        >>> scales = wherry.nn.ParameterDict({"a": wherry.create_parameter([2], "float32")})
        >>> list(scales.state_dict())
        ['a']
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, param: Parameter) -> None:
        if not isinstance(param, Parameter):
            raise AssertedTypeError(
                f"ParameterDict: only parameters can be in it. Got {type(param).__name__}, expected a Parameter. Make one with create_parameter."
            )
        self.add_parameter(key, param)

    def __delitem__(self, key: str) -> None:
        del self._parameters[key]

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def keys(self) -> KeysView[str]:
        """The names. Source: `paddle.nn.ParameterDict.keys`."""
        return self._parameters.keys()

    def values(self) -> ValuesView[Any]:
        """The parameters. Source: `paddle.nn.ParameterDict.values`."""
        return self._parameters.values()

    def items(self) -> ItemsView[str, Any]:
        """The names with the parameters. Source: `paddle.nn.ParameterDict.items`."""
        return self._parameters.items()

    def update(self, parameters: Any) -> None:
        """Add parameters; they replace those of the same name.

        Args:
            parameters: a dict, a ParameterDict, or (name, parameter) pairs.

        Raises:
            TypeError: it is none of these, or a value is not a parameter (also a ValueError and an AssertionError).

        Source:
            `paddle.nn.ParameterDict.update`.
        """
        if not isinstance(parameters, (Mapping, ParameterDict)) and not _is_series(parameters):
            raise AssertedTypeError(
                f"ParameterDict: this is not a dict or a list of pairs. Got {_kind(parameters)}, expected a dict, a ParameterDict, or "
                f"(name, parameter) pairs. Write {{'name': parameter}}."
            )
        for i, pair in enumerate(parameters.items() if isinstance(parameters, (Mapping, ParameterDict)) else parameters):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise InvalidTypeError(
                    f"ParameterDict: element {i} is not a pair. Got {short(pair)}, expected (name, parameter). Write ('name', parameter)."
                )
            self[pair[0]] = pair[1]


ModuleDict = LayerDict
ModuleList = LayerList


def _is_series(value: Any) -> bool:
    """Whether one thing after the other comes out of it; arrays and tensors say so of themselves, and then have no axis."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0


def _kind(value: Any) -> str:
    return type(value).__name__ + (" without an axis" if isinstance(value, Iterable) else "")


def _position(layers: Sequential | LayerList, index: Any, error: type[Exception]) -> int:
    """A position in [0, len) from one in [-len, len)."""
    count = len(layers)
    kind = type(layers).__name__
    try:
        at = index.__index__()
    except (AttributeError, TypeError):
        raise InvalidTypeError(
            f"{kind}: the index is not an int, a slice or a name. Got {short(index)} ({type(index).__name__}), expected an int, a slice or a name. "
            f"The first layer is 0, the last -1."
        ) from None
    if not -count <= at < count:
        raise error(
            f"{kind}: index {at} is out of range for {count} layers. Got {at}, expected an integer in range "
            f"[{-count}, {count}). Use append to add a layer."
        )
    return at + count if at < 0 else at


def _no_such_name(layers: Layer, name: Any) -> str:
    return (
        f"{type(layers).__name__}: there is no layer of this name. Got {name!r}, expected one of "
        f"{', '.join(layers._sub_layers)}. Delete layers by their names."
    )


spelled(globals())
