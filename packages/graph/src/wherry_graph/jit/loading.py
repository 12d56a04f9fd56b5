"""`load`: Paddle's model files as a layer, `TranslatedLayer`."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from wherry_graph.jit.arguments import is_array
from wherry_graph.jit.partial import OUTPUT, PartialProgram
from wherry_nn import Layer, Parameter, unique_name
from wherry_program.program.capture import current_capture
from wherry_program.program.input_spec import InputSpec
from wherry_program.program.ir import Program, Variable
from wherry_program.program.replay import replayed
from wherry_program.program.structure import flatten_sorted
from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import path_of, require
from wherry_tensor.dtype import is_floating_point
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.functions.creation import to_tensor

__all__ = ["TranslatedLayer", "load"]


class TranslatedLayer(Layer):
    """A layer loaded from saved programs: it predicts, can be trained further, and saved again.

    `train()` brings dropout back, and lets the running statistics of batch normalization move that was in training mode when it was saved;
    `eval()` switches both off.

    Args:
        programs: what its methods run, by name; "forward" is what a call runs.
        persistable_vars: its parameters and buffers, by name.

    Shape:
        As the program that was saved: `[...]` of each input and output.

    Raises:
        TypeError: `programs` is not a mapping (also a ValueError).

    Source:
        `paddle.jit.TranslatedLayer`; `load` makes it.

    Examples:
        >>> import tempfile
        >>> net = wherry.nn.Linear(4, 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.jit.save(net, f"{folder}/net", input_spec=[wherry.static.InputSpec([None, 4])])
        ...     loaded = wherry.jit.load(f"{folder}/net")
        >>> len(loaded.parameters()), loaded.training
        (2, False)
        >>> loaded(wherry.ones([3, 4])).sum().backward()  # its parameters have gradients now
    """

    def __init__(self, programs: Mapping[str, Program], persistable_vars: Mapping[str, Tensor]) -> None:
        super().__init__()
        for argument, given, kind in ("programs", programs, Program), ("persistable_vars", persistable_vars, Tensor):
            require(given, Mapping, "TranslatedLayer", argument, "paddle.jit.load makes a TranslatedLayer from files.")  # type: ignore[type-abstract]
            for name, value in given.items():
                require(value, kind, "TranslatedLayer", f"{argument}[{short(name)}]", "paddle.jit.load makes a TranslatedLayer from files.")
        self.__dict__["programs"] = dict(programs)
        self.__dict__["_names"] = {}
        for name, value in sorted(persistable_vars.items()):
            if isinstance(value, Parameter):
                own = f"param_{len(self._parameters)}"
                self.add_parameter(own, value)
            else:
                own = f"buffer_{len(self._buffers)}"
                self.register_buffer(own, value)
            self._names[own] = name
        self.__dict__["_runs"] = {name: _Method(self, name, program) for name, program in programs.items()}
        for name, run in self._runs.items():
            if name != "forward":
                self.__dict__[name] = run
        self.training = False

    def forward(self, *inputs: Any) -> Any:
        """Run the program; one tensor, or a list where it has several outputs.

        Args:
            *inputs: one tensor for each input of the program, one after the other. Those that the function took in lists and dicts come in
                their places, dicts by their sorted keys; the lists and dicts themselves are taken too.
        """
        if "forward" not in self._runs:
            raise InvalidArgumentError(f"TranslatedLayer: it was saved without forward. Expected a call of one of {sorted(self._runs)}. Call that.")
        return self._runs["forward"](*inputs)

    def program(self, method_name: str = "forward") -> Program:
        """The program of a method.

        Args:
            method_name: of the method.

        Raises:
            ValueError: there is none of this name.

        Source:
            `paddle.jit.TranslatedLayer.program`.
        """
        if method_name not in self.programs:
            raise InvalidArgumentError(
                f"TranslatedLayer.program: The method `{method_name}` does not exist in loaded TranslatedLayer. Expected one of "
                f"{sorted(self.programs)}. "
                f"Choose one of them."
            )
        return self.programs[method_name]  # type: ignore[no-any-return]

    def _input_spec(self, method_name: str = "forward") -> list[InputSpec]:
        """The InputSpecs of the inputs of a method."""
        return [InputSpec(x.sizes, x.dtype, x.name) for x in self.program(method_name).feeds]

    def _output_spec(self, method_name: str = "forward") -> list[InputSpec]:
        """The InputSpecs of the outputs of a method."""
        return [InputSpec(x.sizes, x.dtype, x.name) for x in self.program(method_name).fetches]


class _Method:
    """A method of a TranslatedLayer."""

    def __init__(self, layer: TranslatedLayer, name: str, program: Program) -> None:
        self.layer, self.name, self.program = layer, name, program
        self._in_training: Program | None = None  # read when it is needed
        self._partials: dict[tuple[bool, tuple[bool, ...]], PartialProgram] = {}

    def _present(self) -> Program:
        """The program for the mode of the layer, training or evaluation."""
        if not self.layer.training:
            return self.program
        if self._in_training is None:
            from wherry_paddle_files.models import in_training

            own = self.program.__dict__.get("as_it_trains")  # of a format that another package reads
            self._in_training = own() if own is not None else in_training(self.program)
        return self._in_training

    def __call__(self, *inputs: Any) -> Any:
        feeds = self.program.feeds
        inputs = _flat(inputs, feeds)
        if len(inputs) != len(feeds):
            raise InvalidArgumentError(
                f"TranslatedLayer.{self.name}: got {len(inputs)} inputs, expected {len(feeds)}, one for each of "
                f"{[x.name for x in feeds]}. Pass them in this "
                f"order."
            )
        sequences = [feed.name for feed in feeds if feed.__dict__.get("needs_offsets")]
        if sequences:
            raise InvalidArgumentError(
                f"TranslatedLayer.{self.name}: the program takes sequences of different lengths, of which a tensor does not say where each begins. "
                f"Got tensors for {sequences}, expected offsets with them. Load it with paddle.static.load_inference_model and feed "
                f"paddle.static.create_lod_tensor(array, [lengths]), or with paddle.inference and call set_lod of the handle."
            )
        tensors = [x if isinstance(x, Tensor) else to_tensor(x) for x in inputs]
        for x, feed in zip(tensors, feeds, strict=True):
            if x.dtype is not feed.dtype:
                raise InvalidArgumentError(
                    f"TranslatedLayer.{self.name}: input '{feed.name}' has another dtype. Got {x.dtype.name}, expected {feed.dtype.name}, as "
                    f"it was saved. Cast "
                    f"it with x.astype('{feed.dtype.name}')."
                )
        if current_capture() is not None:
            return self._inlined(tensors)
        sized = self._at_sizes(tensors)
        if sized is not self:
            return sized(*tensors)
        key = self.layer.training, tuple(x.stop_gradient for x in tensors)
        partial = self._partials.get(key)
        if partial is None:
            partial = self._partials[key] = self._made(key[1])
        return partial(tensors)

    def _at_sizes(self, tensors: list[Tensor]) -> _Method:
        """The method for inputs of these sizes: another one where the program has other ranks for them."""
        if not self.program.__dict__.get("ranks"):
            return self
        from wherry_paddle_files.models import at_sizes

        program = at_sizes(self.program, {feed.name: x.shape for feed, x in zip(self.program.feeds, tensors, strict=True)})
        if program is self.program:
            return self
        method = program.__dict__.get("method")
        if method is None:
            method = program.__dict__["method"] = _Method(self.layer, self.name, program)
        return method  # type: ignore[no-any-return]

    def _made(self, stops: Sequence[bool]) -> PartialProgram:
        program, _ = self._present().copy()
        for x, stop in zip(program.feeds, stops, strict=True):
            x.stop_gradient = stop
        _make_room(program)
        fetches = program.fetches
        return PartialProgram(program, _single([OUTPUT] * len(fetches)), fetches, [is_floating_point(x) for x in fetches])

    def _inlined(self, tensors: list[Tensor]) -> Any:
        """Its ops become part of the program that is being captured."""
        program = self._present()
        env: dict[int, Any] = {id(x): value for x, value in zip(program.feeds, tensors, strict=True)}

        def find(x: Variable) -> Tensor:
            assert x.bound is not None, f"variable {x.name} has no value"
            return x.bound

        replayed(program.nodes, env, find)
        return _single([env[id(x)] if id(x) in env else find(x) for x in program.fetches])


def _flat(inputs: tuple[Any, ...], feeds: Sequence[Variable]) -> tuple[Any, ...]:
    """The tensors of the arguments, one after the other, where these are nested as the function took them; else the arguments.

    Lists of numbers are values of a tensor. A list of tensors may be one too: it is taken apart where the parts are what is fed.
    """
    if not any(isinstance(x, (list, tuple, dict)) for x in inputs):
        return inputs
    nested = any(isinstance(x, dict) for x in inputs) or len(inputs) != len(feeds)
    leaves = tuple(leaf for leaf in flatten_sorted(inputs) if isinstance(leaf, Tensor) or is_array(leaf))
    if len(leaves) == len(feeds) and (nested or all(x.ndim == feed.ndim for x, feed in zip(leaves, feeds, strict=True))):
        return leaves
    return inputs


def _make_room(program: Program) -> None:
    """Rename what it computes: names that are made in this process, for gradients, may be those of the process that saved it."""
    for block in program.blocks:
        for x in list(block.vars.values()):
            if x.bound is None and not x.is_data:
                del block.vars[x.name]
                x.name = f"{x.name}@loaded"
                block.vars[x.name] = x


def _single(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def load(path: str, **configs: Any) -> TranslatedLayer:
    """Load what `save` wrote, here or in Paddle, as a layer.

    Args:
        path: what the names of the files begin with; or a folder as Paddle 1 saved them, with `__model__` in it; or a `.pt2` of torch.export.
        **configs: `model_filename` and `params_filename`, for files of other names in the folder `path`.

    Returns:
        A layer in evaluation mode, whichever it was saved in, with what was saved of other methods as methods.

    Raises:
        ValueError: there are no such files, they are damaged or do not belong together; an unknown option.
        NotImplementedError: the program has an operator that is not known here.

    Source:
        `paddle.jit.load`.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     spec = [wherry.static.InputSpec([None], "float32", "x")]
        ...     wherry.jit.save(lambda x: x * 2, f"{folder}/double", input_spec=spec)
        ...     double = wherry.jit.load(f"{folder}/double")
        >>> print(double(wherry.to_tensor([1.0, 2.0])).numpy())
        [2. 4.]
    """
    for name in configs:
        if name not in ("model_filename", "params_filename", "keep_name_table"):
            raise InvalidArgumentError(
                f"load: The additional config ({name}) of `paddle.jit.load` is not supported. Expected model_filename or params_filename. "
                f"Take it out."
            )
    path = path_of(path, "load")
    if path.endswith(".pt2"):
        return _exported(path)
    files = _files_of(path, configs.get("model_filename"), configs.get("params_filename"))
    if not files:
        raise InvalidArgumentError(
            f"load: The ``path`` ({path}) to load model not exists. Got no {path}.pdmodel and no {path}.json, expected what `save` wrote. "
            f"Please make sure that *.pdmodel exists "
            f"or don't using ``skip_forward=True`` to jit.save."
        )
    from wherry_paddle_files.models import load_model

    programs: dict[str, Program] = {}
    lasting: dict[str, Tensor] = {}
    for name, options in files.items():
        program = programs[name] = load_model(path, model_path=options.get("model_path"), params_path=options.get("params_path"), training=False)
        for x in program.bound_variables():
            if x.persistable or x.is_parameter:
                _share(program, x, lasting)
    for name, value in lasting.items():
        value.name = unique_name.generate(name)  # other layers of this process may have this name
    layer = TranslatedLayer(programs, lasting)
    here = _core.get_current_device()
    if here:
        layer.to(device=_core.name_of_device(here))
    return layer


def _exported(path: str) -> TranslatedLayer:
    """A program of PyTorch; it predicts, its parameters can be trained."""
    from wherry_onnx_files.exported import read_exported

    program = read_exported(path)
    return TranslatedLayer({"forward": program}, {
        x.name: x.bound for x in program.bound_variables() if x.bound is not None and (x.persistable or x.is_parameter)
    })


def _share(program: Program, x: Variable, lasting: dict[str, Tensor]) -> None:
    """Methods that use the same parameter use one tensor."""
    known = lasting.setdefault(x.name, x.bound)  # type: ignore[arg-type]
    if known is not x.bound:
        x.bound = known


def _files_of(path: str, model: str | None, params: str | None) -> dict[str, dict[str, Any]]:
    """The methods that were saved, with the names of their files."""
    if model is None and os.path.isdir(path) and os.path.exists(os.path.join(path, "__model__")):
        model = "__model__"  # of Paddle 1
    if model is not None:
        options: dict[str, Any] = {"model_path": os.path.join(path, model)}
        options["params_path"] = os.path.join(path, params) if params is not None else path
        return {"forward": options} if os.path.exists(options["model_path"]) else {}
    found: dict[str, dict[str, Any]] = {}
    folder, base = os.path.split(os.path.realpath(path))
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return {}
    from wherry_paddle_files.models import model_at

    ending = os.path.splitext(model_at(os.path.join(folder, base)))[1]
    for name in names:
        if not (name.startswith(f"{base}.") and name.endswith(ending)):
            continue
        method = name[len(base) + 1: -len(ending)]
        if not method or method.isidentifier():
            start = os.path.join(folder, f"{base}.{method}" if method else base)
            found[method or "forward"] = {"model_path": f"{start}{ending}", "params_path": f"{start}.pdiparams"}
    return found


