"""Functions on process-wide state."""
__all__ = ["disable_signal_handler"]


def disable_signal_handler() -> None:
    """Remove signal handlers. Wherry installs none, so this does nothing.

    Source:
        `paddle.disable_signal_handler`.

    Examples:
        >>> wherry.disable_signal_handler()
    """
