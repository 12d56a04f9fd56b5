"""The cases of large models: steps of fine-tuning and training, answers, decoding. Sizes are those that people use.

With `--memory` each case runs in a process of its own. `, checkpointed` recomputes each layer in the backward pass.
"""
from __future__ import annotations

from cases_train import Case, classes, values

BERT = {"layers": 12, "width": 768, "heads": 12, "words": 30522}  # BERT-base; also GPT-2 124M but for its vocabulary
WORDS_OF_GPT2 = 50257
CONTEXT, NEW = 128, 16  # words before decoding, and those to come


def make(framework: str) -> dict[str, Case]:
    return {"torch": lambda: cases_of(torch_library()), "wherry": lambda: cases_of(wherry_library())}.get(framework, dict)()


class Library:
    """What both call alike, and what one calls otherwise."""

    def __init__(self, nn, F, **others) -> None:
        self.nn, self.F = nn, F
        vars(self).update(others)


def torch_library():
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    lib = Library(
        nn, nn.functional, Layer=nn.Module, Conv=nn.Conv2d, Norm=nn.GroupNorm, List=nn.ModuleList, tensor=torch.from_numpy, cat=torch.cat,
        no_grad=torch.no_grad, checkpoint=lambda f, x: checkpoint(f, x, use_reentrant=False), clear=lambda update: update.zero_grad(),
        adamw=lambda model: torch.optim.AdamW(model.parameters(), 1e-4), argmax=lambda x: x.argmax(-1, keepdim=True),
        flatten=lambda x: x.flatten(2).transpose(1, 2),
    )

    def attend(q, k, v, causal):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return lib.F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2)

    lib.attend = attend
    return lib


def wherry_library():
    import wherry
    from wherry import nn
    from wherry.distributed.fleet.utils import recompute

    F = nn.functional
    lib = Library(
        nn, F, Layer=nn.Layer, Conv=nn.Conv2D, Norm=nn.GroupNorm, List=nn.LayerList, tensor=wherry.to_tensor, cat=wherry.concat,
        no_grad=wherry.no_grad, checkpoint=recompute, clear=lambda update: update.clear_grad(),
        adamw=lambda model: wherry.optimizer.AdamW(1e-4, parameters=model.parameters()), argmax=lambda x: x.argmax(-1, keepdim=True),
        flatten=lambda x: x.flatten(2).transpose([0, 2, 1]),
    )
    lib.attend = lambda q, k, v, causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return lib


def models_of(lib):
    """Transformers of blocks that normalise first, and a UNet."""
    nn, F = lib.nn, lib.F

    class Block(lib.Layer):
        def __init__(self, width, heads, causal):
            super().__init__()
            self.heads, self.causal = heads, causal
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.grow, self.shrink = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x, cache=None):
            batch, length, width = x.shape
            q, k, v = self.qkv(self.first(x)).reshape([batch, length, 3, self.heads, width // self.heads]).unbind(2)
            if cache is not None:
                if "k" in cache:
                    k, v = lib.cat([cache["k"], k], 1), lib.cat([cache["v"], v], 1)
                cache["k"], cache["v"] = k, v
            x = x + self.out(lib.attend(q, k, v, self.causal and length > 1).reshape([batch, length, width]))
            return x + self.shrink(F.gelu(self.grow(self.second(x))))

    class Language(lib.Layer):
        def __init__(self, words, classes_out, causal, layers=BERT["layers"], width=BERT["width"], heads=BERT["heads"], length=1024):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
            self.blocks = lib.List([Block(width, heads, causal) for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes_out)
            self.causal, self.checkpointed = causal, False

        def forward(self, x, places, caches=None):
            x = self.words(x) + self.places(places)
            for i, block in enumerate(self.blocks):
                x = lib.checkpoint(block, x) if self.checkpointed else block(x, caches and caches[i])
            if not self.causal:
                x = x[:, 0]
            elif caches:
                x = x[:, -1:]
            return self.head(self.norm(x))

    class Vision(lib.Layer):  # ViT-B/16, with the mean of its pieces in place of a word for the class
        def __init__(self, width=768, heads=12, layers=12):
            super().__init__()
            self.pieces, self.places = lib.Conv(3, width, 16, 16), nn.Embedding(196, width)
            self.blocks = lib.List([Block(width, heads, False) for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

        def forward(self, x, places):
            x = lib.flatten(self.pieces(x)) + self.places(places)
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x).mean(1))

    class Pair(lib.Layer):
        def __init__(self, channels, out):
            super().__init__()
            self.first, self.second = lib.Conv(channels, out, 3, 1, 1), lib.Conv(out, out, 3, 1, 1)
            self.norms = lib.List([lib.Norm(8, out), lib.Norm(8, out)])

        def forward(self, x):
            return F.relu(self.norms[1](self.second(F.relu(self.norms[0](self.first(x))))))

    class UNet(lib.Layer):
        def __init__(self, widths=(32, 64, 128, 256)):
            super().__init__()
            self.down = lib.List([Pair(3 if i == 0 else widths[i - 1], w) for i, w in enumerate(widths)])
            self.up = lib.List([Pair(widths[i + 1] + w, w) for i, w in enumerate(widths[:-1])])
            self.head = lib.Conv(widths[0], 2, 1)

        def forward(self, x):
            kept = []
            for i, pair in enumerate(self.down):
                x = pair(x if i == 0 else F.max_pool2d(x, 2, 2))
                kept.append(x)
            for i in reversed(range(len(self.up))):
                x = self.up[i](lib.cat([F.interpolate(x, scale_factor=2, mode="nearest"), kept[i]], 1))
            return self.head(x)

    return Language, Vision, UNet


def cases_of(lib) -> dict[str, Case]:
    Language, Vision, UNet = models_of(lib)
    F, tensor = lib.F, lib.tensor

    def training(model, inputs, labels, logits=lambda out: out):
        update, inputs, labels = lib.adamw(model), [tensor(x) for x in inputs], tensor(labels)

        def step():
            F.cross_entropy(logits(model(*inputs)), labels).backward()
            update.step()
            lib.clear(update)

        return step

    def answering(model, *inputs):
        model.eval()
        inputs = [tensor(x) for x in inputs]

        def answer():
            with lib.no_grad():
                return model(*inputs)

        return answer

    places = lambda n: classes(1, n, n=1) + range(n)  # noqa: E731

    def bert(checkpointed=False):
        model = Language(BERT["words"], 2, causal=False)
        model.checkpointed = checkpointed
        return training(model, (classes(8, 128, n=BERT["words"]), places(128)), classes(8, n=2))

    def gpt2(checkpointed=False):
        model = Language(WORDS_OF_GPT2, WORDS_OF_GPT2, causal=True)
        model.checkpointed = checkpointed
        words = classes(2, 128, n=WORDS_OF_GPT2)
        return training(model, (words, places(128)), words.reshape(-1), lambda out: out.reshape([-1, WORDS_OF_GPT2]))

    def decoding():
        model = Language(WORDS_OF_GPT2, WORDS_OF_GPT2, causal=True)
        model.eval()
        start = tensor(classes(1, CONTEXT, n=WORDS_OF_GPT2))
        at = [tensor(places(CONTEXT)), *(tensor(classes(1, 1, n=1) + CONTEXT + i) for i in range(NEW - 1))]

        def decode():
            with lib.no_grad():
                caches, word = [{} for _ in range(BERT["layers"])], start
                for i in range(NEW):
                    word = lib.argmax(model(word, at[i], caches))[:, -1]

        return decode

    def unet():
        return training(UNet(), (values(4, 3, 128, 128),), classes(4, 128, 128, n=2).reshape(-1), per_pixel)

    def per_pixel(out):
        return out.reshape([4, 2, 128 * 128]).swapaxes(1, 2).reshape([-1, 2])

    return {
        "BERT-base, step of 8 x 128": Case(bert),
        "BERT-base, step of 8 x 128, checkpointed": Case(lambda: bert(True)),
        "BERT-base, answer to 8 x 128": Case(lambda: answering(
            Language(BERT["words"], 2, causal=False), classes(8, 128, n=BERT["words"]), places(128))),
        "GPT-2 124M, step of 2 x 128": Case(gpt2),
        f"GPT-2 124M, {NEW} words after {CONTEXT}": Case(decoding),
        "ViT-B/16, step of 4": Case(lambda: training(Vision(), (values(4, 3, 224, 224), places(196)), classes(4, n=1000))),
        "ViT-B/16, answer to 4": Case(lambda: answering(Vision(), values(4, 3, 224, 224), places(196))),
        "UNet 32 to 256, step of 4 x 128 x 128": Case(unet),
        "UNet 32 to 256, answer to 4 x 128 x 128": Case(lambda: answering(UNet(), values(4, 3, 128, 128))),
    }
