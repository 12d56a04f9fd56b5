"""Quanters that are not made yet: a class with arguments, of which every layer gets an instance of its own."""
from __future__ import annotations

import abc
import inspect
import sys
from collections.abc import Callable
from typing import Any

from wherry_nn.layer import Layer
from wherry_quant.base import BaseQuanter
from wherry_tensor.errors import InvalidTypeError, short

__all__ = ["ClassWithArguments", "ObserverFactory", "QuanterFactory", "quanter"]


class ClassWithArguments(abc.ABC):
    """A class and the arguments that an instance of it will get."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._args, self._kwargs = args, kwargs

    @property
    def args(self) -> tuple[Any, ...]:
        """Arguments by position."""
        return self._args

    @property
    def kwargs(self) -> dict[str, Any]:
        """Arguments by name."""
        return self._kwargs

    @abc.abstractmethod
    def _get_class(self) -> type:
        """The class of the instances."""

    def __str__(self) -> str:
        said = [*map(str, self.args), *(f"{name}={value}" for name, value in self.kwargs.items())]
        return f"{type(self).__name__}({','.join(said)})"

    __repr__ = __str__


class QuanterFactory(ClassWithArguments):
    """Makes a quanter for each layer that a QuantConfig gives it to.

    Source:
        `paddle.quantization.factory.QuanterFactory`.
    """

    def _instance(self, layer: Layer) -> BaseQuanter:
        return self._get_class()(layer, *self.args, **self.kwargs)  # type: ignore[no-any-return]


ObserverFactory = QuanterFactory


def factory_of(kind: type[BaseQuanter], name: str, doc: str | None = None) -> type[QuanterFactory]:
    """A factory class called `name`, whose arguments are those of `kind` after the layer; defaults are filled in, as Paddle shows them."""
    parameters = list(inspect.signature(kind.__init__).parameters.values())[2:]  # after self and the layer
    signature = inspect.Signature([p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)] or None)

    def __init__(self: QuanterFactory, *args: Any, **kwargs: Any) -> None:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InvalidTypeError(
                f"{name}: the arguments do not fit. Got {short(args)} and {short(kwargs)}, expected {name}{signature}: {error}."
            ) from None
        given.apply_defaults()
        QuanterFactory.__init__(self, **given.arguments)

    return type(name, (QuanterFactory,), {
        "__init__": __init__, "_get_class": lambda self: kind, "__doc__": doc or kind.__doc__, "__module__": kind.__module__,
        "__signature__": signature,
    })


def quanter(class_name: str) -> Callable[[type[BaseQuanter]], type[BaseQuanter]]:
    """Decorator: also define a factory called `class_name`, in the module of the decorated quanter class.

    Args:
        class_name: the name of the factory, whose arguments are those of the class behind its first one, the layer.

    Raises:
        TypeError: `class_name` is not a str, or what is decorated is not a subclass of BaseQuanter.

    Source:
        `paddle.quantization.quanter`.
    """
    if not isinstance(class_name, str):
        raise InvalidTypeError(
            f"quanter: the name of a factory is a str. Got {short(class_name)} ({type(class_name).__name__}), expected a str. "
            f'Write @quanter("MyQuanter") above the class.'
        )

    def define(kind: type[BaseQuanter]) -> type[BaseQuanter]:
        if not (isinstance(kind, type) and issubclass(kind, BaseQuanter)):
            raise InvalidTypeError(
                f"quanter: only a quanter can be made by a factory. Got {short(kind)}, expected a subclass of BaseQuanter. Let the class inherit it."
            )
        factory = factory_of(kind, class_name)
        frame = sys._getframe(1)
        (frame.f_globals if frame.f_globals.get("__name__") == kind.__module__ else vars(sys.modules[kind.__module__]))[class_name] = factory
        return kind

    return define
