"""Programs that real Paddle's passes for inference have optimized. Run by either framework, which it calls `paddle`.

    optimized_program.py make FOLDER   each network saved, optimized with and without oneDNN, and what it gives
    optimized_program.py run FOLDER    what each optimized program gives

Results go to FOLDER/make.pickle and FOLDER/run.pickle, by name. `test_optimized.py` compares.
"""
import pickle
import sys
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from collections import Counter
from pathlib import Path

import numpy as np
import paddle
from paddle import nn

warnings.simplefilter("ignore")
F = nn.functional


def conv(x, channels=8, size=3):
    return nn.BatchNorm2D(channels)(nn.Conv2D(x.shape[1], channels, size, padding=size // 2, bias_attr=False)(x))


def activations(x):
    plain = (F.relu, F.relu6, F.hardswish, F.sigmoid, paddle.tanh, F.mish, F.swish, F.gelu, F.hardsigmoid, paddle.abs)
    for act in (*plain, lambda v: F.leaky_relu(v, 0.1), lambda v: paddle.clip(v, -1, 1)):
        x = act(conv(x))
    return x


def residual(x):
    a = conv(x)
    b = F.relu(conv(a) + a)
    return conv(b) + b, F.relu(nn.BatchNorm2D(8)(x)), F.relu(nn.BatchNorm2D(4)(nn.Conv2DTranspose(8, 4, 3)(x)))


def elementwise(x):
    a = F.relu(x + x * 2)
    b = F.sigmoid(x * a)
    c = F.gelu(x - b)
    return F.leaky_relu(paddle.tanh(c) + a, 0.2), F.relu(x + a) * 3.0, F.relu(F.softplus(x)), paddle.tanh(F.softplus(c, 2.0))


def linear(x):
    for act in (F.gelu, paddle.tanh, F.relu, F.sigmoid, F.hardswish, F.mish, lambda v: F.gelu(v, approximate=True)):
        x = act(nn.Linear(6, 6)(x))
    y = F.relu(nn.Linear(7, 5)(F.relu(nn.Linear(6, 7)(x))))
    return nn.Linear(6, 6)(x) + x, nn.Linear(5, 6)(y) * 0.5, x * paddle.static.create_parameter([1], "float32")


def attention(x):
    layer = nn.TransformerEncoderLayer(16, 4, 32, 0.0)
    layer.eval()
    return layer(x), nn.MultiHeadAttention(16, 4)(x)


def positions(ids):
    words = nn.Embedding(10, 16)(ids) + nn.Embedding(12, 16)(paddle.arange(paddle.shape(ids)[1]))
    return nn.LayerNorm(16)(words)


def shuffled(x):
    y = paddle.reshape(paddle.transpose(paddle.reshape(x, [-1, 2, 4, 6, 6]), [0, 2, 1, 3, 4]), [-1, 8, 6, 6])
    return conv(y), nn.Linear(8, 3)(paddle.mean(y, [2, 3])), paddle.transpose(paddle.squeeze(paddle.unsqueeze(y, 1), 1), [0, 2, 3, 1])


IMAGE = [-1, 8, 6, 6]
NETWORKS = {
    "activations": (activations, IMAGE), "residual": (residual, IMAGE), "elementwise": (elementwise, IMAGE), "linear": (linear, [-1, 6]),
    "attention": (attention, [-1, 5, 16]), "positions": (positions, [-1, 5]), "shuffled": (shuffled, IMAGE),
}  # fmt: skip
# Passes that are not among those of a CPU's inference, after them.
MORE = {"skip_layernorm_fuse_pass": "attention", "fc_elementwise_layernorm_fuse_pass": "attention"}


def given(name):
    shape = [2, *NETWORKS[name][1][1:]]
    rng = np.random.default_rng(0)
    return rng.integers(0, 10, shape) if name == "positions" else rng.standard_normal(shape).astype("float32")


def save(folder, name):
    paddle.seed(1)
    function, shape = NETWORKS[name]
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", shape, "int64" if name == "positions" else "float32")
        # A parameter of its own, without which some networks had none to save.
        found = function(x if name in ("positions", "activations") else x * paddle.static.create_parameter([1], "float32"))
        found = list(found) if isinstance(found, tuple) else [found]
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(startup)
    main = main.clone(for_test=True)
    found = [main.global_block().var(each.name) for each in found]
    paddle.static.save_inference_model(f"{folder}/{name}", [x], found, executor, program=main)
    return executor.run(main, feed={"x": given(name)}, fetch_list=found)


def optimized(folder, name, target, fused, more=()):
    """Let Paddle optimize a program; the types of the operators that it has then."""
    target.mkdir()
    config = paddle.inference.Config(f"{folder}/{name}.pdmodel", f"{folder}/{name}.pdiparams")
    if fused:
        config.enable_mkldnn()
    else:
        config.disable_mkldnn()
    for each in more:
        config.pass_builder().append_pass(each)
    config.enable_save_optim_model(True)
    config.set_optim_cache_dir(str(target))
    paddle.inference.create_predictor(config)
    program = paddle.static.Program.parse_from_string((target / "_optimized.pdmodel").read_bytes())
    return Counter(op.type for op in program.global_block().ops)


def make(folder):
    paddle.enable_static()
    found = {}
    for name in NETWORKS:
        results = save(folder, name)
        for fused in (False, True):
            label = f"{name}{' with oneDNN' * fused}"
            found[label] = name, optimized(folder, name, folder / label, fused), results
    for pass_name, name in MORE.items():
        found[pass_name] = name, optimized(folder, name, folder / pass_name, True, [pass_name]), found[name][2]
    return found


def run(folder):
    found = {}
    for label, (name, _, _) in pickle.loads((folder / "make.pickle").read_bytes()).items():  # noqa: S301  our own file
        config = paddle.inference.Config(f"{folder / label}/_optimized.pdmodel", f"{folder / label}/_optimized.pdiparams")
        predictor = paddle.inference.create_predictor(config)
        predictor.get_input_handle("x").copy_from_cpu(given(name))
        predictor.run()
        found[label] = [predictor.get_output_handle(each).copy_to_cpu() for each in predictor.get_output_names()]
    return found


if __name__ == "__main__":
    what, folder = sys.argv[1], Path(sys.argv[2])
    result = {"make": make, "run": run}[what](folder)
    (folder / f"{what}.pickle").write_bytes(pickle.dumps(result, protocol=4))
