"""The pytest option of the conformance kit, `--wherry-device`.

A plug-in of its own, because pytest reads options before it knows that a test lives in an installed
package, and outside wherry_tensor, so that unrelated test runs do not import that: nothing happens
unless a device other than the cpu is named.
"""
from __future__ import annotations

import os
from typing import Any


def pytest_addoption(parser: Any) -> None:
    """Add --wherry-device."""
    parser.addoption(
        "--wherry-device",
        default=os.environ.get("WHERRY_DEVICE", "cpu"),
        help="the device that tensors are made on and whose kernels `pytest --pyargs wherry_tensor.testing` tests: cpu, an "
             "installed device, `reference` (the kit's own), `reference_few` (with the kernels that a device must have), or "
             "`reference_cached` (default: $WHERRY_DEVICE or cpu)",
    )


def pytest_configure(config: Any) -> None:
    """Make the device under test the current one before any test is imported."""
    device = str(config.getoption("--wherry-device"))
    if device == "cpu":
        return
    import wherry_tensor

    if device.partition("_")[0] == "reference":
        from wherry_tensor.testing import reference

        reference.register(device, few=device == "reference_few", caching=device == "reference_cached")
    wherry_tensor.set_device(device)
