"""Options of the conformance kit."""
import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--wherry-device",
        default=os.environ.get("WHERRY_DEVICE", "cpu"),
        help="the device whose kernels are tested: cpu, or the name of a plug-in's (default: $WHERRY_DEVICE or cpu)",
    )


@pytest.fixture(scope="session", autouse=True)
def wherry_device(request: pytest.FixtureRequest) -> str:
    """The device under test, made the current one."""
    import wherry_tensor

    device = str(request.config.getoption("--wherry-device"))
    wherry_tensor.set_device(device)
    return device
