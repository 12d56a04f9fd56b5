"""Mixed precision: programs that compute in 16 bits."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wherry_autograd import no_grad
from wherry_infer.kinds import PlaceType, PrecisionType
from wherry_paddle_files.models import load_model, save_model
from wherry_program.program.capture import capture
from wherry_program.program.ir import Program, Variable
from wherry_program.program.replay import replayed
from wherry_tensor import ops
from wherry_tensor._core import bfloat16, float16, float32
from wherry_tensor.arguments import path_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_train import amp

__all__ = ["convert_to_mixed_precision", "mixed"]


def mixed(program: Program, precision: PrecisionType, keep_io: bool = True, black_list: Iterable[str] = ()) -> Program:
    """The program with products and convolutions in 16 bits, and their weights stored so.

    Args:
        program: it is not changed.
        precision: Half or Bfloat16.
        keep_io: whether inputs and outputs stay in float32.
        black_list: names of ops that stay in float32.
    """
    narrow = {PrecisionType.Half: float16, PrecisionType.Bfloat16: bfloat16}.get(PrecisionType(precision))
    if narrow is None:
        raise InvalidArgumentError(f"mixed precision: got {PrecisionType(precision).name}, expected Half or Bfloat16.")
    out = Program()
    env: dict[int, Any] = {}
    for x in program.feeds:
        env[id(x)] = out.feed(x.sizes, narrow if x.dtype is float32 and not keep_io else x.dtype, x.name)

    def find(x: Variable) -> Any:
        if x.bound is None:
            raise InvalidArgumentError(f"mixed precision: variable '{x.name}' has no value. Got a program without its parameters. Load them first.")
        return x.bound

    with no_grad(), capture(out):
        with amp.auto_cast(True, custom_black_list=set(black_list), level="O1", dtype=narrow.name):
            replayed(program.nodes, env, find)
        results = [env[id(x)] if id(x) in env else find(x) for x in program.fetches]
        wanted = [narrow if x.dtype is float32 and not keep_io else x.dtype for x in program.fetches]
        results = [ops.cast(y, dtype=dtype) if y.dtype is not dtype else y for y, dtype in zip(results, wanted, strict=True)]
    out.fetches = [x if isinstance(x, Variable) else out.bind(x) for x in results]
    return _stored_narrow(out)


def _stored_narrow(program: Program) -> Program:
    """Replace casts of parameters by cast parameters."""
    from wherry_program.passes import dead_code

    narrowed: dict[tuple[int, str], Variable] = {}
    instead: dict[int, Variable] = {}
    kept = []
    for node in program.nodes:
        source = None if node.is_control or node.type != "cast" else node.inputs[0]
        if source is None or source.bound is None:
            kept.append(node)
            continue
        out = node.outputs[0]
        key = (id(source), out.dtype.name)
        if key not in narrowed:
            value = ops.cast(source.bound, dtype=out.dtype)
            value.name, value.persistable = source.name, source.persistable
            narrowed[key] = program.bind(value)
        instead[id(out)] = narrowed[key]
    program.blocks[0].nodes = kept
    for block in program.blocks:
        for node in block.nodes:
            node.inputs = tuple(x if x is None else instead.get(id(x), x) for x in node.inputs)
        block.outputs = [instead.get(id(x), x) for x in block.outputs]
    program.fetches = [instead.get(id(x), x) for x in program.fetches]
    return dead_code(program)


def convert_to_mixed_precision(
    model_file: str, params_file: str, mixed_model_file: str, mixed_params_file: str, mixed_precision: PrecisionType,
    backend: PlaceType, keep_io_types: bool = True, black_list: Iterable[str] = frozenset(), **kwargs: Any,
) -> None:
    """Write a model that computes in 16 bits.

    Args:
        model_file: the program, `.pdmodel`.
        params_file: its parameters, `.pdiparams`.
        mixed_model_file: where the new program goes.
        mixed_params_file: where the new parameters go.
        mixed_precision: Half or Bfloat16.
        backend: the device for which it is; here all take the same program.
        keep_io_types: whether inputs and outputs stay in float32.
        black_list: names of ops that stay in float32.
        kwargs: no effect.

    Raises:
        ValueError: `mixed_precision` is neither Half nor Bfloat16, `backend` is not a PlaceType, or the files are damaged.
        TypeError: `black_list` is not a set of names, or a file name is not a path (also a ValueError).
        FileNotFoundError: there is no `model_file`.

    Source:
        `paddle.inference.convert_to_mixed_precision`.

    Examples:
        >>> import os, tempfile
        >>> from wherry.inference import PlaceType, PrecisionType, convert_to_mixed_precision
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.jit.save(wherry.nn.Linear(8, 8), folder + "/net", input_spec=[wherry.static.InputSpec([None, 8], name="x")])
        ...     convert_to_mixed_precision(folder + "/net.pdmodel", folder + "/net.pdiparams", folder + "/half.pdmodel",
        ...                                folder + "/half.pdiparams", PrecisionType.Half, PlaceType.CPU)
        ...     os.path.getsize(folder + "/half.pdiparams") < os.path.getsize(folder + "/net.pdiparams")
        True
    """
    if not isinstance(backend, int) or backend not in list(PlaceType):
        raise InvalidArgumentError(
            f"convert_to_mixed_precision: backend is not a PlaceType. Got {short(backend)}, expected one of PlaceType, as PlaceType.CPU."
        )
    if isinstance(black_list, str) or not isinstance(black_list, Iterable) or not all(isinstance(name, str) for name in black_list):
        raise InvalidTypeError(f"convert_to_mixed_precision: black_list is not a set of op names. Got {short(black_list)}, expected a set of str.")
    for name, path in (
        ("model_file", model_file), ("params_file", params_file),
        ("mixed_model_file", mixed_model_file), ("mixed_params_file", mixed_params_file),
    ):  # fmt: skip
        path_of(path, "convert_to_mixed_precision", name)
    program = mixed(load_model("", model_path=model_file, params_path=params_file), mixed_precision, keep_io_types, black_list)
    save_model("", program, model_path=mixed_model_file, params_path=mixed_params_file)


explained(globals())
