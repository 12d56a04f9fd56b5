"""The op vocabulary: every noun of the framework on one page.

An op is a name, its tensor inputs and its attributes, declared in the module of its family next to
its shape rule and decomposition. What else can be known about it stands in the columns of other
packages. `python -m wherry ops` prints the whole matrix.
"""
from importlib import import_module

from wherry_tensor._core import VOCABULARY_VERSION, Op, registry, start

for _family in (
    "activation", "attention", "blocked", "contraction", "convolution", "convolution3d", "creation", "detection", "elementwise", "indexing",
    "linalg", "loss", "movement", "normalization", "optimizer", "random", "recurrent", "reduction", "resampling", "sequence", "sparse",
    "spectral",
):
    import_module(f"wherry_tensor.ops.{_family}")  # declares its ops in the registry

globals().update(registry)  # `attention` is a family and an op: the op has the name

__all__ = ["VOCABULARY_VERSION", "Op", "registry", *registry]


def __getattr__(name: str) -> Op:
    if name in registry:  # declared since then, by another package
        return registry[name]
    raise AttributeError(
        f"there is no op '{name}'. Got ops.{name}, expected one of the {len(registry)} ops that are declared here. "
        f"If an installed package asks for it, that package is newer: pip install --upgrade wherry-tensor"
    )


start()  # the core looks up the ops behind Python's operators
