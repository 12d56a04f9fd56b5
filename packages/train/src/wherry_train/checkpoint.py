"""Checkpoints: a training that is killed at any moment resumes with the same numbers.

What decides the numbers that follow is the weights, the optimizer with its scheduler, the random
generators, and the place in the data. All of it goes into one file, which `save` replaces in one step
of the file system: a reader finds the old state or the new one.
"""
from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from wherry_nn import Layer
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, PreconditionNotMetError
from wherry_train.io import DataLoader
from wherry_train.serialization import load, save
from wherry_train.state import random_state, set_random_state

__all__ = ["Checkpoint"]

_FORMAT = 1


class Checkpoint:
    """Writes a file from which a training goes on as if it had never stopped, and reads it.

    Loop over `epochs` and `batches`, and `save` wherever you like inside. When the same program starts
    again, `restore` puts everything back and the loops go on after the last step that the file holds:
    with the weights, the optimizer, the order of the data and the random numbers of an undisturbed run.

    Args:
        path: the file. Its folder is made when needed.
        **objects: the objects with a state, under names of your choice: layers, optimizers, schedulers that no
            optimizer holds, a GradScaler, metrics; anything with `state_dict` and `set_state_dict` or
            `load_state_dict`.

    Raises:
        TypeError: an object has no state (also a ValueError).

    Source:
        Wherry's own; Paddle leaves this to the program. The same can be written by hand: one `paddle.save`
        of all state dicts, `wherry_train.random_state()`, and the number of the step.

    Notes:
        The random numbers of Wherry, NumPy and Python are restored. What worker processes of a DataLoader draw
        is not: give data sets that augment at random a generator of their own, or save at the ends of epochs.
        An epoch that was left with `break` is taken up again where it was left.

    Examples:
        >>> net = wherry.nn.Linear(2, 1)
        >>> optimizer = wherry.optimizer.Adam(parameters=net.parameters())
        >>> data = wherry.io.TensorDataset([wherry.rand([8, 2]), wherry.rand([8, 1])])
        >>> import tempfile, wherry_train
        >>> path = tempfile.mkdtemp() + "/training.ckpt"
        >>> run = wherry_train.Checkpoint(path, net=net, optimizer=optimizer)
        >>> run.restore()  # True when there is a file
        False
        >>> for epoch in run.epochs(2):
        ...     for x, y in run.batches(wherry.io.DataLoader(data, batch_size=4, shuffle=True)):
        ...         loss = wherry.nn.functional.mse_loss(net(x), y)
        ...         loss.backward()
        ...         optimizer.step()
        ...         optimizer.clear_grad()
        ...         run.save()  # after every step, for it is a small model
        >>> run.epoch
        2
    """

    epoch: int  # of the step that runs or comes next; from 0
    step: int  # how many batches of this epoch have been given out

    def __init__(self, path: str | os.PathLike[str] | None = None, **objects: Any) -> None:
        for name, thing in objects.items():
            if not callable(getattr(thing, "state_dict", None)) or _setter(thing) is None:
                raise InvalidTypeError(
                    f"Checkpoint: {name} has no state to keep. Got {type(thing).__name__}, expected an object with state_dict "
                    f"and set_state_dict. Pass layers, optimizers, schedulers, metrics."
                )
        self.path = None if path is None else Path(path)
        self.objects = objects
        self.epoch = 0
        self.step = 0
        self.stopped = False  # set from outside to end the loop of `epochs`
        self._exhausted = False  # all batches of this epoch have been given out
        self._at_epoch: dict[str, Any] | None = None  # what the order of this epoch's data follows from
        self._restored: dict[str, Any] | None = None  # the random state of a step inside an epoch, until it is used
        self._order: int | None = None  # the epoch of a sampler that counts them: that of this pass, or of the next
        self._order_due = False  # it was restored, and the sampler does not know it yet

    def restore(self) -> bool:
        """Restore the state in the file. Returns False, and changes nothing, if there is no file yet.

        Raises:
            ValueError: the file holds other objects than this Checkpoint, or is not a checkpoint.
        """
        path = self._require_path("restore")
        if not path.exists():
            return False
        state = load(str(path))
        if not isinstance(state, dict) or state.get("format") != _FORMAT or not _complete(state):
            raise InvalidArgumentError(
                f"Checkpoint: {path} is not a checkpoint of a training. Got {_kind(state)}, expected what Checkpoint.save wrote. "
                f"Read weights with paddle.load and set_state_dict."
            )
        if set(state["objects"]) != set(self.objects):
            raise InvalidArgumentError(
                f"Checkpoint: {path} belongs to another program. Got a file with {_listed(state['objects'])}, expected "
                f"{_listed(self.objects)}. Create the Checkpoint with the same names, or remove the file."
            )
        self._take_over(state, path)
        self.epoch, self.step, self.stopped = state["epoch"], state["step"], state["stopped"]
        self._at_epoch = state["at_epoch"]
        self._restored = state["random"] if self.step else None
        self._order, self._order_due = state["order"], True
        self._exhausted = False
        return True

    def _take_over(self, state: dict[str, Any], path: Path) -> None:
        """Restore all objects and generators from the file, or, if one of them fails, none."""
        layers = {name: thing for name, thing in self.objects.items() if isinstance(thing, Layer)}
        for name, layer in layers.items():
            problems = _misfits(layer, state["objects"][name])
            if problems:
                raise InvalidArgumentError(
                    f"Checkpoint: {path} holds other weights than {name!r} has. Got {'; '.join(problems[:8])}"
                    f"{f'; and {len(problems) - 8} more' if len(problems) > 8 else ''}. Build the network as it was when the "
                    f"file was written, or remove the file."
                )
        before: dict[str, Any] = {}
        generators = random_state()
        try:
            set_random_state(state["random"])
            for name, thing in self.objects.items():
                if name not in layers:
                    before[name] = _independent(thing.state_dict())
                    _setter(thing)(state["objects"][name])
        except Exception as error:
            set_random_state(generators)
            for name, old in before.items():
                with contextlib.suppress(Exception):  # what refuses its own state could not be changed either
                    _setter(self.objects[name])(old)
            name = next(reversed(before), "the random generators")
            if before and isinstance(error, (InvalidArgumentError, InvalidTypeError)):  # it names the object
                raise
            raise InvalidArgumentError(
                f"Checkpoint: the state of {name} in {path} does not fit. Got {type(error).__name__}: {error}, expected what "
                f"Checkpoint.save wrote. Nothing was restored; remove the file, or build the objects as they were."
            ) from error
        for name, layer in layers.items():  # these were checked and cannot fail
            layer.set_state_dict(state["objects"][name])

    def save(self) -> None:
        """Write the state of now. Inside an epoch it counts as after the step that runs, so call it last in the step.

        Raises:
            RuntimeError: the Checkpoint has no path.
            OSError: the file cannot be written; the one before is untouched.
        """
        path = self._require_path("save")
        epoch, step = (self.epoch + 1, 0) if self._exhausted else (self.epoch, self.step)
        state = {
            "format": _FORMAT,
            "epoch": epoch,
            "step": step,
            "stopped": self.stopped,
            "at_epoch": self._at_epoch if step else None,
            "order": self._order,
            "random": random_state(),
            "objects": {name: thing.state_dict() for name, thing in self.objects.items()},
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        save(state, str(path))

    def epochs(self, count: int) -> Iterator[int]:
        """The numbers of the epochs that are left of `count`; the first may be one that has begun already."""
        while self.epoch < count and not self.stopped:
            if self._restored is None:
                self.step = 0
                self._at_epoch = None
            self._exhausted = False
            yield self.epoch
            self.epoch += 1
            self.step = 0
            self._exhausted = False

    def batches(self, loader: Iterable[Any]) -> Iterator[Any]:
        """The batches that are left of this epoch. Batches done before are not read again if `loader` is a DataLoader."""
        sampler = _batch_sampler(loader)
        if self._order_due and self._order is not None and hasattr(sampler, "set_epoch"):
            sampler.set_epoch(self._order)
        self._order_due = False
        if self._restored is None:
            self._at_epoch = random_state()
            self._order = getattr(sampler, "epoch", None)
            source = iter(loader)
        else:
            now, self._restored = self._restored, None
            source = self._rest(loader, now)
        for batch in source:
            self.step += 1
            yield batch
        self._exhausted = True
        self._order = getattr(sampler, "epoch", None)

    def _rest(self, loader: Iterable[Any], now: dict[str, Any]) -> Iterator[Any]:
        """What follows the first `self.step` batches: in the order drawn at the start of the epoch, with random numbers of now."""
        assert self._at_epoch is not None
        sampler = _batch_sampler(loader)
        set_random_state(self._at_epoch)
        if sampler is None:
            source = iter(loader)
            for _ in range(self.step):
                next(source, None)
        else:
            rest = copy.copy(loader)
            order = rest.batch_sampler = _Rest(sampler, self.step)  # type: ignore[attr-defined]
            source = iter(rest)  # with workers, this draws their seed
            order.draw()
        set_random_state(now)
        return source

    def _require_path(self, method: str) -> Path:
        if self.path is None:
            raise PreconditionNotMetError(
                f"Checkpoint.{method}: there is no file. Got a Checkpoint without path, expected one. "
                f"Write Checkpoint('run.ckpt', ...)."
            )
        return self.path


class _Rest:
    """What a batch sampler gives after its first batches. It is asked once, and all at once."""

    def __init__(self, sampler: Any, skipped: int) -> None:
        self.sampler = sampler
        self.skipped = skipped
        self.batches: list[Any] | None = None

    def draw(self) -> list[Any]:
        if self.batches is None:
            self.batches = list(self.sampler)[self.skipped :]
        return self.batches

    def __iter__(self) -> Iterator[Any]:
        return iter(self.draw())

    def __len__(self) -> int:
        return len(self.draw())


def _batch_sampler(loader: Any) -> Any:
    return getattr(loader, "batch_sampler", None) if isinstance(loader, DataLoader) else None


def _complete(state: dict[str, Any]) -> bool:
    """Whether a checkpoint has all of its parts, each of the right type."""
    def counts(name: str) -> bool:
        return type(state.get(name)) is int and state[name] >= 0

    return (
        counts("epoch") and counts("step") and type(state.get("stopped")) is bool
        and isinstance(state.get("objects"), dict) and isinstance(state.get("random"), dict)
        and (isinstance(state.get("at_epoch"), dict) or (state.get("at_epoch", 0) is None and not state["step"]))
        and (counts("order") or state.get("order", 0) is None)
    )


def _misfits(layer: Layer, given: Any) -> list[str]:
    """What of a layer's state is missing, has another shape or dtype, or is unknown to the layer."""
    if not isinstance(given, dict):
        return [f"a {type(given).__name__} in place of a dict"]
    own = layer.state_dict()
    found = [f"nothing for {key}" for key in own if key not in given]
    for key, value in given.items():
        if key not in own:
            found.append(f"{key}, which the layer does not have")
        elif not hasattr(value, "shape") or list(value.shape) != own[key].shape:
            found.append(f"{key} of shape {list(getattr(value, 'shape', []))} for {own[key].shape}")
        elif isinstance(value, Tensor) and value.dtype is not own[key].dtype:
            found.append(f"{key} of {value.dtype.name} for {own[key].dtype.name}")
    return found


def _independent(state: Any) -> Any:
    """A copy that later changes of the object do not reach."""
    if isinstance(state, Tensor):
        return state.detach().clone()
    if isinstance(state, dict):
        return {key: _independent(value) for key, value in state.items()}
    return copy.deepcopy(state)


def _setter(thing: Any) -> Any:
    return getattr(thing, "set_state_dict", None) or getattr(thing, "load_state_dict", None)


def _kind(state: Any) -> str:
    return f"a dict of {_listed(state)}" if isinstance(state, dict) else type(state).__name__


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(map(str, names))[:8]) or "nothing"
