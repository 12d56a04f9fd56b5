"""Windows, mel scales, spectrograms with gradients, wave files and data sets of `paddle.audio`, written down as arrays.

    python audio_program.py wherry|paddle RESULT.pickle FOLDER
"""
from __future__ import annotations

import importlib
import os
import pickle
import sys
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "packages" / "audio" / "tests"))
import recordings  # noqa: E402

WINDOWS = [
    "hamming", "hann", "blackman", "triang", "bohman", "cosine", "tukey", ("tukey", 0.3), ("tukey", 1.5), ("exponential", None, 2.0), "taylor",
    ("taylor", 3, 25), ("taylor", 4, 30, False), ("gaussian", 7), ("general_gaussian", 1.5, 2), ("general_hamming", 0.6),
    ("general_cosine", [0.5, 0.3, 0.2]),
]  # fmt: skip
HZ = [0.0, 3.0, 999.0, 1000.0, 1001.0, 8000.0]


def functions(paddle):
    F = paddle.audio.functional
    for window in WINDOWS:
        for length in (0, 1, 2, 7, 8, 64):
            for periodic in (True, False):
                yield f"get_window {window} {length} {periodic}", F.get_window(window, length, periodic)
    for htk in (True, False):
        for dtype in ("float32", "float64"):
            yield f"hz_to_mel {htk} {dtype}", F.hz_to_mel(paddle.to_tensor(HZ, dtype=dtype), htk)
            yield f"mel_to_hz {htk} {dtype}", F.mel_to_hz(paddle.to_tensor([0.0, 3.0, 14.9, 15.0, 30.0, 60.0], dtype=dtype), htk)
            yield f"mel_frequencies {htk} {dtype}", F.mel_frequencies(8, 0.5, 10000.0, htk, dtype)
            for norm in ("slaney", None, 1, 2.0):
                yield f"compute_fbank_matrix {htk} {dtype} {norm}", F.compute_fbank_matrix(16000, 256, 12, 50.0, None, htk, norm, dtype)
        yield f"numbers {htk}", np.array([F.hz_to_mel(hz, htk) for hz in HZ] + [F.mel_to_hz(hz / 100, htk) for hz in HZ])
    yield "fft_frequencies", F.fft_frequencies(22050, 7, "float64")
    for norm in ("ortho", None):
        yield f"create_dct {norm}", F.create_dct(5, 8, norm, "float64")
    for config in ({}, {"ref_value": 2.0}, {"amin": 1e-2}, {"top_db": None}, {"top_db": 10.0}):
        yield f"power_to_db {config}", F.power_to_db(paddle.to_tensor([[1.0, 1e-12, 100.0, 0.0, -2.0, 1e-3]]), **config)


def layers(paddle):
    waves = np.sin(np.arange(2000) / 7)[None] + np.random.default_rng(0).standard_normal((2, 2000)) * 0.1
    F = paddle.audio.features
    for dtype in ("float32", "float64"):
        for name, layer in {
            "Spectrogram": F.Spectrogram(64, None, dtype=dtype), "Spectrogram power": F.Spectrogram(64, 20, 48, "hamming", 2.0, False, dtype=dtype),
            "MelSpectrogram": F.MelSpectrogram(8000, 64, n_mels=8, dtype=dtype),
            "LogMelSpectrogram": F.LogMelSpectrogram(8000, 64, n_mels=8, top_db=40.0, dtype=dtype),
            "MFCC": F.MFCC(8000, 4, 64, n_mels=8, htk=True, dtype=dtype),
        }.items():
            x = paddle.to_tensor(waves, dtype=dtype)
            x.stop_gradient = False
            out = layer(x)
            (out * paddle.to_tensor(np.cos(np.arange(int(np.prod(out.shape)))).reshape(out.shape), dtype=dtype)).sum().backward()
            yield f"{name} {dtype}", out
            yield f"{name} {dtype} gradient", x.grad


def files(paddle, folder):
    audio, path = paddle.audio, os.path.join(folder, "sound.wav")
    sound = np.stack([np.linspace(-1, 0.9, 9), np.linspace(0.3, -0.3, 9)]).astype("float32")
    for first in (True, False):
        audio.save(path, paddle.to_tensor(sound if first else sound.T), 16000, channels_first=first)
        yield f"bytes {first}", np.frombuffer(Path(path).read_bytes(), np.uint8)
    for config in ({}, {"normalize": False}, {"channels_first": False}, {"num_frames": 3}, {"frame_offset": 2, "num_frames": 3}, {"num_frames": 30}):
        found, rate = audio.load(path, **config)
        yield f"load {config}", found
        yield f"rate {config}", np.array(rate)
    about = audio.info(path)
    yield "info", np.array([about.sample_rate, about.num_samples, about.num_channels, about.bits_per_sample])
    recordings.esc50(os.path.join(folder, ".cache", "paddle", "dataset"))
    for mode in ("train", "dev"):
        for kind in ("raw", "mfcc", "melspectrogram", "logmelspectrogram", "spectrogram"):
            data = audio.datasets.ESC50(mode, 2, kind)
            for i in range(len(data)):
                yield f"ESC50 {mode} {kind} {i}", data[i][0]
                yield f"ESC50 {mode} {kind} {i} label", np.array(data[i][1])


def main():
    framework, result, folder = sys.argv[1:]
    os.environ["HOME"] = folder = os.path.join(folder, framework)  # where the data sets are looked for
    os.makedirs(folder)
    paddle = importlib.import_module(framework)
    found = {}
    for part in (functions(paddle), layers(paddle), files(paddle, folder)):
        found.update((name, value if isinstance(value, np.ndarray) else value.numpy()) for name, value in part)
    Path(result).write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
