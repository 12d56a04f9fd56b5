"""A language model of characters, with an LSTM or with a Transformer.

    python examples/character_model.py [--kind lstm|transformer] [--steps 1500] [--quick]

It reads texts that come with the system, learns to say which character follows, and writes some lines of
its own. The number to watch is bits per character: 8 for bytes that come as they like, about 4.5 for
someone who only knows how frequent each letter is.
"""
import argparse
import math
import sys
import time
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np

import wherry as paddle
from wherry import nn
from wherry.nn import functional as F

LENGTH = 64  # characters that the model sees at once
BATCH = 32


def main() -> int:
    parser = argparse.ArgumentParser(description="Learn to write texts that come with the system.")
    parser.add_argument("--kind", choices=("lstm", "transformer"), default="lstm")
    parser.add_argument("--steps", type=int, default=1500, help="batches to learn from (default: 1500)")
    parser.add_argument("--quick", action="store_true", help="few steps: a look at whether it works")
    arguments = parser.parse_args()
    steps = 200 if arguments.quick else arguments.steps

    paddle.seed(0)
    random = np.random.default_rng(0)
    text = text_of_system()
    letters = sorted(set(text))
    data = np.array([letters.index(c) for c in text])
    train, test = data[: len(data) * 9 // 10], data[len(data) * 9 // 10 :]
    print(f"{len(text)} characters, {len(letters)} different ones")

    net = Recurrent(len(letters)) if arguments.kind == "lstm" else Attentive(len(letters))
    rate = paddle.optimizer.lr.LinearWarmup(
        paddle.optimizer.lr.CosineAnnealingDecay(0.003, steps), warmup_steps=steps // 10, start_lr=0.0, end_lr=0.003
    )
    optimizer = paddle.optimizer.AdamW(
        rate, parameters=net.parameters(), weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(1.0)
    )
    started = time.perf_counter()
    for step in range(1, steps + 1):
        loss = loss_of(net, batch_of(train, random))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        if step % (steps // 10) == 0:
            per_step = (time.perf_counter() - started) / step
            print(f"step {step:5d}  {bits(loss):.3f} bits per character  {per_step * 1e3:.1f} ms per step", flush=True)

    net.eval()
    with paddle.no_grad():
        unseen = np.mean([bits(loss_of(net, batch_of(test, random))) for _ in range(8)])
    print(f"{unseen:.3f} bits per character of unseen text")
    print("It writes:\n" + write(net, letters, "The ", 300, random))
    return 0 if unseen < (3.8 if arguments.quick else 3.0) else 1


class Recurrent(nn.Layer):
    """An LSTM over the characters: `[B, T]` to scores `[B, T, letters]`."""

    def __init__(self, letters: int, width: int = 128) -> None:
        super().__init__()
        self.embedding = nn.Embedding(letters, 64)
        self.lstm = nn.LSTM(64, width)
        self.head = nn.Linear(width, letters)

    def forward(self, characters: paddle.Tensor) -> paddle.Tensor:
        hidden, _ = self.lstm(self.embedding(characters))
        return self.head(hidden)


class Attentive(nn.Layer):
    """A Transformer in which a character sees those before it: `[B, T]` to scores `[B, T, letters]`."""

    def __init__(self, letters: int, width: int = 96) -> None:
        super().__init__()
        self.embedding = nn.Embedding(letters, width)
        self.position = nn.Embedding(LENGTH, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, activation="gelu", normalize_before=True)
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(width))
        self.head = nn.Linear(width, letters)

    def forward(self, characters: paddle.Tensor) -> paddle.Tensor:
        length = characters.shape[1]
        x = self.embedding(characters) + self.position(paddle.arange(length))
        later = paddle.triu(paddle.full([length, length], -1e9), 1)  # added to the scores of what comes later
        return self.head(self.encoder(x, later))


def loss_of(net: nn.Layer, batch: paddle.Tensor) -> paddle.Tensor:
    """Cross entropy in nats of each next character of `[B, LENGTH + 1]`."""
    scores = net(batch[:, :-1])
    return F.cross_entropy(scores, batch[:, 1:].unsqueeze(-1))


def bits(loss: paddle.Tensor) -> float:
    return float(loss) / math.log(2)


def batch_of(data: np.ndarray, random: np.random.Generator) -> paddle.Tensor:
    """Pieces of the text, `[BATCH, LENGTH + 1]`."""
    starts = random.integers(0, len(data) - LENGTH, BATCH)
    return paddle.to_tensor(data[starts[:, None] + np.arange(LENGTH + 1)])


@paddle.no_grad()
def write(net: nn.Layer, letters: list[str], text: str, count: int, random: np.random.Generator) -> str:
    """`text` and `count` characters that the model thinks of."""
    seen = [letters.index(c) for c in text]
    for _ in range(count):
        scores = net(paddle.to_tensor([seen[-LENGTH:]]))[0, -1]
        probabilities = F.softmax(scores / 0.7).numpy().astype("float64")  # below 1: rather what is likely
        seen.append(int(random.choice(len(letters), p=probabilities / probabilities.sum())))
    return "".join(letters[i] for i in seen)


def text_of_system() -> str:
    """Licences if there are some, else what Python's `help()` says about the language."""
    files = sorted(Path("/usr/share/common-licenses").glob("*GPL*")) + sorted(Path(sys.base_prefix).glob("**/LICENSE.txt"))
    texts = {path.resolve(): path.read_text(errors="replace") for path in files if path.is_file()}
    if sum(map(len, texts.values())) < 50_000:
        return printable("\n".join(topics.values()))
    return printable("\n".join(texts.values()))


def printable(text: str) -> str:
    return "".join(c for c in text if " " <= c <= "~" or c == "\n")


if __name__ == "__main__":
    sys.exit(main())
