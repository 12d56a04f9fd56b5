"""Where an error in a network leads: to the user's line, with the layer's path."""
import traceback

import pytest

from wherry_nn import BatchNorm2D, Conv2D, Layer, Linear, ReLU, Sequential
from wherry_nn import functional as F
from wherry_tensor import flags, ones, tracebacks


def caught(function, *arguments):
    with pytest.raises(Exception) as found:
        function(*arguments)
    return found.value


def functions_of(error):
    return [one.name for one in traceback.extract_tb(error.__traceback__)]


class Net(Layer):
    def __init__(self):
        super().__init__()
        self.body = Sequential(Conv2D(3, 8, 3), BatchNorm2D(16), ReLU())

    def forward(self, x):
        return self.body(x)


def test_an_error_names_the_path_and_kind_of_the_layer_once():
    error = caught(Sequential(Net()), ones([1, 3, 8, 8]))
    assert error.__notes__ == ["in layer '0.body.1': BatchNorm2D(num_features=16, momentum=0.9, epsilon=1e-05)"]
    assert str(error).startswith("(InvalidArgument) batch_norm: num_features=16, input has 8 channels.")


def test_a_layer_alone_has_no_path():
    assert caught(Linear(5, 2), ones([1, 3])).__notes__ == ["in layer Linear(in_features=5, out_features=2, dtype=float32)"]


def test_the_traceback_ends_at_the_users_line():
    error = caught(Sequential(Net()), ones([1, 3, 8, 8]))
    assert functions_of(error) == ["caught", "forward"], "the test's call, and Net.forward"
    assert functions_of(caught(Linear(5, 2), ones([1, 3]))) == ["caught"]


def test_a_flag_shows_what_lies_below():
    flags.set_flags({"FLAGS_call_stack_level": 2})
    try:
        names = functions_of(caught(Linear(5, 2), ones([1, 3])))
    finally:
        flags.set_flags({"FLAGS_call_stack_level": 1})
    assert "linear" in names and any("_core" in name for name in names)


def test_a_mistake_of_ours_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(F, "linear", lambda *arguments: arguments.nonsense)
    monkeypatch.setitem(F.linear.__globals__, "__name__", "wherry_nn.functional.broken")
    assert functions_of(caught(Sequential(Linear(5, 2)), ones([1, 5])))[-1] == "<lambda>"


def test_errors_of_the_users_own_code_stay_whole():
    class Mine(Layer):
        def forward(self, x):
            return self.helped(x)

        def helped(self, x):
            raise KeyError("mine")

    error = caught(Sequential(Mine()), ones([1]))
    assert functions_of(error) == ["caught", "forward", "helped"]
    assert error.__notes__ == ["in layer '0': Mine()"]


def test_a_wrong_keyword_in_forward_is_explained():
    class Mine(Layer):
        def forward(self, x):
            return F.softmax(x, axes=1)

    assert str(caught(Mine(), ones([1, 2]))).endswith("'axes'. Did you mean 'axis'?")


def test_how_an_error_was_found_out_is_not_shown():
    shown = "".join(traceback.format_exception(caught(Linear(2, 3), 3)))
    assert "During handling" not in shown and "argument 'x' must be a Tensor" in shown


def test_a_repr_that_fails_does_not_hide_the_error():
    class Mine(Layer):
        def extra_repr(self):
            raise ValueError("no repr")

        def forward(self, x):
            raise KeyError("this one")

    assert caught(Mine(), ones([1])).__notes__ == ["in layer Mine"]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Linear(in_dim=2, out_features=3), "Linear: there is no argument 'in_dim'.*Did you mean 'in_features'?"),
        (lambda: Conv2D(3, 4, 3, biases=False), "Conv2D: there is no argument 'biases'"),
        (lambda: BatchNorm2D(3, epsilo=1e-3), "Did you mean 'epsilon'?"),
        (lambda: Sequential(Linear(2, 2), F.relu), r"Write nn.ReLU\(\)"),
        (lambda: Sequential([Linear(2, 2)]), r"write Sequential\(\*layers\)"),
    ],
)
def test_wrong_arguments_of_layers_are_explained(call, text):
    with pytest.raises(TypeError, match=text):
        call()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mdules", "modules"),
        ("load_state_dct", "load_state_dict"),
        ("wieght", "weight"),
    ],
)
def test_wrong_names_on_a_layer_are_explained(name, text):
    with pytest.raises(AttributeError, match=text):
        getattr(Linear(2, 2), name)


def test_subclasses_take_what_they_like():
    class Mine(Linear):
        def __init__(self, width):
            super().__init__(width, width)

    assert Mine(width=3).weight.shape == [3, 3]


def test_a_warning_points_at_the_users_line():
    with pytest.warns(UserWarning, match="mse_loss: input and label broadcast") as seen:
        F.mse_loss(ones([4, 1]), ones([4]))
    assert seen[0].filename == __file__
    assert tracebacks.warn is not None
