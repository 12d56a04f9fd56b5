"""How an op is declared, and the two columns that stand next to every declaration.

The modules of the families import everything they need from here.
"""
from __future__ import annotations

import functools
import sys
from typing import Any, NamedTuple

from wherry_tensor._core import VOCABULARY_VERSION, DType, Op, Scalar, registry
from wherry_tensor.columns import Column

__all__ = ["DType", "Layout", "Meta", "Scalar", "declare", "decompose", "family_of", "infer", "op", "view", "where_declared"]

infer = Column("infer", "wherry-tensor", "never: calling the op raises", serves=VOCABULARY_VERSION)
decompose = Column("decompose", "wherry-tensor", "the op is irreducible", serves=VOCABULARY_VERSION, optional=True)
# Where in the memory of its first input the result of a view op is. The core answers for those of the vocabulary.
view = Column("view", "wherry-tensor", "no rule in Python: the core, or new memory", serves=VOCABULARY_VERSION, optional=True)

_ATTRIBUTE_TYPES = (int, float, bool, str, tuple, DType, Scalar)
_EFFECTS = {"random", "in-place"}
_declared: dict[Op, tuple[str, int]] = {}


class Layout(NamedTuple):
    """What a view rule sees of a tensor: `strides` count elements, and may be zero or negative."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DType


class Meta:
    """Shape and dtype of a tensor, without its data. A size of -1 is unknown. Immutable."""

    __slots__ = ("dtype", "shape")
    shape: tuple[int, ...]
    dtype: DType

    def __init__(self, shape: tuple[int, ...], dtype: DType) -> None:
        object.__setattr__(self, "shape", tuple(shape))
        object.__setattr__(self, "dtype", dtype)

    @property
    def rank(self) -> int:
        """How many axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements; -1 when a size is unknown."""
        size = 1
        for n in self.shape:
            if n < 0:
                return -1
            size *= n
        return size

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Meta is immutable. Got an assignment to '{name}'. Make a new Meta(shape, dtype).")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Meta) and self.shape == other.shape and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"Meta({list(self.shape)}, {self.dtype.name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Meta, (self.shape, self.dtype)


def op(
    name: str, inputs: str, *, view: bool = False, outputs: str = "out", effects: str = "", sizes: str = "", **attrs: Any
) -> Op:
    """Declare an op.

    Args:
        name: its noun, unique in the vocabulary.
        inputs: the tensors it takes, as in "x, weight, bias?, like~, *rest": `?` may be None, `*` is any number, and of
            one with `~` only the shape is used, so that it needs no values.
        view: the result shares the memory of the first input, and no kernel runs. A rule in the column `view`, called with
            a Layout for each input and the attributes, gives (shape, strides, offset of the first element), or None where
            strides allow no view: then it is asked once more, for a contiguous copy.
        outputs: the names of what it returns, as in "values, indices".
        effects: what a call does besides computing, words among "random" (it draws from the generator: two equal calls
            differ) and "in-place" (each output `<name>_out` is made to be written over the input `<name>`).
        sizes: the attributes that may hold a size which is not known while a program is captured, as in "starts, ends";
            the shape rule then gives -1 where the result depends on it.
        attrs: the type of each attribute: int, float, bool, str, tuple (of ints), DType or Scalar.

    Returns:
        The op; calling it applies it.
    """
    caller = sys._getframe(1)
    where = (caller.f_code.co_filename, caller.f_lineno)
    return declare(name, inputs, attrs, where, view=view, outputs=outputs, effects=effects, sizes=sizes)


def declare(
    name: str, inputs: str, attrs: dict[str, Any], where: tuple[str, int], *, view: bool = False, outputs: str = "out", effects: str = "",
    sizes: str = "",
) -> Op:
    """What `op` does, for attributes of any name and a declaration that stands in `where`, a file and a line."""
    if name in registry:
        raise ValueError(
            f"op '{name}' is declared already. Got a second declaration, expected one, which is at "
            f"{where_declared(registry[name])}. Choose another name, or remove one of the two."
        )
    for attr, kind in attrs.items():
        if kind not in _ATTRIBUTE_TYPES:
            raise TypeError(
                f"op '{name}': attribute '{attr}' cannot be of this type. Got {kind!r}, expected int, float, "
                f"bool, str, tuple, DType or Scalar. Attributes are plain data; pass tensors as inputs."
            )
    output_names = tuple(part.strip() for part in outputs.split(","))
    words, size_attrs = _words(effects), _words(sizes)
    if set(words) - _EFFECTS:
        raise ValueError(f"op '{name}': unknown effect. Got effects={effects!r}, expected words among random and in-place.")
    if set(size_attrs) - set(attrs):
        raise ValueError(f"op '{name}': no such attribute. Got sizes={sizes!r}, expected names among {', '.join(attrs)}.")
    declared = Op(name, inputs, tuple(attrs), tuple(attrs.values()), output_names, view, words, size_attrs)
    registry[name] = declared
    _declared[declared] = where
    return declared


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def where_declared(op: Op) -> str:
    """`file:line` of an op's declaration."""
    file, line = _declared[op]
    return f"{file}:{line}"


@functools.cache
def family_of(op: Op) -> str:
    """The family an op belongs to: the name of the module that declares it."""
    *_, folder, file = ("", *_declared[op][0].replace("\\", "/").split("/"))
    return folder if file == "__init__.py" else file.removesuffix(".py")
