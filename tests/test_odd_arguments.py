"""Calls that random arguments found: each is refused in a sentence, whatever the argument is."""
from __future__ import annotations

import numpy as np
import pytest

import wherry as paddle

DEEP: list = []
for _ in range(5000):
    DEEP = [DEEP]

# name: (call, what is raised, what it says)
REFUSED = {
    "SimpleRNN": (lambda: paddle.nn.SimpleRNN(2, 3, activation=DEEP), ValueError, "Unknown activation"),
    "ReshapeTransform": (lambda: paddle.distribution.ReshapeTransform([2], DEEP), TypeError, "must be one integer"),
    "RecordEvent": (lambda: paddle.profiler.RecordEvent("a", DEEP), ValueError, "no such kind of event"),
    "spawn": (lambda: paddle.distributed.spawn(print, DEEP), ValueError, "cannot be handed to a process"),
    "all_reduce": (lambda: paddle.distributed.all_reduce(paddle.ones([1]), DEEP), ValueError, "op is not known"),
    "size": (lambda: paddle.ones([2]).size(DEEP), TypeError, "not a whole number"),
    "flags": (lambda: paddle.set_flags(DEEP), TypeError, "must be a dict"),
    "ProgramTranslator": (lambda: paddle.jit.ProgramTranslator().enable(DEEP), TypeError, "expected True or False"),
    "seed": (lambda: paddle.seed(float("inf")), TypeError, "the seed is not a number"),
    "stride": (lambda: paddle.ones([]).stride(0), IndexError, "has no axes"),
    "rms_norm": (lambda: paddle.nn.functional.rms_norm(paddle.ones([2, 3]), [3], {}), TypeError, "weight"),
    "batch_norm": (
        lambda: paddle.nn.functional.batch_norm(paddle.ones([5]), paddle.ones([5]), paddle.ones([5]), training=True), ValueError, "rank|axes|shape",
    ),
    "send_u_recv": (
        lambda: paddle.geometric.send_u_recv(paddle.ones([]), paddle.to_tensor([0]), paddle.to_tensor([0])), ValueError, "x has no rows",
    ),
    "fused_rotary_position_embedding": (
        lambda: paddle.incubate.nn.functional.fused_rotary_position_embedding(paddle.ones([2, 3, 8, 0])), ValueError, "does not fit",
    ),
    "QAT.convert": (
        lambda: paddle.quantization.QAT(paddle.quantization.QuantConfig(None, None)).convert(paddle.ones([1])), TypeError, "QAT.convert",
    ),
    "Binomial": (lambda: paddle.distribution.Binomial(paddle.to_tensor(float("inf")), paddle.to_tensor(0.5)).entropy(), ValueError, "not finite"),
    "OrtValue": (lambda: paddle.ort.OrtValue({1}), TypeError, "it holds arrays"),
    "OrtValue of a class": (lambda: paddle.ort.OrtValue(paddle.Tensor), TypeError, "it holds arrays"),
    "combinations": (lambda: paddle.combinations(paddle.ones([2]), 1 << 62, with_replacement=True), MemoryError, "elements would need"),
    "combinations of many": (lambda: paddle.combinations(paddle.arange(1000), 500), MemoryError, "500 of 1000 elements"),
    "create_parameter": (lambda: paddle.nn.Bilinear(2, 2, DEEP), ValueError, "create_parameter"),
    "BatchNorm": (lambda: paddle.nn.BatchNorm2D(4, name=DEEP), TypeError, "the name is not a str"),
    "cpu_places": (lambda: paddle.static.cpu_places(DEEP), ValueError, "places are counted"),
    "awq": (lambda: paddle.quant.awq(paddle.nn.Linear(2, 8), [DEEP], 8, 0), TypeError, "no Tensor"),
    "flashmask_attention": (
        lambda: paddle.nn.functional.flashmask_attention(*[paddle.ones([1, 2, 1, 4])] * 3, window_size="a"), TypeError, "window_size",
    ),
    "Event": (lambda: paddle.device.Event(blocking=float("inf")), TypeError, "must be a bool"),
    "L2Decay": (lambda: paddle.regularizer.L2Decay(0.1)(paddle.ones([2], "int32"), paddle.ones([2], "int32")), TypeError, "a gradient is floating"),
    "backward_of_shards": (
        lambda: paddle.distributed.backward_of_shards(paddle.nn.Linear(1, 1), paddle.nn.MSELoss(), [paddle.ones([])], [paddle.ones([])]),
        ValueError, "number of axes",
    ),
    "training_state": (lambda: paddle.distributed.training_state(paddle.nn.Linear(2, 2), 3.0), TypeError, "optimizer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name):
    call, error, said = REFUSED[name]
    with pytest.raises(error, match=said):
        call()


def test_a_layer_is_written_whatever_its_arguments_are():
    assert repr(paddle.nn.MaxPool1D(DEEP)) == "MaxPool1D(...)"


def test_gradients_are_applied_to_a_tensor_that_no_layer_has():
    weight = paddle.ones([2])
    optimizer = paddle.optimizer.SGD(0.5, parameters=paddle.nn.Linear(2, 2).parameters())
    optimizer.apply_gradients([(weight, paddle.ones([2]))])
    np.testing.assert_array_equal(weight.numpy(), [0.5, 0.5])
