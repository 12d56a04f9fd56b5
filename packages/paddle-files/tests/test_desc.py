"""What a `.pdmodel` says is read as it was written, and nothing else is taken for one."""
import copy
import time

import pytest

from wherry_paddle_files import desc
from wherry_paddle_files.desc import (
    Attr,
    AttrType,
    BlockDesc,
    OpDesc,
    Slot,
    VarDesc,
    VarKind,
    VarType,
    tensor_var,
)
from wherry_paddle_files.testing.model_files import full_program, small_program
from wherry_tensor.protobuf import ModelFileError


def test_a_program_with_everything_is_read_as_it_was_written():
    program = full_program()
    data = desc.serialize(program)
    again = desc.parse(data)
    assert again == program
    assert desc.serialize(again) == data


def test_values_of_attributes_are_what_python_has():
    op = desc.parse(desc.serialize(full_program())).blocks[0].ops[4]
    assert (op.attr("int"), op.attr("long"), op.attr("float"), op.attr("boolean")) == (-3, -(2**63), 0.5, True)
    assert op.attr("string") == "naïve"
    assert op.attr("strings") == ["a", "", "\udcff"]
    assert op.attr("scalar") == 1 + 2j
    assert op.attr("scalars") == [True, 7, 0.5]
    assert op.attr("ints") == [1, -1, 2**31 - 1]
    assert op.attr("empty") == []
    assert op.attr("no such attribute", 5) == 5
    assert (op.input("X"), op.input("no such input"), op.output("Out")) == (["t2", "w"], [], ["t2"])


def test_packed_numbers_are_read_too():
    numbers = Attr("axes", AttrType.INTS, [1, 300, -1])
    schema = desc._AttrSchema()
    packed = b"\x0a\x04axes\x10\x03\x32\x0d\x01\xac\x02" + b"\xff" * 9 + b"\x01"
    assert schema.read(packed) == numbers


def test_fields_that_are_not_known_are_kept():
    data = desc.serialize(small_program()) + b"\xfa\x3f\x03new"
    assert desc.serialize(desc.parse(data)) == data


def test_a_file_that_was_cut_off_anywhere_is_refused_or_lacks_whole_fields():
    data = desc.serialize(full_program())
    read = 0
    for end in range(len(data)):
        try:
            desc.parse(data[:end])
            read += 1
        except ModelFileError:
            pass
    assert read <= 6  # cut after a block, the version, ...


@pytest.mark.parametrize("data", [b"", b"\x80\x04K\x01.", b"PK\x03\x04" + bytes(40), bytes(64), b"\x08\x07", b"\x0a\xff\xff\xff\xff\x0f"])
def test_other_files_are_refused(data):
    with pytest.raises(ModelFileError):
        desc.parse(data)


def test_errors_are_value_errors():
    assert issubclass(ModelFileError, ValueError)


def _with(change):
    program = small_program()
    change(program)
    return desc.serialize(program)


def _cycle(program):
    program.blocks.append(BlockDesc(1, 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.blocks.clear(), "no blocks"),
        (lambda p: setattr(p.blocks[0], "index", 3), "says that it is block 3"),
        (_cycle, "block 1 within block 1"),
        (lambda p: p.blocks[0].vars.append(tensor_var("w", "float32", [1])), "two variables 'w'"),
        (lambda p: setattr(p.blocks[0].vars[2].type.lod_tensor.tensor, "dtype", 77), "no dtype that is known. Got 77"),
        (lambda p: p.blocks[0].ops[1].inputs.append(Slot("Z", ["nobody"])), "'nobody' as input 'Z', which no block declares"),
        (lambda p: p.blocks[0].ops[1].inputs.append(Slot("X", ["x"])), "input 'X' twice"),
        (lambda p: p.blocks[0].ops[1].attrs.append(Attr("trans_x", AttrType.INT, 1)), "attribute 'trans_x' twice, of two types"),
        (lambda p: p.blocks[0].ops[1].attrs.append(Attr("sub_block", AttrType.BLOCK, 1)), "runs block 1"),
        (lambda p: p.blocks[0].ops[1].attrs.append(Attr("v", AttrType.VAR, "nobody")), "'nobody', which no block declares"),
        (lambda p: p.blocks[0].ops[1].attrs.append(Attr("s", AttrType.SCALAR, desc.Scalar(2))), "scalar of type 2"),
    ],
)  # fmt: skip
def test_programs_that_do_not_hold_together_are_refused(change, message):
    with pytest.raises(ModelFileError, match=message):
        desc.parse(_with(change))


def test_an_attribute_may_be_said_twice_as_paddle_does_in_backward_operators():
    program = small_program()
    program.blocks[0].ops[1].attrs.append(Attr("trans_x", AttrType.BOOLEAN, False))
    assert desc.parse(desc.serialize(program)) == program


def test_attributes_of_unknown_types_are_refused_by_name():
    data = desc.serialize(small_program()).replace(b"\x07trans_x\x10\x06", b"\x07trans_x\x10\x63")
    with pytest.raises(ModelFileError, match="'trans_x' has no type that is known. Got 99"):
        desc.parse(data)


def test_names_that_are_no_text_are_refused():
    data = desc.serialize(small_program()).replace(b"\x04relu", b"\x04re\xff\xfe")
    with pytest.raises(ModelFileError, match="not UTF-8"):
        desc.parse(data)


def test_many_nested_blocks_neither_hang_nor_fill_the_memory():
    program = small_program()
    program.blocks = [BlockDesc(i, i - 1, [tensor_var(f"v{i}", "float32", [1])]) for i in range(20_000)]
    data = desc.serialize(program)
    begun = time.process_time()
    with pytest.raises(ModelFileError, match="nested too deeply"):
        desc.parse(data)
    assert time.process_time() - begun < 10


def test_a_program_as_large_as_resnet50_is_read_whole():
    program = small_program()
    block = program.blocks[0]
    attrs = [Attr(f"attribute_{i}", AttrType.INTS, [1, 1, 1, 1]) for i in range(15)]
    block.vars += [tensor_var(f"a{i}", "float32", [-1, 64, 56, 56]) for i in range(450)]
    block.ops += [OpDesc("conv2d", [Slot("Input", ["x"]), Slot("Filter", ["w"])], [Slot("Output", [f"a{i}"])], copy.copy(attrs)) for i in range(180)]
    data = desc.serialize(program)
    assert len(data) > 85_000
    assert desc.serialize(desc.parse(data)) == data


def test_variables_that_are_no_tensors_have_no_shape():
    assert VarDesc("a", VarType(int(VarKind.RAW))).tensor is None
    assert tensor_var("a", "int64", [2]).tensor.dims == [2]


def test_negative_sizes_are_unknown_ones():
    program = small_program()
    program.blocks[0].vars.append(tensor_var("z", "float32", [-6, 2]))
    (found,) = [var for var in desc.parse(desc.serialize(program)).blocks[0].vars if var.name == "z"]
    assert found.tensor.dims == [-1, 2]
