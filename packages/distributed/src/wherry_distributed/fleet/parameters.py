"""`hybrid_parallel_util`: what training loops of libraries call by hand."""
from __future__ import annotations

from typing import Any

from wherry_distributed import grid
from wherry_distributed.fleet.optimizers import unwrap_optimizer
from wherry_distributed.parallel import fused_allreduce_gradients_with_group

__all__ = ["fused_allreduce_gradients", "obtain_optimizer_parameters_list", "unwrap_optimizer"]


def fused_allreduce_gradients(parameter_list: Any, hcg: Any = None) -> None:
    """Average gradients over the processes that see different samples.

    Args:
        parameter_list: parameters, or groups of them as optimizers take them.
        hcg: the groups; None as `fleet.init` has made them, or, before it, all processes.
    """
    hcg = hcg or grid.current()
    fused_allreduce_gradients_with_group(parameter_list, None if hcg is None else hcg.get_dp_sep_parallel_group())


def obtain_optimizer_parameters_list(optimizer: Any) -> list[Any]:
    """All parameters of an optimizer, those of groups too."""
    found = []
    for each in optimizer._parameter_list:
        found += list(each["params"]) if isinstance(each, dict) else [each]
    return found
