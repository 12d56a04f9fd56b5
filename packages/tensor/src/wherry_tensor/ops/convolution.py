"""Two-dimensional convolution and pooling.

`paddings` is (top, bottom, left, right), already resolved from Paddle's forms; `data_format` is
"NCHW" or "NHWC". Weights are [out, in / groups, kh, kw] in both; the transposed convolution's are
[in, out / groups, kh, kw]. One dimension is two with height 1.
"""
from wherry_tensor.ops.declare import op

conv2d = op("conv2d", "x, weight, bias?", strides=tuple, paddings=tuple, dilations=tuple, groups=int,
            data_format=str)
# Also the gradient of conv2d for x. output_size (h, w) settles what the stride leaves open.
conv2d_transpose = op("conv2d_transpose", "x, weight, bias?", strides=tuple, paddings=tuple, dilations=tuple,
                      groups=int, output_size=tuple, data_format=str)
# The gradient of conv2d for its weight, of which only the shape is used.
conv2d_weight_vjp = op("conv2d_weight_vjp", "ct, x, weight", strides=tuple, paddings=tuple, dilations=tuple,
                       groups=int, data_format=str)

# `mask` is int32, the flat h * w position of the maximum inside its input plane, as Paddle returns it.
max_pool2d = op("max_pool2d", "x", kernel=tuple, strides=tuple, paddings=tuple, ceil_mode=bool, data_format=str,
                outputs="out, mask")
max_pool2d_vjp = op("max_pool2d_vjp", "ct, mask, like", data_format=str)
max_unpool2d = op("max_unpool2d", "x, index", output_size=tuple, data_format=str)
avg_pool2d = op("avg_pool2d", "x", kernel=tuple, strides=tuple, paddings=tuple, ceil_mode=bool, exclusive=bool,
                divisor=int, data_format=str)  # divisor None: the window's size
avg_pool2d_vjp = op("avg_pool2d_vjp", "ct, like", kernel=tuple, strides=tuple, paddings=tuple, ceil_mode=bool,
                    exclusive=bool, divisor=int, data_format=str)
adaptive_avg_pool2d = op("adaptive_avg_pool2d", "x", output_size=tuple, data_format=str)
adaptive_avg_pool2d_vjp = op("adaptive_avg_pool2d_vjp", "ct, like", data_format=str)
adaptive_max_pool2d = op("adaptive_max_pool2d", "x", output_size=tuple, data_format=str, outputs="out, mask")

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(conv2d))]
