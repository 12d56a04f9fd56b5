"""Calls of sparse tensors, drawn from a seed like those of generated_calls.py. Results are compared as dense tensors."""
from __future__ import annotations

import os

import numpy as np
from calls import Call
from generated_calls import Draw

UNARY = ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "sqrt", "square", "log1p", "abs", "neg", "deg2rad", "rad2deg", "expm1")


def matrix(d: Draw, name: str, shape: list[int], low: float = -0.9) -> str:
    """A dense tensor with zeros in it, from which a sparse one is made."""
    d.tensor(name, shape, d.one("float32", "float64") if not d.inputs else str(next(iter(d.inputs.values())).dtype), low, 0.9)
    d.inputs[name] = np.where(d.array(shape, "bool"), d.inputs[name], 0).astype(d.inputs[name].dtype)
    d.inputs[name].flat[0] = 0.5
    return f"{name}.to_sparse_coo({len(shape)})" if d.chance(0.5) else f"{name}.to_sparse_csr()"


def unary(d: Draw) -> str:
    name = d.one(*UNARY)
    return f"paddle.sparse.{name}({matrix(d, 'x', list(d.one([3, 4], [1, 5])), 0.1 if name in ('sqrt', 'log1p') else -0.9)}).to_dense()"


def binary(d: Draw) -> str:
    shape = list(d.one([3, 4], [2, 5]))
    x = matrix(d, "x", shape)
    d.tensor("y", shape, str(d.inputs["x"].dtype), -0.9, 0.9)
    d.inputs["y"] = np.where(d.array(shape, "bool"), d.inputs["y"], 0).astype(d.inputs["x"].dtype)
    d.inputs["y"].flat[0] = 0.25
    return f"paddle.sparse.{d.one('add', 'subtract', 'multiply', 'divide')}({x}, {x.replace('x.', 'y.')}).to_dense()"


def moved(d: Draw) -> str:
    x = matrix(d, "x", [3, 4])
    return d.one(
        f"paddle.sparse.transpose({x}, [1, 0]).to_dense()", f"paddle.sparse.reshape({x}, {d.one([4, 3], [2, 6], [-1, 2])}).to_dense()",
        f"paddle.sparse.slice({x}, [0, 1], [0, 1], [2, {d.one(3, 4)}]).to_dense()", f"paddle.sparse.sum({x}, -1, keepdim=True).to_dense()",
        "paddle.sparse.sum(x.to_sparse_coo(2), 0).to_dense()", f"paddle.sparse.pow({x}, 2).to_dense()", f"paddle.sparse.multiply({x}, 2.5).to_dense()",
        f"paddle.sparse.cast({x}, 'int32', 'float64').to_dense()", f"paddle.sparse.nn.functional.softmax({x}).to_dense()",
        f"paddle.sparse.nn.functional.{d.one('relu', 'relu6', 'leaky_relu')}({x}).to_dense()", "x.to_sparse_coo(2).indices()", "x.to_sparse_csr().crows()",
        "x.to_sparse_csr().to_sparse_coo(2).indices()", "x.to_sparse_coo(1).values()", f"{x}.nnz()",
    )


def space(d: Draw) -> str:
    d.tensor("w", [d.one(1, 3), 3, d.one(1, 2), 2, 3], "float32", -1, 1)
    d.tensor("x", [1, 4, 5, 4, 2], "float32", 0.1, 1)
    d.inputs["x"] = (d.inputs["x"] * d.array([1, 4, 5, 4, 1], "bool")).astype("float32")
    d.inputs["x"].flat[:2] = 0.5
    point = "x.to_sparse_coo(4)"
    f = "paddle.sparse.nn.functional"
    return d.one(
        f"{f}.conv3d({point}, w, stride={d.one(1, 2)}, padding={d.one(0, 1)}).to_dense()",
        f"{f}.max_pool3d({point}, {d.one(2, 3)}, stride={d.one(1, 2)}).to_dense()",
    )


MAKERS = (unary, binary, moved, moved, space)


def drawn(seed: int, count: int) -> list[Call]:
    calls = []
    for number in range(count):
        d = Draw(f"{seed} {number}")
        calls.append(Call(MAKERS[number % len(MAKERS)](d), ("as given",), False, d.inputs))
    return calls


SEED, COUNT = int(os.environ.get("GENERATED_SEED", "0")), int(os.environ.get("GENERATED_COUNT", "300"))
CALLS = drawn(SEED, COUNT)
