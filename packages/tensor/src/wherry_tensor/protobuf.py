"""The wire format of protocol buffers, for messages that a table describes.

A message is a dataclass with slots, and a `Schema` that says which field number goes to which attribute. Fields without
a line in the table are kept in `unknown`, as they were in the file, and written back behind the others.

Reading checks what the format itself demands: every length lies within its message, every varint ends, every field has
the wire type that its kind asks for. What the numbers mean is checked by whoever asked.
"""
from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

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
    """

    def __init__(self, message: type, what: str, *fields: Field) -> None:
        self.message, self.what = message, what
        self.fields = fields
        self._required = tuple(field.name for field in fields if field.required)
        # By tag: the attribute, what reads it, whether it is a list, and whether the field is many of its items.
        self._takers: dict[int, tuple[str, Callable[[bytes, int, int], Any], bool, bool]] = {}
        self._putters = [(field.name, field.repeated, _putter(field)) for field in fields]
        for field in fields:
            self._takers[field.number << 3 | field.wire] = (field.name, _taker(field), field.repeated, False)
            if field.repeated and field.wire != LENGTH:  # numbers may also be packed, many in one field
                self._takers[field.number << 3 | LENGTH] = (field.name, _packed_taker(field), True, True)
        self._numbers = frozenset(field.number for field in fields)

    def read(self, data: bytes, at: int = 0, end: int | None = None) -> Any:
        """The message in `data[at:end]`.

        Raises:
            ModelFileError: the bytes are not such a message.
        """
        end = len(data) if end is None else end
        message = self.message()
        takers = self._takers
        while at < end:
            start = at
            tag = data[at]
            at += 1
            if tag > 0x7F:
                tag, at = take_varint(data, start, end)
            found = takers.get(tag)
            if found is None:
                at = skip_field(data, at, end, tag, self)
                message.unknown += data[start:at]
                continue
            name, take, repeated, many = found
            if tag & 7 == LENGTH:
                length = data[at] if at < end else 0x80
                if length < 0x80 and length < end - at:
                    start, at = at + 1, at + 1 + length
                else:
                    start, at = take_length(data, at, end)
                value = take(data, start, at)
            else:
                value, at = take(data, at, end)
            if not repeated:
                setattr(message, name, value)
            elif many:
                getattr(message, name).extend(value)
            else:
                getattr(message, name).append(value)
        for name in self._required:
            if getattr(message, name) is None:
                raise ModelFileError(f"the file is damaged: {self.what} has no {name!r}. Expected one. Save the model again.")
        return message

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


def _take_int(data: bytes, at: int, end: int) -> tuple[int, int]:
    if at < end and data[at] < 0x80:
        return data[at], at + 1
    value, at = take_varint(data, at, end)
    return (value - (1 << 64) if value >> 63 else value), at


def _take_int32(data: bytes, at: int, end: int) -> tuple[int, int]:
    if at < end and data[at] < 0x80:
        return data[at], at + 1
    value, at = take_varint(data, at, end)
    value &= 0xFFFFFFFF
    return (value - (1 << 32) if value >> 31 else value), at


def _take_bool(data: bytes, at: int, end: int) -> tuple[bool, int]:
    value, at = take_varint(data, at, end)
    return value != 0, at


def _take_float(data: bytes, at: int, end: int) -> tuple[float, int]:
    if end - at < 4:
        raise ModelFileError(f"the file is cut off: a number at byte {at} has {end - at} bytes, expected 4. Copy the model again.")
    return _float.unpack_from(data, at)[0], at + 4


def _take_double(data: bytes, at: int, end: int) -> tuple[float, int]:
    if end - at < 8:
        raise ModelFileError(f"the file is cut off: a number at byte {at} has {end - at} bytes, expected 8. Copy the model again.")
    return _double.unpack_from(data, at)[0], at + 8


# What stands between two places.


def _bytes_in(data: bytes, start: int, stop: int) -> bytes:
    return data[start:stop]


def _view_in(data: bytes, start: int, stop: int) -> memoryview:
    return memoryview(data)[start:stop]


def _text_in(data: bytes, start: int, stop: int) -> str:
    try:
        return str(data[start:stop], "utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"the file is damaged: a name at byte {start} is not UTF-8. Got {data[start:stop][:40]!r}, expected text. Save the model again."
        ) from error


_readers: dict[str, Callable[[bytes, int, int], Any]] = {
    "int": _take_int, "int32": _take_int32, "bool": _take_bool, "float": _take_float, "double": _take_double,
    "bytes": _bytes_in, "view": _view_in, "text": _text_in,
}  # fmt: skip


def _taker(field: Field) -> Callable[[bytes, int, int], Any]:
    """What reads a field: a number and where it ends, or what stands between two places."""
    return _readers[field.kind] if isinstance(field.kind, str) else field.kind.read


def _packed_taker(field: Field) -> Callable[[bytes, int, int], list[Any]]:
    take = _taker(field)

    def take_packed(data: bytes, at: int, stop: int) -> list[Any]:
        values = []
        while at < stop:
            value, at = take(data, at, stop)
            values.append(value)
        return values

    return take_packed


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
