"""ONNX's cases for each operator, `onnx.backend.test.case.node`, run here. Needs the package `onnx`.

    found = run_cases(whole=True)
    print(found)                      # 1808 of 1833 agree, ...
"""
from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wherry_onnx_files.errors import NeedsValue
from wherry_onnx_files.models import OnnxModel, Port, read_model
from wherry_onnx_files.numbers import Numbers
from wherry_program.run.executor import compiled

__all__ = ["Found", "compare", "given", "run_cases"]

_TEXT = ("StringSplit", "StringNormalizer", "LabelEncoder", "RegexFullMatch", "StringConcat", "TfIdfVectorizer")
# 16 bits: a result may be off by two units in the last place, since steps in between round in another order.
_LOOSER = {"bfloat16": 1.6e-2, "float16": 2e-3}
_NATIVE = {
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128",
}


@dataclass
class Found:
    """What came of a run.

    Attributes:
        agree: how many cases gave what they should.
        as_programs: how many of them as a program too.
        by_node: how many of them only node by node, since a shape follows from a value that is fed.
        left_out: how many are of strings, training, trees or pictures in files.
        wrong: the others, by name, with what happened.
    """

    agree: int = 0
    as_programs: int = 0
    by_node: int = 0
    left_out: int = 0
    wrong: dict[str, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many were run."""
        return self.agree + len(self.wrong)

    def __str__(self) -> str:
        return (
            f"{self.agree} of {self.count} agree ({self.agree / max(self.count, 1):.1%}), {self.as_programs} as programs and {self.by_node} "
            f"node by node; {self.left_out} left out"
        )


def _left_out(model: Any) -> bool:
    nodes = model.graph.node
    if any(n.domain == "ai.onnx.preview.training" or n.op_type in (*_TEXT, "ImageDecoder") or n.op_type.startswith("TreeEnsemble") for n in nodes):
        return True
    return any("elem_type: 8\n" in f"{v.type}\n" for v in (*model.graph.input, *model.graph.output))


def _array(x: Any) -> Any:
    from onnx import TensorProto, numpy_helper

    return numpy_helper.to_array(x) if isinstance(x, TensorProto) else x


def _fed(model: OnnxModel, port: Port, x: Any) -> Any:
    import wherry_tensor as api

    if x is None or isinstance(x, list):
        return None if x is None else [api.to_tensor(np.asarray(y)) for y in x]
    return model.held(port, np.asarray(_array(x)))


def given(y: Any) -> Any:
    """A result as an array; of a sequence a list."""
    if y is None or isinstance(y, list):
        return None if y is None else [given(z) for z in y]
    y = y.tensor() if isinstance(y, Numbers) else y
    return y.astype("float32").numpy() if y.dtype.name == "bfloat16" else y.numpy()


def compare(got: Any, want: Any, rtol: float) -> None:
    """Raise an AssertionError unless a result is what it should be, in dtype and shape too."""
    if want is None or isinstance(want, list):
        assert (got is None) == (want is None), f"{got} instead of {want}"
        for g, w in zip(got or [], want or [], strict=True):
            compare(g, w, rtol)
        return
    want = np.asarray(_array(want))
    assert tuple(got.shape) == want.shape, f"shape {got.shape} instead of {want.shape}"
    rtol = max(rtol, 1e-3, _LOOSER.get(want.dtype.name, 0))
    if want.dtype.name not in _NATIVE:
        got, want = got.astype(np.float32), want.astype(np.float32)
    kind = "iu" if want.dtype.kind in "iu" else want.dtype.kind
    assert got.dtype.kind in kind, f"{got.dtype} instead of {want.dtype}"
    np.testing.assert_allclose(got.astype(want.dtype), want, rtol=rtol, atol=1e-5)


def _run(case: Any, found: Found) -> None:
    # What is random has a shape and a dtype only.
    random = any(word in case.name for word in ("bernoulli", "random")) or ("training" in case.name and "dropout" in case.name)
    model = read_model(case.model.SerializeToString())
    try:
        program = model.program()
        call = compiled(program, level=1)
    except NeedsValue:
        call = None
    for inputs, outputs in case.data_sets:
        fed = {port.name: _fed(model, port, x) for port, x in zip(model.inputs, inputs)}
        results = [model.run(fed)]
        if call is not None:
            results.append(call(*(fed[x.name] for x in program.feeds)))
        for result in results:
            assert len(result) == len(outputs)
            for got, want in zip(map(given, result), outputs):
                if not random:
                    compare(got, want, case.rtol)
    if call is None:
        found.by_node += 1
    else:
        found.as_programs += 1


def run_cases(whole: bool = False) -> Found:
    """Run ONNX's cases, each node by node and, where that can be had, as a program.

    Args:
        whole: all of them, not every fifth.
    """
    from onnx.backend.test.case.node import collect_testcases

    found = Found()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of what makes the cases
        cases = collect_testcases()
    for case in cases if whole else cases[::5]:
        if _left_out(case.model):
            found.left_out += 1
            continue
        try:
            _run(case, found)
            found.agree += 1
        except (AssertionError, ValueError, NotImplementedError, TypeError, RuntimeError) as error:
            found.wrong[case.name] = f"{type(error).__name__}: {error}"[:300]
    return found
