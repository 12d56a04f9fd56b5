"""Gradient rules for the CTC loss, and what has none."""
from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops

not_differentiable(ops.gather_tree, "tokens are integers")


@vjp.rule(ops.ctc_loss, keep_outputs=("alpha",))
def vjp_ctc_loss(ct, out, log_probs, labels, input_lengths, label_lengths, *, blank, norm_by_times):
    loss_ct, _ = ct  # alpha is for this rule alone
    if loss_ct is None:
        return None, None, None, None
    log_probs_ct = ops.ctc_loss_vjp(
        loss_ct, log_probs, labels, input_lengths, label_lengths, out[1], blank=blank, norm_by_times=norm_by_times
    )
    return log_probs_ct, None, None, None


@vjp.rule(ops.ctc_loss_vjp)
def vjp_ctc_loss_vjp(
    ct, _out, loss_ct, log_probs, labels, input_lengths, label_lengths, alpha, *, blank, norm_by_times, needs
):
    inputs, attrs = (log_probs, labels, input_lengths, label_lengths, alpha), {"blank": blank, "norm_by_times": norm_by_times}
    return (
        _of_loss(ct, ops.ctc_loss_vjp, (), loss_ct, inputs, attrs) if needs[0] else None,
        ops.ctc_loss_curvature(ct, loss_ct, *inputs, **attrs) if needs[1] else None,
        None, None, None, None,  # what alpha contributes is in the curvature
    )


@vjp.rule(ops.ctc_loss_curvature)
def vjp_ctc_loss_curvature(
    ct, _out, vector, loss_ct, log_probs, labels, input_lengths, label_lengths, alpha, *, blank, norm_by_times, needs
):
    if needs[2] or needs[6]:
        raise NotImplementedError(
            "ctc_loss: its second derivative has no derivative. Got a third differentiation, expected two at most. "
            "Take third derivatives of the other parts of the loss alone."
        )
    inputs, attrs = (log_probs, labels, input_lengths, label_lengths, alpha), {"blank": blank, "norm_by_times": norm_by_times}
    return (
        ops.ctc_loss_curvature(ct, loss_ct, *inputs, **attrs) if needs[0] else None,  # it is symmetric
        _of_loss(ct, ops.ctc_loss_curvature, (vector,), loss_ct, inputs, attrs) if needs[1] else None,
        None, None, None, None, None,
    )


def _of_loss(ct, op, vector, loss_ct, inputs, attrs):
    """For the cotangent of the loss, in which both are linear."""
    unit = op(*vector, ops.full_like(loss_ct, value=1, dtype=loss_ct.dtype), *inputs, **attrs)
    return ops.reduce_sum(ct * unit, axes=(0, 2), keepdim=False)
