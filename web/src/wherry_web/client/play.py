"""A network to play with: points in a plane, a small network that tells two classes apart, and pictures of what each neuron sees.

What runs is the program that the page shows, word for word: `program` writes it, and `Play` runs it.
"""
from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import wherry as paddle
from wherry import Tensor

EDGE = 1.2  # the picture goes from -EDGE to EDGE, in both directions
SIDE = 40  # of the pictures, in points that the network is asked about
LAYERS, NEURONS, POINTS = 4, 8, 200  # at most
RATES = (1e-5, 1.0)

DATA = {
    "moons": """\
angle = paddle.rand([100]) * math.pi
moon = paddle.stack([paddle.cos(angle) - 0.5, paddle.sin(angle) - 0.25], axis=1) / 1.5
points = paddle.concat([moon, -moon]) + 0.06 * paddle.randn([200, 2])
""",
    "circles": """\
angle = paddle.rand([200]) * 2 * math.pi
radius = paddle.concat([paddle.full([100], 0.4), paddle.full([100], 0.9)])
points = paddle.stack([radius * paddle.cos(angle), radius * paddle.sin(angle)], axis=1) + 0.06 * paddle.randn([200, 2])
""",
    "spirals": """\
radius = paddle.sqrt(paddle.linspace(0.01, 1, 100))
angle = 3 * math.pi * radius
arm = paddle.stack([radius * paddle.cos(angle), radius * paddle.sin(angle)], axis=1)
points = paddle.concat([arm, -arm]) + 0.02 * paddle.randn([200, 2])
""",
}
HALVES = 'labels = paddle.concat([paddle.zeros([100], "int64"), paddle.ones([100], "int64")])\n'
ACTIVATIONS = ("Tanh", "ReLU", "Sigmoid", "GELU")
OPTIMIZERS = ("Adam", "Momentum", "SGD")


def program(settings: dict[str, Any]) -> str:
    """The program of these settings; as a whole it trains and prints, `Play` takes what it defines.

    Args:
        settings: data (a key of `DATA`, or "own"), points (of "own": x, y and the class of each, one after the other), layers (the width of
            each), activation, optimizer, learning_rate.

    Raises:
        ValueError: a setting that there is not, or own points of one class only.
    """
    data, widths = settings["data"], [int(width) for width in settings["layers"]]
    for what, value, known in (("data", data, (*DATA, "own")), ("activation", settings["activation"], ACTIVATIONS),
                               ("optimizer", settings["optimizer"], OPTIMIZERS)):
        if value not in known:
            raise ValueError(f"{what}: got {value!r}, expected one of {', '.join(known)}.")
    if len(widths) > LAYERS or not all(1 <= width <= NEURONS for width in widths):
        raise ValueError(f"layers: got {widths}, expected at most {LAYERS} of 1 to {NEURONS} neurons each.")
    rate = float(settings["learning_rate"])
    if not RATES[0] <= rate <= RATES[1]:
        raise ValueError(f"learning rate: got {rate}, expected {RATES[0]} to {RATES[1]}.")
    ends = [2, *widths, 2]
    layers = [f"nn.Linear({before}, {after})" for before, after in zip(ends, ends[1:], strict=False)]
    between = f", nn.{settings['activation']}(),\n    "
    return f"""\
{"" if data == "own" else "import math" + chr(10) * 2}import wherry as paddle
from wherry import nn

paddle.seed(0)
{own(settings["points"]) if data == "own" else DATA[data] + HALVES}
net = nn.Sequential(
    {between.join(layers)},
)
optimizer = paddle.optimizer.{settings["optimizer"]}({rate!r}, parameters=net.parameters())


def step():
    loss = nn.functional.cross_entropy(net(points), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return float(loss)


if __name__ == "__main__":
    for i in range(1, 1001):
        loss = step()
        if i % 100 == 0:
            right = (paddle.argmax(net(points), axis=1) == labels).astype("float32").mean()
            print(f"step {{i}}: loss {{loss:.4f}}, {{float(right):.1%}} are right")
"""


def own(numbers: Sequence[float]) -> str:
    """The lines of points that a visitor has put into the plane."""
    rows = [numbers[i : i + 3] for i in range(0, len(numbers), 3)]
    if len(rows) > POINTS:
        raise ValueError(f"points: got {len(rows)}, expected at most {POINTS}.")
    points, labels = [], []
    for row in rows:
        if len(row) != 3 or row[2] not in (0, 1) or not all(abs(float(value)) <= EDGE for value in row[:2]):
            raise ValueError(f"point: got {list(row)}, expected x and y from {-EDGE} to {EDGE} and the class, 0 or 1.")
        points.append(f"[{float(row[0])!r}, {float(row[1])!r}]")
        labels.append(str(int(row[2])))
    if len(set(labels)) < 2:
        raise ValueError(
            f"Nothing to tell apart yet. Got {len(rows)} points of {len(set(labels))} classes, expected at least one of each. "
            f"Add points to the picture."
        )
    return f"points = paddle.to_tensor([\n{in_lines(points, 6)}])\nlabels = paddle.to_tensor([\n{in_lines(labels, 30)}], dtype=\"int64\")\n"


def in_lines(items: list[str], many: int) -> str:
    return "".join(f"    {', '.join(items[i : i + many])},\n" for i in range(0, len(items), many))


def plane() -> Tensor:
    """The points that the pictures show `[SIDE * SIDE, 2]`: row by row, from the top left."""
    at = paddle.linspace(-EDGE, EDGE, SIDE)
    y, x = paddle.meshgrid(-at, at)
    return paddle.stack([paddle.flatten(x), paddle.flatten(y)], axis=1)


class Play:
    """A network in training on points of the plane.

    Args:
        settings: of `program`.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.program = program(settings)
        self.made: dict[str, Any] = {"__name__": "play"}
        exec(compile(self.program, "program.py", "exec"), self.made)
        self.plane = plane()
        self.steps = 0
        self.seconds = 0.0

    def start(self) -> dict[str, Any]:
        """The program, its points and classes, and as `run` before the first step."""
        points, labels = self.made["points"], self.made["labels"]
        return {"program": self.program, "points": points.tobytes(), "labels": labels.tolist(), **self.seen()}

    def run(self, milliseconds: float) -> dict[str, Any]:
        """Train for about this long, at least one step, and none that would end later if it takes as long as those before.

        Returns:
            `losses` of these steps, and what `seen` returns. The last loss is not finite where the learning rate was too much.
        """
        started = time.perf_counter()
        losses: list[float] = []
        while not losses or (time.perf_counter() - started) * (1 + 1 / len(losses)) * 1e3 <= milliseconds:
            losses.append(self.made["step"]())
            self.steps += 1
            if not math.isfinite(losses[-1]):
                break
        self.seconds += time.perf_counter() - started
        return {**self.seen(), "losses": losses}

    def seen(self) -> dict[str, Any]:
        """What the network makes of the plane: `planes`, float32 `[N, SIDE, SIDE]` as bytes, of each neuron of each hidden layer, and last how
        far the score of class 1 lies above that of class 0; the loss, the share of points that are right, `steps` and `seconds` so far."""
        net, points, labels = self.made["net"], self.made["points"], self.made["labels"]
        with paddle.no_grad():
            planes, values = [], self.plane
            for i, layer in enumerate(net):
                values = layer(values)
                if i % 2:  # after each Linear comes the activation
                    planes.append(paddle.transpose(values, [1, 0]))
            planes.append(paddle.transpose(values[:, 1:] - values[:, :1], [1, 0]))
            scores = net(points)
            loss = float(paddle.nn.functional.cross_entropy(scores, labels))
            right = float(paddle.cast(paddle.argmax(scores, axis=1) == labels, "float32").mean())
        return {"planes": paddle.concat(planes).tobytes(), "side": SIDE, "loss": loss, "losses": [], "right": right,
                "steps": self.steps, "seconds": self.seconds}
