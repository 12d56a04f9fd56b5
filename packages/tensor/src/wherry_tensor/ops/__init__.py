"""The op vocabulary: every noun of the framework on one page.

An op is a name, its tensor inputs and its attributes, declared in the module of its family next to
its shape rule and decomposition. What else can be known about it stands in the columns of other
packages. `python -m wherry ops` prints the whole matrix.
"""
from wherry_tensor._core import VOCABULARY_VERSION, Op, registry, start
from wherry_tensor.ops.activation import *  # noqa: F403
from wherry_tensor.ops.attention import *  # noqa: F403
from wherry_tensor.ops.contraction import *  # noqa: F403
from wherry_tensor.ops.convolution import *  # noqa: F403
from wherry_tensor.ops.convolution3d import *  # noqa: F403
from wherry_tensor.ops.creation import *  # noqa: F403
from wherry_tensor.ops.elementwise import *  # noqa: F403
from wherry_tensor.ops.indexing import *  # noqa: F403
from wherry_tensor.ops.loss import *  # noqa: F403
from wherry_tensor.ops.movement import *  # noqa: F403
from wherry_tensor.ops.normalization import *  # noqa: F403
from wherry_tensor.ops.optimizer import *  # noqa: F403
from wherry_tensor.ops.random import *  # noqa: F403
from wherry_tensor.ops.recurrent import *  # noqa: F403
from wherry_tensor.ops.reduction import *  # noqa: F403
from wherry_tensor.ops.resampling import *  # noqa: F403
from wherry_tensor.ops.sequence import *  # noqa: F403

__all__ = ["VOCABULARY_VERSION", "Op", "registry", *registry]


def __getattr__(name: str) -> Op:
    raise AttributeError(
        f"there is no op '{name}'. Got ops.{name}, expected one of the {len(registry)} ops that are declared here. "
        f"If an installed package asks for it, that package is newer: pip install --upgrade wherry-tensor"
    )


start()  # the core looks up the ops behind Python's operators
