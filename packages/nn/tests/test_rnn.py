"""Recurrent layers: values, names, lengths, states, cells of one's own."""
import copy

import numpy as np
import pytest

import wherry_autograd
import wherry_nn as nn
import wherry_tensor as wt

CELLS = {"SimpleRNN": nn.SimpleRNNCell, "LSTM": nn.LSTMCell, "GRU": nn.GRUCell}
LAYERS = {"SimpleRNN": nn.SimpleRNN, "LSTM": nn.LSTM, "GRU": nn.GRU}
KINDS = tuple(CELLS)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(kind, x, h, c, w_ih, w_hh, b_ih, b_hh):
    """One step of one sequence, as the definitions say."""
    a, b = w_ih @ x + b_ih, w_hh @ h + b_hh
    if kind == "SimpleRNN":
        return np.tanh(a + b), c
    if kind == "LSTM":
        i, f, g, o = np.split(a + b, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    (x_r, x_z, x_n), (h_r, h_z, h_n) = np.split(a, 3), np.split(b, 3)
    r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
    n = np.tanh(x_n + r * h_n)
    return (1 - z) * n + z * h, c


def run(kind, x, h, c, weights, length, backward):
    """One direction of one layer: x [B, T, I] to outputs [B, T, H] and last states."""
    out, h, c = np.zeros((*x.shape[:2], h.shape[1])), h.copy(), c.copy()
    for b in range(x.shape[0]):
        times = range(x.shape[1] if length is None else length[b])
        for t in reversed(times) if backward else times:
            out[b, t], c[b] = step(kind, x[b, t], h[b], c[b], *weights)
            h[b] = out[b, t]
    return out, h, c


def arrays(layer):
    return [p.numpy().astype(np.float64) for p in layer.parameters()]


def states_of(kind, h, c):
    h, c = wt.to_tensor(h), wt.to_tensor(c)
    return (h, c) if kind == "LSTM" else h


def listed(states):
    return list(states) if isinstance(states, (list, tuple)) else [states]


@pytest.fixture(autouse=True)
def seed():
    wt.seed(5)


@pytest.fixture
def float64():
    wt.set_default_dtype("float64")
    yield
    wt.set_default_dtype("float32")


# Cells.


@pytest.mark.parametrize("kind", KINDS)
def test_cell_makes_one_step(kind):
    cell, rng = CELLS[kind](4, 3), np.random.default_rng(0)
    x, h, c = (rng.standard_normal((2, n)).astype(np.float32) for n in (4, 3, 3))
    outputs, new = cell(wt.to_tensor(x), states_of(kind, h, c))
    expected, h, c = run(kind, x[:, None], h, c, arrays(cell), None, False)
    np.testing.assert_allclose(outputs.numpy(), expected[:, 0], rtol=1e-5, atol=1e-6)
    for got, want in zip(listed(new), (h, c)):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_cell_begins_with_zeros(kind):
    cell, x = CELLS[kind](4, 3), wt.randn([2, 4])
    zeros = np.zeros((2, 3), np.float32)
    np.testing.assert_array_equal(cell(x)[0].numpy(), cell(x, states_of(kind, zeros, zeros))[0].numpy())


def test_relu_cell():
    cell = nn.SimpleRNNCell(4, 3, activation="relu")
    x = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    w_ih, _, b_ih, b_hh = arrays(cell)
    np.testing.assert_allclose(cell(wt.to_tensor(x))[0].numpy(), np.maximum(x @ w_ih.T + b_ih + b_hh, 0), atol=1e-6)


@pytest.mark.parametrize("kind, gates", [("SimpleRNN", 1), ("LSTM", 4), ("GRU", 3)])
def test_cell_parameters_are_uniform_within_the_inverse_root_of_the_width(kind, gates):
    cell = CELLS[kind](50, 25)
    assert [p.shape for p in cell.parameters()] == [[gates * 25, 50], [gates * 25, 25], [gates * 25], [gates * 25]]
    for p in cell.parameters():
        assert np.abs(p.numpy()).max() <= 0.2 and np.abs(p.numpy()).max() > 0.15


def test_attribute_false_leaves_a_constant_that_does_not_train():
    cell = nn.GRUCell(2, 3, weight_hh_attr=False, bias_ih_attr=False)
    assert (cell.weight_hh.numpy() == 1).all() and (cell.bias_ih.numpy() == 0).all()
    assert [p.stop_gradient for p in cell.parameters()] == [False, True, True, False]


@pytest.mark.parametrize("batch_ref, arguments, shapes", [
    (wt.ones([7, 4]), {}, ([7, 3], [7, 3])),
    (wt.ones([7, 4]), {"shape": (2, 5)}, [7, 2, 5]),
    (wt.ones([7, 4]), {"shape": [-1, 5]}, [7, 5]),
    (wt.ones([7, 4]), {"shape": 6}, [7, 6]),
    ({"a": [wt.ones([7, 4])]}, {"shape": {"a": (2,), "b": [(3,), (4,)]}}, {"a": [7, 2], "b": [[7, 3], [7, 4]]}),
    (wt.ones([2, 7, 4]), {"batch_dim_idx": 1, "init_value": 1.5, "dtype": "float64"}, ([7, 3], [7, 3])),
])
def test_initial_states_have_the_structure_of_the_shapes(batch_ref, arguments, shapes):
    states = nn.LSTMCell(4, 3).get_initial_states(batch_ref, **arguments)

    def shapes_of(tree):
        if isinstance(tree, dict):
            return {key: shapes_of(one) for key, one in tree.items()}
        return type(tree)(map(shapes_of, tree)) if isinstance(tree, (list, tuple)) else tree.shape

    assert shapes_of(states) == shapes
    first = listed(states)[0] if not isinstance(states, dict) else states["a"]
    assert first.dtype.name == arguments.get("dtype", "float32")
    assert (first.numpy() == arguments.get("init_value", 0)).all()


def test_cell_without_state_shape_says_so():
    with pytest.raises(NotImplementedError, match="does not define state_shape"):
        nn.RNNCellBase().get_initial_states(wt.ones([2, 3]))


# Layers.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers, direction", [(1, "forward"), (1, "bidirect"), (2, "forward"), (3, "bidirectional")])
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("length", [None, [6, 2, 4], [0, 6, 1]])
def test_layers_and_directions(kind, layers, direction, time_major, length):
    layer = LAYERS[kind](4, 3, layers, direction, time_major=time_major)
    directions, rng = 1 if direction == "forward" else 2, np.random.default_rng(1)
    x = rng.standard_normal((3, 6, 4)).astype(np.float32)
    h, c = (rng.standard_normal((layers * directions, 3, 3)).astype(np.float32) for _ in range(2))
    outputs, last = layer(
        wt.to_tensor(np.swapaxes(x, 0, 1) if time_major else x), states_of(kind, h, c),
        None if length is None else wt.to_tensor(np.array(length)),
    )
    weights = arrays(layer)
    expected_h, expected_c, n = [], [], 0
    for _ in range(layers):
        both = []
        for backward in range(directions):
            out, last_h, last_c = run(kind, x, h[n], c[n], weights[4 * n : 4 * n + 4], length, bool(backward))
            both.append(out)
            expected_h.append(last_h), expected_c.append(last_c)
            n += 1
        x = np.concatenate(both, axis=2)
    got = outputs.numpy()
    np.testing.assert_allclose(np.swapaxes(got, 0, 1) if time_major else got, x, rtol=1e-4, atol=1e-5)
    for tensor, want in zip(listed(last), (expected_h, expected_c)):
        np.testing.assert_allclose(tensor.numpy(), np.stack(want), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_a_whole_network(kind, float64):
    layer, rng = LAYERS[kind](2, 3, 2, "bidirect"), np.random.default_rng(2)
    x, length = rng.standard_normal((2, 4, 2)), wt.to_tensor(np.array([4, 2]))
    h, c = rng.standard_normal((2, 4, 2, 3))

    def loss():
        outputs, last = layer(wt.to_tensor(x), states_of(kind, h, c), length)
        return (outputs * outputs).sum() + sum((s * s).sum() for s in listed(last))

    loss().backward()
    for p in layer.parameters():
        values, slope = p.numpy().copy(), rng.standard_normal(p.shape)
        at = []
        for sign in 1, -1:
            p.set_value(values + sign * 1e-6 * slope)
            at.append(float(loss()))
        p.set_value(values)
        np.testing.assert_allclose((p.grad.numpy() * slope).sum(), (at[0] - at[1]) / 2e-6, rtol=1e-5, atol=1e-6)


def test_second_derivatives_exist(float64):
    layer, x = nn.LSTM(2, 3), wt.randn([2, 4, 2])
    x.stop_gradient = False
    (first,) = wherry_autograd.grad([layer(x)[0].sum()], [x], create_graph=True)
    (second,) = wherry_autograd.grad([(first * first).sum()], [x])
    move = np.random.default_rng(0).standard_normal(x.shape)

    def penalty(values):
        y = wt.to_tensor(values)
        y.stop_gradient = False
        (g,) = wherry_autograd.grad([layer(y)[0].sum()], [y])
        return float((g * g).sum())

    slope = (penalty(x.numpy() + 1e-5 * move) - penalty(x.numpy() - 1e-5 * move)) / 2e-5
    np.testing.assert_allclose((second.numpy() * move).sum(), slope, rtol=1e-5)


@pytest.mark.parametrize("direction, suffixes", [
    ("forward", ["_l0", "_l1"]), ("bidirect", ["_l0", "_l0_reverse", "_l1", "_l1_reverse"]),
])
def test_parameters_go_by_two_names(direction, suffixes):
    layer = nn.GRU(4, 3, 2, direction)
    short = [f"{kind}{s}" for s in suffixes for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    cells = ["cell"] if direction == "forward" else ["cell_fw", "cell_bw"]
    long = [f"{n}.{cell}.{kind}" for n in range(2) for cell in cells for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    assert list(layer.state_dict()) == short + long
    assert [name for name, _ in layer.named_parameters()] == short
    first = layer[0].cell if direction == "forward" else layer[0].cell_fw
    assert layer.weight_ih_l0 is first.weight_ih
    base = first.full_name()
    assert [p.name for p in layer.parameters()][:4] == [f"{base}.{n}" for n in ("w_0", "w_1", "b_0", "b_1")]


def test_without_a_bias_the_other_one_keeps_its_name():
    layer = nn.LSTM(4, 3, bias_ih_attr=False)
    assert layer.bias_hh_l0 is layer[0].cell.bias_hh
    assert list(layer.state_dict())[:3] == ["weight_ih_l0", "weight_hh_l0", "bias_hh_l0"]
    assert "0.cell.bias_ih" in layer.state_dict()


@pytest.mark.filterwarnings("ignore:Skip loading")
@pytest.mark.parametrize("part", [lambda key: "_l" in key, lambda key: "cell" in key])
def test_either_set_of_names_loads(part):
    source, target, x = nn.LSTM(4, 3, 2), nn.LSTM(4, 3, 2), wt.randn([2, 5, 4])
    target.set_state_dict({key: value for key, value in source.state_dict().items() if part(key)})
    np.testing.assert_array_equal(target(x)[0].numpy(), source(x)[0].numpy())


def test_copy_has_parameters_of_its_own():
    layer, x = nn.SimpleRNN(4, 3), wt.randn([2, 5, 4])
    other, before = copy.deepcopy(layer), layer(x)[0].numpy()
    other.weight_ih_l0.set_value(np.zeros((3, 4), np.float32))
    assert (other[0].cell.weight_ih.numpy() == 0).all()
    np.testing.assert_array_equal(layer(x)[0].numpy(), before)


def test_tensor_in_place_of_a_parameter_is_used():
    # So do weight_norm and pruning.
    layer, x = nn.SimpleRNN(4, 3), wt.randn([2, 5, 4])
    weight = layer.weight_hh_l0
    del layer.weight_hh_l0
    layer.weight_hh_l0 = weight * 0.0
    assert not np.allclose(layer(x)[0].numpy(), nn.RNN(layer[0].cell)(x)[0].numpy())


def test_repr_shows_the_cells():
    assert repr(nn.LSTM(4, 3, 2, "bidirect", time_major=True, dropout=0.5)).split("\n")[:4] == [
        "LSTM(4, 3, num_layers=2, time_major=True, dropout=0.5", "  (0): BiRNN(", "    (cell_fw): LSTMCell(4, 3)",
        "    (cell_bw): LSTMCell(4, 3)",
    ]
    assert repr(nn.SimpleRNNCell(4, 3, "relu")) == "SimpleRNNCell(4, 3, activation=relu)"


def test_dropout_falls_between_layers_only_while_training():
    x = wt.ones([2, 5, 4])
    one, two = nn.GRU(4, 3, 1, dropout=0.9), nn.GRU(4, 3, 2, dropout=0.9)
    assert np.array_equal(one(x)[0].numpy(), one(x)[0].numpy())
    assert not np.array_equal(two(x)[0].numpy(), two(x)[0].numpy())
    two.eval()
    assert np.array_equal(two(x)[0].numpy(), two(x)[0].numpy())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(0, 5, 4), (2, 0, 4)])
def test_nothing_to_do(kind, shape):
    layer, x = LAYERS[kind](4, 3, 2, "bidirect"), wt.ones(shape)
    x.stop_gradient = False
    outputs, last = layer(x)
    assert outputs.shape == [*shape[:2], 6] and listed(last)[0].shape == [4, shape[0], 3]
    (outputs.sum() + listed(last)[0].sum()).backward()
    assert x.grad.shape == list(shape) and all((p.grad.numpy() == 0).all() for p in layer.parameters())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kind", KINDS)
def test_16_bits_round_what_float32_computes(kind, dtype):
    """Outputs, last states and gradients of a layer of 16 bits and of one in float32 with the same (rounded) weights."""
    narrow = LAYERS[kind](16, 24, 2, "bidirect").astype(dtype)
    wide = copy.deepcopy(narrow).astype("float32")
    x, lengths = wt.randn([5, 12, 16]).astype(dtype), wt.to_tensor([12, 3, 1, 7, 12])
    found = []
    for layer, values in (narrow, x), (wide, x.astype("float32")):
        values.stop_gradient = False
        outputs, last = layer(values, sequence_length=lengths)
        (outputs.astype("float32").square().sum() + sum(s.astype("float32").sum() for s in listed(last))).backward()
        results = [outputs, *listed(last), values.grad, *(p.grad for p in layer.parameters())]
        assert all(r.dtype == values.dtype for r in results)
        found.append([r.astype("float32").numpy() for r in results])
    rounding = {"float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
    for a, b in zip(*found, strict=True):
        # Each layer and each step backwards rounds what it hands on; sums of these errors stay below a dozen roundings.
        assert np.abs(a - b).max() <= 12 * rounding * max(np.abs(b).max(), 0.1)


@pytest.mark.parametrize(
    ("kind", "weight_hh", "bias"),
    [("SimpleRNN", 1.0, [2.0**-11]), ("LSTM", 0.0, [-7.0, 20.0, 3.0, 3.0]), ("GRU", 0.0, [0.0, 7.0, 3.0])],
)
def test_16_bits_add_up_in_float32(kind, weight_hh, bias):
    """A state that grows by less than half a rounding of bfloat16 with each step."""
    layer = LAYERS[kind](1, 1)
    weight_ih, hidden, bias_ih, bias_hh = layer.parameters()
    for p, value in (weight_ih, 0.0), (hidden, weight_hh), (bias_hh, 0.0):
        p.set_value(wt.full(p.shape, value))
    bias_ih.set_value(wt.to_tensor(bias))
    narrow = copy.deepcopy(layer).astype("bfloat16")
    wide = copy.deepcopy(narrow).astype("float32")
    x = wt.ones([1, 300, 1])
    exact, rounded = wide(x)[0].numpy(), narrow(x.astype("bfloat16"))[0].astype("float32").numpy()
    np.testing.assert_allclose(rounded, exact, rtol=2.0**-8)  # one rounding, however many steps


@pytest.mark.parametrize("kind", KINDS)
def test_first_states_have_the_dtype_of_the_inputs(kind):
    cell, x = CELLS[kind](4, 3).astype("float64"), wt.randn([2, 5, 4], "float64")
    assert nn.RNN(cell)(x)[0].dtype == cell(x[:, 0])[0].dtype == x.dtype


# Cells over sequences.


class Sum(nn.RNNCellBase):
    """Adds up, and puts out what it had before."""

    @property
    def state_shape(self):
        return (4,)

    def forward(self, inputs, states, factor=1.0):
        return states, states + inputs * factor


class StepwiseLSTM(nn.LSTMCell):
    """Another class, so it runs step by step."""


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("time_major", [False, True])
def test_whole_cell_and_stepwise_cell_agree(is_reverse, time_major):
    cell, x = nn.LSTMCell(4, 3), wt.randn([2, 5, 4])
    other = StepwiseLSTM(4, 3)
    other.set_state_dict(cell.state_dict())
    outputs, last = nn.RNN(cell, is_reverse, time_major)(x)
    outputs2, last2 = nn.RNN(other, is_reverse, time_major)(x)
    np.testing.assert_allclose(outputs.numpy(), outputs2.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(last[1].numpy(), last2[1].numpy(), rtol=1e-5, atol=1e-6)


def test_cell_of_ones_own():
    outputs, last = nn.RNN(Sum())(wt.ones([1, 3, 4]), factor=2.0)
    np.testing.assert_array_equal(outputs.numpy()[0, :, 0], [0, 2, 4])
    np.testing.assert_array_equal(last.numpy()[0], [6, 6, 6, 6])


@pytest.mark.parametrize("is_reverse", [False, True])
def test_states_stay_behind_the_end_of_a_sequence(is_reverse):
    x = wt.to_tensor(np.arange(1, 5, dtype=np.float32)[None, :, None] * np.ones((2, 1, 4), np.float32))
    _, last = nn.RNN(Sum(), is_reverse)(x, sequence_length=wt.to_tensor([4, 2]))
    np.testing.assert_array_equal(last.numpy()[:, 0], [10, 3])


def test_inputs_and_outputs_may_be_nested():
    class Pairs(nn.Layer):
        def forward(self, inputs, states):
            return {"sum": inputs["a"] + inputs["b"][0]}, [states[0] + 1]

    x, y = wt.ones([2, 3, 4]), wt.ones([2, 3, 4]) * 2
    outputs, last = nn.RNN(Pairs())({"a": x, "b": [y]}, [wt.zeros([2])], wt.to_tensor([3, 1]))
    assert outputs["sum"].shape == [2, 3, 4] and (outputs["sum"].numpy() == 3).all()
    np.testing.assert_array_equal(last[0].numpy(), [3, 1])


def test_birnn_puts_both_directions_side_by_side():
    layer, x = nn.BiRNN(nn.GRUCell(4, 3), nn.GRUCell(4, 2)), wt.randn([2, 5, 4])
    outputs, (forward, backward) = layer(x)
    assert outputs.shape == [2, 5, 5]
    np.testing.assert_array_equal(outputs.numpy()[:, -1, :3], forward.numpy())
    np.testing.assert_array_equal(outputs.numpy()[:, 0, 3:], backward.numpy())


def test_birnn_asks_each_cell_for_its_states():
    _, (forward, backward) = nn.BiRNN(nn.LSTMCell(4, 3), nn.GRUCell(4, 2))(wt.ones([2, 5, 4]))
    assert len(forward) == 2 and backward.shape == [2, 2]


# Errors.


@pytest.mark.parametrize("make, error, match", [
    (lambda: nn.LSTM(4, 3, direction="backward"), ValueError, "direction should be forward or bidirect"),
    (lambda: nn.LSTM(4, 0), ValueError, "hidden_size of LSTMCell must be greater than 0, but now equals to 0"),
    (lambda: nn.LSTM("4", 3), TypeError, "'input_size' must be one integer"),
    (lambda: nn.GRU(4, 3, num_layers=0), ValueError, "num_layers=0"),
    (lambda: nn.GRU(4, 3, dropout=1.5), ValueError, r"dropout=1.5, expected a probability in \[0, 1\]"),
    (lambda: nn.SimpleRNNCell(4, 3, "gelu"), ValueError, "activation for SimpleRNNCell should be tanh or relu"),
    (lambda: nn.SimpleRNN(4, 3, activation="gelu"), ValueError, "Unknown activation 'gelu'"),
    (lambda: nn.RNN(3), TypeError, "argument 'cell' must be a cell. Got int"),
    (lambda: nn.BiRNN(nn.GRUCell(4, 3), nn.GRUCell(5, 3)), ValueError, r"input size of forward cell\(4\)"),
    (lambda: nn.LSTM(4, 3)(np.ones((2, 5, 4))), TypeError, "argument 'inputs' must be a Tensor"),
    (lambda: nn.LSTM(4, 3)(wt.ones([2, 5, 7])), ValueError, r"Got shape \[2, 5, 7\], expected \[batch, time, 4\]"),
    (lambda: nn.LSTM(4, 3)(wt.ones([5, 4])), ValueError, r"Got shape \[5, 4\]"),
    (lambda: nn.LSTM(4, 3)(wt.ones([2, 5, 4]), wt.ones([1, 2, 3])), TypeError, r"a pair \(h, c\) of tensors"),
    (lambda: nn.GRU(4, 3, 2)(wt.ones([2, 5, 4]), wt.ones([1, 2, 3])), ValueError, r"expected \[2, batch, 3\]"),
    (lambda: nn.GRU(4, 3)(wt.ones([2, 5, 4]), wt.ones([1, 3, 3])), ValueError, "`h` does not fit"),
    (lambda: nn.GRU(4, 3)(wt.ones([2, 5, 4], "float64")), TypeError, "different dtypes"),
    (lambda: nn.GRU(4, 3)(wt.ones([2, 5, 4]), None, wt.to_tensor([6, 1])), ValueError, r"length 6 \(of sequence 0\)"),
    (lambda: nn.GRU(4, 3)(wt.ones([2, 5, 4]), None, wt.to_tensor([-1, 1])), ValueError, "length -1"),
    (lambda: nn.GRU(4, 3)(wt.ones([2, 5, 4]), None, wt.ones([2])), ValueError, "expected an int32 or int64 tensor"),
    (lambda: nn.GRU(4, 3)(wt.ones([2, 5, 4]), None, [5, 5]), TypeError, "'sequence_length' must be a Tensor"),
    (lambda: nn.LSTMCell(4, 3)(wt.ones([2, 4]), wt.ones([2, 3])), TypeError, "these are not its states"),
    (lambda: nn.LSTMCell(4, 3)(wt.ones([2, 5])), ValueError, r"expected \[batch, 4\]"),
    (lambda: nn.RNN(Sum())(wt.ones([2, 0, 4])), ValueError, "the sequence has no steps"),
    (lambda: nn.RNN(nn.Identity())(wt.ones([2, 3, 4])), TypeError, "does not define initial states"),
    (lambda: nn.BiRNN(Sum(), Sum())(wt.ones([2, 3, 4]), [wt.ones([2, 4])]), AssertionError, "length of initial_states should be 2"),
    (lambda: nn.LSTMCell(4, 3).get_initial_states(3), TypeError, "batch_ref does not hold a tensor"),
    (lambda: nn.LSTMCell(4, 3).get_initial_states(wt.ones([2]), shape="x"), TypeError, "shape is not a shape"),
])
def test_errors(make, error, match):
    with pytest.raises(error, match=match):
        make()
