"""`to_static`, the functions that choose what it converts, and older names for them."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from wherry_graph.jit.convert import converted, ignore_modules, keep_as_is, text_of
from wherry_graph.jit.static_function import ConcreteProgram, StaticFunction, enable_to_static
from wherry_nn import Layer
from wherry_program.program.ir import Program, Variable
from wherry_tensor.errors import InvalidTypeError, short

__all__ = ["ProgramTranslator", "ignore_module", "not_to_static", "to_static"]


def to_static(
    function: Any = None, input_spec: Any = None, build_strategy: Any = None, backend: Any = None, **kwargs: Any
) -> Any:
    """Run a function or layer as a program, which is captured at its first call.

    `if`, `while`, `for`, `break`, `continue`, `return`, `and`, `or`, `not`, comparisons, casts, `print`, `assert`, lists and dicts become
    part of the program where tensors decide; everything else is Python, and happens once, while the program is captured. Functions that it
    calls are converted too.

    Args:
        function: a function, a method of a layer, or a layer, whose `forward` is meant. None gives the decorator.
        input_spec: one entry for each argument, in order: an InputSpec or a Tensor for a tensor, any other value for itself, lists and dicts of
            them. Arguments with a default may be left out. None: each shape of the inputs has a program of its own.
        build_strategy: no effect.
        backend: no effect; only None and "CINN" are known, and change nothing.
        **kwargs: `full_graph` (False): whether a function that cannot be captured is an error; otherwise it runs op by op, with one warning
            that names the line.

    Returns:
        A StaticFunction in place of a function; a layer itself.

    Raises:
        TypeError: `function` is neither a function nor a layer, or `input_spec` is not a list.

    Source:
        `paddle.jit.to_static`. There, `full_graph=False` ignores `input_spec` and has no `.code`; here both work.

    Examples:
        >>> @wherry.jit.to_static
        ... def leaky(x):
        ...     if x.mean() > 0:
        ...         return x
        ...     return 0.1 * x
        >>> print(leaky(wherry.to_tensor([1.0, 2.0])).numpy(), leaky(wherry.to_tensor([-1.0, -2.0])).numpy())
        [1. 2.] [-0.1 -0.2]
        >>> leaky.get_traced_count()
        1
        >>> net = wherry.jit.to_static(wherry.nn.Linear(2, 3), input_spec=[wherry.static.InputSpec([None, 2])])
        >>> net(wherry.ones([4, 2])).shape
        [4, 3]
    """
    full_graph = bool(kwargs.pop("full_graph", False))
    if kwargs:
        raise TypeError(
            f"to_static: unknown argument {next(iter(kwargs))!r}. Expected function, input_spec, build_strategy, backend or full_graph. "
            f"Take it out."
        )
    if backend not in (None, "CINN"):
        raise ValueError(f"to_static: unknown backend {short(backend)}. Expected None or 'CINN'. Leave it out.")

    def decorated(function: Any) -> Any:
        options = {"full_graph": full_graph, "build_strategy": build_strategy, "backend": backend}
        if isinstance(function, Layer):
            forward = function.forward
            if isinstance(forward, StaticFunction):
                forward = forward.dygraph_function
            function.__dict__["forward"] = StaticFunction(forward, input_spec, **options)  # type: ignore[arg-type]
            return function
        if isinstance(function, StaticFunction):
            function = function.dygraph_function
        if isinstance(function, (staticmethod, classmethod)):
            return type(function)(decorated(function.__func__))
        if not callable(function) or isinstance(function, type):
            raise InvalidTypeError(
                f"to_static: unsupported callable. Got {short(function)} ({type(function).__name__}), expected a function, a method or a layer. "
                f"Call it as to_static(net) or write @to_static above a function."
            )
        return StaticFunction(function, input_spec, **options)  # type: ignore[arg-type]

    return decorated if function is None else decorated(function)


def not_to_static(func: Callable[..., Any] | None = None) -> Any:
    """Mark a function that is never converted: called from a captured function, it runs as it is written.

    Args:
        func: the function; None gives the decorator.

    Returns:
        The function itself.

    Source:
        `paddle.jit.not_to_static`.

    Examples:
        >>> @wherry.jit.not_to_static
        ... def scale(x):
        ...     return x * 2
        >>> print(wherry.jit.to_static(lambda x: scale(x) + 1)(wherry.ones([2])).numpy())
        [3. 3.]
    """
    if func is None:
        return not_to_static
    keep_as_is(func)
    return func


def ignore_module(modules: Iterable[ModuleType | str]) -> None:
    """Mark modules whose functions are never converted.

    Args:
        modules: a list of modules.

    Raises:
        TypeError: `modules` is not a list.

    Source:
        `paddle.jit.ignore_module`. The standard library, NumPy and other well-known libraries are ignored anyway.

    Examples:
        >>> import json
        >>> wherry.jit.ignore_module([json])
    """
    if isinstance(modules, (str, ModuleType)) or not isinstance(modules, Iterable):
        raise InvalidTypeError(
            f"ignore_module: {type(modules).__name__!r} object is not a list of modules. Got {short(modules)}, expected a list. "
            f"Write ignore_module([module])."
        )
    ignore_modules(modules)


class ProgramTranslator:
    """The parts of `to_static`, as methods of a singleton.

    Source:
        `paddle.jit.ProgramTranslator` (2.3); later versions have `to_static` alone.

    Examples:
        >>> def double(x):
        ...     return x * 2
        >>> translator = wherry.jit.ProgramTranslator()
        >>> print(translator.get_output(double, wherry.ones([2])).numpy())
        [2. 2.]
        >>> main, startup, inputs, outputs = translator.get_program(double, wherry.ones([2]))
        >>> [node.type for node in main.nodes]
        ['multiply']
    """

    _instance: ProgramTranslator | None = None
    _functions: dict[Any, StaticFunction]

    def __new__(cls) -> ProgramTranslator:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance._functions = {}
        return cls._instance

    @classmethod
    def get_instance(cls) -> ProgramTranslator:
        """The singleton."""
        return cls()

    def enable(self, enable_static: bool) -> None:
        """Let functions of `to_static` run as programs, or op by op; see `enable_to_static`.

        Raises:
            TypeError: `enable_static` is not a bool.
        """
        if not isinstance(enable_static, bool):
            raise InvalidTypeError(f"ProgramTranslator.enable: Got {short(enable_static)} ({type(enable_static).__name__}), expected True or False.")
        enable_to_static(enable_static)

    def get_code(self, dygraph_func: Callable[..., Any]) -> str:
        """The converted code of a function, as text.

        Raises:
            ValueError: it cannot be converted.
        """
        return text_of(_plain(dygraph_func))

    def get_func(self, dygraph_func: Callable[..., Any]) -> Callable[..., Any]:
        """The converted function: on tensors with data it does what the original does."""
        return converted(_plain(dygraph_func))  # type: ignore[no-any-return]

    def get_output(self, dygraph_func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The result of the captured function for these arguments."""
        return self._static(dygraph_func)(*args, **kwargs)

    def get_program(
        self, dygraph_func: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> tuple[Program, Program, list[Variable], list[Variable]]:
        """The captured program for these arguments, a startup program, feeds and fetches."""
        concrete: ConcreteProgram = self._static(dygraph_func).get_concrete_program(*args, **kwargs)[0]
        return concrete.main_program, concrete.startup_program, [x for x in concrete.inputs if isinstance(x, Variable)], concrete.outputs

    def get_program_cache(self) -> dict[Any, StaticFunction]:
        """The functions that were captured by way of this object, and what was captured of them."""
        return self._functions

    def _static(self, function: Any) -> StaticFunction:
        if isinstance(function, StaticFunction):
            return function
        return self._functions.setdefault(function, StaticFunction(function, full_graph=True))


def _plain(function: Any) -> Any:
    return function.dygraph_function if isinstance(function, StaticFunction) else function
