# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Descriptions of operators: looks at them, and reads them from a JSON text.

It reads what such texts mostly are. Of everything else it says that it has not read it, and the caller reads that with `json`, which takes longer and
says what is wrong. So nothing is refused here, and nothing is taken that `json` would refuse: a text is looked at to its end.
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_GetItem
from cpython.float cimport PyFloat_FromDouble
from cpython.long cimport PyLong_FromLongLong
from cpython.unicode cimport PyUnicode_AsUTF8String, PyUnicode_FromStringAndSize
from libc.stdint cimport int64_t
from libc.string cimport memcmp, strlen

__all__ = ["Descriptions", "Operations"]


include "core/slots.pxi"


cdef extern from "Python.h":
    double PyOS_string_to_double(const char *s, char **end, PyObject *overflow) except? -1.0
    object PyUnicode_FromFormat(const char *format, ...)
    long long PyLong_AsLongLongAndOverflow(object number, int *overflow) except? -1

cdef enum:
    MOST_LEVELS = 60  # of lists and objects in each other, of what is skipped
    MOST_DIGITS = 18  # of whole numbers
    MOST_CHARACTERS = 300  # of other numbers
    NEITHER, WHOLE, REAL
    ZERO = 48


cdef class Descriptions:
    """Objects that describe operators and variables.

    Args:
        classes: the dataclasses of a variable, its type, a tensor in that, its dtype and sizes, an operator, an input or output, an attribute. Their
            attributes are in the order of Paddle's messages.
        tensor_kind: of variables that are tensors.
        dtypes: codes that there are.
        plain: types of attributes whose values name nothing.
    """

    cdef _Slots var, type, lod, tensor, op, slot, attr
    cdef object tensor_kind, dtypes
    cdef int64_t plain

    def __init__(self, classes, tensor_kind, dtypes, plain):
        self.var, self.type, self.lod, self.tensor, self.op, self.slot, self.attr = [_Slots(each) for each in classes]
        self.tensor_kind, self.dtypes, self.plain = tensor_kind, frozenset(dtypes), 0
        for kind in plain:
            self.plain |= <int64_t>1 << <int>kind

    def odd_variables(self, list variables):
        """Those that are no tensors of a dtype that there is, with sizes from -1 up."""
        return [each for each in variables if not self.is_tensor(each)]

    def odd_operators(self, list operators, set names):
        """Those with an input, output or attribute twice, with variables that are not among these names, or with attributes that name something."""
        return [each for each in operators if not self.holds_together(each, names)]

    cdef bint is_tensor(self, variable) except -1:
        cdef long long n
        cdef int overflow
        if type(variable) is not self.var.cls or type(kind := at_slot(variable, self.var.offsets[1])) is not self.type.cls:
            return False
        if at_slot(kind, self.type.offsets[0]) != self.tensor_kind or type(lod := at_slot(kind, self.type.offsets[2])) is not self.lod.cls:
            return False
        tensor = at_slot(lod, self.lod.offsets[0])
        if type(tensor) is not self.tensor.cls or at_slot(tensor, self.tensor.offsets[0]) not in self.dtypes:
            return False
        sizes = at_slot(tensor, self.tensor.offsets[1])
        if type(sizes) is not list:
            return False
        for each in <list>sizes:
            if type(each) is not int:
                return False
            n = PyLong_AsLongLongAndOverflow(each, &overflow)
            if overflow or n < -1:
                return False
        return True

    cdef bint holds_together(self, operator, set names) except -1:
        cdef Py_ssize_t i
        cdef long long code
        cdef int overflow
        if type(operator) is not self.op.cls:
            return False
        for i in range(1, 3):
            found = at_slot(operator, self.op.offsets[i])
            if type(found) is not list or not self.is_distinct(<list>found, self.slot):
                return False
            for each in <list>found:
                arguments = at_slot(each, self.slot.offsets[1])
                if type(arguments) is not list:
                    return False
                for name in <list>arguments:
                    if name not in names:
                        return False
        found = at_slot(operator, self.op.offsets[3])
        if type(found) is not list or not self.is_distinct(<list>found, self.attr):
            return False
        for each in <list>found:
            kind = at_slot(each, self.attr.offsets[1])
            if type(kind) is not int:
                return False
            code = PyLong_AsLongLongAndOverflow(kind, &overflow)
            if overflow or code < 0 or code > 62 or not self.plain >> code & 1:
                return False
        return True

    cdef bint is_distinct(self, list found, _Slots slots) except -1:
        """Whether these are such objects, whose first slots have different names."""
        cdef set names
        for each in found:
            if type(each) is not slots.cls:
                return False
        if len(found) < 2:
            return True
        names = set()
        for each in found:
            names.add(at_slot(each, slots.offsets[0]))
        return len(names) == len(found)


cdef class Operations:
    """Reads the operations of one text after the other.

    Args:
        descriptions: what makes the objects.
        kind_of: what is known of operations of a name: an object whose `plan` is None, for an operation that `other` translates, "integers" for one
            that gives a list of whole numbers, or, for one that is an operator: its type, the names of its inputs, of all that may follow those, and
            of its outputs, attributes by what the text calls them, and a function that gives the name of others, or None.
        dtypes: codes by the text's names, in attributes; elements: and in types.
        types: codes of types of attributes: boolean, whole number, float, text, and lists of the first three.
        neutral: attributes that may be left out where they have this value; `...`: any.
        whole: names of what follows the inputs that is a whole number, if it is a number.
        empty: the argument that stands for none.
    """

    cdef _Slots var, type, lod, tensor, op, slot, attr
    cdef object kind_of, tensor_kind, empty
    cdef dict dtypes, neutral
    cdef list elements
    cdef object whole
    cdef object boolean, integer, real, text, booleans, integers, reals

    def __init__(self, Descriptions descriptions not None, kind_of, *, dtypes, elements, types, neutral, whole, empty):
        self.var, self.type, self.lod, self.tensor = descriptions.var, descriptions.type, descriptions.lod, descriptions.tensor
        self.op, self.slot, self.attr, self.tensor_kind = descriptions.op, descriptions.slot, descriptions.attr, descriptions.tensor_kind
        self.kind_of, self.dtypes, self.neutral, self.whole = kind_of, dict(dtypes), dict(neutral), frozenset(whole)
        self.elements = [(name.encode(), code) for name, code in elements.items()]
        self.boolean, self.integer, self.real, self.text, self.booleans, self.integers, self.reals = types
        self.empty = empty

    def read(self, bytes text, translation, block):
        """Read a whole text: an object with a `base_code` whose `magic` is "pir", and a `program` of one region of one block, which takes nothing.

        Args:
            translation: what has been found. `names` of the tensors of each value and `known` values that are constants; `constants` that are not
                written yet, `tensors(value)` writes one. `other` takes a kind, inputs, outputs and attributes, `described` the text of an operation.
            block: what the operators and variables of the program are appended to.

        Returns:
            Whether it was read; if not, the translation is of no use.
        """
        cdef _Reading reading = _Reading()
        reading.table, reading.translation, reading.block = self, translation, block
        reading.names, reading.known, reading.constants = translation.names, translation.known, translation.constants
        reading.vars, reading.ops, reading.types = block.vars, block.ops, {}
        reading.p = reading.begin = PyBytes_AS_STRING(text)
        reading.end = reading.begin + PyBytes_GET_SIZE(text)
        return reading.document()


cdef class _Reading:
    """One text that is being read; `p` is where. After it stands a byte of 0, which fits nowhere."""

    cdef Operations table
    cdef object translation, block
    cdef dict names, known, constants, types
    cdef list vars, ops
    cdef const char *p
    cdef const char *begin
    cdef const char *end

    # Texts.

    cdef inline void blank(self) noexcept:
        while self.p[0] == b" " or self.p[0] == b"\n" or self.p[0] == b"\r" or self.p[0] == b"\t":
            self.p += 1

    cdef inline bint take(self, char c) noexcept:
        """Whether this comes next; it is passed over."""
        if self.p[0] != c:
            self.blank()
            if self.p[0] != c:
                return False
        self.p += 1
        return True

    cdef inline bint string(self, const char **first, Py_ssize_t *size) noexcept:
        """A string of printable ASCII without escapes."""
        if not self.take(b'"'):
            return False
        first[0] = self.p
        while self.p[0] != b'"':
            if <signed char>self.p[0] < 32 or self.p[0] == b"\\":
                return False
            self.p += 1
        size[0] = self.p - first[0]
        self.p += 1
        return True

    cdef inline bint key(self, const char *name) noexcept:
        """Whether this key comes next; it is passed over."""
        cdef const char *first
        cdef Py_ssize_t size
        return self.string(&first, &size) and same(first, size, name) and self.take(b":")

    cdef inline bint member(self, bint *begun, const char **first, Py_ssize_t *size) noexcept:
        """The next key of an object, with its colon; a size of -1: there is none, the object has ended."""
        size[0] = -1
        if self.take(b"}"):
            return True
        if begun[0] and not self.take(b","):
            return False
        begun[0] = True
        return self.string(first, size) and self.take(b":")

    cdef inline bint item(self, bint *begun, bint *more) noexcept:
        """Whether another item of a list follows, or the list ends."""
        more[0] = False
        if self.take(b"]"):
            return True
        if begun[0] and not self.take(b","):
            return False
        begun[0] = more[0] = True
        return True

    cdef int number(self, int64_t *whole) noexcept:
        """A number: WHOLE, with its value; REAL, which is passed over; NEITHER."""
        cdef const char *first
        cdef const char *digits
        cdef int64_t value = 0
        self.blank()
        first = self.p
        if self.p[0] == b"-":
            self.p += 1
        digits = self.p
        while is_digit(self.p[0]):
            if self.p - digits < MOST_DIGITS:
                value = value * 10 + (self.p[0] - ZERO)
            self.p += 1
        if self.p == digits or digits[0] == b"0" and self.p - digits > 1:
            return NEITHER
        if self.p[0] != b"." and self.p[0] != b"e" and self.p[0] != b"E":
            whole[0] = -value if first[0] == b"-" else value
            return WHOLE if self.p - digits <= MOST_DIGITS else NEITHER
        if self.p[0] == b".":
            self.p += 1
            if not is_digit(self.p[0]):
                return NEITHER
            while is_digit(self.p[0]):
                self.p += 1
        if self.p[0] == b"e" or self.p[0] == b"E":
            self.p += 1
            if self.p[0] == b"+" or self.p[0] == b"-":
                self.p += 1
            if not is_digit(self.p[0]):
                return NEITHER
            while is_digit(self.p[0]):
                self.p += 1
        return REAL if self.p - first <= MOST_CHARACTERS else NEITHER

    cdef inline bint word(self, const char *expected) noexcept:
        cdef Py_ssize_t i = 0
        while expected[i]:
            if self.p[i] != expected[i]:
                return False
            i += 1
        self.p += i
        return True

    cdef bint skip(self, int level) noexcept:
        """Pass over any value."""
        cdef const char *first
        cdef Py_ssize_t size
        cdef int64_t whole
        cdef bint begun = False, more
        if level > MOST_LEVELS:
            return False
        self.blank()
        if self.p[0] == b'"':
            return self.string(&first, &size)
        if self.take(b"{"):
            while True:
                if not self.member(&begun, &first, &size):
                    return False
                if size < 0:
                    return True
                if not self.skip(level + 1):
                    return False
        if self.take(b"["):
            while True:
                if not self.item(&begun, &more):
                    return False
                if not more:
                    return True
                if not self.skip(level + 1):
                    return False
        if self.p[0] == b"t":
            return self.word("true")
        if self.p[0] == b"f":
            return self.word("false")
        if self.p[0] == b"n":
            return self.word("null")
        return self.number(&whole) != NEITHER

    # Values. None: there is none here that is read.

    cdef object scalar(self):
        """A number, a string or a truth."""
        cdef const char *first
        cdef Py_ssize_t size
        cdef int64_t whole
        cdef int kind
        cdef char *stop
        self.blank()
        if self.p[0] == b'"':
            return PyUnicode_FromStringAndSize(first, size) if self.string(&first, &size) else None
        if self.p[0] == b"t":
            return True if self.word("true") else None
        if self.p[0] == b"f":
            return False if self.word("false") else None
        first = self.p
        kind = self.number(&whole)
        if kind == WHOLE:
            return PyLong_FromLongLong(whole)
        if kind == REAL:
            real = PyFloat_FromDouble(PyOS_string_to_double(first, &stop, NULL))
            return real if stop == self.p else None
        return None

    cdef object value(self):
        """A scalar, or a list of those."""
        cdef bint begun = False, more
        cdef list found
        if not self.take(b"["):
            return self.scalar()
        found = []
        while True:
            if not self.item(&begun, &more):
                return None
            if not more:
                return found
            each = self.scalar()
            if each is None:
                return None
            found.append(each)

    cdef object attribute(self):
        """The value of an attribute: `{"#": kind, "D": value}`."""
        cdef const char *kind
        cdef Py_ssize_t size
        cdef bint begun = False, more
        cdef list found
        if not (self.take(b"{") and self.key("#") and self.string(&kind, &size) and self.take(b",") and self.key("D")):
            return None
        if is_plain(kind, size):
            value = self.scalar()
        elif same(kind, size, "0.a_array"):
            found, value = [], None
            if not self.take(b"["):
                return None
            while True:
                if not self.item(&begun, &more):
                    return None
                if not more:
                    break
                if not (self.take(b"{") and self.key("#") and self.string(&kind, &size) and is_plain(kind, size) and self.take(b",")
                        and self.key("D")):
                    return None
                each = self.scalar()
                if each is None or not self.take(b"}"):
                    return None
                found.append(each)
            value = found
        elif same(kind, size, "1.a_dtype"):
            name = self.scalar()
            value = self.table.dtypes.get(name) if type(name) is str else None
        elif same(kind, size, "1.a_intarray") or same(kind, size, "1.a_place"):
            value = self.value()
        else:
            return None
        return value if value is not None and self.take(b"}") else None

    cdef dict attributes(self):
        """A list of `{"AT": value, "N": name}`, by name."""
        cdef const char *name
        cdef Py_ssize_t size
        cdef bint begun = False, more
        cdef dict found = {}
        if not self.take(b"["):
            return None
        while True:
            if not self.item(&begun, &more):
                return None
            if not more:
                return found
            if not (self.take(b"{") and self.key("AT")):
                return None
            value = self.attribute()
            if value is None or not (self.take(b",") and self.key("N") and self.string(&name, &size) and self.take(b"}")):
                return None
            if same(name, size, "struct_name"):
                continue
            label = PyUnicode_FromStringAndSize(name, size)
            if label in found:
                return None
            found[label] = value

    cdef bint number_of_value(self, int64_t *value) noexcept:
        return self.key("%") and self.number(value) == WHOLE

    cdef list inputs(self):
        """A list of `{"%": number}`."""
        cdef int64_t value
        cdef bint begun = False, more
        cdef list found = []
        if not self.take(b"["):
            return None
        while True:
            if not self.item(&begun, &more):
                return None
            if not more:
                return found
            if not (self.take(b"{") and self.number_of_value(&value) and self.take(b"}")):
                return None
            found.append(PyLong_FromLongLong(value))

    cdef tuple output(self):
        """`{"%": number, "TT": type}` as a number and a type."""
        cdef int64_t value
        if not (self.take(b"{") and self.number_of_value(&value) and self.take(b",") and self.key("TT")):
            return None
        kind = self.type_of()
        if kind is None or not self.take(b"}"):
            return None
        return PyLong_FromLongLong(value), kind

    cdef list outputs(self):
        cdef bint begun = False, more
        cdef list found = []
        if not self.take(b"["):
            return None
        while True:
            if not self.item(&begun, &more):
                return None
            if not more:
                return found
            each = self.output()
            if each is None:
                return None
            found.append(each)

    cdef object type_of(self):
        """A type: `{"#": "0.t_dtensor", "D": [{"#": dtype}, sizes, ...]}`, or `_NULL`."""
        cdef const char *begin
        cdef const char *first
        cdef Py_ssize_t size
        cdef int64_t n
        cdef bint begun = False, more
        cdef list sizes
        cdef bytes key
        cdef PyObject *known
        self.blank()
        begin = self.p
        if not (self.take(b"{") and self.key("#") and self.string(&first, &size)):
            return None
        if same(first, size, "NULL"):
            return _NULL if self.take(b"}") else None
        if not (same(first, size, "0.t_dtensor") and self.take(b",") and self.key("D") and self.take(b"[") and self.take(b"{") and self.key("#")
                and self.string(&first, &size) and self.take(b"}") and self.take(b",") and self.take(b"[")):
            return None
        code = None
        for each in self.table.elements:
            name = <bytes>(<tuple>each)[0]
            if PyBytes_GET_SIZE(name) == size and not memcmp(PyBytes_AS_STRING(name), first, size):
                code = (<tuple>each)[1]
                break
        if code is None:
            return None
        sizes = []
        while True:
            if not self.item(&begun, &more):
                return None
            if not more:
                break
            if self.number(&n) != WHOLE:
                return None
            sizes.append(PyLong_FromLongLong(n if n > -1 else -1))
        begun = True
        while True:  # a layout and offsets, which say nothing
            if not self.item(&begun, &more):
                return None
            if not more:
                break
            if not self.skip(0):
                return None
        if not self.take(b"}"):
            return None
        key = PyBytes_FromStringAndSize(begin, self.p - begin)
        known = PyDict_GetItem(self.types, key)
        if known is not NULL:
            return <object>known
        described = self.table.lod.made2(self.table.tensor.made2(code, sizes), 0)
        kind = self.table.type.made3(self.table.tensor_kind, None, described)
        self.types[key] = kind
        return kind

    # The text.

    cdef bint document(self) except -1:
        cdef const char *first
        cdef Py_ssize_t size
        cdef bint begun = False, is_ours = False, has_program = False
        if not self.take(b"{"):
            return False
        while True:
            if not self.member(&begun, &first, &size):
                return False
            if size < 0:
                break
            if same(first, size, "base_code"):
                if is_ours or not self.magic():
                    return False
                is_ours = True
            elif same(first, size, "program"):
                if has_program or not self.program():
                    return False
                has_program = True
            elif not self.skip(0):
                return False
        self.blank()
        return self.p == self.end and is_ours and has_program

    cdef bint magic(self) noexcept:
        cdef const char *first
        cdef Py_ssize_t size
        cdef bint begun = False, found = False
        if not self.take(b"{"):
            return False
        while True:
            if not self.member(&begun, &first, &size):
                return False
            if size < 0:
                return found
            if same(first, size, "magic"):
                if found or not self.string(&first, &size) or not same(first, size, "pir"):
                    return False
                found = True
            elif not self.skip(0):
                return False

    cdef bint program(self) except -1:
        """`{"regions": [{"#": name, "blocks": [{"#": name, "args": [], "ops": [...]}]}]}`"""
        if not (self.take(b"{") and self.key("regions") and self.take(b"[") and self.take(b"{") and self.key("#") and self.skip(0)
                and self.take(b",") and self.key("blocks") and self.take(b"[") and self.take(b"{") and self.key("#") and self.skip(0)
                and self.take(b",") and self.key("args") and self.take(b"[") and self.take(b"]") and self.take(b",") and self.key("ops")
                and self.take(b"[")):
            return False
        if not self.operations():
            return False
        return self.take(b"}") and self.take(b"]") and self.take(b"}") and self.take(b"]") and self.take(b"}")

    cdef bint operations(self) except -1:
        cdef bint begun = False, more
        cdef const char *first
        while True:
            if not self.item(&begun, &more):
                return False
            if not more:
                return True
            self.blank()
            first = self.p
            if self.operation():
                continue
            self.p = first
            if not self.skip(0):
                return False
            self.translation.described(self.block, PyBytes_FromStringAndSize(first, self.p - first))

    cdef bint operation(self) except -1:
        """One operation. Nothing is changed before all of its text was read."""
        cdef const char *first
        cdef Py_ssize_t size
        cdef bint begun = True
        cdef list inputs = None, outputs = None
        cdef dict attrs = None
        if not (self.take(b"{") and self.key("#") and self.string(&first, &size)):
            return False
        if size == 1 and first[0] == b"p":
            return self.parameter()
        name = PyUnicode_FromStringAndSize(first, size)
        while True:
            if not self.member(&begun, &first, &size):
                return False
            if size < 0:
                break
            if same(first, size, "A"):
                if attrs is not None or (attrs := self.attributes()) is None:
                    return False
            elif same(first, size, "I"):
                if inputs is not None or (inputs := self.inputs()) is None:
                    return False
            elif same(first, size, "O"):
                if outputs is not None or (outputs := self.outputs()) is None:
                    return False
            elif same(first, size, "regions") or same(first, size, "#") or not self.skip(0):
                return False
        if inputs is None or outputs is None or attrs is None:
            return False
        kind = self.table.kind_of(name)
        plan = kind.plan
        if type(plan) is tuple:
            return self.operator(kind, <tuple>plan, inputs, outputs, attrs)
        if plan is not None and self.integers(outputs, attrs):
            return True
        return self.other(kind, inputs, outputs, attrs)

    cdef bint parameter(self) except -1:
        """`{"#": "p", "A": [_, is a parameter, _, name], "O": output, "OA": [is kept, is not trained, _]}`"""
        cdef const char *first
        cdef Py_ssize_t size
        cdef bint begun = True
        cdef list said = None, more = None
        cdef tuple out = None
        while True:
            if not self.member(&begun, &first, &size):
                return False
            if size < 0:
                break
            if same(first, size, "A"):
                if said is not None or (said := self.list_of(4)) is None:
                    return False
            elif same(first, size, "OA"):
                if more is not None or (more := self.list_of(3)) is None:
                    return False
            elif same(first, size, "O"):
                if out is not None or (out := self.output()) is None:
                    return False
            elif same(first, size, "#") or not self.skip(0):
                return False
        if said is None or more is None or out is None or type(said[3]) is not str or out[1] is _NULL or not more[0]:
            return False
        self.names[out[0]] = [said[3]]
        var = self.table.var.made2(said[3], out[1])
        put(var, self.table.var.offsets[2], True)
        put(var, self.table.var.offsets[4], True if said[1] else False)
        put(var, self.table.var.offsets[5], True if more[1] else False)
        self.vars.append(var)
        return True

    cdef list list_of(self, Py_ssize_t count):
        """A list of so many scalars."""
        value = self.value()
        return <list>value if type(value) is list and len(<list>value) == count else None

    cdef bint integers(self, list outputs, dict attrs) except -1:
        """A list of whole numbers, which is a constant."""
        cdef tuple out
        numbers = attrs.get("value")
        if len(outputs) != 1 or type(numbers) is not list:
            return False
        out = <tuple>outputs[0]
        value, kind = out[0], out[1]
        if kind is _NULL or value in self.names:
            return False
        self.known[value] = numbers
        self.names[value] = [named(value)]
        self.constants[value] = self.block, kind, None, numbers
        return True

    cdef bint operator(self, object known, tuple plan, list inputs, list outputs, dict attrs) except -1:
        """An operation that is an operator."""
        cdef list tensors = <list>plan[1], slots = <list>plan[3], given, made, written
        cdef dict alike = <dict>plan[4], found = {}
        cdef Py_ssize_t i, j = 0, count = len(inputs), plain = len(tensors)
        cdef PyObject *label
        cdef tuple out
        for name, value in attrs.items():
            label = PyDict_GetItem(alike, name)
            other = <object>label if label is not NULL else plan[5](name)
            if other is None:
                if name not in self.table.neutral:
                    return False
                neutral = self.table.neutral[name]
                if neutral is not ... and neutral != value:
                    return False
            elif other in found:
                return False
            else:
                found[other] = value
        if count > plain:  # constants that are attributes there
            i = plain
            for name in <list>plan[2]:
                if name in found:
                    continue
                if i == count:
                    break
                value = inputs[i]
                i += 1
                if value not in self.known:
                    if value == 0:
                        continue
                    return self.other(known, inputs, outputs, attrs)
                number = self.known[value]
                found[name] = int(number) if name in self.table.whole and type(number) is float else number
            if i < count:
                return self.other(known, inputs, outputs, attrs)
        written = []
        for name, value in found.items():
            kind = self.kind_of(value)
            if kind is None:
                return self.other(known, inputs, outputs, attrs)
            if kind is self.table.text:
                value = PyUnicode_AsUTF8String(value)
            written.append(self.table.attr.made3(name, kind, value))
        given = []
        for i in range(count if count < plain else plain):
            value = inputs[i]
            if value == 0:
                continue
            label = PyDict_GetItem(self.names, value)
            if label is NULL or value in self.constants:
                names = self.translation.tensors(value)
            else:
                names = <object>label
            given.append(self.table.slot.made2(tensors[i], names))
        made = []
        for out in outputs:
            if out[0] in self.names:
                raise LookupError(out[0])
            if out[1] is _NULL:
                self.names[out[0]] = []
                names = [self.table.empty]
            else:
                name = named(out[0])
                self.vars.append(self.table.var.made2(name, out[1]))
                self.names[out[0]] = names = [name]
            if j < len(slots):
                made.append(self.table.slot.made2(slots[j], names))
                j += 1
        self.ops.append(self.table.op.made4(plan[0], given, made, written))
        return True

    cdef bint other(self, object kind, list inputs, list outputs, dict attrs) except -1:
        self.translation.other(self.block, kind, inputs, outputs, attrs)
        return True

    cdef object kind_of(self, value):
        """The type of an attribute with this value; None if it is to be looked at."""
        cdef list values
        cdef type one
        if type(value) is bool:
            return self.table.boolean
        if type(value) is int:
            return self.table.integer
        if type(value) is float:
            return self.table.real
        if type(value) is str:
            return self.table.text
        if type(value) is not list:
            return None
        values = <list>value
        if not values:
            return self.table.integers
        one = type(values[0])
        for each in values:
            if type(each) is not one:
                return None
        return self.table.integers if one is int else self.table.booleans if one is bool else self.table.reals if one is float else None


_NULL = {"#": "NULL"}  # the type of what is no value


cdef object named(value):
    """The name of the tensor of a value."""
    cdef int64_t number = value
    return PyUnicode_FromFormat("v%lld", <long long>number)


cdef inline bint is_digit(char c) noexcept:
    return c >= b"0" and c <= b"9"


cdef inline bint same(const char *first, Py_ssize_t size, const char *name) noexcept:
    return <Py_ssize_t>strlen(name) == size and not memcmp(first, name, size)


cdef inline bint is_plain(const char *kind, Py_ssize_t size) noexcept:
    """Whether the data of attributes of a kind are their value: whole numbers, floats, truths, strings."""
    if size < 7 or memcmp(kind, "0.a_", 4):
        return False
    kind += 4
    size -= 4
    return (same(kind, size, "bool") or same(kind, size, "f32") or same(kind, size, "i32") or same(kind, size, "i64") or same(kind, size, "str")
            or same(kind, size, "f64"))
