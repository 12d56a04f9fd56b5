"""Blocked layout: convolutions with weights packed before a program runs, and no change of layout between them."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from wherry_autograd import no_grad
from wherry_program.passes.rewriting import Uses, bound_constant, forget_unused, is_pure, number_of, to_change, volatile
from wherry_program.program.capture import capture
from wherry_program.program.ir import Block, Node, Program, Variable, tensors_of_attrs
from wherry_program.run._executor import facts_of
from wherry_tensor import _core, ops
from wherry_tensor._core import Op, Tensor, float32, plan_of
from wherry_tensor.ops import blocked as layout
from wherry_tensor.ops.blocked import ACTIVATIONS, BLOCK, blocks_of
from wherry_tensor.ops.declare import Meta, family_of
from wherry_tensor.sizes import Size

__all__ = ["blocked"]

FEWEST = 2  # convolutions: for one alone, changing the layout of its image costs more than it gains
FILLED = 2 / 3  # of the lanes of several blocks, at least
FEWEST_CHANNELS = 6  # in a single one
# Windows of 3x3 by Winograd's filtering: where an image has so many outputs, fewer products gain more than reading the four times larger
# weights costs (from some 130 on a Zen 5).
OUTPUTS_FOR_WINOGRAD = 132

LARGE = 1 << 20  # elements of a weight

# Ops that keep lanes beyond the last channel finite.
_FINITE = {
    *ACTIVATIONS, "add", "subtract", "multiply", "maximum", "minimum", "abs", "negative", "square", "leaky_relu", "elu", "hardsigmoid", "hardtanh",
    "mish", "softplus", "clip",
}


def blocked(program: Program, winograd: bool = True) -> Program:
    """Keep images in blocks of 16 channels (`wherry_tensor.ops.blocked`) through chains of convolutions in float32, pooling, and
    element-wise ops between them.

    Weights have to be constants; they are put in order now, those of 3x3 windows are transformed where that pays. Convolutions in groups that
    are not depthwise stay as they are, and so do programs with fewer than two of them, or for which no kernel of this kind is there.

    Args:
        program: it.
        winograd: may weights be transformed? They are four times larger then, which counts where they are downloaded.
    """
    out = to_change(program)
    changing = volatile(out)
    blocks = [block for block in out.blocks if sum(_kind(node, changing) is not None for node in block.nodes) >= FEWEST]
    if not blocks or not _has_kernel():
        return out
    uses = Uses(out)
    for block in blocks:  # those of branches and loops are for themselves: images come and go as planes
        nodes, images = list(block.nodes), _Images(block, changing, uses, winograd)
        block.nodes[:] = []
        with no_grad():  # with a parameter that trains among the inputs, ops without a gradient would be recorded as their parts
            for node in nodes:
                images.take(node)
            for x in (*(out.fetches if block.parent is None else ()), *block.outputs):
                images.as_planes(x)
    forget_unused(out)
    return out


def _has_kernel() -> bool:
    return _kernel_of(_core.kernel_generation())


@lru_cache(1)
def _kernel_of(generation: int) -> bool:
    x, weight = Meta((1, 1, 1, 1, BLOCK), float32), Meta((1, 1, 1, 1, BLOCK, BLOCK), float32)
    return bool(facts_of(plan_of(ops.conv2d_blocked, [x, weight, None, None], ((1, 1), (0, 0, 0, 0), (1, 1), "none")))[1])


def _kind(node: Node, changing: set[int]) -> str | None:
    """The kind of blocked op for a convolution: "dense", "planes" (dense, of an image of few channels) or "depthwise"."""
    if node.op is not ops.conv2d or not is_pure(node, changing) or node.attr("data_format") != "NCHW":
        return None
    x, weight, bias = (*node.inputs, None)[:3]
    if x is None or weight is None or weight.bound is None or x.dtype is not float32 or (bias is not None and bias.bound is None):
        return None
    (out, inside), groups = weight.sizes[:2], node.attr("groups")
    if groups == 1:
        if not _fills(out):
            return None
        return "planes" if inside < BLOCK else "dense" if _fills(inside) else None
    return "depthwise" if inside == 1 and out == groups and _fills(out) else None


def _lies_side_by_side(node: Node, changing: set[int]) -> bool:
    """Whether a transposed convolution writes each output once: its strides are its window, and nothing is padded or left over."""
    x, weight = node.inputs[:2]
    strides, paddings, dilations, groups, size, data_format = node.attrs
    if x is None or weight is None or x.dtype is not float32 or not is_pure(node, changing) or data_format != "NCHW":
        return False
    if groups != 1 or any(paddings) or dilations != (1, 1) or strides != weight.sizes[2:]:
        return False

    def spans(n: Any, axis: int, stride: int) -> bool:
        if x.sizes[axis] >= 0:
            return node.outputs[0].sizes[axis] == x.sizes[axis] * stride
        # Sums and products of the input's size with numbers: two sizes tell.
        return isinstance(n, Size) and all(_value_for(n, x, axis, known) == known * stride for known in (5, 11))

    return all(spans(n, axis, stride) for n, axis, stride in zip(size, (2, 3), strides))


def _value_for(n: Size, x: Variable, axis: int, size: int) -> int | None:
    """What a size is where an axis of `x` has this size; None where it follows from something else."""

    def find(y: Any) -> Any:
        if y is not x:
            raise LookupError
        return SimpleNamespace(shape={axis: size})

    try:
        return n.value(find)
    except (LookupError, AttributeError):
        return None


def _fills(channels: int) -> bool:
    return channels >= FEWEST_CHANNELS if channels < BLOCK else channels >= FILLED * BLOCK * blocks_of(channels)


class _Images:
    """Rewrites the nodes of a block in order."""

    def __init__(self, block: Block, changing: set[int], uses: Uses, winograd: bool) -> None:
        self.block, self.recording, self.changing, self.uses, self.winograd = block, capture(block), changing, uses, winograd
        self.blocks: dict[int, Variable] = {}  # id of an image -> the same in blocks
        self.missing: set[int] = set()  # ids of images that exist only in blocks so far

    def take(self, node: Node) -> None:
        """Write the next node, in blocks or as it is."""
        self.recording.take_place_of(node)
        if node.op is ops.conv2d_transpose and self.transposed(node):
            return
        if is_pure(node, self.changing) and not tensors_of_attrs(node.attrs):
            kind = _kind(node, self.changing)
            made = self.in_blocks(node) if kind is None else self.convolution(node, kind)
            if made is not None:
                image = node.outputs[0]
                self.blocks[id(image)] = self.recording.variable_of(made)
                self.missing.add(id(image))
                return
        for x in node.reads():
            self.as_planes(x)
        self.block.nodes.append(node)

    def as_planes(self, x: Variable) -> None:
        """Record the conversion of an image back to the plain layout."""
        if id(x) not in self.missing:
            return
        self.missing.remove(id(x))
        with self.recording:
            layout.from_blocks(self.blocks[id(x)], x.sizes[1])
        self.is_made(x)

    def is_made(self, x: Variable) -> None:
        """Let the last node make a variable that is there already."""
        last = self.block.nodes[-1]
        last.outputs, x.made_by = (x,), last

    def of(self, x: Variable) -> Tensor:
        """The image in blocks; records the conversion if needed."""
        if id(x) not in self.blocks:
            with self.recording:
                self.blocks[id(x)] = self.recording.variable_of(layout.to_blocks(x))
        return self.blocks[id(x)]

    def is_in_blocks(self, x: Variable | None) -> bool:
        return x is not None and id(x) in self.blocks

    def convolution(self, node: Node, kind: str) -> Tensor:
        """A convolution, recorded in blocks."""
        x, weight, bias = (*node.inputs, None)[:3]
        assert x is not None and weight is not None
        strides, paddings, dilations = node.attrs[:3]
        if kind == "planes" and self.is_in_blocks(x):
            kind = "dense"
        h, w = node.outputs[0].sizes[2:]
        few_products = kind == "dense" and weight.sizes[2:] == (3, 3) and strides == dilations == (1, 1) and min(h, w) > 0
        if self.winograd and few_products and h * w >= OUTPUTS_FOR_WINOGRAD:
            kind = "winograd"
        constants = [self.constant(_ORDERS[kind], weight), None if bias is None else self.constant(_whole_blocks, bias)]
        image = x if kind == "planes" else self.of(x)
        if kind == "winograd":
            return self.made(ops.winograd_conv2d_blocked, (image, *constants, None), (paddings, "none"))
        op = ops.depthwise_conv2d_blocked if kind == "depthwise" else ops.conv2d_blocked
        return self.made(op, (image, *constants, None), (strides, paddings, dilations, "none"))

    def made(self, op: Op, inputs: Iterable[Tensor | None], attrs: tuple[Any, ...]) -> Tensor:
        """The first result of an op, recorded without asking the dispatcher."""
        return self.recording(op, tuple(inputs), attrs)[0]

    def transposed(self, node: Node) -> bool:
        """Record a transposed convolution whose windows lie side by side as a product that makes each of their places, and put these in order."""
        x, weight, bias = (*node.inputs, None)[:3]
        if x is None or weight is None or weight.bound is None or not self.is_in_blocks(x) or not _lies_side_by_side(node, self.changing):
            return False
        if bias is not None and bias.bound is None:
            return False
        inside, out, kh, kw = weight.sizes
        few = out * kh * kw <= BLOCK
        if not few and not _fills(out):
            return False
        wide = out if few else blocks_of(out) * BLOCK

        def places(y: Tensor) -> Tensor:  # [in, out, kh, kw] as [kh * kw * wide, in, 1, 1]
            turned = ops.transpose(layout.filled(y, 1, wide), perm=(2, 3, 1, 0))
            return layout.blocked_weight(ops.reshape(turned, shape=(kh * kw * wide, inside, 1, 1)))  # type: ignore[no-any-return]

        def repeated(y: Tensor) -> Tensor:
            return _whole_blocks(ops.concat(*[layout.filled(y, 0, wide)] * (kh * kw), axis=0))

        constants = [self.constant(places, weight), None if bias is None else self.constant(repeated, bias)]
        made = self.made(ops.conv2d_blocked, (self.of(x), *constants, None), ((1, 1), (0, 0, 0, 0), (1, 1), "none"))
        with self.recording:
            batch, _blocks, h, w, _lanes = made.shape
            if few:
                some = ops.slice(made, axes=(1, 4), starts=(0, 0), ends=(1, kh * kw * out), steps=(1, 1))
                turned = ops.transpose(ops.reshape(some, shape=(batch, h, w, kh, kw, out)), perm=(0, 5, 1, 3, 2, 4))
                ops.reshape(turned, shape=(batch, out, h * kh, w * kw))
                self.is_made(node.outputs[0])
                return True
            turned = ops.transpose(ops.reshape(made, shape=(batch, kh, kw, wide // BLOCK, h, w, BLOCK)), perm=(0, 3, 4, 1, 5, 2, 6))
            image = ops.reshape(turned, shape=(batch, wide // BLOCK, h * kh, w * kw, BLOCK))
        self.blocks[id(node.outputs[0])] = self.recording.variable_of(image)
        self.missing.add(id(node.outputs[0]))
        return True

    def constant(self, order: Callable[[Tensor], Tensor], x: Variable) -> Variable:
        """The variable of a packed constant."""
        assert x.bound is not None
        made = order(x.bound.detach())
        if made.size >= LARGE:
            _core.release_memory_cache()  # what was needed on the way, of many different sizes
        return bound_constant(self.block.program, made, x)

    def in_blocks(self, node: Node) -> Tensor | None:
        """The first result of the node in blocks, recorded; None where it cannot be."""
        if node.op is ops.concat:
            rewrite: Any = self.concat
        elif family_of(node.op) in ("elementwise", "activation") and len(node.outputs) == 1:
            rewrite = self.elementwise
        else:
            x = node.inputs[0] if node.inputs else None
            if not self.is_in_blocks(x):
                return None
            rewrite = self.pooled
        made: Tensor | None = rewrite(node)
        return made

    def pooled(self, node: Node) -> Tensor | None:
        x = node.inputs[0]
        assert x is not None
        if node.op is ops.max_pool2d and node.attr("data_format") == "NCHW":
            mask = node.outputs[1]
            if self.uses.of.get(id(mask)) or id(mask) in self.uses.kept:
                return None
            return self.made(ops.max_pool2d_blocked, (self.of(x),), node.attrs[:4])
        if node.op is ops.adaptive_avg_pool2d and node.attr("data_format") == "NCHW" and node.outputs[0].sizes[2:] == (1, 1):
            return self.mean(x)
        if node.op in (ops.avg_pool2d, ops.adaptive_avg_pool2d) and node.attr("data_format") == "NCHW" and -1 not in x.sizes[1:]:
            return self.average(node, x)
        if node.op is ops.gather and node.attr("axis") in (2, 3) and len(x.sizes) == 4:
            return self.made(ops.gather, (self.of(x), node.inputs[1]), node.attrs)  # images that grow or shrink
        if node.op is ops.slice and node.attr("axes") == (1,) and len(x.sizes) == 4:
            return self.channels(node, x)
        if node.op is ops.reduce_mean and node.attr("keepdim") and node.attr("axes") == (2, 3):
            return self.mean(x)
        return None

    def channels(self, node: Node, x: Variable) -> Tensor | None:
        (start,), (end,), (step,) = (node.attr(name) for name in ("starts", "ends", "steps"))
        if any(type(n) is not int for n in (start, end)) or not 0 <= start < end or step != 1 or start % BLOCK or x.sizes[1] < 0:
            return None
        if end < x.sizes[1] and end % BLOCK:
            return None
        return self.made(ops.slice, (self.of(x),), ((1,), (start // BLOCK,), (blocks_of(min(end, x.sizes[1])),), (1,)))

    def mean(self, x: Variable) -> Tensor:
        return self.made(ops.reduce_mean, (self.of(x),), ((2, 3), True))

    def average(self, node: Node, x: Variable) -> Tensor:
        image = self.of(x)
        out = node.outputs[0].sizes
        with self.recording:
            batch, n, h, w, lanes = image.shape
            pooled = node.op(
                ops.reshape(image, shape=(-1, h, w, lanes)),
                **{name: "NHWC" if name == "data_format" else value for name, value in node.named_attrs().items()},
            )
            return ops.reshape(pooled, shape=(batch, n, *out[2:], lanes))

    def concat(self, node: Node) -> Tensor | None:
        images = [x for x in node.inputs if x is not None]
        if node.attr("axis") != 1 or not any(map(self.is_in_blocks, images)):
            return None
        if any(len(x.sizes) != 4 or x.sizes[1] < 0 or x.sizes[1] % BLOCK for x in images):
            return None
        return self.made(ops.concat, map(self.of, images), (1,))

    def elementwise(self, node: Node) -> Tensor | None:
        out = node.outputs[0].sizes
        images = [x is not None and len(x.sizes) == 4 and x.sizes[1] == out[1] and not _is_number(x) for x in node.inputs] if len(out) == 4 else []
        if not any(is_image and self.is_in_blocks(x) for is_image, x in zip(images, node.inputs)):
            return None
        if out[1] % BLOCK and node.type not in _FINITE and not (node.op is ops.divide and number_of(node.inputs[1])):
            return None
        if not all(is_image or x is None or _is_number(x) for is_image, x in zip(images, node.inputs)):
            return None
        return self.made(node.op, (self.of(x) if is_image and x is not None else x for is_image, x in zip(images, node.inputs)), node.attrs)


def _is_number(x: Variable) -> bool:
    return all(n == 1 for n in x.sizes)


def _whole_blocks(bias: Tensor) -> Tensor:
    """A value for each lane of the blocks."""
    (channels,) = bias.shape
    return ops.pad(bias, paddings=(0, blocks_of(channels) * BLOCK - channels), value=0.0)


_ORDERS = {
    "dense": layout.blocked_weight, "planes": layout.planar_weight, "winograd": layout.winograd_weight, "depthwise": layout.depthwise_weight,
}
