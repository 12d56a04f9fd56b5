"""Gradient rules for matrix products."""
from wherry_autograd.rules import vjp
from wherry_tensor import ops


def conjugate(x):
    """A holomorphic function passes its cotangent on through the conjugate of its derivative."""
    return ops.conj(x) if x.dtype.is_complex else x


def product(x, y, transpose_x=False, transpose_y=False):
    return ops.matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y)


@vjp.rule(ops.matmul, keep_for={"x": "y", "y": "x"})
def vjp_matmul(ct, _out, x, y, *, transpose_x, transpose_y, needs):
    rank_x, rank_y = len(x.shape), len(y.shape)
    # A vector is a row on the left and a column on the right; its cotangent is one, too, and loses
    # that axis again. The engine sums over the batch axes that it was repeated along.
    if rank_x == 1 and rank_y == 1:
        return (ct * conjugate(y) if needs[0] else None), (ct * conjugate(x) if needs[1] else None)
    if rank_x == 1:
        ct = ops.unsqueeze(ct, axes=(len(ct.shape) - 1,))
        x_ct = product(ct, conjugate(y), transpose_y=not transpose_y) if needs[0] else None
        y_ct = None
        if needs[1]:
            row = ops.unsqueeze(conjugate(x), axes=(0,))
            y_ct = product(ct, row, True, False) if transpose_y else product(row, ct, True, False)
        return x_ct, y_ct
    if rank_y == 1:
        ct = ops.unsqueeze(ct, axes=(len(ct.shape),))
        x_ct = y_ct = None
        if needs[0]:
            column = ops.unsqueeze(conjugate(y), axes=(1,))
            x_ct = product(column, ct, False, True) if transpose_x else product(ct, column, False, True)
        if needs[1]:
            y_ct = product(conjugate(x), ct, transpose_x=not transpose_x)
            y_ct = ops.squeeze(y_ct, axes=(len(y_ct.shape) - 1,))
        return x_ct, y_ct

    x_ct = y_ct = None
    if needs[0]:
        other = conjugate(y)
        if transpose_x:
            x_ct = product(other, ct, transpose_y, True)
        else:
            x_ct = product(ct, other, False, not transpose_y)
    if needs[1]:
        other = conjugate(x)
        if rank_y == 2 and rank_x > 2 and not transpose_x:
            # One matrix for a whole batch: summed inside the product, not after a batch of them.
            y_ct = ops.outer_sum(ct, other) if transpose_y else ops.outer_sum(other, ct)
        elif transpose_y:
            y_ct = product(ct, other, True, transpose_x)
        else:
            y_ct = product(other, ct, not transpose_x, False)
    return x_ct, y_ct


@vjp.rule(ops.linear, keep_for={"x": "weight", "weight": "x"})
def vjp_linear(ct, _out, x, weight, _bias, *, needs):
    x_ct = product(ct, conjugate(weight), transpose_y=True) if needs[0] else None
    weight_ct = ops.outer_sum(conjugate(x), ct) if needs[1] else None
    bias_ct = None
    if _bias is not None and needs[2]:
        bias_ct = ops.reduce_sum(ct, axes=tuple(range(len(ct.shape) - 1)), keepdim=False)
    return x_ct, weight_ct, bias_ct


@vjp.rule(ops.outer_sum, keep_for={"x": "y", "y": "x"})
def vjp_outer_sum(ct, _out, x, y, *, needs):
    x_ct = product(conjugate(y), ct, transpose_y=True) if needs[0] else None
    y_ct = product(conjugate(x), ct) if needs[1] else None
    return x_ct, y_ct
