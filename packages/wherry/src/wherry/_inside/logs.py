"""Loggers as Paddle's modules make them."""
from __future__ import annotations

import logging

__all__ = ["get_logger", "logger", "set_level", "setup_logger"]


def get_logger(name: str | int = "wherry", level: int | str = logging.INFO, fmt: str | None = None) -> logging.Logger:
    """A logger of a name that writes to the standard error stream. Source: `paddle.base.log_helper.get_logger`, which has the level second,
    and `paddle.distributed.utils.log_utils.get_logger`, which has it first.
    """
    if not isinstance(name, str) or (isinstance(level, str) and level and not level.isupper()):
        name, level = (level if isinstance(level, str) else "wherry"), name  # the second form
    found = logging.getLogger(name)
    found.setLevel(level)
    if not found.handlers:
        handler = logging.StreamHandler()
        if fmt:
            handler.setFormatter(logging.Formatter(fmt=fmt, datefmt="%a %b %d %H:%M:%S"))
        found.addHandler(handler)
        found.propagate = False
    return found


def setup_logger(output: str | None = None, name: str = "wherry", log_level: int = logging.INFO) -> logging.Logger:
    """A logger that also writes to a file. Source: `paddle.hapi.logger.setup_logger`."""
    found = get_logger(name, log_level)
    if output is not None:
        found.addHandler(logging.FileHandler(output))
    return found


logger = logging.getLogger("wherry")


def set_level(level: int | str) -> None:
    """Let the logger of the framework speak from this level on."""
    logger.setLevel(level)
