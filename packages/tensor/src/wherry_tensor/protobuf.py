"""The wire format of protocol buffers, for messages that a table describes.

A message is a dataclass with slots, and a `Schema` that says which field number goes to which attribute. Fields without
a line in the table are kept in `unknown`, as they were in the file, and written back after the others.

Reading checks what the format itself demands: every length lies within its message, every varint ends, every field has
the wire type that its kind asks for. What the numbers mean is checked by whoever asked.
"""
from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any

from wherry_tensor._protobuf import Messages
from wherry_tensor.errors import InvalidArgumentError

__all__ = ["LENGTH", "Field", "ModelFileError", "Schema", "put_varint", "skip_field", "take_length", "take_varint"]


class ModelFileError(InvalidArgumentError):
    """A file of a model is damaged, or holds what cannot be read. A ValueError."""


_VARINT, _EIGHT, LENGTH, _FOUR = 0, 1, 2, 5  # of a LENGTH field, its length comes first
_float = struct.Struct("<f")
_double = struct.Struct("<d")


class Field:
    """One line of a schema.

    Args:
        number: of the field.
        name: of the attribute.
        kind: "int" (varint of 64 bits with a sign), "int32", "bool", "float", "double", "text" (UTF-8), "bytes", "view"
            (bytes that are not copied, a memoryview of the file), or the Schema of a message.
        repeated: whether the attribute is a list.
        required: whether a message without the field is refused.
    """

    __slots__ = ("kind", "name", "number", "repeated", "required", "wire")

    def __init__(self, number: int, name: str, kind: str | Schema, *, repeated: bool = False, required: bool = False) -> None:
        self.number, self.name, self.kind, self.repeated, self.required = number, name, kind, repeated, required
        self.wire = _wire_types.get(kind, LENGTH) if isinstance(kind, str) else LENGTH


_wire_types = {"int": _VARINT, "int32": _VARINT, "bool": _VARINT, "float": _FOUR, "double": _EIGHT}


class Schema:
    """Reads and writes the messages of one class.

    Args:
        message: the dataclass. Its attributes have defaults, and `unknown` is bytes.
        fields: what the message consists of, by ascending number.
        what: how errors call the message.

    Attributes:
        loose: a subclass sets it for messages of a "name", a "type" and many fields of which that type chooses one. The slots of their
            class are name, type, value and unknown.
        kinds: of these, the field by type.
    """

    loose = False
    kinds: dict[int, str]

    def __init__(self, message: type, what: str, *fields: Field) -> None:
        self.message, self.what = message, what
        if not self.loose:
            self.kinds = {}
        self.fields = fields
        self._putters = [(field.name, field.repeated, _putter(field)) for field in fields]
        self.messages = Messages(self, sys.modules[__name__])
        for field in fields:
            self.messages.take(field.number << 3 | field.wire, field, False)
            if field.repeated and field.wire != LENGTH:  # numbers may also be packed, many in one field
                self.messages.take(field.number << 3 | LENGTH, field, True)
        self._numbers = frozenset(field.number for field in fields)

    def read(self, data: bytes, at: int = 0, end: int | None = None) -> Any:
        """The message in `data[at:end]`.

        Raises:
            ModelFileError: the bytes are not such a message.
        """
        return self.messages.read(data, at, len(data) if end is None else end)

    def made(self, values: dict[str, Any], unknown: bytes) -> Any:
        """What is made of a loose message that has more or less than a name, a type and its value: of its fields by name, and unknown ones."""
        raise NotImplementedError

    def write(self, message: Any) -> bytes:
        """The bytes of `message`."""
        out = bytearray()
        for name, repeated, put in self._putters:
            value = getattr(message, name)
            if repeated:
                for item in value:
                    put(out, item)
            elif value is not None:
                put(out, value)
        out += message.unknown
        return bytes(out)

    def refuse(self, number: int, wire: int) -> None:
        """Refuse a known field with another wire type."""
        if number in self._numbers:
            raise ModelFileError(
                f"the file is damaged: field {number} of {self.what} has wire type {wire}, which does not belong to that field. Save the model again."
            )


# Reading.


def take_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """An unsigned number, and where it ends."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise ModelFileError(
        f"the file is damaged: a number at byte {at} has no end. Expected at most 10 bytes before byte {end}. Save the model again."
    )


def take_length(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Where the content of a length-delimited field begins and ends."""
    if at < end and data[at] < 0x80:
        length, at = data[at], at + 1
    else:
        length, at = take_varint(data, at, end)
    if length > end - at:
        raise ModelFileError(
            f"the file is damaged or cut off: a field at byte {at} says that it has {length} bytes, and {end - at} are left. "
            f"Copy or save the model again."
        )
    return at, at + length


def skip_field(data: bytes, at: int, end: int, tag: int, schema: Schema) -> int:
    """The end of a field that is not in the schema."""
    number, wire = tag >> 3, tag & 7
    schema.refuse(number, wire)
    if number and wire == _VARINT:
        return take_varint(data, at, end)[1]
    if number and wire == LENGTH:
        return take_length(data, at, end)[1]
    if number and wire in (_EIGHT, _FOUR):
        stop = at + (8 if wire == _EIGHT else 4)
        if stop <= end:
            return stop
    raise ModelFileError(
        f"the file is damaged, or not a model file: {schema.what} has a field {number} of wire type {wire} at byte {at}. "
        f"Expected a field of protocol buffers. Save the model again."
    )


# The errors of `_protobuf`, which reads.


def cut_off(at: int, left: int, size: int) -> ModelFileError:
    """The error for a number of fewer bytes than it has."""
    return ModelFileError(f"the file is cut off: a number at byte {at} has {left} bytes, expected {size}. Copy the model again.")


def not_text(data: bytes, start: int, stop: int) -> ModelFileError:
    """The error for text that is none."""
    return ModelFileError(
        f"the file is damaged: a name at byte {start} is not UTF-8. Got {data[start:stop][:40]!r}, expected text. Save the model again."
    )


def lacks(schema: Schema, name: str) -> ModelFileError:
    """The error for a message without a field that it has to have."""
    return ModelFileError(f"the file is damaged: {schema.what} has no {name!r}. Expected one. Save the model again.")


# Writing.


def put_varint(out: bytearray, value: int) -> None:
    """A number; one below zero takes ten bytes."""
    value &= 0xFFFFFFFFFFFFFFFF
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _putter(field: Field) -> Callable[[bytearray, Any], None]:
    head = bytearray()
    put_varint(head, field.number << 3 | field.wire)
    tag = bytes(head)
    kind = field.kind
    if isinstance(kind, Schema):
        schema = kind

        def put_message(out: bytearray, value: Any) -> None:
            content = schema.write(value)
            out += tag
            put_varint(out, len(content))
            out += content

        return put_message
    if kind in ("text", "bytes", "view"):

        def put_bytes(out: bytearray, value: Any) -> None:
            content = value.encode() if isinstance(value, str) else value
            out += tag
            put_varint(out, len(content))
            out += content

        return put_bytes
    if kind in ("float", "double"):
        pack = (_float if kind == "float" else _double).pack

        def put_float(out: bytearray, value: Any) -> None:
            out += tag
            out += pack(value)

        return put_float

    def put_int(out: bytearray, value: Any) -> None:
        out += tag
        put_varint(out, int(value))

    return put_int
