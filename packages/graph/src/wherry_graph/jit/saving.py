"""`save`: captured layers and functions as Paddle's model files."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from wherry_graph.jit.loading import TranslatedLayer
from wherry_graph.jit.static_function import ConcreteProgram, StaticFunction
from wherry_nn import Layer, Parameter
from wherry_program.program.ir import Program, Variable
from wherry_tensor.arguments import path_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.static_builder import building

__all__ = ["save"]

_CONFIGS = ("output_spec", "with_hook", "combine_params", "clip_extra", "skip_forward")


def save(layer: Any, path: str, input_spec: Sequence[Any] | None = None, **configs: Any) -> None:
    """Save a layer or function as a program with its parameters, which needs no Python code to run.

    Writes `path.pdmodel` (the program), `path.pdiparams` (parameters and buffers) and `path.pdiparams.info` (what the layer calls them). Methods of
    a layer that `to_static` has marked are saved with it, under `path.method`. What Python decides by `self.training` is saved
    as the present mode has it; dropout and batch normalization are saved as they predict, and train again after `load(path).train()`.
    After `set_flags({"FLAGS_enable_pir_api": True})` the program is one of Paddle 3: `path.json`, without a file of names.

    Args:
        layer: a layer, a function, or a StaticFunction.
        path: what the names of the files begin with.
        input_spec: one entry for each argument, as for `to_static`; None takes what is declared there, or the shapes of the last call.
        **configs: `output_spec`, the outputs to keep, by position, name or variable; `skip_forward`, whether to leave `forward` out. `with_hook` and
            `clip_extra` are accepted for compatibility.

    Raises:
        ValueError: no inputs are known; several methods are marked and `input_spec` is given; the path ends with a slash; an unknown option.
        TypeError: `layer` is neither a layer nor a function.
        NotImplementedError: the program has an op that Paddle's files cannot hold.
        OSError: a file cannot be written; what was there before is there still.

    Source:
        `paddle.jit.save`.

    Examples:
        >>> import os, tempfile
        >>> net = wherry.nn.Linear(4, 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.jit.save(net, f"{folder}/net", input_spec=[wherry.static.InputSpec([None, 4], "float32", "x")])
        ...     print(sorted(os.listdir(folder)))
        ...     loaded = wherry.jit.load(f"{folder}/net")
        ['net.pdiparams', 'net.pdiparams.info', 'net.pdmodel']
        >>> x = wherry.ones([3, 4])
        >>> bool((loaded(x) == net(x)).all())
        True
    """
    for name in configs:
        if name not in _CONFIGS:
            raise InvalidArgumentError(
                f"save: The additional config ({name}) of `paddle.jit.save` is not supported. Expected one of {', '.join(_CONFIGS)}. Take it out."
            )
    if configs.get("combine_params"):
        raise InvalidArgumentError(
            "save: combine_params=True is not supported. Got True, expected False: methods share what they have in common. Leave it out."
        )
    path = path_of(path, "save")
    if not os.path.basename(path):
        raise InvalidArgumentError(
            f"save: The input path MUST be format of dirname/file_prefix, but received file_prefix is empty string. Got {path!r}, "
            f"expected what the names of "
            f"the files begin with. Write {path}model."
        )
    if isinstance(layer, TranslatedLayer) and input_spec is None:
        from wherry_paddle_files.models import endings, files_again, replace_models

        infos = {name: _info_of(layer, program) if name == "forward" else None for name, program in layer.programs.items()}
        replace_models([
            files_again(path if name == "forward" else f"{path}.{name}", program, infos[name]) for name, program in layer.programs.items()
        ], f"{path}{endings()[0]}")
        return
    if isinstance(layer, Layer):
        methods = _methods_of(layer, input_spec, bool(configs.get("skip_forward")))
        owner: Layer | None = layer
    elif isinstance(layer, StaticFunction) or (callable(layer) and not isinstance(layer, type)):
        function = layer if isinstance(layer, StaticFunction) else StaticFunction(layer, full_graph=True)
        methods = {"forward": function}
        owner = function._instance if isinstance(function._instance, Layer) else None
    else:
        raise InvalidTypeError(
            f"save: The input of paddle.jit.save should be 'Layer' or 'Function', but received input type is {type(layer)}. Got "
            f"{short(layer)}, expected a layer "
            f"or a function. For a state_dict use paddle.save."
        )
    # Chosen outputs are named after those of the program that runs.
    with nullcontext() if configs.get("output_spec") else _for_file():
        captured = {name: method.concrete_program_specify_input_spec(input_spec) for name, method in methods.items()}
    from wherry_paddle_files.models import endings, files_of_model, replace_models

    models = []
    for name, concrete in captured.items():
        program, fetches = concrete.main_program, _wanted_outputs(concrete, configs.get("output_spec"))
        first = name == next(iter(captured))  # what the layer calls its parameters is said once, under the name of all
        models.append(files_of_model(
            path if name == "forward" else f"{path}.{name}", program, concrete.feeds, fetches,
            info=_info_of(owner, program) if first and owner is not None else None,
            info_path=f"{path}.pdiparams.info" if first and owner is not None else None, for_prediction=True,
        ))
    replace_models(models, f"{path}{endings()[0]}")


@contextmanager
def _for_file() -> Iterator[None]:
    """Capture for a file: with dropout in evaluation mode too, since a file says what would be dropped if it were trained."""
    before, building.for_file = building.for_file, True
    try:
        yield
    finally:
        building.for_file = before


def _methods_of(layer: Layer, input_spec: Any, skip_forward: bool) -> dict[str, StaticFunction]:
    """The methods to save, by name; `forward` first."""
    found: dict[str, StaticFunction] = {}
    for name in dir(type(layer)):
        if isinstance(getattr(type(layer), name, None), StaticFunction):
            found[name] = getattr(layer, name)
    for name, value in vars(layer).items():
        if isinstance(value, StaticFunction):
            found[name] = value
    forward = found.pop("forward", None)
    if skip_forward:
        if not found:
            raise InvalidArgumentError(
                "save: skip_forward leaves nothing to save. Got a layer without other methods of to_static. Leave skip_forward out."
            )
        return found
    if forward is None:
        if found:
            raise InvalidArgumentError(
                f"save: `forward` is not marked with to_static, but {sorted(found)} are. Got a layer whose forward has no declared "
                f"inputs, expected it to be "
                f"marked too. Write @to_static above forward, or pass skip_forward=True."
            )
        forward = StaticFunction(layer.forward, full_graph=True)
    if found and input_spec is not None:
        raise InvalidArgumentError(
            f"save: If there are static functions other than 'forward' that need to be saved, the input 'input_spec' should be None, "
            f"but received the type of "
            f"'input_spec' is {type(input_spec).__name__}. Expected inputs that are declared for each of {['forward', *sorted(found)]}. Write "
            f"@to_static(input_spec=[...]) above each."
        )
    return {"forward": forward, **found}


def _wanted_outputs(concrete: ConcreteProgram, output_spec: Any) -> list[Variable]:
    if output_spec is None:
        return concrete.fetches
    wanted, outputs = [], concrete.fetches
    for one in output_spec:
        names = [x.name for x in outputs]
        name = getattr(one, "name", one)
        at = one if type(one) is int else names.index(name) if name in names else -1
        if not 0 <= at < len(names):
            raise InvalidArgumentError(
                f"save: the outputs have no {short(one)}. Got it in output_spec, expected positions below {len(names)} or names among {names}. "
                f"Take it out."
            )
        wanted.append(outputs[at])
    return wanted


def _info_of(layer: Layer, program: Program) -> dict[str, dict[str, Any]]:
    """The `.pdiparams.info` for the parameters and buffers of a layer."""
    names = {id(x.bound): x.name for x in program.bound_variables()}
    out = {}
    for structured, value in layer.state_dict().items():
        entry: dict[str, Any] = {"structured_name": structured, "stop_gradient": bool(value.stop_gradient)}
        if isinstance(value, Parameter):
            entry["trainable"] = bool(value.trainable)
        out[names.get(id(value), value.name)] = entry
    return out


explained(globals())
