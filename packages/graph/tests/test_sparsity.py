"""Weights of which n of every m are zero: how they are chosen, and that training keeps them."""
from itertools import product

import numpy as np
import pytest

import wherry_nn as nn
from wherry_graph import jit, static
from wherry_graph.static import sparsity as asp
from wherry_nn import unique_name
from wherry_tensor import to_tensor
from wherry_train import amp, load, optimizer, save


@pytest.fixture(autouse=True)
def fresh():
    with unique_name.guard():
        yield
    asp.reset_excluded_layers()


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def density(x):
    return asp.calculate_density(x)


# Masks.

ALGORITHMS = [asp.get_mask_1d, asp.get_mask_2d_greedy, asp.get_mask_2d_best]


@pytest.mark.parametrize(("n", "m"), [(2, 4), (1, 2), (1, 4), (3, 4), (4, 8), (2, 3), (0, 4), (4, 4)])
@pytest.mark.parametrize("get_mask", ALGORITHMS)
def test_masks_have_n_zeros_of_m(get_mask, n, m):
    mat = values(13, 10)
    mask = get_mask(mat, n, m)
    assert mask.shape == mat.shape and mask.dtype == mat.dtype and set(np.unique(mask)) <= {0, 1}
    check = asp.check_mask_1d if get_mask is asp.get_mask_1d else asp.check_mask_2d
    assert check(mask, n, m)
    if n < m and get_mask is asp.get_mask_1d:
        assert mask[:, : 10 // m * m].sum() == 13 * (10 // m) * (m - n)


def test_along_rows_the_smallest_magnitudes_go():
    assert asp.get_mask_1d(np.array([[-4, 1, 3, -2, 0, 5]]), 2, 4).tolist() == [[1, 0, 1, 0, 0, 1]]
    assert asp.get_mask_1d(np.ones((1, 4)), 2, 4).tolist() == [[0, 0, 1, 1]]


def test_the_best_mask_of_a_block_is_the_best_of_all_patterns():
    rows = [np.array(row) for row in product([0, 1], repeat=4) if sum(row) == 2]
    patterns = [np.array(p) for p in product(rows, repeat=4) if (np.sum(p, axis=0) == 2).all()]
    assert len(patterns) == 90
    for seed in range(50):
        block = values(4, 4, seed=seed)
        mask = asp.get_mask_2d_best(block, 2, 4)
        assert (mask.sum(0) == 2).all() and (mask.sum(1) == 2).all()
        assert (np.abs(block) * mask).sum() == pytest.approx(max((np.abs(block) * p).sum() for p in patterns))


def test_large_negative_weights_stay():
    block = np.ones((4, 4))
    block[0, 0] = block[1, 1] = -9.0
    for get_mask in ALGORITHMS:
        mask = get_mask(block, 2, 4)
        assert mask[0, 0] == mask[1, 1] == 1


def test_the_greedy_mask_takes_the_largest_first():
    mat = np.array([[9, 8, 3, 7], [9, 2, 1, 10], [5, 1, 3, 6], [2, 4, 6, 1]])
    assert asp.get_mask_2d_greedy(mat, 2, 4).tolist() == [[1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 0]]


@pytest.mark.parametrize("get_mask", ALGORITHMS)
def test_nothing_and_what_is_not_finite_has_masks_too(get_mask):
    assert get_mask(np.zeros((0, 5)), 2, 4).shape == (0, 5)
    for value in (np.inf, np.nan):
        assert get_mask(np.full((4, 4), value), 2, 4).sum() == 8


@pytest.mark.parametrize("shape", [(8,), (3, 8), (2, 3, 8), (4, 2, 8, 3)])
def test_weights_of_one_to_four_axes_have_masks(shape):
    x = values(*shape)
    mask = asp.create_mask(x)
    assert mask.shape == shape and asp.check_sparsity(mask) and not asp.check_sparsity(x)
    axis = -2 if len(shape) == 4 else -1
    groups = np.moveaxis(mask, axis, -1)
    assert groups.shape[-1] == 8 and (groups.reshape(-1, 4).sum(1) == 2).all()
    both = asp.create_mask(x, asp.MaskAlgo.MASK_2D_BEST)
    assert asp.check_sparsity(both, asp.CheckMethod.get_checking_method(asp.MaskAlgo.MASK_2D_BEST))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: asp.create_mask(np.ones(4), "mask_1d"), AssertionError, "Got 'mask_1d'"),
        (lambda: asp.check_sparsity(np.ones(4), asp.MaskAlgo.MASK_1D), TypeError, "CheckMethod"),
        (lambda: asp.create_mask(np.ones([1] * 5)), ValueError, "Got 5 axes, expected 1 to 4"),
        (lambda: asp.get_mask_1d(np.ones(4), 2, 4), ValueError, "Got 1 axes, expected 2"),
        (lambda: asp.get_mask_1d(np.ones((4, 4)), 5, 4), ValueError, "Got n=5, m=4"),
        (lambda: asp.get_mask_1d(np.ones((4, 4)), 0, 0), ValueError, "Got n=0, m=0"),
        (lambda: asp.get_mask_1d("text", 2, 4), TypeError, "holds numbers"),
        (lambda: asp.calculate_density(np.ones((0, 2))), ValueError, "nothing has no density"),
        (lambda: asp.decorate(3), TypeError, "not an optimizer"),
        (lambda: asp.prune_model(3), TypeError, "should be paddle.nn.Layer or paddle.static.Program"),
        (lambda: asp.prune_model(nn.Linear(4, 4), mask_algo="best"), AssertionError, "'mask_2d_greedy'"),
        (lambda: asp.prune_model(nn.Linear(4, 4), n=5), ValueError, "Got n=5, m=4"),
        (lambda: asp.prune_model(nn.Linear(4, 4)), AssertionError, "call asp.decorate"),
        (lambda: asp.set_excluded_layers("linear_0"), TypeError, "must be a collection of names"),
        (lambda: asp.set_excluded_layers(["linear_0"], 3), TypeError, "main_program"),
        (lambda: asp.reset_excluded_layers(3), TypeError, "main_program"),
        (lambda: asp.add_supported_layer(3), TypeError, "string or Layer"),
        (lambda: asp.add_supported_layer("x", 3), TypeError, "cannot be called"),
    ],
)
def test_wrong_arguments_are_named(call, error, said):
    with pytest.raises(error, match=said):
        call()


# Pruning.


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.first, self.last = nn.Conv2D(4, 8, 3, padding=1), nn.Linear(8, 8), nn.Linear(8, 3)
        self.small, self.line = nn.Linear(3, 8), nn.Conv1D(8, 8, 1)

    def forward(self, x):
        hidden = self.conv(x).mean([2, 3])
        return self.last(nn.functional.relu(self.first(hidden)))


def densities(net):
    return {name: density(p) for name, p in net.named_parameters() if name.endswith("weight")}


@pytest.mark.parametrize("algorithm", ["mask_1d", "mask_2d_greedy", "mask_2d_best"])
def test_weights_are_pruned_along_their_inputs(algorithm):
    net = Net()
    masks = asp.prune_model(net, mask_algo=algorithm, with_mask=False)
    found = densities(net)
    assert found["small.weight"] == found["line.weight"] == 1.0  # fewer than four inputs, and no kind that is pruned
    for name in ("conv.weight", "first.weight", "last.weight"):
        assert 0.3 <= found[name] <= 0.5 and (found[name] == 0.5 or algorithm != "mask_1d")
    assert list(masks) == ["conv2d_0.w_0", "linear_0.w_0", "linear_1.w_0", "linear_2.w_0"]
    assert (masks["linear_0.w_0"] == (net.first.weight.numpy() != 0)).all()
    assert asp.check_sparsity(net.first.weight.numpy().T)
    conv = net.conv.weight.numpy() != 0
    assert (conv.reshape(8, 4, 9).sum(axis=1) <= 2).all()


def test_training_keeps_what_was_pruned_at_zero():
    net, x = Net(), to_tensor(values(4, 4, 5, 5))
    decorated = asp.decorate(optimizer.AdamW(0.1, parameters=net.parameters()))
    assert asp.decorate(decorated) is decorated and decorated.get_lr() == 0.1
    asp.prune_model(net)
    before = net.first.weight.numpy()
    for minimizes in (False, True):
        loss = net(x).mean()
        loss.backward()
        decorated.minimize(loss) if minimizes else decorated.step()
        decorated.clear_grad()
    assert densities(net)["first.weight"] == 0.5 and (before != net.first.weight.numpy()).any()
    assert ((before == 0) == (net.first.weight.numpy() == 0)).all()
    assert density(net.line.weight) == 1.0


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_mixed_precision_keeps_them_too(level):
    net, x = Net(), to_tensor(values(4, 4, 5, 5))
    inner = optimizer.AdamW(0.01, parameters=net.parameters())
    if level == "O2":
        net, inner = amp.decorate(net, inner, level="O2")
    decorated, scaler = asp.decorate(inner), amp.GradScaler(init_loss_scaling=8.0)
    asp.prune_model(net)
    for _ in range(2):
        with amp.auto_cast(level=level):
            loss = net(x).mean()
        scaler.scale(loss).backward()
        scaler.step(decorated)
        scaler.update()
        decorated.clear_grad()
    assert densities(net)["first.weight"] == 0.5
    for name, master in inner._master_weights.items():
        if name.startswith("linear_0.w"):
            assert density(master) == 0.5


def test_a_converted_layer_is_trained_with_its_masks():
    net, x = Net(), to_tensor(values(4, 4, 5, 5))
    decorated = asp.decorate(optimizer.SGD(0.1, parameters=net.parameters()))
    asp.prune_model(net)
    converted = jit.to_static(net)
    for _ in range(2):
        converted(x).mean().backward()
        decorated.step()
        decorated.clear_grad()
    assert densities(net)["conv.weight"] == densities(net)["first.weight"] == 0.5


def test_masks_are_saved_with_the_optimizer(tmp_path):
    def made():
        net = Net()
        return net, asp.decorate(optimizer.Adam(0.1, parameters=net.parameters()))

    net, decorated = made()
    asp.prune_model(net)
    net(to_tensor(values(4, 4, 5, 5))).mean().backward()
    decorated.step()
    save(net.state_dict(), str(tmp_path / "net.pdparams"))
    save(decorated.state_dict(), str(tmp_path / "net.pdopt"))
    again, other = made()  # its layers have other numbers
    again.set_state_dict(load(str(tmp_path / "net.pdparams")))
    other.set_state_dict(load(str(tmp_path / "net.pdopt")))
    again(to_tensor(values(4, 4, 5, 5, seed=1))).mean().backward()
    other.step()
    assert densities(again)["first.weight"] == 0.5
    assert ((again.first.weight.numpy() == 0) == (net.first.weight.numpy() == 0)).all()
    with pytest.raises(ValueError, match=r"asp_mask is not found"):
        other.set_state_dict(optimizer.Adam(parameters=net.parameters()).state_dict())


@pytest.mark.parametrize("by", [lambda net: net.first.full_name(), lambda net: net.first.weight.name])
def test_excluded_layers_stay_whole(by):
    net = Net()
    asp.set_excluded_layers([by(net)])
    decorated = asp.decorate(optimizer.SGD(0.1, parameters=net.parameters()))
    asp.prune_model(net)
    assert densities(net)["first.weight"] == 1.0 and densities(net)["last.weight"] == 0.5
    assert not any("linear_0" in key for key in decorated.state_dict())
    asp.reset_excluded_layers()
    asp.set_excluded_layers(["linear"])
    asp.prune_model(net, n=3, with_mask=False)
    assert densities(net)["last.weight"] == 0.5 and densities(net)["conv.weight"] == 0.25


@pytest.mark.parametrize("how", ["layer", "class", "name"])
def test_other_layers_are_pruned_by_functions_of_the_user(how, monkeypatch):
    monkeypatch.setattr(asp.pruning, "_supported", dict(asp.pruning._supported))
    net, seen = Net(), []

    def first_only(weight, m, n, algorithm, name):
        seen.append((weight.shape, m, n, algorithm, name))
        mask = np.zeros_like(weight)
        mask[0] = 1
        return weight * mask, mask

    asp.add_supported_layer({"layer": net.line, "class": nn.Conv1D, "name": "conv1d"}[how], first_only)
    asp.prune_model(net, mask_algo="mask_2d_best", with_mask=False)
    assert densities(net)["line.weight"] == 1 / 8
    assert seen == [((8, 8, 1), 4, 2, asp.MaskAlgo.MASK_2D_BEST, "conv1d_0.w_0")]
    asp.add_supported_layer("conv1d", lambda weight, *more: weight)
    with pytest.raises(ValueError, match=r"'conv1d_0\.w_0' returns the pruned weight and its mask"):
        asp.prune_model(net, with_mask=False)


# Static mode.


@pytest.fixture
def programs():
    static.enable_static()
    main, startup = static.Program(), static.Program()
    with static.scope_guard(static.Scope()), static.program_guard(main, startup):
        yield main, startup
    static.disable_static()


@pytest.mark.parametrize("mixed", [False, True])
def test_a_program_keeps_what_was_pruned_at_zero(programs, mixed, tmp_path):
    main, startup = programs
    x = static.data("x", [None, 8])
    layer = nn.Linear(8, 8)
    loss = static.nn.fc(layer(x), 16).mean()
    asp.set_excluded_layers([layer.full_name()], main)
    inner = optimizer.Adam(0.1)
    decorated = asp.decorate(static.amp.decorate(inner) if mixed else inner)
    nodes, pairs = decorated.minimize(loss, startup)
    assert nodes and len(pairs) == 4
    exe = static.Executor()
    with pytest.raises(RuntimeError, match=r"'fc_0\.w_0' has no value"):
        asp.prune_model(main)
    exe.run(startup)
    masks = asp.prune_model(main, mask_algo="mask_2d_greedy")
    assert list(masks) == ["fc_0.w_0"]
    before = static.global_scope().value("fc_0.w_0").numpy()
    for seed in range(2):
        exe.run(main, feed={"x": values(4, 8, seed=seed)})
    after = static.global_scope().value("fc_0.w_0").numpy()
    assert ((before == 0) == (after == 0)).all() and (before != after).any()
    assert 0.4 < density(after) <= 0.5 and density(static.global_scope().value("linear_0.w_0")) == 1.0
    assert not any("mask" in x.name for node in main.clone(for_test=True).walk() for x in node.reads())
    static.save(main, str(tmp_path / "net"))
    assert "fc_0.w_0.asp_mask" in static.load_program_state(str(tmp_path / "net"))


def test_a_layer_is_pruned_in_static_mode(programs):
    _, startup = programs
    layer = nn.Linear(8, 8)
    loss = layer(static.data("x", [None, 8])).mean()
    asp.decorate(optimizer.SGD(0.1)).minimize(loss)
    static.Executor().run(startup)
    assert list(asp.prune_model(layer)) == ["linear_0.w_0"]
    assert density(static.global_scope().value("linear_0.w_0")) == density(static.global_scope().value("linear_0.w_0.asp_mask")) == 0.5
