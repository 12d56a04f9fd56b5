"""What the samples cannot say about recurrent layers: states wider than a pass of their product, many sequences, gradients in 16 bits, threads."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops

GATES = {"lstm": 4, "gru": 3, "simple_rnn": 1}
STATES = {"lstm": 2, "gru": 1, "simple_rnn": 1}
# [time, batch, width of x, width of the state]: odd ones, tiles of 8, 4, 2 and 1 rows, more rows than a thread takes together
SIZES = ((3, 15, 7, 301), (2, 11, 33, 272), (3, 70, 5, 18), (2, 1, 300, 64))
UNIT = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


@pytest.fixture
def threads():
    before = wherry_tensor.get_num_threads()
    yield wherry_tensor.set_num_threads
    wherry_tensor.set_num_threads(before)


def _cast(tensors, dtype):
    return [ops.cast(t, dtype=getattr(wherry_tensor, dtype)) for t in tensors]


def _arrays(tensors):
    return [t.numpy() for t in _cast(tensors, "float32")]


def _inputs(name, size, dtype):
    """Values that `dtype` holds, as float32: of the layer, and of its last results' cotangents."""
    time, batch, width, hidden = size
    rng = np.random.default_rng(0)
    rows = GATES[name] * hidden
    shapes = [(time, batch, width), *[(batch, hidden)] * STATES[name], (rows, width), (rows, hidden), (rows,), (rows,)]
    scales = [1, *[1] * STATES[name], width**-0.5, hidden**-0.5, 0.5, 0.5]
    made = [wherry_tensor.to_tensor((rng.standard_normal(s) * k).astype("float32")) for s, k in zip(shapes, scales, strict=True)]
    cts = [wherry_tensor.to_tensor(rng.standard_normal(s).astype("float32")) for s in ((time, batch, hidden), *[(batch, hidden)] * STATES[name])]
    length = wherry_tensor.to_tensor(rng.integers(0, time + 1, batch))
    return _cast(_cast(made, dtype), "float32"), _cast(_cast(cts, dtype), "float32"), length


def _settings(name):
    return {"reverse": True, **({"relu": False} if name == "simple_rnn" else {})}


def _kept(name, results):
    """What the way back is given of the results."""
    return results[3:] if name == "lstm" else [results[0], *results[2:]]


def _forward(name, inputs, length):
    return list(getattr(ops, name)(*inputs, length, **_settings(name)))


def _backward(name, cts, inputs, length, kept):
    return list(getattr(ops, f"{name}_vjp")(*cts, *inputs, length, *kept, **_settings(name)))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", GATES)
def test_float32_is_as_float64(name, size):
    inputs, cts, length = _inputs(name, size, "float32")
    results = _forward(name, inputs, length)
    exact = _forward(name, _cast(inputs, "float64"), length)
    for got, wanted in zip(results, exact, strict=True):
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-5)
    back = _backward(name, cts, inputs, length, _kept(name, results))
    exact = _backward(name, _cast(cts, "float64"), _cast(inputs, "float64"), length, _kept(name, exact))
    for got, wanted in zip(back, exact, strict=True):
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=5e-5, atol=5e-5)


@pytest.mark.parametrize("dtype", UNIT)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", GATES)
def test_16_bits_are_float32_rounded(name, size, dtype):
    inputs, cts, length = _inputs(name, size, dtype)
    results = _forward(name, _cast(inputs, dtype), length)
    for got, wanted in zip(_arrays(results), _arrays(_forward(name, inputs, length)), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2 * UNIT[dtype], atol=2 * UNIT[dtype])
    kept = _kept(name, results)
    back = _backward(name, _cast(cts, dtype), _cast(inputs, dtype), length, kept)
    exact = _backward(name, cts, inputs, length, _cast(kept, "float32"))
    for got, wanted in zip(_arrays(back), _arrays(exact), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2 * UNIT[dtype], atol=2 * UNIT[dtype] * (1 + np.abs(wanted).max()))


@pytest.mark.parametrize("dtype", ("float32", *UNIT))
@pytest.mark.parametrize("name", GATES)
def test_bits_do_not_depend_on_threads(threads, name, dtype):
    for size in SIZES:
        inputs, cts, length = _inputs(name, size, dtype)
        inputs, cts = _cast(inputs, dtype), _cast(cts, dtype)
        seen = []
        for count in 1, 2, 3:
            threads(count)
            results = _forward(name, inputs, length)
            back = _backward(name, cts, inputs, length, _kept(name, results))
            seen.append(_arrays(results + back))
        for others in seen[1:]:
            for one, other in zip(seen[0], others, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("reverse", (False, True))
@pytest.mark.parametrize("zeros", (False, True))
@pytest.mark.parametrize("size", ((5, 70, 40, 33, 301), (2, 300, 132, 64, 128)))
def test_gradients_of_weights_are_the_products_of_all_steps(threads, size, zeros, reverse):
    """To the bit, for any number of threads; sums for biases within what their order may change."""
    time, batch, rows, width, hidden = size
    rng = np.random.default_rng(0)
    shapes = (time, batch, rows), (time, batch, width), (time, batch, hidden)
    arrays = [rng.standard_normal(shape).astype("float32") for shape in shapes]
    h = np.zeros((batch, hidden), "float32") if zeros else rng.standard_normal((batch, hidden)).astype("float32")
    sums, x, out = map(wherry_tensor.to_tensor, arrays)
    before = np.concatenate([arrays[2][1:], h[None]] if reverse else [h[None], arrays[2][:-1]])
    wanted = [ops.outer_sum(sums, y).numpy() for y in (x, wherry_tensor.to_tensor(before))]
    seen = []
    for count in 1, 2, 3:
        threads(count)
        results = ops.recurrent_weights_vjp(sums, x, out, wherry_tensor.to_tensor(h), reverse=reverse)
        seen.append([result.numpy() for result in results])
    np.testing.assert_allclose(seen[0][2], arrays[0].sum((0, 1), dtype="float64"), rtol=1e-4, atol=1e-4)
    for got in seen:
        np.testing.assert_array_equal(got[2], seen[0][2])
        if zeros:  # rows of nothing less to add: blocks of the sum begin where they did
            np.testing.assert_allclose(got[1], wanted[1], rtol=1e-5, atol=1e-4)
        for one, other in zip(got[: 1 if zeros else 2], wanted, strict=False):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ("lstm", "gru"))
def test_first_states_of_zeros_are_as_others(threads, name):
    """What is left out where all of them are 0 changes no bit: beside a batch that one more sequence with another state belongs to."""
    inputs, _cts, _length = _inputs(name, (3, 15, 7, 301), "float32")
    arrays = [t.numpy() for t in inputs]
    for i in range(1, 1 + STATES[name]):
        arrays[i][:14] = 0
    for count in 1, 2:
        threads(count)
        whole = _forward(name, [wherry_tensor.to_tensor(a) for a in arrays], None)
        few = [a[:, :14] if i == 0 else a[:14] if i <= STATES[name] else a for i, a in enumerate(arrays)]
        alone = _forward(name, [wherry_tensor.to_tensor(a) for a in few], None)
        np.testing.assert_array_equal(alone[0].numpy(), whole[0].numpy()[:, :14])
