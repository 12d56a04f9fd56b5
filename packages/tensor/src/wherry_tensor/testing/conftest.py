"""The device under test. The option itself is in wherry_pytest; see there."""
import os

import pytest

import wherry_tensor


@pytest.fixture(scope="session", autouse=True)
def wherry_device(request: pytest.FixtureRequest) -> str:
    """The device under test, which the kit makes its tensors on; wherry_pytest has made it the current one."""
    device = str(request.config.getoption("--wherry-device", os.environ.get("WHERRY_DEVICE", "cpu")))
    assert wherry_tensor.get_device().partition(":")[0] == device.partition(":")[0]
    return device
