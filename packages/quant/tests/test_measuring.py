"""What runs in integers, and the one call that chooses."""
import xml.etree.ElementTree

import numpy as np
import pytest

import wherry_nn as nn
import wherry_ops_cpu.column
from wherry_quant import PTQ, QuantConfig
from wherry_quant.hurry import quantize
from wherry_quant.observers import AbsMaxChannelWiseWeightObserver, AbsmaxObserver
from wherry_quant.reporting import report
from wherry_quant.weight_only import quantize_weights
from wherry_tensor import randn, seed, to_tensor

wherry_ops_cpu.column.register()


def converted(model, x):
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config([nn.Conv2D, nn.Linear], activation=AbsmaxObserver(), weight=AbsMaxChannelWiseWeightObserver())
    observed = PTQ(config).quantize(model)
    observed(x)
    return PTQ(config).convert(observed)


def net():
    seed(0)
    model = nn.Sequential(nn.Conv2D(1, 8, 3), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(72, 4))
    model.eval()
    return model


def test_a_report_says_what_runs_in_integers():
    model, x = net(), randn([4, 1, 8, 8])
    found = report(converted(model, x), x, reference=model)
    assert [(row.op, row.runs_in) for row in found.rows] == [("conv2d", "int8"), ("linear", "int8")]
    assert all(row.snr > 25 and row.milliseconds > 0 for row in found.rows)
    assert [row.weight_bytes for row in found.rows] == [72, 288] and found.rows[1].float_bytes == 1152
    assert "2 of 2 products run in integers." in str(found)
    assert [row.runs_in for row in report(model, x).rows] == ["float", "float"] and "not a constant of int8" in str(report(model, x))
    assert [row.op for row in report(quantize_weights(model), x).rows] == ["conv2d"]


def test_a_report_needs_what_fits():
    model, x = net(), randn([4, 1, 8, 8])
    with pytest.raises(ValueError, match="another model"):
        report(converted(model, x), x, reference=nn.Sequential(nn.Flatten(), nn.Linear(64, 4)))
    with pytest.raises(TypeError, match="not a model"):
        report(3)


def labelled(model, count=6):
    batches = []
    for _ in range(count):
        x = randn([32, 1, 8, 8])
        batches.append((x, to_tensor(model(x).numpy().argmax(1))))
    return batches


@pytest.mark.parametrize("target", ["size", "speed", "accuracy"])
def test_the_choice_keeps_the_score(target, tmp_path):
    model = net()
    small = quantize(model, labelled(model), target=target, max_drop=0.1)
    choice = small.quantization
    assert choice.trials[0].score == 1.0 and choice.taken.drop <= 0.1 and choice.taken.name in choice.why
    if target == "size":
        assert choice.taken.bytes == min(trial.bytes for trial in choice.trials if trial.drop <= 0.1) < choice.trials[0].bytes / 3
    choice.picture(tmp_path / "choice.svg")
    root = xml.etree.ElementTree.parse(tmp_path / "choice.svg").getroot()
    assert len(root.findall("{*}circle")) == len(choice.trials)
    assert type(model[4]) is nn.Linear


def test_where_nothing_is_good_enough_the_float_model_is_taken():
    model = net()
    small = quantize(model, labelled(model), metric=lambda outputs, labels: -float(np.abs(outputs - np.round(outputs, 9)).mean()), max_drop=-1.0)
    assert small.quantization.taken is small.quantization.trials[0] and "no way held" in small.quantization.why


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda model: quantize(3, []), "not a layer"),
        (lambda model: quantize(model, [], target="fun"), "target is not known"),
        (lambda model: quantize(model, [randn([2, 1, 8, 8])]), "two or more"),
        (lambda model: quantize(model, ["a", "b"]), "a batch is"),
        (lambda model: quantize(model, [randn([2, 1, 8, 8])] * 2, metric=max), "compares outputs with labels"),
    ],
)
def test_wrong_arguments_are_named(call, match):
    with pytest.raises((TypeError, ValueError), match=match):
        call(net())
