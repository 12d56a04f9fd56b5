"""Functions on process-wide state."""
from typing import Any

__all__ = ["disable_compat", "disable_signal_handler", "enable_compat"]


def disable_signal_handler() -> None:
    """Remove signal handlers. Wherry installs none, so this does nothing.

    Source:
        `paddle.disable_signal_handler`.

    Examples:
        >>> wherry.disable_signal_handler()
    """


def enable_compat(*, scope: Any = None, blocked_modules: Any = None, backend: str = "torch", silent: bool = False) -> None:
    """Refused: `import torch` is not redirected to another library, since both are often used in one process.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.enable_compat`.

    Examples:
        >>> import wherry as torch  # says it where it holds
        >>> torch.ones(2, 3).sum(dim=1).tolist()
        [3.0, 3.0]
    """
    from wherry_tensor.errors import UnimplementedError, short

    raise UnimplementedError(
        f"enable_compat: the name {short(backend)} of an import stays what it is. Got a call that would redirect it, expected none. "
        f"Write `import wherry as torch` in the files that are meant; wherry.compat has the functions whose results differ."
    )


def disable_compat() -> None:
    """End `enable_compat`, which redirects nothing here: this does nothing.

    Source:
        `paddle.disable_compat`.

    Examples:
        >>> wherry.disable_compat()
    """
