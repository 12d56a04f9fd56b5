"""Ops that no kernel of a plug-in can serve, and why: their arguments or results differ."""
from wherry_extension.plugins.column import plugin
from wherry_tensor import ops
from wherry_tensor._core import registry

for _op in registry.values():
    if _op.view:  # Paddle's `transpose`, `expand`, `slice` and their like make copies
        plugin.exempt(_op, "a view: no element moves")

for _names, _reason in (
    ("full full_like copy copy_to", "the functions of the device fill and copy"),
    (
        "normal uniform bernoulli randint randperm multinomial poisson log_standard_gamma dropout dropout_add attention_dropout",
        "random numbers are those of the cpu's generators, so that a seed gives the same on every device",
    ),
    ("nonzero masked_select unique unique_consecutive bincount", "the size of the result depends on data"),
    ("clip", "the bounds are tensors here, and numbers of the call there; maximum and minimum serve it"),
    (
        "max_pool2d_vjp max_pool2d_take",
        "it is asked with the positions alone, and max_pool2d_with_index_grad needs the windows; put_along_axis and take_along_axis serve it",
    ),
    ("sum_like unreduce_like broadcast_like reshape_like", "the kernels of gradients have it in themselves; sum serves it"),
    ("conv2d_blocked depthwise_conv2d_blocked winograd_conv2d_blocked max_pool2d_blocked", "its layout is one of the cpu"),
    (
        "attention attention_vjp attention_dropout_vjp attention_lengths attention_lengths_vjp lstm lstm_vjp gru gru_vjp simple_rnn "
        "simple_rnn_vjp recurrent_weights_vjp ctc_loss ctc_loss_vjp ctc_loss_curvature",
        "the kernels hand what the gradient needs over in a form of their own",
    ),
    ("all_finite", "check_finite_and_unscale scales gradients too"),
    ("glu glu_vjp l2_norm cdist cdist_vjp difference_loss difference_loss_vjp", "the cpu's ways with fewer passes; the parts of them are served"),
    ("label_mean label_mean_vjp", "the kernels of losses take their mean themselves; the parts of it are served"),
):
    for _name in _names.split():
        _op = getattr(ops, _name)
        if not _op.view:
            plugin.exempt(_op, _reason)
