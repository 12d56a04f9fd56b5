"""`paddle.distribution`: distributions, transforms between them, and divergences."""
from wherry_distribution import constraint, transform, variable
from wherry_distribution.bernoulli import Bernoulli, Geometric
from wherry_distribution.categorical import Categorical, Multinomial
from wherry_distribution.continuous_bernoulli import ContinuousBernoulli
from wherry_distribution.counts import Binomial, Poisson
from wherry_distribution.dirichlet import Beta, Dirichlet
from wherry_distribution.distribution import Distribution
from wherry_distribution.divergence import kl_divergence
from wherry_distribution.exponential_family import ExponentialFamily
from wherry_distribution.gamma import Chi2, Exponential, Gamma
from wherry_distribution.independent import Independent
from wherry_distribution.kl import register_kl
from wherry_distribution.lkj_cholesky import LKJCholesky
from wherry_distribution.location_scale import Cauchy, Gumbel, Laplace
from wherry_distribution.multivariate_normal import MultivariateNormal
from wherry_distribution.normal import LogNormal, Normal
from wherry_distribution.student_t import StudentT
from wherry_distribution.transform import (
    AbsTransform,
    AffineTransform,
    ChainTransform,
    ExpTransform,
    IndependentTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
)
from wherry_distribution.transformed import TransformedDistribution
from wherry_distribution.uniform import Uniform

__all__ = [
    "StudentT",
    "Poisson",
    "MultivariateNormal",
    "LKJCholesky",
    "Gamma",
    "Exponential",
    "ContinuousBernoulli",
    "Chi2",
    "Binomial",
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Categorical",
    "Cauchy",
    "ChainTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "ExponentialFamily",
    "Geometric",
    "Gumbel",
    "Independent",
    "IndependentTransform",
    "Laplace",
    "LogNormal",
    "Multinomial",
    "Normal",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "constraint",
    "kl_divergence",
    "register_kl",
    "transform",
    "variable",
]

__version__ = "0.6.0"
