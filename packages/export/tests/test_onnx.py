"""Every op of the vocabulary, from its samples, in ONNX Runtime."""
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

import wherry_tensor as wt
from wherry_export.onnx import load_rules, to_model
from wherry_export.onnx.column import to_onnx
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_tensor.testing import kit
from wherry_tensor.testing.specs import specs

load_rules()

TOLERANCE = {"float32": (2e-5, 2e-5), "float64": (1e-9, 1e-9), "float16": (1e-2, 1e-2)}


def run(model, feeds):
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: feeds[i.name] for i in session.get_inputs()})


def program_of_call(op, tensors, attrs, unknown):
    """A program of one op; `unknown` leaves the first size of inputs open where the shape rule can do without."""
    program = Program()
    feeds = []
    for i, x in enumerate(tensors):
        if x is None:
            feeds.append(None)
            continue
        shape = [-1 if unknown and a == 0 and x.ndim else n for a, n in enumerate(x.shape)]
        feeds.append(program.feed(shape, x.dtype, f"x{i}"))
    with capture(program):
        results = op(*feeds, **attrs)
    program.fetches = list(results) if isinstance(results, (tuple, list)) else [results]
    return program


# Drawn from another generator: what is compared is shape and dtype.
RANDOM = {"uniform", "normal", "randint", "bernoulli", "dropout", "dropout_add", "attention_dropout"}
# Of no values at all, runtimes give what was in memory.
NOTHING = {"reduce_max", "reduce_min", "reduce_amax", "reduce_amin", "reduce_mean", "attention_vjp", "attention_dropout_vjp", "logsumexp", "lstm",
           "lstm_vjp", "gru", "gru_vjp", "simple_rnn", "simple_rnn_vjp", "matmul_int8", "quantized_linear", "weight_only_lstm", "weight_only_gru",
           "packed_lstm", "packed_gru", "packed_matmul_int8"}
# Whole numbers that a runtime, which contracts products and sums, may round to the other side of a border.
ONE_STEP = {"quantized_add"}


def calls_of(spec):
    """Calls in the dtypes that runtimes have kernels for; what ONNX says nothing of (NaN, infinity) is left out."""
    dtypes = tuple(d for d in ("float32", "int64", "bool") if d in spec.dtypes) or spec.dtypes[:1]
    for typed in kit.typed_cases(spec, dtypes):
        arrays = [x for x in typed.arrays if x is not None]
        if any(x.dtype.kind in "fc" and not np.isfinite(x).all() for x in arrays):
            continue
        if spec.op.name in NOTHING and any(x.size == 0 for x in arrays):
            continue
        yield typed


def is_foreign(dtype):
    """Does neither NumPy nor ONNX Runtime compute with it?"""
    return dtype is wt.bfloat16 or dtype.is_complex


def check(spec, typed, opset, unknown):
    """Compare one call; returns whether it could be written."""
    tensors = typed.tensors()
    try:
        program = program_of_call(spec.op, tensors, typed.case.attrs, unknown)
    except (ValueError, RuntimeError):
        assert unknown  # what needs the size says so
        return False
    if any(is_foreign(x.dtype) for x in (*program.feeds, *program.fetches)):
        return False
    try:
        model = to_model(program, opset=opset)
    except NotImplementedError as error:
        assert str(error).startswith("onnx: ")
        return False
    except (ValueError, RuntimeError) as error:
        assert unknown and ("known size" in str(error) or "not known while" in str(error)), error
        return False
    got = run(model, {f"x{i}": kit.array_of(x) for i, x in enumerate(tensors) if x is not None})
    expected = spec.op(*tensors, **typed.case.attrs)
    for mine, theirs in zip(got, expected if isinstance(expected, (tuple, list)) else [expected], strict=True):
        theirs = kit.array_of(theirs)
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        if spec.op.name in RANDOM:
            continue
        relative, absolute = (0, 1) if spec.op.name in ONE_STEP and theirs.dtype.kind in "iu" else TOLERANCE.get(theirs.dtype.name, (0, 0))
        wider = spec.tolerance.get(typed.dtype, (0, 0))
        # Sums of many values round in another order.
        many = max([x.size for x in tensors if x is not None], default=1)
        factor = max(1.0, many / 2000)
        np.testing.assert_allclose(mine, theirs, rtol=max(relative, wider[0]) * factor, atol=max(absolute, wider[1]) * factor)
    return True


# A model does not depend on the Python that writes it: one of them is enough for the older opset.
ONE_PYTHON = pytest.mark.skipif(sys.version_info >= (3, 12), reason="looked at with Python 3.11")


@pytest.mark.parametrize("opset", [pytest.param(13, marks=ONE_PYTHON), 19])
@pytest.mark.parametrize("spec", [pytest.param(s, id=op.name) for op, s in specs.items()])
def test_an_op_in_onnx_runtime_gives_what_it_gives_here(spec, opset):
    calls = list(calls_of(spec))
    if opset == 13:
        calls = calls[::3]
    for typed in calls:
        for unknown in (False, True):
            try:
                check(spec, typed, opset, unknown)
            except BaseException as error:
                raise AssertionError(f"{typed!r}{', first sizes unknown' if unknown else ''}: {error}") from error


def test_what_cannot_be_written_says_why():
    for op, spec in specs.items():
        written = any(check(spec, typed, 18, False) for typed in list(calls_of(spec))[:3])
        if not written and not all(is_foreign(x.dtype) for t in list(calls_of(spec))[:1] for x in t.tensors() if x is not None):
            assert op in to_onnx.exemptions or op.name in MADE_OF_WHAT_CANNOT_BE, op.name


# Ops whose decomposition uses one that ONNX has nothing for.
MADE_OF_WHAT_CANNOT_BE = {"complex"}


@pytest.mark.parametrize("spec", [3, [3]])
def test_an_input_is_described_by_a_spec(spec, tmp_path):
    from wherry_export.onnx import export

    with pytest.raises(TypeError, match="onnx.export: input_spec describes each argument of forward. Got"):
        export(lambda x: x, str(tmp_path / "x"), spec, opset_version=13)
