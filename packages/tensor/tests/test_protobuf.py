"""The wire format of protocol buffers: what a schema writes it reads again, and damaged messages are refused."""
import math
from dataclasses import dataclass, field

import pytest

from wherry_tensor.protobuf import Field, ModelFileError, Schema


@dataclass(slots=True)
class Inner:
    text: str = ""
    unknown: bytes = b""


@dataclass(slots=True)
class Message:
    whole: int = 0
    small: int = 0
    truth: bool = False
    single: float = 0.0
    real: float = 0.0
    text: str = ""
    raw: bytes = b""
    view: memoryview | None = None
    inner: Inner | None = None
    many: list[Inner] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    far: list[str] = field(default_factory=list)
    unknown: bytes = b""


INNER = Schema(Inner, "an inner message", Field(1, "text", "text"))
SCHEMA = Schema(
    Message, "a message", Field(1, "whole", "int"), Field(2, "small", "int32"), Field(3, "truth", "bool"), Field(4, "single", "float"),
    Field(5, "real", "double"), Field(6, "text", "text"), Field(7, "raw", "bytes"), Field(8, "view", "view"), Field(9, "inner", INNER),
    Field(10, "many", INNER, repeated=True), Field(11, "numbers", "int", repeated=True), Field(12, "floats", "float", repeated=True),
    Field(3000, "far", "text", repeated=True),
)  # fmt: skip


def a_message() -> Message:
    return Message(
        -(1 << 63), -7, True, 1.5, math.pi, "Grüße", b"\0\xff", memoryview(b"seen"), Inner("a"), [Inner("b"), Inner("c")], [0, 127, 128, -1, 1 << 62],
        [0.5, math.inf], ["x", "y" * 300],
    )  # fmt: skip


def test_what_is_written_is_read_again():
    assert SCHEMA.read(SCHEMA.write(a_message())) == a_message()


def test_it_is_the_wire_format():
    # Tags and values as the documentation of protocol buffers writes them out: 150 in field 1, "testing" in field 6.
    read = SCHEMA.read(b"\x08\x96\x01" + b"\x32\x07testing")
    assert (read.whole, read.text) == (150, "testing")
    assert SCHEMA.read(b"\x5a\x06\x03\x8e\x02\x9e\xa7\x05").numbers == [3, 270, 86942]  # packed
    assert SCHEMA.read(b"\x58\x03\x58\x8e\x02").numbers == [3, 270]  # one by one
    assert SCHEMA.read(b"\x62\x08\x00\x00\x00\x3f\x00\x00\x80\xbf").floats == [0.5, -1.0]


def test_an_int32_is_the_lower_half_of_its_number():
    assert SCHEMA.read(b"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").small == -1
    assert SCHEMA.read(b"\x10\xff\xff\xff\xff\x1f").small == -1


def test_the_last_of_several_values_counts_and_a_part_may_be_read():
    data = b"\x08\x01\x08\x02\x08\x03"
    assert SCHEMA.read(data).whole == 3
    assert SCHEMA.read(data, 0, 4).whole == 2 and SCHEMA.read(data, 6).whole == 0


def test_unknown_fields_are_kept_as_they_were():
    extra = b"\xa0\x06\x07" + b"\xaa\x06\x02ab" + b"\xb5\x06\x01\x02\x03\x04" + b"\xb9\x06" + bytes(8)  # fields 100 to 103
    read = SCHEMA.read(b"\x08\x05" + extra)
    assert read.whole == 5 and read.unknown == extra and SCHEMA.write(read).endswith(extra)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_it_reads_any_bytes(kind):
    read = SCHEMA.read(kind(SCHEMA.write(a_message())))
    assert read == a_message() and type(read.raw) is bytes and type(read.view) is memoryview


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x08", "a number at byte 1 has no end"),
        (b"\x08" + b"\xff" * 11, "a number at byte 11 has no end"),
        (b"\xff\xff", "a number at byte 2 has no end"),
        (b"\x32\x05ab", "a field at byte 2 says that it has 5 bytes, and 2 are left"),
        (b"\x32\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "are left"),
        (b"\x32\x02\xff\xfe", "a name at byte 2 is not UTF-8. Got b'\\xff\\xfe'"),
        (b"\x25\x00\x00", "a number at byte 1 has 2 bytes, expected 4"),
        (b"\x29\x00", "a number at byte 1 has 1 bytes, expected 8"),
        (b"\x62\x06" + bytes(6), "a number at byte 6 has 2 bytes, expected 4"),
        (b"\x5a\x02\x01\x80", "a number at byte 4 has no end"),
        (b"\x0a\x00", "field 1 of a message has wire type 2"),
        (b"\x30\x00", "field 6 of a message has wire type 0"),
        (b"\x0b", "has wire type 3"),
        (b"\xa3\x06", "a field 100 of wire type 3"),
        (b"\x00\x00", "a field 0 of wire type 0"),
        (b"\xb5\x06\x01", "a field 102 of wire type 5"),
    ],
)
def test_damaged_messages_are_refused(data, said):
    with pytest.raises(ModelFileError) as caught:
        SCHEMA.read(data)
    assert said in str(caught.value)


def test_a_field_that_has_to_be_there():
    @dataclass(slots=True)
    class Strict:
        number: int | None = None
        unknown: bytes = b""

    strict = Schema(Strict, "a strict message", Field(1, "number", "int", required=True))
    with pytest.raises(ModelFileError, match="a strict message has no 'number'"):
        strict.read(b"")


def test_every_cut_of_a_message_is_read_or_refused():
    data = SCHEMA.write(a_message())
    read = 0
    for end in range(len(data)):
        try:
            SCHEMA.read(data[:end])
        except ModelFileError:
            continue
        read += 1
    assert 0 < read < len(data)
