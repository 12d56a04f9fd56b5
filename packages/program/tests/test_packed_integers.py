"""Weights of products and convolutions of integers are put in order before a program runs, and the sums stay."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_program import passes
from wherry_program.program.capture import capture
from wherry_program.program.ir import Program
from wherry_program.run.executor import compiled
from wherry_program.run.interpreter import Interpreter
from wherry_tensor import ops

WINDOW = dict(strides=(1, 2), paddings=(1, 0, 2, 1), dilations=(1, 1))


def some(rng, shape, dtype):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def program_of(kind, weight, zero, x_dtype="uint8", **other):
    """A program of one product or convolution by this weight."""
    program = Program()
    shape = [-1, weight.shape[0]] if kind == "matmul_int8" else [-1, weight.shape[1] * other.get("groups", 1), -1, -1]
    x = program.feed(shape, wt.uint8 if x_dtype == "uint8" else wt.int8, "x")
    point = program.feed([], wt.uint8 if x_dtype == "uint8" else wt.int8, "point")
    with capture(program):
        given = wt.to_tensor(weight), None if zero is None else wt.to_tensor(zero)
        if kind == "matmul_int8":
            y = ops.matmul_int8(x, given[0], point, given[1], transpose_x=False, transpose_y=False)
        else:
            y = ops.conv2d_int8(x, given[0], point, given[1], **{**WINDOW, "groups": 1, "data_format": "NCHW", **other})
    program.fetches = [y]
    return program


@pytest.mark.parametrize("kind", ["matmul_int8", "conv2d_int8"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("zeros", ["none", "one", "each"])
def test_the_sums_stay(kind, dtype, zeros):
    rng = np.random.default_rng(0)
    weight = some(rng, (37, 33) if kind == "matmul_int8" else (33, 5, 3, 3), dtype)
    zero = {"none": None, "one": np.array(77, dtype), "each": some(rng, 33, dtype)}[zeros]
    program = program_of(kind, weight, zero)
    packed = passes.packed_integers(program)
    assert [node.type for node in program.nodes] == [kind]
    assert [node.type for node in packed.nodes] == [f"packed_{kind}"]
    assert not any(x.bound.shape == list(weight.shape) for x in packed.bound_variables())
    x = wt.to_tensor(some(rng, (6, 37) if kind == "matmul_int8" else (2, 5, 9, 8), "uint8")), wt.to_tensor(np.array(131, "uint8"))
    [wanted] = compiled(program)(*x)
    for run in compiled(packed), Interpreter(packed):
        np.testing.assert_array_equal(run(*x)[0].numpy(), wanted.numpy())


def test_a_weight_of_several_products_is_packed_once():
    rng = np.random.default_rng(0)
    program = Program()
    x = program.feed([-1, 8], wt.int8, "x")
    weight = wt.to_tensor(some(rng, (8, 8), "int8"))
    with capture(program):
        program.fetches = [ops.matmul_int8(each, weight, None, None, transpose_x=False, transpose_y=False) for each in (x, ops.negative(x))]
    packed = passes.packed_integers(program)
    assert [node.type for node in packed.nodes].count("packed_matmul_int8") == 2
    assert len(packed.bound_variables()) == 2


def test_groups_and_what_is_turned_stay():
    rng = np.random.default_rng(0)
    program = program_of("conv2d_int8", some(rng, (6, 2, 3, 3), "int8"), None, groups=2)
    assert [node.type for node in passes.packed_integers(program).nodes] == ["conv2d_int8"]
    program = Program()
    x = program.feed([-1, 8], wt.int8, "x")
    with capture(program):
        weight = wt.to_tensor(some(rng, (5, 8), "int8"))
        program.fetches = [ops.matmul_int8(x, weight, None, None, transpose_x=False, transpose_y=True)]
    assert [node.type for node in passes.packed_integers(program).nodes] == ["matmul_int8"]


def test_weights_that_are_computed_stay():
    program = Program()
    x, y = program.feed([-1, 8], wt.int8, "x"), program.feed([8, 3], wt.int8, "y")
    with capture(program):
        program.fetches = [ops.matmul_int8(x, y, None, None, transpose_x=False, transpose_y=False)]
    assert [node.type for node in passes.packed_integers(program).nodes] == ["matmul_int8"]
