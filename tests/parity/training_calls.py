"""What metrics, clips, mixed precision, data sets, transforms and `Model` of real Paddle and of wherry are asked.

Forms as in `functional_calls.py`. `said(f)` gives what f prints beside what it returns. Random parts of
data loading and transforms are asked for shapes and lengths only.
"""
from __future__ import annotations

import numpy as np
from calls import Call, integers, normal, positive

CALLS: list[Call] = []


def call(expression, dtypes=("float32",), grad=False, **inputs):
    CALLS.append(Call(expression, tuple(dtypes), grad, inputs))


def picture(*shape):
    return np.random.default_rng(0).integers(0, 256, shape).astype("uint8")


# Metrics.
for arguments in ("", "topk=(1, 2)", "(1, 2, 3), 'acc'", "topk=2", "name='mine'"):
    call(f"m = paddle.metric.Accuracy({arguments}); a = m.update(m.compute(x, i)); b = m.update(m.compute(x[:2], i[:2])); [a, b, m.accumulate(), m.name()]", x=positive(4, 5), i=np.array([[0], [3], [2], [4]]))
call("m = paddle.metric.Accuracy(); m.compute(x, i)", x=positive(4, 5), i=np.array([0, 3, 2, 4]))
call("m = paddle.metric.Accuracy((1, 2)); m.compute(x, i)", x=positive(2, 3, 5), i=integers(2, 3, 1, low=0, high=5))
call("m = paddle.metric.Accuracy(); m.compute(x, y)", x=positive(4, 5), y=np.eye(5)[[0, 3, 2, 4]])
call("m = paddle.metric.Accuracy(); m.update(m.compute(x, i)); m.reset(); m.accumulate()", x=positive(4, 5), i=np.array([[0], [3], [2], [4]]))
for name in ("Precision", "Recall"):
    call(f"m = paddle.metric.{name}(); m.update(x, i); a = m.accumulate(); m.update(x[:2], i[:2]); [a, m.accumulate(), m.name()]", x=positive(6) / 2, i=np.array([1, 0, 1, 1, 0, 1]))
    call(f"m = paddle.metric.{name}('mine'); m.update(x.numpy(), i.numpy()); m.reset(); [m.accumulate(), m.name()]", x=positive(6, 1) / 2, i=np.array([[1], [0], [1], [1], [0], [1]]))
    call(f"paddle.metric.{name}().update([0.5], [1])")
for arguments in ("", "num_thresholds=10", "'ROC', 100, name='mine'", "curve='PR'"):
    call(f"m = paddle.metric.Auc({arguments}); m.update(np.stack([1 - x.numpy(), x.numpy()], 1), i.numpy()); a = m.accumulate(); m.update(paddle.stack([1 - x, x], 1), i); [a, m.accumulate(), m.name()]",
         x=positive(6) / 2, i=np.array([[1], [0], [1], [1], [0], [1]]))
call("m = paddle.metric.Auc(); m.accumulate()")
for arguments in ("", ", k=2", ", 3, None, None, 'mine'"):
    call(f"paddle.metric.accuracy(x, i{arguments})", x=positive(4, 5), i=np.array([[0], [3], [2], [4]]))
call("paddle.metric.accuracy(x, i)", x=positive(4, 5), i=np.array([0, 3, 2, 4]))
call("paddle.metric.Metric()")

# Clips, called as optimizers do; a parameter that is left out.
for clip in ("ClipGradByValue(0.5)", "ClipGradByValue(0.5, -0.1)", "ClipGradByNorm(0.5)", "ClipGradByNorm(100.0)", "ClipGradByGlobalNorm(0.5)", "ClipGradByGlobalNorm(100.0)", "ClipGradByGlobalNorm(1.0, group_name='mine')",
             "ClipGradByValue(-1.0, 1.0)", "ClipGradByNorm('x')", "ClipGradByValue('x')", "ClipGradByGlobalNorm(0.5, auto_skip_clip=True)"):
    call(f"p, q = paddle.create_parameter([3], 'float32'), paddle.create_parameter([2, 2], 'float32'); q.need_clip = False; r = paddle.nn.{clip}([(p, x), (q, y), (p, x * 2), (p, None)]); [g for _, g in r]", x=normal(3), y=normal(2, 2, seed=1))
    if "(-1.0" not in clip:
        call(f"str(paddle.nn.{clip})")
for arguments in ("1.0", "0.5, norm_type=1.0", "max_norm=2.0, norm_type=float('inf')", "1.0, 2.0, error_if_nonfinite=True"):
    call(f"p, q = paddle.create_parameter([3], 'float32'), paddle.create_parameter([2, 2], 'float32'); ((p * x).sum() + (q * y).sum()).backward(); n = paddle.nn.utils.clip_grad_norm_([p, q], {arguments}); [n, p.grad, q.grad]",
         x=normal(3), y=normal(2, 2, seed=1))
call("p = paddle.create_parameter([3], 'float32'); (p * x).sum().backward(); paddle.nn.utils.clip_grad_value_([p], 0.3); p.grad", x=normal(3))

# Regularizers as text.
for expression in ("paddle.regularizer.L1Decay(0.1)", "paddle.regularizer.L2Decay(0.25)", "paddle.regularizer.L2Decay()"):
    call(f"str({expression})")

# Mixed precision where it is off: real Paddle leaves everything in float32 on a CPU, and does not scale losses.
for arguments in ("dtype='bfloat16', level='O0'", "False, dtype='bfloat16'", "dtype='x'", "level='O7'"):
    for expression in ("paddle.matmul(x, y)", "x + y", "paddle.nn.functional.softmax(x)", "paddle.exp(x)", "x.mean()", "paddle.nn.functional.relu(paddle.matmul(x, y))", "paddle.nn.functional.linear(x, y)",
                       "paddle.matmul(x, y) + x", "paddle.nn.functional.layer_norm(x, 3)", "paddle.nn.functional.cross_entropy(x, i)", "paddle.concat([x, paddle.matmul(x, y)])"):
        call(f"z = None\nwith paddle.amp.auto_cast({arguments}): z = {expression}\n; str(z.dtype).split('.')[-1]", x=normal(3, 3), y=normal(3, 3, seed=1), i=np.array([[0], [1], [2]]))
call("s = paddle.amp.GradScaler(False); [s.scale(x), s.is_enable(), s.state_dict()]", x=normal(3))

# Data sets, samplers, batches.
for arguments in ("range(10), batch_size=3", "range(10), batch_size=3, drop_last=True", "sampler=paddle.io.SequenceSampler(range(5)), batch_size=2", "range(10), batch_size=0", "range(10), shuffle='x'"):
    call(f"s = paddle.io.BatchSampler({arguments}); [list(s), len(s)]")
for arguments in ("4, 2, 0", "4, num_replicas=2, rank=1", "4, 3, 2, drop_last=True", "batch_size=4, num_replicas=2, rank=0"):
    call(f"s = paddle.io.DistributedBatchSampler(range(21), {arguments}); [list(s), len(s)]")
call("d = paddle.io.TensorDataset([x, i]); [len(d), d[2]]", x=normal(5, 2), i=integers(5))
call("paddle.io.TensorDataset([x, i])", x=normal(5, 2), i=integers(4))
call("d = paddle.io.Subset(range(10), [3, 5, 7]); [len(d), d[0], d[2]]")
call("d = paddle.io.random_split(range(10), [3, 7]); [len(part) for part in d] + sorted(d[0][i] for i in range(3))[:0]")
call("paddle.io.random_split(range(10), [3, 6])")
call("d = paddle.io.random_split(range(10), [0.25, 0.75]); [len(part) for part in d]")
call("s = paddle.io.RandomSampler(range(10)); [len(s), sorted(s)]")
call("s = paddle.io.RandomSampler(range(10), replacement=True, num_samples=20); [len(s), len(list(s))]")
call("paddle.io.RandomSampler(range(10), num_samples=0)")
call("s = paddle.io.WeightedRandomSampler(np.array([0.0, 1.0, 0.0]), 4); [len(s), list(s)]")
call("list(paddle.io.WeightedRandomSampler(np.array([0.5, 0.5]), 3, replacement=False))")
for arguments in ("batch_size=2", "batch_size=2, drop_last=True", "batch_size=None", "batch_sampler=paddle.io.BatchSampler(d, batch_size=3)", "batch_size=2, shuffle=False, return_list=False"):
    call(f"d = paddle.io.TensorDataset([x, i]); loader = paddle.io.DataLoader(d, {arguments}); [len(loader), list(loader)]", x=normal(5, 2), i=integers(5))
call("paddle.io.get_worker_info()")
call("d = paddle.io.ComposeDataset([paddle.io.TensorDataset([x]), paddle.io.TensorDataset([i])]); [len(d), d[2]]", x=normal(5, 2), i=integers(5))
call("class D(paddle.io.IterableDataset):\n  def __iter__(self): return iter([1, 2])\n; [[v for v in paddle.io.ChainDataset([D(), D()])], isinstance(D(), paddle.io.Dataset)]")
call("paddle.io.Dataset()[0]")
call("len(paddle.io.Dataset())")
call("iter(paddle.io.IterableDataset())")
call("paddle.io.IterableDataset()[0]")
call("list(paddle.io.Sampler())")
call("paddle.io.ComposeDataset([])")
call("paddle.io.ChainDataset([paddle.io.TensorDataset([x])]); 1", x=normal(2))

# Transforms of NumPy images that need no other library, and of tensors.
T = "paddle.vision.transforms"
for expression in ("to_tensor(a)", "to_tensor(a, 'HWC')", "normalize(a.astype('float32'), [127.5] * 3, [127.5] * 3, 'HWC')", "normalize(a.transpose(2, 0, 1).astype('float32'), [1, 2, 3], [2, 2, 2])", "crop(a, 1, 2, 3, 4)", "center_crop(a, 4)",
                   "center_crop(a, (3, 5))", "Normalize(127.5, 127.5, 'HWC')(a.astype('float32'))", "Normalize([1, 2, 3], [3, 2, 1], data_format='CHW', to_rgb=True)(a.transpose(2, 0, 1).astype('float32'))",
                   "Transpose()(a)", "Transpose((1, 0, 2))(a)", "ToTensor()(a)", "ToTensor('HWC')(a)", "CenterCrop(4)(a)", "Compose([paddle.vision.transforms.CenterCrop(4), paddle.vision.transforms.ToTensor()])(a)",
                   "RandomHorizontalFlip(0.0)(a)", "RandomCrop((6, 8))(a)", "to_tensor(a, 'x')", "BrightnessTransform(0)(a)", "Compose([])(a)"):
    call(f"a = a.numpy(); {T}.{expression}", a=picture(6, 8, 3))
for expression in ("crop(x, 1, 2, 3, 4)", "center_crop(x, 4)", "hflip(x)", "vflip(x)", "normalize(x, [0.5] * 3, [0.2, 0.3, 0.4])", "Normalize(0.5, 0.5)(x)", "resize(x, (4, 5))", "resize(x, 4)", "resize(x, (9, 7), 'nearest')", "resize(x, (9, 7), 'bicubic')",
                   "pad(x, 1)", "pad(x, (1, 2))", "pad(x, (1, 2, 0, 1), 0.5)", "pad(x, 1, padding_mode='reflect')", "adjust_brightness(x, 0.5)", "adjust_contrast(x, 0.5)", "adjust_hue(x, 0.2)", "to_grayscale(x)", "to_grayscale(x, 3)",
                   "rotate(x, 90)", "rotate(x, 30)", "rotate(x, 30, 'bilinear')", "rotate(x, 30, expand=True)", "Resize((4, 5))(x)", "Pad(2)(x)", "Grayscale()(x)"):
    call(f"{T}.{expression}", x=np.abs(normal(3, 6, 8)).clip(0, 1))

# Model, on weights that are all the same.
made = ("paddle.seed(1); c = paddle.nn.initializer.Constant(0.1); net = paddle.nn.Sequential(paddle.nn.Linear(4, 5, weight_attr=c), paddle.nn.Tanh(), paddle.nn.Linear(5, 3, weight_attr=paddle.nn.initializer.Assign(np.linspace(-1, 1, 15).reshape(5, 3))));"
        " m = paddle.Model(net); o = paddle.optimizer.SGD(0.1, m.parameters()); m.prepare(o, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())")
for expression in ("m.train_batch([x], [i]); m.train_batch([x], [i])", "m.eval_batch([x], [i])", "m.predict_batch([x])", "m.train_batch([x], [i], update=False); m.train_batch([x], [i])",
                   "d = paddle.io.TensorDataset([x, i]); m.evaluate(d, batch_size=3, verbose=0)", "d = paddle.io.TensorDataset([x, i]); m.predict(paddle.io.TensorDataset([x]), batch_size=4, verbose=0)",
                   "m.predict(paddle.io.TensorDataset([x]), batch_size=4, stack_outputs=True, verbose=0)", "d = paddle.io.TensorDataset([x, i]); m.fit(d, batch_size=3, epochs=2, shuffle=False, verbose=0); [p for p in m.parameters()]",
                   "d = paddle.io.TensorDataset([x, i]); m.fit(d, batch_size=3, epochs=2, shuffle=False, verbose=0, accumulate_grad_batches=2); [p for p in m.parameters()]",
                   "d = paddle.io.TensorDataset([x, i]); m.fit(d, batch_size=2, epochs=2, shuffle=False, verbose=0, num_iters=3); [p for p in m.parameters()]",
                   "d = paddle.io.TensorDataset([x, i]); said(lambda: m.evaluate(d, batch_size=6, verbose=0))", "m.fit(None)"):
    call(f"{made}; {expression}", x=normal(6, 4), i=np.array([[0], [2], [1], [0], [2], [1]]))
nets = {"paddle.nn.Sequential(paddle.nn.Linear(4, 5), paddle.nn.ReLU(), paddle.nn.Linear(5, 3))": "(2, 4)", "paddle.vision.models.LeNet()": "(1, 1, 28, 28)",
        "paddle.nn.Sequential(paddle.nn.Conv2D(3, 4, 3), paddle.nn.BatchNorm2D(4), paddle.nn.ReLU(), paddle.nn.MaxPool2D(2), paddle.nn.AdaptiveAvgPool2D(1))": "(2, 3, 8, 8)"}
for net, shape in nets.items():
    call(f"net = {net}; said(lambda: paddle.summary(net, {shape}))")
    call(f"net = {net}; said(lambda: paddle.flops(net, {shape}, print_detail=False))")
    call(f"net = {net}; said(lambda: paddle.flops(net, {shape}, print_detail=True))")
call("said(lambda: paddle.summary(paddle.nn.Linear(4, 5), input=x))", x=normal(2, 4))
call("paddle.summary(paddle.nn.Linear(4, 5))")
