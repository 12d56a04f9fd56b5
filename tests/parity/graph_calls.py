"""Calls of segments and of edges of graphs, drawn from a seed like those of generated_calls.py."""
from __future__ import annotations

import os

import numpy as np
from calls import Call
from generated_calls import Draw

DTYPES = ("float32", "float64", "int32", "int64")


def whole(d: Draw, name: str, values: list[int]) -> str:
    d.inputs[name] = np.array(values, d.one("int64", "int64", "int32"))
    return name


def segments(d: Draw) -> str:
    rows = d.one(1, 4, 7)
    d.tensor("x", [rows, *d.one([], [1], [3], [2, 3])], d.one(*DTYPES))
    whole(d, "i", sorted(d.random.randrange(d.one(1, 3, 6)) for _ in range(rows)))
    return f"paddle.{d.one('geometric', 'incubate')}.segment_{d.one('sum', 'mean', 'max', 'min')}(x, i)"


def edges(d: Draw) -> str:
    nodes, count = d.one(1, 3, 5), d.one(1, 4, 9)
    dtype, tail = d.one(*DTYPES), list(d.one([1], [3], [2, 3]))
    d.tensor("x", [nodes, *tail], dtype)
    kind = d.one("int64", "int32")
    for name in ("s", "t"):
        d.inputs[name] = np.array([d.random.randrange(nodes) for _ in range(count)], kind)
    how = d.one("sum", "mean", "max", "min")
    size = d.one("", f", out_size={nodes + 2}", ", out_size=0")
    name = d.one("send_u_recv", "graph_send_recv", "send_ue_recv", "send_uv")
    if name == "graph_send_recv":
        return f"paddle.incubate.graph_send_recv(x, s, t, {how!r}{size})"
    if name == "send_u_recv":
        return f"paddle.geometric.send_u_recv(x, s, t, {how!r}{size})"
    message = d.one("add", "sub", "mul", *(["div"] if "float" in dtype else []))
    d.tensor("y", [nodes if name == "send_uv" else count, *d.one(tail, [1] * len(tail), [1, *tail[1:]])], dtype, 1, 3)
    if name == "send_uv":
        return f"paddle.geometric.send_uv(x, y, s, t, {message!r})"
    return f"paddle.geometric.send_ue_recv(x, y, s, t, {message!r}, {how!r}{size})"


def numbers(d: Draw) -> str:
    nodes = d.random.sample(range(12), d.one(1, 3, 4))
    counts = [d.random.randrange(4) for _ in nodes]
    counts[0] += 1
    kind = d.one("int64", "int32")
    d.inputs["x"] = np.array(nodes, kind)
    d.inputs["n"] = np.array([d.random.randrange(12) for _ in range(sum(counts))], kind)
    d.inputs["c"] = np.array(counts, "int32")
    if d.chance(0.5):
        return "paddle.incubate.graph_reindex(x, n, c)"
    return "paddle.geometric.reindex_heter_graph(x, [n, n], [c, c])"


def neighbours(d: Draw) -> str:
    counts = [d.random.randrange(1, 4) for _ in range(5)]
    d.inputs["row"] = np.array([d.random.randrange(5) for _ in range(sum(counts))], "int64")
    d.inputs["ptr"] = np.array([0, *np.cumsum(counts)], "int64")
    d.inputs["x"] = np.array(d.random.sample(range(5), d.one(1, 3)), "int64")
    d.inputs["e"] = np.arange(sum(counts))
    # All of them: which are taken of more is random.
    return d.one(
        "paddle.geometric.sample_neighbors(row, ptr, x, 9)", "paddle.geometric.sample_neighbors(row, ptr, x, 9, e, True)",
        "paddle.incubate.graph_sample_neighbors(row, ptr, x, e, None, 9, True)", "paddle.incubate.graph_khop_sampler(row, ptr, x, [9])",
        "paddle.incubate.graph_khop_sampler(row, ptr, x, [9], e, True)", "paddle.geometric.sample_neighbors(row, ptr, x, 1)[1]",
    )


MAKERS = (segments, edges, edges, numbers, neighbours)


def drawn(seed: int, count: int) -> list[Call]:
    calls = []
    for number in range(count):
        d = Draw(f"{seed} {number}")
        expression = MAKERS[number % len(MAKERS)](d)
        calls.append(Call(expression, ("as given",), "_ue_recv" not in expression and d.inputs["x"].dtype.kind == "f" and d.chance(0.5), d.inputs))
    return calls


SEED, COUNT = int(os.environ.get("GENERATED_SEED", "0")), int(os.environ.get("GENERATED_COUNT", "500"))
CALLS = drawn(SEED, COUNT)
