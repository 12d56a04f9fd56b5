"""Unique names of layers and parameters, numbered as Paddle numbers them: `linear_0`, `linear_1`.

Files written by Paddle's optimizers are keyed by these names, so the same program must give the same
names here.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = ["ParameterNameChecker", "UniqueNameGenerator", "claim", "generate", "guard", "switch"]


class ParameterNameChecker:
    """Keeps the names that users gave to parameters: each may be given once."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def __call__(self, name: str) -> str:
        if name in self.used:
            raise InvalidArgumentError(
                f"create_parameter: the name is taken. Got name='{name}', which another parameter was given, expected a new "
                f"one. Leave the name out, or make the second model under unique_name.guard()."
            )
        self.used.add(name)
        return name


class UniqueNameGenerator:
    """Generates names: counts how often each key was asked for.

    Args:
        prefix: the beginning of every name.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.counts: dict[str, int] = {}

    def __call__(self, key: str) -> str:
        count = self.counts.get(key, 0)
        self.counts[key] = count + 1
        return f"{self.prefix}{key}_{count}"


_generator = UniqueNameGenerator()
_checker = ParameterNameChecker()


def claim(name: str) -> str:
    """Reserve a name that a user gives to a parameter.

    Raises:
        ValueError: another parameter has it.
    """
    return _checker(name)


def generate(key: str) -> str:
    """A unique name: `key`, and how often that key was asked for before.

    Args:
        key: the beginning of the name.

    Raises:
        TypeError: `key` is not a string.

    Source:
        `paddle.utils.unique_name.generate`.

    Examples:
        >>> from wherry.utils import unique_name
        >>> with unique_name.guard():
        ...     print(unique_name.generate("fc"), unique_name.generate("fc"), unique_name.generate("x"))
        fc_0 fc_1 x_0
    """
    if not isinstance(key, str):
        raise InvalidTypeError(
            f"unique_name.generate: key is not a str. Got {short(key)} ({type(key).__name__}), expected a str. "
            f"Write generate('fc'), say."
        )
    return _generator(key)


def switch(
    new_generator: UniqueNameGenerator | None = None, new_para_name_checker: ParameterNameChecker | None = None
) -> tuple[UniqueNameGenerator, ParameterNameChecker]:
    """Use another generator from now on; a new one unless one is given.

    Args:
        new_generator: what `switch` returned before, or None.
        new_para_name_checker: likewise, for the names that users gave.

    Returns:
        The generator and the name checker until now, to be passed to `switch` again.

    Raises:
        TypeError: an argument is not what `switch` returned (also a ValueError).

    Source:
        `paddle.utils.unique_name.switch`.

    Examples:
        >>> from wherry.utils import unique_name
        >>> before = unique_name.switch()
        >>> unique_name.generate("fc")
        'fc_0'
        >>> _ = unique_name.switch(*before)
    """
    global _generator, _checker
    for name, value, kind in (
        ("new_generator", new_generator, UniqueNameGenerator), ("new_para_name_checker", new_para_name_checker, ParameterNameChecker),
    ):
        if value is not None and not isinstance(value, kind):
            raise InvalidTypeError(
                f"unique_name.switch: argument '{name}' must be what switch returned before. Got {type(value).__name__}, "
                f"expected {kind.__name__} or None. For a prefix use unique_name.guard('{value if isinstance(value, str) else 'net'}_')."
            )
    before = _generator, _checker
    _generator = UniqueNameGenerator() if new_generator is None else new_generator
    _checker = ParameterNameChecker() if new_para_name_checker is None else new_para_name_checker
    return before


@contextmanager
def guard(new_generator: str | bytes | UniqueNameGenerator | None = None) -> Iterator[None]:
    """Use another generator inside a `with` block.

    Args:
        new_generator: a generator, or a prefix of all names; None starts at 0 without prefix.

    Raises:
        TypeError: it is none of these.

    Source:
        `paddle.utils.unique_name.guard`.

    Examples:
        >>> from wherry.utils import unique_name
        >>> with unique_name.guard("student_"):
        ...     unique_name.generate("fc")
        'student_fc_0'
    """
    if isinstance(new_generator, bytes):
        new_generator = new_generator.decode()
    if isinstance(new_generator, str):
        new_generator = UniqueNameGenerator(new_generator)
    if not (new_generator is None or isinstance(new_generator, UniqueNameGenerator)):
        raise InvalidTypeError(
            f"unique_name.guard: new_generator is not a generator. Got {short(new_generator)}, expected a prefix (str) or a "
            f"generator that unique_name.switch() returned. Leave it out to start at 0."
        )
    before = switch(new_generator)
    try:
        yield
    finally:
        switch(*before)
