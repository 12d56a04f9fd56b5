"""What tensor says of names that other packages have, and of gradients that nothing records."""
import subprocess
import sys

import pytest

import wherry_tensor


@pytest.mark.parametrize("name, project, place", [
    ("no_grad", "wherry-autograd", "wherry_autograd.no_grad"),
    ("nn", "wherry-nn", "wherry_nn"),
    ("Model", "wherry-train", "wherry_train.Model"),
    ("vision", "wherry-vision", "wherry_vision"),
])
def test_names_of_other_packages_say_what_to_install(name, project, place):
    with pytest.raises(AttributeError, match=rf"wherry_tensor.{name}.* pip install {project}, then use {place};"):
        getattr(wherry_tensor, name)


def test_other_names_are_plain_attribute_errors():
    with pytest.raises(AttributeError, match="module 'wherry_tensor' has no attribute 'matmull'"):
        wherry_tensor.matmull  # noqa: B018
    assert not hasattr(wherry_tensor, "__wrapped__")


def test_an_op_on_an_input_that_asks_for_gradients_warns_once_without_autograd():
    program = """
import warnings
import wherry_tensor as w
x = w.to_tensor([1.0], stop_gradient=False)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    w.to_tensor([1.0]) * 2
    assert not seen, seen
    y = x * 2
    z = x * 3
(warning,) = seen
print(warning.category.__name__, warning.message, y.stop_gradient)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "RuntimeWarning multiply: no gradients are recorded" in done.stdout
    assert "pip install wherry-autograd" in done.stdout
    assert done.stdout.endswith("True\n")
