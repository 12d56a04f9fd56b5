import sys
from pathlib import Path

import pytest

import wherry_autograd  # noqa: F401  gives Tensor its gradient methods

sys.path.insert(0, str(Path(__file__).parent))  # for small_tensors

from small_tensors import make


@pytest.fixture
def x():
    return make([1.0, 2.0, 3.0], requires_grad=True)


@pytest.fixture
def y():
    return make([4.0, 5.0, 6.0], requires_grad=True)
