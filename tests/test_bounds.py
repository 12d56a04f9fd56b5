"""Small arguments never ask for endless work, and Ctrl-C is heard within a second."""
import math
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import wherry as paddle
from wherry import nn

X = paddle.ones([2, 3])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: paddle.multigammaln(X, 2**48), ValueError, "each costs a pass over x"),
        (lambda: nn.SimpleRNN(4, 3, num_layers=10**30), ValueError, "each costs the parameters"),
        (lambda: nn.LSTM(4, 3, num_layers=2**33), ValueError, "each costs the parameters"),
        (lambda: nn.GRU(4, 3, num_layers=2**33), ValueError, "each costs the parameters"),
        (lambda: nn.LSTM(4, 2**20, num_layers=60_000), MemoryError, "60000 layers"),
        (lambda: nn.Transformer(8, 2, 2**32), ValueError, "num_layers=4294967296"),
        (lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 8), 2**62), ValueError, "each costs the parameters"),
        (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(1024, 2, 4096), 60_000), MemoryError, "60000 layers"),
        (lambda: paddle.tril_indices(2**63 - 1, 3), MemoryError, "9223372036854775807 rows"),
        (lambda: paddle.triu_indices(10**30, 10**30), MemoryError, "rows"),
        (lambda: nn.functional.class_center_sample(paddle.to_tensor([1, 2]), 2**40, 2**39), MemoryError, "a choice of"),
        (lambda: X[range(2**40)], MemoryError, "not enough memory"),
        (lambda: X[[range(2**40)]], MemoryError, "an index of shape"),
        (lambda: paddle.zeros([2**40, 0]).tolist(), MemoryError, "empty lists"),
    ],
)
def test_what_would_not_end_is_refused_at_once(call, error, text):
    begun = time.process_time()  # of the processors: a loaded machine takes its time
    with pytest.raises(error, match=text):
        call()
    assert time.process_time() - begun < 2


def test_what_has_an_answer_gets_it_at_once():
    begun = time.process_time()  # of the processors: a loaded machine takes its time
    assert paddle.diff(X, n=2**62).shape == [2, 0]
    assert paddle.triu_indices(10**30, 3).tolist() == paddle.triu_indices(3, 3).tolist()
    assert paddle.tril_indices(3, 10**30, -1).tolist() == [[1, 2, 2], [0, 0, 1]]
    assert repr(paddle.zeros([2**40, 0])).count("[]") == 6
    remapped, chosen = nn.functional.class_center_sample(paddle.to_tensor([11, 5, 11, 2**31 - 2]), 2**31 - 1, 6)
    assert remapped.tolist() == [1, 0, 1, 2] and chosen.tolist()[:3] == [5, 11, 2**31 - 2]
    assert len(set(chosen.tolist())) == 6
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(("rows", "columns", "offset"), [(0, 0, 0), (3, 4, 0), (4, 3, 1), (3, 5, -2), (5, 2, -4), (2, 5, 4), (3, 3, -9), (3, 3, 9)])
def test_triangles_are_those_of_numpy(rows, columns, offset):
    np.testing.assert_array_equal(paddle.tril_indices(rows, columns, offset).numpy(), np.array(np.tril_indices(rows, offset, columns)))
    np.testing.assert_array_equal(paddle.triu_indices(rows, columns, offset).numpy(), np.array(np.triu_indices(rows, offset, columns)))


@pytest.mark.parametrize(("classes", "samples"), [(20, 20), (20, 6), (1000, 30), (50, 0)])
def test_chosen_classes_are_different_ones(classes, samples):
    paddle.seed(3)
    labels = paddle.to_tensor([3, 7, 3, 19])
    remapped, chosen = nn.functional.class_center_sample(labels, classes, samples)
    assert paddle.gather(chosen, remapped).tolist() == labels.tolist()
    assert chosen.tolist()[:3] == [3, 7, 19]
    assert len(set(chosen.tolist())) == chosen.shape[0] == max(samples, 3)
    assert min(chosen.tolist()) >= 0 and max(chosen.tolist()) < classes


def test_every_class_is_chosen_equally_often():
    counts = np.zeros(40)
    for _ in range(400):
        counts[nn.functional.class_center_sample(paddle.to_tensor([5]), 40, 9)[1].numpy()] += 1
    assert counts[5] == 400
    others = np.delete(counts, 5)
    # 8 of 39 each time: a mean of 82 and a deviation of 8
    assert abs(others.mean() - 400 * 8 / 39) < 1e-9 and others.min() > 82 - 5 * 8.1 and others.max() < 82 + 5 * 8.1


def test_lists_that_contain_themselves_are_no_index():
    cyclic: list = []
    cyclic.append(cyclic)
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    for index in cyclic, [1, cyclic], deep:
        with pytest.raises(ValueError, match="not an index"):
            X[index]


def test_texts_of_errors_are_short_and_sure():
    class Silent:
        def __repr__(self):
            raise RecursionError

    deep: list = []
    for _ in range(5000):
        deep = [deep]
    for value in Silent(), deep, [1] * 10**6, "x" * 10**6:
        with pytest.raises((TypeError, ValueError)) as caught:
            paddle.sum(X, axis=value)
        assert len(str(caught.value)) < 1000
        with pytest.raises((TypeError, ValueError)) as caught:
            paddle.zeros(value if not isinstance(value, list) else [value])
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "work",
    [
        "w.multigammaln(w.ones([4, 200_000]), 60_000)",
        "w.nn.LSTM(4, 3, num_layers=60_000)",
        "w.nn.TransformerEncoder(w.nn.TransformerEncoderLayer(8, 2, 8), 60_000)",
        "w.zeros([3000, 100_000, 0]).tolist()",
        "w.diff(w.ones([300_000]), n=200_000)",
    ],
)
def test_ctrl_c_is_heard_in_the_middle_of_long_work(work):
    # PYTHONUNBUFFERED would do, but the flush says when the work begins.
    # Started in the background, a program inherits a SIGINT that is ignored.
    program = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"import wherry as w\nprint('begins', flush=True)\n"
        f"try:\n    {work}\nexcept KeyboardInterrupt:\n    print('heard', flush=True)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begins\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        try:
            assert child.communicate(timeout=300)[0] == "heard\n"  # the work would take minutes; a loaded machine takes its time
        finally:
            child.kill()


def test_odd_arguments_have_answers():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    paddle.stanh(x, 1.0, 0.0).sum().backward()
    assert x.grad.tolist() == [0, 0]
    assert paddle.deg2rad(paddle.to_tensor([180 + 90j])).item() == pytest.approx(math.pi * (1 + 0.5j), rel=1e-6)
    assert paddle.rad2deg(paddle.to_tensor([1j])).item() == pytest.approx(57.29578j, rel=1e-6)
    with pytest.raises(TypeError, match=r"guard\('x_'\)"):
        paddle.utils.unique_name.switch("x")
    label = paddle.to_tensor([[0.4]], stop_gradient=False)
    nn.functional.sigmoid_focal_loss(paddle.to_tensor([[0.3]]), label).backward()
    assert label.grad.item() == pytest.approx(-0.15926710, rel=1e-5)  # Paddle 2.6.2's


def test_autocast_ends_however_the_block_ends():
    class Signal(BaseException):
        pass

    def trace(frame, event, argument):  # raises at each line of auto_cast in turn, as Ctrl-C might
        if frame.f_code.co_name == "auto_cast":
            def inside(frame, event, argument):
                nonlocal at
                if event == "line":
                    at -= 1
                    if at == 0:
                        raise Signal
                return inside
            return inside
        return None

    x, y = paddle.ones([2, 2]), paddle.ones([2, 2])
    for line in range(1, 40):
        at = line
        sys.settrace(trace)
        try:
            with paddle.amp.auto_cast(dtype="bfloat16"):
                pass
        except Signal:
            pass
        finally:
            sys.settrace(None)
        assert (x @ y).dtype is paddle.float32, line
        if at > 0:
            break
    assert line > 10


@pytest.mark.parametrize("value", [None, [1.0, 2.0], True, 3, np.ones((2, 3), "float32"), "x"], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize(
    "layer",
    [
        lambda: nn.Linear(3, 2), lambda: nn.BatchNorm1D(3), lambda: nn.InstanceNorm3D(3), lambda: nn.SpectralNorm([2, 3]),
        lambda: nn.Softmax2D(), lambda: nn.LayerNorm(3), lambda: nn.GroupNorm(1, 3), lambda: nn.Conv2D(3, 2, 3), lambda: nn.LSTM(3, 2),
        lambda: nn.MultiHeadAttention(4, 2), lambda: nn.TransformerEncoderLayer(4, 2, 8), lambda: nn.ReLU(), lambda: nn.Dropout(0.5),
        lambda: nn.MaxPool2D(2), lambda: nn.Flatten(), lambda: nn.PReLU(), lambda: nn.Embedding(3, 2), lambda: nn.Upsample(scale_factor=2),
        lambda: nn.Pad2D(1), lambda: nn.GELU(), lambda: nn.Softmax(), lambda: nn.AdaptiveAvgPool2D(1), lambda: nn.Conv2DTranspose(3, 2, 3),
    ],
    ids=lambda make: type(make()).__name__,
)
def test_a_layer_says_what_it_wants_of_another_kind_of_input(layer, value):
    with pytest.raises((TypeError, ValueError)) as caught:
        layer()(value)
    assert not isinstance(caught.value, AttributeError)
    assert "Got" in str(caught.value) and "expected" in str(caught.value)


def test_autograd_says_what_it_wants():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = (x * x).sum()
    for call in (
        lambda: paddle.Tensor.backward(None), lambda: paddle.Tensor.backward([y]), lambda: paddle.autograd.backward([y, None]),
        lambda: paddle.autograd.jacobian([1, 2], x), lambda: paddle.autograd.jacobian(y, 3), lambda: paddle.autograd.hessian([1.0], x),
        lambda: paddle.Tensor.register_hook(np.ones(2), print), lambda: paddle.grad(3, x), lambda: paddle.grad(y, [1]),
    ):
        with pytest.raises((TypeError, ValueError, AssertionError), match="Got"):
            call()


def nested():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    return deep


UNEXPECTED = {
    "a dict for a tensor": (lambda: paddle.incubate.nn.functional.fused_feedforward({}, X, X), TypeError, "must be a Tensor"),
    "no layer": (lambda: paddle.sparse.nn.SyncBatchNorm.convert_sync_batchnorm(3), TypeError, "Got int, expected Layer"),
    "segments without an axis": (
        lambda: paddle.geometric.segment_sum(paddle.ones([]), paddle.to_tensor(1)), ValueError, "'segment_ids' has the wrong number of axes"),
    "nodes that are floats": (lambda: paddle.incubate.graph_khop_sampler(*[paddle.ones([2])] * 3, [2]), ValueError, "numbers of nodes"),
    "an index beyond int64": (lambda: paddle.ones([3])[[1, 1 << 63]], IndexError, "an index is out of range"),
    "a pass": (lambda: paddle.inference.PassBuilder().append_pass(nested()), ValueError, "the pass is unknown"),
    "groups": (lambda: paddle.sparse.nn.Conv3D(4, 4, 3, groups=nested()), ValueError, "argument 'groups' must be one integer"),
    "a reduction": (lambda: paddle.geometric.send_u_recv(*[paddle.ones([3])] * 3, nested()), ValueError, "there is no such reduction"),
    "a name": (lambda: paddle.inference.Tensor(nested(), "uint8", [4], False), TypeError, "name or dtype is not a str"),
    "a direction": (lambda: paddle.nn.LSTM(2, 2, direction=nested()), ValueError, "direction should be forward"),
    "a stride": (lambda: paddle.static.nn.sequence_conv(paddle.ones([2]), 2, 3, nested()), ValueError, "the stride is 1"),
    "a path for autotune": (lambda: paddle.incubate.autotune.set_config("\ud800"), ValueError, "is not a valid file name"),
    "endless iterations": (lambda: nn.SpectralNorm([2, 2], power_iters=1 << 40), ValueError, "each costs two products"),
    "a bound that is not a number": (lambda: nn.ClipGradByValue(float("nan")), ValueError, "not a number that a float can hold"),
    "no optimizer": (lambda: paddle.incubate.asp.OptimizerWithSparsityGuarantee(3), TypeError, "this is not an optimizer"),
    "a backend": (
        lambda: paddle.inference.convert_to_mixed_precision("a", "b", "c", "d", paddle.inference.PrecisionType.Half, nested()),
        ValueError, "backend is not a PlaceType",
    ),
    "a destination": (lambda: paddle.nn.Linear(1, 1).state_dict(np.zeros(3)), TypeError, "expected a dict that is filled"),
}


@pytest.mark.parametrize("case", UNEXPECTED)
def test_arguments_that_nobody_expects_have_errors_of_our_own(case):
    call, kind, text = UNEXPECTED[case]
    with pytest.raises(kind, match=text):
        call()
