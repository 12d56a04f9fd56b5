"""Stub of wherry_tensor, written by tools/stubs.py: where each public name comes from."""
from collections.abc import Sequence
from typing import Any
from typing import overload
from wherry_tensor.arguments import Axes
from wherry_tensor.arguments import Shape
import builtins
from wherry_tensor import device as device
from wherry_tensor import errors as errors
from wherry_tensor import ops as ops
from wherry_tensor._core import DType as DType
from wherry_tensor._core import DType as _DType
from wherry_tensor._core import Generator as Generator
from wherry_tensor._core import Tensor as Tensor
from wherry_tensor._core import bfloat16 as bfloat16
from wherry_tensor._core import bool_ as _bool_
from wherry_tensor._core import complex128 as complex128
from wherry_tensor._core import complex64 as complex64
from wherry_tensor._core import float16 as float16
from wherry_tensor._core import float32 as float32
from wherry_tensor._core import float64 as float64
from wherry_tensor._core import get_num_threads as get_num_threads
from wherry_tensor._core import int16 as int16
from wherry_tensor._core import int32 as int32
from wherry_tensor._core import int64 as int64
from wherry_tensor._core import int8 as int8
from wherry_tensor._core import set_num_threads as set_num_threads
from wherry_tensor._core import uint8 as uint8
from wherry_tensor.device import CPUPlace as CPUPlace
from wherry_tensor.device import CUDAPinnedPlace as CUDAPinnedPlace
from wherry_tensor.device import CUDAPlace as CUDAPlace
from wherry_tensor.device import CustomPlace as CustomPlace
from wherry_tensor.device import IPUPlace as IPUPlace
from wherry_tensor.device import NPUPlace as NPUPlace
from wherry_tensor.device import XPUPlace as XPUPlace
from wherry_tensor.device import get_cudnn_version as get_cudnn_version
from wherry_tensor.device import get_device as get_device
from wherry_tensor.device import is_compiled_with_cinn as is_compiled_with_cinn
from wherry_tensor.device import is_compiled_with_cuda as is_compiled_with_cuda
from wherry_tensor.device import is_compiled_with_custom_device as is_compiled_with_custom_device
from wherry_tensor.device import is_compiled_with_distribute as is_compiled_with_distribute
from wherry_tensor.device import is_compiled_with_ipu as is_compiled_with_ipu
from wherry_tensor.device import is_compiled_with_npu as is_compiled_with_npu
from wherry_tensor.device import is_compiled_with_rocm as is_compiled_with_rocm
from wherry_tensor.device import is_compiled_with_xpu as is_compiled_with_xpu
from wherry_tensor.device import set_device as set_device
from wherry_tensor.dtype import finfo as finfo
from wherry_tensor.dtype import get_default_dtype as get_default_dtype
from wherry_tensor.dtype import iinfo as iinfo
from wherry_tensor.dtype import is_complex as is_complex
from wherry_tensor.dtype import is_floating_point as is_floating_point
from wherry_tensor.dtype import is_integer as is_integer
from wherry_tensor.dtype import set_default_dtype as set_default_dtype
from wherry_tensor.flags import get_flags as get_flags
from wherry_tensor.flags import set_flags as set_flags
from wherry_tensor.functions.conversions import BFloat16Tensor as BFloat16Tensor
from wherry_tensor.functions.conversions import BoolTensor as BoolTensor
from wherry_tensor.functions.conversions import ByteTensor as ByteTensor
from wherry_tensor.functions.conversions import CharTensor as CharTensor
from wherry_tensor.functions.conversions import DoubleTensor as DoubleTensor
from wherry_tensor.functions.conversions import FloatTensor as FloatTensor
from wherry_tensor.functions.conversions import HalfTensor as HalfTensor
from wherry_tensor.functions.conversions import IntTensor as IntTensor
from wherry_tensor.functions.conversions import LongTensor as LongTensor
from wherry_tensor.functions.conversions import ShortTensor as ShortTensor
from wherry_tensor.functions.conversions import as_tensor as as_tensor
from wherry_tensor.functions.conversions import asarray as asarray
from wherry_tensor.functions.conversions import e as e
from wherry_tensor.functions.conversions import from_dlpack as from_dlpack
from wherry_tensor.functions.conversions import from_numpy as from_numpy
from wherry_tensor.functions.conversions import inf as inf
from wherry_tensor.functions.conversions import nan as nan
from wherry_tensor.functions.conversions import pi as pi
from wherry_tensor.functions.creation import diag_embed as diag_embed
from wherry_tensor.functions.creation import meshgrid as meshgrid
from wherry_tensor.functions.creation import tril_indices as tril_indices
from wherry_tensor.functions.creation import triu_indices as triu_indices
from wherry_tensor.functions.draws import binomial as binomial
from wherry_tensor.functions.einsum import einsum as einsum
from wherry_tensor.functions.elementary import bitwise_left_shift_ as bitwise_left_shift_
from wherry_tensor.functions.elementary import bitwise_right_shift_ as bitwise_right_shift_
from wherry_tensor.functions.elementary import copysign_ as copysign_
from wherry_tensor.functions.elementary import gammainc_ as gammainc_
from wherry_tensor.functions.elementary import gammaincc_ as gammaincc_
from wherry_tensor.functions.elementary import sinc_ as sinc_
from wherry_tensor.functions.inplace import trunc_ as trunc_
from wherry_tensor.functions.joining import block_diag as block_diag
from wherry_tensor.functions.joining import broadcast_shapes as broadcast_shapes
from wherry_tensor.functions.joining import narrow as narrow
from wherry_tensor.functions.joining import ravel as ravel
from wherry_tensor.functions.movement import atleast_1d as atleast_1d
from wherry_tensor.functions.movement import atleast_2d as atleast_2d
from wherry_tensor.functions.movement import atleast_3d as atleast_3d
from wherry_tensor.functions.movement import broadcast_shape as broadcast_shape
from wherry_tensor.functions.movement import broadcast_tensors as broadcast_tensors
from wherry_tensor.functions.movement import rank as rank
from wherry_tensor.functions.movement import shape as shape
from wherry_tensor.functions.movement import t as t
from wherry_tensor.functions.movement import t_ as t_
from wherry_tensor.functions.positions import multiplex as multiplex
from wherry_tensor.functions.positions import shard_index as shard_index
from wherry_tensor.functions.products import baddbmm_ as baddbmm_
from wherry_tensor.functions.random import get_cuda_rng_state as get_cuda_rng_state
from wherry_tensor.functions.random import get_rng_state as get_rng_state
from wherry_tensor.functions.random import seed as _seed
from wherry_tensor.functions.random import seed as seed
from wherry_tensor.functions.random import set_cuda_rng_state as set_cuda_rng_state
from wherry_tensor.functions.random import set_rng_state as set_rng_state
from wherry_tensor.functions.reduction import add_n as add_n
from wherry_tensor.functions.scattering import masked_scatter_ as masked_scatter_
from wherry_tensor.functions.scattering import scatter_add as scatter_add
from wherry_tensor.functions.scattering import scatter_add_ as scatter_add_
from wherry_tensor.functions.scattering import scatter_reduce as scatter_reduce
from wherry_tensor.printing import set_printoptions as set_printoptions
@overload
def abs(x: Tensor, name: str | None = ...) -> Tensor:
    """Absolute value of each element; the modulus of complex numbers."""
@overload
def abs(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def abs_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `abs`: writes the result into the first argument and returns it."""
@overload
def abs_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def acos(x: Tensor, name: str | None = ...) -> Tensor:
    """Inverse cosine of each element, in radians; NaN outside [-1, 1]."""
@overload
def acos(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def acos_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `acos`: writes the result into the first argument and returns it."""
@overload
def acos_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def acosh(x: Tensor, name: str | None = ...) -> Tensor:
    """Inverse hyperbolic cosine of each element; NaN below 1."""
@overload
def acosh(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def acosh_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `acosh`: writes the result into the first argument and returns it."""
@overload
def acosh_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def add(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Sum of two tensors, element by element."""
@overload
def add(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ..., alpha: Any = ...) -> Tensor: ...
@overload
def add_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `add`: writes the result into the first argument and returns it."""
@overload
def add_(input: Any, other: Any, name: Any = ..., *, alpha: Any = ...) -> Tensor: ...
@overload
def addmm(input: Tensor, x: Tensor, y: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ...) -> Tensor:
    """`beta * input + alpha * (x @ y)`."""
@overload
def addmm(input: Tensor, elements: Tensor, other: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ...) -> Tensor: ...
@overload
def addmm_(input: Tensor, x: Tensor, y: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ...) -> Tensor:
    """`addmm` that writes into `input`."""
@overload
def addmm_(input: Tensor, elements: Tensor, other: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ...) -> Tensor: ...
@overload
def all(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Whether all elements along `axis` are True (not 0)."""
@overload
def all(input: Tensor, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
@overload
def allclose(x: Tensor, y: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Whether all elements are close. Arguments are those of `isclose`."""
@overload
def allclose(input: Tensor, other: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def amax(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Largest element along `axis`. Tied maxima share the gradient; else as `max`."""
@overload
def amax(input: Tensor, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
@overload
def amin(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Smallest element along `axis`. Tied minima share the gradient; else as `min`."""
@overload
def amin(input: Tensor, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
@overload
def angle(x: Tensor, name: str | None = ...) -> Tensor:
    """Angle of each element in the complex plane, in radians: pi for negative real numbers."""
@overload
def angle(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def any(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Whether an element along `axis` is True (not 0). Arguments are those of `all`."""
@overload
def any(input: Tensor, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
@overload
def arange(start: Any = ..., end: Any = ..., step: Any = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Numbers from `start` up to but without `end`, `step` apart."""
@overload
def arange(start: Any = ..., end: Any = ..., step: Any = ..., dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def argmax(x: Tensor, axis: Any = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Position of the largest element along `axis`, the first where several are as large."""
@overload
def argmax(input: Tensor, dim: Any = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ...) -> Tensor: ...
@overload
def argmin(x: Tensor, axis: Any = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Position of the smallest element along `axis`. Arguments are those of `argmax`."""
@overload
def argmin(input: Tensor, dim: Any = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ...) -> Tensor: ...
@overload
def argsort(x: Tensor, axis: builtins.int = ..., descending: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """The positions (int64) that put `x` in order along an axis; arguments as for `sort`."""
@overload
def argsort(input: Tensor, dim: builtins.int = ..., descending: builtins.bool = ..., name: str | None = ..., *, axis: builtins.int = ..., stable: Any = ...) -> Tensor: ...
@overload
def argwhere(x: Tensor, as_tuple: builtins.bool = ...) -> Any:
    """Where `x` is not zero (or false)."""
@overload
def argwhere(input: Tensor, as_tuple: builtins.bool = ..., *, out: Any = ...) -> Any: ...
@overload
def as_complex(x: Tensor, name: str | None = ...) -> Tensor:
    """Pairs of real numbers as complex ones."""
@overload
def as_complex(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def as_real(x: Tensor, name: str | None = ...) -> Tensor:
    """Complex numbers as pairs of real ones, in a new last axis of size 2; a view."""
@overload
def as_real(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def as_strided(x: Tensor, shape: Sequence[builtins.int], stride: Sequence[builtins.int], offset: builtins.int = ..., name: str | None = ...) -> Tensor:
    """A view of the memory of `x` with any shape, strides and offset."""
@overload
def as_strided(input: Tensor, size: Sequence[builtins.int], stride: Sequence[builtins.int], offset: builtins.int = ..., name: str | None = ...) -> Tensor: ...
@overload
def asin(x: Tensor, name: str | None = ...) -> Tensor:
    """Inverse sine of each element, in radians; NaN outside [-1, 1]."""
@overload
def asin(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def asin_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `asin`: writes the result into the first argument and returns it."""
@overload
def asin_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def asinh(x: Tensor, name: str | None = ...) -> Tensor:
    """Inverse hyperbolic sine of each element."""
@overload
def asinh(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def asinh_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `asinh`: writes the result into the first argument and returns it."""
@overload
def asinh_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def assign(x: Any, output: Tensor | None = ...) -> Tensor:
    """A copy of `x`, written into `output` if that is given."""
@overload
def assign(input: Any, output: Tensor | None = ...) -> Tensor: ...
@overload
def atan(x: Tensor, name: str | None = ...) -> Tensor:
    """Inverse tangent of each element, in radians."""
@overload
def atan(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def atan2(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Angle of the point (y, x), in radians in (-pi, pi]: the inverse tangent of x / y."""
@overload
def atan2(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def atan_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `atan`: writes the result into the first argument and returns it."""
@overload
def atan_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def atanh(x: Tensor, name: str | None = ...) -> Tensor:
    """Inverse hyperbolic tangent of each element; infinite at -1 and 1."""
@overload
def atanh(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def atanh_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `atanh`: writes the result into the first argument and returns it."""
@overload
def atanh_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def baddbmm(input: Tensor, x: Tensor, y: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ...) -> Tensor:
    """`beta * input + alpha * x @ y` for batches of matrices."""
@overload
def baddbmm(input: Tensor, elements: Tensor, other: Tensor, beta: builtins.float = ..., alpha: builtins.float = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def bernoulli(x: Tensor, name: str | None = ...) -> Tensor:
    """Bernoulli draws: 1 with the probability in `x`, else 0."""
@overload
def bernoulli(input: Tensor, name: str | None = ..., *, p: Any = ...) -> Tensor: ...
@overload
def bernoulli_(x: Tensor, p: Any = ..., name: str | None = ...) -> Tensor:
    """Fill `x` with ones, of a probability, and zeros; returns `x`."""
@overload
def bernoulli_(input: Tensor, p: Any = ..., name: str | None = ...) -> Tensor: ...
@overload
def bincount(x: Tensor, weights: Tensor | None = ..., minlength: builtins.int = ..., name: str | None = ...) -> Tensor:
    """How often each number from 0 on occurs."""
@overload
def bincount(input: Tensor, weights: Tensor | None = ..., minlength: builtins.int = ..., name: str | None = ...) -> Tensor: ...
@overload
def bitwise_and(x: Tensor, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Bits that are set in both elements."""
@overload
def bitwise_and(input: Tensor, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def bitwise_and_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `bitwise_and`: writes the result into the first argument and returns it."""
@overload
def bitwise_and_(input: Any, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def bitwise_invert(x: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Bits that are not set; for bool, the other truth value."""
@overload
def bitwise_invert(input: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def bitwise_invert_(x: Any, out: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `bitwise_not`: writes the result into the first argument and returns it."""
@overload
def bitwise_invert_(input: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def bitwise_left_shift(x: Tensor, y: Tensor, is_arithmetic: builtins.bool = ..., out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """The bits of `x` moved to the left by `y` places, element by element; zeros come in."""
@overload
def bitwise_left_shift(input: Tensor, other: Tensor, is_arithmetic: builtins.bool = ..., out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def bitwise_not(x: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Bits that are not set; for bool, the other truth value."""
@overload
def bitwise_not(input: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def bitwise_not_(x: Any, out: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `bitwise_not`: writes the result into the first argument and returns it."""
@overload
def bitwise_not_(input: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def bitwise_or(x: Tensor, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Bits that are set in one element or both. Arguments are those of `bitwise_and`."""
@overload
def bitwise_or(input: Tensor, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def bitwise_or_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `bitwise_or`: writes the result into the first argument and returns it."""
@overload
def bitwise_or_(input: Any, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def bitwise_right_shift(x: Tensor, y: Tensor, is_arithmetic: builtins.bool = ..., out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """The bits of `x` moved to the right by `y` places, element by element."""
@overload
def bitwise_right_shift(input: Tensor, other: Tensor, is_arithmetic: builtins.bool = ..., out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def bitwise_xor(x: Tensor, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Bits that are set in exactly one element. Arguments are those of `bitwise_and`."""
@overload
def bitwise_xor(input: Tensor, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def bitwise_xor_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `bitwise_xor`: writes the result into the first argument and returns it."""
@overload
def bitwise_xor_(input: Any, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def bmm(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """The products of equally many matrices."""
@overload
def bmm(input: Tensor, mat2: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def broadcast_to(x: Tensor, shape: Any, name: str | None = ...) -> Tensor:
    """`expand` under NumPy's name."""
@overload
def broadcast_to(input: Tensor, size: Any, name: str | None = ...) -> Tensor: ...
@overload
def broadcast_to(x: Tensor, *shape: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
@overload
def bucketize(x: Tensor, sorted_sequence: Tensor, out_int32: builtins.bool = ..., right: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """`searchsorted` of `x` in one sequence, with the arguments in the other order."""
@overload
def bucketize(input: Tensor, boundaries: Tensor, out_int32: builtins.bool = ..., right: builtins.bool = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def cartesian_prod(x: Sequence[Tensor], name: str | None = ...) -> Tensor:
    """All combinations of one element of each vector, a row for each; the last vector varies fastest."""
@overload
def cartesian_prod(tensors: Sequence[Tensor], name: str | None = ...) -> Tensor: ...
@overload
def cast(x: Tensor, dtype: Any) -> Tensor:
    """`x` in another dtype."""
@overload
def cast(input: Tensor, dtype: Any) -> Tensor: ...
@overload
def cast_(x: Tensor, dtype: Any) -> Tensor:
    """`cast` in place: `x` itself gets the dtype."""
@overload
def cast_(input: Tensor, dtype: Any) -> Tensor: ...
@overload
def cat(x: Sequence[Tensor], axis: Any = ..., name: str | None = ...) -> Tensor:
    """Concatenation: several tensors one after the other along an axis."""
@overload
def cat(tensors: Sequence[Tensor], dim: Any = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ...) -> Tensor: ...
@overload
def cauchy_(x: Tensor, loc: Any = ..., scale: Any = ..., name: str | None = ...) -> Tensor:
    """Fill `x` with Cauchy distributed random numbers around `loc`; returns `x`."""
@overload
def cauchy_(input: Tensor, loc: Any = ..., scale: Any = ..., name: str | None = ...) -> Tensor: ...
@overload
def cdist(x: Tensor, y: Tensor, p: builtins.float = ..., compute_mode: str = ..., name: str | None = ...) -> Tensor:
    """The `p`-norm distance of each row of `x` to each row of `y`."""
@overload
def cdist(input: Tensor, other: Tensor, p: builtins.float = ..., compute_mode: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def ceil(x: Tensor, name: str | None = ...) -> Tensor:
    """Ceiling: the smallest integer not below each element."""
@overload
def ceil(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def ceil_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `ceil`: writes the result into the first argument and returns it."""
@overload
def ceil_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def cholesky(x: Tensor, upper: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """The Cholesky factor of Hermitian positive definite matrices."""
@overload
def cholesky(input: Tensor, upper: builtins.bool = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def chunk(x: Tensor, chunks: builtins.int, axis: Any = ..., name: str | None = ...) -> list[Tensor]:
    """`x` cut into equal parts along an axis; the size must divide."""
@overload
def chunk(input: Tensor, chunks: builtins.int, dim: Any = ..., name: str | None = ..., *, axis: Any = ...) -> list[Tensor]: ...
@overload
def clamp(x: Tensor, min: Any = ..., max: Any = ..., name: str | None = ...) -> Tensor:
    """Each element limited to [min, max]; NaN stays NaN."""
@overload
def clamp(input: Tensor, from_: Any = ..., to: Any = ..., name: str | None = ..., *, min: Any = ..., max: Any = ..., out: Any = ...) -> Tensor: ...
@overload
def clamp_(x: Any, min: Any = ..., max: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `clip`: writes the result into the first argument and returns it."""
@overload
def clamp_(input: Any, from_: Any = ..., to: Any = ..., name: Any = ..., *, min: Any = ..., max: Any = ...) -> Tensor: ...
@overload
def clip(x: Tensor, min: Any = ..., max: Any = ..., name: str | None = ...) -> Tensor:
    """Each element limited to [min, max]; NaN stays NaN."""
@overload
def clip(input: Tensor, from_: Any = ..., to: Any = ..., name: str | None = ..., *, min: Any = ..., max: Any = ..., out: Any = ...) -> Tensor: ...
@overload
def clip_(x: Any, min: Any = ..., max: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `clip`: writes the result into the first argument and returns it."""
@overload
def clip_(input: Any, from_: Any = ..., to: Any = ..., name: Any = ..., *, min: Any = ..., max: Any = ...) -> Tensor: ...
@overload
def clone(x: Tensor, name: str | None = ...) -> Tensor:
    """A copy of `x` that gradients pass through."""
@overload
def clone(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def column_stack(x: Sequence[Tensor], name: str | None = ...) -> Tensor:
    """Tensors side by side, where a vector is one column."""
@overload
def column_stack(tensors: Sequence[Tensor], name: str | None = ...) -> Tensor: ...
@overload
def combinations(x: Tensor, r: builtins.int = ..., with_replacement: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """All combinations of `r` elements of a vector, in the order of the elements."""
@overload
def combinations(input: Tensor, r: builtins.int = ..., with_replacement: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def complex(real: Tensor, imag: Tensor, name: str | None = ...) -> Tensor:
    """Complex numbers from real and imaginary parts, which broadcast together."""
@overload
def complex(real: Tensor, imag: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def concat(x: Sequence[Tensor], axis: Any = ..., name: str | None = ...) -> Tensor:
    """Concatenation: several tensors one after the other along an axis."""
@overload
def concat(tensors: Sequence[Tensor], dim: Any = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ...) -> Tensor: ...
@overload
def concatenate(x: Sequence[Tensor], axis: Any = ..., name: str | None = ...) -> Tensor:
    """Concatenation: several tensors one after the other along an axis."""
@overload
def concatenate(tensors: Sequence[Tensor], dim: Any = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ...) -> Tensor: ...
@overload
def conj(x: Tensor, name: str | None = ...) -> Tensor:
    """Complex conjugate of each element; real numbers are their own."""
@overload
def conj(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def copysign(x: Tensor, y: Any, name: str | None = ...) -> Tensor:
    """The magnitude of `x` with the sign of `y`, element by element."""
@overload
def copysign(input: Tensor, other: Any, name: str | None = ...) -> Tensor: ...
@overload
def cos(x: Tensor, name: str | None = ...) -> Tensor:
    """Cosine of each element, given in radians."""
@overload
def cos(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def cos_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `cos`: writes the result into the first argument and returns it."""
@overload
def cos_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def cosh(x: Tensor, name: str | None = ...) -> Tensor:
    """Hyperbolic cosine of each element."""
@overload
def cosh(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def cosh_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `cosh`: writes the result into the first argument and returns it."""
@overload
def cosh_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def count_nonzero(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """How many elements along `axis` are not 0."""
@overload
def count_nonzero(input: Tensor, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
@overload
def crop(x: Tensor, shape: Any = ..., offsets: Any = ..., name: str | None = ...) -> Tensor:
    """A block cut out of `x`."""
@overload
def crop(input: Tensor, size: Any = ..., offsets: Any = ..., name: str | None = ..., *, shape: Any = ...) -> Tensor: ...
@overload
def cross(x: Tensor, y: Tensor, axis: builtins.int = ..., name: str | None = ...) -> Tensor:
    """The cross product of vectors of three numbers along an axis."""
@overload
def cross(input: Tensor, other: Tensor, dim: builtins.int = ..., name: str | None = ..., *, axis: builtins.int = ..., out: Any = ...) -> Tensor: ...
@overload
def cummax(x: Tensor, axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
    """Running maxima along `axis`, and the positions where they were found."""
@overload
def cummax(input: Tensor, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> tuple[Tensor, Tensor]: ...
@overload
def cummin(x: Tensor, axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
    """Running minima along `axis`, and their positions. Arguments are those of `cummax`."""
@overload
def cummin(input: Tensor, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> tuple[Tensor, Tensor]: ...
@overload
def cumprod(x: Tensor, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Running products along `dim`."""
@overload
def cumprod(input: Tensor, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def cumprod_(x: Any, dim: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `cumprod`: writes the result into the first argument and returns it."""
@overload
def cumprod_(input: Any, dim: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def cumsum(x: Tensor, axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Running sums along `axis`."""
@overload
def cumsum(input: Tensor, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ..., out: Any = ...) -> Tensor: ...
@overload
def cumsum_(x: Tensor, axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """In-place form of `cumsum`: writes the result into `x` and returns it."""
@overload
def cumsum_(input: Tensor, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> Tensor: ...
@overload
def cumulative_trapezoid(y: Tensor, x: Tensor | None = ..., dx: Any = ..., axis: builtins.int = ..., name: str | None = ...) -> Tensor:
    """The running integral of samples along an axis by the trapezoidal rule."""
@overload
def cumulative_trapezoid(other: Tensor, input: Tensor | None = ..., dx: Any = ..., dim: builtins.int = ..., name: str | None = ..., *, x: Tensor | None = ..., axis: builtins.int = ...) -> Tensor: ...
@overload
def deg2rad(x: Tensor, name: str | None = ...) -> Tensor:
    """Degrees to radians."""
@overload
def deg2rad(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def diag(x: Tensor, offset: builtins.int = ..., padding_value: Any = ..., name: str | None = ...) -> Tensor:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix."""
@overload
def diag(input: Tensor, offset: builtins.int = ..., padding_value: Any = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def diagflat(x: Tensor, offset: builtins.int = ..., name: str | None = ...) -> Tensor:
    """A matrix with all elements of `x`, row by row, on its diagonal."""
@overload
def diagflat(input: Tensor, offset: builtins.int = ..., name: str | None = ...) -> Tensor: ...
@overload
def diagonal(x: Tensor, offset: builtins.int = ..., axis1: builtins.int = ..., axis2: builtins.int = ..., name: str | None = ...) -> Tensor:
    """The diagonal of each matrix that two axes of `x` form."""
@overload
def diagonal(input: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ..., *, axis1: builtins.int = ..., axis2: builtins.int = ...) -> Tensor: ...
@overload
def diagonal_scatter(x: Tensor, y: Tensor, offset: builtins.int = ..., axis1: builtins.int = ..., axis2: builtins.int = ..., name: str | None = ...) -> Tensor:
    """`x` with `y` on a diagonal; arguments as for `diagonal`, whose shape `y` has."""
@overload
def diagonal_scatter(input: Tensor, other: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ..., *, axis1: builtins.int = ..., axis2: builtins.int = ...) -> Tensor: ...
@overload
def diff(x: Tensor, n: builtins.int = ..., axis: builtins.int = ..., prepend: Tensor | None = ..., append: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Differences of neighbours along an axis."""
@overload
def diff(input: Tensor, n: builtins.int = ..., dim: builtins.int = ..., prepend: Tensor | None = ..., append: Tensor | None = ..., name: str | None = ..., *, axis: builtins.int = ..., out: Any = ...) -> Tensor: ...
@overload
def digamma(x: Tensor, name: str | None = ...) -> Tensor:
    """Derivative of the logarithm of the gamma function; NaN at 0, -1, -2, ..."""
@overload
def digamma(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def digamma_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `digamma`: writes the result into the first argument and returns it."""
@overload
def digamma_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def dist(x: Tensor, y: Tensor, p: builtins.float = ..., name: str | None = ...) -> Tensor:
    """The `p`-norm of `x - y`, over all elements."""
@overload
def dist(input: Tensor, other: Tensor, p: builtins.float = ..., name: str | None = ...) -> Tensor: ...
@overload
def div(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Quotient of two tensors, element by element."""
@overload
def div(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ..., rounding_mode: Any = ...) -> Tensor: ...
@overload
def div_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `divide`: writes the result into the first argument and returns it."""
@overload
def div_(input: Any, other: Any, name: Any = ..., *, rounding_mode: Any = ...) -> Tensor: ...
@overload
def divide(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Quotient of two tensors, element by element."""
@overload
def divide(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ..., rounding_mode: Any = ...) -> Tensor: ...
@overload
def divide_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `divide`: writes the result into the first argument and returns it."""
@overload
def divide_(input: Any, other: Any, name: Any = ..., *, rounding_mode: Any = ...) -> Tensor: ...
@overload
def dot(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """The inner product of two vectors, or of each row of two matrices."""
@overload
def dot(input: Tensor, tensor: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def dsplit(x: Tensor, num_or_indices: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]:
    """Parts of `x` along axis 2; as `tensor_split`."""
@overload
def dsplit(input: Tensor, indices_or_sections: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]: ...
@overload
def dstack(x: Sequence[Tensor], name: str | None = ...) -> Tensor:
    """Tensors one after the other: along axis 2; `[n]` counts as `[1, n, 1]` and `[m, n]` as `[m, n, 1]`."""
@overload
def dstack(tensors: Sequence[Tensor], name: str | None = ...) -> Tensor: ...
@overload
def eigvalsh(x: Tensor, UPLO: str = ..., name: str | None = ...) -> Tensor:
    """Eigenvalues of symmetric or Hermitian matrices, ascending and real."""
@overload
def eigvalsh(input: Tensor, UPLO: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def empty(shape: Shape, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """A tensor of `shape` whose values are not set: whatever the memory held."""
@overload
def empty(size: Shape, dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def empty(*shape: builtins.int | Tensor, dtype: Any = ..., name: str | None = ..., out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def empty_like(x: Tensor, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """A tensor of the shape of `x` (and its dtype, unless another is named) whose values are not set."""
@overload
def empty_like(input: Tensor, dtype: Any = ..., name: str | None = ..., *, pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def eq(x: Tensor, y: Any, name: str | None = ...) -> Tensor:
    """Equality of two tensors, element by element."""
@overload
def eq(input: Tensor, other: Any, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def equal(x: Tensor, y: Any, name: str | None = ...) -> Tensor:
    """Equality of two tensors, element by element."""
@overload
def equal(input: Tensor, other: Any, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def equal_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `equal`: writes the result into the first argument and returns it."""
@overload
def equal_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def equal_all(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Whether two tensors have one shape and equal elements."""
@overload
def equal_all(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def erf(x: Tensor, name: str | None = ...) -> Tensor:
    """Error function of each element."""
@overload
def erf(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def erf_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `erf`: writes the result into the first argument and returns it."""
@overload
def erf_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def erfinv(x: Tensor, name: str | None = ...) -> Tensor:
    """Inverse of the error function; infinite at -1 and 1."""
@overload
def erfinv(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def erfinv_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `erfinv`: writes the result into the first argument and returns it."""
@overload
def erfinv_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def exp(x: Tensor, name: str | None = ...) -> Tensor:
    """Exponential: e to the power of each element."""
@overload
def exp(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def exp_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `exp`: writes the result into the first argument and returns it."""
@overload
def exp_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def expand(x: Tensor, shape: Any, name: str | None = ...) -> Tensor:
    """`x` repeated along axes of size 1, and along new leading axes, up to `shape`."""
@overload
def expand(input: Tensor, size: Any, name: str | None = ...) -> Tensor: ...
@overload
def expand(x: Tensor, *shape: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
@overload
def expand_as(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """`expand` to the shape of `y`."""
@overload
def expand_as(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def expm1(x: Tensor, name: str | None = ...) -> Tensor:
    """e to the power of each element, minus 1, precise near 0."""
@overload
def expm1(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def expm1_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `expm1`: writes the result into the first argument and returns it."""
@overload
def expm1_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def exponential_(x: Tensor, lam: Any = ..., name: str | None = ...) -> Tensor:
    """Fill `x` with exponentially distributed random numbers of rate `lam` (mean 1 / lam); returns `x`."""
@overload
def exponential_(input: Tensor, lambd: Any = ..., name: str | None = ..., *, lam: Any = ...) -> Tensor: ...
@overload
def eye(num_rows: Any, num_columns: Any = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere."""
@overload
def eye(n: Any, m: Any = ..., dtype: Any = ..., name: str | None = ..., *, num_columns: Any = ..., out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def fill_(x: Tensor, value: Any) -> Tensor:
    """Fill `x` with one number, in place."""
@overload
def fill_(input: Tensor, value: Any) -> Tensor: ...
@overload
def fill_diagonal_(x: Tensor, value: Any, offset: builtins.int = ..., wrap: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """`x` with one value on its diagonal, in place."""
@overload
def fill_diagonal_(input: Tensor, value: Any, offset: builtins.int = ..., wrap: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def fill_diagonal_tensor(x: Tensor, y: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ...) -> Tensor:
    """`diagonal_scatter` under the name of the Tensor method."""
@overload
def fill_diagonal_tensor(input: Tensor, other: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ...) -> Tensor: ...
@overload
def fill_diagonal_tensor_(x: Tensor, y: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ...) -> Tensor:
    """`fill_diagonal_tensor` in place."""
@overload
def fill_diagonal_tensor_(input: Tensor, other: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ...) -> Tensor: ...
@overload
def flatten(x: Tensor, start_axis: builtins.int = ..., stop_axis: builtins.int = ..., name: str | None = ...) -> Tensor:
    """`x` with the axes from `start_axis` to `stop_axis` (included) merged into one."""
@overload
def flatten(input: Tensor, start_dim: builtins.int = ..., end_dim: builtins.int = ..., name: str | None = ..., *, start_axis: builtins.int = ..., stop_axis: builtins.int = ...) -> Tensor: ...
@overload
def flatten_(x: Tensor, start_axis: builtins.int = ..., stop_axis: builtins.int = ..., name: str | None = ...) -> Tensor:
    """`flatten` in place: `x` itself gets the new shape."""
@overload
def flatten_(input: Tensor, start_dim: builtins.int = ..., end_dim: builtins.int = ..., name: str | None = ..., *, start_axis: builtins.int = ..., stop_axis: builtins.int = ...) -> Tensor: ...
@overload
def flip(x: Tensor, axis: Any, name: str | None = ...) -> Tensor:
    """`x` with its elements in reverse order along `axis`."""
@overload
def flip(input: Tensor, dim: Any, name: str | None = ...) -> Tensor: ...
@overload
def flip(x: Tensor, *axis: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
@overload
def floor(x: Tensor, name: str | None = ...) -> Tensor:
    """Floor: the largest integer not above each element."""
@overload
def floor(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def floor_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `floor`: writes the result into the first argument and returns it."""
@overload
def floor_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def floor_divide(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Quotient of two tensors rounded down, element by element."""
@overload
def floor_divide(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def floor_divide_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `floor_divide`: writes the result into the first argument and returns it."""
@overload
def floor_divide_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def floor_mod(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Remainder: what `floor_divide` leaves, with the sign of `y`. Arguments are those of `floor_divide`."""
@overload
def floor_mod(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def floor_mod_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `remainder`: writes the result into the first argument and returns it."""
@overload
def floor_mod_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def fmax(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Element-wise maximum of two tensors; where one element is NaN, the other. Else as `maximum`."""
@overload
def fmax(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def fmin(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Element-wise minimum of two tensors; where one element is NaN, the other. Else as `minimum`."""
@overload
def fmin(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def frac(x: Tensor, name: str | None = ...) -> Tensor:
    """Fraction of each element, with its sign: `x - trunc(x)`."""
@overload
def frac(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def frac_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `frac`: writes the result into the first argument and returns it."""
@overload
def frac_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def frexp(x: Tensor, name: str | None = ...) -> tuple[Tensor, Tensor]:
    """Mantissas and exponents: `x == mantissa * 2 ** exponent` with mantissas in [0.5, 1)."""
@overload
def frexp(input: Tensor, name: str | None = ...) -> tuple[Tensor, Tensor]: ...
@overload
def full(shape: Shape, fill_value: Any, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """A tensor of `shape` filled with one number."""
@overload
def full(size: Shape, fill_value: Any, dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def full_like(x: Tensor, fill_value: Any, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """A tensor of the shape of `x` filled with one number, of its dtype unless `dtype` names another."""
@overload
def full_like(input: Tensor, fill_value: Any, dtype: Any = ..., name: str | None = ..., *, pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def gammainc(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """The lower regularized incomplete gamma function P(x, y): the share of the gamma distribution of shape `x` below `y`."""
@overload
def gammainc(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def gammaincc(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """The upper regularized incomplete gamma function Q(x, y): the share of the gamma distribution of shape `x` above `y`."""
@overload
def gammaincc(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def gammaln(x: Tensor, name: str | None = ...) -> Tensor:
    """Logarithm of the absolute value of the gamma function."""
@overload
def gammaln(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def gammaln_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `lgamma`: writes the result into the first argument and returns it."""
@overload
def gammaln_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def gather(x: Tensor, index: Tensor, axis: Any = ..., name: str | None = ...) -> Tensor:
    """Slices of `x` at the positions `index` along an axis."""
@overload
def gather(input: Tensor, index: Tensor, dims: Any = ..., name: str | None = ..., *, axis: Any = ..., dim: Any = ..., out: Any = ...) -> Tensor: ...
@overload
def gather(x: Tensor, *index: Any, axis: Any = ..., dims: Any = ..., name: str | None = ..., dim: Any = ..., out: Any = ...) -> Tensor: ...
@overload
def gather_nd(x: Tensor, index: Tensor, name: str | None = ...) -> Tensor:
    """Elements (or slices) of `x` at positions given by several coordinates."""
@overload
def gather_nd(input: Tensor, index: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def gcd(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Greatest common divisor of two elements, never negative; that of 0 and 0 is 0."""
@overload
def gcd(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def gcd_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `gcd`: writes the result into the first argument and returns it."""
@overload
def gcd_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def ge(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Greater or equal: where an element of `x` is at least that of `y`. Arguments are those of"""
@overload
def ge(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def geometric_(x: Tensor, probs: Any, name: str | None = ...) -> Tensor:
    """Fill `x` with numbers of trials up to the first success of probability `probs`; returns `x`."""
@overload
def geometric_(input: Tensor, probs: Any, name: str | None = ...) -> Tensor: ...
@overload
def ger(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Outer product: all products of an element of `x` and one of `y`, both flattened: `[m]` and `[n]` give `[m, n]`."""
@overload
def ger(input: Tensor, vec2: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def greater(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Where an element of `x` is greater than that of `y`. Arguments are those of `less_than`."""
@overload
def greater(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def greater_equal(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Greater or equal: where an element of `x` is at least that of `y`. Arguments are those of"""
@overload
def greater_equal(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def greater_equal_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `greater_equal`: writes the result into the first argument and returns it."""
@overload
def greater_equal_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def greater_than(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Where an element of `x` is greater than that of `y`. Arguments are those of `less_than`."""
@overload
def greater_than(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def greater_than_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `greater_than`: writes the result into the first argument and returns it."""
@overload
def greater_than_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def gt(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Where an element of `x` is greater than that of `y`. Arguments are those of `less_than`."""
@overload
def gt(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def heaviside(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """The step function: 0 where `x` is negative, 1 where it is positive, `y` where it is 0."""
@overload
def heaviside(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def histogram(input: Tensor, bins: builtins.int = ..., min: builtins.float = ..., max: builtins.float = ..., name: str | None = ...) -> Tensor:
    """Histogram: how many elements fall into each of `bins` equal parts of a range."""
@overload
def histogram(input: Tensor, bins: builtins.int = ..., from_: builtins.float = ..., to: builtins.float = ..., name: str | None = ..., *, min: builtins.float = ..., max: builtins.float = ..., density: Any = ..., weight: Any = ...) -> Tensor: ...
@overload
def histogram_bin_edges(input: Tensor, bins: builtins.int = ..., min: builtins.float = ..., max: builtins.float = ..., name: str | None = ...) -> Tensor:
    """The bounds of the bins that `histogram` counts in."""
@overload
def histogram_bin_edges(input: Tensor, bins: builtins.int = ..., from_: builtins.float = ..., to: builtins.float = ..., name: str | None = ..., *, min: builtins.float = ..., max: builtins.float = ...) -> Tensor: ...
@overload
def histogramdd(x: Tensor, bins: Any = ..., ranges: Any = ..., density: builtins.bool = ..., weights: Tensor | None = ..., name: str | None = ...) -> tuple[Tensor, list[Tensor]]:
    """How many points lie in each cell of a grid."""
@overload
def histogramdd(input: Tensor, bins: Any = ..., ranges: Any = ..., density: builtins.bool = ..., weights: Tensor | None = ..., name: str | None = ...) -> tuple[Tensor, list[Tensor]]: ...
@overload
def hsplit(x: Tensor, num_or_indices: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]:
    """Parts of `x` along axis 1, or along the only axis of a vector; as `tensor_split`."""
@overload
def hsplit(input: Tensor, indices_or_sections: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]: ...
@overload
def hstack(x: Sequence[Tensor], name: str | None = ...) -> Tensor:
    """Tensors side by side: along axis 1, or along the only axis of vectors."""
@overload
def hstack(tensors: Sequence[Tensor], name: str | None = ...) -> Tensor: ...
@overload
def hypot(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Length of the hypotenuse: the root of `x * x + y * y`, without overflow on the way."""
@overload
def hypot(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def hypot_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `hypot`: writes the result into the first argument and returns it."""
@overload
def hypot_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def i0(x: Tensor, name: str | None = ...) -> Tensor:
    """Modified Bessel function of the first kind of order 0, of each element."""
@overload
def i0(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def i0_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `i0`: writes the result into the first argument and returns it."""
@overload
def i0_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def i0e(x: Tensor, name: str | None = ...) -> Tensor:
    """`i0(x) * exp(-abs(x))`, which stays finite."""
@overload
def i0e(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def i1(x: Tensor, name: str | None = ...) -> Tensor:
    """Modified Bessel function of the first kind of order 1, of each element."""
@overload
def i1(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def i1e(x: Tensor, name: str | None = ...) -> Tensor:
    """`i1(x) * exp(-abs(x))`, which stays finite."""
@overload
def i1e(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def imag(x: Tensor, name: str | None = ...) -> Tensor:
    """Imaginary part of each element; 0 for real numbers."""
@overload
def imag(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def increment(x: Tensor, value: Any = ..., name: str | None = ...) -> Tensor:
    """Add `value` to a tensor of one element, in place; returns it."""
@overload
def increment(input: Tensor, value: Any = ..., name: str | None = ...) -> Tensor: ...
@overload
def index_add(x: Tensor, index: Tensor, axis: builtins.int, value: Tensor, name: str | None = ...) -> Tensor:
    """`x` with slices of `value` added at the positions `index` along an axis; repeats add up."""
@overload
def index_add(input: Tensor, index: Tensor, dim: builtins.int, value: Tensor, name: str | None = ..., *, out: Any = ..., alpha: Any = ..., source: Any = ...) -> Tensor: ...
@overload
def index_add(x: Tensor, *index: Any, axis: builtins.int = ..., dim: builtins.int = ..., value: Tensor = ..., name: str | None = ..., out: Any = ..., alpha: Any = ..., source: Any = ...) -> Tensor: ...
@overload
def index_add_(x: Tensor, index: Tensor, axis: builtins.int, value: Tensor, name: str | None = ...) -> Tensor:
    """`index_add` in place."""
@overload
def index_add_(input: Tensor, index: Tensor, dim: builtins.int, value: Tensor, name: str | None = ..., *, alpha: Any = ..., source: Any = ...) -> Tensor: ...
@overload
def index_add_(x: Tensor, *index: Any, axis: builtins.int = ..., dim: builtins.int = ..., value: Tensor = ..., name: str | None = ..., alpha: Any = ..., source: Any = ...) -> Tensor: ...
@overload
def index_fill(x: Tensor, index: Tensor, axis: builtins.int, value: Any, name: str | None = ...) -> Tensor:
    """`x` with the slices at the positions `index` along an axis filled with one value."""
@overload
def index_fill(input: Tensor, index: Tensor, dim: builtins.int, value: Any, name: str | None = ...) -> Tensor: ...
@overload
def index_fill_(x: Tensor, index: Tensor, axis: builtins.int, value: Any, name: str | None = ...) -> Tensor:
    """`index_fill` in place."""
@overload
def index_fill_(input: Tensor, index: Tensor, dim: builtins.int, value: Any, name: str | None = ...) -> Tensor: ...
@overload
def index_put(x: Tensor, indices: Sequence[Tensor], value: Tensor, accumulate: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """`x` with `value` written (or added) at positions given by one index tensor for each of the first axes."""
@overload
def index_put(input: Tensor, indices: Sequence[Tensor], value: Tensor, accumulate: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def index_put_(x: Tensor, indices: Sequence[Tensor], value: Tensor, accumulate: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """`index_put` in place."""
@overload
def index_put_(input: Tensor, indices: Sequence[Tensor], value: Tensor, accumulate: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def index_sample(x: Tensor, index: Tensor) -> Tensor:
    """From each row of `x` the elements at the positions in the same row of `index`."""
@overload
def index_sample(input: Tensor, index: Tensor) -> Tensor: ...
@overload
def index_select(x: Tensor, index: Tensor, axis: builtins.int = ..., name: str | None = ...) -> Tensor:
    """Slices of `x` at the positions `index` along an axis."""
@overload
def index_select(input: Tensor, index: Tensor, dim: builtins.int = ..., name: str | None = ..., *, axis: builtins.int = ..., out: Any = ...) -> Tensor: ...
@overload
def index_select(x: Tensor, *index: Any, axis: builtins.int = ..., dim: builtins.int = ..., name: str | None = ..., out: Any = ...) -> Tensor: ...
@overload
def inner(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Inner product: sums of products over the last axis of both."""
@overload
def inner(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def inverse(x: Tensor, name: str | None = ...) -> Tensor:
    """The inverse of square matrices."""
@overload
def inverse(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def is_empty(x: Tensor, name: str | None = ...) -> Tensor:
    """Whether `x` has no elements."""
@overload
def is_empty(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def is_tensor(x: Any) -> builtins.bool:
    """Whether `x` is a Tensor."""
@overload
def is_tensor(input: Any) -> builtins.bool: ...
@overload
def isclose(x: Tensor, y: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Where `|x - y| <= atol + rtol * |y|`."""
@overload
def isclose(input: Tensor, other: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def isfinite(x: Tensor, name: str | None = ...) -> Tensor:
    """Where an element is neither NaN nor infinite."""
@overload
def isfinite(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def isin(x: Tensor, test_x: Tensor, assume_unique: builtins.bool = ..., invert: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Which elements of `x` are among those of `test_x`."""
@overload
def isin(elements: Tensor, test_elements: Tensor, assume_unique: builtins.bool = ..., invert: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def isinf(x: Tensor, name: str | None = ...) -> Tensor:
    """Where an element is infinity or minus infinity."""
@overload
def isinf(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def isnan(x: Tensor, name: str | None = ...) -> Tensor:
    """Where an element is NaN."""
@overload
def isnan(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def isneginf(x: Tensor, name: str | None = ...) -> Tensor:
    """Which elements are minus infinity."""
@overload
def isneginf(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def isposinf(x: Tensor, name: str | None = ...) -> Tensor:
    """Which elements are plus infinity."""
@overload
def isposinf(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def isreal(x: Tensor, name: str | None = ...) -> Tensor:
    """Which elements have no imaginary part; all of a real dtype."""
@overload
def isreal(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def kron(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """The Kronecker product: a block `x[i, j] * y` for each element of `x`."""
@overload
def kron(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def kthvalue(x: Tensor, k: builtins.int, axis: builtins.int | None = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
    """The `k`-th smallest value along an axis, and where it is."""
@overload
def kthvalue(input: Tensor, k: builtins.int, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> tuple[Tensor, Tensor]: ...
@overload
def lcm(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Least common multiple of two elements, never negative; 0 where one is 0. Arguments are those of `gcd`."""
@overload
def lcm(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def lcm_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `lcm`: writes the result into the first argument and returns it."""
@overload
def lcm_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def ldexp(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """`x * 2 ** y`, element by element."""
@overload
def ldexp(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def ldexp_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `ldexp`: writes the result into the first argument and returns it."""
@overload
def ldexp_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def le(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Less or equal: where an element of `x` is at most that of `y`. Arguments are those of `less_than`."""
@overload
def le(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def lerp(x: Tensor, y: Tensor, weight: Any, name: str | None = ...) -> Tensor:
    """Linear interpolation `x + weight * (y - x)`."""
@overload
def lerp(input: Tensor, other: Tensor, weight: Any, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def lerp_(x: Any, y: Any, weight: Any, name: Any = ...) -> Tensor:
    """In-place form of `lerp`: writes the result into the first argument and returns it."""
@overload
def lerp_(input: Any, other: Any, weight: Any, name: Any = ...) -> Tensor: ...
@overload
def less(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Where an element of `x` is less than that of `y`."""
@overload
def less(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def less_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `less_than`: writes the result into the first argument and returns it."""
@overload
def less_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def less_equal(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Less or equal: where an element of `x` is at most that of `y`. Arguments are those of `less_than`."""
@overload
def less_equal(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def less_equal_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `less_equal`: writes the result into the first argument and returns it."""
@overload
def less_equal_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def less_than(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Where an element of `x` is less than that of `y`."""
@overload
def less_than(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def less_than_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `less_than`: writes the result into the first argument and returns it."""
@overload
def less_than_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def lgamma(x: Tensor, name: str | None = ...) -> Tensor:
    """Logarithm of the absolute value of the gamma function."""
@overload
def lgamma(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def lgamma_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `lgamma`: writes the result into the first argument and returns it."""
@overload
def lgamma_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def linspace(start: Any, stop: Any, num: Any, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """`num` numbers in equal steps from `start` to `stop`, both included."""
@overload
def linspace(start: Any, end: Any, steps: Any, dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def log(x: Tensor, name: str | None = ...) -> Tensor:
    """Natural logarithm of each element; -inf at 0, NaN below."""
@overload
def log(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def log10(x: Tensor, name: str | None = ...) -> Tensor:
    """Logarithm to base 10 of each element; -inf at 0, NaN below."""
@overload
def log10(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def log10_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `log10`: writes the result into the first argument and returns it."""
@overload
def log10_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def log1p(x: Tensor, name: str | None = ...) -> Tensor:
    """Natural logarithm of 1 plus each element, precise near 0."""
@overload
def log1p(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def log1p_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `log1p`: writes the result into the first argument and returns it."""
@overload
def log1p_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def log2(x: Tensor, name: str | None = ...) -> Tensor:
    """Logarithm to base 2 of each element; -inf at 0, NaN below."""
@overload
def log2(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def log2_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `log2`: writes the result into the first argument and returns it."""
@overload
def log2_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def log_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `log`: writes the result into the first argument and returns it."""
@overload
def log_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def log_normal(mean: Any = ..., std: Any = ..., shape: Any = ..., name: str | None = ...) -> Tensor:
    """Random numbers whose logarithms are normally distributed."""
@overload
def log_normal(mean: Any = ..., std: Any = ..., size: Any = ..., name: str | None = ..., *, shape: Any = ...) -> Tensor: ...
@overload
def log_normal_(x: Tensor, mean: builtins.float = ..., std: builtins.float = ..., name: str | None = ...) -> Tensor:
    """Fill `x` with random numbers whose logarithms are normally distributed; returns `x`."""
@overload
def log_normal_(input: Tensor, mean: builtins.float = ..., std: builtins.float = ..., name: str | None = ...) -> Tensor: ...
@overload
def logaddexp(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """log(exp(x) + exp(y)), without overflow on the way."""
@overload
def logaddexp(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def logcumsumexp(x: Tensor, axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Logarithms of running sums of exponentials along `axis`, safe from overflow."""
@overload
def logcumsumexp(input: Tensor, dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> Tensor: ...
@overload
def logical_and(x: Tensor, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Logical and: where both elements are True."""
@overload
def logical_and(input: Tensor, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def logical_and_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `logical_and`: writes the result into the first argument and returns it."""
@overload
def logical_and_(input: Any, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def logical_not(x: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Logical not: where an element is False (0)."""
@overload
def logical_not(input: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def logical_not_(x: Any, out: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `logical_not`: writes the result into the first argument and returns it."""
@overload
def logical_not_(input: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def logical_or(x: Tensor, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Logical or: where one element or both are True. Arguments are those of `logical_and`."""
@overload
def logical_or(input: Tensor, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def logical_or_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `logical_or`: writes the result into the first argument and returns it."""
@overload
def logical_or_(input: Any, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def logical_xor(x: Tensor, y: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Logical exclusive or: where exactly one element is True. Arguments are those of `logical_and`."""
@overload
def logical_xor(input: Tensor, other: Tensor, out: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def logical_xor_(x: Any, y: Any, out: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `logical_xor`: writes the result into the first argument and returns it."""
@overload
def logical_xor_(input: Any, other: Any, out: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def logit(x: Tensor, eps: builtins.float | None = ..., name: str | None = ...) -> Tensor:
    """Logits: log(x / (1 - x)) of each element: the inverse of `sigmoid`."""
@overload
def logit(input: Tensor, eps: builtins.float | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def logit_(x: Any, eps: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `logit`: writes the result into the first argument and returns it."""
@overload
def logit_(input: Any, eps: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def logspace(start: Any, stop: Any, num: Any, base: Any = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Powers of `base` whose exponents go in equal steps from `start` to `stop`, both included."""
@overload
def logspace(start: Any, end: Any, steps: Any, base: Any = ..., dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def logsumexp(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Logarithm of the sum of exponentials of `x` along `axis`, safe from overflow."""
@overload
def logsumexp(input: Tensor, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
@overload
def lt(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Where an element of `x` is less than that of `y`."""
@overload
def lt(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def masked_fill(x: Tensor, mask: Tensor, value: Any, name: str | None = ...) -> Tensor:
    """`x` with one value where `mask` is true."""
@overload
def masked_fill(input: Tensor, mask: Tensor, value: Any, name: str | None = ...) -> Tensor: ...
@overload
def masked_fill_(x: Tensor, mask: Tensor, value: Any, name: str | None = ...) -> Tensor:
    """`masked_fill` in place; `mask` broadcasts to the shape of `x`."""
@overload
def masked_fill_(input: Tensor, mask: Tensor, value: Any, name: str | None = ...) -> Tensor: ...
@overload
def masked_scatter(x: Tensor, mask: Tensor, value: Tensor, name: str | None = ...) -> Tensor:
    """A copy of `x` in which the elements where `mask` is true are the first ones of `value`, in order."""
@overload
def masked_scatter(input: Tensor, mask: Tensor, value: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def masked_select(x: Tensor, mask: Tensor, name: str | None = ...) -> Tensor:
    """The elements of `x` where `mask` is true, in the order of rows."""
@overload
def masked_select(input: Tensor, mask: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def matmul(x: Tensor, y: Tensor, transpose_x: builtins.bool = ..., transpose_y: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """The matrix product, over any number of matrices at once."""
@overload
def matmul(input: Tensor, other: Tensor, transpose_x: builtins.bool = ..., transpose_y: builtins.bool = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def matrix_transpose(x: Tensor, name: str | None = ...) -> Tensor:
    """`x` with its last two axes exchanged; a view."""
@overload
def matrix_transpose(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def max(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Largest element along `axis`; NaN is larger than anything."""
@overload
def max(elements: Tensor, dims: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
@overload
def maximum(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Element-wise maximum of two tensors; NaN where one is NaN."""
@overload
def maximum(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def mean(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Arithmetic mean of elements along `axis`."""
@overload
def mean(input: Tensor, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ..., dtype: Any = ...) -> Tensor: ...
@overload
def median(x: Tensor, axis: Any = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Median of elements along `axis`: the middle one, or the mean of the two in the middle."""
@overload
def median(elements: Tensor, dims: Any = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ..., mode: Any = ...) -> Tensor: ...
@overload
def min(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Smallest element along `axis`; NaN is smaller than anything. Arguments are those of `max`."""
@overload
def min(elements: Tensor, dims: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
@overload
def minimum(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Element-wise minimum of two tensors; NaN where one is NaN. Arguments are those of `maximum`."""
@overload
def minimum(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def mm(input: Tensor, mat2: Tensor, name: str | None = ...) -> Tensor:
    """The matrix product of `input` and `mat2`, as `matmul` without its flags."""
@overload
def mm(input: Tensor, mat2: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def mod(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Remainder: what `floor_divide` leaves, with the sign of `y`. Arguments are those of `floor_divide`."""
@overload
def mod(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def mod_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `remainder`: writes the result into the first argument and returns it."""
@overload
def mod_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def mode(x: Tensor, axis: builtins.int = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
    """The mode: the most frequent value along an axis, and its last position; of several the smallest."""
@overload
def mode(input: Tensor, dim: builtins.int = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: builtins.int = ...) -> tuple[Tensor, Tensor]: ...
@overload
def moveaxis(x: Tensor, source: Any, destination: Any, name: str | None = ...) -> Tensor:
    """`x` with some axes moved to other places; the rest keep their order."""
@overload
def moveaxis(input: Tensor, source: Any, destination: Any, name: str | None = ...) -> Tensor: ...
@overload
def msort(input: Tensor) -> Tensor:
    """`input` sorted along axis 0, the smallest first; as `sort(input, axis=0)`."""
@overload
def msort(input: Tensor, *, out: Any = ...) -> Tensor: ...
@overload
def mul(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Product of two tensors, element by element. Arguments are those of `add`."""
@overload
def mul(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def mul_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `multiply`: writes the result into the first argument and returns it."""
@overload
def mul_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def multi_dot(x: Sequence[Tensor], name: str | None = ...) -> Tensor:
    """The product of several matrices, in the order of multiplications that costs least."""
@overload
def multi_dot(tensors: Sequence[Tensor], name: str | None = ...) -> Tensor: ...
@overload
def multigammaln(x: Tensor, p: builtins.int, name: str | None = ...) -> Tensor:
    """Logarithm of the multivariate gamma function of dimension `p`."""
@overload
def multigammaln(input: Tensor, p: builtins.int, name: str | None = ...) -> Tensor: ...
@overload
def multigammaln_(x: Any, p: Any, name: Any = ...) -> Tensor:
    """In-place form of `multigammaln`: writes the result into the first argument and returns it."""
@overload
def multigammaln_(input: Any, p: Any, name: Any = ...) -> Tensor: ...
@overload
def multinomial(x: Tensor, num_samples: builtins.int = ..., replacement: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Sampling without or with replacement: random positions, drawn with the weights of each row."""
@overload
def multinomial(input: Tensor, num_samples: builtins.int = ..., replacement: builtins.bool = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def multiply(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Product of two tensors, element by element. Arguments are those of `add`."""
@overload
def multiply(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def multiply_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `multiply`: writes the result into the first argument and returns it."""
@overload
def multiply_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def mv(x: Tensor, vec: Tensor, name: str | None = ...) -> Tensor:
    """The product of a matrix `[m, n]` and a vector `[n]`."""
@overload
def mv(input: Tensor, vec: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def nan_to_num(x: Tensor, nan: builtins.float = ..., posinf: builtins.float | None = ..., neginf: builtins.float | None = ..., name: str | None = ...) -> Tensor:
    """Numbers in place of NaN and infinity."""
@overload
def nan_to_num(input: Tensor, nan: builtins.float = ..., posinf: builtins.float | None = ..., neginf: builtins.float | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def nan_to_num_(x: Any, nan: Any = ..., posinf: Any = ..., neginf: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `nan_to_num`: writes the result into the first argument and returns it."""
@overload
def nan_to_num_(input: Any, nan: Any = ..., posinf: Any = ..., neginf: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def nanmean(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Mean of elements along `axis` that are not NaN; NaN where all are."""
@overload
def nanmean(input: Tensor, dim: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
@overload
def nanmedian(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Median of elements along `axis` that are not NaN."""
@overload
def nanmedian(elements: Tensor, dims: Axes = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., mode: Any = ...) -> Tensor: ...
@overload
def nanquantile(x: Tensor, q: builtins.float | Sequence[builtins.float], axis: Axes = ..., keepdim: builtins.bool = ..., interpolation: str = ..., name: str | None = ...) -> Tensor:
    """As `quantile`, of the elements that are not NaN; NaN where all are."""
@overload
def nanquantile(input: Tensor, q: builtins.float | Sequence[builtins.float], dim: Axes = ..., keepdim: builtins.bool = ..., interpolation: str = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
@overload
def nansum(x: Tensor, axis: Axes = ..., dtype: Any = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Sum of elements along `axis`, NaN counted as 0. Arguments are those of `sum`."""
@overload
def nansum(input: Tensor, dim: Axes = ..., dtype: Any = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
@overload
def ne(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Not equal: where two elements differ. Arguments are those of `less_than`, and complex numbers."""
@overload
def ne(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def neg(x: Tensor, name: str | None = ...) -> Tensor:
    """Negation: each element with the other sign."""
@overload
def neg(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def neg_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `neg`: writes the result into the first argument and returns it."""
@overload
def neg_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def negative(x: Tensor, name: str | None = ...) -> Tensor:
    """Negation: each element with the other sign."""
@overload
def negative(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def nextafter(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """The next number that the dtype holds after `x` in the direction of `y`."""
@overload
def nextafter(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def nonzero(x: Tensor, as_tuple: builtins.bool = ...) -> Any:
    """Where `x` is not zero (or false)."""
@overload
def nonzero(input: Tensor, as_tuple: builtins.bool = ..., *, out: Any = ...) -> Any: ...
@overload
def norm(x: Tensor, p: builtins.float | str = ..., axis: Any = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Norm: the length of vectors, in several senses."""
@overload
def norm(input: Tensor, p: builtins.float | str = ..., dim: Any = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Any = ..., out: Any = ..., dtype: Any = ...) -> Tensor: ...
@overload
def normal(mean: Any = ..., std: Any = ..., shape: Shape | None = ..., name: str | None = ...) -> Tensor:
    """Normally distributed random numbers."""
@overload
def normal(mean: Any = ..., std: Any = ..., size: Shape | None = ..., name: str | None = ..., *, shape: Shape | None = ..., out: Any = ...) -> Tensor: ...
@overload
def normal_(x: Tensor, mean: Any = ..., std: Any = ..., name: str | None = ...) -> Tensor:
    """Fill `x` with normally distributed random numbers; returns `x`."""
@overload
def normal_(input: Tensor, mean: Any = ..., std: Any = ..., name: str | None = ...) -> Tensor: ...
@overload
def not_equal(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Not equal: where two elements differ. Arguments are those of `less_than`, and complex numbers."""
@overload
def not_equal(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def not_equal_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `not_equal`: writes the result into the first argument and returns it."""
@overload
def not_equal_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def numel(x: Tensor, name: str | None = ...) -> Tensor:
    """The number of elements as a tensor: int64, 0-d. `x.size` gives it as an int."""
@overload
def numel(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def one_hot(x: Tensor, num_classes: Any, name: str | None = ...) -> Tensor:
    """One-hot vectors: for each label a vector with 1 at its place and 0 elsewhere."""
@overload
def one_hot(input: Tensor, num_classes: Any, name: str | None = ...) -> Tensor: ...
@overload
def ones(shape: Shape, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """A tensor of `shape` filled with 1. Arguments are those of `zeros`."""
@overload
def ones(size: Shape, dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def ones(*shape: builtins.int | Tensor, dtype: Any = ..., name: str | None = ..., out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def ones_like(x: Tensor, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Ones of the shape of `x`, and of its dtype unless `dtype` names another."""
@overload
def ones_like(input: Tensor, dtype: Any = ..., name: str | None = ..., *, pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def outer(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Outer product: all products of an element of `x` and one of `y`, both flattened: `[m]` and `[n]` give `[m, n]`."""
@overload
def outer(input: Tensor, vec2: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def pad(x: Tensor, pad: Any, mode: str = ..., value: builtins.float = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Padding: `x` with elements added around it."""
@overload
def pad(input: Tensor, pad: Any, mode: str = ..., value: builtins.float = ..., data_format: str = ..., name: str | None = ..., *, pad_from_left_axis: Any = ...) -> Tensor: ...
@overload
def pdist(x: Tensor, p: builtins.float = ..., name: str | None = ...) -> Tensor:
    """The distance of each pair of rows, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
@overload
def pdist(input: Tensor, p: builtins.float = ..., name: str | None = ...) -> Tensor: ...
@overload
def permute(x: Tensor, perm: Sequence[builtins.int], name: str | None = ...) -> Tensor:
    """`x` with its axes in another order."""
@overload
def permute(input: Tensor, dims: Sequence[builtins.int], name: str | None = ..., *, dim0: Any = ...) -> Tensor: ...
@overload
def permute(x: Tensor, *perm: builtins.int | Tensor, name: str | None = ..., dim0: Any = ...) -> Tensor: ...
@overload
def poisson(x: Tensor, name: str | None = ...) -> Tensor:
    """Poisson draws: random counts with the expected values `x`."""
@overload
def poisson(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def polar(abs: Tensor, angle: Tensor, name: str | None = ...) -> Tensor:
    """Complex numbers from absolute values and angles (radians), which broadcast together."""
@overload
def polar(abs: Tensor, angle: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def polygamma(x: Tensor, n: builtins.int, name: str | None = ...) -> Tensor:
    """The n-th derivative of `digamma`, of each element."""
@overload
def polygamma(input: Tensor, n: builtins.int, name: str | None = ...) -> Tensor: ...
@overload
def polygamma_(x: Any, n: Any, name: Any = ...) -> Tensor:
    """In-place form of `polygamma`: writes the result into the first argument and returns it."""
@overload
def polygamma_(input: Any, n: Any, name: Any = ...) -> Tensor: ...
@overload
def positive(x: Tensor, name: str | None = ...) -> Tensor:
    """`+x`: the tensor itself."""
@overload
def positive(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def pow(x: Tensor, y: Any, name: str | None = ...) -> Tensor:
    """Power: `x` to the power of `y`, element by element."""
@overload
def pow(input: Tensor, exponent: Any, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def pow_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `pow`: writes the result into the first argument and returns it."""
@overload
def pow_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def prod(x: Tensor, axis: Axes = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Product of elements along `axis`."""
@overload
def prod(input: Tensor, dim: Axes = ..., keepdim: builtins.bool = ..., dtype: Any = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
@overload
def put_along_axis(arr: Tensor, indices: Tensor, values: Any, axis: builtins.int, reduce: str = ..., include_self: builtins.bool = ..., broadcast: builtins.bool = ...) -> Tensor:
    """`arr` with `values` put where `take_along_axis` would read."""
@overload
def put_along_axis(input: Tensor, indices: Tensor, values: Any, dim: builtins.int, reduce: str = ..., include_self: builtins.bool = ..., broadcast: builtins.bool = ...) -> Tensor: ...
@overload
def put_along_axis_(arr: Tensor, indices: Tensor, values: Any, axis: builtins.int, reduce: str = ..., include_self: builtins.bool = ..., broadcast: builtins.bool = ...) -> Tensor:
    """`put_along_axis` in place."""
@overload
def put_along_axis_(input: Tensor, indices: Tensor, values: Any, dim: builtins.int, reduce: str = ..., include_self: builtins.bool = ..., broadcast: builtins.bool = ...) -> Tensor: ...
@overload
def quantile(x: Tensor, q: builtins.float | Sequence[builtins.float], axis: Axes = ..., keepdim: builtins.bool = ..., interpolation: str = ..., name: str | None = ...) -> Tensor:
    """Quantiles: values below which the parts `q` of the elements along `axis` lie, interpolated linearly."""
@overload
def quantile(input: Tensor, q: builtins.float | Sequence[builtins.float], dim: Axes = ..., keepdim: builtins.bool = ..., interpolation: str = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
@overload
def rad2deg(x: Tensor, name: str | None = ...) -> Tensor:
    """Radians to degrees."""
@overload
def rad2deg(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def rand(shape: Shape, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Random numbers, each equally likely in `[0, 1)`. Arguments are those of `uniform`."""
@overload
def rand(size: Shape, dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def rand(*shape: builtins.int | Tensor, dtype: Any = ..., name: str | None = ..., out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def rand_like(input: Tensor, name: str | None = ..., *, dtype: Any = ...) -> Tensor:
    """Random numbers in [0, 1), as many as a tensor has."""
@overload
def rand_like(input: Tensor, name: str | None = ..., *, dtype: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def randint(low: builtins.int = ..., high: builtins.int | None = ..., shape: Shape = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Random integers, each equally likely in `[low, high)`."""
@overload
def randint(low: builtins.int = ..., high: builtins.int | None = ..., size: Shape = ..., dtype: Any = ..., name: str | None = ..., *, shape: Shape = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def randint_like(x: Tensor, low: builtins.int = ..., high: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Random integers in `[low, high)`, in the shape of `x` and in its dtype unless another is named."""
@overload
def randint_like(input: Tensor, low: builtins.int = ..., high: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def randn(shape: Shape, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Normally distributed random numbers with mean 0 and standard deviation 1, as `standard_normal`."""
@overload
def randn(size: Shape, dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def randn(*shape: builtins.int | Tensor, dtype: Any = ..., name: str | None = ..., out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def randn_like(x: Tensor, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Normally distributed random numbers of mean 0 and variance 1, as many as a tensor has."""
@overload
def randn_like(input: Tensor, dtype: Any = ..., name: str | None = ..., *, pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def random_(x: Tensor, from_: builtins.int = ..., to: builtins.int | None = ...) -> Tensor:
    """Fill `x` with whole random numbers of [from_, to); returns `x`."""
@overload
def random_(input: Tensor, from_: builtins.int = ..., to: builtins.int | None = ..., *, generator: Any = ...) -> Tensor: ...
@overload
def randperm(n: builtins.int, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Permutation: the integers from 0 to n - 1 in random order."""
@overload
def randperm(n: builtins.int, dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def range(start: Any = ..., end: Any = ..., step: Any = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Evenly spaced numbers from `start` to `end`, which is one of them, as PyTorch's `range`; `arange` leaves the end out."""
@overload
def range(start: Any = ..., end: Any = ..., step: Any = ..., dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def real(x: Tensor, name: str | None = ...) -> Tensor:
    """Real part of each element; real numbers are their own."""
@overload
def real(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def reciprocal(x: Tensor, name: str | None = ...) -> Tensor:
    """Reciprocal: 1 divided by each element."""
@overload
def reciprocal(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def reciprocal_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `reciprocal`: writes the result into the first argument and returns it."""
@overload
def reciprocal_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def reduce_as(x: Tensor, target: Tensor, name: str | None = ...) -> Tensor:
    """Sums of `x` along the axes in which it is larger than `target`: what undoes a broadcast."""
@overload
def reduce_as(input: Tensor, target: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def remainder(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Remainder: what `floor_divide` leaves, with the sign of `y`. Arguments are those of `floor_divide`."""
@overload
def remainder(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def remainder_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `remainder`: writes the result into the first argument and returns it."""
@overload
def remainder_(input: Any, other: Any, name: Any = ...) -> Tensor: ...
@overload
def renorm(x: Tensor, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
    """Each slice along an axis, scaled down to the norm `max_norm` where its norm is larger."""
@overload
def renorm(input: Tensor, p: builtins.float, dim: builtins.int, max_norm: builtins.float) -> Tensor: ...
@overload
def renorm_(x: Tensor, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
    """`renorm` that writes into `x`."""
@overload
def renorm_(input: Tensor, p: builtins.float, dim: builtins.int, max_norm: builtins.float) -> Tensor: ...
@overload
def repeat(input: Tensor, repeats: builtins.int | Sequence[builtins.int] | Tensor) -> Tensor:
    """Copies of the whole tensor beside each other; as `tile`. `x.repeat(2, 3)` is `x.repeat([2, 3])`."""
@overload
def repeat(input: Tensor, *repeats: builtins.int | Tensor) -> Tensor: ...
@overload
def repeat_interleave(x: Tensor, repeats: Any, axis: builtins.int | None = ..., name: str | None = ...) -> Tensor:
    """Repetition of elements: each element (or slice along `axis`) several times in succession."""
@overload
def repeat_interleave(input: Tensor, repeats: Any, dim: builtins.int | None = ..., name: str | None = ..., *, axis: builtins.int | None = ..., output_size: Any = ...) -> Tensor: ...
@overload
def reshape(x: Tensor, shape: Sequence[builtins.int | Tensor] | Tensor, name: str | None = ...) -> Tensor:
    """The elements of `x`, row by row, in another shape."""
@overload
def reshape(input: Tensor, size: Sequence[builtins.int | Tensor] | Tensor, name: str | None = ...) -> Tensor: ...
@overload
def reshape(x: Tensor, *shape: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
@overload
def reshape_(x: Tensor, shape: Sequence[builtins.int | Tensor] | Tensor, name: str | None = ...) -> Tensor:
    """`reshape` in place: `x` itself gets the new shape."""
@overload
def reshape_(input: Tensor, size: Sequence[builtins.int | Tensor] | Tensor, name: str | None = ...) -> Tensor: ...
@overload
def reshape_(x: Tensor, *shape: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
@overload
def reverse(x: Tensor, axis: Any, name: str | None = ...) -> Tensor:
    """`flip` under its older name."""
@overload
def reverse(input: Tensor, dim: Any, name: str | None = ...) -> Tensor: ...
@overload
def roll(x: Tensor, shifts: Any, axis: Axes = ..., name: str | None = ...) -> Tensor:
    """`x` with its elements moved on along `axis`; those that leave at the end enter at the start."""
@overload
def roll(input: Tensor, shifts: Any, dim: Axes = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
@overload
def rot90(x: Tensor, k: builtins.int = ..., axes: Sequence[builtins.int] = ..., name: str | None = ...) -> Tensor:
    """Rotation: `x` turned by `k` times 90 degrees in the plane of two axes, from the first towards the second."""
@overload
def rot90(input: Tensor, k: builtins.int = ..., dim: Sequence[builtins.int] = ..., name: str | None = ..., *, axes: Sequence[builtins.int] = ...) -> Tensor: ...
@overload
def round(x: Tensor, name: str | None = ...) -> Tensor:
    """Nearest integer of each element; halves go away from 0."""
@overload
def round(input: Tensor, name: str | None = ..., *, out: Any = ..., decimals: Any = ...) -> Tensor: ...
@overload
def round_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `round`: writes the result into the first argument and returns it."""
@overload
def round_(input: Any, name: Any = ..., *, decimals: Any = ...) -> Tensor: ...
@overload
def row_stack(x: Sequence[Tensor], name: str | None = ...) -> Tensor:
    """Tensors one below the other: along axis 0; a vector is one row."""
@overload
def row_stack(tensors: Sequence[Tensor], name: str | None = ...) -> Tensor: ...
@overload
def rsqrt(x: Tensor, name: str | None = ...) -> Tensor:
    """1 divided by the square root of each element."""
@overload
def rsqrt(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def rsqrt_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `rsqrt`: writes the result into the first argument and returns it."""
@overload
def rsqrt_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def scale(x: Tensor, scale: Any = ..., bias: Any = ..., bias_after_scale: builtins.bool = ..., act: str | None = ..., name: str | None = ...) -> Tensor:
    """`scale * x + bias`, or `scale * (x + bias)`."""
@overload
def scale(input: Tensor, scale: Any = ..., bias: Any = ..., bias_after_scale: builtins.bool = ..., act: str | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def scale_(x: Any, scale: Any = ..., bias: Any = ..., bias_after_scale: Any = ..., act: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `scale`: writes the result into the first argument and returns it."""
@overload
def scale_(input: Any, scale: Any = ..., bias: Any = ..., bias_after_scale: Any = ..., act: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def scatter(x: Tensor, index: Tensor, updates: Tensor, overwrite: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """`x` with some of its rows replaced."""
@overload
def scatter(input: Tensor, index: Tensor, updates: Tensor, overwrite: builtins.bool = ..., name: str | None = ..., *, out: Any = ..., dim: Any = ...) -> Tensor: ...
@overload
def scatter(x: Tensor, *index: Any, updates: Tensor = ..., overwrite: builtins.bool = ..., name: str | None = ..., out: Any = ..., dim: Any = ...) -> Tensor: ...
@overload
def scatter_(x: Tensor, index: Tensor, updates: Tensor, overwrite: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """`scatter` in place."""
@overload
def scatter_(input: Tensor, index: Tensor, updates: Tensor, overwrite: builtins.bool = ..., name: str | None = ..., *, dim: Any = ...) -> Tensor: ...
@overload
def scatter_(x: Tensor, *index: Any, updates: Tensor = ..., overwrite: builtins.bool = ..., name: str | None = ..., dim: Any = ...) -> Tensor: ...
@overload
def scatter_nd(index: Tensor, updates: Tensor, shape: Any, name: str | None = ...) -> Tensor:
    """Zeros of `shape` with `updates` added at positions given by several coordinates."""
@overload
def scatter_nd(index: Tensor, updates: Tensor, size: Any, name: str | None = ...) -> Tensor: ...
@overload
def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor, name: str | None = ...) -> Tensor:
    """`x` with `updates` added at positions given by several coordinates; repeats add up."""
@overload
def scatter_nd_add(input: Tensor, index: Tensor, updates: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def searchsorted(sorted_sequence: Tensor, values: Tensor, out_int32: builtins.bool = ..., right: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Where each value would have to be inserted to keep a sequence sorted."""
@overload
def searchsorted(boundaries: Tensor, input: Tensor, out_int32: builtins.bool = ..., right: builtins.bool = ..., name: str | None = ..., *, out: Any = ..., side: Any = ..., sorter: Any = ...) -> Tensor: ...
@overload
def select_scatter(x: Tensor, values: Tensor, axis: builtins.int, index: builtins.int, name: str | None = ...) -> Tensor:
    """`x` with the slice at `index` along an axis replaced."""
@overload
def select_scatter(input: Tensor, values: Tensor, dim: builtins.int, index: builtins.int, name: str | None = ...) -> Tensor: ...
@overload
def sgn(x: Tensor, name: str | None = ...) -> Tensor:
    """`x / |x|`, and 0 where `x` is 0: the sign of real numbers, the direction of complex ones."""
@overload
def sgn(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def sigmoid(x: Tensor, name: str | None = ...) -> Tensor:
    """Sigmoid: 1 / (1 + exp(-x)) of each element."""
@overload
def sigmoid(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def sigmoid_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `sigmoid`: writes the result into the first argument and returns it."""
@overload
def sigmoid_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def sign(x: Tensor, name: str | None = ...) -> Tensor:
    """-1, 0 or 1: the sign of each element; NaN stays NaN."""
@overload
def sign(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def signbit(x: Tensor, name: str | None = ...) -> Tensor:
    """Which elements have a minus sign; -0.0 has one."""
@overload
def signbit(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def sin(x: Tensor, name: str | None = ...) -> Tensor:
    """Sine of each element, given in radians."""
@overload
def sin(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def sin_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `sin`: writes the result into the first argument and returns it."""
@overload
def sin_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def sinc(x: Tensor, name: str | None = ...) -> Tensor:
    """The normalized sine cardinal, sin(pi x) / (pi x), which is 1 at 0."""
@overload
def sinc(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def sinh(x: Tensor, name: str | None = ...) -> Tensor:
    """Hyperbolic sine of each element."""
@overload
def sinh(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def sinh_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `sinh`: writes the result into the first argument and returns it."""
@overload
def sinh_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def slice(input: Tensor, axes: Sequence[builtins.int], starts: Any, ends: Any) -> Tensor:
    """A range of some axes, by Python's rules for bounds."""
@overload
def slice(input: Tensor, dim: Sequence[builtins.int], starts: Any, ends: Any) -> Tensor: ...
@overload
def slice_scatter(x: Tensor, value: Tensor, axes: Sequence[builtins.int], starts: Sequence[builtins.int], ends: Sequence[builtins.int], strides: Sequence[builtins.int], name: str | None = ...) -> Tensor:
    """A copy of `x` in which a slice is `value`."""
@overload
def slice_scatter(input: Tensor, value: Tensor, dim: Sequence[builtins.int], starts: Sequence[builtins.int], ends: Sequence[builtins.int], strides: Sequence[builtins.int], name: str | None = ...) -> Tensor: ...
@overload
def sort(x: Tensor, axis: builtins.int = ..., descending: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """`x` in order along an axis."""
@overload
def sort(elements: Tensor, dims: builtins.int = ..., descending: builtins.bool = ..., name: str | None = ..., *, axis: builtins.int = ..., stable: Any = ...) -> Tensor: ...
@overload
def split(x: Tensor, num_or_sections: builtins.int | Sequence[builtins.int], axis: Any = ..., name: str | None = ...) -> list[Tensor]:
    """`x` cut into parts along an axis."""
@overload
def split(elements: Tensor, indices_or_sections: builtins.int | Sequence[builtins.int], dims: Any = ..., name: str | None = ..., *, axis: Any = ...) -> list[Tensor]: ...
@overload
def split_with_sizes(x: Tensor, split_sizes: Sequence[builtins.int], dim: builtins.int = ...) -> list[Tensor]:
    """Parts of `x` of given sizes along an axis; as `split` with a list."""
@overload
def split_with_sizes(input: Tensor, split_sizes: Sequence[builtins.int], dim: builtins.int = ...) -> list[Tensor]: ...
@overload
def sqrt(x: Tensor, name: str | None = ...) -> Tensor:
    """Square root of each element; NaN below 0."""
@overload
def sqrt(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def sqrt_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `sqrt`: writes the result into the first argument and returns it."""
@overload
def sqrt_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def square(x: Tensor, name: str | None = ...) -> Tensor:
    """Square: each element times itself."""
@overload
def square(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def square_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `square`: writes the result into the first argument and returns it."""
@overload
def square_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def squeeze(x: Tensor, axis: Axes = ..., name: str | None = ...) -> Tensor:
    """`x` without axes of size 1."""
@overload
def squeeze(input: Tensor, dim: Axes = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
@overload
def squeeze_(x: Tensor, axis: Axes = ..., name: str | None = ...) -> Tensor:
    """`squeeze` in place: `x` itself loses the axes."""
@overload
def squeeze_(input: Tensor, dim: Axes = ..., name: str | None = ..., *, axis: Axes = ...) -> Tensor: ...
@overload
def stack(x: Sequence[Tensor], axis: builtins.int = ..., name: str | None = ...) -> Tensor:
    """Tensors of one shape side by side along a new axis."""
@overload
def stack(tensors: Sequence[Tensor], dim: builtins.int = ..., name: str | None = ..., *, axis: builtins.int = ..., out: Any = ...) -> Tensor: ...
@overload
def standard_gamma(x: Tensor, name: str | None = ...) -> Tensor:
    """Random numbers of gamma distributions of scale 1."""
@overload
def standard_gamma(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def standard_normal(shape: Shape, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Normally distributed random numbers with mean 0 and standard deviation 1."""
@overload
def standard_normal(size: Shape, dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def stanh(x: Tensor, scale_a: builtins.float = ..., scale_b: builtins.float = ..., name: str | None = ...) -> Tensor:
    """Scaled hyperbolic tangent: `scale_b * tanh(scale_a * x)`."""
@overload
def stanh(input: Tensor, scale_a: builtins.float = ..., scale_b: builtins.float = ..., name: str | None = ...) -> Tensor: ...
@overload
def std(x: Tensor, axis: Axes = ..., unbiased: builtins.bool = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Standard deviation of elements along `axis`: the root of `var`, whose arguments it has."""
@overload
def std(input: Tensor, dim: Axes = ..., unbiased: builtins.bool = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ..., correction: Any = ...) -> Tensor: ...
@overload
def strided_slice(x: Tensor, axes: Sequence[builtins.int], starts: Any, ends: Any, strides: Any, name: str | None = ...) -> Tensor:
    """`slice` with a step for each axis, which may be negative."""
@overload
def strided_slice(input: Tensor, dim: Sequence[builtins.int], starts: Any, ends: Any, strides: Any, name: str | None = ...) -> Tensor: ...
@overload
def sub(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Difference of two tensors, element by element. Arguments are those of `add`."""
@overload
def sub(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ..., alpha: Any = ...) -> Tensor: ...
@overload
def sub_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `subtract`: writes the result into the first argument and returns it."""
@overload
def sub_(input: Any, other: Any, name: Any = ..., *, alpha: Any = ...) -> Tensor: ...
@overload
def subtract(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Difference of two tensors, element by element. Arguments are those of `add`."""
@overload
def subtract(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ..., alpha: Any = ...) -> Tensor: ...
@overload
def subtract_(x: Any, y: Any, name: Any = ...) -> Tensor:
    """In-place form of `subtract`: writes the result into the first argument and returns it."""
@overload
def subtract_(input: Any, other: Any, name: Any = ..., *, alpha: Any = ...) -> Tensor: ...
@overload
def sum(x: Tensor, axis: Axes = ..., dtype: Any = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Sum of elements along `axis`."""
@overload
def sum(input: Tensor, dim: Axes = ..., dtype: Any = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ...) -> Tensor: ...
@overload
def swapaxes(x: Tensor, axis0: Any, axis1: builtins.int | None = ..., name: str | None = ...) -> Tensor:
    """`x` with two axes exchanged; a view."""
@overload
def swapaxes(input: Tensor, perm: Any, dim1: builtins.int | None = ..., name: str | None = ..., *, axis1: builtins.int | None = ...) -> Tensor: ...
@overload
def swapdims(x: Tensor, axis0: Any, axis1: builtins.int | None = ..., name: str | None = ...) -> Tensor:
    """`x` with two axes exchanged; a view."""
@overload
def swapdims(input: Tensor, perm: Any, dim1: builtins.int | None = ..., name: str | None = ..., *, axis1: builtins.int | None = ...) -> Tensor: ...
@overload
def take(x: Tensor, index: Tensor, mode: str = ..., name: str | None = ...) -> Tensor:
    """Elements of the flattened `x`."""
@overload
def take(input: Tensor, index: Tensor, mode: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def take_along_axis(arr: Tensor, indices: Tensor, axis: builtins.int, broadcast: builtins.bool = ...) -> Tensor:
    """For each place in `indices`, the element of `arr` at the same place but, along `axis`, at the position it holds."""
@overload
def take_along_axis(input: Tensor, indices: Tensor, dim: builtins.int, broadcast: builtins.bool = ..., *, out: Any = ...) -> Tensor: ...
@overload
def take_along_dim(arr: Tensor, indices: Tensor, axis: builtins.int, broadcast: builtins.bool = ...) -> Tensor:
    """For each place in `indices`, the element of `arr` at the same place but, along `axis`, at the position it holds."""
@overload
def take_along_dim(input: Tensor, indices: Tensor, dim: builtins.int, broadcast: builtins.bool = ..., *, out: Any = ...) -> Tensor: ...
@overload
def tan(x: Tensor, name: str | None = ...) -> Tensor:
    """Tangent of each element, given in radians."""
@overload
def tan(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def tan_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `tan`: writes the result into the first argument and returns it."""
@overload
def tan_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def tanh(x: Tensor, name: str | None = ...) -> Tensor:
    """Hyperbolic tangent of each element."""
@overload
def tanh(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def tanh_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `tanh`: writes the result into the first argument and returns it."""
@overload
def tanh_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def tensor_split(x: Tensor, num_or_indices: builtins.int | Sequence[builtins.int], axis: builtins.int = ..., name: str | None = ...) -> list[Tensor]:
    """Parts of `x` along an axis, which need not be of one size."""
@overload
def tensor_split(input: Tensor, indices_or_sections: builtins.int | Sequence[builtins.int], dim: builtins.int = ..., name: str | None = ..., *, axis: builtins.int = ...) -> list[Tensor]: ...
@overload
def tensordot(x: Tensor, y: Tensor, axes: Any = ..., name: str | None = ...) -> Tensor:
    """Tensor contraction: sums of products over pairs of axes."""
@overload
def tensordot(input: Tensor, other: Tensor, dim: Any = ..., name: str | None = ..., *, axes: Any = ...) -> Tensor: ...
@overload
def tile(x: Tensor, repeat_times: Any, name: str | None = ...) -> Tensor:
    """Tiling: `x` laid out several times along its axes."""
@overload
def tile(input: Tensor, dims: Any, name: str | None = ...) -> Tensor: ...
@overload
def tile(x: Tensor, *repeat_times: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
@overload
def to_dlpack(x: Tensor) -> Any:
    """A capsule with the memory of a tensor, for another library's `from_dlpack`."""
@overload
def to_dlpack(input: Tensor) -> Any: ...
@overload
def to_tensor(data: Any, dtype: Any = ..., place: Any = ..., stop_gradient: builtins.bool = ...) -> Tensor:
    """A tensor with a copy of `data`."""
@overload
def to_tensor(data: Any, dtype: Any = ..., device: Any = ..., stop_gradient: builtins.bool = ..., *, place: Any = ...) -> Tensor: ...
@overload
def tolist(x: Tensor) -> Any:
    """The elements as nested Python lists; a number for a 0-d tensor."""
@overload
def tolist(input: Tensor) -> Any: ...
@overload
def topk(x: Tensor, k: Any, axis: builtins.int | None = ..., largest: builtins.bool = ..., sorted: builtins.bool = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
    """The `k` largest (or smallest) values along an axis, and where they are."""
@overload
def topk(input: Tensor, k: Any, dim: builtins.int | None = ..., largest: builtins.bool = ..., sorted: builtins.bool = ..., name: str | None = ..., *, axis: builtins.int | None = ..., out: Any = ...) -> tuple[Tensor, Tensor]: ...
@overload
def trace(x: Tensor, offset: builtins.int = ..., axis1: builtins.int = ..., axis2: builtins.int = ..., name: str | None = ...) -> Tensor:
    """The sum of a diagonal of each matrix that two axes of `x` form."""
@overload
def trace(input: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., name: str | None = ..., *, axis1: builtins.int = ..., axis2: builtins.int = ...) -> Tensor: ...
@overload
def transpose(x: Tensor, perm: Sequence[builtins.int], name: str | None = ...) -> Tensor:
    """`x` with its axes in another order."""
@overload
def transpose(input: Tensor, dims: Sequence[builtins.int], name: str | None = ..., *, dim0: Any = ...) -> Tensor: ...
@overload
def transpose(x: Tensor, *perm: builtins.int | Tensor, name: str | None = ..., dim0: Any = ...) -> Tensor: ...
@overload
def transpose_(x: Tensor, perm: Sequence[builtins.int], name: str | None = ...) -> Tensor:
    """`transpose` in place: `x` itself gets the new order of axes."""
@overload
def transpose_(input: Tensor, dims: Sequence[builtins.int], name: str | None = ..., *, dim0: Any = ...) -> Tensor: ...
@overload
def transpose_(x: Tensor, *perm: builtins.int | Tensor, name: str | None = ..., dim0: Any = ...) -> Tensor: ...
@overload
def trapezoid(y: Tensor, x: Tensor | None = ..., dx: Any = ..., axis: builtins.int = ..., name: str | None = ...) -> Tensor:
    """The integral of samples along an axis by the trapezoidal rule."""
@overload
def trapezoid(other: Tensor, input: Tensor | None = ..., dx: Any = ..., dim: builtins.int = ..., name: str | None = ..., *, x: Tensor | None = ..., axis: builtins.int = ...) -> Tensor: ...
@overload
def tril(x: Tensor, diagonal: builtins.int = ..., name: str | None = ...) -> Tensor:
    """The lower triangle of matrices: what lies above the diagonal becomes 0."""
@overload
def tril(input: Tensor, diagonal: builtins.int = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def tril_(x: Any, diagonal: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `tril`: writes the result into the first argument and returns it."""
@overload
def tril_(input: Any, diagonal: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def triu(x: Tensor, diagonal: builtins.int = ..., name: str | None = ...) -> Tensor:
    """The upper triangle of matrices: what lies below the diagonal becomes 0."""
@overload
def triu(input: Tensor, diagonal: builtins.int = ..., name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def triu_(x: Any, diagonal: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `triu`: writes the result into the first argument and returns it."""
@overload
def triu_(input: Any, diagonal: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def true_divide(x: Tensor, y: Tensor, name: str | None = ...) -> Tensor:
    """Quotient of two tensors, element by element."""
@overload
def true_divide(input: Tensor, other: Tensor, name: str | None = ..., *, out: Any = ..., rounding_mode: Any = ...) -> Tensor: ...
@overload
def trunc(input: Tensor, name: str | None = ...) -> Tensor:
    """Truncation: each element without its fraction: rounded toward 0."""
@overload
def trunc(input: Tensor, name: str | None = ..., *, out: Any = ...) -> Tensor: ...
@overload
def unbind(input: Tensor, axis: builtins.int = ...) -> list[Tensor]:
    """The slices of `input` along an axis, each without it."""
@overload
def unbind(input: Tensor, dim: builtins.int = ..., *, axis: builtins.int = ...) -> list[Tensor]: ...
@overload
def unflatten(x: Tensor, axis: builtins.int, shape: Sequence[builtins.int] | Tensor, name: str | None = ...) -> Tensor:
    """`x` with one axis cut into several."""
@overload
def unflatten(input: Tensor, dim: builtins.int, size: Sequence[builtins.int] | Tensor, name: str | None = ...) -> Tensor: ...
@overload
def unfold(x: Tensor, axis: builtins.int, size: builtins.int, step: builtins.int, name: str | None = ...) -> Tensor:
    """Windows of `size` elements along an axis, one every `step` elements, as a new last axis."""
@overload
def unfold(input: Tensor, dim: builtins.int, size: builtins.int, step: builtins.int, name: str | None = ...) -> Tensor: ...
@overload
def uniform(shape: Shape, dtype: Any = ..., min: Any = ..., max: Any = ..., seed: builtins.int = ..., name: str | None = ...) -> Tensor:
    """Random numbers, each equally likely in `[min, max)`."""
@overload
def uniform(size: Shape, dtype: Any = ..., from_: Any = ..., to: Any = ..., seed: builtins.int = ..., name: str | None = ..., *, min: Any = ..., max: Any = ..., out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def uniform_(x: Tensor, min: Any = ..., max: Any = ..., seed: builtins.int = ..., name: str | None = ...) -> Tensor:
    """Fill `x` with random numbers in `[min, max)`; returns `x`."""
@overload
def uniform_(input: Tensor, from_: Any = ..., to: Any = ..., seed: builtins.int = ..., name: str | None = ..., *, min: Any = ..., max: Any = ...) -> Tensor: ...
@overload
def unique(x: Tensor, return_index: builtins.bool = ..., return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Any:
    """The unique values of `x`, sorted."""
@overload
def unique(elements: Tensor, return_index: builtins.bool = ..., return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., dims: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ..., sorted: Any = ...) -> Any: ...
@overload
def unique_consecutive(x: Tensor, return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., axis: builtins.int | None = ..., dtype: Any = ..., name: str | None = ...) -> Any:
    """`x` with runs of equal values reduced to one; arguments and results as for `unique`."""
@overload
def unique_consecutive(input: Tensor, return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., dim: builtins.int | None = ..., dtype: Any = ..., name: str | None = ..., *, axis: builtins.int | None = ...) -> Any: ...
@overload
def unsqueeze(x: Tensor, axis: Any, name: str | None = ...) -> Tensor:
    """`x` with new axes of size 1."""
@overload
def unsqueeze(input: Tensor, dim: Any, name: str | None = ...) -> Tensor: ...
@overload
def unsqueeze_(x: Tensor, axis: Any, name: str | None = ...) -> Tensor:
    """`unsqueeze` in place: `x` itself gets the axes."""
@overload
def unsqueeze_(input: Tensor, dim: Any, name: str | None = ...) -> Tensor: ...
@overload
def unstack(x: Tensor, axis: builtins.int = ..., num: builtins.int | None = ...) -> list[Tensor]:
    """`unbind` into copies."""
@overload
def unstack(input: Tensor, dim: builtins.int = ..., steps: builtins.int | None = ..., *, axis: builtins.int = ..., num: builtins.int | None = ...) -> list[Tensor]: ...
@overload
def vander(x: Tensor, n: builtins.int | None = ..., increasing: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """The Vandermonde matrix: powers of a vector as columns."""
@overload
def vander(input: Tensor, n: builtins.int | None = ..., increasing: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def var(x: Tensor, axis: Axes = ..., unbiased: builtins.bool = ..., keepdim: builtins.bool = ..., name: str | None = ...) -> Tensor:
    """Variance of elements along `axis`."""
@overload
def var(input: Tensor, dim: Axes = ..., unbiased: builtins.bool = ..., keepdim: builtins.bool = ..., name: str | None = ..., *, axis: Axes = ..., out: Any = ..., correction: Any = ...) -> Tensor: ...
@overload
def view(x: Tensor, shape_or_dtype: Any, name: str | None = ...) -> Tensor:
    """`x` with another shape, or its bytes as another dtype, always on the memory of `x`."""
@overload
def view(input: Tensor, size: Any, name: str | None = ...) -> Tensor: ...
@overload
def view(x: Tensor, *shape_or_dtype: builtins.int | Tensor, name: str | None = ...) -> Tensor: ...
@overload
def view_as(x: Tensor, other: Tensor, name: str | None = ...) -> Tensor:
    """`x` with the shape of `other`, on the memory of `x`."""
@overload
def view_as(input: Tensor, other: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def view_as_complex(x: Tensor, name: str | None = ...) -> Tensor:
    """Pairs of real numbers as complex ones."""
@overload
def view_as_complex(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def view_as_real(x: Tensor, name: str | None = ...) -> Tensor:
    """Complex numbers as pairs of real ones, in a new last axis of size 2; a view."""
@overload
def view_as_real(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def vsplit(x: Tensor, num_or_sections: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]:
    """`x`, of rank 2 or more, cut into parts along its first axis."""
@overload
def vsplit(input: Tensor, indices_or_sections: builtins.int | Sequence[builtins.int], name: str | None = ...) -> list[Tensor]: ...
@overload
def vstack(x: Sequence[Tensor], name: str | None = ...) -> Tensor:
    """Tensors one below the other: along axis 0; a vector is one row."""
@overload
def vstack(tensors: Sequence[Tensor], name: str | None = ...) -> Tensor: ...
@overload
def where(condition: Tensor, x: Any = ..., y: Any = ..., name: str | None = ...) -> Any:
    """Elements of `x` where `condition` is True, of `y` elsewhere."""
@overload
def where(condition: Tensor, input: Any = ..., other: Any = ..., name: str | None = ..., *, x: Any = ..., y: Any = ..., out: Any = ...) -> Any: ...
@overload
def where_(condition: Tensor, x: Any = ..., y: Any = ..., name: str | None = ...) -> Tensor:
    """In-place form of `where`: writes the result into `x` and returns it."""
@overload
def where_(condition: Tensor, input: Any = ..., other: Any = ..., name: str | None = ..., *, x: Any = ..., y: Any = ...) -> Tensor: ...
@overload
def zero_(x: Tensor) -> Tensor:
    """Fill `x` with 0, in place."""
@overload
def zero_(input: Tensor) -> Tensor: ...
@overload
def zeros(shape: Shape, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """A tensor of `shape` filled with 0."""
@overload
def zeros(size: Shape, dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def zeros(*shape: builtins.int | Tensor, dtype: Any = ..., name: str | None = ..., out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def zeros_like(x: Tensor, dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Zeros of the shape of `x`, and of its dtype unless `dtype` names another."""
@overload
def zeros_like(input: Tensor, dtype: Any = ..., name: str | None = ..., *, pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
__all__: list[str]
__version__: str
bool = _bool_
def in_dynamic_mode() -> Any:
    """Whether operations run at once: not under `enable_static()`."""
dtype = _DType
manual_seed = _seed
