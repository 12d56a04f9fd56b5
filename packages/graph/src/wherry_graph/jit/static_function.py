"""`StaticFunction`: a function that runs as programs, one for each kind of arguments."""
from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Collection, Sequence
from types import MethodType
from typing import Any

from wherry_graph.jit.arguments import FunctionSpec, is_array, specified, split
from wherry_graph.jit.convert import converted, text_of
from wherry_graph.jit.convert.symbolic import TensorList, scalar
from wherry_graph.jit.convert.trace import Trace
from wherry_graph.jit.errors import tidy_converted, user_place
from wherry_graph.jit.partial import OUTPUT, OUTPUT_NUMBER, OUTPUT_ROWS, PartialProgram
from wherry_nn import Layer, Parameter
from wherry_program.program.capture import current_capture
from wherry_program.program.input_spec import InputSpec
from wherry_program.program.ir import Program, Variable
from wherry_program.program.structure import flatten, flatten_sorted, map_structure
from wherry_program.run._calls import Guard
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import default_dtype
from wherry_tensor.errors import InvalidTypeError, LeafOverwrittenError, short
from wherry_tensor.functions.creation import to_tensor
from wherry_tensor.sizes import Size
from wherry_tensor.static_builder import building
from wherry_tensor.tracebacks import warn
from wherry_train.amp.casting import current_rules

__all__ = ["ConcreteProgram", "StaticFunction", "enable_to_static"]

_enabled = True


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Let functions of `to_static` run as programs, or op by op as they are written.

    Args:
        enable_to_static_bool: False runs them op by op, which is how to look for a mistake in them.

    Source:
        `paddle.jit.enable_to_static`.

    Examples:
        >>> @wherry.jit.to_static
        ... def double(x):
        ...     return x * 2
        >>> wherry.jit.enable_to_static(False)
        >>> print(double(wherry.ones([2])).numpy())  # nothing was captured
        [2. 2.]
        >>> wherry.jit.enable_to_static(True)
    """
    global _enabled
    _enabled = bool(enable_to_static_bool)


class ConcreteProgram:
    """A function captured for one kind of arguments.

    Attributes:
        inputs: what stood for the arguments, in order: variables, and values that are not tensors.
        outputs: the variables that it returns, in order.
        parameters: the tensors with data that it uses: parameters and buffers of layers, and others.
        main_program: the program.
        startup_program: an empty one; parameters have their values already.
        function: that was captured.
        kwargs: options of `to_static`.
        feeds: variables that stood for tensors, in the order of a file: dicts by their sorted keys.
    """

    def __init__(
        self, function: Callable[..., Any], partial: PartialProgram, inputs: list[Any], modes: list[tuple[Layer, bool]], kwargs: dict[str, Any],
        feeds: list[Variable],
    ) -> None:
        self.feeds = feeds
        self.function, self.partial, self.inputs, self.modes, self.kwargs = function, partial, inputs, modes, kwargs
        self.startup_program = Program()
        used = [x.bound for x in partial.program.bound_variables()]
        self.stops = [(x, x.stop_gradient) for x in used if isinstance(x, Parameter)]

    @property
    def main_program(self) -> Program:
        return self.partial.program

    @property
    def outputs(self) -> list[Variable]:
        return self.partial.fetches

    @property
    def fetches(self) -> list[Variable]:
        """The outputs in the order of a file: dicts by their sorted keys."""
        left = iter(self.outputs)
        marks = (OUTPUT, OUTPUT_NUMBER, OUTPUT_ROWS)
        placed = map_structure(lambda leaf: next(left) if any(leaf is mark for mark in marks) else leaf, self.partial.outputs)
        return [leaf for leaf in flatten_sorted(placed) if isinstance(leaf, Variable)]

    @property
    def parameters(self) -> list[Tensor]:
        return [x.bound for x in self.main_program.bound_variables() if x.bound is not None and x.persistable]

    def holds(self) -> bool:
        """Whether the layers are in the mode of the capture, and the same parameters are frozen."""
        return all(layer.training is mode for layer, mode in self.modes) and all(x.stop_gradient is stop for x, stop in self.stops)


class StaticFunction:
    """A function that is captured as a program at its first call, and runs as that program.

    Each kind of arguments (shapes and dtypes of tensors, values of everything else, the modes of layers) has a program of its own. Made by
    `to_static`.

    Args:
        function: the function or method.
        input_spec: an InputSpec for each argument; None takes those of each call.
        full_graph: whether all of the function must be captured.
        build_strategy: accepted for compatibility.
        backend: accepted for compatibility.
        instance: the layer whose method it is.

    Attributes:
        program_cache: what was captured, by kind of arguments.

    Raises:
        TypeError: `function` cannot be called (also a ValueError).

    Examples:
        >>> @wherry.jit.to_static
        ... def double(x):
        ...     return x * 2
        >>> type(double).__name__
        'StaticFunction'
        >>> print(double(wherry.ones([2])).numpy())
        [2. 2.]
    """

    def __init__(
        self, function: Any, input_spec: Any = None, *, full_graph: bool = False, build_strategy: Any = None, backend: Any = None,
        instance: Any = None,
    ) -> None:
        if isinstance(function, MethodType):
            function, instance = function.__func__, function.__self__
        if not callable(function):
            raise InvalidTypeError(f"to_static: this cannot be called. Got {short(function)}, expected a function, a method or a layer.")
        self._function = function
        self._instance = instance
        self._full_graph = full_graph
        self._options = {"build_strategy": build_strategy, "backend": backend}
        self._spec_given = input_spec
        self._is_method = instance is not None
        self._function_spec: FunctionSpec | None = None if self._may_be_method() else FunctionSpec(function, input_spec, self._is_method)
        if self._function_spec is None and input_spec is not None and not isinstance(input_spec, (list, tuple)):
            FunctionSpec(function, input_spec, False)  # says what is wrong
        self.program_cache: dict[Any, list[ConcreteProgram | None]] = {}
        self._kept: list[Any] = []
        self._last: ConcreteProgram | None = None
        self._recent: tuple[Guard, PartialProgram] | None = None  # what ran last, and what says that a call is like that one
        self._warned = False
        functools.update_wrapper(self, function)

    def _may_be_method(self) -> bool:
        parameters = list(inspect.signature(self._function).parameters)
        return self._instance is None and bool(parameters) and parameters[0] == "self"

    # As a method.

    def __get__(self, instance: Any, owner: type | None = None) -> StaticFunction:
        if instance is None:
            return self
        own = getattr(instance, "__dict__", {}).get("_static_functions")
        if own is None:
            own = {}
            if hasattr(instance, "__dict__"):
                instance.__dict__["_static_functions"] = own
        bound = own.get(id(self))
        if bound is None or bound._instance is not instance:
            bound = StaticFunction(self._function, self._spec_given, full_graph=self._full_graph, instance=instance, **self._options)
            own[id(self)] = bound
        return bound  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: dict[int, Any]) -> StaticFunction:
        instance = copy.deepcopy(self._instance, memo)
        return StaticFunction(self._function, self._spec_given, full_graph=self._full_graph, instance=instance, **self._options)

    def __reduce__(self) -> Any:
        raise TypeError(
            f"pickle: {self!r} holds programs. Got it inside of an object to be saved, expected data. Save the layer with paddle.jit.save, or its "
            f"state_dict()."
        )

    def __repr__(self) -> str:
        return f"<StaticFunction {self._function.__qualname__}>"

    # Running.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not _enabled:
            return self._eager(args, kwargs)
        if self._recent is not None and not kwargs:
            guard, partial = self._recent
            tensors = guard.tensors(args)
            if tensors is not None:
                return partial(tensors)
        return self._looked_up(args, kwargs)

    def _looked_up(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if current_capture() is not None:
            return converted(self.dygraph_function)(*args, **kwargs)
        tensors: list[Tensor] = []
        given, simple = args, not kwargs
        args, kwargs = self.function_spec.bind(args, kwargs)
        concrete = self._find(args, kwargs, tensors)
        if concrete is None:
            return self._eager(_with_tensors(args), _with_tensors(kwargs))
        self._remember(concrete, given if simple and Guard.knows(args) else None)
        return concrete.partial(tensors)

    def _remember(self, concrete: ConcreteProgram, args: tuple[Any, ...] | None = None) -> None:
        """It ran last; `args` are those of a call that the next one may be like."""
        self._last = concrete
        self._recent = None if args is None else (Guard(args, concrete.modes, concrete.stops), concrete.partial)

    def _find(self, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[Tensor]) -> ConcreteProgram | None:
        """The program for these arguments; None if they run op by op. Their tensors are added to `tensors`."""
        n_kept = len(self._kept)
        key = (
            *[split(value, tensors, self._kept) for value in args], *[(name, split(value, tensors, self._kept)) for name, value in kwargs.items()],
            _surroundings(),
        )
        entries = self.program_cache.get(key)
        if entries is not None:
            del self._kept[n_kept:]
            for entry in entries:
                if entry is None or entry.holds():
                    return entry
        spec = self.function_spec.input_spec
        declared = args, kwargs
        if spec is not None:
            with_tensors = _with_tensors(args)
            declared = (*(specified(v, s) for v, s in zip(with_tensors, spec)), *with_tensors[len(spec):]), kwargs
            if any(isinstance(leaf, InputSpec) for leaf in flatten(list(declared[0]))):  # one program for all that it declares
                stops = tuple(x.stop_gradient for x in tensors)
                key = ("declared", *[split(value, [], self._kept) for value in declared[0]], repr(kwargs), stops, _surroundings())
                for entry in self.program_cache.get(key, ()):
                    if entry is None or entry.holds():
                        return entry
        made = self._captured_or_none(*declared, tensors, (args, kwargs))
        self.program_cache.setdefault(key, []).append(made)
        return made

    def _captured_or_none(self, args: Any, kwargs: Any, tensors: list[Tensor], plain: Any) -> ConcreteProgram | None:
        try:
            return self._captured(args, kwargs, [x.stop_gradient for x in tensors])
        except Exception as error:
            tidy_converted(error)
            if self._full_graph:
                raise
            place = user_place(error)
            reason = str(error).partition("\n")[0]
        if not self._warned:
            self._warned = True
            warn(
                f"to_static: {self._function.__qualname__} cannot be captured and runs op by op, because of {place}{reason.rstrip('.')}. "
                f"With full_graph=True this is an error."
            )
        return None

    def _captured_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ConcreteProgram:
        """What is captured for declared inputs. In a file an input may be written over: that one is copied first."""
        copied: set[str] = set()
        while True:
            try:
                return self._captured(args, kwargs, copied=copied)
            except LeafOverwrittenError as error:
                parameters = self._instance.named_parameters() if isinstance(self._instance, Layer) else ()
                of_layer = next((name for name, parameter in parameters if parameter.name == error.leaf), None)
                if of_layer is not None:
                    error.args = (f"{error} The tensor is the parameter {of_layer} of {type(self._instance).__name__}.",)
                if not building.for_file or not error.leaf or error.leaf in copied or of_layer is not None:
                    raise
                copied.add(error.leaf)

    def _captured(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], stops: Sequence[bool] | None = None, copied: Collection[str] = (),
    ) -> ConcreteProgram:
        trace = Trace()
        inputs: list[Any] = []
        left = None if stops is None else iter(stops)
        names = self.function_spec.names_of(args, kwargs)
        used: set[str] = set()

        def fed(name: str, value: Any) -> Any:
            if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
                return type(value)(fed(f"{name}_{i}", item) for i, item in enumerate(value))
            if isinstance(value, dict):
                return {key: fed(f"{name}_{key}", item) for key, item in value.items()}
            if hasattr(type(value), "tensor_parts"):
                return value.with_tensor_parts(fed(name, value.tensor_parts()))
            if isinstance(value, (Tensor, InputSpec)):
                if isinstance(value, InputSpec) and value.name:
                    name = value.name
                while name in used:
                    name += "_"
                used.add(name)
                stop = value.stop_gradient if left is None else next(left)
                value = trace.program.feed(value.shape, value.dtype, name, stop_gradient=stop)
            inputs.append(value)
            return value

        args, kwargs = _with_tensors(args), _with_tensors(kwargs)
        values = [fed(name, value) for name, value in zip(names, (*args, *kwargs.values()), strict=True)]
        feeds = [leaf for leaf in flatten_sorted(values) if isinstance(leaf, Variable)]  # before the function may change a dict
        function = converted(self.dygraph_function)
        if isinstance(self._instance, Layer):
            trace.saw(self._instance)
        try:
            with trace as recording:
                if copied:
                    values = map_structure(lambda x: ops.copy(x) if isinstance(x, Variable) and x.name in copied else x, values)
                returned = function(*values[: len(args)], **dict(zip(kwargs, values[len(args):], strict=True)))
                if inspect.isgenerator(returned) or inspect.iscoroutine(returned):
                    raise TypeError(
                        f"to_static: {self._function.__qualname__} is a generator. Got what it yields as its result, expected tensors. "
                        f"Return a list, or call it from a function that is converted."
                    )
                fetches: list[Variable] = []
                wanted: list[bool] = []

                def output(leaf: Any) -> Any:
                    mark = OUTPUT
                    if isinstance(leaf, TensorList):
                        leaf, mark = leaf.data, OUTPUT_ROWS
                    elif isinstance(leaf, Size):
                        leaf, mark = scalar(leaf), OUTPUT_NUMBER
                    if not isinstance(leaf, Tensor):
                        return leaf
                    fetches.append(recording.variable_of(leaf))
                    wanted.append(not leaf.stop_gradient)
                    return mark

                outputs = map_structure(output, returned)
        except BaseException:
            trace.end()  # an interrupt may have come before the `with` could
            raise
        trace.program.fetches = fetches
        partial = PartialProgram(trace.program, outputs, fetches, wanted)
        return ConcreteProgram(self.dygraph_function, partial, inputs, trace.modes, self._options, feeds)

    def _eager(self, args: Any, kwargs: Any) -> Any:
        return self.dygraph_function(*args, **kwargs)

    # Properties.

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The function as it was written."""
        return self._function if self._instance is None else self._function.__get__(self._instance)  # type: ignore[no-any-return]

    @property
    def function_spec(self) -> FunctionSpec:
        """Its parameters and their InputSpecs."""
        if self._function_spec is None:
            self._function_spec = FunctionSpec(self._function, self._spec_given, False)
        return self._function_spec

    @property
    def code(self) -> str:
        """The converted code, as text.

        Raises:
            ValueError: the function cannot be converted.
        """
        return text_of(self._function)

    @property
    def concrete_program(self) -> ConcreteProgram:
        """What was captured: for the declared inputs, or by the last call.

        Raises:
            ValueError: nothing is declared, and there was no call.
        """
        return self.concrete_program_specify_input_spec()

    def concrete_program_specify_input_spec(self, input_spec: Sequence[Any] | None = None, with_hook: bool = False) -> ConcreteProgram:
        """What was captured for these inputs; None stands for the declared ones, or those of the last call.

        Raises:
            ValueError: there is neither.
        """
        spec = input_spec if input_spec is not None else self.function_spec.input_spec
        if spec is None:
            if self._last is not None and self._last.holds() and not building.for_file:
                return self._last
            if self._last is not None:  # by now layers are in another mode: captured once more
                return self._captured_for(*self._arguments_of(self._last))
            raise ValueError(
                f"No valid transformed program for {self.function_spec}. Got a function that was not called, expected inputs that are declared "
                f"or known. Please specific `input_spec` in `@paddle.jit.to_static` or feed input tensor to call the decorated function at once. "
                f"To save: paddle.jit.save(layer, path, input_spec=[paddle.static.InputSpec([None, 4])]), with None for open sizes."
            )
        args, kwargs = self.function_spec.from_spec(spec)
        key = "spec", *[split(value, [], self._kept) for value in args], _surroundings()
        for entry in self.program_cache.get(key, ()):
            if entry is not None and entry.holds():
                return entry
        try:
            made = self._captured_for(args, kwargs)
        except Exception as error:
            tidy_converted(error)
            raise
        self.program_cache.setdefault(key, []).append(made)
        return made

    def _arguments_of(self, concrete: ConcreteProgram) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args = tuple(
            InputSpec(x.sizes, x.dtype, x.name, x.stop_gradient) if isinstance(x, Variable) else x for x in concrete.inputs
        )
        return self.function_spec.bind(args, {})

    def get_concrete_program(self, *args: Any, **kwargs: Any) -> tuple[ConcreteProgram, PartialProgram]:
        """What is captured for these arguments, and what runs it.

        Raises:
            ValueError: an argument is missing.
        """
        args, kwargs = self.function_spec.bind(args, kwargs)
        tensors: list[Tensor] = []
        if any(isinstance(leaf, InputSpec) for leaf in flatten([*args, *kwargs.values()])):
            concrete: ConcreteProgram | None = self._captured(args, kwargs)
        else:
            concrete = self._find(args, kwargs, tensors)
        if concrete is None:
            raise ValueError(
                f"{self!r} cannot be captured for these arguments. Got a function that runs op by op, expected one that can be captured."
            )
        self._remember(concrete)
        return concrete, concrete.partial

    def get_traced_count(self) -> int:
        """The number of programs."""
        return sum(entry is not None for entries in self.program_cache.values() for entry in entries)

    @property
    def main_program(self) -> Program:
        """The program of `concrete_program`."""
        return self.concrete_program.main_program

    @property
    def inputs(self) -> list[Variable]:
        """Its feeds."""
        return [x for x in self.concrete_program.inputs if isinstance(x, Variable)]

    @property
    def outputs(self) -> list[Variable]:
        """Its fetches."""
        return self.concrete_program.outputs

    @property
    def last_call_input_spec(self) -> list[Any] | None:
        """The inputs of the last call, as they would be declared."""
        return None if self._last is None else list(self._arguments_of(self._last)[0])

    def rollback(self) -> Callable[..., Any]:
        """Return the original function; if this is a method of a layer, the layer gets it back."""
        function = self.dygraph_function
        own = getattr(self._instance, "__dict__", {})
        name = self._function.__name__
        if own.get(name) is self:
            del own[name]
        elif self._instance is not None:
            own[name] = function
        return function

    def train(self) -> None:
        """Put the layer of which this is a method in training mode."""
        if isinstance(self._instance, Layer):
            self._instance.train()

    def eval(self) -> None:
        """Put the layer of which this is a method in evaluation mode."""
        if isinstance(self._instance, Layer):
            self._instance.eval()


def _surroundings() -> Any:
    """The state, besides arguments, on which the results of ops depend."""
    rules = current_rules()
    return _core.is_grad_enabled(), default_dtype(), building.for_file, None if rules is None else (id(rules[0]), rules[1])


def _with_tensors(value: Any) -> Any:
    """The structure with tensors in place of arrays of NumPy."""
    return map_structure(lambda leaf: to_tensor(leaf) if is_array(leaf) else leaf, value)

