"""`paddle.Model` in static mode: programs that train, evaluate and predict with a network, and what runs them.

Each is recorded when it is needed first, into a copy of the program that the network's parameters belong to, so that the user's own program
stays as it is. Values lie in the scope, where all of them find the same parameters.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from wherry_graph.static import amp
from wherry_graph.static.cloning import pruned
from wherry_graph.static.executor import Executor
from wherry_graph.static.files import save_inference_model
from wherry_graph.static.mode import (
    default_main_program,
    default_startup_program,
    in_static_mode,
    paused,
    program_guard,
)
from wherry_graph.static.scope import Scope, global_scope
from wherry_graph.static.switching import disable_static, enable_static
from wherry_graph.static.variables import data
from wherry_nn import Layer, Parameter, unique_name
from wherry_program.program.ir import Program, Variable
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import AssertedTypeError, InvalidArgumentError
from wherry_tensor.explained import explained

__all__ = ["StaticModel"]


class StaticModel:
    """The programs of a Model in static mode, recorded and run for `Model`.

    Args:
        model: the Model.
    """

    def __init__(self, model: Any) -> None:
        if not model._inputs:
            raise AssertedTypeError(
                "Model: 'inputs' must be list or tuple or dict, and couldn't be None. Got no inputs in static mode, expected their "
                "descriptions. Write Model(network, inputs=[paddle.static.InputSpec([None, 3], 'float32', 'x')], labels=[...])."
            )
        self.model = model
        self.main, self.startup = default_main_program(), default_startup_program()
        self.executor, self.scope = Executor(), global_scope()
        self.mixed: dict[str, Any] | None = None  # arguments of `static.amp.decorate`
        self.optimizer: Any = None
        self.lists: Any = None
        self.ready: dict[str, _Ready] = {}

    # The interface for Model.

    def prepare(self, optimizer: Any, level: str, scaling: Mapping[str, Any], casting: Mapping[str, Any]) -> None:
        """Forget what was recorded; record with these from now on. Arguments as Model reads them from `amp_configs`."""
        self.ready.clear()
        self.mixed, self.optimizer = None, optimizer
        if level == "O0":
            return
        lists = {name: value for name, value in casting.items() if name.startswith("custom")}
        dtype = casting.get("dtype", "float16")
        self.lists = amp.AutoMixedPrecisionLists(**lists, dtype=dtype)
        self.mixed = {"amp_lists": self.lists, "level": level, "dtype": dtype, **scaling}
        if optimizer is not None:
            self.optimizer = amp.decorate(optimizer, **self.mixed)

    def run(self, mode: str, inputs: Sequence[Tensor], labels: Sequence[Tensor] = ()) -> tuple[list[Tensor], list[Tensor]]:
        """Run "train", "eval" or "test" on a batch. Returns outputs and losses."""
        ready = self.of(mode)
        given = [*inputs, *(labels if mode != "test" else ())]
        if len(given) != len(ready.feeds):
            raise InvalidArgumentError(
                f"Model: the batch does not fit the descriptions. Got {len(given)} inputs and labels, expected {len(ready.feeds)}: "
                f"{ready.feeds}. Describe each: Model(network, inputs=[...], labels=[...])."
            )
        found = self.executor.run(ready.program, dict(zip(ready.feeds, given, strict=True)), ready.fetches, scope=self.scope, return_numpy=False)
        values = [one._value() for one in found]
        return values[: ready.outputs], values[ready.outputs :]

    def save(self, path: str) -> None:
        """Save the inference program, as `static.save_inference_model` does."""
        ready = self.of("test")
        block = ready.program.blocks[0]
        save_inference_model(path, [block.vars[name] for name in ready.feeds], ready.fetches, self.executor, program=ready.program)

    def state(self) -> dict[str, Any]:
        """The values of the network's parameters and buffers, as `Layer.state_dict` names them."""
        self.of("test")
        return {key: self.value(x) for key, x in self.model.network.state_dict().items()}

    def set_state(self, values: Mapping[str, Tensor]) -> None:
        """Give the network values, as `Layer.set_state_dict`."""
        self.of("test")
        for key, x in self.model.network.state_dict().items():
            if key in values:
                self.write(x, values[key])

    def optimizer_state(self) -> dict[str, Any]:
        """The state of the optimizer."""
        self.of("train")
        state = self.model._optimizer.state_dict()
        if "master_weights" in state:
            state["master_weights"] = {name: self.value(x) for name, x in state["master_weights"].items()}
        return {key: self.value(x) if isinstance(x, Tensor) else x for key, x in state.items()}

    def set_optimizer_state(self, state: dict[str, Any]) -> None:
        """Restore a state of the optimizer, of static or dynamic mode."""
        self.of("train")
        optimizer = self.model._optimizer
        state = optimizer._renamed(dict(state))
        if "LR_Scheduler" in state:
            optimizer._learning_rate.set_state_dict(state.pop("LR_Scheduler"))
        for x, value in optimizer._fitting_values(state):
            self.write(x, value)

    @contextmanager
    def with_values(self) -> Iterator[None]:
        """Let the network hold its values in place of variables, and so run at once, for a while."""
        self.of("test")
        new: dict[int, Any] = {}
        for x in self.model.network.state_dict().values():
            if isinstance(x, Variable):
                value = self.value(x)
                new[id(x)] = Parameter(value, name=x.name, trainable=not x.stop_gradient) if isinstance(x, Parameter) else value
        with _standing_in([self.model.network], new):
            yield

    # Implementation.

    def of(self, mode: str) -> _Ready:
        """The program of a mode, recorded now if it has not been."""
        if mode not in self.ready:
            with paused(), _static_mode():
                self.ready[mode] = self._recorded(mode)
        return self.ready[mode]

    def _recorded(self, mode: str) -> _Ready:
        model, optimizer = self.model, self.optimizer
        main, new = self.main.copy()
        startup, _ = self.startup.copy()
        network, loss = model.network, model._loss
        layers = [one for one in (network, loss) if isinstance(one, Layer)]
        training = network.training
        network.train() if mode == "train" else network.eval()
        try:
            with program_guard(main, startup), _standing_in(layers, new):
                inputs = [_declared(spec, "input") for spec in model._inputs]
                labels = [_declared(spec, "label") for spec in model._labels] if mode != "test" and loss is not None else []
                outputs = _listed(network(*inputs))
                losses = _listed(loss(*outputs, *labels)) if mode != "test" and loss is not None else []
                if mode == "train":
                    with _optimizing(optimizer, new):
                        optimizer.minimize(sum(losses[1:], losses[0]), startup)
                elif self.mixed is not None:
                    amp.cast_model_to_fp16(main, self.lists, False, self.mixed["dtype"], self.mixed["level"])
        finally:
            network.train() if training else network.eval()
        if mode != "train":
            main, inputs, fetches = pruned(main, [*inputs, *labels], [*outputs, *losses])
            ready = _Ready(main, [x.name for x in inputs], fetches, len(outputs))
        else:
            ready = _Ready(main, [x.name for x in (*inputs, *labels)], [*outputs, *losses], len(outputs))
        self._give_first_values(main, startup)
        if mode == "train" and self.mixed is not None:
            optimizer.amp_init(None, self.scope)
        return ready

    def _give_first_values(self, main: Program, startup: Program) -> None:
        """Run the startup program for variables without a value; others keep theirs."""
        missing = [
            x.name for x in main.list_vars()
            if x.persistable and not x.is_data and x.bound is None and self.scope.value(x.name) is None
        ]
        if not missing:
            return
        fresh = Scope()
        self.executor.run(startup, scope=fresh)
        for name in missing:
            value = fresh.value(name)
            if value is not None:
                self.scope.put(name, value)

    def value(self, x: Tensor) -> Any:
        """The value of a variable; a tensor that has one is itself."""
        return (x.bound if x.bound is not None else self.scope.value(x.name)) if isinstance(x, Variable) else x

    def write(self, x: Tensor, value: Tensor) -> None:
        """Set the value of a variable or tensor."""
        held = self.value(x)
        with paused():
            value = _core.to_device(value.detach(), _core.device_of(held))
            ops.copy.into((held.detach(),), ops.cast(value, dtype=held.dtype))


class _Ready:
    """A recorded program. Attributes: program; feeds: names; fetches: variables, of which the first `outputs` are the network's."""

    def __init__(self, program: Program, feeds: list[str], fetches: list[Variable], outputs: int) -> None:
        self.program, self.feeds, self.fetches, self.outputs = program, feeds, fetches, outputs


def _declared(spec: Any, kind: str) -> Variable:
    """A variable that is fed, as a description says it."""
    name = getattr(spec, "name", None) or unique_name.generate(kind)
    if name in default_main_program().blocks[0].vars:
        name = unique_name.generate(name)
    return data(name, list(spec.shape), spec.dtype)


@contextmanager
def _static_mode() -> Iterator[None]:
    was_on = in_static_mode()
    if not was_on:
        enable_static()
    try:
        yield
    finally:
        if not was_on:
            disable_static()


@contextmanager
def _standing_in(layers: Sequence[Layer], new: Mapping[int, Any]) -> Iterator[None]:
    """Let what `new` has, by id, stand in layers for their variables."""
    changed: list[tuple[Any, str, Any]] = []
    for layer in {id(one): one for root in layers for one in root.sublayers(include_self=True)}.values():
        for table in (layer._parameters, layer._buffers, vars(layer)):
            changed += [(table, name, value) for name, value in table.items() if isinstance(value, Variable) and id(value) in new]
    for table, name, value in changed:
        table[name] = new[id(value)]
    try:
        yield
    finally:
        for table, name, value in changed:
            table[name] = value


@contextmanager
def _optimizing(optimizer: Any, new: Mapping[int, Any]) -> Iterator[None]:
    """Let an optimizer change the parameters of a copy of its program."""
    before = [(group, group.params) for group in optimizer._groups]
    for group, params in before:
        group.params = [new.get(id(p), p) for p in params]
    optimizer._forget_layouts()
    try:
        yield
    finally:
        for group, params in before:
            group.params = params
        optimizer._forget_layouts()


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


explained(globals())
