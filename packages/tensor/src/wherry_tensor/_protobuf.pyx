# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Reads the messages that a `Schema` of `wherry_tensor.protobuf` describes.

What does not fit is left to the functions of that module, which say what is wrong.
"""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

__all__ = ["Messages"]


include "core/slots.pxi"


cdef enum:
    INT, INT32, BOOL, FLOAT, DOUBLE, TEXT, BYTES, VIEW, MESSAGE

_KINDS = {"int": INT, "int32": INT32, "bool": BOOL, "float": FLOAT, "double": DOUBLE, "text": TEXT, "bytes": BYTES, "view": VIEW}


cdef class _Taker:
    """What takes a field.

    Attributes:
        name: of the attribute, `offset` where its slot is.
        kind: of the field; `inner` reads it where that is MESSAGE.
        repeated: whether the attribute is a list.
        many: whether the field is many of its items.
    """

    cdef object name
    cdef Py_ssize_t offset
    cdef int kind
    cdef Messages inner
    cdef bint repeated, many


cdef class Messages:
    """Reads the messages of one schema.

    Args:
        schema: it; its `message` is a dataclass with slots.
        faults: the module whose functions raise the errors.
    """

    cdef object schema, faults
    cdef _Slots slots
    cdef dict takers, kinds
    cdef list short  # by tag, of those that one byte holds
    cdef list required  # where the slots are that have to have a value, and their names
    cdef bint loose

    def __init__(self, schema, faults):
        self.loose = schema.loose
        self.kinds = schema.kinds
        self.schema, self.faults, self.slots = schema, faults, _Slots(schema.message)
        self.takers, self.short = {}, [None] * 128
        self.required = [(self.slots.places[field.name], field.name) for field in schema.fields if field.required]

    def take(self, tag, field, many):
        """Let fields of this tag be read as `field`."""
        cdef _Taker taker = _Taker()
        taker.name, taker.repeated, taker.many = field.name, field.repeated, many
        taker.offset = -1 if self.loose else self.slots.places[field.name]
        if isinstance(field.kind, str):
            taker.kind = _KINDS[field.kind]
        else:
            taker.kind, taker.inner = MESSAGE, field.kind.messages
        if tag < 128:
            self.short[tag] = taker
        else:
            self.takers[tag] = taker

    def read(self, data, Py_ssize_t at, Py_ssize_t end):
        """The message in `data[at:end]`."""
        cdef Py_buffer view
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            return self._read(data, <const unsigned char *>view.buf, at, min(end, view.len))
        finally:
            PyBuffer_Release(&view)

    cdef object _read(self, data, const unsigned char *p, Py_ssize_t at, Py_ssize_t end):
        cdef object message = None if self.loose else self.slots.made()
        cdef dict values = {} if self.loose else None
        cdef bytes unknown = b""
        cdef _Taker taker
        cdef Py_ssize_t start, stop
        cdef uint64_t tag, length
        cdef list items
        while at < end:
            start = at
            if not varint(p, &at, end, &tag):
                self.faults.take_varint(data, start, end)
            found = self.short[<Py_ssize_t>tag] if tag < 128 else self.takers.get(tag)
            if found is None:
                stop = self.faults.skip_field(data, at, end, tag, self.schema)
                unknown += PyBytes_FromStringAndSize(<const char *>p + start, stop - start)
                at = stop
                continue
            taker = <_Taker>found
            if tag & 7 != 2:
                value = number(self.faults, taker.kind, data, p, &at, end)
            else:
                stop = at
                if not varint(p, &stop, end, &length) or length > <uint64_t>(end - stop):
                    self.faults.take_length(data, at, end)
                start, stop = stop, stop + <Py_ssize_t>length
                at = stop
                if taker.many:
                    items = self.items(message, values, taker)
                    while start < stop:
                        items.append(number(self.faults, taker.kind, data, p, &start, stop))
                    continue
                if taker.kind == MESSAGE:
                    value = taker.inner._read(data, p, start, stop)
                elif taker.kind == TEXT:
                    try:
                        value = PyUnicode_DecodeUTF8(<const char *>p + start, stop - start, NULL)
                    except UnicodeDecodeError as error:
                        raise self.faults.not_text(data, start, stop) from error
                elif taker.kind == BYTES:
                    value = PyBytes_FromStringAndSize(<const char *>p + start, stop - start)
                else:
                    value = memoryview(data)[start:stop]
            if taker.repeated:
                self.items(message, values, taker).append(value)
            elif self.loose:
                values[taker.name] = value
            else:
                put(message, taker.offset, value)
        if self.loose:
            return self.loosely(values, unknown)
        if unknown:
            message.unknown = unknown
        for offset, name in self.required:
            if at_slot(message, offset) is None:
                raise self.faults.lacks(self.schema, name)
        return message

    cdef list items(self, message, dict values, _Taker taker):
        return at_slot(message, taker.offset) if values is None else values.setdefault(taker.name, [])

    cdef object loosely(self, dict values, bytes unknown):
        """A message of a name, a type and the value of that type; anything else is left to the schema."""
        cdef object out
        name, kind = values.get("name"), values.get("type")
        if len(values) == 3 and name is not None and kind is not None:
            label = self.kinds.get(kind)
            if label is not None and label in values:
                out = self.slots.made()
                put(out, self.slots.offsets[0], name)
                put(out, self.slots.offsets[1], kind)
                put(out, self.slots.offsets[2], values[label])
                put(out, self.slots.offsets[3], unknown)
                return out
        return self.schema.made(values, unknown)


cdef inline bint varint(const unsigned char *p, Py_ssize_t *at, Py_ssize_t end, uint64_t *value) noexcept:
    """An unsigned number, and `at` moved after it; False where it has no end within 10 bytes."""
    cdef Py_ssize_t i = at[0]
    cdef int shift = 0
    value[0] = 0
    while i < end and shift < 70:
        value[0] |= <uint64_t>(p[i] & 0x7F) << shift
        shift += 7
        i += 1
        if p[i - 1] < 0x80:
            at[0] = i
            return True
    return False


cdef object number(faults, int kind, data, const unsigned char *p, Py_ssize_t *at, Py_ssize_t end):
    """A number of fixed or variable length."""
    cdef uint64_t bits = 0
    cdef uint32_t half
    cdef float single
    cdef double real
    cdef int i
    cdef int size = 4 if kind == FLOAT else 8 if kind == DOUBLE else 0
    if size:
        if end - at[0] < size:
            raise faults.cut_off(at[0], end - at[0], size)
        for i in range(size):  # the first byte is the lowest, on any machine
            bits |= <uint64_t>p[at[0] + i] << (8 * i)
        at[0] += size
        if kind == DOUBLE:
            memcpy(&real, &bits, 8)
            return real
        half = <uint32_t>bits
        memcpy(&single, &half, 4)
        return single
    if not varint(p, at, end, &bits):
        faults.take_varint(data, at[0], end)
    if kind == INT32:
        return <int32_t><uint32_t>bits
    if kind == BOOL:
        return bits != 0
    return <int64_t>bits
