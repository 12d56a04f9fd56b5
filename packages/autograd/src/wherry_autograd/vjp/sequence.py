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
