"""`embedding(sparse=True)`: gradients of rows, and what optimizers and clips make of them."""
import copy
import pickle

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_autograd import SelectedRows, grad, no_grad
from wherry_nn import functional as F
from wherry_train import optimizer as optimizers

ROWS = [[[1, 3, 1]], [[3, 4, 4]], [[0, 1, 5]]]
WEIGHT = wt.to_tensor([[[1.0], [2.0], [3.0]]])


def table(sparse, value=1.0, **options):
    made = nn.Embedding(6, 2, sparse=sparse, **options)
    with no_grad():
        made.weight.copy_(wt.to_tensor(np.linspace(-value, value, 12, dtype="float32").reshape(6, 2)), True)
    return made


def loss_of(layer, rows):
    return (layer(wt.to_tensor(rows)) * WEIGHT).sum()


def gradient(rows=ROWS[0], **options):
    layer = table(True, **options)
    loss_of(layer, rows).backward()
    return layer.weight.grad


def test_the_gradient_is_the_rows_that_were_looked_up():
    rows = gradient()
    assert isinstance(rows, SelectedRows) and isinstance(rows, wt.Tensor)
    assert rows.is_selected_rows() and not rows.is_dense() and rows.height() == 6
    assert rows.rows() == [1, 3, 1] and rows.shape == [3, 2] and not rows.stop_gradient
    assert rows.numpy().tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    assert rows.get_selected_rows().get_tensor().tolist() == rows.numpy().tolist()
    merged = rows.merge()
    assert merged.rows() == [1, 3] and merged.tolist() == [[4.0, 4.0], [2.0, 2.0]] and merged.merge() is merged
    assert "rows=[1, 3, 1]" in repr(rows) and "height=6" in repr(rows)


def test_a_dense_gradient_says_that_it_is_one():
    layer = table(False)
    loss_of(layer, ROWS[0]).backward()
    assert not layer.weight.grad.is_selected_rows() and layer.weight.grad.is_dense()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("padding", [None, 1, -3])
def test_as_a_whole_it_is_the_dense_gradient(dtype, padding):
    index = wt.to_tensor([[1, 3, 1], [0, 3, 5]], dtype=dtype)
    found = []
    for sparse in (True, False):
        weight = wt.to_tensor(np.linspace(-1, 1, 12, dtype="float32").reshape(6, 2))
        weight.stop_gradient = False
        out = F.embedding(index, weight, padding, sparse)
        (out * out).sum().backward()
        found.append(weight.grad.to_dense() if sparse else weight.grad)
    np.testing.assert_array_equal(found[0].numpy(), found[1].numpy())


def test_gradients_of_rows_add_up_and_dense_ones_make_them_dense():
    layer = table(True)
    loss_of(layer, ROWS[0]).backward()
    loss_of(layer, ROWS[1]).backward()
    total = layer.weight.grad
    assert total.is_selected_rows() and total.rows() == [1, 3, 4]
    assert total.numpy()[:, 0].tolist() == [4.0, 3.0, 5.0]
    (layer.weight * 2).sum().backward()
    assert not layer.weight.grad.is_selected_rows()
    assert layer.weight.grad.numpy()[:, 0].tolist() == [2.0, 6.0, 2.0, 5.0, 7.0, 2.0]
    loss_of(layer, ROWS[0]).backward()
    assert layer.weight.grad.numpy()[:, 0].tolist() == [2.0, 10.0, 2.0, 7.0, 7.0, 2.0]


def test_a_table_that_is_used_twice_in_a_pass_gets_both_gradients():
    layer = table(True)
    (loss_of(layer, ROWS[0]) + loss_of(layer, ROWS[1])).backward()
    assert layer.weight.grad.merge().rows() == [1, 3, 4]
    tied = table(True)
    hidden = tied(wt.to_tensor([2]))
    wt.matmul(hidden, tied.weight, transpose_y=True).sum().backward()  # the table is the last layer too
    assert not tied.weight.grad.is_selected_rows() and tied.weight.grad.shape == [6, 2]


def test_a_weight_that_an_op_made_gets_a_dense_gradient():
    weight = wt.ones([4, 2])
    weight.stop_gradient = False
    F.embedding(wt.to_tensor([1, 1]), weight * 3, sparse=True).sum().backward()
    assert weight.grad.tolist() == [[0.0, 0.0], [6.0, 6.0], [0.0, 0.0], [0.0, 0.0]]


def test_grad_gives_the_dense_tensor_and_second_derivatives_are_as_before():
    weight = wt.to_tensor([[1.0], [2.0], [3.0]])
    weight.stop_gradient = False
    out = F.embedding(wt.to_tensor([1, 2, 1]), weight, sparse=True)
    (first,) = grad((out * out * out).sum(), weight)
    assert first.tolist() == [[0.0], [24.0], [27.0]]
    out = F.embedding(wt.to_tensor([1, 2, 1]), weight, sparse=True)
    (first,) = grad((out * out * out).sum(), weight, create_graph=True)
    (second,) = grad(first.sum(), weight)
    assert second.tolist() == [[0.0], [24.0], [18.0]]


def test_hooks_see_rows_and_an_index_that_was_changed_is_found():
    layer, seen = table(True), []
    layer.weight.register_hook(lambda g: seen.append(g.is_selected_rows()))
    loss_of(layer, ROWS[0]).backward()
    assert seen == [True]
    index = wt.to_tensor([1, 2])
    out = layer(index)
    index.add_(wt.to_tensor([1, 1]))
    with pytest.raises(RuntimeError, match="index was modified"):
        out.sum().backward()


def test_cleared_gradients_of_rows_take_new_rows():
    layer = table(True)
    loss_of(layer, ROWS[0]).backward()
    layer.weight.clear_gradient()
    assert layer.weight.grad.numpy().tolist() == [[0.0, 0.0]] * 6
    loss_of(layer, ROWS[1]).backward()
    layer.weight.clear_gradient()
    loss_of(layer, ROWS[0]).backward()
    layer.weight.clear_gradient(set_to_zero=False)
    assert layer.weight.grad is None
    loss_of(layer, ROWS[1]).backward()
    assert layer.weight.grad.rows() == [3, 4, 4]


def test_rows_are_written_into_a_gradient_buffer_as_a_whole():
    layer, buffer = table(True), wt.ones([6, 2])
    layer.weight.set_grad_buffer(buffer)
    loss_of(layer, ROWS[0]).backward()
    assert buffer.numpy()[:, 0].tolist() == [0.0, 4.0, 0.0, 2.0, 0.0, 0.0]


def test_copies_and_pickles_are_of_rows():
    rows = gradient()
    for other in (copy.deepcopy(rows), pickle.loads(pickle.dumps(rows)), rows.clone()):
        assert isinstance(other, SelectedRows) and other.rows() == rows.rows() and other.height() == 6
        assert other.numpy().tolist() == rows.numpy().tolist() and not other._shares_memory_with(rows)


def test_rows_that_do_not_fit_their_values_are_refused():
    with pytest.raises(ValueError, match="do not belong together"):
        SelectedRows(wt.to_tensor([1, 2]), wt.ones([3, 2]), 6)
    with pytest.raises(ValueError, match="int64"):
        SelectedRows(wt.to_tensor([1.0]), wt.ones([1, 2]), 6)


CLIPS = [None, lambda: nn.ClipGradByValue(0.5), lambda: nn.ClipGradByNorm(0.5), lambda: nn.ClipGradByGlobalNorm(0.5)]
# Those that leave rows without a gradient alone take it as it is; for the others it becomes dense. Either way the
# parameters are those of the dense gradient.
OPTIMIZERS = {
    "SGD": {}, "SGD with decay": {"weight_decay": 0.1}, "Momentum": {}, "Momentum with nesterov": {"use_nesterov": True},
    "Adagrad": {}, "Adam": {}, "AdamW": {}, "RMSProp": {}, "Adadelta": {}, "Adamax": {}, "Lamb": {},
}


def trained(name, sparse, clip, **options):
    layer = table(sparse)
    other = nn.Linear(2, 2)
    with no_grad():
        other.weight.copy_(wt.ones([2, 2]), True)
    optimizer = getattr(optimizers, name.split()[0])(
        0.1, parameters=[*layer.parameters(), *other.parameters()], grad_clip=None if clip is None else clip(), **options
    )
    for rows in ROWS:
        (other(layer(wt.to_tensor(rows))) * WEIGHT).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    return layer.weight.numpy(), other.weight.numpy()


@pytest.mark.parametrize("clip", CLIPS, ids=["no clip", "value", "norm", "global norm"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_do_with_rows_what_they_do_with_the_dense_gradient(name, clip):
    for mine, dense in zip(trained(name, True, clip, **OPTIMIZERS[name]), trained(name, False, clip, **OPTIMIZERS[name]), strict=True):
        np.testing.assert_allclose(mine, dense, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_lazy_adam_changes_only_rows_that_have_a_gradient(name):
    layer = table(True)
    optimizer = getattr(optimizers, name)(0.1, parameters=layer.parameters(), lazy_mode=True)
    start = layer.weight.numpy().copy()
    for rows in ROWS[:2]:
        loss_of(layer, rows).backward()
        optimizer.step()
        optimizer.clear_grad()
    moved = (layer.weight.numpy() != start).any(1).tolist()
    assert moved == [False, True, False, True, True, False]
    # Row 1 had a gradient in the first step alone: it stays where that step put it, 0.1 away (but for the decay).
    np.testing.assert_allclose((start - layer.weight.numpy())[1], 0.1, atol=2e-3)
    moments = [k for k in optimizer.state_dict() if "moment1" in k]
    assert (optimizer.state_dict()[moments[0]].numpy()[[0, 2, 5]] == 0).all()


def test_clips_called_by_hand_give_rows_back():
    layer = table(True)
    loss_of(layer, ROWS[0]).backward()
    for clip in CLIPS[1:]:
        ((_, clipped),) = clip()([(layer.weight, layer.weight.grad)])
        assert clipped.is_selected_rows() and clipped.rows() == [1, 3]
    norm = float(np.linalg.norm(clipped.numpy()))
    assert norm == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("clip", [lambda p: nn.utils.clip_grad_norm_(p, 0.5), lambda p: nn.utils.clip_grad_value_(p, 0.5)])
def test_clips_in_place_see_sums_of_rows(clip):
    found = []
    for sparse in (True, False):
        layer = table(sparse)
        loss_of(layer, ROWS[0]).backward()
        clip(layer.parameters())
        found.append(layer.weight.grad.to_dense() if sparse else layer.weight.grad)
    np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), rtol=1e-6)


def test_weights_of_16_bits_and_scaled_losses_train():
    from wherry_train import amp

    layer = table(True)
    layer.to(dtype="bfloat16")
    optimizer = optimizers.Adam(0.1, parameters=layer.parameters(), lazy_mode=True, multi_precision=True)
    scaler = amp.GradScaler(init_loss_scaling=4.0)
    scaler.scale(loss_of(layer, ROWS[0]).astype("float32")).backward()
    assert layer.weight.grad.is_selected_rows() and layer.weight.grad.dtype is wt.bfloat16
    scaler.step(optimizer)
    assert np.isfinite(layer.weight.astype("float32").numpy()).all()


def test_a_step_costs_what_its_rows_cost():
    height = 200_000
    layer = nn.Embedding(height, 4, sparse=True)
    optimizer = optimizers.SGD(0.1, parameters=layer.parameters())
    before = layer.weight.numpy()[7].copy()
    layer(wt.to_tensor([7])).sum().backward()
    grad = layer.weight.grad
    assert grad.nbytes == 16
    optimizer.step()
    np.testing.assert_allclose(layer.weight.numpy()[7], before - 0.1, rtol=1e-6)


TREE = {"path_table": wt.to_tensor([[4, 2, 0], [3, -1, -1], [4, 1, -1]]), "path_code": wt.to_tensor([[1, 0, 1], [1, 0, 0], [0, 1, 0]])}


@pytest.mark.parametrize("path", [{}, TREE], ids=["default tree", "tree of one's own"])
@pytest.mark.parametrize("classes", [5, 6])
def test_hsigmoid_loss_has_a_gradient_of_the_rows_on_its_paths(path, classes):
    found = []
    nodes = classes if path else classes - 1
    for sparse in (True, False):
        x = wt.to_tensor(np.linspace(-1, 1, 6, dtype="float32").reshape(3, 2), stop_gradient=False)
        weight = wt.to_tensor(np.linspace(-2, 2, 2 * nodes, dtype="float32").reshape(nodes, 2), stop_gradient=False)
        bias = wt.to_tensor(np.linspace(0, 1, nodes, dtype="float32"), stop_gradient=False)
        loss = F.hsigmoid_loss(x, wt.to_tensor([0, 2, 1]), classes, weight, bias, is_sparse=sparse, **path)
        (loss * wt.to_tensor([[1.0], [2.0], [3.0]])).sum().backward()
        found.append((loss, weight.grad, bias.grad, x.grad))
    assert isinstance(found[0][1], SelectedRows) and not isinstance(found[1][1], SelectedRows)
    used = np.flatnonzero(np.abs(found[1][1].numpy()).sum(1))
    assert sorted(found[0][1].merge().rows()) == used.tolist()
    np.testing.assert_allclose(found[0][1].to_dense().numpy(), found[1][1].numpy(), rtol=1e-6)
    for sparse, dense in zip(found[0][::2] + found[0][3:], found[1][::2] + found[1][3:], strict=True):
        np.testing.assert_array_equal(sparse.numpy(), dense.numpy())


def test_what_a_capture_records_has_dense_gradients():
    from wherry_tensor._core import float32, symbolic
    from wherry_tensor.testing.capture import Program

    index, data = wt.to_tensor([1, 3]), wt.to_tensor(np.arange(4, dtype="float32").reshape(2, 2))
    weight = wt.to_tensor(np.ones((5, 2), "float32"), stop_gradient=False)
    tree = wt.to_tensor(np.ones((3, 2), "float32"), stop_gradient=False)
    x = symbolic((2, 2), float32)
    with Program() as program:
        loss = (F.embedding(index, weight, sparse=True) * x).sum() + F.hsigmoid_loss(x, index, 4, tree, is_sparse=True).sum()
        gradients = grad(loss, [weight, tree])
    assert not any(isinstance(g, SelectedRows) for g in gradients)
    with no_grad():
        got = program.replay([(x, data)], gradients)
    expected = grad((F.embedding(index, weight) * data).sum() + F.hsigmoid_loss(data, index, 4, tree).sum(), [weight, tree])
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)
