"""Makes data/sequences.zip: programs of Paddle 2.6.2 with sequences of different lengths, as it saves them, with inputs and answers.

    python packages/paddle-files/tests/make_sequences.py packages/paddle-files/tests/data/sequences.zip [SEED]

Operators for which Paddle 2.6.2 has no function any more, though it runs them, are put into the programs as Paddle 1 did.
"""
import io
import os
import sys
import tempfile
import zipfile
import zlib  # noqa: F401  Paddle may crash when its own copy is loaded first

import numpy as np
import paddle
from paddle import static
from paddle.static import nn

rng = np.random.RandomState(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
COUNTS = ("NumInferChunks", "NumLabelChunks", "NumCorrectChunks")
TYPES = {
    "selected_ids": "int64", "parent_idx": "int32", "ViterbiPath": "int64", "Output": "int64", "OutputLength": "int32",
    **dict.fromkeys(COUNTS, "int64"),
}  # fmt: skip
BEAMS = [[2, 3, 1], [1, 1, 1, 1, 1, 1]]
LENGTHS, HOLES, NESTED = [[2, 1, 4]], [[2, 0, 4, 1]], [[2, 1], [2, 1, 4]]


def rows(width, dtype="float32", lengths=LENGTHS, high=9):
    """A batch of sequences: the array and the lengths of each level."""
    shape = (sum(lengths[-1]), width)
    return (rng.randint(0, high, shape) if dtype == "int64" else rng.randn(*shape)).astype(dtype), lengths


def dense(*shape, dtype="float32", high=2):
    return (rng.randint(0, high, shape) if dtype.startswith("int") else rng.randn(*shape)).astype(dtype), []


def raw(kind, outs, attrs, **slots):
    """An operator by its type; returns the outputs of these slots."""
    block = static.default_main_program().global_block()
    new = paddle.utils.unique_name.generate
    made = {name: block.create_var(name=new("raw"), dtype=TYPES.get(name, "float32")) for name in outs}
    inputs = {name: x if isinstance(x, list) else [x] for name, x in slots.items() if x is not None}
    block.append_op(type=kind, inputs=inputs, outputs={name: [x] for name, x in made.items()}, attrs=attrs)
    return [made[name] for name in outs]


def tagged(high):
    """Tags of long sequences, so that chunks are found."""
    return rows(1, "int64", [[30, 1, 0, 25]], high)


def chunks(x, y, scheme, excluded, n=None):
    attrs = {"num_chunk_types": 3, "chunk_scheme": scheme, "excluded_chunk_types": excluded}
    return raw("chunk_eval", ("Precision", "Recall", "F1-Score", *COUNTS), attrs, Inference=x, Label=y, SeqLength=n)


def beam(pre, worth, scores, ids=None, **attrs):
    attrs = {"level": 0, "beam_size": 3, "end_id": 0, "is_accumulated": True, **attrs}
    return raw("beam_search", ("selected_ids", "selected_scores", "parent_idx"), attrs, pre_ids=pre, pre_scores=worth, scores=scores, ids=ids)


def searched(lengths=BEAMS, ended=(), ids=True):
    """What a step of a search takes: the last words of hypotheses, of which these rows have ended, their scores, those of words, and words."""
    pre = rows(1, "int64", lengths)[0] + 1
    pre[list(ended)] = 0
    many = pre.shape[0]
    inputs = {"pre": (pre, lengths), "worth": (rng.rand(many, 1).astype("float32"), lengths), "s": (rng.rand(many, 4).astype("float32"), lengths)}
    return inputs | {"ids": (rng.randint(0, 9, (many, 4)).astype("int64"), lengths)} if ids else inputs


def weight(*shape):
    return static.create_parameter(list(shape), "float32", default_initializer=paddle.nn.initializer.Normal(0.0, 0.5))


def gru(x, width, h=None, bias=True, **attrs):
    outs = ("Hidden", "BatchGate", "BatchResetHiddenPrev", "BatchHidden")
    return raw("gru", outs, attrs, Input=x, Weight=weight(width, 3 * width), Bias=weight(1, 3 * width) if bias else None, H0=h)[0]


def lstm(x, width, h=None, c=None, **attrs):
    more = 7 if attrs.get("use_peepholes", True) else 4
    outs = ("Hidden", "Cell", "BatchGate", "BatchCellPreAct")
    return raw("lstm", outs, attrs, Input=x, Weight=weight(width, 4 * width), Bias=weight(1, more * width), H0=h, C0=c)[:2]


def tags(x, label=None, length=None):
    return raw("crf_decoding", ("ViterbiPath",), {}, Emission=x, Transition=weight(x.shape[-1] + 2, x.shape[-1]), Label=label, Length=length)[0]


def likelihood(x, label, length=None):
    slots = {"Emission": x, "Transition": weight(x.shape[-1] + 2, x.shape[-1]), "Label": label, "Length": length}
    return raw("linear_chain_crf", ("LogLikelihood", "Alpha", "EmissionExps", "TransitionExps"), {}, **slots)[0]


def erased(x, tokens):
    return raw("sequence_erase", ("Out",), {"tokens": tokens}, X=x)[0]


def unit(x, h):
    weights = {"Weight": weight(3, 9), "Bias": weight(1, 9)}
    return raw("gru_unit", ("Hidden", "ResetHiddenPrev", "Gate"), {"activation": 2, "gate_activation": 1}, Input=x, HiddenPrev=h, **weights)


# What is fed, and what is computed from it.
X, W = {"x": rows(4)}, {"w": rows(1, "int64")}
CASES = {
    **{f"pool_{kind}": (X, lambda x, kind=kind: nn.sequence_pool(x, kind)) for kind in ("sum", "average", "sqrt", "max", "first", "last")},
    **{
        f"pool_holes_{kind}": ({"x": rows(3, lengths=HOLES)}, lambda x, kind=kind: nn.sequence_pool(x, kind, pad_value=-2.5))
        for kind in ("sum", "average", "sqrt", "max")
    },
    "pool_nested": ({"x": rows(3, lengths=NESTED)}, lambda x: nn.sequence_pool(nn.sequence_pool(x, "max"), "sum")),
    "first_step": (X, nn.sequence_first_step),
    "last_step": (X, nn.sequence_last_step),
    "softmax": ({"x": rows(1)}, nn.sequence_softmax),
    "softmax_flat": ({"x": rows(1)}, lambda x: nn.sequence_softmax(paddle.reshape(x, [-1]))),
    "conv": (X, lambda x: nn.sequence_conv(x, 5, 3, act="tanh")),
    "conv_behind": (X, lambda x: nn.sequence_conv(x, 2, 4, padding_start=0)),
    "concat": ({"x": rows(2), "y": rows(2, lengths=[[1, 3, 2]])}, lambda x, y: nn.sequence_concat([x, y])),
    "expand": ({"x": dense(3, 2), "y": rows(1)}, lambda x, y: nn.sequence_expand(x, y, ref_level=0)),
    "expand_sequences": ({"x": rows(2, lengths=[[2, 1, 3]]), "y": rows(1)}, lambda x, y: nn.sequence_expand(x, y)),
    "expand_outer": ({"x": rows(2, lengths=[[2, 1]]), "y": rows(1, lengths=NESTED)}, lambda x, y: nn.sequence_expand(x, y, ref_level=0)),
    "expand_as": ({"x": dense(3, 2), "y": rows(1)}, nn.sequence_expand_as),
    "pad": (X, lambda x: nn.sequence_pad(x, paddle.full([1], 0.5))),
    "pad_to": (X, lambda x: nn.sequence_pad(x, paddle.full([1], 0.5), maxlen=6)),
    "unpad": ({"x": dense(3, 4, 2), "n": (np.array([2, 4, 1], "int64"), [])}, nn.sequence_unpad),
    "reshape": (X, lambda x: nn.sequence_reshape(x, 2)),
    "reverse": (X, nn.sequence_reverse),
    "slice": (
        {"x": rows(2), "o": (np.array([[1], [0], [2]], "int64"), []), "n": (np.array([[1], [1], [2]], "int64"), [])},
        lambda x, o, n: nn.sequence_slice(x, o, n),
    ),
    "scatter": ({"x": dense(3, 9), "w": rows(1, "int64"), "u": rows(1)}, lambda x, w, u: nn.sequence_scatter(x, w, u)),
    "enumerate": (W, lambda w: nn.sequence_enumerate(w, 3, pad_value=7)),
    "erase": ({"w": rows(1, "int64", high=4)}, lambda w: erased(w, [1, 3])),
    "erase_nothing": (W, lambda w: erased(w, [])),
    **{
        f"aligned_{name}": ({"w": rows(1, "int64", high=3)}, lambda w, attrs=attrs: raw("ctc_align", ("Output",), attrs, Input=w)[0])
        for name, attrs in {"best": {"blank": 0, "merge_repeated": True}, "all": {"blank": 2, "merge_repeated": False}}.items()
    },
    "aligned_padded": (
        {"w": dense(3, 6, dtype="int32", high=3), "n": (np.array([[6], [2], [4]], "int32"), [])},
        lambda w, n: raw("ctc_align", ("Output", "OutputLength"), {"blank": 0, "merge_repeated": True, "padding_value": 5}, Input=w, InputLength=n),
    ),
    "likelihood": ({"x": rows(4), "w": rows(1, "int64", high=4)}, likelihood),
    "likelihood_padded": (
        {"x": dense(3, 6, 4), "w": dense(3, 6, 1, dtype="int64", high=4), "n": (np.array([[6], [2], [4]], "int64"), [])}, likelihood,
    ),
    "reset": (X, lambda x: nn.sequence_pool(raw("lod_reset", ("Out",), {"target_lod": [0, 3, 7]}, X=x)[0], "sum")),
    "reset_as": ({"x": rows(2), "y": rows(1, lengths=[[5, 2]])}, lambda x, y: raw("lod_reset", ("Out",), {}, X=x, Y=y)[0]),
    "reset_values": ({"x": rows(2), "y": (np.array([0, 1, 7], "int32"), [])}, lambda x, y: raw("lod_reset", ("Out",), {}, X=x, Y=y)[0]),
    "reset_below": ({"x": rows(2, lengths=[[2, 1]])}, lambda x: raw("lod_reset", ("Out",), {"target_lod": [0, 1, 2, 3], "append": True}, X=x)[0]),
    "images": (
        {"x": dense(2, 2, 4, 5)},
        lambda x: raw("im2sequence", ("Out",), {"kernels": [2, 3], "strides": [2, 1], "paddings": [0, 1, 0, 1]}, X=x)[0],
    ),
    "row_conv": (X, lambda x: nn.row_conv(x, 2)),
    "gru": ({"x": rows(9)}, lambda x: gru(x, 3)),
    "gru_holes": ({"x": rows(9, lengths=HOLES)}, lambda x: gru(x, 3)),
    "gru_back": ({"x": rows(9), "h": dense(3, 3)}, lambda x, h: gru(x, 3, h, is_reverse=True, origin_mode=True)),
    "gru_relu": ({"x": rows(9)}, lambda x: gru(x, 3, bias=False, activation="relu", gate_activation="tanh")),
    "lstm": ({"x": rows(12)}, lambda x: lstm(x, 3)),
    "lstm_plain": ({"x": rows(12), "h": dense(3, 3), "c": dense(3, 3)}, lambda x, h, c: lstm(x, 3, h, c, use_peepholes=False, is_reverse=True)),
    "lstm_relu": ({"x": rows(12)}, lambda x: lstm(x, 3, candidate_activation="relu", cell_activation="identity", gate_activation="tanh")),
    "gru_unit": ({"x": dense(4, 9), "h": dense(4, 3)}, unit),
    "tags": ({"x": rows(5)}, tags),
    "tags_holes": ({"x": rows(5, lengths=HOLES)}, tags),
    "tags_and_label": ({"x": rows(4), "w": rows(1, "int64", high=4)}, tags),
    "tags_padded": ({"x": dense(3, 6, 4), "n": (np.array([6, 2, 4], "int64"), [])}, lambda x, n: tags(x, length=n)),
    "tagger": (
        {"w": rows(1, "int64"), "v": rows(1, "int64")},
        lambda w, v: tags(nn.fc(paddle.concat([
            gru(nn.fc(nn.embedding(w, [9, 4]), 9), 3), gru(nn.fc(nn.embedding(v, [9, 4]), 9), 3, is_reverse=True)], 1), 4)),
    ),
    "row_by_row": (X, lambda x: paddle.nn.functional.softmax(nn.fc(x * 2.0 + 1.0, 3, activation="relu"))),
    "no_rows_left": (X, lambda x: paddle.sum(x, 1)),
    "batch": (X, lambda x: raw("fill_constant_batch_size_like", ("Out",), {"shape": [-1, 2], "value": 1.5, "dtype": 5}, Input=x)[0]),
    "one_after_the_other": (
        {"x": rows(2), "y": rows(2, lengths=[[1, 2]])}, lambda x, y: nn.sequence_pool(paddle.concat([x, y], 0), "sum"),
    ),
    "by_name": (W, lambda w: nn.sequence_pool(paddle.reshape(nn.embedding(w, [9, 4]), [-1, 4]), "max")),
    **{
        f"chunks_{scheme}": ({"x": tagged(3 * tags + 1), "y": tagged(3 * tags + 1)}, lambda x, y, scheme=scheme: [
            one for excluded in ([], [1]) for one in chunks(x, y, scheme, excluded)
        ])
        for scheme, tags in (("IOB", 2), ("IOE", 2), ("IOBES", 4), ("plain", 1))
    },
    "chunks_of_batches": (
        {"x": dense(3, 9, dtype="int64", high=7), "y": dense(3, 9, dtype="int64", high=7), "n": (np.array([9, 0, 4], "int64"), [])},
        lambda x, y, n: chunks(x, y, "IOB", [], n),
    ),
    "beams": (searched(), lambda *x: beam(*x)),
    "beams_that_end": (searched(ended=(0, 2, 3, 4)), lambda *x: beam(*x, beam_size=2)),
    "beams_of_products": (searched(ended=(1,), ids=False), lambda *x: beam(*x, is_accumulated=False)),
    "beams_within": (searched([[1, 2], [2, 1, 3]]), lambda *x: beam(*x, level=1, beam_size=5)),
    "beams_over": (searched([[2, 1], [2, 0, 3]]), lambda *x: beam(*x)),
}


def without_places(path):
    """Takes out of a program where in which source each operator was called."""
    with open(path, "rb") as file:
        program = static.Program.parse_from_string(file.read())
    for block in (program.desc.block(i) for i in range(program.desc.num_blocks())):
        for i in range(block.op_size()):
            block.op(i).remove_attr("op_callstack")
    with open(path, "wb") as file:
        file.write(program.desc.serialize_to_string())


def made(inputs, function, folder):
    """Saves the program; returns what it gives, with the lengths of sequences."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()), paddle.utils.unique_name.guard():
        feeds = [static.data(name, [None, *array.shape[1:]], str(array.dtype), lod_level=len(lengths)) for name, (array, lengths) in inputs.items()]
        outs = function(*feeds)
        outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
        exe = static.Executor(paddle.CPUPlace())
        exe.run(startup)
        fed = {
            name: paddle.base.create_lod_tensor(array, lengths, paddle.CPUPlace()) if lengths else array
            for name, (array, lengths) in inputs.items()
        }
        static.save_inference_model(f"{folder}/model", feeds, outs, exe, program=main, clip_extra=False)  # else `gru` does not run
        without_places(f"{folder}/model.pdmodel")
        program, names, fetches = static.load_inference_model(f"{folder}/model", exe)
        return names, exe.run(program, feed=fed, fetch_list=fetches, return_numpy=False)


def main(target):
    paddle.enable_static()
    paddle.seed(1)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (inputs, function) in CASES.items():
            with tempfile.TemporaryDirectory() as folder:
                try:
                    names, outs = made(inputs, function, folder)
                except Exception as error:
                    print(f"{name}: {str(error)[-400:]}", file=sys.stderr)
                    raise
                arrays = {f"x{i}": inputs[each][0] for i, each in enumerate(names)} | {f"y{i}": np.array(y) for i, y in enumerate(outs)}
                for kind, lods in ("x", [inputs[each][1] for each in names]), ("y", [y.recursive_sequence_lengths() for y in outs]):
                    arrays |= {f"{kind}{i}_{level}": np.array(lengths, "int64") for i, lod in enumerate(lods) for level, lengths in enumerate(lod)}
                data = io.BytesIO()
                np.savez(data, **arrays)
                archive.writestr(f"{name}/case.npz", data.getvalue())
                for file in sorted(os.listdir(folder)):
                    if file != "model.pdiparams.info":
                        with open(os.path.join(folder, file), "rb") as found:
                            archive.writestr(f"{name}/{file}", found.read())


if __name__ == "__main__":
    main(sys.argv[1])
