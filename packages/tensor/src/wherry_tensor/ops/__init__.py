"""All ops.

An op is a name, its tensor inputs and its attributes, declared in the module of its family next to
its shape rule and decomposition. What else can be known about it stands in the columns of other
packages. `python -m wherry ops` prints the whole matrix.
"""
from wherry_tensor._core import VOCABULARY_VERSION, Op, registry, start
from wherry_tensor.columns import load_families

load_families(__name__, (  # which declare their ops in the registry
    "activation", "attention", "blocked", "contraction", "convolution", "convolution3d", "creation", "detection", "elementwise", "indexing",
    "linalg", "loss", "movement", "normalization", "optimizer", "quantization", "quantized", "random", "recurrent", "reduction",
    "pictures", "resampling", "sequence", "sparse", "spectral", "weight_only",
))

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
