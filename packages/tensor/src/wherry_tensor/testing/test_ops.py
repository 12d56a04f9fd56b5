"""Every check of the kit on every op: one test per pair.

Run it with `pytest --pyargs wherry_tensor.testing`, and `-k softmax` or `-k vjp` for a part.
"""
import importlib
import importlib.util

import pytest

from wherry_tensor import columns
from wherry_tensor.ops import registry
from wherry_tensor.ops.declare import decompose, infer
from wherry_tensor.testing import kit

if importlib.util.find_spec("wherry_autograd") is not None:
    importlib.import_module("wherry_autograd")  # brings the vjp column; this package imports none of those above it


def _pairs():
    for op, spec in sorted(kit.specs.items(), key=lambda item: item[0].name):
        for check in kit.checks:
            if kit.applies(check, spec):
                yield pytest.param(check, spec, id=f"{check}-{op.name}")


@pytest.mark.parametrize(("check", "spec"), list(_pairs()))
def test_op(check, spec):
    kit.checks[check](spec)


def test_every_op_has_samples():
    missing = [name for name, op in registry.items() if op not in kit.specs]
    assert not missing, f"ops without samples: {', '.join(missing)}. Add a spec to testing/samples/<family>.py"


def test_every_op_has_a_shape_rule():
    missing = [name for name, op in registry.items() if op not in infer]
    assert not missing, f"ops without a shape rule: {', '.join(missing)}. Add infer_<op> beside the declaration"


def test_every_op_says_how_it_is_differentiated():
    vjp = columns.registry.get("vjp")
    if vjp is None:
        pytest.skip("wherry-autograd is not installed")
    missing = [
        name for name, op in registry.items() if op not in vjp and op not in vjp.exemptions and op not in decompose
    ]
    assert not missing, f"ops without a gradient or a reason: {', '.join(missing)}. Add vjp_<op> or not_differentiable"
