"""A small model of characters for the page "Write along": it goes on with what somebody types.

    python examples/write_text.py [--models build/models] [--minutes 4]

It learns from Python's own help about the language (`help("topics")`), which comes with every Python, and in a checkout from
this project's documents. The number to watch is bits per character of text that it did not see. What is exported is one step
of the network, a character and its state in, scores of the next one and the new state out: a page that keeps the state
pays for each character once.
"""
import argparse
import json
import math
import os
import sys
import time
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np

import wherry as paddle
from wherry import nn
from wherry.nn import functional as F
from wherry_export.web import engine_files

PAGE = "write-page"
LENGTH, BATCH = 64, 24
DOCUMENTS = Path(__file__).resolve().parent.parent / "docs"


class Writer(nn.Layer):
    """Characters `[N, T]` and the state `[1, N, hidden]` before them to scores of each next one `[N, T, letters]` and the state after them."""

    def __init__(self, letters: int, hidden: int = 192) -> None:
        super().__init__()
        self.hidden = hidden
        self.embedding = nn.Embedding(letters, 48)
        self.gru = nn.GRU(48, hidden)
        self.head = nn.Linear(hidden, letters)

    def forward(self, characters: paddle.Tensor, state: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        seen, state = self.gru(self.embedding(characters), state)
        return self.head(seen), state


def main() -> int:
    parser = argparse.ArgumentParser(description="Train and export the model that the page Write along writes with.")
    parser.add_argument("--models", type=Path, default=Path("build/models"), help="folder of the demo's models (default: build/models)")
    parser.add_argument("--minutes", type=float, default=4, help="of training (default: 4)")
    options = parser.parse_args()

    paddle.seed(0)
    random = np.random.default_rng(0)
    text = text_of_system()
    letters = sorted(set(text))
    numbers = {letter: i for i, letter in enumerate(letters)}
    data = np.array([numbers[c] for c in text])
    pieces = data[: len(data) // (20 * LENGTH) * 20 * LENGTH].reshape(-1, 20 * LENGTH)
    unseen, train = pieces[::20].reshape(-1), np.delete(pieces, np.s_[::20], axis=0).reshape(-1)
    print(f"{len(text)} characters, {len(letters)} different ones", flush=True)

    net = Writer(len(letters))
    optimizer = paddle.optimizer.AdamW(0.004, parameters=net.parameters(), weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(1.0))
    started, step, shown = time.perf_counter(), 0, 0.0
    while (share := (time.perf_counter() - started) / (60 * options.minutes)) < 1:
        step += 1
        optimizer.set_lr(0.004 * min(1, step / 50) * 0.5 * (1 + math.cos(math.pi * share)) + 1e-5)
        loss = loss_of(net, piece_of(train, random))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if share - shown >= 0.1:
            shown = share
            print(f"{share:4.0%}  step {step:5d}  {float(loss) / math.log(2):.3f} bits per character", flush=True)

    net.eval()
    with paddle.no_grad():
        bits = float(np.mean([float(loss_of(net, piece_of(unseen, random))) for _ in range(20)])) / math.log(2)
    print(f"{bits:.3f} bits per character of unseen text")
    lack = engine_files.missing()
    if lack is not None:
        print(f"Not exported as a page: {lack}")
        return 0
    options.models.mkdir(parents=True, exist_ok=True)
    spec = [paddle.static.InputSpec([1, 1], "int64", "character"), paddle.static.InputSpec([1, 1, net.hidden], "float32", "state")]
    example = [np.array([[numbers["a"]]]), np.zeros([1, 1, net.hidden], "float32")]
    print(paddle.export.web(net, options.models / PAGE, input_spec=spec, title="Write along: one step", labels=letters, example=example))
    note = options.models / f"{PAGE}.measured.json"
    note.with_suffix(".new").write_text(json.dumps({"bits": round(bits, 3), "characters": len(text), "hidden": net.hidden}) + "\n")
    os.replace(note.with_suffix(".new"), note)
    return 0


def loss_of(net: Writer, piece: paddle.Tensor) -> paddle.Tensor:
    """Cross entropy in nats of each next character of `[N, LENGTH + 1]`."""
    scores, _ = net(piece[:, :-1], paddle.zeros([1, piece.shape[0], net.hidden]))
    return F.cross_entropy(scores, piece[:, 1:].unsqueeze(-1))


def piece_of(data: np.ndarray, random: np.random.Generator) -> paddle.Tensor:
    """Pieces of the text, `[BATCH, LENGTH + 1]`."""
    starts = random.integers(0, len(data) - LENGTH, BATCH)
    return paddle.to_tensor(data[starts[:, None] + np.arange(LENGTH + 1)])


def text_of_system() -> str:
    """What there is to learn from: of each line the plain characters, without the marks of tables and headings."""
    texts = [*topics.values(), *(path.read_text(encoding="utf-8") for path in sorted(DOCUMENTS.glob("*.md")))]
    lines = (line.rstrip() for text in texts for line in text.splitlines())
    kept = (line for line in lines if not line.startswith(("|", "***", "===", "---", "```", ">>>", "..")))
    return "".join(c for c in "\n".join(kept) if " " <= c <= "~" or c == "\n")


if __name__ == "__main__":
    sys.exit(main())
