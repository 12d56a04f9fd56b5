"""Models as files: a program with its parameters.

    save_model("lenet", program, feeds, fetches)      # lenet.pdmodel, lenet.pdiparams, lenet.pdiparams.info
    program = load_model("lenet")                     # its parameters have their values

Paddle 2.6.2 loads what is saved, and what it saves is loaded. With FLAGS_enable_pir_api, or where the program's file ends in `.json`, what is saved
is a model of Paddle 3.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Any, BinaryIO

from wherry_nn import Parameter
from wherry_paddle_files import desc, pir
from wherry_paddle_files.params import load_params, mark_of, params_of, write_params
from wherry_paddle_files.pir_writing import Writer3, text_of
from wherry_paddle_files.reading import program_of
from wherry_paddle_files.writing import RESULT, Writer
from wherry_program.passes.evaluation import as_in_evaluation
from wherry_program.program.ir import Program, StaticParameter, Variable
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.flags import get_flags
from wherry_tensor.protobuf import ModelFileError
from wherry_train.atomic_files import finish_replacing, replace_files
from wherry_train.pickle_reader import FileFormatError, PickleReader
from wherry_train.pickle_writer import PickleWriter, bytes_of

__all__ = [
    "at_sizes", "endings", "files_again", "files_of_model", "have_other_ranks", "load_model", "model_at", "read_program", "replace_models",
    "save_model", "write_program",
]

Files = list[tuple[str, Callable[[BinaryIO], Any] | None]]
OF_PADDLE_1 = "__model__"  # the program in a folder
MODEL, MODEL_3, PARAMS, INFO = ".pdmodel", ".json", ".pdiparams", ".pdiparams.info"
_KEPT = 16  # programs for other sizes
_BUFFER = 1 << 13  # said, so that nobody asks whether the file is a terminal
_SMALL = 1 << 19  # bytes of a file that one call reads in less time than several


def read_program(data: bytes) -> Program:
    """The program of a `.pdmodel`. Its parameters are variables without values.

    Args:
        data: the content of the file.

    Returns:
        A program whose `feeds` and `fetches` are those of the file.

    Raises:
        ModelFileError: a ValueError: the bytes are not a program, or one whose operators do not fit together.
        UnreadableOp: a ValueError and a NotImplementedError: an operator that no rule reads; the message says where to add one.
    """
    return program_of(_described(data))


def endings() -> tuple[str, str]:
    """What names of programs end in, that of the format which is saved first: Paddle 3's with FLAGS_enable_pir_api, else Paddle 2's."""
    return (MODEL_3, MODEL) if get_flags("FLAGS_enable_pir_api")["FLAGS_enable_pir_api"] else (MODEL, MODEL_3)


def _described(data: bytes) -> desc.ProgramDesc:
    """The description of a program, of Paddle 2 or 3."""
    return pir.parse(data) if pir.is_program(data) else desc.parse(data)


def write_program(program: Program, feeds: Sequence[Variable] | None = None, fetches: Sequence[Variable] | None = None) -> bytes:
    """The program as the content of a `.pdmodel`; with FLAGS_enable_pir_api of a `.json`.

    Large constants need a file of parameters: `save_model` writes both.

    Args:
        program: it is not changed.
        feeds: variables that are given values, in order; None takes `program.feeds`.
        fetches: variables whose values are the result, in order; None takes `program.fetches`.

    Raises:
        NotImplementedError: an op has neither a rule in the column `paddle` nor a decomposition.
    """
    if endings()[0] == MODEL_3:
        return text_of(_written(program, feeds, fetches, writes=Writer3)[0])
    return desc.serialize(_written(program, feeds, fetches)[0])


def write_bare(program: Program, fetches: Sequence[Variable]) -> bytes:
    """The program as the content of a `.pdmodel` without the operators that feed and fetch, as it is described.

    Args:
        program: it is not changed.
        fetches: variables that are kept, with what they need.

    Raises:
        NotImplementedError: an op has neither a rule in the column `paddle` nor a decomposition.
    """
    written = _written(program, [x for x in program.feeds if x.name in program.blocks[0].vars], fetches)[0]
    block = written.blocks[0]
    results = {name for op in block.ops if op.type == "fetch" for slot in op.inputs for name in slot.arguments if name.startswith(RESULT)}
    block.ops = [
        op for op in block.ops
        if op.type not in ("feed", "fetch") and not any(name in results for slot in op.outputs for name in slot.arguments)
    ]
    block.vars = [x for x in block.vars if x.name not in results and x.name not in ("feed", "fetch")]
    return desc.serialize(written)


def _written(
    program: Program, feeds: Sequence[Variable] | None, fetches: Sequence[Variable] | None, for_prediction: bool = False,
    writes: type[Writer] = Writer,
) -> tuple[desc.ProgramDesc, dict[str, Tensor]]:
    import wherry_paddle_files.ops  # noqa: F401  the rules

    feeds = program.feeds if feeds is None else feeds
    fetches = program.fetches if fetches is None else fetches
    copied, new = program.copy()
    if for_prediction:
        as_in_evaluation(copied, keep_dropout=True)
    writer = writes(copied, for_prediction)
    written = writer.write([new[id(x)] for x in feeds], [new[id(x)] for x in fetches])
    return written, writer.params


def save_model(
    prefix: str, program: Program, feeds: Sequence[Variable] | None = None, fetches: Sequence[Variable] | None = None,
    params: Mapping[str, Tensor] | None = None, info: Mapping[str, Mapping[str, Any]] | None = None, *, model_path: str | None = None,
    params_path: str | None = None, for_prediction: bool = False,
) -> None:
    """Save a program with its parameters.

    The files are replaced together: whatever ends the process, `load_model` finds the old model or the new one.

    Args:
        prefix: of the names of the files; missing folders are made.
        program: it is not changed.
        feeds: as in `write_program`.
        fetches: as in `write_program`.
        params: values of parameters by name; None takes those that the variables are bound to.
        info: what `.pdiparams.info` says of each parameter ("structured_name", "stop_gradient", "trainable"); None writes no such file.
        model_path: of the program, if not `prefix` with the first of `endings`; one that ends in `.json` is a program of Paddle 3.
        params_path: of the parameters, if not `prefix` with `.pdiparams`.
        for_prediction: write dropout and batch normalization as they predict, and how they would train.

    Raises:
        NotImplementedError: an op cannot be written.
        ValueError: a parameter has no value.
        OSError: a file cannot be written; what was there before is there still.
    """
    replace_models([
        files_of_model(prefix, program, feeds, fetches, params, info, model_path=model_path, params_path=params_path, for_prediction=for_prediction)
    ])


def files_of_model(
    prefix: str, program: Program, feeds: Sequence[Variable] | None = None, fetches: Sequence[Variable] | None = None,
    params: Mapping[str, Tensor] | None = None, info: Mapping[str, Mapping[str, Any]] | None = None, *, model_path: str | None = None,
    params_path: str | None = None, info_path: str | None = None, for_prediction: bool = False,
) -> Files:
    """The files of `save_model` for `replace_models`, before they are written: paths, with what writes each; None removes one.

    Args and Raises: as `save_model`; info_path: of what `info` says, if not `params_path` with `.info`.
    """
    model_path = model_path or prefix + endings()[0]
    written, constants = _written(program, feeds, fetches, for_prediction, Writer3 if model_path.endswith(MODEL_3) else Writer)
    return _files(prefix, program, written, dict(constants), params, info, model_path, params_path, info_path)


def files_again(prefix: str, program: Program, info: Mapping[str, Mapping[str, Any]] | None = None) -> Files:
    """The files of a program that `load_model` loaded, with the values its parameters have now, for prediction.

    As it was read it has lost how it trains, and what the file said besides; both are in its description, which is written again.

    Args and Raises: as `files_of_model`.
    """
    described = _description_of(program)
    if described is None or isinstance(described, pir.Translated) or endings()[0] == MODEL_3:
        return files_of_model(prefix, program, info=info, for_prediction=True)
    written = desc.parse(desc.serialize(described))
    # Files of earlier versions have their feeds in the order of `col`, which Paddle's jit.load takes from the last.
    ops = written.blocks[0].ops
    feeds = [op for op in ops if op.type == "feed"]
    written.blocks[0].ops = [*sorted(feeds, key=_column, reverse=True), *(op for op in ops if op.type != "feed")]
    for block in written.blocks:
        for op in block.ops:
            for attr in op.attrs:
                if attr.name == "is_test":
                    attr.value = True
    return _files(prefix, program, written, {}, None, info, prefix + MODEL, None, None)


def _column(op: desc.OpDesc) -> int:
    return next((int(attr.value) for attr in op.attrs if attr.name == "col"), 0)


def replace_models(models: Sequence[Files], known_as: str | None = None) -> None:
    """Write the files of several models, which are replaced together as far as they lie in one folder.

    Args:
        models: what `files_of_model` gave for each.
        known_as: the path of the program that readers look for first; None is that of the first model.

    Raises:
        OSError: a file cannot be written; what was there before is there still.
    """
    by_folder: dict[str, Files] = {}
    for path, write in (file for files in models for file in files):
        by_folder.setdefault(os.path.dirname(os.path.realpath(path)), []).append((path, write))
    first = os.path.realpath(known_as or models[0][0][0])
    for folder in sorted(by_folder, key=lambda folder: folder == os.path.dirname(first)):  # programs after their parameters
        replace_files(by_folder[folder], first if folder == os.path.dirname(first) else None)


def _files(
    prefix: str, program: Program, written: desc.ProgramDesc, values: dict[str, Tensor], params: Mapping[str, Tensor] | None,
    info: Mapping[str, Mapping[str, Any]] | None, model_path: str, params_path: str | None, info_path: str | None,
) -> Files:
    _complete(values, program, written, params)
    if model_path.endswith(MODEL_3):
        data, info = text_of(written), None  # Paddle 3 has no file of names
    else:
        written.params_mark = mark_of(values)
        data = desc.serialize(written)
    info_path = info_path or f"{params_path or prefix + PARAMS}.info"
    files: Files = [(model_path, lambda file: file.write(data))]
    if values:
        files.append((params_path or prefix + PARAMS, partial(write_params, params=values, mark=written.params_mark)))
    else:
        files.append((params_path or prefix + PARAMS, None))
    files.append((info_path, None if info is None or not values else partial(_write_info, info=info)))
    return files


def _complete(values: dict[str, Tensor], program: Program, written: desc.ProgramDesc, params: Mapping[str, Tensor] | None) -> None:
    """Give each parameter of a program that is to be written a value."""
    bound = {x.name: x.bound for x in program.blocks[0].vars.values() if x.bound is not None}
    for name in _names_of(written):
        if name in values:
            continue
        value = params.get(name, bound.get(name)) if params is not None else bound.get(name)
        if value is None:
            raise InvalidArgumentError(
                f"save: the parameter '{name}' has no value. Got {len(values)} values, expected one for each of {len(_names_of(written))} "
                f"parameters. Run the startup program, or load the parameters, first."
            )
        values[name] = value


def save_program_beside(model_path: str, program: Program, params_path: str) -> bool:
    """Save a program for prediction whose parameters are in a file already, that of the same program in another format.

    The file of the parameters stays as it is.

    Args:
        model_path: of the program; one that ends in `.json` is a program of Paddle 3.
        program: it is not changed.
        params_path: of the parameters.

    Returns:
        Whether the file holds what this program would have there, tensor by tensor; otherwise nothing is written.

    Raises:
        As `save_model`, and as `load_model` for the parameters.
    """
    written, constants = _written(program, None, None, True, Writer3 if model_path.endswith(MODEL_3) else Writer)
    values = dict(constants)
    _complete(values, program, written, None)
    try:
        found, mark = _read_params(params_path, list(values))
    except ModelFileError:  # more or fewer tensors
        return False
    for name, x in values.items():
        y = found[name]
        if y.dtype is not x.dtype or y.shape != x.shape or bytes_of(y) != bytes_of(x):
            return False
    if model_path.endswith(MODEL_3):
        data = text_of(written)
    else:
        written.params_mark = mark
        data = desc.serialize(written)
    replace_models([[(model_path, lambda file: file.write(data))]])
    return True


def load_model(
    prefix: str, *, model_path: str | None = None, params_path: str | None = None, training: bool | None = None,
    sizes: Mapping[str, Sequence[int]] | None = None, info: bool = True,
) -> Program:
    """Load a program, with the values of its parameters.

    Args:
        prefix: of the names of the files; or a folder as Paddle 1 saved them, with `__model__` and a file for each parameter.
        model_path: of the program, if not `prefix` with one of `endings`.
        params_path: of the parameters, if not `prefix` with `.pdiparams`: a file, or a folder with a file for each parameter.
        training: as in `program_of`.
        sizes: as in `program_of`.
        info: read the `.pdiparams.info` too, where files of layers say which parameters are trained.

    Returns:
        A program whose parameters and buffers are bound to their values.

    Raises:
        ModelFileError: a ValueError: the files are damaged, or do not belong together.
        FileNotFoundError: there are none.
    """
    model_path, params_path = _paths(prefix, model_path, params_path)
    described, values = _described_with_values(model_path, params_path)
    program = program_of(described, training, values, sizes)
    program.__dict__["described"] = described, _extent(program)
    bind_values(program, values, _info_at(params_path) if info else None)
    return program


def model_at(prefix: str) -> str:
    """The file of the program of a model: where there are two, that of the format which is saved."""
    first, second = endings()
    return prefix + (second if os.path.exists(prefix + second) and not os.path.exists(prefix + first) else first)


def _paths(prefix: str, model_path: str | None, params_path: str | None) -> tuple[str, str]:
    if prefix and os.path.isdir(prefix) and not any(os.path.exists(prefix + ending) for ending in endings()):
        return model_path or os.path.join(prefix, OF_PADDLE_1), params_path or prefix
    return model_path or model_at(prefix), params_path or prefix + PARAMS


def load_state(prefix: str, *, model_path: str | None = None, params_path: str | None = None) -> dict[str, Any]:
    """The values of a model's parameters and buffers as arrays, under the names that its layers know them by, else under the program's.

    Args and Raises: as `load_model`; operators are not looked at.
    """
    model_path, params_path = _paths(prefix, model_path, params_path)
    _, values = _described_with_values(model_path, params_path)
    info = _info_at(params_path)
    return {info.get(name, {}).get("structured_name", name): value.numpy() for name, value in values.items()}


def _described_with_values(model_path: str, params_path: str) -> tuple[desc.ProgramDesc, dict[str, Tensor]]:
    for attempt in range(3):
        finish_replacing(model_path)
        stem, _, ending = model_path.rpartition(".")
        whole, _, method = stem.rpartition(".")
        if method.isidentifier():  # of a layer, whose methods were saved together
            finish_replacing(f"{whole}.{ending}")
        data, before = _content(model_path)
        described = _described(data)
        try:
            values, mark = _read_params(params_path, _names_of(described))
        except (OSError, ModelFileError):
            if _stamp(model_path) != before and attempt < 2:
                continue  # another process has saved in the meantime
            raise
        if _stamp(model_path) == before or attempt == 2:
            break
    if described.params_mark is not None and mark != described.params_mark:
        raise ModelFileError(
            f"load: these files do not belong together. Got the program {model_path!r} and the parameters {params_path!r} of another save, "
            f"expected files that were saved together. Copy both from where they come from."
        )
    return described, values


def _info_at(params_path: str) -> dict[str, Any]:
    try:
        with open(f"{params_path}.info", "rb") as file:
            return read_info(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return {}


def in_training(program: Program) -> Program:
    """A program that `load_model` loaded, read once more as it trains; its parameters are the same tensors.

    A program that was not loaded, or that has nothing that trains otherwise, is returned as it is.
    """
    described = _description_of(program)
    if described is None or not any(attr.name == "is_test" for block in described.blocks for op in block.ops for attr in op.attrs):
        return program
    return _read_again(program, described, True)


def at_sizes(program: Program, sizes: Mapping[str, Sequence[int]]) -> Program:
    """A program that `load_model` loaded, for what is fed in these sizes: read once more where it has other ranks for them, else as it is.

    Paddle's `squeeze` of an axis whose size the file does not know removes it if it is 1 when the program runs, and leaves it otherwise; programs
    here have one rank for each variable. The parameters are the same tensors.

    Args:
        program: it is not changed.
        sizes: of each input, by name.
    """
    if not have_other_ranks(program.__dict__.get("ranks", ()), sizes) or (described := _description_of(program)) is None:
        return program
    known = program.__dict__.setdefault("at_sizes", {})
    key = tuple(tuple(sizes[x.name]) for x in program.feeds)
    if key not in known:
        if len(known) >= _KEPT:
            del known[next(iter(known))]
        known[key] = _read_again(program, described, program.__dict__["trains"], sizes)
    return known[key]  # type: ignore[no-any-return]


def have_other_ranks(ranks: Sequence[tuple[str, int, bool]], sizes: Mapping[str, Sequence[int]]) -> bool:
    """Whether a program has other ranks than its variables say when it is fed these sizes; `ranks` as the reader notes them."""
    return any(len(sizes[name]) > axis and (sizes[name][axis] == 1) != one for name, axis, one in ranks)


def _read_again(
    program: Program, described: desc.ProgramDesc, training: bool | None, sizes: Mapping[str, Sequence[int]] | None = None,
) -> Program:
    out = program_of(described, training, {x.name: x.bound for x in program.bound_variables() if x.bound is not None}, sizes)
    for x in program.bound_variables():
        y = out.blocks[0].vars.get(x.name)
        if y is not None and x.bound is not None and (x.persistable or x.is_parameter):
            y.bound, y.stop_gradient = x.bound, x.stop_gradient
            out._bound[id(x.bound)] = y
    return out


def _description_of(program: Program) -> desc.ProgramDesc | None:
    """The description from which a program was read; None if it was not read, or has been changed since."""
    described, extent = program.__dict__.get("described", (None, None))
    return described if extent == _extent(program) else None


def _extent(program: Program) -> list[tuple[int, int]]:
    return [(len(block.nodes), len(block.vars)) for block in program.blocks]


def _as_declared(value: Tensor, x: Variable) -> Tensor:
    """A value of a quantized model as its program declares it: scales have more or fewer axes of 1, whole numbers of weights may be floats."""
    if value.ndim != len(x.sizes) and -1 not in x.sizes and [n for n in value.shape if n != 1] == [n for n in x.sizes if n != 1]:
        value = ops.reshape(value, shape=tuple(x.sizes))
    return ops.cast(value, dtype=x.dtype) if value.dtype in (_core.int8, _core.int16) and x.dtype is _core.float32 else value


def bind_values(program: Program, values: Mapping[str, Tensor], info: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """Bind values to the parameters and buffers of a program that was read.

    Args:
        program: that `read_program` gave.
        values: tensors by name; those of parameters become Parameters that share their memory.
        info: what a `.pdiparams.info` says: there files of models, which do not say it themselves, say what is trained.

    Raises:
        ModelFileError: a shape or dtype is not that of the variable.
    """
    block = program.blocks[0]
    for name, value in values.items():
        x = block.vars.get(name)
        if x is None:
            continue
        if value.dtype is not x.dtype or _core.sizes_of(value) != _core.sizes_of(x):
            value = _as_declared(value, x)
            if value.dtype is not x.dtype or any(n not in (-1, m) for n, m in zip(x.sizes, value.shape)) or len(x.sizes) != value.ndim:
                raise ModelFileError(
                    f"load: the parameter '{name}' does not fit. Got shape {value.shape}, {value.dtype.name}, expected {list(x.sizes)}, "
                    f"{x.dtype.name} as the program has it. Take the file that was saved together with the program."
                )
        said = info.get(name, {}) if info else {}
        if isinstance(x, StaticParameter) or "trainable" in said:
            value = Parameter(value, name=name, trainable=bool(said.get("trainable", not x.stop_gradient)))
            x.stop_gradient = value.stop_gradient
        else:
            value.name, value.persistable, value.stop_gradient = name, True, True
        x.bound = value
        program._bound[id(value)] = x


def params_from_bytes(described: bytes, data: bytes, sizes: Mapping[str, Sequence[int]] | None = None) -> Program:
    """A program with its parameters, from the contents of both files; `sizes` as in `program_of`."""
    found = _described(described)
    values, mark = params_of(data, None, _names_of(found)) if _names_of(found) else ({}, None)
    if found.params_mark is not None and mark != found.params_mark:
        raise ModelFileError(
            "load: the parameters are those of another save. Expected the ones that were saved with the program. Pass both of one save."
        )
    program = program_of(found, None, values, sizes)
    bind_values(program, values)
    return program


def read_info(data: bytes) -> dict[str, Any]:
    """The content of a `.pdiparams.info`: for each parameter what the layers call it. Nothing in it is run.

    Raises:
        ModelFileError: the bytes are not such a file.
    """
    try:
        found = PickleReader(BytesIO(data), len(data)).read()
    except FileFormatError as error:
        raise ModelFileError(f"load: the file with the names of the parameters is damaged: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(k, str) and isinstance(v, dict) for k, v in found.items()):
        raise ModelFileError("load: the file with the names of the parameters holds something else. Expected a dict of dicts. Save the model again.")
    for name, said in found.items():
        if not isinstance(said.get("structured_name", name), str):
            raise ModelFileError(
                f"load: the file with the names of the parameters is damaged: a layer knows {name!r} by a name that is no text. "
                f"Got {short(said['structured_name'])}, expected a str. Save the model again."
            )
    return found


def _write_info(file: BinaryIO, info: Mapping[str, Mapping[str, Any]]) -> None:
    PickleWriter(file, 2).write({name: dict(each) for name, each in info.items()})


def _names_of(program: desc.ProgramDesc) -> list[str]:
    """The parameters and buffers of a program, by name."""
    kind = int(desc.VarKind.LOD_TENSOR)
    return sorted([var.name for var in program.blocks[0].vars if var.persistable and var.name and var.type is not None and var.type.kind == kind])


def _read_params(path: str, names: Sequence[str]) -> tuple[dict[str, Tensor], bytes | None]:
    if not names:
        return {}, None
    if os.path.isdir(path):
        return load_params(path, names), None
    number = _opened(path)
    try:
        size = os.fstat(number).st_size
        if size <= _SMALL:
            return params_of(_whole(number, size), None, names, path)
        with open(number, "rb", buffering=_BUFFER, closefd=False) as file:
            return params_of(file, size, names, path)
    finally:
        os.close(number)


def _opened(path: str) -> int:
    return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))  # half of what `open` takes


def _whole(file: int, size: int) -> bytes:
    data = os.read(file, size + 1)
    if len(data) != size:  # of a pipe, or larger than one call reads
        data += b"".join(iter(lambda: os.read(file, 1 << 20), b""))
    return data


def _content(path: str) -> tuple[bytes, tuple[int, int, int]]:
    """The bytes of the file of a program, and what tells it from another one of this name."""
    try:
        file = _opened(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"load: there is no model. Got {path!r}, expected the name of a .pdmodel. Look at the name.") from None
    try:
        found = os.fstat(file)
        data = _whole(file, found.st_size)
    finally:
        os.close(file)
    return data, (found.st_ino, found.st_mtime_ns, found.st_size)


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
