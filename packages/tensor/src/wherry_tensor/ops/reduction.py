"""Reductions and scans along axes."""
from wherry_tensor.ops.declare import op

# `axes` is sorted, non-negative and free of repeats by the time an op sees it; () reduces nothing.
reduce_sum = op("reduce_sum", "x", axes=tuple, keepdim=bool)  # bool and int sum in int64 (public cast)
reduce_mean = op("reduce_mean", "x", axes=tuple, keepdim=bool)
reduce_prod = op("reduce_prod", "x", axes=tuple, keepdim=bool)
reduce_max = op("reduce_max", "x", axes=tuple, keepdim=bool)
reduce_min = op("reduce_min", "x", axes=tuple, keepdim=bool)
reduce_all = op("reduce_all", "x", axes=tuple, keepdim=bool)
reduce_any = op("reduce_any", "x", axes=tuple, keepdim=bool)
logsumexp = op("logsumexp", "x", axes=tuple, keepdim=bool)
variance = op("variance", "x", axes=tuple, keepdim=bool, correction=int)  # divides by n - correction
squared_l2_norm = op("squared_l2_norm", "x")  # of all elements, 0-d

# Position of the first extreme value along one axis, int64.
argmax = op("argmax", "x", axis=int, keepdim=bool)
argmin = op("argmin", "x", axis=int, keepdim=bool)

# Scans keep the shape.
cumsum = op("cumsum", "x", axis=int, reverse=bool)
cumprod = op("cumprod", "x", axis=int)
logcumsumexp = op("logcumsumexp", "x", axis=int)
cummax = op("cummax", "x", axis=int, outputs="values, indices")  # indices int64
cummin = op("cummin", "x", axis=int, outputs="values, indices")

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(reduce_sum))]
