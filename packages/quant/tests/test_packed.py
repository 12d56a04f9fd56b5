"""Weights as GPTQ, AWQ and compressed-tensors lay them out; data/make_packed.py wrote them with the packages of these."""
from pathlib import Path

import numpy as np
import pytest

import wherry_ops_cpu.column
from wherry_quant.files.packed import quantized_weights
from wherry_quant.files.weights import QuantizedWeight
from wherry_quant.weight_only import WeightOnlyLinear
from wherry_tensor import randn
from wherry_train.pickle_reader import FileFormatError

wherry_ops_cpu.column.register()

DATA = dict(np.load(Path(__file__).parent / "data" / "packed.npz"))
STATE = {name: value for name, value in DATA.items() if not name.startswith("expected.")}


def test_weights_are_those_that_were_packed():
    found, others = quantized_weights({**STATE, "norm.weight": np.ones(3, np.float32)})
    assert set(found) == {"ct4", "ct8", "awq", "gptq"} and list(others) == ["norm.weight"]
    for name, weight in found.items():
        assert weight.group == 8 and weight.bits == (8 if name == "ct8" else 4)
        np.testing.assert_allclose(weight.numpy(), DATA[f"expected.{name}"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["ct4", "ct8", "awq", "gptq"])
def test_layers_multiply_by_them(name):
    weight = quantized_weights(STATE)[0][name]
    x = randn([3, weight.shape[0]])
    np.testing.assert_allclose(WeightOnlyLinear(weight)(x).numpy(), x.numpy() @ weight.numpy(), rtol=1e-4, atol=1e-4)


def test_rows_in_another_order_keep_their_groups():
    state = {key: value for key, value in STATE.items() if key.startswith("gptq")}
    order = np.random.default_rng(0).permutation(32).astype(np.int32) // 8
    weight = quantized_weights({**state, "gptq.g_idx": order})[0]["gptq"]
    plain = quantized_weights(state)[0]["gptq"]
    assert np.array_equal(weight.numpy(), (plain.codes.astype(np.float32) - plain.zeros[order]) * plain.scales.astype(np.float32)[order])
    with pytest.raises(NotImplementedError, match="not neighbours"):
        WeightOnlyLinear(weight)


def test_weights_of_a_byte_for_each_number():
    q, scale = np.array([[1, -2], [3, 4], [5, 6]], np.int8), np.array([[0.5], [1.0], [2.0]], np.float32)
    found, _ = quantized_weights({"a.weight": q, "a.weight_scale": scale, "b.weight": q, "b.weight_scale": np.float32([0.5])})
    assert np.array_equal(found["a"].numpy(), (q * scale).T) and np.array_equal(found["b"].numpy(), q.T * 0.5)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"gptq.qzeros": None}, "has no qzeros"),
        ({"gptq.qzeros": np.zeros((4, 2), np.int32)}, "do not fit scales|bits"),
        ({"gptq.scales": np.full((4, 24), np.inf, np.float16)}, "not finite"),
        ({"gptq.scales": np.full((4, 24), -0.5, np.float16)}, "negative"),
        ({"gptq.qweight": np.zeros((4, 24), np.float32)}, "float32"),
        ({"gptq.g_idx": np.full(32, 9, np.int32)}, "g_idx"),
        ({"awq.qweight": np.zeros((33, 3), np.int32)}, "33 rows"),
        ({"ct4.weight_shape": np.array([24, 400])}, "neither 4 nor 8 bits"),
        ({"ct4.weight_shape": np.array([2**40, 40])}, "do not fit weight_shape"),
        ({"ct4.weight_scale": np.ones((24, 7), np.float16)}, "not 7 groups"),
    ],
)
def test_contradictions_are_refused(change, why):
    state = {key: value for key, value in {**STATE, **change}.items() if value is not None}
    with pytest.raises(FileFormatError, match=why):
        quantized_weights(state)


def mutated(rng):
    """The tensors with one or two of other shapes, dtypes or values."""
    state = dict(STATE)
    for _ in range(rng.integers(1, 3)):
        name = list(state)[rng.integers(len(state))]
        value = state[name]
        match rng.integers(5):
            case 0:
                del state[name]
            case 1:
                state[name] = value[: rng.integers(0, len(value) + 1)]
            case 2:
                state[name] = value.reshape(-1)
            case 3:
                state[name] = value.astype([np.int8, np.int32, np.float32, np.int64][rng.integers(4)])
            case _:
                state[name] = rng.integers(-(2**31), 2**31, rng.integers(0, 9, value.ndim)).astype(np.int32)
    return state


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_changed_tensors_are_read_or_refused(count):
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(count):
        try:
            for weight in quantized_weights(mutated(rng))[0].values():
                weight.numpy()
        except FileFormatError:
            refused += 1
    assert count // 4 < refused < count


def test_a_weight_checks_its_parts():
    with pytest.raises(ValueError, match="one for each group"):
        QuantizedWeight(np.zeros((8, 2), np.int8), np.ones((3, 2), np.float32), None, 8, 8)
