"""The vjp column: what a rule's signature says, and what is refused."""
import pytest

from small_tensors import make, total
from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import _core, ops
from wherry_tensor.columns import registry


@pytest.fixture
def probe():
    """An op that is in no vocabulary, and which the column forgets afterwards."""
    made = []

    def make_op(name, inputs, attrs=(), outputs=("out",)):
        op = _core.Op(name, inputs, attrs, (int,) * len(attrs), outputs, False)
        made.append(op)
        return op

    yield make_op
    for op in made:
        vjp.rules.pop(op, None)
        vjp.exemptions.pop(op, None)


def test_the_column_is_registered():
    assert registry["vjp"] is vjp
    assert vjp.when_absent == "the VJP of its decomposition"


def test_the_signature_says_what_is_kept(probe):
    op = probe("probe", "x, y?, *rest", ("axis",))

    @vjp.rule(op)
    def vjp_probe(ct, _out, _x, y, *_rest, axis):
        return ct

    assert op.differentiable == 1
    assert op.vjp_rule.kept_inputs == (False, True, False)
    assert op.vjp_rule.kept_outputs == (False,)
    assert op.vjp_rule.wants_needs is False
    assert vjp.get(op) is vjp_probe


def test_outputs_and_conditions_can_be_named(probe):
    op = probe("probe", "x, y", (), ("out", "mean"))

    @vjp.rule(op, keep_outputs=["mean"], keep_for={"x": "y", "y": "x, y"})
    def vjp_probe(ct, out, x, y, *, needs):
        return None, None

    assert op.vjp_rule.kept_outputs == (False, True)
    assert op.vjp_rule.kept_for == ((1,), (0, 1))
    assert op.vjp_rule.wants_needs is True


@pytest.mark.parametrize(
    ("rule", "match"),
    [
        (lambda ct, out, x: ct, r"Got parameters \(ct, out, x\), expected \(ct, out, x, y\)"),
        (lambda ct, out, x, *y: ct, r"expected \(ct, out, x, y\)"),
        (lambda ct, out, x, y, *, axis: ct, r"Got keyword-only parameters \['axis'\], expected \[\]"),
        (lambda ct, out, x, y, **attrs: ct, "does not take the op's attributes"),
    ],
)
def test_rules_that_do_not_fit_are_refused(probe, rule, match):
    with pytest.raises(TypeError, match=match):
        vjp.rule(probe("probe", "x, y"))(rule)


def test_misspelt_names_are_refused(probe):
    with pytest.raises(TypeError, match="says how to keep 'z', which the op does not have"):
        vjp.rule(probe("probe", "x, y"), keep_for={"z": "x"})(lambda ct, out, x, y: ct)


def test_not_differentiable_stops_gradients(probe, x):
    op = probe("probe", "x")
    not_differentiable(op, "it is a test")
    assert op.differentiable == 2
    assert vjp.exemptions[op] == "it is a test"
    assert ops.equal(x, x).stop_gradient


def test_an_op_without_a_rule_takes_that_of_its_decomposition():
    from wherry_tensor.ops.declare import decompose

    without = [op for op in decompose.rules if op not in vjp and op.name == "variance"]
    if not without:
        pytest.skip("every op has a rule of its own")
    x = make([1.0, 2.0, 6.0], requires_grad=True)
    total(without[0](x, axes=(0,), keepdim=False, correction=0)).backward()
    assert x.grad.numpy().tolist() == pytest.approx([-4 / 3, -2 / 3, 2])


def test_powers_at_zero_have_no_slope_of_0_times_infinity():
    for exponent, expected in ((0.0, [0, 0, 0]), (1.0, [1, 1, 1]), (2.0, [0, 4, -6]), (3.0, [0, 12, 27])):
        for y in (make(exponent), make([exponent] * 3)):
            x = make([0.0, 2.0, -3.0], requires_grad=True)
            total(ops.power(x, y)).backward()
            assert x.grad.numpy().tolist() == expected


def test_softplus_has_the_slope_1_past_its_threshold():
    for threshold in (5.0, 20.0):
        x = make([threshold * 2, float("inf"), 0.0], requires_grad=True)
        total(ops.softplus(x, beta=1.0, threshold=threshold)).backward()
        assert x.grad.numpy().tolist() == [1, 1, 0.5]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_slopes_of_functions_in_pieces(dtype):
    """At their corners, and of NaN, as Paddle has them; where they are flat an infinite cotangent vanishes."""
    infinity, nan = float("inf"), float("nan")
    x = [-infinity, -4.0, -3.0, -1.0, 0.0, 1.0, 3.0, 4.0, infinity, nan]
    for function, expected in (
        (lambda x: ops.leaky_relu(x, negative_slope=0.25), [0.25] * 4 + [1] * 6),
        (lambda x: ops.hardtanh(x, min=-1.0, max=3.0), [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]),
        (ops.relu6, [0, 0, 0, 0, 0, 1, 1, 1, 0, 0]),
        (lambda x: ops.hardsigmoid(x, slope=0.25, offset=0.5), [0, 0, 0, 0.25, 0.25, 0.25, 0, 0, 0, 0]),
        (ops.hardswish, [0, 0, 0, 1 / 6, 0.5, 5 / 6, 1, 1, 1, 1]),
    ):
        given = ops.cast(make(x), dtype=getattr(_core, dtype)).detach()
        given.stop_gradient = False
        out = function(given)
        out.backward(ops.full_like(out, value=1, dtype=out.dtype))
        found = ops.cast(given.grad, dtype=_core.float64).numpy()
        assert found.tolist() == pytest.approx(expected, rel=2.0**-8 if dtype == "bfloat16" else 1e-7)
        flat = [i for i, slope in enumerate(expected) if slope == 0]
        given.clear_gradient()
        out = function(given)
        out.backward(ops.full_like(out, value=infinity, dtype=out.dtype))
        assert not ops.cast(given.grad, dtype=_core.float64).numpy()[flat].any()
