"""Element-wise chains as one kernel each: CUDA C++ that is written here and compiled at run time.

A chain reads its operands once and writes its results once; what lies between stays in registers. Each node rounds its value as
the op by itself does and calls the same function of the same source, so a chain gives the bits of its ops one by one.
"""
from __future__ import annotations

import ctypes
import struct
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wherry_ops_cuda import nvrtc
from wherry_tensor._core import DType, Op
from wherry_tensor.ops.declare import family_of

__all__ = ["Chain", "Chains", "Operand", "expression", "generated"]

_CSRC = Path(__file__).parent / "csrc"
_FAMILIES = ("elementwise", "activation", "arithmetic", "comparison", "cast")
_TYPES = {
    "bool": "bool", "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "float16": "half",
    "bfloat16": "bfloat16", "float32": "float", "float64": "double", "complex64": "complex64", "complex128": "complex128",
}  # fmt: skip
_INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
_COMPLEX = ("complex64", "complex128")

# Functors whose name is not that of the op.
_NAMES = {
    "abs": "Absolute", "conj": "Conjugate", "real": "RealPart", "imag": "ImaginaryPart", "less_than": "Less", "greater_than": "Greater",
    "i0": "Bessel<0>", "i1": "Bessel<1>", "i0e": "ScaledBessel<0>", "i1e": "ScaledBessel<1>", "isnan": "IsNan", "isinf": "IsInf",
    "isfinite": "IsFinite", "complex": "MakeComplex", "nextafter": "NextAfter",
}  # fmt: skip
_LOGIC = {"add": "Or", "maximum": "Or", "fmax": "Or", "multiply": "And", "minimum": "And", "fmin": "And"}  # of bools
_ROUNDING = ("floor", "ceil", "trunc", "round")  # integers stay as they are
_TAKE_COMPLEX = {
    "negative", "square", "abs", "sign", "reciprocal", "conj", "real", "imag", "angle", "logical_not", "isnan", "isinf", "isfinite", "add",
    "subtract", "multiply", "divide", "equal", "not_equal", "logical_and", "logical_or", "logical_xor", "where", "cast",
}  # fmt: skip
_BLOCK = 256
_LARGEST = 4000  # bytes of a kernel's parameters, of which CUDA promises 4096


class Operand(NamedTuple):
    """What a chain reads. `value`: the bytes of one element that is known; else it lies in memory."""

    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    value: bytes | None = None


NodeOf = tuple[Op, tuple[int | None, ...], tuple[Any, ...], DType]  # op, numbers of the values it takes, attributes, dtype of the result


def expression(op: Op, dtypes: Sequence[DType | None], attrs: tuple[Any, ...], result: DType, values: Sequence[str | None]) -> str | None:
    """The C++ of one node; None where it cannot be part of a chain."""
    name, known = op.name, [dtype.name for dtype in dtypes if dtype is not None]
    arguments = ", ".join(value for value in values if value is not None)
    if not known or (family_of(op) not in ("elementwise", "activation") and name != "cast"):
        return None
    first = known[-1] if name == "where" else known[0]
    if first in _COMPLEX and name not in _TAKE_COMPLEX:
        return None
    if name == "cast":
        return arguments if first == result.name else f"Cast<arithmetic_t<{_TYPES[result.name]}>>()({arguments})"
    if name in ("floor_divide", "remainder"):
        # Of integers they report a division by zero, which needs the op's own kernel.
        return None if first in _INTEGERS else f"{_camel(name)}{{{{nullptr, 0}}}}({arguments})"
    if first in _INTEGERS and name in _ROUNDING:
        return arguments
    if first not in _COMPLEX and name in ("conj", "real"):
        return arguments
    if first not in _COMPLEX and name == "imag":
        return f"Zero()({arguments})"
    if first == "bool" and name in _LOGIC:
        return f"{_LOGIC[name]}()({arguments})"
    if name == "clip":
        x, low, high = values
        bounded = f"AtLeast()({x}, {low})" if low is not None else str(x)
        return f"AtMost()({bounded}, {high})" if high is not None else bounded
    if name in ("gelu", "gelu_vjp"):
        functor = f"{'TanhGelu' if attrs[0] else 'Gelu'}{'Vjp' if name == 'gelu_vjp' else ''}"
        return f"{functor}{'()' if name == 'gelu_vjp' else '{0, 0}'}({arguments})"
    if name == "polygamma":
        return None
    if family_of(op) == "activation" and not name.endswith("_vjp") and name != "prelu":
        numbers = [_number(float(value)) for value in attrs]
        first_and_last = [numbers[0] if numbers else "0", numbers[-1] if len(numbers) > 1 else "0"]
        return f"{_camel(name)}{{{', '.join(first_and_last)}}}({arguments})"
    return None if attrs else f"{_camel(name)}()({arguments})"


def _camel(name: str) -> str:
    return _NAMES.get(name) or "".join(word.capitalize() for word in name.split("_"))


def _number(value: float) -> str:
    if value != value:
        return "double(NAN)"
    if value in (float("inf"), -float("inf")):
        return "double(INFINITY)" if value > 0 else "-double(INFINITY)"
    return value.hex()


class _Text(NamedTuple):
    """A chain that was written down.

    Attributes:
        source: the kernels `wide`, which takes `width` elements a thread, and `plain`, which takes one.
        parameters: the bytes of their one parameter, with places for pointers.
        outputs, inputs: where in `parameters` the pointer of each belongs, and of how many bytes it has to be a multiple for `wide`;
            -1: there is none, the operand is known.
        size: elements.
    """

    source: str
    parameters: bytes
    outputs: list[tuple[int, int]]
    inputs: list[tuple[int, int]]
    size: int
    width: int


def generated(nodes: Sequence[NodeOf], inputs: Sequence[Operand], outputs: Sequence[int], shape: Sequence[int]) -> _Text | None:
    """The program of a chain.

    Args:
        nodes: in order; values are numbered, the inputs first, then the results of the nodes.
        inputs: what is read; each broadcasts to `shape`.
        outputs: numbers of the values that are written, to contiguous memory.
        shape: of every node's result.

    Returns:
        None where the chain has a node that no chain takes, or too many operands.
    """
    dtypes = [x.dtype for x in inputs] + [node[3] for node in nodes]
    size = 1
    for n in shape:
        size *= n
    axes, steps = _joined(shape, inputs)
    written = [dtypes[at] for at in outputs]
    in_lines = [x.dtype for x, step in zip(inputs, steps) if x.value is None and step and step[-1] == 1]
    width = max(1, min(8, 16 // min(d.itemsize for d in (*written, *in_lines))))
    kinds = [_kind(x, step, axes, size, width) for x, step in zip(inputs, steps)]
    strided = [i for i, kind in enumerate(kinds) if kind in ("row", "same", "any")]
    index = "uint32_t" if size + _BLOCK * 65536 * 8 < 1 << 31 else "int64_t"

    lines: list[str] = []
    for number, (op, taken, attrs, result) in enumerate(nodes, len(inputs)):
        names = [None if at is None else f"v{at}" for at in taken]
        found = expression(op, [None if at is None else dtypes[at] for at in taken], attrs, result, names)
        if found is None:
            return None
        kind = _TYPES[result.name]
        lines += [f"const {kind} t{number} = narrow<{kind}>({found});", f"const auto v{number} = load(&t{number});"]

    # The parameter: constants, then numbers, then pointers; everything on a multiple of what it needs.
    fields: list[str] = []
    data = bytearray()
    constants = [i for i, kind in enumerate(kinds) if kind == "known"]
    if constants:
        fields.append(f"alignas(16) unsigned char constants[{len(constants)}][16];")
        for i in constants:
            data += (inputs[i].value or b"").ljust(16, b"\0")
    numbers = [size]
    fields.append("int64_t size;")
    if strided:
        fields.append(f"int64_t shape[{len(axes)}], strides[{len(strided)}][{len(axes)}];")
        numbers += [*axes, *(step for i in strided for step in steps[i])]
    data += struct.pack(f"<{len(numbers)}q", *numbers)
    put: list[tuple[int, int]] = []
    for k, dtype in enumerate(written):
        fields.append(f"{_TYPES[dtype.name]} *out{k};")
        put.append((len(data), min(16, width * dtype.itemsize)))
        data += bytes(8)
    got: list[tuple[int, int]] = []
    for i, (x, kind) in enumerate(zip(inputs, kinds)):
        if kind == "known":
            got.append((-1, 1))
            continue
        fields.append(f"const {_TYPES[x.dtype.name]} *x{i};")
        got.append((len(data), min(16, width * x.dtype.itemsize) if kind in ("flat", "row") else 1))
        data += bytes(8)
    if len(data) > _LARGEST:
        return None

    def block(text: Sequence[str], indent: int) -> str:
        return "\n".join(" " * indent + line for line in text)

    def same_for_all(i: int) -> str:
        kind = _TYPES[inputs[i].dtype.name]
        if kinds[i] == "known":
            return f"const auto v{i} = load(reinterpret_cast<const {kind} *>(c.constants[{constants.index(i)}]));"
        return f"const auto v{i} = load(c.x{i});"

    shared = [same_for_all(i) for i, kind in enumerate(kinds) if kind in ("known", "one")]
    place = [f"int64_t at[{len(strided)}];", "places(c, i, at);"] if strided else []
    one = [*shared, *place]
    for i, kind in enumerate(kinds):
        if kind not in ("known", "one"):
            one.append(f"const auto v{i} = load(c.x{i} + {f'at[{strided.index(i)}]' if i in strided else 'i'});")
    results = [f"t{at}" if at >= len(inputs) else f"narrow<{_TYPES[dtypes[at].name]}>(v{at})" for at in outputs]
    one += [*lines, *(f"c.out{k}[i] = {result};" for k, result in enumerate(results))]

    before: list[str] = [*shared]
    within: list[str] = []
    for i, (x, kind) in enumerate(zip(inputs, kinds)):
        pack = f"Pack<{_TYPES[x.dtype.name]}, {width}>"
        if kind == "flat":
            before += [f"{pack} p{i};", f"read_words<{width}>(c.x{i} + i, p{i}.v);"]
        elif kind == "row":
            before += [f"{pack} p{i};", f"read_words<{width}>(c.x{i} + at[{strided.index(i)}], p{i}.v);"]
        elif kind == "same":
            before.append(f"const auto v{i} = load(c.x{i} + at[{strided.index(i)}]);")
        elif kind == "any":
            before.append(f"{pack} p{i};")
        if kind in ("flat", "row", "any"):
            within.append(f"const auto v{i} = load(&p{i}.v[k]);")
    if any(kinds[i] in ("row", "same") for i in strided):
        before = [*place, *before]
    scattered = [i for i in strided if kinds[i] == "any"]
    if scattered:
        inner = [f"p{i}.v[k] = c.x{i}[each[{strided.index(i)}]];" for i in scattered]
        before += [f"for (int k = 0; k < {width}; ++k) {{", f"  int64_t each[{len(strided)}];", f"  places(c, i + {index}(k), each);"]
        before += [*(f"  {line}" for line in inner), "}"]
    before += [f"Pack<{_TYPES[dtype.name]}, {width}> r{k};" for k, dtype in enumerate(written)]
    within += [*lines, *(f"r{k}.v[k] = {result};" for k, result in enumerate(results))]
    after = [f"write_words<{width}>(c.out{k} + i, r{k}.v);" for k in range(len(outputs))]

    find: list[str] = []
    for axis in reversed(range(len(axes)) if strided else ()):
        last = axis == 0
        find.append(f"const {index} q{axis} = {'i' if axis == len(axes) - 1 else f'q{axis + 1} / {index}(c.shape[{axis + 1}])'};")
        rest = f"q{axis}" if last else f"q{axis} % {index}(c.shape[{axis}])"
        find += [f"at[{s}] {'=' if axis == len(axes) - 1 else '+='} int64_t({rest}) * c.strides[{s}][{axis}];" for s in range(len(strided))]
    places = f"WRY_GPU void places(const Chain &c, {index} i, int64_t (&at)[{len(strided)}]) {{\n{block(find, 2)}\n}}\n" if strided else ""
    source = f"""#define WRY_FUNCTIONS_ONLY
#include "packs.h"
{"".join(f'#include "{family}.cu"' + chr(10) for family in _FAMILIES)}
namespace wherry {{
namespace cuda {{
namespace {{

struct Chain {{
{block(fields, 2)}
}};
template <typename T, int N>
struct Pack {{
  T v[N];
}};
{places}
WRY_GPU void one(const Chain &c, {index} i) {{
{block(one, 2)}
}}
WRY_GPU void several(const Chain &c, {index} i) {{
{block(before, 2)}
#pragma unroll
  for (int k = 0; k < {width}; ++k) {{
{block(within, 4)}
  }}
{block(after, 2)}
}}

}}  // namespace
}}  // namespace cuda
}}  // namespace wherry

extern "C" __global__ void __launch_bounds__({_BLOCK}) wide(wherry::cuda::Chain c) {{
  const {index} size = {index}(c.size), step = {index}(gridDim.x) * {_BLOCK * width};
  for ({index} i = ({index}(blockIdx.x) * {_BLOCK} + threadIdx.x) * {width}; i < size; i += step) {{
    if (i + {width} <= size) wherry::cuda::several(c, i);
    else
      for ({index} last = i; last < size; ++last) wherry::cuda::one(c, last);
  }}
}}
extern "C" __global__ void __launch_bounds__({_BLOCK}) plain(wherry::cuda::Chain c) {{
  const {index} size = {index}(c.size), step = {index}(gridDim.x) * {_BLOCK};
  for ({index} i = {index}(blockIdx.x) * {_BLOCK} + threadIdx.x; i < size; i += step) wherry::cuda::one(c, i);
}}
"""
    return _Text(source, bytes(data), put, got, size, width)


def _joined(shape: Sequence[int], inputs: Sequence[Operand]) -> tuple[list[int], list[list[int]]]:
    """Sizes of the axes that are left when those which lie evenly in all operands are one, and the strides of each operand along them."""
    rank = len(shape)
    axes: list[int] = []
    steps: list[list[int]] = [[] for _ in inputs]
    for axis in range(rank):
        n = shape[axis]
        if n == 1:
            continue
        own = []
        for x in inputs:
            at = axis - (rank - len(x.shape))
            own.append(0 if at < 0 or x.shape[at] == 1 else x.strides[at])
        if axes and all(mine[-1] == step * n for mine, step in zip(steps, own)):
            axes[-1] *= n
            for mine, step in zip(steps, own):
                mine[-1] = step
        else:
            axes.append(n)
            for mine, step in zip(steps, own):
                mine.append(step)
    return axes, steps


def _kind(x: Operand, steps: list[int], axes: list[int], size: int, width: int) -> str:
    """How an operand is read.

    "known", "one" for all, "flat" as the results lie; of a broadcast one several neighbours ("row"), the same for several ("same"), or "any".
    """
    if x.value is not None:
        return "known"
    if not any(steps):
        return "one"
    contiguous, step = True, 1
    for n, own in zip(reversed(axes), reversed(steps)):
        contiguous = contiguous and own == step
        step *= n
    if contiguous:
        return "flat"
    if axes[-1] % width == 0 and steps[-1] == 0:
        return "same"
    if axes[-1] % width == 0 and steps[-1] == 1 and all(own % width == 0 for own in steps[:-1]):
        return "row"
    return "any"


class Chain:
    """A chain that was compiled: a kernel and its parameters.

    Attributes:
        kernel: the address of a `wry_kernel`.
        address: what it finds in `call->data`.
        name: of its ops.
    """

    def __init__(self, library: ctypes.CDLL, module: int, text: _Text, name: str) -> None:
        self._library, self.name = library, name

        def pairs(items: list[tuple[int, int]]) -> Any:
            return (ctypes.c_int32 * (2 * len(items)))(*(number for item in items for number in item))

        self.kernel = ctypes.cast(library.wry_cuda_chain_kernel, ctypes.c_void_p).value
        self.address = library.wry_cuda_chain_make(
            ctypes.c_void_p(module), text.parameters, len(text.parameters), len(text.outputs), pairs(text.outputs), len(text.inputs),
            pairs(text.inputs), ctypes.c_int64(text.size), text.width, name.encode(),
        )

    def __del__(self) -> None:
        if getattr(self, "address", None):
            self._library.wry_cuda_chain_free(ctypes.c_void_p(self.address))


class Chains:
    """What makes chains for the GPUs of this process.

    Args:
        library: of the kernels.
        compiler: NVRTC.
        architecture: gives "sm_90" or the like for the number of a GPU.
    """

    def __init__(self, library: ctypes.CDLL, compiler: nvrtc.Compiler, architecture: Any) -> None:
        library.wry_cuda_chain_load.restype = library.wry_cuda_chain_make.restype = ctypes.c_void_p
        self.library, self.compiler, self.architecture = library, compiler, architecture
        # What the families' files begin with, less what is the host's.
        self.headers = {"common.h": (_CSRC / "values.h").read_text(), "pointwise.h": '#include "common.h"'}
        for name in ("rtc.h", "faults.h", "packs.h", *(f"{family}.cu" for family in _FAMILIES)):
            self.headers[name] = (_CSRC / name).read_text()
        self.headers["stdint.h"] = ""
        self._modules: dict[tuple[str, str], int | None] = {}  # source and architecture -> the loaded library

    def takes(self, op: Op, dtypes: Sequence[DType | None], attrs: tuple[Any, ...], result: DType) -> bool:
        """Whether a node can be part of a chain."""
        return expression(op, dtypes, attrs, result, ["x" if dtype is not None else None for dtype in dtypes]) is not None

    def make(
        self, nodes: Sequence[NodeOf], inputs: Sequence[tuple[Any, ...]], outputs: Sequence[int], shape: Sequence[int], device: int
    ) -> Chain | None:
        """The chain for these operands, on the GPU of this number. None: the ops have to run one by one.

        Arguments are those of `generated`, operands as tuples.
        """
        text = generated(nodes, [Operand(*x) for x in inputs], outputs, shape)
        if text is None:
            return None
        module = self._module(text.source, self.architecture(device))
        return None if module is None else Chain(self.library, module, text, "+".join(node[0].name for node in nodes))

    def options(self, architecture: str) -> list[str]:
        """Those that chains are compiled with. What is a product and a sum in two ops stays so: fused, they would round once."""
        return [f"--gpu-architecture={architecture}", "--std=c++17", "--fmad=false", "--device-as-default-execution-space"]

    def _module(self, source: str, architecture: str) -> int | None:
        key = (source, architecture)
        if key not in self._modules:
            self._modules[key] = None
            headers = self.headers
            if hasattr(self.library, "cuda_emulator_recipe"):  # whose compiler has a standard library
                headers = {name: text for name, text in headers.items() if name != "stdint.h"}
            error = ctypes.create_string_buffer(512)  # WRY_ERROR_SIZE
            try:
                image = self.compiler.image(source, headers, self.options(architecture))
                self._modules[key] = self.library.wry_cuda_chain_load(image, error)
            except RuntimeError as refused:
                error.value = str(refused).encode()[:500]
            if self._modules[key] is None:
                said = error.value.decode(errors="replace")
                warnings.warn(
                    f"wherry-ops-cuda: a chain of element-wise ops could not be compiled, they run one by one. {said}", RuntimeWarning, stacklevel=2
                )
        return self._modules[key]
