"""`paddle.version`: what is running."""
from wherry import __version__ as wherry_version

__all__ = [
    "cinn", "cuda", "cudnn", "full_version", "major", "minor", "mkl", "patch", "rc", "show", "wherry_version", "xpu", "xpu_xccl",
]

# The Paddle whose behaviour is ours. After alias_paddle() the versions below are this one's.
PADDLE_VERSION = "2.6.2"

full_version = wherry_version
major, minor, patch = full_version.split(".")
rc = "0"


def show_paddle() -> None:
    """Let the version be that of the Paddle whose API this is: scripts that ask `paddle.version` compare with Paddle's."""
    global full_version, major, minor, patch
    full_version = PADDLE_VERSION
    major, minor, patch = full_version.split(".")


def show() -> None:
    """Print the version."""
    print(f"full_version: {full_version}\nmajor: {major}\nminor: {minor}\npatch: {patch}\nrc: {rc}")


def cuda() -> str:
    """'False': this build has no CUDA."""
    return "False"


def cudnn() -> str:
    """'False': this build has no cuDNN."""
    return "False"


def xpu() -> str:
    """'False': this build has no XPU."""
    return "False"


def xpu_xccl() -> str:
    """'False': this build has no XPU."""
    return "False"


def cinn() -> str:
    """'False': this build has no CINN."""
    return "False"


def mkl() -> str:
    """'OFF': matrix products are Wherry's own."""
    return "OFF"
