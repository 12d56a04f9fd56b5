"""Models that are quantized, and what they give. Run by either framework, it prints `RESULT` and a JSON object.

    quant_program.py run              scales, whole weights and results of PTQ and QAT, and of the helpers of calibration
    quant_program.py save FOLDER      a converted model saved as FOLDER/net, and what it gives
    quant_program.py static FOLDER    models as Paddle's static tools write them, in both styles, and what its predictor gives (Paddle alone)
    quant_program.py post SOURCE FOLDER   the float model in SOURCE, calibrated in static mode in every way, and what the quantized ones give
    quant_program.py flow FOLDER      models quantized as in 2.3, saved there, and what they give
    quant_program.py load FOLDER      what the saved models there give

`test_quant.py` compares.
"""
import json
import sys
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from pathlib import Path

import numpy as np
import paddle
from paddle import nn
from paddle.nn.quant.format import LinearDequanter, LinearQuanter
from paddle.quantization import PTQ, QAT, BaseQuanter, QuantConfig, quanter
from paddle.quantization.observers import AbsmaxObserver
from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.act, self.pool, self.flat = nn.Conv2D(1, 4, 3), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten()
        self.head = nn.Sequential(nn.Linear(36, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, x):
        return self.head(self.flat(self.pool(self.act(self.conv(x)))))


@quanter("ByChannel")
class ByChannelLayer(BaseQuanter):
    """The largest magnitude of each output of a weight."""

    def __init__(self, layer):
        super().__init__()
        self.axis = 1 if len(layer.weight.shape) == 2 else 0

    def forward(self, input):
        self.largest = paddle.max(paddle.abs(input.detach()), axis=[i for i in range(input.ndim) if i != self.axis])
        return input

    def scales(self):
        return self.largest

    def zero_points(self):
        return None

    def quant_axis(self):
        return self.axis

    def bit_length(self):
        return 8


def numbers(count, seed):
    return np.random.RandomState(seed).standard_normal(count).astype("float32")


def net():
    model = Net()
    for i, parameter in enumerate(model.parameters()):
        parameter.set_value((numbers(int(np.prod(parameter.shape)), i) * 0.3).reshape(parameter.shape))
    return model


def images(seed):
    return numbers(4 * 64, 100 + seed).reshape(4, 1, 8, 8)


def batch(seed):
    return paddle.to_tensor(images(seed))


def listed(x):
    return np.asarray(x.numpy() if hasattr(x, "numpy") else x, "float64").ravel().tolist()


def state(model):
    return {key: [list(value.shape), listed(value)] for key, value in model.state_dict().items()}


def calibrated(weight, remain=False):
    model = net()
    model.eval()
    config = QuantConfig(activation=AbsmaxObserver(), weight=weight)
    observed = PTQ(config).quantize(model)
    for i in range(3):
        observed(batch(i))
    return PTQ(config).convert(observed, remain_weight=remain)


def ptq(found):
    for name, weight in ("one", AbsmaxObserver()), ("channel", ByChannel()):  # noqa: F821  the decorator defined it
        model = calibrated(weight)
        found[f"ptq {name}"] = {"state": state(model), "result": listed(model(batch(7))), "text": str(model)}
    found["ptq remaining"] = {"result": listed(calibrated(AbsmaxObserver(), True)(batch(7)))}


def qat(found):
    one = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
    model = net()
    model.train()
    tool = QAT(QuantConfig(activation=one, weight=one))
    model = tool.quantize(model)
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    losses = []
    for i in range(4):
        loss = (model(batch(i)) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    model.eval()
    found["qat"] = {
        "losses": losses, "state": state(model), "names": [name for name, _ in model.named_parameters()], "result": listed(model(batch(7))),
        "converted": listed(tool.convert(model)(batch(7))), "text": str(model),
    }


def places(found):
    """Which layers are observed, by what a configuration says."""
    for name in ("none", "type", "layer", "name", "layer over type", "inner"):
        model = net()
        model.eval()
        config = QuantConfig(activation=None, weight=None)
        if name in ("type", "layer over type"):
            config.add_type_config([nn.Linear, nn.Tanh], activation=AbsmaxObserver(), weight=AbsmaxObserver())
        if name == "layer":
            config.add_layer_config([model.conv], activation=AbsmaxObserver())
        if name == "name":
            config.add_name_config(model.head.full_name(), weight=AbsmaxObserver())
        if name == "layer over type":
            config.add_layer_config(model.head[0], activation=None, weight=AbsmaxObserver())
        if name == "inner":
            config.add_layer_config(model.head, activation=AbsmaxObserver(), weight=None)
            config.add_customized_leaf(nn.Sequential)
        found[f"places {name}"] = {"text": str(PTQ(config).quantize(model))}


def rounding(found):
    values = [0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128.0, 200.0, -127.5, -128.4, -129.0, -500.0, float("inf")]
    for bits, scale in (8, 127.0), (4, 7.0):
        quanter = LinearQuanter(paddle.to_tensor(scale), bit_length=bits)
        whole = quanter(paddle.to_tensor(values))
        found[f"rounding {bits}"] = {"whole": listed(whole), "back": listed(LinearDequanter(paddle.to_tensor(scale), bit_length=bits)(whole))}
        fake = FakeQuanterWithAbsMaxObserver(bit_length=bits)._instance(nn.Linear(2, 2))
        fake._scale.set_value(paddle.to_tensor([scale]))
        fake.eval()
        found[f"rounding {bits}"]["fake"] = listed(fake(paddle.to_tensor(values)))
    x = paddle.to_tensor(numbers(4000, 3))
    found["rounding many"] = {"whole": listed(LinearQuanter(paddle.to_tensor(2.345))(x))}


def save(folder):
    model = calibrated(ByChannel())  # noqa: F821
    model.eval()
    paddle.jit.save(model, str(folder / "net"), input_spec=[paddle.static.InputSpec([None, 1, 8, 8], "float32", "x")])
    return {"net": listed(model(batch(7)))}


def flow(folder):
    from paddle.quantization import (
        AbsmaxQuantizer,
        ImperativePTQ,
        ImperativeQuantAware,
        PerChannelAbsmaxQuantizer,
        PTQConfig,
    )

    spec = [paddle.static.InputSpec([None, 1, 8, 8], "float32", "x")]
    for kind in "abs_max", "channel_wise_abs_max":
        model = net()
        tool = ImperativeQuantAware(weight_quantize_type=kind)
        tool.quantize(model)
        optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        for i in range(3):
            (model(batch(i)) ** 2).mean().backward()
            optimizer.step()
            optimizer.clear_grad()
        model.eval()
        tool.save_quantized_model(model, str(folder / kind), input_spec=spec)
    tool = ImperativePTQ(PTQConfig(AbsmaxQuantizer(), PerChannelAbsmaxQuantizer()))
    model = tool.quantize(net())
    for i in range(3):
        model(batch(i))
    tool.save_quantized_model(model, str(folder / "calibrated"), input_spec=spec)
    return load(folder)


class Images(paddle.io.Dataset):
    def __getitem__(self, index):
        return {"x": images(index)[0]}

    def __len__(self):
        return 8


def static(folder):
    """What `PostTrainingQuantization` and `ImperativeQuantAware` write."""
    from paddle.quantization import ImperativeQuantAware
    from paddle.static.quantization import PostTrainingQuantization

    spec = [paddle.static.InputSpec([None, 1, 8, 8], "float32", "x")]
    for onnx in False, True:
        model = net()
        tool = ImperativeQuantAware(weight_quantize_type="channel_wise_abs_max", onnx_format=onnx)
        tool.quantize(model)
        for i in range(3):
            model(batch(i))
        model.eval()
        tool.save_quantized_model(model, str(folder / f"aware{onnx:d}"), input_spec=spec)
    model = net()
    model.eval()
    paddle.jit.save(model, str(folder / "float" / "model"), input_spec=spec)
    paddle.enable_static()
    for onnx in False, True:
        for algo in "abs_max", "KL":
            executor = paddle.static.Executor()
            tool = PostTrainingQuantization(
                executor, str(folder / "float"), model_filename="model.pdmodel", params_filename="model.pdiparams", batch_nums=2, algo=algo,
                data_loader=paddle.io.DataLoader(Images(), batch_size=4, shuffle=False, use_buffer_reader=False),
                quantizable_op_type=["conv2d", "matmul_v2"],
                onnx_format=onnx,
            )
            tool.quantize()
            tool.save_quantized_model(str(folder / f"post{algo}{onnx:d}"), model_filename="model.pdmodel", params_filename="model.pdiparams")
    paddle.disable_static()
    return load(folder)


def post(source, folder):
    """`PostTrainingQuantization` of the float model in SOURCE, in all ways."""
    from paddle.static.quantization import PostTrainingQuantization

    paddle.enable_static()
    for name, options in {
        "KL": {"algo": "KL"}, "hist": {"algo": "hist"}, "mse": {"algo": "mse"}, "emd": {"algo": "emd"}, "avg": {"algo": "avg"},
        "abs_max": {"algo": "abs_max"}, "min_max": {"algo": "min_max"}, "one scale": {"algo": "abs_max", "weight_quantize_type": "abs_max"},
        "one batch": {"algo": "abs_max", "batch_nums": 1}, "only products": {"algo": "abs_max", "quantizable_op_type": ["matmul_v2"]},
        "skipped": {"algo": "abs_max", "skip_tensor_list": ["flatten_0.tmp_0"]},
        "four bits": {"algo": "abs_max", "weight_bits": 4, "activation_bits": 4},
    }.items():
        options.setdefault("quantizable_op_type", ["conv2d", "matmul_v2"])
        tool = PostTrainingQuantization(
            paddle.static.Executor(), str(source), model_filename="model.pdmodel", params_filename="model.pdiparams",
            data_loader=paddle.io.DataLoader(Images(), batch_size=4, shuffle=False, use_buffer_reader=False), onnx_format=True, **options,
        )
        tool.quantize()
        tool.save_quantized_model(str(folder / name))
    paddle.disable_static()
    return load(folder)


def recurrent(folder):
    """LSTM and GRU whose weights are int8, as `quantize_weights` makes them: of wherry alone, for Paddle's tools refuse such layers."""
    for kind in "LSTM", "GRU":
        for direction in "forward", "bidirect":
            paddle.seed(0)
            layer = getattr(paddle.nn, kind)(8, 6, num_layers=2, direction=direction)
            model = paddle.quant.quantize_weights(First(layer))
            model.eval()
            spec = [paddle.static.InputSpec([None, 8, 8], "float32", "x")]
            paddle.jit.save(model, str(folder / f"{kind} {direction}"), input_spec=spec)
    return load(folder, rows=True)


class First(paddle.nn.Layer):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


def loaded_rows(folder):
    return load(folder, rows=True)


def load(folder, rows=False):
    found = {}
    for file in sorted(folder.rglob("*.pdmodel")):
        config = paddle.inference.Config(str(file), str(file.with_suffix(".pdiparams")))
        config.disable_glog_info()
        predictor = paddle.inference.create_predictor(config)
        handle = predictor.get_input_handle(predictor.get_input_names()[0])
        handle.copy_from_cpu(images(7)[:, 0] if rows else images(7))
        predictor.run()
        name = str(file.relative_to(folder).with_suffix(""))
        found[name] = listed(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu())
    return found


def run():
    found = {}
    for part in ptq, qat, places, rounding:
        part(found)
    return found


if __name__ == "__main__":
    what, *folder = sys.argv[1:]
    print("RESULT", json.dumps(globals()[what](*map(Path, folder))))
