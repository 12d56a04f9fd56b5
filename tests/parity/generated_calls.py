"""Calls that nobody thought of: functions of `paddle.*` with shapes, dtypes and arguments drawn from a seed.

    python generated_calls.py SEED COUNT       print them

Values are small and tame; what varies is what tables forget: sizes of 0 and 1, 0-d, integers, bool and complex,
broadcasting, negative axes, keyword and positional forms, tensors where numbers are usual. `GENERATED_SEED` and
`GENERATED_COUNT` in the environment ask for others than those that are always compared.
"""
from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from calls import Call

SHAPES = ([], [1], [3], [0], [2, 3], [3, 1], [1, 3], [2, 0], [2, 3, 2], [2, 1, 3], [3, 3], [2, 2, 3, 2])
FLOATS = ("float32", "float64")
NUMBERS = (*FLOATS, "int32", "int64")
ALL = (*NUMBERS, "bool", "uint8", "complex64")


class Draw:
    """One call in the making: its inputs, and the random choices that led to them."""

    def __init__(self, seed: Any) -> None:
        self.random = random.Random(seed)
        self.inputs: dict[str, np.ndarray] = {}

    def one(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def array(self, shape: list[int], dtype: str, low: float = -2.0, high: float = 2.0) -> np.ndarray:
        values = np.random.default_rng(self.random.randrange(1 << 30)).uniform(low, high, shape)
        if dtype == "bool":
            return np.asarray(values > (low + high) / 2)
        if dtype == "uint8":
            return np.asarray(np.abs(values) * 3).astype("uint8")
        if dtype.startswith("int"):
            return np.asarray(values * 3).astype(dtype)
        if dtype == "complex64":
            return np.asarray(values + 1j * values[..., ::-1] if np.ndim(values) else values + 0.5j).astype(dtype)
        return np.asarray(values.round(2) if shape else round(float(values), 2)).astype(dtype)

    def tensor(self, name: str, shape: list[int], dtype: str, low: float = -2.0, high: float = 2.0) -> str:
        self.inputs[name] = self.array(shape, dtype, low, high)
        return name

    def shape(self) -> list[int]:
        return list(self.one(*SHAPES))

    def axis(self, rank: int) -> int:
        return self.random.randrange(-rank, rank) if rank and not self.chance(0.03) else self.one(0, -1, rank)

    def axes(self, rank: int) -> Any:
        if self.chance(0.25):
            return None
        if self.chance(0.5) or not rank:
            return self.axis(rank)
        return self.one(list, tuple)(self.random.sample(range(rank), self.random.randint(1, rank)))

    def beside(self, shape: list[int]) -> list[int]:
        """A shape that broadcasts with `shape`, mostly."""
        if self.chance(0.5):
            return shape
        other = [size if self.chance(0.6) else 1 for size in shape]
        return other[self.random.randint(0, len(other)):] if self.chance(0.4) else other


def arguments(d: Draw, *pairs: tuple[str, Any]) -> str:
    """The arguments by position or by name; once by name, always by name."""
    named, parts = False, []
    for name, value in pairs:
        named = named or d.chance(0.3)
        parts.append(f"{name}={value}" if named else f"{value}")
    return ", ".join(parts)


Maker = Callable[[Draw, str], str]
MAKERS: dict[str, Maker] = {}


def family(names: str) -> Callable[[Maker], Maker]:
    def add(maker: Maker) -> Maker:
        MAKERS.update(dict.fromkeys(names.split(), maker))
        return maker

    return add


@family("""abs ceil cos cosh exp expm1 floor neg round rsqrt sign sin sinh sqrt square tan tanh atan asinh erf lgamma digamma reciprocal
    i0 i0e i1 i1e trunc frac isnan isinf isfinite sgn conj real imag angle rad2deg deg2rad logical_not bitwise_not log log2 log10 log1p logit
    numel rank shape is_empty zeros_like ones_like t as_real nonzero""")
def unary(d: Draw, name: str) -> str:
    low, high = (0.1, 0.9) if name.startswith(("log", "lgamma", "digamma")) or name in ("sqrt", "rsqrt") else (-2, 2)
    x = d.tensor("x", d.shape(), d.one(*FLOATS, *ALL), low, high)
    return f"paddle.{name}({x})" if d.chance(0.7) else f"x.{name}()" if d.chance(0.7) else f"paddle.{name}({'input' if name in ('shape', 'rank', 't') else 'x'}=x)"


@family("acos asin atanh erfinv")
def inside(d: Draw, name: str) -> str:
    return f"paddle.{name}({d.tensor('x', d.shape(), d.one(*FLOATS), -0.9, 0.9)})"


@family("acosh")
def beyond_one(d: Draw, name: str) -> str:
    return f"paddle.{name}({d.tensor('x', d.shape(), d.one(*FLOATS), 1.1, 3)})"


@family("""add subtract multiply divide maximum minimum fmax fmin pow remainder floor_divide mod atan2 equal not_equal less_than less_equal
    greater_than greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor heaviside gcd lcm inner outer
    kron dot isclose allclose equal_all hypot copysign ldexp logaddexp nextafter""")
def binary(d: Draw, name: str) -> str:
    shape = d.shape()
    first = d.one(*FLOATS, *ALL)
    second = first if d.chance(0.8) else d.one(*ALL)
    positive = name in ("pow", "divide", "remainder", "mod", "floor_divide")
    x = d.tensor("x", shape, first, 0.4 if name == "pow" else -2, 2)
    y = d.tensor("y", d.beside(shape), second, 0.4 if positive else -2, 2)
    return f"paddle.{name}({arguments(d, ('x', x), ('y', y))})" if d.chance(0.7) else f"x.{name}(y)"


@family("operator")
def operator(d: Draw, name: str) -> str:
    shape, sign = d.shape(), d.one("+", "-", "*", "/", "**", "==", "<", "//", "%")
    low = 0.4 if sign in ("**", "/", "//", "%") else -2
    d.tensor("x", shape, d.one(*FLOATS, *ALL), low, 2)
    if d.chance(0.4):
        d.tensor("y", d.beside(shape), str(d.inputs["x"].dtype) if d.chance(0.7) else d.one(*ALL), low, 2)
        return f"x {sign} y"
    number = d.one("2", "0.5", "-1.5", "True", "1.0")
    return f"x {sign} {number}" if d.chance(0.6) else f"{number} {sign} x"


@family("sum mean max min prod amax amin any all logsumexp nansum nanmean count_nonzero std var median nanmedian norm")
def reduction(d: Draw, name: str) -> str:
    shape = d.shape()
    dtype = "bool" if name in ("any", "all") and d.chance(0.7) else d.one(*FLOATS, *ALL)
    x = d.tensor("x", shape, dtype)
    axis = d.axes(len(shape))
    given = [("x", x)] if d.chance(0.2) else [("x", x), ("axis", axis)]
    if name == "norm":
        power = d.one("1", "2", "0", "3.0", "float('inf')", "'fro'")
        return f"paddle.norm({x}, p={power}, axis={axis}, keepdim={d.chance(0.5)})"
    keepdim = f", keepdim={d.chance(0.5)}" if d.chance(0.5) else ""
    return f"paddle.{name}({arguments(d, *given)}{keepdim})"


@family("argmax argmin argsort sort cumsum cumprod logcumsumexp cummax cummin mode kthvalue topk flip roll unbind unstack squeeze unsqueeze softmax diff")
def along(d: Draw, name: str) -> str:
    shape = d.shape()
    d.tensor("x", shape, d.one(*FLOATS, *ALL))
    values = d.inputs["x"]
    if values.size and name in ("argmax", "argmin", "argsort", "sort", "mode", "kthvalue", "topk", "cummax", "cummin"):
        order = np.random.default_rng(values.size).permutation(values.size).reshape(values.shape)  # no ties
        if values.dtype.kind in "fiu":
            d.inputs["x"] = order.astype(values.dtype)
    axis = d.axis(len(shape))
    if name in ("kthvalue", "topk"):
        return f"paddle.{name}(x, {d.one(1, 1, 2)}, axis={axis})"
    if name == "roll":
        return f"paddle.roll(x, {d.one(1, -2, 7)}{d.one('', f', axis={axis}')})"
    if name == "cumprod":
        return f"paddle.cumprod(x, dim={axis})"
    if name == "softmax":
        return f"F.softmax(x, axis={axis})"
    if name == "flip":
        return f"paddle.flip(x, axis={d.one(axis, [axis])})"
    tail = d.one("", f", axis={axis}", f", {axis}") if name not in ("unsqueeze",) else f", {axis}"
    extra = d.one("", ", keepdim=True") if name in ("argmax", "argmin", "mode") else d.one("", ", descending=True") if name in ("argsort", "sort") else ""
    return f"paddle.{name}(x{tail}{extra})"


@family("reshape expand tile broadcast_to flatten transpose moveaxis concat stack split chunk tensor_split slice strided_slice crop expand_as gather "
        "index_select gather_nd take_along_axis index_sample masked_select where scatter scatter_nd_add index_add put_along_axis repeat_interleave "
        "rot90 diagonal diag diagflat diag_embed tril triu unique unique_consecutive one_hot bincount histogram searchsorted bucketize take "
        "index_fill masked_fill clip scale lerp nan_to_num addmm matmul bmm mv cross dist trace meshgrid full full_like arange linspace logspace "
        "eye zeros ones tril_indices triu_indices assign cast numel multiplex stanh increment quantile nanquantile cdist "
        "view_as atleast_1d atleast_2d as_complex complex polar broadcast_tensors broadcast_shape shard_index unfold")
def special(d: Draw, name: str) -> str:
    shape = d.shape()
    rank, dtype = len(shape), d.one(*FLOATS, *ALL)
    x = lambda: d.tensor("x", shape, dtype)  # noqa: E731
    axis = d.axis(rank)
    size = shape[axis] if rank and -rank <= axis < rank else 1
    index = lambda shape, n, kind=None: d.inputs.update(i=np.random.default_rng(3).integers(0, max(n, 1), shape).astype(kind or d.one("int32", "int64"))) or "i"  # noqa: E731
    total = int(np.prod(shape)) if shape else 1
    if name == "reshape":
        return f"paddle.reshape({x()}, {d.one([-1], [total], [1, -1], [0, -1], shape, [total, 1], [])})"
    if name in ("expand", "broadcast_to", "tile"):
        return f"paddle.{name}({x()}, {d.one([2, *shape], shape, [-1] * rank, [2] * rank, [1, *shape])})"
    if name == "flatten":
        return f"paddle.flatten({x()}, {d.axis(rank)}, {d.axis(rank)})"
    if name == "transpose":
        return f"paddle.transpose({x()}, {d.random.sample(range(rank), rank)})"
    if name == "moveaxis":
        return f"paddle.moveaxis({x()}, {d.axis(rank)}, {d.axis(rank)})"
    if name in ("concat", "stack"):
        x()
        other = list(shape)
        if name == "concat" and rank and d.chance(0.5) and -rank <= axis < rank:
            other[axis] = d.one(0, 1, 4)
        d.tensor("y", other, dtype if d.chance(0.85) else d.one(*ALL))
        return f"paddle.{name}([x, y]{d.one('', f', {axis}', f', axis={axis}')})"
    if name in ("split", "chunk", "tensor_split"):
        return f"paddle.{name}({x()}, {d.one(1, 2, 3, size, [1, -1], [max(size - 1, 0), 1])}, axis={axis})"
    if name == "slice":
        return f"paddle.slice({x()}, [{axis}], [{d.one(0, 1, -1, -5, 9)}], [{d.one(1, 2, -1, 100)}])"
    if name == "strided_slice":
        return f"paddle.strided_slice({x()}, [{axis}], [{d.one(0, 1, -1)}], [{d.one(1, 3, -4, 100)}], [{d.one(1, 2, -1)}])"
    if name == "crop":
        return f"paddle.crop({x()}, shape={[max(s - 1, 0) for s in shape]}, offsets={[d.one(0, 1) for _ in shape]})"
    if name in ("expand_as", "view_as"):
        x()
        d.tensor("y", d.one(shape, [2, *shape]), dtype)
        return f"paddle.{name}(x, y)"
    if name in ("gather", "index_select", "index_add", "index_fill"):
        x()
        i = index(d.one([2], [1], [3], [0]), size)
        if name == "gather":
            return f"paddle.gather(x, {i}{d.one('', f', {axis}', f', axis={axis}')})" if d.one(True, False) else f"paddle.gather(x, {i}, axis={axis})"
        if name == "index_select":
            return f"paddle.index_select(x, {i}, {axis})"
        if name == "index_fill":
            return f"paddle.index_fill(x, {i}, {axis}, {d.one(1, 0.5)})"
        new = list(shape)
        if rank and -rank <= axis < rank:
            new[axis] = len(d.inputs["i"])
        d.tensor("v", new, dtype)
        return f"paddle.index_add(x, {i}, {axis}, v)"
    if name in ("gather_nd", "scatter_nd_add"):
        depth = d.random.randint(1, max(rank, 1))
        d.inputs["i"] = np.array([[0] * depth, [0] * depth], "int64")
        x()
        if name == "gather_nd":
            return "paddle.gather_nd(x, i)"
        d.tensor("u", [2, *shape[depth:]], dtype)
        return "paddle.scatter_nd_add(x, i, u)"
    if name in ("take_along_axis", "put_along_axis"):
        x()
        i = index([max(s, 1) if d.chance(0.7) else 1 for s in shape], min(shape or [1]), "int64")
        if name == "take_along_axis":
            return f"paddle.take_along_axis(x, {i}, {axis})"
        return f"paddle.put_along_axis(x, {i}, {d.one('1.0', '2')}, {axis}{d.one('', ', reduce=' + repr('add'))})"
    if name == "index_sample":
        d.tensor("x", [2, 3], dtype)
        return f"paddle.index_sample(x, {index([2, d.one(1, 4)], 3)})"
    if name in ("masked_select", "masked_fill", "where"):
        x()
        d.tensor("m", shape if d.chance(0.7) else d.beside(shape), "bool")
        if name == "masked_select":
            return "paddle.masked_select(x, m)"
        if name == "masked_fill":
            return f"paddle.masked_fill(x, m, {d.one(1, 0.5)})"
        d.tensor("y", d.beside(shape), dtype if d.chance(0.85) else d.one(*ALL))
        return "paddle.where(m, x, y)" if d.chance(0.8) else "paddle.where(m)"
    if name == "scatter":
        d.tensor("x", [3, 2], dtype)
        d.inputs["i"] = np.array([2, 0], d.one("int32", "int64"))
        d.tensor("u", [2, 2], dtype)
        return f"paddle.scatter(x, i, u{d.one('', ', overwrite=False')})"
    if name == "repeat_interleave":
        return f"paddle.repeat_interleave({x()}, {d.one(1, 2, 0)}{d.one('', f', axis={axis}')})"
    if name == "rot90":
        return f"paddle.rot90({x()}, {d.one(0, 1, 2, -1, 5)}, [0, 1])"
    if name in ("diagonal", "trace"):
        return f"paddle.{name}({x()}, {d.one(0, 1, -1, 5)}, {d.axis(rank)}, {d.axis(rank)})"
    if name in ("diag", "diagflat", "diag_embed", "tril", "triu"):
        where = "F" if name == "diag_embed" else "paddle"
        return f"{where}.{name}({x()}, {d.one(0, 1, -1)})"
    if name in ("unique", "unique_consecutive"):
        extras = "".join(f", {flag}=True" for flag in ("return_index", "return_inverse", "return_counts") if d.chance(0.3) and not (name == "unique_consecutive" and flag == "return_index"))
        return f"paddle.{name}({x()}{extras}{d.one('', f', axis={axis}')})"
    if name == "one_hot":
        return f"F.one_hot({index(shape, 3)}, {d.one(3, 4)})"
    if name == "bincount":
        d.inputs["x"] = np.array(d.one([0, 1, 1, 3], [0], []), d.one("int32", "int64"))
        return f"paddle.bincount(x{d.one('', ', minlength=6')})"
    if name == "histogram":
        return f"paddle.histogram({x()}, bins={d.one(1, 4)}, min={d.one(0, -1)}, max={d.one(0, 2)})"
    if name in ("searchsorted", "bucketize"):
        d.inputs["s"] = np.array([-1.0, 0.0, 0.5, 2.0], dtype if dtype in FLOATS else "float32")
        d.tensor("x", shape, str(d.inputs["s"].dtype))
        first, second = ("s", "x") if name == "searchsorted" else ("x", "s")
        return f"paddle.{name}({first}, {second}{d.one('', ', out_int32=True')}{d.one('', ', right=True')})"
    if name == "take":
        x()
        return f"paddle.take(x, {index(d.one([2], [2, 2], []), max(total, 1))}, mode={d.one('raise', 'wrap', 'clip')!r})"
    if name == "clip":
        return f"paddle.clip({x()}, {d.one(-1, 0.5, None)}, {d.one(1, 1.5, None)})"
    if name == "scale":
        return f"paddle.scale({x()}, scale={d.one(2.0, 3)}, bias={d.one(0.0, 1.5)}, bias_after_scale={d.chance(0.5)})"
    if name == "lerp":
        x()
        d.tensor("y", shape, dtype)
        return f"paddle.lerp(x, y, {d.one(0.3, 1.0)})"
    if name == "nan_to_num":
        return f"paddle.nan_to_num({x()}{d.one('', ', nan=1.0')})"
    if name in ("matmul", "bmm", "mv", "addmm"):
        a, b = {
            "matmul": d.one(([2, 3], [3, 2]), ([3], [3]), ([2, 2, 3], [3, 4]), ([3], [3, 2]), ([2, 3], [3]), ([1, 2, 3], [4, 3, 2]), ([2, 0], [0, 3])),
            "bmm": d.one(([2, 2, 3], [2, 3, 2]), ([0, 2, 3], [0, 3, 2])), "mv": ([2, 3], [3]), "addmm": ([2, 3], [3, 4]),
        }[name]
        d.tensor("x", a, dtype)
        d.tensor("y", b, dtype)
        if name == "addmm":
            d.tensor("z", d.one([2, 4], [1, 4], [4]), dtype)
            return f"paddle.addmm(z, x, y, beta={d.one(1.0, 0.5)}, alpha={d.one(1.0, 2.0)})"
        return f"paddle.{name}(x, {d.one('y=y', 'y')})" if name == "matmul" else f"paddle.{name}(x, y)"
    if name == "cross":
        d.tensor("x", d.one([3], [2, 3], [3, 3], [3, 2]), dtype)
        d.tensor("y", list(d.inputs["x"].shape), dtype)
        return f"paddle.cross(x, y{d.one('', ', axis=-1', ', axis=0')})"
    if name in ("dist", "cdist"):
        d.tensor("x", [2, 3], dtype)
        d.tensor("y", [2, 3], dtype)
        power = d.one("0", "1.0", "2.0", "float('inf')")
        return f"paddle.{name}(x, y, {power})"
    if name == "meshgrid":
        d.tensor("x", [d.one(1, 3)], dtype)
        d.tensor("y", d.one([2], []), dtype)
        return d.one("paddle.meshgrid(x, y)", "paddle.meshgrid([x, y])")
    if name in ("full", "zeros", "ones"):
        value = f", {d.one(1, 2.5, True, '3')!r}" if name == "full" else ""
        return f"paddle.{name}({d.one(shape, tuple(shape))}{value}{d.one('', f', dtype={dtype!r}')})"
    if name == "full_like":
        return f"paddle.full_like({x()}, {d.one(1, 2.5, True)}{d.one('', f', dtype={d.one(*ALL)!r}')})"
    if name == "arange":
        return f"paddle.arange({d.one('5', '1, 5', '5, 1, -2', '0.5, 3', '0, 1, 0.25', '5, 5', '1, 7, 3')}{d.one('', f', dtype={d.one(*NUMBERS)!r}')})"
    if name in ("linspace", "logspace"):
        return f"paddle.{name}({d.one(0, -1.5)}, {d.one(2, 2.5, 0)}, {d.one(1, 2, 5)}{d.one('', f', dtype={d.one(*NUMBERS)!r}')})"
    if name == "eye":
        return f"paddle.eye({d.one(1, 3)}{d.one('', ', 2', ', num_columns=4')}{d.one('', f', dtype={d.one(*NUMBERS)!r}')})"
    if name in ("tril_indices", "triu_indices"):
        return f"paddle.{name}({d.one(1, 3, 4)}, {d.one(2, 3)}, {d.one(0, 1, -2)})"
    if name == "cast":
        return f"paddle.cast({x()}, {d.one(*ALL)!r})"
    if name == "multiplex":
        d.tensor("x", [2, 3], dtype)
        d.tensor("y", [2, 3], dtype)
        d.inputs["i"] = np.array([[1], [0]], d.one("int32", "int64"))
        return "paddle.multiplex([x, y], i)"
    if name == "stanh":
        return f"paddle.stanh({x()}, 0.5, 1.5)"
    if name == "increment":
        d.tensor("x", d.one([1], [], [2]), dtype)
        return f"paddle.increment(x, {d.one(1, 2.0)})"
    if name in ("quantile", "nanquantile"):
        return f"paddle.{name}({x()}, {d.one(0.5, 0.0, 1.0, [0.2, 0.6])}, axis={d.axes(rank)}, keepdim={d.chance(0.5)})"
    if name == "as_complex":
        d.tensor("x", d.one([2, 2], [2], [3, 1, 2], [3]), dtype)
        return "paddle.as_complex(x)"
    if name in ("complex", "polar"):
        x()
        d.tensor("y", d.beside(shape), dtype)
        return f"paddle.{name}(x, y)"
    if name == "broadcast_tensors":
        x()
        d.tensor("y", d.beside(shape), dtype)
        return "paddle.broadcast_tensors([x, y])"
    if name == "broadcast_shape":
        return f"paddle.broadcast_shape({shape}, {d.beside(shape)})"
    if name == "shard_index":
        d.inputs["x"] = np.array([[1], [6], [11]], d.one("int32", "int64"))
        return f"paddle.shard_index(x, 20, {d.one(2, 3)}, {d.one(0, 1)})"
    if name == "unfold":
        return f"paddle.unfold({x()}, {axis}, {d.one(1, 2)}, {d.one(1, 2)})"
    return f"paddle.{name}({x()})"


def generated(seed: int, count: int) -> list[Call]:
    names, calls = sorted(MAKERS), []
    for number in range(count):
        d = Draw((seed, number).__repr__())
        expression = MAKERS[name](d, name) if (name := names[number % len(names)]) else ""
        floating = any(value.dtype.kind == "f" for value in d.inputs.values())
        calls.append(Call(expression, ("as given",), floating and d.chance(0.4), d.inputs))
    return calls


SEED, COUNT = int(os.environ.get("GENERATED_SEED", "0")), int(os.environ.get("GENERATED_COUNT", "2000"))
CALLS = generated(SEED, COUNT)

if __name__ == "__main__":
    for call in generated(int(sys.argv[1]), int(sys.argv[2])):
        print(call.expression, {name: (str(value.dtype), list(value.shape)) for name, value in call.inputs.items()})
