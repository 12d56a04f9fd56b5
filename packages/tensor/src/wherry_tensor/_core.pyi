"""Stub of the compiled core, written by tools/stubs.py."""
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import overload
from wherry_tensor.arguments import Axes
import builtins
import numpy as np

VOCABULARY_VERSION: int
ABI_VERSION: int
MAX_RANK: int
registry: dict[str, Op]
host: object

class DType:
    """The type of a tensor's elements."""
    name: str
    code: int
    itemsize: int
    is_floating: bool
    is_complex: bool
    is_integer: bool
    is_bool: bool

bfloat16: DType
bool_: DType
complex128: DType
complex64: DType
float16: DType
float32: DType
float64: DType
int16: DType
int32: DType
int64: DType
int8: DType
uint8: DType

class Op:
    """A primitive; calling it applies it."""
    attr_names: tuple[str, ...]
    attr_types: tuple[Any, ...]
    differentiable: int
    effects: Any
    in_place: Any
    input_spec: str
    inputs: tuple[tuple[str, bool, bool], ...]
    min_inputs: Any
    n_fixed: Any
    name: str
    outputs: tuple[str, ...]
    random: Any
    size_attrs: Any
    variadic: Any
    view: bool
    vjp_rule: Any
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *inputs: Any, **attrs: Any) -> Any: ...
    def apply(self, inputs: Any, attrs: Any) -> Any:
        """Apply to a tuple of inputs and the tuple of all attributes, in the order of the declaration."""
    def each_into(self, outs: Any, inputs: Any, attrs: Any) -> Any:
        """Apply to many groups of tensors, one after the other, writing the results in place."""
    def infer(self, inputs: Any, attrs: Any) -> Any:
        """Metas of the outputs for tensors `inputs`: a tuple. Runs the shape rule, no kernel."""
    def into(self, outs: Any, *inputs: Any, **attrs: Any) -> Any:
        """Apply, and write the results into the tensors `outs`; their version goes up."""
    def kernel_dtypes(self, device: Any = ...) -> Any:
        """Names of the dtypes that a kind of device has a kernel for; `...` stands for all the others."""
    def run(self, inputs: Any, attrs: Any) -> Any:
        """The kernel (or view, or decomposition) alone, past all layers: what an inner layer calls."""
    def run_into(self, target: Any, inputs: Any, attrs: Any) -> Any:
        """`run`, with the result written into `target`, a tensor with data of its shape and dtype; for an op of one output."""
    def uses_shape_only(self, index: Any) -> Any:
        """Of input `index`, is only the shape used (`~` in the declaration)? Then it needs no values."""

class BinaryOps:
    """The ops behind Python's operators, looked up once."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CompiledInfer:
    """A shape rule of a wry_op_entry, called like one written in Python."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CountOrShape:
    """`x.size`, the number of elements, and `x.size()`, the sizes of the axes."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class DeviceEvent:
    """A mark in a stream."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    device: Any
    def elapsed(self, later: Any) -> Any:
        """Milliseconds from this mark to another."""
    def query(self) -> Any:
        """Has everything before the mark run?"""
    def record(self, stream: Any) -> Any:
        """Mark the place that `stream` has come to."""
    def synchronize(self) -> Any:
        """Wait until everything before the mark has run."""

class DeviceGraph:
    """Work of a stream that is written down once, and then run as one as often as it is launched."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def begin(self, stream: Any, mode: Any = ...) -> Any:
        """Write down from now on what is put on `stream`, which is not the default one."""
    device: Any
    def end(self) -> Any:
        """End the capture."""
    def launch(self, stream: Any) -> Any:
        """Run what was captured, on `stream`."""
    def print_to(self, path: Any) -> Any:
        """Write a description of the graph to a file, as DOT."""
    def reset(self) -> Any:
        """Let go of what was captured and of its memory, but for what tensors still hold."""

class DeviceStream:
    """A queue of work on a device; `handle` 0 is the default one."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    device: Any
    handle: Any
    def synchronize(self) -> Any:
        """Wait until everything on this stream has run."""
    def wait_event(self, event: Any) -> Any:
        """Let later work of this stream wait until `event` has passed."""

class Generator:
    """The state of random numbers: a Philox key (the seed) and how many counters are spent."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def get_state(self) -> Any:
        """(seed, offset), two ints, that `set_state` takes back; with FLAGS_paddle_random the stream's words after them."""
    def initial_seed(self) -> Any:
        """The seed in use."""
    def manual_seed(self, seed: Any) -> Any:
        """Start over from `seed`, an int; returns the generator."""
    offset: Any
    seed_value: Any
    def set_state(self, state: Any) -> Any:
        """Go back to a state that `get_state` gave."""
    stream: Any

class InnerLayer:
    """An inner layer that a `with` block installs: `layer(op, inputs, attrs)` and `layer.into(op, outs, inputs, attrs)` are its class's."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Memory:
    """Where the elements of a tensor lie."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    nbytes: Any

class Mersenne:
    """A stream of the 64-bit Mersenne Twister, seeded as `paddle.seed` seeds it."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def get_state(self) -> Any:
        """The state as ints (the words, and which of them is next), for `set_state`."""
    def integers(self, shape: Any, low: Any, high: Any) -> Any:
        """int64 values in [low, high)."""
    def normal(self, shape: Any, mean: Any, std: Any, dtype: Any) -> Any:
        """Normally distributed values, float32 or float64."""
    def permutation(self, n: Any) -> Any:
        """The integers from 0 to n - 1 in random order, int64."""
    def seed(self, seed: Any, *, directly: Any = ...) -> Any:
        """Start over from `seed`, an int >= 0."""
    def set_state(self, state: Any) -> Any:
        """Go back to a state that `get_state` gave."""
    def uniform(self, shape: Any, min: Any, max: Any, dtype: Any) -> Any:
        """Values in [min, max), float32 or float64."""

class Plan:
    """What calls of an op with certain shapes, dtypes and attributes need to know. Made by `plan_of`; immutable."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    elements: Any
    generation: Any
    kernel_address: Any
    kernel_flags: Any
    op: Any
    outputs: Any

class PythonKernel:
    """What `run_python_kernel` finds in `call.data`."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Scalar:
    """The declared type of an attribute that is an int, float, bool or complex number."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Spelled:
    """A function, and what understands calls of it whose arguments have other names."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    list_at: Any
    names: Any

class ThreadEnd:
    """Lies in Python's dictionary of a thread and lets go of the thread's layers when that is cleared."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Tensor:
    """An n-dimensional array of one dtype on one device."""
    @property
    def T(self) -> Tensor: ...
    def _bump_inplace_version(self) -> Any:
        """Paddle's name of `mark_written`."""
    def _is_initialized(self) -> Any: ...
    def _share_data_with(self, other: Any) -> Any:
        """Make this tensor use the memory, shape and dtype of `other`; name and gradient stay."""
    def _shares_memory_with(self, other: Any) -> Any:
        """Do both tensors use the same storage?"""
    @overload
    def abs(self, name: str | None = ...) -> Tensor:
        """Absolute value of each element; the modulus of complex numbers."""
    @overload
    def abs(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def abs_(self, name: Any = ...) -> Tensor:
        """In-place form of `abs`: writes the result into the first argument and returns it."""
    @overload
    def acos(self, name: str | None = ...) -> Tensor:
        """Inverse cosine of each element, in radians; NaN outside [-1, 1]."""
    @overload
    def acos(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def acos_(self, name: Any = ...) -> Tensor:
        """In-place form of `acos`: writes the result into the first argument and returns it."""
    @overload
    def acosh(self, name: str | None = ...) -> Tensor:
        """Inverse hyperbolic cosine of each element; NaN below 1."""
    @overload
    def acosh(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def acosh_(self, name: Any = ...) -> Tensor:
        """In-place form of `acosh`: writes the result into the first argument and returns it."""
    @overload
    def add(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Sum of two tensors, element by element."""
    @overload
    def add(self, other: Tensor, name: str | None = ..., *, out: Any = ..., alpha: Any = ...) -> Tensor: ...
    @overload
    def add_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `add`: writes the result into the first argument and returns it."""
    @overload
    def add_(self, other: Any, name: Any = ..., *, alpha: Any = ...) -> Tensor: ...
    def add_n(self, name: str | None = ...) -> Tensor:
        """Sum of several tensors of one shape and dtype."""
    @overload
    def addmm(self, x: Tensor, y: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ...) -> Tensor:
        """`beta * input + alpha * (x @ y)`."""
    @overload
    def addmm(self, input: Tensor, other: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def addmm_(self, x: Tensor, y: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ...) -> Tensor:
        """`addmm` that writes into `input`."""
    @overload
    def addmm_(self, input: Tensor, other: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def all(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Whether all elements along `axis` are True (not 0)."""
    @overload
    def all(self, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
    @overload
    def allclose(self, y: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Whether all elements are close. Arguments are those of `isclose`."""
    @overload
    def allclose(self, other: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def amax(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Largest element along `axis`. Tied maxima share the gradient; else as `max`."""
    @overload
    def amax(self, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
    @overload
    def amin(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Smallest element along `axis`. Tied minima share the gradient; else as `min`."""
    @overload
    def amin(self, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
    def angle(self, name: str | None = ...) -> Tensor:
        """Angle of each element in the complex plane, in radians: pi for negative real numbers."""
    @overload
    def any(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Whether an element along `axis` is True (not 0). Arguments are those of `all`."""
    @overload
    def any(self, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
    def apply(self, func: Callable[[Tensor], Tensor]) -> Tensor:
        """`func(x)`: the function is given the whole tensor."""
    def apply_(self, func: Callable[[Tensor], Tensor]) -> Tensor:
        """Overwrite the tensor with `func` of it; returns the tensor."""
    @overload
    def argmax(self, axis: Any = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
        """Position of the largest element along `axis`, the first where several are as large."""
    @overload
    def argmax(self, dim: Any = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ...) -> Tensor: ...
    @overload
    def argmin(self, axis: Any = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
        """Position of the smallest element along `axis`. Arguments are those of `argmax`."""
    @overload
    def argmin(self, dim: Any = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ...) -> Tensor: ...
    @overload
    def argsort(self, axis: builtins.int = ..., descending: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The positions (int64) that put `x` in order along an axis; arguments as for `sort`."""
    @overload
    def argsort(self, dim: builtins.int = ..., descending: builtins.bool = ..., name: str | None = ..., *, axis: builtins.int = ..., stable: Any = ...) -> Tensor: ...
    @overload
    def argwhere(self, as_tuple: builtins.bool = ...) -> Any:
        """Where `x` is not zero (or false)."""
    @overload
    def argwhere(self, as_tuple: builtins.bool = ..., *, out: Any = ...) -> Any: ...
    def as_complex(self, name: str | None = ...) -> Tensor:
        """Pairs of real numbers as complex ones."""
    def as_real(self, name: str | None = ...) -> Tensor:
        """Complex numbers as pairs of real ones, in a new last axis of size 2; a view."""
    @overload
    def as_strided(self, shape: Sequence[builtins.int], stride: Sequence[builtins.int], offset: builtins.int = ..., name: str | None = ...) -> Tensor:
        """A view of the memory of `x` with any shape, strides and offset."""
    @overload
    def as_strided(self, size: Sequence[builtins.int], stride: Sequence[builtins.int], offset: builtins.int = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def asin(self, name: str | None = ...) -> Tensor:
        """Inverse sine of each element, in radians; NaN outside [-1, 1]."""
    @overload
    def asin(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def asin_(self, name: Any = ...) -> Tensor:
        """In-place form of `asin`: writes the result into the first argument and returns it."""
    @overload
    def asinh(self, name: str | None = ...) -> Tensor:
        """Inverse hyperbolic sine of each element."""
    @overload
    def asinh(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def asinh_(self, name: Any = ...) -> Tensor:
        """In-place form of `asinh`: writes the result into the first argument and returns it."""
    def astype(self, dtype: Any) -> Tensor:
        """The tensor in another dtype, as `cast`."""
    @overload
    def atan(self, name: str | None = ...) -> Tensor:
        """Inverse tangent of each element, in radians."""
    @overload
    def atan(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def atan2(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Angle of the point (y, x), in radians in (-pi, pi]: the inverse tangent of x / y."""
    @overload
    def atan2(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def atan_(self, name: Any = ...) -> Tensor:
        """In-place form of `atan`: writes the result into the first argument and returns it."""
    @overload
    def atanh(self, name: str | None = ...) -> Tensor:
        """Inverse hyperbolic tangent of each element; infinite at -1 and 1."""
    @overload
    def atanh(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def atanh_(self, name: Any = ...) -> Tensor:
        """In-place form of `atanh`: writes the result into the first argument and returns it."""
    def atleast_1d(*inputs: Tensor, name: str | None = ...) -> Any:
        """Each input with at least one axis; a list when there are several."""
    def atleast_2d(*inputs: Tensor, name: str | None = ...) -> Any:
        """Each input with at least two axes, the new ones first; a list when there are several."""
    def atleast_3d(*inputs: Tensor, name: str | None = ...) -> Any:
        """Each input with at least three axes: `[n]` becomes `[1, n, 1]`, `[m, n]` becomes `[m, n, 1]`."""
    def backward(self, grad_tensor: Tensor | None = ..., retain_graph: builtins.bool = ...) -> None:
        """Accumulate the gradients of this tensor into the `.grad` of the leaves that it depends on."""
    @overload
    def baddbmm(self, x: Tensor, y: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ...) -> Tensor:
        """`beta * input + alpha * x @ y` for batches of matrices."""
    @overload
    def baddbmm(self, input: Tensor, other: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def baddbmm_(self, x: Any, y: Any, beta: Any = ..., alpha: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `baddbmm`: writes the result into the first argument and returns it."""
    def bernoulli_(self, p: Any = ..., name: str | None = ...) -> Tensor:
        """Fill `x` with ones, of a probability, and zeros; returns `x`."""
    def bfloat16(self) -> Tensor:
        """The tensor in bfloat16 (differentiable)."""
    def bincount(self, weights: Tensor | None = ..., minlength: builtins.int = ..., name: str | None = ...) -> Tensor:
        """How often each number from 0 on occurs."""
    @overload
    def bitwise_and(self, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """Bits that are set in both elements."""
    @overload
    def bitwise_and(self, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def bitwise_and_(self, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_and`: writes the result into the first argument and returns it."""
    @overload
    def bitwise_and_(self, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
    def bitwise_invert(self, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """Bits that are not set; for builtins.bool, the other truth value."""
    def bitwise_invert_(self, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_not`: writes the result into the first argument and returns it."""
    @overload
    def bitwise_left_shift(self, y: Tensor, is_arithmetic: builtins.bool = ..., out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """The bits of `x` moved to the left by `y` places, element by element; zeros come in."""
    @overload
    def bitwise_left_shift(self, other: Tensor, is_arithmetic: builtins.bool = ..., out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
    def bitwise_left_shift_(self, y: Any, is_arithmetic: Any = ..., out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_left_shift`: writes the result into the first argument and returns it."""
    def bitwise_not(self, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """Bits that are not set; for builtins.bool, the other truth value."""
    def bitwise_not_(self, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_not`: writes the result into the first argument and returns it."""
    @overload
    def bitwise_or(self, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """Bits that are set in one element or both. Arguments are those of `bitwise_and`."""
    @overload
    def bitwise_or(self, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def bitwise_or_(self, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_or`: writes the result into the first argument and returns it."""
    @overload
    def bitwise_or_(self, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
    @overload
    def bitwise_right_shift(self, y: Tensor, is_arithmetic: builtins.bool = ..., out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """The bits of `x` moved to the right by `y` places, element by element."""
    @overload
    def bitwise_right_shift(self, other: Tensor, is_arithmetic: builtins.bool = ..., out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
    def bitwise_right_shift_(self, y: Any, is_arithmetic: Any = ..., out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_right_shift`: writes the result into the first argument and returns it."""
    @overload
    def bitwise_xor(self, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """Bits that are set in exactly one element. Arguments are those of `bitwise_and`."""
    @overload
    def bitwise_xor(self, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def bitwise_xor_(self, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_xor`: writes the result into the first argument and returns it."""
    @overload
    def bitwise_xor_(self, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
    @property
    def block(self) -> Any: ...
    def block_diag(self, name: str | None = ...) -> Tensor:
        """A matrix with the inputs along its diagonal and zeros elsewhere."""
    @overload
    def bmm(self, y: Tensor, name: str | None = ...) -> Tensor:
        """The products of equally many matrices."""
    @overload
    def bmm(self, mat2: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def bool(self) -> Tensor:
        """The tensor in builtins.bool (differentiable)."""
    @staticmethod
    def broadcast_shape(x_shape: Any, y_shape: Any) -> list[builtins.int]:
        """The shape of the result of an element-wise operation on two shapes; as `paddle.broadcast_shape`."""
    def broadcast_shapes(*shapes: Sequence[builtins.int]) -> list[builtins.int]:
        """The shape of the result of element-wise functions of tensors of these shapes."""
    def broadcast_tensors(self, name: str | None = ...) -> list[Tensor]:
        """Several tensors expanded to the shape that they broadcast to."""
    @overload
    def broadcast_to(self, shape: Any, name: str | None = ...) -> Tensor:
        """`expand` under NumPy's name."""
    @overload
    def broadcast_to(self, size: Any, name: str | None = ...) -> Tensor: ...
    @overload
    def broadcast_to(self, *shape: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def bucketize(self, sorted_sequence: Tensor, out_int32: builtins.bool = ..., right: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """`searchsorted` of `x` in one sequence, with the arguments in the other order."""
    @overload
    def bucketize(self, boundaries: Tensor, out_int32: builtins.bool = ..., right: builtins.bool = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def byte(self) -> Tensor:
        """The tensor in uint8 (differentiable)."""
    def cast(self, dtype: Any) -> Tensor:
        """`x` in another dtype."""
    def cast_(self, dtype: Any) -> Tensor:
        """`cast` in place: `x` itself gets the dtype."""
    @overload
    def cat(self, axis: Any = ..., name: str | None = ...) -> Tensor:
        """Concatenation: several tensors one after the other along an axis."""
    @overload
    def cat(self, dim: Any = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ...) -> Tensor: ...
    def cauchy_(self, loc: Any = ..., scale: Any = ..., name: str | None = ...) -> Tensor:
        """Fill `x` with Cauchy distributed random numbers around `loc`; returns `x`."""
    @overload
    def cdist(self, y: Tensor, p: builtins.float = ..., compute_mode: str = ..., name: str | None = ...) -> Tensor:
        """The `p`-norm distance of each row of `x` to each row of `y`."""
    @overload
    def cdist(self, other: Tensor, p: builtins.float = ..., compute_mode: str = ..., name: str | None = ...) -> Tensor: ...
    def cdouble(self) -> Tensor:
        """The tensor in complex128 (differentiable)."""
    @overload
    def ceil(self, name: str | None = ...) -> Tensor:
        """Ceiling: the smallest integer not below each element."""
    @overload
    def ceil(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def ceil_(self, name: Any = ...) -> Tensor:
        """In-place form of `ceil`: writes the result into the first argument and returns it."""
    def cfloat(self) -> Tensor:
        """The tensor in complex64 (differentiable)."""
    def char(self) -> Tensor:
        """The tensor in int8 (differentiable)."""
    @overload
    def cholesky(self, upper: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The Cholesky factor of Hermitian positive definite matrices."""
    @overload
    def cholesky(self, upper: builtins.bool = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def cholesky_inverse(self, upper: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The inverse of a positive definite matrix, of which `x` is the Cholesky factor."""
    @overload
    def cholesky_solve(self, y: Tensor, upper: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The solution of `A z = x`, where `y` is the Cholesky factor of A."""
    @overload
    def cholesky_solve(self, other: Tensor, upper: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def chunk(self, chunks: builtins.int, axis: Any = ..., name: str | None = ...) -> list[Tensor]:
        """`x` cut into equal parts along an axis; the size must divide."""
    @overload
    def chunk(self, chunks: builtins.int, dim: Any = ..., name: str | None = ..., *, axis: Any = ...) -> list[Tensor]: ...
    @overload
    def clamp(self, min: Any = ..., max: Any = ..., name: str | None = ...) -> Tensor:
        """Each element limited to [min, max]; NaN stays NaN."""
    @overload
    def clamp(self, from_: Any = ..., to: Any = ..., name: str | None = ..., *, min: Any = ..., max: Any = ..., out: Any = ...) -> Tensor: ...
    @overload
    def clamp_(self, min: Any = ..., max: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `clip`: writes the result into the first argument and returns it."""
    @overload
    def clamp_(self, from_: Any = ..., to: Any = ..., name: Any = ..., *, min: Any = ..., max: Any = ...) -> Tensor: ...
    def clear_grad(self, set_to_zero: builtins.bool = ...) -> None:
        """As `clear_gradient`: fill the gradient with zeros, or make it None. Where there is none, nothing happens."""
    def clear_gradient(self, set_to_zero: builtins.bool = ...) -> None:
        """Clear the gradient: fill it with zeros, or make it None. Where there is none, nothing happens."""
    @overload
    def clip(self, min: Any = ..., max: Any = ..., name: str | None = ...) -> Tensor:
        """Each element limited to [min, max]; NaN stays NaN."""
    @overload
    def clip(self, from_: Any = ..., to: Any = ..., name: str | None = ..., *, min: Any = ..., max: Any = ..., out: Any = ...) -> Tensor: ...
    @overload
    def clip_(self, min: Any = ..., max: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `clip`: writes the result into the first argument and returns it."""
    @overload
    def clip_(self, from_: Any = ..., to: Any = ..., name: Any = ..., *, min: Any = ..., max: Any = ...) -> Tensor: ...
    def clone(self) -> Tensor:
        """A copy that gradients pass through."""
    def coalesce(self) -> Any:
        """Refused: places that repeat are those of a tensor in COO form."""
    def cols(self) -> Any:
        """Refused: columns are those of a tensor in CSR form."""
    def column_stack(self, name: str | None = ...) -> Tensor:
        """Tensors side by side, where a vector is one column."""
    def combinations(self, r: builtins.int = ..., with_replacement: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """All combinations of `r` elements of a vector, in the order of the elements."""
    def complex128(self) -> Tensor:
        """The tensor in complex128 (differentiable)."""
    def complex64(self) -> Tensor:
        """The tensor in complex64 (differentiable)."""
    @overload
    def concat(self, axis: Any = ..., name: str | None = ...) -> Tensor:
        """Concatenation: several tensors one after the other along an axis."""
    @overload
    def concat(self, dim: Any = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ...) -> Tensor: ...
    @overload
    def concatenate(self, axis: Any = ..., name: str | None = ...) -> Tensor:
        """Concatenation: several tensors one after the other along an axis."""
    @overload
    def concatenate(self, dim: Any = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ...) -> Tensor: ...
    def cond(self, p: builtins.float | str | None = ..., name: str | None = ...) -> Tensor:
        """The condition number: the norm of a matrix times that of its inverse."""
    def conj(self, name: str | None = ...) -> Tensor:
        """Complex conjugate of each element; real numbers are their own."""
    def contiguous(self) -> Any:
        """The tensor itself when it is contiguous, else a contiguous copy (differentiable)."""
    def copy_(self, other: Tensor, blocking: builtins.bool = ...) -> Tensor:
        """Overwrite the values with those of `other`, as `set_value`."""
    @overload
    def copysign(self, y: Any, name: str | None = ...) -> Tensor:
        """The magnitude of `x` with the sign of `y`, element by element."""
    @overload
    def copysign(self, other: Any, name: str | None = ...) -> Tensor: ...
    def copysign_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `copysign`: writes the result into the first argument and returns it."""
    def corrcoef(self, rowvar: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The correlation matrix (Pearson's) of variables, each of which is a row of observations."""
    @overload
    def cos(self, name: str | None = ...) -> Tensor:
        """Cosine of each element, given in radians."""
    @overload
    def cos(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def cos_(self, name: Any = ...) -> Tensor:
        """In-place form of `cos`: writes the result into the first argument and returns it."""
    @overload
    def cosh(self, name: str | None = ...) -> Tensor:
        """Hyperbolic cosine of each element."""
    @overload
    def cosh(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def cosh_(self, name: Any = ...) -> Tensor:
        """In-place form of `cosh`: writes the result into the first argument and returns it."""
    @overload
    def count_nonzero(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """How many elements along `axis` are not 0."""
    @overload
    def count_nonzero(self, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
    def cov(self, rowvar: builtins.bool = ..., ddof: builtins.bool = ..., fweights: Tensor | None = ..., aweights: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """The covariance matrix of variables, each of which is a row of observations."""
    def cpu(self) -> Tensor:
        """The tensor on the CPU: itself when it is there, else a copy (differentiable)."""
    @staticmethod
    def create_parameter(shape: Any, dtype: Any, name: str | None = ..., attr: Any = ..., is_bias: builtins.bool = ..., default_initializer: Any = ...) -> Any:
        """`paddle.create_parameter`, which Paddle has on Tensor, though it takes none."""
    @staticmethod
    def create_tensor(dtype: Any, name: str | None = ..., persistable: builtins.bool = ...) -> Tensor:
        """A 0-d tensor whose value is set later; in static mode a variable of the program."""
    @overload
    def crop(self, shape: Any = ..., offsets: Any = ..., name: str | None = ...) -> Tensor:
        """A block cut out of `x`."""
    @overload
    def crop(self, size: Any = ..., offsets: Any = ..., name: str | None = ..., *, shape: Any = ...) -> Tensor: ...
    @overload
    def cross(self, y: Tensor, axis: builtins.int = ..., name: str | None = ...) -> Tensor:
        """The cross product of vectors of three numbers along an axis."""
    @overload
    def cross(self, other: Tensor, dim: builtins.int = ..., name: str | None = ..., *, axis: builtins.int = ..., out: Any = ...) -> Tensor: ...
    def crows(self) -> Any:
        """Refused: beginnings of rows are those of a tensor in CSR form."""
    def cuda(self, device_id: builtins.int | None = ..., blocking: builtins.bool = ...) -> Tensor:
        """The tensor on a GPU (differentiable)."""
    @overload
    def cummax(self, axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
        """Running maxima along `axis`, and the positions where they were found."""
    @overload
    def cummax(self, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> tuple[Tensor, Tensor]: ...
    @overload
    def cummin(self, axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
        """Running minima along `axis`, and their positions. Arguments are those of `cummax`."""
    @overload
    def cummin(self, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> tuple[Tensor, Tensor]: ...
    @overload
    def cumprod(self, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
        """Running products along `dim`."""
    @overload
    def cumprod(self, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def cumprod_(self, dim: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `cumprod`: writes the result into the first argument and returns it."""
    @overload
    def cumsum(self, axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
        """Running sums along `axis`."""
    @overload
    def cumsum(self, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ..., out: Any = ...) -> Tensor: ...
    @overload
    def cumsum_(self, axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
        """In-place form of `cumsum`: writes the result into `x` and returns it."""
    @overload
    def cumsum_(self, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> Tensor: ...
    @overload
    def cumulative_trapezoid(self, x: Tensor | None = ..., dx: Any = ..., axis: builtins.int = ..., name: str | None = ...) -> Tensor:
        """The running integral of samples along an axis by the trapezoidal rule."""
    @overload
    def cumulative_trapezoid(self, input: Tensor | None = ..., dx: Any = ..., dim: builtins.int = ..., name: str | None = ..., *, x: Tensor | None = ..., axis: builtins.int = ...) -> Tensor: ...
    @property
    def data(self) -> Tensor: ...
    @data.setter
    def data(self, value: Any) -> None: ...
    def data_ptr(self) -> Any:
        """Address of the first element."""
    def deg2rad(self, name: str | None = ...) -> Tensor:
        """Degrees to radians."""
    def dense_dim(self) -> Any:
        """Refused: axes of stored values are those of a sparse tensor."""
    def detach(self) -> Tensor:
        """A tensor on the same memory without gradient history: stop_gradient is True."""
    def detach_(self) -> Tensor:
        """Cut the tensor off from what made it: stop_gradient becomes True."""
    @property
    def device(self) -> str: ...
    @overload
    def diag(self, offset: builtins.int = ..., padding_value: Any = ..., name: str | None = ...) -> Tensor:
        """A matrix with a vector on its diagonal, or the diagonal of a matrix."""
    @overload
    def diag(self, offset: builtins.int = ..., padding_value: Any = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def diag_embed(self, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ...) -> Tensor:
        """Matrices with the last axis of `input` on their diagonals."""
    def diagflat(self, offset: builtins.int = ..., name: str | None = ...) -> Tensor:
        """A matrix with all elements of `x`, row by row, on its diagonal."""
    @overload
    def diagonal(self, offset: builtins.int = ..., axis1: builtins.int = ..., axis2: builtins.int = ..., name: str | None = ...) -> Tensor:
        """The diagonal of each matrix that two axes of `x` form."""
    @overload
    def diagonal(self, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ..., *, axis1: builtins.int = ..., axis2: builtins.int = ...) -> Tensor: ...
    @overload
    def diagonal_scatter(self, y: Tensor, offset: builtins.int = ..., axis1: builtins.int = ..., axis2: builtins.int = ..., name: str | None = ...) -> Tensor:
        """`x` with `y` on a diagonal; arguments as for `diagonal`, whose shape `y` has."""
    @overload
    def diagonal_scatter(self, other: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ..., *, axis1: builtins.int = ..., axis2: builtins.int = ...) -> Tensor: ...
    @overload
    def diff(self, n: builtins.int = ..., axis: builtins.int = ..., prepend: Tensor | None = ..., append: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """Differences of neighbours along an axis."""
    @overload
    def diff(self, n: builtins.int = ..., dim: builtins.int = ..., prepend: Tensor | None = ..., append: Tensor | None = ..., name: str | None = ..., *, axis: builtins.int = ..., out: Any = ...) -> Tensor: ...
    def digamma(self, name: str | None = ...) -> Tensor:
        """Derivative of the logarithm of the gamma function; NaN at 0, -1, -2, ..."""
    def digamma_(self, name: Any = ...) -> Tensor:
        """In-place form of `digamma`: writes the result into the first argument and returns it."""
    def dim(self) -> builtins.int:
        """The number of axes."""
    @overload
    def dist(self, y: Tensor, p: builtins.float = ..., name: str | None = ...) -> Tensor:
        """The `p`-norm of `x - y`, over all elements."""
    @overload
    def dist(self, other: Tensor, p: builtins.float = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def div(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Quotient of two tensors, element by element."""
    @overload
    def div(self, other: Tensor, name: str | None = ..., *, out: Any = ..., rounding_mode: Any = ...) -> Tensor: ...
    @overload
    def div_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `divide`: writes the result into the first argument and returns it."""
    @overload
    def div_(self, other: Any, name: Any = ..., *, rounding_mode: Any = ...) -> Tensor: ...
    @overload
    def divide(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Quotient of two tensors, element by element."""
    @overload
    def divide(self, other: Tensor, name: str | None = ..., *, out: Any = ..., rounding_mode: Any = ...) -> Tensor: ...
    @overload
    def divide_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `divide`: writes the result into the first argument and returns it."""
    @overload
    def divide_(self, other: Any, name: Any = ..., *, rounding_mode: Any = ...) -> Tensor: ...
    @overload
    def dot(self, y: Tensor, name: str | None = ...) -> Tensor:
        """The inner product of two vectors, or of each row of two matrices."""
    @overload
    def dot(self, tensor: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def double(self) -> Tensor:
        """The tensor in float64 (differentiable)."""
    @overload
    def dsplit(self, num_or_indices: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]:
        """Parts of `x` along axis 2; as `tensor_split`."""
    @overload
    def dsplit(self, indices_or_sections: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]: ...
    def dstack(self, name: str | None = ...) -> Tensor:
        """Tensors one after the other: along axis 2; `[n]` counts as `[1, n, 1]` and `[m, n]` as `[m, n, 1]`."""
    @property
    def dtype(self) -> DType: ...
    def eig(self, name: str | None = ...) -> tuple[Tensor, Tensor]:
        """Eigenvalues and eigenvectors of square matrices."""
    def eigvals(self, name: str | None = ...) -> Tensor:
        """Eigenvalues of square matrices, complex and in no particular order."""
    def eigvalsh(self, UPLO: str = ..., name: str | None = ...) -> Tensor:
        """Eigenvalues of symmetric or Hermitian matrices, ascending and real."""
    def element_size(self) -> builtins.int:
        """The bytes of one element."""
    @overload
    def eq(self, y: Any, name: str | None = ...) -> Tensor:
        """Equality of two tensors, element by element."""
    @overload
    def eq(self, other: Any, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def equal(self, y: Any, name: str | None = ...) -> Tensor:
        """Equality of two tensors, element by element."""
    @overload
    def equal(self, other: Any, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def equal_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `equal`: writes the result into the first argument and returns it."""
    @overload
    def equal_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def equal_all(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Whether two tensors have one shape and equal elements."""
    @overload
    def equal_all(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def erf(self, name: str | None = ...) -> Tensor:
        """Error function of each element."""
    @overload
    def erf(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def erf_(self, name: Any = ...) -> Tensor:
        """In-place form of `erf`: writes the result into the first argument and returns it."""
    @overload
    def erfinv(self, name: str | None = ...) -> Tensor:
        """Inverse of the error function; infinite at -1 and 1."""
    @overload
    def erfinv(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def erfinv_(self, name: Any = ...) -> Tensor:
        """In-place form of `erfinv`: writes the result into the first argument and returns it."""
    @overload
    def exp(self, name: str | None = ...) -> Tensor:
        """Exponential: e to the power of each element."""
    @overload
    def exp(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def exp_(self, name: Any = ...) -> Tensor:
        """In-place form of `exp`: writes the result into the first argument and returns it."""
    @overload
    def expand(self, shape: Any, name: str | None = ...) -> Tensor:
        """`x` repeated along axes of size 1, and along new leading axes, up to `shape`."""
    @overload
    def expand(self, size: Any, name: str | None = ...) -> Tensor: ...
    @overload
    def expand(self, *shape: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def expand_as(self, y: Tensor, name: str | None = ...) -> Tensor:
        """`expand` to the shape of `y`."""
    @overload
    def expand_as(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def expm1(self, name: str | None = ...) -> Tensor:
        """e to the power of each element, minus 1, precise near 0."""
    @overload
    def expm1(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def expm1_(self, name: Any = ...) -> Tensor:
        """In-place form of `expm1`: writes the result into the first argument and returns it."""
    @overload
    def exponential_(self, lam: Any = ..., name: str | None = ...) -> Tensor:
        """Fill `x` with exponentially distributed random numbers of rate `lam` (mean 1 / lam); returns `x`."""
    @overload
    def exponential_(self, lambd: Any = ..., name: str | None = ..., *, lam: Any = ...) -> Tensor: ...
    def fill_(self, value: Any) -> Tensor:
        """Fill `x` with one number, in place."""
    def fill_diagonal_(self, value: Any, offset: builtins.int = ..., wrap: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """`x` with one value on its diagonal, in place."""
    @overload
    def fill_diagonal_tensor(self, y: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ...) -> Tensor:
        """`diagonal_scatter` under the name of the Tensor method."""
    @overload
    def fill_diagonal_tensor(self, other: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def fill_diagonal_tensor_(self, y: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ...) -> Tensor:
        """`fill_diagonal_tensor` in place."""
    @overload
    def fill_diagonal_tensor_(self, other: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def flatten(self, start_axis: builtins.int = ..., stop_axis: builtins.int = ..., name: str | None = ...) -> Tensor:
        """`x` with the axes from `start_axis` to `stop_axis` (included) merged into one."""
    @overload
    def flatten(self, start_dim: builtins.int = ..., end_dim: builtins.int = ..., name: str | None = ..., *, start_axis: builtins.int = ..., stop_axis: builtins.int = ...) -> Tensor: ...
    @overload
    def flatten_(self, start_axis: builtins.int = ..., stop_axis: builtins.int = ..., name: str | None = ...) -> Tensor:
        """`flatten` in place: `x` itself gets the new shape."""
    @overload
    def flatten_(self, start_dim: builtins.int = ..., end_dim: builtins.int = ..., name: str | None = ..., *, start_axis: builtins.int = ..., stop_axis: builtins.int = ...) -> Tensor: ...
    @overload
    def flip(self, axis: Any, name: str | None = ...) -> Tensor:
        """`x` with its elements in reverse order along `axis`."""
    @overload
    def flip(self, dim: Any, name: str | None = ...) -> Tensor: ...
    @overload
    def flip(self, *axis: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
    def float(self) -> Tensor:
        """The tensor in float32 (differentiable)."""
    def float16(self) -> Tensor:
        """The tensor in float16 (differentiable)."""
    def float32(self) -> Tensor:
        """The tensor in float32 (differentiable)."""
    def float64(self) -> Tensor:
        """The tensor in float64 (differentiable)."""
    @overload
    def floor(self, name: str | None = ...) -> Tensor:
        """Floor: the largest integer not above each element."""
    @overload
    def floor(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def floor_(self, name: Any = ...) -> Tensor:
        """In-place form of `floor`: writes the result into the first argument and returns it."""
    @overload
    def floor_divide(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Quotient of two tensors rounded down, element by element."""
    @overload
    def floor_divide(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def floor_divide_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `floor_divide`: writes the result into the first argument and returns it."""
    @overload
    def floor_divide_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def floor_mod(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Remainder: what `floor_divide` leaves, with the sign of `y`. Arguments are those of `floor_divide`."""
    @overload
    def floor_mod(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def floor_mod_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `remainder`: writes the result into the first argument and returns it."""
    @overload
    def floor_mod_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def fmax(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Element-wise maximum of two tensors; where one element is NaN, the other. Else as `maximum`."""
    @overload
    def fmax(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def fmin(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Element-wise minimum of two tensors; where one element is NaN, the other. Else as `minimum`."""
    @overload
    def fmin(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def frac(self, name: str | None = ...) -> Tensor:
        """Fraction of each element, with its sign: `x - trunc(x)`."""
    @overload
    def frac(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def frac_(self, name: Any = ...) -> Tensor:
        """In-place form of `frac`: writes the result into the first argument and returns it."""
    def frexp(self, name: str | None = ...) -> tuple[Tensor, Tensor]:
        """Mantissas and exponents: `x == mantissa * 2 ** exponent` with mantissas in [0.5, 1)."""
    @overload
    def gammainc(self, y: Tensor, name: str | None = ...) -> Tensor:
        """The lower regularized incomplete gamma function P(x, y): the share of the gamma distribution of shape `x` below `y`."""
    @overload
    def gammainc(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    def gammainc_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `gammainc`: writes the result into the first argument and returns it."""
    @overload
    def gammaincc(self, y: Tensor, name: str | None = ...) -> Tensor:
        """The upper regularized incomplete gamma function Q(x, y): the share of the gamma distribution of shape `x` above `y`."""
    @overload
    def gammaincc(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    def gammaincc_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `gammaincc`: writes the result into the first argument and returns it."""
    @overload
    def gammaln(self, name: str | None = ...) -> Tensor:
        """Logarithm of the absolute value of the gamma function."""
    @overload
    def gammaln(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def gammaln_(self, name: Any = ...) -> Tensor:
        """In-place form of `lgamma`: writes the result into the first argument and returns it."""
    @overload
    def gather(self, index: Tensor, axis: Any = ..., name: str | None = ...) -> Tensor:
        """Slices of `x` at the positions `index` along an axis."""
    @overload
    def gather(self, index: Tensor, dims: Any = ..., name: str | None = ..., *, axis: Any = ..., dim: Any = ..., out: Any = ...) -> Tensor: ...
    @overload
    def gather(self, *index: Any, axis: Any = ..., dims: Any = ..., name: str | None = ..., dim: Any = ..., out: Any = ...) -> Tensor: ...
    def gather_nd(self, index: Tensor, name: str | None = ...) -> Tensor:
        """Elements (or slices) of `x` at positions given by several coordinates."""
    @overload
    def gcd(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Greatest common divisor of two elements, never negative; that of 0 and 0 is 0."""
    @overload
    def gcd(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def gcd_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `gcd`: writes the result into the first argument and returns it."""
    @overload
    def gcd_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def ge(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Greater or equal: where an element of `x` is at least that of `y`. Arguments are those of"""
    @overload
    def ge(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def geometric_(self, probs: Any, name: str | None = ...) -> Tensor:
        """Fill `x` with numbers of trials up to the first success of probability `probs`; returns `x`."""
    @overload
    def ger(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Outer product: all products of an element of `x` and one of `y`, both flattened: `[m]` and `[n]` give `[m, n]`."""
    @overload
    def ger(self, vec2: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def get_device(self) -> builtins.int:
        """The number of the GPU that holds the tensor; -1 for the CPU."""
    def get_strides(self) -> list[builtins.int]:
        """The distance between neighbours along each axis, in elements."""
    def get_tensor(self) -> Tensor:
        """The tensor itself, in Paddle the holder of its memory."""
    @property
    def grad(self) -> Tensor | None: ...
    @grad.setter
    def grad(self, value: Any) -> None: ...
    @property
    def grad_(self) -> Tensor | None: ...
    def grad_buffer(self) -> Tensor | None:
        """The tensor that `set_grad_buffer` has set, or None."""
    @property
    def grad_fn(self) -> Any: ...
    def gradient(self) -> Any:
        """The gradient as a NumPy array, or None."""
    @overload
    def greater(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Where an element of `x` is greater than that of `y`. Arguments are those of `less_than`."""
    @overload
    def greater(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def greater_equal(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Greater or equal: where an element of `x` is at least that of `y`. Arguments are those of"""
    @overload
    def greater_equal(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def greater_equal_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `greater_equal`: writes the result into the first argument and returns it."""
    @overload
    def greater_equal_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def greater_than(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Where an element of `x` is greater than that of `y`. Arguments are those of `less_than`."""
    @overload
    def greater_than(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def greater_than_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `greater_than`: writes the result into the first argument and returns it."""
    @overload
    def greater_than_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def gt(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Where an element of `x` is greater than that of `y`. Arguments are those of `less_than`."""
    @overload
    def gt(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def half(self) -> Tensor:
        """The tensor in float16 (differentiable)."""
    @overload
    def heaviside(self, y: Tensor, name: str | None = ...) -> Tensor:
        """The step function: 0 where `x` is negative, 1 where it is positive, `y` where it is 0."""
    @overload
    def heaviside(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def histogram(self, bins: builtins.int = ..., min: builtins.float = ..., max: builtins.float = ..., name: str | None = ...) -> Tensor:
        """Histogram: how many elements fall into each of `bins` equal parts of a range."""
    @overload
    def histogram(self, bins: builtins.int = ..., from_: builtins.float = ..., to: builtins.float = ..., name: str | None = ..., *, min: builtins.float = ..., max: builtins.float = ..., density: Any = ..., weight: Any = ...) -> Tensor: ...
    @overload
    def histogram_bin_edges(self, bins: builtins.int = ..., min: builtins.float = ..., max: builtins.float = ..., name: str | None = ...) -> Tensor:
        """The bounds of the bins that `histogram` counts in."""
    @overload
    def histogram_bin_edges(self, bins: builtins.int = ..., from_: builtins.float = ..., to: builtins.float = ..., name: str | None = ..., *, min: builtins.float = ..., max: builtins.float = ...) -> Tensor: ...
    def histogramdd(self, bins: Any = ..., ranges: Any = ..., density: builtins.bool = ..., weights: Tensor | None = ..., name: str | None = ...) -> tuple[Tensor, list[Tensor]]:
        """How many points lie in each cell of a grid."""
    @property
    def hooks(self) -> Any: ...
    @hooks.setter
    def hooks(self, value: Any) -> None: ...
    def householder_product(self, tau: Tensor, name: str | None = ...) -> Tensor:
        """The first columns of a product of Householder reflections `I - tau_i v_i v_i^H`."""
    @overload
    def hsplit(self, num_or_indices: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]:
        """Parts of `x` along axis 1, or along the only axis of a vector; as `tensor_split`."""
    @overload
    def hsplit(self, indices_or_sections: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]: ...
    def hstack(self, name: str | None = ...) -> Tensor:
        """Tensors side by side: along axis 1, or along the only axis of vectors."""
    @overload
    def hypot(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Length of the hypotenuse: the root of `x * x + y * y`, without overflow on the way."""
    @overload
    def hypot(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def hypot_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `hypot`: writes the result into the first argument and returns it."""
    @overload
    def hypot_(self, other: Any, name: Any = ...) -> Tensor: ...
    def i0(self, name: str | None = ...) -> Tensor:
        """Modified Bessel function of the first kind of order 0, of each element."""
    def i0_(self, name: Any = ...) -> Tensor:
        """In-place form of `i0`: writes the result into the first argument and returns it."""
    def i0e(self, name: str | None = ...) -> Tensor:
        """`i0(x) * exp(-abs(x))`, which stays finite."""
    def i1(self, name: str | None = ...) -> Tensor:
        """Modified Bessel function of the first kind of order 1, of each element."""
    def i1e(self, name: str | None = ...) -> Tensor:
        """`i1(x) * exp(-abs(x))`, which stays finite."""
    def imag(self, name: str | None = ...) -> Tensor:
        """Imaginary part of each element; 0 for real numbers."""
    def increment(self, value: Any = ..., name: str | None = ...) -> Tensor:
        """Add `value` to a tensor of one element, in place; returns it."""
    @overload
    def index_add(self, index: Tensor, axis: builtins.int, value: Tensor, name: str | None = ...) -> Tensor:
        """`x` with slices of `value` added at the positions `index` along an axis; repeats add up."""
    @overload
    def index_add(self, index: Tensor, dim: builtins.int, value: Tensor, name: str | None = ..., *, out: Any = ..., alpha: Any = ..., source: Any = ...) -> Tensor: ...
    @overload
    def index_add(self, *index: Any, axis: builtins.int = ..., dim: builtins.int = ..., value: Tensor = ..., name: str | None = ..., out: Any = ..., alpha: Any = ..., source: Any = ...) -> Tensor: ...
    @overload
    def index_add_(self, index: Tensor, axis: builtins.int, value: Tensor, name: str | None = ...) -> Tensor:
        """`index_add` in place."""
    @overload
    def index_add_(self, index: Tensor, dim: builtins.int, value: Tensor, name: str | None = ..., *, alpha: Any = ..., source: Any = ...) -> Tensor: ...
    @overload
    def index_add_(self, *index: Any, axis: builtins.int = ..., dim: builtins.int = ..., value: Tensor = ..., name: str | None = ..., alpha: Any = ..., source: Any = ...) -> Tensor: ...
    @overload
    def index_fill(self, index: Tensor, axis: builtins.int, value: Any, name: str | None = ...) -> Tensor:
        """`x` with the slices at the positions `index` along an axis filled with one value."""
    @overload
    def index_fill(self, index: Tensor, dim: builtins.int, value: Any, name: str | None = ...) -> Tensor: ...
    @overload
    def index_fill_(self, index: Tensor, axis: builtins.int, value: Any, name: str | None = ...) -> Tensor:
        """`index_fill` in place."""
    @overload
    def index_fill_(self, index: Tensor, dim: builtins.int, value: Any, name: str | None = ...) -> Tensor: ...
    def index_put(self, indices: Sequence[Tensor], value: Tensor, accumulate: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """`x` with `value` written (or added) at positions given by one index tensor for each of the first axes."""
    def index_put_(self, indices: Sequence[Tensor], value: Tensor, accumulate: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """`index_put` in place."""
    def index_sample(self, index: Tensor) -> Tensor:
        """From each row of `x` the elements at the positions in the same row of `index`."""
    @overload
    def index_select(self, index: Tensor, axis: builtins.int = ..., name: str | None = ...) -> Tensor:
        """Slices of `x` at the positions `index` along an axis."""
    @overload
    def index_select(self, index: Tensor, dim: builtins.int = ..., name: str | None = ..., *, axis: builtins.int = ..., out: Any = ...) -> Tensor: ...
    @overload
    def index_select(self, *index: Any, axis: builtins.int = ..., dim: builtins.int = ..., name: str | None = ..., out: Any = ...) -> Tensor: ...
    def indices(self) -> Any:
        """Refused: places are those of a tensor in COO form."""
    @overload
    def inner(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Inner product: sums of products over the last axis of both."""
    @overload
    def inner(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    @property
    def inplace_version(self) -> builtins.int: ...
    def int(self) -> Tensor:
        """The tensor in int32 (differentiable)."""
    def int16(self) -> Tensor:
        """The tensor in int16 (differentiable)."""
    def int32(self) -> Tensor:
        """The tensor in int32 (differentiable)."""
    def int64(self) -> Tensor:
        """The tensor in int64 (differentiable)."""
    def int8(self) -> Tensor:
        """The tensor in int8 (differentiable)."""
    def inv(self, name: str | None = ...) -> Tensor:
        """The inverse of square matrices."""
    def inverse(self, name: str | None = ...) -> Tensor:
        """The inverse of square matrices."""
    def is_coalesced(self) -> Any:
        """Refused: places that repeat are those of a tensor in COO form."""
    def is_complex(self) -> builtins.bool:
        """Whether the dtype of `x` is complex64 or complex128."""
    def is_contiguous(self) -> Any:
        """Do the elements lie in memory in the order of their indices, without gaps?"""
    @property
    def is_cuda(self) -> builtins.bool: ...
    def is_dense(self) -> builtins.bool:
        """True: sparse tensors have a class of their own."""
    def is_dist(self) -> builtins.bool:
        """False: tensors live in one process."""
    def is_empty(self, name: str | None = ...) -> Tensor:
        """Whether `x` has no elements."""
    def is_floating_point(self) -> builtins.bool:
        """Whether the dtype of `x` is float16, bfloat16, float32 or float64."""
    def is_integer(self) -> builtins.bool:
        """Whether the dtype of `x` is an integer one; builtins.bool is not."""
    @property
    def is_leaf(self) -> builtins.bool: ...
    def is_same_shape(self, y: Tensor) -> builtins.bool:
        """Whether `y` has the same shape."""
    def is_selected_rows(self) -> builtins.bool:
        """False: sparse gradients have a class of their own."""
    def is_sparse(self) -> builtins.bool:
        """False: sparse tensors have a class of their own."""
    def is_sparse_coo(self) -> builtins.bool:
        """False: sparse tensors have a class of their own."""
    def is_sparse_csr(self) -> builtins.bool:
        """False: sparse tensors have a class of their own."""
    def is_tensor(self) -> builtins.bool:
        """Whether `x` is a Tensor."""
    @overload
    def isclose(self, y: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Where `|x - y| <= atol + rtol * |y|`."""
    @overload
    def isclose(self, other: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def isfinite(self, name: str | None = ...) -> Tensor:
        """Where an element is neither NaN nor infinite."""
    @overload
    def isfinite(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def isin(self, test_x: Tensor, assume_unique: builtins.bool = ..., invert: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Which elements of `x` are among those of `test_x`."""
    @overload
    def isin(self, test_elements: Tensor, assume_unique: builtins.bool = ..., invert: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
    def isinf(self, name: str | None = ...) -> Tensor:
        """Where an element is infinity or minus infinity."""
    def isnan(self, name: str | None = ...) -> Tensor:
        """Where an element is NaN."""
    def isneginf(self, name: str | None = ...) -> Tensor:
        """Which elements are minus infinity."""
    def isposinf(self, name: str | None = ...) -> Tensor:
        """Which elements are plus infinity."""
    def isreal(self, name: str | None = ...) -> Tensor:
        """Which elements have no imaginary part; all of a real dtype."""
    def istft(self, n_fft: builtins.int, hop_length: builtins.int | None = ..., win_length: builtins.int | None = ..., window: Tensor | None = ..., center: builtins.bool = ..., normalized: builtins.bool = ..., onesided: builtins.bool = ..., length: builtins.int | None = ..., return_complex: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The inverse short-time Fourier transform: the signal whose frames have these spectra, by least squares where frames disagree."""
    def item(self, *index: Any) -> Any:
        """One element as a Python number; without an index the tensor must have just one."""
    @property
    def itemsize(self) -> builtins.int: ...
    @overload
    def kron(self, y: Tensor, name: str | None = ...) -> Tensor:
        """The Kronecker product: a block `x[i, j] * y` for each element of `x`."""
    @overload
    def kron(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def kthvalue(self, k: builtins.int, axis: builtins.int | None = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
        """The `k`-th smallest value along an axis, and where it is."""
    @overload
    def kthvalue(self, k: builtins.int, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> tuple[Tensor, Tensor]: ...
    @property
    def layout(self) -> str: ...
    @overload
    def lcm(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Least common multiple of two elements, never negative; 0 where one is 0. Arguments are those of `gcd`."""
    @overload
    def lcm(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def lcm_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `lcm`: writes the result into the first argument and returns it."""
    @overload
    def lcm_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def ldexp(self, y: Tensor, name: str | None = ...) -> Tensor:
        """`x * 2 ** y`, element by element."""
    @overload
    def ldexp(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def ldexp_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `ldexp`: writes the result into the first argument and returns it."""
    @overload
    def ldexp_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def le(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Less or equal: where an element of `x` is at most that of `y`. Arguments are those of `less_than`."""
    @overload
    def le(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def lerp(self, y: Tensor, weight: Any, name: str | None = ...) -> Tensor:
        """Linear interpolation `x + weight * (y - x)`."""
    @overload
    def lerp(self, other: Tensor, weight: Any, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def lerp_(self, y: Any, weight: Any, name: Any = ...) -> Tensor:
        """In-place form of `lerp`: writes the result into the first argument and returns it."""
    @overload
    def lerp_(self, other: Any, weight: Any, name: Any = ...) -> Tensor: ...
    @overload
    def less(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Where an element of `x` is less than that of `y`."""
    @overload
    def less(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def less_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `less_than`: writes the result into the first argument and returns it."""
    @overload
    def less_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def less_equal(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Less or equal: where an element of `x` is at most that of `y`. Arguments are those of `less_than`."""
    @overload
    def less_equal(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def less_equal_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `less_equal`: writes the result into the first argument and returns it."""
    @overload
    def less_equal_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def less_than(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Where an element of `x` is less than that of `y`."""
    @overload
    def less_than(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def less_than_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `less_than`: writes the result into the first argument and returns it."""
    @overload
    def less_than_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def lgamma(self, name: str | None = ...) -> Tensor:
        """Logarithm of the absolute value of the gamma function."""
    @overload
    def lgamma(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def lgamma_(self, name: Any = ...) -> Tensor:
        """In-place form of `lgamma`: writes the result into the first argument and returns it."""
    @overload
    def log(self, name: str | None = ...) -> Tensor:
        """Natural logarithm of each element; -inf at 0, NaN below."""
    @overload
    def log(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def log10(self, name: str | None = ...) -> Tensor:
        """Logarithm to base 10 of each element; -inf at 0, NaN below."""
    @overload
    def log10(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def log10_(self, name: Any = ...) -> Tensor:
        """In-place form of `log10`: writes the result into the first argument and returns it."""
    @overload
    def log1p(self, name: str | None = ...) -> Tensor:
        """Natural logarithm of 1 plus each element, precise near 0."""
    @overload
    def log1p(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def log1p_(self, name: Any = ...) -> Tensor:
        """In-place form of `log1p`: writes the result into the first argument and returns it."""
    @overload
    def log2(self, name: str | None = ...) -> Tensor:
        """Logarithm to base 2 of each element; -inf at 0, NaN below."""
    @overload
    def log2(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def log2_(self, name: Any = ...) -> Tensor:
        """In-place form of `log2`: writes the result into the first argument and returns it."""
    def log_(self, name: Any = ...) -> Tensor:
        """In-place form of `log`: writes the result into the first argument and returns it."""
    def log_normal_(self, mean: builtins.float = ..., std: builtins.float = ..., name: str | None = ...) -> Tensor:
        """Fill `x` with random numbers whose logarithms are normally distributed; returns `x`."""
    @overload
    def logaddexp(self, y: Tensor, name: str | None = ...) -> Tensor:
        """log(exp(x) + exp(y)), without overflow on the way."""
    @overload
    def logaddexp(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def logcumsumexp(self, axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
        """Logarithms of running sums of exponentials along `axis`, safe from overflow."""
    @overload
    def logcumsumexp(self, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> Tensor: ...
    @overload
    def logical_and(self, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """Logical and: where both elements are True."""
    @overload
    def logical_and(self, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def logical_and_(self, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `logical_and`: writes the result into the first argument and returns it."""
    @overload
    def logical_and_(self, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
    def logical_not(self, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """Logical not: where an element is False (0)."""
    def logical_not_(self, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `logical_not`: writes the result into the first argument and returns it."""
    @overload
    def logical_or(self, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """Logical or: where one element or both are True. Arguments are those of `logical_and`."""
    @overload
    def logical_or(self, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def logical_or_(self, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `logical_or`: writes the result into the first argument and returns it."""
    @overload
    def logical_or_(self, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
    @overload
    def logical_xor(self, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
        """Logical exclusive or: where exactly one element is True. Arguments are those of `logical_and`."""
    @overload
    def logical_xor(self, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def logical_xor_(self, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `logical_xor`: writes the result into the first argument and returns it."""
    @overload
    def logical_xor_(self, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
    def logit(self, eps: builtins.float | None = ..., name: str | None = ...) -> Tensor:
        """Logits: log(x / (1 - x)) of each element: the inverse of `sigmoid`."""
    def logit_(self, eps: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `logit`: writes the result into the first argument and returns it."""
    @overload
    def logsumexp(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Logarithm of the sum of exponentials of `x` along `axis`, safe from overflow."""
    @overload
    def logsumexp(self, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
    def long(self) -> Tensor:
        """The tensor in int64 (differentiable)."""
    @overload
    def lstsq(self, y: Tensor, rcond: builtins.float | None = ..., driver: str | None = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Least squares: the `z` that minimizes the norm of `x z - y`; the shortest one where several do."""
    @overload
    def lstsq(self, other: Tensor, rcond: builtins.float | None = ..., driver: str | None = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
    @overload
    def lt(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Where an element of `x` is less than that of `y`."""
    @overload
    def lt(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def lu(self, pivot: builtins.bool = ..., get_infos: builtins.bool = ..., name: str | None = ...) -> Any:
        """The LU factorization with row exchanges, both factors in one matrix."""
    @overload
    def lu_unpack(self, y: Tensor, unpack_ludata: builtins.bool = ..., unpack_pivots: builtins.bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]:
        """The three matrices whose product was factorized by `lu`: `A = P L U`."""
    @overload
    def lu_unpack(self, other: Tensor, unpack_ludata: builtins.bool = ..., unpack_pivots: builtins.bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]: ...
    @property
    def mT(self) -> Tensor: ...
    def mark_written(self) -> Any:
        """Say that the memory was written from outside, by a collective or through its address, say."""
    def masked_fill(self, mask: Tensor, value: Any, name: str | None = ...) -> Tensor:
        """`x` with one value where `mask` is true."""
    def masked_fill_(self, mask: Tensor, value: Any, name: str | None = ...) -> Tensor:
        """`masked_fill` in place; `mask` broadcasts to the shape of `x`."""
    def masked_scatter(self, mask: Tensor, value: Tensor, name: str | None = ...) -> Tensor:
        """A copy of `x` in which the elements where `mask` is true are the first ones of `value`, in order."""
    def masked_scatter_(self, mask: Any, value: Any, name: Any = ...) -> Tensor:
        """In-place form of `masked_scatter`: writes the result into the first argument and returns it."""
    @overload
    def masked_select(self, mask: Tensor, name: str | None = ...) -> Tensor:
        """The elements of `x` where `mask` is true, in the order of rows."""
    @overload
    def masked_select(self, mask: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def matmul(self, y: Tensor, transpose_x: builtins.bool = ..., transpose_y: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The matrix product, over any number of matrices at once."""
    @overload
    def matmul(self, other: Tensor, transpose_x: builtins.bool = ..., transpose_y: builtins.bool = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def matrix_power(self, n: builtins.int, name: str | None = ...) -> Tensor:
        """The product of `n` copies of a square matrix; of its inverse where `n` is negative."""
    def matrix_transpose(self, name: str | None = ...) -> Tensor:
        """`x` with its last two axes exchanged; a view."""
    @overload
    def max(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Largest element along `axis`; NaN is larger than anything."""
    @overload
    def max(self, dims: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
    @overload
    def maximum(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Element-wise maximum of two tensors; NaN where one is NaN."""
    @overload
    def maximum(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def mean(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Arithmetic mean of elements along `axis`."""
    @overload
    def mean(self, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ..., dtype: Any = ...) -> Tensor: ...
    @overload
    def median(self, axis: Any = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Median of elements along `axis`: the middle one, or the mean of the two in the middle."""
    @overload
    def median(self, dims: Any = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ..., mode: Any = ...) -> Tensor: ...
    def memory(self) -> Any:
        """Where the elements lie: a `Memory`, for code that hands the memory to another library."""
    @overload
    def min(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Smallest element along `axis`; NaN is smaller than anything. Arguments are those of `max`."""
    @overload
    def min(self, dims: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
    @overload
    def minimum(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Element-wise minimum of two tensors; NaN where one is NaN. Arguments are those of `maximum`."""
    @overload
    def minimum(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def mm(self, mat2: Tensor, name: str | None = ...) -> Tensor:
        """The matrix product of `input` and `mat2`, as `matmul` without its flags."""
    @overload
    def mm(self, mat2: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def mod(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Remainder: what `floor_divide` leaves, with the sign of `y`. Arguments are those of `floor_divide`."""
    @overload
    def mod(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def mod_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `remainder`: writes the result into the first argument and returns it."""
    @overload
    def mod_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def mode(self, axis: builtins.int = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
        """The mode: the most frequent value along an axis, and its last position; of several the smallest."""
    @overload
    def mode(self, dim: builtins.int = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: builtins.int = ...) -> tuple[Tensor, Tensor]: ...
    def moveaxis(self, source: Any, destination: Any, name: str | None = ...) -> Tensor:
        """`x` with some axes moved to other places; the rest keep their order."""
    @overload
    def msort(self) -> Tensor:
        """`input` sorted along axis 0, the smallest first; as `sort(input, axis=0)`."""
    @overload
    def msort(self, *, out: Any = ...) -> Tensor: ...
    @overload
    def mul(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Product of two tensors, element by element. Arguments are those of `add`."""
    @overload
    def mul(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def mul_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `multiply`: writes the result into the first argument and returns it."""
    @overload
    def mul_(self, other: Any, name: Any = ...) -> Tensor: ...
    def multi_dot(self, name: str | None = ...) -> Tensor:
        """The product of several matrices, in the order of multiplications that costs least."""
    def multigammaln(self, p: builtins.int, name: str | None = ...) -> Tensor:
        """Logarithm of the multivariate gamma function of dimension `p`."""
    def multigammaln_(self, p: Any, name: Any = ...) -> Tensor:
        """In-place form of `multigammaln`: writes the result into the first argument and returns it."""
    @overload
    def multinomial(self, num_samples: builtins.int = ..., replacement: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Sampling without or with replacement: random positions, drawn with the weights of each row."""
    @overload
    def multinomial(self, num_samples: builtins.int = ..., replacement: builtins.bool = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def multiplex(self, index: Tensor, name: str | None = ...) -> Tensor:
        """Row i of the result is row i of the input that `index[i]` names."""
    @overload
    def multiply(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Product of two tensors, element by element. Arguments are those of `add`."""
    @overload
    def multiply(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def multiply_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `multiply`: writes the result into the first argument and returns it."""
    @overload
    def multiply_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def mv(self, vec: Tensor, name: str | None = ...) -> Tensor:
        """The product of a matrix `[m, n]` and a vector `[n]`."""
    @overload
    def mv(self, vec: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @property
    def name(self) -> str: ...
    @name.setter
    def name(self, value: Any) -> None: ...
    def nan_to_num(self, nan: builtins.float = ..., posinf: builtins.float | None = ..., neginf: builtins.float | None = ..., name: str | None = ...) -> Tensor:
        """Numbers in place of NaN and infinity."""
    def nan_to_num_(self, nan: Any = ..., posinf: Any = ..., neginf: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `nan_to_num`: writes the result into the first argument and returns it."""
    @overload
    def nanmean(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Mean of elements along `axis` that are not NaN; NaN where all are."""
    @overload
    def nanmean(self, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
    @overload
    def nanmedian(self, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Median of elements along `axis` that are not NaN."""
    @overload
    def nanmedian(self, dims: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., mode: Any = ...) -> Tensor: ...
    @overload
    def nanquantile(self, q: builtins.float | Sequence[builtins.float], axis: Axes = ..., keepdim: builtins.bool = ..., interpolation: str = ..., name: str | None = ...) -> Tensor:
        """As `quantile`, of the elements that are not NaN; NaN where all are."""
    @overload
    def nanquantile(self, q: builtins.float | Sequence[builtins.float], dim: Axes = ..., keepdim: builtins.bool = ..., interpolation: str = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
    @overload
    def nansum(self, axis: Axes = ..., dtype: Any = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Sum of elements along `axis`, NaN counted as 0. Arguments are those of `sum`."""
    @overload
    def nansum(self, dim: Axes = ..., dtype: Any = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
    def narrow(self, dim: builtins.int, start: builtins.int | Tensor, length: builtins.int) -> Tensor:
        """`length` neighbours along an axis, from `start` on; a view."""
    @property
    def nbytes(self) -> builtins.int: ...
    @property
    def ndim(self) -> builtins.int: ...
    def ndimension(self) -> builtins.int:
        """The number of axes."""
    @overload
    def ne(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Not equal: where two elements differ. Arguments are those of `less_than`, and complex numbers."""
    @overload
    def ne(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def neg(self, name: str | None = ...) -> Tensor:
        """Negation: each element with the other sign."""
    @overload
    def neg(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def neg_(self, name: Any = ...) -> Tensor:
        """In-place form of `neg`: writes the result into the first argument and returns it."""
    @overload
    def negative(self, name: str | None = ...) -> Tensor:
        """Negation: each element with the other sign."""
    @overload
    def negative(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def new_empty(self, size: Any, *, dtype: Any = ...) -> Tensor:
        """A tensor of another shape whose values nobody has written, in the dtype and on the device of the tensor."""
    @overload
    def new_empty(self, size: Any, *, dtype: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
    @overload
    def new_empty(self, *size: builtins.int | Tensor, dtype: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
    @overload
    def new_full(self, size: Any, fill_value: Any, *, dtype: Any = ...) -> Tensor:
        """One number in another shape, in the dtype and on the device of the tensor."""
    @overload
    def new_full(self, size: Any, fill_value: Any, *, dtype: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
    @overload
    def new_ones(self, size: Any, *, dtype: Any = ...) -> Tensor:
        """Ones of another shape, in the dtype and on the device of the tensor."""
    @overload
    def new_ones(self, size: Any, *, dtype: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
    @overload
    def new_ones(self, *size: builtins.int | Tensor, dtype: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
    @overload
    def new_zeros(self, size: Any, *, dtype: Any = ...) -> Tensor:
        """Zeros of another shape, in the dtype and on the device of the tensor."""
    @overload
    def new_zeros(self, size: Any, *, dtype: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
    @overload
    def new_zeros(self, *size: builtins.int | Tensor, dtype: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
    @overload
    def nextafter(self, y: Tensor, name: str | None = ...) -> Tensor:
        """The next number that the dtype holds after `x` in the direction of `y`."""
    @overload
    def nextafter(self, other: Tensor, name: str | None = ...) -> Tensor: ...
    def nnz(self) -> Any:
        """Refused: counts of stored values are those of a sparse tensor."""
    @property
    def node(self) -> Any: ...
    @node.setter
    def node(self, value: Any) -> None: ...
    @overload
    def nonzero(self, as_tuple: builtins.bool = ...) -> Any:
        """Where `x` is not zero (or false)."""
    @overload
    def nonzero(self, as_tuple: builtins.bool = ..., *, out: Any = ...) -> Any: ...
    @overload
    def norm(self, p: builtins.float | str = ..., axis: Any = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Norm: the length of vectors, in several senses."""
    @overload
    def norm(self, p: builtins.float | str = ..., dim: Any = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ..., dtype: Any = ...) -> Tensor: ...
    def normal_(self, mean: Any = ..., std: Any = ..., name: str | None = ...) -> Tensor:
        """Fill `x` with normally distributed random numbers; returns `x`."""
    @overload
    def not_equal(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Not equal: where two elements differ. Arguments are those of `less_than`, and complex numbers."""
    @overload
    def not_equal(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def not_equal_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `not_equal`: writes the result into the first argument and returns it."""
    @overload
    def not_equal_(self, other: Any, name: Any = ...) -> Tensor: ...
    def numel(self, name: str | None = ...) -> Tensor:
        """The number of elements as a tensor: int64, 0-d. `x.size` gives it as an int."""
    def numpy(self, blocking: Any = ...) -> np.ndarray[Any, Any]:
        """A NumPy array with a copy of the values; bfloat16 comes as its bits in uint16, as in Paddle."""
    def one_hot(self, num_classes: Any, name: str | None = ...) -> Tensor:
        """One-hot vectors: for each label a vector with 1 at its place and 0 elsewhere."""
    @overload
    def ormqr(self, tau: Tensor, y: Tensor, left: builtins.bool = ..., transpose: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The product of a matrix with the orthogonal one that Householder reflectors describe."""
    @overload
    def ormqr(self, tau: Tensor, other: Tensor, left: builtins.bool = ..., transpose: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def outer(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Outer product: all products of an element of `x` and one of `y`, both flattened: `[m]` and `[n]` give `[m, n]`."""
    @overload
    def outer(self, vec2: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def pca_lowrank(self, q: builtins.int | None = ..., center: builtins.bool = ..., niter: builtins.int = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]:
        """Principal components: the `q` largest singular values of `x` and their vectors."""
    @overload
    def permute(self, perm: Sequence[builtins.int], name: str | None = ...) -> Tensor:
        """`x` with its axes in another order."""
    @overload
    def permute(self, dims: Sequence[builtins.int], name: str | None = ..., *, dim0: Any = ...) -> Tensor: ...
    @overload
    def permute(self, *perm: builtins.int | Tensor, name: str | None = ..., dim0: Any = ...) -> Tensor: ...
    @property
    def persistable(self) -> builtins.bool: ...
    @persistable.setter
    def persistable(self, value: Any) -> None: ...
    def pin_memory(self, blocking: builtins.bool = ...) -> Tensor:
        """The tensor in pinned memory, from which a GPU copies faster."""
    def pinv(self, rcond: builtins.float | Tensor = ..., hermitian: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The Moore-Penrose inverse, which exists for every matrix."""
    @property
    def place(self) -> Any: ...
    @overload
    def polar(self, angle: Tensor, name: str | None = ...) -> Tensor:
        """Complex numbers from absolute values and angles (radians), which broadcast together."""
    @overload
    def polar(self, angle: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def polygamma(self, n: builtins.int, name: str | None = ...) -> Tensor:
        """The n-th derivative of `digamma`, of each element."""
    def polygamma_(self, n: Any, name: Any = ...) -> Tensor:
        """In-place form of `polygamma`: writes the result into the first argument and returns it."""
    def positive(self, name: str | None = ...) -> Tensor:
        """`+x`: the tensor itself."""
    @overload
    def pow(self, y: Any, name: str | None = ...) -> Tensor:
        """Power: `x` to the power of `y`, element by element."""
    @overload
    def pow(self, exponent: Any, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def pow_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `pow`: writes the result into the first argument and returns it."""
    @overload
    def pow_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def prod(self, axis: Axes = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
        """Product of elements along `axis`."""
    @overload
    def prod(self, dim: Axes = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
    @overload
    def put_along_axis(self, indices: Tensor, values: Any, axis: builtins.int, reduce: str = ..., include_self: builtins.bool = ..., broadcast: builtins.bool = ...) -> Tensor:
        """`arr` with `values` put where `take_along_axis` would read."""
    @overload
    def put_along_axis(self, indices: Tensor, values: Any, dim: builtins.int, reduce: str = ..., include_self: builtins.bool = ..., broadcast: builtins.bool = ...) -> Tensor: ...
    @overload
    def put_along_axis_(self, indices: Tensor, values: Any, axis: builtins.int, reduce: str = ..., include_self: builtins.bool = ..., broadcast: builtins.bool = ...) -> Tensor:
        """`put_along_axis` in place."""
    @overload
    def put_along_axis_(self, indices: Tensor, values: Any, dim: builtins.int, reduce: str = ..., include_self: builtins.bool = ..., broadcast: builtins.bool = ...) -> Tensor: ...
    def qr(self, mode: str = ..., name: str | None = ...) -> Any:
        """The QR factorization: `x = q r` with orthonormal columns in q and an upper triangle r."""
    @overload
    def quantile(self, q: builtins.float | Sequence[builtins.float], axis: Axes = ..., keepdim: builtins.bool = ..., interpolation: str = ..., name: str | None = ...) -> Tensor:
        """Quantiles: values below which the parts `q` of the elements along `axis` lie, interpolated linearly."""
    @overload
    def quantile(self, q: builtins.float | Sequence[builtins.float], dim: Axes = ..., keepdim: builtins.bool = ..., interpolation: str = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
    def rad2deg(self, name: str | None = ...) -> Tensor:
        """Radians to degrees."""
    @overload
    def random_(self, from_: builtins.int = ..., to: builtins.int | None = ...) -> Tensor:
        """Fill `x` with whole random numbers of [from_, to); returns `x`."""
    @overload
    def random_(self, from_: builtins.int = ..., to: builtins.int | None = ..., *, generator: Any = ...) -> Tensor: ...
    def rank(self) -> Tensor:
        """The number of axes as a tensor: int32, 0-d. `input.ndim` gives it as an int."""
    def ravel(self) -> Tensor:
        """All elements along one axis; as `flatten`, and a view where strides allow it."""
    def real(self, name: str | None = ...) -> Tensor:
        """Real part of each element; real numbers are their own."""
    @overload
    def reciprocal(self, name: str | None = ...) -> Tensor:
        """Reciprocal: 1 divided by each element."""
    @overload
    def reciprocal(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def reciprocal_(self, name: Any = ...) -> Tensor:
        """In-place form of `reciprocal`: writes the result into the first argument and returns it."""
    def reduce_as(self, target: Tensor, name: str | None = ...) -> Tensor:
        """Sums of `x` along the axes in which it is larger than `target`: what undoes a broadcast."""
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Call `hook` with the gradient of this tensor whenever a backward pass has completed it."""
    def register_post_accumulate_hook(self, hook: Callable[[Tensor], None]) -> Any:
        """Call `hook(x)` each time a backward pass has added its gradient of the leaf `x` to `x.grad`."""
    @overload
    def remainder(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Remainder: what `floor_divide` leaves, with the sign of `y`. Arguments are those of `floor_divide`."""
    @overload
    def remainder(self, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def remainder_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `remainder`: writes the result into the first argument and returns it."""
    @overload
    def remainder_(self, other: Any, name: Any = ...) -> Tensor: ...
    @overload
    def renorm(self, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
        """Each slice along an axis, scaled down to the norm `max_norm` where its norm is larger."""
    @overload
    def renorm(self, p: builtins.float, dim: builtins.int, max_norm: builtins.float) -> Tensor: ...
    @overload
    def renorm_(self, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
        """`renorm` that writes into `x`."""
    @overload
    def renorm_(self, p: builtins.float, dim: builtins.int, max_norm: builtins.float) -> Tensor: ...
    @overload
    def repeat(self, repeats: builtins.int | Sequence[builtins.int] | Tensor) -> Tensor:
        """Copies of the whole tensor beside each other; as `tile`. `x.repeat(2, 3)` is `x.repeat([2, 3])`."""
    @overload
    def repeat(self, *repeats: builtins.int | Tensor) -> Tensor: ...
    @overload
    def repeat_interleave(self, repeats: Any, axis: builtins.int | None = ..., name: str | None = ...) -> Tensor:
        """Repetition of elements: each element (or slice along `axis`) several times in succession."""
    @overload
    def repeat_interleave(self, repeats: Any, dim: builtins.int | None = ..., name: str | None = ..., *, axis: builtins.int | None = ..., output_size: Any = ...) -> Tensor: ...
    @property
    def requires_grad(self) -> builtins.bool: ...
    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None: ...
    def requires_grad_(self, requires_grad: builtins.bool = ...) -> Tensor:
        """Say whether the tensor asks for gradients: the opposite of `stop_gradient`."""
    @overload
    def reshape(self, shape: Sequence[builtins.int | Tensor] | Tensor, name: str | None = ...) -> Tensor:
        """The elements of `x`, row by row, in another shape."""
    @overload
    def reshape(self, size: Sequence[builtins.int | Tensor] | Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def reshape(self, *shape: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def reshape_(self, shape: Sequence[builtins.int | Tensor] | Tensor, name: str | None = ...) -> Tensor:
        """`reshape` in place: `x` itself gets the new shape."""
    @overload
    def reshape_(self, size: Sequence[builtins.int | Tensor] | Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def reshape_(self, *shape: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def resize_(self, shape: Any, fill_zero: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Give the tensor another shape, with as many of its elements as there is room for."""
    @overload
    def resize_(self, size: Any, fill_zero: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
    def retain_grads(self) -> None:
        """Keep the gradient of this tensor in `.grad` although it is not a leaf. For a leaf nothing changes."""
    @overload
    def reverse(self, axis: Any, name: str | None = ...) -> Tensor:
        """`flip` under its older name."""
    @overload
    def reverse(self, dim: Any, name: str | None = ...) -> Tensor: ...
    @overload
    def roll(self, shifts: Any, axis: Axes = ..., name: str | None = ...) -> Tensor:
        """`x` with its elements moved on along `axis`; those that leave at the end enter at the start."""
    @overload
    def roll(self, shifts: Any, dim: Axes = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
    @overload
    def rot90(self, k: builtins.int = ..., axes: Sequence[builtins.int] = ..., name: str | None = ...) -> Tensor:
        """Rotation: `x` turned by `k` times 90 degrees in the plane of two axes, from the first towards the second."""
    @overload
    def rot90(self, k: builtins.int = ..., dim: Sequence[builtins.int] = ..., name: str | None = ..., *, axes: Sequence[builtins.int] = ...) -> Tensor: ...
    @overload
    def round(self, name: str | None = ...) -> Tensor:
        """Nearest integer of each element; halves go away from 0."""
    @overload
    def round(self, name: str | None = ..., *, out: Any = ..., decimals: Any = ...) -> Tensor: ...
    @overload
    def round_(self, name: Any = ...) -> Tensor:
        """In-place form of `round`: writes the result into the first argument and returns it."""
    @overload
    def round_(self, name: Any = ..., *, decimals: Any = ...) -> Tensor: ...
    def row_stack(self, name: str | None = ...) -> Tensor:
        """Tensors one below the other: along axis 0; a vector is one row."""
    def rows(self) -> Any:
        """Refused: rows are those of the gradient of Embedding(sparse=True)."""
    @overload
    def rsqrt(self, name: str | None = ...) -> Tensor:
        """1 divided by the square root of each element."""
    @overload
    def rsqrt(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def rsqrt_(self, name: Any = ...) -> Tensor:
        """In-place form of `rsqrt`: writes the result into the first argument and returns it."""
    def scale(self, scale: Any = ..., bias: Any = ..., bias_after_scale: builtins.bool = ..., act: str | None = ..., name: str | None = ...) -> Tensor:
        """`scale * x + bias`, or `scale * (x + bias)`."""
    def scale_(self, scale: Any = ..., bias: Any = ..., bias_after_scale: Any = ..., act: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `scale`: writes the result into the first argument and returns it."""
    @overload
    def scatter(self, index: Tensor, updates: Tensor, overwrite: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """`x` with some of its rows replaced."""
    @overload
    def scatter(self, index: Tensor, updates: Tensor, overwrite: builtins.bool = ..., name: str | None = ..., *, out: Any = ..., dim: Any = ...) -> Tensor: ...
    @overload
    def scatter(self, *index: Any, updates: Tensor = ..., overwrite: builtins.bool = ..., name: str | None = ..., out: Any = ..., dim: Any = ...) -> Tensor: ...
    @overload
    def scatter_(self, index: Tensor, updates: Tensor, overwrite: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """`scatter` in place."""
    @overload
    def scatter_(self, index: Tensor, updates: Tensor, overwrite: builtins.bool = ..., name: str | None = ..., *, dim: Any = ...) -> Tensor: ...
    @overload
    def scatter_(self, *index: Any, updates: Tensor = ..., overwrite: builtins.bool = ..., name: str | None = ..., dim: Any = ...) -> Tensor: ...
    def scatter_add(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """A copy of `input` to which the elements of `src` are added at the positions `index` along one axis."""
    def scatter_add_(self, dim: Any, index: Any, src: Any) -> Tensor:
        """In-place form of `scatter_add`: writes the result into the first argument and returns it."""
    @overload
    def scatter_nd(self, updates: Tensor, shape: Any, name: str | None = ...) -> Tensor:
        """Zeros of `shape` with `updates` added at positions given by several coordinates."""
    @overload
    def scatter_nd(self, updates: Tensor, size: Any, name: str | None = ...) -> Tensor: ...
    def scatter_nd_add(self, index: Tensor, updates: Tensor, name: str | None = ...) -> Tensor:
        """`x` with `updates` added at positions given by several coordinates; repeats add up."""
    def scatter_reduce(self, dim: builtins.int, index: Tensor, src: Tensor, reduce: str, *, include_self: builtins.bool = ...) -> Tensor:
        """A copy of `input` in which elements of `src` are combined at the positions `index` along one axis."""
    @overload
    def searchsorted(self, values: Tensor, out_int32: builtins.bool = ..., right: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Where each value would have to be inserted to keep a sequence sorted."""
    @overload
    def searchsorted(self, input: Tensor, out_int32: builtins.bool = ..., right: builtins.bool = ..., name: str | None = ..., *, out: Any = ..., side: Any = ..., sorter: Any = ...) -> Tensor: ...
    @overload
    def select_scatter(self, values: Tensor, axis: builtins.int, index: builtins.int, name: str | None = ...) -> Tensor:
        """`x` with the slice at `index` along an axis replaced."""
    @overload
    def select_scatter(self, values: Tensor, dim: builtins.int, index: builtins.int, name: str | None = ...) -> Tensor: ...
    @overload
    def set_(self, source: Tensor | None = ..., shape: Any = ..., stride: Any = ..., offset: builtins.int = ..., name: str | None = ...) -> Tensor:
        """Let the tensor have the memory of another one, seen with a shape and strides."""
    @overload
    def set_(self, source: Tensor | None = ..., size: Any = ..., stride: Any = ..., offset: builtins.int = ..., name: str | None = ..., *, shape: Any = ...) -> Tensor: ...
    def set_grad_buffer(self, buffer: Tensor | None) -> None:
        """Let backward write the gradient of this leaf into `buffer`, a view of a larger memory, say."""
    def set_value(self, value: Any) -> None:
        """Overwrite the values, without any record for gradients."""
    def sgn(self, name: str | None = ...) -> Tensor:
        """`x / |x|`, and 0 where `x` is 0: the sign of real numbers, the direction of complex ones."""
    @property
    def shape(self) -> list[builtins.int]: ...
    def shard_index(self, index_num: builtins.int, nshards: builtins.int, shard_id: builtins.int, ignore_value: builtins.int = ...) -> Tensor:
        """Indices of a table that is spread over shards, as they are called in one shard."""
    def short(self) -> Tensor:
        """The tensor in int16 (differentiable)."""
    @overload
    def sigmoid(self, name: str | None = ...) -> Tensor:
        """Sigmoid: 1 / (1 + exp(-x)) of each element."""
    @overload
    def sigmoid(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def sigmoid_(self, name: Any = ...) -> Tensor:
        """In-place form of `sigmoid`: writes the result into the first argument and returns it."""
    @overload
    def sign(self, name: str | None = ...) -> Tensor:
        """-1, 0 or 1: the sign of each element; NaN stays NaN."""
    @overload
    def sign(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def signbit(self, name: str | None = ...) -> Tensor:
        """Which elements have a minus sign; -0.0 has one."""
    @overload
    def sin(self, name: str | None = ...) -> Tensor:
        """Sine of each element, given in radians."""
    @overload
    def sin(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def sin_(self, name: Any = ...) -> Tensor:
        """In-place form of `sin`: writes the result into the first argument and returns it."""
    def sinc(self, name: str | None = ...) -> Tensor:
        """The normalized sine cardinal, sin(pi x) / (pi x), which is 1 at 0."""
    def sinc_(self, name: Any = ...) -> Tensor:
        """In-place form of `sinc`: writes the result into the first argument and returns it."""
    @overload
    def sinh(self, name: str | None = ...) -> Tensor:
        """Hyperbolic sine of each element."""
    @overload
    def sinh(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def sinh_(self, name: Any = ...) -> Tensor:
        """In-place form of `sinh`: writes the result into the first argument and returns it."""
    @property
    def size(self) -> builtins.int: ...
    @overload
    def slice(self, axes: Sequence[builtins.int], starts: Any, ends: Any) -> Tensor:
        """A range of some axes, by Python's rules for bounds."""
    @overload
    def slice(self, dim: Sequence[builtins.int], starts: Any, ends: Any) -> Tensor: ...
    @overload
    def slice_scatter(self, value: Tensor, axes: Sequence[builtins.int], starts: Sequence[builtins.int], ends: Sequence[builtins.int], strides: Sequence[builtins.int], name: str | None = ...) -> Tensor:
        """A copy of `x` in which a slice is `value`."""
    @overload
    def slice_scatter(self, value: Tensor, dim: Sequence[builtins.int], starts: Sequence[builtins.int], ends: Sequence[builtins.int], strides: Sequence[builtins.int], name: str | None = ...) -> Tensor: ...
    @overload
    def slogdet(self, name: str | None = ...) -> Tensor:
        """Sign of the determinant and logarithm of its absolute value, which overflows less easily than the determinant."""
    @overload
    def slogdet(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def softmax(self, dim: builtins.int | None = ..., dtype: Any = ..., *, out: Tensor | None = ...) -> Tensor:
        """`paddle.softmax`."""
    @overload
    def solve(self, y: Tensor, name: str | None = ...) -> Tensor:
        """The solution of `x z = y`."""
    @overload
    def solve(self, other: Tensor, name: str | None = ..., *, out: Any = ..., left: Any = ...) -> Tensor: ...
    @overload
    def sort(self, axis: builtins.int = ..., descending: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """`x` in order along an axis."""
    @overload
    def sort(self, dims: builtins.int = ..., descending: builtins.bool = ..., name: str | None = ..., *, axis: builtins.int = ..., stable: Any = ...) -> Tensor: ...
    def sparse_dim(self) -> Any:
        """Refused: axes of places are those of a sparse tensor."""
    @overload
    def split(self, num_or_sections: builtins.int | Sequence[builtins.int], axis: Any = ..., name: str | None = ...) -> list[Tensor]:
        """`x` cut into parts along an axis."""
    @overload
    def split(self, indices_or_sections: builtins.int | Sequence[builtins.int], dims: Any = ..., name: str | None = ..., *, axis: Any = ...) -> list[Tensor]: ...
    def split_with_sizes(self, split_sizes: Sequence[builtins.int], dim: builtins.int = ...) -> list[Tensor]:
        """Parts of `x` of given sizes along an axis; as `split` with a list."""
    @overload
    def sqrt(self, name: str | None = ...) -> Tensor:
        """Square root of each element; NaN below 0."""
    @overload
    def sqrt(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def sqrt_(self, name: Any = ...) -> Tensor:
        """In-place form of `sqrt`: writes the result into the first argument and returns it."""
    @overload
    def square(self, name: str | None = ...) -> Tensor:
        """Square: each element times itself."""
    @overload
    def square(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def square_(self, name: Any = ...) -> Tensor:
        """In-place form of `square`: writes the result into the first argument and returns it."""
    @overload
    def squeeze(self, axis: Axes = ..., name: str | None = ...) -> Tensor:
        """`x` without axes of size 1."""
    @overload
    def squeeze(self, dim: Axes = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
    @overload
    def squeeze_(self, axis: Axes = ..., name: str | None = ...) -> Tensor:
        """`squeeze` in place: `x` itself loses the axes."""
    @overload
    def squeeze_(self, dim: Axes = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
    @overload
    def stack(self, axis: builtins.int = ..., name: str | None = ...) -> Tensor:
        """Tensors of one shape side by side along a new axis."""
    @overload
    def stack(self, dim: builtins.int = ..., name: str | None = ..., *, axis: builtins.int = ..., out: Any = ...) -> Tensor: ...
    def stanh(self, scale_a: builtins.float = ..., scale_b: builtins.float = ..., name: str | None = ...) -> Tensor:
        """Scaled hyperbolic tangent: `scale_b * tanh(scale_a * x)`."""
    @overload
    def std(self, axis: Axes = ..., unbiased: builtins.bool = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Standard deviation of elements along `axis`: the root of `var`, whose arguments it has."""
    @overload
    def std(self, dim: Axes = ..., unbiased: builtins.bool = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ..., correction: Any = ...) -> Tensor: ...
    def stft(self, n_fft: builtins.int, hop_length: builtins.int | None = ..., win_length: builtins.int | None = ..., window: Tensor | None = ..., center: builtins.bool = ..., pad_mode: str = ..., normalized: builtins.bool = ..., onesided: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The short-time Fourier transform: spectra of the frames of a signal."""
    @property
    def stop_gradient(self) -> builtins.bool: ...
    @stop_gradient.setter
    def stop_gradient(self, value: Any) -> None: ...
    def stride(self, dim: builtins.int | None = ...) -> Any:
        """Elements from one index to the next along each axis, or along one."""
    @overload
    def strided_slice(self, axes: Sequence[builtins.int], starts: Any, ends: Any, strides: Any, name: str | None = ...) -> Tensor:
        """`slice` with a step for each axis, which may be negative."""
    @overload
    def strided_slice(self, dim: Sequence[builtins.int], starts: Any, ends: Any, strides: Any, name: str | None = ...) -> Tensor: ...
    @property
    def strides(self) -> list[builtins.int]: ...
    @overload
    def sub(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Difference of two tensors, element by element. Arguments are those of `add`."""
    @overload
    def sub(self, other: Tensor, name: str | None = ..., *, out: Any = ..., alpha: Any = ...) -> Tensor: ...
    @overload
    def sub_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `subtract`: writes the result into the first argument and returns it."""
    @overload
    def sub_(self, other: Any, name: Any = ..., *, alpha: Any = ...) -> Tensor: ...
    @overload
    def subtract(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Difference of two tensors, element by element. Arguments are those of `add`."""
    @overload
    def subtract(self, other: Tensor, name: str | None = ..., *, out: Any = ..., alpha: Any = ...) -> Tensor: ...
    @overload
    def subtract_(self, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `subtract`: writes the result into the first argument and returns it."""
    @overload
    def subtract_(self, other: Any, name: Any = ..., *, alpha: Any = ...) -> Tensor: ...
    @overload
    def sum(self, axis: Axes = ..., dtype: Any = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Sum of elements along `axis`."""
    @overload
    def sum(self, dim: Axes = ..., dtype: Any = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
    def svd_lowrank(self, q: builtins.int | None = ..., niter: builtins.int = ..., M: Tensor | None = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]:
        """The largest singular values of a matrix and their vectors, by random projection."""
    @overload
    def swapaxes(self, axis0: Any, axis1: builtins.int | None = ..., name: str | None = ...) -> Tensor:
        """`x` with two axes exchanged; a view."""
    @overload
    def swapaxes(self, perm: Any, dim1: builtins.int | None = ..., name: str | None = ..., *, axis1: builtins.int | None = ...) -> Tensor: ...
    @overload
    def swapdims(self, axis0: Any, axis1: builtins.int | None = ..., name: str | None = ...) -> Tensor:
        """`x` with two axes exchanged; a view."""
    @overload
    def swapdims(self, perm: Any, dim1: builtins.int | None = ..., name: str | None = ..., *, axis1: builtins.int | None = ...) -> Tensor: ...
    def t(self, name: str | None = ...) -> Tensor:
        """Matrix transpose: a matrix transposed; a vector or number as it is."""
    def t_(self, name: str | None = ...) -> Tensor:
        """`t` in place: `input` itself is transposed."""
    def take(self, index: Tensor, mode: str = ..., name: str | None = ...) -> Tensor:
        """Elements of the flattened `x`."""
    @overload
    def take_along_axis(self, indices: Tensor, axis: builtins.int, broadcast: builtins.bool = ...) -> Tensor:
        """For each place in `indices`, the element of `arr` at the same place but, along `axis`, at the position it holds."""
    @overload
    def take_along_axis(self, indices: Tensor, dim: builtins.int, broadcast: builtins.bool = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def take_along_dim(self, indices: Tensor, axis: builtins.int, broadcast: builtins.bool = ...) -> Tensor:
        """For each place in `indices`, the element of `arr` at the same place but, along `axis`, at the position it holds."""
    @overload
    def take_along_dim(self, indices: Tensor, dim: builtins.int, broadcast: builtins.bool = ..., *, out: Any = ...) -> Tensor: ...
    @overload
    def tan(self, name: str | None = ...) -> Tensor:
        """Tangent of each element, given in radians."""
    @overload
    def tan(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def tan_(self, name: Any = ...) -> Tensor:
        """In-place form of `tan`: writes the result into the first argument and returns it."""
    @overload
    def tanh(self, name: str | None = ...) -> Tensor:
        """Hyperbolic tangent of each element."""
    @overload
    def tanh(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def tanh_(self, name: Any = ...) -> Tensor:
        """In-place form of `tanh`: writes the result into the first argument and returns it."""
    @overload
    def tensor_split(self, num_or_indices: builtins.int | Sequence[builtins.int], axis: builtins.int = ..., name: str | None = ...) -> list[Tensor]:
        """Parts of `x` along an axis, which need not be of one size."""
    @overload
    def tensor_split(self, indices_or_sections: builtins.int | Sequence[builtins.int], dim: builtins.int = ..., name: str | None = ..., *, axis: builtins.int = ...) -> list[Tensor]: ...
    @overload
    def tensordot(self, y: Tensor, axes: Any = ..., name: str | None = ...) -> Tensor:
        """Tensor contraction: sums of products over pairs of axes."""
    @overload
    def tensordot(self, other: Tensor, dim: Any = ..., name: str | None = ..., *, axes: Any = ...) -> Tensor: ...
    @overload
    def tile(self, repeat_times: Any, name: str | None = ...) -> Tensor:
        """Tiling: `x` laid out several times along its axes."""
    @overload
    def tile(self, dims: Any, name: str | None = ...) -> Tensor: ...
    @overload
    def tile(self, *repeat_times: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """The tensor on a device and in a dtype."""
    def to_dense(self) -> Tensor:
        """The tensor itself: all of its elements are stored."""
    def to_sparse_coo(self, sparse_dim: builtins.int) -> Any:
        """The elements that are not 0, with their places along the first `sparse_dim` axes."""
    def to_sparse_csr(self) -> Any:
        """The elements of a matrix, or of a batch of matrices, that are not 0, row by row."""
    def tobytes(self) -> bytes:
        """The values as bytes, row by row, as of NumPy's arrays."""
    def tolist(self) -> Any:
        """The elements as nested Python lists; a number for a 0-d tensor."""
    def top_p_sampling(self, ps: Tensor, threshold: Tensor | None = ..., seed: builtins.int | None = ..., name: str | None = ...) -> Any:
        """Refused: Paddle 2.6.2 samples so on GPUs alone, and has no such operator for the CPU."""
    @overload
    def topk(self, k: Any, axis: builtins.int | None = ..., largest: builtins.bool = ..., sorted: builtins.bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
        """The `k` largest (or smallest) values along an axis, and where they are."""
    @overload
    def topk(self, k: Any, dim: builtins.int | None = ..., largest: builtins.bool = ..., sorted: builtins.bool = ..., name: str | None = ..., *, axis: builtins.int | None = ..., out: Any = ...) -> tuple[Tensor, Tensor]: ...
    @overload
    def trace(self, offset: builtins.int = ..., axis1: builtins.int = ..., axis2: builtins.int = ..., name: str | None = ...) -> Tensor:
        """The sum of a diagonal of each matrix that two axes of `x` form."""
    @overload
    def trace(self, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ..., *, axis1: builtins.int = ..., axis2: builtins.int = ...) -> Tensor: ...
    @overload
    def transpose(self, perm: Sequence[builtins.int], name: str | None = ...) -> Tensor:
        """`x` with its axes in another order."""
    @overload
    def transpose(self, dims: Sequence[builtins.int], name: str | None = ..., *, dim0: Any = ...) -> Tensor: ...
    @overload
    def transpose(self, *perm: builtins.int | Tensor, name: str | None = ..., dim0: Any = ...) -> Tensor: ...
    @overload
    def transpose_(self, perm: Sequence[builtins.int], name: str | None = ...) -> Tensor:
        """`transpose` in place: `x` itself gets the new order of axes."""
    @overload
    def transpose_(self, dims: Sequence[builtins.int], name: str | None = ..., *, dim0: Any = ...) -> Tensor: ...
    @overload
    def transpose_(self, *perm: builtins.int | Tensor, name: str | None = ..., dim0: Any = ...) -> Tensor: ...
    @overload
    def trapezoid(self, x: Tensor | None = ..., dx: Any = ..., axis: builtins.int = ..., name: str | None = ...) -> Tensor:
        """The integral of samples along an axis by the trapezoidal rule."""
    @overload
    def trapezoid(self, input: Tensor | None = ..., dx: Any = ..., dim: builtins.int = ..., name: str | None = ..., *, x: Tensor | None = ..., axis: builtins.int = ...) -> Tensor: ...
    @overload
    def triangular_solve(self, y: Tensor, upper: builtins.bool = ..., transpose: builtins.bool = ..., unitriangular: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The solution of `x z = y` for triangular `x`."""
    @overload
    def triangular_solve(self, other: Tensor, upper: builtins.bool = ..., transpose: builtins.bool = ..., unitriangular: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
    @overload
    def tril(self, diagonal: builtins.int = ..., name: str | None = ...) -> Tensor:
        """The lower triangle of matrices: what lies above the diagonal becomes 0."""
    @overload
    def tril(self, diagonal: builtins.int = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def tril_(self, diagonal: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `tril`: writes the result into the first argument and returns it."""
    @overload
    def triu(self, diagonal: builtins.int = ..., name: str | None = ...) -> Tensor:
        """The upper triangle of matrices: what lies below the diagonal becomes 0."""
    @overload
    def triu(self, diagonal: builtins.int = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def triu_(self, diagonal: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `triu`: writes the result into the first argument and returns it."""
    @overload
    def true_divide(self, y: Tensor, name: str | None = ...) -> Tensor:
        """Quotient of two tensors, element by element."""
    @overload
    def true_divide(self, other: Tensor, name: str | None = ..., *, out: Any = ..., rounding_mode: Any = ...) -> Tensor: ...
    @overload
    def trunc(self, name: str | None = ...) -> Tensor:
        """Truncation: each element without its fraction: rounded toward 0."""
    @overload
    def trunc(self, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
    def trunc_(self, name: Any = ...) -> Tensor:
        """In-place form of `trunc`: writes the result into the first argument and returns it."""
    @property
    def type(self) -> Any: ...
    def type_as(self, other: Tensor) -> Tensor:
        """The tensor in the dtype of another one."""
    def uint8(self) -> Tensor:
        """The tensor in uint8 (differentiable)."""
    @overload
    def unbind(self, axis: builtins.int = ...) -> list[Tensor]:
        """The slices of `input` along an axis, each without it."""
    @overload
    def unbind(self, dim: builtins.int = ..., *, axis: builtins.int = ...) -> list[Tensor]: ...
    @overload
    def unflatten(self, axis: builtins.int, shape: Sequence[builtins.int] | Tensor, name: str | None = ...) -> Tensor:
        """`x` with one axis cut into several."""
    @overload
    def unflatten(self, dim: builtins.int, size: Sequence[builtins.int] | Tensor, name: str | None = ...) -> Tensor: ...
    @overload
    def unfold(self, axis: builtins.int, size: builtins.int, step: builtins.int, name: str | None = ...) -> Tensor:
        """Windows of `size` elements along an axis, one every `step` elements, as a new last axis."""
    @overload
    def unfold(self, dim: builtins.int, size: builtins.int, step: builtins.int, name: str | None = ...) -> Tensor: ...
    @overload
    def uniform_(self, min: Any = ..., max: Any = ..., seed: builtins.int = ..., name: str | None = ...) -> Tensor:
        """Fill `x` with random numbers in `[min, max)`; returns `x`."""
    @overload
    def uniform_(self, from_: Any = ..., to: Any = ..., seed: builtins.int = ..., name: str | None = ..., *, min: Any = ..., max: Any = ...) -> Tensor: ...
    @overload
    def unique(self, return_index: builtins.bool = ..., return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Any:
        """The unique values of `x`, sorted."""
    @overload
    def unique(self, return_index: builtins.bool = ..., return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., dims: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ..., sorted: Any = ...) -> Any: ...
    @overload
    def unique_consecutive(self, return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Any:
        """`x` with runs of equal values reduced to one; arguments and results as for `unique`."""
    @overload
    def unique_consecutive(self, return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> Any: ...
    @overload
    def unsqueeze(self, axis: Any, name: str | None = ...) -> Tensor:
        """`x` with new axes of size 1."""
    @overload
    def unsqueeze(self, dim: Any, name: str | None = ...) -> Tensor: ...
    @overload
    def unsqueeze_(self, axis: Any, name: str | None = ...) -> Tensor:
        """`unsqueeze` in place: `x` itself gets the axes."""
    @overload
    def unsqueeze_(self, dim: Any, name: str | None = ...) -> Tensor: ...
    @overload
    def unstack(self, axis: builtins.int = ..., num: builtins.int | None = ...) -> list[Tensor]:
        """`unbind` into copies."""
    @overload
    def unstack(self, dim: builtins.int = ..., steps: builtins.int | None = ..., *, axis: builtins.int = ..., num: builtins.int | None = ...) -> list[Tensor]: ...
    def value(self) -> Tensor:
        """The tensor itself."""
    def values(self) -> Any:
        """Refused: stored values are those of a sparse tensor."""
    def vander(self, n: builtins.int | None = ..., increasing: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """The Vandermonde matrix: powers of a vector as columns."""
    @overload
    def var(self, axis: Axes = ..., unbiased: builtins.bool = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
        """Variance of elements along `axis`."""
    @overload
    def var(self, dim: Axes = ..., unbiased: builtins.bool = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ..., correction: Any = ...) -> Tensor: ...
    @overload
    def view(self, shape_or_dtype: Any, name: str | None = ...) -> Tensor:
        """`x` with another shape, or its bytes as another dtype, always on the memory of `x`."""
    @overload
    def view(self, size: Any, name: str | None = ...) -> Tensor: ...
    @overload
    def view(self, *shape_or_dtype: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
    def view_as(self, other: Tensor, name: str | None = ...) -> Tensor:
        """`x` with the shape of `other`, on the memory of `x`."""
    def view_as_complex(self, name: str | None = ...) -> Tensor:
        """Pairs of real numbers as complex ones."""
    def view_as_real(self, name: str | None = ...) -> Tensor:
        """Complex numbers as pairs of real ones, in a new last axis of size 2; a view."""
    @overload
    def vsplit(self, num_or_sections: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]:
        """`x`, of rank 2 or more, cut into parts along its first axis."""
    @overload
    def vsplit(self, indices_or_sections: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]: ...
    def vstack(self, name: str | None = ...) -> Tensor:
        """Tensors one below the other: along axis 0; a vector is one row."""
    @overload
    def where(self, x: Any = ..., y: Any = ..., name: str | None = ...) -> Any:
        """Elements of `x` where `condition` is True, of `y` elsewhere."""
    @overload
    def where(self, input: Any = ..., other: Any = ..., name: str | None = ..., *, x: Any = ..., y: Any = ..., out: Any = ...) -> Any: ...
    @overload
    def where_(self, x: Any = ..., y: Any = ..., name: str | None = ...) -> Tensor:
        """In-place form of `where`: writes the result into `x` and returns it."""
    @overload
    def where_(self, input: Any = ..., other: Any = ..., name: str | None = ..., *, x: Any = ..., y: Any = ...) -> Tensor: ...
    def zero_(self) -> Tensor:
        """Fill `x` with 0, in place."""
    def __add__(self, other: Any) -> Tensor: ...
    def __radd__(self, other: Any) -> Tensor: ...
    def __sub__(self, other: Any) -> Tensor: ...
    def __rsub__(self, other: Any) -> Tensor: ...
    def __mul__(self, other: Any) -> Tensor: ...
    def __rmul__(self, other: Any) -> Tensor: ...
    def __truediv__(self, other: Any) -> Tensor: ...
    def __rtruediv__(self, other: Any) -> Tensor: ...
    def __floordiv__(self, other: Any) -> Tensor: ...
    def __rfloordiv__(self, other: Any) -> Tensor: ...
    def __mod__(self, other: Any) -> Tensor: ...
    def __rmod__(self, other: Any) -> Tensor: ...
    def __pow__(self, other: Any) -> Tensor: ...
    def __rpow__(self, other: Any) -> Tensor: ...
    def __matmul__(self, other: Any) -> Tensor: ...
    def __rmatmul__(self, other: Any) -> Tensor: ...
    def __and__(self, other: Any) -> Tensor: ...
    def __rand__(self, other: Any) -> Tensor: ...
    def __or__(self, other: Any) -> Tensor: ...
    def __ror__(self, other: Any) -> Tensor: ...
    def __xor__(self, other: Any) -> Tensor: ...
    def __rxor__(self, other: Any) -> Tensor: ...
    def __lt__(self, other: Any) -> Tensor: ...
    def __le__(self, other: Any) -> Tensor: ...
    def __gt__(self, other: Any) -> Tensor: ...
    def __ge__(self, other: Any) -> Tensor: ...
    def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __bool__(self) -> builtins.bool: ...
    def __int__(self) -> builtins.int: ...
    def __float__(self) -> builtins.float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> builtins.int: ...
    def __len__(self) -> builtins.int: ...
    def __hash__(self) -> builtins.int: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __array__(self, dtype: Any = ..., copy: Any = ...) -> np.ndarray[Any, Any]: ...
    def __buffer__(self, flags: builtins.int, /) -> memoryview: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]: ...
    def __deepcopy__(self, memo: Any) -> Tensor: ...

def add_methods(methods: Any) -> Any:
    """Give Tensor more methods and properties: {name: function or property}."""
def alias(x: Any) -> Any:
    """Another tensor on the same memory, without gradient history."""
def asked_by_a_call() -> Any:
    """Is the shape rule that runs now asked for a call on tensors with data, and not for a capture or a plan ahead?"""
def clear_gradients(tensors: Any, set_to_zero: Any = ...) -> Any:
    """Let the gradients of all these tensors be zeros again, or None. Where there is none, nothing happens."""
def detach_in_place(x: Any) -> Any:
    """Make `x` a leaf that stops gradients."""
def device_code(kind: Any, number: Any = ...) -> Any:
    """The int that stands for a device. KeyError: it is not known."""
def device_memory(device: Any) -> Any:
    """(bytes in all, bytes free) of a device, None where it does not tell."""
def device_of(x: Any) -> Any:
    """The device of a tensor, an int."""
def devices() -> Any:
    """The kinds of devices there are: {name: (code of the first one, how many, DLPack's number)}."""
def devices_against_forks() -> Any:
    """The kinds of devices that are there and do not bear that the process is forked."""
def dtype_of_name(name: Any) -> Any:
    """The DType called `name`, as in "float32"."""
def explain_type_errors(hint: Any) -> Any:
    """Let the text of a TypeError end with `hint(error, text)` where that is not empty."""
def fill_fresh_memory(on: Any) -> Any:
    """Whether memory of the cpu that nobody has written to yet holds bytes of 0x7f: to find what counts on zeros."""
def from_buffer(data: Any, dtype: Any = ...) -> Any:
    """A tensor with a copy of anything that has the buffer protocol (arrays, bytes, memoryviews)."""
def from_values(values: Any, shape: Any, dtype: Any) -> Any:
    """A tensor of `shape` from a flat sequence of Python numbers, row by row."""
def get_current_device() -> Any:
    """The device, an int, that ops without inputs run on."""
def get_default_generator(device: Any = ...) -> Any:
    """The generator that random ops of this thread draw from on a device."""
def get_num_threads() -> Any:
    """How many threads a kernel may use: all cores that the process may use, until somebody says otherwise."""
def get_stream(device: Any) -> Any:
    """The DeviceStream that the calling thread works on."""
def hold_sizes(attrs: Any) -> Any:
    """Does one of these attributes, or a number in one, stand for a size that is not known yet?"""
def inner_layers() -> Any:
    """The inner layers of the calling thread, the topmost last."""
def is_capturing(device: Any) -> Any:
    """Is work of the device being written down?"""
def is_grad_enabled() -> Any:
    """Are ops of this thread recorded for gradients?"""
def is_symbolic(x: Any) -> Any:
    """Is `x` a tensor of a captured program, without data?"""
def is_tracing() -> Any:
    """Whether a profiler records."""
def kernel_generation() -> Any:
    """Goes up whenever kernels are registered: plans of an older generation point to kernels that were replaced."""
def load_kernels(device: Any) -> Any:
    """Asks the installed packages for their kernels of one device, once."""
def mark_rows(x: Any, later: Any = ...) -> Any:
    """Let `x` count as rows of a larger gradient: called by autograd's SelectedRows. `later`: `.grad` makes it dense."""
def memory_holders(device: Any) -> Any:
    """The memory of tensors on a device that the garbage collector knows: (bytes, the tensor that shows most of it), the largest first."""
def memory_stats(device: Any = ...) -> Any:
    """Bytes on a device: allocated, peak_allocated (held by tensors), reserved, peak_reserved (with the cache)."""
def name_of_device(device: Any) -> Any:
    """"cpu", or the kind and the number, as in "mine:0"."""
def on_host(x: Any) -> Any:
    """`x` in memory that the host can read, complete: itself on the cpu, else a copy. Without gradient history elsewhere."""
def op_of_name(name: Any) -> Any:
    """The op called `name`."""
def plan_of(op: Any, metas: Any, attrs: Any, device: Any = ...) -> Any:
    """The plan of a call, for an executor that runs a program many times."""
def pop_layer(layer: Any, position: Any = ...) -> Any:
    """Remove the topmost layer, which must be `layer`."""
def push_layer(layer: Any, position: Any = ...) -> Any:
    """Install a layer for the calling thread."""
def ready_for(device: Any, stream: Any) -> Any:
    """Lets whoever takes memory of the device on `stream` (a handle; None: any) find it complete; -1: nobody waits."""
def rebind(x: Any, y: Any) -> Any:
    """Make `x` what `y` is: memory, shape, dtype and gradient history. Its name stays; its version goes up."""
def register_bound_kernel(device: Any, op: Any, dtypes: Any, kernel: Any, bind: Any, flags: Any = ...) -> Any:
    """Make a compiled function the kernel of an op, with data that is made for each plan."""
def register_python_kernel(device: Any, op: Any, dtypes: Any, function: Any) -> Any:
    """Make a Python function the kernel of an op. It computes with NumPy, which has to be there when it first runs."""
def reinterpreted(x: Any, dtype: Any) -> Any:
    """The same bytes as elements of another dtype, without gradient history; the last axis grows or shrinks."""
def release_memory_cache(device: Any = ...) -> Any:
    """Give the memory that the allocator keeps for reuse back to the system, or to the device."""
def reset_peak_memory_stats(device: Any = ...) -> Any:
    """Let the peaks start again from what is in use now."""
def scalar(value: Any, dtype: Any) -> Any:
    """A 0-d tensor. Of a size that is not known yet it is a tensor of the program being captured."""
def seed_generators(seed: Any) -> Any:
    """Start the generators of all devices over from `seed`; returns the cpu's."""
def set_copies_later(on: Any) -> Any:
    """Whether copies of this thread out of page-locked memory may return before they have read it; returns what was set before."""
def set_count_class(kind: Any) -> Any:
    """Tell the core of which class of int `x.size` is."""
def set_current_device(device: Any) -> Any:
    """Let ops without inputs run on `device`, in all threads."""
def set_default_generator(generator: Any) -> Any:
    """Make random ops of this thread draw from `generator`, on any device; returns the one before."""
def set_device_graphs(on: Any, flag: Any) -> Any:
    """Whether executors may capture programs and run them as graphs, as far as `flag` is concerned."""
def set_dir_of_classes(function: Any) -> Any:
    """Let `dir(Tensor)`, and that of classes made of it, be `function(the class)`."""
def set_fallback(name: Any, function: Any) -> Any:
    """Tell the core which Python function answers what it does not answer itself."""
def set_grad_mode(enabled: Any) -> Any:
    """Switch recording for this thread; returns what it was."""
def set_host_fallback(on: Any) -> Any:
    """Whether an op that a device has neither kernel nor decomposition for runs on copies in host memory."""
def set_memory_cache_limit(nbytes: Any, device: Any = ...) -> Any:
    """How many bytes of freed memory the allocator keeps at most."""
def set_num_threads(count: Any) -> Any:
    """Set how many threads a kernel may use, at least 1. Results do not depend on it."""
def set_number(x: Any, value: Any) -> Any:
    """Write a number into a 0-d tensor, past all layers: a tensor that a program reads keeps its place and gets a new value."""
def set_random_rules(rules: Any) -> Any:
    """Let `rules`, functions by op, draw in place of the kernels of random ops; None gives these back their work."""
def set_respell(function: Any) -> Any:
    """Tell the core which function understands the calls that are spelled otherwise."""
def set_shape_class(kind: Any) -> Any:
    """Let `x.shape` be of a class of list; None: a list."""
def set_stream(stream: Any) -> Any:
    """Let the calling thread work on `stream`; returns the one before."""
def set_thread_budget(count: Any) -> Any:
    """Set how many threads the kernels may use that the calling thread runs; 0: as many as `get_num_threads` says."""
def set_thread_current_device(device: Any) -> Any:
    """Let ops without inputs run on `device` in the calling thread, whatever the process has set; -1: as the process has it."""
def share_buffer(data: Any) -> Any:
    """A tensor on the very memory of `data`, which must be writable; it lives as long as the tensor."""
def show_frames(wanted: Any) -> Any:
    """Whether tracebacks have entries for the compiled functions of this module. They name lines of files that no"""
def sizes_of(x: Any) -> Any:
    """The sizes of a tensor as plain numbers, -1 where one is unknown."""
def start() -> Any:
    """Called by the package once the vocabulary is declared."""
def strided(x: Any, shape: Any, strides: Any, offset: Any) -> Any:
    """A view of the elements at `offset + sum(index * strides)` from the first element of `x`, without gradient history."""
def symbolic(shape: Any, dtype: Any, kind: Any = ...) -> Any:
    """A tensor with a shape (-1, a `sizes.Size` or None: unknown) and a dtype but no data, for capture layers; its place is the current device."""
def synchronize(device: Any) -> Any:
    """Wait until everything that was put on any stream of the device has run; errors of that work are raised."""
def take_dlpack(capsule: Any) -> Any:
    """A tensor on the memory of a DLPack capsule; the capsule is used up."""
def to_device(x: Any, device: Any) -> Any:
    """`x` on a device, without gradient history: itself when it is there."""
def to_dlpack(x: Any, versioned: Any = ..., copied: Any = ...) -> Any:
    """A capsule with the memory of `x`, which lives until the taker lets go of it."""
def topmost_layer(position: Any = ...) -> Any:
    """The layer of the calling thread that is asked first; None where there is none."""
def trace_devices_start(devices: Any) -> Any:
    """Take the times of work on these devices, ints, from now on: call it before `trace_start`."""
def trace_devices_stop() -> Any:
    """Wait for the devices and stop taking times."""
def trace_note(kind: Any, name: Any, begin: Any, end: Any) -> Any:
    """Record an event of this thread, with times of `time.perf_counter_ns`; nothing where nothing is recorded."""
def trace_start() -> Any:
    """Record each op and each `trace_note` of every thread from now on. What was recorded before is let go of."""
def trace_stop() -> Any:
    """Stop recording."""
def uninitialized(shape: Any, dtype: Any, device: Any = ...) -> Any:
    """A tensor whose values are whatever the memory of the device held."""
def used_by_others(x: Any) -> Any:
    """Somebody else's work on this thread's stream uses the memory of `x`: whoever frees it waits for that."""
