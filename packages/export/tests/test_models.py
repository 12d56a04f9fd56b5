"""Whole models, control flow and files in ONNX Runtime."""
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_export.onnx import export, to_model
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_program.program.control import (
    array_append,
    array_length,
    array_stack,
    array_write,
    cond,
    create_array,
    while_loop,
)
from wherry_tensor import float32, int64, ops


class Spec:
    """What `InputSpec` says."""

    def __init__(self, shape, dtype="float32", name=None):
        self.shape, self.dtype, self.name = shape, dtype, name


def lenet():
    return nn.Sequential(
        nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 5), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(),
        nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10),
    )


class Residual(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2D(4, 4, 3, padding=1, bias_attr=False), nn.Conv2D(4, 4, 3, padding=1, groups=4)
        self.norm, self.pool = nn.BatchNorm2D(4), nn.AdaptiveAvgPool2D(1)

    def forward(self, x):
        return self.pool(nn.functional.hardswish(self.b(nn.functional.relu(self.norm(self.a(x)))) + x)).flatten(1)


class Inverted(nn.Layer):
    """A block of MobileNetV3: wide, by channels, weighed by what all places say, narrow again."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Sequential(nn.Conv2D(4, 12, 1, bias_attr=False), nn.BatchNorm2D(12), nn.Hardswish())
        self.deep = nn.Sequential(nn.Conv2D(12, 12, 5, padding=2, groups=12, bias_attr=False), nn.BatchNorm2D(12), nn.ReLU6())
        self.weigh = nn.Sequential(nn.AdaptiveAvgPool2D(1), nn.Conv2D(12, 3, 1), nn.ReLU(), nn.Conv2D(3, 12, 1), nn.Hardsigmoid())
        self.narrow = nn.Sequential(nn.Conv2D(12, 4, 1, bias_attr=False), nn.BatchNorm2D(4))

    def forward(self, x):
        y = self.deep(self.wide(x))
        return self.narrow(y * self.weigh(y)) + x


class Best(nn.Layer):
    """Boxes that no better one strikes: a loop over all of them, in each round a choice."""

    def forward(self, x):
        low = x[:, :2]
        boxes = wt.concat([low, low + wt.abs(x[:, 2:]) + 0.5], 1)
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        corner = wt.maximum(low.unsqueeze(0), low.unsqueeze(1))
        sides = nn.functional.relu(wt.minimum(boxes[:, 2:].unsqueeze(0), boxes[:, 2:].unsqueeze(1)) - corner)
        common = sides[:, :, 0] * sides[:, :, 1]
        overlap = common / (area.unsqueeze(0) + area.unsqueeze(1) - common)
        place = wt.arange(x.shape[0])

        def one(i, kept):
            row = wt.gather(overlap, i.reshape([1])).reshape([-1])
            mine = wt.gather(kept, i.reshape([1])).sum() > 0
            struck = wt.logical_and(row > 0.2, place > i).astype("float32")
            return i + 1, cond(mine, lambda: kept * (1 - struck), lambda: kept)

        count = wt.shape(x)[0].astype("int64")
        kept = while_loop(lambda i, _kept: i < count, one, [wt.zeros([], "int64"), wt.ones_like(area)])[1]
        return wt.gather(boxes, wt.nonzero(kept).reshape([-1]))


class Recurrent(nn.Layer):
    def __init__(self, kind):
        super().__init__()
        self.net = kind(5, 6, num_layers=2, direction="bidirect")

    def forward(self, x):
        return self.net(x)[0]


MODELS = {
    "lenet": (lenet, [-1, 1, 28, 28]),
    "residual": (Residual, [-1, 4, 8, 8]),
    "inverted": (Inverted, [-1, 4, 8, 8]),
    "vgg": (
        lambda: nn.Sequential(
            nn.Conv2D(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.AdaptiveAvgPool2D(2), nn.Flatten(), nn.Linear(16, 5), nn.Dropout(0.5)
        ), [-1, 3, 12, 12],
    ),
    "best boxes": (Best, [-1, 4]),
    "transformer": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 2), [-1, 7, 16]),
    "lstm": (lambda: Recurrent(nn.LSTM), [-1, 4, 5]),
    "gru": (lambda: Recurrent(nn.GRU), [-1, 4, 5]),
    "upsample": (
        lambda: nn.Sequential(
            nn.Conv2DTranspose(3, 2, 3, stride=2, output_padding=1), nn.Upsample(scale_factor=2, mode="bilinear")
        ), [-1, 3, 5, 6],
    ),
}


# A model does not depend on the Python that writes it: one of them is enough for the opsets between.
ONE_PYTHON = pytest.mark.skipif(sys.version_info >= (3, 12), reason="looked at with Python 3.11")


@pytest.mark.parametrize("opset", [n if n in (11, 19) else pytest.param(n, marks=ONE_PYTHON) for n in range(11, 20)])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_runs_with_batches_of_any_size(name, opset, tmp_path):
    make, shape = MODELS[name]
    net = make()
    file = export(net, str(tmp_path / name), input_spec=[Spec(shape, name="image")], opset_version=opset)
    onnx.checker.check_model(file, full_check=True)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    net.eval()
    for batch in (1, 3, 6):
        x = np.random.default_rng(batch).standard_normal([batch, *shape[1:]]).astype("float32")
        (got,) = session.run(None, {"image": x})
        expected = net(wt.to_tensor(x)).numpy()
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def session_of(program, opset):
    model = to_model(program, opset=opset)
    onnx.checker.check_model(model, full_check=True)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("opset", [11, 13, 16])
def test_choices_and_loops_are_if_and_loop(opset):
    program = Program()
    x, n = program.feed([-1, 3], float32, "x"), program.feed([], int64, "n")
    weight = wt.to_tensor([1.0, -2.0, 0.5])

    def body(i, y):
        y = cond(y.sum() > 0, lambda: y * weight, lambda: y - weight)
        return i + 1, y.tanh() + x

    with capture(program):
        i, y = while_loop(lambda i, y: i < n, body, [wt.full([], 0, "int64"), x])
    program.fetches = [i, y]
    session = session_of(program, opset)
    for rounds in (0, 1, 5):
        value = np.random.default_rng(rounds).standard_normal((2, 3)).astype("float32")
        got = session.run(None, {"x": value, "n": np.array(rounds)})
        y = x0 = value
        for _ in range(rounds):
            y = np.tanh(y * weight.numpy() if y.sum() > 0 else y - weight.numpy()) + x0
        assert got[0] == rounds
        np.testing.assert_allclose(got[1], y, rtol=1e-5, atol=1e-6)


def squares_of(rounds):
    """A program whose loop writes squares into a list: at its end, or over what is there."""
    program = Program()
    x, n = program.feed([-1], float32, "x"), program.feed([], int64, "n")

    def body(i, squares):
        at = (i // 2).astype("int64") if rounds == "twice" else i
        return i + 1, array_write(squares, at, x * (i + 1).astype("float32"))

    with capture(program):
        _, squares = while_loop(lambda i, squares: i < n, body, [wt.full([], 0, "int64"), create_array(float32)])
        squares = cond(x.sum() > 0, lambda: squares, lambda: array_append(squares, x))
        program.fetches = [array_stack(squares, (-1, -1)), array_length(squares)]
    return program


@pytest.mark.parametrize("opset", [13, 14, 19])
@pytest.mark.parametrize("rounds", ["once", "twice"])
def test_lists_grow_and_change_in_loops(opset, rounds):
    session = session_of(squares_of(rounds), opset)
    for sign in (1.0, -1.0):
        value = np.full(2, sign, "float32")
        stacked, many = session.run(None, {"x": value, "n": np.array(4)})
        factors = [1, 2, 3, 4] if rounds == "once" else [2, 4]
        expected = [value * factor for factor in factors] + [value] * (sign < 0)
        np.testing.assert_array_equal(stacked, expected)
        assert many == len(expected)


def test_lists_in_loops_need_a_later_opset():
    with pytest.raises(NotImplementedError, match="opset_version=13"):
        to_model(squares_of("once"), opset=11)


def test_sizes_are_computed_in_the_model():
    program = Program()
    x = program.feed([-1, -1], float32, "x")
    with capture(program):
        rows, columns = x.shape
        program.fetches = [x.reshape([columns, rows]) + wt.arange(rows).astype("float32"), wt.full([rows * 2 + 1], 3.0)]
    session = session_of(program, 13)
    for shape in ((2, 3), (4, 1)):
        value = np.ones(shape, "float32")
        got = session.run(None, {"x": value})
        np.testing.assert_array_equal(got[0], value.reshape(shape[::-1]) + np.arange(shape[0]))
        np.testing.assert_array_equal(got[1], np.full(shape[0] * 2 + 1, 3.0))


def test_a_layer_is_exported_as_it_is_in_eval_and_stays_in_training(tmp_path):
    net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1D(3))
    file = export(net, str(tmp_path / "net"), input_spec=[Spec([-1, 3])], opset_version=13)
    assert net.training
    kinds = {node.op_type for node in onnx.load(file).graph.node}
    assert "BatchNormalization" in kinds and not kinds & {"RandomUniformLike", "Where"}


def test_an_op_that_onnx_lacks_is_named_with_the_line_and_the_place_for_a_rule(tmp_path):
    with pytest.raises(NotImplementedError, match=r"'erfinv' cannot be written at .*test_models.py:\d+.*wherry_export/onnx"):
        export(wt.erfinv, str(tmp_path / "f"), input_spec=[Spec([2])], opset_version=13)
    assert not list(tmp_path.iterdir())


def test_an_old_opset_is_raised_with_a_warning_and_a_new_one_refused(tmp_path):
    with pytest.warns(UserWarning, match="opset 11 is the oldest"):
        file = export(nn.Linear(2, 2), str(tmp_path / "f"), input_spec=[Spec([-1, 2])], opset_version=10)
    assert onnx.load(file).opset_import[0].version == 11
    with pytest.raises(ValueError, match="expected 11 to 19"):
        export(nn.Linear(2, 2), str(tmp_path / "g"), input_spec=[Spec([-1, 2])], opset_version=30)


def test_float8_has_a_dtype_of_its_own_from_opset_19_on(tmp_path):
    special = [0.0, -0.0, 448.0, 449.0, 464.0, -1e9, np.inf, np.nan, 2.0**-9, 2.0**-10, 3 * 2.0**-10, -(2.0**-6), 1.0625, 1.1875]
    x = np.concatenate([np.array(special, "float32"), np.random.default_rng(0).standard_normal(500).astype("float32") * 50])
    weight = ops.quantize_fp8(wt.to_tensor(x / 7))

    def net(x):
        there = ops.dequantize_fp8(ops.quantize_fp8(x), dtype=wt.float32)
        return there, there * ops.dequantize_fp8(weight, dtype=wt.float32)

    wanted = [y.numpy() for y in net(wt.to_tensor(x))]
    for opset in (18, 19):
        file = export(net, str(tmp_path / f"f{opset}"), input_spec=[Spec([len(x)])], opset_version=opset)
        model = onnx.load(file)
        onnx.checker.check_model(model)
        kinds = [node.op_type for node in model.graph.node]
        assert (kinds.count("QuantizeLinear"), kinds.count("DequantizeLinear")) == ((1, 2) if opset == 19 else (0, 0))
        assert (onnx.TensorProto.FLOAT8E4M3FN in {one.data_type for one in model.graph.initializer}) == (opset == 19)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        for got, value in zip(session.run(None, {"x0": x}), wanted, strict=True):
            np.testing.assert_array_equal(got, value)


def test_bytes_of_float8_that_are_handed_out_are_computed(tmp_path):
    def net(x):
        codes = ops.quantize_fp8(x)
        return codes, ops.dequantize_fp8(codes, dtype=wt.float32)

    file = export(net, str(tmp_path / "f"), input_spec=[Spec([-1])], opset_version=19)
    x = np.linspace(-500, 500, 200, dtype="float32")
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    for got, value in zip(session.run(None, {"x0": x}), net(wt.to_tensor(x)), strict=True):
        np.testing.assert_array_equal(got, value.numpy())


def test_outputs_can_be_chosen(tmp_path):
    file = export(lambda x: (x + 1, x * 2), str(tmp_path / "f"), input_spec=[Spec([2])], opset_version=13, output_spec=[1])
    (got,) = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]).run(None, {"x0": np.ones(2, "float32")})
    np.testing.assert_array_equal(got, [2, 2])


def test_what_a_layer_takes_has_to_be_said():
    with pytest.raises(ValueError, match="input_spec=None"):
        export(nn.Linear(2, 2), "nowhere", opset_version=13)


class Branching(nn.Layer):
    def forward(self, x):
        if x.mean() > 0:
            y = x * 2
        else:
            y = x - 1
        while y.sum() < 20:
            y = y + 1
        return y


def test_control_flow_on_tensors_is_converted(tmp_path, recwarn):
    net = Branching()
    path = export(net, str(tmp_path / "net"), input_spec=[Spec([None, 2], "float32", "x")])
    assert not recwarn.list  # the default opset needs no word
    assert "forward" not in vars(net)
    session = onnxruntime.InferenceSession(path)
    for values in ([[1.0, 2.0]], [[-3.0, 1.0], [2.0, -8.0]]):
        x = np.array(values, "float32")
        np.testing.assert_allclose(session.run(None, {"x": x})[0], net(wt.to_tensor(x)).numpy())


def test_hooks_of_the_layer_belong_to_the_model(tmp_path):
    net = nn.Linear(2, 2)
    net.register_forward_post_hook(lambda layer, given, result: result * 3)
    path = export(net, str(tmp_path / "net"), input_spec=[Spec([None, 2], "float32", "x")])
    x = np.ones((1, 2), "float32")
    np.testing.assert_allclose(onnxruntime.InferenceSession(path).run(None, {"x": x})[0], net(wt.to_tensor(x)).numpy(), rtol=1e-6)
