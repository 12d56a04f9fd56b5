"""Kullback-Leibler divergence: the table of rules by the classes of both distributions, which kl.py fills."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained

if TYPE_CHECKING:
    from wherry_distribution.distribution import Distribution

__all__ = ["RULES", "kl_divergence"]

RULES: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Kullback-Leibler divergence KL(p || q): the expected log(p / q) under `p`, in nats.

    Args:
        p: a distribution.
        q: another one; the rule for the nearest base classes of both is used.

    Shape:
        The batch shapes of `p` and `q` broadcast to that of the result, `[...]`. Two Categoricals keep a last axis of size 1, as in Paddle.

    Raises:
        NotImplementedError: there is no rule for these classes; `register_kl` adds one.

    Source:
        `paddle.distribution.kl_divergence`.

    Examples:
        >>> from wherry.distribution import Normal, kl_divergence
        >>> print(kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0)).numpy())
        0.5
    """
    above_p, above_q = type(p).__mro__, type(q).__mro__
    found = [pair for pair in RULES if pair[0] in above_p and pair[1] in above_q]
    if not found:
        raise NotImplementedError(
            f"kl_divergence: there is no rule for these classes. Got {type(p).__name__} and {type(q).__name__}. Add one with "
            f"@register_kl({type(p).__name__}, {type(q).__name__})."
        )
    return RULES[min(found, key=lambda pair: above_p.index(pair[0]) + above_q.index(pair[1]))](p, q)


explained(globals())
