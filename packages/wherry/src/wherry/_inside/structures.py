"""Nested lists, tuples and dicts as trees: `paddle.utils.map_structure` and its relatives."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = ["assert_same_structure", "convert_to_list", "flatten", "is_sequence", "map_structure", "pack_sequence_as", "to_sequence"]


def is_sequence(seq: Any) -> bool:
    """Is it a node of a tree: a dict, or a sequence that is not text?"""
    return isinstance(seq, Mapping) or (isinstance(seq, Sequence) and not isinstance(seq, str))


def to_sequence(nest: Any) -> Any:
    """The tree itself, or a list of the only leaf."""
    return nest if is_sequence(nest) else [nest]


def _keys(node: Any) -> list[Any]:
    """Dicts go by the order of their keys, as they compare."""
    if not isinstance(node, Mapping):
        return list(range(len(node)))
    try:
        return sorted(node)
    except TypeError:
        raise InvalidTypeError(
            f"flatten: the keys of a dict cannot be sorted. Got {short(list(node))}, expected keys that compare. Use strings."
        ) from None


def _leaves(nest: Any) -> Iterator[Any]:
    if not is_sequence(nest):
        yield nest
        return
    for key in _keys(nest):
        yield from _leaves(nest[key])


def flatten(nest: Any) -> list[Any]:
    """The leaves of a tree, one after the other; of a dict in the order of its keys."""
    return list(_leaves(nest))


def _like(node: Any, values: Sequence[Any]) -> Any:
    """A node of the same kind, with other children; `values` stand in the order of `_keys`."""
    if isinstance(node, Mapping):
        by_key = dict(zip(_keys(node), values))
        return type(node)((key, by_key[key]) for key in node)  # type: ignore[call-arg]
    if isinstance(node, tuple) and hasattr(node, "_fields"):
        return type(node)(*values)
    return type(node)(values)  # type: ignore[call-arg]


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    return _like(structure, [_packed(structure[key], leaves) for key in _keys(structure)]) if is_sequence(structure) else next(leaves)


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """A tree of the form of `structure` whose leaves are those given.

    Raises:
        ValueError: there are more or fewer leaves than the tree has.
    """
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise InvalidArgumentError(
            f"pack_sequence_as: the number of leaves differs. Got {len(flat_sequence)}, expected {count}, as the structure has. Pass one for each."
        )
    return _packed(structure, iter(flat_sequence))


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raise unless two trees have the same form.

    Raises:
        ValueError: a node has another number of children, or stands against a leaf.
        TypeError: the nodes are of other types, or a dict has other keys.
    """
    if is_sequence(nest1) != is_sequence(nest2):
        raise InvalidArgumentError(
            f"map_structure: The two structures don't have the same nested structure. Got {short(nest1)} and {short(nest2)}, "
            f"expected the same form. Nest both alike."
        )
    if not is_sequence(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise InvalidTypeError(
            f"map_structure: The two structures don't have the same sequence type. Got {type(nest1).__name__} and "
            f"{type(nest2).__name__}, expected one type. Convert one of them, or pass check_types=False."
        )
    if isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise InvalidTypeError(
            f"map_structure: The two dictionaries don't have the same set of keys. Got {short(list(nest1))} and {short(list(nest2))}, "
            f"expected the same. Give both every key."
        )
    if len(nest1) != len(nest2):
        raise InvalidArgumentError(
            f"map_structure: The two structures don't have the same number of elements. Got {len(nest1)} and {len(nest2)}, "
            f"expected the same. Nest both alike."
        )
    for one, other in zip(_keys(nest1), _keys(nest2)):
        assert_same_structure(nest1[one], nest2[other], check_types)


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """A tree of what a function gives for the leaves of trees of one form. Source: `paddle.utils.map_structure`."""
    first, *others = structure
    for other in others:
        assert_same_structure(first, other, check_types=False)
    return pack_sequence_as(first, [func(*leaves) for leaves in zip(*map(flatten, structure))])


def convert_to_list(value: Any, n: int, name: str, dtype: type = int) -> list[Any]:
    """One value as `n` of them, or a list of `n` values.

    Raises:
        ValueError: there is another number of values, or they cannot be converted to `dtype`.
    """
    if isinstance(value, dtype):
        return [value] * n
    try:
        values = list(value)
        if len(values) == n and all(dtype(each) is not None for each in values):
            return values
    except (TypeError, ValueError):
        pass
    raise InvalidArgumentError(
        f"{name}: The {name}'s type must be list or tuple. Got {short(value)}, expected {n} of {dtype.__name__}, or one for all. Pass a list."
    )
