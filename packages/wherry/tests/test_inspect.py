"""`wherry inspect`: programs and weights are told by inputs, operators and sizes; what is not read is named."""
import json
from pathlib import Path

import numpy as np
import pytest

import wherry
from wherry.__main__ import main

ONNX = Path(__file__).parents[3] / "tests" / "data" / "onnx"


def told(capsys, *arguments):
    assert main(["inspect", *map(str, arguments)]) == 0
    return capsys.readouterr().out


@pytest.fixture(params=["pdmodel", "json"])
def saved(request, tmp_path):
    net = wherry.nn.Sequential(wherry.nn.Linear(3, 4), wherry.nn.ReLU(), wherry.nn.Linear(4, 2))
    wherry.set_flags({"FLAGS_enable_pir_api": request.param == "json"})
    try:
        wherry.jit.save(net, str(tmp_path / "net"), input_spec=[wherry.static.InputSpec([None, 3], "float32", "x")])
    finally:
        wherry.set_flags({"FLAGS_enable_pir_api": False})
    return tmp_path / f"net.{request.param}"


def test_a_program_of_paddle_is_told_and_drawn(saved, tmp_path, capsys):
    text = told(capsys, saved)
    assert "x: float32 [?, 3]" in text and "4 tensors, 26 numbers, 104 bytes (4 float32)" in text and "all operators are supported" in text
    found = json.loads(told(capsys, saved, "--json", "-o", tmp_path / "net.svg"))
    assert found["inputs"] == [{"name": "x", "dtype": "float32", "shape": [-1, 3]}] and found["operators"]["matmul_v2"] == 2
    assert found["totals"] == {"tensors": 4, "elements": 26, "bytes": 104, "dtypes": {"float32": 4}} and found["unsupported"] == []
    assert (tmp_path / "net.svg").read_text().startswith("<svg")


def test_an_operator_that_is_not_read_is_named(saved, capsys):
    data = saved.read_bytes()
    saved.write_bytes(data.replace(b"relu", b"rule"))
    assert "not supported: " in (text := told(capsys, saved)) and "rule" in text.splitlines()[-1]


@pytest.mark.parametrize("path", sorted(ONNX.glob("*.onnx")), ids=lambda path: path.stem)
def test_models_of_exporters_are_told(path, capsys):
    found = json.loads(told(capsys, path, "--json"))
    session = wherry.InferenceSession(str(path))
    assert [each["name"] for each in found["inputs"]] == [each.name for each in session.get_inputs()]
    assert found["unsupported"] == [] and found["operators"] and found["format"].startswith("ONNX model, opset ")


def test_weights_are_told(tmp_path, capsys):
    np.savez(tmp_path / "w.npz", a=np.zeros((2, 3), "float16"), b=np.zeros(4, "int64"))
    assert "2 tensors, 10 numbers, 44 bytes (1 float16, 1 int64)" in told(capsys, tmp_path / "w.npz")
    wherry.save({"net": {"w": wherry.zeros([2, 2])}, "epoch": 3}, str(tmp_path / "s.pdparams"))
    assert "net.w: float32 [2, 2]" in told(capsys, tmp_path / "s.pdparams")


def test_formats_that_are_not_read_name_the_way_around(tmp_path, capsys):
    (tmp_path / "net.tflite").write_bytes(b"\x1c\x00\x00\x00TFL3")
    (tmp_path / "model.json").write_text(json.dumps({"format": "layers-model", "modelTopology": {}, "weightsManifest": []}))
    for name, kind in (("net.tflite", "TensorFlow Lite"), ("model.json", "TensorFlow.js")):
        assert main(["inspect", str(tmp_path / name)]) == 1
        error = capsys.readouterr().err
        assert kind in error and "tf2onnx" in error
