"""What libraries take from inside of Paddle: operators by name, trees, masks, and calls of theirs that once were answered otherwise."""
from __future__ import annotations

import numpy as np
from calls import Call, bools, distinct, integers, normal, positive

CALLS: list[Call] = []


def call(expression, grad=False, **inputs):
    CALLS.append(Call(expression, ("float32",), grad, inputs))


# Operators that take everything in order.
for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "elementwise_pow", "fmax", "fmin"):
    call(f"paddle._C_ops.{name}(x, y)", grad=True, x=positive(3, 4), y=positive(4, seed=1))
for name in ("exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "relu", "silu", "square", "abs", "sin", "erf", "reciprocal", "floor"):
    call(f"paddle._C_ops.{name}(x)", grad=True, x=positive(3, 4))
for arguments in ("False, False", "True, False", "False, True"):
    call(f"paddle._C_ops.matmul(x, y, {arguments})", grad=True, x=normal(3, 3), y=normal(3, 3, seed=1))
for name in ("sum(x, [1], None, True)", "sum(x, [], None, False)", "mean(x, [0, 1], False)", "max(x, [1], True)", "min(x, [], False)", "prod(x, [1], False, False)"):
    call(f"paddle._C_ops.{name}", x=distinct(3, 4))
call("paddle._C_ops.mean_all(x)", grad=True, x=normal(3, 4))
call("paddle._C_ops.softmax(x, 1)", grad=True, x=normal(3, 4))
call("paddle._C_ops.log_softmax(x, -1)", x=normal(3, 4))
call("paddle._C_ops.concat([x, y], 1)", grad=True, x=normal(3, 4), y=normal(3, 2, seed=1))
call("paddle._C_ops.stack([x, y], 1)", x=normal(3, 4), y=normal(3, 4, seed=1))
call("paddle._C_ops.split(x, [1, 3], 1)", x=normal(3, 4))
call("paddle._C_ops.transpose(x, [1, 0])", grad=True, x=normal(3, 4))
call("paddle._C_ops.gather(x, i, 0)", x=normal(3, 4), i=integers(2, low=0, high=3))
call("paddle._C_ops.scatter(x, i, y, True)", x=normal(3, 4), i=np.array([2, 0]), y=normal(2, 4, seed=1))
call("paddle._C_ops.where(c, x, y)", c=bools(3, 4), x=normal(3, 4), y=normal(3, 4, seed=1))
call("paddle._C_ops.argsort(x, 1, True)", x=distinct(3, 4))
call("paddle._C_ops.topk(x, 2, 1, True, True)", x=distinct(3, 4))
call("paddle._C_ops.cast(x, paddle.int32)", x=normal(3, 4))
call("paddle._C_ops.scale(x, 2.0, 1.0, True)", x=normal(3, 4))
call("paddle._C_ops.clip(x, -0.5, 0.5)", x=normal(3, 4))
call("paddle._C_ops.pow(x, 2.0)", x=normal(3, 4))
call("paddle._C_ops.leaky_relu(x, 0.1)", x=normal(3, 4))
call("paddle._C_ops.gelu(x, False)", x=normal(3, 4))
call("paddle._C_ops.one_hot(i, 4)", i=integers(3, low=0, high=4))
call("paddle._C_ops.embedding(i, w, -1, False)", i=integers(3, low=0, high=4), w=normal(4, 2))
call("paddle._C_ops.unsqueeze(x, [1])", x=normal(3, 4))
call("paddle._C_ops.full_like(x, 3.0, x.dtype, paddle.CPUPlace())", x=normal(3, 4))
call("paddle._C_ops.layer_norm(x, w, b, 1e-5, 1)", x=normal(3, 4), w=positive(4), b=normal(4, seed=1))
call("paddle._C_ops.batch_norm(x, m, v, w, b, True, 0.9, 1e-5, 'NCHW', False, False)[0]", x=normal(3, 4, 2, 2), m=normal(4), v=positive(4), w=positive(4, seed=1), b=normal(4, seed=2))
call("paddle._C_ops.conv2d(x, w, [1, 1], [1, 1], 'EXPLICIT', [1, 1], 1, 'NCHW')", x=normal(1, 3, 5, 5), w=normal(2, 3, 3, 3))
call("paddle._C_ops.pool2d(x, [2, 2], [2, 2], [0, 0], False, True, 'NCHW', 'max', False, False, 'EXPLICIT')", x=distinct(1, 2, 4, 4))
call("paddle._C_ops.tile(x, [2, 1])", x=normal(3, 4))
call("paddle._C_ops.equal(x, y)", x=normal(3, 4), y=normal(3, 4))
call("paddle._C_ops.logical_and(x, y)", x=bools(3, 4), y=bools(3, 4, seed=1))

# Regions and boxes.
BOXES = np.array([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 32], [21, 20, 30, 31], [5, 5, 9, 30]])
call("paddle._C_ops.roi_align(x, b, n, 2, 3, 0.5, 2, False)", x=normal(2, 3, 8, 9), b=BOXES[:4], n=np.array([3, 1], "int32"))
call("paddle._C_ops.roi_pool(x, b, n, 2, 2, 0.5)", x=normal(2, 3, 8, 9), b=BOXES[:4], n=np.array([3, 1], "int32"))
call("paddle._C_ops.prior_box(x, y, [4.0, 8.0], [8.0, 16.0], [2.0], [0.1, 0.1, 0.2, 0.2], True, True, 0.0, 0.0, 0.5, False)", x=normal(1, 2, 3, 4), y=normal(1, 3, 24, 32))
call("paddle._C_ops.box_coder(p, v, t, 'decode_center_size', False, 0, [])", p=BOXES, v=positive(5, 4), t=normal(3, 5, 4) / 4)
call("paddle._C_ops.multiclass_nms3(b, s, None, 0.05, 4, 3, 0.5, True, 1.0, 0)[0]", b=BOXES[None], s=positive(1, 3, 5) / 2)
call("paddle._C_ops.matrix_nms(b, s, 0.05, 4, 3, 0.0, False, 2.0, 0, True)[0]", b=BOXES[None], s=positive(1, 3, 5) / 2)
call("paddle._C_ops.distribute_fpn_proposals(b, n, 2, 5, 4, 20, False)", b=BOXES * 4, n=np.array([3, 2], "int32"))

# Operators that take names and values.
call("paddle._legacy_C_ops.matmul_v2(x, y, 'trans_x', True, 'trans_y', False)", grad=True, x=normal(3, 4), y=normal(3, 2, seed=1))
call("paddle._legacy_C_ops.reduce_sum(x, 'dim', [1], 'keep_dim', True)", x=normal(3, 4))
call("paddle._legacy_C_ops.softmax(x, 'axis', 0)", x=normal(3, 4))
call("paddle._legacy_C_ops.elementwise_add(x, y, 'axis', -1)", x=normal(3, 4), y=normal(4, seed=1))
call("paddle._legacy_C_ops.stack([x, y], 'axis', 1)", x=normal(3, 4), y=normal(3, 4, seed=1))
call("paddle._legacy_C_ops.argsort(x, 'axis', 0, 'descending', False)", x=distinct(3, 4))
call("paddle._legacy_C_ops.multiclass_nms3(b, s, None, 'background_label', 0, 'score_threshold', 0.05, 'nms_top_k', 4, 'nms_threshold', 0.5, 'keep_top_k', 3, 'nms_eta', 1.0, 'normalized', True)[0]", b=BOXES[None], s=positive(1, 3, 5) / 2)

# Trees and masks.
call("paddle.utils.map_structure(lambda a, b: a + b, {'a': [1, (2,)]}, {'a': [3, (4,)]})", x=normal(1))
call("paddle.utils.flatten({'b': [1, (2,)], 'a': 5})", x=normal(1))
call("paddle.utils.pack_sequence_as({'b': [1, (2,)], 'a': 5}, [7, 8, 9])", x=normal(1))
call("paddle.nn.layer.transformer._convert_attention_mask(m, paddle.float32)", m=bools(3, 4))
call("paddle.nn.layer.transformer._convert_attention_mask(m, paddle.float32)", m=integers(3, 4, low=0, high=2))
call("sorted(paddle.utils.download._get_unique_endpoints(['127.0.0.1:80', '127.0.0.1:81', '10.0.0.1:5']))", x=normal(1))
call("paddle.base.data_feeder.convert_dtype(paddle.float32)", x=normal(1))
call("paddle.io.dataloader.collate.default_convert_fn({'a': [x.numpy()]})", x=normal(2))

# Once answered otherwise.
call("F.linear(x, w)", grad=True, x=normal(4, 8), w=normal(8, seed=1))
call("F.linear(x, w, b)", x=normal(4, 8), w=normal(8, seed=1), b=normal(1, seed=2))
call("paddle.add_n([x, y])", x=normal(), y=normal(1, seed=1))
call("paddle.metric.Accuracy().compute(x, y)", x=normal(4, 1), y=positive(4, seed=1))
call("paddle.nn.BatchNorm(8, act='hard_swish')(x)", x=normal(2, 8, 2, 2))
call("paddle.nn.BatchNorm(8, act='hard_sigmoid')(x)", x=normal(2, 8, 2, 2))
call("paddle.nn.BatchNorm(8, act='leaky_relu')(x)", x=normal(2, 8, 2, 2))
call("F.batch_norm(x, m, v, w, b, training=True)", grad=True, x=normal(1, 2, 1, 1), m=normal(2), v=positive(2), w=positive(2, seed=1), b=normal(2, seed=2))
call("F.batch_norm(x, m, v, w, b, training=True); [m, v]", x=normal(1, 2, 1, 1), m=normal(2), v=positive(2), w=positive(2, seed=1), b=normal(2, seed=2))
call("F.batch_norm(x, m, v, w, b, training=True); [m, v]", x=normal(2, 2, 1, 1), m=normal(2), v=positive(2), w=positive(2, seed=1), b=normal(2, seed=2))
for ratio in (-1, 2):
    call(f"paddle.vision.ops.roi_align(x, b, n, 3, 0.5, {ratio}, True)", grad=True, x=normal(2, 3, 8, 9), b=BOXES[:4], n=np.array([3, 1], "int32"))
    call(f"paddle.vision.ops.roi_align(x, b, n, (5, 2), 0.25, {ratio}, True)", x=normal(2, 3, 20, 17), b=np.sort(positive(7, 4).reshape(7, 2, 2) * 40, 1).reshape(7, 4), n=np.array([3, 4], "int32"))
    call(f"paddle.vision.ops.roi_align(x, b, n, 3, 1.0, {ratio}, True)", x=normal(2, 3, 8, 9), b=BOXES[:4] / 5 - 1, n=np.array([3, 1], "int32"))
for logits in (np.array([0.9, 0.1]), np.array([[0.2, 1.5, 0.4], [2.0, 0.1, 0.1]])):
    call("paddle.distribution.Categorical(x).entropy()", x=logits)
    call("paddle.distribution.Categorical(x).kl_divergence(paddle.distribution.Categorical(x * 3.0))", x=logits)
    call("paddle.distribution.Categorical(x).probs(paddle.to_tensor([0, 1]))", x=logits)
    call("paddle.distribution.Categorical(x).log_prob(paddle.to_tensor([0, 1]))", x=logits)
