"""The public page of the package."""
import subprocess
import sys

import pytest

import wherry_vision
from wherry_vision import image, transforms


def test_lists_the_names_of_modules_that_load_later():
    assert set(wherry_vision._LATER["transforms"].split()) == set(transforms.__all__)
    assert set(wherry_vision._LATER["image"].split()) == set(image.__all__)


def test_models_need_no_numpy():
    program = "import sys, wherry_vision; wherry_vision.models.LeNet(); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_is_no_path_is_refused():
    with pytest.raises(TypeError, match=r"path is not a str. Got 3 \(int\)"):
        image.image_load(3)
