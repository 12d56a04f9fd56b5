"""`paddle.incubate.autotune`."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wherry_tensor.arguments import path_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = ["set_config"]

_KINDS = {"enable": (bool, "True or False"), "tuning_range": (list, "a list of two ints"), "tuning_steps": (int, "an int")}
_PARTS = {"kernel": ("enable", "tuning_range"), "layout": ("enable",), "dataloader": ("enable", "tuning_steps")}


def set_config(config: dict[str, Any] | str | None = None) -> None:
    """Say what is to be tuned while a program runs. It is checked and has no effect: kernels choose by shapes and device
    beforehand, layouts stay as they are, and a DataLoader keeps its `num_workers`.

    Args:
        config: None, a dict or the path of a JSON file: keys "kernel" (`enable`, `tuning_range`), "layout" (`enable`) and
            "dataloader" (`enable`, `tuning_steps`).

    Raises:
        TypeError: an entry of another kind (Paddle warns and takes its default).
        ValueError: an unknown key, or a range that is not two numbers.
        FileNotFoundError: there is no such file.

    Source:
        `paddle.incubate.autotune.set_config`.

    Examples:
        >>> wherry.incubate.autotune.set_config({"kernel": {"enable": True, "tuning_range": [1, 3]}})
    """
    if isinstance(config, str):
        try:
            config = json.loads(Path(path_of(config, "autotune.set_config", "config")).read_text())
        except json.JSONDecodeError as error:
            raise InvalidArgumentError(
                f"autotune.set_config: this file is not JSON. Got {error}, expected an object with the keys {', '.join(_PARTS)}. Mend the file."
            ) from None
    if config is None:
        return
    if not isinstance(config, dict):
        raise InvalidTypeError(
            f"autotune.set_config: this is not a configuration. Got {short(config)} ({type(config).__name__}), expected a dict, a path or "
            f"None. Write {{'kernel': {{'enable': True}}}}."
        )
    for part, options in config.items():
        _check_known(part, _PARTS, "config")
        if not isinstance(options, dict):
            raise InvalidTypeError(
                f"autotune.set_config: {part} is not a dict. Got {short(options)} ({type(options).__name__}), expected {{'enable': True}}. "
                f"Put the value under a key."
            )
        for key, value in options.items():
            _check_known(key, _PARTS[part], part)
            kind, expected = _KINDS[key]
            if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
                raise InvalidTypeError(
                    f"autotune.set_config: The `{key}` of {part} should be {kind.__name__}. Got {short(value)} "
                    f"({type(value).__name__}), expected {expected}. Leave it out for the default."
                )
            if isinstance(value, list) and not (len(value) == 2 and all(type(step) is int for step in value)):
                raise InvalidArgumentError(
                    f"autotune.set_config: tuning_range is not a range of steps. Got {short(value)}, expected {expected}. "
                    f"Write [1, 10], say."
                )


def _check_known(key: Any, known: Any, where: str) -> None:
    if key not in known:
        raise InvalidArgumentError(
            f"autotune.set_config: {where} has no such entry. Got {short(key)}, expected one of {', '.join(known)}. Leave it out."
        )
