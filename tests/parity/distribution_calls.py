"""Calls of distributions and transforms, drawn from a seed like those of generated_calls.py. Draws themselves are random in both; their
shapes and dtypes are compared, the rest by value.
"""
from __future__ import annotations

import os

from calls import Call
from generated_calls import Draw

FLOATS = ("float32", "float64")
BATCHES = ([2], [3, 2], [1, 2], [1])
POSITIVE, UNIT = (0.3, 3.0), (0.1, 0.9)
# Parameters with their ranges, values, and what can be asked besides sample, mean, variance, entropy, log_prob and prob.
NUMBERS = {
    "Normal": (("loc", (-2, 2)), ("scale", POSITIVE), (-2, 2), ("probs", "rsample")),
    "Uniform": (("low", (-2, 0)), ("high", (0.5, 2)), (-3, 3), ("probs",)),
    "Beta": (("alpha", POSITIVE), ("beta", POSITIVE), UNIT, ()),
    "Cauchy": (("loc", (-2, 2)), ("scale", POSITIVE), (-2, 2), ("cdf", "rsample")),
    "Gumbel": (("loc", (-2, 2)), ("scale", POSITIVE), (-2, 2), ("cdf", "stddev", "rsample")),
    "Laplace": (("loc", (-2, 2)), ("scale", POSITIVE), (-2, 2), ("cdf", "stddev", "rsample")),
    "LogNormal": (("loc", (-1, 1)), ("scale", POSITIVE), POSITIVE, ("probs", "rsample")),
}
DIVERGING = ("Normal", "Beta", "Cauchy", "Laplace", "LogNormal", "Bernoulli", "Categorical", "Dirichlet")
TRANSFORMS = {
    "AffineTransform(a, b)": (-2, 2), "ExpTransform()": (-2, 2), "PowerTransform(b)": POSITIVE, "SigmoidTransform()": (-2, 2),
    "TanhTransform()": (-1.5, 1.5), "StickBreakingTransform()": (-2, 2), "ReshapeTransform((2,), (2, 1))": (-2, 2),
    "ChainTransform([D.ExpTransform(), D.AffineTransform(a, b)])": (-2, 2), "IndependentTransform(D.ExpTransform(), 1)": (-2, 2),
    "StackTransform([D.ExpTransform(), D.TanhTransform()], -1)": (-1.5, 1.5),
}


def of_two_numbers(d: Draw) -> str:
    name = d.one(*NUMBERS)
    (first, low), (second, high), values, others = NUMBERS[name]
    dtype, shape = d.one(*FLOATS), list(d.one(*BATCHES))
    d.tensor("p", shape, dtype, *low)
    d.tensor("q", shape, dtype, *high)
    made = f"paddle.distribution.{name}({d.one('p, q', f'p, {second}=q', f'{first}=p, {second}=q')})"
    if dtype == "float32" and d.chance(0.2):  # of Python numbers
        made = f"paddle.distribution.{name}({low[0] + 0.25}, {high[1]})"
    asked = d.one("sample", "entropy", "log_prob", "prob", *(("mean", "variance") if name not in ("Uniform", "Cauchy") else ()), *others)
    if asked in ("sample", "rsample"):
        return f"{made}.{asked}({d.one('[3]', '[2, 3]', '[]')}).shape"
    if asked in ("mean", "variance", "stddev"):
        return f"{made}.{asked}"
    if asked == "entropy":
        return f"{made}.entropy()"
    d.tensor("v", [*d.one([], [3]), *shape], dtype, *values)
    return f"{made}.{asked}(v)"


def of_rows(d: Draw) -> str:
    name = d.one("Categorical", "Dirichlet", "Multinomial", "Bernoulli", "Geometric")
    dtype, shape = d.one(*FLOATS), [*d.one([], [2]), 3]
    single = name in ("Bernoulli", "Geometric")
    d.tensor("p", shape, dtype, *(UNIT if single else POSITIVE))
    made = f"paddle.distribution.{name}({'6, ' if name == 'Multinomial' else ''}p)"
    asked = d.one("sample", "entropy", *(("pmf", "log_pmf") if name == "Geometric" else ("log_prob",)), *(("mean", "variance") if name != "Categorical" else ()),
                  *(("cdf",) if single else ()), *(("probs",) if name == "Categorical" else ()))
    if asked == "sample":
        return f"{made}.sample({d.one('[3]', '[2, 3]')}).shape"
    if asked in ("mean", "variance"):
        return f"{made}.{asked}"
    if asked == "entropy":
        return f"{made}.entropy()"
    if name == "Categorical":
        d.inputs["v"] = d.array([*shape[:-1], 4], "int64", 0, 0.99)
        return f"{made}.{asked}(v)"
    if name == "Dirichlet":
        d.tensor("v", shape, dtype, *UNIT)
        d.inputs["v"] = (d.inputs["v"] / d.inputs["v"].sum(-1, keepdims=True)).astype(dtype)
    else:
        d.inputs["v"] = d.array(shape, "int64", 0, 0.6 if name == "Bernoulli" else 1.5).astype(dtype)
    return f"{made}.{asked}(v)"


def of_two(d: Draw) -> str:
    name = d.one(*DIVERGING)
    dtype, shape = d.one(*FLOATS), list(d.one(*BATCHES))
    if name in NUMBERS:
        (_, low), (_, high), *_ = NUMBERS[name]
        for one in "ac":
            d.tensor(one, shape, dtype, *low)
        for one in "be":
            d.tensor(one, shape, dtype, *high)
        return f"paddle.distribution.kl_divergence(paddle.distribution.{name}(a, b), paddle.distribution.{name}(c, e))"
    for one in "ab":
        d.tensor(one, [*shape, 3], dtype, *(UNIT if name == "Bernoulli" else POSITIVE))
    return f"paddle.distribution.kl_divergence(paddle.distribution.{name}(a), paddle.distribution.{name}(b))"


def of_a_transform(d: Draw) -> str:
    made = d.one(*TRANSFORMS)
    dtype, shape = d.one(*FLOATS), [*d.one([], [3]), 2]
    d.tensor("a", [2], dtype, -2, 2)
    d.tensor("b", [2], dtype, *POSITIVE)
    d.tensor("x", shape, dtype, *TRANSFORMS[made])
    made, asked = f"D = paddle.distribution; f = D.{made}", d.one("forward", "forward_log_det_jacobian", "inverse", "inverse_log_det_jacobian", "shape", "base")
    if asked == "shape":
        return f"{made}; list(f.forward_shape(tuple(x.shape)))"
    if asked == "base" and "StickBreaking" not in made and "Reshape" not in made and "Independent" not in made and "Stack" not in made:
        return f"{made}; D.TransformedDistribution(D.Normal(a, b), [f]).log_prob(f.forward(x))"
    if asked.startswith("inverse"):
        return f"{made}; f.{asked}(f.forward(x))"
    return f"{made}; f.{asked if asked != 'base' else 'forward'}(x)"


def of_independent(d: Draw) -> str:
    dtype = d.one(*FLOATS)
    d.tensor("p", [3, 2], dtype, -2, 2)
    d.tensor("q", [3, 2], dtype, *POSITIVE)
    d.tensor("v", [*d.one([], [4]), 3, 2], dtype, -2, 2)
    made = f"paddle.distribution.Independent(paddle.distribution.{d.one('Normal', 'Laplace')}(p, q), {d.one(1, 2)})"
    return f"{made}.{d.one('log_prob(v)', 'prob(v)', 'entropy()', 'mean', 'variance', 'sample([2]).shape')}"


MAKERS = (of_two_numbers, of_two_numbers, of_rows, of_two, of_a_transform, of_independent)


def drawn(seed: int, count: int) -> list[Call]:
    calls = []
    for number in range(count):
        d = Draw(f"{seed} {number}")
        expression = MAKERS[number % len(MAKERS)](d)
        calls.append(Call(expression, ("as given",), "shape" not in expression and "f.inverse" not in expression and d.chance(0.3), d.inputs))
    return calls


SEED, COUNT = int(os.environ.get("GENERATED_SEED", "0")), int(os.environ.get("GENERATED_COUNT", "600"))
CALLS = drawn(SEED, COUNT)
