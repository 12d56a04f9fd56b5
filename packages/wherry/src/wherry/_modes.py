"""What Paddle's programs say about the process that they run in."""
__all__ = ["disable_signal_handler"]


def disable_signal_handler() -> None:
    """Give back signal handlers: Wherry takes none, so there is nothing to do.

    Source:
        `paddle.disable_signal_handler`.
    """
