"""What `wherry launch --plan examples/plan_model.py --ranks 1024` is asked about: layers, samples, loss.

    wherry launch --plan examples/plan_model.py --ranks 1024 --memory 16
    wherry launch --plan examples/plan_model.py --ranks 64 --check 2,4      # and compare the forecast with what 2 and 4 ranks take here
"""
from __future__ import annotations

import wherry as paddle

BATCH, LENGTH, WIDTH, VOCAB = 1024, 16, 64, 256


class Block(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.attention = paddle.nn.MultiHeadAttention(WIDTH, 4)
        self.norms = paddle.nn.LayerList([paddle.nn.LayerNorm(WIDTH), paddle.nn.LayerNorm(WIDTH)])
        self.up, self.down = paddle.nn.Linear(WIDTH, 4 * WIDTH), paddle.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = x + self.attention(self.norms[0](x))
        return x + self.down(paddle.nn.functional.gelu(self.up(self.norms[1](x))))


def layers() -> list[paddle.nn.Layer]:
    return [paddle.nn.Embedding(VOCAB, WIDTH), *(Block() for _ in range(4)), paddle.nn.Linear(WIDTH, VOCAB)]


def example(n: int) -> tuple[paddle.Tensor, paddle.Tensor]:
    tokens = paddle.randint(0, VOCAB, [n, LENGTH + 1])
    return tokens[:, :-1], tokens[:, 1:]


def loss(scores: paddle.Tensor, labels: paddle.Tensor) -> paddle.Tensor:
    return paddle.nn.functional.cross_entropy(scores.reshape([-1, VOCAB]), labels.reshape([-1]))
