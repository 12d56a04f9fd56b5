"""`Executor`, which runs programs, and the classes that Paddle has around it."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from wherry_graph.static.cloning import pruned
from wherry_graph.static.lod import LoDTensor, create_lod_tensor
from wherry_graph.static.mode import default_main_program, paused
from wherry_graph.static.scope import Scope, chosen_scope
from wherry_graph.static.strategies import BuildStrategy, ExecutionStrategy
from wherry_paddle_files.sequences import fault_of_offsets, known_offsets
from wherry_program.program.ir import Program, Variable
from wherry_program.run.executor import compiled
from wherry_tensor import _core, ops, to_tensor
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require
from wherry_tensor.device import device_code
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.random import get_rng_state, seed, set_rng_state
from wherry_tensor.suggestions import did_you_mean

__all__ = ["CompiledProgram", "Executor", "ParallelExecutor"]

_KEPT = 64  # compiled forms of programs that an Executor keeps


class CompiledProgram:
    """A program with build options, which an Executor takes in place of the program.

    Args:
        program_or_graph: the Program.
        build_strategy: see `BuildStrategy`.

    Raises:
        TypeError: it is not a Program.

    Source:
        `paddle.static.CompiledProgram`.

    Examples:
        >>> program = wherry.static.CompiledProgram(wherry.static.Program())
        >>> wherry.static.Executor().run(program)
        []
    """

    def __init__(self, program_or_graph: Program, build_strategy: BuildStrategy | None = None) -> None:
        if not isinstance(program_or_graph, Program):
            raise InvalidTypeError(
                f"CompiledProgram: The type of program to be compiled should be Program. Got {short(program_or_graph)} "
                f"({type(program_or_graph).__name__}), expected a Program."
            )
        self._program = program_or_graph
        self._build_strategy = build_strategy or BuildStrategy()

    def with_data_parallel(
        self, loss_name: str | None = None, build_strategy: BuildStrategy | None = None, exec_strategy: ExecutionStrategy | None = None,
        share_vars_from: CompiledProgram | None = None, places: Any = None,
    ) -> CompiledProgram:
        """Ask for several devices: one process runs a program on one.

        Args:
            loss_name: no effect.
            build_strategy: replaces the one of the constructor.
            exec_strategy: no effect.
            share_vars_from: no effect; all programs of a scope share their variables.
            places: at most one.

        Raises:
            NotImplementedError: more than one place.

        Source:
            `paddle.static.CompiledProgram.with_data_parallel` of Paddle 2.3; 2.6 no longer has it.
        """
        count = places if isinstance(places, int) else 1 if places is None or not isinstance(places, (list, tuple)) else len(places)
        if count > 1:
            raise UnimplementedError(
                f"with_data_parallel: one process runs a program on one device. Got {count} places, expected one. Start a process for each "
                f"device (paddle.distributed)."
            )
        if build_strategy is not None:
            self._build_strategy = build_strategy
        return self


class Executor:
    """Runs programs.

    A program is compiled when it runs for the first time with the same feeds and fetches; what it leaves behind (parameters, state of
    optimizers) lies in a scope.

    Args:
        place: the device, as `paddle.set_device` or a Place says it; None is the current one.

    Raises:
        ValueError: there is no such device.

    Source:
        `paddle.static.Executor`.

    Examples:
        >>> import numpy
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     y = wherry.static.nn.fc(x, 3, bias_attr=wherry.nn.initializer.Constant(1.0)).sum(axis=1)
        >>> exe = wherry.static.Executor(wherry.CPUPlace())
        >>> exe.run(startup)
        []
        >>> exe.run(main, feed={"x": numpy.zeros([4, 2], "float32")}, fetch_list=[y])[0].tolist()
        [3.0, 3.0, 3.0, 3.0]
        >>> wherry.disable_static()
    """

    def __init__(self, place: Any = None) -> None:
        self.place = place
        self._device = None if place is None else device_code(place, "Executor")
        self._compiled: dict[Any, _Run] = {}
        self._closed = False

    def run(
        self, program: Any = None, feed: Any = None, fetch_list: Any = None, feed_var_name: str = "feed", fetch_var_name: str = "fetch",
        scope: Scope | None = None, return_numpy: bool = True, use_program_cache: bool = False, use_prune: bool = False,
    ) -> list[Any]:
        """Run a program once.

        Args:
            program: a Program or CompiledProgram; None is `default_main_program()`.
            feed: values by the names of variables: arrays, Tensors, LoDTensors, numbers; None takes a batch of the loaders that the program reads
                (`DataLoader.from_generator(iterable=False)`).
            fetch_list: variables, or their names, of which to return the values.
            feed_var_name: no effect.
            fetch_var_name: no effect.
            scope: the scope of persistable variables; None is `global_scope()`.
            return_numpy: arrays of NumPy; False gives LoDTensors.
            use_program_cache: no effect; compiled programs are always kept.
            use_prune: run only what the fetches need: without the update of parameters, unless it is fetched.

        Returns:
            The value of each fetch; a list of values for a list of tensors.

        Raises:
            TypeError: `program`, `feed` or a fetch is of another type.
            ValueError: a feed does not fit its variable, a fetch is not in the program, or something has no value.
            RuntimeError: the executor is closed, or a loader that the program reads is not started.
            EOFException: such a loader has no further batch.

        Source:
            `paddle.static.Executor.run`.
        """
        if self._closed:
            raise RuntimeError("Executor.run: Attempted to use a closed Executor. Got a call after close(), expected one before. Make another one.")
        if isinstance(program, CompiledProgram):
            program = program._program
        program = default_main_program() if program is None else program
        if not isinstance(program, Program):
            raise InvalidTypeError(
                f"Executor.run: Executor requires Program as its Parameter. Got {short(program)} ({type(program).__name__}), expected a "
                f"Program or CompiledProgram."
            )
        given = _feeds(feed)
        if not given:
            for reader in program.readers:
                given |= reader.next_feed()
        fetches = [_fetched(program, x) for one in _listed(fetch_list) for x in (one if isinstance(one, (list, tuple)) else [one])]
        place = chosen_scope(scope)
        fetches = [x for x in fetches if not isinstance(x, _Done)]
        with paused(), _on_device(self._device), _seeded(program):
            for call in program.before_run:
                call()
            feeds, values = _fed(program, given)
            shown = fetches
            if program.__dict__.get("ranks"):
                program, feeds, fetches = _at_sizes(program, feeds, values, fetches)
            run = self._run_of(program, feeds, fetches, use_prune)
            found = run(place, values)
            return [_returned(x, value, return_numpy, found) for x, value in zip(shown, found.values)]

    def _run_of(self, program: Program, feeds: list[Variable], fetches: list[Variable], use_prune: bool) -> _Run:
        device = _core.get_current_device()
        key = (program.number, _version(program), tuple(map(id, feeds)), tuple(map(id, fetches)), use_prune, device)
        found = self._compiled.pop(key, None)
        if found is None:
            found = _Run(program, feeds, fetches, use_prune, device)
            while len(self._compiled) >= _KEPT:
                del self._compiled[next(iter(self._compiled))]
        self._compiled[key] = found  # last: used most recently
        return found

    def close(self) -> None:
        """Free what it keeps. It cannot run programs afterwards.

        Source:
            `paddle.static.Executor.close`.
        """
        self._compiled.clear()
        self._closed = True

    def flush(self) -> None:
        """Wait until all work is done. It does nothing, as runs are complete when they return.

        Source:
            `paddle.static.Executor.flush`.
        """

    def infer_from_dataset(
        self, program: Any = None, dataset: Any = None, scope: Any = None, thread: int = 0, debug: bool = False, fetch_list: Any = None,
        fetch_info: Any = None, print_period: int = 100, fetch_handler: Any = None,
    ) -> None:
        """Run a program on the batches of a dataset, and print fetches now and then.

        Args:
            program: None is `default_main_program()`.
            dataset: gives dicts of feeds when it is iterated over.
            scope: where what lasts lies.
            thread: no effect; batches run one after the other.
            debug: no effect.
            fetch_list: what to print.
            fetch_info: what to print before each.
            print_period: how many batches pass between two prints.
            fetch_handler: no effect.

        Raises:
            TypeError: `dataset` gives no dicts.

        Source:
            `paddle.static.Executor.infer_from_dataset`, whose datasets read files with programs of their own.
        """
        program = program._program if isinstance(program, CompiledProgram) else program
        program = default_main_program() if program is None else program
        require(program, Program, "infer_from_dataset", "program", "Leave it out for default_main_program().")
        self._over("infer_from_dataset", program.clone(for_test=True), dataset, scope,
                   fetch_list, fetch_info, print_period)

    def train_from_dataset(
        self, program: Any = None, dataset: Any = None, scope: Any = None, thread: int = 0, debug: bool = False, fetch_list: Any = None,
        fetch_info: Any = None, print_period: int = 100, fetch_handler: Any = None,
    ) -> None:
        """As `infer_from_dataset`, with the update of parameters.

        Source:
            `paddle.static.Executor.train_from_dataset`.
        """
        self._over("train_from_dataset", program, dataset, scope, fetch_list, fetch_info, print_period)

    def _over(self, what: str, program: Any, dataset: Any, scope: Any, fetch_list: Any, fetch_info: Any, print_period: int) -> None:
        if not hasattr(type(dataset), "__iter__"):
            raise InvalidTypeError(
                f"{what}: dataset is need and should be initialized. Got {short(dataset)} ({type(dataset).__name__}), expected something to "
                f"iterate over that gives dicts of feeds, such as a DataLoader with feed_list and return_list=False."
            )
        names = _listed(fetch_list)
        labels = list(fetch_info or [x if isinstance(x, str) else x.name for x in names])
        for i, feed in enumerate(dataset):
            feed = feed[0] if isinstance(feed, (list, tuple)) and feed and isinstance(feed[0], Mapping) else feed
            show = bool(names) and i % print_period == 0
            values = self.run(program, feed, [x if isinstance(x, str) else x.name for x in names] if show else None, scope=scope)
            for label, value in zip(labels, values):
                print(f"{label}: {value}")

    def split_program_by_device(self, program: Any) -> Any:
        """Cut a program in parts by device: programs run on one device.

        Raises:
            NotImplementedError: always.

        Source:
            `paddle.static.Executor.split_program_by_device`.
        """
        raise UnimplementedError("split_program_by_device: a program runs on one device. Got a program, expected none. Run it as it is.")

    def start_heter_trainer(
        self, program: Any = None, scope: Any = None, debug: bool = False, fetch_list: Any = None, fetch_info: Any = None,
        print_period: int = 100, fetch_handler: Any = None,
    ) -> Any:
        """Train with parameter servers on different kinds of machines: there are none.

        Raises:
            NotImplementedError: always.

        Source:
            `paddle.static.Executor.start_heter_trainer`.
        """
        raise UnimplementedError("start_heter_trainer: there are no parameter servers. Got a program, expected none. Use train_from_dataset.")


class ParallelExecutor:
    """An Executor of one program, for old code.

    Args:
        use_cuda: whether to run on a GPU.
        loss_name: no effect.
        main_program: None is `default_main_program()`.
        share_vars_from: no effect; all programs of a scope share their variables.
        exec_strategy: no effect.
        build_strategy: no effect.
        num_trainers: 1.
        trainer_id: 0.
        scope: the scope of persistable variables; None is `global_scope()`.

    Raises:
        NotImplementedError: more than one trainer.

    Source:
        `paddle.static.ParallelExecutor` of Paddle 2.3; 2.6 no longer has it.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [2])
        ...     y = x * 2
        >>> wherry.static.ParallelExecutor(use_cuda=False, main_program=y.program).run([y], feed={"x": [1.0, 2.0]})
        [array([2., 4.], dtype=float32)]
        >>> wherry.disable_static()
    """

    def __init__(
        self, use_cuda: bool, loss_name: str | None = None, main_program: Program | None = None, share_vars_from: Any = None,
        exec_strategy: Any = None, build_strategy: Any = None, num_trainers: int = 1, trainer_id: int = 0, scope: Scope | None = None,
    ) -> None:
        if num_trainers != 1:
            raise UnimplementedError(
                f"ParallelExecutor: one process runs a program on one device. Got num_trainers={short(num_trainers)}, expected 1."
            )
        self._executor = Executor("gpu" if use_cuda else "cpu")
        self._program = default_main_program() if main_program is None else main_program
        self._scope = scope

    @property
    def device_count(self) -> int:
        """The number of devices on which it runs."""
        return 1

    def run(self, fetch_list: Any, feed: Any = None, feed_dict: Any = None, return_numpy: bool = True) -> list[Any]:
        """Run its program once; see `Executor.run`. `feed_dict` is an old name of `feed`."""
        return self._executor.run(self._program, feed_dict if feed is None else feed, fetch_list, scope=self._scope, return_numpy=return_numpy)

    def drop_local_exe_scopes(self) -> None:
        """Free temporary values. It does nothing, as a run keeps none."""


def _at_sizes(
    program: Program, feeds: list[Variable], values: list[Tensor], fetches: list[Variable],
) -> tuple[Program, list[Variable], list[Variable]]:
    """A program that was loaded, with its feeds and fetches, as it is for values of these sizes."""
    from wherry_paddle_files.models import at_sizes

    sizes = {x.name: value.shape for x, value in zip(feeds, values)}
    if not {x.name for x in program.feeds} <= sizes.keys() or not set(map(id, fetches)) <= set(map(id, program.fetches)):
        return program, feeds, fetches
    found = at_sizes(program, sizes)
    if found is not program:
        feeds = [found.blocks[0].vars[x.name] for x in feeds]
        fetches = [found.fetches[next(i for i, y in enumerate(program.fetches) if y is x)] for x in fetches]
    return found, feeds, fetches


class _Done:
    """A fetch that is not a variable: the nodes of `minimize`, which Paddle's users put there."""


class _Run:
    """A program, compiled for certain feeds and fetches, on a device."""

    def __init__(self, program: Program, feeds: list[Variable], fetches: list[Variable], use_prune: bool, device: int) -> None:
        self.constants = _Constants(device)
        program, feeds, fetches = self.constants.placed(program, feeds, fetches)
        given = {id(x) for x in feeds}
        computed = any(x.made_by is not None for x in feeds)
        if use_prune or computed:
            program, feeds, fetches = pruned(program, feeds, fetches)
            given = {id(x) for x in feeds}
        self.program = program  # kept alive: the key of the cache holds ids
        self.device = device
        self.scope: Scope | None = None
        self.filled_here = _filled_here(program, given)
        # Persistable variables that a node computes: put back into the scope after a run.
        self.kept = [
            x for x in program.blocks[0].vars.values()
            if x.persistable and x.made_by is not None and x.bound is None and id(x) not in given and x.made_by.block is program.blocks[0]
        ]
        self.n = len(fetches)
        known = {i: known_offsets(x) for i, x in enumerate(fetches)}
        self.offsets = {i: levels for i, levels in known.items() if levels and all(id(one) in given or not one.is_data for one in levels)}
        more = [one for levels in self.offsets.values() for one in levels]
        wanted = [*fetches, *self.kept, *more]
        self.call: Callable[..., list[Any]] = compiled(program, feeds, wanted, lookup=self._lookup)

    def _lookup(self, x: Variable) -> Tensor | None:
        assert self.scope is not None
        found = self.scope.value(x.name)
        if id(x) in self.filled_here and (found is None or found.dtype is not x.dtype or tuple(found.shape) != x.sizes):
            # The scope has none, or what another program left there under this name.
            found = _core.uninitialized(tuple(x.sizes), x.dtype, self.device)
            self.scope.put(x.name, found)
        elif found is not None and _core.device_of(found) != self.device:  # an executor of another device has left it there
            held = self.scope.find_var(x.name)
            assert held is not None
            found = _moved(found, self.device)
            held.get_tensor().tensor = found
        return found

    def __call__(self, scope: Scope, values: list[Tensor]) -> _Found:
        before, self.scope = self.scope, scope
        self.constants.refresh()
        grad = _core.set_grad_mode(False)
        try:
            found = self.call(*values)
        finally:
            _core.set_grad_mode(grad)
            self.scope = before
        kept = found[self.n : self.n + len(self.kept)]
        for x, value in zip(self.kept, kept):
            scope.put(x.name, value)
        rest = iter(found[self.n + len(self.kept) :])
        lods = {i: [next(rest).tolist() for _ in levels] for i, levels in self.offsets.items()}
        lods = {i: lod if all(lod) else [] for i, lod in lods.items()}  # what got none hands none on
        return _Found(found[: self.n], lods, {id(value) for value in kept})


def _moved(x: Tensor, device: int) -> Tensor:
    """A tensor that lasts, on another device."""
    moved = _core.to_device(x, device)
    moved.name, moved.persistable, moved.stop_gradient = x.name, x.persistable, x.stop_gradient
    return moved


class _Constants:
    """The tensors that a program is bound to, on the device that it runs on.

    What lasts (parameters of a loaded program) goes there and stays. What a program was recorded with is somebody's tensor: it stays where it is,
    and a copy of the program has copies of them, made anew when the tensors have changed. Numbers may stay on the CPU.
    """

    def __init__(self, device: int) -> None:
        self.device = device
        self.copies: list[tuple[Tensor, int, Tensor]] = []  # a tensor, its version when it was copied, the copy
        self.lasting: list[Tensor] = []

    def placed(self, program: Program, feeds: list[Variable], fetches: list[Variable]) -> tuple[Program, list[Variable], list[Variable]]:
        """The program with its constants there; itself where they are there already."""
        bound = [(x, x.bound) for x in program.bound_variables() if x.bound is not None and x.bound.ndim]
        self.lasting = [value for x, value in bound if x.persistable]
        away = [(x, value) for x, value in bound if not x.persistable and _core.device_of(value) != self.device]
        if not away:
            return program, feeds, fetches
        copy, new = program.copy()
        for x, value in away:
            there = new[id(x)].bound = _core.to_device(value, self.device)
            self.copies.append((value, value.inplace_version, there))
        return copy, [new[id(x)] for x in feeds], [new[id(x)] for x in fetches]

    def refresh(self) -> None:
        """Before each run: tensors may have changed, or another executor has taken them."""
        for x in self.lasting:
            if _core.device_of(x) != self.device:
                stops = x.stop_gradient
                _core.rebind(x, _core.to_device(x, self.device))
                x.stop_gradient = stops
        for i, (value, version, there) in enumerate(self.copies):
            if value.inplace_version != version:
                _core.rebind(there, _core.to_device(value, self.device))
                self.copies[i] = value, value.inplace_version, there


class _Found:
    """What a run gives: values, offsets of sequences by position, ids of the values that lie in the scope."""

    def __init__(self, values: list[Any], lods: dict[int, list[list[int]]], lasting: set[int]) -> None:
        self.values, self.lods, self.lasting = values, lods, lasting


def _filled_here(program: Program, given: set[int]) -> set[int]:
    """The persistable variables that the program writes before it reads them."""
    seen: set[int] = set(given)
    found: set[int] = set()
    for node in program.blocks[0].nodes:
        seen.update(id(x) for x in node.reads())
        for x in node.writes():
            if id(x) not in seen and x.bound is None and -1 not in x.sizes:
                found.add(id(x))
            seen.add(id(x))
        seen.update(id(x) for x in node.outputs)
    return found


def _version(program: Program) -> tuple[Any, ...]:
    """A value that changes whenever the program is changed."""
    return program.__dict__.get("_changes", 0), *((len(block.nodes), len(block.vars)) for block in program.blocks)


def _listed(x: Any) -> list[Any]:
    return [] if x is None else list(x) if isinstance(x, (list, tuple)) else [x]


def _feeds(feed: Any) -> dict[str, Any]:
    if isinstance(feed, (list, tuple)) and len(feed) <= 1:
        feed = feed[0] if feed else None
    if feed is None:
        return {}
    if not isinstance(feed, Mapping):
        raise InvalidTypeError(
            f"Executor.run: feed requires dict as its Parameter. Got {type(feed).__name__}, expected values by the names of variables, "
            f"such as {{'x': array}}."
        )
    return dict(feed)


def _fetched(program: Program, x: Any) -> Any:
    from wherry_program.program.ir import Node

    if isinstance(x, Node):
        return _Done()
    x = x.current if isinstance(x, Variable) else x
    if isinstance(x, str):
        found = program.blocks[0].named(x)
    elif isinstance(x, Variable):
        found = x if x.block.program is program else program.blocks[0].vars.get(x.name)  # of a clone, by name
    elif isinstance(x, Tensor):
        return program.bind(x)
    else:
        raise InvalidTypeError(
            f"Executor.run: The item in fetch_list should be str, Variable or Operator. Got {short(x)} ({type(x).__name__}), expected a "
            f"variable or its name."
        )
    if found is None:
        name = x if isinstance(x, str) else x.name
        raise InvalidArgumentError(
            f"Executor.run: the program has no such variable to fetch. Got {name!r}, expected a name of program.list_vars()."
            f"{did_you_mean(name, list(program.blocks[0].vars))}"
        )
    return found


def _fed(program: Program, given: dict[str, Any]) -> tuple[list[Variable], list[Tensor]]:
    feeds: list[Variable] = []
    values: list[Tensor] = []
    for name, value in given.items():
        x = program.blocks[0].vars.get(name)
        if x is None:
            import warnings

            warnings.warn(
                f"The variable {name} is not found in program. It is not declared or is pruned."
                f"{did_you_mean(str(name), list(program.blocks[0].vars))}",
                stacklevel=4,
            )
            continue
        if hasattr(value, "lengths"):  # sequences of a data set of wherry_distributed, which knows nothing of this package
            value = create_lod_tensor(value.values, [value.lengths])
        lod = value.lod() if isinstance(value, LoDTensor) else []
        tensor = _checked(x, value._value() if isinstance(value, LoDTensor) else value)
        feeds.append(x)
        values.append(tensor)
        for one, level in zip(x.__dict__.get("offsets", ()), _levels(x, lod, tensor)):
            feeds.append(one)
            values.append(to_tensor(level, dtype="int64"))
    return feeds, values


def _levels(x: Variable, lod: list[list[int]], tensor: Tensor) -> list[list[int]]:
    """The offsets of what is fed; empty where none came and the program only hands them on."""
    count = len(x.__dict__.get("offsets", ()))
    if count and not lod and not x.__dict__.get("needs_offsets", True):
        return [[] for _ in range(count)]
    if count and len(lod) != count:
        raise InvalidArgumentError(
            f"Executor.run: '{x.name}' holds sequences. Got {f'{len(lod)} levels of offsets' if lod else 'a tensor without offsets'}, "
            f"expected {count} as data(lod_level={count}) says. Feed static.create_lod_tensor(array, [lengths])."
        )
    if count and (fault := fault_of_offsets(lod, tensor.shape[0])) is not None:
        raise InvalidArgumentError(f"Executor.run: the offsets of '{x.name}' do not fit. Got {short(lod)}, expected {fault}. Set them again.")
    return lod


def _checked(x: Variable, value: Any) -> Tensor:
    """A value as a Tensor with the dtype and shape of the variable."""
    if isinstance(value, Tensor):
        tensor = value
    elif hasattr(value, "dtype") or hasattr(value, "__array__"):
        tensor = to_tensor(value)
    else:
        tensor = to_tensor(value, dtype=x.dtype)
    if not x.is_data:
        return tensor
    expected = list(x.sizes)
    if len(expected) != tensor.ndim or any(n not in (-1, m) for n, m in zip(expected, tensor.shape)):
        raise InvalidArgumentError(
            f"Executor.run: The fed Variable '{x.name}' should have dimensions = {len(expected)}, shape = {tuple(expected)}, but received "
            f"fed shape {tensor.shape}. Reshape the value, or declare static.data with None where a size may differ."
        )
    if tensor.dtype is not x.dtype:
        raise InvalidArgumentError(
            f"Executor.run: The data type of fed Variable '{x.name}' must be '{x.dtype.name}', but received '{tensor.dtype.name}'. Cast the value "
            f"with astype('{x.dtype.name}')."
        )
    return _core.to_device(tensor.detach() if not tensor.stop_gradient else tensor, _core.get_current_device())


def _returned(x: Variable, value: Any, return_numpy: bool, found: _Found) -> Any:
    if isinstance(value, list):
        return [_returned(x, one, return_numpy, found) for one in value]
    if return_numpy:
        return value.numpy()
    lods = {i: lod for i, lod in found.lods.items() if found.values[i] is value}
    lasting = x.bound is not None or x.persistable or id(value) in found.lasting or x.is_data
    return LoDTensor(ops.copy(value) if lasting else value, next(iter(lods.values()), ()))


@contextmanager
def _on_device(device: int | None) -> Iterator[None]:
    if device is None or device == _core.get_current_device():
        yield
        return
    before = _core.set_thread_current_device(device)
    try:
        yield
    finally:
        _core.set_thread_current_device(before)


@contextmanager
def _seeded(program: Program) -> Iterator[None]:
    """A program with a seed of its own gives the same random numbers each time, and leaves those of others alone."""
    if not program.random_seed:
        yield
        return
    state = get_rng_state()
    seed(program.random_seed)
    try:
        yield
    finally:
        set_rng_state(state)


explained(globals())
