"""Models of others, read here: all of ONNX's cases for operators, the models that its wheel brings, and what we export ourselves."""
from __future__ import annotations

import glob
import os
from pathlib import Path

import numpy as np
import pytest

import wherry as paddle

onnx = pytest.importorskip("onnx")

from wherry_onnx_files.errors import NeedsValue  # noqa: E402
from wherry_onnx_files.models import read_model  # noqa: E402
from wherry_onnx_files.testing.node_cases import compare, given, run_cases  # noqa: E402
from wherry_program.run.executor import compiled  # noqa: E402

DATA = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
MADE = Path(__file__).parent / "data" / "onnx"  # by PyTorch's two exporters, scikit-learn's and Paddle's; make.py there says how
VISION = {"mobilenet_v2": {"scale": 0.5}, "resnet18": {}, "shufflenet_v2_x0_25": {}, "squeezenet1_1": {}}


@pytest.mark.filterwarnings("ignore")
def test_of_onnx_own_cases_for_operators_at_least_97_in_100_agree():
    found = run_cases(whole=True)
    print(found)
    assert found.count > 1000, found
    assert found.agree / found.count >= 0.97, found.wrong


def _message(path, described):
    with open(path, "rb") as file:
        data = file.read()
    if described.type.HasField("sequence_type"):
        sequence = onnx.SequenceProto.FromString(data)
        return [onnx.numpy_helper.to_array(x) for x in sequence.tensor_values]
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))


def _of_wheel():
    folders = [d for kind in ("simple", "pytorch-converted", "pytorch-operator") for d in sorted(glob.glob(f"{DATA}/{kind}/*/"))]
    return [d for d in folders if os.path.exists(f"{d}model.onnx") and "strnorm" not in d and "gradient" not in d]  # strings, training


def test_all_models_that_the_wheel_of_onnx_brings_agree():
    folders = _of_wheel()
    wrong = {}
    for folder in folders:
        model, described = read_model(f"{folder}model.onnx"), onnx.load(f"{folder}model.onnx").graph
        fixed = {x.name for x in described.initializer}
        inputs = [x for x in described.input if x.name not in fixed]
        try:
            program = model.program()
            call = compiled(program, level=2)
        except NeedsValue:
            call = None
        for data in glob.glob(f"{folder}test_data_set_*"):
            fed_values = [_message(f"{data}/input_{i}.pb", x) for i, x in enumerate(inputs)]
            want = [_message(f"{data}/output_{i}.pb", x) for i, x in enumerate(described.output)]
            fed = {
                port.name: [paddle.to_tensor(y) for y in x] if isinstance(x, list) else model.held(port, x)
                for port, x in zip(model.inputs, fed_values)
            }
            results = [model.run(fed)] + ([call(*(fed[x.name] for x in program.feeds))] if call else [])
            try:
                for result in results:
                    for got, expected in zip(map(given, result), want):
                        compare(got, expected, 1e-3)
            except AssertionError as error:
                wrong[folder] = str(error)
    assert len(folders) > 100 and not wrong, wrong


@pytest.mark.slow
def test_the_large_models_without_weights_agree():
    for file in sorted(glob.glob(f"{DATA}/light/*.onnx")):
        model, graph = read_model(file), onnx.load(file).graph
        (call, (port,)) = compiled(model.program(), level=2), model.inputs
        count = int(np.prod(port.shape))
        x = (np.arange(count).reshape(port.shape) / count).astype(np.float32)
        compare(call(model.held(port, x))[0].numpy(), _message(f"{file[:-5]}_output_0.pb", graph.output[0]), 1e-3)


@pytest.mark.parametrize("file", sorted(MADE.glob("*.onnx")), ids=lambda file: file.stem)
def test_a_model_of_another_framework_gives_what_that_framework_gave(file):
    data = np.load(file.with_suffix(".npz"))
    x, want = data["x"], [data[name] for name in sorted(set(data.files) - {"x"})]
    net = paddle.onnx.load(file)
    assert isinstance(net, paddle.jit.TranslatedLayer)  # a program, for a batch of another size than it was exported with
    found, session = net(paddle.to_tensor(x)), paddle.InferenceSession(str(file))
    arrays = [y.numpy() for y in (found if isinstance(found, list) else [found])]
    for results in arrays, session.run(None, {session.get_inputs()[0].name: x}):
        for got, y in zip(results, want, strict=True):
            assert got.dtype == y.dtype
            np.testing.assert_allclose(got, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", VISION)
def test_a_model_of_vision_comes_back_trains_and_goes_out_again(name, tmp_path):
    paddle.seed(1)
    net = getattr(paddle.vision.models, name)(num_classes=10, **VISION[name])
    net.eval()
    spec = [paddle.static.InputSpec([None, 3, 64, 64], "float32", "image")]
    file = paddle.onnx.export(net, str(tmp_path / name), input_spec=spec, opset_version=13)
    again = paddle.onnx.load(file)
    x = paddle.randn([2, 3, 64, 64])
    # Both sum in float32, in orders of their own, through some fifty layers.
    np.testing.assert_allclose(again(x).numpy(), net(x).numpy(), rtol=1e-3, atol=1e-4)
    again.train()
    again(x).sum().backward()
    assert all(p.grad is not None for p in again.parameters())
    again.eval()
    paddle.jit.save(again, str(tmp_path / "again"))
    np.testing.assert_allclose(paddle.jit.load(str(tmp_path / "again"))(x).numpy(), again(x).numpy(), rtol=1e-3, atol=1e-4)
    once_more = paddle.onnx.load(paddle.onnx.export(again, str(tmp_path / "more"), input_spec=spec, opset_version=15))
    np.testing.assert_allclose(once_more(x).numpy(), again(x).numpy(), rtol=1e-3, atol=1e-4)
    (y,) = paddle.InferenceSession(file).run(None, {"image": x.numpy()})
    assert y.shape == (2, 10)
