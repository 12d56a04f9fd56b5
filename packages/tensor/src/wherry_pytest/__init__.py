"""The pytest option of the conformance kit, `--wherry-device`.

A plug-in of its own, because pytest reads options before it knows that a test lives in an installed
package, and outside wherry_tensor, so that unrelated test runs do not import that.
"""
from __future__ import annotations

import os
from typing import Any


def pytest_addoption(parser: Any) -> None:
    """Add --wherry-device."""
    parser.addoption(
        "--wherry-device",
        default=os.environ.get("WHERRY_DEVICE", "cpu"),
        help="the device whose kernels `pytest --pyargs wherry_tensor.testing` tests (default: $WHERRY_DEVICE or cpu)",
    )
