"""Variables of static programs: feeds, parameters, global variables, prints, calls of Python."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from wherry_graph.static.builder import lasting_variable
from wherry_graph.static.mode import default_main_program, in_static_mode
from wherry_nn import create_parameter as _create_parameter
from wherry_nn import unique_name
from wherry_program.program import control
from wherry_program.program.ir import Variable
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import integer
from wherry_tensor.dtype import as_dtype, get_default_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, PreconditionNotMetError, short
from wherry_tensor.explained import explained

_MOST_LEVELS = 16

__all__ = ["Print", "create_global_var", "create_parameter", "data", "py_func"]


def data(name: str, shape: Sequence[int | None], dtype: Any = None, lod_level: int = 0) -> Variable:
    """An input of the default main program, which is fed for each run.

    Args:
        name: by which it is fed.
        shape: sizes; None or -1 where a size differs from run to run.
        dtype: None is the default dtype.
        lod_level: of sequences that are fed as LoDTensors: how deep they are nested, at most 16.

    Raises:
        TypeError: `name` is not a str, `shape` is not a list or tuple, or `lod_level` is not an int.
        ValueError: `lod_level` is out of range, a size is neither an int nor None, or the name is taken by another variable.

    Source:
        `paddle.static.data`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     print(wherry.static.data("x", [None, 2], "float32"))
        var x : LOD_TENSOR.shape(-1, 2).dtype(float32).stop_gradient(True)
        >>> wherry.disable_static()
    """
    if not isinstance(name, (str, bytes)):
        raise InvalidTypeError(f"data: The type of 'name' in data must be str. Got {short(name)} ({type(name).__name__}), expected a str.")
    if not isinstance(shape, (list, tuple)):
        raise InvalidTypeError(
            f"data: The type of 'shape' in data must be a list or tuple. Got {short(shape)} ({type(shape).__name__}). Write [None, 2]."
        )
    for n in shape:
        if n is not None and (isinstance(n, bool) or not hasattr(n, "__index__") or not -1 <= int(n) < 1 << 63):
            raise InvalidArgumentError(
                f"data: this is not a size. Got {short(n)} in shape {short(list(shape))}, expected ints >= 0, or None or -1 where a size differs."
            )
    depth = integer(lod_level or 0, "data", "lod_level")
    if not 0 <= depth <= _MOST_LEVELS:
        raise InvalidArgumentError(
            f"data: lod_level is how deep sequences are nested. Got {short(depth)}, expected an int in [0, {_MOST_LEVELS}]. "
            f"1 is a batch of sequences."
        )
    name = name if isinstance(name, str) else name.decode()
    known = as_dtype(get_default_dtype() if dtype is None else dtype, "data")
    sizes = [-1 if n is None else int(n) for n in shape]
    program = default_main_program()
    block = program.blocks[0]
    x = block.vars.get(name)
    if x is not None:
        if not x.is_data or list(x.sizes) != sizes or x.dtype is not known:
            raise InvalidArgumentError(
                f"data: the name belongs to another variable. Got {name!r} of shape {sizes} and {known.name}, expected what {short(x)} says. "
                f"Choose another name."
            )
        return x
    x = program.feed(sizes, known, name)
    if depth:
        x.lod_level = depth
        x.__dict__["offsets"] = tuple(
            block.variable([-1], int64, f"{name}@LOD{i}" if i else f"{name}@LOD", is_data=True) for i in range(depth)
        )
    return x


def create_parameter(
    shape: Any, dtype: Any, name: str | None = None, attr: Any = None, is_bias: bool = False, default_initializer: Any = None
) -> Any:
    """A parameter outside of any layer; in static mode of the default main program. See `paddle.create_parameter`.

    Args:
        shape: a list or tuple of ints.
        dtype: its dtype.
        name: of the parameter.
        attr: a ParamAttr, an initializer, a name, or None.
        is_bias: None of `attr` then starts with zeros.
        default_initializer: the initializer if `attr` has none.

    Raises:
        TypeError: `shape` is not a list or tuple of ints, `dtype` is unknown, or `attr` is not an attribute.
        ValueError: a size is not positive (also an AssertionError).

    Source:
        `paddle.static.create_parameter`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program(), wherry.static.Program()):
        ...     print(wherry.static.create_parameter([2, 3], "float32", name="w"))
        persist trainable param w : LOD_TENSOR.shape(2, 3).dtype(float32).stop_gradient(False)
        >>> wherry.disable_static()
    """
    return _create_parameter(shape, dtype, name, attr, is_bias, default_initializer)


def create_global_var(
    shape: Sequence[int], value: float, dtype: Any, persistable: bool = False, force_cpu: bool = False, name: str | None = None
) -> Variable:
    """A variable that the startup program fills with `value`.

    Args:
        shape: sizes.
        value: a number.
        dtype: of the variable.
        persistable: is it saved with the program?
        force_cpu: no effect.
        name: None numbers it.

    Raises:
        RuntimeError: static mode is off.

    Source:
        `paddle.static.create_global_var`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program(), wherry.static.Program()):
        ...     step = wherry.static.create_global_var([1], 0, "int64", persistable=True, name="step")
        >>> step.persistable, step.shape
        (True, [1])
        >>> wherry.disable_static()
    """
    _require_static("create_global_var")
    make = partial(ops.full, shape=tuple(int(n) for n in shape), value=value, dtype=as_dtype(dtype, "create_global_var"))
    return lasting_variable(unique_name.generate("global_var") if name is None else name, make, persistable=persistable)


def Print(  # noqa: N802  Paddle's name
    input: Tensor, first_n: int = -1, message: str | None = None, summarize: int = 20, print_tensor_name: bool = True,
    print_tensor_type: bool = True, print_tensor_shape: bool = True, print_tensor_layout: bool = True, print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> Tensor:
    """Print a variable each time the program runs.

    Args:
        input: the variable.
        first_n: how often; -1 is always.
        message: printed before it.
        summarize: how many elements are shown.
        print_tensor_name: show its name.
        print_tensor_type: no effect; shown with the values.
        print_tensor_shape: no effect; shown with the values.
        print_tensor_layout: no effect; all tensors are dense and strided.
        print_tensor_lod: no effect.
        print_phase: "forward" or "both"; "backward" prints nothing, since gradients have names of their own to print.

    Returns:
        `input`.

    Shape:
        `[...]` to the same shape.

    Raises:
        TypeError: `input` is not a Tensor.
        ValueError: `print_phase` is unknown.

    Source:
        `paddle.static.Print`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [2])
        ...     y = wherry.static.Print(x, message="x is") * 2
        >>> [out] = wherry.static.Executor().run(y.program, feed={"x": [1.0, 2.0]}, fetch_list=[y])
        x is...
        >>> wherry.disable_static()
    """
    if not isinstance(input, Tensor):
        raise InvalidTypeError(f"Print: argument 'input' must be a Tensor. Got {type(input).__name__}, expected a variable.")
    if print_phase not in ("forward", "backward", "both"):
        raise InvalidArgumentError(f"Print: print_phase must be 'forward', 'backward' or 'both'. Got {short(print_phase)}.")
    if print_phase == "backward":
        return input
    words = [message] if message else []
    if print_tensor_name:
        words.append(f"Variable: {input.name}")
    return control.print_tensor(input, "\n".join(words), summarize, first_n)


def py_func(
    func: Callable[..., Any], x: Any, out: Any, backward_func: Callable[..., Any] | None = None, skip_vars_in_backward_input: Any = None
) -> Any:
    """Call a function of Python each time the program runs.

    Args:
        func: takes a Tensor for each of `x` (`numpy.array(tensor)` gives its values), returns one value, or several, for `out`.
        x: a variable, or several.
        out: variables that exist (`program.current_block().create_var`), of which shape and dtype are what `func` returns; None: nothing.
        backward_func: takes inputs, outputs and gradients of the outputs, returns the gradients of the inputs; None: no gradient passes.
        skip_vars_in_backward_input: inputs and outputs that `backward_func` does not take.

    Returns:
        `out`.

    Raises:
        TypeError: `func` is not a function, or an argument is not a variable.

    Source:
        `paddle.static.py_func`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [2])
        ...     y = wherry.static.default_main_program().current_block().create_var(name="y", shape=[2], dtype="float32")
        ...     y = wherry.static.py_func(lambda a: a.numpy() * 2, x, y)
        >>> wherry.static.Executor().run(y.program, feed={"x": [1.0, 2.0]}, fetch_list=["y"])[0].tolist()
        [2.0, 4.0]
        >>> wherry.disable_static()
    """
    _require_static("py_func")
    if not callable(func):
        raise InvalidTypeError(f"py_func: Input func must be a function. Got {short(func)} ({type(func).__name__}), expected one.")
    inputs = [] if x is None else list(x) if isinstance(x, (list, tuple)) else [x]
    outs = [] if out is None else list(out) if isinstance(out, (list, tuple)) else [out]
    for one in (*inputs, *outs):
        if not isinstance(one, Variable):
            raise InvalidTypeError(f"py_func: this is not a variable. Got {short(one)} ({type(one).__name__}), expected one of the program.")
    skipped = skip_vars_in_backward_input
    skipped = [] if skipped is None else list(skipped) if isinstance(skipped, (list, tuple)) else [skipped]
    names = {one.name if isinstance(one, Variable) else one for one in skipped}
    kept = [one.name not in names for one in (*inputs, *outs)]
    backward = None
    if backward_func is not None:
        function = backward_func

        def backward(*values: Any) -> Any:
            return function(*(v for i, v in enumerate(values) if i >= len(kept) or kept[i]))

    control.py_func(func, inputs, outs, backward)
    return out


def _require_static(what: str) -> None:
    if not in_static_mode():
        raise PreconditionNotMetError(
            f"{what}: it belongs to static mode. Got a call outside of it, expected paddle.enable_static() before. "
        )


explained(globals())
