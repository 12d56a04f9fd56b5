"""Operators in C++ are members of the vocabulary: they run, differentiate, are captured, saved and loaded."""
from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wherry_nn.functional as F
import wherry_tensor as paddle
from wherry_autograd import grad
from wherry_extension.cpp_extension import load
from wherry_tensor import coverage
from wherry_tensor._core import float32, float64

DATA = Path(__file__).parent / "data"

pytestmark = pytest.mark.skipif(shutil.which("c++") is None and shutil.which("g++") is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return tmp_path_factory.mktemp("extensions")


@pytest.fixture(scope="module")
def ops(built):
    return load("wherry_test_ops", [DATA / "ops.cc", DATA / "relu_cpu.cc"], extra_cxx_cflags=["-O1"], build_directory=str(built))


def tensor(values, dtype="float32", stop_gradient=False):
    x = paddle.to_tensor(np.asarray(values, dtype))
    x.stop_gradient = stop_gradient
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_relu_of_the_manual_gives_values_and_gradients_of_relu(ops, dtype):
    values = np.random.default_rng(0).standard_normal((4, 10))
    values[0, 0] = 0
    ours, theirs = tensor(values, dtype), tensor(values, dtype)
    out, expected = ops.custom_relu(ours), F.relu(theirs)
    np.testing.assert_array_equal(out.numpy(), expected.numpy())
    (out * out).sum().backward()
    (expected * expected).sum().backward()
    np.testing.assert_array_equal(ours.grad.numpy(), theirs.grad.numpy())


@pytest.mark.parametrize("shape", [[], [0, 3], [2, 1, 5]])
def test_relu_takes_any_shape(ops, shape):
    x = paddle.ones(shape) * -1.0
    assert ops.custom_relu(x).shape == shape
    np.testing.assert_array_equal(ops.custom_relu(x).numpy(), np.zeros(shape, "float32"))


def test_strided_inputs_arrive_contiguous(ops):
    x = tensor(np.arange(12).reshape(3, 4) - 6)
    np.testing.assert_array_equal(ops.custom_relu(x.t()).numpy(), np.maximum(x.numpy().T, 0))


def test_a_dtype_without_a_branch_raises_oserror_with_kernel_dtype_and_place(ops):
    text = r"(?s)^\(External\) function relu_cpu_forward_kernel.*`int32`.*relu_cpu\.cc:\d+\].*\[operator < custom_relu > error\]"
    with pytest.raises(OSError, match=text):
        ops.custom_relu(tensor([1, 2], "int32", True))
    with pytest.raises(OSError, match="float16"):
        ops.custom_relu(tensor([1, 2], "float16", True))


ATTRS = (True, 10, 3.14, 10000000000, 'StrAttr, "quoted"', [10, 10, -10], [3.14, -1e-30], [10000000000, 1], ["StrAttr", "", "3:x"])


def test_attributes_of_all_nine_kinds_arrive(ops):
    x = tensor([1.0, 2.0])
    out = ops.attr_test(x, *ATTRS)
    np.testing.assert_array_equal(out.numpy(), [1, 2])
    out.backward(tensor([3.0, 4.0], stop_gradient=True))
    np.testing.assert_array_equal(x.grad.numpy(), [3, 4])
    with pytest.raises(OSError, match="bool_attr is false"):
        ops.attr_test(x, False, *ATTRS[1:])
    with pytest.raises(TypeError, match="'int_vec_attr'"):
        ops.attr_test(x, *ATTRS[:5], "no list", *ATTRS[6:])


def test_a_list_of_tensors_has_a_list_of_gradients(ops):
    parts = [tensor(np.full((n, 2), n)) for n in (1, 2, 3)]
    out = ops.custom_concat_with_attr(parts, 0)
    assert out.shape == [6, 2]
    (out * paddle.arange(6, dtype="float32").reshape([6, 1])).sum().backward()
    np.testing.assert_array_equal(np.concatenate([p.grad.numpy() for p in parts]), np.repeat(np.arange(6.0)[:, None], 2, 1))
    with pytest.raises(TypeError, match="a list of Tensors"):
        ops.custom_concat_with_attr(parts[0], 0)


def test_a_tensor_that_is_optional_may_be_left_out(ops):
    x, y = tensor([1.0, 2.0]), tensor([5.0, 7.0])
    ops.scaled(x, None).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3, 3])
    x.clear_grad()
    out = ops.scaled(x, y)
    out.sum().backward()
    np.testing.assert_array_equal(out.numpy(), [5, 14])
    np.testing.assert_array_equal(x.grad.numpy(), [5, 7])
    np.testing.assert_array_equal(y.grad.numpy(), [1, 2])
    with pytest.raises(TypeError, match="'Y@OPTIONAL' has the wrong type. Got int, expected a Tensor or None"):
        ops.scaled(x, 3)


def test_an_operator_that_writes_in_place_gives_the_tensor_back(ops):
    x, y = tensor([1.0, 2.0], stop_gradient=True), tensor([5.0, 7.0], stop_gradient=True)
    view = x[0:1]
    assert ops.add_into(x, y) is x
    np.testing.assert_array_equal(x.numpy(), [6, 9])
    np.testing.assert_array_equal(view.numpy(), [6])
    doubled, total = ops.sum_and_double(x, y)
    assert doubled is y
    np.testing.assert_array_equal(y.numpy(), [10, 14])
    np.testing.assert_array_equal(total.numpy(), [11, 16])


def test_gradients_pass_what_was_written_in_place(ops):
    x, y = tensor([1.0, 2.0]), tensor([5.0, 7.0])
    z = x * 1
    (ops.add_into(z, y) * z).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [12, 18])
    np.testing.assert_array_equal(y.grad.numpy(), [12, 18])
    with pytest.raises(ValueError, match="add_into"):
        ops.add_into(x, y)  # a leaf that asks for gradients


def test_second_derivatives_come_from_the_double_gradient(ops):
    x = tensor([1.0, -2.0, 3.0], "float64")
    (first,) = grad([ops.custom_cube(x)], [x], create_graph=True)
    np.testing.assert_allclose(first.numpy(), 3 * x.numpy() ** 2)
    (second,) = grad([(first * first).sum()], [x])
    np.testing.assert_allclose(second.numpy(), 36 * x.numpy() ** 3)  # d/dx (3x^2)^2


def test_an_operator_without_double_gradient_says_so(ops):
    x = tensor([1.0, 2.0])
    (first,) = grad([ops.custom_relu(x)], [x], create_graph=True)
    with pytest.raises(NotImplementedError, match="PD_BUILD_DOUBLE_GRAD_OP"):
        grad([first.sum()], [x])


def test_an_operator_without_gradient_stops_gradients(ops):
    assert ops.members(tensor(np.ones((2, 3)))).stop_gradient


def test_several_outputs_are_a_list_and_a_missing_gradient_is_zero(ops):
    x, y = tensor([1.0, 2.0]), tensor([3.0, 5.0])
    found = ops.sum_difference(x, y, 2.0)
    assert isinstance(found, list)
    np.testing.assert_array_equal(found[0].numpy(), [7, 12])
    np.testing.assert_array_equal(found[1].numpy(), [-2, -3])
    found[0].sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1, 1])
    np.testing.assert_array_equal(y.grad.numpy(), [2, 2])


def test_without_shape_functions_the_kernel_decides_the_shape(ops):
    out = ops.outer_product(tensor([1.0, 2.0, 3.0]), tensor([1.0, 10.0]))
    np.testing.assert_array_equal(out.numpy(), [[1, 10], [2, 20], [3, 30]])


def test_another_shape_than_was_said_is_an_error(ops):
    with pytest.raises(OSError, match=r"returned shape \[1, 7\] for output 0, expected \[2\]"):
        ops.wrong_shape(tensor([1.0, 2.0]))


def test_tensors_that_outlive_the_call_keep_their_values(ops):
    # The operator adds what it kept of the call before: the first of its inputs, and the first of its results.
    found, kept = [], 0.0
    for value in (1.0, 10.0, 100.0):
        out = ops.keep_tensors(tensor([value, value], "float64", True))
        np.testing.assert_array_equal(out.numpy(), [value + kept] * 2)
        found.append(out.numpy()[0])
        kept = value + found[-1]
        del out
        ops.custom_relu(tensor(np.full(2, -7.0), "float64", True))  # takes the memory that was freed


def test_members_of_tensors_are_what_the_headers_promise(ops):
    x = tensor(np.array([[3.0, 4.0, 5.0], [1.0, 2.0, 6.0]]))
    np.testing.assert_array_equal(ops.members(x).numpy(), [1, 1, 9, 1, 1, 1, 1, 3, 4, 1, 3.5, -1])


def _swish(x):
    return x / (1 + np.exp(-x))


def _with_five(x):
    out = x.copy()
    out[1, 0] = 5
    return out


FUNCTIONS = {
    0: lambda x: x @ x.T, 1: lambda x: np.argsort(-x, 1, kind="stable"), 2: lambda x: np.clip(x, 0.25, 0.75), 3: lambda x: np.concatenate([x, x], 1),
    4: lambda x: x[[1, 1]], 5: lambda x: x.ravel(), 6: lambda x: x[1:], 7: lambda x: x[None], 8: lambda x: np.tile(x, (2, 1)),
    9: lambda x: np.where(x > 0.5, x, 0), 10: lambda x: np.ones_like(x), 11: lambda x: np.linalg.cholesky(x @ x.T + np.eye(3)),
    13: lambda x: np.stack([x, x]), 14: lambda x: np.roll(x, 1, 0), 15: lambda x: np.linalg.solve(np.triu(x), x),
    16: lambda x: -(np.log(np.exp(x) / np.exp(x).sum(1, keepdims=True)))[:, 1].mean(),
    17: lambda x: np.unique(np.round(x), return_inverse=True)[1].ravel(),
    18: lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), 19: lambda x: x[0:3:2, 2:0:-1], 20: lambda x: np.trace(x),
    21: lambda x: 0.9 * x + 0.1 / 3, 22: lambda x: np.maximum(np.tanh(x), np.sin(x)), 23: lambda x: x @ x, 24: lambda x: x[1, :2],
    25: lambda x: np.clip(1 / (1 + np.exp(-np.tril(x))), 0.25, 0.75), 26: lambda x: _swish(x * np.clip(x + 3, 0, 6) / 6),
    27: lambda x: np.maximum(np.minimum(x, 0.5), np.mod(x, 0.3)), 28: lambda x: 2 * x + 0.5 * x @ x, 29: lambda x: np.full((2, 3), 2.0),
    30: _with_five,
}  # fmt: skip


@pytest.mark.parametrize("which", FUNCTIONS)
def test_functions_of_the_framework_can_be_called_in_an_operator(ops, which):
    x = np.random.default_rng(3).uniform(0.1, 1, (3, 3))
    out = ops.any_function(tensor(x, "float64", True), tensor(x, "float64", True), which).numpy()
    np.testing.assert_allclose(out, FUNCTIONS[which](x), rtol=1e-8, atol=1e-12)  # attributes are float32


def test_errors_of_functions_within_an_operator_are_the_operators(ops):
    x = tensor(np.ones((3, 3)), "float64", True)
    with pytest.raises(OSError, match="there is no case 99"):
        ops.any_function(x, x, 99)
    with pytest.raises(OSError, match=r"(?s)matrix_power: .*any_function"):
        ops.any_function(tensor(np.ones((2, 3)), "float64", True), x, 23)


def test_every_function_of_the_header_has_one_here():
    from wherry_extension import get_include
    from wherry_extension.functions import function_of

    text = (Path(get_include()) / "paddle/phi/api/include/api.h").read_text()
    names = set(re.findall(r'apply\("(\w+)"', text)) | set(re.findall(r"WHERRY_(?:UNARY|BINARY)\((\w+)\)$", text, re.M))
    assert len(names) > 125
    assert [name for name in sorted(names) if not callable(function_of(name))] == []


def test_the_op_card_shows_where_an_operator_comes_from(ops):
    card = coverage.card("custom_relu")
    assert "custom_relu(x) -> out" in card and "relu_cpu.cc:" in card and "compiled from C++" in card
    gaps = {column for name, column in coverage.gaps() if name.startswith(("custom_", "attr_test", "sum_difference"))}
    assert gaps <= {"reference", "samples"}  # which only the library's author has


def test_autocast_leaves_an_operator_in_what_arrives(ops):
    amp = pytest.importorskip("wherry_train.amp")
    with amp.auto_cast(dtype="bfloat16"):
        assert ops.custom_relu(tensor([1.0, -1.0])).dtype is float32
        assert ops.custom_cube(tensor([1.0], "float64")).dtype is float64


def net(ops):
    import wherry_nn as nn

    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(3, 4), nn.Linear(4, 2)

        def forward(self, x):
            return self.two(ops.custom_concat_with_attr([ops.custom_relu(self.one(x)), ops.custom_cube(self.one(x))], 0))

    return Net()


def test_to_static_runs_it_with_gradients(ops):
    from wherry_graph import jit

    layer = net(ops)
    static = jit.to_static(net(ops))
    static.set_state_dict(layer.state_dict())
    for n in (2, 5):
        x = tensor(np.random.default_rng(n).standard_normal((n, 3)))
        y = tensor(x.numpy())
        out, expected = static(x), layer(y)
        out.sum().backward()
        expected.sum().backward()
        np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-6)
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-5)


def test_static_program_trains_through_it_and_is_saved(ops, tmp_path):
    from wherry_graph import static
    from wherry_train import optimizer

    program, startup = static.Program(), static.Program()
    static.enable_static()
    try:
        with static.program_guard(program, startup):
            x = static.data("x", [None, 3], "float32")
            out = net(ops)(x)
            assert list(out.shape) == [-1, 2]
            loss = (out * out).mean()
            optimizer.SGD(0.01).minimize(loss)
            with pytest.raises(ValueError, match="SetInferShapeFn"):
                ops.outer_product(x, x)
            exe = static.Executor()
            exe.run(startup)
            feed = {"x": np.random.default_rng(0).standard_normal((4, 3)).astype("float32")}
            losses = [float(exe.run(program, feed=feed, fetch_list=[loss])[0]) for _ in range(20)]
            assert losses[-1] < 0.9 * losses[0]
            path = str(tmp_path / "net")
            expected = exe.run(program.clone(for_test=True), feed=feed, fetch_list=[out])[0]
            static.save_inference_model(path, [x], [out], exe, program=program)
            again, feeds, fetches = static.load_inference_model(path, exe)
            found = exe.run(again, feed={feeds[0]: feed["x"]}, fetch_list=fetches)[0]
    finally:
        static.disable_static()
    assert found.shape == expected.shape == (8, 2)


@pytest.fixture(scope="module")
def saved(ops, built):
    from wherry_graph import jit
    from wherry_graph.static import InputSpec

    layer, path = net(ops), str(built / "saved")
    jit.save(layer, path, input_spec=[InputSpec([None, 3], "float32", "x")])
    return layer, path


def test_a_saved_model_is_loaded_and_answers(ops, saved):
    from wherry_graph import jit

    layer, path = saved
    x = tensor(np.random.default_rng(1).standard_normal((5, 3)))
    np.testing.assert_allclose(jit.load(path)(x).numpy(), layer(x).numpy(), rtol=1e-5)


def test_a_predictor_runs_it(ops, saved):
    infer = pytest.importorskip("wherry_infer")
    layer, path = saved
    predictor = infer.create_predictor(infer.Config(path + ".pdmodel", path + ".pdiparams"))
    x = np.random.default_rng(1).standard_normal((5, 3)).astype("float32")
    predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(x)
    predictor.run()
    out = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    np.testing.assert_allclose(out, layer(tensor(x)).numpy(), rtol=1e-5)


def test_a_model_whose_library_is_not_loaded_names_it(saved):
    code = f"from wherry_graph import jit\njit.load({saved[1]!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "UnreadableOp" in done.stderr
    assert "wherry_test_ops_pd_" in done.stderr and "not loaded" in done.stderr and "load(name='wherry_test_ops'" in done.stderr


def test_an_operator_runs_in_another_process_that_loads_the_library(saved, built):
    code = (
        f"import sys; sys.path.insert(0, {str(built / 'wherry_test_ops')!r})\n"
        f"import wherry_test_ops\nfrom wherry_graph import jit\nimport wherry_tensor as t\n"
        f"print(jit.load({saved[1]!r})(t.ones([2, 3])).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[4, 2]", done.stderr
