"""Store the weights of a language model in 8 and in 4 bits, and look at what that costs.

    python examples/small_weights.py [--steps 1500] [--quick]

A Transformer of characters (that of examples/character_model.py) is trained; then every Linear layer gets weights of few bits, which are
dequantized while they are multiplied, and the perplexity of unseen text is measured again: rounded to nearest, then by GPTQ and by AWQ, which look at
what the layers get.
"""
import argparse
import sys

import numpy as np
from character_model import Attentive, batch_of, bits, loss_of, text_of_system

import wherry as paddle
from wherry import nn


def main() -> int:
    parser = argparse.ArgumentParser(description="Store the weights of a language model in few bits.")
    parser.add_argument("--steps", type=int, default=1500, help="batches to learn from (default: 1500)")
    parser.add_argument("--quick", action="store_true", help="few steps: a look at whether it works")
    arguments = parser.parse_args()
    steps = 60 if arguments.quick else arguments.steps

    paddle.seed(0)
    text = text_of_system()
    letters = sorted(set(text))
    data = np.array([letters.index(c) for c in text])
    train, test = data[: len(data) * 9 // 10], data[len(data) * 9 // 10 :]
    net = Attentive(len(letters))
    rate = paddle.optimizer.lr.CosineAnnealingDecay(0.003, steps)
    optimizer = paddle.optimizer.AdamW(rate, parameters=net.parameters(), weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(1.0))
    random = np.random.default_rng(0)
    for _ in range(steps):
        loss_of(net, batch_of(train, random)).backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
    net.eval()

    full = perplexity(net, test)
    print(f"{'float32':<34} perplexity {full:.4f}  {kilobytes(net):7.1f} kB")
    worst = {}
    seen = [batch_of(train, random)[:, :-1] for _ in range(8)]
    ways = {
        "to nearest": paddle.quant.quantize_weights, "by GPTQ": lambda net, **few: paddle.quant.gptq(net, seen, **few),
        "by AWQ": lambda net, **few: paddle.quant.awq(net, seen, **few),
    }
    for way, bits_of, group in ("to nearest", 8, 0), ("to nearest", 4, 32), ("to nearest", 4, 64), ("by GPTQ", 4, 64), ("by AWQ", 4, 64):
        small = ways[way](net, bits=bits_of, group_size=group)
        found = perplexity(small, test)
        worst[bits_of] = found / full - 1
        name = f"int{bits_of}, " + (f"groups of {group}" if group else "a scale each") + f", {way}"
        print(f"{name:<34} perplexity {found:.4f}  {kilobytes(small):7.1f} kB  {found / full - 1:+.2%}")
    return 0 if worst[8] < 0.01 and worst[4] < 0.02 else 1


@paddle.no_grad()
def perplexity(net: nn.Layer, data: np.ndarray) -> float:
    """Of text that was not seen, over the same 16 batches each time."""
    random = np.random.default_rng(1)
    return float(2 ** np.mean([bits(loss_of(net, batch_of(data, random))) for _ in range(16)]))


def kilobytes(net: nn.Layer) -> float:
    return sum(x.size * x.element_size() for x in net.state_dict().values()) / 1000


if __name__ == "__main__":
    sys.exit(main())
