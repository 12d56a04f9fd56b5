"""Element-wise chains as one kernel each: CUDA C++ that is written here and compiled at run time.

A chain reads its operands once and writes its results once; what lies between stays in registers. Each node rounds its value as
the op by itself does and calls the same function of the same source, so a chain gives the bits of its ops one by one.
"""
from __future__ import annotations

import ctypes
import math
import struct
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wherry_ops_cuda import nvrtc
from wherry_tensor import get_include  # type: ignore[attr-defined]  # stubs list what users call
from wherry_tensor._core import DType, Op

__all__ = ["Chain", "Chains", "Functors", "Operand", "expression", "generated"]

_CSRC = Path(__file__).parent / "csrc"
_FAMILIES = ("elementwise", "activation", "arithmetic", "comparison", "cast")
_TYPES = {
    "bool": "bool", "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "float16": "half",
    "bfloat16": "bfloat16", "float32": "float", "float64": "double", "complex64": "complex64", "complex128": "complex128",
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


def expression(functor: str | None, attrs: tuple[Any, ...], result: DType, values: Sequence[str | None]) -> str | None:
    """The C++ of one node; None where it cannot be part of a chain.

    Args:
        functor: what the row of the op's kernel names (WRY_ROW in csrc/common.h).
        attrs: of the node; numbers where the functor takes them.
        result: dtype.
        values: the inputs in C++, None for one that is absent.
    """
    if functor is None:
        return None
    if "$first" in functor:
        numbers = [_number(float(value)) for value in attrs] or ["0"]
        functor = functor.replace("$first", numbers[0]).replace("$last", numbers[-1] if len(numbers) > 1 else "0")
    arguments = ", ".join("Absent()" if value is None else value for value in values)
    return f"{functor.replace('$to', _TYPES[result.name])}({arguments})"


def _number(value: float) -> str:
    if value != value:
        return "double(NAN)"
    if value in (float("inf"), -float("inf")):
        return "double(INFINITY)" if value > 0 else "-double(INFINITY)"
    return value.hex()


class Functors:
    """What chains call for the ops of a library of kernels: the functor that each row of its tables names."""

    def __init__(self, library: ctypes.CDLL) -> None:
        library.wry_cuda_functor.restype = ctypes.c_char_p
        self._library = library
        self._known: dict[tuple[str, int], str | None] = {}

    def __call__(self, op: Op, dtypes: Sequence[DType | None]) -> str | None:
        """That of the row which serves inputs of these dtypes (None: absent); None where no chain takes it."""
        first = next((dtype for dtype in dtypes if dtype is not None), None)
        if first is None:
            return None
        key = (op.name, first.code)
        if key not in self._known:
            found = self._library.wry_cuda_functor(op.name.encode(), ctypes.c_int32(first.code))
            self._known[key] = None if found is None else found.decode()
        return self._known[key]


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


class _Layout(NamedTuple):
    """How the elements of a chain are read and written.

    Attributes:
        inputs: the operands; `kinds` says how each is read (`_kind`), `steps` its strides along `axes`.
        written: dtypes of the results, which are contiguous.
        axes: sizes of the axes that are left (`_joined`).
        size: elements of a result; `width` of them are a thread's at a time.
        index_type: the C++ type that counts them.
    """

    inputs: Sequence[Operand]
    kinds: list[str]
    steps: list[list[int]]
    written: list[DType]
    axes: list[int]
    size: int
    width: int
    index_type: str

    @property
    def strided(self) -> list[int]:
        """Numbers of the operands whose places are computed, in the order of `at`."""
        return [i for i, kind in enumerate(self.kinds) if kind in ("row", "same", "any")]

    @property
    def constants(self) -> list[int]:
        return [i for i, kind in enumerate(self.kinds) if kind == "known"]

    def read_once(self) -> list[str]:
        """Operands that are the same for all elements."""
        lines = []
        for i, (x, kind) in enumerate(zip(self.inputs, self.kinds)):
            if kind == "known":
                place = f"c.constants[{self.constants.index(i)}]"
                lines.append(f"const auto v{i} = load(reinterpret_cast<const {_TYPES[x.dtype.name]} *>({place}));")
            elif kind == "one":
                lines.append(f"const auto v{i} = load(c.x{i});")
        return lines

    def find_places(self) -> list[str]:
        return [f"int64_t at[{len(self.strided)}];", "places(c, i, at);"] if self.strided else []

    def at(self, i: int) -> str:
        return f"at[{self.strided.index(i)}]"


def generated(
    nodes: Sequence[NodeOf], inputs: Sequence[Operand], outputs: Sequence[int], shape: Sequence[int], functors: Functors
) -> _Text | None:
    """The program of a chain.

    Args:
        nodes: in order; values are numbered, the inputs first, then the results of the nodes.
        inputs: what is read; each broadcasts to `shape`.
        outputs: numbers of the values that are written, to contiguous memory.
        shape: of every node's result.
        functors: of the library that will run it.

    Returns:
        None where the chain has a node that no chain takes, or too many operands.
    """
    dtypes = [x.dtype for x in inputs] + [node[3] for node in nodes]
    lines = _computed(nodes, dtypes, len(inputs), functors)
    if lines is None:
        return None
    layout = _laid_out(inputs, [dtypes[at] for at in outputs], shape)
    fields, data, put, got = _parameters(layout)
    if len(data) > _LARGEST:
        return None
    results = [f"t{at}" if at >= len(inputs) else f"narrow<{_TYPES[dtypes[at].name]}>(v{at})" for at in outputs]
    one, several = _one_element(layout, lines, results), _several_elements(layout, lines, results)
    return _Text(_program(layout, fields, _places(layout), one, several), data, put, got, layout.size, layout.width)


def _computed(nodes: Sequence[NodeOf], dtypes: Sequence[DType], n_inputs: int, functors: Functors) -> list[str] | None:
    """The nodes as C++: of each the number `t` as its op stores it, and `v` in the arithmetic of what follows."""
    lines: list[str] = []
    for number, (op, taken, attrs, result) in enumerate(nodes, n_inputs):
        names = [None if at is None else f"v{at}" for at in taken]
        found = expression(functors(op, [None if at is None else dtypes[at] for at in taken]), attrs, result, names)
        if found is None:
            return None
        kind = _TYPES[result.name]
        lines += [f"const {kind} t{number} = narrow<{kind}>({found});", f"const auto v{number} = load(&t{number});"]
    return lines


def _laid_out(inputs: Sequence[Operand], written: list[DType], shape: Sequence[int]) -> _Layout:
    size = math.prod(shape)
    axes, steps = _joined(shape, inputs)
    in_lines = [x.dtype for x, step in zip(inputs, steps) if x.value is None and step and step[-1] == 1]
    width = max(1, min(8, 16 // min(d.itemsize for d in (*written, *in_lines))))
    kinds = [_kind(x, step, axes, size, width) for x, step in zip(inputs, steps)]
    index = "uint32_t" if size + _BLOCK * 65536 * 8 < 1 << 31 else "int64_t"
    return _Layout(inputs, kinds, steps, written, axes, size, width, index)


def _parameters(layout: _Layout) -> tuple[list[str], bytes, list[tuple[int, int]], list[tuple[int, int]]]:
    """The kernel's parameter: constants, then numbers, then pointers; everything on a multiple of what it needs.

    Returns:
        Its fields in C++, its bytes, and `outputs` and `inputs` of `_Text`.
    """
    fields: list[str] = []
    data = bytearray()
    if layout.constants:
        fields.append(f"alignas(16) unsigned char constants[{len(layout.constants)}][16];")
        for i in layout.constants:
            data += (layout.inputs[i].value or b"").ljust(16, b"\0")
    numbers = [layout.size]
    fields.append("int64_t size;")
    if layout.strided:
        fields.append(f"int64_t shape[{len(layout.axes)}], strides[{len(layout.strided)}][{len(layout.axes)}];")
        numbers += [*layout.axes, *(step for i in layout.strided for step in layout.steps[i])]
    data += struct.pack(f"<{len(numbers)}q", *numbers)
    put: list[tuple[int, int]] = []
    for k, dtype in enumerate(layout.written):
        fields.append(f"{_TYPES[dtype.name]} *out{k};")
        put.append((len(data), min(16, layout.width * dtype.itemsize)))
        data += bytes(8)
    got: list[tuple[int, int]] = []
    for i, (x, kind) in enumerate(zip(layout.inputs, layout.kinds)):
        if kind == "known":
            got.append((-1, 1))
            continue
        fields.append(f"const {_TYPES[x.dtype.name]} *x{i};")
        got.append((len(data), min(16, layout.width * x.dtype.itemsize) if kind in ("flat", "row") else 1))
        data += bytes(8)
    return fields, bytes(data), put, got


def _one_element(layout: _Layout, lines: list[str], results: list[str]) -> list[str]:
    """The body of `one`, which computes element i."""
    body = [*layout.read_once(), *layout.find_places()]
    for i, kind in enumerate(layout.kinds):
        if kind not in ("known", "one"):
            body.append(f"const auto v{i} = load(c.x{i} + {layout.at(i) if i in layout.strided else 'i'});")
    return [*body, *lines, *(f"c.out{k}[i] = {result};" for k, result in enumerate(results))]


def _several_elements(layout: _Layout, lines: list[str], results: list[str]) -> list[str]:
    """The body of `several`: reads packs, computes `width` elements from i on, writes packs."""
    width, kinds, strided = layout.width, layout.kinds, layout.strided
    before = [*layout.find_places()] if any(kinds[i] in ("row", "same") for i in strided) else []
    before += layout.read_once()
    within: list[str] = []
    for i, (x, kind) in enumerate(zip(layout.inputs, kinds)):
        pack = f"Pack<{_TYPES[x.dtype.name]}, {width}> p{i};"
        if kind in ("flat", "row"):
            before += [pack, f"read_words<{width}>(c.x{i} + {layout.at(i) if kind == 'row' else 'i'}, p{i}.v);"]
        elif kind == "same":
            before.append(f"const auto v{i} = load(c.x{i} + {layout.at(i)});")
        elif kind == "any":
            before.append(pack)
        if kind in ("flat", "row", "any"):
            within.append(f"const auto v{i} = load(&p{i}.v[k]);")
    scattered = [i for i in strided if kinds[i] == "any"]
    if scattered:
        before += [f"for (int k = 0; k < {width}; ++k) {{", f"  int64_t each[{len(strided)}];", f"  places(c, i + {layout.index_type}(k), each);"]
        before += [*(f"  p{i}.v[k] = c.x{i}[each[{strided.index(i)}]];" for i in scattered), "}"]
    before += [f"Pack<{_TYPES[dtype.name]}, {width}> r{k};" for k, dtype in enumerate(layout.written)]
    within += [*lines, *(f"r{k}.v[k] = {result};" for k, result in enumerate(results))]
    after = [f"write_words<{width}>(c.out{k} + i, r{k}.v);" for k in range(len(results))]
    loop = ["#pragma unroll", f"for (int k = 0; k < {width}; ++k) {{", *(f"  {line}" for line in within), "}"]
    return [*before, *loop, *after]


def _places(layout: _Layout) -> str:
    """The function `places`, which finds element i in every operand that is read with strides; none where there is no such operand."""
    if not layout.strided:
        return ""
    index, last = layout.index_type, len(layout.axes) - 1
    find: list[str] = []
    for axis in range(last, -1, -1):
        find.append(f"const {index} q{axis} = {'i' if axis == last else f'q{axis + 1} / {index}(c.shape[{axis + 1}])'};")
        rest = f"q{axis} % {index}(c.shape[{axis}])" if axis else f"q{axis}"
        sign = "=" if axis == last else "+="
        find += [f"at[{s}] {sign} int64_t({rest}) * c.strides[{s}][{axis}];" for s in range(len(layout.strided))]
    return f"WRY_GPU void places(const Chain &c, {index} i, int64_t (&at)[{len(layout.strided)}]) {{\n{_block(find)}\n}}\n"


def _block(lines: Sequence[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _program(layout: _Layout, fields: list[str], places: str, one: list[str], several: list[str]) -> str:
    index, width = layout.index_type, layout.width
    return f"""#define WRY_FUNCTIONS_ONLY
#include "packs.h"
{"".join(f'#include "{family}.cu"' + chr(10) for family in _FAMILIES)}
namespace wherry {{
namespace cuda {{
namespace {{

struct Chain {{
{_block(fields)}
}};
template <typename T, int N>
struct Pack {{
  T v[N];
}};
{places}
WRY_GPU void one(const Chain &c, {index} i) {{
{_block(one)}
}}
WRY_GPU void several(const Chain &c, {index} i) {{
{_block(several)}
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
        self.functors = Functors(library)
        # What the families' files begin with, less what is the host's.
        self.headers = {"common.h": (_CSRC / "values.h").read_text(), "pointwise.h": '#include "common.h"'}
        for name in ("rtc.h", "faults.h", "packs.h", *(f"{family}.cu" for family in _FAMILIES)):
            self.headers[name] = (_CSRC / name).read_text()
        self.headers["wherry/kernels/numbers.h"] = (Path(get_include()) / "wherry" / "kernels" / "numbers.h").read_text()
        self.headers["stdint.h"] = ""
        self._modules: dict[tuple[str, str], int | None] = {}  # source and architecture -> the loaded library

    def takes(self, op: Op, dtypes: Sequence[DType | None], attrs: tuple[Any, ...], result: DType) -> bool:
        """Whether a node can be part of a chain."""
        return self.functors(op, dtypes) is not None

    def make(
        self, nodes: Sequence[NodeOf], inputs: Sequence[tuple[Any, ...]], outputs: Sequence[int], shape: Sequence[int], device: int
    ) -> Chain | None:
        """The chain for these operands, on the GPU of this number. None: the ops have to run one by one.

        Arguments are those of `generated`, operands as tuples.
        """
        text = generated(nodes, [Operand(*x) for x in inputs], outputs, shape, self.functors)
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
