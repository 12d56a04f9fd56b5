"""`paddle.audio.features`: spectrograms of waveforms, as layers. Gradients reach the waveform."""
from __future__ import annotations

from typing import Any

from wherry_audio.functional import compute_fbank_matrix, create_dct, power_to_db
from wherry_audio.windows import get_window
from wherry_nn import Layer
from wherry_tensor import Tensor, matmul
from wherry_tensor.arguments import integer, real_number
from wherry_tensor.errors import AssertedArgumentError
from wherry_tensor.explained import explained
from wherry_tensor.functions.signal import stft

__all__ = ["MFCC", "LogMelSpectrogram", "MelSpectrogram", "Spectrogram"]


class Spectrogram(Layer):
    """How strong each frequency is, piece by piece: absolute values of short-time Fourier transforms.

    Args:
        n_fft: samples of a piece.
        hop_length: samples from one piece to the next; None: a quarter of `n_fft`.
        win_length: samples of the window; None: `n_fft`.
        window: of `audio.functional.get_window`: a name, or a tuple of the name and its parameters.
        power: of the absolute values, above 0: 1 gives amplitudes, 2 powers.
        center: piece t is around sample `t * hop_length`, with samples added at both ends; False: it begins there.
        pad_mode: what is added at the ends, "reflect" or "constant".
        dtype: of the window: float32 or float64.

    Shape:
        `[T]` or `[N, T]` to `[n_fft // 2 + 1, frames]` or `[N, n_fft // 2 + 1, frames]`, where frames is `1 + T // hop_length`, or
        `1 + (T - n_fft) // hop_length` without `center`.

    Raises:
        AssertionError: `power` is not positive, the window longer than `n_fft`, or the signal shorter (also a ValueError).
        ValueError: the window is unknown.

    Source:
        `paddle.audio.features.Spectrogram`.

    Examples:
        >>> tone = wherry.sin(wherry.arange(0, 2048, dtype="float32") * (2 * 3.14159265 * 8 / 64))
        >>> spectrum = wherry.audio.features.Spectrogram(n_fft=64, hop_length=32)(tone)
        >>> spectrum.shape, int(spectrum[:, 20].argmax())
        ([33, 65], 8)
    """

    def __init__(
        self, n_fft: int = 512, hop_length: int | None = 512, win_length: int | None = None, window: str | tuple[Any, ...] = "hann",
        power: float = 1.0, center: bool = True, pad_mode: str = "reflect", dtype: str = "float32",
    ) -> None:
        super().__init__()
        if real_number(power, "Spectrogram", "power") <= 0:
            raise AssertedArgumentError(f"Spectrogram: Power of spectrogram must be > 0. Got power={power}, expected 1 or 2, say.")
        self.power = power
        self._n_fft = integer(n_fft, "Spectrogram", "n_fft")
        self._win_length = self._n_fft if win_length is None else integer(win_length, "Spectrogram", "win_length")
        self._hop_length = hop_length
        self._center, self._pad_mode = center, pad_mode
        self.register_buffer("fft_window", get_window(window, self._win_length, True, dtype))

    def forward(self, x: Tensor) -> Tensor:
        """The spectrogram of a waveform."""
        spectrum = stft(x, self._n_fft, self._hop_length, self._win_length, self.fft_window, self._center, self._pad_mode)
        return spectrum.abs() ** self.power


class MelSpectrogram(Layer):
    """A spectrogram in mels: one row for each triangle of `audio.functional.compute_fbank_matrix`.

    Args:
        sr: samples in a second.
        n_fft: samples of a piece, as of `Spectrogram`; `hop_length`, `win_length`, `window`, `center` and `pad_mode` are its arguments, too.
        power: of the absolute values: 1 gives amplitudes, 2 powers.
        n_mels: how many rows.
        f_min: the lowest frequency, in Hz.
        f_max: the highest, in Hz; None: half of `sr`.
        htk: the HTK Book's mels, not Slaney's.
        norm: of the triangles: "slaney", None or a number.
        dtype: of the window and of the triangles: float32 or float64.

    Shape:
        `[T]` or `[N, T]` to `[n_mels, frames]` or `[N, n_mels, frames]`.

    Raises:
        ValueError: as `Spectrogram` and `compute_fbank_matrix`.

    Source:
        `paddle.audio.features.MelSpectrogram`.

    Examples:
        >>> layer = wherry.audio.features.MelSpectrogram(sr=8000, n_fft=256, hop_length=128, n_mels=20)
        >>> layer(wherry.zeros([2, 1024])).shape
        [2, 20, 9]
    """

    def __init__(
        self, sr: int = 22050, n_fft: int = 2048, hop_length: int | None = 512, win_length: int | None = None,
        window: str | tuple[Any, ...] = "hann", power: float = 2.0, center: bool = True, pad_mode: str = "reflect", n_mels: int = 64,
        f_min: float = 50.0, f_max: float | None = None, htk: bool = False, norm: str | float | None = "slaney", dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, hop_length, win_length, window, power, center, pad_mode, dtype)
        self.n_mels, self.f_min, self.htk, self.norm = n_mels, f_min, htk, norm
        self.f_max = sr // 2 if f_max is None else f_max
        self.register_buffer("fbank_matrix", compute_fbank_matrix(sr, n_fft, n_mels, f_min, self.f_max, htk, norm, dtype))

    def forward(self, x: Tensor) -> Tensor:
        """The spectrogram of a waveform."""
        return matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """A spectrogram in mels and decibels.

    Args:
        sr: samples in a second.
        n_fft: samples of a piece; it and the arguments up to `norm` are those of `MelSpectrogram`.
        ref_value: the power of 0 decibels.
        amin: smaller powers are taken for this one.
        top_db: no result is lower than the largest by more than this, in decibels; None leaves them.
        dtype: of the window and of the triangles: float32 or float64.

    Shape:
        `[T]` or `[N, T]` to `[n_mels, frames]` or `[N, n_mels, frames]`.

    Raises:
        ValueError: as `MelSpectrogram` and `audio.functional.power_to_db`.

    Source:
        `paddle.audio.features.LogMelSpectrogram`.

    Examples:
        >>> layer = wherry.audio.features.LogMelSpectrogram(sr=8000, n_fft=256, n_mels=20)
        >>> print(layer(wherry.zeros([1, 1024]))[0, 0, :2].numpy())
        [-100. -100.]
    """

    def __init__(
        self, sr: int = 22050, n_fft: int = 512, hop_length: int | None = None, win_length: int | None = None,
        window: str | tuple[Any, ...] = "hann", power: float = 2.0, center: bool = True, pad_mode: str = "reflect", n_mels: int = 64,
        f_min: float = 50.0, f_max: float | None = None, htk: bool = False, norm: str | float | None = "slaney", ref_value: float = 1.0,
        amin: float = 1e-10, top_db: float | None = None, dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._melspectrogram = MelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm, dtype
        )
        self.ref_value, self.amin, self.top_db = ref_value, amin, top_db

    def forward(self, x: Tensor) -> Tensor:
        """The spectrogram of a waveform."""
        return power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


class MFCC(Layer):
    """Mel frequency cepstral coefficients: a cosine transform of a spectrogram in mels and decibels.

    Args:
        sr: samples in a second.
        n_mfcc: how many coefficients, at most `n_mels`.
        n_fft: samples of a piece; it and the arguments after it are those of `LogMelSpectrogram`.

    Shape:
        `[T]` or `[N, T]` to `[n_mfcc, frames]` or `[N, n_mfcc, frames]`.

    Raises:
        AssertionError: there are more coefficients than mels (also a ValueError).
        ValueError: as `LogMelSpectrogram`.

    Source:
        `paddle.audio.features.MFCC`; Davis & Mermelstein (1980).

    Examples:
        >>> layer = wherry.audio.features.MFCC(sr=8000, n_mfcc=13, n_fft=256, n_mels=20)
        >>> layer(wherry.zeros([2, 1024])).shape
        [2, 13, 17]
    """

    def __init__(
        self, sr: int = 22050, n_mfcc: int = 40, n_fft: int = 512, hop_length: int | None = None, win_length: int | None = None,
        window: str | tuple[Any, ...] = "hann", power: float = 2.0, center: bool = True, pad_mode: str = "reflect", n_mels: int = 64,
        f_min: float = 50.0, f_max: float | None = None, htk: bool = False, norm: str | float | None = "slaney", ref_value: float = 1.0,
        amin: float = 1e-10, top_db: float | None = None, dtype: str = "float32",
    ) -> None:
        super().__init__()
        if n_mfcc > n_mels:
            raise AssertedArgumentError(
                f"MFCC: n_mfcc cannot be larger than n_mels: {n_mfcc} vs {n_mels}. Got n_mfcc={n_mfcc}, expected at most {n_mels}. Raise n_mels."
            )
        self._log_melspectrogram = LogMelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm, ref_value, amin, top_db, dtype
        )
        self.register_buffer("dct_matrix", create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """The coefficients of a waveform."""
        return matmul(self.dct_matrix, self._log_melspectrogram(x), transpose_x=True)


explained(globals())
