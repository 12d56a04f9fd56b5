"""Stub of the compiled core, written by tools/stubs.py."""
from collections.abc import Iterator
from typing import Any

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

class Scalar: ...

class Op:
    """A primitive; calling it applies it."""
    name: str
    input_spec: str
    inputs: tuple[tuple[str, bool, bool], ...]
    attr_names: tuple[str, ...]
    attr_types: tuple[Any, ...]
    outputs: tuple[str, ...]
    view: bool
    differentiable: int
    vjp_rule: Any
    def __init__(self, name: str, input_spec: str, attr_names: tuple[str, ...], attr_types: tuple[Any, ...],
                 outputs: tuple[str, ...], view: bool) -> None: ...
    def __call__(self, *inputs: Any, **attrs: Any) -> Any: ...
    def apply(self, inputs: Any, attrs: Any) -> Any:
        """Apply to a tuple of inputs and the tuple of all attributes, in the order of the declaration."""
    def each_into(self, outs: Any, inputs: Any, attrs: Any) -> Any:
        """Apply to many groups of tensors, one after the other, writing the results in place."""
    def infer(self, inputs: Any, attrs: Any) -> Any:
        """Metas of the outputs for tensors `inputs`: a tuple. Runs the shape rule, no kernel."""
    def into(self, outs: Any, *inputs: Any, **attrs: Any) -> Any:
        """Apply, and write the results into the tensors `outs`; their version goes up."""
    def kernel_dtypes(self) -> Any:
        """Names of the dtypes that the cpu has a kernel for; `...` stands for all the others."""
    def run(self, inputs: Any, attrs: Any) -> Any:
        """The kernel (or view, or decomposition) alone, past all layers: what an inner layer calls."""

class Generator:
    def __init__(self, seed: int = ...) -> None: ...
    def get_state(self) -> Any:
        """Generator.get_state(self)"""
    def initial_seed(self) -> Any:
        """Generator.initial_seed(self)"""
    def manual_seed(self, seed: Any) -> Any:
        """Generator.manual_seed(self, seed)"""
    offset: int
    seed_value: int
    def set_state(self, state: Any) -> Any:
        """Generator.set_state(self, state)"""

class Tensor:
    """An n-dimensional array of one dtype on one device."""
    @property
    def T(self) -> Tensor: ...
    def _bump_inplace_version(self) -> Any:
        """Say that the memory was written by other means (through `numpy` memory, say)."""
    def _is_initialized(self) -> Any: ...
    def _share_data_with(self, other: Any) -> Any:
        """Make this tensor use the memory, shape and dtype of `other`; name and gradient stay."""
    def _shares_memory_with(self, other: Any) -> Any:
        """Do both tensors use the same storage?"""
    def abs(x: Any, name: Any = ...) -> Tensor:
        """Absolute value of each element; the modulus of complex numbers."""
    def abs_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `abs`: writes the result into the first argument and returns it."""
    def acos(x: Any, name: Any = ...) -> Tensor:
        """Inverse cosine of each element, in radians; NaN outside [-1, 1]."""
    def acos_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `acos`: writes the result into the first argument and returns it."""
    def acosh(x: Any, name: Any = ...) -> Tensor:
        """Inverse hyperbolic cosine of each element; NaN below 1."""
    def acosh_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `acosh`: writes the result into the first argument and returns it."""
    def add(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Sum of two tensors, element by element."""
    def add_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `add`: writes the result into the first argument and returns it."""
    def add_n(inputs: Any, name: Any = ...) -> Tensor:
        """Sum of several tensors of one shape and dtype."""
    def addmm(input: Any, x: Any, y: Any, beta: Any = ..., alpha: Any = ..., name: Any = ...) -> Tensor:
        """`beta * input + alpha * (x @ y)`."""
    def addmm_(input: Any, x: Any, y: Any, beta: Any = ..., alpha: Any = ..., name: Any = ...) -> Tensor:
        """`addmm` that writes into `input`."""
    def all(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Whether all elements along `axis` are True (not 0)."""
    def allclose(x: Any, y: Any, rtol: Any = ..., atol: Any = ..., equal_nan: Any = ..., name: Any = ...) -> Tensor:
        """Whether all elements are close. Arguments and errors are those of `isclose`."""
    def amax(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Largest element along `axis`. Tied maxima share the gradient; else as `max`."""
    def amin(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Smallest element along `axis`. Tied minima share the gradient; else as `min`."""
    def angle(x: Any, name: Any = ...) -> Tensor:
        """Angle of each element in the complex plane, in radians: pi for negative real numbers."""
    def any(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Whether an element along `axis` is True (not 0). Arguments and errors are those of `all`."""
    def argmax(x: Any, axis: Any = ..., keepdim: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
        """Position of the largest element along `axis`, the first where several are as large."""
    def argmin(x: Any, axis: Any = ..., keepdim: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
        """Position of the smallest element along `axis`. Arguments and errors are those of `argmax`."""
    def argsort(x: Any, axis: Any = ..., descending: Any = ..., name: Any = ...) -> Tensor:
        """The positions (int64) that put `x` in order along an axis; arguments as for `sort`."""
    def as_complex(x: Any, name: Any = ...) -> Tensor:
        """Pairs of real numbers as complex ones."""
    def as_real(x: Any, name: Any = ...) -> Tensor:
        """Complex numbers as pairs of real ones, in a new last axis of size 2; a view."""
    def as_strided(x: Any, shape: Any, stride: Any, offset: Any = ..., name: Any = ...) -> Tensor:
        """Elements of the memory of `x` in any arrangement."""
    def asin(x: Any, name: Any = ...) -> Tensor:
        """Inverse sine of each element, in radians; NaN outside [-1, 1]."""
    def asin_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `asin`: writes the result into the first argument and returns it."""
    def asinh(x: Any, name: Any = ...) -> Tensor:
        """Inverse hyperbolic sine of each element."""
    def asinh_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `asinh`: writes the result into the first argument and returns it."""
    def astype(self, dtype: Any) -> Tensor:
        """The tensor in another dtype, as `cast`."""
    def atan(x: Any, name: Any = ...) -> Tensor:
        """Inverse tangent of each element, in radians."""
    def atan2(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Angle of the point (y, x), in radians in (-pi, pi]: the inverse tangent of x / y."""
    def atan_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `atan`: writes the result into the first argument and returns it."""
    def atanh(x: Any, name: Any = ...) -> Tensor:
        """Inverse hyperbolic tangent of each element; infinite at -1 and 1."""
    def atanh_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `atanh`: writes the result into the first argument and returns it."""
    def atleast_1d(*inputs: Any, name: Any = ...) -> Any:
        """Each input with at least one axis; a list when there are several."""
    def atleast_2d(*inputs: Any, name: Any = ...) -> Any:
        """Each input with at least two axes, the new ones first; a list when there are several."""
    def atleast_3d(*inputs: Any, name: Any = ...) -> Any:
        """Each input with at least three axes: `[n]` becomes `[1, n, 1]`, `[m, n]` becomes `[m, n, 1]`."""
    def backward(self, grad_tensor: Any = ..., retain_graph: Any = ...) -> Any:
        """Accumulate the gradients of this tensor into the `.grad` of the leaves that it depends on."""
    def bincount(x: Any, weights: Any = ..., minlength: Any = ..., name: Any = ...) -> Tensor:
        """How often each number from 0 on occurs."""
    def bitwise_and(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """Bits that are set in both elements."""
    def bitwise_and_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_and`: writes the result into the first argument and returns it."""
    def bitwise_not(x: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """Bits that are not set; for bool, the other truth value."""
    def bitwise_not_(x: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_not`: writes the result into the first argument and returns it."""
    def bitwise_or(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """Bits that are set in one element or both. Arguments and errors are those of `bitwise_and`."""
    def bitwise_or_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_or`: writes the result into the first argument and returns it."""
    def bitwise_xor(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """Bits that are set in exactly one element. Arguments and errors are those of `bitwise_and`."""
    def bitwise_xor_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `bitwise_xor`: writes the result into the first argument and returns it."""
    def bmm(x: Any, y: Any, name: Any = ...) -> Tensor:
        """The products of equally many matrices."""
    def broadcast_tensors(input: Any, name: Any = ...) -> Any:
        """Several tensors expanded to the shape that they broadcast to."""
    def broadcast_to(x: Any, shape: Any, name: Any = ...) -> Tensor:
        """`expand` under NumPy's name."""
    def bucketize(x: Any, sorted_sequence: Any, out_int32: Any = ..., right: Any = ..., name: Any = ...) -> Tensor:
        """`searchsorted` of `x` in one sequence, with the arguments in the other order."""
    def cast(x: Any, dtype: Any) -> Tensor:
        """`x` in another dtype."""
    def cast_(x: Any, dtype: Any) -> Tensor:
        """`cast` in place: `x` itself gets the dtype."""
    def cauchy_(x: Any, loc: Any = ..., scale: Any = ..., name: Any = ...) -> Tensor:
        """Fill `x` with Cauchy distributed random numbers around `loc`; returns `x`."""
    def cdist(x: Any, y: Any, p: Any = ..., compute_mode: Any = ..., name: Any = ...) -> Tensor:
        """The `p`-norm distance of each row of `x` to each row of `y`."""
    def ceil(x: Any, name: Any = ...) -> Tensor:
        """The smallest integer not below each element."""
    def ceil_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `ceil`: writes the result into the first argument and returns it."""
    def chunk(x: Any, chunks: Any, axis: Any = ..., name: Any = ...) -> Any:
        """`x` cut into equal parts along an axis; the size must divide."""
    def clear_grad(self) -> Any:
        """Fill the gradient with zeros. Where there is none, nothing happens."""
    def clear_gradient(self, set_to_zero: Any = ...) -> Any:
        """Forget the gradient: fill it with zeros, or, with `set_to_zero=False`, make it None."""
    def clip(x: Any, min: Any = ..., max: Any = ..., name: Any = ...) -> Tensor:
        """Each element brought into [min, max]; NaN stays NaN."""
    def clip_(x: Any, min: Any = ..., max: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `clip`: writes the result into the first argument and returns it."""
    def clone(self) -> Tensor:
        """A copy that gradients pass through. Source: `paddle.Tensor.clone`."""
    def concat(x: Any, axis: Any = ..., name: Any = ...) -> Tensor:
        """Several tensors one behind the other along an axis."""
    def conj(x: Any, name: Any = ...) -> Tensor:
        """Complex conjugate of each element; real numbers are their own."""
    def contiguous(self) -> Any:
        """The tensor itself when it is contiguous, else a contiguous copy (differentiable)."""
    def copy_(self, other: Any, blocking: Any = ...) -> Tensor:
        """Overwrite the values with those of `other`, as `set_value`. Source: `paddle.Tensor.copy_`."""
    def cos(x: Any, name: Any = ...) -> Tensor:
        """Cosine of each element, given in radians."""
    def cos_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `cos`: writes the result into the first argument and returns it."""
    def cosh(x: Any, name: Any = ...) -> Tensor:
        """Hyperbolic cosine of each element."""
    def cosh_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `cosh`: writes the result into the first argument and returns it."""
    def count_nonzero(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """How many elements along `axis` are not 0."""
    def cpu(self) -> Tensor:
        """The tensor on the CPU: itself, since it is there. Source: `paddle.Tensor.cpu`."""
    def crop(x: Any, shape: Any = ..., offsets: Any = ..., name: Any = ...) -> Tensor:
        """A block cut out of `x`."""
    def cross(x: Any, y: Any, axis: Any = ..., name: Any = ...) -> Tensor:
        """The cross product of vectors of three numbers along an axis."""
    def cuda(self, device_id: Any = ..., blocking: Any = ...) -> Tensor:
        """A copy on a GPU. Raises ValueError: there is none. Source: `paddle.Tensor.cuda`."""
    def cummax(x: Any, axis: Any = ..., dtype: Any = ..., name: Any = ...) -> Any:
        """Running maxima along `axis`, and the positions where they were found."""
    def cummin(x: Any, axis: Any = ..., dtype: Any = ..., name: Any = ...) -> Any:
        """Running minima along `axis`, and their positions. Arguments and errors are those of `cummax`."""
    def cumprod(x: Any, dim: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
        """Running products along `dim`."""
    def cumprod_(x: Any, dim: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `cumprod`: writes the result into the first argument and returns it."""
    def cumsum(x: Any, axis: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
        """Running sums along `axis`."""
    def cumsum_(x: Any, axis: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `cumsum`. Without `axis`, `x` becomes one axis of all elements, as in Paddle."""
    @property
    def data(self) -> Tensor: ...
    @data.setter
    def data(self, value: Any) -> None: ...
    def data_ptr(self) -> Any:
        """Address of the first element."""
    def deg2rad(x: Any, name: Any = ...) -> Tensor:
        """Degrees to radians."""
    def detach(self) -> Tensor:
        """A tensor on the same memory without gradient history: stop_gradient is True."""
    def detach_(self) -> Tensor:
        """Cut the tensor off from what made it: stop_gradient becomes True. Source: `paddle.Tensor.detach_`."""
    def diag(x: Any, offset: Any = ..., padding_value: Any = ..., name: Any = ...) -> Tensor:
        """A matrix with a vector on its diagonal, or the diagonal of a matrix."""
    def diag_embed(input: Any, offset: Any = ..., dim1: Any = ..., dim2: Any = ...) -> Tensor:
        """Matrices with the last axis of `input` on their diagonals."""
    def diagflat(x: Any, offset: Any = ..., name: Any = ...) -> Tensor:
        """A matrix with all elements of `x`, row by row, on its diagonal."""
    def diagonal(x: Any, offset: Any = ..., axis1: Any = ..., axis2: Any = ..., name: Any = ...) -> Tensor:
        """The diagonal of each matrix that two axes of `x` form."""
    def diagonal_scatter(x: Any, y: Any, offset: Any = ..., axis1: Any = ..., axis2: Any = ..., name: Any = ...) -> Tensor:
        """`x` with `y` on a diagonal; arguments as for `diagonal`, whose shape `y` has."""
    def diff(x: Any, n: Any = ..., axis: Any = ..., prepend: Any = ..., append: Any = ..., name: Any = ...) -> Tensor:
        """Differences of neighbours along an axis."""
    def digamma(x: Any, name: Any = ...) -> Tensor:
        """Derivative of the logarithm of the gamma function; NaN at 0, -1, -2, ..."""
    def digamma_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `digamma`: writes the result into the first argument and returns it."""
    def dim(self) -> Any:
        """Number of axes. Source: `paddle.Tensor.dim`."""
    def dist(x: Any, y: Any, p: Any = ..., name: Any = ...) -> Tensor:
        """The `p`-norm of `x - y`, over all elements."""
    def divide(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Quotient of two tensors, element by element."""
    def divide_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `divide`: writes the result into the first argument and returns it."""
    def dot(x: Any, y: Any, name: Any = ...) -> Tensor:
        """The inner product of two vectors, or of each row of two matrices."""
    @property
    def dtype(self) -> DType: ...
    def element_size(self) -> Any:
        """Bytes of one element. Source: `paddle.Tensor.element_size`."""
    def equal(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Where two elements are equal."""
    def equal_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `equal`: writes the result into the first argument and returns it."""
    def equal_all(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Whether two tensors have one shape and equal elements."""
    def erf(x: Any, name: Any = ...) -> Tensor:
        """Error function of each element."""
    def erf_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `erf`: writes the result into the first argument and returns it."""
    def erfinv(x: Any, name: Any = ...) -> Tensor:
        """Inverse of the error function; infinite at -1 and 1."""
    def erfinv_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `erfinv`: writes the result into the first argument and returns it."""
    def exp(x: Any, name: Any = ...) -> Tensor:
        """e to the power of each element."""
    def exp_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `exp`: writes the result into the first argument and returns it."""
    def expand(x: Any, shape: Any, name: Any = ...) -> Tensor:
        """`x` repeated along axes of size 1, and along new leading axes, up to `shape`."""
    def expand_as(x: Any, y: Any, name: Any = ...) -> Tensor:
        """`expand` to the shape of `y`."""
    def expm1(x: Any, name: Any = ...) -> Tensor:
        """e to the power of each element, minus 1, precise near 0."""
    def expm1_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `expm1`: writes the result into the first argument and returns it."""
    def exponential_(x: Any, lam: Any = ..., name: Any = ...) -> Tensor:
        """Fill `x` with exponentially distributed random numbers of rate `lam` (mean 1 / lam); returns `x`."""
    def fill_(x: Any, value: Any) -> Tensor:
        """Fill `x` with one number, in place."""
    def fill_diagonal_(x: Any, value: Any, offset: Any = ..., wrap: Any = ..., name: Any = ...) -> Tensor:
        """`x` with one value on its diagonal, in place."""
    def fill_diagonal_tensor(x: Any, y: Any, offset: Any = ..., dim1: Any = ..., dim2: Any = ..., name: Any = ...) -> Tensor:
        """`diagonal_scatter` under the name of the Tensor method."""
    def fill_diagonal_tensor_(x: Any, y: Any, offset: Any = ..., dim1: Any = ..., dim2: Any = ..., name: Any = ...) -> Tensor:
        """`fill_diagonal_tensor` in place."""
    def flatten(x: Any, start_axis: Any = ..., stop_axis: Any = ..., name: Any = ...) -> Tensor:
        """`x` with the axes from `start_axis` to `stop_axis` (included) merged into one."""
    def flatten_(x: Any, start_axis: Any = ..., stop_axis: Any = ..., name: Any = ...) -> Tensor:
        """`flatten` in place: `x` itself gets the new shape."""
    def flip(x: Any, axis: Any, name: Any = ...) -> Tensor:
        """`x` backwards along `axis`."""
    def floor(x: Any, name: Any = ...) -> Tensor:
        """The largest integer not above each element."""
    def floor_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `floor`: writes the result into the first argument and returns it."""
    def floor_divide(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Quotient of two tensors rounded down, element by element."""
    def floor_divide_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `floor_divide`: writes the result into the first argument and returns it."""
    def floor_mod(x: Any, y: Any, name: Any = ...) -> Tensor:
        """What `floor_divide` leaves, with the sign of `y`. Arguments and errors are those of `floor_divide`."""
    def floor_mod_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `remainder`: writes the result into the first argument and returns it."""
    def fmax(x: Any, y: Any, name: Any = ...) -> Tensor:
        """The larger of two elements; the other one where one is NaN. Else as `maximum`."""
    def fmin(x: Any, y: Any, name: Any = ...) -> Tensor:
        """The smaller of two elements; the other one where one is NaN. Else as `maximum`."""
    def frac(x: Any, name: Any = ...) -> Tensor:
        """Fraction of each element, with its sign: `x - trunc(x)`."""
    def frac_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `frac`: writes the result into the first argument and returns it."""
    def gather(x: Any, index: Any, axis: Any = ..., name: Any = ...) -> Tensor:
        """Slices of `x` at the positions `index` along an axis."""
    def gather_nd(x: Any, index: Any, name: Any = ...) -> Tensor:
        """Elements (or slices) of `x` at positions given by several coordinates."""
    def gcd(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Greatest common divisor of two elements, never negative; that of 0 and 0 is 0."""
    def gcd_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `gcd`: writes the result into the first argument and returns it."""
    def geometric_(x: Any, probs: Any, name: Any = ...) -> Tensor:
        """Fill `x` with numbers of trials up to the first success of probability `probs`; returns `x`."""
    def get_strides(self) -> Any:
        """Elements from one index to the next along each axis. Source: `paddle.Tensor.get_strides`."""
    @property
    def grad(self) -> Tensor | None: ...
    @grad.setter
    def grad(self, value: Any) -> None: ...
    @property
    def grad_fn(self) -> Any: ...
    def gradient(self) -> Any:
        """The gradient as a NumPy array, or None."""
    def greater_equal(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Where an element of `x` is at least that of `y`. Arguments and errors are those of `less_than`."""
    def greater_equal_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `greater_equal`: writes the result into the first argument and returns it."""
    def greater_than(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Where an element of `x` is greater than that of `y`. Arguments and errors are those of `less_than`."""
    def greater_than_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `greater_than`: writes the result into the first argument and returns it."""
    def heaviside(x: Any, y: Any, name: Any = ...) -> Tensor:
        """The step function: 0 where `x` is negative, 1 where it is positive, `y` where it is 0."""
    def histogram(input: Any, bins: Any = ..., min: Any = ..., max: Any = ..., name: Any = ...) -> Tensor:
        """How many elements fall into each of `bins` equal parts of a range."""
    @property
    def hooks(self) -> Any: ...
    @hooks.setter
    def hooks(self, value: Any) -> None: ...
    def hypot(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Length of the hypotenuse: the root of `x * x + y * y`, without overflow on the way."""
    def hypot_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `hypot`: writes the result into the first argument and returns it."""
    def imag(x: Any, name: Any = ...) -> Tensor:
        """Imaginary part of each element; 0 for real numbers."""
    def increment(x: Any, value: Any = ..., name: Any = ...) -> Tensor:
        """Add `value` to a tensor of one element, in place; returns it."""
    def index_add(x: Any, index: Any, axis: Any, value: Any, name: Any = ...) -> Tensor:
        """`x` with slices of `value` added at the positions `index` along an axis; repeats add up."""
    def index_add_(x: Any, index: Any, axis: Any, value: Any, name: Any = ...) -> Tensor:
        """`index_add` in place."""
    def index_fill(x: Any, index: Any, axis: Any, value: Any, name: Any = ...) -> Tensor:
        """`x` with the slices at the positions `index` along an axis filled with one value."""
    def index_fill_(x: Any, index: Any, axis: Any, value: Any, name: Any = ...) -> Tensor:
        """`index_fill` in place."""
    def index_put(x: Any, indices: Any, value: Any, accumulate: Any = ..., name: Any = ...) -> Tensor:
        """`x` with `value` written (or added) at positions given by one index tensor for each of the first axes."""
    def index_put_(x: Any, indices: Any, value: Any, accumulate: Any = ..., name: Any = ...) -> Tensor:
        """`index_put` in place."""
    def index_sample(x: Any, index: Any) -> Tensor:
        """From each row of `x` the elements at the positions in the same row of `index`."""
    def index_select(x: Any, index: Any, axis: Any = ..., name: Any = ...) -> Tensor:
        """Slices of `x` at the positions `index` along an axis."""
    def inner(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Sums of products over the last axis of both."""
    @property
    def inplace_version(self) -> int: ...
    def is_complex(x: Any) -> Any:
        """Whether the dtype of `x` is complex64 or complex128."""
    def is_contiguous(self) -> Any:
        """Do the elements lie in memory in the order of their indices, without gaps?"""
    def is_dense(self) -> Any:
        """True: there are no sparse tensors. Source: `paddle.Tensor.is_dense`."""
    def is_dist(self) -> Any:
        """False: tensors live in one process. Source: `paddle.Tensor.is_dist`."""
    def is_empty(x: Any, name: Any = ...) -> Tensor:
        """Whether `x` has no elements."""
    def is_floating_point(x: Any) -> Any:
        """Whether the dtype of `x` is float16, bfloat16, float32 or float64."""
    def is_integer(x: Any) -> Any:
        """Whether the dtype of `x` is an integer one; bool is not."""
    @property
    def is_leaf(self) -> bool: ...
    def is_same_shape(self, y: Any) -> Any:
        """Whether `y` has the same shape. Source: `paddle.Tensor.is_same_shape`."""
    def is_selected_rows(self) -> Any:
        """False: there are no such tensors. Source: `paddle.Tensor.is_selected_rows`."""
    def is_sparse(self) -> Any:
        """False: there are no sparse tensors. Source: `paddle.Tensor.is_sparse`."""
    def is_sparse_coo(self) -> Any:
        """False: there are no sparse tensors. Source: `paddle.Tensor.is_sparse_coo`."""
    def is_sparse_csr(self) -> Any:
        """False: there are no sparse tensors. Source: `paddle.Tensor.is_sparse_csr`."""
    def is_tensor(x: Any) -> Any:
        """Whether `x` is a Tensor."""
    def isclose(x: Any, y: Any, rtol: Any = ..., atol: Any = ..., equal_nan: Any = ..., name: Any = ...) -> Tensor:
        """Where `|x - y| <= atol + rtol * |y|`."""
    def isfinite(x: Any, name: Any = ...) -> Tensor:
        """Where an element is neither NaN nor infinite."""
    def isinf(x: Any, name: Any = ...) -> Tensor:
        """Where an element is infinity or minus infinity."""
    def isnan(x: Any, name: Any = ...) -> Tensor:
        """Where an element is NaN."""
    def item(self, *index: Any) -> Any:
        """One element as a Python number; without an index the tensor must have just one."""
    @property
    def itemsize(self) -> int: ...
    def kron(x: Any, y: Any, name: Any = ...) -> Tensor:
        """The Kronecker product: a block `x[i, j] * y` for each element of `x`."""
    def kthvalue(x: Any, k: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Any:
        """The `k`-th smallest value along an axis, and where it is."""
    @property
    def layout(self) -> str: ...
    def lcm(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Least common multiple of two elements, never negative; 0 where one is 0. Arguments are those of `gcd`."""
    def lcm_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `lcm`: writes the result into the first argument and returns it."""
    def ldexp(x: Any, y: Any, name: Any = ...) -> Tensor:
        """`x * 2 ** y`, element by element."""
    def ldexp_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `ldexp`: writes the result into the first argument and returns it."""
    def lerp(x: Any, y: Any, weight: Any, name: Any = ...) -> Tensor:
        """Linear interpolation `x + weight * (y - x)`."""
    def lerp_(x: Any, y: Any, weight: Any, name: Any = ...) -> Tensor:
        """In-place form of `lerp`: writes the result into the first argument and returns it."""
    def less_equal(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Where an element of `x` is at most that of `y`. Arguments and errors are those of `less_than`."""
    def less_equal_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `less_equal`: writes the result into the first argument and returns it."""
    def less_than(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Where an element of `x` is less than that of `y`."""
    def less_than_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `less_than`: writes the result into the first argument and returns it."""
    def lgamma(x: Any, name: Any = ...) -> Tensor:
        """Logarithm of the absolute value of the gamma function."""
    def lgamma_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `lgamma`: writes the result into the first argument and returns it."""
    def log(x: Any, name: Any = ...) -> Tensor:
        """Natural logarithm of each element; -inf at 0, NaN below."""
    def log10(x: Any, name: Any = ...) -> Tensor:
        """Logarithm to base 10 of each element; -inf at 0, NaN below."""
    def log10_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `log10`: writes the result into the first argument and returns it."""
    def log1p(x: Any, name: Any = ...) -> Tensor:
        """Natural logarithm of 1 plus each element, precise near 0."""
    def log1p_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `log1p`: writes the result into the first argument and returns it."""
    def log2(x: Any, name: Any = ...) -> Tensor:
        """Logarithm to base 2 of each element; -inf at 0, NaN below."""
    def log2_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `log2`: writes the result into the first argument and returns it."""
    def log_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `log`: writes the result into the first argument and returns it."""
    def logaddexp(x: Any, y: Any, name: Any = ...) -> Tensor:
        """log(exp(x) + exp(y)), without overflow on the way."""
    def logcumsumexp(x: Any, axis: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
        """Logarithms of running sums of exponentials along `axis`, safe from overflow."""
    def logical_and(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """Where both elements are True."""
    def logical_and_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `logical_and`: writes the result into the first argument and returns it."""
    def logical_not(x: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """Where an element is False (0)."""
    def logical_not_(x: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `logical_not`: writes the result into the first argument and returns it."""
    def logical_or(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """Where one element or both are True. Arguments and errors are those of `logical_and`."""
    def logical_or_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `logical_or`: writes the result into the first argument and returns it."""
    def logical_xor(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """Where exactly one element is True. Arguments and errors are those of `logical_and`."""
    def logical_xor_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `logical_xor`: writes the result into the first argument and returns it."""
    def logit(x: Any, eps: Any = ..., name: Any = ...) -> Tensor:
        """log(x / (1 - x)) of each element: the inverse of `sigmoid`."""
    def logit_(x: Any, eps: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `logit`: writes the result into the first argument and returns it."""
    def logsumexp(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Logarithm of the sum of exponentials of `x` along `axis`, safe from overflow."""
    def masked_fill(x: Any, mask: Any, value: Any, name: Any = ...) -> Tensor:
        """`x` with one value where `mask` is true."""
    def masked_fill_(x: Any, mask: Any, value: Any, name: Any = ...) -> Tensor:
        """`masked_fill` in place; `mask` broadcasts to the shape of `x`."""
    def masked_select(x: Any, mask: Any, name: Any = ...) -> Tensor:
        """The elements of `x` where `mask` is true, in the order of rows."""
    def matmul(x: Any, y: Any, transpose_x: Any = ..., transpose_y: Any = ..., name: Any = ...) -> Tensor:
        """The matrix product, over any number of matrices at once."""
    def max(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Largest element along `axis`; NaN is larger than anything."""
    def maximum(x: Any, y: Any, name: Any = ...) -> Tensor:
        """The larger of two elements; NaN where one is NaN."""
    def mean(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Arithmetic mean of elements along `axis`."""
    def median(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Median of elements along `axis`: the middle one, or the mean of the two in the middle."""
    def min(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Smallest element along `axis`; NaN is smaller than anything. Arguments and errors are those of `max`."""
    def minimum(x: Any, y: Any, name: Any = ...) -> Tensor:
        """The smaller of two elements; NaN where one is NaN. Arguments and errors are those of `maximum`."""
    def mm(input: Any, mat2: Any, name: Any = ...) -> Tensor:
        """The matrix product of `input` and `mat2`, as `matmul` without its flags."""
    def mod(x: Any, y: Any, name: Any = ...) -> Tensor:
        """What `floor_divide` leaves, with the sign of `y`. Arguments and errors are those of `floor_divide`."""
    def mod_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `remainder`: writes the result into the first argument and returns it."""
    def mode(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Any:
        """The commonest value along an axis, and its last position; of several the smallest."""
    def moveaxis(x: Any, source: Any, destination: Any, name: Any = ...) -> Tensor:
        """`x` with some axes moved to other places; the rest keep their order."""
    def multi_dot(x: Any, name: Any = ...) -> Tensor:
        """The product of several matrices, in the order of multiplications that costs least."""
    def multigammaln(x: Any, p: Any, name: Any = ...) -> Tensor:
        """Logarithm of the multivariate gamma function of dimension `p`."""
    def multigammaln_(x: Any, p: Any, name: Any = ...) -> Tensor:
        """In-place form of `multigammaln`: writes the result into the first argument and returns it."""
    def multinomial(x: Any, num_samples: Any = ..., replacement: Any = ..., name: Any = ...) -> Tensor:
        """Random positions, drawn with the weights of each row."""
    def multiplex(inputs: Any, index: Any, name: Any = ...) -> Tensor:
        """Row i of the result is row i of the input that `index[i]` names."""
    def multiply(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Product of two tensors, element by element. Arguments and errors are those of `add`."""
    def multiply_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `multiply`: writes the result into the first argument and returns it."""
    def mv(x: Any, vec: Any, name: Any = ...) -> Tensor:
        """The product of a matrix `[m, n]` and a vector `[n]`."""
    @property
    def name(self) -> str: ...
    @name.setter
    def name(self, value: Any) -> None: ...
    def nan_to_num(x: Any, nan: Any = ..., posinf: Any = ..., neginf: Any = ..., name: Any = ...) -> Tensor:
        """Numbers in place of NaN and infinity."""
    def nan_to_num_(x: Any, nan: Any = ..., posinf: Any = ..., neginf: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `nan_to_num`: writes the result into the first argument and returns it."""
    def nanmean(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Mean of elements along `axis` that are not NaN; NaN where all are."""
    def nanmedian(x: Any, axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Median of elements along `axis` that are not NaN."""
    def nanquantile(x: Any, q: Any, axis: Any = ..., keepdim: Any = ...) -> Tensor:
        """As `quantile`, of the elements that are not NaN; NaN where all are."""
    def nansum(x: Any, axis: Any = ..., dtype: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Sum of elements along `axis`, NaN counted as 0. Arguments and errors are those of `sum`."""
    @property
    def nbytes(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    def ndimension(self) -> Any:
        """Number of axes. Source: `paddle.Tensor.ndimension`."""
    def neg(x: Any, name: Any = ...) -> Tensor:
        """Each element with the other sign."""
    def neg_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `neg`: writes the result into the first argument and returns it."""
    @property
    def node(self) -> Any: ...
    @node.setter
    def node(self, value: Any) -> None: ...
    def nonzero(x: Any, as_tuple: Any = ...) -> Any:
        """Where `x` is not zero (or false)."""
    def norm(x: Any, p: Any = ..., axis: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """The length of vectors, in several senses."""
    def normal_(x: Any, mean: Any = ..., std: Any = ..., name: Any = ...) -> Tensor:
        """Fill `x` with normally distributed random numbers; returns `x`."""
    def not_equal(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Where two elements differ. Arguments and errors are those of `less_than`."""
    def not_equal_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `not_equal`: writes the result into the first argument and returns it."""
    def numel(x: Any, name: Any = ...) -> Tensor:
        """The number of elements as a tensor: int64, 0-d. `x.size` gives it as an int."""
    def numpy(self) -> Any:
        """A NumPy array with a copy of the values; bfloat16 comes as its bits in uint16, as in Paddle."""
    def one_hot(x: Any, num_classes: Any, name: Any = ...) -> Tensor:
        """For each label a vector with 1 at its place and 0 elsewhere."""
    def outer(x: Any, y: Any, name: Any = ...) -> Tensor:
        """All products of an element of `x` and one of `y`, both flattened: `[m]` and `[n]` give `[m, n]`."""
    def pad(x: Any, pad: Any, mode: Any = ..., value: Any = ..., data_format: Any = ..., name: Any = ...) -> Tensor:
        """`x` with more elements before and behind those it has."""
    @property
    def persistable(self) -> bool: ...
    @persistable.setter
    def persistable(self, value: Any) -> None: ...
    def pin_memory(self, blocking: Any = ...) -> Tensor:
        """A copy in pinned memory. Raises ValueError without a GPU. Source: `paddle.Tensor.pin_memory`."""
    @property
    def place(self) -> Any: ...
    def polar(abs: Any, angle: Any, name: Any = ...) -> Tensor:
        """Complex numbers from absolute values and angles (radians), which broadcast together."""
    def pow(x: Any, y: Any, name: Any = ...) -> Tensor:
        """`x` to the power of `y`, element by element."""
    def pow_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `pow`: writes the result into the first argument and returns it."""
    def prod(x: Any, axis: Any = ..., keepdim: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
        """Product of elements along `axis`."""
    def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any, reduce: Any = ..., include_self: Any = ..., broadcast: Any = ...) -> Tensor:
        """`arr` with `values` put where `take_along_axis` would read."""
    def put_along_axis_(arr: Any, indices: Any, values: Any, axis: Any, reduce: Any = ..., include_self: Any = ..., broadcast: Any = ...) -> Tensor:
        """`put_along_axis` in place."""
    def quantile(x: Any, q: Any, axis: Any = ..., keepdim: Any = ...) -> Tensor:
        """Values below which the parts `q` of the elements along `axis` lie, interpolated linearly."""
    def rad2deg(x: Any, name: Any = ...) -> Tensor:
        """Radians to degrees."""
    def rank(input: Any) -> Tensor:
        """The number of axes as a tensor: int32, 0-d. `input.ndim` gives it as an int."""
    def real(x: Any, name: Any = ...) -> Tensor:
        """Real part of each element; real numbers are their own."""
    def reciprocal(x: Any, name: Any = ...) -> Tensor:
        """1 divided by each element."""
    def reciprocal_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `reciprocal`: writes the result into the first argument and returns it."""
    def register_hook(self, hook: Any) -> Any:
        """Call `hook` with the gradient of this tensor whenever a backward pass has completed it."""
    def remainder(x: Any, y: Any, name: Any = ...) -> Tensor:
        """What `floor_divide` leaves, with the sign of `y`. Arguments and errors are those of `floor_divide`."""
    def remainder_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `remainder`: writes the result into the first argument and returns it."""
    def repeat_interleave(x: Any, repeats: Any, axis: Any = ..., name: Any = ...) -> Tensor:
        """Each element (or slice along `axis`) several times in succession."""
    def reshape(x: Any, shape: Any, name: Any = ...) -> Tensor:
        """The elements of `x`, row by row, in another shape."""
    def reshape_(x: Any, shape: Any, name: Any = ...) -> Tensor:
        """`reshape` in place: `x` itself gets the new shape."""
    def retain_grads(self) -> Any:
        """Keep the gradient of this tensor in `.grad` although it is not a leaf."""
    def reverse(x: Any, axis: Any, name: Any = ...) -> Tensor:
        """`flip` under its older name."""
    def roll(x: Any, shifts: Any, axis: Any = ..., name: Any = ...) -> Tensor:
        """`x` with its elements moved on along `axis`; those that leave at the end enter at the start."""
    def rot90(x: Any, k: Any = ..., axes: Any = ..., name: Any = ...) -> Tensor:
        """`x` turned by `k` times 90 degrees in the plane of two axes, from the first towards the second."""
    def round(x: Any, name: Any = ...) -> Tensor:
        """Nearest integer of each element; halves go away from 0."""
    def round_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `round`: writes the result into the first argument and returns it."""
    def rsqrt(x: Any, name: Any = ...) -> Tensor:
        """1 divided by the square root of each element."""
    def rsqrt_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `rsqrt`: writes the result into the first argument and returns it."""
    def scale(x: Any, scale: Any = ..., bias: Any = ..., bias_after_scale: Any = ..., act: Any = ..., name: Any = ...) -> Tensor:
        """`scale * x + bias`, or `scale * (x + bias)`."""
    def scale_(x: Any, scale: Any = ..., bias: Any = ..., bias_after_scale: Any = ..., act: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `scale`: writes the result into the first argument and returns it."""
    def scatter(x: Any, index: Any, updates: Any, overwrite: Any = ..., name: Any = ...) -> Tensor:
        """`x` with some of its rows replaced."""
    def scatter_(x: Any, index: Any, updates: Any, overwrite: Any = ..., name: Any = ...) -> Tensor:
        """`scatter` in place."""
    def scatter_nd(index: Any, updates: Any, shape: Any, name: Any = ...) -> Tensor:
        """Zeros of `shape` with `updates` added at positions given by several coordinates."""
    def scatter_nd_add(x: Any, index: Any, updates: Any, name: Any = ...) -> Tensor:
        """`x` with `updates` added at positions given by several coordinates; repeats add up."""
    def searchsorted(sorted_sequence: Any, values: Any, out_int32: Any = ..., right: Any = ..., name: Any = ...) -> Tensor:
        """Where each value would have to be inserted to keep a sequence sorted."""
    def select_scatter(x: Any, values: Any, axis: Any, index: Any, name: Any = ...) -> Tensor:
        """`x` with the slice at `index` along an axis replaced."""
    def set_value(self, value: Any) -> Any:
        """Overwrite the values, without any record for gradients."""
    def sgn(x: Any, name: Any = ...) -> Tensor:
        """`x / |x|`, and 0 where `x` is 0: the sign of real numbers, the direction of complex ones."""
    @property
    def shape(self) -> list[int]: ...
    def shard_index(input: Any, index_num: Any, nshards: Any, shard_id: Any, ignore_value: Any = ...) -> Tensor:
        """Indices of a table that is spread over shards, as they are called in one shard."""
    def sigmoid(x: Any, name: Any = ...) -> Tensor:
        """1 / (1 + exp(-x)) of each element."""
    def sigmoid_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `sigmoid`: writes the result into the first argument and returns it."""
    def sign(x: Any, name: Any = ...) -> Tensor:
        """-1, 0 or 1: the sign of each element; NaN stays NaN."""
    def sin(x: Any, name: Any = ...) -> Tensor:
        """Sine of each element, given in radians."""
    def sin_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `sin`: writes the result into the first argument and returns it."""
    def sinh(x: Any, name: Any = ...) -> Tensor:
        """Hyperbolic sine of each element."""
    def sinh_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `sinh`: writes the result into the first argument and returns it."""
    @property
    def size(self) -> int: ...
    def slice(input: Any, axes: Any, starts: Any, ends: Any) -> Tensor:
        """A range of some axes, by Python's rules for bounds."""
    def sort(x: Any, axis: Any = ..., descending: Any = ..., name: Any = ...) -> Tensor:
        """`x` in order along an axis."""
    def split(x: Any, num_or_sections: Any, axis: Any = ..., name: Any = ...) -> Any:
        """`x` cut into parts along an axis."""
    def sqrt(x: Any, name: Any = ...) -> Tensor:
        """Square root of each element; NaN below 0."""
    def sqrt_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `sqrt`: writes the result into the first argument and returns it."""
    def square(x: Any, name: Any = ...) -> Tensor:
        """Each element times itself."""
    def square_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `square`: writes the result into the first argument and returns it."""
    def squeeze(x: Any, axis: Any = ..., name: Any = ...) -> Tensor:
        """`x` without axes of size 1."""
    def squeeze_(x: Any, axis: Any = ..., name: Any = ...) -> Tensor:
        """`squeeze` in place: `x` itself loses the axes."""
    def stack(x: Any, axis: Any = ..., name: Any = ...) -> Tensor:
        """Tensors of one shape side by side along a new axis."""
    def stanh(x: Any, scale_a: Any = ..., scale_b: Any = ..., name: Any = ...) -> Tensor:
        """Scaled hyperbolic tangent: `scale_b * tanh(scale_a * x)`."""
    def std(x: Any, axis: Any = ..., unbiased: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Standard deviation of elements along `axis`: the root of `var`, whose arguments and errors it has."""
    @property
    def stop_gradient(self) -> bool: ...
    @stop_gradient.setter
    def stop_gradient(self, value: Any) -> None: ...
    def strided_slice(x: Any, axes: Any, starts: Any, ends: Any, strides: Any, name: Any = ...) -> Tensor:
        """`slice` with a step for each axis, which may be negative."""
    @property
    def strides(self) -> list[int]: ...
    def subtract(x: Any, y: Any, name: Any = ...) -> Tensor:
        """Difference of two tensors, element by element. Arguments and errors are those of `add`."""
    def subtract_(x: Any, y: Any, name: Any = ...) -> Tensor:
        """In-place form of `subtract`: writes the result into the first argument and returns it."""
    def sum(x: Any, axis: Any = ..., dtype: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Sum of elements along `axis`."""
    def t(input: Any, name: Any = ...) -> Tensor:
        """A matrix transposed; a vector or number as it is."""
    def t_(input: Any, name: Any = ...) -> Tensor:
        """`t` in place: `input` itself is transposed."""
    def take(x: Any, index: Any, mode: Any = ..., name: Any = ...) -> Tensor:
        """Elements of the flattened `x`."""
    def take_along_axis(arr: Any, indices: Any, axis: Any, broadcast: Any = ...) -> Tensor:
        """For each place in `indices`, the element of `arr` at the same place but, along `axis`, at the position it holds."""
    def tan(x: Any, name: Any = ...) -> Tensor:
        """Tangent of each element, given in radians."""
    def tan_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `tan`: writes the result into the first argument and returns it."""
    def tanh(x: Any, name: Any = ...) -> Tensor:
        """Hyperbolic tangent of each element."""
    def tanh_(x: Any, name: Any = ...) -> Tensor:
        """In-place form of `tanh`: writes the result into the first argument and returns it."""
    def tensordot(x: Any, y: Any, axes: Any = ..., name: Any = ...) -> Tensor:
        """Sums of products over pairs of axes."""
    def tile(x: Any, repeat_times: Any, name: Any = ...) -> Tensor:
        """`x` laid out several times along its axes."""
    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """The tensor on a device and in a dtype."""
    def tolist(self) -> Any:
        """The elements as nested Python lists; a number for a 0-d tensor."""
    def topk(x: Any, k: Any, axis: Any = ..., largest: Any = ..., sorted: Any = ..., name: Any = ...) -> Any:
        """The `k` largest (or smallest) values along an axis, and where they are."""
    def trace(x: Any, offset: Any = ..., axis1: Any = ..., axis2: Any = ..., name: Any = ...) -> Tensor:
        """The sum of a diagonal of each matrix that two axes of `x` form."""
    def transpose(x: Any, perm: Any, name: Any = ...) -> Tensor:
        """`x` with its axes in another order."""
    def transpose_(x: Any, perm: Any, name: Any = ...) -> Tensor:
        """`transpose` in place: `x` itself gets the new order of axes."""
    def tril(x: Any, diagonal: Any = ..., name: Any = ...) -> Tensor:
        """The lower triangle of matrices: what lies above the diagonal becomes 0."""
    def tril_(x: Any, diagonal: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `tril`: writes the result into the first argument and returns it."""
    def triu(x: Any, diagonal: Any = ..., name: Any = ...) -> Tensor:
        """The upper triangle of matrices: what lies below the diagonal becomes 0."""
    def triu_(x: Any, diagonal: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `triu`: writes the result into the first argument and returns it."""
    def trunc(input: Any, name: Any = ...) -> Tensor:
        """Each element without its fraction: rounded toward 0."""
    def trunc_(input: Any, name: Any = ...) -> Tensor:
        """In-place form of `trunc`: writes the result into the first argument and returns it."""
    @property
    def type(self) -> Any: ...
    def unbind(input: Any, axis: Any = ...) -> Any:
        """The slices of `input` along an axis, each without it."""
    def unflatten(x: Any, axis: Any, shape: Any, name: Any = ...) -> Tensor:
        """`x` with one axis cut into several."""
    def unfold(x: Any, axis: Any, size: Any, step: Any, name: Any = ...) -> Tensor:
        """Windows of `size` elements along an axis, one every `step` elements, as a new last axis."""
    def uniform_(x: Any, min: Any = ..., max: Any = ..., seed: Any = ..., name: Any = ...) -> Tensor:
        """Fill `x` with random numbers in `[min, max)`; returns `x`."""
    def unique(x: Any, return_index: Any = ..., return_inverse: Any = ..., return_counts: Any = ..., axis: Any = ..., dtype: Any = ..., name: Any = ...) -> Any:
        """The different values of `x`, sorted."""
    def unique_consecutive(x: Any, return_inverse: Any = ..., return_counts: Any = ..., axis: Any = ..., dtype: Any = ..., name: Any = ...) -> Any:
        """`x` with runs of equal values reduced to one; arguments and results as for `unique`."""
    def unsqueeze(x: Any, axis: Any, name: Any = ...) -> Tensor:
        """`x` with new axes of size 1."""
    def unsqueeze_(x: Any, axis: Any, name: Any = ...) -> Tensor:
        """`unsqueeze` in place: `x` itself gets the axes."""
    def unstack(x: Any, axis: Any = ..., num: Any = ...) -> Any:
        """`unbind` into copies."""
    def value(self) -> Tensor:
        """The tensor itself. Source: `paddle.Tensor.value`."""
    def var(x: Any, axis: Any = ..., unbiased: Any = ..., keepdim: Any = ..., name: Any = ...) -> Tensor:
        """Variance of elements along `axis`."""
    def view(x: Any, shape_or_dtype: Any, name: Any = ...) -> Tensor:
        """`x` with another shape, or its bytes as another dtype, always on the memory of `x`."""
    def view_as(x: Any, other: Any, name: Any = ...) -> Tensor:
        """`x` with the shape of `other`, on the memory of `x`."""
    def vsplit(x: Any, num_or_sections: Any, name: Any = ...) -> Any:
        """`x`, of rank 2 or more, cut into parts along its first axis."""
    def where(condition: Any, x: Any = ..., y: Any = ..., name: Any = ...) -> Any:
        """Elements of `x` where `condition` is True, of `y` elsewhere."""
    def where_(condition: Any, x: Any = ..., y: Any = ..., name: Any = ...) -> Tensor:
        """In-place form of `where`: writes the result into `x` and returns it."""
    def zero_(x: Any) -> Tensor:
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
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> int: ...
    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...  # attributes that programs set, and methods of upper packages

def add_methods(methods: Any) -> Any:
    """Give Tensor more methods and properties: {name: function or property}."""
def alias(x: Any) -> Any:
    """Another tensor on the same memory, without gradient history."""
def clear_gradients(tensors: Any, set_to_zero: Any = ...) -> Any:
    """Let the gradients of all these tensors be zeros again, or None. Where there is none, nothing happens."""
def dtype_of_name(name: Any) -> Any:
    """The DType called `name`, as in "float32"."""
def from_buffer(data: Any, dtype: Any = ...) -> Any:
    """A tensor with a copy of anything that has the buffer protocol (arrays, bytes, memoryviews)."""
def from_values(values: Any, shape: Any, dtype: Any) -> Any:
    """A tensor of `shape` from a flat sequence of Python numbers, row by row."""
def get_default_generator() -> Any:
    """The generator that random ops draw from."""
def get_num_threads() -> Any:
    """How many threads a kernel may use."""
def is_grad_enabled() -> Any:
    """Are ops of this thread recorded for gradients?"""
def is_symbolic(x: Any) -> Any:
    """Is `x` a tensor of a captured program, without data?"""
def memory_stats() -> Any:
    """Bytes: allocated, peak_allocated (held by tensors), reserved, peak_reserved (with the cache)."""
def op_of_name(name: Any) -> Any:
    """The op called `name`."""
def pop_layer(layer: Any, position: Any = ...) -> Any:
    """Remove the topmost layer, which must be `layer`."""
def push_layer(layer: Any, position: Any = ...) -> Any:
    """Install a layer for the calling thread."""
def rebind(x: Any, y: Any) -> Any:
    """Make `x` what `y` is: memory, shape, dtype and gradient history. Its name stays; its version goes up."""
def reinterpreted(x: Any, dtype: Any) -> Any:
    """The same bytes as elements of another dtype, without gradient history; the last axis grows or shrinks."""
def release_memory_cache() -> Any:
    """Give the memory that the allocator keeps for reuse back to the system."""
def reset_peak_memory_stats() -> Any:
    """Let the peaks start again from what is in use now."""
def scalar(value: Any, dtype: Any) -> Any:
    """A 0-d tensor."""
def set_default_generator(generator: Any) -> Any:
    """Make random ops draw from `generator`; returns the one before."""
def set_fallback(name: Any, function: Any) -> Any:
    """Tell the core which Python function answers what it does not answer itself."""
def set_grad_mode(enabled: Any) -> Any:
    """Switch recording for this thread; returns what it was."""
def set_memory_cache_limit(nbytes: Any) -> Any:
    """How many bytes of freed memory the allocator keeps at most."""
def set_num_threads(count: Any) -> Any:
    """Set how many threads a kernel may use, at least 1. Results do not depend on it."""
def share_buffer(data: Any) -> Any:
    """A tensor on the very memory of `data`, which must be writable; it lives as long as the tensor."""
def start() -> Any:
    """Called by the package once the vocabulary is declared."""
def strided(x: Any, shape: Any, strides: Any, offset: Any) -> Any:
    """A view of the elements at `offset + sum(index * strides)` from the first element of `x`, without gradient history."""
def symbolic(shape: Any, dtype: Any) -> Any:
    """A tensor with a shape (-1: unknown) and a dtype but no data, for capture layers."""
def take_dlpack(capsule: Any) -> Any:
    """A tensor on the memory of a DLPack capsule; the capsule is used up."""
def to_dlpack(x: Any, versioned: Any = ..., copied: Any = ...) -> Any:
    """A capsule with the memory of `x`, which lives until the taker lets go of it."""
def uninitialized(shape: Any, dtype: Any) -> Any:
    """A tensor whose values are whatever the memory held."""
