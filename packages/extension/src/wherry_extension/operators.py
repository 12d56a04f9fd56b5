"""Operators of a library as members of the vocabulary.

Each becomes an op: its forward operator, its gradient `<name>_grad` and the gradient of that, `<name>_grad_grad`. Tables get the rules
that they ask for: shapes from the library's own functions, gradients from the operators that belong together, and how Paddle's files
write and read them.

An operator with lists of tensors takes all its tensors one after the other (`*tensors`), and says in `lengths` how they are divided.
"""
from __future__ import annotations

import ctypes
import keyword
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from wherry_autograd.rules import not_differentiable, vjp
from wherry_extension import boundary
from wherry_paddle_files.column import READS, Reading, paddle
from wherry_paddle_files.desc import AttrType
from wherry_paddle_files.writing import Typed
from wherry_tensor import _core, columns, ops
from wherry_tensor._core import Op, Tensor
from wherry_tensor.arguments import require_writable, write
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import (
    AlreadyExistsError,
    ExternalError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
    short,
)
from wherry_tensor.ops import declare
from wherry_tensor.ops.declare import Meta, infer
from wherry_tensor.ops.shapes import UNKNOWN

__all__ = ["Operator", "apply", "load_op_meta_info_and_register_op", "operators"]

GRAD, VECTOR, OPTIONAL, NEW = "@GRAD", "@VECTOR", "@OPTIONAL", "@NEW"
MOST_OUTPUTS = 8  # of an op

# C++ type of an attribute: type of the op's attribute, what Python gives, how Paddle's files keep it.
_ATTR_TYPES: dict[str, tuple[type, Callable[[Any], Any], AttrType]] = {
    "bool": (bool, bool, AttrType.BOOLEAN),
    "int": (int, int, AttrType.INT),
    "int64_t": (int, int, AttrType.LONG),
    "float": (float, float, AttrType.FLOAT),
    "double": (float, float, AttrType.FLOAT64),
    "std::string": (str, str, AttrType.STRING),
    "std::vector<int>": (tuple, lambda v: tuple(int(n) for n in v), AttrType.INTS),
    "std::vector<int64_t>": (tuple, lambda v: tuple(int(n) for n in v), AttrType.LONGS),
    "std::vector<float>": (str, lambda v: _packed(float(n).hex() for n in v), AttrType.FLOATS),
    "std::vector<double>": (str, lambda v: _packed(float(n).hex() for n in v), AttrType.FLOAT64S),
    "std::vector<std::string>": (str, lambda v: _packed(_texts(v)), AttrType.STRINGS),
}


def _texts(values: Any) -> list[str]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"expected a list of texts, got {values!r}")
    return list(values)


def _packed(items: Any) -> str:
    """Several texts as one, each after its length in bytes and a colon."""
    return "".join(f"{len(item.encode())}:{item}" for item in items)


def _unpacked(text: str) -> list[str]:
    data, items = text.encode(), []
    while data:
        length, _, rest = data.partition(b":")
        items.append(rest[: int(length)].decode())
        data = rest[int(length) :]
    return items


class _Attr(NamedTuple):
    name: str
    kind: str  # its C++ type

    @property
    def type(self) -> type:
        return _ATTR_TYPES[self.kind][0]

    @property
    def word(self) -> str:
        """Its name where that has to be a word of Python's that is free."""
        return self.name + "_" if keyword.iskeyword(self.name) or self.name in ("needs", "lengths") else self.name

    def encode(self, op: str, value: Any) -> Any:
        try:
            return _ATTR_TYPES[self.kind][1](value)
        except (TypeError, ValueError) as error:
            raise InvalidTypeError(
                f"{op}: the attribute '{self.name}' has the wrong type. Got {value!r}, expected {self.kind}, as the operator declares it."
            ) from error

    def plain(self, value: Any) -> Any:
        """An encoded value as Python lists it."""
        if self.kind in ("std::vector<float>", "std::vector<double>"):
            return [float.fromhex(item) for item in _unpacked(value)]
        return _unpacked(value) if self.kind == "std::vector<std::string>" else value

    def typed(self, value: Any) -> Typed:
        """An encoded value as Paddle's files keep it."""
        kind, plain = _ATTR_TYPES[self.kind][2], self.plain(value)
        if kind == AttrType.STRING:
            return Typed(kind, plain.encode())
        return Typed(kind, [item.encode() for item in plain] if kind == AttrType.STRINGS else list(plain) if isinstance(plain, tuple) else plain)


def _identifier(name: str) -> str:
    word = re.sub(r"\W", "_", name.replace(VECTOR, "").replace(OPTIONAL, "").replace(GRAD, "_grad").replace(NEW, "_new")).lower()
    return word + "_" if word in ("out", "ct", "needs", "lengths") or not word.isidentifier() else word


class Operator:
    """One operator of a library.

    Attributes:
        name: in the vocabulary: `custom_relu`, `custom_relu_grad`.
        order: 0 of a forward operator, 1 of its gradient, 2 of the gradient of that.
        inputs, outputs: names, as the source has them.
        attrs: name and C++ type of each attribute.
        lists: does any input or output stand for a list, which what may be left out counts as?
        in_place: of outputs that are inputs: which output is which input.
        likes: of a gradient, the tensors whose shapes its outputs have and that are not among its inputs.
    """

    def __init__(self, entry: boundary.OpEntry, library: str) -> None:
        base, self.order = entry.name.decode(), entry.order
        self.base, self.name, self.library = base, base + "_grad" * self.order, library
        self.where = f"{entry.file.decode()}:{entry.line}"
        self.inputs = [entry.inputs[i].decode() for i in range(entry.n_inputs)]
        self.outputs = [entry.outputs[i].decode() for i in range(entry.n_outputs)]
        self.attrs = [self._attr(entry.attrs[i].decode()) for i in range(entry.n_attrs)]
        self.lists = any(VECTOR in name or OPTIONAL in name for name in (*self.inputs, *self.outputs))
        self.in_place = {i: entry.in_place[i] for i in range(entry.n_outputs) if entry.in_place[i] >= 0} if entry.in_place else {}
        self.kernel, self.data, self.entry = entry.kernel, entry.data, entry
        self.likes: list[str] = []
        self.source: Operator | None = None  # of a gradient: whose
        self.ops: dict[int, Op] = {}  # by the number of outputs
        self._check(entry)

    def _attr(self, text: str) -> _Attr:
        name, colon, kind = (part.strip() for part in text.partition(":"))
        kind = re.sub(r"\s+", "", kind) if colon else ""
        if kind not in _ATTR_TYPES or not name.isidentifier():
            raise InvalidArgumentError(
                f"{self.name}: an attribute is not declared as it has to be, at {self.where}. Got {text!r}, expected \"name: type\" "
                f"with one of {', '.join(_ATTR_TYPES)}."
            )
        return _Attr(name, kind)

    def _check(self, entry: boundary.OpEntry) -> None:
        if not self.inputs or not self.outputs:
            raise InvalidArgumentError(f"{self.name}: it has no tensors, at {self.where}. Call .Inputs({{...}}) and .Outputs({{...}}).")
        if not entry.kernel:
            raise InvalidArgumentError(f"{self.name}: it has no kernel function, at {self.where}. Call .SetKernelFn(PD_KERNEL(function)).")
        if (entry.n_params, entry.n_attr_params) != (len(self.inputs), len(self.attrs)):
            raise InvalidArgumentError(
                f"{self.name}: the kernel function does not take what the operator declares, at {self.where}. Got a function of "
                f"{entry.n_params} tensors and {entry.n_attr_params} attributes, expected {len(self.inputs)} and {len(self.attrs)}."
            )
        if entry.problem:
            raise InvalidArgumentError(
                f"{self.name}: {entry.problem.decode()}, at {self.where}. Expected an input of {', '.join(self.inputs)} and an output of "
                f"{', '.join(self.outputs)}. Call .SetInplaceMap({{{{\"X\", \"Out\"}}}})."
            )
        if len(self.in_place) != entry.n_in_place_params:
            raise InvalidArgumentError(
                f"{self.name}: the kernel function writes {entry.n_in_place_params} tensors in place, those of type paddle::Tensor& or a list "
                f"or an optional of it without const, at {self.where}. Got {len(self.in_place)} in SetInplaceMap, expected as many."
            )
        plain = len(self.outputs) - len(self.in_place)
        if entry.n_output_params and entry.n_output_params != plain:
            raise InvalidArgumentError(
                f"{self.name}: the kernel function takes {entry.n_output_params} outputs as pointers, at {self.where}. Got {plain} in Outputs that "
                f"are not written in place, expected as many. Give the function a paddle::Tensor* for each of them."
            )
        if entry.takes_attrs > len(self.attrs):
            raise InvalidArgumentError(
                f"{self.name}: the shape or the dtype function takes {entry.takes_attrs} attributes, at {self.where}. Got {len(self.attrs)} in "
                f"Attrs, expected at least as many. The functions take the first of the attributes, in the order of Attrs."
            )

    @property
    def params(self) -> list[str]:
        """Names of the tensors as parameters in Python."""
        return [_identifier(name) for name in self.inputs]

    @property
    def varies(self) -> bool:
        """Whether the number of outputs depends on the call."""
        return any(VECTOR in name or OPTIONAL in name for name in self.outputs)

    @property
    def infers(self) -> bool:
        """Whether the shapes of the outputs are known before it runs."""
        said = self.order or self.entry.has_shape or 0 < len(self.in_place) == len(self.outputs)
        return bool(said or (len(self.inputs) == len(self.outputs) == 1 and not self.lists))

    @property
    def plain(self) -> bool:
        """Whether the op can be called with the user's arguments as they are."""
        return not self.lists and not self.in_place and self.infers and all(attr.type is not str or attr.kind == "std::string" for attr in self.attrs)

    # Declaration.

    def op_for(self, n_outputs: int) -> Op:
        """The op with this number of outputs, declared when it is first asked for."""
        found = self.ops.get(n_outputs)
        return self._declare(n_outputs) if found is None else found

    def _declare(self, n_outputs: int) -> Op:
        if n_outputs > MOST_OUTPUTS:
            raise UnimplementedError(
                f"{self.name}: there are too many outputs. Got {n_outputs} tensors, expected at most {MOST_OUTPUTS}. Pass fewer tensors in one list."
            )
        name = f"{self.name}_{n_outputs}" if self.varies else self.name
        attrs = {attr.word: attr.type for attr in self.attrs}
        outs = "out" if n_outputs == 1 else ", ".join(f"out_{i}" for i in range(n_outputs))
        if self.lists:
            inputs, attrs = "*tensors", {"lengths": tuple, **attrs}
        else:
            inputs = ", ".join([*self.params, *(f"{_identifier(like)}_like~" for like in self.likes)])
        made = ops.registry.get(name)
        if made is None:
            file, _, line = self.where.rpartition(":")
            made = declare.declare(name, inputs, attrs, (file, int(line)), outputs=outs)
            _ours[name] = (inputs, outs, tuple(attrs.items()))
        elif _ours.get(name) != (inputs, outs, tuple(attrs.items())):
            before = f"that of {self.library} that was loaded before, with other tensors or attributes" if name in _ours else "one of the vocabulary"
            raise AlreadyExistsError(
                f"{name}: an operator of this name exists: {before}. Got a second one at {self.where}, expected a new name. "
                f"Choose another one in PD_BUILD_OP{', or start Python anew' if name in _ours else ''}."
            )
        self.ops[n_outputs] = made
        infer.rules[made] = lambda *metas, **attrs: self._infer(n_outputs, metas, attrs)
        _exempt("decompose", made, "its kernel is compiled from C++")
        _exempt("onnx", made, "ONNX has no operator for code of the user")
        self._differentiate(made, n_outputs)
        if self.order < 2:
            paddle.rules[made] = lambda w, *values, **attrs: self._write(w, n_outputs, values, attrs)
        else:
            _exempt("paddle", made, "programs hold no gradients of gradients")
        for device in ("cpu", "gpu"):
            if device in _core.devices():
                boundary.register_kernel(device, name, self.kernel, self.data)
        return made

    # Shapes.

    def _infer(self, n_outputs: int, metas: tuple[Meta, ...], attrs: dict[str, Any]) -> Any:
        lengths = attrs.pop("lengths", None) or (1,) * len(self.inputs)
        if self.order:
            assert self.source is not None
            given = self._by_name(metas, lengths)
            found = [meta for name in self.outputs for meta in given[_belongs_to(name)]]
            if self.entry.has_shape or self.entry.has_dtype:
                found = self.shapes(metas, lengths if self.lists else (*lengths, *(1 for _ in self.likes)), list(attrs.values()))
        elif self.infers:
            found = self.shapes(metas, lengths, list(attrs.values()))
        else:
            # The kernel decides, but for what is written in place.
            found, counts, given = [], self._counts(lengths, n_outputs), self._by_name(metas, lengths)
            for i, n in enumerate(counts):
                found += given[self.inputs[self.in_place[i]]] if i in self.in_place else [Meta((UNKNOWN,), metas[0].dtype)] * n
        if len(found) != n_outputs:
            raise ExternalError(
                f"{self.name}: the shape function says {len(found)} outputs. Got {len(found)} shapes, expected {n_outputs}. See SetInferShapeFn.\n"
                f"  [operator < {self.base} > error]"
            )
        return found[0] if n_outputs == 1 else tuple(found)

    def _by_name(self, values: Sequence[Any], lengths: Sequence[int]) -> dict[str, Any]:
        """Tensors by the names of inputs, then of likes; each is a list."""
        found, at = {}, 0
        for name, n in zip([*self.inputs, *self.likes], [*lengths, *(1 for _ in self.likes)] if not self.lists else lengths):
            found[name] = list(values[at : at + n])
            at += n
        return found

    def shapes(self, metas: Sequence[Meta], lengths: Sequence[int], attrs: list[Any]) -> list[Meta]:
        """What the library's functions say. A size that is not known stands for any: what depends on it is not known either."""
        if any(UNKNOWN in meta.shape for meta in metas):
            try:
                first, second = (self._ask(metas, lengths, attrs, stand_in) for stand_in in (1009, 2003))
            except ExternalError:  # it checks what the number is: Paddle would give it -1
                first = second = self._ask(metas, lengths, attrs, UNKNOWN)
            if len(first) == len(second) and all(a.rank == b.rank for a, b in zip(first, second)):
                return [Meta(tuple(m if m == n and m >= 0 else UNKNOWN for m, n in zip(a.shape, b.shape)), a.dtype) for a, b in zip(first, second)]
        return self._ask(metas, lengths, attrs, UNKNOWN)

    def _ask(self, metas: Sequence[Meta], lengths: Sequence[int], attrs: list[Any], stand_in: int) -> list[Meta]:
        given = (boundary.Meta * max(1, len(metas)))()
        for slot, meta in zip(given, metas):
            slot.dtype, slot.rank = meta.dtype.code, len(meta.shape)
            for i, n in enumerate(meta.shape):
                slot.shape[i] = stand_in if n == UNKNOWN else n
        numbers = (ctypes.c_int64 * max(1, len(lengths)))(*lengths)
        values, _kept = boundary.attrs_array(attrs)
        room = 64
        results, error = (boundary.Meta * room)(), ctypes.create_string_buffer(512)
        n = self.entry.infer(self.data, given, numbers, values, results, room, ctypes.addressof(error))
        if n < 0:
            raise ExternalError(error.value.decode("utf-8", "replace"))
        return [
            Meta(tuple(max(UNKNOWN, size) for size in results[i].shape[: results[i].rank]), as_dtype(boundary.DTYPES[results[i].dtype], self.name))
            for i in range(n)
        ]

    # Gradients.

    def _differentiate(self, made: Op, n_outputs: int) -> None:
        vjp.rules.pop(made, None)  # of a library that was loaded before
        vjp.exemptions.pop(made, None)
        follower = _followers.get((self.library, self.base, self.order + 1))
        if follower is None:
            if self.order == 0:
                not_differentiable(made, "it has no PD_BUILD_GRAD_OP")
                return

            def rule(_ct: Any, _out: Any, _inputs: Any, _attrs: Any) -> Any:
                what = "PD_BUILD_DOUBLE_GRAD_OP" if self.order == 1 else "no gradient beyond that of PD_BUILD_DOUBLE_GRAD_OP"
                raise UnimplementedError(
                    f"{self.base}: it has no gradient of order {self.order + 1}. Got create_graph=True, expected an operator with {what}. "
                    f"Add one to its source, or differentiate once."
                )

            used: set[str] = set()
        else:
            rule, used = self._rule_with(follower), {*follower.inputs, *follower.likes} if self.lists else {*follower.inputs}
        # The engine reads from the signature what is to be kept.
        kept = [name in used for name in self.inputs]
        if self.lists:
            params, collected = ("*tensors_" if any(kept) else "*_tensors_"), ("tensors_" if any(kept) else "_tensors_")
        else:
            names = [*("" if keep else "_" for keep in kept), *("_" for _ in self.likes)]
            words = [f"{mark}x{i}_" for i, mark in enumerate(names)]
            params, collected = ", ".join(words), "(" + "".join(f"{word}, " for word in words) + ")"
        out = "out_" if any(name in used for name in self.outputs) else "_out_"
        star = "" if self.lists else "*, "
        attrs = [*(["lengths"] if self.lists else []), *(attr.word for attr in self.attrs)]
        tail = f", {star}{', '.join(attrs)}" if attrs else ""
        code = (
            f"def vjp_{made.name}(ct_, {out}, {params}{tail}):\n"
            f"    return rule(ct_, {out}, {collected}, dict({', '.join(f'{a}={a}' for a in attrs)}))\n"
        )
        scope: dict[str, Any] = {"rule": rule}
        exec(compile(code, f"<gradient of {made.name}>", "exec"), scope)
        vjp.rule(made)(scope[f"vjp_{made.name}"])

    def _rule_with(self, follower: Operator) -> Callable[..., Any]:
        def rule(ct: Any, out: Any, inputs: Any, attrs: dict[str, Any]) -> Any:
            lengths = attrs.get("lengths") or (1,) * len(self.inputs)
            outs, cts = (out, ct) if isinstance(out, (list, tuple)) else ((out,), (ct,))
            values = self._by_name(inputs, lengths)
            counts = self._counts(lengths, len(outs))
            at = 0
            for name, n in zip(self.outputs, counts):
                values[name] = list(outs[at : at + n])
                values[name + GRAD] = [
                    ops.full_like(o, value=0.0, dtype=o.dtype) if c is None else c for o, c in zip(outs[at : at + n], cts[at : at + n])
                ]
                at += n
            given = [values[name] for name in (*follower.inputs, *follower.likes)]
            flat = [x for group in given for x in group]
            chosen = {attr.word: attrs[attr.word] for attr in follower.attrs}
            owners = [_belongs_to(name) for name in follower.outputs]
            n_outputs = sum(len(values[owner]) for owner in owners)
            if follower.lists:
                chosen["lengths"] = tuple(len(group) for group in given)
            found = follower.op_for(n_outputs)(*flat, **chosen)
            results = list(found) if isinstance(found, (list, tuple)) else [found]
            named: dict[str, list[Any]] = {}
            for owner in owners:
                named[owner], results = results[: len(values[owner])], results[len(values[owner]) :]
            return tuple(x for name, n in zip([*self.inputs, *self.likes], [*lengths, *(1 for _ in self.likes)]) for x in named.get(name, [None] * n))

        return rule

    def _counts(self, lengths: Sequence[int], total: int) -> list[int]:
        """The number of tensors of each output."""
        if not self.varies:
            return [1] * len(self.outputs)
        if self.order:
            n = dict(zip([*self.inputs, *self.likes], lengths))
            return [n[_belongs_to(name)] for name in self.outputs]
        counts = [lengths[self.in_place[i]] if i in self.in_place else 0 if VECTOR in name else 1 for i, name in enumerate(self.outputs)]
        return [total - sum(counts) if i == self._open else n for i, n in enumerate(counts)]

    @property
    def _open(self) -> int | None:
        """The output whose length the shape function says: a list that is not written in place."""
        return next((i for i, name in enumerate(self.outputs) if VECTOR in name and i not in self.in_place), None)

    # Files.

    def _write(self, w: Any, n_outputs: int, values: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        lengths = attrs.pop("lengths", None) or (1,) * len(self.inputs)
        groups = self._by_name(values, lengths)
        inputs = {name: groups[name] for name in self.inputs}
        counts = self._counts(lengths, n_outputs)
        labels = [f"{name}*{n}" for name, n in zip(self.outputs, counts)]
        told = {attr.name: attr.typed(attrs[attr.word]) for attr in self.attrs}
        found = w(self.name, inputs, {**told, "library": os.path.basename(self.library)}, labels, dtype=[w.outs[0].dtype] * len(labels))
        flat = found if len(labels) == 1 else [x for group in found for x in group]
        return tuple(flat)

    def read(self, o: Any) -> dict[str, Any]:
        """Apply it to what an operator of a file names."""
        tensors = [
            o.xs(name) if VECTOR in name else o.x(name) if OPTIONAL not in name or o.desc.input(name) else None for name in self.inputs
        ]
        attrs = []
        for attr in self.attrs:
            value = o.attr(attr.name)
            if value is None:
                raise o.bad(f"it has no attribute {attr.name!r}", attr.kind)
            attrs.append(value)
        found = apply(self.base, *tensors, *attrs)
        results = found if len(self.outputs) > 1 else [found]
        return {name: value if isinstance(value, list) else [value] for name, value in zip(self.outputs, results) if value is not None}


def _belongs_to(name: str) -> str:
    """Whose gradient an output of a gradient operator is."""
    return name.removesuffix(NEW).removesuffix(GRAD)


def _exempt(column: str, made: Op, reason: str) -> None:
    if column in columns.registry:
        columns.registry[column].exemptions[made] = reason


operators: dict[str, Operator] = {}  # forward operators by name
_followers: dict[tuple[str, str, int], Operator] = {}
_ours: dict[str, Any] = {}  # ops that came out of libraries, and how they were declared
_loaded: list[Any] = []  # libraries stay: kernels point into them


def load_op_meta_info_and_register_op(lib_filename: str) -> list[str]:
    """Load a library of operators and make them members of the vocabulary.

    Args:
        lib_filename: the path of the library.

    Returns:
        The names of its operators.

    Raises:
        OSError: there is no such file, or it is not a library that can be loaded.
        ImportError: it holds no operators, or was compiled with headers of another version.
        RuntimeError: an operator has a name that is taken.
        ValueError: an operator is not built as it has to be.

    Source:
        `paddle.utils.cpp_extension.load_op_meta_info_and_register_op`.

    Examples:
        >>> wherry.utils.cpp_extension.load_op_meta_info_and_register_op("no_such_file.so")
        Traceback (most recent call last):
        OSError: load_op_meta_info_and_register_op: there is no such file. ...
    """
    if not isinstance(lib_filename, (str, os.PathLike)):
        raise InvalidTypeError(f"load_op_meta_info_and_register_op: it takes the path of a library. Got {short(lib_filename)}, expected a str.")
    path = os.path.abspath(lib_filename)
    if not os.path.isfile(path):
        raise OSError(f"load_op_meta_info_and_register_op: there is no such file. Got {path}, expected a library that was built. Build it first.")
    try:
        library = ctypes.PyDLL(path)
    except OSError as error:
        raise OSError(
            f"load_op_meta_info_and_register_op: {path} is not a library that can be loaded here: {error}. Build it again on this machine."
        ) from error
    try:
        entry = library.wherry_extension
    except AttributeError:
        raise ImportError(
            f"load_op_meta_info_and_register_op: {path} has no operators for Wherry. Got a library without the symbol wherry_extension, "
            f"expected one whose sources include paddle/extension.h. Build it again with paddle.utils.cpp_extension."
        ) from None
    entry.restype, entry.argtypes = ctypes.POINTER(boundary.Library), [ctypes.c_void_p]
    table = entry(ctypes.addressof(boundary.host_table)).contents
    if (table.version, table.abi) != (boundary.VERSION, boundary.ABI):
        raise ImportError(
            f"load_op_meta_info_and_register_op: {path} was compiled with headers of another version. Got {table.version}.{table.abi}, "
            f"expected {boundary.VERSION}.{boundary.ABI}. Build it again."
        )
    _loaded.append(library)
    found = [Operator(table.ops[i].contents, path) for i in range(table.count)]
    _connect(found, path)
    names = []
    for operator in found:
        if operator.order == 0:
            operators[operator.base] = operator
            names.append(operator.base)
    return names


def _connect(found: list[Operator], path: str) -> None:
    """Check which operators belong together, and declare them."""
    by_key: dict[tuple[str, int], Operator] = {}
    for operator in found:
        if (operator.base, operator.order) in by_key:
            raise AlreadyExistsError(
                f"{operator.name}: the library builds it twice. Got one at {by_key[operator.base, operator.order].where} and one at "
                f"{operator.where}, expected one. Join them, with a branch for each device, or rename one."
            )
        by_key[operator.base, operator.order] = operator
    for (base, order), operator in sorted(by_key.items(), key=lambda item: -item[0][1]):
        if order == 0:
            if base in ops.registry and base not in _ours or base in READS and base not in operators:
                raise AlreadyExistsError(
                    f"{base}: an operator of this name exists: one of the vocabulary. Got a second one at {operator.where}, expected a new "
                    f"name. Choose another one in PD_BUILD_OP."
                )
            continue
        source = by_key.get((base, order - 1))
        if source is None:
            raise InvalidArgumentError(
                f"{operator.name}: there is nothing that it is the gradient of, at {operator.where}. Got PD_BUILD_{'DOUBLE_' * (order == 2)}GRAD_OP"
                f"({base}), expected PD_BUILD_{'GRAD_' * (order == 2)}OP({base}) in the same library."
            )
        operator.source = source
        _check_gradient(operator, source, by_key.get((base, 0)))
    for order in (2, 1, 0):
        for operator in found:
            if operator.order == order:
                _followers[path, operator.base, order] = operator
    for order in (1, 2):
        for operator in found:
            if operator.order == order:
                assert operator.source is not None
                owners = [_belongs_to(name) for name in operator.outputs]
                operator.lists = operator.lists or operator.source.lists
                operator.likes = [name for name in dict.fromkeys(owners) if name not in operator.inputs]
    for operator in sorted(found, key=lambda one: -one.order):
        if not operator.varies:
            operator._declare(len(operator.outputs))
        if operator.order == 0:
            READS[operator.base] = Reading(operator.read, operator.outputs[0])


def _check_gradient(operator: Operator, source: Operator, forward: Operator | None) -> None:
    known = {*source.inputs, *source.outputs, *(name + GRAD for name in source.outputs)}
    if source.order and forward is not None:
        known |= {*forward.inputs, *forward.outputs} & set(source.inputs)
    for name in operator.inputs:
        if name not in known:
            raise InvalidArgumentError(
                f"{operator.name}: it takes a tensor that nobody knows, at {operator.where}. Got {name!r}, "
                f"expected one of {', '.join(sorted(known))}. Names of the forward operator stay; gradients are named by paddle::Grad."
            )
    for name in operator.outputs:
        if not name.endswith((GRAD, NEW)) or _belongs_to(name) not in source.inputs:
            raise InvalidArgumentError(
                f"{operator.name}: its output is not a gradient of an input, at {operator.where}. Got {name!r}, expected paddle::Grad of one of "
                f"{', '.join(source.inputs)}."
            )
    whole = {attr.name: attr.kind for attr in (forward or source).attrs}
    for attr in operator.attrs:
        if whole.get(attr.name) != attr.kind:
            raise InvalidArgumentError(
                f"{operator.name}: it has an attribute that the forward operator has not, at {operator.where}. Got '{attr.name}: {attr.kind}', "
                f"expected some of {', '.join(f'{name}: {kind}' for name, kind in whole.items()) or 'none'}."
            )
    if not {attr.name for attr in operator.attrs} <= {attr.name for attr in source.attrs}:
        raise InvalidArgumentError(f"{operator.name}: its attributes have to be among those of {source.name}, at {operator.where}.")


def apply(name: str, *values: Any) -> Any:
    """Apply an operator: its tensors (a list where it takes one), then its attributes, in the order of its declaration.

    Args:
        name: of the operator.
        values: tensors and attributes. What the operator writes in place is changed, and returned; what it declares optional may be None.

    Returns:
        A tensor, or a list of them where it has several outputs.

    Raises:
        OSError: the operator reported an error.
        TypeError: a value is of the wrong kind.
    """
    operator = operators[name]
    n = len(operator.inputs)
    if len(values) != n + len(operator.attrs):
        raise TypeError(f"{name}: got {len(values)} values, expected {n} tensors and {len(operator.attrs)} attributes.")
    groups = _input_groups(operator, values[:n])
    flat, lengths = [x for group in groups for x in group], [len(group) for group in groups]
    attrs = {attr.word: attr.encode(name, value) for attr, value in zip(operator.attrs, values[n:])}
    if not operator.infers and any(_core.is_symbolic(x) for x in flat):
        raise InvalidArgumentError(
            f"{name}: in a program the shape of the result has to be known before the operator runs. Got an operator with "
            f"{len(operator.inputs)} inputs and {len(operator.outputs)} outputs and no shape function, expected SetInferShapeFn and "
            f"SetInferDtypeFn at {operator.where}. Without them an operator has one input and one output of the same shape."
        )
    n_outputs = len(operator.outputs)
    if operator.varies and operator._open is None:
        n_outputs = sum(operator._counts(lengths, 0))
    elif operator.varies:
        metas = [Meta(tuple(getattr(x, "sizes", x.shape)), x.dtype) for x in flat]
        n_outputs = len(operator.shapes(metas, lengths, list(attrs.values())))
    if operator.lists:
        attrs = {"lengths": tuple(lengths), **attrs}
    found = operator.op_for(n_outputs)(*flat, **attrs)
    if not operator.in_place and not operator.varies:
        return list(found) if isinstance(found, (list, tuple)) else found
    results = list(found) if isinstance(found, (list, tuple)) else [found]
    named: list[Any] = []  # for each output a tensor, a list where it is one, or None where it is left out
    for i, (label, count) in enumerate(zip(operator.outputs, operator._counts(lengths, len(results)))):
        group, results = results[:count], results[count:]
        if i in operator.in_place:
            value = values[operator.in_place[i]]
            group = [write(x, new, name, False) for x, new in zip(value if isinstance(value, (list, tuple)) else [value], group)]
            if value is None:
                named.append(None)
                continue
        named.append(group if VECTOR in label else group[0])
    return named if len(named) > 1 else named[0]


def _input_groups(operator: Operator, values: Sequence[Any]) -> list[list[Tensor]]:
    """The tensors of each input: one, those of a list, or none where it is left out.

    Raises:
        TypeError: a value is of the wrong kind.
    """
    given = [x for value in values for x in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(x, Tensor)]
    groups: list[list[Tensor]] = []
    for label, value in zip(operator.inputs, values):
        group = list(value) if VECTOR in label and isinstance(value, (list, tuple)) else [value]
        if OPTIONAL in label and value is None:
            group = []
        elif not all(isinstance(x, Tensor) for x in group) or (VECTOR in label and not isinstance(value, (list, tuple))):
            kind = ("a list of Tensors" if VECTOR in label else "a Tensor") + " or None" * (OPTIONAL in label)
            raise InvalidTypeError(f"{operator.name}: the input '{label}' has the wrong type. Got {type(value).__name__}, expected {kind}.")
        if len(groups) in operator.in_place.values():
            for x in group:
                require_writable(x, operator.name)
            if any(not x.stop_gradient for x in given):
                group = [ops.copy(x) for x in group]  # recorded: the old values may be needed
        groups.append(group)
    return groups


def module_text(name: str, library: str, names: Sequence[str]) -> str:
    """The Python module of a library: one function for each operator."""
    lines = [
        f'"""Operators of {library}, written when it was built."""',
        "import os",
        "",
        "from wherry_extension.operators import apply, load_op_meta_info_and_register_op, operators",
        "",
        f'_library = os.path.join(os.path.dirname(os.path.abspath(__file__)), "{library}")',
        "load_op_meta_info_and_register_op(_library)",
    ]
    for each in names:
        operator = operators[each]
        words = [*operator.params, *(attr.word for attr in operator.attrs)]
        head = f"def {each}({', '.join(words)}):"
        if operator.plain and len(operator.outputs) == 1 and not operator.attrs:
            # The op itself: on small tensors a call of Python's in between is what one would notice.
            lines += ["", f'{each} = operators["{each}"].op_for(1)  # takes {", ".join(words)}']
        elif operator.plain and len(operator.outputs) == 1:
            given = ", ".join([*operator.params, *(f"{attr.word}={_cast(attr)}" for attr in operator.attrs)])
            lines += ["", "", f'_{each} = operators["{each}"].op_for(1)', "", "", head, f"    return _{each}({given})"]
        else:
            lines += ["", "", head, f'    return apply("{each}", {", ".join(words)})']
    return "\n".join(lines) + "\n"


def _cast(attr: _Attr) -> str:
    """The conversion of a value for the op."""
    cast = {"bool": "bool", "int": "int", "int64_t": "int", "float": "float", "double": "float", "std::string": "str"}.get(attr.kind, "tuple")
    return f"{cast}({attr.word})"
