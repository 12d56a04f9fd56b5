"""What the tests of exporters share: a model that was just exported is run here and by ONNX Runtime, and trained where it is a program."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime

import wherry


def agree(model: bytes, inputs: Sequence[np.ndarray], theirs: Sequence[Any] | None = None, tolerance: float = 1e-4, trains: bool = False) -> None:
    """Compare the outputs of a model in `InferenceSession` and in `onnx.load` with those of ONNX Runtime, and of the framework.

    Args:
        model: the content of the file.
        inputs: in the order of the model's.
        theirs: what the framework itself gave; None compares with ONNX Runtime alone.
        tolerance: relative and absolute.
        trains: whether some weight has to get a gradient.
    """
    reference = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    feed = {port.name: x for port, x in zip(reference.get_inputs(), inputs, strict=True)}
    expected = reference.run(None, feed)
    session = wherry.InferenceSession(model)
    assert [port.name for port in session.get_inputs()] == list(feed)
    _compare(session.run(None, feed), expected, tolerance)
    if theirs is not None:
        _compare(expected, [np.asarray(y) for y in theirs], max(tolerance, 1e-3))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.onnx")
        with open(path, "wb") as file:
            file.write(model)
        net = wherry.onnx.load(path)
    found = net(*(wherry.to_tensor(x) for x in inputs))
    arrays = [y.numpy() for y in (found if isinstance(found, (list, tuple)) else [found])]
    _compare(arrays, expected, tolerance)
    if trains:
        net.train()
        found = net(*(wherry.to_tensor(x) for x in inputs))
        (found[0] if isinstance(found, (list, tuple)) else found).sum().backward()
        assert any(p.grad is not None for p in net.parameters())


def _compare(found: Sequence[Any], expected: Sequence[Any], tolerance: float) -> None:
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert x.shape == y.shape, (x.shape, y.shape)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
