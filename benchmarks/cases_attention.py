"""Attention over 8 sequences that are padded to 512 steps, 8 heads of 64: `wherry` leaves the padding out, `eager` and PyTorch mask it. float32."""
from __future__ import annotations

import numpy as np

SHAPE = (8, 8, 512, 64)
LENGTHS = {"lengths 64 to 512": np.arange(64, 513, 64, dtype="int32"), "all of 512": np.full(8, 512, "int32")}
SCALE = SHAPE[3] ** -0.5


def values(seed: int):
    return np.random.default_rng(seed).standard_normal(SHAPE).astype("float32")


def masks(lengths):
    """0 where there is a key, -inf where there is padding."""
    return np.where(np.arange(SHAPE[2]) < lengths[:, None], 0, -np.inf).astype("float32")[:, None, None, :]


def make(framework: str):
    if framework == "torch":
        return torch_cases()
    return wherry_cases(framework == "wherry") if framework in ("wherry", "eager") else {}


def torch_cases():
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attention

    cases = {}
    for name, lengths in LENGTHS.items():
        q, k, v = (torch.from_numpy(values(seed)) for seed in range(3))
        leaves, mask = [x.clone().requires_grad_() for x in (q, k, v)], torch.from_numpy(masks(lengths))

        def both(leaves=leaves, mask=mask):
            for leaf in leaves:
                leaf.grad = None
            attention(*leaves, mask).sum().backward()

        cases |= {name: lambda q=q, k=k, v=v, mask=mask: attention(q, k, v, mask), f"{name}, forward+backward": both}
    return cases


def wherry_cases(by_length: bool):
    import wherry
    from wherry_tensor import ops

    cases = {}
    for name, lengths in LENGTHS.items():
        leaves = [wherry.to_tensor(values(seed)) for seed in range(3)]
        if by_length:
            steps = wherry.to_tensor(lengths)
            run = lambda q, k, v, n=steps: ops.attention_lengths(q, k, v, None, n, n, None, scale=SCALE)[0]  # noqa: E731
        else:
            mask = wherry.to_tensor(masks(lengths))
            run = lambda q, k, v, m=mask: ops.attention(q, k, v, m, scale=SCALE, causal=False)[0]  # noqa: E731
        asking = [wherry.to_tensor(values(seed), stop_gradient=False) for seed in range(3)]

        def both(run=run, asking=asking):
            for leaf in asking:
                leaf.clear_gradient(False)
            run(*asking).sum().backward()

        cases |= {name: lambda run=run, leaves=leaves: run(*leaves), f"{name}, forward+backward": both}
    return cases
