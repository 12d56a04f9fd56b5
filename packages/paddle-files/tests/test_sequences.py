"""Programs with sequences of different lengths: data/sequences.zip holds what Paddle 2.6.2 saved and computed (make_sequences.py)."""
import contextlib
import io
import random

import numpy as np
import pytest

import wherry_tensor as wt
from archives import cases_of
from wherry_paddle_files import desc, models, sequences
from wherry_paddle_files import ops as rules  # noqa: F401  the rules
from wherry_paddle_files.desc import Attr, AttrType, OpDesc, Slot, tensor_var
from wherry_paddle_files.reading import program_of
from wherry_program.run.executor import compiled
from wherry_tensor.protobuf import ModelFileError

CASES = cases_of("sequences.zip")


def _loaded(name, described=None):
    case = CASES[name]
    program = models.params_from_bytes(described or case["model.pdmodel"], case.get("model.pdiparams", b""))
    return program, sequences.feed_offsets(program)


def _parts(found, kind):
    """The arrays of inputs or outputs, and the lengths of each level of each."""
    arrays = [found[f"{kind}{i}"] for i in range(sum(key[0] == kind and "_" not in key for key in found))]
    lengths = [[found[key] for key in sorted(found) if key.startswith(f"{kind}{i}_")] for i in range(len(arrays))]
    return arrays, [[[0, *np.cumsum(level).tolist()] for level in each] for each in lengths]


def _inputs(name):
    with np.load(io.BytesIO(CASES[name]["case.npz"]), allow_pickle=False) as found:
        return _parts(dict(found), "x"), _parts(dict(found), "y")


@pytest.mark.parametrize("name", CASES)
def test_a_program_of_paddle_gives_what_it_gives_there(name):
    program, offsets = _loaded(name)
    (inputs, lods), (wanted, wanted_lods) = _inputs(name)
    given = [wt.to_tensor(x) for x in inputs]
    if offsets is not None:
        assert offsets.fed == list(map(len, lods))
        given += [wt.to_tensor(level, dtype="int64") for lod in lods for level in lod]
    found = compiled(program)(*given)
    for mine, theirs in zip(found, wanted):
        assert mine.shape == list(theirs.shape) and mine.dtype.name == theirs.dtype.name
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-5, atol=1e-6)
    if offsets is not None:
        known = [*given[len(inputs) :], *found[len(wanted) :]]
        assert [[known[i].tolist() for i in places] for places in offsets.fetched] == wanted_lods
    else:
        assert not any(wanted_lods)


def _changed(name, change):
    """The program of a case after a change of its description, read."""
    described = desc.parse(CASES[name]["model.pdmodel"])
    change(described.blocks[0])
    return program_of(described)


def _op(block, kind):
    return next(op for op in block.ops if op.type == kind)


def _attr(kind, name, value):
    def change(block):
        next(attr for attr in _op(block, kind).attrs if attr.name == name).value = value

    return change


def _level(level):
    def change(block):
        next(var for var in block.vars if var.name == "x").type.lod_tensor.lod_level = level

    return change


@pytest.mark.parametrize(("name", "change", "said"), [
    ("pool_sum", _level(0), "no offsets of sequences come to its input 'X'"),
    ("pool_sum", _level(17), "lod_level 17"),
    ("pool_sum", _level(-1), "lod_level -1"),
    ("pool_sum", _attr("sequence_pool", "pooltype", b"MEAN"), "'MEAN'"),
    ("reset", _attr("lod_reset", "target_lod", [0, 5, 3]), "begin with 0 and grow"),
    ("reset", _attr("lod_reset", "target_lod", []), "begin with 0 and grow"),
    ("conv", _attr("sequence_conv", "contextLength", 1 << 30), "rows in a window"),
    ("conv", _attr("sequence_conv", "contextStride", 2), "stride"),
    ("enumerate", _attr("sequence_enumerate", "win_size", 0), "rows in a window"),
    ("reshape", _attr("sequence_reshape", "new_dim", -2), "new_dim"),
    ("gru", _attr("gru", "activation", b"sine"), "'sine'"),
    ("expand", _attr("sequence_expand", "ref_level", 3), "ref_level is out of range"),
    ("gru_unit", _attr("gru_unit", "activation", 4), "numbers from 0 to 3"),
    ("chunks_IOB", _attr("chunk_eval", "chunk_scheme", b"BIO"), "'BIO'"),
    ("chunks_IOB", _attr("chunk_eval", "num_chunk_types", 0), "0 types of chunks"),
    ("chunks_plain", _attr("chunk_eval", "excluded_chunk_types", list(range(5000))), "5000 of them excluded"),
])  # fmt: skip
def test_a_damaged_program_is_refused_when_it_is_read(name, change, said):
    with pytest.raises(ModelFileError, match=said):
        _changed(name, change)


def test_weights_that_do_not_fit_are_refused():
    def other(block):
        next(var for var in block.vars if var.persistable and var.tensor.dims == [3, 9]).tensor.dims[:] = [9, 3]

    with pytest.raises(ModelFileError, match="its weight \\[9, 3\\]"):
        _changed("gru", other)


def test_an_operator_that_is_not_read_is_named():
    with pytest.raises(NotImplementedError, match="'sequence_topk_avg_pooling'. Got 1 of them"):
        _changed("pool_sum", lambda block: setattr(_op(block, "sequence_pool"), "type", "sequence_topk_avg_pooling"))


@pytest.mark.parametrize(("levels", "rows", "said"), [
    ([[0, 2, 5]], 5, None), ([[0, 1], [0, 2]], 2, None), ([], 3, None), ([[0]], 0, "grow"), ([[1, 2]], 2, "begin with 0"), ([[0, 3, 2]], 2, "grow"),
    ([[0, 2]], 3, "number of rows, 3"), ([[0, 3], [0, 1, 2]], 2, "number of sequences"),
])  # fmt: skip
def test_what_is_wrong_with_offsets_is_said(levels, rows, said):
    fault = sequences.fault_of_offsets(levels, rows)
    assert fault is None if said is None else said in fault


def test_what_is_fed_may_contradict_and_no_kernel_reads_beside_it():
    """Offsets that do not fit the rows reach a program only without the checks of those who feed it."""
    wrong = [[0, 100, 7], [0, 3], [3, 7], [0, 7, 7, 90], [-5, 7], [0, 1 << 62], [1 << 62, -(1 << 62)], [0], []]
    for name in ("pool_max", "pool_sum", "pad", "reverse", "gru", "conv", "softmax", "enumerate", "expand_as", "tags", "slice"):
        program, _ = _loaded(name)
        (inputs, lods), _ = _inputs(name)
        run = compiled(program)
        for bad in wrong:
            given = [wt.to_tensor(x) for x in inputs] + [wt.to_tensor(bad, dtype="int64") for lod in lods for _ in lod]
            with contextlib.suppress(ValueError, IndexError, AssertionError, MemoryError, RuntimeError):
                run(*given)


def test_nothing_may_be_left_of_all_sequences():
    for name in ("aligned_best", "erase"):
        program, _ = _loaded(name)
        (inputs, lods), _ = _inputs(name)
        empty = np.full_like(inputs[0], {"aligned_best": 0, "erase": 1}[name])
        rows, offsets = compiled(program)(wt.to_tensor(empty), wt.to_tensor(lods[0][0], dtype="int64"))
        assert rows.shape == [0, 1] and offsets.tolist() == [0, 0, 0, 0]


def test_offsets_are_handed_on_without_being_needed():
    _, offsets = _loaded("row_by_row")
    assert offsets.fed == [1] and offsets.needed == [False] and offsets.fetched == [[0]]
    _, offsets = _loaded("no_rows_left")
    assert offsets.needed == [False] and offsets.fetched == [[]]


def test_a_copy_of_a_program_has_offsets_of_its_own():
    program = models.params_from_bytes(CASES["gru"]["model.pdmodel"], CASES["gru"]["model.pdiparams"])
    copy, new = program.copy()
    (x,), (y,) = program.feeds, copy.feeds
    assert y.__dict__["offsets"] == (new[id(x.__dict__["offsets"][0])],)
    assert y.__dict__["offsets"][0].block.program is copy


def test_damaged_files_are_refused_and_nothing_else_happens():
    rng = random.Random(5)
    for _ in range(300):
        name = rng.choice(sorted(CASES))
        data = bytearray(CASES[name]["model.pdmodel"])
        for _ in range(rng.choice([1, 1, 2, 5])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            program, _ = _loaded(name, bytes(data))
        except (ModelFileError, NotImplementedError):
            continue
        assert program.feeds


def _operator(kind, inputs, outputs, attrs=()):
    return OpDesc(kind, *([Slot(name, [value]) for name, value in slots.items()] for slots in (inputs, outputs)), list(attrs))


def test_a_gradient_passes_a_recurrent_operator():
    """What a file of Paddle 1 trains: `gru_grad` is what autograd says of the loop."""
    described = desc.parse(CASES["gru"]["model.pdmodel"])
    block = described.blocks[0]
    forward, fetch = _op(block, "gru"), _op(block, "fetch")
    hidden = forward.output("Hidden")[0]
    block.vars += [tensor_var(name, "float32", dims) for name, dims in {"dx": [-1, 9], "dh": [-1, 3]}.items()]
    given = {slot.name: slot.arguments[0] for slot in forward.inputs if slot.arguments} | {"Hidden": hidden, "Hidden@GRAD": "dh"}
    block.ops = [
        *(op for op in block.ops if op is not fetch), _operator("fill_any_like", {"X": hidden}, {"Out": "dh"}, [Attr("value", AttrType.FLOAT, 1.0)]),
        _operator("gru_grad", given, {"Input@GRAD": "dx"}, forward.attrs), _operator("fetch", {"X": "dx"}, {"Out": "fetch"}, fetch.attrs),
    ]
    values = models.params_from_bytes(CASES["gru"]["model.pdmodel"], CASES["gru"]["model.pdiparams"])
    program = program_of(described)
    models.bind_values(program, {x.name: x.bound for x in values.bound_variables()})
    sequences.feed_offsets(program)
    sequences.feed_offsets(values)
    (inputs, lods), _ = _inputs("gru")
    x, offsets = inputs[0], wt.to_tensor(lods[0][0], dtype="int64")
    (dx,) = compiled(program)(wt.to_tensor(x), offsets)
    for row, column in (0, 0), (1, 4), (2, 8), (5, 2):
        there = []
        for step in (0.01, -0.01):
            near = x.copy()
            near[row, column] += step
            there.append(compiled(values)(wt.to_tensor(near), offsets)[0].numpy().sum())
        np.testing.assert_allclose(dx.numpy()[row, column], (there[0] - there[1]) / 0.02, rtol=0.02, atol=2e-3)
