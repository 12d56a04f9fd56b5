"""What a page gets when something imports it: the rest of Wherry, packages such as NumPy, and `paddle`."""
from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import io
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType


def offer(addresses: Mapping[str, str], fetch: Callable[[str], bytes], folder: str = "", *before: MetaPathFinder) -> None:
    """Have modules loaded when they are imported.

    Args:
        addresses: module or package -> address of the zip that holds it.
        fetch: gets the content of an address, and waits for it.
        folder: on `sys.path`, where the content goes; by default where Wherry is, as the rest of a package goes into the same folder.
        before: finders that are asked first.
    """
    # Ahead of Wherry's own last finder, which would make up a module of Paddle's paths that only is not there yet.
    behind = sys.meta_path.index(importlib.machinery.PathFinder) + 1
    sys.meta_path[behind:behind] = [*before, Finder(addresses, fetch, Path(folder or Path(__file__).parents[2]))]


class Finder(MetaPathFinder):
    """Asked last, for what is not there yet.

    Args:
        addresses: of the zip that holds a module, by the name of the module, or of the package that it is in.
        fetch: gets the content of an address, and waits for it.
        folder: on `sys.path`; the content goes there.
    """

    def __init__(self, addresses: Mapping[str, str], fetch: Callable[[str], bytes], folder: Path) -> None:
        self.addresses = dict(addresses)
        self.fetch = fetch
        self.folder = folder
        self.loaded: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        address = self.addresses.get(name) or self.addresses.get(name.partition(".")[0])
        if address is None:
            return None
        # A finder ahead of this one may have imported something of the same zip meanwhile, after the usual ones had been asked.
        if address not in self.loaded:
            content = self.fetch(address)
            self.loaded.add(address)
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                archive.extractall(self.folder)
            importlib.invalidate_caches()
        return importlib.machinery.PathFinder.find_spec(name, path)


class PaddleFinder(MetaPathFinder):
    """Makes `paddle` mean `wherry` when a program imports it, not before: `wherry.__version__` changes with it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != "paddle":
            return None
        import wherry

        sys.meta_path.remove(self)
        wherry.alias_paddle()
        return importlib.util.find_spec(name)
