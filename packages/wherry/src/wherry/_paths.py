"""Paths inside Paddle's packages that programs import from: `paddle.tensor.math.add`, `paddle.nn.layer.norm.LayerNorm`.

Which file of Paddle holds a name is no part of its interface, so each of these modules offers all names of its
package.
"""
from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType

from wherry import _absent


def offer(package: ModuleType, names: Iterable[str], holders: Iterable[ModuleType]) -> None:
    """Make modules `names` inside `package`, each with the public names of `holders`."""
    public = {name: getattr(holder, name) for holder in holders for name in holder.__all__}
    for name in names:
        module = ModuleType(f"{package.__name__}.{name}", f"Names of `{package.__name__}`, by the path that Paddle has for some.")
        vars(module).update(public, __all__=sorted(public), __package__=package.__name__)
        sys.modules[module.__name__] = module
        _absent.explain(module.__name__)
        if name not in package.__all__:  # paddle.tensor.einsum is the function
            setattr(package, name, module)
