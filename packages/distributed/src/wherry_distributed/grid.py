"""The groups of the process that `fleet.init` has made."""
from __future__ import annotations

from typing import Any

from wherry_distributed.world import Group, world

_held: list[Any] = []


def current() -> Any:
    """The `HybridCommunicateGroup`; None before `fleet.init`."""
    return _held[0] if _held else None


def set_current(hcg: Any) -> None:
    """Take another one."""
    _held[:] = [] if hcg is None else [hcg]


def model_parallel_group(group: Group | None) -> Group:
    """The processes that divide layers: `group`, or those of `fleet.init`, or, before it, all."""
    if group is not None:
        return group
    hcg = current()
    return hcg.get_model_parallel_group() if hcg is not None else world.groups[0]  # type: ignore[no-any-return]
