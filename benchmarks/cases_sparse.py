"""The cases of sparse matrices and edges of graphs: what each framework runs, side by side. float32."""
from __future__ import annotations

import numpy as np

EDGES, NODES, WIDTHS = 10**6, 10**5, (1, 16, 64)
SIZE, STORED = 20_000, 200  # a matrix of which one in a hundred elements is stored


def edges(width: int):
    rng = np.random.default_rng(width)
    source, target = rng.integers(0, NODES, EDGES), rng.integers(0, NODES, EDGES)
    return rng.standard_normal((NODES, width)).astype("float32"), rng.standard_normal((EDGES, width)).astype("float32"), source, target


def matrix():
    rng = np.random.default_rng(0)
    cols = np.sort(rng.integers(0, SIZE, (SIZE, STORED)), 1).reshape(-1)
    crows = np.arange(0, SIZE * STORED + 1, STORED)
    return crows, cols, rng.standard_normal(cols.size).astype("float32"), rng.standard_normal((SIZE, 64)).astype("float32")


def make(framework: str):
    return {"torch": torch_cases, "paddle": dict, "wherry": wherry_cases, "numpy": dict}[framework]()


def torch_cases():
    import torch

    cases = {}
    for width in WIDTHS:
        x, rows, source, target = map(torch.from_numpy, edges(width))
        ids = target.sort().values
        count = int(ids[-1]) + 1
        cases[f"send_u_recv, 10^6 edges, {width} wide"] = lambda x=x, s=source, t=target, w=width: torch.zeros(NODES, w).index_add_(0, t, x[s])
        cases[f"segment_sum, 10^6 rows, {width} wide"] = lambda r=rows, i=ids, n=count, w=width: torch.zeros(n, w).index_add_(0, i, r)
    crows, cols, values, dense = map(torch.from_numpy, matrix())
    stored = torch.sparse_csr_tensor(crows, cols, values, (SIZE, SIZE))
    return cases | {"CSR [20000, 20000] 1 % @ [20000, 64]": lambda: stored @ dense}


def wherry_cases():
    import wherry
    from wherry import geometric
    from wherry_tensor import ops

    cases = {}
    for width in WIDTHS:
        numbers = edges(width)
        x, rows, source, target = map(wherry.to_tensor, numbers)
        ids = wherry.to_tensor(np.sort(numbers[3]))
        cases[f"send_u_recv, 10^6 edges, {width} wide"] = lambda x=x, s=source, t=target: geometric.send_u_recv(x, s, t)
        cases[f"segment_sum, 10^6 rows, {width} wide"] = lambda r=rows, i=ids: geometric.segment_sum(r, i)
    crows, cols, values, dense = map(wherry.to_tensor, matrix())
    return cases | {"CSR [20000, 20000] 1 % @ [20000, 64]": lambda: ops.csr_matmul(values, crows, cols, dense)}
