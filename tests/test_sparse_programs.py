"""Sparse tensors in programs: captured, saved, given to functions and returned."""
import warnings

import numpy as np
import pytest

import wherry
from wherry import sparse
from wherry.sparse.nn import functional as SF

RNG = np.random.default_rng(0)


def drawn(*shape, density=0.4):
    return np.where(RNG.random(shape) < density, RNG.normal(size=shape), 0).astype("float32")


MATRIX, POINTS = drawn(6, 5), drawn(1, 3, 4, 4, 2, density=0.3)
COO, CLOUD = wherry.to_tensor(MATRIX).to_sparse_coo(2), wherry.to_tensor(POINTS).to_sparse_coo(4)
CSR = wherry.to_tensor(MATRIX).to_sparse_csr()
SUBMANIFOLD, CONVOLUTION = sparse.nn.SubmConv3D(2, 3, 3, padding=1), sparse.nn.Conv3D(2, 3, 2)
RIGHT = wherry.to_tensor(RNG.normal(size=(5, 2)).astype("float32"))
OF_MATRICES = {
    "relu": SF.relu,
    "softmax": SF.softmax,
    "softmax of rows": lambda s: SF.softmax(s.to_sparse_csr()),
    "add": lambda s: sparse.add(s, s),
    "multiply": lambda s: sparse.multiply(s, COO),
    "divide": lambda s: sparse.divide(s, 2.0),
    "sum": lambda s: sparse.sum(s, 0),
    "transpose": lambda s: sparse.transpose(s, [1, 0]),
    "reshape": lambda s: sparse.reshape(s, [3, 10]),
    "slice": lambda s: sparse.slice(s, [0], [1], [4]),
    "matmul": lambda s: sparse.matmul(s, RIGHT),
    "mv": lambda s: sparse.mv(s, RIGHT[:, 0]),
    "addmm": lambda s: sparse.addmm(wherry.ones([6, 2]), s, RIGHT, 2.0, 3.0),
    "coalesce": sparse.coalesce,
}
OF_POINTS = {
    "submanifold": SUBMANIFOLD,
    "convolution": CONVOLUTION,
    "max_pool3d": lambda s: SF.max_pool3d(s, 2, 2),
}
ALL = [(name, function, COO) for name, function in OF_MATRICES.items()] + [(name, function, CLOUD) for name, function in OF_POINTS.items()]
EVERY = pytest.mark.parametrize(("function", "like"), [pytest.param(f, like, id=name) for name, f, like in ALL])


def dense(x):
    return x if isinstance(x, wherry.Tensor) else x.to_dense()


def with_values(like, values):
    return sparse.sparse_coo_tensor(like.indices(), values, like.shape)


def result_and_gradient(function, like, values=None):
    """Of a function of sparse tensors: what comes out, and the gradient of the values."""
    given = (like.values() if values is None else values).detach()
    given.stop_gradient = False
    out = dense(function(with_values(like, given)))
    (out * out).sum().backward()
    return out.numpy(), given.grad.numpy()


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@EVERY
def test_a_function_takes_and_returns_sparse_tensors_as_a_program(function, like):
    captured = wherry.jit.to_static(function if not isinstance(function, wherry.nn.Layer) else lambda s: function(s), full_graph=True)
    same(result_and_gradient(captured, like), result_and_gradient(function, like))
    again = like.values() * 3.0
    same(result_and_gradient(captured, like, again), result_and_gradient(function, like, again))
    assert len(captured.program_cache) == 1, "other values and objects, the same program"


@EVERY
def test_what_is_inside_a_forward_is_saved_where_the_places_are_given(function, like, tmp_path):
    class Inside(wherry.nn.Layer):
        def forward(self, values):
            return dense(function(with_values(like, values)))

    layer = Inside()
    wherry.jit.save(layer, str(tmp_path / "model"), input_spec=[wherry.static.InputSpec(like.values().shape, "float32")])
    np.testing.assert_allclose(wherry.jit.load(str(tmp_path / "model"))(like.values()).numpy(), layer(like.values()).numpy(), rtol=1e-4, atol=1e-5)


def test_places_may_be_inputs_of_a_saved_program(tmp_path):
    class Graph(wherry.nn.Layer):
        def forward(self, places, values):
            weights = SF.softmax(sparse.sparse_coo_tensor(places, values, [6, 5]).to_sparse_csr())
            return weights @ RIGHT

    spec = [wherry.static.InputSpec([2, None], "int64"), wherry.static.InputSpec([None], "float32")]
    wherry.jit.save(Graph(), str(tmp_path / "model"), input_spec=spec)
    loaded = wherry.jit.load(str(tmp_path / "model"))
    for matrix in (MATRIX, drawn(6, 5)):
        given = wherry.to_tensor(matrix).to_sparse_coo(2)
        expected = Graph()(given.indices(), given.values()).numpy()
        np.testing.assert_allclose(loaded(given.indices(), given.values()).numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("like", [COO, CSR])
def test_constant_matrices_multiply_in_static_programs(like):
    wherry.enable_static()
    try:
        program = wherry.static.Program()
        with wherry.static.program_guard(program):
            y = wherry.static.data("y", [5, 2], "float32")
            out = sparse.matmul(like, y)
        (found,) = wherry.static.Executor().run(program, feed={"y": RIGHT.numpy()}, fetch_list=[out])
    finally:
        wherry.disable_static()
    np.testing.assert_allclose(found, MATRIX @ RIGHT.numpy(), rtol=1e-4, atol=1e-5)


def test_a_sparse_tensor_of_another_shape_is_another_program():
    captured = wherry.jit.to_static(lambda s: sparse.sum(s, 0), full_graph=True)
    for matrix in (MATRIX, drawn(4, 5)):
        np.testing.assert_allclose(captured(wherry.to_tensor(matrix).to_sparse_coo(2)).to_dense().numpy(), matrix.sum(0), rtol=1e-4, atol=1e-5)
    assert len(captured.program_cache) == 2


def test_what_a_program_cannot_know_is_said_by_name():
    product = wherry.jit.to_static(lambda s: sparse.matmul(s, sparse.transpose(s, [1, 0])), full_graph=True)
    with pytest.raises(NotImplementedError, match="matmul: the number of elements of the product depends on indices"):
        product(COO)
    made = wherry.jit.to_static(lambda places, values: sparse.sparse_coo_tensor(places, values).to_dense(), full_graph=True)
    with pytest.raises(ValueError, match="sparse_coo_tensor: the indices are computed by a program.*Pass shape="):
        made(COO.indices(), COO.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        op_by_op = wherry.jit.to_static(lambda s: sparse.matmul(s, sparse.transpose(s, [1, 0])))
        np.testing.assert_allclose(op_by_op(COO).to_dense().numpy(), MATRIX @ MATRIX.T, rtol=1e-4, atol=1e-5)
    given = wherry.jit.to_static(lambda v: sparse.matmul(with_values(COO, v), sparse.transpose(COO, [1, 0])).to_dense(), full_graph=True)
    np.testing.assert_allclose(given(COO.values()).numpy(), MATRIX @ MATRIX.T, rtol=1e-4, atol=1e-5)
