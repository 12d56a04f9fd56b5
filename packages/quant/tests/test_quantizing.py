"""QAT and PTQ: what stands where, what it computes, and what converts."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_ops_cpu.column
from wherry_quant import PTQ, QAT, BaseQuanter, QuantConfig, quanter
from wherry_quant.imperative import ImperativeQuantAware
from wherry_quant.nn import Stub
from wherry_quant.observers import (
    AbsMaxChannelWiseWeightObserver,
    AbsmaxObserver,
    GroupWiseWeightObserver,
    HistObserver,
)
from wherry_quant.quanters import FakeQuanterChannelWiseAbsMax, FakeQuanterWithAbsMaxObserver, LsqQuanter
from wherry_tensor import ones, randn, seed, to_tensor
from wherry_train.amp import auto_cast
from wherry_train.optimizer import SGD

wherry_ops_cpu.column.register()

SYMMETRIC = QuantConfig(activation=AbsmaxObserver(), weight=AbsMaxChannelWiseWeightObserver())


def net(train=False):
    seed(0)
    model = nn.Sequential(nn.Conv2D(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
    if not train:
        model.eval()
    return model


def kinds(model):
    return [type(layer).__name__ for layer in model.sublayers()]


def calibrated(config, model, x):
    observed = PTQ(config).quantize(model)
    observed(x)
    return PTQ(config).convert(observed)


def test_a_converted_model_is_near_and_has_whole_weights():
    model, x = net(), randn([8, 1, 6, 6])
    small = calibrated(SYMMETRIC, model, x)
    assert small[0].weight.dtype.name == small[3].weight.dtype.name == "int8"
    assert np.abs(small(x).numpy() - model(x).numpy()).max() < 0.05 * np.abs(model(x).numpy()).max()
    assert model[0].weight.dtype.name == "float32"


def test_weights_that_remain_are_rounded_in_each_call():
    model, x = net(), randn([8, 1, 6, 6])
    observed = PTQ(SYMMETRIC).quantize(model)
    observed(x)
    kept = PTQ(SYMMETRIC).convert(observed, remain_weight=True)
    assert kept[0].weight.dtype.name == "float32"
    assert np.allclose(kept(x).numpy(), PTQ(SYMMETRIC).convert(observed)(x).numpy(), atol=1e-6)


def test_observers_stand_where_the_configuration_says():
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config(nn.Linear, activation=AbsmaxObserver(), weight=AbsmaxObserver())
    assert kinds(PTQ(config).quantize(net())) == ["Conv2D", "ReLU", "Flatten", "QuantedLinear", "AbsmaxObserverLayer", "AbsmaxObserverLayer"]
    model = net()
    config = QuantConfig(activation=AbsmaxObserver(), weight=None)
    config.add_layer_config(model[0])
    found = PTQ(config).quantize(model)
    assert kinds(found)[:3] == ["QuantedConv2D", "ObserveWrapper", "AbsmaxObserverLayer"] and found[0].activation_quanter is None


def test_stubs_and_wrapped_layers_hand_on():
    class Sum(nn.Layer):
        def __init__(self):
            super().__init__()
            self.stub, self.cell = Stub(), nn.LayerNorm(4)

        def forward(self, x):
            assert self.cell._epsilon == 1e-5  # attributes reach the layer inside
            return self.stub(self.cell(x)) * 2

    model, x = Sum(), randn([3, 4])
    model.eval()
    observed = PTQ(SYMMETRIC).quantize(model)
    assert np.array_equal(observed(x).numpy(), model(x).numpy())
    converted = PTQ(SYMMETRIC).convert(observed)
    assert np.allclose(converted(x).numpy(), model(x).numpy(), atol=0.1)


def test_group_wise_weights():
    config = QuantConfig(activation=None, weight=GroupWiseWeightObserver(group_size=16))
    model, x = nn.Sequential(nn.Linear(40, 3)), randn([2, 40])
    model.eval()
    small = calibrated(config, model, x)
    assert small.state_dict()["0.weight_quanter._dequanter._scales"].shape == [3, 3]
    assert np.allclose(small(x).numpy(), model(x).numpy(), atol=0.05)


@pytest.mark.parametrize("weight", [FakeQuanterChannelWiseAbsMax(), LsqQuanter(per_channel=True), FakeQuanterWithAbsMaxObserver(moving_rate=0.5)])
def test_training_with_rounding_learns(weight):
    activation = LsqQuanter() if "Lsq" in str(weight) else FakeQuanterWithAbsMaxObserver()
    qat = QAT(QuantConfig(activation=activation, weight=weight))
    model = qat.quantize(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
    optimizer = SGD(0.05, parameters=model.parameters())
    x = randn([64, 4])
    y = x[:, :1] * 2 - x[:, 1:2]
    losses = []
    for _ in range(60):
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    model.eval()
    assert np.allclose(qat.convert(model)(x).numpy(), model(x).numpy(), atol=0.05)


def test_rounding_in_16_bits_is_that_of_32():
    x = randn([4, 64]).astype("bfloat16")
    x.stop_gradient = False
    quanter = FakeQuanterWithAbsMaxObserver()._instance(None)
    with auto_cast(dtype="bfloat16"):
        out = quanter(x)
    assert out.dtype.name == "bfloat16"
    quanter.eval()
    assert np.array_equal(out.astype("float32").numpy(), quanter(x.astype("float32")).astype("bfloat16").astype("float32").numpy())
    out.sum().backward()
    assert np.array_equal(x.grad.astype("float32").numpy(), np.ones([4, 64]))


def test_the_state_comes_back(tmp_path):
    x = randn([8, 1, 6, 6])
    one, other = calibrated(SYMMETRIC, net(), x), calibrated(SYMMETRIC, net(), x * 3)
    assert not np.array_equal(one(x).numpy(), other(x).numpy())
    missing, unexpected = other.set_state_dict(one.state_dict())
    assert not missing and not unexpected
    assert np.array_equal(one(x).numpy(), other(x).numpy())


def test_modes_are_checked():
    with pytest.raises(AssertionError, match="evaluation mode"):
        PTQ(SYMMETRIC).quantize(net(train=True))
    with pytest.raises(AssertionError, match="training mode"):
        QAT(SYMMETRIC).quantize(net())


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: QuantConfig(3, None), "activation is not a factory"),
        (lambda: PTQ(3), "not a configuration"),
        (lambda: PTQ(SYMMETRIC).quantize(3), "not a layer"),
        (lambda: SYMMETRIC.add_layer_config(3), "not a layer"),
        (lambda: SYMMETRIC.add_name_config(3), "not a name"),
        (lambda: SYMMETRIC.add_type_config(3), "not a class"),
        (lambda: AbsmaxObserver(bits=3), "arguments do not fit"),
        (lambda: HistObserver(percent=2.0)._instance(None), "share lies between"),
        (lambda: quanter(3), "name of a factory"),
        (lambda: quanter("X")(int), "subclass of BaseQuanter"),
    ],
)
def test_wrong_arguments_are_named(call, match):
    with pytest.raises((TypeError, ValueError), match=match):
        call()


def test_observers_refuse_programs():
    from wherry_graph.jit import to_static
    from wherry_graph.static import InputSpec

    observed = to_static(PTQ(SYMMETRIC).quantize(net()), input_spec=[InputSpec([None, 1, 6, 6])])
    with pytest.raises(RuntimeError, match="looks at numbers"):
        observed.forward.concrete_program  # noqa: B018


def test_factories_are_made_by_a_decorator():
    @quanter("Halving")
    class HalvingLayer(BaseQuanter):
        def __init__(self, layer, by=2.0):
            super().__init__()
            self.by = by

        def forward(self, input):
            return input / self.by

        def scales(self):
            return to_tensor(1.0)

        def zero_points(self):
            return None

        def quant_axis(self):
            return -1

        def bit_length(self):
            return 8

    config = QuantConfig(activation=Halving(by=4.0), weight=None)  # noqa: F821  the decorator defined it
    model = nn.Sequential(nn.Linear(2, 2, bias_attr=False))
    x = ones([1, 2])
    assert np.allclose(QAT(config).quantize(model)(x).numpy(), model(x).numpy() / 4)


def test_imperative_quant_aware_takes_a_list_of_layers():
    with pytest.raises(TypeError, match="'quantizable_layer_type' must be a list. Got 3"):
        ImperativeQuantAware(3)


def test_the_steps_that_paddleslim_takes_by_itself_are_those_of_quantize():
    factory = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
    config = QuantConfig(activation=factory, weight=factory)
    qat = QAT(config)
    one, other = qat.quantize(net(train=True)), net(train=True)
    config._specify(other)
    qat._convert_to_quant_layers(other, config)
    assert "ObserveWrapper" not in kinds(other)
    qat._insert_activation_observers(other, config)
    assert kinds(other) == kinds(one) and "ObserveWrapper" in kinds(one)
