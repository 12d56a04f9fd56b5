"""Integer kernels beside float32 (`float`), ONNX Runtime's (`onnx`) and PyTorch's (`torch`): the same shapes, one op or a network's convolutions.

Ours are the ops that programs end up with, on weights in order; `float` is what predictors make of float32 convolutions (in blocks, by Winograd's
filtering where it applies); `onnx` single nodes QLinearConv, QLinearMatMul, and DynamicQuantizeLinear with MatMulInteger; `torch` its dynamic
linear, and its products with weights of 8 and 4 bits, of bfloat16 activations, for which its kernels are made (ours take float32). Products with
weights of few bits read another copy of the weights in each call: out of memory.

    python benchmarks/cases_quant.py FOLDER     writes three float models as ONNX, which ONNX Runtime's own tool quantizes, once

Where that folder is ($QUANT_MODELS; build/quant-models), there are cases of these models too: both run the same file with QuantizeLinear and
DequantizeLinear, and `float` is our session of the float one.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from cases_graph import Case

# Channels, size, outputs, kernel, stride, and how often ResNet-18 has it.
RESNET18 = [
    (3, 224, 64, 7, 2, 1), (64, 56, 64, 3, 1, 4), (64, 56, 128, 3, 2, 1), (64, 56, 128, 1, 2, 1), (128, 28, 128, 3, 1, 3),
    (128, 28, 256, 3, 2, 1), (128, 28, 256, 1, 2, 1), (256, 14, 256, 3, 1, 3), (256, 14, 512, 3, 2, 1), (256, 14, 512, 1, 2, 1),
    (512, 7, 512, 3, 1, 3),
]
DEPTHWISE = [(32, 112, 1), (96, 112, 2), (144, 56, 1), (192, 28, 1), (384, 14, 1), (576, 14, 1), (960, 7, 1)]  # some of MobileNetV2's
LINEAR = [(1, 512, 512), (8, 768, 768), (128, 768, 768), (128, 768, 3072), (128, 3072, 768), (512, 512, 512)]
INSIDE, OUT = 4096, 4096  # of weight-only products
ROWS = (1, 4, 64)
MEMORY = 1 << 28  # bytes of weights that calls go through
MODELS = Path(os.environ.get("QUANT_MODELS", Path(__file__).parents[1] / "build" / "quant-models"))
SHAPES = {"ResNet-18": (1, 3, 224, 224), "MobileNetV2": (1, 3, 224, 224), "Transformer encoder": (1, 128, 256)}


def make(framework: str) -> dict[str, Case]:
    maker = {"wherry": wherry_cases, "float": float_cases, "onnx": onnx_cases, "torch": torch_cases}.get(framework)
    return maker() if maker else {}


def models_of(opened: Callable[[str], Callable[[np.ndarray], object]], which: str) -> dict[str, Case]:
    """The models that were saved: `which` is "int8" or "float"."""

    def case(name: str) -> Callable[[], object]:
        run, x = opened(str(MODELS / f"{name}.{which}.onnx")), _rng().standard_normal(SHAPES[name]).astype("float32")
        return lambda: run(x)

    return {f"{name} of ONNX Runtime's quantizer": Case(lambda name=name: case(name)) for name in SHAPES if MODELS.is_dir()}


def all_of(steps: list[tuple[Callable[[], object], int]]) -> Callable[[], None]:
    def run() -> None:
        for step, times in steps:
            for _ in range(times):
                step()

    return run


def in_turn(weights: list, product: Callable[[object], object]) -> Callable[[], object]:
    """Products with another of the weights in each call."""
    at = [0]

    def run():
        at[0] = (at[0] + 1) % len(weights)
        return product(weights[at[0]])

    return run


def cases_of(conv, linear, dynamic=None, depthwise=None) -> dict[str, Case]:
    cases = {"ResNet-18's convolutions": Case(lambda: all_of([(conv(*shape), times) for *shape, times in RESNET18]))}
    for c, size, out, kernel, stride, _times in RESNET18:
        cases[f"{kernel}x{kernel}, {c} x {size} x {size} to {out}, stride {stride}"] = Case(
            lambda shape=(c, size, out, kernel, stride): conv(*shape)
        )
    if depthwise is not None:
        cases["depthwise 3x3 of MobileNetV2"] = Case(lambda: all_of([(depthwise(*shape), 1) for shape in DEPTHWISE]))
    for shape in LINEAR:
        cases["linear " + " x ".join(map(str, shape))] = Case(lambda shape=shape: linear(*shape))
        if dynamic is not None:
            cases["dynamic linear " + " x ".join(map(str, shape))] = Case(lambda shape=shape: dynamic(*shape))
    return cases


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _bytes(shape, low=-127, high=128, dtype=np.int8) -> np.ndarray:
    return _rng().integers(low, high, shape).astype(dtype)


# ---- ours -------------------------------------------------------------------------------------------


def wherry_cases() -> dict[str, Case]:
    import wherry as paddle
    from wherry_tensor import ops
    from wherry_tensor.ops import quantized, weight_only

    epilogue = dict(residual_scale=1.0, residual_zero_point=0, out_scale=None, out_zero_point=0, low=None, high=None)

    def conv(c, size, out, kernel, stride):
        x = paddle.to_tensor(_bytes((1, size, size, c), 0, 256, np.uint8))
        weight = quantized.packed_conv_weight(paddle.to_tensor(_bytes((out, c, kernel, kernel))))
        scale, bias = paddle.full([out], 1e-4), paddle.zeros([out], "int32")
        window = dict(strides=(stride,) * 2, paddings=(kernel // 2,) * 4, dilations=(1, 1))
        return lambda: ops.quantized_conv2d(
            x, weight, scale, bias, None, **window, **epilogue, x_zero_point=0, activation="relu", dtype=paddle.uint8
        )

    def depthwise(c, size, stride):
        x = paddle.to_tensor(_bytes((1, size, size, c), 0, 256, np.uint8))
        weight = quantized.packed_depthwise_weight(paddle.to_tensor(_bytes((c, 1, 3, 3))))
        scale, bias = paddle.full([c], 1e-2), paddle.zeros([c], "int32")
        window = dict(strides=(stride,) * 2, paddings=(1,) * 4, dilations=(1, 1))
        return lambda: ops.quantized_depthwise_conv2d(
            x, weight, scale, bias, None, **window, **epilogue, x_zero_point=0, activation="relu", dtype=paddle.uint8
        )

    def linear(m, k, n):
        x, scale = paddle.to_tensor(_bytes((m, k), 0, 256, np.uint8)), paddle.full([n], 1e-4)
        weight = quantized.packed_linear_weight(paddle.to_tensor(_bytes((k, n))))
        return lambda: ops.quantized_linear(x, weight, scale, None, None, **epilogue, x_zero_point=128, activation="none", dtype=paddle.uint8)

    def dynamic(m, k, n):
        x, scale = paddle.to_tensor(_rng().standard_normal((m, k)).astype("float32")), paddle.full([n], 1e-4)
        weight = quantized.packed_linear_weight(paddle.to_tensor(_bytes((k, n))))
        return lambda: ops.quantized_linear(x, weight, scale, None, None, **epilogue, x_zero_point=0, activation="none", dtype=paddle.float32)

    cases = cases_of(conv, linear, dynamic, depthwise)
    for rows in ROWS:
        for name, pack, low, high, dtype in (
            ("int8", weight_only.packed_int8, -127, 128, np.int8), ("int4", weight_only.packed_int4, 0, 16, np.uint8)
        ):
            for group in (0,) if name == "int8" else (32, 128):

                def build(rows=rows, pack=pack, low=low, high=high, dtype=dtype, group=group):
                    x = paddle.to_tensor(_rng().standard_normal((rows, INSIDE)).astype("float32"))
                    first = pack(paddle.to_tensor(_bytes((INSIDE, OUT), low, high, dtype)))
                    weights = [ops.copy(first) for _ in range(MEMORY // first.size)]
                    scale = paddle.ones([INSIDE // group if group else 1, OUT])
                    return in_turn(weights, lambda w: ops.weight_only_linear(x, w, scale, None, None, group=group))

                cases[_weight_only(name, group, rows)] = Case(build)
    return cases | models_of(wherry_session, "int8")


def wherry_session(path: str) -> Callable[[np.ndarray], object]:
    import wherry as paddle

    made = paddle.InferenceSession(path)
    return lambda x: made.run(None, {"x": x})


def _weight_only(name: str, group: int, rows: int) -> str:
    return f"{name} weights{f', groups of {group}' if group else ''}, {rows} x {INSIDE} x {OUT}"


def float_cases() -> dict[str, Case]:
    import wherry as paddle
    from wherry_tensor import ops
    from wherry_tensor.ops import blocked

    def normal(*shape):
        return paddle.to_tensor(_rng().standard_normal(shape).astype("float32"))

    def conv(c, size, out, kernel, stride):
        x, weight, bias = normal(1, c, size, size), normal(out, c, kernel, kernel), paddle.zeros([-(-out // 16) * 16])
        paddings, window = (kernel // 2,) * 4, dict(strides=(stride,) * 2, dilations=(1, 1), activation="relu")
        if c < 16:
            planar = blocked.planar_weight(weight)
            return lambda: ops.conv2d_blocked(x, planar, bias, None, paddings=paddings, **window)
        image = ops.copy(blocked.to_blocks(x))
        if kernel == 3 and stride == 1:
            transformed = blocked.winograd_weight(weight)
            return lambda: ops.winograd_conv2d_blocked(image, transformed, bias, None, paddings=paddings, activation="relu")
        packed = blocked.blocked_weight(weight)
        return lambda: ops.conv2d_blocked(image, packed, bias, None, paddings=paddings, **window)

    def depthwise(c, size, stride):
        image, weight = ops.copy(blocked.to_blocks(normal(1, c, size, size))), blocked.depthwise_weight(normal(c, 1, 3, 3))
        bias, window = paddle.zeros([c]), dict(strides=(stride,) * 2, paddings=(1,) * 4, dilations=(1, 1))
        return lambda: ops.depthwise_conv2d_blocked(image, weight, bias, None, **window, activation="relu")

    def linear(m, k, n):
        x, weight = normal(m, k), normal(k, n)
        return lambda: ops.linear(x, weight, None)

    cases = cases_of(conv, linear, linear, depthwise)
    for rows in ROWS:

        def build(rows=rows):
            x, first = normal(rows, INSIDE), normal(INSIDE, OUT)
            weights = [ops.copy(first) for _ in range(MEMORY // (4 * first.size))]
            return in_turn(weights, lambda w: ops.linear(x, w, None))

        for name, group in ("int8", 0), ("int4", 32), ("int4", 128):
            cases[_weight_only(name, group, rows)] = Case(build)
    return cases | models_of(wherry_session, "float")


# ---- theirs -----------------------------------------------------------------------------------------


def onnx_cases() -> dict[str, Case]:
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    def session(nodes, inputs, output, constants):
        graph = helper.make_graph(
            nodes, "case", [helper.make_tensor_value_info("x", *inputs)], [helper.make_tensor_value_info("y", *output)],
            [numpy_helper.from_array(value, name) for name, value in constants.items()],
        )
        return opened(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())

    def opened(model):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", 0))
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def steps(out, zero):
        return dict(
            xs=np.float32(0.1), xz=np.uint8(zero), ws=np.full(out, 1e-3, np.float32), wz=np.zeros(out, np.int8), ys=np.float32(1), yz=np.uint8(0)
        )

    quantized = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]

    def conv(c, size, out, kernel, stride, group=1):
        pad = kernel // 2
        after = (size + 2 * pad - kernel) // stride + 1
        node = helper.make_node("QLinearConv", [*quantized, "b"], ["y"], strides=[stride] * 2, pads=[pad] * 4, kernel_shape=[kernel] * 2,
                                group=group)
        constants = {**steps(out, 0), "w": _bytes((out, c // group, kernel, kernel)), "b": np.zeros(out, np.int32)}
        made = session([node], (TensorProto.UINT8, [1, c, size, size]), (TensorProto.UINT8, [1, out, after, after]), constants)
        x = _bytes((1, c, size, size), 0, 256, np.uint8)
        return lambda: made.run(None, {"x": x})

    def linear(m, k, n):
        node = helper.make_node("QLinearMatMul", quantized, ["y"])
        made = session([node], (TensorProto.UINT8, [m, k]), (TensorProto.UINT8, [m, n]), {**steps(n, 128), "w": _bytes((k, n))})
        x = _bytes((m, k), 0, 256, np.uint8)
        return lambda: made.run(None, {"x": x})

    def dynamic(m, k, n):
        nodes = [
            helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "qs", "qz"]), helper.make_node("MatMulInteger", ["q", "w", "qz", "wz"], ["i"]),
            helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT), helper.make_node("Mul", ["qs", "ws"], ["s"]),
            helper.make_node("Mul", ["f", "s"], ["y"]),
        ]
        constants = {"w": _bytes((k, n)), "ws": np.full(n, 1e-3, np.float32), "wz": np.zeros(n, np.int8)}
        made = session(nodes, (TensorProto.FLOAT, [m, k]), (TensorProto.FLOAT, [m, n]), constants)
        x = _rng().standard_normal((m, k)).astype("float32")
        return lambda: made.run(None, {"x": x})

    def whole(path):
        made = opened(path)
        return lambda x: made.run(None, {"x": x})

    return cases_of(conv, linear, dynamic, lambda c, size, stride: conv(c, size, c, 3, stride, group=c)) | models_of(whole, "int8")


def torch_cases() -> dict[str, Case]:
    import warnings

    import torch

    warnings.simplefilter("ignore")  # its quantized tensors are about to go
    if "OMP_NUM_THREADS" in os.environ:
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))

    def dynamic(m, k, n):
        x = torch.from_numpy(_rng().standard_normal((m, k)).astype("float32"))
        packed = torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(torch.randn(n, k), 0.03, 0, torch.qint8), None)
        return lambda: torch.ops.quantized.linear_dynamic(x, packed)

    cases = {"dynamic linear " + " x ".join(map(str, shape)): Case(lambda shape=shape: dynamic(*shape)) for shape in LINEAR}
    for rows in ROWS:

        def eight(rows=rows):
            x, scale = torch.randn(rows, INSIDE, dtype=torch.bfloat16), torch.ones(OUT, dtype=torch.bfloat16)
            weights = [torch.from_numpy(_bytes((OUT, INSIDE))) for _ in range(MEMORY // (INSIDE * OUT))]
            return in_turn(weights, lambda w: torch._weight_int8pack_mm(x, w, scale))

        def four(group, rows=rows):
            x, scale = torch.randn(rows, INSIDE, dtype=torch.bfloat16), torch.ones(INSIDE // group, OUT, 2, dtype=torch.bfloat16)
            packed = torch._convert_weight_to_int4pack_for_cpu(torch.randint(0, 16, (OUT, INSIDE), dtype=torch.int32), 1)
            weights = [packed.clone() for _ in range(2 * MEMORY // (INSIDE * OUT))]
            return in_turn(weights, lambda w: torch._weight_int4pack_mm_for_cpu(x, w, group, scale))

        cases[_weight_only("int8", 0, rows)] = Case(eight)
        for group in 32, 128:
            cases[_weight_only("int4", group, rows)] = Case(lambda four=four, group=group: four(group))
    return cases


# ---- models -----------------------------------------------------------------------------------------


def save_models(folder: Path) -> None:
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    import wherry as paddle

    class Batches(CalibrationDataReader):
        def __init__(self, shape):
            self.left = [np.random.default_rng(i).standard_normal(shape).astype("float32") for i in range(3)]

        def get_next(self):
            return {"x": self.left.pop()} if self.left else None

    folder.mkdir(parents=True, exist_ok=True)
    layer = paddle.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, activation="gelu")
    nets = {
        "ResNet-18": paddle.vision.models.resnet18(), "MobileNetV2": paddle.vision.models.mobilenet_v2(),
        "Transformer encoder": paddle.nn.TransformerEncoder(layer, 4),
    }
    for name, net in nets.items():
        for _ in range(2):
            net(paddle.randn([4, *SHAPES[name][1:]]))  # normalizations see what there is
        net.eval()
        path = str(folder / f"{name}.float")
        paddle.onnx.export(net, path, input_spec=[paddle.static.InputSpec(SHAPES[name], "float32", "x")], opset_version=13)
        quant_pre_process(f"{path}.onnx", f"{path}.folded.onnx", skip_symbolic_shape=True)
        quantize_static(
            f"{path}.folded.onnx", str(folder / f"{name}.int8.onnx"), Batches(SHAPES[name]), quant_format=QuantFormat.QDQ, per_channel=True,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
        )


if __name__ == "__main__":
    save_models(Path(sys.argv[1]))
