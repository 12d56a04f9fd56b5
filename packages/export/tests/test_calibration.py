"""Bundles with int8 activations: the whole numbers of the page are those that this machine computes."""
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_autograd import no_grad
from wherry_export.web import checking, engine_files, export
from wherry_graph.jit import save
from wherry_program.program.input_spec import InputSpec
from wherry_quant import QuantConfig
from wherry_quant.calibrating import calibrate
from wherry_quant.observers import AbsMaxChannelWiseWeightObserver, MSEObserver

wherry_ops_cpu.column.register()
lack = engine_files.missing() or (None if checking.node() else "Node is not installed")
needs_engine = pytest.mark.skipif(lack is not None, reason=str(lack))
HERE = Path(checking.__file__).parent


class Windows(nn.Layer):
    """What networks of images are made of: windows, channels by themselves, points, sums, pooling, parts beside each other, a matrix."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2D(3, 24, 3, stride=2, padding=1, bias_attr=False), nn.BatchNorm2D(24), nn.ReLU6())
        self.deep, self.point = nn.Conv2D(24, 24, 3, padding=1, groups=24), nn.Conv2D(24, 24, 1)
        self.left, self.right = nn.Conv2D(24, 8, 1), nn.Conv2D(24, 12, 3, padding=1)
        self.last, self.out = nn.Conv2D(20, 16, 1), nn.Linear(16 * 16, 5)

    def forward(self, x):
        x = self.first(x)
        x = nn.functional.relu(self.point(self.deep(x)) + x)
        x = self.last(wt.concat([self.left(x), self.right(x)], axis=1))
        return self.out(wt.flatten(nn.functional.max_pool2d(nn.functional.relu(x), 2, 2), 1))


SPEC = [InputSpec([None, 3, 16, 16], "float32", "x")]


def made(count=4):
    wt.seed(7)
    return Windows(), [wt.randn([8, 3, 16, 16]) for _ in range(count)]


def program_of(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return json.loads((folder / manifest["program"]["url"]).read_text())


@needs_engine
def test_activations_are_whole_numbers_and_those_of_this_machine(tmp_path):
    net, data = made()
    site = export(net, tmp_path / "site", input_spec=SPEC, quantize="int8", data=data, example=[data[0]])
    assert site.checked.apart == 0.0
    ops = [name for item in program_of(tmp_path / "site")["block"] for name in item["ops"]]
    counts = {"quantized_conv2d": 5, "quantized_depthwise_conv2d": 1, "quantized_linear": 1, "quantized_max_pool2d": 1}
    assert {name: ops.count(name) for name in counts} == counts
    assert not {"conv2d", "conv2d_blocked", "linear"} & set(ops)
    assert [row.runs_in for row in site.report.rows] == ["int8"] * 7 and all(row.snr > 20 for row in site.report.rows)
    assert "7 of 7 products run in integers" in str(site)
    assert net.training and net.first[0].weight.dtype is wt.float32  # it stays as it was

    net.eval()
    with no_grad():
        wanted = net(data[0]).numpy()
    found, _ = checking.predicted(tmp_path / "site", {"x": data[0].numpy()}, repeat=0)
    assert np.abs(next(iter(found.values())) - wanted).max() < 0.06 * np.abs(wanted).max()
    plain = export(net, tmp_path / "plain", input_spec=SPEC)
    sizes = [sum(size for name, size in one.files.items() if "weights" in name) for one in (site, plain)]
    assert sizes[0] < 0.33 * sizes[1]  # scales and biases are floats


@needs_engine
def test_threads_and_relaxed_instructions_change_no_bit(tmp_path):
    net, data = made()
    export(net, tmp_path / "site", input_spec=SPEC, quantize="int8", data=data)
    known = subprocess.run(["node", "--v8-options"], capture_output=True, text=True).stdout
    relaxed = ["--experimental-wasm-relaxed-simd"] if "experimental-wasm-relaxed-simd" in known else []
    found = set()
    for options in ([], relaxed):
        done = subprocess.run(
            ["node", *options, Path(__file__).parent / "int8.mjs", tmp_path / "site"], capture_output=True, text=True,
            env={**os.environ, "WHERRY_JS": str(HERE / "js" / "wherry.js")},
        )
        assert done.returncode == 0, done.stderr[-3000:]
        found.update(json.loads(done.stdout))
    assert len(found) == 1


@needs_engine
def test_layers_and_files_that_are_quantized_already_run_in_integers(tmp_path):
    net, data = made()
    config = QuantConfig(None, None)
    config.add_type_config(nn.Linear, activation=MSEObserver(), weight=AbsMaxChannelWiseWeightObserver())
    model = calibrate(net, data, config)
    save(model, str(tmp_path / "net"), input_spec=SPEC)
    for what, spec in (model, SPEC), (tmp_path / "net.pdmodel", None):
        site = export(what, tmp_path / "site", input_spec=spec)
        assert site.checked.apart < 1e-5 and site.report is None
        ops = [name for item in program_of(tmp_path / "site")["block"] for name in item["ops"]]
        assert ops.count("quantized_linear") == 1 and "quantized_conv2d" not in ops


@needs_engine
@pytest.mark.parametrize(("options", "error", "message"), [
    ({"quantize": "int8"}, ValueError, "expected data=batches"),
    ({"data": []}, ValueError, "expected both"),
    ({"quantize": "int8", "data": []}, ValueError, "no batches"),
    ({"quantize": "int4", "data": [wt.ones([2, 4])]}, ValueError, "Got quantize='int4', expected 'int8' or a QuantConfig"),
    ({"quantize": 8, "data": [wt.ones([2, 4])]}, TypeError, "not a configuration. Got 8"),
    ({"quantize": "int8", "data": 3}, TypeError, "holds no batches. Got 3"),
    ({"quantize": "int8", "data": [wt.ones([2, 4])], "engine": "train"}, ValueError, "expected both with engine='predict'"),
])
def test_wrong_arguments_are_explained(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        export(nn.Linear(4, 3), tmp_path / "site", input_spec=[InputSpec([None, 4], "float32", "x")], **options)
    assert not (tmp_path / "site").exists()


@needs_engine
def test_only_layers_are_calibrated(tmp_path):
    with pytest.raises(TypeError, match="Got .*ReLU.*, expected a Layer. Models that are saved"):
        export(str(tmp_path / "ReLU.pdmodel"), tmp_path / "site", quantize="int8", data=[wt.ones([2, 4])])


@needs_engine
def test_what_is_looked_up_in_tables_is_that_of_this_machine(tmp_path):
    wt.seed(7)
    net = nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.Hardswish(), nn.Conv2D(8, 8, 1), nn.GELU(), nn.Flatten(), nn.Linear(2048, 5))
    data = [wt.randn([8, 3, 16, 16]) for _ in range(3)]
    config = QuantConfig(None, None)
    config.add_type_config([nn.Conv2D, nn.Linear], activation=MSEObserver(), weight=AbsMaxChannelWiseWeightObserver())
    config.add_type_config([nn.Hardswish, nn.GELU], activation=MSEObserver(), weight=None)
    site = export(net, tmp_path / "site", input_spec=SPEC, quantize=config, data=data, example=[data[0]])
    ops = [name for item in program_of(tmp_path / "site")["block"] for name in item["ops"]]
    assert ops.count("mapped_bytes") == 2 and not {"hardswish", "gelu", "erf", "tanh"} & set(ops)
    assert site.checked.apart == 0.0
