"""Names that the modules of the facade do not have: those behind Paddle's inner paths (`_doors`), those that are not here yet, and what
else may have been meant.

Attributes are asked through `looked_up`, imports through a finder that stands last on `sys.meta_path`: both say
the same.
"""
from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import opcode
import sys
from collections.abc import Callable, Collection, Sequence
from types import ModuleType
from typing import Any

from wherry._version import __version__
from wherry_tensor.suggestions import did_you_mean

# Names of Paddle that no package has yet, by module, and an alternative.
NOT_YET: dict[str, dict[str, str]] = {
    "optimizer": {"ASGD": "Use SGD or Momentum."},
    "": {
        "async_save": "Use wherry.save.",
    },
}


def text_for(module: str, name: str) -> str:
    """The error text for `module`.`name`, which does not exist; `module` is a path below the facade, "" for its top."""
    path = f"wherry.{module}".rstrip(".")
    if name in NOT_YET.get(module, {}):
        advice = NOT_YET[module][name]
        return (
            f"{path}.{name}: Paddle has it, but no package of Wherry {__version__} yet. "
            f"Got {name!r}, expected a name of dir({path}). {advice}"
        ).rstrip()
    found = sys.modules.get(path)
    return f"module {path!r} has no attribute {name!r}.{did_you_mean(name, dir(found), reaches=_reaches)}"


def _reaches(path: str) -> bool:
    """Whether the facade has this path."""
    module, _, name = path.rpartition(".")
    return hasattr(importlib.import_module(f"wherry.{module}"), name)


def explain(module: str, later: Collection[str] = ()) -> None:
    """Let a module of the facade, given by its full name, say what is wrong when it is asked for a name that it does not have.

    Each ends with it. Type checkers see no `__getattr__` then, and find misspelled names themselves. `later` names modules below it that are
    imported when they are first asked for: what stands on NumPy, which pages go without.
    """
    names = vars(sys.modules[module])
    names["__getattr__"] = looked_up(module, later)
    names.setdefault("__path__", [])  # modules below it may be among the doors
    for name, value in list(names.items()):  # `from wherry_sparse import *` brings that package's own `nn` along
        if isinstance(value, ModuleType):
            names[name] = sys.modules.get(f"{module}.{name}", value)


def looked_up(module: str, later: Collection[str] = ()) -> Callable[[str], Any]:
    """A `__getattr__` for a module of the facade, given its full name: what `later` and the tables of `_doors` have, or what is wrong."""
    path = module.partition(".")[2]

    def __getattr__(name: str) -> Any:
        if name in later:
            return importlib.import_module(f"{module}.{name}")
        if name.startswith("__") and name != "__git_commit__":  # asked for by the import system and by tools, which go on without it
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _doors = importlib.import_module("wherry._doors")  # not `from wherry import`, which would ask here for it
        with contextlib.suppress(LookupError):
            found = _doors.find(path, name)
            if module in sys.modules:
                setattr(sys.modules[module], name, found)  # not asked for again
            return found
        text = text_for(path, name)
        caller = sys._getframe(1)
        if caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM:  # which would make an error of its own of an AttributeError
            raise ImportError(text, name=module)
        raise AttributeError(text)

    return __getattr__


_IMPORT_FROM = opcode.opmap["IMPORT_FROM"]


class AbsentFinder(importlib.abc.MetaPathFinder):
    """Stands last: asked for a module below wherry that nobody found, it opens the door of this path, or says why there is none."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        parts = name.split(".")
        if parts[0] != "wherry" or len(parts) < 2:
            return None
        module, last = ".".join(parts[1:-1]), parts[-1]
        found = sys.modules.get(f"wherry.{module}".rstrip("."))
        if found is None or name == "wherry._doors":
            return None
        spec = importlib.import_module("wherry._doors").spec_of(".".join(parts[1:]))
        if spec is not None or last.startswith("_") or last in dir(found):
            return spec
        text = text_for(module, last)
        if last in NOT_YET.get(module, {}) or "Did you mean" in text or "Use " in text:
            # Without `name`: the import system keeps quiet about an error that names the module of a from-import.
            raise ModuleNotFoundError(text)
        return None


def install() -> None:
    """Put the finder at the end of the list."""
    if not any(isinstance(finder, AbsentFinder) for finder in sys.meta_path):
        sys.meta_path.append(AbsentFinder())
