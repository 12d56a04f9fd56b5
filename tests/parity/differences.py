"""Calls whose answer differs from real Paddle 2.6.2 on purpose: expression -> reason.

Each kind of difference has a row in docs/compatibility.md.
"""

_INTEGERS = "an extension: integers are cast to float32 (floor: kept) where Paddle has no kernel for them"
_ROUNDED = "Paddle rounds the attribute to float32 also for float64 data; we keep it in float64"
_PYTHON = "an extension: Python's operator works where Paddle's Tensor lacks the slot"
_STANDARD = "the class that Python's own containers raise; Paddle raises AssertionError"

DIFFERENCES: dict[str, str] = {
    "paddle.sin(x)": _INTEGERS,
    "paddle.sqrt(x)": _INTEGERS,
    "paddle.floor(x)": _INTEGERS,
    "paddle.tanh(x)": _INTEGERS,
    "paddle.reciprocal(x)": _INTEGERS,
    "paddle.logit(x, eps=0.1)": _ROUNDED,
    "paddle.stanh(x)": _ROUNDED,
    "paddle.norm(x, p=3, axis=1)": _ROUNDED,
    "2 // x": _PYTHON,
    "2.5 // x": _PYTHON,
    "2 % x": _PYTHON,
    "2.5 % x": _PYTHON,
    "abs(x)": _PYTHON,
    "bool(x)": _STANDARD,
    "len(paddle.to_tensor(1.0))": _STANDARD,
    "paddle.atan2(x, y)": "an extension: inputs of different rank broadcast, as in every other binary function",
    "y / x": "Paddle truncates the floating divisor of an integer tensor: 3 / 1.5 gives 3; we divide",
    "paddle.put_along_axis(x, i, 1.5, 1)": "an extension: the number takes the dtype of x; Paddle makes it float32 and fails",
    "paddle.matmul(x, y)  # (4, 1, 2, 3) (5, 3, 4)": "an extension: the gradient of batches of different rank; Paddle fails",
    "paddle.transpose(x, [0])": "a perm that leaves out axes is refused; Paddle takes it for the leading axes",
    "paddle.full(None, 1)": "None is not a shape; Paddle takes it for []",
}

_ITS_OWN_PARAMETER = "Paddle gives the weight no gradient when there is no bias, and the bias none when there is no weight"
_STATISTICS_USED = "Paddle's gradient in evaluation takes the statistics of the batch, though the result took the running ones"
_ELEMENT_BY_ELEMENT = "Paddle's gradient multiplies element by element where the derivative of the norm has a sum"
_NO_SUCH_REDUCTION = "ValueError, as from the other losses"
_REACHES = "an extension: this input gets its gradient too"
_POS_WEIGHT = "Paddle 2.6.2 leaves out pos_weight from one term for negative logits: log(1 + exp(2)) * 2 becomes 2.25"
_REVERSE_STATES = "Paddle's gradient of weight_hh of the reverse direction misses the first states of sequences that are shorter than the longest"

# "how it is made: call" of a row in layer_calls.py -> reason.
LAYER_DIFFERENCES: dict[str, str] = {
    "nn.Embedding(10, 3, padding_idx=-11): layer(x)": "refused as 10 is; Paddle takes it for no padding",
    "nn.AvgPool2D(2, divisor_override=0): layer(x)": "refused; Paddle divides by zero",
    "nn.MaxPool2D(2, return_mask=True, data_format='NHWC'): layer(x)": "an extension: masks of images with channels last",
    "nn.MaxUnPool1D(2, output_size=[2, 3, 9]): y, m = F.max_pool1d(x, 2, return_mask=True); layer(y, m)": "an extension: the whole shape, as for images",
    **{f"nn.BatchNorm{rank}D(3, {which}_attr=False): layer(x)": _ITS_OWN_PARAMETER for rank in (1, 2, 3) for which in ("weight", "bias")},
    **{f"nn.BatchNorm{rank}D(3, use_global_stats=False): layer(x)": _STATISTICS_USED for rank in (1, 2, 3)},
    "nn.BatchNorm(3, trainable_statistics=True): layer(x)": _STATISTICS_USED,
    "nn.InstanceNorm2D(3, data_format='NHWC'): layer(x)": "Paddle does not look at data_format",
    **{f"nn.SpectralNorm({arguments}): layer(x)": _ELEMENT_BY_ELEMENT for arguments in (
        "[4, 3]", "[4, 3], dim=1", "[4, 3], power_iters=3", "[4, 3], 0, 2, 1e-3", "weight_shape=[4, 3, 2, 2], dim=1, power_iters=2")},
    "nn.Linear(4, 3): nn.utils.parameters_to_vector(layer.parameters())": "gradients reach the parameters; in Paddle they stop",
    **{f"nn.{name}(4, 3, 2, 'bidirect'): layer(x, {states}, n)": _REVERSE_STATES for name, states in (("SimpleRNN", "h"), ("GRU", "h"), ("LSTM", "(h, c)"))},
    "nn.RNN(nn.Linear(4, 3)): layer(x)": "says what a cell needs; Paddle fails on a missing attribute",
    "nn.MultiHeadAttention(8, 2): cache = layer.gen_cache(x, type=nn.MultiHeadAttention.StaticCache); layer(x, x, x, cache=cache)":
        "works, as the manual says (value: None means key); Paddle fails",
    **{f"nn.GaussianNLLLoss(reduction='{reduction}'): layer(x, y, v)": _REACHES for reduction in ("mean", "sum", "none")},
    "nn.KLDivLoss(reduction='x'): layer(x, y)": _NO_SUCH_REDUCTION,
    **{f"nn.BCEWithLogitsLoss(reduction='{reduction}', pos_weight=paddle.to_tensor(np.array([1.0, 2.0, 0.5, 1.5]), dtype=paddle.get_default_dtype())): layer(x, y)": _POS_WEIGHT
       for reduction in ("mean", "sum", "none")},
}

_MASK = "an infinite input: Paddle multiplies by a mask of 0 and 1 and gets NaN"
_TEXT = "a text for a size: says what was expected; Paddle fails on the way"

# Expression of a row in functional_calls.py or training_calls.py -> reason.
FUNCTIONAL_DIFFERENCES: dict[str, str] = {
    **{f"F.{name}(x)  # at the edges": _MASK for name in ("log_sigmoid", "softshrink", "thresholded_relu")},
    "F.prelu(x, 0.2)": "says that weight is a tensor; Paddle fails on the way",
    "F.embedding(i, x)  # -1": "-1 is not a row; Paddle takes it for padding",
    "m = paddle.metric.Auc(curve='PR'); m.update(np.stack([1 - x.numpy(), x.numpy()], 1), i.numpy()); a = m.accumulate(); m.update(paddle.stack([1 - x, x], 1), i); [a, m.accumulate(), m.name()]":
        "the area under precision and recall; Paddle gives that of the ROC curve",
    "a = a.numpy(); paddle.vision.transforms.Normalize([1, 2, 3], [3, 2, 1], data_format='CHW', to_rgb=True)(a.transpose(2, 0, 1).astype('float32'))":
        "reverses channels; Paddle reverses the columns of an image with channels first",
    "paddle.vision.transforms.rotate(x, 30, 'bilinear')": "borders as Pillow has them",
    **{f"F.avg_pool{rank}d(x, kernel_size=2, padding=9)": "windows wholly in the padding give 0; Paddle gives 0 or NaN" for rank in (2, 3)},
    "F.one_hot(x, 3)": "TypeError, as for every argument of the wrong dtype",
    "F.label_smooth(x, prior_dist=y, epsilon=0.2)": _REACHES,
    **{f"F.diag_embed(x{arguments})": _REACHES for arguments in ("", ", offset=1", ", -1", ", offset=0, dim1=0, dim2=2", ", dim1=1, dim2=0")},
    "F.normalize(x, 2, -1, 0.5)": "Paddle adds epsilon to the norm in the gradient, though not in the result",
    "F.zeropad2d(x, 1)": "an extension: one number for all sides, as nn.ZeroPad2D takes it",
    "F.fold(x, [5, 6], [2, 3], strides=[2, 1], paddings=[1, 0, 0, 1], dilations=[2, 1])": "four paddings that differ; Paddle counts twice the first two",
    "F.interpolate(x, scale_factor=2, mode='area')": "an extension: area by a factor",
    "F.interpolate(x, scale_factor=[0.5, 1.5], mode='area')": "an extension: area by a factor",
    **{f"F.grid_sample(x, y, mode='nearest', padding_mode='zeros', align_corners={corners})": "Paddle gives zeros for places inside a volume" for corners in (True, False)},
    **{f"y, m = F.max_pool{rank}d(x, 2, 2, return_mask=True); F.max_unpool{rank}d(y, m, 2, 2, 0, output_size=x.shape[2:])": "an extension: the size without batch and channels" for rank in (1,)},
    **{f"F.adaptive_{kind}_pool{rank}d(x, 'x')": _TEXT for kind in ("avg", "max") for rank in (2, 3)},
    "m = x.detach().mean([0, 2, 3]) * 0.5; v = x.detach().var([0, 2, 3]) * 1.5; y = F.batch_norm(x, m, v, w, b, False, use_global_stats=False); [y, m, v]": _STATISTICS_USED,
    "F.batch_norm(x, paddle.zeros([4], x.dtype), paddle.ones([4], x.dtype), training=True)": "running statistics of another size are refused; Paddle does not look",
    **{f"F.multi_margin_loss(x, i, p=2, margin=0.5, weight=paddle.to_tensor([0.5, 1.0, 2.0, 1.5]).astype(x.dtype), reduction='{reduction}')":
       "the weight of each example's class; Paddle multiplies every example with every weight" for reduction in ("mean", "sum", "none")},
    **{f"F.gaussian_nll_loss(x, y, z, {arguments}, reduction='{reduction}')": _REACHES for arguments in ("full=True", "epsilon=0.5") for reduction in ("mean", "sum", "none")},
    "F.kl_div(x, y, reduction='x')": _NO_SUCH_REDUCTION,
    "F.cosine_embedding_loss(x, y, i, 0.2, reduction='x')": _NO_SUCH_REDUCTION,
}

# "before; how it is made" of an optimizer, "how it is made: each step" of a scheduler -> reason.
_SPARSE = "sparse gradients are dense here; Paddle's sparse Adam corrects the bias of the next step, and lazily skips rows"
OPTIMIZER_DIFFERENCES: dict[str, str] = {
    "optimizer.Adam(0.05, parameters=parameters), sparse": _SPARSE,
    "optimizer.Adam(0.05, parameters=parameters, lazy_mode=True), sparse": _SPARSE,
    "optimizer.Momentum(0.1, 0.5, parameters, True, rescale_grad=0.5)": "multiplies the gradient, as the manual says; Paddle 2.6.2 ignores it",
    "optimizer.Adam(0.05, beta1=paddle.to_tensor([0.8]), beta2=paddle.to_tensor([0.95]), parameters=parameters)":
        "the same as numbers; Paddle begins the powers of betas that are tensors with those of the defaults",
    "optimizer.AdamW(0.05, parameters=parameters, lr_ratio=lambda p: 0.5 if 'b_0' in p.name else 1.0)": "an extension: on the CPU too",
    "optimizer.Adam(0.1, parameters=parameters, weight_decay=1)": "an extension: an int is a number",
}


# Of Paddle 3.3.1, by the expressions of paddle3_calls.py and paddle3_version_calls.py.
DIFFERENCES_FROM_3: dict[str, str] = {
    "paddle.quantile(input=x, q=0.5, dim=1)": "float64 as in 2.6; float32 under FLAGS_paddle_version 3.3",
    "F.normalize(input=x, p=2.0, dim=1, eps=1e-6)": "Paddle rounds epsilon to float32",
    "x.tile(2, 1)": "Paddle 3 takes the second number for a name",
    "paddle.copysign(x, y)": "where a sign is changed there is no gradient: None, and not zeros",
    "paddle.group_norm(x, 3)": "Paddle 3's gradient without weight and bias is not that of its result",
    "paddle.nn.GroupNorm(3, 3, affine=False).bias": "as in 2.6 a constant that stops gradients, and not None",
}
