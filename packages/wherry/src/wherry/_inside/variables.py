"""Variables of static programs: in files of their own, and written in part."""
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import wherry
from wherry_graph.static.mode import paused
from wherry_tensor.errors import InvalidArgumentError

__all__ = ["load_vars", "save_vars", "setitem"]


def setitem(x: Any, index: Any, value: Any) -> Any:
    """`x` with `x[index] = value`, which leaves `x` as it is. Source: `paddle.static.setitem`."""
    y = x.clone()
    y[index] = value
    return y


def _chosen(main_program: Any, vars: Sequence[Any] | None, predicate: Callable[[Any], bool] | None) -> dict[str, Any]:
    program = wherry.static.default_main_program() if main_program is None else main_program
    names = None if vars is None else {each if isinstance(each, str) else each.name for each in vars}
    found = {}
    for variable in program.list_vars():
        if variable.name in names if names is not None else predicate is None or predicate(variable):
            found[variable.name] = variable
    return found


def save_vars(
    executor: Any, dirname: str, main_program: Any = None, vars: Sequence[Any] | None = None, predicate: Callable[[Any], bool] | None = None,
    filename: str | None = None,
) -> None:
    """Write variables of a program, each into a file of its name, or all into one.

    Args:
        executor: no effect.
        dirname: the folder.
        main_program: None is the default one.
        vars: which; None asks `predicate`.
        predicate: called with each variable.
        filename: of the one file.
    """
    program = wherry.static.default_main_program() if main_program is None else main_program
    state = program.state_dict()
    chosen = {name: state[name] for name in _chosen(main_program, vars, predicate) if name in state}
    os.makedirs(dirname, exist_ok=True)
    with paused():  # writing is not part of the program
        if filename is not None:
            wherry.save(chosen, os.path.join(dirname, filename))
        else:
            for name, value in chosen.items():
                wherry.save(value, os.path.join(dirname, name))


def load_vars(
    executor: Any, dirname: str, main_program: Any = None, vars: Sequence[Any] | None = None, predicate: Callable[[Any], bool] | None = None,
    filename: str | None = None,
) -> None:
    """Read what `save_vars` wrote into variables of a program.

    Raises:
        ValueError: a file does not have a variable.
    """
    program = wherry.static.default_main_program() if main_program is None else main_program
    names = [name for name in _chosen(main_program, vars, predicate) if name in program.state_dict()]
    with paused():
        together = None if filename is None else wherry.load(os.path.join(dirname, filename))
        state = {}
        for name in names:
            if together is not None and name not in together:
                raise InvalidArgumentError(f"load_vars: {filename} does not have {name}. Got {sorted(together)[:5]}, expected it. Save it too.")
            state[name] = wherry.load(os.path.join(dirname, name)) if together is None else together[name]
    program.set_state_dict(state)
