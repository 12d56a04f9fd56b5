"""The testing kit: one spec per op drives the tests of every column.

    from wherry_tensor.testing import bad, case, spec

A spec is a generator of inputs next to a NumPy reference. The kit runs each op's kernels, shape
rule, decomposition and gradient on them; nobody writes such a test by hand. Installed from the
wheel it is the conformance kit of a device plug-in:

    pytest --pyargs wherry_tensor.testing --wherry-device my_device
"""
from wherry_tensor.testing.specs import Spec, bad, case, spec

__all__ = ["Spec", "bad", "case", "spec"]
