"""Pictures for programs in the page Playground: lines and images, without NumPy and without matplotlib.

Programs that use it run outside the page too, where matplotlib draws.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import wherry as paddle
from wherry import Tensor

__all__ = ["digits", "plot", "show"]

LINES = 12
POINTS = 10_000  # of one line
PICTURES = 64  # of one call
PIXELS = 1 << 20  # of one call
Post = Callable[[dict[str, Any], bytes | None], None]
# Where pictures go: set while a program runs in the page.
_page: Post | None = None


def plot(
    *values: Any, title: str = "", x_label: str = "", y_label: str = "", log: bool = False, points: bool = False, name: str | None = None
) -> None:
    """Draw lines.

    Args:
        values: `y`, or `x` and `y`. Each is a list of numbers, a tensor of one axis or an array; `y` may be a dict of
            several, whose keys name the lines. Without `x` they are counted from 0.
        title: above the lines.
        x_label: below.
        y_label: beside.
        log: a logarithmic axis for `y`; what is not positive is left out.
        points: points in place of lines; `x` need not ascend then.
        name: a later plot of the same name in a run takes the place of this one, as for a loss that is drawn while it falls.

    Raises:
        TypeError: an argument is not a sequence of numbers.
        ValueError: lengths differ, `x` does not ascend, or there are more than 12 lines.

    Examples:
        >>> from wherry_web.playground import plot
        >>> losses = {"train": [0.9, 0.5, 0.3], "test": [1.0, 0.6, 0.5]}
        >>> plot(losses, title="Loss", x_label="epoch", log=True)  # doctest: +SKIP
    """
    if len(values) not in (1, 2):
        raise TypeError(f"plot: got {len(values)} values, expected plot(y) or plot(x, y). Give several lines as a dict: plot({{'a': a, 'b': b}}).")
    ys = values[-1] if isinstance(values[-1], Mapping) else {"": values[-1]}
    if not 1 <= len(ys) <= LINES:
        raise ValueError(f"plot: got {len(ys)} lines, expected 1 to {LINES}. Draw them in several plots.")
    lines = {str(label): _numbers("y", y) for label, y in ys.items()}
    length = max(len(y) for y in lines.values())
    x = _numbers("x", values[0]) if len(values) == 2 else [float(i) for i in range(length)]
    for label, y in lines.items():
        if len(values) == 2 and len(y) != len(x):
            raise ValueError(f"plot: x has {len(x)} numbers and y {repr(label) + ' ' if label else ''}has {len(y)}. Expected as many.")
    if not points and any(not a <= b for a, b in zip(x, x[1:])):  # noqa: B905  neighbours
        raise ValueError("plot: x does not ascend. Sort the points, or draw them with points=True.")
    if points:
        order = sorted((i for i in range(len(x)) if math.isfinite(x[i])), key=x.__getitem__)
        lines = {label: [y[i] if i < len(y) else math.nan for i in order] for label, y in lines.items()}
        x = [x[i] for i in order]
    step = max(1, math.ceil(len(x) / POINTS))
    message = {
        "kind": "plot", "title": str(title), "x_label": str(x_label), "y_label": str(y_label), "log": bool(log), "points": bool(points),
        "name": name, "x": x[::step],
        "lines": [{"label": label, "y": [_drawn(v, log) for v in (y + [math.nan] * (len(x) - len(y)))[::step]]} for label, y in lines.items()],
        "note": f"every {step}th of {len(x)} points" if step > 1 else "",
    }
    if _page is not None:
        _page(message, None)
    else:
        _plot_elsewhere(message)


def _numbers(what: str, values: Any) -> list[float]:
    plain = values.tolist() if hasattr(values, "tolist") else values
    try:
        return [float(value) for value in plain]
    except (TypeError, ValueError):
        shape = getattr(values, "shape", None)
        raise TypeError(
            f"plot: {what} is not a sequence of numbers. Got {type(values).__name__}{f' of shape {list(shape)}' if shape is not None else ''}, "
            f"expected a list of numbers or a tensor of one axis."
        ) from None


def _drawn(value: float, log: bool) -> float | None:
    """What JSON has for it: a gap where nothing can be drawn."""
    return value if math.isfinite(value) and (value > 0 or not log) else None


def show(value: Any, *, title: str = "", low: float | None = None, high: float | None = None, name: str | None = None) -> None:
    """Draw a tensor as a picture, or a batch of tensors as pictures beside each other.

    Args:
        value: a tensor or array `[H, W]`, `[C, H, W]`, `[H, W, C]`, `[N, H, W]` or `[N, C, H, W]`, with C of 1 or 3. Anything else is
            printed.
        title: above the pictures.
        low: what is black; by default the smallest value, or 0 where the values are colours.
        high: what is white; by default the largest value, or 1 (255 for integers) where the values are colours.
        name: later pictures of the same name in a run take the place of these.

    Raises:
        ValueError: there are no values.

    Examples:
        >>> import wherry as paddle
        >>> from wherry_web.playground import show
        >>> show(paddle.eye(8), title="identity")  # doctest: +SKIP
    """
    shape = list(getattr(value, "shape", []))
    if not 2 <= len(shape) <= 4 or (len(shape) == 4 and shape[1] not in (1, 3)):
        print(value)
        return
    pictures = value.detach() if isinstance(value, Tensor) else paddle.to_tensor(value)
    if 0 in shape:
        raise ValueError(f"show: there is nothing to draw. Got shape {shape}, expected at least one value.")
    if len(shape) == 3 and shape[-1] in (1, 3) and shape[0] not in (1, 3):
        pictures = paddle.transpose(pictures, [2, 0, 1])
    if len(shape) == 2:
        pictures = paddle.reshape(pictures, [1, 1, *shape])
    elif len(shape) == 3:
        axis = 0 if pictures.shape[0] in (1, 3) else 1
        pictures = paddle.unsqueeze(pictures, axis)
    count, channels = pictures.shape[:2]
    shown = pictures[:PICTURES]
    step = max(1, math.ceil(math.sqrt(math.prod(shown.shape) / PIXELS)))
    whole = "float" not in str(pictures.dtype)
    shown = paddle.cast(shown[:, :, ::step, ::step], "float32")
    finite = paddle.where(paddle.isfinite(shown), shown, paddle.zeros_like(shown))
    smallest, largest = float(paddle.min(finite)), float(paddle.max(finite))
    colours = channels == 3 and smallest >= 0 and largest <= (255 if whole else 1)
    low = (0.0 if colours else smallest) if low is None else float(low)
    high = ((255.0 if whole else 1.0) if colours else largest) if high is None else float(high)
    scaled = paddle.clip((finite - low) * (255 / ((high - low) or 1.0)), 0, 255)
    # Channels last, as canvases have them.
    content = bytes(memoryview(paddle.cast(paddle.round(paddle.transpose(scaled, [0, 2, 3, 1])), "uint8").contiguous()))
    message = {
        "kind": "pictures", "title": str(title), "name": name, "count": shown.shape[0], "channels": channels, "height": shown.shape[2],
        "width": shown.shape[3], "shape": shape, "low": low, "high": high,
        "note": "; ".join(filter(None, [
            f"the first {PICTURES} of {count}" if count > PICTURES else "", f"every {step}th pixel" if step > 1 else ""])),
    }
    if _page is not None:
        _page(message, content)
    else:
        _show_elsewhere(message, content)


def digits() -> tuple[Tensor, Tensor]:
    """1797 real handwritten digits, shuffled; the first 1437 are for training.

    Returns:
        Images, float32 `[1797, 1, 28, 28]` from -1 (paper) to 1 (ink), and labels, int64 `[1797]`.

    Source:
        E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, UCI repository (CC BY 4.0).

    Examples:
        >>> from wherry_web.playground import digits
        >>> images, labels = digits()
        >>> images.shape, labels.shape
        ([1797, 1, 28, 28], [1797])
    """
    from wherry_web.client.digits import read, scaled

    images, labels = read((Path(__file__).parent.parent / "static" / "data" / "digits.bin").read_bytes())
    return scaled(images), labels


def _pyplot(function: str) -> Any:
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{function}: there is no page and no matplotlib to draw with. Run the program in the page Playground, or `pip install matplotlib`.",
            name="matplotlib",
        ) from None
    return pyplot


def _plot_elsewhere(message: dict[str, Any]) -> None:
    pyplot = _pyplot("plot")
    figure, axes = pyplot.subplots()
    for line in message["lines"]:
        y = [math.nan if value is None else value for value in line["y"]]
        axes.plot(message["x"], y, "." if message["points"] else "-", label=line["label"])
    axes.set(title=message["title"], xlabel=message["x_label"], ylabel=message["y_label"], yscale="log" if message["log"] else "linear")
    if any(line["label"] for line in message["lines"]):
        axes.legend()
    pyplot.show()
    pyplot.close(figure)


def _show_elsewhere(message: dict[str, Any], content: bytes) -> None:
    pyplot = _pyplot("show")
    count, channels, height, width = (message[key] for key in ("count", "channels", "height", "width"))
    columns = math.ceil(math.sqrt(count))
    figure, axes = pyplot.subplots(math.ceil(count / columns), columns, squeeze=False)
    figure.suptitle(message["title"])
    size = channels * height * width
    for i, cell in enumerate(axes.flat):
        cell.axis("off")
        if i < count:
            picture = paddle.reshape(paddle.to_tensor(bytearray(content[i * size : (i + 1) * size]), dtype="uint8"), [height, width, channels])
            cell.imshow(picture.numpy().squeeze(), cmap="gray", vmin=0, vmax=255)
    pyplot.show()
    pyplot.close(figure)
