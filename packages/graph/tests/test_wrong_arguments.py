"""What is not a program, variable, file or list of names is refused by its name, before anything runs."""
import numpy as np
import pytest

import wherry_nn as nn
from wherry_graph import jit, static
from wherry_tensor import ones
from wherry_train import optimizer


def deep():
    inner = []
    for _ in range(5000):
        inner = [inner]
    return inner


def decorated():
    return static.amp.decorate(optimizer.SGD(0.1, parameters=nn.Linear(2, 2).parameters()))


NO_PROGRAM = {
    "cast_parameters_to_fp16": lambda x: static.amp.cast_parameters_to_fp16(None, x),
    "set_program_state": lambda x: static.set_program_state(x, {}),
    "save": lambda x: static.save(x, "name"),
    "load": lambda x: static.load(x, "name"),
    "deserialize_persistables": lambda x: static.deserialize_persistables(x, b"", None),
    "infer_from_dataset": lambda x: static.Executor().infer_from_dataset(x, [{}]),
    "TracedLayer": lambda x: jit.TracedLayer(x, [], [], []),
}


@pytest.mark.parametrize("function", NO_PROGRAM)
@pytest.mark.parametrize("value", [1, "x", np.zeros(2), deep()], ids=["number", "text", "array", "deep list"])
def test_what_is_no_program_is_refused(function, value):
    with pytest.raises(TypeError, match=rf"{function}: argument 'program' must be of the class Program\. Got .*, expected"):
        NO_PROGRAM[function](value)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: static.nn.conv3d_transpose(range(3), 2, output_size=3), r"conv3d_transpose: argument 'input' must be a Tensor\. Got range"),
        (lambda: static.nn.conv2d_transpose(ones([2, 3]), 2, filter_size=2), r"'input' has the wrong number of axes\. Got shape \[2, 3\], .* 4 axes"),
        (lambda: static.nn.conv2d_transpose(ones([2, 3, 4, 4]), 2, output_size=[3, 3, 3]), r"one number for each of 2 axes\. Got \[3, 3, 3\]"),
        (lambda: static.nn.conv2d(ones([2, 3, 4, 4]), 2, [1, 2, 3]), r"conv2d: 'filter_size' has one number for each of 2 axes"),
        (lambda: static.nn.conv2d(ones([2, 3]), 2, 1, data_format=deep()), r"conv2d: 'input' has the wrong number of axes"),
        (lambda: static.nn.group_norm(ones([]), 1), r"group_norm: 'input' has the wrong number of axes\. Got shape \[\], expected 2 or more axes"),
        (lambda: static.nn.batch_norm(ones([3])), r"batch_norm: 'input' .* expected 2 or more axes, NCHW"),
        (lambda: static.nn.instance_norm(ones([3]), param_attr="w"), r"instance_norm: 'input' .* expected 2 to 5 axes"),
        (lambda: static.nn.bilinear_tensor_product(ones([3]), ones([3, 2]), 2), r"bilinear_tensor_product: 'x' .* expected 2 axes, \[N, M\]"),
        (lambda: static.nn.nce(ones([3]), ones([3], "int64"), 5), r"nce: 'input' .* expected 2 axes"),
        (lambda: static.nn.sequence_unpad(ones([3]), ones([3], "int64")), r"sequence_unpad: 'x' .* expected 2 or more axes"),
        (lambda: static.nn.sequence_concat([]), r"sequence_concat: there is nothing to join"),
        (lambda: static.accuracy(ones([]), ones([], "int64")), r"accuracy: 'input' .* expected 2 axes, \[N, C\]"),
        (lambda: static.gradients([], []), r"gradients: there is nothing to differentiate\. Got no targets"),
        (lambda: jit.ignore_module([3]), r"ignore_module: this is not a module\. Got 3"),
        (lambda: jit.ProgramTranslator().get_code(deep()), r"code: \[\[.* has no converted form"),
        (lambda: jit.ProgramTranslator().get_program(deep()), r"to_static: this cannot be called\. Got \[\["),
        (lambda: static.load_from_file("\ud800"), r"load_from_file: 'path' is not a valid file name\. Got .*Take the character at position 0 out"),
        (lambda: static.load_inference_model("\ud800", None), r"load_inference_model: 'path_prefix' is not a valid file name"),
        (lambda: jit.load("\ud800"), r"load: 'path' is not a valid file name"),
    ],
)
def test_values_that_do_not_fit_are_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: static.load_program_state("x", [1]), r"load_program_state: argument 'var_list' must be of the class Variable\. Got 1 \(int\)"),
        (lambda: static.amp.OptimizerWithMixedPrecision(1, *[None] * 11), r"OptimizerWithMixedPrecision: argument 'optimizer' .* Got 1 \(int\)"),
        (lambda: decorated().backward(3), r"backward: argument 'loss' must be of the class Variable\. Got 3"),
        (lambda: static.amp.AutoMixedPrecisionLists(range(2**40)), r"custom_white_list must be a collection of names\. Got range"),
        (lambda: static.amp.AutoMixedPrecisionLists(None, "add"), r"custom_black_list must be a collection of names\. Got the text 'add', .* Write"),
        (lambda: static.Variable(), r"Variable: a variable belongs to a block of a program"),
        (lambda: static.Program().bind(3), r"Program\.bind: argument 'tensor' must be a Tensor"),
        (lambda: static.LoDTensor((1, 2), [[0, 1]]), r"LoDTensor: argument 'tensor' must be a Tensor\. Got tuple"),
        (lambda: static.Scope(np.zeros(2)), r"Scope: argument 'parent' must be of the class Scope"),
        (lambda: static.Scope().put("x", 3), r"Scope\.put: argument 'value' must be a Tensor"),
        (lambda: jit.TranslatedLayer("x", {}), r"TranslatedLayer: argument 'programs' must be of the class Mapping\. Got 'x'"),
        (lambda: jit.TranslatedLayer({"forward": 1}, {}), r"argument 'programs\['forward'\]' must be of the class Program"),
        (lambda: jit.set_verbosity(deep()), r"set_verbosity: Level is not an integer: \[\[\["),
        (lambda: static.save_inference_model(3, [], [], None), r"save_inference_model: 'path_prefix' must be a file name\. Got 3 \(int\)"),
    ],
)
def test_things_of_another_kind_are_named(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_a_program_has_no_block_beyond_the_last():
    with pytest.raises(IndexError, match=r"Program\.block: there is no block of this number\. Got 3, expected one of 0 to 0"):
        static.Program().block(3)


def test_a_traced_layer_names_the_variable_that_is_not_there():
    _, traced = jit.TracedLayer.trace(nn.Linear(2, 3), [ones([1, 2])])
    with pytest.raises(RuntimeError, match=r"TracedLayer: the program has no variable of this name\. Got 'nobody' in fetch_names"):
        jit.TracedLayer(traced.program, [], [], ["nobody"])
