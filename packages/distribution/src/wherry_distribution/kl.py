"""Closed forms of Kullback-Leibler divergences, registered by the classes of both distributions."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from wherry_distribution.bernoulli import Bernoulli, Geometric
from wherry_distribution.categorical import Categorical
from wherry_distribution.continuous_bernoulli import ContinuousBernoulli
from wherry_distribution.counts import Binomial, Poisson
from wherry_distribution.dirichlet import Beta, Dirichlet
from wherry_distribution.distribution import Distribution, total
from wherry_distribution.divergence import RULES, kl_divergence
from wherry_distribution.exponential_family import ExponentialFamily, expanded
from wherry_distribution.gamma import Exponential, Gamma
from wherry_distribution.independent import Independent
from wherry_distribution.location_scale import Cauchy, Laplace
from wherry_distribution.multivariate_normal import MultivariateNormal, mahalanobis
from wherry_distribution.normal import LogNormal, Normal
from wherry_distribution.uniform import Uniform
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.factorization import triangular_solve
from wherry_tensor.functions.movement import broadcast_shape, expand

__all__ = ["register_kl"]

_Rule = TypeVar("_Rule", bound=Callable[..., Any])


def register_kl(cls_p: type[Distribution], cls_q: type[Distribution]) -> Callable[[_Rule], _Rule]:
    """Register a function as the rule of `kl_divergence` for two classes and their subclasses.

    Args:
        cls_p: class of the first distribution.
        cls_q: class of the second one.

    Raises:
        TypeError: an argument is not a subclass of Distribution (also a ValueError).

    Source:
        `paddle.distribution.register_kl`.

    Examples:
        >>> from wherry.distribution import Cauchy, Normal, register_kl
        >>> @register_kl(Cauchy, Normal)
        ... def kl_cauchy_normal(p, q):
        ...     return wherry.full(p.batch_shape, float("inf"))
    """
    for given in (cls_p, cls_q):
        if not (isinstance(given, type) and issubclass(given, Distribution)):
            raise InvalidTypeError(
                f"register_kl: an argument is not a class of distributions. Got {short(given)}, expected a subclass of Distribution. Write "
                f"Normal, say."
            )

    def add(rule: _Rule) -> _Rule:
        RULES[cls_p, cls_q] = rule
        return rule

    return add


@register_kl(Bernoulli, Bernoulli)
def kl_bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    return p.probs * (ops.log_sigmoid(p.logits) - ops.log_sigmoid(q.logits)) + (1 - p.probs) * (
        ops.log_sigmoid(-p.logits) - ops.log_sigmoid(-q.logits)
    )


@register_kl(Beta, Beta)
def kl_beta(p: Beta, q: Beta) -> Tensor:
    return kl_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Categorical, Categorical)
def kl_categorical(p: Categorical, q: Categorical) -> Tensor:
    last = p.logits.ndim - 1
    mine, other = ops.log_softmax(p.logits, axis=last), ops.log_softmax(q.logits, axis=q.logits.ndim - 1)
    return ops.reduce_sum(ops.exp(mine) * (mine - other), axes=(max(last, q.logits.ndim - 1),), keepdim=True)


@register_kl(Cauchy, Cauchy)
def kl_cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    # Chyzak & Nielsen (2019), A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions.
    wide, apart = p.scale + q.scale, p.loc - q.loc
    return ops.log((wide * wide + apart * apart) / (4 * p.scale * q.scale))


@register_kl(Dirichlet, Dirichlet)
def kl_dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    c, d = p.concentration, q.concentration
    whole = p._sum()
    distance = (c - d) * (ops.digamma(c) - ops.unsqueeze(ops.digamma(whole), axes=(whole.ndim,)))
    return ops.lgamma(whole) - ops.lgamma(q._sum()) - total(ops.lgamma(c) - ops.lgamma(d), 1) + total(distance, 1)


@register_kl(ExponentialFamily, ExponentialFamily)
def kl_exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of their normalizers."""
    if type(p) is not type(q):
        raise NotImplementedError(
            f"kl_divergence: there is no rule for these classes. Got {type(p).__name__} and {type(q).__name__}. Add one with "
            f"@register_kl({type(p).__name__}, {type(q).__name__})."
        )
    natural, normalizer, slopes = expanded(p)
    divergence = q._log_normalizer(*q._natural_parameters) - normalizer
    for mine, other, slope in zip(natural, q._natural_parameters, slopes, strict=True):
        divergence = divergence - total((other - mine) * slope, len(p.event_shape))
    return divergence


@register_kl(Geometric, Geometric)
def kl_geometric(p: Geometric, q: Geometric) -> Tensor:
    fails = 1 - p.probs
    return ops.log(p.probs / q.probs) + fails / p.probs * (ops.log1p(-p.probs) - ops.log1p(-q.probs))


@register_kl(Independent, Independent)
def kl_independent(p: Independent, q: Independent) -> Tensor:
    if p._reinterpreted_batch_rank != q._reinterpreted_batch_rank:
        raise NotImplementedError(
            f"kl_divergence: the events have different ranks. Got {p._reinterpreted_batch_rank} and {q._reinterpreted_batch_rank} axes, "
            f"expected one number. Change one of them."
        )
    return total(kl_divergence(p._base, q._base), p._reinterpreted_batch_rank)


@register_kl(Laplace, Laplace)
def kl_laplace(p: Laplace, q: Laplace) -> Tensor:
    apart = ops.abs(p.loc - q.loc)
    return ops.log(q.scale / p.scale) + apart / q.scale + p.scale / q.scale * ops.exp(-apart / p.scale) - 1


@register_kl(LogNormal, LogNormal)
def kl_log_normal(p: LogNormal, q: LogNormal) -> Tensor:
    return kl_normal(p._normal, q._normal)


@register_kl(Normal, Normal)
def kl_normal(p: Normal, q: Normal) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return 0.5 * (ratio * ratio + apart * apart - 1) - ops.log(ratio)


@register_kl(Uniform, Uniform)
def kl_uniform(p: Uniform, q: Uniform) -> Tensor:
    inside = ops.logical_and(ops.less_equal(q.low, p.low), ops.less_equal(p.high, q.high))
    width = ops.log((q.high - q.low) / (p.high - p.low))
    return ops.where(inside, width, ops.full(shape=(), value=math.inf, dtype=width.dtype))


@register_kl(Gamma, Gamma)
def kl_gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    scale = q.rate / p.rate
    return b * (ops.log(p.rate) - ops.log(q.rate)) + ops.lgamma(b) - ops.lgamma(a) + (a - b) * ops.digamma(a) + a * (scale - 1.0)


@register_kl(Exponential, Exponential)
def kl_exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1.0 - ops.log(ratio)


@register_kl(Poisson, Poisson)
def kl_poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (ops.log(p.rate) - ops.log(q.rate)) - (p.rate - q.rate)


@register_kl(Binomial, Binomial)
def kl_binomial(p: Binomial, q: Binomial) -> Tensor:
    a, b = p.probs, q.probs
    return p.total_count * (a * (ops.log(a) - ops.log(b)) + (1.0 - a) * (ops.log1p(-a) - ops.log1p(-b)))  # type: ignore[no-any-return]


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def kl_continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    low, high = ops.log1p(-q.probs), ops.log(q.probs)
    return -p.entropy() - p.mean * (high - low) - low - q._log_constant()


@register_kl(MultivariateNormal, MultivariateNormal)
def kl_multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    a, b = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
    n = p.event_shape[0]
    quotient = triangular_solve(expand(b, [*batch, n, n]), expand(a, [*batch, n, n]), upper=False)
    spread = total(ops.square(quotient), 2)
    return q._log_determinant() - p._log_determinant() + 0.5 * (spread + mahalanobis(b, q.loc - p.loc) - n)


explained(globals())
