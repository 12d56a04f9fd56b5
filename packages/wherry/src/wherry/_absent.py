"""Names that the facade does not have: Paddle's that are not here yet, and what else may have been meant.

Attributes are asked through `looked_up`, imports through a finder that stands last on `sys.meta_path`: both say
the same.
"""
from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import opcode
import sys
from collections.abc import Callable, Collection, Sequence
from types import ModuleType

from wherry_tensor.suggestions import did_you_mean

# Paddle's names that no package has yet, by module, and what to do meanwhile.
NOT_YET: dict[str, dict[str, str]] = {
    "": {
        "async_save": "Use wherry.save.",
        "audio": "",
        "base": "It is not public in Paddle either.",
        "dataset": "Use wherry.io.Dataset and DataLoader.",
        "hapi": "Use wherry.Model.",
        "quantization": "",
    },
    "distributed": {},
    "jit": {},
    "static": {},
}
_WORDS = {  # those of which one can only say that they are not here yet
    "distributed": """
        all_gather all_reduce alltoall barrier broadcast fleet gather irecv isend launch new_group ProcessMesh recv
        reduce reduce_scatter scatter send shard_tensor spawn split wait
    """,
}
for _module, _names in _WORDS.items():
    NOT_YET.setdefault(_module, {}).update(dict.fromkeys(_names.split(), ""))


def text_for(module: str, name: str) -> str:
    """What to say of `module`.`name`, which is not there; `module` is a path below the facade, "" for its top."""
    path = f"wherry.{module}".rstrip(".")
    if name in NOT_YET.get(module, {}):
        from wherry.version import wherry_version

        advice = NOT_YET[module][name]
        return (
            f"{path}.{name}: Paddle has it, but no package of Wherry {wherry_version} yet. "
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
    vars(sys.modules[module])["__getattr__"] = looked_up(module, later)


def looked_up(module: str, later: Collection[str] = ()) -> Callable[[str], ModuleType]:
    """A `__getattr__` for a module of the facade, given its full name: but for `later`, all it does is to say what is wrong."""
    path = module.partition(".")[2]

    def __getattr__(name: str) -> ModuleType:
        if name in later:
            return importlib.import_module(f"{module}.{name}")
        if name.startswith("__"):  # asked for by the import system and by tools, which go on without it
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        text = text_for(path, name)
        caller = sys._getframe(1)
        if caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM:  # which would make an error of its own of an AttributeError
            raise ImportError(text, name=module)
        raise AttributeError(text)

    return __getattr__


_IMPORT_FROM = opcode.opmap["IMPORT_FROM"]


class AbsentFinder(importlib.abc.MetaPathFinder):
    """Stands last: asked for a module below wherry that nobody found, it says why."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        parts = name.split(".")
        if parts[0] != "wherry" or len(parts) < 2:
            return None
        module, last = ".".join(parts[1:-1]), parts[-1]
        found = sys.modules.get(f"wherry.{module}".rstrip("."))
        if found is None or last.startswith("_") or last in dir(found):
            return None
        text = text_for(module, last)
        if last in NOT_YET.get(module, {}) or "Did you mean" in text or "Use " in text:
            # Without `name`: the import system keeps quiet about an error that names the module of a from-import.
            raise ModuleNotFoundError(text)
        return None


def install() -> None:
    """Put the finder at the end of the list."""
    if not any(isinstance(finder, AbsentFinder) for finder in sys.meta_path):
        sys.meta_path.append(AbsentFinder())
