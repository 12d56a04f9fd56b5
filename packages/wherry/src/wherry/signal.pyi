"""Stub of wherry.signal, written by tools/stubs.py: where each public name comes from."""
from typing import overload
from wherry_tensor._core import Tensor
@overload
def frame(x: Tensor, frame_length: int, hop_length: int, axis: int = ..., name: str | None = ...) -> Tensor:
    """A signal cut into frames, which may overlap."""
@overload
def frame(input: Tensor, frame_length: int, hop_length: int, dim: int = ..., name: str | None = ..., *, axis: int = ...) -> Tensor: ...
@overload
def istft(x: Tensor, n_fft: int, hop_length: int | None = ..., win_length: int | None = ..., window: Tensor | None = ..., center: bool = ..., normalized: bool = ..., onesided: bool = ..., length: int | None = ..., return_complex: bool = ..., name: str | None = ...) -> Tensor:
    """The inverse short-time Fourier transform: the signal whose frames have these spectra, by least squares where frames disagree."""
@overload
def istft(input: Tensor, n_fft: int, hop_length: int | None = ..., win_length: int | None = ..., window: Tensor | None = ..., center: bool = ..., normalized: bool = ..., onesided: bool = ..., length: int | None = ..., return_complex: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def overlap_add(x: Tensor, hop_length: int, axis: int = ..., name: str | None = ...) -> Tensor:
    """The sum of frames, each `hop_length` after the one before: the adjoint of `frame`."""
@overload
def overlap_add(input: Tensor, hop_length: int, dim: int = ..., name: str | None = ..., *, axis: int = ...) -> Tensor: ...
@overload
def stft(x: Tensor, n_fft: int, hop_length: int | None = ..., win_length: int | None = ..., window: Tensor | None = ..., center: bool = ..., pad_mode: str = ..., normalized: bool = ..., onesided: bool = ..., name: str | None = ...) -> Tensor:
    """The short-time Fourier transform: spectra of the frames of a signal."""
@overload
def stft(input: Tensor, n_fft: int, hop_length: int | None = ..., win_length: int | None = ..., window: Tensor | None = ..., center: bool = ..., pad_mode: str = ..., normalized: bool = ..., onesided: bool = ..., name: str | None = ...) -> Tensor: ...
__all__: list[str]
