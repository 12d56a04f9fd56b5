"""Gradient rules for losses of sequences."""
from wherry_autograd.rules import vjp
from wherry_tensor import ops


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
    if needs[1] or needs[5]:
        raise NotImplementedError(
            "ctc_loss: its gradient has no derivative. Got a second differentiation, expected one. "
            "Take second derivatives of the other parts of the loss alone."
        )
    # The gradient is linear in the cotangent of the loss.
    unit = ops.ctc_loss_vjp(
        ops.full_like(loss_ct, value=1, dtype=loss_ct.dtype), log_probs, labels, input_lengths, label_lengths, alpha,
        blank=blank, norm_by_times=norm_by_times,
    )
    return ops.reduce_sum(ct * unit, axes=(0, 2), keepdim=False), None, None, None, None, None
