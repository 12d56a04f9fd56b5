"""Programs and their values as files, in Paddle's formats."""
from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from wherry_graph.static.cloning import pruned
from wherry_graph.static.mode import default_main_program, paused
from wherry_graph.static.scope import chosen_scope, global_scope
from wherry_paddle_files.models import (
    load_model,
    params_from_bytes,
    read_program,
    save_model,
    write_bare,
    write_program,
)
from wherry_paddle_files.params import load_params, params_of, write_params
from wherry_program.passes.evaluation import as_in_evaluation
from wherry_program.program.ir import FORWARD, Program, Variable
from wherry_tensor import to_tensor
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import path_of, require
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, PreconditionNotMetError, short
from wherry_tensor.explained import explained
from wherry_train import load as load_pickle
from wherry_train import save as save_pickle
from wherry_train.atomic_files import replace_files

__all__ = [
    "deserialize_persistables", "deserialize_program", "load", "load_from_file", "load_inference_model", "load_program_state",
    "normalize_program", "save", "save_inference_model", "save_to_file", "serialize_persistables", "serialize_program", "set_program_state",
]


def normalize_program(program: Program, feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> Program:
    """A copy for inference: the part that computes the fetches from the feeds, in evaluation mode.

    Args:
        program: the program.
        feed_vars: a variable, or several, that are fed.
        fetch_vars: a variable, or several, that are wanted.
        kwargs: no effect.

    Returns:
        A program whose `feeds` and `fetches` these variables are.

    Raises:
        TypeError: an argument is not a Program, or not a variable of it.

    Source:
        `paddle.static.normalize_program`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [2])
        ...     y, z = x + 1.0, x * 2.0
        >>> [op.type for op in wherry.static.normalize_program(x.program, [x], [y]).global_block().ops]
        ['add']
        >>> wherry.disable_static()
    """
    if not isinstance(program, Program):
        raise InvalidTypeError(
            f"normalize_program: program type must be `fluid.Program`. Got {short(program)} ({type(program).__name__}), expected a Program."
        )
    feeds, fetches = _of_program(program, feed_vars, "feed_vars"), _of_program(program, fetch_vars, "fetch_vars")
    out, new = program.copy()
    as_in_evaluation(out)
    for block in out.blocks:
        block.nodes[:] = [node for node in block.nodes if node.role == FORWARD]
    return pruned(out, [new[id(x)] for x in feeds], [new[id(x)] for x in fetches])[0]


def _of_program(program: Program, given: Any, what: str) -> list[Variable]:
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    for i, x in enumerate(found):
        if isinstance(x, Variable) and x.program is not program:  # of a clone of the program that it was made in, the variable of this name
            same = program.blocks[0].named(x.name)
            found[i] = x = x if same is None else same
        if not isinstance(x, Variable) or x.program is not program:
            raise InvalidTypeError(
                f"{what} must be a Variable or a list of Variables of the program. Got {short(x)} ({type(x).__name__}), expected one of "
                f"program.list_vars()."
            )
    return [x.current for x in found]


def _chosen_program(program: Any, fetch_vars: Any) -> Program:
    from wherry_graph.static.executor import CompiledProgram

    if isinstance(program, CompiledProgram):
        program = program._program
    if program is None:
        first = fetch_vars[0] if isinstance(fetch_vars, (list, tuple)) and fetch_vars else fetch_vars
        program = first.program if isinstance(first, Variable) else default_main_program()
    return program


def _require_program(program: Any, what: str) -> None:
    require(program, Program, what, "program", "Pass the one that was built or loaded, such as default_main_program().")


def _name_of(x: Any, what: str) -> str:
    """The name of a variable, given as such or as the variable."""
    if isinstance(x, str):
        return x
    return require(x, Variable, what, "var_list", "Pass variables of program.list_vars().").name


def _values_of(program: Program, scope: Any = None) -> dict[str, Tensor]:
    """The values of persistable variables, by name."""
    there = chosen_scope(scope)
    found: dict[str, Tensor] = {}
    for x in program.list_vars():
        if x.is_data or not (x.persistable or x.is_parameter):
            continue
        value = x.bound if x.bound is not None else there.value(x.name)
        if value is None:
            raise PreconditionNotMetError(
                f"save: '{x.name}' has no value. Got a scope without it, expected one in which the startup program has run. "
                f"Run exe.run(static.default_startup_program()) first."
            )
        found[x.name] = value
    return found


def save_inference_model(path_prefix: str, feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any) -> None:
    """Save the part of a program that computes `fetch_vars` from `feed_vars`: `path_prefix.pdmodel` and `path_prefix.pdiparams`, which Paddle loads.

    Args:
        path_prefix: of the names of the files; missing folders are made.
        feed_vars: a variable, or several, that are fed.
        fetch_vars: a variable, or several, that are wanted.
        executor: no effect; values come from `global_scope()`.
        kwargs: `program`: whose variables these are; None is theirs. Others are accepted for compatibility.

    Raises:
        TypeError: an argument is not a variable of the program.
        RuntimeError: a parameter has no value.
        NotImplementedError: an op cannot be written.

    With FLAGS_enable_pir_api the program is one of Paddle 3: `path_prefix.json`.

    Source:
        `paddle.static.save_inference_model`.

    Examples:
        >>> import os, tempfile
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     weight = wherry.ParamAttr(name="infer_w", initializer=wherry.nn.initializer.Constant(2.0))
        ...     y = wherry.static.nn.fc(x, 1, weight_attr=weight, bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.static.save_inference_model(folder + "/net", x, y, exe)
        ...     sorted(os.listdir(folder))
        ['net.pdiparams', 'net.pdmodel']
        >>> wherry.disable_static()
    """
    prefix = path_of(path_prefix, "save_inference_model", "path_prefix")
    if prefix.endswith("/"):
        raise InvalidArgumentError(f"save_inference_model: path_prefix is the beginning of names of files. Got {prefix!r}. Add a name.")
    program = normalize_program(_chosen_program(kwargs.get("program"), fetch_vars), feed_vars, fetch_vars)
    with paused():
        save_model(prefix, program, program.feeds, program.fetches, _values_of(program))


def load_inference_model(path_prefix: str | None, executor: Any, **kwargs: Any) -> list[Any]:
    """Load what `save_inference_model` (or `jit.save`) of Wherry or Paddle saved.

    Args:
        path_prefix: of the names of the files; None: `model_filename` and `params_filename` are their contents, as bytes.
        executor: no effect; values go to `global_scope()`.
        kwargs: `model_filename`, `params_filename`: other names than `.pdmodel` and `.pdiparams`.

    Returns:
        The program, the names of what it is fed, and its fetches.

    Raises:
        ValueError: the files are damaged, or an op cannot be read.
        FileNotFoundError: there are no such files.

    Source:
        `paddle.static.load_inference_model`.

    Examples:
        >>> import tempfile
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     weight = wherry.ParamAttr(name="load_infer_w", initializer=wherry.nn.initializer.Constant(2.0))
        ...     y = wherry.static.nn.fc(x, 1, weight_attr=weight, bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.static.save_inference_model(folder + "/net", x, y, exe)
        ...     program, feeds, fetches = wherry.static.load_inference_model(folder + "/net", exe)
        >>> exe.run(program, feed={feeds[0]: [[1.0, 2.0]]}, fetch_list=fetches)
        [array([[6.]], dtype=float32)]
        >>> wherry.disable_static()
    """
    model, params = kwargs.get("model_filename"), kwargs.get("params_filename")
    with paused():
        if path_prefix is None:
            if not isinstance(model, bytes) or not isinstance(params, (bytes, type(None))):
                raise InvalidArgumentError(
                    f"load_inference_model: without path_prefix, model_filename and params_filename are the contents of files. Got "
                    f"{type(model).__name__} and {type(params).__name__}, expected bytes."
                )
            program = params_from_bytes(model, params or b"")
        else:
            prefix = path_of(path_prefix, "load_inference_model", "path_prefix")
            folder = prefix if os.path.isdir(prefix) else os.path.dirname(prefix)
            program = load_model(
                prefix, model_path=None if model is None else _inside(folder, model), params_path=None if params is None else _inside(folder, params)
            )
        scope = global_scope()
        for x in program.list_vars():
            if x.bound is not None and x.persistable:
                scope.put(x.name, x.bound)
    return [program, [x.name for x in program.feeds], list(program.fetches)]


def _inside(folder: str, name: str) -> str:
    """The path of a file in the folder of the prefix, with or without extension."""
    return os.path.join(folder, path_of(name, "load_inference_model", "the name of a file"))


def serialize_program(feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> bytes:
    """The content of the `.pdmodel` that `save_inference_model` writes.

    Args:
        feed_vars: a variable, or several, that are fed.
        fetch_vars: a variable, or several, that are wanted.
        kwargs: as `save_inference_model`.

    Raises:
        TypeError: an argument is not a variable of the program (also a ValueError).
        NotImplementedError: `fetch_vars` need a variable that is not fed, or an op cannot be written.

    Source:
        `paddle.static.serialize_program`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     weight = wherry.ParamAttr(name="sp_w", initializer=wherry.nn.initializer.Constant(2.0))
        ...     y = wherry.static.nn.fc(x, 1, weight_attr=weight, bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> data = wherry.static.serialize_program(x, y)
        >>> [variable.name for variable in wherry.static.deserialize_program(data).feeds]
        ['x']
        >>> wherry.disable_static()
    """
    program = normalize_program(_chosen_program(kwargs.get("program"), fetch_vars), feed_vars, fetch_vars)
    with paused():
        return write_program(program, program.feeds, program.fetches)


def content_of(program: Program) -> bytes:
    """The content of a `.pdmodel` for the program as it stands: its results are what none of its ops takes.

    Raises:
        NotImplementedError: Paddle's files have no name for an op of it.
    """
    nodes = program.blocks[0].nodes
    taken = {id(x) for node in nodes for x in node.reads()}
    with paused():
        return write_bare(program, [x for node in nodes for x in node.outputs if id(x) not in taken and not x.persistable])


def serialize_persistables(feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any) -> bytes:
    """The content of the `.pdiparams` that `save_inference_model` writes.

    Args:
        feed_vars: a variable, or several, that are fed.
        fetch_vars: a variable, or several, that are wanted.
        executor: no effect.
        kwargs: as `save_inference_model`.

    Raises:
        RuntimeError: a parameter has no value.
        TypeError: an argument is not a variable of the program (also a ValueError).

    Source:
        `paddle.static.serialize_persistables`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     weight = wherry.ParamAttr(name="sv_w", initializer=wherry.nn.initializer.Constant(2.0))
        ...     y = wherry.static.nn.fc(x, 1, weight_attr=weight, bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> len(wherry.static.serialize_persistables(x, y, exe)) > 2 * 4  # the two numbers, and what they are
        True
        >>> wherry.disable_static()
    """
    program = normalize_program(_chosen_program(kwargs.get("program"), fetch_vars), feed_vars, fetch_vars)
    out = BytesIO()
    with paused():
        write_params(out, _values_of(program))
    return out.getvalue()


def deserialize_program(data: bytes) -> Program:
    """Read a program from the content of a `.pdmodel`.

    Args:
        data: the content, as `serialize_program` returns it.

    Raises:
        TypeError: `data` is not bytes.
        ValueError: `data` is not the content of a `.pdmodel`.

    Source:
        `paddle.static.deserialize_program`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     weight = wherry.ParamAttr(name="dp_w", initializer=wherry.nn.initializer.Constant(2.0))
        ...     y = wherry.static.nn.fc(x, 1, weight_attr=weight, bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> program = wherry.static.deserialize_program(wherry.static.serialize_program(x, y))
        >>> wherry.static.deserialize_persistables(program, wherry.static.serialize_persistables(x, y, exe), exe)
        >>> exe.run(program, feed={"x": [[1.0, 2.0]]}, fetch_list=program.fetches)
        [array([[6.]], dtype=float32)]
        >>> wherry.disable_static()
    """
    if not isinstance(data, (bytes, bytearray)):
        raise InvalidTypeError(f"deserialize_program: the content of a file is bytes. Got {type(data).__name__}, expected bytes.")
    with paused():
        return read_program(bytes(data))


def deserialize_persistables(program: Program, data: bytes, executor: Any) -> None:
    """Load the content of a `.pdiparams` into `global_scope()`.

    Args:
        program: whose parameters they are.
        data: the content.
        executor: no effect.

    Raises:
        TypeError: `data` is not bytes.
        ValueError: `data` is not the content of a `.pdiparams`, or that of another program.

    Source:
        `paddle.static.deserialize_persistables`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     weight = wherry.ParamAttr(name="dv_w", initializer=wherry.nn.initializer.Constant(2.0))
        ...     y = wherry.static.nn.fc(x, 1, weight_attr=weight, bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> program = wherry.static.deserialize_program(wherry.static.serialize_program(x, y))
        >>> wherry.static.deserialize_persistables(program, wherry.static.serialize_persistables(x, y, exe), exe)
        >>> exe.run(program, feed={"x": [[1.0, 2.0]]}, fetch_list=program.fetches)
        [array([[6.]], dtype=float32)]
        >>> wherry.disable_static()
    """
    if not isinstance(data, (bytes, bytearray)):
        raise InvalidTypeError(f"deserialize_persistables: the content of a file is bytes. Got {type(data).__name__}, expected bytes.")
    _require_program(program, "deserialize_persistables")
    with paused():
        names = [x.name for x in program.list_vars() if x.persistable and not x.is_data]
        program.set_state_dict(params_of(bytes(data), None, names)[0] if names else {})


def save_to_file(path: str, content: bytes) -> None:
    """Write bytes to a file, which is replaced atomically.

    Raises:
        TypeError: `content` is not bytes (also a ValueError).

    Source:
        `paddle.static.save_to_file`.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.static.save_to_file(folder + "/a.pdmodel", b"content")
        ...     wherry.static.load_from_file(folder + "/a.pdmodel")
        b'content'
    """
    if not isinstance(content, bytes):
        raise InvalidTypeError(f"save_to_file: 'content' type should be bytes. Got {type(content).__name__}, expected bytes.")
    replace_files([(path_of(path, "save_to_file"), lambda file: file.write(content))])


def load_from_file(path: str) -> bytes:
    """The content of a file.

    Raises:
        TypeError: `path` is not a file name (also a ValueError).
        FileNotFoundError: there is no such file.

    Source:
        `paddle.static.load_from_file`.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.static.save_to_file(folder + "/a.pdmodel", b"content")
        ...     wherry.static.load_from_file(folder + "/a.pdmodel")
        b'content'
    """
    with open(path_of(path, "load_from_file"), "rb") as file:
        return file.read()


def save(program: Program, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Save a program for training: `model_path.pdparams` (parameters), `.pdopt` (other persistable variables, if any), `.pdmodel` (the program).

    An op of the program that Paddle's files have no name for is named in a warning, and the `.pdmodel` left out; `load` needs the values alone.

    Args:
        program: the program.
        model_path: the beginning of the names of the files.
        protocol: of pickle, 2 to 4.
        configs: no effect.

    Raises:
        ValueError: `model_path` ends with a slash.
        RuntimeError: a variable has no value: the startup program has not run.

    Source:
        `paddle.static.save`.

    Examples:
        >>> import os, tempfile
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     weight = wherry.ParamAttr(name="save_w", initializer=wherry.nn.initializer.Constant(2.0))
        ...     y = wherry.static.nn.fc(x, 1, weight_attr=weight, bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.static.save(main, folder + "/net")
        ...     sorted(os.listdir(folder))
        ['net.pdmodel', 'net.pdparams']
        >>> wherry.disable_static()
    """
    save_values(program, model_path, {}, protocol)


def save_values(program: Program, model_path: str, more: dict[str, Tensor], protocol: int = 4) -> None:
    """As `save`, with values of variables that other processes have, by name, beside the persistable variables of this one."""
    _require_program(program, "save")
    prefix = path_of(model_path, "save", "model_path")
    if not os.path.basename(prefix):
        raise InvalidArgumentError(
            f"save: The input model_path MUST be format of dirname/filename. Got {model_path!r}, expected the beginning of names of files."
        )
    with paused():
        values = _values_of(program)
        parameters = {x.name for x in program.all_parameters()}
        save_pickle({k: v.numpy() for k, v in values.items() if k in parameters}, f"{prefix}.pdparams", protocol=protocol)
        others = {k: v.numpy() for k, v in (more | values).items() if k not in parameters}
        if others:
            save_pickle(others, f"{prefix}.pdopt", protocol=protocol)
        try:
            data = content_of(program)
        except NotImplementedError as error:
            warnings.warn(f"static.save: '{prefix}.pdmodel' is left out. {error}", stacklevel=2)
            return
        save_to_file(f"{prefix}.pdmodel", data)


def load(program: Program, model_path: str, executor: Any = None, var_list: Sequence[Variable] | None = None) -> None:
    """Load the values that `save` (or old functions of Paddle) saved into a program.

    Args:
        program: the program.
        model_path: the beginning of the names of the files; or a folder with a file for each variable.
        executor: no effect; values go to `global_scope()`.
        var_list: of old files: which variables; None takes all persistable ones.

    Raises:
        ValueError: there are no such files, a variable is not in them, or its shape differs.

    Source:
        `paddle.static.load`.

    Examples:
        >>> import tempfile
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     weight = wherry.ParamAttr(name="load_w", initializer=wherry.nn.initializer.Constant(2.0))
        ...     y = wherry.static.nn.fc(x, 1, weight_attr=weight, bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.static.save(main, folder + "/net")
        ...     wherry.static.global_scope().find_var("load_w").get_tensor().set(np.zeros([2, 1], "float32"))
        ...     wherry.static.load(main, folder + "/net")
        >>> wherry.static.global_scope().find_var("load_w").get_tensor().numpy().tolist()
        [[2.0], [2.0]]
        >>> wherry.disable_static()
    """
    _require_program(program, "load")
    wanted = [x for x in program.list_vars() if x.persistable and not x.is_data] if var_list is None else var_list
    chosen = [_name_of(x, "load") for x in wanted]
    state = load_program_state(model_path, wanted)
    missing = [name for name in chosen if name not in state]
    if missing:
        raise InvalidArgumentError(
            f"load: Can not find [{', '.join(missing[:4])}] in model file [{model_path}]. Got {len(state)} values, expected one for each of "
            f"{len(chosen)} variables. Save the program again, or load it with load_program_state and set_program_state."
        )
    program.set_state_dict({name: state[name] for name in chosen})


def load_program_state(model_path: str, var_list: Sequence[Variable] | None = None) -> dict[str, Any]:
    """The values that `save` (or old functions of Paddle) saved, as arrays by name.

    Args:
        model_path: the beginning of the names of the files; a file with all values; or a folder with a file for each.
        var_list: which variables, of files that have no names in them.

    Raises:
        ValueError: there are no such files, or names are needed.

    Source:
        `paddle.static.load_program_state`.

    Examples:
        >>> import tempfile
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     weight = wherry.ParamAttr(name="state_w", initializer=wherry.nn.initializer.Constant(2.0))
        ...     y = wherry.static.nn.fc(x, 1, weight_attr=weight, bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.static.save(main, folder + "/net")
        ...     state = wherry.static.load_program_state(folder + "/net")
        >>> state["state_w"].tolist()
        [[2.0], [2.0]]
        >>> wherry.disable_static()
    """
    prefix = path_of(model_path, "load_program_state", "model_path")
    for ending in (".pdparams", ".pdopt", ".pdmodel"):
        prefix = prefix.removesuffix(ending)
    names = None if var_list is None else [_name_of(x, "load_program_state") for x in var_list]
    with paused():
        if os.path.exists(f"{prefix}.pdparams"):
            state: dict[str, Any] = {}
            for ending in (".pdparams", ".pdopt"):
                if os.path.exists(prefix + ending):
                    state.update(_arrays(load_pickle(prefix + ending, return_numpy=True)))
            return state
        if os.path.isdir(prefix):
            found = sorted(os.listdir(prefix)) if names is None else [n for n in names if os.path.exists(os.path.join(prefix, n))]
            return _arrays(load_params(prefix, [n for n in found if not n.startswith("__")]))
        if os.path.isfile(prefix):
            if names is None:
                raise InvalidArgumentError(
                    f"load_program_state: var_list is required when loading a file without names. Got {model_path!r}, expected the variables "
                    f"that it holds. Pass program.list_vars() of those that last."
                )
            return _arrays(load_params(prefix, names))
    raise InvalidArgumentError(
        f"load_program_state: there is nothing of this name. Got {model_path!r}, expected the beginning of '.pdparams', a file or a folder."
    )


def _arrays(state: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v.numpy() if isinstance(v, Tensor) else v for k, v in state.items() if k != "StructuredToParameterName@@"}


def set_program_state(program: Program, state_dict: Mapping[str, Any]) -> None:
    """Set the values of a program by name; variables that `state_dict` does not have are named in a warning.

    Raises:
        ValueError: a shape or dtype differs.

    Source:
        `paddle.static.set_program_state`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     weight = wherry.ParamAttr(name="set_w", initializer=wherry.nn.initializer.Constant(2.0))
        ...     y = wherry.static.nn.fc(x, 1, weight_attr=weight, bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> wherry.static.set_program_state(main, {"set_w": np.ones([2, 1], "float32")})
        >>> exe.run(main, feed={"x": [[1.0, 2.0]]}, fetch_list=[y])
        [array([[3.]], dtype=float32)]
        >>> wherry.disable_static()
    """
    _require_program(program, "set_program_state")
    require(state_dict, Mapping, "set_program_state", "state_dict", "load_program_state returns one.")  # type: ignore[type-abstract]
    wanted = {x.name: x for x in program.list_vars() if x.persistable and not x.is_data}
    missing = [name for name in wanted if name not in state_dict]
    unused = [name for name in state_dict if name not in wanted]
    with paused():
        program.set_state_dict({k: v if isinstance(v, Tensor) else to_tensor(v) for k, v in state_dict.items() if k in wanted})
    if missing or unused:
        parts = [f"no value for {', '.join(missing[:4])}"] * bool(missing) + [f"This list is not set: {', '.join(unused[:4])}"] * bool(unused)
        warnings.warn(f"set_program_state: {'; '.join(parts)}.", stacklevel=2)


explained(globals())
