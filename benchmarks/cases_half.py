"""The cases of 16 bits: what takes and gives bfloat16 or float16, each beside the same in float32.

`NAME` is float32; `NAME, bfloat16` and `NAME, float16` the same with tensors of that dtype. Steps "under autocast" keep float32 parameters and
cast inside of `auto_cast`, as people train. Each case is built when it is first called.
"""
from __future__ import annotations

import re
from math import prod

from cases_train import Case, classes, values

SIZES = (256, 1024)
DTYPES = ("float32", "bfloat16", "float16")
LARGE = [4096, 1024]
IMAGES = [8, 64, 56, 56]
CONVOLUTIONS = (("3x3", 3, 64, 1), ("1x1", 1, 256, 1), ("3x3/2", 3, 128, 2))  # name, window, outputs, step
HEADS = [4, 12, 256, 64]
LAYERS, WIDTH, BATCH, LENGTH = 6, 768, 4, 128  # of the encoder
VOCABULARY = 2000


FUNCTIONS = ("gelu", "tanh gelu", "sigmoid", "silu", "tanh", "exp", "softmax", "layer_norm")
PASSES = {"add": 3, **dict.fromkeys(FUNCTIONS, 2), "sum axis 1": 1}  # of a tensor of LARGE through memory


def work(case: str) -> dict[str, object] | None:
    """What a case cannot do without, for `Limits.seconds`; None of whole models."""
    name, _, dtype = case.rpartition(", ") if case.endswith(DTYPES[1:]) else (case, "", "float32")
    bytes_each = 4 if dtype == "float32" else 2
    if name in PASSES:
        return {"size": PASSES[name] * bytes_each * prod(LARGE), "dtype": dtype}
    times = 3 if name.endswith(", forward+backward") else 1
    name = name.removesuffix(", forward+backward")
    if found := re.fullmatch(r"matmul (\d+)", name):
        return {"multiply_adds": int(found[1]) ** 3, "size": 3 * bytes_each * int(found[1]) ** 2, "dtype": dtype}
    if found := re.fullmatch(r"linear (\d+) x (\d+) -> (\d+)", name):
        rows, inside, out = map(int, found.groups())
        return {"multiply_adds": times * rows * inside * out, "size": bytes_each * inside * out, "dtype": dtype}
    if name == "attention":  # five products in the backward pass, two before
        batch, heads, length, width = HEADS
        return {"multiply_adds": (7 if times == 3 else 2) * batch * heads * length * length * width, "dtype": dtype}
    for shape, kernel, out, stride in CONVOLUTIONS:
        if name == f"conv2d {shape}":
            n, c, h, w = IMAGES
            return {"multiply_adds": times * n * out * (h // stride) * (w // stride) * c * kernel * kernel, "dtype": dtype}
    return None


def make(framework: str) -> dict[str, Case]:
    return {"torch": torch_cases, "wherry": wherry_cases}.get(framework, dict)()


def named(name: str, dtype: str) -> str:
    return name if dtype == "float32" else f"{name}, {dtype}"


def cases_of(lib) -> dict[str, Case]:
    """`lib`: what the frameworks call otherwise (Torch and Wherry below)."""
    cases: dict[str, Case] = {}
    for dtype in DTYPES:
        made = lambda build, dtype=dtype: Case(lambda: build(dtype))  # noqa: E731
        for n in SIZES:
            cases[named(f"matmul {n}", dtype)] = made(lambda d, n=n: lib.matmul(lib.tensor([n, n], d), lib.tensor([n, n], d)))
        cases |= {
            named("linear 1 x 2048 -> 8192", dtype): made(lambda d: lib.linear(1, 2048, 8192, d)),
            named("linear 512 x 768 -> 3072", dtype): made(lambda d: lib.linear(512, 768, 3072, d)),
            named("linear 512 x 768 -> 3072, forward+backward", dtype): made(lambda d: lib.linear(512, 768, 3072, d, train=True)),
            named("attention", dtype): made(lambda d: lib.attention([lib.tensor(HEADS, d) for _ in range(3)])),
            named("attention, forward+backward", dtype): made(lambda d: lib.attention([lib.tensor(HEADS, d, True) for _ in range(3)], train=True)),
        }
        for name, kernel, outputs, stride in CONVOLUTIONS:
            make_conv = lambda d, k=kernel, o=outputs, s=stride, train=False: lib.conv(lib.tensor(IMAGES, d, train), k, o, s, d, train)  # noqa: E731
            cases[named(f"conv2d {name}", dtype)] = made(make_conv)
            cases[named(f"conv2d {name}, forward+backward", dtype)] = made(lambda d, make_conv=make_conv: make_conv(d, train=True))
        for name in PASSES:
            cases[named(name, dtype)] = made(lambda d, name=name: lib.elementwise(name, d))
        cases |= {
            named("LSTM", dtype): made(lambda d: lib.recurrent("LSTM", d)),
            named("GRU", dtype): made(lambda d: lib.recurrent("GRU", d)),
        }
        if dtype != "float16":
            cases |= {
                named("encoder of 6 layers", dtype): made(lambda d: lib.encoder(d)),
                named("encoder of 6 layers, forward+backward", dtype): made(lambda d: lib.encoder(d, train=True)),
                named("convolution net", dtype): made(lambda d: lib.net(d)),
                named("convolution net, forward+backward", dtype): made(lambda d: lib.net(d, train=True)),
            }
    for name, cast in (("step of GPT", False), ("step of GPT, autocast", True)):
        cases[name] = Case(lambda cast=cast: lib.gpt(cast))
    return cases


class Torch:
    tanh_gelu: object = "tanh"

    def __init__(self):
        import torch

        self.torch, self.nn, self.F = torch, torch.nn, torch.nn.functional

    def dtype(self, name):
        return getattr(self.torch, name)

    def tensor(self, shape, dtype, grad=False):
        return self.torch.from_numpy(values(*shape)).to(self.dtype(dtype)).requires_grad_(grad)

    def answering(self, function):
        def answer():
            with self.torch.no_grad():
                return function()

        return answer

    def training(self, function, leaves):
        def step():
            out = function()
            out.backward(self.torch.ones_like(out))
            for leaf in leaves:
                leaf.grad = None

        return step

    def matmul(self, x, y):
        return lambda: x @ y

    def layer(self, layer, x, train):
        """Calls a layer, or trains it."""
        call = lambda: layer(x)  # noqa: E731
        if not train:
            layer.eval()
            return self.answering(call)
        return self.training(call, [*layer.parameters(), x])

    def linear(self, rows, inside, out, dtype, train=False):
        return self.layer(self.nn.Linear(inside, out).to(self.dtype(dtype)), self.tensor([rows, inside], dtype, train), train)

    def attention(self, qkv, train=False):
        call = lambda: self.F.scaled_dot_product_attention(*qkv)  # noqa: E731
        return self.training(call, qkv) if train else call

    def conv(self, x, kernel, out, stride, dtype, train):
        return self.layer(self.nn.Conv2d(x.shape[1], out, kernel, stride, kernel // 2).to(self.dtype(dtype)), x, train)

    def elementwise(self, name, dtype):
        x, y, gain = self.tensor(LARGE, dtype), self.tensor(LARGE, dtype), self.tensor(LARGE[1:], dtype)
        return {
            "add": lambda: x + y, "gelu": lambda: self.F.gelu(x), "tanh gelu": lambda: self.F.gelu(x, approximate=self.tanh_gelu),
            "sigmoid": lambda: self.F.sigmoid(x), "silu": lambda: self.F.silu(x), "tanh": lambda: x.tanh(), "exp": lambda: x.exp(),
            "softmax": lambda: self.F.softmax(x, -1), "layer_norm": lambda: self.F.layer_norm(x, LARGE[1:], gain, gain),
            "sum axis 1": lambda: x.sum(1),
        }[name]

    def recurrent(self, name, dtype):
        layer = getattr(self.nn, name)(128, 256, batch_first=True).to(self.dtype(dtype))
        return self.layer(layer, self.tensor([16, 64, 128], dtype), False)

    def encoder(self, dtype, train=False):
        layer = self.nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, dropout=0.0, batch_first=True)
        return self.layer(self.nn.TransformerEncoder(layer, LAYERS).to(self.dtype(dtype)), self.tensor([BATCH, LENGTH, WIDTH], dtype, train), train)

    def net(self, dtype, train=False):
        nn, layers, channels = self.nn, [], 3
        for width in (64, 64, 128, 128, 256, 256):
            layers += [nn.Conv2d(channels, width, 3, 2 if width != channels and channels != 3 else 1, 1), nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10)).to(self.dtype(dtype))
        return self.layer(model, self.tensor([8, 3, 64, 64], dtype, train), train)

    def gpt(self, cast):
        torch, nn, F = self.torch, self.nn, self.F

        class Block(nn.Module):
            def __init__(self, width=384, heads=6):
                super().__init__()
                self.heads = heads
                self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

            def forward(self, x):
                b, t, w = x.shape
                q, k, v = self.qkv(self.first(x)).reshape(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
                x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, w))
                return x + self.down(F.gelu(self.up(self.second(x))))

        model = nn.Sequential(nn.Embedding(VOCABULARY, 384), *[Block() for _ in range(6)], nn.LayerNorm(384), nn.Linear(384, VOCABULARY))
        update = torch.optim.AdamW(model.parameters(), 1e-3)
        x = torch.from_numpy(classes(4, 256, n=VOCABULARY))

        def step():
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=cast):
                loss = F.cross_entropy(model(x).flatten(0, 1).float(), x.flatten())
            loss.backward()
            update.step()
            update.zero_grad()

        return step


class Wherry:
    tanh_gelu = True

    def __init__(self):
        import wherry

        self.lib, self.nn, self.F = wherry, wherry.nn, wherry.nn.functional

    def tensor(self, shape, dtype, grad=False):
        x = self.lib.to_tensor(values(*shape)).astype(dtype)
        x.stop_gradient = not grad
        return x

    def answering(self, function):
        def answer():
            with self.lib.no_grad():
                return function()

        return answer

    def training(self, function, leaves):
        def step():
            out = function()
            self.lib.autograd.backward([out], [self.lib.ones_like(out)])
            for leaf in leaves:
                leaf.clear_gradient(False)

        return step

    matmul, layer, elementwise = Torch.matmul, Torch.layer, Torch.elementwise

    def linear(self, rows, inside, out, dtype, train=False):
        return self.layer(self.nn.Linear(inside, out).astype(dtype), self.tensor([rows, inside], dtype, train), train)

    def attention(self, qkv, train=False):
        qkv = [self.lib.transpose(x, [0, 2, 1, 3]).detach() for x in qkv]
        for x in qkv:
            x.stop_gradient = not train
        call = lambda: self.F.scaled_dot_product_attention(*qkv)  # noqa: E731
        return self.training(call, qkv) if train else call

    def conv(self, x, kernel, out, stride, dtype, train):
        return self.layer(self.nn.Conv2D(x.shape[1], out, kernel, stride, kernel // 2).astype(dtype), x, train)

    def recurrent(self, name, dtype):
        return self.layer(getattr(self.nn, name)(128, 256).astype(dtype), self.tensor([16, 64, 128], dtype), False)

    def encoder(self, dtype, train=False):
        layer = self.nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, dropout=0.0)
        return self.layer(self.nn.TransformerEncoder(layer, LAYERS).astype(dtype), self.tensor([BATCH, LENGTH, WIDTH], dtype, train), train)

    def net(self, dtype, train=False):
        nn, layers, channels = self.nn, [], 3
        for width in (64, 64, 128, 128, 256, 256):
            layers += [nn.Conv2D(channels, width, 3, 2 if width != channels and channels != 3 else 1, 1), nn.BatchNorm2D(width), nn.ReLU()]
            channels = width
        model = nn.Sequential(*layers, nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(channels, 10)).astype(dtype)
        return self.layer(model, self.tensor([8, 3, 64, 64], dtype, train), train)

    def gpt(self, cast):
        lib, nn, F = self.lib, self.nn, self.F

        class Block(nn.Layer):
            def __init__(self, width=384, heads=6):
                super().__init__()
                self.heads = heads
                self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

            def forward(self, x):
                b, t, w = x.shape
                q, k, v = self.qkv(self.first(x)).reshape([b, t, 3, self.heads, -1]).unbind(2)
                x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).reshape([b, t, w]))
                return x + self.down(F.gelu(self.up(self.second(x))))

        model = nn.Sequential(nn.Embedding(VOCABULARY, 384), *[Block() for _ in range(6)], nn.LayerNorm(384), nn.Linear(384, VOCABULARY))
        update = lib.optimizer.AdamW(1e-3, parameters=model.parameters())
        x = lib.to_tensor(classes(4, 256, n=VOCABULARY))

        def step():
            with lib.amp.auto_cast(cast, dtype="bfloat16"):
                loss = F.cross_entropy(model(x).flatten(0, 1).astype("float32"), x.flatten())
            loss.backward()
            update.step()
            update.clear_grad()

        return step


def torch_cases() -> dict[str, Case]:
    return cases_of(Torch())


def wherry_cases() -> dict[str, Case]:
    return cases_of(Wherry())
