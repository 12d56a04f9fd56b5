"""The state of a training besides weights: counters of objects, and the random generators."""
from __future__ import annotations

import random
from typing import Any

import numpy as np

from wherry_tensor import get_rng_state, set_rng_state
from wherry_tensor import seed as seed_tensors
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = ["PlainState", "random_state", "seed_everything", "set_random_state"]


class PlainState:
    """Gives an object `state_dict` and `set_state_dict` over those of its attributes that are plain data.

    Plain are None, bools, numbers, strings, arrays, and lists, tuples and dicts of these. Functions,
    tensors, open files and the like are what a new object makes for itself. A class that wants only
    some of its attributes kept lists them in `_kept`.
    """

    _kept: tuple[str, ...] | None = None

    def state_dict(self) -> dict[str, Any]:
        """A copy of the attributes that are plain data."""
        names = vars(self) if self._kept is None else self._kept
        return {name: _copied(getattr(self, name)) for name in names if is_plain(getattr(self, name, _copied))}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state that `state_dict` returned.

        Raises:
            ValueError: a key is not a data attribute of this object (a method, say), or a value is not
                plain data; nothing is changed then.
        """
        kind = type(self)
        if not isinstance(state_dict, dict):
            raise InvalidTypeError(
                f"{kind.__name__}.set_state_dict: the state is not a dict. Got {kind_of(state_dict)}, expected what state_dict() gave. "
                f"Pass it as it was loaded."
            )
        values = {name: _copied(value) for name, value in state_dict.items()}
        for name, value in values.items():
            known = name in self._kept if self._kept is not None else isinstance(name, str) and name.isidentifier()
            if not known or name.startswith("__") or hasattr(kind, name) or not is_plain(vars(self).get(name)):
                raise InvalidArgumentError(
                    f"{kind.__name__}.set_state_dict: {name!r} is not a data attribute of {kind.__name__}. Got it as a key, expected any "
                    f"of {', '.join(self.state_dict())}. The state belongs to another object, or its file was changed."
                )
            if not is_plain(value):
                raise InvalidArgumentError(
                    f"{kind.__name__}.set_state_dict: {name!r} holds more than plain data. Got {kind_of(value)}, expected numbers, "
                    f"text and containers of them, nested at most {_DEEPEST} deep. Pass what state_dict() gave."
                )
        for name, value in values.items():
            setattr(self, name, value)


def kind_of(value: Any) -> str:
    return f"a {type(value).__name__}"


_DEEPEST = 64


def is_plain(value: Any, depth: int = 0) -> bool:
    """Whether a value is data all through, in containers that are nested at most 64 deep."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    if isinstance(value, (list, tuple)):
        return all(is_plain(v, depth + 1) for v in value)
    if isinstance(value, dict):
        return all(is_plain(k, depth + 1) and is_plain(v, depth + 1) for k, v in value.items())
    return value is None or isinstance(value, (bool, int, float, str, np.generic))


def _copied(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return value  # which is refused
    if isinstance(value, (np.ndarray, Tensor)):  # `load` makes tensors of arrays
        return np.array(value.numpy() if isinstance(value, Tensor) else value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(v, depth + 1) for v in value)
    if isinstance(value, dict):
        return {k: _copied(v, depth + 1) for k, v in value.items()}
    return value


def seed_everything(seed: int) -> None:
    """Seed all random generators that a training uses: those of Wherry, NumPy and Python's `random`.

    `wherry.seed` alone leaves the order of samples as it is: DataLoader and the samplers shuffle with NumPy's generator,
    as Paddle's do, and workers of a DataLoader follow it. With this, a program gives the same numbers each time: the same
    initial weights, order, augmentations and dropout. What a data set draws from generators of its own is not reached.

    Args:
        seed: an int from 0 to 2 ** 64 - 1.

    Raises:
        TypeError: `seed` is not an int, or is out of range.

    Source:
        Wherry's own; in Paddle it takes three calls.

    Examples:
        >>> wherry.seed_everything(7)
        >>> loader = wherry.io.DataLoader(list(range(6)), batch_size=6, shuffle=True)
        >>> first = [wherry.rand([1]).item(), next(iter(loader)).tolist()]
        >>> wherry.seed_everything(7)
        >>> first == [wherry.rand([1]).item(), next(iter(loader)).tolist()]
        True
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 1 << 64:
        raise InvalidTypeError(
            f"seed_everything: the seed is not an int of 64 bits without sign. Got {short(seed)} ({type(seed).__name__}), expected an int in "
            f"[0, {1 << 64}). Take it modulo 2 ** 64."
        )
    seed = int(seed)
    seed_tensors(seed)
    np.random.seed([seed & 0xFFFFFFFF, seed >> 32] if seed >> 32 else seed)
    random.seed(seed)


def random_state() -> dict[str, Any]:
    """The states of the generators of Wherry, NumPy and Python, as plain data for a file."""
    numpys = np.random.get_state(legacy=False)
    assert isinstance(numpys, dict)
    pythons = random.getstate()
    return {
        "wherry": [int(n) for state in get_rng_state() for n in state],
        "numpy": [
            numpys["state"]["key"].tobytes(), int(numpys["state"]["pos"]), int(numpys["has_gauss"]), float(numpys["gauss"]),
        ],
        "python": [pythons[0], list(pythons[1]), pythons[2]],
    }


def set_random_state(state: dict[str, Any]) -> None:
    """Restore the states that `random_state` returned."""
    set_rng_state([tuple(state["wherry"])])
    key, at, has_gauss, gauss = state["numpy"]
    np.random.set_state(("MT19937", np.frombuffer(key, dtype=np.uint32), at, has_gauss, gauss))
    version, words, next_gauss = state["python"]
    random.setstate((version, tuple(words), next_gauss))
