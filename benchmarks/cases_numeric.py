"""The cases of linear algebra and Fourier transforms (float32) and of recurrent layers in three dtypes: what each framework
runs, side by side."""
from __future__ import annotations

import numpy as np

MATRICES = {"64x [32, 32]": [64, 32, 32], "[512, 512]": [1, 512, 512]}


def values(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def definite(shape):
    x = values(shape)
    return x @ np.swapaxes(x, -1, -2) + shape[-1] * np.eye(shape[-1], dtype="float32")


def make(framework: str):
    return {"torch": torch_cases, "paddle": paddle_cases, "wherry": wherry_cases, "numpy": lambda: cases_of(np.linalg, np.fft, np.asarray)}[
        framework]()


def cases_of(linalg, fft, tensor):
    """The names are the same everywhere, NumPy's."""
    cases = {}
    for name, shape in MATRICES.items():
        x, y, spd = tensor(values(shape)), tensor(values(shape, 1)), tensor(definite(shape))
        cases |= {
            f"cholesky {name}": lambda spd=spd: linalg.cholesky(spd),
            f"solve {name}": lambda x=x, y=y: linalg.solve(x, y),
            f"inv {name}": lambda x=x: linalg.inv(x),
            f"qr {name}": lambda x=x: linalg.qr(x),
            f"eigh {name}": lambda spd=spd: linalg.eigh(spd),
            f"svd {name}": lambda x=x: linalg.svd(x, full_matrices=False),
        }
    row, image = values([64, 4096]), values([16, 512, 512])
    whole_row, whole_image = tensor(row + 1j * row[:, ::-1]), tensor(image + 1j * image[::-1])
    row, image = tensor(row), tensor(image)
    return cases | {
        "fft [64, 4096], complex": lambda: fft.fft(whole_row),
        "fft [64, 4096], real": lambda: fft.fft(row),
        "rfft [64, 4096]": lambda: fft.rfft(row),
        "fft2 [16, 512, 512], complex": lambda: fft.fft2(whole_image),
        "rfft2 [16, 512, 512]": lambda: fft.rfft2(image),
    }


def recurrent_cases(layers, inputs, no_grad, clear):
    """One layer of 128 to 256 features, 16 sequences of 64 steps. `layers`: a class by name; the rest: what frameworks call otherwise."""
    cases = {}
    for name, layer_of in layers.items():
        for dtype in ("float32", "bfloat16", "float16"):
            layer, x = layer_of(dtype), inputs(dtype)

            def forward(layer=layer, x=x):
                with no_grad():
                    return layer(x)

            def step(layer=layer, x=x):
                layer(x)[0].sum().backward()
                clear(layer)

            cases |= {f"{name}, {dtype}": forward, f"{name}, {dtype}, forward+backward": step}
    return cases


def torch_cases():
    import torch

    def layer_of(kind):
        return lambda dtype: kind(128, 256, batch_first=True).to(getattr(torch, dtype))

    layers = {"LSTM": layer_of(torch.nn.LSTM), "GRU": layer_of(torch.nn.GRU), "SimpleRNN": layer_of(torch.nn.RNN)}
    return cases_of(torch.linalg, torch.fft, lambda x: torch.from_numpy(np.ascontiguousarray(x))) | recurrent_cases(
        layers, lambda dtype: torch.from_numpy(values([16, 64, 128])).to(getattr(torch, dtype)), torch.no_grad,
        lambda layer: layer.zero_grad())


def paddle_cases():
    import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

    import paddle

    return cases_of(paddle.linalg, paddle.fft, paddle.to_tensor)


def wherry_cases():
    import wherry

    layers = {name: lambda dtype, name=name: getattr(wherry.nn, name)(128, 256).astype(dtype) for name in ("LSTM", "GRU", "SimpleRNN")}
    return cases_of(wherry.linalg, wherry.fft, wherry.to_tensor) | recurrent_cases(
        layers, lambda dtype: wherry.to_tensor(values([16, 64, 128])).astype(dtype), wherry.no_grad, lambda layer: layer.clear_gradients())
