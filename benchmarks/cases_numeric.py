"""The cases of linear algebra and Fourier transforms: what each framework runs, side by side. float32."""
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


def torch_cases():
    import torch

    return cases_of(torch.linalg, torch.fft, lambda x: torch.from_numpy(np.ascontiguousarray(x)))


def paddle_cases():
    import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

    import paddle

    return cases_of(paddle.linalg, paddle.fft, paddle.to_tensor)


def wherry_cases():
    import wherry

    return cases_of(wherry.linalg, wherry.fft, wherry.to_tensor)
