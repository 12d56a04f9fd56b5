"""Kernel functions that write: in place, by pointers, lists, what may be left out; attributes of shape functions; functions of gradients."""
from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import wherry_tensor as paddle
from wherry_autograd import grad
from wherry_extension.cpp_extension import load

DATA = Path(__file__).parent / "data"

pytestmark = pytest.mark.skipif(shutil.which("c++") is None and shutil.which("g++") is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    return load("wherry_test_written", [DATA / "written.cc"], extra_cxx_cflags=["-O0"], build_directory=str(tmp_path_factory.mktemp("written")))


def tensor(values, dtype="float32", stop_gradient=True):
    x = paddle.to_tensor(np.asarray(values, dtype))
    x.stop_gradient = stop_gradient
    return x


def source(values, dtype="float32"):
    return tensor(values, dtype, False)


def same(x, values):
    np.testing.assert_array_equal(x.numpy(), np.asarray(values, x.numpy().dtype))


def test_outputs_by_pointers_with_a_gradient_by_a_pointer(ops):
    x = source([-1.0, 2.0, -3.0])
    length, sign = ops.polar(x, 2.0)
    same(length, [2, 4, 6])
    same(sign, [-1, 1, -1])
    (length * tensor([1.0, 10.0, 100.0])).sum().backward()
    same(x.grad, [-2, 20, -200])


@pytest.mark.parametrize("n", [1, 3])
def test_gradients_of_a_list_go_into_a_list_of_pointers(ops, n):
    xs = [source([1.0, 2.0]) for _ in range(n)]
    out = ops.weighted(xs)
    same(out, np.array([1, 2]) * n * (n + 1) / 2)
    out.sum().backward()
    for k, x in enumerate(xs):
        same(x.grad, [k + 1, k + 1])


def test_a_gradient_in_place_leaves_what_it_is_given_as_it_was(ops):
    x = source([-1.0, 2.0])
    z = x * 1
    assert ops.relu_into(z) is z
    same(z, [0, 2])
    given = tensor([5.0, 7.0])
    z.backward(given)
    same(x.grad, [0, 7])
    same(given, [5, 7])


def test_the_gradient_of_what_was_written_in_place_is_that_of_the_result(ops):
    """Real Paddle 2.6.2 gives [0, 7] for the result and [5, 7] for the tensor itself: its history stays that of before."""
    for of_result in (True, False):
        x = source([-1.0, 2.0])
        z = x * 1
        result = ops.relu_into(z)
        (result if of_result else z).backward(tensor([5.0, 7.0]))
        same(x.grad, [0, 7])


def test_a_gradient_in_place_beside_a_new_one(ops):
    """Real Paddle 2.6.2 loses what a kernel function assigns to its reference: z stays [1, 2], and x has no gradient."""
    x, y = source([1.0, 2.0]), source([10.0, 20.0])
    z = x * 1
    same(ops.blend(z, y), [12, 24])
    same(z, [12, 24])
    z.backward(tensor([1.0, 3.0]))
    same(x.grad, [2, 6])
    same(y.grad, [1, 3])


def test_a_list_is_written_in_place(ops):
    xs, y = [tensor([1.0, 2.0]), tensor([3.0, 4.0])], tensor([10.0, 10.0])
    found = ops.raise_all(xs, y)
    assert [a is b for a, b in zip(found, xs)] == [True, True]
    same(xs[0], [11, 12])
    same(xs[1], [13, 14])
    (only,) = ops.raise_all(xs[:1], y)
    same(only, [21, 22])


def test_gradients_pass_a_list_that_was_written_in_place(ops):
    a, b, y = source([1.0]), source([2.0]), source([3.0])
    first, second = ops.raise_all([a * 1, b * 1], y)
    (first * 2 + second * 5).backward()
    same(a.grad, [2])
    same(b.grad, [5])
    same(y.grad, [7])


def test_what_may_be_left_out_is_written_in_place(ops):
    x, y = tensor([1.0, 2.0]), tensor([5.0, 6.0])
    out, again = ops.add_maybe(x, y)
    assert again is y
    same(out, [6, 8])
    same(y, [50, 60])
    out, nothing = ops.add_maybe(x, None)
    assert nothing is None
    same(out, [2, 4])


def test_gradients_of_what_may_be_left_out_and_is_written(ops):
    x, y = source([1.0]), source([5.0])
    out, again = ops.add_maybe(x, y * 1)
    (out * 2 + again * 3).backward()
    same(x.grad, [2])
    same(y.grad, [32])
    x.clear_grad()
    ops.add_maybe(x, None)[0].backward()
    same(x.grad, [2])


def test_a_list_that_may_be_left_out_is_written_in_place(ops):
    x, ys = tensor([1.0]), [tensor([2.0]), tensor([3.0])]
    out, again = ops.add_maybe_all(x, ys)
    same(out, [6])
    assert [a is b for a, b in zip(again, ys)] == [True, True]
    same(ys[0], [20])
    same(ys[1], [30])
    out, nothing = ops.add_maybe_all(x, None)
    assert nothing is None
    same(out, [1])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_shape_and_dtype_functions_take_the_first_attributes(ops, dtype):
    out = ops.cast_rows(tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), dtype, [3, 7], 2, 3.0)
    assert out.dtype.name == dtype and out.shape == [2, 2]
    same(out, [[3, 6], [9, 12]])


def test_shape_functions_answer_in_a_program(ops):
    from wherry_graph import static

    static.enable_static()
    try:
        with static.program_guard(static.Program(), static.Program()):
            x = static.data("x", [None, 4], "float32")
            out = ops.cast_rows(x, "float64", [3, 7], 2, 3.0)
            assert list(out.shape) == [2, 4] and out.dtype.name == "float64"
    finally:
        static.disable_static()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_second_derivatives_where_functions_say_the_shapes_of_gradients(ops, dtype):
    values = np.array([1.0, -2.0, 3.0]) + (np.array([0.5, 1.0, -1.0]) * 1j if dtype.startswith("complex") else 0)
    x = source(values, dtype)
    out = ops.squared(x)
    np.testing.assert_allclose(out.numpy(), values**2, rtol=1e-6)
    (first,) = grad([out], [x], create_graph=True)
    np.testing.assert_allclose(first.numpy(), 2 * values.conj(), rtol=1e-6)
    if not dtype.startswith("complex"):
        (second,) = grad([(first * first).sum()], [x])
        np.testing.assert_allclose(second.numpy(), 8 * values, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_functions_of_complex_numbers(ops, dtype):
    x = np.array([0.5 + 0.25j, 0.75 + 0.5j, 0.25 + 0.125j])
    out = ops.complex_functions(tensor(x, dtype))
    np.testing.assert_allclose(out.numpy(), x + np.abs(x) + 1j * np.angle(x), rtol=1e-5)


def test_two_gradients_of_one(ops):
    x, y = source([1.0, 2.0]), source([3.0, 4.0])
    out = ops.mix(x, y)
    same(out, [10, 14])
    out.sum().backward()
    same(x.grad, [1, 1])
    same(y.grad, [3, 3])


def test_a_gradient_has_the_dtype_that_its_function_says(ops):
    from wherry_tensor.ops import registry
    from wherry_tensor.ops.declare import Meta, infer

    x = source([1.0, 2.0])
    (found,) = grad([ops.copied(x)], [x])
    same(found, [1, 1])
    like = Meta((2,), x.dtype)
    assert infer.rules[registry["copied_grad"]](like, like).dtype.name == "float64"


@pytest.mark.parametrize("y", [None, 10.0])
def test_attributes_arrive_in_a_gradient_without_lists_of_an_operator_with_one(ops, y):
    x = source([1.0, 2.0])
    out = ops.shifted(x, None if y is None else tensor([y, y]), 100, 2.0)
    same(out, np.array([102, 104]) + (y or 0))
    out.sum().backward()
    same(x.grad, [2, 2])


def test_an_operator_reaches_the_context_of_the_host_only(ops):
    x = tensor([1.0, 2.0])
    same(ops.contexts(x, x, False), [3, 6])
    with pytest.raises(OSError, match=r"there is no context of Place\(gpu:0\)"):
        ops.contexts(x, x, True)


BROKEN = """
#include "paddle/extension.h"
{code}
"""


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            'void F(const paddle::Tensor &x, paddle::Tensor *a) { *a = x; }\nPD_BUILD_OP(broken).Inputs({"X"}).Outputs({"A", "B"})'
            ".SetKernelFn(PD_KERNEL(F));",
            r"broken: the kernel function takes 1 outputs as pointers, at .*\. Got 2 in Outputs that are not written in place",
        ),
        (
            'std::vector<paddle::Tensor> F(const paddle::Tensor &x) { return {x}; }\nstd::vector<paddle::DataType> D(paddle::DataType x, int) '
            '{ return {x}; }\nPD_BUILD_OP(broken).Inputs({"X"}).Outputs({"A"}).SetKernelFn(PD_KERNEL(F)).SetInferDtypeFn(PD_INFER_DTYPE(D));',
            r"broken: the shape or the dtype function takes 1 attributes, at .*\. Got 0 in Attrs",
        ),
        (
            'void F(std::vector<paddle::Tensor> &) {}\nPD_BUILD_OP(broken).Inputs({paddle::Vec("X")}).Outputs({"A"}).SetKernelFn(PD_KERNEL(F));',
            r"broken: the kernel function writes 1 tensors in place.* Got 0 in SetInplaceMap, expected as many",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused(tmp_path, code, message):
    path = tmp_path / "broken.cc"
    path.write_text(BROKEN.replace("{code}", code))
    with pytest.raises(ValueError, match=message):
        load("wherry_test_broken_" + str(abs(hash(code)) % 10**6), [path], extra_cxx_cflags=["-O0"], build_directory=str(tmp_path))
