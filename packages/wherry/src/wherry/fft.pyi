"""Stub of wherry.fft, written by tools/stubs.py: where each public name comes from."""
from collections.abc import Sequence
from typing import Any
from typing import overload
from wherry_tensor._core import Tensor
from wherry_tensor.functions.fft import Sizes
@overload
def fft(x: Tensor, n: int | None = ..., axis: int = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """Discrete Fourier transform along an axis: `X[k] = sum_j x[j] exp(-2 pi i j k / n)`."""
@overload
def fft(input: Tensor, n: int | None = ..., dim: int = ..., norm: str = ..., name: str | None = ..., *, axis: int = ..., out: Any = ...) -> Tensor: ...
@overload
def fft2(x: Tensor, s: Sizes = ..., axes: Sequence[int] = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """Two-dimensional discrete Fourier transform: `fft` along two axes."""
@overload
def fft2(input: Tensor, s: Sizes = ..., dim: Sequence[int] = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] = ..., out: Any = ...) -> Tensor: ...
@overload
def fftfreq(n: int, d: float = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """The frequencies of the elements of `fft`: 0, 1, ..., then the negative ones, over `n * d`."""
@overload
def fftfreq(n: int, d: float = ..., dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def fftn(x: Tensor, s: Sizes = ..., axes: Sequence[int] | None = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """N-dimensional discrete Fourier transform: `fft` along several axes."""
@overload
def fftn(input: Tensor, s: Sizes = ..., dim: Sequence[int] | None = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] | None = ..., out: Any = ...) -> Tensor: ...
@overload
def fftshift(x: Tensor, axes: int | Sequence[int] | None = ..., name: str | None = ...) -> Tensor:
    """The elements of a spectrum in the order of their frequencies: the zero in the middle."""
@overload
def fftshift(input: Tensor, dim: int | Sequence[int] | None = ..., name: str | None = ..., *, axes: int | Sequence[int] | None = ..., out: Any = ...) -> Tensor: ...
@overload
def hfft(x: Tensor, n: int | None = ..., axis: int = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`fft` of a Hermitian signal, given by its first half: a real spectrum."""
@overload
def hfft(input: Tensor, n: int | None = ..., dim: int = ..., norm: str = ..., name: str | None = ..., *, axis: int = ..., out: Any = ...) -> Tensor: ...
@overload
def hfft2(x: Tensor, s: Sizes = ..., axes: Sequence[int] = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`hfft` along two axes. The last of them comes from one half."""
@overload
def hfft2(input: Tensor, s: Sizes = ..., dim: Sequence[int] = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] = ..., out: Any = ...) -> Tensor: ...
@overload
def hfftn(x: Tensor, s: Sizes = ..., axes: Sequence[int] | None = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`hfft` along several axes. The last of them comes from one half."""
@overload
def hfftn(input: Tensor, s: Sizes = ..., dim: Sequence[int] | None = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] | None = ..., out: Any = ...) -> Tensor: ...
@overload
def ifft(x: Tensor, n: int | None = ..., axis: int = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """Inverse discrete Fourier transform: the inverse of `fft` along an axis."""
@overload
def ifft(input: Tensor, n: int | None = ..., dim: int = ..., norm: str = ..., name: str | None = ..., *, axis: int = ..., out: Any = ...) -> Tensor: ...
@overload
def ifft2(x: Tensor, s: Sizes = ..., axes: Sequence[int] = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`ifft` along two axes."""
@overload
def ifft2(input: Tensor, s: Sizes = ..., dim: Sequence[int] = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] = ..., out: Any = ...) -> Tensor: ...
@overload
def ifftn(x: Tensor, s: Sizes = ..., axes: Sequence[int] | None = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`ifft` along several axes."""
@overload
def ifftn(input: Tensor, s: Sizes = ..., dim: Sequence[int] | None = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] | None = ..., out: Any = ...) -> Tensor: ...
@overload
def ifftshift(x: Tensor, axes: int | Sequence[int] | None = ..., name: str | None = ...) -> Tensor:
    """The inverse of `fftshift`."""
@overload
def ifftshift(input: Tensor, dim: int | Sequence[int] | None = ..., name: str | None = ..., *, axes: int | Sequence[int] | None = ..., out: Any = ...) -> Tensor: ...
@overload
def ihfft(x: Tensor, n: int | None = ..., axis: int = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """The inverse of `hfft`: the first half of a Hermitian signal, from a real spectrum."""
@overload
def ihfft(input: Tensor, n: int | None = ..., dim: int = ..., norm: str = ..., name: str | None = ..., *, axis: int = ..., out: Any = ...) -> Tensor: ...
@overload
def ihfft2(x: Tensor, s: Sizes = ..., axes: Sequence[int] = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`ihfft` along two axes. The last of them keeps one half."""
@overload
def ihfft2(input: Tensor, s: Sizes = ..., dim: Sequence[int] = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] = ..., out: Any = ...) -> Tensor: ...
@overload
def ihfftn(x: Tensor, s: Sizes = ..., axes: Sequence[int] | None = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`ihfft` along several axes. The last of them keeps one half."""
@overload
def ihfftn(input: Tensor, s: Sizes = ..., dim: Sequence[int] | None = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] | None = ..., out: Any = ...) -> Tensor: ...
@overload
def irfft(x: Tensor, n: int | None = ..., axis: int = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """The inverse of `rfft`: real numbers from the first half of a Hermitian spectrum."""
@overload
def irfft(input: Tensor, n: int | None = ..., dim: int = ..., norm: str = ..., name: str | None = ..., *, axis: int = ..., out: Any = ...) -> Tensor: ...
@overload
def irfft2(x: Tensor, s: Sizes = ..., axes: Sequence[int] = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`irfft` along two axes. The last of them comes from one half."""
@overload
def irfft2(input: Tensor, s: Sizes = ..., dim: Sequence[int] = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] = ..., out: Any = ...) -> Tensor: ...
@overload
def irfftn(x: Tensor, s: Sizes = ..., axes: Sequence[int] | None = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`irfft` along several axes. The last of them comes from one half."""
@overload
def irfftn(input: Tensor, s: Sizes = ..., dim: Sequence[int] | None = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] | None = ..., out: Any = ...) -> Tensor: ...
@overload
def rfft(x: Tensor, n: int | None = ..., axis: int = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`fft` of real numbers: the first `n // 2 + 1` elements, which determine the others."""
@overload
def rfft(input: Tensor, n: int | None = ..., dim: int = ..., norm: str = ..., name: str | None = ..., *, axis: int = ..., out: Any = ...) -> Tensor: ...
@overload
def rfft2(x: Tensor, s: Sizes = ..., axes: Sequence[int] = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`rfft` along two axes. The last of them keeps one half."""
@overload
def rfft2(input: Tensor, s: Sizes = ..., dim: Sequence[int] = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] = ..., out: Any = ...) -> Tensor: ...
@overload
def rfftfreq(n: int, d: float = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """The frequencies of the elements of `rfft`: 0, 1, ..., `n // 2`, over `n * d`."""
@overload
def rfftfreq(n: int, d: float = ..., dtype: Any = ..., name: str | None = ..., *, out: Any = ..., pin_memory: Any = ..., requires_grad: Any = ..., device: Any = ...) -> Tensor: ...
@overload
def rfftn(x: Tensor, s: Sizes = ..., axes: Sequence[int] | None = ..., norm: str = ..., name: str | None = ...) -> Tensor:
    """`rfft` along several axes. The last of them keeps one half."""
@overload
def rfftn(input: Tensor, s: Sizes = ..., dim: Sequence[int] | None = ..., norm: str = ..., name: str | None = ..., *, axes: Sequence[int] | None = ..., out: Any = ...) -> Tensor: ...
__all__: list[str]
