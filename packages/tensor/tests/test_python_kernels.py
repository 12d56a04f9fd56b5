import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import _core, ops
from wherry_tensor.ops.declare import infer, op

spread = op("test_spread", "x, y?", outputs="low, high", width=float, word=str, axes=tuple, flag=bool)
seen = {}


@infer.rule(spread)
def infer_test_spread(x, y, *, width, word, axes, flag):
    return x, x


def kernel(outputs, x, y, *, width, word, axes, flag):
    seen.update(x=x, y=y, width=width, word=word, axes=axes, flag=flag)
    if word == "fail":
        raise KeyError("nothing")
    if word == "value":
        raise ValueError("test_spread: " + "x" * 2000)
    if word == "missing":
        raise NotImplementedError("test_spread: not here")
    outputs[0][...] = x - width
    outputs[1][...] = x + width


_core.register_python_kernel("cpu", spread, (_core.float32, _core.complex128), kernel)


def run(x, y=None, width=1.0, word="go", axes=(1, 2), flag=True):
    return spread(x, y, width=width, word=word, axes=axes, flag=flag)


def test_a_kernel_in_python_gets_arrays_and_plain_attributes():
    low, high = run(wherry_tensor.to_tensor([[1.0, 2.0]]), width=0.5, axes=(3, -1), flag=False)
    assert low.tolist() == [[0.5, 1.5]] and high.tolist() == [[1.5, 2.5]]
    assert seen["y"] is None and (seen["width"], seen["word"], seen["axes"]) == (0.5, "go", (3, -1)) and seen["flag"] is False
    assert seen["x"].dtype == np.float32 and not seen["x"].flags.writeable


def test_inputs_of_a_kernel_in_python_are_contiguous():
    x = ops.transpose(wherry_tensor.to_tensor([[1.0, 2.0], [3.0, 4.0]]), perm=(1, 0))
    assert run(x)[0].tolist() == [[0.0, 2.0], [1.0, 3.0]]
    assert seen["x"].flags.c_contiguous


def test_empty_tensors_and_large_ones_reach_a_kernel_in_python():
    assert run(wherry_tensor.zeros([0, 3]))[1].shape == [0, 3]
    large = wherry_tensor.ones([300, 300])  # such a call has given up the interpreter's lock
    assert float(run(large)[1].sum().item()) == 180000.0


def test_what_a_kernel_in_python_raises_is_the_error_of_the_op():
    x = wherry_tensor.ones([2])
    with pytest.raises(RuntimeError, match="test_spread: its kernel raised KeyError: 'nothing'"):
        run(x, word="fail")
    with pytest.raises(ValueError, match="test_spread: xxx"):
        run(x, word="value")
    with pytest.raises(NotImplementedError, match="not here"):
        run(x, word="missing")


def test_without_numpy_a_kernel_in_python_says_what_is_missing(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(NotImplementedError, match="test_spread: its kernel computes with NumPy.*load the package numpy"):
        run(wherry_tensor.ones([2]))


def test_other_dtypes_have_no_kernel_and_unknown_devices_are_refused():
    with pytest.raises(NotImplementedError, match="no float64 kernel for 'test_spread' on cpu"):
        run(wherry_tensor.ones([2], "float64"))
    with pytest.raises(ValueError, match="unknown device"):
        _core.register_python_kernel("nowhere", spread, (_core.float32,), kernel)
