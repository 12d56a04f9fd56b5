"""Programs in Paddle's format that hold everything the format has, for tests and fuzzing."""
from __future__ import annotations

import wherry_nn.functional as F
from wherry_paddle_files.desc import (
    Attr,
    AttrType,
    BlockDesc,
    OpDesc,
    OpVersion,
    OpVersionMap,
    OpVersionPair,
    ProgramDesc,
    Scalar,
    Slot,
    TensorDesc,
    VarAttr,
    VarDesc,
    VarKind,
    VarType,
    Version,
    parse,
    serialize,
    tensor_var,
)  # fmt: skip
from wherry_program.program.capture import capture
from wherry_program.program.control import cond, while_loop
from wherry_program.program.ir import Program
from wherry_tensor import _core, ops

__all__ = ["as_paddle_writes", "detector", "flow", "full_program", "network", "numeric", "small_program", "sound_programs"]


def as_paddle_writes(path: str) -> None:
    """Let the operators of a `.pdmodel` say their roles, as those of all files of Paddle do and those of ours do not."""
    with open(path, "rb") as file:
        program = parse(file.read())
    for block in program.blocks:
        for op in block.ops:
            op.attrs.append(Attr("op_role", AttrType.INT, 0))
    with open(path, "wb") as file:
        file.write(serialize(program))


def small_program() -> ProgramDesc:
    """relu(x @ w + b), as `save_inference_model` writes it."""
    block = BlockDesc(0, -1)
    block.vars = [
        VarDesc("feed", VarType(int(VarKind.FEED_MINIBATCH)), persistable=True),
        VarDesc("fetch", VarType(int(VarKind.FETCH_LIST)), persistable=True),
        tensor_var("x", "float32", [-1, 2], need_check_feed=True),
        tensor_var("w", "float32", [2, 3], persistable=True, is_parameter=True),
        tensor_var("b", "float32", [3], persistable=True, is_parameter=True),
        *(tensor_var(f"t{i}", "float32", [-1, 3]) for i in range(3)),
    ]
    block.ops = [
        OpDesc("feed", [Slot("X", ["feed"])], [Slot("Out", ["x"])], [Attr("col", AttrType.INT, 0)]),
        OpDesc("matmul_v2", [Slot("X", ["x"]), Slot("Y", ["w"])], [Slot("Out", ["t0"])],
               [Attr("trans_x", AttrType.BOOLEAN, False), Attr("trans_y", AttrType.BOOLEAN, False)]),
        OpDesc("elementwise_add", [Slot("X", ["t0"]), Slot("Y", ["b"])], [Slot("Out", ["t1"])], [Attr("axis", AttrType.INT, -1)]),
        OpDesc("relu", [Slot("X", ["t1"])], [Slot("Out", ["t2"])]),
        OpDesc("fetch", [Slot("X", ["t2"])], [Slot("Out", ["fetch"])], [Attr("col", AttrType.INT, 0)]),
    ]  # fmt: skip
    return ProgramDesc([block], Version(2006002), OpVersionMap([OpVersionPair("matmul_v2", OpVersion(1))]))


def full_program() -> ProgramDesc:
    """Every type of attribute, several kinds of variables, a block in a block, fields that are not known, a mark."""
    program = small_program()
    outer, inner = program.blocks[0], BlockDesc(1, 0, forward=-1)
    values = {
        AttrType.INT: -3, AttrType.FLOAT: 0.5, AttrType.STRING: "naïve".encode(), AttrType.INTS: [1, -1, 2**31 - 1],
        AttrType.FLOATS: [1.5, float("inf")], AttrType.STRINGS: [b"a", b"", b"\xff"], AttrType.BOOLEAN: True,
        AttrType.BOOLEANS: [True, False], AttrType.BLOCK: 1, AttrType.LONG: -(2**63), AttrType.BLOCKS: [1], AttrType.LONGS: [2**62, -1],
        AttrType.FLOAT64S: [0.1, -0.0], AttrType.VAR: "w", AttrType.VARS: ["w", "b"], AttrType.FLOAT64: 0.1,
        AttrType.SCALAR: Scalar.of(1 + 2j), AttrType.SCALARS: [Scalar.of(True), Scalar.of(7), Scalar.of(0.5)],
    }  # fmt: skip
    attrs = [Attr(kind.name.lower(), int(kind), value) for kind, value in values.items()]
    attrs.append(Attr("empty", int(AttrType.INTS), []))
    attrs.append(Attr("odd", int(AttrType.FLOAT), 1.0, unknown=b"\x18\x07"))  # a second value, of another type
    outer.ops.insert(4, OpDesc("while", [Slot("X", ["t2", "w"]), Slot("Empty")], [Slot("Out", ["t2"])], attrs, is_target=True))
    inner.vars = [
        tensor_var("t3", "float32", [-1, 3], stop_gradient=True),
        VarDesc("array", VarType(int(VarKind.LOD_TENSOR_ARRAY))),
        VarDesc("rows", VarType(int(VarKind.SELECTED_ROWS), selected_rows=TensorDesc(5, [7, -1]))),
        VarDesc("scopes", VarType(int(VarKind.STEP_SCOPES)), attrs=[VarAttr("a", 0, 1), VarAttr("b", 3, ints=[1, 2])], unknown=b"\x50\x01"),
    ]
    inner.ops = [OpDesc("assign", [Slot("X", ["t2"])], [Slot("Out", ["t3"])], unknown=b"\xa2\x06\x03abc")]
    program.blocks.append(inner)
    program.params_mark = bytes(range(16))
    program.unknown = b"\x98\x06\x05"
    return program


def detector() -> ProgramDesc:
    """The head of a detector, as Paddle writes it: boxes, and the best of each class."""
    block = BlockDesc(0, -1)
    block.vars = [
        VarDesc("feed", VarType(int(VarKind.FEED_MINIBATCH)), persistable=True),
        VarDesc("fetch", VarType(int(VarKind.FETCH_LIST)), persistable=True),
        tensor_var("x", "float32", [-1, 16, 4, 4], need_check_feed=True),
        tensor_var("size", "int32", [-1, 2], need_check_feed=True),
        tensor_var("boxes", "float32", [-1, 32, 4]),
        *(tensor_var(name, "float32", [-1, -1, -1]) for name in ("scores", "turned", "shape")),
        *(tensor_var(name, "float32", [-1, 6]) for name in ("out", "twice")),
        *(tensor_var(name, "int32", [-1]) for name in ("index", "count")),
    ]
    yolo = [
        Attr("anchors", AttrType.INTS, [10, 13, 16, 30]), Attr("class_num", AttrType.INT, 3), Attr("conf_thresh", AttrType.FLOAT, 0.25),
        Attr("downsample_ratio", AttrType.INT, 8), Attr("clip_bbox", AttrType.BOOLEAN, True), Attr("scale_x_y", AttrType.FLOAT, 1.0),
    ]
    best = [
        Attr("background_label", AttrType.INT, -1), Attr("score_threshold", AttrType.FLOAT, 0.125), Attr("nms_top_k", AttrType.INT, 20),
        Attr("nms_threshold", AttrType.FLOAT, 0.5), Attr("keep_top_k", AttrType.INT, 10), Attr("nms_eta", AttrType.FLOAT, 1.0),
        Attr("normalized", AttrType.BOOLEAN, False),
    ]
    made = [Slot("Out", ["out"]), Slot("Index", ["index"]), Slot("NmsRoisNum", ["count"])]
    block.ops = [
        OpDesc("feed", [Slot("X", ["feed"])], [Slot("Out", ["x"])], [Attr("col", AttrType.INT, 0)]),
        OpDesc("feed", [Slot("X", ["feed"])], [Slot("Out", ["size"])], [Attr("col", AttrType.INT, 1)]),
        OpDesc("yolo_box", [Slot("X", ["x"]), Slot("ImgSize", ["size"])], [Slot("Boxes", ["boxes"]), Slot("Scores", ["scores"])], yolo),
        OpDesc("transpose2", [Slot("X", ["scores"])], [Slot("Out", ["turned"]), Slot("XShape", ["shape"])], [Attr("axis", AttrType.INTS, [0, 2, 1])]),
        OpDesc("multiclass_nms3", [Slot("BBoxes", ["boxes"]), Slot("Scores", ["turned"])], made, best),
        OpDesc("fused_elementwise_add", [Slot("X", ["out"]), Slot("Y", ["out"])], [Slot("Out", ["twice"])],
               [Attr("axis", AttrType.INT, -1), Attr("fuse_activation", AttrType.STRING, b"relu")]),
        OpDesc("fetch", [Slot("X", ["twice"])], [Slot("Out", ["fetch"])], [Attr("col", AttrType.INT, 0)]),
        OpDesc("fetch", [Slot("X", ["count"])], [Slot("Out", ["fetch"])], [Attr("col", AttrType.INT, 1)]),
    ]  # fmt: skip
    return ProgramDesc([block], Version(2006002))


def sound_programs() -> list[bytes]:
    """The bytes of these, and of programs that captures wrote: layers, a choice, a loop, numerical functions."""
    from wherry_paddle_files.models import write_program

    return [*(serialize(make()) for make in (small_program, full_program, detector)), *map(write_program, (network(), flow(), numeric()))]


def network() -> Program:
    """Convolution, normalization, pooling, products, slices and a softmax, of any batch."""
    program = Program()
    x = program.feed([-1, 2, 8, 8], _core.float32, "image")
    weights = [ops.full(shape=shape, value=0.1, dtype=_core.float32) for shape in ((4, 2, 3, 3), (4,), (4,), (36, 3))]
    for weight, name in zip(weights, ("conv", "mean", "variance", "linear"), strict=True):
        weight.name, weight.persistable = name, True
    with capture(program) as recording:
        y = F.conv2d(x, weights[0])
        y = ops.batch_norm_infer(y, weights[1], weights[2], None, None, epsilon=1e-5, data_format="NCHW")
        y = F.max_pool2d(ops.relu(y), 2, 2)
        y = ops.matmul(y.flatten(1), weights[3], transpose_x=False, transpose_y=False)
        y = F.softmax(y * 2.0 + 1.0)
        results = [y, y[:, 0], y.argmax(1), (y > 0.5).astype("int64").sum()]
        program.fetches += map(recording.variable_of, results)
    return program


def flow() -> Program:
    """A choice and a loop, with numbers that only a run knows."""
    program = Program()
    x = program.feed([-1, 3], _core.float32, "x")
    with capture(program) as recording:
        y = cond(x.sum() > 0, lambda: x * 2.0, lambda: x - 1.0)
        _, z = while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y + x.mean()], [ops.full(shape=(), value=0, dtype=_core.int64), y])
        program.fetches += map(recording.variable_of, [z, z.reshape([z.shape[0] * 3])])
    return program


def numeric() -> Program:
    """Matrices, spectra, labels that are not aligned, and values that are put at places."""
    program = Program()
    x, index = program.feed([-1, 4, 4], _core.float32, "x"), program.feed([-1, 4, 2], _core.int64, "index")
    labels, lengths = program.feed([4, 1], _core.int64, "labels"), program.feed([4], _core.int64, "lengths")
    with capture(program) as recording:
        square = ops.matmul(x, x, transpose_x=False, transpose_y=True) + 1.0
        spectrum = ops.fft_r2c(x, axes=(1, 2), normalization="n", forward=True)
        back = ops.fft_c2r(spectrum, axes=(1, 2), normalization="none", forward=False, size=4)
        put = ops.put_along_axis(x, index, ops.full(shape=(), value=1.0, dtype=_core.float32), axis=2, reduce="add")
        loss, _ = ops.ctc_loss(ops.log_softmax(x, axis=2), labels, lengths, ops.full_like(lengths, value=1, dtype=_core.int64), blank=0,
                               norm_by_times=False)
        factors = [*ops.qr(square, complete=False), *ops.svd(square, full_matrices=False), *ops.eigh(square, upper=False)]
        found = [*factors, ops.det(square), ops.solve(square, x), back, put, loss, ops.gcd(index, index + 6), ops.cumprod(x, axis=1)]
        program.fetches += map(recording.variable_of, found)
    return program
