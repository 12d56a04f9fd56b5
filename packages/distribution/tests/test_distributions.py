"""Distributions: draws against their own moments and densities, densities against integrals, divergences against draws."""
import math

import numpy as np
import pytest

import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distribution import (
    AbsTransform,
    AffineTransform,
    Bernoulli,
    Beta,
    Categorical,
    Cauchy,
    ChainTransform,
    Dirichlet,
    Distribution,
    ExponentialFamily,
    ExpTransform,
    Geometric,
    Gumbel,
    Independent,
    IndependentTransform,
    Laplace,
    LogNormal,
    Multinomial,
    Normal,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    TransformedDistribution,
    Uniform,
    constraint,
    kl_divergence,
    register_kl,
    variable,
)

wherry_ops_cpu.column.register()

DRAWS = 40_000
f64 = "float64"


def tensor(values, **options):
    return wt.to_tensor(np.array(values, f64), **options)


CONTINUOUS = {
    "Normal": (lambda: Normal(tensor([0.5, -1.0]), tensor([1.0, 2.5])), -40, 40),
    "LogNormal": (lambda: LogNormal(tensor([0.1, 0.2]), tensor([0.5, 0.3])), 1e-9, 60),
    "Uniform": (lambda: Uniform(tensor([0.0, -2.0]), tensor([1.0, 3.0])), -3, 4),
    "Beta": (lambda: Beta(tensor([2.0, 1.5]), tensor([3.0, 2.5])), 1e-12, 1 - 1e-12),
    "Cauchy": (lambda: Cauchy(tensor([0.1, 1.0]), tensor([0.5, 1.0])), -20_000, 20_000),
    "Gumbel": (lambda: Gumbel(tensor([0.1, 1.0]), tensor([0.5, 1.0])), -8, 60),
    "Laplace": (lambda: Laplace(tensor([0.1, 1.0]), tensor([0.5, 1.0])), -60, 60),
    "Transformed": (lambda: TransformedDistribution(Normal(tensor([0.0, 0.5]), tensor([1.0, 0.5])), [SigmoidTransform()]), 1e-9, 1 - 1e-9),
}
DISCRETE = {
    "Bernoulli": (lambda: Bernoulli(tensor([0.2, 0.7])), 2),
    "Geometric": (lambda: Geometric(tensor([0.2, 0.7])), 200),
    "Categorical": (lambda: Categorical(tensor([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0]])), 3),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_density_has_the_integral_1_and_the_moments_that_are_said(name):
    make, low, high = CONTINUOUS[name]
    distribution = make()
    x = np.sort(np.concatenate([np.linspace(low, high, 400_001), np.linspace(-5, 5, 200_001).clip(low, high)]))
    density = distribution.prob(tensor(x)[:, None].expand([x.size, 2])).numpy()
    # A Cauchy density has a thousandth of its mass so far out that nobody integrates there.
    within = 1e-4 if name == "Cauchy" else 1e-5
    np.testing.assert_allclose(np.trapezoid(density, x, axis=0), 1, rtol=within)
    if name not in ("Cauchy", "Transformed"):
        mean = np.trapezoid(density * x[:, None], x, axis=0)
        np.testing.assert_allclose(distribution.mean.numpy(), mean, rtol=1e-4)
        spread = np.trapezoid(density * (x[:, None] - mean) ** 2, x, axis=0)
        np.testing.assert_allclose(distribution.variance.numpy(), spread, rtol=1e-3)
    if name not in ("Cauchy", "Transformed"):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(density > 0, -density * np.log(density), 0)
        np.testing.assert_allclose(distribution.entropy().numpy(), np.trapezoid(terms, x, axis=0), rtol=1e-4)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_draws_are_where_the_density_says(name):
    wt.seed(3)
    distribution = CONTINUOUS[name][0]()
    drawn = distribution.sample([DRAWS]).numpy()
    assert drawn.shape == (DRAWS, 2)
    # The share of draws below their quartiles' midpoints, against the integral of the density up to there.
    for column in (0, 1):
        low, middle, high = np.quantile(drawn[:, column], [0.1, 0.5, 0.9])
        x = np.linspace(low, high, 4001)
        both = np.stack([x, x], 1)
        density = distribution.prob(tensor(both)).numpy()[:, column]
        assert abs(np.trapezoid(density, x) - 0.8) < 0.01
        below = x <= middle
        assert abs(np.trapezoid(density[below], x[below]) - 0.4) < 0.01


@pytest.mark.parametrize("name", DISCRETE)
def test_draws_come_as_often_as_their_probability(name):
    wt.seed(3)
    make, count = DISCRETE[name]
    distribution = make()
    drawn = distribution.sample([DRAWS]).numpy()
    assert drawn.shape == (DRAWS, 2)
    values = np.arange(count).astype("int64")
    value = wt.to_tensor(values) if name == "Categorical" else tensor(np.stack([values, values], 1))
    probability = distribution.prob(value).numpy()
    probability = probability.T if name == "Categorical" else probability
    np.testing.assert_allclose(probability.sum(0), 1, rtol=1e-9)
    if name == "Categorical":  # draws take the logits for logarithms, as Paddle's do
        probability = np.exp(distribution.logits.numpy().T)
        probability /= probability.sum(0)
    for column in (0, 1):
        shares = [(drawn[:, column] == v).mean() for v in values]
        np.testing.assert_allclose(shares, probability[:, column], atol=0.01)
    if name != "Categorical":
        mean = (probability * values[:, None]).sum(0)
        np.testing.assert_allclose(distribution.mean.numpy(), mean, rtol=1e-9)
        np.testing.assert_allclose(distribution.variance.numpy(), (probability * (values[:, None] - mean) ** 2).sum(0), rtol=1e-9)
        np.testing.assert_allclose(distribution.entropy().numpy(), -(probability * np.log(probability)).sum(0), rtol=1e-9)


@pytest.mark.parametrize("concentration", [0.001, 0.3, 1.0, 30.0])
def test_dirichlet_draws_are_probabilities_with_its_moments(concentration):
    wt.seed(5)
    distribution = Dirichlet(tensor([concentration, 2 * concentration, 3 * concentration]))
    drawn = distribution.sample([DRAWS]).numpy()
    assert np.isfinite(drawn).all()
    np.testing.assert_allclose(drawn.sum(-1), 1, rtol=1e-12)
    np.testing.assert_allclose(drawn.mean(0), distribution.mean.numpy(), atol=0.01)
    np.testing.assert_allclose(drawn.var(0), distribution.variance.numpy(), atol=0.01)


def test_entropies_of_vectors_are_means_of_their_logarithms():
    wt.seed(6)
    for distribution in (Dirichlet(tensor([1.5, 2.0, 3.0])), Multinomial(7, tensor([0.2, 0.3, 0.5])), Beta(tensor(1.5), tensor(4.0))):
        mean = -distribution.log_prob(distribution.sample([DRAWS])).numpy().mean()
        assert abs(distribution.entropy().item() - mean) < 0.02


def test_multinomial_counts_have_its_moments_and_sum():
    wt.seed(7)
    distribution = Multinomial(12, tensor([[1.0, 3.0], [2.0, 2.0]]))
    drawn = distribution.sample([5000]).numpy()
    assert drawn.shape == (5000, 2, 2)
    assert (drawn.sum(-1) == 12).all()
    np.testing.assert_allclose(drawn.mean(0), distribution.mean.numpy(), atol=0.1)
    np.testing.assert_allclose(drawn.var(0), distribution.variance.numpy(), atol=0.15)
    certain = Multinomial(3, tensor([1.0, 0.0]))
    assert certain.log_prob(tensor([3.0, 0.0])).item() == 0.0
    assert certain.entropy().item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (Normal, (0.5, 1.5)), (LogNormal, (0.1, 0.4)), (Uniform, (-1.0, 2.0)), (Cauchy, (0.5, 1.5)), (Gumbel, (0.5, 1.5)), (Laplace, (0.5, 1.5)),
        (lambda loc, scale: TransformedDistribution(Normal(loc, scale), [TanhTransform()]), (0.5, 1.5)),
        (lambda loc, scale: Independent(Normal(loc, scale), 1), ([0.5], [1.5])),
    ],
)
def test_draws_move_with_their_parameters(make, parameters):
    def drawn(*values):
        wt.seed(11)
        return make(*values).rsample([50])

    leaves = [tensor(p, stop_gradient=False) for p in parameters]
    drawn(*leaves).sum().backward()
    for at, leaf in enumerate(leaves):
        ends = [drawn(*(tensor(p) + (h if at == i else 0.0) for i, p in enumerate(parameters))).sum().item() for h in (1e-6, -1e-6)]
        assert leaf.grad.sum().item() == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)


def test_relaxed_bernoulli_draws_move_with_the_probability():
    wt.seed(2)
    p = tensor([0.3, 0.6], stop_gradient=False)
    relaxed = wt.ops.sigmoid(Bernoulli(p).rsample([DRAWS], temperature=0.05))
    np.testing.assert_allclose(relaxed.numpy().mean(0), [0.3, 0.6], atol=0.02)
    relaxed.mean().backward()
    assert (p.grad.numpy() > 0).all()


PAIRS = [
    (Normal(tensor(0.0), tensor(1.0)), Normal(tensor(1.0), tensor(2.0))),
    (LogNormal(tensor(0.0), tensor(1.0)), LogNormal(tensor(1.0), tensor(2.0))),
    (Uniform(tensor(0.0), tensor(1.0)), Uniform(tensor(-1.0), tensor(2.0))),
    (Laplace(tensor(0.0), tensor(1.0)), Laplace(tensor(1.0), tensor(2.0))),
    (Cauchy(tensor(0.0), tensor(1.0)), Cauchy(tensor(1.0), tensor(2.0))),
    (Beta(tensor(2.0), tensor(3.0)), Beta(tensor(1.5), tensor(1.5))),
    (Dirichlet(tensor([2.0, 3.0, 1.0])), Dirichlet(tensor([1.5, 1.5, 2.0]))),
    (Bernoulli(tensor(0.3)), Bernoulli(tensor(0.6))),
    (Geometric(tensor(0.3)), Geometric(tensor(0.6))),
    (Independent(Normal(tensor([0.0, 1.0]), tensor(1.0)), 1), Independent(Normal(tensor([1.0, 1.0]), tensor(2.0)), 1)),
]


@pytest.mark.parametrize(("p", "q"), PAIRS, ids=lambda d: type(d).__name__)
def test_divergence_is_the_mean_difference_of_logarithms(p, q):
    wt.seed(9)
    x = p.sample([4 * DRAWS])
    mean = (p.log_prob(x) - q.log_prob(x)).numpy().mean()
    assert kl_divergence(p, q).item() == pytest.approx(mean, abs=0.02)
    assert p.kl_divergence(p).item() == pytest.approx(0, abs=1e-12)


def test_divergence_of_uniforms_is_infinite_where_one_reaches_beyond():
    assert kl_divergence(Uniform(0.0, 2.0), Uniform(0.0, 1.0)).item() == math.inf


def test_divergence_of_an_exponential_family_comes_from_its_normalizer():
    class Poisson(ExponentialFamily):
        def __init__(self, rate):
            self.rate = rate
            super().__init__(rate.shape)

        @property
        def _natural_parameters(self):
            return (wt.log(self.rate),)

        def _log_normalizer(self, x):
            return wt.exp(x)

        _mean_carrier_measure = 0.0

    class Counts(Poisson):
        pass

    p, q = Poisson(tensor([2.0, 3.0])), Poisson(tensor([1.0, 3.0]))
    np.testing.assert_allclose(kl_divergence(p, q).numpy(), [2 * math.log(2) - 1, 0], atol=1e-12)
    np.testing.assert_allclose(p.entropy().numpy(), [2 - 2 * math.log(2), 3 - 3 * math.log(3)])
    with pytest.raises(NotImplementedError, match="Poisson and Counts"):
        kl_divergence(p, Counts(tensor([1.0, 1.0])))


def test_the_rule_of_the_nearest_classes_is_taken():
    class Mine(Normal):
        pass

    mine = Mine(0.0, 1.0)
    assert kl_divergence(mine, Normal(0.0, 1.0)).item() == 0

    @register_kl(Mine, Normal)
    def rule(p, q):
        return "mine"

    assert kl_divergence(mine, mine) == "mine"
    assert kl_divergence(Normal(0.0, 1.0), mine).item() == 0


def test_gradients_of_divergence_and_entropy_reach_parameters():
    scale = tensor(2.0, stop_gradient=False)
    (kl_divergence(Normal(tensor(0.0), scale), Normal(tensor(0.0), tensor(1.0))) + Normal(tensor(0.0), scale).entropy()).backward()
    assert scale.grad.item() == pytest.approx(2.0)  # (s^2 - 1) / 2 - log s + log s + constants
    c = tensor([1.5, 2.5], stop_gradient=False)
    (Dirichlet(c).entropy() + ExponentialFamily.entropy(_with_carrier(c))).backward()
    assert np.isfinite(c.grad.numpy()).all()


def _with_carrier(c):
    class Carried(Dirichlet):
        _mean_carrier_measure = 0.0

    return Carried(c)


# Transforms.

INVERTIBLE = {
    "exp": (lambda: ExpTransform(), [0.3, -0.5]),
    "affine": (lambda: AffineTransform(tensor([1.0, 2.0]), tensor([-2.0, 0.5])), [0.3, -0.5]),
    "power": (lambda: PowerTransform(tensor([2.0, 3.0])), [0.3, 1.5]),
    "sigmoid": (lambda: SigmoidTransform(), [0.3, -0.5]),
    "tanh": (lambda: TanhTransform(), [0.3, -0.5]),
    "chain": (lambda: ChainTransform([AffineTransform(tensor(1.0), tensor(2.0)), ExpTransform(), PowerTransform(tensor(0.5))]), [0.3, -0.5]),
    "stack": (lambda: StackTransform([ExpTransform(), TanhTransform()], -1), [0.3, -0.5]),
}


@pytest.mark.parametrize("name", INVERTIBLE)
def test_transforms_of_numbers_go_back_and_know_their_derivative(name):
    make, values = INVERTIBLE[name]
    transform, x = make(), tensor(values, stop_gradient=False)
    y = transform.forward(x)
    np.testing.assert_allclose(transform.inverse(y).numpy(), values, rtol=1e-9)
    y.sum().backward()
    slope = np.log(np.abs(x.grad.numpy()))
    found = transform.forward_log_det_jacobian(x.detach()).numpy()
    np.testing.assert_allclose(np.broadcast_to(found, [2]), slope, rtol=1e-9)
    np.testing.assert_allclose(np.broadcast_to(transform.inverse_log_det_jacobian(y.detach()).numpy(), [2]), -slope, rtol=1e-9)
    if name != "stack":  # which is one of vectors
        np.testing.assert_allclose(IndependentTransform(transform, 1)._summed_jacobian(x.detach(), 1).numpy(), slope.sum())


def test_stick_breaking_goes_back_and_knows_its_determinant():
    transform, x = StickBreakingTransform(), tensor([0.3, -0.5, 1.0])
    y = transform.forward(x)
    assert y.sum().item() == pytest.approx(1)
    np.testing.assert_allclose(transform.inverse(y).numpy(), x.numpy(), rtol=1e-9)
    columns = [(transform.forward(x + tensor(d)) - transform.forward(x - tensor(d))).numpy()[:-1] / 2e-6 for d in 1e-6 * np.eye(3)]
    assert transform.forward_log_det_jacobian(x).item() == pytest.approx(np.log(np.abs(np.linalg.det(columns))), rel=1e-6)
    assert transform.inverse_log_det_jacobian(y).item() == pytest.approx(-transform.forward_log_det_jacobian(x).item())
    assert transform.forward_shape([2, 3]) == (2, 4)
    assert transform.inverse_shape([2, 4]) == (2, 3)


def test_a_transform_of_vectors_makes_one_event_of_a_batch():
    distribution = TransformedDistribution(Normal(tensor([[0.0, 1.0], [1.0, 2.0]]), tensor(1.0)), [ExpTransform(), StickBreakingTransform()])
    assert (distribution.batch_shape, distribution.event_shape) == ((2,), (3,))
    drawn = distribution.sample([4])
    assert drawn.shape == [4, 2, 3]
    assert distribution.log_prob(drawn).shape == [4, 2]
    reshaped = TransformedDistribution(Independent(Normal(tensor(np.zeros((5, 4))), tensor(1.0)), 1), [ReshapeTransform((4,), (2, 2))])
    assert (reshaped.batch_shape, reshaped.event_shape) == ((5,), (2, 2))
    assert reshaped.log_prob(reshaped.sample()).shape == [5]
    scaled = TransformedDistribution(Independent(Normal(tensor([0.0, 0.0]), tensor(1.0)), 1), [AffineTransform(tensor(0.0), tensor(2.0))])
    assert scaled.log_prob(tensor([0.0, 0.0])).item() == pytest.approx(-math.log(2 * math.pi) - 2 * math.log(2))


def test_transforms_are_called_with_tensors_distributions_and_transforms():
    exp = ExpTransform()
    assert exp(tensor(0.0)).item() == 1
    assert isinstance(exp(Normal(0.0, 1.0)), TransformedDistribution)
    assert exp(AffineTransform(tensor(1.0), tensor(2.0)))(tensor(0.0)).item() == 3
    low, high = AbsTransform().inverse(tensor(2.0))
    assert (low.item(), high.item()) == (-2, 2)
    np.testing.assert_allclose(SoftmaxTransform().forward(tensor([0.0, 0.0])).numpy(), 0.5)


def test_a_transform_of_your_own_needs_one_of_two_determinants():
    from wherry_distribution import Transform

    class Cube(Transform):
        def _forward(self, x):
            return x * x * x

        def _inverse(self, y):
            return y ** (1 / 3)

        def _inverse_log_det_jacobian(self, y):
            return -wt.log(3 * y ** (2 / 3))

    assert Cube().forward_log_det_jacobian(tensor(2.0)).item() == pytest.approx(math.log(12))
    with pytest.raises(NotImplementedError, match="Transform: _forward is not defined"):
        Transform().forward(tensor(1.0))


def test_variables_say_which_values_they_take():
    assert constraint.positive(tensor([1.0, -1.0])).tolist() == [True, False]
    assert constraint.Range(0, 1)(tensor([0.5, 2.0])).tolist() == [True, False]
    assert constraint.simplex(tensor([[0.5, 0.5], [0.5, 0.6]])).tolist() == [True, False]
    assert variable.Independent(variable.positive, 1).constraint(tensor([[1.0, 2.0], [1.0, -2.0]])).tolist() == [True, False]
    stacked = variable.Stack([variable.real, variable.positive])
    assert stacked.constraint(tensor([[-1.0], [-1.0]])).tolist() == [[True], [False]]
    assert (stacked.event_rank, stacked.is_discrete) == (0, False)


# Errors.


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Normal("a", 1.0), TypeError, "Normal: 'loc' is not a number. Got 'a'"),
        (lambda: Normal(0.0, 1.0).sample(3), TypeError, "Normal: the shape of a sample is not a list. Got 3"),
        (lambda: Normal([0.0, 1.0], [1.0, 1.0, 1.0]), ValueError, "broadcast"),
        (lambda: Categorical(1.0), ValueError, "Categorical: 'logits' has no axis"),
        (lambda: Multinomial(0, [0.5, 0.5]), ValueError, "Multinomial: 'total_count' .* Got 0"),
        (lambda: Multinomial(2, 0.5), ValueError, "Multinomial: 'probs' has no axis"),
        (lambda: Dirichlet(1.0), ValueError, "Dirichlet: 'concentration' has no axis"),
        (lambda: Dirichlet(tensor([1.0, -1.0])).sample(), ValueError, "= -1"),
        (lambda: Cauchy(0.0, 1.0).mean, ValueError, "Cauchy: there is no mean"),
        (lambda: Beta(1.0, 1.0).rsample(), NotImplementedError, "Beta: there is no rsample"),
        (lambda: Distribution().entropy(), NotImplementedError, "Distribution: there is no entropy"),
        (lambda: Independent(Normal(0.0, 1.0), 1), ValueError, "Independent: reinterpreted_batch_rank is out of range"),
        (lambda: Independent(1, 1), TypeError, "Independent: 'base' is not a distribution. Got 1"),
        (lambda: TransformedDistribution(Normal(0.0, 1.0), ExpTransform()), TypeError, "Put a single one in brackets"),
        (lambda: TransformedDistribution(Normal(0.0, 1.0), [StickBreakingTransform()]), ValueError, r"Got draws of shape \[\], expected at least 1"),
        (lambda: kl_divergence(Normal(0.0, 1.0), Beta(1.0, 1.0)), NotImplementedError, "Got Normal and Beta"),
        (lambda: register_kl(1, Normal), TypeError, "register_kl: an argument is not a class of distributions"),
        (lambda: AbsTransform().forward_log_det_jacobian(tensor(1.0)), NotImplementedError, "maps several values to one"),
        (lambda: ExpTransform().forward(1.0), TypeError, "ExpTransform: 'x' is not a Tensor"),
        (lambda: ReshapeTransform((2, 3), (5,)), ValueError, "hold 6 and 5"),
        (lambda: ReshapeTransform((2, 3), (6,)).forward(tensor(np.zeros(6))), ValueError, "at least 2 axes"),
        (lambda: ReshapeTransform((2, 3), (6,)).forward_shape((5, 2, 4)), ValueError, r"Got \[5, 2, 4\], expected \[..., 2, 3\]"),
        (lambda: StackTransform([ExpTransform()]).forward(tensor([1.0, 2.0])), ValueError, "the number of slices differs from that of transforms"),
    ],
)
def test_error_says_what_is_wrong(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.skipif(wt.get_device() != "cpu", reason="a device's values are not looked at for a check: that would wait for them")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Bernoulli(1.5), "Bernoulli: 'probs' is out of range. Got values from 1.5 to 1.5"),
        (lambda: Geometric(0.0), r"Geometric: 'probs' .* expected probabilities in \(0, 1\]"),
    ],
)
def test_values_that_are_at_hand_are_checked(call, text):
    with pytest.raises(ValueError, match=text):
        call()
