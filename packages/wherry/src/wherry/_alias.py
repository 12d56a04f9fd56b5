"""Makes `import paddle` mean `import wherry` in this process."""
from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType

__all__ = ["alias_paddle"]

# A folder with a package `paddle` that calls alias_paddle: for the processes that this one starts.
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_paddle_path")


def alias_paddle() -> None:
    """From now on `paddle` and `paddle.x.y` are `wherry` and `wherry.x.y`: the same modules, not copies.

    Call it before the first `import paddle`, in a script, a notebook or a conftest.py; `import wherry.alias` does the
    same, also as `pytest -p wherry.alias`. A Paddle that is installed is not imported any more. `__version__` is then
    that of the Paddle whose API this is, 2.6.2, so that version checks hold; `version.wherry_version` stays.

    Raises:
        RuntimeError: another `paddle` is imported already.

    Examples:
        >>> wherry.alias_paddle()
        >>> import paddle
        >>> paddle is wherry, paddle.__version__
        (True, '2.6.2')
    """
    import wherry
    from wherry import version
    from wherry_tensor.errors import PreconditionNotMetError

    there = sys.modules.get("paddle")
    if there not in (None, wherry):
        raise PreconditionNotMetError(
            f"alias_paddle: another paddle is imported already. Got the module of {getattr(there, '__file__', None)}, expected "
            f"none. Call alias_paddle() before the first `import paddle`."
        )
    if not any(isinstance(finder, _PaddleFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _PaddleFinder())  # before an installed Paddle
    wherry.__version__ = version.PADDLE_VERSION
    version.show_paddle()


def alias_in_children() -> None:
    """Let the Python processes that this one starts know `paddle` too."""
    if FOLDER not in sys.path:
        sys.path.append(FOLDER)  # multiprocessing hands its path on
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if FOLDER not in known:
        os.environ["PYTHONPATH"] = os.pathsep.join([FOLDER, *filter(None, known)])


class _PillowLoader(importlib.machinery.SourceFileLoader):
    """Brings `PIL.Image` along with `PIL`: Paddle has imported it by now, and libraries say `import PIL` and then `PIL.Image.Image`."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        importlib.import_module("PIL.Image")


class _PaddleFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name == "pip" and "setuptools" not in sys.modules:
            # Paddle has imported setuptools by now. It refuses to come after pip, which brings the standard library's distutils.
            with contextlib.suppress(ImportError):
                importlib.import_module("setuptools")
        if name == "PIL":
            spec = importlib.machinery.PathFinder.find_spec(name, path, target)
            if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
                spec.loader = _PillowLoader(spec.loader.name, spec.loader.path)
            return spec
        if name.partition(".")[0] != "paddle":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=not name.endswith(".__main__"))

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

    def get_code(self, name: str) -> CodeType | None:
        """The code of `python -m paddle.distributed.launch`: that of the module of ours, as the aliases are all called packages."""
        ours = "wherry" + name.removeprefix("paddle").removesuffix(".__main__")
        spec = importlib.util.find_spec(ours)
        if spec is not None and spec.submodule_search_locations and name.endswith(".__main__"):
            spec = importlib.util.find_spec(f"{spec.name}.__main__")  # its own name, where the path stands for another module
        if spec is None or not isinstance(spec.loader, importlib.abc.InspectLoader):
            raise ImportError(f"no code for {name!r}: Got python -m {name}, expected a module of Wherry that runs.", name=name)
        return spec.loader.get_code(spec.name)

    def __init__(self) -> None:
        self._true_specs: dict[ModuleType, importlib.machinery.ModuleSpec | None] = {}
