"""Calls of linear algebra and spectra, drawn from a seed like those of generated_calls.py.

What is not unique (signs and phases of vectors, the order of eigenvalues) is compared through what is.
"""
from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from calls import Call
from generated_calls import Draw

FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
SQUARES = ([3, 3], [1, 1], [2, 3, 3], [2, 1, 2, 2], [4, 4])
MATRICES = (*SQUARES, [4, 2], [2, 4], [2, 4, 2], [2, 2, 4], [1, 3])

Maker = Callable[[Draw, str], str]
MAKERS: dict[str, Maker] = {}


def family(names: str) -> Callable[[Maker], Maker]:
    def add(maker: Maker) -> Maker:
        MAKERS.update(dict.fromkeys(names.split(), maker))
        return maker

    return add


def numbers(d: Draw, shape: list[int], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(d.random.randrange(1 << 30))
    values = rng.standard_normal(shape)
    if dtype in COMPLEX:
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values).astype(dtype)


def definite(d: Draw, name: str, shape: list[int], dtype: str) -> str:
    x = numbers(d, shape, dtype)
    d.inputs[name] = (x @ np.conj(np.swapaxes(x, -1, -2)) + shape[-1] * np.eye(shape[-1])).astype(dtype)
    return name


def regular(d: Draw, name: str, shape: list[int], dtype: str) -> str:
    d.inputs[name] = (numbers(d, shape, dtype) + 3 * np.eye(shape[-1])).astype(dtype)
    return name


def given(d: Draw, name: str, shape: list[int], dtype: str) -> str:
    d.inputs[name] = numbers(d, shape, dtype)
    return name


@family("cholesky cholesky_solve solve triangular_solve inv inverse det slogdet matrix_power")
def systems(d: Draw, name: str) -> str:
    shape, dtype = list(d.one(*SQUARES)), d.one(*FLOATS)
    right = [*(shape[:-2] if d.chance(0.6) else []), shape[-1], d.one(1, 2)]
    upper = d.chance(0.5)
    if name == "cholesky":
        definite(d, "x", shape, dtype)
        return f"paddle.linalg.cholesky(x{d.one('', f', {upper}', f', upper={upper}')})" if d.chance(0.8) else "x.cholesky()"
    if name == "cholesky_solve":
        factor = np.linalg.cholesky(d.inputs[definite(d, "y", shape, dtype)])
        d.inputs["y"] = np.ascontiguousarray(np.swapaxes(factor, -1, -2)) if upper else factor
        given(d, "x", right, dtype)
        return f"paddle.linalg.cholesky_solve(x, y, upper={upper})"
    regular(d, "x", shape, dtype)
    if name == "solve":
        given(d, "y", right if d.chance(0.8) else shape[:-1], dtype)
        return d.one("paddle.linalg.solve(x, y)", "x.solve(y)")
    if name == "triangular_solve":
        given(d, "y", right, dtype)
        return f"paddle.linalg.triangular_solve(x, y, {upper}, transpose={d.chance(0.5)}, unitriangular={d.chance(0.3)})"
    if name == "matrix_power":
        return f"paddle.linalg.matrix_power(x, {d.one(0, 1, 2, 3, 5, -1, -2)})"
    return f"paddle.{'' if name == 'inverse' else 'linalg.'}{name}(x)"


@family("qr lu svd pinv cond matrix_rank lstsq")
def factors(d: Draw, name: str) -> str:
    shape, dtype = list(d.one(*MATRICES)), d.one(*FLOATS)
    given(d, "x", shape, dtype)
    square = shape[-1] == shape[-2]
    if name == "qr":
        if d.chance(0.3):
            return "paddle.linalg.qr(x, mode='r')"
        mode = d.one("", ", mode='complete'") if shape[-2] <= shape[-1] else ""
        return f"paddle.linalg.qr(x{mode})"
    if name == "lu":
        return d.one("paddle.linalg.lu(x)", "paddle.linalg.lu(x, get_infos=True)", "paddle.linalg.lu_unpack(*paddle.linalg.lu(x))")
    if name == "svd":
        return d.one("paddle.linalg.svd(x)[1]", "(lambda u, s, vh: paddle.matmul(u * s.unsqueeze(-2), vh))(*paddle.linalg.svd(x))",
                     "[t.shape for t in paddle.linalg.svd(x, full_matrices=True)]")
    if name == "pinv":
        return f"paddle.linalg.pinv(x{d.one('', ', rcond=1e-3')})"
    if name == "cond":
        return f"paddle.linalg.cond(x{d.one('', ', 2', ', -2', *(', ' + p for p in (repr('fro'), repr('nuc'), '1', '-1', 'np.inf') if square))})"
    if name == "matrix_rank":
        return f"paddle.linalg.matrix_rank(x{d.one('', ', tol=0.5', ', 0.01')})"
    given(d, "y", [*shape[:-1], 2], dtype)
    return f"paddle.linalg.lstsq(x, y{d.one('', *(f', driver={k!r}' for k in ('gels', 'gelsy', 'gelsd', 'gelss')))})[{d.one(0, 0, 2)}]"


@family("eigh eigvalsh eigvals eig")
def eigenvalues(d: Draw, name: str) -> str:
    shape, dtype = list(d.one(*SQUARES)), d.one(*FLOATS, *COMPLEX)
    if name in ("eigh", "eigvalsh"):
        definite(d, "x", shape, dtype)
        half = d.one("", ", UPLO='U'", ", 'L'")
        if name == "eigvalsh":
            return f"paddle.linalg.eigvalsh(x{half})"
        if dtype in COMPLEX or d.chance(0.5):
            return f"paddle.linalg.eigh(x{half})[0]"
        return f"(lambda w, v: paddle.matmul(v * (w * w).unsqueeze(-2), v, transpose_y=True))(*paddle.linalg.eigh(x{half}))"
    given(d, "x", shape, dtype)
    return "paddle.real(paddle.linalg.eigvals(x)).sort(-1)" if name == "eigvals" else "paddle.real(paddle.linalg.eig(x)[0]).sort(-1)"


@family("cov corrcoef vander renorm householder_product multi_dot pca_lowrank")
def data(d: Draw, name: str) -> str:
    dtype = d.one(*FLOATS)
    if name in ("cov", "corrcoef"):
        given(d, "x", d.one([5], [3, 5], [4, 4]), dtype)
        extra = d.one("", ", rowvar=False", ", False")
        if name == "cov" and d.chance(0.6) and not extra:
            count = d.inputs["x"].shape[-1]
            d.inputs["f"] = np.arange(1, count + 1)
            d.inputs["a"] = np.linspace(0.5, 1.5, count).astype(dtype)
            extra = d.one(", fweights=f", ", aweights=a", ", ddof=False", ", True, False, f, a", ", fweights=f, aweights=a")
        return f"paddle.linalg.{name}(x{extra})"
    if name == "vander":
        d.tensor("x", [d.one(1, 3, 4)], d.one(*FLOATS, "int32", "int64"))
        return f"paddle.vander(x{d.one('', ', 2', ', n=5', ', 0')}{d.one('', ', increasing=True')})"
    if name == "renorm":
        given(d, "x", d.one([3], [2, 3], [2, 3, 2]), dtype)
        return f"paddle.renorm(x, {d.one('1.0', '2.0', '3.0')}, {d.one(0, -1)}, {d.one('0.5', '1.0', '100.0')})"
    if name == "householder_product":
        shape = d.one([3, 2], [3, 3], [2, 4, 2])
        given(d, "x", shape, dtype)
        given(d, "t", [*shape[:-2], d.one(1, shape[-1])], dtype)
        return "paddle.linalg.householder_product(x, t)"
    if name == "pca_lowrank":
        given(d, "x", d.one([6, 4], [2, 5, 3]), dtype)
        return f"paddle.linalg.pca_lowrank(x, q={d.one(1, 2)}, niter=9{d.one('', ', center=False')})[1]"
    for key, shape in zip("xyz", ([2, 3], [3, 4], [4, 2]), strict=True):
        given(d, key, shape, dtype)
    return "paddle.linalg.multi_dot([x, y, z])"


ONE = "fft ifft rfft irfft hfft ihfft"
TWO = "fft2 ifft2 rfft2 irfft2 hfft2 ihfft2"
MANY = "fftn ifftn rfftn irfftn hfftn ihfftn"


@family(f"{ONE} {TWO} {MANY}")
def transforms(d: Draw, name: str) -> str:
    halves = name.startswith(("irfft", "hfft"))
    dtype = d.one("float32", "float64") if name.startswith(("rfft", "ihfft")) else d.one(*COMPLEX, *COMPLEX, *(() if halves else FLOATS))
    shape = d.one([5], [4, 6], [2, 3, 4], [16], [3, 8]) if name in ONE.split() else d.one([4, 6], [2, 3, 4], [3, 5])
    given(d, "x", shape, dtype)
    parts, rank = ["x"], len(shape)
    if name in ONE.split():
        if d.chance(0.5):
            parts.append(f"n={d.one(2, 4, 7, 9)}")
        if d.chance(0.4):
            parts.append(f"axis={d.random.randrange(-rank, rank)}")
    else:
        count = 2 if name in TWO.split() else d.random.randint(1, rank)
        with_axes = d.chance(0.6)
        if d.chance(0.5):
            parts.append(f"s={[d.one(2, 4, 5) for _ in range(count)]}")
        if with_axes:
            parts.append(f"axes={d.random.sample(range(rank), count)}")
    if d.chance(0.6):
        parts.append(f"norm={d.one('backward', 'ortho', 'forward')!r}")
    return f"paddle.fft.{name}({', '.join(parts)})"


@family("fftshift ifftshift fftfreq rfftfreq")
def orders(d: Draw, name: str) -> str:
    if name.endswith("freq"):
        return f"paddle.fft.{name}({d.one(1, 2, 5, 8)}{d.one('', ', 0.5', ', d=2.0')})"
    shape = d.one([4], [5], [3, 4], [2, 3, 5])
    d.tensor("x", shape, d.one(*FLOATS, "int64"))
    return f"paddle.fft.{name}(x{d.one('', f', axes={d.random.randrange(-len(shape), len(shape))}', ', axes=[0]')})"


@family("stft istft frame overlap_add")
def signals(d: Draw, name: str) -> str:
    if name == "frame":
        given(d, "x", d.one([9], [2, 9], [9, 9]), d.one(*FLOATS))
        return f"paddle.signal.frame(x, {d.one(1, 3, 4)}, {d.one(1, 2)}{d.one('', ', axis=-1', ', axis=0' if d.inputs['x'].shape[0] == 9 else '')})"
    if name == "overlap_add":
        given(d, "x", d.one([4, 3], [2, 4, 3], [3, 4, 2]), d.one(*FLOATS))
        return f"paddle.signal.overlap_add(x, {d.one(1, 2, 3) if d.inputs['x'].shape[-2] == 4 else 2}{d.one('', ', axis=0') if d.inputs['x'].shape[-2] == 4 and d.inputs['x'].shape[1] == 4 else ''})"
    n_fft = d.one(8, 16, 9)
    dtype, parts = d.one(*FLOATS), ["x", str(n_fft)]
    length = n_fft
    if d.chance(0.5):
        parts.append(f"hop_length={d.one(1, 2, 3)}")
    if d.chance(0.4):
        length = n_fft - 2
        parts.append(f"win_length={length}")
    if d.chance(0.6):
        d.inputs["w"] = np.linspace(0.5, 1.5, length).astype(dtype)
        parts.append("window=w")
    if d.chance(0.3):
        parts.append("normalized=True")
    onesided = d.chance(0.7)
    if not onesided:
        parts.append("onesided=False")
    # A window with zeros around it says nothing at the ends of a signal that is not extended.
    if d.chance(0.3) and (name == "stft" or length == n_fft):
        parts.append("center=False")
    if name == "stft":
        given(d, "x", d.one([40], [2, 33]), dtype)
        if d.chance(0.3):
            parts.append("pad_mode='constant'")
    else:
        given(d, "x", [*d.one([], [2]), n_fft // 2 + 1 if onesided else n_fft, 7], "complex64" if dtype == "float32" else "complex128")
        if d.chance(0.3):
            parts.append("length=9")
    return f"paddle.signal.{name}({', '.join(parts)})"


# Their gradients are those of vectors whose signs are open, or stop in Paddle.
UNDIFFERENTIATED = ("lstsq", "matrix_rank", "lu", "eig", "eigvals", "pca_lowrank", "renorm")


def drawn(seed: int, count: int) -> list[Call]:
    names, calls = sorted(MAKERS), []
    for number in range(count):
        name = names[number % len(names)]
        d = Draw((seed, number, name).__repr__())
        expression = MAKERS[name](d, name)
        floating = all(value.dtype.kind == "f" for value in d.inputs.values())
        differentiated = floating and name not in UNDIFFERENTIATED and ".shape" not in expression
        calls.append(Call(expression, ("as given",), differentiated and d.chance(0.5), d.inputs))
    return calls


SEED, COUNT = int(os.environ.get("GENERATED_SEED", "0")), int(os.environ.get("GENERATED_COUNT", "1000"))
CALLS = drawn(SEED, COUNT)
