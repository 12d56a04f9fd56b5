"""Programs as people write them, on the GPU and on the CPU: a language model in full and mixed precision, `Model.fit`, recurrent layers."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_graph import jit
from wherry_nn import functional as F
from wherry_tensor import to_tensor
from wherry_train import Model, amp, metric, optimizer
from wherry_train.io import Dataset

pytestmark = pytest.mark.filterwarnings("error:.*has no kernel for it.*")


def _both(run, tolerance):
    """What a program gives on both devices is near."""
    results = []
    for device in ("cpu", "gpu"):
        wt.set_device(device)
        wt.seed(1)
        results.append([np.asarray(value, "float64") for value in run()])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance)


def _filled(net, deviation=0.1):
    rng = np.random.default_rng(0)
    for p in net.parameters():
        p.set_value(to_tensor(rng.normal(0, deviation, p.shape).astype("float32")))
    return net


class Block(nn.Layer):
    """A block of a transformer, with dropout, whose numbers are the same on both devices."""

    def __init__(self, width, heads):
        super().__init__()
        self.norms = nn.LayerList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.inside, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = self.inside(self.norms[0](x)).reshape([n, length, 3, self.heads, width // self.heads]).unbind(2)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True).reshape([n, length, width])
        x = x + self.dropout(self.out(attended))
        return x + self.feed(self.norms[1](x))


class LanguageModel(nn.Layer):
    def __init__(self, words=32, length=8, width=16):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.block, self.norm, self.out = Block(width, 2), nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, ids):
        return self.out(self.norm(self.block(self.words(ids) + self.positions(wt.arange(ids.shape[1])))))


def _train_language_model(level, captured=False, steps=2):
    net = _filled(LanguageModel())
    schedule = optimizer.lr.CosineAnnealingDecay(1e-2, 10)
    chosen = optimizer.AdamW(schedule, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0), multi_precision=level == "O2")
    scaler = amp.GradScaler(enable=level is not None, init_loss_scaling=256.0)
    if level == "O2":
        net, chosen = amp.decorate(net, chosen, level="O2", dtype="float16")
    run = jit.to_static(net) if captured else net
    rng, losses = np.random.default_rng(3), []
    for _ in range(steps):
        tokens = to_tensor(rng.integers(0, 32, (2, 9)))
        with amp.auto_cast(enable=level is not None, level=level or "O1", dtype="float16"):
            logits = run(tokens[:, :-1]).astype("float32").reshape([-1, 32])
            loss = F.cross_entropy(logits, tokens[:, 1:].reshape([-1, 1]))
        scaler.scale(loss).backward()
        scaler.step(chosen)
        scaler.update()
        chosen.clear_grad()
        schedule.step()
        losses.append(float(loss))
    return [losses, *(p.astype("float32").numpy() for p in net.parameters())]


# Adam's first steps are of one size however small a gradient is, so that a gradient of rounding errors alone may go either way: what is
# compared are 16-bit floats of three digits, and steps of 0.01.
@pytest.mark.parametrize(("level", "captured", "tolerance"), [(None, False, 1e-4), (None, True, 1e-4), ("O1", False, 2e-2), ("O2", False, 2e-2)])
def test_a_language_model_trains_as_on_the_cpu(gpu, level, captured, tolerance):
    _both(lambda: _train_language_model(level, captured), tolerance)


class Rows(Dataset):
    def __init__(self):
        rng = np.random.default_rng(2)
        self.x, self.y = rng.normal(size=(16, 1, 4, 4)).astype("float32"), rng.integers(0, 3, (16, 1))

    def __len__(self):
        return 16

    def __getitem__(self, i):
        return self.x[i], self.y[i]


@pytest.mark.parametrize("level", [None, "O1"])
def test_a_model_fits_evaluates_predicts_and_is_saved_as_on_the_cpu(gpu, tmp_path, level):
    def run():
        net = _filled(nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 3)))
        model = Model(net)
        chosen = optimizer.Momentum(0.05, parameters=net.parameters())
        model.prepare(chosen, nn.CrossEntropyLoss(), metric.Accuracy(), amp_configs={"level": level} if level else None)
        model.fit(Rows(), epochs=2, batch_size=4, shuffle=False, verbose=0)
        model.save(str(tmp_path / "model"))
        found = model.evaluate(Rows(), batch_size=4, verbose=0)
        before = model.predict(Rows(), batch_size=4, verbose=0, stack_outputs=True)[0]
        model.fit(Rows(), epochs=1, batch_size=4, shuffle=False, verbose=0)
        model.load(str(tmp_path / "model"))
        after = model.predict(Rows(), batch_size=4, verbose=0, stack_outputs=True)[0]
        np.testing.assert_array_equal(after, before)
        return [np.ravel(found["loss"]), before.astype("float32")]

    _both(run, 5e-3 if level else 1e-5)


def test_recurrent_layers_and_their_gradients_are_those_of_the_cpu(gpu):
    def run():
        net = _filled(nn.LSTM(4, 6, 2, direction="bidirect"))
        x = to_tensor(np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32"), stop_gradient=False)
        y, (h, _) = net(x)
        (y.sum() + h.sum()).backward()
        return [y.numpy(), h.numpy(), x.grad.numpy(), net.parameters()[0].grad.numpy()]

    _both(run, 1e-5)
