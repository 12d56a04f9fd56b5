"""Messages along edges, segments and neighbourhoods."""
import numpy as np
import pytest

import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_sparse import geometric, incubate

wherry_ops_cpu.column.register()


def tensor(values, dtype="float64", **options):
    return wt.to_tensor(np.array(values, dtype), **options)


def ids(*values, dtype="int64"):
    return wt.to_tensor(np.array(values, dtype))


X = tensor([[0, 2, 3], [1, 4, 5], [2, 6, 7]])
SOURCE, TARGET = ids(0, 1, 2, 0), ids(1, 2, 1, 0)
ROW, COLPTR = ids(3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7), ids(0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13)


def test_rows_that_meet_are_reduced_in_each_way():
    assert geometric.send_u_recv(X, SOURCE, TARGET).tolist() == [[0, 2, 3], [2, 8, 10], [1, 4, 5]]
    assert geometric.send_u_recv(X, SOURCE, TARGET, "mean").tolist() == [[0, 2, 3], [1, 4, 5], [1, 4, 5]]
    assert geometric.send_u_recv(X, SOURCE, ids(1, 1, 1, 0), "max", out_size=2).tolist() == [[0, 2, 3], [2, 6, 7]]
    assert incubate.graph_send_recv(X, SOURCE, ids(1, 1, 1, 0), "min", out_size=wt.to_tensor(4)).tolist()[2:] == [[0, 0, 0]] * 2
    assert geometric.segment_mean(tensor([[1], [3]], "int64"), ids(1, 1)).tolist() == [[0], [2]]


def test_many_edges_give_the_same_bits_with_any_number_of_threads():
    rng = np.random.default_rng(0)
    x, source, target = tensor(rng.standard_normal((2000, 33)), "float32"), ids(*rng.integers(0, 2000, 60_000)), ids(*rng.integers(0, 500, 60_000))
    expected = np.zeros((500, 33))
    np.add.at(expected, target.numpy(), x.numpy().astype("float64")[source.numpy()])
    found = []
    for threads in (1, 2):
        wt._core.set_num_threads(threads)
        found.append(geometric.send_u_recv(x, source, target, out_size=500).numpy())
    assert np.array_equal(*found)
    np.testing.assert_allclose(found[0], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("how", ["sum", "mean", "max", "min"])
def test_gradients_run_back_along_the_edges(how):
    rng = np.random.default_rng(1)
    x = tensor(rng.permutation(12).reshape(4, 3) / 3, stop_gradient=False)
    y = tensor(rng.standard_normal((5, 3)), stop_gradient=False)
    source, target = ids(0, 1, 2, 3, 2), ids(1, 1, 3, 0, 1)  # no edge twice: ties each get the whole gradient

    def value(a, b):
        return (geometric.send_ue_recv(a, b, source, target, "mul", how) * 1.5).sum() + (geometric.send_u_recv(a, source, target, how) ** 2).sum()

    value(x, y).backward()
    for leaf, at in ((x, (0, 1)), (x, (3, 2)), (y, (2, 0)), (y, (4, 1))):
        ends = []
        for step in (1e-6, -1e-6):
            moved = leaf.numpy().copy()
            moved[at] += step
            ends.append(value(*(tensor(moved) if one is leaf else one.detach() for one in (x, y))).item())
        assert leaf.grad.numpy()[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-7)


def test_samples_are_neighbours_and_none_comes_twice():
    wt.seed(4)
    taken, count, numbers = geometric.sample_neighbors(ROW, COLPTR, ids(0, 8, 1, 2), 1, wt.arange(13), True)
    assert count.tolist() == [1, 1, 1, 1]
    assert taken.tolist() == [ROW.tolist()[e] for e in numbers.tolist()]
    seen = {tuple(geometric.sample_neighbors(ROW, COLPTR, ids(0), 1)[0].tolist()) for _ in range(40)}
    assert seen == {(3,), (7,)}
    everything, count = incubate.graph_sample_neighbors(ROW, COLPTR, ids(0, 7, 2))
    assert (everything.tolist(), count.tolist()) == ([3, 7, 1], [2, 0, 1])


def test_weighted_samples_follow_the_weights():
    wt.seed(5)
    weight = tensor([1, 3] + [1] * 11, "float32")
    first = [geometric.weighted_sample_neighbors(ROW, COLPTR, weight, ids(0), 1)[0].item() for _ in range(400)]
    assert 0.65 < first.count(7) / 400 < 0.85


def test_neighbours_of_neighbours_are_numbered_anew():
    source, target, nodes, begin = incubate.graph_khop_sampler(ROW, COLPTR, ids(0, 8), [-1, -1])
    assert begin.tolist() == [0, 1]
    old = nodes.tolist()
    edges = {(old[s], old[t]) for (s,), (t,) in zip(source.tolist(), target.tolist())}
    assert {(3, 0), (7, 0), (9, 8), (7, 8)} <= edges
    row, ptr = ROW.tolist(), COLPTR.tolist()
    assert all(s in row[ptr[t]:ptr[t + 1]] for s, t in edges)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: geometric.segment_sum(X, ids(0, 2, 1)), ValueError, "not sorted. Got 1 after 2"),
        (lambda: geometric.segment_sum(X, ids(-1, 0, 1)), IndexError, "a segment id is negative. Got -1"),
        (lambda: geometric.segment_sum(X, ids(0, 0)), ValueError, "`target` needs one number for each row of x"),
        (lambda: geometric.segment_sum(X, tensor([0, 0, 1])), TypeError, "Got dtype float64, expected int32 or int64"),
        (lambda: geometric.send_u_recv(X, SOURCE, TARGET, "prod"), ValueError, "Got reduce_op='prod'"),
        (lambda: incubate.graph_send_recv(X, SOURCE, TARGET, "prod"), ValueError, "Got pool_type='prod'"),
        (lambda: geometric.send_u_recv(X, ids(0, 5), ids(0, 0)), IndexError, r"source 5 .* expected each in \[0, 3\)"),
        (lambda: geometric.send_u_recv(X, SOURCE, TARGET, out_size=1), IndexError, r"target 1 .* expected each in \[0, 1\)"),
        (lambda: geometric.send_u_recv(X, ids(0), TARGET), ValueError, "the numbers of sources and targets differ"),
        (lambda: geometric.send_uv(X, X, SOURCE, TARGET, "pow"), ValueError, "Got message_op='pow'"),
        (lambda: geometric.send_uv(X, X, ids(-1), ids(0)), IndexError, "an index is negative"),
        (lambda: geometric.reindex_graph(ids(0, 1), ids(1, 2), ids(1, 2)), ValueError, "whose sum is 3"),
        (lambda: geometric.reindex_graph(ids(0, 1).reshape([1, 1, 2]), ids(1, 2), ids(1, 1)), ValueError, "'x' has the wrong number of axes"),
        (lambda: geometric.sample_neighbors(ROW, COLPTR, ids(10)), IndexError, r"expected nodes in \[0, 10\)"),
        (lambda: geometric.sample_neighbors(ROW, COLPTR, ids(1), return_eids=True), ValueError, "Pass eids"),
        (lambda: incubate.graph_reindex(ids(0), ids(1), ids(1), flag_buffer_hashtable=True), ValueError, "Pass value_buffer"),
    ],
)
def test_error_says_what_is_wrong(call, error, text):
    with pytest.raises(error, match=text):
        call()
