"""Quantize a network that reads handwritten digits, a LeNet or a ResNet-18: after training, and while it trains.

    python examples/quantize_digits.py [--model lenet] [--epochs 8] [--seed 0] [--out digits_int8] [--quick]

Post-training quantization runs some images through the trained network, takes a scale for every layer, and is done. Training with
rounding goes on for two epochs with weights and activations rounded to 8 bits. Both are saved as models for `paddle.inference`, which
computes them in integers, and tested on digits that were not seen.
"""
import argparse
import sys

import numpy as np
from digits_data import digits

import wherry as paddle
from wherry.quantization import PTQ, QAT, QuantConfig
from wherry.quantization.observers import AbsMaxChannelWiseWeightObserver, HistObserver
from wherry.quantization.quanters import FakeQuanterChannelWiseAbsMax, FakeQuanterWithAbsMaxObserver


def main() -> int:
    parser = argparse.ArgumentParser(description="Quantize a network that reads handwritten digits.")
    parser.add_argument("--model", choices=("lenet", "resnet18"), default="lenet", help="the network (default: lenet)")
    parser.add_argument("--seed", type=int, default=0, help="of the weights and of the order of the images (default: 0)")
    parser.add_argument("--epochs", type=int, default=8, help="passes over the training set (default: 8)")
    parser.add_argument("--out", default="digits_int8", help="models go to <out>_ptq and <out>_qat (default: digits_int8)")
    parser.add_argument("--quick", action="store_true", help="fewer epochs: a look at whether it works")
    arguments = parser.parse_args()
    paddle.seed(arguments.seed)
    np.random.seed(arguments.seed)
    train, test = digits()
    net = paddle.vision.models.LeNet() if arguments.model == "lenet" else resnet18()
    fit(net, train, 3 if arguments.quick else arguments.epochs, 0.002)
    before = accuracy(net, test)
    print(f"float32                    {before:.2%}   {size_of(net):6.1f} kB")

    layers = [paddle.nn.Conv2D, paddle.nn.Linear]
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config(layers, activation=HistObserver(percent=0.9999), weight=AbsMaxChannelWiseWeightObserver())
    ptq = PTQ(config)
    net.eval()
    folded = paddle.quant.fold_batch_norms(net, paddle.to_tensor(train.images[:2]))
    observed = ptq.quantize(folded)
    for start in range(0, 256, 64):
        observed(paddle.to_tensor(train.images[start : start + 64]))
    calibrated = ptq.convert(observed)

    config = QuantConfig(activation=None, weight=None)
    config.add_type_config(layers, activation=FakeQuanterWithAbsMaxObserver(moving_rate=0.9), weight=FakeQuanterChannelWiseAbsMax())
    qat = QAT(config)
    net.train()
    rounding = qat.quantize(net)
    fit(rounding, train, 2, 0.0003)
    rounding.eval()
    trained = qat.convert(rounding)

    drops = []
    for name, model in ("ptq", calibrated), ("qat", trained):
        path = f"{arguments.out}_{name}"
        paddle.jit.save(model, path, input_spec=[paddle.static.InputSpec([None, 1, 28, 28], "float32", "image")])
        found = accuracy_of_file(path, test)
        drops.append(before - found)
        print(f"int8, {name}, in a predictor   {found:.2%}   {size_of(model):6.1f} kB")
    print(paddle.quant.report(calibrated, paddle.to_tensor(test.images[:64]), reference=folded))
    # An image more or less is 0.28 % of the test set.
    return 0 if drops[0] <= 0.005 and drops[1] <= 0.003 and before >= (0.9 if arguments.quick else 0.97) else 1


def resnet18() -> paddle.nn.Layer:
    """A ResNet-18 whose first window is that of small images of one channel."""
    net = paddle.vision.models.resnet18(num_classes=10)
    net.conv1 = paddle.nn.Conv2D(1, 64, 3, stride=2, padding=1, bias_attr=False)
    return net


def fit(net: paddle.nn.Layer, data: paddle.io.Dataset, epochs: int, rate: float) -> None:
    """Train with paddle.Model, which takes networks with rounding as it takes others."""
    model = paddle.Model(net)
    steps = epochs * (len(data) // 32 + 1)
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(rate, steps)
    optimizer = paddle.optimizer.AdamW(schedule, parameters=net.parameters(), weight_decay=0.01)
    model.prepare(optimizer, paddle.nn.CrossEntropyLoss())
    model.fit(data, epochs=epochs, batch_size=32, verbose=0)
    net.eval()


def accuracy(net: paddle.nn.Layer, data: paddle.io.Dataset) -> float:
    """The share of digits that are recognised."""
    net.eval()
    with paddle.no_grad():
        return float((net(paddle.to_tensor(data.images)).numpy().argmax(1) == data.labels[:, 0]).mean())


def accuracy_of_file(path: str, data: paddle.io.Dataset) -> float:
    """The same of a saved model, with a predictor."""
    predictor = paddle.inference.create_predictor(paddle.inference.Config(f"{path}.pdmodel", f"{path}.pdiparams"))
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    handle.copy_from_cpu(np.ascontiguousarray(data.images))
    predictor.run()
    scores = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    return float((scores.argmax(1) == data.labels[:, 0]).mean())


def size_of(net: paddle.nn.Layer) -> float:
    """kB of parameters."""
    return sum(x.size * x.element_size() for x in net.state_dict().values()) / 1000


if __name__ == "__main__":
    sys.exit(main())
