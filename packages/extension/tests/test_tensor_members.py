"""Members and operators of `paddle::Tensor` in C++, each beside numpy."""
from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import wherry_tensor as paddle
from wherry_extension.cpp_extension import load

DATA = Path(__file__).parent / "data"

pytestmark = pytest.mark.skipif(shutil.which("c++") is None and shutil.which("g++") is None, reason="needs a C++ compiler")

A = np.array([[0.5, 1.5, 2.0], [3.0, 0.25, 1.0]])
B = np.array([[0.5, 2.5, 1.0], [2.0, 0.25, 3.0]])
N = np.array([[1, 2, 3], [4, 5, 6]])

MEMBERS = [
    A + B, A - B, A * B, A / B, A + 2, A - 2.5, A * 3, A / 4, 1 + A, 1.5 - A, 2 * A, 3 / A, A == B, A != B, A < B, A <= B, A > B, A >= B,
    N & (N + 1), N | (N + 1), N ^ (N + 1), ~N, -A, A, A, np.exp(A), np.log(A), np.floor(A), np.maximum(A, B), np.minimum(A, B), A**2, A**B, A**B,
    A @ B.T, A @ np.full((3, 3), 2.0), A.sum(), A.sum(1, keepdims=True), A.max(0), (A + 1) * 2, np.tile(A, (2, 1)), np.tile(A[:1], (4, 1)),
    np.roll(A, 1, 1), A[1], np.stack([A[0], B[0]]), np.stack([A[0], A[1] + B[0]]), N * 2, 10 - N, A,
]  # fmt: skip


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    return load("wherry_test_members", [DATA / "members.cc"], extra_cxx_cflags=["-O0"], build_directory=str(tmp_path_factory.mktemp("members")))


def arguments():
    return paddle.to_tensor(A), paddle.to_tensor(B), paddle.to_tensor(N)


@pytest.mark.parametrize("which", range(len(MEMBERS)))
def test_a_member_gives_what_numpy_gives(ops, which):
    np.testing.assert_allclose(ops.tensor_member(*arguments(), which).numpy(), MEMBERS[which], rtol=1e-12)


def test_every_member_has_its_case():
    source = (DATA / "members.cc").read_text()
    assert [int(n) for n in re.findall(r"case (\d+):", source)] == list(range(len(MEMBERS) + 1))  # the last one is the error below


def test_copy_into_a_tensor_of_another_size_says_so(ops):
    with pytest.raises(OSError, match="copy_: the tensor has 5 elements of float64, got 6 of float64"):
        ops.tensor_member(*arguments(), len(MEMBERS))


def test_a_tensor_says_its_sizes_place_and_name(ops):
    x = paddle.to_tensor(A)
    assert ops.tensor_says(x, x).numpy().tolist() == [1.0] * 8


def test_the_dense_tensor_of_a_tensor(ops):
    x = paddle.to_tensor(A)
    assert ops.tensor_impl(x, x).numpy().tolist() == [1.0] * 19
    x.set_value(np.zeros_like(A))  # what is kept has memory of its own
    np.testing.assert_array_equal(ops.tensor_kept(x, x).numpy(), 2 * A[1:])
