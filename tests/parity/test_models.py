"""Paddle's model files go from real Paddle 2.6.2 to wherry and back: what one writes the other reads, and computes the same.

- The program of one op, written from each sample of the kit, runs in Paddle.
- Programs that Paddle makes of the calls that other tests compare eagerly run in wherry.
- Whole models, with choices, loops and updates of parameters, go both ways.
"""
from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from programs import PYTHON  # noqa: E402

import wherry  # noqa: E402
from wherry_paddle_files import models  # noqa: E402
from wherry_paddle_files import ops as _rules  # noqa: E402, F401
from wherry_paddle_files.column import paddle  # noqa: E402
from wherry_paddle_files.reading import UnreadableOp  # noqa: E402
from wherry_program.program.capture import capture  # noqa: E402
from wherry_program.program.ir import Program  # noqa: E402
from wherry_program.program.loop_forms import LOOP_FORMS  # noqa: E402
from wherry_program.run.executor import compiled  # noqa: E402
from wherry_tensor.testing.kit import _results, _typed, array_of, specs  # noqa: E402

pytestmark = pytest.mark.skipif(not PYTHON, reason="PARITY_PYTHON names no Python with real Paddle: use `tox -e parity`")

WORKER = HERE / "model_worker.py"
DIED = "the process died, or did not come back"


def outcomes(target, *arguments):
    """What the worker says of each number, after those that take it down too."""
    found, start = {}, 0
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3"}
    while True:
        done = subprocess.run([PYTHON, WORKER, arguments[0], target, str(start), *arguments[1:]], env=environment, capture_output=True, timeout=900)
        with open(target, "rb") as file:
            try:
                while True:
                    number = pickle.load(file)  # noqa: S301  our own file
                    found[number] = DIED
                    found[number] = pickle.load(file)  # noqa: S301
            except EOFError:
                pass
        if done.returncode == 0:
            return found
        number = max(found, default=None)
        assert number is not None and found[number] == DIED, done.stderr.decode()[-2000:]
        start = number + 1
        with open(target, "ab") as file:
            pickle.dump(DIED, file)


# Ops, from wherry to Paddle.

UNWRITTEN = {op.name for op in paddle.exemptions if op not in LOOP_FORMS}  # the table of ops says why
UNWRITTEN |= {"pack_int4", "quantize_fp8", "unpack_int4"}  # of bytes: Paddle has no kernels of these dtypes for what they are written as

# Samples of these ops, on which Paddle's operators refuse or compute something else; others of each op have to agree.
DIFFERENCES = {
    "attention": "Paddle's logarithm of a sum of nothing is NaN",
    "attention_lengths": "Paddle's logarithm of a sum of nothing is NaN",
    "broadcast_to": "Paddle does not expand to no elements",
    "ctc_loss": "Paddle's operator dies of labels without a length, and cuts small probabilities off",
    "eig": "of two conjugate values either comes first, and vectors have any phase",
    "eigh": "vectors have either sign",
    "eigvals": "of two conjugate values either comes first",
    "erfinv": "beyond 1 Paddle has an infinity, and a few more ulp of error near it",
    "gather": "Paddle does not count from the end",
    "gather_nd": "Paddle does not count from the end",
    "index_add": "Paddle does not count from the end",
    "log_sigmoid": "infinities",
    "log_softmax": "Paddle cuts logarithms off at -64",
    "logcumsumexp": "infinities",
    "max_pool2d_blocked": "a window of nothing but NaN",
    "nonzero": "Paddle does not look for places of no axes",
    "roi_align": "Paddle divides by zero where a box is turned over",
    "roi_align_vjp": "Paddle's gradient widens boxes that are smaller than a pixel",
    "scatter": "Paddle does not count from the end",
    "scatter_nd_add": "Paddle does not count from the end",
    "quantized_conv2d": "16 bits: Paddle rounds each step of what it is written as",
    "quantized_depthwise_conv2d": "16 bits: Paddle rounds each step of what it is written as",
    "quantized_linear": "16 bits: Paddle rounds each step of what it is written as",
    "softshrink": "infinities",
    "svd": "vectors have either sign",
    "thresholded_relu": "infinities",
    "topk": "which of equal values comes first",
}  # fmt: skip


def written():
    """Programs of one op, with inputs and results."""
    for op, spec in specs.items():
        if op.name in UNWRITTEN:
            continue
        count = 0
        for case in spec.cases():
            dtypes = case.dtypes or spec.dtypes
            for dtype in [d for d in ("float32", "int64", "bool", "complex64") if d in dtypes][:2] or [_first(dtypes, "int32", "float64")]:
                typed = _typed(spec, case, dtype)
                if typed is None or count >= 8 or any(x is not None and (x.size > 5000 or 0 in x.shape) for x in case.inputs):
                    continue  # Paddle refuses most tensors without elements
                inputs = typed.tensors()
                program = Program()
                feeds = [None if x is None else program.feed(x.shape, x.dtype, f"x{i}") for i, x in enumerate(inputs)]
                with capture(program):
                    program.fetches = list(_results(op(*feeds, **case.attrs)))
                try:
                    data = models.write_program(program)
                except NotImplementedError:
                    program.fetches = program.fetches[:1]
                    try:
                        data = models.write_program(program)
                    except NotImplementedError:
                        continue
                expected = _results(op(*inputs, **case.attrs))[: len(program.fetches)]
                count += 1
                yield op.name, repr(typed), (
                    data, {f"x{i}": array_of(x) for i, x in enumerate(inputs) if x is not None}, [array_of(x) for x in expected], op.random,
                )


def _first(dtypes, *wanted):
    """The first of these dtypes that is there, else any."""
    return next((one for one in wanted if one in dtypes), dtypes[0])


@pytest.fixture(scope="module")
def run_by_paddle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ops")
    cases = list(written())
    with open(folder / "cases", "wb") as file:
        pickle.dump([case for _, _, case in cases], file, protocol=4)
    found = outcomes(folder / "result", "run", folder / "cases")
    by_op: dict[str, list[tuple[str, str]]] = {}
    for number, (name, what, _) in enumerate(cases):
        by_op.setdefault(name, []).append((what, found[number]))
    return by_op


@pytest.mark.parametrize("name", [op.name for op in specs if op.name not in UNWRITTEN])
def test_the_program_of_one_op_runs_in_paddle(name, run_by_paddle):
    told = run_by_paddle.get(name, [])
    wrong = [(what, said) for what, said in told if said not in ("same", "no kernel")]
    assert bool(wrong) == (name in DIFFERENCES), wrong
    assert not told or any(said == "same" for _, said in told), told


# Calls, from Paddle to wherry.

# Every third call; with the marker `slow` all, where Paddle alone takes minutes.
SOME = ("calls/3", "functional_calls/3", "numeric_calls/9", "operator_calls/3")
ALL = ("calls", "functional_calls", "numeric_calls/3", "operator_calls")

# Operators that no rule reads, and what is missing.
UNREAD: dict[str, str] = {}

# Calls whose programs are not the same question, by a part of the expression.
ASIDE = {
    ".detach()": "the executor of Paddle 2.6.2 writes the product of a detached tensor over the tensor itself",
    "dropout": "Paddle saves programs as they are for prediction, what it computed here was training",
    "paddle.increment(x": "Paddle leaves an operator out that writes over what is fed",
    "# at the edges": "infinities of activations: eager calls differ alike, and are compared elsewhere",
    "padding=9": "windows of nothing but padding: Paddle divides by zero",
    "F.embedding(i, x)  # -1": "what is refused",
    "mode='nearest'": "places half way between two: Paddle's operator for volumes takes either",
    "paddle.to_tensor([5, 7])": "sizes of images have to be known when a program is read",
    "scale_factor=paddle.to_tensor": "sizes of images have to be known when a program is read",
    "F.affine_grid(x, paddle.to_tensor": "sizes of images have to be known when a program is read",
    "'bfloat16')": "Paddle cuts bits off where a program casts, and rounds where it is called eagerly",
    "paddle.repeat_interleave(x, y": "how often each value comes has to be known when a program is read",
    "F.rrelu(x)": "Paddle saves programs as they are for prediction, what it computed here was training",
    "F.batch_norm(x, paddle.zeros": "Paddle saves programs as they are for prediction, what it computed here was training",
    "F.sequence_mask(i)": "the longest sequence has to be known when a program is read",
    "F.pad(x, paddle.to_tensor": "widths of padding have to be known when a program is read",
}  # fmt: skip


@pytest.fixture(scope="module", params=[SOME, pytest.param(ALL, marks=pytest.mark.slow)], ids=["some", "all"])
def made_by_paddle(tmp_path_factory, request):
    return [item for item in outcomes(tmp_path_factory.mktemp("calls") / "made", "make", *request.param).values() if len(item) == 5]


def test_programs_that_paddle_makes_run_in_wherry(made_by_paddle):
    wrong, unread, same = [], {}, 0
    for name, data, params, feed, expected in made_by_paddle:
        if any(part in name for part in ASIDE):
            continue
        try:
            program = models.params_from_bytes(data, params) if params else models.read_program(data)
        except UnreadableOp as error:
            unread.setdefault(str(error).split("'")[1], []).append(name)
            continue
        except ValueError as error:
            wrong.append((name, str(error)[:300]))
            continue
        try:
            found = compiled(program)(*(wherry.to_tensor(feed[x.name]) for x in program.feeds))
        except Exception as error:
            wrong.append((name, f"{type(error).__name__}: {error}"[:300]))
            continue
        if any(node.op.random for node in program.walk()):
            agree = [x.shape == list(y.shape) for x, y in zip(found, expected, strict=True)]
        else:
            pairs = [(array_of(x), y) for x, y in zip(found, expected, strict=True)]
            agree = [x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-5, equal_nan=True) for x, y in pairs]
        if all(agree):
            same += 1
        else:
            wrong.append((name, f"got {[array_of(x) for x in found]}, Paddle has {expected}"[:300]))
    assert not wrong, "\n".join(map(str, wrong))
    assert set(unread) == set(UNREAD), unread
    assert same > 350
