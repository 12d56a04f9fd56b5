"""Makes `import paddle` mean `import wherry` in this process."""
from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType


def alias_paddle() -> None:
    """From now on `paddle` and `paddle.x.y` are `wherry` and `wherry.x.y`: the same modules, not copies."""
    if not any(isinstance(finder, _PaddleFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _PaddleFinder())  # before an installed Paddle


class _PaddleFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != "paddle":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        ours = "wherry" + spec.name.removeprefix("paddle")
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name != ours:
                raise
            raise ModuleNotFoundError(
                f"no module named {spec.name!r}: this Wherry has no {ours!r} yet", name=spec.name
            ) from None
        self._true_specs[module] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put the alias's spec on the module, which already runs under its own.
        module.__spec__ = self._true_specs.pop(module)

    def __init__(self) -> None:
        self._true_specs: dict[ModuleType, importlib.machinery.ModuleSpec | None] = {}
